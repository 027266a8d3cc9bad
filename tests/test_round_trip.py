"""Every real graph comes in, goes out in each format, and comes in again with nothing changed."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import enfold
from enfold import formats, outfile, outflow
from enfold.errors import Invalid, Refused
from enfold.graph import Graph
from enfold.model import EntityRecord, IdentityRecord, Record, RelationRecord, Written
from tests.told import told

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
GRAPHS = {
    "attraccess": EXAMPLES / "attraccess" / "memory.jsonl",
    "dmetrics": EXAMPLES / "dmetrics" / "memory.jsonl",
    "memory_graph_rust": EXAMPLES / "memory_graph_rust" / "memory.jsonl",
    "christmas_carol_names": HERE / "data" / "christmas_carol_names.csv",
    "graphrag": HERE / "data" / "graphrag",
    "vault": HERE / "data" / "vault",
    "lightrag": HERE / "data" / "lightrag.graphml",
    "networkx": HERE / "data" / "networkx.graphml",
    "yed": HERE / "data" / "yed.graphml",
    "rdflib": HERE / "data" / "rdflib.jsonld",
}
WHOLE = list(formats.WRITTEN)


@pytest.fixture(scope="module", params=GRAPHS)
def graph(request: pytest.FixtureRequest) -> Iterator[Graph]:
    """A real graph, settled: folds, questions answered, names apart, one renamed."""
    with enfold.open(":memory:") as made:
        made.import_files(GRAPHS[request.param], trust_ids=True)
        made.resolve()
        for place, question in enumerate(made.conflicts(limit=6)):
            if not made.conflicts(limit=1):
                break
            answer = ("keep_existing", "keep_both", "keep_new")[place % 3]
            if question.id in {one.id for one in made.conflicts()}:
                made.decide(question.id, answer)
        first, *_, last = made.entities(limit=5)
        made.rename(last.id, f"{last.name} (renamed)")
        made.keep_apart(first.id, last.id)
        yield made


def out(graph: Graph) -> list[Written]:
    with graph._store.read() as tx:
        return list(outflow.records(tx))


@pytest.mark.parametrize("format", WHOLE)
def test_a_real_graph_goes_out_and_comes_back(graph: Graph, format: str, tmp_path: Path) -> None:
    before = out(graph)
    kinds = {type(record) for record in before}
    assert {EntityRecord, IdentityRecord} <= kinds <= {EntityRecord, RelationRecord, IdentityRecord}
    place = tmp_path / "out"
    graph.export_to(place, format)
    assert formats.recognise(place) == format
    with enfold.open(":memory:") as again:
        (made,) = again.import_files(place, trust_ids=True)
        assert made.set_aside == ()
        assert out(again) == before
        assert again.check().clean
        (once_more,) = again.import_files(place, trust_ids=True)
        assert (once_more.entities, once_more.memories, once_more.facts) == (0, 0, 0)
        assert out(again) == before


@pytest.mark.parametrize("format", WHOLE)
def test_an_empty_graph_goes_out_and_comes_back(format: str, tmp_path: Path) -> None:
    with enfold.open(":memory:") as graph:
        graph.export_to(tmp_path / "out", format)
        assert [made.format for made in graph.import_files(tmp_path / "out")] == [format]
        assert out(graph) == []


def test_the_command_lists_the_formats_that_are_written() -> None:
    from typer.main import get_command

    from enfold.cli.commands import app

    export = get_command(app).commands["export"]  # type: ignore[attr-defined]
    (option,) = [one for one in export.params if one.name == "format"]
    assert option.help == f"{', '.join(WHOLE)} or {formats.ENFOLD} (all of it)."


# ---- where it is written ----


@pytest.fixture
def small() -> Iterator[Graph]:
    with enfold.open(":memory:") as made:
        told(made, "Ada met Bo.", mentions=["Ada", "Bo"])
        yield made


FILES = [name for name in WHOLE if formats.to_write(name).write_folder is None]
FOLDERS = [name for name in WHOLE if name not in FILES]
STREAMS = [name for name in WHOLE if formats.to_write(name).lines is not None]


@pytest.mark.parametrize("format", FILES)
def test_a_file_is_written_over_by_force_alone(small: Graph, format: str, tmp_path: Path) -> None:
    place = tmp_path / "out"
    place.write_text("precious")
    with pytest.raises(Refused) as caught:
        small.export_to(place, format)
    assert caught.value.code == "target_exists"
    assert place.read_text() == "precious"
    small.export_to(place, format, force=True)
    assert formats.recognise(place) == format
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("format", FOLDERS)
def test_a_folder_is_written_over_by_force_alone(small: Graph, format: str, tmp_path: Path) -> None:
    place = tmp_path / "out"
    done = small.export_to(place, format)
    assert sorted(done.files) == sorted(p.name for p in place.iterdir())
    with pytest.raises(Refused) as caught:
        small.export_to(place, format)
    assert caught.value.code == "target_exists"
    assert small.export_to(place, format, force=True).kept is None
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("format", FOLDERS)
def test_a_folder_that_holds_more_is_kept_beside(small: Graph, format: str, tmp_path: Path) -> None:
    place = tmp_path / "out"
    place.mkdir()
    (place / "precious.txt").write_text("precious")
    kept = small.export_to(place, format, force=True).kept
    assert kept is not None
    assert (Path(kept) / "precious.txt").read_text() == "precious"
    assert formats.recognise(place) == format


@pytest.mark.parametrize("format", FOLDERS)
def test_a_format_of_several_files_is_no_stream(small: Graph, format: str) -> None:
    with pytest.raises(Invalid, match="--out") as caught:
        small.export(format)
    assert caught.value.code == "needs_file"


@pytest.mark.parametrize("format", STREAMS)
def test_a_stream_is_what_the_file_is(small: Graph, format: str, tmp_path: Path) -> None:
    done = small.export_to(tmp_path / "out", format)
    text = "".join(small.export(format))
    assert (tmp_path / "out").read_bytes().decode() == text
    assert done.lines == text.count("\n")


def test_a_pipe_that_nobody_reads_is_not_waited_for_for_ever(
    small: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outfile, "PATIENCE", 0.1)
    os.mkfifo(pipe := tmp_path / "pipe")
    with pytest.raises(Refused) as caught:
        small.export_to(pipe, force=True)
    assert caught.value.code == "no_reader"


def test_a_pipe_is_written_to_once_somebody_reads(small: Graph, tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    read: list[str] = []

    def later() -> None:
        time.sleep(0.2)
        read.append(pipe.read_text())

    thread = threading.Thread(target=later)
    thread.start()
    small.export_to(pipe, force=True)
    thread.join(timeout=10)
    assert read == ["".join(small.export())]


def test_a_read_only_format_is_not_written(small: Graph) -> None:
    with pytest.raises(Invalid, match="is read, not written"):
        small.export("mem0")


# ---- folders of files, and what streams ----


def test_a_folder_of_files_is_read_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("source,target\nAda,Bo\n")
    (tmp_path / "c.jsonl").write_text('{"name":"Ada","entityType":"person","observations":[]}\n')
    (tmp_path / "LICENSE").write_text("Do as you like.\n")
    (tmp_path / ".hidden.csv").write_text("name\nnobody\n")
    assert formats.recognise(tmp_path) == formats.FOLDER
    with enfold.open(":memory:") as graph:
        made = graph.import_files(tmp_path)
        assert [(one.format, one.source) for one in made] == [("mcp", "c.jsonl"), ("csv", "b.csv")]
        notes = [note for one in made for note in one.notes]
        assert [(note.source, note.line) for note in notes] == [("LICENSE", 0)]
        assert "left out" in notes[0].reason
        assert {entity.name for entity in graph.entities()} == {"Ada", "Bo"}


def test_a_folder_with_a_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name\nAda\n")
    (tmp_path / "b.csv").symlink_to(tmp_path / "b.csv")
    (tmp_path / "c.csv").write_text("name\nBo\n")
    readings = formats.read(tmp_path)  # what is no file is no file of the folder
    assert [reading.source for reading in readings] == ["a.csv", "c.csv"]


def test_a_file_that_must_be_jumped_about_in_may_stream(tmp_path: Path) -> None:
    (table,) = (HERE / "data" / "graphrag").glob("entities*.parquet")
    os.mkfifo(pipe := tmp_path / "pipe")
    thread = threading.Thread(target=pipe.write_bytes, args=[table.read_bytes()])
    thread.start()
    (streamed,) = formats.read(pipe)
    thread_done = list(streamed.records)
    thread.join(timeout=10)
    (read,) = formats.read(table)
    assert thread_done == list(read.records)


# ---- any record, in enfold's own two forms ----

any_text = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
spoken = any_text.filter(lambda text: bool(text.strip()))
words = spoken.map(lambda text: " ".join(text.split())).filter(bool)
keys = st.sampled_from(
    "id name type from to fromId toId text confidence aliases observations left right same why "
    "entityType relationType record target beside enfold_beside description source "
    "entity_id".split()
) | any_text.map(lambda key: f"x{key}")
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(0, 1) | any_text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(any_text, inner, max_size=2),
    max_leaves=4,
)
said_beside = st.dictionaries(keys, values, max_size=4)
own_ids = st.none() | spoken
entity_records = st.builds(
    EntityRecord,
    st.just(0),
    spoken,
    st.none() | words,
    st.lists(spoken, max_size=3).map(tuple),
    st.lists(spoken, max_size=3).map(tuple),
    own_ids,
    said_beside,
)
relation_records = st.builds(
    RelationRecord,
    st.just(0),
    spoken,
    words,
    spoken,
    st.floats(0, 1),
    st.none() | spoken,
    said_beside,
    own_ids,
    own_ids,
)
identity_records = st.builds(
    IdentityRecord,
    st.just(0),
    spoken,
    spoken,
    st.booleans(),
    own_ids,
    own_ids,
    st.none() | spoken,
)


def _unnumbered(record: Record) -> Record:
    return replace(record, line=0)


@pytest.mark.parametrize("format", ["mcp", "csv"])
@settings(max_examples=200, deadline=None)
@given(
    st.lists(entity_records, min_size=1, max_size=3),
    st.lists(relation_records, max_size=2),
    st.lists(identity_records, max_size=2),
)
def test_every_record_is_read_as_it_was_written(
    format: str,
    entities: list[EntityRecord],
    relations: list[RelationRecord],
    identities: list[IdentityRecord],
) -> None:
    pieces: list[Written] = [*entities, *relations, *identities]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out"
        path.write_bytes("".join(formats.lines(format, lambda: pieces)).encode())
        (reading,) = formats.read(path)
        assert reading.format == format
        assert [_unnumbered(record) for record in reading.records] == pieces
