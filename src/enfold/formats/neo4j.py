"""Neo4j: the CSV of its importer (one file, or a folder of them) and dumps as JSON.

Read are the importer's headers, APOC's CSV and JSON, what the browser and the HTTP interface save.
Written is a folder for ``neo4j-admin database import``: ``nodes.csv`` and ``relationships.csv``,
and identities beside. What a property can't say of a record stands in ``enfold_more``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from enfold.errors import Invalid
from enfold.formats import neo4j_csv, neo4j_json, table
from enfold.formats.graphrag_rows import identity
from enfold.formats.neo4j_graph import Graph
from enfold.formats.neo4j_written import IDENTITY, write_folder
from enfold.formats.source import HEAD, Source, opened
from enfold.model import Note, Record, SetAside

NAME: Final = "neo4j"

FILES: Final = 1_000
"""Files of a folder that are looked at."""


def recognises(head: bytes, path: Path | None = None) -> bool:
    """Whether a text is JSON with labels and properties, or has a header of the importer's."""
    return neo4j_json.recognises(head) or neo4j_csv.header(head) is not None


def relations_alone(head: bytes) -> bool:
    """Whether a table has relationships and nothing else."""
    header = neo4j_csv.header(head)
    return header is not None and not header.has("id")


def recognises_folder(path: Path) -> bool:
    """Whether a folder holds tables for the importer, or dumps in several files."""
    files = list(_files(path))
    tables, _ = neo4j_csv.parts(files)
    return bool(tables) or sum(neo4j_json.recognises(head) for _, head in files) > 1


def _files(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """The files of a folder that can be read, with their first bytes."""
    for path in sorted(folder.iterdir(), key=lambda path: path.name)[:FILES]:
        try:
            if path.is_file():
                with path.open("rb") as file:
                    yield path, file.read(HEAD)
        except OSError:
            continue


def read(source: Source) -> Iterator[Record]:
    """The records of one file. A relationship names its ends by id where their table is another.

    Raises:
        Invalid: ``unrecognised_format``.
    """
    with Graph(source.name) as graph:
        if neo4j_json.recognises(source.head):
            yield from neo4j_json.read(source, graph)
        elif header := neo4j_csv.header(source.head):
            yield from neo4j_csv.read(source, header, graph, len(header.spaces) > 1)
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
    files = list(_files(folder))
    tables, rest = neo4j_csv.parts(files)
    heads = dict(files)
    dumps = [path for path in rest if neo4j_json.recognises(heads[path])]
    if not tables and not dumps:
        raise _none(folder.name)
    qualified = len(frozenset[str]().union(*(part.header.spaces for part in tables))) > 1
    with Graph(folder.name) as graph:
        for part in sorted(tables, key=lambda part: part.has_links):
            yield from neo4j_csv.read_part(part, graph, qualified)
        for path in dumps:
            with opened(path) as source:
                graph.source = source.name
                yield from neo4j_json.read(source, graph)
        graph.source = folder.name
        yield from graph.finish()
    for path in rest:
        if _layout(heads[path]):
            yield from _identities(path)
        elif path not in dumps:
            why = f"{path.name} is no table with a header of the importer's; it is left out."
            yield Note(path.name, 0, why, "")


def _layout(head: bytes) -> table.Layout | None:
    """The columns of enfold's own table of identities."""
    text = head.decode("utf-8", "surrogateescape").partition("\n")[0]
    wanted = ",".join(f'"{column}"' for column in IDENTITY)
    return table.Layout("rows", ",", IDENTITY, {}) if text == wanted else None


def _identities(path: Path) -> Iterator[Record]:
    with opened(path) as source:
        if layout := _layout(source.head):
            for row in table._rows(source, layout):
                if isinstance(row, SetAside):
                    yield row
                else:
                    said = {k: c for k, c in zip(IDENTITY, row.cells, strict=True) if c}
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
