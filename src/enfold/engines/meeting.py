"""Pairs of names that may be one thing: those that meet under a key, and those that are within
a few edits of each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
from rapidfuzz.distance import OSA
from rapidfuzz.process import cpdist

from enfold.engines import spelling
from enfold.engines.job import HALF, KEYS, Job, Told, frozen, made
from enfold.engines.partitions import (
    Ints,
    Reader,
    binary,
    codes_of,
    column,
    joined,
    reading,
    rows,
    runs,
    schema,
    writing,
)
from enfold.engines.spelling import U64, Forms, Slice, Written

_FOUND = schema(pair=pa.uint64())


class _Candidates:
    """Candidate pairs on their way to the partitions of their left names, in bounded pieces."""

    def __init__(self, out: Any, job: Job) -> None:
        self._out, self._job = out, job
        self._waiting: list[U64] = []
        self._size = 0
        self.count = np.zeros(job.parts, dtype=np.int64)

    def add(self, here: Ints, there: Ints) -> None:
        """Pairs of numbers."""
        self._waiting.append(_packed(here, there))
        self._size += here.size
        if self._size >= self._job.sizes.piece:
            self.flush()

    def flush(self) -> None:
        if not self._waiting:
            return
        found = np.unique(np.concatenate(self._waiting))
        self._waiting, self._size = [], 0
        part_of = (found >> np.uint64(32)).astype(np.int64) // self._job.stride
        self._out.add({"pair": found}, part_of)
        self.count += np.bincount(part_of, minlength=self._job.parts)


def _packed(here: Ints, there: Ints) -> U64:
    """Pairs as one word each, the same from either side. Which of two is left is told by their
    numbers, so that no partition has more left names than right ones."""
    low, high = np.minimum(here, there).astype(np.uint64), np.maximum(here, there).astype(np.uint64)
    turned = ((low ^ high) & np.uint64(1)).astype(np.bool_)
    left, right = np.where(turned, high, low), np.where(turned, low, high)
    packed: U64 = ((left << np.uint64(32)) | right)[low != high]
    return packed


def windows(many: Ints, size: int) -> Iterator[tuple[Ints, Ints]]:
    """The runs 0 .. many[k] - 1 laid end to end, in pieces of ``size``: (k, place in its run)."""
    ends = np.cumsum(many)
    total = int(ends[-1]) if many.size else 0
    for low in range(0, total, size):
        high = min(low + size, total)
        first, last = (int(at) for at in np.searchsorted(ends, [low, high - 1], "right"))
        stop = ends[first : last + 1]
        start = stop - many[first : last + 1]
        here = np.minimum(stop, high) - np.maximum(start, low)
        yield (
            np.repeat(np.arange(first, last + 1), here),
            np.arange(low, high) - np.repeat(start, here),
        )


def meet_keys(job: Job, task: str, part: int) -> Told:
    """Names that seek what others offer, by the keys of a partition. A key that would make too many
    pairs for one task is left to tasks of its own."""
    table = joined(rows(job.work, made(job, "keys"), {part}), KEYS)
    order = np.argsort(column(table, "key"), kind="stable")
    keys, at, sought = (column(table, name)[order] for name in KEYS.names)
    del table, order
    offers, offered = keys[~sought], at[~sought]
    seeks, seeking = keys[sought], at[sought]
    kept = ~np.isin(seeks, frozen(job)[1])
    seeks, seeking = seeks[kept], seeking[kept]
    first = np.searchsorted(offers, seeks, "left")
    count = np.searchsorted(offers, seeks, "right") - first
    hit = np.flatnonzero(count)
    seeks, seeking, first, count = seeks[hit], seeking[hit], first[hit], count[hit]
    heavy = np.zeros(len(seeks), dtype=np.bool_)
    blocks: list[list[int]] = []
    starts, stops = runs(seeks)
    above = count[starts] * (stops - starts) > job.sizes.block**2
    with writing(job.work, f"heavy/{task}.parquet", KEYS) as out:
        for start, stop in zip(starts[above].tolist(), stops[above].tolist(), strict=True):
            heavy[start:stop] = True
            low, high = int(first[start]), int(first[start] + count[start])
            blocks += _write_heavy(out, offered[low:high], seeking[start:stop], job, len(blocks))
    light = np.flatnonzero(~heavy)
    with writing(job.work, f"found/{task}.parquet", _FOUND) as out:
        found = _Candidates(out, job)
        for which, inner in windows(count[light], job.sizes.piece):
            found.add(seeking[light[which]], offered[first[light[which]] + inner])
        found.flush()
    return {"found": found.count.tolist(), "heavy": blocks}


def _write_heavy(out: Any, offered: Ints, seeking: Ints, job: Job, known: int) -> list[list[int]]:
    """Write who offers and who seeks a key in pieces; (piece of offers, piece of seeks) of each
    block."""
    block = job.sizes.block
    wide = min(block, len(offered))
    tall = max(block, block * block // wide)
    pieces: list[list[int]] = [[], []]
    number = known * 2 + 1  # above every number that a key before has used
    for sought, (names, size) in enumerate(((offered, wide), (seeking, tall))):
        for start in range(0, len(names), size):
            some = names[start : start + size]
            columns = {
                "key": np.zeros(len(some), np.uint64),
                "at": some,
                "sought": np.full(len(some), bool(sought)),
            }
            out.add(columns, np.full(len(some), number))
            pieces[sought].append(number)
            number += 1
    return [[o, s] for o in pieces[0] for s in pieces[1]]


def meet_block(job: Job, task: str, source: str, offers: int, seeks: int) -> Told:
    """All pairs of a block of a key that many names have."""
    sides = [column(joined(rows(job.work, [source], {one}), KEYS), "at") for one in (offers, seeks)]
    here, there = sides
    with writing(job.work, f"found/{task}.parquet", _FOUND) as out:
        found = _Candidates(out, job)
        for which, inner in windows(np.full(len(here), len(there)), job.sizes.piece):
            found.add(here[which], there[inner])
        found.flush()
    return {"found": found.count.tolist(), "heavy": []}


# ---- misspellings ----

_FORMS = schema(codes=pa.binary(), bearers=pa.list_(pa.uint32()))
GROUP: Final = 100_000
"""Forms of a row group: what is read again to look at a few of them."""


def gather_forms(job: Job, task: str, lengths: Sequence[int], share: int, shares: int) -> Told:
    """The different forms of some lengths, or a share of them, with the names that have each."""
    counts: dict[int, int] = {}
    with writing(job.work, f"forms/{task}.parquet", _FORMS) as out:
        for length in lengths:
            tables = rows(job.work, made(job, "written"), {length})
            read = [_share(table, length, share, shares) for table in tables]
            counts[length] = 0
            if not any(len(one.places) for one in read):
                continue
            forms = spelling.distinct({length: spelling.joined([(0, one) for one in read])})
            one = forms.by_length[length]
            codes = spelling.marked(one.codes, one.free)
            for at in range(0, len(codes), GROUP):
                stop = min(at + GROUP, len(codes))
                starts = forms.starts[at : stop + 1]
                bearers = pa.ListArray.from_arrays(
                    pa.array(starts - starts[0], pa.int32()),
                    pa.array(forms.places[starts[0] : starts[-1]]),
                )
                some = {"codes": binary(codes[at:stop]), "bearers": bearers}
                out.add(some, np.full(stop - at, length))
            counts[length] = len(codes)
    return {"forms": counts}


def _share(table: Any, length: int, share: int, shares: int) -> Written:
    codes, at = codes_of(table, length), column(table, "at")
    if shares > 1:
        mine = spelling.whole_hashes(codes) % np.uint64(shares) == np.uint64(share)
        codes, at = codes[mine], at[mine]
    plain, free = spelling.unmarked(codes)
    return Written(plain, free, at)


@dataclass(frozen=True)
class _Group:
    """A row group of forms: where it lies, and the id of its first."""

    file: str
    group: int
    length: int
    dropped: int
    first: int


class _Shelf:
    """The forms that a task compares: never held, read again where some are looked at."""

    def __init__(self, job: Job, sources: Sequence[tuple[str, int, int]]) -> None:
        self._place = job.work
        self.groups: list[_Group] = []
        self.size = self.texts = 0
        for file, length, dropped in sources:
            with reading(self._place, file) as source:
                for at in source.groups({length}):
                    self.groups.append(_Group(file, at, length, dropped, self.size))
                    self.size += source.sizes[at]
                    self.texts += source.sizes[at] * spelling.texts_left(length, dropped)

    @property
    def bits(self) -> int:
        return max(1, (self.size - 1).bit_length())

    def _tables(self, wanted: Iterable[_Group], name: str) -> Iterator[tuple[_Group, Any]]:
        opened, source = "", None
        handle: Any = None
        try:
            for one in wanted:
                if one.file != opened or source is None:
                    if handle is not None:
                        handle.close()
                    opened, handle = one.file, self._place.read(one.file)
                    source = Reader(handle)
                yield one, source.table([one.group], [name])
        finally:
            if handle is not None:
                handle.close()

    def left_over(self, part: Slice) -> Iterator[U64]:
        """What every form leaves, in a slice of the hashes."""
        for one, table in self._tables(self.groups, "codes"):
            codes, free = spelling.unmarked(codes_of(table, one.length))
            ids = np.arange(one.first, one.first + len(codes), dtype=np.uint32)
            yield from spelling.left_over(Forms(codes, free, ids), one.dropped, self.bits, part)

    def _holding(self, ids: Ints) -> list[tuple[_Group, int, int]]:
        """The row groups of ascending ids, and which of the ids lie in each."""
        firsts = np.array([*(one.first for one in self.groups), self.size])
        edges = np.searchsorted(ids, firsts).tolist()
        lying = zip(self.groups, edges[:-1], edges[1:], strict=True)
        return [(one, low, high) for one, low, high in lying if high > low]

    def within(self, close: U64) -> U64:
        """Those of the pairs of forms that are two edits or fewer apart."""
        if not close.size:
            return close
        ids, at = np.unique(
            np.concatenate([close >> np.uint64(32), close & HALF]), return_inverse=True
        )
        spelled = np.empty(len(ids), dtype=object)
        holding = self._holding(ids)
        for (one, table), (_, low, high) in zip(
            self._tables([one for one, _, _ in holding], "codes"), holding, strict=True
        ):
            codes, _ = spelling.unmarked(codes_of(table, one.length))
            text = codes[ids[low:high].astype(np.int64) - one.first].tobytes().decode("utf-32-le")
            spelled[low:high] = [
                text[start : start + one.length] for start in range(0, len(text), one.length)
            ]
        apart = cpdist(
            spelled[at[: close.size]],
            spelled[at[close.size :]],
            scorer=OSA.distance,
            score_cutoff=2,
        )
        return close[np.asarray(apart <= 2)]

    def bearers(self, ids: Ints) -> tuple[Ints, Ints]:
        """(where the names of each of ascending ids start, the names)"""
        starts, names = [np.zeros(1, np.int64)], [np.empty(0, np.uint32)]
        holding = self._holding(ids)
        for (one, table), (_, low, high) in zip(
            self._tables([one for one, _, _ in holding], "bearers"), holding, strict=True
        ):
            of = table.column("bearers").combine_chunks()
            of = of.take(pa.array(ids[low:high].astype(np.int64) - one.first))
            starts.append(np.diff(of.offsets.to_numpy()).astype(np.int64))
            names.append(of.flatten().to_numpy())
        return np.cumsum(np.concatenate(starts)), np.concatenate(names)


Sources = Sequence[tuple[str, int, int]]
"""(file, length, letters dropped) of forms that leave texts of one length."""


def meet_spellings(job: Job, task: str, several: Sequence[Sources], bits: int, number: int) -> Told:
    """Names within the edit tolerance of each other, by what is left over in a slice."""
    with writing(job.work, f"found/{task}.parquet", _FOUND) as out:
        found = _Candidates(out, job)
        for sources in several:
            _meet_left_over(_Shelf(job, sources), Slice(bits, number), found, job.sizes.piece)
        found.flush()
    return {"found": found.count.tolist(), "heavy": []}


def _meet_left_over(shelf: _Shelf, part: Slice, found: _Candidates, piece: int) -> None:
    waiting: list[U64] = []
    for close in spelling.meeting(_sorted_texts(shelf, part), shelf.bits):
        waiting.append(close)
        if sum(one.size for one in waiting) >= 2 * piece:
            _add_close(shelf, waiting, found, piece)
    _add_close(shelf, waiting, found, piece)


def _sorted_texts(shelf: _Shelf, part: Slice) -> U64:
    """Every text of a slice. It is by far the largest thing a task holds, so it is made once."""
    room = min(shelf.texts, 4096 + int(1.2 * shelf.texts / (1 << part.bits)))
    packed, size = np.empty(room, np.uint64), 0
    for some in shelf.left_over(part):
        if size + some.size > packed.size:  # the slices are less equal than hashes are as a rule
            more = np.empty(some.size + packed.size // 4, np.uint64)
            packed = np.concatenate([packed[:size], more])
        packed[size : size + some.size] = some
        size += some.size
    packed = packed[:size]
    packed.sort()
    return packed


def _add_close(shelf: _Shelf, waiting: list[U64], found: _Candidates, piece: int) -> None:
    """The names of those pairs of forms that are close indeed."""
    if not waiting:
        return
    pending = np.unique(np.concatenate(waiting))
    waiting.clear()
    close = np.concatenate(
        [shelf.within(pending[at : at + piece]) for at in range(0, len(pending), piece)]
    )
    left, right = close >> np.uint64(32), close & HALF
    ids = np.unique(np.concatenate([left, right]))
    starts, names = shelf.bearers(ids)
    here, there = np.searchsorted(ids, left), np.searchsorted(ids, right)
    many = np.diff(starts)
    for which, inner in windows(many[here] * many[there], piece):
        width = many[there[which]]
        found.add(
            names[starts[here[which]] + inner // width], names[starts[there[which]] + inner % width]
        )
