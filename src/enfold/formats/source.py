"""Bytes of a file as UTF-8 lines or text, in bounded memory, whatever its encoding.

Everything a reader of text has to survive is survived here once: byte order marks, UTF-16 and
UTF-32, lone carriage returns, lines without end, bytes that are no UTF-8, files that are no text.
"""

from __future__ import annotations

import codecs
import io
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from enfold.errors import Invalid
from enfold.model import SetAside

LINE_LIMIT: Final = 16 * 1024 * 1024
"""Longest line, value or row that is read, in bytes; what is longer is set aside unread."""

HEAD: Final = 64 * 1024
"""How much of a file is looked at to tell what it is."""

FILES: Final = 1_000
"""Files of a folder that are looked at to tell whether they are one graph."""

SHOWN: Final = 200
"""How many characters of a piece that is too long are kept."""

UNDERSTOOD: Final = (
    "enfold reads MCP memory JSON (lines of entities and relations, or one document with "
    '"entities" and "relations"), CSV or TSV tables of entities (a column name, title, entity or '
    "label) or of relations (source and target, from and to, or subject and object), GraphML, "
    "JSON-LD, GraphRAG's tables, Neo4j's tables and dumps, mem0's JSON and Obsidian vaults"
)

STDIN: Final = "/dev/stdin"

_MARKS: Final = (  # the longer mark first: UTF-32 begins like UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_MAGIC: Final = (
    (b"SQLite format 3\x00", "an SQLite database", "If it is a graph of enfold, give it as --db."),
    (b"PK\x03\x04", "a zip archive or a spreadsheet", "Unpack it, or save the sheet as CSV."),
    (b"\x1f\x8b", "compressed with gzip", "Decompress it first: gunzip -k FILE."),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "Decompress it first: unzstd FILE."),
    (b"BZh", "compressed with bzip2", "Decompress it first: bunzip2 -k FILE."),
    (b"\xfd7zXZ\x00", "compressed with xz", "Decompress it first: unxz -k FILE."),
    (b"PAR1", "a Parquet file of no kind that is read", "Write it as CSV, with pandas or duckdb."),
    (b"%PDF", "a PDF document", "Its names have to be extracted first."),
    (b"\x89PNG", "an image", "Its names have to be extracted first."),
)


@dataclass(frozen=True, slots=True)
class Source:
    """An opened file: what it is called, its first bytes and all of its bytes, as UTF-8.

    ``stream`` yields the whole file, the head included, without its byte order mark; ``again``
    says whether it can be opened once more, which a pipe can't. What is no ``text`` comes as it is.
    """

    name: str
    head: bytes
    stream: BinaryIO
    again: bool = True
    text: bool = True


Wanted = Callable[[bytes], bool]
"""Whether first bytes that are no text are those of a format that is read."""


@contextmanager
def opened(path: str | os.PathLike[str], binary: Wanted = lambda _: False) -> Iterator[Source]:
    """Open a file of text, or one whose first bytes ``binary`` wants.

    Raises:
        Invalid: ``no_such_file``, ``is_a_directory``, ``no_permission``, ``unreadable_file``,
            ``binary_file`` or ``empty_file``, with what to do about it.
    """
    where = Path(STDIN if os.fspath(path) == "-" else path)
    try:
        raw = where.open("rb", buffering=0)
    except OSError as error:
        raise _unopened(where, error) from error
    with raw:
        yield _decoded(where, raw, binary)


def paths_in(folder: Path) -> list[Path]:
    """What is in a folder, by name.

    Raises:
        Invalid: ``unreadable_file``.
    """
    try:
        return sorted(folder.iterdir(), key=lambda path: path.name)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise Invalid("unreadable_file", f"{folder} can't be read: {why}.") from error


def files_in(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """The first files of a folder by name, each with its first bytes; those that can't be read
    aside. Raises as ``paths_in``."""
    for path in paths_in(folder)[:FILES]:
        try:
            if path.is_file():
                with path.open("rb") as file:
                    yield path, file.read(HEAD)
        except OSError:
            continue


@contextmanager
def spooled(source: Source) -> Iterator[Path]:
    """A temporary file with all that a stream holds, for who must jump about in it."""
    with tempfile.TemporaryDirectory(prefix="enfold-") as folder:
        path = Path(folder) / source.name
        with path.open("xb") as file:
            shutil.copyfileobj(source.stream, file, HEAD * 4)
        yield path


def _decoded(where: Path, raw: io.FileIO, binary: Wanted) -> Source:
    try:
        start = _first_bytes(raw, HEAD)
    except OSError as error:
        raise _unopened(where, error) from error
    again = stat.S_ISREG(os.fstat(raw.fileno()).st_mode) and str(where) != STDIN
    try:
        refuse_binary(start, where.name)
    except Invalid:
        if not binary(start):
            raise
        stream = io.BufferedReader(_Chained(start, raw), HEAD * 4)
        return Source(where.name, start, stream, again, text=False)
    mark, encoding = _mark(start)
    whole: io.RawIOBase = _Chained(start[len(mark) :], raw)
    if encoding != "utf-8":
        whole = _Recoded(io.BufferedReader(whole), encoding)
    buffered = io.BufferedReader(whole, HEAD * 4)
    head = buffered.peek(HEAD)[:HEAD]
    if not head.strip(b" \t\r\n\0"):
        raise Invalid("empty_file", f"{where.name} is empty: there is nothing to read in it.")
    if b"\r" in head[:-1] and b"\n" not in head:
        buffered = io.BufferedReader(_Returns(buffered), HEAD * 4)
        head = head.replace(b"\r", b"\n")
    return Source(where.name, head, buffered, again)


def _first_bytes(raw: io.FileIO, size: int) -> bytes:
    parts, left = [], size
    while left and (part := raw.read(left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _unopened(where: Path, error: OSError) -> Invalid:
    if where.is_dir():
        return Invalid("is_a_directory", f"{where} is a directory; name a file.", path=str(where))
    if isinstance(error, FileNotFoundError):
        return Invalid(
            "no_such_file", f"There is no file {where}; check the path.", path=str(where)
        )
    if isinstance(error, PermissionError):
        return Invalid(
            "no_permission",
            f"{where} may not be read; give yourself read permission or copy the file.",
            path=str(where),
        )
    reason = error.strerror or type(error).__name__
    return Invalid("unreadable_file", f"{where} can't be read: {reason}.", path=str(where))


def refuse_binary(head: bytes, name: str) -> None:
    """Raises ``binary_file`` where these first bytes are no text in a known encoding."""
    for magic, what, advice in _MAGIC:
        if head.startswith(magic):
            raise Invalid("binary_file", f"{name} is {what}. {advice}", path=name)
    mark, _ = _mark(head)
    if not mark and b"\0" in head and head.lstrip()[:1] not in (b"{", b"["):
        raise Invalid(
            "binary_file",
            f"{name} is a binary file (it holds NUL bytes). A text in UTF-16 needs its byte order "
            f"mark, or save it as UTF-8; {UNDERSTOOD}.",
            path=name,
        )
    if not mark and len(head) > 3 and (head[1:2] == b"\0" or head[:1] == b"\0"):
        raise Invalid(
            "binary_file",
            f"{name} looks like UTF-16 without its byte order mark; save it as UTF-8.",
            path=name,
        )


def _mark(head: bytes) -> tuple[bytes, str]:
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return mark, encoding
    return b"", "utf-8"


class _Chained(io.RawIOBase):
    """Bytes that were read already, then the rest: pipes can't be rewound."""

    def __init__(self, start: bytes, rest: io.RawIOBase) -> None:
        self._start, self._rest = memoryview(start), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int | None:
        target = memoryview(buffer)  # type: ignore[arg-type]
        if self._start:
            size = min(len(target), len(self._start))
            target[:size] = self._start[:size]
            self._start = self._start[size:]
            return size
        return self._rest.readinto(target)


class _Piped(io.RawIOBase):
    """Bytes of another stream, changed block by block."""

    def __init__(self, inner: BinaryIO) -> None:
        self._inner, self._ready, self._ended = inner, memoryview(b""), False

    def readable(self) -> bool:
        return True

    def change(self, block: bytes, final: bool) -> bytes:
        raise NotImplementedError

    def readinto(self, buffer: object) -> int:
        target = memoryview(buffer)  # type: ignore[arg-type]
        while not self._ready and not self._ended:
            block = self._inner.read(HEAD)
            self._ended = not block
            self._ready = memoryview(self.change(block, self._ended))
        size = min(len(target), len(self._ready))
        target[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size


class _Recoded(_Piped):
    """Another encoding as UTF-8. A lone surrogate becomes bytes that are no UTF-8, so that its
    line is set aside as any other line with broken bytes."""

    def __init__(self, inner: BinaryIO, encoding: str) -> None:
        super().__init__(inner)
        self._decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")

    def change(self, block: bytes, final: bool) -> bytes:
        try:
            text = self._decoder.decode(block, final)
        except UnicodeDecodeError as error:
            text = error.object[: error.start].decode(error.encoding, "replace") + "\udcff"
            self._decoder.reset()
        return text.encode("utf-8", "surrogatepass")


class _Returns(_Piped):
    """Lines that end in a lone carriage return, with a newline instead."""

    def change(self, block: bytes, final: bool) -> bytes:
        return block.replace(b"\r", b"\n")


def lines(source: Source) -> Iterator[tuple[int, bytes] | SetAside]:
    """(number, bytes with their newline) of each line; a line above ``LINE_LIMIT`` is read through
    to its end and comes as a SetAside with its length."""
    number = 0
    while line := source.stream.readline(LINE_LIMIT + 1):
        number += 1
        if len(line) > LINE_LIMIT and not line.endswith(b"\n"):
            yield _too_long(source, number, line)
        else:
            yield number, line


def _too_long(source: Source, number: int, line: bytes) -> SetAside:
    start = line[: SHOWN * 4].decode("utf-8", "replace")[:SHOWN]
    length = len(line)
    while line and not line.endswith(b"\n"):
        line = source.stream.readline(HEAD)
        length += len(line.rstrip(b"\r\n"))
    reason = f"The line has {length:,} bytes; at most {LINE_LIMIT:,} are read."
    return SetAside(source.name, number, reason, start)


def decode(line: bytes) -> tuple[str, str]:
    """(text, "") of UTF-8; else (text with each broken byte as an escape, why)."""
    try:
        return line.decode(), ""
    except UnicodeDecodeError as error:
        why = f"Byte {error.start + 1} of the line is not UTF-8; no byte is guessed."
        return line.decode("utf-8", "backslashreplace"), why


def chunks(source: Source) -> Iterator[str]:
    """The text, block by block; a broken byte is the lone surrogate that stands for it."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    while block := source.stream.read(HEAD):
        yield decoder.decode(block)
    yield decoder.decode(b"", True)
