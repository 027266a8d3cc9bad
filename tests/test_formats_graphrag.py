"""A GraphRAG index comes in as Parquet or CSV, whatever is wrong with it, and goes out again."""

from __future__ import annotations

import contextlib
import csv
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enfold.errors import Invalid
from enfold.formats import graphrag, parquet, textunits
from enfold.formats.source import HEAD, LINE_LIMIT, opened
from enfold.model import EntityRecord, IdentityRecord, Record, RelationRecord
from tests.records import again, aside, bare, entities, graphs, kept, notes

DATA = Path(__file__).parent / "data" / "graphrag"


def table(path: Path, rows: list[dict[str, Any]], **types: pa.DataType) -> Path:
    """A Parquet file of rows, with the types of columns where they can't be told."""
    made = pa.Table.from_pylist(rows)
    for name, kind in types.items():
        made = made.set_column(made.schema.get_field_index(name), name, made[name].cast(kind))
    pq.write_table(made, path)
    return path


def from_csv(path: Path) -> list[Record]:
    with opened(path) as source:
        assert graphrag.recognises(source.head, path)
        return list(graphrag.read(source))


def index(folder: Path, *files: str) -> Path:
    """A folder with files of the real index."""
    folder.mkdir(exist_ok=True)
    for file in files:
        shutil.copy(DATA / file, folder)
    return folder


def round_trip(records: list[Record]) -> list[Record]:
    with tempfile.TemporaryDirectory() as made:
        graphrag.write_folder(again(records), Path(made))
        assert graphrag.recognises_folder(Path(made))
        return bare(graphrag.read_path(Path(made)))


UNITS = ("entities.parquet", "relationships.parquet", "text_units.parquet")

# ---- what is read ----


def test_a_real_index_is_read_whole(tmp_path: Path) -> None:
    records = list(graphrag.read_path(index(tmp_path / "i", *UNITS)))
    assert len(kept(records, EntityRecord)) == 39
    assert len(kept(records, RelationRecord)) == 107
    assert aside(records) == notes(records) == []
    first = kept(records, EntityRecord)[0]
    assert (first.name, first.type) == ("ALEX MERCER", "PERSON")
    assert first.foreign_id == "bbb2ad85-3d0b-4c26-b6f9-71ed76ee64bd"
    assert first.attributes["degree"] == 17
    assert len(first.attributes["text_unit_ids"]) == 5
    relation = kept(records, RelationRecord)[0]
    assert (relation.subject, relation.object) == ("ALEX MERCER", "PARANORMAL MILITARY SQUAD")
    assert relation.attributes["weight"] == 17.0
    assert relation.confidence == 1.0


def test_a_text_unit_is_an_observation_of_the_first_entity_that_lists_it(tmp_path: Path) -> None:
    records = list(graphrag.read_path(index(tmp_path / "i", *UNITS)))
    stored = pq.read_table(DATA / "text_units.parquet").to_pylist()
    said = [text for record in kept(records, EntityRecord) for text in record.observations]
    for unit in stored:
        assert said.count(unit["text"]) == 1
    owner = next(r for r in kept(records, EntityRecord) if stored[0]["text"] in r.observations)
    assert stored[0]["id"] in owner.attributes["text_unit_ids"]
    beside = owner.attributes[f"text_unit:{stored[0]['id']}"]
    assert beside["n_tokens"] == stored[0]["n_tokens"]


def test_a_text_unit_that_no_entity_lists_is_set_aside(tmp_path: Path) -> None:
    table(tmp_path / "e.parquet", [{"title": "A", "type": "T", "text_unit_ids": ["u1"]}])
    table(
        tmp_path / "t.parquet",
        [{"id": "u1", "text": "One.", "n_tokens": 1}, {"id": "u2", "text": "Two.", "n_tokens": 1}],
    )
    records = list(graphrag.read_path(tmp_path))
    assert kept(records, EntityRecord)[0].observations == ("One.",)
    assert [(piece.line, piece.text) for piece in aside(records)] == [(2, "Two.")]


def test_a_text_unit_finds_its_entity_by_the_list_of_its_own(tmp_path: Path) -> None:
    table(tmp_path / "e.parquet", [{"id": "1", "title": "A", "type": "T"}])
    table(tmp_path / "t.parquet", [{"id": "u", "text": "One.", "entity_ids": ["1"]}])
    (record,) = graphrag.read_path(tmp_path)
    assert isinstance(record, EntityRecord)
    assert record.observations == ("One.",)


def test_tables_are_told_by_their_columns_not_their_names(tmp_path: Path) -> None:
    shutil.copy(DATA / "entities.parquet", tmp_path / "create_final_relationships.parquet")
    shutil.copy(DATA / "relationships.parquet", tmp_path / "zebra")
    records = list(graphrag.read_path(tmp_path))
    assert len(kept(records, EntityRecord)) == 39
    assert len(kept(records, RelationRecord)) == 107


def test_the_first_releases_name_an_entity_name_and_keep_vectors(tmp_path: Path) -> None:
    path = table(
        tmp_path / "create_final_entities.parquet",
        [
            {
                "id": "e1",
                "name": "ACME",
                "type": "ORGANIZATION",
                "description": ["Makes things.", "Sells them."],
                "human_readable_id": 0,
                "text_unit_ids": ["u1"],
                "description_embedding": [0.5] * 32,
            }
        ],
    )
    records = list(graphrag.read_path(path))
    assert kept(records, EntityRecord) == [
        EntityRecord(
            1,
            "ACME",
            "ORGANIZATION",
            ("Makes things.", "Sells them."),
            (),
            "e1",
            {"human_readable_id": 0, "text_unit_ids": ["u1"]},
        )
    ]
    assert ["description_embedding" in note.reason for note in notes(records)] == [True]


@pytest.mark.parametrize(
    "row",
    [
        {"community": 1, "level": 0, "title": "Community 1", "text_unit_ids": ["u"]},
        {"community": 1, "title": "R", "summary": "s", "full_content": "f", "rank": 1.0},
        {"id": "d", "title": "book.txt", "text": "It was.", "text_unit_ids": ["u"]},
        {"level": 0, "title": "A", "type": "T", "description": "d", "community": 1, "degree": 2},
        {"subject_id": "A", "object_id": "B", "type": "claim", "description": "d"},
        {"a": 1},
    ],
)
def test_other_tables_of_an_index_are_no_entities(tmp_path: Path, row: dict[str, Any]) -> None:
    path = table(tmp_path / "x.parquet", [row])
    assert not graphrag.recognises_folder(tmp_path)
    with pytest.raises(Invalid) as error:
        list(graphrag.read_path(path))
    assert error.value.code == "unrecognised_format"
    index(tmp_path, "entities.parquet")
    assert len(kept(graphrag.read_path(tmp_path), EntityRecord)) == 39


def test_text_units_alone_are_refused_with_what_to_do(tmp_path: Path) -> None:
    index(tmp_path, "text_units.parquet")
    with pytest.raises(Invalid, match="give the folder"):
        list(graphrag.read_path(tmp_path / "text_units.parquet"))


# ---- CSV ----


def test_a_real_index_in_csv_is_read_with_its_lists_and_numbers() -> None:
    found = from_csv(DATA / "christmas_carol_entities.csv")
    assert [type(record) for record in found] == [EntityRecord] * 60
    first = found[0]
    assert isinstance(first, EntityRecord)
    assert (first.name, first.type) == ("PROJECT GUTENBERG", "ORGANIZATION")
    assert first.attributes["frequency"] == len(first.attributes["text_unit_ids"]) == 6
    relation = from_csv(DATA / "christmas_carol_relationships.csv")[0]
    assert isinstance(relation, RelationRecord)
    assert relation.attributes["weight"] == 20.0
    assert len(relation.attributes["text_unit_ids"]) == 2


@pytest.mark.parametrize("lists", ["numpy", "python", "json"])
def test_csv_and_parquet_of_one_index_agree(tmp_path: Path, lists: str) -> None:
    def cell(value: Any) -> str:
        if not isinstance(value, list):
            return "" if value is None else str(value)
        if lists == "json":
            return str(value).replace("'", '"')
        return str(value).replace(", ", "\n ") if lists == "numpy" else str(value)

    for file in UNITS:
        rows = pq.read_table(DATA / file).to_pylist()
        with (tmp_path / file.replace("parquet", "csv")).open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(rows[0])
            writer.writerows([cell(value) for value in row.values()] for row in rows)
    assert graphrag.recognises_folder(tmp_path)
    read = bare(graphrag.read_path(tmp_path))
    assert read == bare(graphrag.read_path(index(tmp_path / "parquet", *UNITS)))


@pytest.mark.parametrize(
    "header",
    [
        "id,human_readable_id,title,type,description,text_unit_ids,frequency,degree",
        "id,human_readable_id,source,target,description,weight,combined_degree,text_unit_ids",
        "title;type;description;text_unit_ids",
    ],
)
def test_csv_of_graphrag_is_told_by_its_columns(header: str) -> None:
    assert graphrag.recognises(header.encode())
    assert graphrag.relations_alone(header.encode()) == ("source" in header)


@pytest.mark.parametrize(
    "head", ["name,type,description\n", "source,target,weight\n", "left,right,same\n", "{}", ""]
)
def test_other_tables_are_left_to_others(head: str) -> None:
    assert not graphrag.recognises(head.encode())


def test_a_broken_row_of_csv_costs_itself(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_bytes(
        b"title,type,text_unit_ids\nA,T,\"['u']\"\nB,T\n,T,\nC\xff,T,\nD,T,\"['u' ... 'v']\"\n"
    )
    records = from_csv(path)
    assert [record.name for record in kept(records, EntityRecord)] == ["A", "D"]
    assert kept(records, EntityRecord)[1].attributes == {"text_unit_ids": "['u' ... 'v']"}
    assert [piece.line for piece in aside(records)] == [3, 4, 5]


# ---- round trips ----


def test_a_real_index_comes_back_in_its_own_columns(tmp_path: Path) -> None:
    records = bare(graphrag.read_path(index(tmp_path / "i", *UNITS)))
    out = tmp_path / "out"
    out.mkdir()
    graphrag.write_folder(again(records), out)
    assert bare(graphrag.read_path(out)) == records
    for file in UNITS:
        before, after = pq.read_table(DATA / file), pq.read_table(out / file)
        for name in before.schema.names:
            assert after[name].to_pylist() == before[name].to_pylist(), (file, name)
    assert sorted(path.name for path in out.iterdir()) == sorted(UNITS)
    assert not any(pq.read_table(out / "entities.parquet")["enfold_more"].to_pylist())


def test_writing_the_same_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    records = bare(graphrag.read_path(index(tmp_path / "i", *UNITS)))
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        graphrag.write_folder(again(records), tmp_path / name)
    for file in UNITS:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_a_graph_from_elsewhere_has_what_graphrag_needs(tmp_path: Path) -> None:
    records: list[Record] = [
        EntityRecord(0, "Acme", None, ("Makes things.", "Sells them."), ("ACME Inc",)),
        EntityRecord(0, "Acme", "person"),
        RelationRecord(0, "Acme", "owns", "Bob", 0.5),
    ]
    graphrag.write_folder(again(records), tmp_path)
    assert bare(graphrag.read_path(tmp_path)) == records
    found = pq.read_table(tmp_path / "entities.parquet").to_pylist()
    assert [row["description"] for row in found] == ["Makes things.\nSells them.", None]
    assert len({row["id"] for row in found}) == 2
    assert [row["degree"] for row in found] == [1, 1]
    assert [row["human_readable_id"] for row in found] == [0, 1]
    (stated,) = pq.read_table(tmp_path / "relationships.parquet").to_pylist()
    assert stated["description"] == "Acme owns Bob"
    assert (stated["weight"], stated["text_unit_ids"]) == (1.0, [])
    assert (stated["enfold_predicate"], stated["enfold_confidence"]) == ("owns", 0.5)


def test_two_of_one_name_with_two_ids_stay_two() -> None:
    records: list[Record] = [
        EntityRecord(0, "Mercury", "planet", foreign_id="1"),
        EntityRecord(0, "Mercury", "element", foreign_id="2"),
        RelationRecord(0, "Mercury", "orbits", "Sun", subject_id="1", object_id="s"),
        IdentityRecord(0, "Mercury", "Mercury", False, "1", "2", "a planet and a metal"),
    ]
    assert round_trip(records) == records


def test_a_text_unit_stays_one_after_another_text_came_between(tmp_path: Path) -> None:
    records = bare(graphrag.read_path(index(tmp_path / "i", *UNITS)))
    first = records[0]
    assert isinstance(first, EntityRecord)
    said = first.observations
    changed = EntityRecord(
        0,
        first.name,
        first.type,
        (said[1], said[0], "Something new.", *said[2:]),
        (),
        first.foreign_id,
        first.attributes,
    )
    out = tmp_path / "out"
    out.mkdir()
    graphrag.write_folder(again([changed, *records[1:]]), out)
    assert bare(graphrag.read_path(out)) == [changed, *records[1:]]
    units = pq.read_table(out / "text_units.parquet")["text"].to_pylist()
    assert units == pq.read_table(DATA / "text_units.parquet")["text"].to_pylist()


@given(graphs)
@settings(deadline=None)
def test_every_graph_comes_back_as_it_was(records: list[Record]) -> None:
    assert round_trip(records) == records


@given(st.lists(entities, max_size=3), st.lists(st.text(max_size=5), max_size=4))
@settings(deadline=None)
def test_every_graph_with_texts_comes_back_as_it_was(
    records: list[EntityRecord], said: list[str]
) -> None:
    texts = [text.replace("\0", "") or " " for text in said]
    units = {
        f"text_unit:{i % 3}": {
            "digest": textunits.digest(text),
            "n_tokens": i,
            "document_id": text,
        }
        for i, text in enumerate(texts)
    }
    with_texts: list[Record] = [
        EntityRecord(
            0,
            r.name,
            r.type,
            (*texts, *r.observations),
            r.aliases,
            r.foreign_id,
            r.attributes | units,
        )
        for r in records
    ]
    assert round_trip(with_texts) == with_texts


# ---- bad files ----


def refused(path: Path) -> Invalid:
    with path.open("rb") as file:
        assert graphrag.recognises(file.read(HEAD), path)
    with pytest.raises(Invalid) as error:
        list(graphrag.read_path(path))
    return error.value


@pytest.mark.parametrize("keep", [4, 100, 5_000, -1, -8])
def test_a_truncated_parquet_is_refused(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "e.parquet"
    path.write_bytes((DATA / "entities.parquet").read_bytes()[:keep])
    error = refused(path)
    assert error.code == "unreadable_file"
    assert "cut off" in str(error)
    assert "\n" not in str(error)


def test_a_truncated_table_of_a_folder_costs_itself(tmp_path: Path) -> None:
    index(tmp_path, "relationships.parquet")
    (tmp_path / "entities.parquet").write_bytes((DATA / "entities.parquet").read_bytes()[:9_000])
    records = list(graphrag.read_path(tmp_path))
    assert len(kept(records, RelationRecord)) == 107
    assert [piece.source for piece in aside(records)] == ["entities.parquet"]


@given(st.integers(4, 19_000), st.binary(min_size=1, max_size=8))
@settings(deadline=None, max_examples=60)
def test_a_parquet_with_broken_bytes_is_read_or_refused_never_worse(at: int, put: bytes) -> None:
    data = bytearray((DATA / "entities.parquet").read_bytes())
    data[at : at + len(put)] = put
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "e.parquet"
        path.write_bytes(bytes(data))
        with contextlib.suppress(Invalid):
            assert len(list(graphrag.read_path(path))) < 1_000


def test_an_unreadable_row_group_costs_itself(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    rows = [{"title": f"Name {i} " + "x" * 50, "type": "T", "degree": i} for i in range(300)]
    pq.write_table(
        pa.Table.from_pylist(rows),
        path,
        row_group_size=100,
        compression="none",
        use_dictionary=False,
    )
    chunk = pq.ParquetFile(path).metadata.row_group(1).column(0)
    data = bytearray(path.read_bytes())
    data[chunk.data_page_offset : chunk.data_page_offset + 40] = b"\xff" * 40
    path.write_bytes(bytes(data))
    records = list(graphrag.read_path(path))
    assert [r.line for r in kept(records, EntityRecord)] == [*range(1, 101), *range(201, 301)]
    (piece,) = aside(records)
    assert piece.reason.startswith("Rows 101 to 200 of the table can't be read: ")


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([{"title": 7, "degree": 1}], ["7"]),
        ([{"title": ["A"], "degree": 1}], []),
        ([{"title": {"a": 1}, "degree": 1}], []),
        ([{"title": None, "degree": 1}], []),
        ([{"title": True, "degree": 1}], []),
        ([{"title": " ", "degree": 1}, {"title": "B", "degree": 1}], ["B"]),
        ([{"title": "A", "type": 5, "description": {"a": [1]}, "degree": "many"}], ["A"]),
        ([{"title": "A", "type": ["T"], "text_unit_ids": "u1"}], ["A"]),
        ([{"title": "A", "degree": float("nan")}], ["A"]),
    ],
)
def test_a_schema_that_lies_gives_names_or_rows_set_aside(
    tmp_path: Path, rows: list[dict[str, Any]], names: list[str]
) -> None:
    records = list(graphrag.read_path(table(tmp_path / "e.parquet", rows)))
    assert [record.name for record in kept(records, EntityRecord)] == names
    assert len(aside(records)) == len(rows) - len(names)


def test_a_missing_number_does_not_turn_the_others_into_fractions(tmp_path: Path) -> None:
    path = table(tmp_path / "e.parquet", [{"title": "A", "degree": 3.0, "frequency": None}])
    (record,) = graphrag.read_path(path)
    assert isinstance(record, EntityRecord)
    assert record.attributes == {"degree": 3}
    assert type(record.attributes["degree"]) is int


def test_values_that_json_lacks_are_kept_as_text(tmp_path: Path) -> None:
    import datetime
    import decimal

    row = {
        "title": "A",
        "degree": 1,
        "when": datetime.datetime(2026, 1, 2, 3, tzinfo=datetime.UTC),
        "price": decimal.Decimal("1.50"),
        "raw": b"a\xff",
        "nested": {"x": [{"y": None}]},
        "far": float("inf"),
    }
    (record,) = graphrag.read_path(table(tmp_path / "e.parquet", [row]))
    assert isinstance(record, EntityRecord)
    assert record.attributes == {
        "degree": 1,
        "when": "2026-01-02T03:00:00+00:00",
        "price": "1.50",
        "raw": "a\\xff",
        "nested": {"x": [{"y": None}]},
        "far": "inf",
    }


def test_bytes_that_are_no_text_cost_their_row(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    strings = pa.array([b"A", b"B\xff", b"C"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"title": strings, "degree": [1, 2, 3]}), path)
    records = list(graphrag.read_path(path))
    assert [record.name for record in kept(records, EntityRecord)] == ["A", "C"]
    assert [piece.line for piece in aside(records)] == [2]


def test_a_value_above_the_limit_costs_its_row(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"title": "A", "description": "x" * (LINE_LIMIT + 1)},
        {"title": "B", "description": ""},
    ]
    records = list(graphrag.read_path(table(tmp_path / "e.parquet", rows)))
    assert [record.name for record in kept(records, EntityRecord)] == ["B"]
    (piece,) = aside(records)
    assert "at most" in piece.reason
    assert len(piece.text) < 1_000


def test_a_row_with_more_values_than_is_honest_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    many = pa.array([["u"] * 2_000_000])
    pq.write_table(pa.table({"title": ["A"], "text_unit_ids": many}), path)
    records = list(graphrag.read_path(path))
    assert kept(records, EntityRecord) == []
    assert "claims 2,000,000 values" in aside(records)[0].reason


def test_a_text_that_a_page_holds_once_and_a_million_rows_use_is_not_read_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "ROOM", 1_000_000)
    path = tmp_path / "e.parquet"
    once = pa.DictionaryArray.from_arrays(pa.array([0] * 1_000_000, pa.int32()), ["x" * 100_000])
    pq.write_table(pa.table({"title": ["A"] * 1_000_000, "description": once}), path)
    records = list(graphrag.read_path(path))
    read = kept(records, EntityRecord)
    assert 10 < len(read) < 10_000
    (piece,) = aside(records)
    assert piece.line == len(read) + 1
    assert "more than a file of this size holds" in piece.reason


def test_a_column_that_claims_to_unpack_beyond_reason_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "CLAIMED", 1_000_000)
    path = tmp_path / "e.parquet"
    made = pa.table({"title": ["A"], "description": ["y" * 2_000_000]})
    pq.write_table(made, path, compression="zstd", use_dictionary=False)
    records = list(graphrag.read_path(path))
    assert kept(records, EntityRecord) == []
    assert "claims 2,000," in aside(records)[0].reason


def test_what_no_store_holds_is_replaced_and_noted(tmp_path: Path) -> None:
    row = {"title": "A", "description": "a\0b", "tags": ["\0"]}
    records = list(graphrag.read_path(table(tmp_path / "e.parquet", [row])))
    assert kept(records, EntityRecord) == [
        EntityRecord(1, "A", observations=("a\ufffdb",), attributes={"tags": ["\ufffd"]})
    ]
    assert [note.text for note in notes(records)] == ["a\0b", '["\\u0000"]']


def test_nesting_and_columns_without_end_are_not_read(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(30):
        deep = [deep]
    records = list(
        graphrag.read_path(table(tmp_path / "e.parquet", [{"title": "A", "degree": deep}]))
    )
    assert [record.attributes for record in kept(records, EntityRecord)] == [{}]
    assert "nested more than" in notes(records)[0].reason
    wide = {f"c{i}": 1 for i in range(parquet.MOST_COLUMNS + 1)}
    error = refused(table(tmp_path / "w.parquet", [{"title": "A", "degree": 1} | wide]))
    assert "columns; at most" in str(error)


@pytest.mark.parametrize(
    "more",
    [
        "{",
        "[]",
        '{"name":5}',
        '{"nickname":"x"}',
        '{"aliases":[1]}',
        '{"attributes":[]}',
        '{"lengths":[1]}',
        '{"lengths":[true]}',
        '{"lengths":[4],"order":[1]}',
        '{"lengths":[4],"order":[true]}',
        '{"without":1}',
        "[" * 100_000,
        '{"attributes":{"a":' + "[" * 500 + "]" * 500 + "}}",
    ],
)
def test_a_broken_remainder_is_noted_and_the_columns_are_taken(tmp_path: Path, more: str) -> None:
    row = {"title": "A", "description": "Said", "enfold_more": more}
    records = list(graphrag.read_path(table(tmp_path / "e.parquet", [row])))
    assert kept(records, EntityRecord) == [EntityRecord(1, "A", observations=("Said",))]
    assert "the other columns are taken" in notes(records)[0].reason


def test_a_relationship_without_an_end_is_set_aside(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"source": "A", "target": None, "weight": "strong"},
        {"source": "A", "target": "B", "weight": "strong"},
    ]
    records = list(graphrag.read_path(table(tmp_path / "r.parquet", rows)))
    assert kept(records, RelationRecord) == [
        RelationRecord(2, "A", "related to", "B", attributes={"weight": "strong"})
    ]
    assert [piece.line for piece in aside(records)] == [1]
