"""The CSV of Neo4j's importer, and of APOC's export: headers that say what each column is.

``personId:ID(Person),name,age:int,:LABEL`` and ``:START_ID(Person),:END_ID(Person),:TYPE``: a
property and its type, an id and the space it is unique in. A header may stand in a file apart:
``people_header.csv`` for ``people.csv``, ``people1.csv`` ...
"""

from __future__ import annotations

import dataclasses
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from enfold.formats import columns, csvrows
from enfold.formats.neo4j.graph import Graph, Link, Thing
from enfold.formats.source import Source, opened
from enfold.intake import RELATED
from enfold.model import Note, Record, SetAside

ARRAY: Final = ";"
"""What stands between the elements of an array, and between labels, unless it is the delimiter."""

_FIELD = re.compile(
    r"(?P<name>.*?):(?P<kind>[A-Za-z_]+)(?:\((?P<space>[^()]*)\))?(?:\{.*\})?(?P<array>\[\])?",
    re.DOTALL,
)
_ROLES = {
    "ID": "id",
    "LABEL": "label",
    "START_ID": "start",
    "END_ID": "end",
    "TYPE": "type",
    "IGNORE": "ignore",
}
_APOC = {"_id": "id", "_labels": "labels", "_start": "start", "_end": "end", "_type": "type"}
_INTEGERS = frozenset({"int", "long", "byte", "short"})
_NUMBERS = frozenset({"float", "double"})
_OTHERS = (
    "boolean char string point date localtime time localdatetime datetime duration vector".split()
)
_KINDS = _INTEGERS | _NUMBERS | frozenset(_OTHERS)
_HEADER = re.compile(r"[-_. ]*headers?[-_. ]*", re.IGNORECASE)
_INTEGER = re.compile(r"[+-]?\d{1,60}")


@dataclass(frozen=True, slots=True)
class Field:
    """A column: what it is for (``property``, ``id``, ``label`` ...), what it is called, the type
    of its values, whether they are arrays, and its id space."""

    role: str
    name: str = ""
    kind: str = "string"
    array: bool = False
    space: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a file, and what is between them."""

    columns: tuple[str, ...]
    fields: tuple[Field, ...]
    delimiter: str

    @property
    def array(self) -> str:
        return ARRAY if self.delimiter != ARRAY else ","

    def has(self, role: str) -> bool:
        return any(field.role == role for field in self.fields)

    @property
    def spaces(self) -> frozenset[str]:
        """The id spaces that the header names."""
        return frozenset(field.space for field in self.fields if field.space)


def header(head: bytes) -> Header | None:
    """The header that a text begins with, or None where that is none of Neo4j's."""
    for delimiter in csvrows.DELIMITERS:
        names = csvrows.header(head, delimiter)
        made = Header(tuple(names), tuple(map(_field, names)), delimiter)
        if made.has("id") or (made.has("start") and made.has("end")):
            return made
    return None


def _field(written: str) -> Field:
    written = written.strip()
    if written in _APOC:
        return Field(_APOC[written], array=written == "_labels")
    found = _FIELD.fullmatch(written)
    if found is None:
        return Field("property" if written else "ignore", written)
    kind, array = found["kind"], found["array"] is not None
    if kind in _ROLES:
        return Field(_ROLES[kind], found["name"], "string", array, (found["space"] or "").strip())
    if kind.casefold() in _KINDS and found["name"]:
        return Field("property", found["name"], kind.casefold(), array)
    return Field("property", written)


# ---- rows ----


@dataclass
class Rows:
    """How the rows of a file become things and links.

    Args:
        qualified: whether ids are written with their space, as several spaces are in use.
    """

    source: str
    header: Header
    qualified: bool = False

    def pieces(self, source: Source) -> Iterator[Thing | Link | SetAside]:
        for row in csvrows.rows(source, self.header.delimiter, len(self.header.columns)):
            if isinstance(row, SetAside):
                yield row
            else:
                yield from self.piece(row.line, row.cells, row.text)

    def piece(
        self, line: int, cells: Sequence[str], text: str = ""
    ) -> Iterator[Thing | Link | SetAside]:
        """What a row says; a cell that is not of its column's type stays text, with a note."""
        ids: dict[str, list[Field]] = {}
        said: dict[str, str] = {}
        labels: list[str] = []
        properties: dict[str, Any] = {}
        for field, cell in zip(self.header.fields, cells, strict=True):
            if cell == "" or field.role == "ignore":
                continue
            if field.role in ("id", "start", "end"):
                ids.setdefault(field.role, []).append(field)
                said[field.role] = said.get(field.role, "") + cell
            elif field.role == "type":
                said["type"] = cell
            elif field.role == "label":
                labels += [part for part in cell.split(self.header.array) if part.strip()]
            elif field.role == "labels":
                labels += [part for part in cell.split(":") if part.strip()]
            if field.role == "property" or (field.role == "id" and field.name):
                value = self._value(field, cell)
                properties[field.name] = cell if value is None else value
                if value is None:
                    kind = f"{field.kind}{'[]' * field.array}"
                    why = f"{cell[:40]!r} in {field.name!r} is no {kind}; it is kept as text."
                    yield Note(self.source, line, why, text)
        yield from self._made(line, ids, said, labels, properties, text)

    def _made(
        self,
        line: int,
        ids: Mapping[str, Sequence[Field]],
        said: Mapping[str, str],
        labels: list[str],
        properties: dict[str, Any],
        text: str,
    ) -> Iterator[Thing | Link | SetAside]:
        space = {role: fields[0].space for role, fields in ids.items()}
        if "start" in said and "end" in said:
            ends = [(space[role], said[role]) for role in ("start", "end")]
            keys, names = [_key(*end) for end in ends], [self._id(*end) for end in ends]
            kind = said.get("type", RELATED)
            yield Link(line, kind, keys[0], keys[1], properties, (names[0], names[1]))
        elif "start" in said or "end" in said or not self.header.has("id"):
            yield SetAside(self.source, line, "The row lacks one of its two ends.", text)
        elif "id" not in said:
            yield SetAside(self.source, line, "The row has no id.", text)
        else:
            if not labels and space["id"] and not self.header.has("label"):
                labels = [space["id"]]
            key, shown = _key(space["id"], said["id"]), self._id(space["id"], said["id"])
            yield Thing(line, (key,), tuple(labels), properties, shown)

    def _id(self, space: str, said: str) -> str:
        return f"{space}:{said}" if self.qualified and space else said

    def _value(self, field: Field, cell: str) -> Any:
        if not field.array:
            return _one(field.kind, cell)
        parts = [_one(field.kind, part) for part in cell.split(self.header.array)]
        return None if any(part is None for part in parts) else parts


def _key(space: str, said: str) -> str:
    return f"{space}\0{said}"


def _one(kind: str, cell: str) -> Any:
    """A value of a type; None for a text that is none."""
    if kind in _INTEGERS:
        return int(cell) if _INTEGER.fullmatch(cell.strip()) else None
    if kind in _NUMBERS:
        try:
            number = float(cell)
        except ValueError:
            return None
        return number if math.isfinite(number) else None
    if kind == "boolean":
        return {"true": True, "false": False}.get(cell.strip().casefold())
    return cell


# ---- files ----


@dataclass(frozen=True, slots=True)
class Part:
    """A file of a folder, with its header, which stands in ``apart`` if not in the file."""

    path: Path
    header: Header
    apart: Path | None = None

    @property
    def has_links(self) -> bool:
        return not self.header.has("id")


def parts(files: Sequence[tuple[Path, bytes]]) -> tuple[list[Part], list[Path]]:
    """(the tables among these files and their first bytes, the other files)"""
    found: list[Part] = []
    apart: list[tuple[str, Path, Header]] = []
    rest: list[Path] = []
    for path, head in files:
        made = header(head)
        if made is None:
            rest.append(path)
        elif _is_alone(head):
            apart.append((_HEADER.sub("", path.stem).casefold(), path, made))
        else:
            found.append(Part(path, made))
    left, used = [], set()
    heads = dict(files)
    for path in rest:
        fitting = [one for one in apart if _is_under(path, heads[path], one)]
        if fitting:
            _, at, made = max(fitting, key=lambda one: len(one[0]))
            found.append(Part(path, made, at))
            used.add(at)
        else:
            left.append(path)
    found += [Part(path, made) for _, path, made in apart if path not in used]
    return found, left


def _is_under(path: Path, head: bytes, apart: tuple[str, Path, Header]) -> bool:
    """Whether a file has the rows of a header apart: it is called alike, and as wide."""
    name, _, made = apart
    first = csvrows.header(head, made.delimiter)
    return path.stem.casefold().startswith(name) and len(first) == len(made.columns)


def _is_alone(head: bytes) -> bool:
    """Whether a file has its header and nothing else."""
    return len(head.strip().splitlines()) == 1


def read(source: Source, made: Header, graph: Graph, qualified: bool = False) -> Iterator[Record]:
    """The records of a table, but for those that ``graph`` gives at its end."""
    for piece in Rows(source.name, made, qualified).pieces(source):
        if isinstance(piece, SetAside):
            yield piece
        elif isinstance(piece, Link):
            yield from graph.link(piece)
        elif graph.knows(piece.keys[0]):
            why = f"Another row has the id {piece.id!r}."
            yield SetAside(source.name, piece.line, why, str(piece.properties))
        else:
            yield from graph.thing(piece)


def read_part(part: Part, graph: Graph, qualified: bool) -> Iterator[Record]:
    """The records of a file of a folder."""
    with opened(part.path) as source, _with_header(source, part) as whole:
        graph.source = source.name
        for record in read(whole, part.header, graph, qualified):
            if part.apart and isinstance(record, (SetAside, Note)):
                yield type(record)(
                    record.source, max(0, record.line - 1), record.reason, record.text
                )
            else:
                yield record


@contextmanager
def _with_header(source: Source, part: Part) -> Iterator[Source]:
    """The rows of a file under a header from elsewhere."""
    if part.apart is None:
        yield source
        return
    line = _line(part.header.columns, part.header.delimiter).encode("utf-8", "surrogateescape")
    whole = io.BufferedReader(_Behind(line, source.stream))
    yield dataclasses.replace(source, stream=whole)


class _Behind(io.RawIOBase):
    """A line, then a stream, which stays open."""

    def __init__(self, line: bytes, rest: Any) -> None:
        self._line, self._rest = line, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self._line[: len(buffer)] if self._line else self._rest.read1(len(buffer))
        self._line = self._line[len(block) :] if self._line else b""
        buffer[: len(block)] = block
        return len(block)


# ---- writing ----

_WRITTEN: Final = {
    columns.TEXT: "",
    columns.INTEGER: ":long",
    columns.NUMBER: ":double",
    columns.TRUTH: ":boolean",
    columns.TEXTS: ":string[]",
    columns.INTEGERS: ":long[]",
    columns.NUMBERS: ":double[]",
}


def titles(kinds: Mapping[str, str]) -> list[str]:
    """The header's cells for properties of these kinds."""
    return [name + _WRITTEN[kind] for name, kind in kinds.items()]


def cell(value: Any) -> str:
    """A value as the importer reads it; "" for one that a cell can't hold."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        parts = [cell(part) for part in value]
        return "" if any(not part or ARRAY in part for part in parts) else ARRAY.join(parts)
    return value if isinstance(value, str) else repr(value)


def _line(cells: Sequence[str], delimiter: str = ",") -> str:
    return delimiter.join(f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in cells) + "\n"


def line(cells: Sequence[str]) -> str:
    """A row: texts quoted, so that their blanks and newlines stay; what is empty is absent."""
    return ",".join('"' + c.replace('"', '""') + '"' if c else "" for c in cells) + "\n"
