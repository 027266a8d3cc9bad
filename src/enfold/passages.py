"""A document in passages: pieces of a size that means one thing, under their headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

PASSAGE: Final = 1_200
"""Characters that a passage has at most, as far as a word is not longer: about 250 tokens, which is
what small embedding models read of a text."""

_HEADING: Final = re.compile(r"[ ]{0,3}(#{1,6})[ \t]+(.+?)[ \t#]*$")
_UNDERLINE: Final = re.compile(r"[ ]{0,3}(=+|-+)[ \t]*$")
_FENCE: Final = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_SENTENCE: Final = re.compile(r"(?<=[.!?])[ \t]+|(?<=[。！？])|\n")
_DEEPEST: Final = 6


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document.

    Attributes:
        title: the headings it stands under, the outermost first, parted by `` › ``; None without.
    """

    title: str | None
    content: str


def split(text: str, *, most: int = PASSAGE) -> list[Passage]:
    """The passages of a text, in order: each of one section, of whole paragraphs where they fit,
    else of whole sentences, else of words. Markdown's headings are read, but for those inside a
    fenced block."""
    found: list[Passage] = []
    for title, body in _sections(text):
        found.extend(Passage(title, piece) for piece in _packed(_pieces(body, most), most))
    return found


def _sections(text: str) -> Iterator[tuple[str | None, str]]:
    """(headings, the text under them up to the next heading)"""
    headings: list[str] = [""] * _DEEPEST
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        if mark := _FENCE.match(line):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        found = None if fence else _heading(line, lines)
        if found is None:
            lines.append(line)
            continue
        level, said = found
        yield _title(headings), "\n".join(lines)
        lines = []
        headings[level - 1 :] = [said, *[""] * (_DEEPEST - level)]
    yield _title(headings), "\n".join(lines)


def _heading(line: str, before: list[str]) -> tuple[int, str] | None:
    """(level, text) of a heading; one that is underlined is taken from the lines before."""
    if match := _HEADING.match(line):
        return len(match[1]), match[2].strip()
    alone = before and before[-1].strip() and (len(before) < 2 or not before[-2].strip())
    if alone and (match := _UNDERLINE.match(line)) and len(match[1]) > 2:
        return 1 if match[1].startswith("=") else 2, before.pop().strip()
    return None


def _title(headings: list[str]) -> str | None:
    return " › ".join(filter(None, headings)) or None


def _pieces(body: str, most: int) -> Iterator[str]:
    """Paragraphs, or what of them fits into a passage."""
    for paragraph in re.split(r"\n[ \t]*\n", body):
        lines = paragraph.strip("\n")
        if len(lines) <= most:
            yield lines
        else:
            yield from _packed(_sentences(paragraph, most), most, between=" ")


def _sentences(paragraph: str, most: int) -> Iterator[str]:
    for sentence in _SENTENCE.split(paragraph):
        begin = 0
        while len(sentence) - begin > most:
            blank = sentence.rfind(" ", begin + most // 2, begin + most)
            end = begin + most if blank < 0 else blank
            yield sentence[begin:end]
            begin = end + (blank >= 0)
        yield sentence[begin:]


def _packed(pieces: Iterator[str], most: int, between: str = "\n\n") -> Iterator[str]:
    """Neighbours together as long as they fit; blank ones are left out."""
    held = ""
    for piece in pieces:
        if not piece.strip():
            continue
        if held and len(held) + len(between) + len(piece) > most:
            yield held
            held = ""
        held = f"{held}{between}{piece}" if held else piece
    if held:
        yield held
