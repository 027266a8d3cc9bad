"""Pairs found on this machine: one process, or a pool of them.

A survey reads the names once (their keys, forms and words, as arrays), freezes what is common among
them, then yields the proposals in batches. What it yields equals ruling all names against all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
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

AHEAD = 4
"""Tasks given to an executor before the first result is taken: enough to keep its processes busy,
few enough to bound what waits."""

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Keys:
    """What reading some names gave, by their place in the chunk.

    Attributes:
        offers, offer_at: 64-bit hashes offered, and by which name.
        seeks, seek_at: the same of what is sought.
        forms: by length, (texts, pieces or None, places): the forms spelling counts edits on.
        letters: [names] hashes of their letters.
        words: in how many names each word stands.
    """

    offers: U64
    offer_at: U32
    seeks: U64
    seek_at: U32
    forms: dict[int, tuple[list[str], list[tuple[str, ...]], list[int]]]
    letters: U64
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


def read_names(rows: Sequence[Row], rule_set: str) -> Keys:
    """The keys of some names. A task."""
    blocks = pairs.blocking(r for r in rules.rule_set(rule_set) if r.name != "identical")
    spelled = any(r.name == "spelling" for r in rules.rule_set(rule_set))
    offers: list[int] = []
    offer_at: list[int] = []
    seeks: list[int] = []
    seek_at: list[int] = []
    forms: dict[int, tuple[list[str], list[tuple[str, ...]], list[int]]] = {}
    letters: list[int] = []
    words: Counter[str] = Counter()
    for at, (spelling, kind) in enumerate(rows):
        name = Name(spelling, kind)
        words.update(set(name.words))
        letters.append(pairs.hashed(name.letters))
        given = pairs.offers(name, blocks)
        wanted = pairs.seeks(name, blocks)
        offers.extend(given)
        offer_at.extend([at] * len(given))
        seeks.extend(wanted)
        seek_at.extend([at] * len(wanted))
        for pieces in pairs.edit_forms(name) if spelled else ():
            text = "".join(pieces)
            texts, cut, places = forms.setdefault(len(text), ([], [], []))
            texts.append(text)
            cut.append(pieces if len(pieces) > 1 else ())
            places.append(at)
    return Keys(
        np.array(offers, dtype=np.uint64),
        np.array(offer_at, dtype=np.uint32),
        np.array(seeks, dtype=np.uint64),
        np.array(seek_at, dtype=np.uint32),
        forms,
        np.array(letters, dtype=np.uint64),
        words,
    )


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


def index_names(rows: Sequence[Row], rule_set: str) -> tuple[I64, U32]:
    """The name-index keys of some names, and by which name. A task."""
    blocks = pairs.blocking(rules.rule_set(rule_set))
    keys: list[int] = []
    at: list[int] = []
    for place, (spelling, kind) in enumerate(rows):
        mine = pairs.index_keys(Name(spelling, kind), blocks)
        keys.extend(mine)
        at.extend([place] * len(mine))
    return np.array(keys, dtype=np.int64), np.array(at, dtype=np.uint32)


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
        self._forms: dict[int, tuple[list[str], list[tuple[str, ...]], list[int]]] = {}
        offers: list[U64] = []
        offer_at: list[U32] = []
        seeks: list[U64] = []
        seek_at: list[U32] = []
        letters: list[U64] = []
        chunks = [rows[at : at + CHUNK] for at in range(0, len(rows), CHUNK)]
        start = 0
        for keys in run_ahead(self._executor, read_names, ((chunk, rule_set) for chunk in chunks)):
            offers.append(keys.offers)
            offer_at.append(keys.offer_at + np.uint32(start))
            seeks.append(keys.seeks)
            seek_at.append(keys.seek_at + np.uint32(start))
            letters.append(keys.letters)
            self._words.update(keys.words)
            for length, (texts, cut, places) in keys.forms.items():
                mine = self._forms.setdefault(length, ([], [], []))
                mine[0].extend(texts)
                mine[1].extend(cut)
                mine[2].extend(place + start for place in places)
            start = min(start + CHUNK, len(rows))
            self._progress("reading names", start, len(rows))
        empty64, empty32 = np.empty(0, np.uint64), np.empty(0, np.uint32)
        self._letters = np.concatenate([empty64, *letters])
        self._offers = np.concatenate([empty64, *offers])
        self._offer_at = np.concatenate([empty32, *offer_at])
        self._seeks = np.concatenate([empty64, *seeks])
        self._seek_at = np.concatenate([empty32, *seek_at])

    @property
    def common(self) -> frozenset[str]:
        """The words that are common among these names."""
        return rules.common_among(self._words, len(self._rows))

    def candidates(self) -> U64:
        """The places of every candidate pair, packed as lower << 32 | higher, sorted, once each."""
        found = self._by_keys()
        spelled = self._by_spelling()
        both = np.unique(np.concatenate([found, spelled]))
        left, right = both >> np.uint64(32), both & np.uint64(0xFFFFFFFF)
        return both[self._letters[left] != self._letters[right]]

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

    def _by_keys(self) -> U64:
        """Names that seek what others offer."""
        order = np.argsort(self._offers)
        offers, offer_at = self._offers[order], self._offer_at[order]
        order = np.argsort(self._seeks)  # both in one order: the search walks, it does not jump
        seeks, seek_at = self._seeks[order], self._seek_at[order]
        first = np.searchsorted(offers, seeks, "left")
        count = np.searchsorted(offers, seeks, "right") - first
        hit = np.flatnonzero(count)
        first, count, seek_at = first[hit], count[hit], seek_at[hit]
        found: list[U64] = [np.empty(0, np.uint64)]
        for at in range(0, len(hit), CHUNK):
            many = count[at : at + CHUNK]
            sought = np.repeat(seek_at[at : at + CHUNK], many).astype(np.uint64)
            starts = first[at : at + CHUNK] - np.concatenate(([0], np.cumsum(many)[:-1]))
            base = np.repeat(starts, many)
            offered = offer_at[base + np.arange(int(many.sum()))].astype(np.uint64)
            apart = self._letters[sought] != self._letters[offered]
            low, high = np.minimum(sought, offered)[apart], np.maximum(sought, offered)[apart]
            found.append(np.unique((low << np.uint64(32)) | high))
        return np.unique(np.concatenate(found))

    def _by_spelling(self) -> U64:
        """Names within the edit tolerance of each other."""
        texts, holders, by_length = self._distinct_forms()
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

    def index(self, rows: Sequence[Row], rules: str) -> Iterator[tuple[list[int], list[int], int]]:
        chunks = [rows[at : at + CHUNK] for at in range(0, len(rows), CHUNK)]
        tasks = ((chunk, rules) for chunk in chunks)
        found = run_ahead(self._executor(len(rows)), index_names, tasks)
        for chunk, (keys, places) in zip(chunks, found, strict=True):
            order = np.argsort(keys, kind="stable")  # the index grows fastest in its own order
            yield keys[order].tolist(), places[order].tolist(), len(chunk)

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _executor(self, names: int) -> Executor | None:
        if self._workers < 2 or names < 2 * CHUNK:
            return None
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self._workers, mp_context=get_context("spawn"))
        return self._pool
