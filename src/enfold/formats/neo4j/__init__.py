"""Neo4j: the CSV of its importer (one file, or a folder of them) and dumps as JSON.

Read are the importer's headers and APOC's CSV (``tables``), and as JSON what APOC exports and what
the browser and the HTTP interface save (``dump``). Both are things and links, and ``graph`` says
what those mean. Written is a folder for ``neo4j-admin database import``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from enfold.errors import Invalid
from enfold.formats import csvrows
from enfold.formats.identities import COLUMNS, identity
from enfold.formats.neo4j import dump, tables
from enfold.formats.neo4j.graph import Graph
from enfold.formats.neo4j.written import write_folder
from enfold.formats.source import Source, files_in, opened
from enfold.model import Note, Record, SetAside

NAME: Final = "neo4j"


def recognises(head: bytes, path: Path | None = None) -> bool:
    """Whether a text is JSON with labels and properties, or has a header of the importer's."""
    return dump.recognises(head) or tables.header(head) is not None


def relations_alone(head: bytes) -> bool:
    """Whether a table has relationships and nothing else."""
    header = tables.header(head)
    return header is not None and not header.has("id")


def recognises_folder(path: Path) -> bool:
    """Whether a folder holds tables for the importer, or dumps in several files."""
    files = list(files_in(path))
    return bool(tables.parts(files)[0]) or sum(dump.recognises(head) for _, head in files) > 1


def read(source: Source) -> Iterator[Record]:
    """The records of one file. A relationship names its ends by id where their table is another.

    Raises:
        Invalid: ``unrecognised_format``.
    """
    with Graph(source.name) as graph:
        if dump.recognises(source.head):
            yield from dump.read(source, graph)
        elif header := tables.header(source.head):
            yield from tables.read(source, header, graph, len(header.spaces) > 1)
        else:
            raise _none(source.name)
        yield from graph.finish()


def read_path(path: Path) -> Iterator[Record]:
    """The records of a file, or of a folder's files as one graph.

    Raises:
        Invalid: ``unrecognised_format``, or what ``source.opened`` raises.
    """
    if path.is_dir():
        yield from _folder(path)
    else:
        with opened(path) as source:
            yield from read(source)


def _none(name: str) -> Invalid:
    return Invalid(
        "unrecognised_format",
        f"{name} holds nothing of Neo4j's: no header with :ID or with :START_ID and :END_ID, and "
        "no JSON with labels and properties. Give the files that neo4j-admin imports, or what "
        "apoc.export.json writes.",
        path=name,
    )


def _folder(folder: Path) -> Iterator[Record]:
    files = list(files_in(folder))
    parts, rest = tables.parts(files)
    heads = dict(files)
    dumps = [path for path in rest if dump.recognises(heads[path])]
    if not parts and not dumps:
        raise _none(folder.name)
    qualified = len(frozenset[str]().union(*(part.header.spaces for part in parts))) > 1
    with Graph(folder.name) as graph:
        for part in sorted(parts, key=lambda part: part.has_links):
            yield from tables.read_part(part, graph, qualified)
        for path in dumps:
            with opened(path) as source:
                graph.source = source.name
                yield from dump.read(source, graph)
        graph.source = folder.name
        yield from graph.finish()
    for path in rest:
        if _is_of_identities(heads[path]):
            yield from _identities(path)
        elif path not in dumps:
            why = f"{path.name} is no table with a header of the importer's; it is left out."
            yield Note(path.name, 0, why, "")


def _is_of_identities(head: bytes) -> bool:
    return csvrows.header(head, ",") == list(COLUMNS)


def _identities(path: Path) -> Iterator[Record]:
    with opened(path) as source:
        for row in csvrows.rows(source, ",", len(COLUMNS)):
            if isinstance(row, SetAside):
                yield row
            else:
                cells = zip(COLUMNS, row.cells, strict=True)
                said = {column: cell for column, cell in cells if cell}
                yield from identity(source.name, row.line, said)


__all__ = [
    "NAME",
    "read",
    "read_path",
    "recognises",
    "recognises_folder",
    "relations_alone",
    "write_folder",
]
