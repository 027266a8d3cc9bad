"""Candidate pairs and rulings of names that no memory holds, from files to files.

What is asked and folded is what a pass over the same names would ask and fold. Every task writes
files, and a run that was cut off goes on with the tasks that have not said they are done.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, as_completed
from dataclasses import asdict, dataclass, field
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Final

from enfold import pairs, rules
from enfold.engines.chosen import lost, running
from enfold.errors import Refused
from enfold.model import Verdict
from enfold.ports import Progress

if TYPE_CHECKING:
    from enfold.engines.inputs import File
    from enfold.engines.job import Job, Sizes, Told
    from enfold.engines.places import Place

NAMES_A_PARTITION: Final = 100_000
MOST_PARTITIONS: Final = 1_024
"""More are taken when they are asked for; every file has room for each of them."""

WORDS_A_TASK: Final = 8
"""Partitions of words that one task counts."""

JOB: Final = "job.json"
REPORT: Final = "report.json"
WORK: Final = "work"
PAIRS: Final = "pairs"


@dataclass(frozen=True, slots=True)
class FoundPairs:
    """What was found among names.

    Attributes:
        out: where it lies; the pairs are in the Parquet files of its folder ``pairs``.
        rows: rows that were read.
        names: different names among them.
        set_aside: how many rows have no name that can be compared, by reason.
        shown: the first of these: file, row, reason, how it begins.
        ignored: files of the folder that were not read.
        candidates: pairs that were ruled.
        folds, questions: pairs that are one thing, and that are asked about.
        by_rule: these by rule.
        apart: the other candidates by the rule that parts them.
        resumed: whether tasks of a run that was cut off were taken over.
        seconds: by step, of this run.
        memory: the most resident memory in bytes of all processes of this run, each at its highest.
    """

    out: str
    rows: int
    names: int
    set_aside: dict[str, int]
    shown: list[list[Any]]
    ignored: list[str]
    candidates: int
    folds: int
    questions: int
    by_rule: dict[str, int]
    apart: dict[str, int]
    rule_set: str
    version: str
    partitions: int
    engine: str
    resumed: bool
    seconds: dict[str, float]
    memory: int


def find_pairs(
    names: str | PathLike[str],
    out: str | PathLike[str],
    *,
    engine: str = "local",
    workers: int = 1,
    partitions: int | None = None,
    rule_set: str = "default",
    types_trusted: bool = False,
    fresh: bool = False,
    progress: Progress | None = None,
    sizes: Sizes | None = None,
) -> FoundPairs:
    """Find the pairs among names that the rules fold or ask about, in bounded memory.

    Rows of one key are one name. Names of equal letters are ruled in their groups, as a pass does.

    Args:
        names: a file of Parquet, CSV or JSON lines with a column ``name`` and perhaps ``type`` and
            ``id``, or a folder of such files; a path, or a URL that fsspec reads.
        out: the folder for what is found; a path or a URL. A run that was cut off there goes on.
        engine: see ``engines.chosen``.
        workers: processes of the engine ``local``.
        partitions: parts that the names are cut into; None takes one for every 100,000.
        fresh: begin anew where another run lies.
        sizes: what bounds a task.

    Raises:
        Invalid: ``unknown_rules``, ``unknown_engine``, ``no_such_file``, ``unreadable_file``,
            ``no_names``, ``unknown_url``.
        Refused: ``other_run``, ``target_exists``, ``too_many_names``; of a cluster
            ``other_version``, ``not_shared``, ``rules_not_there``.
        Unavailable: ``needs_extra``, ``no_scheduler``, ``no_workers``, ``worker_lost``.
    """
    pairs.blocking(rules.rule_set(rule_set))
    chosen = running(engine, workers)
    from enfold.engines import inputs
    from enfold.engines.job import Job, Sizes
    from enfold.engines.places import Place
    from enfold.engines.steps import version

    files, ignored = inputs.files(fspath(names))
    place = Place(fspath(out))
    parts = partitions or _partitions(files)
    told = {
        "files": [[one.url, one.size, one.stamp] for one in files],
        "rule_set": rule_set,
        "types_trusted": types_trusted,
        "partitions": parts,
        "version": version(),
    }
    done = _begin(place, told, fresh)
    if done is not None:
        return done
    digest = hashlib.blake2b(json.dumps(told).encode(), digest_size=8).hexdigest()
    job = Job(
        place=place.below(WORK).url,
        out=place.below(PAIRS).url,
        rule_set=rule_set,
        types_trusted=types_trusted,
        parts=parts,
        version=version(),
        ids=_ids(files),
        inputs=digest,
        sizes=sizes or Sizes(),
    )
    try:
        executor = chosen.start(rule_set, job.place)
        run = _Run(job, executor, progress or (lambda *_: None))
        found = _found(run, files)
    finally:
        chosen.close()
    report = FoundPairs(
        out=fspath(out),
        ignored=ignored,
        rule_set=rule_set,
        version=version(),
        partitions=parts,
        engine=engine,
        resumed=run.resumed,
        seconds={step: round(took, 2) for step, took in run.seconds.items()},
        memory=sum(run.memory.values()),
        **found,
    )
    place.sweep(PAIRS)
    place.save(REPORT, asdict(report))
    place.remove(WORK)
    return report


def _partitions(files: Sequence[File]) -> int:
    rows = sum(one.rows for one in files)
    return max(1, min(MOST_PARTITIONS, -(-rows // NAMES_A_PARTITION)))


def _ids(files: Sequence[File]) -> bool | None:
    """Whether ids are whole numbers, texts, or none in any of the files."""
    kinds = {one.integers for one in files}
    return kinds.pop() if len(kinds) == 1 else False


def _begin(place: Place, told: dict[str, Any], fresh: bool) -> FoundPairs | None:
    """Make a folder ready for a run; what was found, where it was done before.

    Raises:
        Refused: ``other_run``, ``target_exists``.
    """
    there = place.names()
    if JOB in there:
        if place.load(JOB) == told and not fresh:
            return FoundPairs(**place.load(REPORT)) if REPORT in there else None
        if not fresh:
            raise Refused(
                "other_run",
                f"{place.url} holds a run over other names, or by other rules, partitions or "
                "another version. Name another folder, or say --fresh to delete that run.",
            )
        for folder in (WORK, PAIRS):
            place.remove(folder)
        for name in (REPORT, JOB):
            place.delete(name)
    elif there:
        raise Refused(
            "target_exists", f"{place.url} is not empty; name a folder that is new or empty."
        )
    place.save(JOB, told)
    return None


@dataclass
class _Run:
    """The steps of a run, one after the other.

    Attributes:
        resumed: whether a task was done before.
        memory: the most that each process had.
    """

    job: Job
    executor: Executor | None
    progress: Progress
    resumed: bool = False
    seconds: dict[str, float] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)

    def step(self, name: str, what: str, tasks: Sequence[tuple[str, Sequence[Any]]]) -> list[Told]:
        """What the tasks of a step say, in their order."""
        begun = time.perf_counter()
        place = self.job.work
        said = set(place.names(name))
        results: dict[str, Told] = {}
        for task, _ in tasks:
            if f"{name}/{task}.json" in said:
                results[task] = place.load(f"{name}/{task}.json")
                self.resumed = True
        left = [(task, arguments) for task, arguments in tasks if task not in results]
        self.progress(what, len(results), len(tasks))
        for task, told in self._run(name, left):
            process, memory = told.pop("process", ""), told.pop("memory", 0)
            self.memory[process] = max(memory, self.memory.get(process, 0))
            results[task] = told
            self.progress(what, len(results), len(tasks))
        self.seconds[what] = self.seconds.get(what, 0) + time.perf_counter() - begun
        return [results[task] for task, _ in tasks]

    def _run(self, step: str, tasks: Sequence[tuple[str, Sequence[Any]]]) -> Any:
        from enfold.engines.steps import perform

        if self.executor is None:
            yield from ((task, perform(self.job, step, task, args)) for task, args in tasks)
            return
        futures = {
            self.executor.submit(perform, self.job, step, task, args): task for task, args in tasks
        }
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenExecutor as error:
            raise lost(error) from error
        finally:
            for future in futures:
                future.cancel()

    def keep(self, name: str, content: object) -> None:
        """Write what later tasks read."""
        self.job.work.save(name, content)


def _found(run: _Run, files: Sequence[File]) -> dict[str, Any]:
    job = run.job
    parts = range(job.parts)
    each: list[tuple[str, list[Any]]] = [(f"{part:05}", [part]) for part in parts]
    read, tasks = _read(run, files)
    named = run.step("name", "making keys", each)
    names = sum(one["names"] for one in named)
    _freeze(run, names)
    found = _meet_keys(run, each) + _meet_spellings(run, named)
    run.keep("lists/found.json", [f"found/{task}.parquet" for task, _ in found])
    many = _sums([told["found"] for _, told in found], job.parts)
    shared = _shared(many, job.sizes.attached)
    attached = run.step("attach", "joining pairs", shared)
    run.keep("lists/attached.json", [f"attached/{task}.parquet" for task, _ in shared])
    many = _sums([told["attached"] for told in attached], job.parts)
    ruled = run.step("rule", "ruling pairs", _shared(many, job.sizes.ruled, most=len(shared)))
    grouped = run.step("groups", "ruling equal letters", [(f"equal-{t}", a) for t, a in each])
    return _summary(files, tasks, read, names, ruled, grouped)


def _read(run: _Run, files: Sequence[File]) -> tuple[list[Told], list[tuple[int, str]]]:
    """(what the tasks said that read the files, the file and the name of each)"""
    tasks: list[tuple[str, list[Any]]] = []
    of: list[tuple[int, str]] = []
    for number, file in enumerate(files):
        for share, groups in enumerate(file.tasks()):
            of.append((number, f"{number:05}-{share:05}"))
            tasks.append((of[-1][1], [{"url": file.url, "kind": file.kind}, groups]))
    read = run.step("read", "reading names", tasks)
    rows: Counter[int] = Counter()
    for (number, _), told in zip(of, read, strict=True):
        rows[number] += told["rows"]
    before = [sum(rows[earlier] for earlier in range(number)) for number in range(len(files))]
    run.keep("lists/read.json", [[f"read/{task}.parquet", before[number]] for number, task in of])
    return read, of


def _freeze(run: _Run, names: int) -> None:
    """Write what all tasks know of all names."""
    from enfold.engines.job import CONTEXT

    parts = list(range(run.job.parts))
    some = [parts[at : at + WORDS_A_TASK] for at in range(0, len(parts), WORDS_A_TASK)]
    counted = run.step(
        "words", "counting words", [(f"{at:05}", [p, names]) for at, p in enumerate(some)]
    )
    (initials,) = run.step("initials", "counting words", [("all", [])])
    common = sorted(word for told in counted for word in told["common"])
    run.keep(CONTEXT, {"common": common, **initials})


def _meet_keys(run: _Run, each: Sequence[tuple[str, Sequence[Any]]]) -> list[tuple[str, Told]]:
    tasks = [(f"keys-{task}", arguments) for task, arguments in each]
    met = run.step("keys", "meeting keys", tasks)
    blocks = [
        (f"{task}-{at:05}", [f"heavy/{task}.parquet", *block])
        for (task, _), told in zip(tasks, met, strict=True)
        for at, block in enumerate(told["heavy"])
    ]
    more = run.step("blocks", "meeting keys", blocks)
    names = [task for task, _ in (*tasks, *blocks)]
    return list(zip(names, met + more, strict=True))


def _meet_spellings(run: _Run, named: Sequence[Told]) -> list[tuple[str, Told]]:
    many: Counter[int] = Counter()
    for told in named:
        many.update({int(length): count for length, count in told["lengths"].items()})
    shares = _by_length(many, run.job.sizes.forms)
    tasks: list[tuple[str, list[Any]]] = [
        (f"{at:05}", list(arguments)) for at, arguments in enumerate(shares)
    ]
    gathered = run.step("forms", "gathering spellings", tasks)
    lying: dict[int, list[str]] = {}
    forms: Counter[int] = Counter()
    for (task, _), told in zip(tasks, gathered, strict=True):
        for length, count in told["forms"].items():
            lying.setdefault(int(length), []).append(f"forms/{task}.parquet")
            forms[int(length)] += count
    plan = list(_slices(forms, lying, run.job.sizes.keys))
    slices = [(f"spelling-{at:05}", list(arguments)) for at, arguments in enumerate(plan)]
    met = run.step("spelling", "comparing spellings", slices)
    return [(task, told) for (task, _), told in zip(slices, met, strict=True)]


def _slices(
    forms: Counter[int], lying: dict[int, list[str]], most: int
) -> Iterator[tuple[list[list[list[Any]]], int, int]]:
    """(sources of each length that is left, bits, number) of tasks that sort about as many texts
    each: several lengths, or a slice of one."""
    from enfold.engines.spelling import texts_left

    waiting: list[list[list[Any]]] = []
    held = 0
    for left in range(1, max(forms, default=0) + 1):
        lengths = [
            (left + dropped, dropped)
            for dropped in range(3)
            if left + dropped in forms and rules.tolerance(left + dropped) >= dropped
        ]
        sources = [[file, length, dropped] for length, dropped in lengths for file in lying[length]]
        texts = sum(forms[length] * texts_left(length, dropped) for length, dropped in lengths)
        if texts > most:
            bits = (-(-texts // most) - 1).bit_length()
            yield from (([sources], bits, number) for number in range(1 << bits))
        elif sources:
            if held + texts > most:
                yield waiting, 0, 0
                waiting, held = [], 0
            waiting.append(sources)
            held += texts
    if waiting:
        yield waiting, 0, 0


def _by_length(many: Counter[int], most: int) -> list[tuple[list[int], int, int]]:
    """(lengths, share, shares) of tasks that hold about as many forms each."""
    plan: list[tuple[list[int], int, int]] = []
    waiting: list[int] = []
    for length in sorted(many):
        if many[length] > most:
            shares = -(-many[length] // most)
            plan += [([length], share, shares) for share in range(shares)]
            continue
        if waiting and sum(many[one] for one in waiting) + many[length] > most:
            plan.append((waiting, 0, 1))
            waiting = []
        waiting.append(length)
    return [*plan, (waiting, 0, 1)] if waiting else plan


def _sums(counts: Sequence[Sequence[int]], parts: int) -> list[int]:
    return [sum(column) for column in zip(*counts, strict=True)] if counts else [0] * parts


def _shared(many: Sequence[int], size: int, most: int | None = None) -> list[tuple[str, list[Any]]]:
    """A task for each partition, or several for one with more than ``size``."""
    tasks: list[tuple[str, list[Any]]] = []
    for part, count in enumerate(many):
        shares = max(1, -(-count // size))
        shares = shares if most is None else min(shares, most)
        tasks += [(f"{part:05}-{share:05}", [part, share, shares]) for share in range(shares)]
    return tasks


def _summary(
    files: Sequence[File],
    tasks: Sequence[tuple[int, str]],
    read: Sequence[Told],
    names: int,
    ruled: Sequence[Told],
    grouped: Sequence[Told],
) -> dict[str, Any]:
    aside: Counter[str] = Counter()
    shown: list[list[Any]] = []
    for (number, _), told in zip(tasks, read, strict=True):
        aside.update(told["aside"])
        shown += [[files[number].url, *one] for one in told["shown"]]
    counts: Counter[tuple[str, str]] = Counter()
    for told in (*ruled, *grouped):
        for verdict, rule, count in told["counts"]:
            counts[verdict, rule] += count
    by_verdict: Counter[str] = Counter()
    by_rule: Counter[str] = Counter()
    for (verdict, rule), count in counts.items():
        by_verdict[verdict] += count
        if verdict != Verdict.APART:
            by_rule[rule] += count
    candidates = sum(count for told in ruled for *_, count in told["counts"])
    return {
        "rows": sum(told["rows"] for told in read),
        "names": names,
        "set_aside": dict(aside),
        "shown": shown[:SHOWN],
        "candidates": candidates + sum(told["judged"] for told in grouped),
        "folds": by_verdict[Verdict.FOLD],
        "questions": by_verdict[Verdict.ASK],
        "by_rule": dict(sorted(by_rule.items())),
        "apart": {r: n for (v, r), n in sorted(counts.items()) if v == Verdict.APART},
    }


SHOWN: Final = 20
"""Rows set aside that a report shows."""
