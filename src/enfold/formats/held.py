"""Values that wait for the end of a file: in memory while they are few, else on disk.

A relation may name its end by an id whose name comes later; a million of them wait in a file.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Final, Self

IN_MEMORY: Final = 8 * 1024 * 1024
"""Characters that wait in memory; beyond that all of them are in a temporary file."""


class Held:
    """JSON values, given back in the order in which they came."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(  # noqa: SIM115 - closed by __exit__
            max_size=IN_MEMORY, mode="w+", encoding="ascii", newline="\n"
        )
        self.count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, value: Any) -> None:
        self._file.write(json.dumps(value) + "\n")
        self.count += 1

    def clear(self) -> None:
        self._file.seek(0)
        self._file.truncate()
        self.count = 0

    def __iter__(self) -> Iterator[Any]:
        self._file.seek(0)
        for line in self._file:
            yield json.loads(line)
