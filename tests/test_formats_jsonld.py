"""JSON-LD comes in with its context, nothing is fetched, and all of it goes back."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from enfold.errors import Invalid
from enfold.formats import jsonld
from enfold.formats.source import HEAD, Source, opened
from enfold.model import EntityRecord, IdentityRecord, Note, Record, RelationRecord
from tests import records as made
from tests.records import aside, bare, kept
from tests.test_formats_graphml import Endless

DATA = Path(__file__).parent / "data"


def read(data: Any) -> list[Record]:
    if not isinstance(data, (str, bytes)):
        data = json.dumps(data)
    whole = data.encode() if isinstance(data, str) else data
    return list(jsonld.read(Source("graph.jsonld", whole[:HEAD], io.BytesIO(whole))))


def written(records: list[Any]) -> str:
    return "".join(jsonld.lines(made.again(records)))


def entities(found: list[Record]) -> list[EntityRecord]:
    return kept(found, EntityRecord)


def relations(found: list[Record]) -> list[RelationRecord]:
    return kept(found, RelationRecord)


# ---- going out and coming in again ----

KNOWS = "http://xmlns.com/foaf/0.1/knows"
hard = st.text(st.characters(), max_size=8) | st.sampled_from(
    ["\0", "\ud800", "@type", "@id", "a:b", "_:b0", "http://a/b", "urn:enfold:name:A", "label:x"]
)
names = st.sampled_from(["A", "B", "http://a/b#c"]) | hard
keys = st.sampled_from(
    [
        *("iri", "@type", "@language", "@id", "@value", "label", "http://schema.org/name", KNOWS),
        *(
            "http://schema.org/url",
            "http://www.w3.org/2000/01/rdf-schema#label",
            "urn:enfold:exact",
        ),
        *("http://schema.org/address", "http://www.w3.org/2002/07/owl#sameAs", ""),
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#subject",
    ]
)
values = (
    made.values
    | hard
    | st.sampled_from(
        [
            *(KNOWS, ["http://a/T"], ["http://a/T", "http://www.w3.org/2002/07/owl#Thing"]),
            *({"@id": "http://a/b"}, {"@value": "x", "@language": "de"}, {"A": "de"}, {"A": "DE"}),
            {"@value": "x", "@type": "http://a/T"},
            {"@type": ["http://a/T"], "http://a/p": [{"@value": 1}]},
            [{"@value": "x", "@language": "de"}, 1],
            *([None], [1], [[1, 2]], -0.0, 10**30, 1e300, {"@list": []}, {"@value": None}),
        ]
    )
)
attributes = st.dictionaries(keys | hard, values, max_size=4)
ids = st.none() | names
hard_graphs = made.graphs_of(
    names,
    hard,
    aliases=names,
    predicates=st.sampled_from(["knows", "related to"]) | names,
    attributes=attributes,
    relation_attributes=attributes | st.just({}) | st.just({"iri": KNOWS}),
)


def shown(records: list[Any]) -> list[str]:
    """Records as texts: 1, 1.0 and True are three, and the order of keys is none."""
    return [
        f"{replace(r, attributes={})!r} {json.dumps(r.attributes, sort_keys=True)}"
        if isinstance(r, (EntityRecord, RelationRecord))
        else repr(r)
        for r in bare(records)
    ]


@given(hard_graphs | made.graphs)
@settings(max_examples=100, deadline=None)
@example([EntityRecord(0, "A", foreign_id="1"), EntityRecord(0, "A", foreign_id="2")])
@example([RelationRecord(0, "A", "r", "B"), RelationRecord(0, "A", "r", "B", text="x")] * 2)
def test_every_record_comes_back_as_it_went_out_and_in_its_order(records: list[Any]) -> None:
    assert shown(read(written(records))) == shown(records)


@given(hard_graphs)
@settings(max_examples=50, deadline=None)
def test_the_same_records_make_the_same_file(records: list[Any]) -> None:
    assert written(records) == written(list(records))
    json.loads(written(records))


# ---- what others write ----

EX = "http://example.org/"
CONTEXT = {
    "ex": EX,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
}


def test_what_rdflib_writes_is_read_and_goes_back() -> None:
    text = (DATA / "rdflib.jsonld").read_text(encoding="utf-8")
    found = read(text)
    ibm, other, ada = entities(found)
    assert (ibm.name, ibm.type, ibm.aliases, ibm.observations, ibm.foreign_id) == (
        "IBM",
        "Organization",
        ("Big Blue",),
        ("Makes mainframes.",),
        EX + "ibm",
    )
    assert ibm.attributes["http://schema.org/numberOfEmployees"] == 270000
    assert (other.name, other.foreign_id) == ("IBM", EX + "ibm2")
    assert (ada.name, ada.type) == ("Ada", "Person")
    assert bare(relations(found)) == [
        RelationRecord(
            0,
            "IBM",
            "employee",
            "Ada",
            attributes={"iri": "http://schema.org/employee"},
            subject_id=EX + "ibm",
            object_id=EX + "ada",
        )
    ]
    assert bare(kept(found, IdentityRecord)) == [
        IdentityRecord(0, "IBM", "IBM", False, EX + "ibm", EX + "ibm2"),
        IdentityRecord(
            0,
            "IBM",
            "http://www.wikidata.org/entity/Q37156",
            True,
            EX + "ibm",
            "http://www.wikidata.org/entity/Q37156",
        ),
    ]
    back = written(bare(found))
    assert shown(read(back)) == shown(bare(found))
    assert {frozenset(said) for said in triples(back)} == {
        frozenset(said) for said in triples(text)
    }


def triples(text: str) -> list[tuple[str, str, str]]:
    """What a document says, without the labels' rank and the vocabulary of the texts."""
    from pyld import jsonld as standard  # type: ignore[import-untyped]

    found = []
    for node in standard.expand(json.loads(text)):
        for key, values in node.items():
            if key.startswith("@"):
                continue
            iri = key.replace("http://xmlns.com/foaf/0.1/name", CONTEXT["rdfs"] + "label")
            found += [(node["@id"], iri, json.dumps(one, sort_keys=True)) for one in values]
    return found


@pytest.mark.parametrize(
    ("context", "node", "expected"),
    [
        ({"@vocab": CONTEXT["rdfs"]}, {"@id": EX + "1", "label": "Ada"},
         EntityRecord(0, "Ada", foreign_id=EX + "1")),
        ({"label": "rdfs:label"}, {"@id": "ex:1", "label": "Ada"},
         EntityRecord(0, "Ada", foreign_id=EX + "1")),
        ({"@base": EX, "name": "rdfs:label", "id": "@id"}, {"id": "1", "name": "Ada"},
         EntityRecord(0, "Ada", foreign_id=EX + "1")),
        ({}, {"@id": "ex:1", "rdfs:label": "Ada", "skos:altLabel": ["A.", "Countess"]},
         EntityRecord(0, "Ada", aliases=("A.", "Countess"), foreign_id=EX + "1")),
        ({"alt": {"@id": "skos:altLabel", "@container": "@set"}},
         {"@id": "ex:1", "rdfs:label": "Ada", "alt": ["A."]},
         EntityRecord(0, "Ada", aliases=("A.",), foreign_id=EX + "1")),
        ({"alt": {"@id": "skos:altLabel", "@container": "@list"}},
         {"@id": "ex:1", "rdfs:label": "Ada", "alt": ["B.", "A."]},
         EntityRecord(0, "Ada", aliases=("B.", "A."), foreign_id=EX + "1")),
        ({}, {"@id": "ex:1", "rdfs:label": "Ada", "rdfs:comment": "A countess.", "@type": "ex:P"},
         EntityRecord(0, "Ada", "P", ("A countess.",), foreign_id=EX + "1",
                      attributes={"@type": [EX + "P"]})),
        ({}, {"@id": "ex:1", "rdfs:label": "Ada", "@type": ["owl:Thing", "ex:P"]},
         EntityRecord(0, "Ada", "P", foreign_id=EX + "1",
                      attributes={"@type": [CONTEXT["owl"] + "Thing", EX + "P"]})),
        ({}, {"@id": "_:b0", "rdfs:label": "Ada", "ex:born": 1815, "ex:nick": ["a", "b"]},
         EntityRecord(0, "Ada", attributes={EX + "born": 1815, EX + "nick": ["a", "b"]})),
        ({}, {"@id": "ex:ada%20l", "ex:born": 1815},
         EntityRecord(0, "ada l", foreign_id=EX + "ada%20l", attributes={EX + "born": 1815})),
        ({}, {"@id": "ex:1", "rdfs:label": "Ada", "not mapped": "kept", "@type": "Person"},
         EntityRecord(0, "Ada", "Person", foreign_id=EX + "1", attributes={"not mapped": "kept"})),
        ({}, {"rdfs:label": "Ada", "ex:home": {"ex:street": "Elm", "@type": "ex:Place"}},
         EntityRecord(0, "Ada", attributes={
             EX + "home": {"@type": [EX + "Place"], EX + "street": [{"@value": "Elm"}]}})),
        ({}, {"rdfs:label": "Ada", "rdfs:seeAlso": {"@id": "ex:page"}},
         EntityRecord(0, "Ada", attributes={CONTEXT["rdfs"] + "seeAlso": {"@id": EX + "page"}})),
        ({"j": {"@id": "ex:j", "@type": "@json"}}, {"rdfs:label": "Ada", "j": {"a": [None]}},
         EntityRecord(0, "Ada", attributes={EX + "j": {"a": [None]}})),
        ({}, {"rdfs:label": 7, "@id": "ex:1"},
         EntityRecord(0, "1", foreign_id=EX + "1", attributes={CONTEXT["rdfs"] + "label": 7})),
    ],
)  # fmt: skip
def test_a_thing_is_read_as_its_context_means_it(
    context: dict[str, Any], node: dict[str, Any], expected: EntityRecord
) -> None:
    whole = CONTEXT | context
    for document in (
        {"@context": whole, "@graph": [node]},
        {"@context": whole, "@graph": node},
        {"@context": whole} | node,
        [{"@context": whole} | node],
        {"@graph": [node], "@context": whole},
    ):
        assert shown(read(document)) == shown([expected])


@pytest.mark.parametrize(
    ("context", "labels", "name", "aliases"),
    [
        ({}, [("Köln", "de"), ("Cologne", "en")], "Cologne", {"Köln"}),
        ({"@language": "de"}, [("Köln", "de"), ("Cologne", "en")], "Köln", {"Cologne"}),
        ({}, [("Köln", "de"), ("Cologne", "en-GB")], "Cologne", {"Köln"}),
        ({}, [("Köln", "de"), ("Keulen", "nl")], "Köln", {"Keulen"}),
        ({"@language": "fr"}, [("Köln", "de"), ("Cologne", "en")], "Cologne", {"Köln"}),
    ],
)
def test_the_documents_language_or_english_is_the_name(
    context: dict[str, Any], labels: list[tuple[str, str]], name: str, aliases: set[str]
) -> None:
    said = [{"@value": text, "@language": tag} for text, tag in labels]
    found = read({"@context": CONTEXT | context, "@id": "ex:1", "rdfs:label": said})
    (entity,) = entities(found)
    assert (entity.name, set(entity.aliases)) == (name, aliases)
    back = json.loads(written(bare(found)))["@graph"][0]
    tagged = {one["@value"]: one["@language"] for one in (back["label"], back["altLabel"])}
    assert tagged == {text: tag.lower() for text, tag in labels}


def test_a_surer_label_is_the_name_and_the_others_are_aliases() -> None:
    node = {"@id": "ex:1", "rdfs:label": "ada", "skos:prefLabel": "Ada", "skos:altLabel": "A."}
    (entity,) = entities(read({"@context": CONTEXT} | node))
    assert (entity.name, entity.aliases) == ("Ada", ("ada", "A."))


def test_relations_lead_to_things_that_are_told_later_within_or_not_at_all() -> None:
    found = read(
        {
            "@context": CONTEXT | {"madeBy": {"@reverse": "ex:made"}},
            "@graph": [
                {"@id": "ex:1", "rdfs:label": "Ada", "ex:knows": {"@id": "ex:2"}},
                {"@id": "ex:1", "ex:wrote": [{"rdfs:label": "Notes"}, {"@id": "ex:lost_note"}]},
                {"@id": "ex:2", "rdfs:label": "Bob", "ex:likes": {"@list": [{"@id": "ex:1"}]}},
                {"@id": "ex:3", "rdfs:label": "Tea", "madeBy": {"@id": "ex:2"}},
            ],
        }
    )
    assert [e.name for e in entities(found)] == ["Ada", "Notes", "Bob", "Tea"]
    said = [(r.subject, r.predicate, r.object, r.object_id) for r in relations(found)]
    assert said == [
        ("Ada", "knows", "Bob", EX + "2"),
        ("Ada", "wrote", "Notes", None),
        ("Ada", "wrote", "lost_note", EX + "lost_note"),
        ("Bob", "likes", "Ada", EX + "1"),
        ("Bob", "made", "Tea", EX + "3"),
    ]


def test_a_statement_about_a_relation_is_that_relation_once() -> None:
    statement = {
        "@id": "ex:s",
        "@type": "rdf:Statement",
        "rdf:subject": {"@id": "ex:1"},
        "rdf:predicate": {"@id": "ex:knows"},
        "rdf:object": {"@id": "ex:2"},
        "rdfs:comment": "They met in 1833.",
        "ex:since": 1833,
    }
    plain = {"@id": "ex:1", "rdfs:label": "Ada", "ex:knows": {"@id": "ex:2"}}
    for graph in ([plain, statement], [statement, plain]):
        (relation,) = relations(read({"@context": CONTEXT, "@graph": graph}))
        assert relation.text == "They met in 1833."
        assert relation.attributes == {"iri": EX + "knows", EX + "since": 1833}


def test_several_documents_may_stand_in_one_file() -> None:
    one = {"@context": CONTEXT, "@id": "ex:1", "rdfs:label": "Ada"}
    other = {"@context": {"name": "http://schema.org/name"}, "@id": EX + "2", "name": "Bob"}
    for text in (json.dumps(one) + "\n" + json.dumps(other), json.dumps([one, other])):
        assert [e.name for e in entities(read(text))] == ["Ada", "Bob"]


# ---- contexts that are elsewhere ----


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize(
    ("context", "label"),
    [
        ("https://schema.org", "name"),
        ("http://schema.org/", "name"),
        ("https://www.schema.org/docs/jsonldcontext.jsonld", "name"),
        (["https://schema.org", {"@language": "en"}], "name"),
        ("http://www.w3.org/2004/02/skos/core#", "prefLabel"),
        ("http://xmlns.com/foaf/0.1/", "name"),
        ("http://www.w3.org/2000/01/rdf-schema", "label"),
        ("http://purl.org/dc/terms/", "title"),
    ],
)
def test_a_known_vocabulary_is_told_by_its_address(context: Any, label: str) -> None:
    (entity,) = entities(read({"@context": context, "@id": EX + "1", label: "Ada"}))
    assert (entity.name, entity.foreign_id) == ("Ada", EX + "1")


@pytest.mark.usefixtures("offline")
def test_schema_org_is_read_as_web_pages_use_it() -> None:
    found = read(
        {
            "@context": "https://schema.org",
            "@type": "Organization",
            "@id": "https://example.org/#org",
            "name": "Example",
            "alternateName": "Ex",
            "url": "https://example.org",
            "sameAs": ["https://www.wikidata.org/wiki/Q1", "https://example.com"],
            "address": {"@type": "PostalAddress", "addressLocality": "Berlin"},
            "founder": {"@type": "Person", "name": "Ada"},
        }
    )
    example, ada = entities(found)
    assert (example.name, example.type, example.aliases) == ("Example", "Organization", ("Ex",))
    assert example.attributes["http://schema.org/url"] == {"@id": "https://example.org"}
    assert len(example.attributes["http://schema.org/sameAs"]) == 2
    assert (ada.name, ada.foreign_id) == ("Ada", None)
    assert [(r.subject, r.predicate, r.object) for r in relations(found)] == [
        ("Example", "founder", "Ada")
    ]
    assert shown(read(written(bare(found)))) == shown(bare(found))


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize(
    "context",
    [
        "https://example.org/context.jsonld",
        "context.jsonld",
        "file:///etc/passwd",
        ["https://schema.org", "https://example.org/c"],
        {"@import": "https://example.org/c"},
    ],
)
def test_another_context_is_refused_with_what_to_do(context: Any) -> None:
    with pytest.raises(Invalid, match="nothing is fetched") as refused:
        read({"@context": context, "@graph": []})
    assert refused.value.code == "remote_context"
    assert "Put that context into the file" in str(refused.value)


@pytest.mark.usefixtures("offline")
def test_a_context_elsewhere_inside_one_thing_costs_that_thing() -> None:
    good = {"@id": "ex:1", "rdfs:label": "Ada"}
    bad = {"@id": "ex:2", "@context": "https://example.org/c", "name": "Bob"}
    found = read({"@context": CONTEXT, "@graph": [good, bad, good | {"@id": "ex:3"}]})
    assert [e.foreign_id for e in entities(found)] == [EX + "1", EX + "3"]
    (piece,) = aside(found)
    assert "nothing is fetched" in piece.reason


@pytest.mark.parametrize(
    "context",
    [
        {"a": "b:x", "b": "a:y"},
        {"@vocab": 5},
        {"a": {"@id": "http://a/", "@container": "@what"}},
        7,
        {f"t{at}": f"t{at + 1}:x" for at in range(3000)},
    ],
)
def test_a_context_that_can_not_be_used_is_refused(context: Any) -> None:
    with pytest.raises(Invalid) as refused:
        read({"@context": context, "@graph": [{"@id": "http://a/1"}]})
    assert refused.value.code == "bad_context"


# ---- bad files ----


def test_a_broken_thing_costs_itself_alone() -> None:
    good = '{"@id": "ex:%s", "rdfs:label": "N%s"}'
    bad = [
        '{"@id": 5, "rdfs:label": "A"}',
        '{"@id": "ex:x", "@type": {"a": 1}}',
        '{"@value": "x"}',
        '"text"',
        "[]",
        '{"ex:born": 1815}',
        '{"@id": "ex:x", "rdfs:label": ' + "[" * 150 + "]" * 150 + "}",
    ]
    parts = [part for at, one in enumerate(bad) for part in (good % (at, at), one)]
    text = f'{{"@context": {json.dumps(CONTEXT)}, "@graph": [\n' + ",\n".join(parts) + "\n]}"
    found = read(text)
    assert [e.name for e in entities(found)] == [f"N{at}" for at in range(len(bad))]
    assert sorted(piece.line for piece in aside(found)) == [3 + 2 * at for at in range(len(bad))]


def test_a_file_cut_off_anywhere_keeps_what_is_whole() -> None:
    text = written(
        [EntityRecord(0, f"N{at}", observations=("x",)) for at in range(3)]
        + [RelationRecord(0, "N0", "r", "N1", text="t")]
    ).encode()
    for cut in range(text.index(b"@graph") + 12, len(text) - 4, 5):
        found = read(text[:cut])
        assert [e.name for e in entities(found)] == [f"N{at}" for at in range(len(entities(found)))]
        assert aside(found)


@pytest.mark.parametrize("exact", ["[]", "{", '{"name": 5}', '{"set": 1}', '{"x": 1}', "1"])
def test_what_stands_beside_in_another_form_is_left_out_with_a_note(exact: str) -> None:
    node = {"@id": "ex:1", "rdfs:label": "Ada", "urn:enfold:exact": exact}
    found = read({"@context": CONTEXT} | node)
    assert [e.name for e in entities(found)] == ["Ada"]
    assert len(kept(found, Note)) == 1


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ('{"@context": {}}', True),
        ('\ufeff [\n {"a": {"@x": 1}, "@id": "x"}]', True),
        ('{"a": [1, {"b": "c"}], "@graph": [', True),
        ('{"name": "@context: x", "b": "\\"@id\\": 1"}', False),
        ('{"a": {"@id": "x"}}', False),
        ('{"type": "entity"}\n{"@id": 1}', False),
        ("@id: x", False),
        ("<x/>", False),
        ("", False),
    ],
)
def test_linked_data_is_told_by_its_first_object(head: str, expected: bool) -> None:
    assert jsonld.recognises(head.encode()) is expected


def test_a_large_graph_is_read_in_bounded_memory() -> None:
    def parts() -> Iterator[str]:
        yield '{"@context": {"label": "http://www.w3.org/2000/01/rdf-schema#label"}, "@graph": ['
        for _ in range(4_000):
            yield '{"@id": "http://a/1", "label": "' + "x" * 4_000 + '"},\n'
        yield "{}]}"

    stream = io.BufferedReader(Endless(parts()))
    tracemalloc.start()
    try:
        assert (
            sum(isinstance(r, EntityRecord) for r in jsonld.read(Source("g", b"", stream))) == 4_000
        )
        assert tracemalloc.get_traced_memory()[1] < 8 * 1024 * 1024  # the file has sixteen
    finally:
        tracemalloc.stop()


def test_several_things_of_one_name_stay_several() -> None:
    records: list[Record] = [
        EntityRecord(0, "Zen", "theme", foreign_id="1"),
        EntityRecord(0, "Zen", "plugin", foreign_id="2"),
        RelationRecord(0, "Zen", "styles", "Nobody", 0.5, subject_id="2"),
        IdentityRecord(0, "Zen", "Zen", False, "1", "2", "A theme and a plugin."),
    ]
    text = written(records)
    assert bare(read(text)) == records
    assert '"@id": "urn:enfold:id:2"' in text


def test_nothing_that_is_written_has_to_be_fetched() -> None:
    document = json.loads(written([EntityRecord(0, "A"), RelationRecord(0, "A", "r", "B")]))
    context = document["@context"]
    assert all(isinstance(term, (str, dict)) for term in context.values())
    assert context.keys().isdisjoint({"@import", "@base", "@vocab"})


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    records: list[Any] = [EntityRecord(0, "Zoë\r\n\u2028")]
    (tmp_path / "out").write_bytes(written(records).encode())
    with opened(tmp_path / "out") as file:
        assert bare(jsonld.read(file)) == records
