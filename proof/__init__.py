"""How Gnomon is proven: histories of what happened under faults, and what judges them. Not in the wheel.

| room | what |
|---|---|
| `checker` | reads a history and says whether every promise held; shares no code with what it judges |
| `simulator` | whole worlds in virtual time, under faults drawn from a seed: `make sim` |
| `exam` | plants bugs into copies of the product, and each must be caught: `make sim-exam` |
| `campaign` | real processes on a real PostgreSQL, broken on purpose: `make campaign` |

`checker` imports nothing of Gnomon. `simulator` builds on `gnomon.testing.virtual`. Gnomon never imports
this package: what is installed works without it.
"""
