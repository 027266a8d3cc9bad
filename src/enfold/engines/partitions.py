"""Parquet files whose rows lie by partition, a row group or more for each.

So one task writes one file for all the tasks that read it, and each of those reads its own rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from enfold.engines.places import Place

Ints = npt.NDArray[Any]

_PARTS: Final = "enfold.parts"
_PACKED: Final = "zstd"


def schema(**kinds: Any) -> Any:
    """A schema of these columns, in order."""
    return pa.schema(list(kinds.items()))


class Writer:
    """A file of rows by partition."""

    def __init__(self, file: Any, kinds: Any) -> None:
        texts = [field.name for field in kinds if pa.types.is_string(field.type)]
        self._schema = kinds
        self._file = pq.ParquetWriter(
            file, kinds, compression=_PACKED, use_dictionary=texts, write_statistics=False
        )
        self._parts: list[int] = []

    def add(self, columns: dict[str, Any], part_of: Ints | None = None) -> None:
        """Write rows, each to its partition; without any, all to partition 0."""
        table = pa.table(columns, schema=self._schema)
        if part_of is None or not len(part_of):
            self._group(table, 0)
            return
        order = np.argsort(part_of, kind="stable")
        parts, first = np.unique(part_of[order], return_index=True)
        table = table.take(pa.array(order))
        ends = [*first[1:].tolist(), len(table)]
        for part, start, end in zip(parts.tolist(), first.tolist(), ends, strict=True):
            self._group(table.slice(start, end - start), part)

    def _group(self, table: Any, part: int) -> None:
        if table.num_rows:
            self._file.write_table(table, row_group_size=table.num_rows)
            self._parts.append(part)

    def close(self) -> None:
        self._file.add_key_value_metadata({_PARTS: " ".join(map(str, self._parts))})
        self._file.close()


@contextmanager
def writing(place: Place, name: str, kinds: Any) -> Iterator[Writer]:
    """A file of rows by partition that is there whole or not at all."""
    with place.write(name) as file:
        writer = Writer(file, kinds)
        try:
            yield writer
        finally:
            writer.close()


class Reader:
    """The rows of a file by partition.

    Attributes:
        parts: the partition of each row group.
        sizes: the rows of each row group.
    """

    def __init__(self, file: Any) -> None:
        self._file = pq.ParquetFile(file, pre_buffer=False)
        held = self._file.metadata
        self.parts = [int(part) for part in held.metadata[_PARTS.encode()].split()]
        self.sizes = [held.row_group(at).num_rows for at in range(held.num_row_groups)]

    def groups(self, wanted: Collection[int] | None) -> list[int]:
        """The row groups of these partitions."""
        return [at for at, part in enumerate(self.parts) if wanted is None or part in wanted]

    def table(self, groups: list[int], columns: list[str] | None = None) -> Any:
        return self._file.read_row_groups(groups, columns=columns, use_threads=False)


@contextmanager
def reading(place: Place, name: str) -> Iterator[Reader]:
    """A file of rows by partition, opened."""
    with place.read(name) as file:
        yield Reader(file)


def rows(
    place: Place,
    names: Iterable[str],
    wanted: Collection[int] | None,
    columns: list[str] | None = None,
) -> Iterator[Any]:
    """The rows of some partitions in every file, or all rows, as a table of each."""
    for name in names:
        with reading(place, name) as file:
            groups = file.groups(wanted)
            if groups:
                yield file.table(groups, columns)


def joined(tables: Iterable[Any], kinds: Any) -> Any:
    """Tables one behind the other, as one."""
    return pa.concat_tables([kinds.empty_table(), *tables]).combine_chunks()


def column(table: Any, name: str) -> Ints:
    """A column of numbers."""
    values: Ints = table.column(name).to_numpy()
    return values


def texts(table: Any, name: str) -> list[Any]:
    """A column of texts, or of lists."""
    values: list[Any] = table.column(name).to_pylist()
    return values


def runs(values: Ints) -> tuple[Ints, Ints]:
    """(start, stop) of every run of equal values."""
    edges = np.flatnonzero(values[1:] != values[:-1]) + 1
    ends = [] if values.size == 0 else [values.size]
    starts = np.concatenate(([0][: len(ends)], edges)).astype(np.int64)
    return starts, np.concatenate((edges, ends)).astype(np.int64)


def binary(codes: Ints) -> Any:
    """Rows of codes as an Arrow column, without a copy."""
    count, length = codes.shape
    if not count:
        return pa.array([], pa.binary())
    ends = np.arange(0, (count + 1) * length * 4, length * 4, dtype=np.int32)
    values = np.ascontiguousarray(codes)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(values)]
    return pa.Array.from_buffers(pa.binary(), count, buffers)


def codes_of(table: Any, length: int) -> Any:
    """The other way round."""
    values = table.column("codes").combine_chunks()
    whole = np.frombuffer(values.buffers()[2], dtype=np.uint32)
    start = values.offset * length
    return whole[start : start + len(values) * length].reshape(len(values), length)
