"""What a single word looks like: a capitalised word, an acronym, a number, an identifier.

A shape is read off the word alone, so it is kept for words that come again. Whether a capitalised
word is a name is for ``marks`` to say, which sees what stands around it.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple

from enfold.models.extraction import words
from enfold.vocabulary import FILE_SUFFIXES

LONGEST: Final = 200
"""Characters of a word that may be a name; a longer one is data."""


class Kind(IntEnum):
    """What a word looks like."""

    OTHER = 0
    LOWER = 1
    NUMBER = 2
    CAPITAL = 3
    ACRONYM = 4
    CAMEL = 5
    INITIAL = 6
    IDENTIFIER = 7


CAPPED: Final = frozenset([Kind.CAPITAL, Kind.ACRONYM, Kind.CAMEL, Kind.INITIAL])


class Shape(NamedTuple):
    """What a word looks like.

    Attributes:
        kind: see ``Kind``.
        lead, trail: how many characters at either end are punctuation and no part of it.
        word: what is between.
        low: the same in lower case.
        possessive: whether an ``'s`` was taken off.
        type: the type that the spelling itself says.
    """

    kind: Kind
    lead: int
    trail: int
    word: str
    low: str
    possessive: bool = False
    type: str | None = None


_TRIM_LEFT: Final = "*_'’‘#:=+&~-–—"
_TRIM_RIGHT: Final = ".:*'’‘_=&~/\\-–—"
_ELIDED: Final = re.compile(r"(?:[ldLD]|qu|[a-z]{2,4}ll)['’](?=[A-ZÀ-Ý])")
_VERSION: Final = re.compile(r"v?\d+(?:\.\d+){0,4}[a-z]?|\d+(?:\.\d+)*\.x", re.ASCII)
_MODEL: Final = re.compile(r"[A-Z]{1,6}-?\d{1,5}[A-Za-z0-9]{0,6}(?:-[A-Za-z0-9]+)*", re.ASCII)
_NO_MODEL: Final = re.compile(r"[QHPVLTWD]\d|FY-?\d+|[A-Z]\d{4,}|UTF-?\d+|SHA-?\d+", re.ASCII)
_EDITION: Final = re.compile(r"([A-Z][A-Za-z]{2,})-v?\d[\w-]*(?:\.[\w-]+)*", re.ASCII)
_TICKET: Final = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d{1,6}", re.ASCII)
_LETTERS_DIGITS: Final = re.compile(r"[a-z]{3,}\d{1,2}[a-z]{0,2}", re.ASCII)
_NO_LETTERS_DIGITS: Final = re.compile(
    r"(?:line|step|test|page|file|day|week|phase|part|item|foo|bar|baz|fig|table|col|row|key|var|val|"
    r"user|arg|int|uint|float|utf|sha|base|mid|top|node|host|version|ver|rev|jan|feb|mar|apr|may|jun|"
    r"jul|aug|sep|oct|nov|dec)\d+\w*"
)
_SNAKE: Final = re.compile(r"_{0,2}[^\W\d_]\w*_\w+")
_PACKAGE: Final = re.compile(
    r"@[a-z0-9][\w.-]*/[\w.-]+(?:@v?\d[\w.-]*)?|[A-Za-z][\w.-]*(?:\[[\w,-]+\])?==[\w.]+"
    r"|[a-z][\w.-]*@v?\d[\w.-]*",
    re.ASCII,
)
_HANDLE: Final = re.compile(r"@[^\W\d_][\w-]{1,38}")
_PATH_START: Final = re.compile(r"(?:~|\.{1,2}|\$\{?[A-Z_]+\}?|[A-Za-z]:)?[/\\][\w.@-]")
_PATH_PARTS: Final = re.compile(r"(?:[\w.@$~:{}-]*[/\\])+[\w.@-]*")
_FILE: Final = re.compile(r"[\w-][\w.-]*\.([A-Za-z][A-Za-z0-9]{0,8})")
_DOTFILE: Final = re.compile(r"\.[A-Za-z][\w.-]{2,}")
_HOST: Final = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+([a-z]{2,8})(?::\d+)?", re.ASCII)
_DOTTED: Final = re.compile(r"(?:[^\W\d]\w*\.){1,8}[^\W\d]\w*")
_KEBAB: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9.]+)+", re.ASCII)
_SIGNED: Final = re.compile(r"[A-Z][A-Za-z]{0,11}(?:\+\+|#|\+)", re.ASCII)
_JS: Final = re.compile(r"[A-Z][\w]+\.(?:js|ai|io|NET)|\.NET|[A-Z]+\.NET")
_ACRONYM_JOINED: Final = re.compile(r"[A-Z]{1,4}&[A-Z]{1,4}|(?:[A-Z]\.){2,5}[A-Z]?\.?", re.ASCII)


def shape(token: str) -> Shape:
    """What a run of characters without blanks looks like."""
    return _kept(token) if len(token) <= LONGEST else Shape(Kind.OTHER, 0, 0, "", "")


@lru_cache(maxsize=1 << 16)
def _kept(token: str) -> Shape:
    left = token.lstrip(_TRIM_LEFT)
    lead = len(token) - len(left)
    if left.startswith("/") and token[:lead].endswith("~"):
        lead, left = lead - 1, token[lead - 1 :]
    if elided := _ELIDED.match(left):  # l'Institut
        lead, left = lead + elided.end(), left[elided.end() :]
    word = left.rstrip(_TRIM_RIGHT)
    if lead and token[lead - 1] == "_" and left.endswith("__"):
        lead, word = lead - min(2, lead), token[lead - min(2, lead) :].rstrip(".:*'’=&/-")
    elif left[len(word) :].startswith("/") and "/" in word:  # a folder
        word += "/"
    possessive = word[-2:] in ("'s", "’s")
    if possessive:
        word = word[:-2]
    trail = len(token) - lead - len(word)
    if not word:
        return Shape(Kind.OTHER, lead, trail, "", "")
    kind, type = _kind(word)
    return Shape(kind, lead, trail, word, word.lower(), possessive, type)


def _kind(word: str) -> tuple[Kind, str | None]:
    """(what it looks like, what type that is)"""
    if word.isalpha():
        return _letters(word), None
    if _VERSION.fullmatch(word):
        return Kind.NUMBER, None
    if _PACKAGE.fullmatch(word):
        return Kind.IDENTIFIER, "technology"
    if word[0] == "@":
        name = word[1:].lower()
        known = _HANDLE.fullmatch(word) and name not in words.NOT_HANDLES
        return (Kind.IDENTIFIER if known else Kind.OTHER), None
    if "/" in word or "\\" in word:
        return (Kind.IDENTIFIER if _is_path(word) else Kind.OTHER), None
    if word.lower() in words.MEASURES or word[0].isdigit():
        return Kind.OTHER, None
    return _mixed(word)


def _letters(word: str) -> Kind:
    if word.islower() or not word[0].isalpha():
        return Kind.LOWER
    if len(word) == 1:
        return Kind.INITIAL if word.isupper() else Kind.OTHER
    if word.isupper():
        if word in words.FILES:
            return Kind.IDENTIFIER
        return Kind.ACRONYM if len(word) < 6 else Kind.OTHER
    if word in words.FILES:
        return Kind.IDENTIFIER
    if word[0].isupper() and word[1:].islower():
        return Kind.CAPITAL
    if word.lower() in words.MEASURES or (word[:-1].isupper() and word[-1] == "s"):
        return Kind.OTHER
    return Kind.CAMEL if any(map(str.islower, word)) else Kind.OTHER


def _is_path(word: str) -> bool:
    if not _PATH_PARTS.fullmatch(word):
        return False
    if _PATH_START.match(word):
        return len(word) > 2
    parts = re.split(r"[/\\]", word)
    if parts[-1] == "":
        return len(parts) > 2 or (len(parts) == 2 and not parts[0].isdigit() and len(parts[0]) > 2)
    return "." in parts[-1][1:] and parts[-1].rpartition(".")[2].lower() in FILE_SUFFIXES


def _mixed(word: str) -> tuple[Kind, str | None]:
    """A word with digits or signs in it."""
    if _TICKET.fullmatch(word) or _MODEL.fullmatch(word):
        return (Kind.OTHER if _NO_MODEL.fullmatch(word) else Kind.IDENTIFIER), None
    edition = _EDITION.fullmatch(word)
    if edition and edition.group(1).lower() not in words.COUNTED | words.MONTHS:
        return Kind.IDENTIFIER, None
    if _SIGNED.fullmatch(word) or _JS.fullmatch(word):
        return Kind.IDENTIFIER, "technology"
    if _ACRONYM_JOINED.fullmatch(word):
        return (Kind.CAPITAL if len(word) > 3 or "&" in word else Kind.OTHER), None
    if word[0] == ".":
        return (Kind.IDENTIFIER if _DOTFILE.fullmatch(word) else Kind.OTHER), None
    if "_" in word:
        return (Kind.IDENTIFIER if _SNAKE.fullmatch(word) else Kind.OTHER), None
    if "." in word:
        return _dotted(word), None
    if "-" in word or "'" in word or "’" in word:
        return _joined(word), None
    if _LETTERS_DIGITS.fullmatch(word) and not _NO_LETTERS_DIGITS.fullmatch(word):
        return Kind.IDENTIFIER, None
    if word.isalnum() and word[0].isalpha() and any(map(str.isupper, word)):
        lower = any(map(str.islower, word))
        return (Kind.CAMEL if lower and len(word) > 3 else Kind.OTHER), None
    return Kind.OTHER, None


def _dotted(word: str) -> Kind:
    file = _FILE.fullmatch(word)
    if file and file.group(1).lower() in FILE_SUFFIXES and not word[0].isdigit():
        return Kind.IDENTIFIER
    host = _HOST.fullmatch(word)
    if host:
        known = host.group(1) in words.DOMAINS and len(word.split(".", maxsplit=1)[0]) > 1
        return Kind.IDENTIFIER if known else Kind.OTHER
    if _DOTTED.fullmatch(word):
        parts = word.split(".")
        camel = any(
            _letters(part) in (Kind.CAPITAL, Kind.CAMEL) and len(part) > 2 for part in parts
        )
        same_sentence = len(parts) == 2 and parts[1][0].isupper() and not parts[0].isupper()
        if len(parts) == 2 and same_sentence and parts[0] == parts[0].lower():
            return Kind.OTHER  # a full stop without a blank behind it
        return Kind.IDENTIFIER if camel and min(map(len, parts)) > 1 else Kind.OTHER
    return Kind.OTHER


def _joined(word: str) -> Kind:
    """A word with hyphens or an apostrophe in it."""
    parts = re.split("[-'’]", word)
    if all(part.isalpha() for part in parts):
        if word.isupper():
            return Kind.OTHER
        if all(part[0].isupper() for part in parts):
            return Kind.CAPITAL
        if parts[0][0].isupper() and "-" not in word and len(parts) == 2 and len(parts[1]) > 2:
            return Kind.CAPITAL
    if not _KEBAB.fullmatch(word):
        return Kind.LOWER if word.islower() else Kind.OTHER
    return Kind.IDENTIFIER if _is_program(parts) else Kind.LOWER


def _is_program(parts: list[str]) -> bool:
    """Whether words with hyphens between them are the name of a program, and no ordinary word."""
    head, tail = parts[0], parts[-1]
    if any(any(map(str.isdigit, part)) for part in parts[1:]):
        return head not in words.DATE_HEADS and len(head) > 1
    if tail in words.TAILS:
        return head not in words.PLAIN_HEADS and len(head) > 1
    return tail == "service" and head not in words.PLAIN_HEADS
