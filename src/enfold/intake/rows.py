"""From names and a source's own ids to rows, made where there are none.

A name has one row for each of its senses: two things of one name are two only where ids that are
trusted say so. Where they are not, the first id of a name stands and another is noted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from enfold import lookup
from enfold.intake.run import Run
from enfold.names import Name
from enfold.ports import NewRow, Row

End = tuple[Name, str | None]
"""What a relation or an identity names: a name, and the source's own id of it where it has ids."""


class Same:
    """The rows of one name, lowest sense first, and which of them has which id."""

    def __init__(self, rows: Sequence[Row] = ()) -> None:
        self.rows = list(rows)
        self._of_id: dict[str, list[int]] = {}
        self._without: list[int] = []
        for place in range(len(self.rows)):
            self._note(place)

    def _note(self, place: int) -> None:
        said = self.rows[place].foreign_id
        if said is None:
            self._without.append(place)
        else:
            self._of_id.setdefault(said, []).append(place)

    def of(self, said: str | None) -> list[Row]:
        """The rows of that id."""
        return [] if said is None else [self.rows[place] for place in self._of_id.get(said, ())]

    def add(self, row: Row) -> int:
        """Its place."""
        self.rows.append(row)
        self._note(len(self.rows) - 1)
        return len(self.rows) - 1

    def free(self, run: Run) -> int | None:
        """The place of the first row that an id may still be given."""
        return next((place for place in self._without if _is_free(run, self.rows[place])), None)

    def give(self, place: int, said: str) -> None:
        """Give the row at a place an id."""
        self._without.remove(place)
        self.rows[place] = replace(self.rows[place], foreign_id=said)
        self._note(place)

    @property
    def next_sense(self) -> int:
        return self.rows[-1].sense + 1 if self.rows else 0

    @property
    def ids(self) -> list[str]:
        """Some of their ids."""
        return list(islice(self._of_id, IDS_SHOWN))

    @property
    def more_ids(self) -> int:
        return max(0, len(self._of_id) - IDS_SHOWN)


IDS_SHOWN: Final = 3


def _is_free(run: Run, row: Row) -> bool:
    """Whether an id may be this row's. An alias is its entity's, which may have an id itself."""
    if not row.alias_only:
        return True
    return run.tx.entities.many([row.canonical_id])[row.canonical_id].foreign_id is None


def one(same: Same, said: str | None) -> Row | None:
    """The row that a name asserts: the one with the id, else the lowest sense where all are one
    entity; None where that leaves several."""
    return _only(same.of(said) or same.rows)


def _only(rows: Sequence[Row]) -> Row | None:
    if not rows or any(row.canonical_id != rows[0].canonical_id for row in rows):
        return None
    return rows[0]


def rows_of(run: Run, wanted: Sequence[tuple[int, NewRow]]) -> dict[str, Same]:
    """Every row of the names, by key; the first of a name that had none is made as wanted, and
    under trusted ids one for each further id, in the order wanted.

    Args:
        wanted: each with its line.
    """
    known = run.tx.entities.rows(list({new.name.key for _, new in wanted}))
    rows = {key: Same(same) for key, same in known.items()}
    plan = _Plan(run)
    for line, row in wanted:
        same = rows.setdefault(row.name.key, Same())
        if not same.rows or (run.trust_ids and not plan.leads(same, row.foreign_id)):
            plan.add(line, row, same)
    plan.make()
    return rows


class _Plan:
    """Rows to make, which stand in their places until they have their ids."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._new: list[NewRow] = []
        self._places: dict[tuple[int, int], int] = {}  # (which Same, place in it): which new row
        self._same: list[tuple[Same, int]] = []

    def leads(self, same: Same, said: str | None) -> bool:
        """Whether an id of a name has a row: one of that id, or one without that now gets it."""
        if said is None or same.of(said):
            return True
        place = same.free(self._run)
        if place is None:
            return False
        same.give(place, said)
        planned = self._places.get((id(same), place))
        if planned is None:
            self._run.tx.entities.set_foreign_id(same.rows[place].id, said)
        else:
            self._new[planned] = replace(self._new[planned], foreign_id=said)
        return True

    def add(self, line: int, row: NewRow, same: Same) -> None:
        if same.rows:
            _note_sense(self._run, line, row, same)
        row = replace(row, sense=same.next_sense)
        place = same.add(_row(-1 - len(self._new), row))  # an entity of its own, still unnumbered
        self._places[id(same), place] = len(self._new)
        self._new.append(row)
        self._same.append((same, place))

    def make(self) -> None:
        for (same, place), made in zip(self._same, _made(self._run, self._new), strict=True):
            same.rows[place] = made


def _made(run: Run, wanted: Sequence[NewRow]) -> list[Row]:
    ids = lookup.mint_many(run.tx, wanted)
    run.made(ids)
    return [_row(row_id, row) for row_id, row in zip(ids, wanted, strict=True)]


def _row(row_id: int, new: NewRow) -> Row:
    name = new.name
    return Row(
        row_id,
        name.spelling,
        name.key,
        new.sense,
        new.type,
        new.alias_only,
        row_id,
        new.foreign_id,
    )


def _note_sense(run: Run, line: int, row: NewRow, same: Same) -> None:
    more = f" and {same.more_ids:,} more" if same.more_ids else ""
    known = f"of the id {', '.join(map(repr, same.ids))}{more}" if same.ids else "known as an alias"
    why = (
        f"{row.name.spelling!r} with the id {row.foreign_id!r} is another than the one {known}; "
        "they stay two."
    )
    run.note(line, why)
    run.counts.senses += 1


# ---- the ends of relations and identities ----


def ends(run: Run, asked: Sequence[tuple[int, End]], *, tag: str) -> list[Row | None]:
    """The row of each end: by its id, else by its name, else by a name that is an id, else made.
    None for one that fits several entities.

    An id that only an earlier import gave is believed where it is trusted or stands for the name:
    two sources may both count from 1.

    Args:
        asked: each with its line.
        tag: kept with the rows that are made, which are listed.
    """
    names = {name.key: name for _, (name, _) in asked}
    rows = {key: Same(same) for key, same in run.tx.entities.rows(list(names)).items()}
    ids = {said for _, (_, said) in asked if said is not None}
    ids.update(name.spelling for key, name in names.items() if key not in rows)
    by_id = run.tx.entities.rows_by_foreign_id(sorted(ids))
    found = [_known(run, end, rows.get(end[0].key, Same()), by_id) for _, end in asked]
    missing = [
        (line, NewRow(name, source_tag=tag, foreign_id=said))
        for (line, (name, said)), known in zip(asked, found, strict=True)
        if not known
    ]
    before = run.tx.entities.last() if missing else 0
    made = rows_of(run, missing)
    new = {row.id: row for same in made.values() for row in same.rows if row.id > before}
    run.minted += [new[row_id].spelling for row_id in sorted(new)]
    return [
        _only(known) if known else one(made[name.key], said)
        for (_, (name, said)), known in zip(asked, found, strict=True)
    ]


def _known(run: Run, end: End, same: Same, by_id: dict[str, list[Row]]) -> Sequence[Row]:
    """The rows that an end may mean; none where one is to be made, or claimed by a trusted id."""
    name, said = end
    if said is None:
        if same.rows:
            return same.rows
        other = run.other_ids.get(name.spelling)
        return by_id.get(name.spelling) or ([other] if other else [])
    if exact := same.of(said):
        return exact
    if said in run.other_ids:
        return [run.other_ids[said]]
    believed = run.trust_ids or said == name.spelling
    theirs = [row for row in by_id.get(said, ()) if believed or run.touched(row)]
    if theirs or run.trust_ids:
        return theirs
    return same.rows
