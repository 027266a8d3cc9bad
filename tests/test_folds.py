from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enfold import conflicts, folds, lookup
from enfold.check import check
from enfold.errors import Conflict, Error, NotFound, Refused
from enfold.model import Answer, DecidedBy, Entity, Merge, Proposal, Verdict
from enfold.names import Name
from enfold.ports import NewFact, NewMemory, NewRow
from enfold.store import Store, open_store


@pytest.fixture
def store() -> Iterator[Store]:
    store = open_store(":memory:")
    yield store
    store.close()


def mint(tx: Any, *spellings: str) -> list[int]:
    return [lookup.mint(tx, Name.of(spelling))[0].id for spelling in spellings]


def entity(tx: Any, row: int) -> Entity:
    found: Entity = tx.entities.many([row])[row]
    return found


def remember(tx: Any, *rows: int) -> int:
    memory: int = tx.memories.add("text")
    for row in rows:
        tx.edges.mention(memory, row, entity(tx, row).spelling)
    return memory


def fold(tx: Any, absorbed: int, canonical: int, **kwargs: Any) -> Merge:
    given = {"decided_by": DecidedBy.HUMAN, "rule": "test", "score": 1.0, "reason": "", **kwargs}
    rows = tx.entities.many([absorbed, canonical])
    return folds.fold(tx, rows[absorbed], rows[canonical], **given)


def settle(tx: Any, left: int, right: int) -> int:
    return folds.settle_apart(
        tx, left, right, decided_by=DecidedBy.HUMAN, actor="ann", why="two firms"
    )


def refused(code: str) -> Any:
    return pytest.raises(Error, check=lambda error: getattr(error, "code", None) == code)


def test_a_fold_makes_the_absorbed_spelling_an_alias(store: Store) -> None:
    with store.write() as tx:
        ibm, big_blue = mint(tx, "IBM", "Big Blue")
        remember(tx, ibm)
        remember(tx, big_blue)
        merge = fold(tx, big_blue, ibm, actor="ann")
        row = entity(tx, big_blue)
        assert (row.name, row.mentions, row.canonical_id) == ("IBM", 2, ibm)
        assert (row.id, row.spelling, row.live) == (big_blue, "Big Blue", False)
        assert tx.entities.aliases([ibm]) == {ibm: ("Big Blue",)}
        assert (merge.moved, merge.silenced, merge.actor, merge.created_at) == (1, 0, "ann", tx.now)


def test_a_fold_follows_both_sides_to_their_roots(store: Store) -> None:
    with store.write() as tx:
        a, b, c, d = mint(tx, "a1", "b1", "c1", "d1")
        fold(tx, a, b)
        fold(tx, c, d)
        merge = fold(tx, a, c)
        assert (merge.absorbed_id, merge.canonical_id) == (b, d)
        assert (merge.asked_absorbed_id, merge.asked_canonical_id) == (a, c)
        with refused("already_one") as error:
            fold(tx, a, d)
        assert "d1" in str(error.value)


def test_the_receipt_lists_every_edge_that_moved_and_that_stopped_counting(
    store: Store,
) -> None:
    with store.write() as tx:
        a, b, c = mint(tx, "a1", "b1", "c1")
        both = remember(tx, a, b)  # mentions 1 and 2 become one
        remember(tx, a)
        tx.edges.fact(both, a, "uses", c)
        tx.edges.fact(both, b, "uses", c)
        tx.edges.fact(both, a, "near", b)
        merge = fold(tx, a, b)
        assert tx.merges.edges(merge.id) == [
            (1, "moved"),
            (2, "silenced"),
            (3, "moved"),
            (4, "moved"),
            (5, "silenced"),
            (6, "moved"),
            (6, "silenced"),
        ]
        assert tx.edges.count_mentions(b) == 2
        assert [f.id for f in tx.edges.facts_of(b)] == [4]


def test_no_edge_of_two_types_of_one_name_is_lost(store: Store) -> None:
    with store.write() as tx:
        one = lookup.mint(tx, Name.of("IBM"), type="organization")[0].id
        two = lookup.mint(tx, Name.of("IBM"), type="company", homonym=True)[0].id
        others = mint(tx, *(f"other {at}" for at in range(6)))
        for at, other in enumerate(others):
            memory = remember(tx, other)
            tx.edges.fact(memory, one if at < 3 else two, "works with", other)
        assert tx.edges.count_facts(one) == 3
        fold(tx, two, one)
        assert tx.edges.count_facts(one) == 6


def test_a_hub_folds_without_touching_an_edge(store: Store) -> None:
    with store.write() as tx:
        hub, other = mint(tx, "Hub", "The Hub")
        for _ in range(300):
            remember(tx, hub)
        before = list(tx.memories.all())
        merge = fold(tx, hub, other)
        assert merge.moved == 300
        after = list(tx.memories.all())
        assert [[m.asserted_id for m in edges] for _, edges, _ in after] == [
            [m.asserted_id for m in edges] for _, edges, _ in before
        ]


# ---- settled apart ----


def test_what_is_settled_apart_folds_by_no_rule_model_or_import(store: Store) -> None:
    with store.write() as tx:
        a, b = mint(tx, "a1", "b1")
        decision = settle(tx, a, b)
        for who in (DecidedBy.RULE, DecidedBy.MODEL, DecidedBy.IMPORT):
            with refused("settled_apart"):
                fold(tx, a, b, decided_by=who, overrule=True)
        with refused("settled_apart") as error:
            fold(tx, a, b)
        assert f"decision {decision} by ann: two firms" in str(error.value)
        assert "overrul" in str(error.value)


def test_a_person_overrules_and_the_merge_lists_what_was_overruled(store: Store) -> None:
    with store.write() as tx:
        a, b = mint(tx, "a1", "b1")
        decision = settle(tx, a, b)
        before = tx.decisions.get(decision)
        merge = fold(tx, a, b, overrule=True)
        assert merge.overruled == (decision,)
        assert tx.decisions.apart_roots() == []
        assert tx.decisions.get(decision) == before
        folds.revert(tx, merge.id)
        assert tx.decisions.apart_roots() == [(a, b)]


def test_clusters_are_apart_until_what_brought_them_there_is_reverted(store: Store) -> None:
    with store.write() as tx:
        a, b, c, f = mint(tx, "a1", "b1", "c1", "f1")
        settle(tx, a, b)
        first = fold(tx, c, a)
        fold(tx, f, b)
        with refused("settled_apart"):
            fold(tx, c, f)
        folds.revert(tx, first.id)
        assert fold(tx, c, f).canonical_id == b


def test_a_refused_fold_names_the_fold_to_revert(store: Store) -> None:
    with store.write() as tx:
        a, b, c, f = mint(tx, "a1", "b1", "c1", "f1")
        settle(tx, a, b)
        under_c = fold(tx, f, c)
        into_a = fold(tx, c, a)
        with refused("settled_apart") as error:
            fold(tx, f, b)
        assert error.value.details["merge_ids"] == [into_a.id]
        assert f"revert merge {into_a.id}" in str(error.value)
        assert under_c.id not in error.value.details["merge_ids"]
        folds.revert(tx, into_a.id)
        assert fold(tx, f, b).absorbed_id == c


# ---- revert ----


def seen(tx: Any) -> object:
    rows = tx.entities.many(list(range(1, 30)))
    roots = [row.id for row in rows.values() if row.live]
    return (
        rows,
        tx.entities.aliases(roots),
        [(root, tx.edges.mentions_of(root), tx.edges.facts_of(root)) for root in roots],
    )


def test_a_revert_gives_back_what_was_there_in_any_order(store: Store) -> None:
    with store.write() as tx:
        a, b, c, d = mint(tx, "a1", "b1", "c1", "d1")
        memory = remember(tx, a, b, c, d)
        tx.edges.fact(memory, a, "near", b)
        tx.edges.fact(memory, c, "near", d)
        before = seen(tx)
        chain = [fold(tx, a, b), fold(tx, b, c), fold(tx, c, d)]
        for at in (0, 2, 1):
            folds.revert(tx, chain[at].id)
        assert seen(tx) == before
        assert check(tx).clean


def test_what_was_written_since_goes_back_with_its_spelling(store: Store) -> None:
    with store.write() as tx:
        a, b = mint(tx, "a1", "b1")
        remember(tx, a)
        merge = fold(tx, a, b)
        remember(tx, a)
        remember(tx, a, b)
        preview = folds.preview_revert(tx, merge.id)
        reverted = folds.revert(tx, merge.id)
        for report in (preview, reverted):
            counts = (report.moved_back, report.reactivated, report.arrived_since)
            assert counts == (1, 1, 2)
        assert (preview.merge.reverted_at, reverted.merge.reverted_at) == (None, tx.now)
        assert (tx.edges.count_mentions(a), tx.edges.count_mentions(b)) == (3, 1)


def test_a_revert_names_later_folds_asked_for_through_its_spelling(store: Store) -> None:
    with store.write() as tx:
        a, b, c, d = mint(tx, "a1", "b1", "c1", "d1")
        merge = fold(tx, a, b)
        through = fold(tx, c, a)
        fold(tx, d, b)
        reverted = folds.revert(tx, merge.id)
        assert [m.id for m in reverted.later] == [through.id]
        assert entity(tx, c).canonical_id == b


def test_a_revert_settles_apart_and_says_how_to_fold_again(store: Store) -> None:
    with store.write() as tx:
        a, b = mint(tx, "a1", "b1")
        merge = fold(tx, a, b)
        tx.entities.mark_all_examined(b)
        reverted = folds.revert(tx, merge.id, actor="bob")
        (decision,) = tx.decisions.recent()
        assert decision.id == reverted.decision_id
        assert (decision.actor, decision.left_name, decision.right_name) == ("bob", "a1", "b1")
        assert tx.entities.unexamined() == [a, b]
        with refused("already_reverted") as error:
            folds.revert(tx, merge.id)
        assert "by hand" in str(error.value)
        assert fold(tx, a, b, overrule=True).overruled == (decision.id,)


def test_reverting_the_fold_of_an_answer_asks_again(store: Store) -> None:
    with store.write() as tx:
        a, b = mint(tx, "a1", "b1")
        (question,) = tx.conflicts.ask([Proposal(a, b, Verdict.ASK, "r", 0.5)], asked_by="rule")
        decided = conflicts.decide(tx, question, Answer.KEEP_EXISTING)
        assert decided.merge is not None
        reverted = folds.revert(tx, decided.merge.id)
        assert (reverted.decision_id, reverted.conflict_id) == (None, question)
        assert [q.id for q in tx.conflicts.pending()] == [question]
        assert tx.decisions.recent() == []


def test_there_is_no_revert_of_nothing(store: Store) -> None:
    with store.write() as tx, pytest.raises(NotFound):
        folds.revert(tx, 5)


# ---- many at once ----


@settings(deadline=None, max_examples=60)
@given(
    mentions=st.lists(st.tuples(st.integers(1, 4), st.integers(1, 9)), max_size=25),
    facts=st.lists(st.tuples(st.integers(1, 4), st.integers(1, 9), st.integers(1, 9)), max_size=20),
    pairs=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=12),
    apart=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=3),
)
def test_a_batch_gives_the_rows_that_folding_one_by_one_gives(
    mentions: list[tuple[int, int]],
    facts: list[tuple[int, int, int]],
    pairs: list[tuple[int, int]],
    apart: list[tuple[int, int]],
) -> None:
    outcomes = []
    for at_once in (True, False):
        store = open_store(":memory:")
        with store.write() as tx:
            mint(tx, *(f"name {at}" for at in range(1, 10)))
            for _ in range(4):
                tx.memories.add("text")
            for memory, row in mentions:
                tx.edges.mention(memory, row, "x")
            for memory, left, right in facts:
                tx.edges.fact(memory, left, "is", right)
            for left, right in apart:
                if left != right:
                    settle(tx, left, right)
            if at_once:
                proposals = [Proposal(a, c, Verdict.FOLD, "test", 1.0) for a, c in pairs]
                folds.fold_batch(tx, proposals, decided_by=DecidedBy.RULE)
            else:
                for absorbed, canonical in pairs:
                    try:
                        fold(tx, absorbed, canonical, decided_by=DecidedBy.RULE)
                    except Refused:
                        continue
            merges = [
                (m.canonical_id, m.absorbed_id, m.moved, m.silenced, tx.merges.edges(m.id))
                for m in tx.merges.recent()
            ]
            rows = [
                (e.id, e.folded_into, e.canonical_id) for e in tx.entities.many(range(10)).values()
            ]
            outcomes.append((merges, rows))
            assert check(tx).clean
        store.close()
    assert outcomes[0] == outcomes[1]


def test_a_large_batch_costs_in_proportion_to_its_edges(store: Store) -> None:
    with store.write() as tx:
        ids = tx.entities.add_many([NewRow(Name.of(f"name {at}")) for at in range(10_000)])
        rows = [row for row in ids if row is not None]
        memories = tx.memories.add_many([NewMemory("text") for _ in rows])
        tx.edges.add_mentions((m, row, "x") for m, row in zip(memories, rows, strict=True))
        tx.edges.add_facts(NewFact(memories[0], row, "is", rows[-1]) for row in rows)
        pairs = zip(rows[:5_000], rows[5_000:], strict=True)
        proposals = [Proposal(a, c, Verdict.FOLD, "r", 1.0) for a, c in pairs]
        start = time.perf_counter()
        assert len(folds.fold_batch(tx, proposals, decided_by=DecidedBy.RULE).folds) == 5_000
        # It takes half a second; looking every memory up for every row took minutes.
        assert time.perf_counter() - start < 15


def test_a_batch_checks_each_step_after_those_before_it(store: Store) -> None:
    with store.write() as tx:
        a, b, c = mint(tx, "a1", "b1", "c1")
        settle(tx, a, b)
        steps = [(c, a), (c, b), (a, c)]
        proposals = [Proposal(x, y, Verdict.FOLD, "r", 1.0) for x, y in steps]
        plan = folds.plan_batch(tx, proposals, decided_by=DecidedBy.RULE)
        assert [(m.absorbed_id, m.canonical_id) for m in plan.folds] == [(c, a)]
        assert [r.code for r in plan.refused] == ["settled_apart", "already_one"]
        assert tx.merges.recent() == []
        done = folds.fold_batch(tx, proposals, decided_by=DecidedBy.RULE)
        assert [m.absorbed_id for m in done.folds] == [c]
        assert done.refused == plan.refused


def test_a_plan_that_is_out_of_date_changes_nothing(store: Store) -> None:
    with store.write() as tx:
        a, b, c = mint(tx, "a1", "b1", "c1")
        proposals = [Proposal(a, b, Verdict.FOLD, "r", 1.0)]
        plan = folds.plan_batch(tx, proposals, decided_by=DecidedBy.RULE)
        fold(tx, a, c)
        with pytest.raises(Conflict):
            tx.merges.fold(plan.folds)
        assert len(tx.merges.recent()) == 1


# ---- names ----


def test_a_rename_keeps_the_old_name_as_an_alias(store: Store) -> None:
    with store.write() as tx:
        (row,) = mint(tx, "Twitter")
        renamed = folds.rename(tx, entity(tx, row), Name.of("X Corp"))
        assert (renamed.id, renamed.name, renamed.spelling) == (row, "X Corp", "Twitter")
        assert tx.entities.aliases([row]) == {row: ("Twitter",)}
        assert folds.rename(tx, renamed, Name.of("Twitter")).name == "Twitter"
        assert tx.entities.count() == 2
        found = lookup.follow(tx, "x corp")
        assert (found.entity.id, found.alias) == (row, True)


def test_a_rename_may_change_case_alone(store: Store) -> None:
    with store.write() as tx:
        (row,) = mint(tx, "github")
        assert folds.rename(tx, entity(tx, row), Name.of("GitHub")).name == "GitHub"
        found = lookup.follow(tx, "GITHUB")
        assert (found.entity.id, found.entity.name) == (row, "GitHub")
        assert lookup.mint(tx, Name.of("github"))[0].id == row


def test_a_name_of_another_entity_is_taken(store: Store) -> None:
    with store.write() as tx:
        a, b = mint(tx, "North Bank", "North Bank Holdings")
        for verb in (folds.rename, folds.alias):
            with refused("name_taken") as error:
                verb(tx, entity(tx, a), Name.of("north bank holdings"))
            assert error.value.details["entity_id"] == b


def test_the_name_shown_leaves_with_its_row_and_an_older_one_shows(store: Store) -> None:
    with store.write() as tx:
        (row,) = mint(tx, "One")
        for spelling in ("Two", "Three"):
            folds.rename(tx, entity(tx, row), Name.of(spelling))
        third = lookup.follow(tx, "Three").row_id
        (merge,) = (m for m in tx.merges.recent() if m.absorbed_id == third)
        folds.revert(tx, merge.id)
        assert entity(tx, row).name == "Two"


def test_an_alias_can_be_declared_where_no_letters_are_shared(store: Store) -> None:
    with store.write() as tx:
        (row,) = mint(tx, "Robert Chen")
        merge = folds.alias(tx, entity(tx, row), Name.of("Bob"), actor="ann")
        assert (merge.rule, merge.decided_by) == ("declared", DecidedBy.HUMAN)
        assert lookup.follow(tx, "bob").entity.id == row
        assert entity(tx, merge.absorbed_id).alias_only
        with refused("already_one"):
            folds.alias(tx, entity(tx, row), Name.of("BOB"))
        folds.revert(tx, merge.id)
        assert lookup.follow(tx, "bob").entity.id == merge.absorbed_id
        folds.delete(tx, entity(tx, merge.absorbed_id))
        with refused("settled_apart"):
            folds.alias(tx, entity(tx, row), Name.of("Bob"))


# ---- delete ----


def test_deleting_under_a_fold_is_refused_and_names_it(store: Store) -> None:
    with store.write() as tx:
        a, b = mint(tx, "a1", "b1")
        merge = fold(tx, a, b)
        for row in (a, b):
            with refused("under_fold") as error:
                folds.delete(tx, entity(tx, row))
            assert error.value.details["merge_ids"] == [merge.id]
            assert f"merge {merge.id}" in str(error.value)
        folds.revert(tx, merge.id)
        assert folds.delete(tx, entity(tx, a)).entity.id == a


def test_spellings_go_with_their_entity_and_memories_stay(store: Store) -> None:
    with store.write() as tx:
        a, b = mint(tx, "a1", "b1")
        folds.alias(tx, entity(tx, a), Name.of("Ay"))
        folds.rename(tx, entity(tx, a), Name.of("Eh"))
        memory = remember(tx, a, b)
        tx.edges.fact(memory, b, "is", a)
        deleted = folds.delete(tx, entity(tx, a))
        assert (deleted.aliases, deleted.mentions, deleted.facts) == (("Ay", "Eh"), 1, 1)
        assert [e.id for e in tx.entities.live()] == [b]
        assert tx.memories.get(memory) is not None
        assert tx.merges.recent(live_only=False) == []
        assert check(tx).clean


def test_a_decision_outlives_its_rows(store: Store) -> None:
    with store.write() as tx:
        a, b = mint(tx, "a1", "b1")
        settle(tx, a, b)
        folds.delete(tx, entity(tx, a))
        assert tx.decisions.apart_roots() == []
        (again,) = mint(tx, "a1")
        assert tx.decisions.apart_roots() == [(b, again)]


def test_deleting_a_memory_needs_no_repair(store: Store) -> None:
    with store.write() as tx:
        a, b = mint(tx, "a1", "b1")
        memory = remember(tx, a, b)
        merge = fold(tx, a, b)
        tx.memories.delete(memory)
        assert entity(tx, b).mentions == 0
        reverted = folds.revert(tx, merge.id)
        assert (reverted.moved_back, reverted.reactivated) == (0, 0)
        assert check(tx).clean
