"""The schema: numbered migrations, their bookkeeping, monthly partitions, the script for a person.

In: a database.
Out: a schema that this release may run on, or the reason why not. No process migrates PostgreSQL by itself.
"""
