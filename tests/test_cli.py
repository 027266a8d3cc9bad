"""The command line as scripts and terminals meet it: help, exit codes, JSON, pipes, bad input."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

import enfold
from enfold.cli import exits, terminal
from enfold.cli.commands import app
from tests.told import told

EXAMPLE = Path(__file__).parents[1] / "examples" / "dmetrics" / "memory.jsonl"
VAULT = Path(__file__).parent / "data" / "vault"
QUESTIONS = Path(__file__).parent / "data" / "gate" / "questions.jsonl"
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
POSIX = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")

# Every command, as it is called where it is done (exit code 0) on a settled graph.
CALLS: dict[str, list[str]] = {
    "scan": [str(EXAMPLE)],
    "explain": ["GPT-4", "GPT-4o"],
    "pairs": [str(EXAMPLE), "found"],
    "evaluate": ["pairs.tsv"],
    "resolve": [],
    "conflicts": [],
    "decide": ["1", "keep_both"],
    "reopen": ["2"],
    "merges": [],
    "revert": ["1"],
    "merge": ["power.c", "power.h"],
    "apart": [],
    "keep-apart": ["power.c", "dmetrics-go"],
    "undo-apart": ["1"],
    "review": ["--export", "questions.csv"],
    "decisions": [],
    "vault": [str(VAULT)],
    "find": ["cpu_package"],
    "search": ["cpu_pakage"],
    "related": ["dmetrics-go"],
    "path": ["dmetrics-go", "cpu_package"],
    "show": ["CPUPackage"],
    "entity": ["CPUPackage"],
    "rename": ["TODO.md", "To do"],
    "alias": ["TODO.md", "the list"],
    "retype": ["TODO.md", "file"],
    "delete": ["TODO.md", "--yes"],
    "import": [str(EXAMPLE)],
    "export": [],
    "status": [],
    "summary": [],
    "check": [],
    "backup": ["copy.db"],
    "copy": ["good.db", "copied.db"],
    "restore": ["good.db", "--yes"],
    "runs": [],
    "forget": ["1", "--yes"],
    "remember": ["Ada moved the ingest worker to `Postgres 15`."],
    "recall": ["what reads cpu_package?"],
    "index": [],
    "reembed": [],
    "gate": [str(QUESTIONS)],
    "history": ["1"],
    "vocabulary": [],
}
READS = {
    "explain": ["a", "b", "--db", "none.db"],
    **{
        name: CALLS[name]
        for name in (
            "conflicts merges apart find search related show export status check runs".split()
        )
    },
}


def enfold_in(*args: str) -> Result:
    """The command in this process."""
    return CliRunner().invoke(app, list(args))


def enfold_out(
    *args: str, env: dict[str, str] | None = None, **more: Any
) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own."""
    environment = {**os.environ, **(env or {})}
    command = [sys.executable, "-m", "enfold", *args]
    return subprocess.run(command, capture_output=True, env=environment, check=False, **more)


@pytest.fixture(scope="session")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real graph with two folds, a pending question, an answered one and a decision."""
    path = tmp_path_factory.mktemp("cli") / "settled.db"
    with enfold.open(path) as graph:
        graph.import_files(EXAMPLE)
        graph.resolve(backup=False)
        graph.decide(2, "keep_both")
    return path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test works in a folder of its own, with no settings but the defaults."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in sys.path if p))
    for variable in list(os.environ):
        if variable.startswith("ENFOLD_") or variable in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}:
            monkeypatch.delenv(variable)
    return tmp_path


@pytest.fixture
def graph(settled: Path, folder: Path) -> Path:
    """The settled graph as ./enfold.db, with files to read beside it."""
    shutil.copy(settled, folder / "enfold.db")
    shutil.copy(settled, folder / "good.db")
    rows = ["left\tright\tverdict", "Claude Code\tclaude-code\tFOLD", "GPT-4\tGPT-5\tAPART"]
    (folder / "pairs.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder / "enfold.db"


# ---- help ----------------------------------------------------------------------------------------


def test_enfold_alone_prints_its_help() -> None:
    result = enfold_in()
    assert result.exit_code == 0
    assert result.stdout == enfold_in("--help").stdout == enfold_in("-h").stdout


def test_the_help_lists_every_command_and_every_exit_code() -> None:
    text = enfold_in("--help").stdout
    for name, command in COMMANDS.items():
        assert command.hidden or re.search(rf"^  {name} +[A-Z]", text, re.MULTILINE), name
    for code, meaning in exits.TABLE.items():
        assert re.search(rf"^ +{code}  {re.escape(meaning)}$", text, re.MULTILINE)


def test_every_command_is_tried_here() -> None:
    assert set(CALLS) == set(COMMANDS)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_the_help_of_a_command_says_what_it_does_and_gives_an_example(name: str) -> None:
    result = enfold_in(name, "--help")
    assert result.exit_code == 0
    assert re.search(r"^  [A-Z].+[.?]$", result.stdout, re.MULTILINE)
    shown = name if not COMMANDS[name].hidden else r"\w+"
    assert re.search(rf"Examples?:\n    enfold {shown}", result.stdout)
    assert "--json" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "list[" not in result.stdout
    assert "9223372036854775807" not in result.stdout


@pytest.mark.parametrize("name", sorted(n for n, c in COMMANDS.items() if not c.hidden))
def test_the_line_that_lists_a_command_is_not_cut(name: str) -> None:
    listed = next(
        line for line in enfold_in("--help").stdout.splitlines() if line.startswith(f"  {name} ")
    )
    assert listed.endswith((".", "?"))
    assert not listed.endswith("...")


def test_the_version_is_printed() -> None:
    assert enfold_in("--version").stdout == f"enfold {enfold.__version__}\n"


def test_help_and_lookups_load_neither_numpy_nor_pydantic(graph: Path) -> None:
    for args in (["--help"], ["find", "cpu_package"], ["status"]):
        code = (
            "import sys\nfrom enfold.cli.commands import app\n"
            f"try: app({args!r})\nexcept SystemExit: pass\n"
            "print('loaded', *{'numpy', 'pydantic'} & sys.modules.keys())"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert done.stdout.splitlines()[-1].split() == [b"loaded"]


# ---- JSON and exit codes ------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(CALLS))
def test_json_is_one_document_and_nothing_else(graph: Path, name: str) -> None:
    result = enfold_in(name, "--json", *CALLS[name])
    assert result.exit_code == 0, result.stderr
    json.loads(result.stdout)
    assert result.stderr == ""


@pytest.mark.parametrize("name", sorted(CALLS))
def test_every_command_says_something_to_people(graph: Path, name: str) -> None:
    result = enfold_in(name, *CALLS[name])
    assert result.exit_code == 0, result.stderr
    assert result.stdout.strip()
    assert "\x1b" not in result.output
    assert not re.search(r"[│┃┌╭━─]", result.output)


@pytest.mark.parametrize("name", ["merge", "decide", "revert", "rename", "delete", "resolve"])
def test_quiet_leaves_out_receipts_and_hints(graph: Path, name: str) -> None:
    assert enfold_in(name, "--quiet", *CALLS[name]).output == ""


def test_quiet_still_gives_answers(graph: Path) -> None:
    assert "CPUPackage" in enfold_in("find", "-q", "cpu_package").stdout


def test_a_global_option_may_stand_before_the_command(graph: Path) -> None:
    before = enfold_in("--json", "--db", "good.db", "status")
    assert json.loads(before.stdout)["url"] == "good.db"


@pytest.mark.parametrize(
    ("args", "code", "name"),
    [
        (["find", "nobody of this name"], 3, None),
        (["show", "nobody of this name"], 3, "unknown"),
        (["related", "nobody of this name"], 3, "unknown"),
        (["decide", "999", "keep_both"], 3, "no_conflict"),
        (["revert", "999"], 3, "no_merge"),
        (["merges", "999"], 3, "no_merge"),
        (["undo-apart", "999"], 3, "no_decision"),
        (["forget", "99999", "--yes"], 3, "no_memory"),
        (["status", "--db", "none.db"], 3, "no_graph"),
        (["restore", "none.db", "--yes"], 3, "no_graph"),
        (["merge", "CPUMetrics", "cpumetrics"], 4, "already_one"),
        (["merge", "PowerMetrics", "power_metrics_module"], 4, "settled_apart"),
        (["decide", "2", "keep_new"], 4, "already_answered"),
        (["decide", "1", "merge"], 4, "rename_instead"),
        (["delete", "CPUPackage", "--yes"], 4, "under_fold"),
        (["delete", "TODO.md"], 4, "not_confirmed"),
        (["forget", "1"], 4, "not_confirmed"),
        (["restore", "good.db"], 4, "not_confirmed"),
        (["rename", "TODO.md", "power.c"], 4, "name_taken"),
        (["backup", "good.db"], 4, "target_exists"),
        (["export", "--out", "good.db"], 4, "target_exists"),
        (["decide", "1", "perhaps"], 5, "bad_answer"),
        (["export", "--format", "xml"], 5, "unknown_format"),
        (["export", "--out", "none/x.jsonl"], 5, "no_directory"),
        (["resolve", "--rules", "none"], 5, "unknown_rules"),
        (["scan", "none.jsonl"], 5, "no_such_file"),
        (["scan", "."], 5, "nothing_readable"),
        (["evaluate", "good.db"], 5, "unreadable"),
        (["evaluate", "none.tsv"], 5, "unreadable"),
        (["find", " "], 5, "blank_name"),
        (["find", "x" * 20_000], 5, "name_too_long"),
        (["status", "--db", "pairs.tsv"], 5, "not_a_database"),
        (["decide", "0", "keep_new"], 2, "usage"),
        (["decide", "9" * 30, "keep_new"], 2, "usage"),
        (["decide", "one", "keep_new"], 2, "usage"),
        (["conflicts", "--limit", "0"], 2, "usage"),
        (["retype", "TODO.md"], 2, "usage"),
        (["find"], 2, "usage"),
        (["frobnicate"], 2, "usage"),
        (["find", "x", "--frobnicate"], 2, "usage"),
    ],
)
def test_the_exit_code_and_the_error_say_what_is_wrong(
    graph: Path, args: list[str], code: int, name: str | None
) -> None:
    shown = enfold_in(*args)
    assert shown.exit_code == code
    assert "Traceback" not in shown.output
    if name is None:
        return
    assert shown.stdout == ""
    assert shown.stderr.startswith("enfold: ")
    error = json.loads(enfold_in(*args, "--json").stderr)["error"]
    assert set(error) == {"code", "message", "details"}
    assert error["code"] == name


def test_a_name_that_fits_several_entities_exits_6(graph: Path) -> None:
    with enfold.open("two.db") as made:
        for spelling in ("Mercury!", "Mercury"):
            told(made, f"about {spelling}", mentions=[spelling])
    found = enfold_in("find", "mer-cury", "--db", "two.db", "--json")
    assert found.exit_code == 6
    assert json.loads(found.stdout)["result"] == "ambiguous"
    assert len(json.loads(found.stdout)["candidates"]) == 2
    assert "id:1" in enfold_in("find", "mer-cury", "--db", "two.db").stdout
    assert enfold_in("show", "mer-cury", "--db", "two.db").exit_code == 6
    assert enfold_in("show", "id:1", "--db", "two.db").exit_code == 0


def test_check_exits_1_where_an_invariant_does_not_hold(graph: Path) -> None:
    with sqlite3.connect(graph) as connection:
        connection.execute("UPDATE merge SET reverted_at = '2020' WHERE id = 1")
    connection.close()
    result = enfold_in("check")
    assert result.exit_code == 1
    assert "do not hold" in result.stdout
    told = json.loads(enfold_in("check", "--json").stdout)
    assert told["clean"] is False
    assert told["violations"]


def test_evaluate_exits_1_on_a_wrong_verdict_only_where_asked(folder: Path) -> None:
    (folder / "pairs.tsv").write_text("left\tright\tverdict\nAda\tBob\tFOLD\n", encoding="utf-8")
    assert enfold_in("evaluate", "pairs.tsv").exit_code == 0
    assert enfold_in("evaluate", "pairs.tsv", "--strict").exit_code == 1
    told = json.loads(enfold_in("evaluate", "pairs.tsv", "--json").stdout)
    assert (told["pairs"], told["right"]) == (1, 0)
    assert set(told["wrong"][0]) >= {"left", "right", "verdict", "expected", "rule", "reason"}


def test_a_setting_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENFOLD_TYPO", "1")
    result = enfold_in("status")
    assert result.exit_code == 5
    assert "ENFOLD_TYPO" in result.stderr


def test_a_fault_is_one_line_and_its_traceback_is_shown_on_demand(
    graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a \x1b[31mfault")

    monkeypatch.setattr("enfold.graph.Graph.summary", fails)
    result = enfold_in("status")
    assert result.exit_code == 70
    assert "Traceback" not in result.stderr
    assert "--debug" in result.stderr
    assert "\x1b" not in result.stderr
    assert "Traceback" in enfold_in("status", "--debug").stderr


# ---- graphs that are not there, or not ours ------------------------------------------------------


@pytest.mark.parametrize("name", sorted(READS))
def test_a_command_that_reads_makes_no_graph(folder: Path, name: str) -> None:
    result = enfold_in(name, *READS[name])
    assert result.exit_code == 3
    assert "enfold import" in result.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["resolve", "decide", "revert", "merge", "rename", "delete"])
def test_a_command_that_settles_makes_no_graph(folder: Path, name: str) -> None:
    assert enfold_in(name, *CALLS[name]).exit_code == 3
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02" * 100, b"hello\n", b'{"a": 1}\n'])
def test_a_file_of_no_use_leaves_no_graph(folder: Path, content: bytes) -> None:
    (folder / "in.jsonl").write_bytes(content)
    for command in ("scan", "import"):
        assert enfold_in(command, "in.jsonl").exit_code == 5
    assert [path.name for path in folder.iterdir()] == ["in.jsonl"]


def test_a_restore_that_fails_leaves_no_graph(folder: Path) -> None:
    (folder / "backup.db").write_bytes(b"no backup")
    assert enfold_in("restore", "backup.db", "--yes").exit_code == 5
    assert [path.name for path in folder.iterdir()] == ["backup.db"]


def test_a_database_of_another_program_is_left_as_it_is(folder: Path) -> None:
    with sqlite3.connect(folder / "enfold.db") as connection:
        connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    before = (folder / "enfold.db").read_bytes()
    for args in (["status"], ["import", str(EXAMPLE)], ["resolve"]):
        result = enfold_in(*args)
        assert result.exit_code == 5
        assert "another program" in result.stderr
    assert (folder / "enfold.db").read_bytes() == before


@pytest.fixture
def read_only(settled: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The settled graph where nothing may be written, by a user who may write nothing there."""
    if os.name == "nt":
        pytest.skip("needs a POSIX system")
    with tempfile.TemporaryDirectory() as place:
        path = Path(shutil.copy(settled, place))
        path.chmod(0o444)
        monkeypatch.chdir(place)
        Path(place).chmod(0o555)
        for name in READS:  # root may not lend its modules to others; they are loaded by then
            enfold_in(name, *CALLS[name], "--db", str(path))
        root = os.geteuid() == 0
        if root:
            os.seteuid(65_534)
        try:
            yield path
        finally:
            if root:
                os.seteuid(0)
            Path(place).chmod(0o755)


def test_a_read_only_graph_can_be_read_and_says_that_it_cannot_be_written(
    read_only: Path,
) -> None:
    for name in READS:
        result = enfold_in(name, *CALLS[name], "--db", str(read_only))
        assert result.exit_code == 0, (name, result.stderr)
    for name in ("merge", "resolve", "decide", "rename"):
        result = enfold_in(name, *CALLS[name], "--db", str(read_only))
        assert result.exit_code == 7
        assert "can only be read here" in result.stderr


@pytest.mark.parametrize("name", sorted(READS))
def test_a_command_that_reads_leaves_the_file_as_it_is(graph: Path, name: str) -> None:
    before = graph.read_bytes()
    enfold_in(name, *CALLS[name])
    assert graph.read_bytes() == before


def test_explain_works_without_a_graph(folder: Path) -> None:
    result = enfold_in("explain", "Claude Code", "claude-code")
    assert result.exit_code == 0
    assert "FOLD by identical" in result.stdout
    assert list(folder.iterdir()) == []


# ---- pipes, locales, terminals -------------------------------------------------------------------


@POSIX
def test_a_reader_that_leaves_ends_the_command_quietly(graph: Path) -> None:
    for args in (["export"], ["conflicts"], ["merges", "--json"], ["scan", str(EXAMPLE)]):
        command = [sys.executable, "-m", "enfold", *args]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read().decode()
        process.stderr.close()
        assert process.wait(60) == 0
        assert "rror" not in said
        assert "Traceback" not in said


@POSIX
def test_a_command_finishes_its_work_though_its_reader_has_left(graph: Path) -> None:
    command = f"'{sys.executable}' -m enfold merge power.c power.h | true"
    subprocess.run(["sh", "-c", command], capture_output=True, check=True)
    assert "power.h" in enfold_in("find", "power.c").stdout


@POSIX
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_output_that_is_full_is_an_error(graph: Path) -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "enfold", "export"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 7
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr


@POSIX
def test_closed_streams_are_no_fault(graph: Path) -> None:
    for closed in (">&-", "2>&-", ">&- 2>&-"):
        command = f"'{sys.executable}' -m enfold conflicts {closed}"
        done = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
)
def test_no_locale_is_too_poor_for_a_name(graph: Path, env: dict[str, str]) -> None:
    with enfold.open(graph) as made:
        made.remember("wide", mentions=["北京大学图书馆", "Zoë → ✓"])
    shown = enfold_out("show", "Zoë → ✓", env=env)
    named = enfold_out("show", "id:50", "--json", env=env)
    for done in (shown, named, enfold_out("export", env=env), enfold_out("--help", env=env)):
        assert done.returncode in (0, 3), done.stderr
        assert b"Traceback" not in done.stderr


HOSTILE = [
    "[red]Alert[/red]",
    "[/]",
    "[link=http://x]y[/link]",
    ":smile: `code` **bold**",
    "-foo",
    "--help",
    "%s {0} $(id) ;",
    "x" * 5_000,
    "北京大学图书馆" * 20,
    "e\u0301" * 300,
    "👩‍👩‍👧‍👦 family",
    "\u202egnp.elif",
    "a\u2028b\u2029c",
    "zero\u200bwidth\ufeff",
]


def test_hostile_names_are_shown_as_they_are_and_reach_no_terminal_raw(folder: Path) -> None:
    lines = [
        {"type": "entity", "name": name, "entityType": f"{name[:50]}\x1b[31m", "observations": [o]}
        for name in HOSTILE
        for o in [f"about {name} \x1b[2J\x07\x9b31m"]
    ]
    lines += [{"type": "entity", "name": f"{name}!", "observations": []} for name in HOSTILE]
    lines += [
        {"type": "relation", "from": HOSTILE[0], "to": name, "relationType": f"\x1b]0;{name}\x07"}
        for name in HOSTILE
    ]
    text = "\n".join(map(json.dumps, lines)) + '\n{"type": "\x1b[31m\u202e", "x": 1}\n'
    (folder / "in.jsonl").write_text(text, encoding="utf-8")
    calls = [
        ["scan", "in.jsonl", "--all"],
        ["import", "in.jsonl", "--all"],
        ["resolve", "--dry-run"],
        ["resolve", "--no-backup"],
        ["conflicts"],
        ["merges"],
        ["runs"],
        ["runs", "1"],
        *(["show", "--", name] for name in HOSTILE),
        *(["find", "--", name] for name in HOSTILE),
        ["related", HOSTILE[0]],
        ["explain", HOSTILE[0], "\x1b[31mred\x07"],
        ["find", "\x1b[31m nobody \x07\u202e"],
        ["show", "\x1b[31m nobody \x07\u202e"],
        ["rename", HOSTILE[0], "\x1b[1mBold"],
    ]
    unsafe = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\u200b\ufeff]")
    for args in calls:
        for call in (args, [args[0], "--json", *args[1:]]):
            result = enfold_in(*call)
            assert result.exit_code in (0, 3), (call, result.output)
            assert not unsafe.search(result.output), (call, unsafe.search(result.output))
    assert "[red]alert[/red]" in enfold_in("show", "[RED]alert[/RED]", "--json").output.lower()


def test_what_a_terminal_must_not_see_is_written_out() -> None:
    assert terminal.visible("a\x1b[31mb\nc\u202ed\ud800\U000e0001") == (
        r"a\x1b[31mb\nc\u202ed\ud800\U000e0001"
    )
    assert terminal.visible("👩‍👩‍👧‍👦 e\u0301 北京 می‌خواهم") == "👩‍👩‍👧‍👦 e\u0301 北京 می‌خواهم"
    assert terminal.visible("x" * 50, 10) == "x" * 9 + "…"


def test_a_name_that_is_no_unicode_is_no_fault(graph: Path) -> None:
    done = enfold_out("find", os.fsdecode(b"caf\xe9")) if os.name != "nt" else enfold_out("status")
    assert done.returncode in (0, 3, 5)
    assert b"Traceback" not in done.stderr
    assert b"fault" not in done.stderr


def test_a_pipe_gets_one_line_for_each_record(graph: Path) -> None:
    lines = enfold_in("merges").stdout.splitlines()
    assert len(lines) == 2
    assert all(re.match(r"\d+  \S.*→", line) for line in lines)
    assert all(line == line.rstrip() for line in lines)


def on_terminal(*args: str, columns: int = 80, typed: str = "", color: bool = True) -> str:
    """What the command writes to a terminal of so many columns."""
    pty = pytest.importorskip("pty")
    termios = pytest.importorskip("termios")
    main, side = pty.openpty()
    termios.tcsetwinsize(side, (40, columns))
    env = {**os.environ, "TERM": "xterm-256color" if color else "dumb"}
    command = [sys.executable, "-m", "enfold", *args]
    process = subprocess.Popen(command, stdin=side, stdout=side, stderr=side, env=env)
    os.close(side)
    os.write(main, typed.encode())
    said = b""
    while select.select([main], [], [], 60)[0]:
        try:
            part = os.read(main, 65536)
        except OSError:
            break
        if not part:
            break
        said += part
    process.wait(60)
    os.close(main)
    return said.decode()


def plain(text: str) -> str:
    """What is left to be seen: without colours, and without what a carriage return writes over, as
    progress that a slow machine shows."""
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return re.sub(r"[^\r\n]*\r(?!\n)", "", shown).replace("\r", "")


@POSIX
@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_scan_fits_the_terminal(columns: int) -> None:
    from rich.cells import cell_len

    said = plain(on_terminal("scan", str(EXAMPLE), columns=columns))
    assert "cpu_package" in said
    assert "Would fold (2)" in said
    assert max(map(cell_len, said.splitlines())) <= columns


@POSIX
def test_colour_is_for_terminals_that_want_it(graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" in on_terminal("merges")
    assert "\x1b[" not in on_terminal("merges", "--no-color")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in on_terminal("merges")


@POSIX
def test_a_delete_asks_a_person_first(graph: Path) -> None:
    said = on_terminal("delete", "TODO.md", typed="n\n")
    assert "Delete TODO.md" in said
    assert "nothing was changed" in said
    assert enfold_in("find", "TODO.md").exit_code == 0
    assert "Deleted" in on_terminal("delete", "TODO.md", typed="y\n")
    assert enfold_in("find", "TODO.md").exit_code == 3


# ---- interrupts ----------------------------------------------------------------------------------


INTERRUPTIBLE = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
runpy.run_module("enfold", run_name="__main__", alter_sys=True)
"""

SLOW_RULES = """
import time
from pathlib import Path
from enfold import pairs, rules

def ponder(left, right, context):
    Path("pondering").touch()
    time.sleep(60)

def everything(name):
    return ("everything",)

rule = rules.Rule("ponder", "ASK", ponder, "Nothing.", "A test.")
pairs.register("slow", [rule], {"ponder": pairs.Blocking(everything, everything)})
"""


@POSIX
def test_an_interrupted_pass_changes_nothing_and_says_so(folder: Path) -> None:
    (folder / "in.csv").write_text("name\nAda\nBob\n", encoding="utf-8")
    (folder / "slow_rules.py").write_text(SLOW_RULES, encoding="utf-8")
    assert enfold_in("import", "in.csv", "--quiet").exit_code == 0
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, "resolve", "--rules", "slow"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=os.environ
        | {
            "ENFOLD_RULES_MODULE": "slow_rules",
            "PYTHONPATH": f"{folder}{os.pathsep}{os.environ['PYTHONPATH']}",
        },
    )
    while not (folder / "pondering").exists():
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    out, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert out == b""
    assert said.decode().strip() == "enfold: Interrupted; nothing was changed."
    assert json.loads(enfold_in("status", "--json").stdout)["unexamined"] == 2
    assert enfold_in("check").exit_code == 0


def test_an_interrupt_after_the_pass_says_that_it_was_done(
    graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("enfold.resolve.index_names", interrupted)
    result = enfold_in("resolve", "--full", "--no-backup")
    assert result.exit_code == 130
    assert "after the pass was done" in result.stderr


def test_an_interrupted_import_changes_nothing(
    graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("enfold.intake.intake", interrupted)
    before = json.loads(enfold_in("status", "--json").stdout)
    assert enfold_in("import", str(EXAMPLE)).exit_code == 130
    assert json.loads(enfold_in("status", "--json").stdout) == before


# ---- where an export goes ------------------------------------------------------------------------


@POSIX
def test_an_export_over_the_graph_itself_is_refused(graph: Path) -> None:
    db = Path("enfold.db")
    link = Path("link.jsonl")
    link.symlink_to(db)
    for out in (db, link):
        result = enfold_in("export", "--out", str(out), "--force")
        assert result.exit_code == 4
        assert "is the graph itself" in result.stderr
    assert enfold_in("check").exit_code == 0


@POSIX
def test_an_export_writes_through_a_link_and_to_what_is_no_file(graph: Path) -> None:
    target, link = Path("target.jsonl"), Path("link.jsonl")
    target.write_text("old")
    link.symlink_to(target)
    assert enfold_in("export", "--out", str(link), "--force").exit_code == 0
    assert link.is_symlink()
    assert target.read_text().startswith("{")
    assert enfold_in("export", "--out", "/dev/null", "--force").exit_code == 0
    assert not Path("/dev/null").is_file()


@POSIX
def test_what_is_held_back_when_the_reader_leaves_fails_nowhere() -> None:
    script = (
        "import sys; from enfold.cli.app import _say\n"
        "sys.stdout.write('held back')\n"
        "sys.exit(_say(BrokenPipeError(), []))\n"
    )
    held = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-c", script]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=held)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(60) == 0
