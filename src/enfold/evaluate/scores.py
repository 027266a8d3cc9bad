"""Precision, recall and F1 of pairs, and B-cubed of clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

PLACES = 4
"""Decimal places that a share is kept to: more would say more than a set of a few hundred can."""


def share(part: int, whole: int) -> float | None:
    """A part of a whole, from 0 to 1; None where the whole is nothing."""
    return round(part / whole, PLACES) if whole else None


@dataclass(frozen=True, slots=True)
class Score:
    """How right, how complete, and the harmonic mean of both.

    Attributes:
        precision: the share of what was said that is right; None where nothing was said.
        recall: the share of what is true that was said; None where nothing is.
        f1: their harmonic mean; 0 where nothing is right, None where there is nothing to find.
    """

    precision: float | None
    recall: float | None
    f1: float | None

    @classmethod
    def of(cls, right: int, said: int, true: int) -> Score:
        """The score of counts: ``right`` of the ``said`` are among the ``true``."""
        f1 = round(2 * right / (said + true), PLACES) if true else None
        return cls(share(right, said), share(right, true), f1)

    @classmethod
    def from_shares(cls, precision: float | None, recall: float | None) -> Score:
        """The score of two shares that are not of the same counts."""
        if precision is None or recall is None:
            return cls(precision, recall, None)
        both = precision + recall
        f1 = round(2 * precision * recall / both, PLACES) if both else 0.0
        return cls(precision, recall, f1)


def pairs_of(count: int) -> int:
    """How many pairs that many things make."""
    return count * (count - 1) // 2


def pairwise(found: Sequence[Hashable], true: Sequence[Hashable]) -> Score:
    """The pairs that stand in one cluster, against those that should.

    Args:
        found: [mentions] the cluster each was put in.
        true: [mentions] the thing each is of.
    """
    both = Counter(zip(found, true, strict=True))
    right = sum(map(pairs_of, both.values()))
    said, of = (sum(map(pairs_of, Counter(side).values())) for side in (found, true))
    return Score.of(right, said, of)


def b_cubed(found: Sequence[Hashable], true: Sequence[Hashable]) -> Score:
    """For each mention, how much of its cluster is of its thing, and how much of its thing is in
    its cluster; the means of both (Bagga and Baldwin, 1998)."""
    if not found:
        return Score(None, None, None)
    both = Counter(zip(found, true, strict=True))
    clusters, things = Counter(found), Counter(true)
    precision = sum(n * n / clusters[cluster] for (cluster, _), n in both.items()) / len(found)
    recall = sum(n * n / things[thing] for (_, thing), n in both.items()) / len(found)
    f1 = 2 * precision * recall / (precision + recall)
    return Score(round(precision, PLACES), round(recall, PLACES), round(f1, PLACES))


@dataclass(frozen=True, slots=True)
class Equal:
    """A peer's scores cut where it finds as much as was found here.

    Attributes:
        threshold: pairs of this score and above count as matches.
        score: what the peer's precision and recall are there.
    """

    threshold: float
    score: Score


def at_equal_recall(right: int, scored: Iterable[tuple[float, bool]]) -> Equal | None:
    """The highest threshold at which a peer finds at least as many of the true pairs; None where it
    never does. Pairs of one score stand or fall together.

    Args:
        right: how many true pairs were found here.
        scored: (the peer's score, whether the two are one thing).
    """
    ranked = sorted(scored, reverse=True)
    true = sum(same for _, same in ranked)
    found = 0
    for said, (score, same) in enumerate(ranked, 1):
        found += same
        last = said == len(ranked) or ranked[said][0] != score
        if last and found >= right:
            return Equal(score, Score.of(found, said, true))
    return None
