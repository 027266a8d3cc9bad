"""What people say of names: labelled pairs, and names with the thing that each is of."""

from __future__ import annotations

from dataclasses import dataclass

from enfold.model import Verdict
from enfold.names import Name


@dataclass(frozen=True, slots=True)
class Labelled:
    """A pair with what it should be: a verdict, or only whether it is one thing.

    Attributes:
        score: what another tool gave the pair, where the table has a column of that.
    """

    left: Name
    right: Name
    expected: Verdict | bool
    score: float | None = None

    @property
    def same(self) -> bool | None:
        """Whether the two are one thing; None where the label only says that it is to be asked."""
        if isinstance(self.expected, bool):
            return self.expected
        return None if self.expected is Verdict.ASK else self.expected is Verdict.FOLD


@dataclass(frozen=True, slots=True)
class Mention:
    """A name as it stands somewhere, and the thing it is of there."""

    spelling: str
    type: str | None
    thing: str


@dataclass(frozen=True, slots=True)
class Wrong:
    """A pair that the rules got wrong."""

    left: str
    right: str
    verdict: str
    expected: str
    rule: str
    reason: str
