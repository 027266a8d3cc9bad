"""Commands that get texts back by what is asked, and keep them findable: recall, index, reembed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from enfold.cli import exits, render
from enfold.cli.app import MEMORY, Agent, Call, command
from enfold.cli.render import text
from enfold.cli.terminal import Terminal, visible
from enfold.errors import NotFound
from enfold.model import UNKNOWN, Anchor, Recalled, Recollection

if TYPE_CHECKING:
    from enfold.model import Indexed

SHOWN = 600
"""Characters of a memory that are shown; ``--json`` gives all of it."""


@command(
    "recall",
    MEMORY,
    'enfold recall "who runs the ingest worker?"',
    'enfold recall "how do I restore a backup?" --kind procedure --limit 3',
    note="A memory is found by meaning (vector), by exact words (keyword) and by the names in the "
    "question, old spellings too (entity); the number behind an arm is the rank it gave. Exit code "
    "3 where nothing was found.",
)
def recall(
    call: Call,
    query: Annotated[
        str, typer.Argument(metavar="QUESTION", help="What to look for, in your own words.")
    ],
    agent: Agent = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="Only fact, preference, episode, procedure or document; may be repeated.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, max=1000, help="How many to show.")
    ] = 10,
) -> int:
    """Find the memories that answer a question.

    Each comes with why it is there. A question in an old spelling reaches all that is known of the
    thing. Finding nothing means unknown, never absent."""
    with call.graph() as graph:
        found = graph.recall(
            query,
            agent=call.asking(agent),
            limit=limit,
            kinds=kinds or None,
            weights=call.weights,
        )
    if call.terminal.as_json:
        from enfold.graph import as_json

        result = "found" if found.memories else "unknown"
        call.terminal.document({"result": result, **as_json(found)})
    else:
        _tell(call.terminal, found)
    return exits.DONE if found.memories else exits.CODES[NotFound]


def _tell(terminal: Terminal, found: Recalled) -> None:
    if found.anchors:
        known = Text(", ").join([_anchor(one) for one in found.anchors])
        terminal.line(text(("About: ", "dim"), known), hang=2)
    for place, one in enumerate(found.memories, 1):
        _recollection(terminal, place, one)
    if not found.memories:
        terminal.line(text(("Unknown: ", "yellow"), render.quoted(found.query)))
        terminal.line(render.sentence(found.note or UNKNOWN), indent=2)
    elif found.note:
        terminal.hint(render.sentence(found.note))


def _anchor(one: Anchor) -> Text:
    """An entity, the spelling it came by, and how near that lies where it was not in the query."""
    by = text((" by ", "dim"), render.quoted(one.matched)) if one.alias else ""
    near = "" if one.cosine is None else f" ~{one.cosine:.2f}"
    return text(render.name(one.entity.name), by, (near, "dim"))


def _recollection(terminal: Terminal, place: int, one: Recollection) -> None:
    memory = one.memory
    said = " ".join(visible(memory.content, SHOWN).split())
    terminal.line(text((f"{place}. ", "bold"), said), hang=3)
    about = [
        f"memory {memory.id}",
        *([memory.kind] if memory.kind != "fact" else []),
        *([render.cut(memory.source)] if memory.source else []),
        *([f"sealed for {render.cut(memory.sealed_for)}"] if memory.sealed_for else []),
        render.day(memory.created_at),
    ]
    terminal.line(text((" · ".join(about), "dim")), indent=3, hang=2)
    why = [f"{arm} {rank}" for arm, rank in one.arms.items()]
    why.append(f"score {one.score:.4f}")
    mentions = text((" · mentions ", "dim"), _names(one.anchors)) if one.anchors else ""
    terminal.line(text((" · ".join(why), "cyan"), mentions), indent=3, hang=2)


def _names(anchors: Sequence[Anchor]) -> Text:
    return Text(", ").join([_anchor(one) for one in anchors])


@command(
    "index",
    MEMORY,
    "enfold index",
    interrupted=lambda _: "Interrupted; what was done stays, and the next call goes on from there.",
)
def index(call: Call) -> None:
    """Do what was left for later.

    Memories that were not read are read for what they name, and what has no vector gets one. It
    may be interrupted, and goes on where it was."""
    with call.graph(write=True) as graph, call.terminal.progress() as progress:
        done = graph.index(progress=progress)
    _indexed(call.terminal, done)


@command(
    "reembed",
    MEMORY,
    "enfold reembed",
    interrupted=lambda _: "Interrupted; the old vectors serve, and the next call goes on.",
)
def reembed(call: Call) -> None:
    """Change over to the embedder that is set.

    Everything gets a new vector beside the old one, which goes on serving until all is done. It
    may be interrupted, and goes on where it was."""
    with call.graph(write=True) as graph, call.terminal.progress() as progress:
        done = graph.reembed(progress=progress)
    _indexed(call.terminal, done)


def _indexed(terminal: Terminal, done: Indexed) -> None:
    if terminal.as_json:
        terminal.document(done)
        return
    if done.read or done.unread:
        failed = f"; {done.unread:,} could not be read" if done.unread else ""
        terminal.receipt(f"{render.count(done.read, 'memory', 'memories')} read{failed}.")
    if done.model:
        memories = render.count(done.memories, "memory", "memories")
        terminal.receipt(
            f"{memories} and {render.count(done.names, 'name')} placed by {render.cut(done.model)}."
        )
    if done.note:
        terminal.line(render.sentence(done.note))
