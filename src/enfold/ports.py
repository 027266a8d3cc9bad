"""What the domain needs from the outside: a store and an engine, as protocols.

A store is one graph. It is used through transactions; a transaction groups its statements by noun,
and has one ``now``. Everything here is synchronous.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Protocol

from enfold.asked import Asked, Columns
from enfold.model import (
    Answer,
    AskedPair,
    Conflict,
    Context,
    DecidedBy,
    Decision,
    Entity,
    Extracted,
    Fact,
    Memory,
    MemoryQuestion,
    Mention,
    Merge,
    NameInText,
    NameQuestion,
    OpenPair,
    Proposal,
    Run,
    SetAside,
    Term,
)

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

Progress = Callable[[str, int, int], None]
"""Called with (what, done, total); total is 0 where it is not known."""

EVERY: Final = 2**62
"""A limit above whatever a graph can hold."""

Spelled = tuple[str, str | None]
"""(spelling, type): a name as an engine is given it."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a spelling, bare: what many rows at once are read as."""

    id: int
    spelling: str
    key: str
    sense: int
    type: str | None
    alias_only: bool
    canonical_id: int
    foreign_id: str | None


class NewEntity(Protocol):
    """What is needed to mint a row; ``names.Name`` with a type satisfies it."""

    @property
    def spelling(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def merge_key(self) -> str: ...
    @property
    def fold_key(self) -> str: ...


@dataclass(frozen=True, slots=True)
class NewRow:
    """A row to mint."""

    name: NewEntity
    type: str | None = None
    sense: int = 0
    alias_only: bool = False
    source_tag: str | None = None
    foreign_id: str | None = None
    attributes: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory to store.

    Attributes:
        created_at: None for now.
        once: the same text, sealed for the same agent, is not to be stored a second time while this
            one holds: see ``Memories.same``.
        searched: whether recall looks at it; a document is found by its passages.
    """

    content: str
    source: str | None = None
    source_tag: str | None = None
    caller_id: str | None = None
    kind: str = "fact"
    title: str | None = None
    area: str | None = None
    topic: str | None = None
    agent: str | None = None
    sealed_for: str | None = None
    document_id: int | None = None
    follows_id: int | None = None
    created_at: str | None = None
    once: bool = False
    searched: bool = True


@dataclass(frozen=True, slots=True)
class NewUnlinked:
    """A name of a text that is linked to no entity."""

    memory_id: int
    key: str
    spelling: str
    type: str | None


@dataclass(frozen=True, slots=True)
class NewUnlinkedFact:
    """A relation of a text with an end that is linked to no entity."""

    memory_id: int
    subject_key: str
    subject: str
    predicate: str
    object_key: str
    object: str
    confidence: float = 1.0
    source_tag: str | None = None


@dataclass(frozen=True, slots=True)
class UnlinkedName:
    """A name of a text that leads to no entity by itself, as it is kept.

    Attributes:
        row_id: the row it is linked to; None while it waits. edge_id: the mention written for that.
        sealed: whether its memory is; such are not counted.
    """

    id: int
    memory_id: int
    key: str
    spelling: str
    type: str | None
    row_id: int | None
    edge_id: int | None
    sealed: bool


@dataclass(frozen=True, slots=True)
class UnlinkedFact:
    """A relation with such an end, as it is kept; see ``UnlinkedName``."""

    id: int
    said: NewUnlinkedFact
    subject_id: int | None
    object_id: int | None
    edge_id: int | None
    sealed: bool


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact to write."""

    memory_id: int
    subject_id: int
    predicate: str
    object_id: int | None = None
    literal: str | None = None
    confidence: float = 1.0
    source_tag: str | None = None
    attributes: Mapping[str, object] | None = None


class Entities(Protocol):
    """Rows of spellings, live and absorbed."""

    def get(self, entity_id: int) -> Entity | None: ...
    def many(self, ids: Sequence[int]) -> dict[int, Entity]: ...
    def by_key(self, key: str) -> list[Entity]:
        """Every row of that identity key, lowest sense first."""
        ...

    def by_merge_key(self, merge_key: str) -> list[Entity]: ...
    def starting(self, letters: str, *, limit: int) -> list[int]:
        """Ids of rows whose merge key begins with these letters, in its order."""
        ...

    def add(
        self,
        name: NewEntity,
        *,
        type: str | None,
        sense: int = 0,
        alias_only: bool = False,
        source_tag: str | None = None,
        foreign_id: str | None = None,
        attributes: Mapping[str, object] | None = None,
    ) -> int | None:
        """Mint a live row; None where (key, sense) exists already."""
        ...

    def add_many(self, rows: Sequence[NewRow]) -> list[int | None]:
        """Mint live rows; None in the place of each whose (key, sense) exists already."""
        ...

    def rows(self, keys: Sequence[str]) -> dict[str, list[Row]]:
        """Every row of each identity key that has one, lowest sense first."""
        ...

    def spelled_by_merge_key(self, keys: Sequence[str]) -> list[tuple[int, str]]:
        """(id, spelling) of every row of these merge keys."""
        ...

    def rows_by_id(self, ids: Sequence[int]) -> list[Row]: ...
    def rows_by_foreign_id(self, foreign_ids: Sequence[str]) -> dict[str, list[Row]]: ...
    def live(self, *, after: int = 0, limit: int = 100) -> list[Entity]:
        """Live rows by ascending id, after the given one."""
        ...

    def cluster(self, canonical_id: int) -> list[Entity]:
        """Every row whose canonical is that entity, the root first, then by id."""
        ...

    def aliases(self, roots: Sequence[int]) -> dict[int, tuple[str, ...]]:
        """The other spellings of each of these roots, by row id, the name shown aside."""
        ...

    def spellings(self) -> Iterator[tuple[int, str, str | None]]:
        """(id, spelling, type) of every row, by id; streamed."""
        ...

    def types(self) -> Iterator[tuple[int, str | None]]:
        """(id, type) of every row, by id; streamed."""
        ...

    def stored_keys(self) -> Iterator[tuple[int, str, str, str, str]]:
        """(id, spelling, key, merge key, fold key) of every row, by id; streamed."""
        ...

    def roots(self, ids: Sequence[int]) -> dict[int, int]:
        """The root of each of these rows, as far as they exist."""
        ...

    def absorbed(self) -> dict[int, int]:
        """Every absorbed row and its root."""
        ...

    def mention_counts(self, roots: Sequence[int]) -> dict[int, int]:
        """How many active memories mention each of these roots."""
        ...

    def show(self, root_id: int, shown_id: int, *, actor: str | None) -> None:
        """From now on the entity is called as that row of its cluster is spelled."""
        ...

    def renamings(self) -> list[tuple[int, int, str | None, str]]:
        """(root, row shown, actor, when) of every rename, in order; those that left included."""
        ...

    def unexamined(self) -> list[int]:
        """Rows to look at: new ones, and those to be looked at again."""
        ...

    def mark_examined(self, ids: Sequence[int]) -> None:
        """The rules have spoken about these rows, and about none between them that is new."""
        ...

    def mark_all_examined(self, through: int, besides: Sequence[int] = ()) -> None:
        """The rules have spoken about every row up to that id, but for some."""
        ...

    def last(self) -> int:
        """The highest row id, 0 before the first: at least as many as there are rows, uncounted."""
        ...

    def count(self) -> int: ...
    def count_live(self) -> int: ...
    def set_type(self, entity_id: int, type: str | None) -> None: ...
    def attributes(self, entity_id: int) -> dict[str, object]: ...
    def attributes_many(self, ids: Sequence[int]) -> dict[int, dict[str, object]]:
        """The attributes of those of the rows that have some."""
        ...

    def attributes_of(self, roots: Sequence[int]) -> dict[int, list[dict[str, object]]]:
        """The attributes of all rows of each of these entities that has some, the root's first."""
        ...

    def identified(self, roots: Sequence[int]) -> dict[int, list[Row]]:
        """The rows of each of these entities that have a source's own id, or whose name another
        entity has too; by id."""
        ...

    def shown_names(self, roots: Sequence[int]) -> dict[int, str]: ...
    def set_foreign_id(self, entity_id: int, foreign_id: str | None) -> None: ...
    def set_attributes(self, entity_id: int, attributes: Mapping[str, object]) -> None: ...
    def forget_examined(self, ids: Sequence[int]) -> None:
        """Mark every row of these rows' merge keys for the next pass to look at again."""
        ...

    def delete(self, ids: Sequence[int]) -> None:
        """The rows go, with their edges and merges; the memories stay."""
        ...


class Memories(Protocol):
    """Texts with their sources, whether they count, and the words they are found by."""

    def get(self, memory_id: int) -> Memory | None: ...
    def many(self, ids: Sequence[int]) -> dict[int, Memory]: ...
    def by_caller(self, caller_id: str, *, sealed_for: str | None = None) -> Memory | None:
        """The memory of a caller's id; an id is one for each agent that memories are sealed for."""
        ...

    def same(self, content: str, *, sealed_for: str | None) -> Memory | None:
        """The active memory of just this text that is to be stored once."""
        ...

    def known_callers(self, caller_ids: Sequence[str]) -> set[str]:
        """Those of the caller ids that a memory has."""
        ...

    def last(self) -> int:
        """The highest memory id, 0 before the first."""
        ...

    def count(self) -> int: ...
    def page(self, *, after: int, limit: int) -> list[tuple[Memory, list[Mention]]]:
        """Memories above an id, in order, with their mentions as asserted."""
        ...

    def all(self) -> Iterator[tuple[Memory, list[Mention], list[Fact]]]:
        """Every memory with its mentions and facts as asserted; streamed in id order."""
        ...

    def passages_of(self, document_ids: Sequence[int]) -> dict[int, list[int]]:
        """The passages of each document that has some, in its order."""
        ...

    def versions(self, memory_id: int) -> list[Memory]:
        """Every version of a memory, itself among them, by id."""
        ...

    def add(
        self,
        content: str,
        *,
        kind: str = "fact",
        source: str | None = None,
        source_tag: str | None = None,
        caller_id: str | None = None,
    ) -> int: ...
    def add_many(self, memories: Sequence[NewMemory]) -> list[int]: ...
    def repeat(self, memory_id: int) -> None:
        """Count that its text came again."""
        ...

    def delete(self, memory_id: int) -> None:
        """It goes with its passages, mentions and facts; entities stay."""
        ...

    def set_status(self, memory_id: int, status: str) -> None: ...
    def release_caller(self, memory_id: int) -> None:
        """Its caller's id is free for another."""
        ...

    def give_caller(self, memory_id: int, caller_id: str) -> None:
        """A caller's id that is free is its own."""
        ...

    def follow(self, memory_id: int, before: int | None) -> None:
        """Say which version came before it."""
        ...

    def mark_unread(self, ids: Sequence[int]) -> None:
        """Their names have not been looked for yet."""
        ...

    def mark_read(self, ids: Sequence[int]) -> None: ...
    def mark_failed(self, ids: Sequence[int], error: str) -> None:
        """They could not be read; they stay unread."""
        ...

    def unread(self, *, after: int = 0, limit: int = 100) -> list[int]: ...
    def count_sealed(self, *, agent: str | None) -> tuple[int, int]:
        """(memories, unread ones) that are sealed for others than this agent."""
        ...

    def count_unread(self) -> int: ...


class Unlinked(Protocol):
    """Names and relations in texts that lead to no entity by themselves: a name fits several, or
    stands in sealed memories alone. They wait, or are linked; either way they stay here."""

    def add(self, names: Iterable[NewUnlinked]) -> int: ...
    def add_facts(self, facts: Iterable[NewUnlinkedFact]) -> int: ...
    def unsettled(self) -> list[str]:
        """Keys of names whose rows came, went or lead elsewhere now; asked once."""
        ...

    def misplaced(self, key: str, row_id: int | None) -> list[UnlinkedName]:
        """Names of that key that wait or are linked to another row than this; with None, those that
        are linked at all."""
        ...

    def misplaced_facts(self, key: str, row_id: int | None) -> list[UnlinkedFact]:
        """Relations with that key at an end, likewise."""
        ...

    def of(self, memory_id: int) -> list[UnlinkedName]: ...
    def facts_of(self, memory_id: int) -> list[UnlinkedFact]: ...
    def place(self, name: UnlinkedName, row_id: int | None) -> None:
        """Link a name to a row, or let it wait; a mention it was linked by goes."""
        ...

    def place_fact(self, fact: UnlinkedFact, ends: tuple[int, int] | None) -> None:
        """Link a relation between two rows, or let it wait; a fact it was linked by goes."""
        ...

    def count(self, key: str) -> int:
        """Memories in which a name of that key waits, those that are sealed left out."""
        ...

    def types(self, key: str) -> list[str]:
        """The types that texts give a name of that key."""
        ...

    def first(self, key: str) -> str | None:
        """As the first memory writes it that waits and is not sealed."""
        ...


class Questions(Protocol):
    """The queue's questions about names that fit several entities, and about memories that
    contradict each other. Ids are of one counter with those of ``Conflicts``."""

    def kind(self, conflict_id: int) -> str | None:
        """``entity``, ``name`` or ``memory``; None where there is no such question."""
        ...

    def ask_name(self, key: str, name: str, *, asked_by: str, reason: str) -> int | None:
        """Ask which entity a name means; None where that is asked, or was answered."""
        ...

    def chosen(self, key: str) -> int | None:
        """The row that the answer in force chose for a name."""
        ...

    def asked(self, key: str) -> bool:
        """Whether a name is asked about, or was answered."""
        ...

    def name(self, conflict_id: int) -> NameQuestion | None: ...
    def names(self, *, decided: bool = False, limit: int = 1000) -> list[NameQuestion]:
        """Those that some memory waits for and that are not moot, the most waited for first; or
        those answered, newest first."""
        ...

    def moot_names(self, *, limit: int = 1000) -> list[NameQuestion]:
        """Open ones whose name leads to one entity now, or to none; newest first."""
        ...

    def count_names(self) -> int:
        """How many ``names`` there are."""
        ...

    def ask_memory(
        self, queued_id: int, candidate_id: int, *, asked_by: str, score: float, reason: str
    ) -> int | None:
        """Ask which of two memories holds; None where that is asked already."""
        ...

    def memory(self, conflict_id: int) -> MemoryQuestion | None: ...
    def about(self, memory_ids: Sequence[int]) -> list[MemoryQuestion]:
        """Every question about one of these memories, answered or not, by id."""
        ...

    def that_made(self, memory_id: int) -> list[MemoryQuestion]:
        """Those whose answer wrote the memory."""
        ...

    def memories(
        self, *, decided: bool = False, limit: int = 1000, agent: str | None = None
    ) -> list[MemoryQuestion]:
        """Open and not moot, the surest first; or those answered, newest first; those about a
        memory that is sealed for another than the agent left out."""
        ...

    def moot_memories(self, *, limit: int = 1000, agent: str | None = None) -> list[MemoryQuestion]:
        """Open ones of which one memory does not hold any more; newest first."""
        ...

    def count_memories(self) -> int:
        """How many ``memories`` there are for no agent in particular."""
        ...

    def answer(
        self,
        conflict_id: int,
        answer: Answer,
        *,
        answered_by: str | None,
        chosen_id: int | None = None,
        made_id: int | None = None,
    ) -> None: ...
    def reopen(self, conflict_id: int) -> None:
        """Take the answer away."""
        ...


class Terms(Protocol):
    """The types and predicates that extraction may use."""

    def all(self, kind: str | None = None) -> list[Term]:
        """By kind, then name; those turned off included."""
        ...

    def put(self, term: Term) -> None:
        """Add a term, or describe one anew."""
        ...

    def remove(self, kind: str, name: str) -> None: ...


class Edges(Protocol):
    """Mentions and facts. Edge ids come from one counter and grow in writing order.

    What is sealed counts for nobody, but where an ``agent`` asks: for that agent alone.
    """

    def passages(
        self, entity_id: int, *, memories: int, around: int
    ) -> list[tuple[int, str | None, str, str]]:
        """(memory, source, spelling, text) of some active memories that mention the entity, each
        cut to so many characters before and behind the spelling where it stands in the text."""
        ...

    def owned(self, roots: Sequence[int], *, agent: str | None = None) -> list[tuple[int, Memory]]:
        """(entity, active memory) of every memory whose first mention ends at one of these
        entities, by memory id."""
        ...

    def stated(
        self, roots: Sequence[int], *, agent: str | None = None
    ) -> list[tuple[Fact, Memory, str | None, str | None, dict[str, object]]]:
        """Counted facts whose subject is one of these entities now, by id, each with its memory,
        the spellings under which that memory mentions the two ends, and its attributes."""
        ...

    def fact_attributes(
        self, caller_ids: Sequence[str]
    ) -> dict[str, tuple[int, dict[str, object]]]:
        """(fact, its attributes) of each caller id whose memory states a fact, the first of it."""
        ...

    def set_fact_attributes(self, fact_id: int, attributes: Mapping[str, object]) -> None: ...

    def mention(self, memory_id: int, asserted_id: int, spelling: str) -> int | None:
        """Write the edge; None where the memory has it already."""
        ...

    def fact(
        self,
        memory_id: int,
        subject_id: int,
        predicate: str,
        object_id: int | None = None,
        literal: str | None = None,
        confidence: float = 1.0,
        source_tag: str | None = None,
    ) -> int | None: ...
    def add_mentions(self, mentions: Iterable[tuple[int, int, str]]) -> int:
        """Write (memory, asserted row, spelling) edges; how many were new."""
        ...

    def add_facts(self, facts: Iterable[NewFact]) -> int:
        """Write facts; how many were new."""
        ...

    def mark(self) -> int:
        """The highest edge id written so far."""
        ...

    def mentions_of(self, entity_id: int, *, limit: int = 100) -> list[Mention]:
        """Counted mentions that end at the entity now."""
        ...

    def facts_of(self, entity_id: int, *, limit: int = 100, agent: str | None = None) -> list[Fact]:
        """Counted facts that start or end at the entity now; ends are canonical ids."""
        ...

    def count_mentions(self, entity_id: int, *, agent: str | None = None) -> int: ...
    def count_facts(self, entity_id: int, *, agent: str | None = None) -> int: ...
    def links(
        self, entity_id: int, *, facts: int, agent: str | None = None
    ) -> tuple[list[tuple[int, str, str, float, int]], bool]:
        """(neighbour, predicate, "out" | "in", highest confidence, memories that state it), and
        whether there were more facts than that many."""
        ...

    def shared_sources(
        self,
        entity_id: int,
        *,
        memories: int,
        mentions: int | None = None,
        agent: str | None = None,
    ) -> tuple[dict[int, int], bool]:
        """Entities mentioned beside it, with the number of shared memories among the latest of its
        own; and whether it has more than that many.

        Args:
            mentions: read so many mentions at most, of some of its memories: what is bounded
                whatever stands in them, and costs the same of a hub.
        """
        ...

    def links_between(
        self, left: int, right: int, *, agent: str | None = None
    ) -> list[tuple[str, str, float, int, int]]:
        """(predicate, "out" | "in" of the left one, highest confidence, memories that state it, the
        latest of them) of the facts between two entities."""
        ...

    def shared_between(
        self, left: int, right: int, *, agent: str | None = None
    ) -> tuple[int, int | None]:
        """How many memories mention both entities, and the latest of them."""
        ...

    def asserted_to(self, ids: Sequence[int]) -> tuple[list[int], list[int]]:
        """(mention ids, fact ids) of the edges that name one of these rows, but for sealed ones."""
        ...


class Merges(Protocol):
    """Folds and their receipts."""

    def get(self, merge_id: int) -> Merge | None: ...
    def live_of(self, absorbed_id: int) -> Merge | None: ...
    def touching(self, entity_id: int) -> list[Merge]:
        """Live merges with the entity on either side."""
        ...

    def under(self, ids: Sequence[int]) -> list[Merge]:
        """Live merges with one of these rows on either side."""
        ...

    def many(self, ids: Sequence[int]) -> list[Merge]: ...

    def recent(
        self, *, live_only: bool = True, before: int | None = None, limit: int = 100
    ) -> list[Merge]:
        """Newest first."""
        ...

    def fold(self, folds: Sequence[Merge]) -> list[int]:
        """Apply folds in order, set-based, and write their receipts; the new merge ids.

        ``id``, ``edge_mark``, ``moved`` and ``silenced`` of the given records are ignored and
        filled in, and ``created_at`` where it is empty. Both sides must be live roots at their
        turn.
        """
        ...

    def unfold(self, merge_id: int) -> None:
        """Clear the pointer, give the subtree its root back and mark the merge reverted."""
        ...

    def subtree(self, absorbed_id: int) -> list[int]:
        """The row and every row folded into it, however deep."""
        ...

    def asked_through(self, ids: Sequence[int], *, after: int) -> list[Merge]:
        """Live merges later than that one, asked for through one of these rows."""
        ...

    def left_by_revert(self, merge_id: int) -> tuple[int, int]:
        """(edges that were there at the fold, edges that arrived since) of those that would leave
        with the absorbed entity."""
        ...

    def woken_by_revert(self, merge_id: int) -> list[int]:
        """Ids of the edges that would count again."""
        ...

    def edges(self, merge_id: int) -> list[tuple[int, str]]:
        """(edge id, 'moved' | 'silenced') of the receipt."""
        ...


class Decisions(Protocol):
    """Names settled apart."""

    def add(
        self,
        left: Entity,
        right: Entity,
        *,
        decided_by: DecidedBy,
        actor: str | None,
        why: str,
        at: str | None = None,
    ) -> int: ...
    def get(self, decision_id: int) -> Decision | None: ...
    def undo(self, decision_id: int, *, actor: str | None = None) -> None:
        """Raises: NotFound: ``no_decision``: none of that id is in force."""
        ...

    def between(self, left_root: int, right_root: int) -> list[Decision]:
        """Live decisions that keep these two roots apart now."""
        ...

    def of_rows(self, left: Entity, right: Entity) -> Decision | None:
        """The decision in force between just these two rows."""
        ...

    def apart_roots(self, *, around: Sequence[int] | None = None) -> list[tuple[int, int]]:
        """(lower, higher) of every pair of roots that is settled apart now, or of those with one
        of these roots."""
        ...

    def off_merge_keys(self) -> set[str]:
        """Merge keys for which a live decision between two rows turned automatic folding off."""
        ...

    def recent(self, *, live_only: bool = True, limit: int = 1000) -> list[Decision]: ...


class Conflicts(Protocol):
    """The queue."""

    def ask(self, proposals: Sequence[Proposal], *, asked_by: str) -> list[int]:
        """Write questions: ``left_id`` queued against ``right_id`` the candidate; a pair of rows
        that is pending already is left out."""
        ...

    def get(self, conflict_id: int) -> Conflict | None: ...
    def pending(self, *, limit: int = 1000) -> list[Conflict]:
        """Unanswered and not moot, one for each pair of entities, ranked by the weaker side's
        mentions, then score, then id."""
        ...

    def moot(self, *, limit: int = 1000) -> list[Conflict]: ...
    def decided(self, *, limit: int = 1000) -> list[Conflict]: ...
    def answer(
        self,
        conflict_id: int,
        answer: Answer,
        *,
        answered_by: str | None,
        merge_id: int | None = None,
        decision_id: int | None = None,
    ) -> None: ...
    def reopen(self, conflict_id: int) -> None:
        """Take the answer away. A newer question about the same two rows is withdrawn."""
        ...

    def withdraw(self, conflict_ids: Sequence[int]) -> list[int]:
        """Take back those of the questions that have no answer, as if never asked; their ids."""
        ...

    def by_decision(self, decision_id: int) -> list[Conflict]: ...
    def pending_pairs(self) -> set[tuple[int, int]]:
        """(lower, higher) root of every pending entity question."""
        ...

    def count_pending(self) -> int:
        """Pairs of entities with a pending question."""
        ...


class Suggestions(Protocol):
    """Pairs that a rule asks about, kept whole; what is left to ask is derived.

    The first question about open pairs after a change works out those around what has changed; one
    in a transaction that may write keeps the answer."""

    def replace_all(self, asked: Columns) -> int:
        """Drop every suggestion and add these; how many open pairs of entities they come to."""
        ...

    def replace_for(self, ids: Sequence[int], asked: Iterable[AskedPair]) -> None:
        """Drop every suggestion that touches these rows, then add."""
        ...

    def count(self) -> int: ...
    def count_open(self, *, rule: str | None = None, type: str | None = None) -> int:
        """Pairs of roots some suggestion asks about that are not one, queued or settled apart; or
        those of a rule, or with a side of a type."""
        ...

    def best_open(self, limit: int) -> list[Proposal]:
        """The open pairs, ranked by the weaker side's mention count, then score, then ids; one row
        pair for each pair of roots, the side with fewer mentions first (ties: the later id)."""
        ...

    def ranked_open(
        self, *, rule: str | None = None, type: str | None = None
    ) -> Generator[OpenPair, None, None]:
        """The open pairs in that order, streamed; or those of a rule, or with a side of a type."""
        ...

    def open_around(
        self, root: int, *, limit: int, rule: str | None = None, type: str | None = None
    ) -> list[OpenPair]:
        """The open pairs of one root, in that order, up to a limit."""
        ...

    def count_open_around(self, root: int) -> int: ...
    def open_between(self, roots: Sequence[int]) -> list[OpenPair]:
        """The open pairs with both sides among these roots."""
        ...


class NameIndex(Protocol):
    """Hashed keys of every name, to find a new name's candidates without reading the rest."""

    def add(self, keys: Iterable[tuple[int, int]]) -> None:
        """(key, entity id)"""
        ...

    def replace(self, parts: Iterable[tuple[array[int], array[int]]]) -> None:
        """Store these keys, ascending, each with its row's id, and nothing else."""
        ...

    def probe(self, keys: Sequence[int], *, limit: int | None = None) -> set[int]:
        """Ids of rows stored under any of the keys; with a limit about so many of them."""
        ...

    def unindexed(self) -> list[int]: ...
    def count_unindexed(self) -> int:
        """At least as many as ``unindexed`` gives, uncounted."""
        ...

    def mark_indexed(self, through: int) -> None:
        """The keys of every row up to that id are stored."""
        ...


class Words(Protocol):
    """The words of every name (``pairs.search_words``), for a person's search. They are there as
    soon as a row is made. Words are given with their ids."""

    def known(self, words: Sequence[str]) -> dict[str, int]:
        """Those of the words that some name has."""
        ...

    def starting(self, letters: str, *, limit: int) -> dict[str, int]:
        """Words that begin with these letters, in their order."""
        ...

    def holding(self, letters: str, *, limit: int) -> dict[str, int]:
        """Words with these three or more letters anywhere."""
        ...

    def resembling(self, letters: str, *, limit: int) -> dict[str, int]:
        """Words that share runs of three letters with this one, most first. Of the words with a
        very common run not all are looked at."""
        ...

    def rows(
        self, word_id: int, *, shortest: int = 0, longest: int = 255, type: str | None, limit: int
    ) -> list[int]:
        """Rows whose names have the word and so many letters, shortest names first; with a type,
        those of them whose entity is of it, among the first few thousand."""
        ...

    def rows_of_all(self, word_ids: Sequence[int], *, type: str | None, limit: int) -> list[int]:
        """Rows whose names have all of the words, shortest names first, among the first few
        thousand of the rarest."""
        ...

    def outdated(self) -> bool:
        """Whether another version made the words that are stored."""
        ...

    def rewrite(self) -> None:
        """Make all words anew from the rows there are."""
        ...

    def misfiled(self) -> list[int]:
        """Rows that are not stored under just the words of their names, and gone ones that are."""
        ...

    def stray(self) -> list[int]:
        """Ids of words that no row is stored under, or that their own letters don't find."""
        ...


@dataclass(frozen=True, slots=True)
class Space:
    """The space of one embedding model."""

    id: int
    model: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class Reader:
    """Who recalls, and what: memories that hold and that are sealed for nobody else.

    Attributes:
        kinds: only memories of these kinds; None for all.
        sealed: only those that are sealed for the agent.
    """

    agent: str | None = None
    kinds: tuple[str, ...] | None = None
    sealed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Located:
    """Where a query lies, in the space of which model.

    Attributes:
        anchor_floor: see ``Embedder``.
    """

    model: str
    vector: NDArray[float32]
    anchor_floor: float


Placed = Literal["memory", "name"]
"""What has a place in a space: memories, but for documents that are found by their passages; and
the row of every spelling, live or absorbed."""


class Vectors(Protocol):
    """Where memories and names lie in the space of an embedding model."""

    def serving(self) -> Space | None:
        """The space that is searched; None before the first."""
        ...

    def space(self, model: str, dimensions: int | None = None) -> Space | None:
        """The space that is searched.

        Raises:
            Refused: ``other_embedder``: it is another model's, or has other dimensions than those.
        """
        ...

    def spaces(self) -> list[Space]: ...
    def open_space(self, model: str, dimensions: int) -> Space:
        """The space of a model with so many dimensions, made where there is none; the first one of
        a graph serves."""
        ...

    def serve(self, space: Space) -> None:
        """From now on that space is searched."""
        ...

    def drop(self, space: Space, *, limit: int) -> int:
        """Take so many vectors out of a space, and the space with the last; how many there were."""
        ...

    def waiting(
        self,
        space: Space,
        what: Placed,
        *,
        ids: Sequence[int] | None = None,
        but: Collection[int] = (),
        limit: int,
    ) -> list[tuple[int, str]]:
        """(id, text) of what has no vector yet, by id, but of none of those; or of these ids."""
        ...

    def count_waiting(
        self, space: Space | None, what: Placed, *, most: int, reader: Reader | None = None
    ) -> int:
        """How many have no vector among the first so many of those that may have none; of
        memories, those that the reader may recall."""
        ...

    def add(self, space: Space, what: Placed, ids: Sequence[int], vectors: NDArray[float32]) -> int:
        """Store vectors of length 1; those that have one keep it, what is gone meanwhile is left
        out. How many were new."""
        ...

    def of(self, space: Space, what: Placed, ids: Sequence[int]) -> dict[int, NDArray[float32]]:
        """The vectors of those of the ids that have one."""
        ...

    def rows(self) -> Iterator[tuple[str, tuple[object, ...]]]:
        """Every row of what is placed, with its table, as ``paste`` takes them."""
        ...

    def paste(self, rows: Iterable[tuple[str, tuple[object, ...]]]) -> int:
        """Add the rows of a graph of the same memories and names; how many."""
        ...

    def near_memories(
        self, space: Space, vector: NDArray[float32], reader: Reader, *, limit: int
    ) -> list[tuple[int, float]]:
        """(memory, cosine) of the nearest that the reader may recall, nearest first."""
        ...

    def near_names(
        self, space: Space, vector: NDArray[float32], *, limit: int
    ) -> list[tuple[int, float]]:
        """(row, cosine) of the nearest names, nearest first."""
        ...


class MemoryWords(Protocol):
    """The words of what memories say. A phrase is words in their order with blanks between."""

    def count(self, reader: Reader, *, most: int) -> int:
        """How many of the memories that are searched the reader may recall, up to so many."""
        ...

    def since(self, reader: Reader, latest: int) -> int:
        """The first of so many latest memories that the reader may recall; 0 where none is."""
        ...

    def holding(self, phrase: str, reader: Reader, *, most: int, since: int = 0) -> int:
        """How many memories that the reader may recall, from that one on, have the phrase, counted
        up to so many."""
        ...

    def search(
        self,
        phrases: Sequence[str],
        reader: Reader,
        *,
        limit: int,
        latest: int,
        every: bool = False,
    ) -> list[tuple[int, float]]:
        """(memory, score) of what the reader may recall of the latest so many memories with one of
        the phrases, or with every one; by BM25, best first. A phrase given twice counts twice."""
        ...

    def mentioning(self, root: int, reader: Reader, *, limit: int) -> list[int]:
        """The latest memories that mention an entity and that the reader may recall."""
        ...


class Runs(Protocol):
    """What ran."""

    def start(self, kind: str) -> int: ...
    def finish(
        self,
        run_id: int,
        report: Mapping[str, object],
        *,
        backup: str | None = None,
        error: str | None = None,
    ) -> None: ...
    def get(self, run_id: int) -> Run | None: ...
    def recent(self, *, limit: int = 50) -> list[Run]: ...
    def last(self, kind: str, *, actor: str | None) -> Run | None:
        """The latest run of that kind by that actor whose report has no ``undone_at``."""
        ...

    def set_aside(self, run_id: int, pieces: Iterable[SetAside]) -> None: ...
    def pieces(self, run_id: int) -> list[SetAside]: ...


class Rows(Protocol):
    """The graph as the rows of its tables (see ``copying``)."""

    @property
    def schema(self) -> int:
        """The version of the tables."""
        ...

    def read(self, table: str, *, sealed: bool) -> Iterator[tuple[int | float | str | None, ...]]:
        """Every row of a table of ``copying.TABLES``, in its order; streamed.

        Args:
            sealed: False leaves out what would go if every sealed memory were deleted.
        """
        ...

    def are_none(self) -> bool:
        """Whether the graph is a new one: nothing was ever told to it."""
        ...

    def begin(self) -> None:
        """Make ready for rows; till the end of the transaction they may refer to later ones."""
        ...

    def write(self, table: str, rows: Iterable[tuple[int | float | str | None, ...]]) -> int:
        """Add rows as they are; how many.

        Raises:
            Invalid: ``unsound_copy``.
        """
        ...

    def flaws(self) -> list[str]:
        """What is wrong with the rows, where ``check`` could not go through them."""
        ...

    def remake(self) -> None:
        """Make everything that follows from the rows, but for the name index and vectors."""
        ...


class Invariants(Protocol):
    """What must hold of the stored rows, for ``check`` to put into words."""

    def names(self) -> list[str]: ...
    def breaches(self, name: str) -> tuple[int, list[int]]:
        """How many rows break it, and the ids of the first."""
        ...

    def foreign_keys(self) -> list[str]: ...
    def file(self) -> list[str]:
        """What is wrong with the database's pages and indexes."""
        ...


class Tx(Protocol):
    """One transaction. ``run_id`` is the run it belongs to, if guard started one."""

    now: str
    run_id: int | None
    memories: Memories
    unlinked: Unlinked
    questions: Questions
    terms: Terms
    entities: Entities
    edges: Edges
    merges: Merges
    decisions: Decisions
    conflicts: Conflicts
    suggestions: Suggestions
    names: NameIndex
    words: Words
    vectors: Vectors
    memory_words: MemoryWords
    runs: Runs
    rows: Rows
    invariants: Invariants

    def context(self) -> Context | None:
        """The context the last full pass froze, or None before the first."""
        ...

    def set_context(self, context: Context) -> None: ...


class Store(Protocol):
    """One graph."""

    url: str

    def read(self) -> AbstractContextManager[Tx]:
        """A consistent snapshot; writes are refused."""
        ...

    def write(self) -> AbstractContextManager[Tx]:
        """The graph's one lock; commits at the end, rolls back on any error."""
        ...

    def backup(self, target: str | None = None, *, run_id: int | None = None) -> str:
        """A verified copy; where it lies."""
        ...

    def restore(self, source: str) -> str | None:
        """Put a backup's content in place; where the replaced content lies."""
        ...

    @property
    def backups(self) -> Path | None:
        """The directory where backups lie by default; None for a graph without a file."""
        ...

    def keep_backups(self, keep: int) -> None:
        """Delete all but so many of this graph's backups."""
        ...

    def close(self) -> None: ...


class Batch(Protocol):
    """Some of a survey's proposals: what is asked, and how many pairs were ruled to find it."""

    @property
    def judged(self) -> int: ...
    @property
    def asked(self) -> Asked: ...


class Survey(Protocol):
    """The names of a graph, read once."""

    @property
    def common(self) -> frozenset[str]:
        """The words that are common among them."""
        ...

    @property
    def initials(self) -> frozenset[str]:
        """Two initials that one of them alone has."""
        ...

    def propose(self, context: Context) -> Iterator[Batch]:
        """What all-against-all ruling would ask about, pairs of equal letters left out."""
        ...

    def equal_letters(self) -> Iterator[list[int]]:
        """The ids of every two or more rows of the same letters."""
        ...

    def index(self) -> Iterator[tuple[array[int], array[int]]]:
        """The keys of the name index, ascending, and the id of the row of each, in parts."""
        ...


class Engine(Protocol):
    """Where pairs are found: this process, its cores, or a cluster."""

    def survey(
        self,
        ids: Sequence[int],
        rows: Sequence[Spelled],
        rule_set: str,
        progress: Progress,
    ) -> Survey:
        """Read rows, given by id and as spelled, for the rules of a set."""
        ...

    def close(self) -> None:
        """End whatever it runs on; what is asked of it later starts it again."""
        ...


# ---- models ----


class Extractor(Protocol):
    """Reads names and relations out of texts."""

    @property
    def model(self) -> str:
        """What reads, as recorded with what it found."""
        ...

    def extract(
        self, texts: Sequence[str], known: Sequence[Sequence[NameInText]], terms: Sequence[Term]
    ) -> list[Extracted]:
        """What each text names and states, in their order. One that could not be read, where others
        could, says why in ``failed``.

        Args:
            known: for each text the names of the graph that stand in it, as written there. They
                are linked anyhow and need not be given back, but may be ends of relations.
            terms: the types and predicates that are turned on.

        Raises:
            Unavailable: a model that can't be reached, or does not answer.
        """
        ...


class Embedder(Protocol):
    """Places texts in a space in which what means alike lies near."""

    @property
    def model(self) -> str:
        """What a graph is stamped with; vectors of two models can't be compared."""
        ...

    @property
    def dimensions(self) -> int: ...
    @property
    def anchor_floor(self) -> float:
        """The cosine from which a name is near enough to a query to be an anchor."""
        ...

    @property
    def belief_floor(self) -> float:
        """The cosine from which two memories may be about one thing."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """A row of length 1 for each text.

        Raises:
            Unavailable: ``model_refused``: it takes one of these texts not, and may take others;
                else a model that can't be reached, or does not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said.

    Attributes:
        value: the answer, which fits the schema it was asked for.
    """

    value: dict[str, object]
    model: str
    tokens_in: int = 0
    tokens_out: int = 0


class Model(Protocol):
    """A language model, asked for one structured answer at a time."""

    @property
    def name(self) -> str: ...
    def ask(self, instructions: str, prompt: str, schema: Mapping[str, object]) -> Reply:
        """One answer that fits a JSON schema of an object.

        Raises:
            Unavailable: ``model_unavailable``: it can't be reached or does not answer in time;
                ``model_nonsense``: what it answers never fits the schema.
        """
        ...
