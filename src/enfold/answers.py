"""Answers to cards: given, taken back, and read from a sheet.

One answer is one transaction. It asks what waits and answers it in one go, so that the questions
are the record of what was asked, and it is one run of kind ``review`` that says what it did: so it
can be taken back later, in any session.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from enfold import conflicts, deferred, stars
from enfold.cards import AnyCard, Card, Edge, Filter, ListCard, Open, Pair, Side, ordered
from enfold.errors import Conflict, Invalid, NotFound, Refused
from enfold.model import Answer, Context, Entity, Merge, Proposal, Run, Verdict
from enfold.names import Name
from enfold.ports import Tx

KIND: Final = "review"
"""The kind of the runs that record answers."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What an answer did.

    Attributes:
        id: the run that recorded it; what ``undo`` takes.
        merges, decisions: the folds, and the decisions that keep apart, that it made.
        questions: the questions it answered.
        queued: questions that took the places it freed in the queue.
    """

    id: int
    merges: tuple[Merge, ...]
    decisions: tuple[int, ...]
    questions: tuple[int, ...]
    queued: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Undone:
    """An answer that was taken back.

    Attributes:
        merges: the folds reverted. decisions: the decisions undone.
        before: how many of its parts somebody had taken back already.
    """

    id: int
    merges: tuple[Merge, ...]
    decisions: tuple[int, ...]
    before: int


# ---- answering ----------------------------------------------------------------------------------


def answer(
    tx: Tx,
    card: AnyCard,
    *,
    same: Collection[int] = (),
    apart: Collection[int] = (),
    keep: int | None = None,
    among: bool = False,
    actor: str | None = None,
) -> Answered:
    """Answer some or all questions of a card. Leaves in neither ``same`` nor ``apart`` stay asked.

    Args:
        same: leaves that are the centre. apart: leaves that are not. On a list each leaf tells its
            line, and the name of that line's centre survives.
        keep: whose name survives: the centre, or one of ``same``; by default the canonical order
            among these. On a list nobody's: that is chosen line by line.
        among: the leaves in ``apart`` are different from each other, too: what is open between
            them is settled along. On a list that is not asked, and nothing more is settled.

    Raises:
        Invalid: ``not_on_card``: an id that is no leaf, or is said to be both; nothing is said.
        Conflict: ``card_changed``: a side is not what the card shows, or a question is settled.
        Refused: ``settled_apart``: two of ``same`` are.
    """
    if isinstance(card, ListCard):
        return _answer_list(tx, card, same=same, apart=apart, keep=keep, actor=actor)
    _must_be_on(card, same, apart)
    _must_survive(card, same, keep)
    edges = _still_open(tx, card, [*same, *apart])
    _must_not_be_apart(tx, card, same)
    keep = keep or _canonical(tx, [card.centre.id, *same])
    recorder = _Recorder(tx, actor, card.centre.name)
    # A fold can settle apart what was said to be: that is recorded before it.
    for leaf in apart:
        recorder.put(edges[leaf], same=False)
    if among:
        for edge in Open(tx).between(list(apart)):
            recorder.put(edge, same=False)
    # The one that survives goes first, so that the rest is folded into it.
    for leaf in sorted(same, key=lambda leaf: leaf != keep):
        recorder.put(edges[leaf], same=True, keep=keep)
    return recorder.done()


def _answer_list(
    tx: Tx,
    card: ListCard,
    *,
    same: Collection[int],
    apart: Collection[int],
    keep: int | None,
    actor: str | None,
) -> Answered:
    _must_be_on(card, same, apart)
    if keep is not None:
        raise Invalid(
            "not_on_card",
            "A list has no one name that survives; answer the line as a card of its own.",
            leaves=list(card.asked),
        )
    lines = {line.asked[0]: line for line in card.lines}
    edges = _lines_open(tx, [lines[leaf] for leaf in (*same, *apart)])
    recorder = _Recorder(tx, actor, ", ".join(card.rules))
    for leaf in apart:
        recorder.put(edges[leaf], same=False)
    for leaf in same:
        recorder.put(edges[leaf], same=True, keep=lines[leaf].centre.id)
    return recorder.done()


def _must_be_on(card: AnyCard, same: Collection[int], apart: Collection[int]) -> None:
    leaves = card.asked
    said = [*same, *apart]
    wrong = [one for one in said if one not in leaves]
    if not said or wrong or len(set(said)) != len(said):
        raise Invalid(
            "not_on_card",
            f"The card asks about {_some(leaves)}, each once; "
            f"{_some(wrong) if wrong else 'say'} {'is' if wrong else 'same or apart of one'}"
            f"{' no leaf of it' if wrong else ' or more of them'}.",
            leaves=list(leaves),
        )


def _must_survive(card: Card, same: Collection[int], keep: int | None) -> None:
    if keep is not None and keep not in (card.centre.id, *same):
        raise Invalid(
            "not_on_card",
            f"The name of {keep} can't survive: it is neither the centre nor said to be the same.",
            leaves=list(card.asked),
        )


def _must_not_be_apart(tx: Tx, card: Card, same: Collection[int]) -> None:
    names = {leaf.side.id: leaf.side.name for leaf in card.leaves}
    for low, high in tx.decisions.apart_roots(around=list(same)):
        if low in same and high in same:
            raise Refused(
                "settled_apart",
                f"“{names[low]}” and “{names[high]}” are settled apart, so that not both can be "
                f"“{card.centre.name}”. Nothing was answered.",
                entity_ids=[low, high],
            )


def _some(ids: Sequence[int]) -> str:
    return ", ".join(map(str, ids[:20]))


def _still_open(tx: Tx, card: Card, said: Sequence[int]) -> dict[int, Edge]:
    """The open pair of each of these leaves.

    Raises:
        Conflict: ``card_changed``.
    """
    leaves = {leaf.side.id: leaf for leaf in card.leaves}
    sides = [card.centre, *(leaves[one].side for one in said)]
    roots = [side.id for side in sides]
    now, aliases = tx.entities.many(roots), tx.entities.aliases(roots)
    changed = [side.name for side in sides if _differs(side, now.get(side.id), aliases)]
    if not changed:
        near = Open(tx).between(roots)
        edges = {e.other(card.centre.id): e for e in near if card.centre.id in e.pair}
        changed = [leaves[one].side.name for one in said if one not in edges]
        if not changed:
            return edges
    raise _changed([f"“{name}”" for name in changed], changed)


def _lines_open(tx: Tx, lines: Sequence[Card]) -> dict[int, Edge]:
    """The open pair of each of these lines of a list, by its leaf.

    Raises:
        Conflict: ``card_changed``.
    """
    sides = {line.pairs[0]: (line.leaves[0].side, line.centre) for line in lines}
    roots = [root for pair in sides for root in pair]
    now, aliases = tx.entities.many(roots), tx.entities.aliases(roots)
    near = {edge.pair: edge for edge in Open(tx).between(roots)}
    changed = [
        both
        for pair, both in sides.items()
        if pair not in near or any(_differs(side, now.get(side.id), aliases) for side in both)
    ]
    if changed:
        named = [f"“{one.name}” ~ “{other.name}”" for one, other in changed]
        raise _changed(named, [side.name for both in changed for side in both])
    return {line.asked[0]: near[line.pairs[0]] for line in lines}


def _changed(named: Sequence[str], names: Sequence[str]) -> Conflict:
    rest = f" and {len(named) - 5} more" if len(named) > 5 else ""
    return Conflict(
        "card_changed",
        f"The graph changed while this card was looked at: {', '.join(named[:5])}{rest}. Nothing "
        "was answered; look at the card again.",
        changed=list(names),
    )


def _differs(side: Side, now: Entity | None, aliases: Mapping[int, tuple[str, ...]]) -> bool:
    if now is None or not now.live:
        return True
    return (now.name, now.type, len(aliases.get(now.id, ()))) != (
        side.name,
        side.type,
        side.alias_count,
    )


def _canonical(tx: Tx, roots: Sequence[int]) -> int:
    entities = tx.entities.many(roots)
    return min(roots, key=lambda r: stars.canonical_order(entities[r], entities[r].name))


class _Recorder:
    """Asks what waits, answers it, and keeps a record of both to be taken back by."""

    def __init__(self, tx: Tx, actor: str | None, about: str) -> None:
        self._tx = tx
        self._actor = actor
        self._about = about
        self._context = tx.context()
        self._decided: list[tuple[conflicts.Decided, bool]] = []

    def put(self, edge: Edge, *, same: bool, keep: int | None = None) -> conflicts.Decided:
        """Answer one pair; where it is the same, ``keep`` (a row) leads to what survives."""
        waits = edge.question is None
        conflict_id = self._ask(edge) if edge.question is None else edge.question.id
        chosen = Answer.KEEP_BOTH
        if same:
            chosen = Answer.KEEP_EXISTING
            queued = edge.left_id if edge.question is None else edge.question.queued_id
            if keep is not None and self._root(queued) == self._root(keep):
                chosen = Answer.KEEP_NEW
        decided = conflicts.decide(self._tx, conflict_id, chosen, actor=self._actor)
        self._decided.append((decided, waits))
        return decided

    def _ask(self, edge: Edge) -> int:
        rows = self._tx.entities.many([edge.left_id, edge.right_id])
        left, right = rows[edge.left_id], rows[edge.right_id]
        why = deferred.reason(left, right, self._context or Context())
        asked = Proposal(left.id, right.id, Verdict.ASK, edge.rule, edge.score, why)
        found = self._tx.conflicts.ask([asked], asked_by="rule")
        assert found, "a pair that waits is in no queue"
        return found[0]

    def _root(self, row: int) -> int:
        return self._tx.entities.roots([row])[row]

    def done(self) -> Answered:
        """Refill the queue, and write what was done into a run."""
        queued = deferred.refill(self._tx, self._context)[1] if self._context is not None else []
        merges = tuple(one.merge for one, _ in self._decided if one.merge is not None)
        decisions = tuple(
            one.conflict.decision_id
            for one, _ in self._decided
            if one.conflict.decision_id is not None
        )
        run_id = self._tx.runs.start(KIND)
        report: dict[str, object] = {
            "actor": self._actor,
            "about": self._about,
            "folded": len(merges),
            "apart": len(decisions),
            "answers": [
                [one.conflict.id, one.conflict.merge_id, one.conflict.decision_id, waited]
                for one, waited in self._decided
            ],
            "queued": queued,
        }
        self._tx.runs.finish(run_id, report)
        questions = tuple(one.conflict.id for one, _ in self._decided)
        return Answered(run_id, merges, decisions, questions, tuple(queued))


# ---- many at once -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Many:
    """What one answer for every open pair of a kind does, or would do.

    Attributes:
        pairs: how many are answered.
        left: how many stay asked, because folding them would join two names by way of a third.
        answered: what was done; None for a plan.
    """

    pairs: int
    left: int
    answered: Answered | None = None


def answer_all(
    tx: Tx,
    which: Filter,
    *,
    same: bool,
    dry_run: bool = False,
    expected: int | None = None,
    actor: str | None = None,
) -> Many:
    """One answer for every open pair that fits. Folds make stars, the weightiest pair first: a pair
    of which either side was folded along the way stays asked.

    Args:
        expected: how many pairs the plan had that somebody agreed to.

    Raises:
        Refused: ``nothing_open``: no open pair fits.
        Conflict: ``card_changed``: there are more or fewer pairs than expected.
    """
    with closing(Open(tx, which).ranked()) as edges:  # read once, and never held whole
        if same:
            chosen, left = _stars_of(tx, edges)
        elif dry_run:
            return Many(sum(1 for _ in edges), 0)
        else:
            chosen, left = [(edge, None) for edge in edges], 0
    if dry_run:
        return Many(len(chosen), left)
    if not chosen:
        raise Refused("nothing_open", "No open question fits; nothing was answered.")
    if expected not in (None, len(chosen)):
        raise Conflict(
            "card_changed",
            f"The graph changed meanwhile: it would be {len(chosen):,} pairs now, not "
            f"{expected:,}. Nothing was answered; look again.",
            pairs=len(chosen),
        )
    recorder = _Recorder(tx, actor, which.rule or which.type or "all")
    for edge, keep in chosen:
        recorder.put(edge, same=same, keep=keep)
    return Many(len(chosen), left, recorder.done())


def _stars_of(tx: Tx, edges: Iterable[Edge]) -> tuple[list[tuple[Edge, int | None]], int]:
    """(pairs to fold, each with the entity that survives; how many pairs are left out)."""
    shut: dict[int, set[int]] = defaultdict(set)
    for low, high in tx.decisions.apart_roots():
        shut[low].add(high)
        shut[high].add(low)
    kept_from: dict[int, set[int]] = {}  # by centre: what one of its star is settled apart from
    named: dict[int, set[str]] = {}  # by centre: the names of its star, which no other sense joins
    absorbed: set[int] = set()
    chosen: list[tuple[Edge, int | None]] = []
    seen = 0
    for edge in edges:
        seen += 1
        heads = [end for end in edge.pair if end in kept_from]
        if len(heads) == 2 or absorbed.intersection(edge.pair):
            continue
        centre = heads[0] if heads else _canonical(tx, edge.pair)
        leaf = edge.other(centre)
        if leaf in kept_from.setdefault(centre, set(shut[centre])):
            continue
        own = named.setdefault(centre, set()) or _keys(tx, centre)
        if own & (added := _keys(tx, leaf)):
            continue
        named[centre] = own | added
        kept_from[centre] |= shut[leaf]
        absorbed.add(leaf)
        chosen.append((edge, centre))
    return chosen, seen - len(chosen)


def _keys(tx: Tx, root: int) -> set[str]:
    """What an entity is known as. Two that are known as one name are two things, as their source's
    ids said: only a person who looks at them makes them one."""
    row = tx.entities.many([root])[root]
    also = (row.name, *tx.entities.aliases([root]).get(root, ()))
    return {row.key, *(Name.of(spelling).key for spelling in also)}


# ---- pair by pair, as they come back from a sheet ------------------------------------------------


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody wrote about one pair of rows.

    Attributes:
        line: where, to tell them by.
        keep: the row whose entity's name survives.
        check: what ``check_of`` made of the two rows when they were asked about.
    """

    line: int
    left_id: int
    right_id: int
    same: bool
    keep: int | None = None
    check: str | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """What became of it: ``done``, ``settled`` (it was so already), ``refused`` or, in a sheet,
    ``unreadable``; and why."""

    line: int
    outcome: str
    why: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """What was read of a sheet.

    Attributes:
        unanswered: rows without an answer.
        unreadable: rows whose answer can't be understood.
    """

    said: tuple[Said, ...]
    unanswered: int = 0
    unreadable: tuple[Told, ...] = ()


@dataclass(frozen=True, slots=True)
class Returned:
    """What became of a sheet, row by row; ``answered`` is None where nothing was left to do."""

    told: tuple[Told, ...]
    unanswered: int
    answered: Answered | None


def take(tx: Tx, sheet: Sheet, *, actor: str | None = None) -> Returned:
    """Apply a sheet. Rows that can't be understood are listed, and left out."""
    told, answered = answer_pairs(tx, sheet.said, actor=actor)
    every = sorted([*told, *sheet.unreadable], key=lambda one: one.line)
    return Returned(tuple(every), sheet.unanswered, answered)


def answer_pairs(
    tx: Tx, said: Sequence[Said], *, actor: str | None = None
) -> tuple[list[Told], Answered | None]:
    """Answer pairs of rows in one go: all is looked at first, then what holds is applied.

    Both sides are followed through the folds made since. What contradicts itself is refused whole:
    every pair of names said to be one by way of each other, where two of them are apart.
    """
    plan = _Plan(tx, said)
    recorder = _Recorder(tx, actor, "answers")
    for edge in plan.kept_apart():  # before the folds, which may settle it too
        recorder.put(edge, same=False)
    for edge, keep in plan.folds():
        recorder.put(edge, same=True, keep=keep)
    answered = recorder.done() if plan.answers else None
    return sorted(plan.told, key=lambda one: one.line), answered


def check_of(left: str, right: str) -> str:
    """Six letters that tell two spellings from others: a row of another graph has the same ids."""
    return blake2b(f"{left}\n{right}".encode("utf-8", "replace"), digest_size=3).hexdigest()


class _Plan:
    """Answers held to each other and to the graph."""

    def __init__(self, tx: Tx, said: Sequence[Said]) -> None:
        self._tx = tx
        self.told: list[Told] = []
        self._up: dict[int, int] = {}
        self._root_of = tx.entities.roots(
            [row for one in said for row in (one.left_id, one.right_id)]
        )
        self._checks = self._rechecked(said)
        self._shut = set(tx.decisions.apart_roots()) if said else set()
        left = [one for one in said if self._is_open(one)]
        for one in left:
            if one.same:
                self._join(*self._pair(one))
        self._groups: dict[int, list[Said]] = defaultdict(list)
        for one in left:
            if one.same or self._head(self._pair(one)[0]) == self._head(self._pair(one)[1]):
                self._groups[self._head(self._pair(one)[0])].append(one)
        against = self._parted()
        for head, group in list(self._groups.items()):
            why = against.get(head) or _contradiction(group) or self._many_names(group)
            if why:
                self._tell(group, "refused", why)
                del self._groups[head]
        self._apart = [
            one
            for one in left
            if not one.same and self._head(self._pair(one)[0]) != self._head(self._pair(one)[1])
        ]
        self._edges = self._open_edges(
            [*self._apart, *(o for g in self._groups.values() for o in g)]
        )

    @property
    def answers(self) -> bool:
        return any(one.outcome == "done" for one in self.told)

    def folds(self) -> Iterator[tuple[Edge, int]]:
        """The pairs to fold, each joining one more entity to the one that survives."""
        for group in self._groups.values():
            roots = sorted({root for one in group for root in self._pair(one)})
            named = [one.keep for one in group if one.keep is not None]
            keep = self._root_of[named[0]] if named else _canonical(self._tx, roots)
            yield from self._from(keep, group)

    def _from(self, keep: int, group: Sequence[Said]) -> Iterator[tuple[Edge, int]]:
        near: dict[int, list[Said]] = defaultdict(list)
        for one in group:
            for root in self._pair(one):
                near[root].append(one)
        reached, told, queue = {keep}, set[int](), [keep]
        for root in queue:
            for one in near[root]:
                edge = self._edges.get(self._pair(one))
                if one.line in told or edge is None:
                    continue
                other = edge.other(root)
                told.add(one.line)
                if other in reached:
                    self._tell([one], "settled", "They are one by way of another line.")
                    continue
                reached.add(other)
                queue.append(other)
                self._tell([one], "done", "Folded.")
                yield edge, keep
        rest = [one for one in group if one.line not in told]
        self._tell(rest, "refused", "The question is not open any more; look again.")

    def kept_apart(self) -> Iterator[Edge]:
        """The pairs to settle apart, each once."""
        seen: set[Pair] = set()
        for one in self._apart:
            pair = self._pair(one)
            edge = self._edges.get(pair)
            if pair in seen:
                self._tell([one], "settled", "Another line says so.")
            elif edge is None:
                self._tell([one], "refused", "The question is not open any more; look again.")
            else:
                seen.add(pair)
                self._tell([one], "done", "Settled apart.")
                yield edge

    def _tell(self, said: Iterable[Said], outcome: str, why: str) -> None:
        self.told.extend(Told(one.line, outcome, why) for one in said)

    def _pair(self, one: Said) -> Pair:
        return ordered(self._root_of[one.left_id], self._root_of[one.right_id])

    def _rechecked(self, said: Sequence[Said]) -> dict[int, str]:
        """What ``check_of`` makes of the rows now, by line."""
        checked = [one for one in said if one.check is not None]
        rows = self._tx.entities.many(
            [row for one in checked for row in (one.left_id, one.right_id)]
        )
        return {
            one.line: check_of(rows[one.left_id].spelling, rows[one.right_id].spelling)
            for one in checked
            if one.left_id in rows and one.right_id in rows
        }

    def _is_open(self, one: Said) -> bool:
        """Whether something is left to answer; tells what is not."""
        if one.left_id not in self._root_of or one.right_id not in self._root_of:
            self._tell([one], "refused", "One of the two is gone from the graph.")
            return False
        if one.check is not None and self._checks[one.line] != one.check:
            self._tell([one], "refused", "Its id belongs to other names: it is of another graph.")
            return False
        low, high = self._pair(one)
        if low == high:
            why = "They are one entity" + (" already." if one.same else " now; revert that first.")
            self._tell([one], "settled" if one.same else "refused", why)
        elif (low, high) in self._shut:
            why = "They are settled apart"
            why += " now; undo that first." if one.same else " already."
            self._tell([one], "refused" if one.same else "settled", why)
        else:
            return True
        return False

    def _head(self, root: int) -> int:
        while root in self._up:
            root = self._up[root]
        return root

    def _join(self, one: int, other: int) -> None:
        one, other = self._head(one), self._head(other)
        if one != other:
            self._up[max(one, other)] = min(one, other)

    def _parted(self) -> dict[int, str]:
        """Groups of which two are settled apart in the graph, and why they can't be one."""
        found = {}
        for low, high in self._shut:
            if (low in self._up or high in self._up) and self._head(low) == self._head(high):
                names = self._tx.entities.shown_names([low, high])
                found[self._head(low)] = (
                    f"“{names[low]}” and “{names[high]}” would be one, and are settled apart."
                )
        return found

    def _many_names(self, group: Sequence[Said]) -> str:
        kept = {self._root_of.get(one.keep) for one in group if one.keep is not None}
        return "The lines of one entity let several names survive." if len(kept) > 1 else ""

    def _open_edges(self, said: Iterable[Said]) -> dict[Pair, Edge]:
        pool = Open(self._tx)
        pairs = {self._pair(one) for one in said}
        return {edge.pair: edge for pair in pairs for edge in pool.between(pair)}


def _contradiction(group: Sequence[Said]) -> str:
    apart = [one.line for one in group if not one.same]
    if not apart:
        return ""
    same = [str(one.line) for one in group if one.same]
    rest = f" and {len(same) - 3:,} more" if len(same) > 3 else ""
    lines = f"lines {', '.join(same[:3])}{rest} make" if len(same) > 1 else f"line {same[0]} makes"
    return f"Line {apart[0]} keeps apart what {lines} one."


# ---- taking back --------------------------------------------------------------------------------


def undo(tx: Tx, answer_id: int | None = None, *, actor: str | None = None) -> Undone:
    """Take an answer back: its folds are reverted, its decisions undone, and what it asked waits
    again as before.

    Args:
        answer_id: which; by default the actor's latest that stands.

    Raises:
        NotFound: ``no_answer``: there is none, or none of that id.
        Refused: ``already_undone``.
    """
    run = tx.runs.last(KIND, actor=actor) if answer_id is None else tx.runs.get(answer_id)
    if run is None or run.kind != KIND:
        of = f" {answer_id}" if answer_id is not None else f" of {actor or 'nobody'} that stands"
        raise NotFound("no_answer", f"There is no answer{of} to take back.")
    if run.report.get("undone_at"):
        raise Refused(
            "already_undone", f"Answer {run.id} was taken back at {run.report['undone_at']}."
        )
    merges: list[Merge] = []
    decisions: list[int] = []
    before = 0
    waited = list(run.report["queued"])
    for conflict_id, merge_id, decision_id, asked in reversed(run.report["answers"]):
        question = tx.conflicts.get(conflict_id)
        mine = (merge_id, decision_id)
        if question is None or (question.merge_id, question.decision_id) != mine:
            before += 1  # somebody took it back; what was answered since is not ours
            continue
        conflicts.reopen(tx, conflict_id, actor=actor)
        if merge_id is not None:
            merges += tx.merges.many([merge_id])
        else:
            decisions.append(decision_id)
        if asked:
            waited.append(conflict_id)
    tx.conflicts.withdraw(waited)
    tx.suggestions.count_open()  # settles what is open while it may: a read would work it out anew
    _mark_undone(tx, run, actor)
    return Undone(run.id, tuple(merges), tuple(decisions), before)


def _mark_undone(tx: Tx, run: Run, actor: str | None) -> None:
    tx.runs.finish(run.id, {**run.report, "undone_at": tx.now, "undone_by": actor})
