"""The pass: entities → candidate pairs → ruling → fold, question or nothing.

Gather reads the names in one snapshot. The search, which is long, holds no transaction. Everything
that depends on the state of the graph (folds, decisions, the queue) is planned inside the one that
applies it, so that nothing planned is out of date; a dry run is that transaction rolled back.

What the rules say of two names depends on the names alone, so each row is looked at once: a pass
over what is new finds what a full pass would, with the context the last full pass froze.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, repeat
from operator import eq, itemgetter
from typing import Final

from enfold import deferred, folds, guard, names, pairs, rules, stars
from enfold.asked import Asked
from enfold.model import Context, DecidedBy, Proposal, Report, Verdict
from enfold.names import Name
from enfold.ports import Engine, Progress, Spelled, Store, Survey, Tx

VERSION: Final = f"names {names.VERSION}, rules {rules.VERSION}"
"""What a graph's suggestions and name index were made with; another version starts them afresh."""

FULL_ABOVE: Final = 2_000
"""More rows than this to look at, and more than a twentieth of the graph, make the pass a full one:
one name against the index cost 50 times what a name costs in a survey of 100,000, and 240 times at
a million (bench/run.py)."""


@dataclass(frozen=True)
class Seen:
    """One snapshot of the names.

    Attributes:
        ids, rows: every row of the graph (full) or those to look at, with what may be a candidate
            but is not in the index yet.
        fresh: ids of the rows to look at; None where that is all of them.
        context: the context to rule with; a full pass adds what it learns of the names.
    """

    ids: list[int]
    rows: list[Spelled]
    fresh: frozenset[int] | None
    context: Context
    entities: int

    @property
    def full(self) -> bool:
        return self.fresh is None


@dataclass(frozen=True)
class Search:
    """What was found among the names, before the state of the graph is looked at.

    Attributes:
        judged: candidate pairs ruled.
        asked: pairs of rows that a rule asks about, those of equal letters left out.
        groups: ids of rows of equal letters, where there are two or more.
        survey: what a full pass read of every name.
    """

    seen: Seen
    context: Context
    judged: int
    asked: Asked
    groups: list[list[int]]
    survey: Survey | None


def gather(
    tx: Tx, *, full: bool, rule_set: str | None = None, types_trusted: bool | None = None
) -> Seen:
    """The names to look at. A first pass, changed rules or types, another version of either, or
    many new rows make the pass a full one."""
    before = tx.context()
    wanted = replace(
        before or Context(),
        rules=rule_set or (before.rules if before else "default"),
        types_trusted=before.types_trusted
        if before and types_trusted is None
        else bool(types_trusted),
        version=VERSION,
    )
    rules.rule_set(wanted.rules)
    fresh = tx.entities.unexamined()
    unindexed = tx.names.unindexed()
    new = len({*fresh, *unindexed})
    # Counting a graph reads it all, so it is counted only where that matters.
    many = new > FULL_ABOVE and new > tx.entities.count() // 20
    if full or before != wanted or many:
        ids, rows = _rows(tx.entities.spellings())
        wanted = replace(wanted, common=frozenset(), initials=frozenset())
        return Seen(ids, rows, None, wanted, tx.entities.count_live())
    found = tx.entities.rows_by_id(sorted({*fresh, *unindexed}))
    ids, rows = _rows((row.id, row.spelling, row.type) for row in found)
    root_of = {row.id: row.canonical_id for row in found}
    live = len({root_of[row] for row in fresh})
    return Seen(ids, rows, frozenset(fresh), before, live)


def _rows(spellings: Iterable[tuple[int, str, str | None]]) -> tuple[list[int], list[Spelled]]:
    ids: list[int] = []
    rows: list[Spelled] = []
    for row_id, spelling, kind in spellings:
        ids.append(row_id)
        rows.append((spelling, kind))
    return ids, rows


def search(store: Store, seen: Seen, engine: Engine, progress: Progress) -> Search:
    """Find and rule the candidate pairs, outside any transaction that writes."""
    if seen.full:
        with _collector_resting():
            return _search_all(seen, engine, progress)
    with store.read() as tx:
        return _search_fresh(tx, seen, progress)


@contextmanager
def _collector_resting() -> Iterator[None]:
    """Names and rows hold no cycles; looking for some among millions took 3 s of 80."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def _search_all(seen: Seen, engine: Engine, progress: Progress) -> Search:
    survey = engine.survey(seen.ids, seen.rows, seen.context.rules, progress)
    context = replace(seen.context, common=survey.common, initials=survey.initials)
    asked, judged = Asked(), 0
    for batch in survey.propose(context):
        judged += batch.judged
        asked.extend(batch.asked)
    engine.close()  # its processes have done their part; what they hold is room for what comes
    groups = sorted(survey.equal_letters())
    return Search(seen, context, judged, asked, groups, survey)


def _search_fresh(tx: Tx, seen: Seen, progress: Progress) -> Search:
    """Each row to look at against the index, and against the few rows not yet in it."""
    assert seen.fresh is not None
    blocks = pairs.blocking(rules.rule_set(seen.context.rules))
    unindexed = set(tx.names.unindexed())
    beside: dict[int, list[int]] = defaultdict(list)
    known: dict[int, Name] = {}
    for row_id, (spelling, kind) in zip(seen.ids, seen.rows, strict=True):
        known[row_id] = Name(spelling, kind)
        if row_id in unindexed:
            for key in pairs.index_keys(known[row_id], blocks):
                beside[key].append(row_id)
    asked, judged, done = Asked(), 0, set[int]()
    groups: dict[str, list[int]] = {}
    for row_id in sorted(seen.fresh & known.keys()):
        name = known[row_id]
        keys = sorted(pairs.probe_keys(name, blocks))
        near = tx.names.probe(keys).union(*(beside.get(key, ()) for key in keys))
        near -= done | {row_id}
        missing = sorted(near - known.keys())
        for row in tx.entities.rows_by_id(missing):
            known[row.id] = Name(row.spelling, row.type)
        for other in sorted(near & known.keys()):
            if known[other].letters == name.letters:
                continue  # ruled in its group
            judged += 1
            ruling = rules.rule_on(name, known[other], seen.context)
            if ruling.verdict is Verdict.ASK:
                asked.add(row_id, other, ruling.rule, ruling.score)
        done.add(row_id)
        if name.merge_key and name.merge_key not in groups:
            groups[name.merge_key] = [row.id for row in tx.entities.by_merge_key(name.merge_key)]
        progress("comparing new names", len(done), len(seen.fresh))
    many = [group for group in groups.values() if len(group) > 1]
    return Search(seen, seen.context, judged, asked, many, None)


@dataclass(frozen=True)
class Spoken:
    """What the rules did about rows that were just made.

    Attributes:
        folds, asked: (row, merge) and (row, question) of what concerns one of them.
        left: how many of the rows are left to the next pass.
    """

    folds: tuple[tuple[int, int], ...] = ()
    asked: tuple[tuple[int, int], ...] = ()
    left: int = 0


def speak(store: Store, made: Sequence[int]) -> Spoken:
    """The rules speak about rows that have just been made: what is identical folds, what is
    uncertain is asked. So many rows that a full pass is due are left to it.

    As in a pass, the search is made outside the transaction that applies it, so that nobody waits
    for it; rows that another writer makes meanwhile are looked at by that one.
    """
    if not made:
        return Spoken()
    with store.read() as tx:
        context = tx.context() or Context(version=VERSION)
        if tx.names.count_unindexed() > FULL_ABOVE or context.version != VERSION:
            return Spoken(left=len(made))
        read = tx.entities.rows_by_id(sorted({*made, *tx.names.unindexed()}))
        ids, rows = _rows((row.id, row.spelling, row.type) for row in read)
        found = _search_fresh(tx, Seen(ids, rows, frozenset(made), context, len(made)), _quiet)
    with store.write() as tx:
        report = _apply(tx, found, None, _quiet, 0)
        _index_fresh(tx, context)
        return _spoken(tx, report, set(made))


def _spoken(tx: Tx, report: Report, made: set[int]) -> Spoken:
    """What of a report concerns these rows, row by row."""
    merges = tx.merges.many(report.merge_ids)
    asked = [one for one in map(tx.conflicts.get, report.conflict_ids) if one is not None]
    folded = ((row, m.id) for m in merges for row in (m.absorbed_id, m.canonical_id))
    queued = ((row, c.id) for c in asked for row in (c.queued_id, c.candidate_id))
    return Spoken(
        tuple(pair for pair in folded if pair[0] in made),
        tuple(pair for pair in queued if pair[0] in made),
    )


def _quiet(_what: str, _done: int, _total: int) -> None:
    return None


def apply(
    tx: Tx, found: Search, *, run_id: int | None, progress: Progress, ranked: int = 0
) -> Report:
    """Plan against the graph as it is now, apply, and report.

    Args:
        ranked: how many of the open questions to list in the report, beyond those queued.
    """
    with _collector_resting():
        return _apply(tx, found, run_id, progress, ranked)


def _apply(tx: Tx, found: Search, run_id: int | None, progress: Progress, ranked: int) -> Report:
    stale = _changed_since(tx, found.seen)
    groups = [[row for row in group if row not in stale] for group in found.groups]
    progress("folding", 0, 0)
    plan = stars.settle(tx, groups, found.context)
    batch = folds.fold_batch(tx, plan.folds, decided_by=DecidedBy.RULE, run_id=run_id)
    asked = found.asked.plus(plan.asked)
    opened = _store_asked(tx, found, asked, stale)
    skipped = plan.settled + len(batch.refused) + len(asked) - opened
    progress("asking", 0, 0)
    queued, conflict_ids = deferred.refill(tx, found.context)
    waiting = tx.suggestions.count_open()
    if found.seen.full:
        tx.set_context(found.context)
    return Report(
        examined=found.seen.entities,
        pairs=found.judged + plan.judged,
        merged=len(batch.folds),
        queued=len(queued),
        deferred=waiting,
        skipped=skipped,
        full=found.seen.full,
        dry_run=False,
        run_id=run_id,
        merge_ids=tuple(m.id for m in batch.folds),
        conflict_ids=tuple(conflict_ids),
        folds=tuple(
            Proposal(m.absorbed_id, m.canonical_id, Verdict.FOLD, m.rule, m.score, m.reason)
            for m in batch.folds
        ),
        questions=(*queued, *deferred.best(tx, ranked, found.context)),
    )


def dry_run(store: Store, found: Search, progress: Progress, *, ranked: int = 0) -> Report:
    """What ``run`` would report; nothing is kept of it."""
    report = guard.tried(
        store, lambda tx: apply(tx, found, run_id=None, progress=progress, ranked=ranked)
    )
    return replace(report, dry_run=True, merge_ids=(), conflict_ids=())


def run(
    store: Store,
    found: Search,
    progress: Progress,
    *,
    backup: bool,
    keep_backups: int | None = None,
) -> Report:
    """Apply a search. A full pass is guarded: a backup where it folds, one transaction, a check;
    what is small goes without, so that it costs in proportion to what it does."""
    if not found.seen.full:
        with store.write() as tx:
            run_id = tx.runs.start("resolve")
            report = apply(tx, found, run_id=run_id, progress=progress)
            tx.runs.finish(run_id, figures(report))
        return report
    with store.read() as tx:
        folding = backup and stars.any_fold(tx, found.groups, found.context)
    done = guard.guarded(
        store,
        "resolve",
        lambda tx: apply(tx, found, run_id=tx.run_id, progress=progress),
        backup=folding,
        progress=progress,
        keep_backups=keep_backups,
        report=figures,
    )
    return replace(done.result, backup=done.backup)


def figures(report: Report) -> dict[str, object]:
    """What a run keeps of a report: its figures."""
    names = ("examined", "pairs", "merged", "queued", "deferred", "skipped", "full")
    return {name: getattr(report, name) for name in names}


def _changed_since(tx: Tx, seen: Seen) -> set[int]:
    """Rows that are gone, or have another type, since the snapshot: the next pass looks at them."""
    then = zip(seen.ids, map(itemgetter(1), seen.rows), strict=True)
    if not seen.full:
        now = {(row.id, row.type) for row in tx.entities.rows_by_id(seen.ids)}
    elif all(map(eq, then, chain(tx.entities.types(), repeat(None)))):
        return set()  # as a rule; what is new stands behind
    else:
        now = set(tx.entities.types())
        then = zip(seen.ids, map(itemgetter(1), seen.rows), strict=True)
    return {row for row, kind in then if (row, kind) not in now}


def _store_asked(tx: Tx, found: Search, asked: Asked, stale: set[int]) -> int:
    """Keep what the rules ask; how many open pairs of entities it comes down to."""
    seen = found.seen
    if seen.fresh is None:
        opened = tx.suggestions.replace_all(asked.columns().without(stale))
        tx.entities.mark_all_examined(max(seen.ids, default=0), sorted(stale))
        return opened
    looked_at = sorted(seen.fresh - stale)
    opened = _count_open(tx, asked)
    kept = (pair for pair in asked if pair[0] not in stale and pair[1] not in stale)
    tx.suggestions.replace_for(looked_at, kept)
    tx.entities.mark_examined(looked_at)
    return opened


def _count_open(tx: Tx, asked: Asked) -> int:
    if not len(asked):
        return 0
    root_of = tx.entities.roots([*asked.left, *asked.right])
    apart = tx.decisions.apart_roots(around=sorted(set(root_of.values())))
    shut = tx.conflicts.pending_pairs().union(apart)
    return len(asked.columns().between(root_of, shut)[2])


def index_names(store: Store, found: Search) -> None:
    """Keep the name index up with a pass. It may fail or be cut off: what is not in the index is
    looked at one by one until the next full pass."""
    if found.survey is not None:
        with store.write() as tx:
            tx.names.replace(found.survey.index())
            tx.names.mark_indexed(max(found.seen.ids, default=0))
        return
    with store.write() as tx:
        _index_fresh(tx, found.context)


def _index_fresh(tx: Tx, context: Context) -> None:
    blocks = pairs.blocking(rules.rule_set(context.rules))
    rows = tx.entities.rows_by_id(tx.names.unindexed())
    for row in rows:
        keys_of_row = pairs.index_keys(Name(row.spelling, row.type), blocks)
        tx.names.add((key, row.id) for key in keys_of_row)
    if rows:
        tx.names.mark_indexed(max(row.id for row in rows))


def rewrite_words(store: Store, progress: Progress) -> None:
    """Make the words that people search by anew where another version made them. Cut off, it is
    done by the next pass; until then names of before are found by the words they had."""
    with store.read() as tx:
        if not tx.words.outdated():
            return
    progress("filing words", 0, 0)
    with store.write() as tx:
        tx.words.rewrite()
