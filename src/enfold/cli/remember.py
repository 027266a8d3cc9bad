"""Commands that put texts in and take them out: remember, forget."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text as Line_

from enfold.cli import exits, render
from enfold.cli.app import MEMORY, MOST, Call, command
from enfold.cli.naming import Yes
from enfold.cli.render import text
from enfold.cli.terminal import Terminal

if TYPE_CHECKING:
    from enfold.errors import Error
    from enfold.graph import Graph
    from enfold.model import Remembered, SetAside, Text
    from enfold.ports import Progress

NAMES_SHOWN = 10
ASIDE_SHOWN = 5


@dataclass
class _Taken:
    """What came of many texts."""

    memories: int = 0
    repeats: int = 0
    passages: int = 0
    mentions: int = 0
    facts: int = 0
    minted: int = 0
    unlinked: int = 0
    merge_ids: set[int] = field(default_factory=set)
    conflict_ids: set[int] = field(default_factory=set)
    notes: dict[str, int] = field(default_factory=dict)
    aside: list[SetAside] = field(default_factory=list)

    def add(self, one: Remembered) -> None:
        self.memories += not one.repeat
        self.repeats += one.repeat
        self.passages += len(one.passages)
        self.mentions += one.mentions
        self.facts += one.facts
        self.minted += len(one.minted)
        self.unlinked += len(one.unlinked)
        self.merge_ids.update(one.merge_ids)
        self.conflict_ids.update(one.conflict_ids)
        if one.note:
            self.notes[one.note] = self.notes.get(one.note, 0) + 1


@command(
    "remember",
    MEMORY,
    'enfold remember "Ada moved the ingest worker to Postgres 15."',
    "enfold remember notes/ handbook.md --area work",
    "enfold remember - < memories.jsonl",
    note="Without TEXT, and with - , it is read from the input: JSON lines, each a string or an "
    "object with its content, or else one text. The same text again is counted, not stored. Exit "
    "code 1 where a text was set aside.",
)
def remember(
    call: Call,
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TEXT|PATH]...",
            help="A text; a file or folder of prose or of JSON lines; - for the input.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="fact, preference, episode, procedure or document; files are documents.",
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="TEXT", help="Where it comes from.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="NAME", help="Who writes it; else the setting.")
    ] = None,
    area: Annotated[str | None, typer.Option("--area", help="A filing label.")] = None,
    topic: Annotated[str | None, typer.Option("--topic", help="A filing label.")] = None,
    sealed_for: Annotated[
        str | None,
        typer.Option("--sealed-for", metavar="AGENT", help="The one agent that may recall it."),
    ] = None,
    caller_id: Annotated[
        str | None,
        typer.Option("--id", metavar="ID", help="Your own id of it: stored once under that id."),
    ] = None,
    as_text: Annotated[
        bool,
        typer.Option(
            "--text", help="Take what is given as text, never as a path.", show_default=False
        ),
    ] = False,
) -> int:
    """Store texts, and find what they name.

    Every text is stored before it is read, so that nothing is lost whatever fails. A name leads to
    the entity it is known as, or makes one."""
    from enfold.model import Text

    given = texts or ["-"]
    if caller_id is not None and len(given) != 1:
        raise typer.BadParameter("--id names one text; give one.")
    if not texts and sys.stdin.isatty():
        raise typer.BadParameter("Give a text, a file or a folder, or pipe some in.")
    like = Text(
        "",
        kind=kind or "",
        source=source,
        agent=agent or call.settings.agent or None,
        area=area,
        topic=topic,
        sealed_for=sealed_for,
        caller_id=caller_id,
    )
    done: list[Remembered] = []
    taken = _Taken()
    with call.graph(write=True, create=True) as graph, call.terminal.progress() as progress:
        for one in _remembered(graph, _texts(given, like, as_text, taken), taken, progress):
            taken.add(one)
            if len(done) < 2:
                done.append(one)
    if call.terminal.as_json:
        call.terminal.document(
            {"remembered": done if taken.memories + taken.repeats == 1 else None} | vars(taken)
        )
    else:
        _tell(call.terminal, done, taken)
    return exits.NO if taken.aside else exits.DONE


def _texts(given: list[str], like: Text, as_text: bool, taken: _Taken) -> Iterator[Text]:
    from dataclasses import replace

    from enfold.errors import Invalid
    from enfold.formats.texts import texts
    from enfold.model import Kind, SetAside

    for one in given:
        try:
            if one != "-" and (as_text or not _is_path(one)):
                yield replace(like, content=one, kind=like.kind or Kind.FACT)
                continue
            for read in texts(one, like):
                if isinstance(read, SetAside):
                    taken.aside.append(read)
                else:
                    yield read
        except Invalid as error:  # of several, the others are taken
            if len(given) == 1:
                raise
            taken.aside.append(SetAside(one, 0, str(error), ""))


def _is_path(given: str) -> bool:
    """Whether it is the path of something; what reads as the path of a file of text, and there is
    none, is a slip of the pen, which nobody wants remembered."""
    from enfold.errors import Invalid
    from enfold.formats.texts import LINES, PROSE

    if not given.strip():
        return False  # an empty path is the folder one is in
    try:
        if os.path.lexists(given):
            return True
    except (OSError, ValueError):  # too long for a name, or a NUL in it
        return False
    named = given.lower().endswith((*PROSE, *LINES)) or given.endswith(os.sep)
    if not named or len(given.split()) > 1:
        return False
    raise Invalid(
        "no_such_file",
        f"There is no {given}. Check the path, or say --text to remember that as a text.",
    )


def _remembered(
    graph: Graph, texts: Iterator[Text], taken: _Taken, progress: Progress
) -> Iterator[Remembered]:
    from enfold.model import SetAside

    def refused(place: int, why: Error) -> None:
        taken.aside.append(SetAside("text", place + 1, str(why), ""))

    for number, one in enumerate(graph.remember_all(texts, refused=refused), 1):
        progress("remembering", number, 0)
        yield one


def _tell(terminal: Terminal, done: list[Remembered], taken: _Taken) -> None:
    if taken.memories + taken.repeats == 1 and not taken.aside:
        _one(terminal, done[0])
    else:
        _many(terminal, taken)
    for note, times in taken.notes.items():
        terminal.line(text((f"{times:,} × " if times > 1 else "", "dim"), render.sentence(note)))
    for piece in taken.aside[:ASIDE_SHOWN]:
        where = f"{piece.source}, line {piece.line}" if piece.line else piece.source
        terminal.line(text((f"{where}: ", "yellow"), render.sentence(piece.reason)), hang=2)
    render.more(terminal, len(taken.aside) - ASIDE_SHOWN, "--json")
    if taken.conflict_ids:
        render.next_steps(terminal, ("enfold conflicts", "the questions"))


def _one(terminal: Terminal, one: Remembered) -> None:
    memory = one.memory
    if one.repeat:
        times = render.count(memory.repeats, "time")
        terminal.receipt(f"Known already as memory {memory.id}; it came {times} more.")
        if one.mentions or one.facts or one.unlinked:
            terminal.receipt(f"It waited to be read: {_edges(one.mentions, one.facts)}.")
            _names(terminal, "New", one.minted)
            _names(terminal, "Linked to nothing yet", one.unlinked)
        return
    size = f" in {render.count(len(one.passages), 'passage')}" if one.passages else ""
    terminal.receipt(f"Memory {memory.id}{size}: {_edges(one.mentions, one.facts)}.")
    _names(terminal, "New", one.minted)
    _names(terminal, "Linked to nothing yet", one.unlinked)
    if one.merge_ids:
        terminal.receipt(f"Folded at once: {render.count(len(one.merge_ids), 'new spelling')}.")
    if one.replaced:
        before = ", ".join(map(str, one.replaced))
        terminal.receipt(f"It says the same as memory {before}, and is the next version of it.")
    if one.unchecked:
        terminal.receipt(text((render.sentence(one.unchecked).plain, "dim")))


def _many(terminal: Terminal, taken: _Taken) -> None:
    passages = f" ({taken.passages:,} passages)" if taken.passages else ""
    terminal.receipt(
        f"{render.count(taken.memories, 'memory', 'memories')}{passages}, {taken.repeats:,} known "
        f"already: {_edges(taken.mentions, taken.facts)}, {taken.minted:,} new names, "
        f"{len(taken.merge_ids):,} folded, {len(taken.conflict_ids):,} asked, "
        f"{len(taken.aside):,} set aside."
    )


def _edges(mentions: int, facts: int) -> str:
    return f"{render.count(mentions, 'mention')}, {render.count(facts, 'stated relation')}"


def _names(terminal: Terminal, title: str, names: tuple[str, ...]) -> None:
    if not names:
        return
    shown = Line_(", ").join([render.name(one) for one in names[:NAMES_SHOWN]])
    left = len(names) - NAMES_SHOWN
    rest = f" and {left:,} more" if left > 0 else ""
    terminal.line(text((f"{title}: ", "bold"), shown, (rest, "dim")), hang=2)


@command("forget", MEMORY, "enfold forget 41", "enfold forget 41 42 --yes")
def forget(
    call: Call,
    memory_ids: Annotated[
        list[int],
        typer.Argument(metavar="ID...", min=1, max=MOST, help="Ids of memories."),
    ],
    yes: Yes = False,
) -> None:
    """Delete memories, all of them or none; the entities stay.

    Their mentions and facts go with them, and the passages of a document. It can't be undone, but
    from a backup."""
    memory_ids = list(dict.fromkeys(memory_ids))
    many = len(memory_ids) > 1
    what = f"{len(memory_ids)} memories" if many else f"memory {memory_ids[0]}"
    with call.graph(write=True) as graph:
        call.confirm(f"Delete {what} with mentions and facts?", yes=yes)
        graph.forget(*memory_ids, agent=call.asking(None))
    if call.terminal.as_json:
        call.terminal.document({"memory_ids": memory_ids, "forgotten": True})
    else:
        call.terminal.receipt(f"Deleted {what} with mentions and facts.")
