"""Upkeep: check, backup, restore, and what ran."""

from __future__ import annotations

import os

from enfold import check as checks
from enfold.graph.base import Opened
from enfold.model import CheckReport, Run, SetAside
from enfold.names import Name
from enfold.ports import Progress


class Keeping(Opened):
    """Upkeep: check, backup, restore, and what ran."""

    def check(self, *, progress: Progress | None = None) -> CheckReport:
        """Whether every invariant of the graph holds."""
        with self._store.read() as tx:
            return checks.check(tx, name_of=Name.of, progress=progress)

    def backup(self, target: str | os.PathLike[str] | None = None) -> str:
        """A verified copy of the graph; where it lies."""
        return self._store.backup(None if target is None else os.fspath(target))

    def restore(self, source: str | os.PathLike[str]) -> str | None:
        """Put a backup's content in this graph's place; where the replaced content lies."""
        return self._store.restore(os.fspath(source))

    def runs(self, *, limit: int = 50) -> list[Run]:
        """Passes and imports, newest first."""
        with self._store.read() as tx:
            return tx.runs.recent(limit=limit)

    def set_aside(self, run_id: int) -> list[SetAside]:
        """What an import could not take, in full."""
        with self._store.read() as tx:
            return tx.runs.pieces(run_id)
