"""The one writer of what the core decides.

In: a `WriteSet`. Out: `Written`, what became of it.

Read `assemblies` first: it picks the statement for a write set. `batches` and `chain_step` make its values.
`writer` runs it and reads the answer. `run_steps` writes what runs do under their locks, which takes several
statements; `inner_runs` and `stops` are two parts of that. Nothing here decides, and nothing outside touches
the columns that are written here.
"""
