"""Each promise says where it is proven, or where each thing that it names is documented."""

from __future__ import annotations

import re
from pathlib import Path

from tests.house.conftest import Plant
from tests.house.pages import LINK, read, section
from tests.house.tree import ROOT, must_be_empty

PROMISES = "docs/explanation/promises.md"
PROOF = "docs/reference/proof.md"
PROMISE = re.compile(r"^## (\d+\. .+)$", re.MULTILINE)
INVARIANT = re.compile(r"\b[A-Z]\d{1,2}\b")


def test_docs_say_where_each_promise_is_proven() -> None:
    must_be_empty(unproven(ROOT))


def test_docs_of_the_first_page_name_only_invariants_and_figures_that_there_are() -> None:
    said, proof = section(read(ROOT, "README.md"), "What it promises"), read(ROOT, PROOF)
    named = INVARIANT.findall(said)
    assert named
    assert [one for one in named if f"| {one} |" not in proof] == []
    [faults] = re.findall(r"\[(\d+) faults", said)
    assert f"| faults | {faults} |" in read(ROOT, "docs/reference/campaign-report.md")


def test_a_promise_without_a_proof_is_found(plant: Plant) -> None:
    plant(PROOF, "| C1 | x |\n")
    root = plant(
        PROMISES,
        """\
        ## 1. Proven
        *Proof:* [C1](../reference/proof.md#x).
        ## 2. Documented
        [This and that](this.md), the [other](other.md): all of it.
        ## 3. Unproven
        [This](this.md), audit, [that](that.md): nothing is held back.
        ## 4. Ghost
        *Proof:* [C9](../reference/proof.md).
        """,
    )
    assert unproven(root) == [
        f"{PROMISES}: '3. Unproven' has no proof, and no page for 'audit'.",
        f"{PROMISES}: '4. Ghost' names the invariant C9, which {PROOF} does not have.",
    ]


def unproven(root: Path) -> list[str]:
    """A promise names what proves it. One that is a list of features names a page for each of them."""
    text, proof = read(root, PROMISES), read(root, PROOF)
    found = []
    for title in PROMISE.findall(text):
        said = section(text, title)
        proven = said.partition("*Proof:*")[2]
        if not LINK.findall(proven):
            found += [
                f"{PROMISES}: {title!r} has no proof, and no page for {one!r}." for one in without_page(said)
            ]
        found += [
            f"{PROMISES}: {title!r} names the invariant {one}, which {PROOF} does not have."
            for one in INVARIANT.findall(proven)
            if f"| {one} |" not in proof
        ]
    return found


def without_page(said: str) -> list[str]:
    """Of the features that stand before the first colon: those without a link."""
    linked = LINK.sub("LINK", " ".join(said.split()))
    return [one for one in re.split(r", (?:and )?| and ", linked.partition(":")[0]) if "LINK" not in one]
