"""How right the rules are can be measured by whoever has labels."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from itertools import pairwise as pairwise_of
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import enfold
from enfold.accuracy import SUITES, against
from enfold.errors import Invalid
from enfold.evaluate import (
    ClusterEvaluation,
    Evaluation,
    Labelled,
    Mention,
    Score,
    at_equal_recall,
    b_cubed,
    evaluate,
    pairwise,
)
from enfold.evaluate.clusters import evaluate as evaluate_clusters
from enfold.formats import labelled
from enfold.model import Context, Verdict
from enfold.names import Name
from enfold.rating import of_clusters, outcome
from enfold.rules import rule_on

DATA = Path(__file__).parent / "data"


def table(tmp_path: Path, text: str, name: str = "pairs.tsv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def of_pairs(path: Path) -> Evaluation:
    found = enfold.evaluate(path)
    assert isinstance(found, Evaluation)
    return found


def of_names(path: Path) -> ClusterEvaluation:
    found = enfold.evaluate(path)
    assert isinstance(found, ClusterEvaluation)
    return found


def read_pairs(path: Path) -> list[Labelled]:
    read = labelled.read(path)
    assert isinstance(read, labelled.Pairs)
    return list(read.labelled)


def read_names(path: Path) -> list[Mention]:
    read = labelled.read(path)
    assert isinstance(read, labelled.Clusters)
    return list(read.mentions)


def passed(*names: tuple[str, str], kind: str | None = None) -> ClusterEvaluation:
    """A pass over (spelling, thing)."""
    mentions = [Mention(spelling, kind, thing) for spelling, thing in names]
    return of_clusters(mentions, rule_set="default", workers=1, progress=lambda *_: None)


# ---- labelled pairs ------------------------------------------------------------------------------


def test_every_labelled_pair_gets_its_verdict() -> None:
    found = of_pairs(DATA / "pairs.tsv")
    assert found.pairs > 100
    assert found.right == found.pairs
    assert found.wrong == ()


def test_no_two_releases_fold_unless_they_are_one_string_and_hardly_any_are_asked_about() -> None:
    pairs = [p for p in read_pairs(SUITES / "endoflife" / "pairs.csv") if p.expected is False]
    assert len(pairs) > 5_000
    found = evaluate(pairs, Context())
    folded = [w for w in found.wrong if w.verdict == Verdict.FOLD]
    assert all(w.left == w.right for w in folded)
    assert len(folded) <= 6
    assert found.questions <= 0.01 * found.pairs


def test_spellings_of_one_product_fold_where_they_differ_in_case_and_punctuation() -> None:
    for pair in read_pairs(SUITES / "endoflife" / "pairs.csv"):
        if pair.expected is True and pair.left.letters == pair.right.letters:
            assert rule_on(pair.left, pair.right, Context()).verdict is Verdict.FOLD


def test_wrong_verdicts_are_listed_with_what_decided(tmp_path: Path) -> None:
    path = table(tmp_path, "left\tright\tverdict\nGPT-4\tGPT4\tFOLD\nGPT-4\tGPT-5\tFOLD\n")
    found = of_pairs(path)
    assert (found.pairs, found.right, found.missed) == (2, 1, 1)
    wrong = found.wrong[0]
    assert (wrong.left, wrong.right, wrong.verdict, wrong.expected, wrong.rule) == (
        "GPT-4",
        "GPT-5",
        "APART",
        "FOLD",
        "version",
    )
    assert wrong.reason


@pytest.mark.parametrize("label", ["1", "0", "true", "no"])
def test_labels_may_only_say_whether_it_is_one_thing(tmp_path: Path, label: str) -> None:
    path = table(tmp_path, f"name1,name2,label\nClaude Code,claude-code,{label}\n")
    same = label in ("1", "true")
    found = of_pairs(path)
    assert (found.right, found.false_folds) == (int(same), int(not same))


def test_pairs_are_scored_by_verdict_and_by_rule(tmp_path: Path) -> None:
    rows = [
        "name1,name2,label",
        "Claude Code,claude-code,1",
        "Postgres,PostgreSQL,1",
        "Manpower,SunPower,0",
        "Bob,Robert,1",
        "alpha,beta,0",
    ]
    found = of_pairs(table(tmp_path, "\n".join(rows)))
    assert found.true == 3
    assert found.scores["folded"] == Score(1.0, 0.3333, 0.5)
    assert found.scores["asked"] == Score(0.5, 0.3333, 0.4)
    assert found.scores["answered"] == Score(1.0, 0.6667, 0.8)
    assert found.scores["accepted"] == Score(0.6667, 0.6667, 0.6667)
    assert found.rule_scores["spelling"] == Score(0.5, 0.3333, 0.4)
    assert found.proposed == 0.6667
    assert found.missed_kinds == {"nothing in common": 1}


def test_what_must_be_asked_is_neither_one_thing_nor_two(tmp_path: Path) -> None:
    rows = "left\tright\tverdict\nPostgres\tPostgreSQL\tASK\n"
    found = of_pairs(table(tmp_path, rows))
    assert (found.right, found.true) == (1, 0)
    assert found.scores["asked"] == Score(None, None, None)


# ---- names with their things ---------------------------------------------------------------------


def test_names_are_put_through_the_pass_that_resolve_runs(tmp_path: Path) -> None:
    names = [Mention(p.left.spelling, p.left.type, "") for p in read_pairs(DATA / "pairs.tsv")]
    names += [Mention(p.right.spelling, p.right.type, "") for p in read_pairs(DATA / "pairs.tsv")]
    found = outcome(names, "default", 1, lambda *_: None)
    rows = [f'"{m.spelling.replace(chr(34), chr(34) * 2)}","{m.type or ""}"' for m in names]
    file = table(tmp_path, "\n".join(["name,type", *rows]), "graph.csv")
    scanned = enfold.scan(file, limit=10**6)
    assert len(found.folds) == scanned.report.merged > 10
    assert len(found.questions) == scanned.report.queued + scanned.report.deferred > 10
    named = {(found.names[q.left_id][0], found.names[q.right_id][0]) for q in found.questions}
    assert named == {(q.left, q.right) for q in scanned.questions}


def test_folds_questions_and_answers_are_scored_apart() -> None:
    found = passed(
        *(("Claude Code", "cc"), ("claude-code", "cc"), ("Claude Code CLI", "cc")),
        *(("Manpower", "m"), ("SunPower", "s"), ("Bob", "b"), ("Robert", "b")),
    )
    assert (found.names, found.spellings, found.things, found.pairs) == (7, 7, 4, 4)
    assert (found.folds, found.false_folds) == (1, 0)
    assert (found.questions, found.right_questions, found.yes, found.no) == (2, 1, 1, 1)
    assert found.asked == Score(0.5, 0.5, 0.5)
    assert found.folded.pairwise == Score(1.0, 0.25, 0.4)
    assert found.answered.pairwise == Score(1.0, 0.75, 0.8571)
    assert found.accepted.pairwise == Score(0.75, 0.75, 0.75)
    assert (found.proposed, found.ruled) == (0.75, 0.75)
    assert found.per_thousand == pytest.approx(285.7)
    assert found.per_duplicate == 2
    assert {rule: (one.said, one.right) for rule, one in found.rules.items()} == {
        "identical": (1, 1),
        "contained": (1, 1),
        "spelling": (1, 0),
    }
    assert found.missed_kinds == {"nothing in common": 1}
    assert [(m.left, m.right, m.thing) for m in found.missed] == [("Bob", "Robert", "b")]
    wrong = found.wrong_questions[0]
    assert {wrong.left, wrong.right} == {"Manpower", "SunPower"}
    assert wrong.reason


def test_a_fold_of_two_things_is_listed_by_name_with_what_decided() -> None:
    found = passed(("Citibank", "Q1"), ("Citi Bank", "Q2"))
    assert found.false_folds == 1
    wrong = found.wrong_folds[0]
    assert {wrong.left, wrong.right} == {"Citibank", "Citi Bank"}
    assert {wrong.left_things, wrong.right_things} == {("Q1",), ("Q2",)}
    assert (wrong.rule, wrong.same_string) == ("identical", False)
    assert wrong.reason


@pytest.mark.parametrize(("second", "same"), [("Georgia", True), ("GEORGIA", False)])
def test_one_name_of_two_things_is_a_false_fold_before_any_rule(second: str, same: bool) -> None:
    found = passed(("Georgia", "Q230"), (second, "Q1428"))
    assert (found.spellings, found.false_folds) == (1, 1)
    wrong = found.wrong_folds[0]
    assert {wrong.left, wrong.right} == {"Georgia", second}
    assert wrong.left_things == ("Q1428", "Q230")
    assert (wrong.rule, wrong.same_string) == ("one name", same)


def test_a_reviewer_goes_by_what_most_of_a_cluster_is() -> None:
    """Once Opus is known as the model, what is asked of it and of the other Opus is a no."""
    found = passed(
        *(("Opus Four", "model"), ("Claude Opus Four", "model"), ("Opus Four", "music")),
        ("Vivaldi Opus Four", "music"),
    )
    assert (found.yes, found.no) == (1, 1)
    assert found.answered.pairwise.recall == 0.5


def test_a_thing_of_very_many_names_takes_no_time_for_ever() -> None:
    words = [f"{a}{b}" for a in "bcdfghjklm" for b in "aeiou"]
    names = [f"{one} {other}" for one in words for other in words][:2_000]
    found = passed(*((name, "one") for name in names))
    assert found.pairs == 2_000 * 1_999 // 2
    assert found.missed_unsorted + sum(found.missed_kinds.values()) > 1_000_000
    assert found.missed_unsorted > 0
    assert len(found.missed) <= 2_000


MENTIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["GPT-4", "GPT4", "gpt 4", "GPT-4o", "Postgres", "PostgreSQL", "Acme", "Acme GmbH"]
        ),
        st.sampled_from("abc"),
    ),
    min_size=1,
    max_size=14,
)


@settings(max_examples=40, deadline=None)
@given(MENTIONS)
def test_no_stage_finds_less_than_the_one_before(names: list[tuple[str, str]]) -> None:
    found = passed(*names)
    true = sum(names[i][1] == names[j][1] for i, j in combinations(range(len(names)), 2))
    assert found.pairs == true
    stages = [found.folded, found.answered, found.accepted]
    for before, after in pairwise_of(stages):
        assert (before.pairwise.recall or 0) <= (after.pairwise.recall or 0)
        assert (before.b_cubed.recall or 0) <= (after.b_cubed.recall or 0)
    assert found.right_questions + len(found.wrong_questions) == found.questions
    assert found.yes + found.no <= found.questions
    assert (found.ruled or 0) <= 1
    assert (found.proposed or 0) <= 1


# ---- scores --------------------------------------------------------------------------------------

LABELLINGS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=30)


@given(LABELLINGS)
def test_pairs_are_counted_as_one_by_one(mentions: list[tuple[int, int]]) -> None:
    counts = Counter(
        (left[0] == right[0], left[1] == right[1]) for left, right in combinations(mentions, 2)
    )
    right, said, true = counts[True, True], counts[True, False], counts[False, True]
    found = pairwise([f for f, _ in mentions], [t for _, t in mentions])
    assert found == Score.of(right, right + said, right + true)


@given(LABELLINGS.filter(bool))
def test_b_cubed_is_the_mean_over_mentions(mentions: list[tuple[int, int]]) -> None:
    def mean(own: int, of: int) -> float:
        shares = []
        for mention in mentions:
            mine = [m for m in mentions if m[own] == mention[own]]
            shares.append(sum(m[of] == mention[of] for m in mine) / len(mine))
        return sum(shares) / len(shares)

    found = b_cubed([f for f, _ in mentions], [t for _, t in mentions])
    assert found.precision == pytest.approx(mean(0, 1), abs=1e-4)
    assert found.recall == pytest.approx(mean(1, 0), abs=1e-4)


def test_a_peer_is_cut_where_it_finds_as_much() -> None:
    scored = [(0.9, True), (0.8, True), (0.8, False), (0.7, True), (0.6, False), (0.1, True)]
    equal = at_equal_recall(2, scored)
    assert equal is not None
    assert (equal.threshold, equal.score) == (0.8, Score(0.6667, 0.5, 0.5714))
    assert at_equal_recall(5, scored) is None


def test_a_peer_and_enfold_are_held_to_the_same_pairs() -> None:
    def pair(left: str, right: str, same: bool, score: float | None) -> Labelled:
        return Labelled(Name.of(left), Name.of(right), same, score)

    found = against(
        [
            pair("Claude Code", "claude-code", True, 0.9),
            pair("Postgres", "PostgreSQL", True, 0.4),
            pair("alpha", "beta", False, 0.5),
            pair("Bob", "Robert", True, None),
        ],
        "peer",
        0.7,
        Context(),
    )
    assert found.cases == 3
    assert found.ours == Score(1.0, 1.0, 1.0)
    assert (found.threshold, found.theirs) == (0.4, Score(0.6667, 1.0, 0.8))
    assert found.own == Score(1.0, 0.5, 0.6667)


# ---- files of labels -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header", ["name,entity_id", "Mention,Cluster ID", "spelling;thing", "surface\tqid"]
)
def test_names_with_their_things_are_told_from_the_header(tmp_path: Path, header: str) -> None:
    delimiter = next(d for d in ",;\t" if d in header)
    rows = [header, f"Claude Code{delimiter}a", f"claude-code{delimiter}a"]
    assert read_names(table(tmp_path, "\n".join(rows))) == [
        Mention("Claude Code", None, "a"),
        Mention("claude-code", None, "a"),
    ]


def test_the_things_column_is_the_one_in_which_a_value_stands_twice(tmp_path: Path) -> None:
    rows = ["id,name,group", "1,Claude Code,a", "2,claude-code,a", "3,Bob,b"]
    assert [m.thing for m in read_names(table(tmp_path, "\n".join(rows)))] == ["a", "a", "b"]
    rows = ["entity_id,name,id", "1,Claude Code,a", "2,claude-code,a"]
    assert [m.thing for m in read_names(table(tmp_path, "\n".join(rows)))] == ["a", "a"]


def test_json_of_entities_with_aliases_is_read(tmp_path: Path) -> None:
    document = {"entities": [{"qid": "Q1", "canonical": "Acme", "aliases": ["ACME Inc"]}]}
    path = table(tmp_path, json.dumps(document), "entities.json")
    assert read_names(path) == [Mention("Acme", None, "Q1"), Mention("ACME Inc", None, "Q1")]
    assert of_names(path).pairs == 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "no_labels"),
        ("left\tright\nA\tB\n", "no_labels"),
        ("left\tright\tverdict\nA\tB\tMAYBE\n", "bad_label"),
        ("left\tright\tverdict\n\tB\tFOLD\n", "bad_label"),
        ("left,right,label,score\nA,B,1,high\n", "bad_label"),
        ("name,entity_id\n,a\n", "bad_label"),
        ("name,entity_id\nAcme,\n", "bad_label"),
        ("name,cluster,id\nAcme,a,1\nBeta,a,2\nGamma,,3\n", "bad_label"),
        ('name,entity_id\n"Acme,a\n' + "x" * 2_000_000, "bad_label"),
        ('{"entities": [', "unreadable"),
        ('{"entities": 5}', "no_labels"),
        ('[{"name": "Acme"}]', "no_labels"),
        ('[{"name": "Acme", "id": 1, "aliases": "x"}]', "bad_label"),
        ("[" * 100_000, "unreadable"),
        ("[5]", "no_labels"),
    ],
)
def test_a_table_that_holds_no_labels_is_refused(tmp_path: Path, text: str, code: str) -> None:
    with pytest.raises(Invalid) as refused:
        enfold.evaluate(table(tmp_path, text))
    assert refused.value.code == code


def test_a_bad_label_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"line 3: 'MAYBE'"):
        enfold.evaluate(table(tmp_path, "left\tright\tverdict\nA\tB\tASK\nA\tB\tMAYBE\n"))


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(Invalid) as refused:
        enfold.evaluate(path)
    assert refused.value.code == "unreadable"
    with pytest.raises(Invalid):
        enfold.evaluate(tmp_path / "absent.tsv")
    with pytest.raises(Invalid):
        enfold.evaluate(tmp_path)


def test_quotes_are_part_of_a_name_in_a_table_of_tabs(tmp_path: Path) -> None:
    path = table(tmp_path, 'left\tright\tverdict\n"Quoted" Co\tQuoted Co\tFOLD\n')
    assert read_pairs(path)[0].left == Name.of('"Quoted" Co')


def test_a_file_of_a_header_alone_rates_nothing(tmp_path: Path) -> None:
    found = of_names(table(tmp_path, "name,entity_id\n"))
    assert (found.names, found.folded.b_cubed.f1, found.per_thousand) == (0, None, None)
    assert evaluate_clusters(outcome([], "default", 1, lambda *_: None)) == found


def test_rules_that_are_not_known_are_refused() -> None:
    with pytest.raises(Invalid) as refused:
        enfold.evaluate(DATA / "pairs.tsv", rule_set="none")
    assert refused.value.code == "unknown_rules"
