"""Pairs of rows that a rule asks about, and what is left of them to ask.

Rows of ``suggestion`` never change with a fold. The open pairs of entities that follow from them
are kept beside, in ``open_pair``; whatever may close, open or reweigh one marks a row (triggers
write ``unsettled``; a new mention is known by its id), and the pairs around the marked rows are
worked out anew when they are asked for. Going through all of 900,000 suggestions took 3 s; around
three new names it takes a millisecond.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from enfold.model import AskedPair, Proposal, Verdict
from enfold.store.conflicts import Conflicts
from enfold.store.decisions import Decisions
from enfold.store.entities import Entities
from enfold.store.statements import ID_LIST, Statements, id_list

_FEW = 5_000
"""Up to so many marked rows the pairs around them are settled, above every pair in one pass."""

_COLUMNS: Final = "low, high, weight, score, left_id, right_id, rule"

# Where nothing is suggested, a first import's every mention need not be looked at.
_MARKED: Final = """
SELECT entity_id FROM unsettled
UNION SELECT asserted_id FROM mention
WHERE id > (SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'settled')
    AND EXISTS (SELECT 1 FROM suggestion)"""

# CROSS JOIN: SQLite keeps its order, and so looks up what belongs to the few roots.
_AROUND: Final = """
SELECT l.canonical_id, r.canonical_id, s.score, s.left_id, s.right_id, s.rule
FROM json_each(:ids) t CROSS JOIN entity l CROSS JOIN suggestion s CROSS JOIN entity r
WHERE l.canonical_id = t.value AND s.left_id = l.id AND r.id = s.right_id
UNION ALL SELECT l.canonical_id, r.canonical_id, s.score, s.left_id, s.right_id, s.rule
FROM json_each(:ids) t CROSS JOIN entity r CROSS JOIN suggestion s CROSS JOIN entity l
WHERE r.canonical_id = t.value AND s.right_id = r.id AND l.id = s.left_id"""

# One row for each pair of roots; of equal scores the first, as rows come by id.
_ADD: Final = f"""INSERT INTO open_pair ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (low, high) DO UPDATE SET score = excluded.score, left_id = excluded.left_id,
        right_id = excluded.right_id, rule = excluded.rule
    WHERE excluded.score > score"""

# Dropped while all is written: keeping them up took twice as long as making them anew.
_INDEXES: Final = {
    "open_pair_high": "open_pair (high)",
    "open_pair_rank": "open_pair (weight DESC, score DESC, low, high)",
}

_Suggestion = tuple[int, int, float, int, int, str]
"""(root of left, root of right, score, left, right, rule)"""


class _Open(NamedTuple):
    """A suggestion between two entities; sorts in the order in which questions are asked."""

    minus_weight: int  # minus the weaker side's mentions
    minus_score: float
    low: int
    high: int
    left_id: int
    right_id: int
    rule: str

    def stored(self) -> tuple[object, ...]:
        return (self.low, self.high, -self.minus_weight, -self.minus_score, *self[4:])


def _open(
    suggestions: Iterable[_Suggestion], shut: set[tuple[int, int]]
) -> Iterator[tuple[int, int, float, int, int, str]]:
    """What is open, with the lower root first: what leads to two entities, is not queued and not
    settled apart."""
    for low, high, score, left, right, rule in suggestions:
        if low > high:
            low, high = high, low  # noqa: PLW2901
        if low != high and (low, high) not in shut:
            yield low, high, score, left, right, rule


class Suggestions:
    """See ``ports.Suggestions``."""

    def __init__(
        self,
        statements: Statements,
        entities: Entities,
        decisions: Decisions,
        conflicts: Conflicts,
    ) -> None:
        self._sql = statements
        self._entities = entities
        self._decisions = decisions
        self._conflicts = conflicts

    # ---- what the rules said ----

    def replace_all(self, asked: Iterable[AskedPair]) -> None:
        # Making the index anew took a third of the time of keeping it up: 1.3 s for 820,000 pairs.
        self._sql.run("DELETE FROM suggestion")
        self._sql.run("DROP INDEX suggestion_right")
        self._add(asked)
        self._sql.run("CREATE INDEX suggestion_right ON suggestion (right_id)")
        self._settle_all()

    def replace_for(self, ids: Sequence[int], asked: Iterable[AskedPair]) -> None:
        added = list(asked)
        for column in ("left_id", "right_id"):
            self._sql.run(f"DELETE FROM suggestion WHERE {column} IN {ID_LIST}", ids=id_list(ids))
        self._add(added)
        self._unsettle([*ids, *(left for left, *_ in added)])

    def _add(self, asked: Iterable[AskedPair]) -> None:
        self._sql.run_many(
            """INSERT INTO suggestion (left_id, right_id, rule, score) VALUES (?, ?, ?, ?)
            ON CONFLICT (left_id, right_id) DO UPDATE
            SET rule = excluded.rule, score = excluded.score WHERE excluded.score > score""",
            (
                (left, right, rule, score) if left < right else (right, left, rule, score)
                for left, right, rule, score in asked
            ),
        )

    def count(self) -> int:
        return int(self._sql.value("SELECT count(*) FROM suggestion"))

    # ---- what is left to ask ----

    def count_open(self) -> int:
        roots, around = self._unsettled()
        stored = self._sql.value("SELECT count(*) FROM open_pair")
        return int(stored) - self._count_around(roots) + len(around)

    def best_open(self, limit: int) -> list[Proposal]:
        if limit <= 0:
            return []
        roots, around = self._unsettled()
        stored = self._sql.stream(
            f"""SELECT -weight, -score, low, high, left_id, right_id, rule FROM open_pair
            WHERE low NOT IN {ID_LIST} AND high NOT IN {ID_LIST}
            ORDER BY weight DESC, score DESC, low, high LIMIT :limit""",
            ids=id_list(roots),
            limit=limit,
        )
        return self._proposals(heapq.nsmallest(limit, [*map(_Open._make, stored), *around]))

    def _count_around(self, roots: Sequence[int]) -> int:
        if not roots:
            return 0
        found = self._sql.value(
            f"""SELECT count(*) FROM (SELECT low, high FROM open_pair WHERE low IN {ID_LIST}
            UNION SELECT low, high FROM open_pair WHERE high IN {ID_LIST}) around""",
            ids=id_list(roots),
        )
        return int(found)

    # ---- settling ----

    def _unsettle(self, ids: Sequence[int]) -> None:
        # The roots as well: once nothing is suggested at all, a fold of theirs leaves no mark.
        self._sql.run(
            f"""INSERT INTO unsettled SELECT id FROM entity WHERE id IN {ID_LIST}
            UNION SELECT canonical_id FROM entity WHERE id IN {ID_LIST} ON CONFLICT DO NOTHING""",
            ids=id_list(ids),
        )

    def _unsettled(self) -> tuple[list[int], list[_Open]]:
        """(roots whose stored pairs don't hold, the pairs open around them); none of either where
        what is worked out may be written."""
        marked = self._sql.ids(_MARKED)
        if not marked:
            return [], []
        settling = self._sql.may_write()
        if settling and len(marked) > _FEW:
            self._settle_all()
            return [], []
        # A root that was absorbed or deleted is marked itself, so that its old pairs are found.
        roots = sorted({*marked, *self._entities.roots(marked).values()})
        around = self._around(roots)
        if not settling:
            return roots, around
        for column in ("low", "high"):
            self._sql.run(f"DELETE FROM open_pair WHERE {column} IN {ID_LIST}", ids=id_list(roots))
        self._sql.run_many(_ADD, (pair.stored() for pair in around))
        self._clear_marks()
        return [], []

    def _around(self, roots: Sequence[int]) -> list[_Open]:
        """The best suggestion of each open pair that has one of these roots."""
        apart = self._decisions.apart_roots(around=roots)
        shut = self._conflicts.pending_pairs().union(apart)
        suggestions = self._sql.all(_AROUND, ids=id_list(roots))
        best: dict[tuple[int, int], tuple[float, int, int, str]] = {}
        for low, high, score, left, right, rule in _open(suggestions, shut):
            found = (-score, left, right, rule)
            best[low, high] = min(found, best.get((low, high), found))
        mentions = self._entities.mention_counts(list({root for pair in best for root in pair}))
        return [
            _Open(-min(mentions[low], mentions[high]), minus_score, low, high, left, right, rule)
            for (low, high), (minus_score, left, right, rule) in best.items()
        ]

    def _settle_all(self) -> None:
        for index in _INDEXES:
            self._sql.run(f"DROP INDEX {index}")
        self._sql.run("DELETE FROM open_pair")
        self._sql.run_many(_ADD, self._every())
        for index, columns in _INDEXES.items():
            self._sql.run(f"CREATE INDEX {index} ON {columns}")
        self._clear_marks()

    def _clear_marks(self) -> None:
        self._sql.run("DELETE FROM unsettled")
        self._sql.run(
            """UPDATE meta SET value = (SELECT coalesce(max(id), 0) FROM mention)
            WHERE name = 'settled'"""
        )

    def _every(self) -> Iterator[tuple[object, ...]]:
        """What is open, by the rows' ids. Streaming half a million pairs past a set took half the
        time of a join, which looked up both rows of each where few have another root."""
        root_of = self._entities.absorbed()
        shut = self._conflicts.pending_pairs().union(self._decisions.apart_roots())
        mentions = self._mentions(root_of)
        suggestions = (
            (root_of.get(left, left), root_of.get(right, right), score, left, right, rule)
            for left, right, score, rule in self._sql.stream(
                "SELECT left_id, right_id, score, rule FROM suggestion ORDER BY left_id, right_id"
            )
        )
        for low, high, score, left, right, rule in _open(suggestions, shut):
            yield low, high, min(mentions(low), mentions(high)), score, left, right, rule

    def _mentions(self, root_of: dict[int, int]) -> Callable[[int], int]:
        """Every root's mentions. A row without others under it is counted in one pass over an
        index; rows of one cluster may share a memory, and are counted together."""
        counts: dict[int, int] = dict(
            self._sql.stream(
                """SELECT m.asserted_id, count(DISTINCT m.memory_id) FROM mention m
                WHERE NOT EXISTS (SELECT 1 FROM stale x WHERE x.memory_id = m.memory_id)
                GROUP BY m.asserted_id"""
            )
        )
        counts.update(self._entities.mention_counts(list(set(root_of.values()))))
        return lambda root: counts.get(root, 0)

    # ---- reading ----

    def _proposals(self, chosen: list[_Open]) -> list[Proposal]:
        rows = [row for at in chosen for row in (at.left_id, at.right_id)]
        root_of = self._entities.roots(rows)
        mentions = self._entities.mention_counts(list(root_of.values()))

        def greater(row: int) -> tuple[int, int]:
            return mentions[root_of[row]], -root_of[row]

        proposals = []
        for at in chosen:
            queued, candidate = sorted((at.left_id, at.right_id), key=greater)
            proposals.append(Proposal(queued, candidate, Verdict.ASK, at.rule, -at.minus_score))
        return proposals
