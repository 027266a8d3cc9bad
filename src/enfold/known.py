"""The names a graph knows, to be found in texts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from enfold.ports import Tx
from enfold.spotting import Spotter, joined_phrases, phrases

BATCH: Final = 1_000
"""Texts by which it is told how many runs the rest have."""

LOOKUPS: Final = 20_000
"""Runs of text that are looked up in one statement."""

SAMPLE: Final = 1_000
"""Characters by which it is told how many runs the texts have."""

RUNS_A_NAME: Final = 4
"""As many runs are looked up in the time that one name of the graph takes to be read for the
automaton over all of them."""


class Known:
    """The known names that may stand in texts, so that texts cost what they bring: 100 texts
    took 4 s and 300 MiB in a graph of 300,000 names while every import read all of them.

    Args:
        characters: how many the texts have together. any_join: see ``Spotter``.
    """

    def __init__(self, tx: Tx, characters: int, *, any_join: bool = False) -> None:
        self._tx, self._characters, self._any_join = tx, characters, any_join
        self._few: bool | None = None
        self._every: Spotter | None = None

    def in_texts(self, texts: Sequence[str]) -> Spotter:
        """A spotter that finds in these texts what one over every name finds."""
        if self._few is None and texts:
            self._few = self._are_few(texts)
        if self._few or not texts:
            return Spotter(sorted(set(self._looked_up(texts))), any_join=self._any_join)
        if self._every is None:
            names = ((row[0], row[1]) for row in self._tx.entities.spellings())
            self._every = Spotter(names, any_join=self._any_join)
        return self._every

    def _are_few(self, texts: Sequence[str]) -> bool:
        """Whether looking up the runs of all that came in takes less than reading every name; how
        many there are is told by the first texts (a text in Han has fifteen times as many)."""
        sample = "\n".join(text[:SAMPLE] for text in texts[:BATCH])[:SAMPLE]
        runs = sum(1 for _ in phrases(sample)) / max(1, len(sample))
        return self._characters * runs < self._tx.entities.last() * RUNS_A_NAME

    def _looked_up(self, texts: Sequence[str]) -> Iterator[tuple[int, str]]:
        yield from _each(texts, phrases, self._of_keys)
        if self._any_join:
            yield from _each(texts, joined_phrases, self._tx.entities.spelled_by_merge_key)

    def _of_keys(self, keys: Sequence[str]) -> Iterator[tuple[int, str]]:
        for rows in self._tx.entities.rows(keys).values():
            yield from ((row.id, row.spelling) for row in rows)


def _each(
    texts: Sequence[str],
    runs: Callable[[str], Iterator[str]],
    look_up: Callable[[Sequence[str]], Iterable[tuple[int, str]]],
) -> Iterator[tuple[int, str]]:
    """(row, spelling) of what is found by the keys of the runs of texts, so many at a time."""
    keys: set[str] = set()
    for key in itertools.chain.from_iterable(map(runs, texts)):
        keys.add(key)
        if len(keys) >= LOOKUPS:
            yield from look_up(list(keys))
            keys = set()
    yield from look_up(list(keys))


def roots_of(tx: Tx, ids: tuple[int, ...]) -> set[int]:
    """The entities that the rows of a name lead to."""
    return set(tx.entities.roots(ids).values())


def one_row(tx: Tx, ids: tuple[int, ...]) -> int | None:
    """The row of a name in a text; None where it fits several entities: linked to none."""
    if len(ids) == 1:
        return ids[0]
    return min(ids) if len(roots_of(tx, ids)) == 1 else None
