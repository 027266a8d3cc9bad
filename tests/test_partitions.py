"""Pairs found from files to files are those of all against all, however the work is cut."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import enfold
from enfold import rules
from enfold.engines import FoundPairs, find_pairs, finding
from enfold.engines.job import Sizes
from enfold.engines.local import Survey
from enfold.engines.meeting import windows
from enfold.errors import Error, Invalid, Refused, Unavailable
from enfold.model import Context, Verdict
from enfold.names import Name
from tests.test_pairs import graphs_of_names, real_names, rhyming

__all__ = ["rhyming"]  # a fixture

SMALL = Sizes(chunk=7, keys=500, block=2, piece=16, forms=5, attached=10, ruled=10)
"""So small that everything is cut."""

Found = dict[tuple[int, int], tuple[str, str, float]]


def different(names: Sequence[Name]) -> list[Name]:
    """The names that rows are: one for each key, with the first type there is."""
    found: dict[str, Name] = {}
    for name in names:
        known = found.setdefault(name.key, name)
        if known.type is None and name.type is not None:
            found[name.key] = Name(known.spelling, name.type)
    return list(found.values())


def context_of(names: Sequence[Name]) -> Context:
    begun: dict[str, set[str]] = {}
    for name in names:
        rules.note_initials(begun, name)
    counts = Counter(word for name in names for word in set(name.words))
    common = rules.common_among(counts, len(names))
    return Context(common=common, initials=rules.alone_among(begun))


def all_against_all(names: Sequence[Name]) -> Found:
    """What is asked about any two of different letters."""
    context = context_of(names)
    found: Found = {}
    for (i, left), (j, right) in combinations(enumerate(names), 2):
        ruling = rules.rule_on(left, right, context)
        if left.letters != right.letters and ruling.verdict is not Verdict.APART:
            found[i, j] = (ruling.verdict.value, ruling.rule, ruling.score)
    return found


def by_survey(names: Sequence[Name]) -> tuple[Found, int]:
    """(what a survey asks, how many pairs it rules)"""
    survey = Survey([(name.spelling, name.type) for name in names])
    context = Context(common=survey.common, initials=survey.initials)
    found: Found = {}
    judged = 0
    for batch in survey.propose(context):
        judged += batch.judged
        for i, j, rule, score in batch.asked:
            found[min(i, j), max(i, j)] = ("ASK", rule, score)
    return found, judged


def written(names: Sequence[Name], path: Path) -> Path:
    columns = {"name": [n.spelling for n in names], "type": [n.type for n in names]}
    kinds = pa.schema([("name", pa.string()), ("type", pa.string())])
    pq.write_table(pa.table(columns, schema=kinds), path, row_group_size=100)
    return path


def rows_in(out: Path | str) -> list[dict[str, Any]]:
    files = sorted(Path(out, "pairs").glob("*.parquet"))
    rows = [row for file in files for row in pq.read_table(file).to_pylist()]
    return sorted(rows, key=lambda row: (row["left"], row["right"]))


def pairs_in(out: Path | str, names: Sequence[Name]) -> tuple[Found, Found]:
    """(pairs of different letters, pairs of equal ones)"""
    other: Found = {}
    equal: Found = {}
    for row in rows_in(out):
        left, right = row["left"], row["right"]
        assert row["left_name"] == names[left].spelling
        assert row["right_name"] == names[right].spelling
        mine = equal if names[left].letters == names[right].letters else other
        assert (left, right) not in mine, "a pair twice"
        mine[left, right] = (row["verdict"], row["rule"], row["score"])
    return other, equal


# ---- exactness ----


@given(
    graphs_of_names(),
    st.integers(1, 4),
    st.sampled_from([Sizes(), SMALL, replace(SMALL, block=1, piece=3, keys=40, forms=1)]),
)
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_on_random_names_the_pairs_are_those_of_all_against_all(
    tmp_path_factory: pytest.TempPathFactory, names: list[Name], parts: int, sizes: Sizes
) -> None:
    folder = tmp_path_factory.mktemp("pairs")
    names = different(names)
    if not names:
        return
    file = written(names, folder / "names.parquet")
    found = find_pairs(file, folder / "out", partitions=parts, sizes=sizes)
    other, _ = pairs_in(folder / "out", names)
    assert other == all_against_all(names)
    assert found.names == found.rows == len(names)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Name], Path]:
    """Real names, each once, and a file of them."""
    names = different(real_names())
    return names, written(names, tmp_path_factory.mktemp("real") / "names.parquet")


@pytest.mark.parametrize(("parts", "sizes"), [(1, None), (7, None), (3, SMALL)])
def test_on_real_names_the_pairs_are_those_of_a_survey(
    real: tuple[list[Name], Path], tmp_path: Path, parts: int, sizes: Sizes | None
) -> None:
    names, file = real
    found = find_pairs(file, tmp_path / "out", partitions=parts, sizes=sizes)
    other, equal = pairs_in(tmp_path / "out", names)
    asked, judged = by_survey(names)
    assert other == asked == all_against_all(names)
    assert found.questions + found.folds == len(other) + len(equal)
    assert sum(found.apart.values()) + len(other) == judged
    assert found.partitions == parts


def test_several_processes_find_what_one_finds(
    real: tuple[list[Name], Path], tmp_path: Path
) -> None:
    _, file = real
    one = find_pairs(file, tmp_path / "one", partitions=3)
    several = find_pairs(file, tmp_path / "several", partitions=3, engine="local://2")
    assert rows_in(tmp_path / "one") == rows_in(tmp_path / "several")
    assert (one.candidates, one.by_rule, one.apart) == (
        several.candidates,
        several.by_rule,
        several.apart,
    )
    assert multiprocessing.active_children() == []
    assert several.memory > 0


LETTERS = ["GPT-4", "GPT4", "gpt 4", "Next", ".next", "Go lang", "GoLang", "go-lang", "C++", "C#"]
LETTERS += ["sun rise", "Sunrise", "SUNRISE!", "Google+", "Google", "“google”", "3.11", "31.1"]


def test_names_of_equal_letters_fold_as_in_a_pass(tmp_path: Path) -> None:
    names = different([Name.of(one) for one in LETTERS])
    file = written(names, tmp_path / "names.parquet")
    find_pairs(file, tmp_path / "out", partitions=2)
    folds = {
        (row["left_name"], row["right_name"])
        for row in rows_in(tmp_path / "out")
        if row["verdict"] == "FOLD"
    }
    (tmp_path / "names.csv").write_text("name\n" + "\n".join(f'"{n.spelling}"' for n in names))
    scanned = enfold.scan(tmp_path / "names.csv", limit=1_000)
    assert folds == {(shown.right, shown.left) for shown in scanned.folds}
    assert len(folds) > 4
    _, equal = pairs_in(tmp_path / "out", names)
    for (left, right), (verdict, rule, score) in equal.items():
        ruling = rules.rule_on(names[left], names[right], Context())
        assert (ruling.verdict.value, ruling.rule, ruling.score) == (verdict, rule, score)


def test_rows_of_one_name_are_one_with_the_first_type_there_is(tmp_path: Path) -> None:
    names = [Name("Ada Lovelace"), Name("Ada", "person"), Name("ada  lovelace", "person")]
    names += [Name("ADA LOVELACE", "ship")]
    found = find_pairs(written(names, tmp_path / "n.parquet"), tmp_path / "out", partitions=2)
    assert (found.rows, found.names) == (4, 2)
    (row,) = rows_in(tmp_path / "out")
    assert (row["left_name"], row["right_name"], row["rule"]) == ("Ada Lovelace", "Ada", "person")


def test_a_first_name_of_thousands_is_cut_and_found_whole(tmp_path: Path) -> None:
    draw = random.Random(5)
    letters = "bcdfghjklmnprstvz"
    lasts = {
        "".join(draw.choice(letters) + draw.choice("aeiou") for _ in range(5)).title()
        for _ in range(5_000)
    }
    names = [Name("John", "person"), *(Name(f"John {last}", "person") for last in sorted(lasts))]
    sizes = Sizes(block=16, piece=4_096)
    file = written(names, tmp_path / "names.parquet")
    told: list[tuple[str, int, int]] = []
    found = find_pairs(
        file, tmp_path / "out", partitions=3, sizes=sizes, progress=lambda *one: told.append(one)
    )
    other, _ = pairs_in(tmp_path / "out", names)
    assert other == by_survey(names)[0]
    assert found.by_rule["person"] >= len(lasts)
    assert max(total for what, _, total in told if what == "meeting keys") > len(lasts) / 256


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 7))
def test_windows_go_through_every_run_once(many: list[int], size: int) -> None:
    seen = []
    for which, inner in windows(np.array(many, dtype=np.int64), size):
        assert 0 < len(which) == len(inner) <= size
        seen += list(zip(which.tolist(), inner.tolist(), strict=True))
    assert seen == [(k, at) for k, count in enumerate(many) for at in range(count)]


def test_rules_of_a_person_s_own_find_their_pairs(tmp_path: Path, rhyming: str) -> None:
    names = [Name("Bellows"), Name("Gallows"), Name("Rose")]
    file = written(names, tmp_path / "names.parquet")
    assert find_pairs(file, tmp_path / "plain").questions == 0
    found = find_pairs(file, tmp_path / "rhymes", rule_set=rhyming)
    assert found.by_rule == {"rhyme": 1}


def test_the_strict_rules_and_trusted_types_are_kept_to(tmp_path: Path) -> None:
    names = [Name("Kafka", "tool"), Name("KAFKA.", "person"), Name("Kafka Inc", "company")]
    file = written(names, tmp_path / "names.parquet")
    trusted = find_pairs(file, tmp_path / "trusted", types_trusted=True)
    assert (trusted.folds, trusted.by_rule["typed"]) == (0, 1)
    assert "legal-form" in find_pairs(file, tmp_path / "default").by_rule
    assert "legal-form" not in find_pairs(file, tmp_path / "strict", rule_set="strict").by_rule


# ---- a run that is cut off ----

KILLED = """
import os, signal, sys
from enfold.engines import find_pairs
from enfold.engines.job import Sizes

def progress(what, done, total):
    if what == sys.argv[3] and done:
        os.kill(os.getpid(), signal.SIGKILL)

find_pairs(sys.argv[1], sys.argv[2], partitions=3, progress=progress)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_run_that_was_killed_goes_on_where_it_stopped(
    real: tuple[list[Name], Path], tmp_path: Path
) -> None:
    _, file = real
    whole = find_pairs(file, tmp_path / "whole", partitions=3)
    out = tmp_path / "out"
    path = os.pathsep.join(p for p in sys.path if p)
    for step in ("making keys", "comparing spellings", "ruling pairs"):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(file), str(out), step],
            env=os.environ | {"PYTHONPATH": path},
            check=False,
        )
        assert done.returncode == -signal.SIGKILL
        assert not (out / "report.json").exists()
        (out / "work" / "names" / "00000.parquet.0.part").write_bytes(b"half a file")
    (out / "pairs" / "00000-00000.parquet.0.part").write_bytes(b"half a file")
    told: list[str] = []
    found = find_pairs(
        file, out, partitions=3, progress=lambda what, done, _: told.append(f"{what} {done}")
    )
    assert found.resumed
    assert told[:3] == ["reading names 1", "making keys 3", "counting words 1"]
    assert rows_in(out) == rows_in(tmp_path / "whole")
    assert (found.candidates, found.apart) == (whole.candidates, whole.apart)
    assert sorted(p.name for p in out.iterdir()) == ["job.json", "pairs", "report.json"]
    assert pq.read_table(out / "pairs").num_rows == whole.folds + whole.questions


def test_a_pool_that_loses_a_process_says_so_and_goes_on_when_asked_again(
    real: tuple[list[Name], Path], tmp_path: Path
) -> None:
    names, file = real

    def progress(what: str, done: int, _: int) -> None:
        if what == "comparing spellings" and done == 3:
            for child in multiprocessing.active_children():
                child.kill()

    out = tmp_path / "out"
    with pytest.raises(Unavailable, match="goes on where it stopped") as caught:
        find_pairs(file, out, partitions=4, engine="local://2", progress=progress, sizes=SMALL)
    assert caught.value.code == "worker_lost"
    assert find_pairs(file, out, partitions=4, engine="local://2", sizes=SMALL).resumed
    assert pairs_in(out, names)[0] == by_survey(names)[0]


def test_an_interrupt_leaves_what_was_done(real: tuple[list[Name], Path], tmp_path: Path) -> None:
    _, file = real

    def progress(what: str, done: int, _: int) -> None:
        if what == "joining pairs" and done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find_pairs(file, tmp_path / "out", partitions=2, progress=progress)
    assert find_pairs(file, tmp_path / "out", partitions=2).resumed


def test_a_run_that_is_done_is_not_done_again(
    real: tuple[list[Name], Path], tmp_path: Path
) -> None:
    _, file = real
    first = find_pairs(file, tmp_path / "out")

    def never(*_: object) -> None:
        raise AssertionError("it is done already")

    assert find_pairs(file, tmp_path / "out", progress=never) == first
    assert json.loads((tmp_path / "out" / "report.json").read_text())["names"] == first.names


def test_other_names_or_rules_do_not_go_into_the_same_folder(tmp_path: Path) -> None:
    file = written([Name("Ada"), Name("Ada.")], tmp_path / "names.parquet")
    out = tmp_path / "out"
    find_pairs(file, out)
    for options in ({"rule_set": "strict"}, {"partitions": 2}, {"types_trusted": True}):
        with pytest.raises(Refused, match="--fresh") as caught:
            find_pairs(file, out, **options)
        assert caught.value.code == "other_run"
    written([Name("Ada"), Name("Ada."), Name("ada!")], file)
    with pytest.raises(Refused):
        find_pairs(file, out)
    assert find_pairs(file, out, fresh=True).names == 3


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    file = written([Name("Ada")], tmp_path / "names.parquet")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("the only copy")
    with pytest.raises(Refused) as caught:
        find_pairs(file, tmp_path / "out", fresh=True)
    assert caught.value.code == "target_exists"
    assert (tmp_path / "out" / "thesis.txt").read_text() == "the only copy"


# ---- what is read ----


def test_rows_without_a_name_are_counted_and_shown(tmp_path: Path) -> None:
    spelled = ["Ada", None, "  ", "x" * 10_001, "\u200b", "Ada Lovelace"]
    kinds = ["person", None, None, None, None, "person"]
    table = {"name": pa.array(spelled, pa.string()), "type": pa.array(kinds, pa.string())}
    pq.write_table(pa.table(table), tmp_path / "names.parquet")
    found = find_pairs(tmp_path / "names.parquet", tmp_path / "out")
    assert (found.rows, found.names, found.questions) == (6, 2, 1)
    assert found.set_aside == {
        "it has no name": 1,
        "its name is blank": 2,
        "its name is longer than 10,000 characters": 1,
    }
    assert [shown[1] for shown in found.shown] == [1, 2, 3, 4]
    assert rows_in(tmp_path / "out")[0]["right"] == 5


def test_bytes_that_are_no_text_are_set_aside(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_bytes(
        b"name,type\nAda,person\nM\xfcller,person\nAda King,person\n"
    )
    found = find_pairs(tmp_path / "names.csv", tmp_path / "out")
    assert found.set_aside == {"its name is not UTF-8": 1}
    assert found.questions == 1


def test_tables_and_lines_are_read_as_parquet_is(
    real: tuple[list[Name], Path], tmp_path: Path
) -> None:
    _, file = real
    find_pairs(file, tmp_path / "parquet", partitions=2)
    expected = rows_in(tmp_path / "parquet")
    table = pq.read_table(file)
    with (tmp_path / "names.jsonl").open("w") as lines:
        for row in table.to_pylist():
            lines.write(json.dumps(row) + "\n")
    import csv

    with (tmp_path / "names.csv").open("w", newline="") as lines:
        out = csv.writer(lines)
        out.writerow(["type", "more", "name"])
        out.writerows([row["type"] or "", "x", row["name"]] for row in table.to_pylist())
    for kind in ("jsonl", "csv"):
        find_pairs(tmp_path / f"names.{kind}", tmp_path / kind, partitions=2)
        assert rows_in(tmp_path / kind) == expected


def test_lines_that_are_no_json_are_set_aside(tmp_path: Path) -> None:
    lines = ['{"name": "Ada", "type": "person"}', "{", "[1]", '{"title": "x"}', ""]
    lines += ['{"name": "Ada King", "type": "person", "more": 1}', '{"name": "\\ud800"}']
    (tmp_path / "names.jsonl").write_text("\n".join(lines))
    found = find_pairs(tmp_path / "names.jsonl", tmp_path / "out")
    assert found.rows == 6
    assert found.set_aside == {"no JSON": 1, "no JSON object": 1, "it has no name": 1}
    assert found.questions == 1


@pytest.mark.parametrize(("ids", "kind"), [([7, 40], pa.int32()), (["q7", "é"], pa.string())])
def test_ids_are_given_back_as_they_came(tmp_path: Path, ids: list[Any], kind: Any) -> None:
    table = {"id": pa.array(ids, kind), "name": ["Ada King", "Ada"], "type": ["person"] * 2}
    pq.write_table(pa.table(table), tmp_path / "names.parquet")
    find_pairs(tmp_path / "names.parquet", tmp_path / "out")
    (row,) = rows_in(tmp_path / "out")
    assert [row["left"], row["right"]] == ids


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("names.csv", "id,name,type\n07,Ada King,person\nx,Ada,person\n"),
        (
            "names.jsonl",
            '{"id": "07", "name": "Ada King", "type": "person"}\n'
            '{"id": "x", "name": "Ada", "type": "person"}\n{"name": "Bob"}\n',
        ),
    ],
)
def test_ids_of_a_text_are_texts(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    found = find_pairs(tmp_path / name, tmp_path / "out")
    (row,) = rows_in(tmp_path / "out")
    assert (row["left"], row["right"]) == ("07", "x")
    assert found.set_aside == ({} if name.endswith("csv") else {"it has no id": 1})


def test_the_rows_of_a_folder_are_counted_through_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "names"
    folder.mkdir()
    written([Name("Ada King", "person"), Name("Rose")], folder / "a.parquet")
    (folder / "b.csv").write_text("name,type\nBob,person\nAda,person\n")
    (folder / "_SUCCESS").write_text("")
    (folder / "readme.txt").write_text("Two files of names.")
    found = find_pairs(folder, tmp_path / "out")
    assert found.ignored == ["readme.txt"]
    (row,) = rows_in(tmp_path / "out")
    assert (row["left"], row["right"]) == (0, 3)


def test_no_names_give_no_pairs(tmp_path: Path) -> None:
    found = find_pairs(written([], tmp_path / "names.parquet"), tmp_path / "out")
    assert (found.rows, found.names, found.candidates) == (0, 0, 0)
    assert rows_in(tmp_path / "out") == []


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("none.parquet", None, "no_such_file"),
        ("names.parquet", b"PAR1 and no more", "unreadable_file"),
        ("names.bin", b"what is this", "unreadable_file"),
        ("names.csv", b"title,type\nAda,person\n", "no_names"),
        ("names.csv", b"", "unreadable_file"),
        ("names.csv", b"name,type\nAda\nBob,person\n", "unreadable_file"),
    ],
)
def test_a_file_that_holds_no_names_is_told(
    tmp_path: Path, name: str, content: bytes | None, code: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(Invalid) as caught:
        find_pairs(tmp_path / name, tmp_path / "out")
    assert caught.value.code == code


def test_a_parquet_file_that_was_cut_or_has_no_names_is_told(tmp_path: Path) -> None:
    file = written([Name(f"Ada {at}") for at in range(500)], tmp_path / "names.parquet")
    (tmp_path / "cut.parquet").write_bytes(file.read_bytes()[:-100])
    broken = bytearray(file.read_bytes())
    broken[40:400] = bytes(360)
    (tmp_path / "broken.parquet").write_bytes(broken)
    pq.write_table(pa.table({"title": ["Ada"]}), tmp_path / "title.parquet")
    for name, code in (
        ("cut", "unreadable_file"),
        ("broken", "unreadable_file"),
        ("title", "no_names"),
    ):
        with pytest.raises(Invalid) as caught:
            find_pairs(tmp_path / f"{name}.parquet", tmp_path / name)
        assert caught.value.code == code


def test_names_and_pairs_may_lie_behind_a_url(
    real: tuple[list[Name], Path], tmp_path: Path
) -> None:
    import fsspec  # type: ignore[import-untyped]

    _, file = real
    memory = fsspec.filesystem("memory")
    memory.pipe("/partitions/names/a.parquet", file.read_bytes())
    try:
        found = find_pairs(
            "memory://partitions/names", "memory://partitions/out", partitions=2, sizes=SMALL
        )
        there = memory.find("/partitions/out")
        for path in there:
            if path.endswith(".parquet"):
                target = tmp_path / "out" / "pairs" / Path(path).name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(memory.cat(path))
        find_pairs(file, tmp_path / "local", partitions=2)
        assert rows_in(tmp_path / "out") == rows_in(tmp_path / "local")
        assert not any(finding.WORK in Path(path).parts for path in there)
        assert found.questions > 100
    finally:
        memory.rm("/partitions", recursive=True)


@pytest.mark.parametrize(
    "engine",
    ["", "cloud", "local://", "local://0", "local://x", "dask://", "dask://host", "ray://h:1"],
)
def test_an_engine_that_is_none_is_told(tmp_path: Path, engine: str) -> None:
    if engine == "local://":
        return
    file = written([Name("Ada")], tmp_path / "names.parquet")
    with pytest.raises(Invalid, match="dask://HOST:PORT") as caught:
        find_pairs(file, tmp_path / "out", engine=engine)
    assert caught.value.code == "unknown_engine"
    with pytest.raises(Invalid, match="dask://HOST:PORT"):
        enfold.open(":memory:", engine=engine)


def test_an_error_travels_between_processes() -> None:
    for kind in (Invalid, Refused, Unavailable):
        error = kind("some_code", "A sentence.", names=["Ada"])
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), again.code, str(again)) == (kind, "some_code", "A sentence.")
        assert isinstance(again, Error)
        assert again.details == {"names": ["Ada"]}


def test_what_was_found_says_how_it_was_found(
    real: tuple[list[Name], Path], tmp_path: Path
) -> None:
    found: FoundPairs = find_pairs(real[1], tmp_path / "out")
    assert found.engine == "local"
    assert found.partitions == 1
    assert enfold.__version__ in found.version
    assert set(found.seconds) >= {"reading names", "making keys", "ruling pairs"}
