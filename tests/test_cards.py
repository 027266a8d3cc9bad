"""Cards: how they are dealt, what an answer does, and that an undo takes back just that."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import enfold
from enfold import answers, cards, folds
from enfold.cards import Edge, Filter, Held, Open, deal, gather, sentence
from enfold.errors import Error
from enfold.model import DecidedBy
from enfold.names import Name
from enfold.store import Store, open_store
from tests.inside import sql_of
from tests.test_conflicts import ask, fold, mention, mint
from tests.test_store import whole_scans
from tests.told import told

Pair = tuple[int, int]


def refused(code: str) -> Any:
    return pytest.raises(Error, check=lambda error: getattr(error, "code", None) == code)


def suggest(tx: Any, *pairs: Pair, rule: str = "spelling", score: float = 0.5) -> None:
    tx.suggestions.replace_for([], [(min(p), max(p), rule, score) for p in pairs])


@pytest.fixture
def store() -> Iterator[Store]:
    store = open_store(":memory:")
    yield store
    store.close()


def names(found: list[cards.Card]) -> list[tuple[str, list[str]]]:
    return [(card.centre.name, [leaf.side.name for leaf in card.leaves]) for card in found]


# ---- dealing -------------------------------------------------------------------------------------

graphs_of_pairs = st.sets(
    st.tuples(st.integers(1, 14), st.integers(1, 14)).filter(lambda p: p[0] < p[1]), max_size=40
)


def held(pairs: set[Pair]) -> Held:
    weights = {pair: (pair[0] * 7 + pair[1] * 3) % 5 for pair in pairs}
    edges = [Edge(low, high, weights[low, high], 0.5, low, high, "x") for low, high in pairs]
    return Held(sorted(edges, key=lambda edge: edge.rank))


@settings(deadline=None)
@given(graphs_of_pairs, st.integers(1, 9))
def test_every_pair_is_dealt_once_and_every_card_is_a_star(pairs: set[Pair], leaves: int) -> None:
    dealt = list(deal(held(pairs), leaves=leaves))
    assert sorted(edge.pair for star in dealt for edge in star.edges) == sorted(pairs)
    for star in dealt:
        assert 0 < len(star.edges) <= leaves
        assert all(star.centre in edge.pair for edge in star.edges)


@settings(deadline=None)
@given(graphs_of_pairs)
def test_no_entity_is_a_leaf_of_two_cards_at_a_time(pairs: set[Pair]) -> None:
    pool = held(pairs)
    taken: set[int] = set()
    left = set(pairs)
    for star in deal(pool):
        mine = {edge.other(star.centre) for edge in star.edges}
        if mine & taken:  # a new round: nothing else could be dealt
            assert all(set(pair) <= taken for pair in left)
            taken.clear()
        taken |= mine
        left -= {edge.pair for edge in star.edges}


@settings(deadline=None)
@given(graphs_of_pairs, graphs_of_pairs)
def test_what_is_passed_over_is_not_dealt(pairs: set[Pair], passed: set[Pair]) -> None:
    dealt = [edge.pair for star in deal(held(pairs), passed=passed) for edge in star.edges]
    assert sorted(dealt) == sorted(pairs - passed)


ruled = st.dictionaries(
    st.tuples(st.integers(1, 30), st.integers(1, 30)).filter(lambda p: p[0] < p[1]),
    st.sampled_from(["spelling", "person", "place"]),
    max_size=40,
)


def held_by_rule(rules: dict[Pair, str]) -> Held:
    edges = [Edge(low, high, 1, 0.5, low, high, rule) for (low, high), rule in rules.items()]
    return Held(sorted(edges, key=lambda edge: edge.rank))


@settings(deadline=None)
@given(ruled, st.integers(0, 9), st.integers(1, 9))
def test_every_pair_is_on_one_card_and_a_list_shares_no_entity_and_is_of_one_rule_but_the_last(
    rules: dict[Pair, str], ahead: int, lines: int
) -> None:
    stars = list(deal(held_by_rule(rules)))
    groups = list(gather(iter(stars), ahead=ahead, lines=lines))
    dealt = [edge.pair for group in groups for star in group for edge in star.edges]
    assert sorted(dealt) == sorted(rules)
    for number, group in enumerate(groups, 1):
        if len(group) == 1:
            continue
        edges = [edge for star in group for edge in star.edges]
        assert len(edges) == len(group) <= lines
        if len({edge.rule for edge in edges}) > 1:
            left = [star for later in groups[number:] for star in later if len(star.edges) == 1]
            assert len(group) + len(left) <= lines
            ends = {end for edge in edges for end in edge.pair}
            assert all(ends.intersection(star.edges[0].pair) for star in left)
        assert len({end for edge in edges for end in edge.pair}) == 2 * len(edges)
    # Each comes where its first star was dealt, and none sooner than those before it.
    firsts = [stars.index(group[0]) for group in groups]
    assert firsts == sorted(firsts)
    assert groups == [] or groups[0][0] is stars[0]


def test_so_many_pairs_ahead_are_looked_at_and_no_more() -> None:
    rules = {(n, n + 1): "rare" if n == 1 else "common" for n in range(1, 4_001, 2)}
    asked = 0

    def counted() -> Iterator[Any]:
        nonlocal asked
        for star in deal(held_by_rule(rules)):
            asked += 1
            yield star

    groups = gather(counted(), ahead=50)
    assert len(next(groups)) == 1
    assert asked == 51
    assert [len(next(groups)) for _ in range(5)] == [9] * 5
    assert asked == 51  # those held are enough
    next(groups)
    assert asked < 60


def test_the_last_few_pairs_are_one_list_whatever_their_rules() -> None:
    pool = held_by_rule({(1, 2): "spelling", (3, 4): "spelling", (5, 6): "person"})
    assert [len(group) for group in gather(deal(pool))] == [3]
    shared = held_by_rule({(1, 2): "spelling", (3, 4): "person", (4, 5): "js-suffix"})
    assert [len(group) for group in gather(deal(shared), lines=9)] == [1, 1]
    many = held_by_rule({(n, n + 1): f"rule{n}" for n in range(1, 21, 2)})
    assert [len(group) for group in gather(deal(many))] == [1, 9]


def test_single_pairs_of_one_rule_come_together_where_the_first_stood(store: Store) -> None:
    with store.write() as tx:
        rows = mint(tx, *(f"name{n:02}x" for n in range(23)))
        singles = list(zip(rows[:20:2], rows[1:20:2], strict=True))
        rules = ["spelling", "person"] * 5  # ten pairs: too many for one list of whatever is left
        asked = zip(singles, rules, strict=True)
        tx.suggestions.replace_for(
            [], [(*pair, rule, 0.9 - n / 20) for n, (pair, rule) in enumerate(asked)]
        )
        i, j, k = rows[20:]
        tx.suggestions.replace_for([i], [(i, j, "spelling", 0.3), (i, k, "spelling", 0.2)])
        found = list(cards.stream(tx, limit=9))
        shown = [
            (card.kind, card.rules if card.kind == "list" else card.rule, len(card.pairs))
            for card in found
        ]
        assert shown == [
            ("list", ("spelling",), 5),
            ("list", ("person",), 5),
            ("star", "spelling", 2),
        ]
        assert found[0].pairs == tuple(singles[::2])
        assert cards.count(tx, lists=True) == (12, 3)
        assert cards.count(tx) == (12, 11)
        assert len(list(cards.stream(tx, limit=20, lists=False))) == 11
        rest = list(cards.stream(tx, limit=9, passed=found[0].pairs))
        assert [card.pairs for card in rest] == [card.pairs for card in found[1:]]
        assert [card.kind for card in cards.stream(tx, limit=9, around=i)] == ["star"]


def test_a_list_names_its_rules_that_of_the_weightiest_pair_first(store: Store) -> None:
    with store.write() as tx:
        a, b, c, d, e, f = mint(tx, "abcde", "abcdef", "lmnop", "lmnopq", "vwxyz", "vwxyzz")
        asked = [(a, b, "spelling", 0.5), (c, d, "person", 0.9), (e, f, "spelling", 0.3)]
        tx.suggestions.replace_for([], asked)
        (card,) = cards.stream(tx, limit=9)
        assert isinstance(card, cards.ListCard)
        assert card.rules == ("person", "spelling")
        assert card.pairs == ((c, d), (a, b), (e, f))
        rest = card.without(card.lines[0])
        assert isinstance(rest, cards.ListCard)
        assert rest.rules == ("spelling",)
        done = answers.answer(tx, card, same=card.asked[:1], apart=card.asked[1:])
        assert (len(done.merges), len(done.decisions)) == (1, 2)
        assert answers.undo(tx, done.id).before == 0
        assert list(cards.stream(tx, limit=9)) == [card]


def test_a_list_is_round_the_names_that_survive(store: Store) -> None:
    with store.write() as tx:
        a, b, c, d = mint(tx, "abcde", "abcdef", "vwxyz", "vwxyzz")
        mention(tx, a, 2)
        mention(tx, d, 3)
        suggest(tx, (a, b), (c, d))
        (card,) = cards.stream(tx, limit=9)
        assert isinstance(card, cards.ListCard)
        assert [line.centre.id for line in card.lines] == [line.keeps for line in card.lines]
        assert {line.centre.id for line in card.lines} == {a, d}
        assert card.without(card.lines[0]) is card.lines[1]


def test_cards_are_dealt_from_the_queue_and_from_what_waits_alike(store: Store) -> None:
    with store.write() as tx:
        a, b, c, d = mint(tx, "abcde", "abcdef", "abcdefg", "bcdef")
        suggest(tx, (a, b), (a, c), (b, d))
        ask(tx, (d, b))
        found = cards.cards(tx, limit=9)
        assert sorted(p for card in found for p in card.pairs) == [(a, b), (a, c), (b, d)]
        queued = {leaf.conflict_id is not None: leaf.side.id for c in found for leaf in c.leaves}
        assert set(queued) == {True, False}
        assert cards.count(tx) == (3, 2)


def test_the_weightiest_question_is_on_the_first_card(store: Store) -> None:
    with store.write() as tx:
        a, b, c, d = mint(tx, "abcde", "abcdef", "uvwxy", "uvwxyz")
        suggest(tx, (a, b), (c, d))
        for row, times in ((a, 9), (b, 1), (c, 3), (d, 2)):
            mention(tx, row, times)
        assert [sorted(p) for card in cards.cards(tx, limit=2) for p in card.pairs] == [
            [c, d],
            [a, b],
        ]


def test_a_card_goes_round_the_side_with_more_questions(store: Store) -> None:
    with store.write() as tx:
        a, b, c, d = mint(tx, "abcde", "abcdef", "abcdeg", "abcdeh")
        for row in (a, b):
            mention(tx, row, 5)
        mention(tx, b, 5)
        suggest(tx, (a, b), (a, c), (a, d))
        assert names(cards.cards(tx, limit=9)) == [("abcde", ["abcdef", "abcdeg", "abcdeh"])]
        # The name that survives is still the one most mentioned.
        assert cards.cards(tx, limit=1)[0].keeps == b


def test_a_hub_makes_cards_of_nine(store: Store) -> None:
    with store.write() as tx:
        hub, *leaves = mint(tx, "hub", *(f"leaf{n}x" for n in range(20)))
        suggest(tx, *((hub, leaf) for leaf in leaves))
        found = cards.cards(tx, limit=9)
        assert [len(card.leaves) for card in found] == [9, 9, 2]
        assert found[0].more == 11
        assert len({p for card in found for p in card.pairs}) == 20


def test_filters_leave_out_what_was_not_asked_for(store: Store) -> None:
    with store.write() as tx:
        a, b, c = mint(tx, "abcde", "abcdef", "abcdefg")
        tx.suggestions.replace_for([], [(a, b, "spelling", 0.5), (a, c, "contained", 0.9)])
        tx.entities.set_type(c, "Place")
        assert names(cards.cards(tx, limit=9, which=Filter("contained"))) == [
            ("abcde", ["abcdefg"])
        ]
        assert names(cards.cards(tx, limit=9, which=Filter(type="place"))) == [
            ("abcde", ["abcdefg"])
        ]
        assert cards.count(tx, Filter("contained")) == (1, 1)
        assert cards.cards(tx, limit=9, which=Filter("none")) == []
        ask(tx, (b, a))  # in the queue they are filtered as well
        assert cards.count(tx, Filter("spelling")) == (1, 1)
        assert cards.count(tx, Filter(type="place")) == (1, 1)
        around = cards.cards(tx, limit=9, around=c)
        assert [(card.centre.id, card.pairs) for card in around] == [(c, ((a, c),))]


def test_a_rare_rule_is_found_behind_many_others(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from enfold.store import suggestions

    monkeypatch.setattr(suggestions, "_FIRST", 3)
    with store.write() as tx:
        rows = mint(tx, *(f"name{n}x" for n in range(12)))
        asked = [(a, b, "common", 0.9) for a, b in pairwise(rows)]
        asked[1] = (*asked[1][:2], "rare", 0.9)
        asked[9] = (*asked[9][:2], "rare", 0.5)
        tx.suggestions.replace_for([], asked)
        found = [pair.low for pair in tx.suggestions.ranked_open(rule="rare")]
        assert found == [rows[1], rows[9]]
        every = [pair.low for pair in tx.suggestions.ranked_open()]
        assert sorted(every) == rows[:11]
        common = [pair.low for pair in tx.suggestions.ranked_open(rule="common")]
        assert common == [row for row in every if row not in found]


def test_a_read_sees_what_changed_since_the_pairs_were_settled(store: Store) -> None:
    with store.write() as tx:
        a, b, c, d = mint(tx, "abcde", "abcdef", "abcdefg", "abcdefgh")
        suggest(tx, (a, b), (b, c), (c, d))
    with store.write() as tx:
        fold(tx, b, a)  # leaves marks; nothing is settled before the read
    with store.read() as tx:
        pool = Open(tx)
        assert [edge.pair for edge in pool.ranked()] == [(a, c), (c, d)]
        assert [edge.pair for edge in pool.around(c, 9)] == [(a, c), (c, d)]
        assert (pool.count_around(c), pool.count_around(d), pool.count()) == (2, 1, 2)
        assert [edge.pair for edge in pool.between([a, c])] == [(a, c)]
        assert [edge.pair for edge in pool.between([c, d])] == [(c, d)]
        assert Open(tx, Filter("spelling")).count() == 2
        assert Open(tx, Filter("other")).count() == 0


@pytest.mark.sqlite
def test_the_next_card_and_its_answer_read_no_table_whole(store: Store) -> None:
    with store.write() as tx:
        rows = mint(tx, *(f"name{n}x" for n in range(60)))
        suggest(tx, *pairwise(rows[:40]))
        for row in rows[:9]:
            mention(tx, row, 2)
        ask(tx, (rows[50], rows[51]))
        statements: list[str] = []
        connection = sql_of(tx)._connection
        connection.set_trace_callback(statements.append)
        (card,) = cards.cards(tx, limit=1)
        cards.cards(tx, limit=1, which=Filter("spelling"))
        answers.answer(tx, card, same=[leaf.side.id for leaf in card.leaves])
        answers.undo(tx)
        connection.set_trace_callback(None)
        # Whether there is any suggestion at all is answered by the first.
        others = [text for text in statements if "EXISTS (SELECT 1 FROM suggestion)" not in text]
        assert not {scan for text in others for scan in whole_scans(connection, text)}
        plans = [
            step[-1]
            for text in statements
            if "FROM open_pair" in text and text.lstrip().startswith("SELECT")
            for step in connection.execute(f"EXPLAIN QUERY PLAN {text}")
        ]
        assert any("open_pair_rank" in step for step in plans)


# ---- what stands on a card -----------------------------------------------------------------------


def test_a_card_shows_evidence_neighbours_and_what_differs() -> None:
    with enfold.open(":memory:") as graph:
        told(graph, "Ada met Charles.", mentions=["Ada", "Charles"], source="a.txt")
        told(graph, "Ada Lovelace met Charles. It rained.", mentions=["Ada Lovelace", "Charles"])
        told(graph, "Ada Lovelace is Ada.", mentions=["Ada", "Ada Lovelace"])
        told(graph, "Ada Lovelace wrote notes.", mentions=["Ada Lovelace", "Notes"],
            facts=[("Ada Lovelace", "wrote", "Notes")],
        )  # fmt: skip
        for name in ("Ada", "Ada Lovelace"):
            graph.retype(name, "person")
        graph.resolve(backup=False)
        (card,) = graph.cards()
        assert (card.centre.name, card.centre.type, card.centre.facts) == (
            "Ada Lovelace",
            "person",
            1,
        )
        (leaf,) = card.leaves
        assert leaf.rule == "person"
        assert "alone may be" in leaf.reason
        assert (leaf.together, leaf.shared, leaf.shared_count) == (1, ("Charles",), 1)
        assert leaf.leaf_only == ()
        assert leaf.centre_only == ("Notes",)
        assert [one.text for one in card.centre.evidence] == [
            "Ada Lovelace met Charles.",
            "Ada Lovelace is Ada.",
        ]
        assert leaf.side.evidence[0].source == "a.txt"


def test_a_card_says_what_is_open_between_leaves_and_what_folding_settles(
    store: Store,
) -> None:
    with store.write() as tx:
        a, b, c, x, y = mint(tx, "abcde", "abcdef", "abcdeg", "xbcdef", "ybcdef")
        suggest(tx, (a, b), (a, c), (b, c), (b, x), (a, x), (c, y))
        folds.keep_apart(tx, *tx.entities.many([a, y]).values())
        card = next(c for c in cards.cards(tx, limit=9) if c.centre.id == a)
        assert [leaf.side.id for leaf in card.leaves] == [b, c, x]
        assert [(one.left_id, one.right_id) for one in card.beside] == [(b, c), (b, x)]
        # b~c and b~x become one entity's; c~y would be of two that are settled apart.
        assert card.settles == 3


def test_leaves_that_are_settled_apart_are_told() -> None:
    with open_store(":memory:").write() as tx:
        a, b, c = mint(tx, "abcde", "abcdef", "abcdeg")
        suggest(tx, (a, b), (a, c))
        folds.keep_apart(tx, *tx.entities.many([b, c]).values())
        (card,) = cards.cards(tx, limit=9)
        assert card.apart == ((b, c),)
        with refused("settled_apart"):
            answers.answer(tx, card, same=[b, c])


@pytest.mark.parametrize(
    ("text", "spelling", "shown"),
    [
        ("One. Ada met him. Two.", "Ada", "Ada met him."),
        ("Straße, said ADA! And more.", "ada", "Straße, said ADA!"),
        ("Nothing of it here. Nor here.", "Ada", "Nothing of it here."),
        ("line\nAda\nline", "Ada", "Ada"),
        ("", "Ada", ""),
        ("文です。Adaです。次", "Ada", "Adaです。"),
    ],
)
def test_evidence_is_the_sentence_that_names_it(text: str, spelling: str, shown: str) -> None:
    assert sentence(text, spelling) == shown


@given(st.text(max_size=400), st.text(min_size=1, max_size=20), st.integers(20, 80))
def test_evidence_is_never_longer_than_asked(text: str, spelling: str, most: int) -> None:
    assert len(sentence(text, spelling, most)) <= most + 4


def test_a_long_sentence_is_cut_at_words_round_the_name() -> None:
    text = "before " * 60 + "Ada Lovelace" + " after" * 60
    cut = sentence(text, "Ada Lovelace")
    assert "Ada Lovelace" in cut
    assert cut.startswith("… before")
    assert cut.endswith("after …")
    assert len(cut) <= cards.SENTENCE + 4


def test_a_hub_and_a_book_of_a_memory_stay_bounded(store: Store) -> None:
    with store.write() as tx:
        hub, leaf = mint(tx, "hub", "hubb")
        for _ in range(300):
            tx.edges.mention(tx.memories.add("hub " * 10), hub, "hub")
        book = tx.memories.add("x" * 2_000_000 + " hubb is here. " + "y" * 2_000_000)
        tx.edges.mention(book, leaf, "hubb")
        suggest(tx, (hub, leaf))
        passages = tx.edges.passages(hub, memories=24, around=240)
        assert len(passages) == 24
        (card,) = cards.cards(tx, limit=1)
        found = next(s for s in (card.centre, card.leaves[0].side) if s.id == leaf)
        assert "hubb is here" in found.evidence[0].text


# ---- answering -----------------------------------------------------------------------------------


@pytest.fixture
def ring() -> Iterator[enfold.Graph]:
    """A centre with three leaves, of which two are also asked about between themselves; and one
    pair besides."""
    with enfold.open(":memory:", actor="ann") as graph:
        for name in ("Ada Lovelace", "A. Lovelace", "Ada", "Ada Byron", "Grace", "Grace Hopper"):
            told(graph, f"{name} wrote.", mentions=[enfold.Name.of(name, "person")])
        told(graph, "Ada Lovelace again.", mentions=["Ada Lovelace", "Ada"])
        graph.resolve(backup=False)
        yield graph


def state(graph: enfold.Graph) -> object:
    """What a reader sees, and what is asked and waits."""
    with graph._store.read() as tx:
        entities = [tx.entities.get(row) for row, _, _ in tx.entities.spellings()]
        return (
            entities,
            [edge.pair for edge in Open(tx).ranked()],
            graph.conflicts(),
            graph.merges(),
            graph.apart(),
        )


def card_of(graph: enfold.Graph, name: str) -> cards.Card:
    return graph.cards(around=name, limit=1)[0]


def test_folding_all_leaves_one_entity_and_settles_what_was_between_them(
    ring: enfold.Graph,
) -> None:
    card = card_of(ring, "Ada Lovelace")
    done = ring.answer_card(card, same=[leaf.side.id for leaf in card.leaves])
    assert len(done.merges) == len(card.leaves) == 2
    assert {merge.canonical_name for merge in done.merges} == {"Ada Lovelace"}
    assert {merge.conflict_id for merge in done.merges} == set(done.questions)
    assert all(merge.actor == "ann" for merge in done.merges)
    assert ring.check().clean


def test_a_leaf_can_be_the_name_that_survives(ring: enfold.Graph) -> None:
    card = card_of(ring, "Ada Lovelace")
    keep = next(leaf.side.id for leaf in card.leaves if leaf.side.name == "A. Lovelace")
    done = ring.answer_card(card, same=[leaf.side.id for leaf in card.leaves], keep=keep)
    assert {merge.canonical_id for merge in done.merges} == {keep}
    found = ring.entity("Ada Lovelace").entity
    assert found.name == "A. Lovelace"


def test_some_are_folded_others_kept_apart_and_the_rest_stays_asked(ring: enfold.Graph) -> None:
    card = card_of(ring, "Ada")
    lovelace, byron = (
        next(leaf.side.id for leaf in card.leaves if leaf.side.name == name)
        for name in ("Ada Lovelace", "Ada Byron")
    )
    before, _ = ring.count_cards()
    ring.answer_card(card, apart=[byron])
    assert ring.count_cards()[0] == before - 1
    assert [(d.left_name, d.right_name) for d in ring.apart()] == [("Ada Byron", "Ada")]
    (again,) = ring.cards(around="Ada")
    assert [leaf.side.id for leaf in again.leaves] == [lovelace]


def test_all_different_settles_what_is_open_between_the_leaves_too(store: Store) -> None:
    with store.write() as tx:
        a, b, c, d = mint(tx, "abcde", "abcdef", "abcdeg", "abcdeh")
        suggest(tx, (a, b), (a, c), (b, c), (b, d))
        (card,) = cards.cards(tx, limit=1, around=a)
        done = answers.answer(tx, card, apart=[b, c], among=True)
        assert len(done.decisions) == 3
        assert [edge.pair for edge in Open(tx).ranked()] == [(b, d)]


def test_an_answer_to_a_pair_that_waits_asks_it_in_the_same_go(store: Store) -> None:
    with store.write() as tx:
        a, b = mint(tx, "abcde", "abcdef")
        suggest(tx, (a, b))
        (card,) = cards.cards(tx, limit=1)
        assert card.leaves[0].conflict_id is None
        done = answers.answer(tx, card, same=[card.leaves[0].side.id], actor="ann")
        question = tx.conflicts.get(done.questions[0])
        assert question is not None
        assert (question.rule, question.asked_by, question.answered_by) == (
            "spelling",
            "rule",
            "ann",
        )
        assert "edit" in question.reason
        assert question.merge_id == done.merges[0].id


def test_the_queue_takes_what_waits_into_the_places_an_answer_frees() -> None:
    with enfold.open(":memory:") as graph:
        random = Random(1)
        for _ in range(60):
            word = "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=12))
            for end in ("", "s", "x"):
                told(graph, "x", mentions=[word + end])
        report = graph.resolve(backup=False)
        assert report.queued == 50
        assert report.deferred > 0
        before, _ = graph.count_cards()
        card = graph.cards(limit=1)[0]
        done = graph.answer_card(card, apart=[leaf.side.id for leaf in card.leaves])
        assert len(graph.conflicts()) == 50
        assert len(done.queued) > 0
        assert graph.count_cards()[0] == before - len(card.leaves)
        graph.undo_answer()
        assert len(graph.conflicts()) == 50
        assert graph.count_cards()[0] == before


def test_what_a_fold_settles_apart_besides_is_recorded_as_said(store: Store) -> None:
    with store.write() as tx:
        a, b, c = mint(tx, "abcde", "abcdef", "abcdeg")
        suggest(tx, (a, b), (a, c))
        folds.keep_apart(tx, *tx.entities.many([b, c]).values())
        (card,) = cards.cards(tx, limit=1)
        done = answers.answer(tx, card, same=[b], apart=[c])
        assert (len(done.merges), len(done.decisions)) == (1, 1)
        answers.undo(tx)
        said = [answers.Said(2, a, b, True), answers.Said(3, a, c, False)]
        assert outcomes(answers.answer_pairs(tx, said)[0]) == ["done", "done"]


@pytest.mark.parametrize(
    "said",
    [
        {"same": [999]},
        {},
        {"same": ["first"], "apart": ["first"]},
        {"same": ["first"], "keep": 999},
        {"apart": ["first"], "keep": "first"},
    ],
)
def test_what_is_not_on_the_card_is_refused(ring: enfold.Graph, said: dict[str, Any]) -> None:
    card = card_of(ring, "Ada Lovelace")
    first = card.leaves[0].side.id

    def given_(value: Any) -> Any:
        if isinstance(value, list):
            return [first if one == "first" else one for one in value]
        return first if value == "first" else value

    before = state(ring)
    with refused("not_on_card"):
        ring.answer_card(card, **{key: given_(value) for key, value in said.items()})
    assert state(ring) == before


@pytest.mark.parametrize("what", ["fold", "apart", "rename", "retype", "answer", "alias"])
def test_what_changed_since_the_card_was_shown_is_told_and_nothing_is_done(
    ring: enfold.Graph, what: str
) -> None:
    card = card_of(ring, "Ada Lovelace")
    leaf = card.leaves[0].side
    if what == "fold":
        ring.merge(leaf.id, "Grace")
    elif what == "apart":
        ring.keep_apart(leaf.id, card.centre.id)
    elif what == "rename":
        ring.rename(leaf.id, "Countess")
    elif what == "retype":
        ring.retype(leaf.id, "ship")
    elif what == "alias":
        ring.alias(card.centre.id, "Enchantress")
    else:
        ring.answer_card(card, same=[leaf.id])
    before = state(ring)
    with refused("card_changed"):
        ring.answer_card(card, same=[leaf.id])
    assert state(ring) == before


# ---- lists ---------------------------------------------------------------------------------------


@pytest.fixture
def lines() -> Iterator[enfold.Graph]:
    """Four pairs of one rule, of which no two share an entity."""
    with enfold.open(":memory:", actor="ann") as graph:
        for name in LINES:
            told(graph, f"{name} is here.", mentions=[name])
        graph.resolve(backup=False)
        yield graph


LINES = (
    "Marlowe Quarry",
    "Marlowe Quary",
    "Bellwether Junction",
    "Bellwether Junktion",
    "Thornbury Lighthouse",
    "Thornburry Lighthouse",
    "Copperfield Observatory",
    "Coperfield Observatory",
)


def list_of(graph: enfold.Graph) -> cards.ListCard:
    (card,) = graph.deal()
    assert isinstance(card, cards.ListCard)
    assert len(card.lines) == 4
    return card


def test_one_answer_folds_every_line_of_a_list_and_one_undo_takes_it_back(
    lines: enfold.Graph,
) -> None:
    card, before = list_of(lines), state(lines)
    done = lines.answer_card(card, same=card.asked)
    folded = {(merge.absorbed_id, merge.canonical_id) for merge in done.merges}
    assert folded == {(line.asked[0], line.centre.id) for line in card.lines}
    assert lines.count_cards() == (0, 0)
    assert len(lines.undo_answer().merges) == 4
    assert state(lines) == before
    with refused("no_answer"):
        lines.undo_answer()
    assert lines.check().clean


def test_some_lines_are_folded_others_kept_apart_and_the_rest_stays_asked(
    lines: enfold.Graph,
) -> None:
    card = list_of(lines)
    one, two, three, _ = card.asked
    done = lines.answer_card(card, same=[two], apart=[one, three])
    assert [merge.absorbed_id for merge in done.merges] == [two]
    assert {decision.id for decision in lines.apart()} == set(done.decisions)
    assert len(done.decisions) == 2
    (left,) = lines.deal()
    assert left.pairs == card.pairs[3:]
    assert left.kind == "star"


def test_all_different_on_a_list_settles_its_lines_alone(lines: enfold.Graph) -> None:
    card = list_of(lines)
    done = lines.answer_card(card, apart=card.asked, among=True)
    assert len(done.decisions) == 4
    assert lines.count_cards() == (0, 0)


@pytest.mark.parametrize("what", ["fold", "apart", "rename", "retype", "alias", "delete"])
def test_lines_that_changed_are_told_and_nothing_is_done(lines: enfold.Graph, what: str) -> None:
    card = list_of(lines)
    line = card.lines[1]
    leaf = line.leaves[0].side
    if what == "fold":
        lines.merge(leaf.id, line.centre.id)
    elif what == "apart":
        lines.keep_apart(leaf.id, line.centre.id)
    elif what == "rename":
        lines.rename(leaf.id, "Countess")
    elif what == "retype":
        lines.retype(line.centre.id, "ship")
    elif what == "alias":
        lines.alias(line.centre.id, "Enchantress")
    else:
        lines.delete(leaf.id)
    before = state(lines)
    with pytest.raises(Error) as told:
        lines.answer_card(card, same=card.asked)
    assert told.value.code == "card_changed"
    assert f"“{leaf.name}” ~ “{line.centre.name}”" in str(told.value)
    assert "Nothing was answered" in str(told.value)
    assert card.lines[0].centre.name not in str(told.value)
    assert state(lines) == before
    # The other lines can be answered as they are.
    done = lines.answer_card(card, same=[card.asked[0]], apart=card.asked[2:])
    assert (len(done.merges), len(done.decisions)) == (1, 2)


def test_what_is_not_on_a_list_is_refused(lines: enfold.Graph) -> None:
    card, before = list_of(lines), state(lines)
    first = card.asked[0]
    for said in (
        {},
        {"same": [card.lines[0].centre.id]},
        {"same": [first], "apart": [first]},
        {"same": [first], "keep": first},
    ):
        with refused("not_on_card"):
            lines.answer_card(card, **said)
    assert state(lines) == before


def test_a_line_is_answered_as_a_card_of_its_own(lines: enfold.Graph) -> None:
    card = list_of(lines)
    line = card.lines[2]
    done = lines.answer_card(line, same=line.asked, keep=line.asked[0])
    assert done.merges[0].canonical_id == line.asked[0]
    left = card.without(line)
    assert left is not None
    assert left.pairs == tuple(pair for pair in card.pairs if pair not in line.pairs)
    assert len(lines.answer_card(left, same=left.asked).merges) == 3


@settings(max_examples=30, deadline=None)
@given(ruled, st.lists(st.tuples(st.integers(0, 9), st.integers(0, 511)), max_size=8))
def test_answers_to_any_cards_are_taken_back_to_what_was(
    rules: dict[Pair, str], said: list[tuple[int, int]]
) -> None:
    store = open_store(":memory:")
    with store.write() as tx:
        rows = mint(tx, *(f"name{n:02}x" for n in range(31)))
        asked = [(rows[low], rows[high], rule, 0.5) for (low, high), rule in rules.items()]
        tx.suggestions.replace_for([], asked)

        def seen() -> object:
            open_now = [edge.pair for edge in Open(tx).ranked()]
            return [tx.entities.get(row) for row in rows], open_now, tx.decisions.apart_roots()

        before, answered = seen(), 0
        for place, marks in said:
            found = list(cards.stream(tx, limit=10))
            every = sorted(pair for card in found for pair in card.pairs)
            assert len(every) == len(set(every))
            if not found:
                break
            card = found[place % len(found)]
            same = [one for at, one in enumerate(card.asked) if marks >> at & 1]
            apart = [one for one in card.asked if one not in same]
            try:
                answers.answer(tx, card, same=same, apart=apart)
            except Error as error:
                assert (error.code, card.kind) == ("settled_apart", "star")  # noqa: PT017
                continue  # refused before anything is written
            answered += 1
        for _ in range(answered):
            answers.undo(tx)
        assert seen() == before
    store.close()


# ---- many at once --------------------------------------------------------------------------------


def test_one_answer_for_all_folds_in_stars_and_never_in_chains(store: Store) -> None:
    with store.write() as tx:
        a, b, c, d = mint(tx, "abcde", "abcdef", "abcdefg", "abcdefgh")
        for row, times in ((b, 3), (a, 2), (c, 2), (d, 1)):
            mention(tx, row, times)
        suggest(tx, (a, b), (b, c), (c, d))
        plan = answers.answer_all(tx, Filter("spelling"), same=True, dry_run=True)
        assert (plan.pairs, plan.left, plan.answered) == (2, 1, None)
        done = answers.answer_all(tx, Filter("spelling"), same=True)
        assert done.answered is not None
        assert {m.absorbed_id for m in done.answered.merges} == {a, c}
        # c went into b; d was asked against c, and is now asked against b.
        assert [edge.pair for edge in Open(tx).ranked()] == [(b, d)]


def test_one_answer_for_all_is_for_as_many_as_were_agreed_to(store: Store) -> None:
    with store.write() as tx:
        a, b, c = mint(tx, "abcde", "abcdef", "abcdefg")
        suggest(tx, (a, b))
        plan = answers.answer_all(tx, Filter("spelling"), same=False, dry_run=True)
        suggest(tx, (b, c))
        with refused("card_changed"):
            answers.answer_all(tx, Filter("spelling"), same=False, expected=plan.pairs)
        done = answers.answer_all(tx, Filter("spelling"), same=False, expected=2)
        assert done.pairs == 2


def test_one_answer_for_all_never_joins_two_things_of_one_name(store: Store) -> None:
    with store.write() as tx:
        (theme,) = mint(tx, "Zen Gardens")
        plugin = tx.entities.add(Name.of("Zen Gardens"), type=None, sense=1)
        assert plugin is not None
        (other,) = mint(tx, "Zen Garden")
        suggest(tx, (theme, other), (plugin, other))
        done = answers.answer_all(tx, Filter("spelling"), same=True)
        assert (done.pairs, done.left) == (1, 1)


def test_one_answer_for_all_leaves_out_what_is_settled_apart(store: Store) -> None:
    with store.write() as tx:
        a, b, c = mint(tx, "abcde", "abcdef", "abcdeg")
        mention(tx, a, 2)
        suggest(tx, (a, b), (a, c))
        folds.keep_apart(tx, *tx.entities.many([b, c]).values())
        done = answers.answer_all(tx, Filter(), same=True)
        assert (done.pairs, done.left) == (1, 1)


def test_one_answer_for_all_goes_by_rule_type_and_score(store: Store) -> None:
    with store.write() as tx:
        a, b, c, d = mint(tx, "abcde", "abcdef", "vwxyz", "vwxyzz")
        tx.suggestions.replace_for([], [(a, b, "spelling", 0.5), (c, d, "spelling", 0.9)])
        tx.entities.set_type(a, "ship")
        assert answers.answer_all(tx, Filter("other"), same=False, dry_run=True).pairs == 0
        assert answers.answer_all(tx, Filter(type="SHIP"), same=False, dry_run=True).pairs == 1
        with refused("nothing_open"):
            answers.answer_all(tx, Filter("other"), same=False)
        done = answers.answer_all(tx, Filter("spelling", None, 0.8), same=False)
        assert done.answered is not None
        assert tx.decisions.apart_roots() == [(c, d)]
        answers.undo(tx)
        assert tx.decisions.apart_roots() == []


# ---- taking back ---------------------------------------------------------------------------------


def test_undo_takes_back_what_the_last_answer_did_and_the_one_before(ring: enfold.Graph) -> None:
    states = [state(ring)]
    for name in ("Ada Lovelace", "Grace"):
        card = card_of(ring, name)
        first, *rest = [leaf.side.id for leaf in card.leaves]
        ring.answer_card(card, same=[first], apart=rest)
        states.append(state(ring))
    for expected in reversed(states[:-1]):
        undone = ring.undo_answer()
        assert undone.before == 0
        assert state(ring) == expected
    with refused("no_answer"):
        ring.undo_answer()
    assert ring.check().clean


def test_undo_is_of_the_one_who_answered(ring: enfold.Graph) -> None:
    card = card_of(ring, "Grace")
    leaf = card.leaves[0].side.id
    ring.answer_card(card, same=[leaf], actor="ben")
    with refused("no_answer"):
        ring.undo_answer()
    undone = ring.undo_answer(actor="ben")
    assert len(undone.merges) == 1
    with refused("already_undone"):
        ring.undo_answer(undone.id)
    with refused("no_answer"):
        ring.undo_answer(1)  # a run, but no answer


def test_undo_leaves_alone_what_others_did_since(ring: enfold.Graph) -> None:
    card = card_of(ring, "Ada Lovelace")
    done = ring.answer_card(card, same=[leaf.side.id for leaf in card.leaves])
    ring.reopen(done.questions[0])  # somebody took one of the two back, and answered it again
    ring.decide(done.questions[0], "keep_both", actor="ben")
    undone = ring.undo_answer()
    assert (len(undone.merges), undone.before) == (1, 1)
    assert [d.actor for d in ring.apart()] == ["ben"]
    assert ring.check().clean


def test_undo_survives_the_session_it_was_answered_in(tmp_path: Any) -> None:
    path = tmp_path / "graph.db"
    with enfold.open(path, actor="ann") as graph:
        for name in ("Grace", "Grace Hopper"):
            told(graph, name, mentions=[enfold.Name.of(name, "person")])
        graph.resolve(backup=False)
        card = graph.cards()[0]
        graph.answer_card(card, same=[card.leaves[0].side.id])
    with enfold.open(path, actor="ann") as graph:
        assert graph.cards() == []
        graph.undo_answer()
        assert graph.cards() == [card] or graph.cards()[0].pairs == card.pairs
        assert graph.merges() == []


steps = st.lists(
    st.tuples(
        st.sampled_from(["same", "apart", "both", "among", "undo", "all"]), st.integers(0, 9)
    ),
    max_size=12,
)


@settings(max_examples=30, deadline=None)
@given(graphs_of_pairs, steps)
def test_undoing_every_answer_leaves_the_graph_as_it_was(
    pairs: set[Pair], said: list[tuple[str, int]]
) -> None:
    store = open_store(":memory:")
    with store.write() as tx:
        rows = mint(tx, *(f"name{n:02}x" for n in range(15)))
        for number, row in enumerate(rows):
            mention(tx, row, number % 4)
        suggest(tx, *((rows[low], rows[high]) for low, high in pairs))
        ask(tx, *((rows[low], rows[high]) for low, high in sorted(pairs)[:4]))

        def seen() -> object:
            return (
                [tx.entities.get(row) for row in rows],
                [(e.pair, e.question is None) for e in Open(tx).ranked()],
                tx.decisions.apart_roots(),
            )

        before = seen()
        given_answers = 0
        for what, number in said:
            found = cards.cards(tx, limit=3)
            if what == "undo":
                if given_answers:
                    answers.undo(tx)
                    given_answers -= 1
                continue
            if not found:
                continue
            card = found[number % len(found)]
            ids = [leaf.side.id for leaf in card.leaves]
            try:
                if what == "all":
                    answers.answer_all(tx, Filter("spelling"), same=bool(number % 2))
                elif what == "both":
                    answers.answer(tx, card, same=ids[:1], apart=ids[1:], keep=ids[0])
                elif what == "same":
                    answers.answer(tx, card, same=ids)
                else:
                    answers.answer(tx, card, apart=ids, among=what == "among")
            except Error as error:
                assert error.code in ("settled_apart", "nothing_open")  # noqa: PT017
                break  # what was begun of it is rolled back with its transaction
            given_answers += 1
        else:
            for _ in range(given_answers):
                answers.undo(tx)
            assert seen() == before
    store.close()


# ---- pair by pair --------------------------------------------------------------------------------


def outcomes(told: list[answers.Told]) -> list[str]:
    return [one.outcome for one in told]


def test_answers_to_pairs_are_applied_in_one_go_and_again_do_nothing(store: Store) -> None:
    with store.write() as tx:
        a, b, c, d, e = mint(tx, "abcde", "abcdef", "abcdeg", "abcdeh", "abcdei")
        suggest(tx, (a, b), (b, c), (a, c), (c, d), (d, e))
        said = [
            answers.Said(2, a, b, True, keep=b),
            answers.Said(3, b, c, True),
            answers.Said(4, a, c, True),
            answers.Said(5, d, c, False),
        ]
        told, done = answers.answer_pairs(tx, said, actor="ann")
        assert sorted(outcomes(told)) == ["done", "done", "done", "settled"]
        assert done is not None
        assert {merge.canonical_id for merge in done.merges} == {b}
        told, done = answers.answer_pairs(tx, said)
        assert outcomes(told) == ["settled"] * 4
        assert done is None
        answers.undo(tx, actor="ann")
        assert len(list(Open(tx).ranked())) == 5


def test_answers_that_contradict_each_other_are_refused_whole(store: Store) -> None:
    with store.write() as tx:
        a, b, c, d, e = mint(tx, "abcde", "abcdef", "abcdeg", "abcdeh", "abcdei")
        suggest(tx, (a, b), (b, c), (a, c), (d, e))
        said = [
            answers.Said(2, a, b, True),
            answers.Said(3, b, c, True),
            answers.Said(4, a, c, False),
            answers.Said(5, d, e, True),
        ]
        told, done = answers.answer_pairs(tx, said)
        assert outcomes(told) == ["refused", "refused", "refused", "done"]
        assert "Line 4" in told[0].why
        assert done is not None
        assert len(done.merges) == 1


def test_answers_that_go_against_the_graph_are_refused(store: Store) -> None:
    with store.write() as tx:
        a, b, c, d, e, f, g = mint(tx, *(f"abcde{end}" for end in "fghijkl"))
        suggest(tx, (a, b), (a, c), (b, c), (d, e))
        folds.keep_apart(tx, *tx.entities.many([b, c]).values())
        fold(tx, f, d)
        told, _ = answers.answer_pairs(
            tx,
            [
                answers.Said(2, b, c, True),  # settled apart
                answers.Said(3, a, b, True),  # with the next, b and c would be one
                answers.Said(4, a, c, True),
                answers.Said(5, f, d, False),  # one already
                answers.Said(6, a, 999, True),  # gone
                answers.Said(7, a, g, True),  # never asked
                answers.Said(8, d, e, True, check="000000"),  # another graph's
                answers.Said(9, g, e, False),  # never asked
            ],
        )
        assert outcomes(told) == ["refused"] * 8
        assert tx.merges.recent(limit=9)[0].absorbed_id == f
        assert len({one.why for one in told}) >= 6


def test_names_that_survive_must_agree(store: Store) -> None:
    with store.write() as tx:
        a, b, c = mint(tx, "abcde", "abcdef", "abcdeg")
        suggest(tx, (a, b), (a, c))
        told, _ = answers.answer_pairs(
            tx, [answers.Said(2, a, b, True, keep=a), answers.Said(3, a, c, True, keep=c)]
        )
        assert outcomes(told) == ["refused", "refused"]


def test_answers_follow_the_folds_made_since(store: Store) -> None:
    with store.write() as tx:
        a, b, c = mint(tx, "abcde", "abcdef", "abcdeg")
        suggest(tx, (a, b), (a, c))
        fold(tx, b, c)
        told, done = answers.answer_pairs(tx, [answers.Said(2, b, a, True)])
        assert outcomes(told) == ["done"]
        assert done is not None
        assert done.merges[0].decided_by is DecidedBy.HUMAN
        assert len({tx.entities.roots([row])[row] for row in (a, b, c)}) == 1
