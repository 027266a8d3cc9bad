"""A graph: one thin method for each verb, by what one does with it. Each opens the transaction and
delegates."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from enfold.evaluate import ClusterEvaluation, Evaluation
from enfold.graph.asking import Asking
from enfold.graph.exchange import Exchange
from enfold.graph.folding import Folding
from enfold.graph.keeping import Keeping
from enfold.graph.reviewing import Reviewing
from enfold.graph.settling import Settling
from enfold.graph.texts import Texts
from enfold.model import Scan
from enfold.names import Name
from enfold.ports import Embedder, Engine, Extractor, Model, Progress
from enfold.store import open_store


def open(
    url: str | os.PathLike[str] = "enfold.db",
    *,
    create: bool = True,
    read_only: bool = False,
    workers: int = 1,
    engine: str = "local",
    actor: str | None = None,
    keep_backups: int | None = None,
    embedder: str | Embedder | None = "minilm",
    extractor: Extractor | None = None,
    model: Model | None = None,
) -> Graph:
    """Open the graph at a path (or ``:memory:``).

    Args:
        create: make a new graph where nothing is; False raises ``NotFound`` instead.
        read_only: open without the right to write.
        workers: processes that find pairs in large graphs (see ``engines.local``).
        engine: where a full pass finds pairs (see ``engines.chosen``).
        actor: who decides, as recorded with folds and decisions.
        keep_backups: how many backups to keep; None or 0 keeps all.
        embedder: what places texts by meaning: ``minilm``, which comes with enfold, or one of your
            own; None for none.
        extractor: what reads names out of texts; None takes the one that comes with enfold.
        model: a language model that judges whether memories contradict each other; None asks none.

    Raises:
        Error: see ``store.open_store``; ``unknown_engine``.
    """
    if engine != "local":
        from enfold.engines.chosen import parsed

        parsed(engine)
    store = open_store(os.fspath(url), create=create, read_only=read_only)
    return Graph(
        store,
        partial(_engine, engine, workers),
        actor=actor,
        keep_backups=keep_backups,
        embedder=embedder,
        extractor=extractor,
        model=model,
    )


def _engine(engine: str, workers: int) -> Engine:
    from enfold.engines import running  # numpy: 90 ms, which a lookup need not wait for

    return running(engine, workers)


def scan(
    *paths: str | os.PathLike[str],
    types_trusted: bool = False,
    trust_ids: bool = False,
    rule_set: str = "default",
    limit: int = 20,
    workers: int = 1,
    engine: str = "local",
    progress: Progress | None = None,
) -> Scan:
    """What a pass over these files would fold, ask and keep apart. Writes nothing.

    Args:
        trust_ids: let two entities of one name with different ids stay two.
        limit: how many of each to list.
    """
    with open(":memory:", workers=workers, engine=engine) as graph:
        imported = graph.import_files(*paths, trust_ids=trust_ids, progress=progress)
        return graph.preview(
            imported, types_trusted=types_trusted, rule_set=rule_set, limit=limit, progress=progress
        )


class Graph(Exchange, Texts, Settling, Reviewing, Folding, Asking, Keeping):
    """One graph. Usable from several threads; a context manager that closes it."""


def evaluate(
    path: str | os.PathLike[str],
    *,
    rule_set: str = "default",
    workers: int = 1,
    progress: Progress | None = None,
) -> Evaluation | ClusterEvaluation:
    """How right the rules are on a file of labels: pairs, each ruled on its own, or names with
    their things, put through a pass (see ``formats.labelled`` for the columns).

    Raises:
        Invalid: ``unreadable``, ``no_labels``, ``bad_label``, ``unknown_rules``.
    """
    from enfold.rating import rate  # numpy

    return rate(Path(path), rule_set=rule_set, workers=workers, progress=progress)


def as_json(record: Any) -> Any:
    """A record of this package as plain data, for JSON."""
    if isinstance(record, Name):
        return {"spelling": record.spelling, "type": record.type}
    if hasattr(record, "__dataclass_fields__"):
        return {name: as_json(getattr(record, name)) for name in record.__dataclass_fields__}
    if isinstance(record, Mapping):
        return {str(key): as_json(value) for key, value in record.items()}
    if isinstance(record, list | tuple | set | frozenset):
        return [as_json(part) for part in record]
    return record
