"""The pass and the queue."""

from __future__ import annotations

from collections.abc import Iterable

from enfold import conflicts as queue
from enfold import deferred, indexing
from enfold import preview as previews
from enfold import resolve as passes
from enfold.errors import Invalid
from enfold.graph.base import Opened, quiet
from enfold.model import (
    Answer,
    Conflict,
    Imported,
    MemoryQuestion,
    NameQuestion,
    Proposal,
    Report,
    Scan,
    Shown,
)
from enfold.ports import Progress


class Settling(Opened):
    """The pass and the queue."""

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
        report = progress or quiet
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
        report = progress or quiet
        with self._store.read() as tx:
            seen = passes.gather(tx, full=True, rule_set=rule_set, types_trusted=types_trusted)
        found = passes.search(self._store, seen, self._engine, report)
        return previews.preview(self._store, found, imported, limit=limit, progress=report)

    def shown(self, proposals: Iterable[Proposal]) -> tuple[Shown, ...]:
        """Proposals of a report, with the names and types of their rows."""
        with self._store.read() as tx:
            return previews.shown(tx, proposals)

    def refill(self) -> list[int]:
        """Fill the queue up to its cap from what waits, as a pass does; the new questions."""
        with self._store.write() as tx:
            context = tx.context()
            return deferred.refill(tx, context)[1] if context is not None else []

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
        agent: str | None = None,
    ) -> queue.AnyDecided:
        """Answer a question: of two entities, two memories or a name.

        Args:
            candidate_id: of a name that fits several entities, the one that is meant.
            content: the text of a ``merge`` of two memories.
            agent: who asks; what is sealed for another is none that it knows.

        Returns:
            What it was about: ``Decided`` of two entities, ``Chosen`` of a name, or the question
            about two memories.

        Raises:
            NotFound: ``no_conflict``.
            Invalid: ``bad_answer``, ``choose_candidate``, ``not_its_candidate``,
                ``merge_needs_text``.
            Refused: ``already_answered``, ``moot``, ``rename_instead``; ``other_embedder``.
        """
        try:
            chosen = Answer(answer)
        except ValueError:
            known = ", ".join(a.value for a in Answer)
            raise Invalid("bad_answer", f"{answer!r} is no answer; give one of: {known}.") from None
        if content is not None and self._embedder is not None:  # its text is to be placed
            indexing.check(self._store, self._embedder)
        with self._store.write() as tx:
            done = queue.decide_any(
                tx,
                conflict_id,
                chosen,
                actor=actor or self._actor,
                candidate_id=candidate_id,
                content=content,
                agent=agent,
            )
        if isinstance(done, MemoryQuestion) and done.made_id is not None:
            self._take_in(done.made_id)
        return done

    def reopen(
        self, conflict_id: int, *, actor: str | None = None, agent: str | None = None
    ) -> queue.AnyReopened:
        """Take an answer back: what it did is undone, and the question is pending again.

        Args:
            agent: who asks; what is sealed for another is none that it knows.

        Returns:
            The question about two entities or two memories; of a name ``Waiting``.

        Raises:
            NotFound: ``no_conflict``. Refused: ``not_answered``.
        """
        with self._store.write() as tx:
            return queue.reopen_any(tx, conflict_id, actor=actor or self._actor, agent=agent)
