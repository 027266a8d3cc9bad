"""A cluster of real workers finds what one process finds, also where a worker is lost."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import enfold
from enfold import pairs, rules
from enfold.engines import cluster, find_pairs, local, running, steps
from enfold.engines.job import Sizes
from enfold.engines.local import Survey
from enfold.errors import Refused, Unavailable
from enfold.model import Context, Verdict
from enfold.names import Name
from tests.test_pairs import real_names, rhyming
from tests.test_partitions import different, rows_in, written

__all__ = ["rhyming"]  # a fixture

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="distributed is not installed"
)

CUT = Sizes(chunk=100, keys=20_000, block=64, piece=2_000, forms=300, ruled=40)
"""So that there are many tasks."""


@dataclass
class Cluster:
    """A scheduler and workers, each a process of its own."""

    address: str = ""
    scheduler: subprocess.Popen[bytes] | None = None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def engine(self) -> str:
        return f"dask://{self.address}"

    def kill_one(self) -> None:
        lost = self.workers.pop()
        lost.send_signal(signal.SIGKILL)
        lost.wait()


def started(*command: str, within: str = "") -> subprocess.Popen[bytes]:
    inside = ["ip", "netns", "exec", within] if within else []
    path = os.pathsep.join(p for p in [os.getcwd(), *sys.path] if p)
    return subprocess.Popen(
        [*inside, sys.executable, "-m", *command],
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def waited_for(what: Any, seconds: float = 60) -> Any:
    """What it gives once that is true."""
    until = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < until, "it never came"
        time.sleep(0.05)
    return found


def _address(told: Path) -> str:
    """The address that a scheduler has written down; empty while it has not, or not whole."""
    try:
        return str(json.loads(told.read_text())["address"])
    except (FileNotFoundError, json.JSONDecodeError):
        return ""


@contextmanager
def scheduler(folder: Path, host: str = "127.0.0.1", within: str = "") -> Iterator[Cluster]:
    """A scheduler; it and its workers end with the block."""
    told = folder / "scheduler.json"
    one = Cluster()
    command = ["distributed.cli.dask_scheduler", "--host", host, "--port", "0", "--no-dashboard"]
    one.scheduler = started(*command, "--scheduler-file", str(told), within=within)
    try:
        one.address = waited_for(lambda: _address(told)).partition("://")[2]
        yield one
    finally:
        for process in (*one.workers, one.scheduler):
            process.kill()
            process.wait()


def worker(one: Cluster, host: str = "127.0.0.1", within: str = "") -> None:
    command = ["distributed.cli.dask_worker", f"tcp://{one.address}", "--nthreads", "1"]
    more = ["--no-nanny", "--no-dashboard", "--host", host, "--memory-limit", "0"]
    one.workers.append(started(*command, *more, within=within))


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Four workers, of which a test may kill one."""
    with scheduler(tmp_path_factory.mktemp("cluster")) as one:
        for _ in range(4):
            worker(one)
        engine = cluster.DaskEngine(one.address)
        engine.start("default")
        waited_for(lambda: engine._lanes() == 4)
        engine.close()
        yield one


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Name], Path, Path]:
    """(real names, a file of them, what one process finds among them)"""
    names = different(real_names())
    folder = tmp_path_factory.mktemp("real")
    file = written(names, folder / "names.parquet")
    find_pairs(file, folder / "out", partitions=5, sizes=CUT)
    return names, file, folder / "out"


def test_a_cluster_finds_what_one_process_finds_though_a_worker_is_killed(
    workers: Cluster, real: tuple[list[Name], Path, Path], tmp_path: Path
) -> None:
    _, file, expected = real
    killed: list[str] = []

    def progress(what: str, done: int, _: int) -> None:
        if what == "comparing spellings" and done == 2 and not killed:
            workers.kill_one()
            killed.append(what)

    out = tmp_path / "out"
    found = find_pairs(file, out, partitions=5, sizes=CUT, engine=workers.engine, progress=progress)
    assert killed
    assert rows_in(out) == rows_in(expected)
    one = json.loads((expected / "report.json").read_text())
    assert (found.candidates, found.apart, found.by_rule) == (
        one["candidates"],
        one["apart"],
        one["by_rule"],
    )
    assert found.engine == workers.engine


def test_a_survey_on_a_cluster_asks_what_it_asks_here(
    workers: Cluster, real: tuple[list[Name], Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "CHUNK", 100)
    monkeypatch.setattr(local, "PAIRS", 20)
    rows = [(name.spelling, name.type) for name in real[0]]
    engine = running(workers.engine)
    there = engine.survey(range(len(rows)), rows, "default", lambda *_: None)
    here = Survey(rows)
    context = Context(common=there.common, initials=there.initials)
    assert there.common == here.common
    asked = [sorted(pair for b in s.propose(context) for pair in b.asked) for s in (there, here)]
    assert asked[0] == asked[1]
    assert len(asked[0]) > 100
    engine.close()


def test_a_pass_on_a_cluster_is_the_pass_of_one_process(
    workers: Cluster, real: tuple[list[Name], Path, Path], tmp_path: Path
) -> None:
    file = tmp_path / "names.csv"
    lines = [f'"{n.spelling.replace(chr(34), "")}",{n.type or ""}' for n in real[0]]
    file.write_text("name,type\n" + "\n".join(lines))
    reports = []
    for engine in ("local", workers.engine):
        with enfold.open(":memory:", engine=engine) as graph:
            graph.import_files(file)
            reports.append(graph.resolve(full=True, backup=False))
    here, there = reports
    assert (here.examined, here.pairs, here.merged, here.queued, here.deferred) == (
        there.examined,
        there.pairs,
        there.merged,
        there.queued,
        there.deferred,
    )
    scanned = enfold.scan(file, engine=workers.engine)
    assert scanned.report.merged == here.merged


def test_workers_are_told_the_rules_of_a_person_s_own(
    workers: Cluster, tmp_path: Path, rhyming: str
) -> None:
    file = written([Name("Bellows"), Name("Gallows"), Name("Rose")], tmp_path / "names.parquet")
    found = find_pairs(file, tmp_path / "out", rule_set=rhyming, engine=workers.engine)
    assert found.by_rule == {"rhyme": 1}


def test_rules_that_workers_can_not_import_are_told(
    workers: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "only_here_rule.py").write_text(
        "def judge(left, right, context): return None\ndef keys(name): return ()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import only_here_rule  # type: ignore[import-not-found]

    rule = rules.Rule("here", Verdict.ASK, only_here_rule.judge, "Nothing.", "This test.")
    blocking = pairs.Blocking(only_here_rule.keys, only_here_rule.keys)
    file = written([Name("Ada")], tmp_path / "names.parquet")
    try:
        pairs.register("here", (*rules.RULES, rule), {"here": blocking})
        with pytest.raises(Refused, match="only_here_rule") as caught:
            find_pairs(file, tmp_path / "out", rule_set="here", engine=workers.engine)
    finally:
        del rules.RULE_SETS["here"], pairs.BLOCKING["here"], pairs.REGISTERED["here"]
    assert caught.value.code == "rules_not_there"


def test_workers_of_another_version_are_refused(
    workers: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "version", lambda: "9.9")
    file = written([Name("Ada")], tmp_path / "names.parquet")
    with pytest.raises(Refused, match="same version") as caught:
        find_pairs(file, tmp_path / "out", engine=workers.engine)
    assert caught.value.code == "other_version"


def test_a_folder_that_workers_do_not_see_is_refused(
    workers: Cluster, real: tuple[list[Name], Path, Path]
) -> None:
    with pytest.raises(Refused, match="share") as caught:
        find_pairs(real[1], "memory://alone/out", engine=workers.engine)
    assert caught.value.code == "not_shared"


def test_a_scheduler_that_is_not_there_is_told_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT", 1.0)
    file = written([Name("Ada")], tmp_path / "names.parquet")
    with pytest.raises(Unavailable, match="dask scheduler") as caught:
        find_pairs(file, tmp_path / "out", engine="dask://127.0.0.1:1")
    assert caught.value.code == "no_scheduler"


def test_a_scheduler_without_workers_is_told_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT", 1.5)
    with scheduler(tmp_path) as one, pytest.raises(Unavailable, match="dask worker") as caught:
        running(one.engine).start("default")
    assert caught.value.code == "no_workers"


def test_what_waits_is_given_up_where_no_worker_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    monkeypatch.setattr(cluster, "EVERY", 0.25)
    with scheduler(tmp_path) as one:
        worker(one)
        engine = running(one.engine)
        executor = engine.start("default")
        assert executor is not None
        future = executor.submit(time.sleep, 600)
        one.kill_one()
        with pytest.raises(Unavailable, match="no worker"):
            future.result(timeout=60)
        engine.close()


def test_the_extra_is_named_where_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(Unavailable, match="enfold\\[dask\\]") as caught:
        running("dask://127.0.0.1:1").start("default")
    assert caught.value.code == "needs_extra"


# ---- machines of their own ----


def ip(*words: str) -> bool:
    done = subprocess.run(["ip", *words], capture_output=True, check=False)
    return done.returncode == 0


@contextmanager
def machines(count: int) -> Iterator[list[tuple[str, str]]]:
    """(network namespace, address) of so many, joined by a bridge to this one, which has the first
    address."""
    tag, net = f"ef{os.getpid() % 10_000}", f"10.{200 + os.getpid() % 50}.7"
    with ExitStack() as undo:
        assert ip("link", "add", f"{tag}b", "type", "bridge")
        undo.callback(ip, "link", "del", f"{tag}b")
        assert ip("addr", "add", f"{net}.1/24", "dev", f"{tag}b")
        assert ip("link", "set", f"{tag}b", "up")
        found = []
        for number in range(count):
            name, outer = f"{tag}n{number}", f"{tag}v{number}"
            assert ip("netns", "add", name)
            undo.callback(ip, "netns", "del", name)
            assert ip("link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", name)
            assert ip("link", "set", outer, "master", f"{tag}b", "up")
            address = f"{net}.{number + 2}"
            for words in (
                ["addr", "add", f"{address}/24", "dev", "eth0"],
                ["link", "set", "lo", "up"],
            ):
                assert ip("-n", name, *words)
            assert ip("-n", name, "link", "set", "eth0", "up")
            found.append((name, address))
        yield found


def may_make_machines() -> bool:
    """Whether network namespaces with links between them can be made here."""
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    try:
        with machines(1):
            return True
    except AssertionError:
        return False


def test_machines_of_their_own_find_the_same_though_one_is_lost(
    real: tuple[list[Name], Path, Path], tmp_path: Path
) -> None:
    if not may_make_machines():
        pytest.skip("network namespaces need Linux, root and iproute2")
    _, file, expected = real
    killed: list[str] = []
    with machines(4) as made, scheduler(tmp_path, made[0][1], made[0][0]) as one:
        for name, address in made[1:]:
            worker(one, address, name)
        assert one.address.startswith(made[0][1])

        def progress(what: str, done: int, _: int) -> None:
            if what == "comparing spellings" and done == 2 and not killed:
                one.kill_one()
                killed.append(what)

        found = find_pairs(
            file, tmp_path / "out", partitions=5, sizes=CUT, engine=one.engine, progress=progress
        )
    assert killed
    assert rows_in(tmp_path / "out") == rows_in(expected)
    assert found.questions > 100
