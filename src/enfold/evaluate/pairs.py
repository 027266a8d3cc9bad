"""The rules against labelled pairs, each ruled on its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from enfold.evaluate import kinds
from enfold.evaluate.labels import Labelled, Wrong
from enfold.evaluate.scores import Score, share
from enfold.model import Context, Ruling, Verdict
from enfold.names import Name
from enfold.rules import rule_on


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The rules against labels.

    Where the labels are verdicts, ``right`` counts equal verdicts. Where they only say same or not,
    a fold of the same and no fold of different things is right; a question is counted in
    ``questions`` and is right for the same, since its answer is, and wrong for different things.

    Attributes:
        pairs: labelled pairs read.
        right: rulings that agree with their label.
        false_folds: pairs folded that are two things.
        questions: pairs asked about.
        missed: pairs that are one thing and neither folded nor asked.
        verdicts: verdict → expected → count.
        rules: rule → expected → count.
        wrong: every pair that is not right.
        true: pairs that are one thing; a label ASK says of none that it is.
        scores: of the pairs that are one thing or two: ``folded``, what folds; ``asked``, what is
            asked; ``answered``, what folds or is asked and answered rightly; ``accepted``, what
            folds or is asked, every question answered yes.
        rule_scores: the same of each rule that folds or asks.
        proposed: the share of ``true`` that the search for pairs finds; None where it was not run.
        missed_kinds: pairs missed, by what stands between them.
    """

    pairs: int
    right: int
    false_folds: int
    questions: int
    missed: int
    verdicts: Mapping[str, Mapping[str, int]]
    rules: Mapping[str, Mapping[str, int]]
    wrong: tuple[Wrong, ...]
    true: int
    scores: Mapping[str, Score]
    rule_scores: Mapping[str, Score]
    proposed: float | None
    missed_kinds: Mapping[str, int]


def evaluate(
    labelled: Iterable[Labelled], context: Context, *, proposed: Sequence[bool] | None = None
) -> Evaluation:
    """Rule on every pair and count.

    Args:
        proposed: for each pair, whether the search for pairs finds it.
    """
    verdicts: dict[str, Counter[str]] = {v.value: Counter() for v in Verdict}
    by_rule: dict[str, Counter[str]] = {}
    told: Counter[tuple[str, Verdict, bool]] = Counter()
    missed_kinds: Counter[str] = Counter()
    wrong: list[Wrong] = []
    total = right = false_folds = missed = found = 0
    for pair in labelled:
        # Names of their own, so that what is read off a name goes with its pair.
        left, other = (Name(name.spelling, name.type) for name in (pair.left, pair.right))
        ruling = rule_on(left, other, context)
        expected = _shown(pair.expected)
        verdicts[ruling.verdict][expected] += 1
        by_rule.setdefault(ruling.rule, Counter())[expected] += 1
        if pair.same is not None:
            told[ruling.rule, ruling.verdict, pair.same] += 1
            found += pair.same and proposed is not None and proposed[total]
        total += 1
        apart = pair.expected in (False, Verdict.APART)
        false_folds += ruling.verdict is Verdict.FOLD and apart
        if ruling.verdict is Verdict.APART and not apart:
            missed += 1
            missed_kinds[kinds.missed(left, other, ruling)] += 1
        if _agrees(ruling, pair.expected):
            right += 1
        else:
            names = left.spelling, other.spelling
            said = ruling.verdict, expected, ruling.rule, ruling.reason
            wrong.append(Wrong(*names, *said))
    true = sum(count for (_, _, same), count in told.items() if same)
    return Evaluation(
        total,
        right,
        false_folds,
        sum(verdicts[Verdict.ASK].values()),
        missed,
        verdicts,
        by_rule,
        tuple(wrong),
        true,
        _scores(told, true),
        _rule_scores(told, true),
        None if proposed is None else share(found, true),
        dict(missed_kinds.most_common()),
    )


Told = Mapping[tuple[str, Verdict, bool], int]


def _scores(told: Told, true: int) -> dict[str, Score]:
    def count(*verdicts: Verdict, same: bool) -> int:
        return sum(n for (_, v, one), n in told.items() if v in verdicts and one is same)

    fold, ask = Verdict.FOLD, Verdict.ASK
    right, wrong = count(fold, same=True), count(fold, same=False)
    yes, no = count(ask, same=True), count(ask, same=False)
    return {
        "folded": Score.of(right, right + wrong, true),
        "asked": Score.of(yes, yes + no, true),
        "answered": Score.of(right + yes, right + wrong + yes, true),
        "accepted": Score.of(right + yes, right + wrong + yes + no, true),
    }


def _rule_scores(told: Told, true: int) -> dict[str, Score]:
    said: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for (rule, verdict, same), count in told.items():
        if verdict is not Verdict.APART:
            said[rule] += count
            right[rule] += count * same
    return {rule: Score.of(right[rule], said[rule], true) for rule in said}


def _shown(expected: Verdict | bool) -> str:
    if isinstance(expected, Verdict):
        return expected.value
    return "same" if expected else "different"


def _agrees(ruling: Ruling, expected: Verdict | bool) -> bool:
    if isinstance(expected, Verdict):
        return ruling.verdict is expected
    return (ruling.verdict is not Verdict.APART) is expected
