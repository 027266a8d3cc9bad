"""The invariants of a graph, each as one set-based statement that finds what breaks it.

Every statement gives the ids of what is wrong and reads a few tables once; the forest is checked
by walking down from the roots, so that a cycle shows as rows never reached.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from enfold.store.statements import Statements

SHOWN_AT_MOST: Final = 20
"""So many offenders of one invariant are named; the rest would say nothing new."""

# The row that a name of a text leads to: what a person chose, else the only entity's lowest sense.
_LEADS_TO: Final = """(SELECT CASE WHEN max(CASE WHEN e.id = c.candidate_id THEN 1 END) = 1
        THEN max(c.candidate_id)
        WHEN count(DISTINCT e.canonical_id) = 1
        THEN (SELECT o.id FROM entity o WHERE o.key = {0} ORDER BY o.sense LIMIT 1) END
    FROM entity e LEFT JOIN conflict c
        ON c.kind = 'name' AND c.name_key = e.key AND c.answer IS NOT NULL
    WHERE e.key = {0})"""

BREACHES: Final[dict[str, str]] = {
    "forest": """
        WITH RECURSIVE down (id) AS (
            SELECT e.id FROM entity e JOIN entity up ON up.id = e.folded_into
            WHERE e.folded_into IS NOT NULL AND up.folded_into IS NULL
            UNION ALL SELECT e.id FROM down d JOIN entity e ON e.folded_into = d.id)
        SELECT e.id FROM entity e
        WHERE e.folded_into IS NOT NULL AND e.id NOT IN (SELECT id FROM down)""",
    "root": """
        SELECT id FROM entity WHERE folded_into IS NULL AND canonical_id <> id
        UNION ALL SELECT e.id FROM entity e LEFT JOIN entity up ON up.id = e.folded_into
        WHERE e.folded_into IS NOT NULL AND (up.id IS NULL OR e.canonical_id <> up.canonical_id)""",
    "fold_has_merge": """
        SELECT e.id FROM entity e
        LEFT JOIN merge m ON m.absorbed_id = e.id AND m.reverted_at IS NULL
        WHERE e.folded_into IS NOT NULL AND (m.id IS NULL OR m.canonical_id <> e.folded_into)""",
    "merge_has_fold": """
        SELECT m.id FROM merge m LEFT JOIN entity e ON e.id = m.absorbed_id
        WHERE m.reverted_at IS NULL
            AND (e.id IS NULL OR e.folded_into IS NULL OR e.folded_into <> m.canonical_id)""",
    "one_live_merge": """
        SELECT min(id) FROM merge WHERE reverted_at IS NULL
        GROUP BY absorbed_id HAVING count(*) > 1""",
    "merge_order": """
        SELECT m.id FROM merge m JOIN merge above ON above.absorbed_id = m.canonical_id
        WHERE m.reverted_at IS NULL AND above.reverted_at IS NULL AND above.id < m.id""",
    "name": """
        SELECT id FROM entity WHERE trim(spelling) = '' OR key = ''""",
    "edge_ids": """
        SELECT m.id FROM mention m JOIN fact f ON f.id = m.id
        UNION SELECT id FROM mention WHERE id > :mark
        UNION SELECT id FROM fact WHERE id > :mark""",
    "receipt": """
        SELECT m.id FROM merge m LEFT JOIN
            (SELECT merge_id, count(CASE WHEN effect = 'moved' THEN 1 END) AS moved,
                count(CASE WHEN effect = 'silenced' THEN 1 END) AS silenced,
                max(edge_id) AS highest
            FROM merge_edge GROUP BY merge_id) r ON r.merge_id = m.id
        WHERE m.moved <> coalesce(r.moved, 0) OR m.silenced <> coalesce(r.silenced, 0)
            OR coalesce(r.highest, 0) > m.edge_mark OR m.edge_mark > :mark""",
    "answer": """
        SELECT c.id FROM conflict c
        LEFT JOIN merge m ON m.id = c.merge_id
        LEFT JOIN decision d ON d.id = c.decision_id
        WHERE CASE
            WHEN c.answer IS NULL THEN c.merge_id IS NOT NULL OR c.decision_id IS NOT NULL
                OR c.decided_at IS NOT NULL
            WHEN c.kind <> 'entity' THEN c.decided_at IS NULL
            WHEN c.answer IN ('keep_existing', 'keep_new') THEN
                m.id IS NULL OR m.reverted_at IS NOT NULL OR m.conflict_id IS NULL
                OR m.conflict_id <> c.id
            WHEN c.answer = 'keep_both' THEN d.id IS NULL OR d.undone_at IS NOT NULL
            ELSE 1 = 1 END""",
    "merge_of_answer": """
        SELECT m.id FROM merge m LEFT JOIN conflict c ON c.id = m.conflict_id
        WHERE m.conflict_id IS NOT NULL AND m.reverted_at IS NULL
            AND c.id IS NOT NULL AND (c.merge_id IS NULL OR c.merge_id <> m.id)""",
    "unlinked": f"""
        SELECT u.id FROM unlinked u LEFT JOIN mention m ON m.id = u.edge_id
        WHERE u.row_id IS NOT {_LEADS_TO.format("u.key")}
            OR (u.edge_id IS NOT NULL AND m.asserted_id IS NOT u.row_id)""",
    "unlinked_fact": f"""
        SELECT u.id FROM unlinked_fact u LEFT JOIN fact f ON f.id = u.edge_id
        WHERE (u.subject_id IS NULL) <> (u.object_id IS NULL)
            OR (u.subject_id IS NOT NULL AND (
                u.subject_id IS NOT {_LEADS_TO.format("u.subject_key")}
                OR u.object_id IS NOT {_LEADS_TO.format("u.object_key")}))
            OR (u.subject_id IS NULL AND {_LEADS_TO.format("u.subject_key")} IS NOT NULL
                AND {_LEADS_TO.format("u.object_key")} IS NOT NULL)
            OR (u.edge_id IS NOT NULL
                AND (f.subject_id IS NOT u.subject_id OR f.object_id IS NOT u.object_id))""",
    "asked_name": """
        SELECT min(u.id) FROM unlinked u
        WHERE u.row_id IS NULL
            AND NOT EXISTS (SELECT 1 FROM uncounted x WHERE x.memory_id = u.memory_id)
            AND EXISTS (SELECT 1 FROM entity e WHERE e.key = u.key)
            AND NOT EXISTS (SELECT 1 FROM conflict c WHERE c.kind = 'name' AND c.name_key = u.key)
        GROUP BY u.key""",
    "suggestion": """
        SELECT left_id FROM suggestion WHERE left_id >= right_id""",
}


class Invariants:
    """See ``ports.Invariants``."""

    def __init__(self, statements: Statements, edge_mark: Callable[[], int]) -> None:
        self._sql = statements
        self._edge_mark = edge_mark

    def names(self) -> list[str]:
        return list(BREACHES)

    def breaches(self, name: str) -> tuple[int, list[int]]:
        found = self._sql.ids(
            f"SELECT * FROM ({BREACHES[name]}) b ORDER BY 1", mark=self._edge_mark()
        )
        return len(found), found[:SHOWN_AT_MOST]

    def foreign_keys(self) -> list[str]:
        return self._sql.dangling()

    def file(self) -> list[str]:
        return self._sql.damage()
