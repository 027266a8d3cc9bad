"""An engine finds what the keys define, and rules it as one pair at a time would be ruled."""

from __future__ import annotations

import multiprocessing
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enfold.engines import local
from enfold.engines.local import Survey
from enfold.model import Context
from enfold.names import Name
from tests.test_pairs import all_against_all, graphs_of_names, mangled, real_names


def proposed(names: list[Name], survey: Survey) -> dict[tuple[int, int], str]:
    found = {}
    for batch in survey.propose(Context()):
        found.update({(i, j): rule for i, j, rule, _ in batch.asked})
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


def test_several_processes_say_the_same_and_end_when_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(local, "CHUNK", 150)
    names = real_names()
    engine = local.LocalEngine(2)
    survey = engine.survey(range(len(names)), rows(names), "default", lambda *_: None)
    assert proposed(names, survey) == asked(names)
    assert index_of(survey) == index_of(Survey(rows(names)))
    assert len(multiprocessing.active_children()) == 2
    engine.close()
    assert multiprocessing.active_children() == []


def index_of(survey: Survey) -> list[tuple[int, int]]:
    parts = [pair for keys, rows in survey.index() for pair in zip(keys, rows, strict=True)]
    assert [key for key, _ in parts] == sorted(key for key, _ in parts)
    return sorted(parts)


WORKING = """
import multiprocessing, sys, time
from enfold.engines import local

if __name__ == "__main__":
    local.CHUNK = 1
    engine = local.LocalEngine(2)
    engine.survey([1, 2], [("Ada", None), ("Bob", None)], "default", lambda *_: None)
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_workers_end_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    script = tmp_path / "working.py"
    script.write_text(WORKING)
    path = os.pathsep.join(p for p in sys.path if p)
    parent = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": path}
    )
    assert parent.stdout is not None
    children = [int(pid) for pid in parent.stdout.readline().split()]
    assert children
    parent.kill()
    parent.communicate()
    waited = 0.0
    while any(alive(pid) for pid in children):
        time.sleep(0.05)
        waited += 0.05
        assert waited < 30


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")  # ended, but not yet waited for, where there is no init
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_survey_of_no_names_asks_nothing() -> None:
    survey = Survey([])
    assert survey.common == frozenset()
    assert list(survey.propose(Context())) == []


def test_candidates_come_once_each_and_in_order() -> None:
    candidates = Survey(rows(real_names())).candidates()
    assert np.all(candidates[1:] > candidates[:-1])
