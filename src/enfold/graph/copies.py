"""A copy of a whole graph, from one database into another."""

from __future__ import annotations

import os
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from enfold import copying
from enfold.engines import running
from enfold.errors import Refused, Unavailable
from enfold.graph.base import quiet
from enfold.ports import Progress, Store
from enfold.store import open_store


@dataclass(frozen=True, slots=True)
class Copied:
    """A graph that was copied.

    Attributes:
        source, target: where both lie. rows: how many of each table were written and read back.
    """

    source: str
    target: str
    rows: dict[str, int]


def copy(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> Copied:
    """Copy a graph into a new one, with every id, fold, decision and vector, whatever database
    either lies in. What was copied is checked, read back and counted.

    The source is read in one snapshot, and others go on writing to it: what they write meanwhile is
    not in the copy. The target gets all of it or nothing.

    Args:
        workers: processes that file the names of a large graph.

    Raises:
        NotFound: ``no_graph``. Refused: ``not_empty``: the target holds something; ``same_file``.
        Unavailable: ``copy_failed``. Error: see ``store.open_store``.
    """
    there, here = os.fspath(source), os.fspath(target)
    with closing(open_store(there, create=False, read_only=True)) as read:
        new = _new_file(here)
        try:
            with closing(open_store(here)) as written:
                return _copied(read, written, workers, progress or quiet)
        except BaseException:
            if new is not None:
                _remove(new)
            raise


def _copied(read: Store, written: Store, workers: int, progress: Progress) -> Copied:
    if read.url == written.url:
        raise Refused(
            "same_file", f"{read.url} is the graph that is to be copied itself; name another."
        )
    rows = copying.copy(read, written, progress)
    with written.read() as tx:
        if copying.counts(tx) != rows:
            raise Unavailable(
                "copy_failed",
                f"What was copied into {written.url} does not read back as it was written. Look at "
                "its disk, then copy again.",
            )
    copying.index_names(written, lambda: running("local", workers), progress)
    return Copied(read.url, written.url, rows)


def _new_file(target: str) -> Path | None:
    """The file that a copy will make; None where something is there, or it is no file."""
    path = Path(target.removeprefix("sqlite:///").removeprefix("sqlite:"))
    return None if "://" in target.removeprefix("sqlite:///") or path.exists() else path


def _remove(file: Path) -> None:
    for part in (file, Path(f"{file}-wal"), Path(f"{file}-shm")):
        with suppress(OSError):
            part.unlink()
