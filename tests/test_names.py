"""What can be read off a spelling."""

from __future__ import annotations

import unicodedata
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enfold.errors import Invalid
from enfold.names import KEY_BYTES, MAX_LENGTH, Name
from tests.test_pairs import WORDS

PLAIN: Final = [
    f"{one} {other}"
    for one in WORDS
    for other in WORDS
    if (one + other).isalpha() and (one + other).isascii()
]


@pytest.mark.parametrize(
    ("spelling", "key"),
    [
        ("  Acme\nCorp\t", "acme corp"),
        ("@memloom/core", "memloom/core"),
        ("ＦＵＬＬ　ｗｉｄｔｈ", "full width"),
        ("Zoe\u0308.md", "zoë.md"),
        ("Ac\u200bme\ufeff", "acme"),
        ("İstanbul", "istanbul"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("a\u202eb", "ab"),
        ("@", "@"),
    ],
)
def test_the_key_is_the_name_but_for_case_width_blanks_and_what_is_invisible(
    spelling: str, key: str
) -> None:
    assert Name.of(spelling).key == key


@pytest.mark.parametrize(
    "spelling", ["", "   ", "\n\t", "\u200b\u200d\ufeff", "\x00\x07", "\u3164"]
)
def test_a_blank_name_is_refused(spelling: str) -> None:
    with pytest.raises(Invalid) as refused:
        Name.of(spelling)
    assert refused.value.code == "blank_name"


def test_a_text_is_refused_as_a_name() -> None:
    assert Name.of("x" * MAX_LENGTH).key
    with pytest.raises(Invalid) as refused:
        Name.of("x" * (MAX_LENGTH + 1))
    assert refused.value.code == "name_too_long"


def test_two_long_names_that_start_alike_stay_two_and_no_key_grows_with_its_name() -> None:
    one, other = Name.of("é" * 5_000), Name.of("é" * 4_999 + "e")
    for left, right in (
        (one.key, other.key),
        (one.merge_key, other.merge_key),
        (one.fold_key, other.fold_key),
    ):
        assert left != right
        assert len(left.encode()) <= KEY_BYTES
        assert len(right.encode()) <= KEY_BYTES


def test_no_short_name_has_the_key_of_a_long_one() -> None:
    long = Name.of("x" * 300)
    assert Name.of(long.key).key != long.key
    assert Name.of(long.merge_key).merge_key != long.merge_key


@pytest.mark.parametrize(
    ("spelling", "letters"),
    [
        ("Claude_Code", "claudecode"),
        ("東京・Japan", "東京japan"),
        ("कि", "कि"),
        ("का", "का"),
        ("🚀", ""),
        ("O’Brien", "obrien"),
        ("1️⃣ First", "1first"),
    ],
)
def test_the_letters_are_those_of_every_script_with_their_marks(
    spelling: str, letters: str
) -> None:
    assert Name.of(spelling).letters == letters


@pytest.mark.parametrize(
    ("spelling", "numbers"),
    [
        ("Claude Opus 4.8", ("4", "8")),
        ("GBJ57—83", ("57", "83")),
        ("K8s", ()),
        ("k8s-node-feature", ()),
        ("S9+", ("9+",)),
        ("Top 10%", ("10%",)),
        ("Task 007", ("7",)),
        ("1,000 Maniacs", ("1000",)),
        ("٣ قطط", ("3",)),
        ("Postgres", ()),
        ("H2O2", ("2", "2")),
    ],
)
def test_numbers_are_runs_of_digits_whatever_parts_them(
    spelling: str, numbers: tuple[str, ...]
) -> None:
    assert Name.of(spelling).numbers == numbers


@pytest.mark.parametrize(
    ("spelling", "suffixes"), [("GPT-4o", ("o",)), ("5th Avenue", ("",)), ("GPT 4 turbo", ("",))]
)
def test_letters_behind_a_number_belong_to_it_ordinals_aside(
    spelling: str, suffixes: tuple[str, ...]
) -> None:
    assert Name.of(spelling).number_suffixes == suffixes


@pytest.mark.parametrize(
    ("spelling", "prefix"),
    [
        (".next", "."),
        ("--force", "--"),
        ("_private", "_"),
        ("/etc/hosts", "/"),
        ("@memloom/core", ""),
        ("“quoted”", ""),
        ("[draft] plan", ""),
        ("🔑 Aster", ""),
        ("- bullet", ""),
        ("**bold**", ""),
        ("¿Qué?", ""),
        ("(open", "("),
    ],
)
def test_leading_punctuation_is_kept_but_for_decoration(spelling: str, prefix: str) -> None:
    assert Name.of(spelling).prefix == prefix


@pytest.mark.parametrize(
    ("spelling", "symbols"),
    [
        ("C++", "++"),
        ("C#", "#"),
        ("C♯", "#"),
        ("PR #12", ""),
        ("S9+", ""),
        ("Disney+ Hotstar", "+"),
        ("A$AP", "$"),
        ("ada@lovelace.com", "@"),
        ("List<T>", ""),
        ("a < b", "<"),
        ("SAFETY NETS*", ""),
        ("AT&T", ""),
    ],
)
def test_only_symbols_that_bear_meaning_count(spelling: str, symbols: str) -> None:
    assert Name.of(spelling).symbols == symbols


@pytest.mark.parametrize(
    ("spelling", "words"),
    [
        ("Claude Opus 4.8", ("claude", "opus", "48")),
        ("MEMLOOM_HOME", ("memloom", "home")),
        ("O'Brien & Sons", ("obrien", "sons")),
        ("U.S.A.", ("u", "s", "a")),
    ],
)
def test_words_are_cut_at_blanks_and_punctuation(spelling: str, words: tuple[str, ...]) -> None:
    assert Name.of(spelling).words == words


@pytest.mark.parametrize(
    ("spelling", "written"),
    [
        ("Univ. of Vienna", "universityofvienna"),
        ("Main St", "mainstreet"),
        ("St Mary", "saintmary"),
        ("St", "st"),
        ("Research & Development", "researchdevelopment"),
        ("Research and Development", "researchdevelopment"),
        ("Forty-Four", "44"),
        ("Twenty-First Century", "21stcentury"),
        ("Thirteenth Floor", "13thfloor"),
        ("rerankers", "rerank"),
        ("string matching", "stringmatch"),
        ("dependencies", "dependency"),
        ("string", "string"),
        ("Acme", "acme"),
    ],
)
def test_abbreviations_numbers_and_endings_are_written_one_way(spelling: str, written: str) -> None:
    assert Name.of(spelling).written_out == written


@pytest.mark.parametrize(
    ("spelling", "counted"),
    [("Forty-Four 3", ("44", "3")), ("First", ("1",)), ("Bank", ()), ("Forty", ("40",))],
)
def test_number_words_count_beside_numbers(spelling: str, counted: tuple[str, ...]) -> None:
    assert Name.of(spelling).counted == counted


@pytest.mark.parametrize(("spelling", "short"), [("C#", True), ("Go!", True), ("李明", False)])
def test_two_letters_are_too_few_but_two_han_characters_are_a_name(
    spelling: str, short: bool
) -> None:
    assert Name.of(spelling).short is short


def test_words_with_digits_and_han_characters_are_cut_out_of_what_an_edit_may_touch() -> None:
    assert Name.of("Postgres 15 db").pieces == ("postgres", "15", "db")
    assert Name.of("Llama3 Instruct").pieces == ("", "llama3", "instruct")
    assert Name.of("北京 University").pieces == ("", "北京", "university")
    assert Name.of("北京 University").latin_pieces == ()


def test_half_a_surrogate_pair_is_replaced_not_stored() -> None:
    name = Name.of("Ada \ud800 Lovelace")
    name.spelling.encode()
    assert name.words == ("ada", "lovelace")


@given(st.text(min_size=1, max_size=60))
@settings(max_examples=1_000, deadline=None)
def test_every_text_gives_keys_that_can_be_stored_or_is_refused(text: str) -> None:
    refused = None
    try:
        name = Name.of(text)
    except Invalid as error:
        refused = error.code
    if refused is not None:
        assert refused == "blank_name"
        return
    for key in (name.spelling, name.key, name.merge_key, name.fold_key, name.latin):
        key.encode()
    assert name.key == Name.of(name.spelling).key
    assert Name.of(unicodedata.normalize("NFD", name.spelling)).key == name.key


@given(st.text(min_size=1, max_size=30))
@settings(max_examples=500, deadline=None)
def test_a_stored_spelling_reads_as_it_did_when_it_was_written(text: str) -> None:
    try:
        name = Name.of(text)
    except Invalid:
        return
    again = Name.of(name.spelling)
    assert again.spelling == name.spelling
    assert (again.merge_key, again.fold_key) == (name.merge_key, name.fold_key)


_CACHED: Final = type(vars(Name)["key"])
READ: Final = [name for name, value in vars(Name).items() if isinstance(value, _CACHED)]


@given(st.text("abc efgINGerst-_", min_size=1, max_size=40) | st.sampled_from(PLAIN))
@settings(max_examples=500, deadline=None)
def test_what_is_said_at_once_of_a_plain_name_is_what_is_read_off_it(text: str) -> None:
    """Most names are ASCII letters and blanks, of which much is known without looking."""
    spelling = " ".join(text.split())
    if not spelling:
        return
    known = Name(spelling, "tool")
    looked = Name(spelling, "tool")
    looked.__dict__.clear()
    looked.__dict__.update(spelling=spelling, type="tool")
    assert len(known.__dict__) >= len(looked.__dict__)
    for attribute in READ:
        assert getattr(known, attribute) == getattr(looked, attribute), attribute


def test_upper_and_lower_case_are_one_key() -> None:
    for text in ("Ada Lovelace", "МАРИЯ", "ΟΔΥΣΣΕΥΣ", "straße"):
        assert Name.of(text.upper()).key == Name.of(text.lower()).key
