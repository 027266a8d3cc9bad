"""What a full pass would do, told by the names it concerns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from enfold import lookalikes, resolve
from enfold.model import Imported, Proposal, Scan, Shown
from enfold.ports import Progress, Store, Tx


def preview(
    store: Store,
    found: resolve.Search,
    imported: Sequence[Imported],
    *,
    limit: int,
    progress: Progress,
) -> Scan:
    """What applying a search would fold and ask, and which look-alikes stay apart.

    Args:
        imported: what was read before, to be told with it.
        limit: how many of each to list.
    """
    report = resolve.dry_run(store, found, progress, ranked=limit)
    with store.read() as tx:
        apart = lookalikes.lookalikes(tx, found.context, limit=limit, progress=progress)
        return Scan(
            imported=tuple(imported),
            report=report,
            entities=tx.entities.count_live(),
            folds=shown(tx, report.folds[:limit]),
            questions=shown(tx, report.questions[:limit]),
            apart=shown(tx, apart.shown),
            apart_count=apart.count,
        )


def shown(tx: Tx, proposals: Iterable[Proposal]) -> tuple[Shown, ...]:
    """Proposals with the names and types of their rows."""
    chosen = list(proposals)
    rows = tx.entities.many([row for p in chosen for row in (p.left_id, p.right_id)])
    sides = ((p, rows[p.left_id], rows[p.right_id]) for p in chosen)
    return tuple(
        Shown(
            left=left.spelling,
            left_type=left.type,
            left_mentions=left.mentions,
            right=right.spelling,
            right_type=right.type,
            right_mentions=right.mentions,
            verdict=p.verdict,
            rule=p.rule,
            score=p.score,
            reason=p.reason,
        )
        for p, left, right in sides
    )
