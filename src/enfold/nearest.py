"""The spellings closest to a name that is not known: what a miss carries."""

from __future__ import annotations

from typing import Final

from rapidfuzz.fuzz import ratio

from enfold import pairs, rules
from enfold.model import Context, Entity, Verdict
from enfold.names import Name
from enfold.ports import Tx

FLOOR: Final = 0.55
"""Below this likeness a spelling is no help: a misspelt first name scores about 0.77 against its
own, a fragment of four letters about 0.89."""

MOST: Final = 2_000
"""Rows looked at, of those the index finds and of those it does not hold yet."""

BEGINNINGS: Final = 50
"""Rows looked at for beginning with the letters asked for; fewer than three begin too many."""


def nearest(tx: Tx, name: Name, limit: int = 5) -> list[Entity]:
    """Entities by how close their closest spelling is: what a rule would ask about, what begins
    with the name, and what reads like it."""
    context = tx.context() or Context()
    scores: dict[int, tuple[float, int]] = {}
    for row in _rows(tx, name, context):
        score = likeness(name, Name(row.spelling, row.type), context)
        if score >= FLOOR:
            scores[row.canonical_id] = min(scores.get(row.canonical_id, (0.0, 0)), (-score, row.id))
    best = sorted(scores, key=scores.__getitem__)[:limit]
    roots = tx.entities.many(best)
    return [roots[root] for root in best]


def _rows(tx: Tx, name: Name, context: Context) -> list[Entity]:
    blocks = pairs.blocking(rules.rule_set(context.rules))
    found = tx.names.probe(sorted(pairs.probe_keys(name, blocks)))
    rows = tx.entities.many(sorted(found.union(tx.names.unindexed()[:MOST]))[:MOST])
    if len(name.merge_key) >= 3:
        begun = tx.entities.starting(name.merge_key, limit=BEGINNINGS)
        rows |= {row.id: row for row in begun}
    return list(rows.values())


def likeness(name: Name, other: Name, context: Context) -> float:
    """0 to 1: how alike two spellings read, in Latin letters without marks; at least the score of a
    rule that would ask about them."""
    alike = ratio(name.latin, other.latin) / 100
    if name.latin and other.latin.startswith(name.latin):
        alike = max(alike, 0.75)
    ruling = rules.rule_on(name, other, context)
    return alike if ruling.verdict is Verdict.APART else max(alike, ruling.score)
