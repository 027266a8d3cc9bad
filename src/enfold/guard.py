"""The guard around whatever changes much at once: a verified backup, one transaction, a check
inside it, and a record of the run. Anything that goes wrong leaves the graph as it was. And the dry
run of what changes anything: that one transaction, taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, is_dataclass
from typing import Generic, TypeVar, cast

from enfold.check import check
from enfold.errors import Error, Refused
from enfold.model import CheckReport
from enfold.ports import Progress, Store, Tx

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Guarded(Generic[T]):
    """What a guarded action gave, the run that records it, and where the backup lies."""

    result: T
    run_id: int
    backup: str | None


def guarded(
    store: Store,
    kind: str,
    action: Callable[[Tx], T],
    *,
    backup: bool,
    progress: Progress | None = None,
    keep_backups: int | None = None,
    report: Callable[[T], Mapping[str, object]] | None = None,
) -> Guarded[T]:
    """Run an action in one write transaction, and commit it only if every invariant holds after.

    Args:
        kind: what the run is called.
        action: gets the transaction; ``tx.run_id`` is the run.
        backup: copy the graph first. A graph in memory has nothing to copy.
        keep_backups: how many of this graph's backups to keep; None or 0 keeps all.
        report: what to record of the result; by default its fields.

    Raises:
        Refused: ``check_failed``, with the violations; nothing was changed.
        Error: whatever the action, the backup or the store raises; nothing was changed.
    """
    with store.write() as tx:
        run_id = tx.runs.start(kind)
    copy = None
    try:
        if backup and store.backups is not None:
            copy = store.backup(run_id=run_id)
        with store.write() as tx:
            tx.run_id = run_id
            result = action(tx)
            _must_hold(check(tx, deep=False, progress=progress), kind, copy)
            tx.runs.finish(run_id, (report or _fields)(result), backup=copy)
    except BaseException as error:
        # The disk that failed the action may fail its record too; what failed first is raised.
        with suppress(Error), store.write() as tx:
            tx.runs.finish(run_id, {}, backup=copy, error=_said(error))
        raise
    if keep_backups:
        store.keep_backups(keep_backups)
    return Guarded(result, run_id, copy)


class _TakenBack(Exception):
    """Carries a result out of a transaction that is to be rolled back."""

    def __init__(self, result: object) -> None:
        super().__init__()
        self.result = result


def tried(store: Store, action: Callable[[Tx], T]) -> T:
    """What an action gives in a write transaction of which nothing is kept.

    Raises:
        Error: whatever the action or the store raises.
    """
    try:
        with store.write() as tx:
            raise _TakenBack(action(tx))
    except _TakenBack as done:
        return cast(T, done.result)


def _must_hold(found: CheckReport, kind: str, copy: str | None) -> None:
    if found.clean:
        return
    wrong = "; ".join(violation.message for violation in found.violations)
    kept = f" A backup was kept at {copy}." if copy else ""
    raise Refused(
        "check_failed",
        f"After the {kind} the graph would not hold together ({wrong}); nothing was changed.{kept} "
        "Run a check of the graph: it may have been damaged before.",
        violations=[asdict(violation) for violation in found.violations],
    )


def _fields(result: object) -> Mapping[str, object]:
    if is_dataclass(result) and not isinstance(result, type):
        return asdict(result)
    return {}


def _said(error: BaseException) -> str:
    code = error.code if isinstance(error, Error) else type(error).__name__
    return f"{code}: {error}"
