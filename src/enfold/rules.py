"""The rules: a table of judgements on two names, vetoes first; the first that speaks decides.

A rule sees two names with their types and the frozen context of the graph, and nothing else, so
that one pair has one ruling wherever and whenever it is asked. Only ``identical`` folds. Its
escapes (``short-key``, ``punctuation``, ``symbol``, ``typed``) name why a pair of equal letters
asks instead.

How a rule's pairs are found stands in ``pairs``, as does how a graph adds rules of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from rapidfuzz.distance import OSA

from enfold.errors import Invalid
from enfold.model import Context, Ruling, Verdict
from enfold.names import Name, is_cjk, letters_of
from enfold.vocabulary import (
    ACRONYM_SILENT,
    ARTICLES,
    FILE_TYPES,
    GENERATIONS,
    KIND_WORDS,
    LANDS,
    LEGAL_ENDINGS,
    ORGANIZATION_TYPES,
    PERSON_GENERATIONS,
    PLACE_KINDS,
    PLACE_TYPES,
    ROMAN,
    VARIANTS,
    VENDORS,
    opposed,
)

VERSION: Final = 1
"""Version of the rules and of what they offer and seek; a graph's suggestions carry it."""

ONE_PLACE: Final = 32
"""Above this many letters both edits must lie in one place: a long name that differs in two places
by a letter each is rarely a misspelling, and its two-letter deletions are too many to try."""

NEVER_EDITED: Final = 200
"""Above this many letters a name is a text; two texts are not compared by edits."""

LONGER: Final = 2
"""How many words longer the other name may be for ``contained`` and ``person``."""

COMMON_AT_LEAST: Final = 5
COMMON_ONE_IN: Final = 10_000
"""A word is common where at least five names, and one in ten thousand, carry it. Both are chosen,
not measured."""

Judge = Callable[[Name, Name, Context], Ruling | None]


@dataclass(frozen=True)
class Rule:
    """One row of the table.

    Attributes:
        name: stable, lower-case; what a ruling, a merge and a question name for ever.
        verdict: what it rules when it speaks (``identical`` may ask instead).
        judge: the judgement; None where the rule has nothing to say.
        sees: what it sees, in a sentence.
        source: where the rule or its numbers come from.
    """

    name: str
    verdict: Verdict
    judge: Judge
    sees: str
    source: str


def _ruling(verdict: Verdict, rule: str, score: float, reason: str) -> Ruling:
    return Ruling(verdict, rule, round(min(max(float(score), 0.0), 1.0), 2), reason)


def is_organization(name: Name) -> bool:
    return name.kind in ORGANIZATION_TYPES


def is_place(name: Name) -> bool:
    return name.kind in PLACE_TYPES


def is_file(name: Name) -> bool:
    """Typed as a file, or written as a path."""
    if name.kind in FILE_TYPES:
        return True
    text = name.text
    return text.startswith(("/", "./", "../", "~/")) or "\\" in text


def both_person(left: Name, right: Name) -> bool:
    return left.person and right.person


# ---- vetoes -------------------------------------------------------------------------------------


def version(left: Name, right: Name, _: Context) -> Ruling | None:
    return _version(left, right, strict=False)


def version_strict(left: Name, right: Name, _: Context) -> Ruling | None:
    return _version(left, right, strict=True)


def _version(left: Name, right: Name, *, strict: bool) -> Ruling | None:
    apart = Verdict.APART
    if left.numbers != right.numbers and (strict or not _agree_as_words(left, right)):
        if left.numbers and right.numbers:
            shown = f"{'.'.join(left.numbers)} and {'.'.join(right.numbers)}"
            return _ruling(apart, "version", 0, f"The numbers disagree: {shown}.")
        number = ".".join(left.numbers or right.numbers)
        return _ruling(apart, "version", 0, f"Only one of the names carries a number ({number}).")
    if left.letters == right.letters:
        return None
    if not strict and (reason := _number_words_differ(left, right)):
        return _ruling(apart, "version", 0, reason)
    for here, there in zip(left.number_suffixes, right.number_suffixes, strict=False):
        # Written apart, the letters are a word of the other name: ``4o`` and ``4 o``.
        apart_there = not there and here in right.words
        apart_here = not here and there in left.words
        if here != there and not (apart_there or apart_here):
            shown = f"{here or 'none'} and {there or 'none'}"
            return _ruling(apart, "version", 0, f"The letters behind a number disagree: {shown}.")
    if left.tail and right.tail and left.tail != right.tail:
        reason = f"They end in different numerals or letters: {left.tail} and {right.tail}."
        return _ruling(apart, "version", 0, reason)
    return None


def _agree_as_words(left: Name, right: Name) -> bool:
    """Whether the numbers are the same once those written as words are read: ``First``, ``1st``."""
    return left.letters != right.letters and left.counted == right.counted


def _number_words_differ(left: Name, right: Name) -> str:
    """Why number words part two names that both have one, else "". One alone is no number: it may
    be a name (``Capital One``)."""
    if (mine := left.counted) == left.numbers:
        return ""
    if (other := right.counted) in (mine, right.numbers):
        return ""
    return f"The numbers disagree: {'.'.join(mine)} and {'.'.join(other)}."


def extension(left: Name, right: Name, _: Context) -> Ruling | None:
    mine, other = left.suffix, right.suffix
    if not (mine or other):
        return None
    if mine and other:
        differ = mine != other and left.stem == right.stem
        reason = f"One name with two suffixes, .{mine} and .{other}: two files or addresses."
        return _ruling(Verdict.APART, "extension", 0, reason) if differ else None
    suffix, named, plain = (mine, left, right) if mine else (other, right, left)
    if named.stem != plain.letters:
        return None
    if suffix == "js" and not (is_file(left) or is_file(right)):
        return None
    reason = (
        f"{named.spelling} is {plain.spelling} plus .{suffix}: a file or address named after it."
    )
    return _ruling(Verdict.APART, "extension", 0, reason)


_GENERATIONS: Final = GENERATIONS.keys() | PERSON_GENERATIONS.keys()


def _generation(name: Name, person: bool) -> str:
    words = name.words
    last = words[-1] if len(words) > 1 else ""
    if last not in _GENERATIONS:
        return ""
    return GENERATIONS.get(last) or (PERSON_GENERATIONS.get(last, "") if person else "")


def opposed_words(left: Name, right: Name, _: Context) -> Ruling | None:
    if left.opposable and right.opposable:
        mine, other = Counter(left.opposable), Counter(right.opposable)
        for word, against in product(mine - other, other - mine):
            if opposed(word, against):
                reason = f"{word} and {against} can't be said of one thing."
                return _ruling(Verdict.APART, "opposed", 0, reason)
    person = both_person(left, right)
    here, there = _generation(left, person), _generation(right, person)
    if here != there:
        reason = f"A generation is told apart by {here or there}."
        return _ruling(Verdict.APART, "opposed", 0, reason)
    return None


def variant(left: Name, right: Name, _: Context) -> Ruling | None:
    if not left.numbers or left.numbers != right.numbers:
        return None  # the latter is for `version` to say
    short, long = sorted((left.words, right.words), key=len)
    added = long[len(short) :]
    if not added or long[: len(short)] != short:
        return None
    for word in added:
        lone = len(word) == 1 and word.isalpha() and not is_cjk(word)
        if lone or word in VARIANTS or word in ROMAN:
            reason = f"“{word}” behind a number names a variant of it."
            return _ruling(Verdict.APART, "variant", 0, reason)
    return None


def symbol(left: Name, right: Name, _: Context) -> Ruling | None:
    if not (left.symbols and right.symbols) or left.symbols == right.symbols:
        return None
    reason = f"The symbols differ: {left.symbols} and {right.symbols}."
    return _ruling(Verdict.APART, "symbol", 0, reason)


# ---- the one that folds -------------------------------------------------------------------------


def _types_disagree(left: Name, right: Name) -> bool:
    return bool(left.kind and right.kind and left.kind != right.kind)


def _escape(left: Name, right: Name, context: Context, *, strict: bool) -> Ruling | None:
    ask, key = Verdict.ASK, left.letters
    if left.key != right.key:
        if left.short:
            reason = f"Both come down to “{key}”, too short to be a whole name."
            return _ruling(ask, "short-key", 0.5, reason)
        if left.prefix != right.prefix:
            shown = left.prefix or right.prefix
            reason = f"Equal letters, but one is written with a leading “{shown}”."
            return _ruling(ask, "punctuation", 0.5, reason)
        if not strict and left.symbols != right.symbols:
            shown = left.symbols or right.symbols
            reason = f"Equal letters, but only one carries “{shown}”."
            return _ruling(ask, "symbol", 0.5, reason)
        if not strict and left.signs and right.signs and left.signs != right.signs:
            reason = (
                f"Equal letters, but the signs beside them differ: {left.signs}, {right.signs}."
            )
            return _ruling(ask, "symbol", 0.5, reason)
        if not strict and (reason := _addressed_otherwise(left, right)):
            return _ruling(ask, "punctuation", 0.5, reason)
    if not strict and context.types_trusted and _types_disagree(left, right):
        reason = f"Equal letters, but one is a {left.type} and the other a {right.type}."
        return _ruling(ask, "typed", 0.6, reason)
    return None


def _addressed_otherwise(left: Name, right: Name) -> str:
    """Why equal letters are not one address, package or account, or ""."""
    if left.address and right.address and left.words != right.words:
        return "Equal letters, but two addresses or paths whose parts end elsewhere."
    if (left.scoped or right.scoped) and ("/" in left.text) != ("/" in right.text):
        return "Equal letters, but only one says that it is a package in a scope."
    if left.handle != right.handle and _accounts(left, right):
        return "Equal letters, but two accounts or mailboxes that are written otherwise."
    return ""


def _accounts(left: Name, right: Name) -> bool:
    """Whether both are written as the name of an account, or both as a mailbox."""
    return all(
        name.text.startswith("@") and " " not in name.text and "/" not in name.text
        for name in (left, right)
    ) or ("@" in left.symbols and "@" in right.symbols)


def _identical(left: Name, right: Name, context: Context, *, strict: bool) -> Ruling | None:
    if (not left.letters or left.letters != right.letters) and left.key != right.key:
        return None
    if escape := _escape(left, right, context, strict=strict):
        return escape
    if left.key == right.key:
        return _ruling(Verdict.FOLD, "identical", 1, "One name, but for case and blanks.")
    reason = f"Identical but for case and punctuation: both are “{_cut(left.letters)}”."
    return _ruling(Verdict.FOLD, "identical", 1, reason)


def _cut(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def identical(left: Name, right: Name, context: Context) -> Ruling | None:
    return _identical(left, right, context, strict=False)


def identical_strict(left: Name, right: Name, context: Context) -> Ruling | None:
    return _identical(left, right, context, strict=True)


# ---- the ones that ask --------------------------------------------------------------------------


def _ask(rule: str, score: float, left: Name, right: Name, reason: str) -> Ruling:
    if _types_disagree(left, right):
        reason += f" The types differ: {left.type} and {right.type}."
    return _ruling(Verdict.ASK, rule, score, reason)


def by_length(left: Name, right: Name) -> tuple[Name, Name]:
    """(the one of fewer letters, the other)."""
    return (left, right) if len(left.letters) <= len(right.letters) else (right, left)


def phrases(name: Name) -> Iterable[str]:
    """The letters of every contiguous phrase of two or more words, at most ``LONGER`` words
    shorter than the name. In a script without blanks two characters count as a word."""
    words = name.words
    count = len(words)
    for size in range(max(2, count - LONGER), count):
        for start in range(count - size + 1):
            yield "".join(words[start : start + size])
    if name.cjk:
        letters = name.letters
        if len(letters) <= NEVER_EDITED and is_cjk_only(letters):
            for size in range(max(4, len(letters) - 2 * LONGER), len(letters)):
                for start in range(len(letters) - size + 1):
                    yield letters[start : start + size]


def is_cjk_only(letters: str) -> bool:
    return all(is_cjk(c) for c in letters)


def contained(left: Name, right: Name, context: Context) -> Ruling | None:
    inner, outer = by_length(left, right)
    if inner.prefix or outer.prefix or len(inner.letters) == len(outer.letters):
        return None
    if not inner.letters or inner.letters not in outer.letters:
        return None
    if both_person(left, right) and inner.person_words == outer.person_words:
        return None  # a title, which `person` says better
    if outer.cjk and outer.without_legal_form == inner.letters:
        return None  # a company form, which `legal-form` says better
    if inner.letters not in phrases(outer):
        return None
    reason = f"“{inner.spelling}” stands word for word inside “{outer.spelling}”."
    common = bool(context.common) and context.common.issuperset(inner.content)
    elsewhere = outer.letters.replace(inner.letters, "", 1) in LANDS
    score = 0.7 - 0.2 * (common or elsewhere) - 0.1 * _types_disagree(left, right)
    return _ask("contained", score, left, right, reason)


def word_fits(short: str, long: str) -> bool:
    """Whether the words are equal, or one is the other's initial."""
    return short == long or (min(len(short), len(long)) == 1 and short[0] == long[0])


def _fits(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """Whether every word of the shorter finds its place in the longer, in order, and at least one
    of two letters or more in full."""

    def place(at: int, start: int, full: bool) -> bool:
        if at == len(short):
            return full
        left = len(short) - at - 1
        return any(
            word_fits(short[at], long[to])
            and place(at + 1, to + 1, full or (short[at] == long[to] and len(long[to]) > 1))
            for to in range(start, len(long) - left)
        )

    return place(0, 0, full=False)


def _cjk_person(inner: str, outer: str) -> bool:
    """A name of two characters or more behind a title or family name, or of three before one."""
    extra = len(outer) - len(inner)
    if not 0 < extra <= 2 * LONGER or not (is_cjk_only(inner) and is_cjk_only(outer)):
        return False
    return (len(inner) >= 2 and outer.endswith(inner)) or (
        len(inner) >= 3 and outer.startswith(inner)
    )


MOST_PERSON_WORDS: Final = 8
"""A name of more words is a sentence about a person."""


def person(left: Name, right: Name, _: Context) -> Ruling | None:
    if not both_person(left, right):
        return None
    short, long = sorted((left.person_words, right.person_words), key=len)
    if len(long) > MOST_PERSON_WORDS:
        return None
    if short == long:
        reason = "One name, with and without a form of address."
        return _ask("person", 0.8, left, right, reason)
    inner, outer = by_length(left, right)
    if inner.cjk and _cjk_person(inner.letters, outer.letters):
        reason = f"“{inner.spelling}” is part of “{outer.spelling}”; both are people."
        return _ask("person", 0.6, left, right, reason)
    if len(long) - len(short) > LONGER or not _fits(short, long):
        return None
    if len(short) == 1:
        reason = f"“{short[0]}” alone may be “{' '.join(long)}”; both are people."
        return _ask("person", 0.5, left, right, reason)
    reason = "They differ in initials or middle names alone; both are people."
    return _ask("person", 0.8, left, right, reason)


def given_name(left: Name, right: Name, _: Context) -> Ruling | None:
    if not both_person(left, right):
        return None
    mine, other = left.person_words, right.person_words
    if len(mine) != len(other) or mine[1:] != other[1:] or mine[0] == other[0]:
        return None
    short, long = sorted((mine[0], other[0]), key=len)
    if len(short) < 3 or is_cjk(long) or not long.startswith(short):
        return None
    reason = f"“{short}” may be short for “{long}”; both are people."
    return _ask("given-name", 0.5, left, right, reason)


def tolerance(letters: int) -> int:
    """How many edits a name of that many letters allows: 0 below 5, 1 below 8, 2 from 8."""
    return 0 if letters < 5 else 1 if letters < 8 else 2


def one_place(left: str, right: str) -> bool:
    """Whether the texts differ in one place alone, of at most two letters on either side."""
    short, long = sorted((left, right), key=len)
    start = 0
    while start < len(short) and short[start] == long[start]:
        start += 1
    end = 0
    while end < len(short) - start and short[-1 - end] == long[-1 - end]:
        end += 1
    return len(long) - start - end <= 2


def edits(left: tuple[str, ...], right: tuple[str, ...]) -> int | None:
    """The edits between two names cut into pieces, or None where they are beyond the tolerance or
    would touch what an edit may not. A transposition is one edit."""
    if len(left) != len(right) or left[1::2] != right[1::2]:
        return None
    mine, other = "".join(left), "".join(right)
    short, long = sorted((len(mine), len(other)))
    allowed = tolerance(short)
    if not allowed or long > NEVER_EDITED or long - short > allowed:
        return None
    if long > ONE_PLACE and not one_place(mine, other):
        return None
    total = 0
    for here, there in zip(left[::2], right[::2], strict=True):
        total += OSA.distance(here, there, score_cutoff=allowed)
        if total > allowed:
            return None
    return total


def _both_common(left: Name, right: Name, context: Context) -> bool:
    """Whether the names differ in one content word alone, and both words are common here."""
    mine, other = left.content, right.content
    if not context.common or len(mine) != len(other) or len(mine) < 2:
        return False
    differ = [(a, b) for a, b in zip(mine, other, strict=True) if a != b]
    return len(differ) == 1 and all(word in context.common for word in differ[0])


def edits_between(left: Name, right: Name) -> int | None:
    """The edits between two names on their letters or on their Latin form, the fewer counting; None
    where both are beyond the tolerance."""
    apart = edits(left.pieces, right.pieces)
    if left.letters.isascii() and right.letters.isascii():
        return apart
    if left.latin == right.latin:
        return 0
    if not (left.latin_pieces and right.latin_pieces):
        return apart
    latin = edits(left.latin_pieces, right.latin_pieces)
    return min((count for count in (apart, latin) if count is not None), default=None)


def _bare_edit(left: Name, right: Name) -> bool:
    """Whether the names are one edit apart without company forms."""
    mine, other = left.bare_pieces, right.bare_pieces
    return bool(mine or other) and edits(mine or left.pieces, other or right.pieces) == 1


def spelling(left: Name, right: Name, context: Context) -> Ruling | None:
    return _spelling(left, right, context, strict=False)


def spelling_strict(left: Name, right: Name, context: Context) -> Ruling | None:
    return _spelling(left, right, context, strict=True)


def _spelling(left: Name, right: Name, context: Context, *, strict: bool) -> Ruling | None:
    apart = edits_between(left, right)
    bare = not (apart or strict) and _bare_edit(left, right)
    if bare:
        apart = 1
    if not apart:
        return None
    spared = [word for word in left.capitals if word not in right.letters]
    spared += [word for word in right.capitals if word not in left.letters]
    if spared and not (bare and LEGAL_ENDINGS.issuperset(spared)):
        return None
    if _both_common(left, right, context):
        return None
    letters = min(len(left.letters), len(right.letters))
    begin = left.latin[:1] == right.latin[:1]
    score = 0.9 - 1.5 * apart / letters - (0 if begin or letters >= 16 else 0.2)
    plural = "edit" if apart == 1 else "edits"
    return _ask("spelling", score, left, right, f"{apart} {plural} apart in {letters} letters.")


def transliterated(left: Name, right: Name, _: Context) -> Ruling | None:
    if left.letters == right.letters or left.latin != right.latin or not left.latin:
        return None
    if (left.cjk and right.cjk) or len(left.latin) < 3:
        return None
    reason = f"Equal in Latin letters without marks: “{_cut(left.latin)}”."
    return _ask("transliterated", 0.85, left, right, reason)


def legal_form(left: Name, right: Name, _: Context) -> Ruling | None:
    if left.type and right.type and not (is_organization(left) or is_organization(right)):
        return None
    mine, other = left.without_legal_form, right.without_legal_form
    if mine != other or left.letters == right.letters:
        return None
    return _ask("legal-form", 0.75, left, right, f"Equal without company forms: “{_cut(mine)}”.")


def reordered(left: Name, right: Name, _: Context) -> Ruling | None:
    mine = left.ordered
    if not mine or mine != right.ordered or left.letters == right.letters:
        return None
    if sum(map(len, mine)) < 3:
        return None
    reason = "The same words in another order, articles and “of” aside."
    return _ask("reordered", 0.75, left, right, reason)


def written_out(left: Name, right: Name, _: Context) -> Ruling | None:
    mine = left.written_out
    if mine != right.written_out or left.letters == right.letters:
        return None
    reason = f"Equal once abbreviations, endings and numbers are written alike: “{_cut(mine)}”."
    return _ask("written-out", 0.75, left, right, reason)


SHORTEST_REST: Final = 3
"""A name of fewer letters that is left of another is too short to be asked about."""


def unqualified(name: Name) -> str:
    """Of a name of two words the one that names the thing, where the other says of what kind it is
    (``Borg Framework``) or who makes it (``Apache Kafka``); else ""."""
    words = name.words
    if len(words) != 2:
        return ""
    first, last = words
    if last in KIND_WORDS:
        rest, shortest = first, SHORTEST_REST + 1
    elif first in VENDORS:
        rest, shortest = last, SHORTEST_REST
    else:
        return ""
    return rest if len(rest) >= shortest and rest not in KIND_WORDS else ""


def qualified(left: Name, right: Name, _: Context) -> Ruling | None:
    if (len(left.words) == 1) == (len(right.words) == 1) or left.person or right.person:
        return None
    if left.type and right.type and is_place(left) != is_place(right):
        return None  # a town and its university
    for short, long in ((left, right), (right, left)):
        if short.letters and unqualified(long) == short.letters and len(short.words) == 1:
            reason = f"“{long.spelling}” only adds what “{short.spelling}” is, or whose."
            return _ask("qualified", 0.6, left, right, reason)
    return None


def short_places(name: Name) -> set[str]:
    """The letters of a place's name without what stands in brackets, behind a comma or before "of"
    (``Georgia (country)``, ``Georgia, United States``, ``Republic of Georgia``), and those in
    brackets, unless they say what or in which land it is."""
    found = set(name.bracketed or ()) - LANDS - PLACE_KINDS
    if name.bracketed:
        found.add(name.bracketed[0])
    head, comma, _ = name.folded.partition(",")
    if comma:
        found.add(letters_of(head))
    words = name.words
    if len(words) > 2 and words[0] == "the":
        words = words[1:]
    if len(words) > 2 and words[0] in PLACE_KINDS and words[1] == "of":
        found.add("".join(words[2:]))
    return {letters for letters in found if len(letters) >= SHORTEST_REST}


def place(left: Name, right: Name, _: Context) -> Ruling | None:
    if left.kind not in PLACE_TYPES or right.kind not in PLACE_TYPES:
        return None
    if left.letters in short_places(right) or right.letters in short_places(left):
        short, long = by_length(left, right)
        reason = f"“{long.spelling}” may be “{short.spelling}” with what or where it is."
        return _ask("place", 0.6, left, right, reason)
    return None


_GROUPS: Final = (("sch", "s"), ("ch", "k"), ("ph", "f"), ("qu", "k"), ("ck", "k"))
_SOUNDS: Final = str.maketrans("cqwfzy", "kkvvsi", "")
_DOUBLED: Final = re.compile(r"(.)\1+")


def sounds(name: Name) -> str:
    """The first letter and the consonants of a place's name of one word, those that languages write
    for each other made one (c and k, w, f and v, z and s), vowels, h, j and doubling aside; else
    "". ``Praga`` and ``Prague`` are prg."""
    if not is_place(name) or len(name.words) != 1:
        return ""
    text = name.latin
    if not text.isalpha():
        return ""
    for group, sound in _GROUPS:
        text = text.replace(group, sound)
    text = text.translate(_SOUNDS)
    consonants = _DOUBLED.sub(r"\1", "".join(c for c in text if c not in "aeiouhj"))
    return f"{text[0]} {consonants}" if len(consonants) >= 2 else ""


def exonym(left: Name, right: Name, _: Context) -> Ruling | None:
    if left.kind not in PLACE_TYPES:
        return None
    mine = sounds(left)
    if not mine or mine != sounds(right) or left.letters == right.letters:
        return None
    reason = f"Two places with the same consonants ({mine[2:]}), as one is called in two languages."
    return _ask("exonym", 0.5, left, right, reason)


SHORTEST_ACRONYM: Final = 3
LONGEST_ACRONYM: Final = 10


def initials(name: Name) -> tuple[str, ...]:
    """The initials of a name of several words: of every word, and without the small ones."""
    words = name.words
    if not SHORTEST_ACRONYM <= len(words) <= LONGEST_ACRONYM + 4:
        return ()
    every = "".join(word[0] for word in words)
    large = "".join(word[0] for word in words if word not in ACRONYM_SILENT)
    return tuple({run for run in (every, large) if SHORTEST_ACRONYM <= len(run) <= LONGEST_ACRONYM})


def shorter_initials(name: Name) -> tuple[str, ...]:
    """The initials of a name without its brackets and company forms, where it has any."""
    if len(name.words) <= SHORTEST_ACRONYM:
        return ()
    words = name.outside
    if not SHORTEST_ACRONYM <= len(words) <= LONGEST_ACRONYM + 4:
        return ()
    every = "".join(word[0] for word in words)
    large = "".join(word[0] for word in words if word not in ACRONYM_SILENT)
    return tuple({run for run in (every, large) if SHORTEST_ACRONYM <= len(run) <= LONGEST_ACRONYM})


_TWO_CAPITALS: Final = re.compile(r"(?:[Tt]he )?([A-Z])[.-]?([A-Z])\.?")


def two_capitals(name: Name) -> str:
    """The letters of a name that is two capitals (``UN``, ``the U.N.``, ``F-S``), or ""."""
    if len(name.letters) not in (2, 5) or name.person:
        return ""
    match = _TWO_CAPITALS.fullmatch(name.text)
    return f"{match[1]}{match[2]}".lower() if match else ""


SAME_BEGINNING: Final = 4
"""Two names whose words begin with the same letters, so many of them, count as one where it is
asked how many names have two initials: ``functional dependency``, ``functional dependencies``."""


def note_initials(having: dict[str, set[str]], name: Name) -> None:
    """Add how a name begins to what is known of its two initials; of several names, two are enough
    to know."""
    words = name.two_words
    if words is not None:
        first, last = words
        begun = having.setdefault(first[0] + last[0], set())
        if len(begun) < 2:
            begun.add(f"{first[:SAME_BEGINNING]} {last[:SAME_BEGINNING]}")


def alone_among(having: Mapping[str, set[str]]) -> frozenset[str]:
    """The two initials that one name alone has (see ``note_initials``)."""
    return frozenset(run for run, begun in having.items() if len(begun) == 1)


def is_acronym(name: Name) -> bool:
    """One word of letters, or letters with dots between, short enough to be initials."""
    letters = name.letters
    if not SHORTEST_ACRONYM <= len(letters) <= LONGEST_ACRONYM or not letters.isalpha():
        return False
    return not name.cjk and (len(name.words) == 1 or all(len(word) == 1 for word in name.words))


def numeronym(name: Name) -> str:
    """The name written as first letter, count of those between, last letter (``k8s``), or ""."""
    letters = name.letters
    if not 4 <= len(letters) <= 40 or not letters.isalpha() or name.cjk:
        return ""
    return f"{letters[0]}{len(letters) - 2}{letters[-1]}"


def is_numeronym(name: Name) -> bool:
    letters = name.letters
    return (
        len(letters) in (3, 4)
        and letters[1:-1].isdecimal()
        and letters[0].isalpha()
        and (letters[-1].isalpha())
    )


def bracket_parts(name: Name) -> tuple[str, ...]:
    """Both parts of a name that gives its own acronym in brackets, else ()."""
    parts = name.bracketed
    if parts is None:
        return ()
    short, long = sorted(parts, key=len)
    words = name.words
    if not 2 <= len(short) <= LONGEST_ACRONYM or len(words) < 3 or not short.isalpha():
        return ()
    starts = "".join(word[0] for word in words)
    spelled = short in starts or short in "".join(
        word[0] for word in words if word not in ACRONYM_SILENT
    )
    return (short, long) if spelled else ()


def acronym(left: Name, right: Name, context: Context) -> Ruling | None:
    for short, long in ((left, right), (right, left)):
        if is_acronym(short):
            reason = f"“{short.spelling}” spells the initials of “{long.spelling}”."
            score = _acronym_score(short)
            if short.letters in initials(long):
                return _ask("acronym", score, left, right, reason)
            if _in_capitals(short) and short.letters in shorter_initials(long):
                return _ask("acronym", score - 0.1, left, right, reason)
        if (
            context.initials
            and len(short.letters) < 6
            and (run := two_capitals(short)) in context.initials
        ):
            words = long.two_words
            if words is not None and words[0][0] + words[1][0] == run:
                reason = (
                    f"“{short.spelling}” spells the initials of “{long.spelling}”, and of no other "
                    "name here."
                )
                return _ask("acronym", 0.6, left, right, reason)
        if is_numeronym(short) and short.letters == numeronym(long):
            reason = f"“{short.spelling}” counts the letters of “{long.spelling}”."
            return _ask("acronym", 0.6, left, right, reason)
        if short.letters and short.letters in bracket_parts(long):
            reason = f"“{long.spelling}” gives “{short.spelling}” in brackets."
            return _ask("acronym", 0.85, left, right, reason)
    return None


def _acronym_score(short: Name) -> float:
    """Of three letters a third were right among the companies of Wikidata, of four three in four,
    of more nearly all."""
    return {3: 0.5, 4: 0.65}.get(len(short.letters), 0.8)


def _in_capitals(name: Name) -> bool:
    return name.text.replace(".", "").isupper()


def js_stem(name: Name) -> str:
    """The letters before a suffix ``.js``, ``JS`` or `` js``, or ""."""
    letters = name.letters
    if len(letters) < 5 or not letters.endswith("js"):
        return ""
    written = name.extension == "js" or name.text.endswith("JS") or name.words[-1] == "js"
    return letters[:-2] if written else ""


def js_suffix(left: Name, right: Name, _: Context) -> Ruling | None:
    if is_file(left) or is_file(right):
        return None
    if (js_stem(left) or None) == right.letters or (js_stem(right) or None) == left.letters:
        reason = "One is the other plus “.js”, as JavaScript libraries are often written."
        return _ask("js-suffix", 0.6, left, right, reason)
    return None


# ---- the table ----------------------------------------------------------------------------------

_SEEDS = "memloom's entity resolution, measured there on a store of 1,794 entities"
_MEASURED = "measured on the sets of docs/explanation/accuracy.md"
_PROBES = "faults found in eleven other systems and in reports of their users"

RULES: Final = (
    Rule(
        "version",
        Verdict.APART,
        version,
        "Numbers disagree, or one side alone carries one; number words, roman numerals and a lone "
        "last letter count where both sides carry one, and a number word agrees with its number.",
        f"{_SEEDS}; the plus sign behind a number: 42 of 64 false folds of the bare key on 9,598 "
        "product names of endoflife.date.",
    ),
    Rule(
        "extension",
        Verdict.APART,
        extension,
        "One is the other plus a dot and a file or domain suffix, or one stem carries two of them.",
        f"{_SEEDS}; the second half from {_PROBES}.",
    ),
    Rule(
        "opposed",
        Verdict.APART,
        opposed_words,
        "A differing word is the other's opposite, or one side alone carries a generation "
        "(Jr, Sr; for people II, III, IV).",
        f"{_PROBES}.",
    ),
    Rule(
        "variant",
        Verdict.APART,
        variant,
        "One carries a number and the other adds words behind it, among them one for a variant "
        "(Pro, Mini, LTS), a roman numeral or a lone letter.",
        f"{_MEASURED}: 83 of the 159 wrong questions of `contained` on endoflife, and none of the "
        "15 right ones.",
    ),
    Rule(
        "symbol",
        Verdict.APART,
        symbol,
        "Both carry a symbol that bears meaning (+, #, currency, comparison), and they differ.",
        f"{_PROBES}.",
    ),
    Rule(
        "identical",
        Verdict.FOLD,
        identical,
        "The same letters and digits; the only rule that acts without asking. It asks instead "
        "where the letters are under three (short-key), one side has leading punctuation or two "
        "addresses part their words elsewhere, or are two accounts or scopes written otherwise "
        "(punctuation), one side has a meaning-bearing symbol "
        "or both have different pictures (symbol), or trusted types disagree (typed).",
        f"{_SEEDS}; symbol and typed from {_PROBES}.",
    ),
    Rule(
        "legal-form",
        Verdict.ASK,
        legal_form,
        "Equal without company forms, in any script; one side typed organization, or untyped.",
        f"{_PROBES}; before `contained`, since of its questions on Wikidata that add a company "
        "form alone 1,307 of 1,371 were right.",
    ),
    Rule(
        "contained",
        Verdict.ASK,
        contained,
        "Two or more whole words of one are the other, at most two words longer, neither with "
        "leading punctuation.",
        f"{_SEEDS}: one-word containment made 1,129 questions there, this and the edit limit 241.",
    ),
    Rule(
        "person",
        Verdict.ASK,
        person,
        "Both typed person: one word of the name alone, initials, a middle name, a title; at most "
        "two words longer.",
        f"{_SEEDS}; initials and titles from {_PROBES}.",
    ),
    Rule(
        "given-name",
        Verdict.ASK,
        given_name,
        "Both typed person: one given name is a prefix, of three letters or more, of the other, "
        "and the rest is equal.",
        f"{_PROBES}.",
    ),
    Rule(
        "spelling",
        Verdict.ASK,
        spelling,
        "Edit distance, a transposition counted once, on the letters or on their Latin form: none "
        "below 5 letters, 1 below 8, 2 from 8; above 32 letters in one place, above 200 never. "
        "Without company forms one edit from 8 letters on. "
        "Never in a word with a digit, a Han, kana or Hangul character or short capitals; not "
        "where one word differs and both words are common in this graph.",
        f"{_SEEDS}; what an edit may not touch from {_PROBES}.",
    ),
    Rule(
        "transliterated",
        Verdict.ASK,
        transliterated,
        "Equal once written in Latin letters without marks.",
        f"{_PROBES}.",
    ),
    Rule(
        "reordered",
        Verdict.ASK,
        reordered,
        "The same words in another order, articles and “of” aside.",
        f"{_PROBES}.",
    ),
    Rule(
        "written-out",
        Verdict.ASK,
        written_out,
        "The same words once abbreviations (Univ., Intl) and number words are written out, & is "
        "and, and endings (-ing, -er, -ed, -ies) are off words with five letters before them.",
        f"{_MEASURED}: right in 200 of 204 on Wikidata, 5 of 5 on name_bench, 8 of 8 on the "
        "software terms of ER-KG-Bench.",
    ),
    Rule(
        "qualified",
        Verdict.ASK,
        qualified,
        "One is a word of the other's two, which else has a word for its kind (server, framework) "
        "behind it or its maker (Apache, Google) before it.",
        f"{_MEASURED}: right in 65 of 70 on endoflife, 6 of 6 on the software terms of "
        "ER-KG-Bench, 32 of 56 on Wikidata.",
    ),
    Rule(
        "place",
        Verdict.ASK,
        place,
        "Both typed place: one is the other without brackets, what follows a comma, or “Republic "
        "of” and the like, or it is what stands in brackets.",
        f"{_MEASURED}: right in 6 of 6 on ER-KG-Bench.",
    ),
    Rule(
        "exonym",
        Verdict.ASK,
        exonym,
        "Both typed place, one word each: the same first letter and consonants, those that "
        "languages write for each other made one.",
        f"{_MEASURED}: right in 10 of 10 on ER-KG-Bench.",
    ),
    Rule(
        "acronym",
        Verdict.ASK,
        acronym,
        "Three letters or more that spell the other's initials (in capitals also without brackets "
        "and company forms), two capitals where one name alone of this graph has these initials, "
        "an acronym given in brackets, or a numeronym (K8s).",
        f"{_PROBES}; two capitals {_MEASURED}: with that limit right in 7 of 14 on Wikidata, "
        "without it in 124 of 3,386.",
    ),
    Rule(
        "js-suffix",
        Verdict.ASK,
        js_suffix,
        "One is the other plus .js, neither a file.",
        f"{_PROBES}.",
    ),
)

_STRICT = {
    "version": version_strict,
    "extension": extension,
    "identical": identical_strict,
    "contained": contained,
    "person": person,
    "spelling": spelling_strict,
}

BUILT_IN: Final = ("default", "strict")

RULE_SETS: Final[dict[str, tuple[Rule, ...]]] = {
    "default": RULES,
    "strict": tuple(
        Rule(r.name, r.verdict, _STRICT[r.name], r.sees, r.source)
        for r in RULES
        if r.name in _STRICT
    ),
}

NONE: Final = Ruling(Verdict.APART, "none", 0.0, "No rule proposes that these are one thing.")
EMPTY: Final = Ruling(
    Verdict.APART, "none", 0.0, "A name without a letter or digit matches no other."
)


def rule_set(name: str) -> tuple[Rule, ...]:
    """The rules of that name.

    Raises:
        Invalid: ``unknown_rules``.
    """
    try:
        return RULE_SETS[name]
    except KeyError:
        known = ", ".join(sorted(RULE_SETS))
        raise Invalid(
            "unknown_rules",
            f"No rule set is called {name!r}; there are: {known}. Rules of your own must be "
            "registered first (see pairs.register).",
        ) from None


def rule_on(left: Name, right: Name, context: Context) -> Ruling:
    """The ruling on a pair: the first rule that speaks, or ``none``. The same from either side."""
    if _nothing_to_compare(left, right):
        return EMPTY
    for rule in _that_may_speak(left, right, context):
        if ruling := rule.judge(left, right, context):
            return ruling
    return NONE


def _nothing_to_compare(left: Name, right: Name) -> bool:
    return not (left.letters and right.letters) and left.key != right.key


def _that_may_speak(left: Name, right: Name, context: Context) -> Sequence[Rule]:
    """The rules, in order. Of one fold key no veto can fire, by what the key keeps."""
    chosen = rule_set(context.rules)
    if left.letters != right.letters or left.fold_key != right.fold_key:
        return chosen
    return [rule for rule in chosen if rule.verdict is not Verdict.APART]


def explain(left: Name, right: Name, context: Context) -> list[tuple[Rule, Ruling | None]]:
    """What each rule says on its own, in order; the first that speaks decides."""
    chosen = rule_set(context.rules)
    if _nothing_to_compare(left, right):
        return [(rule, None) for rule in chosen]
    speaking = _that_may_speak(left, right, context)
    return [
        (rule, rule.judge(left, right, context) if rule in speaking else None) for rule in chosen
    ]


def common_among(counts: Counter[str], names: int) -> frozenset[str]:
    """The words that are common, given in how many of the names each stands."""
    floor = max(COMMON_AT_LEAST, names // COMMON_ONE_IN)
    return frozenset(w for w, c in counts.items() if c >= floor and w not in ARTICLES)
