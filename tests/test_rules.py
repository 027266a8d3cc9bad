"""Rules are a table; so is their test."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enfold.errors import Invalid
from enfold.model import Context, Verdict
from enfold.names import Name
from enfold.rules import (
    RULE_SETS,
    RULES,
    alone_among,
    common_among,
    edits,
    explain,
    note_initials,
    rule_on,
    tolerance,
)
from tests.test_pairs import graphs_of_names

DATA = Path(__file__).parent / "data"
CONTEXT = Context()


def rows() -> list[dict[str, str]]:
    text = (DATA / "pairs.tsv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


def names(row: dict[str, str]) -> tuple[Name, Name]:
    return Name.of(row["left"], row["left_type"]), Name.of(row["right"], row["right_type"])


@pytest.mark.parametrize("row", rows(), ids=lambda row: " | ".join(list(row.values())[:4]))
def test_each_labelled_pair_is_ruled_as_labelled_from_either_side(row: dict[str, str]) -> None:
    left, right = names(row)
    for ruling in (rule_on(left, right, CONTEXT), rule_on(right, left, CONTEXT)):
        assert ruling.verdict == row["verdict"]
        assert ruling.reason
        if ruling.verdict is not Verdict.APART:  # of vetoes, one is as good as another
            assert ruling.rule == row["rule"]


FURTHER = [
    # numbers
    ("Samsung S9", None, "Samsung S9+", None, "APART", "version"),
    ("GBJ57-83", None, "GBJ57—83", None, "FOLD", "identical"),
    ("Python 3.11", None, "Python 311", None, "APART", "version"),
    ("10,000 Maniacs", None, "10000 Maniacs", None, "FOLD", "identical"),
    ("ASR1603", None, "ASR1605", None, "APART", "version"),
    ("Series A", None, "Series B", None, "APART", "version"),
    ("7zip", None, "7-Zip", None, "FOLD", "identical"),
    ("Windows Server 2012R2", None, "Windows Server 2012 R2", None, "FOLD", "identical"),
    ("The 2nd Edition", None, "The 2 Edition Press", None, "APART", "none"),
    ("power.c", None, "power.h", None, "APART", "extension"),
    ("index.js", "file", "index.ts", "file", "APART", "extension"),
    ("§4 Format", None, "§5 Format", None, "APART", "version"),
    # symbols and punctuation
    ("Disney+", None, "Disney", None, "ASK", "symbol"),
    ("Notepad ++", None, "Notepad", None, "ASK", "symbol"),
    ("A$AP Rocky", None, "AAP Rocky", None, "ASK", "symbol"),
    ("Nidoran♀", None, "Nidoran♂", None, "APART", "symbol"),
    ("A → B path", None, "A ← B path", None, "APART", "symbol"),
    ("PR #12", None, "PR 12", None, "FOLD", "identical"),
    ("“Claude Code”", None, "Claude Code", None, "FOLD", "identical"),
    ("(中国) 银行", None, "（中国）银行", None, "FOLD", "identical"),
    ("GB／T 1", None, "GB/T 1", None, "FOLD", "identical"),
    ("--force", None, "force", None, "ASK", "punctuation"),
    ("$ref", None, "ref", None, "ASK", "punctuation"),
    ("Coca-Cola™", None, "coca cola", None, "FOLD", "identical"),
    ("O'Brien", None, "OBrien", None, "FOLD", "identical"),
    ("ada@lovelace.com", None, "adalovelace.com", None, "ASK", "symbol"),
    ("Grade A−", None, "Grade A", None, "ASK", "symbol"),
    ("Type O-", None, "Type O+", None, "APART", "symbol"),
    ("Type AB-", None, "Type AB", None, "ASK", "symbol"),
    ("MERCURY-", None, "Mercury", None, "FOLD", "identical"),
    ("GPT−4", None, "GPT-4", None, "FOLD", "identical"),
    ("a ∩ b set", None, "a ∪ b set", None, "APART", "symbol"),
    ("Plank 5'", None, 'Plank 5"', None, "APART", "symbol"),
    ('Vinyl 12"', None, "Vinyl 12", None, "ASK", "symbol"),
    ('"Track 12"', None, "Track 12", None, "FOLD", "identical"),
    ("the 90's", None, "the 90s", None, "FOLD", "identical"),
    ("Rate 5‰", None, "Rate 5%", None, "APART", "version"),
    ("Size ½", None, "Size 1/2", None, "FOLD", "identical"),
    ("Ace ♠", None, "Ace ♥", None, "ASK", "symbol"),
    ("🇫🇷 Team", None, "🇩🇪 Team", None, "ASK", "symbol"),
    ("🇫🇷 Team", None, "Team", None, "FOLD", "identical"),
    ("10² rule", None, "102 rule", None, "APART", "version"),
    ("8½ film", None, "81/2 film", None, "APART", "version"),
    ("m² plot", None, "m2 plot", None, "ASK", "symbol"),
    ("Temp -5", None, "Temp 5", None, "ASK", "symbol"),
    ("GPT -4", None, "GPT -4.", None, "FOLD", "identical"),
    ("3/4 view", None, "3.4 view", None, "ASK", "symbol"),
    ("2024/01/02 notes", None, "2024-01-02 notes", None, "FOLD", "identical"),
    ("Rate 5 %", None, "Rate 5%", None, "FOLD", "identical"),
    ("Rate 5 %", None, "Rate 5", None, "APART", "version"),
    ("5' x 3' rug", None, '5" x 3" rug', None, "APART", "symbol"),
    ("save!", None, "save?", None, "ASK", "symbol"),
    ("foo||bar", None, "foo&&bar", None, "ASK", "symbol"),
    ("Yahoo!", None, "Yahoo", None, "FOLD", "identical"),
    ("AT&T", None, "AT-T", None, "FOLD", "identical"),
    ("mail.google.com", None, "mailgoogle.com", None, "ASK", "punctuation"),
    ("user.name@x.com", None, "username@x.com", None, "ASK", "punctuation"),
    ("src/ab/c.ts", None, "src/a/bc.ts", None, "ASK", "punctuation"),
    ("memloom/core", None, "memloom-core", None, "FOLD", "identical"),
    ("Node.js", None, "nodejs", None, "FOLD", "identical"),
    ("10km run", None, "10ｲ km run", None, "APART", "version"),
    ("m²", None, "M2", None, "ASK", "short-key"),
    ("@sam-w", None, "sam_w", None, "FOLD", "identical"),
    ("@samw", None, "@sam-w", None, "ASK", "punctuation"),
    ("sam-w@x.com", None, "sam_w@x.com", None, "ASK", "punctuation"),
    ("@types/node.js", None, "types-node.js", None, "ASK", "punctuation"),
    ("<sam-w@x.com>", None, "sam-w@x.com", None, "FOLD", "identical"),
    ("memloom/core", None, "@memloom/core", None, "FOLD", "identical"),
    ("Capital One", None, "Capital", None, "APART", "none"),
    ("Twenty One Pilots", None, "21 Pilots", None, "ASK", "written-out"),
    ("Room 21", None, "Room Twenty", None, "APART", "version"),
    # people
    ("Mr. S. Smith", "person", "Mrs. Smith", "person", "APART", "opposed"),
    ("MrsSmith", "person", "Mrs. Smith", "person", "FOLD", "identical"),
    ("Sherlock Holmes", "person", "Mr. Holmes", "person", "ASK", "person"),
    ("Holmes", "person", "Mr. Holmes", "person", "ASK", "person"),
    ("J. R. R. Tolkien", "person", "John Ronald Reuel Tolkien", "person", "ASK", "person"),
    ("Jane Q. Public", "person", "Jane Public", "person", "ASK", "person"),
    ("Ada L.", "person", "Ada Lovelace", "person", "ASK", "person"),
    ("Ada L.", "person", "Ada K.", "person", "APART", "version"),
    ("Артём Соколов", "person", "Артём", "person", "ASK", "person"),
    ("김민수", "person", "민수", "person", "ASK", "person"),
    ("李明", "person", "李明博", "person", "APART", "none"),
    ("Ruby Capital", "organization", "Cast Capital", "organization", "APART", "none"),
    ("Tigran", "person", "Iran", "place", "APART", "none"),
    ("Bob", "person", "Robert Chen", "person", "APART", "none"),
    ("🚀", "person", "🎯", "person", "APART", "none"),
    # spelling
    ("Zoë.md", None, "Zoe\u0308.md", None, "FOLD", "identical"),
    ("Windows 10 LTSB", None, "Windows 10 LTSC", None, "APART", "none"),
    ("Hazard", None, "Hazards", None, "ASK", "spelling"),
    ("@testing-library/jest-native", None, "@testing-library/react-native", None, "APART", "none"),
    ("東京, Japan", None, "大阪, Japan", None, "APART", "none"),
    ("北京 University", None, "北京 Univeristy", None, "ASK", "spelling"),
    ("Соколов", None, "Sokolov", None, "ASK", "transliterated"),
    # words
    ("New York City", None, "NYC", None, "ASK", "acronym"),
    ("Andreessen Horowitz", None, "a16z", None, "ASK", "acronym"),
    ("Model Context Protocol (MCP)", None, "MCP", None, "ASK", "acronym"),
    ("Industrial Research", None, "Industrial Research Ltd", None, "ASK", "legal-form"),
    ("ООО Ромашка", None, "Ромашка", None, "ASK", "legal-form"),
    ("NodeJS", None, "Node", None, "ASK", "js-suffix"),
    ("Node.js", "file", "Node", None, "APART", "extension"),
    ("Las Vegas", None, "Vegas", None, "APART", "none"),
    ("Alpha Project", None, "Project Alpha", None, "ASK", "reordered"),
]


@pytest.mark.parametrize("row", FURTHER, ids=lambda row: f"{row[0]} | {row[2]}")
def test_further_pairs_of_the_kind_are_ruled_as_they_should_be(
    row: tuple[str, str | None, str, str | None, str, str],
) -> None:
    left, right = Name.of(row[0], row[1]), Name.of(row[2], row[3])
    for ruling in (rule_on(left, right, CONTEXT), rule_on(right, left, CONTEXT)):
        assert (ruling.verdict, ruling.rule) == (row[4], row[5])


def test_two_capitals_are_asked_about_where_one_name_alone_has_these_initials() -> None:
    alone = Context(initials=frozenset({"un"}))
    for spelling in ("UN", "U.N.", "the UN"):
        short = Name.of(spelling, "organization")
        for long in ("United Nations", "United Nations Organization"):
            assert rule_on(short, Name.of(long, "organization"), alone).rule == "acronym"
            assert rule_on(short, Name.of(long, "organization"), CONTEXT).rule == "none"
    assert rule_on(Name.of("UN"), Name.of("Ursula Novak", "person"), alone).rule == "none"
    assert rule_on(Name.of("un"), Name.of("United Nations"), alone).rule == "none"


def test_initials_are_alone_until_another_name_begins_otherwise() -> None:
    having: dict[str, set[str]] = {}
    for spelling in ("United Nations", "United Nations Organization", "Fuzzy Date", "Al Ba"):
        note_initials(having, Name.of(spelling))
    note_initials(having, Name.of("Ursula Novak", "person"))
    assert alone_among(having) == {"un", "fd"}
    note_initials(having, Name.of("functional dependency"))
    assert alone_among(having) == {"un"}


def test_a_branch_or_a_name_of_common_words_is_asked_later() -> None:
    def score(left: str, right: str, context: Context = CONTEXT) -> float:
        ruling = rule_on(Name.of(left), Name.of(right), context)
        assert ruling.rule == "contained"
        return ruling.score

    plain = score("Blue Otter", "Blue Otter Studio")
    assert score("Blue Otter", "Blue Otter (Canada)") < plain
    common = Context(frozenset({"faculty", "law"}))
    assert score("Faculty of Law", "Faculty of Law Kyoto", common) < plain
    typed = rule_on(Name.of("Blue Otter", "tool"), Name.of("Blue Otter Studio", "place"), CONTEXT)
    assert typed.score < plain


@given(graphs_of_names())
@settings(max_examples=100, deadline=None)
def test_a_ruling_is_the_same_from_either_side(found: list[Name]) -> None:
    for left in found[:8]:
        for right in found[:8]:
            one, other = rule_on(left, right, CONTEXT), rule_on(right, left, CONTEXT)
            assert (one.verdict, one.rule, one.score) == (other.verdict, other.rule, other.score)


@given(graphs_of_names())
@settings(max_examples=100, deadline=None)
def test_names_of_one_fold_key_fold_or_are_too_short_to(found: list[Name]) -> None:
    for left in found:
        for right in found:
            if left.fold_key == right.fold_key:
                ruling = rule_on(left, right, CONTEXT)
                assert ruling.verdict is Verdict.FOLD or ruling.rule == "short-key"


@given(st.text(min_size=1, max_size=40), st.text(min_size=1, max_size=40))
@settings(max_examples=500, deadline=None)
def test_any_two_texts_get_a_ruling_with_a_reason(left: str, right: str) -> None:
    try:
        pair = Name.of(left, "person"), Name.of(right, "person")
    except Invalid:
        return
    ruling = rule_on(*pair, CONTEXT)
    assert ruling.reason
    assert 0 <= ruling.score <= 1


def test_trusted_types_that_disagree_ask_even_of_one_spelling() -> None:
    trusted = Context(types_trusted=True)
    company, fruit = Name.of("Apple", "company"), Name.of("apple", "fruit")
    assert rule_on(company, fruit, trusted).rule == "typed"
    assert rule_on(company, fruit, CONTEXT).verdict is Verdict.FOLD


def test_the_strict_rules_are_those_of_the_seeds() -> None:
    strict = Context(rules="strict")
    assert [r.name for r in RULE_SETS["strict"]] == [
        "version",
        "extension",
        "identical",
        "contained",
        "person",
        "spelling",
    ]
    assert rule_on(Name.of("Google+"), Name.of("Google"), strict).verdict is Verdict.FOLD
    assert rule_on(Name.of("C#"), Name.of("C"), strict).rule == "short-key"
    assert rule_on(Name.of("First Bank"), Name.of("1st Bank"), strict).rule == "version"
    assert rule_on(Name.of("Phase One Plan"), Name.of("Phase Two Plan"), strict).rule != "version"
    assert rule_on(Name.of("CRISTALORD LTD"), Name.of("CRYSTALORD INC"), strict).rule == "none"


def test_unknown_rules_are_refused_by_name() -> None:
    with pytest.raises(Invalid, match="lenient"):
        rule_on(Name.of("a"), Name.of("b"), Context(rules="lenient"))


def test_one_differing_word_of_two_common_ones_is_not_a_misspelling() -> None:
    left, right = Name.of("Data Stores"), Name.of("Data Storey")
    assert rule_on(left, right, CONTEXT).rule == "spelling"
    assert rule_on(left, right, Context(frozenset({"stores", "storey"}))).rule == "none"


def test_words_are_common_from_five_names_on() -> None:
    from collections import Counter

    assert common_among(Counter({"data": 5, "store": 4, "the": 9}), 20) == {"data"}
    assert common_among(Counter({"data": 99, "store": 100}), 1_000_000) == {"store"}


@pytest.mark.parametrize(("letters", "allowed"), [(4, 0), (5, 1), (7, 1), (8, 2), (200, 2)])
def test_the_tolerance_grows_with_the_letters(letters: int, allowed: int) -> None:
    assert tolerance(letters) == allowed


def test_a_long_name_may_differ_in_one_place_only() -> None:
    long = "a" * 20 + "b" * 20
    assert edits((long,), (long[:10] + "xy" + long[12:],)) == 2
    assert edits((long,), ("x" + long[1:-1] + "y",)) is None


def test_explaining_a_pair_lists_every_rule_in_order() -> None:
    steps = explain(Name.of("GPT-4"), Name.of("GPT-4o"), CONTEXT)
    assert [rule.name for rule, _ in steps] == [rule.name for rule in RULES]
    assert [rule.name for rule, ruling in steps if ruling] == ["version"]


def test_explaining_names_the_rule_that_decides() -> None:
    left, right = Name.of("Sammy Davis JR"), Name.of("Sammy Davis J R")
    spoken = [ruling for _, ruling in explain(left, right, CONTEXT) if ruling]
    assert spoken[0] == rule_on(left, right, CONTEXT)


def test_every_rule_says_what_it_sees_and_where_it_comes_from() -> None:
    for rule in RULES:
        assert rule.sees.endswith(".")
        assert rule.source.endswith(".")
