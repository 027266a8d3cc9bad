"""The labelled sets that come with enfold, and those in folders given: run, and shown as tables.

What a set is, where it is from and what others reached on it stands in ``suites/sets.toml``; the
files of each lie beside that. A set that may be used but not shipped is known there too, and is
told by the name of its file in a folder.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from enfold import rules
from enfold.errors import Invalid
from enfold.evaluate import (
    ClusterEvaluation,
    Doubtful,
    Evaluation,
    Labelled,
    Score,
    at_equal_recall,
)
from enfold.evaluate.scores import share
from enfold.formats import labelled
from enfold.model import Context, Verdict
from enfold.names import Name
from enfold.ports import Progress
from enfold.rating import Rated, of_clusters, of_pairs
from enfold.rules import rule_on

SUITES: Final = Path(__file__).parent / "suites"
LABELS: Final = (".csv", ".tsv", ".json")
"""What the files of labels in a folder end in."""


@dataclass(frozen=True, slots=True)
class Peer:
    """What another tool is published to reach on a set, and how it was run."""

    name: str
    precision: float
    recall: float
    f1: float
    how: str


@dataclass(frozen=True, slots=True)
class LabelledFile:
    """One file of a set.

    Attributes:
        figures: where the peers' figures, or the scores, are from.
        peers: what others reach on it.
        scores: a file beside it with the scores another tool gave these pairs.
        scored_by: that tool.
        cut: the score from which that tool itself says that two are one.
    """

    path: str
    title: str
    about: str = ""
    figures: str = ""
    peers: tuple[Peer, ...] = ()
    scores: str = ""
    scored_by: str = ""
    cut: float = 0.0


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """Labels from one source, with its licence and how the files were made from it.

    Attributes:
        shipped: whether its files come with enfold.
        ready: whether its labels are final; until then no rule is run on them.
    """

    name: str
    licence: str
    source: str
    converted: str
    files: tuple[LabelledFile, ...]
    shipped: bool = True
    ready: bool = True


@dataclass(frozen=True, slots=True)
class Against:
    """A tool that scores pairs, beside enfold on the same pairs.

    Attributes:
        cases: pairs that both were given.
        ours: folds and questions, each taken as a match.
        theirs: that tool's scores cut at ``threshold``, where it finds at least as much as enfold.
        own_cut, own: the cut it uses itself, and what it reaches there.
    """

    name: str
    cases: int
    ours: Score
    theirs: Score | None
    threshold: float | None
    own_cut: float
    own: Score


@dataclass(frozen=True, slots=True)
class RatedFile:
    """A file of a set, rated."""

    set: LabelledSet
    file: LabelledFile
    rated: Rated
    against: Against | None


def known() -> tuple[LabelledSet, ...]:
    """Every set that enfold knows of, shipped or not."""
    with (SUITES / "sets.toml").open("rb") as file:
        listed = tomllib.load(file)["set"]
    return tuple(_set(one) for one in listed)


def _set(one: dict[str, Any]) -> LabelledSet:
    files = tuple(
        LabelledFile(**{**file, "peers": tuple(Peer(**p) for p in file.get("peers", ()))})
        for file in one["file"]
    )
    rest = {key: value for key, value in one.items() if key != "file"}
    return LabelledSet(files=files, **rest)


def run(
    folders: Iterable[Path] = (),
    *,
    shipped: bool = True,
    rule_set: str = "default",
    workers: int = 1,
    progress: Progress | None = None,
) -> Iterator[RatedFile]:
    """Hold the rules to every set: those shipped, then those in the folders given.

    Raises:
        Invalid: ``no_such_file`` for a folder that is none or holds no labels; else as
            ``rating.rate``.
    """
    rules.rule_set(rule_set)
    report = progress or (lambda *_: None)
    found = list(_shipped()) if shipped else []
    for folder in folders:
        found += _in(folder)
    for one, file, path in found:
        yield _run(one, file, path, rule_set, workers, report)


Known = tuple[LabelledSet, LabelledFile, Path]


def _shipped() -> Iterator[Known]:
    for one in known():
        for file in one.files:
            path = SUITES / one.name / file.path
            if one.shipped and one.ready:
                yield one, file, path


def _in(folder: Path) -> Iterator[Known]:
    """The files of labels in a folder: what it holds of a set that is known, else each that is
    read as labels."""
    if not folder.is_dir():
        raise Invalid("no_such_file", f"There is no folder {folder}; check the path.")
    listed = [
        (one, file, folder / file.path)
        for one in known()
        for file in one.files
        if not one.shipped and (folder / file.path).is_file()
    ]
    if not listed:
        listed = [
            (_unknown(folder), LabelledFile(path.name, f"{folder.name}, {path.stem}"), path)
            for path in sorted(folder.iterdir())
            if path.suffix.lower() in LABELS and path.is_file()
        ]
    if not listed:
        ends = ", ".join(LABELS)
        raise Invalid("no_such_file", f"{folder} holds no file of labels ({ends}).")
    yield from listed


def _unknown(folder: Path) -> LabelledSet:
    return LabelledSet(folder.name, "not known", "not known", "no", (), shipped=False)


def _run(
    one: LabelledSet,
    file: LabelledFile,
    path: Path,
    rule_set: str,
    workers: int,
    progress: Progress,
) -> RatedFile:
    read = labelled.read(path)
    if isinstance(read, labelled.Clusters):
        rated: Rated = of_clusters(
            read.mentions, rule_set=rule_set, workers=workers, progress=progress
        )
    else:
        rated = of_pairs(read.labelled, rule_set=rule_set, workers=workers, progress=progress)
    return RatedFile(one, file, rated, _against(file, path, rule_set) if file.scores else None)


def _against(file: LabelledFile, path: Path, rule_set: str) -> Against:
    scored = labelled.read(path.with_name(file.scores))
    assert isinstance(scored, labelled.Pairs)
    return against(scored.labelled, file.scored_by, file.cut, Context(rules=rule_set))


def against(read: Sequence[Labelled], name: str, cut: float, context: Context) -> Against:
    """Compare with a tool's scores at equal recall: folds and questions count as matches here, and
    the tool's scores are cut where it finds at least as many of the true pairs."""
    cases = [pair for pair in read if pair.score is not None and pair.same is not None]
    ours = [(_matched(pair, context), bool(pair.same)) for pair in cases]
    theirs = [(pair.score or 0.0, bool(pair.same)) for pair in cases]
    true = sum(same for _, same in ours)
    right = sum(matched and same for matched, same in ours)
    own = [same for score, same in theirs if score >= cut]
    equal = at_equal_recall(right, theirs)
    return Against(
        name,
        len(cases),
        Score.of(right, sum(matched for matched, _ in ours), true),
        equal.score if equal else None,
        equal.threshold if equal else None,
        cut,
        Score.of(sum(own), len(own), true),
    )


def _matched(pair: Labelled, context: Context) -> bool:
    left, right = (Name(name.spelling, name.type) for name in (pair.left, pair.right))
    return rule_on(left, right, context).verdict is not Verdict.APART


# ---- as tables ----


@dataclass(frozen=True, slots=True)
class Figures:
    """What of a rating stands in a row of the table, whether it is of pairs or of names."""

    size: str
    folds: int
    false_folds: int
    questions: int
    right_questions: int
    folded: Score
    answered: Score
    folded_b_cubed: Score | None
    answered_b_cubed: Score | None
    proposed: float | None


def figures(rated: Rated) -> Figures:
    """The figures of a rating."""
    if isinstance(rated, ClusterEvaluation):
        return Figures(
            f"{rated.names:,} names, {rated.pairs:,} pairs",
            rated.folds,
            rated.false_folds,
            rated.questions,
            rated.right_questions,
            rated.folded.pairwise,
            rated.answered.pairwise,
            rated.folded.b_cubed,
            rated.answered.b_cubed,
            rated.proposed,
        )
    folds, asked = (rated.verdicts[verdict] for verdict in (Verdict.FOLD, Verdict.ASK))
    return Figures(
        f"{rated.pairs:,} pairs",
        sum(folds.values()),
        rated.false_folds,
        rated.questions,
        asked.get("same", 0) + asked.get("ASK", 0) + asked.get("FOLD", 0),
        rated.scores["folded"],
        rated.scores["answered"],
        None,
        None,
        rated.proposed,
    )


def tables(runs: Sequence[RatedFile]) -> str:
    """The runs in Markdown: one row each, then what others reach."""
    parts = ["\n".join(_table(runs))]
    for one in runs:
        parts += ["\n".join(_peers(one))] if one.file.peers else []
        parts += ["\n".join(_equal(one, one.against))] if one.against else []
    return "\n\n".join(parts)


def names(runs: Sequence[RatedFile]) -> str:
    """The false folds of each run by name, in Markdown."""
    return "\n".join(line for one in runs for line in _false_folds(one))


def _table(runs: Sequence[RatedFile]) -> Iterator[str]:
    yield (
        "| set | size | folds | false folds | questions (right) | folds alone: P / R / F1 "
        "| right questions accepted: P / R / F1 | B³ F1: folds → accepted | found by the search |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for one in runs:
        row = figures(one.rated)
        right = share(row.right_questions, row.questions)
        yield (
            f"| {one.file.title} | {row.size} | {row.folds:,} | {row.false_folds:,} "
            f"| {row.questions:,} ({_per_cent(right)}) | {_score(row.folded)} "
            f"| {_score(row.answered)} | {_change(row)} | {_share(row.proposed)} |"
        )


def _change(row: Figures) -> str:
    if row.folded_b_cubed is None or row.answered_b_cubed is None:
        return "–"
    return f"{_share(row.folded_b_cubed.f1)} → {_share(row.answered_b_cubed.f1)}"


def _peers(one: RatedFile) -> Iterator[str]:
    row = figures(one.rated)
    yield f"**{one.file.title}**, beside others ({one.file.figures}):"
    yield ""
    yield "| | P | R | F1 | how it was run |"
    yield "|---|---|---|---|---|"
    asked = f"{row.questions:,} questions, the right ones accepted"
    yield f"| enfold, answered | {_cells(row.answered)} | the pass; {asked} |"
    yield f"| enfold, nobody asked | {_cells(row.folded)} | the pass, folds alone |"
    for peer in one.file.peers:
        score = Score(peer.precision, peer.recall, peer.f1)
        yield f"| {peer.name} | {_cells(score)} | {peer.how} |"


def _equal(one: RatedFile, peer: Against) -> Iterator[str]:
    yield (
        f"**{one.file.title}**, beside {peer.name} on the {peer.cases:,} pairs that have its score "
        f"({one.file.figures}). Folds and questions count as matches here:"
    )
    yield ""
    yield "| | P | R | F1 |"
    yield "|---|---|---|---|"
    yield f"| enfold | {_cells(peer.ours)} |"
    if peer.theirs is not None:
        cut = f"{peer.threshold:.3f}"
        yield f"| {peer.name}, cut at {cut}: equal recall | {_cells(peer.theirs)} |"
    yield f"| {peer.name}, cut at its own {peer.own_cut:.3f} | {_cells(peer.own)} |"


def _false_folds(one: RatedFile) -> Iterator[str]:
    same, otherwise = _by_name(one.rated)
    yield f"- **{one.file.title}**{'' if same or otherwise else ': none'}"
    yield from _listed("the very same text", same)
    yield from _listed("differing in case, blanks or punctuation", otherwise)


def _by_name(rated: Rated) -> tuple[list[str], list[str]]:
    """(names that are names of two things, pairs folded that are written otherwise)"""
    if isinstance(rated, ClusterEvaluation):
        wrong: Iterable[tuple[str, str]] = ((w.left, w.right) for w in rated.wrong_folds)
    else:
        wrong = ((w.left, w.right) for w in false_folds(rated))
    same: list[str] = []
    otherwise: list[str] = []
    for left, right in wrong:
        if left == right:
            same.append(f"`{_code(left)}`")
        else:
            otherwise.append(f"`{_code(left)}` and `{_code(right)}`")
    return sorted(dict.fromkeys(same)), sorted(dict.fromkeys(otherwise))


def false_folds(rated: Evaluation) -> list[Doubtful]:
    """The pairs folded that are two things."""
    return [
        Doubtful(w.left, w.right, (), (), w.rule, w.reason, w.left == w.right)
        for w in rated.wrong
        if w.verdict == Verdict.FOLD and w.expected in ("different", Verdict.APART)
    ]


def _listed(what: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"    - {what} ({len(names):,}): {', '.join(names)}"


def _code(name: str) -> str:
    """A name that can stand between grave accents."""
    return " ".join(name.replace("`", "'").split())


def _cells(score: Score) -> str:
    return " | ".join(_share(part) for part in (score.precision, score.recall, score.f1))


def _score(score: Score) -> str:
    return " / ".join(_share(part) for part in (score.precision, score.recall, score.f1))


def _share(part: float | None) -> str:
    return "–" if part is None else f"{part:.3f}"


def _per_cent(part: float | None) -> str:
    return "–" if part is None else f"{100 * part:.1f} %"
