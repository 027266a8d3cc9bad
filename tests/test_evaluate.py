"""How right the rules are can be measured by whoever has labels."""

from __future__ import annotations

from pathlib import Path

import pytest

import enfold
from enfold.errors import Invalid
from enfold.evaluate import evaluate, read_labelled
from enfold.model import Context, Verdict
from enfold.names import Name
from enfold.rules import rule_on

DATA = Path(__file__).parent / "data"


def table(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_labelled_pair_gets_its_verdict() -> None:
    found = enfold.evaluate(DATA / "pairs.tsv")
    assert found.pairs > 100
    assert found.right == found.pairs
    assert found.wrong == ()


def test_no_two_releases_fold_unless_they_are_one_string_and_hardly_any_are_asked_about() -> None:
    pairs = [p for p in read_labelled(DATA / "endoflife_pairs.csv") if p.expected is False]
    assert len(pairs) > 5_000
    found = evaluate(pairs, Context())
    folded = [w for w in found.wrong if w.verdict == Verdict.FOLD]
    assert all(w.left == w.right for w in folded)
    assert len(folded) <= 6
    assert found.questions <= 0.01 * found.pairs


def test_spellings_of_one_product_fold_where_they_differ_in_case_and_punctuation() -> None:
    for pair in read_labelled(DATA / "endoflife_pairs.csv"):
        if pair.expected is True and pair.left.letters == pair.right.letters:
            assert rule_on(pair.left, pair.right, Context()).verdict is Verdict.FOLD


def test_wrong_verdicts_are_listed_with_what_decided(tmp_path: Path) -> None:
    path = table(tmp_path, "left\tright\tverdict\nGPT-4\tGPT4\tFOLD\nGPT-4\tGPT-5\tFOLD\n")
    found = enfold.evaluate(path)
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
    found = enfold.evaluate(path)
    assert (found.right, found.false_folds) == (int(same), int(not same))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "no_labels"),
        ("left\tright\nA\tB\n", "no_labels"),
        ("left\tright\tverdict\nA\tB\tMAYBE\n", "bad_label"),
        ("left\tright\tverdict\n\tB\tFOLD\n", "bad_label"),
    ],
)
def test_a_table_that_holds_no_labels_is_refused_with_its_line(
    tmp_path: Path, text: str, code: str
) -> None:
    with pytest.raises(Invalid) as refused:
        enfold.evaluate(table(tmp_path, text))
    assert refused.value.code == code


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(Invalid) as refused:
        enfold.evaluate(path)
    assert refused.value.code == "unreadable"
    with pytest.raises(Invalid):
        enfold.evaluate(tmp_path / "absent.tsv")


def test_quotes_are_part_of_a_name_in_a_table_of_tabs(tmp_path: Path) -> None:
    path = table(tmp_path, 'left\tright\tverdict\n"Quoted" Co\tQuoted Co\tFOLD\n')
    assert next(read_labelled(path)).left == Name.of('"Quoted" Co')
