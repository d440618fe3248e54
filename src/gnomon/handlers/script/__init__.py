"""The kind `script`: a program outside the worker, with limits, ended with all that it started.

In: a script or the words of a command, and parameters.
Out: an exit code and the JSON that the script left. The launcher imports nothing of this package.
Kept inside: `confinement`, `folder`, `launch`, `remains`, `user`.
"""
