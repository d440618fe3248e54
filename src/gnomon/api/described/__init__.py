"""The API described: what each call, field, header and refusal means, which values it takes, and an example.

One table a resource, beside the routes and not inside of them: `FIELDS` says it of the structs that calls
read and answer, `CALLS` of the calls. Ranges are the constants that the code enforces; enumerations are those
of the core. `document.py` makes the OpenAPI document of the routes and these tables, `page.py` the page for
people of the document. `tests/house/test_description.py` names what has no row yet.
"""
