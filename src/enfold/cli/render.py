"""Records as lines for people. Text alone, never markup: a name is shown, not interpreted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.text import Text

from enfold.cli.terminal import LONGEST, Line, Terminal, visible
from enfold.model import Conflict, Entity, Imported, Merge, SetAside, Verdict

FORMATS: Final = {
    "mcp": "MCP memory",
    "csv": "CSV",
    "graphml": "GraphML",
    "jsonld": "JSON-LD",
    "graphrag": "GraphRAG",
    "neo4j": "Neo4j",
    "obsidian": "Obsidian vault",
    "mem0": "mem0",
    "enfold": "a whole graph",
    "decisions": "decisions",
}

STYLES: Final = {Verdict.FOLD: "green", Verdict.ASK: "yellow", Verdict.APART: "magenta"}
MARKS: Final = {Verdict.FOLD: "→", Verdict.ASK: "~", Verdict.APART: "≠"}

Bit = str | tuple[str, str]


def text(*bits: Bit | Text) -> Text:
    """Text of bits, each plain, styled, or text already."""
    line = Text()
    for bit in bits:
        if isinstance(bit, Text):
            line.append_text(bit)
        elif isinstance(bit, tuple):
            line.append(visible(bit[0]), style=bit[1])
        else:
            line.append(visible(bit))
    return line


def name(spelling: str) -> Text:
    """A name: as written, made visible, cut where it is a text."""
    return Text(visible(spelling, LONGEST), style="bold")


def quoted(spelling: str) -> Text:
    """A name in quotes, for a sentence."""
    return text("“", name(spelling), "”")


def sentence(words: str) -> Text:
    """Why something is so."""
    return Text(visible(words, 2_000), style="dim")


def count(number: int, one: str, many: str | None = None) -> str:
    """``1 entity``, ``2 entities``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def day(moment: str) -> str:
    """A time as people read it: to the minute, in UTC."""
    return moment[:16].replace("T", " ")


def typed(spelling: str, kind: str | None, *, show: bool = True) -> Text:
    """A name with its type behind it."""
    return text(name(spelling), (f" ({cut(kind)})", "dim") if kind and show else "")


def cut(words: str) -> str:
    """Words somebody else chose, cut where they are a text."""
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"


def pair(
    left: str, left_type: str | None, right: str, right_type: str | None, verdict: Verdict
) -> Text:
    """Two names with the mark of their ruling, and their types where these differ."""
    differ = (left_type or "").casefold() != (right_type or "").casefold()
    return text(
        typed(left, left_type or "no type", show=differ),
        (f" {MARKS[verdict]} ", STYLES[verdict]),
        typed(right, right_type or "no type", show=differ),
    )


def entity(row: Entity, *, mentions: bool = True) -> Text:
    """``name (type, id:12, 3 mentions)``"""
    about = [cut(row.type)] if row.type else []
    about.append(f"id:{row.id}")
    if mentions:
        about.append(count(row.mentions, "mention"))
    return text(name(row.name), (f" ({', '.join(about)})", "dim"))


def heading(title: str, meaning: str = "") -> Text:
    """A title with what it means."""
    return text((title, "bold"), (f"  {meaning}", "dim") if meaning else "")


def fields(terminal: Terminal, rows: Iterable[tuple[str, str | Text]], *, indent: int = 2) -> None:
    """Named values, one to a line; those without a value left out."""
    terminal.lines(
        [
            Line([text((label, "dim"))], value if isinstance(value, Text) else text(value))
            for label, value in rows
            if value
        ],
        indent=indent,
    )


def figures(terminal: Terminal, rows: Sequence[tuple[str, int, str]]) -> None:
    """Named counts, each with a word of meaning."""
    terminal.lines(
        [
            Line([text(label), text((f"{number:,}", "bold"))], sentence(meaning))
            for label, number, meaning in rows
        ],
        right=(1,),
    )


def source(one: Imported) -> Text:
    """A file that was read, and what it is."""
    kind = FORMATS.get(one.format, one.format)
    return text((one.source, "bold"), (f"  {kind}", "dim"))


def set_aside(terminal: Terminal, pieces: Sequence[SetAside], limit: int | None) -> None:
    """What was not taken, line by line, up to a limit."""
    shown = pieces if limit is None else pieces[:limit]
    terminal.lines(
        [
            Line(
                [
                    text((f"line {piece.line}" if piece.line else "", "dim")),
                    text(cut(piece.reason)),
                ],
                sentence(piece.text[:LONGEST]) if piece.text else None,
            )
            for piece in shown
        ],
        indent=4,
    )


def more(terminal: Terminal, left: int, how: str) -> None:
    """That a list was cut, and how to see all of it."""
    if left > 0:
        terminal.line(text((f"… and {left:,} more ({how})", "dim")), indent=2)


def merge(one: Merge) -> Text:
    """``absorbed → canonical``"""
    return text(name(one.absorbed_name), (" → ", "green"), name(one.canonical_name))


def by(one: Merge) -> str:
    """Who folded."""
    return one.actor or str(one.decided_by)


def question(one: Conflict) -> Text:
    """The two sides of a question with type and mentions."""
    return text(
        _side(one.queued_name, one.queued_type, one.queued_mentions),
        (" ~ ", "yellow"),
        _side(one.candidate_name, one.candidate_type, one.candidate_mentions),
    )


def _side(spelling: str, kind: str | None, mentions: int) -> Text:
    about = ", ".join([*([cut(kind)] if kind else []), count(mentions, "mention")])
    return text(name(spelling), (f" ({about})", "dim"))


def command(words: str) -> Text:
    """A line to type."""
    return Text(words, style="cyan")


def next_steps(terminal: Terminal, *steps: tuple[str, str]) -> None:
    """What to type next, with what it does."""
    terminal.hint()
    terminal.hint(text(("Next", "bold")))
    terminal.hints([Line([command(line)], text((meaning, "dim"))) for line, meaning in steps])
