"""Folds, decisions and names by hand."""

from __future__ import annotations

from enfold import conflicts as queue
from enfold import folds
from enfold.graph.base import Opened
from enfold.model import Decision, Entity, Merge, Reverted
from enfold.names import Name


class Folding(Opened):
    """Folds, decisions and names by hand."""

    def merges(
        self, *, reverted: bool = False, before: int | None = None, limit: int = 100
    ) -> list[Merge]:
        """The folds in force, newest first; with ``reverted`` also those taken back."""
        with self._store.read() as tx:
            return tx.merges.recent(live_only=not reverted, before=before, limit=limit)

    def receipt(self, merge_id: int) -> list[tuple[int, str]]:
        """(edge id, ``moved`` or ``silenced``) of every edge a fold concerned.

        Raises:
            NotFound: ``no_merge``.
        """
        with self._store.read() as tx:
            return folds.receipt(tx, merge_id)

    def merge(
        self,
        absorbed: str | int,
        canonical: str | int,
        *,
        overrule: bool = False,
        reason: str | None = None,
        actor: str | None = None,
    ) -> Merge:
        """Fold one entity into another, whatever the rules say.

        Raises:
            NotFound: ``unknown``.
            Conflict: ``ambiguous``.
            Refused: ``already_one``; ``settled_apart`` unless overruled.
        """
        with self._store.write() as tx:
            lesser, greater = self._follow(tx, absorbed), self._follow(tx, canonical)
            rows = tx.entities.many([lesser.row_id, greater.row_id])  # as asked, not as shown
            return folds.declare_same(
                tx,
                rows[lesser.row_id],
                rows[greater.row_id],
                reason=reason,
                actor=actor or self._actor,
                overrule=overrule,
            )

    def revert(self, merge_id: int, *, dry_run: bool = False, actor: str | None = None) -> Reverted:
        """Undo a fold as if it had never happened. Its two names are then settled apart, unless a
        question led to it: that goes back into the queue.

        Args:
            dry_run: only say what it would do.

        Raises:
            NotFound: ``no_merge``.
            Refused: ``already_reverted``.
        """
        if dry_run:
            with self._store.read() as tx:
                return folds.preview_revert(tx, merge_id)
        with self._store.write() as tx:
            return folds.revert(tx, merge_id, actor=actor or self._actor)

    def apart(self, *, limit: int = 1000) -> list[Decision]:
        """The names settled apart, newest first."""
        with self._store.read() as tx:
            return tx.decisions.recent(limit=limit)

    def keep_apart(
        self,
        left: str | int,
        right: str | int,
        *,
        reason: str | None = None,
        actor: str | None = None,
    ) -> Decision:
        """Settle that two entities are different things.

        Raises:
            Refused: ``already_one``.
        """
        with self._store.write() as tx:
            one, other = self._follow(tx, left), self._follow(tx, right)
            rows = tx.entities.many([one.row_id, other.row_id])  # as asked, not as shown
            return folds.keep_apart(
                tx,
                rows[one.row_id],
                rows[other.row_id],
                actor=actor or self._actor,
                reason=reason,
            )

    def undo_apart(self, decision_id: int, *, actor: str | None = None) -> Decision:
        """Two names are no longer settled apart; a question behind it is asked again.

        Raises:
            NotFound: ``no_decision``. Refused: ``already_undone``.
        """
        with self._store.write() as tx:
            return queue.undo_decision(tx, decision_id, actor=actor or self._actor)

    def rename(self, entity: str | int, spelling: str, *, actor: str | None = None) -> Entity:
        """Show an entity under another name; the old one stays as an alias.

        Raises:
            Refused: ``name_taken``.
        """
        name = Name.of(spelling)
        with self._store.write() as tx:
            found = self._follow(tx, entity)
            return folds.rename(tx, found.entity, name, actor=actor or self._actor)

    def alias(self, entity: str | int, spelling: str, *, actor: str | None = None) -> Merge:
        """Declare that a spelling leads to an entity.

        Raises:
            Refused: ``name_taken`` by another entity; ``already_one``; ``settled_apart``.
        """
        name = Name.of(spelling)
        with self._store.write() as tx:
            return folds.alias(
                tx, self._follow(tx, entity).entity, name, actor=actor or self._actor
            )

    def retype(self, entity: str | int, type: str | None) -> Entity:
        """Give an entity another type; the next pass looks at its name again."""
        kind = Name.of("x", type).type
        with self._store.write() as tx:
            return folds.retype(tx, self._follow(tx, entity).entity, kind)

    def delete(self, entity: str | int) -> folds.Deleted:
        """Delete an entity with its edges; memories stay.

        Raises:
            Refused: ``under_fold``, naming the folds to revert first.
        """
        with self._store.write() as tx:
            return folds.delete(tx, self._follow(tx, entity).entity)
