"""The queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from enfold.errors import NotFound
from enfold.model import Answer, Conflict, Proposal
from enfold.store.entities import MENTIONS_OF_ROOT
from enfold.store.statements import ID_LIST, Statements, id_list

_MOOT: Final = """(c.answer IS NULL AND (q.canonical_id = d.canonical_id OR EXISTS (
    SELECT 1 FROM apart p WHERE p.left_id = q.canonical_id AND p.right_id = d.canonical_id)))"""

_SELECT: Final = f"""
SELECT c.id, c.kind,
    c.queued_id, q.spelling, q.canonical_id, qr.type,
    {MENTIONS_OF_ROOT.replace("root.id", "qr.id")},
    c.candidate_id, d.spelling, d.canonical_id, dr.type,
    {MENTIONS_OF_ROOT.replace("root.id", "dr.id")},
    c.asked_by, c.rule, c.score, c.reason, c.created_at, {_MOOT},
    c.answer, c.answered_by, c.merge_id, c.decision_id, c.decided_at
FROM conflict c
JOIN entity q ON q.id = c.queued_id JOIN entity qr ON qr.id = q.canonical_id
JOIN entity d ON d.id = c.candidate_id JOIN entity dr ON dr.id = d.canonical_id
"""


def _conflict(row: tuple[Any, ...]) -> Conflict:
    answer = None if row[18] is None else Answer(row[18])
    values = (*row[:17], bool(row[17]), answer, *row[19:])
    return Conflict(*values)


def _rank(question: Conflict) -> tuple[int, float, int]:
    weaker = min(question.queued_mentions, question.candidate_mentions)
    return (-weaker, -question.score, question.id)


class Conflicts:
    """See ``ports.Conflicts``."""

    def __init__(self, statements: Statements) -> None:
        self._sql = statements

    def ask(self, proposals: Sequence[Proposal], *, asked_by: str) -> list[int]:
        asked = (self._ask(proposal, asked_by) for proposal in proposals)
        return [conflict_id for conflict_id in asked if conflict_id is not None]

    def _ask(self, proposal: Proposal, asked_by: str) -> int | None:
        found = self._sql.value(
            f"""INSERT INTO conflict (kind, queued_id, candidate_id, asked_by, rule, score, reason,
                impact, created_at)
            SELECT 'entity', :queued, :candidate, :asked_by, :rule, :score, :reason,
                coalesce(min(m.mentions), 0), :now
            FROM (SELECT {MENTIONS_OF_ROOT} AS mentions FROM entity e
                JOIN entity root ON root.id = e.canonical_id
                WHERE e.id IN (:queued, :candidate)) m
            WHERE 1 = 1
            ON CONFLICT DO NOTHING RETURNING id""",
            queued=proposal.left_id,
            candidate=proposal.right_id,
            asked_by=asked_by,
            rule=proposal.rule,
            score=proposal.score,
            reason=proposal.reason,
            now=self._sql.now,
        )
        return None if found is None else int(found)

    def get(self, conflict_id: int) -> Conflict | None:
        found = self._where("c.id = :id", id=conflict_id)
        return found[0] if found else None

    def pending(self, *, limit: int = 1000) -> list[Conflict]:
        asked: dict[frozenset[int], Conflict] = {}
        for question in self._where(f"c.answer IS NULL AND NOT {_MOOT}"):
            # Folds can bring two questions upon one pair of entities: the first stands for both.
            pair = frozenset((question.queued_now, question.candidate_now))
            asked.setdefault(pair, question)
        return sorted(asked.values(), key=_rank)[:limit]

    def pending_pairs(self) -> set[tuple[int, int]]:
        return set(
            self._sql.all(
                f"""SELECT CASE WHEN q.canonical_id < d.canonical_id
                        THEN q.canonical_id ELSE d.canonical_id END,
                    CASE WHEN q.canonical_id < d.canonical_id
                        THEN d.canonical_id ELSE q.canonical_id END
                FROM conflict c JOIN entity q ON q.id = c.queued_id
                JOIN entity d ON d.id = c.candidate_id
                WHERE c.answer IS NULL AND c.kind = 'entity' AND NOT {_MOOT}"""
            )
        )

    def count_pending(self) -> int:
        return len(self.pending_pairs())

    def moot(self, *, limit: int = 1000) -> list[Conflict]:
        return self._where(f"c.answer IS NULL AND {_MOOT}", "c.id DESC LIMIT :limit", limit=limit)

    def decided(self, *, limit: int = 1000) -> list[Conflict]:
        return self._where(
            "c.answer IS NOT NULL", "c.decided_at DESC, c.id DESC LIMIT :limit", limit=limit
        )

    def by_decision(self, decision_id: int) -> list[Conflict]:
        return self._where("c.decision_id = :decision", decision=decision_id)

    def answer(
        self,
        conflict_id: int,
        answer: Answer,
        *,
        answered_by: str | None,
        merge_id: int | None = None,
        decision_id: int | None = None,
    ) -> None:
        self._sql.run(
            """UPDATE conflict SET answer = :answer, answered_by = :answered_by,
                merge_id = :merge_id, decision_id = :decision_id, decided_at = :now
            WHERE id = :id""",
            id=conflict_id,
            answer=answer,
            answered_by=answered_by,
            merge_id=merge_id,
            decision_id=decision_id,
            now=self._sql.now,
        )

    def reopen(self, conflict_id: int) -> None:
        rows = self._sql.row(
            "SELECT queued_id, candidate_id FROM conflict WHERE id = :id", id=conflict_id
        )
        if rows is None:
            raise NotFound("no_conflict", f"There is no question {conflict_id}.")
        # Asked again while it was answered, it is withdrawn there: the older one has the history.
        self._sql.run(
            """DELETE FROM conflict WHERE answer IS NULL AND kind = 'entity' AND id <> :id
                AND queued_id IN (:left, :right) AND candidate_id IN (:left, :right)""",
            id=conflict_id,
            left=rows[0],
            right=rows[1],
        )
        self._sql.run(
            """UPDATE conflict SET answer = NULL, answered_by = NULL, merge_id = NULL,
                decision_id = NULL, decided_at = NULL
            WHERE id = :id""",
            id=conflict_id,
        )

    def withdraw(self, conflict_ids: Sequence[int]) -> list[int]:
        # The pairs are open again; no trigger watches deletions.
        which = f"answer IS NULL AND kind = 'entity' AND id IN {ID_LIST}"
        ids = id_list(conflict_ids)
        self._sql.run(
            f"""INSERT INTO unsettled SELECT queued_id FROM conflict WHERE {which}
            ON CONFLICT DO NOTHING""",
            ids=ids,
        )
        return self._sql.ids(f"DELETE FROM conflict WHERE {which} RETURNING id", ids=ids)

    def _where(self, condition: str, order: str = "c.id", **values: object) -> list[Conflict]:
        rows = self._sql.all(f"{_SELECT} WHERE {condition} ORDER BY {order}", **values)
        return [_conflict(row) for row in rows]
