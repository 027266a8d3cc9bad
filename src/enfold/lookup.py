"""The one door from a name to an entity, and the only place that makes one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from enfold.errors import Conflict, Invalid, NotFound
from enfold.model import UNKNOWN, Ambiguous, Context, Entity, Found, Unknown, Verdict
from enfold.names import Name
from enfold.ports import NewRow, Tx
from enfold.rules import rule_on

Nearest = Callable[[Tx, Name], list[Entity]]
"""Finds the entities whose spellings are closest to a name that is not known."""

_ID: Final = re.compile(r"(?:id:)?\s*(\d{1,18})", re.IGNORECASE)


_LONG: Final = 10**40  # Python refuses to write a number of more than some thousand digits


def find(tx: Tx, asked: Name, *, nearest: Nearest | None = None) -> Found | Ambiguous | Unknown:
    """Where a name leads: by its identity first, then to what the rules would fold it into.

    That leads somewhere only if it leads to one entity. Names too short to be told apart by letters
    go by identity alone.
    """
    rows = tx.entities.by_key(asked.key)
    if not rows and asked.letters and not asked.short:
        context = tx.context() or Context()
        rows = [
            row for row in tx.entities.by_merge_key(asked.merge_key) if _one(asked, row, context)
        ]
    roots = {row.canonical_id for row in rows}
    if not roots:
        return Unknown(asked.spelling, tuple(nearest(tx, asked)) if nearest else ())
    entities = tx.entities.many(sorted(roots))
    if len(roots) > 1:
        return Ambiguous(asked.spelling, tuple(entities[root] for root in sorted(roots)))
    matched = _closest(rows, asked.spelling)
    entity = entities[matched.canonical_id]
    return _found(entity, asked.spelling, matched)


def named(asked: object, type: str | None = None) -> Name:
    """The name that is asked for.

    Raises:
        Invalid: ``blank_name``: it is no text, or nothing of it is seen; ``name_too_long``.
    """
    if not isinstance(asked, str):
        raise Invalid("blank_name", f"{asked!r:.60} is no name; give a text.")
    return Name.of(asked, type)


def seek(
    tx: Tx, asked: str | int, *, nearest: Nearest | None = None
) -> Found | Ambiguous | Unknown:
    """Where a name leads; else, of an id as a number or as ``id:12``, where that row leads."""
    if not isinstance(asked, str):
        return find_row(tx, asked)
    result = find(tx, Name.of(asked), nearest=nearest)
    said = asked.strip()
    if isinstance(result, Unknown) and _is_marked(said) and (match := _ID.fullmatch(said)):
        row = find_row(tx, int(match[1]))
        return replace(row, asked=result.asked) if isinstance(row, Found) else result
    return result


def _is_marked(said: str) -> bool:
    return said.casefold().startswith("id:")


def find_row(tx: Tx, entity_id: int) -> Found | Unknown:
    """Where a row leads, by its id.

    Raises:
        Invalid: ``blank_name``: what is asked for is neither a text nor a number.
    """
    if isinstance(entity_id, bool) or not isinstance(entity_id, int):
        said = f"{entity_id!r:.60} is neither a name nor an id; give a text or a whole number."
        raise Invalid("blank_name", said)
    asked = str(entity_id) if abs(entity_id) < _LONG else "a number of very many digits"
    row = tx.entities.get(entity_id) if 0 < entity_id < 2**63 else None
    if row is None:
        return Unknown(asked)
    entity = row if row.live else tx.entities.many([row.canonical_id])[row.canonical_id]
    return _found(entity, asked, row)


def _found(entity: Entity, asked: str, row: Entity) -> Found:
    return Found(entity, asked, row.spelling, row.spelling != entity.name, row.id)


def _one(asked: Name, row: Entity, context: Context) -> bool:
    return rule_on(asked, Name(row.spelling, row.type), context).verdict is Verdict.FOLD


def _closest(rows: Iterable[Entity], spelling: str) -> Entity:
    """The row spelled as asked, else the entity's own, else the first."""
    return min(rows, key=lambda row: (row.spelling != spelling, not row.live, row.sense, row.id))


def follow(
    tx: Tx, asked: str | int, *, type: str | None = None, nearest: Nearest | None = None
) -> Found:
    """Where a name leads; else, of an id as a number or as ``id:12``, where that row leads.

    Args:
        type: of several entities of the name, the one of this type is meant.

    Raises:
        NotFound: ``unknown``, with the nearest spellings.
        Conflict: ``ambiguous``, with the entities it fits.
        Invalid: ``blank_name``, ``name_too_long``.
    """
    if not isinstance(asked, str):
        return _by_id(tx, asked)
    result = find(tx, Name.of(asked), nearest=nearest)
    if isinstance(result, Ambiguous) and type is not None:
        typed = [entity for entity in result.candidates if entity.type == type]
        if len(typed) == 1:
            return _found(typed[0], asked, typed[0])
    if isinstance(result, Found):
        return result
    if isinstance(result, Ambiguous):
        raise _ambiguous(asked, result.candidates)
    match = _ID.fullmatch(asked.strip())
    if match and (_is_marked(asked.strip()) or _exists(tx, match.group(1))):
        return _by_id(tx, int(match.group(1)), asked)
    raise _unknown(result)


def _exists(tx: Tx, digits: str) -> bool:
    """Whether digits that are no name are an id: else it is the name that is not known."""
    return tx.entities.get(int(digits)) is not None


def _by_id(tx: Tx, entity_id: int, asked: str | None = None) -> Found:
    found = find_row(tx, entity_id)
    if isinstance(found, Unknown):
        said = asked or found.asked
        raise NotFound("unknown", f"There is no entity {found.asked}.", asked=said, nearest=[])
    return replace(found, asked=asked or found.asked)


def _ambiguous(asked: str, candidates: tuple[Entity, ...]) -> Conflict:
    fits = "; ".join(f"id:{e.id} “{e.name}”{f' ({e.type})' if e.type else ''}" for e in candidates)
    return Conflict(
        "ambiguous",
        f"“{asked}” fits several entities: {fits}. Give the id of the one you mean.",
        asked=asked,
        candidates=[{"id": e.id, "name": e.name, "type": e.type} for e in candidates],
    )


def _unknown(result: Unknown) -> NotFound:
    spellings = ", ".join(f"“{e.spelling}”" for e in result.nearest)
    near = f" Nearest: {spellings}." if spellings else ""
    return NotFound(
        "unknown",
        f"No entity is known as “{result.asked}”. {UNKNOWN}{near}",
        asked=result.asked,
        nearest=[{"id": e.id, "name": e.name, "spelling": e.spelling} for e in result.nearest],
    )


def mint(
    tx: Tx,
    name: Name,
    *,
    type: str | None = None,
    homonym: bool = False,
    source_tag: str | None = None,
    foreign_id: str | None = None,
    attributes: Mapping[str, object] | None = None,
) -> tuple[Entity, bool]:
    """The row of a name, made if there is none, and whether it was made.

    Two writers of one name get one row: the database decides who made it. Among rows of one key in
    one cluster it is the one of the lowest sense.

    Args:
        homonym: the name is known to be another thing of the same name; make a row all the same.

    Raises:
        Conflict: ``ambiguous``: several entities have the name, and no row is made.
    """
    rows = tx.entities.by_key(name.key)
    if rows and not homonym:
        return _only(tx, name, rows), False
    made = tx.entities.add(
        name,
        type=name.type if type is None else type,
        sense=max((row.sense for row in rows), default=-1) + 1,
        source_tag=source_tag,
        foreign_id=foreign_id,
        attributes=attributes,
    )
    if made is None:  # another writer was faster
        return _only(tx, name, tx.entities.by_key(name.key)), False
    return tx.entities.many([made])[made], True


def mint_many(tx: Tx, rows: Sequence[NewRow]) -> list[int]:
    """Make the rows of many names, in their order; the ids.

    ``mint`` looks a name up before it makes a row, and leads to what is there or says that it is
    ambiguous. Here the caller has done so: no such sense of these keys was there when it looked, in
    this write transaction, whose lock keeps it so. No sense of a key may be given twice.
    """
    ids = []
    for made in tx.entities.add_many(rows):
        assert made is not None
        ids.append(made)
    return ids


def _only(tx: Tx, name: Name, rows: list[Entity]) -> Entity:
    roots = sorted({row.canonical_id for row in rows})
    if len(roots) > 1:
        entities = tx.entities.many(roots)
        raise _ambiguous(name.spelling, tuple(entities[root] for root in roots))
    return rows[0]
