"""Misspellings among many names: all that share what is left after deleting up to two letters.

``pairs.deletions`` is the definition; this is the same over arrays. Forms are grouped by their
length, every deletion is hashed from prefix sums of a polynomial (three products, whatever the
length), and forms that leave the same text are neighbours after one sort. Work is cut by the length
of what is left, so memory follows the largest such group and not the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from enfold.rules import ONE_PLACE, tolerance

U64 = npt.NDArray[np.uint64]
U32 = npt.NDArray[np.uint32]
Bool = npt.NDArray[np.bool_]

_BASE = 0x9E37_79B9_7F4A_7C15
_MASK = (1 << 64) - 1
_INVERSE = pow(_BASE, -1, 1 << 64)


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


def _mixed(values: U64) -> U64:
    """A finalizer that spreads every bit over the word."""
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
    terms = _mixed(codes.T.astype(np.uint64) + np.uint64(0x5BD1E995)) * powers[:, None]
    np.cumsum(terms, axis=0, out=sums[1:])
    return sums


def left_over(forms: Forms, dropped: int, id_bits: int) -> Iterator[U64]:
    """Packed (hash of what is left, form id) after every deletion of that many letters."""
    length = forms.codes.shape[1]
    sums = _prefix_sums(forms.codes)
    once, twice = np.uint64(_INVERSE), np.uint64(_INVERSE * _INVERSE & _MASK)
    ids = forms.ids.astype(np.uint64)
    low = np.uint64((1 << id_bits) - 1)
    free = None if forms.free is None else forms.free.T

    def packed(values: U64, where: Bool | None) -> U64:
        keys: U64 = (_mixed(values) & ~low) | ids
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


def neighbours(groups: list[tuple[Forms, int]], id_bits: int) -> U64:
    """Pairs of form ids that leave one text, packed as lower id << 32 | higher, sorted, once each.

    ``groups`` are (forms, letters dropped) that all leave texts of one length.
    """
    keys = [part for forms, dropped in groups for part in left_over(forms, dropped, id_bits)]
    if not keys:
        return np.empty(0, dtype=np.uint64)
    packed = np.concatenate(keys)
    del keys
    if not packed.size:
        return packed
    packed.sort()
    packed = packed[np.concatenate(([True], packed[1:] != packed[:-1]))]
    hashes, ids = packed >> np.uint64(id_bits), packed & np.uint64((1 << id_bits) - 1)
    del packed
    found = []
    at = np.flatnonzero(hashes[1:] == hashes[:-1])
    step = 1
    while at.size:
        left, right = ids[at], ids[at + step]
        found.append((np.minimum(left, right) << np.uint64(32)) | np.maximum(left, right))
        step += 1
        at = at[at + step < hashes.size]
        at = at[hashes[at + step] == hashes[at]]
    if not found:
        return np.empty(0, dtype=np.uint64)
    return np.unique(np.concatenate(found))


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
