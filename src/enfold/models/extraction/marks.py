"""What a text itself marks as a name: quotes, code spans, capitals, and words no prose has.

Capitals mark a name within a sentence. At its start they mark nothing, so a single word there needs
more: a verb behind it, another name beside it, the same word farther on. Where all is in capitals,
as in headings and shouts, they mark nothing either.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from enfold.models.extraction import words
from enfold.models.extraction.prose import GAP
from enfold.models.extraction.sentences import LETTER, TOKEN, Opens, Sentence, Word, sentences
from enfold.models.extraction.shapes import CAPPED, Kind, Shape, shape

MOST_WORDS: Final = 8
"""Words of a run of capitals that is a name; more are a heading."""

QUOTED: Final = 60
"""Characters of a quoted span or a code span that may be a name."""

_QUOTED: Final = re.compile(
    r'"([^"\n\x00]{1,60})"|“([^“”"\n\x00]{1,60})”|„([^„“”"\n\x00]{1,60})[“”]|«([^«»\n\x00]{1,60})»'
    r"|‘([^‘’\n\x00]{1,60})’(?!\w)"
)
_CODE: Final = re.compile(r"(?<!`)`([^`\n]{1,60})`(?!`)")
_EAST: Final = re.compile("「([^「」\n]{1,20})」|『([^『』\n]{1,40})』|《([^《》\n]{1,40})》")
_KATAKANA: Final = re.compile("[ァ-ヴー]{2,}(?:[・＝][ァ-ヴー]+)*")
_SPOKEN: Final = re.compile("[。！？、!?…]")
_SAID: Final = re.compile("と[言話答思述聞書]")
_CODE_NAME: Final = re.compile(r"[@\w.][\w./:@$-]*(?:\(\))?")
_INC: Final = frozenset("inc ltd co corp".split())
_AND: Final = frozenset("and & und y et e и и i og och en".split())
_APPOSED: Final = frozenset("who which our my the a an formerly his her their whose".split())
_STRIPPED_ROLES: Final = frozenset("CEO CTO CFO COO VP PM HR".split())
_YEAR: Final = re.compile(r"(?:19|20)\d\d")


class Mark(NamedTuple):
    """A name in a text: where, what type the text says, and how sure that is."""

    start: int
    end: int
    type: str | None = None
    confidence: float = 0.8


def marks(plain: str, known: Collection[str] = ()) -> list[Mark]:
    """The names that a text marks, in the order in which they stand there; none overlap.

    Args:
        plain: the text without what is no prose (see ``prose``).
        known: words of names that are known anyway.
    """
    spans: list[Mark] = []
    for span in sorted(_spans(plain)):
        if not spans or spans[-1].end <= span.start:
            spans.append(span)
    reader = _Reader(plain, _language(plain), frozenset(known))
    found = [mark for mark in spans if mark.confidence]
    for sentence in sentences(plain, [(one.start, one.end) for one in spans]):
        found += reader.read(sentence)
    return sorted([*found, *reader.late()])


# ---- quotes and code -----------------------------------------------------------------------------


def _spans(plain: str) -> Iterator[Mark]:
    """Quoted and code spans; one of confidence 0 is a span in which nothing is looked for."""
    if "`" in plain:
        for match in _CODE.finditer(plain):
            yield _code(match)
    if any(sign in plain for sign in '"“„«‘'):
        for match in _QUOTED.finditer(plain):
            group = match.lastindex or 0
            if _is_title(match.group(group)):
                yield Mark(*match.span(group), None, 0.8)
    if not plain.isascii():
        for match in _EAST.finditer(plain):
            if not _is_speech(match, plain):
                type = "concept" if match.lastindex != 1 else None
                yield Mark(*match.span(match.lastindex or 0), type, 0.8)
        for match in _KATAKANA.finditer(plain):
            if len(match.group()) > 2 and match.group() not in words.KATAKANA:
                yield Mark(*match.span(), None, 0.6)


def _code(match: re.Match[str]) -> Mark:
    start, end = match.span(1)
    inside = match.group(1)
    if GAP in inside:  # what is not seen parts a name in two, and neither is one
        return Mark(*match.span(), None, 0.0)
    if _is_title(inside) and " " in inside:
        return Mark(start, end, None, 0.8)
    if _is_edition(inside):
        return Mark(start, end, shape(inside).type, 0.9)
    named = _CODE_NAME.fullmatch(inside) and any(map(str.isalpha, inside))
    if not named or len(inside) < 2 or inside.lower() in words.LITERALS or inside.isupper():
        return Mark(*match.span(), None, 0.0)
    end -= 2 * inside.endswith("()")
    return Mark(
        start, end, shape(inside).type, 0.6 if inside.islower() and inside.isalpha() else 0.9
    )


def _is_edition(inside: str) -> bool:
    """Whether a code span without small letters is a name that prose would show as well: ``C#``,
    ``GPT-4.1``. One with underscores, and one of letters alone, is a constant."""
    one = shape(inside)
    whole = one.kind is Kind.IDENTIFIER and one.word == inside
    return whole and inside.isupper() and "_" not in inside and not inside.isalpha()


def _is_title(quoted: str) -> bool:
    """Whether a quoted span looks like a name: capitals throughout, and no sentence."""
    if quoted != quoted.strip() or quoted[-1] in ".!?,;:…" or len(quoted) < 2:
        return False
    every = quoted.split(" ")
    if len(every) > 7 or not any(map(str.isalpha, quoted)):
        return False
    if LETTER.match(quoted):
        return len(every) < 4
    shapes = [shape(word) for word in every]
    if len(every) == 1:
        one = shapes[0]
        low = one.low in words.COMMON or one.low in words.STARTERS or one.low in words.MONTHS
        if one.kind is Kind.ACRONYM:
            return one.word not in words.GENERIC and one.word not in words.SHOUTED
        return one.kind in CAPPED | {Kind.IDENTIFIER} and not low and len(one.word) > 1
    large = [one for one in shapes if one.kind in CAPPED or one.kind is Kind.IDENTIFIER]
    small = [one for one in shapes if one.kind is Kind.LOWER]
    if shapes[0].kind not in CAPPED or any(one.low not in words.STARTERS for one in small):
        return False
    return any(one.low not in words.STARTERS for one in large) and len(large) >= len(small)


def _is_speech(match: re.Match[str], plain: str) -> bool:
    inside = match.group(match.lastindex or 0)
    behind = plain[match.end() : match.end() + 2]
    if _SPOKEN.search(inside) or (match.lastindex == 1 and _SAID.match(behind)):
        return True
    return (
        inside != inside.strip()
        or inside in ("はい", "いいえ", "うん")
        or not any(map(str.isalpha, inside))
    )


def _language(plain: str) -> str:
    """Which language's capitals the text has, by its small words."""
    counts = {"en": 1, "de": 0, "romance": 0}
    for match in islice(TOKEN.finditer(plain), 2_000):
        if (language := words.LANGUAGES.get(match.group().lower())) is not None:
            counts[language] += 1
    return max(counts, key=counts.__getitem__)


# ---- capitals ----------------------------------------------------------------------------------


class _Reader:
    """Reads the names out of sentences, and remembers the words that were seen as names."""

    def __init__(self, plain: str, language: str, known: frozenset[str]) -> None:
        self._plain = plain
        self._language = language
        self._names: set[str] = set(known)
        self._waiting: dict[str, Mark] = {}

    def read(self, sentence: Sentence) -> list[Mark]:
        """The names of a sentence; a word at its start that is not sure waits for ``late``."""
        every = sentence.words
        if _is_shouted(every):
            return [mark for word in every if (mark := self._identifier(word))]
        capitals = not (sentence.heading or _is_heading(every))
        found: list[Mark] = []
        at = 0
        while at < len(every):
            mark, at = self._at(every, at, capitals)
            if mark is not None:
                found.append(mark)
                while at < len(every) and every[at].start < mark.end:
                    at += 1
        return found

    def _at(self, every: Sequence[Word], at: int, capitals: bool) -> tuple[Mark | None, int]:
        """(the name that begins at a word, where to go on)"""
        kind = every[at].shape.kind
        if kind in CAPPED and (capitals or kind is Kind.CAMEL):
            end = self._run_end(every, at)
            return self._run(every, at, end), end
        if kind is Kind.IDENTIFIER:
            return self._identified(every, at), at + 1
        if kind in (Kind.LOWER, Kind.OTHER):
            return self._beside(every, at), at + 1
        return None, at + 1

    def late(self) -> list[Mark]:
        """Words at the start of a sentence that are names elsewhere in the text."""
        return [mark for word, mark in self._waiting.items() if word in self._names]

    # -- single words --

    def _identifier(self, word: Word) -> Mark | None:
        one = word.shape
        if one.kind is not Kind.IDENTIFIER or word.end == word.start:
            return None
        return Mark(word.start, word.end, one.type, 0.9)

    def _identified(self, every: Sequence[Word], at: int) -> Mark | None:
        """An identifier, with what of a name stands behind it (``GPT-4 Turbo``)."""
        word = every[at]
        if self._plain[word.start - 1 : word.start] == "@" or word.shape.word in words.GENERIC:
            return None
        end = at + 1
        if word.shape.word[0].isupper() and word.shape.word.replace("-", "").isalnum():
            while end < len(every) and every[end].joined and every[end].shape.kind is Kind.CAPITAL:
                end += 1
                if end - at > 3 or _is_date(every[end - 1]):
                    return Mark(word.start, word.end, word.shape.type, 0.9)
        version = self._version(every, end, word.shape)
        if version:
            return Mark(word.start, version, word.shape.type or "technology", 0.9)
        type = word.shape.type or _kind_behind(every, end)
        return Mark(word.start, every[end - 1].end, type, 0.9)

    def _beside(self, every: Sequence[Word], at: int) -> Mark | None:
        """A word that is a name because of the word beside it: ``the date-fns package``."""
        word = every[at]
        one = word.shape
        if self._plain[word.end : word.end + 2] == "()" and one.word.isidentifier():
            return Mark(word.start, word.end, None, 0.9) if len(one.word) > 2 else None
        if "-" not in one.word or not one.word.replace("-", "").isalnum():
            return None
        behind = every[at + 1].shape.low if at + 1 < len(every) and every[at + 1].joined else ""
        before = every[at - 1].shape.low if at and word.joined else ""
        named = behind in words.BESIDE or before in words.BESIDE or before in ("install", "import")
        return Mark(word.start, word.end, None, 0.7) if named and one.word[0].isalpha() else None

    # -- runs --

    def _run_end(self, every: Sequence[Word], start: int) -> int:
        """Where a run of capitals ends."""
        at = start + 1
        while at < len(every):
            before, word = every[at - 1], every[at]
            if not word.joined or word.opens or _is_date(word) or _is_date(before):
                titled = before.shape.low in words.TITLES and word.joined
                if not (titled and word.shape.kind in CAPPED):
                    return at
            if before.shape.possessive and word.shape.low not in words.ORGANIZATIONS:
                return at
            kind = word.shape.kind
            if kind in CAPPED or (kind is Kind.IDENTIFIER and _is_model(word.shape)):
                at += 1
                continue
            width = self._connector(every, at)
            if not width:
                return at
            at += width
        return at

    def _connector(self, every: Sequence[Word], at: int) -> int:
        """How many small words at this place join a name, with the capital behind them."""
        low = every[at].shape.low
        behind = at + 1
        if low == "of" and every[at - 1].shape.low in words.OF:
            if behind < len(every) and every[behind].shape.low == "the":
                behind += 1
        elif low == "&":
            pass
        elif low in words.PARTICLES or low in words.ROMANCE_PARTICLES:
            if low in words.ROMANCE_PARTICLES and self._language != "en":
                return 0
            if low == "al" and "." in self._plain[every[at].end : every[at].end + 1]:
                return 0
        else:
            return 0
        capped = behind < len(every) and every[behind].shape.kind in CAPPED
        alone = all(word.joined for word in every[at : behind + 1])
        return behind + 1 - at if capped and alone else 0

    def _run(self, every: Sequence[Word], start: int, end: int) -> Mark | None:
        """The name that a run of capitals is, if it is one."""
        opens = every[start].opens
        first = start
        while first < end and (
            _is_loud(every[first]) or (opens and self._is_starter(every, first, end))
        ):
            first += 1
            opens = Opens.NO if first > start else opens
        while first < end and every[first].shape.word in _STRIPPED_ROLES and first + 1 < end:
            first += 1
        while end > first and _is_loud(every[end - 1]):
            end -= 1
        if first >= end or end - first > MOST_WORDS:
            return None
        titled = every[first].shape.low in words.TITLES
        if titled and end - first > 1:
            return self._titled(every, first, end)
        version = self._version(every, end, every[end - 1].shape)
        type = _type(every, first, end)
        group = self._group(every, end)
        if not self._is_name(every, first, end, opens, bool(version), group or type):
            return None
        stop = version or (group if group else _stop(self._plain, every[end - 1]))
        for word in every[first:end]:
            self._names.add(word.shape.word)
        if group:
            type = "organization"
        elif version and type is None:
            type = "event" if _YEAR.fullmatch(self._plain[version - 4 : version]) else "technology"
        return Mark(every[first].start, stop, type, self._confidence(every, first, end, opens))

    def _titled(self, every: Sequence[Word], first: int, end: int) -> Mark:
        """A person with a title, which is part of the name where only one word follows."""
        kin = every[first].shape.low in ("aunt", "uncle", "auntie", "grandma", "grandpa")
        start = first if end - first == 2 or kin else first + 1
        for word in every[first + 1 : end]:
            self._names.add(word.shape.word)
        return Mark(every[start].start, every[end - 1].end, "person", 0.95)

    def _is_name(
        self,
        every: Sequence[Word],
        first: int,
        end: int,
        opens: Opens,
        version: bool,
        type: object,
    ) -> bool:
        run = [word.shape for word in every[first:end]]
        if run[0].low in words.ROLES and (end - first > 1 or run[0].kind is Kind.CAPITAL):
            return False
        plain = [one for one in run if self._is_plain(one)]
        if len(run) > 1:
            named = len(plain) < len(run) and any(one.kind is not Kind.INITIAL for one in run)
            return named or version
        one = run[0]
        if one.kind is Kind.INITIAL or one.low in words.TITLES:
            return False
        if version:
            return not plain or one.kind is Kind.ACRONYM
        if one.kind is Kind.CAMEL:
            return True
        if isinstance(type, int) and not self._is_small(one.low):  # a team
            return True
        if plain:
            return False
        if one.kind is Kind.ACRONYM:
            return True
        if self._language == "de" and not (type or one.word in self._names):
            return False
        if opens is Opens.NO:
            return True
        if self._starts_as_name(every, first, opens):
            return True
        if not _is_abstract(one.low):
            word = every[first]
            self._waiting.setdefault(one.word, Mark(word.start, word.end, None, 0.6))
        return False

    def _starts_as_name(self, every: Sequence[Word], at: int, opens: Opens) -> bool:
        """Whether more than its capital says that the first word of a sentence is a name."""
        one = every[at].shape
        if one.word in self._names:
            return True
        if _is_abstract(one.low):
            return False
        if one.possessive:
            return True
        if at + 1 == len(every):
            return opens is Opens.LABEL
        behind = every[at + 1]
        if behind.opens is Opens.LABEL and opens is Opens.LABEL:
            return True
        if behind.joined and behind.shape.low in words.VERBS:
            return True
        if behind.joined and behind.shape.low in _AND and at + 2 < len(every):
            after = every[at + 2].shape
            return (after.kind in CAPPED and not self._is_plain(after)) or after.word == "I"
        if behind.gap == ", ":
            capped = behind.shape.kind in CAPPED and not self._is_plain(behind.shape)
            return capped or behind.shape.low in _APPOSED
        return False

    def _group(self, every: Sequence[Word], end: int) -> int:
        """Where the name ends with a word such as "team"; 0 where there is none."""
        if end < len(every) and every[end].joined and every[end].shape.word in words.GROUPS:
            return 0 if every[end - 1].shape.possessive else every[end].end
        return 0

    def _version(self, every: Sequence[Word], end: int, last: Shape) -> int:
        """Where the name ends with a version; 0 where it has none."""
        if end >= len(every) or not every[end].joined or last.possessive:
            return 0
        number = every[end].shape
        if number.kind is not Kind.NUMBER or last.low in words.COUNTED:
            return 0
        if last.kind is Kind.INITIAL or last.low in words.MONTHS or last.low in words.DAYS:
            return 0
        if _YEAR.fullmatch(number.word):
            con = last.word.endswith(("Con", "Conf")) or last.low in words.EVENTS
            return every[end].end if con else 0
        behind = end + 1
        if behind < len(every) and every[behind].joined:
            if every[behind].shape.low in words.UNITS or _is_date(every[behind]):
                return 0
            while behind < len(every) and every[behind].joined:
                if every[behind].shape.word not in words.EDITIONS:
                    break
                behind += 1
        return every[behind - 1].end

    def _is_small(self, low: str) -> bool:
        """Whether it is a word that begins sentences in the language of the text."""
        if low in words.ENGLISH:
            return True
        return (self._language != "en" or not low.isascii()) and low in words.STARTERS

    def _is_starter(self, every: Sequence[Word], at: int, end: int) -> bool:
        """Whether the first word of a run at the start of a sentence is no part of the name."""
        one = every[at].shape
        if one.low in words.TITLES or (one.low == "project" and at + 1 < end):
            return False
        if self._is_small(one.low):
            return True
        if at + 1 == end or one.kind is not Kind.CAPITAL:
            return False
        return one.low in words.COMMON or (
            one.low.endswith(("ed", "ing", "ly")) and len(one.low) > 5
        )

    def _is_plain(self, one: Shape) -> bool:
        """Whether a capitalised word may be the plain word it is."""
        if one.kind is Kind.ACRONYM:
            return (
                one.word in words.GENERIC
                or one.word in words.SHOUTED
                or (one.low in words.COMMON and len(one.word) > 3)
            )
        return (
            one.low in words.COMMON
            or self._is_small(one.low)
            or one.low in words.PEOPLES
            or one.low in words.NEVER
        )

    def _confidence(self, every: Sequence[Word], first: int, end: int, opens: Opens) -> float:
        if end - first > 1:
            return 0.85
        if every[first].shape.kind is Kind.ACRONYM:
            return 0.7
        return 0.8 if opens is Opens.NO else 0.65


def _type(every: Sequence[Word], first: int, end: int) -> str | None:
    """The type that the name itself or the words beside it say."""
    run = [word.shape for word in every[first:end]]
    own = _own_type(run)
    if own is not None:
        return own
    before = every[first - 1].shape if first else None
    kin = before is not None and before.kind is Kind.LOWER and before.low in words.KIN
    if kin and every[first].gap in (" ", ", "):
        return "person"
    behind = _kind_behind(every, end)
    if behind is None and end < len(every) and every[end].joined:
        plain = all(one.kind is Kind.CAPITAL for one in run)
        return "person" if plain and every[end].shape.low in words.PERSONAL else None
    return behind


def _own_type(run: Sequence[Shape]) -> str | None:
    last, head = run[-1].low, run[0].low
    if run[-1].kind is Kind.CAMEL and run[-1].word.endswith(("Con", "Conf")):
        return "event"
    if len(run) == 1:
        return "person" if _is_given(run) else None
    if head == "project":
        return "project"
    if last in words.ORGANIZATIONS or (head in words.ORGANIZATIONS and head in words.OF):
        return "organization"
    if last in words.EVENTS:
        return "event"
    if last in words.PLACES or head in ("lake", "mount", "river"):
        return "place"
    return "person" if _is_given(run) else None


def _is_given(run: Sequence[Shape]) -> bool:
    """Whether it reads as a person's name: a given name and what may follow one."""
    plain = all(one.kind is Kind.CAPITAL for one in run)
    return plain and len(run) <= 4 and run[0].low in words.GIVEN


def _kind_behind(every: Sequence[Word], end: int) -> str | None:
    if end < len(every) and every[end].joined and not every[end - 1].shape.possessive:
        return words.KINDS.get(every[end].shape.word)
    return None


def _stop(plain: str, word: Word) -> int:
    """Where a name ends; the full stop of ``Inc.`` is part of it."""
    dotted = word.shape.low in _INC and plain[word.end : word.end + 1] == "."
    return word.end + dotted


def _is_date(word: Word) -> bool:
    low = word.shape.low
    return low in words.MONTHS or low in words.DAYS or low in words.NEVER


def _is_model(one: Shape) -> bool:
    return one.word[0].isupper() and one.word.replace("-", "").isalnum()


def _is_loud(word: Word) -> bool:
    """Whether a word is in capitals for another reason than to name something."""
    if _is_date(word):
        return True
    one = word.shape
    return one.kind is Kind.ACRONYM and one.word in words.SHOUTED


def _is_abstract(low: str) -> bool:
    return (len(low) > 5 and low.endswith(_ENDINGS)) or (low.endswith("ed") and len(low) > 4)


_ENDINGS: Final = tuple(words.COMMON_ENDINGS)


def _is_shouted(every: Sequence[Word]) -> bool:
    large = small = 0
    for word in every:
        kind = word.shape.kind
        if kind is Kind.ACRONYM or (kind is Kind.OTHER and word.shape.word.isupper()):
            large += 1
        elif kind in (Kind.LOWER, Kind.CAPITAL, Kind.CAMEL):
            small += 1
    return large > 2 and large > 3 * small


def _is_heading(every: Sequence[Word]) -> bool:
    """Whether the capitals of a sentence are those of a heading."""
    plain = False
    count = 0
    for word in every:
        one = word.shape
        if one.kind is Kind.LOWER:
            if one.low not in words.STARTERS:
                return False
        elif one.kind in CAPPED:
            count += 1
            plain = plain or (count > 1 and (one.low in words.COMMON or one.low in words.ENGLISH))
        elif one.kind is Kind.IDENTIFIER:
            return False
        if "," in word.gap or (word.opens and count > 1):
            return False
    return plain and count > 2
