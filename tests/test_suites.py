"""The labelled sets that come with enfold: what they are, and that the table in the docs is theirs.

python tests/test_suites.py --write [FOLDER ...]

makes the tables in docs/explanation/accuracy.md anew: those of the sets that are shipped, and those
of the sets in the folders given. The rest of the page stays.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from typer.testing import CliRunner

from enfold import accuracy
from enfold.accuracy import SUITES, LabelledSet, RatedFile
from enfold.cli.commands import app
from enfold.errors import Invalid
from enfold.evaluate import ClusterEvaluation
from enfold.evaluate.scores import share

PAGE: Final = Path(__file__).parents[1] / "docs" / "explanation" / "accuracy.md"
SHIPPED: Final = "shipped"
NAMES: Final = "names"


@cache
def runs() -> tuple[RatedFile, ...]:
    return tuple(accuracy.run())


def named(title: str) -> RatedFile:
    return next(one for one in runs() if one.file.title == title)


def part(page: str, name: str) -> str:
    """What stands between the markers of a name."""
    found = re.search(rf"<!-- suites: {name} -->\n(.*?)\n<!-- /suites -->", page, re.DOTALL)
    assert found, f"docs/explanation/accuracy.md has no markers for {name}"
    return found.group(1).strip()


def with_part(page: str, name: str, table: str) -> str:
    before, marker, rest = page.partition(f"<!-- suites: {name} -->\n")
    assert marker, f"docs/explanation/accuracy.md has no markers for {name}"
    return before + marker + f"\n{table}\n\n" + rest[rest.index("<!-- /suites -->") :]


def test_the_table_in_the_docs_is_what_is_measured() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert part(page, SHIPPED) == accuracy.tables(runs()), "the table is behind: make suites"
    assert part(page, NAMES) == accuracy.names(runs()), "the list is behind: make suites"


def test_every_set_that_is_not_shipped_has_its_part_of_the_docs() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for one in accuracy.known():
        if not one.shipped:
            assert one.files[0].title in part(page, one.name)
            assert one.source.partition(" ")[0] in page


def ready() -> list[LabelledSet]:
    return [one for one in accuracy.known() if one.shipped and one.ready]


@pytest.mark.parametrize("one", ready(), ids=lambda one: one.name)
def test_every_set_says_where_it_is_from_and_lies_beside_its_licence(one: LabelledSet) -> None:
    folder = SUITES / one.name
    assert {file.path for file in one.files} <= {path.name for path in folder.iterdir()}
    assert "Licen" in (folder / "LICENSE").read_text(encoding="utf-8") or "Permission" in (
        folder / "LICENSE"
    ).read_text(encoding="utf-8")
    about = (folder / "README.md").read_text(encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    assert one.source.partition(" ")[0] in page
    for commit in re.findall(r" at ([0-9a-f]{7,40}),", one.source):
        assert commit in about
        assert commit in page


def test_no_fold_of_a_shipped_set_is_false_but_of_the_very_same_text() -> None:
    for one in runs():
        if one.set.name == "agent_names":
            continue  # it is there to say what the rules get wrong
        if isinstance(one.rated, ClusterEvaluation):
            assert all(fold.same_string for fold in one.rated.wrong_folds), one.file.title
        else:
            assert all(fold.same_string for fold in accuracy.false_folds(one.rated))


def test_the_figures_of_folds_alone_on_er_kg_bench_are_those_published_for_equal_letters() -> None:
    """Graphiti's floor folds the same there: .909, .049, .093 in the set's own RESULTS.md."""
    row = accuracy.figures(named("ER-KG-Bench").rated)
    graphiti = next(p for p in named("ER-KG-Bench").file.peers if p.name.startswith("Graphiti"))
    assert row.folded.precision == pytest.approx(graphiti.precision, abs=1e-3)
    assert row.size == "206 names, 406 pairs"


def test_nine_in_ten_questions_of_er_kg_bench_are_right() -> None:
    for title in ("ER-KG-Bench", "ER-KG-Bench, software terms"):
        row = accuracy.figures(named(title).rated)
        right = share(row.right_questions, row.questions)
        assert right is not None
        assert right >= 0.9


def test_er_kg_bench_is_found_as_far_as_strings_show_it() -> None:
    """171 of its 406 pairs are brands and substances, which they hardly ever do."""
    score = accuracy.figures(named("ER-KG-Bench").rated).answered
    assert (score.recall or 0) >= 0.45
    assert (score.f1 or 0) >= 0.60


def test_most_questions_of_products_and_releases_are_no_longer_wrong() -> None:
    row = accuracy.figures(named("endoflife, names").rated)
    assert row.questions <= 202
    assert row.right_questions / row.questions >= 0.5


def test_enfold_is_no_less_right_than_logicv2_where_it_finds_as_much() -> None:
    found = named("name_bench").against
    assert found is not None
    assert found.theirs is not None
    assert found.cases == 376
    assert (found.ours.precision or 0) >= (found.theirs.precision or 0)
    assert (found.theirs.recall or 0) >= (found.ours.recall or 0)


def test_a_set_whose_labels_are_not_final_is_left_alone() -> None:
    waiting = {one.name for one in accuracy.known() if not one.ready}
    assert waiting.isdisjoint(one.set.name for one in runs())


# ---- sets in a folder ----------------------------------------------------------------------------


def test_a_set_that_is_known_is_told_by_its_file(tmp_path: Path) -> None:
    document = {"entities": [{"qid": "Q1", "canonical": "Acme", "aliases": ["acme"]}]}
    (tmp_path / "wikidata_companies_v1.json").write_text(json.dumps(document))
    (tmp_path / "other.csv").write_text("name,entity_id\nAcme,a\n")
    found = list(accuracy.run([tmp_path], shipped=False))
    assert [(one.set.name, one.file.title) for one in found] == [
        ("wikidata_companies", "Wikidata companies")
    ]


def test_any_folder_of_labels_is_a_set(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("name,entity_id\nAcme,a\nACME,b\n")
    (tmp_path / "pairs.csv").write_text("left,right,label\nAcme,Acme GmbH,1\n")
    (tmp_path / "notes.md").write_text("not labels")
    found = list(accuracy.run([tmp_path], shipped=False))
    folder = tmp_path.name
    assert [one.file.title for one in found] == [f"{folder}, names", f"{folder}, pairs"]
    assert "| 2 names, 0 pairs | 0 | 1 | 0 (–) |" in accuracy.tables(found)
    assert "(1): `ACME` and `Acme`" in accuracy.names(found)


@pytest.mark.parametrize("folder", ["absent", "."])
def test_a_folder_without_labels_is_refused(tmp_path: Path, folder: str) -> None:
    with pytest.raises(Invalid) as refused:
        list(accuracy.run([tmp_path / folder], shipped=False))
    assert refused.value.code == "no_such_file"


# ---- the command ---------------------------------------------------------------------------------


def test_the_suite_is_a_table_or_one_document(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("name,entity_id\nAcme,a\nAcme GmbH,a\nBeta,b\n")
    run = CliRunner().invoke(app, ["evaluate", "--suite-path", str(tmp_path)])
    assert run.exit_code == 0
    assert re.search(r"^  \S+, names +0 +0 +1 +100% +– +0\.000 +1\.000 +1\.000", run.stdout, re.M)
    told = CliRunner().invoke(app, ["evaluate", "--suite-path", str(tmp_path), "--json"]).stdout
    assert json.loads(told)[0]["rated"]["right_questions"] == 1


def test_a_pass_over_names_is_shown_with_what_is_wrong(tmp_path: Path) -> None:
    names = tmp_path / "names.csv"
    rows = ["name,entity_id", "Citibank,1", "Citi Bank,2", "Manpower,3", "SunPower,4", "Bob,5"]
    names.write_text("\n".join([*rows, "Robert,5", "Postgres,6", "PostgreSQL,6"]))
    shown = CliRunner().invoke(app, ["evaluate", str(names)]).stdout
    assert "8 names of 6 things, 8 different names" in shown
    for title in ("False folds (1)", "Wrong questions (1)", "Missed pairs (1)", "B-cubed"):
        assert title in shown
    assert CliRunner().invoke(app, ["evaluate", str(names), "--strict"]).exit_code == 1
    both = CliRunner().invoke(app, ["evaluate", str(names), str(names), "--json"])
    assert [one["names"] for one in json.loads(both.stdout)] == [8, 8]


def test_a_strict_pass_forgives_what_no_rule_could_tell_apart(tmp_path: Path) -> None:
    names = tmp_path / "names.csv"
    names.write_text("name,entity_id\nGeorgia,1\nGeorgia,2\n")
    assert CliRunner().invoke(app, ["evaluate", str(names), "--strict"]).exit_code == 0


@pytest.mark.parametrize("words", [[], ["pairs.tsv", "--suite"]])
def test_labels_are_named_or_the_suite_is_asked_for(words: Sequence[str]) -> None:
    assert CliRunner().invoke(app, ["evaluate", *words]).exit_code == 2


def write(folders: Sequence[Path]) -> None:
    """Put what is measured now into the page."""
    page = with_part(PAGE.read_text(encoding="utf-8"), SHIPPED, accuracy.tables(runs()))
    page = with_part(page, NAMES, accuracy.names(runs()))
    for folder in folders:
        found = tuple(accuracy.run([folder], shipped=False))
        both = f"{accuracy.tables(found)}\n\n{accuracy.names(found)}"
        page = with_part(page, found[0].set.name, both)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] != ["--write"]:
        sys.exit(__doc__)
    write([Path(folder) for folder in sys.argv[2:]])
