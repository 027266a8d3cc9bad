"""Where a graph is kept: a SQLite file, or a schema of a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from enfold.errors import Invalid, Unavailable
from enfold.ports import Store
from enfold.store.sqlite import SqliteStore

__all__ = ["Store", "open_store"]


def _utc_now() -> datetime:
    return datetime.now(UTC)


def open_store(
    url: str,
    *,
    clock: Callable[[], datetime] = _utc_now,
    create: bool = True,
    read_only: bool = False,
) -> Store:
    """Open the graph at a path, ``sqlite:path`` or ``:memory:``; or in a database,
    ``postgresql://user@host/database?schema=name``.

    Args:
        url: where the graph is. An absent path, an empty file or a schema without tables becomes a
            new graph.
        clock: what time it is; read once a transaction.
        create: False to leave an absent path absent.
        read_only: open without the right to write, and without making anything.

    Raises:
        NotFound: ``no_graph``: nothing is there and nothing may be made.
        Invalid: ``no_directory``, ``is_a_directory``, ``not_a_database``, ``foreign_database``,
            ``corrupt``, ``unknown_url``.
        Refused: ``newer_schema``: a newer enfold wrote it.
        Unavailable: ``locked``, ``read_only``, ``disk_full``, ``cannot_open``, ``io_error``,
            ``needs_extra``.
    """
    if url.startswith(("postgresql://", "postgres://")):
        return _in_postgresql(url, clock=clock, create=create, read_only=read_only)
    path = url.removeprefix("sqlite:///").removeprefix("sqlite:")
    if "://" in path:
        raise Invalid(
            "unknown_url",
            f"{url} is no place this version can keep a graph; give a file's path, "
            "sqlite:path or postgresql://user@host/database.",
        )
    return SqliteStore(str(path), clock=clock, create=create and not read_only, read_only=read_only)


def _in_postgresql(
    url: str, *, clock: Callable[[], datetime], create: bool, read_only: bool
) -> Store:
    try:
        from enfold.store.postgresql import PostgresqlStore
    except ImportError as error:
        raise Unavailable(
            "needs_extra",
            "A graph in PostgreSQL needs a library that is not installed: "
            "pip install 'enfold[postgresql]'.",
        ) from error
    return PostgresqlStore(url, clock=clock, create=create and not read_only, read_only=read_only)
