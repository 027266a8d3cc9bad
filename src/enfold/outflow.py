"""A graph as the records of a file: entities by the name shown, relations between them, and what
is settled apart.

What a fold made one is written as one: folded spellings as aliases, an observation that two
spellings share once, relations between the canonical names, none of a thing with itself. What a
source said beside is a union, in which the first value of a key stands. The ids that folded
spellings had of their own stand in it under ``ALIAS_IDS``, so that an import finds each again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from enfold.intake import ALIAS_IDS, RELATION_TAG, statement
from enfold.model import (
    Decision,
    Entity,
    EntityRecord,
    Fact,
    IdentityRecord,
    Memory,
    RelationRecord,
    Written,
)
from enfold.names import Name
from enfold.ports import EVERY, Progress, Row, Tx

PAGE: Final = 500


def records(
    tx: Tx, *, agent: str | None = None, progress: Progress | None = None
) -> Iterator[Written]:
    """Every live entity by id with its observations, then every relation by its subject's id, each
    in the order in which it came into the graph, then every pair of entities that is settled apart.

    An observation belongs to the entity that its memory mentions first. A memory that mentions
    nothing, and a fact whose object is a literal, have no place in these records: the first is
    left out, the second is in the text of its memory.

    Args:
        agent: takes what is sealed for this agent along; else nothing that is sealed is written.
    """
    total = tx.entities.count_live() * 2
    done = 0
    for write in (_entities, _relations):
        for page in _pages(tx):
            yield from write(tx, page, agent)
            done += len(page)
            if progress is not None:
                progress("export", done, total)
    yield from _apart(tx)


def _pages(tx: Tx) -> Iterator[list[Entity]]:
    after = 0
    while page := tx.entities.live(after=after, limit=PAGE):
        yield page
        after = page[-1].id


# ---- entities ----


def _entities(tx: Tx, page: Sequence[Entity], agent: str | None) -> Iterator[EntityRecord]:
    ids = [entity.id for entity in page]
    aliases = tx.entities.aliases(ids)
    beside = tx.entities.attributes_of(ids)
    identified = tx.entities.identified(ids)
    said: dict[int, dict[str, None]] = {}
    for entity_id, memory in tx.edges.owned(ids, agent=agent):
        if memory.source_tag != RELATION_TAG:
            said.setdefault(entity_id, {})[memory.content] = None
    for entity in page:
        rows = identified.get(entity.id, ())
        attributes = _union(beside.get(entity.id, ()))
        if alias_ids := _alias_ids(entity, rows):
            attributes = attributes | {ALIAS_IDS: alias_ids}
        yield EntityRecord(
            line=0,
            name=entity.name,
            type=entity.type,
            observations=tuple(said.get(entity.id, ())),
            aliases=_other_names(entity.name, aliases.get(entity.id, ())),
            foreign_id=_id_of(entity.id, entity.name, rows),
            attributes=attributes,
        )


def _id_of(entity_id: int, name: str, rows: Sequence[Row]) -> str | None:
    """The source's own id of an entity; one made up where another has its name and it has none, so
    that the two can be told apart."""
    for row in rows:
        if row.id == entity_id and row.foreign_id is not None:
            return row.foreign_id
    shared = (row for row in rows if row.id == entity_id or row.spelling == name)
    return next((_made_up(row.key, row.sense) for row in shared), None)


def _made_up(key: str, sense: int) -> str:
    return f"enfold:{key}#{sense}"


def _alias_ids(entity: Entity, rows: Sequence[Row]) -> dict[str, list[str]]:
    """{alias: its ids} of what was folded, and of the name before a rename."""
    ids: dict[str, set[str]] = {}
    for row in rows:
        said = _id_of(entity.id, entity.name, rows) if row.id == entity.id else row.foreign_id
        if row.spelling == entity.name and (row.id == entity.id or said is None):
            continue  # it is the name written, and has the entity's id
        ids.setdefault(row.spelling, set()).add(said or _made_up(row.key, row.sense))
    return {spelling: sorted(ids[spelling]) for spelling in sorted(ids)}


def _other_names(name: str, aliases: Sequence[str]) -> tuple[str, ...]:
    """The aliases that are another name than what was written before, not a case of it."""
    if not aliases:
        return ()
    first = {Name(alias).key: alias for alias in reversed(aliases)}
    first.pop(Name(name).key, None)
    return tuple(alias for alias in aliases if first.get(Name(alias).key) == alias)


def _union(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The attributes of what is written as one: the first value of a key stands."""
    union: dict[str, Any] = {}
    for part in parts:
        union = part | union
    return union


# ---- relations ----

_End = tuple[str, str | None]
"""The name shown of an entity, and the source's own id of it."""


def _ends(tx: Tx, entities: Iterable[int]) -> dict[int, _End]:
    ids = sorted(set(entities))
    rows = tx.entities.identified(ids)
    names = tx.entities.shown_names(ids)
    return {one: (name, _id_of(one, name, rows.get(one, ()))) for one, name in names.items()}


def _relations(tx: Tx, page: Sequence[Entity], agent: str | None) -> Iterator[RelationRecord]:
    stated = tx.edges.stated([entity.id for entity in page], agent=agent)
    targets = {fact.object_id for fact, *_ in stated if fact.object_id is not None}
    ends = _ends(tx, targets.union(entity.id for entity in page))
    written: dict[tuple[int, str, int, str | None], RelationRecord] = {}
    for fact, memory, subject, target, beside in sorted(
        stated, key=lambda said: (said[0].subject_id, said[0].id)
    ):
        if fact.object_id is None:
            continue
        own = _own_text(fact, memory, subject, target)
        once = (fact.subject_id, fact.predicate, fact.object_id, own)
        if first := written.get(once):
            written[once] = replace(first, attributes=_union([first.attributes, beside]))
            continue
        left, right = ends[fact.subject_id], ends[fact.object_id]
        written[once] = RelationRecord(
            line=0,
            subject=left[0],
            predicate=fact.predicate,
            object=right[0],
            confidence=fact.confidence,
            text=own,
            attributes=beside,
            subject_id=left[1],
            object_id=right[1],
        )
    yield from written.values()


def _own_text(fact: Fact, memory: Memory, subject: str | None, target: str | None) -> str | None:
    """The text of a relation; None where it is made of its ends and its type."""
    if memory.source_tag != RELATION_TAG:
        return None
    plain = statement(subject or "", fact.predicate, target or "")
    return None if memory.content == plain else memory.content


# ---- what is settled apart ----


def _apart(tx: Tx) -> Iterator[IdentityRecord]:
    """Each pair of entities that a decision keeps apart now, once, in the order it was decided."""
    decisions = tx.decisions.recent(limit=EVERY)[::-1]
    written: set[tuple[int, int]] = set()
    for at in range(0, len(decisions), PAGE):
        yield from _of_decisions(tx, decisions[at : at + PAGE], written)


def _of_decisions(
    tx: Tx, page: Sequence[Decision], written: set[tuple[int, int]]
) -> Iterator[IdentityRecord]:
    rows = tx.entities.rows(sorted({key for d in page for key in (d.left_key, d.right_key)}))
    root_at = {(r.key, r.sense): r.canonical_id for same in rows.values() for r in same}
    ends = _ends(tx, root_at.values())
    for decision in page:
        left = root_at.get((decision.left_key, decision.left_sense))
        right = root_at.get((decision.right_key, decision.right_sense))
        if left is None or right is None or left == right:
            continue  # a row is gone, or the two are one: it says nothing now
        pair = (min(left, right), max(left, right))
        if pair not in written:
            written.add(pair)
            yield IdentityRecord(
                line=0,
                left=ends[left][0],
                right=ends[right][0],
                same=False,
                left_id=ends[left][1],
                right_id=ends[right][1],
                why=decision.why or None,
            )
