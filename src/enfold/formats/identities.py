"""enfold's own table of identities, beside the tables of a format that has no place for them.

A row says of two names, each with its id where it has one, whether they are one, and why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from enfold.formats.remainder import FIELD, remainder, whole
from enfold.formats.storable import storable
from enfold.formats.values import as_text, named
from enfold.model import IdentityRecord, Record, SetAside

COLUMNS: Final = ("left", "right", "same", "left_id", "right_id", "why", FIELD)

_TEXTS: Final = ("left", "right", "left_id", "right_id", "why")
_TRUTH: Final = {"true": True, "false": False}


def identity(source: str, line: int, cells: Mapping[str, Any]) -> Iterator[Record]:
    """The record of a row, whose empty cells are not in it; ``same`` may be a text."""
    left, right = (named(cells.get(column)) for column in ("left", "right"))
    same = _TRUTH.get(str(cells.get("same")).casefold())
    if not left or not right or same is None:
        why = "It does not say of two names whether they are one."
        yield SetAside(source, line, why, as_text(cells))
        return
    ids = (cells.get(column) for column in ("left_id", "right_id", "why"))
    plain = IdentityRecord(
        line, left, right, same, *(None if said is None else as_text(said) for said in ids)
    )
    yield from whole(source, plain, cells.get(FIELD), "columns")


def cells_of(record: IdentityRecord) -> dict[str, Any]:
    """A record as a row: the columns that say something. An empty text is no cell in CSV."""
    cells: dict[str, Any] = {"same": record.same}
    for column in _TEXTS:
        if value := getattr(record, column):
            cells[column] = storable(value)
    (plain,) = identity("", record.line, cells)
    assert isinstance(plain, IdentityRecord)
    if more := remainder(record, plain):
        cells[FIELD] = more
    return cells
