"""Memories, mentions and facts: what the text said, and where that ends now."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from enfold.model import Fact, Memory, Mention
from enfold.ports import NewFact, NewMemory
from enfold.store.statements import ID_LIST, Statements, id_list

_MEMORY: Final = """y.id, y.content, y.kind, y.source, y.source_tag, y.caller_id,
    CASE WHEN EXISTS (SELECT 1 FROM stale x WHERE x.memory_id = y.id)
        THEN 'stale' ELSE 'active' END,
    y.created_at"""


# How the fact's own memory writes one of its ends.
_SPELLED: Final = """(SELECT m.spelling FROM mention m
    WHERE m.memory_id = f.memory_id AND m.asserted_id = {end} ORDER BY m.id LIMIT 1)"""

_LINKS: Final = """SELECT id, memory_id, subject_id, predicate, object_id, NULL AS literal,
    confidence FROM link_counted"""
_LITERALS: Final = """SELECT id, memory_id, subject_id, predicate, NULL AS object_id, literal,
    confidence FROM literal_counted"""

_COUNTED_MENTIONS: Final = "SELECT id FROM mention_counted WHERE entity_id = :root"

# Each end of a link has its index. A fact of a thing with itself never counts, so the halves share
# no row.
_COUNTED_LINKS: Final = f"""{_LINKS} WHERE subject_id = :root
    UNION ALL {_LINKS} WHERE object_id = :root"""
_COUNTED_FACTS: Final = f"{_COUNTED_LINKS} UNION ALL {_LITERALS} WHERE subject_id = :root"


class Edges:
    """See ``ports.Edges``."""

    def __init__(self, statements: Statements) -> None:
        self._sql = statements
        self._mark: int | None = None
        self._stored_mark = 0

    # ---- memories ----

    def memory(self, memory_id: int) -> Memory | None:
        return self._memory("y.id = :id", id=memory_id)

    def memory_by_caller(self, caller_id: str) -> Memory | None:
        return self._memory("y.caller_id = :caller_id", caller_id=caller_id)

    def _memory(self, condition: str, **values: object) -> Memory | None:
        row = self._sql.row(f"SELECT {_MEMORY} FROM memory y WHERE {condition}", **values)
        return None if row is None else Memory(*row)

    def add_memory(
        self,
        content: str,
        *,
        kind: str = "fact",
        source: str | None = None,
        source_tag: str | None = None,
        caller_id: str | None = None,
    ) -> int:
        return self.add_memories([NewMemory(content, source, source_tag, caller_id, kind)])[0]

    def add_memories(self, memories: Sequence[NewMemory]) -> list[int]:
        mark = self._last_memory_ever()
        self._sql.run_many(
            """INSERT INTO memory (content, kind, source, source_tag, caller_id, created_at)
            VALUES (?, ?, ?, ?, ?, ?)""",
            (
                (m.content, m.kind, m.source, m.source_tag, m.caller_id, self._sql.now)
                for m in memories
            ),
        )
        return self._sql.ids("SELECT id FROM memory WHERE id > :mark ORDER BY id", mark=mark)

    def _last_memory_ever(self) -> int:
        found = self._sql.value("SELECT seq FROM sqlite_sequence WHERE name = 'memory'")
        return int(found or 0)

    def known_callers(self, caller_ids: Sequence[str]) -> set[str]:
        rows = self._sql.stream(
            f"SELECT caller_id FROM memory WHERE caller_id IN {ID_LIST}", ids=id_list(caller_ids)
        )
        return {caller_id for (caller_id,) in rows}

    def last_memory(self) -> int:
        return int(self._sql.value("SELECT coalesce(max(id), 0) FROM memory"))

    def passages(
        self, entity_id: int, *, memories: int, around: int
    ) -> list[tuple[int, str | None, str, str]]:
        # Cut in the database: a document may be as long as a book. The inner limit lets a hub's
        # thousands of mentions be, in the order of the index.
        return self._sql.all(
            """SELECT y.id, y.source, near.spelling, substr(y.content,
                max(1, instr(y.content, near.spelling) - :around),
                2 * :around + length(near.spelling))
            FROM (SELECT memory_id, min(spelling) AS spelling
                FROM (SELECT m.memory_id, m.spelling FROM entity a CROSS JOIN mention m
                    WHERE a.canonical_id = :root AND m.asserted_id = a.id
                        AND NOT EXISTS (SELECT 1 FROM stale x WHERE x.memory_id = m.memory_id)
                    LIMIT :limit) first
                GROUP BY memory_id) near
            JOIN memory y ON y.id = near.memory_id ORDER BY y.id""",
            root=entity_id,
            limit=memories,
            around=around,
        )

    def memory_page(self, *, after: int, limit: int) -> list[tuple[Memory, list[Mention]]]:
        page = [
            Memory(*row)
            for row in self._sql.all(
                f"SELECT {_MEMORY} FROM memory y WHERE y.id > :after ORDER BY y.id LIMIT :limit",
                after=after,
                limit=limit,
            )
        ]
        mentions = _Group(
            self._sql.stream(
                f"""SELECT m.memory_id, m.id, m.memory_id, m.asserted_id, m.spelling, e.canonical_id
                FROM mention m JOIN entity e ON e.id = m.asserted_id
                WHERE m.memory_id IN {ID_LIST} ORDER BY m.memory_id, m.id""",
                ids=id_list([memory.id for memory in page]),
            )
        )
        return [
            (memory, [Mention(*values) for values in mentions.of(memory.id)]) for memory in page
        ]

    def owned(self, roots: Sequence[int]) -> list[tuple[int, Memory]]:
        rows = self._sql.all(
            f"""SELECT e.canonical_id, {_MEMORY}
            FROM entity e JOIN mention m ON m.asserted_id = e.id
            JOIN memory y ON y.id = m.memory_id
            WHERE e.canonical_id IN {ID_LIST}
                AND NOT EXISTS (SELECT 1 FROM stale z WHERE z.memory_id = y.id)
                AND NOT EXISTS
                    (SELECT 1 FROM mention f WHERE f.memory_id = m.memory_id AND f.id < m.id)
            ORDER BY y.id""",
            ids=id_list(roots),
        )
        return [(root, Memory(*memory)) for root, *memory in rows]

    def stated(
        self, roots: Sequence[int]
    ) -> list[tuple[Fact, Memory, str | None, str | None, dict[str, object]]]:
        # A range of ids reaches into the views where a list would not: SQLite would make out every
        # fact of the graph first. Callers page through entities by id, so little is read in vain.
        asked = set(roots)
        rows = self._sql.stream(
            f"""SELECT c.id, c.memory_id, c.subject_id, c.predicate, c.object_id, c.literal,
                c.confidence, {_MEMORY},
                {_SPELLED.format(end="f.subject_id")}, {_SPELLED.format(end="f.object_id")},
                f.attributes
            FROM ({_LINKS} WHERE subject_id BETWEEN :first AND :last
                UNION ALL {_LITERALS} WHERE subject_id BETWEEN :first AND :last) c
            JOIN fact f ON f.id = c.id JOIN memory y ON y.id = c.memory_id
            ORDER BY c.id""",
            first=min(asked, default=0),
            last=max(asked, default=0),
        )
        return [
            (Fact(*row[:7]), Memory(*row[7:15]), row[15], row[16], _attributes(row[17]))
            for row in rows
            if row[2] in asked
        ]

    def fact_attributes(
        self, caller_ids: Sequence[str]
    ) -> dict[str, tuple[int, dict[str, object]]]:
        found: dict[str, tuple[int, dict[str, object]]] = {}
        for caller_id, fact_id, stored in self._sql.stream(
            f"""SELECT y.caller_id, f.id, f.attributes
            FROM memory y JOIN fact f ON f.memory_id = y.id
            WHERE y.caller_id IN {ID_LIST} ORDER BY f.id""",
            ids=id_list(caller_ids),
        ):
            found.setdefault(caller_id, (fact_id, _attributes(stored)))
        return found

    def set_fact_attributes(self, fact_id: int, attributes: Mapping[str, object]) -> None:
        self._sql.run(
            "UPDATE fact SET attributes = :attributes WHERE id = :id",
            id=fact_id,
            attributes=_stored(attributes),
        )

    def delete_memory(self, memory_id: int) -> None:
        self._sql.run("DELETE FROM memory WHERE id = :id", id=memory_id)

    def set_status(self, memory_id: int, status: str) -> None:
        self._sql.run(
            "INSERT INTO stale (memory_id) VALUES (:id) ON CONFLICT (memory_id) DO NOTHING"
            if status == "stale"
            else "DELETE FROM stale WHERE memory_id = :id",
            id=memory_id,
        )

    def count_memories(self) -> int:
        return int(self._sql.value("SELECT count(*) FROM memory"))

    def memories(self) -> Iterator[tuple[Memory, list[Mention], list[Fact]]]:
        mentions = _Group(
            self._sql.stream(
                """SELECT m.memory_id, m.id, m.memory_id, m.asserted_id, m.spelling, e.canonical_id
                FROM mention m JOIN entity e ON e.id = m.asserted_id ORDER BY m.memory_id, m.id"""
            )
        )
        facts = _Group(
            self._sql.stream(
                """SELECT memory_id, id, memory_id, subject_id, predicate, object_id, literal,
                    confidence
                FROM fact ORDER BY memory_id, id"""
            )
        )
        for row in self._sql.stream(f"SELECT {_MEMORY} FROM memory y ORDER BY y.id"):
            memory = Memory(*row)
            yield (
                memory,
                [Mention(*values) for values in mentions.of(memory.id)],
                [Fact(*values) for values in facts.of(memory.id)],
            )

    # ---- edges ----

    def mention(self, memory_id: int, asserted_id: int, spelling: str) -> int | None:
        return self.mark() if self.add_mentions([(memory_id, asserted_id, spelling)]) else None

    def fact(
        self,
        memory_id: int,
        subject_id: int,
        predicate: str,
        object_id: int | None = None,
        literal: str | None = None,
        confidence: float = 1.0,
        source_tag: str | None = None,
    ) -> int | None:
        new = NewFact(memory_id, subject_id, predicate, object_id, literal, confidence, source_tag)
        return self.mark() if self.add_facts([new]) else None

    def add_mentions(self, mentions: Iterable[tuple[int, int, str]]) -> int:
        self.mark()  # read before the rows flow, not between two of them
        return self._sql.run_many(
            """INSERT INTO mention (id, memory_id, asserted_id, spelling) VALUES (?, ?, ?, ?)
            ON CONFLICT (memory_id, asserted_id, spelling) DO NOTHING""",
            ((self._next(), *mention) for mention in mentions),
        )

    def add_facts(self, facts: Iterable[NewFact]) -> int:
        self.mark()
        return self._sql.run_many(
            """INSERT INTO fact (id, memory_id, subject_id, predicate, object_id, literal,
                confidence, source_tag, attributes)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (memory_id, subject_id, predicate, coalesce(object_id, 0),
                coalesce(literal, '')) DO NOTHING""",
            (
                (
                    self._next(),
                    f.memory_id,
                    f.subject_id,
                    f.predicate,
                    f.object_id,
                    f.literal,
                    f.confidence,
                    f.source_tag,
                    _stored(f.attributes),
                )
                for f in facts
            ),
        )

    def _next(self) -> int:
        self._mark = self.mark() + 1
        return self._mark

    def mark(self) -> int:
        # Held here and stored once at the commit: an update for each edge cost as much as the edge.
        if self._mark is None:
            self._stored_mark = int(self._sql.value("SELECT value FROM meta WHERE name = 'edge'"))
            self._mark = self._stored_mark
        return self._mark

    def store_mark(self) -> None:
        """Store the counter; the last statement before a commit."""
        if self._mark is not None and self._mark != self._stored_mark:
            self._sql.run("UPDATE meta SET value = :mark WHERE name = 'edge'", mark=str(self._mark))
            self._stored_mark = self._mark

    def mentions_of(self, entity_id: int, *, limit: int = 100) -> list[Mention]:
        rows = self._sql.all(
            f"""SELECT m.id, m.memory_id, m.asserted_id, m.spelling, :root
            FROM mention m WHERE m.id IN ({_COUNTED_MENTIONS}) ORDER BY m.id LIMIT :limit""",
            root=entity_id,
            limit=limit,
        )
        return [Mention(*row) for row in rows]

    def count_mentions(self, entity_id: int) -> int:
        return int(self._sql.value(f"SELECT count(*) FROM ({_COUNTED_MENTIONS}) c", root=entity_id))

    def facts_of(self, entity_id: int, *, limit: int = 100) -> list[Fact]:
        rows = self._sql.all(
            f"{_COUNTED_FACTS} ORDER BY id LIMIT :limit", root=entity_id, limit=limit
        )
        return [Fact(*row) for row in rows]

    def count_facts(self, entity_id: int) -> int:
        return int(self._sql.value(f"SELECT count(*) FROM ({_COUNTED_FACTS}) c", root=entity_id))

    def shared_sources(self, entity_id: int, *, memories: int) -> tuple[dict[int, int], bool]:
        sources = self._sql.ids(
            """SELECT DISTINCT m.memory_id FROM entity a JOIN mention m ON m.asserted_id = a.id
            WHERE a.canonical_id = :root
                AND NOT EXISTS (SELECT 1 FROM stale x WHERE x.memory_id = m.memory_id)
            ORDER BY m.memory_id DESC LIMIT :limit""",
            root=entity_id,
            limit=memories + 1,
        )
        rows = self._sql.all(
            f"""SELECT e.canonical_id, count(DISTINCT m.memory_id)
            FROM mention m JOIN entity e ON e.id = m.asserted_id
            WHERE m.memory_id IN {ID_LIST} AND e.canonical_id <> :root
            GROUP BY e.canonical_id""",
            root=entity_id,
            ids=id_list(sources[:memories]),
        )
        return dict(rows), len(sources) > memories

    def links(
        self, entity_id: int, *, facts: int
    ) -> tuple[list[tuple[int, str, str, float, int]], bool]:
        rows = self._sql.all(f"{_COUNTED_LINKS} LIMIT :limit", root=entity_id, limit=facts + 1)
        found: dict[tuple[int, str, str], tuple[float, int]] = {}
        for _, _, subject, predicate, target, _, confidence in rows[:facts]:
            outward = subject == entity_id
            other = target if outward else subject
            at = (other, predicate, "out" if outward else "in")
            highest, sources = found.get(at, (0.0, 0))
            found[at] = (max(highest, confidence), sources + 1)
        return [(*at, *value) for at, value in found.items()], len(rows) > facts

    def asserted_to(self, ids: Sequence[int]) -> tuple[list[int], list[int]]:
        """(mention ids, fact ids) of the edges that name one of these rows."""
        values = {"ids": id_list(ids)}
        mentions = self._sql.ids(
            f"SELECT id FROM mention WHERE asserted_id IN {ID_LIST} ORDER BY id", **values
        )
        facts = self._sql.ids(
            f"""SELECT id FROM fact WHERE subject_id IN {ID_LIST}
            UNION SELECT id FROM fact WHERE object_id IN {ID_LIST} ORDER BY id""",
            **values,
        )
        return mentions, facts


def _attributes(stored: str | None) -> dict[str, object]:
    return json.loads(stored) if stored else {}


def _stored(attributes: Mapping[str, object] | None) -> str | None:
    return json.dumps(attributes, ensure_ascii=True) if attributes else None


class _Group:
    """Rows sorted by their first column, handed out one value of it at a time."""

    def __init__(self, rows: Iterator[tuple[Any, ...]]) -> None:
        self._rows = rows
        self._ahead = next(rows, None)

    def of(self, value: int) -> list[tuple[Any, ...]]:
        found = []
        while self._ahead is not None and self._ahead[0] == value:
            found.append(self._ahead[1:])
            self._ahead = next(self._rows, None)
        return found
