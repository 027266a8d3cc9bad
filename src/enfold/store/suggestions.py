"""Pairs of rows that a rule asks about, and what is left of them to ask.

Rows of ``suggestion`` never change with a fold. The open pairs of entities that follow from them
are kept beside, in ``open_pair``; whatever may close, open or reweigh one marks a row (triggers
write ``unsettled``; a new mention is known by its id), and the pairs around the marked rows are
worked out anew when they are asked for. Going through all of 900,000 suggestions took 3 s; around
three new names it takes a millisecond.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import repeat
from typing import Any, Final, NamedTuple

from enfold.asked import Asked, Columns
from enfold.model import AskedPair, OpenPair, Proposal, Verdict
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
    WHERE excluded.score > open_pair.score"""

_INDEXES: Final = {
    "open_pair_high": "open_pair (high)",
    "open_pair_rank": "open_pair (weight DESC, score DESC, low, high)",
}

_FIRST: Final = 20_000
"""So many pairs, by rank, are looked at one by one for those of a rule or type."""

_TYPED: Final = "SELECT id FROM entity WHERE lower(type) = lower(:type)"
_FITS: Final = """(:rule IS NULL OR rule = :rule) AND (:type IS NULL OR EXISTS (
    SELECT 1 FROM entity e WHERE e.id IN (low, high) AND lower(e.type) = lower(:type)))"""
_FITS_ANY: Final = f"""(:rule IS NULL OR rule = :rule)
    AND (:type IS NULL OR low IN ({_TYPED}) OR high IN ({_TYPED}))"""

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


def _pair(at: _Open) -> OpenPair:
    return OpenPair(
        at.low, at.high, -at.minus_weight, -at.minus_score, at.left_id, at.right_id, at.rule
    )


def _rank(pair: OpenPair) -> tuple[int, float, int, int]:
    return -pair.weight, -pair.score, pair.low, pair.high


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
        self._read: tuple[list[int], list[_Open]] | None = None  # what holds for a whole snapshot

    # ---- what the rules said ----

    def replace_all(self, asked: Columns) -> int:
        self._sql.run("DELETE FROM suggestion")
        once = asked.once()
        with self._sql.unindexed({"suggestion_right": "suggestion (right_id)"}):
            self._sql.run_many(
                "INSERT INTO suggestion (left_id, right_id, rule, score) VALUES (?, ?, ?, ?)",
                once.rows(),
            )
        return self._settle_all(once)

    def replace_for(self, ids: Sequence[int], asked: Iterable[AskedPair]) -> None:
        added = list(asked)
        for column in ("left_id", "right_id"):
            self._sql.run(f"DELETE FROM suggestion WHERE {column} IN {ID_LIST}", ids=id_list(ids))
        self._add(added)
        self._unsettle([*ids, *(left for left, *_ in added)])

    def _add(self, asked: Iterable[AskedPair]) -> None:
        best: dict[tuple[int, int], tuple[str, float]] = {}
        for left, right, rule, score in asked:
            pair = (min(left, right), max(left, right))
            if pair not in best or score > best[pair][1]:
                best[pair] = (rule, score)
        self._sql.run_many(
            """INSERT INTO suggestion (left_id, right_id, rule, score) VALUES (?, ?, ?, ?)
            ON CONFLICT (left_id, right_id) DO UPDATE
            SET rule = excluded.rule, score = excluded.score
            WHERE excluded.score > suggestion.score""",
            ((*pair, *said) for pair, said in best.items()),
        )

    def count(self) -> int:
        return int(self._sql.value("SELECT count(*) FROM suggestion"))

    # ---- what is left to ask ----

    def count_open(self, *, rule: str | None = None, type: str | None = None) -> int:
        roots, around = self._unsettled()
        if rule is not None or type is not None:
            holds = f"low NOT IN {ID_LIST} AND high NOT IN {ID_LIST}" if roots else "1 = 1"
            stored = self._sql.value(
                f"SELECT count(*) FROM open_pair WHERE {holds} AND {_FITS_ANY}",
                ids=id_list(roots),
                rule=rule,
                type=type,
            )
            return int(stored) + len(self._fitting(around, rule, type))
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

    def ranked_open(
        self, *, rule: str | None = None, type: str | None = None
    ) -> Generator[OpenPair, None, None]:
        roots, around = self._unsettled()
        fresh = map(_pair, sorted(self._fitting(around, rule, type)))
        with closing(self._ranked(roots, rule, type)) as stored:
            yield from heapq.merge(itertools.starmap(OpenPair, stored), fresh, key=_rank)

    def _ranked(
        self, roots: Sequence[int], rule: str | None, type: str | None
    ) -> Generator[tuple[Any, ...], None, None]:
        values = {"ids": id_list(roots), "rule": rule, "type": type, "first": _FIRST}
        holds = f"low NOT IN {ID_LIST} AND high NOT IN {ID_LIST}" if roots else "1 = 1"
        order = "ORDER BY weight DESC, score DESC, low, high"
        if rule is None and type is None:
            yield from self._sql.stream(
                f"SELECT {_COLUMNS} FROM open_pair WHERE {holds} {order}", **values
            )
            return
        # In the order of the index, of which nearly all may not fit, for some way; then all that
        # fit at once. A rare rule's first pair of a million took 700 ms by the index alone.
        for row in self._sql.stream(
            f"""SELECT {_COLUMNS} FROM (SELECT * FROM open_pair {order} LIMIT :first) first
            WHERE {holds} AND {_FITS} {order}""",
            **values,
        ):
            yield row
        edge = self._sql.row(
            f"SELECT {_COLUMNS} FROM open_pair {order} LIMIT 1 OFFSET :first", **values
        )
        if edge is None:
            return
        after = _rank(OpenPair(*edge))
        for row in self._sql.stream(
            f"""SELECT {_COLUMNS} FROM open_pair WHERE {holds} AND {_FITS_ANY}
            ORDER BY +weight DESC, score DESC, low, high""",
            **values,
        ):
            if _rank(OpenPair(*row)) >= after:
                yield row

    def _fitting(self, pairs: Sequence[_Open], rule: str | None, type: str | None) -> list[_Open]:
        fitting = [at for at in pairs if rule in (None, at.rule)]
        if type is None:
            return fitting
        typed = self._of_type([root for at in fitting for root in (at.low, at.high)], type)
        return [at for at in fitting if at.low in typed or at.high in typed]

    def _of_type(self, roots: Sequence[int], type: str) -> set[int]:
        return set(
            self._sql.ids(
                f"SELECT id FROM entity WHERE id IN {ID_LIST} AND lower(type) = lower(:type)",
                ids=id_list(roots),
                type=type,
            )
        )

    def open_around(
        self, root: int, *, limit: int, rule: str | None = None, type: str | None = None
    ) -> list[OpenPair]:
        roots, around = self._unsettled()
        touching = [at for at in around if root in (at.low, at.high)]
        fresh = [_pair(at) for at in self._fitting(touching, rule, type)]
        if root in roots:  # all of its pairs are among those worked out anew
            return sorted(fresh, key=_rank)[:limit]
        stored = self._sql.stream(
            f"""SELECT {_COLUMNS} FROM (SELECT * FROM open_pair WHERE low = :root
                UNION ALL SELECT * FROM open_pair WHERE high = :root) near
            WHERE {_FITS} {f"AND low NOT IN {ID_LIST} AND high NOT IN {ID_LIST}" if roots else ""}
            ORDER BY weight DESC, score DESC, low, high LIMIT :limit""",
            root=root,
            ids=id_list(roots),
            limit=limit,
            rule=rule,
            type=type,
        )
        return heapq.nsmallest(limit, [*itertools.starmap(OpenPair, stored), *fresh], key=_rank)

    def count_open_around(self, root: int) -> int:
        roots, around = self._unsettled()
        fresh = sum(root in (at.low, at.high) for at in around)
        if root in roots:
            return fresh
        stored = self._sql.value(
            f"""SELECT count(*) FROM (SELECT low, high FROM open_pair WHERE low = :root
                UNION ALL SELECT low, high FROM open_pair WHERE high = :root) near
            {f"WHERE low NOT IN {ID_LIST} AND high NOT IN {ID_LIST}" if roots else ""}""",
            root=root,
            ids=id_list(roots),
        )
        return int(stored) + fresh

    def open_between(self, roots: Sequence[int]) -> list[OpenPair]:
        among = set(roots)
        changed, around = self._unsettled()
        fresh = [_pair(at) for at in around if at.low in among and at.high in among]
        stored = self._sql.all(
            f"SELECT {_COLUMNS} FROM open_pair WHERE low IN {ID_LIST} AND high IN {ID_LIST}",
            ids=id_list(among.difference(changed)),
        )
        return sorted([*itertools.starmap(OpenPair, stored), *fresh], key=_rank)

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
        if self._read is not None:
            return self._read
        marked = self._sql.ids(_MARKED)
        settling = self._sql.may_write()
        if not marked:
            return [], []
        if settling and len(marked) > _FEW:
            self._settle_all()
            return [], []
        # A root that was absorbed or deleted is marked itself, so that its old pairs are found.
        roots = sorted({*marked, *self._entities.roots(marked).values()})
        around = self._around(roots)
        if not settling:
            self._read = roots, around
            return self._read
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

    def _settle_all(self, asked: Columns | None = None) -> int:
        """Work every open pair out anew, of what is stored where it is not given; how many."""
        columns = asked or self._stored()
        root_of = self._entities.absorbed()
        shut = self._conflicts.pending_pairs().union(self._decisions.apart_roots())
        low, high, pairs = columns.between(root_of, shut)
        mentions, roots = self._mentions(root_of), (low.tolist(), high.tolist())
        weights = map(min, *(map(mentions.get, side, repeat(0)) for side in roots))
        rule = map(pairs.rules.__getitem__, pairs.rule.tolist())
        rows = (column.tolist() for column in (pairs.score, pairs.left, pairs.right))
        self._sql.run("DELETE FROM open_pair")
        with self._sql.unindexed(_INDEXES):
            self._sql.run_many(
                f"INSERT INTO open_pair ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",
                zip(*roots, weights, *rows, rule, strict=True),
            )
        self._clear_marks()
        return len(pairs)

    def _stored(self) -> Columns:
        rows = self._sql.stream("SELECT left_id, right_id, rule, score FROM suggestion")
        return Asked.of(rows).columns()

    def _clear_marks(self) -> None:
        self._sql.run("DELETE FROM unsettled")
        self._sql.run(
            """UPDATE meta SET value = (SELECT coalesce(max(id), 0) FROM mention)
            WHERE name = 'settled'"""
        )

    def _mentions(self, root_of: dict[int, int]) -> dict[int, int]:
        """The mentions of every root that has any. A row without others under it is counted in one
        pass over an index; rows of one cluster may share a memory, and are counted together."""
        counts: dict[int, int] = dict(
            self._sql.stream(
                """SELECT m.asserted_id, count(DISTINCT m.memory_id) FROM mention m
                WHERE NOT EXISTS (SELECT 1 FROM uncounted x WHERE x.memory_id = m.memory_id)
                GROUP BY m.asserted_id"""
            )
        )
        counts.update(self._entities.mention_counts(list(set(root_of.values()))))
        return counts

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
