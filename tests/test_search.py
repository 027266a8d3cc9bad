"""Search for people: what is typed finds what is meant, and nothing typed costs much."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import enfold
from enfold import Graph, Hit, How, pairs
from enfold import search as spelling
from enfold.errors import Invalid
from enfold.names import Name
from enfold.store import words as filed
from tests.told import told

FIRST_NAMES = (
    "James Mary Michael Patricia Robert Jennifer John Linda David Elizabeth William Barbara "
    "Richard Susan Joseph Jessica Thomas Karen Christopher Sarah Charles Lisa Daniel Nancy "
    "Matthew Sandra Anthony Ashley Mark Emily Steven Donna Andrew Michelle Paul Carol Joshua "
    "Amanda Kenneth Melissa Kevin Deborah Brian Stephanie Timothy Rebecca Ronald Sharon George "
    "Laura"
).split()

GRAPH = {
    "Ada Lovelace": "person",
    "Alan Turing": "person",
    "Ada": "language",
    "PostgreSQL": "database",
    "Claude Code": "tool",
    "Claude": "model",
    "GPT-4o": "model",
    "CPUMetrics": "component",
    "Иван Щукин": "person",
    "Zoë Müller": "person",
    "東京タワー": "place",
    "김민준": "person",
    "🚀": "sign",
    "Rocket 🚀 Launch": "event",
    "C++": "language",
    "src/enfold/search.py": "file",
    "@ada_l": "handle",
    "100% Sure": "phrase",
    "Kubernetes": "platform",
    "Physical Co-Model Rural": "concept",
}


@pytest.fixture
def graph() -> Iterator[Graph]:
    with enfold.open(":memory:") as made:
        yield made


@pytest.fixture(scope="module")
def known() -> Iterator[Graph]:
    """Names that no pass has looked at."""
    with enfold.open(":memory:") as made:
        fill(made, GRAPH)
        yield made


def fill(graph: Graph, names: dict[str, str] | Sequence[str]) -> None:
    types = names if isinstance(names, dict) else dict.fromkeys(names, "")
    mentions = [Name.of(name, kind or None) for name, kind in types.items()]
    told(graph, "Names.", mentions=mentions)


def first(graph: Graph, text: str, **more: Any) -> Hit:
    hits = graph.search(text, **more)
    assert hits, f"{text!r} found nothing"
    return hits[0]


# ---- what people type ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "meant", "how"),
    [
        ("Ada Lovelace", "Ada Lovelace", How.EXACT),
        ("  ADA   lovelace ", "Ada Lovelace", How.EXACT),
        ("@ada", "Ada", How.EXACT),
        ("ada_l", "@ada_l", How.EXACT),
        ("ada-lovelace", "Ada Lovelace", How.LETTERS),
        ("claudecode", "Claude Code", How.LETTERS),
        ("zoe muller", "Zoë Müller", How.LETTERS),
        ("ivan shchukin", "Иван Щукин", How.LETTERS),
        ("ＣＬＡＵＤＥ", "Claude", How.EXACT),
        ("postg", "PostgreSQL", How.PREFIX),
        ("claude c", "Claude Code", How.PREFIX),
        ("4o", "GPT-4o", How.WORD),
        ("lovelace", "Ada Lovelace", How.WORD),
        ("Lovelace, Ada", "Ada Lovelace", How.WORD),
        ("Щукин", "Иван Щукин", How.WORD),
        ("shchukin", "Иван Щукин", How.WORD),
        ("muller", "Zoë Müller", How.WORD),
        ("metrics", "CPUMetrics", How.WORD),
        ("search.py", "src/enfold/search.py", How.WORD),
        ("gresq", "PostgreSQL", How.SUBSTRING),
        ("lovel", "Ada Lovelace", How.SUBSTRING),
        ("タワ", "東京タワー", How.SUBSTRING),
        ("京", "東京タワー", How.SUBSTRING),
        ("東京", "東京タワー", How.PREFIX),
        ("민준", "김민준", How.SUBSTRING),
        ("lovelase", "Ada Lovelace", How.FUZZY),
        ("Ada Lovelase", "Ada Lovelace", How.FUZZY),
        ("Lovelase Ada", "Ada Lovelace", How.FUZZY),
        ("postgers", "PostgreSQL", How.FUZZY),
        ("post gresql", "PostgreSQL", How.LETTERS),
        ("claud cod", "Claude Code", How.SUBSTRING),
        ("Turign", "Alan Turing", How.FUZZY),
        ("metirc", "CPUMetrics", How.FUZZY),
        ("kuberentes", "Kubernetes", How.FUZZY),
        ("shchukn", "Иван Щукин", How.FUZZY),
        ("🚀", "🚀", How.EXACT),
        ("c++", "C++", How.EXACT),
    ],
)
def test_what_is_typed_finds_what_is_meant(known: Graph, typed: str, meant: str, how: How) -> None:
    hit = first(known, typed)
    assert (hit.entity.name, hit.how) == (meant, how)
    assert hit.matched == meant
    assert not hit.alias


def test_a_picture_finds_the_names_that_have_it(known: Graph) -> None:
    assert [hit.entity.name for hit in known.search("🚀")] == ["🚀", "Rocket 🚀 Launch"]


def test_a_rule_finds_what_no_letters_do(graph: Graph) -> None:
    fill(graph, ["Kubernetes", "Physical Co-Model Rural"])
    graph.resolve(backup=False)
    assert (first(graph, "k8s").entity.name, first(graph, "k8s").how) == ("Kubernetes", How.RULE)
    assert first(graph, "PCMR").entity.name == "Physical Co-Model Rural"


def test_exact_comes_before_prefix_and_prefix_before_the_rest(graph: Graph) -> None:
    fill(graph, ["Adapter", "Ada", "Sandy Ada Smith", "Ade", "Macadam"])
    hits = graph.search("ada")
    assert [(hit.entity.name, hit.how) for hit in hits] == [
        ("Ada", How.EXACT),
        ("Adapter", How.PREFIX),
        ("Macadam", How.SUBSTRING),
        ("Sandy Ada Smith", How.WORD),
        ("Ade", How.FUZZY),
    ]
    scores = [hit.score for hit in hits]
    assert scores[0] == 1
    assert all(spelling.FLOOR <= score < 1 for score in scores[1:])


def test_among_equals_the_one_mentioned_more_comes_first(graph: Graph) -> None:
    fill(graph, ["Lovelace A", "Lovelace B"])
    told(graph, "Again.", mentions=["Lovelace B"])
    assert [hit.entity.name for hit in graph.search("lovelace")] == ["Lovelace B", "Lovelace A"]


@pytest.mark.parametrize(
    "typed",
    [
        "%", "_", '"', "'", "--", "(", "a*", 'a"b', "NEAR(a b)", "a AND b", "a OR", "NOT", "^a",
        "word:a", "'; DROP TABLE word; --", "\\", "\x00", "a\x00b", "\ud800", "{}", "[a-z]", "a%",
        "\u202eabc", "🏳️‍🌈", "é", "e\u0301", "ﬁ", "²", "x" * 10_000, "ab " * 3_333, "東" * 10_000,
        "🚀" * 5_000, "a b c d e f g h i j k l m n o p q r s t u v w x y z" * 30,
    ],
)  # fmt: skip
def test_any_text_is_answered(known: Graph, typed: str) -> None:
    try:
        hits = known.search(typed)
    except Invalid as error:
        assert error.code == "blank_name"  # noqa: PT017  (either is an answer)
    else:
        assert all(spelling.FLOOR <= hit.score <= 1 for hit in hits)


@pytest.mark.parametrize(("typed", "code"), [("", "blank_name"), ("x" * 10_001, "name_too_long")])
def test_what_is_no_name_is_refused(known: Graph, typed: str, code: str) -> None:
    with pytest.raises(Invalid) as error:
        known.search(typed)
    assert error.value.code == code


def test_a_limit_and_a_type_hold(known: Graph) -> None:
    assert len(known.search("a", limit=3)) == 3
    assert {hit.entity.type for hit in known.search("ada", type="PERSON")} == {"person"}
    assert known.search("ada", type="nothing of the kind") == []


def test_a_type_is_found_behind_many_names_of_another(graph: Graph) -> None:
    fill(graph, {f"Ada {number}": "person" for number in range(1_000)} | {"The Ada Way": "book"})
    assert [hit.entity.name for hit in graph.search("ada", type="book")] == ["The Ada Way"]


# ---- it follows what happens --------------------------------------------------------------------


def test_an_alias_answers_with_its_entity_and_says_by_which_spelling(graph: Graph) -> None:
    fill(graph, ["IBM", "Big Blue"])
    fold = graph.merge("Big Blue", "IBM")
    hit = first(graph, "big blu")
    assert (hit.entity.name, hit.matched, hit.alias) == ("IBM", "Big Blue", True)
    graph.revert(fold.id)
    hit = first(graph, "big blu")
    assert (hit.entity.name, hit.matched, hit.alias) == ("Big Blue", "Big Blue", False)


def test_an_entity_of_several_spellings_is_one_hit(graph: Graph) -> None:
    fill(graph, ["Postgres", "PostgreSQL", "postgres-db"])
    for name in ("Postgres", "postgres-db"):
        graph.merge(name, "PostgreSQL")
    (hit,) = graph.search("postgres")
    assert (hit.entity.name, hit.matched, hit.how) == ("PostgreSQL", "Postgres", How.EXACT)


def test_a_renamed_entity_is_found_by_both_names(graph: Graph) -> None:
    fill(graph, ["Clawdbot"])
    graph.rename("Clawdbot", "Openclaw Gateway")
    for typed, matched, alias in (
        ("clawdbt", "Clawdbot", True),
        ("gatewy", "Openclaw Gateway", False),
    ):
        hit = first(graph, typed)
        assert (hit.entity.name, hit.matched, hit.alias) == ("Openclaw Gateway", matched, alias)


@pytest.mark.sqlite
def test_what_is_deleted_is_not_found_and_leaves_no_word(graph: Graph) -> None:
    fill(graph, ["Secret Zanzibar", "Secret Garden"])
    graph.delete("Secret Zanzibar")
    assert graph.search("zanzibar") == []
    assert [hit.entity.name for hit in graph.search("secret")] == ["Secret Garden"]
    assert words_kept(graph) == {"secret", "garden"}
    fill(graph, ["Zanzibar Again"])
    assert first(graph, "zanzbar").entity.name == "Zanzibar Again"


def test_the_nearest_to_a_miss_are_what_the_search_finds(known: Graph) -> None:
    missed = known.find("Ada Lovelase")
    assert isinstance(missed, enfold.Unknown)
    hits = known.search("Ada Lovelase", limit=5)
    assert list(missed.nearest) == [hit.entity for hit in hits]
    assert missed.nearest[0].name == "Ada Lovelace"


def test_a_name_is_found_in_the_transaction_that_makes_it(graph: Graph) -> None:
    from enfold import lookup

    with graph._store.write() as tx:
        lookup.mint(tx, Name.of("Ada Lovelace"))
        assert [hit.matched for hit in spelling.search(tx, Name.of("lovelase"))] == ["Ada Lovelace"]


@pytest.mark.sqlite
def test_a_name_of_a_rolled_back_transaction_leaves_no_word(graph: Graph) -> None:
    from enfold import lookup

    def refused() -> None:
        with graph._store.write() as tx:
            lookup.mint(tx, Name.of("Ada Lovelace"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        refused()
    assert words_kept(graph) == set()
    fill(graph, ["Ada Lovelace"])
    assert words_kept(graph) == {"ada", "lovelace"}


def words_kept(graph: Graph) -> set[str]:
    """The words stored, which must be those that some row has, and be found by their parts."""
    with graph._store.read() as tx:
        sql: Any = tx.words._sql  # type: ignore[attr-defined]
        kept = {
            (row, word)
            for row, word in sql.all(
                "SELECT w.entity_id, word.word FROM word_of w JOIN word ON word.id = w.word_id"
            )
        }
        rows = [(row, spelled) for row, spelled, _ in tx.entities.spellings()]
        assert kept == {(row, word) for row, s in rows for word in pairs.search_words(Name(s))}
        words = set(sql.ids("SELECT word FROM word"))
        assert words == {word for _, word in kept}
        for word in words:
            if len(word) >= 3:
                assert word in tx.words.holding(word, limit=1000)
        parts = sql.ids("SELECT rowid FROM word_part")
        assert set(parts) == set(sql.ids("SELECT id FROM word"))
        assert (tx.words.misfiled(), tx.words.stray()) == ([], [])
        return words


def test_words_of_another_version_are_made_anew_by_the_next_pass(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(graph, ["Ada Lovelace", "Alan Turing"])
    graph.resolve()
    monkeypatch.setattr(filed, "VERSION", "the next")
    monkeypatch.setattr(filed, "search_words", lambda name: [f"x{word}" for word in name.words])
    fill(graph, ["Ada Byron"])
    graph.delete("Alan Turing")
    assert {violation.invariant for violation in graph.check().violations} == {"words"}
    graph.resolve()
    assert graph.check().clean
    with graph._store.read() as tx:
        assert set(tx.words.starting("", limit=9)) == {"xada", "xlovelace", "xbyron"}
    told: list[str] = []
    graph.resolve(full=True, progress=lambda what, *_: told.append(what))
    assert "filing words" not in told  # once is enough


def test_words_are_not_made_anew_by_a_dry_run(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(graph, ["Ada Lovelace"])
    monkeypatch.setattr(filed, "VERSION", "the next")
    graph.resolve(dry_run=True)
    with graph._store.read() as tx:
        assert tx.words.outdated()


VERBS = st.lists(
    st.tuples(st.sampled_from(["name", "fold", "revert", "rename", "delete"]), st.integers(0, 30)),
    max_size=15,
)


@pytest.mark.sqlite
@settings(deadline=None, max_examples=60)
@given(VERBS)
def test_words_are_those_of_the_rows_whatever_happens(verbs: list[tuple[str, int]]) -> None:
    parts = ["Ada", "Lovelace", "Turing", "Claude", "CodeX", "東京", "🚀", "Щукин"]
    with enfold.open(":memory:") as graph:
        for verb, at in verbs:
            names = [entity.name for entity in graph.entities()]
            spelled = f"{parts[at % 8]} {parts[at % 5]} {at % 3}"
            try:
                if verb == "name" or not names:
                    told(graph, "x", mentions=[spelled])
                elif verb == "fold":
                    graph.merge(names[at % len(names)], names[-1])
                elif verb == "revert":
                    for merge in graph.merges(limit=1):
                        graph.revert(merge.id)
                elif verb == "rename":
                    graph.rename(names[at % len(names)], spelled)
                else:
                    graph.delete(names[at % len(names)])
            except enfold.Error:
                pass  # refused; the words must be right all the same
        words_kept(graph)
        for entity in graph.entities():
            hits = graph.search(entity.name, limit=3)
            assert entity.id in [hit.entity.id for hit in hits]


# ---- scores -------------------------------------------------------------------------------------


def misspelt(name: str) -> Iterator[str]:
    """Every slip of one finger: two letters exchanged, one dropped, doubled, or the next one."""
    for at, letter in enumerate(name):
        rest = name[at + 1 :]
        if rest and rest[0] != letter:
            yield name[:at] + rest[0] + letter + rest[1:]
        yield name[:at] + rest
        yield name[:at] + letter + letter + rest
        yield name[:at] + chr((ord(letter) - 96) % 26 + 97) + rest


def score(typed: str, name: str) -> float:
    return spelling._Query(Name.of(typed)).likeness(Name.of(name), None)[1]


def test_scores_of_real_first_names_are_as_the_docstring_says() -> None:
    full = [f"{name} Featherstone" for name in FIRST_NAMES]
    slips = [
        score(slip, name)
        for one, name in zip(FIRST_NAMES, full, strict=True)
        for slip in misspelt(one.lower())
        if slip != one.lower()
    ]
    assert sum(slips) / len(slips) == pytest.approx(0.77, abs=0.005)
    assert min(slips) > 0.66 > spelling.FLOOR
    fragments = [score(one[:4], name) for one, name in zip(FIRST_NAMES, full, strict=True)]
    assert sum(fragments) / len(fragments) == pytest.approx(0.89, abs=0.005)


def test_first_names_that_are_others_stay_below_the_floor() -> None:
    alike = [
        (one, other)
        for one in FIRST_NAMES
        for other in FIRST_NAMES
        if one < other and score(one, other) >= spelling.FLOOR
    ]
    assert len(alike) < 20, alike  # of 1,225 pairs


LAST_NAMES = (
    "Okafor Lindqvist Nakamura O'Neil García-Márquez Щукин van-der-Berg Ng Smith Li".split()
)


def test_the_best_of_a_search_is_the_best_of_all_names(graph: Graph) -> None:
    names = [f"{one} {other}" for one in FIRST_NAMES for other in LAST_NAMES]
    fill(graph, names)
    chance = random.Random(5)
    for name in chance.sample(names, 40):
        first_name, _, last = name.partition(" ")
        slip = chance.choice([*misspelt(first_name.lower())])
        for typed in (f"{slip} {last}", f"{last} {slip}", slip, last[:4], slip + last, last):
            query = spelling._Query(Name.of(typed))
            scores = [query.likeness(Name.of(one), None) for one in names]
            best = max(score for _, score in scores)
            hits = graph.search(typed, limit=len(names))
            found = max((hit.score for hit in hits), default=0)
            assert found == (round(best, 3) if best >= spelling.FLOOR else 0), typed


def test_no_slip_in_a_word_hides_a_name(graph: Graph) -> None:
    names = [f"{one} {other}" for one in FIRST_NAMES for other in ("Okafor", "Lindqvist")]
    fill(graph, names)
    chance = random.Random(4)
    slips = [
        (slip, one) for one in FIRST_NAMES for slip in chance.sample([*misspelt(one.lower())], 4)
    ]
    found = sum(
        f"{one} Okafor" in [hit.matched for hit in graph.search(f"{slip} okafor", limit=5)]
        for slip, one in slips
    )
    assert found / len(slips) > 0.99


# ---- bounded ------------------------------------------------------------------------------------


def test_no_search_reads_more_rows_than_it_says(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(graph, [f"Ada {a} Lovelace {b}" for a in range(60) for b in range(60)])
    read: list[int] = []
    from enfold.store.entities import Entities

    plain = Entities.rows_by_id

    def counted(self: Entities, ids: Sequence[int]) -> Any:
        read.append(len(ids))
        return plain(self, ids)

    monkeypatch.setattr(Entities, "rows_by_id", counted)
    for typed in ("a", "ada", "lovelace", "ada lovelase", "lovelace ada 7 9", "ada 1 2 3 4"):
        assert graph.search(typed, limit=5)
    assert max(read) <= spelling.ROWS + spelling.PROBED
