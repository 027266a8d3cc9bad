"""What it takes to settle a graph: cards against pairs, with a reviewer who makes no mistake.

Give the files of a graph, or of a labelled set: a CSV with ``mention`` and ``entity_id`` (as
ER-KG-Bench has), a CSV with ``name`` and ``truth`` (as generate.py writes), or a JSON document of
``entities`` with ``canonical`` and ``aliases``. Where truth is known the reviewer answers by it.
Where it is not, two reviewers bound what is to be done: one to whom all are different, and one to
whom all of a card are the same.

    python bench/cards.py examples/dmetrics/memory.jsonl records.csv
    python bench/cards.py --generate 10k
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import measure

Row = tuple[str, str | None, str]
"""A name, its type, and what it truly is."""

Same = Callable[[int, int], bool]
"""Whether two entities are one."""


@dataclass(frozen=True)
class Settled:
    """What one way of reviewing took.

    Attributes:
        cards: cards or pairs shown. keys: keys pressed. folded: folds made.
    """

    cards: int
    keys: int
    folded: int

    @property
    def per_duplicate(self) -> float | None:
        return self.keys / self.folded if self.folded else None


# ---- graphs -------------------------------------------------------------------------------------


def labelled(path: Path) -> list[Row] | None:
    """The rows of a labelled set; None for a graph without truth."""
    head = path.open("rb").read(4096)
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            named = set(reader.fieldnames or ())
            if {"mention", "entity_id"} <= named:
                return [(r["mention"], r.get("entity_type"), r["entity_id"]) for r in reader]
            if {"name", "truth"} <= named:
                return [(r["name"], r.get("type"), r["truth"]) for r in reader]
    if path.suffix == ".json" and b'"canonical"' in head:
        entities = json.loads(path.read_text(encoding="utf-8"))["entities"]
        return [
            (name, "company", str(number))
            for number, one in enumerate(entities)
            for name in (one["canonical"], *one["aliases"])
        ]
    return None


def opened(path: str, first: int = 0) -> tuple[Any, dict[int, str] | None]:
    """The graph of a file, after a pass, and what each row truly is."""
    import enfold

    graph = enfold.open(":memory:")
    rows = labelled(Path(path))
    if rows is not None and first:
        rows = rows[:first]
    if rows is None:
        graph.import_files(path)
        graph.resolve(backup=False)
        return graph, None
    with tempfile.TemporaryDirectory() as made:
        table = Path(made) / "entities.csv"
        with table.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("name", "type"))
            writer.writerows((name, kind) for name, kind, _ in rows)
        graph.import_files(table)
    graph.resolve(backup=False)
    # A name that stands for two things is taken for the first.
    truth: dict[str, str] = {}
    for name, _, one in rows:
        truth.setdefault(enfold.Name.of(name).key, one)
    with graph._store.read() as tx:
        keys = {row: key for row, _, key, _, _ in tx.entities.stored_keys()}
    return graph, {row: truth.get(key, f"row {row}") for row, key in keys.items()}


# ---- reviewing ----------------------------------------------------------------------------------


class _Undo(Exception):
    """Rolls back what a reviewer did, so that the next one finds the graph as it was."""


def by_cards(graph: Any, same: Same) -> Settled:
    """Card by card, each answered as the keys allow: at once where all are the same or none is,
    else by marking the fewer."""
    from enfold import answers, cards

    def review(tx: Any) -> Settled:
        shown = keys = folded = 0
        while found := cards.cards(tx, limit=1):
            card = found[0]
            centre = card.centre.id
            yes = [leaf.side.id for leaf in card.leaves if same(leaf.side.id, centre)]
            no = [leaf.side.id for leaf in card.leaves if leaf.side.id not in yes]
            among = not yes and not any(same(one.left_id, one.right_id) for one in card.beside)
            done = answers.answer(tx, card, same=yes, apart=no, among=among)
            shown += 1
            keys += 1 + (min(len(yes), len(no)) if yes and no else 0)
            folded += len(done.merges)
        return Settled(shown, keys, folded)

    return _rolled_back(graph, review)


def by_pairs(graph: Any, same: Same) -> Settled:
    """Pair by pair in the order of the queue; what an answer makes moot is asked no more."""
    from enfold import answers, cards

    def review(tx: Any) -> Settled:
        shown = folded = 0
        while edge := next(cards.Open(tx).ranked(), None):
            said = answers.Said(1, edge.low, edge.high, same(edge.low, edge.high))
            _, done = answers.answer_pairs(tx, [said])
            shown += 1
            folded += len(done.merges) if done else 0
        return Settled(shown, shown, folded)

    return _rolled_back(graph, review)


def _rolled_back(graph: Any, review: Callable[[Any], Settled]) -> Settled:
    found: list[Settled] = []
    try:
        with graph._store.write() as tx:
            found.append(review(tx))
            raise _Undo
    except _Undo:
        return found[0]


def disjoint(pairs: Iterable[tuple[int, int]]) -> int:
    """How many of the pairs share no entity with each other: no cards round one entity each could
    be fewer. Rare entities first; the true maximum may be higher."""
    near: dict[int, set[int]] = defaultdict(set)
    for low, high in pairs:
        near[low].add(high)
        near[high].add(low)
    taken: set[int] = set()
    for one in sorted(near, key=lambda e: (len(near[e]), e)):
        free = [other for other in near[one] if other not in taken]
        if one not in taken and free:
            taken.update((one, min(free, key=lambda e: (len(near[e]), e))))
    return len(taken) // 2


def figures(path: str, first: int = 0) -> dict[str, Any]:
    """A step: what one graph takes."""
    from enfold import cards

    graph, truth = opened(path, first)
    with graph._store.read() as tx:
        edges = list(cards.Open(tx).ranked())
        told: dict[str, Any] = {
            "entities": tx.entities.count_live(),
            "pairs": len(edges),
            "cards": sum(1 for _ in cards.deal(cards.Held(edges))),
            "unbounded": sum(1 for _ in cards.deal(cards.Held(edges), leaves=1 << 30)),
            "least": disjoint(edge.pair for edge in edges),
        }
    if truth is None:
        told["apart"] = asdict(by_cards(graph, lambda one, other: False))
        told["same"] = asdict(by_cards(graph, lambda one, other: True))
        return told
    known = truth
    told["by_cards"] = asdict(by_cards(graph, lambda one, other: known[one] == known[other]))
    told["by_pairs"] = asdict(by_pairs(graph, lambda one, other: known[one] == known[other]))
    return told


STEPS: Final = {"figures": figures}


# ---- showing ------------------------------------------------------------------------------------


def _named(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _shares(told: dict[str, Any]) -> str:
    return f"{told['cards'] / told['pairs']:.2f}" if told["pairs"] else "–"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    lines = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(head))]
    for line in lines:
        cells = [
            c.rjust(w) if at else c.ljust(w)
            for at, (c, w) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(cells))
    print()


def show(results: Sequence[tuple[str, dict[str, Any]]]) -> None:
    _table(
        ("graph", "entities", "open pairs", "cards", "of pairs", "no fewer than", "unbounded"),
        [
            (name, f["entities"], f["pairs"], f["cards"], _shares(f), f["least"], f["unbounded"])
            for name, f in results
        ],
    )
    known = [(name, f) for name, f in results if "by_cards" in f]
    if known:
        print("A reviewer who knows the truth")
        _table(
            ("graph", "pairs", "cards", "of open pairs", "keys", "duplicates", "pair keys each",
             "card keys each"),
            list(_known(known)),
        )  # fmt: skip
    unknown = [(name, f) for name, f in results if "apart" in f]
    if unknown:
        print("Truth not known: cards where every answer is apart, and where every one is same")
        _table(
            ("graph", "open pairs", "all apart", "of pairs", "all same", "of pairs"),
            [(name, f["pairs"], *_bound(f, "apart"), *_bound(f, "same")) for name, f in unknown],
        )


def _known(results: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[tuple[object, ...]]:
    for name, told in results:
        cards, pairs = Settled(**told["by_cards"]), Settled(**told["by_pairs"])
        share = cards.cards / told["pairs"] if told["pairs"] else 0.0
        yield (
            name,
            pairs.cards,
            cards.cards,
            f"{share:.2f}",
            cards.keys,
            cards.folded,
            f"{pairs.per_duplicate or 0:.2f}",
            f"{cards.per_duplicate or 0:.2f}",
        )


def _bound(told: dict[str, Any], which: str) -> tuple[int, str]:
    cards = told[which]["cards"]
    return cards, f"{cards / told['pairs']:.2f}" if told["pairs"] else "–"


def main() -> None:
    if measure.serve_step(STEPS):
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("paths", nargs="*", type=Path, help="graphs, or labelled sets")
    parser.add_argument("--generate", default="", help="sizes of generated graphs: 1k,10k")
    parser.add_argument("--first", type=int, default=0, help="names of a labelled set; all: 0")
    parser.add_argument("--json", action="store_true", help="print the figures as data")
    options = parser.parse_args()
    results: list[tuple[str, dict[str, Any]]] = []
    for path in options.paths:
        step = measure.run_step(
            "cards.py", "figures", path=str(path.resolve()), first=options.first
        )
        results.append((_named(path.resolve()), step.result))
    with tempfile.TemporaryDirectory() as made:
        for size in filter(None, options.generate.split(",")):
            path = Path(made) / f"{size}.csv"
            _generate(path, size)
            step = measure.run_step("cards.py", "figures", path=str(path))
            results.append((f"generated {size}", step.result))
    if options.json:
        print(json.dumps(dict(results), indent=2))
    else:
        show(results)


def _generate(path: Path, size: str) -> None:
    from bench import generate

    generate.write_csv(path, int(size.lower().replace("k", "000")))


if __name__ == "__main__":
    main()
