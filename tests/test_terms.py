from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import enfold
from enfold import terms
from enfold.cli.commands import app


@pytest.fixture
def graph() -> enfold.Graph:
    return enfold.open(":memory:")


def named(graph: enfold.Graph, kind: str) -> list[str]:
    return [term.name for term in graph.vocabulary() if term.kind == kind]


def test_a_new_graph_has_the_terms_that_come_with_enfold_all_turned_on(
    graph: enfold.Graph,
) -> None:
    for kind in terms.KINDS:
        assert set(named(graph, kind)) == terms.BUILT_IN[kind]
    assert all(term.enabled and term.description for term in graph.vocabulary())


def test_types_come_before_predicates_each_by_name(graph: enfold.Graph) -> None:
    listed = [(term.kind, term.name) for term in graph.vocabulary()]
    assert listed == sorted(listed, key=lambda one: (one[0] != "type", one[1]))


def test_a_term_is_added_with_what_it_is(graph: enfold.Graph) -> None:
    made = graph.set_term("type", "  data \n set ", "A collection of records.")
    assert made == enfold.Term("type", "data set", "A collection of records.", True)
    assert made in graph.vocabulary()


def test_a_term_can_be_added_turned_off(graph: enfold.Graph) -> None:
    assert not graph.set_term("predicate", "owns", "Has it.", enabled=False).enabled


def test_a_new_term_needs_a_description(graph: enfold.Graph) -> None:
    with pytest.raises(
        enfold.NotFound, match=r"There is no type “dataset”.*say what it is"
    ) as error:
        graph.set_term("type", "dataset", enabled=False)
    assert error.value.code == "no_term"


def test_describing_a_term_leaves_it_on_or_off_as_it_was(graph: enfold.Graph) -> None:
    graph.set_term("type", "concept", enabled=False)
    done = graph.set_term("type", "concept", "A thought.")
    assert done == enfold.Term("type", "concept", "A thought.", False)


def test_turning_a_term_off_and_on_leaves_its_description(graph: enfold.Graph) -> None:
    before = next(term for term in graph.vocabulary() if term.name == "uses")
    assert graph.set_term("predicate", "uses", enabled=False).description == before.description
    assert graph.set_term("predicate", "uses", enabled=True) == before


def test_a_term_is_found_in_whatever_case_it_is_written(graph: enfold.Graph) -> None:
    assert graph.set_term("type", "PERSON", "Somebody.").name == "person"
    assert len(named(graph, "type")) == len(terms.BUILT_IN["type"])


@pytest.mark.parametrize(
    "name", ["Reuses", "works-on", "works on", "_x", "x_", "x__y", "1x", "", "ы"]
)
def test_a_predicate_is_small_letters_digits_and_underscores(
    graph: enfold.Graph, name: str
) -> None:
    with pytest.raises(enfold.Invalid) as error:
        graph.set_term("predicate", name, "Is so.")
    assert error.value.code == "bad_term"


@pytest.mark.parametrize(
    ("kind", "name", "description"),
    [
        ("verb", "runs", "It runs."),
        ("type", "", "Nothing."),
        ("type", "\u200b", "Nothing to see."),
        ("type", "x" * 101, "Too long."),
        ("predicate", "x" * 101, "Too long."),
        ("type", "dataset", " \n"),
        ("type", "dataset", "x" * 1_001),
        ("type", "person", ""),
    ],
)
def test_what_can_be_no_term_is_refused_and_changes_nothing(
    graph: enfold.Graph, kind: str, name: str, description: str
) -> None:
    before = graph.vocabulary()
    with pytest.raises(enfold.Invalid) as error:
        graph.set_term(kind, name, description)
    assert error.value.code == "bad_term"
    assert graph.vocabulary() == before


def test_a_term_of_a_persons_own_is_removed(graph: enfold.Graph) -> None:
    made = graph.set_term("predicate", "owns", "Has it.")
    assert graph.remove_term("predicate", "Owns") == made
    assert "owns" not in named(graph, "predicate")
    with pytest.raises(enfold.NotFound) as error:
        graph.remove_term("predicate", "owns")
    assert error.value.code == "no_term"


@pytest.mark.parametrize("kind", terms.KINDS)
def test_a_term_that_comes_with_enfold_is_not_removed(graph: enfold.Graph, kind: str) -> None:
    for name in terms.BUILT_IN[kind]:
        with pytest.raises(enfold.Refused, match="Turn it off instead") as error:
            graph.remove_term(kind, name)
        assert error.value.code == "built_in_term"
    assert set(named(graph, kind)) == terms.BUILT_IN[kind]


def test_what_was_written_with_a_term_outlives_it(graph: enfold.Graph) -> None:
    graph.set_term("type", "dataset", "A collection of records.")
    graph.remember("It is read.", mentions=[enfold.Name.of("Iris", "dataset")])
    graph.remove_term("type", "dataset")
    found = graph.find("Iris")
    assert isinstance(found, enfold.Found)
    assert found.entity.type == "dataset"


# ---- the command ---------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ENFOLD_DB", raising=False)
    return tmp_path


def run(*args: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["vocabulary", *args])
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.usefixtures("folder")
def test_the_vocabulary_is_listed_without_a_graph_and_makes_none() -> None:
    code, out, _ = run()
    assert code == 0
    assert out.startswith("Types\n")
    assert "Predicates\n" in out
    assert not Path("enfold.db").exists()


@pytest.mark.usefixtures("folder")
def test_a_term_is_added_turned_off_and_removed_on_the_command_line() -> None:
    assert run("--type", "dataset", "--about", "Records.")[0] == 0
    assert run("--type", "dataset", "--off")[0] == 0
    code, out, _ = run("--type", "Dataset", "--json")
    assert code == 0
    assert json.loads(out) == [
        {"kind": "type", "name": "dataset", "description": "Records.", "enabled": False}
    ]
    assert "off" in run("--type", "dataset")[1]
    assert run("--type", "dataset", "--remove")[0] == 0
    assert run("--type", "dataset")[0] == 3


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["--off"], 2),
        (["--about", "x"], 2),
        (["--type", "a", "--predicate", "b", "--on"], 2),
        (["--type", "person", "--remove", "--off"], 2),
        (["--type", "nosuch"], 3),
        (["--type", "nosuch", "--off"], 3),
        (["--predicate", "Bad Name", "--about", "x"], 5),
    ],
)
def test_a_mistake_is_told_with_its_exit_code(args: list[str], code: int) -> None:
    found, out, err = run(*args)
    assert found == code
    assert out == ""
    assert err


@pytest.mark.usefixtures("folder")
def test_a_built_in_term_is_not_removed_on_the_command_line() -> None:
    assert run("--type", "concept", "--off")[0] == 0
    code, _, err = run("--type", "person", "--remove")
    assert code == 4
    assert "Turn it off" in err


@pytest.mark.usefixtures("folder")
def test_control_characters_of_a_description_are_made_visible_or_dropped() -> None:
    run("--type", "dataset", "--about", "red\x1b[31m records")
    assert "\x1b" not in run()[1]
