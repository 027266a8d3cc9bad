"""What is connected to an entity: stated links and co-mentions, never blended."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from enfold.model import UNKNOWN, Entity, Found, Link, Neighbour, Related
from enfold.ports import Tx

MOST_MEMORIES: Final = 2_000
MOST_FACTS: Final = 5_000
"""A hub's neighbourhood is read from so many of its latest memories and so many facts; the answer
says that it was cut."""

_PAGE: Final = 200


def related(tx: Tx, found: Found, *, type: str | None = None, limit: int = 50) -> Related:
    """The neighbours of an entity: those with stated links first, by how many memories state them,
    then those mentioned beside it, by how many memories they share.

    Args:
        type: only neighbours of this type.
    """
    entity = found.entity
    stated, more_facts = tx.edges.links(entity.canonical_id, facts=MOST_FACTS)
    shared, more_memories = tx.edges.shared_sources(entity.canonical_id, memories=MOST_MEMORIES)
    links: dict[int, list[Link]] = defaultdict(list)
    for other, predicate, direction, confidence, sources in stated:
        links[other].append(Link(predicate, direction, confidence, sources))
    mentions = tx.entities.mention_counts([*{*links, *shared}])

    def rank(other: int) -> tuple[int, int, int, int]:
        sources = sum(link.sources for link in links.get(other, ()))
        together = 0 if sources else shared.get(other, 0)
        return -sources, -together, -mentions[other], other

    chosen = _first(tx, sorted(mentions, key=rank), type, limit + 1)
    aliases = tx.entities.aliases([neighbour.id for neighbour in chosen[:limit]])
    neighbours = tuple(
        Neighbour(
            neighbour,
            aliases.get(neighbour.id, ()),
            tuple(sorted(links.get(neighbour.id, ()), key=_link_rank)),
            shared.get(neighbour.id, 0),
        )
        for neighbour in chosen[:limit]
    )
    return Related(
        found,
        neighbours,
        truncated=len(chosen) > limit or more_facts or more_memories,
        note=None if neighbours else UNKNOWN,
    )


def _first(tx: Tx, ids: list[int], type: str | None, limit: int) -> list[Entity]:
    """The first so many of these entities, of that type if one is given, in order."""
    chosen: list[Entity] = []
    for start in range(0, len(ids), _PAGE):
        page = ids[start : start + _PAGE]
        rows = tx.entities.many(page)
        chosen += [rows[row] for row in page if type is None or rows[row].type == type]
        if len(chosen) >= limit:
            break
    return chosen[:limit]


def _link_rank(link: Link) -> tuple[int, float, str, str]:
    return -link.sources, -link.confidence, link.relation, link.direction
