"""A server that is spoken to over HTTP: what a person's commands and a worker without a store use."""
