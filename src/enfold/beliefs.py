"""Memories that bear on each other: what says the same again, what contradicts what was there, and
the versions that come of it.

A language model judges a new memory against its nearest neighbours, outside every transaction;
what it read is looked at again before anything is done. What says the same takes the place of what
was there, as its next version, and is written down as a question that the model answered, so that
it is listed with its reason and can be taken back like any other answer. What contradicts is asked:
both memories stay.

Memories are compared among those that are sealed for the same agent, or for none. A document and
its passages are compared with nothing, nor is a long text: it says many things, and replaces none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from enfold.errors import Error, Invalid, NotFound, Refused, Unavailable
from enfold.model import Answer, Kind, Memory, MemoryQuestion
from enfold.names import Name, clean, normalized
from enfold.ports import Embedder, Model, NewMemory, Store, Tx
from enfold.prompts import DATA, fenced

NEIGHBOURS: Final = 5
"""Memories that a new one is judged against: the nearest."""

LONGEST: Final = 4_000
"""Characters of a memory that is judged; a model has to see all of what is to be replaced."""

MERGED: Final = 20_000
"""Characters of the text in place of two memories: as of every memory that is no document."""

REASON: Final = 300
"""Characters of a reason."""

PATIENCE: Final = 3
"""Memories in a row without an answer, after which the model is taken to be gone."""

TAG: Final = "merge"
"""The source tag of a text that stands in place of two memories."""

LONGER: Final = 2
"""How many times as long as the other a text may be that a model calls the same: what says that
much more says more. A choice, not measured; what is asked in vain costs one answer."""

_NUMBER: Final = re.compile(r"(?:(?<!\S)[-−+])?[$€£¥]?\d+(?:[.,:/-]\d+)*[a-z%]*")
"""Dates, times, versions and amounts as they are written: whole, with sign, currency and unit,
since 2026-01-03 and 2026-03-01 have the same parts."""

_DENIAL: Final = re.compile(
    r"\b(?:not|no|never|none|nor|neither|nobody|nothing|without|cannot|stopped|nicht|kein\w*|nie|pas|jamais|nunca|"
    r"não|не|нет|никогда)\b|n['’]t\b|[不没沒无無非]|ない|ません"
)

_REPLACING: Final = (Answer.KEEP_NEW, Answer.KEEP_EXISTING, Answer.MERGE)

Neighbours = Sequence[tuple[Memory, float]]
"""Memories, each with its cosine to the one they are near."""


class Judgement(StrEnum):
    """How a memory bears on one that was there."""

    IDENTICAL = "identical"
    """It says the same, perhaps in other words."""
    COMPLEMENTARY = "complementary"
    """Both can hold."""
    CONTRADICTORY = "contradictory"
    """Both can't hold."""


@dataclass(frozen=True, slots=True)
class Belief:
    """What a model says of a memory and one that was there before.

    Attributes:
        memory, other: the two as the model read them.
        score: their cosine.
        reason: the model's, in a sentence.
    """

    memory: Memory
    other: Memory
    judgement: Judgement
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class BeliefReport:
    """What came of checking a memory against what was there.

    Attributes:
        judged: how many memories it was judged against.
        replaced: memories that say the same, whose next version it is now.
        conflict_ids: questions about memories it contradicts.
        note: why it was not checked.
    """

    judged: int = 0
    replaced: tuple[int, ...] = ()
    conflict_ids: tuple[int, ...] = ()
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a memory.

    Attributes:
        replaced_by: the memory that holds in its place; None while it holds itself.
        question_id: the question whose answer said so. why: what the question was asked for.
        answer, by, at: that answer, who gave it and when.
    """

    memory: Memory
    replaced_by: int | None = None
    question_id: int | None = None
    why: str | None = None
    answer: Answer | None = None
    by: str | None = None
    at: str | None = None


UNPLACED: Final = (
    "It is not placed by its meaning, so nothing looked whether it contradicts what was there."
)
NO_MODEL: Final = (
    "No language model is set, so nothing looked whether it contradicts what was there."
)
NO_EMBEDDER: Final = (
    "No embedder is set to find what is near to it, so nothing looked whether it contradicts what "
    "was there."
)

_INSTRUCTIONS: Final = f"""\
You are given a new memory and some older ones, each with its number and the day it was stored. \
Say of each older one how the new one bears on it:

- identical: they say the same; nothing is lost if the new one stands in place of the older. Not \
where either says more than the other.
- contradictory: they can't both be true now: the same thing is said to be so and otherwise.
- complementary: everything else. They are about different things, or add to each other. When in \
doubt, it is this.

A thing that changed contradicts what it was before, if the older one does not say that it is \
past. Give the reason in one short sentence that names what is the same or what differs.

{DATA}"""

_SCHEMA: Final[dict[str, object]] = {
    "type": "object",
    "properties": {
        "judgements": {
            "type": "array",
            "maxItems": NEIGHBOURS,
            "items": {
                "type": "object",
                "properties": {
                    "number": {"type": "integer"},
                    "judgement": {"type": "string", "enum": list(Judgement)},
                    "reason": {"type": "string"},
                },
                "required": ["number", "judgement", "reason"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["judgements"],
    "additionalProperties": False,
}


# ---- judging ------------------------------------------------------------------------------------


def check(
    store: Store,
    model: Model | None,
    embedder: Embedder | None,
    memory_ids: Sequence[int],
    neighbours_of: Callable[[Tx, Memory], Neighbours | None],
) -> dict[int, BeliefReport]:
    """Check new memories, in order, against those that were there before them.

    A model that does not answer leaves them as they are; the note says so.

    Args:
        neighbours_of: the active memories near to one, with their cosines; None where it has no
            vector yet.
    """
    if model is None or embedder is None:
        unset = NO_MODEL if model is None else NO_EMBEDDER
        return {memory_id: BeliefReport(note=unset) for memory_id in memory_ids}
    done: dict[int, BeliefReport] = {}
    unanswered: list[str] = []
    for memory_id in memory_ids:
        if len(unanswered) >= PATIENCE:
            done[memory_id] = BeliefReport(note=unanswered[-1])
            continue
        try:
            done[memory_id] = _check(store, model, embedder, memory_id, neighbours_of)
        except Exception as error:  # the memory is stored; no fault of a model may cost it
            done[memory_id] = BeliefReport(note=_unchecked(error))
            if isinstance(error, Unavailable) and error.code == "model_unavailable":
                unanswered.append(_unchecked(error))
        else:
            unanswered.clear()
    return done


def _unchecked(error: Exception) -> str:
    why = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
    return f"Stored, but nothing looked whether it contradicts what was there: {why[:REASON]}"


def _check(
    store: Store,
    model: Model,
    embedder: Embedder,
    memory_id: int,
    neighbours_of: Callable[[Tx, Memory], Neighbours | None],
) -> BeliefReport:
    with store.read() as tx:
        memory = tx.memories.get(memory_id)
        if memory is None or not _is_judged(memory):
            return BeliefReport()
        known = _asked(tx, memory)
        around = neighbours_of(tx, memory)
    if around is None:
        return BeliefReport(note=UNPLACED)
    near = [one for one in around if one[0].id not in known]
    found = weigh(model, memory, comparable(memory, near, embedder.belief_floor))
    if not found:
        return BeliefReport()
    with store.write() as tx:
        return settle(tx, found, asked_by=model.name)


def comparable(memory: Memory, neighbours: Neighbours, floor: float) -> list[tuple[Memory, float]]:
    """Those that a memory is judged against: the nearest from the floor on that were there before
    it, hold, and may be seen by whoever sees it."""
    fit = [
        (one, score)
        for one, score in neighbours
        if score >= floor
        and one.id < memory.id
        and one.sealed_for == memory.sealed_for
        and _is_judged(one)
    ]
    return sorted(fit, key=lambda near: (-near[1], near[0].id))[:NEIGHBOURS]


def _is_judged(memory: Memory) -> bool:
    part_of_document = memory.kind == Kind.DOCUMENT or memory.document_id is not None
    return memory.status == "active" and not part_of_document and len(memory.content) <= LONGEST


def weigh(model: Model, memory: Memory, neighbours: Neighbours) -> list[Belief]:
    """How a memory bears on its neighbours, as a model judges in one answer.

    Raises:
        Unavailable: ``model_unavailable``, ``model_nonsense``.
    """
    if not neighbours:
        return []
    older = [(f"OLDER MEMORY {n}", one) for n, (one, _) in enumerate(neighbours, 1)]
    prompt = "\n\n".join(
        f"{label}, stored on {one.created_at[:10]}:\n{fenced(label, one.content)}"
        for label, one in [("NEW MEMORY", memory), *older]
    )
    return judged(model.ask(_INSTRUCTIONS, prompt, _SCHEMA).value, memory, neighbours)


def judged(answer: Mapping[str, Any], memory: Memory, neighbours: Neighbours) -> list[Belief]:
    """What of an answer is a judgement on one of the neighbours. Where it says several things of
    one, the most careful of them: a memory is silenced by what is said of it with one voice."""
    found: dict[int, Belief] = {}
    for said in answer["judgements"]:
        number, judgement = said["number"], str(said["judgement"]).strip().casefold()
        if not 0 < number <= len(neighbours) or judgement not in set(Judgement):
            continue
        other, score = neighbours[number - 1]
        reason = clean(said["reason"])[:REASON] or f"The two are {judgement}."
        belief = Belief(memory, other, Judgement(judgement), score, reason)
        if number not in found or _care(belief) > _care(found[number]):
            found[number] = belief
    return list(found.values())


def _care(belief: Belief) -> int:
    """How careful it is to believe this: the more, the less is done unasked."""
    return (Judgement.IDENTICAL, Judgement.COMPLEMENTARY, Judgement.CONTRADICTORY).index(
        belief.judgement
    )


# ---- acting on it -------------------------------------------------------------------------------


def settle(tx: Tx, beliefs: Sequence[Belief], *, asked_by: str) -> BeliefReport:
    """Act on what was said of one memory, as far as it still is as the model read it."""
    replaced: list[int] = []
    asked: list[int] = []
    for belief in sorted(beliefs, key=lambda one: one.judgement is not Judgement.IDENTICAL):
        if belief.judgement is Judgement.COMPLEMENTARY or not _still(tx, belief):
            continue
        differs = _difference(belief) if belief.judgement is Judgement.IDENTICAL else None
        question_id = tx.questions.ask_memory(
            belief.memory.id,
            belief.other.id,
            asked_by=asked_by,
            score=belief.score,
            reason=belief.reason if differs is None else f"{differs} {belief.reason}",
        )
        if question_id is None:
            continue
        if belief.judgement is Judgement.CONTRADICTORY or differs is not None:
            asked.append(question_id)
            continue
        decide(tx, _question(tx, question_id), Answer.KEEP_NEW, content=None, actor=asked_by)
        replaced.append(belief.other.id)
    return BeliefReport(len(beliefs), tuple(replaced), tuple(asked))


def _difference(belief: Belief) -> str | None:
    """What parts two memories whatever the model says: numbers, a denial in one of them, or that
    one is much longer. A model takes 5k for 50k too easily to silence a memory unasked."""
    mine, other = (normalized(one.content).casefold() for one in (belief.memory, belief.other))
    if _numbers(mine) != _numbers(other):
        return "The model says that they say the same, but their numbers differ."
    if bool(_DENIAL.search(mine)) != bool(_DENIAL.search(other)):
        return "The model says that they say the same, but one of them denies something."
    shorter, longer = sorted((len(mine), len(other)))
    if longer > LONGER * shorter:
        return "The model says that they say the same, but one of them is much longer."
    return None


def _numbers(text: str) -> tuple[list[str], list[str]]:
    """The numbers in a text, in whatever order: as they are written, and with those in words."""
    return sorted(_NUMBER.findall(text)), sorted(Name.of(text).counted)


def _still(tx: Tx, belief: Belief) -> bool:
    """Whether both hold, say what they said, and are not asked about."""
    both = tx.memories.many([belief.memory.id, belief.other.id])
    same = all(
        (now := both.get(one.id)) is not None
        and (now.content, now.sealed_for, now.status) == (one.content, one.sealed_for, "active")
        for one in (belief.memory, belief.other)
    )
    return same and belief.other.id not in _asked(tx, belief.memory)


def _asked(tx: Tx, memory: Memory) -> set[int]:
    """The memories that it was ever asked about with; what was answered is not asked again."""
    return {
        side.id for one in tx.questions.about([memory.id]) for side in (one.queued, one.candidate)
    }


def _question(tx: Tx, question_id: int) -> MemoryQuestion:
    question = tx.questions.memory(question_id)
    if question is None:
        raise NotFound("no_conflict", f"There is no question {question_id}.")
    return question


# ---- answers ------------------------------------------------------------------------------------


def decide(
    tx: Tx, question: MemoryQuestion, answer: Answer, *, content: str | None, actor: str | None
) -> MemoryQuestion:
    """Answer an open question. ``keep_new``: the later memory holds, as the next version of the
    other. ``keep_existing``: the later one does not hold. ``keep_both``: both do, and it is not
    asked again. ``merge``: a text holds in place of both, as their next version.

    Args:
        content: the text of a merge. It is yet to be read for its names, and to be placed.

    Raises:
        Invalid: ``merge_needs_text``, ``memory_too_long``.
    """
    made_id: int | None = None
    if answer is Answer.MERGE:
        made_id = _merge(tx, question, content)
    elif answer is Answer.KEEP_NEW:
        tx.memories.set_status(question.candidate.id, "stale")
        _follow(tx, question)
    elif answer is Answer.KEEP_EXISTING:
        tx.memories.set_status(question.queued.id, "stale")
    tx.questions.answer(question.id, answer, answered_by=actor, made_id=made_id)
    return _question(tx, question.id)


def _follow(tx: Tx, question: MemoryQuestion) -> None:
    """The later memory is the next version of the other, unless it is one of another already."""
    if question.queued.follows_id is None:
        tx.memories.follow(question.queued.id, question.candidate.id)


def _unfollow(tx: Tx, question: MemoryQuestion) -> None:
    if question.queued.follows_id == question.candidate.id:
        tx.memories.follow(question.queued.id, None)


def _merge(tx: Tx, question: MemoryQuestion, content: str | None) -> int:
    if content is None or not clean(content):
        raise Invalid(
            "merge_needs_text", "Give the text that is to stand in place of the two memories."
        )
    if len(content) > MERGED:
        raise Invalid(
            "memory_too_long",
            f"The text has {len(content):,} characters, and a memory at most {MERGED:,}. "
            "Shorten it.",
        )
    queued = question.queued
    _follow(tx, question)
    for one in (queued, question.candidate):
        tx.memories.set_status(one.id, "stale")
    made = NewMemory(
        content,
        source_tag=TAG,
        kind=queued.kind,
        title=queued.title,
        area=queued.area,
        topic=queued.topic,
        agent=queued.agent,
        sealed_for=queued.sealed_for,
        follows_id=queued.id,
        once=tx.memories.same(content, sealed_for=queued.sealed_for) is None,
    )
    (made_id,) = tx.memories.add_many([made])
    tx.memories.mark_unread([made_id])
    return made_id


def reopen(tx: Tx, question: MemoryQuestion, *, actor: str | None = None) -> MemoryQuestion:
    """Take an answer back: the memories are as they were before it, and a text that it made is
    gone, with the questions about it that are open or were answered ``keep_both``.

    Raises:
        Refused: ``not_answered``; ``replaced_since``: what holds by the answer was replaced since,
            or another memory rests on the text that it made. What to take back first is named.
    """
    if question.answer is None:
        raise Refused("not_answered", f"Question {question.id} has no answer to take back.")
    if question.answer is Answer.MERGE:
        _unmerge(tx, question)
    elif question.answer is Answer.KEEP_NEW:
        _must_hold(tx, question, question.queued)
        tx.memories.set_status(question.candidate.id, "active")
        _unfollow(tx, question)
    elif question.answer is Answer.KEEP_EXISTING:
        _must_hold(tx, question, question.candidate)
        tx.memories.set_status(question.queued.id, "active")
    tx.questions.reopen(question.id)
    return _question(tx, question.id)


def _unmerge(tx: Tx, question: MemoryQuestion) -> None:
    made = None if question.made_id is None else tx.memories.get(question.made_id)
    if made is not None:
        _must_hold(tx, question, made)
        _must_carry_none(tx, question, made)
        tx.memories.delete(made.id)
    for one in (question.candidate, question.queued):
        tx.memories.set_status(one.id, "active")
    _unfollow(tx, question)


def _must_carry_none(tx: Tx, question: MemoryQuestion, made: Memory) -> None:
    """No other memory was replaced by an answer that would go with the text that another made."""
    for since in tx.questions.about([made.id]):
        if since.answer not in _REPLACING:
            continue
        other = since.candidate if since.queued.id == made.id else since.queued
        raise Refused(
            "replaced_since",
            f"Memory {made.id}, which the answer to question {question.id} made, holds in place of "
            f"memory {other.id}, too, by the answer to question {since.id}. Take that back first "
            f"(enfold reopen {since.id}).",
            memory_id=made.id,
            conflict_id=since.id,
        )


def _must_hold(tx: Tx, question: MemoryQuestion, holder: Memory) -> None:
    """What holds by the answer is not replaced itself: what holds in its place would rest on
    nothing."""
    now = tx.memories.get(holder.id)
    if now is None or now.status == "active":
        return
    by = _replaced(now, tx.memories.versions(now.id), tx.questions.about([holder.id]))
    if by.question_id is None:
        rest = (
            f"as memory {by.replaced_by} came as a later version of it. Forget that first (enfold "
            f"forget {by.replaced_by})."
        )
    else:
        rest = (
            f"by the answer to question {by.question_id}. Take that back first (enfold reopen "
            f"{by.question_id})."
        )
    raise Refused(
        "replaced_since",
        f"Memory {holder.id}, which holds by the answer to question {question.id}, was replaced "
        f"since, {rest}",
        memory_id=holder.id,
        conflict_id=by.question_id,
    )


# ---- forgetting ---------------------------------------------------------------------------------


def must_not_carry(tx: Tx, memory: Memory, *, going: Collection[int]) -> None:
    """That no other memory rests on an answer that would go with this one: what the other was
    replaced by would be gone, and the answer that could be taken back.

    Args:
        going: memories that go with it.

    Raises:
        Refused: ``under_answer``.
    """
    for question in (*tx.questions.about([memory.id]), *tx.questions.that_made(memory.id)):
        for other in (question.queued, question.candidate):
            by = _instead(question, other.id)
            if by is None or other.id in {memory.id, *going} or other.status == "active":
                continue
            if memory.id != question.made_id and _is_followed_without(tx, other, memory):
                continue
            held = "holds" if by == memory.id and memory.status == "active" else "was put"
            stands = f"Memory {memory.id} {held} in place of memory {other.id},"
            if by != memory.id:
                stands = f"Memory {by} holds in place of memories {memory.id} and {other.id},"
            raise Refused(
                "under_answer",
                f"{stands} by the answer to question {question.id}. Take that back first (enfold "
                f"reopen {question.id}), or forget both.",
                memory_id=other.id,
                conflict_id=question.id,
            )


def _is_followed_without(tx: Tx, other: Memory, memory: Memory) -> bool:
    """Whether a later version leads to a memory once another, which holds no more, is gone."""
    if memory.status == "active":
        return False
    ahead = {one.id for one in tx.memories.versions(other.id) if one.follows_id == other.id}
    if memory.id in ahead:
        ahead |= {one.id for one in tx.memories.versions(memory.id) if one.follows_id == memory.id}
    return bool(ahead - {memory.id})


def let_go(tx: Tx, memory_id: int) -> None:
    """Delete a memory, with its passages. What follows it follows the one before it, which is not
    lost from the versions. Where nothing is in that one's place any more, it holds again, as before
    this one came."""
    memory = tx.memories.get(memory_id)
    if memory is None:
        return
    for one in tx.memories.versions(memory_id):
        if one.follows_id == memory_id:
            tx.memories.follow(one.id, memory.follows_id)
    tx.memories.delete(memory_id)
    before = None if memory.follows_id is None else tx.memories.get(memory.follows_id)
    if before is not None and _is_left(tx, before):
        _bring_back(tx, before, memory.caller_id)


def _is_left(tx: Tx, memory: Memory) -> bool:
    """Whether nothing is in place of a memory any more that does not hold."""
    if memory.status == "active":
        return False
    followed = any(one.follows_id == memory.id for one in tx.memories.versions(memory.id))
    answered = (_instead(one, memory.id) for one in tx.questions.about([memory.id]))
    return not followed and all(by is None for by in answered)


def _bring_back(tx: Tx, memory: Memory, caller_id: str | None) -> None:
    """A document's passages hold again with it, and the caller's id is its own again."""
    if memory.kind == Kind.DOCUMENT and memory.caller_id is None and caller_id is not None:
        tx.memories.give_caller(memory.id, caller_id)
    for part in (memory.id, *tx.memories.passages_of([memory.id]).get(memory.id, ())):
        tx.memories.set_status(part, "active")


# ---- versions -----------------------------------------------------------------------------------


def history(tx: Tx, memory_id: int, *, agent: str | None = None) -> list[Version]:
    """The versions of a memory, the oldest first, each with what replaced it and why.

    Args:
        agent: who asks; what is sealed for others is left out.

    Raises:
        NotFound: ``no_memory``.
    """
    memory = tx.memories.get(memory_id)
    if memory is None or not may_see(memory, agent):
        raise NotFound("no_memory", f"There is no memory {memory_id}.")
    versions = [one for one in _versions(tx, memory_id) if may_see(one, agent)]
    questions = tx.questions.about([one.id for one in versions])
    return [_replaced(one, versions, questions) for one in versions]


def _versions(tx: Tx, memory_id: int) -> list[Memory]:
    """What a memory replaced and was replaced by, however far: the next version of two memories
    follows one of them, and the answer that says so leads to the other."""
    found: dict[int, Memory] = {}
    waiting = [memory_id]
    while waiting:
        one = waiting.pop()
        if one in found:
            continue
        chain = {version.id: version for version in tx.memories.versions(one)}
        found |= chain
        questions = list(tx.questions.about(sorted(chain)))
        questions += [question for one in chain for question in tx.questions.that_made(one)]
        for question in questions:
            if question.answer in _REPLACING:
                waiting += [question.queued.id, question.candidate.id]
                waiting += [] if question.made_id is None else [question.made_id]
    return [found[one] for one in sorted(found)]


def may_see(memory: Memory, agent: str | None) -> bool:
    """Whether it is sealed for nobody else."""
    return memory.sealed_for is None or memory.sealed_for == agent


def _replaced(
    memory: Memory, versions: Sequence[Memory], questions: Sequence[MemoryQuestion]
) -> Version:
    if memory.status == "active":
        return Version(memory)
    for one in reversed(questions):
        by = _instead(one, memory.id)
        if by is not None:
            return Version(
                memory, by, one.id, one.reason, one.answer, one.answered_by, one.decided_at
            )
    after = next((one for one in versions if one.follows_id == memory.id), None)
    if after is None:
        return Version(memory)
    return Version(memory, after.id, at=after.created_at)


def _instead(question: MemoryQuestion, memory_id: int) -> int | None:
    """The memory that holds in place of another by the answer to a question."""
    queued, candidate = question.queued.id, question.candidate.id
    if question.answer is Answer.KEEP_NEW and memory_id == candidate:
        return queued
    if question.answer is Answer.KEEP_EXISTING and memory_id == queued:
        return candidate
    if question.answer is Answer.MERGE and memory_id in (queued, candidate):
        return question.made_id
    return None
