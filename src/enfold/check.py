"""The invariants of a graph, looked at one by one and put into words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from enfold.errors import Invalid
from enfold.model import CheckReport, Violation
from enfold.ports import NewEntity, Progress, Tx

SENTENCES: Final[dict[str, str]] = {
    "forest": "rows are folded in a circle, and lead to no entity",
    "root": "rows name another root than the one their folds lead to",
    "fold_has_merge": "rows are folded without a merge in force that says so",
    "merge_has_fold": "merges are in force and their rows are not folded",
    "one_live_merge": "rows have two merges in force at once",
    "merge_order": "merges fold into a row that was folded before",
    "name": "rows have no name",
    "edge_ids": "edges share an id, or are above the counter of edge ids",
    "receipt": "merges do not agree with their receipts",
    "answer": "answers do not agree with the merge or decision they made",
    "merge_of_answer": "merges name a question that does not name them",
    "unlinked": "names of texts are not linked as their entities and answers say",
    "unlinked_fact": "relations of texts are not linked as their entities and answers say",
    "asked_name": "names of texts wait for a choice, and nobody is asked",
    "suggestion": "suggested pairs are out of order",
}
"""What is wrong where an invariant of the stored rows does not hold; "{count} {sentence}"."""

NameOf = Callable[[str], NewEntity]


def check(
    tx: Tx,
    *,
    name_of: NameOf | None = None,
    deep: bool = True,
    progress: Progress | None = None,
) -> CheckReport:
    """Look at every invariant.

    Args:
        name_of: how a spelling's keys are made; where given, every stored key is made again.
        deep: look at the words of every name and at the database's pages, indexes and references
            too.
        progress: called with (invariant, done, total).
    """
    names = [*tx.invariants.names()]
    names += ["keys"] * (name_of is not None) + ["words", "references", "file"] * deep
    violations: list[Violation] = []
    for done, name in enumerate(names):
        if progress is not None:
            progress(f"checking {name}", done, len(names))
        if name == "keys" and name_of is not None:
            violations += _keys(tx, name_of)
        elif name == "words":
            violations += _words(tx)
        elif name == "references":
            violations += [Violation(name, text) for text in tx.invariants.foreign_keys()[:20]]
        elif name == "file":
            violations += [Violation(name, text) for text in tx.invariants.file()[:20]]
        else:
            violations += _rows(tx, name)
    return CheckReport(tuple(names), tuple(violations))


def _rows(tx: Tx, name: str) -> list[Violation]:
    count, ids = tx.invariants.breaches(name)
    return [Violation(name, f"{count:,} {SENTENCES[name]}", tuple(ids))] if count else []


def _keys(tx: Tx, name_of: NameOf) -> list[Violation]:
    wrong = []
    for row_id, spelling, *stored in tx.entities.stored_keys():
        try:
            name = name_of(spelling)
        except Invalid:
            wrong.append(row_id)
            continue
        if stored != [name.key, name.merge_key, name.fold_key]:
            wrong.append(row_id)
    if not wrong:
        return []
    sentence = f"{len(wrong):,} rows have other keys than their spelling makes"
    return [Violation("keys", sentence, tuple(wrong[:20]))]


def _words(tx: Tx) -> list[Violation]:
    rows, stray = tx.words.misfiled(), tx.words.stray()
    found = []
    if rows:
        sentence = f"{len(rows):,} rows are not found by just the words of their names"
        found.append(Violation("words", sentence, tuple(rows[:20])))
    if stray:
        sentence = f"{len(stray):,} words are no name's, or are not found by their letters"
        found.append(Violation("words", sentence))
    return found
