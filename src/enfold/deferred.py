"""What waits for room in the queue: why it would be asked, and the queue filled up from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from enfold import conflicts, rules, stars
from enfold.model import Context, Entity, Proposal, Verdict
from enfold.names import Name
from enfold.ports import Tx


def reason(left: Entity, right: Entity, context: Context) -> str:
    """The sentence that says why two rows are asked about."""
    ruling = rules.rule_on(
        Name(left.spelling, left.type), Name(right.spelling, right.type), context
    )
    return ruling.reason + (stars.OFF if ruling.verdict is Verdict.FOLD else "")


def reasoned(tx: Tx, proposals: Sequence[Proposal], context: Context) -> list[Proposal]:
    """The proposals with their reasons."""
    rows = tx.entities.many([row for p in proposals for row in (p.left_id, p.right_id)])
    return [
        replace(p, reason=reason(rows[p.left_id], rows[p.right_id], context)) for p in proposals
    ]


def best(tx: Tx, limit: int, context: Context) -> list[Proposal]:
    """The open pairs that matter most, with their reasons."""
    return reasoned(tx, tx.suggestions.best_open(limit), context)


def refill(tx: Tx, context: Context) -> tuple[list[Proposal], list[int]]:
    """Fill the queue up to its cap with the open pairs that matter most; (those, their ids)."""
    room = conflicts.QUEUE_CAP - tx.conflicts.count_pending()
    chosen = best(tx, max(0, room), context)
    return chosen, list(conflicts.ask(tx, chosen, asked_by="rule").conflict_ids)
