"""The codes of vectors, held in memory: which of a million may be near is told in milliseconds.

A code is the signs of a vector's numbers, a bit each, in words of 64; two codes differ in the more
bits the farther apart their vectors point. A row takes 56 bytes at 384 dimensions.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from enfold.ports import Placed, Space
from enfold.store.statements import Statements

if TYPE_CHECKING:
    from numpy import float32, int64, uint16, uint64
    from numpy.typing import NDArray

BLOCK: Final = 1 << 16
"""Rows a block: half a megabyte of distances and scratch stays in a processor's cache."""

_READ: Final = 20_000
"""Rows that are read in one go."""


def words_of(dimensions: int) -> int:
    """How many words of 64 bits a code has."""
    return -(-dimensions // 64)


def codes_of(vectors: NDArray[float32]) -> NDArray[uint64]:
    """The codes of vectors, a row each."""
    import numpy as np

    rows, dimensions = vectors.shape
    bits = np.zeros((rows, words_of(dimensions) * 64), dtype=np.uint8)
    bits[:, :dimensions] = vectors > 0
    return np.packbits(bits, axis=1).view(np.uint64)


@dataclass(frozen=True, slots=True)
class _Block:
    """Room for so many rows: ids, and codes word by word, which is how they are read."""

    ids: NDArray[int64]
    codes: NDArray[uint64]

    @staticmethod
    def empty(words: int) -> _Block:
        import numpy as np

        return _Block(np.empty(BLOCK, np.int64), np.empty((words, BLOCK), np.uint64))

    def copy(self) -> _Block:
        return _Block(self.ids.copy(), self.codes.copy())


@dataclass(frozen=True, slots=True)
class Table:
    """The codes of a space as one transaction sees them.

    Later tables add rows to the same blocks, behind ``count``: what an earlier one sees never
    changes. What was deleted since stays in it, and is missed where its vector is asked for.

    Attributes:
        last: the highest id there was when it was read. schema: tells a graph from the one that a
            restore put in its place.
    """

    words: int
    schema: int
    count: int = 0
    last: int = 0
    blocks: tuple[_Block, ...] = field(default=(), repr=False)

    def nearest(self, code: NDArray[uint64], reach: int) -> list[int]:
        """The ids of so many codes that differ least from one; of equal ones the older first."""
        import numpy as np

        if reach >= self.count:
            return [one for block, size in self._filled() for one in block.ids[:size].tolist()]
        far = self._distances(code)
        upto = np.cumsum(np.bincount(far, minlength=1))
        cut = int(np.searchsorted(upto, reach))
        sure, ties = np.flatnonzero(far < cut), np.flatnonzero(far == cut)
        chosen = np.concatenate([sure, ties[: reach - len(sure)]])
        found: list[int] = []
        for at, block in enumerate(self.blocks):
            within = chosen[(chosen >= at * BLOCK) & (chosen < (at + 1) * BLOCK)]
            found += block.ids[within - at * BLOCK].tolist()
        return found

    def _distances(self, code: NDArray[uint64]) -> NDArray[uint16]:
        import numpy as np

        far = np.zeros(self.count, np.uint16)
        unlike = np.empty(BLOCK, np.uint64)
        for at, (block, size) in enumerate(self._filled()):
            part = far[at * BLOCK : at * BLOCK + size]
            for word in range(self.words):
                np.bitwise_xor(block.codes[word, :size], code[word], out=unlike[:size])
                part += np.bitwise_count(unlike[:size])
        return far

    def _filled(self) -> Iterator[tuple[_Block, int]]:
        for at, block in enumerate(self.blocks):
            yield block, min(BLOCK, self.count - at * BLOCK)

    def with_rows(self, rows: Iterator[tuple[int, bytes]], last: int, *, own: bool) -> Table:
        """This table and more rows.

        Args:
            own: whether to leave the blocks of this one as they are.
        """
        import numpy as np

        blocks, count = list(self.blocks), self.count
        if own and count % BLOCK:
            blocks[-1] = blocks[-1].copy()
        while read := list(islice(rows, min(_READ, BLOCK - count % BLOCK))):
            if count % BLOCK == 0:
                blocks.append(_Block.empty(self.words))
            codes = np.frombuffer(b"".join(code for _, code in read), np.uint64)
            at = slice(count % BLOCK, count % BLOCK + len(read))
            blocks[-1].ids[at] = [one for one, _ in read]
            blocks[-1].codes[:, at] = codes.reshape(len(read), self.words).T
            count += len(read)
        return replace(self, count=count, last=last, blocks=tuple(blocks))


class Codes:
    """The tables of a store, shared by its transactions."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tables: dict[tuple[Placed, int], Table] = {}

    def table(self, sql: Statements, what: Placed, space: Space) -> Table:
        """The codes of a space as the transaction sees them; at least as many, where another
        transaction has seen more."""
        if sql.may_write():
            # What it sees may yet be undone; and while it holds the graph's lock it is not to wait
            # for another that reads a million rows.
            return _read_on(sql, what, space, self._held(sql, what, space), own=True)
        with self._lock:
            held = _read_on(sql, what, space, self._held(sql, what, space), own=False)
            self._tables[what, space.id] = held
        return held

    def _held(self, sql: Statements, what: Placed, space: Space) -> Table:
        # A restore changes this number, and nothing else does but a change of the schema.
        schema = sql.generation()
        held = self._tables.get((what, space.id))
        if held is None or held.schema != schema:
            return Table(words_of(space.dimensions), schema)
        return held

    def forget(self, space: Space) -> None:
        """Hold nothing of a space any more."""
        with self._lock:
            for what in ("memory", "name"):
                self._tables.pop((what, space.id), None)


def _read_on(sql: Statements, what: Placed, space: Space, held: Table, *, own: bool) -> Table:
    last = int(sql.value(f"SELECT coalesce(max(id), 0) FROM {what}_code"))
    if last <= held.last:
        return held
    rows = sql.stream(
        f"""SELECT id, code FROM {what}_code
        WHERE id > :last AND +space_id = :space AND length(code) = :length ORDER BY id""",
        last=held.last,
        space=space.id,
        length=held.words * 8,
    )
    return held.with_rows(iter(rows), last, own=own)
