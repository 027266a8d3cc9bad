"""What an expanded thing says: entities, and relations between references.

A reference names a thing by its id, or by its name where it has none; it may be named later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from enfold.formats.jsonld.iris import (
    ALIASES,
    ATTRIBUTE,
    CONFIDENCE,
    EXACT,
    GENERAL,
    IDENTITIES,
    IRI,
    LABELS,
    LANGUAGES,
    PAGES,
    PREDICATE,
    SAME,
    STATED,
    STATEMENT,
    TERM,
    TEXTS,
    TYPE,
    TYPES,
    foreign_id,
    local_name,
    unquoted,
)
from enfold.formats.values import is_share
from enfold.model import EntityRecord, IdentityRecord, RelationRecord

Reference = tuple[str | None, str | None]
"""(id, name) of an end; one of the two is there."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A relation or identity between ends that may be named later."""

    line: int
    subject: Reference
    iri: str
    object: Reference
    text: str | None = None
    confidence: float = 1.0
    attributes: dict[str, Any] | None = None
    exact: str | None = None
    reified: bool = False


def flat(values: Any) -> list[Any]:
    """The values of a property, those of its lists among them."""
    found = []
    for value in values if isinstance(values, list) else [values]:
        inner = value.get("@list") if isinstance(value, dict) else None
        found += flat(inner) if inner is not None else [value]
    return found


def _literal(value: Any) -> tuple[str, str] | None:
    """(text, language) of a literal text."""
    said = value.get("@value") if isinstance(value, dict) else None
    if not isinstance(said, str) or value.get("@type") == "@json":
        return None
    return said, str(value.get("@language", ""))


def _literals(node: dict[str, Any], iris: Sequence[str]) -> list[tuple[str, str]]:
    values = (value for iri in iris for value in flat(node.get(iri, [])))
    return [text for value in values if (text := _literal(value)) is not None]


def entity(node: dict[str, Any], line: int, language: str) -> EntityRecord:
    """What is said of a thing, but for what it is linked to; its name is "" without a label."""
    name, labels = told_name(node, language)
    aliases = [text for text, _ in labels if text != name]
    aliases = [*dict.fromkeys(aliases), *(text for text, _ in _literals(node, ALIASES))]
    texts = _literals(node, TEXTS)
    attributes = _attributes(node)
    tagged = [*labels, *_literals(node, ALIASES), *texts]
    if languages := {text: tag for text, tag in tagged if tag}:
        attributes[LANGUAGES] = languages
    types = [type_ for type_ in node.get("@type", ()) if isinstance(type_, str)]
    type_, full = told_type(types)
    if full:
        attributes[TYPES] = full
    return EntityRecord(
        line=line,
        name=name,
        type=type_,
        observations=tuple(text for text, _ in texts),
        aliases=tuple(aliases),
        foreign_id=foreign_id(node.get("@id")),
        attributes=attributes,
    )


def told_name(node: dict[str, Any], language: str) -> tuple[str, list[tuple[str, str]]]:
    """(the label that is the name, every label): of the surest property, in the document's
    language, else English, else without one."""
    labels = [label for iri in LABELS for label in _literals(node, (iri,)) if label[0].strip()]
    if not labels:
        return "", []
    first = labels[0]
    surest = next(found for iri in LABELS if first in (found := _literals(node, (iri,))))
    order = [tag for tag in (language, "en", "") if tag or not language]

    def rank(label: tuple[str, str]) -> int:
        tag = label[1].lower()
        for at, wanted in enumerate(order):
            if tag == wanted or (wanted and tag.startswith(wanted + "-")):
                return at
        return len(order)

    return min((one for one in surest if one[0].strip()), key=rank)[0], labels


def told_type(types: list[str]) -> tuple[str | None, list[str]]:
    """(the local name of the first that says something, all in full where they are not ours)"""
    best = next((type_ for type_ in types if type_ not in GENERAL), types[0] if types else None)
    if best is None:
        return None, []
    ours = len(types) == 1 and best.startswith((TYPE, TERM))
    return local_name(best), [] if ours else types


TAKEN: Final = frozenset({*LABELS, *ALIASES, *TEXTS, EXACT, *STATED})


def _attributes(node: dict[str, Any], taken: frozenset[str] = TAKEN) -> dict[str, Any]:
    """What is said of a thing beside: literals, pages, and things with neither id nor label."""
    attributes: dict[str, Any] = {}
    for iri, values in node.items():
        if iri.startswith("@"):
            continue
        kept = [value for value in flat(values) if _stays(iri, value, taken)]
        if kept:
            attributes[_key(iri)] = _plainly(kept)
    return attributes


def _stays(iri: str, value: Any, taken: frozenset[str]) -> bool:
    if not isinstance(value, dict):
        return False
    if iri in taken:
        return "@value" in value and _literal(value) is None
    if "@value" in value or iri in PAGES:
        return True
    named = "@id" in value or told_name(value, "")[0]
    return not named and STATEMENT not in value.get("@type", ())


def _key(iri: str) -> str:
    if iri.startswith(ATTRIBUTE):
        return unquoted(iri, ATTRIBUTE)
    return iri.removeprefix(TERM)


def _plainly(values: list[Any]) -> Any:
    if len(values) == 1:
        return _value(values[0])
    return [_value(value) for value in values]


def _value(value: dict[str, Any]) -> Any:
    """A literal that is nothing but its value as that; all else as it stands."""
    if value.keys() == {"@value"}:
        return value["@value"]
    if value.keys() == {"@value", "@type"} and value["@type"] == "@json":
        return value["@value"]
    return value


def says_something(record: EntityRecord) -> bool:
    """Whether anything is said of a thing but its name."""
    return bool(record.type or record.observations or record.aliases or record.attributes)


def exact_of(node: dict[str, Any]) -> str | None:
    """What stands beside a thing or a statement, where it would not come back as it was."""
    found = _literals(node, (EXACT,))
    return found[0][0] if found else None


def stated_by(node: dict[str, Any], line: int) -> Stated:
    """What a statement says of its relation beside its three parts."""
    texts = _literals(node, TEXTS)
    attributes = _attributes(node, TAKEN - {*LABELS, *ALIASES})
    confidence = attributes.get(CONFIDENCE)
    if sure := is_share(confidence):
        del attributes[CONFIDENCE]
    nobody: Reference = (None, None)
    return Stated(
        line,
        nobody,
        "",
        nobody,
        text="\n".join(text for text, _ in texts) or None,
        confidence=float(confidence) if sure and confidence is not None else 1.0,
        attributes=attributes,
    )


def between(
    said: Stated, subject: tuple[str, str | None], target: tuple[str, str | None]
) -> RelationRecord | IdentityRecord:
    """The record of what is stated between two ends, each with its name and id."""
    if said.iri in IDENTITIES:
        return IdentityRecord(
            line=said.line,
            left=subject[0],
            right=target[0],
            same=said.iri == SAME,
            left_id=subject[1],
            right_id=target[1],
            why=said.text,
        )
    attributes = dict(said.attributes or {})
    if not said.iri.startswith((PREDICATE, TERM)):
        attributes[IRI] = said.iri
    return RelationRecord(
        line=said.line,
        subject=subject[0],
        predicate=local_name(said.iri),
        object=target[0],
        confidence=said.confidence,
        text=said.text,
        attributes=attributes,
        subject_id=subject[1],
        object_id=target[1],
    )
