"""Files of a user: a job, a crontab, a manifest; and the plan that makes a server like it.

In: YAML, JSON or a crontab.
Out: forms for the API, and steps of a plan.
Kept inside: `calendar_plan`, `fires`, `yaml_files`.
"""
