from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from enfold import folds, lookup, related
from enfold.model import UNKNOWN, DecidedBy, Link, Related
from enfold.names import Name
from enfold.store import SqliteStore, open_store


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    store = open_store(":memory:")
    yield store
    store.close()


def mint(tx: Any, *spellings: str, type: str | None = None) -> list[int]:
    return [lookup.mint(tx, Name.of(spelling), type=type)[0].id for spelling in spellings]


def remember(tx: Any, *rows: int) -> int:
    memory: int = tx.edges.add_memory("text")
    for row in rows:
        tx.edges.mention(memory, row, "x")
    return memory


def fold(tx: Any, absorbed: int, canonical: int) -> int:
    rows = tx.entities.many([absorbed, canonical])
    return folds.fold(
        tx,
        rows[absorbed],
        rows[canonical],
        decided_by=DecidedBy.HUMAN,
        rule="test",
        score=1.0,
        reason="",
    ).id


def ask(tx: Any, spelling: str, **kwargs: Any) -> Related:
    return related.related(tx, lookup.follow(tx, spelling), **kwargs)


def test_what_is_stated_stands_before_what_is_mentioned_beside(store: SqliteStore) -> None:
    with store.write() as tx:
        ada, engine, london, byron = mint(tx, "Ada", "Engine", "London", "Byron")
        for _ in range(3):
            remember(tx, ada, london)
        one = remember(tx, ada, engine)
        tx.edges.fact(one, ada, "wrote about", engine, confidence=0.6)
        two = remember(tx, ada)
        tx.edges.fact(two, ada, "wrote about", engine, confidence=0.9)
        tx.edges.fact(two, byron, "father of", ada)
        answer = ask(tx, "ada")
        assert [n.entity.name for n in answer.related] == ["Engine", "Byron", "London"]
        assert answer.related[0].links == (Link("wrote about", "out", 0.9, 2),)
        assert answer.related[1].links == (Link("father of", "in", 1.0, 1),)
        assert [n.shared_sources for n in answer.related] == [1, 0, 3]
        assert not answer.truncated
        assert answer.note is None


def test_folded_neighbours_are_one_and_show_their_aliases(store: SqliteStore) -> None:
    with store.write() as tx:
        ada, ibm, big_blue = mint(tx, "Ada", "IBM", "Big Blue")
        memory = remember(tx, ada, ibm, big_blue)
        tx.edges.fact(memory, ada, "uses", ibm)
        tx.edges.fact(memory, ada, "uses", big_blue)
        merge = fold(tx, big_blue, ibm)
        (neighbour,) = ask(tx, "ada").related
        assert (neighbour.entity.id, neighbour.aliases) == (ibm, ("Big Blue",))
        assert (neighbour.shared_sources, neighbour.links[0].sources) == (1, 1)
        assert [n.entity.name for n in ask(tx, "big blue").related] == ["Ada"]
        folds.revert(tx, merge)
        assert len(ask(tx, "ada").related) == 2


def test_a_fact_between_two_spellings_of_one_thing_is_no_link(store: SqliteStore) -> None:
    with store.write() as tx:
        one, two = mint(tx, "One", "Uno")
        tx.edges.fact(remember(tx, one, two), one, "is", two)
        fold(tx, two, one)
        answer = ask(tx, "one")
        assert (answer.related, answer.note) == ((), UNKNOWN)


def test_a_type_chooses_among_neighbours(store: SqliteStore) -> None:
    with store.write() as tx:
        (ada,) = mint(tx, "Ada")
        people = mint(tx, "Byron", "Babbage", type="person")
        places = mint(tx, "London", type="place")
        remember(tx, ada, *people, *places)
        answer = ask(tx, "ada", type="place")
        assert [n.entity.name for n in answer.related] == ["London"]
        assert ask(tx, "ada", type="river").note == UNKNOWN
        cut = ask(tx, "ada", limit=2)
        assert (len(cut.related), cut.truncated) == (2, True)


def test_a_memory_that_no_longer_holds_relates_nothing(store: SqliteStore) -> None:
    with store.write() as tx:
        one, two = mint(tx, "One", "Two")
        memory = remember(tx, one, two)
        tx.edges.fact(memory, one, "is", two)
        tx.edges.set_status(memory, "stale")
        assert ask(tx, "one").related == ()
        stored = tx.edges.memory(memory)
        assert stored is not None
        assert stored.status == "stale"
        tx.edges.set_status(memory, "active")
        assert len(ask(tx, "one").related) == 1


def test_the_neighbourhood_of_a_hub_is_cut_and_says_so(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(related, "MOST_MEMORIES", 3)
    monkeypatch.setattr(related, "MOST_FACTS", 2)
    with store.write() as tx:
        hub, *others = mint(tx, "Hub", *(f"other {at}" for at in range(5)))
        for other in others:
            tx.edges.fact(remember(tx, hub, other), hub, "near", other)
        answer = ask(tx, "hub")
        assert answer.truncated
        assert sum(n.shared_sources for n in answer.related) == 3
        assert sum(len(n.links) for n in answer.related) == 2
