"""The queue of questions: asking, answering, and taking an answer back.

A question whose two sides lead to one entity, or are settled apart by a decision made elsewhere, is
moot: it has no force and no place in the queue, and returns when that is undone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from enfold import folds
from enfold.errors import Invalid, NotFound, Refused
from enfold.model import Answer, Conflict, DecidedBy, Decision, Merge, Proposal
from enfold.ports import Tx

QUEUE_CAP: Final = 50
"""Pending entity questions, whoever asked them: more than a person would look through."""

RESOLVER: Final = "resolver"
"""Who is shown to have answered a moot question."""


@dataclass(frozen=True, slots=True)
class Queued:
    """What became of proposed questions.

    Attributes:
        conflict_ids: the questions written.
        deferred: how many found the queue full.
        skipped: how many are one entity, settled apart or queued already.
    """

    conflict_ids: tuple[int, ...]
    deferred: int
    skipped: int


@dataclass(frozen=True, slots=True)
class Decided:
    """An answered question, with the fold it made, if it made one."""

    conflict: Conflict
    merge: Merge | None


def ask(tx: Tx, proposals: Sequence[Proposal], *, asked_by: str) -> Queued:
    """Queue each proposal's left side against its right, in order, while there is room.

    Raises:
        NotFound: ``no_entity``.
    """
    rows = {row for p in proposals for row in (p.left_id, p.right_id)}
    root_of = tx.entities.roots(list(rows))
    if gone := rows - root_of.keys():
        raise NotFound("no_entity", f"There is no entity {min(gone)}.", entity_id=min(gone))
    taken = tx.conflicts.pending_pairs()
    settled = set(tx.decisions.apart_roots())
    room = QUEUE_CAP - len(taken)
    chosen: list[Proposal] = []
    deferred = 0
    for proposal in proposals:
        left, right = root_of[proposal.left_id], root_of[proposal.right_id]
        pair = (min(left, right), max(left, right))
        if left == right or pair in taken or pair in settled:
            continue
        taken.add(pair)
        if len(chosen) < room:
            chosen.append(proposal)
        else:
            deferred += 1
    conflict_ids = tx.conflicts.ask(chosen, asked_by=asked_by)
    return Queued(tuple(conflict_ids), deferred, len(proposals) - len(conflict_ids) - deferred)


def pending(tx: Tx, *, limit: int = 1000) -> list[Conflict]:
    """What is open, ranked by the weaker side's mentions, then score."""
    return tx.conflicts.pending(limit=limit)


def decided(tx: Tx, *, limit: int = 1000) -> list[Conflict]:
    """What is answered; what is moot counts as the resolver's ``keep_both``."""
    moot = (
        replace(question, answer=Answer.KEEP_BOTH, answered_by=RESOLVER)
        for question in tx.conflicts.moot(limit=limit)
    )
    return [*tx.conflicts.decided(limit=limit), *moot][:limit]


def decide(
    tx: Tx,
    conflict_id: int,
    answer: Answer,
    *,
    actor: str | None = None,
    candidate_id: int | None = None,
    content: str | None = None,
    decided_by: DecidedBy = DecidedBy.HUMAN,
) -> Decided:
    """Answer a question. ``keep_existing`` folds the queued entity into its candidate, ``keep_new``
    the candidate into the queued one, ``keep_both`` settles them apart.

    Args:
        candidate_id: if given, must be one of the question's own two sides.
        content: the text of a ``merge`` of two memories; an entity question has none.

    Raises:
        NotFound: ``no_conflict``.
        Invalid: ``not_its_candidate``.
        Refused: ``already_answered``, ``moot``, ``rename_instead``.
    """
    question = _question(tx, conflict_id)
    _must_be_open(question)
    if candidate_id is not None and candidate_id not in _sides(question):
        raise Invalid(
            "not_its_candidate",
            f"Question {conflict_id} is about {question.queued_id} “{question.queued_name}” and "
            f"{question.candidate_id} “{question.candidate_name}”, not about {candidate_id}.",
            sides=sorted(_sides(question)),
        )
    if question.moot:
        raise _moot(tx, question)
    if answer is Answer.MERGE or content:
        raise Refused(
            "rename_instead",
            "Two entities are not merged into a third. Answer keep_existing or keep_new, then "
            "rename what is left if it should have another name.",
        )
    if answer is Answer.KEEP_BOTH:
        merge = None
        decision_id = folds.settle_apart(
            tx,
            question.queued_id,
            question.candidate_id,
            decided_by=decided_by,
            actor=actor,
            why=f"Question {conflict_id} was answered: keep both.",
        )
        tx.conflicts.answer(conflict_id, answer, answered_by=actor, decision_id=decision_id)
    else:
        merge = _fold(tx, question, answer, actor, decided_by)
        tx.conflicts.answer(conflict_id, answer, answered_by=actor, merge_id=merge.id)
    tx.entities.forget_examined([question.queued_id, question.candidate_id])
    return Decided(_question(tx, conflict_id), merge)


def _fold(
    tx: Tx, question: Conflict, answer: Answer, actor: str | None, decided_by: DecidedBy
) -> Merge:
    absorbed, canonical = question.queued_id, question.candidate_id
    if answer is Answer.KEEP_NEW:
        absorbed, canonical = canonical, absorbed
    rows = tx.entities.many([absorbed, canonical])
    return folds.fold(
        tx,
        rows[absorbed],
        rows[canonical],
        decided_by=decided_by,
        rule=question.rule,
        score=question.score,
        reason=question.reason,
        actor=actor,
        conflict_id=question.id,
    )


def reopen(tx: Tx, conflict_id: int, *, actor: str | None = None) -> Conflict:
    """Take an answer back: its fold is reverted, or its decision undone, and the question is asked
    again.

    Raises:
        NotFound: ``no_conflict``.
        Refused: ``not_answered``.
    """
    question = _question(tx, conflict_id)
    if question.answer is None:
        raise Refused("not_answered", f"Question {conflict_id} has no answer to take back.")
    if question.merge_id is not None:
        folds.revert(tx, question.merge_id, actor=actor)
    else:
        if question.decision_id is not None:
            tx.decisions.undo(question.decision_id, actor=actor)
        tx.conflicts.reopen(conflict_id)
    tx.entities.forget_examined([question.queued_id, question.candidate_id])
    return _question(tx, conflict_id)


def undo_decision(tx: Tx, decision_id: int, *, actor: str | None = None) -> Decision:
    """Two names are no longer settled apart; the decision, now undone. Where it was the answer to a
    question, the question goes back into the queue.

    Raises:
        NotFound: ``no_decision``.
        Refused: ``already_undone``.
    """
    decision = tx.decisions.get(decision_id)
    if decision is None:
        raise NotFound("no_decision", f"There is no decision {decision_id}.")
    if decision.undone_at is not None:
        raise Refused(
            "already_undone", f"Decision {decision_id} was undone at {decision.undone_at}."
        )
    questions = tx.conflicts.by_decision(decision_id)
    tx.decisions.undo(decision_id, actor=actor)
    for question in questions:
        tx.conflicts.reopen(question.id)
    for key, sense in (
        (decision.left_key, decision.left_sense),
        (decision.right_key, decision.right_sense),
    ):
        rows = [row.id for row in tx.entities.by_key(key) if row.sense == sense]
        tx.entities.forget_examined(rows)
    return replace(decision, undone_at=tx.now, undone_by=actor)


def _question(tx: Tx, conflict_id: int) -> Conflict:
    question = tx.conflicts.get(conflict_id)
    if question is None:
        raise NotFound("no_conflict", f"There is no question {conflict_id}.")
    return question


def _must_be_open(question: Conflict) -> None:
    if question.answer is not None:
        raise Refused(
            "already_answered",
            f"Question {question.id} was answered {question.answer} at {question.decided_at}; "
            "take that back first.",
        )
    if question.kind != "entity":
        raise Refused("not_an_entity_question", f"Question {question.id} is about {question.kind}.")


def _sides(question: Conflict) -> set[int]:
    return {
        question.queued_id,
        question.candidate_id,
        question.queued_now,
        question.candidate_now,
    }


def _moot(tx: Tx, question: Conflict) -> Refused:
    names = f"“{question.queued_name}” and “{question.candidate_name}”"
    if question.queued_now == question.candidate_now:
        why = f"{names} are one entity already ({question.queued_now})"
    else:
        apart = tx.decisions.between(question.queued_now, question.candidate_now)
        numbers = ", ".join(str(decision.id) for decision in apart)
        why = f"{names} are settled apart already (decision {numbers})"
    return Refused("moot", f"Nothing is left to answer: {why}. Undo that to be asked again.")
