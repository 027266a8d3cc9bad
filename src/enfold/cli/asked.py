"""How questions about names and about memories are shown, with their answers."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from enfold.cli import render
from enfold.cli.render import text
from enfold.cli.terminal import Line, Terminal
from enfold.homonyms import Chosen, Waiting
from enfold.model import Answer, Entity, Memory, MemoryQuestion, NameQuestion

FITS = 5
"""Entities of a name that are listed; ``--json`` has all of them."""


def memory(one: Memory) -> Text:
    """``“what it says” (memory 12)``"""
    said = render.cut(" ".join(one.content.split()))
    return text("“", (said, "bold"), "”", (f" (memory {one.id})", "dim"))


def contradiction(one: MemoryQuestion) -> Text:
    """The two memories of a question."""
    return text(memory(one.queued), (" ~ ", "yellow"), memory(one.candidate))


def _fits(candidates: Sequence[Entity]) -> Text:
    shown = [render.entity(entity) for entity in candidates[:FITS]]
    if len(candidates) > FITS:
        shown.append(text((f"{len(candidates) - FITS:,} more", "dim")))
    return Text(", ").join(shown) if shown else text("none")


def homonym(one: NameQuestion) -> Text:
    """The name of a question, and what it fits."""
    return text(render.quoted(one.name), " fits ", _fits(one.candidates))


def name_line(one: NameQuestion, decided: bool) -> Line:
    """A question about a name, in a list."""
    cells = [text((str(one.id), "bold")), homonym(one)]
    if decided:
        cells.append(_answer(one))
        return Line(cells, render.sentence("Nothing is left to answer." if one.moot else ""))
    waiting = render.count(one.waiting, "memory waits", "memories wait")
    return Line(cells, render.sentence(f"{waiting}."))


def memory_line(one: MemoryQuestion, decided: bool) -> Line:
    """A question about two memories, in a list."""
    cells = [text((str(one.id), "bold")), contradiction(one)]
    if decided:
        cells.append(_answer(one))
    return Line(cells, render.sentence(one.reason))


def _answer(one: NameQuestion | MemoryQuestion) -> Text:
    return text((f"{one.answer} by {one.answered_by or 'unknown'}", "green"))


def how_to_choose(one: NameQuestion) -> list[Line]:
    """The answers to a question about a name."""
    first = one.candidates[0]
    return [
        _how(f"{one.id} keep_existing --candidate {first.id}", text("texts mean ", _short(first))),
        _how(f"{one.id} keep_new", "they mean another thing of that name"),
        _how(f"{one.id} keep_both", "leave it open, and ask no more"),
    ]


def how_to_weigh(one: MemoryQuestion) -> list[Line]:
    """The answers to a question about two memories."""
    queued, candidate = one.queued.id, one.candidate.id
    return [
        _how(f"{one.id} keep_new", f"memory {queued} holds, in place of memory {candidate}"),
        _how(f"{one.id} keep_existing", f"memory {candidate} holds, and memory {queued} does not"),
        _how(f"{one.id} keep_both", "both hold"),
        _how(f'{one.id} merge --content "..."', "a text of yours holds in place of both"),
    ]


def _how(answer: str, meaning: str | Text) -> Line:
    return Line([render.command(f"enfold decide {answer}")], text(meaning))


def _short(entity: Entity) -> Text:
    about = f"{render.cut(entity.type)}, id:{entity.id}" if entity.type else f"id:{entity.id}"
    return text(render.name(entity.name), (f" ({about})", "dim"))


def chosen(terminal: Terminal, done: Chosen) -> None:
    """What an answer to a question about a name did."""
    named = render.quoted(done.question.name)
    if done.entity is None:
        terminal.receipt(text(named, " stays linked to none, and nobody is asked again."))
        return
    made = "a new thing, " if done.question.answer is Answer.KEEP_NEW else ""
    terminal.receipt(
        text(
            named,
            f" in texts means {made}",
            _short(done.entity),
            f": {_edges(done.mentions, done.facts)} linked.",
        )
    )


def weighed(terminal: Terminal, done: MemoryQuestion) -> None:
    """What an answer to a question about two memories did."""
    queued, candidate = done.queued.id, done.candidate.id
    both = f"memories {candidate} and {queued}"
    said = {
        Answer.KEEP_NEW: f"Memory {queued} holds, in place of memory {candidate}.",
        Answer.KEEP_EXISTING: f"Memory {candidate} holds, and memory {queued} does not.",
        Answer.KEEP_BOTH: f"Both hold: {both}.",
        Answer.MERGE: f"Memory {done.made_id} holds, in place of {both}.",
    }
    assert done.answer is not None
    terminal.receipt(said[done.answer])


def waits(terminal: Terminal, done: Waiting) -> None:
    """That a question about a name is open again."""
    one = done.question
    again = f"; {_edges(done.mentions, done.facts, again=True)}" if done.mentions else ""
    terminal.receipt(text(f"Question {one.id} is pending again: ", homonym(one), again, "."))
    if done.gone is not None:
        terminal.receipt(text(_short(done.gone), " was made for the answer, and is gone."))
    if done.kept is not None:
        terminal.receipt(
            text(_short(done.kept), " was made for it and stays: something else uses it.")
        )


def _edges(mentions: int, facts: int, *, again: bool = False) -> str:
    said = render.count(mentions, "mention")
    said += f" and {render.count(facts, 'fact')}" if facts else ""
    if not again:
        return said
    return f"{said} wait{'s' if mentions == 1 and not facts else ''} again"
