"""Names in a text become edges: each leads to the entity it is known as, or makes one.

A name that fits several entities is linked to none of them. It is kept, counted and asked about
once; the answer links what waits, and stands for the texts that come later. What a sealed memory
names is linked where the graph knows it and makes nothing, so that nothing of it shows elsewhere.

Whether a kept name waits is derived: it is linked where its name leads to one entity now, or where
a person chose, and waits again when that is no more. So an answer can be taken back, and a fold
that made a name one can be reverted, in any order.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from numbers import Real
from typing import Final

from enfold import lookup, names
from enfold.errors import Invalid
from enfold.model import Extracted, Memory, NameInText, RelationInText
from enfold.names import Name
from enfold.ports import (
    NewFact,
    NewUnlinked,
    NewUnlinkedFact,
    Row,
    Tx,
    UnlinkedFact,
    UnlinkedName,
)

PREDICATE: Final = 100
"""Characters of a predicate."""

ASKED_BY: Final = "lookup"


@dataclass
class Linked:
    """What came of the names and relations of some texts.

    Attributes:
        rows: the rows made. unlinked: names that are linked to no entity. asked: questions about
            them. refused: names that can be none, and why.
    """

    mentions: int = 0
    facts: int = 0
    rows: list[int] = field(default_factory=list)
    minted: list[str] = field(default_factory=list)
    unlinked: list[str] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def sound(found: Extracted) -> Extracted:
    """What somebody says a text holds, looked at before any of it is written. A spelling that can
    be no name, such as a blank one, is for ``link`` to leave out.

    Raises:
        Invalid: ``bad_mention``, ``bad_fact``: what is no text where one belongs, or a confidence
            that is no number from 0 to 1.
    """
    return Extracted(
        tuple(_sound_name(one) for one in _each(found.names, "bad_mention", "names")),
        tuple(_sound_relation(one) for one in _each(found.relations, "bad_fact", "relations")),
        found.failed,
    )


def _each(listed: object, code: str, what: str) -> Iterable[object]:
    if not isinstance(listed, Iterable) or isinstance(listed, str | bytes):
        raise Invalid(code, f"{_short(listed)} is no list of {what}; give a tuple of them.")
    return listed


def _sound_name(one: object) -> NameInText:
    if not isinstance(one, NameInText):
        raise Invalid("bad_mention", f"{_short(one)} is no name in a text; give a NameInText.")
    if not isinstance(one.spelling, str):
        raise Invalid("bad_mention", f"A name is a text, and {_short(one.spelling)} is none.")
    if not isinstance(one.type, str | None):
        raise Invalid(
            "bad_mention",
            f"The type of a name is a text or None, and {_short(one.type)} is neither.",
        )
    return NameInText(one.spelling, one.type, _share(one.confidence, "bad_mention"))


def _sound_relation(one: object) -> RelationInText:
    if not isinstance(one, RelationInText):
        raise Invalid("bad_fact", f"{_short(one)} is no relation; give a RelationInText.")
    parts = (one.subject, one.predicate, one.object)
    for part in parts:
        if not isinstance(part, str):
            raise Invalid(
                "bad_fact",
                "The subject, predicate and object of a relation are texts, and "
                f"{_short(part)} is none.",
            )
    return RelationInText(*parts, _share(one.confidence, "bad_fact"))


def _share(said: object, code: str) -> float:
    # A number of another library, such as a float32, is one, and True is none.
    if isinstance(said, bool):
        said = None
    with suppress(OverflowError):
        if isinstance(said, Real) and 0 <= float(said) <= 1:  # false of NaN
            return float(said)
    raise Invalid(code, f"A confidence is a number from 0 to 1, and {_short(said)} is none.")


def _short(value: object) -> str:
    return reprlib.repr(value)


def link(tx: Tx, memory: Memory, found: Extracted, *, source_tag: str | None = None) -> Linked:
    """Write the edges of one memory.

    Args:
        source_tag: what the rows and facts are tagged with.
    """
    done = Linked()
    rows: dict[str, int | None] = {}
    kept = False
    for said in _each_once(found):
        name = _name(said, done)
        if name is None:
            continue
        if name.key not in rows:
            rows[name.key] = _row_of(tx, memory, name, done, source_tag)
        row = rows[name.key]
        if row is not None:
            done.mentions += tx.edges.add_mentions([(memory.id, row, name.spelling)])
        else:
            tx.unlinked.add([NewUnlinked(memory.id, name.key, name.spelling, name.type)])
            kept = True
    _relate(tx, memory, found, rows, done, source_tag)
    if kept:
        _place(tx, memory, done)
    return done


def _place(tx: Tx, memory: Memory, done: Linked) -> None:
    """Link what a person chose for names that fit several entities; the others wait."""
    leads = cache(partial(known_row, tx))
    for name in tx.unlinked.of(memory.id):
        row = leads(name.key)
        if name.row_id is None and row is None:
            done.unlinked.append(name.spelling)
        elif name.row_id is None:
            tx.unlinked.place(name, row)
            done.mentions += 1
    for fact in tx.unlinked.facts_of(memory.id):
        ends = _ends(leads, fact)
        if fact.subject_id is None and ends is not None:
            tx.unlinked.place_fact(fact, ends)
            done.facts += 1


def _each_once(found: Extracted) -> Iterable[NameInText]:
    """Every name, those of relations included; of several with one spelling the first."""
    once = {name.spelling: name for name in reversed(found.names)}
    for relation in found.relations:
        for end in (relation.subject, relation.object):
            once.setdefault(end, NameInText(end))
    first = {name.spelling: once[name.spelling] for name in found.names}
    return (first | once).values()


def _name(said: NameInText, done: Linked) -> Name | None:
    try:
        return Name.of(said.spelling, said.type)
    except Invalid as error:
        done.refused.append(str(error))
        return None


def _row_of(tx: Tx, memory: Memory, name: Name, done: Linked, source_tag: str | None) -> int | None:
    """The row that a name asserts by itself; None where it fits several entities, whatever a person
    chose, or is to make none."""
    rows = _rows(tx, name.key)
    if len(rows) > 1 and tx.questions.chosen(name.key) is not None:
        return None
    roots = {row.canonical_id for row in rows}
    if len(roots) == 1:
        return rows[0].id
    if roots:
        done.asked += _asked(tx, name.key, name.spelling, len(roots), memory.sealed_for)
        return None
    if memory.sealed_for is not None:
        return None
    entity, made = lookup.mint(tx, name, source_tag=source_tag)
    if made:
        done.rows.append(entity.id)
        done.minted.append(name.spelling)
    return entity.id


def wait(tx: Tx, memory_id: int, name: Name, *, fits: int) -> None:
    """Keep a name of a text that fits several entities, and ask which one is meant. Where that was
    answered it is linked when the transaction is committed."""
    tx.unlinked.add([NewUnlinked(memory_id, name.key, name.spelling, name.type)])
    _asked(tx, name.key, name.spelling, fits)


def _asked(tx: Tx, key: str, name: str, fits: int, sealed_for: str | None = None) -> list[int]:
    """Ask which entity a name means; nothing where that is asked, or a sealed memory would show."""
    if sealed_for is not None:
        return []
    reason = f"“{name}” fits {fits} entities, and a text names it without saying which."
    asked = tx.questions.ask_name(key, name, asked_by=ASKED_BY, reason=reason)
    return [] if asked is None else [asked]


def _relate(
    tx: Tx,
    memory: Memory,
    found: Extracted,
    rows: dict[str, int | None],
    done: Linked,
    source_tag: str | None,
) -> None:
    """Write the relations whose ends are linked; the others wait with their names."""
    for relation in found.relations:
        predicate = predicate_of(relation.predicate)
        keys = [Name(names.clean(end)).key for end in (relation.subject, relation.object)]
        if not predicate or keys[0] == keys[1] or not all(key in rows for key in keys):
            continue
        subject, target = rows[keys[0]], rows[keys[1]]
        if subject is not None and target is not None:
            fact = NewFact(
                memory.id,
                subject,
                predicate,
                target,
                confidence=relation.confidence,
                source_tag=source_tag,
            )
            done.facts += tx.edges.add_facts([fact])
            continue
        waiting = NewUnlinkedFact(
            memory.id,
            keys[0],
            names.clean(relation.subject),
            predicate,
            keys[1],
            names.clean(relation.object),
            relation.confidence,
            source_tag,
        )
        tx.unlinked.add_facts([waiting])


def predicate_of(written: str) -> str:
    """A predicate as it is stored."""
    return names.clean(written)[:PREDICATE].strip()


@dataclass
class Taken:
    """What became of the names and relations that are kept for a name, sealed memories not counted.

    Attributes:
        mentions, facts: linked now. waiting, waiting_facts: they were, and wait again.
    """

    mentions: int = 0
    facts: int = 0
    waiting: int = 0
    waiting_facts: int = 0


def settle(tx: Tx) -> None:
    """Link and let go what has changed since with its name; before every commit."""
    for key in tx.unlinked.unsettled():
        take_up(tx, key)


def take_up(tx: Tx, key: str) -> Taken:
    """Link what waits for a name where it leads to one entity, by itself or by a person's choice;
    what is linked and leads there no more waits again."""
    taken = Taken()
    leads = cache(partial(known_row, tx))
    row = leads(key)
    for name in tx.unlinked.misplaced(key, row):
        _take_up(tx, name, row, taken)
    for fact in tx.unlinked.misplaced_facts(key, row):
        _take_up_fact(tx, fact, _ends(leads, fact), taken)
    if row is None and not tx.questions.asked(key):
        _ask_again(tx, key)
    return taken


def _take_up(tx: Tx, name: UnlinkedName, row: int | None, taken: Taken) -> None:
    tx.unlinked.place(name, row)
    if not name.sealed:
        taken.mentions += row is not None
        taken.waiting += row is None


def _take_up_fact(tx: Tx, fact: UnlinkedFact, ends: tuple[int, int] | None, taken: Taken) -> None:
    was = None if fact.subject_id is None else (fact.subject_id, fact.object_id)
    if was == ends:
        return
    tx.unlinked.place_fact(fact, ends)
    if not fact.sealed:
        taken.facts += ends is not None
        taken.waiting_facts += ends is None


def _ends(leads: Callable[[str], int | None], fact: UnlinkedFact) -> tuple[int, int] | None:
    """The rows a relation lies between; None while one of them is to be chosen."""
    subject, target = leads(fact.said.subject_key), leads(fact.said.object_key)
    return None if subject is None or target is None else (subject, target)


def _ask_again(tx: Tx, key: str) -> None:
    """The question went with the entity that was chosen, and what it linked waits."""
    name = tx.unlinked.first(key)
    fits = len({row.canonical_id for row in _rows(tx, key)})
    if name is not None and fits > 1:
        _asked(tx, key, name, fits)


def _rows(tx: Tx, key: str) -> list[Row]:
    # Bare: an entity's mentions are counted when it is read, and a hub has thousands.
    return tx.entities.rows([key]).get(key, [])


def known_row(tx: Tx, key: str) -> int | None:
    """The row a name leads to: that which a person chose for texts, else the only one."""
    rows = _rows(tx, key)
    chosen = tx.questions.chosen(key) if len(rows) > 1 else None
    if chosen is not None and any(row.id == chosen for row in rows):
        return chosen
    return rows[0].id if len({row.canonical_id for row in rows}) == 1 else None


def linked(parts: Sequence[Linked]) -> Linked:
    """The sum of several."""
    total = Linked()
    for part in parts:
        total.mentions += part.mentions
        total.facts += part.facts
        total.rows += part.rows
        total.minted += part.minted
        total.unlinked += part.unlinked
        total.asked += part.asked
        total.refused += part.refused
    return total
