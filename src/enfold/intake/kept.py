"""What an import noted and set aside: all of it stored with the run, the first few to be shown."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from enfold.model import SetAside
from enfold.ports import Tx

BATCH: Final = 1_000
PAGE_BYTES: Final = 4 * 1024 * 1024
SHOWN: Final = 200


@dataclass
class Kept:
    """The pieces of a run.

    Attributes:
        keep: how many to show, their texts cut to 200 characters.
    """

    tx: Tx
    run_id: int
    keep: int
    shown: list[SetAside] = field(default_factory=list)
    count: int = 0
    _waiting: list[SetAside] = field(default_factory=list)
    _size: int = 0

    def add(self, piece: SetAside) -> None:
        self.count += 1
        piece = replace(piece, text=_storable(piece.text))
        if len(self.shown) < self.keep:
            text = piece.text if len(piece.text) <= SHOWN else piece.text[:SHOWN] + "…"
            self.shown.append(SetAside(piece.source, piece.line, piece.reason, text))
        self._waiting.append(piece)
        self._size += len(piece.text)
        if len(self._waiting) >= BATCH or self._size > PAGE_BYTES:
            self.flush()

    def flush(self) -> None:
        self.tx.runs.set_aside(self.run_id, self._waiting)
        self._waiting, self._size = [], 0

    def listed(self, source: str) -> tuple[SetAside, ...]:
        if self.count == len(self.shown):
            return tuple(self.shown)
        more = f"{self.count - len(self.shown):,} more, kept with run {self.run_id}."
        return (*self.shown, SetAside(source, 0, more, ""))


def _storable(text: str) -> str:
    """What no text column holds (NUL, half a surrogate pair), written as an escape."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
