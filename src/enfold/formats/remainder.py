"""What the fields of a foreign format can't say of a record, as JSON beside them.

A writer fills the fields that the other tool reads, looks what reading those alone would give, and
puts the difference in one more field. Reading takes the fields, then the difference: every record
comes back as it was, whatever the format holds, and a row that has no difference carries none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from enfold.formats.values import DEPTH
from enfold.model import EntityRecord, IdentityRecord, RelationRecord

FIELD: Final = "enfold_more"
"""The name of the column or property that holds the difference."""

JOINT: Final = "\n"
"""What stands between several observations in a field that holds one text."""

UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
"""What no store holds: NUL, half a surrogate pair."""

_TEXT, _MAYBE, _TEXTS, _SHARE = "a text", "a text or null", "a list of texts", "from 0 to 1"

_ENTITY: Final = {"name": _TEXT, "type": _MAYBE, "aliases": _TEXTS, "foreign_id": _MAYBE}
_RELATION: Final = {
    "subject": _TEXT,
    "predicate": _TEXT,
    "object": _TEXT,
    "confidence": _SHARE,
    "text": _MAYBE,
    "subject_id": _MAYBE,
    "object_id": _MAYBE,
}
_IDENTITY: Final = {
    "left": _TEXT,
    "right": _TEXT,
    "left_id": _MAYBE,
    "right_id": _MAYBE,
    "why": _MAYBE,
}

Said = TypeVar("Said", EntityRecord, RelationRecord, IdentityRecord)


def storable(text: str) -> str:
    """The text with U+FFFD for what no store holds."""
    return text if text.isascii() and "\0" not in text else UNSTORABLE.sub("\ufffd", text)


def remainder(record: Said, plain: Said, laid: Sequence[str] = ()) -> str:
    """What must be said besides, so that ``plain`` becomes ``record``; "" where they agree.

    Args:
        plain: what reading the other fields alone gives.
        laid: the record's observations in the order in which the fields hold them, some joined by
            ``JOINT``; so they are told by their lengths and not written twice.
    """
    more: dict[str, Any] = {}
    for name in _fields(record):
        value = getattr(record, name)
        if value != getattr(plain, name):
            more[name] = list(value) if isinstance(value, tuple) else value
    if isinstance(record, EntityRecord):
        more |= _observations(record.observations, plain.observations, laid)
    if not isinstance(record, IdentityRecord):
        more |= _attributes(record.attributes, plain.attributes)
    return json.dumps(more, separators=(",", ":")) if more else ""


def _fields(record: EntityRecord | RelationRecord | IdentityRecord) -> dict[str, str]:
    if isinstance(record, EntityRecord):
        return _ENTITY
    return _RELATION if isinstance(record, RelationRecord) else _IDENTITY


def _observations(said: Sequence[str], plain: Sequence[str], laid: Sequence[str]) -> dict[str, Any]:
    if said == plain:
        return {}
    if not laid or JOINT.join(laid) != JOINT.join(plain):
        return {"observations": list(said)}
    places: dict[str, list[int]] = {}
    for at, text in enumerate(laid):
        places.setdefault(text, []).append(at)
    order = [places[text].pop(0) for text in said]
    lengths = {"lengths": [len(text) for text in laid]}
    return lengths if order == sorted(order) else lengths | {"order": order}


def _attributes(said: dict[str, Any], plain: dict[str, Any]) -> dict[str, Any]:
    more: dict[str, Any] = {}
    if changed := {
        key: value
        for key, value in said.items()
        if key not in plain or not _same(value, plain[key])
    }:
        more["attributes"] = changed
    if without := sorted(plain.keys() - said.keys()):
        more["without"] = without
    return more


def _same(left: object, right: object) -> bool:
    """Equal, and written alike: 1, 1.0 and true are three values."""
    if type(left) is not type(right):
        return False
    if isinstance(left, (list, dict)):
        return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
    return left == right


def restored(plain: Said, text: str) -> Said:
    """The record that ``plain`` was made from.

    Raises:
        ValueError: the text is no remainder; its message says why, for a person.
    """
    more = _object(text)
    changed: dict[str, Any] = {}
    for name, kind in _fields(plain).items():
        if name in more:
            changed[name] = _checked(name, kind, more[name])
    if isinstance(plain, EntityRecord):
        changed["observations"] = tuple(_laid_out(plain.observations, more))
    if not isinstance(plain, IdentityRecord):
        changed["attributes"] = _merged(plain.attributes, more)
    return replace(plain, **changed)


def _object(text: str) -> dict[str, Any]:
    try:
        more = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"{FIELD} is not JSON") from None
    if not isinstance(more, dict):
        raise ValueError(f"{FIELD} is no JSON object")
    if too_deep(more):
        raise ValueError(f"{FIELD} is nested more than {DEPTH} deep")
    cleaned: dict[str, Any] = without_unstorable(more)
    return cleaned


def too_deep(value: object) -> bool:
    """Whether lists and objects are nested deeper than is taken."""
    level = [value]
    for _ in range(DEPTH):
        level = [part for outer in level for part in _parts(outer)]
        if not level:
            return False
    return any(isinstance(part, (list, dict)) for part in level)


def _parts(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def without_unstorable(value: Any) -> Any:
    """JSON with U+FFFD for what no store holds, in its keys too."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [without_unstorable(part) for part in value]
    if isinstance(value, dict):
        return {storable(key): without_unstorable(part) for key, part in value.items()}
    return value


def _checked(name: str, kind: str, value: Any) -> Any:
    if kind == _TEXTS and isinstance(value, list) and all(isinstance(v, str) for v in value):
        return tuple(value)
    if kind == _SHARE and isinstance(value, (int, float)) and 0 <= value <= 1:
        return float(value)
    blank = kind == _TEXT and isinstance(value, str) and not value.strip()
    if kind in (_TEXT, _MAYBE) and isinstance(value, str) and not blank:
        return value
    if kind == _MAYBE and (value is None or value == ""):
        return value
    raise ValueError(f"{name!r} in {FIELD} is not {kind}")


def _laid_out(plain: Sequence[str], more: dict[str, Any]) -> Sequence[str]:
    if "observations" in more:
        said: tuple[str, ...] = _checked("observations", _TEXTS, more["observations"])
        return said
    if "lengths" not in more:
        return plain
    laid = list(_cut(JOINT.join(plain), more["lengths"]))
    order = more.get("order", list(range(len(laid))))
    if not isinstance(order, list) or set(map(repr, order)) != set(map(repr, range(len(laid)))):
        raise ValueError(f"'order' in {FIELD} does not fit the observations")
    return [laid[at] for at in order]


def _cut(text: str, lengths: object) -> Iterator[str]:
    fitting = isinstance(lengths, list) and all(type(n) is int and n >= 0 for n in lengths)
    if not fitting or not isinstance(lengths, list):
        raise ValueError(f"'lengths' in {FIELD} is no list of numbers")
    if not lengths or sum(lengths) + len(JOINT) * (len(lengths) - 1) != len(text):
        raise ValueError(f"'lengths' in {FIELD} do not fit the text")
    at = 0
    for length in lengths:
        yield text[at : at + length]
        at += length + len(JOINT)


def _merged(plain: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    changed, without = more.get("attributes", {}), more.get("without", [])
    if not isinstance(changed, dict) or not isinstance(without, list):
        raise ValueError(f"the attributes in {FIELD} are no JSON object")
    kept = {key: value for key, value in plain.items() if key not in without}
    return kept | changed
