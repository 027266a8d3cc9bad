"""CSV as people and spreadsheets leave it, cut into rows as it streams.

A row may run over lines. A quote that is opened and never closed costs its line and no more, and so
does a row that is too long, of another width, or no text.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from enfold.formats.source import LINE_LIMIT, Source, lines
from enfold.formats.storable import CHANGED, cleaned, is_storable, storable
from enfold.model import Note, SetAside

DELIMITERS: Final = (",", ";", "\t", "|")
"""What may stand between cells, the likelier first."""

_BROKEN = re.compile("[\udc80-\udcff]")


def header(head: bytes | str, delimiter: str) -> list[str]:
    """The cells of the first row of a text; none where it is no row."""
    text = head.decode("utf-8", "surrogateescape") if isinstance(head, bytes) else head
    text = text.lstrip("\ufeff \r\n")
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    except csv.Error:
        return []


def plain(name: str) -> str:
    """A column's name as it is compared: without case, blanks, ``_`` and ``-``."""
    return re.sub(r"[\s_\-]", "", name).casefold()


def widen(most: int = LINE_LIMIT) -> None:
    """Let a cell be that long, in characters. The limit is the process's: it only grows."""
    csv.field_size_limit(max(csv.field_size_limit(), most))


def row(cells: Iterable[str]) -> str:
    """Cells as a row, which ends in a carriage return and a newline; so a lone return in a cell is
    quoted."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue()


@dataclass(frozen=True, slots=True)
class Row:
    """A row: the line it begins in, its cells, and what is written there."""

    line: int
    cells: list[str]
    text: str


def rows(source: Source, delimiter: str, columns: int) -> Iterator[Row | SetAside]:
    """The rows of a table below its header, blank ones aside; one that has not as many cells as the
    header has columns is set aside as written."""
    widen()
    feed = _Feed(source)
    reader = csv.reader(feed, delimiter=delimiter)
    header = True
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            yield from feed.flush()
            return
        except csv.Error as error:
            line, text = feed.taken()
            yield SetAside(source.name, line, f"Not a row of the table: {error}.", text)
            continue
        line, text = feed.taken()
        if _unclosed(text) and not header and feed.give_back_rest(text):
            why = "A quote is opened in this line and not closed in its row."
            yield SetAside(source.name, line, why, text.partition("\n")[0].rstrip("\r"))
        elif not header and any(cells):
            yield from _fitting(source.name, columns, line, cells, text, feed.skipped)
        yield from feed.flush()
        header = header and not any(cells)


def _unclosed(text: str) -> bool:
    """Whether a row runs over lines because of a stray quote: whole ones come in pairs."""
    return text.count('"') % 2 == 1 and "\n" in text.rstrip("\r\n")


def _fitting(
    name: str, columns: int, line: int, cells: list[str], text: str, skipped: bool
) -> Iterator[Row | SetAside]:
    text = text.rstrip("\r\n")
    if skipped:
        yield SetAside(name, line, "A line of this row is too long to be read.", text)
    elif not text.isascii() and (broken := _BROKEN.search(text)):
        at = len(text[: broken.start()].encode("utf-8", "surrogateescape")) + 1
        shown = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        yield SetAside(name, line, f"Byte {at} of the row is not UTF-8; no byte is guessed.", shown)
    elif len(cells) != columns:
        why = f"The row has {len(cells)} cells; the header has {columns} columns."
        yield SetAside(name, line, why, text)
    else:
        if not is_storable(text):
            yield Note(name, line, CHANGED, storable(text))
            cells = cleaned(cells)
        yield Row(line, cells, text)


class _Feed:
    """Lines for ``csv.reader``, which remembers those that the present row is made of."""

    def __init__(self, source: Source) -> None:
        self._lines = lines(source)
        self._taken: list[str] = []
        self._aside: list[SetAside] = []
        self._first, self._size, self._returned = 1, 0, 0
        self._back: deque[tuple[int, bytes]] = deque()
        self.skipped = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        for line in itertools.chain(self._given_back(), self._lines):
            if isinstance(line, SetAside):
                self._aside.append(line)
                self.skipped = self.skipped or bool(self._taken)
                continue
            number, raw = line
            if not self._taken:
                self._first, self._size = number, 0
            text = raw.decode("utf-8", "surrogateescape")
            self._size += len(text)
            if self._size > LINE_LIMIT:
                raise csv.Error(f"a quote is opened here and not closed in {LINE_LIMIT:,} bytes")
            self._taken.append(text)
            return text
        raise StopIteration

    def _given_back(self) -> Iterator[tuple[int, bytes]]:
        while self._back:
            yield self._back.popleft()

    def give_back_rest(self, text: str) -> bool:
        """Read the lines of the last row again, but for its first; False where so much was read
        twice already that the row had better be set aside whole."""
        self._returned += len(text)
        if self._returned > 4 * LINE_LIMIT:
            return False
        raw = text.encode("utf-8", "surrogateescape").split(b"\n")[1:]
        rest = [part + b"\n" for part in raw[:-1]] + [raw[-1]] * bool(raw[-1])
        self._back.extendleft(reversed(list(enumerate(rest, self._first + 1))))
        return True

    def taken(self) -> tuple[int, str]:
        """(first line, text) of the row that was just read."""
        text, self._taken = "".join(self._taken), []
        return self._first, text

    def flush(self) -> Iterator[SetAside]:
        """The lines that were too long, once."""
        self.skipped = False
        aside, self._aside = self._aside, []
        yield from aside
