"""Names and relations in texts that lead to no entity by themselves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from enfold.ports import (
    Edges,
    NewFact,
    NewUnlinked,
    NewUnlinkedFact,
    UnlinkedFact,
    UnlinkedName,
)
from enfold.store.statements import Statements

_SEALED: Final = """EXISTS (SELECT 1 FROM uncounted x
    WHERE x.memory_id = u.memory_id AND x.sealed_for IS NOT NULL)"""

_NAME: Final = f"""SELECT u.id, u.memory_id, u.key, u.spelling, u.type, u.row_id, u.edge_id,
    {_SEALED} FROM unlinked u"""

_FACT: Final = f"""SELECT u.id, u.memory_id, u.subject_key, u.subject, u.predicate, u.object_key,
    u.object, u.confidence, u.source_tag, u.subject_id, u.object_id, u.edge_id, {_SEALED}
    FROM unlinked_fact u"""

_ELSEWHERE: Final = ("IS NULL", "< :row", "> :row")

_WAITS: Final = """u.key = :key AND u.row_id IS NULL
    AND NOT EXISTS (SELECT 1 FROM uncounted x WHERE x.memory_id = u.memory_id)"""


def _name(row: tuple[Any, ...]) -> UnlinkedName:
    id, memory_id, key, spelling, type, row_id, edge_id, sealed = row
    return UnlinkedName(id, memory_id, key, spelling, type, row_id, edge_id, bool(sealed))


def _fact(row: tuple[Any, ...]) -> UnlinkedFact:
    subject_id, object_id, edge_id, sealed = row[9:]
    return UnlinkedFact(
        row[0], NewUnlinkedFact(*row[1:9]), subject_id, object_id, edge_id, bool(sealed)
    )


def _misplaced(table: str, ends: Iterable[tuple[str, str]], row_id: int | None) -> str:
    """Those of a key that are not linked to the row, each part a range of an index: a name that was
    chosen is linked in thousands of texts, and few of them are to be looked at."""
    parts = ("IS NOT NULL",) if row_id is None else _ELSEWHERE
    ids = " UNION ALL ".join(
        f"SELECT id FROM {table} WHERE {key} = :key AND {row} {part}"
        for key, row in ends
        for part in parts
    )
    return f"u.id IN ({ids})"


class Unlinked:
    """See ``ports.Unlinked``."""

    def __init__(self, statements: Statements, edges: Edges) -> None:
        self._sql = statements
        self._edges = edges

    def add(self, names: Iterable[NewUnlinked]) -> int:
        return self._sql.run_many(
            """INSERT INTO unlinked (memory_id, key, spelling, type) VALUES (?, ?, ?, ?)
            ON CONFLICT DO NOTHING""",
            ((n.memory_id, n.key, n.spelling, n.type) for n in names),
        )

    def add_facts(self, facts: Iterable[NewUnlinkedFact]) -> int:
        return self._sql.run_many(
            """INSERT INTO unlinked_fact (memory_id, subject_key, subject, predicate, object_key,
                object, confidence, source_tag)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING""",
            (
                (
                    f.memory_id,
                    f.subject_key,
                    f.subject,
                    f.predicate,
                    f.object_key,
                    f.object,
                    f.confidence,
                    f.source_tag,
                )
                for f in facts
            ),
        )

    def unsettled(self) -> list[str]:
        keys = [row[0] for row in self._sql.all("SELECT key FROM unsettled_name ORDER BY key")]
        if keys:
            self._sql.run("DELETE FROM unsettled_name")
        return keys

    # ---- read ----

    def misplaced(self, key: str, row_id: int | None) -> list[UnlinkedName]:
        which = _misplaced("unlinked", [("key", "row_id")], row_id)
        rows = self._sql.all(f"{_NAME} WHERE {which} ORDER BY u.id", key=key, row=row_id)
        return [_name(row) for row in rows]

    def misplaced_facts(self, key: str, row_id: int | None) -> list[UnlinkedFact]:
        ends = [("subject_key", "subject_id"), ("object_key", "object_id")]
        which = _misplaced("unlinked_fact", ends, row_id)
        rows = self._sql.all(f"{_FACT} WHERE {which} ORDER BY u.id", key=key, row=row_id)
        return [_fact(row) for row in rows]

    def of(self, memory_id: int) -> list[UnlinkedName]:
        rows = self._sql.all(f"{_NAME} WHERE u.memory_id = :id ORDER BY u.id", id=memory_id)
        return [_name(row) for row in rows]

    def facts_of(self, memory_id: int) -> list[UnlinkedFact]:
        rows = self._sql.all(f"{_FACT} WHERE u.memory_id = :id ORDER BY u.id", id=memory_id)
        return [_fact(row) for row in rows]

    def count(self, key: str) -> int:
        return int(
            self._sql.value(
                f"SELECT count(DISTINCT u.memory_id) FROM unlinked u WHERE {_WAITS}", key=key
            )
        )

    def types(self, key: str) -> list[str]:
        rows = self._sql.all(
            f"""SELECT DISTINCT u.type FROM unlinked u
            WHERE {_WAITS} AND u.type IS NOT NULL ORDER BY u.type""",
            key=key,
        )
        return [row[0] for row in rows]

    def first(self, key: str) -> str | None:
        found = self._sql.value(
            f"SELECT u.spelling FROM unlinked u WHERE {_WAITS} ORDER BY u.id LIMIT 1", key=key
        )
        return None if found is None else str(found)

    # ---- link ----

    def place(self, name: UnlinkedName, row_id: int | None) -> None:
        if name.edge_id is not None:
            self._sql.run("DELETE FROM mention WHERE id = :id", id=name.edge_id)
        edge_id = None
        if row_id is not None:
            edge_id = self._edges.mention(name.memory_id, row_id, name.spelling)
        self._sql.run(
            "UPDATE unlinked SET row_id = :row, edge_id = :edge WHERE id = :id",
            id=name.id,
            row=row_id,
            edge=edge_id,
        )

    def place_fact(self, fact: UnlinkedFact, ends: tuple[int, int] | None) -> None:
        if fact.edge_id is not None:
            self._sql.run("DELETE FROM fact WHERE id = :id", id=fact.edge_id)
        edge_id = None
        if ends is not None:
            new = NewFact(
                fact.said.memory_id,
                ends[0],
                fact.said.predicate,
                ends[1],
                confidence=fact.said.confidence,
                source_tag=fact.said.source_tag,
            )
            edge_id = self._edges.mark() if self._edges.add_facts([new]) else None
        self._sql.run(
            """UPDATE unlinked_fact SET subject_id = :subject, object_id = :object,
                edge_id = :edge WHERE id = :id""",
            id=fact.id,
            subject=ends[0] if ends else None,
            object=ends[1] if ends else None,
            edge=edge_id,
        )
