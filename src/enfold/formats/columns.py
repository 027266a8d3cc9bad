"""Attributes of records as the typed columns of a table that is written.

Which attributes become columns, and of what kind, is told from the records: a column has the kind
of the first value seen. What does not fit its column is not in it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

from enfold.formats.storable import is_storable

MOST: Final = 256
"""Columns a table gets of attributes; the other attributes have no column of their own."""

LONGEST: Final = 100
"""Characters of a name that becomes a column."""

INTEGER: Final = "integer"
NUMBER: Final = "number"
TRUTH: Final = "truth"
TEXT: Final = "text"
INTEGERS: Final = "integers"
NUMBERS: Final = "numbers"
TEXTS: Final = "texts"

VECTOR: Final = re.compile("embedding|vector", re.IGNORECASE)
"""What columns of vectors are called. Vectors are derived from the texts, and large."""

SHORTEST_VECTOR: Final = 17
"""Numbers in a list that is taken for a vector, where its column is called so."""

_BITS = 63


def is_vector(name: str, value: object) -> bool:
    """Whether a value is an embedding: many numbers, and called so."""
    return (
        isinstance(value, list)
        and len(value) >= SHORTEST_VECTOR
        and VECTOR.search(name) is not None
        and all(isinstance(part, (int, float)) for part in value)
    )


def kind_of(value: object) -> str | None:
    """The kind of column that holds the value; None where none does or several would."""
    if isinstance(value, bool):
        return TRUTH
    if isinstance(value, int):
        return INTEGER if -(1 << _BITS) <= value < 1 << _BITS else None
    if isinstance(value, float):
        return NUMBER if math.isfinite(value) else None
    if isinstance(value, str):
        return TEXT if is_storable(value) else None
    if isinstance(value, list) and value:
        kinds = {kind_of(part) for part in value}
        return (
            {TEXT: TEXTS, INTEGER: INTEGERS, NUMBER: NUMBERS}.get(kinds.pop() or "")
            if (len(kinds) == 1)
            else None
        )
    return None


class Columns:
    """The columns of one table: those that the format has, then those that the records bring.

    Args:
        fixed: {name: kind} of the format's own.
        taken: names that are no attribute's, compared without case.
    """

    def __init__(
        self,
        fixed: Mapping[str, str],
        taken: frozenset[str],
        allowed: re.Pattern[str] = re.compile(r".+", re.DOTALL),
    ) -> None:
        self.fixed, self.brought = dict(fixed), dict[str, str]()
        self._taken = taken | {name.casefold() for name in fixed}
        self._folded: set[str] = set()
        self._allowed = allowed

    def see(self, attributes: Mapping[str, Any]) -> None:
        """Make columns for what has none."""
        for name, value in attributes.items():
            if name in self.fixed or name in self.brought or len(self.brought) >= MOST:
                continue
            kind = kind_of(value)
            if kind and self._may_be(name):
                self.brought[name] = kind
                self._folded.add(name.casefold())

    def _may_be(self, name: str) -> bool:
        folded = name.casefold()
        return bool(
            0 < len(name) <= LONGEST
            and name == name.strip()
            and folded not in self._taken
            and folded not in self._folded
            and not folded.startswith("enfold_")
            and is_storable(name)
            and not VECTOR.search(name)
            and self._allowed.fullmatch(name)
        )

    def kinds(self) -> dict[str, str]:
        """{name: kind} of every column, in order."""
        return self.fixed | self.brought

    def cells(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """The values that fit their columns."""
        kinds = self.kinds()
        return {
            name: value
            for name, value in attributes.items()
            if name in kinds and _fits(value, kinds[name])
        }


def _fits(value: object, kind: str) -> bool:
    if value == [] and isinstance(value, list):
        return kind in (TEXTS, INTEGERS, NUMBERS)
    return kind_of(value) == kind
