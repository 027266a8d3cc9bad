"""Recall in graphs of 10,000 to a million memories with 100,000 entities; and a hub.

Sentences and questions are generated (``sentences.py``). A sample of each is placed by the model
that comes with enfold; a million would take it an hour, so the other vectors are mixed of two real
ones each, with a little noise: as near to each other as real ones are, but not of their text.

    python bench/recall.py --sizes 10k,100k
    python bench/recall.py --sizes 1M --sample 20000
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import measure
from bench.sentences import Sentence, names_of, sentences

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from enfold.ports import Tx

ENTITIES: Final = 100_000
HUB: Final = 15_000
QUESTIONS: Final = 200
EXACT: Final = 100
"""Questions whose ten nearest are also found by comparing all."""

REACHES: Final = (500, 1_000, 2_000, 4_000, 8_000)
"""How many of the nearest codes are compared exactly."""

BATCH: Final = 10_000
MODEL: Final = "a sample"


# ---- the graph ----------------------------------------------------------------------------------


def embed(path: str, sample: int) -> dict[str, Any]:
    """Place a sample of sentences, names and questions, and write the vectors to a file."""
    import numpy as np

    from enfold.graph import open as open_graph

    with open_graph(":memory:") as graph:
        embedder = graph._embedder
    assert embedder is not None
    names = names_of(ENTITIES)
    some = list(sentences(sample, names=names))
    started = time.perf_counter()
    texts = embedder.embed([one.text for one in some])
    wall = time.perf_counter() - started
    asked = embedder.embed([one.question for one in some[:QUESTIONS]])
    placed = embedder.embed(names[:sample])
    half = [vectors.astype(np.float16) for vectors in (texts, asked, placed)]
    with open(path, "wb") as out:
        np.savez(out, texts=half[0], questions=half[1], names=half[2])
    return {"sentences a second": round(sample / wall), "sample": sample}


def mixed(real: NDArray[float32], count: int, seed: int) -> Iterator[NDArray[float32]]:
    """The real vectors, then mixtures of two, ``count`` in all, in batches."""
    import numpy as np

    random = np.random.default_rng(seed)
    for first in range(0, count, BATCH):
        size = min(BATCH, count - first)
        part = real[first : first + size]
        more = size - len(part)
        left, right = (real[random.integers(0, len(real), more)] for _ in range(2))
        share = random.uniform(0.5, 0.9, (more, 1)).astype(np.float32)
        noise = random.standard_normal((more, real.shape[1])).astype(np.float32)
        made = share * left + (1 - share) * right + 0.01 * noise
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        yield np.concatenate([part, made])


def fill(path: str, vectors: str, size: int) -> dict[str, Any]:
    """Make the graph: names and memories with their edges, words and vectors; and a hub."""
    import numpy as np

    from enfold.names import Name
    from enfold.ports import NewRow
    from enfold.store import open_store

    held = np.load(vectors)
    real, placed = (held[name].astype(np.float32) for name in ("texts", "names"))
    names = names_of(ENTITIES)
    store = open_store(path)
    with store.write() as tx:
        rows = [NewRow(Name.of(one)) for one in [*names, "Hubble Works"]]
        tx.entities.add_many(rows)  # two that differ in case alone are one row
        known = tx.entities.rows([row.name.key for row in rows])
        ids = [known[row.name.key][0].id for row in rows]
        space = tx.vectors.open_space(MODEL, real.shape[1])
        at = 0
        for part in mixed(placed, len(names), 1):
            tx.vectors.add(space, "name", ids[at : at + len(part)], part)
            at += len(part)
    told = sentences(size, names=names)
    for part in mixed(real, size, 2):
        with store.write() as tx:
            memories = _remember(tx, [next(told) for _ in part], ids)
            tx.vectors.add(space, "memory", memories, part)
    with store.write() as tx:
        last = tx.memories.last()
        hub = ids[-1]
        tx.edges.add_mentions((memory, hub, "Hubble Works") for memory in _spread(last, HUB))
    store.close()
    return {"MiB": round(Path(path).stat().st_size / measure.MIB)}


def _remember(tx: Tx, some: Sequence[Sentence], ids: Sequence[int]) -> list[int]:
    from enfold.ports import NewMemory

    memories = tx.memories.add_many([NewMemory(one.text) for one in some])
    tx.edges.add_mentions(
        (memory, ids[name], "x")
        for memory, one in zip(memories, some, strict=True)
        for name in dict.fromkeys(one.names)
    )
    return memories


def _spread(last: int, count: int) -> list[int]:
    return [1 + at * last // min(count, last) for at in range(min(count, last))]


# ---- what is measured ---------------------------------------------------------------------------


def recall(path: str, vectors: str) -> dict[str, Any]:
    """Ask questions: the first alone, then each; the embedder's part is not in it."""
    import numpy as np

    from enfold.ports import Located
    from enfold.recall import recall as recalled
    from enfold.store import open_store

    placed = np.load(vectors)["questions"].astype(np.float32)
    asked = [one.question for one in sentences(len(placed), names=names_of(ENTITIES))]
    store = open_store(path)
    found: list[int] = []

    def ask(number: int) -> None:
        with store.read() as tx:
            said = recalled(tx, asked[number], located=Located(MODEL, placed[number], 0.5))
            found.append(
                next(
                    (
                        place
                        for place, one in enumerate(said.memories)
                        if one.memory.id == number + 1
                    ),
                    -1,
                )
            )

    first = _timed(lambda: ask(0))
    return {
        "first ms": first[0],
        **_times([lambda n=n: ask(n) for n in range(len(asked))]),  # type: ignore[misc]
        "answer found": round(sum(place >= 0 for place in found[1:]) / len(asked), 3),
    }


def exact(path: str, vectors: str) -> dict[str, Any]:
    """The share of the ten nearest that is found by codes first, against comparing all: by how
    many of the nearest codes are compared exactly."""
    import numpy as np

    from enfold.ports import Reader
    from enfold.store import open_store
    from enfold.store import vectors as store_vectors

    asked = np.load(vectors)["questions"].astype(np.float32)[:EXACT]
    store = open_store(path)
    with store.read() as tx:
        space = tx.vectors.serving()
        assert space is not None
        best: list[list[tuple[float, int]]] = [[] for _ in asked]
        for ids, part in _all_vectors(tx, space.id):
            for row, cosines in enumerate((part @ asked.T).T):
                top = np.argpartition(-cosines, min(10, len(cosines) - 1))[:10]
                best[row] = sorted([*best[row], *((-cosines[at], ids[at]) for at in top)])[:10]
        found: dict[str, Any] = {}
        for reach in REACHES:
            store_vectors.REACH["memory"] = reach
            shares = [
                len({one for one, _ in near} & {one for _, one in best[row]}) / 10
                for row, vector in enumerate(asked)
                for near in [tx.vectors.near_memories(space, vector, Reader(), limit=10)]
            ]
            found[f"{reach:,}"] = round(statistics.mean(shares), 4)
    return found


def _all_vectors(tx: Tx, space: int) -> Iterator[tuple[list[int], NDArray[float32]]]:
    import numpy as np

    rows = tx._sql.stream(  # type: ignore[attr-defined]
        """SELECT c.memory_id, v.vector FROM memory_code c JOIN memory_vector v ON v.id = c.id
        WHERE c.space_id = :space""",
        space=space,
    )
    while part := list(islice(rows, BATCH)):
        matrix = np.frombuffer(b"".join(stored for _, stored in part), "<f2")
        yield [one for one, _ in part], matrix.reshape(len(part), -1).astype(np.float32)


def hub(path: str) -> dict[str, Any]:
    """Look a hub up, and ask what it is connected to."""
    from enfold.graph import open as open_graph

    with open_graph(path, embedder=None) as graph:
        find = _times([lambda: graph.find("Hubble Works")] * 50)
        related = _times([lambda: graph.related("Hubble Works")] * 20)
    return {"find p95 ms": find["p95 ms"], "related p95 ms": related["p95 ms"]}


def _timed(call: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return 1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - cpu)


def _times(calls: Sequence[Callable[[], object]]) -> dict[str, float]:
    took = [_timed(call) for call in calls]
    wall, cpu = (sorted(one[which] for one in took) for which in (0, 1))
    return {
        "p50 ms": statistics.median(wall),
        "p95 ms": wall[int(0.95 * len(wall))],
        "p50 cpu": statistics.median(cpu),
        "p95 cpu": cpu[int(0.95 * len(cpu))],
    }


STEPS: Final[dict[str, measure.Step]] = {
    "embed": embed,
    "fill": fill,
    "recall": recall,
    "exact": exact,
    "hub": hub,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure recall.")
    parser.add_argument("--sizes", default="10k,100k", help="memories, as 10k,100k,1M")
    parser.add_argument("--sample", type=int, default=5_000, help="texts that the model places")
    parser.add_argument("--vectors", type=Path, help="a file to keep the sample's vectors in")
    parser.add_argument("--folder", type=Path, help="where to make the graphs; kept")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    head = measure.machine()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        vectors = asked.vectors or folder / "vectors.npz"
        if not vectors.exists():
            measure.run_step("recall.py", "embed", path=str(vectors), sample=asked.sample)
        sizes = measure.sizes(asked.sizes)
        rows = [_row(folder, str(vectors), size) for size in sizes]
        nearest = [_nearest(folder, str(vectors), size) for size in sizes]
    if asked.json:
        measure.print_json(head, recall=rows, nearest=nearest)
    else:
        title = "Of the ten nearest, by how many vectors are compared:"
        print(head, "", measure.table(rows), "", title, "", measure.table(nearest), sep="\n")


def _row(folder: Path, vectors: str, size: int) -> dict[str, object]:
    path = str(folder / f"recall-{size}.db")
    row: dict[str, object] = {"memories": size}
    if not Path(path).exists():
        measure.run_step("recall.py", "fill", path=path, vectors=vectors, size=size)
    row["MiB"] = round(Path(path).stat().st_size / measure.MIB)
    told = measure.run_step("recall.py", "recall", path=path, vectors=vectors)
    row |= told.result | {"peak MiB": round(told.peak)}
    return row | measure.run_step("recall.py", "hub", path=path).result


def _nearest(folder: Path, vectors: str, size: int) -> dict[str, object]:
    path = str(folder / f"recall-{size}.db")
    told = measure.run_step("recall.py", "exact", path=path, vectors=vectors)
    return {"memories": size} | told.result


if __name__ == "__main__" and not measure.serve_step(STEPS):
    main()
