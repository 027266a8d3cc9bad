"""The candidates are complete: what ruling all against all would propose is found."""

from __future__ import annotations

import csv
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import enfold
from enfold import pairs, rules
from enfold.errors import Invalid
from enfold.model import Context, Ruling, Verdict
from enfold.names import Name
from tests.told import told

HERE = Path(__file__).parent
CONTEXT = Context()
BLOCKS = pairs.blocking(rules.RULES)

Pair = tuple[int, int]


def all_against_all(names: Sequence[Name]) -> dict[Pair, str]:
    """Every pair that some rule would fold or ask about, with the rule."""
    found = {}
    for (i, left), (j, right) in combinations(enumerate(names), 2):
        ruling = rules.rule_on(left, right, CONTEXT)
        if ruling.verdict is not Verdict.APART and left.letters:  # else one row by its key
            found[i, j] = ruling.rule
    return found


def by_keys(names: Sequence[Name]) -> set[Pair]:
    """What the keys and the deletions propose: the definition that engines must meet."""
    offered: dict[int, set[int]] = defaultdict(set)
    left: dict[str, set[int]] = defaultdict(set)
    found: set[Pair] = set()
    for at, name in enumerate(names):
        for key in pairs.offers(name, BLOCKS):
            offered[key].add(at)
        for form in pairs.edit_forms(name):
            for rest in pairs.deletions(form):
                left[rest].add(at)
    for at, name in enumerate(names):
        for key in pairs.seeks(name, BLOCKS):
            found.update((min(at, o), max(at, o)) for o in offered[key] if o != at)
    for group in left.values():
        found.update(combinations(sorted(group), 2))
    return found


def by_index(names: Sequence[Name]) -> set[Pair]:
    """What an index that grows by a name at a time proposes."""
    index: dict[int, set[int]] = defaultdict(set)
    found: set[Pair] = set()
    for at, name in enumerate(names):
        for key in pairs.probe_keys(name, BLOCKS):
            found.update((other, at) for other in index[key])
        for key in pairs.index_keys(name, BLOCKS):
            index[key].add(at)
    return found


def missed(names: Sequence[Name], found: set[Pair]) -> list[tuple[str, str, str]]:
    return [
        (names[i].spelling, names[j].spelling, rule)
        for (i, j), rule in all_against_all(names).items()
        if (i, j) not in found
    ]


WORDS = (
    "ada lovelace king j k john smith smyth dr mr mrs postgres postgresql data store model context "
    "protocol mcp k8s kubernetes 15 4.8 4o ii iii the of university oxford next .next node js corp "
    "corporation inc ltd c# c++ müller muller josé 東京 特朗普 총리 김민수 соколов артём i18n opus "
    "claude code sdk aaa aab SQL Sql "
    "first 1st one twenty forty-four 44 univ and & intl st matching match matches parser parsing "
    "apache google kafka framework server (country) republic , prague praga vienna wien UN U.N. "
    "united nations organization m² pro mini lts @sam-w @sam_w @babel/core babel-core "
    "@babel/core.js babel-core.js gmbh oao "
    "crystalord cristalord limited"
).split()


def mangled(spelling: str, draw: random.Random) -> str:
    """The spelling after an edit or two, as a hand makes them."""
    letters = list(spelling)
    for _ in range(draw.choice((0, 1, 1, 2))):
        at = draw.randrange(len(letters) + 1)
        what = draw.choice(("insert", "drop", "swap", "replace"))
        if what == "insert":
            letters.insert(at, draw.choice("abe -.é1"))
        elif what == "drop" and len(letters) > 1:
            letters.pop(min(at, len(letters) - 1))
        elif what == "swap" and 0 < at < len(letters):
            letters[at - 1], letters[at] = letters[at], letters[at - 1]
        elif at < len(letters):
            letters[at] = draw.choice("abeо漢2")
    return "".join(letters)


@st.composite
def graphs_of_names(draw: st.DrawFn) -> list[Name]:
    seed = random.Random(draw(st.integers(0, 2**32)))
    found: list[Name] = []
    for _ in range(draw(st.integers(2, 40))):
        if found and seed.random() < 0.5:
            spelling = mangled(seed.choice(found).spelling, seed)
        else:
            spelling = seed.choice((" ", "-", "", "_")).join(
                seed.choice(WORDS) for _ in range(seed.randint(1, 4))
            )
        try:
            kind = seed.choice((None, "person", "person", "tool", "place"))
            found.append(Name.of(spelling, kind))
        except Invalid:
            continue
    return found


@given(graphs_of_names())
@settings(max_examples=300, deadline=None)
def test_on_random_names_no_pair_that_a_rule_proposes_is_missed(names: list[Name]) -> None:
    assert missed(names, by_keys(names)) == []
    assert missed(names, by_index(names)) == []


@given(st.lists(st.text("abcd", min_size=4, max_size=14), min_size=2, max_size=60, unique=True))
@settings(max_examples=200, deadline=None)
def test_on_words_of_few_letters_no_misspelling_is_missed(words: list[str]) -> None:
    names = [Name.of(word) for word in words]
    assert missed(names, by_keys(names)) == []
    assert missed(names, by_index(names)) == []


@given(st.text("ab", min_size=28, max_size=38), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_on_long_names_no_misspelling_is_missed(word: str, draw: random.Random) -> None:
    names = [Name.of(word), *(Name.of(mangled(word, draw) or "a") for _ in range(12))]
    assert missed(names, by_keys(names)) == []
    assert missed(names, by_index(names)) == []


def real_names() -> list[Name]:
    found: dict[tuple[str, str | None], Name] = {}
    for path in sorted(HERE.parent.glob("examples/*/memory.jsonl")):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            if "name" in row:
                found[row["name"], row["entityType"]] = Name.of(row["name"], row["entityType"])
    for path in sorted((HERE / "data").glob("*.csv")):
        for row in csv.DictReader(path.read_text().splitlines()):
            name, kind = row.get("name") or row.get("title"), row.get("type")
            if name:
                found[name, kind] = Name.of(name, kind)
    return list(found.values())


def test_on_real_names_no_pair_that_a_rule_proposes_is_missed() -> None:
    names = real_names()
    assert len(names) > 150
    assert missed(names, by_keys(names)) == []
    assert missed(names, by_index(names)) == []


def test_a_rule_without_keys_is_refused() -> None:
    rule = rules.Rule("rhymes", Verdict.ASK, lambda *_: None, "They rhyme.", "a graph of its own")
    with pytest.raises(Invalid, match="rhymes"):
        pairs.blocking((*rules.RULES, rule))


def _rhyme(left: Name, right: Name, _: Context) -> Ruling | None:
    if left.letters[-3:] != right.letters[-3:]:
        return None
    return Ruling(Verdict.ASK, "rhyme", 0.1, "They rhyme.")


def _ending(name: Name) -> tuple[str]:
    return (f"rhyme {name.letters[-3:]}",)


@pytest.fixture
def rhyming() -> Iterator[str]:
    rule = rules.Rule("rhyme", Verdict.ASK, _rhyme, "They end alike.", "A graph of its own.")
    pairs.register("poetry", (*rules.RULES, rule), {"rhyme": pairs.Blocking(_ending, _ending)})
    yield "poetry"
    del rules.RULE_SETS["poetry"], pairs.BLOCKING["rhyme"], pairs.REGISTERED["poetry"]


def test_a_graph_uses_rules_of_its_own(rhyming: str) -> None:
    with enfold.open(":memory:") as graph:
        told(graph, "A rose.", mentions=["Bellows", "Gallows", "Rose"])
        assert graph.resolve().queued == 0
        assert graph.resolve(rule_set=rhyming).queued == 1
        told(graph, "More.", mentions=["Fellows"])
        assert graph.resolve().queued == 2
        assert graph.explain("Bellows", "Gallows").ruling.rule == "rhyme"


@pytest.mark.parametrize("name", ["default", "strict"])
def test_built_in_rules_can_not_be_replaced(name: str) -> None:
    with pytest.raises(Invalid, match=name):
        pairs.register(name, rules.RULES)
    with pytest.raises(Invalid, match="spelling"):
        pairs.register("mine", rules.RULES, {"spelling": pairs.Blocking(_ending, _ending)})


def test_full_names_of_one_surname_do_not_meet() -> None:
    firsts = ("Josephine", "Jeremiah", "Jacqueline", "Julius", "Jonathan")
    names = [Name.of(f"{first} Smith", "person") for first in firsts]
    assert by_keys(names) == set()
