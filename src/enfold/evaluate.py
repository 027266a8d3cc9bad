"""How right the rules are on labelled pairs of names."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from enfold.errors import Invalid
from enfold.model import Context, Ruling, Verdict
from enfold.names import Name
from enfold.rules import rule_on

_LEFT = ("left", "name1", "name_1", "a")
_RIGHT = ("right", "name2", "name_2", "b")
_LABELS = ("verdict", "label", "is_match", "match")
_SAME = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


@dataclass(frozen=True, slots=True)
class Labelled:
    """A pair with what it should be: a verdict, or only whether it is one thing."""

    left: Name
    right: Name
    expected: Verdict | bool


@dataclass(frozen=True, slots=True)
class Wrong:
    """A pair that the rules got wrong."""

    left: str
    right: str
    verdict: str
    expected: str
    rule: str
    reason: str


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
    """

    pairs: int
    right: int
    false_folds: int
    questions: int
    missed: int
    verdicts: Mapping[str, Mapping[str, int]]
    rules: Mapping[str, Mapping[str, int]]
    wrong: tuple[Wrong, ...]


def read_labelled(path: Path) -> Iterator[Labelled]:
    """The pairs of a CSV or TSV file with a header: ``left`` and ``right`` (or ``name1`` and
    ``name2``), their types where given, and ``verdict`` (FOLD, ASK, APART), ``label`` or
    ``is_match`` (1 or 0).

    Raises:
        Invalid: ``unreadable``, ``no_labels`` or ``bad_label``, with the line.
    """
    if path.exists() and not path.is_file():
        raise Invalid("unreadable", f"{path} is no regular file.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(
            "unreadable", f"{path} can't be read as a table in UTF-8: {error}."
        ) from error
    head = text.partition("\n")[0]
    tabs = "\t" in head
    reader = csv.DictReader(
        text.splitlines(),
        delimiter="\t" if tabs else ",",
        quoting=csv.QUOTE_NONE if tabs else csv.QUOTE_MINIMAL,
    )
    columns = [c for c in reader.fieldnames or () if c]
    left, right, label = (
        next((c for c in columns if c.strip().lower() in names), None)
        for names in (_LEFT, _RIGHT, _LABELS)
    )
    if left is None or right is None or label is None:
        raise Invalid(
            "no_labels",
            f"{path} has no columns left, right and verdict (or name1, name2 and label); "
            f"it has: {', '.join(columns) or 'none'}.",
        )
    left_type = "left_type" if "left_type" in columns else "schema" if "schema" in columns else ""
    right_type = "right_type" if left_type == "left_type" else left_type
    for row in reader:
        where = f"{path}, line {reader.line_num}"
        yield Labelled(
            _name(row.get(left), row.get(left_type), where),
            _name(row.get(right), row.get(right_type), where),
            _expected(row.get(label), where),
        )


def _name(spelling: str | None, kind: str | None, where: str) -> Name:
    try:
        return Name.of(spelling or "", kind)
    except Invalid as error:
        raise Invalid("bad_label", f"{where}: {error}") from error


def _expected(label: str | None, where: str) -> Verdict | bool:
    text = (label or "").strip()
    if text.upper() in Verdict.__members__:
        return Verdict[text.upper()]
    if text.lower() in _SAME:
        return _SAME[text.lower()]
    raise Invalid("bad_label", f"{where}: {text!r} is neither FOLD, ASK, APART nor 1, 0.")


def evaluate(labelled: Iterable[Labelled], context: Context) -> Evaluation:
    """Rule on every pair and count."""
    verdicts: dict[str, Counter[str]] = {v.value: Counter() for v in Verdict}
    by_rule: dict[str, Counter[str]] = {}
    wrong: list[Wrong] = []
    total = right = false_folds = missed = 0
    for pair in labelled:
        ruling = rule_on(pair.left, pair.right, context)
        expected = _shown(pair.expected)
        total += 1
        verdicts[ruling.verdict][expected] += 1
        by_rule.setdefault(ruling.rule, Counter())[expected] += 1
        apart = pair.expected in (False, Verdict.APART)
        false_folds += ruling.verdict is Verdict.FOLD and apart
        missed += ruling.verdict is Verdict.APART and not apart
        if _agrees(ruling, pair.expected):
            right += 1
        else:
            wrong.append(
                Wrong(
                    pair.left.spelling,
                    pair.right.spelling,
                    ruling.verdict,
                    expected,
                    ruling.rule,
                    ruling.reason,
                )
            )
    questions = sum(verdicts[Verdict.ASK].values())
    return Evaluation(total, right, false_folds, questions, missed, verdicts, by_rule, tuple(wrong))


def _shown(expected: Verdict | bool) -> str:
    if isinstance(expected, Verdict):
        return expected.value
    return "same" if expected else "different"


def _agrees(ruling: Ruling, expected: Verdict | bool) -> bool:
    if isinstance(expected, Verdict):
        return ruling.verdict is expected
    return (ruling.verdict is not Verdict.APART) is expected
