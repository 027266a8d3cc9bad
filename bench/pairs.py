"""Pairs of names that no graph holds: one process, several, and a Dask cluster of as many workers.

Each way reads the same Parquet file and must find the same pairs; the ratios are of one run.

    python bench/pairs.py --sizes 100k,1M
    python bench/pairs.py --sizes 10M --ways pool
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import measure

WAYS: Final = ("one", "pool", "dask")
ROWS: Final = 100_000
"""Rows of a row group of the file that is made."""


# ---- the steps, each in a child process ---------------------------------------------------------


def make_names(count: int, file: str) -> dict[str, Any]:
    """Writes ``count`` names as Parquet."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]
    from bench.generate import generate

    started = time.perf_counter()
    kinds = pa.schema([("name", pa.string()), ("type", pa.string())])
    with pq.ParquetWriter(file, kinds) as out:
        spelled: list[str] = []
        types: list[str] = []
        for row in generate(count):
            spelled.append(row.spelling)
            types.append(row.type)
            if len(spelled) == ROWS:
                out.write_table(pa.table([spelled, types], schema=kinds))
                spelled, types = [], []
        out.write_table(pa.table([spelled, types], schema=kinds))
    return {"wall": time.perf_counter() - started}


def find(file: str, out: str, engine: str) -> dict[str, Any]:
    """Finds the pairs, and says by what they are known: how many, and their sum."""
    from dataclasses import asdict

    from enfold.engines import find_pairs

    started = time.perf_counter()
    found = find_pairs(file, out, engine=engine)
    wall = time.perf_counter() - started
    return {"wall": wall, "sum": _sum(out), **asdict(found)}


def _sum(out: str) -> int:
    """A number that is the same for the same pairs with the same rules, in whatever order."""
    import numpy as np
    import pyarrow.parquet as pq

    total = np.uint64(0)
    for file in sorted(Path(out, "pairs").glob("*.parquet")):
        table = pq.read_table(file)
        left, right = (
            table.column(side).to_numpy().astype(np.uint64) for side in ("left", "right")
        )
        rule = np.array(
            [sum(map(ord, name)) for name in table.column("rule").to_pylist()], np.uint64
        )
        words = (left * np.uint64(0x9E3779B97F4A7C15)) ^ (right * np.uint64(0xC4CEB9FE1A85EC53))
        with np.errstate(over="ignore"):
            total += (words * (rule * np.uint64(2) + np.uint64(1))).sum(dtype=np.uint64)
    return int(total)


STEPS: Final[dict[str, measure.Step]] = {"make_names": make_names, "find": find}


# ---- the cluster --------------------------------------------------------------------------------


@contextmanager
def cluster(workers: int, folder: str) -> Iterator[str]:
    """A scheduler and so many workers of one thread, on this machine; the engine's name."""
    told = Path(folder) / "scheduler.json"
    path = os.pathsep.join([str(measure.ROOT), str(measure.ROOT / "src"), *sys.path])
    kept: dict[str, Any] = {
        "env": {**os.environ, "PYTHONPATH": path},
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
    }
    python = [sys.executable, "-m"]
    here = ["--host", "127.0.0.1", "--no-dashboard"]
    scheduler = [*python, "distributed.cli.dask_scheduler", "--port", "0", *here]
    running = [subprocess.Popen([*scheduler, "--scheduler-file", str(told)], **kept)]
    try:
        while not told.exists():
            time.sleep(0.05)
        address = json.loads(told.read_text())["address"]
        worker = [*python, "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny"]
        running += [subprocess.Popen([*worker, *here], **kept) for _ in range(workers)]
        yield f"dask://{address.partition('://')[2]}"
    finally:
        for process in reversed(running):
            process.kill()
            process.wait()


def measure_size(
    count: int, ways: list[str], workers: int, folder: str
) -> Iterator[tuple[str, measure.Measured]]:
    file = f"{folder}/names.parquet"
    measure.run_step("pairs.py", "make_names", count=count, file=file)
    for way in ways:
        out = f"{folder}/{way}"
        if way != "dask":
            engine = f"local://{workers if way == 'pool' else 1}"
            yield way, measure.run_step("pairs.py", "find", file=file, out=out, engine=engine)
            continue
        with cluster(workers, folder) as engine:
            yield way, measure.run_step("pairs.py", "find", file=file, out=out, engine=engine)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure pairs of names from files to files.")
    parser.add_argument("--sizes", type=measure.sizes, default="100k,1M", help="such as 100k,1M")
    parser.add_argument("--ways", default=",".join(WAYS), help="some of one,pool,dask")
    parser.add_argument("--workers", type=int, default=measure.cores(), help="processes")
    parser.add_argument("--folder", help="where the files go while it runs")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    head = measure.machine()
    if not asked.json:
        print(f"{head}; {asked.workers} process(es) or workers\n", flush=True)
    sizes = measure.sizes(asked.sizes) if isinstance(asked.sizes, str) else asked.sizes
    everything: list[tuple[int, str, measure.Measured]] = []
    for count in sizes:
        with tempfile.TemporaryDirectory(prefix="enfold-bench-", dir=asked.folder) as folder:
            for way, done in measure_size(count, asked.ways.split(","), asked.workers, folder):
                everything.append((count, way, done))
                print(f"{count:,} {way} {done.wall:.1f} s", file=sys.stderr, flush=True)
    if asked.json:
        rows = [{"size": count, "way": way, "step": step} for count, way, step in everything]
        measure.print_json(head, workers=asked.workers, steps=rows)
        return
    print(measure.table([_row(everything, *one) for one in everything]))
    print("\nSeconds by step:\n")
    print(
        measure.table(
            [
                {"names": count, "way": way} | done.result["seconds"]
                for count, way, done in everything
            ]
        )
    )


def _row(
    everything: list[tuple[int, str, measure.Measured]],
    count: int,
    way: str,
    done: measure.Measured,
) -> dict[str, object]:
    first = next(one for size, _, one in everything if size == count)
    found = done.result
    return {
        "names": count,
        "way": way,
        "s": done.wall,
        "cpu s": None if way == "dask" else done.cpu,
        "times the first": first.wall / done.wall,
        "MiB": round(found["memory"] / measure.MIB),
        "candidates": found["candidates"],
        "folds": found["folds"],
        "questions": found["questions"],
        "same pairs": "yes" if found["sum"] == first.result["sum"] else "NO",
    }


if __name__ == "__main__" and not measure.serve_step(STEPS):
    main()
