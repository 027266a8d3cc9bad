"""A graph from elsewhere, piece by piece, into memories, entities and facts.

What becomes of a record:

- an entity's name leads to its row, or mints one; names lead through their rows, so that folds,
  renames and decisions made since stand
- each observation becomes a memory that mentions its entity first, then every other known name in
  its text
- each relation becomes a memory with one fact between its ends; an end that nothing else names is
  minted, and listed
- an alias that nothing else is called becomes an alias of its entity

Everything is told from what was there: one observation of one entity is stored once, whoever brings
it how often. Nothing is folded by a rule, and what can't be taken is kept with the run.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import IO, Any, Final

from enfold import folds, lookup, names
from enfold.errors import Invalid
from enfold.model import (
    DecidedBy,
    EntityRecord,
    Imported,
    Memory,
    Mention,
    Note,
    Proposal,
    Record,
    RelationRecord,
    SetAside,
    Verdict,
)
from enfold.names import Name
from enfold.ports import NewFact, NewMemory, NewRow, Progress, Row, Tx
from enfold.spotting import Spotter, phrases

TAG: Final = "import"
RELATION_TAG: Final = "import:relation"
RELATED: Final = "related to"
"""The predicate of a relation whose source gives it none."""

BATCH: Final = 1_000
PAGE_BYTES: Final = 4 * 1024 * 1024
SHOWN: Final = 200
ORDINARY: Final = 10
"""A name that is a word in lower case is taken as the word where it stands in more texts of an
import than this and than one in fifty."""

LOOKUPS: Final = 20_000
"""Runs of text that are looked up in one statement."""

SAMPLE: Final = 5_000
"""Characters by which it is told how many runs the texts have."""

RUNS_A_NAME: Final = 4
"""As many runs are looked up in the time that one name of the graph takes to be read for the
automaton over all of them."""

_Alias = tuple[EntityRecord, Name, Name]
"""An alias: the record that gives it, the entity's name, the alias."""

_Edge = tuple[int, int, str]
"""A mention: memory, row, spelling as written."""


def statement(subject: str, predicate: str, target: str) -> str:
    """The text of a relation that has none of its own."""
    return f"{subject} {predicate} {target}"


def intake(
    tx: Tx,
    records: Iterable[Record],
    *,
    source: str,
    format: str,
    progress: Progress | None = None,
    keep: int = 1_000,
) -> Imported:
    """Take the records of one file into the graph.

    Args:
        tx: a write transaction; all or nothing of the file is in it.
        source: the file's name, kept as each memory's source.
        format: the name of the format it was read as.
        progress: called with ("entities" | "relations" | "mentions", done, total or 0).
        keep: how many notes and how many pieces set aside the answer lists, their texts cut to
            200 characters; all of them are kept whole with the run.
    """
    run = _Intake(tx, source, progress, keep)
    with tempfile.TemporaryFile("w+", encoding="utf-8") as later:
        run.entities(records, later)
        later.seek(0)
        run.aliases_and_relations(later)
    run.mentions()
    return run.finish(format)


@dataclass
class _Counts:
    records: int = 0
    entities: int = 0
    known: int = 0
    memories: int = 0
    mentions: int = 0
    facts: int = 0
    aliases: int = 0
    notes: int = 0
    set_aside: int = 0


@dataclass
class _Kept:
    """The pieces of a run: all of them stored, the first few to be shown."""

    tx: Tx
    run_id: int
    keep: int
    shown: list[SetAside] = field(default_factory=list)
    count: int = 0
    _waiting: list[SetAside] = field(default_factory=list)
    _size: int = 0

    def add(self, piece: SetAside) -> None:
        self.count += 1
        piece = replace(piece, text=_storable(piece.text))
        if len(self.shown) < self.keep:
            text = piece.text if len(piece.text) <= SHOWN else piece.text[:SHOWN] + "…"
            self.shown.append(SetAside(piece.source, piece.line, piece.reason, text))
        self._waiting.append(piece)
        self._size += len(piece.text)
        if len(self._waiting) >= BATCH or self._size > PAGE_BYTES:
            self.flush()

    def flush(self) -> None:
        self.tx.runs.set_aside(self.run_id, self._waiting)
        self._waiting, self._size = [], 0

    def listed(self, source: str) -> tuple[SetAside, ...]:
        if self.count == len(self.shown):
            return tuple(self.shown)
        more = f"{self.count - len(self.shown):,} more, kept with run {self.run_id}."
        return (*self.shown, SetAside(source, 0, more, ""))


class _Intake:
    """One import. Records come in batches; what must wait until every entity is known (aliases and
    relations) waits in a file."""

    def __init__(self, tx: Tx, source: str, progress: Progress | None, keep: int) -> None:
        self.tx, self.source, self.progress = tx, source, progress
        self.counts = _Counts()
        self.run_id = tx.runs.start("import")
        self.aside = _Kept(tx, self.run_id, keep)
        self.notes = _Kept(tx, self.run_id, keep)
        self.minted: list[str] = []
        self.other_ids: dict[str, Row] = {}  # second ids of names, that relations may use
        self.characters = 0
        self.first_new = tx.edges.last_memory()
        self.seen_known: set[int] = set()
        self.first_made: int | None = None  # ids grow: what is below was there before

    # ---- what every step needs ----

    def tell(self, what: str, done: int, total: int = 0) -> None:
        if self.progress is not None:
            self.progress(what, done, total)

    def set_aside(self, line: int, reason: str, text: str) -> None:
        self.aside.add(SetAside(self.source, line, reason, text))

    def note(self, line: int, reason: str, text: str) -> None:
        self.notes.add(SetAside(self.source, line, reason, text))

    def named(self, record: EntityRecord | RelationRecord, spelling: str) -> Name | None:
        """The name, or None for one that can't be: its record is set aside."""
        try:
            return Name.of(spelling)
        except Invalid as error:
            self.set_aside(record.line, str(error), _as_text(record))
            return None

    # ---- entities ----

    def entities(self, records: Iterable[Record], later: IO[str]) -> None:
        batch: list[tuple[EntityRecord, Name]] = []
        size = 0
        for record in records:
            self.counts.records += 1
            if isinstance(record, Note):
                self.notes.add(record)
            elif isinstance(record, SetAside):
                self.aside.add(record)
            elif isinstance(record, RelationRecord):
                later.write(_packed(record))
            elif name := self.named(record, record.name):
                batch.append((record, name))
                size += 1 + len(record.observations)
                if record.aliases:
                    later.write(_packed(replace(record, observations=(), attributes={})))
            if size >= BATCH:
                self._take(batch)
                batch, size = [], 0
                self.tell("entities", self.counts.records)
        self._take(batch)
        self.tell("entities", self.counts.records)

    def _take(self, batch: Sequence[tuple[EntityRecord, Name]]) -> None:
        if not batch:
            return
        rows = self._minted(batch)
        taken = []
        for record, name in batch:
            if row := self._row(rows[name.key], record.foreign_id):
                taken.append((record, name, row))
            else:
                why = f"{name.spelling!r} is the name of several entities here; give the id of one."
                self.set_aside(record.line, why, _as_text(record))
        self._describe(taken)
        self._observe(taken)

    def _minted(self, batch: Sequence[tuple[EntityRecord, Name]]) -> dict[str, list[Row]]:
        """Every row of the batch's names, those that had none made from their first record."""
        rows = self.tx.entities.rows(list({name.key for _, name in batch}))
        new: dict[str, NewRow] = {}
        for record, name in batch:
            if name.key in rows:
                self.seen_known.update(row.id for row in rows[name.key] if self._was_here(row))
            elif name.key not in new:
                new[name.key] = NewRow(
                    name,
                    type=_type(record.type),
                    source_tag=TAG,
                    foreign_id=record.foreign_id,
                    attributes=record.attributes or None,
                )
        return rows | self._made(new)

    def _was_here(self, row: Row) -> bool:
        return self.first_made is None or row.id < self.first_made

    def _made(self, new: dict[str, NewRow]) -> dict[str, list[Row]]:
        ids = lookup.mint_many(self.tx, list(new.values()))
        self.counts.entities += len(ids)
        made: dict[str, list[Row]] = {}
        for (key, row), row_id in zip(new.items(), ids, strict=True):
            self.first_made = self.first_made or row_id
            made[key] = [
                Row(row_id, row.name.spelling, key, 0, row.type, False, row_id, row.foreign_id)
            ]
        return made

    @staticmethod
    def _row(rows: Sequence[Row], foreign_id: str | None) -> Row | None:
        """The row that a name asserts: the lowest sense where all are one entity, else the one
        with the id; None where that leaves several."""
        if len({row.canonical_id for row in rows}) > 1:
            rows = [row for row in rows if foreign_id is not None and row.foreign_id == foreign_id]
        if len({row.canonical_id for row in rows}) != 1:
            return None
        return rows[0]

    def _describe(self, taken: Sequence[tuple[EntityRecord, Name, Row]]) -> None:
        """Types, ids and attributes of names that were known: the first value stands."""
        self._shared_ids(taken)
        types: dict[int, str | None] = {row.id: row.type for _, _, row in taken}
        ids: dict[int, str | None] = {row.id: row.foreign_id for _, _, row in taken}
        has = self.tx.entities.attributes_many([r.id for e, _, r in taken if e.attributes])
        changed: dict[int, dict[str, Any]] = {}
        for record, name, row in taken:
            self._retype(record, name, row, types)
            self._reidentify(record, name, row, ids)
            if record.attributes:
                known = changed.get(row.id, has.get(row.id, {}))
                self._differing(record.line, name.spelling, record.attributes, known)
                if record.attributes.keys() - known.keys():
                    changed[row.id] = record.attributes | known
        for row_id, attributes in changed.items():
            self.tx.entities.set_attributes(row_id, attributes)

    def _retype(
        self, record: EntityRecord, name: Name, row: Row, types: dict[int, str | None]
    ) -> None:
        said, known = _type(record.type), types[row.id]
        if said is None or row.alias_only:
            return
        if known is None:
            types[row.id] = said
            self.tx.entities.set_type(row.id, said)
            self.tx.entities.forget_examined([row.id])
        elif known.casefold() != said.casefold():
            why = f"{name.spelling!r} has the type {known!r}, which is kept; here it is {said!r}."
            self.note(record.line, why, _json({"type": said}))

    def _reidentify(
        self, record: EntityRecord, name: Name, row: Row, ids: dict[int, str | None]
    ) -> None:
        said, known = record.foreign_id, ids[row.id]
        if said is None or said == known:
            return
        if known is None:
            ids[row.id] = said
            self.tx.entities.set_foreign_id(row.id, said)
        else:
            self.other_ids[said] = row
            why = (
                f"{name.spelling!r} has the id {known!r}, which is kept; here it is {said!r}, "
                "which relations of this import may use too."
            )
            self.note(record.line, why, _json({"id": said}))

    def _shared_ids(self, taken: Sequence[tuple[EntityRecord, Name, Row]]) -> None:
        """An id that two names share is no reason to fold them, and worth saying."""
        said = {record.foreign_id for record, _, _ in taken if record.foreign_id is not None}
        owners = self.tx.entities.rows_by_foreign_id(sorted(said))
        for record, name, row in taken:
            for owner in owners.get(record.foreign_id or "", ()):
                if owner.canonical_id != row.canonical_id:
                    why = (
                        f"{name.spelling!r} has the id {record.foreign_id!r}, which is also that "
                        f"of {owner.spelling!r}; they stay two."
                    )
                    self.note(record.line, why, _json({"id": record.foreign_id}))
                    break

    def _differing(self, line: int, what: str, said: dict[str, Any], known: dict[str, Any]) -> None:
        differing = {
            key: value for key, value in said.items() if key in known and known[key] != value
        }
        if differing:
            keys = ", ".join(sorted(differing))
            why = f"{what!r} is known with another {keys}; the first is kept."
            self.note(line, why, _json(differing))

    def _observe(self, taken: Sequence[tuple[EntityRecord, Name, Row]]) -> None:
        said: dict[str, tuple[str, Name, Row]] = {}
        for record, name, row in taken:
            for text in record.observations:
                said.setdefault(_caller("obs", name.key, text), (text, name, row))
        for callers in _batches(list(said)):
            known = self.tx.edges.known_callers(callers)
            new = [(caller, *said[caller]) for caller in callers if caller not in known]
            ids = self.tx.edges.add_memories(
                [NewMemory(text, self.source, TAG, caller) for caller, text, _, _ in new]
            )
            self._came_in([text for _, text, _, _ in new])
            self.counts.mentions += self.tx.edges.add_mentions(
                [(i, row.id, name.spelling) for i, (_, _, name, row) in zip(ids, new, strict=True)]
            )

    def _came_in(self, texts: Sequence[str]) -> None:
        self.counts.memories += len(texts)
        self.characters += sum(map(len, texts))

    # ---- aliases and relations ----

    def aliases_and_relations(self, later: IO[str]) -> None:
        """Aliases first: a relation may name its end by one."""
        aliases: list[_Alias] = []
        for record in _unpacked(later, EntityRecord):
            assert isinstance(record, EntityRecord)
            for spelling in record.aliases:
                if alias := self.named(replace(record, aliases=(spelling,)), spelling):
                    aliases.append((record, Name.of(record.name), alias))
            if len(aliases) >= BATCH:
                self._call(aliases)
                aliases = []
        self._call(aliases)
        later.seek(0)
        done, batch = 0, []
        for record in _unpacked(later, RelationRecord):
            assert isinstance(record, RelationRecord)
            batch.append(record)
            if len(batch) >= BATCH // 2:
                self._relate(batch)
                done += len(batch)
                batch = []
                self.tell("relations", done)
        self._relate(batch)
        if done or batch:
            self.tell("relations", done + len(batch))

    def _call(self, aliases: Sequence[_Alias]) -> None:
        """Let aliases that nothing else is called lead to their entities."""
        keys = {name.key for _, *both in aliases for name in both}
        rows = self.tx.entities.rows(sorted(keys))
        new: dict[str, tuple[_Alias, Row]] = {}
        for asked in aliases:
            record, name, alias = asked
            owner = self._row(rows[name.key], record.foreign_id)
            if owner is None:
                continue  # set aside with its entity
            others: Sequence[Row] = rows.get(alias.key, [])
            if alias.key in new and new[alias.key][1].canonical_id != owner.canonical_id:
                others = [new[alias.key][1]]
            if not others:
                new.setdefault(alias.key, (asked, owner))
            elif all(row.canonical_id != owner.canonical_id for row in others):
                why = f"it is a name of {others[0].spelling!r} here"
                self._not_called(asked, f"{why}; the two are not folded.")
        self._fold(list(new.values()))

    def _fold(self, new: Sequence[tuple[_Alias, Row]]) -> None:
        ids = lookup.mint_many(
            self.tx,
            [
                NewRow(alias, type=owner.type, alias_only=True, source_tag=TAG)
                for (_, _, alias), owner in new
            ],
        )
        steps: dict[int, tuple[_Alias, Proposal]] = {}
        for row_id, (asked, owner) in zip(ids, new, strict=True):
            why = f"{self.source} gives “{asked[2].spelling}” as an alias."
            proposal = Proposal(row_id, owner.id, Verdict.FOLD, folds.IMPORTED, 1.0, why)
            steps[row_id] = asked, proposal
        batch = folds.fold_batch(
            self.tx,
            [proposal for _, proposal in steps.values()],
            decided_by=DecidedBy.IMPORT,
            run_id=self.run_id,
        )
        self.counts.aliases += len(batch.folds)
        for refused in batch.refused:
            self._not_called(steps[refused.proposal.left_id][0], refused.reason)
        # A decision outlived its row; no row comes back by asking again.
        self.tx.entities.delete([refused.proposal.left_id for refused in batch.refused])

    def _not_called(self, asked: _Alias, reason: str) -> None:
        record, _, alias = asked
        why = f"The alias {alias.spelling!r} of {record.name!r} is not taken: {reason}"
        self.note(record.line, why, _json({"aliases": [alias.spelling]}))

    def _relate(self, batch: Sequence[RelationRecord]) -> None:
        ends = []
        for record in batch:
            subject, target = self.named(record, record.subject), None
            if subject is not None:
                target = self.named(record, record.object)
            if subject is not None and target is not None:
                ends.append((record, subject, target))
        rows = self._ends([name for _, *both in ends for name in both])
        said: dict[str, list[_Relation]] = {}
        for record, subject, target in ends:
            left, right = self._row(rows[subject.key], None), self._row(rows[target.key], None)
            if left is None or right is None:
                name = subject if left is None else target
                why = f"{name.spelling!r} fits several entities here; it is linked to none."
                self.set_aside(record.line, why, _as_text(record))
                continue
            made = _relation(record, subject, left, target, right)
            said.setdefault(made.caller, []).append(made)
        self._state(said)

    def _ends(self, ends: Sequence[Name]) -> dict[str, list[Row]]:
        """The rows of relation ends: by name, else by a foreign id, else minted."""
        by_key = {name.key: name for name in ends}
        rows = self.tx.entities.rows(list(by_key))
        missing = {key: name for key, name in by_key.items() if key not in rows}
        by_id = self.tx.entities.rows_by_foreign_id([name.spelling for name in missing.values()])
        new: dict[str, NewRow] = {}
        for key, name in missing.items():
            if name.spelling in by_id:
                rows[key] = by_id[name.spelling]
            elif name.spelling in self.other_ids:
                rows[key] = [self.other_ids[name.spelling]]
            else:
                new[key] = NewRow(name, source_tag=RELATION_TAG)
                self.minted.append(name.spelling)
        return rows | self._made(new)

    def _state(self, said: dict[str, list[_Relation]]) -> None:
        known = self.tx.edges.known_callers(list(said))
        self._describe_facts({caller: said[caller] for caller in said if caller in known})
        new = [(same[0], self._united(same, {})) for c, same in said.items() if c not in known]
        ids = self.tx.edges.add_memories(
            [NewMemory(r.text, self.source, RELATION_TAG, r.caller) for r, _ in new]
        )
        self._came_in([relation.text for relation, _ in new])
        mentions: list[tuple[int, int, str]] = []
        facts: list[NewFact] = []
        for memory_id, (relation, attributes) in zip(ids, new, strict=True):
            for row_id, spelling in relation.ends:
                mentions.append((memory_id, row_id, spelling))
            facts.append(
                NewFact(
                    memory_id,
                    relation.ends[0][0],
                    relation.predicate,
                    relation.ends[1][0],
                    confidence=relation.confidence,
                    source_tag=RELATION_TAG,
                    attributes=attributes or None,
                )
            )
        self.counts.mentions += self.tx.edges.add_mentions(mentions)
        self.counts.facts += self.tx.edges.add_facts(facts)

    def _describe_facts(self, known: dict[str, list[_Relation]]) -> None:
        """Attributes of relations that were known: the first value stands."""
        callers = [caller for caller, same in known.items() if any(r.attributes for r in same)]
        for caller, (fact_id, has) in self.tx.edges.fact_attributes(callers).items():
            union = self._united(known[caller], has)
            if union.keys() - has.keys():
                self.tx.edges.set_fact_attributes(fact_id, union)

    def _united(self, same: Sequence[_Relation], has: dict[str, Any]) -> dict[str, Any]:
        for relation in same:
            (_, subject), (_, target) = relation.ends
            what = statement(subject, relation.predicate, target)
            self._differing(relation.line, what, relation.attributes, has)
            has = relation.attributes | has
        return has

    # ---- names in texts ----

    def mentions(self) -> None:
        """Every other known name that stands in a text that came in."""
        total = self.counts.memories
        if not total:
            return
        known_names = _Known(self.tx, self.characters)
        words = _Words(limit=max(ORDINARY, total // 50))
        after, done = self.first_new, 0
        while page := self.tx.edges.memory_page(after=after, limit=BATCH):
            after = page[-1][0].id
            done += len(page)
            found: list[_Edge] = []
            told = [(memory, known) for memory, known in page if not _is_plain(memory, known)]
            spotter = known_names.in_texts([memory.content for memory, _ in told])
            for memory, known in told:
                for edge, word in self._others(spotter, memory, known):
                    if word:
                        words.add(edge)
                    else:
                        found.append(edge)
            self.counts.mentions += self.tx.edges.add_mentions(found)
            self.tell("mentions", done, total)
        self.counts.mentions += self.tx.edges.add_mentions(words.names())
        for spelling, count in words.ordinary():
            share = f"{count:,} of {total:,} texts"
            why = f"{spelling!r} stands in {share}, as an ordinary word: not linked."
            self.note(0, why, "")

    def _others(
        self, spotter: Spotter, memory: Memory, known: Sequence[Mention]
    ) -> Iterator[tuple[_Edge, bool]]:
        seen = {mention.asserted_id for mention in known}
        for spotted in spotter.spot(memory.content):
            row_id = self._one(spotted.ids)
            if row_id is not None and row_id not in seen:
                seen.add(row_id)
                yield (memory.id, row_id, spotted.spelling), spotted.word

    def _one(self, ids: tuple[int, ...]) -> int | None:
        """The row of a name in a text; None where it fits several entities: linked to none."""
        if len(ids) == 1:
            return ids[0]
        rows = self.tx.entities.many(ids)
        return min(ids) if len({row.canonical_id for row in rows.values()}) == 1 else None

    # ---- the end ----

    def finish(self, format: str) -> Imported:
        self.aside.flush()
        self.notes.flush()
        self.counts.known = len(self.seen_known)
        self.counts.notes, self.counts.set_aside = self.notes.count, self.aside.count
        report = {"source": self.source, "format": format, "minted": len(self.minted)}
        self.tx.runs.finish(self.run_id, report | asdict(self.counts))
        return Imported(
            run_id=self.run_id,
            source=self.source,
            format=format,
            entities=self.counts.entities,
            known=self.counts.known,
            memories=self.counts.memories,
            mentions=self.counts.mentions,
            facts=self.counts.facts,
            aliases=self.counts.aliases,
            minted=tuple(self.minted),
            notes=self.notes.listed(self.source),
            set_aside=self.aside.listed(self.source),
        )


class _Known:
    """The known names that may stand in texts, so that an import costs what it brings: 100 texts
    took 4 s and 300 MiB in a graph of 300,000 names while every import read all of them."""

    def __init__(self, tx: Tx, characters: int) -> None:
        self._tx, self._characters = tx, characters
        self._few: bool | None = None
        self._every: Spotter | None = None

    def in_texts(self, texts: Sequence[str]) -> Spotter:
        """A spotter that finds in these texts what one over every name finds."""
        if self._few is None and texts:
            self._few = self._are_few(texts)
        if self._few or not texts:
            return Spotter(sorted(set(self._looked_up(texts))))
        if self._every is None:
            self._every = Spotter((row[0], row[1]) for row in self._tx.entities.spellings())
        return self._every

    def _are_few(self, texts: Sequence[str]) -> bool:
        """Whether looking up the runs of all that came in takes less than reading every name; how
        many there are is told by the first texts (a text in Han has fifteen times as many)."""
        sample = "\n".join(text[:SAMPLE] for text in texts[:BATCH])[:SAMPLE]
        runs = sum(1 for _ in phrases(sample)) / max(1, len(sample))
        return self._characters * runs < self._tx.entities.last() * RUNS_A_NAME

    def _looked_up(self, texts: Sequence[str]) -> Iterator[tuple[int, str]]:
        keys: set[str] = set()
        for key in itertools.chain.from_iterable(map(phrases, texts)):
            keys.add(key)
            if len(keys) >= LOOKUPS:
                yield from self._of_keys(keys)
                keys = set()
        yield from self._of_keys(keys)

    def _of_keys(self, keys: set[str]) -> Iterator[tuple[int, str]]:
        for rows in self._tx.entities.rows(list(keys)).values():
            yield from ((row.id, row.spelling) for row in rows)


class _Words:
    """Mentions by names that are words in lower case: names while they are rare in the texts that
    came in, ordinary words above the limit (``documentation`` was 15 of the 17 mentions that one
    real graph would have got)."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._edges: dict[int, list[_Edge]] = {}
        self._counts: dict[int, int] = {}
        self._spellings: dict[int, str] = {}

    def add(self, edge: _Edge) -> None:
        row_id = edge[1]
        self._counts[row_id] = self._counts.get(row_id, 0) + 1
        self._spellings.setdefault(row_id, edge[2])
        if self._counts[row_id] <= self._limit:
            self._edges.setdefault(row_id, []).append(edge)
        else:
            self._edges.pop(row_id, None)

    def names(self) -> list[_Edge]:
        return sorted(edge for edges in self._edges.values() for edge in edges)

    def ordinary(self) -> list[tuple[str, int]]:
        return [
            (self._spellings[row_id], count)
            for row_id, count in self._counts.items()
            if count > self._limit
        ]


@dataclass(frozen=True, slots=True)
class _Relation:
    """A relation whose ends are rows: (row id, spelling as written) of each."""

    line: int
    caller: str
    text: str
    predicate: str
    confidence: float
    ends: tuple[tuple[int, str], tuple[int, str]]
    attributes: dict[str, Any]


def _relation(
    record: RelationRecord, subject: Name, left: Row, target: Name, right: Row
) -> _Relation:
    predicate = names.clean(record.predicate) or RELATED
    text = record.text or statement(subject.spelling, predicate, target.spelling)
    caller = _caller("rel", subject.key, predicate, target.key, record.text or "")
    ends = ((left.id, subject.spelling), (right.id, target.spelling))
    return _Relation(
        record.line, caller, text, predicate, record.confidence, ends, record.attributes
    )


def _is_plain(memory: Memory, known: Sequence[Mention]) -> bool:
    """Whether a relation's text is made of its ends and its type alone: its type, read back out of
    the text, gives the caller id of a relation without a text of its own."""
    if memory.source_tag != RELATION_TAG or not known:
        return False
    subject, target = known[0].spelling, known[-1].spelling
    predicate = memory.content[len(subject) + 1 : -len(target) - 1]
    caller = _caller("rel", Name.of(subject).key, predicate, Name.of(target).key, "")
    return memory.caller_id == caller


def _caller(kind: str, *parts: str) -> str:
    """What makes a piece the same piece the next time it comes."""
    digest = hashlib.blake2b("\0".join(parts).encode(), digest_size=16)
    return f"{kind}:{digest.hexdigest()}"


def _type(written: str | None) -> str | None:
    return names.clean(written) or None if written else None


def _batches(callers: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(callers), BATCH):
        yield callers[start : start + BATCH]


def _storable(text: str) -> str:
    """What no text column holds (NUL, half a surrogate pair), written as an escape."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _as_text(record: EntityRecord | RelationRecord) -> str:
    """A record as a piece to keep: every field that says something."""
    said = {key: value for key, value in asdict(record).items() if value and key != "line"}
    return _json(said)


def _packed(record: EntityRecord | RelationRecord) -> str:
    return json.dumps([type(record) is EntityRecord, asdict(record)]) + "\n"


def _unpacked(file: IO[str], kind: type[EntityRecord] | type[RelationRecord]) -> Iterator[Record]:
    for line in file:
        is_entity, said = json.loads(line)
        if is_entity == (kind is EntityRecord):
            if is_entity:
                said["observations"] = ()
                said["aliases"] = tuple(said["aliases"])
            yield kind(**said)
