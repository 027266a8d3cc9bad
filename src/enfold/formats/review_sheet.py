"""Questions as a sheet: one row for each open pair, to be answered in any spreadsheet.

What a spreadsheet does to a sheet must not change an answer: rows come back in another order, with
more columns, with semicolons or tabs, in UTF-16, with numbers and dates where names were. So a row
is known by its ``id`` alone, which no spreadsheet takes for a number, a date or a formula. It holds
the two rows asked about and three short digests: of their spellings, which tells another graph, and
of each name shown, which tells a column that was sorted without the rest.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple
from unicodedata import normalize

from enfold.answers import Said, Sheet, Told, check_of
from enfold.cards import AnyCard, Card, Leaf, ListCard
from enfold.errors import Invalid
from enfold.formats import source

COLUMNS: Final = (
    "card",
    "left",
    "right",
    "answer",
    "keep",
    "rule",
    "score",
    "reason",
    "left_type",
    "left_mentions",
    "left_facts",
    "left_evidence",
    "right_type",
    "right_mentions",
    "right_facts",
    "right_evidence",
    "shared",
    "id",
)
"""The columns written; of these ``id`` and ``answer`` are needed, ``keep`` and the names used."""

SAME: Final = frozenset("same s yes y true 1 one =".split())
APART: Final = frozenset("apart a no n false 0 different two".split())

LONGEST_CELL: Final = 131_072
"""Characters; of more, a quote was opened and never closed."""

MOST_ROWS: Final = 1_048_576
"""Rows of the largest sheet that spreadsheets hold."""

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_UNSEEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")
_ID: Final = re.compile(
    r"pair:(\d{1,18}):(\d{1,18}):([0-9a-f]{6}):([0-9a-f]{6}):([0-9a-f]{6})", re.IGNORECASE
)


# ---- writing ------------------------------------------------------------------------------------


def write(cards: Iterable[AnyCard]) -> Iterator[str]:
    """The sheet, line by line: UTF-8 with its mark, which Excel needs, and commas."""
    yield "\ufeff" + _line(COLUMNS)
    for number, card in enumerate(cards, start=1):
        for star in card.lines if isinstance(card, ListCard) else (card,):
            for leaf in star.leaves:
                yield _line(_cells(number, star, leaf))


def _cells(number: int, card: Card, leaf: Leaf) -> list[str]:
    left, right = leaf.side, card.centre
    cells = {
        "card": number,
        "left": left.name,
        "right": right.name,
        "answer": "",
        "keep": "",
        "rule": leaf.rule,
        "score": f"{leaf.score:.2f}",
        "reason": leaf.reason,
        "left_type": left.type,
        "left_mentions": left.mentions,
        "left_facts": left.facts,
        "left_evidence": " | ".join(one.text for one in left.evidence),
        "right_type": right.type,
        "right_mentions": right.mentions,
        "right_facts": right.facts,
        "right_evidence": " | ".join(one.text for one in right.evidence),
        "shared": ", ".join(leaf.shared),
        "id": _id(leaf, left.name, right.name),
    }
    return [guarded("" if value is None else str(value)) for value in cells.values()]


def _id(leaf: Leaf, left: str, right: str) -> str:
    check = check_of(leaf.left_name, leaf.right_name)
    return f"pair:{leaf.left_id}:{leaf.right_id}:{check}:{_digest(left)}:{_digest(right)}"


def guarded(text: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe stands before what could be
    one. ``unguarded`` gives the text back."""
    words = " ".join(_UNSEEN.sub(" ", text).split())
    return f"'{words}" if words.lstrip("'").startswith(_FORMULA) else words


def unguarded(cell: str) -> str:
    """What was guarded; also where the spreadsheet ate the apostrophe."""
    words = " ".join(cell.split())
    guard = words.startswith("'") and words.lstrip("'").startswith(_FORMULA)
    return words[1:] if guard else words


def _digest(name: str) -> str:
    told = unguarded(guarded(name)).casefold()
    return blake2b(told.encode("utf-8", "replace"), digest_size=3).hexdigest()


def _line(cells: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()


# ---- reading ------------------------------------------------------------------------------------


class _Row(NamedTuple):
    """One answered row, by column."""

    line: int
    id: str
    answer: str
    keep: str
    left: str
    right: str


def read(path: str | os.PathLike[str]) -> Sheet:
    """Read the answers of a sheet.

    Raises:
        Invalid: ``not_questions``: it lacks the columns ``id`` and ``answer``, is no table or has
            too many rows; and what ``source.opened`` raises.
    """
    with source.opened(path) as opened:
        rows, unanswered, names = _rows(opened)
    told = [_read_row(row, names) for row in rows]
    return Sheet(
        tuple(one for one in told if isinstance(one, Said)),
        unanswered,
        tuple(one for one in told if isinstance(one, Told)),
    )


def _rows(opened: source.Source) -> tuple[list[_Row], int, set[str]]:
    """(the answered rows, how many are not, the digest of every name of the sheet)."""
    # No answer and no id has a letter that another encoding than UTF-8 could break.
    text = io.TextIOWrapper(opened.stream, "utf-8", errors="replace", newline="")
    delimiter, before = _delimiter(opened)
    for _ in range(before):
        text.readline()
    rows: list[_Row] = []
    unanswered, names = 0, set[str]()
    reader = csv.reader(text, delimiter=delimiter)
    try:
        columns = _columns(next(reader, []), opened.name)
        for cells in reader:
            if any(len(cell) > LONGEST_CELL for cell in cells):
                raise csv.Error(f"a cell has more than {LONGEST_CELL:,} characters")
            row = _row(reader.line_num + before, cells, columns)
            if (row.id.lower(), row.answer.lower()) == ("id", "answer"):
                continue  # where another sheet was put below this one
            if found := _ID.fullmatch(unguarded(row.id)):
                names.update((found[4].lower(), found[5].lower()))
            if row.answer:
                rows.append(row)
            elif row.id:
                unanswered += 1
            if len(rows) + unanswered > MOST_ROWS:
                raise Invalid(
                    "not_questions",
                    f"{opened.name} has more than {MOST_ROWS:,} rows; give the answers in parts.",
                )
    except csv.Error as error:
        raise Invalid(
            "not_questions",
            f"Line {reader.line_num + before} of {opened.name} is no row of a table: {error}.",
        ) from error
    return rows, unanswered, names


def _delimiter(opened: source.Source) -> tuple[str, int]:
    """(what parts the cells, how many lines stand before the header): Excel's ``sep=;`` may."""
    lines = opened.head.decode("utf-8", "replace").splitlines()
    before = 0
    while before < len(lines) and (
        not lines[before].strip(' ,;\t"') or lines[before].strip('" ').lower().startswith("sep=")
    ):
        before += 1
    header = lines[before] if before < len(lines) else ""
    return max(",;\t|", key=header.count), before


def _columns(header: Sequence[str], name: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for place, cell in enumerate(header):
        word = cell.strip().strip("\ufeff").lower()
        if word in ("id", "answer") and word in found:
            raise Invalid("not_questions", f"{name} has two columns “{word}”; delete one.")
        found.setdefault(word, place)
    missing = [f"“{word}”" for word in ("id", "answer") if word not in found]
    if missing:
        raise Invalid(
            "not_questions",
            f"{name} has no column {' and no column '.join(missing)}. Write the questions with "
            "enfold review --export, answer in that sheet and save it as CSV.",
        )
    return found


def _row(line: int, cells: Sequence[str], columns: dict[str, int]) -> _Row:
    def cell(name: str) -> str:
        place = columns.get(name, -1)
        return cells[place].strip() if 0 <= place < len(cells) else ""

    return _Row(line, *(cell(name) for name in ("id", "answer", "keep", "left", "right")))


def _read_row(row: _Row, names: set[str]) -> Said | Told:
    found = _ID.fullmatch(unguarded(row.id))
    if found is None:
        return _unread(row, f"There is no question of the id “{row.id[:60]}”.")
    left_id, right_id = int(found[1]), int(found[2])
    shown = (_digest(row.left), _digest(row.right))
    own = (found[4].lower(), found[5].lower())
    wrong = {digest for digest, its in zip(shown, own, strict=True) if digest != its}
    # A number or a date in a name's place is a spreadsheet's doing; another row's name is not.
    if wrong & names:
        return _unread(row, "Its names are those of another id: was a column sorted alone?")
    word = normalize("NFKC", unguarded(row.answer)).strip(" .!").lower()
    if word not in SAME | APART:
        return _unread(row, f"“{row.answer[:60]}” is no answer; write same or apart.")
    keep = _keep(row)
    if keep is None:
        why = f"“{row.keep[:60]}” is neither of the two names; write left or right."
        return _unread(row, why)
    kept = {"left": left_id, "right": right_id, "": None}[keep]
    return Said(row.line, left_id, right_id, word in SAME, kept, found[3].lower())


def _keep(row: _Row) -> str | None:
    """``left``, ``right`` or nothing; None where it can't be told."""
    said = unguarded(row.keep).casefold()
    left, right = unguarded(row.left).casefold(), unguarded(row.right).casefold()
    if said in ("", "left", "right"):
        return said
    if said in ("l", "r"):
        return {"l": "left", "r": "right"}[said]
    if left == right or said not in (left, right):
        return None
    return "left" if said == left else "right"


def _unread(row: _Row, why: str) -> Told:
    return Told(row.line, "unreadable", why)
