"""Two things of one name with ids of their own stay two, whatever comes after."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import enfold
from enfold import outflow
from enfold.graph import Graph
from enfold.intake import intake
from enfold.model import (
    Ambiguous,
    EntityRecord,
    IdentityRecord,
    Imported,
    Record,
    RelationRecord,
    Written,
)

THEME = EntityRecord(1, "Zen", "theme", ("Is calm.",), ("Zen Theme",), "t1")
PLUGIN = EntityRecord(2, "Zen", "plugin", ("Is calm.", "Runs."), (), "p1")


def take(graph: Graph, *records: Record, trust: bool = True) -> Imported:
    with graph._store.write() as tx:
        return intake(tx, records, source="m.jsonl", format="mcp", trust_ids=trust)


def out(graph: Graph) -> list[Written]:
    with graph._store.read() as tx:
        return list(outflow.records(tx))


def graph_of(*records: Record, trust: bool = True) -> Graph:
    graph = enfold.open(":memory:")
    take(graph, *records, trust=trust)
    return graph


def live(graph: Graph) -> list[tuple[str, str | None]]:
    return [(e.name, e.foreign_id) for e in graph.entities(limit=1_000)]


def test_two_ids_of_one_name_are_two_entities_and_the_report_says_so() -> None:
    graph = enfold.open(":memory:")
    made = take(graph, THEME, PLUGIN)
    assert (made.entities, made.senses) == (2, 1)
    (note,) = made.notes
    assert (note.line, note.reason) == (
        2,
        "'Zen' with the id 'p1' is another than the one of the id 't1'; they stay two.",
    )
    assert live(graph) == [("Zen", "t1"), ("Zen", "p1")]
    assert graph.check().clean


def test_without_trust_the_first_id_is_kept_and_the_note_says_what_would_keep_two() -> None:
    graph = enfold.open(":memory:")
    made = take(graph, THEME, PLUGIN, trust=False)
    assert live(graph) == [("Zen", "t1")]
    assert any("--trust-ids" in note.reason for note in made.notes)


@pytest.mark.parametrize("asked", ["zen", "ZEN", "zen!"])
def test_a_name_of_two_things_is_ambiguous_in_every_spelling(asked: str) -> None:
    found = graph_of(THEME, PLUGIN).find(asked)
    assert isinstance(found, Ambiguous)
    assert len(found.candidates) == 2


def test_a_second_import_finds_each_by_its_id() -> None:
    records = THEME, PLUGIN, RelationRecord(3, "Zen", "styles", "Zen", 1.0, None, {}, "t1", "p1")
    graph = graph_of(*records)
    before = out(graph)
    again = take(graph, *records)
    assert (again.entities, again.senses, again.memories, again.facts) == (0, 0, 0, 0)
    assert out(graph) == before


def test_what_each_says_stays_with_it() -> None:
    graph = graph_of(
        THEME,
        PLUGIN,
        RelationRecord(3, "Zen", "used by", "Ada", 1.0, None, {}, "p1"),
        RelationRecord(4, "Zen", "used by", "Ada", 1.0, None, {}, "t1"),
        RelationRecord(5, "Zen", "used by", "Ada"),
    )
    entities, relations = out(graph)[:3], out(graph)[3:]
    assert [e.observations for e in entities if isinstance(e, EntityRecord)] == [
        ("Is calm.",),
        ("Is calm.", "Runs."),
        (),
    ]
    assert [r.subject_id for r in relations if isinstance(r, RelationRecord)] == ["t1", "p1"]


def test_an_end_without_an_id_that_fits_both_is_linked_to_neither() -> None:
    graph = graph_of(THEME, PLUGIN)
    made = take(graph, RelationRecord(5, "Zen", "used by", "Ada"))
    assert [piece.line for piece in made.set_aside] == [5]


def test_an_id_from_an_earlier_source_is_not_believed_unless_trusted() -> None:
    count = EntityRecord(1, "Alice", foreign_id="1")
    relation = RelationRecord(2, "Zed", "knows", "Bo", subject_id="1")
    for trust, names in ((False, ["Alice", "Zed", "Bo"]), (True, ["Alice", "Bo"])):
        graph = graph_of(count)
        take(graph, relation, trust=trust)
        assert [name for name, _ in live(graph)] == names


def test_ends_of_this_source_are_found_by_id_before_their_name() -> None:
    graph = graph_of(
        EntityRecord(1, "Alice", foreign_id="1"),
        RelationRecord(2, "Alicia", "knows", "Bo", subject_id="1"),
        trust=False,
    )
    assert [name for name, _ in live(graph)] == ["Alice", "Bo"]


# ---- passes ----


def resolved(graph: Graph, *, stepwise: Iterable[Record] = ()) -> Graph:
    graph.resolve()
    for record in stepwise:
        take(graph, record)
        graph.resolve()
    assert graph.check().clean
    return graph


def asked(graph: Graph) -> set[frozenset[str | None]]:
    rows = {e.id: e.foreign_id or e.name for e in graph.entities(limit=1_000)}
    return {frozenset((rows[c.queued_now], rows[c.candidate_now])) for c in graph.conflicts()}


@pytest.mark.parametrize("full", [True, False])
def test_a_pass_neither_folds_nor_asks_about_two_things_of_one_name(full: bool) -> None:
    graph = enfold.open(":memory:")
    take(graph, THEME)
    graph.resolve()
    take(graph, PLUGIN)
    report = graph.resolve(full=full)
    assert (report.merged, report.queued, report.deferred) == (0, 0, 0)
    assert len(graph.entities()) == 2


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("stepwise", [True, False])
def test_a_third_spelling_is_asked_about_with_each(
    order: tuple[int, int, int], stepwise: bool
) -> None:
    third = EntityRecord(3, "zen!", observations=("One.", "Two.", "Three."))
    bare = EntityRecord(1, "Zen", None, (), (), "t1"), EntityRecord(2, "Zen", None, (), (), "p1")
    records = [(*bare, third)[place] for place in order]
    graph = enfold.open(":memory:")
    if stepwise:
        resolved(graph, stepwise=records)
    else:
        take(graph, *records)
        resolved(graph)
    assert len(graph.entities()) == 3 - (stepwise and order[2] != 2)
    if not stepwise or order[2] == 2:
        assert asked(graph) == {frozenset(("zen!", "t1")), frozenset(("zen!", "p1"))}
        assert all("kept apart, so it is asked" in c.reason for c in graph.conflicts())


def test_a_spelling_that_a_person_gave_to_one_is_not_asked_about_with_the_other() -> None:
    graph = graph_of(THEME, PLUGIN, EntityRecord(3, "zen!"))
    theme, _, third = graph.entities()
    graph.merge(third.id, theme.id)
    report = graph.resolve()
    assert (report.merged, report.queued, report.deferred) == (0, 0, 0)


def test_two_more_spellings_fold_into_each_other_and_are_asked_about_once() -> None:
    graph = graph_of(
        THEME, PLUGIN, EntityRecord(3, "zen!", observations=("So.",)), EntityRecord(4, "ZEN.")
    )
    assert graph.resolve().merged == 1
    assert asked(graph) == {frozenset(("zen!", "t1")), frozenset(("zen!", "p1"))}


def test_a_thousand_things_of_one_name_are_settled_in_a_moment() -> None:
    graph = graph_of(*(EntityRecord(n, "Untitled", foreign_id=str(n)) for n in range(1_000)))
    report = graph.resolve()
    assert (report.merged, report.queued, report.pairs) == (0, 0, 0)
    assert len(graph.entities(limit=2_000)) == 1_000


# ---- what is folded keeps its ids ----


def back(graph: Graph) -> Graph:
    return graph_of(*out(graph))


def test_ids_of_what_was_folded_go_out_and_come_back() -> None:
    graph = graph_of(THEME, PLUGIN, EntityRecord(3, "Zen Buddhism", foreign_id="b1"))
    theme, _, creed = graph.entities()
    graph.merge(theme.id, creed.id)
    written = out(graph)
    assert isinstance(written[1], EntityRecord)
    assert written[1].attributes == {"enfold_alias_ids": {"Zen": ["t1"]}}
    again = back(graph)
    assert out(again) == written
    take(again, THEME)
    assert live(again) == live(graph)


def test_two_of_one_name_that_a_person_folded_can_be_parted_after_an_import() -> None:
    graph = graph_of(THEME, PLUGIN)
    theme, plugin = graph.entities()
    graph.merge(plugin.id, theme.id)
    again = back(graph)
    assert out(again) == out(graph)
    (merge,) = [m for m in again.merges() if m.absorbed_name == "Zen"]
    again.revert(merge.id)
    assert sorted(live(again)) == [("Zen", "p1"), ("Zen", "t1")]
    assert again.check().clean


def test_an_attribute_that_only_looks_like_ids_of_aliases_is_kept() -> None:
    record = EntityRecord(1, "Ada", attributes={"enfold_alias_ids": "none"})
    assert out(graph_of(record)) == [EntityRecord(0, "Ada", attributes=record.attributes)]


# ---- what a source says is one, and what is not ----


def same(left: str, right: str, **ids: str | None) -> IdentityRecord:
    return IdentityRecord(9, left, right, True, **ids)


def apart(left: str, right: str, why: str | None = None) -> IdentityRecord:
    return IdentityRecord(9, left, right, False, why=why)


def test_what_a_source_says_is_one_is_folded_by_import() -> None:
    graph = enfold.open(":memory:")
    made = take(
        graph, EntityRecord(1, "K8s"), EntityRecord(2, "Kubernetes"), same("Kubernetes", "K8s")
    )
    assert made.folds == 1
    (merge,) = graph.merges()
    assert (merge.absorbed_name, merge.canonical_name) == ("K8s", "Kubernetes")
    assert (merge.rule, merge.decided_by) == ("imported", "import")
    assert take(graph, same("K8s", "Kubernetes")).folds == 0


def test_ends_of_an_identity_that_nothing_names_are_minted_and_listed() -> None:
    graph = enfold.open(":memory:")
    assert take(graph, same("K8s", "Kubernetes")).minted == ("K8s", "Kubernetes")


def test_a_fold_by_a_source_never_goes_against_a_decision() -> None:
    graph = graph_of(EntityRecord(1, "Node"), EntityRecord(2, "Node.js"))
    graph.keep_apart("Node", "Node.js", reason="They differ.")
    made = take(graph, same("Node", "Node.js"))
    assert made.folds == 0
    assert "settled apart" in made.notes[0].reason
    assert graph.merges() == []


def test_what_a_source_says_is_two_is_settled_apart_with_its_reason() -> None:
    graph = enfold.open(":memory:")
    records = EntityRecord(1, "Next"), EntityRecord(2, "Next.js"), apart("Next", "Next.js", "No.")
    assert take(graph, *records).apart == 1
    (decision,) = graph.apart()
    assert (decision.why, decision.decided_by) == ("No.", "import")
    assert take(graph, *records).apart == 0
    assert len(graph.apart()) == 1


def test_a_source_does_not_part_what_a_person_folded() -> None:
    graph = graph_of(EntityRecord(1, "Next"), EntityRecord(2, "Next.js"))
    graph.merge("Next", "Next.js")
    made = take(graph, apart("Next", "Next.js"))
    assert made.apart == 0
    assert "one entity here" in made.notes[0].reason
    assert graph.apart() == []


def test_a_source_that_says_both_is_taken_at_its_more_careful_word() -> None:
    graph = graph_of(same("A1", "B1"), same("B1", "C1"), apart("A1", "C1"))
    assert len(graph.entities()) == 2
    assert len(graph.merges()) == 1


def test_the_ends_of_an_identity_are_found_by_id() -> None:
    graph = graph_of(THEME, PLUGIN, same("Zen", "Zen", left_id="t1", right_id="p1"))
    assert len(graph.entities()) == 1
    assert take(graph, apart("Zen", "Zen")).notes


# ---- any graph goes out and comes back ----

names = st.sampled_from(["Zen", "zen", "Zen!", "Node", "Node.js", "C", "C++", "Ada", "東京"])
ids = st.sampled_from([None, "1", "2", "3"])
kinds = st.sampled_from([None, "theme", "plugin"])
texts = st.sampled_from(["Is calm.", "Zen runs.", "Ada met Node.js."])
records = st.lists(
    st.one_of(
        st.builds(
            EntityRecord,
            st.integers(1, 9),
            names,
            kinds,
            st.lists(texts, max_size=2).map(tuple),
            st.lists(names, max_size=2).map(tuple),
            ids,
            st.dictionaries(st.sampled_from(["a", "b"]), st.integers(0, 2)),
        ),
        st.builds(
            RelationRecord,
            st.integers(1, 9),
            names,
            st.sampled_from(["uses", "is"]),
            names,
            st.sampled_from([1.0, 0.5]),
            st.none() | texts,
            st.just({}),
            ids,
            ids,
        ),
        st.builds(IdentityRecord, st.integers(1, 9), names, names, st.booleans(), ids, ids),
    ),
    max_size=8,
)


@pytest.mark.sqlite
@settings(max_examples=150, deadline=None)
@given(
    records, st.booleans(), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=3)
)
def test_any_graph_goes_out_and_comes_back(
    said: list[Record], resolve: bool, folded: list[tuple[int, int]]
) -> None:
    graph = graph_of(*said)
    if resolve:
        graph.resolve()
    for left, right in folded:
        entities = graph.entities()
        if len(entities) > 1:
            one, other = entities[left % len(entities)], entities[right % len(entities)]
            if one.id != other.id:
                graph.merge(one.id, other.id, overrule=True)
    assert graph.check().clean
    written = out(graph)
    again = graph_of(*written)
    assert again.check().clean
    assert out(again) == written
    before = again.summary()
    take(again, *written)
    assert again.summary() == before


def test_a_command_keeps_two_of_one_name(tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    file.write_text(
        '{"name":"Zen","observations":[],"id":"1"}\n{"name":"Zen","observations":[],"id":"2"}\n'
    )
    with enfold.open(":memory:") as graph:
        (made,) = graph.import_files(file, trust_ids=True)
        assert made.senses == 1
    found = enfold.scan(file, trust_ids=True)
    assert found.entities == 2
    assert enfold.scan(file).entities == 1


def test_a_text_that_names_two_things_of_one_name_waits_for_an_answer() -> None:
    graph = graph_of(
        THEME,
        PLUGIN,
        EntityRecord(3, "Ada", "person", ("Ada installed Zen.", "Zen was slow for Ada.")),
    )
    (question,) = graph.name_questions()
    assert (question.name, question.waiting) == ("Zen", 2)
    assert [e.mentions for e in graph.entities() if e.name == "Zen"] == [1, 2]
    graph.decide(question.id, "keep_existing", candidate_id=question.candidates[1].id)
    assert [e.mentions for e in graph.entities() if e.name == "Zen"] == [1, 4]
    assert graph.check().clean
