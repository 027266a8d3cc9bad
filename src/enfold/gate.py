"""The gate: whether recall finds the memories that are known to answer a question.

Each question comes with its evidence, the memories that hold its answer. It is recalled as anybody
would recall it, and only where the evidence stands in what comes back is measured: nobody judges
an answer, so two runs over one graph agree to the last figure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from math import fsum
from typing import Final

from enfold.errors import Invalid
from enfold.model import Memory
from enfold.ports import Progress, Tx

DEPTHS: Final = (1, 5, 10)
"""How many of the first results recall is measured on, unless others are asked for."""

DEEPEST: Final = 1_000
"""The most of these. An agent that is handed more has been handed the graph."""

MRR: Final = "mrr"

_FIGURE: Final = re.compile(r"recall@([1-9][0-9]{0,3})|mrr")
_ID: Final = re.compile(r"(?:id:)?([0-9]{1,18})")

_ALMOST: Final = 1e-9  # a mean of thirds must not fall below the floor that it equals

Recall = Callable[[str, str | None, int], Sequence[Memory]]
"""What recall answers: (question, agent, how many) → memories, the best first."""

Known = Mapping[tuple[str | None, str], int]
"""The memory that evidence leads to, by who asks and the id: agents may use one id for several."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and which memories hold its answer.

    Attributes:
        evidence: callers' ids of memories, or their own ids (``12`` or ``id:12``).
        agent: who asks; None for nobody in particular.
        line: where it stands in its file.
    """

    question: str
    evidence: tuple[str, ...]
    agent: str | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """One memory that holds the answer.

    Attributes:
        id: as the question names it first.
        memory_id: None where the graph has no such memory.
        rank: its place among the results, 1 the first; None where it is not among them. That of a
            document is the place of its first passage.
    """

    id: str
    memory_id: int | None
    rank: int | None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was recalled.

    Attributes:
        rank: the place of its first evidence; None where none was found.
        results: the ids of the memories that came back, the best first.
    """

    line: int
    question: str
    agent: str | None
    rank: int | None
    evidence: tuple[Evidence, ...]
    results: tuple[int, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """Evidence that did not come back, as the question names it."""
        return tuple(one.id for one in self.evidence if one.rank is None)

    def recall(self, depth: int) -> float:
        """The share of its evidence among the first so many results."""
        found = sum(one.rank is not None and one.rank <= depth for one in self.evidence)
        return found / len(self.evidence)


@dataclass(frozen=True, slots=True)
class Gated:
    """How well recall did.

    Attributes:
        questions: those with evidence, over which all figures are means. left_out: those without.
        evidence: how many memories they name, each once a question. unknown: how many of these the
            graph does not have; they count as not found.
        figures: ``recall@K``, the share of a question's evidence among its first K results; and
            ``mrr``, 1 divided by the rank of its first evidence, or 0 where none was found.
        digest: of every result in its order. Two runs with one digest returned the same memories in
            the same order.
        asked: each question, in the order of the file.
    """

    questions: int
    left_out: int
    evidence: int
    unknown: int
    figures: dict[str, float]
    digest: str
    asked: tuple[Asked, ...]

    def below(self, floors: Mapping[str, float]) -> dict[str, float]:
        """The figures that are lower than they may be, with their floors."""
        return {
            figure: floor
            for figure, floor in floors.items()
            if self.figures[figure] < floor - _ALMOST
        }


def depth_of(figure: str) -> int | None:
    """How many results a figure looks at; None where it looks at all.

    Raises:
        ValueError: it is no figure.
    """
    found = _FIGURE.fullmatch(figure)
    if found is None:
        raise ValueError(f"{figure!r} is no figure; there are mrr and recall@K, as recall@5.")
    return None if found[1] is None else int(found[1])


def rate(
    questions: Sequence[Question],
    recall: Recall,
    known: Known,
    *,
    depths: Sequence[int] = DEPTHS,
    progress: Progress | None = None,
) -> Gated:
    """Ask every question that has evidence.

    Args:
        known: the memory that each evidence leads to (see ``memories_of``).
        depths: the Ks of ``recall@K``. The largest is how many results are asked for.

    Raises:
        Invalid: ``no_questions``: none has evidence; ``bad_depth``.
    """
    wanted = sorted(set(depths))
    if not wanted or wanted[0] < 1 or wanted[-1] > DEEPEST:
        raise Invalid("bad_depth", f"Recall is measured on the first 1 to {DEEPEST:,} results.")
    rated = [one for one in questions if one.evidence]
    if not rated:
        raise Invalid("no_questions", "No question names its evidence: there is nothing to rate.")
    asked = []
    for number, one in enumerate(rated, 1):
        asked.append(_ask(one, recall, known, wanted[-1]))
        if progress is not None:
            progress("recalling", number, len(rated))
    said = list(chain.from_iterable(one.evidence for one in asked))
    figures = {f"recall@{depth}": _mean([one.recall(depth) for one in asked]) for depth in wanted}
    figures[MRR] = _mean([1 / one.rank if one.rank else 0.0 for one in asked])
    return Gated(
        questions=len(asked),
        left_out=len(questions) - len(asked),
        evidence=len(said),
        unknown=sum(one.memory_id is None for one in said),
        figures=figures,
        digest=_digest(asked),
        asked=tuple(asked),
    )


def _ask(question: Question, recall: Recall, known: Known, most: int) -> Asked:
    results = recall(question.question, question.agent, most)[:most]
    places: dict[int, int] = {}
    for place, memory in enumerate(results, 1):
        places.setdefault(memory.id, place)
        if memory.document_id is not None:
            places.setdefault(memory.document_id, place)
    evidence = tuple(
        Evidence(said, id, None if id is None else places.get(id))
        for said, id in _each_once(question, known)
    )
    ranks = [one.rank for one in evidence if one.rank is not None]
    return Asked(
        line=question.line,
        question=question.question,
        agent=question.agent,
        rank=min(ranks, default=None),
        evidence=evidence,
        results=tuple(memory.id for memory in results),
    )


def _each_once(question: Question, known: Known) -> Iterator[tuple[str, int | None]]:
    """(how it is named, its id) of each memory that a question names, however often and by whatever
    ids: a share of memories counts none of them twice."""
    seen: set[int | str] = set()
    for said in question.evidence:
        id = known.get((question.agent, said))
        if (one := said if id is None else id) not in seen:
            seen.add(one)
            yield said, id


def _mean(shares: Sequence[float]) -> float:
    return fsum(shares) / len(shares)


def _digest(asked: Sequence[Asked]) -> str:
    made = blake2b(digest_size=8)
    for one in asked:
        ids = " ".join(map(str, one.results))
        made.update(f"{one.question}\0{one.agent or ''}\0{ids}\n".encode("utf-8", "replace"))
    return made.hexdigest()


def memories_of(tx: Tx, questions: Sequence[Question]) -> Known:
    """The memory that each evidence leads to: that of the caller's id, sealed for who asks or for
    nobody, else of its own. What leads to none is not in it."""
    said = dict.fromkeys((one.agent, id) for one in questions for id in one.evidence)
    found: dict[tuple[str | None, str], int] = {}
    for agent, id in said:
        mine = tx.memories.by_caller(id, sealed_for=agent) if agent else None
        if (memory := mine or tx.memories.by_caller(id)) is not None:
            found[agent, id] = memory.id
    numbers = {one: int(m[1]) for one in said if one not in found and (m := _ID.fullmatch(one[1]))}
    there = tx.memories.many(sorted(set(numbers.values())))
    return found | {
        one: number
        for one, number in numbers.items()
        if number in there and there[number].sealed_for in (None, one[0] or None)
    }
