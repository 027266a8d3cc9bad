"""How often a person's search finds what is meant, how long it takes, and what its words cost.

python bench/search.py --sizes 10k,100k
python bench/search.py --db graph.db      # a graph that was imported before
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import measure

FIRST: Final = 5
"""The right entity must be among so many."""

T = TypeVar("T")

LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"

HOSTILE: Final = (
    "a", "e", "1", "an", "of", "the", "ing", "John", "meta", "server", "ltd", "of the and",
    "a b c d e f g h i j k l m n o p q r s t u v w x y z", "the of and co ltd inc", "東", "%", "🚀",
    "x" * 10_000, "ab " * 3_333, "東" * 10_000, "multi cross server driven",
)  # fmt: skip
"""Texts that many names hold, and long ones."""


# ---- what is typed ------------------------------------------------------------------------------


def edited(name: str, random: Random) -> str:
    """A letter changed, dropped or put in, a digit never."""
    at = random.choice([i for i, c in enumerate(name) if c.isalpha()])
    letter = random.choice(LETTERS)
    return name[:at] + random.choice(["", letter, letter + name[at]]) + name[at + 1 :]


def exchanged(name: str, random: Random) -> str | None:
    places = [
        i for i in range(len(name) - 1) if name[i : i + 2].isalpha() and name[i] != name[i + 1]
    ]
    if not places:
        return None
    at = random.choice(places)
    return name[:at] + name[at + 1] + name[at] + name[at + 2 :]


def a_word(name: str, random: Random) -> str | None:
    words = [word for word in name.split() if len(word) > 3 and word.isalpha()]
    return random.choice(words) if words and len(name.split()) > 1 else None


def misspelt_word(name: str, random: Random) -> str | None:
    word = a_word(name, random)
    return edited(word, random) if word and len(word) > 4 else None


def turned(name: str, _: Random) -> str | None:
    words = name.split()
    return " ".join(reversed(words)) if len(words) > 1 and words != words[::-1] else None


Typed = Callable[[str, Random], str | None]

KINDS: Final[dict[str, Typed]] = {
    "one edit": edited,
    "two edits": lambda name, random: edited(edited(name, random), random),
    "two letters exchanged": exchanged,
    "words reversed": turned,
    "a word misspelt, with the rest": lambda name, random: (
        name.replace(word, edited(word, random), 1) if (word := a_word(name, random)) else None
    ),
    "a word misspelt, alone": misspelt_word,
    "a word alone": a_word,
    "first four letters": lambda name, _: name[:4] if len(name) > 6 else None,
}


def _typed(db: str, times: int) -> dict[str, list[tuple[int, str]]]:
    """(entity, what is typed for it) of each kind; the same entities for every kind that fits."""
    random = Random(11)
    with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as graph:
        last = graph.execute("SELECT max(id) FROM entity").fetchone()[0]
        found: dict[str, list[tuple[int, str]]] = {kind: [] for kind in KINDS}
        while any(len(some) < times for some in found.values()):
            row = graph.execute(
                "SELECT canonical_id, spelling FROM entity WHERE id = ?",
                (random.randrange(1, last + 1),),
            ).fetchone()
            if row is None or sum(map(str.isalpha, row[1])) < 5:
                continue
            for kind, some in found.items():
                text = KINDS[kind](row[1], random)
                if text is not None and text != row[1] and len(some) < times:
                    some.append((row[0], text))
    return found


# ---- the steps, each in a child process ---------------------------------------------------------


def build(db: str, folder: str, count: int) -> dict[str, Any]:
    """Imports ``count`` generated names, and says what of that is for the words."""
    from bench.generate import write_jsonl

    import enfold
    from enfold.store.words import Words

    write_jsonl(f"{folder}/names.jsonl", count)
    spent = [0.0, 0]

    def timed(name: str) -> None:
        plain = getattr(Words, name)

        def call(*args: Any) -> Any:
            spent[1] += 1
            started = time.process_time()
            try:
                return plain(*args)
            finally:
                spent[1] -= 1
                if spent[1] == 0:  # the outer of two
                    spent[0] += time.process_time() - started

        setattr(Words, name, call)

    timed("add")
    timed("flush")
    with enfold.open(db) as graph:
        started, cpu = time.perf_counter(), time.process_time()
        graph.import_files(f"{folder}/names.jsonl")
        wall, cpu = time.perf_counter() - started, time.process_time() - cpu
    return {"wall": wall, "cpu": cpu, "words": spent[0]}


def sizes_of(db: str) -> dict[str, Any]:
    """MiB of the file, and of the tables of words in it."""
    with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as graph:
        words = graph.execute(
            "SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'word%' OR name LIKE '%autoindex_word%'"
        ).fetchone()[0]
        counts = [
            graph.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("entity", "word", "word_of")
        ]
    return {
        "names": counts[0],
        "words": counts[1],
        "rows": counts[2],
        "file": Path(db).stat().st_size / measure.MIB,
        "of words": words / measure.MIB,
    }


class _Timed:
    """Milliseconds of calls, by the clock and of the processor."""

    def __init__(self) -> None:
        self.taken: list[float] = []
        self.cpu: list[float] = []

    def __call__(self, call: Callable[[], T]) -> T:
        started, cpu = time.perf_counter(), time.process_time()
        value = call()
        self.cpu.append((time.process_time() - cpu) * 1000)
        self.taken.append((time.perf_counter() - started) * 1000)
        return value


def searched(db: str, times: int) -> dict[str, Any]:
    """For each kind how many of the first found hold the right entity, and milliseconds."""
    import enfold

    told: dict[str, Any] = {}
    with enfold.open(db, read_only=True) as graph:
        for kind, asked in _typed(db, times).items():
            right, timed = [], _Timed()
            for entity, text in asked:
                hits = timed(lambda t=text: graph.search(t, limit=FIRST))  # type: ignore[misc]
                right.append(entity in [hit.entity.id for hit in hits])
            told[kind] = {"right": right, "taken": timed.taken, "cpu": timed.cpu}
        hostile = {}
        for text in HOSTILE:
            graph.search(text, limit=FIRST)
            timed = _Timed()
            timed(lambda t=text: graph.search(t, limit=20))  # type: ignore[misc]
            hostile[text[:30]] = [*timed.taken, *timed.cpu]
    return {"kinds": told, "hostile": hostile}


def brute(db: str, times: int, few: int) -> dict[str, Any]:
    """The same by comparing what is typed with every spelling, the first ``few`` of each kind."""
    from rapidfuzz import fuzz, process

    from enfold.names import Name

    with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as graph:
        rows = graph.execute("SELECT canonical_id, spelling FROM entity").fetchall()
    spellings = [" ".join(Name(spelling).folded.split()) for _, spelling in rows]
    told: dict[str, Any] = {}
    for kind, asked in _typed(db, times).items():
        for name, scorer in (("ratio", fuzz.ratio), ("WRatio", fuzz.WRatio)):
            right, timed = [], _Timed()
            for entity, text in asked[:few]:
                typed = Name(text).folded
                best = timed(
                    lambda t=typed, s=scorer: process.extract(  # type: ignore[misc]
                        t, spellings, scorer=s, limit=FIRST, score_cutoff=55
                    )
                )
                right.append(entity in [rows[at][0] for _, _, at in best])
            told[f"{kind}/{name}"] = {"right": right, "cpu": timed.cpu}
    return told


STEPS: Final[dict[str, measure.Step]] = {
    "build": build,
    "sizes_of": sizes_of,
    "searched": searched,
    "brute": brute,
}


# ---- the parent ---------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the search by spelling.")
    parser.add_argument("--sizes", type=measure.sizes, default="10k,100k", help="such as 10k,1M")
    parser.add_argument("--db", help="a graph that was imported before, instead of making some")
    parser.add_argument("--times", type=int, default=200, help="texts of each kind")
    parser.add_argument("--brute", type=int, default=20, help="of these, by brute force too")
    parser.add_argument("--folder", help="where the files go while it runs")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    head = measure.machine()
    if not asked.json:
        print(head)
    everything = []
    with tempfile.TemporaryDirectory(prefix="enfold-bench-", dir=asked.folder) as folder:
        graphs = [(asked.db, 0)] if asked.db else [(f"{folder}/{n}.db", n) for n in asked.sizes]
        for db, count in graphs:
            everything.append(_measured(db, count, folder, asked))
            if not asked.json:
                _print(everything[-1], asked.brute)
    if asked.json:
        measure.print_json(head, graphs=everything)


def _measured(db: str, count: int, folder: str, asked: argparse.Namespace) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if count:
        found["import"] = measure.run_step("search.py", "build", db=db, folder=folder, count=count)
    found["sizes"] = measure.run_step("search.py", "sizes_of", db=db).result
    found["search"] = measure.run_step("search.py", "searched", db=db, times=asked.times).result
    few = min(asked.brute, asked.times)
    found["brute"] = measure.run_step(
        "search.py", "brute", db=db, times=asked.times, few=few
    ).result
    return found


def _print(found: dict[str, Any], few: int) -> None:
    print("\nThe words of the names:\n")
    row = dict(found["sizes"])
    if made := found.get("import"):
        cpu, words = made.result["cpu"], made.result["words"]
        row |= {"import cpu s": cpu, "for words cpu s": words, "share": words / cpu}
    print(measure.table([row]))
    print(f"\nThe right entity among the first {FIRST} (share of 1), and milliseconds; of the")
    print(f"first {few} of each kind beside what brute force finds:\n")
    print(
        measure.table(
            [
                {"typed": kind, "times": len(one["right"]), "found": _share(one["right"])}
                | {"p50 ms": _at(one["taken"], 0.5), "p95 ms": _at(one["taken"], 0.95)}
                | {"worst ms": max(one["taken"]), "p50 cpu ms": _at(one["cpu"], 0.5)}
                | {"p95 cpu ms": _at(one["cpu"], 0.95), f"first {few}": _share(one["right"][:few])}
                | _beside(found["brute"], kind)
                for kind, one in found["search"]["kinds"].items()
            ]
        )
    )
    print("\nTexts that many names hold, and long ones:\n")
    hostile = found["search"]["hostile"].items()
    print(measure.table([{"typed": t, "ms": ms, "cpu ms": cpu} for t, (ms, cpu) in hostile]))


def _beside(brute: dict[str, Any], kind: str) -> dict[str, float]:
    told: dict[str, float] = {}
    for scorer in ("ratio", "WRatio"):
        one = brute[f"{kind}/{scorer}"]
        told |= {scorer: _share(one["right"]), f"{scorer} cpu ms": _at(one["cpu"], 0.5)}
    return told


def _share(right: list[bool]) -> float:
    return sum(right) / len(right)


def _at(taken: list[float], share: float) -> float:
    return sorted(taken)[min(len(taken) - 1, int(share * len(taken)))]


if __name__ == "__main__" and not measure.serve_step(STEPS):
    main()
