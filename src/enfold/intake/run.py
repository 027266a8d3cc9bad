"""One import under way: what every step of it needs."""

from __future__ import annotations

import hashlib
import json
from array import array
from dataclasses import asdict, dataclass
from typing import Any, Final

from enfold import names
from enfold.errors import Invalid
from enfold.intake.kept import Kept
from enfold.model import EntityRecord, IdentityRecord, Imported, RelationRecord, SetAside
from enfold.names import Name
from enfold.ports import Progress, Row, Tx

TAG: Final = "import"
RELATION_TAG: Final = "import:relation"

BATCH: Final = 1_000

Named = EntityRecord | RelationRecord | IdentityRecord


@dataclass
class Counts:
    """What came of it so far."""

    records: int = 0
    entities: int = 0
    known: int = 0
    memories: int = 0
    mentions: int = 0
    facts: int = 0
    aliases: int = 0
    folds: int = 0
    apart: int = 0
    senses: int = 0
    notes: int = 0
    set_aside: int = 0


class Run:
    """One import: its transaction, its source, what it counted and what it keeps.

    Attributes:
        trust_ids: whether two ids of one name are two things.
        minted: names made only because a relation or an identity named them.
        other_ids: second ids of names, that relations may use too.
        plain: ids of the memories that came in and say a relation in its own words alone; they
            grow.
        characters: how many the texts have that came in.
        first_new: the highest memory id before it.
    """

    def __init__(
        self, tx: Tx, source: str, progress: Progress | None, keep: int, trust_ids: bool
    ) -> None:
        self.tx, self.source, self.progress = tx, source, progress
        self.trust_ids = trust_ids
        self.counts = Counts()
        self.run_id = tx.runs.start("import")
        self.aside = Kept(tx, self.run_id, keep)
        self.notes = Kept(tx, self.run_id, keep)
        self.minted: list[str] = []
        self.other_ids: dict[str, Row] = {}
        self.plain: array[int] = array("q")
        self.characters = 0
        self.first_new = tx.memories.last()
        self._seen_known: set[int] = set()
        self._first_made: int | None = None  # ids grow: what is below was there before

    def tell(self, what: str, done: int, total: int = 0) -> None:
        if self.progress is not None:
            self.progress(what, done, total)

    def set_aside(self, line: int, reason: str, text: str) -> None:
        self.aside.add(SetAside(self.source, line, reason, text))

    def note(self, line: int, reason: str, text: str = "") -> None:
        self.notes.add(SetAside(self.source, line, reason, text))

    def named(self, record: Named, spelling: str) -> Name | None:
        """The name, or None for one that can't be: its record is set aside."""
        try:
            return Name.of(spelling)
        except Invalid as error:
            self.set_aside(record.line, str(error), as_text(record))
            return None

    def differing(self, line: int, what: str, said: dict[str, Any], known: dict[str, Any]) -> None:
        """Note the values that another stands for already."""
        differing = {
            key: value for key, value in said.items() if key in known and known[key] != value
        }
        if differing:
            keys = ", ".join(sorted(differing))
            why = f"{what!r} is known with another {keys}; the first is kept."
            self.note(line, why, as_json(differing))

    def made(self, ids: list[int]) -> None:
        """Rows were made."""
        self.counts.entities += len(ids)
        if ids and self._first_made is None:
            self._first_made = ids[0]

    def met(self, row: Row) -> None:
        """An entity record named this row."""
        if not self._is_new(row):
            self._seen_known.add(row.id)

    def touched(self, row: Row) -> bool:
        """Whether this import made the row, or an entity record of it named it."""
        return self._is_new(row) or row.id in self._seen_known

    def _is_new(self, row: Row) -> bool:
        return self._first_made is not None and row.id >= self._first_made

    def came_in(self, texts: list[str]) -> None:
        """Memories were made of these texts."""
        self.counts.memories += len(texts)
        self.characters += sum(map(len, texts))

    def finish(self, format: str) -> Imported:
        self.aside.flush()
        self.notes.flush()
        self.counts.known = len(self._seen_known)
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
            folds=self.counts.folds,
            apart=self.counts.apart,
            senses=self.counts.senses,
            minted=tuple(self.minted),
            notes=self.notes.listed(self.source),
            set_aside=self.aside.listed(self.source),
        )


def caller(kind: str, *parts: str) -> str:
    """What makes a piece the same piece the next time it comes."""
    digest = hashlib.blake2b("\0".join(parts).encode(), digest_size=16)
    return f"{kind}:{digest.hexdigest()}"


def at(name: Name, row: Row, said: str | None = None) -> str:
    """What a name stands for in a caller id: its key, and which of several of that key.

    Args:
        said: the source's own id by which the row was found.
    """
    if row.key != name.key:
        return name.key if said is None else f"{name.key}\1{row.key}\1{row.sense}"
    return f"{name.key}\1{row.sense}" if row.sense else name.key


def type_of(written: str | None) -> str | None:
    """A type as it is stored."""
    return names.clean(written) or None if written else None


def as_json(value: object) -> str:
    """A value as a piece to keep."""
    return json.dumps(value, ensure_ascii=False)


def as_text(record: Named) -> str:
    """A record as a piece to keep: every field that says something."""
    said = {key: value for key, value in asdict(record).items() if value and key != "line"}
    return as_json(said)
