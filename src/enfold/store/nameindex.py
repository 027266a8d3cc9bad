"""Hashed keys of every name: which rows could be meant by a new one."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from enfold.store.statements import ID_LIST, Statements, id_list

PAGE = 200
"""Pairs a page: 3.2 kB, so that a page fits in one of the database's."""

# A key may fill several pages, and begin at the end of the one before.
_PAGES = """
SELECT k.value, p.pairs FROM json_each(:ids) k JOIN name_page p ON p.page BETWEEN
    coalesce((SELECT page FROM name_page WHERE first_key < k.value
        ORDER BY first_key DESC, page DESC LIMIT 1), 1)
    AND coalesce((SELECT page FROM name_page WHERE first_key <= k.value
        ORDER BY first_key DESC, page DESC LIMIT 1), 0)"""


class NameIndex:
    """See ``ports.NameIndex``."""

    def __init__(self, statements: Statements) -> None:
        self._sql = statements

    def add(self, keys: Iterable[tuple[int, int]]) -> None:
        self._sql.run_many(
            "INSERT INTO name_index (key, entity_id) VALUES (?, ?) ON CONFLICT DO NOTHING", keys
        )

    def replace(self, parts: Iterable[tuple[array[int], array[int]]]) -> None:
        self._sql.run("DELETE FROM name_index")
        self._sql.run("DELETE FROM name_page")
        self._sql.run_many(
            "INSERT INTO name_page (page, first_key, pairs) VALUES (?, ?, ?)", _pages(parts)
        )

    def probe(self, keys: Sequence[int], *, limit: int | None = None) -> set[int]:
        wanted = id_list(keys)
        cut = "" if limit is None else f" LIMIT {limit:d}"
        found = set(
            self._sql.ids(
                f"SELECT entity_id FROM name_index WHERE key IN {ID_LIST}{cut}", ids=wanted
            )
        )
        for key, pairs in self._sql.stream(_PAGES, ids=wanted):
            found.update(_of_page(key, pairs))
            if limit is not None and len(found) >= limit:
                break
        # A deleted row leaves its keys behind (its id is never used again).
        return set(
            self._sql.ids(f"SELECT id FROM entity WHERE id IN {ID_LIST}", ids=id_list(found))
        )

    def unindexed(self) -> list[int]:
        return self._sql.ids(
            """SELECT id FROM entity WHERE id >
            (SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'indexed') ORDER BY id"""
        )

    def count_unindexed(self) -> int:
        return int(
            self._sql.value(
                """SELECT coalesce((SELECT max(id) FROM entity), 0) - CAST(value AS INTEGER)
                FROM meta WHERE name = 'indexed'"""
            )
        )

    def mark_indexed(self, through: int) -> None:
        self._sql.run("UPDATE meta SET value = :last WHERE name = 'indexed'", last=through)


def _pages(parts: Iterable[tuple[array[int], array[int]]]) -> Iterator[tuple[int, int, bytes]]:
    page = 0
    for keys, ids in parts:
        for start in range(0, len(keys), PAGE):
            page += 1
            pairs = keys[start : start + PAGE] + ids[start : start + PAGE]
            if sys.byteorder == "big":
                pairs.byteswap()
            yield page, keys[start], pairs.tobytes()


def _of_page(key: int, pairs: bytes) -> Iterator[int]:
    """The ids a page holds under a key."""
    values = array("q", pairs)
    if sys.byteorder == "big":
        values.byteswap()
    count = len(values) // 2
    at = bisect_left(values, key, 0, count)
    while at < count and values[at] == key:
        yield values[count + at]
        at += 1
