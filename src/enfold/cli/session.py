"""A person at a terminal settles cards: one key an answer, and every answer kept as it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from rich.text import Text

from enfold.cli import render
from enfold.cli.keys import GONE, RESIZED, Ended, Keys
from enfold.cli.render import text
from enfold.cli.terminal import LONGEST, Terminal, visible
from enfold.errors import Error, NotFound, Refused

if TYPE_CHECKING:
    from enfold.answers import Answered, Undone
    from enfold.cards import AnyCard, Card, Leaf, ListCard, Side
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

LIST_HELP: Final = (
    ("1-9", "mark a line, or take its mark away"),
    ("f", "fold: the two of each marked line are the same; of all lines, where none is marked"),
    ("a", "apart: the two of each marked line are different; of all lines, where none is marked"),
    ("o", "only on the marked lines are the two the same: fold them, keep the others apart"),
    ("e", "on all lines except the marked they are: keep the marked apart, fold the others"),
    ("d", "all are different: the two of every line"),
    ("v", "view one line as a card of its own, with all that is known: 1-9; v again comes back"),
    ("b", "one answer for every open question of this list's rule, where it has but one"),
    ("s", "skip: these questions come again when the others are done"),
    *HELP[-3:],
)
"""The keys on a list, each with what it does."""

VIEWED: Final = ("v", "back to the list, without an answer")

SHORT: Final = "f fold · a apart · 1-9 mark · s skip · u undo · ? help · q quit"
LIST_SHORT: Final = "f fold · a apart · 1-9 mark · v view one · s skip · u undo · ? help · q quit"
VIEW_SHORT: Final = "f fold · a apart · n name · v back to the list · s skip · ? help · q quit"
MARKED: Final = "f fold them · a apart · o only them fold · e except them · ? help"
SAFE: Final = "Every answer is kept at once. If one was wrong, u takes it back, today or later."

LISTED: Final = 8
"""Pairs of leaves that are listed; of more, only how many."""

_EVIDENCE_FROM: Final = 60
"""Columns from which on a line of a list shows what was written about the two."""

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
        lists: bool = True,
    ) -> None:
        self._graph = graph
        self._make = terminal
        self._out = terminal()
        self._keys = keys
        self._around: str | int | None = around
        self._asked_around = around
        self._rule = rule
        self._type = type
        self._lists = lists
        self._passed: set[tuple[int, int]] = set()
        self._marked: set[int] = set()
        self._keep: int | None = None
        self._viewed = False  # whether the card is a line of a list, looked at by itself
        self._back = False  # and whether the list comes again as it is
        self._through: tuple[tuple[int, int], ...] = ()  # the pairs answered or skipped last
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

    def _next(self) -> AnyCard | None:
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

    def _deal(self) -> AnyCard | None:
        try:
            found = self._graph.deal(
                limit=1,
                around=self._around,
                rule=self._rule,
                type=self._type,
                passed=self._passed,
                lists=self._lists,
            )
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

    def _one(self, card: AnyCard) -> None:
        self._marked, self._keep = set(), None
        self._show(card)
        self._keys.forget()
        while True:
            key = self._asked(card)
            if key == RESIZED:
                self._show(card)
            elif card.kind == "list" and key == "v":
                left = self._view(card)
                if left is None:
                    return
                card = left
            elif self._answered(card, key):
                return

    def _view(self, card: ListCard) -> AnyCard | None:
        """Look at one line by itself; the list that goes on, or None where the next card is to be
        dealt."""
        number = self._number(f"View which line? {_to(len(card.lines))}", 1, len(card.lines))
        if number is None:
            return card
        line = card.lines[number - 1]
        marked = set(self._marked)
        self._viewed, self._back, self._through = True, False, ()
        self._one(line)
        self._viewed = False
        left: AnyCard | None = None
        if self._back:
            left = card
        elif self._through == line.pairs:  # nothing else was done that another line rests on
            left = card.without(line)
        if left is not None:
            self._marked, self._keep = marked.intersection(left.asked), None
            self._show(left)
            self._keys.forget()
        return left

    def _show(self, card: AnyCard) -> None:
        self._out = self._make()
        if card.kind == "list":
            draw_list(self._out, card, self._where())
        else:
            draw(self._out, card, self._where(), keep=self._keep)

    def _where(self) -> str:
        pairs, cards = self._graph.count_cards(
            around=self._around, rule=self._rule, type=self._type, lists=self._lists
        )
        settled = self.done.folded + self.done.apart
        behind = len(self.done.answers)
        of = "" if cards is None else f" of {max(cards, self.done.skipped + 1) + behind:,}"
        number = behind + self.done.skipped + 1
        return f"Card {number:,}{of} · {pairs:,} open · settled {settled:,}"

    def _asked(self, card: AnyCard) -> str:
        names = [str(n) for n, leaf in enumerate(card.asked, 1) if leaf in self._marked]
        short = LIST_SHORT if card.kind == "list" else VIEW_SHORT if self._viewed else SHORT
        said = f"{' '.join(names)} marked · {MARKED}" if names else short
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

    def _answered(self, card: AnyCard, key: str) -> bool:
        """Do what a key says; whether the next card is to be shown."""
        leaves = list(card.asked)
        marked = [leaf for leaf in leaves if leaf in self._marked]
        others = [leaf for leaf in leaves if leaf not in self._marked]
        if key in (GONE, "q", "Q"):
            self.left = True
        elif key == "s":
            self._passed.update(card.pairs)
            self.done.skipped += 1
            self._through = card.pairs
        elif key.isdecimal() and key != "0":
            return self._mark(card, int(key))
        elif key == "f":
            return self._say(card, same=marked or leaves)
        elif key == "a":
            return self._say(card, apart=marked or leaves)
        elif key in "oe" and not marked:
            self._out.line(f"Mark a {'line' if card.kind == 'list' else 'leaf'} first: 1-9.")
            return False
        elif key == "o":
            return self._say(card, same=marked, apart=others)
        elif key == "e":
            return self._say(card, same=others, apart=marked)
        elif key == "d":
            return self._say(card, apart=leaves, among=True)
        elif key == "b":
            return self._all(card)
        elif key == "u":
            return self._undo()
        elif key == "n" and card.kind == "star":
            return self._choose_name(card)
        elif key == "c" and card.kind == "star":
            return self._turn(card)
        elif key in ("n", "c"):
            self._out.line(f"View one line first: v, then its number; then {key}.")
            return False
        elif key == "v" and self._viewed:
            self._back = True
        else:
            show_help(self._out, LIST_HELP if card.kind == "list" else self._help())
            return False
        return True

    def _help(self) -> Sequence[tuple[str, str]]:
        return (VIEWED, *HELP) if self._viewed else HELP

    def _mark(self, card: AnyCard, number: int) -> bool:
        many = len(card.asked)
        if number > many:
            what = "line" if card.kind == "list" else "name"
            there = f"There are {many} {what}s" if many > 1 else f"There is one {what}"
            self._out.line(f"{there} to mark.")
        else:
            self._marked ^= {card.asked[number - 1]}
        return False

    def _say(
        self,
        card: AnyCard,
        *,
        same: Sequence[int] = (),
        apart: Sequence[int] = (),
        among: bool = False,
    ) -> bool:
        keep = self._keep if same else None
        if card.kind == "star" and keep not in (None, card.centre.id, *same):
            self._out.line("The name you chose would not be folded; choose another: n.")
            return False

        def give() -> Answered:
            return self._graph.answer_card(card, same=same, apart=apart, keep=keep, among=among)

        done = self._tried(give)
        if done is not None:
            self._count(done)
            self._through = card.pairs
            lines = told(card, done, apart) if card.kind == "star" else told_list(card, same, apart)
            for line in lines:
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

    def _all(self, card: AnyCard) -> bool:
        if card.kind == "list" and len(card.rules) > 1:
            self._out.line("These are of several rules; view (v) a line of the one you mean.")
            return False
        rule = card.rule if card.kind == "star" else card.rules[0]
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


def draw_list(out: Terminal, card: ListCard, where: str) -> None:
    """A list, each line numbered: the two names, why they are asked about, and where there is room
    a few words that were written about each."""
    out.line()
    out.line(text((where, "dim")))
    rules = Text(", ").join(text((rule, "cyan")) for rule in card.rules)
    what = "rule" if len(card.rules) == 1 else "rules"
    out.line(text(f"Pairs of the {what} ", rules, ", each a question of its own"), hang=_hang(out))
    for number, line in enumerate(card.lines, 1):
        _row(out, number, line, of=line.rule if len(card.rules) > 1 else "")
    out.line("Folded, the name on the right survives.", hang=_hang(out))
    of = text((_to(len(card.lines)), "bold yellow"))
    each = "On each of " if len(card.lines) > 1 else "On "
    out.line(text(each, of, ": are the two the same?"), hang=_hang(out))


def _row(out: Terminal, number: int, line: Card, *, of: str) -> None:
    """A line of a list; ``of`` is its rule where the list has several."""
    (leaf,) = line.leaves
    head = text((f"{number}  ", "bold yellow"), _about(leaf.side), " ~ ", _about(line.centre))
    asked = _compared(leaf, line.centre)
    why = text((visible(f"{leaf.reason}{asked}", _MESSAGE), "dim"))
    why = text((of, "cyan"), "  ", why) if of else why
    if out.width is None or head.cell_len + 2 + why.cell_len <= out.width:
        out.line(text(head, "  ", why))
    else:
        out.line(head, hang=3 if _hang(out) else 0)
        out.line(_fitted(why, max(1, out.width - 3)), indent=3)
    if out.width is None or out.width >= _EVIDENCE_FROM:
        written = _written(leaf.side, line.centre, (out.width or 2 * LONGEST) - 3)
        if written.plain:
            out.line(written, indent=3)


def _about(side: Side) -> Text:
    about = [render.cut(side.type)] if side.type else []
    about.append(render.count(side.mentions, "mention"))
    return text(render.name(side.name), (f" ({', '.join(about)})", "dim"))


def _fitted(line: Text, room: int) -> Text:
    line.truncate(room, overflow="ellipsis")
    return line


def _written(left: Side, right: Side, room: int) -> Text:
    """What was written about two, on one line: what one does not need the other has."""
    from enfold.cards import sentence

    sides = [side for side in (left, right) if side.evidence]
    whole = [text(side.evidence[0].text) for side in sides]
    room -= sum(len("“”") for _ in sides) + len("  ") * (len(sides) - 1)
    parts = []
    for at, side in enumerate(sides):
        others = sum(min(one.cell_len, room // 2) for one in whole[:at] + whole[at + 1 :])
        words = text(sentence(whole[at].plain, visible(side.name), room - others))
        parts.append(text("“", _fitted(words, room - others), "”"))
    return Text("  ").join(parts)


def _compared(leaf: Leaf, centre: Side) -> str:
    asked = [
        render.cut(name)
        for name, side in ((leaf.left_name, leaf.side), (leaf.right_name, centre))
        if name != side.name
    ]
    return f" (compared as “{'” and “'.join(asked)}”)" if asked else ""


def _to(last: int) -> str:
    return "1" if last == 1 else f"1-{last}"


def _hang(out: Terminal) -> int:
    return 0 if out.width is not None and out.width < _NARROW else 2


def _leaf(out: Terminal, number: int, leaf: Leaf, card: Card) -> None:
    _side(out, leaf.side, head=f"{number}  ")
    why = f"  {visible(leaf.reason, _MESSAGE)}{_compared(leaf, card.centre)}"
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


def told_list(card: ListCard, same: Sequence[int], apart: Sequence[int]) -> list[Text]:
    """What an answer to a list did, pair by pair."""
    both = {line.asked[0]: (line.leaves[0].side.name, line.centre.name) for line in card.lines}
    lines = []
    for said, leaves, mark in (("Folded ", same, " → "), ("Kept apart ", apart, " ≠ ")):
        pairs = (
            text(render.name(one), mark, render.name(other))
            for one, other in (both[leaf] for leaf in leaves)
        )
        if leaves:
            lines.append(text(said, Text(", ").join(pairs), "."))
    return [*lines[:-1], text(lines[-1], (" u takes it back.", "dim"))]


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


def show_help(out: Terminal, keys: Sequence[tuple[str, str]] = HELP) -> None:
    """The keys."""
    for key, meaning in keys:
        out.line(text((key.rjust(3), "cyan"), f"  {meaning}"), hang=5)
