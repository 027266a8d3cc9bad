"""Entity records: rows, what is said of them, and their observations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from enfold.intake import aliases
from enfold.intake.later import Later
from enfold.intake.rows import one, rows_of
from enfold.intake.run import BATCH, TAG, Run, as_json, as_text, at, caller, type_of
from enfold.model import EntityRecord, Note, Record, SetAside
from enfold.names import Name
from enfold.ports import NewMemory, NewRow, Row

_Taken = tuple[EntityRecord, Name, Row]


def take(run: Run, records: Iterable[Record], later: Later) -> None:
    """Take the entities; what needs all of them waits."""
    batch: list[tuple[EntityRecord, Name]] = []
    size = 0
    for record in records:
        run.counts.records += 1
        if isinstance(record, Note):
            run.notes.add(record)
        elif isinstance(record, SetAside):
            run.aside.add(record)
        elif not isinstance(record, EntityRecord):
            later.add(record)
        elif name := run.named(record, record.name):
            plain, waiting = aliases.split(record)
            batch.append((plain, name))
            size += 1 + len(record.observations)
            if waiting is not None:
                later.add(waiting)
        if size >= BATCH:
            _take(run, batch)
            batch, size = [], 0
            run.tell("entities", run.counts.records)
    _take(run, batch)
    run.tell("entities", run.counts.records)


def _take(run: Run, batch: Sequence[tuple[EntityRecord, Name]]) -> None:
    if not batch:
        return
    rows = rows_of(run, [(record.line, _new(record, name)) for record, name in batch])
    taken = []
    for record, name in batch:
        if row := one(rows[name.key], record.foreign_id):
            run.met(row)
            taken.append((record, name, row))
        else:
            why = f"{name.spelling!r} is the name of several entities here; give the id of one."
            run.set_aside(record.line, why, as_text(record))
    _describe(run, taken)
    _observe(run, taken)


def _new(record: EntityRecord, name: Name) -> NewRow:
    return NewRow(
        name,
        type=type_of(record.type),
        source_tag=TAG,
        foreign_id=record.foreign_id or None,
        attributes=record.attributes or None,
    )


# ---- what is said of them ----


def _describe(run: Run, taken: Sequence[_Taken]) -> None:
    """Types, ids and attributes of names that were known: the first value stands."""
    _shared_ids(run, taken)
    types: dict[int, str | None] = {row.id: row.type for _, _, row in taken}
    ids: dict[int, str | None] = {row.id: row.foreign_id for _, _, row in taken}
    has = run.tx.entities.attributes_many([r.id for e, _, r in taken if e.attributes])
    changed: dict[int, dict[str, Any]] = {}
    for record, name, row in taken:
        _retype(run, record, name, row, types)
        _reidentify(run, record, name, row, ids)
        if record.attributes:
            known = changed.get(row.id, has.get(row.id, {}))
            run.differing(record.line, name.spelling, record.attributes, known)
            if record.attributes.keys() - known.keys():
                changed[row.id] = record.attributes | known
    for row_id, attributes in changed.items():
        run.tx.entities.set_attributes(row_id, attributes)


def _retype(
    run: Run, record: EntityRecord, name: Name, row: Row, types: dict[int, str | None]
) -> None:
    said, known = type_of(record.type), types[row.id]
    if said is None or row.alias_only:
        return
    if known is None:
        types[row.id] = said
        run.tx.entities.set_type(row.id, said)
        run.tx.entities.forget_examined([row.id])
    elif known.casefold() != said.casefold():
        why = f"{name.spelling!r} has the type {known!r}, which is kept; here it is {said!r}."
        run.note(record.line, why, as_json({"type": said}))


def _reidentify(
    run: Run, record: EntityRecord, name: Name, row: Row, ids: dict[int, str | None]
) -> None:
    said, known = record.foreign_id, ids[row.id]
    if said is None or said == known:
        return
    if known is None:
        ids[row.id] = said
        run.tx.entities.set_foreign_id(row.id, said)
    else:
        run.other_ids[said] = row
        why = (
            f"{name.spelling!r} has the id {known!r}, which is kept; here it is {said!r}, "
            "which relations of this import may use too. If they are two things, import with "
            "--trust-ids."
        )
        run.note(record.line, why, as_json({"id": said}))


def _shared_ids(run: Run, taken: Sequence[_Taken]) -> None:
    """An id that two names share is no reason to fold them, and worth saying."""
    said = {record.foreign_id for record, _, _ in taken if record.foreign_id is not None}
    owners = run.tx.entities.rows_by_foreign_id(sorted(said))
    for record, name, row in taken:
        for owner in owners.get(record.foreign_id or "", ()):
            if owner.canonical_id != row.canonical_id:
                why = (
                    f"{name.spelling!r} has the id {record.foreign_id!r}, which is also that "
                    f"of {owner.spelling!r}; they stay two."
                )
                run.note(record.line, why, as_json({"id": record.foreign_id}))
                break


# ---- observations ----


def _observe(run: Run, taken: Sequence[_Taken]) -> None:
    said: dict[str, tuple[str, Name, Row]] = {}
    for record, name, row in taken:
        for text in record.observations:
            said.setdefault(caller("obs", at(name, row), text), (text, name, row))
    for callers in _batches(list(said)):
        known = run.tx.memories.known_callers(callers)
        new = [(by, *said[by]) for by in callers if by not in known]
        ids = run.tx.memories.add_many(
            [NewMemory(text, run.source, TAG, by) for by, text, _, _ in new]
        )
        run.came_in([text for _, text, _, _ in new])
        run.counts.mentions += run.tx.edges.add_mentions(
            [(i, row.id, name.spelling) for i, (_, _, name, row) in zip(ids, new, strict=True)]
        )


def _batches(callers: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(callers), BATCH):
        yield callers[start : start + BATCH]
