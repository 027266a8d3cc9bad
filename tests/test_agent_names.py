"""The labelled set of agents' names is whole, in its domains, and free of contradictions."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Final

import pytest

FOLDER: Final = Path(__file__).parents[1] / "src" / "enfold" / "suites" / "agent_names"
PAIR_COLUMNS: Final = "id left left_type right right_type same decidable kind why".split()
CLUSTER_COLUMNS: Final = "name type thing why".split()
TYPES: Final = frozenset(
    "person organization project tool technology agent place event concept".split()
) | {""}
SLUG: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

Row = dict[str, str]
Named = tuple[str, str]


def text(name: str) -> str:
    return (FOLDER / name).read_bytes().decode("utf-8")


@cache
def table(name: str) -> tuple[tuple[str, ...], ...]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return tuple(tuple(row) for row in csv.reader(file, strict=True))


def rows(name: str) -> list[Row]:
    head, *body = table(name)
    return [dict(zip(head, row, strict=True)) for row in body]


def pairs() -> list[Row]:
    return rows("pairs.csv")


def clusters() -> list[Row]:
    return rows("clusters.csv")


def left(row: Row) -> Named:
    return row["left"], row["left_type"]


def right(row: Row) -> Named:
    return row["right"], row["right_type"]


class Groups:
    """Names that have been said to be one thing, directly or through others."""

    def __init__(self) -> None:
        self.above: dict[Named, Named] = {}

    def top(self, name: Named) -> Named:
        while (above := self.above.get(name, name)) != name:
            name = above
        return name

    def join(self, one: Named, other: Named) -> None:
        self.above[self.top(one)] = self.top(other)


@pytest.mark.parametrize(
    ("name", "columns"), [("pairs.csv", PAIR_COLUMNS), ("clusters.csv", CLUSTER_COLUMNS)]
)
def test_a_file_is_plain_utf_8_with_the_columns_it_promises(name: str, columns: list[str]) -> None:
    content = text(name)
    assert not content.startswith("\ufeff")
    assert "\r" not in content
    assert content.endswith("\n")
    assert list(table(name)[0]) == columns
    assert {len(row) for row in table(name)} == {len(columns)}


def test_there_are_enough_pairs_and_about_as_many_of_either_label() -> None:
    same = [row["same"] for row in pairs()]
    assert len(same) >= 400
    assert 0.45 <= same.count("1") / len(same) <= 0.55


def test_ids_are_unique_and_count_up_within_their_group() -> None:
    ids = [row["id"] for row in pairs()]
    assert len(set(ids)) == len(ids)
    assert not [each for each in ids if not re.fullmatch(r"[mpschjleaxutk]\d{3}", each)]
    numbers: dict[str, list[int]] = defaultdict(list)
    for each in ids:
        numbers[each[0]].append(int(each[1:]))
    assert all(found == sorted(found) for found in numbers.values())


def test_values_are_in_their_domains() -> None:
    for row in pairs():
        assert row["left_type"] in TYPES, row
        assert row["right_type"] in TYPES, row
        assert row["same"] in {"0", "1"}, row
        assert row["decidable"] in {"0", "1"}, row
        assert SLUG.fullmatch(row["kind"]), row
        assert row["left"].strip(), row
        assert row["right"].strip(), row


def test_every_pair_stands_once_whichever_way_round() -> None:
    seen = Counter(frozenset({left(row), right(row)}) for row in pairs())
    assert [pair for pair, times in seen.items() if times > 1] == []


def test_identical_strings_are_a_pair_only_if_their_types_differ() -> None:
    assert [row["id"] for row in pairs() if left(row) == right(row)] == []


def test_no_kind_is_more_than_a_dozen_pairs() -> None:
    kinds = Counter(row["kind"] for row in pairs())
    assert {kind: times for kind, times in kinds.items() if times > 12} == {}


def test_every_label_has_a_reason_of_its_own() -> None:
    reasons = Counter(row["why"] for row in pairs())
    assert [why for why in reasons if not re.fullmatch(r"\S.{5,}[.]", why)] == []
    assert [why for why, times in reasons.items() if times > 3] == []


def test_what_is_one_thing_through_other_pairs_is_nowhere_two_things() -> None:
    groups = Groups()
    certain = [row for row in pairs() if row["decidable"] == "1"]
    for row in certain:
        if row["same"] == "1":
            groups.join(left(row), right(row))
    apart = [row for row in certain if row["same"] == "0"]
    assert [row["id"] for row in apart if groups.top(left(row)) == groups.top(right(row))] == []


def test_clusters_are_many_and_every_name_is_in_one() -> None:
    names = Counter((row["name"], row["type"]) for row in clusters())
    assert [name for name, times in names.items() if times > 1] == []
    sizes = Counter(row["thing"] for row in clusters())
    assert len([thing for thing, size in sizes.items() if size > 1]) >= 60
    assert 1 in sizes.values()


def test_clusters_hold_names_types_slugs_and_one_reason_each() -> None:
    reasons: dict[str, set[str]] = defaultdict(set)
    for row in clusters():
        assert row["name"].strip(), row
        assert row["type"] in TYPES, row
        assert SLUG.fullmatch(row["thing"]), row
        reasons[row["thing"]].add(row["why"])
    assert [thing for thing, found in reasons.items() if len(found) != 1 or "" in found] == []


def test_clusters_and_pairs_agree() -> None:
    thing = {(row["name"], row["type"]): row["thing"] for row in clusters()}
    both = [
        row
        for row in pairs()
        if row["decidable"] == "1" and left(row) in thing and right(row) in thing
    ]
    assert len(both) > 30
    wrong = [
        row["id"] for row in both if (thing[left(row)] == thing[right(row)]) != (row["same"] == "1")
    ]
    assert wrong == []


def test_the_readme_counts_what_is_there() -> None:
    readme = " ".join(text("README.md").split())
    labels = Counter(row["same"] for row in pairs())
    unsure = sum(row["decidable"] == "0" for row in pairs())
    kinds = {row["kind"] for row in pairs()}
    sizes = Counter(row["thing"] for row in clusters())
    several = sum(size > 1 for size in sizes.values())
    for sentence in (
        f"`pairs.csv`: {len(pairs())} pairs of names.",
        f"{labels['1']} are labelled as one thing, {labels['0']} as two,",
        f"and {unsure} of them can't be decided without context.",
        f"There are {len(kinds)} kinds of phenomenon",
        f"`clusters.csv`: {len(clusters())} names of {len(sizes)} things,",
        f"{several} things have two or more names;",
    ):
        assert sentence in readme


def test_the_readme_lists_every_kind_with_its_counts() -> None:
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in pairs():
        found = counts[row["kind"]]
        found[0] += 1
        found[1] += row["same"] == "1"
        found[2] += row["decidable"] == "0"
    there = re.findall(r"^\| `(\S+)` \| (\d+) \| (\d+) \| (\d+) \|$", text("README.md"), re.M)
    assert {kind: [int(each) for each in numbers] for kind, *numbers in there} == counts
    assert [kind for kind, *_ in there] == sorted(counts)


def test_the_licence_is_named() -> None:
    assert "SPDX-License-Identifier: CC0-1.0\n" in text("LICENSE")
    assert "CC0 1.0" in text("README.md")
