"""The command that settles a large graph: cards at a terminal, a sheet, or JSON."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from enfold.cli import exits, render
from enfold.cli.app import SETTLE, Call, command
from enfold.cli.render import text
from enfold.cli.settle import Known
from enfold.cli.terminal import Line, Terminal
from enfold.errors import Refused
from enfold.outfile import must_be_free, whole

if TYPE_CHECKING:
    from enfold.answers import Returned, Undone
    from enfold.graph import Graph

SHEET_CARDS = 1_000
PAGE_CARDS = 20
LISTED = 20


class _Asked(TypedDict):
    """Which questions, and in what shape."""

    around: str | None
    rule: str | None
    type: str | None
    lists: bool


def _interrupted(_: Call) -> str:
    return "Interrupted; what was answered before is kept."


@command(
    "review",
    SETTLE,
    "enfold review",
    'enfold review "Ada Lovelace"',
    "enfold review --rule person --json --limit 5",
    "enfold review --export questions.csv",
    "enfold review --import questions.csv --dry-run",
    "enfold review --undo 2",
    actor=True,
    note="At a terminal ? lists the keys. Every answer is kept as it is given, and can be taken "
    "back in any later session. Without a terminal: --export and --import, or --json.",
    interrupted=_interrupted,
)
def review(
    call: Call,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help=f"Only questions about one. {Known}")
    ] = None,
    rule: Annotated[
        str | None, typer.Option("--rule", metavar="RULE", help="Only questions of this rule.")
    ] = None,
    type: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPE", help="Only questions with a side of this type."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            "-n",
            metavar="N",
            min=1,
            max=1_000_000,
            help="How many cards: 20 with --json, 1,000 with --export.",
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option("--export", metavar="FILE", help="Write the questions as a CSV sheet."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write over the sheet.", show_default=False)
    ] = False,
    import_: Annotated[
        Path | None,
        typer.Option("--import", metavar="FILE", help="Take the answers of a sheet."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="With --import: say what would be done.", show_default=False
        ),
    ] = False,
    undo: Annotated[
        int,
        typer.Option(
            "--undo", metavar="N", min=1, max=1_000, help="Take your N latest answers back."
        ),
    ] = 0,
    no_lists: Annotated[
        bool,
        typer.Option(
            "--no-lists", help="A card for each single pair, no lists.", show_default=False
        ),
    ] = False,
) -> int | None:
    """Settle the open questions, card by card.

    Questions that share an entity are one card, single pairs are a list. One key
    answers either; the queue of 50 is no bound."""
    asked: _Asked = {"around": name, "rule": rule, "type": type, "lists": not no_lists}
    if sum(map(bool, (export, import_, undo))) > 1:
        raise typer.BadParameter("Give one of --export, --import and --undo.")
    if dry_run and import_ is None:
        raise typer.BadParameter("--dry-run goes with --import.")
    if undo:
        return _undo(call, undo)
    if import_ is not None:
        return _import(call, import_, dry_run=dry_run)
    if export is not None:
        return _export(call, export, limit or SHEET_CARDS, force=force, asked=asked)
    if call.terminal.as_json:
        return _page(call, limit or PAGE_CARDS, asked)
    _must_be_a_terminal()
    return _session(call, asked)


def _must_be_a_terminal() -> None:
    if not (sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refused(
            "no_terminal",
            "Nobody can be asked here: this is no terminal. Write a sheet with --export FILE and "
            "take it back with --import FILE, or read the cards with --json.",
        )


def _session(call: Call, asked: _Asked) -> int | None:
    from enfold.cli.keys import Keys
    from enfold.cli.session import Session

    def terminal() -> Terminal:
        return Terminal(quiet=call.terminal.quiet, color=call.terminal.color)

    with call.graph(write=True) as graph:
        Session(graph, terminal, Keys(), **asked).run()
    return None


def _page(call: Call, limit: int, asked: _Asked) -> int | None:
    with call.graph() as graph:
        pairs, cards = graph.count_cards(**asked)
        found = graph.deal(limit=limit, **asked)
    call.terminal.document({"open": pairs, "cards": cards, "page": found})
    return None


def _export(call: Call, out: Path, limit: int, *, force: bool, asked: _Asked) -> int | None:
    must_be_free(out, force, Path(call.path))
    with call.graph() as graph:
        rows = -1  # the header is none
        with whole(out) as stream:
            for line in graph.questions(limit=limit, **asked):
                stream.write(line)
                rows += 1
        pairs, _ = graph.count_cards(**asked)
    if call.terminal.as_json:
        call.terminal.document({"file": str(out), "questions": rows, "open": pairs})
        return None
    call.terminal.receipt(f"Wrote {render.count(rows, 'question')} of {pairs:,} to {out}.")
    call.terminal.hint("Write same or apart under “answer”; under “keep” left or right, if you")
    call.terminal.hint(text("like. Then: ", render.command(f"enfold review --import {out}")))
    return None


def _import(call: Call, path: Path, *, dry_run: bool) -> int | None:
    with call.graph(write=True) as graph:
        done = graph.answer_sheet(path, dry_run=dry_run)
    wrong = [one for one in done.told if one.outcome in ("refused", "unreadable")]
    if call.terminal.as_json:
        call.terminal.document(done)
    else:
        _returned(call.terminal, done, dry_run)
    return exits.NO if wrong else None


def _returned(terminal: Terminal, done: Returned, dry_run: bool) -> None:
    of = {
        outcome: [one for one in done.told if one.outcome == outcome]
        for outcome in ("done", "settled", "refused", "unreadable")
    }
    meanings = {
        "done": "folded or settled apart" if not dry_run else "would be folded or settled apart",
        "settled": "were so already",
        "refused": "the graph says otherwise, or the sheet contradicts itself",
        "unreadable": "no answer that can be understood",
    }
    title = "Dry run" if dry_run else "Answers"
    meaning = "nothing was changed" if dry_run else ""
    terminal.receipt(render.heading(title, meaning))
    figures = [(outcome, len(of[outcome]), meanings[outcome]) for outcome in of]
    render.figures(terminal, [*figures, ("unanswered", done.unanswered, "rows left empty")])
    wrong = [*of["refused"], *of["unreadable"]]
    if wrong:
        terminal.line()
        terminal.lines(
            [
                Line(
                    [text((f"line {one.line}", "bold")), text((one.outcome, "yellow"))],
                    render.sentence(one.why),
                )
                for one in wrong[:LISTED]
            ]
        )
        render.more(terminal, len(wrong) - LISTED, "--json lists every row")
    if done.answered is not None:
        terminal.hint(text("To take it back: ", render.command("enfold review --undo 1")))


def _undo(call: Call, steps: int) -> int | None:
    from enfold.cli.session import taken_back

    with call.graph(write=True) as graph:
        undone = _steps(graph, steps)
    if call.terminal.as_json:
        call.terminal.document(undone)
        return None
    for one in undone:
        call.terminal.receipt(taken_back(one))
    return None


def _steps(graph: Graph, steps: int) -> list[Undone]:
    from enfold.errors import NotFound

    undone: list[Undone] = []
    for _ in range(steps):
        try:
            undone.append(graph.undo_answer())
        except NotFound:
            if not undone:
                raise
            break
    return undone
