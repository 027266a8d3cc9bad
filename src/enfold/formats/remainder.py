"""What the fields of a format can't say of a record, said beside them as JSON.

A writer fills the fields that other tools read, looks what reading those alone would give, and puts
the difference beside. Reading takes the fields, then the difference: every record comes back as it
was, whatever the format holds, nothing is said twice, and where there is no difference nothing
stands beside.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from enfold.formats.values import DEPTH, is_share, loaded
from enfold.model import EntityRecord, IdentityRecord, Note, RelationRecord

FIELD: Final = "enfold_more"
"""The column or property that holds the difference, where a format has such."""

JOINT: Final = "\n"
"""What stands between several observations in a field that holds one text."""

WRAPPED: Final = 3
"""Levels that stand around the value of an attribute."""

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
_OBSERVATIONS: Final = frozenset({"observations", "lengths", "order"})
_ATTRIBUTES: Final = frozenset({"attributes", "without"})

Said = TypeVar("Said", EntityRecord, RelationRecord, IdentityRecord)


# ---- writing ----


def remainder(record: Said, plain: Said, laid: Sequence[str] = ()) -> str:
    """``difference`` as JSON; "" where there is none."""
    more = difference(record, plain, laid)
    return json.dumps(more, separators=(",", ":")) if more else ""


def difference(record: Said, plain: Said, laid: Sequence[str] = ()) -> dict[str, Any]:
    """What must be said besides, so that ``plain`` becomes ``record``, lines aside.

    Args:
        plain: what reading the fields alone gives.
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
    return more


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
    if type(left) is not type(right) or left != right:
        return False
    return isinstance(left, str) or json.dumps(left) == json.dumps(right)


# ---- reading ----


def restored(plain: Said, text: str) -> Said:
    """The record that ``plain`` was made from, by what stands beside it.

    Raises:
        ValueError: the text is of no form that is written; its message says why, behind the name
            of the field.
    """
    return mended(plain, loaded(text, DEPTH + WRAPPED))


def whole(source: str, plain: Said, more: object, fields: str) -> Iterator[Said | Note]:
    """A record by its fields and by what stands beside them in ``FIELD``; by its fields alone,
    with a note, where that is of no form that is written.

    Args:
        fields: what the fields are called.
    """
    record = plain
    if isinstance(more, str):
        try:
            record = restored(plain, more)
        except ValueError as error:
            why = f"{FIELD} {error}; the other {fields} are taken."
            yield Note(source, plain.line, why, more)
    yield record


def mended(plain: Said, more: object) -> Said:
    """The record by a ``difference``. Raises as ``restored``."""
    if not isinstance(more, dict):
        raise ValueError("is no JSON object")
    kinds = _fields(plain)
    if strange := sorted(more.keys() - kinds.keys() - _besides(plain)):
        raise ValueError(f"says {strange[0]!r}, which is nothing of such a record")
    changed = {
        name: _checked(name, kind, more[name]) for name, kind in kinds.items() if name in more
    }
    if isinstance(plain, EntityRecord):
        changed["observations"] = tuple(_laid_out(plain.observations, more))
    if not isinstance(plain, IdentityRecord):
        changed["attributes"] = _merged(plain.attributes, more)
    return replace(plain, **changed)


def _besides(record: EntityRecord | RelationRecord | IdentityRecord) -> frozenset[str]:
    if isinstance(record, EntityRecord):
        return _ATTRIBUTES | _OBSERVATIONS
    return _ATTRIBUTES if isinstance(record, RelationRecord) else frozenset()


def all_mended(plain: Sequence[Said], more: object) -> list[Said]:
    """Records by a list of differences; where more are said than there are records, the others are
    told from the first. Raises as ``restored``."""
    if not isinstance(more, list):
        raise ValueError("is no JSON list")
    return [mended(plain[at] if at < len(plain) else plain[0], one) for at, one in enumerate(more)]


def checked(record: Said) -> Said:
    """The record, made of what was read. Raises as ``restored`` where a field is of another type
    than it should be."""
    for name, kind in _fields(record).items():
        _checked(name, kind, getattr(record, name))
    if not isinstance(getattr(record, "same", True), bool):
        raise ValueError("gives 'same' as something that is not true or false")
    return record


def _checked(name: str, kind: str, value: Any) -> Any:
    if kind == _TEXTS and _are_texts(value):
        return tuple(value)
    if kind == _SHARE and is_share(value):
        return float(value)
    if kind in (_TEXT, _MAYBE) and isinstance(value, str):
        return value
    if kind == _MAYBE and value is None:
        return None
    raise ValueError(f"gives {name!r} as something that is not {kind}")


def _are_texts(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value)


def _laid_out(plain: Sequence[str], more: dict[str, Any]) -> Sequence[str]:
    if "observations" in more:
        said: tuple[str, ...] = _checked("observations", _TEXTS, more["observations"])
        return said
    if "lengths" not in more:
        return plain
    laid = list(_cut(JOINT.join(plain), more["lengths"]))
    order = more.get("order", list(range(len(laid))))
    if not isinstance(order, list) or set(map(repr, order)) != set(map(repr, range(len(laid)))):
        raise ValueError("gives an 'order' that does not fit the observations")
    return [laid[at] for at in order]


def _cut(text: str, lengths: object) -> Iterator[str]:
    fitting = isinstance(lengths, list) and all(type(n) is int and n >= 0 for n in lengths)
    if not fitting or not isinstance(lengths, list):
        raise ValueError("gives 'lengths' that are no list of numbers")
    if not lengths or sum(lengths) + len(JOINT) * (len(lengths) - 1) != len(text):
        raise ValueError("gives 'lengths' that do not fit the text")
    at = 0
    for length in lengths:
        yield text[at : at + length]
        at += length + len(JOINT)


def _merged(plain: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    changed, without = more.get("attributes", {}), more.get("without", [])
    if not isinstance(changed, dict) or not isinstance(without, list):
        raise ValueError("gives attributes that are no JSON object")
    kept = {key: value for key, value in plain.items() if key not in without}
    return kept | changed
