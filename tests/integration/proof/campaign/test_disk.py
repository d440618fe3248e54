"""The small disk of the campaign."""

from __future__ import annotations

import pytest

from proof.campaign.faults.disk import small_disk


def test_a_full_disk_has_no_room_and_then_has_it_again() -> None:
    with small_disk() as disk:
        if disk.why_not:
            pytest.skip(disk.why_not)
        with disk.full(), pytest.raises(OSError, match="No space left"):
            (disk.folder / "more").write_bytes(b"\0" * 10_000)
        (disk.folder / "more").write_bytes(b"\0" * 10_000)
