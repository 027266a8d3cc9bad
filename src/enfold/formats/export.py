"""A graph as the records of a file: entities by the name shown, then relations between them.

What a fold made one is written as one: folded spellings as aliases, an observation that two
spellings share once, relations between the canonical names, none of a thing with itself. What a
source said beside is a union, in which the first value of a key stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from enfold.intake import RELATION_TAG, statement
from enfold.model import Entity, EntityRecord, RelationRecord
from enfold.ports import Progress, Tx

PAGE: Final = 500

Written = EntityRecord | RelationRecord


def records(tx: Tx, *, progress: Progress | None = None) -> Iterator[Written]:
    """Every live entity by id with its observations, then every relation by its subject's id, each
    in the order in which it came into the graph.

    An observation belongs to the entity that its memory mentions first. A memory that mentions
    nothing, and a fact whose object is a literal, have no place in these formats: the first is
    left out, the second is in the text of its memory.
    """
    total = tx.entities.count_live() * 2
    done = 0
    for write in (_entities, _relations):
        for page in _pages(tx):
            yield from write(tx, page)
            done += len(page)
            if progress is not None:
                progress("export", done, total)


def _pages(tx: Tx) -> Iterator[list[Entity]]:
    after = 0
    while page := tx.entities.live(after=after, limit=PAGE):
        yield page
        after = page[-1].id


def _entities(tx: Tx, page: Sequence[Entity]) -> Iterator[EntityRecord]:
    ids = [entity.id for entity in page]
    aliases = tx.entities.aliases(ids)
    beside = tx.entities.attributes_of(ids)
    said: dict[int, dict[str, None]] = {}
    for entity_id, memory in tx.edges.owned(ids):
        if memory.source_tag != RELATION_TAG:
            said.setdefault(entity_id, {})[memory.content] = None
    for entity in page:
        yield EntityRecord(
            line=0,
            name=entity.name,
            type=entity.type,
            observations=tuple(said.get(entity.id, ())),
            aliases=aliases.get(entity.id, ()),
            foreign_id=entity.foreign_id,
            attributes=_union(beside.get(entity.id, ())),
        )


def _union(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The attributes of what is written as one: the first value of a key stands."""
    union: dict[str, Any] = {}
    for part in parts:
        union = part | union
    return union


def _relations(tx: Tx, page: Sequence[Entity]) -> Iterator[RelationRecord]:
    names = {entity.id: entity.name for entity in page}
    stated = list(tx.edges.stated(list(names)))
    targets = {fact.object_id for fact, *_ in stated if fact.object_id is not None}
    names |= tx.entities.shown_names(sorted(targets - names.keys()))
    written: dict[tuple[int, str, int, str | None], RelationRecord] = {}
    for fact, memory, subject, target, beside in sorted(
        stated, key=lambda said: (said[0].subject_id, said[0].id)
    ):
        if fact.object_id is None:
            continue
        own = None
        if memory.source_tag == RELATION_TAG:
            plain = statement(subject or "", fact.predicate, target or "")
            own = None if memory.content == plain else memory.content
        once = (fact.subject_id, fact.predicate, fact.object_id, own)
        if first := written.get(once):
            written[once] = replace(first, attributes=_union([first.attributes, beside]))
            continue
        written[once] = RelationRecord(
            line=0,
            subject=names[fact.subject_id],
            predicate=fact.predicate,
            object=names[fact.object_id],
            confidence=fact.confidence,
            text=own,
            attributes=beside,
        )
    yield from written.values()
