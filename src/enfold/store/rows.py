"""Tables as rows, for a copy of the whole graph: see ``enfold.copying``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from enfold import wording
from enfold.copying.tables import BY_NAME, KEPT, TABLES, Table, Value, unsound
from enfold.ports import Suggestions
from enfold.store.memorywords import MemoryWords
from enfold.store.schema import VERSION
from enfold.store.statements import Statements
from enfold.store.words import Words

# What is sealed, and the passages of a document that is.
_SEALED: Final = """WITH sealed (id) AS (
    SELECT memory_id FROM uncounted WHERE sealed_for IS NOT NULL
    UNION SELECT m.id FROM uncounted x JOIN memory m ON m.document_id = x.memory_id
    WHERE x.sealed_for IS NOT NULL)"""

_ARE_SEALED: Final = "coalesce({column}, 0) IN (SELECT id FROM sealed)"

_NUMBER: Final = re.compile("[0-9]{1,15}")
_META: Final = ", ".join(f"'{name}'" for name in KEPT)

_FROM: Final = {
    "meta": f"(SELECT name, value FROM meta WHERE name IN ({_META}))",
}
"""Where rows come from that are not all of a table."""

_FLAWS: Final = {
    "a pair is suggested of rows that are not there": """
        SELECT 1 FROM suggestion s LEFT JOIN entity l ON l.id = s.left_id
        LEFT JOIN entity r ON r.id = s.right_id WHERE l.id IS NULL OR r.id IS NULL LIMIT 1""",
}
"""What would break the graph later, or while the rest is worked out, and how it is found."""


class Rows:
    """See ``ports.Rows``."""

    schema: Final = VERSION

    def __init__(
        self,
        statements: Statements,
        words: Words,
        memory_words: MemoryWords,
        suggestions: Suggestions,
    ) -> None:
        self._sql = statements
        self._words = words
        self._memory_words = memory_words
        self._suggestions = suggestions

    def read(self, table: str, *, sealed: bool) -> Iterator[tuple[Any, ...]]:
        if table == "last_id":
            return iter(self._last_ids())
        asked = BY_NAME[table]
        return self._sql.stream(_reading(asked, sealed=sealed or not (asked.goes or asked.loosens)))

    def are_none(self) -> bool:
        held = (table.name for table in TABLES if not table.seeded and table.name != "last_id")
        exist = " OR ".join(f"EXISTS (SELECT 1 FROM {name})" for name in held)
        if self._sql.value(f"SELECT {exist}"):
            return False
        return self._sql.keeps_gaps or not self._last_ids()

    def _last_ids(self) -> list[tuple[str, int]]:
        lasts = ((name, self._sql.last_id(name)) for name in sorted(BY_NAME))
        return [(name, last) for name, last in lasts if last]

    def begin(self) -> None:
        # A row may refer to one that comes after it, as a fold does to a later name.
        self._sql.defer_references()
        for table in TABLES:
            if table.seeded:
                self._sql.run(f"DELETE FROM {table.name}{_kept(table)}")

    def write(self, table: str, rows: Iterable[tuple[Value, ...]]) -> int:
        if table == "last_id":
            return self._write_last_ids(list(rows))
        into = BY_NAME[table]
        places = ", ".join("?" * len(into.columns))
        try:
            return self._sql.run_many(
                f"INSERT INTO {table} ({', '.join(into.names)}) VALUES ({places})", rows
            )
        except self._sql.broken as error:
            raise unsound(f"a row of {table} can't be ({error})") from error

    def _write_last_ids(self, rows: list[tuple[Value, ...]]) -> int:
        for name, last in rows:
            if name not in BY_NAME:
                raise unsound(f"it gives a last id of no table that is known, {name!r:.60}")
            self._sql.raise_last_id(str(name), int(last or 0))
        return len(rows)

    def flaws(self) -> list[str]:
        found = [flaw for flaw, sql in _FLAWS.items() if self._sql.row(sql) is not None]
        if not self._marks_hold():
            found.append("an edge's last id, or a name's that was looked at, is no number of it")
        if self._sql.dangling():
            found.append("a row refers to another that is not there")
        return found

    def _marks_hold(self) -> bool:
        """Whether the last edge, and the last name that was looked at, are numbers that may be."""
        marks = dict(
            self._sql.all("SELECT name, value FROM meta WHERE name IN ('edge', 'examined')")
        )
        sound = len(marks) == 2 and all(_NUMBER.fullmatch(value) for value in marks.values())
        return sound and int(marks["examined"]) <= self._sql.last_id("entity")

    def remake(self) -> None:
        self._words.rewrite()
        self._memory_words.file(
            (memory_id, wording.words(content))
            for memory_id, content in self._sql.stream(
                """SELECT id, content FROM memory m WHERE NOT EXISTS
                    (SELECT 1 FROM memory p WHERE p.document_id = m.id) ORDER BY id"""
            )
        )
        self._sql.run(
            """INSERT INTO unsettled SELECT left_id FROM suggestion WHERE true
            ON CONFLICT DO NOTHING"""
        )
        self._suggestions.count_open()  # works out what is marked


def _reading(table: Table, *, sealed: bool) -> str:
    """The statement for a table's rows; not ``sealed`` as they would be if what is sealed were
    deleted."""
    source = _FROM.get(table.name, table.name)
    if sealed:
        return f"SELECT {', '.join(table.names)} FROM {source} ORDER BY {table.order}"
    columns = (
        f"CASE WHEN {_ARE_SEALED.format(column=name)} THEN NULL ELSE {name} END"
        if name in table.loosens
        else name
        for name in table.names
    )
    stays = " AND ".join(f"NOT {_ARE_SEALED.format(column=name)}" for name in table.goes)
    return f"""{_SEALED} SELECT {", ".join(columns)} FROM {source} WHERE {stays or "true"}
        ORDER BY {table.order}"""


def _kept(table: Table) -> str:
    return f" WHERE name IN ({_META})" if table.name == "meta" else ""
