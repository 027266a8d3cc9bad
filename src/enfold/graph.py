"""A graph: one thin method for each verb. It opens the transaction and delegates."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from enfold import (
    answers,
    deferred,
    folds,
    formats,
    guard,
    intake,
    lookup,
    outflow,
    settled,
)
from enfold import (
    cards as dealt,
)
from enfold import (
    check as checks,
)
from enfold import (
    conflicts as queue,
)
from enfold import (
    preview as previews,
)
from enfold import (
    related as neighbours,
)
from enfold import (
    remember as memories,
)
from enfold import (
    resolve as passes,
)
from enfold.cards import AnyCard, Card, Filter
from enfold.errors import Invalid, Refused
from enfold.evaluate import ClusterEvaluation, Evaluation
from enfold.explain import Explained, explain
from enfold.formats import decisions, review_sheet, target
from enfold.formats.obsidian import vault as vaults
from enfold.formats.source import opened
from enfold.model import (
    Ambiguous,
    Answer,
    Applied,
    CheckReport,
    Conflict,
    Decision,
    Described,
    Entity,
    Fact,
    Found,
    Hit,
    Imported,
    Memory,
    Merge,
    Proposal,
    Related,
    Report,
    Reverted,
    Run,
    Scan,
    SetAside,
    Shown,
    Summary,
    Unknown,
)
from enfold.names import Name
from enfold.ports import Engine, Progress, Store, Tx
from enfold.remember import StatedFact
from enfold.search import nearest
from enfold.search import search as spelling_search
from enfold.store import open_store


def _quiet(_what: str, _done: int, _total: int) -> None:
    return None


def open(
    url: str | os.PathLike[str] = "enfold.db",
    *,
    create: bool = True,
    read_only: bool = False,
    workers: int = 1,
    actor: str | None = None,
    keep_backups: int | None = None,
) -> Graph:
    """Open the graph at a path (or ``:memory:``).

    Args:
        create: make a new graph where nothing is; False raises ``NotFound`` instead.
        read_only: open without the right to write.
        workers: processes that find pairs in large graphs (see ``engines.local``).
        actor: who decides, as recorded with folds and decisions.
        keep_backups: how many backups to keep; None or 0 keeps all.

    Raises:
        Error: see ``store.open_store``.
    """
    store = open_store(os.fspath(url), create=create, read_only=read_only)
    return Graph(store, partial(_local, workers), actor=actor, keep_backups=keep_backups)


def _local(workers: int) -> Engine:
    from enfold.engines.local import LocalEngine  # numpy: 90 ms, which a lookup need not wait for

    return LocalEngine(workers)


def scan(
    *paths: str | os.PathLike[str],
    types_trusted: bool = False,
    trust_ids: bool = False,
    rule_set: str = "default",
    limit: int = 20,
    workers: int = 1,
    progress: Progress | None = None,
) -> Scan:
    """What a pass over these files would fold, ask and keep apart. Writes nothing.

    Args:
        trust_ids: let two entities of one name with different ids stay two.
        limit: how many of each to list.
    """
    with open(":memory:", workers=workers) as graph:
        imported = graph.import_files(*paths, trust_ids=trust_ids, progress=progress)
        return graph.preview(
            imported, types_trusted=types_trusted, rule_set=rule_set, limit=limit, progress=progress
        )


class Graph:
    """One graph. Usable from several threads; a context manager that closes it."""

    def __init__(
        self,
        store: Store,
        engine: Callable[[], Engine],
        *,
        actor: str | None = None,
        keep_backups: int | None = None,
    ) -> None:
        self._store = store
        self._make_engine = engine
        self._actor = actor
        self._keep_backups = keep_backups

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        if "_engine" in self.__dict__:
            self._engine.close()
        self._store.close()

    @cached_property
    def _engine(self) -> Engine:
        return self._make_engine()

    # ---- in and out ----

    def import_files(
        self,
        *paths: str | os.PathLike[str],
        trust_ids: bool = False,
        progress: Progress | None = None,
    ) -> tuple[Imported, ...]:
        """Take graph files and folders in, all of them or none. What can't be taken is set aside
        and listed; taking a file in again makes nothing.

        Args:
            trust_ids: let two entities of one name with different ids stay two.

        Raises:
            Invalid: a file is of no format that is read, or can't be read.
        """
        readings = formats.read(*paths)
        with self._store.write() as tx:
            return tuple(
                intake.intake(
                    tx,
                    r.records,
                    source=r.source,
                    format=r.format,
                    trust_ids=trust_ids or r.trusted,
                    progress=progress,
                )
                for r in readings
            )

    def export(self, format: str = "mcp", *, progress: Progress | None = None) -> Iterator[str]:
        """The graph in a format (see ``formats.WRITTEN``), as pieces of text.

        Raises:
            Invalid: ``unknown_format``; ``needs_file`` for a format that is no stream of text.
        """
        formats.to_stream(format)
        return self._export(format, progress)

    def _export(self, format: str, progress: Progress | None) -> Iterator[str]:
        with self._store.read() as tx:
            yield from formats.lines(format, lambda: outflow.records(tx, progress=progress))

    def export_to(
        self,
        out: str | os.PathLike[str],
        format: str = "mcp",
        *,
        force: bool = False,
        progress: Progress | None = None,
    ) -> target.Exported:
        """Write the graph in a format to a file, or to a folder where the format has several
        files. It is there whole or not at all.

        Args:
            force: write over what is there.

        Raises:
            Invalid: ``unknown_format``, ``no_directory``; ``needs_file`` for a pipe.
            Refused: ``target_exists``, ``same_file``, ``no_reader``.
        """
        with self._store.read() as tx:
            return target.export(
                format,
                lambda: outflow.records(tx, progress=progress),
                Path(out),
                force=force,
                graph=Path(self._store.url),
            )

    def export_decisions(self, format: str = "text") -> Iterator[str]:
        """What the graph was told about its names (see ``settled.gather``), line by line, as
        ``text`` for version control or as ``csv``.

        Raises:
            Invalid: ``unknown_layout``.
        """
        with self._store.read() as tx:
            said = settled.gather(tx)
        return decisions.written(said, format)

    def import_decisions(
        self, path: str | os.PathLike[str], *, dry_run: bool = False, actor: str | None = None
    ) -> Applied:
        """Take a decisions file in; it makes no entity and overrules no person.

        Args:
            dry_run: do the same and undo it before it is committed.
            actor: who decides where a line does not say.

        Raises:
            Invalid: ``merge_conflict``; ``unrecognised_format``; or it can't be read.
        """
        who = actor or self._actor
        with opened(path) as source:
            said = list(decisions.settled(source))
        action = partial(settled.apply, lines=said, actor=who, source=source.name)
        if dry_run:
            done = guard.tried(self._store, action)
            return replace(done, dry_run=True, run_id=None, undone=())
        with self._store.write() as tx:
            return action(tx)

    def vault(self, path: str | os.PathLike[str]) -> vaults.VaultAliases:
        """Which notes of an Obsidian vault would get which folded spellings as aliases.

        Raises:
            Invalid: ``no_such_file``, ``no_notes``.
        """
        with self._store.read() as tx:
            return vaults.plan(tx, Path(path))

    def write_vault(self, path: str | os.PathLike[str]) -> vaults.VaultAliases:
        """Write the aliases that ``vault`` plans into the front matter of the notes, and keep the
        notes of before beside the graph.

        Raises:
            Invalid: as ``vault``. Refused: ``no_file``.
        """
        with self._store.read() as tx:
            planned, now = vaults.plan(tx, Path(path)), tx.now
        return vaults.apply(
            planned, self._kept_notes(), re.sub(r"\W", "", now).replace("Z", "000Z")
        )

    def undo_vault(self, path: str | os.PathLike[str]) -> vaults.VaultUndone:
        """Put the notes back that the last ``write_vault`` changed and nobody edited since.

        Raises:
            NotFound: ``nothing_to_undo``. Refused: ``no_file``.
        """
        return vaults.undo(Path(path), self._kept_notes())

    def _kept_notes(self) -> Path:
        backups = self._store.backups
        if backups is None:
            raise Refused(
                "no_file", "A graph in memory has no place for the notes of before; name a file."
            )
        return backups.with_suffix(".vaults")

    def remember(
        self,
        content: str,
        *,
        mentions: Sequence[str | Name] = (),
        facts: Sequence[StatedFact] = (),
        source: str | None = None,
        caller_id: str | None = None,
    ) -> Memory:
        """Store a text with the names it mentions and the facts it states, given by the caller.

        A name leads to the entity it is known as, or makes one. A text with a ``caller_id`` that
        is known already is not stored again.

        Raises:
            Invalid: a blank text or name.
            Conflict: ``ambiguous``: a name fits several entities.
        """
        with self._store.write() as tx:
            return memories.remember(
                tx, content, mentions=mentions, facts=facts, source=source, caller_id=caller_id
            )

    def forget(self, memory_id: int) -> None:
        """Delete a memory with its mentions and facts; entities stay.

        Raises:
            NotFound: ``no_memory``.
        """
        with self._store.write() as tx:
            memories.forget(tx, memory_id)

    # ---- settle ----

    def resolve(
        self,
        *,
        dry_run: bool = False,
        full: bool = False,
        rule_set: str | None = None,
        types_trusted: bool | None = None,
        backup: bool = True,
        progress: Progress | None = None,
    ) -> Report:
        """Fold what is identical, queue what is uncertain, and say what was done.

        Args:
            dry_run: do the same and undo it before it is committed: the figures are the real ones.
            full: look at every name, not only at what is new since the last pass.
            rule_set: the rules to use from now on.
            types_trusted: whether a disagreement of types asks instead of folding, from now on.
            backup: copy the graph before a full pass that folds.

        Raises:
            Invalid: ``unknown_rules``.
        """
        report = progress or _quiet
        with self._store.read() as tx:
            seen = passes.gather(tx, full=full, rule_set=rule_set, types_trusted=types_trusted)
        found = passes.search(self._store, seen, self._engine, report)
        if dry_run:
            return passes.dry_run(self._store, found, report)
        done = passes.run(
            self._store, found, report, backup=backup, keep_backups=self._keep_backups
        )
        passes.index_names(self._store, found)
        passes.rewrite_words(self._store, report)
        return done

    def preview(
        self,
        imported: tuple[Imported, ...] = (),
        *,
        types_trusted: bool | None = None,
        rule_set: str | None = None,
        limit: int = 20,
        progress: Progress | None = None,
    ) -> Scan:
        """What a full pass would do, with names: what folds, what is asked, what stays apart."""
        report = progress or _quiet
        with self._store.read() as tx:
            seen = passes.gather(tx, full=True, rule_set=rule_set, types_trusted=types_trusted)
        found = passes.search(self._store, seen, self._engine, report)
        return previews.preview(self._store, found, imported, limit=limit, progress=report)

    def conflicts(self, *, decided: bool = False, limit: int = 1000) -> list[Conflict]:
        """The pending questions, weightiest first; or those answered, and those that are moot."""
        with self._store.read() as tx:
            return queue.decided(tx, limit=limit) if decided else queue.pending(tx, limit=limit)

    def decide(
        self,
        conflict_id: int,
        answer: Answer | str,
        *,
        candidate_id: int | None = None,
        actor: str | None = None,
    ) -> queue.Decided:
        """Answer a question.

        Raises:
            NotFound: ``no_conflict``.
            Invalid: ``bad_answer``; ``not_its_candidate``.
            Refused: ``already_answered``, ``moot``, ``rename_instead``.
        """
        try:
            chosen = Answer(answer)
        except ValueError:
            known = ", ".join(a.value for a in Answer)
            raise Invalid("bad_answer", f"{answer!r} is no answer; give one of: {known}.") from None
        with self._store.write() as tx:
            return queue.decide(
                tx, conflict_id, chosen, actor=actor or self._actor, candidate_id=candidate_id
            )

    def cards(
        self,
        *,
        limit: int = 20,
        around: str | int | None = None,
        rule: str | None = None,
        type: str | None = None,
        passed: Collection[tuple[int, int]] = (),
    ) -> list[Card]:
        """The open questions, queued or waiting, as cards: those that share an entity are one. The
        weightiest come first.

        Args:
            around: only those about this entity.
            rule, type: only questions of a rule; only with a side of a type.
            passed: pairs of entities to leave out (``Card.pairs`` of those skipped).

        Raises:
            NotFound: ``unknown``. Conflict: ``ambiguous``.
        """
        with self._store.read() as tx:
            root = None if around is None else self._follow(tx, around).entity.id
            which = Filter(rule, type)
            return dealt.cards(tx, limit=limit, which=which, around=root, passed=passed)

    def deal(
        self,
        *,
        limit: int = 20,
        around: str | int | None = None,
        rule: str | None = None,
        type: str | None = None,
        passed: Collection[tuple[int, int]] = (),
        lists: bool = True,
    ) -> list[AnyCard]:
        """As ``cards``; but single pairs of one rule are gathered, up to nine in a list.

        Args:
            lists: False leaves each single pair on a card of its own.

        Raises:
            NotFound: ``unknown``. Conflict: ``ambiguous``.
        """
        with self._store.read() as tx:
            root = None if around is None else self._follow(tx, around).entity.id
            dealing = dealt.stream(
                tx,
                limit=limit,
                which=Filter(rule, type),
                around=root,
                passed=passed,
                lists=lists,
            )
            return list(dealing)

    def count_cards(
        self,
        *,
        around: str | int | None = None,
        rule: str | None = None,
        type: str | None = None,
        lists: bool = False,
    ) -> tuple[int, int | None]:
        """(open pairs, cards they make); None of the latter above ``cards.COUNTED`` pairs.

        Args:
            lists: count them as ``deal`` makes them.
        """
        with self._store.read() as tx:
            root = None if around is None else self._follow(tx, around).entity.id
            return dealt.count(tx, Filter(rule, type), around=root, lists=lists)

    def refill(self) -> list[int]:
        """Fill the queue up to its cap from what waits, as a pass does; the new questions."""
        with self._store.write() as tx:
            context = tx.context()
            return deferred.refill(tx, context)[1] if context is not None else []

    def answer_card(
        self,
        card: AnyCard,
        *,
        same: Collection[int] = (),
        apart: Collection[int] = (),
        keep: int | None = None,
        among: bool = False,
        actor: str | None = None,
    ) -> answers.Answered:
        """Answer some or all questions of a card in one transaction; the rest stays asked.

        Args:
            same: ids of the leaves that are the centre; on a list, that of their line. apart: of
                those that are not.
            keep: whose name survives: the centre or one of ``same``. Not for a list.
            among: the leaves in ``apart`` are different from each other, too.

        Raises:
            Invalid: ``not_on_card``.
            Conflict: ``card_changed``: look at it again. Refused: ``settled_apart``.
        """
        with self._store.write() as tx:
            return answers.answer(
                tx,
                card,
                same=same,
                apart=apart,
                keep=keep,
                among=among,
                actor=actor or self._actor,
            )

    def answer_all(
        self,
        *,
        same: bool,
        rule: str | None = None,
        type: str | None = None,
        min_score: float = 0.0,
        dry_run: bool = False,
        expected: int | None = None,
        actor: str | None = None,
    ) -> answers.Many:
        """One answer for every open question of a rule, or with a side of a type. Folds make stars,
        never chains: what would join two names by way of a third stays asked.

        Args:
            expected: how many pairs the plan of a dry run had; where it differs, nothing is done.

        Raises:
            Refused: ``nothing_open``. Conflict: ``card_changed``.
        """
        which = Filter(rule, type, min_score)
        opened = self._store.read if dry_run else self._store.write
        with opened() as tx:
            return answers.answer_all(
                tx,
                which,
                same=same,
                dry_run=dry_run,
                expected=expected,
                actor=actor or self._actor,
            )

    def undo_answer(
        self, answer_id: int | None = None, *, actor: str | None = None
    ) -> answers.Undone:
        """Take an answer to a card, to a kind or from a sheet back; by default the actor's latest
        that stands. Any number of times, in any session.

        Raises:
            NotFound: ``no_answer``. Refused: ``already_undone``.
        """
        with self._store.write() as tx:
            return answers.undo(tx, answer_id, actor=actor or self._actor)

    def questions(
        self,
        *,
        limit: int = 1000,
        around: str | int | None = None,
        rule: str | None = None,
        type: str | None = None,
        lists: bool = True,
    ) -> Iterator[str]:
        """So many cards as a sheet to answer (see ``formats.review_sheet``), as pieces of text."""
        with self._store.read() as tx:
            root = None if around is None else self._follow(tx, around).entity.id
            which = Filter(rule, type)
            dealing = dealt.stream(tx, limit=limit, which=which, around=root, lists=lists)
            yield from review_sheet.write(dealing)

    def answer_sheet(
        self, path: str | os.PathLike[str], *, dry_run: bool = False, actor: str | None = None
    ) -> answers.Returned:
        """Take the answers of a sheet: all is read and looked at first, then what holds is applied
        in one transaction. Taking it again does nothing.

        Raises:
            Invalid: ``not_questions``: the file is no such sheet; or it can't be read.
        """
        sheet = review_sheet.read(path)
        action = partial(answers.take, sheet=sheet, actor=actor or self._actor)
        if dry_run:
            return replace(guard.tried(self._store, action), answered=None)
        with self._store.write() as tx:
            return action(tx)

    def reopen(self, conflict_id: int, *, actor: str | None = None) -> Conflict:
        """Take an answer back: what it folded is reverted, and the question is pending again.

        Raises:
            NotFound: ``no_conflict``. Refused: ``not_answered``.
        """
        with self._store.write() as tx:
            return queue.reopen(tx, conflict_id, actor=actor or self._actor)

    def merges(
        self, *, reverted: bool = False, before: int | None = None, limit: int = 100
    ) -> list[Merge]:
        """The folds in force, newest first; with ``reverted`` also those taken back."""
        with self._store.read() as tx:
            return tx.merges.recent(live_only=not reverted, before=before, limit=limit)

    def receipt(self, merge_id: int) -> list[tuple[int, str]]:
        """(edge id, ``moved`` or ``silenced``) of every edge a fold concerned.

        Raises:
            NotFound: ``no_merge``.
        """
        with self._store.read() as tx:
            return folds.receipt(tx, merge_id)

    def merge(
        self,
        absorbed: str | int,
        canonical: str | int,
        *,
        overrule: bool = False,
        reason: str | None = None,
        actor: str | None = None,
    ) -> Merge:
        """Fold one entity into another, whatever the rules say.

        Raises:
            NotFound: ``unknown``.
            Conflict: ``ambiguous``.
            Refused: ``already_one``; ``settled_apart`` unless overruled.
        """
        with self._store.write() as tx:
            lesser, greater = self._follow(tx, absorbed), self._follow(tx, canonical)
            rows = tx.entities.many([lesser.row_id, greater.row_id])  # as asked, not as shown
            return folds.declare_same(
                tx,
                rows[lesser.row_id],
                rows[greater.row_id],
                reason=reason,
                actor=actor or self._actor,
                overrule=overrule,
            )

    def revert(self, merge_id: int, *, dry_run: bool = False, actor: str | None = None) -> Reverted:
        """Undo a fold as if it had never happened. Its two names are then settled apart, unless a
        question led to it: that goes back into the queue.

        Args:
            dry_run: only say what it would do.

        Raises:
            NotFound: ``no_merge``.
            Refused: ``already_reverted``.
        """
        if dry_run:
            with self._store.read() as tx:
                return folds.preview_revert(tx, merge_id)
        with self._store.write() as tx:
            return folds.revert(tx, merge_id, actor=actor or self._actor)

    def apart(self, *, limit: int = 1000) -> list[Decision]:
        """The names settled apart, newest first."""
        with self._store.read() as tx:
            return tx.decisions.recent(limit=limit)

    def keep_apart(
        self,
        left: str | int,
        right: str | int,
        *,
        reason: str | None = None,
        actor: str | None = None,
    ) -> Decision:
        """Settle that two entities are different things.

        Raises:
            Refused: ``already_one``.
        """
        with self._store.write() as tx:
            one, other = self._follow(tx, left), self._follow(tx, right)
            rows = tx.entities.many([one.row_id, other.row_id])  # as asked, not as shown
            return folds.keep_apart(
                tx,
                rows[one.row_id],
                rows[other.row_id],
                actor=actor or self._actor,
                reason=reason,
            )

    def undo_apart(self, decision_id: int, *, actor: str | None = None) -> Decision:
        """Two names are no longer settled apart; a question behind it is asked again.

        Raises:
            NotFound: ``no_decision``. Refused: ``already_undone``.
        """
        with self._store.write() as tx:
            return queue.undo_decision(tx, decision_id, actor=actor or self._actor)

    def rename(self, entity: str | int, spelling: str, *, actor: str | None = None) -> Entity:
        """Show an entity under another name; the old one stays as an alias.

        Raises:
            Refused: ``name_taken``.
        """
        name = Name.of(spelling)
        with self._store.write() as tx:
            found = self._follow(tx, entity)
            return folds.rename(tx, found.entity, name, actor=actor or self._actor)

    def alias(self, entity: str | int, spelling: str, *, actor: str | None = None) -> Merge:
        """Declare that a spelling leads to an entity.

        Raises:
            Refused: ``name_taken`` by another entity; ``already_one``; ``settled_apart``.
        """
        name = Name.of(spelling)
        with self._store.write() as tx:
            return folds.alias(
                tx, self._follow(tx, entity).entity, name, actor=actor or self._actor
            )

    def retype(self, entity: str | int, type: str | None) -> Entity:
        """Give an entity another type; the next pass looks at its name again."""
        kind = Name.of("x", type).type
        with self._store.write() as tx:
            return folds.retype(tx, self._follow(tx, entity).entity, kind)

    def delete(self, entity: str | int) -> folds.Deleted:
        """Delete an entity with its edges; memories stay.

        Raises:
            Refused: ``under_fold``, naming the folds to revert first.
        """
        with self._store.write() as tx:
            return folds.delete(tx, self._follow(tx, entity).entity)

    # ---- ask ----

    def find(self, name: str) -> Found | Ambiguous | Unknown:
        """Where a name leads. A miss proves nothing; it carries the nearest spellings."""
        with self._store.read() as tx:
            return lookup.find(tx, Name.of(name), nearest=nearest)

    def search(self, text: str, *, type: str | None = None, limit: int = 20) -> list[Hit]:
        """Entities whose spellings read like a text or a part of a name, best first (see
        ``search.search``). Nothing found means unknown, never absent.

        Args:
            type: only entities of this type, in whatever case.

        Raises:
            Invalid: ``blank_name``, ``name_too_long``.
        """
        with self._store.read() as tx:
            return spelling_search(tx, Name.of(text), type=type, limit=limit)

    def entity(self, asked: str | int) -> Described:
        """An entity by name, id or folded spelling, with its aliases and folds."""
        with self._store.read() as tx:
            entity = self._follow(tx, asked).entity
            return Described(
                entity,
                tx.entities.aliases([entity.id]).get(entity.id, ()),
                tx.edges.count_facts(entity.id),
                tuple(tx.merges.touching(entity.id)),
                tx.entities.attributes(entity.id),
            )

    def entities(self, *, after: int = 0, limit: int = 100) -> list[Entity]:
        """Live entities by id, after the given one."""
        with self._store.read() as tx:
            return tx.entities.live(after=after, limit=limit)

    def facts(self, asked: str | int, *, limit: int = 100) -> list[Fact]:
        """The facts that count and start or end at an entity."""
        with self._store.read() as tx:
            return tx.edges.facts_of(self._follow(tx, asked).entity.id, limit=limit)

    def related(self, asked: str | int, *, type: str | None = None, limit: int = 50) -> Related:
        """Who is connected to an entity: stated links first, then co-mentions, never blended."""
        with self._store.read() as tx:
            found = self._follow(tx, asked)
            return neighbours.related(tx, found, type=type, limit=limit)

    def explain(
        self,
        left: str,
        right: str,
        *,
        left_type: str | None = None,
        right_type: str | None = None,
    ) -> Explained:
        """Why two names get the ruling they get. Types are the graph's own unless given."""
        with self._store.read() as tx:
            return explain(tx, Name.of(left, left_type), Name.of(right, right_type))

    def shown(self, proposals: Iterable[Proposal]) -> tuple[Shown, ...]:
        """Proposals of a report, with the names and types of their rows."""
        with self._store.read() as tx:
            return previews.shown(tx, proposals)

    def summary(self) -> Summary:
        """What the graph holds, and what waits."""
        with self._store.read() as tx:
            live = tx.entities.count_live()
            return Summary(
                self._store.url,
                live,
                tx.entities.count() - live,
                tx.edges.count_memories(),
                tx.conflicts.count_pending(),
                tx.suggestions.count_open(),
                len(tx.entities.unexamined()),
            )

    # ---- keep ----

    def check(self, *, progress: Progress | None = None) -> CheckReport:
        """Whether every invariant of the graph holds."""
        with self._store.read() as tx:
            return checks.check(tx, name_of=Name.of, progress=progress)

    def backup(self, target: str | os.PathLike[str] | None = None) -> str:
        """A verified copy of the graph; where it lies."""
        return self._store.backup(None if target is None else os.fspath(target))

    def restore(self, source: str | os.PathLike[str]) -> str | None:
        """Put a backup's content in this graph's place; where the replaced content lies."""
        return self._store.restore(os.fspath(source))

    def runs(self, *, limit: int = 50) -> list[Run]:
        """Passes and imports, newest first."""
        with self._store.read() as tx:
            return tx.runs.recent(limit=limit)

    def set_aside(self, run_id: int) -> list[SetAside]:
        """What an import could not take, in full."""
        with self._store.read() as tx:
            return tx.runs.pieces(run_id)

    def _follow(self, tx: Tx, asked: str | int) -> Found:
        return lookup.follow(tx, asked, nearest=nearest)


def evaluate(
    path: str | os.PathLike[str],
    *,
    rule_set: str = "default",
    workers: int = 1,
    progress: Progress | None = None,
) -> Evaluation | ClusterEvaluation:
    """How right the rules are on a file of labels: pairs, each ruled on its own, or names with
    their things, put through a pass (see ``formats.labelled`` for the columns).

    Raises:
        Invalid: ``unreadable``, ``no_labels``, ``bad_label``, ``unknown_rules``.
    """
    from enfold.rating import rate  # numpy

    return rate(Path(path), rule_set=rule_set, workers=workers, progress=progress)


def as_json(record: Any) -> Any:
    """A record of this package as plain data, for JSON."""
    if isinstance(record, Name):
        return {"spelling": record.spelling, "type": record.type}
    if hasattr(record, "__dataclass_fields__"):
        return {name: as_json(getattr(record, name)) for name in record.__dataclass_fields__}
    if isinstance(record, Mapping):
        return {str(key): as_json(value) for key, value in record.items()}
    if isinstance(record, list | tuple | set | frozenset):
        return [as_json(part) for part in record]
    return record


__all__ = ["Graph", "as_json", "evaluate", "open", "scan"]
