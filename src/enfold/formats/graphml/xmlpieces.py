"""XML cut into elements as it streams, in bounded memory, whatever is wrong with it.

The standard library's expat is driven directly. It does what a defused parser does (a document type
declaration is refused where it begins, and without one there are no entities to expand and nothing
outside to fetch) and also tells the line and the byte of each element, which is what lets a file go
on behind a broken piece: XML itself gives up at the first error.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat
from xml.sax.saxutils import escape

from enfold.errors import Invalid
from enfold.formats.source import HEAD, LINE_LIMIT, Source
from enfold.model import SetAside

DEPTH: Final = 100
"""Deepest nesting of elements that is taken."""

SHOWN_BYTES: Final = 64 * 1024
"""How much of a broken piece is kept."""

CONTAINERS: Final = frozenset({"graphml", "graph"})
"""Elements whose children are handed out one by one and not kept."""

_ALONE = frozenset({"node", "edge", "hyperedge"})  # these stand in a graph, never in each other
_RESTART = re.compile(rb"<(?:[\w.-]+:)?(?:node|edge|hyperedge)(?=[\s/>])")
_CLOSING = re.compile(rb"(?:\s|</[^<>]*>)*")
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_DECODED = re.compile(
    "(?i)(iso[-_]?8859|latin|cp|windows|gb|big5|shift|euc|iso-2022|koi8|us-?ascii)"
)
_ROOT = re.compile(rb"<(?:[\w.-]+:)?([\w.-]+)")

_BEFORE_ROOT: Final = ((b"<?", b"?>"), (b"<!--", b"-->"), (b"<!", b">"))

# What no XML may hold, and bytes that are no text (surrogates, to a decoder that escapes them),
# pass through the parser as characters of a private plane.
_UNHELD = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_STANDS: Final = 0x10_0000
_STOOD = re.compile(f"[{chr(_STANDS)}-{chr(_STANDS + 0xFFFF)}]")


@dataclass(slots=True)
class Element:
    """An element, whole: its tag and attributes without their namespace's prefix."""

    tag: str
    name: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list)
    tail: str = ""
    broken: bool = False

    def first(self, tag: str) -> Element | None:
        """The first element of that tag anywhere in it, in document order."""
        for child in self.children:
            if child.tag == tag:
                return child
            if (found := child.first(tag)) is not None:
                return found
        return None

    def inside(self) -> str:
        """What stands between its tags, as XML."""
        parts = [escaped(self.text)]
        for child in self.children:
            parts += child.written(), escaped(child.tail)
        return "".join(parts)

    def written(self) -> str:
        """The element as XML."""
        said = "".join(f' {key}="{quoted(value)}"' for key, value in self.attributes.items())
        inside = self.inside()
        return f"<{self.name}{said}>{inside}</{self.name}>" if inside else f"<{self.name}{said}/>"


def escaped(text: str) -> str:
    """A text as it may stand between tags."""
    return escape(text, {"\r": "&#13;"})


def quoted(text: str) -> str:
    """A text as it may stand in an attribute."""
    return escape(text, {'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})


def root(head: bytes) -> str:
    """The name of the first element, without its prefix; "" where these bytes begin no XML."""
    at, head = 0, head.removeprefix(b"\xef\xbb\xbf")
    while True:
        while head[at : at + 1].isspace():
            at += 1
        end = next((e for start, e in _BEFORE_ROOT if head.startswith(start, at)), None)
        if end is None:
            found = _ROOT.match(head, at)
            return found[1].decode() if found else ""
        if end == b">" and b"[" in head[at : head.find(b">", at)]:
            end = b"]>"  # a document type with declarations in it
        close = head.find(end, at)
        if close < 0:
            return ""
        at = close + len(end)


Piece = tuple[Element, tuple[Element, ...]]
"""An element and what it stands in, the root first."""


def pieces(source: Source) -> Iterator[Piece | SetAside]:
    """The children of the containers, in the order in which they end.

    A piece of more than ``LINE_LIMIT`` bytes, or one that is no XML, is set aside; reading goes on
    with the next ``node``, ``edge`` or ``hyperedge`` behind it.

    Raises:
        Invalid: ``doctype`` or ``unknown_encoding``.
    """
    return _Cutter(source).pieces()


class _Broken(Exception):
    def __init__(self, why: str, at: int) -> None:
        super().__init__(why)
        self.why, self.at = why, at


class _Cutter:
    """A buffer that begins with the piece being read, and a parser that is fed from it.

    ``_fed`` counts the bytes of the buffer that the parser has had, ``_mark`` where the present
    piece begins, ``_line`` the line of the buffer's first byte.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._buffer, self._fed, self._mark, self._line = bytearray(), 0, 0, 1
        self._ready: list[Piece | SetAside] = []
        self._open: list[Element] = []
        self._fresh, self._over, self._marked = False, False, False
        self._default: dict[str, str] = {}
        self._parser = self._made()
        self._shift, self._lines = 0, 0

    def pieces(self) -> Iterator[Piece | SetAside]:
        blocks = _blocks(self._source, self._note_marks)
        while True:
            if self._fed >= len(self._buffer):
                self._trim()
                block = next(blocks, None)
                if block is None:
                    break
                self._buffer += block
            self._step(blocks)
            yield from self._ready
            self._ready.clear()
        self._finish()
        yield from self._ready

    def _note_marks(self) -> None:
        self._marked = True

    def _trim(self, upto: int | None = None) -> None:
        cut = min(self._mark if upto is None else upto, len(self._buffer))
        self._line += self._buffer.count(b"\n", 0, cut)
        del self._buffer[:cut]
        self._fed -= cut
        self._shift -= cut
        self._mark = max(0, self._mark - cut)

    def _step(self, blocks: Iterator[bytes]) -> None:
        step = bytes(self._buffer[self._fed : self._fed + HEAD])
        self._fed += len(step)
        try:
            self._parser.Parse(step, False)
        except expat.ExpatError as error:
            why = f"Not XML: {expat.ErrorString(error.code)}."
            self._broken(why, self._parser.ErrorByteIndex + self._shift, blocks)
        except _Broken as broken:
            self._broken(broken.why, broken.at, blocks)
        else:
            if self._fed - self._mark > LINE_LIMIT:
                self._broken(
                    f"The piece has more than the {LINE_LIMIT:,} bytes that are read.",
                    self._fed,
                    blocks,
                )

    def _broken(self, why: str, at: int, blocks: Iterator[bytes]) -> None:
        """Set the present piece aside and begin again at the next that starts at or behind
        ``at``, but not where this one does."""
        at = max(1, at - self._mark)
        self._trim(self._mark)
        line, shown = self._line, bytearray()
        while (found := _RESTART.search(self._buffer, at)) is None:
            # A tag may be cut by the end of the buffer; all before it is done with.
            keep = max(len(self._buffer) - 64, min(at, len(self._buffer)))
            block = next(blocks, None)
            if block is None:
                self._over, keep = True, len(self._buffer)
            shown += self._buffer[: min(keep, max(0, SHOWN_BYTES - len(shown)))]
            self._trim(keep)
            if block is None:
                break
            at = 0
            self._buffer += block
        if found:
            shown += self._buffer[: min(found.start(), max(0, SHOWN_BYTES - len(shown)))]
            self._trim(found.start())
        self._aside(line, why, bytes(shown))
        self._restart()

    def _aside(self, line: int, why: str, shown: bytes) -> None:
        rest = shown[len(_CLOSING.match(shown)[0]) :]  # type: ignore[index]
        if not rest:
            return  # tags that close what was open when the piece before broke
        line += shown[: len(shown) - len(rest)].count(b"\n")
        text = _restored(rest.decode("utf-8", "replace")).rstrip()
        self._ready.append(SetAside(self._source.name, line, why, text))

    def _restart(self) -> None:
        said = f' edgedefault="{quoted(self._default.get("edgedefault", "directed"))}"'
        start = f"<graphml><graph{said}>".encode()
        self._open, self._fed = [], 0
        self._parser = self._made()
        self._parser.Parse(start, False)
        self._shift, self._lines = -len(start), self._line - 1
        self._mark, self._fresh = 0, False

    def _finish(self) -> None:
        if self._over:
            return
        try:
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            shown = bytes(self._buffer[self._mark : self._mark + SHOWN_BYTES])
            line = self._line + self._buffer.count(b"\n", 0, self._mark)
            if not _CLOSING.fullmatch(shown):
                why = f"Not XML: {expat.ErrorString(error.code)}; the file may have been cut off."
                self._aside(line, why, shown)
            elif self._open:
                why = "The file ends before its graph is closed: it may have been cut off."
                self._ready.append(SetAside(self._source.name, line, why, ""))
        except _Broken:
            pass

    # ---- what the parser says ----

    def _made(self) -> expat.XMLParserType:
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.buffer_size = HEAD
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._doctype
        return parser

    def _at(self) -> int:
        return self._parser.CurrentByteIndex + self._shift

    def _past_tag(self) -> None:
        """The next piece begins about here; exactly where, whatever comes next will tell."""
        at = self._at()
        empty = self._buffer[at - 2 : at] == b"/>"  # of such an element the parser stands behind
        self._mark = at if empty else self._buffer.find(b">", at) + 1 or self._mark
        self._fresh = True

    def _touch(self) -> None:
        if self._fresh:
            self._mark, self._fresh = self._at(), False

    def _doctype(self, *_: object) -> None:
        raise Invalid(
            "doctype",
            f"{self._source.name} has a document type declaration (<!DOCTYPE ...>), which can hide "
            "what fills the memory or reads other files; take that line out, then read it again.",
            path=self._source.name,
        )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._touch()
        tag = name.rpartition(":")[2]
        if len(self._open) >= DEPTH:
            raise _Broken(f"Elements are nested more than {DEPTH} deep.", self._at() + 1)
        if tag in _ALONE and self._open and self._open[-1].tag not in CONTAINERS:
            raise _Broken(f"<{self._open[-1].name}> is not closed.", self._at())
        element = Element(tag, name, attributes, self._parser.CurrentLineNumber + self._lines)
        if self._marked:
            self._restore(element, attributes)
        if tag in CONTAINERS:
            if tag == "graph":
                self._default = attributes
            self._past_tag()
        self._open.append(element)

    def _restore(self, element: Element, attributes: dict[str, str]) -> None:
        for key, value in attributes.items():
            if _STOOD.search(value):
                attributes[key] = _restored(value)
                element.broken |= _is_broken(value)

    def _characters(self, text: str) -> None:
        self._touch()
        if not self._open or self._open[-1].tag in CONTAINERS:
            return
        element = self._open[-1]
        if self._marked and _STOOD.search(text):
            element.broken |= _is_broken(text)
            text = _restored(text)
        if element.children:
            element.children[-1].tail += text
        else:
            element.text += text

    def _end(self, _: str) -> None:
        self._touch()
        element = self._open.pop()
        if element.tag in CONTAINERS:
            if element.tag == "graph":
                outer = (e.attributes for e in reversed(self._open) if e.tag == "graph")
                self._default = next(outer, self._default)
            self._past_tag()
            return
        if not self._open:
            return
        parent = self._open[-1]
        if parent.tag in CONTAINERS:
            self._ready.append((element, tuple(self._open)))
            self._past_tag()
        else:
            parent.broken |= element.broken
            parent.children.append(element)


# ---- bytes ----


def _blocks(source: Source, mark: object) -> Iterator[bytes]:
    """The file as UTF-8 that a parser takes; ``mark`` is called once where a character had to be
    replaced by one that stands for it."""
    assert callable(mark)
    decoder = codecs.getincrementaldecoder(_encoding(source))("surrogateescape")
    while True:
        block = source.stream.read(HEAD)
        text = decoder.decode(block, not block)
        if _UNHELD.search(text):
            mark()
            text = _UNHELD.sub(lambda found: chr(_STANDS + ord(found[0])), text)
        if text:
            yield text.encode()
        if not block:
            return


def _encoding(source: Source) -> str:
    """What the XML declaration says, where that is not told by a byte order mark already."""
    found = _DECLARED.match(source.head)
    said = found[1].decode() if found else ""
    if not _DECODED.match(said):
        return "utf-8"
    try:
        return codecs.lookup(said).name
    except LookupError:
        raise Invalid(
            "unknown_encoding",
            f"{source.name} says that it is in {said!r}, which is no encoding that can be read; "
            "save it as UTF-8.",
            path=source.name,
        ) from None


def _restored(text: str) -> str:
    """What stood for another character is that character again; a broken byte is U+FFFD."""
    return _STOOD.sub(_original, text)


def _original(found: re.Match[str]) -> str:
    code = ord(found[0]) - _STANDS
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else chr(code)


def _is_broken(text: str) -> bool:
    return any(0xD800 <= ord(found[0]) - _STANDS <= 0xDFFF for found in _STOOD.finditer(text))
