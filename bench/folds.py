"""What one fold, one revert, one lookup and fifty thousand folds at once cost on a settled graph.

python bench/folds.py --size 100k
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import measure

if TYPE_CHECKING:
    from enfold import Graph

HUB: Final = "Everything Foundation"
BESIDE: Final = "The Whole Foundation"
T = TypeVar("T")


# ---- the steps, each in a child process ---------------------------------------------------------


def build(db: str, folder: str, count: int, hub: int, workers: int) -> dict[str, Any]:
    """A settled graph of ``count`` generated names and two hubs of ``hub`` mentions each."""
    from bench.generate import write_jsonl

    import enfold

    write_jsonl(f"{folder}/names.jsonl", count)
    with open(f"{folder}/hubs.jsonl", "w", encoding="utf-8") as out:
        for name in (HUB, BESIDE):
            notes = [f"Gave grant {at} to a school." for at in range(hub)]
            out.write(json.dumps({"type": "entity", "name": name, "observations": notes}) + "\n")
    with enfold.open(db, workers=workers) as graph:
        graph.import_files(f"{folder}/names.jsonl", f"{folder}/hubs.jsonl")
        graph.resolve(backup=False)
        return {"entities": graph.summary().entities}


def one_by_one(db: str, times: int) -> dict[str, Any]:
    """Folds, reverts and lookups of single names, each timed on its own; milliseconds."""
    import enfold

    random = Random(3)
    names = _roots(db, random, 4 * times)[: 4 * times]
    folded = _column(db, "SELECT spelling FROM entity WHERE folded_into IS NOT NULL")
    random.shuffle(folded)
    taken: dict[str, list[float]] = {}

    def timed(what: str, call: Callable[[], T]) -> T:
        started = time.perf_counter()
        value = call()
        taken.setdefault(what, []).append((time.perf_counter() - started) * 1000)
        return value

    with enfold.open(db) as graph:
        spellings = [graph.entity(row).entity.spelling for row in names[: 2 * times]]
        for left, right in _pairs(names[2 * times :]):
            merge = timed("fold", lambda a=left, b=right: graph.merge(a, b))  # type: ignore[misc]
            timed("revert", lambda m=merge.id: graph.revert(m))  # type: ignore[misc]
        for name in spellings[:times]:
            timed("lookup, name known", lambda n=name: graph.find(n))  # type: ignore[misc]
        for name in folded[:times]:
            timed("lookup, folded spelling", lambda n=name: graph.find(n))  # type: ignore[misc]
        for name in spellings[times:]:
            miss = f"{name[: len(name) // 2]}q{name[len(name) // 2 :]}"
            timed("lookup, unknown name", lambda n=miss: graph.find(n))  # type: ignore[misc]
        for _ in range(20):
            merge = timed("fold of a hub", lambda: graph.merge(HUB, BESIDE))
            timed("revert of a hub", lambda m=merge.id: graph.revert(m))  # type: ignore[misc]
            for decision in graph.apart(limit=1):
                graph.undo_apart(decision.id)
        for _ in range(20):
            timed("lookup of a hub", lambda: graph.find(HUB))
    return {"taken": taken}


def batch(db: str, count: int) -> dict[str, Any]:
    """Folds of ``count`` names into unrelated ones in one transaction; where the graph has fewer
    than twice as many, some take two."""
    import enfold
    from enfold.folds import fold_batch
    from enfold.model import DecidedBy, Proposal, Verdict

    names = _roots(db, Random(5), count + count // 2)
    proposals = [
        Proposal(left, right, Verdict.FOLD, "declared-same", 1.0, "For the measurement.")
        for left, right in zip(names[:count], cycle(names[count:]), strict=False)
    ]
    with enfold.open(db) as graph:
        store = _store(graph)
        started = time.perf_counter()
        with store.write() as tx:
            done = fold_batch(tx, proposals, decided_by=DecidedBy.HUMAN, actor="bench")
        wall = time.perf_counter() - started
        checked = time.perf_counter()
        clean = graph.check().clean
        return {
            "wall": wall,
            "folds": len(done.folds),
            "refused": len(done.refused),
            "check": time.perf_counter() - checked,
            "clean": clean,
        }


def _store(graph: Graph) -> Any:
    """The graph's store: folding many at once is the resolve pass's own verb, not a person's."""
    return graph._store


def _column(db: str, query: str) -> list[Any]:
    with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as graph:
        return [row[0] for row in graph.execute(query)]


def _roots(db: str, random: Random, count: int) -> list[int]:
    """Entities in random order, hubs and those with spellings of their own aside."""
    found = _column(
        db,
        "SELECT id FROM entity WHERE folded_into IS NULL AND spelling NOT LIKE '% Foundation' "
        "AND id NOT IN (SELECT folded_into FROM entity WHERE folded_into IS NOT NULL) ORDER BY id",
    )
    random.shuffle(found)
    if len(found) < count:
        raise SystemExit(f"{count:,} entities are needed and there are {len(found):,}")
    return found


def _pairs(rows: list[int]) -> Iterator[tuple[int, int]]:
    half = len(rows) // 2
    return zip(rows[:half], rows[half : 2 * half], strict=True)


STEPS: Final[dict[str, measure.Step]] = {
    "build": build,
    "one_by_one": one_by_one,
    "batch": batch,
}


# ---- the parent ---------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure folds, reverts and lookups.")
    parser.add_argument("--size", type=measure.sizes, default="100k", help="names in the graph")
    parser.add_argument("--batch", type=measure.sizes, default="50k", help="folds at once")
    parser.add_argument("--hub", type=measure.sizes, default="15k", help="mentions of a hub")
    parser.add_argument("--times", type=int, default=300, help="calls of each kind")
    parser.add_argument("--workers", type=int, default=measure.cores(), help="to build the graph")
    parser.add_argument("--folder", help="where the files go while it runs")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    (size,), (many,), (hub,) = asked.size, asked.batch, asked.hub
    many, times = min(many, size // 2), min(asked.times, size // 10)
    head = measure.machine()
    if not asked.json:
        print(f"{head}\n")
    with tempfile.TemporaryDirectory(prefix="enfold-bench-", dir=asked.folder) as folder:
        db = f"{folder}/graph.db"
        built = measure.run_step(
            "folds.py", "build", db=db, folder=folder, count=size, hub=hub, workers=asked.workers
        )
        single = measure.run_step("folds.py", "one_by_one", db=db, times=times)
        folded = measure.run_step("folds.py", "batch", db=db, count=many)
    rows = [
        {"what": what, "times": len(taken), "p50 ms": _at(taken, 0.5), "p95 ms": _at(taken, 0.95)}
        | {"worst ms": max(taken)}
        for what, taken in single.result["taken"].items()
    ]
    if asked.json:
        measure.print_json(head, graph=built, single=rows, batch=folded)
        return
    print(f"On a graph of {built.result['entities']:,} entities; a hub has {hub:,} mentions.\n")
    print(measure.table(rows))
    print()
    print(
        measure.table(
            [
                {"folds at once": folded.result["folds"], "s": folded.wall, "cpu s": folded.cpu}
                | {"peak MiB": round(folded.peak), "refused": folded.result["refused"]}
                | {"check s": folded.result["check"], "clean": str(folded.result["clean"]).lower()}
            ]
        )
    )


def _at(taken: list[float], share: float) -> float:
    return sorted(taken)[min(len(taken) - 1, int(share * len(taken)))]


if __name__ == "__main__" and not measure.serve_step(STEPS):
    main()
