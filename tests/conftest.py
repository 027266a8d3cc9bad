"""The databases that the tests run on: SQLite, and with ``--postgresql`` PostgreSQL.

Then each graph in memory is a graph in a schema of its own, and whatever opens one runs on it
unchanged. What is about files of SQLite opens a path, and stays there.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from enfold import graph, rating, store

_NUMBERS = itertools.count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--postgresql",
        metavar="URL",
        default=os.environ.get("ENFOLD_TEST_POSTGRESQL", ""),
        help="let graphs in memory be graphs in this database",
    )


@pytest.fixture(autouse=True)
def _on_postgresql(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    url = request.config.getoption("--postgresql")
    if not url or request.node.get_closest_marker("sqlite"):
        yield
        return
    import psycopg

    made: list[str] = []
    opened: list[Any] = []
    real: Callable[..., Any] = store.open_store
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")

    def opening(given: str, **options: Any) -> Any:
        if given != ":memory:":
            return real(given, **options)
        made.append(f"test_{worker}_{os.getpid()}_{next(_NUMBERS)}")
        joined = "&" if "?" in url else "?"
        opened.append(real(f"{url}{joined}schema={made[-1]}", **options))
        return opened[-1]

    for module in (store, graph, rating, request.module):
        if getattr(module, "open_store", None) is real:
            monkeypatch.setattr(module, "open_store", opening)
    yield
    for one in opened:
        with contextlib.suppress(Exception):
            one.close()
    with psycopg.connect(url, autocommit=True) as connection:
        for schema in made:
            connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")  # type: ignore[arg-type]
