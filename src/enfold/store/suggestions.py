"""Pairs of rows that a rule asks about, and what is left of them to ask.

Rows of this table never change with a fold; which pairs of entities are open is worked out as it
is read. Streaming half a million pairs through a set took half the time of a DISTINCT in SQL,
which looked up both rows of each pair where only the few absorbed ones have another root.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from enfold.model import Proposal, Verdict
from enfold.store.conflicts import Conflicts
from enfold.store.decisions import Decisions
from enfold.store.entities import Entities
from enfold.store.statements import ID_LIST, Statements, id_list

_FEW = 5_000
"""Up to so many open pairs their mentions are counted one by one, above by one pass over all."""


class _Open(NamedTuple):
    """A suggestion between two entities; sorts in the order in which questions are asked."""

    weight: int  # minus the weaker side's mentions, or a bound on it
    minus_score: float
    low: int
    high: int
    left_id: int
    right_id: int
    rule: str


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

    def replace_all(self, proposals: Iterable[Proposal]) -> None:
        # Making the index anew took a third of the time of keeping it up: 1.3 s for 820,000 pairs.
        self._sql.run("DELETE FROM suggestion")
        self._sql.run("DROP INDEX suggestion_right")
        self._add(proposals)
        self._sql.run("CREATE INDEX suggestion_right ON suggestion (right_id)")

    def replace_for(self, ids: Sequence[int], proposals: Iterable[Proposal]) -> None:
        for column in ("left_id", "right_id"):
            self._sql.run(f"DELETE FROM suggestion WHERE {column} IN {ID_LIST}", ids=id_list(ids))
        self._add(proposals)

    def _add(self, proposals: Iterable[Proposal]) -> None:
        self._sql.run_many(
            """INSERT INTO suggestion (left_id, right_id, rule, score) VALUES (?, ?, ?, ?)
            ON CONFLICT (left_id, right_id) DO UPDATE
            SET rule = excluded.rule, score = excluded.score WHERE excluded.score > score""",
            (
                (min(p.left_id, p.right_id), max(p.left_id, p.right_id), p.rule, p.score)
                for p in proposals
            ),
        )

    def count(self) -> int:
        return int(self._sql.value("SELECT count(*) FROM suggestion"))

    def count_open(self) -> int:
        return len({pair for pair, _ in self._open()})

    def best_open(self, limit: int) -> list[Proposal]:
        if limit <= 0:
            return []
        bound = self._mention_bound()
        wanted = 4 * limit
        while True:
            bounded = heapq.nsmallest(wanted, self._weighed(bound))
            best = self._exact(bounded)[:limit]
            # What was left out has a bound above the last of these, and a true rank above that.
            if len(bounded) < wanted or (len(best) == limit and best[-1] <= bounded[-1]):
                return self._proposals(best)
            wanted *= 4

    def _open(self) -> Iterator[tuple[tuple[int, int], tuple[int, int, str, float]]]:
        """((lower root, higher root), suggestion) of every suggestion that leads to two entities,
        is not queued and not settled apart."""
        root_of = self._entities.absorbed()
        closed = set(self._decisions.apart_roots()) | self._conflicts.pending_pairs()
        for row in self._sql.stream("SELECT left_id, right_id, rule, score FROM suggestion"):
            low, high = root_of.get(row[0], row[0]), root_of.get(row[1], row[1])
            if low > high:
                low, high = high, low
            if low != high and (low, high) not in closed:
                yield (low, high), row

    def _weighed(self, weight_of: Callable[[int], int]) -> Iterator[_Open]:
        for (low, high), (left, right, rule, score) in self._open():
            weight = -min(weight_of(low), weight_of(high))
            yield _Open(weight, -score, low, high, left, right, rule)

    def _mention_bound(self) -> Callable[[int], int]:
        """A root's mentions, or a little more: spellings that share a memory count twice, and so
        do stale memories. One pass over an index; the true count is taken of the best alone."""
        if self.count() <= _FEW:
            roots = {root for pair, _ in self._open() for root in pair}
            return self._entities.mention_counts(list(roots)).__getitem__
        root_of = self._entities.absorbed()
        counts: dict[int, int] = {}
        for row, mentions in self._sql.stream(
            "SELECT asserted_id, count(*) FROM mention GROUP BY asserted_id"
        ):
            root = root_of.get(row, row)
            counts[root] = counts.get(root, 0) + mentions
        return lambda root: counts.get(root, 0)

    def _exact(self, bounded: list[_Open]) -> list[_Open]:
        """The first suggestion of each pair of roots, with its true weight, in order."""
        mentions = self._entities.mention_counts([r for at in bounded for r in (at.low, at.high)])
        weighed = sorted(
            at._replace(weight=-min(mentions[at.low], mentions[at.high])) for at in bounded
        )
        first: dict[tuple[int, int], _Open] = {}
        for at in weighed:
            first.setdefault((at.low, at.high), at)
        return list(first.values())

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
