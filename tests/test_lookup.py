from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import enfold
from enfold import folds, lookup
from enfold.errors import Conflict, Invalid, NotFound
from enfold.model import UNKNOWN, Ambiguous, DecidedBy, Entity, Found, Unknown
from enfold.names import Name
from enfold.ports import NewRow, Tx
from enfold.store import Store, open_store


@pytest.fixture
def store() -> Iterator[Store]:
    store = open_store(":memory:")
    yield store
    store.close()


def mint(tx: Any, *spellings: str) -> list[int]:
    return [lookup.mint(tx, Name.of(spelling))[0].id for spelling in spellings]


def fold(tx: Any, absorbed: int, canonical: int) -> None:
    rows = tx.entities.many([absorbed, canonical])
    folds.fold(
        tx,
        rows[absorbed],
        rows[canonical],
        decided_by=DecidedBy.HUMAN,
        rule="test",
        score=1.0,
        reason="",
    )


def find(tx: Any, spelling: str) -> Found | Ambiguous | Unknown:
    return lookup.find(tx, Name.of(spelling))


def test_a_name_is_found_in_any_case_and_by_its_letters(store: Store) -> None:
    with store.write() as tx:
        (row,) = mint(tx, "Post-greSQL")
        for spelling in ("post-GRESQL", "PostgreSQL", "@Post-greSQL", " post-gresql "):
            found = find(tx, spelling)
            assert isinstance(found, Found)
            assert (found.entity.id, found.matched, found.alias) == (row, "Post-greSQL", False)


def test_a_folded_spelling_leads_to_its_entity_and_says_so(store: Store) -> None:
    with store.write() as tx:
        old, new = mint(tx, "Big Blue", "IBM")
        fold(tx, old, new)
        found = find(tx, "big blue")
        assert isinstance(found, Found)
        assert (found.entity.id, found.asked, found.matched) == (new, "big blue", "Big Blue")
        assert (found.alias, found.row_id) == (True, old)


def test_a_name_that_fits_several_leads_to_none(store: Store) -> None:
    with store.write() as tx:
        one = lookup.mint(tx, Name.of("Li Wei"), type="person")[0]
        two, made = lookup.mint(tx, Name.of("Li Wei"), type="person", homonym=True)
        assert made
        assert two.sense == 1
        found = find(tx, "li wei")
        assert isinstance(found, Ambiguous)
        assert [e.id for e in found.candidates] == [one.id, two.id]
        with pytest.raises(Conflict) as error:
            lookup.follow(tx, "Li Wei")
        assert f"id:{two.id}" in str(error.value)
        with pytest.raises(Conflict):
            lookup.mint(tx, Name.of("Li Wei"))
        assert lookup.follow(tx, f"id:{two.id}").entity.id == two.id
        fold(tx, two.id, one.id)
        assert lookup.follow(tx, "Li Wei").entity.id == one.id
        assert lookup.mint(tx, Name.of("Li Wei")) == (tx.entities.get(one.id), False)


def test_a_type_tells_homonyms_apart(store: Store) -> None:
    with store.write() as tx:
        lookup.mint(tx, Name.of("Tesla"), type="person")
        company, _ = lookup.mint(tx, Name.of("Tesla"), type="company", homonym=True)
        assert lookup.follow(tx, "tesla", type="company").entity.id == company.id


def test_letters_that_lead_to_two_entities_lead_to_none(store: Store) -> None:
    with store.write() as tx:
        one, two = mint(tx, "Acme Corp", "AcmeCorp")
        found = find(tx, "Acme-Corp")
        assert isinstance(found, Ambiguous)
        assert [e.id for e in found.candidates] == [one, two]
        exact = find(tx, "acme corp")
        assert isinstance(exact, Found)
        assert exact.entity.id == one


@pytest.mark.parametrize(
    ("known", "asked"), [("Go", "G.o"), ("C", "C++"), ("S9", "S9+"), ("🦊", "🐻"), ("a!", "a")]
)
def test_what_differs_in_more_than_dress_is_unknown(store: Store, known: str, asked: str) -> None:
    with store.write() as tx:
        mint(tx, known)
        assert isinstance(find(tx, asked), Unknown)
        assert isinstance(find(tx, known), Found)


def test_a_miss_means_unknown_and_names_what_is_near(store: Store) -> None:
    with store.write() as tx:
        mint(tx, "PostgreSQL")

        def nearest(tx: Tx, name: Name) -> list[Entity]:
            return tx.entities.live()

        found = lookup.find(tx, Name.of("Postgre"), nearest=nearest)
        assert isinstance(found, Unknown)
        assert (found.note, [e.name for e in found.nearest]) == (UNKNOWN, ["PostgreSQL"])
        with pytest.raises(NotFound) as error:
            lookup.follow(tx, "Postgre", nearest=nearest)
        assert error.value.code == "unknown"
        assert UNKNOWN in str(error.value)
        assert "PostgreSQL" in str(error.value)


def test_a_number_is_a_name_first_and_an_id_second(store: Store) -> None:
    with store.write() as tx:
        alpha, two = mint(tx, "Alpha", "1")
        assert lookup.follow(tx, "1").entity.id == two
        assert lookup.follow(tx, 1).entity.id == alpha
        assert lookup.follow(tx, "id:1").entity.id == alpha
        assert lookup.follow(tx, "2").entity.id == two
        fold(tx, alpha, two)
        found = lookup.follow(tx, "id:1")
        assert (found.entity.id, found.row_id, found.alias) == (two, alpha, True)
        for absent in (0, -1, 99, "id:99", "99", "id:" + "9" * 30):
            with pytest.raises(NotFound):
                lookup.follow(tx, absent)
        with pytest.raises(Invalid):
            lookup.follow(tx, " \u200b ")


def test_what_is_sought_by_its_id_is_found_or_unknown() -> None:
    with enfold.open(":memory:", embedder=None) as graph:
        graph.remember("Ada.", mentions=["Ada", "Countess"], read=False)
        graph.merge("Countess", "Ada")
        for asked in (1, "id:1", " ID:1 ", "ada"):
            found = graph.find(asked)
            assert isinstance(found, Found)
            assert (found.entity.name, found.row_id, found.alias) == ("Ada", 1, False)
        for asked in (2, "id:2", "countess"):
            found = graph.find(asked)
            assert isinstance(found, Found)
            assert (found.entity.id, found.row_id, found.alias) == (1, 2, True)
        for absent in (0, -1, 99_999, 10**30, -(10**30), "id:99", "99", "1"):
            assert isinstance(graph.find(absent), Unknown)
            assert graph.find(absent).asked == str(absent)
        assert isinstance(graph.find(10**5000), Unknown)
        with pytest.raises(NotFound):
            graph.entity(-(10**5000))


@pytest.mark.parametrize("asked", [None, 1.0, True, b"ada", ["ada"]])
def test_what_is_neither_a_name_nor_an_id_is_refused(asked: Any) -> None:
    with enfold.open(":memory:", embedder=None) as graph:
        graph.remember("Ada.", mentions=["Ada", "Bo"], read=False)
        verbs: tuple[Callable[[Any], object], ...] = (
            graph.find,
            graph.search,
            graph.entity,
            graph.facts,
            graph.related,
            graph.delete,
            lambda one: graph.path(one, "Ada"),
            lambda one: graph.path("Ada", one),
            lambda one: graph.explain(one, "Ada"),
            lambda one: graph.explain("Ada", one),
        )
        for verb in verbs:
            with pytest.raises(Invalid) as caught:
                verb(asked)
            assert caught.value.code == "blank_name"


@pytest.mark.parametrize("limit", [0, -1, -(10**30)])
def test_where_none_are_asked_for_none_are_given(limit: int) -> None:
    with enfold.open(":memory:", embedder=None) as graph:
        graph.remember("Ada.", facts=[("Ada", "knows", "Bo")], read=False)
        assert graph.search("Ada", limit=limit) == []
        assert graph.entities(limit=limit) == []
        assert graph.facts("Ada", limit=limit) == []


def test_a_name_of_several_at_either_end_of_a_connection_says_which_it_fits() -> None:
    with enfold.open(":memory:", embedder=None) as graph:
        with graph._store.write() as tx:
            kinds = {
                lookup.mint(tx, Name.of("Zen", kind), homonym=True)[0].id: kind
                for kind in ("theme", "plugin")
            }
        told = [{"id": id, "name": "Zen", "type": kind} for id, kind in kinds.items()]
        graph.remember("Ada.", mentions=["Ada"], read=False)
        for ends in (("Zen", "Ada"), ("Ada", "zen"), ("Zen", "Zen")):
            with pytest.raises(Conflict) as caught:
                graph.path(*ends)
            assert caught.value.code == "ambiguous"
            assert caught.value.details["candidates"] == told
        one, other = kinds
        assert graph.path(f"id:{one}", other).steps == ()


def test_minting_a_known_name_gives_its_row(store: Store) -> None:
    with store.write() as tx:
        first, made = lookup.mint(tx, Name.of("Ada"), type="person", foreign_id="x1")
        again, made_again = lookup.mint(tx, Name.of("ADA"), type="language")
        assert (made, made_again, again) == (True, False, first)
        assert (first.type, first.foreign_id, first.live) == ("person", "x1", True)
        (other,) = mint(tx, "Countess")
        fold(tx, first.id, other)
        row, _ = lookup.mint(tx, Name.of("Ada"))
        assert (row.id, row.canonical_id) == (first.id, other)


def test_many_rows_are_made_in_their_order(store: Store) -> None:
    with store.write() as tx:
        ids = lookup.mint_many(tx, [NewRow(Name.of(name), type="t") for name in ("Bob", "Al")])
        made = tx.entities.many(ids)
        assert [(made[i].spelling, made[i].type, made[i].live) for i in ids] == [
            ("Bob", "t", True),
            ("Al", "t", True),
        ]
        assert lookup.mint(tx, Name.of("al"))[0].id == ids[1]
