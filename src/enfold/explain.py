"""Why two names get the ruling they get, rule by rule, and where a graph stands on them."""

from __future__ import annotations

from dataclasses import dataclass

from enfold import folds, lookup, rules
from enfold.model import Conflict, Context, Decision, Entity, Found, Merge, Ruling, Verdict
from enfold.names import Name
from enfold.ports import Tx


@dataclass(frozen=True, slots=True)
class Step:
    """What one rule says of a pair on its own; ``decides`` marks the first that speaks."""

    rule: str
    sees: str
    verdict: Verdict | None
    reason: str | None
    decides: bool


@dataclass(frozen=True, slots=True)
class Explained:
    """Why two names get the ruling they get, rule by rule, and where the graph stands on them.

    Attributes:
        left, right: the names as asked, with the types the ruling used.
        left_entity, right_entity: the entities they lead to, if the graph knows them.
        one: whether they are one entity now, and ``merges`` the folds that joined them.
        apart: the decisions that keep them apart now.
        question: the pending question between them.
    """

    left: Name
    right: Name
    ruling: Ruling
    steps: tuple[Step, ...]
    left_entity: Entity | None
    right_entity: Entity | None
    one: bool
    merges: tuple[Merge, ...]
    apart: tuple[Decision, ...]
    question: Conflict | None


def explain(tx: Tx, left: Name, right: Name) -> Explained:
    """Explain a pair. Types are the graph's own unless the names have some."""
    context = tx.context() or Context()
    rows = [_row_of(tx, name) for name in (left, right)]
    one, other = (
        name if name.type or row is None else Name(name.spelling, row.type)
        for name, row in zip((left, right), rows, strict=True)
    )
    roots = tx.entities.many([row.canonical_id for row in rows if row is not None])
    entities = [None if row is None else roots[row.canonical_id] for row in rows]
    joined, apart, question = _standing(tx, rows, entities)
    return Explained(
        left=one,
        right=other,
        ruling=rules.rule_on(one, other, context),
        steps=_steps(one, other, context),
        left_entity=entities[0],
        right_entity=entities[1],
        one=entities[0] is not None and entities[0] == entities[1],
        merges=joined,
        apart=apart,
        question=question,
    )


def _row_of(tx: Tx, name: Name) -> Entity | None:
    """The row a name leads to, if it leads to one entity."""
    found = lookup.find(tx, name)
    return tx.entities.get(found.row_id) if isinstance(found, Found) else None


def _steps(left: Name, right: Name, context: Context) -> tuple[Step, ...]:
    steps: list[Step] = []
    for rule, ruling in rules.explain(left, right, context):
        decides = ruling is not None and not any(step.decides for step in steps)
        said = ruling or Ruling(rule.verdict, rule.name, 0.0, "")
        spoke = ruling is not None
        steps.append(
            Step(
                said.rule,
                rule.sees,
                said.verdict if spoke else None,
                said.reason if spoke else None,
                decides,
            )
        )
    return tuple(steps)


def _standing(
    tx: Tx, rows: list[Entity | None], entities: list[Entity | None]
) -> tuple[tuple[Merge, ...], tuple[Decision, ...], Conflict | None]:
    """(the folds that joined the two, the decisions that keep them apart, the pending question)."""
    one, other = entities
    if one is None or other is None:
        return (), (), None
    if one.id == other.id:
        ways = [folds.way_up(tx, row.id) for row in rows if row is not None]
        joined = [row for row in {*ways[0], *ways[1]} if not all(row in way for way in ways)]
        merges = (tx.merges.live_of(row) for row in joined)
        return tuple(sorted((m for m in merges if m), key=lambda m: m.id)), (), None
    sides = {one.id, other.id}
    pending = (q for q in tx.conflicts.pending() if {q.queued_now, q.candidate_now} == sides)
    return (), tuple(tx.decisions.between(one.id, other.id)), next(pending, None)
