"""What no store holds: NUL, and half a surrogate pair. It is U+FFFD from here on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import Any, Final

from enfold.model import EntityRecord, IdentityRecord, Note, Record, RelationRecord, SetAside

UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")

CHANGED: Final = "Characters that no text can hold (NUL, half a surrogate pair) are now U+FFFD."
"""What is noted of a piece that held some."""


def is_storable(value: Any) -> bool:
    """Whether a text, or every text in a JSON value, its keys too, can be stored."""
    if isinstance(value, str):
        return (value.isascii() and "\0" not in value) or not UNSTORABLE.search(value)
    if isinstance(value, dict):
        return all(map(is_storable, value)) and all(map(is_storable, value.values()))
    return not isinstance(value, (list, tuple)) or all(map(is_storable, value))


def storable(text: str) -> str:
    """The text as it can be stored."""
    return text if text.isascii() and "\0" not in text else UNSTORABLE.sub("\ufffd", text)


def cleaned(value: Any) -> Any:
    """A JSON value as it can be stored, its keys too."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, (list, tuple)):
        return type(value)(cleaned(part) for part in value)
    if isinstance(value, dict):
        return {storable(key): cleaned(part) for key, part in value.items()}
    return value


def only_storable(source: str, records: Iterable[Record]) -> Iterator[Record]:
    """The records as they can be stored, each that is changed with a note."""
    for record in records:
        if isinstance(record, SetAside) or _is_storable(record):
            yield record
        else:
            changed = {one.name: cleaned(getattr(record, one.name)) for one in fields(record)}
            made = replace(record, **changed)
            yield Note(source, record.line, CHANGED, _named(made))
            yield made


def _is_storable(record: EntityRecord | RelationRecord | IdentityRecord) -> bool:
    return all(is_storable(getattr(record, name)) for name in record.__dataclass_fields__)


def _named(record: EntityRecord | RelationRecord | IdentityRecord) -> str:
    if isinstance(record, EntityRecord):
        return record.name
    if isinstance(record, RelationRecord):
        return f"{record.subject} {record.predicate} {record.object}"
    return f"{record.left}, {record.right}"
