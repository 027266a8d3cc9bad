"""Decisions as text and CSV: written, read, and taken into a graph that was made anew."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import enfold
from enfold import settled
from enfold.cli.commands import app
from enfold.errors import Error, Invalid
from enfold.formats import decisions
from enfold.formats.source import opened
from enfold.model import DecidedBy, SetAside, Settled
from tests.told import told

EXAMPLES = Path(__file__).parents[1] / "examples"
EXAMPLE = EXAMPLES / "dmetrics" / "memory.jsonl"


def read(path: Path, text: str | bytes) -> list[Settled | SetAside]:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with opened(path) as source:
        return list(decisions.settled(source))


def one(path: Path, line: str) -> Settled:
    (found,) = read(path, f"{decisions.HEADER}\n{line}\n")
    assert isinstance(found, Settled), found
    return found


def file_of(path: Path, graph: enfold.Graph, layout: str = "text") -> Path:
    path.write_text("".join(graph.export_decisions(layout)), encoding="utf-8", newline="")
    return path


# ---- the text and the table ---------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
names = texts.filter(lambda name: bool(name.strip()))
moments = st.datetimes().map(lambda moment: f"{moment.isoformat(timespec='milliseconds'):0>23}Z")
lines = st.builds(
    Settled,
    line=st.just(0),
    kind=st.sampled_from(settled.KINDS),
    left=names,
    right=names,
    left_type=st.none() | texts,
    left_id=st.none() | texts,
    right_type=st.none() | texts,
    right_id=st.none() | texts,
    overrules=st.booleans(),
    decided_by=st.sampled_from(DecidedBy),
    who=st.none() | names,
    at=st.none() | moments,
    why=st.none() | texts,
)


def without_line(found: Settled | SetAside) -> Settled:
    assert isinstance(found, Settled), found
    return Settled(**{f: getattr(found, f) for f in Settled.__slots__} | {"line": 0})


@pytest.mark.parametrize("layout", decisions.LAYOUTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(said=st.lists(lines, max_size=6))
def test_what_is_written_is_read_back_as_it_was(
    tmp_path: Path, layout: str, said: list[Settled]
) -> None:
    text = "".join(decisions.written(said, layout))
    found = read(tmp_path / "d", text)
    assert [without_line(line) for line in found] == said


@settings(deadline=None)
@given(said=st.lists(lines, max_size=6))
def test_each_decision_is_one_line_for_every_reader_of_lines(said: list[Settled]) -> None:
    text = "".join(decisions.written(said))
    assert len(text.splitlines()) == len(text.split("\n")) - 1 == len(said) + 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('same "K8s" into "Kubernetes"', {"kind": "same", "left": "K8s", "right": "Kubernetes"}),
        ('  apart "A" from "B"  # by the way', {"kind": "apart", "left": "A", "right": "B"}),
        ('alias "kube" of "Kubernetes" by "ada"', {"kind": "alias", "who": "ada"}),
        ('called "CC" now "Claude Code"', {"kind": "called", "right": "Claude Code"}),
        ('apart "M" (type "planet") from "M" (id "Q5")', {"left_type": "planet", "right_id": "Q5"}),
        ('apart "M" (type "t", id "5") from "N"', {"left_type": "t", "left_id": "5"}),
        ('same "a" into "b" overruling', {"overrules": True}),
        ('same "a" into "b" by rule', {"decided_by": DecidedBy.RULE, "who": None}),
        ('apart "a" from "b" by model "m"', {"decided_by": DecidedBy.MODEL, "who": "m"}),
        ('same "a" into "b" on 2026-11-30', {"at": "2026-11-30T00:00:00.000Z"}),
        ('same "a" into "b" on 2026-11-30T12:00+02:00', {"at": "2026-11-30T10:00:00.000Z"}),
        ('same "a # b" into "\\u0062" because "x \\"y\\""', {"left": "a # b", "why": 'x "y"'}),
    ],
)
def test_a_line_written_by_hand_is_read(tmp_path: Path, line: str, said: dict[str, Any]) -> None:
    found = one(tmp_path / "d", line)
    assert {key: getattr(found, key) for key in said} == said


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('same "a" from "b"', "stands the word into"),
        ('same "a" into', "the line ends"),
        ('same "a" into b', "there is 'b'"),
        ('same "a into "b"', "stands the word into"),
        ('join "a" into "b"', "is not known"),
        ('same "" into "b"', "lacks one of its two names"),
        ('same "a" (kind "b") into "c"', "tells no name from another"),
        ('same "a" (type "b" into "c"', "not closed"),
        ('same "a" into "b" by nobody', "can't decide"),
        ('same "a" into "b" by', "by is followed"),
        ('same "a" into "b" on 2026-13-01', "is no time"),
        ('same "a" into "b" on 9999-12-31T23:59-23:00', "is no time"),
        ('same "a" into "b" perhaps', "is no part"),
        ('same "a" into "b" "c"', "Behind the decision"),
        ('same "\\q" into "b"', "no text in quotes"),
    ],
)
def test_a_line_that_is_none_is_set_aside_with_the_reason(
    tmp_path: Path, line: str, why: str
) -> None:
    good = 'apart "x" from "y"'
    found = read(tmp_path / "d", f"{good}\n{line}\n{good}\n")
    assert [type(piece) for piece in found] == [Settled, SetAside, Settled]
    aside = found[1]
    assert isinstance(aside, SetAside)
    assert why in aside.reason
    assert (aside.line, aside.text) == (2, line)


def test_bytes_that_are_no_text_cost_their_line(tmp_path: Path) -> None:
    found = read(tmp_path / "d", b'same "a" into "b"\nsame "\xff" into "b"\nsame "c" into "d"\n')
    assert [type(piece) for piece in found] == [Settled, SetAside, Settled]


def test_a_row_of_the_table_that_does_not_fit_is_set_aside(tmp_path: Path) -> None:
    head = ",".join(decisions.COLUMNS)
    good = "same,a,,,b,,,,,,,"
    text = (
        f'# ours\n{head}\n{good}\nsame,a,b\nsame,"a,,,b,,,,,,,\n{good}\nhmm,a,,,b,,,,,,,\n#{good}\n'
    )
    found = read(tmp_path / "d", text)
    kinds = [type(piece) for piece in found]
    assert kinds == [Settled, SetAside, SetAside, Settled, SetAside]


def test_a_table_with_some_columns_alone_is_read(tmp_path: Path) -> None:
    (found,) = read(tmp_path / "d", "decision,left,right\nsame,a,b\n")
    assert without_line(found) == Settled(0, "same", "a", "b")


def test_a_cell_that_a_spreadsheet_would_run_is_guarded(tmp_path: Path) -> None:
    said = [Settled(0, "same", "=1+1", "#b", why="'quoted'", left_type="")]
    text = "".join(decisions.written(said, "csv"))
    assert "same,'=1+1,',,'#b" in text
    assert [without_line(line) for line in read(tmp_path / "d", text)] == said


@pytest.mark.parametrize("layout", decisions.LAYOUTS)
def test_a_decisions_file_is_no_graph_to_import_or_scan(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "d"
    said = Settled(0, "same", "Nobody", "Knows", decided_by=DecidedBy.HUMAN)
    path.write_text("".join(decisions.written([said], layout)), encoding="utf-8", newline="")
    with enfold.open(":memory:") as graph:
        for take in (graph.import_files, enfold.scan):
            with pytest.raises(Invalid, match="enfold decisions --import FILE") as error:
                take(path)
            assert error.value.code == "decisions_file"
        assert graph.entities() == []


def test_a_decisions_file_in_a_folder_of_files_is_left_out_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "decisions.txt").write_text('same "Nobody" into "Knows"\n')
    (tmp_path / "names.csv").write_text("name\nAda\n")
    with enfold.open(":memory:") as graph:
        (made,) = graph.import_files(tmp_path)
        assert [note.source for note in made.notes] == ["decisions.txt"]
        assert [entity.name for entity in graph.entities()] == ["Ada"]


def test_decisions_are_no_format_of_an_export() -> None:
    with enfold.open(":memory:") as graph, pytest.raises(Invalid) as error:
        graph.export("decisions")
    assert error.value.code == "unknown_format"


MARKED = """\
# enfold decisions
<<<<<<< HEAD
same "a" into "b"
=======
apart "a" from "b"
>>>>>>> theirs
"""


def test_a_file_with_the_marks_of_a_merge_is_refused_whole(tmp_path: Path) -> None:
    with enfold.open(":memory:") as graph:
        for name in "ab":
            told(graph, name, mentions=[name])
        (tmp_path / "d").write_text(MARKED)
        with pytest.raises(Invalid, match=r"unresolved merge \(line 2: '<<<<<<< HEAD'\)") as error:
            graph.import_decisions(tmp_path / "d")
        assert error.value.code == "merge_conflict"
        assert (graph.merges(), graph.apart()) == ([], [])


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("# enfold decisions\n", True),
        ('# a comment\n\nsame "a" into "b"\n', True),
        ("decision,left,right\n", True),
        (MARKED, True),
        ("same old, same old\n", False),
        ("name,type\nsame,x\n", False),
        ('{"type":"entity","name":"a"}\n', False),
        ("# only a comment\n", False),
    ],
)
def test_a_decisions_file_is_told_by_its_content(text: str, is_one: bool) -> None:
    assert decisions.recognises(text.encode()) is is_one


def test_what_is_no_decisions_file_is_refused(tmp_path: Path) -> None:
    with enfold.open(":memory:") as graph, pytest.raises(Invalid) as error:
        graph.import_decisions(EXAMPLE)
    assert error.value.code == "unrecognised_format"
    with enfold.open(":memory:") as graph, pytest.raises(Invalid) as error:
        graph.export_decisions("xml")
    assert error.value.code == "unknown_layout"


# ---- a graph made anew --------------------------------------------------------------------------


def state(graph: enfold.Graph) -> object:
    """Everything that is settled: who is one, what is shown, who is apart."""
    with graph._store.read() as tx:
        clusters: dict[int, list[tuple[str, str | None]]] = {}
        for row_id, spelling, _ in tx.entities.spellings():
            row = tx.entities.get(row_id)
            assert row is not None
            clusters.setdefault(row.canonical_id, []).append((spelling, row.foreign_id))
        shown = tx.entities.shown_names(list(clusters))
        known = {root: (shown[root], *sorted(map(repr, rows))) for root, rows in clusters.items()}
        apart = sorted(sorted((known[a], known[b])) for a, b in tx.decisions.apart_roots())
        return sorted(known.values()), apart


def settle(graph: enfold.Graph) -> None:
    """What a person does with the example's questions, and some things by hand."""
    for question, answer in zip(
        graph.conflicts(), ["keep_existing", "keep_both", "keep_new"] * 9, strict=False
    ):
        graph.decide(question.id, answer)
    names = [entity.name for entity in graph.entities(limit=12)]
    graph.alias(names[0], "The First One")
    graph.rename(names[1], "Renamed Thing")
    graph.keep_apart(names[2], names[3], reason="Said so.")
    with_fold = graph.merge(names[4], names[5])
    graph.revert(with_fold.id)
    graph.merge(names[4], names[5], overrule=True)
    by_rule = [m for m in graph.merges() if m.decided_by is DecidedBy.RULE]
    if by_rule:
        graph.revert(by_rule[0].id)


@pytest.mark.parametrize("layout", decisions.LAYOUTS)
@pytest.mark.parametrize("example", ["dmetrics", "attraccess", "memory_graph_rust"])
def test_a_graph_made_anew_is_settled_as_it_was(tmp_path: Path, example: str, layout: str) -> None:
    source = EXAMPLES / example / "memory.jsonl"
    with enfold.open(":memory:", actor="ada") as graph, enfold.open(":memory:") as anew:
        graph.import_files(source)
        graph.resolve(backup=False)
        settle(graph)
        path = file_of(tmp_path / "d", graph, layout)
        anew.import_files(source)
        anew.resolve(backup=False)
        done = anew.import_decisions(path)
        assert not done.refused
        assert not done.unknown
        assert not done.set_aside
        assert state(anew) == state(graph)
        assert "".join(anew.export_decisions(layout)) == path.read_text(encoding="utf-8")
        assert anew.check().clean


@pytest.mark.parametrize("example", ["dmetrics", "attraccess", "memory_graph_rust"])
def test_decisions_taken_in_before_the_rules_act_settle_the_same(
    tmp_path: Path, example: str
) -> None:
    source = EXAMPLES / example / "memory.jsonl"
    with enfold.open(":memory:", actor="ada") as graph, enfold.open(":memory:") as anew:
        graph.import_files(source)
        graph.resolve(backup=False)
        settle(graph)
        path = file_of(tmp_path / "d", graph)
        anew.import_files(source)
        anew.import_decisions(path)
        anew.resolve(backup=False)
        assert state(anew) == state(graph)


NAMES = ["Postgres", "PostgreSQL", "postgres-sql", "K8s", "Kubernetes", "Claude", "Claude Code"]


def act(graph: enfold.Graph, choose: random.Random) -> None:
    """One thing that a person does; what is refused is refused."""
    one, other = choose.sample(NAMES, 2)
    verbs: list[Callable[[], object]] = [
        lambda: graph.merge(one, other, overrule=choose.random() < 0.3),
        lambda: graph.merge(one, other),
        lambda: graph.keep_apart(one, other),
        lambda: graph.alias(one, f"alias {choose.randrange(4)}"),
        lambda: graph.rename(one, f"name {choose.randrange(4)}"),
        lambda: graph.revert(choose.choice(graph.merges()).id) if graph.merges() else None,
        lambda: graph.undo_apart(choose.choice(graph.apart()).id) if graph.apart() else None,
    ]
    with contextlib.suppress(Error):
        choose.choice(verbs)()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**9), steps=st.integers(1, 25))
def test_whatever_people_did_a_graph_made_anew_is_told_it(
    tmp_path_factory: pytest.TempPathFactory, seed: int, steps: int
) -> None:
    choose = random.Random(seed)
    path = tmp_path_factory.mktemp("d") / "d"
    with enfold.open(":memory:", actor="ada") as graph, enfold.open(":memory:") as anew:
        for opened_graph in (graph, anew):
            for name in NAMES:
                told(opened_graph, f"About {name}.", mentions=[name])
        for _ in range(steps):
            act(graph, choose)
        file_of(path, graph)
        done = anew.import_decisions(path)
        # A spelling that is nobody's any more, but was kept apart by a revert, is not made again.
        assert all(one.settled.kind == settled.APART for one in done.unknown)
        assert not done.refused
        again = anew.import_decisions(path)
        assert (again.new, again.refused) == (0, ())
        assert anew.check().clean
        if not done.unknown:
            assert path.read_text(encoding="utf-8") == "".join(anew.export_decisions())
            assert known(state(anew)) == known(state(graph))


def known(settled: Any) -> object:
    """A state without spellings that are nobody's any more: a revert leaves their rows."""
    clusters, apart = settled
    bare = [one for one in clusters if len(one) > 2 or one[0] in NAMES]
    return bare, [pair for pair in apart if all(one in bare for one in pair)]


# ---- what a file can't do -----------------------------------------------------------------------


@pytest.fixture
def graph() -> Any:
    with enfold.open(":memory:", actor="ada") as opened_graph:
        for name in ("K8s", "Kubernetes", "kubernetes!", "Docker", "Podman"):
            told(opened_graph, f"About {name}.", mentions=[name])
        yield opened_graph


def take(graph: enfold.Graph, path: Path, *said: str, **options: Any) -> Any:
    path.write_text("\n".join([decisions.HEADER, *said, ""]), encoding="utf-8")
    return graph.import_decisions(path, **options)


def test_a_decisions_file_makes_no_entity(graph: enfold.Graph, tmp_path: Path) -> None:
    before = graph.summary().entities
    done = take(
        graph,
        tmp_path / "d",
        'same "K8s" into "Kubernettes"',
        'apart "Nobody" from "Docker"',
        'alias "x" of "Nobody"',
        'called "Nobody" now "Somebody"',
    )
    assert [one.code for one in done.unknown] == ["unknown"] * 4
    assert done.new == 0
    assert graph.summary().entities == before


def test_a_line_against_what_a_person_settled_is_refused(
    graph: enfold.Graph, tmp_path: Path
) -> None:
    graph.keep_apart("Docker", "Podman")
    graph.merge("K8s", "Kubernetes")
    done = take(
        graph,
        tmp_path / "d",
        'same "Docker" into "Podman"',
        'apart "K8s" from "Kubernetes"',
        'alias "docker ce" of "Docker"',
    )
    assert sorted(one.code for one in done.refused) == ["already_one", "settled_apart"]
    assert done.new == 1
    assert isinstance(graph.find("docker ce"), enfold.Found)
    assert len(graph.apart()) == 1


def test_a_persons_line_takes_back_what_a_rule_folded(graph: enfold.Graph, tmp_path: Path) -> None:
    (fold,) = graph.resolve(backup=False).merge_ids
    done = take(graph, tmp_path / "d", 'apart "Kubernetes" from "kubernetes!" by "bo"')
    assert done.undone == (fold,)
    assert [one.actor for one in graph.apart()] == ["bo"]
    assert graph.resolve(full=True, backup=False).merged == 0
    assert graph.check().clean


def test_a_line_of_a_rule_takes_nothing_back(graph: enfold.Graph, tmp_path: Path) -> None:
    graph.resolve(backup=False)
    done = take(graph, tmp_path / "d", 'apart "Kubernetes" from "kubernetes!" by model "m"')
    assert [one.code for one in done.refused] == ["already_one"]


def test_what_two_branches_said_against_each_other_is_refused(
    graph: enfold.Graph, tmp_path: Path
) -> None:
    done = take(
        graph, tmp_path / "d", 'same "Docker" into "Podman"', 'apart "Docker" from "Podman"'
    )
    assert (done.new, [one.settled.kind for one in done.refused]) == (1, ["same"])


def test_only_a_line_that_says_so_overrules(graph: enfold.Graph, tmp_path: Path) -> None:
    done = take(
        graph,
        tmp_path / "d",
        'same "Docker" into "Podman" overruling',
        'apart "Docker" from "Podman"',
    )
    assert (done.new, done.refused) == (2, ())
    (merge,) = graph.merges()
    assert merge.overruled == (graph.apart()[0].id,)


def test_a_dry_run_says_what_would_be_and_does_nothing(graph: enfold.Graph, tmp_path: Path) -> None:
    tried = take(graph, tmp_path / "d", 'same "K8s" into "Kubernetes"', dry_run=True)
    assert (tried.new, tried.dry_run, tried.run_id) == (1, True, None)
    assert (graph.merges(), graph.runs()) == ([], [])


def test_who_when_and_why_are_kept(graph: enfold.Graph, tmp_path: Path) -> None:
    take(
        graph,
        tmp_path / "d",
        'same "K8s" into "Kubernetes" by "bo" on 2020-01-02T03:04:05Z because "8 letters"',
        'apart "Docker" from "Podman"',
    )
    (merge,), (decision,) = graph.merges(), graph.apart()
    assert (merge.actor, merge.reason) == ("bo", "8 letters")
    assert merge.created_at == "2020-01-02T03:04:05.000Z"
    assert decision.actor == "ada"


def test_two_of_one_name_are_told_by_type_or_id(tmp_path: Path) -> None:
    source = tmp_path / "m.jsonl"
    source.write_text(
        "".join(
            json.dumps({"type": "entity", "name": name, "entityType": kind, "id": own}) + "\n"
            for name, kind, own in (
                ("Mercury", "planet", "Q308"),
                ("Mercury", "element", "Q925"),
                ("Hermes", "god", "Q41484"),
            )
        )
    )
    with enfold.open(":memory:") as graph, enfold.open(":memory:") as anew:
        for opened_graph in (graph, anew):
            opened_graph.import_files(source, trust_ids=True)
        planet, element, hermes = (
            next(e.id for e in graph.entities() if e.foreign_id == own)
            for own in ("Q308", "Q925", "Q41484")
        )
        graph.keep_apart(planet, element)
        graph.merge(element, hermes)
        path = file_of(tmp_path / "d", graph)
        assert '"Mercury" (type "element") from "Mercury" (type "planet")' in path.read_text()
        bare = take(anew, tmp_path / "bare", 'same "Hermes" into "Mercury"')
        assert [one.code for one in bare.unknown] == ["ambiguous"]
        anew.import_decisions(path)
        assert state(anew) == state(graph)


def test_what_was_not_taken_is_kept_with_the_run(graph: enfold.Graph, tmp_path: Path) -> None:
    done = take(graph, tmp_path / "d", 'same "No" into "Kubernetes"', "hm")
    assert [piece.line for piece in graph.set_aside(done.run_id)] == [2, 3]
    assert graph.runs()[0].report["unknown"] == 1


# ---- the command --------------------------------------------------------------------------------


def run(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


def test_the_command_writes_and_takes_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with enfold.open("enfold.db", actor="ada") as graph:
        for name in ("K8s", "Kubernetes", "Docker"):
            told(graph, f"About {name}.", mentions=[name])
        graph.merge("K8s", "Kubernetes")
    assert run("decisions").stdout.startswith(f"{decisions.HEADER}\nsame ")
    assert run("decisions", "--export", "d.txt").exit_code == 0
    refused = run("decisions", "--export", "d.txt")
    assert (refused.exit_code, "exists already" in refused.stderr) == (4, True)
    assert run("decisions", "--export", "d.txt", "--force").exit_code == 0
    known = run("decisions", "--import", "d.txt", "--json")
    assert json.loads(known.stdout)["known"] == 1
    Path("d.txt").write_text('same "No" into "Docker"\napart "K8s" from "Kubernetes"\n')
    done = run("decisions", "--import", "d.txt")
    assert done.exit_code == 1
    assert "The graph does not know “No”" in done.stdout
    assert "revert that, if they are two" in done.stdout
    Path("d.txt").write_text(MARKED)
    assert run("decisions", "--import", "d.txt").exit_code == 5
    assert run("decisions", "--import", "a", "--export", "b").exit_code == 2
    assert run("decisions", "--dry-run").exit_code == 2


def test_nothing_is_half_written_where_the_graph_is_gone(tmp_path: Path) -> None:
    out = tmp_path / "d.txt"
    assert run("decisions", "--export", str(out), "--db", str(tmp_path / "no.db")).exit_code == 3
    assert list(tmp_path.iterdir()) == []
