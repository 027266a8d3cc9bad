"""Which known names stand in a text.

One automaton over every name finds all occurrences in one pass; the rest of the module says which
of them are the name and not a part of another word. Whole words in every script, the longest name
first, no two of them overlapping.

A name that is also an ordinary word would link half of a graph to one entity, so the less a name
says, the more exactly it has to be written:

- a single character is never looked for
- a name of one plain word written in lower case (``power``), and one of less than four letters
  (``Go``, ``AWS``), is found as written only, and not as a part of ``power-law`` or ``aws.yml``
- a name of one plain word with a capital (``Documentation``, ``SCROOGE``) is found where the text
  gives it a capital too (``Scrooge``, but no ``documentation``)
- every other name (several words, ``GitHub``, ``cpu_package``, ``GPT-4``) is found in any case

Asked to, a spotter takes it for one name however its words are joined, with blanks, hyphens or
underscores: ``claude-code`` is ``Claude Code``, but not where it is a part of ``claude-code-sdk``.
Where the text's own way of joining is a name as well, that one is meant.

A name of more than ``WORDS`` words, ``PIECES`` pieces or ``LENGTH`` characters is looked for in no
text, so that a text has a bounded number of runs that may be a name. Where a graph is large and the
texts are few, ``phrases`` gives those runs, and a spotter over the names among them finds what one
over all names does.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Final

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from enfold.names import bounded, folded, is_cjk, letters_of, normalized

WORDS: Final = 12
PIECES: Final = 32
"""Pieces are words, signs, and the characters of scripts that put no blanks between words."""

LENGTH: Final = 200

_SLICE: Final = 1 << 16
"""What is looked at in one go of a long text, so that only what is found of it is held whole."""

_ASCII_PIECE: Final = re.compile(r"\w+|[^ ]")
_JOINS: Final = "-/\\@:=&"
_JOINED: Final = {ord("-"): " ", ord("_"): " "}
_UNSPACED: Final = (("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"))
"""Thai and Lao, Burmese, Khmer: written, as Han and kana are, without blanks between words."""


_Place = tuple[int, int, int]
"""A name in a text: start, end, which."""


class Written(IntEnum):
    """How exactly an occurrence has to be written to be the name."""

    ANY_CASE = 0
    CAPITAL = 1
    EXACT = 2


@dataclass(frozen=True, slots=True)
class Spotted:
    """A name in a text.

    Attributes:
        ids: the rows that have it.
        spelling: how the text writes it.
        word: whether it is a plain word in lower case, which may be meant as the word it is. Who
            reads many texts can tell by how often it stands there.
    """

    ids: tuple[int, ...]
    spelling: str
    word: bool


class Spotter:
    """The names of a graph, ready to be found in any number of texts.

    Args:
        names: (row id, spelling); several rows may have one name. A million names take about
            5 s and 450 MB.
        any_join: blanks, hyphens and underscores between words are alike.
    """

    def __init__(self, names: Iterable[tuple[int, str]], *, any_join: bool = False) -> None:
        at: dict[str, int] = {}
        patterns: list[str] = []
        self._any_join = any_join
        self._forms: dict[int, dict[str, tuple[int, ...]]] = {}
        self._ids: list[int | tuple[int, ...]] = []
        self._plain: list[str] = []
        self._how: list[Written] = []
        for row_id, spelling in names:
            plain = _one_line(spelling)
            pattern = folded(plain)
            if pattern.startswith("@"):
                plain, pattern = plain[1:].lstrip(), pattern[1:].lstrip()
            if any_join:
                written, pattern = pattern, pattern.translate(_JOINED)
            if not _is_sought(pattern.replace(" ", "-") if any_join else pattern):
                continue
            if (index := at.setdefault(pattern, len(patterns))) < len(patterns):
                known = self._ids[index]
                self._ids[index] = (*known, row_id) if isinstance(known, tuple) else (known, row_id)
                self._how[index] = min(self._how[index], how_exactly(plain))
                if any_join:
                    self._note_form(index, written, row_id, known)
                continue
            patterns.append(pattern)
            self._ids.append(row_id)
            self._plain.append(plain)
            self._how.append(how_exactly(plain))
        self._automaton = AhoCorasick(
            patterns,
            matchkind=MatchKind.Standard,
            implementation=Implementation.ContiguousNFA,
            store_patterns=False,
        )

    def _note_form(
        self, index: int, written: str, row_id: int, known: int | tuple[int, ...]
    ) -> None:
        """Which rows have a name joined in one way, where it is joined in several."""
        first = folded(self._plain[index])
        if written == first and index not in self._forms:
            return
        forms = self._forms.setdefault(
            index, {first: known if isinstance(known, tuple) else (known,)}
        )
        forms[written] = (*forms.get(written, ()), row_id)

    def spot(self, text: str) -> Iterator[Spotted]:
        """The names in a text, in the order in which they stand there."""
        plain = _one_line(text)
        low, places = _lowered(plain)
        for overlapping in _overlapping(self._names(plain, low, places)):
            for start, end, index in _longest_first(overlapping):
                yield self._spotted(index, plain, low, places, start, end)

    def _names(self, plain: str, low: str, places: Sequence[int] | None) -> Iterator[_Place]:
        """Every name that stands alone, by its start."""
        searched = low.translate(_JOINED) if self._any_join else low
        for first in range(0, len(low), _SLICE):
            part = searched[first : first + _SLICE + LENGTH]
            found = self._automaton.find_matches_as_indexes(part, overlapping=True)
            for start, end, index in sorted((first + a, first + b, i) for i, a, b in found):
                within = start < first + _SLICE
                if within and self._is_name(index, plain, low, start, end, places):
                    yield start, end, index

    def _spotted(
        self, index: int, plain: str, low: str, places: Sequence[int] | None, start: int, end: int
    ) -> Spotted:
        ids = self._ids[index]
        if index in self._forms:
            ids = self._forms[index].get(low[start:end], ids)
        written = _between(plain, places, start, end)
        word = self._how[index] is Written.EXACT and len(written) > 3
        return Spotted(ids if isinstance(ids, tuple) else (ids,), written, word)

    def _is_name(
        self, index: int, plain: str, low: str, start: int, end: int, places: Sequence[int] | None
    ) -> bool:
        if " " in (low[start], low[end - 1]):  # what a name begins or ends with joins nothing
            return False
        how = self._how[index]
        strict = how is Written.EXACT or (self._any_join and self._joined(index, low[start:end]))
        if not _stands_alone(low, start, end, strict=strict):
            return False
        if how is Written.ANY_CASE:
            return True
        written = _between(plain, places, start, end)
        return written == self._plain[index] if how is Written.EXACT else written[0].isupper()

    def _joined(self, index: int, written: str) -> bool:
        """Whether a name is joined here in a way that no row of it is."""
        forms = self._forms.get(index)
        return written != folded(self._plain[index]) if forms is None else written not in forms


def _overlapping(names: Iterable[_Place]) -> Iterator[list[_Place]]:
    """The names, by their start, in groups that have no character in common."""
    group: list[_Place] = []
    reach = 0
    for name in names:
        if group and name[0] >= reach:
            yield group
            group = []
        group.append(name)
        reach = max(reach, name[1])
    if group:
        yield group


def _longest_first(names: list[_Place]) -> list[_Place]:
    """Those of the names that are left where the longest is taken first, then the first."""
    if len(names) == 1:
        return names
    taken: list[_Place] = []
    covered: set[int] = set()
    for start, end, index in sorted(names, key=lambda name: (name[0] - name[1], name[0])):
        # None is longer than those before it: what overlaps one of them begins or ends in it.
        if start not in covered and end - 1 not in covered:
            covered.update(range(start, end))
            taken.append((start, end, index))
    return sorted(taken)


def phrases(text: str) -> Iterator[str]:
    """The identity key of every run of a text that may be a name; some more than once."""
    return map(bounded, _runs(text))


def joined_phrases(text: str) -> Iterator[str]:
    """The merge key of every run of several words that may be a name, however they are joined."""
    for run in _runs(text):
        if " " in run or "-" in run or "_" in run:
            yield bounded(letters_of(run))


def _runs(text: str) -> Iterator[str]:
    low, _ = _lowered(_one_line(text))
    window: deque[tuple[int, bool]] = deque(maxlen=PIECES)
    for start, end, word in _pieces(low):
        window.append((start, word))
        words = 0
        for first, is_word in reversed(window):
            words += is_word
            if words > WORDS or end - first > LENGTH:
                break
            if end - first > 1:
                yield low[first:end]


def _is_sought(pattern: str) -> bool:
    """Whether a name is one of the ``phrases`` of a text that it stands in."""
    if len(pattern) <= 2 * WORDS:  # a word and what parts it from the next are two characters
        return len(pattern) > 1
    if len(pattern) > LENGTH:
        return False
    pieces = [word for _, _, word in _pieces(pattern)]
    return len(pieces) <= PIECES and sum(pieces) <= WORDS


def _pieces(low: str) -> Iterator[tuple[int, int, bool]]:
    """(start, end, whether it is a word) of each piece; names begin and end where pieces do."""
    if low.isascii():
        for match in _ASCII_PIECE.finditer(low):
            yield match.start(), match.end(), _one_word(low[match.start()], "a")
        return
    start = 0
    for end in range(1, len(low) + 1):
        if end == len(low) or not _one_word(low[end - 1], low[end]):
            if low[start:end] != " ":
                yield start, end, _one_word(low[start], "a")
            start = end


def how_exactly(spelling: str) -> Written:
    """How exactly the spelling has to be written in a text."""
    letters = sum(map(str.isalnum, spelling))
    if is_cjk(spelling):
        return Written.ANY_CASE
    if letters < 4:
        return Written.EXACT
    if not spelling.isalpha():
        return Written.ANY_CASE
    if spelling == spelling.lower():
        return Written.EXACT
    one_capital = spelling[0].isupper() and spelling[1:] == spelling[1:].lower()
    return Written.CAPITAL if one_capital or spelling.isupper() else Written.ANY_CASE


def _one_line(text: str) -> str:
    return " ".join(normalized(text).split())


def _lowered(plain: str) -> tuple[str, Sequence[int] | None]:
    """(the case-folded text, for each of its characters its place in the text; None where the two
    have equal places)"""
    low = folded(plain)
    if len(low) == len(plain):
        return low, None
    parts, places = [], array("L")
    for first in range(0, len(plain), _SLICE):
        chars = [folded(char) for char in plain[first : first + _SLICE]]
        parts.append("".join(chars))
        places.extend(at for at, char in enumerate(chars, first) for _ in char)
    return "".join(parts), places


def _between(plain: str, places: Sequence[int] | None, start: int, end: int) -> str:
    return plain[start:end] if places is None else plain[places[start] : places[end - 1] + 1]


def _stands_alone(text: str, start: int, end: int, *, strict: bool) -> bool:
    """Whether the characters beside are no part of the same word. Where a word ends is asked of
    the two characters that meet, so that a Latin name stands alone beside a Han character."""
    before, after = text[start - 1] if start else " ", text[end] if end < len(text) else " "
    if _one_word(before, text[start]) or _one_word(text[end - 1], after):
        return False
    if after in "+#" and after != text[end - 1]:
        return False
    farther = text[end + 1] if end + 1 < len(text) else " "
    nearer = text[start - 2] if start > 1 else " "
    if after == "." and farther.isalnum():  # a file, a domain, a longer version
        return False
    if before in ".," and nearer.isdigit() and text[start].isdigit():
        return False
    if after == "," and farther.isdigit() and text[end - 1].isdigit():
        return False
    if not strict:
        return True
    return not (
        (after in _JOINS and farther.isalnum())
        or (before in _JOINS + "." and (nearer.isalnum() or nearer in _JOINS))
    )


@lru_cache(maxsize=65_536)
def _one_word(left: str, right: str) -> bool:
    if unicodedata.category(right)[0] == "M":
        return True
    return _in_word(left) and _in_word(right) and not (_unspaced(left) or _unspaced(right))


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_" or unicodedata.category(char)[0] == "M"


def _unspaced(char: str) -> bool:
    return is_cjk(char) or any(low <= char <= high for low, high in _UNSPACED)
