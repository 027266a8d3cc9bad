"""How many texts a second become memories: stored, read for names, linked, asked about and placed.

A graph of so many names is imported and settled first; then texts that name some of them, and new
names, are remembered in batches and one by one. Reading alone (names the graph knows, and what text
marks) is timed by itself. The texts made here have 30 tokens on average; the observations of the
graphs in examples/, which people's agents wrote, have 15, and are remembered as well.

    python bench/remember.py --names 0,10k,100k --texts 2000
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import generate, measure

PATTERNS: Final = (
    "{a} works on {b} and talked to {c} about it on Monday.",
    "The team decided that {a} uses {b} from now on, since {c} kept failing.",
    "{a} said in the meeting: “{b} is part of {c}.”",
    "Yesterday {a} moved the nightly export from {b} to {c}; it takes half as long.",
    "Prefers {a} over {b} for small services.",
    "Nothing new from {a} today.",
)


def sentences(count: int, seed: int = 3) -> Iterator[str]:
    """Sentences that name things of a generated graph, most often few of them, and new ones."""
    random = Random(seed)
    names = [row.spelling for row in generate.generate(20_000)]
    for at in range(count):
        a, b, c = (names[int(random.paretovariate(0.6)) % len(names)] for _ in range(3))
        if at % 10 == 0:
            c = f"{c} {random.choice(('Studio', 'Works', 'Desk', 'Line'))} {at}"
        yield random.choice(PATTERNS).format(a=a, b=b, c=c) + f" ({at})"


# ---- steps ---------------------------------------------------------------------------------------


def build(db: str, names: int) -> dict[str, Any]:
    import enfold

    with tempfile.TemporaryDirectory() as made, enfold.open(db, workers=2) as graph:
        if names:
            path = Path(made) / "names.jsonl"
            generate.write_jsonl(path, names)
            graph.import_files(path)
            graph.resolve(backup=False)
        return {"entities": graph.summary().entities}


def observations() -> list[str]:
    """What the graphs in examples/ say of their entities, each text once."""
    files = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*/*.jsonl"))
    rows = (json.loads(line) for file in files for line in file.read_text("utf-8").splitlines())
    return list(dict.fromkeys(text for row in rows for text in row.get("observations", ())))


def many(db: str, texts: int, embedder: str | None) -> dict[str, Any]:
    return _remembered(db, list(sentences(texts)), embedder)


def real(db: str, embedder: str | None) -> dict[str, Any]:
    figures = _remembered(db, observations(), embedder)
    return {"real texts a second": figures["a second"]}


def _remembered(db: str, texts: list[str], embedder: str | None) -> dict[str, Any]:
    import enfold

    given = [enfold.Text(text) for text in texts]
    with enfold.open(db, embedder=embedder) as graph:
        graph.remember("Warm up, please.")
        started = time.perf_counter()
        done = list(graph.remember_all(given))
        seconds = time.perf_counter() - started
    return {
        "wall": seconds,
        "a second": len(texts) / seconds,
        "mentions": sum(one.mentions for one in done),
        "facts": sum(one.facts for one in done),
        "minted": sum(len(one.minted) for one in done),
        "folds": sum(len(one.merge_ids) for one in done),
    }


def single(db: str, texts: int, embedder: str | None) -> dict[str, Any]:
    import enfold

    with enfold.open(db, embedder=embedder) as graph:
        graph.remember("Warm up, please.")
        took = []
        for text in sentences(texts, seed=5):
            started = time.perf_counter()
            graph.remember(text)
            took.append(1000 * (time.perf_counter() - started))
    took.sort()
    return {"p50 ms": took[len(took) // 2], "p95 ms": took[int(len(took) * 0.95)]}


def reading(db: str, texts: int) -> dict[str, Any]:
    import enfold
    from enfold.known import Known
    from enfold.model import NameInText
    from enfold.models.extraction.offline import OfflineExtractor
    from enfold.spotting import Spotter

    given = list(sentences(texts, seed=9))
    with enfold.open(db, embedder=None) as graph, graph._store.read() as tx:
        started = time.perf_counter()
        Known(tx, sum(map(len, given))).in_texts(given)
        looked_up = time.perf_counter() - started
        started = time.perf_counter()
        every = Spotter((row[0], row[1]) for row in tx.entities.spellings())
        built = time.perf_counter() - started
        started = time.perf_counter()
        known = [[NameInText(s.spelling) for s in every.spot(text)] for text in given]
        spotted = time.perf_counter() - started
        terms = [term for term in tx.terms.all() if term.enabled]
    extractor = OfflineExtractor()
    started = time.perf_counter()
    extractor.extract(given, known, terms)
    marked = time.perf_counter() - started
    return {
        "automaton s": built,
        "look-up a second": texts / looked_up,
        "spotted a second": texts / spotted,
        "marks a second": texts / marked,
    }


STEPS: Final[dict[str, measure.Step]] = {
    "build": build,
    "many": many,
    "real": real,
    "single": single,
    "reading": reading,
}


# ---- showing -------------------------------------------------------------------------------------


def main() -> None:
    if measure.serve_step(STEPS):
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--names", default="0,10k,100k", help="sizes of the graphs: 0,10k")
    parser.add_argument("--texts", type=int, default=2_000, help="texts to remember")
    parser.add_argument("--json", action="store_true", help="print the figures as data")
    options = parser.parse_args()
    results: list[dict[str, Any]] = []
    for names in measure.sizes(options.names):
        with tempfile.TemporaryDirectory(prefix="enfold-bench-") as made:
            for embedder in (None, "minilm"):
                db = str(Path(made) / f"{embedder}.db")
                measure.run_step("remember.py", "build", db=db, names=names)
                row: dict[str, Any] = {"names": names, "embedder": embedder or "off"}
                step = measure.run_step(
                    "remember.py", "many", db=db, texts=options.texts, embedder=embedder
                )
                row |= step.result | {"cpu s": step.cpu, "peak MiB": step.peak}
                step = measure.run_step("remember.py", "real", db=db, embedder=embedder)
                row |= step.result
                step = measure.run_step(
                    "remember.py", "single", db=db, texts=200, embedder=embedder
                )
                row |= step.result
                if embedder is None:
                    step = measure.run_step("remember.py", "reading", db=db, texts=options.texts)
                    row |= step.result
                results.append(row)
    if options.json:
        print(json.dumps(results, indent=2))
        return
    print(measure.machine())
    for row in results:
        print()
        for name, value in row.items():
            print(
                f"  {name:18} {value:,.1f}" if isinstance(value, float) else f"  {name:18} {value}"
            )


if __name__ == "__main__":
    main()
