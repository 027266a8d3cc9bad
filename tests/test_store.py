from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from enfold import lookup, related
from enfold import search as spelling
from enfold.asked import Asked
from enfold.check import check
from enfold.errors import Error, Invalid, NotFound, Refused, Unavailable
from enfold.model import Context, Proposal, SetAside, Verdict
from enfold.names import Name
from enfold.ports import NewFact, NewMemory, NewRow
from enfold.store import Store, open_store
from enfold.store import sqlite as sqlite_module
from enfold.store.schema import APPLICATION_ID, VERSION
from tests.inside import idle_of, sql_of


def mint(tx: Any, *spellings: str) -> list[int]:
    return [lookup.mint(tx, Name.of(spelling))[0].id for spelling in spellings]


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "graph.db")


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, path: str) -> Iterator[Store]:
    store = open_store(path if request.param == "file" else ":memory:")
    yield store
    store.close()


# ---- opening ----


def test_an_absent_path_becomes_a_graph_that_is_known_again(path: str) -> None:
    with_alpha = open_store(path)
    with with_alpha.write() as tx:
        mint(tx, "Alpha")
    with_alpha.close()
    with open_store(f"sqlite:///{path}").read() as tx:
        assert [e.name for e in tx.entities.live()] == ["Alpha"]
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_an_empty_file_becomes_a_graph(path: str) -> None:
    Path(path).touch()
    with open_store(path).write() as tx:
        mint(tx, "Alpha")


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("text", "not_a_database"),
        ("foreign", "foreign_database"),
        ("newer", "newer_schema"),
        ("directory", "is_a_directory"),
        ("no directory", "no_directory"),
        ("url", "unknown_url"),
        ("truncated", "corrupt"),
    ],
)
def test_what_is_no_graph_of_ours_is_refused_and_left_as_it_was(
    tmp_path: Path, what: str, code: str
) -> None:
    path = tmp_path / "graph.db"
    url = str(path)
    if what == "text":
        path.write_bytes(b"\x00\x01 not a database at all " * 100)
    elif what == "foreign":
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE notes (text)")
        connection.close()
    elif what == "newer":
        open_store(url).close()
        with sqlite3.connect(path) as connection:
            connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        connection.close()
    elif what == "directory":
        path.mkdir()
    elif what == "no directory":
        url = str(tmp_path / "nowhere" / "graph.db")
    elif what == "url":
        url = "mysql://host/db"
    elif what == "truncated":
        open_store(url).close()
        path.write_bytes(path.read_bytes()[:5000])
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(Error) as refused:
        open_store(url)
    assert refused.value.code == code
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("empty_file", [True, False])
def test_looking_at_what_is_not_there_makes_nothing(
    tmp_path: Path, read_only: bool, empty_file: bool
) -> None:
    path = tmp_path / "graph.db"
    if empty_file:
        path.touch()
    before = sorted(tmp_path.iterdir())
    with pytest.raises(NotFound) as missed:
        open_store(str(path), create=False, read_only=read_only)
    assert missed.value.code == "no_graph"
    assert sorted(tmp_path.iterdir()) == before
    assert not empty_file or path.stat().st_size == 0


def test_a_graph_opened_for_reading_refuses_to_be_written(path: str) -> None:
    store = open_store(path)
    with store.write() as tx:
        mint(tx, "Alpha")
    reader = open_store(path, read_only=True)
    with reader.read() as tx:
        assert tx.entities.count() == 1
    with pytest.raises(Unavailable) as refused, reader.write() as tx:
        mint(tx, "Beta")
    assert refused.value.code == "read_only"
    reader.close()
    store.close()


def test_a_file_without_write_access_can_be_read(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(path).close()
    monkeypatch.setattr(os, "access", lambda *_: False)
    store = open_store(path)
    with store.read() as tx:
        assert tx.entities.count() == 0
    with pytest.raises(Unavailable) as refused, store.write() as tx:
        mint(tx, "Alpha")
    assert refused.value.code == "read_only"
    assert sorted(Path(path).parent.iterdir()) == [Path(path)]


def test_two_processes_making_one_graph_make_one(path: str) -> None:
    code = "import sys; from enfold.store import open_store; open_store(sys.argv[1]).close()"
    makers = [subprocess.Popen([sys.executable, "-c", code, path]) for _ in range(4)]
    assert [maker.wait(60) for maker in makers] == [0, 0, 0, 0]
    with open_store(path).read() as tx:
        assert check(tx).clean


# ---- transactions ----


def test_an_error_takes_everything_back(store: Store) -> None:
    class Stop(Exception):
        pass

    def written_and_stopped() -> None:
        with store.write() as tx:
            ids = mint(tx, "Alpha")
            memory = tx.memories.add("text")
            tx.edges.mention(memory, ids[0], "Alpha")
            raise Stop

    with pytest.raises(Stop):
        written_and_stopped()
    with store.read() as tx:
        assert (tx.entities.count(), tx.memories.count(), tx.edges.mark()) == (0, 0, 0)


def test_a_reader_cannot_write(store: Store) -> None:
    with pytest.raises(Unavailable), store.read() as tx:
        mint(tx, "Alpha")
    with store.write() as tx:
        mint(tx, "Alpha")


def test_a_reader_sees_one_moment(path: str) -> None:
    store = open_store(path)
    with store.read() as tx:
        with open_store(path).write() as other:
            mint(other, "Alpha")
        assert tx.entities.count() == 0
    with store.read() as tx:
        assert tx.entities.count() == 1


def test_a_thread_that_would_wait_for_itself_is_told_so(store: Store) -> None:
    with store.write(), pytest.raises(RuntimeError), store.write():
        pass


def test_reads_may_stand_within_reads(store: Store) -> None:
    with store.write() as tx:
        mint(tx, "Alpha")
    with store.read() as outer:
        with store.read() as inner:
            assert inner.entities.count() == 1
        assert outer.entities.count() == 1


def test_a_second_writer_waits_and_then_says_who_holds_the_lock(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(path)
    monkeypatch.setattr(sqlite_module, "WAIT_SECONDS", 0.05)
    other = open_store(path)
    with store.write(), pytest.raises(Unavailable) as refused, other.write():
        pass
    assert refused.value.code == "locked"
    with other.write() as tx:
        mint(tx, "Alpha")


def test_one_transaction_has_one_now(path: str) -> None:
    ticks = count()
    start = datetime(2026, 1, 2, 3, 4, 5, 678_900, tzinfo=UTC)
    store = open_store(path, clock=lambda: start + timedelta(seconds=next(ticks)))
    with store.write() as tx:
        first = tx.now
        memory = tx.memories.get(tx.memories.add("text"))
        (entity,) = mint(tx, "Alpha")
        assert first.endswith(":05.678Z")
        assert memory is not None
        row = tx.entities.get(entity)
        assert row is not None
        assert {memory.created_at, row.created_at, tx.now} == {first}
    with store.read() as tx:
        assert tx.now > first


def test_half_a_surrogate_pair_is_a_clear_error(store: Store) -> None:
    with pytest.raises(Invalid) as refused, store.write() as tx:
        tx.memories.add("broken \ud800 text")
    assert refused.value.code == "bad_text"
    with store.read() as tx:
        assert tx.memories.count() == 0


def test_an_id_beyond_any_database_is_unknown_or_a_clear_error(store: Store) -> None:
    with store.read() as tx:
        with pytest.raises(NotFound):
            lookup.follow(tx, 10**30)
        with pytest.raises(Invalid):
            tx.entities.get(10**30)


def test_an_edge_to_nothing_is_refused(store: Store) -> None:
    with store.write() as tx:
        memory = tx.memories.add("text")
    with pytest.raises(Error) as refused, store.write() as tx:
        tx.edges.mention(memory, 99, "Nobody")
    assert refused.value.code == "changed_meanwhile"


def test_a_full_disk_is_said_and_changes_nothing(path: str) -> None:
    store = open_store(path)
    with store.write() as tx:
        mint(tx, "Alpha")
    fill_up(store)
    with pytest.raises(Unavailable) as refused, store.write() as tx:
        tx.memories.add_many([NewMemory(f"memory {at} " * 50) for at in range(10_000)])
    assert refused.value.code == "disk_full"
    with open_store(path).read() as tx:
        assert (tx.entities.count(), tx.memories.count()) == (1, 0)
        assert check(tx).clean


def fill_up(given: Store) -> None:
    """Let the file grow no more."""
    store: Any = given
    connect = store._connect

    def full() -> sqlite3.Connection:
        connection = connect()
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        assert isinstance(connection, sqlite3.Connection)
        return connection

    store._connect = full
    for connection in idle_of(store):
        connection.close()
    idle_of(store).clear()


def test_two_graphs_in_one_process_never_wait_for_each_other(tmp_path: Path) -> None:
    one, other = open_store(str(tmp_path / "one.db")), open_store(str(tmp_path / "other.db"))
    done = threading.Event()

    def write() -> None:
        with other.write() as tx:
            mint(tx, "Beta")
        done.set()

    with one.write() as tx:
        mint(tx, "Alpha")
        threading.Thread(target=write).start()
        assert done.wait(10)
    with one.read() as tx:
        assert [e.name for e in tx.entities.live()] == ["Alpha"]


def test_many_threads_lose_nothing(store: Store) -> None:
    def work(number: int) -> None:
        for at in range(20):
            with store.write() as tx:
                (shared,) = mint(tx, "Shared")
                memory = tx.memories.add(f"{number} {at}")
                tx.edges.mention(memory, shared, "Shared")
            with store.read() as tx:
                assert tx.entities.count() == 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.read() as tx:
        assert tx.edges.count_mentions(1) == 120
        assert check(tx).clean


PROCESS = """
import sys
from enfold import folds, lookup
from enfold.errors import Refused
from enfold.model import DecidedBy
from enfold.names import Name
from enfold.store import open_store
store, number = open_store(sys.argv[1]), int(sys.argv[2])
for at in range(25):
    with store.write() as tx:
        rows = [lookup.mint(tx, Name.of(f"name {(at + k) % 7}"))[0] for k in range(3)]
        memory = tx.memories.add("text", caller_id=f"{number}-{at}")
        for row in rows:
            tx.edges.mention(memory, row.id, row.spelling)
    try:
        with store.write() as tx:
            merge = folds.fold(
                tx, rows[0], rows[1], decided_by=DecidedBy.HUMAN, rule="test", score=1.0,
                reason="", overrule=True,
            )
        if at % 2:
            with store.write() as tx:
                folds.revert(tx, merge.id)
    except Refused:
        pass
"""


def test_many_processes_minting_folding_and_reverting_keep_every_invariant(path: str) -> None:
    workers = [
        subprocess.Popen([sys.executable, "-c", PROCESS, path, str(number)]) for number in range(4)
    ]
    assert [worker.wait(120) for worker in workers] == [0] * 4
    with open_store(path).read() as tx:
        assert tx.entities.count() == 7
        assert tx.memories.count() == 100
        asserted = sum(len(mentions) for _, mentions, _ in tx.memories.all())
        assert asserted == 300
        assert check(tx, name_of=Name.of).clean


def test_a_connection_is_not_carried_across_a_fork(path: str) -> None:
    code = textwrap.dedent("""
        import os, sys
        from enfold.store import open_store
        store = open_store(sys.argv[1])
        child = os.fork()
        with store.write() as tx:
            tx.memories.add("text")
        if child:
            assert os.waitpid(child, 0)[1] == 0
        """)
    subprocess.run([sys.executable, "-c", code, path], check=True)
    with open_store(path).read() as tx:
        assert tx.memories.count() == 2


def test_a_closed_graph_says_so(store: Store) -> None:
    store.close()
    with pytest.raises(Unavailable) as refused, store.read():
        pass
    assert refused.value.code == "closed"


# ---- what is stored ----


def test_many_rows_at_once_are_as_one_by_one(store: Store) -> None:
    with store.write() as tx:
        ids = tx.entities.add_many(
            [
                NewRow(Name.of("Alpha"), type="thing", attributes={"a": "ä"}),
                NewRow(Name.of("ALPHA")),
                NewRow(Name.of("alpha"), sense=1, foreign_id="x"),
            ]
        )
        assert ids == [1, None, 2]
        assert tx.entities.add(Name.of("Alpha"), type=None) is None
        rows = tx.entities.rows(["alpha", "beta"])
        assert [(r.id, r.sense, r.type) for r in rows["alpha"]] == [(1, 0, "thing"), (2, 1, None)]
        assert list(tx.entities.rows_by_foreign_id(["x"])) == ["x"]
        assert tx.entities.attributes_many([1, 2]) == {1: {"a": "ä"}}
        memories = tx.memories.add_many([NewMemory("one", caller_id="c"), NewMemory("two")])
        assert tx.memories.known_callers(["c", "d"]) == {"c"}
        mentions = [(memories[0], 1, "Alpha"), (memories[0], 1, "Alpha"), (memories[1], 2, "a")]
        assert tx.edges.add_mentions(mentions) == 2
        facts = [NewFact(memories[0], 1, "is", 2), NewFact(memories[0], 1, "is", 2)]
        assert tx.edges.add_facts(facts) == 1
        page = tx.memories.page(after=0, limit=10)
        assert [(m.content, [e.spelling for e in edges]) for m, edges in page] == [
            ("one", ["Alpha"]),
            ("two", ["a"]),
        ]


def test_ids_are_never_used_twice(store: Store) -> None:
    with store.write() as tx:
        first = mint(tx, "Alpha", "Beta")
        tx.entities.delete(first)
        memory = tx.memories.add("text")
        tx.memories.delete(memory)
    with store.write() as tx:
        assert mint(tx, "Gamma")[0] > max(first)
        assert tx.memories.add("text") > memory


def test_the_context_of_a_pass_is_read_back_as_it_was(store: Store) -> None:
    context = Context(frozenset({"corp", "東京"}), types_trusted=True, rules="strict")
    with store.write() as tx:
        assert tx.context() is None
        tx.set_context(context)
    with store.read() as tx:
        assert tx.context() == context


def test_runs_keep_what_was_set_aside(store: Store) -> None:
    piece = SetAside("file.jsonl", 3, "cut off", '{"name": ')
    with store.write() as tx:
        run = tx.runs.start("import")
        tx.runs.set_aside(run, [piece])
        tx.runs.finish(run, {"entities": 1}, error="half")
    with store.read() as tx:
        assert tx.runs.pieces(run) == [piece]
        found = tx.runs.get(run)
        assert found is not None
        assert (found.report, found.error, tx.runs.recent()) == ({"entities": 1}, "half", [found])


def test_the_name_index_forgets_deleted_rows(store: Store) -> None:
    with store.write() as tx:
        one, two = mint(tx, "Alpha", "Beta")
        tx.names.add([(7, one), (7, two), (-8, two), (7, one)])
        assert tx.names.unindexed() == [one, two]
        tx.names.mark_indexed(two)
        assert tx.names.unindexed() == []
        assert tx.names.probe([7, -8]) == {one, two}
        tx.entities.delete([two])
        assert tx.names.probe([7, -8]) == {one}


def test_rows_of_equal_letters_are_looked_at_again_together(store: Store) -> None:
    with store.write() as tx:
        one, two, other = mint(tx, "Al-pha", "Alpha", "Beta")
        tx.entities.mark_all_examined(other)
        assert tx.entities.unexamined() == []
        tx.entities.forget_examined([one])
        assert tx.entities.unexamined() == [one, two]
        tx.entities.mark_examined([one])
        assert tx.entities.unexamined() == [two]
        assert other not in tx.entities.unexamined()


# ---- copies ----


def test_a_backup_reads_back_as_what_was_copied(path: str, tmp_path: Path) -> None:
    store = open_store(path)
    with store.write() as tx:
        mint(tx, "Alpha")
    target = store.backup(str(tmp_path / "copy.db"))
    copy = open_store(target)
    with copy.read() as tx:
        assert [e.name for e in tx.entities.live()] == ["Alpha"]
    with pytest.raises(Refused) as refused:
        store.backup(target)
    assert refused.value.code == "target_exists"
    named = Path(store.backup(run_id=3))
    assert named.parent == Path(path + ".backups")
    assert named.name.endswith("-run3.db")
    assert [p.name for p in named.parent.iterdir()] == [named.name]


def test_a_copy_that_does_not_read_back_is_no_backup(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(path)
    ticks = count()
    monkeypatch.setattr(sqlite_module, "_counts", lambda _: {"entity": next(ticks)})
    with pytest.raises(Unavailable) as refused:
        store.backup()
    assert refused.value.code == "backup_failed"
    assert store.backups is not None
    assert list(store.backups.iterdir()) == []


@pytest.mark.sqlite
def test_a_graph_in_memory_can_be_backed_up_into_a_file(tmp_path: Path) -> None:
    store = open_store(":memory:")
    with store.write() as tx:
        mint(tx, "Alpha")
    with open_store(store.backup(str(tmp_path / "copy.db"))).read() as tx:
        assert tx.entities.count() == 1
    with pytest.raises(Refused) as refused:
        store.backup()
    assert refused.value.code == "no_file"


def test_a_restore_brings_back_the_copy_and_keeps_what_it_replaced(path: str) -> None:
    store = open_store(path)
    with store.write() as tx:
        mint(tx, "Alpha")
    target = store.backup()
    with store.write() as tx:
        mint(tx, "Beta")
    reader = open_store(path)
    with reader.read() as tx:
        kept = store.restore(target)
        assert tx.entities.count() == 2
    for graph in (store, reader, open_store(path)):
        with graph.read() as tx:
            assert [e.name for e in tx.entities.live()] == ["Alpha"]
            assert check(tx).clean
    assert kept is not None
    with open_store(kept).read() as tx:
        assert tx.entities.count() == 2
    with store.write() as tx:
        mint(tx, "Gamma")


def test_only_a_sound_graph_can_be_restored(path: str, tmp_path: Path) -> None:
    store = open_store(path)
    with store.write() as tx:
        for at in range(500):
            mint(tx, f"Alpha {at}")
    copy = Path(store.backup())
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(copy.read_bytes()[:20_480] + b"\x07" * 4096 + copy.read_bytes()[24_576:])
    text = tmp_path / "text.db"
    text.write_text("no database")
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE notes (text)")
    connection.close()
    for source, code in [
        (damaged, "corrupt"),
        (text, "not_a_database"),
        (foreign, "foreign_database"),
        (tmp_path / "absent.db", "no_graph"),
        (Path(path), "same_file"),
    ]:
        with pytest.raises(Error) as refused:
            store.restore(str(source))
        assert refused.value.code == code, source
    with store.read() as tx:
        assert tx.entities.count() == 500


KILLED = """
import os, signal, sys
from enfold.store import open_store
store = open_store(sys.argv[1])
backup = store.backup
def killed(*args, **named):
    kept = backup(*args, **named)
    os.kill(os.getpid(), signal.SIGKILL)
store.backup = killed
store.restore(sys.argv[2])
"""


def test_a_restore_killed_halfway_leaves_the_graph_as_it_was(path: str) -> None:
    store = open_store(path)
    with store.write() as tx:
        mint(tx, *(f"Alpha {at}" for at in range(500)))
    copy = store.backup()
    with store.write() as tx:
        mint(tx, "Beta")
    store.close()
    killed = subprocess.run([sys.executable, "-c", KILLED, path, copy], check=False)
    assert killed.returncode == -signal.SIGKILL
    with open_store(path).read() as tx:
        assert tx.entities.count() == 501
        assert check(tx).clean


def test_a_write_waits_for_a_restore_and_is_not_lost(path: str) -> None:
    store, other = open_store(path), open_store(path)
    with store.write() as tx:
        mint(tx, "Alpha")
    copy = store.backup()
    started = threading.Event()
    backup = store.backup

    def slow(*args: Any, **named: Any) -> str:
        started.set()
        time.sleep(0.3)
        return backup(*args, **named)

    store.backup = slow  # type: ignore[method-assign]

    def write() -> None:
        started.wait(10)
        with other.write() as tx:
            mint(tx, "Beta")

    writer = threading.Thread(target=write)
    writer.start()
    store.restore(copy)
    writer.join()
    with store.read() as tx:
        assert [e.name for e in tx.entities.live()] == ["Alpha", "Beta"]


# ---- plans ----


Ask = Callable[[Any, int], object]


def folded(tx: Any, one: int) -> object:
    from enfold import folds
    from enfold.model import DecidedBy

    rows = tx.entities.many([one, one + 1])
    merge = folds.fold(
        tx, rows[one], rows[one + 1], decided_by=DecidedBy.HUMAN, rule="", score=1.0, reason=""
    )
    folds.preview_revert(tx, merge.id)
    return folds.revert(tx, merge.id)


WAITED_FOR: dict[str, Ask] = {
    "get": lambda tx, one: tx.entities.get(one),
    "by_key": lambda tx, one: tx.entities.by_key("alpha 1"),
    "rows": lambda tx, one: tx.entities.rows(["alpha 1"]),
    "by_merge_key": lambda tx, one: tx.entities.by_merge_key("alpha1"),
    "live": lambda tx, one: tx.entities.live(after=one, limit=5),
    "cluster": lambda tx, one: tx.entities.cluster(one),
    "aliases": lambda tx, one: tx.entities.aliases([one]),
    "forget_examined": lambda tx, one: tx.entities.forget_examined([one]),
    "unexamined": lambda tx, one: tx.entities.unexamined(),
    "mentions_of": lambda tx, one: tx.edges.mentions_of(one),
    "facts_of": lambda tx, one: tx.edges.facts_of(one),
    "counts": lambda tx, one: (tx.edges.count_mentions(one), tx.edges.count_facts(one)),
    "links": lambda tx, one: tx.edges.links(one, facts=10),
    "shared_sources": lambda tx, one: tx.edges.shared_sources(one, memories=10),
    "shared_sources of a few": lambda tx, one: tx.edges.shared_sources(
        one, memories=10, mentions=50
    ),
    "links_between": lambda tx, one: tx.edges.links_between(one, one + 1),
    "shared_between": lambda tx, one: tx.edges.shared_between(one, one + 1),
    "related": lambda tx, one: related.related(tx, lookup.follow(tx, one), depth=3, agent="a"),
    "path": lambda tx, one: related.path(tx, lookup.follow(tx, one), lookup.follow(tx, one + 9)),
    "asserted_to": lambda tx, one: tx.edges.asserted_to([one]),
    "owned": lambda tx, one: tx.edges.owned([one]),
    "stated": lambda tx, one: tx.edges.stated([one]),
    "memory_page": lambda tx, one: tx.memories.page(after=3, limit=2),
    "fold, preview, revert": folded,
    "touching": lambda tx, one: tx.merges.touching(one),
    "pending": lambda tx, one: tx.conflicts.pending(),
    "count_pending": lambda tx, one: tx.conflicts.count_pending(),
    "between": lambda tx, one: tx.decisions.between(one, one + 1),
    "ask": lambda tx, one: tx.conflicts.ask(
        [Proposal(one, one + 2, Verdict.ASK, "", 0.5)], asked_by=""
    ),
    "probe": lambda tx, one: tx.names.probe([7]),
    "starting": lambda tx, one: tx.entities.starting("al", limit=5),
    "rows_by_id": lambda tx, one: tx.entities.rows_by_id([one]),
    "rows_by_foreign_id": lambda tx, one: tx.entities.rows_by_foreign_id(["x"]),
    "mention_counts": lambda tx, one: tx.entities.mention_counts([one]),
    "attributes_many": lambda tx, one: tx.entities.attributes_many([one]),
    "attributes_of": lambda tx, one: tx.entities.attributes_of([one]),
    "identified": lambda tx, one: tx.entities.identified([one]),
    "shown_names": lambda tx, one: tx.entities.shown_names([one]),
    "passages": lambda tx, one: tx.edges.passages(one, memories=5, around=9),
    "known_callers": lambda tx, one: tx.memories.known_callers(["x"]),
    "fact_attributes": lambda tx, one: tx.edges.fact_attributes(["x"]),
    "of_rows": lambda tx, one: tx.decisions.of_rows(*tx.entities.many([one, one + 1]).values()),
    "apart_roots": lambda tx, one: tx.decisions.apart_roots(around=[one]),
    "by_decision": lambda tx, one: tx.conflicts.by_decision(one),
    "reopen": lambda tx, one: (WAITED_FOR["ask"](tx, one), tx.conflicts.reopen(1)),
    "withdraw": lambda tx, one: tx.conflicts.withdraw([1]),
    "open_around": lambda tx, one: tx.suggestions.open_around(one, limit=5),
    "open_around of a type": lambda tx, one: tx.suggestions.open_around(one, limit=5, type="t"),
    "count_open_around": lambda tx, one: tx.suggestions.count_open_around(one),
    "open_between": lambda tx, one: tx.suggestions.open_between([one, one + 1, one + 2]),
    "words known": lambda tx, one: tx.words.known(["alpha"]),
    "words starting": lambda tx, one: tx.words.starting("al", limit=5),
    "words holding": lambda tx, one: tx.words.holding("lph", limit=5),
    "words resembling": lambda tx, one: tx.words.resembling("alpah", limit=5),
    "words' rows": lambda tx, one: tx.words.rows(1, type="t", limit=5),
    "words' common rows": lambda tx, one: tx.words.rows_of_all([1, 2], type="t", limit=5),
    "search": lambda tx, one: spelling.search(tx, Name.of("Alpah 3")),
    "last run": lambda tx, one: tx.runs.last("review", actor="Ada"),
    "delete memory": lambda tx, one: tx.memories.delete(1),
    "delete entity": lambda tx, one: tx.entities.delete([one + 3]),
}


@pytest.mark.parametrize("asked", WAITED_FOR)
def test_no_answer_that_is_waited_for_reads_a_whole_table(path: str, asked: str) -> None:
    store = open_store(path)
    with store.write() as tx:
        ids = mint(tx, *(f"Alpha {at}" for at in range(20)))
        memories = tx.memories.add_many([NewMemory(f"{at}") for at in range(20)])
        tx.edges.add_mentions((m, row, "") for m in memories for row in ids[:3])
        tx.edges.add_facts(NewFact(m, ids[0], "is", ids[1]) for m in memories)
        near = [(ids[at], ids[at + 1], "r", 0.5) for at in range(19)]
        tx.suggestions.replace_all(Asked.of(near).columns())
    statements: list[str] = []
    with store.write() as tx:
        connection = sql_of(tx)._connection
        connection.set_trace_callback(statements.append)
        WAITED_FOR[asked](tx, ids[0])
        connection.set_trace_callback(None)
        scans = {s for text in statements for s in whole_scans(connection, text, *ALSO)}
    assert not scans


ALSO = ("open_pair", "decision", "d")
"""What a pass and the next card may go through: the decisions in force, and open pairs by rank."""


def whole_scans(connection: sqlite3.Connection, statement: str, *also: str) -> Iterator[str]:
    # A trigger's statements, such as a cascade's, are traced as comments.
    if not statement.lstrip().upper().startswith(("SELECT", "WITH", "INSERT", "UPDATE", "DELETE")):
        return
    big = ("entity", "mention", "fact", "memory", "merge", "merge_edge", "name_index", "suggestion")
    alias = {*big, *also, "word", "word_of", *"aefmoq", "qr", "dr"}
    for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {statement}"):
        words = step.split()
        # The partial indexes of what waits to be looked at hold just that.
        if words[0] != "SCAN" or words[1] not in alias or "entity_un" in step:
            continue
        if words[1] != "suggestion" or "EXISTS (SELECT 1 FROM suggestion)" not in statement:
            yield f"{step}  in  {' '.join(statement.split())[:200]}"


def test_deleting_looks_every_reference_up_in_an_index(path: str) -> None:
    store = open_store(path)
    with store.read() as tx:
        connection = sql_of(tx)._connection
        tables = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        unindexed = [
            f"{table}.{key[3]}"
            for table in tables
            for key in connection.execute(f'PRAGMA foreign_key_list("{table}")').fetchall()
            if any(
                step[-1].startswith("SCAN")
                for step in connection.execute(
                    f'EXPLAIN QUERY PLAN SELECT 1 FROM "{table}" WHERE "{key[3]}" = 1'
                )
            )
        ]
    assert unindexed == []


def test_a_graph_of_an_older_schema_is_brought_up_to_date(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from enfold.store import schema

    open_store(path).close()
    shutil.copy(path, path + ".old")
    extended = [*schema.MIGRATIONS, "CREATE TABLE later (id INTEGER PRIMARY KEY);\n"]
    monkeypatch.setattr(schema, "MIGRATIONS", extended)
    monkeypatch.setattr(schema, "VERSION", len(extended))
    monkeypatch.setattr(sqlite_module, "VERSION", len(extended))
    with pytest.raises(Unavailable) as refused:
        open_store(path, read_only=True)
    assert refused.value.code == "read_only"
    store = open_store(path)
    (kept,) = Path(f"{path}.backups").iterdir()
    with closing(sqlite3.connect(kept)) as copy:
        assert copy.execute("PRAGMA user_version").fetchone() == (VERSION,)
    with store.write() as tx:
        sql_of(tx).run("INSERT INTO later DEFAULT VALUES")
    store.restore(path + ".old")
    with store.write() as tx:
        sql_of(tx).run("INSERT INTO later DEFAULT VALUES")


def test_a_migration_that_fails_leaves_the_older_schema(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from enfold.store import schema

    open_store(path).close()
    broken = [*schema.MIGRATIONS, "CREATE TABLE later (id);\nCREATE TABLE later (id);\n"]
    monkeypatch.setattr(schema, "MIGRATIONS", broken)
    monkeypatch.setattr(schema, "VERSION", len(broken))
    monkeypatch.setattr(sqlite_module, "VERSION", len(broken))
    with pytest.raises(Unavailable):
        open_store(path)
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(broken) - 1,)
        assert connection.execute(
            "SELECT count(*) FROM sqlite_master WHERE name = 'later'"
        ).fetchone() == (0,)
    connection.close()
