"""Memories that answer a query: by meaning, by exact words and by the things it names.

Three arms rank memories, each on its own, and are joined by reciprocal rank fusion: a memory's
score is the sum over the arms of weight / (60 + rank). The vector arm ranks by cosine, the keyword
arm by BM25, the entity arm by the anchors that a memory mentions. An arm that has nothing to say
abstains, and says why.

Anchors are found by spellings, absorbed ones among them, and followed to their entities before
anything is counted: a query in an old spelling reaches all that is known of the thing, and two
spellings of one thing take one place of ten. Labels (area, topic, title) are never read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from math import inf
from numbers import Real
from typing import TYPE_CHECKING, Final

from enfold import names
from enfold.errors import Invalid
from enfold.known import Known
from enfold.model import UNKNOWN, Anchor, Kind, Recalled, Recollection
from enfold.ports import Located, Reader, Space, Tx
from enfold.spotting import Spotted
from enfold.wording import STOP_WORDS, content_words, words

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

LONGEST: Final = 2_000
"""Characters of a query: a model reads about half of that."""

ANCHORS: Final = 10
"""Entities that a query attaches to at most."""

FAN_OUT: Final = 200
"""Memories of an anchor that are looked at, the latest: a hub would bring thousands."""

DEPTH: Final = 100
"""Ranks of an arm that count; from there on 1 / (60 + rank) hardly falls."""

K: Final = 60
"""The constant of reciprocal rank fusion, as Cormack, Clarke and Büttcher chose it (SIGIR 2009)."""

EMPTY: Final = f"{UNKNOWN} No memory can be recalled yet: enfold remember stores one."

LATEST: Final = 10_000
"""Memories that are scored by their words, the latest: 18 ms where 100,000 have a word."""

SAMPLE: Final = 4_000
"""Memories, the latest, that say whether a word of more than ``LATEST`` tells memories apart: to
count one exactly takes time that grows with the graph, and a query may have many."""

TOGETHER: Final = 8
"""Such words that are sought together, the rarest."""

FEW: Final = 10
"""A word in no more memories than these is common in no graph, however small."""

WORDS: Final = 64
"""Words of a query that are looked up, and names in it, the first."""

MOST: Final = 1_000
"""Memories that are recalled at once."""

COUNTED: Final = 10_000
"""Memories that are looked at to count those without a vector."""

UNASKED: Final = "It weighs nothing, so it was not asked."
"""Why an arm says nothing that has no weight."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What the arms weigh against each other; at 0 an arm is not asked.

    Raises:
        Invalid: ``bad_weight``: one that is no number from 0.
    """

    vector: float = 1.0
    keyword: float = 2.0
    entity: float = 0.5

    def __post_init__(self) -> None:
        for arm in fields(self):
            weight = getattr(self, arm.name)
            if not _is_weight(weight):
                raise Invalid(
                    "bad_weight",
                    f"The arm {arm.name} can't weigh {_short(weight)}; give a number from 0.",
                )


def _is_weight(weight: object) -> bool:
    if isinstance(weight, bool) or not isinstance(weight, Real):
        return False
    try:
        return 0 <= float(weight) < inf
    except OverflowError:
        return False


def _short(value: object) -> str:
    try:
        said = repr(value)
    except ValueError:  # a number of more digits than Python writes
        return "so much"
    return said if len(said) <= 40 else f"{said[:40]}…"


@dataclass(frozen=True, slots=True, eq=False)
class _QueryVector:
    """Where the query lies in the space that is searched."""

    space: Space
    vector: NDArray[float32]
    floor: float


@dataclass(frozen=True, slots=True)
class _Arm:
    """What an arm found: memories, best first; or why it abstains."""

    ids: Sequence[int] = ()
    why: str | None = None


def recall(
    tx: Tx,
    query: str,
    *,
    located: Located | None = None,
    agent: str | None = None,
    limit: int = 10,
    kinds: Sequence[str] | None = None,
    weights: Weights | None = None,
    unplaced: str | None = None,
) -> Recalled:
    """The memories that answer a query, best first.

    Args:
        located: where the query lies (see ``indexing.locate``); None leaves the vector arm out.
        agent: who asks; None sees nothing that is sealed.
        limit: how many at most, up to ``MOST``; below 0 as 0.
        kinds: only memories of these kinds.
        unplaced: why the query has no vector.

    Raises:
        Invalid: ``blank_query``, ``query_too_long``, ``bad_kind``.
        Refused: ``other_embedder``.
    """
    asked, weights = checked(query), weights or Weights()
    reader = Reader(agent or None, None if kinds is None else checked_kinds(kinds))
    limit = max(0, min(limit, MOST))
    depth = max(DEPTH, 2 * limit)
    asked_at = _query_vector(tx, located)
    spotted = _spotted(tx, asked)
    anchors = _anchors(tx, spotted, [] if asked_at is None else _near(tx, asked_at))
    cosines: dict[int, float] = {}
    if asked_at is not None and weights.vector:
        near = tx.vectors.near_memories(asked_at.space, asked_at.vector, reader, limit=depth)
        cosines = {memory_id: cosine for memory_id, cosine in near if cosine > 0}
    touched = _touched(tx, anchors, reader) if weights.entity else {}
    arms = {
        "vector": _vector(asked_at, cosines, unplaced) if weights.vector else _Arm(why=UNASKED),
        "keyword": _keyword(tx, asked, spotted, reader, depth)
        if weights.keyword
        else _Arm(why=UNASKED),
        "entity": _entity(anchors, touched, depth) if weights.entity else _Arm(why=UNASKED),
    }
    scores = _fused(arms, weights)
    best = sorted(scores, key=lambda one: (-scores[one], one))[:limit]
    serving = tx.vectors.serving()
    waiting = tx.vectors.count_waiting(serving, "memory", most=COUNTED, reader=reader)
    missed = not scores and limit > 0
    empty = missed and kinds is None and not tx.memory_words.count(reader, most=1)
    return Recalled(
        asked,
        _recollections(tx, best, scores, arms, _cosines(tx, asked_at, best), touched),
        anchors,
        {name: arm.why for name, arm in arms.items() if arm.why is not None},
        waiting,
        EMPTY if empty else _note(missed, unplaced if asked_at is None else None, waiting),
    )


def checked(query: str) -> str:
    """The query as it is asked.

    Raises:
        Invalid: ``blank_query``, ``query_too_long``.
    """
    if not isinstance(query, str):
        raise Invalid("blank_query", f"{_short(query)} is no query; say what to look for in words.")
    if len(query) > LONGEST:
        raise Invalid(
            "query_too_long",
            f"The query has {len(query):,} characters, and a query at most {LONGEST:,}. Ask for "
            "one thing at a time.",
        )
    asked = names.clean(query)
    if not asked:
        raise Invalid("blank_query", "The query is blank; say what to look for.")
    return asked


def checked_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """The kinds, each once.

    Raises:
        Invalid: ``bad_kind``.
    """
    for kind in kinds:
        if kind not in set(Kind):
            every = ", ".join(Kind)
            raise Invalid("bad_kind", f"{kind!r} is no kind of memory; there are: {every}.")
    return tuple(dict.fromkeys(kinds))


def _query_vector(tx: Tx, located: Located | None) -> _QueryVector | None:
    space = None if located is None else tx.vectors.space(located.model, len(located.vector))
    if located is None or space is None:
        return None
    return _QueryVector(space, located.vector, located.anchor_floor)


# ---- the arms -----------------------------------------------------------------------------------


def _vector(asked_at: _QueryVector | None, cosines: dict[int, float], unplaced: str | None) -> _Arm:
    if asked_at is None:
        return _Arm(why=unplaced or "Nothing has its place by meaning yet.")
    return _Arm(list(cosines)) if cosines else _Arm(why="Nothing lies near the query.")


def _keyword(tx: Tx, asked: str, spotted: Sequence[Spotted], reader: Reader, depth: int) -> _Arm:
    """By BM25, over the words that tell memories apart; names in the query count twice."""
    sought = content_words(asked)[:WORDS]
    phrases = [*sought, *(words(spot.spelling).casefold() for spot in spotted[:WORDS])]
    held = {
        one: tx.memory_words.holding(one, reader, most=LATEST + 1) for one in dict.fromkeys(phrases)
    }
    known = [one for one in phrases if held[one]]
    if not known:
        return _Arm(why="No word of the query stands in any memory.")
    rare = _rarest([one for one in known if held[one] <= LATEST], held)
    if rare := _uncommon(tx, reader, rare, held):
        found = tx.memory_words.search(rare, reader, limit=depth, latest=LATEST)
        return _Arm([memory_id for memory_id, _ in found])
    # In a large graph a word may be in too many memories to score and yet tell some apart.
    telling = _telling(tx, reader, [one for one in known if held[one] > LATEST])
    if not telling:
        return _Arm(why="The words of the query stand in more than a quarter of the memories.")
    found = tx.memory_words.search(telling, reader, limit=depth, latest=LATEST, every=True)
    if len(found) < depth:
        found += tx.memory_words.search(telling[:1], reader, limit=depth, latest=LATEST)
    return _Arm(list(dict.fromkeys(memory_id for memory_id, _ in found))[:depth])


def _rarest(phrases: Sequence[str], held: dict[str, int]) -> list[str]:
    """The rarest of the phrases, as far as what they bring can be scored."""
    chosen: list[str] = []
    brought = 0
    for one in sorted(phrases, key=lambda phrase: (held[phrase], phrase)):
        brought += held[one]
        if chosen and brought > LATEST:
            break
        chosen.append(one)
    return chosen


def _uncommon(tx: Tx, reader: Reader, phrases: Sequence[str], held: dict[str, int]) -> list[str]:
    """Those of the phrases that no more than a quarter of the memories have."""
    most = max((held[one] for one in phrases), default=0)
    quarter = tx.memory_words.count(reader, most=4 * most) // 4 if most > FEW else FEW
    return [one for one in phrases if held[one] <= max(FEW, quarter)]


def _telling(tx: Tx, reader: Reader, phrases: Sequence[str]) -> list[str]:
    """Of phrases that more than ``LATEST`` memories have, the few that tell some apart, the rarest
    first. Where they may be less than a quarter, the latest memories stand for all."""
    few = 4 * (LATEST + 1)
    if not phrases or tx.memory_words.count(reader, most=few) < few:
        return []
    since, most = tx.memory_words.since(reader, SAMPLE), SAMPLE // 4
    counted = {
        one: tx.memory_words.holding(one, reader, most=most + 1, since=since)
        for one in dict.fromkeys(phrases)
    }
    telling = [one for one, count in counted.items() if count <= most]
    return sorted(telling, key=lambda one: (counted[one], one))[:TOGETHER]


def _entity(anchors: Sequence[Anchor], touched: dict[int, list[Anchor]], depth: int) -> _Arm:
    """By how many anchors a memory mentions, then the rarest of them, then the latest."""
    if not anchors:
        return _Arm(why="The query names nothing that the graph knows, and no name lies near it.")

    def rank(memory_id: int) -> tuple[int, int, int]:
        by = touched[memory_id]
        return -len(by), min(anchor.entity.mentions for anchor in by), -memory_id

    found = sorted(touched, key=rank)[:depth]
    return _Arm(found) if found else _Arm(why="No memory mentions what the query names.")


def _touched(tx: Tx, anchors: Sequence[Anchor], reader: Reader) -> dict[int, list[Anchor]]:
    touched: dict[int, list[Anchor]] = defaultdict(list)
    for anchor in anchors:
        root = anchor.entity.canonical_id
        for memory_id in tx.memory_words.mentioning(root, reader, limit=FAN_OUT):
            touched[memory_id].append(anchor)
    return dict(touched)


# ---- anchors ------------------------------------------------------------------------------------


def _spotted(tx: Tx, asked: str) -> list[Spotted]:
    """The names in a query. Who asks may leave capitals out, which a text is not forgiven."""
    titled = re.sub(r"\b\w", lambda letter: letter.group().upper(), asked)
    spotter = Known(tx, len(asked), any_join=True).in_texts([asked])
    found = {spot.ids: spot for spot in spotter.spot(asked)}
    for spot in spotter.spot(titled):
        if spot.spelling.casefold() not in STOP_WORDS:
            found.setdefault(spot.ids, spot)
    return sorted(found.values(), key=lambda spot: spot.word)


def _near(tx: Tx, asked_at: _QueryVector) -> list[tuple[int, float]]:
    """(row, cosine) of the names that lie near enough to a query, until they lead to as many
    entities as are wanted."""
    limit = 5 * ANCHORS
    while True:
        near = tx.vectors.near_names(asked_at.space, asked_at.vector, limit=limit)
        close = [(row, cosine) for row, cosine in near if cosine >= asked_at.floor]
        roots = tx.entities.roots([row for row, _ in close])
        if len(close) < limit or len(set(roots.values())) >= ANCHORS:
            return close
        limit *= 4


def _anchors(
    tx: Tx, spotted: Sequence[Spotted], near: Sequence[tuple[int, float]]
) -> tuple[Anchor, ...]:
    """The entities that the names lead to, each once: those in the query first."""
    named: list[tuple[int, float | None]] = [(row, None) for s in spotted for row in s.ids]
    hits = [*named, *near]
    roots = tx.entities.roots([row for row, _ in hits])
    first: dict[int, tuple[int, float | None]] = {}
    for row, cosine in hits:
        if row in roots:
            first.setdefault(roots[row], (row, cosine))
    chosen = list(first.items())[:ANCHORS]
    rows = tx.entities.many([one for root, (row, _) in chosen for one in (root, row)])
    return tuple(
        Anchor(
            rows[root],
            rows[row].spelling,
            "name" if cosine is None else "meaning",
            cosine,
            rows[row].spelling != rows[root].name,
        )
        for root, (row, cosine) in chosen
    )


# ---- what is given back -------------------------------------------------------------------------


def _fused(arms: dict[str, _Arm], weights: Weights) -> dict[int, float]:
    scores: dict[int, float] = defaultdict(float)
    for name, arm in arms.items():
        weight = float(getattr(weights, name))
        for rank, memory_id in enumerate(arm.ids, 1):
            scores[memory_id] += weight / (K + rank)
    return scores


def _cosines(tx: Tx, asked_at: _QueryVector | None, ids: Sequence[int]) -> dict[int, float]:
    if asked_at is None:
        return {}
    found = tx.vectors.of(asked_at.space, "memory", ids)
    return {memory_id: round(float(one @ asked_at.vector), 4) for memory_id, one in found.items()}


def _recollections(
    tx: Tx,
    best: Sequence[int],
    scores: dict[int, float],
    arms: dict[str, _Arm],
    cosines: dict[int, float],
    touched: dict[int, list[Anchor]],
) -> tuple[Recollection, ...]:
    ranks: dict[int, dict[str, int]] = defaultdict(dict)
    for name, arm in arms.items():
        for rank, memory_id in enumerate(arm.ids, 1):
            ranks[memory_id][name] = rank
    memories = tx.memories.many(best)
    return tuple(
        Recollection(
            memories[one],
            round(scores[one], 6),
            ranks[one],
            cosines.get(one),
            tuple(touched.get(one, ())),
        )
        for one in best
        if one in memories
    )


def _note(missed: bool, unplaced: str | None, waiting: int) -> str | None:
    said: list[str] = [UNKNOWN] if missed else []
    if unplaced is not None:
        said.append(f"Nothing was found by meaning: {unplaced}")
    elif waiting:
        more = "at least " if waiting == COUNTED else ""
        they = "memory has" if waiting == 1 else "memories have"
        said.append(
            f"{more}{waiting:,} {they} no vector yet and can't be found by meaning: enfold index."
        )
    return _sentences(said)


def _sentences(said: Iterable[str]) -> str | None:
    return " ".join(one[0].upper() + one[1:] for one in said) or None
