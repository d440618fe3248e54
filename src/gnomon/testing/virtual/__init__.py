"""A whole Gnomon in one event loop whose time is virtual: what `TimeTravel` travels with.

The loop, the machines and the processes on them, the network between them and the store, chance that
follows from a seed, and two accidents: a process that dies, and a store that is away.

In: machines, a seed, and what workers can run.
Out: a `VirtualWorld`, and what went wrong in it. Nothing outside touches the order in which chance is
drawn: a change of it changes the journey of every seed.
Kept inside: `watch`.

It runs production services on production SQL and has no logic of the product of its own. It records nothing
and judges nothing. `proof/simulator`, which is not part of an installed Gnomon, builds on this room and
does both.
"""
