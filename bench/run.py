"""The whole way at several sizes: import, dry run, full pass, second pass, a few new names.

python bench/run.py --sizes 1k,10k,100k
"""

from __future__ import annotations

import argparse
import csv
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import measure

NEW_NAMES: Final = 100
"""How many names arrive before the incremental pass."""


# ---- the steps, each in a child process ---------------------------------------------------------


def make_names(count: int, folder: str) -> dict[str, Any]:
    """Writes a memory of ``count`` names, one of the names after those, and the truth of both."""
    from bench.generate import entity_line, generate

    random = Random(8)
    started = time.perf_counter()
    with (
        open(f"{folder}/names.jsonl", "w", encoding="utf-8") as names,
        open(f"{folder}/more.jsonl", "w", encoding="utf-8") as more,
        open(f"{folder}/truth.csv", "w", encoding="utf-8", newline="") as truth,
    ):
        answers = csv.writer(truth)
        for at, row in enumerate(generate(count + NEW_NAMES)):
            (names if at < count else more).write(entity_line(row, random))
            answers.writerow((row.spelling, row.truth))
    return {"wall": time.perf_counter() - started}


def load(db: str, file: str) -> dict[str, Any]:
    import enfold

    with enfold.open(db) as graph:
        started = time.perf_counter()
        (imported,) = graph.import_files(file)
        wall = time.perf_counter() - started
        return {"wall": wall, "entities": imported.entities, "mentions": imported.mentions}


def settle(db: str, *, dry_run: bool = False, full: bool = False, workers: int) -> dict[str, Any]:
    import enfold
    from enfold.resolve import figures

    with enfold.open(db, workers=workers) as graph:
        started = time.perf_counter()
        report = graph.resolve(dry_run=dry_run, full=full)
        return {"wall": time.perf_counter() - started, **figures(report)}


def score(db: str, truth: str) -> dict[str, Any]:
    """Holds what was folded and what is, or will be, asked against the truth.

    A duplicate is a name beyond the first of its thing. It is found by folding where folds join it
    to the first or to another one that is joined; by asking likewise, with the true questions
    answered.
    """
    from enfold.names import Name

    truth_of: dict[str, str] = {}
    with open(truth, encoding="utf-8", newline="") as lines:
        for spelling, thing in csv.reader(lines):
            truth_of.setdefault(Name.of(spelling).key, thing)
    with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as graph:
        things = {row: truth_of[key] for row, key in graph.execute("SELECT id, key FROM entity")}
        folds = graph.execute(
            "SELECT absorbed_id, canonical_id FROM merge WHERE reverted_at IS NULL"
        ).fetchall()
        asked = graph.execute("SELECT left_id, right_id, rule FROM suggestion").fetchall()
    duplicates = len(things) - len(set(things.values()))
    up = {row: row for row in things}

    def root(row: int) -> int:
        while up[row] != row:
            up[row] = row = up[up[row]]
        return row

    def join(left: int, right: int) -> int:
        """1 where it made one of two."""
        here, there = root(left), root(right)
        up[here] = there
        return int(here != there)

    true_folds = [pair for pair in folds if things[pair[0]] == things[pair[1]]]
    folded = sum(join(*pair) for pair in true_folds)
    rules: dict[str, list[int]] = {}
    by_asking = right = 0
    for left, other, rule in asked:
        one = things[left] == things[other]
        tally = rules.setdefault(rule, [0, 0])
        tally[0] += 1
        tally[1] += one
        if one:
            right += 1
            by_asking += join(left, other)
    return {
        "duplicates": duplicates,
        "folds": len(folds),
        "folds right": len(true_folds) / len(folds) if folds else None,
        "found by folds": folded / duplicates,
        "questions": len(asked),
        "questions right": right / len(asked) if asked else None,
        "found with questions": (folded + by_asking) / duplicates,
        "rules": {rule: tuple(tally) for rule, tally in sorted(rules.items())},
    }


STEPS: Final[dict[str, measure.Step]] = {
    "make_names": make_names,
    "load": load,
    "settle": settle,
    "score": score,
}


# ---- the parent ---------------------------------------------------------------------------------


def measure_size(count: int, workers: int, folder: str) -> list[measure.Measured]:
    """Every step at one size, in order, on one graph."""
    db, steps = f"{folder}/graph.db", []

    def step(shown: str, name: str, **arguments: Any) -> None:
        took = measure.run_step("run.py", name, **arguments)
        told = f"  {count:,}: {shown}, {took.wall:.1f} s, {took.peak:.0f} MiB"
        print(told, file=sys.stderr, flush=True)
        steps.append(
            measure.Measured(shown, took.wall, took.cpu, took.peak, {"names": count, **took.result})
        )

    step("generate", "make_names", count=count, folder=folder)
    step("import", "load", db=db, file=f"{folder}/names.jsonl")
    step("dry run", "settle", db=db, dry_run=True, workers=workers)
    step("full pass", "settle", db=db, workers=workers)
    step("second pass", "settle", db=db, workers=workers)
    step("import 100 more", "load", db=db, file=f"{folder}/more.jsonl")
    step("pass over 100 new", "settle", db=db, workers=workers)
    step("full pass again", "settle", db=db, full=True, workers=workers)
    step("truth", "score", db=db, truth=f"{folder}/truth.csv")
    steps[-1].result["file"] = Path(db).stat().st_size / measure.MIB
    return steps


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the whole way at several sizes.")
    parser.add_argument(
        "--sizes", type=measure.sizes, default="1k,10k,100k", help="such as 1k,10k,1M"
    )
    parser.add_argument(
        "--workers", type=int, default=measure.cores(), help="processes that find pairs"
    )
    parser.add_argument("--folder", help="where the files go while it runs")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    head = measure.machine()
    if not asked.json:
        print(f"{head}; {asked.workers} process(es)\n")
    everything: list[measure.Measured] = []
    for count in asked.sizes:
        with tempfile.TemporaryDirectory(prefix="enfold-bench-", dir=asked.folder) as folder:
            everything += measure_size(count, asked.workers, folder)
    if asked.json:
        measure.print_json(head, workers=asked.workers, steps=everything)
        return
    counts = ("entities", "examined", "pairs", "merged", "queued", "deferred", "skipped")
    truths = [s for s in everything if s.step == "truth"]
    timed = [s for s in everything if s.step != "truth"]
    print(
        measure.table(
            [
                {"step": s.step, "names": s.result["names"], "s": s.wall, "cpu s": s.cpu}
                | {"peak MiB": round(s.peak)}
                | {name: s.result[name] for name in counts if name in s.result}
                for s in timed
            ]
        )
    )
    print("\nAgainst the truth, after the last pass (shares of 1):\n")
    print(
        measure.table(
            [
                {"names": s.result["names"], "file MiB": round(s.result["file"])}
                | {k: v for k, v in s.result.items() if k not in ("names", "file", "rules")}
                for s in truths
            ]
        )
    )
    print("\nQuestions by rule, and how many of them are right:\n")
    rules = sorted({rule for s in truths for rule in s.result["rules"]})
    print(measure.table([{"rule": rule} | _tallies(rule, truths) for rule in rules]))


def _tallies(rule: str, truths: list[measure.Measured]) -> dict[str, object]:
    found: dict[str, object] = {}
    for size in truths:
        asked, right = size.result["rules"].get(rule, (0, 0))
        found |= {f"{size.result['names']:,}": asked, f"right of {size.result['names']:,}": right}
    return found


if __name__ == "__main__" and not measure.serve_step(STEPS):
    main()
