"""The command that says whether recall finds what it should: gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from enfold.cli import exits, render
from enfold.cli.app import MEMORY, Call, Limit, command
from enfold.cli.look import All
from enfold.cli.render import text
from enfold.cli.terminal import Line, Terminal

if TYPE_CHECKING:
    from enfold.gate import Asked, Gated


@command(
    "gate",
    MEMORY,
    "enfold gate questions.jsonl",
    "enfold gate questions.jsonl --floor recall@5=0.8 --floor mrr=0.6",
    "enfold gate locomo10.json --k 5,20 --json",
    note="A line of QUESTIONS is an object with a question and its evidence, a list of your own "
    "ids of memories or of theirs; and agent, who asks. A document with such objects in lists "
    "named qa is read too, as LoCoMo has it. Exit code 1 where a figure is below its floor.",
)
def gate(
    call: Call,
    questions: Annotated[
        str,
        typer.Argument(metavar="QUESTIONS", help="A file of questions; - for the input."),
    ],
    depths: Annotated[
        str,
        typer.Option("--k", metavar="K,K", help="On how many first results to measure recall."),
    ] = "1,5,10",
    floor: Annotated[
        list[str] | None,
        typer.Option(
            "--floor",
            metavar="FIGURE=SHARE",
            help="The least that recall@K or mrr may be, from 0 to 1.",
            show_default=False,
        ),
    ] = None,
    limit: Limit = 20,
    everything: All = False,
) -> int:
    """Measure whether recall finds the memories that answer questions.

    Each question is recalled, and the places of its evidence are counted. The digest tells whether
    two runs returned the same memories in the same order: before and after upkeep, say."""
    floors = dict(_floor(one) for one in floor or ())
    wanted = _depths(depths, floors)
    with call.graph() as graph, call.terminal.progress() as progress:
        found = graph.gate(
            questions,
            depths=wanted,
            agent=call.asking(None),
            weights=call.weights,
            progress=progress,
        )
    below = found.below(floors)
    if call.terminal.as_json:
        from enfold.graph import as_json

        call.terminal.document({**as_json(found), "floors": floors, "below": sorted(below)})
    else:
        _tell(call.terminal, found, floors, below)
        _questions(call.terminal, found.asked, None if everything else limit)
    return exits.NO if below else exits.DONE


def _floor(said: str) -> tuple[str, float]:
    from enfold.gate import depth_of

    figure, _, share = said.partition("=")
    figure = figure.strip().casefold()
    try:
        depth_of(figure)
        least = float(share)
    except ValueError as error:
        why = str(error) if share else "a floor is written as recall@5=0.8"
        raise typer.BadParameter(f"{said!r}: {why}") from None
    if not 0 <= least <= 1:
        raise typer.BadParameter(f"{said!r}: a floor is a share from 0 to 1.")
    return figure, least


def _depths(said: str, floors: Mapping[str, float]) -> list[int]:
    """The depths that were asked for, and those that a floor needs."""
    from enfold.gate import DEEPEST, depth_of

    try:
        depths = {int(one) for one in said.split(",")}
    except ValueError:
        raise typer.BadParameter(f"--k {said!r} is no list of numbers, as 1,5,10.") from None
    depths |= {depth for figure in floors if (depth := depth_of(figure)) is not None}
    if not 1 <= min(depths) <= max(depths) <= DEEPEST:
        raise typer.BadParameter(f"K is from 1 to {DEEPEST:,}.")
    return sorted(depths)


def _tell(
    terminal: Terminal, found: Gated, floors: Mapping[str, float], below: Mapping[str, float]
) -> None:
    of = f"{render.count(found.evidence, 'memory', 'memories')} as evidence"
    without = f"; {found.left_out:,} more without evidence" if found.left_out else ""
    terminal.line(text((render.count(found.questions, "question"), "bold"), f", {of}{without}"))
    terminal.lines(
        [
            Line([text(figure), text((f"{share:.3f}", "bold"))], _held(figure, floors, below))
            for figure, share in found.figures.items()
        ],
        right=(1,),
    )
    terminal.line(text(("digest ", "dim"), found.digest), indent=2)
    if found.unknown:
        terminal.line(
            text(
                (f"{found.unknown:,} of the evidence ", "yellow"),
                "leads to no memory of this graph, and counts as not found.",
            )
        )


def _held(figure: str, floors: Mapping[str, float], below: Mapping[str, float]) -> Text | None:
    if figure not in floors:
        return None
    if figure in below:
        return text((f"below its floor of {floors[figure]:g}", "red"))
    return text((f"at least {floors[figure]:g}, as it must be", "dim"))


def _questions(terminal: Terminal, asked: Sequence[Asked], limit: int | None) -> None:
    """The worst first: without evidence found, then by its rank."""
    ranked = sorted(asked, key=lambda one: (one.rank is not None, -(one.rank or 0), one.line))
    terminal.line()
    terminal.line(render.heading("Questions", "the rank of the first evidence; what is missing"))
    terminal.lines(
        Line(
            [
                text((f"line {one.line:,}", "dim")),
                text("–" if one.rank is None else f"{one.rank:,}"),
                text(render.cut(one.question)),
            ],
            _missing(one),
        )
        for one in ranked[:limit]
    )
    render.more(terminal, len(ranked) - len(ranked[:limit]), "--limit N, or --all")


def _missing(one: Asked) -> Text | None:
    """What did not come back; what the graph does not have at all is said to be unknown."""
    unknown = {evidence.id for evidence in one.evidence if evidence.memory_id is None}
    said = [f"{render.cut(id)}{' (unknown)' if id in unknown else ''}" for id in one.missing]
    return text((f"missing: {', '.join(said)}", "yellow")) if said else None
