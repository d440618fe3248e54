"""The reference of workflows says what is so: its examples are read and run, no comparison is left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gnomon.core.workflows.document import read_dag
from gnomon.core.workflows.references import Comparison
from gnomon.core.workflows.workflow import Plan
from tests.house.pages import run_document
from tests.house.run_document import Block, blocks
from tests.house.tree import ROOT

PAGE = ROOT / "docs/reference/workflows.md"
WRITTEN = [block for block in blocks(PAGE.read_text(encoding="utf-8")) if block.language == "json"]


@pytest.mark.parametrize("block", WRITTEN, ids=lambda block: f"line-{block.line}")
def test_docs_workflows_can_be_kept(block: Block) -> None:
    Plan.of(read_dag(json.loads(block.body)).workflow)


def test_docs_code_of_workflows_runs(tmp_path: Path) -> None:
    done = run_document(PAGE, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_docs_have_a_row_for_every_comparison() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [one for one in Comparison if f"| `{one}` |" not in text] == []


def test_docs_use_every_comparison_in_an_example() -> None:
    said = {
        condition.comparison
        for block in WRITTEN
        for task in read_dag(json.loads(block.body)).workflow.tasks
        for condition in task.conditions
    }
    assert said == set(Comparison)
