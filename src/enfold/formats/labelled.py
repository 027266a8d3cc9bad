"""Labels that people gave: pairs of names, or names with the thing that each is of.

Told from the content. Columns are compared without case, blanks, ``_`` and ``-``.

========  =======================================================================================
pairs     two names (left and right, name1 and name2, a and b); what they are: verdict (FOLD, ASK,
          APART), label, match or is_match (1 or 0); left_type and right_type, or one type (schema)
          for both; score: what another tool gave the pair
clusters  a name (name, mention, spelling, surface, alias); the thing it is of (entity_id, cluster,
          thing, qid, group, id …); type or entity_type
JSON      ``{"entities": [{"qid": ..., "canonical": ..., "aliases": [...]}]}``, or that list alone:
          the name may also be called name or label, the id id or entity_id
========  =======================================================================================

Of a table all names and labels are held, of JSON the whole file.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

from enfold.errors import Invalid
from enfold.evaluate.labels import Labelled, Mention
from enfold.formats import csvrows
from enfold.model import Verdict
from enfold.names import Name

_LEFT = ("left", "name1", "a", "lefthand")
_RIGHT = ("right", "name2", "b", "righthand")
_LABELS = ("verdict", "label", "ismatch", "match", "same")
_TYPES = (("lefttype", "righttype"), ("type1", "type2"), ("schema", "schema"), ("type", "type"))
_NAME = ("name", "mention", "spelling", "surface", "surfaceform", "alias", "title")
_KIND = ("type", "entitytype", "schema")
_THING = (
    *("entityid", "cluster", "clusterid", "thing", "thingid", "canonicalid", "canonical"),
    *("qid", "group", "groupid", "entity", "id"),
)
_SAME = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}

FIELD: Final = 1024 * 1024
"""Longest cell, in characters. A name has 10,000 at most; notes beside it may be longer."""

JSON_BYTES: Final = 256 * 1024 * 1024
"""Largest JSON file, which is parsed whole: some ten times that in memory."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """A file of labelled pairs."""

    labelled: Sequence[Labelled]


@dataclass(frozen=True, slots=True)
class Clusters:
    """A file of names with their things."""

    mentions: Sequence[Mention]


def read(path: Path) -> Pairs | Clusters:
    """What a file of labels holds.

    Raises:
        Invalid: ``unreadable``, ``no_labels`` or ``bad_label``, with the line.
    """
    with _opened(path) as file:
        start = file.read(1).strip() or file.read(1024).strip()[:1]
        file.seek(0)
        if start in ("{", "["):
            return Clusters(list(_documents(path, file)))
        return _table(path, file)


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    if path.exists() and not path.is_file():
        raise Invalid("unreadable", f"{path} is no regular file.")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield file
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(
            "unreadable", f"{path} can't be read as a table in UTF-8: {error}."
        ) from error


# ---- tables ----


def _table(path: Path, file: TextIO) -> Pairs | Clusters:
    head = file.readline(FIELD)
    file.seek(0)
    delimiter = next((d for d in ("\t", ",", ";") if d in head), ",")
    csvrows.widen(FIELD)
    reader = csv.reader(
        file,
        delimiter=delimiter,
        quoting=csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL,
    )
    header = next(_rows(path, reader), (0, []))[1]
    plain = list(map(csvrows.plain, header))
    at = {name: place for place, name in reversed(list(enumerate(plain))) if name}
    sides = [_first(at, names) for names in (_LEFT, _RIGHT, _LABELS)]
    if None not in sides:
        return Pairs(list(_pairs(path, reader, at, sides)))
    name = _first(at, _NAME)
    things = [at[column] for column in _THING if column in at and at[column] != name]
    if name is None or not things:
        raise Invalid(
            "no_labels",
            f"{path} has no columns left, right and verdict (or name1, name2 and label), and no "
            f"columns name and entity_id (or mention, cluster …); it has: "
            f"{', '.join(filter(None, header)) or 'none'}.",
        )
    return Clusters(_mentions(path, reader, name, _first(at, _KIND), things))


def _first(at: dict[str, int], names: Sequence[str]) -> int | None:
    return next((at[name] for name in names if name in at), None)


def _rows(path: Path, reader: Any) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of each row that is not blank."""
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise Invalid("bad_label", f"{path}, line {reader.line_num}: {error}.") from error
        if any(cells):
            yield reader.line_num, cells


def _cell(cells: Sequence[str], at: int | None) -> str:
    return cells[at] if at is not None and at < len(cells) else ""


def _pairs(
    path: Path, reader: Any, at: dict[str, int], sides: Sequence[int | None]
) -> Iterator[Labelled]:
    left, right, label = sides
    types = next(((at[a], at[b]) for a, b in _TYPES if a in at and b in at), (None, None))
    score = at.get("score")
    for line, cells in _rows(path, reader):
        where = f"{path}, line {line}"
        one, other = (
            _name(_cell(cells, side), _cell(cells, kind), where)
            for side, kind in zip((left, right), types, strict=True)
        )
        expected = _expected(_cell(cells, label), where)
        yield Labelled(one, other, expected, _score(_cell(cells, score), where))


def _name(spelling: str, kind: str, where: str) -> Name:
    try:
        return Name.of(spelling, kind or None)
    except Invalid as error:
        raise Invalid("bad_label", f"{where}: {error}") from error


def _expected(label: str, where: str) -> Verdict | bool:
    text = label.strip()
    if text.upper() in Verdict.__members__:
        return Verdict[text.upper()]
    if text.lower() in _SAME:
        return _SAME[text.lower()]
    raise Invalid("bad_label", f"{where}: {text!r} is neither FOLD, ASK, APART nor 1, 0.")


def _score(text: str, where: str) -> float | None:
    try:
        return float(text) if text.strip() else None
    except ValueError:
        raise Invalid("bad_label", f"{where}: the score {text!r} is no number.") from None


def _mentions(
    path: Path, reader: Any, name: int, kind: int | None, things: Sequence[int]
) -> list[Mention]:
    """The thing's column is the first of those so called in which a value stands twice: where none
    does, each row is a thing of its own, by the first."""
    rows: list[tuple[str, str | None, tuple[str, ...]]] = []
    for line, cells in _rows(path, reader):
        where = f"{path}, line {line}"
        read = _name(_cell(cells, name), _cell(cells, kind), where)
        ids = tuple(_cell(cells, at).strip() for at in things)
        if not any(ids):
            raise Invalid("bad_label", f"{where}: nothing says what the name is a name of.")
        rows.append((read.spelling, read.type, ids))
    seen = [Counter(ids[n] for _, _, ids in rows if ids[n]) for n in range(len(things))]
    told = next((n for n, values in enumerate(seen) if len(values) < sum(values.values())), 0)
    for line, (spelling, _, ids) in enumerate(rows, 2):
        if not ids[told]:
            raise Invalid(
                "bad_label",
                f"{path}, row {line}: nothing says what {spelling!r} is a name of.",
            )
    return [Mention(spelling, kind_, ids[told]) for spelling, kind_, ids in rows]


# ---- JSON ----


def _documents(path: Path, file: TextIO) -> Iterator[Mention]:
    if path.stat().st_size > JSON_BYTES:
        size = JSON_BYTES // 1024**2
        raise Invalid("unreadable", f"{path} is above {size} MB; write its names as a table.")
    try:
        whole = json.load(file)
    except (ValueError, RecursionError) as error:
        raise Invalid("unreadable", f"{path} is no whole JSON document: {error}.") from error
    entities = whole.get("entities") if isinstance(whole, dict) else whole
    if not isinstance(entities, list):
        raise Invalid("no_labels", f"{path} has no list of entities.")
    for number, entity in enumerate(entities, 1):
        yield from _entity(f"{path}, entity {number}", entity)


def _entity(where: str, entity: object) -> Iterator[Mention]:
    if not isinstance(entity, dict):
        raise Invalid("no_labels", f"{where} is no object with a name and an id.")
    name = next((entity[k] for k in ("canonical", "name", "label") if k in entity), None)
    thing = next((entity[k] for k in ("qid", "entity_id", "id") if k in entity), None)
    aliases = entity.get("aliases", [])
    if not isinstance(name, str) or not isinstance(thing, str | int):
        raise Invalid("no_labels", f"{where} has no name or no id.")
    if not isinstance(aliases, list) or not all(isinstance(a, str) for a in aliases):
        raise Invalid("bad_label", f"{where}: its aliases are no list of texts.")
    kind = entity.get("type")
    for spelling in (name, *aliases):
        read = _name(spelling, kind if isinstance(kind, str) else "", where)
        yield Mention(read.spelling, read.type, str(thing))


__all__ = ["Clusters", "Pairs", "read"]
