"""Folds and their receipts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from enfold.errors import Conflict
from enfold.model import DecidedBy, Merge
from enfold.store.counting import EdgeEnd, Steps, silenced
from enfold.store.edges import UNSEALED_FACT, UNSEALED_MENTION
from enfold.store.statements import ID_LIST, Statements, id_list

_COLUMNS: Final = """id, canonical_id, canonical_name, absorbed_id, absorbed_name, absorbed_type,
    decided_by, rule, score, reason, actor, model, conflict_id, run_id, overruled, edge_mark,
    moved, silenced, created_at, reverted_at, asked_absorbed, asked_canonical"""

# Scratch tables of this connection, alive within one fold: what is folded, and every row under an
# absorbed root at its step.
_SCRATCH: Final = (
    "CREATE TEMP TABLE IF NOT EXISTS fold_step"
    " (absorbed INTEGER PRIMARY KEY, canonical INTEGER NOT NULL)",
    "CREATE TEMP TABLE IF NOT EXISTS fold_root (root INTEGER PRIMARY KEY, final INTEGER NOT NULL)",
    "CREATE TEMP TABLE IF NOT EXISTS fold_row"
    " (row_id INTEGER NOT NULL, merge_id INTEGER NOT NULL, PRIMARY KEY (row_id, merge_id))",
    "CREATE TEMP TABLE IF NOT EXISTS fold_receipt"
    " (merge_id INTEGER NOT NULL, edge_id INTEGER NOT NULL)",
    "DELETE FROM fold_step",
    "DELETE FROM fold_root",
    "DELETE FROM fold_row",
    "DELETE FROM fold_receipt",
)

_SUBTREE: Final = """WITH RECURSIVE subtree (id) AS (
    SELECT id FROM entity WHERE id = :absorbed
    UNION ALL SELECT e.id FROM subtree s JOIN entity e ON e.folded_into = s.id)"""

# What takes part: the rows that move, and the roots among which they do, with the root that each
# has in the end.
_IN_FOLD: Final = {"moving": "SELECT row_id FROM fold_row", "roots": "fold_root"}
_IN_REVERT: Final = {
    "moving": "SELECT value FROM json_each(:ids)",
    "roots": "(SELECT :root AS root, :root AS final)",
}

# Edges that can stop, or begin, to count: those of memories that name a moving row, which end at a
# root that takes part, where there is more than one that may come to be equal. A fact between two
# such roots is found by both its ends, and so is always more than one. The plus keeps SQLite from
# looking up every such memory for every row of a cluster, which never ended for a large batch.
_MENTIONS_AROUND: Final = """
SELECT id, memory_id, asserted_id, root FROM (
    SELECT m.id, m.memory_id, m.asserted_id, r.root,
        count(*) OVER (PARTITION BY m.memory_id, r.final) AS alike
    FROM {roots} r CROSS JOIN entity e CROSS JOIN mention m
    WHERE e.canonical_id = r.root AND m.asserted_id = e.id
        AND +m.memory_id IN (SELECT n.memory_id FROM mention n WHERE n.asserted_id IN ({moving}))
        AND NOT EXISTS (SELECT 1 FROM uncounted x WHERE x.memory_id = m.memory_id)) near
WHERE alike > 1"""

_FACTS_AROUND: Final = """
SELECT near.id, near.memory_id, near.predicate, near.literal,
    near.subject_id, s.canonical_id, near.object_id, o.canonical_id
FROM (
    SELECT f.*, count(*) OVER (PARTITION BY f.memory_id, f.predicate, f.literal) AS alike
    FROM (
        SELECT f.* FROM {roots} r CROSS JOIN entity e CROSS JOIN fact f
        WHERE e.canonical_id = r.root AND f.subject_id = e.id
        UNION ALL SELECT f.* FROM {roots} r CROSS JOIN entity e CROSS JOIN fact f
        WHERE e.canonical_id = r.root AND f.object_id = e.id) f
    WHERE +f.memory_id IN (
            SELECT n.memory_id FROM fact n WHERE n.subject_id IN ({moving})
            UNION ALL SELECT n.memory_id FROM fact n WHERE n.object_id IN ({moving}))
        AND NOT EXISTS (SELECT 1 FROM uncounted x WHERE x.memory_id = f.memory_id)) near
JOIN entity s ON s.id = near.subject_id LEFT JOIN entity o ON o.id = near.object_id
WHERE near.alike > 1"""


def _merge(row: tuple[Any, ...]) -> Merge:
    overruled = tuple(json.loads(row[14]))
    values = (*row[:6], DecidedBy(row[6]), *row[7:14], overruled, *row[15:])
    return Merge(*values)


class Merges:
    """See ``ports.Merges``."""

    def __init__(self, statements: Statements, edge_mark: Callable[[], int]) -> None:
        self._sql = statements
        self._edge_mark = edge_mark

    # ---- reading ----

    def get(self, merge_id: int) -> Merge | None:
        return next(iter(self._where("id = :id", id=merge_id)), None)

    def live_of(self, absorbed_id: int) -> Merge | None:
        found = self._where("absorbed_id = :id AND reverted_at IS NULL", id=absorbed_id)
        return found[0] if found else None

    def touching(self, entity_id: int) -> list[Merge]:
        return self.under([entity_id])

    def under(self, ids: Sequence[int]) -> list[Merge]:
        # Two index searches; an OR of the two sides would read every merge.
        which = f"""id IN (
            SELECT id FROM merge WHERE absorbed_id IN {ID_LIST} AND reverted_at IS NULL
            UNION SELECT id FROM merge WHERE canonical_id IN {ID_LIST} AND reverted_at IS NULL)"""
        return self._where(which, ids=id_list(ids))

    def recent(
        self, *, live_only: bool = True, before: int | None = None, limit: int = 100
    ) -> list[Merge]:
        conditions = ["1 = 1"]
        if live_only:
            conditions.append("reverted_at IS NULL")
        if before is not None:
            conditions.append("id < :before")
        which = " AND ".join(conditions)
        return self._where(which, "id DESC LIMIT :limit", before=before, limit=limit)

    def many(self, ids: Sequence[int]) -> list[Merge]:
        return self._where(f"id IN {ID_LIST}", ids=id_list(ids))

    def asked_through(self, ids: Sequence[int], *, after: int) -> list[Merge]:
        which = f"""id > :after AND id IN (
            SELECT id FROM merge WHERE asked_absorbed IN {ID_LIST} AND reverted_at IS NULL
            UNION SELECT id FROM merge WHERE asked_canonical IN {ID_LIST} AND reverted_at IS NULL)
            """
        return self._where(which, ids=id_list(ids), after=after)

    def subtree(self, absorbed_id: int) -> list[int]:
        return self._sql.ids(f"{_SUBTREE} SELECT id FROM subtree ORDER BY id", absorbed=absorbed_id)

    def edges(self, merge_id: int) -> list[tuple[int, str]]:
        return self._sql.all(
            "SELECT edge_id, effect FROM merge_edge WHERE merge_id = :id ORDER BY edge_id, effect",
            id=merge_id,
        )

    def _where(self, condition: str, order: str = "id", **values: object) -> list[Merge]:
        rows = self._sql.all(
            f"SELECT {_COLUMNS} FROM merge WHERE {condition} ORDER BY {order}", **values
        )
        return [_merge(row) for row in rows]

    # ---- folding ----

    def fold(self, folds: Sequence[Merge]) -> list[int]:
        if not folds:
            return []
        pairs = [(m.absorbed_id, m.canonical_id) for m in folds]
        self._must_be_roots(pairs)
        steps = Steps(pairs)
        self._prepare(pairs, steps)
        merge_ids = self._write(folds)
        self._write_moved(pairs, merge_ids)
        self._write_silenced(steps, merge_ids)
        self._sum_up(merge_ids)
        self._point()
        return merge_ids

    def _must_be_roots(self, pairs: list[tuple[int, int]]) -> None:
        taken: set[int] = set()
        for absorbed, canonical in pairs:
            if absorbed == canonical or absorbed in taken or canonical in taken:
                raise Conflict(
                    "not_a_root",
                    f"Entity {absorbed} can't be folded into {canonical}: one of them was folded "
                    "by an earlier step. Plan the folds again.",
                )
            taken.add(absorbed)
        rows = {row for pair in pairs for row in pair}
        live = self._sql.value(
            f"SELECT count(*) FROM entity WHERE id IN {ID_LIST} AND folded_into IS NULL",
            ids=id_list(rows),
        )
        if live != len(rows):
            raise Conflict(
                "not_a_root", "The graph changed meanwhile: a side is gone or folded. Plan again."
            )

    def _prepare(self, pairs: list[tuple[int, int]], steps: Steps) -> None:
        for statement in _SCRATCH:
            self._sql.run(statement)
        self._sql.run_many("INSERT INTO fold_step (absorbed, canonical) VALUES (?, ?)", pairs)
        self._sql.run_many(
            "INSERT INTO fold_root (root, final) VALUES (?, ?)",
            [(root, steps.final(root)) for root in {row for pair in pairs for row in pair}],
        )

    def _write(self, folds: Sequence[Merge]) -> list[int]:
        mark = self._sql.value("SELECT coalesce(max(id), 0) FROM merge")
        edge_mark = self._edge_mark()
        self._sql.run_many(
            """INSERT INTO merge (canonical_id, canonical_name, absorbed_id, absorbed_name,
                absorbed_type, decided_by, rule, score, reason, actor, model, conflict_id, run_id,
                overruled, edge_mark, created_at, asked_absorbed, asked_canonical)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                (
                    m.canonical_id,
                    m.canonical_name,
                    m.absorbed_id,
                    m.absorbed_name,
                    m.absorbed_type,
                    m.decided_by,
                    m.rule,
                    m.score,
                    m.reason,
                    m.actor,
                    m.model,
                    m.conflict_id,
                    m.run_id,
                    json.dumps(m.overruled),
                    edge_mark,
                    m.created_at or self._sql.now,
                    m.asked_absorbed_id or m.absorbed_id,
                    m.asked_canonical_id or m.canonical_id,
                )
                for m in folds
            ),
        )
        return self._sql.ids("SELECT id FROM merge WHERE id > :mark ORDER BY id", mark=mark)

    def _write_moved(self, pairs: list[tuple[int, int]], merge_ids: list[int]) -> None:
        # CROSS JOIN: SQLite keeps its order, and so looks up what belongs to the few scratch rows.
        rows = self._sql.all(
            """SELECT step.absorbed, e.id FROM fold_step step CROSS JOIN entity e
            WHERE e.canonical_id = step.absorbed"""
        )
        under: dict[int, list[int]] = {absorbed: [] for absorbed, _ in pairs}
        for root, row in rows:
            under[root].append(row)
        self._sql.run_many(
            "INSERT INTO fold_row (row_id, merge_id) VALUES (?, ?)", _moves(pairs, merge_ids, under)
        )
        self._sql.run(
            f"""INSERT INTO merge_edge (merge_id, edge_id, effect)
            SELECT r.merge_id, m.id, 'moved'
            FROM fold_row r CROSS JOIN mention m
            WHERE m.asserted_id = r.row_id AND {UNSEALED_MENTION}
            UNION SELECT r.merge_id, f.id, 'moved'
            FROM fold_row r CROSS JOIN fact f
            WHERE f.subject_id = r.row_id AND {UNSEALED_FACT}
            UNION SELECT r.merge_id, f.id, 'moved'
            FROM fold_row r CROSS JOIN fact f
            WHERE f.object_id = r.row_id AND {UNSEALED_FACT}"""
        )

    def _write_silenced(self, steps: Steps, merge_ids: list[int]) -> None:
        mentions = self._sql.stream(_MENTIONS_AROUND.format(**_IN_FOLD))
        ends = [EdgeEnd(id, memory, "", root, None) for id, memory, _, root in mentions]
        facts = self._sql.stream(_FACTS_AROUND.format(**_IN_FOLD))
        ends.extend(
            EdgeEnd(id, memory, (predicate, literal), subject, target)
            for id, memory, predicate, literal, _, subject, _, target in facts
        )
        self._sql.run_many(
            "INSERT INTO merge_edge (merge_id, edge_id, effect) VALUES (?, ?, 'silenced')",
            sorted((merge_ids[step - 1], edge) for edge, step in silenced(ends, steps).items()),
        )

    def _sum_up(self, merge_ids: list[int]) -> None:
        for effect in ("moved", "silenced"):
            self._sql.run(
                f"""UPDATE merge SET {effect} = (SELECT count(*) FROM merge_edge r
                    WHERE r.merge_id = merge.id AND r.effect = '{effect}')
                WHERE id BETWEEN :first AND :last""",
                first=merge_ids[0],
                last=merge_ids[-1],
            )

    def _point(self) -> None:
        # IN (SELECT ...) searches the index of canonical_id; UPDATE ... FROM read every row.
        # What is absorbed is a root, so it is among the rows whose canonical is absorbed.
        self._sql.run(
            """UPDATE entity SET
                folded_into = coalesce(
                    (SELECT f.canonical FROM fold_step f WHERE f.absorbed = entity.id),
                    folded_into),
                canonical_id = (SELECT r.final FROM fold_root r WHERE r.root = entity.canonical_id)
            WHERE canonical_id IN (SELECT absorbed FROM fold_step)"""
        )

    # ---- unfolding ----

    def unfold(self, merge_id: int) -> None:
        absorbed = self._sql.value(
            "UPDATE merge SET reverted_at = :now WHERE id = :id AND reverted_at IS NULL"
            " RETURNING absorbed_id",
            id=merge_id,
            now=self._sql.now,
        )
        if absorbed is None:
            raise Conflict("not_live", f"Merge {merge_id} is not in force; look again.")
        subtree = id_list(self.subtree(absorbed))
        self._sql.run("UPDATE entity SET folded_into = NULL WHERE id = :id", id=absorbed)
        self._sql.run(
            f"UPDATE entity SET canonical_id = :root WHERE id IN {ID_LIST}",
            root=absorbed,
            ids=subtree,
        )

    def woken_by_revert(self, merge_id: int) -> list[int]:
        """Ids of the edges that would count again."""
        absorbed, root = self._sql.row(
            """SELECT m.absorbed_id, e.canonical_id
            FROM merge m JOIN entity e ON e.id = m.absorbed_id WHERE m.id = :id""",
            id=merge_id,
        ) or (0, 0)
        leaving = set(self.subtree(absorbed))

        values = {"ids": id_list(leaving), "root": root}
        ends = [
            EdgeEnd(id, memory, "", absorbed if row in leaving else end, None)
            for id, memory, row, end in self._sql.stream(
                _MENTIONS_AROUND.format(**_IN_REVERT), **values
            )
        ]
        ends.extend(
            EdgeEnd(
                id,
                memory,
                (predicate, literal),
                absorbed if subject_row in leaving else subject,
                absorbed if target_row in leaving else target,
            )
            for id, memory, predicate, literal, subject_row, subject, target_row, target in (
                self._sql.stream(_FACTS_AROUND.format(**_IN_REVERT), **values)
            )
        )
        # What would stop counting, were it folded again, is what counts once it is reverted.
        return sorted(silenced(ends, Steps([(absorbed, root)])))

    def left_by_revert(self, merge_id: int) -> tuple[int, int]:
        """(edges that were there at the fold, edges that arrived since) of those that would leave
        with the absorbed entity."""
        absorbed, mark = self._sql.row(
            "SELECT absorbed_id, edge_mark FROM merge WHERE id = :id", id=merge_id
        ) or (0, 0)
        row = self._sql.row(
            f"""SELECT count(CASE WHEN id <= :mark THEN 1 END),
                count(CASE WHEN id > :mark THEN 1 END) FROM (
                SELECT m.id FROM mention m
                WHERE m.asserted_id IN {ID_LIST} AND {UNSEALED_MENTION}
                UNION ALL SELECT id FROM (
                    SELECT f.id FROM fact f
                    WHERE f.subject_id IN {ID_LIST} AND {UNSEALED_FACT}
                    UNION SELECT f.id FROM fact f
                    WHERE f.object_id IN {ID_LIST} AND {UNSEALED_FACT}) facts) edges""",
            mark=mark,
            ids=id_list(self.subtree(absorbed)),
        )
        assert row is not None
        return int(row[0]), int(row[1])


def _moves(
    pairs: list[tuple[int, int]], merge_ids: list[int], under: dict[int, list[int]]
) -> Iterable[tuple[int, int]]:
    """(row, merge) of every row that moves at each step; a canonical that is absorbed later takes
    the rows it was given along."""
    for (absorbed, canonical), merge_id in zip(pairs, merge_ids, strict=True):
        rows = under.pop(absorbed)
        for row in rows:
            yield row, merge_id
        if canonical in under:
            under[canonical].extend(rows)
