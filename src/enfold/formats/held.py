"""Values that wait for the end of a file: in memory while they are few, else on disk.

A relation may name its end by an id whose name comes later, and a text wait for the thing it is
said of; a million of them wait in a file.
"""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Final, Self

IN_MEMORY: Final = 8 * 1024 * 1024
"""Bytes that wait in memory; beyond that all of them are in a temporary file."""


class Held:
    """JSON values, given back in the order in which they came, or each by its place."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  # closed by __exit__

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    def add(self, value: Any) -> int:
        """Keep a value; its place."""
        place = self._file.seek(0, io.SEEK_END)
        self._file.write(json.dumps(value).encode() + b"\n")
        return place

    def at(self, place: int) -> Any:
        """The value of that place."""
        self._file.seek(place)
        return json.loads(self._file.readline())

    def clear(self) -> None:
        """Forget all of them."""
        self._file.seek(0)
        self._file.truncate()

    def __iter__(self) -> Iterator[Any]:
        self._file.seek(0)
        for line in self._file:
            yield json.loads(line)
