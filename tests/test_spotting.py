"""Known names are found in a text where they are names, in every script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfold.spotting import Spotter


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
    assert Spotter([]).spot("text") == []
    assert spotted(["Acme Corp"], "") == []


@given(st.lists(st.text(min_size=1, max_size=8), max_size=6), st.text(max_size=60))
def test_any_text_is_searched_and_what_is_found_stands_in_it(names: list[str], text: str) -> None:
    from enfold.names import normalized

    plain = " ".join(normalized(text).split())
    for name in Spotter(enumerate(names)).spot(text):
        assert name.spelling in plain
