"""Memories: texts with their sources, whether they count, and the words they are found by."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from enfold import wording
from enfold.model import Fact, Memory, Mention
from enfold.ports import NewMemory
from enfold.store.memorywords import MemoryWords
from enfold.store.statements import ID_LIST, Statements, id_list

MEMORY: Final = """y.id, y.content, y.kind, y.source, y.source_tag, y.caller_id,
    CASE WHEN EXISTS (SELECT 1 FROM uncounted x WHERE x.memory_id = y.id AND x.stale <> 0)
        THEN 'stale' ELSE 'active' END,
    y.created_at, y.title, y.area, y.topic, y.agent,
    (SELECT x.sealed_for FROM uncounted x WHERE x.memory_id = y.id),
    y.repeats, y.document_id, y.follows_id"""
"""The columns of a ``Memory``, from the table as ``y``."""


def memory_of(row: Sequence[Any]) -> Memory:
    """A memory of the columns ``MEMORY``."""
    memory = Memory(*row)
    if memory.caller_id is None or memory.sealed_for is None:
        return memory
    return replace(memory, caller_id=memory.caller_id.partition(_SEAL)[0])


def _caller(caller_id: str | None, sealed_for: str | None) -> str | None:
    """A caller's id as it is stored: those of sealed memories are a room of their own, so that
    nobody learns by an id what is sealed for another."""
    return caller_id if caller_id is None or not sealed_for else f"{caller_id}{_SEAL}{sealed_for}"


_SEAL: Final = "\x1f"
"""Parts an id from the agent it is sealed for; a control character, which no cleaned id holds."""


def digest_of(content: str, sealed_for: str | None) -> str:
    """What makes a text the same text: its letters, and for whom it is sealed."""
    said = f"{'' if sealed_for is None else sealed_for}\0{content}"
    return hashlib.blake2b(said.encode(), digest_size=16).hexdigest()


class Memories:
    """See ``ports.Memories``."""

    def __init__(self, statements: Statements, words: MemoryWords) -> None:
        self._sql = statements
        self._words = words

    # ---- read ----

    def get(self, memory_id: int) -> Memory | None:
        return self._one("y.id = :id", id=memory_id)

    def many(self, ids: Sequence[int]) -> dict[int, Memory]:
        rows = self._sql.stream(
            f"SELECT {MEMORY} FROM memory y WHERE y.id IN {ID_LIST} ORDER BY y.id", ids=id_list(ids)
        )
        return {row[0]: memory_of(row) for row in rows}

    def by_caller(self, caller_id: str, *, sealed_for: str | None = None) -> Memory | None:
        return self._one("y.caller_id = :caller_id", caller_id=_caller(caller_id, sealed_for))

    def same(self, content: str, *, sealed_for: str | None) -> Memory | None:
        return self._one("y.digest = :digest", digest=digest_of(content, sealed_for))

    def _one(self, condition: str, **values: object) -> Memory | None:
        row = self._sql.row(f"SELECT {MEMORY} FROM memory y WHERE {condition}", **values)
        return None if row is None else memory_of(row)

    def known_callers(self, caller_ids: Sequence[str]) -> set[str]:
        rows = self._sql.stream(
            f"SELECT caller_id FROM memory WHERE caller_id IN {ID_LIST}", ids=id_list(caller_ids)
        )
        return {caller_id for (caller_id,) in rows}

    def last(self) -> int:
        return int(self._sql.value("SELECT coalesce(max(id), 0) FROM memory"))

    def count(self) -> int:
        return int(self._sql.value("SELECT count(*) FROM memory"))

    def page(self, *, after: int, limit: int) -> list[tuple[Memory, list[Mention]]]:
        page = [
            memory_of(row)
            for row in self._sql.all(
                f"SELECT {MEMORY} FROM memory y WHERE y.id > :after ORDER BY y.id LIMIT :limit",
                after=after,
                limit=limit,
            )
        ]
        mentions = _Group(
            self._sql.stream(
                f"""SELECT m.memory_id, m.id, m.memory_id, m.asserted_id, m.spelling, e.canonical_id
                FROM mention m JOIN entity e ON e.id = m.asserted_id
                WHERE m.memory_id IN {ID_LIST} ORDER BY m.memory_id, m.id""",
                ids=id_list([memory.id for memory in page]),
            )
        )
        return [
            (memory, [Mention(*values) for values in mentions.of(memory.id)]) for memory in page
        ]

    def all(self) -> Iterator[tuple[Memory, list[Mention], list[Fact]]]:
        mentions = _Group(
            self._sql.stream(
                """SELECT m.memory_id, m.id, m.memory_id, m.asserted_id, m.spelling, e.canonical_id
                FROM mention m JOIN entity e ON e.id = m.asserted_id ORDER BY m.memory_id, m.id"""
            )
        )
        facts = _Group(
            self._sql.stream(
                """SELECT memory_id, id, memory_id, subject_id, predicate, object_id, literal,
                    confidence
                FROM fact ORDER BY memory_id, id"""
            )
        )
        for row in self._sql.stream(f"SELECT {MEMORY} FROM memory y ORDER BY y.id"):
            memory = memory_of(row)
            yield (
                memory,
                [Mention(*values) for values in mentions.of(memory.id)],
                [Fact(*values) for values in facts.of(memory.id)],
            )

    def passages_of(self, document_ids: Sequence[int]) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for document_id, memory_id in self._sql.stream(
            f"SELECT document_id, id FROM memory WHERE document_id IN {ID_LIST} ORDER BY id",
            ids=id_list(document_ids),
        ):
            found.setdefault(document_id, []).append(memory_id)
        return found

    def versions(self, memory_id: int) -> list[Memory]:
        rows = self._sql.all(
            f"""WITH RECURSIVE before (id) AS (
                SELECT CAST(:id AS INTEGER)
                UNION SELECT m.follows_id FROM before b JOIN memory m ON m.id = b.id
                WHERE m.follows_id IS NOT NULL),
            chain (id) AS (
                SELECT id FROM before
                UNION SELECT m.id FROM chain c JOIN memory m ON m.follows_id = c.id)
            SELECT {MEMORY} FROM memory y WHERE y.id IN (SELECT id FROM chain) ORDER BY y.id""",
            id=memory_id,
        )
        return [memory_of(row) for row in rows]

    # ---- write ----

    def add(
        self,
        content: str,
        *,
        kind: str = "fact",
        source: str | None = None,
        source_tag: str | None = None,
        caller_id: str | None = None,
    ) -> int:
        return self.add_many([NewMemory(content, source, source_tag, caller_id, kind)])[0]

    def add_many(self, memories: Sequence[NewMemory]) -> list[int]:
        mark = self._sql.last_id("memory")
        self._sql.run_many(
            """INSERT INTO memory (content, kind, title, area, topic, agent, source, source_tag,
                caller_id, digest, document_id, follows_id, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                (
                    m.content,
                    m.kind,
                    m.title,
                    m.area,
                    m.topic,
                    m.agent,
                    m.source,
                    m.source_tag,
                    _caller(m.caller_id, m.sealed_for),
                    digest_of(m.content, m.sealed_for) if m.once else None,
                    m.document_id,
                    m.follows_id,
                    m.created_at or self._sql.now,
                )
                for m in memories
            ),
        )
        ids = self._sql.ids("SELECT id FROM memory WHERE id > :mark ORDER BY id", mark=mark)
        both = list(zip(ids, memories, strict=True))
        self._words.file((one, wording.words(m.content)) for one, m in both if m.searched)
        self._sql.run_many(
            "INSERT INTO uncounted (memory_id, stale, sealed_for) VALUES (?, 0, ?)",
            ((one, m.sealed_for) for one, m in both if m.sealed_for is not None),
        )
        return ids

    def repeat(self, memory_id: int) -> None:
        self._sql.run("UPDATE memory SET repeats = repeats + 1 WHERE id = :id", id=memory_id)

    def delete(self, memory_id: int) -> None:
        # What goes with a document is said here, since the index of words has no text to go by.
        for part in chain([memory_id], self.passages_of([memory_id]).get(memory_id, ())):
            self._unfile(part)
        self._sql.run("DELETE FROM memory WHERE id = :id", id=memory_id)

    def _unfile(self, memory_id: int) -> None:
        content = self._sql.value("SELECT content FROM memory WHERE id = :id", id=memory_id)
        if content is not None:
            self._words.unfile(memory_id, wording.words(content))

    def set_status(self, memory_id: int, status: str) -> None:
        if status == "stale":
            self._sql.run(
                """INSERT INTO uncounted (memory_id, stale) VALUES (:id, 1)
                ON CONFLICT (memory_id) DO UPDATE SET stale = 1""",
                id=memory_id,
            )
            self._sql.run("UPDATE memory SET digest = NULL WHERE id = :id", id=memory_id)
            return
        self._sql.run(
            "DELETE FROM uncounted WHERE memory_id = :id AND sealed_for IS NULL", id=memory_id
        )
        self._sql.run("UPDATE uncounted SET stale = 0 WHERE memory_id = :id", id=memory_id)
        self._restore_digest(memory_id)

    def _restore_digest(self, memory_id: int) -> None:
        """It holds again, so that its text again is counted; where an equal one came meanwhile,
        that one goes on counting."""
        memory = self.get(memory_id)
        if memory is None or memory.caller_id is not None or memory.document_id is not None:
            return
        self._sql.run(
            """UPDATE memory SET digest = :digest WHERE id = :id
                AND NOT EXISTS (SELECT 1 FROM memory m WHERE m.digest = :digest)""",
            id=memory_id,
            digest=digest_of(memory.content, memory.sealed_for),
        )

    def release_caller(self, memory_id: int) -> None:
        self._sql.run("UPDATE memory SET caller_id = NULL WHERE id = :id", id=memory_id)

    def give_caller(self, memory_id: int, caller_id: str) -> None:
        memory = self.get(memory_id)
        sealed_for = None if memory is None else memory.sealed_for
        self._sql.run(
            "UPDATE memory SET caller_id = :caller WHERE id = :id",
            id=memory_id,
            caller=_caller(caller_id, sealed_for),
        )

    def follow(self, memory_id: int, before: int | None) -> None:
        self._sql.run(
            "UPDATE memory SET follows_id = :before WHERE id = :id", id=memory_id, before=before
        )

    # ---- what is not read yet ----

    def mark_unread(self, ids: Sequence[int]) -> None:
        self._sql.run_many("INSERT INTO unread (memory_id) VALUES (?)", ((one,) for one in ids))

    def mark_read(self, ids: Sequence[int]) -> None:
        self._sql.run(f"DELETE FROM unread WHERE memory_id IN {ID_LIST}", ids=id_list(ids))

    def mark_failed(self, ids: Sequence[int], error: str) -> None:
        self._sql.run(
            f"""UPDATE unread SET tries = tries + 1, error = :error
            WHERE memory_id IN {ID_LIST}""",
            ids=id_list(ids),
            error=error,
        )

    def unread(self, *, after: int = 0, limit: int = 100) -> list[int]:
        return self._sql.ids(
            "SELECT memory_id FROM unread WHERE memory_id > :after ORDER BY memory_id LIMIT :limit",
            after=after,
            limit=limit,
        )

    def count_sealed(self, *, agent: str | None) -> tuple[int, int]:
        sealed = "x.sealed_for IS NOT NULL AND x.sealed_for IS NOT :agent"
        row = self._sql.row(
            f"""SELECT (SELECT count(*) FROM uncounted x WHERE {sealed}),
                (SELECT count(*) FROM unread u JOIN uncounted x ON x.memory_id = u.memory_id
                    WHERE {sealed})""",
            agent=agent,
        )
        assert row is not None
        return int(row[0]), int(row[1])

    def count_unread(self) -> int:
        return int(self._sql.value("SELECT count(*) FROM unread"))


class _Group:
    """Rows sorted by their first column, handed out one value of it at a time."""

    def __init__(self, rows: Iterator[tuple[Any, ...]]) -> None:
        self._rows = rows
        self._ahead = next(rows, None)

    def of(self, value: int) -> list[tuple[Any, ...]]:
        found = []
        while self._ahead is not None and self._ahead[0] == value:
            found.append(self._ahead[1:])
            self._ahead = next(self._rows, None)
        return found
