"""Names that fit several entities: kept unlinked, asked about once, and linked as a person says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import enfold
from enfold import conflicts, folds, linking, lookup
from enfold.check import check
from enfold.errors import Error
from enfold.homonyms import Chosen, Waiting
from enfold.model import Answer, DecidedBy, Extracted, NameInText, NameQuestion, RelationInText
from enfold.names import Name
from enfold.ports import NewMemory, Tx
from enfold.store import Store, open_store

MERCURY = Name.of("Mercury")


@pytest.fixture
def store() -> Iterator[Store]:
    """Rows 1 and 2 are two things called Mercury; 3 is Venus."""
    store = open_store(":memory:")
    with store.write() as tx:
        for type in ("planet", "metal"):
            lookup.mint(tx, MERCURY, type=type, homonym=True)
        lookup.mint(tx, Name.of("Venus"), type="planet")
    yield store
    store.close()


def say(
    tx: Tx, *names: str, facts: tuple[tuple[str, str, str], ...] = (), sealed: str | None = None
) -> int:
    """Remember a text that names these."""
    text = f"text {tx.memories.last()}"
    (memory_id,) = tx.memories.add_many([NewMemory(text, sealed_for=sealed)])
    memory = tx.memories.get(memory_id)
    assert memory is not None
    said = Extracted(
        tuple(NameInText(name) for name in names), tuple(RelationInText(*fact) for fact in facts)
    )
    linking.link(tx, memory, said)
    return memory_id


def fold(tx: Tx, absorbed: int, canonical: int) -> int:
    rows = tx.entities.many([absorbed, canonical])
    return folds.fold(
        tx,
        rows[absorbed],
        rows[canonical],
        decided_by=DecidedBy.HUMAN,
        rule="test",
        score=1.0,
        reason="",
    ).id


def the_question(tx: Tx) -> NameQuestion:
    (question,) = [*tx.questions.names(), *tx.questions.names(decided=True)]
    return question


def decide(tx: Tx, answer: Answer, candidate: int | None = None) -> Chosen:
    question = the_question(tx)
    done = conflicts.decide_any(tx, question.id, answer, candidate_id=candidate, actor="ann")
    assert isinstance(done, Chosen)
    return done


def reopen(tx: Tx) -> Waiting:
    done = conflicts.reopen_any(tx, the_question(tx).id, actor="ann")
    assert isinstance(done, Waiting)
    return done


def mentioned(tx: Tx, *roots: int) -> list[list[int]]:
    """The memories that mention each of the entities."""
    return [[m.memory_id for m in tx.edges.mentions_of(root)] for root in roots]


def refused(code: str) -> Any:
    return pytest.raises(Error, check=lambda error: getattr(error, "code", None) == code)


def test_a_name_that_fits_several_is_asked_about_once_and_linked_to_none(
    store: Store,
) -> None:
    with store.write() as tx:
        say(tx, "Mercury", "Venus")
        say(tx, "mercury", "MERCURY")
        question = the_question(tx)
        assert (question.name, question.waiting, question.moot) == ("Mercury", 2, False)
        assert [entity.id for entity in question.candidates] == [1, 2]
        assert mentioned(tx, 1, 2, 3) == [[], [], [1]]
        assert tx.conflicts.pending() == []


def test_a_choice_links_what_waits_and_what_comes_later(store: Store) -> None:
    with store.write() as tx:
        first = say(tx, "Mercury", facts=(("Mercury", "near", "Venus"),))
        done = decide(tx, Answer.KEEP_EXISTING, 2)
        assert (done.mentions, done.facts) == (1, 1)
        assert done.entity is not None
        assert done.entity.id == 2
        later = say(tx, "Mercury", facts=(("Venus", "unlike", "Mercury"),))
        assert mentioned(tx, 1, 2) == [[], [first, later]]
        assert [fact.predicate for fact in tx.edges.facts_of(2)] == ["near", "unlike"]
        assert the_question(tx).waiting == 0
        assert check(tx).clean


def test_a_choice_without_a_candidate_lists_them(store: Store) -> None:
    with store.write() as tx:
        say(tx, "Mercury")
        with refused("choose_candidate") as error:
            decide(tx, Answer.KEEP_EXISTING)
        assert "1 “Mercury” (planet); 2 “Mercury” (metal)" in str(error.value)
        with refused("not_its_candidate"):
            decide(tx, Answer.KEEP_EXISTING, 3)
        for answer in (Answer.KEEP_NEW, Answer.KEEP_BOTH):
            with refused("bad_answer"):
                decide(tx, answer, 1)
        with refused("bad_answer"):
            decide(tx, Answer.MERGE)
        with refused("bad_answer"):
            conflicts.decide_any(
                tx, the_question(tx).id, Answer.KEEP_EXISTING, candidate_id=1, content="x"
            )
        with refused("not_answered"):
            reopen(tx)
        decide(tx, Answer.KEEP_BOTH)
        with refused("already_answered"):
            decide(tx, Answer.KEEP_NEW)


def test_the_candidate_may_be_named_by_a_row_that_leads_to_it(store: Store) -> None:
    with store.write() as tx:
        say(tx, "Mercury")
        fold(tx, 2, 3)
        done = decide(tx, Answer.KEEP_EXISTING, 3)
        assert done.question.chosen_id == 2
        assert mentioned(tx, 3) == [[1]]


def test_the_choice_follows_the_folds_of_the_row_that_was_chosen(store: Store) -> None:
    with store.write() as tx:
        say(tx, "Mercury")
        decide(tx, Answer.KEEP_EXISTING, 2)
        merge = fold(tx, 2, 3)
        later = say(tx, "Mercury")
        assert mentioned(tx, 1, 3) == [[], [1, later]]
        folds.revert(tx, merge)
        assert mentioned(tx, 1, 2, 3) == [[], [1, later], []]


def test_another_thing_of_the_name_is_made_for_it_and_goes_with_the_answer(
    store: Store,
) -> None:
    with store.write() as tx:
        say(tx, "Mercury")
        made = decide(tx, Answer.KEEP_NEW).entity
        assert made is not None
        assert (made.spelling, made.sense) == ("Mercury", 2)
        say(tx, "Mercury")
        assert mentioned(tx, 1, 2, made.id) == [[], [], [1, 2]]
        back = reopen(tx)
        assert back.gone is not None
        assert (back.mentions, back.gone.id, back.kept) == (2, made.id, None)
        assert tx.entities.get(made.id) is None
        assert (the_question(tx).waiting, the_question(tx).answer) == (2, None)
        assert check(tx).clean


def test_what_was_made_for_an_answer_stays_where_something_else_uses_it(
    store: Store,
) -> None:
    with store.write() as tx:
        say(tx, "Mercury")
        made = decide(tx, Answer.KEEP_NEW).entity
        assert made is not None
        tx.edges.mention(tx.memories.add("a text of its own"), made.id, "Mercury")
        back = reopen(tx)
        assert back.kept is not None
        assert (back.kept.id, back.gone, back.mentions) == (made.id, None, 1)
        assert [entity.id for entity in back.question.candidates] == [1, 2, made.id]


def test_a_new_thing_has_a_type_where_the_texts_agree(store: Store) -> None:
    with store.write() as tx:
        memory = tx.memories.get(tx.memories.add("Mercury sang."))
        assert memory is not None
        linking.link(tx, memory, Extracted((NameInText("Mercury", "person"),)))
        made = decide(tx, Answer.KEEP_NEW).entity
        assert made is not None
        assert made.type == "person"


def test_keep_both_leaves_the_name_unlinked_and_asks_no_more(store: Store) -> None:
    with store.write() as tx:
        say(tx, "Mercury")
        assert decide(tx, Answer.KEEP_BOTH).entity is None
        say(tx, "Mercury")
        assert tx.questions.names() == []
        assert mentioned(tx, 1, 2) == [[], []]
        reopen(tx)
        assert the_question(tx).waiting == 2


def test_an_answer_taken_back_leaves_what_was_linked_otherwise(store: Store) -> None:
    with store.write() as tx:
        own = tx.memories.add("given by its id")
        tx.edges.mention(own, 2, "Mercury")
        memory = tx.memories.get(own)
        assert memory is not None
        linking.link(tx, memory, Extracted((NameInText("Mercury"),)))
        say(tx, "Mercury")
        decide(tx, Answer.KEEP_EXISTING, 2)
        assert mentioned(tx, 2) == [[own, own + 1]]
        reopen(tx)
        assert mentioned(tx, 2) == [[own]]


def test_a_relation_waits_until_both_its_ends_are_chosen(store: Store) -> None:
    with store.write() as tx:
        for _ in range(2):
            lookup.mint(tx, Name.of("Hermes"), homonym=True)
        say(tx, facts=(("Hermes", "is", "Mercury"),))
        hermes, mercury = sorted(tx.questions.names(), key=lambda question: question.name)
        choices = ((mercury, 1), (hermes, 4))
        facts = []
        for question, candidate in choices:
            done = conflicts.decide_any(
                tx, question.id, Answer.KEEP_EXISTING, candidate_id=candidate
            )
            assert isinstance(done, Chosen)
            facts.append(done.facts)
        assert facts == [0, 1]
        assert [(f.subject_id, f.object_id) for f in tx.edges.facts_of(1)] == [(4, 1)]
        back = conflicts.reopen_any(tx, mercury.id)
        assert isinstance(back, Waiting)
        assert (back.mentions, back.facts) == (1, 1)
        assert tx.edges.facts_of(4) == []
        assert check(tx).clean


def test_a_fold_that_makes_the_name_one_links_what_waits_until_it_is_reverted(
    store: Store,
) -> None:
    with store.write() as tx:
        say(tx, "Mercury", facts=(("Mercury", "near", "Venus"),))
        question = the_question(tx)
    with store.write() as tx:
        merge = fold(tx, 2, 1)
    with store.read() as tx:
        assert mentioned(tx, 1) == [[1]]
        assert len(tx.edges.facts_of(3)) == 1
        assert conflicts.names(tx) == []
        (moot,) = conflicts.names(tx, decided=True)
        assert (moot.id, moot.answer, moot.answered_by) == (question.id, "keep_both", "resolver")
        assert check(tx).clean
    with store.write() as tx:
        with refused("moot") as error:
            conflicts.decide_any(tx, question.id, Answer.KEEP_NEW)
        assert "“Mercury” leads to one entity already" in str(error.value)
        folds.revert(tx, merge)
    with store.read() as tx:
        assert mentioned(tx, 1, 2) == [[], []]
        assert tx.edges.facts_of(3) == []
        assert the_question(tx) == question
        assert check(tx).clean


def test_deleting_one_of_two_links_what_waits_to_the_other(store: Store) -> None:
    with store.write() as tx:
        say(tx, "Mercury")
        entity = tx.entities.get(1)
        assert entity is not None
        folds.delete(tx, entity)
    with store.read() as tx:
        assert mentioned(tx, 2) == [[1]]
        assert conflicts.names(tx) == []
        assert check(tx).clean


def test_what_was_chosen_and_is_deleted_is_asked_about_anew(store: Store) -> None:
    with store.write() as tx:
        lookup.mint(tx, MERCURY, homonym=True)
        say(tx, "Mercury")
        first = decide(tx, Answer.KEEP_EXISTING, 2).question
        entity = tx.entities.get(2)
        assert entity is not None
        folds.delete(tx, entity)
    with store.read() as tx:
        question = the_question(tx)
        assert question.id != first.id
        assert (question.waiting, question.answer) == (1, None)
        assert check(tx).clean


def test_a_question_that_no_memory_waits_for_is_not_asked(store: Store) -> None:
    with store.write() as tx:
        tx.memories.delete(say(tx, "Mercury"))
        assert (tx.questions.names(), tx.questions.count_names()) == ([], 0)
        say(tx, "Mercury")
        assert tx.questions.count_names() == 1


def test_what_is_sealed_is_neither_asked_about_nor_counted(store: Store) -> None:
    with store.write() as tx:
        sealed = say(tx, "Mercury", sealed="bob")
        assert tx.questions.asked(MERCURY.key) is False
        say(tx, "Mercury")
        assert the_question(tx).waiting == 1
        assert decide(tx, Answer.KEEP_EXISTING, 1).mentions == 1
        assert mentioned(tx, 1) == [[2]]
        linked = {name.memory_id: name.row_id for at in (1, 2) for name in tx.unlinked.of(at)}
        assert linked == {sealed: 1, 2: 1}
        assert reopen(tx).mentions == 1


def test_a_name_of_sealed_memories_is_linked_when_the_graph_comes_to_know_it(
    store: Store,
) -> None:
    with store.write() as tx:
        say(tx, "Pluto", sealed="bob")
        assert tx.entities.by_key("pluto") == []
        assert tx.unlinked.of(1)[0].row_id is None
    with store.write() as tx:
        row = lookup.mint(tx, Name.of("Pluto"))[0].id
    with store.read() as tx:
        assert tx.unlinked.of(1)[0].row_id == row
        assert check(tx).clean


def test_questions_about_names_take_no_place_in_the_queue(store: Store) -> None:
    with store.write() as tx:
        for at in range(conflicts.QUEUE_CAP + 1):
            for _ in range(2):
                lookup.mint(tx, Name.of(f"thing {at}"), homonym=True)
            for _ in range(1 + (at == 7)):
                say(tx, f"thing {at}")
        assert tx.questions.count_names() == conflicts.QUEUE_CAP + 1
        assert tx.conflicts.count_pending() == 0
        first, second, *_ = conflicts.names(tx, limit=5)
        assert (first.name, first.waiting, second.name) == ("thing 7", 2, "thing 0")


def test_a_graph_counts_lists_decides_and_reopens_them() -> None:
    with enfold.open(":memory:", embedder=None) as graph:
        with graph._store.write() as tx:
            for _ in range(2):
                lookup.mint(tx, MERCURY, homonym=True)
        graph.remember("Mercury is hot.", mentions=["Mercury"])
        assert (graph.summary().names, graph.summary().pending) == (1, 0)
        (question,) = graph.name_questions()
        assert graph.conflicts() == []
        done = graph.decide(question.id, "keep_existing", candidate_id=2)
        assert isinstance(done, Chosen)
        assert graph.entity("id:2").entity.mentions == 1
        assert [one.id for one in graph.name_questions(decided=True)] == [question.id]
        back = graph.reopen(question.id)
        assert isinstance(back, Waiting)
        assert graph.name_questions() == [question]


def test_an_answer_to_a_name_is_no_answer_to_a_pair(store: Store) -> None:
    with store.write() as tx:
        say(tx, "Mercury")
        with refused("not_an_entity_question"):
            conflicts.decide(tx, the_question(tx).id, Answer.KEEP_BOTH)
        with refused("no_conflict"):
            conflicts.decide_any(tx, 99, Answer.KEEP_BOTH)
        with refused("no_conflict"):
            conflicts.reopen_any(tx, 99)


# ---- any order -----------------------------------------------------------------------------------


class Interleaved(RuleBasedStateMachine):
    """Verbs in any order: what is linked is what the definition says, and every invariant holds."""

    KEYS = ("mercury", "hermes")

    def __init__(self) -> None:
        super().__init__()
        self.store = open_store(":memory:")
        self.linked: dict[tuple[int, str], bool] = {}

    @initialize()
    def two_things(self) -> None:
        with self.store.write() as tx:
            for name in ("Mercury", "Mercury", "Hermes", "Venus"):
                lookup.mint(tx, Name.of(name), homonym=True)

    @rule(
        names=st.lists(st.sampled_from(["Mercury", "mercury", "Hermes", "Venus"]), max_size=3),
        related=st.booleans(),
        sealed=st.sampled_from([None, None, "bob"]),
    )
    def remember(self, names: list[str], related: bool, sealed: str | None) -> None:
        with self.store.write() as tx:
            say(tx, *names, facts=(("Mercury", "is", "Hermes"),) if related else (), sealed=sealed)

    @rule(name=st.sampled_from(["Mercury", "Hermes"]))
    def mint(self, name: str) -> None:
        with self.store.write() as tx:
            lookup.mint(tx, Name.of(name), homonym=True)

    @rule(data=st.data())
    def fold(self, data: st.DataObject) -> None:
        with self.store.write() as tx:
            one, other = self.two(tx, data)
            if one != other and not tx.decisions.between(one, other):
                fold(tx, one, other)

    @rule(data=st.data())
    def revert(self, data: st.DataObject) -> None:
        with self.store.write() as tx:
            if merges := tx.merges.recent():
                folds.revert(tx, data.draw(st.sampled_from([merge.id for merge in merges])))

    @rule(data=st.data(), answer=st.sampled_from(["keep_existing", "keep_new", "keep_both"]))
    def decide(self, data: st.DataObject, answer: str) -> None:
        with self.store.write() as tx:
            if not (asked := tx.questions.names()):
                return
            question = data.draw(st.sampled_from(asked))
            candidates = [entity.id for entity in question.candidates]
            chosen = data.draw(st.sampled_from(candidates)) if answer == "keep_existing" else None
            conflicts.decide_any(tx, question.id, Answer(answer), candidate_id=chosen)

    @rule(data=st.data())
    def decide_and_reopen(self, data: st.DataObject) -> None:
        with self.store.write() as tx:
            if not (asked := tx.questions.names()):
                return
            before = self.seen(tx)
            question = data.draw(st.sampled_from(asked))
            conflicts.decide_any(tx, question.id, Answer.KEEP_NEW)
            again = conflicts.reopen_any(tx, question.id)
            assert isinstance(again, Waiting)
            assert again.question == question
            assert self.seen(tx) == before

    @rule(data=st.data())
    def fold_and_revert(self, data: st.DataObject) -> None:
        with self.store.write() as tx:
            one, other = self.two(tx, data)
            if one == other or tx.decisions.between(one, other):
                return
            before = self.seen(tx)
            merge = fold(tx, one, other)
            linking.settle(tx)
            decision = folds.revert(tx, merge).decision_id
            linking.settle(tx)
            assert self.seen(tx) == before
            tx.decisions.undo(decision or 0)

    @rule(data=st.data())
    def reopen(self, data: st.DataObject) -> None:
        with self.store.write() as tx:
            if answered := tx.questions.names(decided=True):
                conflicts.reopen_any(tx, data.draw(st.sampled_from(answered)).id)

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        with self.store.write() as tx:
            live = [entity for entity in tx.entities.live() if not tx.merges.touching(entity.id)]
            if live:
                folds.delete(tx, data.draw(st.sampled_from(live)))

    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        with self.store.write() as tx:
            if last := tx.memories.last():
                tx.memories.delete(data.draw(st.integers(1, last)))

    @rule(data=st.data(), status=st.sampled_from(["stale", "active"]))
    def hold(self, data: st.DataObject, status: str) -> None:
        with self.store.write() as tx:
            memory = data.draw(st.integers(0, tx.memories.last()))
            if tx.memories.get(memory):
                tx.memories.set_status(memory, status)

    @staticmethod
    def two(tx: Tx, data: st.DataObject) -> tuple[int, int]:
        """Two entities, or twice one, or twice none."""
        one = st.sampled_from([entity.id for entity in tx.entities.live()] or [0])
        return data.draw(one), data.draw(one)

    @staticmethod
    def seen(tx: Tx) -> object:
        """What a reader sees of names in texts."""
        return (
            [(question.key, question.waiting) for question in tx.questions.names()],
            [
                (
                    entity.id,
                    sorted((m.memory_id, m.spelling) for m in tx.edges.mentions_of(entity.id)),
                    sorted(
                        (f.memory_id, f.subject_id, f.object_id)
                        for f in tx.edges.facts_of(entity.id)
                    ),
                )
                for entity in tx.entities.live()
            ],
        )

    @invariant()
    def kept_names_are_linked_as_their_entities_and_answers_say(self) -> None:
        with self.store.read() as tx:
            report = check(tx, deep=False)
            assert report.clean, report.violations
            for memory in range(1, tx.memories.last() + 1):
                for name in tx.unlinked.of(memory):
                    rows = tx.entities.by_key(name.key)
                    roots = {row.canonical_id for row in rows}
                    chosen = tx.questions.chosen(name.key)
                    assert (name.row_id is not None) == (len(roots) == 1 or chosen is not None)
                    if chosen is not None:
                        assert name.row_id == chosen
                    mentions = [
                        mention
                        for root in roots
                        for mention in tx.edges.mentions_of(root)
                        if (mention.memory_id, mention.spelling) == (memory, name.spelling)
                    ]
                    assert name.row_id is not None or not mentions

    def teardown(self) -> None:
        self.store.close()


Interleaved.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestInterleaved = Interleaved.TestCase
