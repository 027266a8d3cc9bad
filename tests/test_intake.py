"""A graph from elsewhere is taken in whole, once, and under what was decided here."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from enfold import folds, formats, known
from enfold.intake import intake
from enfold.intake import mentions as in_texts
from enfold.model import (
    DecidedBy,
    EntityRecord,
    Fact,
    Imported,
    Memory,
    Mention,
    Note,
    Record,
    RelationRecord,
    SetAside,
)
from enfold.names import Name
from enfold.ports import NewRow
from enfold.store import Store, open_store
from enfold.store.entities import Entities

EXAMPLES = Path(__file__).parent.parent / "examples"
Story = tuple[Memory, list[Mention], list[Fact]]


@pytest.fixture
def store() -> Store:
    return open_store(":memory:")


def take(store: Store, *records: Record, source: str = "m.jsonl", keep: int = 100) -> Imported:
    with store.write() as tx:
        return intake(tx, records, source=source, format="mcp", keep=keep)


def take_file(store: Store, path: Path) -> Imported:
    (reading,) = formats.read(path)
    with store.write() as tx:
        return intake(tx, reading.records, source=reading.source, format=reading.format)


def stories(store: Store) -> list[Story]:
    with store.read() as tx:
        return list(tx.memories.all())


def rows(store: Store) -> dict[int, str]:
    with store.read() as tx:
        return {row_id: spelling for row_id, spelling, _ in tx.entities.spellings()}


def mentioned(store: Store, content: str) -> list[tuple[str, str]]:
    """(row's spelling, spelling as written) of the memories with that text, in writing order."""
    names = rows(store)
    return [
        (names[mention.asserted_id], mention.spelling)
        for memory, mentions, _ in stories(store)
        if memory.content == content
        for mention in sorted(mentions, key=lambda m: m.id)
    ]


def id_of(store: Store, name: str) -> int:
    with store.read() as tx:
        return tx.entities.by_key(Name.of(name).key)[0].id


def fold(store: Store, absorbed: str, canonical: str) -> int:
    with store.write() as tx:
        one = tx.entities.by_key(Name.of(absorbed).key)[0]
        other = tx.entities.by_key(Name.of(canonical).key)[0]
        merge = folds.fold(
            tx,
            one,
            other,
            decided_by=DecidedBy.HUMAN,
            rule="manual",
            score=1.0,
            reason="One thing.",
        )
        assert merge is not None
        return merge.id


def entity(name: str, *observations: str, type: str | None = None, line: int = 1) -> EntityRecord:
    return EntityRecord(line, name, type, tuple(observations))


def relation(subject: str, predicate: str, target: str, line: int = 1) -> RelationRecord:
    return RelationRecord(line, subject, predicate, target)


# ---- what becomes of a record ----


def test_an_observation_becomes_a_memory_that_mentions_its_entity_first(store: Store) -> None:
    made = take(store, entity("Bob Ray"), entity("Alice", "Met Bob Ray, then bob ray again"))
    ((memory, mentions, _),) = stories(store)
    assert (memory.kind, memory.source, memory.source_tag) == ("fact", "m.jsonl", "import")
    assert memory.caller_id is not None
    assert memory.caller_id.startswith("obs:")
    assert mentioned(store, memory.content) == [("Alice", "Alice"), ("Bob Ray", "Bob Ray")]
    assert (made.entities, made.memories, made.mentions) == (2, 1, len(mentions))


def test_a_name_that_a_text_repeats_is_one_mention_of_that_text(store: Store) -> None:
    take(store, entity("Boston"), entity("Alice", "Alice met Alice in Boston and in BOSTON."))
    found = mentioned(store, "Alice met Alice in Boston and in BOSTON.")
    assert found == [("Alice", "Alice"), ("Boston", "Boston")]


def test_one_title_under_two_types_keeps_every_edge(store: Store) -> None:
    made = take(
        store,
        entity("IBM", "Old", type="organization"),
        entity("IBM", "Big", type="company"),
        *(relation("IBM", "sells", f"Part {n}") for n in range(6)),
    )
    assert (made.facts, made.memories) == (6, 8)


def test_a_name_that_comes_later_in_the_file_is_found_in_earlier_texts(store: Store) -> None:
    take(store, entity("Alice", "Works at Acme Corp"), relation("Alice", "uses", "Acme Corp"))
    assert ("Acme Corp", "Acme Corp") in mentioned(store, "Works at Acme Corp")


def test_the_same_sentence_under_two_entities_is_two_memories(store: Store) -> None:
    take(store, entity("Alice", "Likes tea"), entity("Bob", "Likes tea"))
    assert [m.content for m, _, _ in stories(store)] == ["Likes tea", "Likes tea"]


def test_the_same_observation_twice_is_one_memory(store: Store) -> None:
    made = take(store, entity("Alice", "Likes tea", "Likes tea"), entity("ALICE", "Likes tea"))
    assert made.memories == 1
    assert made.entities == 1


def test_a_relation_becomes_a_memory_with_one_fact(store: Store) -> None:
    made = take(store, entity("Alice"), entity("Acme"), relation("Alice", "works at", "acme"))
    ((memory, mentions, facts),) = stories(store)
    assert (memory.content, memory.source_tag) == ("Alice works at acme", "import:relation")
    assert [m.spelling for m in mentions] == ["Alice", "acme"]
    (fact,) = facts
    assert (fact.subject_id, fact.predicate) == (id_of(store, "Alice"), "works at")
    assert fact.object_id == id_of(store, "Acme")
    assert made.facts == 1


def test_a_relation_with_a_text_of_its_own_keeps_it(store: Store) -> None:
    take(
        store,
        entity("Eve Stone"),
        RelationRecord(1, "Alice", "met", "Bob", 0.5, "Alice met Bob at Eve Stone's."),
    )
    ((memory, _, facts),) = stories(store)
    assert memory.content == "Alice met Bob at Eve Stone's."
    assert facts[0].confidence == 0.5
    assert [name for name, _ in mentioned(store, memory.content)] == ["Alice", "Bob", "Eve Stone"]


def test_the_type_of_a_relation_is_no_mention(store: Store) -> None:
    take(store, entity("works at"), relation("Alice", "works at", "Acme"))
    assert [name for name, _ in mentioned(store, "Alice works at Acme")] == ["Alice", "Acme"]


def test_ends_that_nothing_else_names_are_minted_and_listed(store: Store) -> None:
    made = take(store, relation("Ghost A", "knows", "Ghost B"), entity("Ghost A", type="ghost"))
    assert made.minted == ("Ghost B",)
    with store.read() as tx:
        assert tx.entities.many([id_of(store, "Ghost B")])[id_of(store, "Ghost B")].type is None


def test_relations_of_one_text_keep_their_predicates_apart(store: Store) -> None:
    made = take(
        store,
        RelationRecord(1, "A1", "recommends", "B1", text="A1 likes B1."),
        RelationRecord(2, "A1", "suggests", "B1", text="A1 likes B1."),
        relation("B1", "recommends", "A1"),
    )
    assert made.facts == 3


def test_ids_of_a_source_lead_to_their_names(store: Store) -> None:
    made = take(
        store,
        RelationRecord(1, "alice:2", "knows", "alice:1"),
        EntityRecord(2, "Alice", foreign_id="alice:1"),
        EntityRecord(3, "Alice Smith", foreign_id="alice:2"),
    )
    assert made.minted == ()
    ((_, _, (fact,)),) = stories(store)
    assert (fact.subject_id, fact.object_id) == (id_of(store, "Alice Smith"), id_of(store, "Alice"))


def test_an_id_of_two_names_is_noted_and_leads_to_neither(store: Store) -> None:
    made = take(
        store,
        EntityRecord(1, "Alice", foreign_id="1"),
        EntityRecord(2, "Bob", foreign_id="1"),
        RelationRecord(3, "1", "knows", "Alice"),
    )
    assert [note.line for note in made.notes] == [1, 2]
    assert all("stay two" in note.reason for note in made.notes)
    assert [piece.line for piece in made.set_aside] == [3]
    assert "several entities" in made.set_aside[0].reason


# ---- what differs from what is known ----


def test_a_second_type_is_noted_and_the_first_kept(store: Store) -> None:
    made = take(
        store, entity("IBM", type="organization"), entity("IBM", "Sells", type="company", line=2)
    )
    (note,) = made.notes
    assert "'organization', which is kept; here it is 'company'" in note.reason
    with store.read() as tx:
        assert tx.entities.by_key("ibm")[0].type == "organization"


def test_types_that_differ_in_case_alone_are_no_difference(store: Store) -> None:
    assert take(store, entity("A1", type="Feature"), entity("A1", type="feature")).notes == ()


def test_a_type_that_comes_later_is_taken(store: Store) -> None:
    take(store, relation("Alice", "knows", "Bob"))
    take(store, entity("Bob", type="person"))
    with store.read() as tx:
        assert tx.entities.by_key("bob")[0].type == "person"


def test_attributes_are_a_union_and_a_second_value_is_noted(store: Store) -> None:
    take(store, EntityRecord(1, "A1", attributes={"v": 1, "tags": ["x"]}))
    made = take(store, EntityRecord(4, "A1", attributes={"v": 2, "by": "eve"}))
    with store.read() as tx:
        assert tx.entities.attributes(id_of(store, "A1")) == {"v": 1, "tags": ["x"], "by": "eve"}
    assert [(note.line, note.text) for note in made.notes] == [(4, '{"v": 2}')]


def facts_beside(store: Store, subject: str) -> list[dict[str, object]]:
    with store.read() as tx:
        return [beside for *_, beside in tx.edges.stated([id_of(store, subject)])]


def test_keys_of_a_relation_are_kept_with_its_fact(store: Store) -> None:
    made = take(store, RelationRecord(3, "A1", "r", "B1", attributes={"createdAt": "today"}))
    assert made.notes == ()
    assert facts_beside(store, "A1") == [{"createdAt": "today"}]


def test_a_relation_met_again_keeps_its_first_keys_and_takes_new_ones(store: Store) -> None:
    first = RelationRecord(1, "A1", "r", "B1", attributes={"v": 1})
    again = RelationRecord(2, "a1", "r", "B1", attributes={"v": 2, "by": "eve"})
    made = take(store, first, again)
    assert facts_beside(store, "A1") == [{"v": 1, "by": "eve"}]
    (note,) = made.notes
    assert (note.line, note.text) == (2, '{"v": 2}')
    assert note.reason == "'a1 r B1' is known with another v; the first is kept."
    later = take(store, RelationRecord(7, "A1", "r", "B1", attributes={"by": "bob", "w": None}))
    assert facts_beside(store, "A1") == [{"v": 1, "by": "eve", "w": None}]
    assert [(note.line, note.text) for note in later.notes] == [(7, '{"by": "bob"}')]
    assert (made.facts, later.facts) == (1, 0)


def test_a_relation_met_again_after_its_fact_is_gone_is_left_alone(store: Store) -> None:
    met = RelationRecord(1, "A1", "r", "B1", attributes={"v": 1})
    take(store, met)
    with store.write() as tx:
        folds.delete(tx, tx.entities.by_key("b1")[0])
    assert (again := take(store, met)).facts == 0
    assert again.notes == ()


# ---- aliases ----


def test_an_alias_leads_to_its_entity(store: Store) -> None:
    made = take(store, EntityRecord(1, "Kubernetes", aliases=("K8s", "kubernetes", "kube")))
    assert made.aliases == 2
    with store.read() as tx:
        assert tx.entities.by_key("k8s")[0].canonical_id == id_of(store, "Kubernetes")
        assert tx.entities.count_live() == 1
        assert {m.rule for m in tx.merges.recent()} == {"imported"}
        assert {m.decided_by for m in tx.merges.recent()} == {DecidedBy.IMPORT}


def test_a_relation_may_name_its_end_by_an_alias(store: Store) -> None:
    made = take(
        store, relation("K8s", "runs", "Pod"), EntityRecord(2, "Kubernetes", aliases=("K8s",))
    )
    assert made.minted == ("Pod",)


def test_an_alias_that_is_a_name_of_its_own_is_noted_and_not_folded(store: Store) -> None:
    made = take(
        store, EntityRecord(1, "North Bank Holdings", aliases=("North Bank",)), entity("North Bank")
    )
    assert made.aliases == 0
    assert "North Bank" in made.notes[0].reason
    with store.read() as tx:
        assert tx.entities.count_live() == 2


def test_an_alias_of_two_entities_goes_to_the_first_and_is_noted(store: Store) -> None:
    made = take(
        store,
        EntityRecord(1, "Audio Video", aliases=("AV", "av")),
        EntityRecord(2, "Anti Virus", aliases=("AV",)),
    )
    assert made.aliases == 1
    assert [note.line for note in made.notes] == [2]
    with store.read() as tx:
        assert tx.entities.by_key("av")[0].canonical_id == id_of(store, "Audio Video")


def test_an_alias_that_was_reverted_is_not_taken_again(store: Store) -> None:
    record = EntityRecord(1, "Kubernetes", aliases=("K8s",))
    take(store, record)
    with store.write() as tx:
        (merge,) = tx.merges.recent()
        folds.revert(tx, merge.id)
    made = take(store, record)
    assert made.aliases == 0
    assert len(made.notes) == 1
    with store.read() as tx:
        assert tx.merges.recent() == []


def test_an_alias_settled_apart_whose_row_is_gone_leaves_nothing_behind(store: Store) -> None:
    record = EntityRecord(1, "Kubernetes", aliases=("K8s",))
    take(store, record)
    with store.write() as tx:
        (merge,) = tx.merges.recent()
        folds.revert(tx, merge.id)
        folds.delete(tx, tx.entities.by_key("k8s")[0])
    made = take(store, record)
    assert made.aliases == 0
    assert len(made.notes) == 1
    assert list(rows(store).values()) == ["Kubernetes"]


# ---- again, and after what was decided ----


@pytest.mark.parametrize("folder", ["attraccess", "dmetrics", "memory_graph_rust"])
def test_a_second_import_makes_nothing(store: Store, folder: str) -> None:
    path = EXAMPLES / folder / "memory.jsonl"
    first = take_file(store, path)
    before = stories(store), rows(store)
    again = take_file(store, path)
    assert (stories(store), rows(store)) == before
    assert first.entities > 40
    assert (again.entities, again.memories, again.mentions, again.facts, again.aliases) == (0,) * 5
    assert again.minted == ()
    assert again.known > 40


def test_a_real_file_comes_in_whole(store: Store) -> None:
    made = take_file(store, EXAMPLES / "attraccess" / "memory.jsonl")
    assert (made.entities, made.memories, made.facts) == (85, 409, 88)
    assert len(made.minted) == 22
    assert made.set_aside == ()


def test_an_import_after_a_fold_asserts_the_row_its_name_matches(store: Store) -> None:
    take(store, entity("Node", "Runs"), entity("Node.js", "Is fast"))
    fold(store, "Node", "Node.js")
    made = take(store, entity("Node", "Runs", "Is old"), relation("Node", "uses", "Node.js"))
    assert (made.entities, made.memories) == (0, 2)
    assert mentioned(store, "Is old")[0] == ("Node", "Node")
    with store.read() as tx:
        assert tx.entities.count_live() == 1


def test_an_import_after_a_revert_folds_nothing_again(store: Store) -> None:
    records = entity("Node", "Runs"), entity("Node.js", "Is fast")
    take(store, *records)
    merge_id = fold(store, "Node", "Node.js")
    with store.write() as tx:
        folds.revert(tx, merge_id)
    made = take(store, *records)
    assert (made.entities, made.memories, made.aliases) == (0, 0, 0)
    with store.read() as tx:
        assert tx.merges.recent() == []
        assert tx.entities.count_live() == 2


def test_an_import_after_a_rename_makes_nothing(store: Store) -> None:
    records = entity("Origin", "Is a tool"), relation("Origin", "made by", "Eve")
    take(store, *records)
    with store.write() as tx:
        folds.rename(tx, tx.entities.by_key("origin")[0], Name.of("Wenlan"))
    before = rows(store)
    made = take(store, *records)
    assert (made.entities, made.memories, made.mentions) == (0, 0, 0)
    assert rows(store) == before


def test_a_name_of_several_entities_is_linked_to_none(store: Store) -> None:
    take(store, EntityRecord(1, "Zhang Wei", foreign_id="7"))
    with store.write() as tx:
        tx.entities.add(Name.of("Zhang Wei"), type=None, sense=1)
    made = take(
        store,
        entity("Zhang Wei", "Sings"),
        EntityRecord(2, "Zhang Wei", observations=("Paints",), foreign_id="7"),
        relation("Zhang Wei", "knows", "Li Na", line=3),
        entity("Li Na", "Met Zhang Wei"),
    )
    assert [piece.line for piece in made.set_aside] == [1, 3]
    assert made.memories == 2
    assert [name for name, _ in mentioned(store, "Met Zhang Wei")] == ["Li Na"]


def test_no_rule_folds_on_import(store: Store) -> None:
    take(store, entity("CPUPackage"), entity("cpu_package"), entity("CPU Package"))
    with store.read() as tx:
        assert tx.entities.count_live() == 3


# ---- names as they come ----


def test_two_forms_of_one_name_are_one_entity(store: Store) -> None:
    assert take(store, entity("Zo\u00eb.md"), entity("Zoe\u0308.md")).entities == 1


def test_a_name_is_cleaned_and_a_blank_one_set_aside_whole(store: Store) -> None:
    made = take(store, entity("Acme\nCorp\t"), entity("\u200b\u2060", "said", line=2))
    assert list(rows(store).values()) == ["Acme Corp"]
    (piece,) = made.set_aside
    assert piece.line == 2
    assert json.loads(piece.text) == {"name": "\u200b\u2060", "observations": ["said"]}


def test_emoji_names_stay_apart(store: Store) -> None:
    assert take(store, entity("🚀"), entity("🎯")).entities == 2


def test_long_names_that_begin_alike_stay_apart(store: Store) -> None:
    made = take(store, entity("n" * 5_000 + "a"), entity("n" * 5_000 + "b"), entity("n" * 20_000))
    assert made.entities == 2
    assert len(made.set_aside) == 1


def test_a_word_that_stands_in_many_texts_is_no_mention(store: Store) -> None:
    made = take_file(store, EXAMPLES / "dmetrics" / "memory.jsonl")
    assert made.mentions - made.memories - made.facts < 20
    take(store, entity("webpack"), entity("Alice", "Uses webpack"))
    assert ("webpack", "webpack") in mentioned(store, "Uses webpack")
    many = [entity(f"Thing {n}", f"Webpack {n}: webpack is used") for n in range(30)]
    assert any("ordinary word" in note.reason for note in take(store, *many).notes)


# ---- a large graph ----


def filled(store: Store, names: Iterable[str]) -> None:
    with store.write() as tx:
        tx.entities.add_many([NewRow(Name.of(name)) for name in names])


def test_a_small_import_reads_no_name_that_its_texts_do_not_hold(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(store, ["Acme Corp", "東京都", *(f"Thing {n}" for n in range(2_000))])
    monkeypatch.setattr(Entities, "spellings", lambda _: pytest.fail("every name was read"))
    monkeypatch.setattr(Entities, "count", lambda _: pytest.fail("every name was counted"))
    take(store, entity("Alice", "Left Acme Corp for 東京都庁; thing 7 came along."))
    with store.read() as tx:
        ((_, mentions),) = tx.memories.page(after=0, limit=9)
    found = [mention.spelling for mention in mentions]
    assert found == ["Alice", "Acme Corp", "東京都", "thing 7"]


def test_a_large_import_reads_every_name_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_texts, "BATCH", 10)
    read: list[int] = []
    spellings = Entities.spellings

    def counted(self: Entities) -> Iterator[tuple[int, str, str | None]]:
        read.append(1)
        return spellings(self)

    monkeypatch.setattr(Entities, "spellings", counted)
    take(store, entity("Bob Ray"), *(entity(f"T{n}", f"Bob Ray saw {n}") for n in range(50)))
    assert read == [1]
    assert mentioned(store, "Bob Ray saw 49") == [("T49", "T49"), ("Bob Ray", "Bob Ray")]


def test_either_way_of_looking_makes_the_same_mentions(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for runs_a_name in (0, 1_000_000):
        monkeypatch.setattr(known, "RUNS_A_NAME", runs_a_name)
        monkeypatch.setattr(known, "LOOKUPS", 100)
        store = open_store(":memory:")
        take_file(store, EXAMPLES / "attraccess" / "memory.jsonl")
        take_file(store, EXAMPLES / "dmetrics" / "memory.jsonl")
        made.append([(memory.content, mentions) for memory, mentions, _ in stories(store)])
    assert made[0] == made[1]


# ---- what is set aside ----


def test_pieces_are_kept_whole_and_shown_short(store: Store) -> None:
    pieces = [SetAside("m.jsonl", n, "Broken.", f"{n}\0" + "x" * 1_000) for n in range(5)]
    made = take(store, entity("A1"), Note("m.jsonl", 9, "Noted.", "as it was"), *pieces, keep=3)
    assert [piece.line for piece in made.set_aside] == [0, 1, 2, 0]
    assert made.set_aside[-1].reason == f"2 more, kept with run {made.run_id}."
    assert all(len(piece.text) < 300 for piece in made.set_aside)
    assert [note.reason for note in made.notes] == ["Noted."]
    assert made.run_id is not None
    with store.read() as tx:
        kept = [piece for piece in tx.runs.pieces(made.run_id) if piece.reason == "Broken."]
        assert [piece.text for piece in kept] == [f"{n}\\x00" + "x" * 1_000 for n in range(5)]
        run = tx.runs.get(made.run_id)
        assert run is not None
        assert (run.kind, run.report["set_aside"], run.report["entities"]) == ("import", 5, 1)


def test_an_import_that_fails_leaves_nothing(store: Store) -> None:
    def broken() -> Iterable[Record]:
        yield from (entity(f"Thing {n}", "said") for n in range(3_000))
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="gone"), store.write() as tx:
        intake(tx, broken(), source="m.jsonl", format="mcp")
    assert rows(store) == {}
    assert stories(store) == []


def test_progress_is_told(store: Store) -> None:
    told: list[tuple[str, int, int]] = []
    with store.write() as tx:
        intake(
            tx,
            [entity("A1", "one"), relation("A1", "r", "B1")],
            source="m",
            format="mcp",
            progress=lambda what, done, total: told.append((what, done, total)),
        )
    assert told == [("entities", 2, 0), ("relations", 1, 0), ("mentions", 2, 2)]


def test_many_batches_are_as_one(store: Store) -> None:
    made = take(
        store,
        *(entity(f"Thing {n % 1500}", f"Note {n}", f"Note {n % 7}") for n in range(3_000)),
        *(relation(f"Thing {n}", "next", f"Thing {n + 1}") for n in range(1_600)),
    )
    assert made.entities == 1_601
    assert made.memories == 3_000 + 1_500 * 7 + 1_600 - _shared(1500)
    assert made.facts == 1_600


def _shared(names: int) -> int:
    """Observations that one name has twice."""
    said = {(n % names, m) for n in range(3_000) for m in (n, n % 7)}
    return 3_000 + names * 7 - len(said)


def _import(path: str, file: str) -> None:
    store = open_store(path)
    (reading,) = formats.read(file)
    with store.write() as tx:
        intake(tx, reading.records, source=reading.source, format=reading.format)
    store.close()


def test_two_processes_that_import_one_file_leave_one_copy(tmp_path: Path) -> None:
    path, file = str(tmp_path / "g.db"), str(EXAMPLES / "attraccess" / "memory.jsonl")
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_import, args=(path, file)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    store = open_store(path)
    assert len(rows(store)) == 85
    assert len(stories(store)) == 409
    store.close()
