"""Rows of a Parquet file, in bounded memory, whatever the file claims; and a Parquet file of rows.

A file is read page by page. Strings that a page holds once stay one string. A page that can't be
read costs the rows of its row group, and nothing else.
"""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from enfold.errors import Invalid
from enfold.formats import columns
from enfold.formats.source import LINE_LIMIT, SHOWN
from enfold.model import Note, SetAside

MAGIC: Final = (b"PAR1", b"PARE")

ROWS: Final = 1_024
"""Most rows that are held at once."""

BYTES: Final = 32 * 1024 * 1024
"""About how much the rows held at once may take, told from the file's own figures."""

VALUES_A_ROW: Final = 100_000
"""Most values, elements of lists counted, that a row may have in one column on average."""

MOST_COLUMNS: Final = 2_000

ROOM: Final = 1024 * 1024 * 1024
UNPACKED: Final = 1_000
"""What the texts of a file may come to: so many bytes, and so many times its size besides."""

CLAIMED: Final = 256 * 1024 * 1024
PACKED: Final = 500
"""A column of a row group above so many bytes may not be so many times what is stored of it: a page
is unpacked whole."""

WRITTEN: Final = 8_192
"""Rows of a row group that is written."""

_BUFFER = 1024 * 1024
_THRIFT = 64 * 1024 * 1024  # bytes or entries that a footer may hold in one piece
_NESTED = 8  # levels of lists and structures in a column that is read


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its number from 1 and its values that are not null, as JSON has them."""

    line: int
    cells: dict[str, Any]


def names(path: Path) -> tuple[str, ...]:
    """The columns of a Parquet file.

    Raises:
        Invalid: ``unreadable_file``.
    """
    with _opened(path, ()) as file:
        return tuple(file.schema_arrow.names)


@contextmanager
def _opened(path: Path, repeated: Sequence[str]) -> Iterator[Any]:
    """A ``ParquetFile``, its strings kept as often as a page has them."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    try:
        file = pq.ParquetFile(
            path,
            read_dictionary=list(repeated),
            buffer_size=_BUFFER,
            pre_buffer=False,
            thrift_string_size_limit=_THRIFT,
            thrift_container_size_limit=_THRIFT,
        )
        file.schema_arrow  # noqa: B018  # made when it is asked for
    except (pa.ArrowException, OSError, ValueError, MemoryError, UnicodeError) as error:
        raise _unreadable(path, error) from error
    with file:
        yield file


def _unreadable(path: Path, error: Exception) -> Invalid:
    return Invalid(
        "unreadable_file",
        f"{path.name} begins as a Parquet file and can't be read as one: {_why(error)}. "
        "It may have been cut off; write or copy it again.",
        path=str(path),
    )


def _why(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:SHOWN].rstrip(".")


def rows(path: Path) -> Iterator[Row | SetAside]:
    """The rows of a file, in order; a row group that can't be read is set aside.

    Raises:
        Invalid: ``unreadable_file``.
    """
    with _opened(path, ()) as file:
        schema, metadata = file.schema_arrow, file.metadata
        if len(schema.names) > MOST_COLUMNS:
            what = f"{len(schema.names):,} columns; at most {MOST_COLUMNS:,} are read"
            raise _unreadable(path, ValueError(what))
        taken, notes = _chosen(path.name, schema)
        texts = _leaves(file.schema)
    yield from notes
    with _opened(path, texts) as file:
        line = 0
        room = _Room(UNPACKED * path.stat().st_size + ROOM)
        for group in range(metadata.num_row_groups):
            held = metadata.row_group(group)
            yield from _group(path.name, file, group, held, taken, line, room)
            line += held.num_rows


def _leaves(schema: Any) -> list[str]:
    """The paths of all texts, those within lists too."""
    columns = [schema.column(i) for i in range(len(schema))]
    return [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]


@dataclass
class _Room:
    """How much may still be unpacked."""

    left: int

    def take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise ValueError("its texts come to far more than a file of this size holds")


def _chosen(name: str, schema: Any) -> tuple[list[str], list[SetAside]]:
    """(columns to read, what is said of those that are not)"""
    taken: list[str] = []
    notes: list[SetAside] = []
    for column in dict.fromkeys(schema.names):
        if schema.names.count(column) > 1:
            why = f"The column {column!r} is there more than once; it is not read."
        elif _nesting(kind := schema.field(column).type) > _NESTED:
            why = f"The column {column!r} is nested more than {_NESTED} deep; it is not read."
        elif columns.VECTOR.search(column) and _is_numbers(kind):
            why = f"The column {column!r} holds vectors, which are made from the texts: not kept."
        else:
            taken.append(column)
            continue
        notes.append(Note(name, 0, why, column))
    return taken, notes


def _nesting(kind: Any) -> int:
    deepest, level = 0, [kind]
    while level and deepest <= _NESTED:
        deepest += 1
        level = [inner.field(i).type for inner in level for i in range(inner.num_fields)]
    return deepest


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_numbers(kind: Any) -> bool:
    import pyarrow as pa

    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    fixed = pa.types.is_fixed_size_list(kind)
    return bool((lists or fixed) and pa.types.is_floating(kind.value_type))


def _group(
    name: str, file: Any, group: int, held: Any, taken: list[str], before: int, room: _Room
) -> Iterator[Row | SetAside]:
    """The rows of one row group, those before an unreadable page included."""
    import pyarrow as pa

    line, count = before, held.num_rows
    try:
        size = _rows_at_once(held)
        for batch in file.iter_batches(size, row_groups=[group], columns=taken, use_threads=False):
            for row in _batch(name, batch, line, room):
                yield row
                line += 1
        why = "" if line == before + count else "fewer are there than the file says"
    except (pa.ArrowException, OSError, ValueError, MemoryError, OverflowError) as error:
        why = _why(error)
    if why:
        rest = f"Rows {line + 1:,} to {before + count:,}" if line < before + count else "The rows"
        yield SetAside(name, line + 1, f"{rest} of the table can't be read: {why}.", "")


def _rows_at_once(held: Any) -> int:
    """How many rows to hold, by what the file says of the row group.

    Raises:
        ValueError: a row has more values than any has that is honest.
    """
    rows = max(1, held.num_rows)
    chunks = [held.column(i) for i in range(held.num_columns)]
    most = max((chunk.num_values for chunk in chunks), default=0)
    if most > VALUES_A_ROW * rows:
        raise ValueError(f"a column claims {most:,} values for {rows:,} rows")
    for chunk in chunks:
        claimed = chunk.total_uncompressed_size
        if claimed > max(CLAIMED, PACKED * chunk.total_compressed_size):
            raise ValueError(
                f"a column of {chunk.total_compressed_size:,} bytes claims {claimed:,}"
            )
    size = sum(chunk.total_uncompressed_size for chunk in chunks) + 64 * most
    return int(max(1, min(ROWS, BYTES // max(1, size // rows))))


def _batch(name: str, batch: Any, line: int, room: _Room) -> Iterator[Row | SetAside]:
    table = {field.name: _values(batch.column(i)) for i, field in enumerate(batch.schema)}
    for at in range(batch.num_rows):
        cells = {
            column: value for column, values in table.items() if (value := values[at]) is not None
        }
        size = sum(map(_size, cells.values()))
        room.take(size)
        if why := _refused(cells, size):
            yield SetAside(name, line + at + 1, why, _shown(cells))
        else:
            yield Row(line + at + 1, cells)


class _Broken(str):
    """A text whose bytes are no UTF-8, with an escape for each of them."""

    __slots__ = ()


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    return sum(map(_size, value)) + len(value) if isinstance(value, list) else 8


def _refused(cells: Mapping[str, Any], size: int) -> str:
    if size > LINE_LIMIT:
        return f"The row has {size:,} characters; at most {LINE_LIMIT:,} are read."
    for column, value in cells.items():
        if type(value) is _Broken:
            return f"The column {column!r} holds bytes that are not UTF-8; no byte is guessed."
    return ""


def _shown(cells: Mapping[str, Any]) -> str:
    return ", ".join(f"{column}: {str(value)[:SHOWN]}" for column, value in cells.items())


def _values(array: Any) -> Sequence[Any]:
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        used = array.indices.unique().drop_null()  # a page's dictionary may be larger than its use
        once = dict(zip(used.to_pylist(), _values(array.dictionary.take(used)), strict=True))
        return [once.get(at) for at in array.indices.to_pylist()]
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        return list(_lists(array))
    try:
        values: list[Any] = array.to_pylist()
    except UnicodeDecodeError:
        return [_decoded(value) for value in array.cast(_as_bytes(array.type)).to_pylist()]
    if _is_text(array.type) or pa.types.is_integer(array.type) or pa.types.is_boolean(array.type):
        return values
    return [_plain(value) for value in values]


def _lists(array: Any) -> Iterator[list[Any] | _Broken | None]:
    parts, at = _values(array.flatten()), 0
    broken = any(type(part) is _Broken for part in parts)
    for length in array.value_lengths().to_pylist():
        if length is None:
            yield None
            continue
        whole = list(parts[at : at + length])
        yield next((part for part in whole if type(part) is _Broken), whole) if broken else whole
        at += length


def _as_bytes(kind: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_as_bytes(kind.value_type))
    return pa.binary() if _is_text(kind) else kind


def _decoded(value: Any) -> Any:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return _Broken(value.decode("utf-8", "backslashreplace"))
    if isinstance(value, list):
        parts = [_decoded(part) for part in value]
        broken = next((part for part in parts if isinstance(part, _Broken)), None)
        return parts if broken is None else broken
    return _plain(value)


def _plain(value: Any) -> Any:
    """A value as JSON has it: a time as ISO text, a number that is none as null."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else value if math.isfinite(value) else str(value)
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, decimal.Decimal):
        return str(value)
    return str(value)


# ---- writing ----


class Writer:
    """A Parquet file that is written row by row.

    Args:
        kinds: {column: kind} in order; a kind is one of ``columns``.
    """

    def __init__(self, path: Path, kinds: Mapping[str, str]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        types = {
            columns.TEXT: pa.string(),
            columns.INTEGER: pa.int64(),
            columns.NUMBER: pa.float64(),
            columns.TRUTH: pa.bool_(),
            columns.TEXTS: pa.list_(pa.string()),
            columns.INTEGERS: pa.list_(pa.int64()),
            columns.NUMBERS: pa.list_(pa.float64()),
        }
        self._schema = pa.schema([(name, types[kind]) for name, kind in kinds.items()])
        self._file = pq.ParquetWriter(path, self._schema)
        self._waiting: list[Mapping[str, Any]] = []
        self._size = 0

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *error: object) -> None:
        self._flush()
        self._file.close()

    def add(self, cells: Mapping[str, Any]) -> None:
        """Write a row; a column that is not in it is null."""
        self._waiting.append(cells)
        self._size += sum(len(cell) for cell in cells.values() if isinstance(cell, str))
        if len(self._waiting) >= WRITTEN or self._size > BYTES:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._waiting:
            self._file.write_table(pa.Table.from_pylist(self._waiting, schema=self._schema))
        self._waiting, self._size = [], 0
