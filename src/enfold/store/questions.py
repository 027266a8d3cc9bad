"""The queue's questions about names that fit several entities, and about memories that contradict
each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from enfold.model import Answer, Entity, MemoryQuestion, NameQuestion
from enfold.ports import EVERY, Entities, Memories
from enfold.store.statements import ID_LIST, Statements, id_list

_ANSWER: Final = "c.answer, c.answered_by, {0}, c.decided_at"

_FITS: Final = """(SELECT count(DISTINCT e.canonical_id) FROM entity e WHERE e.key = c.name_key)"""

_WAITING: Final = """(SELECT count(DISTINCT u.memory_id) FROM unlinked u
    WHERE u.key = c.name_key AND u.row_id IS NULL
        AND NOT EXISTS (SELECT 1 FROM uncounted x WHERE x.memory_id = u.memory_id))"""

_NAMES: Final = f"""SELECT c.id, c.name_key, c.name, {_WAITING} AS waiting, c.asked_by, c.reason,
    c.created_at, {_ANSWER.format("c.candidate_id")}
FROM conflict c"""

_MEMORIES: Final = f"""SELECT c.id, c.queued_memory_id, c.candidate_memory_id, c.asked_by, c.score,
    c.reason, c.created_at, {_ANSWER.format("c.made_memory_id")}
FROM conflict c"""

_MOOT_MEMORY: Final = """EXISTS (SELECT 1 FROM uncounted x WHERE x.stale <> 0
    AND x.memory_id IN (c.queued_memory_id, c.candidate_memory_id))"""

_NOT_SEALED: Final = """NOT EXISTS (SELECT 1 FROM uncounted x
    WHERE x.memory_id IN (c.queued_memory_id, c.candidate_memory_id)
        AND x.sealed_for <> coalesce(:agent, ''))"""

_OPEN: Final = "c.answer IS NULL AND c.kind = "
_ANSWERED: Final = "c.answer IS NOT NULL AND c.kind = "
_LATEST: Final = "c.decided_at DESC, c.id DESC"

_OPEN_NAMES: Final = f"{_OPEN}'name' AND {_FITS} > 1 AND {_WAITING} > 0"
_OPEN_MEMORIES: Final = f"{_OPEN}'memory' AND NOT {_MOOT_MEMORY}"


class Questions:
    """See ``ports.Questions``."""

    def __init__(self, statements: Statements, entities: Entities, memories: Memories) -> None:
        self._sql = statements
        self._entities = entities
        self._memories = memories

    def kind(self, conflict_id: int) -> str | None:
        found = self._sql.value("SELECT kind FROM conflict WHERE id = :id", id=conflict_id)
        return None if found is None else str(found)

    # ---- names ----

    def ask_name(self, key: str, name: str, *, asked_by: str, reason: str) -> int | None:
        found = self._sql.value(
            """INSERT INTO conflict (kind, name_key, name, asked_by, rule, score, reason, impact,
                created_at)
            SELECT 'name', :key, :name, :asked_by, 'ambiguous', 1.0, :reason, 0, :now
            WHERE NOT EXISTS (SELECT 1 FROM conflict c WHERE c.kind = 'name' AND c.name_key = :key)
            RETURNING id""",
            key=key,
            name=name,
            asked_by=asked_by,
            reason=reason,
            now=self._sql.now,
        )
        return None if found is None else int(found)

    def asked(self, key: str) -> bool:
        return bool(
            self._sql.value(
                "SELECT 1 FROM conflict WHERE kind = 'name' AND name_key = :key LIMIT 1", key=key
            )
        )

    def chosen(self, key: str) -> int | None:
        found = self._sql.value(
            """SELECT candidate_id FROM conflict
            WHERE kind = 'name' AND name_key = :key AND answer IS NOT NULL
            ORDER BY id DESC LIMIT 1""",
            key=key,
        )
        return None if found is None else int(found)

    def name(self, conflict_id: int) -> NameQuestion | None:
        found = self._names("c.kind = 'name' AND c.id = :id", "c.id", 1, id=conflict_id)
        return found[0] if found else None

    def names(self, *, decided: bool = False, limit: int = 1000) -> list[NameQuestion]:
        if decided:
            return self._names(f"{_ANSWERED}'name'", _LATEST, limit)
        return self._names(_OPEN_NAMES, "waiting DESC, c.id", limit)

    def moot_names(self, *, limit: int = 1000) -> list[NameQuestion]:
        return self._names(f"{_OPEN}'name' AND {_FITS} < 2", "c.id DESC", limit)

    def count_names(self) -> int:
        return int(self._sql.value(f"SELECT count(*) FROM conflict c WHERE {_OPEN_NAMES}"))

    def _names(self, which: str, order: str, limit: int, **values: object) -> list[NameQuestion]:
        rows = self._sql.all(
            f"{_NAMES} WHERE {which} ORDER BY {order} LIMIT :limit", limit=limit, **values
        )
        known = self._entities.rows([row[1] for row in rows])
        roots = {key: sorted({row.canonical_id for row in same}) for key, same in known.items()}
        entities = self._entities.many([root for some in roots.values() for root in some])
        return [_name(row, tuple(entities[root] for root in roots.get(row[1], ()))) for row in rows]

    # ---- memories ----

    def ask_memory(
        self, queued_id: int, candidate_id: int, *, asked_by: str, score: float, reason: str
    ) -> int | None:
        found = self._sql.value(
            """INSERT INTO conflict (kind, queued_memory_id, candidate_memory_id, asked_by, rule,
                score, reason, impact, created_at)
            VALUES ('memory', :queued, :candidate, :asked_by, 'contradicts', :score, :reason, 0,
                :now)
            ON CONFLICT DO NOTHING RETURNING id""",
            queued=queued_id,
            candidate=candidate_id,
            asked_by=asked_by,
            score=score,
            reason=reason,
            now=self._sql.now,
        )
        return None if found is None else int(found)

    def memory(self, conflict_id: int) -> MemoryQuestion | None:
        found = self._of_memories("c.kind = 'memory' AND c.id = :id", "c.id", 1, id=conflict_id)
        return found[0] if found else None

    def about(self, memory_ids: Sequence[int]) -> list[MemoryQuestion]:
        which = f"""c.id IN (
            SELECT id FROM conflict WHERE queued_memory_id IN {ID_LIST}
            UNION SELECT id FROM conflict WHERE candidate_memory_id IN {ID_LIST})"""
        return self._of_memories(which, "c.id", EVERY, ids=id_list(memory_ids))

    def that_made(self, memory_id: int) -> list[MemoryQuestion]:
        return self._of_memories("c.made_memory_id = :made", "c.id", EVERY, made=memory_id)

    def memories(
        self, *, decided: bool = False, limit: int = 1000, agent: str | None = None
    ) -> list[MemoryQuestion]:
        if decided:
            return self._for(agent, f"{_ANSWERED}'memory'", _LATEST, limit)
        return self._for(agent, _OPEN_MEMORIES, "c.score DESC, c.id", limit)

    def moot_memories(self, *, limit: int = 1000, agent: str | None = None) -> list[MemoryQuestion]:
        return self._for(agent, f"{_OPEN}'memory' AND {_MOOT_MEMORY}", "c.id DESC", limit)

    def count_memories(self) -> int:
        return int(
            self._sql.value(
                f"SELECT count(*) FROM conflict c WHERE {_OPEN_MEMORIES} AND {_NOT_SEALED}",
                agent=None,
            )
        )

    def _for(self, agent: str | None, which: str, order: str, limit: int) -> list[MemoryQuestion]:
        return self._of_memories(f"{which} AND {_NOT_SEALED}", order, limit, agent=agent)

    def _of_memories(
        self, which: str, order: str, limit: int, **values: object
    ) -> list[MemoryQuestion]:
        rows = self._sql.all(
            f"{_MEMORIES} WHERE {which} ORDER BY {order} LIMIT :limit", limit=limit, **values
        )
        both = self._memories.many([memory for row in rows for memory in row[1:3]])
        return [
            MemoryQuestion(row[0], both[row[1]], both[row[2]], *row[3:7], *_answered(row[7:]))
            for row in rows
        ]

    # ---- answers ----

    def answer(
        self,
        conflict_id: int,
        answer: Answer,
        *,
        answered_by: str | None,
        chosen_id: int | None = None,
        made_id: int | None = None,
    ) -> None:
        self._sql.run(
            """UPDATE conflict SET answer = :answer, answered_by = :answered_by,
                candidate_id = :chosen, made_memory_id = :made, decided_at = :now
            WHERE id = :id AND kind <> 'entity'""",
            id=conflict_id,
            answer=answer,
            answered_by=answered_by,
            chosen=chosen_id,
            made=made_id,
            now=self._sql.now,
        )

    def reopen(self, conflict_id: int) -> None:
        # Of two memories one may have been asked about again while this was answered: the newer
        # question is withdrawn, for this one has the history.
        self._sql.run(
            """DELETE FROM conflict AS n WHERE n.answer IS NULL AND n.kind = 'memory'
                AND n.id <> :id AND EXISTS (SELECT 1 FROM conflict c
                    WHERE c.id = :id AND c.kind = 'memory'
                    AND n.queued_memory_id IN (c.queued_memory_id, c.candidate_memory_id)
                    AND n.candidate_memory_id IN (c.queued_memory_id, c.candidate_memory_id))""",
            id=conflict_id,
        )
        self._sql.run(
            """UPDATE conflict SET answer = NULL, answered_by = NULL, candidate_id = NULL,
                made_memory_id = NULL, decided_at = NULL
            WHERE id = :id AND kind <> 'entity'""",
            id=conflict_id,
        )


def _name(row: tuple[Any, ...], candidates: tuple[Entity, ...]) -> NameQuestion:
    id, key, name, waiting, asked_by, reason, created_at, *answer = row
    return NameQuestion(
        id, key, name, candidates, waiting, asked_by, reason, created_at, *_answered(answer)
    )


def _answered(row: Sequence[Any]) -> tuple[Any, ...]:
    answer, *rest = row
    return (None if answer is None else Answer(answer), *rest)
