"""The databases that the tests run on: SQLite, and with ``--postgresql`` PostgreSQL.

Then each graph in memory is a graph in a schema of its own, and whatever opens one runs on it
unchanged. What is about SQLite itself is marked so, or opens a path, and stays there.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import pytest

from enfold import graph, rating, store
from tests.servers import Server

_OPEN: Any = store.open_store


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--postgresql",
        metavar="URL",
        default=os.environ.get("ENFOLD_TEST_POSTGRESQL", ""),
        help="let graphs in memory be graphs in this database; “start” starts one",
    )


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A PostgreSQL server of the tests' own."""
    started = Server(tmp_path_factory.mktemp("pg"))
    yield started
    started.stop()


@pytest.fixture(scope="session")
def _schemas(request: pytest.FixtureRequest) -> Iterator[Schemas | None]:
    url = request.config.getoption("--postgresql")
    if url == "start":
        url = request.getfixturevalue("server").url
    if not url:
        yield None
        return
    with contextlib.closing(Schemas(url)) as schemas:
        yield schemas


@pytest.fixture(autouse=True)
def _on_postgresql(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, _schemas: Schemas | None
) -> Iterator[None]:
    if _schemas is None or request.node.get_closest_marker("sqlite"):
        yield
        return
    for module in (store, graph, rating, request.module):
        if getattr(module, "open_store", None) is _OPEN:
            monkeypatch.setattr(module, "open_store", _schemas.open)
    yield
    _schemas.take_back()


class Schemas:
    """Schemas for graphs, used again once a test is done with them: to make one takes 0.15 s."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._numbers = itertools.count(1)
        self._free: list[str] = []
        self._lent: dict[str, Any] = {}
        self._made: list[str] = []

    @cached_property
    def _server(self) -> Any:
        import psycopg

        return psycopg.connect(self._url, autocommit=True)

    def open(self, url: str, **options: Any) -> Any:
        """As ``open_store``, but that graphs in memory lie in PostgreSQL."""
        if url != ":memory:":
            return _OPEN(url, **options)
        name = self._free.pop() if self._free else self._new()
        joined = "&" if "?" in self._url else "?"
        opened = _OPEN(f"{self._url}{joined}schema={name}", **options)
        closing, self._lent[name] = opened.close, opened

        def close() -> None:
            closing()
            if self._lent.pop(name, None) is not None:
                self._empty(name)

        opened.close = close
        return opened

    def _new(self) -> str:
        name = f"test_{os.getpid()}_{next(self._numbers)}"
        joined = "&" if "?" in self._url else "?"
        _OPEN(f"{self._url}{joined}schema={name}").close()
        self._server.execute(f"SET search_path = {name}")
        self._server.execute("CREATE TABLE term_at_first AS SELECT * FROM term")
        self._made.append(name)
        return name

    def take_back(self) -> None:
        """Empty every graph that is still open."""
        for opened in list(self._lent.values()):
            opened.close()

    def _empty(self, name: str) -> None:
        from enfold.store.postgresql.schema import empty
        from enfold.store.postgresql.statements import WITH_IDS

        with self._server.transaction():
            self._server.execute(f"SET LOCAL search_path = {name}")
            empty(self._server)
            self._server.execute("INSERT INTO term SELECT * FROM term_at_first")
            self._server.execute("DELETE FROM unsettled; DELETE FROM unsettled_name")
            resets = (f"setval('{table}_id_seq', 1, false)" for table in WITH_IDS | {"word"})
            self._server.execute(f"SELECT {', '.join(resets)}")
        shutil.rmtree(f"postgres-{name}.backups", ignore_errors=True)
        self._free.append(name)

    def close(self) -> None:
        for name in self._made:
            self._server.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")
        self._server.close()
