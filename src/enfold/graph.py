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
    beliefs,
    copying,
    deferred,
    folds,
    formats,
    guard,
    indexing,
    intake,
    lookup,
    outflow,
    settled,
    terms,
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
    gate as gates,
)
from enfold import (
    preview as previews,
)
from enfold import (
    recall as recollect,
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
from enfold.errors import Error, Invalid, Refused, Unavailable
from enfold.evaluate import ClusterEvaluation, Evaluation
from enfold.explain import Explained, explain
from enfold.formats import decisions, questions, review_sheet, target, whole
from enfold.formats.obsidian import vault as vaults
from enfold.formats.source import opened
from enfold.model import (
    Ambiguous,
    Answer,
    Applied,
    CheckReport,
    Conflict,
    Connection,
    Decision,
    Described,
    Entity,
    Fact,
    Found,
    Hit,
    Imported,
    Indexed,
    Kind,
    Memory,
    MemoryQuestion,
    Merge,
    NameInText,
    NameQuestion,
    Proposal,
    Recalled,
    Related,
    RelationInText,
    Remembered,
    Report,
    Reverted,
    Run,
    Scan,
    SetAside,
    Shown,
    Summary,
    Term,
    Text,
    Unknown,
)
from enfold.names import Name
from enfold.ports import Embedder, Engine, Extractor, Model, Progress, Store, Tx
from enfold.recall import Weights
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
    embedder: str | Embedder | None = "minilm",
    extractor: Extractor | None = None,
    model: Model | None = None,
) -> Graph:
    """Open the graph at a path (or ``:memory:``).

    Args:
        create: make a new graph where nothing is; False raises ``NotFound`` instead.
        read_only: open without the right to write.
        workers: processes that find pairs in large graphs (see ``engines.local``).
        actor: who decides, as recorded with folds and decisions.
        keep_backups: how many backups to keep; None or 0 keeps all.
        embedder: what places texts by meaning: ``minilm``, which comes with enfold, or one of your
            own; None for none.
        extractor: what reads names out of texts; None takes the one that comes with enfold.
        model: a language model that judges whether memories contradict each other; None asks none.

    Raises:
        Error: see ``store.open_store``.
    """
    store = open_store(os.fspath(url), create=create, read_only=read_only)
    return Graph(
        store,
        partial(_local, workers),
        actor=actor,
        keep_backups=keep_backups,
        embedder=embedder,
        extractor=extractor,
        model=model,
    )


def _shifted(refused: Callable[[int, Error], None], first: int, place: int, error: Error) -> None:
    refused(first + place, error)


def _must_seal(format: str, sealed: bool, agent: str | None = None) -> None:
    if agent is not None and format == formats.ENFOLD:
        raise Invalid(
            "sealed_instead",
            f"{format} takes what is sealed along as sealed, for every agent: say sealed, and name "
            "no agent.",
        )
    if sealed and format != formats.ENFOLD:
        raise Invalid(
            "no_seals",
            f"{format} can't say which memories are sealed, so none is written in it; export as "
            f"{formats.ENFOLD}.",
        )


def _whole(tx: Tx, sealed: bool, progress: Progress | None) -> Iterator[str]:
    rows = copying.rows(tx, sealed=sealed, progress=progress)
    return whole.lines(rows, schema=tx.rows.schema, sealed=sealed)


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
        embedder: str | Embedder | None = None,
        extractor: Extractor | None = None,
        model: Model | None = None,
    ) -> None:
        self._store = store
        self._make_engine = engine
        self._actor = actor
        self._keep_backups = keep_backups
        self._given_embedder = embedder
        self._given_extractor = extractor
        self._model = model

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

    @cached_property
    def _embedder(self) -> Embedder | None:
        if not isinstance(self._given_embedder, str):
            return self._given_embedder
        from enfold.models.embedding import embedder

        return embedder(self._given_embedder)

    @cached_property
    def _extractor(self) -> Extractor:
        if self._given_extractor is not None:
            return self._given_extractor
        from enfold.models.extraction.offline import OfflineExtractor

        return OfflineExtractor()

    # ---- in and out ----

    def import_files(
        self,
        *paths: str | os.PathLike[str],
        trust_ids: bool = False,
        progress: Progress | None = None,
    ) -> tuple[Imported, ...]:
        """Take graph files and folders in, all of them or none. What can't be taken is set aside
        and listed; taking a file in again makes nothing. A file that holds a whole graph (the
        format ``enfold``) is taken alone, into a new graph, and by its last byte or not at all.

        Args:
            trust_ids: let two entities of one name with different ids stay two.

        Raises:
            Invalid: a file is of no format that is read, or can't be read; of a whole graph also
                ``whole_graph``, ``newer_format``, ``damaged_copy``, ``unsound_copy``.
            Refused: ``not_empty``: a whole graph goes into a new one.
        """
        readings = formats.read(*paths)
        if one := formats.whole_graph(readings):
            return (self._import_whole(one, progress),)
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

    def _import_whole(self, reading: formats.Reading, progress: Progress | None) -> Imported:
        assert reading.rows is not None
        with self._store.write() as tx:
            rows = copying.paste(tx, reading.rows, into=self._store.url, progress=progress)
            live = tx.entities.count_live()
        copying.index_names(self._store, lambda: self._engine, progress or _quiet)
        return Imported(
            None,
            reading.source,
            reading.format,
            entities=live,
            memories=rows["memory"],
            mentions=rows["mention"],
            facts=rows["fact"],
            aliases=rows["entity"] - live,
        )

    def export(
        self,
        format: str = "mcp",
        *,
        sealed: bool = False,
        agent: str | None = None,
        progress: Progress | None = None,
    ) -> Iterator[str]:
        """The graph in a format (see ``formats.WRITTEN``), as pieces of text; or whole, with all
        that was ever decided, in the format ``enfold``.

        Args:
            sealed: with the memories sealed for one agent; in the format ``enfold`` alone.
            agent: with those sealed for this agent, as if they were not; in any other format.

        Raises:
            Invalid: ``unknown_format``; ``needs_file`` for a format that is no stream of text;
                ``no_seals`` for one that can't say what is sealed; ``sealed_instead``.
        """
        _must_seal(format, sealed, agent)
        if format != formats.ENFOLD:
            formats.to_stream(format)
        return self._export(format, sealed, agent, progress)

    def _export(
        self, format: str, sealed: bool, agent: str | None, progress: Progress | None
    ) -> Iterator[str]:
        with self._store.read() as tx:
            if format == formats.ENFOLD:
                yield from _whole(tx, sealed, progress)
            else:
                yield from formats.lines(
                    format, lambda: outflow.records(tx, agent=agent, progress=progress)
                )

    def export_to(
        self,
        out: str | os.PathLike[str],
        format: str = "mcp",
        *,
        force: bool = False,
        sealed: bool = False,
        agent: str | None = None,
        progress: Progress | None = None,
    ) -> target.Exported:
        """Write the graph in a format to a file, or to a folder where the format has several
        files. It is there whole or not at all.

        Args:
            force: write over what is there. sealed, agent: as for ``export``.

        Raises:
            Invalid: ``unknown_format``, ``no_directory``; ``needs_file`` for a pipe; ``no_seals``,
                ``sealed_instead``.
            Refused: ``target_exists``, ``same_file``, ``no_reader``.
        """
        _must_seal(format, sealed, agent)
        with self._store.read() as tx:
            if format == formats.ENFOLD:
                return target.export_text(
                    format,
                    lambda: _whole(tx, sealed, progress),
                    Path(out),
                    force=force,
                    graph=Path(self._store.url),
                )
            return target.export(
                format,
                lambda: outflow.records(tx, agent=agent, progress=progress),
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
        facts: Sequence[tuple[str, str, str]] = (),
        kind: str = Kind.FACT,
        source: str | None = None,
        agent: str | None = None,
        area: str | None = None,
        topic: str | None = None,
        source_tag: str | None = None,
        sealed_for: str | None = None,
        caller_id: str | None = None,
        read: bool | None = None,
    ) -> Remembered:
        """Store a text, find what it names and states, and place it by its meaning.

        A name leads to the entity it is known as, or makes one; the rules speak about a new name
        at once. One that fits several entities is linked to none and asked about. The same text
        again, or one whose ``caller_id`` is known, is counted and not stored.

        Args:
            mentions, facts: names and (subject, predicate, object) that the caller knows it to
                hold.
            kind: see ``Kind``; a document is split into passages.
            agent: who writes it. sealed_for: the one agent that may recall it.
            area, topic: filing labels, which no search reads.
            read: whether to look for more in the text itself; None does so where the caller gives
                neither mentions nor facts.

        Raises:
            Invalid: a blank or too long text, a bad kind or label.
            Conflict: ``caller_id_taken``: another text has that id.
        """
        text = Text(
            content,
            kind=kind,
            source=source,
            agent=agent,
            area=area,
            topic=topic,
            source_tag=source_tag,
            sealed_for=sealed_for,
            caller_id=caller_id,
            mentions=tuple(
                NameInText(one.spelling, one.type) if isinstance(one, Name) else NameInText(one)
                for one in mentions
            ),
            facts=tuple(RelationInText(*fact) for fact in facts),
            read=read,
        )
        return self._remember([text], None)[0]

    def remember_all(
        self,
        texts: Iterable[Text],
        *,
        refused: Callable[[int, Error], None] | None = None,
    ) -> Iterator[Remembered]:
        """Store any number of texts, some at a time: each batch is stored before it is read, and
        what was taken stays where this is interrupted. Taking the same texts again makes nothing.

        Args:
            refused: called with the place of a text that can't be stored, from 0, and why; the
                others go on. None raises that error, and nothing of its batch is stored.
        """
        first = 0
        for batch in memories.batches(texts):
            said = None if refused is None else partial(_shifted, refused, first)
            yield from self._remember(batch, said)
            first += len(batch)

    def _take_in(self, memory_id: int) -> None:
        """Read and place a memory that an answer wrote."""
        read = memories.read_stored(self._store, [memory_id], self._extractor)
        if self._embedder is not None:
            rows = memories.rows_of(read)
            indexing.place(self._store, self._embedder, memories=[memory_id], names=rows)

    def _remember(
        self, texts: Sequence[Text], refused: Callable[[int, Error], None] | None
    ) -> list[Remembered]:
        embedder = self._embedder
        if embedder is not None:
            indexing.check(self._store, embedder)
        with self._store.write() as tx:
            stored = memories.store(tx, texts, refused=refused)
        read = memories.read(self._store, stored, self._extractor)
        placed = None
        if embedder is not None:
            new, rows = memories.to_place(stored, read)
            placed = indexing.place(self._store, embedder, memories=new, names=rows)
        checked = beliefs.check(
            self._store,
            self._model,
            embedder,
            [one.memory_id for one in stored if not one.repeat],
            indexing.near,
        )
        with self._store.read() as tx:
            return memories.told(tx, stored, read, checked, note=placed.note if placed else None)

    def recall(
        self,
        query: str,
        *,
        agent: str | None = None,
        limit: int = 10,
        kinds: Sequence[str] | None = None,
        weights: Weights | None = None,
    ) -> Recalled:
        """The memories that answer a query, best first, each with why: by meaning, by exact words
        and by what the query names (see ``recall.recall``). Nothing found means unknown, never
        absent.

        Args:
            agent: who asks; None sees nothing that is sealed.
            limit: how many at most, up to 1,000.
            kinds: only memories of these kinds.
            weights: what the three arms weigh.

        Raises:
            Invalid: ``blank_query``, ``query_too_long``, ``bad_kind``.
            Refused: ``other_embedder``: the graph was placed by another one.
        """
        recollect.checked(query)
        located, why = None, "No embedder is set."
        if self._embedder is not None:
            try:
                located = indexing.locate(self._store, self._embedder, query)
                why = "Nothing has its place yet: enfold index."
            except Unavailable as error:
                why = str(error)
        with self._store.read() as tx:
            return recollect.recall(
                tx,
                query,
                located=located,
                agent=agent,
                limit=limit,
                kinds=kinds,
                weights=weights,
                unplaced=why,
            )

    def gate(
        self,
        asked: str | os.PathLike[str] | Sequence[gates.Question],
        *,
        depths: Sequence[int] = gates.DEPTHS,
        agent: str | None = None,
        weights: Weights | None = None,
        progress: Progress | None = None,
    ) -> gates.Gated:
        """Recall questions whose evidence is known, and say where it stands in what comes back.

        Args:
            asked: the questions, or a file of them (see ``formats.questions``).
            depths: the Ks of the figures ``recall@K``.
            agent: who asks where a question does not say it. weights: as for ``recall``.

        Raises:
            Invalid: ``bad_question``, ``no_questions``, ``bad_depth``, or the file can't be read.
        """
        read = questions.read(asked) if isinstance(asked, str | os.PathLike) else asked
        given = [replace(one, agent=one.agent or agent) for one in read]
        with self._store.read() as tx:
            known = gates.memories_of(tx, given)

        def recall(question: str, asker: str | None, limit: int) -> list[Memory]:
            found = self.recall(question, agent=asker, limit=limit, weights=weights)
            return [one.memory for one in found.memories]

        return gates.rate(given, recall, known, depths=depths, progress=progress)

    def index(self, *, progress: Progress | None = None) -> Indexed:
        """Do what was left for later: read the memories that were not read, and place every memory
        and every name that has no vector. Whoever is interrupted goes on from there.

        Raises:
            Refused: ``other_embedder``.
            Unavailable: the embedder can't be reached; what was placed stays.
        """
        if self._embedder is not None:
            indexing.check(self._store, self._embedder)
        read, unread = memories.read_waiting(self._store, self._extractor, progress=progress)
        if self._embedder is None:
            note = "No embedder is set, so nothing was placed by its meaning."
            return Indexed("", read=read, unread=unread, note=note)
        done = indexing.index(self._store, self._embedder, progress=progress)
        return replace(done, read=read, unread=unread)

    def reembed(self, *, progress: Progress | None = None) -> Indexed:
        """Change over to the embedder that is set: fill its space beside the one that serves, then
        take that one's place. Whoever is interrupted goes on from there.

        Raises:
            Refused: ``no_embedder``.
            Unavailable: the embedder can't be reached; what was placed stays, the old space serves.
        """
        if self._embedder is None:
            raise Refused("no_embedder", "No embedder is set; set one first.")
        return indexing.reembed(self._store, self._embedder, progress=progress)

    def history(self, memory_id: int, *, agent: str | None = None) -> list[beliefs.Version]:
        """The versions of a memory, the oldest first, each with what replaced it and why.

        Args:
            memory_id: of any of them.
            agent: who asks; what is sealed for others is left out.

        Raises:
            NotFound: ``no_memory``.
        """
        with self._store.read() as tx:
            return beliefs.history(tx, memory_id, agent=agent)

    def forget(self, *memory_ids: int) -> None:
        """Delete memories with their mentions and facts, all or none; entities stay, and a document
        goes with its passages.

        Raises:
            NotFound: ``no_memory``.
        """
        with self._store.write() as tx:
            for memory_id in memory_ids:
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

    def name_questions(self, *, decided: bool = False, limit: int = 1000) -> list[NameQuestion]:
        """The names that fit several entities, the most waited for first; or those answered, and
        those that are moot."""
        with self._store.read() as tx:
            return queue.names(tx, decided=decided, limit=limit)

    def memory_questions(
        self, *, decided: bool = False, limit: int = 1000, agent: str | None = None
    ) -> list[MemoryQuestion]:
        """The memories that contradict each other, the surest first; or those answered, and those
        that are moot.

        Args:
            agent: who asks; memories that are sealed for others are left out.
        """
        with self._store.read() as tx:
            return queue.memories(tx, decided=decided, limit=limit, agent=agent)

    def decide(
        self,
        conflict_id: int,
        answer: Answer | str,
        *,
        candidate_id: int | None = None,
        content: str | None = None,
        actor: str | None = None,
    ) -> queue.AnyDecided:
        """Answer a question: of two entities, two memories or a name.

        Args:
            candidate_id: of a name that fits several entities, the one that is meant.
            content: the text of a ``merge`` of two memories.

        Returns:
            What it was about: ``Decided`` of two entities, ``Chosen`` of a name, or the question
            about two memories.

        Raises:
            NotFound: ``no_conflict``.
            Invalid: ``bad_answer``, ``choose_candidate``, ``not_its_candidate``,
                ``merge_needs_text``.
            Refused: ``already_answered``, ``moot``, ``rename_instead``.
        """
        try:
            chosen = Answer(answer)
        except ValueError:
            known = ", ".join(a.value for a in Answer)
            raise Invalid("bad_answer", f"{answer!r} is no answer; give one of: {known}.") from None
        with self._store.write() as tx:
            done = queue.decide_any(
                tx,
                conflict_id,
                chosen,
                actor=actor or self._actor,
                candidate_id=candidate_id,
                content=content,
            )
        if isinstance(done, MemoryQuestion) and done.made_id is not None:
            self._take_in(done.made_id)
        return done

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
        """As ``cards``; but single pairs of one rule are gathered, up to nine in a list, and so are
        the last few of any.

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

    def reopen(self, conflict_id: int, *, actor: str | None = None) -> queue.AnyReopened:
        """Take an answer back: what it did is undone, and the question is pending again.

        Returns:
            The question about two entities or two memories; of a name ``Waiting``.

        Raises:
            NotFound: ``no_conflict``. Refused: ``not_answered``.
        """
        with self._store.write() as tx:
            return queue.reopen_any(tx, conflict_id, actor=actor or self._actor)

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

    def entity(self, asked: str | int, *, agent: str | None = None) -> Described:
        """An entity by name, id or folded spelling, with its aliases and folds.

        Args:
            agent: counts what is sealed for this agent, too.
        """
        with self._store.read() as tx:
            entity = self._follow(tx, asked).entity
            return Described(
                replace(entity, mentions=tx.edges.count_mentions(entity.id, agent=agent)),
                tx.entities.aliases([entity.id]).get(entity.id, ()),
                tx.edges.count_facts(entity.id, agent=agent),
                tuple(tx.merges.touching(entity.id)),
                tx.entities.attributes(entity.id),
            )

    def entities(self, *, after: int = 0, limit: int = 100) -> list[Entity]:
        """Live entities by id, after the given one."""
        with self._store.read() as tx:
            return tx.entities.live(after=after, limit=limit)

    def facts(self, asked: str | int, *, limit: int = 100, agent: str | None = None) -> list[Fact]:
        """The facts that count and start or end at an entity; those sealed for an agent are told
        to that agent alone."""
        with self._store.read() as tx:
            root = self._follow(tx, asked).entity.id
            return tx.edges.facts_of(root, limit=limit, agent=agent)

    def related(
        self,
        asked: str | int,
        *,
        type: str | None = None,
        limit: int = 50,
        depth: int = 1,
        agent: str | None = None,
    ) -> Related:
        """Who is connected to an entity: stated links first, then co-mentions, never blended; with
        a depth above 1 also who is connected to those (see ``related.related``).

        Args:
            type: only neighbours of this type. limit: how many of each hop.
            agent: counts what is sealed for this agent, too.

        Raises:
            NotFound: ``unknown``. Conflict: ``ambiguous``. Invalid: ``bad_hops``.
        """
        with self._store.read() as tx:
            found = self._follow(tx, asked)
            return neighbours.related(tx, found, type=type, limit=limit, depth=depth, agent=agent)

    def path(
        self,
        left: str | int,
        right: str | int,
        *,
        max_depth: int = neighbours.HOPS,
        agent: str | None = None,
    ) -> Connection:
        """A shortest connection between two entities, each step with a memory that shows it.
        Nothing found proves nothing.

        Args:
            max_depth: how many steps it may have.
            agent: counts what is sealed for this agent, too.

        Raises:
            NotFound: ``unknown``. Conflict: ``ambiguous``. Invalid: ``bad_hops``.
        """
        with self._store.read() as tx:
            one, other = self._follow(tx, left), self._follow(tx, right)
            return neighbours.path(tx, one, other, max_depth=max_depth, agent=agent)

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

    def summary(self, *, agent: str | None = None) -> Summary:
        """What the graph holds, and what waits.

        Args:
            agent: counts what is sealed for this agent, too.
        """
        with self._store.read() as tx:
            live = tx.entities.count_live()
            sealed, sealed_unread = tx.memories.count_sealed(agent=agent)
            return Summary(
                self._store.url,
                live,
                tx.entities.count() - live,
                tx.memories.count() - sealed,
                tx.conflicts.count_pending(),
                tx.suggestions.count_open(),
                len(tx.entities.unexamined()),
                tx.questions.count_names(),
                tx.questions.count_memories(),
                tx.memories.count_unread() - sealed_unread,
            )

    # ---- keep ----

    def vocabulary(self) -> list[Term]:
        """The types and predicates that extraction may use, those turned off included."""
        with self._store.read() as tx:
            return terms.vocabulary(tx)

    def set_term(
        self,
        kind: str,
        name: str,
        description: str | None = None,
        enabled: bool | None = None,
    ) -> Term:
        """Add a type or predicate, describe one anew, or turn one on or off.

        Args:
            kind: ``type`` or ``predicate``.
            description, enabled: None leaves them as they are.

        Raises:
            Invalid: ``bad_term``. NotFound: ``no_term``: a new one needs a description.
        """
        with self._store.write() as tx:
            return terms.put(tx, kind, name, description=description, enabled=enabled)

    def remove_term(self, kind: str, name: str) -> Term:
        """Take a type or predicate of one's own out; what was read with it stays.

        Raises:
            Invalid: ``bad_term``. NotFound: ``no_term``.
            Refused: ``built_in_term``: it can only be turned off.
        """
        with self._store.write() as tx:
            return terms.remove(tx, kind, name)

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
