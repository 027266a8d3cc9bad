"""What is exported comes back as it was, and is what the graph says now."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enfold import folds, formats, outflow
from enfold.errors import Invalid
from enfold.intake import intake
from enfold.model import DecidedBy, EntityRecord, Record, RelationRecord
from enfold.names import Name
from enfold.store import Store, open_store

EXAMPLES = Path(__file__).parent.parent / "examples"
FORMATS = ["mcp", "csv"]


def taken(*records: Record) -> Store:
    store = open_store(":memory:")
    with store.write() as tx:
        intake(tx, records, source="m.jsonl", format="mcp")
    return store


def written(store: Store, format: str) -> str:
    with store.read() as tx:
        return "".join(formats.lines(format, lambda: outflow.records(tx)))


def read_back(text: str, format: str) -> Store:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "export"
        file.write_bytes(text.encode())
        (reading,) = formats.read(file)
        assert reading.format == format
        store = open_store(":memory:")
        with store.write() as tx:
            made = intake(tx, reading.records, source="export", format=format)
        assert made.set_aside == ()
    return store


def lines(store: Store) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written(store, "mcp").splitlines()]


def entity(name: str, *observations: str, type: str | None = None) -> EntityRecord:
    return EntityRecord(1, name, type, tuple(observations))


def fold(store: Store, absorbed: str, canonical: str) -> None:
    with store.write() as tx:
        one, other = (tx.entities.by_key(Name.of(name).key)[0] for name in (absorbed, canonical))
        folds.fold(
            tx,
            one,
            other,
            decided_by=DecidedBy.HUMAN,
            rule="manual",
            score=1.0,
            reason="One thing.",
        )


def test_an_entity_is_written_as_the_reference_server_writes_it() -> None:
    store = taken(
        entity("Alice", "Likes tea", type="person"), RelationRecord(2, "Alice", "r", "B1")
    )
    assert written(store, "mcp") == (
        '{"type":"entity","name":"Alice","entityType":"person","observations":["Likes tea"]}\n'
        '{"type":"entity","name":"B1","entityType":"","observations":[]}\n'
        '{"type":"relation","from":"Alice","to":"B1","relationType":"r"}\n'
    )


def test_the_table_says_what_each_row_is() -> None:
    store = taken(
        EntityRecord(1, "Alice", "person", ("Likes tea",), ("Al",), "7", {"v": 1}),
        RelationRecord(2, "Alice", "r", "Bo", 0.5, "Al met Bo.", {"since": 2020}),
    )
    rows = list(csv.reader(io.StringIO(written(store, "csv"), newline="")))
    assert rows == [
        ["record", "name", "type", "text", "relation", "target", "confidence", "beside"],
        ["entity", "Alice", "person", "", "", "", "", '{"id":"7","v":1}'],
        ["alias", "Alice", "", "Al", "", "", "", '{"id":"7"}'],
        ["observation", "Alice", "", "Likes tea", "", "", "", '{"id":"7"}'],
        ["entity", "Bo", "", "", "", "", "", ""],
        ["relation", "Alice", "", "Al met Bo.", "r", "Bo", "0.5", '{"fromId":"7","since":2020}'],
    ]


def test_a_fold_is_written_as_one_entity_with_an_alias() -> None:
    store = taken(
        entity("Node", "Runs", "Is fast", type="tool"),
        entity("Node.js", "Is fast", "Is free", type="tool"),
        RelationRecord(1, "Node", "part of", "Node.js"),
        RelationRecord(2, "Node", "uses", "V8 Engine"),
        RelationRecord(3, "Node.js", "uses", "V8 Engine"),
        RelationRecord(4, "V8 Engine", "used by", "Node"),
    )
    fold(store, "Node", "Node.js")
    assert [line for line in lines(store) if line["type"] == "entity"] == [
        {
            "type": "entity",
            "name": "Node.js",
            "entityType": "tool",
            "observations": ["Runs", "Is fast", "Is free"],
            "aliases": ["Node"],
        },
        {"type": "entity", "name": "V8 Engine", "entityType": "", "observations": []},
    ]
    assert [line for line in lines(store) if line["type"] == "relation"] == [
        {"type": "relation", "from": "Node.js", "to": "V8 Engine", "relationType": "uses"},
        {"type": "relation", "from": "V8 Engine", "to": "Node.js", "relationType": "used by"},
    ]


def test_a_revert_is_written_as_two_that_are_apart() -> None:
    store = taken(entity("Node", "Runs"), entity("Node.js", "Is fast"))
    before = lines(store)
    fold(store, "Node", "Node.js")
    with store.write() as tx:
        folds.revert(tx, tx.merges.recent()[0].id)
    *same, apart = lines(store)
    assert same == before
    assert apart == {
        "type": "identity",
        "left": "Node",
        "right": "Node.js",
        "same": False,
        "why": "The fold of “Node” into “Node.js” was reverted.",
    }


def test_a_rename_is_written_under_the_new_name() -> None:
    store = taken(entity("Origin", "Is a tool"), RelationRecord(1, "Eve Stone", "made", "Origin"))
    with store.write() as tx:
        folds.rename(tx, tx.entities.by_key("origin")[0], Name.of("Wenlan"))
    first, _, made = lines(store)
    assert (first["name"], first["aliases"]) == ("Wenlan", ["Origin"])
    assert (made["from"], made["to"], made.get("text")) == ("Eve Stone", "Wenlan", None)


def test_attributes_of_folded_spellings_are_a_union() -> None:
    store = taken(
        EntityRecord(1, "Node", attributes={"v": 1, "by": "eve"}),
        EntityRecord(1, "Node.js", attributes={"v": 2}),
    )
    fold(store, "Node", "Node.js")
    (line,) = lines(store)
    assert (line["v"], line["by"]) == (2, "eve")


def test_attributes_of_relations_that_a_fold_made_one_are_a_union() -> None:
    store = taken(
        RelationRecord(1, "Node", "uses", "V8 Engine", attributes={"v": 1, "by": "eve"}),
        RelationRecord(2, "Node.js", "uses", "V8 Engine", attributes={"v": 2, "w": 3}),
    )
    fold(store, "Node", "Node.js")
    (relation,) = [line for line in lines(store) if line["type"] == "relation"]
    assert {key: relation[key] for key in "v by w".split()} == {"v": 1, "by": "eve", "w": 3}


def test_a_description_beside_a_relation_is_not_read_back_as_its_text() -> None:
    relation = RelationRecord(1, "A1", "r", "B1", attributes={"description": "d"})
    text = written(taken(relation), "mcp")
    assert written(read_back(text, "mcp"), "mcp") == text
    assert json.loads(text.splitlines()[-1])["text"] == ""


def test_line_ends_of_other_readers_do_not_cut_a_line() -> None:
    store = taken(entity("Alice", "one\u2028two\u0085three\u2029four\r\nfive"))
    text = written(store, "mcp")
    assert len(text.splitlines()) == 1
    assert json.loads(text)["observations"] == ["one\u2028two\u0085three\u2029four\r\nfive"]


@pytest.mark.parametrize("format", FORMATS)
def test_an_empty_graph_goes_out_and_comes_back(format: str) -> None:
    text = written(open_store(":memory:"), format)
    assert text.count("\n") == 1
    assert written(read_back(text, format), format) == text


def test_another_format_is_refused_with_those_there_are() -> None:
    with pytest.raises(Invalid, match="mcp"):
        formats.lines("xml", lambda: [])


def test_progress_is_told_to_the_end() -> None:
    store = taken(*(entity(f"Thing {n}") for n in range(700)))
    told: list[tuple[str, int, int]] = []
    with store.read() as tx:
        list(outflow.records(tx, progress=lambda *step: told.append(step)))
    assert told[-1] == ("export", 1_400, 1_400)


def content(store: Store) -> tuple[object, ...]:
    """What a reader can see, whatever the order: names, types, aliases, observations, relations."""
    found: dict[str, Any] = {}
    related: Counter[str] = Counter()
    for line in lines(store):
        if line["type"] == "entity":
            line["observations"], line["aliases"] = (
                sorted(line["observations"]),
                sorted(line.get("aliases", [])),
            )
            found[line["name"]] = line
        else:
            related[json.dumps(line, sort_keys=True)] += 1
    return found, related


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("folder", ["attraccess", "dmetrics", "memory_graph_rust"])
def test_a_real_file_goes_out_and_comes_back(folder: str, format: str) -> None:
    (reading,) = formats.read(EXAMPLES / folder / "memory.jsonl")
    store = taken(*reading.records)
    text = written(store, format)
    back = read_back(text, format)
    assert content(back) == content(store)
    assert written(back, format) == text


@pytest.mark.parametrize("format", FORMATS)
def test_a_settled_real_file_goes_out_and_comes_back(format: str) -> None:
    (reading,) = formats.read(EXAMPLES / "attraccess" / "memory.jsonl")
    store = taken(*reading.records)
    fold(store, "MqttConfigurationPanel", "MQTT Configuration Panel")
    fold(store, "Reset Button", "MQTT Panel")
    text = written(store, format)
    back = read_back(text, format)
    assert content(back) == content(store)
    assert written(back, format) == text


@pytest.mark.parametrize("format", FORMATS)
def test_what_a_file_said_is_what_its_export_says(format: str) -> None:
    path = EXAMPLES / "dmetrics" / "memory.jsonl"
    said: dict[str, set[str]] = {}
    for written_line in path.read_text().splitlines():
        if written_line and (record := json.loads(written_line))["type"] == "entity":
            said.setdefault(Name.of(record["name"]).key, set()).update(record["observations"])
    (reading,) = formats.read(path)
    out = read_back(written(taken(*reading.records), format), format)
    for line in lines(out):
        if line["type"] == "entity":
            expected = said.get(Name.of(line["name"]).key, set())
            assert set(line["observations"]) == expected


@pytest.mark.parametrize("format", FORMATS)
def test_the_relations_of_a_real_file_come_back_with_every_key(format: str) -> None:
    path = EXAMPLES / "dmetrics" / "memory.jsonl"
    (reading,) = formats.read(path)
    store = taken(*reading.records)
    said = [json.loads(line) for line in path.read_text().splitlines()]
    expected = [record for record in said if record["type"] == "relation"]
    back = [line for line in lines(read_back(written(store, format), format)) if "from" in line]
    assert all({"createdAt", "version"} <= record.keys() for record in expected)
    assert sorted(map(_by_keys, back)) == sorted(set(map(_by_keys, expected)))


def _by_keys(relation: dict[str, Any]) -> str:
    """The relation, its ends by the identity of their names: the first writer's spelling stands."""
    ends = {end: Name.of(relation[end]).key for end in ("from", "to")}
    return json.dumps(relation | ends, sort_keys=True)


any_text = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
ODD = """=1+1 '=x @Al say"hi" a|b x;y ﬁ C++ [] {} İ ß null 1 - 🚀 東京 ["a"]""".split()
odd = st.sampled_from([*ODD, "a\nb", "a  b", "Zoe\u0308", "\u200bz", "\u2028u", "\ufeffq", "x,y"])
texts = (any_text | odd).filter(lambda text: bool(text.strip()))


def _is_name(text: str) -> bool:
    try:
        return bool(Name.of(text))
    except Invalid:
        return False


names = texts.filter(_is_name)
attributes = st.dictionaries(
    texts.map(lambda key: "x" + key), st.integers() | st.booleans() | texts, max_size=2
)
entity_records = st.builds(
    EntityRecord,
    line=st.just(1),
    name=names,
    type=st.none() | texts,
    observations=st.lists(texts, max_size=3).map(tuple),
    aliases=st.lists(names, max_size=2).map(tuple),
    foreign_id=st.none() | texts,
    attributes=attributes,
)
relation_records = st.builds(
    RelationRecord,
    line=st.just(1),
    subject=names,
    predicate=texts,
    object=names,
    confidence=st.sampled_from([1.0, 0.5, 0.0, 0.1]),
    text=st.none() | texts,
    attributes=attributes,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(entity_records | relation_records, max_size=6), st.sampled_from(FORMATS))
def test_any_graph_goes_out_and_comes_back(records: list[Record], format: str) -> None:
    store = taken(*records)
    text = written(store, format)
    if not any(isinstance(record, (EntityRecord, RelationRecord)) for record in records):
        return
    back = read_back(text, format)
    assert content(back) == content(store)
    assert written(back, format) == text
