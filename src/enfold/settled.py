"""What a graph was told about its names, as lines that another graph can be told.

``gather`` lists the decisions in force, the folds a person made, the spellings a person declared
and the names a person chose to show. ``apply`` takes such lines into a graph. It makes no entity:
a line about a name that is not known is listed and left. What a person decided here stands: a line
against it is refused, and listed too.

The order of lines does not matter. A fold is told by the row that was folded and the row it was
folded into, and each row has one such fold, so that they are a tree and can be made again from its
leaves up. Decisions come before folds, so that a fold against one is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from enfold import folds
from enfold.errors import Conflict, Invalid, NotFound, Refused
from enfold.model import Applied, DecidedBy, Entity, Merge, NotApplied, SetAside, Settled
from enfold.names import Name
from enfold.ports import EVERY, Tx

SAME: Final = "same"
APART: Final = "apart"
ALIAS: Final = "alias"
CALLED: Final = "called"
KINDS: Final = (SAME, APART, ALIAS, CALLED)

IDENTICAL: Final = "identical"

RUN: Final = "decisions"
"""The kind of the run that takes lines in."""


# ---- out ----


def gather(tx: Tx) -> list[Settled]:
    """Every line, sorted by its names, so that the same graph always gives the same file.

    Beside what people settled these are the decisions of models and imports, and the folds that a
    rule made and would not make again, because a decision turned it off for their letters.
    """
    told = _Told(tx)
    lines = [*_apart(tx, told), *_folded(tx, told), *_called(tx, told)]
    return sorted(set(lines), key=_order)


def _order(line: Settled) -> tuple[str, ...]:
    sides = (line.left, line.left_type, line.left_id, line.right, line.right_type, line.right_id)
    plain = tuple(part or "" for part in sides)
    rest = (line.kind, line.at or "", line.who or "", line.why or "", str(line.overrules))
    return (plain[0].casefold(), plain[3].casefold(), *plain, *rest)


class _Told:
    """How a row is told: by its name, and by its type or id where other rows have that name."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def __call__(self, row: Entity) -> tuple[str, str | None, str | None]:
        ways = ((None, None), (row.type, None), (None, row.foreign_id), (row.type, row.foreign_id))
        for kind, foreign_id in ways:
            found = side(self._tx, row.spelling, kind, foreign_id)
            if isinstance(found, Entity) and found.id == row.id:
                return row.spelling, kind, foreign_id
        return row.spelling, row.type, row.foreign_id

    def of_key(self, key: str, sense: int, name: str) -> tuple[str, str | None, str | None]:
        rows = [row for row in self._tx.entities.by_key(key) if row.sense == sense]
        return self(rows[0]) if rows else (name, None, None)


def _apart(tx: Tx, told: _Told) -> Iterator[Settled]:
    for one in tx.decisions.recent(limit=EVERY):
        left = told.of_key(one.left_key, one.left_sense, one.left_name)
        right = told.of_key(one.right_key, one.right_sense, one.right_name)
        left, right = sorted((left, right), key=lambda s: (s[0].casefold(), *(p or "" for p in s)))
        why = None if one.why == folds.NO_REASON else one.why
        yield _line(APART, left, right, one.decided_by, one.actor, one.created_at, why)


def _folded(tx: Tx, told: _Told) -> Iterator[Settled]:
    off, overruling = tx.decisions.off_merge_keys(), _overruling(tx)
    before = None
    while page := tx.merges.recent(before=before, limit=1_000):
        before = page[-1].id
        rows = tx.entities.many([row for m in page for row in (m.absorbed_id, m.canonical_id)])
        for merge in page:
            absorbed, canonical = rows[merge.absorbed_id], rows[merge.canonical_id]
            by_hand = merge.decided_by is DecidedBy.HUMAN
            if absorbed.key == canonical.key and absorbed.alias_only:
                continue  # a spelling of another case, which the name shown tells
            if not by_hand and not (
                merge.rule == IDENTICAL and Name.of(absorbed.spelling).merge_key in off
            ):
                continue
            kind = ALIAS if absorbed.alias_only else SAME
            line = _line(
                kind,
                told(absorbed),
                told(canonical),
                merge.decided_by,
                merge.actor,
                merge.created_at,
                merge.reason,
            )
            why = None if line.why == _unsaid(line) else line.why
            yield replace(line, overrules=merge.id in overruling, why=why)


def _overruling(tx: Tx) -> set[int]:
    """The folds that join what is settled apart: each on the way between, for any of them may be
    the last to be made again."""
    found: set[int] = set()
    for one in tx.decisions.recent(limit=EVERY):
        left, right = (
            next((row for row in tx.entities.by_key(key) if row.sense == sense), None)
            for key, sense in ((one.left_key, one.left_sense), (one.right_key, one.right_sense))
        )
        if left and right and left.canonical_id == right.canonical_id:
            found.update(merge.id for merge in _between(tx, left.id, right.id))
    return found


def _unsaid(line: Settled) -> str:
    """The reason of a fold that was given none."""
    return (folds.declared if line.kind == ALIAS else folds.said_same)(line.left, line.right)


def _called(tx: Tx, told: _Told) -> Iterator[Settled]:
    latest = {root: actor for root, _, actor, _ in tx.entities.renamings()}
    for root, row in tx.entities.many(list(latest)).items():
        if row.live and row.name != row.spelling:
            right = (row.name, None, None)
            yield _line(CALLED, told(row), right, DecidedBy.HUMAN, latest[root], None, None)


def _line(
    kind: str,
    left: tuple[str, str | None, str | None],
    right: tuple[str, str | None, str | None],
    decided_by: DecidedBy,
    who: str | None,
    at: str | None,
    why: str | None,
) -> Settled:
    return Settled(
        line=0,
        kind=kind,
        left=left[0],
        right=right[0],
        left_type=left[1],
        left_id=left[2],
        right_type=right[1],
        right_id=right[2],
        decided_by=decided_by,
        who=who,
        at=at,
        why=why or None,
    )


# ---- a name of a line ----


def side(tx: Tx, name: str, kind: str | None, foreign_id: str | None) -> Entity | Conflict | None:
    """The row that a name of a line means; None where there is none, the error where it fits rows
    of several entities. A name is looked for as it is written, case and blanks aside: a line is
    about that name, not about what a rule would make of it.

    Raises:
        Invalid: ``blank_name``, ``name_too_long``.
    """
    rows = tx.entities.by_key(Name.of(name).key)
    if foreign_id is not None:
        rows = [row for row in rows if row.foreign_id == foreign_id]
    if kind is not None:
        rows = [row for row in rows if (row.type or "").casefold() == kind.casefold()]
    if not rows:
        return None
    if len({row.canonical_id for row in rows}) > 1:
        fits = "; ".join(f"id:{r.id}{f' ({r.type})' if r.type else ''}" for r in rows[:5])
        return Conflict("ambiguous", f"“{name}” fits several entities here: {fits}.")
    return min(rows, key=lambda row: (row.spelling != name, row.sense, row.id))


# ---- in ----


def apply(
    tx: Tx, lines: Iterable[Settled | SetAside], *, actor: str | None, source: str
) -> Applied:
    """Take lines in; each stands for itself.

    Args:
        actor: who decides where a line does not say.
        source: the file's name, kept with the run.
    """
    run = _Run(tx, actor)
    said, aside = [], []
    for line in lines:
        if isinstance(line, SetAside):
            aside.append(line)
        else:
            said.append(line)
    run.take_all(said)
    run_id = tx.runs.start(RUN)
    pieces = [SetAside(source, n.settled.line, n.reason, _words(n.settled)) for n in run.not_taken]
    tx.runs.set_aside(run_id, [*pieces, *aside])
    done = Applied(
        new=run.new,
        known=run.known,
        undone=tuple(run.undone),
        refused=tuple(run.refused),
        unknown=tuple(run.unknown),
        set_aside=tuple(aside),
        run_id=run_id,
    )
    figures = {
        "source": source,
        "new": done.new,
        "known": done.known,
        "undone": len(done.undone),
        "refused": len(done.refused),
        "unknown": len(done.unknown),
        "set_aside": len(aside),
    }
    tx.runs.finish(run_id, figures)
    return done


# A spelling may be a side of a decision, so aliases come first; decisions come before folds, so
# that a fold against one is seen; what is shown must be a name by then.
_STEPS: Final[tuple[Callable[[Settled], bool], ...]] = (
    lambda line: line.kind == ALIAS and not line.overrules,
    lambda line: line.kind == APART,
    lambda line: line.kind == SAME or (line.kind == ALIAS and line.overrules),
    lambda line: line.kind == CALLED,
)

_Side = tuple[str, str | None, str | None]


def _innermost(lines: Iterable[Settled]) -> list[Settled]:
    """Folds into a name before the fold of that name, so that each is made as it was: of a root
    into a root."""
    every = list(lines)
    into = {_left_of(line): _right_of(line) for line in every}
    above: dict[_Side, int] = {}
    for side_ in into:
        way: list[_Side] = []
        seen: set[_Side] = set()
        at = side_
        while at in into and at not in above and at not in seen:
            way.append(at)
            seen.add(at)
            at = into[at]
        height = above.get(at, 0)
        for step in reversed(way):
            above[step] = height = height + 1
    return sorted(every, key=lambda line: -above[_left_of(line)])


def _left_of(line: Settled) -> _Side:
    return line.left, line.left_type, line.left_id


def _right_of(line: Settled) -> _Side:
    return line.right, line.right_type, line.right_id


def _words(line: Settled) -> str:
    return f"{line.kind} “{line.left}” “{line.right}”"


class _Unknown(Exception):
    """A name of a line that leads to no one row."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


class _Run:
    def __init__(self, tx: Tx, actor: str | None) -> None:
        self._tx, self._actor = tx, actor
        self.new = self.known = 0
        self._told: set[int] = set()
        self._overruling: list[Settled] = []
        self.undone: list[int] = []
        self.refused: list[NotApplied] = []
        self.unknown: list[NotApplied] = []

    @property
    def not_taken(self) -> list[NotApplied]:
        return [*self.refused, *self.unknown]

    def take_all(self, lines: Sequence[Settled]) -> None:
        self._overruling = [line for line in lines if line.overrules]
        for step in _STEPS:
            for line in _innermost(line for line in lines if step(line)):
                self.take(line)
        # A spelling that only a line which overrules makes was not known before.
        late = [one for one in self.unknown if one.settled.kind == APART]
        if late and self._overruling:
            self.unknown = [one for one in self.unknown if one not in late]
            for one in late:
                self.take(one.settled)

    def take(self, line: Settled) -> None:
        if line.who is None and line.decided_by is DecidedBy.HUMAN:
            line = replace(line, who=self._actor)
        try:
            done = _TAKE[line.kind](self, line)
        except _Unknown as error:
            self.unknown.append(NotApplied(line, error.code, error.reason))
        except (Refused, Invalid, Conflict, NotFound) as error:
            self.refused.append(NotApplied(line, error.code, str(error)))
        else:
            self.new += done
            self.known += not done

    # ---- the four kinds; each says whether it changed something ----

    def same(self, line: Settled) -> bool:
        left, right = self._left(line), self._right(line)
        if left.canonical_id == right.canonical_id:
            return False
        self._fold(line, left, right)
        return True

    def apart(self, line: Settled) -> bool:
        left, right = self._left(line), self._right(line)
        if left.id == right.id:
            raise Refused("already_one", "The two names are one here but for case and blanks.")
        standing = self._tx.decisions.of_rows(left, right)
        if standing is not None:
            self._told.add(standing.id)
            return False
        if left.canonical_id == right.canonical_id:
            self._part(line, left, right)
        made = folds.settle_apart(
            self._tx,
            left.id,
            right.id,
            decided_by=line.decided_by,
            actor=line.who,
            why=line.why or folds.NO_REASON,
            at=line.at,
        )
        self._told.add(made)
        return True

    def alias(self, line: Settled) -> bool:
        right = self._right(line)
        left = side(self._tx, line.left, line.left_type, line.left_id)
        if isinstance(left, Conflict):
            raise _Unknown(left.code, str(left))
        if left is not None:
            return self.same(line)
        folds.alias(
            self._tx,
            right,
            Name.of(line.left),
            decided_by=line.decided_by,
            reason=line.why or _unsaid(line),
            actor=line.who,
            at=line.at,
        )
        return True

    def called(self, line: Settled) -> bool:
        root = folds.root_of(self._tx, self._left(line).id)
        if root.name == Name.of(line.right).spelling:
            return False
        folds.rename(self._tx, root, Name.of(line.right), actor=line.who)
        return True

    # ---- steps ----

    def _left(self, line: Settled) -> Entity:
        return self._side(line.left, line.left_type, line.left_id)

    def _right(self, line: Settled) -> Entity:
        return self._side(line.right, line.right_type, line.right_id)

    def _side(self, name: str, kind: str | None, foreign_id: str | None) -> Entity:
        found = side(self._tx, name, kind, foreign_id)
        if isinstance(found, Conflict):
            raise _Unknown(found.code, str(found))
        if found is not None:
            return found
        such = "".join(
            f", {word} {value!r}" for word, value in (("type", kind), ("id", foreign_id)) if value
        )
        raise _Unknown("unknown", f"The graph does not know “{name}”{such}; nothing was made.")

    def _fold(self, line: Settled, left: Entity, right: Entity) -> Merge:
        said = IDENTICAL if line.decided_by is DecidedBy.RULE else folds.DECLARED_SAME
        return folds.fold(
            self._tx,
            left,
            right,
            decided_by=line.decided_by,
            rule=folds.DECLARED if line.kind == ALIAS else said,
            score=1.0,
            reason=line.why or _unsaid(line),
            actor=line.who,
            overrule=self._may_overrule(line, left, right),
            at=line.at,
        )

    def _may_overrule(self, line: Settled, left: Entity, right: Entity) -> bool:
        """A person's line overrules what a model or an import settled; what a person did only where
        it says so, and only what this file tells too."""
        if line.decided_by is not DecidedBy.HUMAN:
            return False
        between = self._tx.decisions.between(left.canonical_id, right.canonical_id)
        return all(
            d.decided_by is not DecidedBy.HUMAN or (line.overrules and d.id in self._told)
            for d in between
        )

    def _part(self, line: Settled, left: Entity, right: Entity) -> None:
        """Take back the fold that no person made and that joins the two; nothing where a line says
        that it overrules this one.

        Raises:
            Refused: ``already_one``: a person made every fold between them, or the line is not a
                person's.
        """
        between = _between(self._tx, left.id, right.id)
        loose = [merge for merge in between if merge.decided_by is not DecidedBy.HUMAN]
        joined = {merge.absorbed_id for merge in between}
        for one in self._overruling:
            with suppress(Invalid):  # said of that line when it is taken
                row = side(self._tx, one.left, one.left_type, one.left_id)
                if isinstance(row, Entity) and row.id in joined:
                    return
        if not loose or line.decided_by is not DecidedBy.HUMAN:
            named = ", ".join(str(merge.id) for merge in between)
            raise Refused(
                "already_one",
                f"“{left.spelling}” and “{right.spelling}” are one here by merge {named}; revert "
                "that, if they are two.",
            )
        merge = max(loose, key=lambda one: one.id)
        touched = [*self._tx.merges.subtree(merge.absorbed_id), merge.canonical_id]
        self._tx.merges.unfold(merge.id)
        self._tx.entities.forget_examined(touched)
        self.undone.append(merge.id)


_TAKE: Final = {SAME: _Run.same, APART: _Run.apart, ALIAS: _Run.alias, CALLED: _Run.called}


def _between(tx: Tx, left_id: int, right_id: int) -> list[Merge]:
    """The folds by which two rows came under one root, those above where they met aside."""
    left, right = folds.way_up(tx, left_id), folds.way_up(tx, right_id)
    meeting = next(row for row in left if row in right)
    below = [*left[: left.index(meeting)], *right[: right.index(meeting)]]
    return [merge for row in below if (merge := tx.merges.live_of(row)) is not None]
