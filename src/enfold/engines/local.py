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
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import OSA
from rapidfuzz.process import cpdist

from enfold import pairs, rules
from enfold.engines.spelling import U32, U64, Forms, neighbours, tasks
from enfold.model import Context, Verdict
from enfold.names import Name
from enfold.ports import Progress

Row = tuple[str, str | None]
"""(spelling, type)"""

CHUNK = 50_000
"""Names read, and pairs ruled, in one task: large enough to hide a task's cost, small enough to
show progress and to bound what one holds."""

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


Spelled = dict[int, tuple[list[str], list[tuple[str, ...]], list[int]]]
"""By length, (texts, their pieces or () where an edit may fall anywhere, places): the forms of
names that edits are counted on."""


@dataclass(frozen=True)
class Read:
    """What reading some names gave, by their place among them.

    Attributes:
        offers, seeks, segments: the keys of ``pairs``.
        letters: [names] hashes of their letters.
        forms: what spelling is compared by.
        words: in how many names each word stands.
    """

    offers: Keyed
    seeks: Keyed
    segments: Keyed
    letters: U64
    forms: Spelled
    words: Counter[str]


@dataclass(frozen=True)
class Batch:
    """Some of a survey's proposals, by place in the rows given.

    Attributes:
        judged: pairs ruled in this batch.
        left, right: places, left before right.
        rule: names of the rules that ask.
        score: their scores.
    """

    judged: int
    left: list[int]
    right: list[int]
    rule: list[str]
    score: list[float]


def read_names(rows: Sequence[Row], rule_set: str) -> Read:
    """Read some names. A task."""
    chosen = rules.rule_set(rule_set)
    blocks = pairs.blocking(rule for rule in chosen if rule.name != "identical")
    spelled = any(rule.name == "spelling" for rule in chosen)
    offers: list[set[int]] = []
    seeks: list[set[int]] = []
    segments: list[set[int]] = []
    letters: list[int] = []
    forms: Spelled = {}
    words: Counter[str] = Counter()
    for place, (spelling, kind) in enumerate(rows):
        name = Name(spelling, kind)
        offers.append(pairs.offers(name, blocks))
        seeks.append(pairs.seeks(name, blocks))
        letters.append(pairs.hashed(name.letters))
        words.update(set(name.words))
        if spelled:
            segments.append(pairs.segments(name))
            for pieces in pairs.edit_forms(name):
                text = "".join(pieces)
                texts, cut, places = forms.setdefault(len(text), ([], [], []))
                texts.append(text)
                cut.append(pieces if len(pieces) > 1 else ())
                places.append(place)
    hashes = np.array(letters, dtype=np.uint64)
    return Read(Keyed.of(offers), Keyed.of(seeks), Keyed.of(segments), hashes, forms, words)


def rule_pairs(
    rows: Sequence[Row], left: Sequence[int], right: Sequence[int], context: Context
) -> Batch:
    """Rule pairs of these rows, given by place, and keep those a rule asks about. A task."""
    names = [Name(spelling, kind) for spelling, kind in rows]
    kept = Batch(len(left), [], [], [], [])
    for i, j in zip(left, right, strict=True):
        ruling = rules.rule_on(names[i], names[j], context)
        if ruling.verdict is Verdict.ASK:
            kept.left.append(i)
            kept.right.append(j)
            kept.rule.append(ruling.rule)
            kept.score.append(ruling.score)
    return kept


def run_ahead(
    executor: Executor | None, task: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]
) -> Iterator[Any]:
    """Run a task over arguments and yield what it gives, in order, a few ahead of what is taken."""
    if executor is None:
        yield from (task(*args) for args in arguments)
        return
    waiting: list[Future[Any]] = []
    for args in arguments:
        waiting.append(executor.submit(task, *args))
        if len(waiting) >= AHEAD:
            yield waiting.pop(0).result()
    for future in waiting:
        yield future.result()


class Survey:
    """The names of a graph, read once, and the pairs among them that rules ask about.

    Pairs of equal letters are not among them: those are ruled in their groups (see ``resolve``).
    """

    def __init__(
        self,
        rows: Sequence[Row],
        rule_set: str = "default",
        executor: Executor | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._rows = rows
        self._executor = executor
        self._progress = progress or (lambda *_: None)
        self._words: Counter[str] = Counter()
        self._forms: Spelled = {}
        chunks = [rows[at : at + CHUNK] for at in range(0, len(rows), CHUNK)]
        starts = list(range(0, len(rows), CHUNK))
        parts: list[Read] = []
        for read in run_ahead(executor, read_names, ((chunk, rule_set) for chunk in chunks)):
            self._add_forms(read.forms, starts[len(parts)])
            self._words.update(read.words)
            parts.append(replace(read, forms={}, words=Counter()))
            self._progress("reading names", min(len(parts) * CHUNK, len(rows)), len(rows))
        self._offers = Keyed.joined([part.offers for part in parts], starts).in_order()
        self._seeks = Keyed.joined([part.seeks for part in parts], starts).in_order()
        self._segments = Keyed.joined([part.segments for part in parts], starts)
        letters = [np.empty(0, np.uint64), *(part.letters for part in parts)]
        self._letters = np.concatenate(letters)

    def _add_forms(self, forms: Spelled, start: int) -> None:
        for length, (texts, cut, places) in forms.items():
            mine = self._forms.setdefault(length, ([], [], []))
            mine[0].extend(texts)
            mine[1].extend(cut)
            mine[2].extend(place + start for place in places)

    @property
    def common(self) -> frozenset[str]:
        """The words that are common among these names."""
        return rules.common_among(self._words, len(self._rows))

    def candidates(self) -> U64:
        """The places of every candidate pair, packed as lower << 32 | higher, sorted, once each."""
        spelled = self._by_spelling()
        both = np.unique(np.concatenate([self._by_keys(), spelled]))
        left, right = both >> np.uint64(32), both & np.uint64(0xFFFFFFFF)
        kept: U64 = both[self._letters[left] != self._letters[right]]
        return kept

    def propose(self, context: Context) -> Iterator[Batch]:
        """Rule every candidate and yield what is asked, batch by batch."""
        candidates = self.candidates()
        total = len(candidates)

        def parts() -> Iterator[tuple[list[Row], list[int], list[int], Context]]:
            for at in range(0, total, CHUNK):
                part = candidates[at : at + CHUNK]
                left, right = part >> np.uint64(32), part & np.uint64(0xFFFFFFFF)
                places, mine = np.unique(np.concatenate([left, right]), return_inverse=True)
                order.append(places)
                rows = [self._rows[int(p)] for p in places]
                yield rows, mine[: len(part)].tolist(), mine[len(part) :].tolist(), context

        order: list[npt.NDArray[Any]] = []
        done = 0
        for batch in run_ahead(self._executor, rule_pairs, parts()):
            places = order.pop(0)
            done += batch.judged
            self._progress("ruling pairs", done, total)
            yield Batch(
                batch.judged,
                [int(places[i]) for i in batch.left],
                [int(places[j]) for j in batch.right],
                batch.rule,
                batch.score,
            )

    def equal_letters(self) -> Iterator[list[int]]:
        """The places of every two or more names of the same letters."""
        order = np.argsort(self._letters, kind="stable")
        letters = self._letters[order]
        edges = np.flatnonzero(np.concatenate(([True], letters[1:] != letters[:-1], [True])))
        for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            if last - first > 1 and letters[first] != NO_LETTERS:
                yield order[first:last].tolist()

    def index(self, ids: Sequence[int]) -> Iterator[tuple[array[int], array[int]]]:
        """The keys of the name index (see ``pairs.index_keys``) in ascending order, and the id of
        the row of each, in parts."""
        sought = self._seeks.keys ^ np.uint64(pairs.SEEK_SALT)
        keys = np.concatenate([self._offers.keys, sought, self._segments.keys]).view(np.int64)
        at = np.concatenate([self._offers.at, self._seeks.at, self._segments.at])
        rows = np.asarray(ids, dtype=np.int64)
        bounds = np.linspace(-(2**63), 2**63, INDEX_PARTS + 1)[1:-1].astype(np.int64)
        part_of = np.searchsorted(bounds, keys, "right").astype(np.uint8)
        for part in range(INDEX_PARTS):
            mine = np.flatnonzero(part_of == part)
            mine = mine[np.argsort(keys[mine])]
            yield array("q", keys[mine].tobytes()), array("q", rows[at[mine]].tobytes())

    def _by_keys(self) -> U64:
        """Names that seek what others offer."""
        offers, seeks = self._offers, self._seeks  # both in order: the search walks, not jumps
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

    def _by_spelling(self) -> U64:
        """Names within the edit tolerance of each other."""
        texts, holders, by_length = self._distinct_forms()
        self._forms = {}  # used up; what comes next needs the room
        bits = max(1, (len(texts) - 1).bit_length())
        groups = list(tasks(by_length))
        found = [np.empty(0, np.uint64)]
        for done, close in enumerate(
            run_ahead(self._executor, neighbours, ((g, bits) for g in groups)), 1
        ):
            left, right = close >> np.uint64(32), close & np.uint64(0xFFFFFFFF)
            near = self._within(texts, left, right)
            found.append(close[near])
            self._progress("comparing spellings", done, len(groups))
        close = np.unique(np.concatenate(found))
        return _spread(close, holders)

    def _distinct_forms(self) -> tuple[npt.NDArray[Any], list[list[int]], dict[int, Forms]]:
        """Every different form once: its text, who has it, and the arrays by length."""
        texts: list[str] = []
        holders: list[list[int]] = []
        by_length: dict[int, Forms] = {}
        for length, (spelled, cut, places) in self._forms.items():
            known: dict[tuple[str, tuple[str, ...]], int] = {}
            start = len(texts)
            for text, pieces, place in zip(spelled, cut, places, strict=True):
                number = known.setdefault((text, pieces), len(known))
                if number == len(holders) - start:
                    holders.append([place])
                    texts.append(text)
                else:
                    holders[start + number].append(place)
            fresh = texts[start:]
            codes = np.frombuffer("".join(fresh).encode("utf-32-le"), dtype=np.uint32)
            free = None
            if any(pieces for _, pieces in known):
                free = np.ones((len(fresh), length), dtype=np.bool_)
                for number, (_, pieces) in enumerate(known):
                    if pieces:
                        free[number] = False
                        free[number, pairs.free_positions(pieces)] = True
            ids = np.arange(start, len(texts), dtype=np.uint32)
            by_length[length] = Forms(codes.reshape(len(fresh), length), free, ids)
        return np.array(texts, dtype=object), holders, by_length

    @staticmethod
    def _within(texts: npt.NDArray[Any], left: U64, right: U64) -> npt.NDArray[np.bool_]:
        """Which pairs of forms are two edits or fewer apart."""
        if not left.size:
            return np.empty(0, np.bool_)
        apart = cpdist(texts[left], texts[right], scorer=OSA.distance, score_cutoff=2)
        return np.asarray(apart <= 2)


def _spread(close: U64, holders: list[list[int]]) -> U64:
    """Pairs of forms as pairs of the names that have them."""
    found: list[int] = []
    for packed in close.tolist():
        for left in holders[packed >> 32]:
            for right in holders[packed & 0xFFFFFFFF]:
                if left != right:
                    found.append(min(left, right) << 32 | max(left, right))
    return np.unique(np.array(found, dtype=np.uint64))


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

    def survey(self, rows: Sequence[Row], rules: str, progress: Progress) -> Survey:
        return Survey(rows, rules, self._executor(len(rows)), progress)

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _executor(self, names: int) -> Executor | None:
        if self._workers < 2 or names < 2 * CHUNK:
            return None
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._workers,
                mp_context=get_context("spawn"),
                initializer=_begin,
                initargs=(pairs.REGISTERED,),
            )
        return self._pool
