"""Faults that users of other memory graphs reported, each as the kind of fault it is: the reported
input, and others of its shape in other words and scripts.

A row below is one report; the number stands again at the test, with the project and the issue.

Covered here
    names of one letter run   B001 B004 B009 B025 B037 B062 B064 B072 B076 B092 B122 B123 B131
    asked, not folded         B017 B023 B024 B039 B041 B046 B049 B102 B103 B105 B120 B127
    never taken for one       B043 B069 B075 B077 B078 B079 B082 B083 B106
    types and homonyms        B013 B019 B101 B117 B124 B130
    edges                     B003 B007 B010 B011 B042 B052 B056 B058 B088 B111
    folds as a whole          B027 B086 B090 B094
    aliases and undoing       B029 B071 B089 B100 B115 B116 B118
    import                    B055 B097 B098 B113
    length and size           B006 B018 B032 B033 B034 B099
    lookup                    B126
    settings                  B040
    several writers           B005 B015 B036 B054 B109 B110 B129
Covered elsewhere
    B040 (a setting that is none) test_cli; B042 also test_folds and test_intake; B074 test_related;
    B099 (every lookup by an index) test_store; B027 (a kill halfway) test_guard.
Left for verbs that do not exist yet
    B022, B047, B081 two entities of one key and a scope of a name (a split); B008 a predicate that
    is the same in both directions; B038 memories that contradict (beliefs); B064 labels of areas
    (a taxonomy); B109 a judge; B118 one card for a cluster.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import enfold
from enfold import (
    Ambiguous,
    ConflictError,
    Entity,
    Found,
    Graph,
    Imported,
    Invalid,
    Name,
    NotFound,
    Refused,
    Unknown,
)
from tests.told import told


@pytest.fixture
def graph() -> Iterator[Graph]:
    with enfold.open(":memory:") as made:
        yield made


def mention(graph: Graph, *names: str | Name, times: int = 1) -> None:
    for _ in range(times):
        told(graph, "Something was said.", mentions=names)


def people(*spellings: str) -> list[Name]:
    return [Name.of(spelling, "person") for spelling in spellings]


def known(graph: Graph, name: str) -> Entity:
    found = graph.find(name)
    assert isinstance(found, Found), found
    return found.entity


def names(graph: Graph) -> set[str]:
    return {entity.name for entity in graph.entities(limit=10_000)}


def asked(graph: Graph) -> set[frozenset[str]]:
    return {frozenset((c.queued_name, c.candidate_name)) for c in graph.conflicts()}


def pairs(*spellings: str) -> set[frozenset[str]]:
    """Pairs written as ``left | right``."""
    return {frozenset(pair.split(" | ")) for pair in spellings}


def outcome(left: str | Name, right: str | Name) -> str:
    """What becomes of two names that are mentioned and settled, whichever comes first."""
    seen = set()
    for first, second in ((left, right), (right, left)):
        with enfold.open(":memory:") as graph:
            mention(graph, first)
            mention(graph, second)
            graph.resolve()
            one = len(graph.entities()) == 1
            seen.add("one" if one else "asked" if graph.conflicts() else "apart")
    (what,) = seen
    return what


def written(graph: Graph) -> str:
    """The export, but for the decision that a revert leaves."""
    return "".join(line for line in graph.export() if '"type":"identity"' not in line)


Take = Callable[..., Imported]


@pytest.fixture
def take(graph: Graph, tmp_path: Path) -> Take:
    """Imports records (or a text as it is) into the graph."""

    def imported(*records: object, text: str = "", into: Graph | None = None) -> Imported:
        path = tmp_path / "memory.jsonl"
        path.write_text(text or "".join(f"{json.dumps(r)}\n" for r in records), encoding="utf-8")
        (done,) = (into or graph).import_files(path)
        return done

    return imported


def entity(name: str, *observations: str, **more: object) -> dict[str, object]:
    return {"type": "entity", "name": name, "observations": observations, **more}


def relation(subject: str, predicate: str, target: str, **more: object) -> dict[str, object]:
    return {
        "type": "relation",
        "from": subject,
        "to": target,
        "relationType": predicate,
        **more,
    }


# ---- one name, however it is written ------------------------------------------------------------


@pytest.mark.parametrize("name", ["DGIA", "Go", "R", "AI", "C#", "ФСБ", "ΕΕ", "東京", "김", "संघ"])
def test_short_acronyms_are_one_entity_however_often_they_come(graph: Graph, name: str) -> None:
    """B001 (getzep/graphiti#1734), B025 (HKUDS/LightRAG#485)."""
    for _ in range(4):
        mention(graph, Name.of(name, "organization"))
        graph.resolve()
    assert [(e.name, e.mentions) for e in graph.entities()] == [(name, 4)]
    assert graph.merges() == []


@pytest.mark.parametrize(
    ("there", "new", "more"),
    [
        (["Allemagne", "TPE", "PME"], ["Italie", "Allemagne", "PME"], {"Italie"}),
        (["Köln", "GmbH", "AG"], ["KÖLN", "AG", "KG"], {"KG"}),
        (["Москва", "ООО"], ["москва", "ОАО", "ООО"], {"ОАО"}),
        (["東京", "大阪"], ["京都", "東京"], {"京都"}),
    ],
)
def test_names_that_are_there_are_known_again_and_the_others_are_new(
    graph: Graph, there: list[str], new: list[str], more: set[str]
) -> None:
    """B004 (getzep/graphiti#760)."""
    mention(graph, *there)
    mention(graph, *new)
    assert graph.resolve().merged == 0
    assert names(graph) == {*there} | more


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("스코프랩스", "스코프 랩스"),
        ("山田太郎", "山田 太郎"),
        ("Ромашка", "РОМАШКА"),
        ("Αθήνα-Πειραιάς", "αθήνα πειραιάς"),
        ("बेंगलुरु मेट्रो", "बेंगलुरु-मेट्रो"),
        ("محطة الرياض", "محطة-الرياض"),
        ("กรุงเทพ มหานคร", "กรุงเทพมหานคร"),
    ],
)
def test_spacing_and_case_fold_in_every_script(left: str, right: str) -> None:
    """B009 (getzep/graphiti PR#1850)."""
    assert outcome(Name.of(left, "organization"), Name.of(right, "organization")) == "one"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("김민수", "김민석"),
        ("田中一郎", "田中二郎"),
        ("李明", "李红"),
        ("محمد", "محمود"),
        ("Отдел 5", "Кабинет 5"),
        ("東京, Japan", "大阪, Japan"),
        ("Москва, Russia", "Казань, Russia"),
        ("서울, Korea", "부산, Korea"),
        ("दिल्ली, India", "मुंबई, India"),
    ],
)
def test_what_is_left_in_latin_letters_is_not_the_name(left: str, right: str) -> None:
    """B009 (getzep/graphiti PR#1850), B092 (FalkorDB/GraphRAG-SDK PR#323)."""
    assert outcome(*people(left, right)) == "apart"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("（中国）银行", "(中国) 银行"),
        ("GB／T 1", "GB/T 1"),
        ("ＡＢＣ商事", "ABC商事"),
        ("「東京」駅", "東京駅"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("중국－은행", "중국-은행"),
        ("GBJ57—83", "GBJ57-83"),
        ("ﬁle server", "file server"),
    ],
)
def test_width_brackets_and_dashes_make_no_second_entity(left: str, right: str) -> None:
    """B037 (HKUDS/LightRAG PR#1360)."""
    assert outcome(left, right) == "one"


@pytest.mark.parametrize(
    ("composed", "decomposed"),
    [
        ("Zo\u00eb.md", "Zoe\u0308.md"),
        ("Vi\u1ec7t Nam", "Vie\u0323\u0302t Nam"),
        ("\ud55c\uae00", "\u1112\u1161\u11ab\u1100\u1173\u11af"),
        ("\u304c\u3063\u3053\u3046", "\u304b\u3099\u3063\u3053\u3046"),
        ("\u0419од", "\u0418\u0306од"),
        ("\u03ac\u03bb\u03c6\u03b1", "\u03b1\u0301\u03bb\u03c6\u03b1"),
        ("\u212bngström", "\u00c5ngstro\u0308m"),
    ],
)
def test_composed_and_decomposed_letters_are_one_row(
    graph: Graph, composed: str, decomposed: str
) -> None:
    """B062 (basicmachines-co/basic-memory#1275)."""
    assert composed != decomposed
    mention(graph, composed)
    mention(graph, decomposed)
    assert [e.mentions for e in graph.entities()] == [2]
    assert known(graph, decomposed) == known(graph, composed)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("MyService", "myservice"),
        ("Finance/x", "finance/x"),
        ("STRASSE", "Straße"),
        ("İSTANBUL", "istanbul"),
        ("ΣΊΣΥΦΟΣ", "Σίσυφος"),
        ("Ромашка", "РОМАШКА"),
        ("Systems thinking", "Systems Thinking"),
        ("github", "GitHub"),
    ],
)
def test_case_makes_one_row_and_no_pair_that_could_not_be_folded(
    graph: Graph, left: str, right: str
) -> None:
    """B076 (scrypster/muninndb#549), B064 (basicmachines-co/basic-memory#169), B123
    (raphaelmansuy/edgequake#202)."""
    mention(graph, left)
    mention(graph, right)
    scanned = graph.preview()
    assert (scanned.entities, scanned.folds, scanned.questions) == (1, (), ())
    report = graph.resolve()
    assert (report.merged, report.queued, report.deferred) == (0, 0, 0)
    with pytest.raises(Refused, match="one entity already"):
        graph.merge(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("O'Brien", "OBrien"),
        ("O’Neill", "O'Neill"),
        ("D’Angelo", "DAngelo"),
        ("Git Hub", "GitHub"),
        ("Claude-Code", "claude_code"),
        ("Кот-д’Ивуар", "Кот д'Ивуар"),
    ],
)
def test_apostrophes_and_hyphens_fold_and_a_revert_gives_both_names_back(
    graph: Graph, left: str, right: str
) -> None:
    """B131 (jaylfc/taosmd#106)."""
    mention(graph, left, times=2)
    mention(graph, right)
    before = written(graph)
    (merge_id,) = graph.resolve().merge_ids
    shown = graph.entity(right)
    assert (shown.entity.name, shown.aliases) == (left, (right,))
    graph.revert(merge_id)
    assert written(graph) == before
    assert graph.resolve(full=True).merged == 0


@pytest.mark.parametrize(
    ("left", "right"),
    [("Hazard", "Hazards"), ("Katze", "Katzen"), ("Embedding", "Embeddings"), ("Chien", "Chiens")],
)
def test_a_plural_is_asked_about(left: str, right: str) -> None:
    """B123 (raphaelmansuy/edgequake#202)."""
    assert outcome(left, right) == "asked"


@pytest.mark.parametrize(
    "spelling",
    ["Acme\nCorp", "Acme\tCorp", " Acme \r\n  Corp ", "Acme\u00a0Corp", "Ac\u200bme\u2003Corp\x00"],
)
def test_blanks_in_a_name_are_one_blank(graph: Graph, spelling: str) -> None:
    """B072 (vectorize-io/hindsight#3275)."""
    mention(graph, spelling)
    mention(graph, "Acme Corp")
    assert [(e.name, e.mentions) for e in graph.entities()] == [("Acme Corp", 2)]


BLANKS = ["", "   ", "  \n ", "\t", "\u3000", "\u200b\u2060", "\x1f\x7f", "\x00"]


@pytest.mark.parametrize("blank", BLANKS, ids=ascii)
def test_a_blank_name_is_refused_and_nothing_of_its_memory_is_kept(
    graph: Graph, blank: str
) -> None:
    """B072 (vectorize-io/hindsight#3275), B122 (HKUDS/Vibe-Trading#110), B010."""
    with pytest.raises(Invalid):
        told(graph, "Something was said.", mentions=["Acme", blank])
    with pytest.raises(Invalid):
        told(graph, "Something was said.", facts=[("Acme", "knows", blank)])
    assert (graph.summary().entities, graph.summary().memories) == (0, 0)


@pytest.mark.parametrize(
    "blank",
    [
        *BLANKS[:-1],
    ],
    ids=ascii,
)
def test_a_record_with_a_blank_name_is_set_aside(graph: Graph, take: Take, blank: str) -> None:
    """B072 (vectorize-io/hindsight#3275), B122 (HKUDS/Vibe-Trading#110)."""
    done = take(entity(blank, "An observation."), relation("Acme", "knows", blank), entity("Acme"))
    assert (done.entities, len(done.set_aside)) == (1, 2)
    assert names(graph) == {"Acme"}


def test_names_without_a_letter_are_themselves_and_match_nothing(graph: Graph) -> None:
    """B122 (HKUDS/Vibe-Trading#110)."""
    spellings = ["🚀", "🎯", "🚀🚀", "!!!", "???", "—", "。", "★"]
    for spelling in spellings:
        mention(graph, spelling)
        mention(graph, spelling)
    report = graph.resolve()
    assert (report.merged, report.queued) == (0, 0)
    assert {(e.name, e.mentions) for e in graph.entities()} == {(s, 2) for s in spellings}


# ---- asked, never folded ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("girlfriend", "girlfriend (Mia)"),
        ("brother", "brother (Tom)"),
        ("мама", "мама (Анна)"),
        ("jefe", "jefe (Luis)"),
    ],
)
def test_a_described_person_and_the_bare_noun_are_asked_about(left: str, right: str) -> None:
    """B017 (mem0ai/mem0#3341)."""
    assert outcome(*people(left, right)) == "asked"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Jane Q. Public", "Jane Public"),
        ("J. Public", "Jane Public"),
        ("Jürgen K. Meyer", "Jürgen Meyer"),
        ("Анна П. Иванова", "Анна Иванова"),
        ("Dr. Jane Public", "Jane Public"),
        ("James Bucky Barnes", "Bucky Barnes"),
        ("James Bucky Barnes", "James Buchanan Bucky Barnes"),
        ("Bucky Barnes", "James Buchanan Bucky Barnes"),
    ],
)
def test_initials_and_middle_names_are_asked_about(left: str, right: str) -> None:
    """B024 (HKUDS/LightRAG#1631), B046 (neo4j-labs/llm-graph-builder#912)."""
    assert outcome(*people(left, right)) == "asked"


@pytest.mark.parametrize(
    ("full", "bare"),
    [
        ("Артём Соколов", "Артём"),
        ("Νίκος Παπαδόπουλος", "Νίκος"),
        ("김민수", "민수"),
        ("محمد علي", "محمد"),
        ("יוסי כהן", "יוסי"),
        ("राम शर्मा", "राम"),
        ("Zoë Kravitz", "Zoë"),
    ],
)
def test_a_first_name_after_the_full_one_is_asked_about_in_any_script(full: str, bare: str) -> None:
    """B105 (inite-ai/inite-brain-service PR#622)."""
    assert outcome(*people(full, bare)) == "asked"


@pytest.mark.parametrize(
    "spellings",
    [
        ("Sherlock Holmes", "Sherlock", "Mr. Holmes", "Holmes"),
        ("Anna Karenina", "Anna", "Mrs. Karenina", "Karenina"),
        ("Артём Соколов", "Артём", "Соколов"),
    ],
)
def test_partial_names_of_a_person_are_asked_about_and_never_folded(
    graph: Graph, spellings: tuple[str, ...]
) -> None:
    """B039 (microsoft/graphrag#401)."""
    mention(graph, *people(*spellings))
    for full in (False, True):
        assert graph.resolve(full=full).merged == 0
    whole = spellings[0]
    assert names(graph) == {*spellings}
    assert asked(graph) >= {frozenset((whole, part)) for part in spellings[1:]}


@pytest.mark.parametrize(
    ("bare", "full"),
    [
        ("Sam", ("Sam Ash", "Sam Birch")),
        ("Li", ("Li Wei", "Li Na")),
        ("Артём", ("Артём Соколов", "Артём Волков")),
    ],
)
def test_a_bare_first_name_that_fits_two_goes_to_neither_and_is_asked_about_once(
    graph: Graph, bare: str, full: tuple[str, str]
) -> None:
    """B103 (garrytan/gbrain#2723)."""
    mention(graph, *people(*full))
    for _ in range(20):
        mention(graph, *people(bare))
        graph.resolve()
    assert known(graph, bare).mentions == 20
    assert [known(graph, name).mentions for name in full] == [1, 1]
    assert asked(graph) == {frozenset((bare, name)) for name in full}
    assert graph.summary().deferred == 0


def test_one_generic_word_in_common_is_no_evidence(graph: Graph) -> None:
    """B103 (garrytan/gbrain#2723)."""
    words = "Ruby Cast North Bain Sequoia Granite Harbor Willow".split()
    spellings = [f"{word} Capital" for word in words] + [f"{word}資本" for word in "紅藍緑黒"]
    mention(graph, *(Name.of(spelling, "organization") for spelling in spellings))
    report = graph.resolve()
    assert (report.merged, report.queued, report.deferred) == (0, 0, 0)


@pytest.mark.parametrize(
    ("left", "right", "what"),
    [
        ("U.S.A.", "USA", "one"),
        ("AT&T", "ATT", "one"),
        ("С.С.С.Р.", "СССР", "one"),
        ("NYC", "New York City", "asked"),
        ("ООН", "Организация Объединённых Наций", "asked"),
        ("OMS", "Organisation mondiale de la santé", "asked"),
        ("MWX", "Market Wide Exchange", "apart"),
        ("K8s", "Kubernetes", "asked"),
    ],
)
def test_dots_fold_and_initials_are_asked_about(left: str, right: str, what: str) -> None:
    """B049 (topoteretes/cognee PR#3534), B041 (microsoft/graphrag#1562)."""
    assert outcome(left, right) == what


@pytest.mark.parametrize(
    ("short", "long"),
    [("IT", "Information Technology"), ("HR", "Human Resources"), ("ИИ", "Машинный разум")],
)
def test_what_no_rule_proposes_a_person_can_fold(graph: Graph, short: str, long: str) -> None:
    """B041 (microsoft/graphrag#1562), B120 (infiniflow/ragflow#9814)."""
    mention(graph, short, long)
    graph.resolve()
    merge = graph.merge(short, long)
    assert (merge.rule, known(graph, short).name) == ("declared-same", long)
    assert graph.resolve(full=True).merged == 0


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Industrial Research", "Industrial Research Ltd"),
        ("Nova Labs", "Nova Labs GmbH"),
        ("Ромашка", "ООО Ромашка"),
        ("株式会社トヨタ自動車", "トヨタ自動車"),
        ("㈱トヨタ自動車", "トヨタ自動車"),
        ("주식회사 삼성전자", "삼성전자"),
        ("华为技术有限公司", "华为技术"),
        ("North Bank", "North Bank Holdings"),
        ("DDM Solutions", "DDM Solutions Limited"),
    ],
)
def test_a_company_form_is_asked_about_in_any_script(left: str, right: str) -> None:
    """B120 (infiniflow/ragflow#9814), B127 (margince/margince PR#2852), B117."""
    assert outcome(Name.of(left, "organization"), Name.of(right, "organization")) == "asked"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("주식회사 삼성전자", "주식회사 현대자동차"),
        ("株式会社ソニー", "株式会社パナソニック"),
        ("腾讯有限公司", "百度有限公司"),
        ("ООО Ромашка", "ООО Василёк"),
        ("Acme GmbH", "Zenith GmbH"),
    ],
)
def test_a_company_form_in_common_is_no_evidence(left: str, right: str) -> None:
    """B127 (margince/margince PR#2852)."""
    assert outcome(Name.of(left, "organization"), Name.of(right, "organization")) == "apart"


@pytest.mark.parametrize(
    ("ends", "middle"),
    [
        (("Apple", "Apple Records Inc"), "Apple Inc"),
        (("Nova Labs", "Nova Labs Studio Berlin Mitte"), "Nova Labs Studio"),
        (("Postgre", "PostgresQLs"), "Postgres"),
    ],
)
def test_questions_are_never_chained(graph: Graph, ends: tuple[str, str], middle: str) -> None:
    """B023 (HKUDS/LightRAG#1323)."""
    mention(graph, *ends, middle)
    assert graph.resolve().merged == 0
    assert frozenset(ends) not in asked(graph)
    question = next(c for c in graph.conflicts() if ends[0] in (c.queued_name, c.candidate_name))
    graph.decide(question.id, "keep_existing")
    graph.resolve(full=True)
    assert len(graph.entities()) == 2
    assert known(graph, ends[0]) == known(graph, middle) != known(graph, ends[1])


# ---- never taken for one ------------------------------------------------------------------------


@pytest.mark.parametrize("noun", ["the company", "the firm", "das Unternehmen", "компания", "会社"])
def test_a_generic_noun_is_folded_into_no_name(noun: str) -> None:
    """B043 (microsoft/graphrag#1244)."""
    assert outcome(Name.of(noun, "organization"), Name.of("Acme Corp", "organization")) == "apart"


@pytest.mark.parametrize(
    ("someone", "somewhere"),
    [("Tigran", "Iran"), ("Mary", "Maryland"), ("Norman", "Oman"), ("Paris", "Paris Basin")],
)
def test_company_in_which_a_name_stands_is_no_evidence(
    graph: Graph, someone: str, somewhere: str
) -> None:
    """B069 (vectorize-io/hindsight#3751)."""
    for _ in range(10):
        mention(graph, "user", Name.of(someone, "person"), Name.of(somewhere, "place"))
    report = graph.resolve()
    assert (report.merged, report.queued) == (0, 0)


@pytest.mark.parametrize(
    ("nick", "full"),
    [("Bob", "Robert Chen"), ("Peggy", "Margaret Olson"), ("Саша", "Александр Иванов")],
)
def test_a_nickname_is_never_proposed_and_can_be_declared(
    graph: Graph, nick: str, full: str
) -> None:
    """B075 (vectorize-io/hindsight PR#2694)."""
    mention(graph, *people(nick, full))
    report = graph.resolve()
    assert (report.merged, report.queued) == (0, 0)
    graph.merge(nick, full)
    mention(graph, *people(nick))
    assert known(graph, nick).name == full
    assert known(graph, full).mentions == 2


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("ASR1603", "ASR1605"),
        ("Task 5", "Task 6"),
        ("§4 Format", "§5 Format"),
        ("第3章", "第4章"),
        ("第三章", "第四章"),
        ("Глава 2", "Глава 3"),
        ("٣ فصل", "٤ فصل"),
        ("mw-3", "mw-2"),
        ("mw-3", "mw_2"),
        ("stockpile-1", "stockpile-2"),
        ("Samsung S9", "Samsung S9+"),
        ("GPT-4", "GPT-4o"),
        ("World War I", "World War II"),
        ("first draft", "second draft"),
        ("input buffer", "output buffer"),
    ],
)
def test_numbers_and_what_is_enumerated_stay_apart(left: str, right: str) -> None:
    """B077 (Graphify-Labs/graphify#878), B083 (Graphify-Labs/graphify#3094), B106
    (xoai/sage-wiki#164)."""
    assert outcome(left, right) == "apart"


@pytest.mark.parametrize(
    ("left", "right", "what"),
    [
        ("cranel", "cranelr", "asked"),
        ("kernel", "kernelr", "asked"),
        ("getActiveSession()", "getActiveSessions()", "asked"),
        ("set_value()", "setValues()", "asked"),
        ("draft final study", "final study", "asked"),
        ("pre-release build", "release build", "asked"),
        ("@testing-library/jest-native", "@testing-library/react-native", "apart"),
        ("@babel/preset-env", "@babel/preset-react", "apart"),
        ("com.google.guava", "com.google.gson", "apart"),
        ("org.apache.commons-io", "org.apache.commons-lang", "apart"),
        ("borrow() (state.rs)", "borrow() (main.rs)", "apart"),
    ],
)
def test_code_that_looks_alike_is_asked_about_at_most(left: str, right: str, what: str) -> None:
    """B077 (Graphify-Labs/graphify#878), B078 (#1201), B079 (#1243), B082 (#1046), B106."""
    assert outcome(left, right) == what


# ---- types and homonyms -------------------------------------------------------------------------

HOMONYMS = [
    ("Apple", "company", "apple.", "fruit"),
    ("Tesla", "person", "TESLA!", "company"),
    ("Меркурий", "планета", "«Меркурий»", "компания"),
    ("水星", "行星", "水 星", "公司"),
]


@pytest.mark.parametrize("row", HOMONYMS, ids=lambda row: row[0])
def test_trusted_types_that_differ_ask_before_anything_folds(
    graph: Graph, row: tuple[str, str, str, str]
) -> None:
    """B013 (mem0ai/mem0#5438), B019 (mem0ai/mem0#5440)."""
    mention(graph, Name.of(row[0], row[1]))
    mention(graph, Name.of(row[2], row[3]))
    report = graph.resolve(types_trusted=True)
    assert (report.merged, report.queued) == (0, 1)
    (question,) = graph.conflicts()
    assert {question.queued_type, question.candidate_type} == {row[1], row[3]}
    assert row[1] in question.reason
    assert row[3] in question.reason


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("Agent Keyboard", ["PROJECT", "PRODUCT", "PROJECT"]),
        ("Rust", ["language", "tool", "technology", "topic", "skill"]),
        ("Москва", ["город", "место", "город"]),
    ],
)
def test_a_name_under_many_types_is_one_entity_whose_type_can_be_put_right(
    graph: Graph, take: Take, name: str, types: list[str]
) -> None:
    """B101 (nowledge-co/nowledge-mem#110), B124 (deeplethe/utopia PR#40)."""
    notes = 0
    for at, kind in enumerate(types):
        done = take(entity(name, f"Seen on day {at}.", entityType=kind))
        notes += len(done.notes)
        graph.resolve()
    assert notes == sum(kind != types[0] for kind in types)
    mention(graph, f"{name}!")
    graph.resolve()
    assert graph.retype(name, types[1]).type == types[1]
    shown = graph.entity(name)
    assert (len(graph.entities()), shown.aliases) == (1, (f"{name}!",))
    assert shown.entity.mentions == len(types) + 1
    assert take(entity(name, entityType=types[0])).entities == 0
    assert known(graph, name).type == types[1]


def test_a_merged_name_stays_an_alias_though_another_entity_is_called_so_too(graph: Graph) -> None:
    """B130 (metabrainz/musicbrainz-server PR#1831)."""
    mention(graph, "Phoenix!", "Phoenix", "Phoenix (band)")
    graph.keep_apart("Phoenix!", "Phoenix")
    graph.merge("Phoenix!", "Phoenix (band)")
    assert graph.entity("Phoenix (band)").aliases == ("Phoenix!",)
    assert known(graph, "Phoenix!").name == "Phoenix (band)"
    assert known(graph, "Phoenix").name == "Phoenix"
    both = graph.find("phoenix.")
    assert isinstance(both, Ambiguous)
    assert {e.name for e in both.candidates} == {"Phoenix", "Phoenix (band)"}
    graph.resolve(full=True)
    assert names(graph) == {"Phoenix", "Phoenix (band)"}


@pytest.mark.parametrize("short", ["AV", "ИИ", "車", "CMS"])
def test_an_abbreviation_of_two_things_is_linked_to_none_silently(
    graph: Graph, take: Take, short: str
) -> None:
    """B117 (ddmsolutions/ai-memory#69)."""
    mention(graph, "Autonomous Vehicle", "Audio Visual")
    graph.alias("Autonomous Vehicle", short)
    with pytest.raises(Refused, match="Autonomous Vehicle") as refused:
        graph.alias("Audio Visual", short)
    assert refused.value.code == "name_taken"
    done = take(entity("Audio Visual", aliases=[short]))
    assert len(done.notes) == 1
    assert known(graph, short).name == "Autonomous Vehicle"


def test_a_spelling_that_fits_two_entities_is_folded_into_neither(graph: Graph) -> None:
    """B117 (ddmsolutions/ai-memory#69), B103 (garrytan/gbrain#2723)."""
    mention(graph, "Mercury", "Mercury!")
    graph.keep_apart("Mercury", "Mercury!")
    for ask in (graph.related, graph.delete, lambda name: graph.merge(name, "Mercury")):
        with pytest.raises(ConflictError, match="fits several"):
            ask("mer-cury")
    mention(graph, "mer-cury")
    assert graph.resolve().merged == 0
    assert asked(graph) == pairs("mer-cury | Mercury", "mer-cury | Mercury!")
    assert [known(graph, name).mentions for name in ("Mercury", "Mercury!")] == [1, 1]


# ---- edges --------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [2, 5])
def test_a_text_that_comes_again_with_its_id_counts_once(graph: Graph, times: int) -> None:
    """B003 (getzep/graphiti#767)."""
    facts = [("Ada", "knows", "Bob")]
    made = {
        graph.remember("Ada met Bob.", mentions=["Ada"], facts=facts, caller_id="E1").memory.id
        for _ in range(times)
    }
    assert len(made) == 1
    assert (known(graph, "Ada").mentions, graph.entity("Ada").facts) == (1, 1)


def test_a_name_that_a_text_repeats_counts_once_a_text(graph: Graph) -> None:
    """B111 (MihaiBuilds/memory-vault#110): what is counted is memories."""
    told(graph, "Alice met Alice in Boston.", mentions=["Alice", "ALICE", "Alice"])
    told(graph, "Alice left.", mentions=["Alice"])
    assert known(graph, "alice").mentions == 2


@pytest.mark.parametrize("times", [1, 5, 40])
def test_a_fact_stated_often_is_one_link_with_its_sources_counted(graph: Graph, times: int) -> None:
    """B007 (getzep/graphiti#994)."""
    for at in range(times):
        told(graph, f"Said {at}.", facts=[("Ann", "knows", "Bob"), ("ann", "knows", "BOB")])
    (neighbour,) = graph.related("Ann").related
    (link,) = neighbour.links
    assert (neighbour.entity.name, link.relation, link.sources) == ("Bob", "knows", times)


@pytest.mark.parametrize(
    ("one", "other"), [("recommends", "suggests"), ("知る", "愛する"), ("works at", "works for")]
)
def test_two_relations_of_one_sentence_stay_two(
    graph: Graph, take: Take, one: str, other: str
) -> None:
    """B011 (getzep/graphiti PR#955)."""
    told(graph, "Ann speaks of Bob.", facts=[("Ann", one, "Bob"), ("Ann", other, "Bob")])
    text = "Cem speaks of Dan."
    take(relation("Cem", one, "Dan", text=text), relation("Cem", other, "Dan", text=text))
    for name in ("Ann", "Cem"):
        assert {fact.predicate for fact in graph.facts(name)} == {one, other}


def test_a_fact_has_both_its_ends_and_they_are_found_again(graph: Graph) -> None:
    """B010 (getzep/graphiti#1001)."""
    told(graph, "Ada works there.", facts=[("Ada", "works at", "Babbage & Co.")])
    (fact,) = graph.facts("Ada")
    ends = fact.subject_id, fact.object_id
    assert ends == (known(graph, "Ada").id, known(graph, "Babbage & Co.").id)
    assert graph.facts("Babbage & Co.") == [fact]


@pytest.mark.parametrize(
    ("left", "right"),
    [("2025-12-17", "incident/example"), ("Ada", "Engine"), ("田中", "会社")],
)
def test_a_relation_is_seen_from_either_end(graph: Graph, left: str, right: str) -> None:
    """B058 (modelcontextprotocol/servers#3137)."""
    told(graph, "It happened.", facts=[(left, "has", right)])
    for here, there, way in ((left, right, "out"), (right, left, "in")):
        (neighbour,) = graph.related(here).related
        assert (neighbour.entity.name, neighbour.links[0].direction) == (there, way)


@pytest.mark.parametrize("ends", [("Ghost_A", "Ghost_B"), ("Призрак", "Тень"), ("幽霊", "影")])
def test_ends_that_nothing_names_are_made_and_listed(
    graph: Graph, take: Take, ends: tuple[str, str]
) -> None:
    """B056 (modelcontextprotocol/servers#4457)."""
    done = take(relation(ends[0], "knows", ends[1]))
    assert (done.minted, done.entities, done.facts) == (ends, 2, 1)
    assert names(graph) == {*ends}
    assert graph.check().clean


@pytest.mark.parametrize("kinds", [("ORGANIZATION", "COMPANY"), ("工具", "技术"), ("A", "b")])
@pytest.mark.parametrize("second", ["IBM", "I.B.M.", "ibm"])
def test_one_title_under_two_types_keeps_all_its_edges(
    graph: Graph, take: Take, kinds: tuple[str, str], second: str
) -> None:
    """B042 (microsoft/graphrag#1718)."""
    take(
        entity("IBM", entityType=kinds[0]),
        entity(second, entityType=kinds[1]),
        *(relation("IBM", "makes", f"thing {letter}") for letter in "abc"),
        *(relation(second, "makes", f"thing {letter}") for letter in "def"),
    )
    graph.resolve()
    assert graph.entity(second).facts == graph.entity("IBM").facts == 6
    assert len(graph.related("IBM").related) == 6


@pytest.mark.parametrize(
    ("canonical", "absorbed"),
    [("OpenAI", "OpenAI Inc."), ("IT", "Information Technology"), ("東京", "Tokyo")],
)
def test_a_fold_keeps_the_edges_of_both_sides_and_a_revert_parts_them(
    graph: Graph, canonical: str, absorbed: str
) -> None:
    """B052 (topoteretes/cognee#3629)."""
    for name, letters in ((canonical, "ab"), (absorbed, "cde")):
        for letter in letters:
            told(graph, f"{name} {letter}", facts=[(name, "makes", f"thing {letter}")])
    before = written(graph)
    merge = graph.merge(absorbed, canonical)
    assert graph.entity(absorbed).facts == 5
    assert {n.entity.name[-1] for n in graph.related(canonical).related} == {*"abcde"}
    graph.revert(merge.id)
    assert written(graph) == before


def test_a_file_that_comes_again_finds_its_edges_where_the_folds_lead(
    graph: Graph, take: Take
) -> None:
    """B088 (Graphify-Labs/graphify#1711)."""
    file_a = [entity("a.py", "Calls b."), relation("a.py", "calls", "b.parse")]
    file_b = [entity("b.parse", "Parses."), relation("b.parse", "uses", "c.core")]
    take(*file_a, *file_b)
    mention(graph, "Parser of B")
    graph.merge("b.parse", "Parser of B")
    before = written(graph)
    for file in (file_b, file_a, file_b):
        done = take(*file)
        assert (done.entities, done.memories, done.facts) == (0, 0, 0)
    assert written(graph) == before
    links = {n.entity.name: n.links[0].direction for n in graph.related("Parser of B").related}
    assert links == {"a.py": "in", "c.core": "out"}


# ---- a fold is whole or not at all --------------------------------------------------------------


def test_a_hub_with_a_very_long_edge_folds_whole_and_comes_back_whole(graph: Graph) -> None:
    """B027 (HKUDS/LightRAG PR#2916)."""
    for at in range(270):
        text = "x" * 50_000 if at == 135 else f"Edge {at}."
        told(graph, text, facts=[("Hub", "serves", f"client {at}")])
    mention(graph, "Main Hub")
    before = written(graph)
    merge = graph.merge("Hub", "Main Hub")
    assert (merge.moved, graph.entity("Main Hub").facts) == (270, 270)
    assert len(graph.related("hub", limit=300).related) == 270
    assert graph.check().clean
    graph.revert(merge.id)
    assert written(graph) == before


@pytest.mark.parametrize("sides", [("left", "left"), ("left", "right")])
def test_a_fold_that_is_refused_leaves_everything_as_it_was(
    graph: Graph, sides: tuple[str, str]
) -> None:
    """B027 (HKUDS/LightRAG PR#2916)."""
    told(graph, "Said.", facts=[("left", "near", "right")])
    graph.keep_apart("left", "right")
    before = written(graph)
    with pytest.raises(Refused):
        graph.merge(*sides)
    with pytest.raises(NotFound):
        graph.merge("left", "nobody")
    assert written(graph) == before
    assert graph.merges(reverted=True) == []


def test_attributes_of_both_sides_are_kept_and_what_differs_is_noted(
    graph: Graph, take: Take
) -> None:
    """B086 (Graphify-Labs/graphify#2091), B090 (Graphify-Labs/graphify#1851)."""
    take(entity("parser", summary="Reads.", owner="ann"), entity("Parser Module", lines=40))
    done = take(entity("PARSER", lines=12, owner="bob"))
    assert graph.entity("parser").attributes == {"summary": "Reads.", "owner": "ann", "lines": 12}
    assert [json.loads(note.text) for note in done.notes] == [{"owner": "bob"}]
    graph.merge("Parser Module", "parser")
    (line,) = (json.loads(line) for line in written(graph).splitlines())
    assert (line["summary"], line["owner"], line["lines"]) == ("Reads.", "ann", 12)


@pytest.mark.parametrize("second", ["Beta", "Бета", "ベータ"])
def test_one_id_of_two_names_drops_neither_and_says_so(
    graph: Graph, take: Take, second: str
) -> None:
    """B090 (Graphify-Labs/graphify#1851)."""
    take(entity("Alpha", "First.", id="node:1"))
    done = take(entity(second, "Second.", id="node:1"))
    assert names(graph) == {"Alpha", second}
    (note,) = done.notes
    assert "Alpha" in note.reason
    assert second in note.reason


def test_merging_makes_no_nameless_entity_and_loses_none(graph: Graph) -> None:
    """B094 (FalkorDB/GraphRAG-SDK PR#317)."""
    for at in range(24):
        told(graph, f"Said {at}.", facts=[(f"left {at}", "is", f"right {at}")])
    for at in range(24):
        graph.merge(f"left {at}", f"right {(at + 1) % 24}")
    total = graph.summary()
    assert (total.entities, total.aliases, total.memories) == (24, 24, 24)
    assert all(e.name and e.spelling for e in graph.entities())
    assert sum(graph.entity(e.id).facts for e in graph.entities()) == 48
    assert graph.check().clean
    for merge in graph.merges()[::2]:
        graph.revert(merge.id)
    assert graph.summary().entities == 36
    assert graph.check().clean


# ---- aliases, renames and what a person decided -------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("GPT4", "GPT-4"),
        ("Twitter", "X"),
        ("Ленинград", "Санкт-Петербург"),
        ("旧社名", "新社名"),
        ("Github", "GitHub"),
    ],
)
def test_an_old_name_leads_to_the_new_one(graph: Graph, old: str, new: str) -> None:
    """B029 (HKUDS/LightRAG PR#1018)."""
    told(graph, "Said.", facts=[(old, "is", "known")])
    graph.resolve()
    graph.rename(old, new)
    mention(graph, old)
    graph.resolve(full=True)
    assert (known(graph, old).name, known(graph, new).name) == (new, new)
    assert names(graph) == {new, "known"}
    assert known(graph, new).mentions == 1
    assert graph.entity(old).facts == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("GPT4", "GPT-4"),
        ("Twitter", "X"),
    ],
)
def test_a_rename_that_is_taken_back_leaves_the_old_name_leading_where_it_led(
    graph: Graph, old: str, new: str
) -> None:
    """B029 (HKUDS/LightRAG PR#1018), B102 (nowledge-co/community#609)."""
    mention(graph, old)
    graph.rename(old, new)
    (merge,) = graph.merges()
    graph.revert(merge.id)
    assert known(graph, old).name == old
    mention(graph, old)
    assert known(graph, old).mentions == 2


def test_a_rename_of_case_alone_is_taken_back_by_renaming(graph: Graph) -> None:
    """B029 (HKUDS/LightRAG PR#1018), B131 (jaylfc/taosmd#106)."""
    mention(graph, "Github")
    graph.rename("Github", "GitHub")
    (merge,) = graph.merges()
    with pytest.raises(Refused, match="rename the entity back"):
        graph.revert(merge.id)
    assert graph.rename("GitHub", "Github").name == "Github"
    mention(graph, "GITHUB")
    assert known(graph, "github").mentions == 2


def test_a_merge_alias_and_revert_do_each_their_work_once(graph: Graph) -> None:
    """B071 (vectorize-io/hindsight#3216)."""
    mention(graph, "Kubernetes", "kube", "Kuber Netes Inc")
    merge = graph.merge("kube", "Kubernetes")
    for again in ("kube", "KUBE", f"id:{merge.absorbed_id}"):
        with pytest.raises(Refused) as refused:
            graph.merge(again, "Kubernetes")
        assert refused.value.code == "already_one"
    graph.alias("Kubernetes", "k8s")
    with pytest.raises(Refused):
        graph.alias("Kubernetes", "K8S")
    graph.revert(merge.id)
    with pytest.raises(Refused) as refused:
        graph.revert(merge.id)
    assert refused.value.code == "already_reverted"
    assert known(graph, "k8s").name == "Kubernetes"
    assert names(graph) == {"Kubernetes", "kube", "Kuber Netes Inc"}


@pytest.mark.parametrize(
    ("name", "longer"),
    [
        ("North Bank", "North Bank Holdings"),
        ("Sam", "Sam Ash"),
        ("トヨタ", "トヨタ自動車"),
    ],
)
def test_a_name_never_becomes_an_alias_of_one_that_holds_it(
    graph: Graph, name: str, longer: str
) -> None:
    """B102 (nowledge-co/community#609), B101 (nowledge-co/nowledge-mem#110)."""
    mention(graph, longer)
    mention(graph, name)
    graph.resolve()
    assert names(graph) == {name, longer}
    with pytest.raises(Refused) as refused:
        graph.alias(longer, name)
    assert refused.value.code == "name_taken"
    declared = graph.alias(longer, "Another Name")
    graph.revert(declared.id)
    graph.delete("Another Name")
    assert graph.entity(longer).aliases == ()
    assert isinstance(graph.find("Another Name"), Unknown)


@pytest.mark.parametrize(("old", "new"), [("Origin", "wenlan"), ("旧名", "Wenlan"), ("a1", "Ω")])
def test_an_alias_needs_no_likeness_and_belongs_to_one(graph: Graph, old: str, new: str) -> None:
    """B115 (7xuanlu/wenlan PR#575)."""
    mention(graph, new, "other")
    graph.alias(new, old)
    mention(graph, old)
    found = graph.find(old)
    assert isinstance(found, Found)
    assert (found.entity.name, found.alias, found.entity.mentions) == (new, True, 2)
    with pytest.raises(Refused) as refused:
        graph.alias("other", old)
    assert refused.value.code == "name_taken"


def test_merges_by_hand_outlive_every_later_import_of_their_source(
    graph: Graph, take: Take
) -> None:
    """B089 (Graphify-Labs/graphify#1651)."""
    letters = "abcdefghij"
    short = [f"{a}{b}x" for a in letters for b in letters][:60]
    records = [entity(f"Full name of {name}", f"About {name}.") for name in short]
    records += [relation(name, "belongs to", "Hub") for name in short]
    records += [relation(f"Full name of {name}", "serves", "Hub") for name in short]
    take(*records)
    for name in short:
        graph.merge(name, f"Full name of {name}")
    graph.keep_apart("Full name of aax", "Full name of abx")
    before = written(graph)
    for _ in range(3):
        done = take(*records)
        assert (done.entities, done.memories, done.facts) == (0, 0, 0)
        graph.resolve(full=True)
    assert len(graph.merges(limit=500)) == 60
    assert written(graph) == before
    assert graph.entity("Hub").facts == 120
    with pytest.raises(Refused):
        graph.merge("aax", "abx")


def test_a_graph_that_is_rebuilt_from_its_export_has_its_folds(graph: Graph, take: Take) -> None:
    """B116 (manhhailua/lorekeep PR#220)."""
    mention(graph, "person:user", "person:dev01", "Ада", "Ada Lovelace")
    graph.merge("person:user", "person:dev01")
    graph.merge("Ада", "Ada Lovelace")
    with enfold.open(":memory:") as rebuilt:
        for _ in range(2):
            take(text=written(graph), into=rebuilt)
            rebuilt.resolve(full=True)
        assert known(rebuilt, "person:user").name == "person:dev01"
        assert known(rebuilt, "Ада").name == "Ada Lovelace"
        assert names(rebuilt) == names(graph)


@pytest.mark.parametrize(
    ("left", "right"), [("Zen", "zen!"), ("Дзен", "«дзен»"), ("禅寺", "禅 寺")]
)
def test_names_kept_apart_stay_so_though_both_are_deleted_and_come_again(
    graph: Graph, left: str, right: str
) -> None:
    """B116 (manhhailua/lorekeep PR#220), B089 (Graphify-Labs/graphify#1651)."""
    for _ in range(2):
        mention(graph, left, right)
        if not graph.apart():
            graph.keep_apart(left, right)
        report = graph.resolve(full=True)
        assert (report.merged, report.queued) == (0, 0)
        assert len(graph.entities()) == 2
        for row in graph.entities():
            graph.delete(row.id)


@pytest.mark.parametrize(
    ("left", "right"),
    [("Hazard", "Hazards"), ("Nova Labs", "Nova Labs GmbH"), ("Ромашка", "ООО Ромашка")],
)
def test_a_question_answered_with_keep_both_is_never_asked_again(
    graph: Graph, take: Take, left: str, right: str
) -> None:
    """B100 (markmhendrickson/neotoma#2160)."""
    records = [entity(left, "One."), entity(right, "Two.")]
    take(*records)
    graph.resolve()
    (question,) = graph.conflicts()
    graph.decide(question.id, "keep_both")
    for full in (False, True, True):
        take(*records)
        mention(graph, left, right)
        report = graph.resolve(full=full)
        assert (report.merged, report.queued, report.deferred) == (0, 0, 0)
    assert graph.conflicts() == []


def near_duplicates(count: int) -> list[str]:
    """Spellings of which each is two letters from every other."""
    word = "constantinopolitan"
    return [word, *(word[:at] + "x" + word[at + 1 :] for at in range(count - 1))]


def test_a_cluster_of_near_duplicates_takes_one_answer_less_than_it_has_names(
    graph: Graph,
) -> None:
    """B118 (alvarolobato/inmo-tool#605): 136 pairs, of which 16 answers close all."""
    mention(graph, *near_duplicates(17))
    graph.resolve()
    answers = 0
    while questions := graph.conflicts():
        graph.decide(questions[0].id, "keep_existing")
        answers += 1
        graph.resolve()
    assert (answers, len(graph.entities())) == (16, 1)


def test_an_answer_closes_the_pairs_that_it_implies(graph: Graph) -> None:
    """B118 (alvarolobato/inmo-tool#605)."""
    one, two, three = near_duplicates(3)
    mention(graph, one, two, three)
    graph.resolve()
    for question in graph.conflicts():
        pair = {question.queued_name, question.candidate_name}
        if pair == {one, two}:
            graph.decide(question.id, "keep_both")
        elif pair == {one, three}:
            graph.decide(question.id, "keep_existing")
    assert graph.conflicts() == []
    assert graph.resolve(full=True).queued == 0


# ---- import -------------------------------------------------------------------------------------


def test_lines_glued_together_or_cut_off_cost_themselves_alone(graph: Graph, take: Take) -> None:
    """B055 (modelcontextprotocol/servers#2579), B054 (modelcontextprotocol/servers#1819)."""
    one, two, three = (json.dumps(entity(name, f"About {name}.")) for name in ("A1", "B1", "C1"))
    last = json.dumps(relation("A1", "knows", "B1"))
    done = take(text=f"{one}{two}\n{three[:25]}\n\n{last}{one}\n" + last[:-9])
    assert names(graph) == {"A1", "B1"}
    assert (done.memories, done.facts) == (3, 1)
    assert [piece.line for piece in done.set_aside] == [2, 5]


@pytest.mark.parametrize(
    "header", ["date,concept,amount", "id,date,amount", "when;what;how much", "дата,вид,сумма"]
)
def test_a_table_without_a_name_is_refused_instead_of_collapsed(
    graph: Graph, take: Take, header: str
) -> None:
    """B097 (markmhendrickson/neotoma#1601)."""
    with pytest.raises(Invalid):
        take(text=header + "\n" + "2024-01-01,FEE,3\n" * 20)
    assert graph.entities() == []


@pytest.mark.parametrize("title", ["General Manager", "部長", "Директор"])
def test_a_job_title_is_not_the_name(graph: Graph, take: Take, title: str) -> None:
    """B098 (markmhendrickson/neotoma#1964)."""
    table = f"title,name,email\n{title},Contact A,a@x.org\n{title},Contact B,b@x.org\n"
    for _ in range(2):
        take(text=table)
        take(entity("Contact C", title=title, entityType="person"))
    assert names(graph) == {"Contact A", "Contact B", "Contact C"}
    assert graph.entity("contact a").attributes["title"] == title
    assert isinstance(graph.find(title), Unknown)


@pytest.mark.parametrize(
    "spellings",
    [
        ("Alice", "Alice Smith"),
        ("Алиса", "Alice"),
        ("Alice", "Alice"),
    ],
)
def test_edges_follow_the_ids_of_their_source(
    graph: Graph, take: Take, spellings: tuple[str, str]
) -> None:
    """B113 (semantica-agi/semantica#1085)."""
    take(
        {"entity_id": "alice:1", "name": spellings[0], "entityType": "person"},
        {"entity_id": "alice:2", "name": spellings[1], "entityType": "person"},
        relation("alice:2", "works at", "Acme"),
    )
    assert names(graph) == {*spellings, "Acme"}
    assert graph.entity(spellings[1]).facts == 1
    if len(graph.entities()) == 3:
        graph.merge(*spellings)
    assert graph.entity(spellings[0]).facts == 1


# ---- length and size ----------------------------------------------------------------------------


@pytest.mark.parametrize("letter", ["a", "я", "長", "😀"])
@pytest.mark.parametrize("length", [256, 1_024, 5_000, 9_999])
def test_long_names_that_begin_alike_stay_two(graph: Graph, letter: str, length: int) -> None:
    """B033 (HKUDS/LightRAG PR#2245)."""
    left, right = letter * length + "x", letter * length + "y"
    mention(graph, left, right)
    graph.resolve()
    assert names(graph) == {left, right}
    assert known(graph, left).name == left
    assert graph.check().clean


def test_a_text_given_as_a_name_is_refused_whole(graph: Graph) -> None:
    """B033 (HKUDS/LightRAG PR#2245)."""
    with pytest.raises(Invalid) as refused:
        told(graph, "Said.", mentions=["Acme", "word " * 4_000])
    assert refused.value.code == "name_too_long"
    assert graph.summary().memories == 0


def test_an_entity_of_many_sources_keeps_a_small_row(graph: Graph, take: Take) -> None:
    """B032 (HKUDS/LightRAG#1894), B034 (HKUDS/LightRAG#2200)."""
    folder = "/srv/" + "a long folder name/" * 20
    for at in range(200):
        told(graph, f"Page {at}.", mentions=["Bank"], source=f"{folder}{at}.md")
    take(entity("The Bank", *(f"Document {at} says it." * 20 for at in range(2_000))))
    graph.merge("The Bank", "Bank")
    shown = graph.entity("Bank")
    assert (shown.entity.mentions, shown.aliases) == (2_200, ("The Bank",))
    assert len(json.dumps(enfold.graph.as_json(shown.entity))) < 500
    assert shown.attributes == {}


def test_a_hundred_records_are_taken_and_settled_in_a_moment(graph: Graph, take: Take) -> None:
    """B006 (getzep/graphiti#1262)."""
    start = time.perf_counter()
    take(*(entity(f"Customer {at} {chr(97 + at % 26)}q", f"Record {at}.") for at in range(100)))
    graph.resolve()
    assert time.perf_counter() - start < 5  # a tenth of a second, where nothing else runs


def test_one_row_of_many_thousands_is_found_and_deleted_at_once(graph: Graph, take: Take) -> None:
    """B099 (markmhendrickson/neotoma#1981), B018 (mem0ai/mem0#4988)."""
    take(
        *(
            entity(
                f"Contact {at}",
                f"Note {at}.",
                phone=f"+49{at}",
                aliases=[] if at % 10 else [f"c{at}@example.org"],
            )
            for at in range(10_500)
        )
    )
    start = time.perf_counter()
    assert known(graph, "c9000@example.org").name == "Contact 9000"
    assert isinstance(graph.find("+499000"), Unknown)  # what is no name is unknown, never absent
    graph.forget(9_001)
    assert known(graph, "Contact 9000").mentions == 0
    graph.delete("Contact 9000")
    assert isinstance(graph.find("c9000@example.org"), Unknown)
    assert time.perf_counter() - start < 2  # a few milliseconds, where nothing else runs
    assert graph.summary().entities == 10_499


# ---- lookup -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "postgres",
        "Postgre SQL",
        "PostgreSLQ",
        "postgressql",
        "PG",
        "postgre",
    ],
)
def test_a_name_that_is_nearly_right_comes_to_its_entity_or_names_it(
    graph: Graph, query: str
) -> None:
    """B126 (mmeyerlein/meclaw#23)."""
    mention(graph, "PostgreSQL", "Kubernetes", "Elasticsearch", "Кубань")
    graph.alias("PostgreSQL", "PG")
    graph.resolve()
    found = graph.find(query)
    assert not isinstance(found, Ambiguous)
    near = (found.entity,) if isinstance(found, Found) else found.nearest
    assert [e.name for e in near][:1] == ["PostgreSQL"]


@pytest.mark.parametrize(
    "query",
    [
        "Zanzibar",
        "Ωμέγα",
        "無い",
        "Area 51",
        "42",
    ],
)
def test_a_miss_says_unknown_and_never_absent(graph: Graph, query: str) -> None:
    """B126 (mmeyerlein/meclaw#23), B099 (markmhendrickson/neotoma#1981)."""
    mention(graph, "PostgreSQL", "Kubernetes")
    graph.resolve()
    missed = graph.find(query)
    assert isinstance(missed, Unknown)
    assert "never absent" in missed.note
    with pytest.raises(NotFound, match="never absent"):
        graph.related(query)


# ---- settings -----------------------------------------------------------------------------------


def test_a_pass_says_what_it_did_and_an_option_that_is_none_is_an_error(graph: Graph) -> None:
    """B040 (microsoft/graphrag#847)."""
    mention(graph, "GitHub", "git-hub", "Hazard", "Hazards", "Lone")
    report = graph.resolve()
    assert (report.examined, report.merged, report.queued) == (5, 1, 1)
    assert report.pairs >= 2
    for wrong in ("embedding", "on", "True"):
        with pytest.raises(Invalid) as refused:
            graph.resolve(rule_set=wrong)
        assert refused.value.code == "unknown_rules"


# ---- several writers ----------------------------------------------------------------------------


def at_once(*works: Callable[[], None]) -> None:
    """Run each in a thread of its own, all from one moment on; a failure of one is raised."""
    barrier = threading.Barrier(len(works))
    failed: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            barrier.wait(20)
            work()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    if failed:
        raise failed[0]


@pytest.mark.parametrize("spellings", [["x1"] * 8, ["Straße", "STRASSE"] * 4, ["東京"] * 8])
@pytest.mark.parametrize("shared", [True, False], ids=["one graph", "a graph each"])
def test_writers_of_one_name_at_one_moment_make_one_row(
    tmp_path: Path, spellings: list[str], shared: bool
) -> None:
    """B015 (mem0ai/mem0#6531), B129 (yvgude/lean-ctx#326)."""
    path = tmp_path / "graph.db"
    with enfold.open(path) as graph:

        def work(spelling: str) -> None:
            if shared:
                mention(graph, spelling)
            else:
                with enfold.open(path) as own:
                    mention(own, spelling)

        at_once(*(lambda s=s: work(s) for s in spellings))
        assert [e.mentions for e in graph.entities()] == [8]
        assert graph.summary().memories == 8
        assert graph.check().clean


def test_one_text_remembered_twice_at_one_moment_is_stored_once(tmp_path: Path) -> None:
    """B110 (MihaiBuilds/memory-vault#111)."""
    path = tmp_path / "graph.db"
    with enfold.open(path) as graph, enfold.open(path) as other:

        def work(own: Graph) -> None:
            for at in range(10):
                own.remember("same", mentions=["Ada"], caller_id=f"call {at}")

        at_once(lambda: work(graph), lambda: work(other), lambda: work(graph))
        assert (graph.summary().memories, known(graph, "Ada").mentions) == (10, 10)


def test_stores_in_one_process_do_not_mix(tmp_path: Path) -> None:
    """B005 (getzep/graphiti#1676), B036 (HKUDS/LightRAG#1664)."""
    graphs = {name: enfold.open(tmp_path / f"{name}.db") for name in ("alpha", "beta", "gamma")}

    def work(name: str) -> None:
        for at in range(10):
            graphs[name].remember(f"{name} {at}", mentions=[f"{name} {at}", "Shared"])
        graphs[name].resolve()

    at_once(*(lambda n=n: work(n) for n in graphs))
    for name, graph in graphs.items():
        assert names(graph) == {"Shared", *(f"{name} {at}" for at in range(10))}
        assert known(graph, "Shared").mentions == 10
        graph.close()


PROCESS = """
import sys
import enfold
with enfold.open(sys.argv[1]) as graph:
    for at in range(5):
        graph.remember(f"{sys.argv[2]} {at}",
            mentions=[f"name {at}", f"only {sys.argv[2]} {at}"],
            facts=[(f"name {at}", "knows", f"name {at + 1}")],
        )
    if int(sys.argv[2]) % 3 == 0:
        graph.resolve(backup=False)
"""


def test_processes_that_write_and_settle_in_parallel_lose_nothing(tmp_path: Path) -> None:
    """B054 (modelcontextprotocol/servers#1819), B055 (modelcontextprotocol/servers#2579), B129
    (yvgude/lean-ctx#326)."""
    path = tmp_path / "graph.db"
    workers = [
        subprocess.Popen([sys.executable, "-c", PROCESS, str(path), str(number)])
        for number in range(7)
    ]
    assert [worker.wait(60) for worker in workers] == [0] * 7
    with enfold.open(path) as graph:
        assert graph.summary().memories == 35
        assert [known(graph, f"name {at}").mentions for at in range(5)] == [7, 14, 14, 14, 14]
        assert len(graph.entities()) == 6 + 35
        assert graph.related("name 0").related[0].links[0].sources == 7
        assert graph.check().clean


def test_what_is_written_while_a_pass_searches_outlives_the_pass(tmp_path: Path) -> None:
    """B109 (odysseus-dev/odysseus#1940)."""
    path = tmp_path / "graph.db"
    with enfold.open(path) as graph, enfold.open(path) as other:
        mention(graph, "GitHub", "git-hub")
        came: list[int] = []

        def write(_what: str, _done: int, _total: int) -> None:
            if not came:
                came.append(told(other, "Meanwhile.", mentions=["GITHUB!", "Ada"]).id)

        assert graph.resolve(progress=write).merged == 1
        assert came
        assert known(graph, "Ada").mentions == 1
        assert graph.resolve().merged == 1
        assert known(graph, "githuB!").mentions == 2
        assert graph.check().clean
