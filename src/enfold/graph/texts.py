"""Texts in and out: remember, recall, and what belongs to them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from enfold import beliefs, indexing, terms
from enfold import gate as gates
from enfold import recall as recollect
from enfold import remember as memories
from enfold.errors import Conflict, Error, Refused, Unavailable
from enfold.formats import questions
from enfold.graph.base import Opened
from enfold.model import (
    Indexed,
    Kind,
    Memory,
    NameInText,
    Recalled,
    RelationInText,
    Remembered,
    Term,
    Text,
)
from enfold.names import Name
from enfold.ports import Progress
from enfold.recall import Weights


class Texts(Opened):
    """Texts in and out: remember, recall, and what belongs to them."""

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
            Invalid: a blank or too long text, a bad kind or label; ``bad_mention``, ``bad_fact``.
            Conflict: ``caller_id_taken``: another text has that id. ``changed_meanwhile``: another
                call forgot it meanwhile.
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
        done = self._remember([text], None)
        if not done:
            raise Conflict(
                "changed_meanwhile",
                "The text was stored, and forgotten by another call before this one was done.",
            )
        return done[0]

    def remember_all(
        self,
        texts: Iterable[Text],
        *,
        refused: Callable[[int, Error], None] | None = None,
    ) -> Iterator[Remembered]:
        """Store any number of texts, some at a time: each batch is stored before it is read, and
        what was taken stays where this is interrupted. Taking the same texts again makes nothing,
        and reads and places those of them that were not.

        Args:
            refused: called with the place of a text that can't be stored, from 0, and why; the
                others go on. None raises that error, and nothing of its batch is stored.
        """
        first = 0
        for batch in memories.batches(texts):
            said = None if refused is None else partial(_shifted, refused, first)
            yield from self._remember(batch, said)
            first += len(batch)

    def _remember(
        self, texts: Sequence[Text], refused: Callable[[int, Error], None] | None
    ) -> list[Remembered]:
        embedder = self._embedder
        if embedder is not None:
            indexing.check(self._store, embedder)
        with self._store.write() as tx:
            stored = memories.store(tx, texts, refused=refused)
        read = memories.read(self._store, stored, self._extractor)
        left = None
        if embedder is not None:
            parts, rows = memories.to_place(stored, read)
            left = indexing.place_some(self._store, embedder, memories=parts, names=rows).left
        checked = beliefs.check(
            self._store, self._model, embedder, memories.to_check(stored), indexing.near
        )
        with self._store.read() as tx:
            unplaced = None if left is None else left.note
            return memories.told(tx, stored, read, checked, unplaced=unplaced)

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
        located, why = None, "No embedder is set." if self._embedder is None else None
        if self._embedder is not None:
            try:
                located = indexing.locate(self._store, self._embedder, query)
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

    def forget(self, *memory_ids: int, agent: str | None = None) -> None:
        """Delete memories with their mentions and facts, all or none; entities stay, and a document
        goes with its passages.

        Args:
            agent: who asks; what is sealed for another is none that it knows.

        Raises:
            NotFound: ``no_memory``.
            Refused: ``under_answer``, ``part_of_document``: see ``remember.forget``.
        """
        with self._store.write() as tx:
            memories.forget(tx, memory_ids, agent=agent)

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


def _shifted(refused: Callable[[int, Error], None], first: int, place: int, error: Error) -> None:
    refused(first + place, error)
