"""The records everything else speaks in: frozen, comparable, free of any database.

Times are ISO 8601 strings in UTC with milliseconds; ids are positive integers that a graph never
uses twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final


class Verdict(StrEnum):
    """What a rule says about a pair."""

    FOLD = "FOLD"
    ASK = "ASK"
    APART = "APART"


class DecidedBy(StrEnum):
    """Who made a fold or a decision; kept for ever."""

    RULE = "rule"
    HUMAN = "human"
    MODEL = "model"
    IMPORT = "import"


class Answer(StrEnum):
    """The answers to a question of the queue."""

    KEEP_EXISTING = "keep_existing"
    KEEP_NEW = "keep_new"
    KEEP_BOTH = "keep_both"
    MERGE = "merge"


UNKNOWN: Final = "A miss means unknown, never absent: the graph may hold it under another spelling."


@dataclass(frozen=True, slots=True)
class Ruling:
    """The verdict on two names.

    Attributes:
        verdict: FOLD, ASK or APART.
        rule: the rule that decided, or ``"none"`` where no rule proposes the pair.
        score: 0 to 1, the rule's prior that the two are one; ranks questions, decides nothing.
        reason: a sentence a person can read.
    """

    verdict: Verdict
    rule: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class Context:
    """What rules may know of the graph, frozen by the last full pass so that every pass agrees.

    Attributes:
        common: words that many names of this graph carry (see ``rules.common_among``).
        initials: two initials that one name alone of this graph has (see ``rules.alone_among``).
        types_trusted: whether a disagreement of types keeps identical names from folding.
        rules: the name of the rule set the pass used.
        version: of the names and rules it was made with.
    """

    common: frozenset[str] = frozenset()
    types_trusted: bool = False
    rules: str = "default"
    version: str = ""
    initials: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Entity:
    """One row: a spelling that is, or was, an entity of its own.

    A live row (``folded_into`` is None) is an entity; an absorbed one is an alias of
    ``canonical_id``. ``name`` is what is shown of the entity the row leads to: the latest rename
    still inside, else the root's own spelling. ``mentions`` is that entity's count of active
    memories that mention it.
    """

    id: int
    spelling: str
    key: str
    sense: int
    type: str | None
    name: str
    folded_into: int | None
    canonical_id: int
    mentions: int
    alias_only: bool
    source_tag: str | None
    foreign_id: str | None
    created_at: str

    @property
    def live(self) -> bool:
        return self.folded_into is None


class Kind(StrEnum):
    """What a memory is."""

    FACT = "fact"
    PREFERENCE = "preference"
    EPISODE = "episode"
    PROCEDURE = "procedure"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Memory:
    """A stored text with its source.

    Attributes:
        kind: see ``Kind``. title: of a passage of a document, the headings it stands under.
        area, topic: filing labels, which no search reads.
        agent: who wrote it. sealed_for: the one agent that may recall it; None for all.
        caller_id: the caller's own id of it; a text that comes again under it is not stored again.
        status: ``active``, or ``stale`` for what no longer holds.
        repeats: how often the same text came again.
        document_id: the document it is a passage of. follows_id: the version before it.
    """

    id: int
    content: str
    kind: str
    source: str | None
    source_tag: str | None
    caller_id: str | None
    status: str
    created_at: str
    title: str | None = None
    area: str | None = None
    topic: str | None = None
    agent: str | None = None
    sealed_for: str | None = None
    repeats: int = 0
    document_id: int | None = None
    follows_id: int | None = None


@dataclass(frozen=True, slots=True)
class NameInText:
    """A name that a text holds, as written there.

    Attributes:
        confidence: 0 to 1, how sure the extractor is that it names something.
    """

    spelling: str
    type: str | None = None
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class RelationInText:
    """What a text states of two names, both as written there: subject –predicate→ object."""

    subject: str
    predicate: str
    object: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Extracted:
    """What an extractor found in one text.

    Attributes:
        failed: why this text could not be read, where others of the call could; None where it was.
    """

    names: tuple[NameInText, ...] = ()
    relations: tuple[RelationInText, ...] = ()
    failed: str | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """Something to remember (see ``Memory`` for what the fields mean).

    Attributes:
        created_at: when it was written, as ISO 8601; None for now.
        mentions, facts: names and relations the caller knows it to hold.
        read: whether to look for more in the text itself; None does so where the caller gives
            neither mentions nor facts.
    """

    content: str
    kind: str = Kind.FACT
    title: str | None = None
    source: str | None = None
    source_tag: str | None = None
    area: str | None = None
    topic: str | None = None
    agent: str | None = None
    sealed_for: str | None = None
    caller_id: str | None = None
    created_at: str | None = None
    mentions: tuple[NameInText, ...] = ()
    facts: tuple[RelationInText, ...] = ()
    read: bool | None = None

    @property
    def is_read(self) -> bool:
        """Whether the text itself is looked at for names."""
        return not (self.mentions or self.facts) if self.read is None else self.read


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a text.

    Attributes:
        memory: the memory that holds it; that of before where it came again.
        repeat: the same text was there already and is counted.
        passages: ids of the passages of a document.
        mentions, facts: edges written.
        minted: names that made an entity. unlinked: names that fit several entities, or that are
            kept in a sealed memory alone; linked to none.
        merge_ids, conflict_ids: what the rules folded and asked at once.
        replaced: memories that said the same, whose next version it is.
        note: what was left for later, and why; the text itself is stored.
        unchecked: why nothing looked whether it contradicts what was there.
    """

    memory: Memory
    repeat: bool = False
    passages: tuple[int, ...] = ()
    mentions: int = 0
    facts: int = 0
    minted: tuple[str, ...] = ()
    unlinked: tuple[str, ...] = ()
    merge_ids: tuple[int, ...] = ()
    conflict_ids: tuple[int, ...] = ()
    replaced: tuple[int, ...] = ()
    note: str | None = None
    unchecked: str | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """A type or predicate that extraction may use.

    Attributes:
        kind: ``type`` or ``predicate``.
    """

    kind: str
    name: str
    description: str
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Mention:
    """An edge memory → entity. ``asserted_id`` is the row its spelling named, for ever;
    ``entity_id`` is where it ends now, derived from the live folds."""

    id: int
    memory_id: int
    asserted_id: int
    spelling: str
    entity_id: int


@dataclass(frozen=True, slots=True)
class Fact:
    """A stated, typed edge subject –predicate→ object (an entity, or a literal)."""

    id: int
    memory_id: int
    subject_id: int
    predicate: str
    object_id: int | None
    literal: str | None
    confidence: float


@dataclass(frozen=True, slots=True)
class Merge:
    """The record of one fold; plan, preview and receipt are this same shape.

    Attributes:
        moved: how many edges ended at the absorbed entity and end at the canonical now.
        silenced: how many edges stopped counting, because the canonical had their equal already.
        overruled: ids of the decisions a person overruled with this fold.
        edge_mark: the highest edge id at the fold; edges above it arrived since.
        asked_absorbed_id: the row it was asked for through, before that was followed to its root;
            None stands for ``absorbed_id`` itself. ``asked_canonical_id`` likewise.
    """

    id: int
    canonical_id: int
    canonical_name: str
    absorbed_id: int
    absorbed_name: str
    absorbed_type: str | None
    decided_by: DecidedBy
    rule: str
    score: float
    reason: str
    actor: str | None
    model: str | None
    conflict_id: int | None
    run_id: int | None
    overruled: tuple[int, ...]
    edge_mark: int
    moved: int
    silenced: int
    created_at: str
    reverted_at: str | None = None
    asked_absorbed_id: int | None = None
    asked_canonical_id: int | None = None


@dataclass(frozen=True, slots=True)
class Reverted:
    """What a revert did (or, as a preview, would do).

    Attributes:
        moved_back: edges that left with the absorbed entity and were there at the fold.
        reactivated: edges that count again.
        arrived_since: edges written under the absorbed spelling since; they go back with it.
        later: live merges asked for through the reverted spelling, which stand.
        decision_id: the "apart" it left, or None where a question went back into the queue.
        conflict_id: the question that went back, if the fold was a decision's.
    """

    merge: Merge
    moved_back: int
    reactivated: int
    arrived_since: int
    later: tuple[Merge, ...]
    decision_id: int | None
    conflict_id: int | None


@dataclass(frozen=True, slots=True)
class Decision:
    """Two names that are settled apart, by (key, sense), so that it outlives their rows."""

    id: int
    left_key: str
    left_sense: int
    left_name: str
    right_key: str
    right_sense: int
    right_name: str
    decided_by: DecidedBy
    actor: str | None
    why: str
    created_at: str
    undone_at: str | None = None
    undone_by: str | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """A question of the queue: a queued entity against its candidate.

    ``queued_id`` and ``candidate_id`` are the rows it was asked about; ``queued_now`` and
    ``candidate_now`` are the entities they lead to through the folds. ``moot`` says that nothing
    is left to answer: both lead to one entity, or another decision keeps them apart.
    """

    id: int
    kind: str
    queued_id: int
    queued_name: str
    queued_now: int
    queued_type: str | None
    queued_mentions: int
    candidate_id: int
    candidate_name: str
    candidate_now: int
    candidate_type: str | None
    candidate_mentions: int
    asked_by: str
    rule: str
    score: float
    reason: str
    created_at: str
    moot: bool
    answer: Answer | None = None
    answered_by: str | None = None
    merge_id: int | None = None
    decision_id: int | None = None
    decided_at: str | None = None


@dataclass(frozen=True, slots=True)
class NameQuestion:
    """A question of the queue about a name that fits several entities: which one do texts mean?

    Attributes:
        name: as the first text that asked for it wrote it. key: its identity.
        candidates: the entities it fits now; with one or none the question is moot.
        waiting: memories with that name that are linked to none, sealed ones left out.
        answer: ``keep_existing`` (the one chosen), ``keep_new`` (another thing of that name, made
            for it) or ``keep_both`` (it stays linked to none and is not asked again).
        chosen_id: the row that was chosen or made.
    """

    id: int
    key: str
    name: str
    candidates: tuple[Entity, ...]
    waiting: int
    asked_by: str
    reason: str
    created_at: str
    answer: Answer | None = None
    answered_by: str | None = None
    chosen_id: int | None = None
    decided_at: str | None = None

    @property
    def moot(self) -> bool:
        return self.answer is None and len(self.candidates) < 2


@dataclass(frozen=True, slots=True)
class MemoryQuestion:
    """A question of the queue about two memories that contradict each other.

    Attributes:
        queued: the later one. candidate: the one that was there.
        moot: one of them does not hold any more.
        answer: ``keep_new`` (the queued one holds), ``keep_existing``, ``keep_both`` or ``merge``
            (a text in place of both, ``made_id``).
    """

    id: int
    queued: Memory
    candidate: Memory
    asked_by: str
    score: float
    reason: str
    created_at: str
    answer: Answer | None = None
    answered_by: str | None = None
    made_id: int | None = None
    decided_at: str | None = None

    @property
    def moot(self) -> bool:
        return self.answer is None and "stale" in (self.queued.status, self.candidate.status)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A pair the rules speak about, before anything is done with it."""

    left_id: int
    right_id: int
    verdict: Verdict
    rule: str
    score: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class OpenPair:
    """Two entities that some rule asks about and that are not queued, not one and not apart.

    Attributes:
        low, high: the entities, the lower id first.
        weight: the mentions of the one that has fewer.
        left_id, right_id: the rows the rule asks about; they lead to the two, in either order.
    """

    low: int
    high: int
    weight: int
    score: float
    left_id: int
    right_id: int
    rule: str


AskedPair = tuple[int, int, str, float]
"""(left id, right id, rule, score): a proposal to ask, as it is kept where there are many."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a pass did, or would do: the same figures either way.

    Attributes:
        examined: entities considered.
        pairs: pairs judged after blocking.
        merged: folds applied without asking.
        queued: questions written.
        deferred: questions not written because the queue is full; a later pass refills from them.
        skipped: pairs already merged, queued or settled apart.
        full: whether the pass looked at every name and refreshed its context.
    """

    examined: int
    pairs: int
    merged: int
    queued: int
    deferred: int
    skipped: int
    full: bool
    dry_run: bool
    run_id: int | None = None
    merge_ids: tuple[int, ...] = ()
    conflict_ids: tuple[int, ...] = ()
    folds: tuple[Proposal, ...] = ()
    questions: tuple[Proposal, ...] = ()
    backup: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A name that leads to one entity.

    ``asked`` is the spelling as asked; ``matched`` the spelling of the row it hit, ``row_id`` that
    row; ``alias`` says whether it is spelled otherwise than the entity is shown.
    """

    entity: Entity
    asked: str
    matched: str
    alias: bool
    row_id: int = 0


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A name that fits several entities; linked to none of them."""

    asked: str
    candidates: tuple[Entity, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """A name the graph does not know. It proves nothing; ``nearest`` are the closest spellings."""

    asked: str
    nearest: tuple[Entity, ...] = ()
    note: str = UNKNOWN


class How(StrEnum):
    """How a spelling matches what was searched for, the surest first."""

    EXACT = "exact"
    """The same name: case, blanks and a leading ``@`` aside."""
    LETTERS = "letters"
    """The same letters and digits: punctuation, accents and script aside."""
    PREFIX = "prefix"
    """It begins with what was searched for."""
    WORD = "word"
    """All that was searched for are words of it, in whatever order."""
    SUBSTRING = "substring"
    """What was searched for stands in it, or each word of that in one of its words."""
    FUZZY = "fuzzy"
    """It reads alike, as a whole or word by word."""
    RULE = "rule"
    """A rule would ask whether the two are one: an acronym, say."""


@dataclass(frozen=True, slots=True)
class Hit:
    """An entity that a search found.

    Attributes:
        entity: where the spelling leads now.
        matched: the spelling that matched best.
        alias: it is spelled otherwise than the entity is shown.
        score: 0 to 1, how alike; see ``search``.
    """

    entity: Entity
    matched: str
    how: How
    score: float
    alias: bool


@dataclass(frozen=True, slots=True)
class Link:
    """A stated relationship to a neighbour, with how many memories state it."""

    relation: str
    direction: str
    confidence: float
    sources: int


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entity connected to the one asked about: stated links and co-mentions, kept apart.

    Attributes:
        links, shared_sources: what connects it with the one asked about, or with the last of those
            that it is reached through.
        hop: how many steps away it is.
        through: the names of the entities between, from the one asked about on.
    """

    entity: Entity
    aliases: tuple[str, ...]
    links: tuple[Link, ...]
    shared_sources: int
    hop: int = 1
    through: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Related:
    """The neighbourhood of an entity, the nearest hop first; in each, stated links come first, then
    co-mentions by count. ``truncated`` says that there is more than was read or is shown."""

    found: Found
    related: tuple[Neighbour, ...]
    truncated: bool
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a connection.

    Attributes:
        entity: where it leads.
        relation, direction, confidence: what is stated; ``out`` leads from the entity before to
            this one. None where the two are only mentioned together.
        sources: how many memories state it, or mention both.
        memory_id: the latest of them.
    """

    entity: Entity
    relation: str | None
    direction: str | None
    confidence: float | None
    sources: int
    memory_id: int


@dataclass(frozen=True, slots=True)
class Connection:
    """How two entities are connected.

    Attributes:
        steps: from ``left`` to ``right``; empty where they are one, or nothing was found.
        truncated: not everything was looked at: there may be a shorter connection, or one at all.
        note: why there are no steps.
    """

    left: Found
    right: Found
    steps: tuple[Step, ...] = ()
    truncated: bool = False
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Anchor:
    """An entity that a query attaches to.

    Attributes:
        matched: the spelling by which it came, as the graph has it.
        by: ``name`` where that stands in the query, ``meaning`` where it lies near it.
        cosine: how near; None of a name.
        alias: it is spelled otherwise than the entity is shown.
    """

    entity: Entity
    matched: str
    by: str
    cosine: float | None
    alias: bool


@dataclass(frozen=True, slots=True)
class Recollection:
    """A memory that answers a query, and why it is there.

    Attributes:
        score: the sum over the arms of weight / (60 + rank).
        arms: the arms that found it (``vector``, ``keyword``, ``entity``), each with its rank.
        cosine: how near it lies to the query; None where it or the query has no vector.
        anchors: the anchors that it mentions, as far as the entity arm found it by them.
    """

    memory: Memory
    score: float
    arms: dict[str, int]
    cosine: float | None
    anchors: tuple[Anchor, ...]


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was recalled, best first.

    Attributes:
        abstained: the arms that had nothing to say, each with the reason.
        waiting: memories that have no vector yet, as far as they were counted; the vector arm
            can't find them.
        note: what a reader has to know of the answer; of an empty one, that it proves nothing.
    """

    query: str
    memories: tuple[Recollection, ...]
    anchors: tuple[Anchor, ...]
    abstained: dict[str, str]
    waiting: int = 0
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Indexed:
    """What got its place in the space of an embedding model.

    Attributes:
        memories, names: how many did.
        waiting: how many memories still have none.
        read: memories that were read for what they name. unread: those that could not be.
        note: why something was left for later.
    """

    model: str
    memories: int = 0
    names: int = 0
    waiting: int = 0
    read: int = 0
    unread: int = 0
    note: str | None = None


@dataclass(frozen=True, slots=True)
class SetAside:
    """A piece of an import that was not taken, and why; its text is kept in the run."""

    source: str
    line: int
    reason: str
    text: str


class Note(SetAside):
    """Something that was taken, and what of it differs from its source; ``text`` is what differs,
    in full."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import took.

    Attributes:
        entities: entity rows made.
        known: names of the source that the graph already knew.
        memories: memories made (known ones are not made twice).
        mentions: mention edges made.
        facts: fact edges made.
        aliases: alias spellings made.
        folds: entities that the source says are one and that were two here.
        apart: pairs settled apart because the source says so.
        minted: names made only because a relation named them.
        senses: entities made beside another of the same name, because their ids are trusted.
        notes: differences that were kept out of the graph's own fields (a second type, say).
        set_aside: what could not be taken, line by line.
    """

    run_id: int | None
    source: str
    format: str
    entities: int = 0
    known: int = 0
    memories: int = 0
    mentions: int = 0
    facts: int = 0
    aliases: int = 0
    folds: int = 0
    apart: int = 0
    minted: tuple[str, ...] = ()
    senses: int = 0
    notes: tuple[SetAside, ...] = ()
    set_aside: tuple[SetAside, ...] = ()


@dataclass(frozen=True, slots=True)
class Violation:
    """An invariant that does not hold."""

    invariant: str
    message: str
    ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of checking every invariant."""

    checked: tuple[str, ...]
    violations: tuple[Violation, ...] = ()

    @property
    def clean(self) -> bool:
        return not self.violations


@dataclass(frozen=True, slots=True)
class Run:
    """One pass, import, restore: what ran, when, and what came of it."""

    id: int
    kind: str
    started_at: str
    ended_at: str | None
    report: dict[str, Any] = field(default_factory=dict)
    backup: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """A proposal with its names: ``left`` folds into, is asked against, or looks like ``right``."""

    left: str
    left_type: str | None
    left_mentions: int
    right: str
    right_type: str | None
    right_mentions: int
    verdict: Verdict
    rule: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class Scan:
    """What a pass over a file would do; nothing was written.

    Attributes:
        imported: what was read, file by file.
        report: the figures of the pass.
        entities: how many entities there are before it.
        folds, questions, apart: what would fold, what would be asked (the weightiest first) and
            what looks alike and is kept apart, each by the names involved.
        apart_count: how many names are kept from a look-alike.
    """

    imported: tuple[Imported, ...]
    report: Report
    entities: int
    folds: tuple[Shown, ...]
    questions: tuple[Shown, ...]
    apart: tuple[Shown, ...]
    apart_count: int


@dataclass(frozen=True, slots=True)
class Described:
    """An entity with what the graph holds of it."""

    entity: Entity
    aliases: tuple[str, ...]
    facts: int
    merges: tuple[Merge, ...]
    attributes: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Summary:
    """What a graph holds and what waits.

    Attributes:
        pending: questions about two entities. names: about a name that fits several.
            contradictions: about two memories, sealed ones left out.
        unread: memories whose names have not been looked for.
    """

    url: str
    entities: int
    aliases: int
    memories: int
    pending: int
    deferred: int
    unexamined: int
    names: int = 0
    contradictions: int = 0
    unread: int = 0


# ---- what a format parser yields (see formats/): a graph from elsewhere, piece by piece ----


@dataclass(frozen=True, slots=True)
class EntityRecord:
    """A named thing of a source, with what the source says of it."""

    line: int
    name: str
    type: str | None = None
    observations: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    foreign_id: str | None = None
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RelationRecord:
    """A stated relation of a source between two names, with the source's own ids of them where it
    has ids: an end is found by its id first."""

    line: int
    subject: str
    predicate: str
    object: str
    confidence: float = 1.0
    text: str | None = None
    attributes: dict[str, Any] = field(default_factory=dict)
    subject_id: str | None = None
    object_id: str | None = None


@dataclass(frozen=True, slots=True)
class IdentityRecord:
    """What a source says of the identity of two things: that they are one, or that they are not.

    Attributes:
        left, right: names.
        same: one (to be folded), or two (to be settled apart).
        left_id, right_id: the source's own ids of them, where it has ids.
        why: what the source gives as the reason.
    """

    line: int
    left: str
    right: str
    same: bool
    left_id: str | None = None
    right_id: str | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """Something a graph was told about its names, as a line of a decisions file.

    Attributes:
        kind: ``same`` (left was folded into right), ``apart`` (two things), ``alias`` (left is a
            spelling that leads to right) or ``called`` (left is shown as right).
        left, right: names.
        left_type, left_id, right_type, right_id: what tells a name from others like it, where that
            is needed: the type, or the source's own id.
        overrules: whether a person said ``same`` although the two were settled apart.
        decided_by, who: whose decision it is.
        at: when it was made, as ISO 8601 in UTC; None for now.
    """

    line: int
    kind: str
    left: str
    right: str
    left_type: str | None = None
    left_id: str | None = None
    right_type: str | None = None
    right_id: str | None = None
    overrules: bool = False
    decided_by: DecidedBy = DecidedBy.HUMAN
    who: str | None = None
    at: str | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class NotApplied:
    """A line of a decisions file that was not taken, and why."""

    settled: Settled
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of a decisions file.

    Attributes:
        new, known: lines that changed something, and lines that were so already.
        undone: folds that no person made and that were taken back, for a person says apart.
        refused: lines against what a person decided here.
        unknown: lines about a name that the graph does not know, or that fits several entities.
        set_aside: what could not be read.
    """

    new: int
    known: int
    undone: tuple[int, ...] = ()
    refused: tuple[NotApplied, ...] = ()
    unknown: tuple[NotApplied, ...] = ()
    set_aside: tuple[SetAside, ...] = ()
    dry_run: bool = False
    run_id: int | None = None


Record = EntityRecord | RelationRecord | IdentityRecord | SetAside

Written = EntityRecord | RelationRecord | IdentityRecord
"""What an export yields."""
