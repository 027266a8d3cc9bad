"""The statements of every noun, as PostgreSQL takes them.

Values are written into the text by the driver and not sent beside it: PostgreSQL would have to be
told the type of each, which the common texts don't say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice
from typing import Any, Final

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Dumper

from enfold.errors import Invalid
from enfold.store import statements as common

ROWS: Final = 5_000
"""Rows of one statement, and of one step of a stream."""

MANY: Final = 500
"""After so many rows written, and four times as many each time, a transaction lets the database
count tables anew: by what it knew of them when they were empty, it went through all of them for
each row."""

_NAMED: Final = re.compile(r"(?<![:\w]):([a-z_]+)")
_IN_LIST: Final = re.compile(r"\b(NOT )?IN \(SELECT value FROM json_each\(:([a-z_]+)\)\)")
_LIST: Final = re.compile(r"json_each\(:([a-z_]+)\)( (?!JOIN\b|CROSS\b|WHERE\b)[a-z_]+)?")
_NAMED_LIST: Final = re.compile(r"json_each\(:([a-z_]+)\)")
_IS_NOT: Final = re.compile(r"\bIS NOT (?!NULL\b|DISTINCT\b)")
_IS: Final = re.compile(r"\bIS (?!NULL\b|NOT\b|DISTINCT\b)")
_INTEGER: Final = re.compile(r"\bINTEGER\b")
_INSERTED: Final = re.compile(r"\s*(INSERT INTO (\w+) \(([^)]*)\)\s+VALUES )(\([^()]*\))(.*)", re.S)
_PLAIN: Final = re.compile(r"\(\?(, \?)*\)")

_GROWING: Final = "entity, mention, fact, memory, word, word_of"
_AS_WELL: Final = """word_part, memory_words, memory_code, memory_vector, name_code, name_vector,
name_page, name_index, suggestion, open_pair, merge, merge_edge, conflict, unlinked, uncounted"""
"""The tables that are counted: those of rows that come in great numbers, of which some are looked
up for others while they come."""

_WORD: Final = 2**63

WITH_IDS: Final = frozenset(
    """memory entity merge unlinked unlinked_fact renaming decision conflict space memory_code
    name_code run""".split()
)
"""Tables that give their rows ids which are never given again."""


@lru_cache(maxsize=2_000)
def translated(sql: str) -> tuple[str, frozenset[str]]:
    """A text of the common kind as PostgreSQL takes it, and which of its values are lists."""
    lists = frozenset(_NAMED_LIST.findall(sql))
    text = sql.replace("%", "%%")
    text = _IN_LIST.sub(lambda m: f"{'<> ALL' if m[1] else '= ANY'}(:{m[2]})", text)
    text = _LIST.sub(lambda m: f"unnest(CAST(:{m[1]} AS bigint[])) AS{m[2] or ' l'}(value)", text)
    text = _IS_NOT.sub("IS DISTINCT FROM ", text)
    text = _IS.sub("IS NOT DISTINCT FROM ", text)
    text = _INTEGER.sub("BIGINT", text)
    return _NAMED.sub(r"%(\1)s", text).replace("?", "%s"), lists


def _array(listed: str) -> str:
    """A JSON list of ids or texts as an array of PostgreSQL."""
    if '"' not in listed:
        return "{" + listed[1:-1] + "}"
    quoted = (one.replace("\\", "\\\\").replace('"', '\\"') for one in map(str, json.loads(listed)))
    return "{" + ",".join(f'"{one}"' for one in quoted) + "}"


class FlagDumper(Dumper):
    """True and false as 1 and 0, which is what the tables hold."""

    oid = 20

    def dump(self, obj: bool) -> Buffer:
        return b"1" if obj else b"0"

    def quote(self, obj: bool) -> Buffer:
        return self.dump(obj)


class Statements(common.Statements):
    """See ``enfold.store.statements.Statements``."""

    broken = psycopg.errors.IntegrityError
    keeps_gaps = True

    def __init__(self, connection: psycopg.Connection, now: str, *, may_write: bool) -> None:
        self._server = connection
        self.now = now
        self._may_write = may_write
        self._streams = 0
        self._written = 0
        self._count_at = MANY

    def run_many(self, sql: str, rows: Iterable[Sequence[object]]) -> int:
        left = iter(rows)
        changed = 0
        inserted = _INSERTED.fullmatch(sql)
        # What makes the rows may ask the database as well: it is not to be amid a statement then.
        while some := list(islice(left, ROWS)):
            with _checked():
                if inserted is None:
                    cursor = self._server.cursor()
                    cursor.executemany(translated(sql)[0], some)
                    changed += cursor.rowcount
                elif _PLAIN.fullmatch(inserted[4]) and not inserted[5].strip():
                    changed += self._copy(inserted[2], inserted[3], some)
                else:
                    changed += self._insert(inserted, some)
        self._written += max(changed, 0)
        if self._written >= self._count_at:
            self.run(f"ANALYZE {_GROWING}")
            self._count_at = 4 * self._written
        return changed

    def _copy(self, table: str, columns: str, rows: list[Sequence[object]]) -> int:
        with (
            self._server.cursor() as cursor,
            cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy,
        ):
            for row in rows:
                copy.write_row(row)
        return len(rows)

    def _insert(self, parts: re.Match[str], rows: list[Sequence[object]]) -> int:
        head, _, _, places, tail = parts.groups()
        changed = 0
        for at in range(0, len(rows), ROWS // 10):
            some = rows[at : at + ROWS // 10]
            text = head + ", ".join([places] * len(some)) + tail
            values = list(chain.from_iterable(some))
            changed += self._server.execute(_many(text), values).rowcount
        return changed

    def stream(self, sql: str, **values: object) -> Iterator[tuple[Any, ...]]:
        self._streams += 1
        name = f"stream_{self._streams}"
        more = f"FETCH {ROWS} FROM {name}"
        # Both in one message, since most streams end with their first rows.
        cursor = self._execute(f"DECLARE {name} NO SCROLL CURSOR FOR {sql};{more}", values)
        cursor.nextset()
        return self._fetched(cursor.fetchall(), more)

    def _fetched(self, rows: list[tuple[Any, ...]], more: str) -> Iterator[tuple[Any, ...]]:
        while True:
            yield from rows
            if len(rows) < ROWS:
                return
            with _checked():
                rows = self._server.execute(more).fetchall()

    # ---- what each database has of its own ----

    def may_write(self) -> bool:
        return self._may_write

    def generation(self) -> int:
        return int(self.value("SELECT generation FROM graph"))

    def last_id(self, table: str) -> int:
        if table not in WITH_IDS:
            return 0
        return int(
            self.value(f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {table}_id_seq")
        )

    def raise_last_id(self, table: str, last: int) -> None:
        if table in WITH_IDS and last > self.last_id(table):
            self.value(f"SELECT setval('{table}_id_seq', :last)", last=last)

    def gave_ids(self, table: str, last: int) -> None:
        self.raise_last_id(table, last)

    def defer_references(self) -> None:
        self.run("SET CONSTRAINTS ALL DEFERRED")

    def dangling(self) -> list[str]:
        """What the database refuses to take as it is: it holds no rows that refer to others that
        are not there, but until a transaction ends."""
        try:
            with self._server.transaction():
                self.run("SET CONSTRAINTS ALL IMMEDIATE")
        except self.broken as error:
            return [str(error).partition("\n")[0]]
        return []

    def damage(self) -> list[str]:
        return []  # PostgreSQL looks at its pages itself

    @contextmanager
    def unindexed(self, indexes: Mapping[str, str]) -> Iterator[None]:
        yield  # dropping an index would keep every reader waiting until the transaction ends

    def count_anew(self) -> None:
        if self._written >= MANY:
            self.run(f"ANALYZE {_GROWING}, {_AS_WELL}")

    def _execute(self, sql: str, values: dict[str, object]) -> Any:
        text, lists = translated(sql)
        if lists:
            values = values | {name: _array(str(values[name])) for name in lists}
        if any(type(value) is int and not -_WORD <= value < _WORD for value in values.values()):
            raise Invalid("bad_number", "A number is too large to be an id.")
        with _checked():
            return self._server.execute(text, values)


@lru_cache(maxsize=200)
def _many(sql: str) -> str:
    return translated(sql)[0]


class _checked:  # noqa: N801  (reads as a statement)
    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, UnicodeEncodeError) or (
            isinstance(error, psycopg.DataError) and "NUL" in str(error)
        ):
            raise Invalid(
                "bad_text",
                "The text holds a NUL or half of a surrogate pair, which no database can store; "
                "decode it with errors='replace', and take NULs out.",
            ) from error
        if isinstance(error, psycopg.errors.NumericValueOutOfRange):
            raise Invalid("bad_number", "A number is too large to be an id.") from error
