"""``enfold remember`` and ``enfold forget``, as they are typed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import enfold
from enfold import remember
from enfold.formats.texts import texts


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


@pytest.mark.parametrize(
    "wrong",
    [
        '"read": "false"',
        '"read": 0',
        '"mentions": 0',
        '"mentions": ""',
        '"mentions": false',
        '"mentions": [{"name": "Ada", "type": 5}]',
        '"facts": {}',
        '"facts": [{"subject": "a", "predicate": "b", "object": "c", "confidence": true}]',
        '"facts": [{"subject": "a", "predicate": "b", "object": "c", "confidence": 7}]',
        '"title": true',
        '"id": []',
    ],
)
def test_a_key_of_the_wrong_type_is_told(tmp_path: Path, wrong: str) -> None:
    file = tmp_path / "m.jsonl"
    file.write_text(f'{{"content": "a", {wrong}}}\n{{"content": "b", "read": null}}\n')
    bad, good = texts(file, enfold.Text("", kind=""))
    assert isinstance(bad, enfold.SetAside)
    assert bad.line == 1
    assert isinstance(good, enfold.Text)


@pytest.mark.parametrize(
    "held", [b"\x89PNG\r\n", b"PAR1....", b"a\0b\0c", b"\x1f\x8b\x08", b"PK\x03\x04."]
)
def test_what_is_no_text_is_told_with_what_is_taken_here(tmp_path: Path, held: bytes) -> None:
    file = tmp_path / "a. b.md"
    file.write_bytes(held)
    with pytest.raises(enfold.Invalid) as caught:
        list(texts(file, enfold.Text("", kind="")))
    said = str(caught.value)
    assert caught.value.code == "binary_file"
    assert said.startswith("a. b.md ")
    assert ".jsonl" in said
    assert not any(word in said for word in ("GraphML", "CSV", "MCP"))


def test_texts_of_a_call_that_was_cut_off_are_read_by_the_next(tmp_path: Path) -> None:
    with enfold.open(tmp_path / "enfold.db") as graph, graph._store.write() as tx:
        remember.store(tx, [enfold.Text("Ada Lovelace wrote to Charles Babbage.")])
    done = run("remember", "Ada Lovelace wrote to Charles Babbage.", here=tmp_path)
    assert "It waited to be read: 2 mentions" in done.stdout
    again = document("remember", "Ada Lovelace wrote to Charles Babbage.", here=tmp_path)
    assert (again["repeats"], again["mentions"]) == (1, 0)


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
    done = run("forget", "1", "1", "--yes", here=tmp_path)
    assert done.stdout == "Deleted memory 1 with mentions and facts.\n"
    assert memories(tmp_path) == []


def test_a_text_that_is_a_path_can_be_meant_as_text(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("Inside.")
    run("remember", "--text", "notes", here=tmp_path)
    assert [m.content for m in memories(tmp_path)] == ["notes"]


@pytest.mark.parametrize("given", ["", " ", "\u200b"])
def test_a_blank_text_is_refused_and_never_the_folder_one_is_in(tmp_path: Path, given: str) -> None:
    (tmp_path / "private.md").write_text("Not meant.")
    done = run("remember", given, here=tmp_path)
    assert done.returncode == 1
    assert "blank" in done.stdout
    assert memories(tmp_path) == []


@pytest.mark.parametrize("slip", ["nots.md", "notes/", "deep/lines.jsonl"])
def test_a_path_of_nothing_is_a_slip_and_no_text(tmp_path: Path, slip: str) -> None:
    done = run("remember", slip, here=tmp_path)
    assert done.returncode == 5
    assert "--text" in done.stderr
    told = document("remember", slip, "Ada sings.", here=tmp_path, code=1)
    assert (told["memories"], len(told["aside"])) == (1, 1)
    assert run("remember", "--text", slip, here=tmp_path).returncode == 0


def test_what_is_no_file_in_a_folder_is_told_and_the_rest_is_taken(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    os.mkfifo(notes / "pipe.md")
    (notes / "loop.md").symlink_to("loop.md")
    (notes / "nul.md").write_bytes(b"{\0}")
    (notes / "self").symlink_to("../notes")
    (notes / "ada.md").write_text("Ada sings.")
    told = document("remember", "notes", here=tmp_path, code=1)
    assert told["memories"] == 1
    assert sorted(Path(one["source"]).name for one in told["aside"]) == [
        "loop.md",
        "nul.md",
        "pipe.md",
    ]
    assert run("remember", "notes/loop.md", here=tmp_path).returncode == 5


def test_a_folder_that_can_not_be_entered_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "ada.md").write_text("Ada sings.")
    scan = os.scandir

    def closed(path: str | os.PathLike[str]) -> Any:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", closed)
    found = list(texts(tmp_path, enfold.Text("", kind="")))
    assert [type(one).__name__ for one in found] == ["Text", "SetAside"]
    assert "Permission denied" in getattr(found[1], "reason", "")


def test_files_whose_names_differ_in_what_is_not_shown_are_files_of_their_own(
    tmp_path: Path,
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("a b.md", "a  b.md", "c.md", "c\u200b.md", os.fsdecode(b"\xfe.md")):
        (notes / name).write_text(f"The text of {len(name)} {name!r}.")
    assert document("remember", "notes", here=tmp_path)["memories"] == 5
    again = document("remember", "notes", here=tmp_path)
    assert (again["memories"], again["repeats"]) == (0, 5)


def test_an_id_that_is_given_for_a_file_is_its_id(tmp_path: Path) -> None:
    for said in ("One.", "Two."):
        (tmp_path / "a.md").write_text(said)
        run("remember", "a.md", "--id", "mine", "--source", "book", here=tmp_path)
    held = memories(tmp_path)
    assert [(m.content, m.caller_id, m.source, m.follows_id) for m in held] == [
        ("One.", None, "book", None),
        ("Two.", "mine", "book", 1),
    ]


def test_one_id_is_not_given_to_many_texts(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("One.")
    for words, given in ((["notes"], ""), (["-"], '"One."\n"Two."\n')):
        done = run("remember", *words, "--id", "mine", here=tmp_path, given=given)
        assert done.returncode == 5
        assert "an id names one" in done.stderr
    assert memories(tmp_path) == []


def test_what_is_set_aside_says_where_it_stands(tmp_path: Path) -> None:
    lines = ['"Ada sings."', '{"content": " "}', '"Bo paints."', '{"content": "x", "kind": "no"}']
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    told = document("remember", "a.jsonl", here=tmp_path, code=1)
    assert [(one["source"], one["line"]) for one in told["aside"]] == [
        ("a.jsonl", 2),
        ("a.jsonl", 4),
    ]
