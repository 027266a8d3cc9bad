"""Text becomes memory: stored first, then read for what it names, then placed by its meaning.

Storing is a transaction of its own, so that whatever fails later, the text is there; what was not
read waits, marked as unread, and is read by ``read_waiting``. An extractor runs outside every
transaction: a model may take its time, and nobody waits for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from enfold import beliefs, linking, passages, resolve
from enfold.beliefs import BeliefReport
from enfold.errors import Conflict, Error, Invalid, NotFound, Refused
from enfold.known import Known, one_row
from enfold.linking import Linked
from enfold.model import Extracted, Kind, Memory, NameInText, Remembered, Term, Text
from enfold.names import clean, normalized
from enfold.ports import Extractor, NewMemory, Progress, Store, Tx
from enfold.spotting import Spotter

BATCH: Final = 500
"""Texts that are stored and placed together: of so many, texts of one length go through the model
at once. Real texts became memories a quarter faster than a hundred at a time."""

READ: Final = 100
"""Texts that are read together: others wait for the lock while what is found in them is written."""

CHARACTERS: Final = 1_000_000
"""Characters after which a batch is full: a hundred documents of the longest would be gigabytes."""

LONGEST: Final = 20_000
"""Characters of a memory that is no document: about ten pages, of which recall could show nothing
better than the whole. A document is found by its passages."""

LONGEST_DOCUMENT: Final = 50_000_000
"""Characters of a document. What is longer is a corpus: split it, and each part can be cited."""

LABEL: Final = 200
"""Characters of an area, a topic, an agent, a title, a source tag."""

WHY: Final = 500
"""Characters that are kept of why a text could not be read."""

SOURCE: Final = 2_000
"""Characters of a source and of a caller's id."""

TAG: Final = "remember"

Unplaced = Callable[[Sequence[int], Sequence[int]], str | None]
"""What is to be said where some of the memories and rows got no place by their meaning."""

_SLICE: Final = 10_000
_HALF: Final = re.compile("[\ud800-\udfff]")
_UNSTORABLE: Final = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Stored:
    """A text that is stored.

    Attributes:
        parts: the memories that are to be placed by their meaning: itself, or its passages.
        to_read: those of them that are to be read for what they name; of a repeat those that still
            wait for it.
        linked: what came of the names and relations that the caller gave.
        repeat: it was there already.
    """

    text: Text
    memory_id: int
    parts: tuple[int, ...]
    to_read: tuple[int, ...] = ()
    linked: Linked = field(default_factory=Linked)
    repeat: bool = False


@dataclass(frozen=True, slots=True)
class Read:
    """What became of memories that were to be read.

    Attributes:
        linked: what came of each, by its id. failed: why some could not be read.
        spoken: what the rules said of the names that were new.
    """

    linked: dict[int, Linked]
    failed: dict[int, str]
    spoken: resolve.Spoken


# ---- storing ------------------------------------------------------------------------------------


def checked(text: Text) -> Text:
    """The text as it is stored.

    Raises:
        Invalid: ``blank_memory``, ``memory_too_long``, ``bad_kind``, ``bad_label``, ``bad_time``,
            ``bad_mention``, ``bad_fact``.
    """
    _must_be_storable(text.content)
    given = linking.sound(Extracted(text.mentions, text.facts))
    if text.kind not in set(Kind):
        kinds = ", ".join(Kind)
        raise Invalid("bad_kind", f"{text.kind!r} is no kind of memory; there are: {kinds}.")
    most = LONGEST_DOCUMENT if text.kind == Kind.DOCUMENT else LONGEST
    if len(text.content) > most:
        raise Invalid(
            "memory_too_long",
            f"The text has {len(text.content):,} characters, and a {text.kind} at most {most:,}. "
            + (
                "Split it into several documents."
                if text.kind == Kind.DOCUMENT
                else "Remember it as a document, which is split into passages."
            ),
        )
    return replace(
        text,
        title=_label("title", text.title, LABEL),
        area=_label("area", text.area, LABEL),
        topic=_label("topic", text.topic, LABEL),
        agent=_label("agent", text.agent, LABEL),
        sealed_for=_label("agent it is sealed for", text.sealed_for, LABEL),
        source_tag=_label("source tag", text.source_tag, LABEL),
        source=_label("source", text.source, SOURCE),
        caller_id=_id(text.caller_id),
        created_at=_moment(text.created_at),
        mentions=given.names,
        facts=given.relations,
    )


def _moment(written: str | None) -> str | None:
    """A time as it is stored: in UTC, with milliseconds."""
    if written is None:
        return None
    try:
        at = datetime.fromisoformat(written)
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Invalid("bad_time", f"{written!r} is no time; write 2026-01-31T12:00:00Z.") from None
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _must_be_storable(content: str) -> None:
    parts = (content[at : at + _SLICE] for at in range(0, len(content), _SLICE))
    if not any(normalized(part).strip() for part in parts):
        raise Invalid("blank_memory", "The memory is blank; give it a text.")
    if "\0" in content or _HALF.search(content):
        raise Invalid(
            "bad_text",
            "The text holds a NUL or half of a surrogate pair, which no database can store; "
            "decode it with errors='replace', and take NULs out.",
        )


def _label(name: str, written: str | None, most: int) -> str | None:
    if written is None:
        return None
    label = clean(written)
    if len(label) > most:
        raise Invalid("bad_label", f"The {name} has more than {most:,} characters; shorten it.")
    return label or None


def _id(written: str | None) -> str | None:
    """A caller's id as it is stored: as given, since two that differ in their blanks are two."""
    if written is None or not clean(written):
        return None
    if len(written) > SOURCE:
        raise Invalid("bad_label", f"The caller's id has more than {SOURCE:,} characters.")
    if _UNSTORABLE.search(written):
        raise Invalid(
            "bad_label",
            "The caller's id holds a control character or half of a surrogate pair; leave it away.",
        )
    return written


def store(
    tx: Tx, texts: Sequence[Text], *, refused: Callable[[int, Error], None] | None = None
) -> list[Stored]:
    """Store texts, each once: what came before is counted. What callers know of them is linked at
    once; those that are to be read are marked, and what of a repeat still is to be read comes back
    as such: the call that stored it may have been cut off.

    Args:
        refused: called with the place of a text that can't be stored and why, and the others go
            on; None raises that.

    Raises:
        Invalid: see ``checked``.
        Conflict: ``caller_id_taken``: another text came under the same id.
    """
    done = []
    for place, text in enumerate(texts):
        try:
            done.append(_store(tx, checked(text)))
        except Error as error:  # raised before anything of this text was written
            if refused is None:
                raise
            refused(place, error)
    done = _to_read(tx, done)
    tx.memories.mark_unread([part for one in done if not one.repeat for part in one.to_read])
    return [replace(one, linked=_given(tx, one)) for one in done]


def _to_read(tx: Tx, stored: Sequence[Stored]) -> list[Stored]:
    waiting = _waiting(tx, [part for one in stored if one.repeat for part in one.parts])
    done = []
    for one in stored:
        parts = one.parts if one.text.is_read else ()
        if one.repeat:
            parts = tuple(part for part in parts if part in waiting)
            waiting.difference_update(parts)  # what comes twice is read once
        done.append(replace(one, to_read=parts))
    return done


def _waiting(tx: Tx, ids: Sequence[int]) -> set[int]:
    """Those of the memories that wait to be read; most often none in the graph does."""
    if not tx.memories.unread(limit=1):
        return set()
    return {one for one in ids if tx.memories.unread(after=one - 1, limit=1) == [one]}


def _given(tx: Tx, one: Stored) -> Linked:
    """What the caller gave is of the whole text: of a document its first passage has it."""
    if one.repeat or not (one.text.mentions or one.text.facts):
        return one.linked
    memory = tx.memories.many([one.parts[0]])[one.parts[0]]
    given = Extracted(one.text.mentions, one.text.facts)
    return linking.link(tx, memory, given, source_tag=memory.source_tag or TAG)


def _store(tx: Tx, text: Text) -> Stored:
    known = _known(tx, text)
    if known is not None and known.content == text.content:
        tx.memories.repeat(known.id)
        return Stored(text, known.id, _parts(tx, known), repeat=True)
    if known is not None:
        _make_room(tx, known, text)
    pieces = passages.split(text.content) if text.kind == Kind.DOCUMENT else []
    whole = len(pieces) < 2
    new = _new(text, follows=known.id if known else None, searched=whole)
    if whole and pieces and pieces[0].title and not text.title:
        new = replace(new, title=_cut(pieces[0].title))
    (memory_id,) = tx.memories.add_many([new])
    if whole:
        return Stored(text, memory_id, (memory_id,))
    parts = [
        replace(
            new,
            content=piece.content,
            title=_cut(piece.title or text.title),
            caller_id=None,
            once=False,
            searched=True,
            document_id=memory_id,
            follows_id=None,
        )
        for piece in pieces
    ]
    return Stored(text, memory_id, tuple(tx.memories.add_many(parts)))


def _parts(tx: Tx, known: Memory) -> tuple[int, ...]:
    if known.kind != Kind.DOCUMENT:
        return (known.id,)
    return tuple(tx.memories.passages_of([known.id]).get(known.id, ())) or (known.id,)


def _known(tx: Tx, text: Text) -> Memory | None:
    """The memory that the text came as before."""
    if text.caller_id is not None:
        return tx.memories.by_caller(text.caller_id, sealed_for=text.sealed_for)
    return tx.memories.same(text.content, sealed_for=text.sealed_for)


def _make_room(tx: Tx, known: Memory, text: Text) -> None:
    """A document that was changed is its next version. Another text under a caller's id is a
    mistake of the caller's."""
    if text.kind != Kind.DOCUMENT or known.kind != Kind.DOCUMENT:
        raise Conflict(
            "caller_id_taken",
            f"Memory {known.id} was remembered as {text.caller_id!r} with another text. Give the "
            "new text an id of its own, or forget the memory first.",
            memory_id=known.id,
        )
    tx.memories.release_caller(known.id)
    for part in (known.id, *tx.memories.passages_of([known.id]).get(known.id, ())):
        tx.memories.set_status(part, "stale")


def _new(text: Text, *, follows: int | None, searched: bool) -> NewMemory:
    return NewMemory(
        text.content,
        text.source,
        text.source_tag,
        text.caller_id,
        text.kind,
        title=text.title,
        area=text.area,
        topic=text.topic,
        agent=text.agent,
        sealed_for=text.sealed_for,
        created_at=text.created_at,
        follows_id=follows,
        once=text.caller_id is None,
        searched=searched,
    )


def _cut(title: str | None) -> str | None:
    return None if title is None else clean(title)[:LABEL]


# ---- reading ------------------------------------------------------------------------------------


def read(store: Store, stored: Sequence[Stored], extractor: Extractor | None) -> Read:
    """Look for what stored texts name and state, and write the edges; then the rules speak about
    the names that are new.

    Args:
        extractor: None links only names that the graph knows.
    """
    wanted = [part for one in stored for part in one.to_read]
    # A document may have thousands of passages, and others wait for the lock.
    slices = [wanted[at : at + READ] for at in range(0, len(wanted), READ)] or [[]]
    given = [one.linked for one in stored]
    done = [_read(store, slices[0], given, extractor)]
    done += [_read(store, some, [], extractor) for some in slices[1:]]
    return Read(
        {memory: one for part in done for memory, one in part.linked.items()},
        {memory: why for part in done for memory, why in part.failed.items()},
        resolve.Spoken(
            tuple(pair for part in done for pair in part.spoken.folds),
            tuple(pair for part in done for pair in part.spoken.asked),
            sum(part.spoken.left for part in done),
        ),
    )


def read_stored(store: Store, ids: Sequence[int], extractor: Extractor | None) -> Read:
    """Read memories that are stored and marked as unread."""
    return _read(store, ids, [], extractor)


def read_waiting(
    store: Store, extractor: Extractor | None, *, progress: Progress | None = None
) -> tuple[int, int]:
    """Read what is stored and was not read; (how many were, how many could not be)."""
    with store.read() as tx:
        total = tx.memories.count_unread()
    done = failed = after = 0
    while True:
        with store.read() as tx:
            waiting = tx.memories.unread(after=after, limit=READ)
        if not waiting:
            return done, failed
        after = waiting[-1]
        found = _read(store, waiting, [], extractor)
        done += len(found.linked)
        failed += len(found.failed)
        if progress is not None:
            progress("reading", done + failed, max(total, done + failed))


def _read(
    store: Store, wanted: Sequence[int], given: Sequence[Linked], extractor: Extractor | None
) -> Read:
    """Three steps: what is known of the texts, what the extractor finds, and the edges."""
    with store.read() as tx:
        memories = list(tx.memories.many(wanted).values())
        known = spotted(tx, memories)
        terms = [term for term in tx.terms.all() if term.enabled]
    found, failed = _extracted(memories, known, terms, extractor)
    known = _with_new(memories, known, found)
    with store.write() as tx:
        linked = _linked(tx, known, found, failed)
        rows = linking.linked([*given, *linked.values()])
    return Read(linked, failed, resolve.speak(store, rows.rows))


def _linked(
    tx: Tx,
    known: dict[int, tuple[NameInText, ...]],
    found: dict[int, Extracted],
    failed: dict[int, str],
) -> dict[int, Linked]:
    linked: dict[int, Linked] = {}
    there = tx.memories.many([one for one in known if one not in failed])
    for memory_id, memory in there.items():  # what is not there was forgotten meanwhile
        more = found.get(memory_id, Extracted())
        every = Extracted((*known[memory_id], *more.names), more.relations)
        linked[memory_id] = linking.link(tx, memory, every, source_tag=memory.source_tag or TAG)
    tx.memories.mark_read(list(linked))
    for why in sorted(set(failed.values())):
        tx.memories.mark_failed([one for one, said in failed.items() if said == why], why)
    return linked


def spotted(tx: Tx, memories: Sequence[Memory]) -> dict[int, tuple[NameInText, ...]]:
    """The names of the graph that stand in each text, as written there."""
    texts = [memory.content for memory in memories]
    spotter = Known(tx, sum(map(len, texts)), any_join=True).in_texts(texts)
    found: dict[int, tuple[NameInText, ...]] = {}
    for memory in memories:
        names: dict[str, NameInText] = {}
        for spot in spotter.spot(memory.content):
            row = one_row(tx, spot.ids)
            if row is not None or not spot.word:
                names.setdefault(spot.spelling, NameInText(spot.spelling))
        found[memory.id] = tuple(names.values())
    return found


def _with_new(
    memories: Sequence[Memory],
    known: dict[int, tuple[NameInText, ...]],
    found: dict[int, Extracted],
) -> dict[int, tuple[NameInText, ...]]:
    """The known names of each text, with those that another of the texts has just brought: texts
    that come together name what they would name if they came one by one, in either order. What a
    sealed text brings stays with it."""
    open_ = [memory.id for memory in memories if memory.sealed_for is None]
    new = list(
        {name.spelling: name for one in open_ if one in found for name in found[one].names}.values()
    )
    if len(memories) < 2 or not new:
        return known
    spotter = Spotter(((at, name.spelling) for at, name in enumerate(new)), any_join=True)
    more: dict[int, tuple[NameInText, ...]] = {}
    for memory in memories:
        names = {name.spelling: name for name in known[memory.id]}
        for spot in spotter.spot(memory.content):
            if not spot.word:
                names.setdefault(spot.spelling, NameInText(spot.spelling, new[spot.ids[0]].type))
        more[memory.id] = tuple(names.values())
    return more


def _extracted(
    memories: Sequence[Memory],
    known: dict[int, tuple[NameInText, ...]],
    terms: Sequence[Term],
    extractor: Extractor | None,
) -> tuple[dict[int, Extracted], dict[int, str]]:
    """(what was found in each, why some could not be read)"""
    if extractor is None or not memories:
        return {}, {}
    try:
        found = extractor.extract(
            [memory.content for memory in memories],
            [known.get(memory.id, ()) for memory in memories],
            terms,
        )
        both = list(zip(memories, found, strict=True))
    except Exception as error:  # the texts are stored; no fault of a reader may cost one
        return {}, dict.fromkeys((memory.id for memory in memories), _why(error))
    taken: dict[int, Extracted] = {}
    failed: dict[int, str] = {}
    for memory, one in both:
        try:
            said = _sound(one)
            if said.failed is None:
                taken[memory.id] = said
            else:
                failed[memory.id] = clean(str(said.failed))[:WHY]
        except Exception as error:  # what is wrong with one answer costs no other text
            failed[memory.id] = _why(error)
    return taken, failed


def _sound(found: object) -> Extracted:
    """What an extractor gave of one text.

    Raises:
        Invalid: ``bad_extraction``, ``bad_mention``, ``bad_fact``.
    """
    if not isinstance(found, Extracted):
        raise Invalid(
            "bad_extraction",
            f"The extractor gave a {type(found).__name__} for this text; it gives an Extracted.",
        )
    return found if found.failed is not None else linking.sound(found)


def _why(error: Exception) -> str:
    """Why a text could not be read, as it can be stored."""
    why = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
    return clean(why)[:WHY]


# ---- what is told -------------------------------------------------------------------------------


def rows_of(read: Read) -> list[int]:
    """The rows that reading made."""
    return linking.linked(list(read.linked.values())).rows


def to_place(stored: Sequence[Stored], read: Read) -> tuple[list[int], list[int]]:
    """(memories, rows) that are new, or of a repeat, whose call may have been cut off."""
    given = linking.linked([one.linked for one in stored]).rows
    parts = dict.fromkeys(part for one in stored for part in one.parts)
    return list(parts), [*given, *rows_of(read)]


def to_check(stored: Sequence[Stored]) -> list[int]:
    """Memories that nobody has held against what was there."""
    return [one.memory_id for one in stored if one.to_read or not one.repeat]


def told(
    tx: Tx,
    stored: Sequence[Stored],
    read: Read,
    checked: Mapping[int, BeliefReport],
    *,
    unplaced: Unplaced | None = None,
) -> list[Remembered]:
    """What became of each text.

    Args:
        checked: what came of checking those that are new against what was there, by memory.
        unplaced: what is to be said where some memories and rows got no place.
    """
    memories = tx.memories.many([one.memory_id for one in stored])
    none = BeliefReport()
    return [
        _told(memories[one.memory_id], one, read, checked.get(one.memory_id, none), unplaced)
        for one in stored
        if one.memory_id in memories
    ]


def _told(
    memory: Memory, one: Stored, read: Read, checked: BeliefReport, unplaced: Unplaced | None
) -> Remembered:
    parts = [read.linked[part] for part in one.to_read if part in read.linked]
    done = linking.linked([one.linked, *parts])
    why = next((read.failed[part] for part in one.to_read if part in read.failed), None)
    new = set(done.rows)
    notes = [f"Not linked: {said}" for said in one.linked.refused]
    if why is not None:
        notes.append(f"Stored, but not read: {why} “enfold index” reads it later.")
    if new and read.spoken.left:
        notes.append("The rules speak about its new names in the next pass: “enfold resolve”.")
    if unplaced is not None and (left := unplaced(one.parts, done.rows)):
        notes.append(left)
    return Remembered(
        memory,
        repeat=one.repeat,
        passages=() if one.repeat or one.parts == (memory.id,) else one.parts,
        mentions=done.mentions,
        facts=done.facts,
        minted=tuple(done.minted),
        unlinked=tuple(done.unlinked),
        merge_ids=_once(merge for row, merge in read.spoken.folds if row in new),
        conflict_ids=_once(
            (
                *done.asked,
                *(ask for row, ask in read.spoken.asked if row in new),
                *checked.conflict_ids,
            )
        ),
        replaced=checked.replaced,
        unchecked=checked.note,
        note=" ".join(notes) or None,
    )


def _once(ids: Iterable[int]) -> tuple[int, ...]:
    """Each once: a question between two names that are new is of both."""
    return tuple(dict.fromkeys(ids))


# ---- forgetting ---------------------------------------------------------------------------------


def forget(tx: Tx, memory_ids: Sequence[int], *, agent: str | None = None) -> None:
    """Delete memories with their passages, mentions and facts; entities stay. What followed one of
    them as its next version follows the one before, and where it held, that one holds again.

    Args:
        agent: who asks; what is sealed for another is none that it knows.

    Raises:
        NotFound: ``no_memory``.
        Refused: ``under_answer``: another was replaced by an answer that would go with it; that
            has to be taken back first, or the other forgotten as well. ``part_of_document``: it is
            a passage.
    """
    for memory_id in dict.fromkeys(memory_ids):
        memory = tx.memories.get(memory_id)
        if memory is None or not beliefs.may_see(memory, agent):
            raise NotFound("no_memory", f"There is no memory {memory_id}.")
        if memory.document_id is not None:
            raise Refused(
                "part_of_document",
                f"Memory {memory_id} is a passage of document {memory.document_id}, which holds "
                "its text. Forget the document, and remember it anew without the passage.",
                document_id=memory.document_id,
            )
        beliefs.must_not_carry(tx, memory, going=memory_ids)
    for memory_id in dict.fromkeys(memory_ids):
        beliefs.let_go(tx, memory_id)


def batches(texts: Iterable[Text], size: int = BATCH) -> Iterator[list[Text]]:
    """Texts in their order, so many at a time, and fewer of those that are long."""
    held: list[Text] = []
    characters = 0
    for text in texts:
        held.append(text)
        characters += len(text.content)
        if len(held) == size or characters >= CHARACTERS:
            yield held
            held, characters = [], 0
    if held:
        yield held
