"""GraphML, as LightRAG, networkx, yEd, Gephi and igraph write it.

A ``node`` becomes an entity: its name is what it is labelled, else its id; ``description`` is cut
at LightRAG's separator into observations. An ``edge`` becomes a relation between the things that
its ends name; one without a direction carries ``directed: false`` with it, and goes out so.

``xmlpieces`` cuts the file, ``data`` says what its data mean. What is written (``written``) is what
those programs read. Where that would not come back exactly as it was (a separator inside a text, a
character that XML can't hold, a second thing of the same id), the difference stands beside in data
of the name ``enfold``: it is found by reading what is about to be written, so it is there exactly
where it is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from enfold.errors import Invalid
from enfold.formats.graphml import data as meaning
from enfold.formats.graphml.data import GRAPHIC, IDENTITIES, OWN, value_of
from enfold.formats.graphml.written import lines
from enfold.formats.graphml.xmlpieces import Element, pieces, root
from enfold.formats.held import Held
from enfold.formats.remainder import WRAPPED, all_mended, checked, mended
from enfold.formats.source import Source
from enfold.formats.values import DEPTH, loaded
from enfold.model import EntityRecord, IdentityRecord, Note, Record, SetAside

NAME: Final = "graphml"

KEYS: Final = 10_000
"""Most declared keys that are taken."""


# ---- what a file is ----


def recognises(head: bytes, path: Path | None = None) -> bool:
    """Whether the first element is ``graphml``, whatever stands before it."""
    return root(head) == "graphml"


# ---- reading ----


@dataclass(frozen=True, slots=True)
class _Key:
    name: str
    scope: str
    type: str
    default: str


def read(source: Source) -> Iterator[Record]:
    """The records of a file, in its order but for relations whose ends come later.

    Ids and the names they stand for are held, some 150 bytes each; everything else streams.

    Raises:
        Invalid: ``doctype``, ``unknown_encoding`` or ``unrecognised_format``.
    """
    if not recognises(source.head):
        raise Invalid(
            "unrecognised_format",
            f"{source.name} is no GraphML: its first element is not graphml.",
            path=source.name,
        )
    with Held() as later:
        yield from _Reader(source.name, later).records(source)


class _Reader:
    def __init__(self, name: str, later: Held) -> None:
        self._name, self._later = name, later
        self._keys: dict[str, _Key] = {}
        self._given: list[_Key] = []  # those with a default
        self._named: dict[str, tuple[str, str | None]] = {}

    def records(self, source: Source) -> Iterator[Record]:
        for piece in pieces(source):
            if isinstance(piece, SetAside):
                yield piece
                continue
            element, inside = piece
            if element.broken:
                yield self._aside(element, "It holds bytes that are no text; no byte is guessed.")
                continue
            yield from self._piece(element, inside)
        for waiting in self._later:
            element = _unpacked(waiting)
            yield from self._edge(element)

    def _aside(self, element: Element, why: str) -> SetAside:
        return SetAside(self._name, element.line, why, element.written())

    def _piece(self, element: Element, inside: tuple[Element, ...]) -> Iterator[Record]:
        match element.tag:
            case "node":
                yield from self._node(element, inside)
            case "edge":
                graph = inside[-1].attributes.get("edgedefault", "directed")
                element.attributes.setdefault("directed", str(graph != "undirected").lower())
                yield from self._edge_or_later(element)
            case "key":
                yield from self._key(element)
            case "data":
                yield from self._of_graph(element)
            case "hyperedge":
                ends = sum(child.tag == "endpoint" for child in element.children)
                why = f"A hyperedge joins {ends} things at once; a relation has two ends."
                yield self._aside(element, why)
            case "desc" | "port":
                yield self._aside(element, f"The {element.tag} of a graph has no place here.")
            case _:
                yield self._aside(element, f"<{element.name}> is not known in a graph.")

    def _key(self, element: Element) -> Iterator[Record]:
        said = element.attributes
        if len(self._keys) >= KEYS:
            yield self._aside(element, f"More than {KEYS:,} keys are declared.")
            return
        default = element.first("default")
        type_ = said.get("enfold.type") or said.get("attr.type", "string")
        id_ = said.get("id", "")
        name = said.get("attr.name") or said.get("yfiles.type") or id_
        text = default.text if default else ""
        self._keys[id_] = key = _Key(name, said.get("for", "all"), type_, text)
        if text.strip():
            self._given.append(key)

    def _of_graph(self, element: Element) -> Iterator[Record]:
        key = self._keys.get(element.attributes.get("key", ""))
        name = key.name if key else ""
        if not name.startswith(IDENTITIES):
            if element.text.strip():
                why = "What a graph says of itself as a whole has no place here."
                yield self._aside(element, why)
            return
        try:
            said = loaded(element.text)
            records = [checked(IdentityRecord(element.line, **one)) for one in said]
        except (ValueError, TypeError):
            yield self._aside(element, "The identities are no JSON of the form enfold writes.")
            return
        yield from records

    def _data(self, element: Element) -> tuple[dict[str, Any], list[Element]]:
        """(values by their key's name, children that are no data)"""
        data: dict[str, Any] = {}
        other = []
        for child in element.children:
            if child.tag == "desc":
                data["desc"] = child.text
            elif child.tag != "data":
                other.append(child)
            else:
                id_ = child.attributes.get("key", "")
                key = self._keys.get(id_) or _Key(id_, "all", "string", "")
                if child.children:
                    self._graphics(data, element.tag, key.name, child)
                else:
                    data[key.name] = value_of(child.text, key.type)
        return data, other

    def _graphics(self, data: dict[str, Any], scope: str, name: str, child: Element) -> None:
        data[name] = child.inside().strip()
        label = child.first("NodeLabel" if scope == "node" else "EdgeLabel")
        if label is not None and label.text.strip():
            data.setdefault(GRAPHIC, label.text.strip())

    def _defaults(self, scope: str, data: dict[str, Any]) -> None:
        for key in self._given:
            if key.scope in (scope, "all") and key.name not in data:
                data[key.name] = value_of(key.default, key.type)

    def _node(self, element: Element, inside: tuple[Element, ...]) -> Iterator[Record]:
        id_ = element.attributes.get("id")
        data, other = self._data(element)
        for key, value in element.attributes.items():
            if key != "id":
                data.setdefault(key, value)
        outer = next((e for e in reversed(inside) if e.tag == "node"), None)
        if outer is not None and "id" in outer.attributes:
            data.setdefault("parent", outer.attributes["id"])
        own = data.pop(OWN, None)
        record = meaning.entity(id_, data, element.line)
        if own is None:
            self._defaults("node", record.attributes)
            record = meaning.with_type(record)
        else:
            try:
                said = _said(own)
                if said.get("end") is True:
                    name, foreign_id = said.get("name", ""), said.get("id")
                    end = checked(EntityRecord(element.line, name, foreign_id=foreign_id))
                    self._remember(id_, end.name, end.foreign_id)
                    return
                record = mended(record, said)
            except ValueError as error:
                yield self._left_out(element, own, error)
        if own is None and not record.name.strip():
            yield self._aside(element, "The node has neither a name nor an id.")
            return
        self._remember(id_, record.name, record.foreign_id)
        yield record
        for child in other:
            why = f"A {child.tag} of {record.name!r} has no place in an entity."
            yield self._aside(child, why)

    def _left_out(self, element: Element, own: str, error: ValueError) -> Note:
        why = f"The data of the name {OWN} {error}; it is left out."
        return Note(self._name, element.line, why, str(own))

    def _remember(self, id_: str | None, name: str, foreign_id: str | None) -> None:
        if id_ is not None:
            self._named.setdefault(id_, (name, foreign_id))

    def _edge_or_later(self, element: Element) -> Iterator[Record]:
        ends = element.attributes.get("source"), element.attributes.get("target")
        if None in ends:
            yield self._aside(element, "The edge lacks one of its two ends.")
        elif all(end in self._named for end in ends):
            yield from self._edge(element)
        else:
            self._later.add(_packed(element))

    def _edge(self, element: Element) -> Iterator[Record]:
        data, other = self._data(element)
        own = data.pop(OWN, None)
        if own is None:
            self._defaults("edge", data)
        said = dict(element.attributes)
        ends = [self._named.get(end, (end, None)) for end in (said["source"], said["target"])]
        if not all(name.strip() for name, _ in ends) and own is None:
            yield self._aside(element, "The edge lacks one of its two ends.")
            return
        records = meaning.relations(said, data, ends[0], ends[1], element.line)
        if own is not None:
            try:
                records = all_mended(records, _said(own).get("is"))
            except ValueError as error:
                yield self._left_out(element, own, error)
        yield from records
        for child in other:
            yield self._aside(child, f"A {child.tag} has no place in a relation.")


def _said(own: Any) -> dict[str, Any]:
    """What the data of the name ``enfold`` says. Raises ``ValueError``."""
    said = loaded(str(own), DEPTH + WRAPPED)
    if not isinstance(said, dict):
        raise ValueError("is no JSON object")
    return said


def _packed(element: Element) -> list[Any]:
    """An element that waits, as JSON."""
    children = [_packed(child) for child in element.children]
    return [element.tag, element.name, element.attributes, element.line, element.text, children]


def _unpacked(waiting: list[Any]) -> Element:
    tag, name, attributes, line, text, children = waiting
    return Element(tag, name, attributes, line, text, [_unpacked(child) for child in children])


__all__ = ["NAME", "lines", "read", "recognises"]
