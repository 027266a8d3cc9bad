"""Dumps of a property graph as JSON: those of APOC, of the browser and of the HTTP interface.

A ``node`` has labels and properties; a relationship two ends, a type and properties. They are found
wherever they stand: a line each, in one list, in the lists or maps of one document, in the rows of
a result, in paths. A ``node`` that stands in many rows is taken once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from enfold.formats.neo4j.graph import Graph, Link, Thing
from enfold.formats.source import Source
from enfold.formats.values import Value, as_text, in_document, in_lines, storable_value
from enfold.model import Record, SetAside

_LABELS = re.compile(r'"labels"\s*:\s*\[')
_PROPERTIES = re.compile(r'"properties"\s*:\s*\{')
_RELATIONSHIP = re.compile(r'"type"\s*:\s*"relationship"')
_START = re.compile(r'"start"\s*:\s*[{"]')

_KEYS = ("id", "identity", "elementId")
_STARTS = ("startNodeElementId", "start", "startNode")
_ENDS = ("endNodeElementId", "end", "endNode")


def recognises(head: bytes) -> bool:
    """Whether a text is JSON that has labels and properties, or APOC's relationships."""
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if not text.startswith(("{", "[")):
        return False
    things = _LABELS.search(text) and _PROPERTIES.search(text)
    return bool(things or (_RELATIONSHIP.search(text) and _START.search(text)))


def read(source: Source, graph: Graph) -> Iterator[Record]:
    """The records of a dump, but for those that ``graph`` gives at its end."""
    values = in_lines if _is_lines(source.head) else _in_document
    for value in values(source, _is_piece):
        if isinstance(value, SetAside):
            yield value
        else:
            yield from _records(source.name, value, graph)


def _in_document(source: Source, wanted: Any) -> Iterator[Value | SetAside]:
    return in_document(source, lambda key: True, wanted)


def _is_lines(head: bytes) -> bool:
    """Whether every line is a value: the first one is whole, and another follows."""
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if not text.startswith("{"):
        return False
    first, _, rest = text.partition("\n")
    try:
        whole = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return _is_piece(whole) or bool(rest.strip())


def _records(name: str, value: Value, graph: Graph) -> Iterator[Record]:
    data, notes = storable_value(name, value)
    yield from notes
    found = list(_pieces(value.line, data))
    if not found:
        why = "It holds nothing with labels and properties, and no relationship."
        yield SetAside(name, value.line, why, value.text)
    for piece in found:
        if isinstance(piece, Thing) and not any(map(graph.knows, piece.keys)):
            yield from graph.thing(piece)
    for piece in found:
        if isinstance(piece, Link):
            yield from graph.link(piece)
        elif isinstance(piece, SetAside):
            yield SetAside(name, piece.line, piece.reason, piece.text)


def _is_piece(data: Any) -> bool:
    return isinstance(data, dict) and (_is_thing(data) or _is_link(data))


def _is_thing(data: dict[str, Any]) -> bool:
    labelled = isinstance(data.get("labels"), list)
    said = isinstance(data.get("properties"), dict)
    node = data.get("type") == "node" and any(key in data for key in _KEYS)
    return (labelled and said) or (node and (labelled or said))


def _is_link(data: dict[str, Any]) -> bool:
    ends = any(key in data for key in _STARTS) and any(key in data for key in _ENDS)
    kind = isinstance(data.get("label"), str) or isinstance(data.get("type"), str)
    return ends and kind and "segments" not in data


def _pieces(line: int, data: Any) -> Iterator[Thing | Link | SetAside]:
    if isinstance(data, list):
        for part in data:
            yield from _pieces(line, part)
    elif not isinstance(data, dict):
        return
    elif _is_link(data):
        yield from _link(line, data)
    elif _is_thing(data):
        if thing := _thing(line, data):
            yield thing
        else:
            yield SetAside("", line, "It has no id.", as_text(data))
    else:
        for part in data.values():
            yield from _pieces(line, part)


def _thing(line: int, data: dict[str, Any]) -> Thing | None:
    keys = tuple(dict.fromkeys(text for key in _KEYS if (text := _key(data.get(key)))))
    labels = data.get("labels")
    said = data.get("properties")
    if not keys:
        return None
    return Thing(
        line,
        keys,
        tuple(label for label in labels if isinstance(label, str))
        if isinstance(labels, list)
        else (),
        said if isinstance(said, dict) else {},
    )


def _link(line: int, data: dict[str, Any]) -> Iterator[Thing | Link | SetAside]:
    """A relationship, and its ends where it describes them."""
    ends = []
    for names in (_STARTS, _ENDS):
        end = next(data[name] for name in names if name in data)
        if isinstance(end, dict) and (thing := _thing(line, end)):
            ends.append(thing.keys[0])
            if thing.properties:
                yield thing
        else:
            ends.append(_key(end))
    if not all(ends):
        why = "The relationship lacks one of its two ends."
        yield SetAside("", line, why, as_text(data))
        return
    kind = data.get("label") if isinstance(data.get("label"), str) else data.get("type")
    said = data.get("properties")
    properties = said if isinstance(said, dict) else {}
    yield Link(line, str(kind), ends[0], ends[1], properties, (ends[0], ends[1]))


def _key(value: Any) -> str:
    """An id as a text; JavaScript's drivers write a whole number as its two halves."""
    if isinstance(value, dict) and value.keys() == {"low", "high"}:
        low, high = value["low"], value["high"]
        if type(low) is int and type(high) is int:
            return str((high << 32) + (low & 0xFFFFFFFF))
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    return str(value)
