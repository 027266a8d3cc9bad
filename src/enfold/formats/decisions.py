"""Decisions as text fit for version control, and as CSV.

One decision is one line, sorted by its names, so that a change of one is a change of one line::

    # enfold decisions
    apart "Ada Lee" from "Ada Li" by "ada" on 2026-11-30T18:00:00.000Z because "Two people."
    same "K8s" into "Kubernetes" by "ada" on 2026-11-30T18:01:00.000Z
    alias "kube" of "Kubernetes"
    called "CC" now "Claude Code"
    apart "Mercury" (type "planet") from "Mercury" (id "Q925")

Names and reasons are JSON strings. What follows the second name may be left out: who decided (a
person in quotes; ``by rule``, ``by model`` or ``by import`` else), when, why, and ``overruling``
where a person folded what was settled apart. A line that begins with ``#`` is a comment, and so is
what follows a ``#`` behind a decision.

The CSV holds the same in columns. A file with the marks of a merge that was not resolved is refused
whole: half of it would be somebody else's half. Among the files of a graph a decisions file is
refused too (``refuse``): it speaks of names, and an import would make entities of those it does not
know.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from enfold.errors import Invalid
from enfold.formats import csvrows
from enfold.formats.source import Source, decode
from enfold.formats.source import lines as lines_of
from enfold.model import DecidedBy, SetAside, Settled

TEXT: Final = "text"
CSV: Final = "csv"
LAYOUTS: Final = (TEXT, CSV)

WORDS: Final = {"same": "into", "apart": "from", "alias": "of", "called": "now"}
"""The kinds of line, each with the word between its two names."""

HEADER: Final = "# enfold decisions"

COLUMNS: Final = (
    "decision",
    "left",
    "left_type",
    "left_id",
    "right",
    "right_type",
    "right_id",
    "overrules",
    "decided_by",
    "who",
    "at",
    "why",
)

ROW_LINES: Final = 1_000
"""Most lines that one row of the CSV may run over."""

_STRING: Final = r'"(?:[^"\\\x00-\x1f]|\\.)*+"'
_START: Final = re.compile(rf"[ \t]*({'|'.join(WORDS)})[ \t]+(?={_STRING})")
_TOKEN: Final = re.compile(
    rf"[ \t]*+(?:({_STRING})|([a-z]++)|([0-9][0-9TZ:.+-]*+)|([(),])|(\#.*+)|(\S))"
)
_CONFLICT: Final = re.compile(rb"(?:<{7}|>{7}|\|{7})(?: |\r?\n|$)|={7}\r?\n?$")
_TIME: Final = re.compile(
    r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)?)?"
)
_ESCAPED: Final = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def recognises(head: bytes) -> bool:
    """Whether a text is a decisions file: what it holds first beside comments is a decision, or the
    header of the CSV."""
    text = head.decode("utf-8", "replace")
    for line in text.splitlines():
        if line.startswith(HEADER) or _is_header(line) or _START.match(line):
            return True
        if line.strip() and not line.lstrip().startswith("#") and not _marks(line.encode()):
            return False
    return False


def _is_header(line: str) -> bool:
    return line.strip().casefold().split(",")[:2] == list(COLUMNS[:2])


def _marks(line: bytes) -> bool:
    return _CONFLICT.match(line) is not None


def refuse(source: str) -> Invalid:
    """The error for a decisions file among files of a graph."""
    return Invalid(
        "decisions_file",
        f"{source} is a decisions file, not a graph; take it into one that knows its names: "
        "enfold decisions --import FILE.",
        path=source,
    )


# ---- reading ----


def settled(source: Source) -> Iterator[Settled | SetAside]:
    """The lines of a decisions file; what is none is set aside.

    Raises:
        Invalid: ``merge_conflict``, ``unrecognised_format``.
    """
    if not recognises(source.head):
        raise Invalid(
            "unrecognised_format",
            f"{source.name} is no decisions file: its lines begin with {', '.join(WORDS)}, or it "
            f"is a CSV with the columns {', '.join(COLUMNS[:2])} and so on.",
            path=source.name,
        )
    table: list[str] | None = None
    rows = _rows(source)
    for number, text in rows:
        if isinstance(text, SetAside):
            yield text
        elif not text.strip() or text.lstrip().startswith("#"):
            continue
        elif table is None and _is_header(text):
            table = [cell.strip().casefold() for cell in _cells(text)]
        elif table is not None:
            yield _of_row(source.name, number, table, rows.whole(text))
        else:
            yield _of_line(source.name, number, text.rstrip("\r\n"))


class _rows(Iterator[tuple[int, "str | SetAside"]]):  # noqa: N801
    """Lines with their numbers; a row of the CSV may ask for those it runs on over."""

    def __init__(self, source: Source) -> None:
        self._name, self._lines = source.name, lines_of(source)
        self._back: list[tuple[int, str | SetAside]] = []

    def __next__(self) -> tuple[int, str | SetAside]:
        if self._back:
            return self._back.pop(0)
        line = next(self._lines)
        if isinstance(line, SetAside):
            return line.line, line
        number, raw = line
        if _marks(raw):
            raise Invalid(
                "merge_conflict",
                f"{self._name} holds the marks of an unresolved merge (line {number}: "
                f"{raw.decode('utf-8', 'replace').strip()[:40]!r}); resolve it first. Nothing was "
                "changed.",
                path=self._name,
                line=number,
            )
        text, broken = decode(raw)
        if broken:
            return number, SetAside(self._name, number, broken, text.rstrip("\r\n"))
        return number, text

    def whole(self, text: str) -> str:
        """The row that begins in this line, up to where its quotes close; the line alone where
        they do not."""
        parts, taken = [text], list[tuple[int, str | SetAside]]()
        quotes = text.count('"')
        while quotes % 2 and len(parts) < ROW_LINES:
            more = next(self, None)
            if more is None:
                break
            taken.append(more)
            if isinstance(more[1], SetAside):
                break
            parts.append(more[1])
            quotes += more[1].count('"')
        if quotes % 2:
            self._back = [*taken, *self._back]
            return text
        return "".join(parts)


def _cells(text: str) -> list[str]:
    csvrows.widen()
    return next(csv.reader(io.StringIO(text, newline=""), strict=True), [])


def _of_row(name: str, number: int, table: list[str], text: str) -> Settled | SetAside:
    try:
        cells = _cells(text)
    except csv.Error as error:
        return SetAside(name, number, f"Not a row of the table: {error}.", text.rstrip("\r\n"))
    if len(cells) != len(table):
        why = f"The row has {len(cells)} cells; the header has {len(table)}."
        return SetAside(name, number, why, text.rstrip("\r\n"))
    said = {column: _unguarded(cell) for column, cell in zip(table, cells, strict=True)}
    given = {column: said.get(column) for column in COLUMNS}
    try:
        return _made(number, given)
    except ValueError as error:
        return SetAside(name, number, str(error), text.rstrip("\r\n"))


def _of_line(name: str, number: int, text: str) -> Settled | SetAside:
    try:
        return _made(number, _parsed(text))
    except ValueError as error:
        return SetAside(name, number, str(error), text)


def _made(number: int, said: dict[str, str | None]) -> Settled:
    """A line from its parts. Raises ``ValueError`` that says what is wrong with it."""
    kind = _known(said["decision"])
    left, right = said["left"], said["right"]
    if not left or not left.strip() or not right or not right.strip():
        raise ValueError("The decision lacks one of its two names.")
    try:
        decided_by = DecidedBy((said["decided_by"] or "human").strip().casefold())
    except ValueError:
        known = ", ".join(DecidedBy)
        raise ValueError(
            f"{said['decided_by']!r} can't decide; it is one of {known}, or a name in quotes."
        ) from None
    overrules = (said["overrules"] or "").strip().casefold()
    if overrules not in ("", "yes", "no"):
        raise ValueError("The column overrules says yes or nothing.")
    return Settled(
        line=number,
        kind=kind,
        left=left,
        right=right,
        left_type=said["left_type"],
        left_id=said["left_id"],
        right_type=said["right_type"],
        right_id=said["right_id"],
        overrules=overrules == "yes",
        decided_by=decided_by,
        who=said["who"],
        at=_moment(said["at"]),
        why=said["why"],
    )


def _known(word: str | None) -> str:
    """The kind of a decision. Raises ``ValueError``."""
    kind = (word or "").strip().casefold()
    if kind not in WORDS:
        known = ", ".join(WORDS)
        raise ValueError(f"The decision {word or ''!r} is not known; it is one of {known}.")
    return kind


def _moment(text: str | None) -> str | None:
    """A time as the graph writes it. Raises ``ValueError``."""
    if not text:
        return None
    try:
        if not _TIME.fullmatch(text):
            raise ValueError
        moment = datetime.fromisoformat(text)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no time; write it as 2026-11-30T18:00:00Z.") from None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


# ---- a line of the text ----


def _parsed(text: str) -> dict[str, str | None]:
    """The parts of a line. Raises ``ValueError``."""
    tokens = _Tokens(text)
    said: dict[str, str | None] = dict.fromkeys(COLUMNS)
    said["decision"] = kind = _known(tokens.word(f"one of {', '.join(WORDS)}"))
    _side(tokens, said, "left")
    tokens.the_word(WORDS[kind], kind)
    _side(tokens, said, "right")
    while (word := tokens.optional_word()) is not None:
        if word == "by":
            _decider(tokens, said)
        elif word == "on":
            said["at"] = tokens.time()
        elif word == "because":
            said["why"] = tokens.string("the reason")
        elif word == "overruling":
            said["overrules"] = "yes"
        else:
            raise ValueError(f"{word!r} is no part of a decision (by, on, because, overruling).")
    tokens.end()
    return said


def _side(tokens: _Tokens, said: dict[str, str | None], which: str) -> None:
    said[which] = tokens.string("a name")
    if not tokens.sign("("):
        return
    while True:
        word = tokens.word("type or id")
        if word not in ("type", "id"):
            raise ValueError(f"{word!r} tells no name from another; type or id does.")
        said[f"{which}_{word}"] = tokens.string(f"the {word}")
        if tokens.sign(")"):
            return
        if not tokens.sign(","):
            raise ValueError("A bracket is not closed.")


def _decider(tokens: _Tokens, said: dict[str, str | None]) -> None:
    said["decided_by"] = tokens.optional_word()
    name = tokens.optional_string()
    if said["decided_by"] is None and name is None:
        raise ValueError('by is followed by a name in quotes, or by "rule", "model" or "import".')
    said["who"] = name


class _Tokens:
    """The words, strings and signs of a line, one ahead."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._next = self._read()

    def _read(self) -> re.Match[str] | None:
        found = _TOKEN.match(self._text, self._at)
        if found is None or found.group(5):
            return None
        self._at = found.end()
        return found

    def _take(self, group: int) -> str | None:
        token = self._next
        if token is None or token.group(group) is None:
            return None
        self._next = self._read()
        return token.group(group)

    def _here(self) -> str:
        return "the line ends" if self._next is None else f"there is {self._next.group().strip()!r}"

    def string(self, what: str) -> str:
        found = self.optional_string()
        if found is None:
            raise ValueError(f"Where {what} in quotes should be, {self._here()}.")
        return found

    def optional_string(self) -> str | None:
        token = self._take(1)
        if token is None:
            return None
        try:
            text = json.loads(token)
        except ValueError:
            raise ValueError(f"{token} is no text in quotes as JSON writes it.") from None
        return str(text)

    def word(self, what: str) -> str:
        found = self._take(2)
        if found is None:
            raise ValueError(f"Where {what} should be, {self._here()}.")
        return found

    def optional_word(self) -> str | None:
        return self._take(2)

    def the_word(self, wanted: str, kind: str) -> None:
        if self._take(2) != wanted:
            raise ValueError(f"Between the two names of {kind} stands the word {wanted}.")

    def time(self) -> str:
        found = self._take(3)
        if found is None:
            raise ValueError(f"Where a time should be, {self._here()}.")
        return found

    def sign(self, wanted: str) -> bool:
        if self._next is None or self._next.group(4) != wanted:
            return False
        self._take(4)
        return True

    def end(self) -> None:
        if self._next is not None:
            raise ValueError(f"Behind the decision {self._here()}.")


# ---- writing ----


def written(records: Iterable[Settled], layout: str = TEXT) -> Iterator[str]:
    """A decisions file, line by line, in the order given.

    Raises:
        Invalid: ``unknown_layout``.
    """
    if layout not in LAYOUTS:
        known = " or ".join(LAYOUTS)
        raise Invalid("unknown_layout", f"Decisions are written as {known}, not as {layout!r}.")
    return _written(records, layout)


def _written(records: Iterable[Settled], layout: str) -> Iterator[str]:
    if layout == CSV:
        yield _row(COLUMNS)
        yield from map(row_of, records)
        return
    yield f"{HEADER}\n"
    yield from map(line_of, records)


def line_of(one: Settled) -> str:
    """A decision as a line of text."""
    parts = [
        one.kind,
        _named(one.left, one.left_type, one.left_id),
        WORDS[one.kind],
        _named(one.right, one.right_type, one.right_id),
    ]
    if one.overrules:
        parts.append("overruling")
    if one.decided_by is not DecidedBy.HUMAN:
        parts.append(f"by {one.decided_by}" + (f" {_quoted(one.who)}" if one.who else ""))
    elif one.who is not None:
        parts.append(f"by {_quoted(one.who)}")
    if one.at is not None:
        parts.append(f"on {one.at}")
    if one.why is not None:
        parts.append(f"because {_quoted(one.why)}")
    return " ".join(parts) + "\n"


def _named(name: str, kind: str | None, foreign_id: str | None) -> str:
    told = [
        f"{word} {_quoted(value)}"
        for word, value in (("type", kind), ("id", foreign_id))
        if value is not None
    ]
    return _quoted(name) + (f" ({', '.join(told)})" if told else "")


def _quoted(text: str) -> str:
    """A JSON string; what ends or reorders a line for some readers is an escape."""
    plain = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", plain)


def row_of(one: Settled) -> str:
    """A decision as a row of the CSV."""
    by_hand = one.decided_by is DecidedBy.HUMAN
    return _row(
        (
            one.kind,
            _guarded(one.left),
            _guarded(one.left_type),
            _guarded(one.left_id),
            _guarded(one.right),
            _guarded(one.right_type),
            _guarded(one.right_id),
            "yes" if one.overrules else "",
            "" if by_hand else str(one.decided_by),
            _guarded(one.who),
            one.at or "",
            _guarded(one.why),
        )
    )


def _row(cells: Iterable[str]) -> str:
    return csvrows.row(cells).removesuffix("\r\n") + "\n"


def _guarded(cell: str | None) -> str:
    """A cell that a spreadsheet takes as the text it is. An apostrophe in front, of which reading
    takes one off, also tells an empty text from none and keeps a comment sign from being one."""
    if cell is None:
        return ""
    if "\0" in cell:  # which would make the file a binary one
        return f"'{json.dumps(cell)}"
    return f"'{cell}" if not cell or cell[0] in "=+-@\t\r'#" else cell


def _unguarded(cell: str) -> str | None:
    if not cell:
        return None
    if cell.startswith("'\""):
        try:
            return str(json.loads(cell[1:]))
        except ValueError:
            return cell[1:]
    return cell[1:] if cell.startswith("'") else cell
