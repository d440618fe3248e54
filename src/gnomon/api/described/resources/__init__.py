"""What each call and each field means, one table a resource, beside the routes.

In: the structs and routes of `gnomon.api.resources`.
Out: rows of `FIELDS` and `CALLS`, from which the OpenAPI document is made (ADR 0030).
"""
