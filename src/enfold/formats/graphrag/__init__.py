"""GraphRAG's tables, as Parquet and as CSV: one of them, or the folder of an index.

Tables are told by their columns, so that every release's file names will do.

==============  =================================================================================
entities        title (name in the first releases), type, description; text_unit_ids, frequency,
                degree ...
relationships   source and target (titles), description, weight, combined_degree, text_unit_ids ...
text units      id, text, n_tokens, document_id or document_ids, entity_ids ...
identities      enfold's own: left, right, same
==============  =================================================================================

A text unit is evidence for the entities that list it. It becomes an observation of the first of
them; an import finds the others in its text by name, so that the text is stored once. What else
the text unit says is kept under ``text_unit:ID``, with a digest by which an export finds its text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from enfold.errors import Invalid
from enfold.formats import csvrows, parquet
from enfold.formats.columns import is_vector
from enfold.formats.graphrag.rows import OWNER, entity, relation, typed
from enfold.formats.graphrag.written import write_folder
from enfold.formats.held import Held
from enfold.formats.identities import identity
from enfold.formats.source import Source, files_in, opened
from enfold.formats.storable import CHANGED, is_storable
from enfold.formats.textunits import TextUnit
from enfold.formats.values import as_text, named
from enfold.model import Note, Record, SetAside

NAME: Final = "graphrag"

ENTITIES: Final = "entities"
RELATIONSHIPS: Final = "relationships"
TEXT_UNITS: Final = "text units"
IDENTITIES: Final = "identities"
UNREADABLE: Final = "unreadable"

_OF_ENTITIES = frozenset({"type", "description", "text_unit_ids", "degree"})
_OF_RELATIONSHIPS = frozenset({"description", "weight", "text_unit_ids"})
_OF_TEXT_UNITS = frozenset(
    {"n_tokens", "document_id", "document_ids", "entity_ids", "relationship_ids"}
)
_OWN = frozenset({"text_unit_ids", "human_readable_id", *_OF_TEXT_UNITS})


@dataclass(frozen=True, slots=True)
class _Layout:
    """A table in CSV: what is between its cells, its columns, and which table it is."""

    delimiter: str
    columns: tuple[str, ...]
    kind: str


# ---- what a file is ----


def recognises(head: bytes, path: Path | None = None) -> bool:
    """Whether these first bytes begin a Parquet file, whatever is in it, or a table in CSV with
    columns that only GraphRAG gives."""
    return head.startswith(parquet.MAGIC) or _layout(head) is not None


def relations_alone(head: bytes) -> bool:
    """Whether a table in CSV is one of relationships. What Parquet holds stands at its end."""
    layout = _layout(head)
    return layout is not None and layout.kind == RELATIONSHIPS


def recognises_folder(path: Path) -> bool:
    """Whether a folder holds a table of entities or of relationships."""
    found = {kind for kind, _ in _tables(path)}
    return bool(found & {ENTITIES, RELATIONSHIPS})


def _kind(columns: Sequence[str]) -> str:
    """Which table has these columns; "" for none of them. Communities, their reports and documents
    have titles too, and are no entities."""
    has = set(columns)
    if has >= {"left", "right", "same"}:
        return IDENTITIES
    if has >= {"source", "target"} and has & _OF_RELATIONSHIPS:
        return RELATIONSHIPS
    if has >= {"id", "text"} and has & _OF_TEXT_UNITS and not has & {"title", "name"}:
        return TEXT_UNITS
    named = has & {"title", "name"} and not has & {"community", "text", "source", "target"}
    return ENTITIES if named and has & _OF_ENTITIES else ""


def _layout(head: bytes) -> _Layout | None:
    """The layout of a table in CSV; as a text has any columns, only GraphRAG's own tell."""
    for delimiter in csvrows.DELIMITERS:
        columns = tuple(column.strip() for column in csvrows.header(head, delimiter))
        kind = _kind(columns)
        if kind and kind != IDENTITIES and _OWN & set(columns):
            return _Layout(delimiter, columns, kind)
    return None


def _tables(folder: Path) -> Iterator[tuple[str, Path]]:
    """(kind, file) of each table in a folder, by name; Parquet that can't be read is of the kind
    ``UNREADABLE``."""
    for path, head in files_in(folder):
        if head.startswith(parquet.MAGIC):
            try:
                kind = _kind(parquet.names(path))
            except Invalid:
                kind = UNREADABLE
        else:
            layout = _layout(head)
            kind = layout.kind if layout else ""
        if kind:
            yield kind, path


# ---- reading ----


def read(source: Source) -> Iterator[Record]:
    """The records of one table in CSV.

    Raises:
        Invalid: ``unrecognised_format``.
    """
    layout = _layout(source.head)
    if layout is None:
        raise _no_table(source.name, ())
    kind = _only(source.name, layout.columns)
    yield from _records(source.name, kind, _csv_rows(source, layout), None)


def read_path(path: Path) -> Iterator[Record]:
    """The records of one table, or of a folder: entities with their texts, then relationships.

    The texts wait in a temporary file; their ids are held.

    Raises:
        Invalid: ``unrecognised_format``, ``unreadable_file`` or what ``source.opened`` raises.
    """
    if path.is_dir():
        yield from _folder(path)
        return
    kind = _only(path.name, _columns(path))
    yield from _records(path.name, kind, _rows(path), None)


def _columns(path: Path) -> tuple[str, ...]:
    with path.open("rb") as file:
        if file.read(4) in parquet.MAGIC:
            return parquet.names(path)
    with opened(path) as source:
        layout = _layout(source.head)
        return layout.columns if layout else ()


def _only(name: str, columns: Sequence[str]) -> str:
    """What a file that stands alone holds."""
    kind = _kind(columns)
    if kind == TEXT_UNITS:
        raise Invalid(
            "unrecognised_format",
            f"{name} holds text units alone, whose entities are in another file; give the folder "
            "that holds both.",
            path=name,
        )
    if not kind:
        raise _no_table(name, columns)
    return kind


def _no_table(name: str, columns: Sequence[str]) -> Invalid:
    has = f"has the columns {', '.join(columns[:8])}" if columns else "has no such columns"
    return Invalid(
        "unrecognised_format",
        f"{name} is no table of a graph: it {has}. Entities have a title or name, and a type, "
        "description, degree or text_unit_ids; relationships have a source and a target, and a "
        "description, weight or text_unit_ids.",
        path=name,
    )


def _folder(folder: Path) -> Iterator[Record]:
    tables = list(_tables(folder))
    if not {kind for kind, _ in tables} & {ENTITIES, RELATIONSHIPS}:
        raise _no_table(folder.name, ())
    with _Texts() as texts:
        for kind, path in tables:
            if kind == TEXT_UNITS:
                yield from texts.take(path.name, _rows(path))
            elif kind == UNREADABLE:
                yield _unread(path)
        for wanted in (ENTITIES, RELATIONSHIPS, IDENTITIES):
            for kind, path in tables:
                if kind == wanted:
                    yield from _records(path.name, kind, _rows(path), texts)
        yield from texts.left()


def _unread(path: Path) -> SetAside:
    try:
        parquet.names(path)
    except Invalid as error:
        return SetAside(path.name, 0, str(error), "")
    return SetAside(path.name, 0, "The file changed while it was read.", "")


_Rows = Iterator[parquet.Row | SetAside]


def _rows(path: Path) -> _Rows:
    with path.open("rb") as file:
        is_parquet = file.read(4) in parquet.MAGIC
    if is_parquet:
        yield from parquet.rows(path)
        return
    with opened(path) as source:
        if layout := _layout(source.head):
            yield from _csv_rows(source, layout)


def _csv_rows(source: Source, layout: _Layout) -> _Rows:
    for row in csvrows.rows(source, layout.delimiter, len(layout.columns)):
        if isinstance(row, SetAside):
            yield row
        else:
            cells = zip(layout.columns, row.cells, strict=True)
            yield parquet.Row(row.line, {name: cell for name, cell in cells if cell and name})


def _records(name: str, kind: str, rows: _Rows, texts: _Texts | None) -> Iterator[Record]:
    told: set[str] = set()
    for row in rows:
        if isinstance(row, SetAside):
            yield row
            continue
        yield from _told(name, row, told)
        cells = typed(row.cells)
        if kind == ENTITIES:
            units = texts.claimed(row.line, cells) if texts else ()
            yield from entity(name, row.line, cells, units)
        elif kind == RELATIONSHIPS:
            yield from relation(name, row.line, cells)
        else:
            yield from identity(name, row.line, cells)


def _told(name: str, row: parquet.Row, told: set[str]) -> Iterator[Note]:
    """What is changed of a row, said once of a column of vectors."""
    for column, value in row.cells.items():
        if is_vector(column, value) and column not in told:
            told.add(column)
            why = f"The column {column!r} holds vectors, which are made from the texts: not kept."
            yield Note(name, row.line, why, column)
        if not is_storable(value):
            yield Note(name, row.line, CHANGED, as_text(value))


class _Texts:
    """Text units on their way to the entities that list them, in a temporary file; what is held is
    where each one is, by its id."""

    def __init__(self) -> None:
        self._held = Held()
        self._at: dict[str, tuple[int, int, str]] = {}  # place, line, source
        self._owned: dict[int, list[str]] = {}
        self._first: dict[str, list[str]] = {}

    def __enter__(self) -> _Texts:
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

    def take(self, source: str, rows: _Rows) -> Iterator[SetAside]:
        """Keep the texts of a table; what is none is set aside."""
        for row in rows:
            if isinstance(row, SetAside):
                yield row
                continue
            cells = typed(row.cells)
            unit_id, text = named(cells.pop("id", None)), cells.pop("text", None)
            if not unit_id or not isinstance(text, str) or not text.strip():
                why = "The text unit has no id or no text."
                yield SetAside(source, row.line, why, as_text(cells))
            elif unit_id in self._at:
                why = f"Another text unit has the id {unit_id!r}."
                yield SetAside(source, row.line, why, text)
            else:
                self._keep(source, row.line, unit_id, text, cells)

    def _keep(self, source: str, line: int, unit_id: str, text: str, cells: dict[str, Any]) -> None:
        owner = cells.pop(OWNER, None)
        entities = cells.get("entity_ids")
        if isinstance(owner, int):
            self._owned.setdefault(owner, []).append(unit_id)
        elif isinstance(entities, list) and entities and isinstance(entities[0], str):
            self._first.setdefault(entities[0], []).append(unit_id)
        self._at[unit_id] = (self._held.add([text, cells]), line, source)

    def claimed(self, line: int, cells: dict[str, Any]) -> list[TextUnit]:
        """The texts of an entity that no entity before had: those that are its own by row, else
        those that it lists, or that list it first."""
        wanted: list[Any]
        if self._owned:
            wanted = self._owned.get(line, [])
        else:
            listed = cells.get("text_unit_ids")
            wanted = list(listed) if isinstance(listed, list) else []
            wanted += self._first.get(str(cells.get("id", "")), ())
        if not named(cells.get("title", cells.get("name"))):
            return []
        found = []
        for unit_id in wanted:
            if isinstance(unit_id, str) and (at := self._at.pop(unit_id, None)):
                found.append(self._read(unit_id, at[0]))
        return found

    def _read(self, unit_id: str, place: int) -> TextUnit:
        return TextUnit(unit_id, *self._held.at(place))

    def left(self) -> Iterator[SetAside]:
        """The texts that no entity has."""
        for unit_id, (place, line, source) in self._at.items():
            text = self._read(unit_id, place).text
            yield SetAside(source, line, "No entity lists this text unit.", text)


__all__ = [
    "NAME",
    "read",
    "read_path",
    "recognises",
    "recognises_folder",
    "relations_alone",
    "write_folder",
]
