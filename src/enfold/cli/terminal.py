"""What reaches the terminal, or goes down a pipe: text made safe, in columns, coloured or not.

Answers go to the standard output. Hints, progress and errors go to the standard error, so that they
are never in the way of the program that reads the answers.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final

from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar

LONGEST: Final = 160
"""Letters of a name or a quoted text that people are shown; ``--json`` has all of them."""

COLUMN: Final = 44
"""A column is as wide as its widest cell up to this; a wider cell pushes its own line alone."""

GAP: Final = 2
NARROWEST: Final = 16

# What steers a terminal, reorders a line or can't be seen: C0, C1, bidirectional marks, zero-width
# blanks, line separators, halves of a pair. Joiners stay: they shape emoji and whole scripts.
_UNSAFE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e001f]"
)
_UNSAFE_IN_JSON: Final = re.compile(
    "[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
_MARKS: Final = str.maketrans(
    {
        "→": "->",
        "←": "<-",
        "≠": "!=",
        "✓": "+",
        "–": "-",
        "·": "|",
        "…": "...",
        "“": '"',
        "”": '"',
        "’": "'",
        "×": "x",
    }
)


def visible(text: str, most: int | None = None) -> str:
    """The text with what must not reach a terminal written out as an escape, and cut where it is
    longer than ``most``."""
    if most is not None and len(text) > most:
        text = text[: most - 1] + "…"
    return _UNSAFE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    at = ord(match[0])
    shape = "\\x{:02x}" if at < 0x100 else "\\u{:04x}" if at < 0x10000 else "\\U{:08x}"
    return named.get(match[0]) or shape.format(at)


@dataclass(frozen=True, slots=True)
class Line:
    """One record: cells that stand in columns, and a sentence with its tag.

    Where there is no room beside the cells, the tag and the sentence flow below them.
    """

    cells: Sequence[Text]
    prose: Text | None = None
    tag: Text | None = None


class _Ascii(io.TextIOBase):
    """A stream that can't show our arrows and quotes, given their next of kin."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(text.translate(_MARKS))

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()


def prepare_streams() -> None:
    """Let nothing that is printed fail for its letters: UTF-8 down a pipe, and on a terminal its
    own encoding with what it lacks written out."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us
            stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, stream)
        if isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _shows_marks(stream: IO[str]) -> bool:
    try:
        "→≠✓…“".encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


class Terminal:
    """Where one command's answer, hints and progress go.

    Attributes:
        as_json: the answer is one JSON document.
        quiet: answers and errors alone; no receipts, hints or progress.
        width: columns of the terminal; None down a pipe, where a record is one line.
    """

    def __init__(self, *, as_json: bool = False, quiet: bool = False, color: bool = True) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.color = color and not os.environ.get("NO_COLOR")
        self.gone = False
        self._answers = _Side(sys.stdout, self.color)
        self._notes = _Side(sys.stderr, self.color)
        self.width = self._answers.width

    # ---- answers ----

    def document(self, record: Any) -> None:
        """The answer as one JSON document."""
        from enfold.graph import as_json

        text = json.dumps(as_json(record), ensure_ascii=False, indent=2)
        self.raw(_UNSAFE_IN_JSON.sub(lambda m: f"\\u{ord(m[0]):04x}", text) + "\n")

    def raw(self, text: str) -> None:
        """Text as it is, for programs."""
        self._reach(lambda: self._answers.raw(text))

    def line(self, text: Text | str = "", *, indent: int = 0, hang: int = 0) -> None:
        """A line for people, wrapped on a terminal."""
        self._reach(lambda: self._answers.line(_text(text), indent=indent, hang=hang))

    def receipt(self, text: Text | str, *, indent: int = 0) -> None:
        """A line that says what was done; not where only answers are wanted."""
        if not self.quiet:
            self.line(text, indent=indent)

    def lines(self, lines: Iterable[Line], *, right: Collection[int] = (), indent: int = 2) -> None:
        """Records in columns. Where they do not fit the terminal, their sentences flow below."""
        self._reach(lambda: self._answers.lines(list(lines), right=right, indent=indent))

    def _reach(self, write: Callable[[], None]) -> None:
        """Write, unless the reader has left: that ends the writing, not the command."""
        if self.gone:
            return
        try:
            write()
        except BrokenPipeError:
            self.gone = True
            silence(sys.stdout)

    # ---- the side ----

    def hint(self, text: Text | str = "") -> None:
        """What to do next, for people."""
        if not self.quiet and not self.as_json:
            self.warn(text)

    def hints(self, lines: Sequence[Line]) -> None:
        """What to do next, in columns."""
        if not self.quiet and not self.as_json:
            self.flush()
            with suppress(OSError):
                self._notes.lines(lines)

    def warn(self, text: Text | str) -> None:
        """A line on the standard error."""
        self.flush()
        with suppress(OSError):
            self._notes.line(_text(text))

    def error(self, code: str, message: str, details: dict[str, Any], hint: str = "") -> None:
        """Why nothing came of the command."""
        self.flush()
        if self.as_json:
            told = {"error": {"code": code, "message": message, "details": details}}
            text = json.dumps(told, ensure_ascii=False, default=str)
            with suppress(OSError):
                self._notes.raw(_UNSAFE_IN_JSON.sub(lambda m: f"\\u{ord(m[0]):04x}", text) + "\n")
            return
        self.warn(Text("enfold: ", style="bold red").append(visible(message, 1_500), style="none"))
        if hint and not self.quiet:
            self.warn(Text(visible(hint), style="dim"))

    def flush(self) -> None:
        """Let what was answered come before what is said next."""
        self._reach(sys.stdout.flush)

    def confirmed(self, question: str) -> bool | None:
        """Whether a person agrees; None where nobody can be asked."""
        if not (sys.stdin and sys.stdin.isatty() and self._notes.tty):
            return None
        self.flush()
        self._notes.raw(visible(question) + " [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in {"y", "yes"}

    def progress(self) -> Progress:
        """Progress of long work."""
        return Progress(self._notes, hidden=self.quiet)


class _Side:
    """One stream: a console where it is a terminal, else plain lines."""

    def __init__(self, stream: IO[str], color: bool) -> None:
        self.stream = stream
        self.tty = stream.isatty()
        self.console: Console | None = None
        self.width: int | None = None
        self._file: Any = _Ascii(stream)
        if _shows_marks(stream):
            self._file = stream
        if self.tty or (color and os.environ.get("FORCE_COLOR")):
            from rich.console import Console

            system: Any = "auto" if color else None
            self.console = Console(
                file=self._file, color_system=system, highlight=False, markup=False, emoji=False
            )
            if self.console.is_dumb_terminal:  # which rich takes to be 80 wide
                with suppress(OSError, ValueError):
                    width, height = os.get_terminal_size(stream.fileno())
                    self.console.size = (width or 80, height or 24)
            self.width = self.console.width if self.tty else None

    def raw(self, text: str) -> None:
        self.stream.write(text)

    def line(self, text: Text, *, indent: int = 0, hang: int = 0) -> None:
        if self.width is None or text.cell_len <= self.width - indent:
            self._put(text, indent)
            return
        room = max(NARROWEST, self.width - indent - hang)
        for at, part in enumerate(text.wrap(self._wrapping(), room)):
            self._put(part, indent + (hang if at else 0))

    def lines(self, rows: Sequence[Line], *, right: Collection[int] = (), indent: int = 2) -> None:
        whole = [_whole(row) for row in rows]
        widths = _widths([row.cells for row in whole])
        beside = [_in_columns(row.cells, widths, right) for row in whole]
        longest = max((_length(c, r.prose) for c, r in zip(beside, rows, strict=True)), default=0)
        if self.width is None or longest <= self.width - indent:
            for line, row in zip(beside, rows, strict=True):
                self._put(line.append(" " * GAP).append_text(row.prose or Text()), indent)
            return
        widths = _widths([row.cells for row in rows])
        heads = [_in_columns(row.cells, widths, right) for row in rows]
        if max(head.cell_len for head in heads) > self.width - indent:
            heads = [Text(" " * GAP).join(row.cells) for row in rows]
        for head, row in zip(heads, rows, strict=True):
            self.line(head, indent=indent, hang=4)
            below = [part for part in (row.tag, row.prose) if part is not None and part.plain]
            if below:
                self.line(Text(" " * GAP).join(below), indent=indent + 4)

    def _put(self, text: Text, indent: int) -> None:
        line = Text(" " * indent).append_text(text)
        line.rstrip()
        if self.console is None:
            self._file.write(line.plain + "\n")
        else:
            self.console.print(line, soft_wrap=True)

    def _wrapping(self) -> Console:
        assert self.console is not None, "only a terminal has a width"
        return self.console


class Progress:
    """Progress on the standard error: a bar on a terminal, from the second second on; elsewhere a
    line now and then."""

    AFTER: Final = 1.0
    EVERY: Final = 10.0

    def __init__(self, side: _Side, *, hidden: bool) -> None:
        self._side = side
        self._hidden = hidden
        self._begun = self._told = time.monotonic()
        self._bar: Bar | None = None
        self._step = ""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        if self._hidden:
            return
        now = time.monotonic()
        if self._side.tty:
            if now - self._begun >= self.AFTER:
                self._draw(what, done, total)
        elif now - self._told >= self.EVERY:
            self._told = now
            of = f" of {total:,}" if total else ""
            with suppress(OSError):
                self._side.raw(f"{what} {done:,}{of} ({now - self._begun:.0f} s)\n")
                self._side.stream.flush()

    def _draw(self, what: str, done: int, total: int) -> None:
        if self._bar is None:
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("{task.fields[clock]}", markup=False),
                console=self._side.console,
                transient=True,
                refresh_per_second=5,
            )
            self._bar.start()
        if what != self._step:
            for task in self._bar.task_ids:
                self._bar.remove_task(task)
            self._bar.add_task(visible(what), total=None, clock=_Clock(self._begun))
            self._step = what
        self._bar.update(self._bar.task_ids[0], completed=done, total=total or None)


class _Clock:
    """The seconds since the command began: not those of its step, which is what rich would show."""

    def __init__(self, begun: float) -> None:
        self._begun = begun

    def __format__(self, _: str) -> str:
        return f"{time.monotonic() - self._begun:.0f} s"


def _text(text: Text | str) -> Text:
    return text if isinstance(text, Text) else Text(text)


def _length(head: Text, prose: Text | None) -> int:
    return head.cell_len + (GAP + prose.cell_len if prose is not None and prose.plain else 0)


def _whole(row: Line) -> Line:
    return row if row.tag is None else Line([*row.cells, row.tag], row.prose)


def _widths(rows: Sequence[Sequence[Text]]) -> list[int]:
    widths = [0] * max((len(row) for row in rows), default=0)
    for row in rows:
        for at, cell in enumerate(row):
            if cell.cell_len <= COLUMN:
                widths[at] = max(widths[at], cell.cell_len)
    return widths


def _in_columns(cells: Sequence[Text], widths: Sequence[int], right: Collection[int]) -> Text:
    line = Text()
    for at, (cell, width) in enumerate(zip(cells, widths, strict=False)):
        pad = " " * max(0, width - cell.cell_len)
        line.append(" " * (GAP if at else 0))
        if at in right:
            line.append(pad).append_text(cell)
        else:
            line.append_text(cell).append(pad)
    return line


def silence(stream: IO[str]) -> None:
    """Lead a stream whose reader has left to nowhere, so that closing it does not fail."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


__all__ = ["Line", "Progress", "Terminal", "prepare_streams", "silence", "visible"]
