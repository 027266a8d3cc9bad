"""What every task is told, and where it finds what others made.

A name is a *number*: the partition it lies in, times the numbers a partition has, plus its place
there. So a number alone says where its spelling lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from enfold import pairs
from enfold.engines.partitions import schema
from enfold.engines.places import Place
from enfold.engines.spelling import U64
from enfold.model import Context

NUMBERS: Final = 1 << 32
HALF: Final = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True)
class Sizes:
    """What bounds a task.

    Attributes:
        chunk: names read at once.
        keys: deletions that are sorted at once; above, their hashes are cut into slices.
        block: a key with more than the square of it in pairs is a task for each such block.
        piece: pairs that are held at once while they are found.
        forms: forms of one length that one task holds.
        attached: pairs of one partition that one task makes unique.
        ruled: pairs that one task rules, about.
    """

    chunk: int = 50_000
    keys: int = 1 << 25
    block: int = 2_048
    piece: int = 1 << 20
    forms: int = 1 << 20
    attached: int = 1 << 23
    ruled: int = 1 << 20


@dataclass(frozen=True)
class Job:
    """What all tasks of a run are told.

    Attributes:
        place: where the run's files lie.
        out: where the pairs go.
        parts: partitions of names, keys and pairs.
        version: of names and rules, and of the package.
        ids: whether ids are whole numbers, texts (False), or row numbers (None).
        inputs: a digest of what is read.
    """

    place: str
    out: str
    rule_set: str
    types_trusted: bool
    parts: int
    version: str
    ids: bool | None
    inputs: str
    sizes: Sizes = Sizes()

    @property
    def stride(self) -> int:
        return NUMBERS // self.parts

    @property
    def work(self) -> Place:
        return Place(self.place)


Told = dict[str, Any]
"""What a task says of what it did; JSON."""


@lru_cache(maxsize=4)
def listed(job: Job, step: str) -> list[Any]:
    """What the tasks of a step made, for those that read it all."""
    found: list[Any] = job.work.load(f"lists/{step}.json")
    return found


def made(job: Job, folder: str) -> list[str]:
    """The files of a folder that every partition of names has one in."""
    return [f"{folder}/{part:05}.parquet" for part in range(job.parts)]


CONTEXT: Final = "context.json"


@lru_cache(maxsize=1)
def frozen(job: Job) -> tuple[Context, U64]:
    """(the context to rule with, the keys of initials that several names have)"""
    told = job.work.load(CONTEXT)
    shared = [pairs.hashed(pairs.initials_key(run)) for run in told["shared"]]
    context = Context(
        common=frozenset(told["common"]),
        initials=frozenset(told["alone"]),
        types_trusted=job.types_trusted,
        rules=job.rule_set,
    )
    return context, np.array(shared, dtype=np.uint64)


# ---- what several tasks read and write ----

NAMES = schema(row=pa.int64(), id=pa.string(), name=pa.string(), type=pa.string())
KEYS = schema(key=pa.uint64(), at=pa.uint32(), sought=pa.bool_())
LETTERS = schema(
    letters=pa.uint64(),
    row=pa.int64(),
    id=pa.string(),
    name=pa.string(),
    type=pa.string(),
    copies=pa.int64(),
)
WRITTEN = schema(codes=pa.binary(), at=pa.uint32())
