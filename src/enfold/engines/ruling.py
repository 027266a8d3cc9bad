"""Candidate pairs ruled: each once, with the spellings of both names beside it."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from enfold import rules, stars
from enfold.engines.job import HALF, LETTERS, NAMES, Job, Told, frozen, listed, made
from enfold.engines.partitions import column, joined, rows, runs, schema, texts, writing
from enfold.engines.places import Place
from enfold.model import Context, Entity, Ruling, Verdict
from enfold.names import Name

_ATTACHED = schema(
    right=pa.uint32(),
    left=pa.uint32(),
    row=pa.int64(),
    id=pa.string(),
    name=pa.string(),
    type=pa.string(),
)


def attach(job: Job, task: str, part: int, share: int, shares: int) -> Told:
    """Make the pairs of a partition unique, give them the spellings of their left names, and send
    them to the partitions of their right ones."""
    found = [np.empty(0, np.uint64)]
    for table in rows(job.work, listed(job, "found"), {part}):
        some = column(table, "pair")
        if shares > 1:
            turned = (some & HALF) * np.uint64(0x9E3779B1) >> np.uint64(16)
            some = some[turned % np.uint64(shares) == np.uint64(share)]
        found.append(some)
    both = np.unique(np.concatenate(found))
    del found
    names = joined(rows(job.work, [f"names/{part:05}.parquet"], None), NAMES)
    count = np.zeros(job.parts, dtype=np.int64)
    with writing(job.work, f"attached/{task}.parquet", _ATTACHED) as out:
        for at in range(0, len(both), job.sizes.piece):
            some = both[at : at + job.sizes.piece]
            left, right = (some >> np.uint64(32)), some & HALF
            mine = names.take(pa.array(left.astype(np.int64) - part * job.stride))
            part_of = right.astype(np.int64) // job.stride
            columns = {"right": right.astype(np.uint32), "left": left.astype(np.uint32)}
            out.add(columns | {name: mine.column(name) for name in NAMES.names}, part_of)
            count += np.bincount(part_of, minlength=job.parts)
    return {"attached": count.tolist()}


RULED: Final = 50_000
"""Pairs whose left names are kept at hand together."""


class _Rulings:
    """What is ruled of pairs, on its way to a file; counts of the rest."""

    def __init__(self, out: Any, job: Job) -> None:
        self._out, self._job = out, job
        self._rows: list[tuple[Any, ...]] = []
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, left: Sequence[Any], right: Sequence[Any], ruling: Ruling) -> None:
        """A ruling on two names, each (row, id, spelling)."""
        self.count(ruling)
        if ruling.verdict is Verdict.APART:
            return
        if ruling.verdict is Verdict.ASK and left[0] > right[0]:
            left, right = right, left
        ids = [one[0] if self._job.ids is None else one[1] for one in (left, right)]
        spelled = (left[2], right[2])
        self._rows.append((*ids, *spelled, ruling.verdict.value, ruling.rule, ruling.score))
        if len(self._rows) >= RULED:
            self.flush()

    def count(self, ruling: Ruling) -> None:
        self._counts[ruling.verdict.value, ruling.rule] += 1

    def flush(self) -> None:
        if self._rows:
            columns = dict(
                zip(
                    result(self._job.ids).names,
                    map(list, zip(*self._rows, strict=True)),
                    strict=True,
                )
            )
            if self._job.ids:
                for side in ("left", "right"):
                    columns[side] = [int(one) for one in columns[side]]
            self._out.write_table(pa.table(columns, schema=result(self._job.ids)))
            self._rows = []

    def told(self) -> Told:
        return {"counts": [[*what, count] for what, count in sorted(self._counts.items())]}


def result(ids: bool | None) -> Any:
    """The columns of the pairs that are found."""
    kind = pa.string() if ids is False else pa.int64()
    text = pa.string()
    return schema(
        left=kind,
        right=kind,
        left_name=text,
        right_name=text,
        verdict=text,
        rule=text,
        score=pa.float64(),
    )


def _result(job: Job, name: str) -> Any:
    return Place(job.out).write(name)


def rule(job: Job, task: str, part: int, share: int, shares: int) -> Told:
    """Rule the pairs of a partition, or those in a share of the files, and write what is asked."""
    context, _ = frozen(job)
    table = joined(rows(job.work, listed(job, "attached")[share::shares], {part}), _ATTACHED)
    table = table.sort_by([("right", "ascending"), ("left", "ascending")])
    held = joined(rows(job.work, [f"names/{part:05}.parquet"], None), NAMES)
    with _result(job, f"{task}.parquet") as file, pq.ParquetWriter(file, result(job.ids)) as out:
        ruled = _Rulings(out, job)
        for at in range(0, len(table), RULED):
            some = table.slice(at, RULED)
            places = column(some, "right").astype(np.int64) - part * job.stride
            mine, which = np.unique(places, return_inverse=True)
            rights = _known(held.take(pa.array(mine)))
            _rule_pairs(some, which.tolist(), rights, context, ruled)
            gc.collect()  # rulings leave some cycles behind: 300 bytes each, measured on 10M names
        ruled.flush()
    return ruled.told()


def _rule_pairs(
    table: Any,
    which: Sequence[int],
    rights: Sequence[tuple[Any, Name]],
    context: Context,
    ruled: _Rulings,
) -> None:
    lefts: dict[int, tuple[Any, Name]] = {}
    columns = [texts(table, name) for name in _ATTACHED.names[1:]]
    for right, left, row, given, spelled, kind in zip(which, *columns, strict=True):
        if (one := lefts.get(left)) is None:
            one = lefts[left] = ((row, given, spelled), Name(spelled, kind))
        other = rights[right]
        if one[1].letters != other[1].letters:  # those are ruled in their groups
            ruled.add(one[0], other[0], rules.rule_on(one[1], other[1], context))


def _known(table: Any) -> list[tuple[Any, Name]]:
    columns = [texts(table, name) for name in NAMES.names]
    return [
        ((row, given, spelled), Name(spelled, kind))
        for row, given, spelled, kind in zip(*columns, strict=True)
    ]


def rule_groups(job: Job, task: str, part: int) -> Told:
    """Rule the names of equal letters in their groups, as a pass does: stars, never chains. More
    rows count as more mentions."""
    context, _ = frozen(job)
    table = joined(rows(job.work, made(job, "letters"), {part}), LETTERS)
    letters = column(table, "letters")
    order = np.lexsort((column(table, "row"), letters))
    letters = letters[order]
    starts, stops = runs(letters)
    several = stops - starts > 1
    judged = 0
    with _result(job, f"{task}.parquet") as file, pq.ParquetWriter(file, result(job.ids)) as out:
        ruled = _Rulings(out, job)
        for start, stop in zip(starts[several].tolist(), stops[several].tolist(), strict=True):
            some = table.take(pa.array(order[start:stop]))
            judged += _rule_group(some, context, ruled)
        ruled.flush()
    return ruled.told() | {"judged": judged}


def _rule_group(table: Any, context: Context, ruled: _Rulings) -> int:
    of: dict[int, tuple[int, str | None, str]] = {}
    members: list[Entity] = []
    columns = [texts(table, name) for name in LETTERS.names[1:]]
    for row, given, spelled, kind, copies in zip(*columns, strict=True):
        of[row] = (row, given, spelled)
        key = Name(spelled).key
        members.append(
            Entity(row, spelled, key, 0, kind, spelled, None, row, copies, False, None, None, "")
        )
    plan = stars.Stars([], [], 0, 0)
    roots = {one.id: one for one in members}
    judged, _ = stars.settle_group(members, roots, set(), context, plan)
    for fold in plan.folds:
        ruling = Ruling(fold.verdict, fold.rule, fold.score, fold.reason)
        ruled.add(of[fold.right_id], of[fold.left_id], ruling)
    for left, right, name, score in plan.asked:
        ruled.add(of[left], of[right], Ruling(Verdict.ASK, name, score, ""))
    return judged
