"""The memory file of the MCP memory server, in the variants its forks write.

The reference writes one JSON object a line::

    {"type":"entity","name":"Alice","entityType":"person","observations":["Lives in Berlin"]}
    {"type":"relation","from":"Alice","to":"Acme","relationType":"works at"}

Forks leave ``type`` out, spell ``entity_type`` or ``source`` and ``target``, add keys of their own,
or write one document with the lists ``entities`` and ``relations``. All are read; written is the
reference's form. Keys it does not know (``aliases``, ``id``, ``fromId``, ``toId``, ``text``,
``confidence`` and whatever the source said beside) and records of the type ``identity`` are ignored
by the reference server and read back by enfold.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from enfold.errors import Invalid
from enfold.formats.source import UNDERSTOOD, Source
from enfold.formats.values import (
    Value,
    as_line,
    as_text,
    in_document,
    in_lines,
    is_share,
    storable_value,
    top,
)
from enfold.intake import RELATED
from enfold.model import (
    EntityRecord,
    IdentityRecord,
    Note,
    Record,
    RelationRecord,
    SetAside,
    Written,
)

if TYPE_CHECKING:
    from enfold.formats import Pieces

NAME: Final = "mcp"

ENTITY_KINDS: Final = frozenset({"entity", "node"})
RELATION_KINDS: Final = frozenset({"relation", "relationship", "edge"})
ENTITY_LISTS: Final = frozenset({"entities", "nodes"})
RELATION_LISTS: Final = frozenset({"relations", "relationships", "edges"})

NAMES: Final = ("name", "entityName", "entity_name", "canonical")
TYPES: Final = ("entityType", "entity_type")
OBSERVATIONS: Final = ("observations", "observation", "contents")
IDS: Final = ("id", "entity_id", "entityId", "foreign_id", "qid")
FROM: Final = ("from", "source", "from_entity", "fromEntity")
TO: Final = ("to", "target", "to_entity", "toEntity")
PREDICATES: Final = ("relationType", "relation_type", "relation", "predicate")
TEXTS: Final = ("text", "description")
CONTENTS: Final = ("content", "text", "observation", "value")
FROM_ID: Final = "fromId"
TO_ID: Final = "toId"

IDENTITY: Final = "identity"
BESIDE: Final = "enfold_beside"
"""Holds what a source said beside under a key that this format reads as something else."""

EMPTY: Final = '{"entities":[],"relations":[]}\n'
"""A graph without entities: a file of nothing could be anything."""

_LOOKED_AT: Final = 32_768


# ---- what a file is ----


def recognises(head: bytes, path: Path | None = None) -> bool:
    """Whether a JSON text is a memory file as far as its beginning shows."""
    return bool(shape(head.decode("utf-8", "surrogateescape")))


def shape(head: str) -> str:
    """How a JSON text is to be read: ``"lines"``, ``"document"``, or "" where it is no memory
    file as far as its beginning shows."""
    text = head.lstrip("\ufeff \t\r\n\0")
    if text.startswith("["):
        return "document" if _looks_right(text[1:]) else ""
    if set(top(text)) & (ENTITY_LISTS | RELATION_LISTS):
        return "document" if _one_document(text) else "lines"
    return "lines" if _looks_right(text) else ""


def _one_document(text: str) -> bool:
    """Several documents, one on each line, are read as lines: a broken one costs only itself."""
    first, _, rest = text.partition("\n")
    if not rest.strip():
        return True
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return True
    return False


def _looks_right(text: str) -> bool:
    """Whether one of the first objects has the fields of an entity or a relation."""
    starts = itertools.islice(re.finditer(r"\{", text[:_LOOKED_AT]), 500)
    firsts = (top(text[match.start() : match.start() + 4096]) for match in starts)
    lists = ENTITY_LISTS | RELATION_LISTS
    return any(not lists.isdisjoint(first) or _is_kind(first) for first in firsts)


def shape_below(head: str) -> str:
    """``"lines"`` where a text that begins otherwise holds a line that is a record."""
    lines = (line.lstrip() for line in head.splitlines())
    return "lines" if any(line[:1] == "{" and _is_kind(top(line)) for line in lines) else ""


def _is_kind(first: dict[str, str]) -> bool:
    kind = first.get("type", "").lower()
    named, ends = _first(first, NAMES), _first(first, FROM) and _first(first, TO)
    if kind == IDENTITY and "left" in first and "right" in first:
        return True
    if kind in ENTITY_KINDS or kind in RELATION_KINDS:
        return bool(named or ends)
    return bool(
        (named and (_first(first, TYPES) or _first(first, OBSERVATIONS)))
        or (ends and (_first(first, PREDICATES) or "type" in first))
    )


# ---- reading ----


def read(source: Source) -> Iterator[Record]:
    """The records of a memory file, of whichever shape."""
    if shape(source.head.decode("utf-8", "surrogateescape")) == "document":
        values = in_document(source, _is_list, _is_record)
    else:
        values = in_lines(source, _is_record)
    for value in values:
        if isinstance(value, SetAside):
            yield value
        else:
            yield from _records(source.name, value)


def _is_list(key: str) -> bool:
    return key in ENTITY_LISTS or key in RELATION_LISTS


def _is_record(data: Any) -> bool:
    return isinstance(data, dict) and bool(_kind(data, ""))


def _records(name: str, value: Value) -> Iterator[Record]:
    data, notes = storable_value(name, value)
    yield from notes
    yield from _of(name, value, data, value.key)


def _of(name: str, value: Value, data: Any, key: str) -> Iterator[Record]:
    if isinstance(data, list):
        for part in data:
            yield from _of(name, value, part, key)
        return
    if not isinstance(data, dict):
        why = f"Neither an entity nor a relation, but the JSON value {as_text(data)[:40]}."
        yield _aside(name, value, data, why)
        return
    kind = _kind(data, key)
    if kind == "entity":
        yield from _entity(name, value, data)
    elif kind == "relation":
        yield from _relation(name, value, data)
    elif kind == IDENTITY:
        yield _identity(name, value, data)
    elif any(isinstance(data.get(member), list) for member in ENTITY_LISTS | RELATION_LISTS):
        yield from _nested(name, value, data)
    elif value.key and not _is_list(value.key):
        why = f"The member {value.key!r} of the document is no list of entities or relations."
        yield _aside(name, value, data, why)
    elif isinstance(data.get("type"), str):
        yield _aside(name, value, data, f"The record type {data['type']!r} is not known.")
    else:
        yield _aside(name, value, data, "It has the fields of neither an entity nor a relation.")


def _nested(name: str, value: Value, data: dict[str, Any]) -> Iterator[Record]:
    for member, part in data.items():
        if _is_list(member) and isinstance(part, list):
            yield from _of(name, value, part, member)
        else:
            why = f"The member {member!r} of the document is no list of entities or relations."
            yield _aside(name, value, {member: part}, why)


def _kind(data: dict[str, Any], key: str) -> str:
    """``"entity"``, ``"relation"``, ``"identity"`` or "": said by ``type``, else by the list it
    stands in, else by its fields. A ``type`` of another meaning counts only beside fields that
    leave no doubt."""
    said = data.get("type")
    said = said.lower() if isinstance(said, str) else ""
    if said == IDENTITY and "left" in data and "right" in data:
        return IDENTITY
    if said in ENTITY_KINDS or key in ENTITY_LISTS:
        return "entity"
    if said in RELATION_KINDS or key in RELATION_LISTS:
        return "relation"
    if _first(data, FROM) and _first(data, TO):
        return "relation"
    if not _first(data, NAMES):
        return ""
    told = _first(data, TYPES) or _first(data, OBSERVATIONS[:1])
    return "entity" if told or not said else ""


def _entity(name: str, value: Value, data: dict[str, Any]) -> Iterator[Record]:
    left = dict(data)
    beside = _set_by(left)
    spelling = left.pop(_first(data, NAMES), None)
    if not isinstance(spelling, str):
        yield _aside(name, value, data, "The entity has no name, or one that is not a text.")
        return
    if not spelling.strip():
        yield _aside(name, value, data, "The entity's name is blank.")
        return
    type_ = _popped(left, TYPES)
    if str(left.get("type", "")).lower() in ENTITY_KINDS | {""}:
        left.pop("type", None)
    elif type_ is None:
        type_ = left.pop("type")
    observations, plain = _observations(_popped(left, OBSERVATIONS))
    aliases = _texts(left.pop("aliases", None))
    foreign = _popped(left, IDS)
    if not plain:
        why = f"Some observations of {spelling!r} are not texts; what they say is taken as text."
        yield Note(name, value.line, why, as_text(data))
    yield EntityRecord(
        line=value.line,
        name=spelling,
        type=None if type_ is None else as_text(type_).strip() or None,
        observations=observations,
        aliases=aliases,
        foreign_id=_id(foreign),
        attributes=left | beside,
    )


def _relation(name: str, value: Value, data: dict[str, Any]) -> Iterator[Record]:
    left = dict(data)
    beside = _set_by(left)
    subject, object_ = _end(_popped(left, FROM)), _end(_popped(left, TO))
    if not subject or not object_:
        yield _aside(name, value, data, "The relation lacks one of its two ends.")
        return
    predicate = _popped(left, PREDICATES)
    if str(left.get("type", "")).lower() in RELATION_KINDS | {""}:
        left.pop("type", None)
    elif predicate is None:
        predicate = left.pop("type")
    words = " ".join(as_text(predicate).split()) if predicate is not None else ""
    if not words:
        ends = f"from {subject!r} to {object_!r}"
        why = f"The relation {ends} has no type; it is taken as {RELATED!r}."
        yield Note(name, value.line, why, as_text(data))
    text = _popped(left, TEXTS)
    ids = _id(left.pop(FROM_ID, None)), _id(left.pop(TO_ID, None))
    confidence = left.get("confidence")
    if sure := is_share(confidence):
        left.pop("confidence")
    yield RelationRecord(
        line=value.line,
        subject=subject,
        predicate=words or RELATED,
        object=object_,
        confidence=float(confidence) if sure and confidence is not None else 1.0,
        text=as_text(text) if text not in (None, "") else None,
        attributes=left | beside,
        subject_id=ids[0],
        object_id=ids[1],
    )


def _identity(name: str, value: Value, data: dict[str, Any]) -> Record:
    left, right = _end(data["left"]), _end(data["right"])
    if not left or not right or not isinstance(data.get("same"), bool):
        return _aside(name, value, data, "An identity has a left, a right, and same as true/false.")
    why = data.get("why")
    return IdentityRecord(
        line=value.line,
        left=left,
        right=right,
        same=data["same"],
        left_id=_id(data.get("leftId")),
        right_id=_id(data.get("rightId")),
        why=as_text(why) if why not in (None, "") else None,
    )


def _id(value: Any) -> str | None:
    """A source's own id as text."""
    return None if value in (None, "") else as_text(value)


def _set_by(data: dict[str, Any]) -> dict[str, Any]:
    """What was written aside because its key means something else here, taken out."""
    beside = data.get(BESIDE)
    return data.pop(BESIDE) if isinstance(beside, dict) else {}


def _end(value: object) -> str:
    """A relation's end as a name: a text, a number (the id of an entity), or an object's name."""
    if isinstance(value, dict):
        value = value.get(_first(value, NAMES) or _first(value, IDS))
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    return str(value) if str(value).strip() else ""


def _observations(value: Any) -> tuple[tuple[str, ...], bool]:
    """(what they say, whether all were texts)"""
    if value is None:
        return (), True
    parts = value if isinstance(value, list) else [value]
    said = tuple(text for part in parts if (text := _said(part)).strip())
    return said, all(isinstance(part, str) for part in parts)


def _said(part: Any) -> str:
    if isinstance(part, dict):
        for key in CONTENTS:
            if isinstance(part.get(key), str):
                return str(part[key])
    return "" if part is None else as_text(part)


def _texts(value: Any) -> tuple[str, ...]:
    parts = value if isinstance(value, list) else [value]
    return tuple(as_text(part) for part in parts if part not in (None, ""))


def _first(data: dict[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        if key in data:
            return key
    return ""


def _popped(data: dict[str, Any], keys: tuple[str, ...]) -> Any:
    """The value of the first of the keys that is there, taken out; the others stay."""
    key = _first(data, keys)
    return data.pop(key) if key else None


def _aside(name: str, value: Value, data: Any, why: str) -> SetAside:
    """One of several values of a line keeps its own text."""
    text = value.text if data is value.data else as_text(data)
    return SetAside(name, value.line, why, text)


def refuse(source: str, head: str) -> Invalid:
    """The error for a JSON file that is something else."""
    keys = [key for key in top(head.lstrip("\ufeff \t\r\n\0")) if key][:5]
    has = f" Its keys are {', '.join(keys)}." if keys else ""
    return Invalid(
        "unrecognised_format",
        f"{source} is JSON, but not a memory graph.{has} {UNDERSTOOD[0].upper()}{UNDERSTOOD[1:]}.",
        path=source,
    )


# ---- writing ----


def lines(pieces: Pieces) -> Iterator[str]:
    """A graph, a record a line."""
    line = EMPTY
    for piece in pieces():
        line = _written(piece)
        yield line
    if line is EMPTY:
        yield EMPTY


def _written(piece: Written) -> str:
    if isinstance(piece, EntityRecord):
        return entity_line(piece)
    return relation_line(piece) if isinstance(piece, RelationRecord) else identity_line(piece)


def entity_line(record: EntityRecord) -> str:
    """One entity as the reference server writes it, with the keys it ignores behind."""
    said: dict[str, Any] = {
        "type": "entity",
        "name": record.name,
        "entityType": record.type or "",
        "observations": list(record.observations),
    }
    if record.aliases:
        said["aliases"] = list(record.aliases)
    if record.foreign_id is not None:
        said["id"] = record.foreign_id
    taken = {*said, "aliases", *(IDS if record.foreign_id is None else IDS[:1])}
    return _line(said, record.attributes, taken)


def relation_line(record: RelationRecord) -> str:
    """One relation; ``text`` and ``confidence`` only where they say something."""
    said: dict[str, Any] = {
        "type": "relation",
        "from": record.subject,
        "to": record.object,
        "relationType": record.predicate,
    }
    if record.subject_id is not None:
        said[FROM_ID] = record.subject_id
    if record.object_id is not None:
        said[TO_ID] = record.object_id
    if record.text is not None or not record.attributes.keys().isdisjoint(TEXTS):
        said["text"] = record.text or ""  # else what was said beside would be read as the text
    if record.confidence != 1.0:
        said["confidence"] = record.confidence
    taken = {*said, FROM_ID, TO_ID}
    if is_share(record.attributes.get("confidence")):
        taken.add("confidence")
    return _line(said, record.attributes, taken)


def identity_line(record: IdentityRecord) -> str:
    """That two are one, or are not."""
    said: dict[str, Any] = {
        "type": IDENTITY,
        "left": record.left,
        "right": record.right,
        "same": record.same,
    }
    more = {"leftId": record.left_id, "rightId": record.right_id, "why": record.why}
    return _line(said | {key: value for key, value in more.items() if value is not None}, {}, set())


def _line(said: dict[str, Any], beside: dict[str, Any], taken: set[str]) -> str:
    """``taken`` are the keys that would be read as something else than what was said beside."""
    apart = {key: value for key, value in beside.items() if key in taken or key == BESIDE}
    whole = said | {key: value for key, value in beside.items() if key not in apart}
    if apart:
        whole[BESIDE] = apart
    return as_line(whole, compact=True) + "\n"
