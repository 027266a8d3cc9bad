"""The command that says how right the rules are: evaluate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from enfold.cli import exits, render
from enfold.cli.app import LOOK, Call, Limit, command
from enfold.cli.look import All, Rules
from enfold.cli.render import text
from enfold.cli.terminal import Line, Terminal
from enfold.model import Verdict

if TYPE_CHECKING:
    from enfold.accuracy import RatedFile
    from enfold.evaluate import ClusterEvaluation, Doubtful, Evaluation, Missed, Score, Wrong
    from enfold.rating import Rated


@command(
    "evaluate",
    LOOK,
    "enfold evaluate pairs.tsv",
    "enfold evaluate clusters.csv --all",
    "enfold evaluate pairs.tsv --strict --json",
    "enfold evaluate --suite",
    graph=False,
    note="A file is a TSV or CSV table. Pairs: the columns left, right and verdict (FOLD, ASK or "
    "APART), or name1, name2 and label (1 or 0); types in left_type and right_type. Names with "
    "their things: the columns name and entity_id (or mention, cluster, thing …), and type. Exit "
    "code 0, whatever the figures; with --strict it is 1 where a verdict is wrong or a pass folds "
    "two things.",
)
def evaluate(
    call: Call,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Labelled pairs, or names with what each is of."),
    ] = None,
    suite: Annotated[
        bool,
        typer.Option("--suite", help="Go through the labelled sets that come with enfold."),
    ] = False,
    suite_path: Annotated[
        list[Path] | None,
        typer.Option("--suite-path", metavar="FOLDER", help="Go through the sets in this folder."),
    ] = None,
    rules: Rules = "default",
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit 1 if a verdict is wrong.", show_default=False),
    ] = False,
    limit: Limit = 20,
    everything: All = False,
) -> int:
    """Say how right the rules are on labelled names.

    Labelled pairs are ruled each on its own; every verdict is counted against its label, for each
    rule. Names with the thing each is of are put through a pass, as resolve runs it. What is wrong
    is listed by name, false folds first."""
    from enfold import accuracy
    from enfold.graph import evaluate as hold_to

    given, folders = list(files or ()), list(suite_path or ())
    if bool(given) == bool(suite or folders):
        raise typer.BadParameter("Name files of labels, or give --suite or --suite-path.")
    workers = call.workers  # the settings, which may bring rules of their own
    with call.terminal.progress() as progress:
        options: dict[str, Any] = {"rule_set": rules, "workers": workers, "progress": progress}
        runs = list(accuracy.run(folders, shipped=suite, **options)) if not given else []
        rated = [run.rated for run in runs] or [hold_to(path, **options) for path in given]
    if call.terminal.as_json:
        call.terminal.document(runs or (rated[0] if len(rated) == 1 else rated))
    elif runs:
        _table(call.terminal, runs)
    else:
        _each(call.terminal, given, rated, None if everything else limit)
    return exits.NO if strict and any(map(_wrong, rated)) else exits.DONE


def _wrong(rated: Rated) -> bool:
    """Whether a verdict is wrong, or a pass folded two things that it could have told apart."""
    from enfold.evaluate import Evaluation

    if isinstance(rated, Evaluation):
        return bool(rated.wrong)
    return any(not fold.same_string for fold in rated.wrong_folds)


def _each(
    terminal: Terminal, files: Sequence[Path], rated: Sequence[Rated], limit: int | None
) -> None:
    from enfold.evaluate import Evaluation

    for number, (path, one) in enumerate(zip(files, rated, strict=True)):
        if len(files) > 1:
            if number:
                terminal.line()
            terminal.line(text((str(path), "bold")))
        if isinstance(one, Evaluation):
            _pairs(terminal, one, limit)
        else:
            _clusters(terminal, one, limit)


# ---- pairs ----


def _pairs(terminal: Terminal, found: Evaluation, limit: int | None) -> None:
    if not found.pairs:
        terminal.line("The file has no pairs: there is nothing to evaluate.")
        return
    share = f"{100 * found.right / found.pairs:.1f}%"
    terminal.line(
        text((f"{found.right:,} of {render.count(found.pairs, 'pair')} right ({share})", "bold"))
    )
    render.figures(
        terminal,
        [
            ("false folds", found.false_folds, "folded, and two things"),
            ("questions", found.questions, "asked"),
            ("missed", found.missed, "one thing, and neither folded nor asked"),
        ],
    )
    if found.true:
        _scores(
            terminal,
            f"of pairs that are one thing ({found.true:,}) and those that are two",
            [(_MEANT[name], score) for name, score in found.scores.items()],
        )
    _found(terminal, found.proposed)
    expected = sorted({label for counts in found.verdicts.values() for label in counts})
    terminal.line()
    terminal.line(render.heading("Verdicts", "down: as ruled; across: as labelled"))
    _matrix(terminal, found.verdicts, expected)
    terminal.line()
    terminal.line(render.heading("Rules", "which decided; across: as labelled"))
    _matrix(terminal, found.rules, expected)
    _kinds(terminal, found.missed_kinds)
    if found.wrong:
        _wrong_verdicts(terminal, found.wrong, limit)


_MEANT = {
    "folded": "folds alone",
    "asked": "questions alone",
    "answered": "folds, and right questions accepted",
    "accepted": "folds, and all questions accepted",
}


def _scores(terminal: Terminal, of: str, rows: Iterable[tuple[str, Score]]) -> None:
    terminal.line()
    terminal.line(render.heading("Scores", of))
    head = Line([text(""), *(text((word, "dim")) for word in ("precision", "recall", "F1"))])
    lines = [
        Line([text(label), *map(_share, (score.precision, score.recall, score.f1))])
        for label, score in rows
    ]
    terminal.lines([head, *lines], right=(1, 2, 3))


def _share(part: float | None) -> Text:
    return text("–" if part is None else f"{part:.3f}")


def _found(terminal: Terminal, proposed: float | None) -> None:
    if proposed is not None:
        terminal.line(
            f"The search for pairs finds {100 * proposed:.1f}% of the pairs that are one thing.",
            indent=2,
        )


def _matrix(
    terminal: Terminal, counts: Mapping[str, Mapping[str, int]], expected: Sequence[str]
) -> None:
    head = Line([text(""), *(text((label, "dim")) for label in expected)])
    rows = [
        Line([text(kind), *(text(f"{row.get(label, 0):,}") for label in expected)])
        for kind, row in counts.items()
    ]
    terminal.lines([head, *rows], right=range(1, len(expected) + 1))


def _kinds(terminal: Terminal, kinds: Mapping[str, int]) -> None:
    if kinds:
        terminal.line()
        terminal.line(render.heading("Missed", "one thing, and neither folded nor asked"))
        rows = [Line([text(kind), text(f"{count:,}")]) for kind, count in kinds.items()]
        terminal.lines(rows, right=(1,))


def _wrong_verdicts(terminal: Terminal, wrong: Sequence[Wrong], limit: int | None) -> None:
    # False folds before all others: they are what can't be taken lightly.
    ranked = sorted(wrong, key=lambda w: w.verdict != Verdict.FOLD)
    terminal.line()
    terminal.line(render.heading(f"Wrong ({len(ranked):,})", "false folds first"))
    terminal.lines(
        Line(
            [
                _names(w.left, Verdict(w.verdict), w.right),
                text((w.verdict, render.STYLES[Verdict(w.verdict)]), f" for {w.expected}"),
                text((w.rule, "cyan")),
            ],
            render.sentence(w.reason),
        )
        for w in ranked[:limit]
    )
    render.more(terminal, len(ranked) - len(ranked[:limit]), "--limit N, or --all")


def _names(left: str, verdict: Verdict, right: str) -> Text:
    return text(render.name(left), " ", render.MARKS[verdict], " ", render.name(right))


# ---- names with their things ----


def _clusters(terminal: Terminal, found: ClusterEvaluation, limit: int | None) -> None:
    if not found.names:
        terminal.line("The file has no names: there is nothing to evaluate.")
        return
    of = f"{render.count(found.things, 'thing')}, {found.spellings:,} different names"
    terminal.line(text((f"{render.count(found.names, 'name')} of {of}", "bold")))
    render.figures(
        terminal,
        [
            ("folds", found.folds, "made without asking"),
            ("false folds", found.false_folds, "of two things, or one name of several"),
            ("questions", found.questions, _asked(found)),
            ("right", found.right_questions, "questions that a person would answer yes"),
            ("answers", found.yes + found.no, f"to give: {found.yes:,} yes, {found.no:,} no"),
        ],
    )
    stages = [
        ("folds alone", found.folded),
        ("right questions accepted", found.answered),
        ("all questions accepted", found.accepted),
    ]
    rows = [("questions alone", found.asked)]
    rows += [(label, stage.pairwise) for label, stage in stages]
    rows += [(f"B-cubed: {label}", stage.b_cubed) for label, stage in stages]
    _scores(terminal, f"of {render.count(found.pairs, 'pair')} of names of one thing", rows)
    _found(terminal, found.proposed)
    _rules(terminal, found)
    _kinds(terminal, found.missed_kinds)
    if found.missed_unsorted:
        terminal.line(f"and {found.missed_unsorted:,} more, not looked at one by one", indent=2)
    _doubtful(terminal, "False folds", Verdict.FOLD, found.wrong_folds, limit)
    _doubtful(terminal, "Wrong questions", Verdict.ASK, found.wrong_questions, limit)
    _missed(terminal, found.missed, limit)


def _asked(found: ClusterEvaluation) -> str:
    each = "" if found.per_duplicate is None else f", {found.per_duplicate:g} for each duplicate"
    return f"asked: {found.per_thousand:,.0f} for 1,000 names{each} that they settle"


def _rules(terminal: Terminal, found: ClusterEvaluation) -> None:
    terminal.line()
    terminal.line(render.heading("Rules", "what each folded or asked"))
    words = ("said", "right", "precision", "recall", "F1")
    head = Line([text(""), *(text((word, "dim")) for word in words)])
    rows = [
        Line(
            [
                text(rule),
                text(f"{one.said:,}"),
                text(f"{one.right:,}"),
                *map(_share, (one.score.precision, one.score.recall, one.score.f1)),
            ]
        )
        for rule, one in found.rules.items()
    ]
    terminal.lines([head, *rows], right=range(1, len(words) + 1))


def _doubtful(
    terminal: Terminal,
    title: str,
    verdict: Verdict,
    found: Sequence[Doubtful],
    limit: int | None,
) -> None:
    if not found:
        return
    # What a rule could have told apart before what no rule can.
    ranked = sorted(found, key=lambda one: one.same_string)
    terminal.line()
    terminal.line(render.heading(f"{title} ({len(found):,})", "two things"))
    terminal.lines(
        Line([_names(w.left, verdict, w.right), text((w.rule, "cyan"))], render.sentence(w.reason))
        for w in ranked[:limit]
    )
    render.more(terminal, len(ranked) - len(ranked[:limit]), "--limit N, or --all")


def _missed(terminal: Terminal, missed: Sequence[Missed], limit: int | None) -> None:
    if missed:
        terminal.line()
        terminal.line(render.heading(f"Missed pairs ({len(missed):,})", "one thing"))
        terminal.lines(
            Line([_names(m.left, Verdict.APART, m.right), text((m.kind, "dim"))])
            for m in missed[:limit]
        )
        render.more(terminal, len(missed) - len(missed[:limit]), "--limit N, or --all")


# ---- the suite ----


def _table(terminal: Terminal, runs: Sequence[RatedFile]) -> None:
    from enfold.accuracy import figures

    words = ("folds", "false", "asked", "right", "P", "R", "→ P", "R", "F1")
    terminal.line(render.heading("Sets", "folds alone, then with every right question accepted"))
    head = Line([text(""), *(text((word, "dim")) for word in words)])
    rows = []
    for run in runs:
        row = figures(run.rated)
        right = f"{100 * row.right_questions / row.questions:.0f}%" if row.questions else "–"
        rows.append(
            Line(
                [
                    text(run.file.title),
                    *map(text, (f"{row.folds:,}", f"{row.false_folds:,}", f"{row.questions:,}")),
                    text(right),
                    *map(_share, (row.folded.precision, row.folded.recall)),
                    *map(_share, (row.answered.precision, row.answered.recall, row.answered.f1)),
                ]
            )
        )
    terminal.lines([head, *rows], right=range(1, len(words) + 1))
    for run in runs:
        if run.against is not None and run.against.theirs is not None:
            one = run.against
            terminal.line()
            terminal.line(
                f"{run.file.title}: at equal recall enfold is right in "
                f"{_plain(one.ours.precision)} of what it folds or asks, {one.name} in "
                f"{_plain(one.theirs.precision if one.theirs else None)} of its matches."
            )


def _plain(part: float | None) -> str:
    return "–" if part is None else f"{100 * part:.1f}%"
