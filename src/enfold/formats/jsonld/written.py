"""A graph as one JSON-LD document, with its context inside; and the differences beside.

A relation is a property, and beside it a reified statement where it carries more than that. Names
and ids are held, everything else streams.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from enfold.formats.jsonld.iris import (
    ATTRIBUTE,
    CONFIDENCE,
    DIFFERENT,
    EXACT,
    ID,
    IDENTITIES,
    IRI,
    LANGUAGES,
    NAMED,
    PAGES,
    PREDICATE,
    SAME,
    STATED,
    STATEMENT,
    STATEMENTS,
    TERMS,
    TYPE,
    TYPES,
    end_of,
    is_iri,
    local_name,
    quoted,
)
from enfold.formats.jsonld.things import TAKEN, Reference, between, entity, stated_by, told_type
from enfold.formats.remainder import remainder
from enfold.formats.storable import storable
from enfold.formats.values import as_line
from enfold.model import EntityRecord, IdentityRecord, RelationRecord

if TYPE_CHECKING:
    from enfold.formats import Pieces

_LANGUAGE = re.compile(r"[a-z]{1,8}(?:-[a-z0-9]{1,8})*")
# ---- writing ----

_SHORT: Final = {iri: term for term, iri in TERMS.items()}


def lines(pieces: Pieces) -> Iterator[str]:
    """The document, one thing or relation a line."""
    context = TERMS | {STATEMENTS: {"@reverse": STATED[0]}}
    yield f'{{"@context": {json.dumps(context)},\n"@graph": ['
    writer = _Writer()
    between = "\n"
    for piece in pieces():
        node = writer.entity(piece) if isinstance(piece, EntityRecord) else writer.relation(piece)
        yield between + as_line(_compact(node))
        between = ",\n"
    yield "\n]}\n"


class _Writer:
    """Records as expanded nodes; it holds what the reader will know of names."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._iris: dict[str, str] = {}

    def entity(self, record: EntityRecord) -> dict[str, Any]:
        iri = _iri(record.name, record.foreign_id)
        self._names.setdefault(iri, record.name)
        if record.foreign_id is None:
            self._iris[record.name] = iri
        else:
            self._iris.setdefault(record.name, iri)
        node = _described(record, iri)
        more = remainder(record, entity(node, record.line, ""))
        if more or not record.name.strip():
            node[EXACT] = [{"@value": more or "{}"}]
        return node

    def relation(self, record: RelationRecord | IdentityRecord) -> dict[str, Any]:
        if isinstance(record, RelationRecord):
            ends = (record.subject, record.subject_id), (record.object, record.object_id)
            predicate = _predicate(record)
        else:
            ends = (record.left, record.left_id), (record.right, record.right_id)
            predicate = SAME if record.same else DIFFERENT
        subject, target = (self._end(name, id_) for name, id_ in ends)
        statement = _reified(record, predicate, target)
        named = [end_of(iri, self._names.get(iri), predicate) for iri in (subject, target)]
        nobody: Reference = (None, None)
        rest = {key: values for key, values in statement.items() if key not in STATED}
        said = replace(stated_by(rest, record.line), subject=nobody, iri=predicate)
        got: Any = between(said, named[0], named[1])
        if more := remainder(record, got):
            statement[EXACT] = [{"@value": more}]
        node: dict[str, Any] = {"@id": subject, predicate: [{"@id": target}]}
        if len(statement) > len(STATED):  # more than its type and the two other parts
            node["@reverse"] = {STATED[0]: [statement]}
        return node

    def _end(self, name: str, foreign_id: str | None) -> str:
        if foreign_id is not None:
            return _iri(name, foreign_id)
        return self._iris.get(name) or _iri(name, None)


def _iri(name: str, foreign_id: str | None) -> str:
    """The IRI of a thing: its own, or one that says its id or its name."""
    if foreign_id is None:
        return quoted(name, NAMED)
    return foreign_id if is_iri(foreign_id) else quoted(foreign_id, ID)


def _predicate(record: RelationRecord) -> str:
    full = record.attributes.get(IRI)
    if (
        isinstance(full, str)
        and is_iri(full)
        and local_name(full) == record.predicate
        and full not in PAGES
        and full not in IDENTITIES
        and full not in STATED
    ):
        return full
    return quoted(record.predicate, PREDICATE)


def _text(text: str, languages: Any = None) -> dict[str, Any]:
    value = {"@value": storable(text)}
    tag = languages.get(text) if isinstance(languages, dict) else None
    if isinstance(tag, str) and _LANGUAGE.fullmatch(tag):
        value["@language"] = tag
    return value


def _described(record: EntityRecord, iri: str) -> dict[str, Any]:
    node: dict[str, Any] = {"@id": iri}
    tags, full = record.attributes.get(LANGUAGES), record.attributes.get(TYPES)
    if _are_types(full) and told_type(full) == (record.type, full):
        node["@type"] = full
    elif record.type is not None:
        node["@type"] = [quoted(record.type, TYPE)]
    if record.name.strip():
        node[TERMS["label"]] = [_text(record.name, tags)]
    if record.aliases:
        node[TERMS["altLabel"]] = [_text(alias, tags) for alias in record.aliases]
    if record.observations:
        node[TERMS["description"]] = [_text(said, tags) for said in record.observations]
    return node | _beside(record.attributes, (LANGUAGES, TYPES))


def _are_types(full: Any) -> TypeGuard[list[str]]:
    return isinstance(full, list) and bool(full) and all(map(is_iri, full))


def _reified(
    record: RelationRecord | IdentityRecord, predicate: str, target: str
) -> dict[str, Any]:
    node: dict[str, Any] = {
        "@type": [STATEMENT],
        STATED[1]: [{"@id": predicate}],
        STATED[2]: [{"@id": target}],
    }
    text = record.why if isinstance(record, IdentityRecord) else record.text
    if text is not None:
        node[TERMS["description"]] = [_text(text)]
    if isinstance(record, RelationRecord):
        if record.confidence != 1.0:
            node[CONFIDENCE] = [{"@value": float(record.confidence)}]
        node |= _beside(
            record.attributes, (IRI,) if predicate == record.attributes.get(IRI) else ()
        )
    return node


def _beside(attributes: dict[str, Any], taken: Sequence[str]) -> dict[str, Any]:
    node: dict[str, Any] = {}
    for key, value in attributes.items():
        if key in taken:
            continue
        free = is_iri(key) and key not in TAKEN
        iri = key if free else quoted(key, ATTRIBUTE)
        node[iri] = _values(iri, value)
    return node


def _values(iri: str, value: Any) -> list[dict[str, Any]]:
    """A value as what it was read from: plain values as they are, all else as JSON."""
    several = value if isinstance(value, list) and len(value) > 1 else [value]
    if all(_is_plain(iri, one) for one in several):
        return [one if isinstance(one, dict) else {"@value": _as_json(one)} for one in several]
    return [{"@type": "@json", "@value": _as_json(value)}]


def _as_json(value: Any) -> Any:
    """The value as JSON holds it; a number that JSON has not is the text it is written as."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return str(value)
    return storable(value) if isinstance(value, str) else value


def _is_plain(iri: str, value: Any) -> bool:
    if isinstance(value, dict):
        return _is_expanded(value) or (
            iri in PAGES and value.keys() == {"@id"} and is_iri(value["@id"])
        )
    return _is_scalar(value)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))


def _is_expanded(value: Any) -> bool:
    """Whether it is a literal with its type or language, or a thing without an id, as they are
    read."""
    if not isinstance(value, dict) or "@id" in value:
        return False
    if "@value" in value:
        said, tag, type_ = (value.get(key) for key in ("@value", "@language", "@type"))
        if value.keys() == {"@value", "@language"}:
            return isinstance(said, str) and isinstance(tag, str) and bool(_LANGUAGE.fullmatch(tag))
        return value.keys() == {"@value", "@type"} and _is_scalar(said) and is_iri(type_)
    return bool(value) and all(
        _are_types(inner)
        if key == "@type"
        else is_iri(key)
        and isinstance(inner, list)
        and bool(inner)
        and all(_is_expanded(one) or _is_bare(one) for one in inner)
        for key, inner in value.items()
    )


def _is_bare(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"@value"} and _is_scalar(value["@value"])


def _compact(node: dict[str, Any]) -> dict[str, Any]:
    """An expanded node in the terms of the context that is written."""
    short: dict[str, Any] = {}
    for key, values in node.items():
        if key == "@reverse":
            short[STATEMENTS] = _compact(values[STATED[0]][0])
        elif key == "@type":
            types = [_SHORT.get(type_, type_) for type_ in values]
            short[key] = types[0] if len(types) == 1 else types
        elif key.startswith("@"):
            short[key] = values
        else:
            plain = [one["@value"] if _is_bare(one) else one for one in values]
            short[_SHORT.get(key, key)] = plain[0] if len(plain) == 1 else plain
    return short
