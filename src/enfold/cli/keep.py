"""Commands for what goes in and out, and for upkeep."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from enfold.cli import exits, render
from enfold.cli.app import KEEP, MOST, Call, Limit, command
from enfold.cli.look import All, Files, TrustIds, aside, taken
from enfold.cli.naming import Yes
from enfold.cli.render import text
from enfold.cli.terminal import Line, Terminal

if TYPE_CHECKING:
    from enfold.formats.target import Exported
    from enfold.graph import Graph
    from enfold.model import CheckReport, Imported, Run, SetAside, Summary

NAMES_SHOWN = 10

COPIED = {
    "entity": "names",
    "memory": "memories",
    "mention": "mentions",
    "fact": "relations",
    "merge": "folds",
    "conflict": "questions",
    "decision": "decisions",
}
"""What is told of a copy, by table."""


@command(
    "import",
    KEEP,
    "enfold import memory.jsonl",
    "enfold import entities.csv relations.csv --db work.db",
    "enfold import graphrag/output --trust-ids",
    note="All of the files are taken or none. Taking a file again makes nothing.",
)
def import_(call: Call, files: Files, trust_ids: TrustIds = False, everything: All = False) -> None:
    """Take graph files and folders in, of any format that is read.

    The format is told from the content. What can't be taken is set aside, line by line, with the
    reason."""
    from enfold import formats

    for path in files:  # so that a file of no use leaves no graph behind
        if path.is_dir() or path.is_file():  # what streams can be looked at but once
            formats.recognise(path)
    with _into(call) as graph, call.terminal.progress() as progress:
        done = graph.import_files(*files, trust_ids=trust_ids, progress=progress)
    terminal = call.terminal
    if terminal.as_json:
        terminal.document(done)
        return
    if not terminal.quiet:
        for one in done:
            _imported(terminal, one, everything)
    if done[0].run_id is None:  # a whole graph, as settled as it was
        render.next_steps(terminal, ("enfold status", "see what it holds and what waits"))
        return
    render.next_steps(terminal, ("enfold resolve", "fold and ask; --dry-run to look first"))


@contextmanager
def _into(call: Call) -> Iterator[Graph]:
    """The graph to import into; one that is new, and gets nothing, is not left behind."""
    path = Path(call.path)
    new, empty = not path.exists(), False
    try:
        with call.graph(write=True, create=True) as graph:
            try:
                yield graph
            except BaseException:
                held = graph.summary()
                empty = not held.entities and not held.memories
                raise
    except BaseException:
        for end in ("", "-wal", "-shm") if new and empty else ():
            path.with_name(path.name + end).unlink(missing_ok=True)
        raise


def _imported(terminal: Terminal, one: Imported, everything: bool) -> None:
    run = "" if one.run_id is None else f", run {one.run_id}"
    terminal.line(text(render.source(one), (run, "dim")))
    terminal.line(text(" · ".join(taken(one))), indent=2)
    how = f"--all, or enfold runs {one.run_id}"
    if one.minted:
        _minted(terminal, one.minted, everything)
    if one.notes:
        terminal.line(text(("Notes", "bold")), indent=2)
        shown = None if everything else 3
        render.set_aside(terminal, one.notes, shown)
        left = 0 if shown is None else len(one.notes) - shown
        if left > 0:
            terminal.line(text((f"… and {left:,} more ({how})", "dim")), indent=4)
    aside(terminal, one, everything, how)


def _minted(terminal: Terminal, minted: Sequence[str], everything: bool) -> None:
    shown = minted if everything else minted[:NAMES_SHOWN]
    names = Text(", ").join([render.name(one) for one in shown])
    left = len(minted) - len(shown)
    rest = f" and {left:,} more (--all)" if left else ""
    known = f"Named by relations alone ({len(minted):,}): "
    terminal.line(text((known, "bold"), names, (rest, "dim")), indent=2, hang=2)


@command(
    "export",
    KEEP,
    "enfold export > clean.jsonl",
    "enfold export --format csv --out clean.csv",
    "enfold export --format graphrag --out clean/",
    "enfold export --format enfold --out graph.enfold.jsonl",
    note="With --out the file or folder is there whole or not at all. With --json and no --out, "
    "the document holds the export as its text.",
)
def export(
    call: Call,
    format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="mcp, csv, graphml, jsonld, graphrag, neo4j or enfold (all of it).",
        ),
    ] = "mcp",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="PATH", help="Write to a file or folder; else to the output."
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write over what is there.", show_default=False)
    ] = False,
    sealed: Annotated[
        bool,
        typer.Option(
            "--sealed",
            help="With sealed memories; the file is a secret then. For enfold alone.",
            show_default=False,
        ),
    ] = False,
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            metavar="NAME",
            help="With what is sealed for that agent, unsealed; not for enfold.",
        ),
    ] = None,
) -> None:
    """Write the graph as it is settled, in any format that is written.

    Each thing stands there once, under its one name. In the format enfold all of the graph is
    written, with every fold and decision, and comes back as it was."""
    terminal = call.terminal
    with call.graph() as graph, terminal.progress() as progress:
        if out is not None:
            done = graph.export_to(
                out, format, force=force, sealed=sealed, agent=agent, progress=progress
            )
            if terminal.as_json:
                terminal.document(done)
            else:
                _exported(terminal, done)
        elif terminal.as_json:
            pieces = graph.export(format, sealed=sealed, agent=agent, progress=progress)
            terminal.document({"format": format, "text": "".join(pieces)})
        else:
            for piece in graph.export(format, sealed=sealed, agent=agent, progress=progress):
                terminal.raw(piece)
                if terminal.gone:
                    break


def _exported(terminal: Terminal, done: Exported) -> None:
    path = render.cut(done.path)
    if done.lines is not None:
        terminal.receipt(text(f"Wrote {render.count(done.lines, 'line')} to ", path, "."))
    elif done.files:
        terminal.receipt(text(f"Wrote {render.count(len(done.files), 'file')} to ", path, "."))
    else:
        terminal.receipt(text("Wrote ", path, "."))
    if done.kept:
        terminal.receipt(text("The folder that was there is kept: ", render.cut(done.kept), "."))


@command("status", KEEP, "enfold status", also="summary")
def status(call: Call) -> None:
    """Say what the graph holds and what waits."""
    with call.graph() as graph:
        found = graph.summary()
    if call.terminal.as_json:
        call.terminal.document(found)
    else:
        _summary(call.terminal, found)


def _summary(terminal: Terminal, found: Summary) -> None:
    terminal.line(text((found.url, "bold")))
    render.figures(
        terminal,
        [
            ("entities", found.entities, "things, each under one name"),
            ("aliases", found.aliases, "more spellings that lead to them"),
            ("memories", found.memories, "stored texts"),
            ("pending", found.pending, "questions in the queue"),
            ("deferred", found.deferred, "questions that wait for room"),
            ("unexamined", found.unexamined, "names that no pass has looked at"),
            *_waiting(found),
        ],
    )
    if found.unexamined:
        render.next_steps(terminal, ("enfold resolve", "look at what is new"))
    elif found.pending:
        render.next_steps(
            terminal,
            ("enfold conflicts", "see the questions"),
            ("enfold review", "answer them, card by card"),
        )
    elif found.names or found.contradictions:
        render.next_steps(terminal, ("enfold conflicts", "see the questions"))


def _waiting(found: Summary) -> list[tuple[str, int, str]]:
    """What waits besides, where anything does."""
    figures = [
        ("contradictions", found.contradictions, "questions about memories that contradict"),
        ("names", found.names, "questions about names that fit several entities"),
        ("unread", found.unread, "memories whose names were not looked for yet"),
    ]
    return [figure for figure in figures if figure[1]]


@command("check", KEEP, "enfold check", note="Exit code 1 where an invariant does not hold.")
def check(call: Call) -> int:
    """Check every invariant of the graph.

    The folds, the edges, the receipts, the keys and the file itself."""
    with call.graph() as graph, call.terminal.progress() as progress:
        found = graph.check(progress=progress)
    if call.terminal.as_json:
        call.terminal.document({"clean": found.clean, **_plain(found)})
    else:
        _checked(call.terminal, found)
    return exits.DONE if found.clean else exits.NO


def _plain(found: CheckReport) -> dict[str, object]:
    return {"checked": found.checked, "violations": found.violations}


def _checked(terminal: Terminal, found: CheckReport) -> None:
    if found.clean:
        terminal.line(
            text(("The graph is sound: ", "green"), f"{len(found.checked)} invariants hold.")
        )
        return
    terminal.line(text((f"{len(found.violations)} of {len(found.checked)} do not hold:", "red")))
    terminal.lines(
        [
            Line(
                [text((one.invariant, "bold"))],
                text(one.message, f" ({', '.join(map(str, one.ids))})" if one.ids else ""),
            )
            for one in found.violations
        ]
    )
    terminal.hint("A backup of before can be put back: enfold restore FILE.")


@command("backup", KEEP, "enfold backup", "enfold backup /mnt/safe/graph.db")
def backup(
    call: Call,
    target: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="Where to; else a folder beside the graph."),
    ] = None,
) -> None:
    """Copy the graph into one file, verified.

    Where the copy lies is printed."""
    with call.graph() as graph:
        path = graph.backup(target)
    if call.terminal.as_json:
        call.terminal.document({"backup": path})
    else:
        call.terminal.line(text(path))


@command(
    "restore",
    KEEP,
    "enfold restore enfold.db.backups/enfold-20260101T120000000000Z.db",
    note="What is replaced is backed up first, so that a restore can be taken back.",
)
def restore(
    call: Call,
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A backup.")],
    yes: Yes = False,
) -> None:
    """Put a backup in the graph's place, all of it at once."""
    from enfold.graph import open as open_graph

    # Looked at first, so that a file of no use leaves no graph behind.
    open_graph(source, create=False, read_only=True).close()
    with call.graph(write=True, create=True) as graph:
        call.confirm(f"Replace all that {call.path} holds by {source}?", yes=yes)
        kept = graph.restore(source)
    terminal = call.terminal
    if terminal.as_json:
        terminal.document({"restored": str(source), "replaced": kept})
        return
    terminal.receipt(text("Restored ", render.cut(str(source)), "."))
    if kept:
        terminal.receipt(text("What was there is kept in ", kept, "."), indent=2)


@command(
    "copy",
    KEEP,
    "enfold copy sqlite:memory.db 'postgresql://ada@db.example/memory'",
    "enfold copy 'postgresql://ada@db.example/memory?schema=work' copy.db",
    graph=False,
    note="Others may go on writing to the source; the copy is of one moment.",
)
def copy(
    call: Call,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The graph: a path or address.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Where there is no graph yet.")],
) -> None:
    """Copy a graph into a new one, whatever database either lies in.

    Every id, fold, decision and vector comes along; what was copied is checked and counted."""
    from enfold.graph.copies import copy as copied

    with call.terminal.progress() as progress:
        done = copied(source, target, workers=call.workers, progress=progress)
    terminal = call.terminal
    if terminal.as_json:
        terminal.document(done)
        return
    terminal.receipt(text("Copied ", done.source, " into ", done.target, "."))
    told = (f"{done.rows[table]:,} {word}" for table, word in COPIED.items())
    terminal.receipt(text(" · ".join(told)), indent=2)
    render.next_steps(terminal, (f"enfold status --db {shlex.quote(done.target)}", "what it holds"))


@command("runs", KEEP, "enfold runs", "enfold runs 3")
def runs(
    call: Call,
    run: Annotated[
        int | None,
        typer.Argument(
            metavar="ID", min=1, max=MOST, help="List in full what this import set aside."
        ),
    ] = None,
    limit: Limit = 20,
) -> None:
    """List passes and imports, newest first.

    With an id, all that this import noted and set aside, in full."""
    with call.graph() as graph:
        pieces = graph.set_aside(run) if run is not None else None
        found = graph.runs(limit=limit) if run is None else []
    terminal = call.terminal
    if terminal.as_json:
        terminal.document(found if pieces is None else pieces)
    elif pieces is not None:
        _pieces(terminal, pieces, run)
    elif not found:
        terminal.hint("Nothing was run yet.")
    else:
        terminal.lines([_run(one) for one in found], right=(0,), indent=0)


def _pieces(terminal: Terminal, pieces: Sequence[SetAside], run: int | None) -> None:
    if not pieces:
        terminal.hint(f"Nothing is kept with run {run}.")
    terminal.lines(
        [
            Line(
                [
                    text((f"{one.source}:{one.line}" if one.line else one.source, "bold")),
                    text(render.cut(one.reason)),
                ],
                render.sentence(one.text) if one.text else None,
            )
            for one in pieces
        ],
        indent=0,
    )


def _run(one: Run) -> Line:
    told = ", ".join(f"{key} {_figure(value)}" for key, value in _told(one))
    ended = "" if one.ended_at or one.error else "not ended"
    failed = f"failed: {one.error} " if one.error else ""
    backup = f"; backup {one.backup}" if one.backup else ""
    return Line(
        [
            text((str(one.id), "bold")),
            text(one.kind),
            text((render.day(one.started_at), "dim")),
        ],
        render.sentence(f"{failed}{ended}{told}{backup}"),
    )


def _told(one: Run) -> list[tuple[str, object]]:
    """What of a report is told in a line: a review's lists of ids are for ``--json``."""
    return [(k, v) for k, v in one.report.items() if v and not isinstance(v, list)]


def _figure(value: object) -> str:
    if isinstance(value, bool):
        return "yes"
    return f"{value:,}" if isinstance(value, int) else render.cut(str(value))
