"""The types and predicates that extraction may use."""

from __future__ import annotations

from enfold.model import Term
from enfold.store.statements import Statements


class Terms:
    """See ``ports.Terms``."""

    def __init__(self, statements: Statements) -> None:
        self._sql = statements

    def all(self, kind: str | None = None) -> list[Term]:
        rows = self._sql.all(
            """SELECT kind, name, description, enabled FROM term
            WHERE :kind IS NULL OR kind = :kind ORDER BY kind DESC, name""",
            kind=kind,
        )
        return [Term(kind, name, description, bool(on)) for kind, name, description, on in rows]

    def put(self, term: Term) -> None:
        self._sql.run(
            """INSERT INTO term (kind, name, description, enabled)
            VALUES (:kind, :name, :description, :enabled)
            ON CONFLICT (kind, name) DO UPDATE
            SET description = excluded.description, enabled = excluded.enabled""",
            kind=term.kind,
            name=term.name,
            description=term.description,
            enabled=int(term.enabled),
        )

    def remove(self, kind: str, name: str) -> None:
        self._sql.run("DELETE FROM term WHERE kind = :kind AND name = :name", kind=kind, name=name)
