"""Names with known truth, from a thousand to ten million, one row after the other.

Names are skewed as real ones are: a few words are everywhere, most are rare. About one row in
twenty is a variant of an earlier row and carries its truth id. The same count, seed and share of
variants give the same rows on every machine. Memory is bounded: what is kept of earlier rows is a
sample of them and four to eight bytes a row to keep spellings distinct.

Two rows that are no variants of each other share a truth id only where their kinds and letters are
equal, company forms and a ``-js`` aside (``sun-rise`` and ``sunrise``; ``Nordvik`` and ``Nordvik
AG``). No two rows share a spelling.

    python bench/generate.py --count 100000 --out /tmp/names.csv
    python bench/generate.py --count 100000 --out /tmp/memory.jsonl
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import xxhash
from anyascii import anyascii

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import words as w

SAMPLE: Final = 1 << 16
"""How many earlier rows variants are drawn from."""

INVENTED: Final = 240_000
"""How many invented words there are for companies, products and packages together."""


class Row(NamedTuple):
    """One name. Rows of one ``truth`` are one thing."""

    spelling: str
    type: str
    truth: int


Draw = Callable[[], str]


# ---- vocabularies: the same whatever the seed ---------------------------------------------------


def _invented(random: Random, count: int, *, soft: bool = False) -> list[str]:
    """Capitalised words of two to four syllables, five to eleven letters, each once; soft ones are
    of open syllables and four to eight letters."""
    r = random.random
    onsets, vowels, codas, ends = w.ONSETS, w.VOWELS, w.CODAS, w.BRAND_ENDS
    no, nv, nc, ne, plain = len(onsets), len(vowels), len(codas), len(ends), w.PLAIN_ONSETS
    shortest, longest = (4, 8) if soft else (5, 11)
    found: dict[str, None] = {}
    while len(found) < count:
        word = "" if r() < 0.1 else onsets[int(r() * (plain if soft else no))]
        for _ in range(1 + int(r() * (1.4 if soft else 1.9))):
            word += vowels[int(r() * nv)]
            if r() < (0.1 if soft else 0.3):
                word += codas[int(r() * nc)]
            word += onsets[int(r() * (plain if soft or r() < 0.75 else no))]
        if soft:
            word += w.SOFT_ENDS[int(r() * len(w.SOFT_ENDS))]
        elif r() < 0.6:
            word += ends[int(r() * ne)]
        else:
            word += vowels[int(r() * nv)] + codas[int(r() * nc)]
        if shortest <= len(word) <= longest:
            found[word.capitalize()] = None
    return list(found)


def _mixed(random: Random, *lists: Sequence[str]) -> list[str]:
    """The first list in its order, then the others shuffled together, each word once."""
    tail = [word for words in lists[1:] for word in words]
    for at in range(len(tail) - 1, 0, -1):
        to = int(random.random() * (at + 1))
        tail[at], tail[to] = tail[to], tail[at]
    return list(dict.fromkeys([*lists[0], *tail]))


def _joined(starts: Sequence[str], ends: Sequence[str]) -> list[str]:
    return [start + end for start, end in product(starts, ends)]


class _Vocabulary(NamedTuple):
    invented: list[str]
    first: dict[str, list[str]]
    last: dict[str, list[str]]
    common: list[str]
    towns: list[str]
    code: list[str]


@lru_cache(maxsize=1)
def _vocabulary() -> _Vocabulary:
    random = Random(1)
    coined = _invented(random, INVENTED + 70_000)
    given = _invented(random, 6_500, soft=True)
    invented, rare = coined[:INVENTED], coined[INVENTED:]
    towns = [c + e for c, e in zip(rare[:12_000], w.PLACE_ENDS * 400, strict=False) if len(c) < 8]
    surnames = _joined(w.ENGLISH_STARTS, w.ENGLISH_ENDS)
    european = _joined(w.EUROPEAN_STARTS, w.EUROPEAN_ENDS)
    asian = _joined(w.ASIAN_STARTS, w.ASIAN_ENDS)
    patronyms = [n + "son" for n in w.FIRST_ENGLISH] + ["Mac" + n for n in rare[30_000:31_000]]
    spanish = [f"{a} {b}" for a, b in product(w.LAST_SPANISH, w.LAST_SPANISH) if a != b]
    first = {
        "english": _mixed(random, w.FIRST_ENGLISH, given[:2_000]),
        "spanish": _mixed(
            random,
            w.FIRST_SPANISH,
            [f"{a} {b}" for a in w.FIRST_SPANISH[:40] for b in w.FIRST_SPANISH[1:60:3] if a != b],
        ),
        "european": _mixed(
            random,
            w.FIRST_EUROPEAN,
            [f"{a}-{b}" for a in w.FIRST_EUROPEAN[:20] for b in w.FIRST_EUROPEAN[2:60:2] if a != b],
            given[2_000:3_500],
        ),
        "asian": _mixed(random, w.FIRST_ASIAN_LATIN, given[3_500:]),
        "cyrillic": list(w.FIRST_CYRILLIC),
        "han": _mixed(random, w.HAN_GIVEN, _joined(w.HAN_GIVEN, w.HAN_GIVEN)),
        "japanese": list(w.JAPANESE_GIVEN),
        "hangul": _joined(w.HANGUL_GIVEN, w.HANGUL_GIVEN),
    }
    last = {
        "english": [*_mixed(random, w.LAST_ENGLISH, surnames, patronyms), *rare[18_000:26_000]],
        "spanish": _mixed(random, w.LAST_SPANISH, spanish, rare[26_000:28_000]),
        "european": [*_mixed(random, w.LAST_EUROPEAN, european), *rare[31_000:37_000]],
        "asian": [*_mixed(random, w.LAST_ASIAN_LATIN, asian), *rare[37_000:43_000]],
        "cyrillic": _mixed(random, (), _joined(w.CYRILLIC_ROOTS, w.CYRILLIC_ENDS)),
        "han": list(w.HAN_SURNAMES),
        "japanese": list(w.JAPANESE_SURNAMES),
        "hangul": list(w.HANGUL_SURNAMES),
    }
    stems = list(dict.fromkeys(w.COMMON_STEMS))
    derived = [form.format(stem) for stem in stems for form in w.DERIVATIONS]
    common = _mixed(random, _mixed(random, (), stems, w.COMMON_MODIFIERS), derived)[:4_000]
    code = _mixed(random, stems, [word.lower() for word in rare[43_000:58_000]])
    return _Vocabulary(
        invented, first, last, common, _mixed(random, w.PLACES, towns, rare[58_000:]), code
    )


# ---- the generator ------------------------------------------------------------------------------

_CULTURES: Final = (
    ("english", 36),
    ("spanish", 16),
    ("european", 20),
    ("asian", 18),
    ("cyrillic", 4),
    ("han", 3),
    ("japanese", 1),
    ("hangul", 2),
)
_KINDS: Final = (
    ("person", 26),
    ("organization", 22),
    ("package", 14),
    ("product", 14),
    ("concept", 13),
    ("place", 5),
    ("code", 4),
    ("file", 2),
)
_PLAIN = str.maketrans("", "", " -_.,/@'’&()[]:\"·")
_LEGAL: Final = frozenset(word.lower() for form in w.LEGAL_FORMS for word in form.split())
_SEPARATORS = re.compile(r"[\s\-_./]+")


def _rows_of(weights: Sequence[tuple[str, int]]) -> list[str]:
    return [name for name, weight in weights for _ in range(weight)]


class _Generator:
    """The state of one run: its random numbers, and what later names refer to of earlier ones."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.r = self.random.random
        vocabulary = _vocabulary()
        self.person_names = {
            culture: (
                self.zipf(vocabulary.first[culture], 8),
                self.zipf(vocabulary.last[culture], 40),
            )
            for culture, _ in _CULTURES
        }
        self.cultures = _rows_of(_CULTURES)
        self.brand = self.zipf(vocabulary.invented, 300)
        self.common = self.zipf(vocabulary.common, 60)
        self.town = self.zipf(vocabulary.towns, 150)
        self.code_word = self.zipf(vocabulary.code, 60)
        self.package_word = self.zipf(w.PACKAGE_WORDS, 25)
        self.scope = self.zipf(w.SCOPES, 6)
        self.second = self.zipf(w.COMPANY_SECOND, 20)
        self.adjective = self.zipf(w.COMPANY_FIRST, 12)
        self.legal = self.zipf(w.LEGAL_FORMS, 3)
        self.verb = self.zipf(w.CODE_VERBS, 6)
        self.class_end = self.zipf(w.CODE_CLASSES, 8)
        self.folder = self.zipf(w.FILE_FOLDERS, 4)
        self.suffix = self.zipf(w.FILE_SUFFIXES, 2)
        self.place_form = self.zipf(w.PLACE_FORMS, 12)
        self.product_tail = self.zipf(w.PRODUCT_TAILS, 10)
        self.last_head = "Acme"
        self.products: list[tuple[str, int]] = [("Opus", 4)]
        makers: dict[str, Draw] = {
            "person": self.person,
            "organization": self.organization,
            "package": self.package,
            "product": self.product,
            "concept": self.concept,
            "place": self.place,
            "code": self.symbol,
            "file": self.file,
        }
        self.makers = [(kind, makers[kind]) for kind in _rows_of(_KINDS)]

    def zipf(self, words: Sequence[str], flat: int) -> Draw:
        """Draws a word, one of rank k about 1 / (k + flat) times as often: Zipf's law, with a head
        that is flatter the larger ``flat`` is."""
        r, size, ratio = self.r, len(words), (len(words) + flat) / flat
        table = [*words, words[0]]  # rounding may reach the end
        assert size
        return lambda: table[int(flat * ratio ** r() - flat)]

    # -- one name of each kind

    def person(self) -> str:
        r = self.r
        culture = self.cultures[int(r() * 100)]
        first, last = self.person_names[culture]
        if culture in ("han", "japanese", "hangul"):
            return last() + first()
        chance = r()
        if chance < 0.78:
            return f"{first()} {last()}"
        if chance < 0.81:
            return first()
        if chance < 0.89:
            return f"{first()} {'ABCDEGHJKLMPRSTW'[int(r() * 16)]}. {last()}"
        if chance < 0.94:
            return f"{first()} {first()} {last()}"
        if chance < 0.97:
            return f"{w.TITLES[int(r() * len(w.TITLES))]} {first()} {last()}"
        if chance < 0.98:
            return f"{first()} {last()} Jr."
        return f"{first()} {last()}-{last()}"

    def organization(self) -> str:
        r = self.r
        chance = r()
        if chance < 0.18:
            head = self.last_head  # a family: Nordvik Energy, Nordvik Logistics
        elif chance < 0.80:
            head = self.last_head = self.brand()
        elif chance < 0.88:
            head = self.person_names["english"][1]()
        elif chance < 0.94:
            head = self.adjective()
        else:
            head = self.town()
        chance = r()
        if chance < 0.30:
            return f"{head} {self.second()}"
        if chance < 0.48:
            return f"{head} {self.second()} {self.legal()}"
        if chance < 0.62:
            return f"{head} {self.legal()}"
        if chance < 0.74:
            return head
        if chance < 0.82:
            return f"{head} {self.second()} {self.second()}"
        if chance < 0.87:
            return f"{head} & {self.person_names['english'][1]()}"
        if chance < 0.92:
            return f"{self.adjective()} {head} {self.second()}"
        if chance < 0.985:
            return f"{self.town()} {self.adjective()} {self.second()} {self.second()}"
        size = 3 + int(r() * 2)
        return "".join("ABCDEFGHIKLMNOPRSTUVW"[int(r() * 21)] for _ in range(size))

    def package(self) -> str:
        r = self.r
        chance = r()
        head = self.brand().lower() if r() < 0.45 else self.package_word()
        if chance < 0.22:
            scope = self.scope() if r() < 0.5 else self.brand().lower()
            return f"@{scope}/{head}-{self.package_word()}" if r() < 0.6 else f"@{scope}/{head}"
        if chance < 0.47:
            return f"{head}-{self.package_word()}"
        if chance < 0.60:
            return f"{head}-{self.package_word()}-{self.package_word()}"
        if chance < 0.72:
            return f"{head}_{self.package_word()}"
        if chance < 0.80:
            return f"{head}.{self.package_word()}.{self.package_word()}"
        if chance < 0.86:
            return f"{head}-js" if r() < 0.6 else f"{head}.js"
        if chance < 0.90:
            return f"python-{head}-{self.package_word()}"
        return f"{head}{self.package_word()}" if r() < 0.5 else head

    def product(self) -> str:
        r = self.r
        chance = r()
        if chance < 0.60:  # a release of a product seen before
            at = int(r() * len(self.products))
            name, major = self.products[at]
            if r() < 0.15:
                self.products[at] = (name, major + 1)
            shape = r()
            if shape < 0.65:
                return f"{name} {major}.{int(r() * 12)}"
            if shape < 0.80:
                return f"{name} {major}"
            if shape < 0.92:
                return f"{name} {major}.{int(r() * 12)}.{int(r() * 20)}"
            return f"{name} {2003 + int(r() * 23)}"
        if chance < 0.72:
            name = w.MODEL_NAMES[int(r() * len(w.MODEL_NAMES))]
            tail = w.MODEL_TAILS[int(r() * len(w.MODEL_TAILS))]
            vendor = f"{w.MODEL_VENDORS[int(r() * 8)]} " if r() < 0.4 else ""
            return f"{vendor}{name} {1 + int(r() * 5)}.{int(r() * 10)}{tail}"
        if chance < 0.80:
            letters = "ABCDEGHKLMPRSTVXZ"
            code = letters[int(r() * 17)] + letters[int(r() * 17)] if r() < 0.6 else "M"
            return f"{self.brand()} {code}-{int(10 ** (1 + 3 * r()))}"
        name = self.brand() if r() < 0.45 else f"{self.brand()} {self.product_tail()}"
        if r() < 0.15:
            name = f"{name} {self.product_tail()}"
        entry = (name, 1 + int(r() * 4))
        if len(self.products) < 3000:
            self.products.append(entry)
        else:
            self.products[int(r() * 3000)] = entry
        return name

    def concept(self) -> str:
        common, chance = self.common, self.r()
        if chance < 0.42:
            return f"{common()} {common()}"
        if chance < 0.72:
            return f"{common()} {common()} {common()}"
        if chance < 0.80:
            return f"{common()} of {common()} {common()}"
        if chance < 0.88:
            return f"{common()} {common()} {common()} {common()}"
        if chance < 0.94:
            return f"{common()} and {common()} {common()}"
        return f"{self.brand()} {common()}"

    def place(self) -> str:
        return self.place_form().format(self.town())

    def symbol(self) -> str:
        code, chance = self.code_word, self.r()
        if chance < 0.30:
            return f"{self.verb()}_{code()}_{code()}"
        if chance < 0.45:
            return f"{self.verb()}{code().capitalize()}{code().capitalize()}"
        if chance < 0.70:
            return f"{code().capitalize()}{code().capitalize()}{self.class_end()}"
        if chance < 0.80:
            return f"{code()}_{code()}".upper()
        if chance < 0.92:
            return f"{code()}.{self.verb()}_{code()}()"
        return f"{code()}::{code().capitalize()}{self.class_end()}"

    def file(self) -> str:
        code, chance = self.code_word, self.r()
        if chance < 0.45:
            return f"{self.folder()}/{code()}/{code()}{self.suffix()}"
        if chance < 0.75:
            return f"{self.folder()}/{code()}_{code()}{self.suffix()}"
        return f"{code()}_{code()}{self.suffix()}"

    # -- variants

    def variant(self, spelling: str, kind: str) -> str:
        """Another way to write it; the same spelling where the way drawn does not fit it."""
        chance = self.r()
        if chance < 0.56:
            return self.restyled(spelling)
        if chance < 0.76 or kind in ("code", "file"):
            return self.mistyped(spelling)
        if not spelling.isascii() and self.r() < 0.5:
            return anyascii(spelling).strip()
        if kind == "person":
            return self.other_person(spelling)
        if kind == "organization":
            return self.other_organization(spelling)
        if kind == "package":
            return self.other_package(spelling)
        if kind == "product":
            vendor = w.MODEL_VENDORS[int(self.r() * 8)]
            return f"{vendor} {spelling}" if " " in spelling else f"The {spelling}"
        words = spelling.split()
        if kind == "concept" and len(words) > 2 and self.r() < 0.5:
            return "".join(word[0] for word in words).upper()
        if len(words) == 2:
            return f"{words[1]} of {words[0]}"
        return f"the {spelling}"

    def restyled(self, text: str) -> str:
        r, chance = self.r, self.r()
        if chance < 0.14:
            return text.upper() if r() < 0.4 else text.lower()
        if chance < 0.20:
            return text.title()
        if any(map(str.isdigit, text)):
            return text.replace(" ", "-" if r() < 0.7 else "_", 1)
        if chance < 0.42:
            return _SEPARATORS.sub("-", text).lower()
        if chance < 0.58:
            return _SEPARATORS.sub("_", text)
        if chance < 0.76:
            parts = _SEPARATORS.split(text)
            return "".join(part[:1].upper() + part[1:] for part in parts)
        if chance < 0.86:
            parts = re.findall(r"[A-Z]?[^A-Z\s\-_./@]+|[A-Z]+", text)
            return " ".join(parts) or text
        if chance < 0.93:
            return f"“{text}”" if r() < 0.5 else f"{text}."
        return f"{text}!" if r() < 0.5 else f"({text})"

    def mistyped(self, text: str) -> str:
        edited = self.edited(text)
        return self.edited(edited) if len(text) > 9 and self.r() < 0.25 else edited

    def edited(self, text: str) -> str:
        r = self.r
        at = 1 + int(r() * (len(text) - 1))
        if len(text) < 6 or not text[at - 1 : at + 1].isalpha() or anyascii(text[at]) == "":
            return text
        if text[at] > "\u3000":  # a Han, kana or Hangul character is a word, not a letter
            return text
        chance = r()
        if chance < 0.30 and text[at - 1] != text[at]:
            return text[: at - 1] + text[at] + text[at - 1] + text[at + 1 :]
        if chance < 0.55:
            return text[:at] + text[at + 1 :]
        letter = "etaoinsrhldcumfpgwybvkxjqz"[int(26 * r() ** 1.6)] if r() < 0.7 else text[at - 1]
        return text[:at] + letter + text[at + (chance < 0.80) :]

    def other_person(self, text: str) -> str:
        r, words = self.r, text.split()
        if len(words) < 2:
            return f"{w.TITLES[int(r() * 4)]} {text}"
        first, *middle, last = words
        chance = r()
        if chance < 0.25:
            return first if first not in w.TITLES else " ".join(words[1:])
        if chance < 0.50:
            return f"{first[0]}. {last}"
        if chance < 0.70:
            return f"{last}, {' '.join([first, *middle])}"
        if chance < 0.85:
            return f"{first} {'ABCDEGHJKLMPRSTW'[int(r() * 16)]}. {last}"
        return f"{w.TITLES[int(r() * 4)]} {text}" if first not in w.TITLES else text

    def other_organization(self, text: str) -> str:
        words = text.split()
        chance = self.r()
        if words[-1] in w.LEGAL_FORMS and len(words) > 1:
            return " ".join(words[:-1]).removesuffix(",")
        if chance < 0.65 or len(words) < 3:
            return f"{text} {self.legal()}"
        if chance < 0.85:
            return "".join(word[0] for word in words if word[0].isalpha()).upper()
        return f"{' '.join(words[1:])} {words[0]}"

    def other_package(self, text: str) -> str:
        if text.endswith(("-js", ".js")):
            return text[:-3]
        return text.partition("/")[2] if text.startswith("@") and self.r() < 0.4 else f"{text}.js"


def identity(lower: str, kind: str) -> str:
    """What makes two names that are no variants of each other one thing all the same."""
    if kind in ("product", "file"):
        return f"{kind} {lower}"
    if kind == "organization":
        head, blank, last = lower.rpartition(" ")
        while blank and last in _LEGAL:
            lower = head
            head, blank, last = lower.rpartition(" ")
    elif lower.endswith(("-js", ".js")) and kind == "package":
        lower = lower[:-3]
    return f"{kind} {lower.translate(_PLAIN)}"


def generate(count: int, *, seed: int = 7, variants: float = 0.05) -> Iterator[Row]:
    """Yields ``count`` rows, of which a share of ``variants`` spell an earlier row's thing anew.

    Variants are drawn from a sample of the earlier rows, so that a thing may have several; a
    variant of a variant drifts further.
    """
    run = _Generator(seed)
    r, makers, digest = run.r, run.makers, xxhash.xxh3_64_intdigest
    bits = 1 << max(16, (32 * count - 1).bit_length())
    taken, mask = bytearray(bits >> 3), bits - 1
    sample: list[Row] = []
    kinds = len(makers)
    made, again = 0, False
    while made < count:
        if sample and (again or r() < variants):
            again = True
            of = sample[int(r() * len(sample))]
            kind, truth = of.type, of.truth
            spelling = run.variant(of.spelling, kind)
            lower = spelling.lower()
            if spelling == of.spelling or not spelling:
                continue
            if lower == of.spelling.lower():
                lower = spelling  # the same identity key: told apart by case alone
        else:
            kind, make = makers[int(r() * kinds)]
            spelling = make()
            lower = spelling.lower()
            truth = digest(identity(lower, kind).encode()) >> 1
        spot = digest(lower.encode()) & mask
        byte, bit = spot >> 3, 1 << (spot & 7)
        if taken[byte] & bit:
            continue
        taken[byte] |= bit
        row = Row(spelling, kind, truth)
        if len(sample) < SAMPLE:
            sample.append(row)
        else:
            sample[int(r() * SAMPLE)] = row
        made, again = made + 1, False
        yield row


# ---- files --------------------------------------------------------------------------------------


def observations_of(row: Row, random: Random) -> list[str]:
    """Short texts about a row, 0.8 on average: none for half of the rows, one or two for
    most of the others, up to some hundreds for a few."""
    r = random.random
    chance = r()
    if chance < 0.50:
        size = 0
    elif chance < 0.83:
        size = 1
    elif chance < 0.96:
        size = 2
    else:
        size = int(min(400, 3 + 2 * (1 / (r() + 1e-9) ** 0.7 - 1)))
    texts = w.OBSERVATIONS
    found: dict[str, None] = {}
    for _ in range(size):
        text = texts[int(r() * len(texts))].format(n=int(r() * 1000))
        found[f"{row.spelling}: {text}" if r() < 0.3 else text] = None
    return list(found)


def entity_line(row: Row, random: Random) -> str:
    """The row as a line of MCP memory JSONL."""
    line = {
        "type": "entity",
        "name": row.spelling,
        "entityType": row.type,
        "observations": observations_of(row, random),
    }
    return json.dumps(line, ensure_ascii=False) + "\n"


def write_jsonl(path: str | Path, count: int, *, seed: int = 7, variants: float = 0.05) -> None:
    """Writes MCP memory JSONL: one entity line a row, with 0.8 observations a row in all."""
    random = Random(seed + 1)
    with open(path, "w", encoding="utf-8") as out:
        for row in generate(count, seed=seed, variants=variants):
            out.write(entity_line(row, random))


def write_csv(path: str | Path, count: int, *, seed: int = 7, variants: float = 0.05) -> None:
    """Writes ``name,type,truth``."""
    with open(path, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(("name", "type", "truth"))
        writer.writerows(generate(count, seed=seed, variants=variants))


def main() -> None:
    parser = argparse.ArgumentParser(description="Write generated names with known truth.")
    parser.add_argument("--count", type=int, required=True, help="rows")
    parser.add_argument("--out", type=Path, required=True, help="a .csv or .jsonl file")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--variants", type=float, default=0.05, help="share of rows, 0 to 1")
    asked = parser.parse_args()
    started = time.perf_counter()
    write = write_jsonl if asked.out.suffix == ".jsonl" else write_csv
    write(asked.out, asked.count, seed=asked.seed, variants=asked.variants)
    print(f"{asked.count:,} rows in {time.perf_counter() - started:.1f} s: {asked.out}")


if __name__ == "__main__":
    main()
