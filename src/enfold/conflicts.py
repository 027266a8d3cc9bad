"""The queue of questions: asking, answering, and taking an answer back.

A question is about two entities, about two memories that contradict each other, or about a name
that fits several entities; here is what concerns the first kind, and the way to the others.

A question whose two sides lead to one entity, or are settled apart by a decision made elsewhere, is
moot: it has no force and no place in the queue, and returns when that is undone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from enfold import beliefs, folds, homonyms
from enfold.errors import Invalid, NotFound, Refused
from enfold.homonyms import Chosen, Waiting
from enfold.model import (
    Answer,
    Conflict,
    DecidedBy,
    Decision,
    MemoryQuestion,
    Merge,
    NameQuestion,
    Proposal,
)
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


AnyDecided = Decided | Chosen | MemoryQuestion
"""What became of an answer: of a question about two entities, a name, two memories."""

AnyReopened = Conflict | Waiting | MemoryQuestion
"""What became of an answer that was taken back, likewise."""


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


def names(tx: Tx, *, decided: bool = False, limit: int = 1000) -> list[NameQuestion]:
    """The open questions about names, the most waited for first; or those answered, and those that
    are moot, as the resolver's ``keep_both``."""
    if not decided:
        return tx.questions.names(limit=limit)
    moot = (
        replace(question, answer=Answer.KEEP_BOTH, answered_by=RESOLVER)
        for question in tx.questions.moot_names(limit=limit)
    )
    return [*tx.questions.names(decided=True, limit=limit), *moot][:limit]


def memories(
    tx: Tx, *, decided: bool = False, limit: int = 1000, agent: str | None = None
) -> list[MemoryQuestion]:
    """The open questions about memories, the surest first; or those answered and moot, likewise.

    Args:
        agent: who asks; memories that are sealed for others are left out.
    """
    if not decided:
        return tx.questions.memories(limit=limit, agent=agent)
    moot = (
        replace(question, answer=Answer.KEEP_BOTH, answered_by=RESOLVER)
        for question in tx.questions.moot_memories(limit=limit, agent=agent)
    )
    return [*tx.questions.memories(decided=True, limit=limit, agent=agent), *moot][:limit]


def decide_any(
    tx: Tx,
    conflict_id: int,
    answer: Answer,
    *,
    actor: str | None = None,
    candidate_id: int | None = None,
    content: str | None = None,
    agent: str | None = None,
) -> AnyDecided:
    """Answer a question of whatever kind.

    Args:
        agent: who asks; a question about what is sealed for another is none that it knows.
        candidate_id: of a name the entity that is meant; else one of the question's own sides.
        content: the text of a ``merge`` of two memories, and of nothing else.

    Raises:
        NotFound: ``no_conflict``.
        Invalid: ``bad_answer``, ``choose_candidate``, ``not_its_candidate``, ``merge_needs_text``.
        Refused: ``already_answered``, ``moot``, ``rename_instead``.
    """
    kind = tx.questions.kind(conflict_id)
    if kind == "name":
        name = _name_question(tx, conflict_id)
        _must_be_unanswered(name)
        if name.moot:
            raise _moot_name(name)
        if content is not None:
            raise _no_text(answer)
        return homonyms.decide(tx, name, answer, candidate_id=candidate_id, actor=actor)
    if kind == "memory":
        memory = _memory_question(tx, conflict_id, agent)
        _must_be_unanswered(memory)
        if memory.moot:
            raise _moot_memory(memory)
        _must_fit(memory, answer, candidate_id, content)
        return beliefs.decide(tx, memory, answer, content=content, actor=actor)
    return decide(tx, conflict_id, answer, actor=actor, candidate_id=candidate_id, content=content)


def _must_fit(
    question: MemoryQuestion, answer: Answer, candidate_id: int | None, content: str | None
) -> None:
    if candidate_id is not None and candidate_id not in (question.queued.id, question.candidate.id):
        raise Invalid(
            "not_its_candidate",
            f"Question {question.id} is about memories {question.queued.id} and "
            f"{question.candidate.id}, not about {candidate_id}.",
            sides=sorted((question.queued.id, question.candidate.id)),
        )
    if answer is not Answer.MERGE and content is not None:
        raise _no_text(answer)


def _no_text(answer: Answer) -> Invalid:
    return Invalid(
        "bad_answer",
        f"{answer} takes no text: that is for the merge of two memories. Leave it away.",
    )


def reopen_any(
    tx: Tx, conflict_id: int, *, actor: str | None = None, agent: str | None = None
) -> AnyReopened:
    """Take an answer back, of whatever kind; the question is open again.

    Args:
        agent: see ``decide_any``.

    Raises:
        NotFound: ``no_conflict``.
        Refused: ``not_answered``.
    """
    kind = tx.questions.kind(conflict_id)
    if kind == "name":
        name = _name_question(tx, conflict_id)
        _must_be_answered(name)
        return homonyms.reopen(tx, name)
    if kind == "memory":
        memory = _memory_question(tx, conflict_id, agent)
        _must_be_answered(memory)
        return beliefs.reopen(tx, memory, actor=actor)
    return reopen(tx, conflict_id, actor=actor)


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
    _must_be_unanswered(question)
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
    _must_be_answered(question)
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
        raise _missing(tx, conflict_id)
    return question


def _name_question(tx: Tx, conflict_id: int) -> NameQuestion:
    question = tx.questions.name(conflict_id)
    if question is None:
        raise _missing(tx, conflict_id)
    return question


def _memory_question(tx: Tx, conflict_id: int, agent: str | None) -> MemoryQuestion:
    question = tx.questions.memory(conflict_id)
    if question is None:
        raise _missing(tx, conflict_id)
    if not all(beliefs.may_see(one, agent) for one in (question.queued, question.candidate)):
        raise NotFound("no_conflict", f"There is no question {conflict_id}.")
    return question


def _missing(tx: Tx, conflict_id: int) -> NotFound | Refused:
    if (kind := tx.questions.kind(conflict_id)) is not None:
        return Refused("not_an_entity_question", f"Question {conflict_id} is about a {kind}.")
    return NotFound("no_conflict", f"There is no question {conflict_id}.")


def _must_be_unanswered(question: Conflict | NameQuestion | MemoryQuestion) -> None:
    if question.answer is not None:
        raise Refused(
            "already_answered",
            f"Question {question.id} was answered {question.answer} at {question.decided_at}; "
            "take that back first.",
        )


def _must_be_answered(question: Conflict | NameQuestion | MemoryQuestion) -> None:
    if question.answer is None:
        raise Refused("not_answered", f"Question {question.id} has no answer to take back.")


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


def _moot_name(question: NameQuestion) -> Refused:
    if not question.candidates:
        why = f"no entity is called “{question.name}” any more"
    else:
        only = question.candidates[0]
        why = f"“{question.name}” leads to one entity already: “{only.name}” ({only.id})"
    return Refused("moot", f"Nothing is left to answer: {why}. Undo that to be asked again.")


def _moot_memory(question: MemoryQuestion) -> Refused:
    stale = next(m for m in (question.queued, question.candidate) if m.status == "stale")
    return Refused(
        "moot",
        f"Nothing is left to answer: memory {stale.id} does not hold any more. Undo that to be "
        "asked again.",
    )
