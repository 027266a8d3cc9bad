"""What the graph knows."""

from __future__ import annotations

from dataclasses import replace

from enfold import lookup
from enfold import related as neighbours
from enfold.explain import Explained, explain
from enfold.graph.base import Opened
from enfold.model import (
    Ambiguous,
    Connection,
    Described,
    Entity,
    Fact,
    Found,
    Hit,
    Related,
    Summary,
    Unknown,
)
from enfold.search import nearest
from enfold.search import search as spelling_search


class Asking(Opened):
    """What the graph knows."""

    def find(self, name: str | int) -> Found | Ambiguous | Unknown:
        """Where a name leads; else, of an id as a number or as ``id:12``, where that row leads. A
        miss proves nothing; it carries the nearest spellings.

        Raises:
            Invalid: ``blank_name``, ``name_too_long``.
        """
        with self._store.read() as tx:
            return lookup.seek(tx, name, nearest=nearest)

    def search(self, text: str, *, type: str | None = None, limit: int = 20) -> list[Hit]:
        """Entities whose spellings read like a text or a part of a name, best first (see
        ``search.search``). Nothing found means unknown, never absent.

        Args:
            type: only entities of this type, in whatever case.

        Raises:
            Invalid: ``blank_name``, ``name_too_long``.
        """
        with self._store.read() as tx:
            return spelling_search(tx, lookup.named(text), type=type, limit=max(0, limit))

    def entity(self, asked: str | int, *, agent: str | None = None) -> Described:
        """An entity by name, id or folded spelling, with its aliases and folds.

        Args:
            agent: counts what is sealed for this agent, too.
        """
        with self._store.read() as tx:
            entity = self._follow(tx, asked).entity
            return Described(
                replace(entity, mentions=tx.edges.count_mentions(entity.id, agent=agent)),
                tx.entities.aliases([entity.id]).get(entity.id, ()),
                tx.edges.count_facts(entity.id, agent=agent),
                tuple(tx.merges.touching(entity.id)),
                tx.entities.attributes(entity.id),
            )

    def entities(self, *, after: int = 0, limit: int = 100) -> list[Entity]:
        """Live entities by id, after the given one."""
        with self._store.read() as tx:
            return tx.entities.live(after=after, limit=max(0, limit))

    def facts(self, asked: str | int, *, limit: int = 100, agent: str | None = None) -> list[Fact]:
        """The facts that count and start or end at an entity; those sealed for an agent are told
        to that agent alone."""
        with self._store.read() as tx:
            root = self._follow(tx, asked).entity.id
            return tx.edges.facts_of(root, limit=max(0, limit), agent=agent)

    def related(
        self,
        asked: str | int,
        *,
        type: str | None = None,
        limit: int = 50,
        depth: int = 1,
        agent: str | None = None,
    ) -> Related:
        """Who is connected to an entity: stated links first, then co-mentions, never blended; with
        a depth above 1 also who is connected to those (see ``related.related``).

        Args:
            type: only neighbours of this type, in whatever case. limit: how many of each hop.
            agent: counts what is sealed for this agent, too.

        Raises:
            NotFound: ``unknown``. Conflict: ``ambiguous``. Invalid: ``bad_hops``.
        """
        with self._store.read() as tx:
            found = self._follow(tx, asked)
            return neighbours.related(tx, found, type=type, limit=limit, depth=depth, agent=agent)

    def path(
        self,
        left: str | int,
        right: str | int,
        *,
        max_depth: int = neighbours.HOPS,
        agent: str | None = None,
    ) -> Connection:
        """A shortest connection between two entities, each step with a memory that shows it.
        Nothing found proves nothing.

        Args:
            max_depth: how many steps it may have.
            agent: counts what is sealed for this agent, too.

        Raises:
            NotFound: ``unknown``. Conflict: ``ambiguous``. Invalid: ``bad_hops``.
        """
        with self._store.read() as tx:
            one, other = self._follow(tx, left), self._follow(tx, right)
            return neighbours.path(tx, one, other, max_depth=max_depth, agent=agent)

    def explain(
        self,
        left: str,
        right: str,
        *,
        left_type: str | None = None,
        right_type: str | None = None,
    ) -> Explained:
        """Why two names get the ruling they get. Types are the graph's own unless given."""
        with self._store.read() as tx:
            return explain(tx, lookup.named(left, left_type), lookup.named(right, right_type))

    def summary(self, *, agent: str | None = None) -> Summary:
        """What the graph holds, and what waits.

        Args:
            agent: counts what is sealed for this agent, too.
        """
        with self._store.read() as tx:
            live = tx.entities.count_live()
            sealed, sealed_unread = tx.memories.count_sealed(agent=agent)
            return Summary(
                self._store.url,
                live,
                tx.entities.count() - live,
                tx.memories.count() - sealed,
                tx.conflicts.count_pending(),
                tx.suggestions.count_open(),
                len(tx.entities.unexamined()),
                tx.questions.count_names(),
                tx.questions.count_memories(),
                tx.memories.count_unread() - sealed_unread,
            )
