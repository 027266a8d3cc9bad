"""Random interleavings of every verb against the oracle.

``LONG_TESTS=1`` runs many more and longer ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from enfold import conflicts, folds, lookup
from enfold.asked import Asked
from enfold.check import check
from enfold.errors import Error, Refused
from enfold.model import Ambiguous, Answer, DecidedBy, Found, Proposal, Unknown, Verdict
from enfold.names import Name
from enfold.ports import NewMemory
from enfold.store import open_store
from enfold.store import suggestions as suggestions_module
from tests.oracle import Apart, Edge, Oracle, Question, Refusal

NAMES = [
    "Alpha", "alpha", "ALPHA!", "Al-pha", "Beta", "beta", "Be ta", "Gamma", "Gamma 2", "gamma2",
    "C", "C++", "Delta", "delta corp", "Épsilon", "epsilon", "東京", "東 京", "Go", "go!",
]  # fmt: skip
SCORES = [0.5, 0.6, 0.9]
LONG = bool(os.environ.get("LONG_TESTS"))

pick = st.integers(0, 10_000)
name = st.sampled_from(NAMES).map(Name.of)


def refused_with(expected: Callable[[], object]) -> str | None:
    try:
        expected()
    except Refusal as refusal:
        return str(refusal)
    return None


class Graphs(RuleBasedStateMachine):
    """The store and the oracle, told the same things."""

    def __init__(self) -> None:
        super().__init__()
        self.store = open_store(":memory:", clock=lambda: datetime(2026, 1, 1, tzinfo=UTC))
        self.oracle = Oracle(cap=4)
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(conflicts, "QUEUE_CAP", 4)

    @initialize(few=st.sampled_from([0, 5_000]))
    def how_mentions_are_counted(self, few: int) -> None:
        self.patch.setattr(suggestions_module, "_FEW", few)

    def teardown(self) -> None:
        self.patch.undo()
        self.store.close()

    # ---- telling both ----

    def row(self, at: int) -> int:
        return sorted(self.oracle.rows)[at % len(self.oracle.rows)]

    def memory(self, at: int) -> int:
        return sorted(self.oracle.memories)[at % len(self.oracle.memories)]

    def done(self, expected: Callable[[], object], verb: Callable[[Any], Any]) -> Any:
        """The verb's result; None where both refuse it with the same code."""
        result, code = None, None
        try:
            with self.store.write() as tx:
                result = verb(tx)
        except Error as error:
            code = error.code
        assert code == refused_with(expected)
        return True if code is None and result is None else result

    def entity(self, tx: Any, row: int) -> Any:
        return tx.entities.get(row)

    has_rows = precondition(lambda self: len(self.oracle.rows) > 1)
    has_edges = precondition(lambda self: self.oracle.memories and self.oracle.rows)
    has_folds = precondition(lambda self: self.oracle.folds)
    has_questions = precondition(lambda self: self.oracle.questions)

    # ---- writing ----

    @rule(name=name, type=st.sampled_from([None, "person", "thing"]))
    def mint(self, name: Name, type: str | None) -> None:
        with self.store.write() as tx:
            rows = [r for r in self.oracle.rows.values() if r.name.key == name.key]
            if len({self.oracle.root(r.id) for r in rows}) > 1:
                return
            entity, made = lookup.mint(tx, name, type=type)
            assert made == (not rows)
            if made:
                self.oracle.add_row(entity.id, name, 0, type)
            else:
                assert entity.sense == min(r.sense for r in rows)

    @rule(name=name)
    def mint_a_homonym(self, name: Name) -> None:
        with self.store.write() as tx:
            entity, made = lookup.mint(tx, name, homonym=True)
            assert made
            self.oracle.add_row(entity.id, name, entity.sense, None)

    @has_rows
    @rule(rows=st.lists(pick, max_size=4), sealed_for=st.sampled_from([None, None, "a"]))
    def remember(self, rows: list[int], sealed_for: str | None) -> None:
        with self.store.write() as tx:
            (memory,) = tx.memories.add_many([NewMemory("text", sealed_for=sealed_for)])
            self.oracle.memories[memory] = "active"
            if sealed_for is not None:
                self.oracle.sealed.add(memory)
        for row in rows:
            self.mention(memory, row)

    @has_edges
    @rule(memory=pick, row=pick)
    def mention(self, memory: int, row: int) -> None:
        memory, row = self.memory(memory), self.row(row)
        spelling = self.oracle.rows[row].name.spelling
        with self.store.write() as tx:
            edge = tx.edges.mention(memory, row, spelling)
        if edge is not None:
            self.oracle.add_edge(Edge(edge, memory, row, spelling))

    @has_edges
    @rule(
        memory=pick,
        subject=pick,
        predicate=st.sampled_from(["uses", "is"]),
        other=st.one_of(pick, st.sampled_from(["red", "blue"])),
        confidence=st.sampled_from([0.5, 1.0]),
    )
    def state(
        self, memory: int, subject: int, predicate: str, other: int | str, confidence: float
    ) -> None:
        memory, subject = self.memory(memory), self.row(subject)
        second = self.row(other) if isinstance(other, int) else None
        literal = other if isinstance(other, str) else None
        with self.store.write() as tx:
            edge = tx.edges.fact(memory, subject, predicate, second, literal, confidence)
        if edge is not None:
            self.oracle.add_edge(
                Edge(edge, memory, subject, "", predicate, second, literal, confidence)
            )

    @has_edges
    @rule(memory=pick, status=st.sampled_from(["active", "stale"]))
    def set_status(self, memory: int, status: str) -> None:
        memory = self.memory(memory)
        self.oracle.memories[memory] = status
        with self.store.write() as tx:
            tx.memories.set_status(memory, status)

    @has_edges
    @rule(memory=pick)
    def delete_memory(self, memory: int) -> None:
        memory = self.memory(memory)
        self.oracle.delete_memory(memory)
        with self.store.write() as tx:
            tx.memories.delete(memory)

    # ---- folding ----

    @has_rows
    @rule(absorbed=pick, canonical=pick, human=st.booleans(), overrule=st.booleans())
    def fold(self, absorbed: int, canonical: int, human: bool, overrule: bool) -> None:
        absorbed, canonical = self.row(absorbed), self.row(canonical)
        merge = self.done(
            lambda: self.oracle.may_fold(absorbed, canonical, overrule=overrule and human),
            lambda tx: folds.fold(
                tx,
                self.entity(tx, absorbed),
                self.entity(tx, canonical),
                decided_by=DecidedBy.HUMAN if human else DecidedBy.RULE,
                rule="test",
                score=1.0,
                reason="",
                overrule=overrule,
            ),
        )
        if merge is not None:
            self.take(merge, absorbed, canonical)

    def take(
        self, merge: Any, absorbed: int, canonical: int, *, conflict: int | None = None
    ) -> None:
        receipt = self.oracle.fold(
            merge.id, absorbed, canonical, merge.rule, mark=merge.edge_mark, conflict=conflict
        )
        last = self.oracle.folds[-1]
        assert (merge.absorbed_id, merge.canonical_id) == (last.absorbed, last.canonical)
        assert merge.overruled == last.overruled
        assert merge.edge_mark >= self.oracle.last_edge
        with self.store.read() as tx:
            edges = tx.merges.edges(merge.id)
        assert {e for e, effect in edges if effect == "moved"} == receipt.moved
        assert {e for e, effect in edges if effect == "silenced"} == receipt.silenced
        assert (merge.moved, merge.silenced) == (len(receipt.moved), len(receipt.silenced))

    @has_rows
    @rule(pairs=st.lists(st.tuples(pick, pick), min_size=1, max_size=6))
    def fold_many(self, pairs: list[tuple[int, int]]) -> None:
        rows = [(self.row(left), self.row(right)) for left, right in pairs]
        proposals = [Proposal(a, c, Verdict.FOLD, "batch", 1.0) for a, c in rows]
        with self.store.write() as tx:
            batch = folds.fold_batch(tx, proposals, decided_by=DecidedBy.RULE)
        made = iter(batch.folds)
        refused = iter(batch.refused)
        for absorbed, canonical in rows:
            code = refused_with(partial(self.oracle.may_fold, absorbed, canonical, overrule=False))
            if code is None:
                self.take(next(made), absorbed, canonical)
            else:
                assert next(refused).code == code
        assert next(made, None) is None
        assert next(refused, None) is None

    @has_folds
    @rule(at=pick)
    def revert(self, at: int) -> None:
        fold = self.oracle.folds[at % len(self.oracle.folds)]
        preview = None
        with self.store.read() as tx, suppress(Refused):
            preview = folds.preview_revert(tx, fold.id)
        result = self.done(
            lambda: self.oracle.may_revert(fold), lambda tx: folds.revert(tx, fold.id)
        )
        if result is None:
            return
        self.was_reverted(fold, result)
        assert preview is not None
        assert (preview.moved_back, preview.reactivated, preview.arrived_since, preview.later) == (
            result.moved_back,
            result.reactivated,
            result.arrived_since,
            result.later,
        )
        if result.decision_id is not None:
            self.oracle.settle_apart(result.decision_id, fold.absorbed, fold.canonical)
        else:
            assert fold.conflict in self.oracle.questions

    def was_reverted(self, fold: Any, result: Any) -> None:
        undone = self.oracle.revert(fold)
        assert result.moved_back == undone.moved_back
        assert result.arrived_since == undone.arrived
        assert result.reactivated == len(undone.woken)
        assert {m.id for m in result.later} == undone.later

    # ---- names ----

    @has_rows
    @rule(row=pick, name=name)
    def rename(self, row: int, name: Name) -> None:
        row = self.row(row)
        root = self.oracle.root(row)
        same = self.oracle.shown(root) == name.spelling

        def expected() -> None:
            if not same:
                self.oracle.own_rows(root, name)

        entity = self.done(expected, lambda tx: folds.rename(tx, self.entity(tx, row), name))
        if entity is None or same:
            return
        assert entity.name == name.spelling
        own = [r for r in self.oracle.own_rows(root, name) if r.name.spelling == name.spelling]
        lowest = min(own, key=lambda r: r.sense).id if own else None
        self.oracle.renames.append((root, lowest or self.spelling_added(root, name)))

    def spelling_added(self, root: int, name: Name) -> int:
        with self.store.read() as tx:
            rows = [r for r in tx.entities.by_key(name.key) if r.id not in self.oracle.rows]
            assert len(rows) == 1
            merge = tx.merges.live_of(rows[0].id)
        self.oracle.add_spelling(rows[0].id, root, name)
        self.take(merge, rows[0].id, root)
        return int(rows[0].id)

    @has_rows
    @rule(row=pick, name=name, overrule=st.booleans())
    def declare_an_alias(self, row: int, name: Name, overrule: bool) -> None:
        row = self.row(row)
        root = self.oracle.root(row)

        def expected() -> None:
            if self.oracle.own_rows(root, name):
                raise Refusal("already_one")
            at = (name.key, 0)
            for d in self.oracle.decisions:
                # The row would be minted anew, and what was decided of its name still holds.
                if d.undone or at not in (d.left, d.right) or overrule:
                    continue
                other = d.right if d.left == at else d.left
                sides = [r.id for r in self.oracle.rows.values() if r.at == other]
                if sides and self.oracle.root(sides[0]) == root:
                    raise Refusal("settled_apart")

        merge = self.done(
            expected,
            lambda tx: folds.alias(tx, self.entity(tx, row), name, overrule=overrule),
        )
        if merge is not None:
            self.spelling_added(root, name)

    @has_rows
    @rule(row=pick)
    def delete(self, row: int) -> None:
        row = self.row(row)
        result = self.done(
            lambda: self.oracle.may_delete(row),
            lambda tx: folds.delete(tx, self.entity(tx, row)),
        )
        if result is None:
            return
        going = self.oracle.may_delete(row)
        edges = [e for e in self.oracle.open_edges() if {e.first, e.second} & going]
        assert result.mentions == sum(e.predicate is None for e in edges)
        assert result.facts == sum(e.predicate is not None for e in edges)
        self.oracle.delete(going)

    # ---- decisions and questions ----

    @has_rows
    @rule(left=pick, right=pick)
    def settle_apart(self, left: int, right: int) -> None:
        left, right = self.row(left), self.row(right)
        if left == right:
            return
        with self.store.write() as tx:
            decision = folds.settle_apart(
                tx, left, right, decided_by=DecidedBy.HUMAN, actor=None, why=""
            )
        self.oracle.settle_apart(decision, left, right)

    @has_rows
    @rule(pairs=st.lists(st.tuples(pick, pick, st.sampled_from(SCORES)), min_size=1, max_size=4))
    def ask(self, pairs: list[tuple[int, int, float]]) -> None:
        rows = [(self.row(left), self.row(right), score) for left, right, score in pairs]
        asked: list[tuple[int, int, float]] = []
        deferred, skipped = 0, 0
        shut = self.oracle.apart()
        taken = {self.oracle.pair(self.oracle.questions[q]) for q in self.oracle.pending()}
        room = self.oracle.cap - len(taken)
        for left, right, score in rows:
            pair = frozenset((self.oracle.root(left), self.oracle.root(right)))
            if len(pair) == 1 or pair in shut or pair in taken:
                skipped += 1
                continue
            taken.add(pair)
            if len(asked) < room:
                asked.append((left, right, score))
            else:
                deferred += 1
        proposals = [Proposal(a, c, Verdict.ASK, "test", s) for a, c, s in rows]
        with self.store.write() as tx:
            result = conflicts.ask(tx, proposals, asked_by="test")
        assert (result.deferred, result.skipped) == (deferred, skipped)
        for conflict_id, (left, right, score) in zip(result.conflict_ids, asked, strict=True):
            self.oracle.questions[conflict_id] = Question(conflict_id, left, right, score)

    def question(self, at: int) -> Question:
        return self.oracle.questions[sorted(self.oracle.questions)[at % len(self.oracle.questions)]]

    @has_questions
    @rule(at=pick, answer=st.sampled_from(Answer), side=st.one_of(st.none(), pick))
    def decide(self, at: int, answer: Answer, side: int | None) -> None:
        question = self.question(at)
        side = None if side is None else self.row(side)

        def expected() -> None:
            sides = {question.queued, question.candidate, *self.oracle.pair(question)}
            if question.answer is not None:
                raise Refusal("already_answered")
            if side is not None and side not in sides:
                raise Refusal("not_its_candidate")
            if self.oracle.moot(question):
                raise Refusal("moot")
            if answer is Answer.MERGE:
                raise Refusal("rename_instead")

        result = self.done(
            expected,
            lambda tx: conflicts.decide(tx, question.id, answer, candidate_id=side),
        )
        if result is None:
            return
        question.answer = answer
        if answer is Answer.KEEP_BOTH:
            question.decision = result.conflict.decision_id
            self.oracle.settle_apart(question.decision or 0, question.queued, question.candidate)
        else:
            ends = [question.queued, question.candidate]
            if answer is Answer.KEEP_NEW:
                ends.reverse()
            self.take(result.merge, *ends, conflict=question.id)
            question.merge = result.merge.id

    @has_questions
    @rule(at=pick)
    def take_an_answer_back(self, at: int) -> None:
        question = self.question(at)

        def expected() -> None:
            if question.answer is None:
                raise Refusal("not_answered")

        if self.done(expected, lambda tx: conflicts.reopen(tx, question.id)) is None:
            return
        if question.merge is not None:
            self.oracle.revert(next(f for f in self.oracle.folds if f.id == question.merge))
        for decision in self.oracle.decisions:
            if decision.id == question.decision:
                decision.undone = True
        self.oracle.unanswer(question)

    @precondition(lambda self: self.oracle.decisions)
    @rule(at=pick)
    def undo_a_decision(self, at: int) -> None:
        decision: Apart = self.oracle.decisions[at % len(self.oracle.decisions)]
        questions = [q for q in self.oracle.questions.values() if q.decision == decision.id]

        def expected() -> None:
            if decision.undone:
                raise Refusal("already_undone")

        if self.done(expected, lambda tx: conflicts.undo_decision(tx, decision.id)) is not None:
            decision.undone = True
            for question in questions:
                self.oracle.unanswer(question)

    @has_rows
    @rule(
        pairs=st.lists(st.tuples(pick, pick, st.sampled_from(SCORES)), max_size=8),
        only=st.one_of(st.none(), pick),
    )
    def suggest(self, pairs: list[tuple[int, int, float]], only: int | None) -> None:
        rows = [(self.row(left), self.row(right), score) for left, right, score in pairs]
        rows = [(left, right, score) for left, right, score in rows if left != right]
        new = [(left, right, "test", score) for left, right, score in rows]
        known = self.oracle.suggestions
        with self.store.write() as tx:
            if only is None:
                tx.suggestions.replace_all(Asked.of(new).columns())
                known.clear()
            else:
                only = self.row(only)
                tx.suggestions.replace_for([only], new)
                for pair in [p for p in known if only in p]:
                    del known[pair]
        for left, right, score in rows:
            pair = (min(left, right), max(left, right))
            known[pair] = max(score, known.get(pair, 0.0))

    # ---- comparing ----

    @invariant()
    def a_reader_sees_what_the_definition_says(self) -> None:
        with self.store.read() as tx:
            self.same_rows(tx)
            self.same_questions(tx)
            self.same_lookups(tx)
            report = check(tx, name_of=Name.of)
        assert report.clean, report.violations
        assert self.oracle.well_formed()

    def same_rows(self, tx: Any) -> None:
        oracle = self.oracle
        assert tx.entities.count() == len(oracle.rows)
        live = [row for row in oracle.rows if oracle.root(row) == row]
        assert tx.entities.count_live() == len(live)
        assert [e.id for e in tx.entities.live()] == sorted(live)
        rows = tx.entities.many(list(oracle.rows))
        for row_id, row in oracle.rows.items():
            entity = rows[row_id]
            root = oracle.root(row_id)
            mentions = oracle.mentions(root)
            fold = oracle.up(row_id)
            assert entity.canonical_id == root
            assert entity.folded_into == (fold.canonical if fold else None)
            assert entity.name == oracle.shown(row_id)
            assert entity.mentions == len({e.memory for e in mentions})
            assert (entity.spelling, entity.type) == (row.name.spelling, row.type)
            merge = tx.merges.live_of(row_id)
            assert (merge and merge.id) == (fold and fold.id)
        aliases = tx.entities.aliases(live)
        for root in live:
            mentions = oracle.mentions(root)
            facts = oracle.facts(root)
            assert [e.id for e in tx.entities.cluster(root)] == [
                root,
                *sorted(oracle.cluster(root) - {root}),
            ]
            assert aliases.get(root, ()) == oracle.aliases(root)
            assert [m.id for m in tx.edges.mentions_of(root)] == sorted(e.id for e in mentions)
            assert tx.edges.count_mentions(root) == len(mentions)
            assert [
                (f.id, f.memory_id, f.subject_id, f.predicate, f.object_id, f.literal, f.confidence)
                for f in tx.edges.facts_of(root)
            ] == facts
            assert tx.edges.count_facts(root) == len(facts)

    def same_questions(self, tx: Any) -> None:
        oracle = self.oracle
        assert {frozenset(p) for p in tx.decisions.apart_roots()} == oracle.apart()
        for pair in oracle.apart():
            assert [d.id for d in tx.decisions.between(*pair)] == oracle.deciding(pair)
        pending = oracle.pending()
        assert [q.id for q in tx.conflicts.pending()] == pending
        assert tx.conflicts.count_pending() == len(pending)
        moot = [i for i, q in oracle.questions.items() if oracle.moot(q)]
        assert [q.id for q in tx.conflicts.moot()] == sorted(moot, reverse=True)
        decided = {i: q.answer for i, q in oracle.questions.items() if q.answer is not None}
        assert {q.id: q.answer for q in tx.conflicts.decided()} == decided
        for limit in (1, 3):
            proposals = tx.suggestions.best_open(limit)
            roots = [sorted((oracle.root(p.left_id), oracle.root(p.right_id))) for p in proposals]
            found = [(*pair, p.score) for pair, p in zip(roots, proposals, strict=True)]
            assert found == oracle.open()[:limit]
            for p in proposals:
                queued, candidate = (
                    (len(oracle.mentions(r)), -r)
                    for r in (oracle.root(p.left_id), oracle.root(p.right_id))
                )
                assert queued < candidate
        assert tx.suggestions.count_open() == len(oracle.open())

    def same_lookups(self, tx: Any) -> None:
        for spelling in NAMES:
            asked = Name.of(spelling)
            found, roots = lookup.find(tx, asked), self.oracle.leads_to(asked)
            if isinstance(found, Found):
                assert {found.entity.id} == roots
                assert found.alias == (found.matched != found.entity.name)
            elif isinstance(found, Ambiguous):
                assert len(roots) > 1
                assert {e.id for e in found.candidates} == roots
            else:
                assert isinstance(found, Unknown)
                assert not roots


TestGraphs = Graphs.TestCase
TestGraphs.settings = settings(
    max_examples=2_000 if LONG else 20,
    stateful_step_count=50 if LONG else 25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


class Dice:
    """Arguments for the verbs. Hypothesis finds the smallest failure, and keeps its graphs small
    to that end; dice fill a graph first, so that most of what is then tried is possible."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.verbs: dict[str, tuple[int, Callable[[], dict[str, Any]]]] = {
            "mint": (1, lambda: {"name": self.name(), "type": self.one(None, "person")}),
            "mint_a_homonym": (1, lambda: {"name": self.name()}),
            "remember": (3, self.text),
            "mention": (2, lambda: {"memory": self.at(), "row": self.at()}),
            "state": (4, self.fact),
            "set_status": (1, lambda: {"memory": self.at(), "status": self.one("active", "stale")}),
            "delete_memory": (1, lambda: {"memory": self.at()}),
            "fold": (6, self.fold),
            "fold_many": (4, lambda: {"pairs": self.pairs(6)}),
            "revert": (9, lambda: {"at": self.at()}),
            "rename": (2, lambda: {"row": self.at(), "name": self.name()}),
            "declare_an_alias": (2, self.alias),
            "delete": (2, lambda: {"row": self.at()}),
            "settle_apart": (1, lambda: {"left": self.at(), "right": self.at()}),
            "ask": (3, lambda: {"pairs": self.scored(4)}),
            "decide": (4, self.answer),
            "take_an_answer_back": (2, lambda: {"at": self.at()}),
            "undo_a_decision": (4, lambda: {"at": self.at()}),
            "suggest": (2, lambda: {"pairs": self.scored(8), "only": self.one(None, self.at())}),
        }

    def at(self) -> int:
        return self.random.randrange(10_000)

    def one(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def name(self) -> Name:
        return Name.of(self.random.choice(NAMES))

    def pairs(self, most: int) -> list[tuple[int, int]]:
        return [(self.at(), self.at()) for _ in range(self.random.randint(1, most))]

    def scored(self, most: int) -> list[tuple[int, int, float]]:
        return [(*pair, self.one(*SCORES)) for pair in self.pairs(most)]

    def text(self) -> dict[str, Any]:
        rows = [self.at() for _ in range(self.at() % 5)]
        return {"rows": rows, "sealed_for": self.one(None, None, "a")}

    def fact(self) -> dict[str, Any]:
        return {
            "memory": self.at(),
            "subject": self.at(),
            "predicate": self.one("uses", "uses", "is"),
            "other": self.one(self.at(), self.at(), "red"),
            "confidence": self.one(0.5, 1.0),
        }

    def fold(self) -> dict[str, Any]:
        flags = {"human": self.one(True, False), "overrule": self.one(True, False)}
        return {"absorbed": self.at(), "canonical": self.at(), **flags}

    def alias(self) -> dict[str, Any]:
        return {"row": self.at(), "name": self.name(), "overrule": self.one(True, False)}

    def answer(self) -> dict[str, Any]:
        side = self.one(None, None, None, self.at())
        return {"at": self.at(), "answer": self.one(*Answer), "side": side}

    def throw(self, graphs: Graphs) -> None:
        names, weights = list(self.verbs), [weight for weight, _ in self.verbs.values()]
        chosen = self.random.choices(names, weights)[0]
        verb = getattr(graphs, chosen)
        possible = {
            "revert": graphs.oracle.folds,
            "decide": graphs.oracle.questions,
            "take_an_answer_back": graphs.oracle.questions,
            "undo_a_decision": graphs.oracle.decisions,
        }.get(chosen, len(graphs.oracle.rows) > 1 and graphs.oracle.memories)
        if possible or chosen == "mint":
            verb(**self.verbs[chosen][1]())

    def fill(self, graphs: Graphs) -> None:
        graphs.how_mentions_are_counted(self.one(0, 5_000))
        for spelling in self.random.sample(NAMES, 12):
            graphs.mint(Name.of(spelling), None)
        for _ in range(4):
            graphs.remember([self.at() for _ in range(6)], None)
        for _ in range(8):
            graphs.state(**self.fact())


@pytest.mark.parametrize("seed", range(2_000 if LONG else 30))
def test_a_graph_shows_what_its_definition_says_after_any_interleaving(seed: int) -> None:
    graphs, dice = Graphs(), Dice(seed)
    try:
        dice.fill(graphs)
        for _ in range(60):
            dice.throw(graphs)
            graphs.a_reader_sees_what_the_definition_says()
    finally:
        graphs.teardown()
