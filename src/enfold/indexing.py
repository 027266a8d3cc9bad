"""Memories and names get their place in the space of an embedding model.

An embedder runs outside every transaction: it may take its time, and nobody waits for it. What it
gave is stored batch by batch, so that whoever is interrupted goes on from there, and nothing is
placed twice in one space.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from enfold.errors import Conflict, Error, Refused, Unavailable
from enfold.model import Indexed, Kind, Memory
from enfold.ports import EVERY, Embedder, Located, Placed, Progress, Reader, Space, Store, Tx

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

BATCH: Final = 500
"""Texts that are placed and stored together: about two seconds' work of a small model."""

NEAR: Final = 20
"""Memories near to one that are looked at: enough that some are left that can be compared."""

UNEVEN: Final = 0.01
"""How far a vector's length may be from 1: what half precision leaves of it is nearer."""

DROPPED: Final = 20_000
"""Vectors of an old space that are deleted in one transaction, so that writers need not wait."""

PLAIN: Final = "A text."
"""What every model of embeddings takes: one that refuses it refuses all."""

NAMED: Final = 10
"""Refused texts that a note names."""

_BOTH: Final[tuple[Placed, Placed]] = ("memory", "name")
_REFUSED: Final = {"memory": "memory", "name": "entity"}
_DOING: Final = {"memory": "placing memories", "name": "placing names"}


def locate(store: Store, embedder: Embedder, query: str) -> Located:
    """Where a query lies.

    Raises:
        Refused: ``other_embedder``.
        Unavailable: a model that can't be reached, or does not answer.
    """
    check(store, embedder)
    (vector,) = _embedded(embedder, [query])
    return Located(embedder.model, vector, embedder.anchor_floor)


def check(store: Store, embedder: Embedder) -> None:
    """See that a graph can be read and written with an embedder; nothing is asked of that.

    Raises:
        Refused: ``other_embedder``.
    """
    with store.read() as tx:
        tx.vectors.space(embedder.model)


@dataclass(frozen=True, slots=True)
class Left:
    """What got no place, by id, each with why."""

    memories: Mapping[int, str]
    names: Mapping[int, str]

    def note(self, memories: Iterable[int], names: Iterable[int]) -> str | None:
        """What is to be said of a text with these memories and new names; None where all of them
        are placed."""
        if why := next((self.memories[one] for one in memories if one in self.memories), None):
            return f"Stored, but not placed by meaning: {why}"
        if why := next((self.names[one] for one in names if one in self.names), None):
            return f"Placed by meaning, but for names that are new: {why}"
        return None


@dataclass(frozen=True, slots=True)
class PlacedSome:
    """How many got their place, and what did not."""

    done: Indexed
    left: Left


def place(
    store: Store,
    embedder: Embedder,
    *,
    memories: Sequence[int] = (),
    names: Sequence[int] = (),
    progress: Progress | None = None,
) -> Indexed:
    """As ``place_some``; the note says what was left for later."""
    some = place_some(store, embedder, memories=memories, names=names, progress=progress)
    return some.done


def place_some(
    store: Store,
    embedder: Embedder,
    *,
    memories: Sequence[int] = (),
    names: Sequence[int] = (),
    progress: Progress | None = None,
) -> PlacedSome:
    """Place what has just been written: those of the memories and rows that have no vector yet.

    What is written is written: an embedder that can't be reached, has other dimensions, or whose
    space is changed for another meanwhile, leaves them for ``index``.

    Raises:
        Refused: ``other_embedder``, before anything is placed.
    """
    done: dict[Placed, int] = {"memory": 0, "name": 0}
    ids: dict[Placed, Sequence[int]] = {"memory": memories, "name": names}
    refused = _none_refused()
    check(store, embedder)
    space = why = None
    try:
        space = _serving(store, embedder)
        for what in _BOTH:
            left = refused[what]
            for count in _fill(store, embedder, space, what, left, progress, ids=ids[what]):
                done[what] += count
    except (Unavailable, Refused, Conflict) as error:
        why = f"{error} “enfold index” places it later."
    reasons = {what: {one: str(said) for one, said in refused[what].items()} for what in _BOTH}
    if why is not None:
        for what, some in _unplaced(store, space, ids).items():
            reasons[what] = dict.fromkeys(some, why) | reasons[what]
    both = Left(reasons["memory"], reasons["name"])
    note = _refusals(refused) if why is None else both.note(memories, names)
    return PlacedSome(Indexed(embedder.model, done["memory"], done["name"], note=note), both)


def _unplaced(
    store: Store, space: Space | None, ids: Mapping[Placed, Sequence[int]]
) -> Mapping[Placed, Iterable[int]]:
    """Those that have no vector in a space; without one, which none could be made, all."""
    if space is None:
        return ids
    with store.read() as tx:
        return {
            what: [one for one, _ in tx.vectors.waiting(space, what, ids=some, limit=len(some))]
            for what, some in ids.items()
        }


def near(tx: Tx, memory: Memory, *, limit: int = NEAR) -> list[tuple[Memory, float]] | None:
    """The active memories nearest to one that are sealed for the same agent, or for none like it,
    each with its cosine, documents aside; None where it is not placed."""
    space = tx.vectors.serving()
    vector = tx.vectors.of(space, "memory", [memory.id]).get(memory.id) if space else None
    if space is None or vector is None:
        return None
    kinds = tuple(kind for kind in Kind if kind != Kind.DOCUMENT)
    reader = Reader(memory.sealed_for, kinds, sealed=memory.sealed_for is not None)
    found = dict(tx.vectors.near_memories(space, vector, reader, limit=limit))
    memories = tx.memories.many(list(found))
    return [(memories[one], cosine) for one, cosine in found.items() if one in memories]


def index(store: Store, embedder: Embedder, *, progress: Progress | None = None) -> Indexed:
    """Place every memory and every name that has no vector yet. A text that the model refuses is
    left out, and the note names it.

    Raises:
        Refused: ``other_embedder``.
        Unavailable: the embedder can't be reached; what was placed stays.
    """
    return _fill_both(store, embedder, _serving(store, embedder), progress)


def reembed(store: Store, embedder: Embedder, *, progress: Progress | None = None) -> Indexed:
    """Change over to another embedder. Its space is filled beside the one that serves, which goes
    on being searched; then it takes its place, and the old one is deleted. Whoever is interrupted
    calls it again, and it goes on.

    Raises:
        Unavailable: the embedder can't be reached; what was placed stays, and the old space serves.
        Conflict: ``changed_meanwhile``: another call changed over to another embedder.
    """
    dimensions = embedder.dimensions
    with store.write() as tx:
        space = tx.vectors.open_space(embedder.model, dimensions)
    done = _fill_both(store, embedder, space, progress)
    with store.write() as tx:
        _must_be_there(tx, space)
        tx.vectors.serve(space)
    late = _fill_both(store, embedder, space, None)  # what others wrote until it served
    _drop_others(store, progress)
    return replace(late, memories=done.memories + late.memories, names=done.names + late.names)


def _serving(store: Store, embedder: Embedder) -> Space:
    with store.read() as tx:
        found = tx.vectors.space(embedder.model)
    if found is not None:
        return found
    dimensions = embedder.dimensions  # some have to ask their model
    with store.write() as tx:
        tx.vectors.space(embedder.model)  # another writer may have been faster
        return tx.vectors.open_space(embedder.model, dimensions)


def _fill_both(
    store: Store, embedder: Embedder, space: Space, progress: Progress | None
) -> Indexed:
    refused = _none_refused()
    counts = {
        what: sum(_fill(store, embedder, space, what, refused[what], progress)) for what in _BOTH
    }
    with store.read() as tx:
        waiting = tx.vectors.count_waiting(space, "memory", most=EVERY)
    note = _refusals(refused)
    return Indexed(embedder.model, counts["memory"], counts["name"], waiting, note=note)


def _fill(
    store: Store,
    embedder: Embedder,
    space: Space,
    what: Placed,
    refused: dict[int, Unavailable],
    progress: Progress | None,
    *,
    ids: Sequence[int] | None = None,
) -> Iterator[int]:
    """Place what waits, batch by batch; how many of each batch were new. What the model refuses
    is put into ``refused``."""
    with store.read() as tx:
        total = tx.vectors.count_waiting(space, what, most=EVERY) if ids is None else len(ids)
    done = 0
    for batch in _batches(store, space, what, ids, refused):
        for waiting, vectors in _taken(embedder, batch, refused):
            with store.write() as tx:
                _must_be_there(tx, space)
                same = _unchanged(tx, space, what, waiting)
                added = tx.vectors.add(space, what, [waiting[at][0] for at in same], vectors[same])
            yield added
        done += len(batch)
        if progress is not None:
            progress(_DOING[what], done, max(total, done))


def _taken(
    embedder: Embedder, waiting: Sequence[tuple[int, str]], refused: dict[int, Unavailable]
) -> Iterator[tuple[Sequence[tuple[int, str]], NDArray[float32]]]:
    """The vectors of what waits. Where the model refuses some, each half is tried by itself, down
    to the single text."""
    try:
        vectors = _embedded(embedder, [text for _, text in waiting])
    except Unavailable as error:
        if error.code != "model_refused":
            raise
        if len(waiting) == 1:
            _embedded(embedder, [PLAIN])
            refused[waiting[0][0]] = error
            return
        half = len(waiting) // 2
        yield from _taken(embedder, waiting[:half], refused)
        yield from _taken(embedder, waiting[half:], refused)
    else:
        yield waiting, vectors


def _none_refused() -> dict[Placed, dict[int, Unavailable]]:
    return {what: {} for what in _BOTH}


def _refusals(refused: dict[Placed, dict[int, Unavailable]]) -> str | None:
    """What the model did not take, by id, and what it said of the first."""
    ids = [(_REFUSED[what], one) for what in _BOTH for one in refused[what]]
    if not ids:
        return None
    said = ", ".join(f"{what} {one}" for what, one in ids[:NAMED])
    more = f" and {len(ids) - NAMED:,} more" if len(ids) > NAMED else ""
    first = next(error for what in _BOTH for error in refused[what].values())
    return f"Not placed by meaning, because the model refuses the text: {said}{more}. {first}"


def _unchanged(tx: Tx, space: Space, what: Placed, waiting: Sequence[tuple[int, str]]) -> list[int]:
    """The places of those that still wait with the text they had: a restore while the embedder was
    at it may have given their ids to other texts."""
    now = dict(tx.vectors.waiting(space, what, ids=[one for one, _ in waiting], limit=len(waiting)))
    return [at for at, (one, text) in enumerate(waiting) if now.get(one) == text]


def _embedded(embedder: Embedder, texts: Sequence[str]) -> NDArray[float32]:
    """A row of length 1 for each text, of any embedder: one that fails, or gives something else,
    must not cost a text that is stored, nor stand among sound vectors.

    Raises:
        Unavailable: ``model_unavailable``, ``model_refused``, ``model_nonsense``.
    """
    import numpy

    try:
        with numpy.errstate(all="ignore"):  # 1e300 is none that float32 can hold
            vectors = numpy.asarray(embedder.embed(texts), numpy.float32)
    except Error:
        raise
    except Exception as error:
        raise Unavailable(
            "model_unavailable",
            f"The embedder {embedder.model} failed with {type(error).__name__}: {error}. Look at "
            "it, or set another.",
        ) from error
    if vectors.ndim != 2 or len(vectors) != len(texts) or not _is_even(vectors):
        raise Unavailable(
            "model_nonsense",
            f"The embedder {embedder.model} does not give one vector of length 1 for each text. "
            "Look at it, or set another.",
        )
    return vectors


def _is_even(vectors: NDArray[float32]) -> bool:
    import numpy

    with numpy.errstate(all="ignore"):
        return bool((abs(numpy.linalg.norm(vectors, axis=1) - 1) <= UNEVEN).all())


def _batches(
    store: Store,
    space: Space,
    what: Placed,
    ids: Sequence[int] | None,
    refused: Collection[int],
) -> Iterator[list[tuple[int, str]]]:
    """What waits in a space, so many at a time; each batch is to be placed before the next."""
    parts = None if ids is None else [ids[at : at + BATCH] for at in range(0, len(ids), BATCH)]
    while parts is None or parts:
        with store.read() as tx:
            among = None if parts is None else parts.pop(0)
            waiting = tx.vectors.waiting(space, what, ids=among, but=refused, limit=BATCH)
        if waiting:
            yield waiting
        elif parts is None:
            return


def _must_be_there(tx: Tx, space: Space) -> None:
    if space not in tx.vectors.spaces():
        raise Conflict(
            "changed_meanwhile",
            "Another call changed the graph over to another embedder meanwhile. Look which one is "
            "set, then repeat.",
        )


def _drop_others(store: Store, progress: Progress | None) -> None:
    """Delete the spaces that are searched no more."""
    dropped = 0
    while True:
        with store.write() as tx:
            serving = tx.vectors.serving()
            others = [space for space in tx.vectors.spaces() if space != serving]
            if not others:
                return
            dropped += tx.vectors.drop(others[0], limit=DROPPED)
        if progress is not None:
            progress("deleting the old space", dropped, 0)
