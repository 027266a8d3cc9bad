"""What mem0 gives out as JSON: texts with an owner, and relations between names.

Read are the answers of its ``get_all`` and ``search`` (``{"results": [...], "relations": [...]}``,
also a bare list, a page with ``count`` and ``next``, or one object a line), the points of its
vector store (``{"id": ..., "payload": {"data": ...}}``), and the ``memories.json`` and
``memories.jsonl`` of an OpenMemory export. A memory has no name of its own: it becomes an
observation of its owner, the user, agent, app or run that its ids name. Relations are relations;
their ends have the types that stand beside them. What mem0 keeps beside a text (its id, its
categories, its times) has no place in an observation; a note says how many there were.

Nothing is written in this form: mem0 reads none of it back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from enfold.formats.source import Source
from enfold.formats.values import Value, in_document, in_lines, is_share, storable_value, top
from enfold.model import EntityRecord, Note, Record, RelationRecord, SetAside

NAME: Final = "mem0"

MEMORY_LISTS: Final = frozenset({"results", "memories"})
LISTS: Final = MEMORY_LISTS | {"relations", "entities"}
TEXTS: Final = ("memory", "data", "content", "text")
OWNERS: Final = {"user_id": "person", "agent_id": "agent", "app_id": "app", "run_id": "session"}
"""The ids that name an owner, the first that is there counting, and what is then known of it."""

NOBODY: Final = "user"
"""The owner of memories that name none."""

GONE: Final = frozenset({"deleted", "delete"})

_ABOUT: Final = frozenset(
    "user users apps categories memory_categories status_history access_controls export_meta "
    "count next previous page page_size total pages size limit offset version cost "
    "latency".split()
)
"""Members of a document that hold no memory."""

_BESIDE: Final = frozenset({"hash", "state", "categories", "metadata", "run_id", "app_id"})
_PREDICATES: Final = ("relationship", "relation", "relation_type", "type")
_TARGETS: Final = ("target", "destination")
_LOOKED_AT: Final = 16_384  # characters of an object
_TYPED: Final = 100_000  # ends whose type was said once; more are said again, which changes nothing


# ---- what a file is ----


def recognises(head: bytes, path: Path | None = None) -> bool:
    """Whether a JSON text is of mem0: a list under ``results`` or ``memories``, a bare list, or
    lines, whose first objects are memories of its kind."""
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if text.startswith("["):
        return _first_is_memory(text)
    if not text.startswith("{"):
        return False
    keys = top(text)
    if _is_memory(keys):
        return True
    if {"user", "apps"} <= keys.keys() and keys.keys() & {"categories", "memories"}:
        return True
    for key in MEMORY_LISTS & keys.keys():
        found = re.search(rf'"{key}"\s*:\s*\[\s*(?:(\{{)|\])', text)
        if found and found.group(1) and _is_memory(top(text[found.start(1) :][:_LOOKED_AT])):
            return True
        if found and not found.group(1):  # no memories, but what its graph gives
            return "relations" in keys and '"relationship"' in text
    return False


def _first_is_memory(text: str) -> bool:
    start = text.find("{")
    return start >= 0 and _is_memory(top(text[start:][:_LOOKED_AT]))


def _is_memory(data: dict[str, Any]) -> bool:
    """Whether an object has the keys of a memory."""
    keys = data.keys()
    if {"name", "entityType"} <= keys or {"from", "to"} <= keys:
        return False
    if "payload" in data:
        return "id" in data
    if "memory" in data:
        return True
    owned = not keys.isdisjoint(OWNERS) or not keys.isdisjoint(_BESIDE)
    return "id" in data and owned and not keys.isdisjoint(TEXTS)


# ---- reading ----


def read(source: Source) -> Iterator[Record]:
    """The records of a file, memory by memory."""
    text = source.head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if text.startswith("[") or (not _is_memory(top(text)) and not _several(text)):
        values = in_document(source, lambda key: key in LISTS, _is_record)
    else:
        values = in_lines(source, _is_record)
    reading = _Reading(source.name)
    for value in values:
        if isinstance(value, SetAside):
            yield value
        else:
            data, notes = storable_value(source.name, value)
            yield from notes
            yield from reading.of(value, data, value.key)
    yield from reading.end()


def _several(text: str) -> bool:
    """Whether every line is a document of its own."""
    lines = [line for line in text.splitlines()[:3] if line.strip()]
    return len(lines) > 1 and all(line.lstrip().startswith("{") for line in lines)


def _is_record(data: Any) -> bool:
    return isinstance(data, dict) and (_is_memory(data) or _is_relation(data))


def _is_relation(data: dict[str, Any]) -> bool:
    return "source" in data and any(key in data for key in _TARGETS)


@dataclass(slots=True)
class _Reading:
    """One file: who is who in it, and what was seen."""

    name: str
    people: dict[str, str] = field(default_factory=dict)
    apps: dict[str, str] = field(default_factory=dict)
    only: str | None = None
    typed: set[tuple[str, str]] = field(default_factory=set)
    beside: dict[str, int] = field(default_factory=dict)
    ownerless: int = 0

    def of(self, value: Value, data: Any, key: str) -> Iterator[Record]:
        if isinstance(data, list) and key in LISTS | {"", "added_entities"}:
            for part in data:
                yield from self.of(value, part, key)
        elif key == "user" and isinstance(data, dict):
            self._person(data)
        elif key == "apps" and isinstance(data, list):
            self._apps(data)
        elif not isinstance(data, dict):
            if key not in _ABOUT:
                yield self._aside(value, "It is no memory: an object with a text.")
        elif key == "relations" and not _is_relation(data):
            yield from self.of(value, data.get("added_entities", []), "added_entities")
        elif key in ("relations", "added_entities") or (_is_relation(data) and not key):
            yield from self._relation(value, data)
        elif key == "entities":
            yield from self._entity(value, data)
        elif key in _ABOUT:
            return
        elif not _is_memory(data) and (lists := [one for one in data if one in LISTS]):
            for member in ("user", "apps", *lists):
                if member in data:
                    yield from self.of(value, data[member], member)
        else:
            yield from self._memory(value, data)

    def _aside(self, value: Value, why: str) -> SetAside:
        return SetAside(self.name, value.line, why, value.text)

    # ---- people ----

    def _person(self, data: dict[str, Any]) -> None:
        named = _text(data.get("name")) or _text(data.get("user_id"))
        if named:
            self.only = named
            for key in ("id", "user_id"):
                if own := _text(data.get(key)):
                    self.people[own] = named

    def _apps(self, data: list[Any]) -> None:
        for one in data:
            if isinstance(one, dict) and (named := _text(one.get("name"))):
                self.apps[_text(one.get("id"))] = named

    def _owner(self, data: dict[str, Any]) -> tuple[str, str, str | None]:
        """(name, type, id) of whose memory it is."""
        metadata = data.get("metadata")
        for key, type_ in OWNERS.items():
            own = _text(data.get(key))
            if not own and isinstance(metadata, dict):
                own = _text(metadata.get(key))
            if own:
                known = self.people if key == "user_id" else self.apps if key == "app_id" else {}
                return known.get(own, own), type_, own
            if key == "user_id" and self.only:
                return self.only, type_, None
        self.ownerless += 1
        return NOBODY, "person", None

    # ---- records ----

    def _memory(self, value: Value, data: dict[str, Any]) -> Iterator[Record]:
        payload = data.get("payload")
        if isinstance(payload, dict):
            data = {"id": data.get("id")} | payload
        text = next((_text(data[key]) for key in TEXTS if _text(data.get(key))), "")
        if not text:
            yield self._aside(value, "The memory has no text.")
            return
        if GONE & {_text(data.get("state")).casefold(), _text(data.get("event")).casefold()}:
            yield self._aside(value, "The memory was deleted there.")
            return
        for key, beside in data.items():
            if key not in (*TEXTS, *OWNERS) and beside not in (None, "", [], {}):
                self.beside[key] = self.beside.get(key, 0) + 1
        name, type_, foreign_id = self._owner(data)
        yield EntityRecord(
            line=value.line,
            name=name,
            type=type_,
            observations=(text,),
            foreign_id=foreign_id,
        )

    def _entity(self, value: Value, data: dict[str, Any]) -> Iterator[Record]:
        left = dict(data)
        name = _text(left.pop("name", None))
        if not name.strip():
            yield self._aside(value, "The entity has no name.")
            return
        own = left.pop("id", None)
        yield EntityRecord(
            line=value.line,
            name=name,
            type=_text(left.pop("type", None)) or None,
            foreign_id=_text(own) or None,
            attributes=left,
        )

    def _relation(self, value: Value, data: dict[str, Any]) -> Iterator[Record]:
        left = dict(data)
        subject = _text(left.pop("source", None))
        target = next((_text(left.pop(key)) for key in _TARGETS if key in left), "")
        words = next((_text(left.pop(key)) for key in _PREDICATES if _text(left.get(key))), "")
        if not subject.strip() or not target.strip() or not words.strip():
            yield self._aside(value, "The relation lacks an end, or the word for it.")
            return
        for key, end in (("source_type", subject), ("target_type", target)):
            yield from self._typed(value, end, _text(left.pop(key, None)))
        left.pop("destination_type", None)
        score = left.get("score")
        if sure := is_share(score):
            left.pop("score")
        yield RelationRecord(
            line=value.line,
            subject=subject,
            predicate=" ".join(words.split()),
            object=target,
            confidence=float(score) if sure and score is not None else 1.0,
            attributes=left,
        )

    def _typed(self, value: Value, name: str, type_: str) -> Iterator[Record]:
        """An end as an entity, once for each type it is given."""
        if not type_.strip() or (name, type_) in self.typed:
            return
        if len(self.typed) < _TYPED:
            self.typed.add((name, type_))
        yield EntityRecord(line=value.line, name=name, type=type_.strip())

    def end(self) -> Iterator[Record]:
        if self.ownerless:
            why = f"{self.ownerless:,} memories name no owner; they are observations of {NOBODY!r}."
            yield Note(self.name, 0, why, "")
        if self.beside:
            told = ", ".join(f"{key} of {count:,}" for key, count in sorted(self.beside.items()))
            why = "What stands beside the texts has no place in an observation and is left out."
            yield Note(self.name, 0, why, told)


def _text(value: Any) -> str:
    """A text, or a number written out; nothing else is a name or a text."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    return str(value)
