"""Texts become memories: stored once, read for names, linked, and asked about."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import enfold
from enfold import Graph, Name, passages, remember
from enfold.model import Extracted, NameInText, RelationInText, Remembered, Term, Text
from tests.embedders import FakeEmbedder

NAN = float("nan")


class Reader:
    """Finds what it is told to, by the text; fails where it is told to."""

    model = "reader"

    def __init__(self, said: dict[str, Extracted] | None = None) -> None:
        self.said = said or {}
        self.fault: Exception | None = None
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def extract(
        self, texts: Sequence[str], known: Sequence[Sequence[NameInText]], terms: Sequence[Term]
    ) -> list[Extracted]:
        for text, names in zip(texts, known, strict=True):
            self.asked.append((text, tuple(name.spelling for name in names)))
        if self.fault is not None:
            raise self.fault
        return [self.said.get(text, Extracted()) for text in texts]


def said(*names: str | NameInText, relations: Sequence[tuple[str, str, str]] = ()) -> Extracted:
    return Extracted(
        tuple(NameInText(n) if isinstance(n, str) else n for n in names),
        tuple(RelationInText(*relation) for relation in relations),
    )


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def graph(reader: Reader) -> Iterator[Graph]:
    with enfold.open(":memory:", extractor=reader, embedder=None) as made:
        yield made


def entity(graph: Graph, name: str) -> enfold.Entity:
    found = graph.find(name)
    assert isinstance(found, enfold.Found), found
    return found.entity


def stored(graph: Graph) -> int:
    return graph.summary().memories


# ---- stored once --------------------------------------------------------------------------------


def test_a_text_is_stored_as_it_was_written(graph: Graph) -> None:
    done = graph.remember(
        "  Ada  moved.\n", kind="episode", source="chat", agent="scribe", area="work", topic="it"
    )
    memory = done.memory
    assert (memory.content, memory.kind, memory.source) == ("  Ada  moved.\n", "episode", "chat")
    assert (memory.agent, memory.area, memory.topic) == ("scribe", "work", "it")
    assert not done.repeat


def test_the_same_text_again_is_counted_and_not_stored(graph: Graph, reader: Reader) -> None:
    reader.said["Ada sings."] = said("Ada")
    first = graph.remember("Ada sings.")
    again = [graph.remember("Ada sings."), graph.remember("Ada sings.", source="elsewhere")]
    assert [(one.repeat, one.memory.id) for one in again] == [(True, first.memory.id)] * 2
    assert again[-1].memory.repeats == 2
    assert (stored(graph), entity(graph, "Ada").mentions) == (1, 1)
    assert len(reader.asked) == 1


def test_a_text_sealed_for_one_agent_is_no_repeat_of_the_open_one(graph: Graph) -> None:
    every = [graph.remember("Said.", sealed_for=agent) for agent in (None, "a", "b", "a")]
    assert [one.repeat for one in every] == [False, False, False, True]


def test_the_same_text_under_two_ids_of_the_caller_is_two(graph: Graph) -> None:
    graph.remember("Said.", caller_id="1")
    graph.remember("Said.", caller_id="2")
    graph.remember("Said.")
    assert graph.remember("Said.", caller_id="1").repeat
    assert stored(graph) == 3


def test_another_text_under_a_known_id_is_refused_and_nothing_is_lost(graph: Graph) -> None:
    first = graph.remember("It is five.", caller_id="1")
    with pytest.raises(enfold.ConflictError, match="another text") as caught:
        graph.remember("It is six.", caller_id="1")
    assert caught.value.code == "caller_id_taken"
    assert stored(graph) == 1
    graph.forget(first.memory.id)
    assert not graph.remember("It is six.", caller_id="1").repeat


def test_nobody_learns_by_an_id_what_is_sealed_for_another(graph: Graph) -> None:
    sealed = graph.remember("The key is under the mat.", caller_id="1", sealed_for="a")
    assert sealed.memory.caller_id == "1"
    for agent in (None, "b", "a\x1fa"):
        for text in ("The key is under the mat.", f"Another, of {agent}."):
            done = graph.remember(text, caller_id=f"1 {agent!r} {len(text)}", sealed_for=agent)
            assert not done.repeat
    assert not graph.remember("Another.", caller_id="1").repeat
    with pytest.raises(enfold.Invalid, match="control character"):
        graph.remember("x", caller_id="1\x1fa")
    assert graph.remember("The key is under the mat.", caller_id="1", sealed_for="a").repeat


def test_what_no_longer_holds_can_be_said_anew(graph: Graph) -> None:
    first = graph.remember("Ada works there.")
    with graph._store.write() as tx:
        tx.memories.set_status(first.memory.id, "stale")
    assert not graph.remember("Ada works there.").repeat


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ({"content": " \n\t"}, "blank_memory"),
        ({"content": "\u200b\u200d"}, "blank_memory"),
        ({"content": "x" * 20_001}, "memory_too_long"),
        ({"content": "x", "kind": "rumour"}, "bad_kind"),
        ({"content": "x", "area": "a" * 201}, "bad_label"),
        ({"content": "half \ud800 a pair"}, "bad_text"),
    ],
)
def test_what_is_no_memory_is_refused_and_nothing_is_stored(
    graph: Graph, text: dict[str, Any], code: str
) -> None:
    with pytest.raises(enfold.Error) as caught:
        graph.remember(**text)
    assert caught.value.code == code
    assert stored(graph) == 0


# ---- read ---------------------------------------------------------------------------------------


def test_names_lead_to_the_entity_they_are_known_as_or_make_one(
    graph: Graph, reader: Reader
) -> None:
    graph.remember("x", mentions=[Name.of("PostgreSQL", "technology")])
    graph.alias("PostgreSQL", "Postgres")
    reader.said["Ada likes postgres."] = said(
        "postgres", NameInText("Ada", "person"), relations=[("Ada", "uses", "postgres")]
    )
    done = graph.remember("Ada likes postgres.")
    assert (done.mentions, done.facts, done.minted) == (2, 1, ("Ada",))
    assert entity(graph, "PostgreSQL").mentions == 2
    assert entity(graph, "Ada").type == "person"
    (other,) = graph.related("Ada").related
    assert (other.entity.name, other.links[0].relation) == ("PostgreSQL", "uses")


def test_the_names_the_graph_knows_are_found_in_every_text(graph: Graph, reader: Reader) -> None:
    graph.remember("x", mentions=["Grace Hopper", "東京"])
    graph.remember("It was grace hopper who came to 東京駅 then.")
    assert reader.asked[-1][1] == ("grace hopper", "東京")
    assert entity(graph, "Grace Hopper").mentions == 2


def test_texts_that_come_together_name_what_another_of_them_has_brought(
    graph: Graph, reader: Reader
) -> None:
    reader.said["Grace works on Claude Code."] = said(NameInText("Claude Code", "tool"))
    reader.said["The vault is called Zorro."] = said("Zorro")
    texts = [
        Text("claude-code needs Node, says zorro."),
        Text("Grace works on Claude Code."),
        Text("The vault is called Zorro.", sealed_for="a"),
    ]
    done = list(graph.remember_all(texts))
    assert [one.minted for one in done] == [("claude-code",), ("Claude Code",), ()]
    assert entity(graph, "claude-code").id == entity(graph, "Claude Code").id
    assert (entity(graph, "Claude Code").mentions, entity(graph, "claude-code").type) == (2, "tool")


def test_what_the_caller_gives_stands_and_the_text_is_not_read(
    graph: Graph, reader: Reader
) -> None:
    graph.remember("Ada met Bo.", mentions=["Ada"])
    assert reader.asked == []
    graph.remember("Ada met Bo again.", mentions=["Ada"], read=True)
    assert len(reader.asked) == 1


def test_a_text_is_stored_whatever_fails_later_and_read_when_it_can_be(
    graph: Graph, reader: Reader
) -> None:
    reader.said["Ada sings."] = said("Ada")
    for fault in (RuntimeError("broken"), enfold.Unavailable("down", "The model is down.")):
        reader.fault = fault
        done = graph.remember(f"Ada sings {type(fault).__name__}.")
        assert "not read" in (done.note or "")
    graph.remember("Ada sings.")
    assert (stored(graph), graph.find("Ada").__class__) == (3, enfold.Unknown)
    reader.fault = None
    assert remember.read_waiting(graph._store, reader) == (3, 0)
    assert entity(graph, "Ada").mentions == 3  # what one of them brings stands in the others
    assert remember.read_waiting(graph._store, reader) == (0, 0)


def test_a_name_that_can_be_none_costs_no_memory(graph: Graph, reader: Reader) -> None:
    reader.said["x"] = said("Ada", "  ", "word " * 4_000, relations=[("Ada", "uses", " ")])
    done = graph.remember("x")
    assert (done.mentions, done.facts, done.minted) == (1, 0, ("Ada",))


def test_a_name_of_the_callers_that_can_be_none_is_said(graph: Graph) -> None:
    done = graph.remember("Ada met Bo.", mentions=["Ada", "  "])
    assert (done.mentions, "Not linked" in (done.note or "")) == (1, True)


def test_a_text_that_is_forgotten_before_its_call_is_done_is_said(
    graph: Graph, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = reader.extract

    def forgetting(*given: Any) -> list[Extracted]:
        with graph._store.write() as tx:
            tx.memories.delete(tx.memories.last())
        return taken(*given)

    monkeypatch.setattr(reader, "extract", forgetting)
    with pytest.raises(enfold.ConflictError, match="forgotten"):
        graph.remember("Ada sings.")
    assert graph.check().clean


@pytest.mark.sqlite
def test_ten_thousand_names_in_one_text_are_linked(graph: Graph, reader: Reader) -> None:
    reader.said["list"] = said(*(f"package-{at}x" for at in range(10_000)))
    done = graph.remember("list")
    assert (done.mentions, len(done.minted)) == (10_000, 10_000)
    assert graph.check().clean


@dataclass
class Answers:
    """An extractor that gives what it is told, by the text."""

    said: dict[str, Any]
    model: str = "answers"

    def extract(self, texts: Sequence[str], *_: Any) -> list[Any]:
        return [self.said.get(text, Extracted((NameInText("Ada"),))) for text in texts]


WRONG_NAMES = [None, "Ada", NameInText(None), NameInText("Ada", 5), NameInText("Ada", None, NAN)]  # type: ignore[arg-type]
WRONG_RELATIONS = [
    ("Ada", "uses", "Bo"),
    RelationInText("Ada", None, "Bo"),  # type: ignore[arg-type]
    RelationInText(b"Ada", "uses", "Bo"),  # type: ignore[arg-type]
    *(
        RelationInText("Ada", "uses", "Bo", bad)  # type: ignore[arg-type]
        for bad in (NAN, float("inf"), -0.1, 7.0, "hi", True, None, 10**400)
    ),
]
WRONG: list[Any] = [
    None,
    "Ada",
    Extracted(None),  # type: ignore[arg-type]
    Extracted("Ada"),  # type: ignore[arg-type]
    Extracted(failed=ValueError("half \ud800")),  # type: ignore[arg-type]
    *(Extracted((NameInText("Bo"), one)) for one in WRONG_NAMES),  # type: ignore[arg-type]
    *(Extracted((), (one,)) for one in WRONG_RELATIONS),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_in_what_an_extractor_says_of_one_text_costs_no_other(wrong: Any) -> None:
    answers = Answers({"bad": wrong})
    with enfold.open(":memory:", extractor=answers, embedder=None) as made:
        done = list(made.remember_all(Text(text) for text in ("Ada sings.", "bad", "Ada dances.")))
        assert [one.mentions for one in done] == [1, 0, 1]
        assert "Stored, but not read" in (done[1].note or "")
        assert (done[0].note, done[2].note) == (None, None)
        left = made.index()
        assert (left.read, left.unread) == (0, 1)
        answers.said.clear()
        assert made.index().read == 1


@pytest.mark.parametrize("bad", [Text("x", mentions=(one,)) for one in WRONG_NAMES])  # type: ignore[arg-type]
def test_a_name_of_the_callers_that_is_no_text_refuses_that_text_alone(
    graph: Graph, bad: Text
) -> None:
    told: list[tuple[int, str]] = []
    texts = [Text("a", mentions=(NameInText("Ada"),)), bad, Text("c")]
    done = list(graph.remember_all(texts, refused=lambda at, why: told.append((at, why.code))))
    assert (len(done), told) == (2, [(1, "bad_mention")])


@pytest.mark.parametrize("bad", [Text("x", facts=(one,)) for one in WRONG_RELATIONS])  # type: ignore[arg-type]
def test_a_relation_of_the_callers_without_a_confidence_refuses_that_text_alone(
    graph: Graph, bad: Text
) -> None:
    told: list[tuple[int, str]] = []
    done = list(
        graph.remember_all([Text("a"), bad], refused=lambda at, why: told.append((at, why.code)))
    )
    assert (len(done), told) == (1, [(1, "bad_fact")])
    with pytest.raises(enfold.Invalid):
        list(graph.remember_all([bad]))


def test_a_confidence_may_be_a_number_of_another_library(graph: Graph, reader: Reader) -> None:
    sure = RelationInText("Ada", "uses", "Bo", numpy.float32(0.5))  # type: ignore[arg-type]
    reader.said["x"] = Extracted((), (sure,))
    assert graph.remember("x").facts == 1


def test_half_a_surrogate_pair_in_a_relation_costs_no_text(graph: Graph, reader: Reader) -> None:
    two(graph, "Li Wei")
    reader.said["x"] = said(relations=[("Li Wei", "uses", "Bo\ud800")])
    assert graph.remember("x").note is None
    assert graph.check().clean


# ---- cut off, and taken again ------------------------------------------------------------------


def cut_off(graph: Graph, *texts: Text) -> None:
    """As a call leaves them that is killed between storing and reading."""
    with graph._store.write() as tx:
        remember.store(tx, texts)


@pytest.mark.parametrize("kind", ["fact", "document"])
def test_a_repeat_that_was_never_read_is_read_and_placed_by_the_same_call(kind: str) -> None:
    reader = Reader({"Ada sings.": said("Ada"), "Bo sings.": said("Bo")})
    content = "# A\n\nAda sings.\n\n# B\n\nBo sings." if kind == "document" else "Ada sings."
    text = Text(content, kind=kind, caller_id="1")
    with enfold.open(":memory:", extractor=reader, embedder=FakeEmbedder()) as graph:
        cut_off(graph, text)
        (done, again) = graph.remember_all([text, text])
        assert (done.repeat, again.repeat, done.passages) == (True, True, ())
        names = 2 if kind == "document" else 1
        assert (done.mentions, len(done.minted), again.mentions) == (names, names, 0)
        assert (graph.summary().unread, graph.index().memories) == (0, 0)
        assert next(graph.remember_all([text])).mentions == 0
        assert graph.check().clean


def test_a_repeat_that_the_caller_does_not_want_read_stays_unread(
    graph: Graph, reader: Reader
) -> None:
    cut_off(graph, Text("Ada sings."))
    assert graph.remember("Ada sings.", read=False).mentions == 0
    assert (graph.summary().unread, reader.asked) == (1, [])


def test_a_repeat_that_was_read_and_not_placed_is_placed(graph: Graph, reader: Reader) -> None:
    embedder = FakeEmbedder(fails_on="sings")
    with enfold.open(":memory:", extractor=reader, embedder=embedder) as made:
        assert "not placed by meaning" in (made.remember("Ada sings.").note or "")
        embedder.fails_on = None
        assert made.remember("Ada sings.").note is None
        assert made.index().memories == 0


# ---- the rules speak at once --------------------------------------------------------------------


def test_a_new_spelling_of_one_thing_folds_at_once_and_can_be_reverted(
    graph: Graph, reader: Reader
) -> None:
    graph.remember("a", mentions=["Claude Code"])
    reader.said["b"] = said("claude-code")
    done = graph.remember("b")
    (merge,) = done.merge_ids
    assert entity(graph, "claude-code").name == "Claude Code"
    assert entity(graph, "Claude Code").mentions == 2
    graph.revert(merge)
    assert entity(graph, "claude-code").name == "claude-code"
    assert graph.remember("c", mentions=["CLAUDE_CODE"]).merge_ids == ()


def test_what_is_uncertain_is_asked_at_once(graph: Graph) -> None:
    graph.remember("a", mentions=["Next", "C"])
    done = graph.remember("b", mentions=[".next", "C#"])
    assert done.merge_ids == ()
    assert len(done.conflict_ids) == 2
    asked = {frozenset((c.queued_name, c.candidate_name)) for c in graph.conflicts()}
    assert asked == {frozenset((".next", "Next")), frozenset(("C", "C#"))}


def test_the_rules_say_on_write_what_a_pass_would_say(tmp_path: Path) -> None:
    names = ["Postgres", "PostgreSQL", "postgres", "Claude Code", "claude-code", "Claude Code SDK"]
    names += ["Ada Lovelace", "A. Lovelace", "GPT-4", "GPT4", "gpt-4o", "Node", "Node.js"]
    with enfold.open(":memory:", embedder=None) as one, enfold.open(":memory:") as other:
        for name in names:
            one.remember(f"about {name}", mentions=[name])
        with other._store.write() as tx:
            for name in names:
                memory = tx.memories.add(f"about {name}")
                row, _ = enfold.lookup.mint(tx, Name.of(name))
                tx.edges.mention(memory, row.id, name)
        other.resolve()
        both = [
            (
                {frozenset((e.spelling, *g.entity(e.id).aliases)) for e in g.entities()},
                {frozenset((c.queued_name, c.candidate_name)) for c in g.conflicts()},
            )
            for g in (one, other)
        ]
        assert both[0] == both[1]
        assert one.resolve(full=True).merged == 0
        assert one.check().clean


def test_so_many_new_names_that_a_pass_is_due_are_left_to_it(graph: Graph) -> None:
    with graph._store.write() as tx:
        for at in range(2_100):
            enfold.lookup.mint(tx, Name.of(f"thing {at} q"))
        enfold.lookup.mint(tx, Name.of("Claude Code"))
    done = graph.remember("b", mentions=["claude-code"])
    assert done.merge_ids == ()
    assert graph.resolve().merged == 1


def test_each_question_and_each_fold_between_names_of_one_text_is_told_once(graph: Graph) -> None:
    asked = graph.remember("a", mentions=["Next", ".next"])
    assert len(asked.conflict_ids) == 1
    folded = graph.remember("b", mentions=["Claude Code", "claude-code", "CLAUDE_CODE"])
    assert len(folded.merge_ids) == len(set(folded.merge_ids)) == 2


@pytest.mark.parametrize("fails_on", ["Ada", "sings"])
def test_a_note_says_what_was_not_placed_and_of_no_other_text(
    reader: Reader, fails_on: str
) -> None:
    reader.said["One sings."] = said("Ada")
    with enfold.open(":memory:", extractor=reader, embedder=FakeEmbedder(fails_on=fails_on)) as one:
        first, other = one.remember_all([Text("One sings."), Text("No name.", mentions=())])
        assert "enfold index" in (first.note or "")
        if fails_on == "Ada":
            assert "names that are new" in (first.note or "")
            assert "not placed" not in (first.note or "")
            assert other.note is None
        else:
            assert "Stored, but not placed by meaning" in (first.note or "")


# ---- several entities of one name ---------------------------------------------------------------


def two(graph: Graph, name: str) -> tuple[int, int]:
    """Two entities of one name."""
    with graph._store.write() as tx:
        one, _ = enfold.lookup.mint(tx, Name.of(name))
        other, _ = enfold.lookup.mint(tx, Name.of(name), homonym=True)
    return one.id, other.id


def test_a_name_that_fits_several_entities_is_linked_to_none_and_asked_once(
    graph: Graph, reader: Reader
) -> None:
    two(graph, "Li Wei")
    texts = [f"Li Wei said {at}." for at in range(3)]
    reader.said |= {text: said("Li Wei", "Acme") for text in texts}
    done = [graph.remember(text) for text in texts]
    assert [one.unlinked for one in done] == [("Li Wei",)] * 3
    assert [len(one.conflict_ids) for one in done] == [1, 0, 0]
    assert [e.mentions for e in graph.entities()] == [0, 0, 3]
    with graph._store.read() as tx:
        assert tx.unlinked.count("li wei") == 3


# ---- sealed -------------------------------------------------------------------------------------


def test_a_sealed_memory_makes_no_entity_and_counts_for_none(graph: Graph, reader: Reader) -> None:
    graph.remember("open", mentions=["Ada"])
    reader.said["Ada meets Zorro."] = said("Zorro", relations=[("Ada", "knows", "Zorro")])
    done = graph.remember("Ada meets Zorro.", sealed_for="a")
    assert (done.minted, done.unlinked) == ((), ("Zorro",))
    assert entity(graph, "Ada").mentions == 1
    assert isinstance(graph.find("Zorro"), enfold.Unknown)
    graph.remember("Zorro rides.", mentions=["Zorro"])
    assert entity(graph, "Zorro").mentions == 1
    assert graph.check().clean


# ---- documents ----------------------------------------------------------------------------------


DOCUMENT = """Intro of the handbook.

# Deploys

Ship on Monday.

## Rollback

Call Ada.
"""


def test_a_document_is_split_into_passages_with_their_headings(
    graph: Graph, reader: Reader
) -> None:
    reader.said["Call Ada."] = said("Ada")
    done = graph.remember(DOCUMENT, kind="document", source="handbook.md")
    assert done.memory.content == DOCUMENT
    with graph._store.read() as tx:
        parts = list(tx.memories.many(done.passages).values())
    assert [(part.title, part.content) for part in parts] == [
        (None, "Intro of the handbook."),
        ("Deploys", "Ship on Monday."),
        ("Deploys › Rollback", "Call Ada."),
    ]
    assert {part.document_id for part in parts} == {done.memory.id}
    assert {part.source for part in parts} == {"handbook.md"}
    assert entity(graph, "Ada").mentions == 1
    graph.forget(done.memory.id)
    assert stored(graph) == 0
    assert graph.check().clean


def test_a_document_that_changed_is_the_next_version(graph: Graph) -> None:
    first = graph.remember(DOCUMENT, kind="document", caller_id="file:handbook.md")
    second = graph.remember(DOCUMENT + "\nNew.", kind="document", caller_id="file:handbook.md")
    assert second.memory.follows_id == first.memory.id
    with graph._store.read() as tx:
        before = tx.memories.get(first.memory.id)
        statuses = {m.status for m in tx.memories.many(first.passages).values()}
        assert [m.id for m in tx.memories.versions(second.memory.id)] == [
            first.memory.id,
            second.memory.id,
        ]
    assert before is not None
    assert (before.status, statuses) == ("stale", {"stale"})
    assert graph.remember(DOCUMENT + "\nNew.", kind="document", caller_id="file:handbook.md").repeat


@given(st.text(alphabet="ab. \n#=`-\u3002\u4e00", max_size=400), st.integers(1, 60))
def test_passages_keep_every_letter_and_stay_within_their_size(text: str, most: int) -> None:
    parts = passages.split(text, most=most)
    assert all(0 < len(part.content) <= most for part in parts)

    def letters(pieces: Sequence[str]) -> str:
        return "".join(sorted("".join(c for piece in pieces for c in piece if c in "ab\u4e00")))

    titled = {title for part in parts for title in (part.title or "").split(" › ")}
    kept = letters([part.content for part in parts])
    assert set(kept) <= set(letters([text]))
    if "#" not in text and "=" not in text and "-" not in text:
        assert kept == letters([text])
        assert titled <= {""}


def test_a_document_of_ten_megabytes_is_taken(graph: Graph) -> None:
    done = graph.remember("word " * 2_000_000, kind="document")
    assert len(done.passages) > 8_000
    assert graph.check().clean


# ---- many ---------------------------------------------------------------------------------------


def test_many_texts_are_taken_in_batches_and_bad_ones_are_told(graph: Graph) -> None:
    texts = [Text(f"Text {at}." if at % 50 else "") for at in range(250)]
    told: list[tuple[int, str]] = []
    done = list(graph.remember_all(texts, refused=lambda at, why: told.append((at, why.code))))
    assert len(done) == 245
    assert told == [(at, "blank_memory") for at in range(0, 250, 50)]
    again = list(graph.remember_all(texts, refused=lambda at, why: None))
    assert all(one.repeat for one in again)
    assert stored(graph) == 245


KILLED = """
import sys, enfold
from enfold.model import Text
with enfold.open(sys.argv[1], embedder=None) as graph:
    texts = (Text(f"Ada Lovelace wrote note {at}.") for at in range(100_000))
    for done in graph.remember_all(texts):
        print(done.memory.id, flush=True)
"""


def test_a_kill_in_the_middle_loses_nothing_that_was_told_and_the_next_run_goes_on(
    tmp_path: Path,
) -> None:
    path = tmp_path / "graph.db"
    command = [sys.executable, "-c", KILLED, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        told = [int(worker.stdout.readline()) for _ in range(150)]
        os.kill(worker.pid, signal.SIGKILL)
    with enfold.open(path, embedder=None) as graph:
        assert graph.check().clean
        with graph._store.read() as tx:
            assert len(tx.memories.many(told)) == 150
        done = list(graph.remember_all(Text(f"Ada Lovelace wrote note {n}.") for n in range(200)))
        assert all(one.repeat for one in done[:150])
        remember.read_waiting(graph._store, Reader())
        assert graph.check().clean


def test_writers_of_one_new_name_at_one_moment_make_one_entity(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    script = (
        "import sys, enfold\n"
        "with enfold.open(sys.argv[1], embedder=None) as graph:\n"
        "    for at in range(10):\n"
        "        graph.remember(f'{sys.argv[2]} {at}', mentions=[f'New {at}', f'new-{at}'])\n"
    )
    workers = [
        subprocess.Popen([sys.executable, "-c", script, str(path), str(number)])
        for number in range(4)
    ]
    assert [worker.wait(60) for worker in workers] == [0] * 4
    with enfold.open(path, embedder=None) as graph:
        assert stored(graph) == 40
        assert len(graph.entities()) == 10
        assert {one.mentions for one in graph.entities()} == {4}
        assert graph.check().clean


def test_what_remember_gives_can_be_compared() -> None:
    assert Remembered.__dataclass_params__.frozen  # type: ignore[attr-defined]


def test_ids_that_differ_in_their_blanks_are_two(graph: Graph) -> None:
    graph.remember("One.", caller_id="a b")
    assert not graph.remember("Two.", caller_id="a  b").repeat
    assert graph.remember("Two.", caller_id="a  b").repeat


@pytest.mark.parametrize("bad", ["a\0b", "a\x1fb", "a\ud800", "a" * 2_001])
def test_an_id_that_can_not_be_stored_is_refused(graph: Graph, bad: str) -> None:
    with pytest.raises(enfold.errors.Invalid) as told:
        graph.remember("One.", caller_id=bad)
    assert told.value.code == "bad_label"


def test_long_texts_are_taken_few_at_a_time() -> None:
    long = Text("a" * remember.CHARACTERS)
    assert [len(one) for one in remember.batches([long, long, Text("b"), Text("c")])] == [1, 1, 2]


def test_a_reader_that_answers_for_other_texts_than_it_was_given_loses_none(graph: Graph) -> None:
    class Mute(Reader):
        def extract(self, *_: Any) -> Any:
            return self.answer

        answer: Any = None

    mute = Mute()
    with enfold.open(":memory:", extractor=mute, embedder=None) as made:
        for number, mute.answer in enumerate((None, [], [Extracted(), Extracted()], [None], 5)):
            done = made.remember(f"Text {number}.")
            assert "enfold index" in (done.note or "")
        mute.answer = [Extracted()] * 5
        assert made.index().read == 5
