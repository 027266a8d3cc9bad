"""What a format can't say of a record, said beside it.

What is about to be written is read, and what of the record does not come back is written as JSON
next to it. So nothing is lost, and nothing is said twice that need not be.
"""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any, Final, TypeVar

from enfold.model import EntityRecord, IdentityRecord, RelationRecord

_R = TypeVar("_R", EntityRecord, RelationRecord, IdentityRecord)


def is_share(number: object) -> bool:
    """Whether it is a number from 0 to 1, as a confidence is."""
    return isinstance(number, (int, float)) and not isinstance(number, bool) and 0 <= number <= 1


def difference(want: _R, got: _R) -> dict[str, Any]:
    """What must be said of ``got`` for it to be ``want``, lines aside; as JSON."""
    said: dict[str, Any] = {}
    for one in fields(want):
        wanted, had = getattr(want, one.name), getattr(got, one.name)
        if one.name in ("line", "attributes") or (wanted == had and type(wanted) is type(had)):
            continue
        said[one.name] = wanted
    wants, has = _attributes(want), _attributes(got)
    missing = {
        key: value for key, value in wants.items() if key not in has or not _same(value, has[key])
    }
    surplus = [key for key in has if key not in wants]
    return said | ({"set": missing} if missing else {}) | ({"drop": surplus} if surplus else {})


def _attributes(record: EntityRecord | RelationRecord | IdentityRecord) -> dict[str, Any]:
    return {} if isinstance(record, IdentityRecord) else record.attributes


def _same(left: Any, right: Any) -> bool:
    """Equal, and of the same types: 1, 1.0 and True are three."""
    return bool(left == right) and json.dumps(left) == json.dumps(right)


def patched(record: _R, said: dict[str, Any]) -> _R:
    """The record with what is said beside.

    Raises:
        TypeError, ValueError: it is not of the form that is written.
    """
    changes = {key: value for key, value in said.items() if key not in ("set", "drop")}
    for key in ("observations", "aliases"):
        if key in changes:
            changes[key] = tuple(changes[key])
    if not isinstance(record, IdentityRecord):
        dropped = said.get("drop", [])
        kept = {key: value for key, value in record.attributes.items() if key not in dropped}
        changes["attributes"] = kept | said.get("set", {})
    made: _R = replace(record, **changes)
    check(made)
    return made


_TEXTS: Final = frozenset({"name", "subject", "predicate", "object", "left", "right"})
_MAYBE: Final = frozenset(
    {"type", "foreign_id", "text", "subject_id", "object_id", "left_id", "right_id", "why"}
)


def check(record: EntityRecord | RelationRecord | IdentityRecord) -> None:
    """Raises TypeError where a field of the record is of another type than it should be."""
    for one in fields(record):
        value = getattr(record, one.name)
        if one.name in ("observations", "aliases"):
            right = all(isinstance(part, str) for part in value)
        elif one.name in _TEXTS:
            right = isinstance(value, str)
        elif one.name in _MAYBE:
            right = value is None or isinstance(value, str)
        elif one.name == "confidence":
            right = is_share(value)
        elif one.name == "same":
            right = isinstance(value, bool)
        else:
            right = True
        if not right:
            raise TypeError(one.name)


def all_patched(records: list[RelationRecord], said: list[dict[str, Any]]) -> list[RelationRecord]:
    """The records with what is said beside each; where more are said than there are, the others
    are told from the first."""
    return [
        patched(records[at] if at < len(records) else records[0], one)
        for at, one in enumerate(said)
    ]
