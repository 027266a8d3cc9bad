"""Many processes at one graph, each doing whatever comes to its mind, some killed meanwhile."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

import enfold
from enfold.errors import Conflict, Invalid, NotFound, Refused
from enfold.graph import Graph
from tests.servers import Server

PROCESSES: Final = 8
SECONDS: Final = 15.0
KILLS: Final = 8
SPAWN = multiprocessing.get_context("spawn")
Note = Callable[..., None]

NAMES: Final = tuple(
    """Ada|ada|Ada Lovelace|Lovelace|A. Lovelace|Postgres|PostgreSQL|postgres|Postgres 15|C#|C|
    claude-code|Claude Code|ClaudeCode|.next|Next|Émile|emile|Bell Labs|Bell-Labs|bell labs inc|
    上海|Shanghai|Zürich|Zurich|Zuerich|ingest-worker|Ingest Worker|ingest_worker|React|react.js"""
    .replace("\n    ", "").split("|")
)  # fmt: skip


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_whatever_many_do_at_once_the_graph_holds_and_nothing_is_lost(
    database: str, tmp_path: Path, server: Server
) -> None:
    url = str(tmp_path / "e.db") if database == "sqlite" else server.schema(f"many_{os.getpid()}")
    enfold.open(url, embedder=None).close()
    said = _what_many_do(url, tmp_path)
    assert not [one["failed"] for one in said if "failed" in one]
    assert {one.get("did") for one in said}.issuperset(VERBS)
    gone = {one["forgets"] for one in said if "forgets" in one}
    with enfold.open(url, embedder=None) as graph:
        assert graph.check().clean
        with graph._store.read() as tx:
            kept = {memory.id: memory.content for memory, *_ in tx.memories.all()}
        promised = {one["kept"]: one["content"] for one in said if "kept" in one}
        lost = {one for one in promised.keys() - gone if kept.get(one) != promised[one]}
        assert not lost
        graph.resolve(full=True, backup=False)
        assert graph.resolve(full=True, backup=False).merged == 0
        assert graph.check().clean


def _what_many_do(url: str, folder: Path) -> list[dict[str, Any]]:
    """What each process wrote down of what it did, until it was killed or it was enough."""
    enough = folder / "enough"
    logs = [folder / f"{at}.jsonl" for at in range(PROCESSES)]
    running = {log: _begin(url, log, seed, enough) for seed, log in enumerate(logs)}
    _until(lambda: all(log.exists() and log.stat().st_size for log in logs))
    random = Random(5)
    for seed in range(PROCESSES, PROCESSES + KILLS):
        time.sleep(SECONDS / KILLS)
        log = random.choice(logs)
        os.kill(running[log].pid, signal.SIGKILL)
        running[log].join(30)
        running[log] = _begin(url, log, seed, enough)
    enough.touch()
    for process in running.values():
        process.join(120)
    assert [process.exitcode for process in running.values()] == [0] * PROCESSES
    lines = (line for log in logs for line in log.read_text("utf-8").splitlines())
    return [json.loads(line) for line in lines if line.endswith("}")]  # some were cut off


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _begin(url: str, log: Path, seed: int, enough: Path) -> Any:
    process = SPAWN.Process(target=_work, args=(url, log, seed, enough))
    process.start()
    return process


def _work(url: str, log: Path, seed: int, enough: Path) -> None:
    """Do one thing after another, and write down what is done and what must not have failed."""
    random = Random(f"{seed}")
    with enfold.open(url, embedder=None) as graph, log.open("a", encoding="utf-8") as said:

        def note(**what: object) -> None:
            said.write(json.dumps(what) + "\n")
            said.flush()

        note(began=seed)
        at = 0
        while not enough.exists():
            at += 1
            verb = random.choice(list(VERBS))
            try:
                done = VERBS[verb](graph, random, f"{seed}-{at}", note)
            except (Conflict, Invalid, NotFound, Refused) as error:
                note(refused=f"{verb}: {error.code}")  # another was faster, or it makes no sense
            except Exception as error:
                note(failed=f"{verb}: {type(error).__name__}: {error}")
            else:
                note(did=verb, **done)


# ---- what is done -------------------------------------------------------------------------------


def _remember(graph: Graph, random: Random, mark: str, note: Note) -> dict[str, object]:
    content = f"{random.choice(NAMES)} uses {random.choice(NAMES)}, says {mark}."
    mentions = random.sample(NAMES, 2)
    facts = [(mentions[0], "uses", mentions[1])] if random.random() < 0.3 else []
    sealed = "bob" if random.random() < 0.1 else None
    done = graph.remember(content, mentions=mentions, facts=facts, read=True, sealed_for=sealed)
    return {"kept": done.memory.id, "content": content}


def _resolve(graph: Graph, random: Random, mark: str, note: Note) -> dict[str, object]:
    graph.resolve(full=random.random() < 0.3, dry_run=random.random() < 0.3, backup=False)
    return {}


def _merge(graph: Graph, random: Random, mark: str, note: Note) -> dict[str, object]:
    graph.merge(*random.sample(NAMES, 2))
    return {}


def _revert(graph: Graph, random: Random, mark: str, note: Note) -> dict[str, object]:
    merges = graph.merges()
    if merges:
        graph.revert(random.choice(merges).id)
    return {}


def _decide(graph: Graph, random: Random, mark: str, note: Note) -> dict[str, object]:
    questions = graph.conflicts()
    if questions:
        answer = random.choice(["keep_existing", "keep_new", "keep_both"])
        graph.decide(random.choice(questions).id, answer)
    return {}


def _reopen(graph: Graph, random: Random, mark: str, note: Note) -> dict[str, object]:
    decided = graph.conflicts(decided=True)
    if decided:
        graph.reopen(random.choice(decided).id)
    return {}


def _rename(graph: Graph, random: Random, mark: str, note: Note) -> dict[str, object]:
    graph.rename(random.choice(NAMES), f"{random.choice(NAMES)} {random.randrange(3)}")
    return {}


def _forget(graph: Graph, random: Random, mark: str, note: Note) -> dict[str, object]:
    memories = graph.recall(random.choice(NAMES)).memories
    if not memories or random.random() < 0.5:
        return {}
    memory = random.choice(memories).memory
    note(forgets=memory.id)  # before: killed behind it, nobody else would say so
    graph.forget(memory.id)
    return {}


def _look(graph: Graph, random: Random, mark: str, note: Note) -> dict[str, object]:
    graph.find(random.choice(NAMES))
    graph.recall(f"who uses {random.choice(NAMES)}?", agent=random.choice([None, "bob"]))
    graph.related(random.choice(NAMES), depth=2)
    return {}


VERBS: Final = {
    "remember": _remember,
    "resolve": _resolve,
    "merge": _merge,
    "revert": _revert,
    "decide": _decide,
    "reopen": _reopen,
    "rename": _rename,
    "forget": _forget,
    "look": _look,
}
