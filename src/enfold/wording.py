"""Text prepared for the tokenizer of the full-text index: what is indexed, and what is sought."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from enfold.names import normalized

_CHARACTER: Final = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u2e80-\u2fdf\u3005-\u3007\u3041-\u30ff\u3100-\u318f\u31a0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Characters of scripts that put no blanks between words. Hangul, which does, is not among them."""

_UNSPACED: Final = re.compile(f"({_CHARACTER})")
_UNSPACED_RUN: Final = re.compile(f"({_CHARACTER}+)")

STOP_WORDS: Final = frozenset(
    """a about above after again against all also am an and any are aren as at be because been
    before being below between both but by can cannot could couldn d did didn do does doesn
    doing don done down during each else ever every few for from further get give gives go
    going got had hadn has hasn have haven having he her here hers herself him himself his how
    i if in into is isn it its itself just know let like ll m many may me mine might more most
    much must my myself no nor not now of off on once one only or other our ours out over own
    per please re s same shall she should shouldn so some something such t tell than that the
    their theirs them themselves then there these they thing things this those through to too
    under until up upon us use used ve very via was wasn we were weren what whatever when
    where which while who whom whose why will with within without won would wouldn you your
    yours yourself""".split()
)
"""English words that say nothing of what is asked for, and what an apostrophe leaves of them."""


def words(text: str) -> str:
    """The text with a blank round each character of a script that is written without blanks, so
    that each is found by itself and a word of several as a phrase."""
    if text.isascii():
        return text
    return _UNSPACED.sub(r" \1 ", normalized(text))


def content_words(text: str) -> list[str]:
    """The words of a question that say what it is about, each once, in their order. In scripts
    that put no blanks between words these are every two characters that stand together."""
    runs = "".join(char if _is_of_word(char) else " " for char in normalized(text)).split()
    return list(dict.fromkeys(word for run in runs for word in _words_of(run)))


def _is_of_word(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char)[0] == "M"


def _words_of(run: str) -> Iterator[str]:
    for piece in _UNSPACED_RUN.split(run):
        if _UNSPACED.match(piece):
            letters = [char for char in piece if char.isalnum()]
            yield from [" ".join(pair) for pair in pairwise(letters)] or letters
        elif piece and piece.casefold() not in STOP_WORDS:
            yield piece.casefold()
