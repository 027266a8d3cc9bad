"""A graph as the tables of a GraphRAG index: Parquet files with the columns of its releases 1 to 3.

What the columns can't say stands in columns of enfold's own; what GraphRAG needs and the graph does
not have (an id, a degree) is made up, and marked so that it is not read back.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from enfold.formats import parquet, textunits
from enfold.formats.columns import INTEGER, NUMBER, TEXT, TEXTS, TRUTH, Columns
from enfold.formats.graphrag.rows import (
    ALIASES,
    CONFIDENCE,
    OWNER,
    PREDICATE,
    SOURCE_ID,
    TARGET_ID,
    entity,
    relation,
    typed,
)
from enfold.formats.identities import COLUMNS, cells_of
from enfold.formats.remainder import FIELD, JOINT, remainder
from enfold.formats.storable import storable
from enfold.formats.textunits import TextUnit, digest
from enfold.intake import RELATED, statement
from enfold.model import EntityRecord, RelationRecord, Written

if TYPE_CHECKING:
    from enfold.formats import Pieces

ENTITIES: Final = "entities.parquet"
RELATIONSHIPS: Final = "relationships.parquet"
TEXT_UNITS: Final = "text_units.parquet"
IDENTITIES: Final = "enfold_identities.parquet"

_ENTITY: Final = {
    "id": TEXT,
    "human_readable_id": INTEGER,
    "title": TEXT,
    "type": TEXT,
    "description": TEXT,
    "text_unit_ids": TEXTS,
    "frequency": INTEGER,
    "degree": INTEGER,
}
_RELATION: Final = {
    "id": TEXT,
    "human_readable_id": INTEGER,
    "source": TEXT,
    "target": TEXT,
    "description": TEXT,
    "weight": NUMBER,
    "combined_degree": INTEGER,
    "text_unit_ids": TEXTS,
}
_TEXT_UNIT: Final = {
    "id": TEXT,
    "human_readable_id": INTEGER,
    "text": TEXT,
    "n_tokens": INTEGER,
    "entity_ids": TEXTS,
    "relationship_ids": TEXTS,
    "covariate_ids": TEXTS,
}
_IDENTITY: Final = dict.fromkeys(COLUMNS, TEXT) | {"same": TRUTH}
_SAID: Final = frozenset({"id", "title", "name", "type", "description"})
_STATED: Final = frozenset({"source", "target", "description"})
_TEXT: Final = frozenset({"id", "text", "title", "name"})
_ELSEWHERE: Final = frozenset({"community", "source", "target", "text", "left", "right", "same"})
"""Columns that would make a table look like another."""


def write_folder(pieces: Pieces, folder: Path) -> None:
    """Write the tables into a folder: entities and relationships, text units and identities where
    there are some. The names of relations' ends and the ids of text units are held."""
    shape = _Shape()
    for piece in pieces():
        shape.see(piece)
    with ExitStack() as stack:
        tables = _Tables(folder, shape, stack)
        for piece in pieces():
            tables.add(piece)


class _Shape:
    """What a first look at the records tells: columns and degrees."""

    def __init__(self) -> None:
        elsewhere = _ELSEWHERE | {"source", "target"}
        self.entities = Columns(_ENTITY, _SAID | elsewhere)
        self.relations = Columns(_RELATION, _STATED | {"title", "name", "same"})
        self.units = Columns(_TEXT_UNIT, _TEXT | elsewhere)
        self.degrees: Counter[str] = Counter()
        self.identities = False
        self.texts = False

    def see(self, piece: Written) -> None:
        if isinstance(piece, EntityRecord):
            self.entities.see(textunits.without(piece))
            for _, _, beside in textunits.kept_with(piece):
                self.texts = True
                self.units.see(beside)
        elif isinstance(piece, RelationRecord):
            self.relations.see(piece.attributes)
            self.degrees[piece.subject] += 1
            self.degrees[piece.object] += 1
        else:
            self.identities = True


class _Tables:
    def __init__(self, folder: Path, shape: _Shape, stack: ExitStack) -> None:
        self._shape = shape
        own = {ALIASES: TEXTS, FIELD: TEXT}
        ends = {PREDICATE: TEXT, CONFIDENCE: NUMBER, SOURCE_ID: TEXT, TARGET_ID: TEXT, FIELD: TEXT}

        def opened(name: str, kinds: dict[str, str]) -> parquet.Writer:
            return stack.enter_context(parquet.Writer(folder / name, kinds))

        self._entities = opened(ENTITIES, shape.entities.kinds() | own)
        self._relations = opened(RELATIONSHIPS, shape.relations.kinds() | ends)
        self._units = (
            opened(TEXT_UNITS, shape.units.kinds() | {OWNER: INTEGER}) if shape.texts else None
        )
        self._identities = opened(IDENTITIES, _IDENTITY) if shape.identities else None
        self._rows: Counter[str] = Counter()
        self._written: set[str] = set()

    def add(self, piece: Written) -> None:
        if isinstance(piece, EntityRecord):
            self._entity(piece)
        elif isinstance(piece, RelationRecord):
            self._relation(piece)
        elif self._identities is not None:
            self._identities.add(cells_of(piece))

    def _count(self, table: str) -> int:
        self._rows[table] += 1
        return self._rows[table]

    def _entity(self, record: EntityRecord) -> None:
        row = self._count(ENTITIES)
        said, units = self._texts(record)
        own_id = record.foreign_id
        degree = self._shape.degrees[record.name]
        made: dict[str, Any] = {"human_readable_id": row - 1, "text_unit_ids": []}
        made |= {"frequency": 0, "degree": degree}
        cells = made | self._shape.entities.cells(textunits.without(record))
        cells["id"] = storable(own_id) if own_id else _made_id("entity", row, record.name)
        cells["title"] = storable(record.name)
        if record.type is not None:
            cells["type"] = storable(record.type)
        if said:
            cells["description"] = storable(JOINT.join(said))
        if record.aliases:
            cells[ALIASES] = [storable(alias) for alias in record.aliases]
        laid = (*said, *(unit.text for unit in units))
        _finish(cells, record, entity("", record.line, typed(cells), units), laid)
        self._entities.add(cells)
        for unit in units:
            self._unit(unit, row, str(cells["id"]))

    def _texts(self, record: EntityRecord) -> tuple[list[str], list[TextUnit]]:
        """(observations that are descriptions, those that are text units)"""
        said: list[str] = list(record.observations)
        units: list[TextUnit] = []
        if self._units is None:
            return said, units
        cells = self._shape.units.cells
        for unit_id, wanted, beside in textunits.kept_with(record):
            text = next((text for text in said if digest(text) == wanted), "")
            if text.strip() and storable(text) == text and unit_id not in self._written:
                self._written.add(unit_id)
                said.remove(text)
                units.append(TextUnit(unit_id, text, typed(cells(beside))))
        return said, units

    def _unit(self, unit: TextUnit, owner: int, entity_id: str) -> None:
        assert self._units is not None
        self._count(TEXT_UNITS)
        self._units.add(unit.beside | {"id": unit.id, "text": unit.text, OWNER: owner})

    def _relation(self, record: RelationRecord) -> None:
        row = self._count(RELATIONSHIPS)
        degrees = self._shape.degrees
        made: dict[str, Any] = {"human_readable_id": row - 1, "weight": 1.0, "text_unit_ids": []}
        made["id"] = _made_id("relationship", row, record.subject, record.object)
        made["combined_degree"] = degrees[record.subject] + degrees[record.object]
        cells = made | self._shape.relations.cells(record.attributes)
        plain = statement(record.subject, record.predicate, record.object)
        cells["description"] = storable(plain if record.text is None else record.text)
        cells["source"], cells["target"] = storable(record.subject), storable(record.object)
        if record.predicate != RELATED:
            cells[PREDICATE] = storable(record.predicate)
        if record.confidence != 1.0:
            cells[CONFIDENCE] = float(record.confidence)
        for column, end in ((SOURCE_ID, record.subject_id), (TARGET_ID, record.object_id)):
            if end is not None:
                cells[column] = storable(end)
        _finish(cells, record, relation("", record.line, typed(cells)))
        self._relations.add(cells)


def _finish(cells: dict[str, Any], record: Any, read: Iterable[Any], laid: Any = ()) -> None:
    """Put in what reading the cells would not give."""
    (plain,) = read
    if more := remainder(record, plain, laid):
        cells[FIELD] = more


def _made_id(*parts: object) -> str:
    """An id for what has none; the same for the same row of the same graph."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "enfold:" + ":".join(map(repr, parts))))
