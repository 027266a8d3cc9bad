"""CSV and TSV: tables of entities, tables of relations, and enfold's own table of both.

A table is told by its header; names of columns are compared without case, blanks, ``_`` and ``-``.

=============  ==================================================================================
entities       a name (name, title, entity, label); type; description, observations or text;
               aliases (``|`` between them, or a JSON list); id
relations      two ends (source and target, from and to, subject and object); relation, predicate,
               type or label; description or text; confidence or weight
enfold's own   ``record`` says what a row is: entity, alias, observation, relation, same or apart
=============  ==================================================================================

Every other column is kept as an attribute. In enfold's own table a cell that a spreadsheet would
run as a formula (it begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return) gets an
apostrophe in front, and reading takes exactly one off, so that every name comes back as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from enfold.errors import Invalid
from enfold.formats import csvrows
from enfold.formats.csvrows import Row
from enfold.formats.source import UNDERSTOOD, Source
from enfold.formats.values import is_share, listed_texts, loaded
from enfold.intake import RELATED
from enfold.model import (
    EntityRecord,
    IdentityRecord,
    Record,
    RelationRecord,
    SetAside,
    Written,
)

if TYPE_CHECKING:
    from enfold.formats import Pieces

NAME: Final = "csv"

_NONE: Final = "\x1f"  # the delimiter of a table of one column, whose names may hold commas

COLUMNS: Final = ("record", "name", "type", "text", "relation", "target", "confidence", "beside")
"""enfold's own table. ``beside`` is a JSON object: the ids and whatever the source said besides."""

_KINDS: Final = ("entity", "alias", "observation", "relation", "same", "apart")
_FOREIGN: Final = "id"
_ENDS: Final = ("fromId", "toId")
_BESIDE: Final = "enfold_beside"
"""Holds what a source said beside under a key that is an id here."""

_ROWS: Final = 10_000
"""Rows of one entity that are taken as one record; what follows is one more record of it."""

_NAME = ("name", "title", "entity", "entityname", "label", "mention")
_TYPE = ("type", "entitytype", "kind", "category")
_OBSERVATION = ("observations", "observation", "description", "text")
_ALIASES = ("aliases", "alias", "alsoknownas")
_ID = ("id", "foreignid", "entityid", "uuid")
_FROM = ("source", "from", "subject", "sourcename", "start")
_TO = ("target", "to", "object", "targetname", "end")
_PREDICATE = ("relation", "relationtype", "predicate", "relationship", "type", "label")
_TEXT = ("description", "text")
_CONFIDENCE = ("confidence", "weight")
_PAIR = frozenset({"left", "right", "verdict"})

_RUNS = re.compile("'*[=+\\-@\t\r]")


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is to be read.

    Attributes:
        kind: ``"own"``, ``"entities"`` or ``"relations"``.
        columns: the header's names as written.
        roles: column number of each role ("name", "type", ...).
    """

    kind: str
    delimiter: str
    columns: tuple[str, ...]
    roles: dict[str, int]


# ---- what a file is ----


def recognises(head: bytes, path: Path | None = None) -> bool:
    """Whether a text begins with the header of a table of a kind that is known."""
    return layout(head) is not None


def relations_alone(head: bytes) -> bool:
    """Whether a table holds relations, whose ends other tables describe."""
    table = layout(head)
    return table is not None and table.kind == "relations"


def labelled_pairs(source: str, head: str) -> Invalid | None:
    """The error for a table of labelled pairs, None for any other text."""
    for delimiter in csvrows.DELIMITERS:
        if {csvrows.plain(name) for name in csvrows.header(head, delimiter)} >= _PAIR:
            return Invalid(
                "labelled_pairs",
                f"{source} is a table of labelled pairs, not a graph; "
                "`enfold evaluate` reads it: enfold evaluate FILE.",
                path=source,
            )
    return None


def layout(head: bytes | str) -> Layout | None:
    """The layout that the header tells, or None where it is no table of a kind that is known."""
    headers = ((csvrows.header(head, delimiter), delimiter) for delimiter in csvrows.DELIMITERS)
    found = [made for header, delimiter in headers if (made := _layout(header, delimiter))]
    best = max(found, key=lambda made: len(made.columns), default=None)
    return replace(best, delimiter=_NONE) if best and len(best.columns) == 1 else best


def _layout(header: list[str], delimiter: str) -> Layout | None:
    plain = [csvrows.plain(name) for name in header]
    columns = tuple(name.strip() for name in header)
    if "record" in plain and "name" in plain:
        own: dict[str, int] = {name: plain.index(name) for name in COLUMNS if name in plain}
        return Layout("own", delimiter, columns, own)
    start, end = _where(plain, _FROM), _where(plain, _TO)
    if start is not None and end is not None:
        taken = {"from": start, "to": end}
        return Layout("relations", delimiter, columns, _roles(plain, taken, _RELATION_ROLES))
    name = _where(plain, _NAME)
    if name is None:
        return None
    return Layout("entities", delimiter, columns, _roles(plain, {"name": name}, _ENTITY_ROLES))


_ENTITY_ROLES: Final = (
    ("type", _TYPE),
    ("observations", _OBSERVATION),
    ("aliases", _ALIASES),
    ("id", _ID),
)
_RELATION_ROLES: Final = (("predicate", _PREDICATE), ("text", _TEXT), ("confidence", _CONFIDENCE))


def _roles(
    plain: list[str], taken: dict[str, int], roles: Sequence[tuple[str, tuple[str, ...]]]
) -> dict[str, int]:
    for role, names in roles:
        at = _where(plain, names)
        if at is not None and at not in taken.values():
            taken[role] = at
    return taken


def _where(plain: list[str], names: tuple[str, ...]) -> int | None:
    return next((plain.index(name) for name in names if name in plain), None)


def refuse(source: str, head: str) -> Invalid:
    """The error for a text that is no table of a kind that is known."""
    start = head.lstrip("\ufeff\r\n").partition("\n")[0].strip()[:80]
    return Invalid(
        "unrecognised_format",
        f"{source} is in no format enfold knows; it begins with {start!r}. "
        f"{UNDERSTOOD[0].upper()}{UNDERSTOOD[1:]}.",
        path=source,
    )


# ---- reading ----


def read(source: Source) -> Iterator[Record]:
    """The records of a table; a row that does not fit is set aside as written."""
    table = layout(source.head)
    assert table is not None, "the file was not recognised"
    rows = _by_row(source, table)
    return _joined(rows) if table.kind == "own" else rows


def _by_row(source: Source, table: Layout) -> Iterator[Record]:
    make = _MAKE[table.kind]
    for row in csvrows.rows(source, table.delimiter, len(table.columns)):
        if isinstance(row, SetAside):
            yield row
        else:
            yield from make(source.name, table, row)


def _cell(table: Layout, row: Row, role: str) -> str:
    at = table.roles.get(role)
    return "" if at is None else row.cells[at]


def _entity(name: str, table: Layout, row: Row) -> Iterator[Record]:
    spelling = _cell(table, row, "name")
    if not spelling.strip():
        yield SetAside(name, row.line, "The entity's name is blank.", row.text)
        return
    yield EntityRecord(
        line=row.line,
        name=spelling,
        type=_cell(table, row, "type").strip() or None,
        observations=_listed(_cell(table, row, "observations"), None),
        aliases=_listed(_cell(table, row, "aliases"), "|"),
        foreign_id=_cell(table, row, "id").strip() or None,
        attributes=_beside(table, row),
    )


def _relation(name: str, table: Layout, row: Row) -> Iterator[Record]:
    subject, object_ = _cell(table, row, "from"), _cell(table, row, "to")
    if not subject.strip() or not object_.strip():
        yield SetAside(name, row.line, "The relation lacks one of its two ends.", row.text)
        return
    said = _cell(table, row, "confidence").strip()
    share = _share(said)
    attributes = _beside(table, row)
    if share is None and said:
        attributes[table.columns[table.roles["confidence"]]] = said
    yield RelationRecord(
        line=row.line,
        subject=subject,
        predicate=" ".join(_cell(table, row, "predicate").split()) or RELATED,
        object=object_,
        confidence=1.0 if share is None else share,
        text=_cell(table, row, "text") or None,
        attributes=attributes,
    )


def _share(text: str) -> float | None:
    """A number from 0 to 1; weights beyond that are counts, not confidence."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if is_share(number) else None


def _listed(cell: str, separator: str | None) -> tuple[str, ...]:
    """A JSON list of texts, or parts between separators, or the one text."""
    if cell.startswith("[") and (texts := listed_texts(cell)) is not None:
        return tuple(part for part in texts if part.strip())
    parts = cell.split(separator) if separator else [cell]
    return tuple(part.strip() if separator else part for part in parts if part.strip())


def _beside(table: Layout, row: Row) -> dict[str, Any]:
    roles = set(table.roles.values())
    return {
        column: cell
        for at, (column, cell) in enumerate(zip(table.columns, row.cells, strict=True))
        if at not in roles and column and cell
    }


def _own(name: str, table: Layout, row: Row) -> Iterator[Record]:
    """A row of enfold's own table. An observation and an alias name their entity."""
    said = {role: _unguarded(_cell(table, row, role)) for role in COLUMNS}
    kind, spelling = said["record"].strip().casefold(), said["name"]
    if kind not in _KINDS:
        what = f"it says {', '.join(_KINDS[:-1])} or {_KINDS[-1]}"
        why = f"The record {said['record']!r} is not known; {what}."
        yield SetAside(name, row.line, why, row.text)
        return
    joins = kind in ("relation", "same", "apart")
    if not spelling.strip() or (joins and not said["target"].strip()):
        yield SetAside(name, row.line, f"The {kind} has no name.", row.text)
        return
    beside = _object(said["beside"])
    if beside is None:
        yield SetAside(name, row.line, "The column beside is no JSON object.", row.text)
        return
    moved = beside.pop(_BESIDE) if isinstance(beside.get(_BESIDE), dict) else {}
    if joins:
        ends = _id(beside.pop(_ENDS[0], None)), _id(beside.pop(_ENDS[1], None))
        yield _between(row.line, kind, said, ends, beside | moved)
        return
    yield EntityRecord(
        line=row.line,
        name=spelling,
        type=said["type"] or None,
        observations=(said["text"],) if kind == "observation" and said["text"] else (),
        aliases=(said["text"],) if kind == "alias" and said["text"] else (),
        foreign_id=_id(beside.pop(_FOREIGN, None)),
        attributes=beside | moved,
    )


def _between(
    line: int,
    kind: str,
    said: dict[str, str],
    ends: tuple[str | None, str | None],
    beside: dict[str, Any],
) -> Record:
    """What stands between two names: a relation, or that they are one, or two."""
    text = said["text"] or None
    if kind != "relation":
        return IdentityRecord(line, said["name"], said["target"], kind == "same", *ends, text)
    share = _share(said["confidence"])
    return RelationRecord(
        line=line,
        subject=said["name"],
        predicate=" ".join(said["relation"].split()) or RELATED,
        object=said["target"],
        confidence=1.0 if share is None else share,
        text=text,
        attributes=beside,
        subject_id=ends[0],
        object_id=ends[1],
    )


def _id(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _joined(records: Iterator[Record]) -> Iterator[Record]:
    """An entity with the rows of its aliases and observations right below it is one record, as it
    was when it was written."""
    whole: EntityRecord | None = None
    parts: list[EntityRecord] = []
    for record in records:
        if whole is not None and _is_part(record, whole) and len(parts) < _ROWS:
            assert isinstance(record, EntityRecord)
            parts.append(record)
            continue
        if whole is not None:
            yield _with(whole, parts)
        whole, parts = (record, []) if isinstance(record, EntityRecord) else (None, [])
        if whole is None:
            yield record
    if whole is not None:
        yield _with(whole, parts)


def _is_part(record: Record, whole: EntityRecord) -> bool:
    """Whether a row is of that entity and says nothing of it but an alias or an observation."""
    return (
        isinstance(record, EntityRecord)
        and bool(record.aliases or record.observations)
        and record.name == whole.name
        and record.foreign_id in (None, whole.foreign_id)
        and record.type is None
        and not record.attributes
    )


def _with(whole: EntityRecord, parts: Sequence[EntityRecord]) -> EntityRecord:
    if not parts:
        return whole
    return replace(
        whole,
        observations=whole.observations + tuple(o for part in parts for o in part.observations),
        aliases=whole.aliases + tuple(alias for part in parts for alias in part.aliases),
    )


def _object(cell: str) -> dict[str, Any] | None:
    if not cell:
        return {}
    try:
        made = loaded(cell)
    except ValueError:
        return None
    return made if isinstance(made, dict) else None


_Make = Callable[[str, Layout, Row], Iterator[Record]]
_MAKE: Final[dict[str, _Make]] = {"entities": _entity, "relations": _relation, "own": _own}


# ---- writing ----


def lines(pieces: Pieces) -> Iterator[str]:
    """A graph as enfold's own table: the header, then rows."""
    yield header_line()
    for piece in pieces():
        yield _written(piece)


def _written(piece: Written) -> str:
    if isinstance(piece, EntityRecord):
        return entity_lines(piece)
    return relation_line(piece) if isinstance(piece, RelationRecord) else identity_line(piece)


def header_line() -> str:
    """The first line of enfold's own table."""
    return _line(*COLUMNS)


def entity_lines(record: EntityRecord) -> str:
    """An entity, then its aliases, then its observations: a row each, each with the id."""
    ids = {} if record.foreign_id is None else {_FOREIGN: record.foreign_id}
    beside = _beside_ids(ids, record.attributes, (_FOREIGN,))
    rows = [_line("entity", record.name, record.type or "", beside=beside)]
    rows += [_line("alias", record.name, text=alias, beside=ids) for alias in record.aliases]
    rows += [_line("observation", record.name, text=o, beside=ids) for o in record.observations]
    return "".join(rows)


def relation_line(record: RelationRecord) -> str:
    """One relation, in a row; its text and its confidence only where they say something."""
    confidence = "" if record.confidence == 1.0 else repr(record.confidence)
    ends = _end_ids(record.subject_id, record.object_id)
    return _line(
        "relation",
        record.subject,
        "",
        record.text or "",
        record.predicate,
        record.object,
        confidence,
        _beside_ids(ends, record.attributes, _ENDS),
    )


def identity_line(record: IdentityRecord) -> str:
    """That two are one, or are not, in a row."""
    kind = "same" if record.same else "apart"
    ends = _end_ids(record.left_id, record.right_id)
    return _line(kind, record.left, "", record.why or "", "", record.right, "", ends)


def _end_ids(left: str | None, right: str | None) -> dict[str, Any]:
    return {key: end for key, end in zip(_ENDS, (left, right), strict=True) if end is not None}


def _beside_ids(
    ids: dict[str, Any], beside: dict[str, Any], taken: Sequence[str]
) -> dict[str, Any]:
    moved = {key: value for key, value in beside.items() if key in taken or key == _BESIDE}
    whole = ids | {key: value for key, value in beside.items() if key not in moved}
    return whole | {_BESIDE: moved} if moved else whole


def _line(
    record: str,
    name: str,
    type_: str = "",
    text: str = "",
    relation: str = "",
    target: str = "",
    confidence: str = "",
    beside: dict[str, Any] | str = "",
) -> str:
    said = beside if isinstance(beside, str) else _json(beside)
    cells = (record, name, type_, text, relation, target, confidence, said)
    return csvrows.row(map(guarded, cells))


def _json(beside: dict[str, Any]) -> str:
    return json.dumps(beside, ensure_ascii=False, separators=(",", ":")) if beside else ""


def guarded(cell: str) -> str:
    """The cell as no spreadsheet runs it."""
    return "'" + cell if _RUNS.match(cell) else cell


def _unguarded(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _RUNS.match(cell) else cell
