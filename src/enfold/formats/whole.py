"""A whole graph in one file, row by row: what comes out of it is the graph that went in.

JSON lines. The first is the header, with the version of this format, that of the tables, whether
sealed memories are among the rows, and the columns of each table. Then one array a row: the table,
and the values in the order of its columns. The last line counts the rows of each table and holds
the digest (BLAKE2b, 32 bytes) of all lines before it. The same graph always gives the same bytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NoReturn

from enfold.copying import BY_NAME, TABLES, Column, Line, Table, Value
from enfold.errors import Invalid
from enfold.formats.source import Source
from enfold.model import Answer, DecidedBy

NAME: Final = "enfold"

FORMAT: Final = 1
"""The version of the format."""

LARGEST: Final = 2**40
"""No number of a graph comes near: a million ids a second reach it after twelve days."""

LONGEST: Final = 2**30
"""The longest line that is read, in bytes: a database holds no row of more."""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def recognises(head: bytes, _path: Path | None = None) -> bool:
    """Whether a text begins as this format does."""
    return head.startswith(b'{"enfold":')


def _digest() -> Any:
    return blake2b(digest_size=32)


# ---- writing ------------------------------------------------------------------------------------


def lines(rows: Iterable[Line], *, schema: int, sealed: bool) -> Iterator[str]:
    """The rows of a graph as text, in pieces that end in a newline.

    Args:
        schema: the version of the tables. sealed: whether sealed memories are among the rows.

    Raises:
        Invalid: ``unsound_graph``: a row holds what its column can't, and no import would take it.
    """
    columns = {table.name: table.names for table in TABLES}
    head = {"enfold": FORMAT, "schema": schema, "sealed": sealed, "tables": columns}
    digest, counts = _digest(), dict.fromkeys(columns, 0)
    line = _encode(head) + "\n"
    looked_at = {table.name: _Reading(table) for table in TABLES}
    for table, values in rows:
        if wrong := looked_at[table].wrong(values):
            raise _unsound(table, values, wrong)
        digest.update(line.encode())
        yield line
        counts[table] += 1
        line = _encode((table, *values)) + "\n"
    digest.update(line.encode())
    yield line
    yield _last(counts, digest.hexdigest())


def _last(counts: dict[str, int], digest: str) -> str:
    return _encode({"rows": counts, "blake2b": digest}) + "\n"


def _unsound(table: str, values: Sequence[Value], why: str) -> Invalid:
    return Invalid(
        "unsound_graph",
        f"A row of the table {table} ({_short(values[0])}) can't be written: {why}, and no import "
        "would take it. Look at the graph with “enfold check”, or restore a backup.",
        table=table,
    )


# ---- reading ------------------------------------------------------------------------------------


def read(source: Source) -> Iterator[Line]:
    """The rows of a file, each as its table wants it. That the file is complete and as it was
    written is known, and said, at its end only.

    Raises:
        Invalid: ``newer_format``; ``damaged_copy``: cut off, altered, or no such file at all;
            ``unsound_copy``: a value that its column can't hold.
    """
    numbered = _numbered(source)
    first = next(numbered, (1, b""))[1]
    _must_be_known(source.name, _object(source.name, 1, first))
    digest, counts = _digest(), dict.fromkeys(BY_NAME, 0)
    digest.update(first)
    reading = {table.name: _Reading(table) for table in TABLES}
    for number, line in numbered:
        if line.startswith(b"{"):
            _must_end(source.name, number, line, counts, digest.hexdigest())
            if next(numbered, None) is not None:
                _damaged(source.name, number + 1, "something stands behind the last line")
            return
        digest.update(line)
        table, *values = _array(source.name, number, line)
        if not isinstance(table, str) or table not in reading:
            _damaged(source.name, number, "it is a row of no table that is known")
        if wrong := reading[table].wrong(values):
            raise _impossible(source.name, number, wrong)
        counts[table] += 1
        yield table, tuple(values)
    _damaged(source.name, 0, "it is cut off: its last line is missing")


def _numbered(source: Source) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := source.stream.readline(LONGEST + 1):
        number += 1
        if len(line) > LONGEST:
            _damaged(source.name, number, f"the line has more than {LONGEST:,} bytes")
        yield number, line


def _damaged(name: str, number: int, why: str) -> NoReturn:
    at = f"{name}, line {number:,}" if number else name
    raise Invalid(
        "damaged_copy",
        f"{at}: {why}. A whole graph is taken as it was exported, to the last byte; nothing was "
        "imported. Export it again, or fetch the file again.",
        path=name,
        line=number,
    )


def _impossible(name: str, number: int, why: str) -> Invalid:
    return Invalid(
        "unsound_copy",
        f"{name}, line {number:,}: {why}. Nothing was imported; export the graph again.",
        path=name,
        line=number,
    )


def _parsed(name: str, number: int, line: bytes) -> Any:
    if not line.endswith(b"\n"):
        _damaged(name, number, "it is cut off: the line does not end")
    try:
        return json.loads(line.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        _damaged(name, number, "the line is no JSON")


def _no_constant(word: str) -> NoReturn:
    raise ValueError(word)


def _object(name: str, number: int, line: bytes) -> dict[str, Any]:
    value = _parsed(name, number, line)
    if not isinstance(value, dict):
        _damaged(name, number, "the line is no JSON object")
    return value


def _array(name: str, number: int, line: bytes) -> list[Any]:
    value = _parsed(name, number, line)
    if not isinstance(value, list) or not value:
        _damaged(name, number, "the line is no row")
    return value


def _must_be_known(name: str, head: dict[str, Any]) -> None:
    version = head.get("enfold")
    if type(version) is int and version > FORMAT:
        raise Invalid(
            "newer_format",
            f"{name} was written by a newer enfold (format {version}, this one reads {FORMAT}). "
            "Update enfold to import it.",
            path=name,
        )
    if version != FORMAT or type(version) is not int or type(head.get("sealed")) is not bool:
        _damaged(name, 1, "the first line is not that of a whole graph")
    if head.get("tables") != {table.name: table.names for table in TABLES}:
        raise Invalid(
            "newer_format",
            f"{name} was written by another version of enfold, whose tables differ from those of "
            f"this one (schema {_short(head.get('schema'))}). Update enfold to import it, or "
            "import it with the version that wrote it.",
            path=name,
        )


def _must_end(name: str, number: int, line: bytes, counts: dict[str, int], digest: str) -> None:
    """Raises where the last line does not say what was read."""
    last = _object(name, number, line)
    if last.get("rows") != counts:
        _damaged(name, number, "rows are missing, or there are more than were written")
    if last.get("blake2b") != digest or line.decode() != _last(counts, digest):
        _damaged(name, number, "the file was altered after it was written")


class _Reading:
    """Looks at the rows of one table."""

    def __init__(self, table: Table) -> None:
        self._columns = table.columns
        self._known: set[tuple[type, ...]] = set()
        self._closely = [
            (place, column) for place, column in enumerate(table.columns) if column.kind != "text"
        ]

    def wrong(self, values: Sequence[Any]) -> str:
        """What is wrong with a row; "" where nothing is."""
        types = tuple(map(type, values))
        if types not in self._known:
            if len(types) != len(self._columns):
                return f"the row has {len(types)} values and should have {len(self._columns)}"
            for column, value in zip(self._columns, values, strict=True):
                if not _fits(column, value):
                    return f"{column.name} can't be {_short(value)}"
            self._known.add(types)
        for place, column in self._closely:
            value = values[place]
            if value is not None and not _holds(column, value):
                return f"{column.name} can't be {_short(value)}"
        return ""


def _short(value: object) -> str:
    said = repr(value)
    return said if len(said) <= 60 else f"{said[:60]}…"


_WORDS: Final = {"answer": frozenset(Answer), "decider": frozenset(DecidedBy)}

_TYPES: Final = {"id": int, "number": int, "flag": int, "share": float}


def _fits(column: Column, value: object) -> bool:
    if value is None:
        return column.empty
    return type(value) is _TYPES.get(column.kind, str)


def _holds(column: Column, value: Any) -> bool:
    """Whether a value of the right type is one that the column can have."""
    if column.kind == "share":
        return math.isfinite(value)
    if column.kind in _WORDS:
        return value in _WORDS[column.kind]
    if column.kind == "object":
        return isinstance(_json(value), dict)
    if column.kind == "numbers":
        inner = _json(value)
        return isinstance(inner, list) and all(type(one) is int for one in inner)
    least = 1 if column.kind == "id" else 0
    return least <= int(value) < (2 if column.kind == "flag" else LARGEST)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
