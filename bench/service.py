"""A graph as several use it at once, in a file and in PostgreSQL: how many texts a second some
processes write, and how long others wait while a pass over many names runs.

    python bench/service.py --writers 1,4,8,16 --names 100k

A server is started for it, on this machine and with the settings it comes with.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.synchronize import Event
from pathlib import Path
from random import Random
from statistics import quantiles
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import generate, measure
from tests.servers import Server

SPAWN = multiprocessing.get_context("spawn")
SECONDS: Final = 10.0

# ---- writers ------------------------------------------------------------------------------------


def _write(url: str, seed: int, ready: Any, go: Event, done: Any) -> None:
    import enfold

    random = Random(seed)
    names = generate.generate(2_000)
    spellings = [row.spelling for row in names]
    with enfold.open(url, embedder=None) as graph:
        graph.find("warm up")
        ready.release()
        go.wait()
        until, written = time.monotonic() + SECONDS, 0
        while time.monotonic() < until:
            graph.remember(
                f"{random.choice(spellings)} met {random.choice(spellings)} ({seed}-{written})."
            )
            written += 1
        done.put(written)


def writers(url: str, processes: int) -> dict[str, Any]:
    """One text a call, each process one after the other."""
    import enfold

    enfold.open(url, embedder=None).close()
    ready, go, done = SPAWN.Semaphore(0), SPAWN.Event(), SPAWN.Queue()
    running = [
        SPAWN.Process(target=_write, args=(url, seed, ready, go, done)) for seed in range(processes)
    ]
    for process in running:
        process.start()
    for _ in running:
        ready.acquire()
    go.set()
    written = sum(done.get() for _ in running)
    for process in running:
        process.join()
    with enfold.open(url, embedder=None) as graph:
        kept, sound = graph.summary().memories, graph.check().clean
    return {"texts a second": written / SECONDS, "lost": written - kept, "sound": sound}


# ---- a pass, and who waits for it ---------------------------------------------------------------


def _settle(url: str, begun: Event) -> None:
    import enfold

    with enfold.open(url, workers=2, embedder=None) as graph:
        begun.set()
        graph.resolve(full=True, backup=False)


def beside(url: str, names: int) -> dict[str, Any]:
    """Find, recall and remember, one after the other, for a while alone and then beside a pass."""
    import enfold

    with tempfile.TemporaryDirectory() as made, enfold.open(url, embedder=None) as graph:
        path = Path(made) / "names.jsonl"
        generate.write_jsonl(path, names)
        graph.import_files(path)
        spellings = [row.spelling for row in generate.generate(1_000)]
        until = time.monotonic() + SECONDS

        def for_a_while() -> bool:
            return time.monotonic() < until

        alone = _asked(graph, spellings, for_a_while)
        begun = SPAWN.Event()
        process = SPAWN.Process(target=_settle, args=(url, begun))
        process.start()
        begun.wait()
        started = time.monotonic()
        meanwhile = _asked(graph, spellings, process.is_alive)
        process.join()
        took = time.monotonic() - started
    rows: dict[str, Any] = {"pass s": took, "calls beside it": sum(map(len, meanwhile.values()))}
    for verb in alone:
        rows |= {
            f"{verb} alone: p50, p95, worst ms": _spread(alone[verb]),
            f"{verb} beside: p50, p95, worst ms": _spread(meanwhile[verb]),
        }
    return rows


def _asked(graph: Any, spellings: list[str], go_on: Callable[[], bool]) -> dict[str, list[float]]:
    random, at = Random(4), 0
    took: dict[str, list[float]] = {"find": [], "recall": [], "remember": []}
    while go_on():
        at += 1
        name = random.choice(spellings)
        calls: tuple[Callable[[], object], ...] = (
            partial(graph.find, name),
            partial(graph.recall, f"what about {name}?"),
            partial(graph.remember, f"{name} again, {time.time()} {at}"),
        )
        for verb, call in zip(took, calls, strict=True):
            started = time.perf_counter()
            call()
            took[verb].append(1000 * (time.perf_counter() - started))
    return took


def _spread(values: list[float]) -> list[float]:
    cuts = quantiles(values, n=20)
    return [round(cuts[9], 1), round(cuts[18], 1), round(max(values), 1)]


STEPS: Final[dict[str, measure.Step]] = {"writers": writers, "beside": beside}


# ---- showing ------------------------------------------------------------------------------------


def main() -> None:
    if measure.serve_step(STEPS):
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--writers", default="1,4,8,16", help="processes that write: 1,4")
    parser.add_argument("--names", default="100k", help="names of the pass: 100k; 0 for none")
    parser.add_argument("--json", action="store_true", help="print the figures as data")
    options = parser.parse_args()
    names = measure.sizes(options.names)[0]
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="enfold-bench-") as made:
        folder = Path(made) / "server"
        folder.mkdir()
        server = Server(folder, durable=True)
        places: dict[str, Callable[[str], str]] = {
            "file": lambda what: f"{made}/{what}.db",
            "server": server.schema,
        }
        try:
            for processes in measure.sizes(options.writers):
                row: dict[str, Any] = {"writers": processes}
                for place, url in places.items():
                    step = measure.run_step(
                        "service.py", "writers", url=url(f"w{processes}"), processes=processes
                    )
                    row |= {f"{place}: {name}": value for name, value in step.result.items()}
                row["server / file"] = row["server: texts a second"] / row["file: texts a second"]
                results.append(row)
            for place, url in places.items() if names else ():
                step = measure.run_step("service.py", "beside", url=url("beside"), names=names)
                results.append({"place": place, "names": names} | step.result)
        finally:
            server.stop()
    if options.json:
        print(json.dumps(results, indent=2))
        return
    print(measure.machine())
    for row in results:
        print()
        for name, value in row.items():
            shown = f"{value:,.2f}" if isinstance(value, float) else value
            print(f"  {name:36} {shown}")


if __name__ == "__main__":
    main()
