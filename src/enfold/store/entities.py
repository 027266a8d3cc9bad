"""Rows of spellings, live and absorbed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from enfold.model import Entity
from enfold.ports import NewEntity, NewRow, Row
from enfold.store.statements import ID_LIST, Statements, id_list
from enfold.store.words import Words

MENTIONS_OF_ROOT: Final = """
    (SELECT count(DISTINCT m.memory_id) FROM entity a
     JOIN mention m ON m.asserted_id = a.id
     WHERE a.canonical_id = root.id
         AND NOT EXISTS (SELECT 1 FROM uncounted x WHERE x.memory_id = m.memory_id))"""

_SELECT: Final = f"""
SELECT e.id, e.spelling, e.key, e.sense, e.type, named.name, e.folded_into, e.canonical_id,
    {MENTIONS_OF_ROOT} AS mentions,
    e.alias_only, e.source_tag, e.foreign_id, e.created_at
FROM entity e
JOIN entity root ON root.id = e.canonical_id
JOIN shown named ON named.root_id = root.id
"""


def _entity(row: tuple[Any, ...]) -> Entity:
    values = (*row[:9], bool(row[9]), *row[10:])
    return Entity(*values)


_EXAMINED: Final = "(SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'examined')"
"""The last row of the last pass: those behind it are new."""


class Entities:
    """See ``ports.Entities``."""

    def __init__(self, statements: Statements, words: Words) -> None:
        self._sql = statements
        self._words = words
        self._last: int | None = None

    def get(self, entity_id: int) -> Entity | None:
        return next(iter(self._where("e.id = :id", id=entity_id)), None)

    def many(self, ids: Sequence[int]) -> dict[int, Entity]:
        return {e.id: e for e in self._where(f"e.id IN {ID_LIST}", ids=id_list(ids))}

    def by_key(self, key: str) -> list[Entity]:
        return self._where("e.key = :key", "e.sense", key=key)

    def by_merge_key(self, merge_key: str) -> list[Entity]:
        return self._where("e.merge_key = :merge_key", merge_key=merge_key)

    def starting(self, letters: str, *, limit: int) -> list[int]:
        return self._sql.ids(
            "SELECT id FROM entity WHERE merge_key >= :letters AND merge_key < :end"
            " ORDER BY merge_key, id LIMIT :limit",
            letters=letters,
            end=letters + chr(0x10FFFF),
            limit=limit,
        )

    def live(self, *, after: int = 0, limit: int = 100) -> list[Entity]:
        ids = self._sql.ids(
            "SELECT id FROM entity WHERE id > :after AND folded_into IS NULL"
            " ORDER BY id LIMIT :limit",
            after=after,
            limit=limit,
        )
        return self._where(f"e.id IN {ID_LIST}", ids=id_list(ids))

    def cluster(self, canonical_id: int) -> list[Entity]:
        rows = self._where("e.canonical_id = :root", root=canonical_id)
        return sorted(rows, key=lambda e: (not e.live, e.id))

    def aliases(self, roots: Sequence[int]) -> dict[int, tuple[str, ...]]:
        """The other spellings of each of these roots, by row id, the name shown aside."""
        rows = self._sql.all(
            f"""SELECT e.canonical_id, e.spelling FROM entity e
            JOIN shown named ON named.root_id = e.canonical_id
            WHERE e.canonical_id IN {ID_LIST} AND e.spelling <> named.name
            ORDER BY e.id""",
            ids=id_list(roots),
        )
        found: dict[int, dict[str, None]] = {}
        for root, spelling in rows:
            found.setdefault(root, {})[spelling] = None
        return {root: tuple(spellings) for root, spellings in found.items()}

    def spellings(self) -> Iterator[tuple[int, str, str | None]]:
        return self._sql.stream("SELECT id, spelling, type FROM entity ORDER BY id")

    def types(self) -> Iterator[tuple[int, str | None]]:
        return self._sql.stream("SELECT id, type FROM entity ORDER BY id")

    def stored_keys(self) -> Iterator[tuple[int, str, str, str, str]]:
        return self._sql.stream(
            "SELECT id, spelling, key, merge_key, fold_key FROM entity ORDER BY id"
        )

    def roots(self, ids: Sequence[int]) -> dict[int, int]:
        return dict(
            self._sql.all(
                f"SELECT id, canonical_id FROM entity WHERE id IN {ID_LIST}", ids=id_list(ids)
            )
        )

    def absorbed(self) -> dict[int, int]:
        return dict(
            self._sql.all("SELECT id, canonical_id FROM entity WHERE folded_into IS NOT NULL")
        )

    def mention_counts(self, roots: Sequence[int]) -> dict[int, int]:
        return dict(
            self._sql.all(
                f"SELECT root.id, {MENTIONS_OF_ROOT} FROM entity root WHERE root.id IN {ID_LIST}",
                ids=id_list(roots),
            )
        )

    def rows(self, keys: Sequence[str]) -> dict[str, list[Row]]:
        return self._rows("key", keys)

    def spelled_by_merge_key(self, keys: Sequence[str]) -> list[tuple[int, str]]:
        return self._sql.all(
            f"""SELECT id, spelling FROM entity
            WHERE merge_key <> '' AND merge_key IN {ID_LIST} ORDER BY id""",
            ids=id_list(keys),
        )

    def rows_by_id(self, ids: Sequence[int]) -> list[Row]:
        found = self._rows("id", ids)
        return [row for same in found.values() for row in same]

    def rows_by_foreign_id(self, foreign_ids: Sequence[str]) -> dict[str, list[Row]]:
        return self._rows("foreign_id", foreign_ids)

    def _rows(self, column: str, values: Sequence[str] | Sequence[int]) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = {}
        for at, *row in self._sql.stream(
            f"""SELECT {column}, id, spelling, key, sense, type, alias_only <> 0, canonical_id,
                foreign_id
            FROM entity WHERE {column} IN {ID_LIST} ORDER BY {column}, sense, id""",
            ids=id_list(values),
        ):
            found.setdefault(at, []).append(Row(*row))
        return found

    def add_many(self, rows: Sequence[NewRow]) -> list[int | None]:
        known = self.rows(list({row.name.key for row in rows}))
        taken = {(key, row.sense) for key, same in known.items() for row in same}
        ids: list[int | None] = []
        new: list[tuple[object, ...]] = []
        for row in rows:
            at = (row.name.key, row.sense)
            if at in taken:
                ids.append(None)
                continue
            taken.add(at)
            self._last = self._next_id()
            ids.append(self._last)
            new.append(self._values(self._last, row))
        self._sql.run_many(
            """INSERT INTO entity (id, spelling, key, sense, merge_key, fold_key, type, source_tag,
                foreign_id, attributes, alias_only, canonical_id, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            new,
        )
        if self._last is not None:
            self._sql.gave_ids("entity", self._last)
        self._words.add((row_id, row.name) for row_id, row in zip(ids, rows, strict=True) if row_id)
        return ids

    def _values(self, entity_id: int, row: NewRow) -> tuple[object, ...]:
        name = row.name
        return (
            entity_id,
            name.spelling,
            name.key,
            row.sense,
            name.merge_key,
            name.fold_key,
            row.type,
            row.source_tag,
            row.foreign_id,
            json.dumps(row.attributes, ensure_ascii=True) if row.attributes else None,
            int(row.alias_only),
            entity_id,
            self._sql.now,
        )

    def add(
        self,
        name: NewEntity,
        *,
        type: str | None,
        sense: int = 0,
        alias_only: bool = False,
        source_tag: str | None = None,
        foreign_id: str | None = None,
        attributes: Mapping[str, object] | None = None,
    ) -> int | None:
        row = NewRow(name, type, sense, alias_only, source_tag, foreign_id, attributes)
        return self.add_many([row])[0]

    def _next_id(self) -> int:
        # A row names itself as its root, so its id must be known before it is written. Under the
        # write lock the counter can't move but by this transaction.
        if self._last is None:
            self._last = self._sql.last_id("entity")
        return self._last + 1

    def show(self, root_id: int, shown_id: int, *, actor: str | None) -> None:
        self._sql.run(
            "INSERT INTO renaming (root_id, shown_id, actor, created_at)"
            " VALUES (:root, :shown, :actor, :now)",
            root=root_id,
            shown=shown_id,
            actor=actor,
            now=self._sql.now,
        )

    def renamings(self) -> list[tuple[int, int, str | None, str]]:
        return self._sql.all(
            "SELECT root_id, shown_id, actor, created_at FROM renaming ORDER BY id"
        )

    def unexamined(self) -> list[int]:
        return self._sql.ids(
            f"""SELECT id FROM entity WHERE id > {_EXAMINED}
            UNION SELECT id FROM entity WHERE again = 1 ORDER BY id"""
        )

    def mark_examined(self, ids: Sequence[int]) -> None:
        """Ids grow in writing order, so what is new is told by a mark; writing to each of a
        million rows took 1.5 s."""
        listed, last = id_list(ids), max(ids, default=0)
        self._sql.run(
            f"UPDATE entity SET again = 0 WHERE again = 1 AND id IN {ID_LIST}", ids=listed
        )
        self._sql.run(
            f"""UPDATE entity SET again = 1
            WHERE id > {_EXAMINED} AND id <= :last AND id NOT IN {ID_LIST}""",
            ids=listed,
            last=last,
        )
        self._mark_through(last)

    def mark_all_examined(self, through: int, besides: Sequence[int] = ()) -> None:
        self._sql.run("UPDATE entity SET again = 0 WHERE again = 1 AND id <= :last", last=through)
        self._sql.run(
            f"UPDATE entity SET again = 1 WHERE id IN {ID_LIST}", ids=id_list(list(besides))
        )
        self._mark_through(through)

    def _mark_through(self, last: int) -> None:
        self._sql.run(
            """UPDATE meta SET value = :last
            WHERE name = 'examined' AND CAST(value AS INTEGER) < :last""",
            last=last,
        )

    def forget_examined(self, ids: Sequence[int]) -> None:
        self._sql.run(
            f"""UPDATE entity SET again = 1 WHERE id IN {ID_LIST} OR merge_key IN
                (SELECT merge_key FROM entity WHERE id IN {ID_LIST} AND merge_key <> '')""",
            ids=id_list(ids),
        )

    def last(self) -> int:
        return int(self._sql.value("SELECT coalesce(max(id), 0) FROM entity"))

    def count(self) -> int:
        return int(self._sql.value("SELECT count(*) FROM entity"))

    def count_live(self) -> int:
        # Counting what is absorbed reads a small index; the difference is what is live.
        absorbed = self._sql.value("SELECT count(*) FROM entity WHERE folded_into IS NOT NULL")
        return self.count() - int(absorbed)

    def set_type(self, entity_id: int, type: str | None) -> None:
        self._sql.run("UPDATE entity SET type = :type WHERE id = :id", id=entity_id, type=type)

    def attributes(self, entity_id: int) -> dict[str, object]:
        stored = self._sql.value("SELECT attributes FROM entity WHERE id = :id", id=entity_id)
        return json.loads(stored) if stored else {}

    def attributes_many(self, ids: Sequence[int]) -> dict[int, dict[str, object]]:
        rows = self._sql.all(
            f"""SELECT id, attributes FROM entity
            WHERE attributes IS NOT NULL AND id IN {ID_LIST}""",
            ids=id_list(ids),
        )
        return {entity_id: json.loads(stored) for entity_id, stored in rows}

    def attributes_of(self, roots: Sequence[int]) -> dict[int, list[dict[str, object]]]:
        found: dict[int, list[dict[str, object]]] = {}
        for root, stored in self._sql.stream(
            f"""SELECT canonical_id, attributes FROM entity
            WHERE attributes IS NOT NULL AND canonical_id IN {ID_LIST}
            ORDER BY canonical_id, folded_into IS NOT NULL, id""",
            ids=id_list(roots),
        ):
            found.setdefault(root, []).append(json.loads(stored))
        return found

    def identified(self, roots: Sequence[int]) -> dict[int, list[Row]]:
        found: dict[int, list[Row]] = {}
        for row in self._sql.stream(
            f"""SELECT e.id, e.spelling, e.key, e.sense, e.type, e.alias_only <> 0, e.canonical_id,
                e.foreign_id
            FROM entity e WHERE e.canonical_id IN {ID_LIST} AND (e.foreign_id IS NOT NULL OR EXISTS
                (SELECT 1 FROM entity o WHERE o.key = e.key AND o.canonical_id <> e.canonical_id))
            ORDER BY e.id""",
            ids=id_list(roots),
        ):
            found.setdefault(row[6], []).append(Row(*row))
        return found

    def shown_names(self, roots: Sequence[int]) -> dict[int, str]:
        return dict(
            self._sql.all(
                f"SELECT root_id, name FROM shown WHERE root_id IN {ID_LIST}", ids=id_list(roots)
            )
        )

    def set_foreign_id(self, entity_id: int, foreign_id: str | None) -> None:
        self._sql.run(
            "UPDATE entity SET foreign_id = :foreign_id WHERE id = :id",
            id=entity_id,
            foreign_id=foreign_id,
        )

    def set_attributes(self, entity_id: int, attributes: Mapping[str, object]) -> None:
        self._sql.run(
            "UPDATE entity SET attributes = :attributes WHERE id = :id",
            id=entity_id,
            attributes=json.dumps(attributes, ensure_ascii=True) if attributes else None,
        )

    def delete(self, ids: Sequence[int]) -> None:
        self._words.remove(
            self._sql.all(
                f"SELECT id, spelling FROM entity WHERE id IN {ID_LIST}", ids=id_list(ids)
            )
        )
        # The pointers among the rows go first: a foreign key is looked at row by row.
        self._sql.run(
            f"UPDATE entity SET folded_into = NULL WHERE id IN {ID_LIST}", ids=id_list(ids)
        )
        self._sql.run(f"DELETE FROM entity WHERE id IN {ID_LIST}", ids=id_list(ids))

    def _where(self, condition: str, order: str = "e.id", **values: object) -> list[Entity]:
        rows: Iterable[tuple[Any, ...]] = self._sql.stream(
            f"{_SELECT} WHERE {condition} ORDER BY {order}", **values
        )
        return [_entity(row) for row in rows]
