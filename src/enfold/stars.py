"""Names of equal letters: stars round their canonical, never chains.

Equal letters are no equivalence, since numbers, symbols and leading punctuation may still part two
names that both equal a third. So each name is held to the canonical of each star in turn, and folds
into the first that it is ruled one with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from enfold import rules
from enfold.model import AskedPair, Context, Entity, Proposal, Ruling, Verdict
from enfold.names import Name
from enfold.ports import Tx

RULE: Final = "identical"
OFF: Final = " A person kept spellings of this name apart, so it is asked."
"""What a question says beside the rule's reason where automatic folding of these letters is off."""

OFF_SCORE: Final = 0.9

GROUPS_AT_ONCE: Final = 2_000
"""Groups whose rows are read together: enough that reading is not what takes the time."""


@dataclass(frozen=True)
class Stars:
    """The plan for the groups: what folds, in order, and what is asked.

    Attributes:
        settled: pairs that fold, or would, and are one already.
    """

    folds: list[Proposal]
    asked: list[AskedPair]
    judged: int
    settled: int


def canonical_order(entity: Entity, spelling: str) -> tuple[int, int, int, str, int]:
    """Which of several entities keeps its name: more mentions, then longer, then more capitals,
    then older, then the lower id."""
    capitals = sum(map(str.isupper, spelling))
    return -entity.mentions, -len(spelling), -capitals, entity.created_at, entity.id


def settle(tx: Tx, groups: Sequence[Sequence[int]], context: Context) -> Stars:
    """Rule rows of equal letters. Each folds into the first star it fits, never by way of another:
    equal letters are no equivalence, since numbers and symbols may still part them."""
    off = tx.decisions.off_merge_keys()
    plan = Stars([], [], 0, 0)
    judged = settled = 0
    for at in range(0, len(groups), GROUPS_AT_ONCE):
        part = groups[at : at + GROUPS_AT_ONCE]
        rows = tx.entities.many([row for group in part for row in group])
        roots = tx.entities.many(list({e.canonical_id for e in rows.values()}))
        for group in part:
            members = [rows[row] for row in group if row in rows]
            more = _settle_one(members, roots, off, context, plan)
            judged += more[0]
            settled += more[1]
    return replace(plan, judged=judged, settled=settled)


def _settle_one(
    members: list[Entity],
    roots: dict[int, Entity],
    off: set[str],
    context: Context,
    plan: Stars,
) -> tuple[int, int]:
    """Add one group's folds and questions to the plan; (pairs judged, pairs one already)."""

    def order(row: Entity) -> tuple[int, int, int, str, int]:
        root = roots[row.canonical_id]
        return canonical_order(root, root.name)

    stars: list[list[tuple[Entity, Name]]] = []
    judged = settled = 0
    for row in sorted(members, key=lambda row: (order(row), row.id)):
        name = Name(row.spelling, row.type)
        asked: list[AskedPair] = []
        for star in stars:
            head = star[0][0]
            judged += 1
            # Held to every member: a plain name is one with each of two that differ in a picture.
            ruling, against = _least(name, star, context)
            if ruling.verdict is Verdict.FOLD:
                joined = row.canonical_id == head.canonical_id
                if joined or name.merge_key not in off:
                    settled += joined
                    if not joined:
                        fold = Proposal(row.id, head.id, Verdict.FOLD, RULE, 1.0, ruling.reason)
                        plan.folds.append(fold)
                    star.append((row, name))
                    break
                asked.append((row.id, head.id, RULE, OFF_SCORE))
            elif ruling.verdict is Verdict.ASK:
                asked.append((row.id, against.id, ruling.rule, ruling.score))
        else:
            stars.append([(row, name)])
            plan.asked.extend(asked)
    return judged, settled


_STRENGTH: Final = {Verdict.FOLD: 2, Verdict.ASK: 1, Verdict.APART: 0}


def _least(name: Name, star: list[tuple[Entity, Name]], context: Context) -> tuple[Ruling, Entity]:
    """The ruling that says least for one thing, and the member it is on."""
    rulings = [(rules.rule_on(name, known, context), row) for row, known in star]
    return min(rulings, key=lambda pair: _STRENGTH[pair[0].verdict])
