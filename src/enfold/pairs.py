"""How the pairs of each rule are found without comparing every name with every other.

A rule gives a name the keys it *offers* and the keys it *seeks*; two names are a candidate pair
where one seeks what the other offers. Most rules seek a derived form among the whole names, so that
phrases never meet phrases; only equality rules seek what they offer. Spelling has keys of its own:
names that share what is left after deleting up to two letters (a full pass), or a segment found
again within a shift of two (a single name against an index).

No cap drops a pair. A pair that ``rules.rule_on`` would fold or ask about is always a candidate; a
candidate need not be ruled anything.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise, product
from typing import Final

from xxhash import xxh3_64_intdigest

from enfold import rules
from enfold.errors import Invalid
from enfold.names import Name, is_cjk, latin_of
from enfold.rules import LONGER, NEVER_EDITED, ONE_PLACE, Rule, tolerance
from enfold.vocabulary import GENERATIONS, OPPOSED_CLASSES, PERSON_GENERATIONS, PLACE_TYPES

Keys = Callable[[Name], Iterable[str]]

SEEK_SALT: Final = 0x5BD1_E995_9E37_79B9
"""Parts what is sought from what is offered in one index."""


@dataclass(frozen=True)
class Blocking:
    """What a rule's names offer, beside the letters that every name offers, and what they seek."""

    offers: Keys
    seeks: Keys


def _nothing(_: Name) -> Iterable[str]:
    return ()


def _contained(name: Name) -> Iterable[str]:
    if name.prefix or (len(name.words) < 3 and not name.cjk):
        return ()
    # A phrase that leaves every number behind belongs to a name the numbers part from it.
    numbered = bool(name.numbers)
    return [
        WHOLE + phrase
        for phrase in rules.phrases(name)
        if not numbered or any(map(str.isdigit, phrase))
    ]


def _person_words(name: Name) -> tuple[str, ...]:
    """The words of a person's name, () for anything else."""
    if not name.person:
        return ()
    words = name.person_words
    return words if len(words) <= rules.MOST_PERSON_WORDS else ()


def _person_offers(name: Name) -> Iterable[str]:
    words = _person_words(name)
    if not words:
        return ()
    keys: list[str] = []
    if len(words) != len(name.words):
        keys.append("u" + "".join(words))
    if len(words) > 1:
        keys += [f"q{short}" for short in _abbreviations(words)]
    for part in _parts(words):
        keys += [f"p{short}" for short in _abbreviations(part)]
    return keys


def _person_seeks(name: Name) -> Iterable[str]:
    words = _person_words(name)
    if not words:
        return ()
    keys: list[str] = []
    if len(words) != len(name.words):
        keys += _titled_or_plain("".join(words))
    if 1 < len(words) <= 1 + LONGER:
        for word in words:
            keys += _titled_or_plain(word)
    parts = _parts(words)
    for part in parts:
        keys += _titled_or_plain("".join(part))
    if len(words) > 1 and _abbreviated(words):
        for short in _abbreviations(words):
            keys += (f"q{short}", f"p{short}")
        keys += ["q" + " ".join(part) for part in parts if _abbreviated(part)]
    if name.cjk and rules.is_cjk_only(name.letters):
        keys += [WHOLE + inner for inner in _cjk_inner(name.letters)]
    return keys


def _titled_or_plain(letters: str) -> tuple[str, str]:
    """Where a name of these letters is found, with and without a form of address."""
    return WHOLE + letters, f"u{letters}"


def _parts(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The words less one to ``LONGER`` of them, at least two left, in order."""
    if len(words) < 3:
        return []
    sizes = range(max(2, len(words) - LONGER), len(words))
    return [part for size in sizes for part in combinations(words, size)]


def _abbreviated(words: tuple[str, ...]) -> bool:
    return min(map(len, words)) == 1


def _abbreviations(words: tuple[str, ...]) -> list[str]:
    """The words with some, and not all, written as initials: how else they may be written. A name
    that has initials itself is found under them, a full one under nothing it was not written as."""
    if len(words) == 2 and len(words[0]) > 1 and len(words[1]) > 1:  # as most names are
        return [f"{words[0]} {words[1][0]}", f"{words[0][0]} {words[1]}"]
    ways = product(*((word, word[0]) if len(word) > 1 else (word,) for word in words))
    short = (way for way in dict.fromkeys(ways) if _abbreviated(way) and max(map(len, way)) > 1)
    return [" ".join(way) for way in short]


def _cjk_inner(letters: str) -> Iterator[str]:
    for size in range(max(2, len(letters) - 2 * LONGER), len(letters)):
        yield letters[-size:]
        if size >= 3:
            yield letters[:size]


def _given_offers(name: Name) -> Iterable[str]:
    words = _person_words(name)
    if not words:
        return ()
    first, rest = words[0], "".join(f" {word}" for word in words[1:])
    return [f"g{first[:size]}{rest}" for size in range(3, min(len(first), NEVER_EDITED))]


def _given_seeks(name: Name) -> Iterable[str]:
    words = _person_words(name)
    return ("g" + " ".join(words),) if words and len(words[0]) >= 3 else ()


def _latin(name: Name) -> Iterable[str]:
    if name.letters.isascii() or len(name.latin) < 3:
        return ()
    return (f"t{name.latin}",)


def _latin_seeks(name: Name) -> Iterable[str]:
    keys = _latin(name)
    return (*keys, WHOLE + name.latin) if keys else ()


def _legal(name: Name) -> Iterable[str]:
    plain = name.without_legal_form
    return (f"l{plain}",) if plain != name.letters else ()


def _legal_seeks(name: Name) -> Iterable[str]:
    plain = name.without_legal_form
    return (f"l{plain}", WHOLE + plain) if plain != name.letters else ()


def _reordered(name: Name) -> Iterable[str]:
    """The words in alphabetical order, for a name that is not written so: one that is offers them
    as its letters."""
    words = name.words
    if len(words) < 2:
        return ()
    letters = "".join(name.ordered)
    return (f"r{letters}",) if letters != name.letters else ()


def _reordered_seeks(name: Name) -> Iterable[str]:
    if len(name.words) < 2:
        return ()
    letters = "".join(name.ordered)
    return (f"r{letters}", WHOLE + letters) if letters != name.letters else ()


def _acronym_seeks(name: Name) -> Iterable[str]:
    keys = []
    if (words := len(name.words)) > 2:
        keys += [WHOLE + run for run in rules.initials(name)]
        if words > 3:
            keys += [WHOLE + run for run in rules.shorter_initials(name)]
        keys += [WHOLE + part for part in rules.bracket_parts(name)]
    if counted := rules.numeronym(name):
        keys.append(f"n{counted}")
    if len(name.letters) in (2, 5) and (run := rules.two_capitals(name)):
        keys.append(initials_key(run))
    return keys


def initials_key(run: str) -> str:
    """What a name of two words offers under its initials, and two capitals seek."""
    return f"2{run}"


def _acronym_offers(name: Name) -> Iterable[str]:
    if rules.is_numeronym(name):
        return (f"n{name.letters}",)
    words = name.two_words
    return () if words is None else (initials_key(words[0][0] + words[1][0]),)


def _written(name: Name) -> Iterable[str]:
    plain = name.written_out
    return (f"w{plain}",) if plain != name.letters else ()


def _written_seeks(name: Name) -> Iterable[str]:
    plain = name.written_out
    return (f"w{plain}", WHOLE + plain) if plain != name.letters else ()


def _qualified_seeks(name: Name) -> Iterable[str]:
    if len(name.words) != 2 or not (rest := rules.unqualified(name)):
        return ()
    return (WHOLE + rest,)


def _place_seeks(name: Name) -> Iterable[str]:
    if name.kind not in PLACE_TYPES:
        return ()
    return [WHOLE + plain for plain in rules.short_places(name)]


def _sounds(name: Name) -> Iterable[str]:
    if name.kind not in PLACE_TYPES or not (sounds := rules.sounds(name)):
        return ()
    return (f"x{sounds}",)


def _js_seeks(name: Name) -> Iterable[str]:
    stem = rules.js_stem(name)
    return (WHOLE + stem,) if stem else ()


WHOLE: Final = "e"
"""What begins the key that every name offers, whatever the rules: its letters."""

BLOCKING: Final[dict[str, Blocking]] = {
    "identical": Blocking(_nothing, lambda name: (WHOLE + name.letters,)),
    "contained": Blocking(_nothing, _contained),
    "person": Blocking(_person_offers, _person_seeks),
    "given-name": Blocking(_given_offers, _given_seeks),
    "spelling": Blocking(_nothing, _nothing),  # see `edit_forms`, `segments`, `probes`
    "transliterated": Blocking(_latin, _latin_seeks),
    "legal-form": Blocking(_legal, _legal_seeks),
    "reordered": Blocking(_reordered, _reordered_seeks),
    "written-out": Blocking(_written, _written_seeks),
    "qualified": Blocking(_nothing, _qualified_seeks),
    "place": Blocking(_nothing, _place_seeks),
    "exonym": Blocking(_sounds, _sounds),
    "acronym": Blocking(_acronym_offers, _acronym_seeks),
    "js-suffix": Blocking(_nothing, _js_seeks),
}


def hashed(key: str) -> int:
    """A 64-bit hash that is the same on every machine."""
    return xxh3_64_intdigest(key.encode())


def blocking(rule_set: Iterable[Rule]) -> tuple[Blocking, ...]:
    """The blocking of every rule that proposes; vetoes find no pairs.

    Raises:
        Invalid: ``rule_without_keys`` for a rule that would never be given a pair.
    """
    found = []
    for rule in rule_set:
        if rule.verdict == "APART":
            continue
        if rule.name not in BLOCKING:
            raise Invalid(
                "rule_without_keys",
                f"The rule {rule.name!r} has no entry in pairs.BLOCKING, so it would never see a "
                "pair; say there what its names offer and seek.",
            )
        found.append(BLOCKING[rule.name])
    return tuple(found)


def register(
    name: str, rule_set: Iterable[Rule], keys: Mapping[str, Blocking] | None = None
) -> None:
    """Make rules of your own known under a name, which a graph's passes then use.

    Args:
        name: what the rule set is called; a graph remembers it.
        rule_set: the rules in order, vetoes first; ``rules.RULES`` may be among them.
        keys: for each rule of yours that proposes pairs, what its names offer and seek. They must
            be complete: a pair the rule asks about must meet under some key. Functions must be
            module-level, so that other processes find them.

    Raises:
        Invalid: ``rule_set_taken`` for a name that is built in; ``rule_without_keys``.
    """
    if name in rules.BUILT_IN:
        raise Invalid("rule_set_taken", f"The rule set {name!r} is built in; choose another name.")
    chosen, given = tuple(rule_set), dict(keys or {})
    taken = [rule for rule in given if rule in _BUILT_IN_KEYS]
    if taken:
        raise Invalid("rule_set_taken", f"The rule {taken[0]!r} is built in; name yours otherwise.")
    BLOCKING.update(given)
    blocking(chosen)
    rules.RULE_SETS[name] = chosen
    REGISTERED[name] = (chosen, given)


Registered = tuple[tuple[Rule, ...], dict[str, Blocking]]

REGISTERED: Final[dict[str, Registered]] = {}
"""What was registered, for handing on to other processes."""

_BUILT_IN_KEYS: Final = frozenset(BLOCKING)


def register_all(given: Mapping[str, Registered]) -> None:
    """Register what another process had registered."""
    for name, (rule_set, keys) in given.items():
        register(name, rule_set, keys)


def offers(name: Name, blockings: Iterable[Blocking]) -> set[int]:
    """The hashes of the keys a name offers; its letters are always one."""
    if not name.letters:
        return set()  # matches its own identity key alone, which is one row
    keys = {WHOLE + name.letters}
    for block in blockings:
        if block.offers is not _nothing and (more := block.offers(name)):
            keys.update(more)
    return {xxh3_64_intdigest(key.encode()) for key in keys}


def seeks(name: Name, blockings: Iterable[Blocking]) -> set[int]:
    """The hashes of the keys a name seeks."""
    keys: set[str] = set()
    if name.letters:
        for block in blockings:
            if block.seeks is not _nothing and (more := block.seeks(name)):
                keys.update(more)
    return {xxh3_64_intdigest(key.encode()) for key in keys}


# ---- spelling -----------------------------------------------------------------------------------


def edit_forms(name: Name) -> Iterator[tuple[str, ...]]:
    """The forms of a name that edits are counted on, cut into pieces (see ``Name.pieces``)."""
    forms = [name.pieces]
    if name.latin_pieces != name.pieces:
        forms.append(name.latin_pieces)
    if name.without_legal_form is not name.letters and name.bare_pieces not in ((), *forms):
        forms.append(name.bare_pieces)
    for pieces in forms:
        letters = sum(map(len, pieces))
        if tolerance(letters) and letters <= NEVER_EDITED:
            yield pieces


def free_positions(pieces: tuple[str, ...]) -> list[int]:
    """Where in the joined form an edit may fall."""
    free: list[int] = []
    at = 0
    for turn, piece in enumerate(pieces):
        if turn % 2 == 0:
            free.extend(range(at, at + len(piece)))
        at += len(piece)
    return free


def deletions(pieces: tuple[str, ...]) -> set[str]:
    """What is left of a form after deleting as many letters as its length tolerates. Two forms
    within tolerance of each other share one. Above ``ONE_PLACE`` letters the two stand together."""
    text, free = "".join(pieces), free_positions(pieces)
    left = {text} | {text[:i] + text[i + 1 :] for i in free}
    if tolerance(len(text)) < 2:
        return left
    both: Iterator[tuple[int, int]] = combinations(free, 2)
    if len(text) > ONE_PLACE:
        both = ((i, j) for i, j in pairwise(free) if j == i + 1)
    return left | {text[:i] + text[i + 1 : j] + text[j + 1 :] for i, j in both}


@cache  # one entry for each length up to the longest compared
def cuts(length: int) -> tuple[tuple[int, int], ...]:
    """The segments of a form of that many letters: one more than it tolerates edits, so that an
    edit in each of the others leaves one whole."""
    parts = tolerance(length) + 1
    return tuple((length * i // parts, length * (i + 1) // parts) for i in range(parts))


BASE: Final = 0x9E37_79B9_7F4A_7C15
_MASK: Final = (1 << 64) - 1


def mixed(value: int) -> int:
    """Every bit of a 64-bit word spread over the word (the finalizer of MurmurHash3)."""
    value ^= value >> 33
    value = value * 0xFF51_AFD7_ED55_8CCD & _MASK
    value ^= value >> 33
    value = value * 0xC4CE_B9FE_1A85_EC53 & _MASK
    return value ^ (value >> 33)


CODE_SALT: Final = 0x5BD1_E995


@cache  # one entry for each character met
def _term(char: str) -> int:
    return mixed(ord(char) + CODE_SALT)


@cache
def segment_salt(length: int, part: int) -> int:
    """What parts the segments of one length and place from all others."""
    return hashed(f"s{length} {part}")


def _segment(length: int, part: int, text: str) -> int:
    """A polynomial of the characters, which arrays of names can make as well (see
    ``engines.spelling``): making them with a name took an eighth of the time of reading it."""
    value = segment_salt(length, part)
    for char in text:
        value = (value * BASE + _term(char)) & _MASK
    return mixed(value)


def segments(name: Name) -> set[int]:
    """The keys under which an index finds a name again by spelling."""
    found = set()
    for pieces in edit_forms(name):
        text = "".join(pieces)
        for part, (start, end) in enumerate(cuts(len(text))):
            found.add(_segment(len(text), part, text[start:end]))
    return found


def probes(name: Name) -> set[int]:
    """Every segment key that a name within tolerance of this one may have. A transposition across
    the edge of a segment touches two, so each is also tried with its first letter taken from
    before and its last from behind."""
    found = set()
    for pieces in edit_forms(name):
        text = "".join(pieces)
        size = len(text)
        for length in range(size - 2, size + 3):
            shift = tolerance(min(size, length))
            if not shift or abs(size - length) > shift or length > NEVER_EDITED:
                continue
            for part, (start, end) in enumerate(cuts(length)):
                for at in range(max(0, start - shift), start + shift + 1):
                    stop = at + end - start
                    if stop > size:
                        break
                    found.add(_segment(length, part, text[at:stop]))
                    if stop < size:
                        found.add(_segment(length, part, text[at : stop - 1] + text[stop]))
                    if at:
                        found.add(_segment(length, part, text[at - 1] + text[at + 1 : stop]))
    return found


# ---- the name index -----------------------------------------------------------------------------


def _signed(key: int) -> int:
    return key - (1 << 64) if key >> 63 else key


def index_keys(name: Name, blockings: Iterable[Blocking]) -> set[int]:
    """The keys a name is stored under: what it offers and seeks, its segments. Signed 64-bit."""
    blocks = tuple(blockings)
    keys = offers(name, blocks) | segments(name)
    return {_signed(k) for k in keys} | {_signed(k ^ SEEK_SALT) for k in seeks(name, blocks)}


def probe_keys(name: Name, blockings: Iterable[Blocking]) -> set[int]:
    """The stored keys of every name that is a candidate of this one. Signed 64-bit."""
    blocks = tuple(blockings)
    keys = seeks(name, blocks) | probes(name)
    return {_signed(k) for k in keys} | {_signed(k ^ SEEK_SALT) for k in offers(name, blocks)}


# ---- look-alikes: what a veto keeps apart -------------------------------------------------------


def lookalike_keys(name: Name) -> set[str]:
    """Keys shared by names that look alike and that a veto keeps apart: the letters without
    numbers, without a last letter or numeral, without a suffix, with opposed words left open. For
    people to read; never for pairs to fold."""
    words = [w for w in name.words if w not in GENERATIONS and w not in PERSON_GENERATIONS]
    left_open = (f"({OPPOSED_CLASSES[w][0][0]})" if w in OPPOSED_CLASSES else w for w in words)
    keys = {"".join(c for c in name.letters if not c.isdigit()), "".join(left_open)}
    if name.tail:
        keys.add("".join(name.words[:-1]))
    if name.suffix:
        keys.add(name.stem)
    return {key for key in keys if key}


# ---- words: what a person's search finds a name by ----------------------------------------------

SEARCH_WORDS: Final = 32
"""So many words of a name are looked for, and of what is searched for."""

LONGEST_SEARCH_WORD: Final = 64

_CAMEL = re.compile("[a-z][A-Z]|[A-Z][A-Z][a-z]")
_CAMEL_PARTS = re.compile("[A-Z]{3,}(?![a-z])|[A-Z]?[a-z]{2,}")


def search_words(name: Name) -> list[str]:
    """The words under which a person's search finds a name, each once: in Latin letters without
    marks; the parts of a word in CamelCase too; each Han, kana or Hangul character and each picture
    as written."""
    found: Iterable[str] = name.words
    if _CAMEL.search(name.spelling):
        found = [*found, *(part.lower() for part in _CAMEL_PARTS.findall(name.spelling))]
    if not name.text.isascii():
        signs = (c for c in name.folded if is_cjk(c) or unicodedata.category(c) == "So")
        found = [*(latin_of(word) or word for word in found), *signs]
    words = dict.fromkeys(word[:LONGEST_SEARCH_WORD] for word in found if word)
    return list(words)[:SEARCH_WORDS]
