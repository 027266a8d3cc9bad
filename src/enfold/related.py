"""What is connected to an entity, and how two are: stated links and co-mentions, never blended.

What is read round any entity is bounded, and so is the number of entities it is read round; where a
bound was met, the answer says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice, pairwise
from typing import Final

from enfold.errors import Invalid
from enfold.model import UNKNOWN, Connection, Entity, Found, Link, Neighbour, Related, Step
from enfold.ports import EVERY, Tx

MOST_MEMORIES: Final = 2_000
MOST_FACTS: Final = 5_000
"""A hub's neighbourhood is read from so many of its latest memories and so many facts; the answer
says that it was cut."""

FAR_MEMORIES: Final = 200
FAR_FACTS: Final = 200
FAR_MENTIONS: Final = 2_000
"""So much is read round each entity on the way to others, be it a hub or not."""

FAR_ENTITIES: Final = 50
"""So many entities of a hop, the nearest, lead on to the next."""

PATH_ENTITIES: Final = 1_000
PATH_REACHED: Final = 100_000
"""A search for a connection looks round so many entities, and remembers so many."""

HOPS: Final = 6
"""The farthest that is looked for: beyond, nearly everything is connected to everything."""

_PAGE: Final = 200


# ---- neighbours ---------------------------------------------------------------------------------


def related(
    tx: Tx,
    found: Found,
    *,
    type: str | None = None,
    limit: int = 50,
    depth: int = 1,
    agent: str | None = None,
) -> Related:
    """The neighbours of an entity: those with stated links first, by how many memories state them,
    then those mentioned beside it, by how many memories they share; then the neighbours of these,
    hop by hop, each once, by the nearest way.

    Args:
        type: only neighbours of this type, in whatever case; the way to them may lead over any.
        limit: how many of each hop; of 0 there are none, and it is said whether there were any.
        depth: how many hops.
        agent: counts what is sealed for this agent, too.

    Raises:
        Invalid: ``bad_hops``.
    """
    _must_be_hops(depth)
    root, limit = found.entity.canonical_id, max(0, min(limit, EVERY - 1))
    near = _around(tx, root, agent, far=False)
    ways = {one: _Way((), near.links.get(one, []), near.shared.get(one, 0)) for one in near.others}
    wanted = None if type is not None else max(limit + 1, FAR_ENTITIES)
    order = list(islice(_ranked(tx, near), wanted))
    chosen, more = _first(tx, order, type, limit)
    neighbours = _shown(tx, chosen, ways, {}, 1)
    cut, missed = near.cut or more, not chosen and not more
    seen = {root, *ways}
    for hop in range(2, depth + 1):
        cut = cut or len(ways) > FAR_ENTITIES
        ways, names, short = _next_hop(tx, order[:FAR_ENTITIES], ways, seen, agent)
        order = list(ways)
        seen.update(order)
        chosen, more = _first(tx, order, type, limit)
        neighbours += _shown(tx, chosen, ways, names, hop)
        cut, missed = cut or more or short, missed and not chosen and not more
    return Related(found, tuple(neighbours), truncated=cut, note=UNKNOWN if missed else None)


def _must_be_hops(hops: int) -> None:
    if not 1 <= hops <= HOPS:
        raise Invalid("bad_hops", f"{hops} hops can't be looked at; give 1 to {HOPS}.")


@dataclass(frozen=True, slots=True)
class _Around:
    """What is read round one entity; ``cut`` where there is more."""

    links: dict[int, list[Link]]
    shared: dict[int, int]
    cut: bool

    @property
    def others(self) -> list[int]:
        return [*{**self.links, **self.shared}]

    def rank(self, other: int) -> tuple[int, int]:
        """What is stated first, by how often; then what is mentioned beside, by how often."""
        sources = sum(link.sources for link in self.links.get(other, ()))
        return -sources, 0 if sources else -self.shared.get(other, 0)


def _around(tx: Tx, entity_id: int, agent: str | None, *, far: bool) -> _Around:
    stated, more_facts = tx.edges.links(
        entity_id, facts=FAR_FACTS if far else MOST_FACTS, agent=agent
    )
    shared, more_memories = tx.edges.shared_sources(
        entity_id,
        memories=FAR_MEMORIES if far else MOST_MEMORIES,
        mentions=FAR_MENTIONS if far else None,
        agent=agent,
    )
    links: dict[int, list[Link]] = defaultdict(list)
    for other, predicate, direction, confidence, sources in stated:
        links[other].append(Link(predicate, direction, confidence, sources))
    return _Around(dict(links), shared, more_facts or more_memories)


def _ranked(tx: Tx, near: _Around) -> Iterator[int]:
    """The neighbours in order; of equals the one with more mentions. Mentions are counted of those
    that are asked for alone: of a hub's four thousand neighbours that took 200 ms."""
    for _, tied in groupby(sorted(near.others, key=near.rank), near.rank):
        mentions = tx.entities.mention_counts(list(tied))
        yield from sorted(mentions, key=lambda other: (-mentions[other], other))


@dataclass(frozen=True, slots=True)
class _Way:
    """How an entity is reached: over which entities, and what connects it with the last of them."""

    through: tuple[int, ...]
    links: list[Link]
    shared: int


def _next_hop(
    tx: Tx, parents: Sequence[int], ways: dict[int, _Way], seen: set[int], agent: str | None
) -> tuple[dict[int, _Way], dict[int, str], bool]:
    """(what is reached from these entities and was not seen, the nearest first; the names on the
    ways to it; whether there is more)"""
    best: dict[int, tuple[tuple[int, int, int, int], _Way]] = {}
    cut = False
    for at, parent in enumerate(parents):
        near = _around(tx, parent, agent, far=True)
        cut = cut or near.cut
        through = (*ways[parent].through, parent)
        for other in near.others:
            if other in seen:
                continue
            rank = (*near.rank(other), at, other)
            if other not in best or rank < best[other][0]:
                links, shared = near.links.get(other, []), near.shared.get(other, 0)
                best[other] = rank, _Way(through, links, shared)
    reached = {other: way for other, (_, way) in sorted(best.items(), key=lambda one: one[1][0])}
    on_the_way = {one for way in reached.values() for one in way.through}
    return reached, tx.entities.shown_names(sorted(on_the_way)), cut


def _shown(
    tx: Tx, chosen: Sequence[Entity], ways: dict[int, _Way], names: dict[int, str], hop: int
) -> list[Neighbour]:
    aliases = tx.entities.aliases([entity.id for entity in chosen])
    return [
        Neighbour(
            entity,
            aliases.get(entity.id, ()),
            tuple(sorted(ways[entity.id].links, key=_link_rank)),
            ways[entity.id].shared,
            hop,
            tuple(names[one] for one in ways[entity.id].through),
        )
        for entity in chosen
    ]


def _first(tx: Tx, ids: Sequence[int], type: str | None, limit: int) -> tuple[list[Entity], bool]:
    """The first so many of these entities, of that type if one is given, in order; and whether
    there are more."""
    chosen: list[int] = []
    kind = None if type is None else type.casefold()
    for start in range(0, len(ids), _PAGE):
        page = ids[start : start + _PAGE]
        if kind is not None:
            rows = tx.entities.rows_by_id(page)
            of_type = {row.id for row in rows if (row.type or "").casefold() == kind}
            page = [one for one in page if one in of_type]
        chosen += page
        if len(chosen) > limit:
            break
    entities = tx.entities.many(chosen[:limit])
    return [entities[one] for one in chosen[:limit]], len(chosen) > limit


def _link_rank(link: Link) -> tuple[int, float, str, str]:
    return -link.sources, -link.confidence, link.relation, link.direction


# ---- connections --------------------------------------------------------------------------------


def path(
    tx: Tx, left: Found, right: Found, *, max_depth: int = HOPS, agent: str | None = None
) -> Connection:
    """A shortest connection between two entities; of those equally short, one with as many stated
    steps as there can be. It is looked for from both ends at once.

    Args:
        max_depth: how many steps it may have.
        agent: counts what is sealed for this agent, too.

    Raises:
        Invalid: ``bad_hops``.
    """
    _must_be_hops(max_depth)
    ends = left.entity.canonical_id, right.entity.canonical_id
    if ends[0] == ends[1]:
        return Connection(left, right, note="Both names lead to one entity.")
    if step := _step(tx, *ends, agent):  # exact, where what is read round a hub is cut
        return Connection(left, right, _with_entity(tx, [step], [ends[1]]))
    search = _Search(tx, ends, agent)
    chain = search.chain(max_depth)
    if chain is None:
        return Connection(left, right, truncated=search.cut, note=_missed(search, max_depth))
    steps = [_step(tx, one, other, agent) for one, other in pairwise(chain)]
    return Connection(left, right, _with_entity(tx, steps, chain[1:]), truncated=search.cut)


def _missed(search: _Search, hops: int) -> str:
    within = f"{hops} hops" if hops > 1 else "one hop"
    cut = " Not everything was looked at: the ways are too many." if search.cut else ""
    return f"No connection was found within {within}; a miss proves nothing.{cut}"


@dataclass
class _Side:
    """What is reached from one end: each entity with the one before it, and how many steps of the
    way to it are stated."""

    reached: dict[int, tuple[int | None, int]]
    frontier: list[int]

    def way(self, entity_id: int) -> list[int]:
        """From the end to the entity."""
        way, at = [], entity_id
        while True:
            way.append(at)
            before = self.reached[at][0]
            if before is None:
                return way[::-1]
            at = before


@dataclass
class _Search:
    """Breadth first from both ends, always from that which has less to go on from."""

    tx: Tx
    ends: tuple[int, int]
    agent: str | None
    cut: bool = False
    looked: int = 0
    sides: tuple[_Side, _Side] = field(init=False)

    def __post_init__(self) -> None:
        one, other = (_Side({end: (None, 0)}, [end]) for end in self.ends)
        self.sides = (one, other)

    def chain(self, hops: int) -> list[int] | None:
        """The entities of a shortest connection, both ends included; None where none is found."""
        for _ in range(hops):
            side, other = sorted(self.sides, key=lambda one: len(one.frontier))
            if not side.frontier:
                break
            self._go_on(side)
            met = [one for one in side.frontier if one in other.reached]
            if met:
                best = min(
                    met, key=lambda one: (-side.reached[one][1] - other.reached[one][1], one)
                )
                left, right = self.sides
                return [*left.way(best), *right.way(best)[-2::-1]]
        return None

    def _go_on(self, side: _Side) -> None:
        found: dict[int, tuple[int, int]] = {}
        for parent in side.frontier:
            if self.looked >= PATH_ENTITIES or len(side.reached) + len(found) >= PATH_REACHED:
                self.cut = True
                break
            self.looked += 1
            near = _around(self.tx, parent, self.agent, far=parent not in self.ends)
            self.cut = self.cut or near.cut
            stated = side.reached[parent][1]
            for other in near.others:
                on_the_way = stated + (other in near.links)
                if other not in side.reached and on_the_way > found.get(other, (0, -1))[1]:
                    found[other] = parent, on_the_way
        side.reached.update(found)
        side.frontier = sorted(found, key=lambda one: (-found[one][1], one))


_Shown = tuple[str | None, str | None, float | None, int, int]
"""(relation, direction, confidence, memories, one of them) of a step"""


def _step(tx: Tx, left: int, right: int, agent: str | None) -> _Shown | None:
    """What connects two entities: what most memories state, else that they are mentioned
    together."""
    stated = tx.edges.links_between(left, right, agent=agent)
    if stated:
        first = min(stated, key=lambda one: (-one[3], -one[2], one[0], one[1]))
        relation, direction, confidence, sources, memory_id = first
        return relation, direction, confidence, sources, memory_id
    sources, shared = tx.edges.shared_between(left, right, agent=agent)
    return None if shared is None else (None, None, None, sources, shared)


def _with_entity(
    tx: Tx, steps: Sequence[_Shown | None], entities: Sequence[int]
) -> tuple[Step, ...]:
    rows = tx.entities.many(entities)
    return tuple(
        Step(rows[entity], *step)
        for step, entity in zip(steps, entities, strict=True)
        if step is not None
    )
