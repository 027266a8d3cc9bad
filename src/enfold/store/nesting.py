"""Which transactions a thread has open: one that writes has none beside it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Nesting:
    """The open transactions of each thread.

    Args:
        alone: whether one that writes can't even have a reader beside it.
    """

    def __init__(self, *, alone: bool) -> None:
        self._alone = alone
        self._held = threading.local()

    @contextmanager
    def entered(self, kind: str) -> Iterator[None]:
        """Within a transaction that reads or writes.

        Raises:
            RuntimeError: this thread has one open that this one would wait for in vain.
        """
        held: list[str] = self._held.__dict__.setdefault("kinds", [])
        both_write = kind == "write" and "write" in held
        if held and (both_write or (self._alone and "write" in (kind, *held))):
            raise RuntimeError("a transaction of this thread is open; pass its tx on instead")
        held.append(kind)
        try:
            yield
        finally:
            held.remove(kind)
