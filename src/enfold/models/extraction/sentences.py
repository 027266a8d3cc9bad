"""The words of a text, sentence by sentence, with what stands between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, NamedTuple

from enfold.models.extraction import words
from enfold.models.extraction.shapes import Kind, Shape, shape

_CASELESS: Final = (
    "\u0590-\u08ff\u0900-\u109f\u1100-\u139f\u1680-\u18af\u2e80-\ua63f\ua700-\ua71f\ua960-\ua97f"
    "\uac00-\ud7ff\uf900-\ufaff\ufb1d-\ufdff\ufe30-\ufe4f\ufe70-\ufeff\uff00-\uffef"
    "\U00020000-\U0003ffff"
)
"""Scripts without capitals, and their punctuation."""

_SIGNS: Final = "\u2010-\u2018\u201a-\u2027\u2030-\u206f\u2190-\u2bff\U0001f000-\U0001faff"
TOKEN: Final = re.compile(rf"[^\s\x00\"«»()\[\]{{}}<>|,;!?¡¿`^%{_SIGNS}{_CASELESS}]+")
LETTER: Final = re.compile(rf"[{_CASELESS}]")
_SENTENCE_END: Final = re.compile(r"[.!?…][\"'”’)\]]*\s|[!?…]|\n\s*(?![a-zà-ÿа-я\s])|\n\s*\n")


MOST: Final = 500
"""Words of a sentence; where one has more it is read in parts, so that none is held whole."""

_HEADING: Final = re.compile(r"(?:^|\n)[ \t]{0,3}#{1,6}[ \t]+$")


class Opens(IntEnum):
    """Whether a word stands where a capital marks nothing."""

    NO = 0
    SENTENCE = 1
    LABEL = 2
    """Behind a colon or in a table: a value may stand there, or a sentence."""


class Word(NamedTuple):
    """A word of a sentence.

    Attributes:
        joined: only a blank stands between it and the word before.
        gap: what stands between the two.
    """

    start: int
    end: int
    shape: Shape
    joined: bool
    opens: Opens
    gap: str


@dataclass(slots=True)
class Sentence:
    """Words of a text up to where the sentence ends."""

    words: list[Word] = field(default_factory=list)
    heading: bool = False


def sentences(plain: str, spans: Sequence[tuple[int, int]] = ()) -> Iterator[Sentence]:
    """The words of a text, sentence by sentence; those within spans are left out."""
    sentence = Sentence()
    end, at = 0, 0
    for match in TOKEN.finditer(plain):
        token_shape = shape(match.group())
        if not token_shape.word:
            continue
        start = match.start() + token_shape.lead
        while at < len(spans) and spans[at][1] <= start:
            at += 1
        if at < len(spans) and start >= spans[at][0]:
            continue
        gap = plain[end:start]
        opens = _opens(gap, sentence)
        if sentence.words and (opens is Opens.SENTENCE or len(sentence.words) == MOST):
            yield sentence
            sentence = Sentence()
        if not sentence.words:
            sentence.heading = "#" in gap and _HEADING.search(gap) is not None
        joined = gap == " " or (gap == ". " and opens is Opens.NO) or gap == "\u00a0"
        end = match.end() - token_shape.trail
        sentence.words.append(Word(start, end, token_shape, joined, opens, gap))
    if sentence.words:
        yield sentence


def _opens(gap: str, sentence: Sentence) -> Opens:
    if not sentence.words:
        return Opens.NO if LETTER.search(gap[-200:]) else Opens.SENTENCE
    if gap == " ":
        return Opens.NO
    if _SENTENCE_END.search(gap[:500]):
        last = sentence.words[-1].shape
        if gap[0] == "." and "\n" not in gap and not set("!?…") & set(gap):
            if last.kind is Kind.INITIAL and last.word != "I":
                return Opens.NO
            if last.low in words.ABBREVIATED:
                return Opens.NO
        return Opens.SENTENCE
    if "。" in gap:
        return Opens.NO
    if ":" in gap or "|" in gap or "—" in gap or "–" in gap:
        return Opens.LABEL
    return Opens.LABEL if gap[-1] in '"“„«' else Opens.NO


_BREAK: Final = re.compile(r"[.!?…][\"'”’)\]]{0,3}(?=\s)|[。！？]|\n")
_LAST_WORD: Final = re.compile(r"[\w.]{1,10}$")


def spans(plain: str) -> Iterator[tuple[int, int]]:
    """Where each sentence starts and ends, the sign that ends it left out."""
    start = 0
    for match in _BREAK.finditer(plain):
        if match.start() >= start and _is_end(plain, match):
            if match.start() > start:
                yield start, match.start()
            start = match.end()
    if start < len(plain):
        yield start, len(plain)


def _is_end(plain: str, match: re.Match[str]) -> bool:
    if match.group() == "\n":  # a line that is only wrapped goes on in lower case
        return not plain[match.end() : match.end() + 40].lstrip(" \t")[:1].islower()
    if match.group()[0] != ".":
        return True
    last = _LAST_WORD.search(plain, max(0, match.start() - 10), match.start())
    word = last.group() if last else ""
    return word.lower() not in words.ABBREVIATED and not (len(word) == 1 and word.isupper())
