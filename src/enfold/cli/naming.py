"""Commands about names: rename, alias, retype, delete."""

from __future__ import annotations

from typing import Annotated

import typer

from enfold.cli import render
from enfold.cli.app import NAME, Call, command
from enfold.cli.find import Asked
from enfold.cli.render import text

Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.", show_default=False)
]


@command("rename", NAME, 'enfold rename "CC" "Claude Code"', actor=True)
def rename(
    call: Call,
    name: Asked,
    spelling: Annotated[str, typer.Argument(metavar="NEW", help="The name to show.")],
) -> None:
    """Show an entity under another name.

    The old one stays as an alias."""
    with call.graph(write=True) as graph:
        done = graph.rename(name, spelling)
    if call.terminal.as_json:
        call.terminal.document(done)
    else:
        call.terminal.receipt(text("Now known as ", render.entity(done), "."))


@command("alias", NAME, 'enfold alias "Kubernetes" "k8s"', actor=True)
def alias(
    call: Call,
    name: Asked,
    spelling: Annotated[str, typer.Argument(metavar="SPELLING", help="What leads to it too.")],
) -> None:
    """Declare that a spelling leads to an entity."""
    with call.graph(write=True) as graph:
        done = graph.alias(name, spelling)
    terminal = call.terminal
    if terminal.as_json:
        terminal.document(done)
    else:
        leads = text(
            render.quoted(done.absorbed_name), " leads to ", render.quoted(done.canonical_name)
        )
        terminal.receipt(text(leads, f" (merge {done.id})."))
        terminal.hint(text("To take it back: ", render.command(f"enfold revert {done.id}")))


@command("retype", NAME, 'enfold retype "Ada" person', 'enfold retype "Ada" --none')
def retype(
    call: Call,
    name: Asked,
    kind: Annotated[
        str | None, typer.Argument(metavar="TYPE", help="The type, in your own words.")
    ] = None,
    none: Annotated[
        bool, typer.Option("--none", help="Take the type away.", show_default=False)
    ] = False,
) -> None:
    """Give an entity another type.

    The next pass looks at its name again."""
    if (kind is None) is not none:
        raise typer.BadParameter("Give a TYPE, or --none.")
    with call.graph(write=True) as graph:
        done = graph.retype(name, kind)
    if call.terminal.as_json:
        call.terminal.document(done)
    else:
        call.terminal.receipt(text("Now ", render.entity(done), "."))


@command(
    "delete",
    NAME,
    'enfold delete "Old Project"',
    "enfold delete id:12 --yes",
    note="It is refused while the entity is part of folds, which are named: revert them first.",
)
def delete(call: Call, name: Asked, yes: Yes = False) -> None:
    """Delete an entity; the memories stay.

    Its mentions, facts and aliases go with it. It can't be undone, but from a backup."""
    with call.graph(write=True) as graph:
        row = graph.entity(name).entity
        what = render.entity(row).plain
        call.confirm(f"Delete {what} with its mentions, facts and aliases?", yes=yes)
        done = graph.delete(row.id)
    terminal = call.terminal
    if terminal.as_json:
        terminal.document(done)
        return
    gone = [render.count(done.mentions, "mention"), render.count(done.facts, "fact")]
    if done.aliases:
        gone.append(render.count(len(done.aliases), "alias", "aliases"))
    terminal.receipt(
        text(
            "Deleted ",
            render.entity(done.entity, mentions=False),
            f", {', '.join(gone)}. ",
            "The memories stay.",
        )
    )
