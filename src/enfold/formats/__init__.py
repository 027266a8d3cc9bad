"""Graphs from elsewhere and back: one module or package per file format. Parse and write, nothing
else.

A parser turns a file into a stream of records (``model.Record``: entities, relations, identities,
and ``SetAside`` for what could not be taken, with its line, its reason and its text) and holds one
value at a time. It raises ``Invalid`` for a file that is not of its format, never for a broken
piece. A writer turns the same records back.

Below the formats stands what several of them need: ``source`` (bytes as text), ``values`` (JSON),
``csvrows`` (CSV), ``parquet``, ``columns`` (attributes as columns), ``held`` (what waits),
``storable`` (what no store holds), ``remainder`` (what a format can't say), ``textunits`` and
``identities``. ``whole`` holds a graph as its rows, and no records. ``decisions``, ``labelled`` and
``review_sheet`` read and write what people say, and are no graphs. ``target`` is where an export
goes.

``_all`` is the one list of the formats. What a file is, is told from its content by asking each in
turn, the more particular first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from enfold.errors import Invalid
from enfold.formats.source import (
    STDIN,
    UNDERSTOOD,
    Source,
    opened,
    paths_in,
    refuse_binary,
    spooled,
)
from enfold.formats.storable import only_storable
from enfold.model import Note, Record, Written

if TYPE_CHECKING:
    from enfold.copying import Line

AnyPath = str | os.PathLike[str]

Pieces = Callable[[], Iterable[Written]]
"""Gives the records of a graph from the start, as often as it is called: entities, then relations,
then identities."""


@dataclass(frozen=True, slots=True)
class Format:
    """What a module of this package offers; what a format has no use for is None.

    Attributes:
        name: the word for ``--format``.
        recognises: whether first bytes are of this format: the text as UTF-8 without its mark, or
            what a binary file begins with; the path where there is one.
        recognises_folder: whether a folder, as a whole, is.
        read: the records of a text, which may be a stream.
        read_path: the records of a binary file or of a folder.
        trusted: whether its ids are such that two of one name are two things.
        relations_alone: whether a file that begins so holds relations and names no entity; such
            files are read after the others.
        lines: a graph as text, piece by piece.
        write_folder: a graph into several files.
        rows: the rows of a whole graph, in place of records.
    """

    name: str
    recognises: Callable[[bytes, Path | None], bool] = lambda _head, _path: False
    recognises_folder: Callable[[Path], bool] | None = None
    read: Callable[[Source], Iterator[Record]] | None = None
    read_path: Callable[[Path], Iterator[Record]] | None = None
    trusted: bool = False
    relations_alone: Callable[[bytes], bool] | None = None
    lines: Callable[[Pieces], Iterator[str]] | None = None
    write_folder: Callable[[Pieces, Path], None] | None = None
    rows: Callable[[Source], Iterator[Line]] | None = None

    @property
    def written(self) -> bool:
        return bool(self.lines or self.write_folder)


WRITTEN: Final = ("mcp", "csv", "graphml", "jsonld", "graphrag", "neo4j")
"""The formats, by their words, that a graph can be written as."""

ENFOLD: Final = "enfold"
"""The format that holds a graph whole, as its rows (see ``copying``), and not as records."""

FORMATS: Final = (*WRITTEN, "obsidian", "mem0", ENFOLD)
"""Every format that a graph is read from."""


@cache
def _all() -> tuple[Format, ...]:
    """The formats. Their modules are loaded when a file comes in or goes out: together they take as
    long as all else that a lookup needs."""
    from enfold.formats import (
        graphml,
        graphrag,
        jsonld,
        mcp_jsonl,
        mem0,
        neo4j,
        obsidian,
        table,
        whole,
    )

    return (
        Format(mcp_jsonl.NAME, mcp_jsonl.recognises, read=mcp_jsonl.read, lines=mcp_jsonl.lines),
        Format(
            table.NAME,
            table.recognises,
            read=table.read,
            relations_alone=table.relations_alone,
            lines=table.lines,
        ),
        Format(whole.NAME, whole.recognises, rows=whole.read),
        Format(graphml.NAME, graphml.recognises, read=graphml.read, lines=graphml.lines),
        Format(jsonld.NAME, jsonld.recognises, read=jsonld.read, lines=jsonld.lines),
        Format(
            graphrag.NAME,
            graphrag.recognises,
            recognises_folder=graphrag.recognises_folder,
            read=graphrag.read,
            read_path=graphrag.read_path,
            relations_alone=graphrag.relations_alone,
            write_folder=graphrag.write_folder,
        ),
        Format(
            neo4j.NAME,
            neo4j.recognises,
            recognises_folder=neo4j.recognises_folder,
            read=neo4j.read,
            read_path=neo4j.read_path,
            relations_alone=neo4j.relations_alone,
            write_folder=neo4j.write_folder,
        ),
        Format(
            obsidian.NAME,
            recognises_folder=obsidian.recognises_folder,
            read_path=obsidian.read_path,
            trusted=True,
        ),
        Format(mem0.NAME, mem0.recognises, read=mem0.read),
    )


def _in_turn() -> tuple[Format, ...]:
    """The formats as they are asked: those that take anything with a name in it come last."""
    mcp, csv, *others = _all()
    return (*others, mcp, csv)


FOLDER: Final = "folder"
"""What ``recognise`` says of a folder of several files, each of a format of its own."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A file about to be read: its format, its name and its records, which stream once; and whether
    two of its ids are two things, whatever their names. What holds a whole graph has ``rows``."""

    format: str
    source: str
    records: Iterator[Record]
    trusted: bool = False
    rows: Iterator[Line] | None = None


# ---- what a file is ----


def recognise(head: bytes | Path, source: str = "the file") -> str:
    """The name of a file's or folder's format, told from its path or its first bytes.

    Raises:
        Invalid: ``unrecognised_format``, ``labelled_pairs``, ``decisions_file``, ``binary_file``,
            ``empty_file``, ``no_such_file``, ``nothing_readable``, ``no_permission`` or
            ``unreadable_file``.
    """
    if isinstance(head, bytes):
        if known := _binary(head, None):
            return known.name
        refuse_binary(head, source)
        return _recognised(source, head, None).name
    if head.is_dir():
        if known := _folder(head):
            return known.name
        _files_in(head)
        return FOLDER
    return _looked_at(head)[1].format


def _recognised(name: str, head: bytes, path: Path | None) -> Format:
    """The format of a text."""
    text = head.decode("utf-8", "surrogateescape")
    if not text.strip("\ufeff \t\r\n\0"):
        raise Invalid("empty_file", f"{name} is empty: there is nothing to read in it.", path=name)
    from enfold.formats import decisions, mcp_jsonl, table

    *others, csv = _in_turn()
    for known in others:
        if known.recognises(head, path):
            return known
    if decisions.recognises(head):
        raise decisions.refuse(name)
    if text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        raise mcp_jsonl.refuse(name, text)
    if pairs := table.labelled_pairs(name, text):
        raise pairs
    if csv.recognises(head, path):
        return csv
    if mcp_jsonl.shape_below(text):
        return others[-1]
    raise table.refuse(name, text)


def _binary(head: bytes, path: Path | None) -> Format | None:
    """The format of a file that is no text."""
    if not head.startswith(b"PAR1") and b"\0" not in head:
        return None
    readable = (known for known in _in_turn() if known.read_path)
    return next((known for known in readable if known.recognises(head, path)), None)


def _folder(path: Path) -> Format | None:
    """The format that a folder is of as a whole."""
    whole = (known for known in _in_turn() if known.recognises_folder)
    return next((k for k in whole if k.recognises_folder and k.recognises_folder(path)), None)


# ---- reading ----


def read(*paths: AnyPath) -> list[Reading]:
    """Open files and folders of any format, told from their content, what holds relations alone
    last, so that the names in it are known by then. Every file is looked at before a record of one
    is read; a path ``-`` is the standard input.

    Of a folder that is of no format as a whole, each file that is of one is read; those left out
    are noted.

    Raises:
        Invalid: as ``recognise``.
    """
    looked_at: list[tuple[bool, Reading]] = []
    for path in paths:
        where = Path(path)
        if os.fspath(path) != "-" and where.is_dir():
            known = _folder(where)
            looked_at += [(False, _whole(known, where))] if known else _files_in(where)
        else:
            looked_at.append(_looked_at(path))
    return [reading for _, reading in sorted(looked_at, key=lambda pair: pair[0])]


def _looked_at(path: AnyPath) -> tuple[bool, Reading]:
    """(whether it holds relations alone, the file about to be read)"""
    where = Path(STDIN if os.fspath(path) == "-" else path)
    with ExitStack() as stack:
        file = stack.enter_context(opened(path, lambda head: _binary(head, where) is not None))
        known = _of(file, where)
        last = known.relations_alone is not None and known.relations_alone(file.head)
        # A pipe is opened once; of many files only the one being read is kept open.
        if known.rows is not None:
            rows = _rows(known, where) if file.again else _rows_once(known, file, stack.pop_all())
            return False, Reading(known.name, file.name, _no_records(file.name), rows=rows)
        records = _records(where) if file.again else _once(known, file, stack.pop_all())
    return last, Reading(known.name, file.name, records, known.trusted)


def _of(file: Source, where: Path) -> Format:
    known = None if file.text else _binary(file.head, where)
    return known or _recognised(file.name, file.head, where)


def _records(where: Path) -> Iterator[Record]:
    with opened(where, lambda head: _binary(head, where) is not None) as file:
        yield from _parsed(_of(file, where), file, where)


def _once(known: Format, file: Source, held: ExitStack) -> Iterator[Record]:
    with held:
        yield from _parsed(known, file, None)


def _parsed(known: Format, file: Source, where: Path | None) -> Iterator[Record]:
    return only_storable(file.name, _as_they_come(known, file, where))


def _as_they_come(known: Format, file: Source, where: Path | None) -> Iterator[Record]:
    if known.read and (file.text or not known.read_path):
        yield from known.read(file)
        return
    assert known.read_path is not None
    if where is not None:
        yield from known.read_path(where)
        return
    with spooled(file) as path:
        yield from known.read_path(path)


def _rows(known: Format, where: Path) -> Iterator[Line]:
    assert known.rows is not None
    with opened(where) as file:
        yield from known.rows(file)


def _rows_once(known: Format, file: Source, held: ExitStack) -> Iterator[Line]:
    assert known.rows is not None
    with held:
        yield from known.rows(file)


def _no_records(name: str) -> Iterator[Record]:
    yield from _refused(name)


def _refused(name: str) -> Iterator[Record]:
    raise Invalid(
        "whole_graph",
        f"{name} holds a whole graph, which is taken by itself: import it alone, into a new graph "
        "(--db). To add what it says to another graph, export the new one as mcp and import that.",
        path=name,
    )


def whole_graph(readings: Sequence[Reading]) -> Reading | None:
    """The file that holds a whole graph, if one of these does.

    Raises:
        Invalid: ``whole_graph``: it is one of several files.
    """
    found = next((reading for reading in readings if reading.rows is not None), None)
    if found is not None and len(readings) > 1:
        next(found.records)
    return found


def _whole(known: Format, folder: Path) -> Reading:
    assert known.read_path is not None
    name = folder.resolve().name
    records = only_storable(name, known.read_path(folder))
    return Reading(known.name, name, records, known.trusted)


def _files_in(folder: Path) -> list[tuple[bool, Reading]]:
    """The files of a folder that are of a format, by name; hidden ones and folders aside."""
    files = [path for path in paths_in(folder) if path.is_file() and path.name[:1] != "."]
    found: list[tuple[bool, Reading]] = []
    notes: list[Note] = []
    for file in files:
        try:
            found.append(_looked_at(file))
        except Invalid as error:
            if error.code in ("no_permission", "unreadable_file"):
                raise
            notes.append(Note(file.name, 0, f"The file was left out. {error}", ""))
    if not found:
        raise Invalid(
            "nothing_readable",
            f"{folder} is a folder with no file in it that is read; {UNDERSTOOD}.",
            path=str(folder),
        )
    last, first = found[0]
    return [(last, replace(first, records=_behind(notes, first.records))), *found[1:]]


def _behind(notes: Sequence[Note], records: Iterator[Record]) -> Iterator[Record]:
    yield from notes
    yield from records


# ---- writing ----


def to_write(name: str) -> Format:
    """The format of that name.

    Raises:
        Invalid: ``unknown_format``.
    """
    known = next((known for known in _all() if known.name == name and known.written), None)
    if known is None:
        what = "is read, not written" if name in FORMATS else "is no format to write"
        choice = f"{', '.join(WRITTEN)} or {ENFOLD}"
        raise Invalid("unknown_format", f"{name!r} {what}; choose {choice}.")
    return known


def to_stream(name: str) -> Callable[[Pieces], Iterator[str]]:
    """What writes that format as text, piece by piece.

    Raises:
        Invalid: ``unknown_format``; ``needs_file`` for a format that is no stream of text.
    """
    known = to_write(name)
    if known.lines is None:
        raise Invalid(
            "needs_file",
            f"{name} is written as a folder of files, not as a stream; say where to: --out PATH.",
            format=name,
        )
    return known.lines


def lines(name: str, pieces: Pieces) -> Iterator[str]:
    """A graph in a format, as pieces of text that end in a newline, in an order that the same graph
    always has.

    Raises:
        Invalid: as ``to_stream``.
    """
    return to_stream(name)(pieces)


__all__ = [
    "ENFOLD",
    "FOLDER",
    "FORMATS",
    "WRITTEN",
    "Format",
    "Pieces",
    "Reading",
    "lines",
    "read",
    "recognise",
    "to_stream",
    "to_write",
    "whole_graph",
]
