"""The simulator: a whole Gnomon in one process, in virtual time, under faults that follow from a seed.

| room | in | out |
|---|---|---|
| `scenarios` | a file | what happens in a world, as a value |
| `seeds` | a seed and a profile | a scenario |
| `world` | a scenario | a story: the history, and what the store holds at the end |
| `recording` | verbs of the store, calls of handlers, notes of transactions | events of the history |
| `judging` | a scenario, or many seeds | judgements, and failures made small |

The loop, the network, the nodes and the processes are those of `gnomon.testing.virtual`: production code
that cannot tell. Nothing outside touches the order in which chance is drawn: a change of it changes the
world of every seed.
"""
