"""Names read from their files, cut into partitions, and what each name is found by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from enfold import pairs, rules
from enfold.engines import inputs, spelling
from enfold.engines.job import KEYS, LETTERS, NAMES, WRITTEN, Job, Told, listed, made
from enfold.engines.local import NO_LETTERS, read_names
from enfold.engines.partitions import binary, column, joined, rows, schema, texts, writing
from enfold.engines.spelling import Written
from enfold.errors import Invalid, Refused
from enfold.names import MAX_LENGTH, Name
from enfold.ports import Spelled

_READ = schema(row=pa.int64(), id=pa.string(), key=pa.string(), name=pa.string(), type=pa.string())
_WORDS = schema(word=pa.string(), count=pa.int64())
_INITIALS = schema(run=pa.string(), begun=pa.string())


def read_rows(job: Job, task: str, file: Told, groups: Sequence[Sequence[int]]) -> Told:
    """Read rows of a file, and put each where the names of its key go."""
    aside: Counter[str] = Counter()
    shown: list[list[Any]] = []
    count, written = 0, 0
    with writing(job.work, f"read/{task}.parquet", _READ) as out:
        waiting = _Waiting()
        for some in inputs.read(_file(file), groups):
            for place, (spelled, kind, given) in enumerate(
                zip(some.names, some.types, some.ids, strict=True)
            ):
                name, why = _named(spelled, kind, given, job, some.broken.get(place, ""))
                row = some.first + place
                if name is None:
                    aside[why] += 1
                    if len(shown) < ASIDE_SHOWN:
                        shown.append([row, why, (spelled or "")[:80]])
                else:
                    waiting.add(row, given, name)
            count += len(some.names)
            if len(waiting.rows) >= job.sizes.chunk:
                written += waiting.write(out, job.parts)
        written += waiting.write(out, job.parts)
    return {"rows": count, "named": written, "aside": dict(aside), "shown": shown}


ASIDE_SHOWN: Final = 5
"""Rows set aside that a task shows."""


def _file(told: Told) -> inputs.File:
    return inputs.File(told["url"], told["kind"], 0, 0, "")


def _named(
    spelled: str | None, kind: str | None, given: str | None, job: Job, broken: str
) -> tuple[Name | None, str]:
    """The name of a row, or why it has none."""
    if broken:
        return None, broken
    if spelled is None:
        return None, "it has no name"
    if given is None and job.ids is not None:
        return None, "it has no id"
    if len(spelled) > MAX_LENGTH:
        return None, f"its name is longer than {MAX_LENGTH:,} characters"
    if kind is not None and len(kind) > MAX_LENGTH:
        return None, f"its type is longer than {MAX_LENGTH:,} characters"
    try:
        return Name.of(spelled, kind), ""
    except Invalid:
        return None, "its name is blank"


class _Waiting:
    """Rows that are read and not yet written."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self._ids: list[str | None] = []
        self._names: list[Name] = []

    def add(self, row: int, given: str | None, name: Name) -> None:
        self.rows.append(row)
        self._ids.append(None if given is None else clean_id(given))
        self._names.append(name)

    def write(self, out: Any, parts: int) -> int:
        keys = [name.key for name in self._names]
        hashes = np.array([pairs.hashed(key) for key in keys], dtype=np.uint64)
        columns = {
            "row": self.rows,
            "id": self._ids,
            "key": keys,
            "name": [name.spelling for name in self._names],
            "type": [name.type for name in self._names],
        }
        out.add(columns, hashes % np.uint64(parts))
        written = len(keys)
        self.__init__()  # type: ignore[misc]
        return written


def clean_id(given: str) -> str:
    """An id as it is given, lone halves of characters aside, which no file can hold."""
    return given if given.isascii() else given.encode("utf-8", "replace").decode()


def name_keys(job: Job, task: str, part: int) -> Told:
    """Make the rows of a partition names, one for each key, and write what each is found by."""
    held, copies = _distinct(job, part)
    count = len(held["name"])
    if count > job.stride:
        raise Refused(
            "too_many_names", f"A partition has {count:,} names; run again with more --partitions."
        )
    told: Told = {"names": count, "repeated": int(sum(copies)) - count, "lengths": {}}
    forms: dict[int, list[Written]] = {}
    words: Counter[str] = Counter()
    begun: dict[str, set[str]] = {}
    spelled: list[Spelled] = list(zip(held["name"], held["type"], strict=True))
    place = job.work
    with (
        writing(place, f"names/{task}.parquet", NAMES) as names,
        writing(place, f"keys/{task}.parquet", KEYS) as keys,
        writing(place, f"letters/{task}.parquet", LETTERS) as letters,
    ):
        for at in range(0, count, job.sizes.chunk):
            some = slice(at, at + job.sizes.chunk)
            read = read_names(spelled[some], job.rule_set)
            columns = {name: held[name][some] for name in NAMES.names}
            names.add(columns)
            first = part * job.stride + at
            _write_keys(keys, read.offers, first, False, job.parts)
            _write_keys(keys, read.seeks, first, True, job.parts)
            some_letters = np.flatnonzero(read.letters != NO_LETTERS)
            table = pa.table(columns, schema=NAMES).take(pa.array(some_letters))
            of = read.letters[some_letters]
            more = {"letters": of, "copies": np.array(copies[some])[some_letters]}
            letters.add(
                more | {name: table.column(name) for name in NAMES.names},
                of % np.uint64(job.parts),
            )
            for length, written in read.forms.items():
                moved = written.places + np.uint32(first)
                forms.setdefault(length, []).append(replace(written, places=moved))
            words.update(read.words)
            for run, more_begun in read.initials.items():
                begun.setdefault(run, set()).update(more_begun)
    with writing(place, f"written/{task}.parquet", WRITTEN) as out:
        for length in sorted(forms):
            written = spelling.joined([(0, one) for one in forms.pop(length)])
            codes = spelling.marked(written.codes, written.free)
            out.add(
                {"codes": binary(codes), "at": written.places},
                np.full(len(codes), length),
            )
            told["lengths"][length] = len(codes)
    _write_words(job, task, words, begun)
    return told


def _distinct(job: Job, part: int) -> tuple[dict[str, list[Any]], list[int]]:
    """(the columns of names, how many rows each has): the spelling of its first row, and the first
    type that one of them has."""
    found: list[Any] = []
    for name, before in listed(job, "read"):
        for table in rows(job.work, [name], {part}):
            moved = pa.array(column(table, "row") + before)
            found.append(table.set_column(0, "row", moved))
    table = joined(found, _READ)
    table = table.take(pa.array(np.argsort(column(table, "row"), kind="stable")))
    place_of: dict[str, int] = {}
    kept: list[int] = []
    copies: list[int] = []
    types = texts(table, "type")
    for at, key in enumerate(texts(table, "key")):
        if (known := place_of.setdefault(key, len(kept))) == len(kept):
            kept.append(at)
            copies.append(0)
        elif types[kept[known]] is None:
            types[kept[known]] = types[at]
        copies[known] += 1
    first = table.take(pa.array(kept, pa.int64()))
    held = {name: texts(first, name) for name in ("row", "id", "name")}
    return held | {"type": [types[at] for at in kept]}, copies


def _write_keys(out: Any, keyed: Any, first: int, sought: bool, parts: int) -> None:
    columns = {
        "key": keyed.keys,
        "at": keyed.at + np.uint32(first),
        "sought": np.full(len(keyed.keys), sought),
    }
    out.add(columns, keyed.keys % np.uint64(parts))


def _write_words(job: Job, task: str, words: Counter[str], begun: dict[str, set[str]]) -> None:
    place = job.work
    with writing(place, f"words/{task}.parquet", _WORDS) as out:
        hashes = np.array([pairs.hashed(word) for word in words], dtype=np.uint64)
        columns = {"word": list(words), "count": list(words.values())}
        out.add(columns, hashes % np.uint64(job.parts))
    with writing(place, f"initials/{task}.parquet", _INITIALS) as out:
        known = [(run, one) for run in sorted(begun) for one in sorted(begun[run])]
        out.add({"run": [run for run, _ in known], "begun": [one for _, one in known]})


# ---- what all names have in common ----


def common_words(job: Job, task: str, parts: Sequence[int], names: int) -> Told:
    """The words that are common, of those in some partitions."""
    found: list[str] = []
    for part in parts:
        table = joined(rows(job.work, made(job, "words"), {part}), _WORDS)
        table = table.group_by("word").aggregate([("count", "sum")])
        table = table.filter(pa.array(column(table, "count_sum") >= rules.COMMON_AT_LEAST))
        counts = Counter(dict(zip(texts(table, "word"), texts(table, "count_sum"), strict=True)))
        found += rules.common_among(counts, names)
    return {"common": sorted(found)}


def initials(job: Job, task: str) -> Told:
    """Two initials that one name alone has, and those that several have."""
    begun: dict[str, set[str]] = {}
    for table in rows(job.work, made(job, "initials"), None):
        for run, one in zip(texts(table, "run"), texts(table, "begun"), strict=True):
            known = begun.setdefault(run, set())
            if len(known) < 2:
                known.add(one)
    alone = rules.alone_among(begun)
    return {"alone": sorted(alone), "shared": sorted(begun.keys() - alone)}
