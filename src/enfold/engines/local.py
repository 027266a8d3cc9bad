"""Pairs found on this machine: one process, or a pool of them.

A survey reads the names once (their keys, forms and words, as arrays), freezes what is common among
them, then yields the proposals in batches. What it yields equals ruling all names against all.
"""

from __future__ import annotations

import gc
import os
import signal
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any

import numpy as np
import numpy.typing as npt

from enfold import pairs, rules
from enfold.asked import Asked
from enfold.engines import spelling
from enfold.engines.chosen import lost
from enfold.engines.spelling import U32, U64, Written
from enfold.model import Context, Verdict
from enfold.names import Name
from enfold.ports import Progress, Spelled

CHUNK = 50_000
"""Names read in one task: large enough to hide a task's cost, small enough to
show progress and to bound what one holds."""

PAIRS = 50_000
"""Pairs ruled in one task: more would read fewer names twice, and leave one process waiting for the
other at the end."""

INDEX_PARTS = 16
"""Parts the name index is sorted in, so that only one of them is held twice."""

NO_LETTERS = np.uint64(pairs.hashed(""))

AHEAD = 4
"""Tasks given to an executor before the first result is taken: enough to keep its processes busy,
few enough to bound what waits."""


@dataclass(frozen=True)
class Keyed:
    """64-bit hashes, and the place of the name that each is of."""

    keys: U64
    at: U32

    @classmethod
    def of(cls, names: Iterable[Iterable[int]]) -> Keyed:
        """The hashes of each name, in order."""
        keys: list[int] = []
        at: list[int] = []
        for place, mine in enumerate(names):
            keys.extend(mine)
            at.extend([place] * (len(keys) - len(at)))
        return cls(np.array(keys, dtype=np.uint64), np.array(at, dtype=np.uint32))

    @classmethod
    def joined(cls, parts: Sequence[Keyed], starts: Sequence[int]) -> Keyed:
        """Parts one behind the other, the names of each counted from its start."""
        keys = [np.empty(0, np.uint64), *(part.keys for part in parts)]
        at = [part.at + np.uint32(start) for part, start in zip(parts, starts, strict=True)]
        return cls(np.concatenate(keys), np.concatenate([np.empty(0, np.uint32), *at]))

    def in_order(self) -> Keyed:
        """The same by ascending hash."""
        order = np.argsort(self.keys)
        return Keyed(self.keys[order], self.at[order])


@dataclass(frozen=True)
class Read:
    """What reading some names gave, by their place among them.

    Attributes:
        offers, seeks: the keys of ``pairs``.
        letters: [names] hashes of their letters.
        forms: what spelling is compared by, by length.
        words: in how many names each word stands.
        initials: see ``rules.note_initials``.
    """

    offers: Keyed
    seeks: Keyed
    letters: U64
    forms: dict[int, Written]
    words: Counter[str]
    initials: dict[str, set[str]]


@dataclass(frozen=True)
class Batch:
    """Some of a survey's proposals.

    Attributes:
        judged: pairs ruled in this batch.
        asked: those that a rule asks about.
    """

    judged: int
    asked: Asked


def read_names(rows: Sequence[Spelled], rule_set: str) -> Read:
    """Read some names. A task."""
    chosen = rules.rule_set(rule_set)
    blocks = pairs.blocking(rule for rule in chosen if rule.name != "identical")
    spelled = any(rule.name == "spelling" for rule in chosen)
    offers: list[set[int]] = []
    seeks: list[set[int]] = []
    letters: list[int] = []
    forms = spelling.Reading()
    words: list[str] = []
    initials: dict[str, set[str]] = {}
    for place, (written, kind) in enumerate(rows):
        name = Name(written, kind)
        offers.append(pairs.offers(name, blocks))
        seeks.append(pairs.seeks(name, blocks))
        letters.append(pairs.hashed(name.letters))
        words += set(name.words)
        rules.note_initials(initials, name)
        if spelled:
            forms.add(place, name)
    hashes = np.array(letters, dtype=np.uint64)
    counts = Counter(words)
    return Read(Keyed.of(offers), Keyed.of(seeks), hashes, forms.written(), counts, initials)


def rule_pairs(
    rows: Sequence[Spelled], left: Sequence[int], right: Sequence[int], context: Context
) -> Batch:
    """Rule pairs of these rows, given by place, and keep those a rule asks about. A task."""
    names = [Name(spelling, kind) for spelling, kind in rows]
    kept = Asked()
    for i, j in zip(left, right, strict=True):
        ruling = rules.rule_on(names[i], names[j], context)
        if ruling.verdict is Verdict.ASK:
            kept.add(i, j, ruling.rule, ruling.score)
    return Batch(len(left), kept)


def run_ahead(
    executor: Executor | None,
    task: Callable[..., Any],
    arguments: Iterable[tuple[Any, ...]],
    ahead: int = AHEAD,
) -> Iterator[Any]:
    """Run a task over arguments and yield what it gives, in order, a few ahead of what is taken."""
    if executor is None:
        yield from (task(*args) for args in arguments)
        return
    waiting: list[Future[Any]] = []
    for args in arguments:
        waiting.append(executor.submit(task, *args))
        if len(waiting) >= ahead:
            yield _result(waiting.pop(0))
    yield from map(_result, waiting)


def _result(future: Future[Any]) -> Any:
    try:
        return future.result()
    except BrokenExecutor as error:
        raise lost(error) from error


class Survey:
    """The names of a graph, read once, and the pairs among them that rules ask about. What it says
    of a row it says by its id, or by its place where no ids are given.

    Pairs of equal letters are not among them: those are ruled in their groups (see ``resolve``).
    """

    def __init__(
        self,
        rows: Sequence[Spelled],
        rule_set: str = "default",
        executor: Executor | None = None,
        progress: Progress | None = None,
        ids: Sequence[int] | None = None,
        ahead: int = AHEAD,
    ) -> None:
        self._rows = rows
        self._ahead = ahead
        self._ids = np.arange(len(rows)) if ids is None else np.array(ids, dtype=np.int64)
        self._executor = executor
        self._progress = progress or (lambda *_: None)
        self._words: Counter[str] = Counter()
        self._begun: dict[str, set[str]] = {}
        forms: dict[int, list[tuple[int, Written]]] = {}
        chunks = [rows[at : at + CHUNK] for at in range(0, len(rows), CHUNK)]
        starts = list(range(0, len(rows), CHUNK))
        parts: list[Read] = []
        arguments = ((chunk, rule_set) for chunk in chunks)
        for read in run_ahead(executor, read_names, arguments, ahead):
            for length, written in read.forms.items():
                forms.setdefault(length, []).append((starts[len(parts)], written))
            self._words.update(read.words)
            for run, begun in read.initials.items():
                self._begun.setdefault(run, set()).update(begun)
            parts.append(replace(read, forms={}, words=Counter(), initials={}))
            self._progress("reading names", min(len(parts) * CHUNK, len(rows)), len(rows))
        self._offers = Keyed.joined([part.offers for part in parts], starts).in_order()
        self._seeks = Keyed.joined([part.seeks for part in parts], starts).in_order()
        self._written = {length: spelling.joined(forms.pop(length)) for length in sorted(forms)}
        letters = [np.empty(0, np.uint64), *(part.letters for part in parts)]
        self._letters = np.concatenate(letters)

    @property
    def common(self) -> frozenset[str]:
        """The words that are common among these names."""
        return rules.common_among(self._words, len(self._rows))

    @property
    def initials(self) -> frozenset[str]:
        """Two initials that one of these names alone has."""
        return rules.alone_among(self._begun)

    def candidates(self) -> U64:
        """The places of every candidate pair, packed as lower << 32 | higher, sorted, once each."""
        spelled = self._by_spelling()
        both = np.unique(np.concatenate([self._by_keys(), spelled]))
        left, right = both >> np.uint64(32), both & np.uint64(0xFFFFFFFF)
        kept: U64 = both[self._letters[left] != self._letters[right]]
        return kept

    def propose(self, context: Context) -> Iterator[Batch]:
        """Rule every candidate and yield what is asked, batch by batch."""
        candidates = _rarer_first(self.candidates(), len(self._rows))
        total = len(candidates)

        def parts() -> Iterator[tuple[list[Spelled], list[int], list[int], Context]]:
            for at in range(0, total, PAIRS):
                part = candidates[at : at + PAIRS]
                left, right = part >> np.uint64(32), part & np.uint64(0xFFFFFFFF)
                places, mine = np.unique(np.concatenate([left, right]), return_inverse=True)
                order.append(places)
                rows = [self._rows[int(p)] for p in places]
                yield rows, mine[: len(part)].tolist(), mine[len(part) :].tolist(), context

        order: list[npt.NDArray[Any]] = []
        done = 0
        for batch in run_ahead(self._executor, rule_pairs, parts(), self._ahead):
            batch.asked.renumber(self._ids[order.pop(0)])
            done += batch.judged
            self._progress("ruling pairs", done, total)
            yield batch

    def equal_letters(self) -> Iterator[list[int]]:
        """The rows of every two or more names of the same letters."""
        order = np.argsort(self._letters, kind="stable")
        letters = self._letters[order]
        edges = np.flatnonzero(np.concatenate(([True], letters[1:] != letters[:-1], [True])))
        for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            if last - first > 1 and letters[first] != NO_LETTERS:
                yield self._ids[order[first:last]].tolist()

    def index(self) -> Iterator[tuple[array[int], array[int]]]:
        """The keys of the name index (see ``pairs.index_keys``) in ascending order, and the row of
        each, in parts."""
        sought = self._seeks.keys ^ np.uint64(pairs.SEEK_SALT)
        segments = list(spelling.segment_keys(self._written))
        keyed = [(self._offers.keys, self._offers.at), (sought, self._seeks.at), *segments]
        keys = np.concatenate([keys for keys, _ in keyed]).view(np.int64)
        at = np.concatenate([at for _, at in keyed])
        bounds = np.linspace(-(2**63), 2**63, INDEX_PARTS + 1)[1:-1].astype(np.int64)
        part_of = np.searchsorted(bounds, keys, "right").astype(np.uint8)
        for part in range(INDEX_PARTS):
            mine = np.flatnonzero(part_of == part)
            mine = mine[np.lexsort((at[mine], keys[mine]))]
            of, row = keys[mine], at[mine]
            once = np.ones(len(mine), dtype=np.bool_)
            once[1:] = (of[1:] != of[:-1]) | (row[1:] != row[:-1])
            yield array("q", of[once].tobytes()), array("q", self._ids[row[once]].tobytes())

    def _by_keys(self) -> U64:
        """Names that seek what others offer."""
        offers, seeks = self._offers, self._without_shared_initials()
        # Both are in order: the search walks, not jumps.
        first = np.searchsorted(offers.keys, seeks.keys, "left")
        count = np.searchsorted(offers.keys, seeks.keys, "right") - first
        hit = np.flatnonzero(count)
        first, count, seek_at = first[hit], count[hit], seeks.at[hit]
        found: list[U64] = [np.empty(0, np.uint64)]
        for at in range(0, len(hit), CHUNK):
            many = count[at : at + CHUNK]
            sought = np.repeat(seek_at[at : at + CHUNK], many).astype(np.uint64)
            starts = first[at : at + CHUNK] - np.concatenate(([0], np.cumsum(many)[:-1]))
            base = np.repeat(starts, many)
            offered = offers.at[base + np.arange(int(many.sum()))].astype(np.uint64)
            apart = self._letters[sought] != self._letters[offered]
            low, high = np.minimum(sought, offered)[apart], np.maximum(sought, offered)[apart]
            found.append(np.unique((low << np.uint64(32)) | high))
        return np.unique(np.concatenate(found))

    def _without_shared_initials(self) -> Keyed:
        """What is sought, but for initials that several names have: no rule asks about those, and
        in a large graph they are names of any two words."""
        alone = self.initials
        shared = [pairs.initials_key(run) for run in self._begun if run not in alone]
        if not shared:
            return self._seeks
        hashes = np.array([pairs.hashed(key) for key in shared], dtype=np.uint64)
        kept = ~np.isin(self._seeks.keys, hashes)
        return Keyed(self._seeks.keys[kept], self._seeks.at[kept])

    def _by_spelling(self) -> U64:
        """Names within the edit tolerance of each other."""
        forms = spelling.distinct(self._written)
        groups = list(spelling.tasks(forms.by_length))
        found = [np.empty(0, np.uint64)]
        arguments = ((group, forms.bits) for group in groups)
        for close in run_ahead(self._executor, spelling.neighbours, arguments, self._ahead):
            found.append(forms.within(close))
            self._progress("comparing spellings", len(found) - 1, len(groups))
        return forms.of_names(np.unique(np.concatenate(found)))


def _rarer_first(candidates: U64, names: int) -> U64:
    """The candidates in an order in which most names stand in one task alone: by the one of each
    two that stands in fewer pairs."""
    left, right = (candidates >> np.uint64(32)).astype(np.int64), candidates & np.uint64(0xFFFFFFFF)
    right = right.astype(np.int64)
    pairs_of = np.bincount(left, minlength=names) + np.bincount(right, minlength=names)
    rarer = np.where(pairs_of[left] <= pairs_of[right], left, right)
    ordered: U64 = candidates[np.argsort(rarer, kind="stable")]
    return ordered


def _begin(registered: Mapping[str, pairs.Registered]) -> None:
    """Set a worker process up: it knows the rules that its parent knows, and a terminal's Ctrl-C,
    which reaches every process, ends it without a word."""
    pairs.register_all(registered)
    gc.disable()  # names hold no cycles; looking for them took a tenth of the time
    parent = parent_process()
    if parent is not None:  # killed, it can't end its workers
        Thread(target=_end_with, args=(parent,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


class LocalEngine:
    """Finds pairs in this process, or on as many processes as it is given.

    Args:
        workers: processes for large graphs; 1 keeps everything in this one. More than one needs a
            main module that may be imported again, as ``multiprocessing`` does.
    """

    def __init__(self, workers: int = 1) -> None:
        self._workers = workers
        self._pool: ProcessPoolExecutor | None = None

    def survey(
        self, ids: Sequence[int], rows: Sequence[Spelled], rule_set: str, progress: Progress
    ) -> Survey:
        return Survey(rows, rule_set, self._executor(len(rows)), progress, ids)

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _executor(self, names: int) -> Executor | None:
        return None if names < 2 * CHUNK else self.start("")

    def start(self, rule_set: str, place: str | None = None) -> Executor | None:
        """What runs tasks: its processes, or None where that is this one alone."""
        if self._workers < 2:
            return None
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._workers,
                mp_context=get_context("spawn"),
                initializer=_begin,
                initargs=(pairs.REGISTERED,),
            )
        return self._pool
