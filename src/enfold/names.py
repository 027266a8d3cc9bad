"""A name and everything that can be read off its spelling.

Pure: the same spelling gives the same keys on every machine, in every process, for ever; a change
here changes what is stored, so ``VERSION`` must change with it.

Three keys of growing strictness stand beside each other:

- ``key``: the name's identity. Two writers of one key mean one row.
- ``merge_key``: its letters and digits only. Names that share it are candidates of ``identical``.
- ``fold_key``: the merge key with the numbers, meaning-bearing symbols, leading punctuation and
  titles that decide whether equal letters mean an equal thing. No veto can part two names of one
  fold key.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from anyascii import anyascii

from enfold.errors import Invalid
from enfold.vocabulary import (
    ABBREVIATIONS,
    ACRONYM_SILENT,
    ARTICLES,
    CARDINALS,
    CJK_LEGAL_FORMS,
    DOMAIN_SUFFIXES,
    ENGLISH_ARTICLES,
    FILE_SUFFIXES,
    FOLD_MARKS,
    KIND_WORDS,
    LAST_ABBREVIATIONS,
    LEADING_LEGAL_FORMS,
    LEGAL_BEGINNINGS,
    LEGAL_ENDINGS,
    LEGAL_FORMS,
    LONGEST_LEGAL_FORM,
    NAME_TITLES,
    NUMBER_WORDS,
    OPPOSED_CLASSES,
    ORDINAL_ENDINGS,
    ORDINALS,
    PERSON_TYPES,
    POST_NOMINALS,
    ROMAN,
    TENS,
    WRITTEN_SHORT,
)

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property:  # noqa: N801
        """The standard one without its lock, which up to Python 3.11 is taken for every value of
        every name. Computing a value twice is harmless here."""

        def __init__(self, compute: Any) -> None:
            self.compute = compute
            self.name = compute.__name__
            self.__doc__ = compute.__doc__

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.compute(instance)
            return value


VERSION: Final = 1
"""Version of everything this module derives; stamped on a graph's indexes."""

MAX_LENGTH: Final = 10_000
"""Longest spelling accepted, in characters: texts given as names are refused, not cut."""

BARE_LETTERS: Final = 8
"""Names of so many letters without their company forms are compared by edits without these too. On
Wikidata's companies 8 of 64 questions below that were right."""

KEY_BYTES: Final = 200
"""A longer key is stored as a prefix and a digest, so that no index entry grows with its name."""

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u2800\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
# Kept when a spelling is shown: they shape emoji and Persian or Indic words.
_UNSHOWN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u2800\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e001f]"
)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Behind a digit, and superscripts behind a letter: H₂O is written H2O, but m² is not M2.
_RAISED = re.compile(r"(?<=[0-9])([²³¹⁰-⁹₀-₉]+)|(?<=[^\W\d_])([²³¹⁰⁴-⁹]+)")
_FRACTION = re.compile("(?<=[0-9])([¼-¾⅐-⅟↉①-⒛⓪-⓿㉑-㉟㊱-㊿])")
_TRADEMARK = re.compile("[™℠]")  # NFKC would write them as letters
_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3041-\u318f\u31a0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_LONE_DOT = re.compile(r"(?<!\d)\.|\.(?!\d)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_PLAIN = re.compile("[a-z]+(?:[ _-][a-z]+)*")
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"(\d+)([+%‰]*)([^\W\d_]{1,2}(?![^\W_]))?")
_PER_CENT = re.compile(r"(?<=\d) (?=[%‰])")
_NUMBER_WORD = re.compile(
    rf"\b(?:(?P<ten>{'|'.join(TENS)})(?:[ -](?P<unit>{'|'.join([*CARDINALS, *ORDINALS])}))?"
    rf"|(?P<one>{'|'.join([*CARDINALS, *ORDINALS])}))\b"
)
_ENDINGS = ("ing", "er", "ed", "ings", "ers", "ies")
_ENDS = ".,;:!?()[]{}<>'\""
_DATE = re.compile(r"(?<!\d)\d{1,4}/\d{1,2}/\d{1,4}(?!\d)")
_NUMERONYM = re.compile(r"(?<![^\W_])[^\W\d_]\d{1,2}[^\W\d_](?![^\W_])")
_EXTENSION = re.compile(r"(.*[^\W_].*)\.([a-zA-Z][a-zA-Z0-9]{0,9})", re.DOTALL)
_BRACKETED = re.compile(r"[(\[（【]([^()\[\]（）【】]+)[)\]）】]")
_BULLET = "-*#•·–—>"
_CLOSERS = {
    "(": ")",
    "[": "]",
    "{": "}",
    "<": ">",
    "«": "»",
    "»": "«",
    "“": "”",
    "”": "”",
    "„": "“”",
    "‘": "’",
    "’": "’",
    "‹": "›",
    "「": "」",
    "『": "』",
    "【": "】",
    "《": "》",
    "〈": "〉",
    '"': '"',
    "'": "'",
    "`": "`",
    "*": "*",
    "¿": "?",
    "¡": "!",
}
_SHORT_WORD = re.compile(r"(?<!\w)\w{1,3}$")
_CANDIDATE = re.compile(r"[^\w\s.,:;!?()\[\]{}\\&*|~`]")
_SYMBOLS = "=^♀♂♭♮′″"
_NOT_SIGNS = "♀♂♭♮©®"
_APOSTROPHES = "'’ʼ‘`´"


class _Table(dict[int, str | None]):
    """A ``str.translate`` table filled as characters are met: letters, digits and the marks that
    belong to them stay, all else becomes ``other``."""

    def __init__(self, other: str | None, kept: str = "", dropped: str = "") -> None:
        super().__init__({ord(c): c for c in kept} | {ord(c): None for c in dropped})
        self._other = other

    def __missing__(self, code: int) -> str | None:
        category = unicodedata.category(chr(code))
        stays = category[0] in "LN" or category in ("Mn", "Mc")
        self[code] = chr(code) if stays else self._other
        return self[code]


_TO_LETTERS = _Table(None)
_TO_WORDS = _Table(" ", kept=".", dropped=_APOSTROPHES)


def bounded(key: str) -> str:
    """The key itself, or where it is longer than ``KEY_BYTES`` a prefix and a digest of the whole,
    so that two long names that start alike stay two."""
    raw = key.encode()
    if len(raw) <= KEY_BYTES:
        return key
    digest = hashlib.blake2b(raw, digest_size=16).hexdigest()
    # The mark is a control character, which no cleaned name holds: no short name has such a key.
    return f"{raw[: KEY_BYTES - 48].decode(errors='ignore')}\x1f{digest}"


def clean(spelling: str) -> str:
    """The spelling as it is stored and shown: blanks collapsed, control and direction characters
    and lone surrogates gone, all else as written."""
    if spelling.isascii() and spelling.isprintable() and "  " not in spelling:
        return spelling.strip()
    text = _SURROGATE.sub("\ufffd", spelling)
    return " ".join(_UNSHOWN.sub("", _CONTROL.sub(" ", text)).split())


def normalized(text: str) -> str:
    """NFKC without invisible characters and trade marks, blanks collapsed, case kept."""
    if text.isascii():
        return text
    plain = _INVISIBLE.sub("", _TRADEMARK.sub("", text))
    # NFKC would write 10² as 102, m² as m2 and 8½ as 81/2. A letter with marks is one before a ².
    plain = unicodedata.normalize("NFC", plain)
    plain = _FRACTION.sub(r" \1", _RAISED.sub(r"^\g<0>", plain))
    plain = unicodedata.normalize("NFKC", plain).replace("⁄", "/")
    return " ".join(_INVISIBLE.sub("", plain).split())


def folded(text: str) -> str:
    """Case folding closed under NFKC. The dot that folding ``İ`` leaves on its ``i`` goes."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text.casefold()).replace("i\u0307", "i")


def letters_of(text: str) -> str:
    """The letters and digits of a case-folded text, of every script, and nothing else."""
    return text.translate(_TO_LETTERS)


def is_cjk(text: str) -> bool:
    """Whether it holds a Han, kana or Hangul character: a word of its own, not a letter."""
    return not text.isascii() and _CJK.search(text) is not None


@dataclass(frozen=True)
class Name:
    """A spelling with an optional type, and what can be read off it.

    Make it with ``Name.of``. Comparable and hashable by spelling and type.
    """

    spelling: str
    type: str | None = None

    def __post_init__(self) -> None:
        """Most names are words of ASCII letters with a blank, a hyphen or an underscore between
        them: there is no number, symbol, suffix or leading punctuation to look for, and what is
        left is said at once. Asking for each by itself took a third of the time of reading them."""
        folded = self.spelling.lower()
        if _PLAIN.fullmatch(folded) is None or not self.spelling.isascii():
            return
        if len(folded) > KEY_BYTES:
            return
        words = tuple(folded.replace("-", " ").replace("_", " ").split())
        letters = "".join(words)
        self.__dict__.update(_PLAIN_VALUES)
        self.__dict__.update(
            text=self.spelling,
            folded=folded,
            key=folded,
            letters=letters,
            merge_key=letters,
            words=words,
            latin=letters,
            pieces=(letters,),
            latin_pieces=(letters,),
        )

    @classmethod
    def of(cls, spelling: str, type: str | None = None) -> Name:
        """The name of a spelling as someone wrote it.

        Raises:
            Invalid: ``blank_name`` where nothing visible is left of it, ``name_too_long`` above
                ``MAX_LENGTH`` characters.
        """
        if len(spelling) > MAX_LENGTH:
            raise Invalid(
                "name_too_long",
                f"A name has at most {MAX_LENGTH:,} characters; this one has {len(spelling):,}. "
                "Store a long text as a memory and name the thing it is about.",
            )
        name = cls(clean(spelling), clean(type) or None if type else None)
        if not name.key:
            raise Invalid("blank_name", "The name is blank; give at least one visible character.")
        return name

    @cached_property
    def kind(self) -> str:
        """The type, case folded, or ""."""
        return self.type.casefold() if self.type else ""

    @cached_property
    def text(self) -> str:
        return normalized(self.spelling)

    @cached_property
    def folded(self) -> str:
        return folded(self.text)

    @cached_property
    def person(self) -> bool:
        """Whether it is typed as a person."""
        return self.kind in PERSON_TYPES

    @cached_property
    def key(self) -> str:
        """Identity: NFKC, case folded, blanks collapsed, invisible characters removed, one leading
        ``@`` dropped."""
        text = self.folded
        if text.startswith("@") and len(text) > 1:
            text = text[1:].lstrip()
        return bounded(text)

    @cached_property
    def letters(self) -> str:
        """Every letter and digit, case folded, in order."""
        return letters_of(self.folded)

    @cached_property
    def merge_key(self) -> str:
        return bounded(self.letters)

    @cached_property
    def fold_key(self) -> str:
        if not self.letters:
            return "=" + self.key
        parts = [self.letters]
        if self.numbers:
            parts.append("n" + ".".join(self.numbers))
        if self.symbols:
            parts.append("s" + self.symbols)
        if self.prefix:
            parts.append("p" + self.prefix)
        if marks := [w for w in self.words if w in FOLD_MARKS]:
            parts.append("t" + ".".join(sorted(marks)))
        if self.signs:
            parts.append("d" + self.signs)
        if self.address:
            parts.append(("a/" if "/" in self.text else "a") + ".".join(self.words))
        if self.handle:
            parts.append("h" + self.handle)
        return bounded("\x1f".join(parts))

    @cached_property
    def short(self) -> bool:
        """Whether the letters are too few to be a whole name: under three, counted in an alphabet
        (a Han, kana or Hangul character counts for two)."""
        letters = self.letters
        return len(letters) < 3 and len(letters) + len(_CJK.findall(letters)) < 3

    @cached_property
    def written_words(self) -> tuple[str, ...]:
        """The words as written; digits joined by dots are one word, apostrophes join."""
        return _split(self.text)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words, case folded, each of letters and digits only."""
        if self.text.isascii():
            words = _split(self.folded)
            return words if "." not in self.folded else tuple(w.replace(".", "") for w in words)
        return tuple(letters_of(folded(word)) for word in self.written_words)

    @cached_property
    def _number_parts(self) -> tuple[tuple[str, str], ...]:
        """(number, letters that follow it directly), in order."""
        return _numbers_in(self.folded)

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """The runs of digits in order, leading zeros and separators aside, a directly following
        ``+``, ``%`` or ``‰`` kept. The count in a numeronym (``K8s``) is none."""
        return tuple(number for number, _ in self._number_parts)

    @cached_property
    def counted(self) -> tuple[str, ...]:
        """The numbers, those written as words among them."""
        if NUMBER_WORDS.isdisjoint(self.words):
            return self.numbers
        return tuple(number for number, _ in _numbers_in(_in_digits(self.folded)))

    @cached_property
    def number_suffixes(self) -> tuple[str, ...]:
        """For each number the one or two letters written directly behind it (``4o``), or ""."""
        return tuple(suffix for _, suffix in self._number_parts)

    @cached_property
    def tail(self) -> str:
        """The last word where it is a lone letter or a roman numeral, else ""."""
        words = self.words
        if len(words) < 2 or self.extension in FILE_SUFFIXES:
            return ""
        last = words[-1]
        lone = len(last) == 1 and last.isalpha() and not is_cjk(last)
        return last if lone or last in ROMAN else ""

    @cached_property
    def symbols(self) -> str:
        """The symbols that bear meaning: ``+``, ``#`` and ``-`` behind a word, currency and
        mathematical signs, ``@`` inside, feet and inches. What comes in pairs is decoration."""
        text = self.text.replace("♯", "#")
        found: list[str] = []
        for match in _CANDIDATE.finditer(text, self._start):
            char, at = match.group(), match.start()
            before = text[at - 1] if at else " "
            after = text[at + 1] if at + 1 < len(text) else " "
            if _bears_meaning(char, before, after, text, at):
                found.append("-" if char == "−" else char)
        return "".join(found)

    @cached_property
    def signs(self) -> str:
        """Pictures and marks that are decoration, unless two names carry different ones: emoji, and
        ``!``, ``?``, ``*``, ``|`` and ``&``."""
        return "".join(
            c
            for c in self.text
            if c in "!?*|&" or (unicodedata.category(c) == "So" and c not in _NOT_SIGNS)
        )

    @cached_property
    def address(self) -> bool:
        """Whether it is written as a path, an address, a file or a domain, where dots and slashes
        say where one part ends: ``mail.google.com`` is not ``mailgoogle.com``."""
        return "/" in self.text or "@" in self.symbols or self.suffix != ""

    @cached_property
    def scoped(self) -> bool:
        """Whether it is written as a package in a scope: ``@babel/core``."""
        return self.text.startswith("@") and "/" in self.text

    @cached_property
    def handle(self) -> str:
        """The name of an account or a mailbox as written, case folded, where it has punctuation in
        it, else "": two that differ in that are two (``@sam-w``, ``@sam_w``)."""
        text = self.folded
        if "@" not in text or " " in text or "/" in text:
            return ""
        if not (text.startswith("@") or "@" in self.symbols):
            return ""
        plain = self.key.strip(_ENDS)
        return "" if plain == self.letters else plain

    @cached_property
    def suffix(self) -> str:
        """The file or domain suffix, or ""."""
        suffix = self.extension
        return suffix if suffix in FILE_SUFFIXES or suffix in DOMAIN_SUFFIXES else ""

    @cached_property
    def _start(self) -> int:
        """Where the leading punctuation ends."""
        return len(self.text) if not self.letters else self._scan_prefix()[1]

    @cached_property
    def prefix(self) -> str:
        """Leading punctuation that is part of the name (``.next``, ``--force``, ``$ref``). Paired
        quotes and brackets, emoji, bullets and one ``@`` are not."""
        return self._scan_prefix()[0] if self.letters else ""

    def _scan_prefix(self) -> tuple[str, int]:
        text, prefix = self.text, ""
        if text[0].isalnum():
            return "", 0
        for at, char in enumerate(text):
            if char.isalnum():
                return prefix, at
            rest = text[at + 1 :]
            if char.isspace() or (char == "@" and not prefix and at == 0):
                continue
            if any(closer in rest for closer in _CLOSERS.get(char, "")):
                continue
            if char in _BULLET and rest[:1] in ("", " "):
                continue
            if unicodedata.category(char) in ("So", "Sk", "Mn", "Mc", "Me", "Pe", "Pf"):
                continue
            prefix += char
        return prefix, len(text)

    @cached_property
    def stem(self) -> str:
        """The letters before a final dot and suffix, where there is one, else ""."""
        match = _EXTENSION.fullmatch(self.folded) if "." in self.folded else None
        return letters_of(match.group(1)) if match else ""

    @cached_property
    def extension(self) -> str:
        """What stands behind the final dot, where it could be a file or domain suffix."""
        match = _EXTENSION.fullmatch(self.folded) if "." in self.folded else None
        return match.group(2) if match else ""

    @cached_property
    def bracketed(self) -> tuple[str, str] | None:
        """(letters outside, letters inside) of a name with one bracketed part."""
        match = _BRACKETED.search(self.folded)
        if match is None:
            return None
        outside = letters_of(self.folded[: match.start()] + " " + self.folded[match.end() :])
        inside = letters_of(match.group(1))
        return (outside, inside) if outside and inside else None

    @cached_property
    def outside(self) -> tuple[str, ...]:
        """The words without those in brackets and without company forms; () where there is neither
        or nothing would be left."""
        words = self.words
        if self.bracketed is None and (not words or words[-1] not in LEGAL_ENDINGS):
            return ()
        if self.bracketed is not None:
            text = _BRACKETED.sub(" ", self.folded)
            words = tuple(letters_of(word) for word in _split(text))
        rest = _strip_forms(words)
        return rest if rest != self.words else ()

    @cached_property
    def written_out(self) -> str:
        """The letters with abbreviations and number words written out and "and" left out. The
        endings -ing, -er, -ed and -ies are off words with five letters or more before them, but
        for people."""
        words, inflected = self.words, False
        if not self.person:
            for word in words:
                if len(word) > 6 and word.endswith(_ENDINGS):
                    inflected = True
        if not inflected and WRITTEN_SHORT.isdisjoint(words):
            return self.letters
        if not NUMBER_WORDS.isdisjoint(words):
            words = tuple(letters_of(word) for word in _split(_in_digits(self.folded)))
        if len(words) > 1 and not WRITTEN_SHORT.isdisjoint(words):
            last = LAST_ABBREVIATIONS.get(words[-1]) or ABBREVIATIONS.get(words[-1], words[-1])
            words = (*(ABBREVIATIONS.get(word, word) for word in words[:-1]), last)
            words = tuple(word for word in words if word != "and") or words
        return "".join(map(_stem, words)) if inflected else "".join(words)

    @cached_property
    def two_words(self) -> tuple[str, str] | None:
        """The two words whose initials may stand for the name: of three letters or more each, small
        words and a last word for a kind or a company form aside. None for people."""
        words = self.words
        count = len(words)
        if not 2 <= count <= 5 or self.person:
            return None
        if count > 2:
            words = tuple(word for word in words if word not in ACRONYM_SILENT)
            if len(words) == 3 and (words[2] in KIND_WORDS or words[2] in LEGAL_ENDINGS):
                words = words[:2]
            if len(words) != 2:
                return None
        first, last = words
        if len(first) < 3 or len(last) < 3:
            return None
        both = first[0] + last[0]
        return (first, last) if both.isascii() and both.isalpha() else None

    @cached_property
    def content(self) -> tuple[str, ...]:
        """The words without "of" and articles, in order."""
        if ARTICLES.isdisjoint(self.words):
            return self.words
        return tuple(word for word in self.words if word not in ARTICLES)

    @cached_property
    def ordered(self) -> tuple[str, ...]:
        """The words in alphabetical order, "of" and articles aside (those of other languages only
        where two words are left)."""
        content = self.content
        if len(content) < 2:
            content = tuple(word for word in self.words if word not in ENGLISH_ARTICLES)
        return tuple(sorted(content))

    @cached_property
    def without_legal_form(self) -> str:
        """The letters without the company forms around them; all letters where there are none, or
        where nothing of two letters would be left."""
        words = self.words
        if (
            not self.cjk
            and words
            and words[-1] not in LEGAL_ENDINGS
            and words[0] not in LEGAL_BEGINNINGS
        ):
            return self.letters
        rest = _strip_forms(words)
        if rest[:1] == ("the",) and 1 < len(rest) < len(words):
            rest = rest[1:]
        letters = "".join(rest)
        if self.cjk:
            letters = _strip_cjk_form(letters, self.text)
        return letters if len(letters) >= 2 else self.letters

    @cached_property
    def opposable(self) -> tuple[str, ...]:
        """The words that have an opposite."""
        if OPPOSED_CLASSES.keys().isdisjoint(self.words):
            return ()
        return tuple(word for word in self.words if word in OPPOSED_CLASSES)

    @cached_property
    def capitals(self) -> tuple[str, ...]:
        """Words of two to four letters written in capitals only, case folded."""
        return tuple(
            folded(word)
            for word in self.written_words
            if 2 <= len(word) <= 4 and word.isalpha() and word.isupper()
        )

    @cached_property
    def cjk(self) -> bool:
        return is_cjk(self.letters)

    @cached_property
    def latin(self) -> str:
        """The letters and digits in Latin letters without marks."""
        letters = self.letters
        return letters if letters.isascii() else latin_of(letters)

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """The letters, cut into what an edit may touch and what it may not, in turn, starting with
        what it may. Words with a digit and Han, kana or Hangul characters are not to be touched."""
        return _cut(self.words)

    @cached_property
    def latin_pieces(self) -> tuple[str, ...]:
        """The same of the Latin form; () for a name with Han, kana or Hangul characters."""
        if self.letters.isascii():
            return self.pieces
        return () if self.cjk else _cut(tuple(latin_of(word) for word in self.words))

    @cached_property
    def bare_pieces(self) -> tuple[str, ...]:
        """The pieces without company forms; () where there are none, or under ``BARE_LETTERS``
        letters would be left."""
        plain = self.without_legal_form
        if len(plain) < BARE_LETTERS or plain == self.letters or self.cjk:
            return ()
        words = _strip_forms(self.words)
        return _cut(words[1:] if words[:1] == ("the",) and len(words) > 1 else words)

    @cached_property
    def person_words(self) -> tuple[str, ...]:
        """The words without titles before and letters behind the name; never empty."""
        words = self.words
        while len(words) > 1 and words[0] in NAME_TITLES:
            words = words[1:]
        while len(words) > 1 and words[-1] in POST_NOMINALS:
            words = words[:-1]
        return words


_PLAIN_VALUES: Final = {
    "numbers": (),
    "number_suffixes": (),
    "symbols": "",
    "signs": "",
    "address": False,
    "scoped": False,
    "handle": "",
    "suffix": "",
    "prefix": "",
    "stem": "",
    "extension": "",
    "bracketed": None,
    "cjk": False,
}
"""What is read off such a name, whatever its letters."""


def _numbers_in(text: str) -> tuple[tuple[str, str], ...]:
    """(number, letters that follow it directly), in order."""
    if _DIGIT.search(text) is None:
        return ()
    found = []
    plain_text = _PER_CENT.sub("", _NUMERONYM.sub(" ", _THOUSANDS.sub("", text)))
    for match in _NUMBER.finditer(plain_text):
        digits, sign, suffix = match.groups(default="")
        plain = "".join(str(unicodedata.digit(d, 0)) for d in digits).lstrip("0") or "0"
        found.append((plain + sign, "" if suffix in ORDINAL_ENDINGS else suffix))
    return tuple(found)


def _in_digits(text: str) -> str:
    """A case-folded text with its number words as digits: ``forty-four``, 44; ``first``, 1st."""
    return _NUMBER_WORD.sub(_digits, text)


def _digits(match: re.Match[str]) -> str:
    ten, word = match["ten"], match["unit"] or match["one"] or ""
    value = TENS.get(ten, 0) + CARDINALS.get(word, ORDINALS.get(word, 0))
    if word not in ORDINALS:
        return str(value)
    last = 0 if 10 < value % 100 < 20 else value % 10
    return str(value) + {1: "st", 2: "nd", 3: "rd"}.get(last, "th")


def _stem(word: str) -> str:
    """The word without an ending, where it is ASCII letters and five of them are left."""
    for ending in _ENDINGS:
        if word.endswith(ending):
            stem = word[: -len(ending)]
            if len(stem) < 5 or not (word.isascii() and word.isalpha()):
                return word
            return f"{stem}y" if ending == "ies" else stem
    return word


def _bears_meaning(char: str, before: str, after: str, text: str, at: int) -> bool:
    match char:
        case "#":  # behind a digit or a blank it is a number sign: ``PR #12``
            return before.isalpha() or before == "#"
        case "+":  # behind a digit it is read with the number: ``S9+``
            return not before.isdigit()
        case "-":  # below zero, a grade or a blood type; elsewhere it parts words, or is left over
            below = before == " " and after.isdigit()
            return below or (after in " )" and _SHORT_WORD.search(text[:at]) is not None)
        case "/":  # a ratio
            return before.isdigit() and after.isdigit() and _DATE.search(text) is None
        case "−":
            return before.isalnum() and after in " )"
        case "@":
            return before.isalnum() and after.isalnum()
        case "<" | ">":
            return text.count("<") != text.count(">")
        case "'" | '"':  # feet and inches, where it closes nothing
            every = (text[i - 1 : i].isdigit() for i, c in enumerate(text) if c == char)
            return before.isdigit() and not after.isalnum() and all(every)
    return char in _SYMBOLS or unicodedata.category(char) in ("Sc", "Sm")


def _strip_forms(words: tuple[str, ...]) -> tuple[str, ...]:
    while True:
        for size in range(min(LONGEST_LEGAL_FORM, len(words) - 1), 0, -1):
            if words[-size:] in LEGAL_FORMS:
                words = words[:-size]
                break
            if words[:size] in LEADING_LEGAL_FORMS:
                words = words[size:]
                break
        else:
            return words


def _strip_cjk_form(letters: str, text: str) -> str:
    for form in CJK_LEGAL_FORMS:
        if len(form) == 1 and f"({form})" not in text:
            continue
        if letters.startswith(form):
            return letters[len(form) :]
        if letters.endswith(form):
            return letters[: -len(form)]
    return letters


def _split(text: str) -> tuple[str, ...]:
    spaced = text.translate(_TO_WORDS)
    if "." in spaced:
        spaced = _LONE_DOT.sub(" ", spaced)
    return tuple(spaced.split())


def latin_of(text: str) -> str:
    """The text in Latin letters and digits, lower case."""
    return "".join(c for c in anyascii(text).lower() if c.isalnum())


def _cut(words: tuple[str, ...]) -> tuple[str, ...]:
    text = "".join(words)
    if text.isascii() and text.isalpha():
        return (text,)
    pieces = [""]
    for word in words:
        coded = _DIGIT.search(word) is not None
        for char in word:
            fixed = coded or is_cjk(char)
            if fixed != (len(pieces) % 2 == 0):
                pieces.append("")
            pieces[-1] += char
    return tuple(pieces)
