"""Where a graph is kept: one SQLite file."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from enfold.errors import Invalid
from enfold.store.sqlite import SqliteStore

__all__ = ["SqliteStore", "open_store"]


def _utc_now() -> datetime:
    return datetime.now(UTC)


def open_store(
    url: str,
    *,
    clock: Callable[[], datetime] = _utc_now,
    create: bool = True,
    read_only: bool = False,
) -> SqliteStore:
    """Open the graph at a path, ``sqlite:///path`` or ``:memory:``.

    Args:
        url: where the graph is. An absent path or an empty file becomes a new graph.
        clock: what time it is; read once a transaction.
        create: False to leave an absent path absent.
        read_only: open without the right to write, and without making anything.

    Raises:
        NotFound: ``no_graph``: nothing is there and nothing may be made.
        Invalid: ``no_directory``, ``is_a_directory``, ``not_a_database``, ``foreign_database``,
            ``corrupt``, ``unknown_url``.
        Refused: ``newer_schema``: a newer enfold wrote it.
        Unavailable: ``locked``, ``read_only``, ``disk_full``, ``cannot_open``, ``io_error``.
    """
    path = url.removeprefix("sqlite:///")
    if "://" in path:
        raise Invalid(
            "unknown_url",
            f"{url} is no place this version can keep a graph; give a file's path or "
            "sqlite:///path.",
        )
    return SqliteStore(str(path), clock=clock, create=create and not read_only, read_only=read_only)
