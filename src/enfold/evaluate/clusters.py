"""A pass against names of which it is known what each is a name of."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import Final

from enfold.evaluate import kinds
from enfold.evaluate.scores import Score, b_cubed, pairs_of, pairwise, share
from enfold.model import Context, Proposal
from enfold.names import Name
from enfold.rules import rule_on

MOST_MISSED: Final = 1_000_000
"""Missed pairs that are looked at one by one to say of what kind they are: some 10 seconds' worth.
One thing of ten thousand names alone has fifty times as many."""

ONE_NAME: Final = "one name"
"""Stands for a rule where two things share a name: no rule is asked about one name."""

KEPT_MISSED: Final = 2_000
"""Missed pairs that are named; the rest are counted."""


@dataclass(frozen=True)
class Outcome:
    """What a pass over names found.

    Attributes:
        things: [mentions] the thing each mention is of.
        spellings: [mentions] each mention's name as written.
        rows: [mentions] the row that each mention's name is; one name is one row.
        names: row → (spelling, type).
        context: what the pass ruled with.
        folds: every fold, as a pass would make it.
        questions: every question, in the order in which they are put, folds having been made.
        candidates: pairs of rows that the search found, those of equal letters aside.
        groups: rows of equal letters, where there are two or more.
    """

    things: Sequence[str]
    spellings: Sequence[str]
    rows: Sequence[int]
    names: Mapping[int, tuple[str, str | None]]
    context: Context
    folds: Sequence[Proposal]
    questions: Sequence[Proposal]
    candidates: Iterable[tuple[int, int]]
    groups: Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Clustered:
    """How good clusters are: by pairs of mentions, and by B-cubed."""

    pairwise: Score
    b_cubed: Score


@dataclass(frozen=True, slots=True)
class Doubtful:
    """Two names that were put together, or asked about, and are two things.

    Attributes:
        left_things, right_things: what they are names of, sorted.
        same_string: whether they are the same text, so that no rule on names can part them.
    """

    left: str
    right: str
    left_things: tuple[str, ...]
    right_things: tuple[str, ...]
    rule: str
    reason: str
    same_string: bool


@dataclass(frozen=True, slots=True)
class Missed:
    """Two names of one thing that neither folds nor answers bring together."""

    left: str
    right: str
    thing: str
    kind: str


@dataclass(frozen=True, slots=True)
class RuleScore:
    """What one rule folds or asks.

    Attributes:
        said: its folds or questions.
        right: those of one thing.
        score: precision of these; recall is the share of the true pairs of mentions that it names
            itself, and not by way of a third name.
    """

    said: int
    right: int
    score: Score


@dataclass(frozen=True, slots=True)
class ClusterEvaluation:
    """A pass against clusters.

    A cluster stands for the thing most of its mentions are of; of equally many, for each of them. A
    question is right where the clusters that it is about stand for one thing. The reviewer of
    ``answered`` goes by that, takes the questions in the order in which they are put, and sees the
    clusters as they are by then.

    Attributes:
        names: mentions read.
        spellings: different names among them, which is what a pass looks at.
        things: things they are of.
        pairs: pairs of mentions of one thing.
        folds: folds made without asking.
        false_folds: folds of two things, and names that are names of several.
        questions, right_questions: those put after the folds, and how many of them are right.
        yes, no: how a perfect reviewer answers; what is one by then is not answered.
        asked: the questions alone: the share that is right, and the share of the true pairs that
            stand on two sides of one.
        folded: the clusters by folds alone.
        answered: with every right question accepted: a perfect reviewer.
        accepted: with every question accepted.
        proposed: the share of the true pairs that the search for pairs finds.
        ruled: the share of the true pairs that a rule folds or asks about.
        per_thousand: questions for a thousand names.
        per_duplicate: questions for each duplicate that answering them settles.
        rules: what each rule folded or asked.
        wrong_folds, wrong_questions: those of two things, by name.
        missed_kinds: pairs of spellings that remain apart, by what stands between them.
        missed_unsorted: how many more there are than were looked at.
        missed: the first of them by name.
    """

    names: int
    spellings: int
    things: int
    pairs: int
    folds: int
    false_folds: int
    questions: int
    right_questions: int
    yes: int
    no: int
    asked: Score
    folded: Clustered
    answered: Clustered
    accepted: Clustered
    proposed: float | None
    ruled: float | None
    per_thousand: float | None
    per_duplicate: float | None
    rules: Mapping[str, RuleScore]
    wrong_folds: tuple[Doubtful, ...]
    wrong_questions: tuple[Doubtful, ...]
    missed_kinds: Mapping[str, int]
    missed_unsorted: int
    missed: tuple[Missed, ...]


@dataclass
class _Clusters:
    """Rows that have become one, and the things their mentions are of."""

    root: dict[int, int]
    things: dict[int, Counter[str]]
    _shared: dict[int, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, outcome: Outcome) -> _Clusters:
        things: dict[int, Counter[str]] = defaultdict(Counter)
        for row, thing in zip(outcome.rows, outcome.things, strict=True):
            things[row][thing] += 1
        return cls({row: row for row in things}, dict(things))

    def copy(self) -> _Clusters:
        return _Clusters(dict(self.root), {row: Counter(c) for row, c in self.things.items()})

    def find(self, row: int) -> int:
        top = row
        while self.root[top] != top:
            top = self.root[top]
        while self.root[row] != top:
            self.root[row], row = top, self.root[row]
        return top

    def stands_for(self, row: int) -> frozenset[str]:
        """What the cluster of a row stands for."""
        top = self.find(row)
        if top not in self._shared:
            counts = self.things[top]
            most = max(counts.values())
            self._shared[top] = frozenset(t for t, n in counts.items() if n == most)
        return self._shared[top]

    def one_thing(self, left: int, right: int) -> bool:
        return not self.stands_for(left).isdisjoint(self.stands_for(right))

    def join(self, left: int, right: int) -> None:
        small, large = sorted(
            (self.find(left), self.find(right)), key=lambda top: len(self.things[top])
        )
        if small != large:
            self.root[small] = large
            self.things[large].update(self.things.pop(small))
            self._shared.pop(small, None)
            self._shared.pop(large, None)

    def scored(self, outcome: Outcome) -> Clustered:
        found = [self.find(row) for row in outcome.rows]
        return Clustered(pairwise(found, outcome.things), b_cubed(found, outcome.things))


def evaluate(outcome: Outcome) -> ClusterEvaluation:
    """Count what a pass got right."""
    single = _Clusters.of(outcome)
    folded = single.copy()
    for fold in outcome.folds:
        folded.join(fold.left_id, fold.right_id)
    right = [folded.one_thing(q.left_id, q.right_id) for q in outcome.questions]
    answered, yes, no = _answered(folded.copy(), outcome.questions)
    accepted = folded.copy()
    for question in outcome.questions:
        accepted.join(question.left_id, question.right_id)
    pairs = sum(map(pairs_of, Counter(outcome.things).values()))
    wrong_folds = (*_homonyms(outcome, single), *_wrong_folds(outcome, single))
    left_apart = _Missed(outcome, single, answered)
    left_apart.look()
    asked = len(outcome.questions)
    return ClusterEvaluation(
        names=len(outcome.rows),
        spellings=len(single.root),
        things=len(set(outcome.things)),
        pairs=pairs,
        folds=len(outcome.folds),
        false_folds=len(wrong_folds),
        questions=asked,
        right_questions=sum(right),
        yes=yes,
        no=no,
        asked=Score.from_shares(
            share(sum(right), asked), share(_between(folded, _sides(outcome.questions)), pairs)
        ),
        folded=folded.scored(outcome),
        answered=answered.scored(outcome),
        accepted=accepted.scored(outcome),
        proposed=share(_proposed(outcome, single), pairs),
        ruled=share(_ruled(outcome, folded), pairs),
        per_thousand=round(1000 * asked / len(single.root), 1) if single.root else None,
        per_duplicate=round(asked / yes, 2) if yes else None,
        rules=_rules(outcome, single, folded, right, pairs),
        wrong_folds=wrong_folds,
        wrong_questions=tuple(
            _doubtful(outcome, folded, question)
            for question, fits in zip(outcome.questions, right, strict=True)
            if not fits
        ),
        missed_kinds=dict(left_apart.kinds.most_common()),
        missed_unsorted=left_apart.unsorted,
        missed=tuple(left_apart.kept),
    )


def _answered(clusters: _Clusters, questions: Sequence[Proposal]) -> tuple[_Clusters, int, int]:
    """(the clusters after a perfect reviewer, yes, no)"""
    yes = no = 0
    for question in questions:
        left, right = question.left_id, question.right_id
        if clusters.find(left) == clusters.find(right):
            continue
        if clusters.one_thing(left, right):
            clusters.join(left, right)
            yes += 1
        else:
            no += 1
    return clusters, yes, no


# ---- what is wrong ----


def _homonyms(outcome: Outcome, single: _Clusters) -> Iterator[Doubtful]:
    """Names that are names of several things: one row each, before any rule."""
    written: dict[int, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row, thing, spelling in zip(outcome.rows, outcome.things, outcome.spellings, strict=True):
        if len(single.things[row]) > 1:
            written[row][thing].add(spelling)
    for by_thing in written.values():
        shared = Counter(chain.from_iterable(by_thing.values()))
        same = [spelling for spelling, things in shared.items() if things > 1]
        ways = [min(same)] if same else sorted(shared)
        things = tuple(sorted(by_thing))
        reason = "One name, but for case and blanks." if not same else "One name."
        yield Doubtful(ways[0], ways[-1], things, things, ONE_NAME, reason, bool(same))


def _wrong_folds(outcome: Outcome, single: _Clusters) -> Iterator[Doubtful]:
    for fold in outcome.folds:
        if single.things[fold.left_id].keys().isdisjoint(single.things[fold.right_id]):
            yield _doubtful(outcome, single, fold)


def _doubtful(outcome: Outcome, clusters: _Clusters, pair: Proposal) -> Doubtful:
    left, right = outcome.names[pair.left_id][0], outcome.names[pair.right_id][0]
    mine, other = (
        tuple(sorted(clusters.things[clusters.find(row)])) for row in (pair.left_id, pair.right_id)
    )
    return Doubtful(left, right, mine, other, pair.rule, pair.reason, left == right)


# ---- how much was found ----


def _proposed(outcome: Outcome, single: _Clusters) -> int:
    """How many true pairs of mentions the search finds, those of one name among them."""
    found = _within(single) + _between(single, outcome.candidates)
    for group in outcome.groups:
        whole: Counter[str] = Counter()
        for row in group:
            whole.update(single.things[row])
            found -= sum(map(pairs_of, single.things[row].values()))
        found += sum(map(pairs_of, whole.values()))
    return found


def _ruled(outcome: Outcome, folded: _Clusters) -> int:
    """How many true pairs of mentions are folded, or stand on two sides of a question."""
    return _within(folded) + _between(folded, _sides(outcome.questions))


def _sides(proposals: Iterable[Proposal]) -> Iterator[tuple[int, int]]:
    return ((p.left_id, p.right_id) for p in proposals)


def _within(clusters: _Clusters) -> int:
    """How many true pairs of mentions lie in one cluster."""
    counts = (counts.values() for counts in clusters.things.values())
    return sum(pairs_of(n) for n in chain.from_iterable(counts))


def _between(clusters: _Clusters, pairs: Iterable[tuple[int, int]]) -> int:
    """How many true pairs of mentions lie between two clusters, of the pairs of them given."""
    found = 0
    seen: set[tuple[int, int]] = set()
    for pair in pairs:
        left, right = sorted(map(clusters.find, pair))
        mine, other = clusters.things[left], clusters.things[right]
        if left != right and not mine.keys().isdisjoint(other) and (left, right) not in seen:
            seen.add((left, right))
            found += sum(n * other[thing] for thing, n in mine.items() if thing in other)
    return found


def _rules(
    outcome: Outcome, single: _Clusters, folded: _Clusters, right: Sequence[bool], pairs: int
) -> dict[str, RuleScore]:
    said: Counter[str] = Counter()
    fits: Counter[str] = Counter()
    asked: dict[str, list[Proposal]] = defaultdict(list)
    for fold in outcome.folds:
        said[fold.rule] += 1
        fits[fold.rule] += not _apart(single, fold)
    for question, good in zip(outcome.questions, right, strict=True):
        said[question.rule] += 1
        fits[question.rule] += good
        asked[question.rule].append(question)
    true = Counter({rule: _between(folded, _sides(mine)) for rule, mine in asked.items()})
    for rule in {fold.rule for fold in outcome.folds}:  # one: nothing else folds
        true[rule] += _within(folded) - _within(single)
    return {
        rule: RuleScore(
            count, fits[rule], Score.from_shares(share(fits[rule], count), share(true[rule], pairs))
        )
        for rule, count in said.most_common()
    }


def _apart(single: _Clusters, pair: Proposal) -> bool:
    return single.things[pair.left_id].keys().isdisjoint(single.things[pair.right_id])


# ---- what is missed ----


@dataclass
class _Missed:
    """The pairs of spellings of one thing that remain in different clusters."""

    outcome: Outcome
    single: _Clusters
    answered: _Clusters
    kinds: Counter[str] = field(default_factory=Counter)
    kept: list[Missed] = field(default_factory=list)
    unsorted: int = 0

    def look(self) -> None:
        rows: dict[str, list[int]] = defaultdict(list)
        for row, counts in self.single.things.items():
            for thing in counts:
                rows[thing].append(row)
        room = MOST_MISSED
        # The smallest things first: a huge one would take all the room.
        for thing, mine in sorted(rows.items(), key=lambda pair: (len(pair[1]), pair[0])):
            parts = Counter(map(self.answered.find, mine))
            apart = pairs_of(len(mine)) - sum(map(pairs_of, parts.values()))
            if apart > room or pairs_of(len(mine)) > 10 * MOST_MISSED:
                self.unsorted += apart
                continue
            room -= apart
            if apart:
                self._sort(thing, mine)

    def _sort(self, thing: str, rows: Sequence[int]) -> None:
        names = {row: Name(*self.outcome.names[row]) for row in rows}
        for left, right in combinations(sorted(rows), 2):
            if self.answered.find(left) == self.answered.find(right):
                continue
            ruling = rule_on(names[left], names[right], self.outcome.context)
            kind = kinds.missed(names[left], names[right], ruling)
            self.kinds[kind] += 1
            if len(self.kept) < KEPT_MISSED:
                spellings = names[left].spelling, names[right].spelling
                self.kept.append(Missed(*spellings, thing, kind))
