"""What ran: passes, imports, restores."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from enfold.model import Run, SetAside
from enfold.store.statements import Statements

_SELECT: Final = "SELECT id, kind, started_at, ended_at, report, backup, error FROM run"


def _run(row: tuple[Any, ...]) -> Run:
    values = (*row[:4], json.loads(row[4]), *row[5:])
    return Run(*values)


class Runs:
    """See ``ports.Runs``."""

    def __init__(self, statements: Statements) -> None:
        self._sql = statements

    def start(self, kind: str) -> int:
        return int(
            self._sql.value(
                "INSERT INTO run (kind, started_at) VALUES (:kind, :now) RETURNING id",
                kind=kind,
                now=self._sql.now,
            )
        )

    def finish(
        self,
        run_id: int,
        report: Mapping[str, object],
        *,
        backup: str | None = None,
        error: str | None = None,
    ) -> None:
        self._sql.run(
            """UPDATE run SET ended_at = :now, report = :report, backup = :backup, error = :error
            WHERE id = :id""",
            id=run_id,
            now=self._sql.now,
            report=json.dumps(report, ensure_ascii=True),
            backup=backup,
            error=error,
        )

    def get(self, run_id: int) -> Run | None:
        row = self._sql.row(f"{_SELECT} WHERE id = :id", id=run_id)
        return None if row is None else _run(row)

    def recent(self, *, limit: int = 50) -> list[Run]:
        rows = self._sql.all(f"{_SELECT} ORDER BY id DESC LIMIT :limit", limit=limit)
        return [_run(row) for row in rows]

    def last(self, kind: str, *, actor: str | None) -> Run | None:
        row = self._sql.row(
            f"""{_SELECT} WHERE kind = :kind AND json_extract(report, '$.actor') IS :actor
                AND json_extract(report, '$.undone_at') IS NULL ORDER BY id DESC LIMIT 1""",
            kind=kind,
            actor=actor,
        )
        return None if row is None else _run(row)

    def set_aside(self, run_id: int, pieces: Iterable[SetAside]) -> None:
        self._sql.run_many(
            "INSERT INTO set_aside (run_id, source, line, reason, text) VALUES (?, ?, ?, ?, ?)",
            ((run_id, p.source, p.line, p.reason, p.text) for p in pieces),
        )

    def pieces(self, run_id: int) -> list[SetAside]:
        rows = self._sql.all(
            "SELECT source, line, reason, text FROM set_aside WHERE run_id = :id ORDER BY line",
            id=run_id,
        )
        return [SetAside(*row) for row in rows]
