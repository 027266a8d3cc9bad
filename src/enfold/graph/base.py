"""A graph that is open: its store, and what reads, places and pairs what it holds."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import TracebackType
from typing import Self

from enfold import indexing, lookup
from enfold import remember as memories
from enfold.model import Found
from enfold.ports import Embedder, Engine, Extractor, Model, Store, Tx
from enfold.search import nearest


def quiet(_what: str, _done: int, _total: int) -> None:
    """Tells of no progress."""


class Opened:
    """A graph that is open: its store, and what reads, places and pairs what it holds."""

    def __init__(
        self,
        store: Store,
        engine: Callable[[], Engine],
        *,
        actor: str | None = None,
        keep_backups: int | None = None,
        embedder: str | Embedder | None = None,
        extractor: Extractor | None = None,
        model: Model | None = None,
    ) -> None:
        self._store = store
        self._make_engine = engine
        self._actor = actor
        self._keep_backups = keep_backups
        self._given_embedder = embedder
        self._given_extractor = extractor
        self._model = model

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        if "_engine" in self.__dict__:
            self._engine.close()
        self._store.close()

    @cached_property
    def _engine(self) -> Engine:
        return self._make_engine()

    @cached_property
    def _embedder(self) -> Embedder | None:
        if not isinstance(self._given_embedder, str):
            return self._given_embedder
        from enfold.models.embedding import embedder

        return embedder(self._given_embedder)

    @cached_property
    def _extractor(self) -> Extractor:
        if self._given_extractor is not None:
            return self._given_extractor
        from enfold.models.extraction.offline import OfflineExtractor

        return OfflineExtractor()

    def _follow(self, tx: Tx, asked: str | int) -> Found:
        return lookup.follow(tx, asked, nearest=nearest)

    def _take_in(self, memory_id: int) -> None:
        """Read and place a memory that an answer wrote."""
        read = memories.read_stored(self._store, [memory_id], self._extractor)
        if self._embedder is not None:
            rows = memories.rows_of(read)
            indexing.place(self._store, self._embedder, memories=[memory_id], names=rows)
