"""How much of anything there may be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.values.limits import (
    ENQUEUE_BATCH_MAX,
    LOG_LINE_BYTES_MAX,
    check_batch,
    check_limit,
    cut_line,
)
from gnomon.errors import InvalidInput


def test_a_page_has_one_to_a_thousand_items() -> None:
    assert (check_limit(1), check_limit(1000)) == (1, 1000)


@pytest.mark.parametrize("limit", [-1, 0, 1001, 10**9, "abc", "5", 5.0, True, None])
def test_another_page_size_is_refused(limit: object) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        check_limit(limit)


def test_a_batch_has_a_limit() -> None:
    check_batch(ENQUEUE_BATCH_MAX, field="executions")
    with pytest.raises(InvalidInput, match="executions: 10001 in one call"):
        check_batch(ENQUEUE_BATCH_MAX + 1, field="executions")


@given(text=st.text(max_size=30), times=st.integers(0, 3000))
def test_a_line_is_kept_or_cut_at_a_character_with_a_marker(text: str, times: int) -> None:
    line = text * times

    cut = cut_line(line)

    assert len(cut.encode()) <= LOG_LINE_BYTES_MAX
    if len(line.encode()) <= LOG_LINE_BYTES_MAX:
        assert cut == line
    else:
        kept, _, marker = cut.rpartition(" [cut: ")
        assert line.startswith(kept)
        left_out = int(marker.removesuffix(" bytes left out]"))
        assert left_out == len(line.encode()) - len(kept.encode())
        assert len(cut.encode()) > LOG_LINE_BYTES_MAX - 10
