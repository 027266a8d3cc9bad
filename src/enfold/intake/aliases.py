"""Aliases that a source gives: rows that lead to their entities, with ids of their own where the
source has some."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from enfold import folds, lookup
from enfold.intake.later import Later
from enfold.intake.rows import Same, one
from enfold.intake.run import BATCH, TAG, Run, as_json
from enfold.model import DecidedBy, EntityRecord, Proposal, Verdict
from enfold.names import Name
from enfold.ports import NewRow, Row

ALIAS_IDS: Final = "enfold_alias_ids"
"""The attribute under which an export keeps the ids of what was folded: {alias: [id, ...]}."""


@dataclass(frozen=True, slots=True)
class _Alias:
    """An alias, the record that gives it, its entity's name, and the id it has of its own."""

    record: EntityRecord
    name: Name
    alias: Name
    said: str | None


def split(record: EntityRecord) -> tuple[EntityRecord, EntityRecord | None]:
    """(the record without what waits for all entities, the record of what waits, if any does)"""
    ids = _ids(record.attributes.get(ALIAS_IDS))
    if ids is None:
        return record, replace(record, attributes={}) if record.aliases else None
    beside = {key: value for key, value in record.attributes.items() if key != ALIAS_IDS}
    return replace(record, attributes=beside), replace(record, attributes={ALIAS_IDS: ids})


def _ids(written: Any) -> dict[str, list[str]] | None:
    """What an export wrote; None for anything else, which is an attribute like any other."""
    if not isinstance(written, dict) or not written:
        return None
    for ids in written.values():
        if not isinstance(ids, list) or not all(isinstance(one_id, str) for one_id in ids):
            return None
    return written


def take(run: Run, later: Later) -> None:
    """Let every alias that nothing else is called lead to its entity."""
    waiting: list[_Alias] = []
    for record in later.of(EntityRecord):
        waiting += _given(run, record)
        if len(waiting) >= BATCH:
            _call(run, waiting)
            waiting = []
    _call(run, waiting)


def _given(run: Run, record: EntityRecord) -> Iterator[_Alias]:
    ids: dict[str, list[str]] = record.attributes.get(ALIAS_IDS, {})
    owner = Name.of(record.name)
    for spelling in dict.fromkeys((*record.aliases, *ids)):
        if alias := run.named(replace(record, aliases=(spelling,)), spelling):
            own: list[str | None] = [*ids.get(spelling, ())]
            for said in own or [None]:
                yield _Alias(record, owner, alias, said)


def _call(run: Run, asked: Sequence[_Alias]) -> None:
    keys = {name.key for one_alias in asked for name in (one_alias.name, one_alias.alias)}
    rows = {key: Same(same) for key, same in run.tx.entities.rows(sorted(keys)).items()}
    new: list[tuple[_Alias, NewRow, Row]] = []
    for one_alias in asked:
        owner = one(rows.get(one_alias.name.key, Same()), one_alias.record.foreign_id)
        if owner is None:
            continue  # set aside with its entity
        same = rows.setdefault(one_alias.alias.key, Same())
        row = _row(run, one_alias, owner, same)
        if row is not None:
            new.append((one_alias, row, owner))
            # Stands in for the row until it is made, so that the next alias sees it.
            at = row.name.spelling, row.name.key, row.sense
            same.add(Row(0, *at, owner.type, True, owner.canonical_id, row.foreign_id))
    _fold(run, new)


def _row(run: Run, asked: _Alias, owner: Row, same: Same) -> NewRow | None:
    """The row to make for an alias; None where it leads to its entity already, or can't."""
    own = [row for row in same.rows if row.canonical_id == owner.canonical_id]
    theirs = [row for row in same.rows if row.canonical_id != owner.canonical_id]
    if asked.said is None:
        if own:
            return None
        if theirs:
            _not_called(run, asked, _taken_by(theirs[0]))
            return None
    else:
        if exact := same.of(asked.said):
            if exact[0] in theirs:
                _not_called(run, asked, _taken_by(exact[0]))
            return None
        free = [row for row in own if row.foreign_id is None and row.id not in (0, owner.id)]
        if free:
            run.tx.entities.set_foreign_id(free[0].id, asked.said)
            return None
        if theirs and not run.trust_ids:
            _not_called(run, asked, f"{_taken_by(theirs[0])} --trust-ids takes it by its id.")
            return None
    return NewRow(
        asked.alias,
        type=owner.type,
        sense=same.next_sense,
        alias_only=asked.said is None,
        source_tag=TAG,
        foreign_id=asked.said,
    )


def _taken_by(row: Row) -> str:
    return f"it is a name of {row.spelling!r} here; the two are not folded."


def _fold(run: Run, new: Sequence[tuple[_Alias, NewRow, Row]]) -> None:
    ids = lookup.mint_many(run.tx, [row for _, row, _ in new])
    steps: dict[int, tuple[_Alias, Proposal]] = {}
    for row_id, (asked, _, owner) in zip(ids, new, strict=True):
        why = f"{run.source} gives “{asked.alias.spelling}” as an alias."
        proposal = Proposal(row_id, owner.id, Verdict.FOLD, folds.IMPORTED, 1.0, why)
        steps[row_id] = asked, proposal
    batch = folds.fold_batch(
        run.tx,
        [proposal for _, proposal in steps.values()],
        decided_by=DecidedBy.IMPORT,
        run_id=run.run_id,
    )
    run.counts.aliases += len(batch.folds)
    for refused in batch.refused:
        _not_called(run, steps[refused.proposal.left_id][0], refused.reason)
    # A decision outlived its row; no row comes back by asking again.
    run.tx.entities.delete([refused.proposal.left_id for refused in batch.refused])


def _not_called(run: Run, asked: _Alias, reason: str) -> None:
    why = f"The alias {asked.alias.spelling!r} of {asked.record.name!r} is not taken: {reason}"
    run.note(asked.record.line, why, as_json({"aliases": [asked.alias.spelling]}))
