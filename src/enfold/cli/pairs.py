"""The command that finds pairs among names that no graph, and no memory, holds: pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from enfold.cli import render
from enfold.cli.app import LOOK, Call, command
from enfold.cli.app import Engine as EngineOption
from enfold.cli.look import Rules, Types
from enfold.cli.render import text
from enfold.cli.terminal import Line, Terminal

if TYPE_CHECKING:
    from enfold.engines import FoundPairs

MOST_PARTITIONS = 65_536


def _after_interrupt(_: Call) -> str:
    return "Interrupted; run it again, and it goes on where it stopped."


@command(
    "pairs",
    LOOK,
    "enfold pairs names.parquet found",
    "enfold pairs s3://them/names s3://them/found --engine dask://10.0.0.5:8786",
    "enfold pairs names.csv found --engine local://4 --json",
    graph=False,
    note="Rows of one name are one; id is any whole number or text, and without it pairs are told "
    "by row, from 0. OUT gets pairs/*.parquet (left, right, left_name, right_name, verdict, rule, "
    "score) and report.json; of a FOLD the left name is the one that stays. A run that was cut "
    "off goes on where it stopped.",
    interrupted=_after_interrupt,
)
def pairs(
    call: Call,
    names: Annotated[
        str,
        typer.Argument(
            metavar="NAMES",
            help="Parquet, CSV or JSON lines with a column name, perhaps type and id; or a folder "
            "of them. A path or a URL.",
        ),
    ],
    out: Annotated[
        str,
        typer.Argument(
            metavar="OUT", help="A folder for what is found, which every worker sees; or a URL."
        ),
    ],
    engine: EngineOption = None,
    partitions: Annotated[
        int | None,
        typer.Option(
            "--partitions",
            metavar="N",
            min=1,
            max=MOST_PARTITIONS,
            help="Cut the names into so many parts; else one for every 100,000.",
        ),
    ] = None,
    rules: Rules = "default",
    trust_types: Types = False,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh", help="Delete the run that lies in OUT, and begin anew.", show_default=False
        ),
    ] = False,
) -> None:
    """Find what folds or is asked, among names of any number.

    It takes bounded memory, whatever the number of names, and writes to files what it has found so
    far."""
    from enfold.engines import find_pairs

    call.named_engine = engine
    chosen, workers = call.engine, call.workers  # the settings, which may bring rules of their own
    with call.terminal.progress() as progress:
        found = find_pairs(
            names,
            out,
            engine=chosen,
            workers=workers,
            partitions=partitions,
            rule_set=rules,
            types_trusted=trust_types,
            fresh=fresh,
            progress=progress,
        )
    if call.terminal.as_json:
        call.terminal.document(found)
    else:
        _show(call.terminal, found)


def _show(terminal: Terminal, found: FoundPairs) -> None:
    terminal.receipt(render.heading("Pairs", f"in {found.out}/pairs"))
    aside = sum(found.set_aside.values())
    rows = [
        ("rows", found.rows, "read"),
        ("set aside", aside, "rows without a name that can be compared"),
        ("names", found.names, "different ones"),
        ("candidates", found.candidates, "pairs of names judged"),
        ("folds", found.folds, "pairs that are one thing"),
        ("questions", found.questions, "pairs that are perhaps one thing"),
    ]
    render.figures(terminal, rows if aside else [rows[0], *rows[2:]])
    for reason, count in found.set_aside.items():
        terminal.line(text((f"set aside: {reason} ({count:,})", "dim")), indent=2)
    if found.ignored:
        names = ", ".join(found.ignored[:3])
        terminal.hint(
            text(f"Not read: {render.count(len(found.ignored), 'file')}, such as {names}")
        )
    if found.by_rule:
        terminal.line()
        terminal.line(render.heading("By rule"))
        terminal.lines(
            [Line([text((rule, "cyan")), text(f"{n:,}")]) for rule, n in found.by_rule.items()],
            right=(1,),
        )
