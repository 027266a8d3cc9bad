"""How errors are said and which exit code they have: the one place that maps them."""

from __future__ import annotations

from typing import Final

from enfold.errors import Conflict, Error, Invalid, NotFound, Refused, Unavailable

DONE: Final = 0
NO: Final = 1
USAGE: Final = 2
FAULT: Final = 70
INTERRUPTED: Final = 130

CODES: Final[dict[type[Error], int]] = {
    NotFound: 3,
    Refused: 4,
    Invalid: 5,
    Conflict: 6,
    Unavailable: 7,
}

TABLE: Final = {
    DONE: "done",
    NO: "the answer is no (check, gate, evaluate --strict, decisions --import), or rows were not "
    "taken",
    USAGE: "the command line can't be read",
    CODES[NotFound]: "not found; of a name it means unknown, never absent",
    CODES[Refused]: "refused, or not confirmed; nothing was changed",
    CODES[Invalid]: "the input can't be read; nothing was changed",
    CODES[Conflict]: "ambiguous, or the graph changed meanwhile",
    CODES[Unavailable]: "the store is locked, read-only, full or out of reach",
    FAULT: "a fault in enfold",
    INTERRUPTED: "interrupted",
}

HINTS: Final = {
    "no_graph": "To make one: enfold remember TEXT, enfold import FILE. Another: --db PATH.",
    "not_a_database": "To look at a file of data: enfold scan FILE.",
    "ambiguous": "An id is given as id:12; enfold find NAME lists them.",
    "already_answered": "To take the answer back: enfold reopen ID.",
    "choose_candidate": "Name it: enfold decide ID keep_existing --candidate ENTITY.",
    "settled_apart": "To fold them all the same: --overrule. To list what is apart: enfold apart.",
    "under_fold": "To revert a fold: enfold revert ID.",
    "already_one": "To see the folds in force: enfold merges.",
    "no_merge": "To list the folds: enfold merges --reverted.",
    "no_conflict": "To list the questions: enfold conflicts, or with --decided.",
    "no_decision": "To list what is settled apart: enfold apart.",
    "check_failed": "To look at the graph: enfold check.",
    "corrupt": "Move the file aside, then: enfold restore BACKUP (see the folder PATH.backups).",
}
"""What a person can type next, by the code of the error."""


def code_of(error: Error) -> int:
    """The exit code of an error, by its class."""
    return next((code for kind, code in CODES.items() if isinstance(error, kind)), FAULT)
