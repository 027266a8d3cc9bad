"""Relation records: a memory with one fact between two rows each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from enfold import names
from enfold.intake.later import Later
from enfold.intake.rows import End, ends
from enfold.intake.run import BATCH, RELATION_TAG, Run, as_text, at, caller
from enfold.model import RelationRecord
from enfold.ports import NewFact, NewMemory, Row

RELATED: Final = "related to"
"""The predicate of a relation whose source gives it none."""


def statement(subject: str, predicate: str, target: str) -> str:
    """The text of a relation that has none of its own."""
    return f"{subject} {predicate} {target}"


def take(run: Run, later: Later) -> None:
    """State every relation."""
    done, batch = 0, []
    for record in later.of(RelationRecord):
        batch.append(record)
        if len(batch) >= BATCH // 2:
            _relate(run, batch)
            done += len(batch)
            batch = []
            run.tell("relations", done)
    _relate(run, batch)
    if done or batch:
        run.tell("relations", done + len(batch))


@dataclass(frozen=True, slots=True)
class _Relation:
    """A relation whose ends are rows: (row id, spelling as written) of each."""

    line: int
    caller: str
    text: str
    plain: bool
    predicate: str
    confidence: float
    ends: tuple[tuple[int, str], tuple[int, str]]
    attributes: dict[str, Any]


def _relate(run: Run, batch: Sequence[RelationRecord]) -> None:
    asked: list[tuple[RelationRecord, End, End]] = []
    for record in batch:
        subject, target = run.named(record, record.subject), None
        if subject is not None:
            target = run.named(record, record.object)
        if subject is not None and target is not None:
            asked.append((record, (subject, record.subject_id), (target, record.object_id)))
    flat = [(record.line, end) for record, *both in asked for end in both]
    rows = ends(run, flat, tag=RELATION_TAG)
    said: dict[str, list[_Relation]] = {}
    for (record, subject_end, target_end), left, right in zip(
        asked, rows[::2], rows[1::2], strict=True
    ):
        if left is None or right is None:
            name = subject_end[0] if left is None else target_end[0]
            why = f"{name.spelling!r} fits several entities here; it is linked to none."
            run.set_aside(record.line, why, as_text(record))
            continue
        made = _relation(record, subject_end, left, target_end, right)
        said.setdefault(made.caller, []).append(made)
    _state(run, said)


def _relation(record: RelationRecord, first: End, left: Row, second: End, right: Row) -> _Relation:
    (subject, subject_id), (target, target_id) = first, second
    predicate = names.clean(record.predicate) or RELATED
    by = caller(
        "rel",
        at(subject, left, subject_id),
        predicate,
        at(target, right, target_id),
        record.text or "",
    )
    return _Relation(
        line=record.line,
        caller=by,
        text=record.text or statement(subject.spelling, predicate, target.spelling),
        plain=not record.text,
        predicate=predicate,
        confidence=record.confidence,
        ends=((left.id, subject.spelling), (right.id, target.spelling)),
        attributes=record.attributes,
    )


def _state(run: Run, said: dict[str, list[_Relation]]) -> None:
    known = run.tx.memories.known_callers(list(said))
    _describe_facts(run, {by: said[by] for by in said if by in known})
    new = [(same[0], _united(run, same, {})) for by, same in said.items() if by not in known]
    ids = run.tx.memories.add_many(
        [NewMemory(r.text, run.source, RELATION_TAG, r.caller) for r, _ in new]
    )
    run.came_in([relation.text for relation, _ in new])
    run.plain.extend(i for i, (r, _) in zip(ids, new, strict=True) if r.plain)
    mentions: list[tuple[int, int, str]] = []
    facts: list[NewFact] = []
    for memory_id, (relation, attributes) in zip(ids, new, strict=True):
        for row_id, spelling in relation.ends:
            mentions.append((memory_id, row_id, spelling))
        facts.append(
            NewFact(
                memory_id,
                relation.ends[0][0],
                relation.predicate,
                relation.ends[1][0],
                confidence=relation.confidence,
                source_tag=RELATION_TAG,
                attributes=attributes or None,
            )
        )
    run.counts.mentions += run.tx.edges.add_mentions(mentions)
    run.counts.facts += run.tx.edges.add_facts(facts)


def _describe_facts(run: Run, known: dict[str, list[_Relation]]) -> None:
    """Attributes of relations that were known: the first value stands."""
    callers = [by for by, same in known.items() if any(r.attributes for r in same)]
    for by, (fact_id, has) in run.tx.edges.fact_attributes(callers).items():
        union = _united(run, known[by], has)
        if union.keys() - has.keys():
            run.tx.edges.set_fact_attributes(fact_id, union)


def _united(run: Run, same: Sequence[_Relation], has: dict[str, Any]) -> dict[str, Any]:
    for relation in same:
        (_, subject), (_, target) = relation.ends
        what = statement(subject, relation.predicate, target)
        run.differing(relation.line, what, relation.attributes, has)
        has = relation.attributes | has
    return has
