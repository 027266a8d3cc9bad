"""Where memories and names lie in the space of an embedding model.

What is near is found in two steps: by codes, which are all held in memory (see ``codes``), and then
exactly, by the vectors of those whose codes are nearest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from enfold.errors import Refused
from enfold.ports import Placed, Reader, Space
from enfold.store.codes import Codes, codes_of
from enfold.store.recallable import may_recall, values_of
from enfold.store.statements import ID_LIST, Statements, id_list

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

REACH: Final[dict[Placed, int]] = {"memory": 2_000, "name": 500}
"""Vectors that are compared exactly. See ``docs/explanation/recall.md`` for how it was chosen."""

REACH_EACH: Final = 10
"""As many vectors at least are compared for each result."""

REACH_SHARE: Final = 250
"""Of so many codes one vector at least is compared."""

FARTHEST: Final = 1 << 16
"""Where most of what is near may not be recalled, more is compared, but no more than this."""

_OWNER: Final = {"memory": "memory_id", "name": "entity_id"}
_WAITING: Final = {
    # A document that is found by its passages needs no place of its own.
    "memory": """FROM memory o WHERE NOT EXISTS (SELECT 1 FROM memory p WHERE p.document_id = o.id)
        AND NOT EXISTS (SELECT 1 FROM memory_code c WHERE c.space_id = :space
            AND c.memory_id = o.id)""",
    "name": """FROM entity o WHERE NOT EXISTS (SELECT 1 FROM name_code c
        WHERE c.space_id = :space AND c.entity_id = o.id)""",
}
_TEXT: Final = {"memory": "substr(o.content, 1, 20000)", "name": "o.spelling"}
"""What is placed: of an imported text of any length the beginning, no model reads more."""

_TABLE: Final = {"memory": "memory", "name": "entity"}
_THROUGH: Final = {"memory": "memories_through", "name": "names_through"}


_STORED: Final = {
    "space": "id, model, dimensions, memories_through, names_through, created_at",
    "memory_code": "id, space_id, memory_id, code",
    "memory_vector": "id, vector",
    "name_code": "id, space_id, entity_id, code",
    "name_vector": "id, vector",
}
"""The tables of this noun, in the order in which their rows refer to each other."""


class Vectors:
    """See ``ports.Vectors``."""

    def __init__(self, statements: Statements, codes: Codes) -> None:
        self._sql = statements
        self._codes = codes

    # ---- spaces ----

    def serving(self) -> Space | None:
        row = self._sql.row(
            """SELECT s.id, s.model, s.dimensions FROM meta m
            JOIN space s ON s.id = CAST(m.value AS INTEGER) WHERE m.name = 'space'"""
        )
        return None if row is None else Space(*row)

    def space(self, model: str, dimensions: int | None = None) -> Space | None:
        found = self.serving()
        if found is not None and (model, dimensions or found.dimensions) != (
            found.model,
            found.dimensions,
        ):
            raise _other(found, model, dimensions)
        return found

    def spaces(self) -> list[Space]:
        rows = self._sql.all("SELECT id, model, dimensions FROM space ORDER BY id")
        return [Space(*row) for row in rows]

    def open_space(self, model: str, dimensions: int) -> Space:
        self._sql.run(
            """INSERT INTO space (model, dimensions, created_at)
            VALUES (:model, :dimensions, :now) ON CONFLICT (model, dimensions) DO NOTHING""",
            model=model,
            dimensions=dimensions,
            now=self._sql.now,
        )
        wanted = (model, dimensions)
        space = next(one for one in self.spaces() if (one.model, one.dimensions) == wanted)
        if self.serving() is None:
            self.serve(space)
        return space

    def serve(self, space: Space) -> None:
        self._sql.run(
            """INSERT INTO meta (name, value) VALUES ('space', :id)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value""",
            id=str(space.id),
        )

    def drop(self, space: Space, *, limit: int) -> int:
        dropped = 0
        for what in _OWNER:
            dropped += self._sql.run(
                f"""DELETE FROM {what}_code WHERE id IN (SELECT id FROM {what}_code
                WHERE space_id = :space LIMIT :limit)""",
                space=space.id,
                limit=limit - dropped,
            )
        if dropped < limit:
            self._sql.run("DELETE FROM space WHERE id = :space", space=space.id)
            self._codes.forget(space)
        else:
            # Whoever takes it up again before the rest is gone has to look at all from the first.
            self._sql.run(
                "UPDATE space SET memories_through = 0, names_through = 0 WHERE id = :space",
                space=space.id,
            )
        return dropped

    # ---- what has a place, and what waits for one ----

    def waiting(
        self,
        space: Space,
        what: Placed,
        *,
        ids: Sequence[int] | None = None,
        but: Collection[int] = (),
        limit: int,
    ) -> list[tuple[int, str]]:
        among = "o.id > :through" if ids is None else f"o.id IN {ID_LIST}"
        return self._sql.all(
            f"""SELECT o.id, {_TEXT[what]} {_WAITING[what]} AND {among}
            AND o.id NOT IN (SELECT value FROM json_each(:but)) ORDER BY o.id LIMIT :limit""",
            space=space.id,
            through=self._through(space, what),
            ids=id_list(ids or ()),
            but=id_list(but),
            limit=limit,
        )

    def count_waiting(
        self, space: Space | None, what: Placed, *, most: int, reader: Reader | None = None
    ) -> int:
        seen = "" if reader is None else f"AND {may_recall('o.id', reader)}"
        through = self._through(space, what)
        last = self._sql.value(
            f"""SELECT max(id) FROM (SELECT id FROM {_TABLE[what]} WHERE id > :through
            ORDER BY id LIMIT :most) n""",
            through=through,
            most=most,
        )
        return int(
            self._sql.value(
                f"SELECT count(*) {_WAITING[what]} AND o.id > :through AND o.id <= :last {seen}",
                space=None if space is None else space.id,
                through=through,
                last=last or 0,
                **({} if reader is None else values_of(reader)),
            )
        )

    def _through(self, space: Space | None, what: Placed) -> int:
        found = self._sql.value(
            f"SELECT {_THROUGH[what]} FROM space WHERE id = :id",
            id=None if space is None else space.id,
        )
        return int(found or 0)

    def add(self, space: Space, what: Placed, ids: Sequence[int], vectors: NDArray[float32]) -> int:
        if vectors.shape[1] != space.dimensions:
            raise _other(space, space.model, vectors.shape[1])
        owner, mark = _OWNER[what], self._sql.last_id(f"{what}_code")
        codes = codes_of(vectors)
        added = self._sql.run_many(
            f"""INSERT INTO {what}_code (space_id, {owner}, code)
            SELECT s.id, o.id, ? FROM space s, {_TABLE[what]} o WHERE s.id = ? AND o.id = ?
            ON CONFLICT (space_id, {owner}) DO NOTHING""",
            ((code.tobytes(), space.id, one) for code, one in zip(codes, ids, strict=True)),
        )
        at = {one: place for place, one in enumerate(ids)}
        halves = vectors.astype("<f2")
        new = self._sql.all(f"SELECT id, {owner} FROM {what}_code WHERE id > :mark", mark=mark)
        self._sql.run_many(
            f"INSERT INTO {what}_vector (id, vector) VALUES (?, ?)",
            ((code_id, halves[at[one]].tobytes()) for code_id, one in new),
        )
        self._mark_through(space, what)
        return added

    def _mark_through(self, space: Space, what: Placed) -> None:
        # Up to the first that waits; so what waits is found without going through what does not.
        self._sql.run(
            f"""UPDATE space SET {_THROUGH[what]} = coalesce(
                (SELECT o.id - 1 {_WAITING[what]} AND o.id > :through ORDER BY o.id LIMIT 1),
                (SELECT max(id) FROM {_TABLE[what]}), 0)
            WHERE id = :space""",
            space=space.id,
            through=self._through(space, what),
        )

    def of(self, space: Space, what: Placed, ids: Sequence[int]) -> dict[int, NDArray[float32]]:
        import numpy as np

        rows = self._sql.stream(
            f"""SELECT c.{_OWNER[what]}, v.vector FROM {what}_code c
            JOIN {what}_vector v ON v.id = c.id
            WHERE c.space_id = :space AND c.{_OWNER[what]} IN {ID_LIST}""",
            space=space.id,
            ids=id_list(ids),
        )
        return {one: np.frombuffer(stored, "<f2").astype(np.float32) for one, stored in rows}

    # ---- all of it ----

    def rows(self) -> Iterator[tuple[str, tuple[object, ...]]]:
        for table, columns in _STORED.items():
            for row in self._sql.stream(f"SELECT {columns} FROM {table} ORDER BY id"):
                yield table, row
        serving = self._sql.value("SELECT value FROM meta WHERE name = 'space'")
        if serving is not None:
            yield "meta", ("space", serving)

    def paste(self, rows: Iterable[tuple[str, tuple[object, ...]]]) -> int:
        written = 0
        for table, group in groupby(rows, key=itemgetter(0)):
            columns = _STORED.get(table, "name, value")
            places = ", ".join("?" * len(columns.split(",")))
            written += self._sql.run_many(
                f"INSERT INTO {table} ({columns}) VALUES ({places})", (row for _, row in group)
            )
            if table.endswith("_code") or table == "space":
                last = int(self._sql.value(f"SELECT coalesce(max(id), 0) FROM {table}"))
                self._sql.gave_ids(table, last)
        return written

    # ---- what is near ----

    def near_memories(
        self, space: Space, vector: NDArray[float32], reader: Reader, *, limit: int
    ) -> list[tuple[int, float]]:
        allowed = may_recall("c.memory_id", reader)
        return self._near(space, "memory", vector, limit, allowed, values_of(reader))

    def near_names(
        self, space: Space, vector: NDArray[float32], *, limit: int
    ) -> list[tuple[int, float]]:
        return self._near(space, "name", vector, limit, "true", {})

    def _near(
        self,
        space: Space,
        what: Placed,
        vector: NDArray[float32],
        limit: int,
        allowed: str,
        values: dict[str, object],
    ) -> list[tuple[int, float]]:
        table = self._codes.table(self._sql, what, space)
        code = codes_of(vector.reshape(1, -1))[0]
        reach = max(REACH[what], REACH_EACH * limit, table.count // REACH_SHARE)
        while True:
            ids = table.nearest(code, reach)
            rows = self._sql.all(
                f"""SELECT c.{_OWNER[what]}, v.vector FROM {what}_code c
                JOIN {what}_vector v ON v.id = c.id WHERE c.id IN {ID_LIST} AND {allowed}""",
                ids=id_list(ids),
                **values,
            )
            if len(rows) >= limit or reach >= min(table.count, FARTHEST):
                return _ranked(rows, vector, limit)
            reach = min(4 * reach, FARTHEST)


def _other(serving: Space, model: str, dimensions: int | None) -> Refused:
    size = f" with {dimensions} dimensions" if dimensions and model == serving.model else ""
    return Refused(
        "other_embedder",
        f"The graph was placed by the embedder {serving.model} with {serving.dimensions} "
        f"dimensions, and now it is {model}{size}: what two models say can't be compared. Set that "
        "one again, or change over with: enfold reembed.",
        serving=serving.model,
        given=model,
    )


def _ranked(
    rows: Sequence[tuple[int, bytes]], vector: NDArray[float32], limit: int
) -> list[tuple[int, float]]:
    """(id, cosine) of so many, the nearest first, then by id."""
    import numpy as np

    if not rows:
        return []
    ids = np.array([one for one, _ in rows])
    matrix = np.frombuffer(b"".join(stored for _, stored in rows), "<f2")
    # Row by row: a product of all would sum each otherwise, depending on how many there are.
    found = np.vecdot(matrix.reshape(len(rows), -1).astype(np.float32), vector.astype(np.float32))
    cosines = found.round(4)  # half precision gives no more digits
    best = np.lexsort((ids, -cosines))[:limit]
    near = zip(ids[best].tolist(), cosines[best].tolist(), strict=True)
    return [(one, round(cosine, 4)) for one, cosine in near]
