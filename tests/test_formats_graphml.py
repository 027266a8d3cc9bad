"""GraphML comes in as LightRAG, networkx, yEd and Gephi write it, and goes out as they read it."""

from __future__ import annotations

import io
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from enfold.errors import Invalid
from enfold.formats import graphml
from enfold.formats.graphml import xmlpieces
from enfold.formats.source import HEAD, Source, opened
from enfold.model import EntityRecord, IdentityRecord, Note, Record, RelationRecord
from tests import records as made
from tests.records import aside, bare, kept

DATA = Path(__file__).parent / "data"

KEYS = (
    '<key id="d0" for="node" attr.name="label" attr.type="string"/>'
    '<key id="d1" for="node" attr.name="description" attr.type="string"/>'
    '<key id="d2" for="edge" attr.name="relation" attr.type="string"/>'
    '<key id="d3" for="edge" attr.name="weight" attr.type="double"/>'
)


def read(data: str | bytes) -> list[Record]:
    whole = data.encode() if isinstance(data, str) else data
    return list(graphml.read(Source("graph.graphml", whole[:HEAD], io.BytesIO(whole))))


def graph(inside: str, direction: str = "directed", keys: str = KEYS) -> str:
    return f'<graphml>{keys}<graph edgedefault="{direction}">{inside}</graph></graphml>'


def written(records: list[Any]) -> str:
    return "".join(graphml.lines(made.again(records)))


def entities(found: list[Record]) -> list[EntityRecord]:
    return kept(found, EntityRecord)


def relations(found: list[Record]) -> list[RelationRecord]:
    return kept(found, RelationRecord)


# ---- going out and coming in again ----

hard = st.text(st.characters(), max_size=8) | st.sampled_from(
    ["\0", "\ud800", "\uffff", "\x0b", "a<SEP>b", "<SEP>", "]]>", "&amp;", "\r", '"A"', "<b/>", "|"]
)
names = st.sampled_from(["A", "B", "a<SEP>b", '"A"']) | hard
asides = st.dictionaries(
    st.sampled_from(
        [
            *("id", "directed", "weight", "label", "name", "description", "enfold", "entity_id"),
            *("source_id", "keywords", "type", "aliases", "parent", "nodegraphics", "a b", ""),
            *("edgegraphics", "confidence", "source", "target"),
        ]
    )
    | hard,
    made.values
    | hard
    | st.sampled_from(
        [False, "<y:ShapeNode><y:NodeLabel>A</y:NodeLabel></y:ShapeNode>", "<a>", 10**30, -0.0]
    ),
    max_size=4,
)
ids = st.none() | names
hard_graphs = made.graphs_of(
    names,
    hard,
    aliases=hard,
    predicates=st.just("related to") | names,
    attributes=asides,
    relation_attributes=asides | st.just({"directed": False}) | st.just({}),
)


def exact(records: list[Record]) -> Counter[str]:
    """Records that can be counted: 1, 1.0 and True apart, relations of one pair in any order."""
    return Counter(map(repr, bare(records)))


def sorted_keys(record: Any) -> Any:
    if hasattr(record, "attributes"):
        return replace(record, attributes=dict(sorted(record.attributes.items())))
    return record


@given(hard_graphs | made.graphs)
@settings(max_examples=150, deadline=None)
@example([EntityRecord(0, "A", foreign_id="1"), EntityRecord(0, "A", foreign_id="2")])
@example([RelationRecord(0, "A", "related to", "B", text="x", attributes={"directed": False})] * 2)
def test_every_record_comes_back_as_it_went_out(records: list[Any]) -> None:
    back = read(written(records))
    assert exact([sorted_keys(r) for r in back]) == exact([sorted_keys(r) for r in records])
    apart = [r for r in records if not isinstance(r, RelationRecord)]
    assert bare([r for r in back if not isinstance(r, RelationRecord)]) == apart


@given(hard_graphs)
@settings(max_examples=50, deadline=None)
def test_the_same_records_make_the_same_file(records: list[Any]) -> None:
    assert written(records) == written(list(records))


# ---- what others write ----


def data_of(text: str) -> dict[str, dict[str, tuple[str, str]]]:
    """{node id, or ends of an edge: {name: (type, text)}}, as any reader of GraphML sees it."""
    space = "{http://graphml.graphdrawing.org/xmlns}"
    whole = ElementTree.fromstring(text)
    keys = {
        key.get("id", ""): (key.get("attr.name", ""), key.get("attr.type", ""))
        for key in whole.iter(f"{space}key")
    }
    found = {}
    for tag in ("node", "edge"):
        for one in whole.iter(f"{space}{tag}"):
            said = {}
            for data in one.iter(f"{space}data"):
                name, type_ = keys[data.get("key", "")]
                said[name] = (type_, data.text or "")
            found[" ".join(v for k, v in sorted(one.items()) if k != "directed")] = said
    return found


def test_a_lightrag_graph_is_read_with_its_separators() -> None:
    with opened(DATA / "lightrag.graphml") as file:
        found = list(graphml.read(file))
    book = next(e for e in entities(found) if e.name == "IAA Risk Book")
    assert (book.type, book.foreign_id, len(book.observations)) == ("organization", None, 2)
    assert book.attributes["source_id"].count("<SEP>") == 1
    assert not any("<SEP>" in said for e in entities(found) for said in e.observations)
    first, second, third = relations(found)
    assert (first.predicate, first.object, first.attributes["weight"]) == (
        "related to",
        "IAA Risk Book",
        8.0,
    )
    assert second.text is not None
    assert third.text is not None
    assert (second.subject, second.object) == (third.subject, third.object)
    assert third.attributes == {"directed": False}
    assert aside(found) == []


def test_a_lightrag_graph_goes_back_as_it_came() -> None:
    text = (DATA / "lightrag.graphml").read_text(encoding="utf-8")
    back = written(bare(read(text)))
    assert data_of(back) == data_of(text)
    assert '<graph edgedefault="undirected">' in back


def test_relations_that_a_fold_made_parallel_are_one_edge_for_lightrag() -> None:
    beside = {"directed": False, "weight": 2.0, "source_id": "c1", "keywords": "tea"}
    other = {"directed": False, "weight": 1.0, "source_id": "c1<SEP>c2", "keywords": "cake"}
    records: list[Record] = [
        EntityRecord(0, "Ada", attributes={"source_id": "c1"}),
        EntityRecord(0, "Bob", attributes={"source_id": "c1"}),
        RelationRecord(0, "Ada", "related to", "Bob", text="They met.", attributes=beside),
        RelationRecord(0, "Bob", "related to", "Ada", text="They talked.", attributes=other),
    ]
    text = written(records)
    assert data_of(text)["Ada Bob"] | {"enfold": 0} == {
        "description": ("string", "They met.<SEP>They talked."),
        "weight": ("double", "3.0"),
        "source_id": ("string", "c1<SEP>c2"),
        "keywords": ("string", "tea,cake"),
        "file_path": ("string", "unknown_source"),
        "enfold": 0,
    }
    assert data_of(text)["Ada"]["entity_type"] == ("string", "UNKNOWN")
    assert bare(read(text)) == records


def test_a_networkx_graph_keeps_its_types_and_parallel_edges() -> None:
    text = (DATA / "networkx.graphml").read_text(encoding="utf-8")
    found = read(text)
    assert [(e.name, e.foreign_id) for e in entities(found)] == [
        ("Postgres", "1"),
        ("Zoë", "2"),
        ("Redis", None),
    ]
    assert entities(found)[0].attributes == {
        "stars": 7,
        "rate": 0.5,
        "live": True,
        "note": 'a<b & "c"\n',
    }
    assert [(r.predicate, r.subject_id, r.object_id) for r in relations(found)] == [
        ("runs for", "1", "2"),
        ("pays", "1", "2"),
        ("related to", None, "1"),
    ]
    (piece,) = aside(found)
    assert "shop" in piece.text
    back = data_of(written(bare([*entities(found), *relations(found)])))
    assert back.keys() == data_of(text).keys()
    assert back["1"]["stars"] == ("long", "7")


def test_a_yed_graph_is_named_by_its_labels_and_keeps_its_drawing() -> None:
    text = (DATA / "yed.graphml").read_text(encoding="utf-8")
    found = read(text)
    assert [e.name for e in entities(found)] == ["Postgres", "Warehouse", "Shop & Till"]
    assert entities(found)[0].observations == ("Holds the orders.",)
    assert entities(found)[0].attributes["parent"] == "n0"
    (relation,) = relations(found)
    assert (relation.subject, relation.predicate, relation.object) == (
        "Shop & Till",
        "writes to",
        "Postgres",
    )
    assert relation.attributes["sourceport"] == "north"
    assert [piece.text for piece in aside(found)] == ['<port name="north"/>']
    records = bare([*entities(found), *relations(found)])
    back = written(records)
    assert 'yfiles.type="nodegraphics"' in back
    assert '<y:Fill color="#FFCC00" transparent="false"/>' in back
    assert bare(read(back)) == records


GEPHI = (
    '<key attr.name="label" attr.type="string" for="node" id="label"/>'
    '<key attr.name="Edge Label" attr.type="string" for="edge" id="edgelabel"/>'
    '<key attr.name="weight" attr.type="double" for="edge" id="weight"/>'
    '<key attr.name="r" attr.type="int" for="node" id="r"/>'
)


@pytest.mark.parametrize(
    ("keys", "node", "expected"),
    [
        (GEPHI, '<node id="7.0"><data key="label">Ada</data><data key="r">9</data></node>',
         EntityRecord(0, "Ada", foreign_id="7.0", attributes={"r": 9})),
        ("", '<node id="n0" labels=":Person"><data key="labels">:Person</data>'
             '<data key="name">Ada</data></node>',
         EntityRecord(0, "Ada", "Person", foreign_id="n0")),
        ("", '<node id="1"><data key="labelV">person</data><data key="name">Ada</data></node>',
         EntityRecord(0, "Ada", "person", foreign_id="1")),
        ("", '<node id="Ada"/>', EntityRecord(0, "Ada")),
        ("", '<node id="Ada"><data key="label"> </data></node>',
         EntityRecord(0, "Ada", attributes={"label": " "})),
        ("", '<node id="&quot;ADA&quot;"><data key="entity_type">"PERSON"</data></node>',
         EntityRecord(0, "ADA", "PERSON", foreign_id='"ADA"')),
        ("", '<node id="1"><data key="name">\n  Ada\n</data></node>',
         EntityRecord(0, "Ada", foreign_id="1")),
        ("", '<node id="A"><data key="aliases">B|C</data></node>',
         EntityRecord(0, "A", aliases=("B", "C"))),
        ("", '<node id="A"><data key="aliases">["B|C"]</data></node>',
         EntityRecord(0, "A", aliases=("B|C",))),
        ("", '<node id="A"><desc>of a kind</desc></node>',
         EntityRecord(0, "A", attributes={"desc": "of a kind"})),
        ('<key id="k" for="node" attr.name="kind"><default>thing</default></key>',
         '<node id="A"/>', EntityRecord(0, "A", "thing")),
        ('<key id="k" for="node" attr.name="size" attr.type="int"><default>3</default></key>',
         '<node id="A"/>', EntityRecord(0, "A", attributes={"size": 3})),
        ('<key id="k" for="node" attr.name="name"><default>none</default></key>',
         '<node id="A"/>', EntityRecord(0, "A", attributes={"name": "none"})),
    ],
)  # fmt: skip
def test_a_node_is_read_as_its_program_means_it(
    keys: str, node: str, expected: EntityRecord
) -> None:
    assert bare(read(graph(node, keys=keys))) == [expected]


@pytest.mark.parametrize(
    ("type_", "text", "expected"),
    [
        ("int", " 7 ", 7),
        ("long", "-12345678901", -12345678901),
        ("integer", "7.5", "7.5"),
        ("long", "9" * 5000, "9" * 5000),
        ("double", "1e3", 1000.0),
        ("float", "nan", "nan"),
        ("double", "1e999", "1e999"),
        ("boolean", "True", True),
        ("boolean", "0", False),
        ("boolean", "maybe", "maybe"),
        ("string", "7", "7"),
        ("", "", ""),
    ],
)
def test_a_value_has_its_keys_type_or_stays_the_text_it_is(
    type_: str, text: str, expected: Any
) -> None:
    keys = f'<key id="k" for="node" attr.name="v" attr.type="{type_}"/>'
    (entity,) = entities(read(graph(f'<node id="A"><data key="k">{text}</data></node>', keys=keys)))
    assert repr(entity.attributes["v"]) == repr(expected)


def test_ends_are_named_by_their_nodes_wherever_those_stand() -> None:
    node = '<node id="{}"><data key="d0">Ada</data></node>'
    edge = '<edge source="1" target="2"><data key="d2">knows</data></edge>'
    found = read(graph(edge + node.format(1) + node.format(2) + '<edge source="2" target="x"/>'))
    assert bare(relations(found)) == [
        RelationRecord(0, "Ada", "knows", "Ada", subject_id="1", object_id="2"),
        RelationRecord(0, "Ada", "related to", "x", subject_id="2"),
    ]
    assert len(entities(found)) == 2


def test_an_edge_without_a_direction_goes_out_without_one() -> None:
    found = read(graph('<edge source="A" target="B"/>', "undirected"))
    (relation,) = relations(found)
    assert (relation.subject, relation.object) == ("A", "B")
    assert relation.attributes == {"directed": False}
    assert '<graph edgedefault="undirected">' in written(found)


def test_edges_with_and_without_a_direction_stand_in_one_graph() -> None:
    found = read(
        graph('<edge source="A" target="B" directed="false"/><edge source="B" target="A"/>')
    )
    assert [r.attributes for r in relations(found)] == [{"directed": False}, {}]
    text = written(bare(found))
    assert '<graph edgedefault="directed">' in text
    assert bare(read(text)) == bare(found)


def test_what_has_no_place_is_set_aside_with_its_reason() -> None:
    hyper = '<hyperedge><endpoint node="a"/><endpoint node="b"/><endpoint node="c"/></hyperedge>'
    found = read(graph(f'{hyper}<node/><edge source="a"/><node id=" "/><odd/>'))
    assert [(piece.reason[:17], piece.text[:7]) for piece in aside(found)] == [
        ("A hyperedge joins", "<hypere"),
        ("The node has neit", "<node/>"),
        ("The edge lacks on", "<edge s"),
        ("The node has neit", "<node i"),
        ("<odd> is not know", "<odd/>"),
    ]


@pytest.mark.parametrize("own", ["[]", "{", '{"name": 5}', '{"set": 1}', '{"x": 1}', "[1]", "1"])
def test_what_stands_beside_in_another_form_is_left_out_with_a_note(own: str) -> None:
    keys = '<key id="e" for="all" attr.name="enfold" attr.type="string"/>'
    data = f'<data key="e">{own}</data>'
    found = read(graph(f'<node id="A">{data}</node><edge source="A" target="A">{data}</edge>',
                       keys=keys))  # fmt: skip
    assert [e.name for e in entities(found)] == ["A"]
    assert len(relations(found)) == 1
    assert len(kept(found, Note)) == 2


def test_identities_of_another_form_are_set_aside() -> None:
    keys = '<key id="e" for="graph" attr.name="enfold.identities.0" attr.type="string"/>'
    for said in ("{", "[1]", '[{"left": 1, "right": "B", "same": true}]', "5"):
        (piece,) = aside(read(graph(f'<data key="e">{said}</data>', keys=keys)))
        assert piece.text


# ---- bad files ----


def test_a_broken_piece_costs_itself_alone() -> None:
    good = '<node id="{}"><data key="d0">{}</data></node>\n'
    bad = [
        '<node id="x"><data key="d0">A & B</data></node>\n',
        '<node id="x"><data key="d0">a < b</data></node>\n',
        '<node id="x"><data key="d0">&nbsp;</data></node>\n',
        '<node id="x"><data key="d0">&#11;</data></node>\n',
        '<node id="x" id="y"/>\n',
        '<node id="x"><data key="d0">A</node>\n',
        '<node id="x"><data key="d0">A</data>\n',
        "<node id=x></node>\n",
        "<" + "a><" * 200 + "a>\n",
    ]
    parts = [part for at, one in enumerate(bad) for part in (good.format(at, f"N{at}"), one)]
    found = read(graph("\n" + "".join(parts) + good.format("z", "Last")))
    assert [e.name for e in entities(found)] == [f"N{at}" for at in range(len(bad))] + ["Last"]
    assert [piece.line for piece in aside(found)] == [3 + 2 * at for at in range(len(bad))]
    assert [piece.text.splitlines()[0] for piece in aside(found)] == [one.strip() for one in bad]


def test_a_file_cut_off_anywhere_keeps_what_is_whole() -> None:
    text = (DATA / "yed.graphml").read_bytes()
    whole = read(text)
    for cut in range(text.index(b"<graph ") + 40, len(text) - 12, 7):
        found = read(text[:cut])
        names = [e.name for e in entities(found)]
        assert names == [e.name for e in entities(whole)][: len(names)]
        assert aside(found)


BOMB = '<!DOCTYPE g [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    "start",
    [
        BOMB,
        '<!DOCTYPE graphml SYSTEM "file:///etc/passwd">',
        '<!DOCTYPE graphml [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<?xml version="1.0"?><!-- x --><!DOCTYPE graphml>',
    ],
)
def test_a_document_type_is_refused_unread(start: str) -> None:
    text = start + graph('<node id="A"><data key="d0">&b;&x;</data></node>')
    assert graphml.recognises(text.encode())
    with pytest.raises(Invalid, match="document type") as refused:
        read(text)
    assert refused.value.code == "doctype"


def test_another_xml_is_no_graph() -> None:
    with pytest.raises(Invalid, match="no GraphML"):
        read("<html><graphml/></html>")


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("<graphml>", True),
        ("\ufeff  <?xml version='1.0'?>\n<!-- <x> --><graphml xmlns='u'>", True),
        ("<g:graphml xmlns:g='u'>", True),
        ("<!DOCTYPE graphml [<!ENTITY a '>'> ]><graphml>", True),
        ("<gexf>", False),
        ("<!---->" * 9000, False),
        ("<?xml", False),
        ("name,type", False),
        ("graphml", False),
        ("", False),
    ],
)
def test_graphml_is_told_by_its_first_element(head: str, expected: bool) -> None:
    assert graphml.recognises(head.encode()) is expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "iso-8859-1"])
def test_an_encoding_is_told_by_its_mark_or_its_declaration(tmp_path: Path, encoding: str) -> None:
    said = f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?>'
    file = tmp_path / "graph.xml"
    file.write_bytes((said + graph('<node id="Zoë"/>')).encode(encoding))
    with opened(file) as source:
        assert [e.name for e in entities(list(graphml.read(source)))] == ["Zoë"]


def test_an_encoding_that_nobody_knows_is_refused() -> None:
    with pytest.raises(Invalid) as refused:
        read('<?xml version="1.0" encoding="windows-9999"?>' + graph(""))
    assert refused.value.code == "unknown_encoding"


def test_bytes_that_are_no_text_cost_their_piece() -> None:
    good, bad = '<node id="A"/>', '<node id="B"><data key="d0">x\xff</data></node>'
    found = read(graph(good + bad + good.replace("A", "C")).encode("latin-1"))
    assert [e.name for e in entities(found)] == ["A", "C"]
    assert [piece.text[:12] for piece in aside(found)] == ['<node id="B"']


def test_characters_that_no_xml_may_hold_are_read_all_the_same() -> None:
    found = read(graph('<node id="A"><data key="d1">one\x0btwo\x00</data></node>'))
    assert entities(found)[0].observations == ("one\x0btwo\0",)


def test_a_piece_that_is_too_long_is_set_aside_and_the_next_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(xmlpieces, "LINE_LIMIT", 3 * HEAD)
    long = "x" * (9 * HEAD)
    for inside in (
        f'<node id="big"><data key="d0">{long}</data></node>',
        f'<node id="{long}"/>',
        f"<!-- {long} -->",
    ):
        found = read(graph(f'<node id="A"/>{inside}\n<node id="B"/>'))
        assert [e.name for e in entities(found)] == ["A", "B"]
        (piece,) = aside(found)
        assert "more than" in piece.reason
        assert len(piece.text) <= xmlpieces.SHOWN_BYTES


class Endless(io.RawIOBase):
    """A file that is made while it is read."""

    def __init__(self, parts: Iterator[str]) -> None:
        self._parts, self._ready = parts, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while len(self._ready) < len(buffer) and (part := next(self._parts, "")):
            self._ready += part.encode()
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size


def test_a_hub_of_many_edges_is_read_in_bounded_memory() -> None:
    def parts() -> Iterator[str]:
        yield f'<graphml>{KEYS}<graph edgedefault="directed"><node id="hub"/>'
        for _ in range(30_000):
            yield '<edge source="hub" target="hub"><data key="d2">is near</data></edge>\n'
        yield "</graph></graphml>"

    stream = io.BufferedReader(Endless(parts()))
    tracemalloc.start()
    try:
        found = sum(1 for _ in graphml.read(Source("hub", b"<graphml>", stream)))
        assert found == 30_001
        assert tracemalloc.get_traced_memory()[1] < 4 * 1024 * 1024
    finally:
        tracemalloc.stop()


def test_names_that_can_be_no_ids_are_kept_apart() -> None:
    records: list[Record] = [
        EntityRecord(0, "Zen", "theme", foreign_id="1"),
        EntityRecord(0, "Zen", "plugin", foreign_id="2"),
        EntityRecord(0, " "),
        EntityRecord(0, "\0"),
        RelationRecord(0, "Zen", "styles", "Nobody", subject_id="2"),
        IdentityRecord(0, "Zen", "Zen", False, "1", "2", "A theme and a plugin."),
    ]
    text = written(records)
    assert bare(read(text)) == records
    assert text.count("<node ") == 5


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    records: list[Any] = [EntityRecord(0, "Zoë\r\n")]
    (tmp_path / "out").write_bytes(written(records).encode())
    with opened(tmp_path / "out") as file:
        assert bare(graphml.read(file)) == records
