"""Run the code of one Markdown file, in order: python -m tests.house.run_document FILE.

Python blocks share one namespace and may use `await` at the top. Of the bash blocks, those that begin with
`$ gnomon` or `$ python -m proof.` are run, line by line. The first failure ends the run and names the line of
the document.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(
    r"^(?P<fence>`{3,})(?P<language>\w*)[^\n]*\n(?P<body>.*?)^(?P=fence)\s*$", re.DOTALL | re.MULTILINE
)
COMMAND_SECONDS_MAX = 60
PROGRAMS = ("$ gnomon", "$ python -m proof.")


@dataclass(frozen=True)
class Block:
    language: str
    line: int  # Of the first line of the body.
    body: str


def blocks(text: str) -> Iterator[Block]:
    for found in FENCE.finditer(text):
        yield Block(found["language"], text.count("\n", 0, found.start("body")) + 1, found["body"])


async def run(text: str, path: Path) -> None:
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(text):
        if block.language == "python":
            await run_python(block, path, namespace)
        elif block.language == "bash" and block.body.startswith(PROGRAMS):
            run_commands(block, path)


async def run_python(block: Block, path: Path, namespace: dict[str, object]) -> None:
    # Blank lines before the code: a traceback then shows the line of the document.
    code = compile("\n" * (block.line - 1) + block.body, path, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, namespace)
    if inspect.isawaitable(result):
        await result


def run_commands(block: Block, path: Path) -> None:
    for number, line in enumerate(block.body.splitlines(), start=block.line):
        if line.startswith("$ "):
            words = shlex.split(line.removeprefix("$ "))
            program = Path(sys.executable).with_name(words[0])
            done = subprocess.run([program, *words[1:]], timeout=COMMAND_SECONDS_MAX, check=False)
            if done.returncode != 0:
                sys.exit(f"{path}:{number}: {line} ended with {done.returncode}")


if __name__ == "__main__":
    document = Path(sys.argv[1])
    asyncio.run(run(document.read_text(encoding="utf-8"), document))
