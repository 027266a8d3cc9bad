"""The schema of a graph in PostgreSQL: whether it is one, how old, and how it is brought up to
date."""

from __future__ import annotations

from importlib.resources import files
from typing import Final, LiteralString

import psycopg
from psycopg import sql

from enfold.errors import Invalid, Refused
from enfold.store import schema as common


def _migrations() -> list[LiteralString]:
    directory = files("enfold.store.postgresql") / "migrations"
    scripts = sorted((f for f in directory.iterdir() if f.name.endswith(".sql")), key=str)
    return [script.read_text(encoding="utf-8") for script in scripts]


MIGRATIONS: Final = _migrations()
VERSION: Final = common.VERSION

LOCK: Final = int.from_bytes(b"enfo", "big") & 0x7FFFFFFF
"""The first half of the number of every lock that enfold takes; the other is the schema's."""


def identify(connection: psycopg.Connection, name: str, place: str) -> int:
    """The version of the graph in a schema; 0 where there is none.

    Raises:
        Invalid: ``foreign_database``: the schema holds another program's tables.
        Refused: ``newer_schema``.
    """
    there = connection.execute(
        """SELECT to_regclass(format('%%I.graph', %(name)s::text)),
            to_regclass(format('%%I.merge_edge', %(name)s::text)),
            EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace(%(name)s::text))""",
        {"name": name},
    ).fetchone()
    graph, merge_edge, anything = there or (None, None, False)
    if not anything:
        return 0
    if graph is None or merge_edge is None:
        raise Invalid(
            "foreign_database",
            f"{place} holds tables of another program; it was left as it is. Give another schema.",
            path=place,
        )
    found = connection.execute(
        sql.SQL("SELECT version FROM {}.graph").format(sql.Identifier(name))
    ).fetchone()
    version = int(found[0]) if found else 0
    if version > VERSION:
        raise Refused(
            "newer_schema",
            f"{place} was written by a newer enfold (schema {version}, this one knows {VERSION}). "
            "Update enfold to open it.",
            path=place,
        )
    return version


def migrate(connection: psycopg.Connection, name: str, place: str) -> None:
    """Make the schema and apply what is missing, all in one transaction and one process at a
    time."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [LOCK, name])
        # Asked again under the lock: another process may have been faster.
        version = identify(connection, name, place)
        if version == VERSION:
            return
        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(name)))
        for script in MIGRATIONS[version:]:
            connection.execute(script)
        connection.execute("UPDATE graph SET version = %s", [VERSION])


def empty(connection: psycopg.Connection) -> None:
    """Delete all that the graph holds, in a transaction that writes. Ids are not given again, and
    whoever holds something of the graph in memory learns of it."""
    for table in _FROM_LEAF_TO_ROOT:
        connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
    connection.execute("DELETE FROM meta WHERE name NOT IN (SELECT name FROM meta_at_first)")
    connection.execute(
        "UPDATE meta SET value = f.value FROM meta_at_first f WHERE f.name = meta.name"
    )
    connection.execute("UPDATE graph SET generation = generation + 1")


_FROM_LEAF_TO_ROOT: Final = """suggestion open_pair memory_vector name_vector memory_code name_code
space name_page name_index word_of word_part word memory_words merge_edge conflict decision renaming
merge unlinked unlinked_fact mention fact unread uncounted entity memory set_aside run term
unsettled unsettled_name""".split()
"""So that no row is looked for that refers to one deleted."""
