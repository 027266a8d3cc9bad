"""A person at a terminal settles cards: one key an answer, and every answer kept as it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from rich.text import Text

from enfold.cli import render
from enfold.cli.keys import GONE, RESIZED, Ended, Keys
from enfold.cli.render import text
from enfold.cli.terminal import Terminal, visible
from enfold.errors import Error, NotFound, Refused

if TYPE_CHECKING:
    from enfold.answers import Answered, Undone
    from enfold.cards import Card, Leaf, Side
    from enfold.graph import Graph

Done = TypeVar("Done")

_MESSAGE: Final = 600
"""Letters of a reason or a refusal, which may name names of any length."""

HELP: Final = (
    ("1-9", "mark a name, or take its mark away"),
    ("f", "fold: the marked are the same as the name on top; all are, where none is marked"),
    ("a", "apart: the marked are other things than the name on top; all are, where none is marked"),
    ("o", "only the marked are the same: fold them, keep the others apart"),
    ("e", "all except the marked are the same: keep the marked apart, fold the others"),
    ("d", "all are different: apart from the name on top, and from each other"),
    ("n", "choose the name that survives: 0 for the one on top, 1-9 for another"),
    ("c", "look at the questions about one of the names instead: 1-9"),
    ("b", "one answer for every open question of this card's rule, in the whole graph"),
    ("s", "skip: this card comes again when the others are done"),
    ("u", "take the last answer back; again for the one before it, also of earlier days"),
    ("?", "this help"),
    ("q", "quit; what was answered is kept"),
)
"""The keys, each with what it does."""

SHORT: Final = "f fold · a apart · 1-9 mark · s skip · u undo · ? help · q quit"
MARKED: Final = "f fold them · a apart · o only them fold · e except them · ? help"
SAFE: Final = "Every answer is kept at once. If one was wrong, u takes it back, today or later."

LISTED: Final = 8
"""Pairs of leaves that are listed; of more, only how many."""

_NARROW: Final = 24
"""Columns below which what is wrapped stands no further in than what it belongs to."""


@dataclass
class Progress:
    """How far a person has come in one session."""

    skipped: int = 0
    folded: int = 0
    apart: int = 0
    answers: list[int] = field(default_factory=list)


class Session:
    """Shows cards and takes answers until nothing is left or the person leaves."""

    def __init__(
        self,
        graph: Graph,
        terminal: Callable[[], Terminal],
        keys: Keys,
        *,
        around: str | None = None,
        rule: str | None = None,
        type: str | None = None,
    ) -> None:
        self._graph = graph
        self._make = terminal
        self._out = terminal()
        self._keys = keys
        self._around: str | int | None = around
        self._asked_around = around
        self._rule = rule
        self._type = type
        self._passed: set[tuple[int, int]] = set()
        self._marked: set[int] = set()
        self._keep: int | None = None
        self.done = Progress()
        self.left = False

    def run(self) -> None:
        """Go through the cards."""
        try:
            with self._keys.held():
                self._out.receipt(text((SAFE, "dim")))
                self._graph.refill()
                while not self.left and (card := self._next()) is not None:
                    self._one(card)
        except (KeyboardInterrupt, Ended):
            self._out = self._make()
            self._out.line()
        self._out.receipt(self._sum())

    def _sum(self) -> Text:
        settled = self.done.folded + self.done.apart
        did = f" ({self.done.folded:,} folded, {self.done.apart:,} apart)" if settled else ""
        pairs, _ = self._graph.count_cards(rule=self._rule, type=self._type)
        return text((f"Settled {settled:,}", "bold"), f"{did}; {pairs:,} open.")

    def _next(self) -> Card | None:
        found = self._deal()
        if found is None and self._around != self._asked_around:
            self._around = self._asked_around
            found = self._deal()
        if found is None and self._passed:
            self._out.line(text(("Only what you skipped is left; it comes again.", "dim")))
            self._again()
            found = self._deal()
        if found is None:
            self._out.line("Nothing is left to ask.")
            self._out.hint(text("To look for more: ", render.command("enfold resolve")))
        return found

    def _deal(self) -> Card | None:
        what = {"rule": self._rule, "type": self._type, "passed": self._passed}
        try:
            found = self._graph.cards(limit=1, around=self._around, **what)  # type: ignore[arg-type]
        except NotFound:
            if self._around == self._asked_around:
                raise
            return None  # somebody deleted the one that was turned to
        return found[0] if found else None

    def _again(self) -> None:
        """What was skipped comes again."""
        self._passed.clear()
        self.done.skipped = 0

    # ---- one card ----

    def _one(self, card: Card) -> None:
        self._marked, self._keep = set(), None
        self._show(card)
        self._keys.forget()
        while True:
            key = self._asked(card)
            if key == RESIZED:
                self._show(card)
            elif self._answered(card, key):
                return

    def _show(self, card: Card) -> None:
        self._out = self._make()
        draw(self._out, card, self._where(), keep=self._keep)

    def _where(self) -> str:
        pairs, cards = self._graph.count_cards(
            around=self._around, rule=self._rule, type=self._type
        )
        settled = self.done.folded + self.done.apart
        behind = len(self.done.answers)
        of = "" if cards is None else f" of {max(cards, self.done.skipped + 1) + behind:,}"
        number = behind + self.done.skipped + 1
        return f"Card {number:,}{of} · {pairs:,} open · settled {settled:,}"

    def _asked(self, card: Card) -> str:
        names = [str(n) for n, leaf in enumerate(card.leaves, 1) if leaf.side.id in self._marked]
        said = f"{' '.join(names)} marked · {MARKED}" if names else SHORT
        key = self._key(said)
        return str(int(key)) if key.isdecimal() else key  # digits of any script

    def _key(self, said: str) -> str:
        self._out.line(text((said, "dim")))
        self._prompt("> ")
        key = self._keys.read()
        if self._keys.raw:
            self._out.line("" if key in (GONE, RESIZED) or not key.isprintable() else key)
        return key

    def _prompt(self, said: str) -> None:
        self._out.flush()
        self._out.raw(said)
        self._out.flush()

    def _answered(self, card: Card, key: str) -> bool:
        """Do what a key says; whether the next card is to be shown."""
        leaves = [leaf.side.id for leaf in card.leaves]
        marked = [leaf for leaf in leaves if leaf in self._marked]
        others = [leaf for leaf in leaves if leaf not in self._marked]
        if key in (GONE, "q", "Q"):
            self.left = True
        elif key == "s":
            self._passed.update(card.pairs)
            self.done.skipped += 1
        elif key.isdecimal() and key != "0":
            return self._mark(card, int(key))
        elif key == "f":
            return self._say(card, same=marked or leaves)
        elif key == "a":
            return self._say(card, apart=marked or leaves)
        elif key in "oe" and not marked:
            self._out.line("Mark a leaf first: 1-9.")
            return False
        elif key == "o":
            return self._say(card, same=marked, apart=others)
        elif key == "e":
            return self._say(card, same=others, apart=marked)
        elif key == "d":
            return self._say(card, apart=leaves, among=True)
        elif key == "n":
            return self._choose_name(card)
        elif key == "c":
            return self._turn(card)
        elif key == "b":
            return self._all(card)
        elif key == "u":
            return self._undo()
        else:
            show_help(self._out)
            return False
        return True

    def _mark(self, card: Card, number: int) -> bool:
        if number > len(card.leaves):
            there = (
                f"There are {len(card.leaves)} names" if card.leaves[1:] else "There is one name"
            )
            self._out.line(f"{there} to mark.")
        else:
            self._marked ^= {card.leaves[number - 1].side.id}
        return False

    def _say(
        self,
        card: Card,
        *,
        same: Sequence[int] = (),
        apart: Sequence[int] = (),
        among: bool = False,
    ) -> bool:
        keep = self._keep if same else None
        if keep not in (None, card.centre.id, *same):
            self._out.line("The name you chose would not be folded; choose another: n.")
            return False

        def give() -> Answered:
            return self._graph.answer_card(card, same=same, apart=apart, keep=keep, among=among)

        done = self._tried(give)
        if done is not None:
            self._count(done)
            for line in told(card, done, apart):
                self._out.receipt(line)
        return True

    def _count(self, done: Answered) -> None:
        self.done.answers.append(done.id)
        self.done.folded += len(done.merges)
        self.done.apart += len(done.decisions)

    def _tried(self, give: Callable[[], Done]) -> Done | None:
        try:
            return give()
        except Error as error:
            self._out.line(text((visible(str(error), _MESSAGE), "yellow")))
            return None

    # ---- beside the answers ----

    def _number(self, said: str, least: int, most: int) -> int | None:
        key = self._key(said)
        if key.isdecimal() and least <= int(key) <= most:
            return int(key)
        self._out.line("Left as it was.")
        return None

    def _choose_name(self, card: Card) -> bool:
        most = len(card.leaves)
        number = self._number(f"Which name survives? 0 the one on top, {_to(most)}", 0, most)
        if number is not None:
            side = card.centre if number == 0 else card.leaves[number - 1].side
            self._keep = side.id
            self._out.line(text("The name that survives: ", render.name(side.name)))
        return False

    def _turn(self, card: Card) -> bool:
        number = self._number(f"About which name? {_to(len(card.leaves))}", 1, len(card.leaves))
        if number is None:
            return False
        self._around = card.leaves[number - 1].side.id
        return True

    def _all(self, card: Card) -> bool:
        rule = card.leaves[0].rule
        every = f"Every open question of the rule {rule}, in the whole graph"
        key = self._key(f"{every}: f fold · a apart · else nothing")
        if key not in ("f", "a"):
            self._out.line("Left as it was.")
            return False
        self._prompt("With a score of at least (Enter for any): ")
        typed = self._keys.line()
        least = _score(typed)
        if least is None:
            self._out.line("That is no score between 0 and 1; left as it was.")
            return False
        same = key == "f"
        what = {"same": same, "rule": rule, "type": self._type, "min_score": least}
        plan = self._graph.answer_all(dry_run=True, **what)  # type: ignore[arg-type]
        stay = f" {plan.left:,} stay asked: they would join two by way of a third." * bool(
            plan.left
        )
        does = "Fold" if same else "Keep apart"
        self._keys.forget()
        if (
            not plan.pairs
            or self._key(f"{does} {plan.pairs:,} pairs?{stay} y · else nothing") != "y"
        ):
            self._out.line("Left as it was.")
            return False
        done = self._tried(lambda: self._graph.answer_all(expected=plan.pairs, **what))  # type: ignore[arg-type]
        if done is not None and done.answered is not None:
            self._count(done.answered)
            self._out.receipt(f"{does}: {done.pairs:,} pairs. u takes it back.")
        return True

    def _undo(self) -> bool:
        mine = self.done.answers[-1] if self.done.answers else None
        undone = self._tried(lambda: self._taken_back(mine))
        if undone is None:
            return False
        if mine is not None:
            self.done.answers.pop()
            self.done.folded -= len(undone.merges)
            self.done.apart -= len(undone.decisions)
        self._out.receipt(taken_back(undone))
        self._again()
        self._around = self._asked_around
        return True

    def _taken_back(self, mine: int | None) -> Undone:
        try:
            return self._graph.undo_answer(mine)
        except (NotFound, Refused):  # somebody else took it back: u goes on to the one before it
            if mine is not None:
                self.done.answers.pop()
            raise


def _score(typed: str | None) -> float | None:
    try:
        least = float(typed.replace(",", ".")) if typed else 0.0
    except ValueError:
        return None
    return least if 0 <= least <= 1 else None


# ---- drawing ------------------------------------------------------------------------------------


def draw(out: Terminal, card: Card, where: str, *, keep: int | None = None) -> None:
    """A card, wrapped to the terminal; the question stands again at the end, where it is read on a
    screen that does not hold the whole.

    Args:
        keep: whose name survives, where somebody chose.
    """
    out.line()
    out.line(text((where, "dim")))
    _side(out, card.centre, head="")
    out.line(text(("Is it the same as", "bold")))
    for number, leaf in enumerate(card.leaves, 1):
        _leaf(out, number, leaf, card)
    numbers = {leaf.side.id: str(number) for number, leaf in enumerate(card.leaves, 1)}
    for line in _beside(card, numbers):
        out.line(text((line, "dim")), hang=_hang(out))
    sides = [card.centre, *(leaf.side for leaf in card.leaves)]
    kept = next(side for side in sides if side.id == (keep or card.keeps))
    out.line(text("Folded, the name that survives: ", render.name(kept.name)), hang=_hang(out))
    each = "each of " if len(card.leaves) > 1 else ""
    of = text((_to(len(card.leaves)), "bold yellow"))
    about = render.name(card.centre.name)
    out.line(text(f"Is {each}", of, " the same as ", about, "?"), hang=_hang(out))


def _to(last: int) -> str:
    return "1" if last == 1 else f"1-{last}"


def _hang(out: Terminal) -> int:
    return 0 if out.width is not None and out.width < _NARROW else 2


def _leaf(out: Terminal, number: int, leaf: Leaf, card: Card) -> None:
    _side(out, leaf.side, head=f"{number}  ")
    asked = [
        render.cut(name)
        for name, side in ((leaf.left_name, leaf.side), (leaf.right_name, card.centre))
        if name != side.name
    ]
    said = f" (compared as “{'” and “'.join(asked)}”)" if asked else ""
    why = f"  {visible(leaf.reason, _MESSAGE)}{said}"
    out.line(text((f"{leaf.rule} {leaf.score:.2f}", "cyan"), why), indent=3, hang=_hang(out))
    near = []
    if leaf.side.type != card.centre.type:
        near.append(f"types differ: {leaf.side.type or 'none'}, {card.centre.type or 'none'}")
    if leaf.together:
        near.append(f"{render.count(leaf.together, 'memory', 'memories')} of both")
    if leaf.shared_count:
        rest = leaf.shared_count - len(leaf.shared)
        near.append(f"both near {_names(leaf.shared)}" + (f" and {rest:,} more" if rest else ""))
    if leaf.leaf_only:
        near.append(f"only this near {_names(leaf.leaf_only)}")
    if leaf.centre_only and leaf.leaf_only:
        near.append(f"only the one on top near {_names(leaf.centre_only)}")
    if near:
        out.line(text((" · ".join(near), "dim")), indent=3, hang=_hang(out))


def _side(out: Terminal, side: Side, *, head: str) -> None:
    about = [render.cut(side.type)] if side.type else []
    about += [render.count(side.mentions, "mention"), render.count(side.facts, "fact")]
    line = text((head, "bold yellow"), render.name(side.name), ("  " + " · ".join(about), "dim"))
    out.line(line, hang=len(head) or 2)
    indent = len(head) or 2
    hang = _hang(out)
    if side.aliases:
        rest = side.alias_count - len(side.aliases)
        also = f"also {_names(side.aliases)}" + (f" and {rest:,} more" if rest > 0 else "")
        out.line(text((also, "dim")), indent=indent, hang=hang)
    for one in side.evidence:
        source = f"  {render.cut(one.source)}" if one.source else ""
        out.line(text(f"“{one.text}”", (source, "dim")), indent=indent, hang=hang)


def _names(names: Iterable[str]) -> str:
    return ", ".join(render.cut(name) for name in names)


def _beside(card: Card, numbers: dict[int, str]) -> list[str]:
    lines = []
    if card.beside:
        pairs = [f"{numbers[one.left_id]} ~ {numbers[one.right_id]}" for one in card.beside]
        few = ", ".join(pairs) if len(pairs) <= LISTED else render.count(len(pairs), "pair")
        lines.append(f"Open among these, too: {few}")
    known = [pair for pair in card.apart if card.centre.id not in pair]
    if known:
        pairs = [f"{numbers[low]} ≠ {numbers[high]}" for low, high in known[:LISTED]]
        lines.append(f"Settled apart already, so not both: {', '.join(pairs)}")
    if card.settles:
        lines.append(f"Folding all settles {render.count(card.settles, 'more question')}.")
    if card.more:
        more = render.count(card.more, "more question")
        lines.append(f"{more} about the name on top on later cards.")
    return lines


def told(card: Card, done: Answered, apart: Sequence[int]) -> list[Text]:
    """What an answer did, in a line or two."""
    lines = []
    if done.merges:
        names = Text(", ").join(render.name(merge.absorbed_name) for merge in done.merges)
        lines.append(
            text("Folded ", names, " → ", render.name(done.merges[-1].canonical_name), ".")
        )
    if done.decisions:
        kept = [leaf.side.name for leaf in card.leaves if leaf.side.id in apart]
        names = Text(", ").join(map(render.name, kept))
        rest = len(done.decisions) - len(kept)
        also = f", and {render.count(rest, 'pair')} of them from each other" if rest > 0 else ""
        lines.append(
            text("Kept ", names, " apart from ", render.name(card.centre.name), f"{also}.")
        )
    return lines


def taken_back(undone: Undone) -> Text:
    """What was taken back, in a line."""
    parts = []
    if undone.merges:
        parts.append(render.count(len(undone.merges), "fold"))
    if undone.decisions:
        parts.append(f"{len(undone.decisions):,} apart")
    if undone.before:
        parts.append(f"{undone.before:,} had been taken back before")
    return text(f"Took answer {undone.id} back: {', '.join(parts) or 'nothing was left of it'}.")


def show_help(out: Terminal) -> None:
    """The keys."""
    for key, meaning in HELP:
        out.line(text((key.rjust(3), "cyan"), f"  {meaning}"), hang=5)
