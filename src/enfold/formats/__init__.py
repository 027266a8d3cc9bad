"""Graphs from elsewhere and back: one module per file format. Parse and write, nothing else.

A parser turns a file into a stream of ``model.EntityRecord``, ``RelationRecord`` and ``SetAside``
(what could not be taken, with its line, its reason and its text) and holds one value at a time. It
raises ``Invalid`` for a file that is not of a format it knows, never for a broken line.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from enfold.errors import Invalid
from enfold.formats import mcp_jsonl, table
from enfold.formats.export import Written, records
from enfold.formats.source import Source, opened, refuse_binary
from enfold.model import EntityRecord, Record
from enfold.ports import Progress, Tx

FORMATS: Final = (mcp_jsonl.NAME, table.NAME)
"""What can be read and written: ``mcp`` (memory JSONL) and ``csv``."""

Path = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Reading:
    """A file about to be read: its format, its name and its records, which stream once."""

    format: str
    source: str
    records: Iterator[Record]


def recognise(head: bytes | Path, source: str = "the file") -> str:
    """The name of a file's format, told from its path or its first bytes.

    Raises:
        Invalid: ``unrecognised_format``, ``labelled_pairs``, ``binary_file``, ``empty_file``,
            ``no_such_file``, ``is_a_directory`` or ``no_permission``.
    """
    if not isinstance(head, bytes):
        with opened(head) as file:
            return _recognised(file.name, file.head)[0]
    refuse_binary(head, source)
    return _recognised(source, head)[0]


def read(*paths: Path) -> list[Reading]:
    """Open files of any format, told from their content, tables of relations last, so that the
    names in them are known by then. Every file is looked at before a record of one is read; a path
    ``-`` is the standard input.

    Raises:
        Invalid: as ``recognise``.
    """
    looked_at = []
    for path in paths:
        with ExitStack() as stack:
            file = stack.enter_context(opened(path))
            name, parser, last = _recognised(file.name, file.head)
            # A pipe is opened once; of many files only the one being read is kept open.
            records = _records(path) if file.again else _once(parser, file, stack.pop_all())
            looked_at.append((last, Reading(name, file.name, records)))
    return [reading for _, reading in sorted(looked_at, key=lambda pair: pair[0])]


_Parser = Callable[[Source], Iterator[Record]]


def _records(path: Path) -> Iterator[Record]:
    with opened(path) as file:
        yield from _recognised(file.name, file.head)[1](file)


def _once(parser: _Parser, file: Source, held: ExitStack) -> Iterator[Record]:
    with held:
        yield from parser(file)


def _recognised(name: str, head: bytes) -> tuple[str, _Parser, bool]:
    """(the format, its parser, whether it holds relations alone)"""
    text = head.decode("utf-8", "surrogateescape")
    if not text.strip("\ufeff \t\r\n\0"):
        raise Invalid("empty_file", f"{name} is empty: there is nothing to read in it.", path=name)
    if how := mcp_jsonl.shape(text):
        return mcp_jsonl.NAME, lambda source: mcp_jsonl.read(source, how), False
    if text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        raise mcp_jsonl.refuse(name, text)
    if made := table.layout(text, name):
        return table.NAME, lambda source: table.read(source, made), made.kind == "relations"
    if how := mcp_jsonl.shape_below(text):
        return mcp_jsonl.NAME, lambda source: mcp_jsonl.read(source, how), False
    raise table.refuse(name, text)


def write(format: str, tx: Tx, *, progress: Progress | None = None) -> Iterator[str]:
    """The graph in a format, as pieces of text that end in a newline, in an order that the same
    graph always has. It holds one page of entities at a time.

    Raises:
        Invalid: ``unknown_format``.
    """
    if format not in FORMATS:
        raise Invalid(
            "unknown_format", f"{format!r} is no format to write; choose {' or '.join(FORMATS)}."
        )
    return _lines(format, records(tx, progress=progress))


def _lines(format: str, pieces: Iterable[Written]) -> Iterator[str]:
    if format == table.NAME:
        yield table.header_line()
    entity = mcp_jsonl.entity_line if format == mcp_jsonl.NAME else table.entity_lines
    relation = mcp_jsonl.relation_line if format == mcp_jsonl.NAME else table.relation_line
    for piece in pieces:
        yield entity(piece) if isinstance(piece, EntityRecord) else relation(piece)


__all__ = ["FORMATS", "Reading", "read", "recognise", "write"]
