"""A Neo4j graph comes in as its importer's CSV or as JSON, and goes out again."""

from __future__ import annotations

import csv
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enfold.errors import Invalid
from enfold.formats import graphrag, neo4j
from enfold.formats.source import LINE_LIMIT, opened
from enfold.model import EntityRecord, IdentityRecord, Record, RelationRecord
from tests.records import again, aside, bare, graphs, kept, notes

DATA = Path(__file__).parent / "data" / "graphrag"


def read(folder: Path, text: str | bytes, name: str = "dump") -> list[Record]:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with opened(path) as source:
        assert neo4j.recognises(source.head, path)
        return list(neo4j.read(source))


def folder(path: Path, **files: str) -> list[Record]:
    """The records of a folder of CSV files."""
    for name, text in files.items():
        (path / f"{name}.csv").write_text(text, encoding="utf-8")
    assert neo4j.recognises_folder(path)
    return list(neo4j.read_path(path))


def round_trip(records: list[Record]) -> list[Record]:
    with tempfile.TemporaryDirectory() as made:
        neo4j.write_folder(again(records), Path(made))
        assert neo4j.recognises_folder(Path(made))
        return bare(neo4j.read_path(Path(made)))


# ---- the importer's CSV ----


def test_a_folder_of_the_importer_is_one_graph(tmp_path: Path) -> None:
    records = folder(
        tmp_path,
        movies="movieId:ID,title,year:int,:LABEL\ntt1,The Matrix,1999,Movie;Film\n",
        actors="personId:ID,name,tall:boolean,nicks:string[],:LABEL\nk,Keanu,true,K;Neo,Person\n",
        roles=":START_ID,role,:END_ID,:TYPE\nk,Neo,tt1,ACTED_IN\n",
    )
    assert bare(records) == [
        EntityRecord(
            0,
            "Keanu",
            "Person",
            foreign_id="k",
            attributes={"personId": "k", "tall": True, "nicks": ["K", "Neo"]},
        ),
        EntityRecord(
            0,
            "The Matrix",
            "Movie",
            foreign_id="tt1",
            attributes={
                "movieId": "tt1",
                "year": 1999,
                "neo4j": {"name": "title", "labels": ["Movie", "Film"]},
            },
        ),
        RelationRecord(
            0,
            "Keanu",
            "ACTED_IN",
            "The Matrix",
            attributes={"role": "Neo"},
            subject_id="k",
            object_id="tt1",
        ),
    ]


def test_ids_of_two_spaces_do_not_meet(tmp_path: Path) -> None:
    records = folder(
        tmp_path,
        people=":ID(Person),name\n1,Ada\n",
        places=":ID(Place),name\n1,Rome\n",
        lived=":START_ID(Person),:END_ID(Place),:TYPE\n1,1,LIVED_IN\n",
    )
    entities = kept(records, EntityRecord)
    assert [(e.name, e.type, e.foreign_id) for e in entities] == [
        ("Ada", "Person", "Person:1"),
        ("Rome", "Place", "Place:1"),
    ]
    (relation,) = kept(records, RelationRecord)
    assert (relation.subject, relation.object) == ("Ada", "Rome")
    assert (relation.subject_id, relation.object_id) == ("Person:1", "Place:1")


def test_the_ids_of_one_space_stay_as_they_are(tmp_path: Path) -> None:
    records = folder(tmp_path, people=":ID(Person),name,:LABEL\n7,Ada,\n")
    assert bare(records) == [EntityRecord(0, "Ada", None, foreign_id="7")]


def test_a_header_may_stand_in_a_file_apart(tmp_path: Path) -> None:
    records = folder(
        tmp_path,
        people_header=":ID,name,age:int\n",
        people1="1,Ada,36\n",
        people2='2,"Bob\nJr",x\n3,Cy\n',
        knows_header=":START_ID,:END_ID,:TYPE\n",
        knows="1,2,KNOWS\n",
        other="a,b\n",
    )
    assert [(e.line, e.name) for e in kept(records, EntityRecord)] == [(2, "Ada"), (2, "Bob\nJr")]
    assert [r.predicate for r in kept(records, RelationRecord)] == ["KNOWS"]
    assert [(piece.source, piece.line) for piece in aside(records)] == [("people2.csv", 3)]
    assert [note.source for note in notes(records)] == ["people2.csv", "other.csv"]


def test_a_table_of_relationships_alone_names_its_ends_by_id(tmp_path: Path) -> None:
    text = ":START_ID;:END_ID;:TYPE;since:int\na;b;KNOWS;1999\n;b;KNOWS;1\n"
    assert neo4j.relations_alone(text.encode())
    records = read(tmp_path, text)
    assert kept(records, RelationRecord) == [
        RelationRecord(2, "a", "KNOWS", "b", 1.0, None, {"since": 1999}, "a", "b")
    ]
    assert [piece.line for piece in aside(records)] == [3]


def test_a_value_that_is_not_of_its_type_stays_text(tmp_path: Path) -> None:
    text = (
        ":ID,name,a:int,b:float[],c:boolean,d:date,:IGNORE\n1,Ada,one,1.5;nan,maybe,2020-01-01,x\n"
    )
    records = read(tmp_path, text)
    (entity,) = kept(records, EntityRecord)
    assert entity.attributes == {"a": "one", "b": "1.5;nan", "c": "maybe", "d": "2020-01-01"}
    assert len(notes(records)) == 3


@pytest.mark.parametrize(
    "head", ["name,type\n", "id,name:first,x\n", ":LABEL,name\n", ":START_ID,x\n", "", "{}"]
)
def test_other_tables_are_left_to_others(head: str) -> None:
    assert not neo4j.recognises(head.encode())


def test_a_thing_without_a_name_and_its_links_are_set_aside(tmp_path: Path) -> None:
    records = folder(
        tmp_path,
        things=":ID,name\n1,Ada\n2,\n3, \n1,Again\n,None\n",
        links=":START_ID,:END_ID,:TYPE\n1,2,KNOWS\n1,9,KNOWS\n",
    )
    assert [entity.name for entity in kept(records, EntityRecord)] == ["Ada"]
    assert [(r.subject, r.object) for r in kept(records, RelationRecord)] == [("Ada", "9")]
    assert [piece.line for piece in aside(records)] == [3, 4, 5, 6, 2]


def test_the_csv_of_apoc_is_read(tmp_path: Path) -> None:
    text = (
        '"_id","_labels","name","age","_start","_end","_type","since"\n'
        '"0",":Person:User","Ada","36",,,,\n"1",":Person","Bob","",,,,\n'
        ',,,,"0","1","KNOWS","1993"\n'
    )
    records = bare(read(tmp_path, text))
    assert [r.name for r in kept(records, EntityRecord)] == ["Ada", "Bob"]
    assert kept(records, RelationRecord) == [
        RelationRecord(0, "Ada", "KNOWS", "Bob", 1.0, None, {"since": "1993"}, "0", "1")
    ]


# ---- JSON ----

ADA = {"type": "node", "id": "0", "labels": ["Person"], "properties": {"name": "Ada", "age": 36}}
BOB = {"type": "node", "id": "1", "labels": ["Person"], "properties": {"name": "Bob"}}
KNOWS = {
    "id": "0",
    "type": "relationship",
    "label": "KNOWS",
    "properties": {"since": 1993},
    "start": {"id": "0", "labels": ["Person"]},
    "end": {"id": "1", "labels": ["Person"]},
}
READ = [
    EntityRecord(0, "Ada", "Person", foreign_id="0", attributes={"age": 36}),
    EntityRecord(0, "Bob", "Person", foreign_id="1"),
    RelationRecord(0, "Ada", "KNOWS", "Bob", 1.0, None, {"since": 1993}, "0", "1"),
]


def as_stored(data: dict[str, Any], shown: str) -> dict[str, Any]:
    """A piece as the browser has it."""
    if "start" in data:
        ends = {"startNodeElementId": "4:x:0", "endNodeElementId": "4:x:1"}
        said = {"identity": 0, "start": 0, "end": 1, "type": data["label"], "elementId": shown}
        return said | ends | {"properties": data["properties"]}
    identity = {"low": int(data["id"]), "high": 0}
    return {
        "identity": identity,
        "elementId": shown,
        "labels": data["labels"],
        "properties": data["properties"],
    }


STORED = [as_stored(ADA, "4:x:0"), as_stored(BOB, "4:x:1"), as_stored(KNOWS, "5:x:0")]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(map(json.dumps, [ADA, BOB, KNOWS])),
        "\n".join(map(json.dumps, [KNOWS, ADA, BOB])),
        json.dumps([ADA, BOB, KNOWS], indent=1),
        json.dumps({"nodes": [ADA, BOB], "rels": [KNOWS]}),
        json.dumps({"relationships": [KNOWS], "nodes": [ADA, BOB]}, indent=2),
        json.dumps({"nodes": {"0": ADA, "1": BOB}, "rels": {"0": KNOWS}}),
        json.dumps([{"n": STORED[0], "r": STORED[2], "m": STORED[1]}] * 2),
        json.dumps(
            [
                {
                    "p": {
                        "start": STORED[0],
                        "end": STORED[1],
                        "length": 1.0,
                        "segments": [
                            {"start": STORED[0], "relationship": STORED[2], "end": STORED[1]}
                        ],
                    }
                }
            ]
        ),
        json.dumps([{"keys": ["n", "m"], "length": 2, "_fields": STORED}]),
        json.dumps(
            {
                "results": [
                    {
                        "columns": ["n"],
                        "data": [
                            {
                                "graph": {
                                    "nodes": [ADA, BOB],
                                    "relationships": [
                                        {
                                            "id": "0",
                                            "type": "KNOWS",
                                            "startNode": "0",
                                            "endNode": "1",
                                            "properties": {"since": 1993},
                                        }
                                    ],
                                }
                            }
                        ],
                    }
                ]
            }
        ),
    ],
    ids="lines late array document listed keys rows path fields http".split(),
)
def test_every_form_of_json_gives_the_same_graph(tmp_path: Path, text: str) -> None:
    records = bare(read(tmp_path, text))
    found = [r for r in records if isinstance(r, (EntityRecord, RelationRecord))]
    assert found[:2] == READ[:2]
    assert all(relation == READ[2] for relation in found[2:])
    assert len(found) >= 3
    assert aside(records) == []


def test_the_memory_file_is_not_taken_for_a_dump() -> None:
    line = '{"type":"node","name":"A","observations":["\\"labels\\": [ \\"properties\\": {"]}'
    assert not neo4j.recognises(line.encode())


GRAPHITI: list[dict[str, Any]] = [
    {
        "type": "node",
        "id": "1",
        "labels": ["Entity", "Person"],
        "properties": {
            "uuid": "u-1",
            "name": "Ada Lovelace",
            "summary": "Wrote the first program.",
            "group_id": "g",
            "created_at": "2026-01-01T00:00:00Z",
            "name_embedding": [0.1] * 64,
        },
    },
    {
        "type": "node",
        "id": "2",
        "labels": ["Entity"],
        "properties": {"uuid": "u-2", "name": "Engine", "summary": "", "group_id": "g"},
    },
    {
        "type": "node",
        "id": "3",
        "labels": ["Episodic"],
        "properties": {
            "uuid": "u-3",
            "name": "chat 1",
            "content": "Ada Lovelace wrote for the Engine.",
            "source": "message",
            "group_id": "g",
        },
    },
    {
        "type": "node",
        "id": "4",
        "labels": ["Community"],
        "properties": {"uuid": "u-4", "name": "Computing", "summary": "s", "group_id": "g"},
    },
    {
        "type": "relationship",
        "id": "5",
        "label": "RELATES_TO",
        "start": {"id": "1"},
        "end": {"id": "2"},
        "properties": {
            "uuid": "u-5",
            "name": "WROTE_FOR",
            "fact": "Ada Lovelace wrote for the Engine.",
            "fact_embedding": [0.1] * 64,
            "episodes": ["u-3"],
            "valid_at": "1843-01-01T00:00:00Z",
        },
    },
    {
        "type": "relationship",
        "id": "6",
        "label": "MENTIONS",
        "start": {"id": "3"},
        "end": {"id": "1"},
        "properties": {"uuid": "u-6"},
    },
    {
        "type": "relationship",
        "id": "7",
        "label": "MENTIONS",
        "start": {"id": "3"},
        "end": {"id": "2"},
        "properties": {"uuid": "u-7"},
    },
    {
        "type": "relationship",
        "id": "8",
        "label": "HAS_MEMBER",
        "start": {"id": "4"},
        "end": {"id": "1"},
        "properties": {"uuid": "u-8"},
    },
]


def graphiti(path: Path) -> list[Record]:
    return read(path, "\n".join(map(json.dumps, GRAPHITI)))


def test_the_graph_of_graphiti_is_read_as_what_it_means(tmp_path: Path) -> None:
    records = graphiti(tmp_path)
    ada, engine, told = kept(records, EntityRecord)
    assert (ada.name, ada.type, ada.foreign_id) == ("Ada Lovelace", "Person", "u-1")
    assert ada.observations == ("Wrote the first program.",)
    assert ada.attributes["neo4j"] == {
        "labels": ["Entity", "Person"],
        "text": "summary",
        "id": "uuid",
    }
    assert "name_embedding" not in ada.attributes
    assert (engine.type, engine.observations) == (None, ())
    assert (told.name, told.foreign_id) == ("Ada Lovelace", "u-1")
    assert told.observations == ("Ada Lovelace wrote for the Engine.",)
    assert told.attributes["text_unit:u-3"]["labels"] == ["Episodic"]
    (fact,) = kept(records, RelationRecord)
    assert (fact.subject, fact.predicate, fact.object) == ("Ada Lovelace", "WROTE_FOR", "Engine")
    assert fact.text == "Ada Lovelace wrote for the Engine."
    assert (fact.subject_id, fact.object_id) == ("u-1", "u-2")
    assert fact.attributes["episodes"] == ["u-3"]
    assert fact.attributes["neo4j"] == {"type": "RELATES_TO", "text": "fact"}
    assert [piece.line for piece in aside(records)] == [4, 8]
    said = " ".join(note.reason for note in notes(records))
    assert "name_embedding" in said
    assert "1 links of texts" in said


def test_what_graphiti_stored_goes_back_to_its_own_properties(tmp_path: Path) -> None:
    found = bare(graphiti(tmp_path))
    records: list[Record] = [*kept(found, EntityRecord), *kept(found, RelationRecord)]
    out = tmp_path / "out"
    out.mkdir()
    neo4j.write_folder(again(records), out)
    assert bare(neo4j.read_path(out)) == records
    with (out / "nodes.csv").open(newline="", encoding="utf-8") as file:
        ada = next(csv.DictReader(file))
    assert (ada[":ID"], ada["uuid"], ada[":LABEL"]) == ("u-1", "u-1", "Entity;Person")
    assert (ada["name"], ada["summary"]) == ("Ada Lovelace", "Wrote the first program.")
    assert ada["enfold_more"] == ada["description"] == ""
    with (out / "relationships.csv").open(newline="", encoding="utf-8") as file:
        fact = next(csv.DictReader(file))
    assert (fact[":TYPE"], fact["name"]) == ("RELATES_TO", "WROTE_FOR")
    assert fact["fact"] == "Ada Lovelace wrote for the Engine."
    assert fact["episodes:string[]"] == "u-3"
    assert fact["enfold_more"] == ""


@pytest.mark.parametrize(
    ("labels", "properties", "expected"),
    [
        (["__Entity__", "__KGBuilder__", "Person"], {"name": "A"}, ("A", "Person", "0")),
        (["Organization", "__Entity__"], {"id": "Acme"}, ("Acme", "Organization", "0")),
        (["__Entity__"], {"name": "A", "id": "e1"}, ("A", None, "e1")),
        (["Movie"], {"title": "M", "id": 7}, ("M", "Movie", "7")),
        ([], {"name": "A"}, ("A", None, "0")),
        (["Document"], {"title": "Report"}, ("Report", "Document", "0")),
        (["T"], {"name": 42}, ("42", "T", "0")),
    ],
)
def test_labels_and_properties_of_other_tools_are_understood(
    tmp_path: Path, labels: list[str], properties: dict[str, Any], expected: tuple[str, Any, str]
) -> None:
    data = {"type": "node", "id": "0", "labels": labels, "properties": properties}
    (record,) = read(tmp_path, json.dumps(data))
    assert isinstance(record, EntityRecord)
    assert (record.name, record.type, record.foreign_id) == expected


@pytest.mark.parametrize("turned", [False, True])
def test_a_chunk_is_an_observation_of_the_first_thing_linked_with_it(
    tmp_path: Path, turned: bool
) -> None:
    chunk = {"id": "9", "labels": ["Chunk"], "properties": {"text": "Ada met Bob.", "index": 0}}
    lonely = {"id": "8", "labels": ["Chunk"], "properties": {"text": "Nobody."}}
    ends = [{"id": "9"}, {"id": "0"}]
    if turned:
        ends.reverse()
    link = {"label": "FROM_CHUNK", "type": "relationship", "start": ends[0], "end": ends[1]}
    records = read(tmp_path, "\n".join(map(json.dumps, [link, chunk, lonely, ADA, BOB])))
    assert [(e.name, e.observations) for e in kept(records, EntityRecord)] == [
        ("Ada", ()),
        ("Bob", ()),
        ("Ada", ("Ada met Bob.",)),
    ]
    assert [piece.text for piece in aside(records)] == ["Nobody."]


# ---- round trips ----


def test_two_of_one_name_with_two_ids_stay_two(tmp_path: Path) -> None:
    records: list[Record] = [
        EntityRecord(0, "Mercury", "planet", foreign_id="1"),
        EntityRecord(0, "Mercury", "element", foreign_id="2"),
        RelationRecord(0, "Mercury", "is a", "metal", subject_id="2", object_id="3"),
        IdentityRecord(0, "Mercury", "Mercury", False, "1", "2", "a planet and a metal"),
    ]
    assert round_trip(records) == records
    neo4j.write_folder(again(records), tmp_path)
    with (tmp_path / "relationships.csv").open(newline="", encoding="utf-8") as file:
        (stated,) = csv.DictReader(file)
    assert (stated[":START_ID"], stated[":END_ID"], stated[":TYPE"]) == ("2", "3", "is a")
    with (tmp_path / "nodes.csv").open(newline="", encoding="utf-8") as file:
        assert [row[":ID"] for row in csv.DictReader(file)] == ["1", "2", "3"]


def test_a_real_graph_comes_back(tmp_path: Path) -> None:
    index = tmp_path / "index"
    index.mkdir()
    for file in ("entities.parquet", "relationships.parquet", "text_units.parquet"):
        shutil.copy(DATA / file, index)
    records = bare(graphrag.read_path(index))
    assert round_trip(records) == records


def test_what_is_written_is_what_the_importer_reads(tmp_path: Path) -> None:
    records: list[Record] = [
        EntityRecord(
            0,
            'Say "x", y',
            "a;b",
            ("One\ntwo.", "Three."),
            ("X", "y"),
            None,
            {"age": 3, "height": 1.5, "ok": True, "tags": ["p", "q"], "bad": ["p;q"], "n:m": 1},
        ),
        RelationRecord(0, 'Say "x", y', "KNOWS", "Other", 0.25, "They met."),
    ]
    neo4j.write_folder(again(records), tmp_path)
    header, *_ = (tmp_path / "nodes.csv").read_text(encoding="utf-8").splitlines()
    assert header == (
        ":ID,:LABEL,name,description,aliases:string[],age:long,height:double,ok:boolean,"
        "tags:string[],bad:string[],enfold_more"
    )
    with (tmp_path / "nodes.csv").open(newline="", encoding="utf-8") as file:
        first, other = csv.DictReader(file)
    assert first[":LABEL"] == "a,b"
    assert first["description"] == "One\ntwo.\nThree."
    assert (first["aliases:string[]"], first["tags:string[]"]) == ("X;y", "p;q")
    assert (first["age:long"], first["ok:boolean"], first["bad:string[]"]) == ("3", "true", "")
    assert json.loads(first["enfold_more"])["lengths"] == [8, 6]
    assert (other["name"], other["enfold_more"]) == ("Other", '{"end":true}')
    with (tmp_path / "relationships.csv").open(newline="", encoding="utf-8") as file:
        (stated,) = csv.DictReader(file)
    assert stated[":START_ID"] == first[":ID"]
    assert stated[":END_ID"] == other[":ID"]
    assert (stated["description"], stated["confidence:double"]) == ("They met.", "0.25")
    assert bare(neo4j.read_path(tmp_path)) == records


@given(graphs)
@settings(deadline=None)
def test_every_graph_comes_back_as_it_was(records: list[Record]) -> None:
    assert round_trip(records) == records


# ---- bad files ----


@pytest.mark.parametrize("cut", [30, 100, 200])
def test_a_truncated_dump_costs_its_last_piece(tmp_path: Path, cut: int) -> None:
    text = "\n".join(map(json.dumps, [ADA, BOB, KNOWS]))
    lines = read(tmp_path, text[:-cut])
    whole = read(tmp_path, json.dumps([ADA, BOB, KNOWS])[:-cut])
    for records in (lines, whole):
        assert kept(records, EntityRecord)[0].name == "Ada"
    assert len(aside(lines)) == 1
    assert "cut off" in aside(whole)[-1].reason


def test_broken_pieces_of_a_dump_cost_themselves(tmp_path: Path) -> None:
    deep = '{"labels":["T"],"id":"7","properties":{"name":"D","x":' + "[" * 200 + "]" * 200 + "}}"
    huge = '{"labels":["T"],"id":"8","properties":{"name":"' + "x" * LINE_LIMIT + '"}}'
    lines = [
        json.dumps(ADA).encode(),
        b'{"type":"node","id":"2","labels":["T"],"properties":{"name":"C\xff"}}',
        deep.encode(),
        huge.encode(),
        b'{"type":"node","labels":["T"],"properties":{"name":"no id"}}',
        b'{"type":"relationship","label":"R","start":{},"end":{"id":"0"}}',
        b'{"type":"node","id":"5","labels":"T","properties":[]}',
        b"7",
        b'{"type":"node","id":"6","labels":["T"],"properties":{"name":"E\\u0000"}}',
    ]
    records = read(tmp_path, b"\n".join(lines))
    assert [entity.name for entity in kept(records, EntityRecord)] == ["Ada", "E\ufffd"]
    assert [piece.line for piece in aside(records)] == [2, 3, 4, 5, 6, 7, 8]
    assert [note.line for note in notes(records)] == [9]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_marked_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    records = read(tmp_path, ":ID,name\n1,Ådå\n".encode(encoding))
    assert [entity.name for entity in kept(records, EntityRecord)] == ["Ådå"]


def test_a_file_or_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name\nAda\n")
    assert not neo4j.recognises_folder(tmp_path)
    for path in (tmp_path, tmp_path / "a.csv"):
        with pytest.raises(Invalid) as error:
            list(neo4j.read_path(path))
        assert error.value.code == "unrecognised_format"


def test_links_in_a_circle_and_a_hub_are_read(tmp_path: Path) -> None:
    things = "".join(f"{i},N{i}\n" for i in range(2_000))
    links = "".join(f"0,{i},TO\n{i},0,TO\n" for i in range(2_000))
    records = folder(tmp_path, n=f":ID,name\n{things}", r=f":START_ID,:END_ID,:TYPE\n{links}")
    assert len(kept(records, RelationRecord)) == 4_000


@pytest.mark.parametrize("more", ["{", '{"name":5}', '{"attributes":[]}', '{"confidence":7}'])
def test_a_broken_remainder_is_noted_and_the_properties_are_taken(
    tmp_path: Path, more: str
) -> None:
    quoted = more.replace('"', '""')
    thing = read(tmp_path, f':ID,name,enfold_more\n1,Ada,"{quoted}"\n')
    assert [entity.name for entity in kept(thing, EntityRecord)] == ["Ada"]
    link = read(tmp_path, f':START_ID,:END_ID,enfold_more\n1,2,"{quoted}"\n')
    assert [relation.subject for relation in kept(link, RelationRecord)] == ["1"]
    assert notes([*thing, *link])


@given(st.text(alphabet='{}[]",:\\ \nlabespropti:ID,START_END', max_size=200))
@settings(deadline=None)
def test_any_text_is_read_or_refused_never_worse(text: str) -> None:
    with tempfile.TemporaryDirectory() as made:
        for start in (":ID,name\n", ":START_ID,:END_ID\n", '{"labels":["T"],"properties":{'):
            path = Path(made) / "x"
            path.write_text(start + text)
            list(neo4j.read_path(path))
