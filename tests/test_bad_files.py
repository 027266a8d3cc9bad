"""Bad files of every format, as the command line meets them.

Whatever is in a file, `import` and `scan` end with a sentence and the exit code of a file that
can't be read, or they set the bad pieces aside and take the rest; and a refused file leaves
everything as it was.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from typer.testing import CliRunner

import enfold
from enfold import formats
from enfold.cli.commands import app
from enfold.errors import Invalid
from enfold.formats.source import HEAD
from tests.told import told

MIB: Final = 1024 * 1024
POSIX = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")

CONTEXT: Final = {
    "name": "http://schema.org/name",
    "description": "http://schema.org/description",
    "knows": {"@id": "http://schema.org/knows", "@type": "@id"},
    "sameAs": {"@id": "http://www.w3.org/2002/07/owl#sameAs", "@type": "@id"},
}
KEYS: Final = (
    '<key id="d" for="all" attr.name="description" attr.type="string"/>'
    '<key id="j" for="all" attr.name="beside" attr.type="string" enfold.type="json"/>'
    '<key id="e" for="all" attr.name="enfold" attr.type="string"/>'
)

Put = bytes | dict[str, bytes]
"""The bytes of a file, or of each file of a folder."""


# ---- a file of each format, as its text and as a value in it ------------------------------------


def mcp(text: str) -> bytes:
    lines = (
        {"type": "entity", "name": "Zoë", "entityType": "person", "observations": [text]},
        {"type": "entity", "name": "Acme", "entityType": "firm", "observations": []},
        {"type": "relation", "from": "Zoë", "to": "Acme", "relationType": "works at"},
    )
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


def document(text: str) -> bytes:
    entities = [{"name": "Zoë", "observations": [text]}, {"name": "Acme", "observations": ["x"]}]
    relations = [{"from": "Zoë", "to": "Acme", "relationType": "works at"}]
    whole = {"entities": entities, "relations": relations}
    return json.dumps(whole, ensure_ascii=False, indent=1).encode()


def csv(text: str) -> bytes:
    return f'name,type,description\nZoë,person,"{text}"\nAcme,firm,x\n'.encode()


def own_csv(text: str) -> bytes:
    rows = f'entity,Zoë,person,,,,,\nobservation,Zoë,,"{text}",,,,\n'
    return f"record,name,type,text,relation,target,confidence,beside\n{rows}".encode()


def graphml(text: str, inside: str = "") -> bytes:
    nodes = f'<node id="Zoë"><data key="d">{text}</data></node>\n<node id="Acme"/>'
    edge = '<edge source="Zoë" target="Acme"/>'
    return f"<graphml>{KEYS}<graph>\n{nodes}\n{inside}\n{edge}\n</graph></graphml>\n".encode()


def linked(text: str) -> bytes:
    things = [
        {"@id": "http://a/z", "name": "Zoë", "description": text, "knows": "http://a/a"},
        {"@id": "http://a/a", "name": "Acme"},
    ]
    whole = {"@context": CONTEXT, "@graph": things}
    return json.dumps(whole, ensure_ascii=False, indent=1).encode()


def graphrag_csv(text: str) -> bytes:
    return (
        f'id,title,type,description,text_unit_ids\n1,Zoë,person,"{text}",[]\n2,A,x,y,[]\n'.encode()
    )


def neo4j_csv(text: str) -> bytes:
    return f':ID,name,description,:LABEL\n1,Zoë,"{text}",Person\n2,Acme,x,Firm\n'.encode()


def neo4j_dump(text: str) -> bytes:
    things = [
        {
            "type": "node",
            "id": "1",
            "labels": ["P"],
            "properties": {"name": "Zoë", "summary": text},
        },
        {"type": "node", "id": "2", "labels": ["F"], "properties": {"name": "Acme"}},
    ]
    link = {
        **{"type": "relationship", "id": "3", "label": "AT"},
        **{"start": {"id": "1"}, "end": {"id": "2"}},
    }
    lines = (json.dumps(one, ensure_ascii=False) + "\n" for one in (*things, link))
    return "".join(lines).encode()


def mem0(text: str) -> bytes:
    memories = [
        {"id": str(at), "memory": said, "user_id": "Zoë"} for at, said in enumerate((text, "x"))
    ]
    return json.dumps({"results": memories, "relations": []}, ensure_ascii=False, indent=1).encode()


def vault(text: str) -> bytes:
    return f"---\ntype: person\n---\n{text} [[Acme]]\n".encode()


TEXTS: Final[dict[str, Callable[[str], bytes]]] = {
    "mcp": mcp,
    "mcp document": document,
    "csv": csv,
    "csv own": own_csv,
    "graphml": graphml,
    "jsonld": linked,
    "graphrag": graphrag_csv,
    "neo4j": neo4j_csv,
    "neo4j dump": neo4j_dump,
    "mem0": mem0,
    "obsidian": vault,
}
"""How a text stands in a file of each format that is text."""

TABLES: Final = ("csv", "csv own", "graphrag", "neo4j")
"""Those of them in which a cut in the last cell can't be seen."""


def parquet(folder: Path, rows: list[dict[str, Any]]) -> bytes:
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    pq.write_table(pa.Table.from_pylist(rows), folder / "made")
    made = (folder / "made").read_bytes()
    (folder / "made").unlink()
    return made


# ---- what the command makes of it ---------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    code: int
    said: str
    made: list[dict[str, Any]]

    @property
    def set_aside(self) -> list[str]:
        return [piece["reason"] for one in self.made for piece in one["set_aside"]]

    @property
    def notes(self) -> list[str]:
        return [piece["reason"] for one in self.made for piece in one["notes"]]

    @property
    def seen(self) -> bool:
        """Whether the file was refused, or something of it told."""
        return self.code != 0 or bool(self.set_aside or self.notes)


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("settled") / "enfold.db"
    with enfold.open(path) as graph:
        told(graph, "Ada met Bo.", mentions=["Ada", "Bo"])
    return path


@pytest.fixture
def here(tmp_path: Path, settled: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a graph in it, from where the command is called."""
    shutil.copy(settled, tmp_path / "enfold.db")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(folder: Path, content: Put, name: str = "file") -> Path:
    place = folder / name
    if isinstance(content, bytes):
        place.write_bytes(content)
        return place
    place.mkdir()
    for one, data in content.items():
        (place / one).write_bytes(data)
    return place


def placed(folder: Path, form: str, content: bytes, name: str = "file") -> Path:
    """The file of a format; of a note the folder it lies in."""
    return put(folder, {"Zoë.md": content} if form == "obsidian" else content, name)


def state(folder: Path) -> tuple[object, ...]:
    with enfold.open(folder / "enfold.db", create=False) as graph:
        entities = [(one.id, one.name) for one in graph.entities()]
        counts = graph.summary()
        assert graph.check().clean
    return entities, counts.memories, counts.aliases, sorted(p.name for p in folder.iterdir())


def call(*words: str) -> tuple[int, str, str]:
    """A command and what it said. No bad file is a fault, shows a trace or ends in anything but a
    sentence."""
    result = CliRunner().invoke(app, list(words))
    said = result.stderr
    assert result.exit_code in (0, 5), (words, said[-2_000:])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback" not in said + result.stdout
    if result.exit_code:
        error = json.loads(said)["error"] if "--json" in words else {"message": said}
        said = error["message"].removeprefix("enfold: ").rstrip()
        assert said.endswith((".", ".)", "FILE.")), said[-300:]
    return result.exit_code, said, result.stdout


def outcome(folder: Path, path: Path) -> Outcome:
    """What `import` makes of a file, once `scan` has said the same and left everything as it was;
    so does `import` where it refuses."""
    before = state(folder)
    scanned, _, shown = call("scan", str(path), "--json", "--all")
    assert state(folder) == before
    code, said, text = call("import", str(path), "--json", "--all")
    assert code == scanned
    if code:
        assert state(folder) == before
        return Outcome(code, said, [])
    made = json.loads(text)
    assert len(made) == len(json.loads(shown)["imported"])
    assert state(folder)[3] == before[3]
    return Outcome(code, said, made)


def names(folder: Path) -> set[str]:
    with enfold.open(folder / "enfold.db") as graph:
        return {entity.name for entity in graph.entities(limit=100_000)} - {"Ada", "Bo"}


@pytest.mark.parametrize("form", TEXTS)
def test_a_good_file_is_taken_whole(here: Path, form: str) -> None:
    found = outcome(here, placed(here, form, TEXTS[form]("said")))
    assert (found.code, found.set_aside) == (0, [])
    assert "Zoë" in names(here)


# ---- cut off, or of another encoding ------------------------------------------------------------


@pytest.mark.parametrize("form", TEXTS)
def test_a_file_that_was_cut_off_costs_what_is_missing(here: Path, form: str) -> None:
    whole = TEXTS[form]("said of her")
    chance = random.Random(form)
    for cut in sorted({1, len(whole) // 2, len(whole) - 3, *chance.sample(range(len(whole)), 5)}):
        place = placed(here, form, whole[:cut], f"cut {cut}")
        found = outcome(here, place)
        clean = form in (*TABLES, "obsidian") or whole[cut - 1 : cut] == b"\n"
        assert found.seen or clean, (cut, whole[:cut])
        place.unlink() if place.is_file() else shutil.rmtree(place)
    if form not in TABLES:
        assert names(here) <= {"Zoë", "Acme", "Acm", "Ac", "A"}


@pytest.mark.parametrize("form", TEXTS)
def test_bytes_of_another_encoding_are_not_guessed(here: Path, form: str) -> None:
    latin = TEXTS[form]("said of Zoë").decode().encode("latin-1")
    found = outcome(here, placed(here, form, latin))
    assert found.seen
    assert not any("Ã" in name or "�" in name for name in names(here))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("form", TEXTS)
def test_utf_16_without_its_mark_is_seen(here: Path, form: str, encoding: str) -> None:
    found = outcome(here, placed(here, form, TEXTS[form]("said").decode().encode(encoding)))
    assert found.seen
    assert names(here) <= {"Zoë"}  # a note has its name from its file


# ---- nothing in it, or nothing that is known ----------------------------------------------------


@pytest.mark.parametrize("content", [b"", b" \r\n\t\n", b"\xef\xbb\xbf", b"\xff\xfe\n\x00"])
def test_an_empty_file_is_refused(here: Path, content: bytes) -> None:
    found = outcome(here, put(here, content))
    assert found.code == 5
    assert "is empty" in found.said


@pytest.mark.parametrize(
    "header",
    [
        b"name,type\n",
        b"source,target\n",
        b"record,name,type,text,relation,target,confidence,beside\n",
        b"id,title,type,description,text_unit_ids\n",
        b":ID,name,:LABEL\n",
        b":START_ID,:END_ID,:TYPE\n",
        b'{"entities":[],"relations":[]}\n',
        b'{"@context": {}, "@graph": []}\n',
        b"<graphml><graph/></graphml>\n",
    ],
)
def test_a_table_with_a_header_alone_is_an_empty_graph(here: Path, header: bytes) -> None:
    found = outcome(here, put(here, header))
    assert (found.code, found.set_aside, names(here)) == (0, [], set())


@pytest.mark.parametrize(
    "content",
    [
        b"colour,size\nred,5\n",
        b":LABEL,:TYPE\nx,y\n",
        b"text,n_tokens\nabout,2\n",
        b'{"weather": "fine"}\n',
        b'[{"weather": "fine"}]\n',
        b"<html><body/></html>\n",
        b"<graph/>\n",
        b"left,right,verdict\nA,B,FOLD\n",
        b'# enfold decisions\nsame "A" into "B"\n',
    ],
)
def test_a_file_of_other_columns_is_refused(here: Path, content: bytes) -> None:
    assert outcome(here, put(here, content)).code == 5


@pytest.mark.parametrize("row", [b"A\n", b"A,b,c,d,e,f,g,h,i,j,k\n", b'"A,b\n', b",,,,,,,x\n"])
@pytest.mark.parametrize("form", TABLES)
def test_a_row_that_does_not_fit_costs_itself(here: Path, form: str, row: bytes) -> None:
    found = outcome(
        here, put(here, TEXTS[form]("said") + row + TEXTS[form]("s").splitlines(True)[1])
    )
    assert found.code == 0
    assert found.set_aside
    assert "Zoë" in names(here)


# ---- circles, hubs, depths and sizes ------------------------------------------------------------

CIRCLES: Final[dict[str, Put]] = {
    "mcp": b'{"type":"entity","name":"A","entityType":"x","observations":[],"aliases":["B"]}\n'
    b'{"type":"entity","name":"B","entityType":"x","observations":[],"aliases":["A"]}\n'
    b'{"type":"identity","left":"A","right":"B","same":true}\n'
    b'{"type":"identity","left":"B","right":"A","same":true}\n'
    b'{"type":"identity","left":"A","right":"A","same":false}\n',
    "csv": b"source,target,relation\nA,B,r\nB,C,r\nC,A,r\nA,A,r\n",
    "graphml": b'<graphml><graph><node id="A"><graph><node id="B"/></graph></node>'
    b'<edge source="A" target="B"/><edge source="B" target="A"/><edge source="A" target="A"/>'
    b"</graph></graphml>",
    "jsonld": json.dumps(
        {
            "@context": CONTEXT,
            "@graph": [
                {"@id": "ex:a", "name": "A", "sameAs": ["ex:b", "ex:a"], "knows": "ex:a"},
                {"@id": "ex:b", "name": "B", "sameAs": "ex:c"},
                {"@id": "ex:c", "name": "C", "sameAs": "ex:a"},
            ],
        }
    ).encode(),
    "jsonld context": b'{"@context": {"a": "b:x", "b": "a:x"}, "@graph": [{"@id": "x", "a": "y"}]}',
    "neo4j": b":START_ID,:END_ID,:TYPE\n1,2,R\n2,1,R\n1,1,R\n",
    "obsidian": {"A.md": b"[[B]] [[A]]\n", "B.md": b"---\na: &a [*a]\nb: *b\n---\n[[A]]\n"},
}


@pytest.mark.parametrize("form", CIRCLES)
def test_things_in_a_circle_are_taken_or_told(here: Path, form: str) -> None:
    found = outcome(here, put(here, CIRCLES[form]))
    assert found.code == (5 if form == "jsonld context" else 0)


def hub(form: str, edges: int) -> Iterator[str]:
    """One thing that is linked with as many others."""
    match form:
        case "mcp":
            for at in range(edges):
                yield f'{{"type":"relation","from":"Hub","to":"N{at}","relationType":"r"}}\n'
        case "csv":
            yield "source,target,relation\n"
            for at in range(edges):
                yield f"Hub,N{at},r\n"
        case "graphml":
            yield '<graphml><graph edgedefault="directed">\n'
            for at in range(edges):
                yield f'<edge source="Hub" target="N{at}"/>\n'
            yield "</graph></graphml>\n"
        case "jsonld":
            yield json.dumps({"@context": CONTEXT})[:-1] + ', "@graph": [\n'
            for at in range(edges):
                yield f'{{"@id": "ex:hub", "knows": "ex:N{at}"}},\n'
            yield "{}]}\n"
        case "graphrag":
            yield "source,target,weight,text_unit_ids\n"
            for at in range(edges):
                yield f"Hub,N{at},1,[]\n"
        case "neo4j":
            yield ":START_ID,:END_ID,:TYPE\n"
            for at in range(edges):
                yield f"Hub,N{at},R\n"
        case "obsidian":
            for at in range(edges):
                yield f"[[N{at}]]\n"


@pytest.mark.parametrize(
    "form", ["mcp", "csv", "graphml", "jsonld", "graphrag", "neo4j", "obsidian"]
)
def test_a_hub_of_twenty_thousand_edges_is_taken(here: Path, form: str) -> None:
    edges = 20_000
    place = placed(here, form, "".join(hub(form, edges)).encode(), "hub")
    code, said, text = call("import", str(place), "--json")
    assert code == 0, said
    assert json.loads(text)[0]["facts"] == edges


DEEP: Final[dict[str, bytes]] = {
    "mcp": b'{"type":"entity","name":"A","entityType":"x","observations":[],"deep":%s}\n'
    % (b"[" * 50_000 + b"]" * 50_000),
    "mcp open": b'{"type":"entity","name":"A","entityType":"x","observations":%s\n'
    % (b"[" * 99_999),
    "json": b"[" * 100_000,
    "json objects": b'{"entities":' + b'{"a":' * 50_000,
    "csv beside": b'record,name,beside\nentity,A,"{""a"":%s}"\n' % (b"[" * 900 + b"]" * 900),
    "graphml": b"<graphml><graph>" + b"<node>" * 50_000,
    "graphml data": b'<graphml><graph><node id="A">' + b"<a>" * 50_000 + b"</a>" * 50_000,
    "graphml graphs": b"<graphml>" + b'<graph><node id="A">' * 5_000,
    "graphml json": graphml(
        "x", f'<node id="B"><data key="j">{"[" * 900}{"]" * 900}</data></node>'
    ),
    "graphml enfold": graphml(
        "x",
        f'<node id="B"><data key="e">{{"attributes":{{"a":{"[" * 900}{"]" * 900}}}}}</data></node>',
    ),
    "jsonld": b'{"@context": {}, "@graph": [{"@id": "ex:a", "b": %s}]}'
    % (b'{"b":' * 900 + b"1" + b"}" * 900),
    "jsonld context": b'{"@context": %s}' % (b"[" * 5_000 + b"]" * 5_000),
    "jsonld exact": json.dumps(
        {"@context": {}, "@id": "ex:a", "urn:enfold:exact": '{"attributes":' + "[" * 99_999}
    ).encode(),
    "graphrag": b'id,title,type,text_unit_ids,enfold_more\n1,A,x,"%s","%s"\n'
    % (b"[" * 900 + b"]" * 900, b"[" * 5_000),
    "neo4j": b':ID,name,enfold_more\n1,A,"{""attributes"":%s}"\n' % (b"[" * 5_000),
    "neo4j dump": b'{"type":"node","id":"1","labels":["A"],"properties":%s}\n'
    % (b'{"a":' * 5_000 + b"1" + b"}" * 5_000),
    "mem0": b'{"results":[{"id":"1","memory":"x","user_id":"u","metadata":%s}]}'
    % (b"[" * 5_000 + b"]" * 5_000),
}


@pytest.mark.parametrize("form", DEEP)
def test_what_is_nested_too_deep_is_told(here: Path, form: str) -> None:
    found = outcome(here, put(here, DEEP[form]))
    assert found.seen or form in ("graphml json", "graphrag")  # which leave it the text it is


@pytest.mark.parametrize("yaml", ["a: " + "[" * 50_000, "a: " + "{b: " * 5_000, "- " * 50_000])
def test_front_matter_nested_too_deep_costs_itself(here: Path, yaml: str) -> None:
    found = outcome(here, put(here, {"A.md": f"---\n{yaml}\n---\nSaid of it.\n".encode()}))
    assert (found.code, len(found.notes), names(here)) == (0, 1, {"A"})


@pytest.mark.parametrize("form", TEXTS)
def test_a_value_of_seventeen_mebibytes_is_set_aside(here: Path, form: str) -> None:
    found = outcome(here, placed(here, form, TEXTS[form]("x" * 17 * MIB)))
    assert found.code == 0
    assert found.set_aside
    assert all(len(reason) < 500 for reason in found.set_aside)
    assert (here / "enfold.db").stat().st_size < 2 * MIB


# ---- XML ----------------------------------------------------------------------------------------

BOMB: Final = (
    '<!DOCTYPE graphml [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {outer} "' + f"&{inner};" * 10 + '">'
        for inner, outer in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]>"
)


@pytest.mark.parametrize(
    "doctype",
    [
        BOMB,
        '<!DOCTYPE graphml [<!ENTITY i SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE graphml [<!ENTITY % i SYSTEM "http://127.0.0.1:9/x"> %i;]>',
        '<!DOCTYPE graphml SYSTEM "http://127.0.0.1:9/x.dtd">',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_an_entity_is_neither_expanded_nor_fetched(here: Path, doctype: str, encoding: str) -> None:
    data = f'<?xml version="1.0"?>{doctype}' + graphml("&i;").decode()
    found = outcome(here, put(here, data.encode(encoding)))
    assert found.code == 5
    assert "document type" in found.said


def test_an_entity_that_nobody_declared_costs_its_piece(here: Path) -> None:
    found = outcome(here, put(here, graphml("&i;")))
    assert len(found.set_aside) == 1
    assert names(here) == {"Zoë", "Acme"}  # the one is named by the edge


# ---- Parquet ------------------------------------------------------------------------------------

ROWS: Final = [{"title": f"N{at}", "type": "x", "description": "said " * 20} for at in range(500)]


def test_parquet_that_was_cut_off_is_refused(here: Path) -> None:
    whole = parquet(here, ROWS)
    for cut in (4, 8, 12, len(whole) // 2, len(whole) - 8, len(whole) - 4, len(whole) - 1):
        found = outcome(here, put(here, whole[:cut]))
        assert found.code == 5
        assert "Parquet" in found.said


def test_parquet_that_lies_about_itself_is_refused_or_set_aside(here: Path) -> None:
    whole = parquet(here, ROWS)
    footer = int.from_bytes(whole[-8:-4], "little")
    chance = random.Random(5)
    for at in chance.sample(range(len(whole) - 8 - footer, len(whole) - 4), 40):
        broken = bytearray(whole)
        broken[at] ^= chance.choice((0x01, 0x80, 0xFF))
        outcome(here, put(here, bytes(broken)))


def test_a_broken_page_costs_its_rows_and_no_more(here: Path) -> None:
    whole = bytearray(parquet(here, ROWS))
    whole[20:400] = b"\xff" * 380
    found = outcome(here, put(here, bytes(whole)))
    assert found.seen


def test_parquet_of_other_columns_is_refused(here: Path) -> None:
    assert outcome(here, put(here, parquet(here, [{"colour": "red"}]))).code == 5


def test_a_value_of_seventeen_mebibytes_in_parquet_is_set_aside(here: Path) -> None:
    rows = [{"title": "A", "description": "x" * 17 * MIB}, {"title": "B", "description": "y"}]
    found = outcome(here, put(here, parquet(here, rows)))
    assert (len(found.set_aside), names(here)) == (1, {"B"})


def test_a_broken_table_of_a_folder_is_set_aside(here: Path) -> None:
    whole = parquet(here, ROWS[:3])
    found = outcome(here, put(here, {"a.parquet": whole, "b.parquet": whole[:-9]}))
    assert len(found.set_aside) == 1
    assert names(here) == {"N0", "N1", "N2"}


# ---- garbage ------------------------------------------------------------------------------------

MAGIC: Final = {
    "parquet": b"PAR1",
    "encrypted parquet": b"PARE",
    "graphml": b'<?xml version="1.0"?><graphml><graph>',
    "jsonld": b'{"@context": {}, "@graph": [',
    "mcp": b'{"type":"entity","name":"A","entityType":"x","observations":[]}\n',
    "mcp document": b'{"entities": [',
    "csv": b"name,type\n",
    "csv own": b"record,name,type,text\n",
    "graphrag": b"id,title,type,text_unit_ids\n",
    "neo4j": b":ID,name,:LABEL\n",
    "neo4j dump": b'{"type":"node","id":"1","labels":["A"],"properties":{"name":"B"}}\n',
    "mem0": b'{"results": [{"id": "1", "memory": "x", "user_id": "u"}, ',
    "decisions": b"# enfold decisions\n",
    "sqlite": b"SQLite format 3\x00",
    "zip": b"PK\x03\x04",
    "gzip": b"\x1f\x8b",
    "zstd": b"\x28\xb5\x2f\xfd",
    "utf-8 mark": b"\xef\xbb\xbf",
    "utf-16 mark": b"\xff\xfe",
    "utf-32 mark": b"\xff\xfe\x00\x00",
    "nothing": b"",
}


@pytest.mark.parametrize("kind", MAGIC)
def test_garbage_behind_a_beginning_that_is_known_is_told(here: Path, kind: str) -> None:
    chance = random.Random(kind)
    for garbage in (
        chance.randbytes(20_000),
        bytes(chance.choice(b'\x80\xff{}[]",:<>\n\r\\ab ') for _ in range(20_000)),
    ):
        tail = b"PAR1" if kind == "parquet" else b""
        assert outcome(here, put(here, MAGIC[kind] + garbage + tail)).seen


def test_garbage_among_notes_costs_its_note(here: Path) -> None:
    notes = {"A.md": b"See [[B]].\n", "B.md": random.Random(1).randbytes(9_000), ".obsidian": b""}
    found = outcome(here, put(here, notes))
    assert len(found.set_aside) == 1
    assert names(here) == {"A", "B"}


@pytest.mark.parametrize("form", ["jsonld", "graphml", "mcp", "neo4j dump", "csv own"])
def test_characters_that_no_text_can_hold_are_replaced_and_told(here: Path, form: str) -> None:
    escaped = {
        "jsonld": linked("x").replace(b'"x"', rb'"x\u0000\ud800y"'),
        "graphml": graphml(
            "x", '<node id="B"><data key="e">{"aliases":["\\ud800a"]}</data></node>'
        ),
        "mcp": mcp("x").replace(b'"x"', rb'"x\u0000\ud800y"'),
        "neo4j dump": neo4j_dump("x").replace(b'"x"', rb'"x\u0000\ud800y"'),
        "csv own": b'record,name,beside\nentity,Zo\xc3\xab,"{""a"":""\\ud800""}"\n',
    }
    found = outcome(here, put(here, escaped[form]))
    assert (found.code, len(found.notes), found.set_aside) == (0, 1, [])
    assert "U+FFFD" in found.notes[0]
    assert "Zoë" in names(here)


# ---- folders, pipes, and files that change ------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"LICENSE": b"Do as you like.\n"},
        {".hidden.csv": b"name\nA\n"},
        {"a.png": b"\x89PNG\r\n"},
    ],
)
def test_a_folder_without_a_file_that_is_read_is_refused(
    here: Path, content: dict[str, bytes]
) -> None:
    found = outcome(here, put(here, content))
    assert found.code == 5
    assert "no file in it that is read" in found.said


def test_a_folder_of_folders_is_refused(here: Path) -> None:
    (here / "folder" / "below").mkdir(parents=True)
    assert outcome(here, here / "folder").code == 5


@POSIX
@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_refused(here: Path) -> None:
    (here / "folder").mkdir(mode=0)
    assert outcome(here, here / "folder").code == 5


@POSIX
def test_a_pipe_in_a_folder_is_passed_over(here: Path) -> None:
    place = put(here, {"a.csv": b"name\nZed\n"})
    os.mkfifo(place / "b.csv")
    assert outcome(here, place).code == 0
    assert names(here) == {"Zed"}


@POSIX
@pytest.mark.parametrize(
    "bad", [b"", b"colour\nred\n", b"PAR1 nothing", mcp("x")[:-20], b"\xff\xfeA"]
)
def test_a_pipe_with_a_bad_file_leaves_everything_as_it_was(here: Path, bad: bytes) -> None:
    before = state(here)
    os.mkfifo(pipe := here.parent / f"{here.name}.pipe")
    for word in ("scan", "import"):
        writer = threading.Thread(target=pipe.write_bytes, args=[bad])
        writer.start()
        code, *_ = call(word, str(pipe))
        writer.join(timeout=10)
        if bad.startswith(b"{"):
            assert code == 0  # what is cut off was set aside
        else:
            assert code == 5
            assert state(here) == before


def test_a_file_of_no_use_leaves_no_new_graph_behind(here: Path) -> None:
    place = put(here, b"colour\nred\n")
    code, *_ = call("import", str(place), "--db", "new.db")
    assert (code, (here / "new.db").exists()) == (5, False)


@pytest.mark.parametrize("form", ["mcp", "csv", "graphml", "jsonld", "neo4j dump"])
def test_a_file_that_grows_while_it_is_read_is_read_to_an_end(here: Path, form: str) -> None:
    place = put(here, TEXTS[form]("said") + b"\n" * (2 * HEAD))
    ended = threading.Event()

    def grow() -> None:
        with place.open("ab") as file:
            until = time.monotonic() + 1.0
            while not ended.is_set() and time.monotonic() < until:
                file.write(TEXTS[form]("more"))
                file.flush()
                time.sleep(0.001)

    writer = threading.Thread(target=grow)
    writer.start()
    code, *_ = call("import", str(place), "--json")
    ended.set()
    writer.join(timeout=10)
    assert code == 0
    assert "Zoë" in names(here)


@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize("after", [None, b"", b"colour\nred\n", b"PAR1"])
def test_a_file_that_changes_before_it_is_read_is_refused_or_told(
    here: Path, form: str, after: bytes | None
) -> None:
    place = placed(here, form, TEXTS[form]("said"))
    file = place / "Zoë.md" if form == "obsidian" else place
    (reading,) = formats.read(place)
    file.unlink() if after is None else file.write_bytes(after)
    if form == "obsidian" and after is not None:  # a note may hold anything
        assert list(reading.records)
    else:
        with pytest.raises(Invalid, match=r"\.$"):
            list(reading.records)
