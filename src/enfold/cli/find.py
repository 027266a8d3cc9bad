"""Commands that ask the graph: find, search, related, path, show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.text import Text

from enfold.cli import exits, render
from enfold.cli.app import ASK, MOST, Agent, Call, Limit, command
from enfold.cli.render import text
from enfold.cli.terminal import Line, Terminal
from enfold.errors import Conflict, NotFound
from enfold.model import (
    UNKNOWN,
    Ambiguous,
    Connection,
    Entity,
    Found,
    Hit,
    Link,
    Neighbour,
    Related,
    Step,
    Unknown,
)
from enfold.related import HOPS

if TYPE_CHECKING:
    from enfold.model import Described

Asked = Annotated[
    str, typer.Argument(metavar="NAME", help="A name as anyone spells it, or an id as id:12.")
]

RESULTS: Final[dict[type, tuple[str, int]]] = {
    Found: ("found", exits.DONE),
    Ambiguous: ("ambiguous", exits.CODES[Conflict]),
    Unknown: ("unknown", exits.CODES[NotFound]),
}
"""What ``find`` calls its answers in JSON, and the exit code of each."""


@command(
    "find",
    ASK,
    'enfold find "claude code"',
    "enfold find -- --flag",
    note="Exit code 0 where the name leads to one entity, 6 where it fits several, 3 where it is "
    "not known. In JSON, result says which: found, ambiguous or unknown.",
)
def find(
    call: Call, name: Annotated[str, typer.Argument(metavar="NAME", help="A name, as written.")]
) -> int:
    """Say where a name leads, through every fold.

    A miss means unknown, never absent, and comes with the nearest spellings."""
    with call.graph() as graph:
        found = graph.find(name)
        aliases = graph.entity(found.entity.id).aliases if isinstance(found, Found) else ()
    result, code = RESULTS[type(found)]
    if call.terminal.as_json:
        from enfold.graph import as_json

        more: dict[str, Any] = {"aliases": list(aliases)} if isinstance(found, Found) else {}
        call.terminal.document({"result": result, **as_json(found), **more})
    elif isinstance(found, Found):
        _found(call.terminal, found, aliases)
    elif isinstance(found, Ambiguous):
        _ambiguous(call.terminal, found)
    else:
        _unknown(call.terminal, found)
    return code


def asked_as(found: Found) -> Text:
    """Which spelling was asked for, where it is not the one the entity is known as."""
    if not found.alias:
        return text()
    return text(render.quoted(found.asked), ", known as ", render.quoted(found.entity.name))


def _found(terminal: Terminal, found: Found, aliases: Sequence[str]) -> None:
    row = found.entity
    terminal.line(text(("Found: ", "green"), render.name(row.name)))
    render.fields(
        terminal,
        [
            ("id", f"id:{row.id}"),
            ("type", render.cut(row.type or "")),
            ("mentions", f"{row.mentions:,}"),
            ("aliases", _names(aliases)),
            ("asked as", asked_as(found)),
        ],
    )


def _ambiguous(terminal: Terminal, found: Ambiguous) -> None:
    several = render.count(len(found.candidates), "entity", "entities")
    terminal.line(text(("Ambiguous: ", "yellow"), render.quoted(found.asked), f" fits {several}:"))
    terminal.lines(_entities(found.candidates))
    terminal.hint("Give the id of the one you mean, as id:12.")


def _unknown(terminal: Terminal, found: Unknown) -> None:
    terminal.line(text(("Unknown: ", "yellow"), render.quoted(found.asked)))
    terminal.line(render.sentence(found.note), indent=2)
    if found.nearest:
        terminal.line("Nearest:", indent=2)
        terminal.lines(_entities(found.nearest), indent=4)


def _entities(rows: Sequence[Entity]) -> list[Line]:
    return [
        Line(
            [
                text((f"id:{row.id}", "bold")),
                render.name(row.name),
                text((render.cut(row.type or "no type"), "dim")),
                text((render.count(row.mentions, "mention"), "dim")),
            ]
        )
        for row in rows
    ]


def _names(names: Sequence[str], most: int = 20) -> Text:
    shown = Text(", ").join([render.name(one) for one in names[:most]])
    left = len(names) - most
    return text(shown, (f" and {left:,} more", "dim") if left > 0 else "")


@command(
    "search",
    ASK,
    "enfold search postgers",
    "enfold search lovelace --type person --limit 5",
    note="How a spelling matches: exact; letters (the same, but for punctuation, accents, script); "
    "prefix; word (all that was typed are words of it); substring; fuzzy; rule (a rule would ask "
    "whether the two are one). The score is 1 for the name itself, and at least 0.55. Exit code 3 "
    "where nothing reads alike.",
)
def search(
    call: Call,
    asked: Annotated[
        str,
        typer.Argument(
            metavar="TEXT", help="A name, a part of one, or as near as you can spell it."
        ),
    ],
    kind: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPE", help="Only entities of this type."),
    ] = None,
    limit: Limit = 20,
) -> int:
    """List the entities that are spelled like a text, with how alike.

    A part of a name will do, a misspelt word, words in another order, other accents or another
    script. An alias leads to its entity and is shown behind it."""
    with call.graph() as graph:
        hits = graph.search(asked, type=kind, limit=limit)
    if call.terminal.as_json:
        result, note = ("found", None) if hits else ("unknown", UNKNOWN)
        call.terminal.document({"result": result, "asked": asked, "hits": hits, "note": note})
    elif hits:
        call.terminal.lines([_hit(one) for one in hits], right=(0,))
    else:
        call.terminal.line(text(("Unknown: ", "yellow"), render.quoted(asked)))
        call.terminal.line(render.sentence(UNKNOWN), indent=2)
    return exits.DONE if hits else exits.CODES[NotFound]


def _hit(one: Hit) -> Line:
    row = one.entity
    matched = text((" by ", "dim"), render.quoted(one.matched)) if one.alias else ""
    return Line(
        [
            text((f"id:{row.id}", "bold")),
            text(render.name(row.name), matched),
            text((f"{one.how} {one.score:.2f}", "dim")),
            text((render.cut(row.type or "no type"), "dim")),
            text((render.count(row.mentions, "mention"), "dim")),
        ]
    )


@command(
    "related",
    ASK,
    'enfold related "Claude Code"',
    "enfold related id:12 --type person --limit 10",
    "enfold related Ada --depth 2 --type project",
    note="A neighbour of a neighbour stands once, by the nearest way to it, with the names on that "
    "way; --type says what is shown, and the way may lead over anything. Around entities with very "
    "many mentions a part is read, and the answer says that there is more.",
)
def related(
    call: Call,
    name: Asked,
    kind: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPE", help="Only neighbours of this type."),
    ] = None,
    depth: Annotated[
        int,
        typer.Option(
            "--depth", metavar="N", min=1, max=HOPS, help="So many hops: 2 for their neighbours."
        ),
    ] = 1,
    limit: Annotated[
        int,
        typer.Option("--limit", "-n", metavar="N", min=1, max=MOST, help="How many of each hop."),
    ] = 50,
    agent: Agent = None,
) -> None:
    """Say what an entity is connected to.

    First what is stated as a relation, then what is only mentioned in the same memories; the two
    are never blended."""
    with call.graph() as graph:
        found = graph.related(name, type=kind, limit=limit, depth=depth, agent=call.asking(agent))
    if call.terminal.as_json:
        call.terminal.document(found)
    else:
        _related(call.terminal, found)


def _related(terminal: Terminal, found: Related) -> None:
    asked = asked_as(found.found)
    terminal.line(render.entity(found.found.entity))
    if asked:
        terminal.line(text(("asked as ", "dim"), asked), indent=2)
    near = [one for one in found.related if one.hop == 1]
    stated = [one for one in near if one.links]
    beside = [one for one in near if not one.links]
    if stated:
        terminal.line()
        terminal.line(render.heading(f"Stated ({len(stated):,})", "by a memory, as a relation"))
        terminal.lines([_link(one, link) for one in stated for link in one.links])
    if beside:
        terminal.line()
        title = f"Mentioned together ({len(beside):,})"
        terminal.line(render.heading(title, "in the same memories; no relation is stated"))
        terminal.lines([_beside(one) for one in beside])
    for hop in sorted({one.hop for one in found.related} - {1}):
        far = [one for one in found.related if one.hop == hop]
        terminal.line()
        terminal.line(render.heading(f"{hop} hops away ({len(far):,})", "by the nearest way"))
        terminal.lines([_far(one) for one in far])
    if not found.related:
        terminal.line("Nothing connected to it was found.", indent=2)
        terminal.line(render.sentence(found.note or UNKNOWN), indent=2)
    if found.truncated:
        terminal.hint("There is more: --limit N shows more of it, --type less of the rest.")


def _link(one: Neighbour, link: Link) -> Line:
    sure = "" if link.confidence == 1 else f", confidence {link.confidence:.2f}"
    return Line(
        [
            text(_arrow(link.direction), " ", (render.cut(link.relation), "cyan")),
            render.typed(one.entity.name, one.entity.type),
            text((f"{render.count(link.sources, 'memory', 'memories')}{sure}", "dim")),
        ]
    )


def _beside(one: Neighbour) -> Line:
    shared = render.count(one.shared_sources, "shared memory", "shared memories")
    return Line([render.typed(one.entity.name, one.entity.type), text((shared, "dim"))])


def _far(one: Neighbour) -> Line:
    way = text(" · ").join([render.name(name) for name in one.through])
    how = (
        text(_arrow(one.links[0].direction), " ", (render.cut(one.links[0].relation), "cyan"))
        if one.links
        else text(("together", "dim"))
    )
    return Line([render.typed(one.entity.name, one.entity.type), text(("by ", "dim"), way), how])


def _arrow(direction: str | None) -> tuple[str, str]:
    return ("→" if direction == "out" else "←", "green")


@command(
    "path",
    ASK,
    'enfold path "Ada Lovelace" "Claude Code"',
    "enfold path id:12 Kubernetes --depth 3",
    note="The shortest; of those as short, one that is stated rather than mentioned. Exit code 3 "
    "where none was found, which proves nothing.",
)
def path(
    call: Call,
    left: Annotated[str, typer.Argument(metavar="FROM", help="A name, or an id as id:12.")],
    right: Annotated[str, typer.Argument(metavar="TO", help="A name, or an id as id:12.")],
    depth: Annotated[
        int,
        typer.Option("--depth", metavar="N", min=1, max=HOPS, help="How many steps it may have."),
    ] = HOPS,
    agent: Agent = None,
) -> int:
    """Say how two entities are connected.

    Each step stands there with a memory that shows it."""
    with call.graph() as graph:
        found = graph.path(left, right, max_depth=depth, agent=call.asking(agent))
    if call.terminal.as_json:
        call.terminal.document(found)
    else:
        _path(call.terminal, found)
    same = found.left.entity.id == found.right.entity.id
    return exits.DONE if found.steps or same else exits.CODES[NotFound]


def _path(terminal: Terminal, found: Connection) -> None:
    terminal.line(render.entity(found.left.entity))
    for end in (found.left, found.right):
        if asked := asked_as(end):
            terminal.line(text(("asked as ", "dim"), asked), indent=2)
    terminal.lines(_steps(found.steps))
    if found.note:
        terminal.line(render.sentence(found.note), indent=2)
    if found.steps and found.truncated:
        terminal.hint("Not everything was looked at; there may be a shorter one.")


def _steps(steps: Iterable[Step]) -> list[Line]:
    return [
        Line(
            [
                text(_arrow(one.direction), " ", (render.cut(one.relation), "cyan"))
                if one.relation is not None
                else text(("– mentioned together", "dim")),
                render.typed(one.entity.name, one.entity.type),
                text(
                    (
                        f"{render.count(one.sources, 'memory', 'memories')}, one: {one.memory_id}",
                        "dim",
                    )
                ),
            ]
        )
        for one in steps
    ]


@command("show", ASK, 'enfold show "Claude Code"', "enfold show id:12", also="entity")
def show(call: Call, name: Asked) -> None:
    """Show an entity with its spellings and its folds."""
    with call.graph() as graph:
        found = graph.entity(name)
    if call.terminal.as_json:
        call.terminal.document(found)
    else:
        _described(call.terminal, found)


def _described(terminal: Terminal, found: Described) -> None:
    row = found.entity
    terminal.line(render.name(row.name))
    render.fields(
        terminal,
        [
            ("id", f"id:{row.id}"),
            ("type", render.cut(row.type or "")),
            ("mentions", f"{row.mentions:,}"),
            ("facts", f"{found.facts:,}"),
            ("aliases", _names(found.aliases)),
            ("since", render.day(row.created_at)),
            *((key, render.cut(str(value))) for key, value in found.attributes.items()),
        ],
    )
    if found.merges:
        terminal.line()
        terminal.line(
            render.heading(f"Folds ({len(found.merges):,})", "enfold revert ID undoes one")
        )
        terminal.lines(
            [
                Line(
                    [text((str(one.id), "bold")), render.merge(one)],
                    render.sentence(one.reason),
                    text((one.rule, "cyan")),
                )
                for one in found.merges
            ],
            right=(0,),
        )
