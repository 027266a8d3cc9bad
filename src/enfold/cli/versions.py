"""Commands about versions of memories: history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from enfold.cli import render
from enfold.cli.app import MEMORY, MOST, Agent, Call, Limit, command
from enfold.cli.render import text
from enfold.cli.terminal import Line, Terminal

if TYPE_CHECKING:
    from enfold.beliefs import Version


@command("history", MEMORY, "enfold history 12")
def history(
    call: Call,
    memory_id: Annotated[
        int,
        typer.Argument(metavar="MEMORY", min=1, max=MOST, help="The id of any version of it."),
    ],
    agent: Agent = None,
    limit: Limit = 50,
) -> None:
    """Show the versions of a memory, what replaced what, and why.

    The oldest comes first; of many, the latest are shown."""
    with call.graph() as graph:
        versions = graph.history(memory_id, agent=call.asking(agent))
    if call.terminal.as_json:
        call.terminal.document(versions[-limit:])
        return
    render.more(call.terminal, len(versions) - limit, "--limit N shows earlier ones")
    for one in versions[-limit:]:
        _version(call.terminal, one)


def _version(terminal: Terminal, one: Version) -> None:
    memory = one.memory
    state = ("holds", "green") if memory.status == "active" else ("stale", "yellow")
    about = text((render.day(memory.created_at), "dim"), "  ", state)
    content = text(render.cut(" ".join(memory.content.split())))
    terminal.lines([Line([text((str(memory.id), "bold")), about, content])])
    if one.replaced_by is not None:
        why = f": {one.why}" if one.why else "."
        terminal.line(render.sentence(f"replaced by {one.replaced_by}{why}"), indent=4)
    if one.question_id is not None:
        said = f"question {one.question_id}, {one.answer} by {one.by or 'nobody named'}"
        terminal.line(text((f"{said}, {render.day(one.at or '')}", "dim")), indent=4)
