"""Tables of entities, of relations and enfold's own are read, whoever wrote them."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfold import formats
from enfold.errors import Invalid
from enfold.formats import table
from enfold.model import EntityRecord, Note, Record, RelationRecord, SetAside


def read(path: Path, data: str | bytes, name: str = "graph.csv") -> list[Record]:
    file = path / name
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    (reading,) = formats.read(file)
    assert reading.format == "csv"
    return list(reading.records)


def aside(records: list[Record]) -> list[SetAside]:
    return [r for r in records if isinstance(r, SetAside) and not isinstance(r, Note)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiter_mark_and_line_ends_are_told(
    tmp_path: Path, delimiter: str, mark: str, end: str
) -> None:
    rows = [["name", "type", "description"], ["Acme", "org", "Makes, sells; more"]]
    text = end.join(delimiter.join(f'"{cell}"' for cell in row) for row in rows)
    assert read(tmp_path, mark + text) == [
        EntityRecord(2, "Acme", "org", ("Makes, sells; more",)),
    ]


@pytest.mark.parametrize(
    ("header", "row", "expected"),
    [
        ("name,type", "A,t", EntityRecord(2, "A", "t")),
        ("Title,Entity Type", "A,t", EntityRecord(2, "A", "t")),
        ("entity,kind", "A,t", EntityRecord(2, "A", "t")),
        ("Id,Label", "7,A", EntityRecord(2, "A", foreign_id="7")),
        ("name,entityType,text", "A,,said", EntityRecord(2, "A", observations=("said",))),
        ("name,aliases", "A,b|c | d", EntityRecord(2, "A", aliases=("b", "c", "d"))),
        ("name,aliases", 'A,"[""b|c"",""d""]"', EntityRecord(2, "A", aliases=("b|c", "d"))),
        ("name,observations", 'A,"[""x"",""y""]"', EntityRecord(2, "A", observations=("x", "y"))),
        ("name,born,", "A,1999,", EntityRecord(2, "A", attributes={"born": "1999"})),
        ("source,target", "a,b", RelationRecord(2, "a", "related to", "b")),
        ("from,to,relation", "a,b,r s", RelationRecord(2, "a", "r s", "b")),
        ("Subject,Predicate,Object", "a,r,b", RelationRecord(2, "a", "r", "b")),
        (
            "source,target,description,weight",
            "a,b,They met.,20.0",
            RelationRecord(
                2, "a", "related to", "b", text="They met.", attributes={"weight": "20.0"}
            ),
        ),
        (
            "source,target,type,confidence,year",
            "a,b,r,0.25,1999",
            RelationRecord(2, "a", "r", "b", confidence=0.25, attributes={"year": "1999"}),
        ),
    ],
)
def test_columns_are_told_by_their_usual_names(
    tmp_path: Path, header: str, row: str, expected: Record
) -> None:
    assert read(tmp_path, f"{header}\n{row}\n") == [expected]


def test_a_quoted_cell_keeps_its_newlines_and_quotes(tmp_path: Path) -> None:
    records = read(tmp_path, 'name,text\nA,"one\r\n""two"""\nB,three\n')
    assert records == [
        EntityRecord(2, "A", observations=('one\r\n"two"',)),
        EntityRecord(4, "B", observations=("three",)),
    ]


def test_a_table_of_one_column_may_hold_commas(tmp_path: Path) -> None:
    records = read(tmp_path, "name\nAcme, Inc.\nBolt; Ltd\n")
    assert [r.name for r in records if isinstance(r, EntityRecord)] == ["Acme, Inc.", "Bolt; Ltd"]


def test_rows_that_do_not_fit_are_set_aside_by_line(tmp_path: Path) -> None:
    records = read(tmp_path, 'name,type\nA,t,more\nB\n\nC,t\n"D\nD",t,u\n')
    assert records[2] == EntityRecord(5, "C", "t")
    assert [(p.line, p.text) for p in aside(records)] == [
        (2, "A,t,more"),
        (3, "B"),
        (6, '"D\nD",t,u'),
    ]


def test_a_stray_quote_costs_only_its_line(tmp_path: Path) -> None:
    records = read(tmp_path, 'name,type\n"never closed,t\nB,"t"\nC,t\n')
    assert [(p.line, p.text) for p in aside(records)] == [(2, '"never closed,t')]
    assert records[1:] == [EntityRecord(3, "B", "t"), EntityRecord(4, "C", "t")]


def test_a_quote_that_never_closes_does_not_swallow_the_file(tmp_path: Path) -> None:
    records = read(tmp_path, 'name,type\nx,"y\n' + "z,t\n" * 50_000)
    assert [p.line for p in aside(records)] == [2]
    assert len(records) == 50_001


def test_blank_names_and_lost_ends_are_set_aside(tmp_path: Path) -> None:
    assert [p.line for p in aside(read(tmp_path, "name,type\n  ,t\n,t\nA,t\n"))] == [2, 3]
    assert [p.line for p in aside(read(tmp_path, "from,to\na,\n,b\na,b\n"))] == [2, 3]


def test_bytes_that_are_no_utf8_are_not_guessed(tmp_path: Path) -> None:
    records = read(tmp_path, b"name,type\ncaf\xe9,t\nB,t\n")
    (piece,) = aside(records)
    assert "Byte 4" in piece.reason
    assert piece.text == "caf\\xe9,t"
    assert len(records) == 2


def test_nul_is_replaced_and_noted(tmp_path: Path) -> None:
    records = read(tmp_path, ("name,type\n" + "x,t\n" * 40_000).encode() + b"a\0b,t\n")
    assert records[-1] == EntityRecord(40_002, "a\ufffdb", "t")
    assert isinstance(records[-2], Note)


def test_a_cell_may_be_longer_than_the_library_allows(tmp_path: Path) -> None:
    records = read(tmp_path, "name,text\nA," + "x" * 200_000)
    assert records == [EntityRecord(2, "A", observations=("x" * 200_000,))]


def test_a_table_of_labelled_pairs_is_for_evaluate(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("left\tright\tverdict\trule\na\tb\tFOLD\tx\n")
    with pytest.raises(Invalid, match="enfold evaluate") as caught:
        formats.read(file)
    assert caught.value.code == "labelled_pairs"


def test_a_table_without_a_column_of_names_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "transactions.csv"
    file.write_text("number,concept,amount\n1,FEE,20\n2,FEE,20\n")
    with pytest.raises(Invalid, match="a column name, title, entity or label") as caught:
        formats.read(file)
    assert caught.value.code == "unrecognised_format"


def test_a_job_title_is_no_name_where_there_is_one(tmp_path: Path) -> None:
    records = read(tmp_path, "title,name\nGeneral Manager,Contact A\n")
    assert records == [EntityRecord(2, "Contact A", attributes={"title": "General Manager"})]


def test_tables_of_relations_are_read_last(tmp_path: Path) -> None:
    one, two = tmp_path / "a.csv", tmp_path / "b.csv"
    one.write_text("source,target\na,b\n")
    two.write_text("name\na\n")
    assert [reading.source for reading in formats.read(one, two)] == ["b.csv", "a.csv"]


def test_columns_of_a_table_made_of_graphrag_s_are_understood(tmp_path: Path) -> None:
    header = "id,title,type,description,frequency,degree"
    records = read(tmp_path, f'{header}\nu-1,ACME,ORGANIZATION,"Acme makes.",6,28\n')
    assert records == [
        EntityRecord(
            2,
            "ACME",
            "ORGANIZATION",
            ("Acme makes.",),
            foreign_id="u-1",
            attributes={
                "frequency": "6",
                "degree": "28",
            },
        )
    ]


@pytest.mark.parametrize("cell", ["=1+1", "+x", "-x", "@x", "\tx", "\rx", "'=x", "''=x"])
def test_no_spreadsheet_runs_a_cell_that_was_exported(cell: str) -> None:
    line = table.entity_lines(EntityRecord(0, cell, observations=(cell,)))
    for row in csv.reader(io.StringIO(line, newline="")):
        assert not any(value.startswith(("=", "+", "-", "@", "\t", "\r")) for value in row)


texts = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
nasty = texts | st.sampled_from(
    ["'=a", "''", "=", '"', "a\r\nb", "\n", "\r", "-1", "'", " a ", "|"]
)
filled = nasty.filter(lambda text: bool(text.strip()))
beside = st.dictionaries(nasty.filter(lambda key: key != "id"), st.integers() | nasty, max_size=3)


@given(filled, nasty, st.lists(filled), st.lists(filled), st.none() | nasty, beside)
def test_an_entity_comes_back_from_the_table_as_it_was(
    name: str,
    type_: str,
    observations: list[str],
    aliases: list[str],
    foreign_id: str | None,
    attributes: dict[str, object],
) -> None:
    record = EntityRecord(
        0, name, type_ or None, tuple(observations), tuple(aliases), foreign_id, attributes
    )
    back = _back(table.header_line() + table.entity_lines(record))
    assert all(isinstance(part, EntityRecord) and part.name == name for part in back)
    parts = [part for part in back if isinstance(part, EntityRecord)]
    assert (parts[0].type, parts[0].foreign_id) == (record.type, foreign_id)
    assert parts[0].attributes == attributes
    assert sum((part.observations for part in parts), ()) == record.observations
    assert sum((part.aliases for part in parts), ()) == record.aliases


@given(filled, filled, filled, st.none() | filled, st.floats(0, 1))
def test_a_relation_comes_back_from_the_table_as_it_was(
    subject: str, predicate: str, target: str, text: str | None, confidence: float
) -> None:
    predicate = " ".join(predicate.split())
    record = RelationRecord(0, subject, predicate, target, confidence, text)
    (back,) = _back(table.header_line() + table.relation_line(record))
    assert isinstance(back, RelationRecord)
    assert (back.subject, back.predicate, back.object) == (subject, predicate, target)
    assert (back.confidence, back.text) == (confidence, text)


def _back(text: str) -> list[Record]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return read(Path(folder), text)
