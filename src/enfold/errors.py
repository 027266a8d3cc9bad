"""Errors that a caller can act on.

Every error carries a stable ``code`` for programs and a sentence for people that says what to do.
Each surface (command line, HTTP, MCP) maps the classes below once; nothing else escapes a verb.
"""

from __future__ import annotations


class Error(Exception):
    """Base of everything enfold raises on purpose.

    Attributes:
        code: stable, lower-case identifier of the situation; never reworded.
        details: facts a program may want (ids, names, limits), JSON-serializable.
    """

    def __init__(self, code: str, message: str, **details: object) -> None:
        super().__init__(message)
        self.code = code
        self.details = details

    def __reduce__(self) -> tuple[object, ...]:
        """Errors travel from the processes that work to the one that asked."""
        return _again, (type(self), self.code, str(self), self.details)


class NotFound(Error):
    """No such row, or no entity known by that name; a miss means unknown, never absent."""


class Refused(Error):
    """The request is understood and would break a promise enfold makes; nothing was changed."""


class Invalid(Error):
    """The input can't be read as what it should be; nothing was changed."""


class Conflict(Error):
    """The graph changed meanwhile, or the name fits several entities; look again and repeat."""


class Unavailable(Error):
    """The store can't serve the call now (locked, read-only, full, not reachable)."""


def _again(kind: type[Error], code: str, message: str, details: dict[str, object]) -> Error:
    return kind(code, message, **details)
