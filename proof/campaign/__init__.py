"""Real processes on a real PostgreSQL, broken on purpose, and judged by what they left behind.

| room | what |
|---|---|
| `cluster` | the processes: nodes, the jobs that workers run, the sink, what the machine does to them |
| `workload` | which jobs and workflows there are, and the clients that ask for them |
| `faults` | the nemesis, the wire that it cuts, the disk that it fills |
| `harvest` | what the store wrote down, and the final read |
| `report` | verdict, figures, limits and pictures of a campaign |
| `power` | power cuts under an SQLite file |

In: a plan of faults, drawn from a seed.
Out: a folder of histories, and a report. Each process is `gnomon` as users start it; nothing in it is
replaced.
"""
