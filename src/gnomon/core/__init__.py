"""PURE: facts in, decisions out. Imports only data modules of the standard library."""
