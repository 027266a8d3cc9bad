"""What is missed, sorted by what a rule would have had to see."""

from __future__ import annotations

from typing import Final

from rapidfuzz.fuzz import ratio

from enfold.model import Ruling, Verdict
from enfold.names import Name
from enfold.vocabulary import ARTICLES

NEAR: Final = 75
"""Names of at least this ``rapidfuzz`` ratio, out of 100, are near in letters. Chosen, not
measured: it only sorts what is shown."""


def missed(left: Name, right: Name, ruling: Ruling) -> str:
    """In a few words, what stands between two names of one thing."""
    if ruling.rule != "none":
        how = "kept apart by" if ruling.verdict is Verdict.APART else "asked by"
        return f"{how} {ruling.rule}"
    if not (left.letters and right.letters):
        return "no letters"
    if left.letters.isascii() != right.letters.isascii() and left.latin != right.latin:
        return "other letters, script or language"
    if _inside(left, right) or _inside(right, left):
        return "one name inside the other"
    if ratio(left.latin, right.latin) >= NEAR:
        return "near in letters"
    words = (set(left.words) & set(right.words)) - ARTICLES
    if words:
        return "a word in common"
    if _initials(left, right) or _initials(right, left):
        return "initials"
    return "nothing in common"


def _inside(inner: Name, outer: Name) -> bool:
    words = outer.words
    phrases = (
        "".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, len(words) + 1)
        if end - start < len(words)
    )
    return len(words) <= _MOST_WORDS and inner.letters in phrases


_MOST_WORDS: Final = 40
"""A name of more words is a text, and its phrases are not tried."""


def _initials(short: Name, long: Name) -> bool:
    starts = "".join(word[0] for word in long.words if word not in ARTICLES)
    return len(starts) > 1 and short.letters == starts
