from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import enfold
from enfold import lookup
from enfold.check import check
from enfold.errors import Error, Refused, Unavailable
from enfold.guard import guarded, tried
from enfold.model import Imported, Run
from enfold.names import Name
from enfold.ports import NewMemory, Tx
from enfold.store import Store, open_store
from enfold.store import sqlite as sqlite_module
from tests.test_store import fill_up
from tests.told import told


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = open_store(str(tmp_path / "graph.db"))
    with store.write() as tx:
        lookup.mint(tx, Name.of("Alpha"))
    return store


def last_run(store: Store) -> Run:
    with store.read() as tx:
        return tx.runs.recent()[0]


def add_beta(tx: Tx) -> int:
    return lookup.mint(tx, Name.of("Beta"))[0].id


def names(store: Store) -> list[str]:
    with store.read() as tx:
        return [entity.name for entity in tx.entities.live()]


def test_what_is_tried_gives_its_result_and_is_not_kept(store: Store) -> None:
    assert tried(store, add_beta) == 2
    assert names(store) == ["Alpha"]
    with store.read() as tx:
        assert tx.runs.recent() == []


def test_an_error_of_what_is_tried_is_raised(store: Store) -> None:
    def refuse(tx: Tx) -> int:
        add_beta(tx)
        raise Refused("no", "No.")

    with pytest.raises(Refused):
        tried(store, refuse)
    assert names(store) == ["Alpha"]


def test_a_guarded_action_is_backed_up_done_and_recorded(store: Store) -> None:
    seen: list[int | None] = []

    def action(tx: Tx) -> Imported:
        seen.append(tx.run_id)
        add_beta(tx)
        return Imported(tx.run_id, "file", "mcp", entities=1)

    done = guarded(store, "import", action, backup=True)
    assert seen == [done.run_id]
    assert done.result.entities == 1
    assert names(store) == ["Alpha", "Beta"]
    assert done.backup is not None
    assert names(open_store(done.backup)) == ["Alpha"]
    assert re.fullmatch(rf"graph-\d{{8}}T\d{{12}}Z-run{done.run_id}\.db", Path(done.backup).name)
    run = last_run(store)
    assert (run.kind, run.backup, run.error) == ("import", done.backup, None)
    assert run.report["entities"] == 1
    assert run.ended_at is not None


@pytest.mark.sqlite
def test_a_graph_in_memory_is_guarded_without_a_backup() -> None:
    store = open_store(":memory:")
    assert guarded(store, "pass", add_beta, backup=True).backup is None
    assert names(store) == ["Beta"]


def test_an_action_that_fails_changes_nothing_and_is_recorded(store: Store) -> None:
    def action(tx: Tx) -> None:
        add_beta(tx)
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError):
        guarded(store, "pass", action, backup=True)
    assert names(store) == ["Alpha"]
    run = last_run(store)
    assert run.error == "RuntimeError: half way"
    assert run.backup is not None
    assert Path(run.backup).exists()


def test_an_action_that_breaks_an_invariant_is_taken_back(store: Store) -> None:
    def action(tx: Any) -> None:
        row = add_beta(tx)
        tx._sql.run("UPDATE entity SET folded_into = 1 WHERE id = :id", id=row)

    with pytest.raises(Refused) as refused:
        guarded(store, "pass", action, backup=False)
    assert refused.value.code == "check_failed"
    assert names(store) == ["Alpha"]
    assert (last_run(store).error or "").startswith("check_failed")


def test_a_full_disk_changes_nothing(store: Store) -> None:
    fill_up(store)

    def action(tx: Tx) -> None:
        add_beta(tx)
        tx.memories.add_many([NewMemory(f"memory {at} " * 50) for at in range(10_000)])

    with pytest.raises(Unavailable) as refused:
        guarded(store, "pass", action, backup=False)
    assert refused.value.code == "disk_full"
    again = open_store(store.url)
    assert names(again) == ["Alpha"]
    with again.read() as tx:
        assert check(tx).clean


def test_without_a_backup_that_reads_back_nothing_is_done(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_module, "_problems", lambda *_: ["page 3 is not used"])
    with pytest.raises(Error) as refused:
        guarded(store, "pass", add_beta, backup=True)
    assert refused.value.code == "backup_failed"
    assert names(store) == ["Alpha"]
    assert (last_run(store).error or "").startswith("backup_failed")


def test_no_backup_is_deleted_unless_one_is_told_how_many_to_keep(store: Store) -> None:
    for _ in range(3):
        guarded(store, "pass", lambda tx: None, backup=True)
    assert store.backups is not None
    assert len(list(store.backups.iterdir())) == 3
    mine = store.backups / "graph-before-the-move.db"
    mine.touch()
    kept = guarded(store, "pass", lambda tx: None, backup=True, keep_backups=1).backup
    assert sorted(map(str, store.backups.iterdir())) == sorted([str(mine), str(kept)])


KILLED = """
import os, signal, sys
from enfold import folds, lookup
from enfold.guard import guarded
from enfold.model import DecidedBy, Proposal, Verdict
from enfold.names import Name
from enfold.ports import NewRow
from enfold.store import open_store
from enfold.store.merges import Merges
store = open_store(sys.argv[1])
def point(self):
    pointed(self)
    os.kill(os.getpid(), signal.SIGKILL)
pointed, Merges._point = Merges._point, point
def action(tx):
    pairs = [Proposal(at, at + 1000, Verdict.FOLD, "r", 1.0) for at in range(1, 1000)]
    folds.fold_batch(tx, pairs, decided_by=DecidedBy.RULE)
guarded(store, "pass", action, backup=True)
"""


def test_a_kill_in_the_middle_of_a_batch_leaves_the_graph_as_it_was(store: Store) -> None:
    with store.write() as tx:
        for at in range(2_100):
            lookup.mint(tx, Name.of(f"name {at}"))
    killed = subprocess.run([sys.executable, "-c", KILLED, store.url], check=False)
    assert killed.returncode == -signal.SIGKILL
    with open_store(store.url).read() as tx:
        assert tx.entities.count_live() == 2_101
        assert tx.merges.recent(live_only=False) == []
        assert check(tx).clean
        assert tx.runs.recent()[0].ended_at is None


def test_a_backup_is_no_more_open_than_its_graph_and_leaves_files_of_others_alone(
    tmp_path: Path,
) -> None:
    with enfold.open(tmp_path / "graph.db") as graph:
        told(graph, "Ada.", mentions=["Ada"])
        (tmp_path / "graph.db").chmod(0o600)
        (tmp_path / "copy.db.part").write_text("somebody's own")
        copy = Path(graph.backup(tmp_path / "copy.db"))
    assert copy.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "copy.db.part").read_text() == "somebody's own"
    assert sorted(p.name for p in tmp_path.iterdir() if "copy" in p.name) == [
        "copy.db",
        "copy.db.part",
    ]


@pytest.mark.parametrize("keep", [None, 0])
def test_every_backup_is_kept_unless_a_number_of_them_is_asked_for(
    tmp_path: Path, keep: int | None
) -> None:
    with enfold.open(tmp_path / "graph.db", keep_backups=keep) as graph:
        for turn in range(2):
            told(graph, "Said.", mentions=[f"Claude Code {turn}", f"claude-code-{turn}"])
            backup = graph.resolve(full=True).backup
            assert backup is not None
            assert Path(backup).exists()
        assert len(list((tmp_path / "graph.db.backups").iterdir())) == 2
