"""One key at a time from a terminal; a line at a time from one that can't.

The terminal is left as it was found at every end, also of a signal that ends the program: a shell
that no longer shows what is typed is worse than a lost card. It stops for Ctrl-Z only while it
waits for a key, never in the middle of a write that others would wait for.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, ModuleType
from typing import Any, Final

RESIZED: Final = "resized"
"""Comes instead of a key when the window has another size, or shows something else by now."""

GONE: Final = ""
"""Comes when the terminal has no more to read: the window was closed, or Ctrl-D."""

_TICK: Final = 0.2
_QUIET: Final = 0.1
"""Seconds without a key after which nothing of a paste, or of a key held down, is still coming."""

_ESCAPE: Final = b"\x1b"
_END: Final = "\x04"


class Ended(BaseException):
    """A signal asked the program to end; what it must put back, it puts back on the way."""


class Keys:
    """What a person types, key by key.

    Attributes:
        raw: whether each key counts at once; else lines are read, and each letter of one is a key.
    """

    def __init__(self) -> None:
        self._file = sys.stdin
        self._termios = _termios()
        self._before: Any = None
        self._left: list[str] = []
        self._size = _size()
        self._waits = self._stop_asked = False
        with suppress(AttributeError, OSError, ValueError):
            # What is pasted may be anything; a letter that is none is no answer.
            self._file.reconfigure(errors="replace")  # type: ignore[union-attr]
        self.raw = self._termios is not None and os.environ.get("TERM") != "dumb"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keys count at once inside, and signals that end the program unwind it."""
        if self.raw and not self._hold():
            self.raw = False
        with _ending(self._stop):
            try:
                yield
            finally:
                self._release()

    def read(self) -> str:
        """The next key, ``RESIZED`` or ``GONE``."""
        with self._waiting():
            try:
                return self._key() if self.raw else self._letter()
            except (OSError, ValueError):  # the terminal is gone, or closed
                return GONE

    def line(self) -> str | None:
        """A whole line, as a terminal edits it; None where there is no more."""
        self._release()
        with self._waiting():
            try:
                typed = self._file.readline()
            except (OSError, ValueError):
                return None
            finally:
                if self.raw:
                    self._hold()
        return typed.strip() if typed else None

    def forget(self) -> None:
        """What was typed before now is no answer to what is shown now: the rest of a paste, of a
        key held down, of a line."""
        self._left.clear()
        with suppress(OSError, ValueError):
            while self.raw and self._ready(_QUIET) and os.read(self._file.fileno(), 1 << 12):
                pass

    # ---- stopping ----

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        self._waits = True
        try:
            if self._stop_asked:
                self._stop()
            yield
        finally:
            self._waits = False

    def _stop(self, *_: object) -> None:
        """Stop as Ctrl-Z asks, with the terminal as it was found; later where a write is going
        on."""
        self._stop_asked = not self._waits
        if self._waits:
            self._release()
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTSTP)  # here it stands until it is told to go on
            signal.signal(signal.SIGTSTP, self._stop)

    # ---- raw ----

    def _hold(self) -> bool:
        """Let each key count; False where this terminal can't."""
        termios = self._termios
        assert termios is not None
        try:
            now = termios.tcgetattr(self._file)
            if self._before is None:
                self._before = now
            held = [*now[:3], now[3] & ~(termios.ICANON | termios.ECHO), *now[4:6], list(now[6])]
            held[6][termios.VMIN], held[6][termios.VTIME] = 1, 0
            termios.tcsetattr(self._file, termios.TCSADRAIN, held)
        except (termios.error, OSError, ValueError):
            return False
        return True

    def _release(self) -> None:
        if self._before is not None and self._termios is not None:
            with suppress(self._termios.error, OSError, ValueError):
                self._termios.tcsetattr(self._file, self._termios.TCSADRAIN, self._before)

    def _released(self) -> bool:
        """Whether somebody else set the terminal to lines again."""
        assert self._termios is not None
        with suppress(self._termios.error):
            return bool(self._termios.tcgetattr(self._file)[3] & self._termios.ICANON)
        return False

    def _key(self) -> str:
        while True:
            if not self._ready(_TICK):
                # A program that was stopped and goes on finds the shell's settings, and its screen.
                if self._resized() or (self._released() and self._hold()):
                    return RESIZED
                continue
            byte = os.read(self._file.fileno(), 1)
            if not byte:
                return GONE
            if byte == _ESCAPE:
                self._skip_sequence()
                continue
            key = (byte + self._rest_of(byte[0])).decode("utf-8", "replace")
            return GONE if key == _END else key

    def _rest_of(self, first: int) -> bytes:
        """The other bytes of a letter that has several."""
        length = 0 if first < 0xC0 else 1 if first < 0xE0 else 2 if first < 0xF0 else 3
        rest = b""
        while len(rest) < length and self._ready(_TICK):
            rest += os.read(self._file.fileno(), 1)
        return rest

    def _skip_sequence(self) -> None:
        """An arrow or a function key is no answer: Escape, ``[`` or ``O``, and what ends at a
        letter or ``~``."""
        byte = self._more()
        if byte == b"O":
            self._more()
        elif byte == b"[":
            while (byte := self._more()) and not b"@" <= byte <= b"~":
                pass

    def _more(self) -> bytes:
        """The next byte of a sequence; none where the key was Escape alone."""
        return os.read(self._file.fileno(), 1) if self._ready(_TICK / 4) else b""

    def _ready(self, seconds: float) -> bool:
        return bool(select.select([self._file], [], [], seconds)[0])

    def _resized(self) -> bool:
        before, self._size = self._size, _size()
        return before != self._size

    # ---- lines ----

    def _letter(self) -> str:
        while not self._left:
            typed = self._file.readline()
            if not typed:
                return GONE
            # An empty line is the Enter key.
            self._left = [key for key in typed.strip() if not key.isspace() and key != ","] or [
                "\n"
            ]
        return self._left.pop(0)


def _termios() -> ModuleType | None:
    try:
        import termios
    except ImportError:  # Windows
        return None
    return termios


def _size() -> tuple[int, int] | None:
    with suppress(OSError, ValueError, AttributeError):
        size = os.get_terminal_size(sys.stdout.fileno())
        return size.columns, size.lines
    return None


@contextmanager
def _ending(stop: Callable[..., None]) -> Iterator[None]:
    def end(number: int, _: FrameType | None) -> None:
        raise Ended(number)

    kept: dict[int, Callable[..., Any] | int | None] = {}
    for name, does in (("SIGTERM", end), ("SIGHUP", end), ("SIGTSTP", stop)):
        number = getattr(signal, name, None)
        with suppress(ValueError, OSError, TypeError):  # another thread than the first
            kept[number] = signal.signal(number, does)  # type: ignore[arg-type,index]
    try:
        yield
    finally:
        for number, before in kept.items():
            with suppress(ValueError, OSError, TypeError):
                signal.signal(number, before)
