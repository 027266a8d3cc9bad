"""The schema: whose database this is, how old, and how it is brought up to date."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from importlib.resources import files
from typing import Final

from enfold.errors import Invalid, Refused

APPLICATION_ID: Final = int.from_bytes(b"enfo", "big")
"""Stands in the file's header; ``file(1)`` can show it."""


def _migrations() -> list[str]:
    directory = files("enfold.store") / "migrations"
    scripts = sorted((f for f in directory.iterdir() if f.name.endswith(".sql")), key=str)
    return [script.read_text(encoding="utf-8") for script in scripts]


MIGRATIONS: Final = _migrations()
VERSION: Final = len(MIGRATIONS)


def identify(connection: sqlite3.Connection, path: str) -> int:
    """The schema's version; 0 for a new graph.

    Raises:
        Invalid: ``foreign_database``: another program's.
        Refused: ``newer_schema``.
    """
    # In one statement, so of one moment: another process may be making the graph.
    application, version, tables = connection.execute(
        """SELECT (SELECT application_id FROM pragma_application_id),
            (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_master)"""
    ).fetchone()
    if application != APPLICATION_ID and (application or tables or version):
        raise Invalid(
            "foreign_database",
            f"{path} is a database of another program; it was left as it is. Give another file.",
            path=path,
        )
    if version > VERSION:
        raise Refused(
            "newer_schema",
            f"{path} was written by a newer enfold (schema {version}, this one knows {VERSION}). "
            "Update enfold to open it.",
            path=path,
        )
    return int(version)


def migrate(connection: sqlite3.Connection, path: str) -> None:
    """Apply what is missing, each migration in a transaction of its own."""
    for number in range(1, VERSION + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Asked again under the lock: another process may have been faster.
            if identify(connection, path) < number:
                for statement in _statements(MIGRATIONS[number - 1]):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _statements(script: str) -> Iterator[str]:
    lines: list[str] = []
    for line in script.splitlines():
        lines.append(line)
        if sqlite3.complete_statement("\n".join(lines)):
            yield "\n".join(lines)
            lines.clear()
