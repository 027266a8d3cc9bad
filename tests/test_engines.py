"""An engine finds what the keys define, and rules it as one pair at a time would be ruled."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from enfold.engines.local import Survey
from enfold.model import Context
from enfold.names import Name
from tests.test_pairs import all_against_all, graphs_of_names, mangled, real_names


def proposed(names: list[Name], survey: Survey) -> dict[tuple[int, int], str]:
    found = {}
    for batch in survey.propose(Context()):
        found.update(
            {(i, j): r for i, j, r in zip(batch.left, batch.right, batch.rule, strict=True)}
        )
    return found


def asked(names: list[Name]) -> dict[tuple[int, int], str]:
    """All against all, without the pairs of equal letters, which are ruled in their groups."""
    return {
        (i, j): rule
        for (i, j), rule in all_against_all(names).items()
        if names[i].letters != names[j].letters
    }


def rows(names: list[Name]) -> list[tuple[str, str | None]]:
    return [(name.spelling, name.type) for name in names]


@given(graphs_of_names())
@settings(max_examples=200, deadline=None)
def test_a_survey_asks_what_all_against_all_asks(names: list[Name]) -> None:
    assert proposed(names, Survey(rows(names))) == asked(names)


@given(st.text("ab1漢", min_size=29, max_size=37), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_a_survey_asks_the_same_of_long_names(word: str, draw: random.Random) -> None:
    names = [Name.of(word), *(Name.of(mangled(word, draw) or "a") for _ in range(12))]
    assert proposed(names, Survey(rows(names))) == asked(names)


def test_a_survey_of_real_names_asks_what_all_against_all_asks() -> None:
    names = real_names()
    assert proposed(names, Survey(rows(names))) == asked(names)


def test_a_survey_says_the_same_in_one_process_and_in_a_pool() -> None:
    names = real_names()
    with ThreadPoolExecutor(3) as pool:
        assert proposed(names, Survey(rows(names), executor=pool)) == asked(names)


def test_a_survey_of_no_names_asks_nothing() -> None:
    survey = Survey([])
    assert survey.common == frozenset()
    assert list(survey.propose(Context())) == []


def test_candidates_come_once_each_and_in_order() -> None:
    candidates = Survey(rows(real_names())).candidates()
    assert np.all(candidates[1:] > candidates[:-1])
