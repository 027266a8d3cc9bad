"""A graph as the rows of its tables, and back: whole, with every id, and nothing but the rows.

Into a new graph only: rows refer to each other by id, and no id of a graph that holds something
else could be kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from itertools import groupby
from operator import itemgetter

from enfold import rules
from enfold.check import check
from enfold.copying.tables import (
    BY_NAME,
    DERIVED,
    KEPT,
    LEFT,
    TABLES,
    Column,
    Table,
    Value,
    unsound,
)
from enfold.errors import Refused
from enfold.model import Context
from enfold.names import Name
from enfold.ports import Engine, Progress, Store, Tx
from enfold.resolve import VERSION

Line = tuple[str, tuple[Value, ...]]
"""(table, the values of a row)"""

STEP = 10_000
"""Rows between two words on how far it is."""


def rows(tx: Tx, *, sealed: bool, progress: Progress | None = None) -> Iterator[Line]:
    """Every row that a copy takes, in an order that the same graph always has.

    Args:
        sealed: with the memories that are sealed for one agent; else they are left out with all
            that would go with them if they were deleted.
    """
    done = 0
    for table in TABLES:
        for values in tx.rows.read(table.name, sealed=sealed):
            yield table.name, values
            done += 1
            if progress is not None and done % STEP == 0:
                progress("copying", done, 0)


def paste(
    tx: Tx,
    lines: Iterable[Line],
    *,
    into: str,
    emptied: bool = False,
    progress: Progress | None = None,
) -> dict[str, int]:
    """Write the rows of another graph into a new one, make what follows from them, and look whether
    all of it holds; how many rows of each table.

    Args:
        into: what the graph is called in errors.
        emptied: whether the graph held something, and gives no id of that again.

    Raises:
        Refused: ``not_empty``: the graph holds something.
        Invalid: ``unsound_copy``: the rows are no sound graph; what the stream itself raises.
    """
    if not emptied and not tx.rows.are_none():
        raise Refused(
            "not_empty",
            f"{into} holds something already, and a whole graph goes into a new one only. Import "
            "it into another file (--db), or export it as mcp to add what it says to this graph.",
        )
    tx.rows.begin()
    written = dict.fromkeys(BY_NAME, 0)
    order = [table.name for table in TABLES]
    for name, group in groupby(lines, key=itemgetter(0)):
        if name not in order:
            raise unsound(f"the rows of {name!r} stand where they can't")
        order = order[order.index(name) + 1 :]
        values = (values for _, values in group)
        sound = _each_once(values) if name == "last_id" else values
        written[name] = tx.rows.write(name, _told(sound, progress, sum(written.values())))
    _must_hold(tx, progress)
    if progress is not None:
        progress("filing words", 0, 0)
    tx.rows.remake()
    return written


def _each_once(rows: Iterable[tuple[Value, ...]]) -> Iterator[tuple[Value, ...]]:
    """The last ids, which are rows of no table that could refuse a second one itself."""
    seen: set[Value] = set()
    for row in rows:
        if row[0] in seen:
            raise unsound(f"it gives the last id of {row[0]!r:.60} twice")
        seen.add(row[0])
        yield row


def _told(
    values: Iterable[tuple[Value, ...]], progress: Progress | None, done: int
) -> Iterator[tuple[Value, ...]]:
    for at, row in enumerate(values, done + 1):
        yield row
        if progress is not None and at % STEP == 0:
            progress("copying", at, 0)


def _must_hold(tx: Tx, progress: Progress | None) -> None:
    """Raises where the rows are no graph: from such ones nothing could be worked out."""
    if wrong := tx.rows.flaws():
        raise unsound(wrong[0])
    try:
        context = tx.context()
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise unsound("what it says of its words can't be read") from None
    if context is not None and not _is_context(context):
        raise unsound("what it says of its words can't be read")
    found = check(tx, name_of=Name.of, deep=False, progress=progress)
    if not found.clean:
        raise unsound("; ".join(one.message for one in found.violations))


_CONTEXT = {
    "common": frozenset,
    "types_trusted": bool,
    "rules": str,
    "version": str,
    "initials": frozenset,
}


def _is_context(context: Context) -> bool:
    """Whether what was stored as a context has the types of one."""
    types = {one.name: type(getattr(context, one.name)) for one in fields(context)}
    return types == _CONTEXT and {str}.issuperset(map(type, context.common | context.initials))


def copy(
    source: Store, target: Store, progress: Progress | None = None, *, sealed: bool = True
) -> dict[str, int]:
    """Copy a graph into a new one, whatever database either lies in, with where its texts and names
    lie for embedding models; how many rows of each table.

    Raises:
        Refused: ``not_empty``. Invalid: ``unsound_copy``.
    """
    with source.read() as tx, target.write() as new:
        lines = rows(tx, sealed=sealed, progress=progress)
        written = paste(new, lines, into=target.url)
        if sealed:
            new.vectors.paste(tx.vectors.rows())
        return written


def counts(tx: Tx) -> dict[str, int]:
    """How many rows of each table a copy would take."""
    return {table.name: sum(1 for _ in tx.rows.read(table.name, sealed=True)) for table in TABLES}


def index_names(store: Store, engine: Callable[[], Engine], progress: Progress) -> None:
    """File the names of a copied graph as its last pass did, so that the next needs to look at
    what is new alone. Cut off, or without the rules it was settled by, the next looks at all."""
    with store.read() as tx:
        context = tx.context()
        known = context is not None and context.rules in rules.RULE_SETS
        if context is None or not known or context.version != VERSION or not tx.names.unindexed():
            return
        ids: list[int] = []
        spelled: list[tuple[str, str | None]] = []
        for row_id, spelling, kind in tx.entities.spellings():
            ids.append(row_id)
            spelled.append((spelling, kind))
    finder = engine()
    survey = finder.survey(ids, spelled, context.rules, progress)
    with store.write() as tx:
        tx.names.replace(survey.index())
        tx.names.mark_indexed(ids[-1])
    finder.close()


__all__ = [
    "BY_NAME",
    "DERIVED",
    "KEPT",
    "LEFT",
    "TABLES",
    "Column",
    "Line",
    "Table",
    "Value",
    "copy",
    "counts",
    "index_names",
    "paste",
    "rows",
    "unsound",
]
