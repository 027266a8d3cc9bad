"""Pairs found by the workers of a Dask cluster, which run the same tasks as a pool of processes.

The scheduler hands a task to another worker where one is lost. Workers must have this enfold; what
rules of a person's own they need is handed to each, the later ones too.
"""

from __future__ import annotations

import pickle
import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from typing import Any, Final

from enfold import pairs, rules
from enfold.engines.chosen import lost
from enfold.engines.local import Survey
from enfold.errors import Error, Refused, Unavailable
from enfold.ports import Progress, Spelled

CONNECT: Final = 10.0
"""Seconds that a scheduler is waited for, and then its first worker."""

PATIENCE: Final = 60.0
"""Seconds without any worker after which what waits is given up."""

EVERY: Final = 5.0
RETRIES: Final = 3
"""How often a task is tried again whose worker failed it by no fault of its own."""


class DaskEngine:
    """Finds pairs on the workers of a scheduler.

    Args:
        address: ``HOST:PORT`` of the scheduler.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._client: Any = None
        self._executor: _Watched | None = None

    def survey(
        self, ids: Sequence[int], rows: Sequence[Spelled], rule_set: str, progress: Progress
    ) -> Survey:
        executor = self.start(rule_set)
        return Survey(rows, rule_set, executor, progress, ids, ahead=2 * self._lanes() + 2)

    def start(self, rule_set: str, place: str | None = None) -> Executor:
        """What runs tasks on the workers (see ``chosen.Running``)."""
        if self._executor is None:
            self._client = _connected(self._address)
            try:
                self._prepare(rule_set, place)
            except BaseException:
                self.close()
                raise
            self._executor = _Watched(self._client, self._address)
        return self._executor

    def close(self) -> None:
        """Drop what waits, and leave the cluster."""
        if self._executor is not None:
            self._executor.shutdown(wait=False)
            self._executor = None
        if self._client is not None:
            self._client.close(timeout=CONNECT)
            self._client = None

    def _lanes(self) -> int:
        return sum(self._client.nthreads().values())

    def _prepare(self, rule_set: str, place: str | None) -> None:
        """See that every worker can do the tasks, and tell it the rules.

        Raises:
            Refused: ``other_version``, ``not_shared``, ``rules_not_there``.
        """
        from enfold.engines.steps import version

        token = ""
        if place is not None:
            token = "seen"
            _place(place).save("seen.json", token)
        told = self._client.run(_look, version(), place, token, on_error="return")
        for worker, said in sorted(told.items()):
            if isinstance(said, Exception):
                raise Refused(
                    "other_version",
                    f"The worker {worker} can't run enfold ({type(said).__name__}: {said}); "
                    "install enfold of this version there.",
                )
            if said:
                kind, code, why = said
                raise kind(code, f"The worker {worker} {why}")
        if rule_set in pairs.REGISTERED:
            self._tell_rules(rule_set)

    def _tell_rules(self, rule_set: str) -> None:
        packed = _packed(rule_set)
        told = self._client.run(know, packed, on_error="return")
        for worker, said in sorted(told.items()):
            if isinstance(said, Exception):
                raise Refused(
                    "rules_not_there",
                    f"The worker {worker} can't import the rules {rule_set!r} ({said}); install "
                    "their module there, or put it on its PYTHONPATH.",
                )
        self._client.register_plugin(_plugin(packed), name=f"enfold-rules-{rule_set}")


def _place(url: str) -> Any:
    from enfold.engines.places import Place

    return Place(url)


def _connected(address: str) -> Any:
    try:
        import dask
        from distributed import Client
    except ImportError as error:
        raise Unavailable(
            "needs_extra",
            "A Dask cluster needs a library that is not installed: pip install 'enfold[dask]'.",
        ) from error
    # Some names at a time go with their task, so that they are there when it is done again.
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})
    try:
        client: Any = _client(Client, f"tcp://{address}")
    except (OSError, ValueError) as error:
        raise Unavailable(
            "no_scheduler",
            f"No Dask scheduler answers at {address} ({_why(error)}). Start one there (dask "
            "scheduler), or say where it is: --engine dask://HOST:PORT.",
        ) from error
    try:
        client.wait_for_workers(1, timeout=CONNECT)
    except TimeoutError as error:
        client.close(timeout=CONNECT)
        raise Unavailable("no_workers", _no_workers(address)) from error
    return client


def _client(kind: Any, address: str) -> Any:
    return kind(address, timeout=CONNECT, set_as_default=False)


def _no_workers(address: str) -> str:
    return (
        f"The scheduler at {address} has no worker. Start some: dask worker {address} --nthreads 1"
    )


def _why(error: Exception) -> str:
    return " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__


# ---- on the workers ----


def _look(version: str, place: str | None, token: str) -> tuple[type[Error], str, str] | None:
    """What is wrong with a worker, or None."""
    from enfold.engines import steps

    if (here := steps.version()) != version:
        why = f"has enfold {here}, where this is {version}; install the same version everywhere."
        return Refused, "other_version", why
    if place is None:
        return None
    try:
        seen = _place(place).load("seen.json") == token
    except (OSError, ValueError, Error):
        seen = False
    if seen:
        return None
    why = f"does not see {place}; write to a folder that all workers share, or a URL."
    return Refused, "not_shared", why


def _packed(rule_set: str) -> bytes:
    try:
        return pickle.dumps((rule_set, pairs.REGISTERED[rule_set]))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise Refused(
            "rules_not_there",
            f"The rules {rule_set!r} can't be handed to other processes ({error}); their functions "
            "must stand at the top of a module.",
        ) from error


def know(packed: bytes) -> None:
    """Register rules of a person's own in a worker."""
    name, (rule_set, keys) = pickle.loads(packed)
    if name not in rules.RULE_SETS:
        pairs.register(name, rule_set, keys)


def _plugin(packed: bytes) -> Any:
    """Tells the rules to workers that come later."""
    from distributed import WorkerPlugin

    class Rules(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            know(packed)

    return Rules()


# ---- what waits ----


class _Watched(Executor):
    """A client's executor whose tasks are given up once no worker is left for long."""

    def __init__(self, client: Any, address: str) -> None:
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        self._killed = (KilledWorker, FutureCancelledError)
        self._client, self._address = client, address
        self._executor = client.get_executor(pure=False, retries=RETRIES)
        self._waiting: weakref.WeakSet[Future[Any]] = weakref.WeakSet()
        self._lock = threading.RLock()  # a cancelled task says so at once
        self._ended = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def submit(self, task: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        told: Future[Any] = Future()
        there: Future[Any] = self._executor.submit(task, *args, **kwargs)
        told.add_done_callback(lambda one: there.cancel() if one.cancelled() else None)
        there.add_done_callback(lambda one: self._tell(one, told))
        with self._lock:
            self._waiting.add(told)
        return told

    def _tell(self, there: Future[Any], told: Future[Any]) -> None:
        """Hand on how a task ended, unless it has been given up."""
        with self._lock:
            if told.done():
                return
            if there.cancelled():
                told.set_exception(lost(ConnectionError("the scheduler has let them go")))
            elif (error := there.exception()) is not None:
                told.set_exception(lost(error) if isinstance(error, self._killed) else error)
            else:
                told.set_result(there.result())

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._ended.set()
        self._executor.shutdown(wait=wait and not cancel_futures)

    def _watch(self) -> None:
        alone = 0.0
        while not self._ended.wait(EVERY):
            try:
                there = bool(self._client.nthreads())
            except Exception:  # the scheduler is gone, or going
                there = False
            alone = 0.0 if there else alone + EVERY
            if alone >= PATIENCE:
                self._give_up()
                return

    def _give_up(self) -> None:
        error = Unavailable("no_workers", _no_workers(self._address) + ", and run this again.")
        with self._lock:
            for told in self._waiting:
                if not told.done():
                    told.set_exception(error)
