from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import enfold
from enfold import conflicts, folds, lookup
from enfold.asked import Asked
from enfold.check import check
from enfold.errors import Error, NotFound
from enfold.model import Answer, DecidedBy, MemoryQuestion, Proposal, Verdict
from enfold.names import Name
from enfold.ports import NewMemory
from enfold.store import Store, open_store, suggestions
from tests.told import told


@pytest.fixture
def store() -> Iterator[Store]:
    store = open_store(":memory:")
    yield store
    store.close()


def mint(tx: Any, *spellings: str) -> list[int]:
    return [lookup.mint(tx, Name.of(spelling))[0].id for spelling in spellings]


def mention(tx: Any, row: int, times: int) -> None:
    for _ in range(times):
        tx.edges.mention(tx.memories.add("text"), row, "x")


def ask(tx: Any, *pairs: tuple[int, int], score: float = 0.5) -> conflicts.Queued:
    proposals = [Proposal(q, c, Verdict.ASK, "spelling", score, "alike") for q, c in pairs]
    return conflicts.ask(tx, proposals, asked_by="rule")


def fold(tx: Any, absorbed: int, canonical: int) -> int:
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


def refused(code: str) -> Any:
    return pytest.raises(Error, check=lambda error: getattr(error, "code", None) == code)


def pending(tx: Any) -> list[int]:
    return [question.id for question in conflicts.pending(tx)]


@pytest.mark.parametrize(
    ("answer", "absorbed", "canonical"),
    [(Answer.KEEP_EXISTING, "new", "old"), (Answer.KEEP_NEW, "old", "new")],
)
def test_an_answer_folds_in_the_direction_it_says(
    store: Store, answer: Answer, absorbed: str, canonical: str
) -> None:
    with store.write() as tx:
        old, new = mint(tx, "old", "new")
        mention(tx, new, 9)  # the canonical order would say otherwise
        (question,) = ask(tx, (new, old)).conflict_ids
        decided = conflicts.decide(tx, question, answer, actor="ann")
        merge = decided.merge
        assert merge is not None
        assert (merge.absorbed_name, merge.canonical_name) == (absorbed, canonical)
        assert (merge.decided_by, merge.conflict_id, merge.rule) == ("human", question, "spelling")
        assert (decided.conflict.answer, decided.conflict.merge_id) == (answer, merge.id)
        assert pending(tx) == []


def test_keep_both_settles_the_two_apart(store: Store) -> None:
    with store.write() as tx:
        a, b = mint(tx, "a1", "b1")
        (question,) = ask(tx, (a, b)).conflict_ids
        decided = conflicts.decide(tx, question, Answer.KEEP_BOTH, actor="ann")
        assert tx.decisions.apart_roots() == [(a, b)]
        assert decided.conflict.decision_id is not None
        assert ask(tx, (a, b)).skipped == 1


def test_an_answer_goes_through_the_folds_made_since(store: Store) -> None:
    with store.write() as tx:
        a, b, c, d = mint(tx, "a1", "b1", "c1", "d1")
        (question,) = ask(tx, (a, b)).conflict_ids
        fold(tx, a, c)
        fold(tx, b, d)
        decided = conflicts.decide(tx, question, Answer.KEEP_EXISTING, candidate_id=d)
        assert decided.merge is not None
        assert (decided.merge.absorbed_id, decided.merge.canonical_id) == (c, d)


def test_an_answer_that_makes_no_sense_is_refused(store: Store) -> None:
    with store.write() as tx:
        a, b, c = mint(tx, "a1", "b1", "c1")
        (question,) = ask(tx, (a, b)).conflict_ids
        with refused("rename_instead"):
            conflicts.decide(tx, question, Answer.MERGE, content="a1 or b1")
        with refused("not_its_candidate"):
            conflicts.decide(tx, question, Answer.KEEP_EXISTING, candidate_id=c)
        with pytest.raises(NotFound):
            conflicts.decide(tx, question + 1, Answer.KEEP_BOTH)
        with refused("not_answered"):
            conflicts.reopen(tx, question)
        conflicts.decide(tx, question, Answer.KEEP_BOTH)
        with refused("already_answered"):
            conflicts.decide(tx, question, Answer.KEEP_EXISTING)


def test_a_moot_question_has_no_force_and_returns_when_its_fold_is_reverted(
    store: Store,
) -> None:
    with store.write() as tx:
        a, b, c = mint(tx, "a1", "b1", "c1")
        (question,) = ask(tx, (a, b)).conflict_ids
        fold(tx, a, c)
        second = fold(tx, c, b)
        assert pending(tx) == []
        (shown,) = conflicts.decided(tx)
        assert (shown.id, shown.answer, shown.answered_by) == (question, "keep_both", "resolver")
        with refused("moot") as error:
            conflicts.decide(tx, question, Answer.KEEP_BOTH)
        assert "one entity already" in str(error.value)
        reverted = folds.revert(tx, second)
        assert pending(tx) == []  # c and b were settled apart, and a is under c
        with refused("moot") as error:
            conflicts.decide(tx, question, Answer.KEEP_BOTH)
        assert f"decision {reverted.decision_id}" in str(error.value)
        conflicts.undo_decision(tx, reverted.decision_id or 0)
        assert pending(tx) == [question]


def test_taking_back_an_answer_undoes_what_it_did_and_asks_again(store: Store) -> None:
    with store.write() as tx:
        a, b = mint(tx, "a1", "b1")
        (question,) = ask(tx, (a, b)).conflict_ids
        for answer in (Answer.KEEP_BOTH, Answer.KEEP_NEW, Answer.KEEP_EXISTING):
            conflicts.decide(tx, question, answer)
            tx.entities.mark_all_examined(b)
            reopened = conflicts.reopen(tx, question)
            assert (reopened.answer, reopened.merge_id, reopened.decided_at) == (None, None, None)
            assert pending(tx) == [question]
            assert tx.decisions.apart_roots() == []
            assert tx.entities.unexamined() == [a, b]
            assert check(tx).clean


def test_undoing_the_decision_of_an_answer_asks_again(store: Store) -> None:
    with store.write() as tx:
        a, b = mint(tx, "a1", "b1")
        (question,) = ask(tx, (a, b)).conflict_ids
        decision = conflicts.decide(tx, question, Answer.KEEP_BOTH).conflict.decision_id or 0
        conflicts.undo_decision(tx, decision)
        assert pending(tx) == [question]
        with refused("already_undone"):
            conflicts.undo_decision(tx, decision)
        with pytest.raises(NotFound):
            conflicts.undo_decision(tx, decision + 1)


def test_the_queue_holds_fifty_whoever_asks(store: Store) -> None:
    with store.write() as tx:
        rows = mint(tx, *(f"name {at}" for at in range(62)))
        first = ask(tx, *zip(rows[:30], rows[31:61], strict=True))
        proposals = [
            Proposal(one, rows[-1], Verdict.ASK, "judge", 0.5) for one in (*rows[:30], rows[0])
        ]
        second = conflicts.ask(tx, proposals, asked_by="judge")
        assert (len(first.conflict_ids), first.deferred, first.skipped) == (30, 0, 0)
        assert (len(second.conflict_ids), second.deferred, second.skipped) == (20, 10, 1)
        assert tx.conflicts.count_pending() == conflicts.QUEUE_CAP


def test_questions_are_ranked_by_the_weaker_side_then_by_score(store: Store) -> None:
    with store.write() as tx:
        hub, middle, small, lone = mint(tx, "hub", "middle", "small", "lone")
        for row, times in ((hub, 9), (middle, 5), (small, 2), (lone, 1)):
            mention(tx, row, times)
        ask(tx, (lone, hub), (small, hub), score=0.9)
        ask(tx, (middle, hub), (small, middle), score=0.4)
        names = [(q.queued_name, q.candidate_name) for q in conflicts.pending(tx)]
        assert names == [
            ("middle", "hub"),
            ("small", "hub"),
            ("small", "middle"),
            ("lone", "hub"),
        ]


def test_two_questions_that_folds_made_one_are_shown_once(store: Store) -> None:
    with store.write() as tx:
        a, b, c = mint(tx, "a1", "b1", "c1")
        first, second = ask(tx, (a, b), (c, b)).conflict_ids
        merge = fold(tx, c, a)
        assert (pending(tx), tx.conflicts.count_pending()) == ([first], 1)
        conflicts.decide(tx, first, Answer.KEEP_EXISTING)
        assert pending(tx) == []
        conflicts.reopen(tx, first)
        folds.revert(tx, merge)
        assert sorted(pending(tx)) == [first, second]


def test_a_question_needs_two_entities(store: Store) -> None:
    with store.write() as tx:
        a, b = mint(tx, "a1", "b1")
        fold(tx, a, b)
        assert ask(tx, (a, b)).skipped == 1
        with pytest.raises(NotFound):
            ask(tx, (a, 99))


# ---- memories that contradict ----


def contradict(tx: Any, *, sealed: str | None = None, score: float = 0.8) -> tuple[int, int, int]:
    """(question, later memory, earlier memory)"""
    said = [NewMemory(f"text {at}", sealed_for=sealed) for at in range(2)]
    earlier, later = tx.memories.add_many(said)
    question = tx.questions.ask_memory(
        later, earlier, asked_by="model", score=score, reason="Both can't be."
    )
    return question, later, earlier


def weighed(tx: Any, question: int, answer: Answer, content: str | None = None) -> MemoryQuestion:
    done = conflicts.decide_any(tx, question, answer, content=content, actor="ann")
    assert isinstance(done, MemoryQuestion)
    return done


@pytest.mark.parametrize(
    ("answer", "later_holds", "earlier_holds"),
    [
        (Answer.KEEP_NEW, "active", "stale"),
        (Answer.KEEP_EXISTING, "stale", "active"),
        (Answer.KEEP_BOTH, "active", "active"),
        (Answer.MERGE, "stale", "stale"),
    ],
)
def test_an_answer_about_two_memories_says_which_holds_and_can_be_taken_back(
    store: Store, answer: Answer, later_holds: str, earlier_holds: str
) -> None:
    with store.write() as tx:
        question, later, _ = contradict(tx)
        before = conflicts.memories(tx)
        content = "Both in one." if answer is Answer.MERGE else None
        done = weighed(tx, question, answer, content)
        assert (done.answer, done.answered_by) == (answer, "ann")
        assert (done.queued.status, done.candidate.status) == (later_holds, earlier_holds)
        assert conflicts.memories(tx) == []
        assert [one.id for one in conflicts.memories(tx, decided=True)] == [question]
        with refused("already_answered"):
            weighed(tx, question, answer, content)
        back = conflicts.reopen_any(tx, question)
        assert [back] == before == conflicts.memories(tx)
        assert tx.memories.last() == later
        assert check(tx).clean


def test_an_answer_about_two_memories_that_makes_no_sense_is_refused(store: Store) -> None:
    with store.write() as tx:
        question, later, earlier = contradict(tx)
        with refused("merge_needs_text"):
            weighed(tx, question, Answer.MERGE)
        with refused("bad_answer"):
            weighed(tx, question, Answer.KEEP_NEW, "a text")
        with refused("not_its_candidate"):
            conflicts.decide_any(tx, question, Answer.KEEP_NEW, candidate_id=later + 1)
        with refused("not_an_entity_question"):
            conflicts.reopen(tx, question)
        with refused("not_answered"):
            conflicts.reopen_any(tx, question)
        conflicts.decide_any(tx, question, Answer.KEEP_NEW, candidate_id=later)
        assert tx.memories.get(earlier).status == "stale"  # type: ignore[union-attr]


def test_a_question_about_a_memory_that_holds_no_more_is_moot(store: Store) -> None:
    with store.write() as tx:
        question, _, earlier = contradict(tx)
        tx.memories.set_status(earlier, "stale")
        assert (conflicts.memories(tx), tx.questions.count_memories()) == ([], 0)
        (moot,) = conflicts.memories(tx, decided=True)
        assert (moot.id, moot.answer, moot.answered_by) == (question, "keep_both", "resolver")
        with refused("moot"):
            weighed(tx, question, Answer.KEEP_BOTH)
        tx.memories.set_status(earlier, "active")
        assert [one.id for one in conflicts.memories(tx)] == [question]
        tx.memories.delete(earlier)
        assert tx.questions.kind(question) is None
        assert check(tx).clean


def test_two_memories_are_asked_about_once_and_the_surest_first(store: Store) -> None:
    with store.write() as tx:
        first, later, earlier = contradict(tx)
        surer, *_ = contradict(tx, score=0.9)
        again = tx.questions.ask_memory(earlier, later, asked_by="m", score=1.0, reason="")
        assert again is None
        assert [one.id for one in conflicts.memories(tx)] == [surer, first]
        assert tx.questions.count_memories() == 2
        assert tx.conflicts.count_pending() == 0


def test_sealed_memories_are_asked_about_to_their_agent_alone(store: Store) -> None:
    with store.write() as tx:
        question, *_ = contradict(tx, sealed="bob")
        assert (conflicts.memories(tx), tx.questions.count_memories()) == ([], 0)
        assert conflicts.memories(tx, agent="ann") == []
        assert [one.id for one in conflicts.memories(tx, agent="bob")] == [question]


def test_a_memory_question_that_comes_back_takes_the_place_of_the_one_asked_meanwhile(
    store: Store,
) -> None:
    with store.write() as tx:
        first, later, earlier = contradict(tx)
        weighed(tx, first, Answer.KEEP_BOTH)
        second = tx.questions.ask_memory(later, earlier, asked_by="m", score=1.0, reason="")
        assert second is not None
        conflicts.reopen_any(tx, first)
        assert [one.id for one in conflicts.memories(tx)] == [first]


# ---- suggestions ----


def test_the_weightiest_pairs_are_found_though_spellings_count_twice(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suggestions, "_FEW", 0)
    with store.write() as tx:
        loud = mint(tx, *(f"loud {at}" for at in range(12)))
        one, two = mint(tx, "quiet one", "quiet two")
        memory = tx.memories.add("one memory that writes each name in nine ways")
        for row in loud:
            for at in range(9):
                tx.edges.mention(memory, row, f"way {at}")
        for row in (one, two):
            mention(tx, row, 3)
        pairs = [*zip(loud[::2], loud[1::2], strict=True), (one, two)]
        tx.suggestions.replace_all(Asked.of((x, y, "r", 0.5) for x, y in pairs).columns())
        assert [(p.left_id, p.right_id) for p in tx.suggestions.best_open(1)] == [(two, one)]


def test_what_is_left_to_ask_follows_folds_questions_and_decisions(store: Store) -> None:
    with store.write() as tx:
        a, b, c, d = mint(tx, "a1", "b1", "c1", "d1")
        mention(tx, b, 3)
        pairs = [(a, b), (b, c), (c, d)]
        tx.suggestions.replace_all(Asked.of((x, y, "r", 0.5) for x, y in pairs).columns())
        assert tx.suggestions.count_open() == 3
        assert [(p.left_id, p.right_id) for p in tx.suggestions.best_open(5)] == [
            (a, b),
            (c, b),
            (d, c),
        ]
        ask(tx, (a, b))
        assert tx.suggestions.count_open() == 2
        merge = fold(tx, a, c)  # b and c are queued now, by way of a
        assert tx.suggestions.count_open() == 1
        folds.settle_apart(tx, a, d, decided_by=DecidedBy.HUMAN, actor=None, why="")
        assert tx.suggestions.count_open() == 0
        folds.revert(tx, merge)
        assert tx.suggestions.count_open() == 2
        tx.suggestions.replace_for([c], [])
        assert tx.suggestions.count_open() == 0


def test_a_question_that_comes_back_takes_the_place_of_the_one_asked_meanwhile() -> None:
    with enfold.open(":memory:") as graph:
        for _ in range(2):
            told(graph, "Something.", mentions=["Jon Smithe", "Xylo Root"])
        told(graph, "Something.", mentions=["Jon Smith"])
        graph.resolve()
        first = graph.conflicts()[0]
        elsewhere = graph.merge("Jon Smithe", "Xylo Root")
        done = graph.decide(first.id, "keep_existing")
        assert isinstance(done, conflicts.Decided)
        made = done.merge
        assert made is not None
        graph.revert(elsewhere.id)
        undone = graph.undo_apart(graph.apart()[0].id, actor="Ada")
        assert (undone.undone_by, undone.undone_at is not None) == ("Ada", True)
        graph.resolve()
        again = graph.conflicts()
        assert [c.id for c in again] != [first.id]
        assert graph.revert(made.id).conflict_id == first.id
        assert [c.id for c in graph.conflicts()] == [first.id]
        assert graph.check().clean
