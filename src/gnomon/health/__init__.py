"""How a process says how it is: probes and figures, for the API and for processes without one.

`vitals` looks, `checks` judges, `metrics` counts, `responder` answers where no web framework is loaded.
"""
