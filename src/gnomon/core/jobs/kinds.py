"""Kinds of work: how they are written, and which of them one process may save and run.

A kind is read in any case and kept in lower case, so that `HTTP` is `http` wherever it is said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from gnomon.core.values.choices import beside
from gnomon.errors import KindDisabled, UnknownKind


def kinds_of(words: Iterable[str]) -> frozenset[str]:
    """As they are kept."""
    return frozenset(word.lower() for word in words)


@dataclass(frozen=True, slots=True)
class Kinds:
    """What one process knows of kinds.

    `installed` are those that handlers here run; None: nothing is known, so no kind is refused as unknown.
    `enabled` are those that may be saved and run here; None: all. A kind that it names is known.
    """

    installed: frozenset[str] | None = None
    enabled: frozenset[str] | None = None

    def is_known(self, kind: str) -> bool:
        return (
            self.installed is None
            or kind in self.installed
            or (self.enabled is not None and kind in self.enabled)
        )

    def check(self, kind: str, *, elsewhere: Collection[str] = (), allows_unknown: bool = False) -> None:
        """Raises KindDisabled, and UnknownKind for one that neither this process nor a worker elsewhere has.

        Whoever allows unknown kinds does not switch on what is off.
        """
        if self.enabled is not None and kind not in self.enabled:
            raise KindDisabled(kind, enabled=self.enabled)
        if not allows_unknown and not self.is_known(kind) and kind not in elsewhere:
            known = {*(self.installed or ()), *(self.enabled or ()), *elsewhere}
            raise UnknownKind(kind, known=beside(kind, known if self.enabled is None else self.enabled))
