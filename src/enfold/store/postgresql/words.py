"""The words of every name in PostgreSQL: three letters in a row stand in a table of their own."""

from __future__ import annotations

from collections.abc import Sequence

from enfold.ports import EVERY
from enfold.store import words as common
from enfold.store.statements import ID_LIST, id_list


class Words(common.Words):
    """See ``ports.Words``."""

    def _file_parts(self, after: int) -> None:
        self._sql.run(
            """INSERT INTO word_part (part, word_id)
            SELECT DISTINCT substr(w.word, CAST(place AS int), 3), w.id
            FROM word w CROSS JOIN LATERAL generate_series(1, length(w.word) - 2) place
            WHERE w.id > :after""",
            after=after,
        )

    def _unfile_parts(self, word_ids: Sequence[int]) -> None:
        self._sql.run(f"DELETE FROM word_part WHERE word_id IN {ID_LIST}", ids=id_list(word_ids))

    def _unfile_all_parts(self) -> None:
        self._sql.run("DELETE FROM word_part")

    def _having(self, part: str, most: int = EVERY) -> list[int]:
        return self._sql.ids(
            "SELECT word_id FROM word_part WHERE part = :part ORDER BY word_id LIMIT :most",
            part=part,
            most=most,
        )

    def _holding(self, letters: str, parts: Sequence[str], limit: int) -> dict[str, int]:
        return dict(
            self._sql.all(
                """SELECT w.word, w.id FROM word_part p JOIN word w ON w.id = p.word_id
                WHERE p.part = :part AND instr(w.word, :letters) > 0 ORDER BY w.id LIMIT :limit""",
                part=parts[0] if parts else "",
                letters=letters,
                limit=limit,
            )
        )
