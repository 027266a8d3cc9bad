"""``enfold remember`` and ``enfold forget``, as they are typed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import enfold


def run(*words: str, here: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "enfold", *words],
        cwd=here,
        input=given,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def document(*words: str, here: Path, given: str = "", code: int = 0) -> Any:
    done = run(*words, "--json", here=here, given=given)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def memories(here: Path) -> list[enfold.Memory]:
    with enfold.open(here / "enfold.db") as graph, graph._store.read() as tx:
        return [memory for memory, _, _ in tx.memories.all()]


def test_a_text_is_remembered_and_told_what_it_names(tmp_path: Path) -> None:
    done = run("remember", "Ada moved the ingest worker to `PostgreSQL 15`.", here=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Memory 1: ")
    again = run("remember", "Ada moved the ingest worker to `PostgreSQL 15`.", here=tmp_path)
    assert again.stdout == "Known already as memory 1; it came 1 time more.\n"


def test_lines_from_a_pipe_are_taken_and_bad_ones_are_told(tmp_path: Path) -> None:
    lines = [
        '{"content": "Ada sings.", "mentions": ["Ada"], "id": "m1", "kind": "episode"}',
        '"Bo paints."',
        '{"content": ""}',
        '{"contents": "misspelt"}',
        "{broken",
        '{"content": "Ada met Bo.", "facts": [["Ada", "knows", "Bo"]]}',
    ]
    told = document("remember", here=tmp_path, given="\n".join(lines), code=1)
    assert (told["memories"], told["facts"], len(told["aside"])) == (3, 1, 3)
    assert [m.content for m in memories(tmp_path)] == ["Ada sings.", "Bo paints.", "Ada met Bo."]
    assert memories(tmp_path)[0].kind == "episode"
    again = document("remember", "-", here=tmp_path, given="\n".join(lines[:2]))
    assert (again["memories"], again["repeats"]) == (0, 2)


def test_prose_from_a_pipe_is_one_text(tmp_path: Path) -> None:
    document("remember", here=tmp_path, given="Ada sings.\nBo paints.\n")
    assert [(m.content, m.kind) for m in memories(tmp_path)] == [("Ada sings.\nBo paints.", "fact")]


def test_a_folder_is_taken_file_by_file_and_again_only_what_changed(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "deep").mkdir(parents=True)
    (notes / ".hidden").mkdir()
    (notes / "a.md").write_text("# One\n\nFirst.\n\n# Two\n\nSecond.\n")
    (notes / "deep" / "b.txt").write_text("Third.")
    (notes / ".hidden" / "c.md").write_text("Hidden.")
    (notes / "picture.png").write_bytes(b"\x89PNG")
    told = document("remember", "notes", here=tmp_path)
    assert (told["memories"], told["passages"]) == (2, 2)
    (notes / "a.md").write_text("# One\n\nFirst, changed.\n\n# Two\n\nSecond.\n")
    told = document("remember", "notes", here=tmp_path)
    assert (told["memories"], told["repeats"]) == (1, 1)
    held = [m.content for m in memories(tmp_path) if m.status == "active"]
    assert sorted(held) == sorted(
        ["Third.", "# One\n\nFirst, changed.\n\n# Two\n\nSecond.\n", "First, changed.", "Second."]
    )


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["remember", "  "], 1),
        (["remember", "x", "--kind", "rumour"], 1),
        (["remember", "x", "y", "--id", "one"], 2),
        (["forget", "12", "--yes"], 3),
    ],
)
def test_what_can_not_be_done_is_said(tmp_path: Path, words: list[str], code: int) -> None:
    run("remember", "Ada sings.", here=tmp_path)
    done = run(*words, here=tmp_path)
    assert done.returncode == code, (done.stdout, done.stderr)
    assert len(memories(tmp_path)) == 1


def test_a_memory_is_forgotten_when_that_is_confirmed(tmp_path: Path) -> None:
    run("remember", "Ada sings.", here=tmp_path)
    assert run("forget", "1", here=tmp_path).returncode != 0
    assert len(memories(tmp_path)) == 1
    done = run("forget", "1", "--yes", here=tmp_path)
    assert done.stdout == "Deleted memory 1 with mentions and facts.\n"
    assert memories(tmp_path) == []


def test_a_text_that_is_a_path_can_be_meant_as_text(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("Inside.")
    run("remember", "--text", "notes", here=tmp_path)
    assert [m.content for m in memories(tmp_path)] == ["notes"]
