"""SQL statements with named parameters over one connection, inside one transaction.

The texts are in the SQL that SQLite and PostgreSQL have in common, as far as that reaches; the rest
is translated, or is a method here (see ``postgresql.statements``).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from enfold.errors import Invalid

ID_LIST = "(SELECT value FROM json_each(:ids))"
"""The ids of a list, for ``IN``; bind ``ids`` with ``id_list``. One statement text whatever the
list's length, so that it is prepared once."""


def id_list(ids: Iterable[int] | Iterable[str]) -> str:
    """The value to bind for ``ID_LIST``."""
    return json.dumps(list(ids))


class Statements:
    """Runs statements; text that no database can hold is an ``Invalid`` error.

    Attributes:
        now: what time it is, in this transaction.
        broken: what a row raises that the tables don't allow.
        keeps_gaps: whether ids that a transaction gave are lost if it is undone.
    """

    broken: type[Exception] = sqlite3.IntegrityError
    keeps_gaps: bool = False

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

    # ---- what each database has of its own ----

    def may_write(self) -> bool:
        return not self.value("PRAGMA query_only")

    def generation(self) -> int:
        """A number that changes where a restore puts other content in place."""
        return int(self.value("PRAGMA schema_version"))

    def last_id(self, table: str) -> int:
        """The highest id that a table ever gave; the next is higher."""
        found = self.value("SELECT seq FROM sqlite_sequence WHERE name = :name", name=table)
        return int(found or 0)

    def raise_last_id(self, table: str, last: int) -> None:
        """Give no id of a table up to this one again."""
        raised = self.run(
            "UPDATE sqlite_sequence SET seq = max(seq, :last) WHERE name = :name",
            name=table,
            last=last,
        )
        if not raised:
            self.run(
                "INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)",
                name=table,
                last=last,
            )

    def gave_ids(self, table: str, last: int) -> None:
        """Rows were written with ids of their own, up to this one."""

    def defer_references(self) -> None:
        """Let rows refer to others that come later in this transaction."""
        self.run("PRAGMA defer_foreign_keys = 1")

    def dangling(self) -> list[str]:
        """The rows that refer to others that are not there."""
        return [
            f"row {row} of {table} refers to a row of {other} that is gone"
            for table, row, other, _ in self.all("PRAGMA foreign_key_check")
        ]

    def damage(self) -> list[str]:
        """What is wrong with how the database is stored."""
        return [row[0] for row in self.all("PRAGMA integrity_check") if row[0] != "ok"]

    @contextmanager
    def unindexed(self, indexes: Mapping[str, str]) -> Iterator[None]:
        """While all of a table is written: without those of its indexes, each as the table and the
        columns it is on. Keeping them up took twice as long as making them anew."""
        for index in indexes:
            self.run(f"DROP INDEX {index}")
        yield
        for index, columns in indexes.items():
            self.run(f"CREATE INDEX {index} ON {columns}")

    def count_anew(self) -> None:
        """Before a transaction ends: let the database learn how many rows there are now."""

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
