"""Names that look alike and must stay apart: what vetoes keep from folding, for people to read."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from enfold import pairs, rules
from enfold.model import Context, Proposal, Verdict
from enfold.names import Name
from enfold.ports import Progress, Tx


@dataclass(frozen=True, slots=True)
class Lookalikes:
    """Names kept apart.

    Attributes:
        count: how many names stand beside a look-alike that a veto keeps them from.
        shown: the ones with the most mentions, each against the name it looks like.
    """

    count: int
    shown: tuple[Proposal, ...]


def lookalikes(tx: Tx, context: Context, *, limit: int, progress: Progress) -> Lookalikes:
    """Each name against the one it most looks like (the shortest of its kind), where a veto parts
    them. A family of many versions is told by its members, not by its pairs."""
    rows: dict[int, tuple[str, str | None]] = {}
    families: dict[str, list[int]] = defaultdict(list)
    for row_id, spelling, kind in tx.entities.spellings():
        rows[row_id] = (spelling, kind)
        for key in pairs.lookalike_keys(Name(spelling, kind)):
            families[key].append(row_id)
        if row_id % 10_000 == 0:
            progress("looking for look-alikes", row_id, 0)
    root_of = tx.entities.absorbed()
    found: dict[int, Proposal] = {}
    for family in families.values():
        if len(family) > 1:
            _part(family, rows, root_of, context, found)
    mentions = tx.entities.mention_counts([root_of.get(row, row) for row in found])
    ranked = sorted(
        found.values(), key=lambda p: (-mentions[root_of.get(p.left_id, p.left_id)], p.left_id)
    )
    return Lookalikes(len(ranked), tuple(ranked[:limit]))


def _part(
    family: list[int],
    rows: dict[int, tuple[str, str | None]],
    root_of: dict[int, int],
    context: Context,
    found: dict[int, Proposal],
) -> None:
    first, *others = sorted(family, key=lambda row: (len(rows[row][0]), row))
    head = Name(*rows[first])
    for row in others:
        if row in found or root_of.get(row, row) == root_of.get(first, first):
            continue
        ruling = rules.rule_on(Name(*rows[row]), head, context)
        if ruling.verdict is Verdict.APART and ruling.rule != "none":
            found[row] = Proposal(row, first, ruling.verdict, ruling.rule, 0.0, ruling.reason)
