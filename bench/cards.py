"""What it takes to settle a graph: cards against pairs, with a reviewer who makes no mistake.

Cards are counted twice: stars alone, and with the single pairs gathered in lists.

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
from collections.abc import Callable, Iterable, Sequence
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
    if path.is_dir():
        return None
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


def by_cards(graph: Any, same: Same, *, lists: bool) -> Settled:
    """Card by card, each answered as the keys allow: at once where all are the same or none is,
    else by marking the fewer."""
    from enfold import answers, cards

    def review(tx: Any) -> Settled:
        shown = keys = folded = 0
        while found := list(cards.stream(tx, limit=1, lists=lists)):
            card = found[0]
            yes = [one for one, pair in zip(card.asked, card.pairs, strict=True) if same(*pair)]
            no = [one for one in card.asked if one not in yes]
            beside = card.beside if card.kind == "star" else ()
            among = not yes and not any(same(one.left_id, one.right_id) for one in beside)
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
    """How many of the pairs share no entity with each other: no stars could be fewer. Rare entities
    first; the true maximum may be higher."""
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
            "stars": sum(1 for _ in cards.deal(cards.Held(edges))),
            "cards": sum(1 for _ in cards.gather(cards.deal(cards.Held(edges)))),
            "unbounded": sum(1 for _ in cards.deal(cards.Held(edges), leaves=1 << 30)),
            "rules": len({edge.rule for edge in edges}),
            "least": disjoint(edge.pair for edge in edges),
        }
    if truth is None:
        for which, lists in (("stars", False), ("cards", True)):
            told[f"apart_{which}"] = asdict(by_cards(graph, lambda *_: False, lists=lists))
            told[f"same_{which}"] = asdict(by_cards(graph, lambda *_: True, lists=lists))
        return told
    known = truth

    def same(one: int, other: int) -> bool:
        return known[one] == known[other]

    told["by_cards"] = asdict(by_cards(graph, same, lists=True))
    told["by_stars"] = asdict(by_cards(graph, same, lists=False))
    told["by_pairs"] = asdict(by_pairs(graph, same))
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
        (
            "graph",
            "entities",
            "open pairs",
            "rules",
            "no fewer stars",
            "unbounded",
            "stars",
            "with lists",
            "of pairs",
        ),
        [
            (
                name,
                f["entities"],
                f["pairs"],
                f["rules"],
                f["least"],
                f["unbounded"],
                f["stars"],
                f["cards"],
                _shares(f),
            )
            for name, f in results
        ],
    )
    known = [(name, f) for name, f in results if "by_cards" in f]
    if known:
        print("A reviewer who knows the truth")
        _table(
            ("graph", "duplicates", "pairs asked", "stars shown", "with lists", "keys, pairs",
             "stars", "with lists", "a duplicate, pairs", "stars", "with lists"),
            [(name, *_known(f)) for name, f in known],
        )  # fmt: skip
    unknown = [(name, f) for name, f in results if "apart_cards" in f]
    if unknown:
        print("Truth not known: cards where every answer is apart, and where every one is same")
        _table(
            ("graph", "open pairs", "apart, stars", "with lists", "same, stars", "with lists"),
            [(name, f["pairs"], *(f[which]["cards"] for which in _BOUNDS)) for name, f in unknown],
        )


_BOUNDS: Final = ("apart_stars", "apart_cards", "same_stars", "same_cards")


def _known(told: dict[str, Any]) -> tuple[object, ...]:
    ways = [Settled(**told[f"by_{way}"]) for way in ("pairs", "stars", "cards")]
    return (
        ways[0].folded,
        *(way.cards for way in ways),
        *(way.keys for way in ways),
        *(f"{way.per_duplicate or 0:.2f}" for way in ways),
    )


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
