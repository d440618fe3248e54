"""What a user may know and ask of workers: register, beat, list, drain, undrain.

In: a worker's name.
Out: what is registered about it, and its status.
"""
