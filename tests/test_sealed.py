"""What is sealed for an agent is told to that agent alone, and changes nothing for anybody else.

Two graphs are made alike, but that one holds sealed memories, too. Whoever is not their agent must
get the same answers from both, of every verb that reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from enfold import formats, gate, lookup
from enfold import open as open_graph
from enfold.cli.commands import app
from enfold.engines.local import LocalEngine
from enfold.errors import Invalid, NotFound
from enfold.graph import Graph
from enfold.model import Unknown
from enfold.names import Name
from enfold.ports import NewMemory
from enfold.store import open_store

CANARY = re.compile("canary", re.IGNORECASE)
SEALED = "Ada Lovelace told Canary Corp that Babbage and Postgress are the Engine of Mercury."
OTHERS = (None, "b", "")
"""Who asks that is not the agent the memories are sealed for."""


def empty_graph() -> Graph:
    store = open_store(":memory:", clock=lambda: datetime(2026, 1, 2, tzinfo=UTC))
    return Graph(store, lambda: LocalEngine(1))


def said_to_all(graph: Graph) -> None:
    with graph._store.write() as tx:
        for _ in range(2):
            lookup.mint(tx, Name.of("Mercury"), homonym=True)
    ada = [("Ada Lovelace", "works_on", "Engine")]
    graph.remember("Ada Lovelace works on the Engine.", facts=ada, caller_id="one")
    graph.remember("Ada Lovelace met Babbage.", mentions=["Ada Lovelace", "Babbage"])
    graph.remember("Babbage lives in London.", facts=[("Babbage", "located_in", "London")])
    graph.remember("Mercury rises over London.", mentions=["Mercury", "London"])
    for at in range(2):
        graph.remember(f"Postgres is up, {at}.", mentions=["Postgres"])
    graph.remember("Postgress is down.", mentions=["Postgress"])
    graph.remember("Kubernets is a typo of Kubernetes.", mentions=["Kubernets", "Kubernetes"])


def seal(graph: Graph, agent: str = "a") -> list[int]:
    facts = [
        ("Ada Lovelace", "canary of", "Babbage"),
        ("Engine", "canary at", "London"),
        ("Canary Corp", "likes", "Ada Lovelace"),
        ("Ada Lovelace", "works_on", "Engine"),
    ]
    names = ["Ada Lovelace", "Babbage", "Engine", "Canary Corp", "Mercury", "Postgress"]
    text = graph.remember(
        SEALED,
        mentions=names,
        facts=facts,
        source="canary.txt",
        area="canary",
        topic="canary",
        source_tag="canary",
        sealed_for=agent,
        caller_id=f"canary {agent}",
    )
    document = graph.remember(
        "# Canary\n\n" + "\n\n".join(f"Postgress met Canary Two, {at}. " * 40 for at in range(3)),
        kind="document",
        sealed_for=agent,
    )
    many = [
        graph.remember(f"Canary: Postgress and Kubernets, {at}.", mentions=["Postgress"],
                       sealed_for=agent)
        for at in range(5)
    ]  # fmt: skip
    graph.remember("Canary Three met Engine and Machine.", read=True, sealed_for=agent)
    with graph._store.write() as tx:
        tx.questions.ask_memory(
            text.memory.id, 1, asked_by="canary", score=0.9, reason="A canary contradicts it."
        )
    return [text.memory.id, document.memory.id, *(one.memory.id for one in many)]


def settled_after(graph: Graph) -> None:
    """Folds, reverts and questions, made where sealed memories are there already."""
    graph.resolve()
    with graph._store.write() as tx:
        lookup.mint(tx, Name.of("Machine"))
    graph.merge("Engine", "Machine", actor="x")
    taken_back = graph.merge("London", "Babbage", actor="x")
    graph.revert(taken_back.id, actor="x")
    graph.resolve()


def settled_graph(*, sealed: bool) -> Graph:
    graph = empty_graph()
    said_to_all(graph)
    if sealed:
        seal(graph)
    settled_after(graph)
    return graph


@pytest.fixture(scope="module")
def plain() -> Graph:
    return settled_graph(sealed=False)


@pytest.fixture(scope="module")
def sealed() -> Graph:
    return settled_graph(sealed=True)


def vault(under: Path, at: int) -> Path:
    folder = under / f"{at}"
    folder.mkdir()
    (folder / "Engine.md").write_text("The engine.\n")
    (folder / "Babbage.md").write_text("A person.\n")
    return folder


NAMES = ("Ada Lovelace", "Babbage", "Engine", "Machine", "London", "Postgres", "Postgress")
QUERIES = ("canary", "Canary Corp", "Ada Lovelace", "Postgress", "What did Ada tell Babbage?")

Ask = Callable[[Graph, str | None, Path], object]


def each(verb: Callable[[str], object], of: tuple[str, ...] = NAMES) -> list[object]:
    return [verb(name) for name in of]


def exported_to(graph: Graph, who: str | None, folder: Path) -> list[object]:
    out: list[object] = []
    for format in formats.WRITTEN:
        graph.export_to(folder / f"out.{format}", format, agent=who)
        written = [folder / f"out.{format}", *sorted((folder / f"out.{format}").rglob("*"))]
        out += [path.read_text() for path in written if path.is_file() and is_text(path)]
    return out


def is_text(path: Path) -> bool:
    return b"\0" not in path.read_bytes()


READS: dict[str, Ask] = {
    "find": lambda g, who, _: each(g.find, (*NAMES, *QUERIES, "Canary Three")),
    "search": lambda g, who, _: each(g.search, (*NAMES, *QUERIES)),
    "entity": lambda g, who, _: each(lambda name: g.entity(name, agent=who)),
    "entities": lambda g, who, _: g.entities(),
    "facts": lambda g, who, _: each(lambda name: g.facts(name, agent=who)),
    "related": lambda g, who, _: each(lambda name: g.related(name, depth=3, agent=who)),
    "path": lambda g, who, _: [each(lambda n, m=m: g.path(n, m, agent=who)) for m in NAMES],  # type: ignore[misc]
    "explain": lambda g, who, _: g.explain("Canary Corp", "Postgress"),
    "recall": lambda g, who, _: each(lambda query: g.recall(query, agent=who), QUERIES),
    "gate": lambda g, who, _: g.gate([gate.Question(QUERIES[-1], ("one",), agent=who)]),
    "history": lambda g, who, _: g.history(1, agent=who),
    "conflicts": lambda g, who, _: (g.conflicts(), g.conflicts(decided=True)),
    "name_questions": lambda g, who, _: (g.name_questions(), g.name_questions(decided=True)),
    "memory_questions": lambda g, who, _: [
        g.memory_questions(decided=decided, agent=who) for decided in (False, True)
    ],
    "cards": lambda g, who, _: g.cards(),
    "deal": lambda g, who, _: g.deal(),
    "count_cards": lambda g, who, _: g.count_cards(),
    "questions": lambda g, who, _: list(g.questions()),
    "merges": lambda g, who, _: g.merges(reverted=True),
    "receipt": lambda g, who, _: [g.receipt(m.id) for m in g.merges(reverted=True)],
    "revert, previewed": lambda g, who, _: [g.revert(m.id, dry_run=True) for m in g.merges()],
    "apart": lambda g, who, _: g.apart(),
    "export": lambda g, who, _: [
        "".join(g.export(name, agent=who)) for name in ("mcp", "csv", "graphml", "jsonld")
    ],
    "export, whole": lambda g, who, _: "".join(g.export(formats.ENFOLD)),
    "export_to": exported_to,
    "export_decisions": lambda g, who, _: [*g.export_decisions(), *g.export_decisions("csv")],
    "vault": lambda g, who, folder: g.vault(folder),
    "resolve, tried": lambda g, who, _: g.resolve(dry_run=True, full=True),
    "preview": lambda g, who, _: g.preview(),
    "shown": lambda g, who, _: g.shown(g.resolve(dry_run=True, full=True).questions),
    "summary": lambda g, who, _: g.summary(agent=who),
    "check": lambda g, who, _: g.check(),
    "runs": lambda g, who, _: g.runs(),
    "vocabulary": lambda g, who, _: g.vocabulary(),
    "set_aside": lambda g, who, _: [g.set_aside(run.id) for run in g.runs()],
}

WRITES = set(
    """
    close import_files import_decisions write_vault undo_vault remember remember_all index
    reembed forget resolve decide refill answer_card answer_all undo_answer answer_sheet reopen
    merge revert keep_apart undo_apart rename alias retype delete backup restore set_term
    remove_term
    """.split()
)
"""What changes something, or, as a backup does, copies the file as it is."""


def answer(verb: str, graph: Graph, who: str | None, folder: Path) -> str:
    # The counter of edges goes on with every edge, and stands in the record of a fold.
    said = repr(READS[verb](graph, who, folder))
    return re.sub(r"edge_mark=\d+", "edge_mark=…", said)


def test_every_verb_that_reads_is_asked_here() -> None:
    verbs = {name for name in dir(Graph) if not name.startswith("_")}
    assert verbs - WRITES == {verb.split(",")[0] for verb in READS} - WRITES


@pytest.mark.parametrize("who", OTHERS)
@pytest.mark.parametrize("verb", READS)
def test_what_is_sealed_shows_in_no_answer_to_another(
    plain: Graph, sealed: Graph, tmp_path: Path, verb: str, who: str | None
) -> None:
    told, asked = (
        answer(verb, graph, who, vault(tmp_path, n)) for n, graph in enumerate((sealed, plain))
    )
    assert CANARY.findall(told) == CANARY.findall(asked)  # what was asked may be repeated


@pytest.mark.parametrize("who", OTHERS)
@pytest.mark.parametrize("verb", sorted(READS.keys() - {"export, whole"}))
def test_what_is_sealed_changes_no_answer_to_another(
    plain: Graph, sealed: Graph, tmp_path: Path, verb: str, who: str | None
) -> None:
    answers = []
    for at, graph in enumerate((plain, sealed)):
        folder = vault(tmp_path, at)
        answers.append(answer(verb, graph, who, folder).replace(str(folder), "folder"))
    assert answers[0] == answers[1]


TOLD_TO_ITS_AGENT = {"facts", "related", "path", "recall", "export", "export_to"}


@pytest.mark.parametrize("verb", sorted(TOLD_TO_ITS_AGENT))
def test_its_own_agent_is_told(plain: Graph, sealed: Graph, tmp_path: Path, verb: str) -> None:
    told, asked = (
        answer(verb, graph, "a", vault(tmp_path, at)) for at, graph in enumerate((sealed, plain))
    )
    assert len(CANARY.findall(told)) > len(CANARY.findall(asked))


def test_the_agent_of_sealed_memories_counts_them_in_links_and_shared_memories(
    sealed: Graph,
) -> None:
    def links(agent: str | None) -> dict[str, int]:
        (babbage,) = (
            one for one in sealed.related("Ada Lovelace", agent=agent).related
            if one.entity.name == "Babbage"
        )  # fmt: skip
        return {link.relation: link.sources for link in babbage.links} | {
            "": babbage.shared_sources
        }

    assert links(None) == links("b") == {"": 1}
    assert links("a") == {"canary of": 1, "": 2}
    (step,) = sealed.path("Ada Lovelace", "Babbage", agent="a").steps
    assert step.relation == "canary of"
    (step,) = sealed.path("Ada Lovelace", "Babbage", agent="b").steps
    assert step.relation is None
    assert sealed.entity("Postgress", agent="a").entity.mentions > 5
    assert sealed.entity("Postgress").entity.mentions == 1
    assert sealed.summary(agent="a").memories > sealed.summary().memories


def test_a_name_that_sealed_memories_alone_hold_is_no_entity_and_links_once_it_is(
    sealed: Graph,
) -> None:
    assert isinstance(sealed.find("Canary Corp"), Unknown)
    graph = settled_graph(sealed=True)
    graph.remember("Canary Corp opened a shop in Leeds.", mentions=["Canary Corp", "Leeds"])
    assert [one.entity.name for one in graph.related("Canary Corp").related] == ["Leeds"]
    own = {one.entity.name for one in graph.related("Canary Corp", agent="a").related}
    assert own >= {"Leeds", "Ada Lovelace", "Babbage"}
    assert graph.check().clean


def test_a_pass_weighs_nothing_that_is_sealed() -> None:
    def folded(*, sealed: bool) -> tuple[list[tuple[str, str]], list[tuple[str, int]]]:
        graph = empty_graph()
        for at in range(3):
            graph.remember(f"a {at}", mentions=["data base"])
        graph.remember("b", mentions=["Database"])
        graph.remember("c", mentions=["Postgres", "Postgress"])
        if sealed:
            for at in range(9):
                graph.remember(f"canary {at}", mentions=["Database", "Postgress"], sealed_for="a")
        graph.resolve(full=True)
        merges = [(m.absorbed_name, m.canonical_name) for m in graph.merges()]
        weights = [(c.queued_name, c.queued_mentions) for c in graph.conflicts()]
        return merges, weights

    assert folded(sealed=False) == folded(sealed=True)


def test_a_receipt_holds_no_edge_of_a_sealed_memory() -> None:
    graph = empty_graph()
    graph.remember("one", mentions=["One", "Two"])
    with graph._store.write() as tx:
        (memory,) = tx.memories.add_many([NewMemory("canary", sealed_for="a")])
        rows = [tx.entities.by_key(key)[0].id for key in ("one", "two")]
        tx.edges.add_mentions((memory, row, "") for row in rows)
        tx.edges.fact(memory, rows[0], "is", rows[1])
    merge = graph.merge("Two", "One")
    assert (merge.moved, merge.silenced) == (1, 1)
    assert len(graph.receipt(merge.id)) == 2
    reverted = graph.revert(merge.id, dry_run=True)
    assert (reverted.moved_back, reverted.reactivated, reverted.arrived_since) == (1, 1, 0)
    graph.revert(merge.id)
    assert (graph.delete("Two").mentions, graph.check().clean) == (1, True)


def test_no_id_leads_another_to_what_is_sealed(tmp_path: Path) -> None:
    graph = settled_graph(sealed=True)
    (memory_id, *_) = (one for one in range(1, 50) if is_sealed(graph, one))
    (question,) = graph.memory_questions(agent="a")
    by_id: dict[str, Callable[[int, int, str | None], object]] = {
        "decide": lambda asked, _, who: graph.decide(asked, "keep_both", agent=who),
        "reopen": lambda asked, _, who: graph.reopen(asked, agent=who),
        "history": lambda _, memory, who: graph.history(memory, agent=who),
        "forget": lambda _, memory, who: graph.forget(1, memory, agent=who),
    }
    before = graph.summary(agent="a")
    for who in OTHERS:
        for verb in by_id.values():
            told = []
            for asked, memory in ((question.id, memory_id), (9999, 9999)):
                with pytest.raises(NotFound) as refused:
                    verb(asked, memory, who)
                said = re.sub(rf"\b({asked}|{memory})\b", "ID", str(refused.value))
                told.append((refused.value.code, said))
            assert told[0] == told[1]
    assert graph.summary(agent="a") == before
    by_id["decide"](question.id, memory_id, "a")
    for who in OTHERS:
        with pytest.raises(NotFound):
            graph.reopen(question.id, agent=who)
    for name in ("reopen", "history", "forget"):
        by_id[name](question.id, memory_id, "a")
    assert not is_sealed(graph, memory_id)


def is_sealed(graph: Graph, memory_id: int) -> bool:
    with graph._store.read() as tx:
        memory = tx.memories.get(memory_id)
    return memory is not None and memory.sealed_for is not None


def test_the_commands_change_what_is_sealed_in_its_agents_name_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_graph("enfold.db", embedder=None) as graph:
        old, new = (
            graph.remember(f"Canary {n}.", read=False, sealed_for="a").memory.id for n in range(2)
        )
        with graph._store.write() as tx:
            asked = tx.questions.ask_memory(new, old, asked_by="x", score=0.9, reason="Canary.")
    for args in (
        ["decide", f"{asked}", "keep_new"],
        ["history", f"{old}"],
        ["reopen", f"{asked}"],
        ["forget", f"{new}", "--yes"],
    ):
        for who, code in (("", 3), ("b", 3), ("a", 0)):
            monkeypatch.setenv("ENFOLD_AGENT", who)
            result = CliRunner().invoke(app, args)
            assert result.exit_code == code, (args, who, result.output)
            assert who == "a" or not CANARY.search(result.output)


def test_an_export_of_the_whole_takes_no_agent(sealed: Graph) -> None:
    with pytest.raises(Invalid) as refused:
        list(sealed.export(formats.ENFOLD, agent="a"))
    assert refused.value.code == "sealed_instead"


def test_what_is_sealed_and_stale_is_told_to_nobody() -> None:
    graph = empty_graph()
    said_to_all(graph)
    (first, *_) = seal(graph)
    with graph._store.write() as tx:
        tx.memories.set_status(first, "stale")
    assert "canary of" not in repr(graph.related("Ada Lovelace", agent="a"))
    with graph._store.write() as tx:
        tx.memories.set_status(first, "active")
    assert "canary of" in repr(graph.related("Ada Lovelace", agent="a"))
    assert "canary of" not in repr(graph.related("Ada Lovelace"))
