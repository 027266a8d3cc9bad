from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from enfold import conflicts, folds, lookup
from enfold.asked import Asked
from enfold.check import SENTENCES, check
from enfold.model import Answer, DecidedBy, Proposal, Verdict
from enfold.names import Name
from enfold.ports import NewUnlinked
from enfold.store import Store, open_store
from tests.inside import idle_of, sql_of


@pytest.fixture
def store() -> Iterator[Store]:
    """Six names: 1 under 2 under 3, 4 under 5 by an answer; 6 alone, kept apart from 5."""
    store = open_store(":memory:")
    with store.write() as tx:
        rows = [lookup.mint(tx, Name.of(f"name {at}"))[0] for at in range(1, 7)]
        memory = tx.memories.add("text")
        for row in rows:
            tx.edges.mention(memory, row.id, row.spelling)
        tx.edges.fact(memory, 1, "is", 4)
        tx.unlinked.add([NewUnlinked(memory, "unheard", "Unheard", None)])
        for absorbed, canonical in ((0, 1), (1, 2)):
            folds.fold(
                tx,
                rows[absorbed],
                rows[canonical],
                decided_by=DecidedBy.RULE,
                rule="test",
                score=1.0,
                reason="",
            )
        pairs = [Proposal(4, 5, Verdict.ASK, "r", 0.5), Proposal(6, 5, Verdict.ASK, "r", 0.5)]
        first, second = conflicts.ask(tx, pairs, asked_by="rule").conflict_ids
        conflicts.decide(tx, first, Answer.KEEP_EXISTING)
        conflicts.decide(tx, second, Answer.KEEP_BOTH)
        tx.suggestions.replace_all(
            Asked.of((p.left_id, p.right_id, p.rule, p.score) for p in pairs).columns()
        )
    yield store
    store.close()


def test_a_sound_graph_is_clean_and_says_what_was_looked_at(store: Store) -> None:
    told: list[str] = []

    def progress(what: str, done: int, total: int) -> None:
        assert done < total
        told.append(what)

    with store.read() as tx:
        report = check(tx, name_of=Name.of, progress=progress)
    assert report.clean, report.violations
    assert set(report.checked) == {*SENTENCES, "keys", "words", "references", "file"}
    assert len(told) == len(report.checked)


DAMAGE = {
    "forest": "UPDATE entity SET folded_into = 1 WHERE id = 3",
    "root": "UPDATE entity SET canonical_id = 5 WHERE id = 1",
    "fold_has_merge": "UPDATE entity SET folded_into = 5, canonical_id = 5 WHERE id = 6",
    "merge_has_fold": "UPDATE entity SET folded_into = NULL, canonical_id = 4 WHERE id = 4",
    "one_live_merge": (
        "INSERT INTO merge SELECT 99, canonical_id, canonical_name, absorbed_id, absorbed_name,"
        " absorbed_type, decided_by, rule, score, reason, actor, model, NULL, run_id,"
        " asked_absorbed, asked_canonical, overruled, edge_mark, moved, silenced, created_at,"
        " reverted_at FROM merge WHERE id = 1"
    ),
    "merge_order": "UPDATE merge SET id = 90 WHERE id = 1",
    "name": "UPDATE entity SET spelling = ' ' WHERE id = 6",
    "edge_ids": "UPDATE mention SET id = 1000 WHERE id = 1",
    "receipt": "DELETE FROM merge_edge WHERE merge_id = 1",
    "answer": "UPDATE decision SET undone_at = 'now' WHERE id = 1",
    "merge_of_answer": "UPDATE conflict SET merge_id = 1 WHERE id = 1",
    "unlinked": "UPDATE unlinked SET key = 'name 6'",
    "unlinked_fact": (
        "INSERT INTO unlinked_fact (memory_id, subject_key, subject, predicate, object_key, object,"
        " confidence) VALUES (1, 'name 5', 'name 5', 'is', 'name 6', 'name 6', 1)"
    ),
    "asked_name": "UPDATE entity SET key = 'unheard' WHERE id = 6",
    "suggestion": "INSERT INTO suggestion VALUES (5, 1, 'r', 0.5)",
    "keys": "UPDATE entity SET fold_key = 'other' WHERE id = 6",
    "words": "DELETE FROM word_of WHERE entity_id = 2",
    "references": "DELETE FROM memory WHERE id = 1",
    "file": "INSERT INTO suggestion VALUES (6, 1, 'r', 0.5)",
}


@pytest.mark.parametrize("invariant", DAMAGE)
@pytest.mark.sqlite
def test_damage_is_named(store: Store, invariant: str) -> None:
    connection = idle_of(store)[0]
    for pragma in ("foreign_keys = 0", "ignore_check_constraints = 1"):
        connection.execute(f"PRAGMA {pragma}")
    with store.write() as tx:
        sql: Any = sql_of(tx)
        sql.run("DROP INDEX merge_live")
        sql.run(DAMAGE[invariant])
    connection.execute("PRAGMA ignore_check_constraints = 0")
    with store.read() as tx:
        report = check(tx, name_of=Name.of)
    found = {violation.invariant: violation for violation in report.violations}
    assert invariant in found
    assert found[invariant].message


def test_every_invariant_is_put_into_words(store: Store) -> None:
    with store.read() as tx:
        assert set(tx.invariants.names()) == set(SENTENCES)
    assert set(DAMAGE) == {*SENTENCES, "keys", "words", "references", "file"}


@pytest.mark.parametrize(
    ("damage", "ids"),
    [
        ("DELETE FROM word_of WHERE entity_id = 3", (3,)),
        ("INSERT INTO word_of SELECT id, 9, 2 FROM word", (2,)),
        ("UPDATE word_of SET letters = 2 WHERE entity_id = 4", (4,)),
        ("UPDATE word_of SET word_id = 99 WHERE entity_id = 5 AND word_id = 7", (5,)),
        ("INSERT INTO word_of SELECT id, 5, 1 << 40 FROM word WHERE id = 1", (1 << 40,)),
        ("UPDATE word SET word = 'nome' WHERE word = 'name'", (1, 2, 3, 4, 5, 6)),
        ("INSERT INTO word VALUES (99, 'unheard')", ()),
        ("INSERT INTO word_part (word_part) VALUES ('delete-all')", ()),
    ],
)
@pytest.mark.sqlite
def test_rows_that_their_words_do_not_find_are_named(
    store: Store, damage: str, ids: tuple[int, ...]
) -> None:
    with store.write() as tx:
        sql: Any = sql_of(tx)
        sql.run(damage)
    with store.read() as tx:
        found = check(tx).violations
    assert {violation.invariant for violation in found} == {"words"}
    assert ids in [violation.ids for violation in found]
    with store.write() as tx:
        tx.words.rewrite()
    with store.read() as tx:
        assert check(tx).clean
