"""What is left to ask, kept up with what changes, against what it is by definition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import pytest

import enfold
from enfold import folds
from enfold.asked import Asked
from enfold.model import Answer, DecidedBy, Proposal
from enfold.store import Store, open_store
from enfold.store import suggestions as suggestions_module
from tests.inside import idle_of, sql_of
from tests.test_conflicts import ask, fold, mention, mint
from tests.test_oracle import LONG, Dice, Graphs
from tests.test_store import whole_scans
from tests.told import told

Row = tuple[int, int, int, float, int, int, str]


@pytest.fixture
def store() -> Iterator[Store]:
    store = open_store(":memory:")
    yield store
    store.close()


def by_definition(tx: Any) -> list[Row]:
    """(low, high, weight, score, left, right, rule) in the order to ask, from all suggestions."""
    sql = sql_of(tx)
    root_of = dict(sql.all("SELECT id, canonical_id FROM entity"))
    shut = {frozenset(pair) for pair in tx.decisions.apart_roots()}
    for queued, candidate in sql.all(
        "SELECT queued_id, candidate_id FROM conflict WHERE answer IS NULL AND kind = 'entity'"
    ):
        shut.add(frozenset((root_of[queued], root_of[candidate])))
    best: dict[frozenset[int], tuple[float, int, int, str]] = {}
    for left, right, rule, score in sql.all(
        "SELECT left_id, right_id, rule, score FROM suggestion"
    ):
        pair = frozenset((root_of[left], root_of[right]))
        if len(pair) == 2 and pair not in shut:
            found = (-score, left, right, rule)
            best[pair] = min(found, best.get(pair, found))
    rows = [
        (*sorted(pair), min(tx.edges.count_mentions(r) for r in pair), -minus_score, *rest)
        for pair, (minus_score, *rest) in best.items()
    ]
    return sorted(rows, key=lambda r: (-r[2], -r[3], *r[:2], *r[4:]))


def rows_of(pair: Proposal) -> tuple[int, int]:
    return min(pair.left_id, pair.right_id), max(pair.left_id, pair.right_id)


def found(tx: Any) -> tuple[list[tuple[int, int, float, str]], int]:
    """(the pairs asked about, each in the order of its ids; how many there are)."""
    best = tx.suggestions.best_open(1_000)
    pairs = [(*rows_of(p), p.score, p.rule) for p in best]
    return pairs, tx.suggestions.count_open()


def agrees(tx: Any) -> None:
    rows = by_definition(tx)
    pairs = [(left, right, score, rule) for _, _, _, score, left, right, rule in rows]
    assert found(tx) == (pairs, len(pairs))
    assert [rows_of(p) for p in tx.suggestions.best_open(3)] == [pair[:2] for pair in pairs[:3]]


def kept(tx: Any) -> list[Row]:
    """The table itself."""
    rows: list[Row] = sql_of(tx).all(
        """SELECT low, high, weight, score, left_id, right_id, rule FROM open_pair
        ORDER BY weight DESC, score DESC, low, high"""
    )
    return rows


@pytest.mark.parametrize("seed", range(600 if LONG else 40))
def test_what_is_kept_is_what_is_open_after_any_interleaving(seed: int) -> None:
    graphs, dice = Graphs(), Dice(seed)
    try:
        dice.fill(graphs)
        graphs.suggest(dice.scored(30), None)
        for _ in range(80):
            dice.throw(graphs)
            # A snapshot can't keep what it works out, a writer does; both must be right, after one
            # change or several.
            with graphs.store.read() as tx:
                agrees(tx)
            if dice.one(True, False, False):
                with graphs.store.write() as tx:
                    agrees(tx)
                    assert kept(tx) == by_definition(tx)
                    assert not sql_of(tx).all("SELECT 1 FROM unsettled")
    finally:
        graphs.teardown()


def web(tx: Any) -> list[int]:
    """Six names with some mentions, each suggested to each other; settled."""
    rows = mint(tx, *(f"name {at}" for at in range(6)))
    for at, row in enumerate(rows):
        mention(tx, row, at + 1)
    suggested = [(x, y, "r", 0.5) for x, y in combinations(rows, 2)]
    tx.suggestions.replace_all(Asked.of(suggested).columns())
    agrees(tx)
    return rows


def memories_of(tx: Any, row: int) -> list[int]:
    found: list[int] = sql_of(tx).ids("SELECT memory_id FROM mention WHERE asserted_id = :r", r=row)
    return found


def set_status(tx: Any, row: int, status: str) -> None:
    for memory in memories_of(tx, row):
        tx.memories.set_status(memory, status)


def forget(tx: Any, row: int) -> None:
    for memory in memories_of(tx, row):
        tx.memories.delete(memory)


def settle_apart(tx: Any, left: int, right: int) -> int:
    return folds.settle_apart(tx, left, right, decided_by=DecidedBy.HUMAN, actor=None, why="")


def ask_about(tx: Any, left: int, right: int) -> int:
    return int(ask(tx, (left, right)).conflict_ids[0])


Change = Callable[[Any, list[int]], object]

# Each change, with what has to come before it. Everything that marks is here.
CHANGES: dict[str, tuple[Change, Change]] = {
    "fold": (lambda tx, r: None, lambda tx, r: fold(tx, r[5], r[0])),
    "revert": (lambda tx, r: fold(tx, r[5], r[0]), lambda tx, r: folds.revert(tx, 1)),
    "mention": (lambda tx, r: None, lambda tx, r: mention(tx, r[0], 9)),
    "lost mention": (lambda tx, r: None, lambda tx, r: forget(tx, r[5])),
    "stale": (lambda tx, r: None, lambda tx, r: set_status(tx, r[5], "stale")),
    "active": (
        lambda tx, r: set_status(tx, r[5], "stale"),
        lambda tx, r: set_status(tx, r[5], "active"),
    ),
    "decision": (lambda tx, r: None, lambda tx, r: settle_apart(tx, r[0], r[5])),
    "undone decision": (
        lambda tx, r: settle_apart(tx, r[0], r[5]),
        lambda tx, r: tx.decisions.undo(1),
    ),
    "question": (lambda tx, r: None, lambda tx, r: ask_about(tx, r[0], r[5])),
    "answer": (
        lambda tx, r: ask_about(tx, r[0], r[5]),
        lambda tx, r: tx.conflicts.answer(1, Answer.KEEP_BOTH, answered_by=None),
    ),
    "reopened question": (
        lambda tx, r: (
            ask_about(tx, r[0], r[5]),
            tx.conflicts.answer(1, Answer.KEEP_BOTH, answered_by=None),
        ),
        lambda tx, r: tx.conflicts.reopen(1),
    ),
    # Without mentions, whose loss would mark the row as well.
    "deletion": (
        lambda tx, r: forget(tx, r[5]),
        lambda tx, r: folds.delete(tx, tx.entities.get(r[5])),
    ),
    "replaced": (
        lambda tx, r: None,
        lambda tx, r: tx.suggestions.replace_for([r[5]], [(r[5], r[0], "other", 0.9)]),
    ),
}


@pytest.mark.parametrize("few", [0, 5_000])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen_by_a_snapshot_and_kept_by_a_writer(
    store: Store, monkeypatch: pytest.MonkeyPatch, change: str, few: int
) -> None:
    monkeypatch.setattr(suggestions_module, "_FEW", few)
    before, then = CHANGES[change]
    with store.write() as tx:
        rows = web(tx)
        before(tx, rows)
        agrees(tx)
        was = by_definition(tx)
    with store.write() as tx:
        then(tx, rows)
    with store.read() as tx:
        assert by_definition(tx) != was
        agrees(tx)
        assert kept(tx) == was
    with store.write() as tx:
        agrees(tx)
        assert kept(tx) == by_definition(tx)


@pytest.mark.parametrize("change", sorted(CHANGES.keys() - {"mention", "replaced"}))
@pytest.mark.sqlite
def test_without_its_trigger_a_change_goes_unseen(store: Store, change: str) -> None:
    """What the test before can tell."""
    before, then = CHANGES[change]
    with store.write() as tx:
        rows = web(tx)
        before(tx, rows)
        agrees(tx)
        for (name,) in sql_of(tx).all("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            sql_of(tx).run(f"DROP TRIGGER {name}")
        then(tx, rows)
        with pytest.raises((AssertionError, KeyError)):
            agrees(tx)


def test_marks_are_made_only_where_something_was_suggested(store: Store) -> None:
    with store.write() as tx:
        one, two = mint(tx, "name 1", "name 2")
        mention(tx, one, 2)
        fold(tx, one, two)
        assert not sql_of(tx).all("SELECT 1 FROM unsettled")


def test_a_fold_after_the_last_suggestion_went_leaves_nothing_open(store: Store) -> None:
    with store.write() as tx:
        row, root, other, third = mint(tx, "a1", "b1", "c1", "d1")
        fold(tx, row, root)
        tx.suggestions.replace_all(Asked.of([(row, other, "r", 0.5)]).columns())
        assert tx.suggestions.count_open() == 1
        tx.suggestions.replace_for([row], [])
        fold(tx, root, third)
        assert tx.suggestions.count_open() == 0
        assert kept(tx) == []


def test_a_name_mentioned_reads_what_touches_it_alone(store: Store) -> None:
    with store.write() as tx:
        rows = mint(tx, *(f"name {at}" for at in range(400)))
        pairs = zip(rows[::2], rows[1::2], strict=True)
        tx.suggestions.replace_all(Asked.of((x, y, "r", 0.5) for x, y in pairs).columns())
        mention(tx, rows[0], 1)
        roots = [rows[0]]
        assert sql_of(tx).ids(suggestions_module._MARKED) == roots
        suggestions: Any = tx.suggestions
        assert [at[2:4] for at in suggestions._around(roots)] == [(rows[0], rows[1])]


@pytest.mark.sqlite
def test_a_pass_over_a_few_new_names_reads_no_table_whole() -> None:
    with enfold.open(":memory:") as graph:
        told(graph, "x", mentions=[f"Alpha beta {at}" for at in range(60)] + ["Gamma delta"])
        assert graph.resolve().full
        told(graph, "y", mentions=["Gamma deltas", "gamma-delta", "Alpha beta 7"])
        store: Any = graph._store
        [connection] = idle_of(store)
        statements: list[str] = []
        connection.set_trace_callback(statements.append)
        report = graph.resolve()
        connection.set_trace_callback(None)
        assert (report.full, report.merged) == (False, 1)
        assert report.queued
        # Whether there is any suggestion at all is answered by the first.
        others = [text for text in statements if text != suggestions_module._MARKED]
        assert len(others) < len(statements)
        assert not {scan for text in others for scan in whole_scans(connection, text)}
