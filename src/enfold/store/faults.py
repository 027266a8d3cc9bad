"""What SQLite can answer instead of a result, said so that a person knows what to do."""

from __future__ import annotations

import sqlite3
from typing import Final

from enfold.errors import Conflict, Error, Invalid, Unavailable

_FAULTS: Final[dict[int, tuple[type[Error], str, str]]] = {
    sqlite3.SQLITE_BUSY: (
        Unavailable,
        "locked",
        "Another process is writing to {path}; wait for it to finish, then repeat.",
    ),
    sqlite3.SQLITE_LOCKED: (
        Unavailable,
        "locked",
        "Another process is writing to {path}; wait for it to finish, then repeat.",
    ),
    sqlite3.SQLITE_READONLY: (
        Unavailable,
        "read_only",
        "{path} can only be read here; give yourself write access to the file and its directory, "
        "or work on a copy.",
    ),
    sqlite3.SQLITE_FULL: (
        Unavailable,
        "disk_full",
        "There is no room left to write {path}; nothing was changed. Free some space, then repeat.",
    ),
    sqlite3.SQLITE_NOTADB: (
        Invalid,
        "not_a_database",
        "{path} is not a graph of enfold (nor any SQLite database). To take it in as data, import "
        "it into a graph.",
    ),
    sqlite3.SQLITE_CORRUPT: (
        Invalid,
        "corrupt",
        "{path} is damaged: {error}. Restore the newest backup.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        Unavailable,
        "cannot_open",
        "{path} can't be opened; look whether its directory exists and may be written to.",
    ),
    sqlite3.SQLITE_IOERR: (
        Unavailable,
        "io_error",
        "The disk failed while {path} was in use ({error}); nothing was changed. Look at the disk, "
        "then repeat.",
    ),
    sqlite3.SQLITE_PERM: (
        Unavailable,
        "no_access",
        "{path} may not be opened; give yourself access to the file.",
    ),
    sqlite3.SQLITE_TOOBIG: (
        Invalid,
        "too_big",
        "A text is longer than the database can hold (one gigabyte); split it.",
    ),
    sqlite3.SQLITE_CONSTRAINT: (
        Conflict,
        "changed_meanwhile",
        "The graph no longer holds what this refers to ({error}); look again, then repeat.",
    ),
}


def fault(error: sqlite3.Error, path: str) -> Error:
    """The error a caller can act on, for one that SQLite raised."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    kind, name, sentence = _FAULTS.get(
        code & 0xFF,
        (Unavailable, "database_error", "The database refused ({error}); {path} is unchanged."),
    )
    return kind(name, sentence.format(path=path, error=error), path=path)
