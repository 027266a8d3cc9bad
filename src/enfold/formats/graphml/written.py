"""A graph as GraphML: what LightRAG, networkx, yEd and others read, and the differences beside.

Names and ids are held, and which ends are joined twice; everything else streams, in two passes.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from enfold.formats.graphml.data import (
    ALIASES,
    CONFIDENCE,
    GRAPHIC,
    GRAPHICS,
    IDENTITIES,
    ILLEGAL,
    INTEGER,
    OWN,
    SEPARATOR,
    TEXT,
    UNDIRECTED,
    entity,
    relations,
    unquoted,
    value_of,
)
from enfold.formats.graphml.xmlpieces import Element, escaped, pieces, quoted
from enfold.formats.remainder import difference
from enfold.formats.source import HEAD, Source
from enfold.intake import RELATED
from enfold.model import EntityRecord, IdentityRecord, RelationRecord, SetAside, Written

if TYPE_CHECKING:
    from enfold.formats import Pieces

IDENTITIES_A_PIECE: Final = 500


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


def lines(records: Pieces) -> Iterator[str]:
    """The file, piece by piece.

    Where no relation has a direction the graph is undirected, and the relations of LightRAG's kind
    (``related to``, without an id) that join one pair go into one ``edge``, which is what LightRAG
    holds of a pair: texts one behind the other, weights summed, sources joined.
    """
    plan = _Plan(records)
    direction = "undirected" if plan.undirected else "directed"
    yield _HEAD + "".join(plan.declared()) + f'  <graph edgedefault="{direction}">\n'
    yield from plan.elements(records)
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

    def __init__(self, records: Pieces) -> None:
        self._by_id: dict[str, str] = {}  # a source's id → the element's
        self._by_name: dict[str, str] = {}
        self._said: dict[str, tuple[str, str | None]] = {}  # the element's id → what it stands for
        self._odd: dict[int, str] = {}  # ids of elements that are not what one would expect
        self._count: dict[str, int] = {}
        self._ends: list[str] = []
        self._keys: dict[tuple[str, str, str], str] = {}
        self._pairs: dict[frozenset[str], int] = {}
        self.undirected = True
        self._look(records())

    def _look(self, records: Iterable[Written]) -> None:
        sources = foreign = False
        entities = identities = 0
        for scope in ("node", "edge"):
            self._declare([_Data(scope, OWN, "string", "")])
        for piece in records:
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
        legal = ILLEGAL.sub("\ufffd", wanted) if wanted.strip() else "enfold"
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

    def elements(self, records: Pieces) -> Iterator[str]:
        at = number = 0
        ended = False
        identities: list[IdentityRecord] = []
        open_: dict[frozenset[str], list[RelationRecord]] = {}
        for piece in records():
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
        got = entity(id_, _said(data), record.line)
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
        got = relations(said | direction, _said(data), *ends, records[0].line)
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
    return isinstance(value, str) and bool(value) and not ILLEGAL.search(value)


# ---- data of elements ----

_XML_TYPES: Final = {"json": "string"}


def _typed_data(scope: str, name: str, value: Any) -> _Data:
    """A value as the text of a type that says what it is."""
    if isinstance(value, str):
        if name == GRAPHICS[scope] and _graphics(value) is not None:
            return _Data(scope, name, "yfiles", value)
        return _Data(scope, name, "string", ILLEGAL.sub("\ufffd", value))
    if isinstance(value, bool):
        return _Data(scope, name, "boolean", str(value).lower())
    if isinstance(value, int) and INTEGER.fullmatch(str(value)):
        return _Data(scope, name, "long", str(value))
    if isinstance(value, float) and math.isfinite(value):
        return _Data(scope, name, "double", repr(value))
    return _Data(scope, name, "json", _as_json(value))


def _as_json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if ILLEGAL.search(text) else text


def _graphics(text: str) -> Element | None:
    """The drawing of an element in yEd, where the text is the XML of one and nothing else."""
    if not text.startswith("<") or ILLEGAL.search(text):
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
    elif record.name.strip() and unquoted(id_) != record.name:
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
        if name not in taken and name.strip() == name != "" and not ILLEGAL.search(name):
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
                said[GRAPHIC] = label.text.strip()
        else:
            said[one.name] = value_of(one.text, one.type)
    return said
