"""Commands in the documentation can be typed: they exist, and so do their options; none is left out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.house.conftest import Plant
from tests.house.pages import HEADING, pages, read, section, words_in_code
from tests.house.program import Options, leaf_commands, options_of, program
from tests.house.run_document import blocks
from tests.house.tree import ROOT, must_be_empty

COMMANDS = "docs/reference/cli.md"
SHELLS = {"bash", "sh", "text", ""}
ENDS_A_COMMAND = {"|", "||", "&&", ";", ">", ">>", "<", "&", "2>"}
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-[a-z])(?![\w-])")
CODE = re.compile(r"`([^`\n]+)`")

# The top of the page says these of all commands that take them.
TOLD_ONCE = {
    "--help", "--database", "--config", "--log-format", "--log-level", "--server", "--key", "--profile",
    "--output", "--limit", "--yes",
}  # fmt: skip

# What was so when it was written: commands come and go.
OF_THEIR_TIME = ("docs/adr/0", "CHANGELOG.md", "UPGRADING.md")

# Commands that take the options of another one, and say so in these words.
TAKES_THOSE_OF = {"the options of `create`": "gnomon job create"}

Known = Mapping[str, Options]  # Every command in full, with its options.


def test_docs_name_only_commands_and_options_that_exist() -> None:
    must_be_empty(impossible_commands(ROOT, known()))


def test_docs_name_every_option_of_every_command_and_no_other() -> None:
    must_be_empty(wrong_options(ROOT, known()))


def test_docs_with_a_command_that_is_gone_are_found(plant: Plant) -> None:
    root = plant(
        "docs/page.md",
        """\
        Run `gnomon job list`, `gnomon job list --gone` or `gnomon old`. `gnomon job COMMAND -h`, too.
        ```bash
        $ gnomon job list --limit 3 | .venv/bin/gnomon job \\
            lost
        run=$(gnomon job list --x "a b")  # gnomon not a command
        ```
        """,
    )
    names = {"gnomon": options("-h"), "gnomon job list": options("--limit"), "gnomon job explain": ()}
    assert impossible_commands(root, names) == [
        "docs/page.md:1: `gnomon job list` has no option --gone.",
        "docs/page.md:1: there is no command `gnomon old`.",
        "docs/page.md:3: there is no command `gnomon job lost`.",
        "docs/page.md:5: `gnomon job list` has no option --x.",
    ]


def test_docs_without_an_option_are_found(plant: Plant) -> None:
    root = plant(COMMANDS, "## `gnomon x`\nTakes `--old` and `--file`.\n## `gnomon gone`\n")
    names = {"gnomon x": (*options("--limit", "--force"), frozenset({"--file", "-f"}))}
    assert wrong_options(root, names) == [
        f"{COMMANDS}: `gnomon x` takes --force, and its section does not say so.",
        f"{COMMANDS}: `gnomon x` takes no --old.",
        f"{COMMANDS}: the heading `gnomon gone` names no command.",
    ]


def known() -> Known:
    return {"gnomon": options_of(program())} | {
        name: options_of(command) for name, command in leaf_commands().items()
    }


def options(*names: str) -> Options:
    return tuple(frozenset({name}) for name in names)


def impossible_commands(root: Path, names: Known) -> list[str]:
    return [
        f"{place}:{line}: {wrong}"
        for place, text in pages(root)
        if not place.startswith(OF_THEIR_TIME)
        for line, words in sorted(typed(text))
        for wrong in mistakes(words, names)
    ]


def mistakes(words: tuple[str, ...], names: Known) -> Iterator[str]:
    """A word in capitals stands for any other: `gnomon COMMAND --help`."""
    name, rest = command_of(words, names)
    is_group = any(one.startswith(f"{name} ") for one in names)
    if is_group and rest and not rest[0].startswith("-") and not rest[0].isupper():
        yield f"there is no command `{name} {rest[0]}`."
        return
    taken = {
        one for group in (names.get(name, ()), names.get("gnomon", ())) for each in group for one in each
    }
    for word in rest:
        option = word.partition("=")[0]
        if OPTION.fullmatch(option) and option not in taken | {"--help"}:
            yield f"`{name}` has no option {option}."


def command_of(words: tuple[str, ...], names: Known) -> tuple[str, list[str]]:
    """The longest beginning that is a command or a group, and the rest."""
    name, rest = "gnomon", list(words[1:])
    while rest and any(one == f"{name} {rest[0]}" or one.startswith(f"{name} {rest[0]} ") for one in names):
        name = f"{name} {rest.pop(0)}"
    return name, rest


def typed(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """What a reader types that begins with `gnomon`: its line, and its words."""
    for line, code in words_in_code(text):
        yield from commands_in(line, code)
    for block in blocks(text):
        if block.language in SHELLS:
            begun, row = block.line, ""
            for number, one in enumerate(block.body.splitlines(), start=block.line):
                begun = begun if row else number
                row += one.removesuffix("\\")
                if not one.endswith("\\"):
                    yield from commands_in(begun, row)
                    row = ""


def commands_in(line: int, code: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Also behind a pipe, a variable, or inside of `$(...)`."""
    for part in code.split("$("):
        words = words_of(part)
        while words:
            end = next((at for at, word in enumerate(words) if word in ENDS_A_COMMAND), len(words))
            command, words = words[:end], words[end + 1 :]
            while command and (command[0] == "$" or re.match(r"[A-Za-z_]+=", command[0])):
                command = command[1:]
            if command and Path(command[0]).name == "gnomon":
                yield line, tuple(command)


def words_of(part: str) -> list[str]:
    try:
        return [word.rstrip(";)") for word in shlex.split(part, comments=True)]
    except ValueError:  # A quote that ends on another line.
        return [word.rstrip(";)") for word in part.split()]


def wrong_options(root: Path, names: Known) -> list[str]:
    text = read(root, COMMANDS)
    found = []
    for name in names.keys() - {"gnomon"}:
        part = section(text, f"`{name}`")
        told = {word for code in CODE.findall(part) for word in OPTION.findall(code)}
        taken = list(names[name])
        also = [
            one for words, other in TAKES_THOSE_OF.items() if words in part for one in names.get(other, ())
        ]
        found += [
            f"{COMMANDS}: `{name}` takes {max(one, key=len)}, and its section does not say so."
            for one in taken
            if not one & (told | TOLD_ONCE) and one not in also
        ]
        # What the section says about another command stands with the name of that one.
        own = {
            word
            for code in CODE.findall(part)
            if not code.startswith("gnomon")
            for word in OPTION.findall(code)
        }
        every = {word for one in taken for word in one} | TOLD_ONCE | {"-o", "-y"}
        found += [f"{COMMANDS}: `{name}` takes no {word}." for word in sorted(own - every)]
    headed = [title.strip("`") for _, title in HEADING.findall(text) if title.startswith("`gnomon ")]
    return sorted(found) + [
        f"{COMMANDS}: the heading `{title}` names no command." for title in headed if title not in names
    ]
