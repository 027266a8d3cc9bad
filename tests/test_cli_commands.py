"""Each command, by what a person or a script gets from it."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import enfold
from enfold import lookup
from enfold.cli.commands import app
from enfold.cli.terminal import Progress

EXAMPLE = Path(__file__).parents[1] / "examples" / "dmetrics" / "memory.jsonl"


def run(*args: str) -> Result:
    return CliRunner().invoke(app, list(args))


def said(*args: str) -> str:
    """What a command that succeeds says to people, on both streams."""
    result = run(*args)
    assert result.exit_code == 0, result.output
    return result.output


def told(*args: str) -> Any:
    """What a command that succeeds tells a script."""
    result = run(args[0], "--json", *args[1:])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture(scope="session")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("commands") / "settled.db"
    with enfold.open(path) as graph:
        graph.import_files(EXAMPLE)
        graph.resolve(backup=False)
    return path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for variable in list(os.environ):
        if variable.startswith("ENFOLD_"):
            monkeypatch.delenv(variable)
    return tmp_path


@pytest.fixture
def graph(settled: Path, folder: Path) -> Path:
    return Path(shutil.copy(settled, folder / "enfold.db"))


def memory(folder: Path, *lines: dict[str, object] | str) -> str:
    """A file of these lines; its name."""
    text = "".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines)
    (folder / "memory.jsonl").write_text(text, encoding="utf-8")
    return "memory.jsonl"


def named(name: str, kind: str = "thing") -> dict[str, object]:
    return {"type": "entity", "name": name, "entityType": kind, "observations": [f"on {name}"]}


# ---- scan ----------------------------------------------------------------------------------------


def test_scan_shows_what_folds_what_is_asked_and_what_is_kept_apart() -> None:
    text = said("scan", str(EXAMPLE))
    assert "47 entities" in text
    assert re.search(r"^Would fold \(2\)", text, re.MULTILINE)
    assert re.search(
        r"^  cpu_package \(Package\) → CPUPackage \(Component\)  identical  Identical", text, re.M
    )
    assert re.search(r"^  project_structure → ProjectStructure +identical", text, re.MULTILINE)
    assert re.search(r"^Would ask \(3\)", text, re.MULTILINE)
    assert re.search(r"^  CurrentState ~ current_status +spelling", text, re.MULTILINE)
    assert re.search(r"^Kept apart \(1\)", text, re.MULTILINE)
    assert re.search(r"^  power\.c ≠ power\.h +extension", text, re.MULTILINE)
    assert "enfold import" in text
    assert "enfold resolve" in text
    assert "absent" not in text


def test_scan_writes_nothing(folder: Path) -> None:
    said("scan", str(EXAMPLE))
    assert list(folder.iterdir()) == []


def test_scan_is_honest_where_there_is_nothing_to_settle(folder: Path) -> None:
    text = said("scan", memory(folder, named("Ada"), named("Kubernetes")))
    assert "There is nothing to settle" in text
    assert "proves nothing" in text


def test_scan_shows_a_few_of_each_unless_asked_for_more(folder: Path) -> None:
    names = [form for i in range(30) for form in (f"Thing {i:03}", f"thing-{i:03}")]
    file = memory(folder, *map(named, names))
    assert "… and 20 more" in said("scan", file)
    assert "… and 25 more" in said("scan", file, "--limit", "5")
    assert "more" not in said("scan", file, "--all").partition("Would ask")[0]
    assert len(told("scan", file, "--all")["folds"]) == 30


def test_scan_says_what_it_set_aside_line_by_line(folder: Path) -> None:
    file = memory(folder, named("Ada"), *['{"type": "weird"}'] * 9)
    text = said("scan", file)
    assert "9 set aside" in text
    assert "line 2 " in text
    assert "line 6 " in text
    assert "line 7 " not in text
    assert "… and 4 more" in text
    assert "line 10 " in said("scan", file, "--all")
    assert len(told("scan", file)["imported"][0]["set_aside"]) == 9


def test_scan_takes_the_rules_and_the_types_into_account(folder: Path) -> None:
    file = memory(folder, named("Claude Code", "tool"), named("claude-code", "person"))
    assert told("scan", file)["report"]["merged"] == 1
    assert told("scan", file, "--trust-types")["report"]["merged"] == 0
    assert run("scan", file, "--rules", "none").exit_code == 5


# ---- in and out ----------------------------------------------------------------------------------


def test_import_says_what_it_took_and_what_is_next(folder: Path) -> None:
    text = said("import", str(EXAMPLE))
    assert "47 entities" in text
    assert "run 1" in text
    assert "Named by relations alone (1): TODO.md" in text
    assert "enfold resolve" in text
    assert (folder / "enfold.db").exists()


def test_importing_again_says_that_all_was_known(graph: Path) -> None:
    text = said("import", str(EXAMPLE))
    assert "0 entities · 0 memories" in text
    assert "known already" in text


def test_an_import_keeps_what_it_set_aside_and_runs_lists_it_in_full(folder: Path) -> None:
    file = memory(folder, named("Ada"), *['{"type": "weird"}'] * 9)
    assert "enfold runs 1" in said("import", file)
    assert said("runs", "1").count("weird' is not known") == 9
    assert len(told("runs", "1")) == 9


def test_an_import_of_several_files_reports_each(folder: Path) -> None:
    (folder / "people.csv").write_text("name,type\nAda,person\n", encoding="utf-8")
    done = told("import", "people.csv", str(EXAMPLE), "--db", "other.db")
    assert [one["source"] for one in done] == ["people.csv", "memory.jsonl"]
    assert not (folder / "enfold.db").exists()


@pytest.mark.parametrize("format", ["mcp", "csv"])
def test_what_is_exported_can_be_imported(graph: Path, folder: Path, format: str) -> None:
    said("export", "--format", format, "--out", "out.txt")
    assert (folder / "out.txt").read_text("utf-8") == run("export", "--format", format).stdout
    again = told("import", "out.txt", "--db", "again.db")
    assert again[0]["entities"] == told("status")["entities"]
    assert again[0]["set_aside"] == []


def test_an_export_writes_over_a_file_only_by_force(graph: Path, folder: Path) -> None:
    (folder / "out.jsonl").write_text("precious", encoding="utf-8")
    assert run("export", "--out", "out.jsonl").exit_code == 4
    assert (folder / "out.jsonl").read_text("utf-8") == "precious"
    said("export", "--out", "out.jsonl", "--force")
    assert "CPUPackage" in (folder / "out.jsonl").read_text("utf-8")


def test_an_export_that_fails_leaves_the_file_as_it_was(
    graph: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> Iterator[str]:
        yield "half\n"
        raise OSError(28, "No space left on device")

    (folder / "out.jsonl").write_text("precious", encoding="utf-8")
    monkeypatch.setattr("enfold.formats.target.lines", fails)
    result = run("export", "--out", "out.jsonl", "--force")
    assert result.exit_code == 7
    assert "No space left" in result.stderr
    assert (folder / "out.jsonl").read_text("utf-8") == "precious"
    assert sorted(p.name for p in folder.glob("*out*")) == ["out.jsonl"]


# ---- settle --------------------------------------------------------------------------------------


def test_a_dry_run_has_the_figures_of_the_real_one_and_changes_nothing(folder: Path) -> None:
    said("import", str(EXAMPLE))
    text = said("resolve", "--dry-run")
    assert "nothing was changed" in text
    assert re.search(r"^  merged +2  folds", text, re.MULTILINE)
    assert "cpu_package (Package) → CPUPackage (Component)" in text
    figures = ("examined", "pairs", "merged", "queued", "deferred", "skipped")
    before = {key: told("resolve", "--dry-run")[key] for key in figures}
    assert told("merges") == []
    after = told("resolve")
    assert {key: after[key] for key in figures} == before
    assert after["backup"]
    assert len(told("merges")) == 2


def test_a_second_pass_has_nothing_to_do(graph: Path) -> None:
    text = said("resolve")
    assert re.search(r"^  examined +0 ", text, re.MULTILINE)


def test_resolve_makes_no_backup_where_none_is_wanted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said("import", str(EXAMPLE))
    monkeypatch.setenv("ENFOLD_BACKUP", "no")
    assert told("resolve", "--full")["backup"] is None
    monkeypatch.delenv("ENFOLD_BACKUP")
    said("import", str(EXAMPLE), "--db", "other.db")
    assert told("resolve", "--no-backup", "--db", "other.db")["backup"] is None


def test_conflicts_show_both_sides_and_how_to_answer(graph: Path) -> None:
    text = said("conflicts")
    assert re.search(r"^1  CPUMetrics \(Feature, 7 mentions\) ~ cpu_metrics_module", text, re.M)
    assert "enfold decide 1 keep_existing  CPUMetrics folds into cpu_metrics_module" in text
    assert len(told("conflicts", "--limit", "2")) == 2


def test_an_answer_folds_and_can_be_taken_back(graph: Path) -> None:
    text = said("decide", "1", "keep_existing", "--actor", "ada")
    assert "Folded CPUMetrics → cpu_metrics_module" in text
    assert "enfold reopen 1" in text
    assert "cpu_metrics_module" in said("find", "CPUMetrics")
    assert "keep_existing by ada" in said("conflicts", "--decided")
    assert "pending again" in said("reopen", "1")
    assert told("find", "CPUMetrics")["entity"]["name"] == "CPUMetrics"


def test_the_other_answers_fold_the_other_way_or_not_at_all(graph: Path) -> None:
    assert "Folded power_metrics_module → PowerMetrics" in said("decide", "2", "keep_new")
    assert "settled apart (decision" in said("decide", "3", "keep_both")
    assert "CurrentState ≠ current_status" in said("apart")


def test_a_revert_says_what_it_would_do_and_does_it(graph: Path) -> None:
    before = told("revert", "1", "--dry-run")
    assert "Would revert merge 1" in said("revert", "1", "--dry-run")
    assert len(told("merges")) == 2
    text = said("revert", "1")
    assert "Reverted merge 1: “cpu_package” is an entity beside “CPUPackage”" in text
    assert f"moved back {before['moved_back']:>8}".replace(" ", "") in text.replace(" ", "")
    by_hand = re.search(r"enfold (merge id:\d+ id:\d+ --overrule)", text)
    assert by_hand
    assert "It overrules decision" in said(*by_hand[1].split())


def test_reverting_an_answer_puts_its_question_back(graph: Path) -> None:
    said("decide", "1", "keep_existing")
    assert "Question 1 goes back" in said("revert", "3")


def test_merges_lists_the_newest_first_and_pages(graph: Path) -> None:
    assert [one["id"] for one in told("merges")] == [2, 1]
    assert [one["id"] for one in told("merges", "--limit", "1")] == [2]
    assert "enfold merges --before 2" in said("merges", "--limit", "1")
    assert [one["id"] for one in told("merges", "--before", "2")] == [1]
    said("revert", "1")
    assert [one["id"] for one in told("merges")] == [2]
    assert [one["id"] for one in told("merges", "--reverted")] == [2, 1]
    assert "Reverted" in said("merges", "--reverted")


def test_a_merge_shows_its_receipt(graph: Path) -> None:
    one = told("merges", "1")
    assert one["merge"]["id"] == 1
    moved = [edge for edge in one["edges"] if edge["what"] == "moved"]
    assert len(moved) == one["merge"]["moved"]
    assert f"{len(moved)} edges: " in said("merges", "1")


def test_a_fold_by_hand_can_be_explained_and_taken_back(graph: Path) -> None:
    text = said("merge", "power.c", "power.h", "--reason", "One module.", "--actor", "ada")
    assert "Folded power.c → power.h (merge 3)" in text
    assert told("merges", "3")["merge"]["reason"] == "One module."
    assert told("merges", "3")["merge"]["actor"] == "ada"
    assert "They are one entity: merge 3" in said("explain", "power.c", "power.h")
    said("revert", "3")
    assert "settled apart by decision" in said("explain", "power.c", "power.h")


def test_keeping_apart_holds_until_it_is_undone(graph: Path) -> None:
    text = said("keep-apart", "power.c", "dmetrics-go", "--reason", "A file and a project.")
    decision = told("apart")[0]
    assert f"enfold undo-apart {decision['id']}" in text
    assert decision["why"] == "A file and a project."
    assert run("merge", "power.c", "dmetrics-go").exit_code == 4
    said("undo-apart", str(decision["id"]))
    said("merge", "power.c", "dmetrics-go")


def test_lists_that_are_empty_say_so_on_the_side(folder: Path) -> None:
    said("import", memory(folder, named("Ada")))
    for args in (["conflicts"], ["conflicts", "--decided"], ["merges"], ["apart"]):
        result = run(*args)
        assert result.stdout == ""
        assert result.stderr.strip().endswith(".")
        assert told(*args) == []


# ---- ask -----------------------------------------------------------------------------------------


def test_find_follows_a_fold_and_says_which_spelling_was_asked(graph: Path) -> None:
    text = said("find", "cpu_package")
    assert "Found: CPUPackage" in text
    assert "asked as  “cpu_package”, known as “CPUPackage”" in text
    found = told("find", "cpu_package")
    assert found["result"] == "found"
    assert found["alias"] is True
    assert found["aliases"] == ["cpu_package"]
    assert set(found) >= {"entity", "asked", "matched", "alias"}


def test_a_miss_is_unknown_with_the_nearest_spellings(graph: Path) -> None:
    result = run("find", "cpu_packagge")
    assert result.exit_code == 3
    assert "Unknown: “cpu_packagge”" in result.stdout
    assert "A miss means unknown, never absent" in result.stdout
    assert "CPUPackage" in result.stdout
    answer = json.loads(run("find", "cpu_packagge", "--json").stdout)
    assert answer["result"] == "unknown"
    assert answer["nearest"][0]["name"] == "CPUPackage"


def test_a_name_that_looks_like_an_option_can_be_asked_for(graph: Path) -> None:
    said("alias", "TODO.md", "--", "--todo")
    assert "Found: TODO.md" in said("find", "--", "--todo")


def test_show_takes_a_name_a_spelling_or_an_id(graph: Path) -> None:
    by_name = told("show", "CPUPackage")
    assert told("show", "cpu_package") == by_name
    assert told("show", f"id:{by_name['entity']['id']}") == by_name
    text = said("show", "CPUPackage")
    assert "cpu_package → CPUPackage" in text


def test_related_says_what_is_stated_before_what_is_mentioned_together(graph: Path) -> None:
    text = said("related", "cpu_package")
    assert text.startswith("CPUPackage (Component, id:")
    assert "asked as “cpu_package”, known as “CPUPackage”" in text
    stated, _, together = text.partition("Mentioned together")
    assert re.search(r"^  [→←] \w+", stated, re.MULTILINE)
    assert not re.search(r"^  [→←] \w+", together, re.MULTILINE)
    assert len(told("related", "cpu_package", "--limit", "1")["related"]) == 1
    kinds = told("related", "cpu_package", "--type", "File")["related"]
    assert {one["entity"]["type"] for one in kinds} <= {"File"}


def test_an_empty_neighbourhood_proves_nothing(graph: Path) -> None:
    assert "unknown, never absent" in said("related", "CPUPackage", "--type", "no such type")


def test_explain_shows_every_rule_in_order_and_which_decided() -> None:
    text = said("explain", "Node", "Node.js")
    assert "Node and Node.js: ASK by js-suffix" in text
    assert re.search(r"^  ✓  js-suffix +ASK ", text, re.MULTILINE)
    assert re.search(r"^  –  version +silent$", text, re.MULTILINE)
    assert text.index("version") < text.index("identical") < text.index("contained")
    assert "“Node”: not known" in text


def test_explain_uses_the_types_it_is_given() -> None:
    args = ("explain", "J. Smith", "John Smith")
    assert told(*args)["ruling"]["rule"] != "person"
    typed = told(*args, "--left-type", "person", "--right-type", "person")
    assert typed["ruling"]["rule"] == "person"
    assert typed["left"] == {"spelling": "J. Smith", "type": "person"}


def test_explain_knows_of_a_pending_question(graph: Path) -> None:
    assert "Question 1 asks" in said("explain", "CPUMetrics", "cpu_metrics_module")


# ---- names ---------------------------------------------------------------------------------------


def test_a_rename_keeps_the_old_name(graph: Path) -> None:
    assert "Now known as To-do list" in said("rename", "TODO.md", "To-do list")
    assert "Found: To-do list" in said("find", "TODO.md")


def test_an_alias_leads_to_its_entity_until_reverted(graph: Path) -> None:
    text = said("alias", "TODO.md", "the list")
    assert "“the list” leads to “TODO.md”" in text
    assert run("alias", "TODO.md", "the list").exit_code == 4
    merge = re.search(r"enfold revert (\d+)", text)
    assert merge
    said("revert", merge[1])
    assert run("find", "the list").stdout != said("find", "TODO.md")


def test_a_type_is_changed_or_taken_away(graph: Path) -> None:
    said("retype", "TODO.md", "file")
    assert told("show", "TODO.md")["entity"]["type"] == "file"
    said("retype", "TODO.md", "--none")
    assert told("show", "TODO.md")["entity"]["type"] is None


def test_a_delete_says_what_went(graph: Path) -> None:
    memories = told("status")["memories"]
    assert re.search(r"Deleted TODO\.md .*mention.*fact", said("delete", "TODO.md", "--yes"))
    assert run("find", "TODO.md").exit_code == 3
    assert told("status")["memories"] == memories


# ---- upkeep --------------------------------------------------------------------------------------


def test_status_says_what_the_graph_holds_and_what_is_next(graph: Path) -> None:
    text = said("status")
    assert re.search(r"^  entities +45 ", text, re.MULTILINE)
    assert re.search(r"^  pending +3 ", text, re.MULTILINE)
    assert "enfold conflicts" in text
    said("import", memory(graph.parent, named("Ada")))
    assert "enfold resolve" in said("status")


def test_a_backup_can_be_restored_and_the_restore_taken_back(graph: Path) -> None:
    backup = said("backup").strip()
    assert Path(backup).is_file()
    said("merge", "power.c", "power.h")
    done = told("restore", backup, "--yes")
    assert len(told("merges")) == 2
    said("restore", done["replaced"], "--yes")
    assert len(told("merges")) == 3


def test_a_backup_can_be_restored_where_the_graph_is_lost(graph: Path) -> None:
    said("backup", "copy.db")
    graph.unlink()
    for beside in graph.parent.glob("enfold.db-*"):
        beside.unlink()
    said("restore", "copy.db", "--yes")
    assert len(told("merges")) == 2


def test_runs_are_listed_newest_first(graph: Path) -> None:
    assert [run["kind"] for run in told("runs")] == ["resolve", "import"]
    assert re.search(r"^2  resolve .* merged 2", said("runs"), re.MULTILINE)


def test_evaluate_counts_verdicts_by_label_and_lists_false_folds_first(folder: Path) -> None:
    rows = [
        "left\tright\tverdict",
        "Ada\tBob\tASK",
        "Claude Code\tclaude-code\tAPART",
        "GPT-4\tGPT-5\tAPART",
    ]
    (folder / "pairs.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    text = said("evaluate", "pairs.tsv")
    assert "1 of 3 pairs right (33.3%)" in text
    assert re.search(r"^  false folds +1 ", text, re.MULTILINE)
    assert re.search(r"^  FOLD +1 +0$", text, re.MULTILINE)
    assert re.search(r"^  identical +1 +0$", text, re.MULTILINE)
    assert text.index("Claude Code → claude-code") < text.index("Ada ≠ Bob")


def test_an_evaluation_of_nothing_says_so(folder: Path) -> None:
    (folder / "pairs.tsv").write_text("left\tright\tverdict\n", encoding="utf-8")
    assert "nothing to evaluate" in said("evaluate", "pairs.tsv")


# ---- progress ------------------------------------------------------------------------------------


def test_progress_down_a_pipe_is_a_line_now_and_then(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Progress, "EVERY", 0.0)
    result = run("scan", str(EXAMPLE), "--json")
    assert "reading names 47 of 47" in result.stderr
    json.loads(result.stdout)
    assert run("scan", str(EXAMPLE), "--quiet").stderr == ""


# ---- questions about names and memories ----------------------------------------------------------


@pytest.fixture
def asked() -> None:
    """A graph with a question of each kind: 1 of entities, 2 of memories, 3 of a name."""
    with enfold.open("enfold.db", embedder=None) as graph:
        graph.remember("Both wrote.", mentions=["Ada Lovelace", "A. Lovelace"])
        graph.resolve(backup=False)
        with graph._store.write() as tx:
            for kind in ("planet", "metal"):
                lookup.mint(tx, enfold.Name.of("Mercury", kind), homonym=True)
            earlier, later = (tx.memories.add(f"Ada works at\n{at}.") for at in ("Acme", "Globex"))
            tx.questions.ask_memory(later, earlier, asked_by="m", score=0.9, reason="Not both.")
        graph.remember("Mercury is hot.", mentions=["Mercury"])


@pytest.mark.usefixtures("asked")
def test_conflicts_of_every_kind_are_one_list_under_their_headings() -> None:
    text = said("conflicts")
    titles = [text.index(title) for title in ("Are the two", "Memories that", "Names that")]
    assert titles == sorted(titles)
    assert "2  “Ada works at Globex.” (memory 3) ~ “Ada works at Acme.” (memory 2)" in text
    assert "3  “Mercury” fits Mercury (planet, id:3, 0 mentions), Mercury (metal" in text
    assert "enfold decide 3 keep_existing --candidate 3  texts mean Mercury (planet" in text
    assert [one["kind"] for one in told("conflicts")] == ["entity", "memory", "name"]
    assert [one["id"] for one in told("conflicts", "--kind", "memory")] == [2]
    assert "Names that" not in said("conflicts", "--kind", "entity")
    assert re.search(r"names +1 ", said("status"))


@pytest.mark.usefixtures("asked")
def test_a_name_is_decided_by_its_candidate_and_taken_back() -> None:
    assert "means Mercury (metal, id:4): 1 mention linked." in said(
        "decide", "3", "keep_existing", "--candidate", "4"
    )
    assert "keep_existing by" in said("conflicts", "--decided", "--kind", "name")
    assert "1 mention waits again." in said("reopen", "3")
    assert "means a new thing, Mercury (id:5)" in said("decide", "3", "keep_new")
    assert "Mercury (id:5) was made for the answer, and is gone." in said("reopen", "3")
    assert "stays linked to none" in said("decide", "3", "keep_both")


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    ("answer", "receipt"),
    [
        (["keep_new"], "Memory 3 holds, in place of memory 2."),
        (["keep_existing"], "Memory 2 holds, and memory 3 does not."),
        (["keep_both"], "Both hold: memories 2 and 3."),
        (["merge", "--content", "Ada left."], "Memory 5 holds, in place of memories 2 and 3."),
    ],
)
def test_memories_that_contradict_are_decided_and_taken_back(
    answer: list[str], receipt: str
) -> None:
    assert receipt in said("decide", "2", *answer)
    assert "Question 2 is pending again: “Ada works at Globex.”" in said("reopen", "2")
