"""What lies behind the ports, for tests that damage it or look at how it works."""

from __future__ import annotations

from typing import Any

from enfold.ports import Store, Tx


def sql_of(tx: Tx) -> Any:
    """The statements of a transaction."""
    return tx._sql  # type: ignore[attr-defined]


def idle_of(store: Store) -> Any:
    """The connections to a file that nobody uses just now."""
    return store._idle  # type: ignore[attr-defined]
