"""SQL statements with named parameters over one connection, inside one transaction.

The texts are meant to be taken by PostgreSQL as they stand; what can't be is said here, once.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from enfold.errors import Invalid

ID_LIST = "(SELECT value FROM json_each(:ids))"
"""The ids of a list, for ``IN``; bind ``ids`` with ``id_list``. One statement text whatever the
list's length, so that it is prepared once."""


def id_list(ids: Iterable[int] | Iterable[str]) -> str:
    """The value to bind for ``ID_LIST``."""
    return json.dumps(list(ids))


class Statements:
    """Runs statements; text that no database can hold is an ``Invalid`` error."""

    def __init__(self, connection: sqlite3.Connection, now: str) -> None:
        self._connection = connection
        self.now = now

    def run(self, sql: str, **values: object) -> int:
        """Execute; the number of rows changed."""
        return self._execute(sql, values).rowcount

    def run_many(self, sql: str, rows: Iterable[Sequence[object]]) -> int:
        """Execute once for each row of positional values; the number of rows changed."""
        with _text_checked():
            return self._connection.executemany(sql, rows).rowcount

    def may_write(self) -> bool:
        return not self.value("PRAGMA query_only")

    def all(self, sql: str, **values: object) -> list[tuple[Any, ...]]:
        return self._execute(sql, values).fetchall()

    def stream(self, sql: str, **values: object) -> Iterator[tuple[Any, ...]]:
        return iter(self._execute(sql, values))

    def row(self, sql: str, **values: object) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = self._execute(sql, values).fetchone()
        return found

    def value(self, sql: str, **values: object) -> Any:
        """The first column of the first row, or None."""
        found = self.row(sql, **values)
        return None if found is None else found[0]

    def ids(self, sql: str, **values: object) -> list[int]:
        """The first column of every row."""
        return [row[0] for row in self._execute(sql, values)]

    def _execute(self, sql: str, values: dict[str, object]) -> sqlite3.Cursor:
        with _text_checked():
            return self._connection.execute(sql, values)


class _text_checked:  # noqa: N801  (reads as a statement; contextlib's costs 1 µs a statement)
    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, UnicodeEncodeError):
            raise Invalid(
                "bad_text",
                "The text holds half of a surrogate pair, which no database can store; "
                "decode it with errors='replace' first.",
            ) from error
        if isinstance(error, OverflowError):
            raise Invalid("bad_number", "A number is too large to be an id.") from error
