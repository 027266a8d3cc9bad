from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import enfold
from enfold import folds, indexing, lookup
from enfold.cli.commands import app
from enfold.errors import Invalid, Refused
from enfold.model import UNKNOWN, DecidedBy, Recalled
from enfold.names import Name
from enfold.ports import Embedder, Located, NewMemory, Reader
from enfold.recall import (
    ANCHORS,
    DEPTH,
    EMPTY,
    FAN_OUT,
    LONGEST,
    UNASKED,
    Weights,
    recall,
)
from enfold.store import Store, open_store
from enfold.store.vectors import REACH
from tests.embedders import FakeEmbedder
from tests.inside import sql_of

EMBEDDER = FakeEmbedder()


@pytest.fixture
def store() -> Iterator[Store]:
    store = open_store(":memory:")
    yield store
    store.close()


def mint(store: Store, *spellings: str, sense: bool = False) -> list[int]:
    with store.write() as tx:
        names = [Name.of(spelling) for spelling in spellings]
        return [lookup.mint(tx, name, homonym=sense)[0].id for name in names]


def remember(store: Store, text: str, *rows: int, **kwargs: Any) -> int:
    with store.write() as tx:
        (memory,) = tx.memories.add_many([NewMemory(text, **kwargs)])
        for row in rows:
            tx.edges.mention(memory, row, "x")
    return memory


def fold(store: Store, absorbed: int, canonical: int) -> int:
    with store.write() as tx:
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


def ask(store: Store, query: str, *, embedder: Embedder | None = None, **kwargs: Any) -> Recalled:
    located = None
    if embedder is not None:
        indexing.index(store, embedder)
        located = indexing.locate(store, embedder, query)
    else:
        kwargs.setdefault("unplaced", "no embedder is set.")
    with store.read() as tx:
        return recall(tx, query, located=located, **kwargs)


def ids(recalled: Recalled) -> list[int]:
    return [one.memory.id for one in recalled.memories]


def arms(recalled: Recalled) -> dict[int, dict[str, int]]:
    return {one.memory.id: one.arms for one in recalled.memories}


# ---- the three arms ------------------------------------------------------------------------------


def test_each_arm_finds_what_it_alone_can_find(store: Store) -> None:
    (worker,) = mint(store, "Ingest Worker")
    by_name = remember(store, "It was moved on Monday.", worker)
    by_word = remember(store, "An outage of the scheduler.")
    by_meaning = remember(store, "Breakdown happened twice.")
    embedder = FakeEmbedder(same={"breakdown": "outage"})
    found = ask(store, "the outage of the Ingest Worker", embedder=embedder)
    assert arms(found)[by_name] == {"entity": 1}
    assert arms(found)[by_word]["keyword"] == 1
    assert "keyword" not in arms(found)[by_meaning]
    assert arms(found)[by_meaning]["vector"] == 2
    assert ids(found)[0] == by_word


def test_a_score_is_the_sum_over_the_arms_of_weight_by_rank(store: Store) -> None:
    (acme,) = mint(store, "Acme Corp")
    remember(store, "Acme Corp sells anvils.", acme)
    (one,) = ask(store, "Acme Corp anvils", embedder=EMBEDDER).memories
    assert one.arms == {"vector": 1, "keyword": 1, "entity": 1}
    assert one.score == round((1.0 + 2.0 + 0.5) / 61, 6)
    weighed = ask(store, "Acme Corp anvils", weights=Weights(keyword=0, entity=3)).memories
    assert weighed[0].arms == {"entity": 1}
    assert weighed[0].score == round(3 / 61, 6)


@pytest.mark.parametrize("arm", ["vector", "keyword", "entity"])
@pytest.mark.parametrize(
    "weight", [float("nan"), float("inf"), -0.1, -1, "1", None, True, 10**400, 1j, [1]]
)
def test_an_arm_weighs_a_number_from_0(arm: str, weight: Any) -> None:
    with pytest.raises(Invalid, match=arm) as refused:
        Weights(**{arm: weight})
    assert refused.value.code == "bad_weight"


@pytest.mark.parametrize("weight", [0, 1, 2.5, 1e300, np.float32(0.5), Fraction(1, 2)])
def test_any_number_from_0_is_a_weight(store: Store, weight: Any) -> None:
    remember(store, "The kettle whistles.")
    found = ask(store, "kettle", embedder=EMBEDDER, weights=Weights(weight, weight, weight))
    assert len(found.memories) == bool(weight)


@pytest.mark.parametrize("arm", ["vector", "keyword", "entity"])
def test_an_arm_that_weighs_nothing_says_that_it_was_not_asked(store: Store, arm: str) -> None:
    (acme,) = mint(store, "Acme Corp")
    memory = remember(store, "Acme Corp sells anvils.", acme)
    found = ask(store, "Acme Corp anvils", embedder=EMBEDDER, weights=Weights(**{arm: 0}))
    assert found.abstained == {arm: UNASKED}
    assert ids(found) == [memory]
    assert arm not in found.memories[0].arms


def test_equal_scores_stand_by_their_ids_whenever_they_are_asked_for(store: Store) -> None:
    memories = [remember(store, "The kettle whistles.") for _ in range(20)]
    answers = [ask(store, "kettle", embedder=EMBEDDER) for _ in range(3)]
    assert ids(answers[0]) == memories[:10]
    assert answers[0] == answers[1] == answers[2]


def test_a_result_says_how_near_it_lies_and_which_anchors_it_mentions(store: Store) -> None:
    (ada,) = mint(store, "Ada Lovelace")
    remember(store, "Ada Lovelace wrote programs.", ada)
    (one,) = ask(store, "programs of Ada Lovelace", embedder=EMBEDDER).memories
    assert one.cosine is not None
    assert 0.5 < one.cosine < 1
    assert [(a.entity.id, a.matched, a.by) for a in one.anchors] == [(ada, "Ada Lovelace", "name")]


def test_no_more_comes_than_is_asked_for(store: Store) -> None:
    for number in range(120):
        remember(store, f"The kettle has whistled {number} times." if number % 4 == 0 else "Tea.")
    assert len(ask(store, "kettle").memories) == 10
    assert len(ask(store, "kettle", limit=3).memories) == 3
    assert len(ask(store, "kettle", limit=25, embedder=EMBEDDER).memories) == 25


# ---- the keyword arm -----------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0, -1, -(10**30)])
def test_where_none_are_asked_for_none_come(store: Store, limit: int) -> None:
    remember(store, "The kettle whistles.")
    with store.read() as tx:
        found = recall(tx, "kettle", limit=limit)
    assert found.memories == ()
    assert found.note == "1 memory has no vector yet and can't be found by meaning: enfold index."


def test_the_keyword_arm_abstains_where_no_word_is_known(store: Store) -> None:
    remember(store, "The kettle whistles.")
    found = ask(store, "what is it that you do?")
    assert found.abstained["keyword"].startswith("No word")
    assert ask(store, "zeppelin").abstained["keyword"].startswith("No word")
    assert found.memories == ()


def test_the_keyword_arm_abstains_where_every_word_is_everywhere(store: Store) -> None:
    for number in range(40):
        remember(store, f"The customer has called {number} times." if number % 3 else "Silence.")
    found = ask(store, "customer")
    assert found.memories == ()
    assert "more than a quarter" in found.abstained["keyword"]
    rare = ask(store, "the customer who called 7 times")
    assert [one.memory.content for one in rare.memories] == ["The customer has called 7 times."]


def test_a_word_in_many_memories_is_judged_by_the_latest_of_them(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("enfold.recall.LATEST", 4)
    monkeypatch.setattr("enfold.recall.SAMPLE", 20)
    for number in range(80):
        of_late = "harvest" if 70 <= number < 75 else "more" if number % 4 == 3 else ""
        remember(store, f"red {of_late} {'early' if number < 60 else ''} {'late' * (number >= 70)}")
    for number, query in enumerate(("red", "late", "red late")):
        assert "more than a quarter" in ask(store, query).abstained["keyword"], number
    assert len(ask(store, "red harvest, late").memories) == 4
    assert len(ask(store, "early").memories) == 4


def test_memories_that_can_not_be_recalled_make_no_word_rarer(store: Store) -> None:
    for number in range(40):
        remember(store, "The customer has called." if number % 3 else "Silence.")
    for _ in range(200):
        remember(store, "Silence.", sealed_for="ada")
        remember(store, "Silence.", kind="episode")
    assert "more than a quarter" in ask(store, "customer", kinds=["fact"]).abstained["keyword"]
    assert ask(store, "customer").memories
    with store.read() as tx:
        for reader, count in ((Reader(), 240), (Reader("ada"), 440), (Reader(None, ("fact",)), 40)):
            assert tx.memory_words.count(reader, most=1_000) == count
            assert tx.memory_words.count(reader, most=30) == 30


def test_a_word_is_not_too_common_in_a_small_graph(store: Store) -> None:
    both = [remember(store, "A kettle."), remember(store, "A kettle and a pot.")]
    assert sorted(ids(ask(store, "kettle"))) == both


@pytest.mark.parametrize(
    "query",
    ['"', '""" OR', "a AND (b", "NEAR(kettle, 2)", "kettle*", "words:kettle", "-kettle", "^kettle"],
)
def test_no_sign_of_a_query_is_an_operator(store: Store, query: str) -> None:
    memory = remember(store, "The kettle whistles near the words.")
    remember(store, "Something else.")
    found = ask(store, query)
    assert ids(found) == ([memory] if "kettle" in query else [])


def test_a_name_in_the_query_weighs_more_than_its_words(store: Store) -> None:
    mint(store, "Blue Train")
    apart = remember(store, "The train is blue, and a blue train it is not: blue or train.")
    named = remember(store, "We listened to Blue Train all the evening, and then to more.")
    for colour in ("blue", "train"):
        for _ in range(3):
            remember(store, f"Any {colour} will do.")
    assert ids(ask(store, "where did Blue Train play?"))[:2] in ([named, apart], [apart, named])
    first = ask(store, "evening with Blue Train").memories[0]
    assert first.memory.id == named


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("東京のサーバーを月曜日に移した。", "サーバーはどこ"),
        ("服务器迁移到了东京。", "东京的服务器"),
        ("ย้ายเซิร์ฟเวอร์ไปโตเกียว", "เซิร์ฟเวอร์"),
        ("Сервер переехал в Токио.", "где СЕРВЕР"),
        ("Le café est fermé.", "CAFE"),
        ("सर्वर टोक्यो में है", "सर्वर"),
    ],
)
def test_words_are_found_in_every_script(store: Store, text: str, query: str) -> None:
    memory = remember(store, text)
    remember(store, "Another text. 猫が好きです。")
    assert ids(ask(store, query)) == [memory]


def test_many_words_that_many_memories_have_are_sought_together(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("enfold.recall.LATEST", 4)
    for number in range(60):
        words = [w for w, every in (("red", 5), ("green", 6), ("cold", 1)) if number % every == 0]
        remember(store, " ".join(words))
    found = ask(store, "red and green, cold")
    assert ids(found)[:2] == [1, 31]
    assert {one.memory.content for one in found.memories[2:]} == {"green cold"}


# ---- the entity arm and its anchors --------------------------------------------------------------


def test_a_query_in_an_old_spelling_reaches_all_that_is_known_of_the_thing(
    store: Store,
) -> None:
    old, new = mint(store, "Opus 4.8", "Claude Opus 4.8")
    memories = [remember(store, "One text.", old), remember(store, "Another text.", new)]
    assert ids(ask(store, "Opus 4.8")) == [memories[0]]
    merge = fold(store, old, new)
    for query in ("Opus 4.8", "Claude Opus 4.8"):
        assert sorted(ids(ask(store, query))) == memories
    (anchor,) = ask(store, "what of Opus 4.8?").anchors
    assert (anchor.entity.name, anchor.matched, anchor.alias) == (
        "Claude Opus 4.8",
        "Opus 4.8",
        True,
    )
    with store.write() as tx:
        folds.revert(tx, merge)
    assert ids(ask(store, "Opus 4.8")) == [memories[0]]
    assert ids(ask(store, "Claude Opus 4.8")) == [memories[1]]


def test_a_renamed_entity_is_reached_by_both_names(store: Store) -> None:
    (row,) = mint(store, "Twitter Inc")
    memory = remember(store, "A text.", row)
    with store.write() as tx:
        folds.rename(tx, tx.entities.many([row])[row], Name.of("X Corp"))
    for query in ("Twitter Inc", "X Corp"):
        found = ask(store, query)
        assert ids(found) == [memory]
        assert [anchor.entity.name for anchor in found.anchors] == ["X Corp"]


def test_a_name_that_fits_several_entities_anchors_each(store: Store) -> None:
    (one,) = mint(store, "Mercury")
    (other,) = mint(store, "Mercury", sense=True)
    memories = [remember(store, "A planet.", one), remember(store, "A metal.", other)]
    found = ask(store, "what is Mercury?")
    assert sorted(ids(found)) == memories
    assert {anchor.entity.id for anchor in found.anchors} == {one, other}


def test_spellings_of_one_thing_take_one_place_of_ten(store: Store) -> None:
    rows = mint(store, *(f"Blue Whale {number}" for number in range(40)))
    spread = mint(store, *(f"Blue Shark {number}" for number in range(5)))
    embedder = FakeEmbedder(anchor_floor=0.5)
    for row in rows[1:]:
        fold(store, row, rows[0])
    anchors = ask(store, "blue whale shark", embedder=embedder).anchors
    assert {anchor.entity.id for anchor in anchors} == {rows[0], *spread}
    more = mint(store, *(f"Blue Seal {number}" for number in range(30)))
    fuller = ask(store, "blue whale seal", embedder=embedder).anchors
    assert len(fuller) == ANCHORS
    assert {anchor.entity.id for anchor in fuller} & set(more)
    assert rows[0] in {anchor.entity.id for anchor in fuller}


def test_a_name_near_the_query_is_an_anchor_and_one_in_it_comes_first(store: Store) -> None:
    near, named = mint(store, "Sky Colour Chart", "Blue Moon")
    found = ask(store, "colour of the sky, colour chart: Blue Moon", embedder=EMBEDDER)
    assert [(a.entity.id, a.by) for a in found.anchors] == [(named, "name"), (near, "meaning")]
    assert found.anchors[0].cosine is None
    assert (found.anchors[1].cosine or 0) >= EMBEDDER.anchor_floor
    assert ask(store, "elephants", embedder=EMBEDDER).anchors == ()


def test_who_asks_may_leave_capitals_out(store: Store) -> None:
    postgres, what = mint(store, "Postgres", "What")
    memory = remember(store, "A text.", postgres)
    remember(store, "Another.", what)
    found = ask(store, "what runs on postgres?")
    assert ids(found) == [memory]
    assert [anchor.matched for anchor in found.anchors] == ["Postgres"]


def test_memories_that_mention_more_anchors_come_first_then_rarer_ones_then_later_ones(
    store: Store,
) -> None:
    hub, rare = mint(store, "Acme Corp", "Zed Ltd")
    early, late = remember(store, "One.", hub), remember(store, "Two.", hub)
    of_rare = remember(store, "Three.", rare)
    latest, both = remember(store, "Four.", hub), remember(store, "Five.", hub, rare)
    found = arms(ask(store, "Acme Corp and Zed Ltd"))
    order = sorted(found, key=lambda memory: found[memory]["entity"])
    assert order == [both, of_rare, latest, late, early]


def test_of_a_hub_the_latest_memories_alone_are_looked_at(store: Store) -> None:
    hub, alias = mint(store, "Acme Corp", "Acme Corporation")
    fold(store, alias, hub)
    count = FAN_OUT + 50
    memories = [remember(store, "One.", (hub, alias)[n % 2]) for n in range(count)]
    with store.read() as tx:
        from enfold.ports import Reader

        reached = tx.memory_words.mentioning(hub, Reader(), limit=FAN_OUT)
    assert reached == memories[: -FAN_OUT - 1 : -1]
    assert len(ask(store, "Acme Corp", limit=1000).memories) == FAN_OUT
    assert ids(ask(store, "Acme Corp", limit=1)) == [memories[-1]]
    assert len(ask(store, "Acme Corp").abstained) == 2
    assert DEPTH < FAN_OUT


# ---- what may be recalled ------------------------------------------------------------------------


def test_what_is_sealed_is_recalled_by_its_agent_alone(store: Store) -> None:
    (acme,) = mint(store, "Acme Corp")
    open_to_all = remember(store, "Acme Corp sells anvils.", acme)
    sealed = remember(store, "Acme Corp sells secret anvils.", acme, sealed_for="ada")
    query = "secret anvils of Acme Corp"
    assert ids(ask(store, query, embedder=EMBEDDER)) == [open_to_all]
    assert ids(ask(store, query, embedder=EMBEDDER, agent="bob")) == [open_to_all]
    assert ids(ask(store, query, embedder=EMBEDDER, agent="")) == [open_to_all]
    assert set(ids(ask(store, query, embedder=EMBEDDER, agent="ada"))) == {open_to_all, sealed}
    assert set(arms(ask(store, query, embedder=EMBEDDER, agent="ada"))[sealed]) == {
        "vector",
        "keyword",
        "entity",
    }


def test_what_no_longer_holds_is_not_recalled(store: Store) -> None:
    (acme,) = mint(store, "Acme Corp")
    memory = remember(store, "Acme Corp sells anvils.", acme, sealed_for="ada")
    assert ids(ask(store, "Acme Corp anvils", embedder=EMBEDDER, agent="ada")) == [memory]
    with store.write() as tx:
        tx.memories.set_status(memory, "stale")
    assert ids(ask(store, "Acme Corp anvils", embedder=EMBEDDER, agent="ada")) == []
    with store.write() as tx:
        tx.memories.set_status(memory, "active")
        tx.memories.delete(memory)
    assert ids(ask(store, "Acme Corp anvils", embedder=EMBEDDER, agent="ada")) == []


def test_kinds_are_kept_to_in_every_arm(store: Store) -> None:
    (acme,) = mint(store, "Acme Corp")
    fact = remember(store, "Acme Corp sells anvils.", acme)
    episode = remember(store, "Acme Corp sold anvils.", acme, kind="episode")
    query = "Acme Corp anvils"
    assert set(ids(ask(store, query, embedder=EMBEDDER))) == {fact, episode}
    assert ids(ask(store, query, embedder=EMBEDDER, kinds=["episode"])) == [episode]
    assert ids(ask(store, query, embedder=EMBEDDER, kinds=["preference"])) == []


def test_what_may_be_recalled_is_found_behind_much_that_may_not(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(REACH, "memory", 4)
    monkeypatch.setattr("enfold.store.vectors.REACH_EACH", 0)
    for number in range(60):
        remember(store, f"kettle {number}", sealed_for="bob")
    memory = remember(store, "a kettle, two pots, three pans and four plates")
    found = ask(store, "kettle", embedder=EMBEDDER, weights=Weights(keyword=0), agent="ada")
    assert ids(found) == [memory]


def test_labels_are_never_read(store: Store) -> None:
    remember(store, "A text.", area="zeppelin", topic="zeppelin", title="zeppelin")
    assert ids(ask(store, "zeppelin", embedder=EMBEDDER)) == []


# ---- what is said --------------------------------------------------------------------------------


def test_a_miss_says_that_it_proves_nothing(store: Store) -> None:
    found = ask(store, "zeppelins over Berlin", embedder=EMBEDDER)
    assert found.memories == ()
    assert found.note is not None
    assert found.note.startswith(UNKNOWN)
    assert set(found.abstained) == {"vector", "keyword", "entity"}


def test_without_an_embedder_two_arms_answer_and_the_note_says_so(store: Store) -> None:
    memory = remember(store, "The kettle whistles.")
    found = ask(store, "kettle", unplaced="no embedder is set.")
    assert ids(found) == [memory]
    assert found.memories[0].cosine is None
    assert found.note == "Nothing was found by meaning: no embedder is set."
    assert "vector" in found.abstained


def test_memories_without_a_vector_are_found_by_the_other_arms_and_counted(
    store: Store,
) -> None:
    remember(store, "The kettle whistles.")
    indexing.index(store, EMBEDDER)
    later = [remember(store, "The kettle is hot."), remember(store, "Tea.")]
    located = indexing.locate(store, EMBEDDER, "hot kettle")
    with store.read() as tx:
        found = recall(tx, "hot kettle", located=located)
    assert later[0] in ids(found)
    assert found.waiting == 2
    assert found.note == (
        "2 memories have no vector yet and can't be found by meaning: enfold index."
    )


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("", "blank_query"),
        (" \t\n\u200b", "blank_query"),
        (None, "blank_query"),
        (7, "blank_query"),
        (b"kettle", "blank_query"),
        ("x" * (LONGEST + 1), "query_too_long"),
    ],
)
def test_a_query_that_asks_nothing_or_too_much_is_refused(
    store: Store, query: Any, code: str
) -> None:
    with pytest.raises(Invalid) as refused:
        ask(store, query)
    assert refused.value.code == code
    with enfold.open(":memory:", embedder=EMBEDDER) as graph, pytest.raises(Invalid) as refused:
        graph.recall(query)
    assert refused.value.code == code


def test_a_kind_that_is_none_is_refused(store: Store) -> None:
    with pytest.raises(Invalid) as refused:
        ask(store, "kettle", kinds=["rumour"])
    assert refused.value.code == "bad_kind"


@pytest.mark.parametrize(
    "query", ["x" * LONGEST, "字" * LONGEST, "\0 kettle \ud7ff", "word " * 400, "🫖", "a\nb\tc"]
)
def test_an_odd_query_is_answered(store: Store, query: str) -> None:
    remember(store, "The kettle whistles. 🫖")
    assert isinstance(ask(store, query, embedder=EMBEDDER), Recalled)


def test_a_query_placed_by_another_embedder_is_refused(store: Store) -> None:
    remember(store, "The kettle whistles.")
    indexing.index(store, EMBEDDER)
    (vector,) = EMBEDDER.embed(["kettle"])
    for located in (Located("other", vector, 0.5), Located("fake", vector[:100], 0.5)):
        with store.read() as tx, pytest.raises(Refused) as refused:
            recall(tx, "kettle", located=located)
        assert refused.value.code == "other_embedder"
        assert "enfold reembed" in str(refused.value)


# ---- the graph's verbs ---------------------------------------------------------------------------


def test_what_is_remembered_is_recalled_and_what_is_left_is_indexed() -> None:
    embedder = FakeEmbedder()
    with enfold.open(":memory:", embedder=embedder) as graph:
        done = graph.remember("Ada Lovelace wrote the Analytical Engine notes.")
        (one,) = graph.recall("notes of Ada Lovelace").memories
        assert one.memory.id == done.memory.id
        assert one.arms["vector"] == 1
        embedder.fails_on = "kettle"
        late = graph.remember("The kettle whistles.")
        assert "enfold index" in (late.note or "")
        assert graph.recall("whistles").waiting == 1
        out_of_reach = graph.recall("kettle")
        assert [one.memory.id for one in out_of_reach.memories] == [late.memory.id]
        assert out_of_reach.note == ("Nothing was found by meaning: The model is out of reach.")
        embedder.fails_on = None
        assert graph.index().memories == 1
        assert graph.recall("kettle").note is None


def test_a_graph_without_an_embedder_recalls_by_words_and_names() -> None:
    with enfold.open(":memory:", embedder=None) as graph:
        graph.remember("The kettle whistles.", mentions=["Blue Train"])
        for query in ("kettle", "blue train"):
            found = graph.recall(query)
            assert len(found.memories) == 1
            assert found.note == "Nothing was found by meaning: No embedder is set."
        assert graph.index().note is not None
        with pytest.raises(Refused) as refused:
            graph.reembed()
        assert refused.value.code == "no_embedder"


def test_a_graph_is_opened_with_another_embedder_once_it_has_changed_over(tmp_path: Path) -> None:
    path, other = tmp_path / "g.db", FakeEmbedder(model="other", dimensions=64)
    with enfold.open(path, embedder=EMBEDDER) as graph:
        graph.remember("The kettle whistles.", mentions=["Blue Train"])
    with enfold.open(path, embedder=other) as graph:
        for verb in (lambda: graph.recall("kettle"), graph.index):
            with pytest.raises(Refused) as refused:
                verb()
            assert refused.value.code == "other_embedder"
        done = graph.reembed()
        assert (done.memories, done.names) == (1, 1)
        assert graph.recall("kettle").memories[0].cosine is not None


def test_who_recalls_while_the_graph_changes_over_gets_all_or_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "g.db"
    models = [FakeEmbedder(), FakeEmbedder(model="other", dimensions=64)]
    with enfold.open(path, embedder=models[0]) as graph:
        ids = {graph.remember(f"Kettle number {n}.", read=False).memory.id for n in range(40)}
    over = threading.Event()
    told: list[int] = []
    wrong: list[object] = []

    def ask_on(graph: enfold.Graph) -> None:
        while not over.is_set():
            try:
                found = graph.recall("kettle", limit=40, weights=Weights(keyword=0, entity=0))
            except Refused as error:
                if error.code != "other_embedder":
                    wrong.append(error)
            except Exception as error:
                wrong.append(error)
            else:
                told.append(len(found.memories))
                if {one.memory.id for one in found.memories} != ids or found.note:
                    wrong.append(found)

    with ExitStack() as opened:
        graphs = [opened.enter_context(enfold.open(path, embedder=model)) for model in models]
        threads = [threading.Thread(target=ask_on, args=(graph,)) for graph in graphs]
        for thread in threads:
            thread.start()
        for _ in range(3):
            for graph in reversed(graphs):
                assert graph.reembed().memories == len(ids)
        over.set()
        for thread in threads:
            thread.join()
        graphs[0].recall("kettle")
    assert wrong == []
    assert told


def test_where_nothing_can_be_recalled_or_found_by_meaning_the_note_says_what_to_do() -> None:
    for embedder in (FakeEmbedder(), None):
        with enfold.open(":memory:", embedder=embedder) as graph:
            assert graph.recall("kettle").note == EMPTY
            graph.remember("A secret.", sealed_for="ada")
            assert graph.recall("kettle").note == EMPTY
    with enfold.open(":memory:", embedder=FakeEmbedder(fails_on="kettle")) as graph:
        graph.remember("The kettle whistles.")
        note = graph.recall("whistles").note
        assert note == "1 memory has no vector yet and can't be found by meaning: enfold index."


def test_index_reads_what_was_stored_and_not_read() -> None:
    with enfold.open(":memory:", embedder=EMBEDDER) as graph:
        with graph._store.write() as tx:
            (memory,) = tx.memories.add_many([NewMemory("Ask `ingest_worker` about it.")])
            tx.memories.mark_unread([memory])
        done = graph.index()
        assert (done.read, done.unread, done.memories) == (1, 0, 1)
        assert graph.recall("ingest_worker").memories[0].arms["entity"] == 1


def test_no_statement_of_recall_goes_through_a_table(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "g.db"))
    rows = mint(store, "Acme Corp", "Acme Corporation")
    mint(store, *(f"Thing {number}" for number in range(100)))  # of fewer each would be read
    fold(store, rows[1], rows[0])
    for row in rows:
        remember(store, "Acme Corp sells anvils.", row)
    indexing.index(store, EMBEDDER)
    located = indexing.locate(store, EMBEDDER, "who buys anvils of Acme Corp?")
    said: list[str] = []
    with store.read() as tx:
        connection = sql_of(tx)._connection
        connection.set_trace_callback(said.append)
        for kinds in (None, ["fact"]):
            found = recall(tx, "who buys anvils of Acme Corp?", located=located, kinds=kinds)
            assert len(found.memories) == 2
        connection.set_trace_callback(None)
        asked = {one for one in said if one.lstrip().startswith(("SELECT", "WITH"))}
        plans = {
            step[-1]
            for one in asked
            for step in connection.execute(f"EXPLAIN QUERY PLAN {one}").fetchall()
        }
    store.close()
    assert len(asked) > 10
    # What is read whole is a list that was given, what the index of words found, or one of a few
    # rows; constants are what a statement says of itself.
    few = ("json_each", "memory_words", "f", "h", "n", "space", "pragma", "CONSTANT", "s", "(")
    scans = {plan for plan in plans if plan.startswith("SCAN")}
    assert {plan for plan in scans if not plan.split()[1].startswith(few)} == set()


# ---- the command line ----------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ENFOLD_EMBEDDER", "off")
    with enfold.open("enfold.db", embedder=None) as graph:
        graph.remember("Every night K8s restarts.", mentions=["K8s"], source="runbook")
        graph.remember("We pay for it.\x1b[31m red", mentions=["Kubernetes"], kind="episode")
        graph.remember("A secret.", mentions=["Kubernetes"], sealed_for="scout")
        graph.merge("K8s", "Kubernetes")
    return tmp_path


def enfold_in(*args: str) -> Any:
    return CliRunner().invoke(app, list(args))


def test_a_result_is_shown_with_its_source_its_arms_and_by_which_spelling(folder: Path) -> None:
    done = enfold_in("recall", "what does K8s do every night?")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "About: Kubernetes by “K8s”"
    assert lines[1] == "1. Every night K8s restarts."
    assert lines[2].startswith("   memory 1 · runbook · 2")
    assert lines[3].startswith("   keyword 1 · entity 2 · score 0.0")
    assert lines[3].endswith("mentions Kubernetes by “K8s”")
    assert "No embedder is set" in done.stderr
    assert "\x1b" not in done.stdout
    assert "A secret." not in done.stdout


def test_what_is_sealed_is_shown_to_its_agent_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = enfold_in("recall", "k8s", "--agent", "scout").stdout
    assert "sealed for scout" in shown
    assert "A secret." not in enfold_in("recall", "k8s", "--agent", "other").stdout
    monkeypatch.setenv("ENFOLD_AGENT", "scout")
    assert "A secret." in enfold_in("recall", "k8s").stdout


def test_a_miss_ends_with_code_3_and_says_that_it_proves_nothing(folder: Path) -> None:
    done = enfold_in("recall", "zeppelin")
    assert done.exit_code == 3
    assert done.stdout.startswith("Unknown: “zeppelin”")
    assert "unknown, never absent" in " ".join(done.stdout.split())
    told = enfold_in("recall", "zeppelin", "--json")
    assert told.exit_code == 3
    assert json.loads(told.stdout)["result"] == "unknown"


def test_json_holds_all_of_the_reasons(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENFOLD_WEIGHT_ENTITY", "5")
    done = json.loads(enfold_in("recall", "k8s", "--kind", "episode", "--json").stdout)
    (one,) = done["memories"]
    assert (one["arms"], one["cosine"], one["score"]) == ({"entity": 1}, None, round(5 / 61, 6))
    assert one["anchors"][0]["matched"] == "K8s"
    assert done["abstained"].keys() == {"vector", "keyword"}
    assert enfold_in("recall", "k8s", "--kind", "rumour").exit_code == 5
    assert enfold_in("recall", " ").exit_code == 5


def test_index_and_reembed_say_what_they_can_not_do_without_an_embedder(folder: Path) -> None:
    done = enfold_in("index")
    assert done.exit_code == 0
    assert "No embedder is set" in done.stdout
    assert enfold_in("reembed").exit_code == 4
