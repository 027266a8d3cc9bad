"""A graph in PostgreSQL: what is not the same statement as in SQLite.

That it is the same graph is shown by the tests of everything else, which run on both databases.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

import enfold
from enfold.errors import Error
from enfold.graph import Graph
from enfold.store import open_store
from enfold.store.postgresql import memorywords, schema
from enfold.store.postgresql import store as stores
from enfold.store.postgresql.address import Address
from enfold.store.postgresql.statements import translated
from tests.embedders import FakeEmbedder
from tests.inside import sql_of
from tests.servers import Server

EXAMPLE = Path(__file__).parents[1] / "examples" / "attraccess" / "memory.jsonl"
_NUMBERS = itertools.count(1)
SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture
def url(server: Server) -> str:
    """The address of a new graph."""
    return server.schema(f"graph_{os.getpid()}_{next(_NUMBERS)}")


def opened(url: str, **options: Any) -> Graph:
    return enfold.open(url, embedder=None, **options)


def whole(graph: Graph, folder: Path) -> str:
    target = folder / f"{next(_NUMBERS)}.jsonl"
    graph.export_to(target, "enfold", sealed=True)
    return target.read_text(encoding="utf-8")


# ---- where a graph lies -------------------------------------------------------------------------


def test_graphs_of_one_database_do_not_see_each_other(server: Server) -> None:
    with opened(server.schema("here")) as here, opened(server.schema("there")) as there:
        here.remember("Ada wrote it.", mentions=["Ada"])
        assert isinstance(here.find("Ada"), enfold.Found)
        assert isinstance(there.find("Ada"), enfold.Unknown)
        assert there.summary().memories == 0


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("postgresql://h/db?schema=No", "unknown_url"),
        ("postgresql://h/db?schema=a;drop", "unknown_url"),
        ("postgresql://h/db?schema=pg_catalog", "unknown_url"),
        ("postgresql://h/db?statement_timeout=soon", "unknown_url"),
        ("postgresql://h:port/db", "unknown_url"),
        ("postgresql://ada:geheim@127.0.0.1:1/db", "cannot_open"),
        ("postgresql://ada:geheim@127.0.0.1:1/db?nonsense=1", "database_error"),
    ],
)
def test_an_address_that_leads_nowhere_is_a_clear_error_without_the_password(
    address: str, code: str
) -> None:
    with pytest.raises(Error) as refused:
        open_store(address)
    assert refused.value.code == code
    assert "geheim" not in str(refused.value)


def test_what_is_shown_of_an_address_is_no_secret() -> None:
    address = Address.of("postgres://ada:geheim@db.example:5433/team?sslmode=require&schema=work")
    assert address.shown == "postgresql://db.example:5433/team?schema=work"
    assert address.url == "postgres://ada:geheim@db.example:5433/team?sslmode=require"
    assert "geheim" not in repr(address)


def test_a_database_that_is_not_there_is_named(server: Server) -> None:
    with pytest.raises(Error, match="nowhere") as refused:
        open_store(server.url.replace("/postgres?", "/nowhere?"))
    assert refused.value.code == "cannot_open"


def test_a_graph_that_is_not_there_is_made_only_where_that_is_meant(url: str) -> None:
    for options in ({"create": False}, {"read_only": True}):
        with pytest.raises(enfold.NotFound) as missing:
            opened(url, **options)
        assert missing.value.code == "no_graph"
    opened(url).close()
    with opened(url, create=False, read_only=True) as graph:
        with pytest.raises(enfold.Unavailable) as refused:
            graph.remember("Ada")
        assert refused.value.code == "read_only"


def test_the_tables_of_another_program_are_left_alone(server: Server) -> None:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA shop")
        connection.execute("CREATE TABLE shop.entity (id int)")
    with pytest.raises(enfold.Invalid) as refused:
        open_store(server.schema("shop"))
    assert refused.value.code == "foreign_database"


def test_a_newer_graph_is_refused(server: Server, url: str) -> None:
    opened(url).close()
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"UPDATE {Address.of(url).schema}.graph SET version = 999")
    with pytest.raises(enfold.Refused) as refused:
        open_store(url)
    assert refused.value.code == "newer_schema"


def test_an_older_graph_is_brought_up_to_date_or_left_as_it_was(
    server: Server, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(url).close()
    older = schema.VERSION
    for script, version in (
        ("CREATE TABLE later ();bad", older),
        ("CREATE TABLE later ()", older + 1),
    ):
        monkeypatch.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS[:older], script])
        for module in (schema, stores):
            monkeypatch.setattr(module, "VERSION", older + 1)
        if version == older:
            with pytest.raises(Error):
                opened(url)
        else:
            opened(url).close()
        with psycopg.connect(server.url) as connection:
            name = Address.of(url).schema
            assert connection.execute(f"SELECT version FROM {name}.graph").fetchone() == (version,)
            later = connection.execute(f"SELECT to_regclass('{name}.later')").fetchone()
            assert (later != (None,)) == (version > older)


def _open_once(url: str) -> None:
    opened(url).close()


def test_many_processes_may_make_one_graph_at_once(url: str) -> None:
    processes = [SPAWN.Process(target=_open_once, args=(url,)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 4
    with opened(url, create=False) as graph:
        assert graph.check().clean


# ---- the same graph -----------------------------------------------------------------------------


def history(graph: Graph) -> list[object]:
    """Something of everything; what was answered."""
    said: list[object] = []
    graph.import_files(EXAMPLE)
    report = graph.resolve()
    said += [report.pairs, report.merged, report.queued, report.deferred, report.questions]
    for question in graph.conflicts()[:2]:
        graph.decide(question.id, "keep_both" if question.id % 2 else "keep_existing")
    graph.remember("Ada Lovelace works on `attraccess` with Émile.", mentions=["Émile"])
    graph.remember("emile moved to the Attraccess project.", mentions=["emile"])
    graph.remember("Only for me.", sealed_for="bob", mentions=["Nobody Else"])
    graph.merge("emile", "Émile")
    graph.revert(graph.merges()[0].id)
    graph.remember("我们在上海用 PostgreSQL。", mentions=["上海"])
    said += [
        graph.search("attrac", limit=5),
        graph.find("lovelace"),
        graph.related("Attraccess Project"),
    ]
    for query in ("who works on attraccess?", "上海", "PostgreSQL", "emile moved", "the the"):
        for agent in (None, "bob"):
            recalled = graph.recall(query, agent=agent)
            said.append([(one.memory.id, round(one.score, 6)) for one in recalled.memories])
    graph.forget(graph.recall("emile moved").memories[0].memory.id)
    said.append(replace(graph.summary(), url=""))
    assert graph.check().clean
    return said


def timeless(text: str) -> str:
    """Without the times that differ from run to run."""

    return re.sub(
        r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z|\d{8}T\d{12}Z|[0-9a-f]{64}", "", text
    )


def test_one_history_makes_the_same_graph_and_answers_in_both_databases(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    embedder = FakeEmbedder()
    with (
        enfold.open(url, embedder=embedder) as served,
        enfold.open(tmp_path / "e.db", embedder=embedder) as file,
    ):
        here, there = history(served), history(file)
        for one, other in zip(here, there, strict=True):
            assert timeless(str(one)) == timeless(str(other))


@pytest.mark.parametrize("way", ["copy", "backup"])
def test_a_graph_comes_whole_from_one_database_into_the_other_and_back(
    url: str, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.chdir(tmp_path)
    embedder = FakeEmbedder()
    with enfold.open(url, embedder=embedder) as graph:
        history(graph)
        told = whole(graph, tmp_path)
        found = graph.recall("who works on attraccess?").memories
        if way == "backup":
            file, again = graph.backup(), server.schema(f"again_{way}")
            with enfold.open(again, embedder=embedder) as restored:
                restored.remember("This will be gone.")
                kept = restored.restore(file)
            assert kept is not None
            with enfold.open(kept, create=False, embedder=embedder) as before:
                assert before.summary().memories == 1
        else:
            file, again = str(tmp_path / "copy.db"), server.schema(f"again_{way}")
            enfold.copy(url, file)
            copied = enfold.copy(f"sqlite:{file}", again)
            assert copied.rows["memory"] == graph.summary().memories + 1  # the sealed one
            with pytest.raises(enfold.Refused) as refused:
                enfold.copy(file, again)
            assert refused.value.code == "not_empty"
    for place in (file, again):
        with enfold.open(place, create=False, embedder=embedder) as graph:
            assert graph.check().clean
            assert timeless(whole(graph, tmp_path)) == timeless(told)
            assert graph.recall("who works on attraccess?").memories == found
            assert graph.resolve().merged == 0


def test_a_copy_that_fails_leaves_nothing(url: str, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    with pytest.raises(enfold.NotFound):
        enfold.copy(url, target)
    assert not target.exists()
    with opened(url) as graph:
        graph.remember("Ada wrote it.", mentions=["Ada"])
    with pytest.raises(enfold.Refused) as refused:
        enfold.copy(url, url)
    assert refused.value.code == "same_file"
    with pytest.raises(enfold.Error):
        enfold.copy(url, tmp_path / "nowhere" / "copy.db")
    assert not (tmp_path / "nowhere").exists()


def test_a_damaged_or_foreign_file_is_not_restored(url: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.db"
    bad.write_bytes(b"no graph at all" * 100)
    with opened(url) as graph:
        graph.remember("Ada wrote it.", mentions=["Ada"])
        for source, code in ((bad, "not_a_database"), (tmp_path / "none.db", "no_graph")):
            with pytest.raises(Error) as refused:
                graph.restore(source)
            assert refused.value.code == code
        assert isinstance(graph.find("Ada"), enfold.Found)


def test_only_so_many_backups_are_kept(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with opened(url, keep_backups=2) as graph:
        for at in range(4):
            graph.remember(f"Bell {at} and bell-{at}", mentions=[f"Bell {at}"])
            graph.import_files(EXAMPLE)
            graph.remember("x", mentions=[f"Ring {at}", f"ring-{at}"], read=False)
            graph.resolve(full=True)
        folder = graph._store.backups
        assert folder is not None
        assert len(list(folder.glob("*.db"))) <= 2


# ---- many at once -------------------------------------------------------------------------------


def _mint(url: str, times: int) -> None:
    with opened(url) as graph:
        for at in range(times):
            graph.remember(f"Said by {os.getpid()}: {at}", mentions=[f"Thing {at}"], read=False)


def test_processes_that_make_one_name_make_one_entity(url: str) -> None:
    opened(url).close()
    processes = [SPAWN.Process(target=_mint, args=(url, 15)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0] * 4
    with opened(url) as graph:
        assert (graph.summary().entities, graph.summary().memories) == (15, 60)
        assert graph.check().clean


def test_who_reads_waits_for_no_writer_and_sees_one_moment(url: str) -> None:
    with closing(open_store(url)) as store:
        with store.write() as tx:
            tx.memories.add("first")
        with store.read() as before:
            assert before.memories.count() == 1
            with store.write() as tx:
                tx.memories.add("second")
                assert before.memories.count() == 1
            assert before.memories.count() == 1
        with store.read() as after:
            assert after.memories.count() == 2


def test_a_writer_that_waits_too_long_says_so(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(open_store(url)) as first:
        monkeypatch.setattr(stores, "WAIT_SECONDS", 1)
        with closing(open_store(url)) as second, first.write():
            with pytest.raises(enfold.Unavailable) as refused, second.write():
                pass
            assert refused.value.code == "locked"


def test_a_thread_does_not_wait_for_itself(url: str) -> None:
    with (
        closing(open_store(url)) as store,
        store.write(),
        pytest.raises(RuntimeError, match="of this thread"),
        store.write(),
    ):
        pass


def test_a_statement_that_takes_too_long_is_ended(url: str) -> None:
    with closing(open_store(f"{url}&statement_timeout=1")) as store:
        with pytest.raises(enfold.Unavailable) as refused, store.read() as tx:
            sql_of(tx).value("SELECT pg_sleep(5)")
        assert refused.value.code == "too_slow"
        with store.read() as tx:
            assert tx.memories.count() == 0


def test_more_threads_than_connections_take_turns(url: str) -> None:
    with opened(url) as graph:
        graph.remember("Ada wrote it.", mentions=["Ada"])
        found: list[object] = []
        threads = [
            threading.Thread(target=lambda: found.append(graph.find("Ada"))) for _ in range(30)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(found) == 30
        assert all(isinstance(one, enfold.Found) for one in found)


# ---- what breaks --------------------------------------------------------------------------------


def _die_within(url: str) -> None:
    with closing(open_store(url)) as store, store.write() as tx:
        tx.memories.add("half")
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_writer_that_is_killed_leaves_nothing_and_holds_nobody_up(url: str) -> None:
    opened(url).close()
    process = SPAWN.Process(target=_die_within, args=(url,))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    with opened(url) as graph:
        graph.remember("whole")
        assert graph.summary().memories == 1


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "s").mkdir()
    started = Server(tmp_path / "s", durable=True)
    yield started
    started.stop()


def test_a_server_that_is_killed_and_started_again_goes_on(
    own_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(own_server.schema("g")) as graph:
        graph.remember("Ada wrote it.", mentions=["Ada"])
        own_server.kill()
        monkeypatch.setattr(stores, "WAIT_SECONDS", 2)  # of the next pool
        for verb in (lambda: graph.find("Ada"), lambda: graph.remember("Lost.")):
            with pytest.raises(enfold.Unavailable) as refused:
                verb()
            assert refused.value.code == "cannot_open"
        own_server.start()
        assert isinstance(graph.find("Ada"), enfold.Found)
        graph.remember("Kept.")
        assert graph.summary().memories == 2
        assert graph.check().clean


def test_a_connection_is_not_carried_across_a_fork(url: str) -> None:
    with opened(url) as graph:
        graph.remember("Ada wrote it.", mentions=["Ada"])
        child = os.fork()
        if child == 0:  # pragma: no cover - another process
            found = isinstance(graph.find("Ada"), enfold.Found)
            os._exit(0 if found else 1)
        _, status = os.waitpid(child, 0)
        assert status == 0
        assert isinstance(graph.find("Ada"), enfold.Found)


# ---- the statements -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("common", "here"),
    [
        ("SELECT 1 WHERE a = :a", "SELECT 1 WHERE a = %(a)s"),
        ("a IN (SELECT value FROM json_each(:ids))", "a = ANY(%(ids)s)"),
        ("a NOT IN (SELECT value FROM json_each(:ids))", "a <> ALL(%(ids)s)"),
        (
            "FROM json_each(:ids) t CROSS",
            "FROM unnest(CAST(%(ids)s AS bigint[])) AS t(value) CROSS",
        ),
        ("a IS NOT b", "a IS DISTINCT FROM b"),
        ("a IS :b", "a IS NOT DISTINCT FROM %(b)s"),
        ("a IS NULL AND b IS NOT NULL", "a IS NULL AND b IS NOT NULL"),
        ("CAST(a AS INTEGER) % ?", "CAST(a AS BIGINT) %% %s"),
    ],
)
def test_a_statement_says_the_same_in_postgresql(common: str, here: str) -> None:
    assert translated(common)[0] == here


@pytest.mark.parametrize(
    "text",
    [
        "it's",
        "back\\slash",
        '"quoted"',
        "100 %",
        "a:b",
        "{curly},",
        "naïve 東京 🦊",
        "%(x)s",
        "NULL",
    ],
)
def test_any_text_comes_back_as_it_was(url: str, text: str) -> None:
    with opened(url) as graph:
        graph.remember(text, caller_id=text, source=text, read=False, mentions=[text])
        (found,) = graph.recall(text).memories
        assert (found.memory.content, found.memory.source) == (text, text)
        assert graph.remember(text, caller_id=text).repeat
        assert isinstance(graph.find(text), enfold.Found)


def test_words_are_told_apart_as_in_sqlite() -> None:
    said = list(memorywords.tokens("Émile's C3PO, naïve-東京 ΑΒΓ_x"))
    assert said == ["emile", "s", "c3po", "naive", "東京", "αβγ", "x"]


def test_a_text_beyond_what_full_text_holds_is_found_by_its_beginning(url: str) -> None:
    words = " ".join(f"word{at}" for at in range(200_000))
    with opened(url) as graph:
        with closing(open_store(url)) as store, store.write() as tx:
            tx.memories.add(f"marmalade {words} zebra")
        assert [one.memory.id for one in graph.recall("marmalade").memories] == [1]
