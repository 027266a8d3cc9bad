"""The words of every name: which rows a person could mean who types a part of a name.

A row's spelling never changes, so its words are written when it is made and taken away with it; no
pass is needed. Folds and renames leave them as they are: a row found leads on to its entity.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from enfold import names
from enfold.names import Name
from enfold.pairs import search_words
from enfold.ports import EVERY, NewEntity
from enfold.store.statements import ID_LIST, Statements, id_list

FILING: Final = 1
"""Must change with ``pairs.search_words`` and with ``size``."""

VERSION: Final = f"names {names.VERSION}, filing {FILING}"
"""What made the words of a graph; those of another version are made anew after a pass."""

WAITING: Final = 50_000
"""Words of new rows held back, to be written in the order of the table; a few MB."""

SCANNED: Final = 5_000
"""Rows of one word looked at for a type, or for having another word too."""

A_PART: Final = 4_000
"""Words looked at for having one part of three letters."""

PARTS: Final = 30_000
"""Words looked at for all parts of one."""

LONGEST: Final = 255
"""A longer name counts as one of so many letters."""

_MASK: Final = 2**64 - 1

_OF_TYPE: Final = """
    JOIN entity e ON e.id = w.entity_id
    JOIN entity root ON root.id = e.canonical_id AND lower(root.type) = lower(:type)"""


class Words:
    """See ``ports.Words``."""

    def __init__(self, statements: Statements) -> None:
        self._sql = statements
        self._waiting: dict[str, list[tuple[int, int]]] = {}
        self._held = 0

    # ---- kept with the rows ----

    def add(self, rows: Iterable[tuple[int, NewEntity]]) -> None:
        """Of new rows, (id, name)."""
        for entity_id, given in rows:
            name = given if isinstance(given, Name) else Name(given.spelling)
            at = (size(name), entity_id)
            words = search_words(name)
            for word in words:
                self._waiting.setdefault(word, []).append(at)
            self._held += len(words)
        if self._held > WAITING:
            self.flush()

    def flush(self) -> None:
        """Write what is held back."""
        if not self._waiting:
            return
        waiting, self._waiting, self._held = self._waiting, {}, 0
        ids = self.known(list(waiting))
        if new := sorted(waiting.keys() - ids.keys()):
            last = self._sql.value("SELECT coalesce(max(id), 0) FROM word")
            self._sql.run_many("INSERT INTO word (word) VALUES (?)", ((word,) for word in new))
            self._file_parts(last)
            ids |= self.known(new)
            if not last:
                self._stamp()
        self._sql.run_many(
            "INSERT INTO word_of (word_id, letters, entity_id) VALUES (?, ?, ?)",
            (
                (word_id, *at)
                for word_id, word in sorted((ids[word], word) for word in waiting)
                for at in sorted(waiting[word])
            ),
        )

    def remove(self, rows: Sequence[tuple[int, str]]) -> None:
        """Of rows that go, (id, spelling). A word that no name has goes too: what is deleted can't
        be read off the words that are left."""
        self.flush()
        named = [(entity_id, Name(spelling)) for entity_id, spelling in rows]
        words = {entity_id: search_words(name) for entity_id, name in named}
        ids = self.known(list({word for some in words.values() for word in some}))
        self._sql.run_many(
            "DELETE FROM word_of WHERE word_id = ? AND letters = ? AND entity_id = ?",
            (
                (ids[word], size(name), entity_id)
                for entity_id, name in named
                for word in words[entity_id]
                if word in ids
            ),
        )
        unused = self._sql.ids(
            f"""SELECT id FROM word WHERE id IN {ID_LIST}
                AND NOT EXISTS (SELECT 1 FROM word_of w WHERE w.word_id = word.id)""",
            ids=id_list(ids.values()),
        )
        self._unfile_parts(unused)
        self._sql.run(f"DELETE FROM word WHERE id IN {ID_LIST}", ids=id_list(unused))

    # ---- made anew, and checked ----

    def outdated(self) -> bool:
        made_with = self._sql.value("SELECT value FROM meta WHERE name = 'words'")
        return made_with != VERSION and self._sql.row("SELECT 1 FROM word LIMIT 1") is not None

    def rewrite(self) -> None:
        self._waiting, self._held = {}, 0
        self._sql.run("DELETE FROM word_of")
        self._unfile_all_parts()
        self._sql.run("DELETE FROM word")
        rows = self._sql.stream("SELECT id, spelling FROM entity")
        self.add((entity_id, Name(spelling)) for entity_id, spelling in rows)
        self.flush()
        self._stamp()

    def _stamp(self) -> None:
        self._sql.run("UPDATE meta SET value = :version WHERE name = 'words'", version=VERSION)

    def misfiled(self) -> list[int]:
        self.flush()
        # One number a row: what its name makes, less what is stored. Neither is sorted or held.
        last = int(self._sql.value("SELECT coalesce(max(id), 0) FROM entity"))
        sums = array("Q", bytes(8 * (last + 1)))
        for row, spelling in self._sql.stream("SELECT id, spelling FROM entity"):
            name = Name(spelling)
            letters = size(name)
            sums[row] = sum(hash((word, letters)) for word in search_words(name)) & _MASK
        gone: set[int] = set()
        for row, letters, word in self._sql.stream(
            """SELECT w.entity_id, w.letters, word.word FROM word_of w
            LEFT JOIN word ON word.id = w.word_id"""
        ):
            if 0 < row <= last:
                sums[row] = (sums[row] - hash((word, letters))) & _MASK
            else:
                gone.add(row)
        return [*(row for row, left in enumerate(sums) if left), *sorted(gone)]

    def stray(self) -> list[int]:
        self.flush()
        lost = set(
            self._sql.ids(
                """SELECT id FROM word
                WHERE NOT EXISTS (SELECT 1 FROM word_of w WHERE w.word_id = word.id)"""
            )
        )
        # Full text can't be asked what it holds without the right to write: it is searched.
        having: dict[str, array[int]] = defaultdict(lambda: array("q"))
        for word_id, word in self._sql.stream("SELECT id, word FROM word"):
            for part in parts_of(word):
                having[part].append(word_id)
        for part, ids in having.items():
            lost.update(set(ids).difference(self._having(part)))
        return sorted(lost)

    # ---- three letters in a row, in the full text that SQLite has for them ----

    def _file_parts(self, after: int) -> None:
        """Of the words behind that id."""
        # In one statement: FTS5 writes its pages out before each, 10 us a word by a trigger.
        self._sql.run(
            "INSERT INTO word_part (rowid, word) SELECT id, word FROM word WHERE id > :after",
            after=after,
        )

    def _unfile_parts(self, word_ids: Sequence[int]) -> None:
        """Of words that are still there."""
        self._sql.run(
            f"""INSERT INTO word_part (word_part, rowid, word)
                SELECT 'delete', id, word FROM word WHERE id IN {ID_LIST}""",
            ids=id_list(word_ids),
        )

    def _unfile_all_parts(self) -> None:
        self._sql.run("INSERT INTO word_part (word_part) VALUES ('delete-all')")

    def _having(self, part: str, most: int = EVERY) -> list[int]:
        """Words with three letters in a row, some of them where there are more than that many."""
        return self._sql.ids(
            "SELECT rowid FROM word_part WHERE word_part MATCH :part LIMIT :most",
            part=f'"{part}"',
            most=most,
        )

    def _holding(self, letters: str, parts: Sequence[str], limit: int) -> dict[str, int]:
        return dict(
            self._sql.all(
                """SELECT word.word, word.id FROM word_part JOIN word ON word.id = word_part.rowid
                WHERE word_part MATCH :parts AND instr(word.word, :letters) > 0 LIMIT :limit""",
                parts=" AND ".join(f'"{part}"' for part in parts),
                letters=letters,
                limit=limit,
            )
        )

    # ---- words ----

    def known(self, words: Sequence[str]) -> dict[str, int]:
        self.flush()
        return dict(
            self._sql.all(f"SELECT word, id FROM word WHERE word IN {ID_LIST}", ids=id_list(words))
        )

    def starting(self, letters: str, *, limit: int) -> dict[str, int]:
        self.flush()
        return dict(
            self._sql.all(
                "SELECT word, id FROM word WHERE word >= :letters AND word < :end"
                " ORDER BY word LIMIT :limit",
                letters=letters,
                end=letters + chr(0x10FFFF),
                limit=limit,
            )
        )

    def holding(self, letters: str, *, limit: int) -> dict[str, int]:
        self.flush()
        return self._holding(letters, parts_of(letters), limit)

    def resembling(self, letters: str, *, limit: int) -> dict[str, int]:
        self.flush()
        shared: Counter[int] = Counter()
        for part in parts_of(letters):
            shared.update(self._having(part, A_PART))
            if shared.total() > PARTS:
                break
        best = [word_id for word_id, _ in shared.most_common(limit)]
        return dict(
            self._sql.all(f"SELECT word, id FROM word WHERE id IN {ID_LIST}", ids=id_list(best))
        )

    # ---- rows ----

    def rows(
        self,
        word_id: int,
        *,
        shortest: int = 0,
        longest: int = LONGEST,
        type: str | None,
        limit: int,
    ) -> list[int]:
        return self._sql.ids(
            f"""SELECT w.entity_id FROM (
                SELECT entity_id, letters FROM word_of
                WHERE word_id = :word AND letters BETWEEN :shortest AND :longest
                ORDER BY letters, entity_id LIMIT :scanned) w
            {_OF_TYPE if type else ""}
            ORDER BY w.letters, w.entity_id LIMIT :limit""",
            word=word_id,
            shortest=shortest,
            longest=longest,
            limit=limit,
            **({"type": type, "scanned": SCANNED} if type else {"scanned": limit}),
        )

    def rows_of_all(self, word_ids: Sequence[int], *, type: str | None, limit: int) -> list[int]:
        counted = sorted((self._count(word_id), word_id) for word_id in word_ids)
        driver = counted[0][1]
        return self._sql.ids(
            f"""SELECT w.entity_id FROM (
                SELECT entity_id, letters FROM word_of WHERE word_id = :driver
                ORDER BY letters, entity_id LIMIT :scanned) w
            {_OF_TYPE if type else ""}
            WHERE NOT EXISTS (SELECT 1 FROM json_each(:ids) other WHERE NOT EXISTS (
                SELECT 1 FROM word_of o WHERE o.word_id = other.value
                    AND o.letters = w.letters AND o.entity_id = w.entity_id))
            ORDER BY w.letters, w.entity_id LIMIT :limit""",
            driver=driver,
            ids=json.dumps([word_id for _, word_id in counted[1:]]),
            scanned=SCANNED,
            limit=limit,
            **({"type": type} if type else {}),
        )

    def _count(self, word_id: int) -> int:
        """How many rows have the word, counted no further than they are looked at."""
        return int(
            self._sql.value(
                "SELECT count(*) FROM (SELECT 1 FROM word_of WHERE word_id = :word LIMIT :most)",
                word=word_id,
                most=SCANNED,
            )
        )


def size(name: Name) -> int:
    """How many letters a row of the name is filed under."""
    return min(len(name.latin), LONGEST)


def parts_of(letters: str) -> list[str]:
    """Every three letters in a row, each once."""
    return list(dict.fromkeys(letters[at : at + 3] for at in range(len(letters) - 2)))
