"""The gate: figures, floors and files of questions; and that recall passes it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import enfold
from enfold import gate
from enfold.errors import Invalid
from enfold.formats import questions
from enfold.formats.texts import texts
from enfold.gate import Gated, Question, memories_of, rate
from enfold.model import Memory, Text
from enfold.recall import Weights
from enfold.store import open_store
from tests.test_cli_commands import run

DATA = Path(__file__).parent / "data" / "gate"


def memory(id: int, document_id: int | None = None) -> Memory:
    return Memory(
        id, f"text {id}", "fact", None, None, None, "active", "2026-01-01", document_id=document_id
    )


def answers(**found: Sequence[int]) -> Callable[[str, str | None, int], list[Memory]]:
    """A recall that answers each question with these memories."""

    def recall(question: str, agent: str | None, limit: int) -> list[Memory]:
        return [memory(id) for id in found.get(question, ())]

    return recall


def rated(
    *asked: tuple[str, tuple[str, ...]], depths: tuple[int, ...] = (1, 3), **found: Sequence[int]
) -> Gated:
    given = [Question(question, evidence) for question, evidence in asked]
    known: gate.Known = {
        (None, id): int(id) for _, evidence in asked for id in evidence if id.isdecimal()
    }
    return rate(given, answers(**found), known, depths=depths)


# ---- figures -------------------------------------------------------------------------------------


def test_recall_is_the_mean_share_of_evidence_among_the_first_results() -> None:
    found = rated(("a", ("1", "2")), ("b", ("3",)), a=[1, 9, 2], b=[8, 3])
    assert found.figures == {"recall@1": 0.25, "recall@3": 1.0, "mrr": 0.75}
    assert (found.questions, found.evidence, found.unknown) == (2, 3, 0)
    assert [one.rank for one in found.asked] == [1, 2]
    assert [one.rank for one in found.asked[0].evidence] == [1, 3]
    assert found.asked[0].results == (1, 9, 2)


def test_what_is_not_recalled_is_missing_and_has_no_rank() -> None:
    found = rated(("a", ("1", "2")), a=[7, 2])
    (asked,) = found.asked
    assert (asked.rank, asked.missing) == (2, ("1",))
    nothing = rated(("a", ("1",)))
    assert nothing.figures == {"recall@1": 0.0, "recall@3": 0.0, "mrr": 0.0}
    assert nothing.asked[0].rank is None


def test_results_beyond_the_deepest_do_not_count() -> None:
    found = rated(("a", ("1",)), depths=(2,), a=[5, 6, 1])
    assert found.figures == {"recall@2": 0.0, "mrr": 0.0}
    assert found.asked[0].results == (5, 6)


def test_evidence_the_graph_does_not_have_counts_as_missing_and_is_told() -> None:
    found = rated(("a", ("1", "gone")), a=[1])
    assert found.figures["recall@3"] == 0.5
    assert found.unknown == 1
    assert found.asked[0].evidence[1] == gate.Evidence("gone", None, None)


def test_a_memory_that_is_named_several_times_counts_once() -> None:
    said = ("m-1", "1", "id:1", "2", "no", "no")
    known: gate.Known = {(None, one): 2 if one == "2" else 1 for one in said if one != "no"}
    found = rate([Question("a", said)], answers(a=[1, 3]), known, depths=(1,))
    assert found.figures == {"recall@1": 1 / 3, "mrr": 1.0}
    assert (found.evidence, found.unknown) == (3, 1)
    assert [one.id for one in found.asked[0].evidence] == ["m-1", "2", "no"]
    assert found.asked[0].missing == ("2", "no")


def test_a_question_without_evidence_is_left_out() -> None:
    found = rated(("a", ("1",)), ("b", ()), a=[1])
    assert (found.questions, found.left_out) == (1, 1)
    assert found.figures["mrr"] == 1.0
    with pytest.raises(Invalid, match="nothing to rate"):
        rated(("b", ()))


def test_a_passage_stands_for_its_document() -> None:
    def recall(question: str, agent: str | None, limit: int) -> list[Memory]:
        return [memory(4), memory(11, document_id=10), memory(12, document_id=10)]

    known: gate.Known = {(None, "book"): 10, (None, "passage"): 12}
    found = rate([Question("a", ("book", "passage"))], recall, known, depths=(3,))
    assert [one.rank for one in found.asked[0].evidence] == [2, 3]


def test_who_asks_and_how_many_are_wanted_is_handed_on() -> None:
    heard: list[tuple[str, str | None, int]] = []

    def recall(question: str, agent: str | None, limit: int) -> list[Memory]:
        heard.append((question, agent, limit))
        return []

    told: list[tuple[str, int, int]] = []
    given = [Question("a", ("1",), "scout"), Question("b", ("1",))]
    rate(given, recall, {}, depths=(7, 2), progress=lambda *step: told.append(step))
    assert heard == [("a", "scout", 7), ("b", None, 7)]
    assert told == [("recalling", 1, 2), ("recalling", 2, 2)]


def test_the_digest_tells_another_order_and_another_question() -> None:
    first = rated(("a", ("1",)), a=[1, 2])
    assert first.digest == rated(("a", ("1",)), a=[1, 2]).digest
    assert first.digest != rated(("a", ("1",)), a=[2, 1]).digest
    assert first.digest != rated(("b", ("1",)), b=[1, 2]).digest


def test_a_floor_that_is_just_met_is_met() -> None:
    thirds = rated(*((name, ("1", "2", "3")) for name in "abc"), a=[1], b=[2], c=[3])
    assert thirds.below({"recall@3": 1 / 3}) == {}
    assert thirds.below({"recall@3": 0.34, "mrr": 0.5}) == {"recall@3": 0.34}


def test_a_depth_that_is_none_is_refused() -> None:
    for depths in ((), (0,), (5, 1001)):
        with pytest.raises(Invalid, match="first 1 to 1,000"):
            rated(("a", ("1",)), depths=depths)


@pytest.mark.parametrize("figure", ["recall", "recall@0", "recall@5x", "recall@12345", "MRR", ""])
def test_what_is_no_figure_is_told(figure: str) -> None:
    with pytest.raises(ValueError, match="no figure"):
        gate.depth_of(figure)


@given(st.lists(st.tuples(st.sets(st.integers(1, 6), min_size=1), st.permutations(range(1, 7)))))
def test_figures_are_shares_and_grow_with_the_depth(
    asked: list[tuple[set[int], list[int]]],
) -> None:
    given = [Question(f"q{n}", tuple(map(str, sorted(ids)))) for n, (ids, _) in enumerate(asked)]
    found = {f"q{n}": order[:4] for n, (_, order) in enumerate(asked)}
    if not given:
        return
    figures = rate(
        given, answers(**found), {(None, str(n)): n for n in range(1, 7)}, depths=range(1, 5)
    ).figures
    shares = [figures[f"recall@{depth}"] for depth in range(1, 5)]
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in figures.values())
    # With one piece of evidence each, MRR lies between recall@1 and recall at the end.
    if all(len(ids) == 1 for ids, _ in asked):
        assert shares[0] - 1e-9 <= figures["mrr"] <= shares[-1] + 1e-9


def test_evidence_leads_to_a_memory_by_the_callers_id_or_its_own() -> None:
    store = open_store(":memory:")
    with store.write() as tx:
        one = tx.memories.add("one", caller_id="m-1")
        two = tx.memories.add("two", caller_id=str(one))  # a caller whose ids are numbers
        asked = [Question("a", ("m-1", str(one), f"id:{one}", str(two), "99", "m-9"))]
        assert memories_of(tx, asked) == {
            (None, "m-1"): one,
            (None, str(one)): two,
            (None, f"id:{one}"): one,
            (None, str(two)): two,
        }
    store.close()


def test_an_id_that_agents_share_leads_each_to_its_own_memory() -> None:
    with enfold.open(":memory:", embedder=None) as graph:
        given = [Text(f"text {n}", caller_id="m-1", sealed_for=n) for n in (None, "scout")]
        open_, sealed = (one.memory.id for one in graph.remember_all(given))
        asked = [Question("a", ("m-1",), agent) for agent in ("scout", "other", None)]
        with graph._store.read() as tx:
            assert memories_of(tx, asked) == {
                ("scout", "m-1"): sealed,
                ("other", "m-1"): open_,
                (None, "m-1"): open_,
            }


def test_an_id_of_what_is_sealed_for_another_is_no_id() -> None:
    with enfold.open(":memory:", embedder=None) as graph:
        secret = graph.remember("The key is 1234.", sealed_for="scout").memory.id
        asked = [Question("a", (str(secret),), agent) for agent in ("scout", "other", None)]
        with graph._store.read() as tx:
            assert memories_of(tx, asked) == {("scout", str(secret)): secret}


# ---- files ---------------------------------------------------------------------------------------


def test_lines_of_questions_are_read() -> None:
    found = questions.read(DATA / "questions.jsonl")
    assert len(found) == 26
    assert found[0] == Question("Who took over the ingest worker?", ("m-01",), None, 1)
    assert found[23].agent == "scout"
    assert found[25].evidence == ()


def test_a_document_of_conversations_is_read_with_ids_of_their_own() -> None:
    found = questions.read(DATA / "conversations.json")
    assert [(one.question[:10], one.evidence) for one in found] == [
        ("Which dog ", ("conv-1:D1:1",)),
        ("What did L", ("conv-1:D1:2", "conv-1:D2:4")),
        ("What did R", ()),
        ("Which inst", ("conv-2:D1:1",)),
    ]


@pytest.mark.parametrize("indent", [None, 2])
def test_one_conversation_is_read_with_the_ids_as_they_are(
    tmp_path: Path, indent: int | None
) -> None:
    one = json.loads((DATA / "conversations.json").read_text(encoding="utf-8"))[0]
    path = tmp_path / "one.json"
    path.write_text(json.dumps(one, indent=indent), encoding="utf-8")
    assert [q.evidence for q in questions.read(path)] == [("D1:1",), ("D1:2", "D2:4"), ()]


@pytest.mark.parametrize(
    ("content", "evidence"),
    [
        ('{"question": "a", "evidence": [3, "m", "m", " "]}', ("3", "m")),
        ('{"question": "a", "evidence": "m"}', ("m",)),
        ('{"question": "a", "evidence": null}', ()),
        ('{"question": "a"}', ()),
        ('[{"question": "a", "evidence": ["m"]}]', ("m",)),
        ('{\n "question": "a",\n "evidence": ["m"]\n}\n', ("m",)),
    ],
)
def test_evidence_is_a_list_of_ids(tmp_path: Path, content: str, evidence: tuple[str, ...]) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(content, encoding="utf-8")
    (one,) = questions.read(path)
    assert one.evidence == evidence


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        ('{"question": "a", "evidence": ["m"]}\n{"question": "b", "evid', "bad_question", 2),
        ('{"question": "a"}\n{"text": "b"}', "bad_question", 2),
        ('{"question": " "}', "bad_question", 1),
        ('{"question": 7}', "bad_question", 1),
        ('{"question": "a", "evidence": [true]}', "bad_question", 1),
        ('{"question": "a", "evidence": [{"id": 1}]}', "bad_question", 1),
        ('{"question": "a", "agent": 3}', "bad_question", 1),
        ('{"question": "' + "a" * 3_000 + '"}', "bad_question", 1),
        ('["a"]', "bad_question", 1),
        ('[{"qa": {"question": "a"}}]', "bad_question", 1),
        ('{"entities": [],\n "relations": []}', "no_questions", None),
        ("[]", "no_questions", None),
        ("  ", "empty_file", None),
    ],
)
def test_a_file_that_is_not_read_whole_is_refused(
    tmp_path: Path, content: str, code: str, line: int | None
) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(Invalid) as refused:
        questions.read(path)
    assert refused.value.code == code
    assert refused.value.details.get("line") == line


def test_too_many_questions_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "MOST", 2)
    path = tmp_path / "questions.jsonl"
    path.write_text('{"question": "a"}\n' * 3, encoding="utf-8")
    with pytest.raises(Invalid, match="more than 2 questions"):
        questions.read(path)


# ---- on a graph ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph of the memories of the set, each with what it mentions."""
    made = tmp_path_factory.mktemp("gate") / "enfold.db"
    with enfold.open(made) as graph:
        read = texts(DATA / "memories.jsonl", Text(""))
        kept = list(graph.remember_all(one for one in read if isinstance(one, Text)))
        assert len(kept) == 30
        graph.index()
    return made


def gated(path: Path, **options: Any) -> Gated:
    with enfold.open(path, create=False, **options) as graph:
        return graph.gate(DATA / "questions.jsonl")


def test_recall_passes_the_gate_and_twice_alike(path: Path) -> None:
    found = gated(path)
    assert (found.questions, found.left_out, found.evidence, found.unknown) == (25, 1, 28, 0)
    assert found.below({"recall@1": 0.6, "recall@5": 0.9, "recall@10": 0.95, "mrr": 0.75}) == {}
    assert gated(path) == found


def test_recall_passes_the_gate_without_an_embedder(path: Path) -> None:
    found = gated(path, embedder=None)
    assert found.below({"recall@5": 0.8, "mrr": 0.6}) == {}


def test_what_is_sealed_is_found_by_its_agent_alone(path: Path) -> None:
    asked = "What may scout not do in production?"
    with enfold.open(path, create=False) as graph:
        ranks = [
            graph.gate([Question(asked, ("m-28",), agent)]).asked[0].rank
            for agent in ("scout", "other", None)
        ]
    assert ranks[0] is not None
    assert ranks[1:] == [None, None]


def test_who_asks_by_default_and_what_the_arms_weigh_is_handed_on(path: Path) -> None:
    sealed = Question("What may scout not do in production?", ("m-28",))
    named = Question("Where can I find A. Lovelace?", ("m-03",))
    with enfold.open(path, create=False, embedder=None) as graph:
        assert graph.gate([sealed], agent="scout").asked[0].rank is not None
        assert graph.gate([named], weights=Weights(0, 0, 1)).asked[0].results == (3,)
        assert graph.gate([named], weights=Weights(0, 0, 0)).asked[0].results == ()


def test_the_command_goes_by_the_settings(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = here / "questions.jsonl"
    asked.write_text('{"question": "What may scout not do?", "evidence": ["m-28"]}')
    assert json.loads(run("gate", "questions.jsonl", "--json").stdout)["figures"]["mrr"] == 0
    monkeypatch.setenv("ENFOLD_AGENT", "scout")
    assert json.loads(run("gate", "questions.jsonl", "--json").stdout)["figures"]["mrr"] > 0
    for arm in ("VECTOR", "KEYWORD", "ENTITY"):
        monkeypatch.setenv(f"ENFOLD_WEIGHT_{arm}", "0")
    assert json.loads(run("gate", "questions.jsonl", "--json").stdout)["figures"]["mrr"] == 0


def test_folds_that_are_reverted_move_nothing(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    before = gated(copy)
    with enfold.open(copy) as graph:
        folds = [graph.merge("Tomas Vrba", "Tomas"), graph.merge("ingest worker", "parser")]
    assert gated(copy).digest != before.digest
    with enfold.open(copy) as graph:
        for fold in folds:
            graph.revert(fold.id)
    assert gated(copy) == before


# ---- the command ---------------------------------------------------------------------------------


@pytest.fixture
def here(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "enfold.db").write_bytes(path.read_bytes())
    return tmp_path


def test_the_command_tells_figures_ranks_and_what_is_missing(here: Path) -> None:
    asked = here / "questions.jsonl"
    lines = [
        {"question": "Who fixed the retry?", "evidence": ["m-17"]},
        {"question": "Who took over the ingest worker?", "evidence": ["m-01", "gone"]},
        {"question": "Is it \x1b[31mred?", "evidence": ["nowhere"]},
    ]
    asked.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    result = run("gate", "questions.jsonl", "--k", "2,7")
    assert result.exit_code == 0
    assert "3 questions, 4 memories as evidence" in result.output
    assert re.search(r"recall@2 +0\.500", result.output)
    assert "recall@7" in result.output
    assert "recall@5" not in result.output
    assert re.search(r"mrr +0\.667", result.output)
    assert "2 of the evidence leads to no memory" in result.output
    rows = [line.split() for line in result.output.splitlines() if line.startswith("  line")]
    assert rows[0][:3] == ["line", "3", "–"]  # the worst first
    assert "missing: gone (unknown)" in result.output
    assert "\x1b" not in result.output
    assert "… and 2 more" in run("gate", "questions.jsonl", "--limit", "1").output


def test_the_command_fails_below_a_floor_and_measures_what_a_floor_needs(here: Path) -> None:
    asked = str(DATA / "questions.jsonl")
    passed = run("gate", asked, "--floor", "recall@3=0.5", "--floor", "MRR=0.5")
    assert passed.exit_code == 0
    assert "at least 0.5, as it must be" in passed.output
    failed = run("gate", asked, "--floor", "mrr=1", "--json")
    assert failed.exit_code == 1
    told = json.loads(failed.stdout)
    assert (told["floors"], told["below"]) == ({"mrr": 1.0}, ["mrr"])
    assert list(told["figures"]) == ["recall@1", "recall@5", "recall@10", "mrr"]
    assert told["asked"][0]["evidence"][0]["id"] == "m-01"
    assert "below its floor of 1" in run("gate", asked, "--floor", "mrr=1").output


@pytest.mark.parametrize(
    "args",
    [
        ("--floor", "recall@5"),
        ("--floor", "recall@5=high"),
        ("--floor", "recall@5=1.5"),
        ("--floor", "recall@5=nan"),
        ("--floor", "precision=0.5"),
        ("--k", "1,x"),
        ("--k", "0"),
        ("--k", "1001"),
        ("--k", ""),
    ],
)
def test_a_figure_or_floor_that_is_none_is_said(here: Path, args: tuple[str, ...]) -> None:
    result = run("gate", str(DATA / "questions.jsonl"), *args)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_questions_come_through_a_pipe(here: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "enfold", "gate", "-", "--json"],
        input=b'{"question": "Who fixed the retry?", "evidence": ["m-17"]}\n',
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["questions"] == 1


def test_a_file_that_is_none_is_said(here: Path) -> None:
    (here / "bad.jsonl").write_text('{"text": 1}\n', encoding="utf-8")
    result = run("gate", "bad.jsonl", "--json")
    assert result.exit_code == 5
    assert json.loads(result.stderr)["error"]["code"] == "bad_question"
    assert run("gate", "none.jsonl").exit_code == 5
