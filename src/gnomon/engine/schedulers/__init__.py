"""The services of a scheduler process, one file each.

In: protocols of the store, a clock, callbacks for hints.
Out: steps, which `gnomon.engine.service` drives. Each step is safe when any number of processes make it.
"""
