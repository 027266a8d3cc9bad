"""Full text of memories, and which of them mention an entity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from enfold.ports import Reader
from enfold.store.recallable import may_recall, values_of
from enfold.store.statements import Statements

_SEARCHED: Final = "memory_words_docsize"
"""The table that the index keeps itself: a row for each memory whose words are in it."""


class MemoryWords:
    """See ``ports.MemoryWords``."""

    def __init__(self, statements: Statements) -> None:
        self._sql = statements

    def file(self, rows: Iterable[tuple[int, str]]) -> None:
        """Of memories that are new, (id, words)."""
        self._sql.run_many("INSERT INTO memory_words (rowid, words) VALUES (?, ?)", rows)

    def unfile(self, memory_id: int, words: str) -> None:
        """Take a memory's words away, where they are filed; the index has no text to go by."""
        if self._sql.row("SELECT 1 FROM memory_words WHERE rowid = :id", id=memory_id) is None:
            return
        self._sql.run(
            "INSERT INTO memory_words (memory_words, rowid, words) VALUES ('delete', :id, :words)",
            id=memory_id,
            words=words,
        )

    def count(self, reader: Reader, *, most: int) -> int:
        if reader.kinds is None and not reader.sealed:
            # SQLite knows both without a look at their rows, and most graphs are much larger.
            at_least = self._sql.value(
                f"""SELECT (SELECT count(*) FROM {_SEARCHED})
                - (SELECT count(*) FROM uncounted)"""
            )
            if at_least >= most:
                return most
        return int(
            self._sql.value(
                f"""SELECT count(*) FROM (SELECT 1 FROM {_SEARCHED}
                WHERE {may_recall(f"{_SEARCHED}.id", reader)} LIMIT :most) h""",
                most=most,
                **values_of(reader),
            )
        )

    def since(self, reader: Reader, latest: int) -> int:
        return int(
            self._sql.value(
                f"""SELECT coalesce(min(h.id), 0) FROM (SELECT id FROM {_SEARCHED}
                WHERE {may_recall(f"{_SEARCHED}.id", reader)}
                ORDER BY id DESC LIMIT :latest) h""",
                latest=latest,
                **values_of(reader),
            )
        )

    def holding(self, phrase: str, reader: Reader, *, most: int, since: int = 0) -> int:
        return int(
            self._sql.value(
                f"""SELECT count(*) FROM (SELECT 1 FROM memory_words
                WHERE memory_words MATCH :phrase AND memory_words.rowid >= :since
                AND {may_recall("memory_words.rowid", reader)} LIMIT :most) h""",
                phrase=_quoted(phrase),
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
        rows = self._sql.all(
            f"""SELECT f.id, f.score FROM (
                SELECT rowid AS id, bm25(memory_words) AS score FROM memory_words
                WHERE memory_words MATCH :asked AND {may_recall("memory_words.rowid", reader)}
                ORDER BY rowid DESC LIMIT :latest) f
            ORDER BY f.score, f.id LIMIT :limit""",
            asked=(" AND " if every else " OR ").join(map(_quoted, phrases)),
            latest=latest,
            limit=limit,
            **values_of(reader),
        )
        return [(memory_id, -score) for memory_id, score in rows]

    def mentioning(self, root: int, reader: Reader, *, limit: int) -> list[int]:
        # Each spelling's mentions stand by memory in an index, so that of a hub's thousands only
        # the latest are read.
        open_m, open_x = may_recall("m.memory_id", reader), may_recall("y.memory_id", reader)
        return self._sql.ids(
            f"""SELECT DISTINCT m.memory_id FROM entity a CROSS JOIN mention m
            WHERE a.canonical_id = :root AND m.asserted_id = a.id
                AND m.memory_id >= coalesce((SELECT y.memory_id FROM mention y
                    WHERE y.asserted_id = a.id AND {open_x}
                    ORDER BY y.memory_id DESC LIMIT 1 OFFSET :behind), 0)
                AND {open_m}
            ORDER BY m.memory_id DESC LIMIT :limit""",
            root=root,
            limit=limit,
            behind=limit - 1,
            **values_of(reader),
        )


def _quoted(phrase: str) -> str:
    """The phrase as a string of the query language, so that nothing in it is an operator."""
    return '"' + phrase.replace('"', '""').replace("\0", " ") + '"'
