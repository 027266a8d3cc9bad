"""Names in the texts that came in: every other known name that stands in one is mentioned by it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from enfold import linking
from enfold.intake.run import BATCH, Run
from enfold.known import Known, one_row, roots_of
from enfold.model import Memory, Mention
from enfold.names import Name
from enfold.ports import Tx
from enfold.spotting import Spotted, Spotter

ORDINARY: Final = 10
"""A name that is a word in lower case is taken as the word where it stands in more texts of an
import than this and than one in fifty."""

_Edge = tuple[int, int, str]
"""A mention: memory, row, spelling as written."""


def take(run: Run) -> None:
    """Every other known name that stands in a text that came in."""
    total = run.counts.memories
    if not total:
        return
    known_names = Known(run.tx, run.characters)
    words = _Words(limit=max(ORDINARY, total // 50))
    after, done = run.first_new, 0
    while page := run.tx.memories.page(after=after, limit=BATCH):
        after = page[-1][0].id
        done += len(page)
        found: list[_Edge] = []
        told = [(memory, known) for memory, known in page if not _is_plain(run, memory)]
        spotter = known_names.in_texts([memory.content for memory, _ in told])
        for memory, known in told:
            for edge, word in _others(run.tx, spotter, memory, known):
                if word:
                    words.add(edge)
                else:
                    found.append(edge)
        run.counts.mentions += run.tx.edges.add_mentions(found)
        run.tell("mentions", done, total)
    run.counts.mentions += run.tx.edges.add_mentions(words.names())
    for spelling, count in words.ordinary():
        share = f"{count:,} of {total:,} texts"
        why = f"{spelling!r} stands in {share}, as an ordinary word: not linked."
        run.note(0, why)


def _is_plain(run: Run, memory: Memory) -> bool:
    """Whether a text is made of a relation's ends and its type alone."""
    place = bisect_left(run.plain, memory.id)
    return place < len(run.plain) and run.plain[place] == memory.id


def _others(
    tx: Tx, spotter: Spotter, memory: Memory, known: Sequence[Mention]
) -> Iterator[tuple[_Edge, bool]]:
    seen = {mention.asserted_id for mention in known}
    for spotted in spotter.spot(memory.content):
        row_id = one_row(tx, spotted.ids)
        if row_id is None and not spotted.word:
            _wait(tx, memory, known, spotted)
        elif row_id is not None and row_id not in seen:
            seen.add(row_id)
            yield (memory.id, row_id, spotted.spelling), spotted.word


def _wait(tx: Tx, memory: Memory, known: Sequence[Mention], spotted: Spotted) -> None:
    """A name that fits several entities waits; but a text that is about one of them means that one
    by its name."""
    roots = roots_of(tx, spotted.ids)
    if roots.isdisjoint(mention.entity_id for mention in known):
        linking.wait(tx, memory.id, Name.of(spotted.spelling), fits=len(roots))


class _Words:
    """Mentions by names that are words in lower case: names while they are rare in the texts that
    came in, ordinary words above the limit (``documentation`` was 15 of the 17 mentions that one
    real graph would have got)."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._edges: dict[int, list[_Edge]] = {}
        self._counts: dict[int, int] = {}
        self._spellings: dict[int, str] = {}

    def add(self, edge: _Edge) -> None:
        row_id = edge[1]
        self._counts[row_id] = self._counts.get(row_id, 0) + 1
        self._spellings.setdefault(row_id, edge[2])
        if self._counts[row_id] <= self._limit:
            self._edges.setdefault(row_id, []).append(edge)
        else:
            self._edges.pop(row_id, None)

    def names(self) -> list[_Edge]:
        return sorted(edge for edges in self._edges.values() for edge in edges)

    def ordinary(self) -> list[tuple[str, int]]:
        return [
            (self._spellings[row_id], count)
            for row_id, count in self._counts.items()
            if count > self._limit
        ]
