"""What PostgreSQL can answer instead of a result, said so that a person knows what to do."""

from __future__ import annotations

from typing import Final

import psycopg
from psycopg import errors
from psycopg_pool import PoolTimeout

from enfold.errors import Conflict, Error, Invalid, Unavailable

_AWAY: Final = (
    "The database server of {place} can't be reached ({error}); look whether it runs and whether "
    "the address, the user and the password are right, then repeat."
)

_FAULTS: Final[tuple[tuple[type[Error], str, type[Exception], str], ...]] = (
    (
        Unavailable,
        "locked",
        errors.LockNotAvailable,
        "Another process is writing to {place}; wait for it to finish, then repeat.",
    ),
    (
        Unavailable,
        "locked",
        errors.DeadlockDetected,
        "Another process was writing to {place}; nothing was changed. Repeat.",
    ),
    (
        Unavailable,
        "locked",
        errors.SerializationFailure,
        "Another process was writing to {place}; nothing was changed. Repeat.",
    ),
    (
        Unavailable,
        "too_slow",
        errors.QueryCanceled,
        "{place} took longer to answer than statement_timeout allows; nothing was changed. Ask for "
        "less, or let the address end with another statement_timeout (in seconds, 0 for none).",
    ),
    (
        Unavailable,
        "disk_full",
        errors.DiskFull,
        "There is no room left to write {place}; nothing was changed. Free some space, then "
        "repeat.",
    ),
    (
        Unavailable,
        "read_only",
        errors.ReadOnlySqlTransaction,
        "{place} can only be read here; open it with the right to write.",
    ),
    (
        Unavailable,
        "no_access",
        errors.InsufficientPrivilege,
        "The user of {place} may not do that ({error}); give it the right to, or name another.",
    ),
    (
        Unavailable,
        "cannot_open",
        errors.InvalidCatalogName,
        "{error}. Make the database of {place} first (createdb), or name another.",
    ),
    (
        Conflict,
        "changed_meanwhile",
        errors.IntegrityError,
        "The graph no longer holds what this refers to ({error}); look again, then repeat.",
    ),
    (
        Invalid,
        "too_big",
        errors.ProgramLimitExceeded,
        "A text is longer than the database can hold; split it.",
    ),
    (Unavailable, "cannot_open", PoolTimeout, _AWAY),
)


def fault(error: Exception, place: str) -> Error:
    """The error a caller can act on, for one that the driver raised."""
    said = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
    if _is_away(error):
        return Unavailable("cannot_open", _AWAY.format(place=place, error=said), path=place)
    for made, code, kind, sentence in _FAULTS:
        if isinstance(error, kind):
            return made(code, sentence.format(place=place, error=said), path=place)
    sentence = f"The database refused ({said}); {place} is unchanged."
    return Unavailable("database_error", sentence, path=place)


def _is_away(error: Exception) -> bool:
    """Whether there is no server, or it ended the connection."""
    if not isinstance(error, psycopg.OperationalError):
        return False
    state = error.sqlstate
    return state is None or state.startswith(("08", "57P", "28"))


RAISED: Final = (psycopg.Error, PoolTimeout)
"""What the driver and its pool raise."""
