"""Commands that carry what was settled elsewhere and back: decisions, vault."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from enfold.cli import exits, keep, render
from enfold.cli.app import KEEP, Call, command
from enfold.cli.look import All
from enfold.cli.naming import Yes
from enfold.cli.render import text
from enfold.cli.terminal import Line, Terminal, visible

if TYPE_CHECKING:
    from enfold.formats.obsidian.vault import LeftNote, SeveralNotes, VaultAliases, VaultUndone
    from enfold.model import Applied, NotApplied, SetAside

_ = keep  # whose commands the help lists first

SHOWN = 20
"""Notes, and lines of a decisions file, that are listed unasked."""


@command(
    "decisions",
    KEEP,
    "enfold decisions > decisions.txt",
    "enfold decisions --export decisions.csv --format csv",
    "enfold decisions --import decisions.txt --dry-run",
    actor=True,
    note="Without an option the text goes to the output. Taking a file in makes no entity and "
    "overrules no person; taking it in again does nothing. Exit code 1 where a line was refused, "
    "or could not be read.",
)
def decisions(
    call: Call,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="FILE", help="Write them to a file.")
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--import", metavar="FILE", help="Take them in from a file.")
    ] = None,
    layout: Annotated[
        str,
        typer.Option("--format", metavar="text|csv", help="How to write them."),
    ] = "text",
    force: Annotated[
        bool, typer.Option("--force", help="Write over the file.", show_default=False)
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say what --import would do.", show_default=False),
    ] = False,
    everything: All = False,
) -> int:
    """Write what people settled as text, one line each, or take it in.

    What is apart, what people folded, the spellings and the names to show that people declared: one
    line each, sorted by name."""
    if export is not None and source is not None:
        raise typer.BadParameter("Give --export or --import, not both.")
    if source is None:
        if dry_run:
            raise typer.BadParameter("--dry-run belongs to --import.")
        _export(call, export, layout, force)
        return exits.DONE
    with call.graph(write=True) as graph:
        done = graph.import_decisions(source, dry_run=dry_run)
    if call.terminal.as_json:
        call.terminal.document(done)
    else:
        _applied(call.terminal, done, everything)
    return exits.NO if done.refused or done.set_aside else exits.DONE


def _export(call: Call, out: Path | None, layout: str, force: bool) -> None:
    from enfold.outfile import must_be_free, whole

    terminal = call.terminal
    if out is not None:
        must_be_free(out, force, Path(call.path))
    with call.graph() as graph:
        lines = list(graph.export_decisions(layout))
    if out is not None:
        with whole(out) as file:
            file.writelines(lines)
        number = len(lines) - 1  # the first is the header
        if terminal.as_json:
            terminal.document({"format": layout, "path": str(out), "decisions": number})
        else:
            wrote = render.count(number, "decision")
            terminal.receipt(text(f"Wrote {wrote} to ", render.cut(str(out)), "."))
    elif terminal.as_json:
        terminal.document({"format": layout, "text": "".join(lines)})
    else:
        for line in lines:
            terminal.raw(line)
            if terminal.gone:
                break


def _applied(terminal: Terminal, done: Applied, everything: bool) -> None:
    would = "Would take" if done.dry_run else "Took"
    terminal.receipt(
        f"{would} {render.count(done.new, 'decision')}; {done.known:,} known already, "
        f"{len(done.refused):,} refused, {len(done.unknown):,} about unknown names."
    )
    if done.undone:
        folds = ", ".join(str(merge) for merge in done.undone)
        terminal.receipt(f"Taken back, for a person says apart: merge {folds}.")
    _not_applied(terminal, "Refused", done.refused, everything)
    _not_applied(terminal, "Unknown", done.unknown, everything)
    _unread(terminal, done.set_aside, everything)
    if done.new and not done.dry_run:
        render.next_steps(terminal, ("enfold resolve", "let the rules follow; --dry-run to look"))


def _not_applied(
    terminal: Terminal, title: str, lines: Sequence[NotApplied], everything: bool
) -> None:
    if not lines:
        return
    terminal.line(text((f"{title} ({len(lines):,})", "bold")))
    shown = lines if everything else lines[:SHOWN]
    terminal.lines(
        [
            Line(
                [
                    text((f"line {one.settled.line}", "dim")),
                    text(
                        f"{one.settled.kind} ",
                        render.quoted(one.settled.left),
                        " ",
                        render.quoted(one.settled.right),
                    ),
                ],
                render.sentence(one.reason),
            )
            for one in shown
        ]
    )
    render.more(terminal, len(lines) - len(shown), "--all")


def _unread(terminal: Terminal, pieces: Sequence[SetAside], everything: bool) -> None:
    if pieces:
        terminal.line(text((f"Not read ({len(pieces):,})", "bold")))
        render.set_aside(terminal, pieces, None if everything else SHOWN)
        render.more(terminal, 0 if everything else len(pieces) - SHOWN, "--all")


@command(
    "vault",
    KEEP,
    "enfold vault ~/Notes",
    "enfold vault ~/Notes --write",
    "enfold vault ~/Notes --undo",
    note="Only front matter is written, and in it only aliases; no note is made, moved or deleted. "
    "The notes of before are kept beside the graph, in PATH.vaults.",
)
def vault(
    call: Call,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of an Obsidian vault.")],
    write: Annotated[
        bool, typer.Option("--write", help="Write the aliases.", show_default=False)
    ] = False,
    undo: Annotated[
        bool,
        typer.Option("--undo", help="Put the notes of before back.", show_default=False),
    ] = False,
    yes: Yes = False,
    everything: All = False,
) -> int:
    """Say which notes lack which folded spellings, or write them.

    Nothing is written without --write. A second run changes nothing."""
    if write and undo:
        raise typer.BadParameter("Give --write or --undo, not both.")
    terminal = call.terminal
    with call.graph() as graph:
        if undo:
            call.confirm(f"Put the notes back that enfold changed in {folder}?", yes=yes)
            undone = graph.undo_vault(folder)
            terminal.document(undone) if terminal.as_json else _undone(terminal, undone, everything)
            return exits.DONE
        done = graph.write_vault(folder) if write else graph.vault(folder)
    if terminal.as_json:
        terminal.document(done)
    else:
        _written(terminal, done, str(folder), everything)
    return exits.DONE


def _written(terminal: Terminal, done: VaultAliases, folder: str, everything: bool) -> None:
    known = f"{render.count(done.notes, 'note')}, {done.known:,} of them known here"
    terminal.line(text((render.cut(folder), "bold"), (f"  {known}", "dim")))
    if not done.changes:
        terminal.line("No note lacks a spelling that was folded into it.", indent=2)
    shown = done.changes if everything else done.changes[:SHOWN]
    for change in shown:
        terminal.line(text((render.cut(change.note), "bold")), indent=2)
        if done.written:
            names = ", ".join(render.cut(name) for name in change.aliases)
            terminal.line(text(("now also: ", "dim"), names), indent=4)
            continue
        for line in change.diff:
            style = {"+": "green", "-": "red"}.get(line[:1], "dim")
            terminal.line(text((render.cut(line), style)), indent=4)
    render.more(terminal, len(done.changes) - len(shown), "--all")
    _left(terminal, done.left, everything)
    _several(terminal, done.several, everything)
    if done.written and done.kept:
        wrote = render.count(len(done.changes), "note")
        terminal.receipt(text(f"Wrote {wrote}. The notes of before are kept in ", done.kept, "."))
        undo = f"enfold vault {shlex.quote(visible(folder))} --undo"
        terminal.hint(text("To put them back: ", render.command(undo)))
    elif done.changes:
        write = f"enfold vault {shlex.quote(visible(folder))} --write"
        render.next_steps(terminal, (write, "write just this"))


def _left(terminal: Terminal, left: Sequence[LeftNote], everything: bool) -> None:
    if not left:
        return
    terminal.line(text((f"Left as they are ({len(left):,})", "bold")))
    shown = left if everything else left[:SHOWN]
    terminal.lines(
        [Line([text(render.cut(one.note))], render.sentence(one.reason)) for one in shown]
    )
    render.more(terminal, len(left) - len(shown), "--all")


def _several(terminal: Terminal, several: Sequence[SeveralNotes], everything: bool) -> None:
    if not several:
        return
    meaning = "one thing by their names; merging them is yours"
    terminal.line(render.heading(f"Several notes of one thing ({len(several):,})", meaning))
    shown = several if everything else several[:SHOWN]
    terminal.lines(
        [
            Line(
                [text(render.cut(one.note))],
                render.sentence(", ".join(render.cut(other) for other in one.others)),
            )
            for one in shown
        ]
    )
    render.more(terminal, len(several) - len(shown), "--all")


def _undone(terminal: Terminal, done: VaultUndone, everything: bool) -> None:
    terminal.receipt(f"Put {render.count(len(done.restored), 'note')} back.")
    _left(terminal, done.left, everything)
