"""The pass folds what is identical, asks about the rest, and finds the same however it is run."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import enfold
from enfold import deferred
from enfold import resolve as passes
from enfold.conflicts import QUEUE_CAP
from enfold.errors import Invalid, Refused
from enfold.graph import Graph
from enfold.model import Report
from enfold.names import Name
from tests.test_pairs import graphs_of_names
from tests.told import told


@pytest.fixture
def graph() -> Iterator[Graph]:
    with enfold.open(":memory:") as made:
        yield made


def mention(graph: Graph, *names: str | Name, times: int = 1) -> None:
    for _ in range(times):
        told(graph, "Something was said.", mentions=names)


def figures(report: Report) -> tuple[int, ...]:
    return (
        report.examined,
        report.pairs,
        report.merged,
        report.queued,
        report.deferred,
        report.skipped,
    )


def state(graph: Graph) -> tuple[set[frozenset[str]], set[frozenset[str]], int]:
    """(clusters of spellings, pairs asked or waiting by canonical spelling, questions deferred)."""
    clusters = {
        frozenset((e.spelling, *graph.entity(e.id).aliases)) for e in graph.entities(limit=10_000)
    }
    asked = {frozenset((c.queued_name, c.candidate_name)) for c in graph.conflicts()}
    return clusters, asked, graph.summary().deferred


def test_spellings_that_differ_in_case_and_punctuation_become_one_entity(graph: Graph) -> None:
    mention(graph, "Claude Code", times=3)
    mention(graph, "claude-code", "ClaudeCode")
    report = graph.resolve()
    assert (report.examined, report.merged, report.queued) == (3, 2, 0)
    found = graph.find("claude_code")
    assert isinstance(found, enfold.Found)
    assert (found.entity.name, found.entity.mentions) == ("Claude Code", 4)


def test_the_dry_run_reports_what_the_real_run_does_and_changes_nothing(graph: Graph) -> None:
    mention(
        graph, "Claude Code", "claude-code", "Claude Code SDK", "Postgres", "PostgreSQL", "C", "C#"
    )
    planned = graph.resolve(dry_run=True)
    assert graph.merges() == []
    assert graph.conflicts() == []
    assert planned.dry_run
    done = graph.resolve()
    assert figures(planned) == figures(done)
    assert {(p.left_id, p.right_id) for p in planned.folds} == {
        (m.absorbed_id, m.canonical_id) for m in graph.merges()
    }


@pytest.mark.parametrize("full", [True, False])
def test_a_second_pass_changes_nothing(graph: Graph, full: bool) -> None:
    mention(graph, "Claude Code", "claude-code", "Claude Code SDK", "Postgres", "PostgreSQL")
    first = graph.resolve()
    before = state(graph)
    second = graph.resolve(full=full)
    assert (second.merged, second.queued, second.deferred) == (0, 0, 0)
    assert second.skipped == (first.merged + first.queued + first.skipped if full else 0)
    assert second.examined == (4 if full else 0)
    assert state(graph) == before


@pytest.mark.sqlite
@given(graphs_of_names(), st.integers(0, 40))
@settings(max_examples=60, deadline=None)
def test_a_pass_over_what_is_new_finds_what_a_full_pass_would(names: list[Name], at: int) -> None:
    with enfold.open(":memory:") as grown, enfold.open(":memory:") as whole:
        for name in names[:at]:
            mention(grown, name)
            mention(whole, name)
        grown.resolve()
        whole.resolve()
        for name in names[at:]:
            mention(grown, name)
            mention(whole, name)
        grown.resolve()
        whole.resolve(full=True)
        assert state(grown) == state(whole)
        assert grown.resolve(full=True).merged == 0
        assert state(grown) == state(whole)
        assert grown.check().clean


@pytest.mark.sqlite
@given(graphs_of_names())
@settings(max_examples=40, deadline=None)
def test_names_that_come_one_by_one_settle_as_if_they_had_come_at_once(names: list[Name]) -> None:
    with enfold.open(":memory:") as grown, enfold.open(":memory:") as whole:
        for name in names[:1]:
            mention(grown, name)
        grown.resolve()
        for name in names:
            mention(grown, name)
            mention(whole, name)
            grown.resolve()
        whole.resolve()
        roots = [{frozenset(c) for c in state(g)[0]} for g in (grown, whole)]
        assert roots[0] == roots[1]


def test_a_reverted_fold_is_not_made_again(graph: Graph) -> None:
    mention(graph, "Zen", "zen!")
    graph.resolve()
    graph.revert(graph.merges()[0].id)
    for full in (False, True):
        report = graph.resolve(full=full)
        assert (report.merged, report.queued) == (0, 0)
    assert len(graph.entities()) == 2


def test_once_two_spellings_of_a_name_are_kept_apart_a_third_is_asked_about(graph: Graph) -> None:
    mention(graph, "Zen", times=3)
    mention(graph, "zen!")
    graph.resolve()
    graph.revert(graph.merges()[0].id)
    mention(graph, "ZEN.")
    report = graph.resolve()
    assert (report.merged, report.queued) == (0, 2)
    assert all("Spellings of this name are kept apart" in c.reason for c in graph.conflicts())


def test_a_decision_that_is_undone_lets_the_pass_fold_again(graph: Graph) -> None:
    mention(graph, "Zen", "zen!")
    graph.resolve()
    graph.revert(graph.merges()[0].id)
    graph.undo_apart(graph.apart()[0].id)
    assert graph.resolve().merged == 1


def test_two_that_are_settled_apart_stay_so_through_later_folds(graph: Graph) -> None:
    mention(graph, "Postgres", "PostgreSQL", "postgres!", "Postgre SQL")
    graph.keep_apart("Postgres", "PostgreSQL")
    report = graph.resolve()
    assert report.merged == 2
    assert graph.conflicts() == []
    with pytest.raises(Refused, match="settled apart"):
        graph.merge("postgres!", "Postgre SQL")


def test_equal_letters_with_other_numbers_are_never_chained_into_one(graph: Graph) -> None:
    mention(graph, "Python 3.11", "python-3-11", "Python 31.1", "Python 311")
    assert graph.resolve().merged == 1
    assert len(graph.entities()) == 3


def words(count: int) -> list[str]:
    """So many words that no rule takes for one another."""
    chance = random.Random(7)
    return ["".join(chance.choices("abdegiklmnoprstuvz", k=9)) for _ in range(count)]


@pytest.mark.parametrize("pictures", ["🇫🇷🇩🇪", "♠♥", "✅❌"])
def test_two_names_are_never_made_one_by_way_of_a_third(graph: Graph, pictures: str) -> None:
    half = len(pictures) // 2
    for name in ("Team", f"Team {pictures[:half]}", f"Team {pictures[half:]}", "team"):
        mention(graph, name)
    report = graph.resolve()
    assert (report.merged, report.queued) == (1, 1)
    assert "differ" in graph.conflicts()[0].reason
    assert graph.resolve(full=True).merged == 0


def crowd(graph: Graph, people: int) -> None:
    mention(graph, Name.of("John", "person"), times=3)
    for word in words(people):
        mention(graph, Name.of(f"John {word}", "person"))


def test_one_first_name_fills_the_queue_and_the_rest_are_counted(graph: Graph) -> None:
    crowd(graph, QUEUE_CAP + 30)
    report = graph.resolve()
    assert (report.queued, report.deferred) == (QUEUE_CAP, 30)
    assert graph.resolve().deferred == 30
    assert graph.resolve(full=True).deferred == 30


def test_the_queue_refills_as_answers_come_in(graph: Graph) -> None:
    crowd(graph, QUEUE_CAP + 3)
    graph.resolve()
    for question in graph.conflicts()[:2]:
        graph.decide(question.id, "keep_both")
    report = graph.resolve()
    assert (report.queued, report.deferred) == (2, 1)
    assert len(graph.conflicts()) == QUEUE_CAP


def test_the_weightiest_questions_come_first(graph: Graph) -> None:
    for at, word in enumerate(words(QUEUE_CAP + 5)):
        mention(graph, f"{word} red blue", f"{word} red blue green", times=1 + at)
    graph.resolve()
    weights = [min(c.queued_mentions, c.candidate_mentions) for c in graph.conflicts()]
    assert weights == sorted(range(6, QUEUE_CAP + 6), reverse=True)


def test_trusted_types_turn_a_fold_into_a_question_and_stay_trusted(graph: Graph) -> None:
    mention(graph, Name.of("Apple", "company"))
    mention(graph, Name.of("apple!", "fruit"))
    assert graph.resolve(types_trusted=True).queued == 1
    mention(graph, Name.of("Tesla", "company"))
    mention(graph, Name.of("tesla.", "person"))
    report = graph.resolve()
    assert (report.merged, report.queued, report.full) == (0, 1, False)


def test_a_retyped_entity_is_looked_at_again(graph: Graph) -> None:
    mention(graph, Name.of("Ada", "person"))
    mention(graph, "Ada Lovelace")
    assert graph.resolve().queued == 0
    graph.retype("Ada Lovelace", "person")
    assert graph.resolve().queued == 1


def test_other_rules_make_the_pass_a_full_one(graph: Graph) -> None:
    mention(graph, "Google+", "Google")
    assert graph.resolve().queued == 1
    report = graph.resolve(rule_set="strict")
    assert report.full
    assert report.merged == 1
    assert graph.resolve().full is False
    with pytest.raises(Invalid, match="lenient"):
        graph.resolve(rule_set="lenient")


def test_many_new_names_make_the_pass_a_full_one_and_each_is_counted_once(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "FULL_ABOVE", 4)
    mention(graph, *words(3))
    assert graph.resolve().full  # the first
    mention(graph, *(f"other {word}" for word in words(4)))
    assert not graph.resolve().full
    mention(graph, *(f"further {word}" for word in words(5)))
    assert graph.resolve().full


def test_an_empty_graph_is_settled_at_once(graph: Graph) -> None:
    assert figures(graph.resolve()) == (0, 0, 0, 0, 0, 0)
    assert figures(graph.resolve(dry_run=True, full=True)) == (0, 0, 0, 0, 0, 0)


def test_the_canonical_is_the_one_with_more_mentions_then_the_longer_name(graph: Graph) -> None:
    mention(graph, "claude-code", times=2)
    mention(graph, "Claude Code")
    mention(graph, "GIT HUB", "GitHub")
    graph.resolve()
    assert {m.canonical_name for m in graph.merges()} == {"claude-code", "GIT HUB"}


def test_what_was_written_during_the_search_is_left_to_the_next_pass(graph: Graph) -> None:
    mention(graph, "Claude Code", "claude-code", "Ada")
    store, engine = graph._store, graph._engine
    with store.read() as tx:
        seen = passes.gather(tx, full=True)
    found = passes.search(store, seen, engine, lambda *_: None)
    mention(graph, "CLAUDE CODE!")
    graph.delete("Ada")
    graph.retype("claude-code", "tool")
    report = passes.run(store, found, lambda *_: None, backup=False)
    assert report.merged == 0
    assert graph.resolve().merged == 2
    assert graph.check().clean


def test_a_full_pass_that_folds_is_backed_up_first_and_recorded(tmp_path: Path) -> None:
    with enfold.open(tmp_path / "graph.db") as graph:
        mention(graph, "Claude Code", "claude-code")
        report = graph.resolve()
        assert report.backup is not None
        with enfold.open(report.backup) as before:
            assert len(before.entities()) == 2
        run = graph.runs()[0]
        assert (run.kind, run.report["merged"], run.backup) == ("resolve", 1, report.backup)
        assert graph.resolve(full=True).backup is None


def test_a_pass_that_fails_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with enfold.open(tmp_path / "graph.db") as graph:
        mention(graph, "Claude Code", "claude-code", "Claude Code SDK")
        before = state(graph)

        def fail(*_: object) -> None:
            raise MemoryError

        monkeypatch.setattr(deferred, "refill", fail)
        with pytest.raises(MemoryError):
            graph.resolve()
        monkeypatch.undo()
        assert state(graph) == before
        assert graph.runs()[0].error == "MemoryError: "
        assert graph.resolve().merged == 1


def test_progress_is_told_and_may_interrupt(graph: Graph) -> None:
    mention(graph, "Claude Code", "claude-code")
    told: list[str] = []

    def interrupt(what: str, _done: int, _total: int) -> None:
        told.append(what)
        if what == "asking":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        graph.resolve(progress=interrupt)
    assert "reading names" in told
    assert graph.merges() == []
    assert graph.resolve().merged == 1


def test_a_revert_names_the_folds_that_were_asked_for_through_its_spelling(graph: Graph) -> None:
    mention(graph, "Ada Lovelace", times=2)
    mention(graph, "Countess", "Augusta")
    first = graph.merge("Countess", "Ada Lovelace")
    second = graph.merge("Augusta", "Countess")
    assert second.canonical_name == "Ada Lovelace"
    assert [m.id for m in graph.revert(first.id, dry_run=True).later] == [second.id]


def test_an_explanation_names_every_fold_that_joined_the_two(graph: Graph) -> None:
    mention(graph, "Augusta", "Countess", "Ada Lovelace")
    first = graph.merge("Augusta", "Countess")
    second = graph.merge("Countess", "Ada Lovelace")
    explained = graph.explain("augusta!", "Ada Lovelace")
    assert explained.one
    assert [m.id for m in explained.merges] == [first.id, second.id]


def test_names_are_kept_apart_as_they_were_asked_for(graph: Graph) -> None:
    mention(graph, "Claude Code", "CC", "Xylo")
    fold = graph.merge("CC", "Claude Code")
    graph.keep_apart("CC", "Xylo")
    graph.revert(fold.id)
    with pytest.raises(Refused, match="settled apart"):
        graph.merge("CC", "Xylo")
    assert graph.merge("Claude Code", "Xylo").absorbed_name == "Claude Code"


def test_nearest_names_come_with_a_miss(graph: Graph) -> None:
    mention(graph, "PostgreSQL", "Kubernetes")
    graph.resolve()
    missed = graph.find("PostgreSLQ")
    assert isinstance(missed, enfold.Unknown)
    assert [e.name for e in missed.nearest] == ["PostgreSQL"]
    assert "never absent" in missed.note


EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize("folder", ["attraccess", "dmetrics", "memory_graph_rust"])
def test_a_real_graph_is_scanned_settled_undone_and_settled_again(folder: str) -> None:
    path = next(EXAMPLES.glob(f"*{folder}*")) / "memory.jsonl"
    scanned = enfold.scan(path)
    with enfold.open(":memory:") as graph:
        graph.import_files(path)
        before = state(graph)
        report = graph.resolve()
        assert figures(report) == figures(scanned.report)
        assert graph.check().clean
        for merge in random.Random(7).sample(graph.merges(), len(graph.merges())):
            graph.revert(merge.id)
        assert state(graph)[0] == before[0]
        assert graph.check().clean
        assert graph.resolve().merged == 0
