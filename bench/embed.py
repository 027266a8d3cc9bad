"""How near an embedding model places what belongs together, where its floors lie, and its speed.

    python bench/embed.py                                # the model that comes with enfold
    python bench/embed.py --model NAME --url URL         # one at an endpoint
    python bench/embed.py --weights model.safetensors    # the shipped file against its original

The key of an endpoint is taken from ``ENFOLD_EMBEDDER_KEY``.

Anchors are measured on questions made of the names in examples/, tests/data and suites/agent_names;
confirmation on the labelled pairs of suites/ and tests/data that the rules ask about; beliefs on
bench/statements.tsv. docs/explanation/embeddings.md shows what comes out.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy
from bench import measure
from numpy import float32
from numpy.typing import NDArray

from enfold.ports import Embedder

SUITES: Final = measure.ROOT / "src" / "enfold" / "suites"
DATA: Final = measure.ROOT / "tests" / "data"
STATEMENTS: Final = measure.ROOT / "bench" / "statements.tsv"

FLOORS: Final = [n / 100 for n in range(20, 95, 5)]

Rows = NDArray[float32]
Table = list[dict[str, object]]

CONFIRM: Final = 0.70
"""The cosine at which it was tried whether vectors confirm what a rule asks about."""


def spread(name: str, cosines: Sequence[float]) -> dict[str, object]:
    """One row of a table of distributions."""
    parts = numpy.quantile(numpy.asarray(cosines), [0.05, 0.25, 0.5, 0.75, 0.95, 0.99])
    titles = ("p5", "p25", "median", "p75", "p95", "p99")
    return {
        "what": name,
        "pairs": len(cosines),
        **{title: float(part) for title, part in zip(titles, parts, strict=True)},
    }


def share(cosines: Sequence[float], floor: float) -> float:
    """Which part lies at the floor or above."""
    return float((numpy.asarray(cosines) >= floor).mean())


# ---- anchors: a question and the names of a graph -----------------------------------------------

QUESTIONS: Final = (
    "what do we know about {}?",
    "who works on {}?",
    "when did we start to use {}?",
    "what did we decide about {} last week?",
    "is {} still broken?",
    "which projects depend on {}?",
    "{} status",
    "why did Ada move away from {}?",
)

PER_SPELLING: Final = 2
"""Questions for each spelling, taken in turn."""


@dataclass(frozen=True)
class Names:
    """A graph's names, and which of them are one thing."""

    title: str
    names: list[str]
    things: list[str]


def graphs() -> list[Names]:
    found = []
    for path in sorted(measure.ROOT.glob("examples/*/memory.jsonl")):
        records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        names = sorted({r["name"] for r in records if "observations" in r})
        found.append(Names(path.parent.name, names, names))
    carol = sorted({row["name"] for row in rows(DATA / "christmas_carol_names.csv")})
    found.append(Names("christmas_carol", carol, carol))
    clusters = rows(SUITES / "agent_names" / "clusters.csv")
    found.append(
        Names("agent_names", [r["name"] for r in clusters], [r["thing"] for r in clusters])
    )
    return found


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))


def written_otherwise(name: str, random: Random) -> str:
    """The name as somebody else would type it: in words, another case, a slip where it is long."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[-_/.:]+", " ", name).strip() or name
    words = words.lower() if words.lower() != name else words.title()
    places = [i for i in range(1, len(words) - 2) if words[i : i + 2].isalpha()]
    if len(words) < 8 or not places:
        return words
    at = random.choice(places)
    return words[:at] + words[at + 1] + words[at] + words[at + 2 :]


def anchors(model: Embedder) -> tuple[Table, Table, Table]:
    """Distributions, what each floor lets through, and the same for each graph at the model's."""
    written: list[float] = []
    otherwise: list[float] = []
    best_otherwise: list[float] = []
    other: list[float] = []
    asked = 0
    by_graph: Table = []
    for graph in graphs():
        questions, things = questions_on(graph)
        cosines = model.embed(questions) @ model.embed(graph.names).T
        same = numpy.array([[thing == one for one in graph.things] for thing, _ in things])
        exact = numpy.array([[name == one for one in graph.names] for _, name in things])
        parts = [cosines[exact], cosines[same & ~exact], cosines[~same]]
        best = [
            float(line[mask].max())
            for line, mask in zip(cosines, same & ~exact, strict=True)
            if mask.any()
        ]
        written += parts[0].tolist()
        otherwise += parts[1].tolist()
        best_otherwise += best
        other += parts[2].tolist()
        asked += len(questions)
        by_graph.append(
            {
                "graph": graph.title,
                "names": len(graph.names),
                "questions": len(questions),
                "as written": share(parts[0], model.anchor_floor) if parts[0].size else None,
                "otherwise": share(best, model.anchor_floor),
                "others per question": float((parts[2] >= model.anchor_floor).sum())
                / len(questions),
            }
        )
    distribution = [
        spread("the name, as written", written),
        spread("the thing's other spellings", otherwise),
        spread("... the nearest of them", best_otherwise),
        spread("names of other things", other),
    ]
    floors: Table = []
    for floor in FLOORS:
        right = sum(one >= floor for one in otherwise)
        wrong = sum(one >= floor for one in other)
        recall = right / len(otherwise)
        precision = right / (right + wrong) if right + wrong else None
        floors.append(
            {
                "floor": floor,
                "as written": share(written, floor),
                "otherwise: recall": recall,
                "precision": precision,
                "F2": 5 * precision * recall / (4 * precision + recall) if precision else None,
                "found at all": share(best_otherwise, floor),
                "others per question": wrong / asked,
            }
        )
    return distribution, floors, by_graph


def questions_on(graph: Names) -> tuple[list[str], list[tuple[str, str]]]:
    """Questions by every spelling, and for each the thing and the row that it names."""
    random = Random(graph.title)
    alone = len(set(graph.things)) == len(graph.things)
    questions, things = [], []
    turn = 0
    for name, thing in zip(graph.names, graph.things, strict=True):
        # Where each thing has one name, half of the questions write it otherwise.
        spellings = [(name, name)] + ([(written_otherwise(name, random), "")] if alone else [])
        for spelling, row in spellings:
            for _ in range(PER_SPELLING):
                questions.append(QUESTIONS[turn % len(QUESTIONS)].format(spelling))
                things.append((thing, row))
                turn += 1
    return questions, things


# ---- confirmation: what the rules ask about -----------------------------------------------------


def labelled() -> Iterator[tuple[str, str, str, str, str, bool]]:
    """Set, both names with their types, and whether they are one thing."""
    for row in rows(DATA / "pairs.tsv"):
        if row["verdict"] == "APART" or row["verdict"] == "FOLD":
            yield (
                "tests/data/pairs.tsv", row["left"], row["left_type"], row["right"],
                row["right_type"], row["verdict"] == "FOLD",
            )  # fmt: skip
    for row in rows(SUITES / "agent_names" / "pairs.csv"):
        yield (
            "agent_names", row["left"], row["left_type"], row["right"], row["right_type"],
            row["same"] == "1",
        )  # fmt: skip
    for row in rows(SUITES / "endoflife" / "pairs.csv"):
        yield "endoflife", row["name1"], "", row["name2"], "", row["label"] == "1"
    for row in rows(SUITES / "name_bench" / "cases.csv"):
        kind = row["schema"].lower()
        yield "name_bench", row["name1"], kind, row["name2"], kind, row["is_match"] == "true"
    for file in ("records.csv", "records_ghsuite.csv"):
        records = rows(SUITES / "er_kg_bench" / file)
        for at, left in enumerate(records):
            for right in records[at + 1 :]:
                yield (
                    f"er_kg_bench, {file}", left["mention"], left["entity_type"],
                    right["mention"], right["entity_type"],
                    left["entity_id"] == right["entity_id"],
                )  # fmt: skip


def confirmation(model: Embedder) -> tuple[Table, Table, Table, Table]:
    from enfold.model import Context, Verdict
    from enfold.names import Name
    from enfold.rules import rule_on

    seen: set[tuple[str, frozenset[str]]] = set()
    asked = []
    for title, left, left_type, right, right_type, one in labelled():
        if (title, frozenset((left, right))) in seen:
            continue
        seen.add((title, frozenset((left, right))))
        names = Name.of(left, left_type or None), Name.of(right, right_type or None)
        ruling = rule_on(*names, Context())
        if ruling.verdict is Verdict.ASK:
            asked.append((title, ruling.rule, left, right, one))
    spellings = sorted({name for _, _, left, right, _ in asked for name in (left, right)})
    place = {name: row for row, name in enumerate(spellings)}
    vectors = model.embed(spellings)
    cosines = [float(vectors[place[one[2]]] @ vectors[place[one[3]]]) for one in asked]
    true = [c for c, one in zip(cosines, asked, strict=True) if one[4]]
    false = [c for c, one in zip(cosines, asked, strict=True) if not one[4]]
    same = [one[4] for one in asked]
    random = Random(1)
    drawn = [random.sample(range(len(spellings)), 2) for _ in range(20_000)]
    distribution = [
        spread("asked about, one thing", true),
        spread("asked about, two things", false),
        spread("any two of these names", [float(vectors[a] @ vectors[b]) for a, b in drawn]),
        {
            "what": "nearer",
            "pairs": len(asked),
            "median": nearer(numpy.array(true), numpy.array(false)),
        },
    ]
    floors: Table = []
    for floor in [0.0, *FLOORS]:
        above, wrongly = sum(c >= floor for c in true), sum(c >= floor for c in false)
        below = len(true) - above, len(false) - wrongly
        floors.append(
            {
                "floor": floor,
                "confirmed": (above + wrongly) / len(asked),
                "right, of the confirmed": above / (above + wrongly) if above + wrongly else None,
                "right, of the rest": below[0] / sum(below) if sum(below) else None,
                "of the right, confirmed": above / len(true),
                "of the wrong, confirmed": wrongly / len(false),
            }
        )
    by_set, by_rule = (
        confirmed(CONFIRM, column, of, cosines, same)
        for column, of in (("set", [one[0] for one in asked]), ("rule", [one[1] for one in asked]))
    )
    return distribution, floors, by_set, by_rule


def confirmed(
    floor: float, column: str, of: Sequence[str], cosines: Sequence[float], same: Sequence[bool]
) -> Table:
    """What the floor does to the questions of each set or rule.

    ``nearer`` is how often a right question lies nearer than a wrong one: 0.5 says nothing.
    """
    found: Table = []
    for title in sorted(set(of)):
        at = [n for n, one in enumerate(of) if one == title]
        near = [same[n] for n in at if cosines[n] >= floor]
        rest = [same[n] for n in at if cosines[n] < floor]
        true, false = (
            numpy.array([cosines[n] for n in at if same[n] is is_]) for is_ in (True, False)
        )
        found.append(
            {
                column: title,
                "asked": len(at),
                "right": len(true) / len(at),
                "confirmed": len(near),
                "right, of the confirmed": sum(near) / len(near) if near else None,
                "right, of the rest": sum(rest) / len(rest) if rest else None,
                "nearer": nearer(true, false),
            }
        )
    return found


def nearer(true: Any, false: Any) -> float | None:
    if not (len(true) and len(false)):
        return None
    off = true[:, None] - false[None, :]
    return float((off > 0).mean() + (off == 0).mean() / 2)


# ---- beliefs: two statements --------------------------------------------------------------------


def beliefs(model: Embedder) -> tuple[Table, Table]:
    subjects = [list(row.values()) for row in rows(STATEMENTS)]
    kinds = ("said otherwise", "contradicted", "another fact")
    vectors = model.embed([text for subject in subjects for text in subject])
    width = len(subjects[0])
    cosines = vectors @ vectors.T
    about = {
        kind: [float(cosines[at, at + n]) for at in range(0, len(vectors), width)]
        for n, kind in enumerate(kinds, 1)
    }
    subject_of = numpy.arange(len(vectors)) // width
    later = numpy.triu(numpy.ones_like(cosines, dtype=bool), 1)
    other = cosines[later & (subject_of[:, None] != subject_of[None, :])].tolist()
    distribution = [spread(kind, found) for kind, found in about.items()]
    distribution.append(spread("another subject", other))
    floors: Table = [
        {
            "floor": floor,
            **{kind: share(found, floor) for kind, found in about.items()},
            "another subject": share(other, floor),
            "of those, in 1,000 memories": 1_000 * share(other, floor),
        }
        for floor in FLOORS
    ]
    return distribution, floors


# ---- what vectors can't tell --------------------------------------------------------------------

CANT_TELL: Final = (
    ("Opus 4.8", "Opus 4.7"),
    ("Postgres 15", "Postgres 16"),
    ("Python 3.11", "Python 3.12"),
    ("output parser", "input parser"),
    (".next", "Next"),
    ("C#", "C++"),
    ("Deploys need two approvals.", "Deploys need no approvals."),
    ("Ada manages Grace.", "Grace manages Ada."),
)

DO_TELL: Final = (
    ("Postgres", "PostgreSQL"),
    ("K8s", "Kubernetes"),
    ("Bob", "Robert"),
    ("JS", "JavaScript"),
    ("Munich", "München"),
    ("東京", "Tokyo"),
)


def known_pairs(model: Embedder) -> Table:
    found: Table = []
    for same, pairs in ((False, CANT_TELL), (True, DO_TELL)):
        for left, right in pairs:
            one, two = model.embed([left, right])
            found.append(
                {"left": left, "right": right, "same": "yes" if same else "no",
                 "cosine": float(one @ two)}
            )  # fmt: skip
    return found


# ---- speed, and that the batch does not matter --------------------------------------------------


def texts_of_examples() -> tuple[list[str], list[str]]:
    names, texts = [], []
    for path in sorted(measure.ROOT.glob("examples/*/memory.jsonl")):
        for record in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            if "observations" in record:
                names.append(record["name"])
                texts += record["observations"]
    return names, texts


def speed(model: Embedder) -> Table:
    start = time.perf_counter()
    model.embed(["warm"])
    first = time.perf_counter() - start
    names, texts = texts_of_examples()
    names = sorted({*names, *(row["name"] for row in rows(DATA / "christmas_carol_names.csv"))})
    pages = [" ".join(texts[at : at + 40]) for at in range(0, len(texts), 40)]
    done: Table = [{"what": "the first text, loading", "texts": 1, "s": first}]
    kinds = (("names", names), ("sentences", texts), ("pages of 256 tokens", pages))
    for what, given in kinds:
        seconds = best_of(3, partial(model.embed, given))
        done.append(
            {"what": what, "texts": len(given), "s": seconds, "texts/s": len(given) / seconds}
        )
    alone = best_of(3, lambda: [model.embed([text]) for text in texts[:100]]) / 100
    done.append({"what": "a sentence alone", "texts": 1, "s": alone, "texts/s": 1 / alone})
    return done


def best_of(times: int, work: Callable[[], object]) -> float:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def mates(model: Embedder) -> Table:
    """A text's vector alone, beside its vector among others."""
    names, texts = texts_of_examples()
    given = [*names, *texts[:300], " ".join(texts)]
    together = model.embed(given)
    alone = numpy.concatenate([model.embed([text]) for text in given])
    shuffled = list(range(len(given)))
    Random(1).shuffle(shuffled)
    again = model.embed([given[at] for at in shuffled])
    cosines = (together * alone).sum(axis=1)
    return [
        {
            "texts": len(given),
            "lowest cosine, alone": float(cosines.min()),
            "largest difference, alone": f"{numpy.abs(together - alone).max():.1e}",
            "..., in another order": f"{numpy.abs(together[shuffled] - again).max():.1e}",
        }
    ]


# ---- the shipped file against the weights it was made from --------------------------------------


class Original:
    """The model by hand, from its published weights of 32 bits: nothing of the shipped file is used
    but the tokenizer."""

    HEADS: Final = 12
    LAYERS: Final = 6

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        head = int.from_bytes(data[:8], "little")
        self._weights = {
            name: numpy.frombuffer(
                data, "<f4", math.prod(about["shape"]), 8 + head + about["data_offsets"][0]
            ).reshape(about["shape"])
            for name, about in json.loads(data[8 : 8 + head]).items()
            if name != "__metadata__" and about["dtype"] == "F32"
        }

    def vector(self, tokens: Sequence[int]) -> Rows:
        weights = self._weights
        word, place, kind = (
            weights[f"embeddings.{name}_embeddings.weight"]
            for name in ("word", "position", "token_type")
        )
        states = self._norm("embeddings", word[list(tokens)] + place[: len(tokens)] + kind[0])
        for layer in range(self.LAYERS):
            name = f"encoder.layer.{layer}"
            seen = self._linear(f"{name}.attention.output.dense", self._attend(name, states))
            states = self._norm(f"{name}.attention.output", states + seen)
            wide = self._linear(f"{name}.intermediate.dense", states)
            bent = wide * 0.5 * (1 + _erf(wide / math.sqrt(2)))
            states = self._norm(
                f"{name}.output", states + self._linear(f"{name}.output.dense", bent)
            )
        mean = states.mean(axis=0)
        unit: Rows = (mean / numpy.linalg.norm(mean)).astype(float32)
        return unit

    def _attend(self, name: str, states: Any) -> Any:
        query, key, value = (
            self._linear(f"{name}.attention.self.{part}", states)
            .reshape(len(states), self.HEADS, -1)
            .transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
        shares = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        return (shares @ value).transpose(1, 0, 2).reshape(states.shape)

    def _linear(self, name: str, states: Any) -> Any:
        return states @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _norm(self, name: str, states: Any) -> Any:
        centred = states - states.mean(axis=-1, keepdims=True)
        scaled = centred / numpy.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        return (
            scaled * self._weights[f"{name}.LayerNorm.weight"]
            + self._weights[f"{name}.LayerNorm.bias"]
        )


def _erf(values: Any) -> Any:
    """The error function, off by less than 1e-7."""
    return numpy.interp(values, _PLACES, _AT_PLACES)


_PLACES: Final = numpy.linspace(-5, 5, 20_001)
_AT_PLACES: Final = [math.erf(place) for place in _PLACES]


def against_original(path: Path) -> Table:
    from tokenizers import Tokenizer

    from enfold.models import minilm

    tokenizer = Tokenizer.from_file(str(minilm.TOKENIZER))
    tokenizer.no_padding()
    tokenizer.enable_truncation(minilm.MOST_TOKENS)
    original, shipped = Original(path), minilm.MiniLm()
    names, texts = texts_of_examples()
    scripts = ["東京", "Владимир Путин", "C++", "", "München über alles", "🚀", "x" * 300]
    pages = [" ".join(texts[at : at + 40]) for at in range(0, 320, 40)]
    statements = [text for row in rows(STATEMENTS) for text in row.values()]
    found: Table = []
    kinds = (
        ("names", names), ("sentences", texts[:200]), ("statements", statements),
        ("other scripts and signs", scripts), ("pages of 256 tokens", pages),
    )  # fmt: skip
    for what, given in kinds:
        ours = shipped.embed(given)
        theirs = numpy.stack([original.vector(tokenizer.encode(text).ids) for text in given])
        cosines = (ours * theirs).sum(axis=1)
        off = numpy.abs(ours @ ours.T - theirs @ theirs.T)
        found.append(
            {
                "what": what,
                "texts": len(given),
                "mean cosine": f"{cosines.mean():.5f}",
                "lowest": f"{cosines.min():.5f}",
                "a pair's cosine is off by, at most": f"{off.max():.4f}",
            }
        )
    return found


# ---- the command --------------------------------------------------------------------------------


def titled(what: str, tables: Sequence[Table], *ways: str) -> dict[str, Table]:
    return {f"{what}{way}": table for way, table in zip(("", *ways), tables, strict=True)}


def _anchors(model: Embedder) -> dict[str, Table]:
    at = f", at {model.anchor_floor:.2f}"
    return titled("anchors: a question and a name", anchors(model), ", by floor", at)


def _confirmation(model: Embedder) -> dict[str, Table]:
    at = f", at {CONFIRM:.2f}"
    ways = ", by floor", f"{at}, by set", f"{at}, by rule"
    return titled("confirmation: two names that a rule asks about", confirmation(model), *ways)


PARTS: Final[dict[str, Callable[[Embedder], dict[str, Table]]]] = {
    "speed": lambda model: {"speed": speed(model)},
    "batches": lambda model: {"a text alone and among others": mates(model)},
    "anchors": _anchors,
    "confirmation": _confirmation,
    "beliefs": lambda model: titled("beliefs: two statements", beliefs(model), ", by floor"),
    "pairs": lambda model: {"pairs to know": known_pairs(model)},
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--url", default="")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas between")
    parser.add_argument("--weights", type=Path, help="model.safetensors of all-MiniLM-L6-v2")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()

    from enfold.models import embedding

    model = embedding.embedder(args.model, args.url, os.environ.get("ENFOLD_EMBEDDER_KEY", ""))
    if model is None:
        parser.error("there is nothing to measure where the embedder is off")
    parts: dict[str, Table] = {}
    if args.weights:
        parts["the shipped file against the weights of 32 bits"] = against_original(args.weights)
    else:
        for part in args.only.split(","):
            parts |= PARTS[part](model)
    head = f"{model.model}, {model.dimensions} dimensions; {measure.machine()}"
    if args.json:
        measure.print_json(head, **parts)
        return
    print(head)
    for title, table in parts.items():
        print(f"\n{title}\n\n{measure.table(table)}")


if __name__ == "__main__":
    main()
