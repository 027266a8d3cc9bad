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
from enfold.formats.values import Value, in_document, in_lines
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

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_ESCAPED_UNSTORABLE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_TOP_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|[{}\[\],:]')


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
    if set(_top(text)) & (ENTITY_LISTS | RELATION_LISTS):
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
    tops = (_top(text[match.start() : match.start() + 4096]) for match in starts)
    return any(set(top) & (ENTITY_LISTS | RELATION_LISTS) or _is_kind(top) for top in tops)


def shape_below(head: str) -> str:
    """``"lines"`` where a text that begins otherwise holds a line that is a record."""
    lines = (line.lstrip() for line in head.splitlines())
    return "lines" if any(line[:1] == "{" and _is_kind(_top(line)) for line in lines) else ""


def _is_kind(top: dict[str, str]) -> bool:
    kind = top.get("type", "").lower()
    named, ends = _first(top, NAMES), _first(top, FROM) and _first(top, TO)
    if kind == IDENTITY and "left" in top and "right" in top:
        return True
    if kind in ENTITY_KINDS or kind in RELATION_KINDS:
        return bool(named or ends)
    return bool(
        (named and (_first(top, TYPES) or _first(top, OBSERVATIONS)))
        or (ends and (_first(top, PREDICATES) or "type" in top))
    )


def _top(text: str) -> dict[str, str]:
    """The keys of the object that the text begins with, as far as it goes: {key: its value where
    that is a string, else ""}."""
    found: dict[str, str] = {}
    depth, last, key = 0, "", ""
    for match in _TOP_TOKEN.finditer(text):
        token = match.group()
        if token in "{[":
            depth += 1
            if depth == 1 and token == "[":
                return found
        elif token in "}]":
            depth -= 1
            if depth == 0:
                return found
        elif depth == 1 and token == ":":
            key = last
            found.setdefault(key, "")
        elif depth == 1 and token == ",":
            key = ""
        elif depth == 1 and match.group(1) is not None:
            last = match.group(1)
            if key:
                found[key] = last
    return found


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
    data = value.data
    if value.repeated:
        why = "A key is given twice; its first value is taken, lists are joined."
        yield Note(name, value.line, why, value.text)
    if _ESCAPED_UNSTORABLE.search(value.text):
        data, changed = _storable(data)
        if changed:
            why = "Characters that no text can hold (NUL, half a surrogate pair) are now U+FFFD."
            yield Note(name, value.line, why, value.text)
    yield from _of(name, value, data, value.key)


def _of(name: str, value: Value, data: Any, key: str) -> Iterator[Record]:
    if isinstance(data, list):
        for part in data:
            yield from _of(name, value, part, key)
        return
    if not isinstance(data, dict):
        what = "a list" if isinstance(data, list) else f"the JSON value {_text(data)[:40]}"
        yield _aside(name, value, data, f"Neither an entity nor a relation, but {what}.")
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
        yield Note(name, value.line, why, _text(data))
    yield EntityRecord(
        line=value.line,
        name=spelling,
        type=None if type_ is None else _text(type_).strip() or None,
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
    words = " ".join(_text(predicate).split()) if predicate is not None else ""
    if not words:
        ends = f"from {subject!r} to {object_!r}"
        why = f"The relation {ends} has no type; it is taken as {RELATED!r}."
        yield Note(name, value.line, why, _text(data))
    text = _popped(left, TEXTS)
    ids = _id(left.pop(FROM_ID, None)), _id(left.pop(TO_ID, None))
    confidence = left.get("confidence")
    if sure := _is_share(confidence):
        left.pop("confidence")
    yield RelationRecord(
        line=value.line,
        subject=subject,
        predicate=words or RELATED,
        object=object_,
        confidence=float(confidence) if sure and confidence is not None else 1.0,
        text=_text(text) if text not in (None, "") else None,
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
        why=_text(why) if why not in (None, "") else None,
    )


def _id(value: Any) -> str | None:
    """A source's own id as text."""
    return None if value in (None, "") else _text(value)


def _set_by(data: dict[str, Any]) -> dict[str, Any]:
    """What was written aside because its key means something else here, taken out."""
    beside = data.get(BESIDE)
    return data.pop(BESIDE) if isinstance(beside, dict) else {}


def _is_share(number: object) -> bool:
    return isinstance(number, (int, float)) and not isinstance(number, bool) and 0 <= number <= 1


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
    return "" if part is None else _text(part)


def _texts(value: Any) -> tuple[str, ...]:
    parts = value if isinstance(value, list) else [value]
    return tuple(_text(part) for part in parts if part not in (None, ""))


def _text(value: Any) -> str:
    """A text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _first(data: dict[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        if key in data:
            return key
    return ""


def _popped(data: dict[str, Any], keys: tuple[str, ...]) -> Any:
    """The value of the first of the keys that is there, taken out; the others stay."""
    key = _first(data, keys)
    return data.pop(key) if key else None


def _storable(data: Any) -> tuple[Any, bool]:
    """(the data without characters that no store can hold, whether there were any)"""
    if isinstance(data, str):
        text = _UNSTORABLE.sub("\ufffd", data)
        return text, text != data
    if isinstance(data, list):
        parts = [_storable(part) for part in data]
        return [part for part, _ in parts], any(changed for _, changed in parts)
    if isinstance(data, dict):
        pairs = [(_storable(key), _storable(part)) for key, part in data.items()]
        return {k[0]: v[0] for k, v in pairs}, any(k[1] or v[1] for k, v in pairs)
    return data, False


def _aside(name: str, value: Value, data: Any, why: str) -> SetAside:
    """One of several values of a line keeps its own text."""
    text = value.text if data is value.data else _text(data)
    return SetAside(name, value.line, why, text)


def refuse(source: str, head: str) -> Invalid:
    """The error for a JSON file that is something else."""
    keys = [key for key in _top(head.lstrip("\ufeff \t\r\n\0")) if key][:5]
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
    if _is_share(record.attributes.get("confidence")):
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


# Ends of lines to some readers, and what a terminal would obey.
_ESCAPED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}


def _line(said: dict[str, Any], beside: dict[str, Any], taken: set[str]) -> str:
    """``taken`` are the keys that would be read as something else than what was said beside."""
    apart = {key: value for key, value in beside.items() if key in taken or key == BESIDE}
    whole = said | {key: value for key, value in beside.items() if key not in apart}
    if apart:
        whole[BESIDE] = apart
    text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_ESCAPED) + "\n"
