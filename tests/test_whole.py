"""The whole graph goes out and comes in: byte for byte, and it goes on as the one it was."""

from __future__ import annotations

import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

import enfold
from enfold import copying, folds, lookup
from enfold import resolve as passes
from enfold.cli.commands import app
from enfold.copying import BY_NAME, DERIVED, KEPT, LEFT, TABLES
from enfold.errors import Error, Invalid, Refused
from enfold.formats import whole
from enfold.formats.source import opened
from enfold.graph import Graph
from enfold.model import Answer, Found
from enfold.names import Name
from enfold.ports import NewMemory, NewUnlinked, NewUnlinkedFact
from enfold.store import Store, open_store
from enfold.store.schema import MIGRATIONS
from tests.test_oracle import Dice, Graphs
from tests.test_round_trip import GRAPHS
from tests.told import told

STORE: Final = Path(enfold.__file__).parent / "store"


def out(store: Store, *, sealed: bool = True) -> str:
    """All of a graph, as its file is written."""
    with store.read() as tx:
        rows = copying.rows(tx, sealed=sealed)
        return "".join(whole.lines(rows, schema=tx.rows.schema, sealed=sealed))


def of(graph: Graph) -> Store:
    return graph._store


def taken(text: str, folder: Path, into: Graph) -> None:
    """Import a file of that text."""
    path = folder / "whole.jsonl"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    into.import_files(path)


def is_new(graph: Graph) -> bool:
    with of(graph).read() as tx:
        return tx.rows.are_none()


# ---- the tables ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def schema() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    for script in MIGRATIONS:
        connection.executescript(script)
    yield connection
    connection.close()


def test_every_table_is_copied_or_is_said_to_be_derived(schema: sqlite3.Connection) -> None:
    listed = schema.execute("SELECT name, type FROM pragma_table_list WHERE schema = 'main'")
    tables = {
        name
        for name, kind in listed
        if kind in ("table", "virtual") and not name.startswith("sqlite_")
    }
    copied = {table.name for table in TABLES} - {"last_id"}
    assert copied | DERIVED.keys() == tables
    assert not copied & DERIVED.keys()


@pytest.mark.parametrize("table", [one for one in TABLES if one.name != "last_id"], ids=str)
def test_a_table_is_copied_with_every_column(
    table: copying.Table, schema: sqlite3.Connection
) -> None:
    stored = schema.execute(
        'SELECT name, type, "notnull" = 0 AND pk = 0 FROM pragma_table_info(?)', (table.name,)
    ).fetchall()
    types = {"id": "INTEGER", "number": "INTEGER", "flag": "INTEGER", "share": "REAL"}
    declared = [(one.name, types.get(one.kind, "TEXT"), int(one.empty)) for one in table.columns]
    assert declared == stored


@pytest.mark.parametrize("table", [one for one in TABLES if one.name != "last_id"], ids=str)
def test_what_goes_with_a_memory_is_what_the_schema_deletes_with_it(
    table: copying.Table, schema: sqlite3.Connection
) -> None:
    named = dict(
        schema.execute(
            """SELECT "from", on_delete FROM pragma_foreign_key_list(?)
            WHERE "table" = 'memory'""",
            (table.name,),
        )
    )
    goes = {column for column, action in named.items() if action == "CASCADE"}
    assert set(table.goes) == goes | ({"id"} if table.name == "memory" else set())
    assert set(table.loosens) == {c for c, action in named.items() if action == "SET NULL"}


def test_every_setting_of_a_graph_is_copied_or_is_said_to_be_derived() -> None:
    scripts = [*STORE.rglob("*.py"), *STORE.rglob("*.sql")]
    sources = [script.read_text("utf-8") for script in scripts]
    found: set[str] = set()
    for source in sources:
        found.update(re.findall(r"name = '(\w+)'", source))
    (seeds,) = re.findall(r"INSERT INTO meta VALUES(.*?);", "".join(MIGRATIONS), re.DOTALL)
    found.update(re.findall(r"\('(\w+)', ", seeds))
    tables = {table.name for table in TABLES}
    assert found - tables <= {*KEPT, *LEFT}
    assert {"edge", "examined", "settled", "words"} <= found


def test_what_is_suggested_comes_after_what_the_triggers_mark() -> None:
    order = [table.name for table in TABLES]
    last = order.index("suggestion")
    assert all(order.index(name) < last for name in ("entity", "uncounted", "decision", "conflict"))
    assert order.index("entity") < order.index("unlinked") < order.index("unlinked_fact")


# ---- any graph ----------------------------------------------------------------------------------


def copied(store: Store) -> Store:
    """The same graph, by way of a file."""
    text = out(store)
    made = open_store(":memory:", clock=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    source = whole_source(text)
    with made.write() as tx:
        copying.paste(tx, whole.read(source), into="it")
    assert out(made) == text
    return made


def whole_source(text: str) -> Any:
    from enfold.formats.source import Source

    raw = text.encode("utf-8", "surrogatepass")
    return Source("it.jsonl", raw[:1000], io.BytesIO(raw))


@pytest.mark.parametrize("seed", range(2_000 if os.environ.get("LONG_TESTS") else 25))
def test_a_graph_goes_on_as_before_when_it_is_copied_amid_any_interleaving(seed: int) -> None:
    graphs, dice, when = Graphs(), Dice(seed), Random(seed)
    try:
        dice.fill(graphs)
        for _ in range(60):
            dice.throw(graphs)
            if when.random() < 0.15:
                before, graphs.store = graphs.store, copied(graphs.store)
                before.close()
                graphs.a_reader_sees_what_the_definition_says()
        graphs.a_reader_sees_what_the_definition_says()
    finally:
        graphs.teardown()


@pytest.fixture(scope="module", params=GRAPHS)
def settled(request: pytest.FixtureRequest) -> Iterator[Graph]:
    """A real graph, settled in part, with something new since the last pass."""
    with enfold.open(":memory:") as made:
        made.import_files(GRAPHS[request.param], trust_ids=True)
        made.resolve()
        for place, question in enumerate(made.conflicts(limit=4)):
            if question.id in {one.id for one in made.conflicts()}:
                made.decide(question.id, ("keep_existing", "keep_both")[place % 2])
        for merge in made.merges(limit=1):
            made.revert(merge.id)
        first, *_, last = made.entities(limit=5)
        made.rename(last.id, f"{last.name} (renamed)")
        made.keep_apart(first.id, last.id)
        told(made, "Something new.", mentions=[f"{first.name}s", "Entirely New"])
        yield made


def reads(graph: Graph) -> list[object]:
    """What a reader can see of it."""
    entities = graph.entities(limit=10_000)
    return [
        entities,
        [graph.entity(one.id) for one in entities],
        [graph.related(one.id) for one in entities[:50]],
        [graph.facts(one.id) for one in entities[:50]],
        [graph.search(one.name[:4]) for one in entities[:20]],
        graph.conflicts(),
        graph.conflicts(decided=True),
        graph.merges(reverted=True),
        [graph.receipt(one.id) for one in graph.merges(reverted=True)],
        graph.apart(),
        graph.cards(limit=100),
        graph.runs(),
        [graph.set_aside(one.id) for one in graph.runs()],
        "".join(graph.export("mcp")),
        "".join(graph.export_decisions()),
    ]


def test_a_real_graph_comes_back_as_it_was(settled: Graph, tmp_path: Path) -> None:
    done = settled.export_to(tmp_path / "a.jsonl", "enfold", sealed=True)
    text = (tmp_path / "a.jsonl").read_text("utf-8")
    assert done.lines == text.count("\n")
    with enfold.open(tmp_path / "copy.db") as copy:
        (made,) = copy.import_files(tmp_path / "a.jsonl")
        found = settled.summary()
        assert (made.entities, made.aliases, made.memories) == (
            found.entities,
            found.aliases,
            found.memories,
        )
        assert "".join(copy.export("enfold", sealed=True)) == text
        assert reads(copy) == reads(settled)
        assert copy.check().clean
        assert "".join(copy.export("enfold", sealed=True)) == text


def test_the_next_pass_over_a_copy_finds_what_it_would_have_found(
    settled: Graph, tmp_path: Path
) -> None:
    reports = []
    for _ in range(2):
        with enfold.open(":memory:") as copy:
            taken("".join(settled.export("enfold")), tmp_path, copy)
            with of(copy).read() as tx:
                assert set(tx.names.unindexed()) == set()
            reports.append(copy.resolve(dry_run=True))
    assert reports[0] == reports[1] == settled.resolve(dry_run=True)
    assert not reports[0].full


def test_a_revert_in_a_copy_does_what_it_does_in_the_graph(settled: Graph, tmp_path: Path) -> None:
    for merge in settled.merges():
        with enfold.open(":memory:") as copy:
            taken("".join(settled.export("enfold")), tmp_path, copy)
            assert copy.revert(merge.id, dry_run=True) == settled.revert(merge.id, dry_run=True)
            copy.revert(merge.id)
            assert copy.check().clean


# ---- all that a graph can hold -------------------------------------------------------------------


@pytest.fixture
def full() -> Iterator[Graph]:
    """A graph with something in every table that is copied."""
    with enfold.open(":memory:") as made:
        fill(made)
        yield made


def fill(made: Graph) -> None:
    told(made, "Ada met Bo.", mentions=["Ada", "Bo", "ada."], facts=[("Ada", "knows", "Bo")])
    told(made, "C and C++", mentions=["C", "C++", "Delta Corp", "Delta Corporation", "Deltas"])
    made.resolve(backup=False)
    made.rename("Ada", "Ada Lovelace")
    made.keep_apart("Bo", "C")
    made.import_files(GRAPHS["dmetrics"])
    with of(made).write() as tx:
        row = {one.spelling: one.id for name in ("C", "Bo", "C++") for one in rows(tx, name)}
        known, stale, plain, secret, document = tx.memories.add_many(
            [
                NewMemory("Once known.\0 \u2028 🦊", caller_id="a", kind="preference", once=True),
                NewMemory("It was so.", area="old", topic="past", agent="me", source="s"),
                NewMemory("It is so.", title="A head", source_tag="t", created_at="2020-01-01"),
                NewMemory("The key is 1234.", sealed_for="vault", once=True),
                NewMemory("# All\nof it", kind="document", searched=False),
            ]
        )
        parts = tx.memories.add_many(
            [NewMemory(word, kind="document", document_id=document) for word in ("All", "of it")]
        )
        hidden, part = tx.memories.add_many(
            [
                NewMemory("Sealed book", kind="document", sealed_for="vault", searched=False),
                NewMemory("Secret sequel", follows_id=secret),
            ]
        )
        tx.memories.add_many([NewMemory("Sealed page", document_id=hidden, sealed_for="vault")])
        tx.memories.set_status(stale, "stale")
        tx.memories.set_status(hidden, "stale")
        tx.memories.follow(plain, stale)
        tx.memories.follow(stale, part)  # to a later one
        tx.memories.repeat(known)
        tx.memories.mark_unread([plain, secret])
        tx.memories.mark_failed([plain], "no model")
        for memory in (plain, secret, stale, parts[0]):
            tx.edges.mention(memory, row["C"], "C")
        tx.edges.fact(secret, row["C"], "opens", row["Bo"], confidence=0.1 + 0.2)
        tx.edges.fact(plain, row["C"], "is", literal="a letter", confidence=5e-324)
        tx.unlinked.add([NewUnlinked(plain, "zen", "Zen", "thing")])
        tx.unlinked.add([NewUnlinked(secret, "password", "Password", None)])
        tx.unlinked.add_facts([NewUnlinkedFact(plain, "zen", "Zen", "is", "c", "C", 1 / 3)])
        tx.unlinked.add_facts([NewUnlinkedFact(secret, "key", "Key", "is", "c", "C")])
        tx.questions.ask_name("zen", "Zen", asked_by="test", reason="two")
        asked = tx.questions.ask_memory(stale, plain, asked_by="t", score=0.5, reason="differ")
        assert asked is not None
        tx.questions.answer(asked, Answer.KEEP_BOTH, answered_by="me", made_id=secret)
        tx.questions.ask_memory(plain, secret, asked_by="t", score=0.5, reason="secret differs")
        gone = tx.memories.add("never mind")
        tx.memories.delete(gone)


def rows(tx: Any, name: str) -> list[Any]:
    found: list[Any] = tx.entities.by_key(Name.of(name).key)
    return found


def test_every_table_is_tried(full: Graph) -> None:
    last = json.loads(out(of(full)).splitlines()[-1])
    assert [name for name, count in last["rows"].items() if not count] == []


def test_a_graph_with_everything_comes_back_byte_for_byte(full: Graph, tmp_path: Path) -> None:
    text = out(of(full))
    with enfold.open(tmp_path / "copy.db") as copy:
        taken(text, tmp_path, copy)
        assert out(of(copy)) == text
        assert copy.check().clean
        assert reads(copy) == reads(full)
        for word in ("known", "past", "key", "all", "book", "page"):
            assert found_by(copy, word) == found_by(full, word)


def found_by(graph: Graph, word: str) -> list[tuple[int]]:
    with of(graph).read() as tx:
        sql: Any = tx.entities
        found: list[tuple[int]] = sql._sql.all(
            "SELECT rowid FROM memory_words WHERE memory_words MATCH :word", word=word
        )
        return found


def test_no_id_that_was_ever_given_is_given_again(full: Graph, tmp_path: Path) -> None:
    next_ids = []
    with enfold.open(tmp_path / "copy.db") as copy:
        taken(out(of(full)), tmp_path, copy)
        for graph in (full, copy):
            told(graph, "One more.", mentions=["Newest"], facts=[("Newest", "is", "Ada")])
            with of(graph).read() as tx:
                ids = (tx.memories.last(), tx.entities.last(), tx.edges.mark())
                next_ids.append((*ids, len(graph.runs())))
    assert next_ids[0] == next_ids[1]


def test_the_same_graph_gives_the_same_bytes_at_any_time(full: Graph, tmp_path: Path) -> None:
    once = tmp_path / "one"
    full.export_to(once, "enfold")
    assert once.read_text("utf-8") == "".join(full.export("enfold"))


def test_a_database_is_copied_into_another_without_a_file(full: Graph) -> None:
    made = open_store(":memory:")
    counts = copying.copy(of(full), made)
    assert out(made) == out(of(full))
    with of(full).read() as tx:
        assert counts["memory"] == tx.memories.count()
    assert counts["memory"] in range(300, 400)
    with pytest.raises(Refused) as caught:
        copying.copy(of(full), made)
    assert caught.value.code == "not_empty"
    made.close()


# ---- sealed memories ----------------------------------------------------------------------------


def test_what_is_sealed_is_left_out_as_if_it_had_been_deleted(full: Graph) -> None:
    text = out(of(full), sealed=False)
    for secret in ("1234", "vault", "password", "Password", "Sealed", "opens", "secret differs"):
        assert secret not in text
    with of(full).write() as tx:
        sealed = [m.id for m, _ in tx.memories.page(after=0, limit=10_000) if m.sealed_for]
        assert len(sealed) == 3
        for memory in sealed:
            tx.memories.delete(memory)
    assert out(of(full), sealed=False) == text
    assert out(of(full)).splitlines()[1:-1] == text.splitlines()[1:-1]


def test_an_export_leaves_sealed_memories_out_unless_it_is_asked_for_them(
    full: Graph, tmp_path: Path
) -> None:
    head, kept = ("".join(full.export("enfold", sealed=flag)) for flag in (False, True))
    assert json.loads(head.splitlines()[0])["sealed"] is False
    assert json.loads(kept.splitlines()[0])["sealed"] is True
    assert "1234" in kept
    with enfold.open(tmp_path / "open.db") as copy:
        taken(head, tmp_path, copy)
        assert copy.check().clean
        assert "".join(copy.export("enfold")) == head
    with enfold.open(tmp_path / "sealed.db") as copy:
        taken(kept, tmp_path, copy)
        assert "".join(copy.export("enfold")) == head
        assert "".join(copy.export("enfold", sealed=True)) == kept


def test_a_format_that_can_not_say_what_is_sealed_does_not_hold_it(
    full: Graph, tmp_path: Path
) -> None:
    for verb in (
        lambda: full.export("mcp", sealed=True),
        lambda: full.export_to(tmp_path / "x", "csv", sealed=True),
    ):
        with pytest.raises(Invalid) as caught:
            verb()
        assert caught.value.code == "no_seals"
    assert not (tmp_path / "x").exists()


# ---- where it is taken in -----------------------------------------------------------------------


def test_a_whole_graph_goes_into_a_new_one_only(full: Graph, tmp_path: Path) -> None:
    text = out(of(full))
    with enfold.open(":memory:") as other:
        told(other, "Something.")
        before = out(of(other))
        with pytest.raises(Refused) as caught:
            taken(text, tmp_path, other)
        assert caught.value.code == "not_empty"
        assert "--db" in str(caught.value)
        assert out(of(other)) == before


def test_a_graph_that_held_something_once_is_no_new_one(full: Graph, tmp_path: Path) -> None:
    with enfold.open(":memory:") as other:
        other.forget(told(other, "Something.").id)
        with pytest.raises(Refused):
            taken(out(of(full)), tmp_path, other)


def test_a_whole_graph_is_taken_alone(full: Graph, tmp_path: Path) -> None:
    full.export_to(tmp_path / "a.jsonl", "enfold")
    (tmp_path / "b.csv").write_text("name\nAda\n")
    for paths in ([tmp_path / "a.jsonl", tmp_path / "b.csv"], [tmp_path]):
        with enfold.open(":memory:") as other:
            with pytest.raises(Invalid) as caught:
                other.import_files(*paths)
            assert caught.value.code == "whole_graph"
            assert is_new(other)


def test_a_whole_graph_comes_through_a_pipe(full: Graph, tmp_path: Path) -> None:
    text, pipe = out(of(full)), tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(text, "utf-8"))
    writer.start()
    with enfold.open(":memory:") as copy:
        copy.import_files(pipe)
        writer.join()
        assert out(of(copy)) == text


def test_a_whole_graph_can_be_scanned(full: Graph, tmp_path: Path) -> None:
    full.export_to(tmp_path / "a.jsonl", "enfold")
    found = enfold.scan(tmp_path / "a.jsonl")
    assert [one.format for one in found.imported] == ["enfold"]
    assert found.report.examined == full.summary().entities


def test_an_empty_graph_comes_back(tmp_path: Path) -> None:
    with enfold.open(":memory:") as empty, enfold.open(":memory:") as copy:
        text = "".join(empty.export("enfold"))
        taken(text, tmp_path, copy)
        assert "".join(copy.export("enfold")) == text
        taken(text, tmp_path, copy)  # it is new still


def test_names_are_not_filed_by_rules_that_are_not_known_here(
    full: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(full.export("enfold"))
    monkeypatch.setattr(passes, "VERSION", "another")
    monkeypatch.setattr(copying, "VERSION", "another")
    with enfold.open(":memory:") as copy:
        taken(text, tmp_path, copy)
        with of(copy).read() as tx:
            assert tx.names.unindexed()
        assert copy.resolve(dry_run=True).full


# ---- files that are not what was written ---------------------------------------------------------


@pytest.fixture(scope="module")
def small() -> str:
    with enfold.open(":memory:") as made:
        fill_small(made)
        return out(of(made))


def fill_small(made: Graph) -> None:
    told(made, "Ada met Bo.", mentions=["Ada", "Bo", "ada!"], facts=[("Ada", "knows", "Bo")])
    told(made, "Deltas", mentions=["Delta Corporations", "Delta Corporation"])
    made.resolve(backup=False)
    made.keep_apart("Bo", "Ada")
    made.revert(made.merge("Bo", "Delta Corporation", actor="me").id)
    with of(made).write() as tx:
        first, third = (tx.entities.get(row) for row in (1, 4))
        assert first
        assert third
        folds.declare_same(tx, third, first, reason=None, actor=None, overrule=True)


def refused(text: str, folder: Path) -> Error:
    """The error of an import, which has written nothing."""
    with enfold.open(":memory:") as other:
        with pytest.raises(Invalid) as caught:
            taken(text, folder, other)
        assert is_new(other)
        with of(other).read() as tx:
            assert len(tx.terms.all()) > 10
    return caught.value


def test_a_file_cut_off_at_any_line_is_refused(small: str, tmp_path: Path) -> None:
    lines = small.splitlines(keepends=True)
    for end in range(1, len(lines)):
        assert refused("".join(lines[:end]), tmp_path).code == "damaged_copy"
    assert refused(small[:-1], tmp_path).code == "damaged_copy"


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_file_altered_anywhere_is_refused(
    data: st.DataObject, small: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("altered")
    at = data.draw(st.integers(10, len(small) - 1))
    letter = data.draw(st.sampled_from('0aZ"]{,\n\\ é'))
    altered = small[:at] + letter + small[at + data.draw(st.integers(0, 3)) :]
    if altered != small:
        assert refused(altered, folder).code in CODES


def test_a_blank_in_the_last_line_is_an_alteration(small: str, tmp_path: Path) -> None:
    assert refused(small[:-2] + " }\n", tmp_path).code == "damaged_copy"


@pytest.mark.parametrize("bad", [float("inf"), float("-inf")])
def test_a_graph_that_no_import_would_take_is_not_written(bad: float, tmp_path: Path) -> None:
    with enfold.open(":memory:") as made:
        fill_small(made)
        with of(made).write() as tx:
            assert tx.edges.fact(1, 2, "admires", 1, confidence=bad)
        with pytest.raises(Invalid, match=r"fact .* confidence can't be"):
            list(made.export("enfold"))
        with pytest.raises(Invalid) as caught:
            made.export_to(tmp_path / "out.jsonl", "enfold")
        assert caught.value.code == "unsound_graph"
        assert list(tmp_path.iterdir()) == []


DOCTYPE: Final = (
    '<?xml version="1.0"?>\n<!DOCTYPE graphml [<!ENTITY a "b">]>\n<graphml>\n</graphml>\n'
)
QUESTIONS: Final = "card,left,right,answer\n1,Ada,ada,same\n"


@pytest.mark.parametrize("name", ["cut.jsonl", "bad.graphml", "questions.csv"])
def test_a_refused_import_leaves_no_new_graph_behind(name: str, small: str, tmp_path: Path) -> None:
    bad = tmp_path / name
    given = {"cut.jsonl": small[:-20], "bad.graphml": DOCTYPE, "questions.csv": QUESTIONS}
    bad.write_text(given[name])
    new = tmp_path / "new.db"
    done = CliRunner().invoke(app, ["import", str(bad), "--db", str(new)])
    assert done.exit_code == 5, done.output
    assert list(tmp_path.iterdir()) == [bad]


def test_a_refused_import_leaves_a_graph_that_was_there(small: str, tmp_path: Path) -> None:
    bad, there = tmp_path / "cut.jsonl", tmp_path / "there.db"
    bad.write_text(small[:-20])
    enfold.open(there).close()
    assert CliRunner().invoke(app, ["import", str(bad), "--db", str(there)]).exit_code == 5
    assert there.exists()


CODES: Final = {"damaged_copy", "unsound_copy", "newer_format", "bad_text"}


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_file_with_lines_moved_doubled_or_lost_is_refused(
    data: st.DataObject, small: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lines = small.splitlines(keepends=True)
    place = st.integers(1, len(lines) - 1)
    one, other = data.draw(place), data.draw(place)
    change = data.draw(st.sampled_from(["swap", "double", "lose"]))
    changed = list(lines)
    if change == "swap":
        changed[one], changed[other] = lines[other], lines[one]
    elif change == "double":
        changed.insert(other, lines[one])
    else:
        del changed[one]
    if changed != lines:
        refused("".join(changed), tmp_path_factory.mktemp("moved"))


def test_nothing_may_stand_behind_the_end(small: str, tmp_path: Path) -> None:
    assert refused(small + "\n", tmp_path).code == "damaged_copy"
    assert refused(small + small, tmp_path).code == "damaged_copy"


def signed(lines: list[str]) -> str:
    """Lines with a last one that fits them, as somebody would write it who means harm."""
    body = "".join(f"{line}\n" for line in lines)
    counts = dict.fromkeys(BY_NAME, 0)
    for line in lines[1:]:
        for table in re.findall(r'^\["(\w+)"', line):
            counts[table] = counts.get(table, 0) + 1
    digest = blake2b(body.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()
    last = {"rows": counts, "blake2b": digest}
    return body + json.dumps(last, separators=(",", ":")) + "\n"


def with_value(text: str, table: str, row: int, column: str, value: object) -> str:
    """The file with another value in the row of that place, signed."""
    lines = text.splitlines()[:-1]
    at = [place for place, line in enumerate(lines) if line.startswith(f'["{table}",')][row]
    values = json.loads(lines[at])
    values[1 + BY_NAME[table].names.index(column)] = value
    lines[at] = json.dumps(values)
    return signed(lines)


def test_a_file_signed_anew_is_taken(small: str, tmp_path: Path) -> None:
    with enfold.open(":memory:") as copy:
        taken(signed(small.splitlines()[:-1]), tmp_path, copy)
        assert out(of(copy)) == small


HOSTILE: Final[list[tuple[str, int, str, object]]] = [
    ("memory", 0, "content", 7),
    ("memory", 0, "content", None),
    ("memory", 0, "content", "half \ud800"),
    ("memory", 0, "kind", "rumour"),
    ("memory", 0, "document_id", 99),
    ("memory", 0, "id", "1"),
    ("memory", 0, "id", True),
    ("memory", 0, "id", 0),
    ("memory", 0, "id", -5),
    ("memory", 0, "id", 2**62),
    ("memory", 0, "id", 10**400),
    ("memory", 0, "repeats", 1.5),
    ("memory", 1, "id", 1),
    ("entity", 0, "spelling", ""),
    ("entity", 0, "spelling", "Another"),
    ("entity", 0, "key", "another"),
    ("entity", 0, "folded_into", 1),
    ("entity", 0, "folded_into", 2),
    ("entity", 0, "canonical_id", 2),
    ("entity", 2, "canonical_id", 77),
    ("entity", 0, "attributes", "[]"),
    ("entity", 0, "attributes", "{"),
    ("entity", 0, "attributes", "[" * 100_000),
    ("entity", 0, "alias_only", 2),
    ("mention", 0, "id", 1_000_000),
    ("mention", 0, "memory_id", 50),
    ("mention", 0, "asserted_id", 50),
    ("fact", 0, "object_id", 50),
    ("fact", 0, "literal", "both"),
    ("fact", 0, "confidence", 1),
    ("fact", 0, "confidence", "much"),
    ("fact", 0, "confidence", float("nan")),
    ("fact", 0, "confidence", float("inf")),
    ("merge", 0, "decided_by", "nobody"),
    ("merge", 0, "overruled", '["x"]'),
    ("merge", 0, "reverted_at", "2020-01-01"),
    ("merge", 0, "moved", 40),
    ("merge_edge", 0, "effect", "lost"),
    ("merge_edge", 0, "merge_id", 40),
    ("decision", 0, "decided_by", "nobody"),
    ("suggestion", 0, "left_id", 900),
    ("suggestion", 0, "right_id", 900),
    ("conflict", 0, "queued_id", 900),
    ("conflict", 0, "queued_id", None),
    ("conflict", 0, "answer", "perhaps"),
    ("conflict", 0, "answer", "keep_both"),
    ("run", 0, "report", "7"),
    ("term", 0, "kind", "verb"),
    ("meta", 0, "value", "{}{"),
    ("meta", 0, "value", '{"common": [1]}'),
    ("meta", 0, "value", '{"common": 7}'),
    ("meta", 0, "value", '{"rules": null}'),
    ("meta", 0, "value", '{"surprise": 1}'),
    ("meta", 0, "name", "words"),
    ("meta", 1, "name", "edges"),
    ("meta", 1, "value", "many"),
    ("meta", 1, "value", ""),
    ("meta", 1, "value", "1"),
    ("meta", 2, "value", "1000"),
    ("last_id", 0, "name", "secrets"),
]


@pytest.mark.parametrize(
    "change", HOSTILE, ids=[f"{t} {n} {c} {ascii(v)[:20]}" for t, n, c, v in HOSTILE]
)
def test_a_signed_file_with_a_value_that_can_not_be_is_refused(
    change: tuple[str, int, str, object], small: str, tmp_path: Path
) -> None:
    assert refused(with_value(small, *change), tmp_path).code in CODES


@pytest.mark.parametrize("table", [name for name in BY_NAME if name != "set_aside"])
def test_a_signed_file_with_a_row_twice_is_refused(table: str, full: Graph, tmp_path: Path) -> None:
    lines = out(of(full)).split("\n")[:-2]
    at = max(place for place, line in enumerate(lines) if line.startswith(f'["{table}",'))
    error = refused(signed([*lines[:at], lines[at], *lines[at:]]), tmp_path)
    assert error.code == "unsound_copy"


def test_folds_in_a_circle_are_refused(small: str, tmp_path: Path) -> None:
    text = with_value(small, "entity", 0, "folded_into", 2)
    text = with_value(text, "entity", 1, "folded_into", 1)
    assert "circle" in str(refused(text, tmp_path))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"enfold": 2}, "newer_format"),
        ({"schema": 9, "tables": {"dream": ["id"]}}, "newer_format"),
        ({"enfold": "1"}, "damaged_copy"),
        ({"enfold": True}, "damaged_copy"),
        ({"enfold": None}, "damaged_copy"),
        ({"sealed": 0}, "damaged_copy"),
        ({"tables": ["memory"]}, "newer_format"),
    ],
)
def test_a_header_of_another_kind_is_refused(
    change: dict[str, object], code: str, small: str, tmp_path: Path
) -> None:
    first, *rest = small.splitlines()[:-1]
    head = json.dumps(json.loads(first) | change, separators=(",", ":"))
    assert refused(signed([head, *rest]), tmp_path).code == code


@pytest.mark.parametrize(
    "line", ["7", "[]", '["secrets",1]', '["memory"]', "[[1]]", "", '["unread",1,0,null,0]']
)
def test_a_line_that_is_no_row_is_refused(line: str, small: str, tmp_path: Path) -> None:
    lines = small.splitlines()[:-1]
    if not line:
        text = "\n".join([*lines[:5], "", *lines[5:]]) + "\n"
    else:
        text = signed([*lines[:5], line, *lines[5:]])
    assert refused(text, tmp_path).code in ("damaged_copy", "unsound_copy")


def test_rows_stand_in_the_order_of_their_tables(small: str, tmp_path: Path) -> None:
    head, *lines = small.splitlines()[:-1]
    assert refused(signed([head, *reversed(lines)]), tmp_path).code == "unsound_copy"


def test_the_error_names_the_line(small: str, tmp_path: Path) -> None:
    error = refused(with_value(small, "memory", 0, "kind", 3), tmp_path)
    at = next(n for n, line in enumerate(small.splitlines(), 1) if line.startswith('["memory"'))
    assert error.details["line"] == at
    assert f"line {at}" in str(error)
    assert "kind" in str(error)


def test_a_line_beyond_all_measure_is_refused(
    small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole, "LONGEST", 3_000)
    text = small.replace("Ada met Bo.", "Ada met Bo." * 300)
    assert "3,000 bytes" in str(refused(text, tmp_path))


def test_another_json_file_is_not_taken_for_a_whole_graph(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"name": "enfold", "entityType": "tool"}\n')
    with opened(path) as source:
        assert not whole.recognises(source.head)
    with enfold.open(":memory:") as graph:
        assert [one.format for one in graph.import_files(path)] == ["mcp"]
        with of(graph).read() as tx:
            assert isinstance(lookup.find(tx, Name.of("enfold")), Found)


# ---- the command --------------------------------------------------------------------------------


def run(*args: str) -> Result:
    return CliRunner().invoke(app, list(args))


@pytest.fixture
def stored(full: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A graph with everything as ./enfold.db."""
    monkeypatch.chdir(tmp_path)
    of(full).backup("enfold.db")
    return tmp_path


def test_the_command_writes_a_whole_graph_and_takes_it_in(stored: Path) -> None:
    assert run("export", "--format", "enfold", "--out", "a.jsonl", "--sealed").exit_code == 0
    done = run("import", "a.jsonl", "--db", "copy.db")
    assert done.exit_code == 0
    assert "a whole graph" in done.stdout
    assert "run" not in done.stdout.splitlines()[0]
    assert "enfold resolve" not in done.stdout
    told = json.loads(run("import", "a.jsonl", "--db", "again.db", "--json").stdout)
    assert (told[0]["format"], told[0]["run_id"]) == ("enfold", None)
    again = run("export", "--format", "enfold", "--sealed", "--db", "copy.db")
    assert again.stdout == (stored / "a.jsonl").read_text("utf-8")
    assert run("check", "--db", "again.db").exit_code == 0


def test_the_command_leaves_out_what_is_sealed_and_says_where_it_can_not(stored: Path) -> None:
    assert "1234" not in run("export", "--format", "enfold").stdout
    refused = run("export", "--sealed")
    assert refused.exit_code == 5
    assert "enfold" in refused.stderr
    assert refused.stdout == ""


def test_the_command_refuses_a_graph_that_holds_something(stored: Path) -> None:
    run("export", "--format", "enfold", "--out", "a.jsonl")
    refused = run("import", "a.jsonl", "--json")
    assert refused.exit_code == 4
    assert json.loads(refused.stderr)["error"]["code"] == "not_empty"


def test_a_whole_graph_goes_from_one_command_into_another(stored: Path) -> None:
    enfold_ = f"{sys.executable} -m enfold"
    line = f"{enfold_} export --format enfold | {enfold_} import - --db copy.db --quiet"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    subprocess.run(line, shell=True, check=True, env=environment)
    whole_of = [run("export", "--format", "enfold", "--db", f"{n}.db") for n in ("enfold", "copy")]
    assert whole_of[0].stdout == whole_of[1].stdout != ""
