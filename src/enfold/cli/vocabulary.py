"""The command about the vocabulary: what extraction may call things and say of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from enfold.cli import render
from enfold.cli.app import KEEP, Call, command
from enfold.cli.render import text
from enfold.cli.terminal import Line, Terminal
from enfold.errors import NotFound

if TYPE_CHECKING:
    from enfold.model import Term


@command(
    "vocabulary",
    KEEP,
    "enfold vocabulary",
    'enfold vocabulary --type dataset --about "A collection of records."',
    'enfold vocabulary --predicate owns --about "The object is its property."',
    "enfold vocabulary --type concept --off",
    note="A term that comes with enfold can be turned off, not removed. What was read with a term "
    "stays as it is.",
)
def vocabulary(
    call: Call,
    type: Annotated[
        str | None, typer.Option("--type", metavar="NAME", help="A type of entities.")
    ] = None,
    predicate: Annotated[
        str | None,
        typer.Option("--predicate", metavar="NAME", help="What a fact says of two entities."),
    ] = None,
    about: Annotated[
        str | None,
        typer.Option("--about", metavar="TEXT", help="Say what it is; adds it where it is new."),
    ] = None,
    on: Annotated[
        bool | None,
        typer.Option("--on/--off", help="Let extraction use it, or not.", show_default=False),
    ] = None,
    remove: Annotated[
        bool, typer.Option("--remove", help="Take one of your own out.", show_default=False)
    ] = False,
) -> None:
    """List, add, describe and turn off types and predicates.

    They are what extraction may call an entity, and what it may say of two."""
    named = [(kind, name) for kind, name in (("type", type), ("predicate", predicate)) if name]
    changes = about is not None or on is not None or remove
    if len(named) > 1 or (changes and not named):
        raise typer.BadParameter("Name one --type or one --predicate to change.")
    if remove and (about is not None or on is not None):
        raise typer.BadParameter("Say --remove alone: nothing of the term is left to change.")
    if not changes:
        _list(call, named)
        return
    ((kind, name),) = named
    with call.graph(write=True, create=not remove) as graph:
        if remove:
            done = graph.remove_term(kind, name)
        else:
            done = graph.set_term(kind, name, description=about, enabled=on)
    if call.terminal.as_json:
        call.terminal.document(done)
    else:
        now = "Removed" if remove else "On" if done.enabled else "Off"
        call.terminal.receipt(
            text(f"{now}: {done.kind} ", render.name(done.name), ". ", render.cut(done.description))
        )


def _list(call: Call, named: Sequence[tuple[str, str]]) -> None:
    with call.graph_if_any() as graph:
        terms = graph.vocabulary()
    for kind, name in named:
        terms = [term for term in terms if _is(term, kind, name)]
        if not terms:
            raise NotFound(
                "no_term", f"There is no {kind} “{render.cut(name)}”. To add it, say what it is."
            )
    if call.terminal.as_json:
        call.terminal.document(terms)
        return
    for kind, title in (("type", "Types"), ("predicate", "Predicates")):
        _terms(call.terminal, title, [term for term in terms if term.kind == kind])


def _is(term: Term, kind: str, name: str) -> bool:
    return term.kind == kind and term.name.casefold() == name.strip().casefold()


def _terms(terminal: Terminal, title: str, terms: Sequence[Term]) -> None:
    if not terms:
        return
    terminal.line(render.heading(title))
    terminal.lines(
        [
            Line(
                [render.name(term.name), text(("" if term.enabled else "off", "yellow"))],
                render.sentence(term.description),
            )
            for term in terms
        ]
    )
