"""``enfold review``: at a real terminal, in a sheet, and as JSON."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

import enfold
from enfold.answers import Said, Undone
from enfold.cli.session import Session
from enfold.cli.terminal import Terminal
from enfold.errors import Invalid, Refused, Unavailable
from enfold.formats import review_sheet
from enfold.formats.review_sheet import guarded, unguarded
from tests.test_cli_commands import run, said, told
from tests.told import told as mentioned

SOURCE = Path(__file__).parents[1] / "src"
ESCAPE = re.compile("\x1b\\[[0-9;?]*[A-Za-z]")
NASTY = "Ada\x1b[31m \u202eLovelace\u202c \x07Byron"

PEOPLE = (
    "Ada Lovelace",
    "A. Lovelace",
    "Ada",
    "Grace",
    "Grace Hopper",
    "Charles Babbage",
    "Charles Babage",
    "C. Babbage",
)


def filled(path: Path, names: tuple[str, ...] = PEOPLE) -> Path:
    with enfold.open(path) as graph:
        for name in names:
            mentioned(graph, f"{name} wrote a letter.", mentions=[enfold.Name.of(name, "person")])
        mentioned(graph, "Ada Lovelace and Ada met.", mentions=["Ada Lovelace", "Ada"])
        graph.resolve(backup=False)
    return path


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("review") / "made.db")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for variable in [name for name in os.environ if name.startswith("ENFOLD_")]:
        monkeypatch.delenv(variable)
    return tmp_path


@pytest.fixture
def graph(made: Path, folder: Path) -> Path:
    return Path(shutil.copy(made, folder / "enfold.db"))


# ---- at a terminal -------------------------------------------------------------------------------


class Person:
    """Somebody at a terminal of their own, who types and reads."""

    def __init__(self, *args: str, columns: int = 80, **env: str) -> None:
        self.master, slave = pty.openpty()
        self.resize(columns)
        known = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
        known |= {"PYTHONPATH": str(SOURCE), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **env}
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.process = subprocess.Popen(
            [sys.executable, "-m", "enfold", "review", *args],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=known,
            start_new_session=True,
        )
        self.seen = self._read()

    def resize(self, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def type(self, keys: str) -> str:
        """Type key after key, each when it is asked for; what is shown since the last."""
        for key in keys:
            os.write(self.master, key.encode())
            self.seen = self._read()
        return self.seen

    def line(self, words: str) -> str:
        """Type a line at once; what is shown then."""
        os.write(self.master, words.encode() + b"\n")
        self.seen = self._read()
        return self.seen

    def _read(self, seconds: float = 20.0) -> str:
        """What is shown until a key is asked for, or the program ends."""
        shown, until = b"", time.monotonic() + seconds
        while time.monotonic() < until:
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    more = os.read(self.master, 1 << 16)
                except OSError:
                    break
                shown += more
            elif shown.endswith((b"> ", b": ")) or self.process.poll() is not None:
                break
        return shown.decode("utf-8", "replace").replace("\r\n", "\n")

    def plain(self) -> str:
        return ESCAPE.sub("", self.seen)

    def ended(self) -> int:
        code = self.process.wait(20)
        assert termios.tcgetattr(self.slave)[3] == self.before[3], "the terminal is as it was"
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.slave)
        os.close(self.master)


Sit = Callable[..., Person]


@pytest.fixture
def sit() -> Iterator[Sit]:
    people: list[Person] = []

    def sit_down(*args: str, **options: Any) -> Person:
        people.append(Person(*args, **options))
        return people[-1]

    yield sit_down
    for one in people:
        one.close()


def opened(path: Path = Path("enfold.db")) -> enfold.Graph:
    return enfold.open(path, create=False)


def folded() -> list[tuple[str, str]]:
    with opened() as graph:
        return sorted((merge.absorbed_name, merge.canonical_name) for merge in graph.merges())


def apart() -> list[set[str]]:
    with opened() as graph:
        return [{one.left_name, one.right_name} for one in graph.apart()]


def test_one_key_answers_a_card_and_the_next_one_comes(graph: Path, sit: Sit) -> None:
    person = sit()
    assert "Card 1 of 3 · 5 open · settled 0" in person.plain()
    assert "Is it the same as" in person.plain()
    assert "“Ada Lovelace wrote a letter.”" in person.plain()
    person.type("f")
    assert "Folded" in person.plain()
    assert "Card 2 of 3 · 3 open · settled 2" in person.plain()
    person.type("a")
    assert "apart from" in person.plain()
    person.type("f")
    assert "Nothing is left to ask." in person.plain()
    assert "Settled 5 (3 folded, 2 apart); 0 open." in person.plain()
    assert person.ended() == 0
    assert len(folded()) == 3
    assert len(apart()) == 2


def test_what_is_marked_is_folded_and_the_others_kept_apart(graph: Path, sit: Sit) -> None:
    person = sit("Ada Lovelace")
    person.type("1")
    assert "1 marked" in person.plain()
    person.type("o")
    assert "Nothing is left to ask." in person.plain()
    assert len(folded()) == 1
    assert len(apart()) == 1
    assert folded()[0][0] not in apart()[0]


def test_all_but_what_is_marked_is_folded(graph: Path, sit: Sit) -> None:
    person = sit("Ada Lovelace")
    person.type("1e")
    (kept,) = apart()
    assert folded()[0][0] not in kept


def test_folding_the_marked_alone_leaves_the_rest_asked(graph: Path, sit: Sit) -> None:
    person = sit("Ada Lovelace")
    person.type("1f")
    assert "Card 2 of 2 · 1 open" in person.plain()
    person.type("q")
    assert len(folded()) == 1
    assert apart() == []


def test_a_mark_is_taken_away_by_the_same_key(graph: Path, sit: Sit) -> None:
    person = sit("Ada Lovelace")
    person.type("11")
    assert "marked" not in person.plain()
    person.type("o")
    assert "Mark a leaf first" in person.plain()
    person.type("9")
    assert "There are 2 names to mark." in person.plain()
    person.type("q")
    assert folded() == []


def test_a_leaf_can_be_the_name_that_survives(graph: Path, sit: Sit) -> None:
    person = sit("Ada Lovelace")
    person.type("n1")
    assert "The name that survives: A" in person.plain()
    person.type("f")
    assert len({canonical for _, canonical in folded()}) == 1
    assert "Ada Lovelace" in [absorbed for absorbed, _ in folded()]


def test_skipped_cards_come_again_and_quitting_keeps_what_was_decided(
    graph: Path, sit: Sit
) -> None:
    person = sit()
    first = next(line for line in person.plain().splitlines() if line.endswith("?"))
    person.type("s")
    assert first not in person.plain()
    person.type("f")
    person.type("f")
    assert "Only what you skipped is left" in person.plain()
    assert first in person.plain()
    person.type("q")
    assert person.ended() == 0
    assert len(folded()) == 3


def test_undo_goes_back_any_number_of_steps_and_into_earlier_sessions(
    graph: Path, sit: Sit
) -> None:
    with opened() as before:
        questions = before.conflicts()
    sit().type("fq")
    person = sit()
    person.type("fu")
    assert "Took answer" in person.plain()
    assert "Card 1 of" in person.plain()
    person.type("u")
    assert "Took answer" in person.plain()
    person.type("u")
    assert "no answer" in person.plain()
    person.type("q")
    assert person.ended() == 0
    with opened() as after:
        assert after.conflicts() == questions
        assert after.merges() == []
        assert after.apart() == []


def test_help_lists_every_key(graph: Path, sit: Sit) -> None:
    from enfold.cli.session import HELP

    person = sit()
    person.type("?")
    for key, _ in HELP:
        assert re.search(rf"^ *{re.escape(key)}  ", person.plain(), re.MULTILINE)
    person.type("z")  # a key that means nothing says which do
    assert "take the last answer back" in person.plain()


def test_a_card_can_be_turned_round_a_leaf(graph: Path, sit: Sit) -> None:
    person = sit("Ada Lovelace")
    leaf = re.search(r"^1  (.+?)  person", person.plain(), re.MULTILINE)
    assert leaf is not None
    person.type("c1")
    assert person.plain().split("Is it the same as")[0].splitlines()[-2 - 1].startswith(leaf[1])


def test_one_answer_for_every_question_of_a_rule_is_confirmed_with_the_count(
    graph: Path, sit: Sit
) -> None:
    person = sit()
    person.type("ba")
    person.line("")
    assert re.search(r"Keep apart \d pairs\?", person.plain())
    person.type("n")
    assert "Left as it was." in person.plain()
    assert apart() == []
    person.type("ba")
    person.line("0,1")
    person.type("y")
    assert "u takes it back" in person.plain()
    assert len(apart()) == 4
    person.type("u")
    assert apart() == []
    person.type("bf")
    person.line("two")
    assert "no score" in person.plain()


@pytest.mark.parametrize("columns", [80, 40])
@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_no_line_is_wider_than_the_terminal(
    folder: Path, sit: Sit, columns: int, term: str
) -> None:
    filled(folder / "enfold.db", (*PEOPLE, "Ada " + "long" * 30, "文" * 30, NASTY))
    person = sit(columns=columns, TERM=term, NO_COLOR="1")
    shown = person.seen
    person.line("?") if term == "dumb" else person.type("?")
    for line in (shown + person.seen).splitlines():
        assert cell_len(line) <= columns, line


def test_colour_is_used_where_it_is_wanted_alone(graph: Path, sit: Sit) -> None:
    assert "\x1b[" in sit().seen
    assert "\x1b" not in sit(NO_COLOR="1").seen
    assert "\x1b" not in sit("--no-color").seen
    assert "\x1b" not in sit(TERM="dumb").seen


def test_names_and_texts_can_not_steer_the_terminal(folder: Path, sit: Sit) -> None:
    filled(folder / "enfold.db", (NASTY, "Ada Byron", "Ada\x1b[31m \u202eLovelace\u202c"))
    person = sit(NO_COLOR="1")
    shown = person.seen + person.type("fu") + person.type("q")
    assert "\\x1b[31m" in shown
    for letter in "\x1b\x07\u202e\u202c":
        assert letter not in shown


def test_a_window_of_another_size_shows_the_card_again(graph: Path, sit: Sit) -> None:
    person = sit(NO_COLOR="1", columns=80)
    assert max(map(len, person.seen.splitlines())) > 40
    person.resize(40)
    person.seen = person._read()
    assert "Card 1 of 3" in person.plain()
    assert max(map(len, person.seen.splitlines())) <= 40
    person.type("1")
    person.resize(80)
    person.seen = person._read()
    assert "1 marked" in person.plain()  # what was marked stays


def test_a_terminal_that_knows_no_keys_takes_lines(graph: Path, sit: Sit) -> None:
    person = sit("Ada Lovelace", TERM="dumb")
    person.line("1, o")
    assert "Folded" in person.plain()
    assert len(folded()) == 1
    assert len(apart()) == 1


def test_arrows_and_letters_of_several_bytes_are_no_answer(graph: Path, sit: Sit) -> None:
    person = sit()
    os.write(person.master, b"\x1b[A\x1bOP")
    person.type("é")
    assert "this help" in person.plain()
    assert folded() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_end_in_the_middle_keeps_what_was_decided_and_the_terminal_as_it_was(
    graph: Path, sit: Sit, number: signal.Signals
) -> None:
    person = sit()
    person.type("f")
    person.process.send_signal(number)
    person.seen = person._read()
    assert "Settled 2" in person.plain()
    assert person.ended() == 0
    assert len(folded()) == 2


def test_a_kill_in_the_middle_keeps_what_was_decided(graph: Path, sit: Sit) -> None:
    person = sit()
    person.type("f")
    person.process.kill()
    person.process.wait()
    assert len(folded()) == 2
    with opened() as after:
        assert after.check().clean
        after.undo_answer(actor=after.merges()[0].actor)
        assert after.merges() == []


def test_a_digit_of_another_script_marks_and_a_raised_one_is_no_answer(
    graph: Path, sit: Sit
) -> None:
    person = sit("Ada Lovelace")
    person.type("²")
    assert "this help" in person.plain()
    person.type("n①")
    assert "Left as it was." in person.plain()
    person.type("٢")
    assert "2 marked" in person.plain()


def test_what_was_typed_before_a_card_was_shown_does_not_answer_it(graph: Path, sit: Sit) -> None:
    person = sit()
    os.write(person.master, b"fffaad")  # a paste, or a key held down
    person.seen = person._read()
    assert "Card 2 of 3" in person.plain()
    assert person.plain().endswith("> ")
    person.type("q")
    assert "Settled 2 (2 folded, 0 apart)" in person.plain()


def test_the_rest_of_a_line_does_not_answer_the_next_card(graph: Path, sit: Sit) -> None:
    person = sit(TERM="dumb")
    person.line("f f f")
    assert "Card 2 of 3" in person.plain()
    assert len(folded()) == 2


def test_bytes_that_are_no_letters_are_no_answer(graph: Path, sit: Sit) -> None:
    person = sit(TERM="dumb", PYTHONIOENCODING="utf-8:strict")
    os.write(person.master, b"\xff\xfe\n")
    person.seen = person._read()
    assert "this help" in person.plain()


def test_a_session_that_goes_on_after_a_stop_shows_its_card_and_takes_keys(
    graph: Path, sit: Sit
) -> None:
    person = sit()
    person.process.send_signal(signal.SIGSTOP)
    termios.tcsetattr(person.slave, termios.TCSANOW, person.before)  # as a shell does
    person.process.send_signal(signal.SIGCONT)
    person.seen = person._read()
    assert "Card 1 of 3" in person.plain()
    person.type("f")
    assert "Folded" in person.plain()


def test_a_session_that_is_asked_to_stop_gives_the_terminal_back_first(
    graph: Path, sit: Sit
) -> None:
    # In a session without a shell nothing stops, so that it goes on at once.
    person = sit()
    person.process.send_signal(signal.SIGTSTP)
    person.seen = person._read()
    assert "Card 1 of 3" in person.plain()
    person.type("f")
    assert "Folded" in person.plain()


def test_the_question_stands_at_the_end_where_a_screen_does_not_hold_the_card(
    graph: Path, sit: Sit
) -> None:
    person = sit()
    assert "Is each of 1-2 the same as Ada Lovelace?" in person.plain().splitlines()[-3:-1]


def test_a_name_that_would_not_be_folded_can_not_survive(graph: Path, sit: Sit) -> None:
    person = sit("Ada Lovelace")
    person.type("1n2")
    person.type("f")
    assert "would not be folded" in person.plain()
    assert folded() == []
    person.type("2")
    person.type("f")
    assert len(folded()) == 2


def test_an_undo_that_failed_is_tried_again_and_one_that_is_gone_is_passed_over() -> None:
    asked: list[int | None] = []
    fails: list[Exception] = [Unavailable("locked", "Wait."), Refused("already_undone", "It was.")]

    def undo(answer: int | None) -> Undone:
        asked.append(answer)
        if fails:
            raise fails.pop(0)
        return Undone(answer or 0, (), (), 0)

    session = Session(cast(Any, SimpleNamespace(undo_answer=undo)), Terminal, cast(Any, None))
    session.done.answers = [1, 2]
    for _ in range(3):
        session._undo()
    assert asked == [2, 2, 1]
    assert session.done.answers == []


def test_one_that_was_turned_to_and_is_gone_is_left(graph: Path, sit: Sit) -> None:
    person = sit(NO_COLOR="1")
    person.type("c1")
    shown = person.seen.splitlines()
    centre = shown[next(at for at, line in enumerate(shown) if line.startswith("Card ")) + 1]
    with opened() as other:
        other.delete(next(one.id for one in other.entities() if centre.startswith(one.name + "  ")))
    person.type("s")
    assert "Card" in person.plain()
    person.type("q")
    assert person.ended() == 0


def test_the_end_of_the_input_is_quitting(graph: Path, sit: Sit) -> None:
    person = sit()
    person.type("\x04")
    assert "Settled 0" in person.plain()
    assert person.ended() == 0


def test_two_reviewers_at_once_are_told_of_each_other(graph: Path, sit: Sit) -> None:
    one, other = sit("--actor", "one"), sit("--actor", "other")
    one.type("f")
    other.type("a")
    assert "changed while this card was looked at" in " ".join(other.plain().split())
    assert "Card 1 of 2" in other.plain()
    other.type("a")
    assert len(apart()) == 2
    # Each takes back what is theirs alone.
    other.type("u")
    assert apart() == []
    assert len(folded()) == 2


def test_nothing_to_ask_is_said(folder: Path, sit: Sit) -> None:
    filled(folder / "enfold.db", ("Ada Lovelace",))
    with opened() as graph:
        graph.merge("Ada", "Ada Lovelace")
    person = sit()
    assert "Nothing is left to ask." in person.plain()
    assert person.ended() == 0


# ---- lists ---------------------------------------------------------------------------------------


SITES = (
    "Marlowe Quarry",
    "Marlowe Quary",
    "Bellwether Junction",
    "Bellwether Junktion",
    "Thornbury Lighthouse",
    "Thornburry Lighthouse",
    "Copperfield Observatory",
    "Coperfield Observatory",
)


@pytest.fixture
def sites(folder: Path) -> Path:
    """Four pairs of one rule, of which no two share an entity."""
    with enfold.open(folder / "enfold.db") as graph:
        for name in SITES:
            mentioned(graph, f"{name} was seen from afar.", mentions=[enfold.Name.of(name, "site")])
        for name in SITES[1::2]:
            mentioned(graph, f"{name} again.", mentions=[name])
        graph.resolve(backup=False)
    return folder / "enfold.db"


def rows_of(person: Person) -> list[str]:
    return [line for line in person.plain().splitlines() if re.match(r"[1-9]  ", line)]


def test_single_pairs_of_a_rule_are_one_list_that_one_key_folds(sites: Path, sit: Sit) -> None:
    person = sit()
    assert "Card 1 of 1 · 4 open · settled 0" in person.plain()
    assert len(rows_of(person)) == 4
    words = " ".join(person.plain().split())
    assert "Marlowe Quarry (site, 1 mention) ~ Marlowe Quary (site, 2 mentions)" in words
    assert words.count("(site, 1 mention) ~ ") == 4
    assert "was seen from afar" in person.plain()
    person.type("f")
    assert "Marlowe Quarry → Marlowe Quary" in " ".join(person.plain().split())
    assert "u takes it back" in " ".join(person.plain().split())
    assert "Settled 4 (4 folded, 0 apart); 0 open." in person.plain()
    assert sorted(canonical for _, canonical in folded()) == sorted(SITES[1::2])
    said("review", "--undo", "1")
    assert folded() == []


def test_the_marked_lines_are_folded_and_the_others_kept_apart_or_left(
    sites: Path, sit: Sit
) -> None:
    person = sit()
    person.type("13o")
    assert "Folded" in person.plain()
    assert "Kept apart" in person.plain()
    assert (len(folded()), len(apart())) == (2, 2)
    assert "Nothing is left" in person.plain()
    with opened() as graph:
        graph.undo_answer(actor=graph.merges()[0].actor)
    assert (folded(), apart()) == ([], [])
    person = sit()
    person.type("2f")
    assert len(rows_of(person)) == 3
    person.type("1a")
    assert len(rows_of(person)) == 2
    person.type("u")
    assert len(rows_of(person)) == 3
    person.type("u")
    assert len(rows_of(person)) == 4
    assert (folded(), apart()) == ([], [])
    person.type("d")
    assert len(apart()) == 4


def test_a_line_is_viewed_as_a_card_and_the_list_goes_on_without_it(sites: Path, sit: Sit) -> None:
    person = sit()
    second, third = rows_of(person)[1:3]
    person.type("3v2")
    assert "Is it the same as" in person.plain()
    assert "back to the list" in person.plain()
    person.type("v")
    assert len(rows_of(person)) == 4
    assert "3 marked" in person.plain()  # the marks stay
    person.type("v2n1f")
    assert len(folded()) == 1
    assert folded()[0][1] == second[3:].split(" (")[0]  # the name that was chosen
    rows = rows_of(person)
    assert len(rows) == 3
    assert rows[1][3:] == third[3:]
    assert "2 marked" in person.plain()
    person.type("v1s")
    assert len(rows_of(person)) == 2
    person.type("v9")
    assert "Left as it was." in person.plain()
    person.type("v1a")
    assert "Is it the same as" in person.plain()  # the last line is a card
    person.type("a")
    assert "Only what you skipped is left" in person.plain()
    person.type("q")
    assert (len(folded()), len(apart())) == (1, 2)


def test_what_means_nothing_on_a_list_says_what_does(sites: Path, sit: Sit) -> None:
    from enfold.cli.session import LIST_HELP

    person = sit()
    person.type("?")
    for key, _ in LIST_HELP:
        assert re.search(rf"^ *{re.escape(key)}  ", person.plain(), re.MULTILINE)
    for key in "nc":
        person.type(key)
        assert "View one line first" in person.plain()
    person.type("9")
    assert "There are 4 lines to mark." in person.plain()
    person.type("o")
    assert "Mark a line first" in person.plain()
    person.type("v1?")
    assert "back to the list, without an answer" in person.plain()
    person.type("q")
    assert person.ended() == 0
    assert folded() == []


def test_two_reviewers_of_one_list_are_told_of_each_other(sites: Path, sit: Sit) -> None:
    one, other = sit("--actor", "one"), sit("--actor", "other")
    one.type("2f")
    other.type("a")
    words = " ".join(other.plain().split())
    assert "changed while this card was looked at: “Bellwether" in words
    assert "Marlowe" not in words.split("Nothing was answered")[0]
    assert len(rows_of(other)) == 3
    assert apart() == []
    other.type("a")
    assert len(apart()) == 3
    assert other.ended() == 0
    said("review", "--undo", "1", "--actor", "other")
    assert apart() == []
    assert len(folded()) == 1


def test_lists_can_be_left_out(sites: Path, sit: Sit) -> None:
    person = sit("--no-lists")
    assert "Card 1 of 4" in person.plain()
    assert "Is it the same as" in person.plain()
    kinds = [card["kind"] for card in told("review", "--no-lists")["page"]]
    assert kinds == ["star"] * 4
    page = told("review")
    assert (page["open"], page["cards"]) == (4, 1)
    (card,) = page["page"]
    assert (card["kind"], card["rules"], len(card["lines"])) == ("list", ["spelling"], 4)
    assert all(len(line["leaves"]) == 1 for line in card["lines"])
    said("review", "--export", "questions.csv")
    assert [row["card"] for row in sheet()] == ["1"] * 4
    said("review", "--export", "questions.csv", "--force", "--no-lists")
    assert [row["card"] for row in sheet()] == ["1", "2", "3", "4"]
    rows = sheet()
    for row in rows:
        row["answer"] = "same"
    assert [one["outcome"] for one in told("review", "--import", written(rows))["told"]] == [
        "done"
    ] * 4


MIXED = (*SITES[:4], "Grace", "Grace Hopper", "Thornbury Lighthouse", "Lighthouse of Thornbury")


@pytest.fixture
def mixed(folder: Path) -> Path:
    """Four pairs of three rules, of which no two share an entity."""
    with enfold.open(folder / "enfold.db") as graph:
        for name in MIXED:
            kind = "person" if name.startswith("Grace") else "site"
            mentioned(graph, f"{name} was seen from afar.", mentions=[enfold.Name.of(name, kind)])
        for name in MIXED[1::2]:
            mentioned(graph, f"{name} again.", mentions=[name])
        graph.resolve(backup=False)
    return folder / "enfold.db"


def heads_of(person: Person) -> list[str]:
    """The names of each line, the one that survives last."""
    return [re.sub(r" \([^)]*(\)|$)", "", row[3:]) for row in rows_of(person)]


def test_the_last_few_pairs_are_one_list_that_names_its_rules(mixed: Path, sit: Sit) -> None:
    person = sit()
    assert "Card 1 of 1 · 4 open · settled 0" in person.plain()
    assert "Pairs of the rules " in person.plain()
    named = re.search(r"Pairs of the rules (.+), each a question", person.plain())
    assert named is not None
    assert sorted(named[1].split(", ")) == ["person", "reordered", "spelling"]
    assert sorted(heads_of(person)) == sorted(
        f"{MIXED[at]} ~ {MIXED[at + 1]}" for at in range(0, len(MIXED), 2)
    )
    (card,) = told("review")["page"]
    assert sorted(card["rules"]) == ["person", "reordered", "spelling"]
    rules = [line["leaves"][0]["rule"] for line in card["lines"]]
    assert list(dict.fromkeys(rules)) == card["rules"]
    for rule in card["rules"]:
        assert len(re.findall(rf"^   {rule}  ", person.plain(), re.MULTILINE)) == rules.count(rule)
    said("review", "--export", "questions.csv")
    assert [row["card"] for row in sheet()] == ["1"] * 4


def test_a_list_of_several_rules_is_answered_marked_and_taken_back(mixed: Path, sit: Sit) -> None:
    person = sit()
    heads = heads_of(person)
    person.type("13o")
    assert "Nothing is left to ask." in person.plain()
    assert sorted(f"{one} ~ {other}" for one, other in folded()) == sorted([heads[0], heads[2]])
    kept = [set(heads[at].split(" ~ ")) for at in (1, 3)]
    assert all(pair in kept for pair in apart())
    assert len(apart()) == 2
    said("review", "--undo", "1")
    assert (folded(), apart()) == ([], [])
    person = sit()
    assert heads_of(person) == heads
    person.type("2f")
    assert heads_of(person) == [heads[0], *heads[2:]]
    person.type("u")
    assert heads_of(person) == heads
    person.type("d")
    assert len(apart()) == 4
    assert person.ended() == 0


def test_one_answer_for_a_rule_is_given_from_a_line_of_a_list_of_several(
    mixed: Path, sit: Sit
) -> None:
    person = sit()
    heads = heads_of(person)
    person.type("b")
    assert "view (v) a line" in person.plain()
    assert person.plain().endswith("> ")
    (line,) = (at for at, head in enumerate(heads, 1) if head.startswith("Marlowe"))
    person.type(f"2v{line}")
    assert "Is it the same as" in person.plain()
    person.type("v")
    assert heads_of(person) == heads
    assert "2 marked" in person.plain()  # the marks stay
    person.type(f"v{line}b")
    assert "Every open question of the rule spelling" in person.plain()
    person.type("f")
    person.line("")
    assert "Fold 2 pairs?" in person.plain()
    person.type("y")
    assert sorted(one for one, _ in folded()) == ["Bellwether Junction", "Marlowe Quarry"]
    # What was dealt is gone over anew: the list has the two that are left.
    assert len(heads_of(person)) == 2
    assert not any(head.startswith(("Marlowe", "Bell")) for head in heads_of(person))
    person.type("u")
    assert folded() == []
    assert heads_of(person) == heads


def test_a_list_that_has_one_rule_left_names_it_and_takes_one_answer_for_it(
    mixed: Path, sit: Sit
) -> None:
    person = sit()
    heads = heads_of(person)
    for name in ("Grace", "Thornbury"):
        (line,) = (at for at, head in enumerate(heads_of(person), 1) if head.startswith(name))
        person.type(f"v{line}f")
    assert heads_of(person) == [one for one in heads if one.startswith(("Marlowe", "Bell"))]
    assert "Pairs of the rule spelling, each" in person.plain()
    assert not re.search("^   spelling  ", person.plain(), re.MULTILINE)  # it is said above
    person.type("b")
    assert "Every open question of the rule spelling" in person.plain()
    person.type("x")
    assert "Left as it was." in person.plain()
    person.type("q")
    assert len(folded()) == 2


@pytest.mark.parametrize("columns", [80, 40, 20])
def test_no_line_of_a_list_is_wider_than_the_terminal(sites: Path, sit: Sit, columns: int) -> None:
    with opened() as graph:
        for name in ("Winterbourne " + "long" * 30, "文" * 30, "Quillon Wharf\x1b[31m \u202eA"):
            for end in ("", "e"):
                mentioned(graph, f"{name + end} lies in {'文' * 60}.", mentions=[name + end])
        graph.resolve(backup=False)
    person = sit(columns=columns, NO_COLOR="1")
    assert len(rows_of(person)) > 4
    shown = person.seen if columns < 40 else person.seen + person.type("?")
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    for line in shown.splitlines():
        assert cell_len(line) <= columns, line


# ---- without a terminal --------------------------------------------------------------------------


def test_where_nobody_can_be_asked_it_is_said_what_to_do(graph: Path) -> None:
    result = run("review")
    assert result.exit_code == 4
    for option in ("--export", "--import", "--json"):
        assert option in result.output


@pytest.mark.parametrize(
    "args",
    [
        ("--export", "a.csv", "--import", "b.csv"),
        ("--undo", "1", "--import", "b.csv"),
        ("--dry-run",),
    ],
)
def test_options_that_do_not_go_together_are_refused(graph: Path, args: tuple[str, ...]) -> None:
    assert run("review", *args).exit_code == 2


def test_json_gives_a_page_of_cards(graph: Path) -> None:
    page = told("review", "--limit", "2")
    assert (page["open"], page["cards"], len(page["page"])) == (5, 3, 2)
    card = page["page"][0]
    assert card["centre"]["evidence"][0]["text"]
    assert card["leaves"][0]["reason"]
    assert told("review", "--rule", "spelling")["open"] == 1
    assert told("review", "--type", "ship") == {"open": 0, "cards": 0, "page": []}
    assert [card["centre"]["name"] for card in told("review", "Grace")["page"]] == ["Grace"]
    assert run("review", "nobody", "--json").exit_code == 3


def sheet(path: str = "questions.csv") -> list[dict[str, str]]:
    text = Path(path).read_text(encoding="utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def written(rows: list[dict[str, str]], path: str = "answers.csv", **form: Any) -> str:
    """The rows as a sheet of some spreadsheet; its path."""
    encoding = form.pop("encoding", "utf-8")
    head = form.pop("head", "")
    with Path(path).open("w", encoding=encoding, newline="") as file:
        file.write(head)
        columns = form.pop("columns", list(rows[0]))
        writer = csv.DictWriter(file, columns, extrasaction="ignore", restval="", **form)
        writer.writeheader()
        writer.writerows(rows)
    return path


def answered(**words: str) -> list[dict[str, str]]:
    """The sheet of the questions, answered by the names on the left."""
    said("review", "--export", "questions.csv", "--force")
    rows = sheet()
    for row in rows:
        row["answer"] = words.get(row["left"].replace(" ", "_").replace(".", ""), "")
    return rows


def test_a_sheet_has_a_row_for_each_question_grouped_by_card(graph: Path) -> None:
    assert "Wrote 5 questions of 5" in said("review", "--export", "questions.csv")
    rows = sheet()
    assert tuple(rows[0]) == review_sheet.COLUMNS
    assert [row["card"] for row in rows] == ["1", "1", "2", "2", "3"]
    assert all(row["answer"] == row["keep"] == "" for row in rows)
    assert all(row["left_type"] == "person" and row["reason"] and row["id"] for row in rows)
    assert len({row["id"] for row in rows}) == 5
    assert run("review", "--export", "questions.csv").exit_code == 4  # it exists
    assert said("review", "--export", "few.csv", "--limit", "1").startswith("Wrote 2 questions")
    assert told("review", "--export", "j.csv", "--rule", "spelling")["questions"] == 1


def test_a_sheet_of_nothing_is_a_header(folder: Path) -> None:
    filled(folder / "enfold.db", ("Ada Lovelace",))
    said("review", "--export", "questions.csv", "--type", "ship")
    assert sheet() == []
    report = told("review", "--import", "questions.csv")
    assert report["told"] == []


def test_an_export_that_fails_leaves_the_old_sheet(
    graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said("review", "--export", "questions.csv")
    before = Path("questions.csv").read_bytes()

    def fail(*_: object) -> Iterator[str]:
        yield "half"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(review_sheet, "write", fail)
    assert run("review", "--export", "questions.csv", "--force").exit_code == 7
    assert Path("questions.csv").read_bytes() == before
    assert not [name for name in os.listdir() if name.startswith(".")]


def test_answers_are_applied_told_row_by_row_and_again_do_nothing(graph: Path) -> None:
    rows = answered(A_Lovelace="same", Ada="apart", Grace_Hopper="Yes", Charles_Babage="maybe")
    path = written(rows)
    planned = run("review", "--import", path, "--dry-run")
    assert planned.exit_code == 1  # one row can't be understood
    assert "would be folded" in planned.output
    assert folded() == []
    result = run("review", "--import", path)
    assert result.exit_code == 1
    assert re.search(r"done +3 ", result.output)
    assert "“maybe” is no answer" in result.output
    assert folded() == [("A. Lovelace", "Ada Lovelace"), ("Grace Hopper", "Grace")] or folded() == [
        ("A. Lovelace", "Ada Lovelace"),
        ("Grace", "Grace Hopper"),
    ]
    assert apart() == [{"Ada", "Ada Lovelace"}]
    again = json.loads(run("review", "--import", path, "--json").stdout)
    assert [one["outcome"] for one in again["told"]] == [
        {"same": "settled", "apart": "settled", "Yes": "settled", "maybe": "unreadable"}[
            row["answer"]
        ]
        for row in rows
        if row["answer"]
    ]
    assert again["answered"] is None
    said("review", "--undo", "1")
    assert folded() == []
    assert apart() == []


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"delimiter": ";"},
        {"delimiter": ";", "head": "sep=;\r\n"},
        {"delimiter": "\t", "encoding": "utf-16"},
        {"encoding": "utf-8-sig"},
        {"encoding": "cp1252"},
        {"quoting": csv.QUOTE_ALL},
        {"lineterminator": "\n"},
        {"columns": ["ID ", "Answer", "extra"]},
    ],
    ids=str,
)
def test_a_sheet_comes_back_from_any_spreadsheet(graph: Path, form: dict[str, Any]) -> None:
    rows = answered(A_Lovelace="SAME", Ada="Apart ", Grace_Hopper="1", Charles_Babage="=")
    rows.reverse()
    for row in rows:
        row |= {"ID ": row["id"], "Answer": row["answer"], "extra": "x", "note": "n\nn"}
    form.setdefault("columns", ["note", *reversed(review_sheet.COLUMNS)])
    path = written(rows, **form)
    report = told("review", "--import", path)
    assert [one["outcome"] for one in report["told"]] == ["done"] * 4
    assert len(folded()) == 3


def test_the_name_that_survives_is_said_by_side_or_by_name(graph: Path) -> None:
    rows = answered(A_Lovelace="same", Charles_Babage="same", Grace_Hopper="same")
    for row in rows:
        row["keep"] = {"A. Lovelace": "left", "Charles Babage": "charles babage"}.get(
            row["left"], ""
        )
    said("review", "--import", written(rows))
    assert ("Ada Lovelace", "A. Lovelace") in folded()
    assert ("Charles Babbage", "Charles Babage") in folded()
    with opened() as again:
        again.undo_answer(actor=again.merges()[0].actor)
    rows = answered(A_Lovelace="same")
    for row in rows:
        row["keep"] = "Somebody"
    assert "neither of the two names" in run("review", "--import", written(rows)).output


def test_two_sheets_of_one_graph_can_be_put_one_below_the_other(graph: Path) -> None:
    one, other = answered(A_Lovelace="same"), answered(Grace_Hopper="apart")
    path = Path(written(one))
    first = path.read_bytes()
    path.write_bytes(first + Path(written(other)).read_bytes())
    report = told("review", "--import", str(path))
    assert [row["outcome"] for row in report["told"]] == ["done", "done"]


def test_capitals_and_wide_letters_change_no_answer(graph: Path) -> None:
    rows = answered(A_Lovelace="ＳＡＭＥ", Grace_Hopper="Apart.")
    for row in rows:
        row["id"] = row["id"].upper()
    report = told("review", "--import", written(rows))
    assert [row["outcome"] for row in report["told"]] == ["done", "done"]


def test_a_column_sorted_without_the_rest_is_noticed(graph: Path) -> None:
    rows = answered(A_Lovelace="same", Ada="same", Grace_Hopper="same", Charles_Babage="same")
    lefts = sorted((row["left"] for row in rows), reverse=True)
    assert lefts != [row["left"] for row in rows]
    moved = sum(left != row["left"] for row, left in zip(rows, lefts, strict=True))
    for row, left in zip(rows, lefts, strict=True):
        row["left"] = left
    result = run("review", "--import", written(rows), "--json")
    told_ = json.loads(result.stdout)["told"]
    assert sum(one["outcome"] == "unreadable" for one in told_) == moved
    assert "sorted alone" in told_[0]["why"] or "sorted alone" in told_[-1]["why"]


def test_names_that_a_spreadsheet_took_for_numbers_change_nothing(folder: Path) -> None:
    filled(folder / "enfold.db", ("Route 1-2 North", "Route 1-2 Nort"))
    said("review", "--export", "questions.csv")
    rows = sheet()
    for row in rows:
        row |= {"answer": "same", "left": "01.02.2026", "right": "1.2E+3"}
    report = told("review", "--import", written(rows))
    assert {one["outcome"] for one in report["told"]} == {"done"}


def test_a_sheet_of_another_graph_is_refused(graph: Path, folder: Path) -> None:
    rows = answered(A_Lovelace="same", Grace_Hopper="same")
    path = written(rows)
    (folder / "other.db").unlink(missing_ok=True)
    filled(folder / "other.db", tuple(name + " II" for name in PEOPLE))
    result = run("review", "--import", path, "--db", "other.db")
    assert result.exit_code == 1
    assert "of another graph" in result.output


def test_what_was_settled_otherwise_meanwhile_is_refused(graph: Path) -> None:
    rows = answered(A_Lovelace="same", Ada="apart")
    said("keep-apart", "A. Lovelace", "Ada Lovelace")
    said("merge", "Ada", "Ada Lovelace")
    report = json.loads(run("review", "--import", written(rows), "--json").stdout)
    assert [one["outcome"] for one in report["told"]] == ["refused", "refused"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"name,type\nAda,person\n", "not_questions"),
        (b"id,answer,answer\n", "not_questions"),
        (b"", "empty_file"),
        (b"PK\x03\x04 a spreadsheet", "binary_file"),
        (b'id,answer\n"' + b"x" * 200_000 + b"\n", "not_questions"),
        (b"\xff\xfe\x00", "not_questions"),
    ],
    ids=["a graph", "two answers", "nothing", "a workbook", "an endless cell", "half a mark"],
)
def test_a_file_that_is_no_sheet_of_questions_is_refused(
    graph: Path, content: bytes, code: str
) -> None:
    Path("answers.csv").write_bytes(content)
    result = run("review", "--import", "answers.csv", "--json")
    assert result.exit_code == 5
    assert json.loads(result.stderr)["error"]["code"] == code


def test_rows_that_mean_nothing_are_told_and_change_nothing(graph: Path) -> None:
    rows = answered(A_Lovelace="same")
    broken = [
        {**rows[0], "answer": "same", "id": wrong} for wrong in ("", "12", "pair:1:2", "x" * 99)
    ]
    huge = {**rows[0], "id": "pair:" + "9" * 18 + ":1:abcdef:abcdef:abcdef", "answer": "same"}
    result = run("review", "--import", written([*broken, huge]), "--json")
    outcomes = [one["outcome"] for one in json.loads(result.stdout)["told"]]
    assert sorted(outcomes) == ["refused", *["unreadable"] * 4]
    assert folded() == []


FORMULAS = ["=1+1", "+1", "-2", "@SUM(A1)", "\t=1", "'=1", "''=1", "'quoted'", " =x"]


@pytest.mark.parametrize("name", FORMULAS)
def test_no_name_becomes_a_formula(name: str) -> None:
    cell = guarded(name)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert unguarded(cell) == " ".join(name.split())


@given(st.text(max_size=40))
@example("'+")
def test_a_guarded_cell_gives_the_text_back(text: str) -> None:
    cell = guarded(text)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert not any(ord(letter) < 0x20 for letter in cell)
    assert guarded(unguarded(cell)) == cell


def test_a_name_that_looks_like_a_formula_is_answered_like_any(folder: Path) -> None:
    filled(folder / "enfold.db", ("=Formula One Racing", "Formula One Racing Team", "+Formula"))
    said("review", "--export", "questions.csv")
    rows = sheet()
    assert rows
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())
    for row in rows:
        row["answer"] = "same"
        row["left"] = row["left"].removeprefix("'")  # as some spreadsheets give it back
    report = told("review", "--import", written(rows))
    assert {one["outcome"] for one in report["told"]} <= {"done", "settled"}


def test_more_rows_than_a_spreadsheet_holds_are_refused(
    graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(answered(A_Lovelace="same"))
    monkeypatch.setattr(review_sheet, "MOST_ROWS", 2)
    with pytest.raises(Invalid, match="more than 2 rows"):
        review_sheet.read(path)


def test_a_sheet_is_read_to_what_was_said(graph: Path) -> None:
    rows = answered(Grace_Hopper="no")
    read = review_sheet.read(written(rows))
    assert (len(read.said), read.unanswered, read.unreadable) == (1, 4, ())
    (one,) = read.said
    assert isinstance(one, Said)
    assert (one.same, one.keep) == (False, None)


def test_undo_takes_as_many_steps_back_as_asked(graph: Path) -> None:
    for words in ({"A_Lovelace": "same"}, {"Grace": "same", "Grace_Hopper": "same"}):
        said("review", "--import", written(answered(**words)))
    assert len(folded()) == 2
    assert len(told("review", "--undo", "5")) == 2
    assert folded() == []
    assert run("review", "--undo", "1").exit_code == 3
