"""Rows of GraphRAG's tables as records: what each column means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from enfold.formats.columns import is_vector
from enfold.formats.remainder import FIELD, whole
from enfold.formats.storable import cleaned, is_storable
from enfold.formats.textunits import PREFIX, TextUnit
from enfold.formats.values import as_text, listed_texts, loaded, named
from enfold.intake import RELATED
from enfold.model import EntityRecord, Record, RelationRecord, SetAside

ALIASES: Final = "enfold_aliases"
PREDICATE: Final = "enfold_predicate"
CONFIDENCE: Final = "enfold_confidence"
SOURCE_ID: Final = "enfold_source_id"
TARGET_ID: Final = "enfold_target_id"
OWNER: Final = "enfold_owner"
"""In the table of text units: the row of entities, from 1, that a text is an observation of."""

_INTEGERS = frozenset(
    {"human_readable_id", "frequency", "degree", "combined_degree", "n_tokens", OWNER}
)
_NUMBERS = frozenset({"weight", CONFIDENCE})
_LISTS = frozenset(
    {
        "text_unit_ids",
        "document_ids",
        "entity_ids",
        "relationship_ids",
        "covariate_ids",
        ALIASES,
    }
)

_INTEGER = re.compile(r"-?\d{1,18}(?:\.0+)?")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_LIST = re.compile(r"\[\s*(?:(?:'[^']*'|\"[^\"]*\")[\s,]*)*\]")


def typed(cells: dict[str, Any]) -> dict[str, Any]:
    """The cells with GraphRAG's own columns as their kinds, which CSV does not keep and Parquet
    loses where a number is missing; what does not fit stays as it is."""
    made: dict[str, Any] = {}
    for name, value in cells.items():
        if is_vector(name, value):
            continue
        if name in _INTEGERS:
            made[name] = _integer(value)
        elif name in _NUMBERS:
            made[name] = _number(value)
        elif name in _LISTS:
            made[name] = _list(value)
        else:
            made[name] = value
    return made if is_storable(made) else cleaned(made)


def _integer(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53:
        return int(value)
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        return int(value.strip().partition(".")[0])
    return value


def _number(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def _list(value: Any) -> Any:
    """A list as it is, or as a table of text holds it: JSON, or as Python or NumPy print it."""
    if not isinstance(value, str) or not value.startswith("["):
        return value
    try:
        made = loaded(value)
    except ValueError:
        if not _LIST.fullmatch(value):
            return value
        return [single or double for single, double in _QUOTED.findall(value)]
    return made if isinstance(made, list) else value


# ---- records ----


def entity(
    source: str, line: int, cells: dict[str, Any], units: Sequence[TextUnit] = ()
) -> Iterator[Record]:
    """The record of a row of entities, and its texts."""
    left = dict(cells)
    name = named(left.pop("title" if "title" in left else "name", None))
    if not name:
        yield SetAside(
            source, line, "The entity has no title, or one that is no text.", as_text(cells)
        )
        return
    kind, foreign = left.pop("type", None), left.pop("id", None)
    aliases, more = left.pop(ALIASES, None), left.pop(FIELD, None)
    said = _texts(left.pop("description", None))
    plain = EntityRecord(
        line=line,
        name=name,
        type=None if kind is None else as_text(kind) or None,
        observations=(*said, *(unit.text for unit in units)),
        aliases=_texts(aliases),
        foreign_id=None if foreign is None else as_text(foreign) or None,
        attributes=left | {PREFIX + unit.id: unit.attribute() for unit in units},
    )
    yield from whole(source, plain, more, "columns")


def relation(source: str, line: int, cells: dict[str, Any]) -> Iterator[Record]:
    """The record of a row of relationships. A weight is a strength without bound, no confidence,
    and stays what it is."""
    left = dict(cells)
    subject, target = named(left.pop("source", None)), named(left.pop("target", None))
    if not subject or not target:
        why = "The relationship lacks one of its two ends."
        yield SetAside(source, line, why, as_text(cells))
        return
    predicate, sure = left.pop(PREDICATE, None), left.pop(CONFIDENCE, None)
    ends = [left.pop(column, None) for column in (SOURCE_ID, TARGET_ID)]
    more = left.pop(FIELD, None)
    said = _texts(left.pop("description", None))
    plain = RelationRecord(
        line=line,
        subject=subject,
        predicate=as_text(predicate).strip() or RELATED if predicate is not None else RELATED,
        object=target,
        confidence=sure if isinstance(sure, float) and 0 <= sure <= 1 else 1.0,
        text="\n".join(said) or None,
        attributes=left,
        subject_id=None if ends[0] is None else as_text(ends[0]),
        object_id=None if ends[1] is None else as_text(ends[1]),
    )
    yield from whole(source, plain, more, "columns")


def _texts(value: Any) -> tuple[str, ...]:
    """One text, or each of a list's, which CSV has as JSON; blank ones aside."""
    if isinstance(value, str) and value.startswith("["):
        texts = listed_texts(value)
        value = value if texts is None else texts
    parts = value if isinstance(value, list) else [value]
    return tuple(text for part in parts if part is not None and (text := as_text(part)).strip())
