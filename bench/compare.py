"""Ways to find the pairs that are worth a ruling, on the same names, against each other.

- **enfold**: what each rule's names offer and seek, and what edits leave in common.
- **all edits**: rapidfuzz ``cdist`` over all pairs of letters-only keys, within the same tolerance.
  Complete for misspellings and equal letters, blind to all else.
- **buckets**: names that share a word, or the first four letters of their key. No cap.
- **all pairs**: every name with every other. The reference, where that is feasible.

A *pair worth asking* is one that the rules fold or ask about; the reference is all pairs up to
``--exact`` names, above that the union of what the three found. Each way runs in a child process of
its own, on one core.

    python bench/compare.py --sizes 2k,10k,20k
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import numpy.typing as npt
from bench import measure

Pairs = npt.NDArray[np.uint64]
"""Pairs of places, packed as lower << 32 | higher, sorted, once each."""

Named = list[tuple[str, str | None]]


def packed(low: npt.ArrayLike, high: npt.ArrayLike) -> Pairs:
    return (np.asarray(low, dtype=np.uint64) << np.uint64(32)) | np.asarray(high, dtype=np.uint64)


def _grouped(groups: dict[str, list[int]]) -> Pairs:
    """All pairs within each group; places in a group rise."""
    found = [np.empty(0, np.uint64)]
    for members in groups.values():
        if len(members) > 1:
            places = np.array(members, dtype=np.uint64)
            low, high = np.triu_indices(len(places), k=1)
            found.append(packed(places[low], places[high]))
    return np.unique(np.concatenate(found))


# ---- ways to find pairs -------------------------------------------------------------------------


def by_enfold(names: Named) -> Pairs:
    from enfold.engines.local import Survey
    from enfold.names import Name

    equal: dict[str, list[int]] = defaultdict(list)
    for at, (spelling, kind) in enumerate(names):
        name = Name(spelling, kind)
        equal[name.merge_key or name.key].append(at)
    return np.unique(np.concatenate([Survey(names).candidates(), _grouped(equal)]))


def by_all_edits(names: Named) -> Pairs:
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import cdist

    from enfold.names import Name
    from enfold.rules import tolerance

    keys = [Name(spelling, kind).letters for spelling, kind in names]
    allowed = np.array([tolerance(len(key)) for key in keys], dtype=np.uint8)
    found = [np.empty(0, np.uint64)]
    for start in range(0, len(keys), 1_000):
        part = keys[start : start + 1_000]
        apart = cdist(part, keys, scorer=OSA.distance, score_cutoff=2, dtype=np.uint8, workers=1)
        near = apart <= np.minimum(allowed[start : start + 1_000, None], allowed[None, :])
        here, there = np.nonzero(near)
        here += start
        found.append(packed(here[here < there], there[here < there]))
    return np.unique(np.concatenate(found))


def by_buckets(names: Named) -> Pairs:
    from enfold.names import Name

    buckets: dict[str, list[int]] = defaultdict(list)
    for at, (spelling, kind) in enumerate(names):
        name = Name(spelling, kind)
        for key in {f"w{word}" for word in name.words} | {f"p{name.letters[:4]}"}:
            buckets[key].append(at)
    return _grouped(buckets)


def by_all_pairs(names: Named) -> Pairs:
    return packed(*np.triu_indices(len(names), k=1))


WAYS: Final[dict[str, Callable[[Named], Pairs]]] = {
    "enfold": by_enfold,
    "all edits": by_all_edits,
    "buckets": by_buckets,
    "all pairs": by_all_pairs,
}


# ---- the step, in a child process ---------------------------------------------------------------


def find(way: str, count: int, out: str) -> dict[str, Any]:
    """Finds pairs, rules them, and keeps those worth asking in a file."""
    from bench.generate import generate

    from enfold.model import Context, Verdict
    from enfold.names import Name
    from enfold.rules import common_among, rule_on

    rows = list(generate(count))
    names: Named = [(row.spelling, row.type) for row in rows]
    started, started_cpu = time.perf_counter(), time.process_time()
    candidates = WAYS[way](names)
    found_in, found_cpu = time.perf_counter() - started, time.process_time() - started_cpu
    made = [Name(*name) for name in names]
    context = Context(common=common_among(Counter(w for n in made for w in set(n.words)), count))
    started_cpu = time.process_time()
    worth = [
        pair
        for pair in candidates.tolist()
        if rule_on(made[pair >> 32], made[pair & 0xFFFFFFFF], context).verdict is not Verdict.APART
    ]
    ruled_cpu = time.process_time() - started_cpu
    things: dict[str, list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        things[str(row.truth)].append(at)
    truth = _grouped(things)
    np.savez(out, worth=np.array(worth, dtype=np.uint64))
    return {
        "wall": found_in,
        "find cpu": found_cpu,
        "rule cpu": ruled_cpu,
        "pairs": len(candidates),
        "worth": len(worth),
        "true": len(truth),
        "true found": int(np.isin(truth, candidates, assume_unique=True).sum()),
    }


STEPS: Final[dict[str, measure.Step]] = {"find": find}


# ---- the parent ---------------------------------------------------------------------------------


def compare(count: int, exact: int, folder: str) -> list[dict[str, object]]:
    ways = [way for way in WAYS if way != "all pairs" or count <= exact]
    took = {
        way: measure.run_step("compare.py", "find", way=way, count=count, out=f"{folder}/{way}.npz")
        for way in ways
    }
    worth = {way: np.load(f"{folder}/{way}.npz")["worth"] for way in ways}
    reference = worth.get("all pairs", np.unique(np.concatenate(list(worth.values()))))
    ours = took["enfold"].result["find cpu"]
    return [
        {
            "names": count,
            "way": way,
            "find s": step.wall,
            "find cpu s": step.result["find cpu"],
            "cpu times enfold": step.result["find cpu"] / ours,
            "peak MiB": round(step.peak),
            "pairs": step.result["pairs"],
            "rule cpu s": step.result["rule cpu"],
            "worth asking": step.result["worth"],
            "of the reference": len(np.intersect1d(worth[way], reference)) / len(reference),
            "true pairs found": step.result["true found"] / step.result["true"],
        }
        for way, step in took.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare ways to find candidate pairs.")
    parser.add_argument("--sizes", type=measure.sizes, default="2k,10k,20k")
    parser.add_argument("--exact", type=int, default=2_000, help="names for all pairs, at most")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    head = measure.machine()
    rows: list[dict[str, object]] = []
    for count in asked.sizes:
        with tempfile.TemporaryDirectory(prefix="enfold-bench-") as folder:
            rows += compare(count, asked.exact, folder)
    if asked.json:
        measure.print_json(head, rows=rows)
    else:
        print(f"{head}\n\n{measure.table(rows)}")


if __name__ == "__main__" and not measure.serve_step(STEPS):
    main()
