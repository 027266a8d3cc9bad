"""Commands that look at files and names, and touch nothing: scan, explain."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from enfold.cli import render
from enfold.cli.app import LOOK, MOST, Call, Engine, Limit, command
from enfold.cli.render import text
from enfold.cli.terminal import Line, Terminal, visible
from enfold.model import Imported, Verdict

if TYPE_CHECKING:
    from enfold.explain import Explained, Step
    from enfold.model import Scan, Shown

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        help="Files or folders of any format that is read, in any mixture; - is the input.",
    ),
]
TrustIds = Annotated[
    bool,
    typer.Option(
        "--trust-ids",
        help="Two of one name with different ids stay two.",
        show_default=False,
    ),
]
Rules = Annotated[
    str,
    typer.Option(
        "--rules",
        metavar="default|strict|NAME",
        help="The rules to go by; NAME is one that the setting rules_module registers.",
    ),
]
Types = Annotated[
    bool,
    typer.Option(
        "--trust-types/--no-trust-types", help="Ask instead of folding where types disagree."
    ),
]
All = Annotated[bool, typer.Option("--all", help="Show everything.", show_default=False)]

ASIDE_SHOWN = 5
"""Pieces set aside that are shown unasked."""


@command(
    "scan",
    LOOK,
    "enfold scan memory.jsonl",
    "enfold scan entities.csv relations.csv --limit 50",
    graph=False,
)
def scan(
    call: Call,
    files: Files,
    rules: Rules = "default",
    trust_types: Types = False,
    trust_ids: TrustIds = False,
    engine: Engine = None,
    limit: Limit = 10,
    everything: All = False,
) -> None:
    """Say what would fold in a file, what would be asked, and why.

    Nothing is written. Names that look alike but are kept apart are listed too, each with the rule
    and the reason."""
    from enfold.graph import scan as read_and_preview

    most = MOST if everything else limit
    call.named_engine = engine
    with call.terminal.progress() as progress:
        found = read_and_preview(
            *files,
            types_trusted=trust_types,
            trust_ids=trust_ids,
            rule_set=rules,
            limit=most,
            workers=call.workers,
            engine=call.engine,
            progress=progress,
        )
    if call.terminal.as_json:
        call.terminal.document(found)
    else:
        _scanned(call.terminal, found, files, everything)


def _scanned(terminal: Terminal, found: Scan, files: Sequence[Path], everything: bool) -> None:
    for one in found.imported:
        _read(terminal, one, everything)
    report = found.report
    asked = report.queued + report.deferred
    _section(
        terminal,
        "Would fold",
        report.merged,
        found.folds,
        "one thing under several spellings, folded without asking",
    )
    _section(
        terminal,
        "Would ask",
        asked,
        found.questions,
        "perhaps one thing: a person decides",
    )
    if report.deferred:
        full = f"{report.queued:,} at once; {report.deferred:,} wait until there is room."
        terminal.line(text((full, "dim")), indent=2)
    _section(
        terminal,
        "Kept apart",
        found.apart_count,
        found.apart,
        "they look alike, and a rule says that they are different things",
    )
    if not report.merged and not asked:
        terminal.line()
        terminal.line(
            f"There is nothing to settle: by these rules no two of the "
            f"{render.count(found.entities, 'name')} look like one thing. That proves nothing "
            "about names which share no letters."
        )
        return
    given = " ".join(shlex.quote(visible(str(path))) for path in files)
    render.next_steps(
        terminal,
        (f"enfold import {given}", "take it into a graph: ./enfold.db, or --db PATH"),
        ("enfold resolve", "fold and ask; every fold can be reverted"),
    )


def _read(terminal: Terminal, one: Imported, everything: bool) -> None:
    terminal.line(render.source(one))
    terminal.line(text(" · ".join(taken(one))), indent=2)
    aside(terminal, one, everything, "--all lists them, --json has all of their text")


def taken(one: Imported) -> list[str]:
    """What was taken of a source, in words."""
    parts = [
        render.count(one.entities, "entity", "entities"),
        render.count(one.memories, "memory", "memories"),
        render.count(one.mentions, "mention"),
        render.count(one.facts, "relation"),
    ]
    parts += [render.count(one.aliases, "alias", "aliases")] * bool(one.aliases)
    parts += [render.count(one.folds, "fold")] * bool(one.folds)
    parts += [f"{one.apart:,} settled apart"] * bool(one.apart)
    parts += [render.count(one.senses, "namesake")] * bool(one.senses)
    parts += [f"{one.known:,} known already"] * bool(one.known)
    parts.append(f"{len(one.set_aside):,} set aside" if one.set_aside else "nothing set aside")
    return parts


def aside(terminal: Terminal, one: Imported, everything: bool, how: str) -> None:
    """What of a source was not taken, and why."""
    if one.set_aside:
        terminal.line(text(("Set aside", "bold red")), indent=2)
        shown = None if everything else ASIDE_SHOWN
        render.set_aside(terminal, one.set_aside, shown)
        left = 0 if shown is None else len(one.set_aside) - shown
        if left > 0:
            terminal.line(text((f"… and {left:,} more ({how})", "dim")), indent=4)


def _section(
    terminal: Terminal, title: str, total: int, shown: Sequence[Shown], meaning: str
) -> None:
    terminal.line()
    terminal.line(render.heading(f"{title} ({total:,})", meaning))
    terminal.lines(proposals(shown))
    render.more(terminal, total - len(shown), "--limit N, or --all")


def proposals(shown: Sequence[Shown]) -> list[Line]:
    """Proposals, each with its two names, its rule and its reason."""
    return [
        Line(
            [render.pair(p.left, p.left_type, p.right, p.right_type, p.verdict)],
            render.sentence(p.reason),
            text((p.rule, "cyan")),
        )
        for p in shown
    ]


@command(
    "explain",
    LOOK,
    'enfold explain "GPT-4" "GPT-4o"',
    'enfold explain "J. Li" "Jane Li" --left-type person --right-type person',
    note="It works without a graph, on the names alone; with one it also says where the graph "
    "stands on the two.",
)
def explain(
    call: Call,
    left: Annotated[str, typer.Argument(metavar="A", help="A name.")],
    right: Annotated[str, typer.Argument(metavar="B", help="Another name.")],
    left_type: Annotated[
        str | None, typer.Option("--left-type", metavar="TYPE", help="A's type; else the graph's.")
    ] = None,
    right_type: Annotated[
        str | None, typer.Option("--right-type", metavar="TYPE", help="B's type; else the graph's.")
    ] = None,
) -> None:
    """Say why two names get the ruling they get, rule by rule.

    Where there is a graph, it also says whether that has them as one thing, apart, or in
    question."""
    with call.graph_if_any() as graph:
        found = graph.explain(left, right, left_type=left_type, right_type=right_type)
    if call.terminal.as_json:
        call.terminal.document(found)
    else:
        _explained(call.terminal, found)


def _explained(terminal: Terminal, found: Explained) -> None:
    ruling = found.ruling
    verdict = (ruling.verdict.value, f"bold {render.STYLES[ruling.verdict]}")
    score = f", score {ruling.score:.2f}" if ruling.verdict is Verdict.ASK else ""
    terminal.line(
        text(
            render.typed(found.left.spelling, found.left.type),
            " and ",
            render.typed(found.right.spelling, found.right.type),
            ": ",
            verdict,
            f" by {ruling.rule}{score}" if ruling.rule != "none" else ", no rule speaks",
        )
    )
    terminal.line(render.sentence(ruling.reason), indent=2)
    terminal.line()
    terminal.line(render.heading("Rules", "in order; the first that speaks decides"))
    terminal.lines([_step(step) for step in found.steps])
    terminal.line()
    terminal.line(render.heading("In the graph"))
    for line in _standing(found):
        terminal.line(line, indent=2)


def _step(step: Step) -> Line:
    mark = ("✓", "bold green") if step.decides else ("·" if step.verdict else "–", "dim")
    said = step.verdict.value if step.verdict else "silent"
    style = render.STYLES[step.verdict] if step.verdict else "dim"
    return Line(
        [text(mark), text((step.rule, "cyan" if step.verdict else "dim")), text((said, style))],
        render.sentence(step.reason or step.sees) if step.reason else None,
    )


def _standing(found: Explained) -> list[Text]:
    lines = [
        text(render.quoted(asked.spelling), ": ", render.entity(row) if row else "not known")
        for asked, row in ((found.left, found.left_entity), (found.right, found.right_entity))
    ]
    if found.one:
        folds = [text("merge ", str(m.id), " of ", render.merge(m)) for m in found.merges]
        lines.append(text("They are one entity: ", _joined(folds) if folds else "one name", "."))
    for decision in found.apart:
        who = decision.actor or str(decision.decided_by)
        lines.append(
            text(f"They are settled apart by decision {decision.id} ({who}): ", decision.why)
        )
    if found.question:
        lines.append(text(f"Question {found.question.id} asks about them: enfold conflicts"))
    return lines


def _joined(parts: Sequence[Text]) -> Text:
    return Text(", ").join(parts)
