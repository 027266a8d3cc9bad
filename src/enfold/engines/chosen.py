"""Which engine is meant: ``local`` (this process, or as many as the setting ``workers`` says),
``local://4`` (so many processes), ``dask://HOST:PORT`` (the workers of a Dask scheduler)."""

from __future__ import annotations

import re
from concurrent.futures import Executor
from typing import Final, Protocol

from enfold.errors import Invalid, Unavailable
from enfold.ports import Engine

LOCAL: Final = "local"
DASK: Final = "dask"


class Running(Engine, Protocol):
    """An engine that can be given tasks of its caller's own."""

    def start(self, rule_set: str, place: str | None = None) -> Executor | None:
        """What runs tasks that know the rules of a set; None for this process alone.

        Args:
            place: a folder that every worker has to see.

        Raises:
            Refused: ``other_version``, ``not_shared``, ``rules_not_there``.
            Unavailable: ``needs_extra``, ``no_scheduler``, ``no_workers``.
        """
        ...


def running(url: str, workers: int = 1) -> Running:
    """The engine of that name. It is not started yet.

    Args:
        workers: processes of ``local``, where the name does not say.

    Raises:
        Invalid: ``unknown_engine``.
    """
    kind, where = parsed(url)
    if kind == LOCAL:
        from enfold.engines.local import LocalEngine  # numpy: 90 ms, which a lookup is spared

        return LocalEngine(int(where or workers))
    from enfold.engines.cluster import DaskEngine

    return DaskEngine(where)


def parsed(url: str) -> tuple[str, str]:
    """(kind of an engine, what it is told)

    Raises:
        Invalid: ``unknown_engine``.
    """
    kind, _, where = url.strip().partition("://")
    where = where.rstrip("/")
    if kind == LOCAL and re.fullmatch("[1-9][0-9]{0,3}|", where):
        return kind, where
    if kind == DASK and re.fullmatch(r"[^/\s]+:[0-9]{1,5}", where):
        return kind, where
    raise Invalid(
        "unknown_engine",
        f"{url!r} is no engine; say local, local://4 for four processes, or dask://HOST:PORT for "
        "the workers of a Dask scheduler.",
    )


def lost(error: BaseException) -> Unavailable:
    """The error for processes that ended while they worked."""
    why = " ".join(str(error).split())[:300].rstrip(".")
    return Unavailable(
        "worker_lost",
        "Processes that found pairs have ended, perhaps for want of memory"
        f"{f' ({why})' if why else ''}. Run it again; enfold pairs goes on where it stopped.",
    )
