"""Hashed keys of every name: which rows could be meant by a new one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from enfold.store.statements import ID_LIST, Statements, id_list


class NameIndex:
    """See ``ports.NameIndex``."""

    def __init__(self, statements: Statements) -> None:
        self._sql = statements

    def add(self, keys: Iterable[tuple[int, int]]) -> None:
        self._sql.run_many(
            "INSERT INTO name_index (key, entity_id) VALUES (?, ?) ON CONFLICT DO NOTHING", keys
        )

    def probe(self, keys: Sequence[int]) -> set[int]:
        # A deleted row leaves its keys behind (its id is never used again): the join drops them.
        return set(
            self._sql.ids(
                f"""SELECT n.entity_id FROM name_index n JOIN entity e ON e.id = n.entity_id
                WHERE n.key IN {ID_LIST}""",
                ids=id_list(keys),
            )
        )

    def unindexed(self) -> list[int]:
        return self._sql.ids("SELECT id FROM entity WHERE indexed = 0 ORDER BY id")

    def mark_indexed(self, ids: Sequence[int] | None = None) -> None:
        which = "" if ids is None else f"AND id IN {ID_LIST}"
        values = {} if ids is None else {"ids": id_list(ids)}
        self._sql.run(f"UPDATE entity SET indexed = 1 WHERE indexed = 0 {which}", **values)

    def clear(self) -> None:
        self._sql.run("DELETE FROM name_index")
        self._sql.run("UPDATE entity SET indexed = 0 WHERE indexed = 1")

    def version(self) -> str | None:
        found: str | None = self._sql.value("SELECT value FROM meta WHERE name = 'name_index'")
        return found

    def set_version(self, version: str) -> None:
        self._sql.run(
            """INSERT INTO meta (name, value) VALUES ('name_index', :version)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value""",
            version=version,
        )
