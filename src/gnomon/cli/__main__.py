"""`python -m gnomon.cli`, for where the program itself is not on the path."""

from __future__ import annotations

from gnomon.cli import main

main()
