"""JSON as people and crashes leave it, cut into values without holding the whole.

Two ways in. ``in_lines`` takes text that comes line by line: a line may hold several values, a
value may run over several lines, and a broken one costs no more than itself. ``in_document`` takes
one list, or one object with lists in it, of any length, pretty-printed or not. What a text is can
be told before by the keys of its first objects (``top``), of which it may hold only the beginning.
"""

from __future__ import annotations

import json
import math
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from enfold.formats.source import LINE_LIMIT, SHOWN, Source, chunks, decode, lines
from enfold.formats.storable import CHANGED, UNSTORABLE, cleaned
from enfold.model import Note, SetAside

LINES_A_VALUE: Final = 10_000
"""Most lines that one value may run over."""

DEPTH: Final = 100
"""Deepest nesting that is taken; what is deeper would break whoever reads it next."""

TOKEN: Final = re.compile(r'"((?:[^"\\]|\\.)*)"|[{}\[\],:]')
"""A string, whose inside is the group, or a sign."""

_BLANK: Final = " \t\r\n,\x1e"  # \x1e: RFC 7464 text sequences
_RECORD_START = re.compile(r'\{\s*"')
_OUTSIDE = re.compile(r'["{}\[\]]')
_INSIDE = re.compile(r'["\\]')
_SCALAR_END = re.compile(r"[\s,\[\]{}:\"]")
_TRIES: Final = 200  # places in one broken text that look like a record and are none
_ESCAPED_UNSTORABLE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")

# Ends of lines to some readers, and what a terminal would obey.
_ESCAPED: Final = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}


@dataclass(frozen=True, slots=True)
class Value:
    """One JSON value of a file.

    Attributes:
        line: where it begins.
        data: what it says.
        text: as written.
        key: the member of the document it stands under, or "" at the top.
        repeated: whether an object in it gives one key twice; the first value is in ``data``,
            lists are joined.
    """

    line: int
    data: Any
    text: str
    key: str = ""
    repeated: bool = False


# ---- values that are known ----


def as_text(value: Any) -> str:
    """A text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def as_line(value: Any, *, compact: bool = False) -> str:
    """A value as JSON that is one line to whoever reads it, without the newline."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":") if compact else None)
    return text.translate(_ESCAPED)


def named(value: Any) -> str:
    """A name that is a text or a number, else ""."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return str(value) if str(value).strip() else ""


def is_share(number: object) -> bool:
    """Whether it is a number from 0 to 1, as a confidence is."""
    return isinstance(number, (int, float)) and not isinstance(number, bool) and 0 <= number <= 1


def loaded(text: str, most: int = DEPTH) -> Any:
    """What a JSON text says that stands inside something else.

    Raises:
        ValueError: it is no JSON, or nested deeper than that; its text says which.
    """
    try:
        made = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("is not JSON") from None
    if too_deep(made, most):
        raise ValueError(f"is nested more than {DEPTH} deep")
    return made


def listed_texts(text: str) -> list[str] | None:
    """The texts of a JSON list; None where it is no such list."""
    if not text.lstrip().startswith("["):
        return None
    try:
        made = loaded(text)
    except ValueError:
        return None
    whole = isinstance(made, list) and all(isinstance(part, str) for part in made)
    return made if whole else None


def too_deep(value: object, most: int = DEPTH) -> bool:
    """Whether lists and objects are nested deeper than that."""
    level = [value]
    for _ in range(most):
        level = [
            part
            for outer in level
            if isinstance(outer, (dict, list))
            for part in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return any(isinstance(part, (dict, list)) for part in level)


def storable_value(name: str, value: Value) -> tuple[Any, list[Note]]:
    """(what a value says as it can be stored, what is noted of the difference)"""
    data, notes = value.data, []
    if value.repeated:
        why = "A key is given twice; its first value is taken, lists are joined."
        notes.append(Note(name, value.line, why, value.text))
    if _ESCAPED_UNSTORABLE.search(value.text) or UNSTORABLE.search(value.text):
        data = cleaned(value.data)
        if data != value.data:
            notes.append(Note(name, value.line, CHANGED, value.text))
    return data, notes


def top(text: str) -> dict[str, str]:
    """The keys of the object that the text begins with, as far as it goes: {key: its value where
    that is a string, else ""}."""
    found: dict[str, str] = {}
    depth, last, key = 0, "", ""
    for match in TOKEN.finditer(text):
        token = match.group()
        if token in "{[":
            depth += 1
            if depth == 1 and token == "[":
                return found
        elif token in "}]":
            depth -= 1
            if depth == 0:
                return found
        elif depth == 1 and token == ":":
            key = last
            found.setdefault(key, "")
        elif depth == 1 and token == ",":
            key = ""
        elif depth == 1 and match.group(1) is not None:
            last = match.group(1)
            if key:
                found[key] = last
    return found


class _Decoder:
    """``json`` with what it leaves open settled: a key given twice is noticed, a number that JSON
    does not have (NaN, 1e999) stays the text it is."""

    def __init__(self, *, strict: bool = True) -> None:
        self._repeated = False
        self._json = json.JSONDecoder(
            object_pairs_hook=self._object, parse_float=_number, parse_constant=str, strict=strict
        )

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) == len(pairs):
            return made
        self._repeated = True
        made = {}
        for key, value in pairs:
            known = made.setdefault(key, value)
            if known is not value and isinstance(known, list) and isinstance(value, list):
                made[key] = [*known, *value]
        return made

    def at(self, text: str, start: int) -> tuple[Any, int, bool]:
        """(data, where it ends, whether a key was repeated).

        Raises:
            ValueError: no JSON value begins here; its text says why.
        """
        self._repeated = False
        try:
            data, end = self._json.raw_decode(text, start)
        except RecursionError:
            raise ValueError(f"nested more than {DEPTH} deep") from None
        if _too_deep(text, start, end, data):
            raise ValueError(f"nested more than {DEPTH} deep")
        return data, end, self._repeated


def _number(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text


def _too_deep(text: str, start: int, end: int, data: object) -> bool:
    brackets = text.count("[", start, end) + text.count("{", start, end)
    return brackets > DEPTH and too_deep(data)


def _why(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"Not JSON: {error.msg.lower()} at character {error.pos + 1}."
    if "digits" in str(error):
        return "Not taken: a number in it has more digits than can be read."
    return f"Not taken: {error}."


Wanted = Callable[[Any], bool]
"""Whether a value is a record of the format: what a broken line is searched for."""


# ---- lines ----


def in_lines(source: Source, wanted: Wanted) -> Iterator[Value | SetAside]:
    """The values of a file of lines, in order; what is none is set aside with its line."""
    reader = _Lines(source, wanted)
    while (line := reader.next()) is not None:
        if isinstance(line, SetAside):
            yield line
        else:
            yield from reader.values(*line)


class _Lines:
    def __init__(self, source: Source, wanted: Wanted) -> None:
        self._name, self._wanted = source.name, wanted
        self._lines = lines(source)
        self._back: deque[tuple[int, bytes] | SetAside] = deque()
        self._decoder, self._loose = _Decoder(), _Decoder(strict=False)

    def next(self) -> tuple[int, bytes] | SetAside | None:
        return self._back.popleft() if self._back else next(self._lines, None)

    def values(self, number: int, raw: bytes) -> Iterator[Value | SetAside]:
        text, broken = decode(raw)
        if broken:
            yield SetAside(self._name, number, broken, text.rstrip("\r\n"))
            return
        at = _skip(text, 0)
        while at < len(text):
            try:
                data, end, repeated = self._decoder.at(text, at)
            except ValueError as error:
                yield from self._broken(number, text, at, error)
                return
            yield Value(number, data, text[at:end].strip(), repeated=repeated)
            at = _skip(text, end)

    def _broken(
        self, number: int, text: str, at: int, error: ValueError
    ) -> Iterator[Value | SetAside]:
        """A value that does not end in its line: it runs on, or a record begins inside it again,
        or the rest of the line is set aside."""
        if isinstance(error, json.JSONDecodeError) and _open_at_end(text, at):
            whole = self._run_on(number, text[at:])
            if whole is not None:
                yield from whole
                return
        yield from salvage(self._name, number, text[at:], self._wanted, _why(error))

    def _run_on(self, number: int, text: str) -> list[Value | SetAside] | None:
        """The value that begins in this text and ends some lines below; None where the next line
        stands on its own, so that this one is simply cut off."""
        parts, size = [text], len(text)
        depth, inside = _balance(text, 0, False)
        while len(parts) < LINES_A_VALUE and size < LINE_LIMIT:
            line = self.next()
            if line is None:
                break
            if isinstance(line, SetAside) or self._stands_alone(line[1]):
                self._back.appendleft(line)
                break
            more, broken = decode(line[1])
            parts.append(more)
            size += len(more)
            if broken:
                return [SetAside(self._name, number, broken, "".join(parts))]
            depth, inside = _balance(more, depth, inside)
            if depth <= 0 and not inside:
                return self._joined(number, "".join(parts), len(parts))
        if len(parts) == 1:
            return None
        why = f"Not JSON: the value that begins here has no end within {len(parts)} lines."
        return list(salvage(self._name, number, "".join(parts), self._wanted, why))

    def _stands_alone(self, line: bytes) -> bool:
        start = line.lstrip()
        if not start.startswith(b"{"):
            return False
        try:
            data, end, _ = self._decoder.at(text := start.decode(), 0)
        except ValueError:  # UnicodeDecodeError is one
            return False
        return self._wanted(data) and not text[end:].strip().startswith(("]", "}"))

    def _joined(self, number: int, text: str, count: int) -> list[Value | SetAside]:
        """A newline that stands raw inside a string is taken as the newline it is."""
        try:
            data, end, repeated = self._loose.at(text, 0)
        except ValueError as error:
            return list(salvage(self._name, number, text, self._wanted, _why(error)))
        if rest := text[end:].strip(_BLANK):
            self._back.appendleft((number + count - 1, rest.encode()))
        return [Value(number, data, text[:end], repeated=repeated)]


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _balance(text: str, depth: int, inside: bool) -> tuple[int, bool]:
    """(open brackets, whether inside a string) after the text."""
    at = 0
    while match := (_INSIDE if inside else _OUTSIDE).search(text, at):
        at = match.end()
        token = match.group()
        if token == "\\":
            at += 1
        elif token == '"':
            inside = not inside
        else:
            depth += 1 if token in "{[" else -1
            if depth == 0:
                return 0, False
    return depth, inside


def _open_at_end(text: str, at: int) -> bool:
    depth, inside = _balance(text[at:], 0, False)
    return depth > 0 or inside


def salvage(
    name: str, line: int, text: str, wanted: Wanted, why: str
) -> Iterator[Value | SetAside]:
    """A broken text: the records that begin somewhere in it are taken, what lies between is set
    aside. Two writers at once leave ``{"type":"enti{"type":"entity",...}``."""
    decoder, at, failed = _Decoder(), 0, 0
    for match in _RECORD_START.finditer(text, 1):
        start = match.start()
        if start < at:
            continue
        try:
            data, end, repeated = decoder.at(text, start)
        except ValueError:
            data = None
        if data is None or not wanted(data):
            failed += 1
            if failed > _TRIES:
                break
            continue
        yield from _aside(name, line, why, text[at:start])
        line += text.count("\n", at, start)
        yield Value(line, data, text[start:end], repeated=repeated)
        line += text.count("\n", start, end)
        at = end
    yield from _aside(name, line, why, text[at:])


def _aside(name: str, line: int, why: str, text: str) -> Iterator[SetAside]:
    if rest := text.strip(_BLANK):
        yield SetAside(name, line, why, rest)


# ---- one document ----


def in_document(
    source: Source, lists: Callable[[str], bool], wanted: Wanted
) -> Iterator[Value | SetAside]:
    """The values of a list, or of an object's lists under the keys that ``lists`` knows; any other
    member of the object comes as one value under its key."""
    decoder = _Decoder()
    for piece in _pieces(_Reader(chunks(source)), lists):
        yield from _value(source.name, piece, decoder, wanted)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A value as text, its beginning where it is too long; "" where the file ends before what the
    key says is closed."""

    line: int
    key: str
    text: str
    length: int


def _value(
    name: str, piece: _Piece, decoder: _Decoder, wanted: Wanted
) -> Iterator[Value | SetAside]:
    text = piece.text
    if not text:
        why = f"The file ends before its {piece.key} is closed: it may have been cut off."
        yield SetAside(name, piece.line, why, "")
        return
    if piece.length > len(text):
        why = f"The value has {piece.length:,} characters; at most {LINE_LIMIT:,} are read."
        yield SetAside(name, piece.line, why, text)
        return
    if not text.isascii() and (broken := re.search("[\udc80-\udcff]", text)):
        position = len(text[: broken.start()].encode("utf-8", "surrogateescape")) + 1
        why = f"Byte {position} of the value is not UTF-8; no byte is guessed."
        shown = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        yield SetAside(name, piece.line, why, shown)
        return
    try:
        data, _, repeated = decoder.at(text, 0)
    except ValueError as error:
        yield from salvage(name, piece.line, text, wanted, _why(error))
        return
    yield Value(piece.line, data, text, piece.key, repeated)


class _Reader:
    """Text as it comes, one step ahead."""

    def __init__(self, blocks: Iterator[str]) -> None:
        self._blocks, self._text, self._at, self.line = blocks, "", 0, 1
        self._cut_off = False

    def peek(self) -> str:
        """The next character, "" at the end."""
        while self._at >= len(self._text):
            block = next(self._blocks, None)
            if block is None:
                return ""
            self._text, self._at = block, 0
        return self._text[self._at]

    def take(self) -> str:
        char = self.peek()
        self._at += 1
        self.line += char == "\n"
        return char

    def skip(self, characters: str) -> None:
        while (char := self.peek()) and char in characters:
            self.take()

    def cut_off(self, what: str) -> Iterator[_Piece]:
        """What stands for an end that is missing, once in a file: an empty piece, whose key says of
        what."""
        if not self._cut_off:
            self._cut_off = True
            yield _Piece(self.line, what, "", 0)

    def piece(self, key: str) -> _Piece:
        """The value that begins here, whole; never empty but at the end."""
        line, kept, length = self.line, [], 0
        for part in self._parts():
            length += len(part)
            self.line += part.count("\n")
            if length <= LINE_LIMIT:
                kept.append(part)
            elif kept:
                kept = ["".join(kept)[:SHOWN]]
        return _Piece(line, key, "".join(kept), length)

    def _parts(self) -> Iterator[str]:
        first = self.peek()
        if first not in '"{[':
            yield from self._scalar()
            return
        depth, inside, escaped = 0, False, False
        while self.peek():
            start = at = self._at
            if escaped:
                at, escaped = at + 1, False
            while match := (_INSIDE if inside else _OUTSIDE).search(self._text, at):
                at = match.end()
                token = match.group()
                if token == "\\":
                    if at >= len(self._text):
                        escaped = True
                        break
                    at += 1
                    continue
                if token == '"':
                    inside = not inside
                else:
                    depth += 1 if token in "{[" else -1
                if depth == 0 and not inside:
                    self._at = at
                    yield self._text[start:at]
                    return
            self._at = len(self._text)
            yield self._text[start:]

    def _scalar(self) -> Iterator[str]:
        yield self._text[self._at]
        self._at += 1
        while self.peek():
            match = _SCALAR_END.search(self._text, self._at)
            end = match.start() if match else len(self._text)
            part, self._at = self._text[self._at : end], end
            if part:
                yield part
            if match:
                return


def _pieces(reader: _Reader, lists: Callable[[str], bool]) -> Iterator[_Piece]:
    """What stands at the top of the text: lists by their elements, objects by their members."""
    while True:
        reader.skip(_BLANK)
        char = reader.peek()
        if not char:
            return
        if char == "[":
            yield from _elements(reader, "")
        elif char == "{":
            yield from _members(reader, lists)
        else:
            yield reader.piece("")


def _elements(reader: _Reader, key: str) -> Iterator[_Piece]:
    reader.take()
    while True:
        reader.skip(_BLANK)
        char = reader.peek()
        if char in ("", "]"):
            if not char:
                yield from reader.cut_off("list")
            reader.take()
            return
        yield reader.piece(key)


def _members(reader: _Reader, lists: Callable[[str], bool]) -> Iterator[_Piece]:
    reader.take()
    while True:
        reader.skip(_BLANK)
        char = reader.peek()
        if char in ("", "}"):
            if not char:
                yield from reader.cut_off("document")
            reader.take()
            return
        if char != '"':
            yield reader.piece("")
            continue
        name = reader.piece("")
        reader.skip(_BLANK + ":")
        key = name.text.strip('"')
        if reader.peek() == "[" and lists(key):
            yield from _elements(reader, key)
        elif reader.peek() not in ("", "}"):
            yield reader.piece(key)
