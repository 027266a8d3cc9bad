"""An Obsidian vault: read as a graph, and folded spellings written back into its front matter."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import enfold
from enfold.cli.commands import app
from enfold.errors import Invalid, NotFound, Refused
from enfold.formats import obsidian
from enfold.formats.obsidian import frontmatter
from enfold.formats.obsidian import note as notes
from enfold.formats.obsidian import vault as vaults
from enfold.formats.obsidian.frontmatter import Unreadable
from enfold.model import EntityRecord, Note, Record, RelationRecord, SetAside
from tests.told import told

DATA = Path(__file__).parent / "data" / "vault"


def made(folder: Path, **notes: str | bytes) -> Path:
    """A vault of these notes; ``__`` stands for a slash in a name."""
    folder.mkdir(exist_ok=True)
    (folder / ".obsidian").mkdir(exist_ok=True)
    for name, text in notes.items():
        path = folder / f"{name.replace('__', '/')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def records(folder: Path) -> list[Record]:
    return list(obsidian.read_path(folder))


def note(folder: Path, name: str = "N") -> EntityRecord:
    return next(r for r in records(folder) if isinstance(r, EntityRecord) and r.name == name)


def links(folder: Path) -> list[tuple[str, str, str, str | None]]:
    return [
        (r.subject, r.predicate, r.object, r.object_id)
        for r in records(folder)
        if isinstance(r, RelationRecord)
    ]


def asides(folder: Path) -> list[SetAside]:
    return [r for r in records(folder) if isinstance(r, SetAside)]


# ---- a vault ------------------------------------------------------------------------------------


def test_a_note_is_an_entity_with_what_its_front_matter_says() -> None:
    ada = note(DATA, "Ada Lovelace")
    assert (ada.type, ada.foreign_id) == ("person", "People/Ada Lovelace.md")
    assert ada.aliases == ("Ada", "Countess of Lovelace")
    assert ada.attributes == {
        "tags": ["mathematics", "19th-century"],
        "worked-with": "[[Charles Babbage]]",
        "born": "1815-12-10",
        "mood": "curious",
    }


def test_its_paragraphs_entries_and_code_are_observations_below_their_heading() -> None:
    assert note(DATA, "Ada Lovelace").observations == (
        "Wrote the first program for the [[Analytical Engine|engine]], in "
        "[notes](../Notes%20on%20the%20Engine.md).",
        "Letters: On [[Mercury]], to nobody.\n- in French",
        "Letters: To her mother (about:: [[Analytical Engine#Use]])",
        "Letters:\n```text\n[[No link]] here:: in code\n```",
    )


def test_links_are_relations_of_the_field_they_stand_in() -> None:
    ada = [(p, o, i) for s, p, o, i in links(DATA) if s == "Ada Lovelace"]
    assert ada == [
        ("worked-with", "Charles Babbage", "People/Charles Babbage.md"),
        ("links to", "Analytical Engine", "Analytical Engine.md"),
        ("links to", "Notes on the Engine", "Notes on the Engine.md"),
        ("knows", "Charles Babbage", "People/Charles Babbage.md"),
        ("knows", "Mary Somerville", None),
        ("about", "Analytical Engine", "Analytical Engine.md"),
    ]


def test_words_beside_the_link_of_a_field_are_the_relations_text() -> None:
    (relation,) = (
        r for r in records(DATA) if isinstance(r, RelationRecord) and r.predicate == "uses"
    )
    assert relation.text == "Analytical Engine uses [[Punched card]] from looms"


def test_what_a_link_shows_is_no_alias() -> None:
    engine = note(DATA, "Analytical Engine")
    assert engine.aliases == ()


def test_two_notes_of_one_name_stay_two_and_a_link_to_both_is_linked_to_none() -> None:
    both = [r for r in records(DATA) if isinstance(r, EntityRecord) and r.name == "Mercury"]
    assert [one.foreign_id for one in both] == ["Gods/Mercury.md", "Planets/Mercury.md"]
    assert ("Mercury", "links to", "Mercury", "Gods/Mercury.md") in links(DATA)
    (aside,) = [p for p in asides(DATA) if type(p) is SetAside]
    assert (aside.source, aside.line, aside.text) == ("People/Ada Lovelace.md", 19, "[[Mercury]]")


def test_templates_attachments_and_comments_are_no_notes() -> None:
    text = repr(records(DATA))
    assert "Somebody" not in text
    assert "Herself" not in text
    assert not [one for one in links(DATA) if "png" in one[2]]


def test_broken_front_matter_costs_that_alone() -> None:
    notes = [p for p in asides(DATA) if p.source == "Notes on the Engine.md"]
    assert [type(piece) for piece in notes] == [Note]
    assert notes[0].text == "tags: [unclosed\n"
    assert note(DATA, "Notes on the Engine").observations == (
        "Her notes on the [[Analytical Engine]].",
    )


def test_a_vault_comes_into_a_graph_and_coming_again_changes_nothing(tmp_path: Path) -> None:
    with enfold.open(":memory:") as graph:
        (first,) = graph.import_files(DATA)
        assert (first.format, first.entities) == ("obsidian", 9)
        assert [e.name for e in graph.entities()].count("Mercury") == 2
        assert graph.entity("Babbage").entity.name == "Charles Babbage"
        assert {n.entity.name for n in graph.related("Ada Lovelace").related} >= {
            "Charles Babbage",
            "Analytical Engine",
        }
        (again,) = graph.import_files(DATA)
        assert (again.entities, again.memories, again.facts, again.aliases) == (0, 0, 0, 0)
        assert graph.check().clean


# ---- front matter -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("yaml", "aliases"),
    [
        ("aliases:\n  - A\n  - B b\n", ("A", "B b")),
        ("aliases:\n- A\n- 'it''s'\n- \"q \\\"x\\\"\"\n", ("A", "it's", 'q "x"')),
        ("aliases: [A, 'B', \"C, D\"]\n", ("A", "B", "C, D")),
        ("aliases: A\n", ("A",)),
        ("aliases: A, B , ,C\n", ("A", "B", "C")),
        ('aliases: "A, B"\n', ("A", "B")),
        ("alias: A\n", ("A",)),
        ("Aliases: [A]\nalias: B\n", ("A", "B")),
        ("aliases:\n", ()),
        ("aliases: null\n", ()),
        ("aliases: []\n", ()),
        ("aliases: [2024, 1.0, yes, ~]\n", ("2024", "1.0", "yes")),
        ("aliases: |\n  A\n  B\n", ("A", "B")),
        ("aliases: [A, A]\n", ("A",)),
        ("x: &a [A]\naliases: *a\n", ("A",)),
        ("aliases: [A, [B], {c: d}]\n", ("A",)),
    ],
)
def test_aliases_are_read_in_every_shape(yaml: str, aliases: tuple[str, ...]) -> None:
    assert frontmatter.parse(yaml).aliases == aliases


@pytest.mark.parametrize(
    ("yaml", "why"),
    [
        ("a: [\n", "line"),
        ("- a\n- b\n", "no list of properties"),
        ("just text\n", "no list of properties"),
        ("a: 1\n...\n---\nb: 2\n", "several documents"),
        ("a: " + "[" * 60 + "]" * 60 + "\n", "nested more than"),
        ("a: " + "[" * 100_000 + "\n", "nest"),
        ("a:\n" + "".join(" " * n + "a:\n" for n in range(1, 80)), "nested more than"),
        ("a: [" + "1," * 30_000 + "]\n", "values"),
        (
            "a0: &a0 [x, x]\n"
            + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 29)),
            "repeat too much",
        ),
        ("a: &a [*a]\n", "repeat too much"),
        ("a: !!python/object/apply:os.system [x\n", "line"),
        ("a: \x01\n", "characters are not allowed"),
    ],
)
def test_front_matter_that_can_not_be_read_says_why(yaml: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        frontmatter.parse(yaml)


def test_a_tag_of_the_yaml_runs_nothing() -> None:
    read = frontmatter.parse("a: !!python/object/apply:os.system ['touch x']\nb: !x 5\n")
    assert read.data == {"a": ["touch x"], "b": "5"}


def test_values_are_numbers_truth_nothing_or_text() -> None:
    said = frontmatter.parse(
        "a: 1\nb: -2.5\nc: true\nd: No\ne: ~\nf: '1'\ng: 2020-01-02\nh: 007\ni: .nan\nj: 1e999\n"
        f"k: {'9' * 5000}\nl: {{m: [1, x]}}\n"
    ).data
    assert said == {
        "a": 1,
        "b": -2.5,
        "c": True,
        "d": "No",
        "e": None,
        "f": "1",
        "g": "2020-01-02",
        "h": "007",
        "i": ".nan",
        "j": "1e999",
        "k": "9" * 5000,
        "l": {"m": [1, "x"]},
    }


def test_a_property_given_twice_is_noted_and_the_first_stands(tmp_path: Path) -> None:
    made(tmp_path, N="---\na: 1\na: 2\n---\n")
    assert note(tmp_path).attributes == {"a": 1}
    assert "given twice" in asides(tmp_path)[0].reason


@pytest.mark.parametrize(
    ("text", "observations"),
    [
        ("---\nno end\n", ("no end",)),
        ("---\n---\nx\n", ("x",)),
        ("\ufeff---\r\nalias: A\r\n---\r\nx\r\n", ("x",)),
        (" ---\nalias: A\n---\nx", ("alias: A", "x")),
        ("", ()),
    ],
)
def test_front_matter_stands_at_the_very_beginning_or_is_text(
    tmp_path: Path, text: str, observations: tuple[str, ...]
) -> None:
    made(tmp_path, N=text)
    assert note(tmp_path).observations == observations


# ---- links --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[[B]]", "B"),
        ("[[b]]", "B"),
        ("[[B.md]]", "B"),
        ("[[B|shown]]", "B"),
        ("[[sub/C#heading|shown]]", "C"),
        ("[[C#^block]]", "C"),
        ("![[B]]", "B"),
        ("| [[B\\|shown]] |", "B"),
        ("[x](B.md)", "B"),
        ("[x](sub/C.md#h)", "C"),
        ("[x](<B.md>)", "B"),
        ("[x](With%20blank.md)", "With blank"),
        ("[[B]] and [[B|again]]", "B"),
        ("# [[B]]", "B"),
        ("> quoted [[B]]", "B"),
        ("[[Nowhere]]", "Nowhere"),
        ("[[a/b/Nowhere#x]]", "Nowhere"),
        ("[[Node.js]]", "Node.js"),
        ("[x](https://example.com/B.md)", None),
        ("[x](B.txt)", None),
        ("[[picture.png]]", None),
        ("[[#heading]]", None),
        ("[[N]]", None),
        ("[[]] [[ ]] [[|x]]", None),
        ("`[[B]]`", None),
        ("``a ` [[B]]``", None),
        ("%%[[B]]%%", None),
        ("<!-- [[B]] -->", None),
        ("```\n[[B]]\n```", None),
        ("- x\n  ```\n  [[B]]\n  ```", None),
        ("~~~\n[[B]]", None),
        ("[[unclosed", None),
    ],
)
def test_a_link_leads_to_the_note_it_means(tmp_path: Path, text: str, found: str | None) -> None:
    made(tmp_path, N=text, B="", sub__C="", **{"With blank": ""})
    assert [one[2] for one in links(tmp_path)] == ([] if found is None else [found])


def test_a_link_to_one_of_several_notes_goes_by_its_path_then_by_its_folder(
    tmp_path: Path,
) -> None:
    made(tmp_path, a__M="", b__M="", b__N="[[M]]", N="[[a/M]] [[./b/M]]", c__N="[[../a/M]] [[M]]")
    by_source = [
        (r.subject_id, r.object_id) for r in records(tmp_path) if isinstance(r, RelationRecord)
    ]
    assert by_source == [
        ("N.md", "a/M.md"),
        ("N.md", "b/M.md"),
        ("b/N.md", "b/M.md"),
        ("c/N.md", "a/M.md"),
    ]
    assert [piece.text for piece in asides(tmp_path)] == ["[[M]]"]


def test_a_name_that_differs_in_its_unicode_form_is_the_same_note(tmp_path: Path) -> None:
    made(tmp_path, N="[[caf\u00e9]]", **{"cafe\u0301": ""})
    assert [one[3] for one in links(tmp_path)] == ["cafe\u0301.md"]


@pytest.mark.parametrize(
    ("text", "relations", "attributes"),
    [
        ("uses:: [[B]]", [("uses", "B")], {}),
        ("- uses:: [[B]]", [("uses", "B")], {}),
        ("- [ ] **uses**:: [[B]]", [("uses", "B")], {}),
        ("made by:: [[B]] and [[sub/C]]", [("made by", "B"), ("made by", "C")], {}),
        ("so [uses:: [[B]]] it", [("uses", "B")], {}),
        ("so (uses:: [[B|x]]) it", [("uses", "B")], {}),
        ("mood:: good", [], {"mood": "good"}),
        ("mood:: good\nmood:: bad", [], {"mood": ["good", "bad"]}),
        ("std::vector is [[B]]", [("links to", "B")], {}),
        ("one two three four five six:: [[B]]", [("links to", "B")], {}),
        ("empty::", [], {}),
    ],
)
def test_fields_are_relations_or_properties(
    tmp_path: Path, text: str, relations: list[tuple[str, str]], attributes: dict[str, Any]
) -> None:
    made(tmp_path, N=text, B="", sub__C="")
    assert [one[1:3] for one in links(tmp_path)] == relations
    assert note(tmp_path).attributes == attributes


def test_a_property_keeps_its_text_beside_its_links(tmp_path: Path) -> None:
    made(tmp_path, N='---\nup: ["[[B]]", "[[Gone]]"]\n---\n', B="")
    assert links(tmp_path) == [("N", "up", "B", "B.md"), ("N", "up", "Gone", None)]
    assert note(tmp_path).attributes == {"up": ["[[B]]", "[[Gone]]"]}


# ---- observations -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "observations"),
    [
        ("a\nb\n\nc", ("a\nb", "c")),
        ("a\r\nb\r\n\r\nc", ("a\nb", "c")),
        ("a\rb\r\rc", ("a\nb", "c")),
        ("# N\na\n## H\nb", ("a", "H: b")),
        ("a\n- b\n  - c\n  d\n1. e", ("a", "b\n- c\nd", "e")),
        ("- [ ] b\n- [x] c", ("b", "c")),
        ("[x] is no task", ("[x] is no task",)),
        ("> [!note]+ Title\n> > text", ("Title\ntext",)),
        ("a\n***\nb", ("a", "b")),
        (
            "```py\n# no heading\n\n- no entry\n```\nx",
            ("```py\n# no heading\n\n- no entry\n```", "x"),
        ),
        ("a %%b%% c <!-- d --> `%% e %%`", ("a  c  `%% e %%`",)),
        ("a %%b\n\nc\n%% d", ("a", "d")),
        ("## H ##\n|a|b|\n|-|-|", ("H: |a|b|\n|-|-|",)),
        ("#tag is no heading", ("#tag is no heading",)),
    ],
)
def test_a_text_is_cut_into_what_belongs_together(
    tmp_path: Path, text: str, observations: tuple[str, ...]
) -> None:
    made(tmp_path, N=text)
    assert note(tmp_path).observations == observations


def test_a_long_paragraph_is_cut_and_a_long_block_of_code_is_left_whole(tmp_path: Path) -> None:
    text = " ".join(f"So it goes on, {n} and on." for n in range(1000))
    code = "```\n" + "x = 1\n" * 10_000 + "```"
    made(tmp_path, N=f"{text}\n\n{code}")
    *parts, last = note(tmp_path).observations
    assert last == code
    assert max(map(len, parts)) <= notes.LONGEST
    assert " ".join(parts) == text
    made(tmp_path, N="```\n" + "x" * 200_000 + "\n```\n\ny")
    assert note(tmp_path).observations == ("y",)
    assert "block of code" in asides(tmp_path)[0].reason


# ---- hostile folders ----------------------------------------------------------------------------


def test_no_link_of_the_file_system_is_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    made(outside, Secret="hidden")
    vault = made(tmp_path / "v", N="x", sub__M="y")
    (vault / "out.md").symlink_to(outside / "Secret.md")
    (vault / "away").symlink_to(outside)
    (vault / "sub" / "round").symlink_to(vault)
    read = records(vault)
    assert [r.name for r in read if isinstance(r, EntityRecord)] == ["N", "M"]
    assert sorted(p.text for p in asides(vault)) == ["away", "out.md", "sub/round"]
    assert "hidden" not in repr(read)


def test_what_is_no_readable_note_costs_its_text_alone(tmp_path: Path) -> None:
    vault = made(tmp_path / "v", N="[[Bad]]", Bad=b"a\xff", Wide="h\u00ef".encode("utf-16"))
    made(vault, Nul="a\0b", Half=b"\xff\xfeh\0i")
    os.mkfifo(vault / "Pipe.md")
    with (vault / "Huge.md").open("wb") as huge:
        huge.truncate(17 * 1024 * 1024)
    (vault / "folder.md").mkdir()
    names = {r.name: r for r in records(vault) if isinstance(r, EntityRecord)}
    assert sorted(names) == ["Bad", "Half", "Huge", "N", "Nul", "Wide"]
    assert names["Wide"].observations == ("h\u00ef",)
    assert names["Nul"].observations == ("a\ufffdb",)
    reasons = {p.source: p.reason for p in asides(vault)}
    assert reasons["Bad.md"] == "Byte 2 of the note is not UTF-8."
    assert "at most 16,777,216 are read" in reasons["Huge.md"]
    assert "U+FFFD" in reasons["Nul.md"]
    assert "UTF-16" in reasons["Half.md"]
    assert links(vault) == [("N", "links to", "Bad", "Bad.md")]


def test_a_file_name_that_is_no_text_is_set_aside(tmp_path: Path) -> None:
    vault = made(tmp_path / "v", N="x")
    with open(os.fsencode(vault) + b"/\xff.md", "wb"):
        pass
    assert [p.reason for p in asides(vault)] == ["The file's name is not UTF-8."]


@pytest.mark.parametrize(
    "text",
    [
        "[[" * 500_000,
        "[[a" * 300_000,
        "[[" + "a" * 1_000_000,
        "[[a|" + "b" * 1_000_000,
        "](" * 500_000,
        "](" + " " * 1_000_000,
        "`" * 1_000_000,
        "".join("`" * n + " " for n in range(1, 1400)),
        "<!--" * 250_000,
        "%%" * 499_999 + "%",
        ">" * 1_000_000,
        "> " * 500_000,
        "- " * 500_000,
        "a::" * 300_000,
        "(a:: " * 200_000,
        "#" * 1_000_000,
        "- " + " " * 1_000_000 + "x",
        "* " * 500_000,
        "***" * 300_000 + "x",
        "\t" * 500_000,
        "[[x]]" * 200_000,
    ],
    ids=lambda text: text[:6],
)
def test_a_hostile_line_takes_no_longer_than_its_length(tmp_path: Path, text: str) -> None:
    made(tmp_path, N=text)
    before = time.process_time()
    assert records(tmp_path)
    assert time.process_time() - before < 5


def test_a_note_with_a_hundred_thousand_links_is_read(tmp_path: Path) -> None:
    made(tmp_path, N=" ".join(f"[[n{n}]]" for n in range(100_000)))
    assert sum(isinstance(r, RelationRecord) for r in records(tmp_path)) == 100_000


def test_a_deep_vault_is_walked(tmp_path: Path) -> None:
    deep = tmp_path / "v"
    made(deep, N="x")
    for _ in range(200):
        deep = deep / "d"
        deep.mkdir()
    (deep / "M.md").write_text("[[N]]")
    assert [one[3] for one in links(tmp_path / "v")] == ["N.md"]


def test_a_folder_that_may_not_be_read_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = made(tmp_path / "v", N="x", sub__M="y")
    scan = os.scandir

    def refusing(path: Any) -> Any:
        if str(path).endswith("sub"):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)
    assert [p.reason for p in asides(vault)] == ["The folder can't be read: Permission denied."]


@pytest.mark.parametrize(
    ("notes", "is_one"),
    [
        ({"a": "---\nx: 1\n---\n"}, True),
        ({"a": "plain", "b__c": "a [[link]]"}, True),
        ({"a": "a [link](b.md)"}, True),
        ({"a": "a [link](https://example.com/b.md)"}, False),
        ({"a": "plain"}, False),
    ],
)
def test_a_vault_is_told_by_what_is_in_it(
    tmp_path: Path, notes: dict[str, str], is_one: bool
) -> None:
    made(tmp_path, **notes)
    assert obsidian.recognises_folder(tmp_path)
    (tmp_path / ".obsidian").rmdir()
    assert obsidian.recognises_folder(tmp_path) is is_one


def test_a_folder_without_notes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="holds no Markdown notes"):
        records(made(tmp_path))
    with pytest.raises(Invalid, match="There is no folder"):
        records(tmp_path / "gone")


# ---- aliases put into front matter --------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "add", "after"),
    [
        ("x\n", ["A"], "---\naliases:\n  - A\n---\nx\n"),
        ("", ["A"], "---\naliases:\n  - A\n---\n"),
        ("\ufeffx\r\ny\n", ["A"], "\ufeff---\r\naliases:\r\n  - A\r\n---\r\nx\r\ny\n"),
        ("---\nb: 1 # c\n---\nx", ["A"], "---\nb: 1 # c\naliases:\n  - A\n---\nx"),
        ("---\n# only\n---\nx", ["A"], "---\n# only\naliases:\n  - A\n---\nx"),
        ("---\n---\nx", ["A"], "---\naliases:\n  - A\n---\nx"),
        (
            "---\naliases:\n- B # c\n\n# d\nz: 1\n---\n",
            ["A", "C: d"],
            '---\naliases:\n- B # c\n- A\n- "C: d"\n\n# d\nz: 1\n---\n',
        ),
        (
            "---\r\naliases:\r\n   -  'B'\r\n---\r\n",
            ["A"],
            "---\r\naliases:\r\n   -  'B'\r\n   -  A\r\n---\r\n",
        ),
        ("---\naliases: [B, 'C' ] # d\n---\n", ["A"], "---\naliases: [B, 'C', A ] # d\n---\n"),
        ("---\naliases: [B, ]\n---\n", ["A"], "---\naliases: [B, A, ]\n---\n"),
        ("---\naliases: [\n  B\n  ]\n---\n", ["A"], "---\naliases: [\n  B, A\n  ]\n---\n"),
        ("---\naliases: []\n---\n", ["A", "1"], '---\naliases: [A, "1"]\n---\n'),
        ("---\naliases:  # c\nz: 1\n---\n", ["A"], "---\naliases:  # c\n  - A\nz: 1\n---\n"),
        ("---\naliases: ~\n---\n", ["A"], "---\naliases: [A]\n---\n"),
        ("---\nalias: B\n---\n", ["A"], "---\nalias: [B, A]\n---\n"),
        ("---\naliases: 'B' # c\n---\n", ["A"], "---\naliases: ['B', A] # c\n---\n"),
        ("---\naliases: B, C\n---\n", ["A"], "---\naliases: B, C, A\n---\n"),
        ("---\naliases: 'B, C'\n---\n", ["it's"], "---\naliases: 'B, C, it''s'\n---\n"),
        ('---\naliases: "B, C"\n---\n', ['"'], '---\naliases: "B, C, \\""\n---\n'),
        ("---\n  b: 1\n---\n", ["A"], "---\n  b: 1\n  aliases:\n    - A\n---\n"),
        ("---\nalias: B\naliases: [C]\n---\n", ["A"], "---\nalias: B\naliases: [C, A]\n---\n"),
        ("---\nb: |+\n  text\n\n---\n", ["A"], "---\nb: |+\n  text\n\naliases:\n  - A\n---\n"),
    ],
)
def test_aliases_are_put_in_where_they_belong_and_nothing_else_differs(
    before: str, add: list[str], after: str
) -> None:
    assert frontmatter.with_aliases(before, add) == after


@pytest.mark.parametrize(
    ("before", "add"),
    [
        ("---\nno end\n", ["A"]),
        ("---\n- a list\n---\n", ["A"]),
        ("---\n{a: 1}\n---\n", ["A"]),
        ("---\na: [\n---\n", ["A"]),
        ("---\nx: &x [B]\naliases: *x\n---\n", ["A"]),
        ("---\naliases: &x [B]\n---\n", ["A"]),
        ("---\naliases: {B: C}\n---\n", ["A"]),
        ("---\naliases: |\n  B\n---\n", ["A"]),
        ("---\naliases: B\n  C\n---\n", ["A"]),
        ("---\naliases: B, C\n---\n", ["A, D"]),
        ("---\naliases: B, C\n---\n", ["A: D"]),
        ("---\naliases:\n  - - B\n---\n", ["A"]),
        ("---\n? aliases\n: - B\n---\n", ["A"]),
    ],
)
def test_where_there_is_no_safe_place_a_note_is_left(before: str, add: list[str]) -> None:
    with pytest.raises(Unreadable):
        frontmatter.with_aliases(before, add)


names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(
    lambda name: name == name.strip() and bool(name)
)
pieces = st.sampled_from(
    ["a: 1", "b: 'x'", "c: [1, 2]", "# note", "", "d: |\n  x\n   y", "e:\n  f: g", "tags:\n- t"]
)
shapes = st.sampled_from(
    [
        "aliases:",
        "aliases: []",
        "aliases: [A]",
        "aliases:\n  - A",
        "aliases:\n- A # c",
        "alias: A",
        "aliases: A, B",
        "aliases: 'A'",
        'aliases: "A, B"',
        "aliases: [A,\n  B]",
        "",
    ]
)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60, deadline=None)
@given(
    before=st.lists(pieces, max_size=3, unique=True),
    shape=shapes,
    after=st.lists(pieces, max_size=3, unique=True),
    below=st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    mark=st.sampled_from(["", "\ufeff"]),
    add=st.lists(names, min_size=1, max_size=3, unique=True),
)
def test_whatever_the_note_only_its_aliases_differ(
    before: list[str],
    shape: str,
    after: list[str],
    below: str,
    end: str,
    mark: str,
    add: list[str],
) -> None:
    assume(not set(before) & set(after) - {"", "# note"})
    lines = "\n".join([*before, shape, *after]).split("\n")
    note = mark + end.join(["---", *lines, "---", below])
    said = frontmatter.bounds(note)
    assert said is not None
    old = frontmatter.parse(note[said.start : said.end])
    try:
        changed = frontmatter.with_aliases(note, add)
    except Unreadable:
        return
    found = frontmatter.bounds(changed)
    assert found is not None
    new = frontmatter.parse(changed[found.start : found.end])
    assert set(new.aliases) == {*old.aliases, *add}
    assert new.data == old.data
    assert changed[found.below :] == note[said.below :]
    # Something was put in, and nothing taken out.
    rest = iter(changed)
    assert all(character in rest for character in note)


# ---- a vault that is written --------------------------------------------------------------------


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return made(
        tmp_path / "v",
        Kubernetes="---\naliases: [Kube]\n---\nIt runs [[K8s]].\n",
        K8s="Short.\n",
        sub__Postgres="\ufeff# P\r\nFast.\r\n",
        Docker="Nothing about it.\n",
    )


@pytest.fixture
def db(tmp_path: Path, vault: Path) -> Path:
    path = tmp_path / "g.db"
    with enfold.open(path) as graph:
        graph.import_files(vault)
        graph.merge("K8s", "Kubernetes")
        graph.alias("Postgres", "PostgreSQL, the database")
        graph.alias("Postgres", "pg")
    return path


def bytes_of(vault: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(vault)): path.read_bytes()
        for path in sorted(vault.rglob("*"))
        if path.is_file()
    }


def test_a_preview_writes_nothing(db: Path, vault: Path) -> None:
    before = bytes_of(vault)
    with enfold.open(db) as graph:
        planned = graph.vault(vault)
    assert bytes_of(vault) == before
    assert [(c.note, c.aliases) for c in planned.changes] == [
        ("Kubernetes.md", ("K8s",)),
        ("sub/Postgres.md", ("PostgreSQL, the database", "pg")),
    ]
    assert planned.changes[0].diff == (" ---", "-aliases: [Kube]", "+aliases: [Kube, K8s]", " ---")
    assert not planned.written


def test_only_front_matter_is_written_and_a_second_run_changes_nothing(
    db: Path, vault: Path
) -> None:
    before = bytes_of(vault)
    (vault / "Kubernetes.md").chmod(0o640)
    with enfold.open(db) as graph:
        planned, done = graph.vault(vault), graph.write_vault(vault)
        assert done.changes == planned.changes
        after = bytes_of(vault)
        assert graph.write_vault(vault).changes == ()
    assert bytes_of(vault) == after
    assert {name for name in after if after[name] != before.get(name)} == {
        "Kubernetes.md",
        "sub/Postgres.md",
    }
    assert after["Kubernetes.md"] == b"---\naliases: [Kube, K8s]\n---\nIt runs [[K8s]].\n"
    assert after["sub/Postgres.md"] == (
        b"\xef\xbb\xbf---\r\naliases:\r\n"
        b'  - "PostgreSQL, the database"\r\n  - pg\r\n---\r\n# P\r\nFast.\r\n'
    )
    assert (vault / "Kubernetes.md").stat().st_mode & 0o777 == 0o640


def test_what_was_written_is_read_as_aliases(db: Path, vault: Path) -> None:
    with enfold.open(db) as graph:
        graph.write_vault(vault)
    with enfold.open(":memory:") as anew:
        anew.import_files(vault)
        assert anew.entity("pg").entity.name == "Postgres"


def test_notes_of_absorbed_spellings_stay_and_are_named(db: Path, vault: Path) -> None:
    with enfold.open(db) as graph:
        done = graph.write_vault(vault)
    assert [(s.note, s.others) for s in done.several] == [("Kubernetes.md", ("K8s.md",))]
    assert (vault / "K8s.md").read_text() == "Short.\n"


def test_a_run_is_undone_byte_by_byte(db: Path, vault: Path) -> None:
    before = bytes_of(vault)
    with enfold.open(db) as graph:
        kept = graph.write_vault(vault).kept
        assert kept is not None
        assert Path(kept).parent == db.with_name("g.db.vaults")
        undone = graph.undo_vault(vault)
        assert undone.restored == ("Kubernetes.md", "sub/Postgres.md")
        assert bytes_of(vault) == before
        with pytest.raises(NotFound) as error:
            graph.undo_vault(vault)
        assert error.value.code == "nothing_to_undo"


def test_an_undo_leaves_what_was_edited_since(db: Path, vault: Path) -> None:
    with enfold.open(db) as graph:
        graph.write_vault(vault)
        with (vault / "Kubernetes.md").open("a") as file:
            file.write("More.\n")
        (vault / "sub" / "Postgres.md").unlink()
        undone = graph.undo_vault(vault)
    assert undone.restored == ()
    assert [one.note for one in undone.left] == ["Kubernetes.md", "sub/Postgres.md"]
    assert (vault / "Kubernetes.md").read_text().endswith("More.\n")


def test_a_note_edited_since_it_was_read_is_left(db: Path, vault: Path, tmp_path: Path) -> None:
    with enfold.open(db) as graph:
        planned = graph.vault(vault)
    (vault / "Kubernetes.md").write_text("Edited.\n")
    done = vaults.apply(planned, tmp_path / "kept", "1")
    assert [c.note for c in done.changes] == ["sub/Postgres.md"]
    assert [(one.note, one.reason) for one in done.left] == [
        ("Kubernetes.md", "It was edited since it was read; run the command again.")
    ]
    assert (vault / "Kubernetes.md").read_text() == "Edited.\n"


def test_a_note_edited_while_it_is_written_is_left(
    db: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = shutil.copystat

    def edited(source: Any, target: Any, **options: Any) -> None:
        copy(source, target, **options)
        Path(source).write_text("Edited.\n")

    monkeypatch.setattr(shutil, "copystat", edited)
    with enfold.open(db) as graph:
        done = graph.write_vault(vault)
    assert done.changes == ()
    assert (vault / "Kubernetes.md").read_text() == "Edited.\n"
    assert not list(vault.rglob("*.tmp"))


def test_a_note_that_has_become_something_else_is_left(
    db: Path, vault: Path, tmp_path: Path
) -> None:
    with enfold.open(db) as graph:
        planned = graph.vault(vault)
    outside = tmp_path / "outside"
    shutil.move(vault / "sub", outside)
    (vault / "sub").symlink_to(outside)
    os.link(vault / "Kubernetes.md", tmp_path / "second")
    before = (outside / "Postgres.md").read_bytes()
    done = vaults.apply(planned, tmp_path / "kept", "1")
    assert done.changes == ()
    assert sorted(one.reason for one in done.left) == [
        "A folder above it has become a link.",
        "It has several hard links, which replacing it would part.",
    ]
    assert (outside / "Postgres.md").read_bytes() == before


def test_a_disk_that_fails_leaves_the_note_as_it_was(
    db: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = bytes_of(vault)

    def failing(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", failing)
    with enfold.open(db) as graph:
        done = graph.write_vault(vault)
    assert bytes_of(vault) == before
    assert {one.reason for one in done.left} == {"It can't be written: No space left on device."}


def test_a_graph_of_another_source_finds_notes_by_name(tmp_path: Path) -> None:
    vault = made(tmp_path / "v", Kubernetes="x", a__M="", b__M="")
    with enfold.open(tmp_path / "g.db") as graph:
        told(graph, "K8s is Kubernetes, not M.", mentions=["K8s", "Kubernetes", "M"])
        graph.merge("Kubernetes", "K8s")
        graph.alias("M", "Em")
        planned = graph.vault(vault)
    assert [(c.note, c.aliases) for c in planned.changes] == [("Kubernetes.md", ("K8s",))]
    assert {one.reason for one in planned.left} == {"Several notes have its name."}


def test_front_matter_without_a_safe_place_is_left_with_the_reason(tmp_path: Path) -> None:
    vault = made(tmp_path / "v", N="---\n[broken\n---\nx", M="---\naliases: {a: b}\n---\n")
    with enfold.open(tmp_path / "g.db") as graph:
        graph.import_files(vault)
        graph.alias("N", "En")
        graph.alias("M", "Em")
        before = bytes_of(vault)
        done = graph.write_vault(vault)
    assert bytes_of(vault) == before
    assert [one.note for one in done.left] == ["M.md", "N.md"]
    assert all("Its front matter was left alone" in one.reason for one in done.left)


def test_a_graph_in_memory_has_no_place_for_notes_of_before(vault: Path) -> None:
    with enfold.open(":memory:") as graph, pytest.raises(Refused) as error:
        graph.write_vault(vault)
    assert error.value.code == "no_file"


def test_the_command_shows_writes_and_undoes(db: Path, vault: Path) -> None:
    def run(*words: str) -> Any:
        return CliRunner().invoke(app, ["vault", str(vault), "--db", str(db), *words])

    shown = run()
    assert "+aliases: [Kube, K8s]" in shown.stdout
    assert json.loads(run("--json").stdout)["changes"][0]["note"] == "Kubernetes.md"
    assert "now also: K8s" in run("--write").stdout
    assert "No note lacks" in run().stdout
    assert run("--write", "--undo").exit_code == 2
    assert run("--undo").exit_code == 4
    assert run("--undo", "--yes").exit_code == 0
    assert run("--undo", "--yes").exit_code == 3
