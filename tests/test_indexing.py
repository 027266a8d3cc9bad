from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy import float32
from numpy.typing import NDArray

from enfold import folds, indexing, lookup
from enfold.errors import Conflict, Refused, Unavailable
from enfold.model import DecidedBy
from enfold.names import Name
from enfold.ports import EVERY, NewMemory, Reader
from enfold.store import Store, codes, open_store
from enfold.store.codes import Table, codes_of, words_of
from enfold.store.vectors import REACH
from tests.embedders import FakeEmbedder
from tests.inside import sql_of


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    store = open_store(":memory:" if request.param == "memory" else str(tmp_path / "g.db"))
    yield store
    store.close()


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "g.db")


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


def remember(store: Store, *texts: str, **kwargs: Any) -> list[int]:
    with store.write() as tx:
        return tx.memories.add_many([NewMemory(text, **kwargs) for text in texts])


def mint(store: Store, *spellings: str) -> list[int]:
    with store.write() as tx:
        return [lookup.mint(tx, Name.of(spelling))[0].id for spelling in spellings]


def near(store: Store, embedder: FakeEmbedder, text: str, limit: int = 10) -> list[int]:
    (vector,) = embedder.embed([text])
    with store.read() as tx:
        space = tx.vectors.space(embedder.model)
        assert space is not None
        found = tx.vectors.near_memories(space, vector, Reader(), limit=limit)
    return [memory for memory, cosine in found if cosine > 0]


def placed(store: Store, embedder: FakeEmbedder, ids: Sequence[int]) -> set[int]:
    with store.read() as tx:
        space = tx.vectors.space(embedder.model)
        return set() if space is None else set(tx.vectors.of(space, "memory", ids))


# ---- place ---------------------------------------------------------------------------------------


def test_what_was_written_is_placed_and_found(store: Store, embedder: FakeEmbedder) -> None:
    kettle, tea = remember(store, "The kettle whistles.", "Tea at five.")
    names = mint(store, "Blue Train", "Teapot")
    done = indexing.place(store, embedder, memories=[kettle, tea], names=names)
    assert (done.memories, done.names, done.note) == (2, 2, None)
    assert near(store, embedder, "kettle") == [kettle]
    with store.read() as tx:
        space = tx.vectors.space(embedder.model)
        assert space is not None
        found = tx.vectors.near_names(space, embedder.embed(["train"])[0], limit=1)
        assert found[0][0] == names[0]
        assert found[0][1] == pytest.approx(2**-0.5, abs=1e-3)


def test_nothing_is_placed_twice_in_one_space(store: Store, embedder: FakeEmbedder) -> None:
    ids = remember(store, "The kettle whistles.", "Tea at five.")
    indexing.place(store, embedder, memories=ids)
    assert indexing.place(store, embedder, memories=ids).memories == 0
    assert indexing.index(store, embedder).memories == 0
    assert sorted(embedder.asked) == ["Tea at five.", "The kettle whistles."]


def test_an_embedder_out_of_reach_leaves_a_note_and_index_places_later(
    store: Store, embedder: FakeEmbedder
) -> None:
    embedder.fails_on = "kettle"
    ids = remember(store, "The kettle whistles.")
    done = indexing.place(store, embedder, memories=ids)
    assert done.memories == 0
    assert "enfold index" in (done.note or "")
    with pytest.raises(Unavailable):
        indexing.index(store, embedder)
    embedder.fails_on = None
    assert indexing.index(store, embedder).memories == 1
    assert near(store, embedder, "kettle") == ids


def test_what_is_gone_or_unknown_is_left_out(store: Store, embedder: FakeEmbedder) -> None:
    ids = remember(store, "The kettle whistles.", "Tea at five.")

    class Forgetful(FakeEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[float32]:
            with store.write() as tx:
                tx.memories.delete(ids[0])
            return super().embed(texts)

    forgetful = Forgetful()
    assert indexing.place(store, forgetful, memories=[*ids, 999], names=[77]).memories == 1
    assert near(store, embedder, "kettle tea") == [ids[1]]


def test_a_space_begins_with_the_first_embedder_and_refuses_another(
    store: Store, embedder: FakeEmbedder
) -> None:
    ids = remember(store, "The kettle whistles.")
    indexing.check(store, FakeEmbedder(model="any"))
    indexing.place(store, embedder, memories=ids)
    other = FakeEmbedder(model="other")
    for call in (
        lambda: indexing.place(store, other, memories=ids),
        lambda: indexing.index(store, other),
        lambda: indexing.locate(store, other, "kettle"),
        lambda: indexing.check(store, other),
    ):
        with pytest.raises(Refused) as refused:
            call()
        assert refused.value.code == "other_embedder"
        assert "enfold reembed" in str(refused.value)
    assert other.asked == []


def test_vectors_of_another_length_are_refused_and_cost_no_text_that_is_stored(
    store: Store, embedder: FakeEmbedder
) -> None:
    indexing.place(store, embedder, memories=remember(store, "The kettle whistles."))
    ids, other = remember(store, "Tea at five."), FakeEmbedder(dimensions=64)
    done = indexing.place(store, other, memories=ids)
    assert done.memories == 0
    assert done.note is not None
    assert "64 dimensions" in done.note
    with pytest.raises(Refused) as refused:
        indexing.index(store, other)
    assert refused.value.code == "other_embedder"


def broken(how: str) -> Any:
    """What an embedder gives that keeps to nothing."""
    row = np.eye(1, 384, dtype=np.float32)
    given = {
        "nan": row * np.nan,
        "inf": row * np.inf,
        "zeros": row * 0,
        "long": row * 7,
        "longest": [[1e300, 0.0]],
        "none": None,
        "few": row[:0],
        "many": np.vstack([row, row]),
        "flat": row[0],
        "ragged": [[1.0], [1.0, 2.0]],
        "words": [["a", "b"]],
    }
    return given[how]


@pytest.mark.parametrize(
    "how",
    [
        "nan",
        "inf",
        "zeros",
        "long",
        "longest",
        "none",
        "few",
        "many",
        "flat",
        "ragged",
        "words",
        "raises",
    ],
)
def test_an_embedder_that_gives_nonsense_or_fails_is_out_of_reach(
    store: Store, embedder: FakeEmbedder, how: str
) -> None:
    class Broken(FakeEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[float32]:
            if how == "raises":
                raise RuntimeError("no graphics card")
            given: NDArray[float32] = broken(how)
            return given

    ids = remember(store, "The kettle whistles.")
    done = indexing.place(store, Broken(), memories=ids)
    assert done.memories == 0
    assert done.note is not None
    for call in (
        lambda: indexing.index(store, Broken()),
        lambda: indexing.locate(store, Broken(), "kettle"),
    ):
        with pytest.raises(Unavailable) as missed:
            call()
        wanted = "model_unavailable" if how == "raises" else ("model_nonsense", "model_unavailable")
        assert missed.value.code in wanted
    assert indexing.index(store, embedder).memories == 1
    assert near(store, embedder, "kettle") == ids


def test_a_text_that_got_the_id_of_another_meanwhile_does_not_get_its_place(
    path: str, embedder: FakeEmbedder, tmp_path: Path
) -> None:
    store = open_store(path)
    backup = store.backup(str(tmp_path / "before.db"))
    ids = remember(store, "The kettle whistles.")

    class Slow(FakeEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[float32]:
            if not self.asked:
                store.restore(backup)
                assert remember(store, "Tea at five.") == ids
                with store.write() as tx:
                    tx.vectors.open_space(self.model, self.dimensions)
            return super().embed(texts)

    slow = Slow()
    assert indexing.index(store, slow).memories == 1
    assert slow.asked == ["The kettle whistles.", "Tea at five."]
    assert near(store, embedder, "kettle") == []
    assert near(store, embedder, "tea") == ids
    store.close()


# ---- index ---------------------------------------------------------------------------------------


def test_index_places_every_memory_and_every_row_but_documents_found_by_passages(
    store: Store, embedder: FakeEmbedder
) -> None:
    (document,) = remember(store, "A long text.", kind="document", searched=False)
    passages = remember(store, "A long", "text.", kind="document", document_id=document)
    (sealed,) = remember(store, "A secret.", sealed_for="ada")
    (stale,) = remember(store, "An old text.")
    with store.write() as tx:
        tx.memories.set_status(stale, "stale")
    names = mint(store, "Opus 4.8", "Claude Opus 4.8")
    with store.write() as tx:
        rows = tx.entities.many(names)
        folds.fold(
            tx,
            rows[names[0]],
            rows[names[1]],
            decided_by=DecidedBy.HUMAN,
            rule="test",
            score=1.0,
            reason="",
        )
        folds.rename(tx, tx.entities.many(names)[names[1]], Name.of("Claude"))
    told: list[tuple[str, int, int]] = []
    done = indexing.index(store, embedder, progress=lambda *step: told.append(step))
    assert placed(store, embedder, [document, *passages, sealed, stale]) == {
        *passages,
        sealed,
        stale,
    }
    assert (done.memories, done.names, done.waiting) == (4, 3, 0)
    assert told == [("placing memories", 4, 4), ("placing names", 3, 3)]


def test_index_goes_on_where_it_was_interrupted(
    store: Store, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "BATCH", 10)
    ids = remember(store, *(f"kettle {number}" for number in range(35)))

    def stop(what: str, done: int, total: int) -> None:
        assert (what, total) == ("placing memories", 35)
        if done == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        indexing.index(store, embedder, progress=stop)
    assert len(placed(store, embedder, ids)) == 20
    assert indexing.index(store, embedder).memories == 15
    assert len(embedder.asked) == len(set(embedder.asked)) == 35


def test_what_waits_below_others_is_found_and_counted(store: Store, embedder: FakeEmbedder) -> None:
    first, second, third = remember(store, "one", "two", "three")
    indexing.place(store, embedder, memories=[first, third])
    with store.read() as tx:
        space = tx.vectors.space(embedder.model)
        assert space is not None
        assert tx.vectors.waiting(space, "memory", limit=9) == [(second, "two")]
        assert tx.vectors.count_waiting(space, "memory", most=EVERY) == 1
        assert tx.vectors.count_waiting(None, "memory", most=EVERY) == 3
        assert tx.vectors.count_waiting(None, "memory", most=2) == 2
    assert indexing.index(store, embedder).memories == 1
    (fourth,) = remember(store, "four")
    with store.read() as tx:
        assert tx.vectors.waiting(space, "memory", limit=9) == [(fourth, "four")]


class Refusing(FakeEmbedder):
    """Takes no text with the word, nor a batch that has one."""

    word = "bad"

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        if any(self.word in text for text in texts):
            raise Unavailable("model_refused", "The model answers with status 400.")
        return super().embed(texts)


def test_a_text_that_the_model_refuses_keeps_no_other_from_its_place(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "BATCH", 8)
    texts = [f"{'bad' if number in (0, 1, 13) else 'kettle'} {number}" for number in range(30)]
    ids = remember(store, *texts)
    (row,) = mint(store, "bad name")
    mint(store, "Teapot")
    embedder = Refusing()
    for count in (27, 0):
        done = indexing.index(store, embedder)
        assert (done.memories, done.waiting) == (count, 3)
        named = f"memory {ids[0]}, memory {ids[1]}, memory {ids[13]}, entity {row}. The model"
        assert named in (done.note or "")
    late = remember(store, "bad pot", "a pot")
    placed_now = indexing.place(store, embedder, memories=late)
    assert placed_now.memories == 1
    assert f"refuses the text: memory {late[0]}." in (placed_now.note or "")


def test_a_model_that_refuses_everything_is_asked_no_more(store: Store) -> None:
    class Never(Refusing):
        word = ""
        calls = 0

        def embed(self, texts: Sequence[str]) -> NDArray[float32]:
            self.calls += 1
            return super().embed(texts)

    remember(store, *(f"kettle {number}" for number in range(64)))
    never = Never()
    with pytest.raises(Unavailable) as refused:
        indexing.index(store, never)
    assert refused.value.code == "model_refused"
    assert never.calls == 8


# ---- reembed -------------------------------------------------------------------------------------


def test_reembed_changes_over_and_leaves_nothing_of_the_old_space(
    store: Store, embedder: FakeEmbedder
) -> None:
    ids = remember(store, "The kettle whistles.", "Tea at five.")
    mint(store, "Teapot")
    indexing.index(store, embedder)
    other = FakeEmbedder(model="other", dimensions=100)
    told: list[str] = []
    done = indexing.reembed(store, other, progress=lambda what, *_: told.append(what))
    assert (done.model, done.memories, done.names) == ("other", 2, 1)
    assert near(store, other, "kettle") == ids[:1]
    assert told == ["placing memories", "placing names", "deleting the old space"]
    with store.read() as tx:
        assert [space.model for space in tx.vectors.spaces()] == ["other"]
        counts = [
            sql_of(tx).value(f"SELECT count(*) FROM {table}")
            for table in ("memory_code", "memory_vector", "name_code", "name_vector")
        ]
    assert counts == [2, 2, 1, 1]
    with pytest.raises(Refused):
        indexing.check(store, embedder)
    assert indexing.reembed(store, other).memories == 0


def test_the_old_space_serves_until_the_new_one_is_whole(
    store: Store, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "BATCH", 10)
    ids = remember(store, *(f"kettle {number}" for number in range(25)))
    indexing.index(store, embedder)
    other = FakeEmbedder(model="other", fails_on="kettle 15")
    with pytest.raises(Unavailable):
        indexing.reembed(store, other)
    assert near(store, embedder, "kettle", 1) == ids[:1]
    (late,) = remember(store, "a pot")
    indexing.place(store, embedder, memories=[late])
    other.fails_on = None
    assert indexing.reembed(store, other).memories == 16
    assert len(other.asked) == len(set(other.asked))
    assert near(store, other, "pot", 1) == [late]


def test_a_change_over_that_another_call_overtook_says_so(
    store: Store, embedder: FakeEmbedder
) -> None:
    remember(store, "The kettle whistles.")
    indexing.index(store, embedder)
    third = FakeEmbedder(model="third")

    class Overtaken(FakeEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[float32]:
            indexing.reembed(store, third)
            return super().embed(texts)

    with pytest.raises(Conflict) as refused:
        indexing.reembed(store, Overtaken(model="other"))
    assert refused.value.code == "changed_meanwhile"
    assert len(near(store, third, "kettle")) == 1


def test_a_space_that_was_half_deleted_is_filled_anew(
    store: Store, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "DROPPED", 3)
    ids = remember(store, *(f"kettle {number}" for number in range(7)))
    mint(store, "Teapot")
    indexing.index(store, embedder)

    def stop(what: str, *_: int) -> None:
        if what.startswith("deleting"):
            raise InterruptedError

    with pytest.raises(InterruptedError):
        indexing.reembed(store, FakeEmbedder(model="other"), progress=stop)
    assert indexing.reembed(store, embedder).memories == 3
    assert placed(store, embedder, ids) == set(ids)


def test_a_model_is_changed_over_to_another_size_of_itself(
    store: Store, embedder: FakeEmbedder
) -> None:
    ids = remember(store, "The kettle whistles.")
    indexing.index(store, embedder)
    smaller = FakeEmbedder(dimensions=64)
    assert indexing.reembed(store, smaller).memories == 1
    assert near(store, smaller, "kettle") == ids
    with store.read() as tx:
        assert [space.dimensions for space in tx.vectors.spaces()] == [64]


def test_old_vectors_are_deleted_in_parts(
    store: Store, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "DROPPED", 3)
    remember(store, *(f"kettle {number}" for number in range(7)))
    mint(store, "Teapot")
    indexing.index(store, embedder)
    told: list[tuple[str, int, int]] = []
    indexing.reembed(store, FakeEmbedder(model="other"), progress=lambda *s: told.append(s))
    assert [done for what, done, _ in told if what.startswith("deleting")] == [3, 6, 8]


# ---- what is held in memory ----------------------------------------------------------------------


def test_what_another_process_writes_is_found(path: str, embedder: FakeEmbedder) -> None:
    with_cache, other = open_store(path), open_store(path)
    indexing.place(other, embedder, memories=remember(other, "kettle one"))
    assert len(near(with_cache, embedder, "kettle")) == 1
    late = remember(other, "kettle two")
    indexing.place(other, embedder, memories=late)
    assert len(near(with_cache, embedder, "kettle")) == 2
    with other.write() as tx:
        tx.memories.delete(late[0])
    assert len(near(with_cache, embedder, "kettle")) == 1
    with_cache.close()
    other.close()


def test_what_is_undone_is_not_held(path: str, embedder: FakeEmbedder) -> None:
    store = open_store(path)
    indexing.place(store, embedder, memories=remember(store, "kettle one"))
    assert len(near(store, embedder, "kettle")) == 1
    (doomed, kept) = remember(store, "a doomed pot", "a kept pot")
    vectors = embedder.embed(["a doomed pot", "a kept pot", "pot"])
    with store.read() as tx:
        space = tx.vectors.space(embedder.model)
    assert space is not None
    with suppress(KeyError), store.write() as tx:
        tx.vectors.add(space, "memory", [doomed], vectors[:1])
        assert tx.vectors.near_memories(space, vectors[2], Reader(), limit=1)[0][0] == doomed
        raise KeyError
    with store.write() as tx:  # the same id of a code, for another memory
        tx.vectors.add(space, "memory", [kept], vectors[1:2])
    assert near(store, embedder, "pot") == [kept]
    store.close()


def test_after_a_restore_the_restored_graph_is_searched(
    path: str, embedder: FakeEmbedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(REACH, "memory", 1)
    monkeypatch.setattr("enfold.store.vectors.REACH_EACH", 0)
    store, watcher = open_store(path), open_store(path)
    indexing.place(store, embedder, memories=remember(store, "a pot", "a pan"))
    backup = store.backup(str(tmp_path / "b.db"))
    indexing.place(store, embedder, memories=remember(store, "a kettle", "a spoon"))
    for one in (store, watcher):
        assert len(near(one, embedder, "spoon", 1)) == 1
    store.restore(backup)
    ids = remember(store, "a zeppelin", "a balloon")
    indexing.place(store, embedder, memories=ids)
    for one in (store, watcher):
        assert near(one, embedder, "zeppelin", 1)[:1] == ids[:1]
        assert near(one, embedder, "balloon", 1)[:1] == ids[1:]
    watcher.close()
    store.close()


def test_threads_read_while_others_write(path: str, embedder: FakeEmbedder) -> None:
    store = open_store(path)
    indexing.place(store, embedder, memories=remember(store, "kettle"))
    written = threading.Event()

    def write(number: int) -> None:
        indexing.place(store, embedder, memories=remember(store, f"kettle {number}"))

    def read() -> list[int]:
        counts = []
        while not written.is_set():
            counts.append(len(near(store, embedder, "kettle", 100)))
        return counts

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        list(pool.map(write, range(40)))
        written.set()
        for reader in readers:
            counts = reader.result()
            assert min(counts) >= 1
    assert len(near(store, embedder, "kettle", 100)) == 41
    store.close()


def test_codes_are_told_apart_by_their_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codes, "BLOCK", 100)
    random = np.random.default_rng(1)
    vectors = random.standard_normal((1_000, 130)).astype(np.float32)
    made = codes_of(vectors)
    table = Table(words_of(130), 1).with_rows(
        ((row + 1, code.tobytes()) for row, code in enumerate(made)), 1_000, own=False
    )
    asked = random.standard_normal((1, 130)).astype(np.float32)
    unlike = ((vectors > 0) != (asked > 0)).sum(axis=1)
    for reach in (1, 7, 250, 999, 1_000, 5_000):
        found = table.nearest(codes_of(asked)[0], reach)
        best = sorted(range(1_000), key=lambda row: (unlike[row], row))[:reach]
        assert sorted(found) == sorted(row + 1 for row in best)


def test_what_is_seen_of_the_codes_does_not_change_when_more_come() -> None:
    def rows(first: int, last: int) -> Iterator[tuple[int, bytes]]:
        return ((row, np.uint64(row).tobytes()) for row in range(first, last))

    early = Table(1, 1).with_rows(rows(1, 11), 10, own=False)
    own = early.with_rows(rows(11, 13), 12, own=True)
    later = early.with_rows(rows(21, 31), 30, own=False)
    zero = np.zeros(1, np.uint64)
    assert sorted(early.nearest(zero, 99)) == list(range(1, 11))
    assert sorted(own.nearest(zero, 99)) == list(range(1, 13))
    assert sorted(later.nearest(zero, 99)) == [*range(1, 11), *range(21, 31)]


def test_search_by_codes_finds_what_exact_search_finds(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(2)
    topics = random.standard_normal((20, 384))
    vectors = np.array(
        [topics[n % 20] + 0.7 * random.standard_normal(384) for n in range(2_000)]
    ).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = remember(store, *(f"{number}" for number in range(2_000)))
    with store.write() as tx:
        space = tx.vectors.open_space("any", 384)
        tx.vectors.add(space, "memory", ids, vectors)
    monkeypatch.setitem(REACH, "memory", 300)
    with store.read() as tx:
        for asked in vectors[:20]:
            found = tx.vectors.near_memories(space, asked, Reader(), limit=10)
            exact = np.argsort(-(vectors @ asked), kind="stable")[:10]
            assert len({one for one, _ in found} & {ids[at] for at in exact}) >= 9
            assert found[0][1] == pytest.approx(1, abs=1e-3)
