"""What the data of a ``node`` and of an ``edge`` mean: as records.

Programs give one thing different names; what is not known is kept beside.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from enfold.formats.values import is_share, listed_texts, loaded
from enfold.intake import RELATED
from enfold.model import EntityRecord, RelationRecord

SEPARATOR: Final = "<SEP>"
"""What LightRAG puts between the parts of a text (its ``GRAPH_FIELD_SEP``)."""

NAMES: Final = ("name", "Name", "label", "Label", "title", "entity_name", "entity_id")
TYPES: Final = ("entity_type", "entityType", "type", "kind", "labelV", "labels")
PREDICATES: Final = (
    *("predicate", "relation", "relation_type", "relationType", "relationship"),
    *("type", "labelE", "label", "Label", "name"),
)
TEXT: Final = "description"
ALIASES: Final = "aliases"
CONFIDENCE: Final = "confidence"
UNDIRECTED: Final = "directed"
"""The attribute that says ``False`` of a relation without a direction."""

OWN: Final = "enfold"
IDENTITIES: Final = "enfold.identities"
GRAPHICS: Final = {"node": "nodegraphics", "edge": "edgegraphics"}

INTEGER: Final = re.compile(r"[+-]?[0-9]{1,18}")

ILLEGAL: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML may hold."""


GRAPHIC: Final = "\0label"
"""Holds the label of yEd's drawing, while an element is read."""


def value_of(text: str, type_: str) -> Any:
    """A text as its key's type says; as it stands where it is none of that type."""
    plain = text.strip()
    match type_:
        case "int" | "long" | "integer" | "short":
            return int(plain) if INTEGER.fullmatch(plain) else text
        case "float" | "double":
            try:
                number = float(plain)
            except ValueError:
                return text
            return number if math.isfinite(number) else text
        case "boolean":
            return {"true": True, "1": True, "false": False, "0": False}.get(plain.lower(), text)
        case "json":
            try:
                return loaded(text)
            except ValueError:
                return text
        case _:
            return text


def unquoted(text: str) -> str:
    """Early LightRAG and nano-graphrag wrote names and types inside quotes."""
    inner = text[1:-1]
    return inner if text[:1] == text[-1:] == '"' and inner.strip() and '"' not in inner else text


def _taken(data: dict[str, Any], keys: Sequence[str]) -> str | None:
    """The first of these that is a text and not blank, taken out."""
    for key in keys:
        if isinstance(data.get(key), str) and data[key].strip():
            return str(data.pop(key)).strip()
    return None


def entity(id_: str | None, data: dict[str, Any], line: int) -> EntityRecord:
    """What a node says, by the names that programs give its data."""
    left = dict(data)
    graphic = left.pop(GRAPHIC, None)
    if left.get("entity_id") == id_:
        left.pop("entity_id", None)
    name = _taken(left, NAMES) or graphic
    foreign = id_ if name is not None else None
    if name is None:
        name = unquoted(id_ or "")
        foreign = id_ if name != id_ else None
    text = left.pop(TEXT) if isinstance(left.get(TEXT), str) else ""
    return EntityRecord(
        line=line,
        name=name,
        type=_type(left),
        observations=tuple(_parts(text)),
        aliases=_listed(left),
        foreign_id=foreign,
        attributes=left,
    )


def _type(left: dict[str, Any]) -> str | None:
    said = _taken(left, TYPES)
    if said is None:
        for key in TYPES[:1]:
            if left.get(key) == "":
                del left[key]
        return None
    return unquoted(said).lstrip(":") or None


def with_type(record: EntityRecord) -> EntityRecord:
    """A type that only a key's default gives."""
    return record if record.type else replace(record, type=_type(record.attributes))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(SEPARATOR) if part.strip()]


def _listed(left: dict[str, Any]) -> tuple[str, ...]:
    said = left.get(ALIASES)
    if isinstance(said, str) and said.lstrip().startswith("["):
        said = listed_texts(said)
    elif isinstance(said, str):
        said = [part.strip() for part in re.split(r"<SEP>|\|", said) if part.strip()]
    if not isinstance(said, list) or not all(isinstance(part, str) for part in said):
        return ()
    del left[ALIASES]
    return tuple(said)


def relations(
    said: dict[str, str],
    data: dict[str, Any],
    subject: tuple[str, str | None],
    target: tuple[str, str | None],
    line: int,
) -> list[RelationRecord]:
    """What an edge says: one relation, or one for each part of LightRAG's description; the first
    carries what is said beside."""
    left = {k: v for k, v in said.items() if k not in ("source", "target", "directed")} | data
    graphic = left.pop(GRAPHIC, None)
    if said.get("directed") == "false":
        left[UNDIRECTED] = False
    undirected = left.get(UNDIRECTED) is False
    predicate = _taken(left, PREDICATES) or graphic
    words = " ".join(predicate.split()) if predicate else ""
    confidence = left.get(CONFIDENCE)
    if sure := is_share(confidence):
        left.pop(CONFIDENCE)
    text = left.pop(TEXT) if isinstance(left.get(TEXT), str) else ""
    first = RelationRecord(
        line=line,
        subject=subject[0],
        predicate=words or RELATED,
        object=target[0],
        confidence=float(confidence) if sure and confidence is not None else 1.0,
        text=text if text.strip() else None,
        attributes=left,
        subject_id=subject[1],
        object_id=target[1],
    )
    if words or not undirected or SEPARATOR not in text:
        return [first]
    parts: list[str | None] = [*_parts(text)] or [None]
    bare = {UNDIRECTED: False}
    rest = [replace(first, text=part, attributes=dict(bare)) for part in parts[1:]]
    return [replace(first, text=parts[0]), *rest]
