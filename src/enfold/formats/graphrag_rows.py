"""Rows of GraphRAG's tables as records: what each column means."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from enfold.formats.columns import is_vector
from enfold.formats.remainder import FIELD, restored, without_unstorable
from enfold.intake import RELATED
from enfold.model import EntityRecord, IdentityRecord, Note, Record, RelationRecord, SetAside

TEXT_UNIT: Final = "text_unit:"
"""What the attribute that holds a text unit begins with; its id is behind."""

DIGEST: Final = "digest"

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
    if any(map(_has_nul, made.values())):
        made = without_unstorable(made)
    return made


def _has_nul(value: Any) -> bool:
    """Whether a text in it holds what Parquet has and no store."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(_has_nul(key) or _has_nul(part) for key, part in value.items())
    return isinstance(value, list) and any(map(_has_nul, value))


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
        made = json.loads(value)
    except (ValueError, RecursionError):
        if not _LIST.fullmatch(value):
            return value
        return [single or double for single, double in _QUOTED.findall(value)]
    return made if isinstance(made, list) else value


# ---- records ----


@dataclass(frozen=True, slots=True)
class TextUnit:
    """A text with its id and what its table says besides."""

    id: str
    text: str
    beside: dict[str, Any] = field(default_factory=dict)

    def attribute(self) -> dict[str, Any]:
        """What an entity keeps of it."""
        return {DIGEST: digest(self.text)} | self.beside


def digest(text: str) -> str:
    """What tells a text unit's text among the observations of an entity."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def entity(
    source: str, line: int, cells: dict[str, Any], units: Sequence[TextUnit] = ()
) -> Iterator[Record]:
    """The record of a row of entities, and its texts."""
    left = dict(cells)
    name = named(left.pop("title" if "title" in left else "name", None))
    if not name:
        yield SetAside(
            source, line, "The entity has no title, or one that is no text.", _json(cells)
        )
        return
    kind, foreign = left.pop("type", None), left.pop("id", None)
    aliases, more = left.pop(ALIASES, None), left.pop(FIELD, None)
    said = _texts(left.pop("description", None))
    plain = EntityRecord(
        line=line,
        name=name,
        type=None if kind is None else _text(kind) or None,
        observations=(*said, *(unit.text for unit in units)),
        aliases=_texts(aliases),
        foreign_id=None if foreign is None else _text(foreign) or None,
        attributes=left | {TEXT_UNIT + unit.id: unit.attribute() for unit in units},
    )
    yield from _whole(source, line, plain, more)


def relation(source: str, line: int, cells: dict[str, Any]) -> Iterator[Record]:
    """The record of a row of relationships. A weight is a strength without bound, no confidence,
    and stays what it is."""
    left = dict(cells)
    subject, target = named(left.pop("source", None)), named(left.pop("target", None))
    if not subject or not target:
        why = "The relationship lacks one of its two ends."
        yield SetAside(source, line, why, _json(cells))
        return
    predicate, sure = left.pop(PREDICATE, None), left.pop(CONFIDENCE, None)
    ends = [left.pop(column, None) for column in (SOURCE_ID, TARGET_ID)]
    more = left.pop(FIELD, None)
    said = _texts(left.pop("description", None))
    share = isinstance(sure, float) and 0 <= sure <= 1
    plain = RelationRecord(
        line=line,
        subject=subject,
        predicate=_text(predicate).strip() or RELATED if predicate is not None else RELATED,
        object=target,
        confidence=sure if share and sure is not None else 1.0,
        text="\n".join(said) or None,
        attributes=left,
        subject_id=None if ends[0] is None else _text(ends[0]),
        object_id=None if ends[1] is None else _text(ends[1]),
    )
    yield from _whole(source, line, plain, more)


def identity(source: str, line: int, cells: dict[str, Any]) -> Iterator[Record]:
    """The record of a row of enfold's own table of identities."""
    left, right = named(cells.get("left")), named(cells.get("right"))
    same = {"true": True, "false": False}.get(str(cells.get("same")).casefold())
    if not left or not right or same is None:
        why = "It does not say of two names whether they are one."
        yield SetAside(source, line, why, _json(cells))
        return
    ids = [cells.get(column) for column in ("left_id", "right_id", "why")]
    plain = IdentityRecord(line, left, right, same, *(None if i is None else _text(i) for i in ids))
    yield from _whole(source, line, plain, cells.get(FIELD))


def _whole(source: str, line: int, plain: Any, more: Any) -> Iterator[Record]:
    if not isinstance(more, str):
        yield plain
        return
    try:
        yield restored(plain, more)
    except ValueError as error:
        yield Note(source, line, f"{error}; the other columns are taken.", more)
        yield plain


def named(value: Any) -> str:
    """A name that is a text or a number, else ""."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return str(value) if str(value).strip() else ""


def _texts(value: Any) -> tuple[str, ...]:
    """One text, or each of a list's, which CSV has as JSON; blank ones aside."""
    if isinstance(value, str) and value.startswith("["):
        try:
            made = json.loads(value)
        except (ValueError, RecursionError):
            made = None
        if isinstance(made, list) and all(isinstance(part, str) for part in made):
            value = made
    parts = value if isinstance(value, list) else [value]
    return tuple(text for part in parts if part is not None and (text := _text(part)).strip())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
