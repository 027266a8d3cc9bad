"""Pairs that rules ask about, as columns: a common first name makes a million of them.

As objects they took 200 bytes and half a microsecond each at every step; as columns 25 bytes, and
the steps are array operations. NumPy is imported where it is used: a lookup does without.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from enfold.model import AskedPair

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[Any]


@dataclass
class Asked:
    """Pairs of rows with the rule that asks and its score.

    Attributes:
        rules: the rules met, which ``rule`` counts.
    """

    rules: list[str] = field(default_factory=list)
    left: array[int] = field(default_factory=lambda: array("q"))
    right: array[int] = field(default_factory=lambda: array("q"))
    rule: array[int] = field(default_factory=lambda: array("B"))
    score: array[float] = field(default_factory=lambda: array("d"))

    @classmethod
    def of(cls, pairs: Iterable[AskedPair]) -> Asked:
        asked = cls()
        for pair in pairs:
            asked.add(*pair)
        return asked

    def add(self, left: int, right: int, rule: str, score: float) -> None:
        self.left.append(left)
        self.right.append(right)
        self.rule.append(self._number(rule))
        self.score.append(score)

    def extend(self, more: Asked) -> None:
        """Add all of another."""
        numbers = bytes(map(self._number, more.rules))
        self.left.extend(more.left)
        self.right.extend(more.right)
        self.rule.frombytes(more.rule.tobytes().translate(numbers.ljust(256, b"\0")))
        self.score.extend(more.score)

    def plus(self, more: Iterable[AskedPair]) -> Asked:
        """These and more."""
        both = Asked()
        both.extend(self)
        both.extend(Asked.of(more))
        return both

    def _number(self, rule: str) -> int:
        if rule not in self.rules:
            self.rules.append(rule)
        return self.rules.index(rule)

    def renumber(self, ids: Ints) -> None:
        """Let places become the ids of rows."""
        import numpy as np

        self.left = array("q", ids[np.asarray(self.left)].astype(np.int64).tobytes())
        self.right = array("q", ids[np.asarray(self.right)].astype(np.int64).tobytes())

    def __len__(self) -> int:
        return len(self.left)

    def __iter__(self) -> Iterator[AskedPair]:
        rules = map(self.rules.__getitem__, self.rule)
        return zip(self.left, self.right, rules, self.score, strict=True)

    def columns(self) -> Columns:
        import numpy as np

        left, right = np.asarray(self.left), np.asarray(self.right)
        return Columns(
            np.minimum(left, right),
            np.maximum(left, right),
            np.asarray(self.rule),
            np.asarray(self.score),
            tuple(self.rules),
        )


@dataclass(frozen=True)
class Columns:
    """The same as arrays, the lower row left."""

    left: Ints
    right: Ints
    rule: Ints
    score: Ints
    rules: tuple[str, ...]

    def at(self, where: Ints) -> Columns:
        """Some of them, by place or by a mask."""
        return Columns(
            self.left[where], self.right[where], self.rule[where], self.score[where], self.rules
        )

    def without(self, rows: Iterable[int]) -> Columns:
        """Those that touch none of these rows."""
        import numpy as np

        gone = np.fromiter(rows, dtype=np.int64)
        if not gone.size:
            return self
        return self.at(~(np.isin(self.left, gone) | np.isin(self.right, gone)))

    def once(self) -> Columns:
        """Each pair once, in order of its rows, with the best score it has, of equal scores the
        first."""
        return self.at(_first_of_each(self.left, self.right, (-self.score,)))

    def between(
        self, root_of: Mapping[int, int], shut: Iterable[tuple[int, int]]
    ) -> tuple[Ints, Ints, Columns]:
        """(lower roots, higher roots, pairs): one pair of rows for each two entities that some lead
        to and that are not shut, in order of the roots; the best score, then the lowest rows.

        Args:
            root_of: the root of each row that is absorbed.
            shut: pairs of roots, the lower first.
        """
        import numpy as np

        low, high = _roots(self.left, root_of), _roots(self.right, root_of)
        low, high = np.minimum(low, high), np.maximum(low, high)
        open_ = low != high
        closed = np.array(list(shut), dtype=np.int64).reshape(-1, 2)
        if closed.size:
            some = np.flatnonzero(np.isin(low, closed[:, 0]) & np.isin(high, closed[:, 1]))
            known = set(map(tuple, closed.tolist()))
            roots = zip(low[some].tolist(), high[some].tolist(), strict=True)
            open_[some] &= np.fromiter((pair not in known for pair in roots), dtype=np.bool_)
        kept = np.flatnonzero(open_)
        ties = (-self.score[kept], self.left[kept], self.right[kept])
        kept = kept[_first_of_each(low[kept], high[kept], ties)]
        return low[kept], high[kept], self.at(kept)

    def rows(self) -> Iterator[AskedPair]:
        rules = map(self.rules.__getitem__, self.rule.tolist())
        return zip(self.left.tolist(), self.right.tolist(), rules, self.score.tolist(), strict=True)

    def __len__(self) -> int:
        return len(self.left)


def _first_of_each(low: Ints, high: Ints, ties: tuple[Ints, ...]) -> Ints:
    """Places of the first of each pair, in order; which is first is told by the ties, in turn, then
    by where it stands."""
    import numpy as np

    order: Ints = np.lexsort((*reversed(ties), high, low))
    low, high = low[order], high[order]
    if not order.size:
        return order
    fresh = np.concatenate(([True], (low[1:] != low[:-1]) | (high[1:] != high[:-1])))
    firsts: Ints = order[fresh]
    return firsts


def _roots(rows: Ints, root_of: Mapping[int, int]) -> Ints:
    import numpy as np

    absorbed = np.fromiter(root_of.keys(), dtype=np.int64)
    roots = np.fromiter(root_of.values(), dtype=np.int64)
    order = np.argsort(absorbed)
    absorbed, roots = absorbed[order], roots[order]
    if not absorbed.size:
        return rows
    at = np.minimum(np.searchsorted(absorbed, rows), absorbed.size - 1)
    found: Ints = np.where(absorbed[at] == rows, roots[at], rows)
    return found
