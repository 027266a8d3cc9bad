"""Alias recall: what a query by one spelling finds of what was written under the others.

The facts of each company are spread over its spellings: each spelling has a few texts of its own
that no other has. Then every spelling is asked for, before anything is folded, after the folds that
a pass makes alone, after a reviewer has answered every question of that pass by the truth, and with
every spelling folded into its company, which is what folding can do at best.

Give a JSON document of ``entities`` with ``canonical`` and ``aliases``. Spellings of more than one
company are left out: who asks for one of these does not say which is meant.

    python bench/alias_recall.py wikidata_companies_v1.json --companies 500
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import measure

TEXTS: Final = 2
"""Texts of a spelling."""

SPELLINGS: Final = 10
"""The most spellings of a company: of more, its facts are more than the results asked for."""

LIMIT: Final = TEXTS * SPELLINGS

SAID: Final = (
    "{name} opened an office in {place}.",
    "{name} has a new head of {matter}.",
    "{name} signed a contract about {matter} in {place}.",
    "The {matter} of {name} moved to {place}.",
    "In {place} {name} won a prize for {matter}.",
    "{name} closed its branch in {place}.",
    "A court in {place} heard the case of {name} about {matter}.",
)
PLACES: Final = (
    "Lisbon", "Osaka", "Tampere", "Quito", "Leeds", "Nairobi", "Graz", "Perth", "Denver", "Busan",
    "Riga",
)  # fmt: skip
MATTERS: Final = (
    "research", "logistics", "insurance", "packaging", "training", "energy", "design",
    "procurement", "translation", "recycling", "payments", "forestry", "lighting",
)  # fmt: skip

ALONE: Final = "entity arm"

ASKED: Final = "What do we know about {name}?"


@dataclass(frozen=True)
class Company:
    """A company with its spellings, the canonical one first."""

    spellings: tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """What queries found, each figure the mean over all of them.

    Attributes:
        facts: the share of the company's texts among the results.
        others: the same of the texts written under other spellings than the one asked for.
        slots: anchors that are the company. strangers: anchors that are another.
    """

    facts: float
    others: float
    slots: float
    strangers: float


class Once:
    """An embedder that places each query once: they are asked anew at every stage."""

    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder
        self._placed: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def embed(self, texts: Sequence[str]) -> Any:
        if len(texts) != 1:
            return self._embedder.embed(texts)
        if texts[0] not in self._placed:
            self._placed[texts[0]] = self._embedder.embed(texts)
        return self._placed[texts[0]]


# ---- the graph ----------------------------------------------------------------------------------


def companies(path: Path, most: int) -> list[Company]:
    """The first companies of several spellings that are theirs alone."""
    from enfold import Name

    entities = json.loads(path.read_text(encoding="utf-8"))["entities"]
    keys = [
        {Name.of(name).key: name for name in reversed((one["canonical"], *one["aliases"]))}
        for one in entities
    ]
    holders = Counter(key for own in keys for key in own)
    found = []
    for own in keys:
        mine = tuple(name for key, name in reversed(own.items()) if holders[key] == 1 and key)
        if 2 <= len(mine) <= SPELLINGS:
            found.append(Company(mine))
        if len(found) == most:
            break
    return found


def texts(company: Company, number: int) -> Iterator[tuple[str, str]]:
    """(spelling, text) of all that is known of a company."""
    for at, name in enumerate(company.spellings):
        for which in range(TEXTS):
            turn = number * 31 + at * TEXTS + which
            yield (
                name,
                SAID[turn % len(SAID)].format(
                    name=name,
                    place=PLACES[turn % len(PLACES)],
                    matter=MATTERS[turn // len(SAID) % len(MATTERS)],
                ),
            )


def filled(graph: Any, given: Sequence[Company]) -> list[set[int]]:
    """Import the texts, place them by meaning; the ids of the memories of each company."""
    with tempfile.TemporaryDirectory() as made:
        table = Path(made) / "entities.csv"
        with table.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("name", "type", "description"))
            for number, company in enumerate(given):
                writer.writerows((name, "company", said) for name, said in texts(company, number))
        graph.import_files(table)
    graph.index()
    said = {(name, text): n for n, one in enumerate(given) for name, text in texts(one, n)}
    by_text = {text: number for (_, text), number in said.items()}
    found: list[set[int]] = [set() for _ in given]
    with graph._store.read() as tx:
        for memory, _, _ in tx.memories.all():
            found[by_text[memory.content]].add(memory.id)
    return found


# ---- settling -----------------------------------------------------------------------------------


def _nothing(graph: Any, truth: dict[int, int]) -> None:
    return None


def _pass(graph: Any, truth: dict[int, int]) -> None:
    graph.resolve(backup=False)


def _reviewed(graph: Any, truth: dict[int, int]) -> None:
    """Answer all that is open by the truth."""
    from enfold import answers, cards

    with graph._store.write() as tx:
        said = [
            answers.Said(line, edge.low, edge.high, truth[edge.low] == truth[edge.high])
            for line, edge in enumerate(cards.Open(tx).ranked(), 1)
        ]
        answers.answer_pairs(tx, said)


def _all(graph: Any, truth: dict[int, int]) -> None:
    """Fold every spelling into its company, as somebody would who declares them."""
    first: dict[int, int] = {}
    for row, company in sorted(truth.items()):
        into = first.setdefault(company, row)
        with graph._store.read() as tx:
            roots = tx.entities.roots([row, into])
        if roots[row] != roots[into]:
            graph.merge(roots[row], roots[into])


STAGES: Final[dict[str, Callable[[Any, dict[int, int]], None]]] = {
    "nothing folded": _nothing,
    "folds of a pass": _pass,
    "questions answered": _reviewed,
    "every spelling folded": _all,
}


# ---- asking -------------------------------------------------------------------------------------


def asked(
    graph: Any, given: Sequence[Company], held: Sequence[set[int]], entity: Sequence[float]
) -> dict[str, Any]:
    """What every query found, by the arms that were asked."""
    from enfold.recall import Weights

    arms = {ALONE: Weights(0.0, 0.0, 1.0), "all arms": Weights()}
    arms |= {f"all, entity {weight:g}": Weights(entity=weight) for weight in entity}
    return {name: asdict(_asked(graph, given, held, weights)) for name, weights in arms.items()}


def _asked(graph: Any, given: Sequence[Company], held: Sequence[set[int]], weights: Any) -> Found:
    with graph._store.read() as tx:
        company_of = _companies(tx, given)
        written = [_by_spelling(tx, one, ids) for one, ids in zip(given, held, strict=True)]
    sums, queries = [0.0] * 4, 0
    for number, company in enumerate(given):
        for name in company.spellings:
            found = graph.recall(ASKED.format(name=name), limit=LIMIT, weights=weights)
            ids = {one.memory.id for one in found.memories}
            others = held[number] - written[number][name]
            mine = sum(company_of[anchor.entity.id] == number for anchor in found.anchors)
            sums[0] += len(ids & held[number]) / len(held[number])
            sums[1] += len(ids & others) / len(others)
            sums[2] += mine
            sums[3] += len(found.anchors) - mine
            queries += 1
    return Found(*(round(total / queries, 4) for total in sums))


def _companies(tx: Any, given: Sequence[Company]) -> dict[int, int]:
    """The company of every row: what is true, whatever is folded."""
    from enfold import Name

    of = {Name.of(name).key: number for number, one in enumerate(given) for name in one.spellings}
    return {row: of[key] for row, _, key, _, _ in tx.entities.stored_keys() if key in of}


def _by_spelling(tx: Any, company: Company, ids: Iterable[int]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {name: set() for name in company.spellings}
    for memory in tx.memories.many(sorted(ids)).values():
        # The longest, where one spelling holds another.
        name = max((one for one in company.spellings if one in memory.content), key=len)
        found[name].add(memory.id)
    return found


def figures(path: str, companies_: int, entity: Sequence[float]) -> dict[str, Any]:
    """A step: every stage in turn, on one graph."""
    import enfold

    given = companies(Path(path), companies_)
    with enfold.open(":memory:") as plain:
        embedder: Any = Once(plain._embedder)
    graph: Any = enfold.open(":memory:", embedder=embedder)
    held = filled(graph, given)
    with graph._store.read() as tx:
        truth = _companies(tx, given)
    told: dict[str, Any] = {
        "companies": len(given),
        "spellings": sum(len(one.spellings) for one in given),
        "texts": sum(map(len, held)),
        "stages": {},
    }
    for name, settle in STAGES.items():
        settle(graph, truth)
        with graph._store.read() as tx:
            live = tx.entities.count_live()
        told["stages"][name] = {"entities": live, **asked(graph, given, held, entity)}
    graph.close()
    return told


STEPS: Final = {"figures": figures}


# ---- showing ------------------------------------------------------------------------------------


def show(told: dict[str, Any]) -> None:
    print(
        f"{told['companies']:,} companies, {told['spellings']:,} spellings, "
        f"{told['texts']:,} texts; {told['spellings']:,} queries, {LIMIT} results each"
    )
    head = ("", "entities", "arms", "facts", "of other spellings", "own slots", "others' slots")
    rows = [
        (
            stage if arms == ALONE else "",
            str(found["entities"]) if arms == ALONE else "",
            arms,
            *(f"{found[arms][figure]:.3f}" for figure in ("facts", "others")),
            *(f"{found[arms][figure]:.2f}" for figure in ("slots", "strangers")),
        )
        for stage, found in told["stages"].items()
        for arms in found
        if arms != "entities"
    ]
    widths = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
    for row in (head, *rows):
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )


def main() -> None:
    if measure.serve_step(STEPS):
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("path", type=Path, help="companies with their aliases")
    parser.add_argument("--companies", type=int, default=500, help="how many are used")
    parser.add_argument(
        "--entity", default="", help="also with these weights of the entity arm: 1,2"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as data")
    options = parser.parse_args()
    step = measure.run_step(
        "alias_recall.py",
        "figures",
        path=str(options.path.resolve()),
        companies_=options.companies,
        entity=[float(weight) for weight in options.entity.split(",") if weight],
    )
    if options.json:
        print(json.dumps(step.result, indent=2))
    else:
        show(step.result)


if __name__ == "__main__":
    main()
