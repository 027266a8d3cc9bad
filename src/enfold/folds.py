"""Fold, revert, rename, alias, and the refused delete.

Only roots fold: whatever row a fold is asked for through, both sides are followed first. A fold
moves one pointer and a revert clears it; nothing else is rewritten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from enfold.errors import NotFound, Refused
from enfold.model import DecidedBy, Decision, Entity, Merge, Proposal, Reverted
from enfold.ports import NewEntity, Tx

RENAMED: Final = "renamed"
DECLARED: Final = "declared"
DECLARED_SAME: Final = "declared-same"
IMPORTED: Final = "imported"
SPELLING_RULES: Final = frozenset({RENAMED, DECLARED, IMPORTED})
"""Rules of merges that only give an entity a spelling; they go when it is deleted."""

NO_REASON: Final = "A person said so."
"""The reason of a decision that was given none."""


@dataclass(frozen=True, slots=True)
class RefusedFold:
    """A step of a batch that was left out, and why."""

    proposal: Proposal
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Folds in order, each checked after those before it; plan and receipt alike.

    Attributes:
        folds: what is, or was, applied.
        refused: what was left out: one entity already, or settled apart.
    """

    folds: tuple[Merge, ...]
    refused: tuple[RefusedFold, ...]


@dataclass(frozen=True, slots=True)
class Deleted:
    """What went with an entity; the memories that mentioned it stay."""

    entity: Entity
    aliases: tuple[str, ...]
    mentions: int
    facts: int


# ---- fold ----


def fold(
    tx: Tx,
    absorbed: Entity,
    canonical: Entity,
    *,
    decided_by: DecidedBy,
    rule: str,
    score: float,
    reason: str,
    actor: str | None = None,
    model: str | None = None,
    conflict_id: int | None = None,
    run_id: int | None = None,
    overrule: bool = False,
    at: str | None = None,
) -> Merge:
    """Fold the entity that ``absorbed`` leads to into the one that ``canonical`` leads to.

    Args:
        overrule: let a person fold what is settled apart; the merge lists what it overruled.
        at: when it was decided, where that was before now.

    Raises:
        NotFound: ``no_entity``: a row is gone.
        Refused: ``already_one``; ``settled_apart`` with the decisions and the fold to revert.
    """
    lesser, greater = root_of(tx, absorbed.id), root_of(tx, canonical.id)
    if lesser.id == greater.id:
        raise Refused(
            "already_one",
            f"“{absorbed.spelling}” and “{canonical.spelling}” are one entity already: "
            f"“{greater.name}” ({greater.id}).",
            entity_id=greater.id,
        )
    apart = tx.decisions.between(lesser.id, greater.id)
    if apart and not (overrule and decided_by is DecidedBy.HUMAN):
        raise _settled_apart(tx, absorbed, canonical, apart)
    planned = _merge(
        lesser,
        greater,
        decided_by=decided_by,
        rule=rule,
        score=score,
        reason=reason,
        actor=actor,
        model=model,
        conflict_id=conflict_id,
        run_id=run_id,
        overruled=tuple(decision.id for decision in apart),
        asked=(absorbed.id, canonical.id),
        at=at,
    )
    return tx.merges.many(tx.merges.fold([planned]))[0]


def declare_same(
    tx: Tx,
    absorbed: Entity,
    canonical: Entity,
    *,
    reason: str | None = None,
    actor: str | None = None,
    overrule: bool = False,
) -> Merge:
    """A person folds one entity into another, whatever the rules say.

    Raises:
        NotFound, Refused: as ``fold``.
    """
    return fold(
        tx,
        absorbed,
        canonical,
        decided_by=DecidedBy.HUMAN,
        rule=DECLARED_SAME,
        score=1.0,
        reason=reason or said_same(absorbed.spelling, canonical.spelling),
        actor=actor,
        overrule=overrule,
    )


def said_same(absorbed: str, canonical: str) -> str:
    """The reason of a person's fold that was given none."""
    return f"“{absorbed}” and “{canonical}” were said to be one."


def declared(alias: str, name: str) -> str:
    """The reason of a person's alias that was given none."""
    return f"“{alias}” was declared another name of “{name}”."


def root_of(tx: Tx, entity_id: int) -> Entity:
    """The entity that a row leads to now.

    Raises:
        NotFound: ``no_entity``.
    """
    entity = tx.entities.get(entity_id)
    if entity is not None and not entity.live:
        entity = tx.entities.get(entity.canonical_id)
    if entity is None:
        raise NotFound("no_entity", f"There is no entity {entity_id}.", entity_id=entity_id)
    return entity


def _merge(
    absorbed: Entity,
    canonical: Entity,
    *,
    decided_by: DecidedBy,
    rule: str,
    score: float,
    reason: str,
    asked: tuple[int, int],
    actor: str | None = None,
    model: str | None = None,
    conflict_id: int | None = None,
    run_id: int | None = None,
    overruled: tuple[int, ...] = (),
    at: str | None = None,
) -> Merge:
    return Merge(
        id=0,
        canonical_id=canonical.id,
        canonical_name=canonical.name,
        absorbed_id=absorbed.id,
        absorbed_name=absorbed.name,
        absorbed_type=absorbed.type,
        decided_by=decided_by,
        rule=rule,
        score=score,
        reason=reason,
        actor=actor,
        model=model,
        conflict_id=conflict_id,
        run_id=run_id,
        overruled=overruled,
        edge_mark=0,
        moved=0,
        silenced=0,
        created_at=at or "",
        asked_absorbed_id=asked[0],
        asked_canonical_id=asked[1],
    )


def _settled_apart(tx: Tx, left: Entity, right: Entity, apart: Sequence[Decision]) -> Refused:
    named = "; ".join(f"decision {d.id} by {d.actor or d.decided_by}: {d.why}" for d in apart)
    in_the_way = _folds_in_the_way(tx, left, right, apart)
    reverts = "".join(
        f" Or revert merge {m.id}, which made “{m.absorbed_name}” one with “{m.canonical_name}”."
        for m in in_the_way
    )
    return Refused(
        "settled_apart",
        f"“{left.spelling}” and “{right.spelling}” are settled apart ({named}). "
        f"A person can fold them all the same by overruling.{reverts}",
        decision_ids=[d.id for d in apart],
        merge_ids=[m.id for m in in_the_way],
    )


def _folds_in_the_way(
    tx: Tx, left: Entity, right: Entity, apart: Sequence[Decision]
) -> list[Merge]:
    """The folds without which the decisions would not concern these two rows."""
    found: dict[int, Merge] = {}
    for decision in apart:
        for key, sense in (
            (decision.left_key, decision.left_sense),
            (decision.right_key, decision.right_sense),
        ):
            for row in tx.entities.by_key(key):
                if row.sense != sense:
                    continue
                for asked in (left, right):
                    merge = _parting(tx, asked.id, row.id)
                    if merge is not None:
                        found[merge.id] = merge
    return [found[merge_id] for merge_id in sorted(found)]


def _parting(tx: Tx, asked_id: int, side_id: int) -> Merge | None:
    """The fold that brought a row under one root with another; None where it is that row, or leads
    elsewhere."""
    asked, side = way_up(tx, asked_id), way_up(tx, side_id)
    if asked[-1] != side[-1]:
        return None
    meeting = next(row for row in asked if row in side)
    below = asked[: asked.index(meeting)] or side[: side.index(meeting)]
    return tx.merges.live_of(below[-1]) if below else None


def way_up(tx: Tx, entity_id: int) -> list[int]:
    """The row and those it was folded through, up to its root."""
    way = [entity_id]
    while (row := tx.entities.get(way[-1])) is not None and row.folded_into is not None:
        way.append(row.folded_into)
    return way


# ---- many folds ----


def plan_batch(
    tx: Tx,
    proposals: Sequence[Proposal],
    *,
    decided_by: DecidedBy,
    actor: str | None = None,
    model: str | None = None,
    run_id: int | None = None,
) -> Batch:
    """What folding each proposal's left side into its right, in order, would do.

    Each step sees those before it. Nothing in a batch can overrule: steps between entities that are
    one already, or settled apart, are left out and reported.

    Raises:
        NotFound: ``no_entity``.
    """
    asked = {row for p in proposals for row in (p.left_id, p.right_id)}
    root_of_row = tx.entities.roots(list(asked))
    if gone := asked - root_of_row.keys():
        raise NotFound("no_entity", f"There is no entity {min(gone)}.", entity_id=min(gone))
    roots = tx.entities.many(list(set(root_of_row.values())))
    clusters = _Clusters(tx.decisions.apart_roots())
    folds: list[Merge] = []
    refused: list[RefusedFold] = []
    for proposal in proposals:
        absorbed = roots[clusters.root(root_of_row[proposal.left_id])]
        canonical = roots[clusters.root(root_of_row[proposal.right_id])]
        if absorbed.id == canonical.id:
            why = f"“{absorbed.name}” is one entity already."
            refused.append(RefusedFold(proposal, "already_one", why))
        elif clusters.apart(absorbed.id, canonical.id):
            why = f"“{absorbed.name}” and “{canonical.name}” are settled apart."
            refused.append(RefusedFold(proposal, "settled_apart", why))
        else:
            clusters.join(absorbed.id, canonical.id)
            folds.append(
                _merge(
                    absorbed,
                    canonical,
                    decided_by=decided_by,
                    rule=proposal.rule,
                    score=proposal.score,
                    reason=proposal.reason,
                    actor=actor,
                    model=model,
                    run_id=run_id,
                    asked=(proposal.left_id, proposal.right_id),
                )
            )
    return Batch(tuple(folds), tuple(refused))


def fold_batch(
    tx: Tx,
    proposals: Sequence[Proposal],
    *,
    decided_by: DecidedBy,
    actor: str | None = None,
    model: str | None = None,
    run_id: int | None = None,
) -> Batch:
    """Apply what ``plan_batch`` plans; the same rows as folding one by one."""
    plan = plan_batch(tx, proposals, decided_by=decided_by, actor=actor, model=model, run_id=run_id)
    return replace(plan, folds=tuple(tx.merges.many(tx.merges.fold(plan.folds))))


class _Clusters:
    """Roots as they are joined step by step, and which stay apart: what two clusters were kept
    from, their union is kept from."""

    def __init__(self, apart: Iterable[tuple[int, int]]) -> None:
        self._up: dict[int, int] = {}
        self._apart: dict[int, set[int]] = {}
        for left, right in apart:
            self._apart.setdefault(left, set()).add(right)
            self._apart.setdefault(right, set()).add(left)

    def root(self, row: int) -> int:
        while row in self._up:
            self._up[row] = row = self._up.get(self._up[row], self._up[row])
        return row

    def apart(self, left: int, right: int) -> bool:
        return right in self._apart.get(left, ())

    def join(self, absorbed: int, canonical: int) -> None:
        self._up[absorbed] = canonical
        for other in self._apart.pop(absorbed, ()):
            self._apart[other].discard(absorbed)
            self._apart[other].add(canonical)
            self._apart.setdefault(canonical, set()).add(other)


def receipt(tx: Tx, merge_id: int) -> list[tuple[int, str]]:
    """(edge id, ``moved`` or ``silenced``) of every edge a fold concerned.

    Raises:
        NotFound: ``no_merge``.
    """
    return tx.merges.edges(_merge_of(tx, merge_id).id)


def _merge_of(tx: Tx, merge_id: int) -> Merge:
    merge = tx.merges.get(merge_id)
    if merge is None:
        raise NotFound("no_merge", f"There is no merge {merge_id}.", merge_id=merge_id)
    return merge


# ---- revert ----


def preview_revert(tx: Tx, merge_id: int) -> Reverted:
    """What a revert of the merge would do.

    Raises:
        NotFound: ``no_merge``.
        Refused: ``already_reverted``; ``same_name``: the fold only gave a spelling of another case.
    """
    merge = _merge_of(tx, merge_id)
    if merge.reverted_at is not None:
        raise Refused(
            "already_reverted",
            f"Merge {merge_id} was reverted at {merge.reverted_at}. "
            f"To fold “{merge.absorbed_name}” into “{merge.canonical_name}” again, fold them by "
            "hand and overrule.",
            merge_id=merge_id,
        )
    _must_be_another_name(tx, merge)
    moved_back, arrived_since = tx.merges.left_by_revert(merge_id)
    subtree = tx.merges.subtree(merge.absorbed_id)
    return Reverted(
        merge=merge,
        moved_back=moved_back,
        reactivated=len(tx.merges.woken_by_revert(merge_id)),
        arrived_since=arrived_since,
        later=tuple(tx.merges.asked_through(subtree, after=merge_id)),
        decision_id=None,
        conflict_id=merge.conflict_id,
    )


def _must_be_another_name(tx: Tx, merge: Merge) -> None:
    """Two rows of one name in two entities would make every use of it ambiguous: a spelling that
    only changed case is not parted but renamed back. Two that were entities of their own are."""
    rows = tx.entities.many([merge.absorbed_id, merge.canonical_id])
    absorbed, canonical = rows[merge.absorbed_id], rows[merge.canonical_id]
    spelling = merge.rule in SPELLING_RULES and absorbed.alias_only
    if spelling and absorbed.key == canonical.key:
        raise Refused(
            "same_name",
            f"“{absorbed.spelling}” and “{canonical.spelling}” are one name but for case and "
            f"blanks; rename the entity back to “{canonical.spelling}” instead.",
            merge_id=merge.id,
        )


def revert(
    tx: Tx,
    merge_id: int,
    *,
    actor: str | None = None,
    decided_by: DecidedBy = DecidedBy.HUMAN,
) -> Reverted:
    """Undo a fold as if it had never happened, in any order.

    The two rows are settled apart, so that no later pass folds them again; where the fold was the
    answer to a question, the question goes back into the queue instead.

    Raises:
        NotFound: ``no_merge``.
        Refused: ``already_reverted``; ``same_name``: the fold only gave a spelling of another case.
    """
    reverted = preview_revert(tx, merge_id)
    merge = reverted.merge
    touched = [*tx.merges.subtree(merge.absorbed_id), merge.canonical_id]
    tx.merges.unfold(merge_id)
    decision_id = None
    if merge.conflict_id is not None and tx.conflicts.get(merge.conflict_id) is not None:
        tx.conflicts.reopen(merge.conflict_id)
    else:
        why = f"The fold of “{merge.absorbed_name}” into “{merge.canonical_name}” was reverted."
        decision_id = settle_apart(
            tx, merge.absorbed_id, merge.canonical_id, decided_by=decided_by, actor=actor, why=why
        )
    tx.entities.forget_examined(touched)
    done = replace(merge, reverted_at=tx.now)
    return replace(reverted, merge=done, decision_id=decision_id)


def settle_apart(
    tx: Tx,
    left_id: int,
    right_id: int,
    *,
    decided_by: DecidedBy,
    actor: str | None,
    why: str,
    at: str | None = None,
) -> int:
    """Decide that two rows are apart; the decision, or the one in force that says so already.

    Args:
        at: when it was decided, where that was before now.

    Raises:
        NotFound: ``no_entity``.
    """
    rows = tx.entities.many([left_id, right_id])
    for entity_id in (left_id, right_id):
        if entity_id not in rows:
            raise NotFound("no_entity", f"There is no entity {entity_id}.", entity_id=entity_id)
    left, right = rows[left_id], rows[right_id]
    standing = tx.decisions.of_rows(left, right)
    if standing is not None:
        return standing.id
    tx.entities.forget_examined([left_id, right_id])
    return tx.decisions.add(left, right, decided_by=decided_by, actor=actor, why=why, at=at)


def keep_apart(
    tx: Tx, left: Entity, right: Entity, *, actor: str | None = None, reason: str | None = None
) -> Decision:
    """A person settles that two rows are different things.

    Raises:
        Refused: ``already_one``: they are one entity now.
    """
    if left.canonical_id == right.canonical_id:
        one = root_of(tx, left.id)
        raise Refused(
            "already_one",
            f"Both names lead to “{one.name}” (id:{one.id}); revert the fold between them first: "
            "that settles them apart.",
            entity_id=one.id,
        )
    decision_id = settle_apart(
        tx,
        left.id,
        right.id,
        decided_by=DecidedBy.HUMAN,
        actor=actor,
        why=reason or NO_REASON,
    )
    decision = tx.decisions.get(decision_id)
    assert decision is not None
    return decision


# ---- names ----


def retype(tx: Tx, entity: Entity, type: str | None) -> Entity:
    """Give an entity another type; the next pass looks at its name again."""
    tx.entities.set_type(entity.id, type)
    tx.entities.forget_examined([entity.id])
    return tx.entities.many([entity.id])[entity.id]


def rename(tx: Tx, entity: Entity, name: NewEntity, *, actor: str | None = None) -> Entity:
    """Call the entity that a row leads to by another name; the old one stays as an alias.

    Raises:
        NotFound: ``no_entity``.
        Refused: ``name_taken``: another entity has that name.
    """
    root = root_of(tx, entity.id)
    if name.spelling == root.name:
        return root
    row_id = _spelling_of(tx, root, name)
    if row_id is None:
        row_id = _add_spelling(tx, root, name, source_tag=None)
        row = root_of(tx, row_id)
        fold(
            tx,
            row,
            root,
            decided_by=DecidedBy.HUMAN,
            rule=RENAMED,
            score=1.0,
            reason=f"“{root.name}” was renamed “{name.spelling}”.",
            actor=actor,
            overrule=True,
        )
    tx.entities.show(root.id, row_id, actor=actor)
    return root_of(tx, root.id)


def alias(
    tx: Tx,
    entity: Entity,
    name: NewEntity,
    *,
    decided_by: DecidedBy = DecidedBy.HUMAN,
    rule: str = DECLARED,
    reason: str | None = None,
    actor: str | None = None,
    source_tag: str | None = None,
    run_id: int | None = None,
    overrule: bool = False,
    at: str | None = None,
) -> Merge:
    """Let another spelling lead to the entity.

    Raises:
        NotFound: ``no_entity``.
        Refused: ``already_one``: the name leads there; ``name_taken``: another entity has it;
            ``settled_apart``: it was an alias once and that was reverted.
    """
    root = root_of(tx, entity.id)
    if _own_rows(tx, root, name):
        raise Refused(
            "already_one",
            f"“{name.spelling}” leads to “{root.name}” ({root.id}) already.",
            entity_id=root.id,
        )
    row_id = _add_spelling(tx, root, name, source_tag=source_tag)
    return fold(
        tx,
        root_of(tx, row_id),
        root,
        decided_by=decided_by,
        rule=rule,
        score=1.0,
        reason=reason or declared(name.spelling, root.name),
        actor=actor,
        run_id=run_id,
        overrule=overrule,
        at=at,
    )


def _own_rows(tx: Tx, root: Entity, name: NewEntity) -> list[Entity]:
    """The entity's rows of the name's key.

    Raises:
        Refused: ``name_taken``: only other entities have such rows.
    """
    rows = tx.entities.by_key(name.key)
    own = [row for row in rows if row.canonical_id == root.id]
    if rows and not own:
        owner = rows[0]
        raise Refused(
            "name_taken",
            f"“{name.spelling}” is a name of “{owner.name}” ({owner.canonical_id}) already. "
            "If the two are one, fold them instead.",
            entity_id=owner.canonical_id,
        )
    return own


def _spelling_of(tx: Tx, root: Entity, name: NewEntity) -> int | None:
    """The entity's row of just that spelling, if it has one."""
    own = _own_rows(tx, root, name)
    return next((row.id for row in own if row.spelling == name.spelling), None)


def _add_spelling(tx: Tx, root: Entity, name: NewEntity, *, source_tag: str | None) -> int:
    # A spelling that differs from a known one in case alone has that one's key: it is a further
    # sense of it, in the same cluster.
    taken = [row.sense for row in tx.entities.by_key(name.key)]
    row_id = tx.entities.add(
        name,
        type=root.type,
        sense=max(taken, default=-1) + 1,
        alias_only=True,
        source_tag=source_tag,
    )
    assert row_id is not None, "a free sense was taken under the lock"
    return row_id


# ---- delete ----


def delete(tx: Tx, entity: Entity) -> Deleted:
    """Delete an entity with its spellings and edges; its memories stay.

    Raises:
        NotFound: ``no_entity``.
        Refused: ``under_fold``: it is a side of folds that are in force, which are named. Those
            that only gave it a spelling do not count.
    """
    row = tx.entities.get(entity.id)
    if row is None:
        raise NotFound("no_entity", f"There is no entity {entity.id}.", entity_id=entity.id)
    cluster = tx.entities.cluster(row.canonical_id) if row.live else [row]
    spellings = {r.id for r in cluster if r.alias_only}
    holding = [
        merge
        for merge in tx.merges.under([r.id for r in cluster])
        if not (row.live and merge.rule in SPELLING_RULES and merge.absorbed_id in spellings)
    ]
    if holding:
        raise _under_fold(row, holding)
    ids = [r.id for r in cluster]
    mentions, facts = tx.edges.asserted_to(ids)
    tx.entities.forget_examined(ids)
    tx.entities.delete(ids)
    aliases = tuple(r.spelling for r in cluster if r.id != row.id)
    return Deleted(row, aliases, len(mentions), len(facts))


def _under_fold(row: Entity, holding: Sequence[Merge]) -> Refused:
    shown = ", ".join(
        f"merge {m.id} (“{m.absorbed_name}” into “{m.canonical_name}”)" for m in holding[:5]
    )
    more = f" and {len(holding) - 5:,} more" if len(holding) > 5 else ""
    return Refused(
        "under_fold",
        f"“{row.spelling}” is part of folds that are in force: {shown}{more}. "
        "Revert them first, then delete.",
        merge_ids=[m.id for m in holding],
    )
