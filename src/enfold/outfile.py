"""A file that is there whole or not at all.

It is made beside its place under another name, then renamed. What is no regular file (a pipe, a
terminal) is written to as it comes.
"""

from __future__ import annotations

import errno
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from enfold.errors import Invalid, Refused

PATIENCE: Final = 5.0
"""Seconds that a pipe is waited for to get a reader."""


def must_be_free(out: Path, force: bool, graph: Path) -> None:
    """Raises where a file can't be written there, or must not."""
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise Invalid(
            "no_directory", f"{out} can't be a file; name one in a directory that exists."
        )
    files = [graph, *(graph.with_name(graph.name + end) for end in ("-wal", "-shm"))]
    if any(out.exists() and one.exists() and out.samefile(one) for one in files):
        raise Refused(
            "same_file", f"{out} is the graph itself; an export over it would be all that is left."
        )
    if out.exists() and not force:
        raise Refused(
            "target_exists", f"{out} exists already; nothing was written. --force writes over it."
        )


@contextmanager
def whole(target: Path) -> Iterator[IO[str]]:
    """A file of text that takes the target's place once it is written whole, and leaves nothing if
    not. A link is followed; what is no regular file is written to as it comes.

    Raises:
        Refused: ``no_reader``.
    """
    if target.exists() and not target.is_file():
        with _stream(target) as file:
            yield file
        return
    with beside(target.resolve()) as part, _text(part) as file:
        yield file


def _text(path: Path) -> IO[str]:
    return path.open("w", encoding="utf-8", errors="backslashreplace", newline="")


def _stream(target: Path) -> IO[str]:
    handle = os.open(target, os.O_WRONLY) if not target.is_fifo() else _pipe(target)
    return os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="")


def _pipe(target: Path) -> int:
    """The writing end of a pipe; one that nobody reads would be waited for for ever."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            handle = os.open(target, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > until:
                raise Refused(
                    "no_reader",
                    f"{target} is a pipe that nobody reads; begin to read it, then export again.",
                ) from None
            time.sleep(0.05)
        else:
            os.set_blocking(handle, True)
            return handle


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """A file of another name that takes the target's place once it is written whole."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        os.chmod(part, target.stat().st_mode if target.exists() else 0o666 & ~umask())
        os.replace(part, target)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def umask() -> int:
    """The rights that new files of this process are not given."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
