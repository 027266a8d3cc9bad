"""Misspellings among many names: all that share what is left after deleting up to two letters.

``pairs.deletions`` is the definition; this is the same over arrays. Forms are grouped by their
length, every deletion is hashed from prefix sums of a polynomial (three products, whatever the
length), and forms that leave the same text are neighbours after one sort. Work is cut by the length
of what is left, so memory follows the largest such group and not the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import OSA
from rapidfuzz.process import cpdist

from enfold import pairs
from enfold.names import Name
from enfold.rules import ONE_PLACE, tolerance

U64 = npt.NDArray[np.uint64]
U32 = npt.NDArray[np.uint32]
Bool = npt.NDArray[np.bool_]

_BASE = pairs.BASE
_MASK = (1 << 64) - 1
_INVERSE = pow(_BASE, -1, 1 << 64)
_FIXED = np.uint32(1 << 24)
"""Marks a character that no edit may touch; above every code point."""

HALF = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True)
class Forms:
    """Forms of one length.

    Attributes:
        codes: [forms, length] code points.
        free: [forms, length] where an edit may fall, or None where it may fall anywhere.
        ids: [forms] the form's number, unique over all lengths.
    """

    codes: U32
    free: Bool | None
    ids: U32


@dataclass(frozen=True)
class Written:
    """Forms of one length as names have them, one row for each name that has one.

    Attributes:
        codes, free: as of ``Forms``.
        places: [rows] the name's place.
    """

    codes: U32
    free: Bool | None
    places: U32


class Reading:
    """Collects the forms of names while they are read."""

    def __init__(self) -> None:
        self._by_length: dict[int, tuple[list[str], list[int], dict[int, list[int]]]] = {}

    def add(self, place: int, name: Name) -> None:
        for pieces in pairs.edit_forms(name):
            text = pieces[0] if len(pieces) == 1 else "".join(pieces)
            length = len(text)
            if length not in self._by_length:
                self._by_length[length] = ([], [], {})
            texts, places, cut = self._by_length[length]
            if len(pieces) > 1:
                cut[len(texts)] = pairs.free_positions(pieces)
            texts.append(text)
            places.append(place)

    def written(self) -> dict[int, Written]:
        """What was collected, by length."""
        return {length: _written(length, *rest) for length, rest in self._by_length.items()}


def _written(
    length: int, texts: list[str], places: list[int], cut: dict[int, list[int]]
) -> Written:
    codes = np.frombuffer("".join(texts).encode("utf-32-le"), dtype=np.uint32)
    free: Bool | None = None
    if cut:
        free = np.ones((len(texts), length), dtype=np.bool_)
        for row, positions in cut.items():
            free[row] = False
            free[row, positions] = True
    return Written(codes.reshape(len(texts), length), free, np.array(places, dtype=np.uint32))


def joined(parts: Sequence[tuple[int, Written]]) -> Written:
    """Parts of one length, each with the place of its first name."""
    free = None
    if any(part.free is not None for _, part in parts):
        frees = (np.ones_like(p.codes, np.bool_) if p.free is None else p.free for _, p in parts)
        free = np.concatenate(list(frees))
    places = [part.places + np.uint32(start) for start, part in parts]
    return Written(np.concatenate([p.codes for _, p in parts]), free, np.concatenate(places))


@dataclass(frozen=True)
class Distinct:
    """Every different form once, numbered through all lengths.

    Attributes:
        by_length: the forms.
        first: [lengths + 1] the number of each length's first form.
        lengths: the lengths, ascending.
        starts: [forms + 1] where in ``places`` the names of each form stand.
        places: the names that have each form, form by form.
    """

    by_length: dict[int, Forms]
    first: npt.NDArray[np.int64]
    lengths: list[int]
    starts: npt.NDArray[np.int64]
    places: U32

    @property
    def bits(self) -> int:
        """How many bits a form's number takes."""
        return max(1, (int(self.first[-1]) - 1).bit_length())

    def within(self, close: U64) -> U64:
        """Those of the pairs of forms that are two edits or fewer apart."""
        if not close.size:
            return close
        left, right = close >> np.uint64(32), close & HALF
        numbers, at = np.unique(np.concatenate([left, right]), return_inverse=True)
        texts = self._texts(numbers)
        apart = cpdist(
            texts[at[: close.size]], texts[at[close.size :]], scorer=OSA.distance, score_cutoff=2
        )
        return close[np.asarray(apart <= 2)]

    def _texts(self, numbers: U64) -> npt.NDArray[np.object_]:
        """The texts of forms, given by ascending number."""
        texts = np.empty(len(numbers), dtype=object)
        edges = np.searchsorted(numbers, self.first.astype(np.uint64))
        firsts, edge = self.first[:-1].tolist(), edges.tolist()
        for length, first, low, high in zip(self.lengths, firsts, edge[:-1], edge[1:], strict=True):
            rows = numbers[low:high].astype(np.int64) - first
            text = self.by_length[length].codes[rows].tobytes().decode("utf-32-le")
            cut = range(0, len(text), length)
            texts[low:high] = [text[at : at + length] for at in cut]
        return texts

    def of_names(self, close: U64) -> U64:
        """Pairs of forms as pairs of the names that have them, packed, sorted, once each."""
        left, right = (close >> np.uint64(32)).astype(np.int64), (close & HALF).astype(np.int64)
        count = np.diff(self.starts)
        many = count[left] * count[right]
        inner = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
        width = np.repeat(count[right], many)
        here = self.places[np.repeat(self.starts[left], many) + inner // np.maximum(width, 1)]
        there = self.places[np.repeat(self.starts[right], many) + inner % np.maximum(width, 1)]
        low, high = np.minimum(here, there), np.maximum(here, there)
        packed = (low.astype(np.uint64) << np.uint64(32)) | high
        return np.unique(packed[low != high])


def distinct(written: dict[int, Written]) -> Distinct:
    """The different forms among those written: one text with one set of places for edits."""
    by_length: dict[int, Forms] = {}
    counts, places, first = [], [], [0]
    lengths = sorted(written)
    for length in lengths:
        mine = written[length]
        hashes = whole_hashes(marked(mine.codes, mine.free))
        order = np.argsort(hashes, kind="stable")
        hashes = hashes[order]
        edges = np.flatnonzero(np.concatenate(([True], hashes[1:] != hashes[:-1])))
        chosen = order[edges]
        ids = np.arange(first[-1], first[-1] + len(edges), dtype=np.uint32)
        free = None if mine.free is None else mine.free[chosen]
        by_length[length] = Forms(mine.codes[chosen], free, ids)
        counts.append(np.diff(np.append(edges, len(order))))
        places.append(mine.places[order])
        first.append(first[-1] + len(edges))
    starts = np.concatenate([np.zeros(1, np.int64), *counts]).cumsum()
    whole = np.concatenate([np.empty(0, np.uint32), *places])
    return Distinct(by_length, np.array(first), lengths, starts, whole)


def marked(codes: U32, free: Bool | None) -> U32:
    """Codes in one piece with where an edit may fall."""
    return codes if free is None else codes | (~free * _FIXED)


def unmarked(marked: U32) -> tuple[U32, Bool | None]:
    """(codes, where an edit may fall) of ``marked`` ones."""
    free = marked < _FIXED
    return (marked, None) if free.all() else (marked & (_FIXED - np.uint32(1)), free)


def whole_hashes(marked: U32) -> U64:
    """A hash of each form, by what it is and where an edit may fall."""
    hashes: U64 = _prefix_sums(marked)[marked.shape[1]]
    return hashes


def segment_keys(written: dict[int, Written]) -> Iterator[tuple[U64, U32]]:
    """The keys of ``pairs.segments``, each with the place of its name. A name of two forms may give
    one key twice."""
    for length, mine in written.items():
        terms = _mixed(mine.codes.T.astype(np.uint64) + np.uint64(pairs.CODE_SALT))
        for part, (start, end) in enumerate(pairs.cuts(length)):
            salt = np.uint64(pairs.segment_salt(length, part))
            value = np.full(len(mine.places), salt, dtype=np.uint64)
            for column in range(start, end):
                value = value * np.uint64(_BASE) + terms[column]
            yield _mixed(value), mine.places


def _mixed(values: U64) -> U64:
    """``pairs.mixed`` over an array."""
    values = values ^ (values >> np.uint64(33))
    values = values * np.uint64(0xFF51AFD7ED558CCD)
    values = values ^ (values >> np.uint64(33))
    values = values * np.uint64(0xC4CEB9FE1A85EC53)
    return values ^ (values >> np.uint64(33))


def _prefix_sums(codes: U32) -> U64:
    """[forms, length + 1]: the polynomial of every prefix."""
    rows, length = codes.shape
    powers = np.array([pow(_BASE, at, 1 << 64) for at in range(length)], dtype=np.uint64)
    sums = np.zeros((length + 1, rows), dtype=np.uint64)
    terms = _mixed(codes.T.astype(np.uint64) + np.uint64(pairs.CODE_SALT)) * powers[:, None]
    np.cumsum(terms, axis=0, out=sums[1:])
    return sums


@dataclass(frozen=True)
class Slice:
    """One of 2 ** ``bits`` equal parts of the hashes."""

    bits: int
    number: int


def left_over(forms: Forms, dropped: int, id_bits: int, part: Slice | None = None) -> Iterator[U64]:
    """Packed (hash of what is left, form id) after every deletion of that many letters; of a slice
    of the hashes alone, less the bits that all of it share."""
    length = forms.codes.shape[1]
    sums = _prefix_sums(forms.codes)
    once, twice = np.uint64(_INVERSE), np.uint64(_INVERSE * _INVERSE & _MASK)
    ids = forms.ids.astype(np.uint64)
    low = np.uint64((1 << id_bits) - 1)
    free = None if forms.free is None else forms.free.T

    def packed(values: U64, where: Bool | None) -> U64:
        keys: U64 = _mixed(values)
        if part is not None and part.bits:
            mine = keys >> np.uint64(64 - part.bits) == np.uint64(part.number)
            at = np.flatnonzero(mine if where is None else mine & where)
            chosen: U64 = ((keys[at] << np.uint64(part.bits)) & ~low) | ids[at]
            return chosen
        keys = (keys & ~low) | ids
        return keys if where is None else keys[where]

    whole = sums[length]
    if dropped == 0:
        yield packed(whole, None)
        return
    for i in range(length):
        head = sums[i]
        if dropped == 1:
            yield packed(head + (whole - sums[i + 1]) * once, None if free is None else free[i])
            continue
        last = length if length <= ONE_PLACE else min(length, i + 2)
        for j in range(i + 1, last):
            values = head + (sums[j] - sums[i + 1]) * once + (whole - sums[j + 1]) * twice
            yield packed(values, None if free is None else free[i] & free[j])


def _left(group: tuple[Forms, int]) -> int:
    forms, dropped = group
    count, length = map(int, forms.codes.shape)
    return count * texts_left(length, dropped)


def texts_left(length: int, dropped: int) -> int:
    """How many texts a form of that length leaves at most."""
    if dropped < 2:
        return length if dropped else 1
    return length * (length - 1) // 2 if length <= ONE_PLACE else length - 1


def _joined(parts: Sequence[Iterator[U64]], most: int) -> U64:
    """One array of all, sorted. It is by far the largest thing a task holds, so it is made once."""
    packed = np.empty(most, dtype=np.uint64)
    size = 0
    for part in chain.from_iterable(parts):
        packed[size : size + part.size] = part
        size += part.size
    packed = packed[:size]
    packed.sort()
    return packed


_BLOCK = 1 << 22
"""Keys looked at together: what is made beside them stays small."""


def _shared(packed: U64, id_bits: int) -> U64:
    """Those of sorted keys whose hash another one has, each once."""
    kept = [np.empty(0, np.uint64)]
    limit = np.uint64(1 << id_bits)
    for start in range(0, packed.size, _BLOCK):
        block = packed[max(0, start - 1) : start + _BLOCK + 1]
        same = (block[1:] ^ block[:-1]) < limit
        member = np.zeros(block.size, dtype=np.bool_)
        member[1:] |= same
        member[:-1] |= same
        kept.append(block[member])
    return np.unique(np.concatenate(kept))  # blocks share their edges


def neighbours(groups: list[tuple[Forms, int]], id_bits: int) -> U64:
    """Pairs of form ids that leave one text, packed as lower id << 32 | higher, sorted, once each.

    ``groups`` are (forms, letters dropped) that all leave texts of one length.
    """
    parts = [left_over(forms, dropped, id_bits) for forms, dropped in groups]
    packed = _joined(parts, sum(map(_left, groups)))
    found = list(meeting(packed, id_bits))
    if not found:
        return np.empty(0, dtype=np.uint64)
    return np.unique(np.concatenate(found))


def meeting(packed: U64, id_bits: int) -> Iterator[U64]:
    """Pairs of ids whose hashes are equal, of sorted keys, packed as lower id << 32 | higher; in
    pieces no longer than what has company, a pair perhaps in several."""
    packed = _shared(packed, id_bits)
    hashes, ids = packed >> np.uint64(id_bits), packed & np.uint64((1 << id_bits) - 1)
    at = np.flatnonzero(hashes[1:] == hashes[:-1])
    step = 1
    while at.size:
        left, right = ids[at], ids[at + step]
        yield (np.minimum(left, right) << np.uint64(32)) | np.maximum(left, right)
        step += 1
        at = at[at + step < hashes.size]
        at = at[hashes[at + step] == hashes[at]]


def tasks(by_length: dict[int, Forms]) -> Iterator[list[tuple[Forms, int]]]:
    """The groups for ``neighbours``: for each length of what is left, who may leave it."""
    for length in range(1, max(by_length, default=0) + 1):
        groups = [
            (by_length[length + dropped], dropped)
            for dropped in range(3)
            if length + dropped in by_length and tolerance(length + dropped) >= dropped
        ]
        if groups:
            yield groups
