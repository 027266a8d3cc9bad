"""Questions about a name that fits several entities: which of them do texts mean by it?

The answer stands for the texts that wait and for those that come later. Taken back, all of them
wait again, whenever they came.
"""

from __future__ import annotations

from dataclasses import dataclass

from enfold import folds, linking, lookup
from enfold.errors import Invalid
from enfold.model import Answer, Entity, NameQuestion
from enfold.names import Name
from enfold.ports import Tx


@dataclass(frozen=True, slots=True)
class Chosen:
    """An answered question about a name.

    Attributes:
        entity: what texts mean by the name from now on; None where they go on waiting.
        mentions, facts: what waited and is linked now.
    """

    question: NameQuestion
    entity: Entity | None
    mentions: int
    facts: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """A question about a name whose answer was taken back.

    Attributes:
        mentions, facts: what the answer had linked and waits again; what came since among them.
        gone: the entity that was made for the answer and went with it.
        kept: the entity that was made for it and stays, because something else uses it.
    """

    question: NameQuestion
    mentions: int
    facts: int
    gone: Entity | None = None
    kept: Entity | None = None


def decide(
    tx: Tx,
    question: NameQuestion,
    answer: Answer,
    *,
    candidate_id: int | None = None,
    actor: str | None = None,
) -> Chosen:
    """Answer an open question. ``keep_existing`` chooses the candidate, ``keep_new`` makes another
    thing of that name and chooses it, ``keep_both`` leaves the name unlinked and asks no more.

    Args:
        candidate_id: with ``keep_existing``: the entity, or a row that leads to it.

    Raises:
        Invalid: ``choose_candidate``, ``not_its_candidate``, ``bad_answer``.
    """
    if answer is Answer.MERGE:
        raise Invalid(
            "bad_answer",
            f"“{question.name}” is a name, and there are no texts to merge. Answer keep_existing "
            "with the entity that is meant, keep_new or keep_both.",
        )
    if answer is not Answer.KEEP_EXISTING and candidate_id is not None:
        raise Invalid(
            "bad_answer", f"{answer} chooses none of the entities; leave the candidate away."
        )
    row_id = _answer_row(tx, question, answer, candidate_id)
    tx.questions.answer(question.id, answer, answered_by=actor, chosen_id=row_id)
    taken = linking.take_up(tx, question.key)
    entity = None if row_id is None else folds.root_of(tx, row_id)
    return Chosen(_again(tx, question), entity, taken.mentions, taken.facts)


def _answer_row(
    tx: Tx, question: NameQuestion, answer: Answer, candidate_id: int | None
) -> int | None:
    if answer is Answer.KEEP_BOTH:
        return None
    if answer is Answer.KEEP_EXISTING:
        return _candidate(tx, question, candidate_id)
    # A type is told only where the texts agree: another thing of the name is all that was said.
    types = tx.unlinked.types(question.key)
    name = Name.of(question.name, types[0] if len(types) == 1 else None)
    entity, _ = lookup.mint(tx, name, homonym=True)
    return entity.id


def _candidate(tx: Tx, question: NameQuestion, candidate_id: int | None) -> int:
    """The row of that name that leads to the candidate: kept as such, so that it follows folds."""
    fits = [{"id": e.id, "name": e.name, "type": e.type} for e in question.candidates]
    listed = "; ".join(
        f"{e.id} “{e.name}”{f' ({e.type})' if e.type else ''}" for e in question.candidates
    )
    if candidate_id is None:
        raise Invalid(
            "choose_candidate",
            f"“{question.name}” fits {listed}. Say which one is meant, by its id.",
            candidates=fits,
        )
    rows = tx.entities.by_key(question.key)
    root = tx.entities.roots([candidate_id]).get(candidate_id)
    leading = [row.id for row in rows if row.canonical_id == root]
    if not leading:
        raise Invalid(
            "not_its_candidate",
            f"“{question.name}” does not lead to {candidate_id}. It fits {listed}.",
            candidates=fits,
        )
    return candidate_id if candidate_id in leading else leading[0]


def reopen(tx: Tx, question: NameQuestion) -> Waiting:
    """Take the answer back. What it linked waits again, and an entity that was made for it goes,
    unless something else uses it by now."""
    tx.questions.reopen(question.id)
    taken = linking.take_up(tx, question.key)
    made = question.chosen_id if question.answer is Answer.KEEP_NEW else None
    entity = None if made is None else tx.entities.get(made)
    if entity is None:
        return Waiting(_again(tx, question), taken.waiting, taken.waiting_facts)
    if _used(tx, entity):
        return Waiting(_again(tx, question), taken.waiting, taken.waiting_facts, kept=entity)
    folds.delete(tx, entity)
    linking.settle(tx)
    return Waiting(_again(tx, question), taken.waiting, taken.waiting_facts, gone=entity)


def _used(tx: Tx, entity: Entity) -> bool:
    """Whether anything but the answer it was made for refers to an entity."""
    return (
        bool(tx.merges.under([entity.id]))
        or any(tx.edges.asserted_to([entity.id]))
        or bool(tx.decisions.apart_roots(around=[entity.id]))
        or entity.foreign_id is not None
        or bool(tx.entities.attributes(entity.id))
    )


def _again(tx: Tx, question: NameQuestion) -> NameQuestion:
    found = tx.questions.name(question.id)
    assert found is not None
    return found
