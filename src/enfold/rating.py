"""How right enfold is on a file of labels: a pass over its names, and what is counted of that.

Names with their things are taken into a graph in memory and put through the pass that ``resolve``
runs, by a dry run, so that what is rated is what a user gets. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from enfold import intake, rules
from enfold import resolve as passes
from enfold.engines.local import LocalEngine, Survey
from enfold.engines.spelling import U64
from enfold.evaluate import Evaluation, Labelled, Mention, Outcome, clusters, pairs
from enfold.evaluate.clusters import ClusterEvaluation
from enfold.formats import labelled
from enfold.model import Context, EntityRecord
from enfold.names import Name
from enfold.ports import EVERY, Progress, Spelled
from enfold.store import open_store

Rated = Evaluation | ClusterEvaluation


def rate(
    path: Path, *, rule_set: str = "default", workers: int = 1, progress: Progress | None = None
) -> Rated:
    """Hold the rules to a file of labels.

    Raises:
        Invalid: ``unreadable``, ``no_labels``, ``bad_label``, ``unknown_rules``.
    """
    rules.rule_set(rule_set)
    report = progress or (lambda *_: None)
    read = labelled.read(path)
    if isinstance(read, labelled.Pairs):
        return of_pairs(read.labelled, rule_set=rule_set, workers=workers, progress=report)
    return of_clusters(read.mentions, rule_set=rule_set, workers=workers, progress=report)


def of_pairs(
    read: Sequence[Labelled], *, rule_set: str, workers: int, progress: Progress
) -> Evaluation:
    """Each pair ruled on its own, with an empty context, as ``explain`` does without a graph."""
    found = _found(read, rule_set, workers, progress)
    return pairs.evaluate(read, Context(rules=rule_set), proposed=found)


def of_clusters(
    mentions: Sequence[Mention], *, rule_set: str, workers: int, progress: Progress
) -> ClusterEvaluation:
    """A pass over the names."""
    return clusters.evaluate(outcome(mentions, rule_set, workers, progress))


class _Watched(Survey):
    """A survey that keeps its candidates."""

    seen: U64

    def candidates(self) -> U64:
        self.seen = super().candidates()
        return self.seen


class _Watching(LocalEngine):
    def survey(
        self, ids: Sequence[int], rows: Sequence[Spelled], rule_set: str, progress: Progress
    ) -> _Watched:
        self.made = _Watched(rows, rule_set, self._executor(len(rows)), progress, ids)
        return self.made


def outcome(
    mentions: Sequence[Mention], rule_set: str, workers: int, progress: Progress
) -> Outcome:
    """What a first pass over these names would do; a name's first type is its type."""
    engine = _Watching(workers)
    store = open_store(":memory:")
    try:
        with store.write() as tx:
            intake.intake(tx, _records(mentions), source="labels", format="csv", progress=progress)
        with store.read() as tx:
            seen = passes.gather(tx, full=True, rule_set=rule_set)
        found = passes.search(store, seen, engine, progress)
        report = passes.dry_run(store, found, progress, ranked=EVERY)
    finally:
        engine.close()
        store.close()
    names = dict(zip(seen.ids, seen.rows, strict=True))
    row_of = {Name(spelling, kind).key: row for row, (spelling, kind) in names.items()}
    return Outcome(
        things=[mention.thing for mention in mentions],
        spellings=[mention.spelling for mention in mentions],
        rows=[row_of[Name(mention.spelling).key] for mention in mentions],
        names=names,
        context=found.context,
        folds=report.folds,
        questions=report.questions,
        candidates=_unpacked(engine.made.seen, seen.ids),
        groups=found.groups,
    )


def _records(mentions: Sequence[Mention]) -> Iterator[EntityRecord]:
    for line, mention in enumerate(mentions, 1):
        yield EntityRecord(
            line=line,
            name=mention.spelling,
            type=mention.type,
            observations=(),
            aliases=(),
            foreign_id=None,
            attributes={},
        )


def _unpacked(candidates: U64, ids: Sequence[int]) -> Iterator[tuple[int, int]]:
    for at in range(0, len(candidates), 100_000):
        part = candidates[at : at + 100_000]
        left, right = part >> np.uint64(32), part & np.uint64(0xFFFFFFFF)
        for i, j in zip(left.tolist(), right.tolist(), strict=True):
            yield ids[i], ids[j]


def _found(read: Sequence[Labelled], rule_set: str, workers: int, progress: Progress) -> list[bool]:
    """Which of the pairs the search would find in a graph of all these names."""
    place: dict[Spelled, int] = {}
    sides = [
        tuple(
            place.setdefault((name.spelling, name.type), len(place))
            for name in (pair.left, pair.right)
        )
        for pair in read
    ]
    engine = _Watching(workers)
    try:
        candidates = engine.survey(range(len(place)), list(place), rule_set, progress).candidates()
    finally:
        engine.close()
    packed = np.array([min(s) << 32 | max(s) for s in sides], dtype=np.uint64)
    known: Any = np.isin(packed, candidates)
    # Names of equal letters are ruled in their groups, which the search finds whole.
    return [
        bool(hit) or Name(p.left.spelling).letters == Name(p.right.spelling).letters
        for hit, p in zip(known, read, strict=True)
    ]
