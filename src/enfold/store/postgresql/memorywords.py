"""Full text of memories in PostgreSQL: where the words of each stand, ranked by BM25 as in SQLite.

The words are told apart here and not by PostgreSQL's parser, which takes addresses and hyphens its
own way: a text is found by the same words in either database.
"""

from __future__ import annotations

import math
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from enfold.ports import Reader
from enfold.store import memorywords as common
from enfold.store.recallable import may_recall, values_of

K1: Final = 1.2
B: Final = 0.75
"""The constants of BM25, as SQLite's full text has them."""

LEAST: Final = 1e-6
"""What a phrase that most memories have is worth."""

COUNTED: Final = 20_000
"""How many memories have a phrase is counted up to here: one that more have is worth nothing."""

MANY: Final = 50_000
"""From so many memories on, how many there are and how long on average is taken from what the
database knows, and from the latest ``SAMPLE``."""

SAMPLE: Final = 1_000

LAST_PLACE: Final = 16_383
LONGEST: Final = 500
MOST: Final = 900_000
"""What PostgreSQL holds of a text: the last place of a word, its length, bytes of all. What stands
behind a text's first 900 kB is not found by its words."""


def tokens(text: str) -> Iterator[str]:
    """The words of a text in order: runs of letters and digits in lower case, without marks."""
    plain = text.lower() if text.isascii() else _unmarked(text)
    for is_word, run in groupby(plain, _is_of_word):
        if is_word:
            yield "".join(run)[:LONGEST]


def _unmarked(text: str) -> str:
    parted = unicodedata.normalize("NFD", text.lower())
    return unicodedata.normalize(
        "NFC", "".join(c for c in parted if unicodedata.category(c) != "Mn")
    )


def _is_of_word(char: str) -> bool:
    return unicodedata.category(char)[0] in "LN" or unicodedata.category(char) == "Co"


def filed(text: str) -> tuple[int, str]:
    """(how many words, the words with their places as PostgreSQL reads them)"""
    places: dict[str, list[int]] = defaultdict(list)
    size = held = 0
    for size, word in enumerate(tokens(text), 1):
        if held < MOST:
            held += len(word.encode()) + 8 if word not in places else 2
            places[word].append(min(size, LAST_PLACE))
    said = (f"{_quoted(word)}:{','.join(map(str, at[:256]))}" for word, at in places.items())
    return size, " ".join(said)


def _quoted(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def _phrase(words: Sequence[str]) -> str:
    return "(" + " <-> ".join(map(_quoted, words)) + ")" if words else "''"


class MemoryWords(common.MemoryWords):
    """See ``ports.MemoryWords``."""

    def file(self, rows: Iterable[tuple[int, str]]) -> None:
        self._sql.run_many(
            "INSERT INTO memory_words (memory_id, size, words) VALUES (?, ?, ?)",
            ((one, *filed(words)) for one, words in rows),
        )

    def unfile(self, memory_id: int, words: str) -> None:
        self._sql.run("DELETE FROM memory_words WHERE memory_id = :id", id=memory_id)

    def count(self, reader: Reader, *, most: int) -> int:
        if reader.kinds is None and not reader.sealed:
            uncounted = int(self._sql.value("SELECT count(*) FROM uncounted"))
            if self._at_least(most + uncounted):
                return most
        return int(
            self._sql.value(
                f"""SELECT count(*) FROM (SELECT 1 FROM memory_words w
                WHERE {may_recall("w.memory_id", reader)} LIMIT :most) h""",
                most=most,
                **values_of(reader),
            )
        )

    def _at_least(self, most: int) -> bool:
        found = self._sql.value(
            "SELECT count(*) FROM (SELECT 1 FROM memory_words LIMIT :most) h", most=most
        )
        return int(found) >= most

    def since(self, reader: Reader, latest: int) -> int:
        return int(
            self._sql.value(
                f"""SELECT coalesce(min(h.id), 0) FROM (SELECT w.memory_id AS id
                FROM memory_words w WHERE {may_recall("w.memory_id", reader)}
                ORDER BY w.memory_id DESC LIMIT :latest) h""",
                latest=latest,
                **values_of(reader),
            )
        )

    def holding(self, phrase: str, reader: Reader, *, most: int, since: int = 0) -> int:
        return int(
            self._sql.value(
                f"""SELECT count(*) FROM (SELECT 1 FROM memory_words w
                WHERE w.words @@ CAST(:phrase AS tsquery) AND w.memory_id >= :since
                AND {may_recall("w.memory_id", reader)} LIMIT :most) h""",
                phrase=_phrase(list(tokens(phrase))),
                since=since,
                most=most,
                **values_of(reader),
            )
        )

    def search(
        self,
        phrases: Sequence[str],
        reader: Reader,
        *,
        limit: int,
        latest: int,
        every: bool = False,
    ) -> list[tuple[int, float]]:
        asked = [tuple(tokens(phrase)) for phrase in phrases]
        query = (" & " if every else " | ").join(map(_phrase, asked))
        rows = self._sql.all(
            f"""SELECT f.memory_id, f.size, u.lexeme, u.positions FROM (
                SELECT w.memory_id, w.size, w.words FROM memory_words w
                WHERE w.words @@ CAST(:query AS tsquery) AND {may_recall("w.memory_id", reader)}
                ORDER BY w.memory_id DESC LIMIT :latest) f
            CROSS JOIN LATERAL unnest(f.words) u
            WHERE u.lexeme = ANY(CAST(:sought AS text[]))""",
            query=query,
            sought=_texts({word for words in asked for word in words}),
            latest=latest,
            **values_of(reader),
        )
        scored = self._scored(rows, asked)
        return sorted(scored, key=lambda one: (-one[1], one[0]))[:limit]

    def _scored(
        self, rows: Iterable[tuple[Any, ...]], asked: Sequence[tuple[str, ...]]
    ) -> list[tuple[int, float]]:
        sizes: dict[int, int] = {}
        places: dict[int, dict[str, list[int]]] = defaultdict(dict)
        for memory_id, size, word, at in rows:
            sizes[memory_id] = size
            places[memory_id][word] = at
        if not sizes:
            return []
        memories, average = self._corpus()
        worth = {words: self._worth(words, memories) for words in set(asked)}
        found = []
        for memory_id, size in sizes.items():
            spread = K1 * (1 - B + B * size / average)
            score = 0.0
            for words in asked:
                often = _often(words, places[memory_id])
                score += worth[words] * often * (K1 + 1) / (often + spread)
            found.append((memory_id, score))
        return found

    def _corpus(self) -> tuple[float, float]:
        """(how many memories are searched, how many words they have on average)"""
        known = float(
            self._sql.value(
                "SELECT reltuples FROM pg_class WHERE oid = CAST('memory_words' AS regclass)"
            )
        )
        latest = "(SELECT size FROM memory_words ORDER BY memory_id DESC LIMIT :sample) s"
        of = "memory_words" if known < MANY else latest
        row = self._sql.row(f"SELECT count(*), avg(size) FROM {of}", sample=SAMPLE)
        assert row is not None
        return (known if known >= MANY else float(row[0])), float(row[1] or 1) or 1.0

    def _worth(self, words: tuple[str, ...], memories: float) -> float:
        having = int(
            self._sql.value(
                """SELECT count(*) FROM (SELECT 1 FROM memory_words
                WHERE words @@ CAST(:phrase AS tsquery) LIMIT :most) h""",
                phrase=_phrase(words),
                most=COUNTED,
            )
        )
        return max(LEAST, math.log((memories - having + 0.5) / (having + 0.5) or LEAST))


def _often(words: Sequence[str], places: dict[str, list[int]]) -> int:
    """How often the words stand in their order."""
    if any(word not in places for word in words):
        return 0
    later = [set(places[word]) for word in words[1:]]
    return sum(
        all(at + step in mine for step, mine in enumerate(later, 1)) for at in places[words[0]]
    )


def _texts(words: Iterable[str]) -> str:
    """An array of texts as PostgreSQL reads it."""
    quoted = (word.replace("\\", "\\\\").replace('"', '\\"') for word in sorted(words))
    return "{" + ",".join(f'"{word}"' for word in quoted) + "}"
