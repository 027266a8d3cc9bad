from __future__ import annotations

import hashlib
import itertools
import json

import pytest
from bench import extraction as labelled
from hypothesis import given, settings
from hypothesis import strategies as st

import enfold
from enfold.model import Extracted, NameInText, Term
from enfold.models.extraction import OfflineExtractor
from enfold.models.extraction import prose as prose_of
from enfold.models.extraction.marks import marks
from enfold.ports import Extractor

EXTRACTOR: Extractor = OfflineExtractor()

with enfold.open(":memory:") as _graph:
    TERMS = _graph.vocabulary()


def read(text: str, *known: str, terms: list[Term] | None = None) -> Extracted:
    names = [NameInText(one) for one in known]
    (found,) = EXTRACTOR.extract([text], [names], TERMS if terms is None else terms)
    return found


def names(text: str, *known: str) -> list[str]:
    return [name.spelling for name in read(text, *known).names]


def types(text: str) -> dict[str, str | None]:
    return {name.spelling: name.type for name in read(text).names}


def facts(text: str, *known: str) -> set[tuple[str, str, str]]:
    return {(r.subject, r.predicate, r.object) for r in read(text, *known).relations}


# ---- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ada moved the ingest worker to Postgres 15.", ["Ada", "Postgres 15"]),
        ("we run Claude Opus 4.8 and gpt-4o-mini here", ["Claude Opus 4.8", "gpt-4o-mini"]),
        ("it is `GPT-4.1` and `GPT-4`", ["GPT-4.1", "GPT-4"]),
        ("in `C#`, `C++`, `F#` and `.NET`", ["C#", "C++", "F#", ".NET"]),
        ("set `API_KEY` and `HTTP`, not `X`", []),
        ("the `foo\u200bbar_baz` and `load\u200b_data()` and `Open\u200bAI API` fail", []),
        ("it renders with `TemplateEngine` from `jinja2`", ["TemplateEngine", "jinja2"]),
        (
            "the userId and user_name of the billing-service",
            ["userId", "user_name", "billing-service"],
        ),
        ("look at src/app/main.py and ~/.ssh/config", ["src/app/main.py", "~/.ssh/config"]),
        ("it needs @scope/name and pkg==1.2", ["@scope/name", "pkg==1.2"]),
        ("see ENG-1234, ask @ada", ["ENG-1234", "@ada"]),
        ("we met Dr. Chen and Prof. Ada Lovelace", ["Dr. Chen", "Ada Lovelace"]),
        ("they moved it to AWS", ["AWS"]),
        ("he works at the Bank of England", ["Bank of England"]),
        ("a talk by Ludwig van Beethoven", ["Ludwig van Beethoven"]),
        ("they bought Acme Inc. in spring", ["Acme Inc."]),
        ('the project "Nightjar" starts', ["Nightjar"]),
        ("it is written in C++ and C#", ["C++", "C#"]),
        ("the Payments team owns it", ["Payments team"]),
        ("an iPhone 15 Pro Max and a Sony WH-1000XM5", ["iPhone 15 Pro Max", "Sony WH-1000XM5"]),
        ("we serve Llama-3.1-8B with GPT-4 Turbo", ["Llama-3.1-8B", "GPT-4 Turbo"]),
    ],
)
def test_what_a_text_marks_as_a_name_is_found(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n\t ",
        "I said so on Monday, 4 March, and again in May.",
        "Everyone agreed.",
        "The German version is well-known and up-to-date.",
        "WARNING: DO NOT RESTART THE SERVER",
        "Please do NOT do that, it is VERY slow.",
        "see https://example.com/Search?Query=Ada&Name=Grace for more",
        "write to ada.lovelace@example.com",
        "call `git push --force` first",
        "```python\nfrom Foo import BarBaz\nAda = 1\n```",
        "```\nAda Lovelace\n",
        "## Getting Started With The Guide",
        "it is so.\n\n# Quarterly Harvest\n\nand so on",
        "All Rights Reserved.",
        "Figure 2 and Step 1 take 200ms at p95",
        "<div class='Card'><br/></div>",
        "the CEO sent a PDF about the API",
        "他在读书",
        "データとサーバー",
        "「はい」と言った。",
        '"Yes," she said, "and no."',
        "[(<{\"'`“”",
    ],
)
def test_what_marks_nothing_gives_nothing(text: str) -> None:
    assert names(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Grace works on it.", True),
        ("Grace's birthday is near.", True),
        ("Grace, who left, was right.", True),
        ("Grace and Linus agreed.", True),
        ("Grace. We asked Grace.", True),
        ("Grace helps.", False),
        ("Deployment works on Linux.", False),
        ("Migrations were run.", False),
        ("Users said so.", False),
    ],
)
def test_a_word_at_the_start_of_a_sentence_needs_more_than_its_capital(
    text: str, found: bool
) -> None:
    first = text.split(maxsplit=1)[0].strip(".,").removesuffix("'s")
    assert (first in names(text)) is found


def test_a_word_that_is_known_is_a_name_at_the_start_of_a_sentence() -> None:
    assert names("Grace helps.", "Grace Hopper") == ["Grace"]


def test_a_known_name_is_not_given_back() -> None:
    assert names("we met Ada Lovelace", "Ada Lovelace") == []
    assert names("we met Ada Lovelace", "Ada") == ["Ada Lovelace"]
    assert names("the Falcon project", "Falcon project") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("вчера Ольга Иванова приехала", ["Ольга Иванова"]),
        ("συνάντησα την Μαρία χθες", ["Μαρία"]),
        ("她在读《三体》。", ["三体"]),
        ("新しい「かぐや」を使う", ["かぐや"]),
        ("我们迁移到Postgres 15了", ["Postgres 15"]),
        ("نستخدم PostgreSQL في «النخيل»", ["PostgreSQL", "النخيل"]),
        ("昨日クロードを使った", ["クロード"]),
    ],
)
def test_other_scripts_are_read_by_their_own_marks(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_german_nouns_are_no_names_for_their_capitals() -> None:
    assert names("Wir haben den Server und die Datenbank nach dem Ausfall geprüft.") == []


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("we met Ms. Dubois", "person"),
        ("my sister Clara is here", "person"),
        ("they bought Acme GmbH", "organization"),
        ("we run Postgres 15", "technology"),
        ("it needs @scope/name", "technology"),
        ("we start Project Owl", "project"),
        ("he ran the Berlin Marathon", "event"),
        ("along the Baker Street", "place"),
        ("we saw Olga", "person"),
    ],
)
def test_a_type_is_given_where_the_text_says_it(text: str, type: str | None) -> None:
    assert list(types(text).values()) == [type]


def test_a_verb_says_the_types_of_its_sides() -> None:
    said = types("Olga Ivanova works at Yandex and lives in Kazan.")
    assert said == {"Olga Ivanova": "person", "Yandex": "organization", "Kazan": "place"}


def test_terms_that_are_turned_off_are_not_used() -> None:
    off = [Term(t.kind, t.name, t.description, t.name not in ("person", "uses")) for t in TERMS]
    found = read("we met Dr. Chen. Django uses Jinja.", terms=off)
    assert [name.type for name in found.names] == [None, None, None]
    assert found.relations == ()
    assert read("Django uses Jinja.", terms=[]).relations == ()


# ---- relations -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ada works on Odin.", {("Ada", "works_on", "Odin")}),
        ("Odin uses Kafka and Redis.", {("Odin", "uses", "Kafka"), ("Odin", "uses", "Redis")}),
        ("Odin is part of Valhalla.", {("Odin", "part_of", "Valhalla")}),
        ("Odin depends on Kafka.", {("Odin", "depends_on", "Kafka")}),
        ("Odin was created by Ada.", {("Odin", "created_by", "Ada")}),
        ("Ada wrote Odin.", {("Odin", "created_by", "Ada")}),
        ("Kafka is used by Odin.", {("Odin", "uses", "Kafka")}),
        ("Ada Lovelace lives in London.", {("Ada Lovelace", "located_in", "London")}),
        ("Acme Inc. is based in Berlin.", {("Acme Inc.", "located_in", "Berlin")}),
        ("Ada attended PyCon.", {("Ada", "attended", "PyCon")}),
        ("Ada joined Acme.", {("Ada", "works_at", "Acme")}),
        (
            "Ada and Grace work on Odin.",
            {("Ada", "works_on", "Odin"), ("Grace", "works_on", "Odin")},
        ),
        (
            "Ada works at Acme and lives in York.",
            {("Ada", "works_at", "Acme"), ("Ada", "located_in", "York")},
        ),
        ("Odin, which uses Kafka, is fast.", {("Odin", "uses", "Kafka")}),
        ("My sister Clara lives in Porto.", {("Clara", "located_in", "Porto")}),
    ],
)
def test_a_plain_statement_is_a_relation(text: str, expected: set[tuple[str, str, str]]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Ada moved the ingest worker to Postgres 15.",
        "Odin does not use Kafka.",
        "Odin no longer uses Kafka.",
        "Neither Ada nor Grace works on Odin.",
        "Does Odin use Kafka?",
        "Odin uses Kafka, right?",
        "If Odin uses Kafka, we stop.",
        "We stop unless Odin uses Kafka.",
        "Odin might use Kafka.",
        "Odin will be part of Valhalla.",
        "I think Ada works on Odin.",
        "They say that Ada lives in Oslo.",
        "According to Grace, Odin uses Kafka.",
        "Ada used to work at Acme.",
        "Ada worked at Acme.",
        "Ada worked at Acme until March.",
        "Ada lived in Oslo.",
        "Ada's laptop uses Linux.",
        "The client of Ada uses Salesforce.",
        "The library that Ada uses is Polars.",
        "Odin is built by Ada's company.",
        "Ada wrote the importer for Odin.",
        "The old Parser is deprecated, use Reader instead.",
        "It is not true that Odin uses Kafka.",
    ],
)
def test_what_is_not_stated_as_so_now_is_no_relation(text: str) -> None:
    assert facts(text) == set()


def test_known_names_are_ends_of_relations() -> None:
    text = "The ingest worker uses libpq."
    assert facts(text, "ingest worker", "libpq") == {("ingest worker", "uses", "libpq")}


def test_a_list_too_long_for_a_sentence_states_nothing() -> None:
    many = ", ".join(f"Tool{n}Name" for n in range(30))
    assert facts(f"Odin uses {many}.") == set()


# ---- any input -----------------------------------------------------------------------------------


@given(st.text(max_size=300), st.lists(st.text(max_size=10), max_size=4))
@settings(deadline=None, max_examples=300)
def test_any_text_gives_slices_of_itself_each_once(text: str, known: list[str]) -> None:
    found = read(text, *known)
    spelled = [name.spelling for name in found.names]
    assert len(set(spelled)) == len(spelled)
    assert all(one and one in text for one in spelled)
    assert all(0 < name.confidence <= 1 for name in found.names)
    for relation in found.relations:
        assert {relation.subject, relation.object} <= {*spelled, *known}


PIECES = (
    "Ada Grace uses works on is part of Postgres 15 . , ; : ? ! \" “ ” « » ` ``` ' ( ) [ ] < > "
    "</b> <b> \n # | - — @ab a/b x_y x-y 3.1 「 」 東 ア \u202e \x00 \x07 and The the Dr. Inc. "
    "AWS NOT"
).split(" ")


@given(st.lists(st.sampled_from(PIECES), max_size=40), st.sampled_from(["", " "]))
@settings(deadline=None, max_examples=300)
def test_pieces_of_marks_in_any_order_give_slices(pieces: list[str], blank: str) -> None:
    text = blank.join(pieces)
    plain = prose_of.prose(text)
    assert len(plain) == len(text)
    places = marks(plain)
    assert all(one.end <= other.start for one, other in itertools.pairwise(places))
    spelled = [name.spelling for name in read(text, "Ada").names]
    assert all(one in text and one == one.strip() for one in spelled)


UNITS = [
    "[(<{", "<a ", "<!--", "\"“„«‘'", "`a", "```\n", "](a", "Ab ", "ABC ", "A. ", "\n",
    "\n A", " ", ". ", "a", "_a", "a-", "@a", "/a", "a.b+c@", "http://", "&a;", "Ada and ",
    "Ada, ", "Bank of ", "Ada uses Bob ", "Ada uses Bob. ", "漢字", "カタ・", "「", "《a",
    "\u202eAb\u202c ", "\x01\x00A", "é́", "𝔄", "Ada's ", "1 ", "x\ue000y ",
]  # fmt: skip


@pytest.mark.timeout(60)
@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_the_same_mark_over_and_over_takes_no_more_than_its_length(unit: str) -> None:
    # A pattern that goes back and forth would need hours for this, not a second.
    found = read(unit * (200_000 // len(unit)))
    assert len(found.names) < 10


def test_ten_million_characters_of_brackets_quotes_and_capitals_are_read() -> None:
    text = "[(<{" * 1_500_000 + "\"“«'`" * 600_000 + "Xy " * 350_000 + " we met Ada Lovelace"
    assert len(text) > 10_000_000
    assert "Ada Lovelace" in names(text)


def test_ten_thousand_names_in_one_text_are_found() -> None:
    text = ", ".join(f"we met Ada Number{n}Name" for n in range(10_000))
    known = [f"Known{n}" for n in range(10_000)]
    assert len(names(text, *known)) == 10_000


def test_control_and_direction_characters_are_in_no_name() -> None:
    found = names("we met \u202eAda\u202c and \x07Grace\x00 Hopper")
    assert found == ["Ada", "Grace", "Hopper"]


# ---- the labelled set ----------------------------------------------------------------------------


def test_the_labels_are_those_that_were_written_before_the_extractor_was_run() -> None:
    digest = hashlib.sha256(labelled.LABELLED.read_bytes()).hexdigest()
    assert digest == "394ed86b611c6c87a0f8dc28a6729013d40bcccfb6764cda0899e43ca370ea25"


def test_every_label_stands_in_its_sentence() -> None:
    rows = [json.loads(line) for line in labelled.LABELLED.read_text("utf-8").splitlines()]
    assert len({row["text"] for row in rows}) == len(rows) == 230
    kinds = {(term.kind, term.name) for term in TERMS}
    for row in rows:
        spelled = {name["spelling"] for name in row["names"]} | set(row.get("known", ()))
        assert all(one in row["text"] for one in spelled), row["id"]
        assert all(("type", t) in kinds for name in row["names"] for t in name["types"])
        for one, predicate, other in row["relations"]:
            assert {one, other} <= spelled, row["id"]
            assert ("predicate", predicate) in kinds


@pytest.mark.parametrize("split", labelled.SPLITS)
def test_what_is_found_of_the_labelled_set_is_nearly_always_right(split: str) -> None:
    rows = [row for row in labelled.labelled() if row.split == split]
    scores = labelled.score(rows, labelled.offline()(rows))
    for part in (scores.names, scores.types, scores.relations):
        assert part.precision is not None
        assert part.precision >= 0.95
    assert scores.names.recall is not None
    assert scores.names.recall >= 0.9
