"""The commands, one file a noun; each is imported when it is called.

In: options and arguments.
Out: text through `gnomon.cli.output`, and an exit code. Commands for a server use its API and nothing else;
`db`, `doctor`, `key create --database` and the processes open a store.
"""
