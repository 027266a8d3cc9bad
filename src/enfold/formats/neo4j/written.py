"""A graph as tables for ``neo4j-admin database import``.

Texts have newlines in them, so that the importer needs ``--multiline-fields=true``. An array whose
elements hold a ``;`` has no place in a cell; it stands in ``enfold_more``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from enfold.formats.columns import NUMBER, TEXT, TEXTS, Columns
from enfold.formats.identities import COLUMNS, cells_of
from enfold.formats.neo4j import tables
from enfold.formats.neo4j.graph import (
    ALIASES,
    CONFIDENCE,
    END,
    FACTS,
    NAMES,
    PLACES,
    UUID,
    Ends,
    Link,
    Thing,
    entity,
    relation,
    type_of,
)
from enfold.formats.neo4j.graph import (
    TEXTS as SAID,
)
from enfold.formats.remainder import FIELD, JOINT, remainder
from enfold.formats.storable import storable
from enfold.model import EntityRecord, IdentityRecord, RelationRecord, Written

if TYPE_CHECKING:
    from enfold.formats import Pieces

THINGS: Final = "nodes.csv"
LINKS: Final = "relationships.csv"
IDENTITIES: Final = "enfold_identities.csv"

_PLAIN = re.compile(r"[^:{}()\[\]\"'\\\r\n;,|\t]+")
_RESERVED: Final = frozenset({"_id", "_labels", "_start", "_end", "_type", FIELD, PLACES})


def write_folder(pieces: Pieces, folder: Path) -> None:
    """Write the tables into a folder; one of identities only where there are some. The names and
    ids of entities are held."""
    shape = _Shape()
    for piece in pieces():
        shape.see(piece)
    with (
        (folder / THINGS).open("w", encoding="utf-8", newline="") as things,
        (folder / LINKS).open("w", encoding="utf-8", newline="") as links,
    ):
        made = _Tables(shape, things, links)
        for piece in pieces():
            made.add(piece)
    if shape.identities:
        with (folder / IDENTITIES).open("w", encoding="utf-8", newline="") as out:
            out.write(tables.line(COLUMNS))
            for piece in pieces():
                if isinstance(piece, IdentityRecord):
                    out.write(_identity(piece))


def _places(attributes: Mapping[str, Any]) -> dict[str, Any]:
    places = attributes.get(PLACES)
    return places if isinstance(places, dict) else {}


class _Shape:
    """What a first look at the records tells: the columns, and where names and texts stood."""

    def __init__(self) -> None:
        own = {NAMES[0]: TEXT, SAID[0]: TEXT, ALIASES: TEXTS}
        self.things = Columns(own, _RESERVED, _PLAIN)
        stated = {"description": TEXT, CONFIDENCE: NUMBER}
        self.links = Columns(stated, _RESERVED, _PLAIN)
        self.identities = False

    def see(self, piece: Written) -> None:
        if isinstance(piece, EntityRecord):
            places = _places(piece.attributes)
            for role, known in (("name", NAMES), ("text", SAID[:2]), ("id", (UUID,))):
                if places.get(role) in known:
                    self.things.see({places[role]: "text"})
            self.things.see(piece.attributes)
        elif isinstance(piece, RelationRecord):
            places = _places(piece.attributes)
            if places.get("text") in FACTS:
                self.links.see({places["text"]: "text"})
            if "type" in places:
                self.links.see({"name": "text"})
            self.links.see(piece.attributes)
        else:
            self.identities = True


class _Tables:
    def __init__(self, shape: _Shape, things: TextIO, links: TextIO) -> None:
        self._ends = Ends()
        self._count: Counter[str] = Counter()
        self._things = _Table(things, (":ID", ":LABEL"), shape.things)
        self._links = _Table(links, (":START_ID", ":END_ID", ":TYPE"), shape.links)

    def add(self, piece: Written) -> None:
        if isinstance(piece, EntityRecord):
            self._entity(piece)
        elif isinstance(piece, RelationRecord):
            self._relation(piece)

    def _entity(self, record: EntityRecord) -> None:
        wanted = storable(record.foreign_id or "")
        key = self._ends.add(record.name, record.foreign_id, wanted)
        table, places = self._things, _places(record.attributes)
        said = table.fitting(record.attributes)
        for name in (NAMES[0], SAID[0], ALIASES):
            said.pop(name, None)
        said[table.place(places, "name", NAMES)] = storable(record.name)
        if record.observations:
            text = storable(JOINT.join(record.observations))
            said[table.place(places, "text", SAID[:2])] = text
        if record.aliases:
            said[ALIASES] = [storable(alias) for alias in record.aliases]
        if places.get("id") == UUID and table.kinds.get(UUID) == TEXT:
            said[UUID] = key
        labels = _labels(record.type, places.get("labels"))
        row, thing = table.row((key, tables.ARRAY.join(labels)), said)
        assert isinstance(thing, Thing)
        plain = entity(thing, thing.properties)
        if plain is None:  # the name is blank to a reader
            plain = EntityRecord(record.line, record.name)
        table.write(row, remainder(record, plain, record.observations))

    def _relation(self, record: RelationRecord) -> None:
        table, places = self._links, _places(record.attributes)
        start = self._end(record.subject, record.subject_id)
        end = self._end(record.object, record.object_id)
        said = table.fitting(record.attributes)
        for name in ("description", CONFIDENCE):
            said.pop(name, None)
        if record.text is not None:
            said[table.place(places, "text", FACTS, "description")] = storable(record.text)
        if record.confidence != 1.0:
            said[CONFIDENCE] = float(record.confidence)
        kind = places.get("type")
        if isinstance(kind, str) and kind.strip() and table.kinds.get("name") == TEXT:
            said["name"] = storable(record.predicate)
        else:
            kind = record.predicate
        row, link = table.row((start, end, storable(kind)), said)
        assert isinstance(link, Link)
        shown = [self._ends.end(start, record.subject), self._ends.end(end, record.object)]
        table.write(row, remainder(record, relation(link, link.properties, *shown)))

    def _end(self, name: str, foreign_id: str | None) -> str:
        """The key of a relation's end; an end that nothing else names gets a row that says so."""
        key = self._ends.find(name, foreign_id)
        if key is None:
            key = self._ends.add(name, foreign_id, storable(foreign_id or ""))
            row, _ = self._things.row((key, ""), {NAMES[0]: storable(name)})
            self._things.write(row, END)
        return key


def _labels(type_: str | None, labels: Any) -> list[str]:
    """The labels as they were, if they still say the type; else the type alone."""
    if isinstance(labels, list) and all(isinstance(label, str) for label in labels):
        kept = [storable(label) for label in labels if tables.ARRAY not in label]
        if type_of(kept) == type_:
            return kept
    return [storable(type_).replace(tables.ARRAY, ",")] if type_ else []


class _Table:
    """A file with its header, whose rows are read as they are written."""

    def __init__(self, out: TextIO, ends: tuple[str, ...], columns: Columns) -> None:
        self.kinds = columns.kinds()
        self._columns, self._out = columns, out
        titles = (*ends, *tables.titles(self.kinds), FIELD)
        out.write(",".join(titles) + "\n")
        made = tables.header((",".join(titles) + "\n").encode())
        assert made is not None
        self._rows = tables.Rows("", made)

    def fitting(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """The attributes that have a column and fit it."""
        return self._columns.cells(attributes)

    def place(
        self, places: Mapping[str, Any], role: str, known: tuple[str, ...], usual: str = ""
    ) -> str:
        """The property that held a part of the record, if it may again; else the usual one."""
        name = places.get(role)
        fit = isinstance(name, str) and name in known and self.kinds.get(name) == TEXT
        return str(name) if fit else usual or known[0]

    def row(self, ends: tuple[str, ...], said: Mapping[str, Any]) -> tuple[list[str], object]:
        """(the cells but for the last, what reading them gives)"""
        cells = [*ends, *(self._cell(said.get(name)) for name in self.kinds)]
        (piece,) = self._rows.piece(0, [*cells, ""])
        return cells, piece

    def _cell(self, value: Any) -> str:
        return "" if value is None else storable(tables.cell(value))

    def write(self, cells: list[str], more: str) -> None:
        self._out.write(tables.line([*cells, more]))


def _identity(record: IdentityRecord) -> str:
    cells = cells_of(record)
    cells["same"] = tables.cell(record.same)
    return tables.line([cells.get(column, "") for column in COLUMNS])
