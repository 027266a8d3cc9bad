"""Known names are found in a text where they are names, in every script."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enfold.errors import Invalid
from enfold.names import Name
from enfold.spotting import (
    LENGTH,
    PIECES,
    WORDS,
    Spotted,
    Spotter,
    joined_phrases,
    phrases,
)


def spotted(names: list[str], text: str) -> list[str]:
    return [s.spelling for s in Spotter(enumerate(names)).spot(text)]


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Acme Corp", "we joined acme  corp\ntoday", ["acme corp"]),
        ("GitHub", "on github.", ["github"]),
        ("cpu_package", "see CPU_Package!", ["CPU_Package"]),
        ("Scrooge", "old Scrooge's house", ["Scrooge"]),
        ("SCROOGE", "old Scrooge", ["Scrooge"]),
        ("Documentation", "the documentation is good", []),
        ("power", "the power of power.h and power-law", ["power"]),
        ("power", "Power", []),
        ("AWS", "on AWS, not aws", ["AWS"]),
        ("Go", "written in Go; go on", ["Go"]),
        ("C", "written in C", []),
        ("Python 3", "Python 3.11", []),
        ("Python 3", "Python 3. It", ["Python 3"]),
        ("GPT-4", "GPT-4o and GPT-4", ["GPT-4"]),
        ("Swagger", "swagger.json and Swagger.json", []),
        ("Node.js", "in node.js, too", ["node.js"]),
        ("Visual C", "Visual C++ and Visual C# and Visual C", ["Visual C"]),
        ("@alice", "ask Alice or @alice", ["alice"]),
        ("@Alice", "ask Alice or @Alice", ["Alice", "Alice"]),
        ("Straße Nord", "STRASSE NORD", ["STRASSE NORD"]),
        ("Zoë Meyer", "Zoe\u0308 Meyer", ["Zoë Meyer"]),
        ("東京", "私は東京に住む", ["東京"]),
        ("東", "東京", []),
        ("삼성전자", "삼성전자는 크다", ["삼성전자"]),
        ("OpenAI", "我用OpenAI写", ["OpenAI"]),
        ("Мария Петрова", "это мария петрова.", ["мария петрова"]),
        ("Мария", "Марией", []),
        ("राम कुमार", "यह राम कुमारी है", []),
        ("ทะเลสาบ", "ไปทะเลสาบกัน", ["ทะเลสาบ"]),
        ("İstanbul Fair", "istanbul fair", ["istanbul fair"]),
        ("ﬁrst ﬂoor", "the first floor", ["first floor"]),
    ],
)
def test_a_name_is_found_where_it_is_a_name(name: str, text: str, found: list[str]) -> None:
    assert spotted([name], text) == found


def test_the_longest_name_wins_and_none_overlap() -> None:
    names = ["MQTT Panel", "MQTT", "Panel Reset Button", "Reset Button"]
    assert (
        spotted(names, "The MQTT Panel Reset Button works") == ["Panel Reset Button", "MQTT"][::-1]
    )
    assert spotted(names, "The MQTT Panel and a reset button") == ["MQTT Panel", "reset button"]


def test_a_longer_word_does_not_hide_a_name() -> None:
    assert spotted(["New York", "New York C"], "New York City") == ["New York"]


def test_rows_of_one_name_come_together() -> None:
    (one,) = Spotter([(1, "Zhang Wei"), (7, "zhang wei"), (9, "Li")]).spot("met Zhang Wei")
    assert one.ids == (1, 7)


def test_a_plain_word_in_lower_case_is_marked() -> None:
    spotter = Spotter([(1, "webpack"), (2, "GitHub"), (3, "Go")])
    assert [s.word for s in spotter.spot("webpack on GitHub in Go")] == [True, False, False]


def test_no_names_and_no_text_find_nothing() -> None:
    assert list(Spotter([]).spot("text")) == []
    assert spotted(["Acme Corp"], "") == []


# ---- by the runs of a text ----


def among_phrases(names: list[Name], text: str) -> list[Spotted]:
    """What a spotter finds over those names alone that are runs of the text."""
    runs = set(phrases(text))
    known = [(row, name.spelling) for row, name in enumerate(names) if name.key in runs]
    return list(Spotter(known).spot(text))


def among_all(names: list[Name], text: str) -> list[Spotted]:
    return list(Spotter((row, name.spelling) for row, name in enumerate(names)).spot(text))


@pytest.mark.parametrize(
    ("name", "sought"),
    [
        (" ".join(["word"] * WORDS), True),
        (" ".join(["word"] * (WORDS + 1)), False),
        ("東" * PIECES, True),
        ("東" * (PIECES + 1), False),
        ("ก" * (PIECES + 1), False),
        ("x" + "-" * (PIECES - 1), True),
        ("x" + "-" * PIECES, False),
        ("x" * LENGTH, True),
        ("x" * (LENGTH + 1), False),
        ("é" * LENGTH, True),  # its key is a digest
        (" ".join(["слово"] * WORDS), True),
        (" ".join(["слово"] * (WORDS + 1)), False),
    ],
)
def test_names_up_to_a_limit_are_looked_for_either_way(name: str, sought: bool) -> None:
    text = f"about {name}, again"
    expected = [name] if sought else []
    assert spotted([name], text) == expected
    assert [s.spelling for s in among_phrases([Name.of(name)], text)] == expected


def test_the_runs_of_a_text_are_as_many_as_its_pieces_times_a_limit() -> None:
    assert len(list(phrases("word " * 1_000))) < 1_000 * WORDS
    assert len(list(phrases("東" * 1_000))) < 1_000 * PIECES
    assert len(list(phrases("- " * 1_000))) < 1_000 * PIECES
    assert list(phrases("x" * 100_000)) == []


def test_a_long_text_is_searched_to_its_end_and_across_its_slices() -> None:
    words = [f"Thing{n} Part" for n in range(12_000)]
    text = " and ".join(words)
    names = [Name.of(word) for word in words]
    assert [s.spelling for s in among_all(names, text)] == words
    assert among_phrases(names, text) == among_all(names, text)


ODD = r"""
claude-code @scope/pkg @scope scope pkg C++ C C# .next next .NET Node.js O'Brien O’Brien 🚀 👩‍🚀 ❤️
GitHub github GITHUB power Power AWS aws.yml Go GPT-4 gpt-4o cpu_package Straße STRASSE İstanbul
東京 東京都 東 株式会社 カタカナ ｶﾀｶﾅ 삼성전자 삼성 กรุงเทพ กำ ทะเลสาบ မြန်မာ ខ្មែរ राम कुमारी
Мария мария Zoë ﬁrst ﬁ ½ ² 3.11 1,000 10 -- -> … “ ” ( ) / \ : = & . , ! ' ’ ` _ @ + # ; ﷺ ΰ ῂ ŉ
""".split()
piece = st.sampled_from([*ODD, "Zoe\u0308", "New York City"]) | st.text(max_size=3)
GAPS = ["", "", " ", " ", "-", ".", "/", "'", "\n", "\u0301", "\u0e31", "\u200b"]
gap = st.sampled_from(GAPS)
run = st.lists(st.tuples(piece, gap), max_size=16).map(lambda p: "".join(a + b for a, b in p))


def _named(spelling: str) -> list[Name]:
    try:
        return [Name.of(spelling)]
    except Invalid:
        return []


@settings(max_examples=400, deadline=None)
@given(st.lists(run, max_size=8), st.lists(run, max_size=4), st.data())
def test_the_names_among_the_runs_of_a_text_are_all_that_stand_in_it(
    spellings: list[str], others: list[str], data: st.DataObject
) -> None:
    names = [name for spelling in [*spellings, *ODD] for name in _named(spelling)]
    cases: st.SearchStrategy[Callable[[str], str]] = st.sampled_from([str, str.upper, str.title])
    parts = [data.draw(cases)(p) for p in data.draw(st.permutations(spellings + others))]
    text = data.draw(gap).join(parts)
    assert among_phrases(names, text) == among_all(names, text)


@given(st.lists(st.text(min_size=1, max_size=8), max_size=6), st.text(max_size=60))
def test_any_text_is_searched_and_what_is_found_stands_in_it(names: list[str], text: str) -> None:
    from enfold.names import normalized

    plain = " ".join(normalized(text).split())
    for name in Spotter(enumerate(names)).spot(text):
        assert name.spelling in plain


# ---- however the words are joined ----


def joined(names: list[str], text: str) -> list[str]:
    return [s.spelling for s in Spotter(enumerate(names), any_join=True).spot(text)]


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Claude Code", "claude-code needs Node", ["claude-code"]),
        ("Claude Code", "set CLAUDE_CODE to 1", ["CLAUDE_CODE"]),
        ("claude-code", "Claude Code needs Node", ["Claude Code"]),
        ("cpu_package", "the cpu-package is hot", ["cpu-package"]),
        ("Claude Code", "claude-code-sdk and my-claude-code", []),
        ("Claude Code", "src/claude-code/main.py", []),
        ("claude-code", "claude-code-sdk", ["claude-code"]),  # as written, as without any_join
        ("Claude Code", "claudecode", []),
        ("GPT-4", "gpt 4 and GPT_4", ["gpt 4", "GPT_4"]),
        ("@scope/pkg-", "@scope/pkg claude", []),  # nothing is joined there
        ("@scope/pkg-", "@scope/pkg- claude", ["scope/pkg-"]),
        ("-verbose", "tools verbose", []),
    ],
)
def test_words_may_be_joined_in_any_way(name: str, text: str, found: list[str]) -> None:
    assert joined([name], text) == found


def test_where_two_things_differ_in_how_they_are_joined_the_one_that_is_written_is_meant() -> None:
    spotter = Spotter([(1, "Claude Code"), (2, "claude-code"), (3, "claude code")], any_join=True)
    said = "Claude Code, claude-code and claude_code"
    assert [s.ids for s in spotter.spot(said)] == [(1, 3), (2,), (1, 2, 3)]


@settings(max_examples=300, deadline=None)
@given(st.lists(run, max_size=8), st.lists(run, max_size=4), st.data())
def test_the_names_among_the_joined_runs_of_a_text_are_all_that_stand_in_it(
    spellings: list[str], others: list[str], data: st.DataObject
) -> None:
    names = [name for spelling in [*spellings, *ODD] for name in _named(spelling)]
    parts = data.draw(st.permutations(spellings + others))
    text = data.draw(gap).join(parts)
    for one, other in data.draw(st.lists(st.permutations([" ", "-", "_"]).map(lambda p: p[:2]))):
        text = text.replace(one, other)
    keys, merge_keys = set(phrases(text)), set(joined_phrases(text))
    known = [
        (row, name.spelling)
        for row, name in enumerate(names)
        if name.key in keys or (name.merge_key and name.merge_key in merge_keys)
    ]
    every = [(row, name.spelling) for row, name in enumerate(names)]
    among, of_all = (list(Spotter(rows, any_join=True).spot(text)) for rows in (known, every))
    assert [s.spelling for s in among] == [s.spelling for s in of_all]
