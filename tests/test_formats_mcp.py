"""MCP memory files are read in every variant that forks, crashes and people leave."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfold import formats
from enfold.errors import Invalid
from enfold.formats import source
from enfold.model import EntityRecord, Note, Record, RelationRecord, SetAside

EXAMPLES = Path(__file__).parent.parent / "examples"
ALICE = '{"type":"entity","name":"Alice","entityType":"person","observations":["Likes tea"]}'
KNOWS = '{"type":"relation","from":"Alice","to":"Bob","relationType":"knows"}'


def read(path: Path, data: str | bytes, name: str = "memory.jsonl") -> list[Record]:
    file = path / name
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    (reading,) = formats.read(file)
    assert reading.format == "mcp"
    return list(reading.records)


def entities(records: list[Record]) -> list[EntityRecord]:
    return [record for record in records if isinstance(record, EntityRecord)]


def relations(records: list[Record]) -> list[RelationRecord]:
    return [record for record in records if isinstance(record, RelationRecord)]


def aside(records: list[Record]) -> list[SetAside]:
    return [r for r in records if isinstance(r, SetAside) and not isinstance(r, Note)]


def notes(records: list[Record]) -> list[Note]:
    return [record for record in records if isinstance(record, Note)]


def test_an_entity_and_a_relation_come_as_they_are(tmp_path: Path) -> None:
    assert read(tmp_path, f"{ALICE}\n{KNOWS}\n") == [
        EntityRecord(1, "Alice", "person", ("Likes tea",)),
        RelationRecord(2, "Alice", "knows", "Bob"),
    ]


@pytest.mark.parametrize(
    ("folder", "found", "related"),
    [("attraccess", 63, 88), ("dmetrics", 62, 84), ("memory_graph_rust", 68, 91)],
)
def test_real_files_are_read_whole(folder: str, found: int, related: int) -> None:
    (reading,) = formats.read(EXAMPLES / folder / "memory.jsonl")
    records = list(reading.records)
    assert Counter(type(record) for record in records) == {
        EntityRecord: found,
        RelationRecord: related,
    }


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"name":"A","entityType":"t","observations":[]}', EntityRecord(1, "A", "t")),
        ('{"name":"A","entity_type":"t","observations":"x"}', EntityRecord(1, "A", "t", ("x",))),
        ('{"name":"A","type":"t","observations":["x"]}', EntityRecord(1, "A", "t", ("x",))),
        ('{"type":"node","name":"A","id":7}', EntityRecord(1, "A", foreign_id="7")),
        (
            '{"type":"entity","name":"A","version":2,"tags":["x"]}',
            EntityRecord(1, "A", attributes={"version": 2, "tags": ["x"]}),
        ),
        (
            '{"type":"entity","name":"A","aliases":["B","C"]}',
            EntityRecord(1, "A", aliases=("B", "C")),
        ),
        ('{"from":"A","to":"B","relationType":"r"}', RelationRecord(1, "A", "r", "B")),
        ('{"source":"A","target":"B","relation_type":"r"}', RelationRecord(1, "A", "r", "B")),
        ('{"type":"uses","from":"A","to":"B"}', RelationRecord(1, "A", "uses", "B")),
        (
            '{"type":"relation","from":"A","to":"B","relationType":"r","confidence":0.5,"v":1}',
            RelationRecord(1, "A", "r", "B", confidence=0.5, attributes={"v": 1}),
        ),
        (
            '{"type":"edge","from":"A","to":"B","relationType":"a \\n b","text":"A, then B."}',
            RelationRecord(1, "A", "a b", "B", text="A, then B."),
        ),
    ],
)
def test_records_are_told_by_their_fields(tmp_path: Path, line: str, expected: Record) -> None:
    assert read(tmp_path, line) == [expected]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-8"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_marks_encodings_and_line_ends_change_nothing(
    tmp_path: Path, encoding: str, end: str
) -> None:
    text = ALICE.replace("Alice", "Zoë 李") + end + KNOWS
    records = read(tmp_path, text.encode(encoding))
    assert [e.name for e in entities(records)] == ["Zoë 李"]
    assert [r.line for r in relations(records)] == [2]


def test_glued_values_are_taken_one_by_one(tmp_path: Path) -> None:
    records = read(tmp_path, ALICE + KNOWS + "  " + ALICE)
    assert [type(record) for record in records] == [EntityRecord, RelationRecord, EntityRecord]


def test_a_half_written_line_costs_only_its_half(tmp_path: Path) -> None:
    records = read(tmp_path, f'{KNOWS}\n{{"type":"enti{ALICE}\n{KNOWS}')
    assert len(entities(records)) == 1
    assert len(relations(records)) == 2
    (piece,) = aside(records)
    assert (piece.line, piece.text) == (2, '{"type":"enti')


@pytest.mark.parametrize("cut", [10, 30, len(ALICE) - 1])
def test_a_cut_off_line_leaves_its_neighbours(tmp_path: Path, cut: int) -> None:
    records = read(tmp_path, f"{KNOWS}\n{ALICE[:cut]}\n{KNOWS}\n{ALICE[:cut]}")
    assert len(relations(records)) == 2
    assert [(p.line, p.text) for p in aside(records)] == [(2, ALICE[:cut]), (4, ALICE[:cut])]


def test_a_value_may_run_over_lines(tmp_path: Path) -> None:
    pretty = json.dumps(json.loads(ALICE), indent=2)
    records = read(tmp_path, f"{KNOWS}\n{pretty}\n{KNOWS}")
    assert [(type(r), r.line) for r in records] == [
        (RelationRecord, 1),
        (EntityRecord, 2),
        (RelationRecord, 2 + pretty.count("\n") + 1),
    ]


def test_a_newline_inside_a_string_is_kept(tmp_path: Path) -> None:
    records = read(tmp_path, ALICE.replace("Likes tea", "Likes\ntea") + "\n" + KNOWS)
    assert entities(records)[0].observations == ("Likes\ntea",)
    assert len(relations(records)) == 1


@pytest.mark.parametrize("indent", [None, 2])
def test_one_document_with_two_lists_is_read(tmp_path: Path, indent: int | None) -> None:
    whole = {"version": 1, "entities": [json.loads(ALICE)], "relations": [json.loads(KNOWS)]}
    records = read(tmp_path, json.dumps(whole, indent=indent))
    assert len(entities(records)) == len(relations(records)) == 1
    assert [piece.text for piece in aside(records)] in (["1"], ['{"version": 1}'])


@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_of_records_is_read(tmp_path: Path, indent: int | None) -> None:
    whole = [json.loads(ALICE), json.loads(KNOWS), 5]
    records = read(tmp_path, json.dumps(whole, indent=indent))
    assert len(entities(records)) == len(relations(records)) == len(aside(records)) == 1


def test_records_in_the_lists_of_a_document_need_no_fields_to_be_told(tmp_path: Path) -> None:
    records = read(tmp_path, '{"entities":[{"name":"A","type":"t"}],"relations":[]}')
    assert records == [EntityRecord(1, "A", "t")]


def test_a_document_that_was_cut_off_says_so(tmp_path: Path) -> None:
    records = read(tmp_path, '{"entities":[' + ALICE + ',{"name":"B","obs')
    assert len(entities(records)) == 1
    assert "cut off" in aside(records)[-1].reason


def test_a_broken_element_of_a_document_costs_only_itself(tmp_path: Path) -> None:
    records = read(tmp_path, '{"entities":[{"name":"q" "x"},' + ALICE + "]}")
    assert len(entities(records)) == 1
    assert [piece.text for piece in aside(records)] == ['{"name":"q" "x"}']


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"type":"episode","name":"x"}', "record type 'episode' is not known"),
        ('{"type":"entity","name":5}', "no name, or one that is not a text"),
        ('{"type":"entity","name":["a"]}', "no name, or one that is not a text"),
        ('{"type":"entity"}', "no name, or one that is not a text"),
        ('{"type":"entity","name":" \\n "}', "name is blank"),
        ('{"type":"relation","from":"A","relationType":"r"}', "lacks one of its two ends"),
        ('{"type":"relation","from":"A","to":null,"relationType":"r"}', "lacks one of its two"),
        ('{"what":1}', "neither an entity nor a relation"),
        ("17", "Neither an entity nor a relation"),
        ("not json", "Not JSON"),
        ('{"type":"entity","name":"A","x":' + "[" * 5000 + "]" * 5000 + "}", "nested more than"),
        ('{"type":"entity","name":"A","x":' + "[" * 200 + "]" * 200 + "}", "nested more than"),
        ('{"type":"entity","name":"A","x":' + "9" * 5000 + "}", "more digits than can be read"),
        ('{"type":"entity","name":"A\0"}', "Not JSON"),
    ],
)
def test_a_bad_line_is_set_aside_with_its_reason(tmp_path: Path, line: str, reason: str) -> None:
    records = read(tmp_path, f"{ALICE}\n{line}\n{KNOWS}")
    assert len(entities(records)) == len(relations(records)) == 1
    (piece,) = aside(records)
    assert (piece.source, piece.line, piece.text) == ("memory.jsonl", 2, line)
    assert reason in piece.reason


def test_bytes_that_are_no_utf8_are_not_guessed(tmp_path: Path) -> None:
    bad = ALICE.replace("tea", "caf\xe9").encode("latin-1")
    inside = b'{"entities":[' + bad + b"," + ALICE.encode() + b"]}"
    for data in (bad + b"\n" + KNOWS.encode(), inside):
        records = read(tmp_path, data)
        (piece,) = aside(records)
        assert f"Byte {bad.index(0xE9) + 1}" in piece.reason
        assert "caf\\xe9" in piece.text
        assert len(records) == 2


def test_half_a_surrogate_pair_and_nul_are_replaced_and_noted(tmp_path: Path) -> None:
    records = read(tmp_path, '{"type":"entity","name":"A\\ud800","observations":["b\\u0000"]}')
    (entity,) = entities(records)
    assert (entity.name, entity.observations) == ("A\ufffd", ("b\ufffd",))
    assert len(notes(records)) == 1


def test_a_whole_surrogate_pair_is_the_character_it_is(tmp_path: Path) -> None:
    records = read(tmp_path, '{"type":"entity","name":"\\ud83d\\ude80"}')
    assert records == [EntityRecord(1, "🚀")]


def test_observations_that_are_no_texts_are_taken_as_text_and_noted(tmp_path: Path) -> None:
    line = '{"name":"A","observations":["t",1,true,null,{"content":"c","at":2},{"k":1},["x"]]}'
    records = read(tmp_path, ALICE + "\n" + line)
    assert entities(records)[1].observations == ("t", "1", "true", "c", '{"k": 1}', '["x"]')
    assert [note.line for note in notes(records)] == [2]
    assert '"at": 2' in notes(records)[0].text


def test_numbers_that_json_lacks_stay_texts(tmp_path: Path) -> None:
    records = read(tmp_path, '{"type":"entity","name":"A","x":NaN,"y":1e999,"z":-Infinity}')
    assert entities(records)[0].attributes == {"x": "NaN", "y": "1e999", "z": "-Infinity"}


def test_a_key_given_twice_loses_nothing(tmp_path: Path) -> None:
    line = '{"type":"entity","name":"A","observations":["a"],"name":"B","observations":["b"]}'
    records = read(tmp_path, line)
    assert entities(records) == [EntityRecord(1, "A", observations=("a", "b"))]
    assert notes(records)[0].text == line


def test_a_relation_without_a_type_is_taken_and_noted(tmp_path: Path) -> None:
    records = read(tmp_path, ALICE + '\n{"type":"relation","from":"A","to":"B"}')
    assert relations(records)[0].predicate == "related to"
    assert len(notes(records)) == 1


@pytest.mark.parametrize("first", [True, False])
def test_a_line_too_long_is_skipped_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bool
) -> None:
    monkeypatch.setattr(source, "LINE_LIMIT", 100_000)
    long = ALICE.replace("Alice", "x" * 300_000)
    lines = [long, KNOWS] if first else [KNOWS, long, KNOWS]
    records = read(tmp_path, "\n".join(lines))
    (piece,) = aside(records)
    assert f"{len(long):,} bytes" in piece.reason
    assert len(piece.text) == source.SHOWN
    assert len(relations(records)) == len(lines) - 1


def test_a_long_name_is_read_whole(tmp_path: Path) -> None:
    assert entities(read(tmp_path, ALICE.replace("Alice", "n" * 5_000)))[0].name == "n" * 5_000


def test_a_file_that_begins_with_rubbish_is_still_recognised(tmp_path: Path) -> None:
    records = read(tmp_path, f"# my memory\n{ALICE}")
    assert len(entities(records)) == len(aside(records)) == 1


def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    import os
    import threading

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    thread = threading.Thread(target=pipe.write_text, args=[f"{ALICE}\n{KNOWS}\n"])
    thread.start()
    try:
        (reading,) = formats.read(pipe)
        assert len(list(reading.records)) == 2
    finally:
        thread.join(timeout=10)


@pytest.mark.parametrize(
    ("data", "code", "says"),
    [
        (b"", "empty_file", "empty"),
        (b"\xef\xbb\xbf \r\n", "empty_file", "empty"),
        (b"SQLite format 3\x00rest", "binary_file", "--db"),
        (b"PK\x03\x04rest", "binary_file", "Unpack"),
        (b"\x1f\x8brest", "binary_file", "gunzip"),
        (b"\x7fELF\x00\x00", "binary_file", "NUL"),
        (ALICE.encode("utf-16-le"), "binary_file", "UTF-16"),
        (b'{"name":"pkg","version":"1.0","type":"module"}', "unrecognised_format", "name, version"),
        (b'[{"a":1},{"b":2}]', "unrecognised_format", "MCP memory"),
        (b"just some words\nand more\n", "unrecognised_format", "just some words"),
        (b"\xff\xfe\x00\x00", "empty_file", "empty"),
    ],
)
def test_what_is_no_memory_file_is_refused_with_advice(
    tmp_path: Path, data: bytes, code: str, says: str
) -> None:
    file = tmp_path / "file"
    file.write_bytes(data)
    with pytest.raises(Invalid) as caught:
        formats.read(file)
    assert caught.value.code == code
    assert says in str(caught.value)


def test_a_folder_without_a_readable_file_says_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n")
    with pytest.raises(Invalid, match="MCP memory") as caught:
        formats.read(tmp_path)
    assert caught.value.code == "nothing_readable"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="check the path") as caught:
        formats.read(tmp_path / "none.jsonl")
    assert caught.value.code == "no_such_file"


def test_every_file_is_looked_at_before_one_is_read(tmp_path: Path) -> None:
    good = tmp_path / "good.jsonl"
    good.write_text(ALICE)
    with pytest.raises(Invalid):
        formats.read(good, tmp_path / "none.jsonl")


def test_a_format_is_recognised_from_first_bytes() -> None:
    assert formats.recognise(ALICE.encode()) == "mcp"
    assert formats.recognise(b"name,type\n") == "csv"


def test_thousands_of_broken_lines_cost_no_more_than_reading_them(tmp_path: Path) -> None:
    records = read(tmp_path, ALICE + "\n" + '{"open\n' * 20_000 + KNOWS)
    assert len(entities(records)) == len(relations(records)) == 1
    assert "".join(piece.text for piece in aside(records)).count('{"open') == 20_000


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(json_values | st.binary().map(lambda b: b.decode("latin-1")), max_size=8))
def test_no_input_raises_and_every_good_record_is_found(values: list[object]) -> None:
    import tempfile

    lines = [v if isinstance(v, str) else json.dumps(v) for v in values]
    with tempfile.TemporaryDirectory() as folder:
        text = "\n".join([ALICE, *lines, KNOWS]).encode("utf-8", "surrogatepass")
        records = read(Path(folder), text)
    assert entities(records)[0] == EntityRecord(1, "Alice", "person", ("Likes tea",))


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        with suppress(Invalid):
            for reading in formats.read(file.name):
                list(reading.records)


@given(st.text(alphabet='{}[]",:\\ \nabtypentiyam', max_size=200))
def test_any_rubbish_in_a_document_leaves_the_reader_standing(text: str) -> None:
    import tempfile

    for start in ('{"entities":[' + ALICE + ",", "[" + ALICE, ALICE + "\n"):
        with tempfile.TemporaryDirectory() as folder:
            records = read(Path(folder), start + text)
        assert entities(records)[0].name == "Alice"
