"""What a source says of the identity of two things: folds, and what it settles apart.

What is apart comes first, wherever it stands in the source: a fold by an import never goes against
a decision, and a source that says both is taken at its more careful word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from enfold import folds, stars
from enfold.intake.later import Later
from enfold.intake.rows import End, ends
from enfold.intake.run import BATCH, TAG, Run, as_text
from enfold.model import DecidedBy, IdentityRecord, Proposal, Verdict
from enfold.ports import Row

_Pair = tuple[IdentityRecord, Row, Row]


def take(run: Run, later: Later) -> None:
    """Settle apart what the source keeps apart, then fold what it says is one."""
    for same in (False, True):
        asked = (record for record in later.of(IdentityRecord) if record.same is same)
        while batch := list(islice(asked, BATCH)):
            found = _found(run, batch)
            _fold(run, found) if same else _keep_apart(run, found)


def _found(run: Run, batch: Sequence[IdentityRecord]) -> list[_Pair]:
    asked: list[tuple[IdentityRecord, End, End]] = []
    for record in batch:
        left, right = run.named(record, record.left), run.named(record, record.right)
        if left is not None and right is not None:
            asked.append((record, (left, record.left_id), (right, record.right_id)))
    rows = ends(run, [(record.line, end) for record, *both in asked for end in both], tag=TAG)
    found = []
    for (record, first, second), left_row, right_row in zip(
        asked, rows[::2], rows[1::2], strict=True
    ):
        if left_row is None or right_row is None:
            name = first[0] if left_row is None else second[0]
            why = f"{name.spelling!r} fits several entities here; nothing was settled."
            run.set_aside(record.line, why, as_text(record))
        else:
            found.append((record, left_row, right_row))
    return found


def _keep_apart(run: Run, found: Sequence[_Pair]) -> None:
    for record, left, right in found:
        if left.canonical_id == right.canonical_id:
            why = (
                f"{record.left!r} and {record.right!r} are one entity here, and {run.source} says "
                "that they are not; nothing was changed."
            )
            run.note(record.line, why)
            continue
        rows = run.tx.entities.many([left.id, right.id])
        if run.tx.decisions.of_rows(rows[left.id], rows[right.id]) is None:
            folds.settle_apart(
                run.tx,
                left.id,
                right.id,
                decided_by=DecidedBy.IMPORT,
                actor=None,
                why=record.why or f"{run.source} says that they are two.",
            )
            run.counts.apart += 1


def _fold(run: Run, found: Sequence[_Pair]) -> None:
    proposals = list(_proposals(run, found))
    records = {id(proposal): pair[0] for proposal, pair in zip(proposals, found, strict=True)}
    batch = folds.fold_batch(run.tx, proposals, decided_by=DecidedBy.IMPORT, run_id=run.run_id)
    run.counts.folds += len(batch.folds)
    for refused in batch.refused:
        if refused.code != "already_one":
            record = records[id(refused.proposal)]
            why = (
                f"{run.source} says that {record.left!r} and {record.right!r} are one; they are "
                f"not folded: {refused.reason}"
            )
            run.note(record.line, why)


def _proposals(run: Run, found: Sequence[_Pair]) -> Iterator[Proposal]:
    """Each pair with the one first that folds into the other, as the rules would have it."""
    ids = [row.id for _, *both in found for row in both]
    root_of = run.tx.entities.roots(ids)
    roots = run.tx.entities.many(sorted(set(root_of.values())))

    def order(row: Row) -> tuple[int, int, int, str, int]:
        root = roots[root_of[row.id]]
        return stars.canonical_order(root, root.name)

    for record, left, right in found:
        canonical, absorbed = sorted((left, right), key=order)
        why = record.why or f"{run.source} says that they are one."
        yield Proposal(absorbed.id, canonical.id, Verdict.FOLD, folds.IMPORTED, 1.0, why)
