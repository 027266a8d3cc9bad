"""Which edges stop counting when entities are joined, and at which step.

Pure. An edge counts if no edge of its memory with equal ends has a lower id, and it does not lead
from a thing to itself; joining entities makes ends equal, so it only ever silences edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

Join = Callable[[int, int], int | None]
"""The step at which two roots become one: 0 if they are one already, None if they never do."""


class Steps:
    """Folds in order, and when they make two roots one.

    The steps are a forest: an absorbed root points at its canonical, with the number of the step.
    A root takes no part after it was absorbed, so the numbers grow towards the top.
    """

    def __init__(self, folds: Iterable[tuple[int, int]]) -> None:
        self._up = {a: (c, step) for step, (a, c) in enumerate(folds, start=1)}
        self._final: dict[int, int] = {}
        for absorbed in reversed(self._up):
            canonical = self._up[absorbed][0]
            self._final[absorbed] = self._final.get(canonical, canonical)

    def final(self, root: int) -> int:
        """The root it has after the last step."""
        return self._final.get(root, root)

    def joined(self, left: int, right: int) -> int | None:
        """See ``Join``."""
        if self.final(left) != self.final(right):
            return None
        last = 0
        while left != right:
            # Whoever is absorbed first climbs: above it lie only later steps.
            left_up, right_up = self._up.get(left), self._up.get(right)
            if right_up is None or (left_up is not None and left_up[1] < right_up[1]):
                assert left_up is not None
                left, last = left_up
            else:
                right, last = right_up
        return last


class EdgeEnd(NamedTuple):
    """An edge with the roots it ends at before the steps; a mention has no second end."""

    id: int
    memory_id: int
    label: object
    first: int
    second: int | None


def silenced(edges: Iterable[EdgeEnd], steps: Steps) -> dict[int, int]:
    """Edge id → the step at which it stops counting, of those that counted before the first.

    Args:
        edges: every edge, counted or not, of the memories concerned, in any order.
    """
    groups: dict[tuple[object, ...], dict[tuple[int, int | None], EdgeEnd]] = {}
    for edge in edges:
        if edge.first == edge.second:
            continue
        second = None if edge.second is None else steps.final(edge.second)
        group = groups.setdefault((edge.memory_id, edge.label, steps.final(edge.first), second), {})
        ends = (edge.first, edge.second)
        if ends not in group or edge.id < group[ends].id:
            group[ends] = edge
    found: dict[int, int] = {}
    for key, group in groups.items():
        if len(group) > 1 or key[2] == key[3]:
            found.update(_silenced_in(sorted(group.values()), steps))
    return found


def _silenced_in(edges: list[EdgeEnd], steps: Steps) -> dict[int, int]:
    found = {}
    for at, edge in enumerate(edges):
        moments = [_equal_from(edge, lower, steps) for lower in edges[:at]]
        if edge.second is not None:
            moments.append(steps.joined(edge.first, edge.second))
        if reached := [moment for moment in moments if moment is not None]:
            found[edge.id] = min(reached)
    return found


def _equal_from(left: EdgeEnd, right: EdgeEnd, steps: Steps) -> int | None:
    first = steps.joined(left.first, right.first)
    if left.second is None or right.second is None:
        return first
    second = steps.joined(left.second, right.second)
    return None if first is None or second is None else max(first, second)
