"""Names of equal letters: stars round their canonical, never chains.

Equal letters are no equivalence, since numbers, symbols and leading punctuation may still part two
names that both equal a third. So each name is held to the canonical of each star in turn, and folds
into the first that it is ruled one with.

Several entities of one name (its senses) are several things, whatever the rules say of the name:
they are never folded, nor asked about against each other. Another spelling that fits several of
them is asked about with each.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from enfold import rules
from enfold.model import AskedPair, Context, Entity, Proposal, Ruling, Verdict
from enfold.names import Name
from enfold.ports import Tx

RULE: Final = "identical"
OFF: Final = " Spellings of this name are kept apart, so it is asked."
"""What a question says beside the rule's reason where automatic folding of these letters is off: a
decision keeps two of them apart, or several entities have the name."""

OFF_SCORE: Final = 0.9

GROUPS_AT_ONCE: Final = 2_000
"""Groups whose rows are read together: enough that reading is not what takes the time."""


@dataclass(frozen=True)
class Stars:
    """The plan for the groups: what folds, in order, and what is asked.

    Attributes:
        settled: pairs that fold, or would, and are one already.
    """

    folds: list[Proposal]
    asked: list[AskedPair]
    judged: int
    settled: int


def canonical_order(entity: Entity, spelling: str) -> tuple[int, int, int, str, int]:
    """Which of several entities keeps its name: more mentions, then longer, then more capitals,
    then older, then the lower id."""
    capitals = sum(map(str.isupper, spelling))
    return -entity.mentions, -len(spelling), -capitals, entity.created_at, entity.id


def any_fold(tx: Tx, groups: Sequence[Sequence[int]], context: Context) -> bool:
    """Whether ``settle`` would fold anything."""
    parts = (groups[at : at + GROUPS_AT_ONCE] for at in range(0, len(groups), GROUPS_AT_ONCE))
    return any(settle(tx, part, context).folds for part in parts)


def settle(tx: Tx, groups: Sequence[Sequence[int]], context: Context) -> Stars:
    """Rule rows of equal letters. Each folds into the first star it fits, never by way of another:
    equal letters are no equivalence, since numbers and symbols may still part them."""
    off = tx.decisions.off_merge_keys()
    plan = Stars([], [], 0, 0)
    judged = settled = 0
    for at in range(0, len(groups), GROUPS_AT_ONCE):
        part = groups[at : at + GROUPS_AT_ONCE]
        rows = tx.entities.many([row for group in part for row in group])
        roots = tx.entities.many(list({e.canonical_id for e in rows.values()}))
        for group in part:
            members = [rows[row] for row in group if row in rows]
            more = settle_group(members, roots, off, context, plan)
            judged += more[0]
            settled += more[1]
    return replace(plan, judged=judged, settled=settled)


def settle_group(
    members: list[Entity],
    roots: dict[int, Entity],
    off: set[str],
    context: Context,
    plan: Stars,
) -> tuple[int, int]:
    """Add one group's folds and questions to the plan; (pairs judged, pairs one already).

    Args:
        roots: the entity that each row leads to, by id.
        off: letters whose names don't fold by rule.
    """

    def order(row: Entity) -> tuple[int, int, int, str, int]:
        root = roots[row.canonical_id]
        return canonical_order(root, root.name)

    if several := _senses(members):
        group = _Senses(several, off, context, plan, order)
        for row in sorted(members, key=lambda row: (row.key not in several, order(row), row.id)):
            group.settle(row)
        return group.judged, group.settled
    stars: list[list[tuple[Entity, Name]]] = []
    judged = settled = 0
    for row in sorted(members, key=lambda row: (order(row), row.id)):
        name = Name(row.spelling, row.type)
        asked: list[AskedPair] = []
        for star in stars:
            head = star[0][0]
            judged += 1
            # Held to every member: a plain name is one with each of two that differ in a picture.
            ruling, against = _least(name, star, context)
            if ruling.verdict is Verdict.FOLD:
                joined = row.canonical_id == head.canonical_id
                if joined or name.merge_key not in off:
                    settled += joined
                    if not joined:
                        fold = Proposal(row.id, head.id, Verdict.FOLD, RULE, 1.0, ruling.reason)
                        plan.folds.append(fold)
                    star.append((row, name))
                    break
                asked.append((row.id, head.id, RULE, OFF_SCORE))
            elif ruling.verdict is Verdict.ASK:
                asked.append((row.id, against.id, ruling.rule, ruling.score))
        else:
            stars.append([(row, name)])
            plan.asked.extend(asked)
    return judged, settled


def _senses(members: Sequence[Entity]) -> dict[str, set[int]]:
    """The names that several entities have, and those entities."""
    having: dict[str, set[int]] = defaultdict(set)
    for row in members:
        having[row.key].add(row.canonical_id)
    return {key: entities for key, entities in having.items() if len(entities) > 1}


_Star = list[tuple[Entity, Name]]


class _Senses:
    """A group of equal letters in which several entities have one name. Their own rows come first,
    so that every other spelling is held to each of them; they are not held to each other, or a
    thousand notes of one name would be a million pairs."""

    def __init__(
        self,
        several: dict[str, set[int]],
        off: set[str],
        context: Context,
        plan: Stars,
        order: Callable[[Entity], tuple[int, int, int, str, int]],
    ) -> None:
        self.judged = self.settled = 0
        self._off, self._context, self._plan, self._order = off, context, plan, order
        self._several = several
        self._stars: dict[str, list[_Star]] = defaultdict(list)  # by the name that several have
        self._own: dict[tuple[int, str], _Star] = {}
        self._named: dict[int, set[str]] = defaultdict(set)
        for key, entities in several.items():
            for entity in entities:
                self._named[entity].add(key)

    def settle(self, row: Entity) -> None:
        """Add a row's fold, or its questions, to the plan."""
        name = Name(row.spelling, row.type)
        fits: list[_Star] = []
        asked: list[AskedPair] = []
        for star in self._held_to(row):
            head = star[0][0]
            if self._are_rivals(row.canonical_id, head.canonical_id):
                continue
            self.judged += 1
            ruling, against = _least(name, star, self._context)
            if ruling.verdict is Verdict.FOLD and row.canonical_id == head.canonical_id:
                self.settled += 1
                star.append((row, name))
                return
            if ruling.verdict is Verdict.FOLD:
                fits.append(star)
            elif ruling.verdict is Verdict.ASK:
                asked.append((row.id, against.id, ruling.rule, ruling.score))
        one = None if name.merge_key in self._off else self._only(fits)
        if one is not None:
            self._plan.folds.append(self._fold(row, one[0][0], name))
            one.append((row, name))
            return
        self._begin(row, name)
        asked += [(row.id, star[0][0].id, RULE, OFF_SCORE) for star in fits]
        self._plan.asked.extend(asked)

    def _begin(self, row: Entity, name: Name) -> None:
        star = [(row, name)]
        self._stars[row.key if row.key in self._several else ""].append(star)
        self._own.setdefault((row.canonical_id, row.key), star)

    def _held_to(self, row: Entity) -> Iterator[_Star]:
        """The stars of other names, and of its own name the one of its own entity."""
        own = self._own.get((row.canonical_id, row.key))
        if row.key in self._several and own is not None:
            yield own
        for key, stars in self._stars.items():
            if key != row.key:
                yield from stars

    def _only(self, fits: Sequence[_Star]) -> _Star | None:
        """The first star that a row fits and that no other it fits has the name of."""
        entities = {star[0][0].canonical_id for star in fits}
        names = Counter(key for entity in entities for key in self._named.get(entity, ()))
        for star in fits:
            if all(names[key] == 1 for key in self._named.get(star[0][0].canonical_id, ())):
                return star
        return None

    def _are_rivals(self, left: int, right: int) -> bool:
        """Whether two entities are senses of one name."""
        named = self._named
        return left != right and not named.get(left, set()).isdisjoint(named.get(right, ()))

    def _fold(self, row: Entity, head: Entity, name: Name) -> Proposal:
        canonical, absorbed = sorted((head, row), key=self._order)
        reason = rules.rule_on(name, Name(head.spelling, head.type), self._context).reason
        return Proposal(absorbed.id, canonical.id, Verdict.FOLD, RULE, 1.0, reason)


_STRENGTH: Final = {Verdict.FOLD: 2, Verdict.ASK: 1, Verdict.APART: 0}


def _least(name: Name, star: list[tuple[Entity, Name]], context: Context) -> tuple[Ruling, Entity]:
    """The ruling that says least for one thing, and the member it is on."""
    rulings = [(rules.rule_on(name, known, context), row) for row, known in star]
    return min(rulings, key=lambda pair: _STRENGTH[pair[0].verdict])
