"""One transaction: the statements of every noun, and one ``now``."""

from __future__ import annotations

import json
from dataclasses import asdict

from enfold import linking, ports
from enfold.model import Context
from enfold.store.codes import Codes
from enfold.store.conflicts import Conflicts
from enfold.store.decisions import Decisions
from enfold.store.edges import Edges
from enfold.store.entities import Entities
from enfold.store.invariants import Invariants
from enfold.store.memories import Memories
from enfold.store.memorywords import MemoryWords
from enfold.store.merges import Merges
from enfold.store.nameindex import NameIndex
from enfold.store.questions import Questions
from enfold.store.rows import Rows
from enfold.store.runs import Runs
from enfold.store.statements import Statements
from enfold.store.suggestions import Suggestions
from enfold.store.terms import Terms
from enfold.store.unlinked import Unlinked
from enfold.store.vectors import Vectors
from enfold.store.words import Words

_SETS = ("common", "initials")
"""What of a context is a set, and is stored as a sorted list."""


class Transaction:
    """See ``ports.Tx``."""

    def __init__(
        self, sql: Statements, codes: Codes, words: Words, memory_words: MemoryWords
    ) -> None:
        entities, edges, decisions = Entities(sql, words), Edges(sql), Decisions(sql)
        conflicts = Conflicts(sql)
        self._sql = sql
        self.now = sql.now
        self.run_id: int | None = None
        memories, unlinked = Memories(sql, memory_words), Unlinked(sql, edges)
        self.memories: ports.Memories = memories
        self.unlinked: ports.Unlinked = unlinked
        self.questions: ports.Questions = Questions(sql, entities, memories)
        self.terms: ports.Terms = Terms(sql)
        self.entities: ports.Entities = entities
        self.edges: ports.Edges = edges
        self.merges: ports.Merges = Merges(sql, edges.mark)
        self.decisions: ports.Decisions = decisions
        self.conflicts: ports.Conflicts = conflicts
        self.suggestions: ports.Suggestions = Suggestions(sql, entities, decisions, conflicts)
        self.names: ports.NameIndex = NameIndex(sql)
        self.words: ports.Words = words
        self.vectors: ports.Vectors = Vectors(sql, codes)
        self.memory_words: ports.MemoryWords = memory_words
        self.runs: ports.Runs = Runs(sql)
        self.rows: ports.Rows = Rows(sql, words, memory_words, self.suggestions)
        self.invariants: ports.Invariants = Invariants(sql, edges.mark)
        self._store_mark = edges.store_mark
        self._store_words = words.flush

    def context(self) -> Context | None:
        stored = self._sql.value("SELECT value FROM meta WHERE name = 'context'")
        if stored is None:
            return None
        values = json.loads(stored)
        return Context(**values | {name: frozenset(values.get(name, ())) for name in _SETS})

    def set_context(self, context: Context) -> None:
        stored = asdict(context) | {name: sorted(getattr(context, name)) for name in _SETS}
        self._sql.run(
            """INSERT INTO meta (name, value) VALUES ('context', :context)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value""",
            context=json.dumps(stored, ensure_ascii=True),
        )

    def before_commit(self) -> None:
        """What is held back until the end."""
        linking.settle(self)
        self._store_mark()
        self._store_words()
        self._sql.count_anew()
