"""GraphML, as LightRAG, networkx, yEd, Gephi and igraph write it.

A ``node`` becomes an entity: its name is what it is labelled, else its id; ``description`` is cut
at LightRAG's separator into observations. An ``edge`` becomes a relation between the things that
its ends name; one without a direction carries ``directed: false`` with it, and goes out so.

What is written is what those programs read. Where that would not come back exactly as it was (a
separator inside a text, a character that XML can't hold, a second thing of the same id), the
difference stands beside in data of the name ``enfold``: it is found by reading what is about to be
written, so it is there exactly where it is needed.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from enfold.errors import Invalid
from enfold.formats.beside import all_patched, check, difference, is_share, patched
from enfold.formats.held import Held
from enfold.formats.source import HEAD, Source
from enfold.formats.xmlpieces import Element, escaped, pieces, quoted, root
from enfold.intake import RELATED
from enfold.model import EntityRecord, IdentityRecord, Note, Record, RelationRecord, SetAside

NAME: Final = "graphml"

SEPARATOR: Final = "<SEP>"
"""What LightRAG puts between the parts of a text (its ``GRAPH_FIELD_SEP``)."""

KEYS: Final = 10_000
"""Most declared keys that are taken."""

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
IDENTITIES_A_PIECE: Final = 500

Written = EntityRecord | RelationRecord | IdentityRecord

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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
            records = [IdentityRecord(element.line, **said) for said in json.loads(element.text)]
            for record in records:
                check(record)
        except (ValueError, TypeError, RecursionError):
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
                    data[key.name] = _value(child.text, key.type)
        return data, other

    def _graphics(self, data: dict[str, Any], scope: str, name: str, child: Element) -> None:
        data[name] = child.inside().strip()
        label = child.first("NodeLabel" if scope == "node" else "EdgeLabel")
        if label is not None and label.text.strip():
            data.setdefault(_GRAPHIC, label.text.strip())

    def _defaults(self, scope: str, data: dict[str, Any]) -> None:
        for key in self._given:
            if key.scope in (scope, "all") and key.name not in data:
                data[key.name] = _value(key.default, key.type)

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
        record = _entity(id_, data, element.line)
        if own is None:
            self._defaults("node", record.attributes)
            record = _typed(record)
        else:
            try:
                said = _json(own)
                if said.get("end"):
                    end = EntityRecord(element.line, said["name"], foreign_id=said.get("id"))
                    check(end)
                    self._remember(id_, end.name, end.foreign_id)
                    return
                record = patched(record, said)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                why = "The data of the name enfold is not of the form enfold writes; left out."
                yield Note(self._name, element.line, why, str(own))
        if own is None and not record.name.strip():
            yield self._aside(element, "The node has neither a name nor an id.")
            return
        self._remember(id_, record.name, record.foreign_id)
        yield record
        for child in other:
            why = f"A {child.tag} of {record.name!r} has no place in an entity."
            yield self._aside(child, why)

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
        records = _relations(said, data, ends[0], ends[1], element.line)
        if own is not None:
            try:
                records = all_patched(records, _json(own)["is"])
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                why = "The data of the name enfold is not of the form enfold writes; left out."
                yield Note(self._name, element.line, why, str(own))
        yield from records
        for child in other:
            yield self._aside(child, f"A {child.tag} has no place in a relation.")


_GRAPHIC: Final = "\0label"  # the label of yEd's graphics, while an element is read


def _value(text: str, type_: str) -> Any:
    """A text as its key's type says; as it stands where it is none of that type."""
    plain = text.strip()
    match type_:
        case "int" | "long" | "integer" | "short":
            return int(plain) if _INTEGER.fullmatch(plain) else text
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
                return json.loads(text)
            except (ValueError, RecursionError):
                return text
        case _:
            return text


def _json(text: Any) -> dict[str, Any]:
    said = json.loads(text)
    if not isinstance(said, dict):
        raise TypeError("no object")
    return said


def _unquoted(text: str) -> str:
    """Early LightRAG and nano-graphrag wrote names and types inside quotes."""
    inner = text[1:-1]
    return inner if text[:1] == text[-1:] == '"' and inner.strip() and '"' not in inner else text


def _taken(data: dict[str, Any], keys: Sequence[str]) -> str | None:
    """The first of these that is a text and not blank, taken out."""
    for key in keys:
        if isinstance(data.get(key), str) and data[key].strip():
            return str(data.pop(key)).strip()
    return None


def _entity(id_: str | None, data: dict[str, Any], line: int) -> EntityRecord:
    """What a node says, by the names that programs give its data."""
    left = dict(data)
    graphic = left.pop(_GRAPHIC, None)
    if left.get("entity_id") == id_:
        left.pop("entity_id", None)
    name = _taken(left, NAMES) or graphic
    foreign = id_ if name is not None else None
    if name is None:
        name = _unquoted(id_ or "")
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
    return _unquoted(said).lstrip(":") or None


def _typed(record: EntityRecord) -> EntityRecord:
    """A type that only a key's default gives."""
    return record if record.type else replace(record, type=_type(record.attributes))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(SEPARATOR) if part.strip()]


def _listed(left: dict[str, Any]) -> tuple[str, ...]:
    said = left.get(ALIASES)
    if isinstance(said, str) and said.lstrip().startswith("["):
        try:
            said = json.loads(said)
        except (ValueError, RecursionError):
            said = [said]
    elif isinstance(said, str):
        said = [part.strip() for part in re.split(r"<SEP>|\|", said) if part.strip()]
    if not isinstance(said, list) or not all(isinstance(part, str) for part in said):
        return ()
    del left[ALIASES]
    return tuple(said)


def _relations(
    said: dict[str, str],
    data: dict[str, Any],
    subject: tuple[str, str | None],
    target: tuple[str, str | None],
    line: int,
) -> list[RelationRecord]:
    """What an edge says: one relation, or one for each part of LightRAG's description; the first
    carries what is said beside."""
    left = {k: v for k, v in said.items() if k not in ("source", "target", "directed")} | data
    graphic = left.pop(_GRAPHIC, None)
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


def _packed(element: Element) -> list[Any]:
    """An element that waits, as JSON."""
    children = [_packed(child) for child in element.children]
    return [element.tag, element.name, element.attributes, element.line, element.text, children]


def _unpacked(waiting: list[Any]) -> Element:
    tag, name, attributes, line, text, children = waiting
    return Element(tag, name, attributes, line, text, [_unpacked(child) for child in children])


# ---- writing ----


@dataclass(frozen=True, slots=True)
class _Data:
    """One ``data`` of an element: a value under a key of a name and a type."""

    scope: str
    name: str
    type: str
    text: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.scope, self.name, self.type


def write(pieces: Callable[[], Iterable[Written]], out: Path) -> None:
    """The records as one GraphML file.

    Names and ids are held, and which ends are joined twice; everything else streams, in two passes.
    """
    with out.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines(pieces))


def lines(pieces: Callable[[], Iterable[Written]]) -> Iterator[str]:
    """The file, piece by piece.

    Where no relation has a direction the graph is undirected, and the relations of LightRAG's kind
    (``related to``, without an id) that join one pair go into one ``edge``, which is what LightRAG
    holds of a pair: texts one behind the other, weights summed, sources joined.
    """
    plan = _Plan(pieces)
    direction = "undirected" if plan.undirected else "directed"
    yield _HEAD + "".join(plan.declared()) + f'  <graph edgedefault="{direction}">\n'
    yield from plan.elements(pieces)
    yield "  </graph>\n</graphml>\n"


_HEAD: Final = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    xmlns:y="http://www.yworks.com/xml/graphml"
    xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns
        http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
"""

_NODE_FILL: Final = {
    "entity_type": "UNKNOWN",
    TEXT: "",
    "source_id": "",
    "file_path": "unknown_source",
}
_EDGE_FILL: Final = {
    "weight": 1.0,
    TEXT: "",
    "keywords": "",
    "source_id": "",
    "file_path": "unknown_source",
}
"""What LightRAG takes for granted of a node and an edge; written where a record of its graph has
none of it."""


class _Plan:
    """What must be known of all records before the first is written."""

    def __init__(self, pieces: Callable[[], Iterable[Written]]) -> None:
        self._by_id: dict[str, str] = {}  # a source's id → the element's
        self._by_name: dict[str, str] = {}
        self._said: dict[str, tuple[str, str | None]] = {}  # the element's id → what it stands for
        self._odd: dict[int, str] = {}  # ids of elements that are not what one would expect
        self._count: dict[str, int] = {}
        self._ends: list[str] = []
        self._keys: dict[tuple[str, str, str], str] = {}
        self._pairs: dict[frozenset[str], int] = {}
        self.undirected = True
        self._look(pieces())

    def _look(self, pieces: Iterable[Written]) -> None:
        sources = foreign = False
        entities = identities = 0
        for scope in ("node", "edge"):
            self._declare([_Data(scope, OWN, "string", "")])
        for piece in pieces:
            if isinstance(piece, EntityRecord):
                sources |= isinstance(piece.attributes.get("source_id"), str)
                foreign |= piece.foreign_id is not None
                self._declare(_node_data(piece, self._name(entities, piece)))
                entities += 1
            elif isinstance(piece, RelationRecord):
                self.undirected &= piece.attributes.get(UNDIRECTED) is False
                if _is_joint(piece):
                    pair = frozenset(self._joined(piece))
                    self._pairs[pair] = self._pairs.get(pair, 0) + 1
                else:
                    self._joined(piece)
                self._declare(_edge_data([piece]))
            else:
                identities += 1
        self._lightrag = sources and self.undirected and not foreign
        if self._lightrag:
            self._declare(_filled([], "node", _NODE_FILL))
            self._declare(_filled([], "edge", _EDGE_FILL))
        if not self.undirected:
            self._declare([_typed_data("edge", UNDIRECTED, False)])
        for number in range(-(-identities // IDENTITIES_A_PIECE)):
            self._declare([_identities(number, [])])

    def _declare(self, data: Sequence[_Data]) -> None:
        for one in data:
            self._keys.setdefault(one.key, f"d{len(self._keys)}")

    def declared(self) -> Iterator[str]:
        for (scope, name, type_), id_ in self._keys.items():
            if type_ == "yfiles":
                yield f'  <key id="{id_}" for="{scope}" yfiles.type="{quoted(name)}"/>\n'
                continue
            own = ' enfold.type="json"' if type_ == "json" else ""
            said = f'attr.name="{quoted(name)}" attr.type="{_XML_TYPES.get(type_, type_)}"'
            yield f'  <key id="{id_}" for="{scope}" {said}{own}/>\n'

    # ---- ids of elements ----

    def _name(self, at: int, record: EntityRecord) -> str:
        """The id of an entity's element: its own id, else its name, else something like them."""
        wanted = record.name if record.foreign_id is None else record.foreign_id
        id_ = self._free(wanted)
        if id_ != wanted:
            self._odd[at] = id_
        self._said[id_] = record.name, record.foreign_id
        if record.foreign_id is not None:
            self._by_id.setdefault(record.foreign_id, id_)
        held = self._by_name.get(record.name)
        if held is None or (record.foreign_id is None and self._said[held][1] is not None):
            self._by_name[record.name] = id_
        return id_

    def _free(self, wanted: str) -> str:
        legal = _ILLEGAL.sub("\ufffd", wanted) if wanted.strip() else "enfold"
        id_ = legal
        while id_ in self._said:
            self._count[legal] = number = self._count.get(legal, 1) + 1
            id_ = f"{legal} ({number})"
        return id_

    def _joined(self, record: RelationRecord) -> tuple[str, str]:
        return (
            self._end(record.subject, record.subject_id),
            self._end(record.object, record.object_id),
        )

    def _end(self, name: str, foreign_id: str | None) -> str:
        held = self._by_name.get(name) if foreign_id is None else self._by_id.get(foreign_id)
        if held is not None:
            return held
        id_ = self._free(name if foreign_id is None else foreign_id)
        self._said[id_] = name, foreign_id
        if foreign_id is None:
            self._by_name[name] = id_
        else:
            self._by_id[foreign_id] = id_
        self._ends.append(id_)
        return id_

    # ---- elements ----

    def elements(self, pieces: Callable[[], Iterable[Written]]) -> Iterator[str]:
        at = number = 0
        ended = False
        identities: list[IdentityRecord] = []
        open_: dict[frozenset[str], list[RelationRecord]] = {}
        for piece in pieces():
            if isinstance(piece, EntityRecord):
                yield self._node(piece, at)
                at += 1
                continue
            if not ended:
                ended = True
                yield from map(self._only_end, self._ends)
            if isinstance(piece, RelationRecord):
                group = self._grouped(piece, open_)
                if group:
                    yield self._edge(group)
                continue
            identities.append(piece)
            if len(identities) == IDENTITIES_A_PIECE:
                yield self._data([_identities(number, identities)], "    ")
                identities, number = [], number + 1
        if identities:
            yield self._data([_identities(number, identities)], "    ")

    def _grouped(
        self, record: RelationRecord, open_: dict[frozenset[str], list[RelationRecord]]
    ) -> list[RelationRecord]:
        """The relations that go out as one edge, once the last of them is there."""
        if not (self.undirected and _is_joint(record)):
            return [record]
        pair = frozenset(self._joined(record))
        if self._pairs[pair] == 1:
            return [record]
        group = open_.setdefault(pair, [])
        group.append(record)
        return open_.pop(pair) if len(group) == self._pairs[pair] else []

    def _node(self, record: EntityRecord, at: int) -> str:
        wanted = record.name if record.foreign_id is None else record.foreign_id
        id_ = self._odd.get(at, wanted)
        data = _node_data(record, id_)
        if self._lightrag:
            data = _filled(data, "node", _NODE_FILL)
        got = _entity(id_, _said(data), record.line)
        if more := difference(record, got):
            data.append(_own("node", more))
        inside = self._data(data, "      ")
        return f'    <node id="{quoted(id_)}">\n{inside}    </node>\n'

    def _only_end(self, id_: str) -> str:
        """What a relation names and no record describes."""
        name, foreign = self._said[id_]
        more: dict[str, Any] = {"end": True, "name": name}
        if foreign is not None:
            more["id"] = foreign
        inside = self._data([_own("node", more)], "      ")
        return f'    <node id="{quoted(id_)}">\n{inside}    </node>\n'

    def _edge(self, records: list[RelationRecord]) -> str:
        source, target = self._joined(records[0])
        said = {"source": source, "target": target}
        data = _edge_data(records)
        id_ = records[0].attributes.get("id")
        if _is_id(id_):
            said["id"] = str(id_)
        if self._lightrag:
            words = {} if records[0].predicate == RELATED else {"keywords": records[0].predicate}
            data = _filled(data, "edge", _EDGE_FILL | words)
        if not self.undirected and records[0].attributes.get(UNDIRECTED) is False:
            data.append(_typed_data("edge", UNDIRECTED, False))
        direction = {"directed": str(not self.undirected).lower()}
        ends = self._said[source], self._said[target]
        got = _relations(said | direction, _said(data), *ends, records[0].line)
        more = [
            difference(record, got[at] if at < len(got) else got[0])
            for at, record in enumerate(records)
        ]
        blank = not all(name.strip() for name, _ in ends)  # would be set aside
        if any(more) or len(got) != len(records) or blank:
            data.append(_own("edge", {"is": more}))
        inside = self._data(data, "      ")
        head = "".join(f' {key}="{quoted(value)}"' for key, value in said.items())
        return f"    <edge{head}>\n{inside}    </edge>\n" if data else f"    <edge{head}/>\n"

    def _data(self, data: Sequence[_Data], blank: str) -> str:
        return "".join(
            f'{blank}<data key="{self._keys[one.key]}">'
            f"{one.text if one.type == 'yfiles' else escaped(one.text)}</data>\n"
            for one in data
        )


def _is_joint(record: RelationRecord) -> bool:
    """Whether it is of LightRAG's kind, of which one pair has one."""
    attributes = record.attributes
    return (
        record.predicate == RELATED
        and attributes.get(UNDIRECTED) is False
        and "id" not in attributes
        and GRAPHICS["edge"] not in attributes
    )


def _is_id(value: object) -> bool:
    return isinstance(value, str) and bool(value) and not _ILLEGAL.search(value)


# ---- data of elements ----

_XML_TYPES: Final = {"json": "string"}


def _typed_data(scope: str, name: str, value: Any) -> _Data:
    """A value as the text of a type that says what it is."""
    if isinstance(value, str):
        if name == GRAPHICS[scope] and _graphics(value) is not None:
            return _Data(scope, name, "yfiles", value)
        return _Data(scope, name, "string", _ILLEGAL.sub("\ufffd", value))
    if isinstance(value, bool):
        return _Data(scope, name, "boolean", str(value).lower())
    if isinstance(value, int) and _INTEGER.fullmatch(str(value)):
        return _Data(scope, name, "long", str(value))
    if isinstance(value, float) and math.isfinite(value):
        return _Data(scope, name, "double", repr(value))
    return _Data(scope, name, "json", _as_json(value))


def _as_json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if _ILLEGAL.search(text) else text


def _graphics(text: str) -> Element | None:
    """The drawing of an element in yEd, where the text is the XML of one and nothing else."""
    if not text.startswith("<") or _ILLEGAL.search(text):
        return None
    whole = f"<graphml><data>{text}</data></graphml>".encode()
    found = list(pieces(Source("", whole[:HEAD], io.BytesIO(whole))))
    if len(found) != 1 or isinstance(found[0], SetAside):
        return None
    element = found[0][0]
    return element if element.children and element.inside() == text else None


def _node_data(record: EntityRecord, id_: str) -> list[_Data]:
    data: list[_Data] = []
    if record.foreign_id is None and id_ == record.name:
        data.append(_typed_data("node", "entity_id", id_))
    elif record.name.strip() and _unquoted(id_) != record.name:
        data.append(_typed_data("node", "label", record.name))
    if record.type is not None:
        data.append(_typed_data("node", "entity_type", record.type))
    if record.observations:
        data.append(_typed_data("node", TEXT, SEPARATOR.join(record.observations)))
    if record.aliases:
        data.append(_typed_data("node", ALIASES, list(record.aliases)))
    return _with(data, "node", record.attributes)


def _edge_data(records: Sequence[RelationRecord]) -> list[_Data]:
    first = records[0]
    data: list[_Data] = []
    if first.predicate != RELATED:
        data.append(_typed_data("edge", "label", first.predicate))
    texts = [record.text for record in records if record.text is not None]
    if texts:
        data.append(_typed_data("edge", TEXT, SEPARATOR.join(texts)))
    if first.confidence != 1.0:
        data.append(_typed_data("edge", CONFIDENCE, float(first.confidence)))
    union = _union([record.attributes for record in records])
    union = {
        key: value
        for key, value in union.items()
        if not (key == "id" and _is_id(value)) and not (key == UNDIRECTED and value is False)
    }
    return _with(data, "edge", union)


def _union(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What is said beside relations that become one edge, as LightRAG joins it."""
    union = dict(parts[0])
    for part in parts[1:]:
        for key, value in part.items():
            had = union.setdefault(key, value)
            if had is value:
                continue
            if key == "weight" and _is_number(had) and _is_number(value):
                union[key] = had + value
            elif key in _JOINS and isinstance(had, str) and isinstance(value, str):
                between = _JOINS[key]
                union[key] = between.join(
                    dict.fromkeys([*had.split(between), *value.split(between)])
                )
    return union


_JOINS: Final = {"keywords": ",", "source_id": SEPARATOR, "file_path": SEPARATOR}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _with(data: list[_Data], scope: str, attributes: dict[str, Any]) -> list[_Data]:
    """The data with what is said beside; a name stands once, and none is ours."""
    taken = {one.name for one in data} | {OWN}
    for name, value in attributes.items():
        if name not in taken and name.strip() == name != "" and not _ILLEGAL.search(name):
            data.append(_typed_data(scope, name, value))
    return data


def _filled(data: list[_Data], scope: str, fill: dict[str, Any]) -> list[_Data]:
    has = {one.name for one in data}
    more = [_typed_data(scope, name, value) for name, value in fill.items() if name not in has]
    return [*data, *more]


def _own(scope: str, said: dict[str, Any]) -> _Data:
    return _Data(scope, OWN, "string", json.dumps(said))


def _identities(number: int, records: Sequence[IdentityRecord]) -> _Data:
    said = []
    for record in records:
        one = asdict(record)
        del one["line"]
        said.append({key: value for key, value in one.items() if value is not None})
    return _Data("graph", f"{IDENTITIES}.{number}", "string", json.dumps(said))


def _said(data: Sequence[_Data]) -> dict[str, Any]:
    """The data as it is read."""
    said: dict[str, Any] = {}
    for one in data:
        if one.type == "yfiles":
            said[one.name] = one.text
            graphics = _graphics(one.text)
            tag = "NodeLabel" if one.scope == "node" else "EdgeLabel"
            label = graphics.first(tag) if graphics else None
            if label is not None and label.text.strip():
                said[_GRAPHIC] = label.text.strip()
        else:
            said[one.name] = _value(one.text, one.type)
    return said
