"""Mentions and facts: what the text said, and where that ends now."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from enfold.model import Fact, Memory, Mention
from enfold.ports import EVERY, NewFact
from enfold.store.memories import MEMORY, memory_of
from enfold.store.statements import ID_LIST, Statements, id_list

# How the fact's own memory writes one of its ends.
_SPELLED: Final = """(SELECT m.spelling FROM mention m
    WHERE m.memory_id = f.memory_id AND m.asserted_id = {end} ORDER BY m.id LIMIT 1)"""

# Edges that anyone may know of, whether they count or not.
_UNSEALED: Final = """NOT EXISTS (SELECT 1 FROM uncounted x WHERE x.memory_id = {edge}.memory_id
    AND x.sealed_for IS NOT NULL)"""
UNSEALED_MENTION: Final = _UNSEALED.format(edge="m")
UNSEALED_FACT: Final = _UNSEALED.format(edge="f")

# Edges that count for an agent: those of the views, and those of what is sealed for it. Nobody's
# agent is null, and sees what the views do.
_SEEN: Final = """NOT EXISTS (SELECT 1 FROM uncounted x WHERE x.memory_id = {edge}.memory_id
    AND (x.stale <> 0 OR x.sealed_for IS NOT :agent))"""
_SEEN_MENTION: Final = _SEEN.format(edge="m")
_SEEN_FACT: Final = _SEEN.format(edge="f")

# As the views link_counted and literal_counted, for an agent.
_LINKS: Final = f"""SELECT min(f.id) AS id, f.memory_id, s.canonical_id AS subject_id, f.predicate,
        o.canonical_id AS object_id, NULL AS literal, max(f.confidence) AS confidence
    FROM fact f JOIN entity s ON s.id = f.subject_id JOIN entity o ON o.id = f.object_id
    WHERE s.canonical_id <> o.canonical_id AND {{where}} AND {_SEEN_FACT}
    GROUP BY f.memory_id, s.canonical_id, f.predicate, o.canonical_id"""
_LITERALS: Final = f"""SELECT min(f.id) AS id, f.memory_id, s.canonical_id AS subject_id,
        f.predicate, NULL AS object_id, f.literal, max(f.confidence) AS confidence
    FROM fact f JOIN entity s ON s.id = f.subject_id
    WHERE f.literal IS NOT NULL AND {{where}} AND {_SEEN_FACT}
    GROUP BY f.memory_id, s.canonical_id, f.predicate, f.literal"""

_COUNTED_MENTIONS: Final = "SELECT id FROM mention_counted WHERE entity_id = :root"

# Each end of a link has its index. A fact of a thing with itself never counts, so the parts share
# no row.
_SUBJECT: Final = "s.canonical_id = :root"
_COUNTED_FACTS: Final = f"""{_LINKS.format(where=_SUBJECT)}
    UNION ALL {_LINKS.format(where="o.canonical_id = :root")}
    UNION ALL {_LITERALS.format(where=_SUBJECT)}"""

# The facts of an entity at one end, with the entity at the other. Cut before they are joined: a
# hub's thousands are left where they lie.
_FACTS_AT: Final = f"""SELECT near.memory_id, near.predicate, e.canonical_id, near.confidence
    FROM (SELECT f.memory_id, f.predicate, f.{{far}}_id AS far_id, f.confidence
        FROM entity a CROSS JOIN fact f
        WHERE a.canonical_id = :root AND f.{{near}}_id = a.id AND f.object_id IS NOT NULL
            AND {_SEEN_FACT}
        LIMIT :limit) near
    JOIN entity e ON e.id = near.far_id"""
_ENDS: Final = {
    "out": _FACTS_AT.format(near="subject", far="object"),
    "in": _FACTS_AT.format(near="object", far="subject"),
}

# The latest memories of an entity, or some of them: those come in the order of the index, and cost
# the same of a hub.
_SOURCES: Final = f"""SELECT {{distinct}} m.memory_id FROM entity a CROSS JOIN mention m
    WHERE a.canonical_id = :root AND m.asserted_id = a.id AND {_SEEN_MENTION}
    ORDER BY {{order}} LIMIT :limit"""
_LATEST: Final = _SOURCES.format(distinct="DISTINCT", order="m.memory_id DESC")
_SOME: Final = _SOURCES.format(distinct="", order="a.id DESC, m.memory_id DESC")

_BETWEEN: Final = f"""SELECT f.predicate, max(f.confidence), count(DISTINCT f.memory_id),
        max(f.memory_id)
    FROM entity s CROSS JOIN fact f CROSS JOIN entity o
    WHERE s.canonical_id = :subject AND f.subject_id = s.id
        AND o.id = f.object_id AND o.canonical_id = :object AND {_SEEN_FACT}
    GROUP BY f.predicate"""


class Edges:
    """See ``ports.Edges``."""

    def __init__(self, statements: Statements) -> None:
        self._sql = statements
        self._mark: int | None = None
        self._stored_mark = 0

    def passages(
        self, entity_id: int, *, memories: int, around: int
    ) -> list[tuple[int, str | None, str, str]]:
        # Cut in the database: a document may be as long as a book. The inner limit lets a hub's
        # thousands of mentions be, in the order of the index.
        return self._sql.all(
            """SELECT y.id, y.source, near.spelling, substr(y.content,
                CASE WHEN instr(y.content, near.spelling) > :around
                    THEN instr(y.content, near.spelling) - :around ELSE 1 END,
                2 * :around + length(near.spelling))
            FROM (SELECT memory_id, min(spelling) AS spelling
                FROM (SELECT m.memory_id, m.spelling FROM entity a CROSS JOIN mention m
                    WHERE a.canonical_id = :root AND m.asserted_id = a.id
                        AND NOT EXISTS (SELECT 1 FROM uncounted x WHERE x.memory_id = m.memory_id)
                    LIMIT :limit) first
                GROUP BY memory_id) near
            JOIN memory y ON y.id = near.memory_id ORDER BY y.id""",
            root=entity_id,
            limit=memories,
            around=around,
        )

    def owned(self, roots: Sequence[int], *, agent: str | None = None) -> list[tuple[int, Memory]]:
        rows = self._sql.all(
            f"""SELECT e.canonical_id, {MEMORY}
            FROM entity e JOIN mention m ON m.asserted_id = e.id
            JOIN memory y ON y.id = m.memory_id
            WHERE e.canonical_id IN {ID_LIST}
                AND {_SEEN_MENTION}
                AND NOT EXISTS
                    (SELECT 1 FROM mention f WHERE f.memory_id = m.memory_id AND f.id < m.id)
            ORDER BY y.id""",
            ids=id_list(roots),
            agent=agent,
        )
        return [(root, memory_of(memory)) for root, *memory in rows]

    def stated(
        self, roots: Sequence[int], *, agent: str | None = None
    ) -> list[tuple[Fact, Memory, str | None, str | None, dict[str, object]]]:
        # By a range of ids: callers page through entities by id, so little is read in vain.
        asked = set(roots)
        within = "s.canonical_id BETWEEN :first AND :last"
        rows = self._sql.stream(
            f"""SELECT c.id, c.memory_id, c.subject_id, c.predicate, c.object_id, c.literal,
                c.confidence, {MEMORY},
                {_SPELLED.format(end="f.subject_id")}, {_SPELLED.format(end="f.object_id")},
                f.attributes
            FROM ({_LINKS.format(where=within)} UNION ALL {_LITERALS.format(where=within)}) c
            JOIN fact f ON f.id = c.id JOIN memory y ON y.id = c.memory_id
            ORDER BY c.id""",
            first=min(asked, default=0),
            last=max(asked, default=0),
            agent=agent,
        )
        return [
            (Fact(*row[:7]), memory_of(row[7:-3]), row[-3], row[-2], _attributes(row[-1]))
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

    def count_mentions(self, entity_id: int, *, agent: str | None = None) -> int:
        found = self._sql.value(
            f"""SELECT count(DISTINCT m.memory_id) FROM entity a JOIN mention m
            ON m.asserted_id = a.id WHERE a.canonical_id = :root AND {_SEEN_MENTION}""",
            root=entity_id,
            agent=agent,
        )
        return int(found)

    def facts_of(self, entity_id: int, *, limit: int = 100, agent: str | None = None) -> list[Fact]:
        rows = self._sql.all(
            f"{_COUNTED_FACTS} ORDER BY id LIMIT :limit", root=entity_id, limit=limit, agent=agent
        )
        return [Fact(*row) for row in rows]

    def count_facts(self, entity_id: int, *, agent: str | None = None) -> int:
        return int(
            self._sql.value(
                f"SELECT count(*) FROM ({_COUNTED_FACTS}) c", root=entity_id, agent=agent
            )
        )

    # ---- what is near ----

    def shared_sources(
        self,
        entity_id: int,
        *,
        memories: int,
        mentions: int | None = None,
        agent: str | None = None,
    ) -> tuple[dict[int, int], bool]:
        sources = self._sql.ids(
            _LATEST if mentions is None else _SOME,
            root=entity_id,
            limit=memories + 1,
            agent=agent,
        )
        rows = self._sql.all(
            f"""SELECT root, count(DISTINCT memory_id), count(*) FROM (
                SELECT e.canonical_id AS root, m.memory_id
                FROM mention m JOIN entity e ON e.id = m.asserted_id
                WHERE m.memory_id IN {ID_LIST} AND e.canonical_id <> :root LIMIT :limit) near
            GROUP BY root""",
            root=entity_id,
            ids=id_list(sources[:memories]),
            limit=EVERY if mentions is None else mentions,
        )
        cut = len(sources) > memories or sum(row[2] for row in rows) == mentions
        return {root: shared for root, shared, _ in rows}, cut

    def links(
        self, entity_id: int, *, facts: int, agent: str | None = None
    ) -> tuple[list[tuple[int, str, str, float, int]], bool]:
        found: dict[tuple[int, str, str], tuple[float, set[int]]] = {}
        left = facts
        for direction, statement in _ENDS.items():
            rows = self._sql.all(statement, root=entity_id, limit=left + 1, agent=agent)
            for memory, predicate, other, confidence in rows[: max(left, 0)]:
                if other != entity_id:
                    at = (other, predicate, direction)
                    highest, sources = found.get(at, (0.0, set()))
                    sources.add(memory)
                    found[at] = (max(highest, confidence), sources)
            left -= len(rows)
        return [(*at, highest, len(sources)) for at, (highest, sources) in found.items()], left < 0

    def links_between(
        self, left: int, right: int, *, agent: str | None = None
    ) -> list[tuple[str, str, float, int, int]]:
        ends = {"out": (left, right), "in": (right, left)}
        return [
            (predicate, direction, confidence, sources, memory)
            for direction, (subject, target) in ends.items()
            for predicate, confidence, sources, memory in self._sql.all(
                _BETWEEN, subject=subject, object=target, agent=agent
            )
        ]

    def shared_between(
        self, left: int, right: int, *, agent: str | None = None
    ) -> tuple[int, int | None]:
        row = self._sql.row(
            f"""SELECT count(DISTINCT m.memory_id), max(m.memory_id)
            FROM entity a CROSS JOIN mention m
            WHERE a.canonical_id = :left AND m.asserted_id = a.id AND {_SEEN_MENTION}
                AND EXISTS (SELECT 1 FROM entity b CROSS JOIN mention n
                    WHERE b.canonical_id = :right AND n.memory_id = m.memory_id
                        AND n.asserted_id = b.id)""",
            left=left,
            right=right,
            agent=agent,
        )
        assert row is not None
        return int(row[0]), row[1]

    def asserted_to(self, ids: Sequence[int]) -> tuple[list[int], list[int]]:
        """(mention ids, fact ids) of the edges that name one of these rows."""
        values = {"ids": id_list(ids)}
        mentions = self._sql.ids(
            f"""SELECT m.id FROM mention m WHERE m.asserted_id IN {ID_LIST} AND {UNSEALED_MENTION}
            ORDER BY m.id""",
            **values,
        )
        facts = self._sql.ids(
            f"""SELECT f.id FROM fact f WHERE f.subject_id IN {ID_LIST} AND {UNSEALED_FACT}
            UNION SELECT f.id FROM fact f WHERE f.object_id IN {ID_LIST} AND {UNSEALED_FACT}
            ORDER BY id""",
            **values,
        )
        return mentions, facts


def _attributes(stored: str | None) -> dict[str, object]:
    return json.loads(stored) if stored else {}


def _stored(attributes: Mapping[str, object] | None) -> str | None:
    return json.dumps(attributes, ensure_ascii=True) if attributes else None
