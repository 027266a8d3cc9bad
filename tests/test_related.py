from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from enfold import folds, lookup, related
from enfold.errors import Invalid
from enfold.model import UNKNOWN, Connection, DecidedBy, Link, Related
from enfold.names import Name
from enfold.store import Store, open_store


@pytest.fixture
def store() -> Iterator[Store]:
    store = open_store(":memory:")
    yield store
    store.close()


def mint(tx: Any, *spellings: str, type: str | None = None) -> list[int]:
    return [lookup.mint(tx, Name.of(spelling), type=type)[0].id for spelling in spellings]


def remember(tx: Any, *rows: int) -> int:
    memory: int = tx.memories.add("text")
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


def test_what_is_stated_stands_before_what_is_mentioned_beside(store: Store) -> None:
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


def test_folded_neighbours_are_one_and_show_their_aliases(store: Store) -> None:
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


def test_a_fact_between_two_spellings_of_one_thing_is_no_link(store: Store) -> None:
    with store.write() as tx:
        one, two = mint(tx, "One", "Uno")
        tx.edges.fact(remember(tx, one, two), one, "is", two)
        fold(tx, two, one)
        answer = ask(tx, "one")
        assert (answer.related, answer.note) == ((), UNKNOWN)


def test_a_type_chooses_among_neighbours(store: Store) -> None:
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


def test_a_type_is_one_in_whatever_case(store: Store) -> None:
    with store.write() as tx:
        (ada, bo), (city,) = mint(tx, "Ada", "Bo", type="Person"), mint(tx, "London", type="Ort")
        (bare,) = mint(tx, "Thing")
        remember(tx, ada, bo, city, bare)
        for kind in ("person", "Person", "PERSON"):
            assert [one.entity.id for one in ask(tx, "ada", type=kind).related] == [bo]
        assert ask(tx, "ada", type="").related[0].entity.id == bare
        none = ask(tx, "ada", type="planet")
        assert (none.related, none.note, none.truncated) == ((), UNKNOWN, False)


@pytest.mark.parametrize("limit", [0, -1, -(10**30)])
@pytest.mark.parametrize("depth", [1, 2])
def test_where_no_neighbours_are_asked_for_none_is_missed(
    store: Store, limit: int, depth: int
) -> None:
    with store.write() as tx:
        ada, bo, cy = mint(tx, "Ada", "Bo", "Cy", type="person")
        alone = mint(tx, "Dee")
        remember(tx, ada, bo)
        remember(tx, bo, cy)
        answer = ask(tx, "ada", limit=limit, depth=depth)
        assert (answer.related, answer.truncated, answer.note) == ((), True, None)
        assert ask(tx, "ada", limit=limit, depth=depth, type="planet").note == UNKNOWN
        missed = related.related(tx, lookup.follow(tx, alone[0]), limit=limit, depth=depth)
        assert (missed.truncated, missed.note) == (False, UNKNOWN)


def test_a_memory_that_no_longer_holds_relates_nothing(store: Store) -> None:
    with store.write() as tx:
        one, two = mint(tx, "One", "Two")
        memory = remember(tx, one, two)
        tx.edges.fact(memory, one, "is", two)
        tx.memories.set_status(memory, "stale")
        assert ask(tx, "one").related == ()
        stored = tx.memories.get(memory)
        assert stored is not None
        assert stored.status == "stale"
        tx.memories.set_status(memory, "active")
        assert len(ask(tx, "one").related) == 1


def test_the_neighbourhood_of_a_hub_is_cut_and_says_so(
    store: Store, monkeypatch: pytest.MonkeyPatch
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


# ---- more than one hop ----


def names(answer: Related) -> list[tuple[str, int, tuple[str, ...]]]:
    return [(n.entity.name, n.hop, n.through) for n in answer.related]


def test_neighbours_of_neighbours_come_after_them_with_the_way_to_them(store: Store) -> None:
    with store.write() as tx:
        ada, engine, london, babbage, thames = mint(
            tx, "Ada", "Engine", "London", "Babbage", "Thames"
        )
        tx.edges.fact(remember(tx, ada), ada, "wrote about", engine)
        remember(tx, ada, london)
        remember(tx, engine, babbage)
        remember(tx, london, babbage, thames)
        assert names(ask(tx, "ada")) == [("Engine", 1, ()), ("London", 1, ())]
        assert names(ask(tx, "ada", depth=2)) == [
            ("Engine", 1, ()),
            ("London", 1, ()),
            ("Babbage", 2, ("Engine",)),
            ("Thames", 2, ("London",)),
        ]


def test_of_two_ways_as_long_the_one_with_a_stated_last_step_is_told(store: Store) -> None:
    with store.write() as tx:
        ada, one, two, far = mint(tx, "Ada", "One", "Two", "Far")
        remember(tx, ada, one)
        remember(tx, ada, two)
        remember(tx, one, far)
        tx.edges.fact(remember(tx, far), far, "part of", two, confidence=0.7)
        (reached,) = (n for n in ask(tx, "ada", depth=3).related if n.hop > 1)
        assert (reached.entity.name, reached.hop, reached.through) == ("Far", 2, ("Two",))
        assert reached.links == (Link("part of", "in", 0.7, 1),)


def test_hops_follow_folds_reverts_and_renames(store: Store) -> None:
    with store.write() as tx:
        ada, ibm, big_blue, watson = mint(tx, "Ada", "IBM", "Big Blue", "Watson")
        remember(tx, ada, ibm)
        remember(tx, big_blue, watson)
        assert names(ask(tx, "ada", depth=3)) == [("IBM", 1, ())]
        merge = fold(tx, big_blue, ibm)
        assert names(ask(tx, "ada", depth=3)) == [("IBM", 1, ()), ("Watson", 2, ("IBM",))]
        folds.rename(tx, tx.entities.many([ibm])[ibm], Name.of("The Firm"), actor=None)
        assert names(ask(tx, "ada", depth=3))[1] == ("Watson", 2, ("The Firm",))
        folds.revert(tx, merge)
        assert names(ask(tx, "ada", depth=3)) == [("The Firm", 1, ())]


def test_a_type_chooses_what_is_shown_and_not_the_way_to_it(store: Store) -> None:
    with store.write() as tx:
        (ada,) = mint(tx, "Ada", type="person")
        (paper,) = mint(tx, "Paper", type="project")
        (byron,) = mint(tx, "Byron", type="person")
        remember(tx, ada, paper)
        remember(tx, paper, byron)
        assert names(ask(tx, "ada", depth=2, type="person")) == [("Byron", 2, ("Paper",))]


def test_the_limit_is_for_each_hop_and_a_cut_is_said(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.write() as tx:
        ada, *others = mint(tx, "Ada", *(f"other {at}" for at in range(6)))
        for near in others[:3]:
            remember(tx, ada, near)
            remember(tx, near, *others[3:])
        whole = ask(tx, "ada", depth=2)
        assert ([n.hop for n in whole.related], whole.truncated) == ([1, 1, 1, 2, 2, 2], False)
        short = ask(tx, "ada", depth=2, limit=2)
        assert ([n.hop for n in short.related], short.truncated) == ([1, 1, 2, 2], True)
        monkeypatch.setattr(related, "FAR_ENTITIES", 1)
        assert ask(tx, "ada", depth=2).truncated
        monkeypatch.setattr(related, "FAR_ENTITIES", 50)
        monkeypatch.setattr(related, "FAR_MENTIONS", 2)
        assert ask(tx, "ada", depth=2).truncated


@pytest.mark.parametrize(("limit", "told"), [(-1, 0), (0, 0), (2**63 - 1, 1), (10**30, 1)])
def test_any_limit_is_one(store: Store, limit: int, told: int) -> None:
    with store.write() as tx:
        remember(tx, *mint(tx, "Ada", "Bob"))
        assert len(ask(tx, "ada", limit=limit).related) == told


@pytest.mark.parametrize("depth", [0, -1, related.HOPS + 1])
def test_hops_that_can_not_be_looked_at_are_refused(store: Store, depth: int) -> None:
    with store.write() as tx:
        mint(tx, "Ada", "Bob")
        for verb in (lambda: ask(tx, "ada", depth=depth), lambda: connect(tx, "ada", "bob", depth)):
            with pytest.raises(Invalid) as refused:
                verb()
            assert refused.value.code == "bad_hops"


# ---- connections ----


def connect(tx: Any, left: str, right: str, most: int = related.HOPS) -> Connection:
    return related.path(tx, lookup.follow(tx, left), lookup.follow(tx, right), max_depth=most)


def way(found: Connection) -> list[tuple[str, str | None, str | None]]:
    return [(step.entity.name, step.relation, step.direction) for step in found.steps]


def test_a_connection_says_each_step_with_a_memory_that_shows_it(store: Store) -> None:
    with store.write() as tx:
        ada, engine, babbage = mint(tx, "Ada", "Engine", "Babbage")
        first = remember(tx, ada, engine)
        second = remember(tx, babbage)
        tx.edges.fact(second, babbage, "built", engine, confidence=0.8)
        found = connect(tx, "ada", "babbage")
        assert way(found) == [("Engine", None, None), ("Babbage", "built", "in")]
        assert [step.memory_id for step in found.steps] == [first, second]
        assert [step.confidence for step in found.steps] == [None, 0.8]
        assert (found.truncated, found.note) == (False, None)
        back = connect(tx, "babbage", "ada")
        assert way(back) == [("Engine", "built", "out"), ("Ada", None, None)]


def test_of_connections_as_short_the_one_that_is_stated_is_told(store: Store) -> None:
    with store.write() as tx:
        a, b, c, d, stated = mint(tx, "A1", "B1", "C1", "D1", "Stated")
        for middle in (b, c, d):
            remember(tx, a, middle)
            remember(tx, middle, stated)
        tx.edges.fact(remember(tx), c, "uses", stated)
        assert way(connect(tx, "a1", "stated")) == [("C1", None, None), ("Stated", "uses", "out")]
        tx.edges.fact(remember(tx), a, "has", stated)
        assert way(connect(tx, "a1", "stated")) == [("Stated", "has", "out")]


def test_connections_follow_folds_and_reverts(store: Store) -> None:
    with store.write() as tx:
        ada, ibm, big_blue, watson = mint(tx, "Ada", "IBM", "Big Blue", "Watson")
        remember(tx, ada, ibm)
        remember(tx, big_blue, watson)
        assert connect(tx, "ada", "watson").steps == ()
        merge = fold(tx, big_blue, ibm)
        assert [name for name, *_ in way(connect(tx, "ada", "watson"))] == ["IBM", "Watson"]
        assert connect(tx, "big blue", "ibm").note == "Both names lead to one entity."
        folds.revert(tx, merge)
        assert connect(tx, "ada", "watson").steps == ()


def test_a_connection_that_is_not_found_proves_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.write() as tx:
        chain = mint(tx, *(f"link {at}" for at in range(9)))
        for one, other in pairwise(chain):
            remember(tx, one, other)
        assert len(connect(tx, "link 0", "link 6").steps) == 6
        far = connect(tx, "link 0", "link 7")
        assert (far.steps, far.truncated) == ((), False)
        assert far.note == "No connection was found within 6 hops; a miss proves nothing."
        assert connect(tx, "link 0", "link 2", 1).steps == ()
        monkeypatch.setattr(related, "PATH_ENTITIES", 2)
        given_up = connect(tx, "link 0", "link 6")
        assert (given_up.steps, given_up.truncated) == ((), True)
        assert given_up.note is not None
        assert "Not everything was looked at" in given_up.note


def shortest(edges: dict[tuple[int, int], bool], left: int, right: int) -> tuple[int, int] | None:
    """(steps, stated ones among them) of the best connection, from the definition."""
    best = {left: (0, 0)}
    for _ in range(related.HOPS):
        for (one, other), stated in edges.items():
            for at, to in ((one, other), (other, one)):
                if at in best:
                    found = (best[at][0] + 1, best[at][1] + stated)
                    if to not in best or (found[0], -found[1]) < (best[to][0], -best[to][1]):
                        best = {**best, to: found}
    return best.get(right)


@pytest.mark.parametrize("seed", range(20))
def test_no_connection_is_shorter_than_that_told_nor_stated_more(store: Store, seed: int) -> None:
    random = Random(seed)
    with store.write() as tx:
        rows = mint(tx, *(f"thing {at}" for at in range(14)))
        edges: dict[tuple[int, int], bool] = {}
        for _ in range(18):
            one, other = sorted(random.sample(rows, 2))
            stated = random.random() < 0.4
            memory = remember(tx, one, other)
            if stated:
                tx.edges.fact(memory, one, "r", other)
            edges[one, other] = stated or edges.get((one, other), False)
        for other in range(1, 14):
            found = connect(tx, "thing 0", f"thing {other}")
            expected = shortest(edges, rows[0], rows[other])
            if expected is None or expected[0] > related.HOPS:
                assert found.steps == ()
            else:
                told = sum(step.relation is not None for step in found.steps)
                assert (len(found.steps), told) == expected
