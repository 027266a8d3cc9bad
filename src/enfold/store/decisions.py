"""Names settled apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from enfold.errors import NotFound
from enfold.model import DecidedBy, Decision, Entity
from enfold.store.statements import ID_LIST, Statements, id_list

_COLUMNS: Final = """id, left_key, left_sense, left_name, right_key, right_sense, right_name,
    decided_by, actor, why, created_at, undone_at, undone_by"""


def _decision(row: tuple[Any, ...]) -> Decision:
    values = (*row[:7], DecidedBy(row[7]), *row[8:])
    return Decision(*values)


class Decisions:
    """See ``ports.Decisions``."""

    def __init__(self, statements: Statements) -> None:
        self._sql = statements

    def add(
        self,
        left: Entity,
        right: Entity,
        *,
        decided_by: DecidedBy,
        actor: str | None,
        why: str,
        at: str | None = None,
    ) -> int:
        return int(
            self._sql.value(
                """INSERT INTO decision (left_key, left_sense, left_name, right_key, right_sense,
                    right_name, decided_by, actor, why, created_at)
                VALUES (:left_key, :left_sense, :left_name, :right_key, :right_sense, :right_name,
                    :decided_by, :actor, :why, :now)
                RETURNING id""",
                left_key=left.key,
                left_sense=left.sense,
                left_name=left.spelling,
                right_key=right.key,
                right_sense=right.sense,
                right_name=right.spelling,
                decided_by=decided_by,
                actor=actor,
                why=why,
                now=at or self._sql.now,
            )
        )

    def get(self, decision_id: int) -> Decision | None:
        return next(iter(self._where("id = :id", id=decision_id)), None)

    def undo(self, decision_id: int, *, actor: str | None = None) -> None:
        undone = self._sql.run(
            """UPDATE decision SET undone_at = :now, undone_by = :actor
            WHERE id = :id AND undone_at IS NULL""",
            id=decision_id,
            actor=actor,
            now=self._sql.now,
        )
        if not undone:
            raise NotFound("no_decision", f"No decision {decision_id} is in force.")

    def between(self, left_root: int, right_root: int) -> list[Decision]:
        return self._where(
            "id IN (SELECT decision_id FROM apart WHERE left_id = :left AND right_id = :right)",
            left=left_root,
            right=right_root,
        )

    def of_rows(self, left: Entity, right: Entity) -> Decision | None:
        found = self._where(
            """undone_at IS NULL AND id IN (
            SELECT id FROM decision WHERE undone_at IS NULL
                AND left_key = :left_key AND left_sense = :left_sense
                AND right_key = :right_key AND right_sense = :right_sense
            UNION ALL
            SELECT id FROM decision WHERE undone_at IS NULL
                AND left_key = :right_key AND left_sense = :right_sense
                AND right_key = :left_key AND right_sense = :left_sense)""",
            left_key=left.key,
            left_sense=left.sense,
            right_key=right.key,
            right_sense=right.sense,
        )
        return found[0] if found else None

    def apart_roots(self, *, around: Sequence[int] | None = None) -> list[tuple[int, int]]:
        if around is None:
            return self._sql.all(
                """SELECT DISTINCT left_id, right_id FROM apart WHERE left_id < right_id
                ORDER BY left_id, right_id"""
            )
        # The view has each pair both ways round, so that one side is enough to find it by.
        found = self._sql.all(
            f"SELECT left_id, right_id FROM apart WHERE left_id IN {ID_LIST}", ids=id_list(around)
        )
        return sorted({(min(pair), max(pair)) for pair in found})

    def off_merge_keys(self) -> set[str]:
        rows = self._sql.stream(
            """SELECT l.merge_key FROM decision d
            JOIN entity l ON l.key = d.left_key AND l.sense = d.left_sense
            JOIN entity r ON r.key = d.right_key AND r.sense = d.right_sense
            WHERE d.undone_at IS NULL AND l.merge_key = r.merge_key AND l.merge_key <> ''"""
        )
        return {merge_key for (merge_key,) in rows}

    def recent(self, *, live_only: bool = True, limit: int = 1000) -> list[Decision]:
        which = "undone_at IS NULL" if live_only else "1 = 1"
        return self._where(which, "id DESC LIMIT :limit", limit=limit)

    def _where(self, condition: str, order: str = "id", **values: object) -> list[Decision]:
        rows = self._sql.all(
            f"SELECT {_COLUMNS} FROM decision WHERE {condition} ORDER BY {order}", **values
        )
        return [_decision(row) for row in rows]
