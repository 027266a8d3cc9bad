"""What the things and links of a property graph mean: as records.

A label is a type, a property a name, a text or an attribute. Of what other tools put into such a
graph beside the things themselves, texts (``Episodic``, ``Chunk``, ``Document`` with a text) become
observations of the first thing that is linked with them, an import finding the others in them by
name; communities that a program made are set aside; vectors are not kept.

Where a record's parts came from, if not from the usual places, is kept under ``neo4j``, so that an
export puts them back: ``labels``, ``type`` of a link, and the properties that held the ``name``,
the ``text`` and the ``id``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from enfold.formats.columns import is_vector
from enfold.formats.held import Held
from enfold.formats.remainder import FIELD, whole
from enfold.formats.textunits import PREFIX, TextUnit
from enfold.formats.values import as_text, is_share
from enfold.intake import RELATED
from enfold.model import EntityRecord, Note, Record, RelationRecord, SetAside

PLACES: Final = "neo4j"
"""The attribute that says where a record's parts came from."""

NAMES: Final = ("name", "title", "label", "displayName", "fullName", "id")
TEXTS: Final = ("description", "summary", "observations")
FACTS: Final = ("fact", "description", "text")
ALIASES: Final = "aliases"
CONFIDENCE: Final = "confidence"
UUID: Final = "uuid"

MADE: Final = "enfold-row:"
"""What the key begins with that a thing without an id of its own is written with."""

END: Final = '{"end":true}'
"""What stands for the remainder of a thing that only a relation names: it is no record."""

GENERIC: Final = frozenset({"Entity", "__Entity__", "__KGBuilder__", "__Node__", "Node"})
"""Labels that say nothing of what a thing is."""

_TEXT_LABELS = frozenset(
    {"Episodic", "Chunk", "__Chunk__", "Document", "__Document__", "TextUnit", "__TextUnit__"}
)
_TEXT_PROPERTIES = ("content", "text")
_MADE_LABELS = frozenset({"__Community__"})
_GRAPHITI_LABELS = frozenset({"Community", "Saga"})


@dataclass(frozen=True, slots=True)
class Thing:
    """A ``node``: its keys in the file (links name their ends by them), labels and properties; and
    its id where the file has one beside."""

    line: int
    keys: tuple[str, ...]
    labels: tuple[str, ...]
    properties: dict[str, Any]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A relationship between two keys. ``names`` are what the ends are called where they are in no
    file that was read."""

    line: int
    type: str
    start: str
    end: str
    properties: dict[str, Any]
    names: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class _End:
    """What is known of a key; kind is ``"thing"``, ``"text"`` or ``"aside"``."""

    name: str
    id: str
    kind: str = "thing"


class Graph:
    """A graph that is being read. The names and ids of things are held; links whose ends are not
    known yet, and texts, wait in temporary files."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._ends: dict[str, _End] = {}
        self._told: set[str] = set()
        self._later, self._texts = Held(), Held()
        self._at: dict[str, tuple[int, int]] = {}
        self._implied = 0

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, *error: object) -> None:
        self._later.close()
        self._texts.close()

    def knows(self, key: str) -> bool:
        """Whether a thing of that key was read."""
        return key in self._ends

    def _know(self, thing: Thing, end: _End) -> None:
        for key in thing.keys:
            self._ends.setdefault(key, end)

    # ---- things ----

    def thing(self, thing: Thing) -> Iterator[Record]:
        """The record of a thing."""
        left, told = self._kept(thing)
        yield from told
        if text := _text_of(thing.labels, left):
            self._know(thing, _End("", thing.keys[0], "text"))
            self._keep(thing, left, text)
        elif _is_made(thing.labels, left):
            self._know(thing, _End("", "", "aside"))
            why = "A community or a saga that a program made of the graph is no thing of it."
            yield SetAside(self.source, thing.line, why, as_text(left))
        else:
            yield from self._entity(thing, left)

    def _kept(self, thing: Thing | Link) -> tuple[dict[str, Any], list[Note]]:
        """The properties without vectors, and what is said of them once."""
        kept: dict[str, Any] = {}
        told: list[Note] = []
        for name, value in thing.properties.items():
            if not is_vector(name, value):
                kept[name] = value
            elif name not in self._told:
                self._told.add(name)
                why = f"The property {name!r} holds vectors, made from the texts: not kept."
                told.append(Note(self.source, thing.line, why, name))
        return kept, told

    def _entity(self, thing: Thing, left: dict[str, Any]) -> Iterator[Record]:
        more = left.pop(FIELD, None)
        plain = entity(thing, left)
        if plain is None:
            self._know(thing, _End("", "", "aside"))
            why = "It has no property that names it: a name, title, label or id that is a text."
            yield SetAside(self.source, thing.line, why, as_text(left))
            return
        self._know(thing, _End(plain.name, plain.foreign_id or thing.keys[0]))
        if more != END:
            yield from whole(self.source, plain, more, "properties")

    # ---- texts ----

    def _keep(self, thing: Thing, left: dict[str, Any], text: str) -> None:
        name = next(name for name in _TEXT_PROPERTIES if left.get(name) == text)
        beside = {key: value for key, value in left.items() if key != name}
        said = {"labels": list(thing.labels), **beside}
        unit_id = beside.get(UUID) or beside.get("id") or thing.id or thing.keys[0]
        self._at[thing.keys[0]] = (self._texts.add([str(unit_id), text, said]), thing.line)

    def _text(self, place: int) -> TextUnit:
        return TextUnit(*self._texts.at(place))

    def _told_by(self, link: Link, text: _End, thing: _End) -> Iterator[Record]:
        """The first thing linked with a text has it as its observation."""
        at = self._at.pop(text.id, None)
        if at is None:
            self._implied += 1
            return
        unit = self._text(at[0])
        yield EntityRecord(
            line=link.line,
            name=thing.name,
            observations=(unit.text,),
            foreign_id=thing.id or None,
            attributes={PREFIX + unit.id: unit.attribute()},
        )

    # ---- links ----

    def link(self, link: Link) -> Iterator[Record]:
        """The record of a link; one whose ends are not known yet waits."""
        if link.start in self._ends and link.end in self._ends:
            yield from self._linked(link)
            return
        said = [link.line, link.type, link.start, link.end, link.properties, link.names]
        self._later.add(said)

    def _linked(self, link: Link) -> Iterator[Record]:
        start = self._ends.get(link.start) or _End(link.names[0], link.names[0])
        end = self._ends.get(link.end) or _End(link.names[1], link.names[1])
        kinds = {start.kind, end.kind}
        if "aside" in kinds:
            said = as_text({"type": link.type, **link.properties})
            yield SetAside(self.source, link.line, "One of its two ends was set aside.", said)
        elif kinds == {"text"}:
            self._implied += 1
        elif "text" in kinds:
            text, thing = (start, end) if start.kind == "text" else (end, start)
            yield from self._told_by(link, text, thing)
        else:
            left, told = self._kept(link)
            more = left.pop(FIELD, None)
            yield from told
            plain = relation(link, left, start, end)
            yield from whole(self.source, plain, more, "properties")

    def finish(self) -> Iterator[Record]:
        """What waited: links, by the ids of ends that nothing names; and texts of nothing."""
        for line, kind, start, end, properties, names in self._later:
            link = Link(line, kind, start, end, properties, tuple(names))
            yield from self._linked(link)
        for place, line in self._at.values():
            why = "Nothing is linked with this text."
            yield SetAside(self.source, line, why, self._text(place).text)
        if self._implied:
            why = (
                f"{self._implied:,} links of texts, with each other or with further things, are "
                "not kept: an import finds the things in the texts by name."
            )
            yield Note(self.source, 0, why, "")


def _text_of(labels: Sequence[str], properties: Mapping[str, Any]) -> str:
    if not _TEXT_LABELS & set(labels):
        return ""
    texts = (properties.get(name) for name in _TEXT_PROPERTIES)
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def _is_made(labels: Sequence[str], properties: Mapping[str, Any]) -> bool:
    of_graphiti = _GRAPHITI_LABELS & set(labels) and properties.keys() >= {UUID, "group_id"}
    return bool(_MADE_LABELS & set(labels) or of_graphiti)


# ---- records ----


def type_of(labels: Sequence[str]) -> str | None:
    """The first label that says what a thing is."""
    return next((label for label in labels if label not in GENERIC and label.strip()), None)


def entity(thing: Thing, properties: dict[str, Any]) -> EntityRecord | None:
    """The record that a thing's labels and properties give; None for one without a name."""
    left, places = dict(properties), dict[str, Any]()
    held = next((name for name in NAMES if _is_name(name, left.get(name))), "")
    if not held:
        return None
    if held != NAMES[0]:
        places["name"] = held
    spelling = str(left.pop(held))
    type_ = type_of(thing.labels)
    if list(thing.labels) != ([type_] if type_ else []):
        places["labels"] = list(thing.labels)
    said, at = _said(left)
    if at not in ("", TEXTS[0]):
        places["text"] = at
    foreign, at = _id(thing, left)
    if at:
        places["id"] = at
    aliases = left.get(ALIASES)
    if _are_texts(aliases):
        del left[ALIASES]
    return EntityRecord(
        line=thing.line,
        name=spelling,
        type=type_,
        observations=said,
        aliases=tuple(aliases) if aliases is not None and _are_texts(aliases) else (),
        foreign_id=foreign,
        attributes=left | ({PLACES: places} if places else {}),
    )


def _is_name(held: str, value: object) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and held in ("name", "title")


def _are_texts(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(part, str) and part.strip() for part in value)
    )


def _said(left: dict[str, Any]) -> tuple[tuple[str, ...], str]:
    """(observations, the property that held them), which is taken out."""
    for name in TEXTS:
        value = left.get(name)
        if isinstance(value, str) and value.strip():
            return (left.pop(name),), name
        if _are_texts(value):
            return tuple(left.pop(name)), name
    return (), ""


def _id(thing: Thing, left: dict[str, Any]) -> tuple[str, str]:
    """(the id, the property that held it): a ``uuid`` says more than a number of the store."""
    value = left.get(UUID)
    if isinstance(value, str) and value.strip() and thing.id in (None, value):
        return left.pop(UUID), UUID
    if thing.id is not None:
        return thing.id, ""
    value = left.get("id")
    if isinstance(value, (str, int)) and not isinstance(value, bool) and str(value).strip():
        own = left["id"]
        if isinstance(own, str):
            return left.pop("id"), "id"
        return str(own), ""
    return thing.keys[0], ""


def relation(link: Link, properties: dict[str, Any], start: _End, end: _End) -> RelationRecord:
    """The record that a link's type and properties give."""
    left, places = dict(properties), dict[str, Any]()
    predicate = link.type.strip() or RELATED
    named = left.get("name")
    if isinstance(named, str) and named.strip() and isinstance(left.get("fact"), str):
        places["type"], predicate = link.type, left.pop("name")
    held = next((name for name in FACTS if _is_text(left.get(name))), "")
    if held not in ("", "description"):
        places["text"] = held
    sure = left.get(CONFIDENCE)
    return RelationRecord(
        line=link.line,
        subject=start.name,
        predicate=predicate,
        object=end.name,
        confidence=float(left.pop(CONFIDENCE)) if is_share(sure) else 1.0,
        text=left.pop(held) if held else None,
        attributes=left | ({PLACES: places} if places else {}),
        subject_id=start.id or None,
        object_id=end.id or None,
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


@dataclass
class Ends:
    """The keys that a writer gave to things, by which relations find them."""

    _by_name: dict[str, str] = field(default_factory=dict)
    _by_both: dict[tuple[str, str | None], str] = field(default_factory=dict)
    _used: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, foreign_id: str | None, key: str) -> str:
        """A key for a thing: the one that is wanted if it can be had."""
        number = len(self._used) + 1
        fit = key.strip() == key != "" and not key.startswith(MADE) and key not in self._used
        key = key if fit else f"{MADE}{number}"
        self._used[key] = name
        self._by_name.setdefault(name, key)
        self._by_both.setdefault((name, foreign_id), key)
        return key

    def find(self, name: str, foreign_id: str | None) -> str | None:
        """The key of the thing of that name, and of that id where one is given."""
        if foreign_id is None:
            return self._by_name.get(name)
        return self._by_both.get((name, foreign_id))

    def end(self, key: str, shown: str) -> _End:
        """What reading gives for a key."""
        return _End(shown, key)


__all__ = ["ALIASES", "END", "Ends", "Graph", "Link", "Thing", "entity", "relation"]
