"""Cards: the open questions as a person settles them.

Questions that share an entity are one card: a star round one entity, each leaf asked against it and
never against another by way of it. What else is open between the leaves stands beside. Pairs that
are left single are a list, those of one rule together, and the last few of any: each is asked on
its own, and says nothing of another. Cards are dealt from what is open now, the weightiest first,
and never all at once: the pairs of a large graph are streamed, so that the next card of a million
pairs costs as much as that of ten.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Literal, Protocol

from enfold import deferred, stars
from enfold.model import (
    Conflict,
    Context,
    Entity,
    OpenPair,
)
from enfold.ports import Tx

LEAVES: Final = 9
"""Leaves of one card: what digits can mark, and about what a screen holds. Cards without a bound
were 1% fewer on the graph with the largest stars (bench/cards.py)."""

LINES: Final = 9
"""Pairs of one list, for the same two reasons."""

AHEAD: Final = 100
"""Pairs looked at beyond those of the next card, for what goes on its list. Without a bound there
were 4% fewer cards on the sparsest graph (bench/cards.py --first 4000)."""

COUNTED: Final = 5_000
"""Up to so many open pairs the cards are counted ahead; of more, only the pairs are."""

EVIDENCE: Final = 2
SENTENCE: Final = 240
"""Letters of a passage that is shown as evidence."""

_PASSAGES: Final = 24
_NEAR_MEMORIES: Final = 200
_NEAR_FACTS: Final = 500
_SHOWN_ALIASES: Final = 6
_SHOWN_NEIGHBOURS: Final = 4
_MOST_AROUND: Final = 500

Pair = tuple[int, int]
"""Two entities, the lower id first."""


# ---- what a card is -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a memory says where it mentions an entity, cut to a sentence or two."""

    memory_id: int
    source: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Side:
    """An entity on a card.

    Attributes:
        aliases: the first of its other spellings; ``alias_count`` says how many there are.
        mentions: active memories that mention it. facts: counted facts with it on either side.
    """

    id: int
    name: str
    type: str | None
    mentions: int
    facts: int
    aliases: tuple[str, ...]
    alias_count: int
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One question of a card: is this the centre?

    Attributes:
        left_id, right_id: the rows it is asked about; the left one leads to the leaf, the right
            one to the centre. left_name, right_name: their spellings.
        conflict_id: the question of the queue, or None where it waits for room.
        together: memories, among the latest of the leaf's, that mention the centre too.
        shared: neighbours of both, the best connected first; ``shared_count`` says how many.
        leaf_only, centre_only: neighbours of one alone.
    """

    side: Side
    left_id: int
    left_name: str
    right_id: int
    right_name: str
    rule: str
    score: float
    reason: str
    asked_by: str
    conflict_id: int | None
    together: int
    shared: tuple[str, ...]
    shared_count: int
    leaf_only: tuple[str, ...]
    centre_only: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Beside:
    """An open question between two leaves of a card."""

    left_id: int
    left_name: str
    right_id: int
    right_name: str
    rule: str


@dataclass(frozen=True, slots=True)
class Card:
    """Questions that share an entity, the weightiest first.

    Attributes:
        centre: what each leaf is asked against.
        beside: what else is open between the leaves.
        apart: leaves that are settled apart from each other; at most one of two can be the centre.
        keeps: the entity whose name survives, unless another is chosen: the one with the most
            mentions, as for every fold.
        more: open questions of the centre that this card has no room for.
        settles: further open questions that folding every leaf would settle.
    """

    centre: Side
    leaves: tuple[Leaf, ...]
    beside: tuple[Beside, ...]
    apart: tuple[Pair, ...]
    keeps: int
    more: int
    settles: int
    kind: Literal["star"] = "star"

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of entities that it asks about."""
        return tuple(ordered(leaf.side.id, self.centre.id) for leaf in self.leaves)

    @property
    def asked(self) -> tuple[int, ...]:
        """What an answer names: its leaves."""
        return tuple(leaf.side.id for leaf in self.leaves)

    @property
    def rule(self) -> str:
        """The rule of its weightiest question."""
        return self.leaves[0].rule


@dataclass(frozen=True, slots=True)
class ListCard:
    """Single pairs, the weightiest first: of one rule, or the last few of any. No two share an
    entity, and the answer to one says nothing of another.

    Attributes:
        rules: the rules that ask, that of the weightiest pair first.
        lines: each pair as a card of one leaf. Its centre is the entity whose name survives.
    """

    rules: tuple[str, ...]
    lines: tuple[Card, ...]
    kind: Literal["list"] = "list"

    @classmethod
    def of(cls, lines: tuple[Card, ...]) -> ListCard:
        """Lines as a list."""
        return cls(tuple(dict.fromkeys(line.rule for line in lines)), lines)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of entities that it asks about."""
        return tuple(pair for line in self.lines for pair in line.pairs)

    @property
    def asked(self) -> tuple[int, ...]:
        """What an answer names: the leaf of each line, which is on no other."""
        return tuple(leaf for line in self.lines for leaf in line.asked)

    def without(self, line: Card) -> AnyCard | None:
        """What goes on when one line was seen to by itself; the last line is a card again."""
        rest = tuple(one for one in self.lines if one is not line)
        return ListCard.of(rest) if len(rest) > 1 else next(iter(rest), None)


AnyCard = Card | ListCard


def ordered(one: int, other: int) -> Pair:
    """Two entities as a pair."""
    return (one, other) if one < other else (other, one)


# ---- what is open -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filter:
    """Which open pairs to go through: those of a rule, with a side of a type, with a score."""

    rule: str | None = None
    type: str | None = None
    min_score: float = 0.0


@dataclass(frozen=True, slots=True)
class Edge:
    """An open pair of entities, queued or waiting."""

    low: int
    high: int
    weight: int
    score: float
    left_id: int
    right_id: int
    rule: str
    question: Conflict | None = None

    @property
    def pair(self) -> Pair:
        return self.low, self.high

    @property
    def rank(self) -> tuple[int, float, int, int]:
        return -self.weight, -self.score, self.low, self.high

    def other(self, end: int) -> int:
        return self.high if end == self.low else self.low


def _waiting(pair: OpenPair) -> Edge:
    return Edge(
        pair.low, pair.high, pair.weight, pair.score, pair.left_id, pair.right_id, pair.rule
    )


def _queued(one: Conflict) -> Edge:
    low, high = ordered(one.queued_now, one.candidate_now)
    weight = min(one.queued_mentions, one.candidate_mentions)
    return Edge(low, high, weight, one.score, one.queued_id, one.candidate_id, one.rule, one)


class Pool(Protocol):
    """Open pairs to deal from."""

    def ranked(self) -> Generator[Edge, None, None]:
        """All, the weightiest first."""
        ...

    def around(self, root: int, limit: int) -> list[Edge]: ...
    def between(self, roots: Sequence[int]) -> list[Edge]: ...
    def mentions(self, roots: Sequence[int]) -> Mapping[int, int]: ...


class Open:
    """What is open in one transaction: the queue, and what waits for room in it."""

    def __init__(self, tx: Tx, which: Filter | None = None) -> None:
        self._tx = tx
        self._which = which or Filter()
        questions = (one for one in tx.conflicts.pending(limit=1 << 30) if one.kind == "entity")
        found = [_queued(one) for one in questions if self._asked_for(one)]
        self._queue = sorted(found, key=lambda edge: edge.rank)
        self._near: dict[int, list[Edge]] = defaultdict(list)
        for edge in self._queue:
            self._near[edge.low].append(edge)
            self._near[edge.high].append(edge)

    def _asked_for(self, one: Conflict) -> bool:
        kind = (self._which.type or "").lower()
        kinds = {(side or "").lower() for side in (one.queued_type, one.candidate_type)}
        return self._fits(one.rule, one.score) and (not kind or kind in kinds)

    def _fits(self, rule: str, score: float) -> bool:
        return self._which.rule in (None, rule) and score >= self._which.min_score

    def ranked(self) -> Generator[Edge, None, None]:
        which = self._which
        with closing(self._tx.suggestions.ranked_open(rule=which.rule, type=which.type)) as waiting:
            fitting = (_waiting(pair) for pair in waiting if pair.score >= which.min_score)
            yield from heapq.merge(self._queue, fitting, key=lambda edge: edge.rank)

    def around(self, root: int, limit: int) -> list[Edge]:
        rule, type = self._which.rule, self._which.type
        near = self._tx.suggestions.open_around(root, limit=limit, rule=rule, type=type)
        fitting = [_waiting(pair) for pair in near if pair.score >= self._which.min_score]
        return sorted([*self._near.get(root, ()), *fitting], key=lambda edge: edge.rank)

    def count_around(self, root: int) -> int:
        if self._which != Filter():
            return len(self.around(root, 1 << 30))
        return len(self._near.get(root, ())) + self._tx.suggestions.count_open_around(root)

    def between(self, roots: Sequence[int]) -> list[Edge]:
        among = set(roots)
        queued = {edge.pair: edge for root in roots for edge in self._near.get(root, ())}
        inside = [edge for edge in queued.values() if edge.low in among and edge.high in among]
        inside += map(_waiting, self._tx.suggestions.open_between(roots))
        return sorted(inside, key=lambda edge: edge.rank)

    def mentions(self, roots: Sequence[int]) -> Mapping[int, int]:
        return self._tx.entities.mention_counts(roots)

    def count(self) -> int:
        """How many pairs are open, whatever their score."""
        rule, type = self._which.rule, self._which.type
        return len(self._queue) + self._tx.suggestions.count_open(rule=rule, type=type)


class Held:
    """Open pairs in memory, where there are few."""

    def __init__(self, edges: Iterable[Edge]) -> None:
        self._edges = list(edges)
        self._near: dict[int, list[Edge]] = defaultdict(list)
        for edge in self._edges:
            self._near[edge.low].append(edge)
            self._near[edge.high].append(edge)

    def ranked(self) -> Generator[Edge, None, None]:
        yield from self._edges

    def around(self, root: int, limit: int) -> list[Edge]:
        return self._near[root][:limit]

    def between(self, roots: Sequence[int]) -> list[Edge]:
        among = set(roots)
        near = {edge.pair: edge for root in roots for edge in self._near[root]}
        return [edge for edge in near.values() if edge.low in among and edge.high in among]

    def mentions(self, roots: Sequence[int]) -> Mapping[int, int]:
        return dict.fromkeys(roots, 0)


# ---- dealing ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Star:
    """A card before it is filled in."""

    centre: int
    edges: tuple[Edge, ...]


@dataclass
class _Dealt:
    """What was dealt so far.

    Attributes:
        pairs: the pairs that stand on a card, or are passed over.
        leaves: entities that are a leaf of some card; none is of two.
    """

    pairs: set[Pair]
    leaves: set[int] = field(default_factory=set)
    around: Counter[int] = field(default_factory=Counter)

    def free(self, pool: Pool, centre: int, most: int) -> list[Edge]:
        """The first open pairs of a centre that can still go on a card of its own."""
        limit = most + self.around[centre]
        while True:
            near = pool.around(centre, limit)
            free = [
                edge
                for edge in near
                if edge.pair not in self.pairs and edge.other(centre) not in self.leaves
            ]
            if len(free) >= most or len(near) < limit:
                return free[:most]
            limit *= 2

    def take(self, star: Star) -> None:
        for edge in star.edges:
            self.pairs.add(edge.pair)
            self.leaves.add(edge.other(star.centre))
        self.around[star.centre] += len(star.edges)


def deal(
    pool: Pool, *, passed: Collection[Pair] = (), leaves: int = LEAVES
) -> Generator[Star, None, None]:
    """Every open pair but those passed over, each on one card, the weightiest first.

    Each next card goes round that side of the weightiest pair left which has more open pairs: of
    the ways tried, that one makes the fewest cards (bench/cards.py). No entity is a leaf of two
    cards until every other pair is dealt.
    """
    dealt = _Dealt(set(passed))
    more = True
    while more:
        more = False
        dealt.leaves.clear()
        with closing(pool.ranked()) as ranked:
            for edge in ranked:
                if edge.pair in dealt.pairs:
                    continue
                star = _star(pool, edge, dealt, leaves)
                if star is not None:
                    more = True
                    dealt.take(star)
                    yield star


def _star(pool: Pool, edge: Edge, dealt: _Dealt, leaves: int) -> Star | None:
    """The star to put a pair on; None where either side is a leaf elsewhere."""
    options = [
        Star(end, tuple(dealt.free(pool, end, leaves)))
        for end in edge.pair
        if edge.other(end) not in dealt.leaves
    ]
    if len(options) == 2 and len(options[0].edges) == len(options[1].edges):
        mentions = pool.mentions(edge.pair)
        return max(options, key=lambda star: (mentions[star.centre], -star.centre))
    return max(options, key=lambda star: len(star.edges), default=None)


def gather(
    dealt: Iterable[Star], *, ahead: int = AHEAD, lines: int = LINES
) -> Generator[tuple[Star, ...], None, None]:
    """Stars as they are dealt, each alone; but single pairs of one rule that share no entity come
    together, where the first of them was dealt. So do the last few, whatever their rules: where
    three questions are left, a card for each rule saves nobody a look.

    Args:
        ahead: how many pairs beyond the first are looked at for more; about as many are held.
    """
    source = iter(dealt)
    held: deque[Star] = deque()
    while (first := _following(held, source)) is not None:
        seen, ended = [], False
        group, looked = _List([first]), 0
        while len(first.edges) == 1 and len(group.stars) < lines and looked < ahead:
            star = _following(held, source)
            if star is None:
                ended = True
                break
            seen.append(star)
            if star.edges[0].rule == first.edges[0].rule and group.has_room_for(star):
                group.add(star)
            else:
                looked += len(star.edges)
        if ended and sum(len(star.edges) == 1 for star in (first, *seen)) <= lines:
            group = _List([first])
            for star in filter(group.has_room_for, seen):
                group.add(star)
        held.extendleft(star for star in reversed(seen) if star not in group.stars)
        yield tuple(group.stars)


@dataclass
class _List:
    """Single pairs that share no entity, as they are gathered."""

    stars: list[Star]

    def __post_init__(self) -> None:
        self._entities = {end for star in self.stars for edge in star.edges for end in edge.pair}

    def has_room_for(self, star: Star) -> bool:
        return len(star.edges) == 1 and self._entities.isdisjoint(star.edges[0].pair)

    def add(self, star: Star) -> None:
        self.stars.append(star)
        self._entities.update(star.edges[0].pair)


def _following(held: deque[Star], source: Iterator[Star]) -> Star | None:
    return held.popleft() if held else next(source, None)


def count(
    tx: Tx, which: Filter | None = None, *, around: int | None = None, lists: bool = False
) -> tuple[int, int | None]:
    """(open pairs, cards they make); None of the latter where there are many pairs.

    Args:
        around: only the pairs of this entity, and the cards round it.
        lists: single pairs are gathered.
    """
    pool = Open(tx, which)
    if around is not None:
        near = pool.count_around(around)
        return near, -(-near // LEAVES)
    pairs = pool.count()
    if pairs > COUNTED:
        return pairs, None
    stars_dealt = deal(Held(pool.ranked()))
    return pairs, sum(1 for _ in (gather(stars_dealt) if lists else stars_dealt))


def cards(
    tx: Tx,
    *,
    limit: int,
    which: Filter | None = None,
    around: int | None = None,
    passed: Collection[Pair] = (),
) -> list[Card]:
    """The first cards of what is open, a single pair on one of its own.

    Args:
        around: only the card round this entity.
        passed: pairs to leave out: those that were skipped.
    """
    found = stream(tx, limit=limit, which=which, around=around, passed=passed, lists=False)
    return [card for card in found if isinstance(card, Card)]


def stream(
    tx: Tx,
    *,
    limit: int,
    which: Filter | None = None,
    around: int | None = None,
    passed: Collection[Pair] = (),
    lists: bool = True,
) -> Iterator[AnyCard]:
    """See ``cards``: each is filled in when it is asked for.

    Args:
        lists: single pairs are gathered; those of one entity never, which they share.
    """
    pool = Open(tx, which)
    dealt = deal(pool, passed=passed) if around is None else _of_one(pool, around, passed)
    context = tx.context() or Context()
    groups = gather(dealt) if lists else ((star,) for star in dealt)
    with closing(dealt):  # a statement half read outlives its transaction
        for group in islice(groups, limit):
            if len(group) == 1:
                yield _card(tx, pool, group[0], context)
            else:
                yield ListCard.of(tuple(_line(tx, pool, star, context) for star in group))


def _of_one(pool: Pool, root: int, passed: Collection[Pair]) -> Generator[Star, None, None]:
    dealt = _Dealt(set(passed))
    while edges := dealt.free(pool, root, LEAVES):
        star = Star(root, tuple(edges))
        dealt.take(star)
        yield star


# ---- filling in ---------------------------------------------------------------------------------


def _line(tx: Tx, pool: Open, star: Star, context: Context) -> Card:
    """A single pair, round the one whose name survives: the same one on every line of a list."""
    (edge,) = star.edges
    entities = tx.entities.many(edge.pair)
    order = {root: stars.canonical_order(entities[root], entities[root].name) for root in edge.pair}
    return _card(tx, pool, Star(min(edge.pair, key=order.__getitem__), star.edges), context)


def _card(tx: Tx, pool: Open, star: Star, context: Context) -> Card:
    roots = [star.centre, *(edge.other(star.centre) for edge in star.edges)]
    entities = tx.entities.many(roots)
    aliases = tx.entities.aliases(roots)
    sides = {root: _side(tx, entities[root], aliases.get(root, ())) for root in roots}
    rows = tx.entities.many([row for edge in star.edges for row in (edge.left_id, edge.right_id)])
    near = {root: _Near.of(tx, root) for root in roots}
    names = _Names(tx, near.values())
    leaves = [
        _leaf(edge, star.centre, rows, sides[edge.other(star.centre)], near, names, context)
        for edge in star.edges
    ]
    order = {root: stars.canonical_order(entities[root], entities[root].name) for root in roots}
    between = pool.between(roots[1:])
    shut = tx.decisions.apart_roots(around=roots)
    return Card(
        centre=sides[star.centre],
        leaves=tuple(leaves),
        beside=tuple(
            Beside(e.low, entities[e.low].name, e.high, entities[e.high].name, e.rule)
            for e in between
        ),
        apart=tuple(pair for pair in shut if set(pair) <= set(roots)),
        keeps=min(roots, key=order.__getitem__),
        more=max(0, pool.count_around(star.centre) - len(star.edges)),
        settles=len(between) + _collapsing(pool, roots, {root for pair in shut for root in pair}),
    )


def _side(tx: Tx, entity: Entity, aliases: tuple[str, ...]) -> Side:
    return Side(
        entity.id,
        entity.name,
        entity.type,
        entity.mentions,
        tx.edges.count_facts(entity.id),
        aliases[:_SHOWN_ALIASES],
        len(aliases),
        _evidence(tx, entity.id),
    )


def _leaf(
    edge: Edge,
    centre: int,
    rows: Mapping[int, Entity],
    side: Side,
    near: Mapping[int, _Near],
    names: _Names,
    context: Context,
) -> Leaf:
    left, right = rows[edge.left_id], rows[edge.right_id]
    if left.canonical_id == centre:
        left, right = right, left
    mine, its = near[side.id], near[centre]
    shared = mine.ids & its.ids
    asked = edge.question
    return Leaf(
        side=side,
        left_id=left.id,
        left_name=left.spelling,
        right_id=right.id,
        right_name=right.spelling,
        rule=edge.rule,
        score=edge.score,
        reason=asked.reason if asked else deferred.reason(left, right, context),
        asked_by=asked.asked_by if asked else "rule",
        conflict_id=asked.id if asked else None,
        together=mine.together.get(centre, 0),
        shared=names.of(shared),
        shared_count=len(shared),
        leaf_only=names.of(mine.ids - its.ids - {centre}),
        centre_only=names.of(its.ids - mine.ids - {side.id}),
    )


@dataclass(frozen=True, slots=True)
class _Near:
    """The neighbours of an entity, a hub's latest alone."""

    ids: frozenset[int]
    together: Mapping[int, int]

    @classmethod
    def of(cls, tx: Tx, root: int) -> _Near:
        links, _ = tx.edges.links(root, facts=_NEAR_FACTS)
        together, _ = tx.edges.shared_sources(root, memories=_NEAR_MEMORIES)
        return cls(frozenset(link[0] for link in links).union(together), together)


class _Names:
    """Names of neighbours, those first that most sides of the card have."""

    def __init__(self, tx: Tx, near: Iterable[_Near]) -> None:
        self._tx = tx
        self._seen = Counter(root for one in near for root in one.ids)

    def of(self, roots: Collection[int]) -> tuple[str, ...]:
        first = heapq.nsmallest(_SHOWN_NEIGHBOURS, roots, key=lambda r: (-self._seen[r], r))
        names = self._tx.entities.shown_names(first)
        return tuple(names[root] for root in first)


def _collapsing(pool: Open, roots: Sequence[int], shut: Collection[int]) -> int:
    """How many open pairs with others would be one question, or none, were these entities one.

    Args:
        shut: entities that one of them is settled apart from.
    """
    inside = set(roots)
    others: dict[int, set[Pair]] = defaultdict(set)
    for root in roots:
        for edge in pool.around(root, _MOST_AROUND):
            other = edge.other(root)
            if other not in inside:
                others[other].add(edge.pair)
    return sum(len(pairs) - (other not in shut) for other, pairs in others.items())


def _evidence(tx: Tx, root: int) -> tuple[Evidence, ...]:
    """The first passages, those that name the entity before those that only are about it."""
    found = tx.edges.passages(root, memories=_PASSAGES, around=SENTENCE)
    named = sorted(found, key=lambda row: row[2] not in row[3])
    shown: dict[str, Evidence] = {}
    for memory_id, source, spelling, text in named:
        cut = sentence(text, spelling)
        if cut and cut not in shown:
            shown[cut] = Evidence(memory_id, source, cut)
        if len(shown) == EVIDENCE:
            break
    return tuple(shown.values())


_ENDS: Final = (". ", "! ", "? ", "。", "！", "？", "\n")


def sentence(text: str, spelling: str, most: int = SENTENCE) -> str:
    """The sentence of a text that has the spelling, cut at words round it where it is long; the
    first one where none has it."""
    at, after = _place(text, spelling)
    starts = [found + len(end) for end in _ENDS if (found := text.rfind(end, 0, at)) >= 0]
    stops = [found + len(end) for end in _ENDS if (found := text.find(end, after)) >= 0]
    words = " ".join(text[max(starts, default=0) : min(stops, default=len(text))].split())
    if len(words) <= most:
        return words
    place, _ = _place(words, " ".join(spelling.split()))
    begin = max(0, min(place - most // 3, len(words) - most))
    part = words[begin : begin + most]
    if begin:
        part = "… " + part.partition(" ")[2]
    if begin + most < len(words):
        part = part.rpartition(" ")[0] + " …"
    return part


def _place(text: str, spelling: str) -> tuple[int, int]:
    """Where the spelling begins and ends in the text; (0, 0) where it is not in it."""
    found = re.search(re.escape(spelling), text, re.IGNORECASE)
    return found.span() if found else (0, 0)
