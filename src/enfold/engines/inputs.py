"""Names from Parquet, CSV or JSON lines, in bounded memory: the file itself is read where it lies.

Of its columns ``name`` is read, and where they are there ``type`` and ``id``.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.csv as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from pyarrow import fs

from enfold.engines.places import opened
from enfold.errors import Invalid

NAME: Final = "name"
COLUMNS: Final = (NAME, "type", "id")

PARQUET: Final = "parquet"
CSV: Final = "csv"
TSV: Final = "tsv"
LINES: Final = "jsonl"

ENDINGS: Final = {
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".csv": CSV,
    ".tsv": TSV,
    ".jsonl": LINES,
    ".ndjson": LINES,
}

ROWS_A_TASK: Final = 250_000
"""Rows of a Parquet file that one task reads, but never less than a row group."""

BATCH: Final = 10_000

LINE: Final = 1 << 20
"""Longest line that is read, in bytes."""

HEAD: Final = 1 << 16

BYTES_A_ROW: Final = 24
"""About what a row of text takes, to tell how many there may be."""


@dataclass(frozen=True)
class File:
    """One file of names.

    Attributes:
        url: how every process opens it.
        rows: how many there are, or about how many where only reading tells.
        groups: (rows before, its number, rows) of each row group of a Parquet file.
        size, stamp: its bytes, and what changes when it does.
        integers: whether its ids are whole numbers; None where it has none.
    """

    url: str
    kind: str
    rows: int
    size: int
    stamp: str
    groups: tuple[tuple[int, int, int], ...] = ()
    integers: bool | None = None

    def tasks(self) -> list[list[tuple[int, int, int]]]:
        """The row groups for each task; one task without any for a file that is read in one go."""
        if self.kind != PARQUET:
            return [[]]
        found: list[list[tuple[int, int, int]]] = []
        held = 0
        for group in self.groups:
            if not found or held + group[2] > ROWS_A_TASK:
                found.append([])
                held = 0
            found[-1].append(group)
            held += group[2]
        return found


def files(names: str) -> tuple[list[File], list[str]]:
    """(the files of names at a path or URL, what else is in that folder).

    Raises:
        Invalid: ``no_such_file``, ``unreadable_file``, ``no_names``.
    """
    system, path = opened(names)
    start = names[: len(names) - len(path)] if "://" in names and names.endswith(path) else ""
    found = system.get_file_info(path)
    if found.type == fs.FileType.NotFound:
        raise Invalid("no_such_file", f"There is nothing at {names}; check the path.")
    if found.type == fs.FileType.File:
        return [_file(system, found, start)], []
    inside = system.get_file_info(fs.FileSelector(path, recursive=True))
    ours, others = [], []
    for one in sorted(inside, key=lambda one: one.path):
        below = one.path[len(path) :].strip("/")
        if one.type != fs.FileType.File or any(p[:1] in "._" for p in below.split("/")):
            continue
        if _kind(one.path):
            ours.append(_file(system, one, start))
        else:
            others.append(below)
    if not ours:
        ends = ", ".join(ENDINGS)
        raise Invalid("no_such_file", f"The folder {names} holds no file of names ({ends}).")
    return ours, others


def _kind(path: str) -> str:
    return next((kind for end, kind in ENDINGS.items() if path.lower().endswith(end)), "")


def _file(system: Any, found: Any, start: str) -> File:
    path = found.path
    kind = _kind(path)
    if not kind:
        with system.open_input_file(path) as file:
            if file.read(4) != b"PAR1":
                ends = ", ".join(ENDINGS)
                raise Invalid("unreadable_file", f"{path} is no file of names ({ends}).")
        kind = PARQUET
    url, stamp = start + path if start else _url(system, path), str(found.mtime_ns or "")
    if kind != PARQUET:
        ids = False if _has_ids(system, path, kind) else None
        return File(url, kind, found.size // BYTES_A_ROW, found.size, stamp, integers=ids)
    with _parquet(system, path) as file:
        held = file.metadata
        columns = {field.name: field.type for field in file.schema_arrow}
        _must_have_names(path, columns)
        counts = [held.row_group(at).num_rows for at in range(held.num_row_groups)]
    groups, before = [], 0
    for at, count in enumerate(counts):
        groups.append((before, at, count))
        before += count
    integers = _integers(columns["id"]) if "id" in columns else None
    return File(url, kind, before, found.size, stamp, tuple(groups), integers)


def _has_ids(system: Any, path: str, kind: str) -> bool:
    """Whether a text has a column of ids, or the first of its lines."""
    try:
        with system.open_input_stream(path) as file:
            head = file.read(HEAD).decode("utf-8-sig", "replace").splitlines()[:1]
    except OSError as error:
        raise _unreadable(path, error) from error
    if kind == LINES:
        return any('"id"' in line for line in head)
    # Not by Arrow's reader: one that is left before its end went on reading a file that was closed.
    columns = next(csv.reader(head, delimiter="," if kind == CSV else "\t"), [])
    if columns:
        _must_have_names(path, columns)
    return "id" in columns


def _url(system: Any, path: str) -> str:
    if isinstance(system, fs.LocalFileSystem):
        return str(path)
    kind = system.handler.fs.protocol
    return f"{kind if isinstance(kind, str) else kind[0]}://{path}"


def _integers(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) and kind != pa.uint64())


def _parquet(system: Any, path: str) -> Any:
    try:
        file = pq.ParquetFile(system.open_input_file(path), pre_buffer=False)
        file.schema_arrow  # noqa: B018  # made when it is asked for
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    return file


def _unreadable(path: str, error: Exception) -> Invalid:
    why = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
    return Invalid("unreadable_file", f"{path} can't be read: {why}. Write or copy it again.")


def _must_have_names(path: str, columns: Any) -> None:
    if NAME not in columns:
        there = ", ".join(map(str, columns)) or "none"
        raise Invalid(
            "no_names", f"{path} has no column {NAME!r}; its columns are: {there}. Rename one."
        )


@dataclass(frozen=True)
class Rows:
    """Some rows, column by column; a broken text is None, with why in ``broken`` by its place."""

    first: int
    names: list[str | None]
    types: list[str | None]
    ids: list[str | None]
    broken: dict[int, str]


def read(file: File, groups: Sequence[Sequence[int]]) -> Iterator[Rows]:
    """The rows of a file, or of some of its row groups.

    Raises:
        Invalid: ``unreadable_file``, ``no_names``.
    """
    system, path = opened(file.url)
    try:
        if file.kind == PARQUET:
            yield from _from_parquet(system, path, groups)
        elif file.kind == LINES:
            yield from _from_lines(system, path)
        else:
            yield from _from_csv(system, path, "," if file.kind == CSV else "\t")
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _from_parquet(system: Any, path: str, groups: Sequence[Sequence[int]]) -> Iterator[Rows]:
    with _parquet(system, path) as file:
        there = set(file.schema_arrow.names)
        wanted = [name for name in COLUMNS if name in there]
        for first, group, _ in groups:
            at = first
            for batch in file.iter_batches(
                BATCH, row_groups=[group], columns=wanted, use_threads=False
            ):
                yield _rows(at, {name: batch.column(name) for name in wanted}, len(batch))
                at += len(batch)


def _table(file: Any, mark: str) -> Any:
    return pc.open_csv(
        file,
        read_options=pc.ReadOptions(block_size=LINE, use_threads=False),
        parse_options=pc.ParseOptions(delimiter=mark, newlines_in_values=True),
        convert_options=pc.ConvertOptions(
            column_types=dict.fromkeys(COLUMNS, pa.binary()), strings_can_be_null=False
        ),
    )


def _from_csv(system: Any, path: str, mark: str) -> Iterator[Rows]:
    with system.open_input_stream(path) as file:
        reader = _table(file, mark)
        _must_have_names(path, reader.schema.names)
        at = 0
        for batch in reader:
            columns = {name: batch.column(name) for name in COLUMNS if name in batch.schema.names}
            yield _rows(at, columns, len(batch))
            at += len(batch)


def _from_lines(system: Any, path: str) -> Iterator[Rows]:
    with system.open_input_stream(path) as file:
        at, waiting = 0, Rows(0, [], [], [], {})
        for line in _lines(file):
            if not line.strip():
                continue
            place = len(waiting.names)
            cells: Any = None
            try:
                cells = json.loads(line)
            except (ValueError, RecursionError):
                waiting.broken[place] = "no JSON"
            if not isinstance(cells, dict):
                waiting.broken.setdefault(place, "no JSON object")
                cells = {}
            for column, values in zip(
                COLUMNS, (waiting.names, waiting.types, waiting.ids), strict=True
            ):
                value = cells.get(column)
                values.append(value if value is None or isinstance(value, str) else str(value))
            if len(waiting.names) >= BATCH:
                yield waiting
                at += len(waiting.names)
                waiting = Rows(at, [], [], [], {})
        yield waiting


def _lines(file: Any) -> Iterator[bytes]:
    rest = b""
    while block := file.read(LINE):
        *whole, rest = (rest + block).split(b"\n")
        yield from whole
        if len(rest) > LINE:
            raise ValueError(f"a line is longer than {LINE:,} bytes")
    if rest:
        yield rest


def _rows(first: int, columns: dict[str, Any], count: int) -> Rows:
    broken: dict[int, str] = {}
    none: list[str | None] = [None] * count
    names, types, ids = (
        _texts(name, columns[name], broken) if name in columns else none for name in COLUMNS
    )
    return Rows(first, names, types, ids, broken)


def _texts(name: str, values: Any, broken: dict[int, str]) -> list[str | None]:
    try:
        plain = values.to_pylist()
    except UnicodeDecodeError:
        plain = values.cast(pa.binary()).to_pylist()
    found: list[str | None] = []
    for at, value in enumerate(plain):
        if isinstance(value, bytes):
            try:
                found.append(value.decode())
            except UnicodeDecodeError:
                broken[at] = f"its {name} is not UTF-8"
                found.append(None)
        else:
            found.append(value if value is None or isinstance(value, str) else str(value))
    return found
