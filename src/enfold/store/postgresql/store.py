"""A graph in a schema of a PostgreSQL database: connections, transactions, backup and restore."""

from __future__ import annotations

import logging
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from enfold import copying
from enfold.errors import Invalid, NotFound, Refused, Unavailable
from enfold.store.backups import Backups
from enfold.store.codes import Codes
from enfold.store.nesting import Nesting
from enfold.store.postgresql.address import Address
from enfold.store.postgresql.faults import RAISED, fault
from enfold.store.postgresql.memorywords import MemoryWords
from enfold.store.postgresql.schema import LOCK, VERSION, empty, identify, migrate
from enfold.store.postgresql.statements import FlagDumper, Statements
from enfold.store.postgresql.words import Words
from enfold.store.sqlite import SqliteStore, sync_directory, sync_file
from enfold.store.tx import Transaction

WAIT_SECONDS: Final = 30
"""How long a writer waits for another, and anybody for a connection, before it gives up."""

CONNECT_SECONDS: Final = 10

IDLE_SECONDS: Final = 900
"""After so long the server ends a transaction that says nothing: its process hangs or is gone. A
pass over a million names plans in one for several seconds."""

CONNECTIONS: Final = 10
"""Of one process; who asks for more waits."""

# What it says of a server that is away is raised as an error as well; nobody set up a place for it.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

Connection = psycopg.Connection[tuple[object, ...]]


class PostgresqlStore:
    """See ``ports.Store``.

    May be used from several threads, processes and machines. Writers take turns: each has the
    graph's lock, and nobody else writes meanwhile; readers see a snapshot, and wait for no one.
    """

    def __init__(
        self, url: str, *, clock: Callable[[], datetime], create: bool, read_only: bool
    ) -> None:
        self._address = Address.of(url)
        self.url = self._address.shown
        self._clock = clock
        self._read_only = read_only
        self._codes = Codes()
        self._nesting = Nesting(alone=False)
        self._guard = threading.Lock()
        self._owner = os.getpid()
        self._closed = False
        self._pool: ConnectionPool[Connection] | None = None
        with self._mapped(), closing(self._connect()) as connection:
            self._settle_schema(connection, create=create)

    # ---- transactions ----

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """A consistent snapshot; writes are refused."""
        with self._mapped(), self._nesting.entered("read"), self._connection() as connection:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            try:
                yield self._transaction(connection, may_write=False)
            finally:
                _roll_back(connection)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """The graph's one lock; commits at the end, rolls back on any error."""
        with self._writing() as (_, tx):
            yield tx

    @contextmanager
    def _writing(self) -> Iterator[tuple[Connection, Transaction]]:
        if self._read_only:
            raise Unavailable("read_only", f"{self.url} was opened for reading only.")
        with self._mapped(), self._nesting.entered("write"), self._connection() as connection:
            connection.execute("BEGIN")
            try:
                connection.execute(
                    "SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [LOCK, self._address.schema]
                )
                tx = self._transaction(connection, may_write=True)
                yield connection, tx
                tx.before_commit()
                connection.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise

    def _transaction(self, connection: Connection, *, may_write: bool) -> Transaction:
        moment = self._clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        statements = Statements(connection, moment, may_write=may_write)
        return Transaction(statements, self._codes, Words(statements), MemoryWords(statements))

    # ---- connections ----

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        pool = self._pooled()
        try:
            connection = pool.getconn()
        except PoolTimeout:
            # It tries ever more seldom; a new one finds a server that is back at once.
            self._drop(pool)
            raise
        try:
            yield connection
        finally:
            pool.putconn(connection)

    def _drop(self, pool: ConnectionPool[Connection]) -> None:
        with self._guard:
            if self._pool is pool:
                self._pool = None
        pool.close(timeout=0)

    def _pooled(self) -> ConnectionPool[Connection]:
        with self._guard:
            if self._closed:
                raise Unavailable("closed", f"The graph {self.url} was closed; open it again.")
            if self._pool is None or self._owner != os.getpid():  # connections don't cross a fork
                self._pool, self._owner = self._new_pool(), os.getpid()
            return self._pool

    def _new_pool(self) -> ConnectionPool[Connection]:
        return ConnectionPool(
            self._address.url,
            kwargs={"autocommit": True, "connect_timeout": CONNECT_SECONDS},
            connection_class=psycopg.Connection,
            configure=self._configure,
            check=ConnectionPool.check_connection,  # a server that started anew is found again
            min_size=1,
            max_size=CONNECTIONS,
            timeout=WAIT_SECONDS,
            num_workers=1,
            open=True,
        )

    def _connect(self) -> Connection:
        connection = psycopg.connect(
            self._address.url, autocommit=True, connect_timeout=CONNECT_SECONDS
        )
        self._configure(connection)
        return connection

    def _configure(self, connection: Connection) -> None:
        connection.cursor_factory = psycopg.ClientCursor
        connection.adapters.register_dumper(bool, FlagDumper)
        settings = {
            "search_path": self._address.schema,
            "lock_timeout": f"{WAIT_SECONDS}s",
            "statement_timeout": f"{self._address.statement_seconds}s",
            "idle_in_transaction_session_timeout": f"{IDLE_SECONDS}s",
            "cursor_tuple_fraction": "1",  # streams are read to their end
            "jit": "off",  # it is for long statements, and these are short
            "client_min_messages": "error",
            "client_encoding": "utf8",
            "application_name": "enfold",
        }
        each = ", ".join(["set_config(%s, %s, false)"] * len(settings))
        connection.execute(f"SELECT {each}", [part for one in settings.items() for part in one])

    def _settle_schema(self, connection: Connection, *, create: bool) -> None:
        name = self._address.schema
        version = identify(connection, name, self.url)
        if version == VERSION:
            return
        if not version and not create:
            raise NotFound(
                "no_graph",
                f"There is no graph at {self.url}. What is remembered or imported makes one; "
                "or name another.",
                path=self.url,
            )
        if self._read_only:
            raise Unavailable(
                "read_only",
                f"{self.url} was written by an older enfold and has to be brought up to date, but "
                "is opened for reading only. Open it once with write access.",
            )
        migrate(connection, name, self.url)

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except RAISED as error:
            raise fault(error, self.url) from error

    def close(self) -> None:
        with self._guard:
            self._closed = True
            pool, self._pool = self._pool, None
        if pool is not None and self._owner == os.getpid():
            pool.close()

    # ---- copies ----

    @property
    def backups(self) -> Path | None:
        """The directory where this graph's backups lie by default: under the one that the process
        runs in."""
        return self._backups.directory

    @property
    def _backups(self) -> Backups:
        stem = f"{self._address.database}-{self._address.schema}".replace("/", "_")
        return Backups(Path(f"{stem}.backups"), stem)

    def keep_backups(self, keep: int) -> None:
        self._backups.keep_newest(keep)

    def backup(self, target: str | None = None, *, run_id: int | None = None) -> str:
        """A verified copy in one file, which is a graph of its own in SQLite; where it lies.

        Raises:
            Refused: ``target_exists``.
            Unavailable: ``backup_failed``: nothing is kept of it.
        """
        path = Path(target) if target else self._backups.path(self._clock(), run_id)
        if path.exists():
            raise Refused("target_exists", f"{path} exists already; name another file.")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(f".{path.name[:40]}.part", ".", path.parent)
            os.close(handle)
            part = Path(name)
            try:
                self._copy_into(part)
                sync_file(part)
                os.replace(part, path)
                sync_directory(path.parent)
            finally:
                for left in (part, Path(f"{part}-wal"), Path(f"{part}-shm")):
                    left.unlink(missing_ok=True)
        except OSError as error:
            raise Unavailable(
                "backup_failed", f"The backup {path} could not be written: {error}."
            ) from error
        return str(path)

    def _copy_into(self, part: Path) -> None:
        with closing(self._file(part, read_only=False)) as file:
            written = copying.copy(self, file)
            with file.read() as there:
                sound = not there.invariants.file() and copying.counts(there) == written
        if not sound:
            raise Unavailable(
                "backup_failed",
                "The backup does not read back as what was copied; it was not kept and nothing was "
                "changed. Look at the disk, then repeat.",
            )

    def restore(self, source: str) -> str | None:
        """Put the content of a backup, or of any graph in a file, in place of this graph's; where
        the replaced content lies.

        The copy is one transaction: killed at any moment, the graph has either content whole.

        Raises:
            NotFound: ``no_graph``. Invalid: the source is no graph, or is damaged.
            Refused: ``newer_schema``.
        """
        with closing(self._file(Path(source), read_only=True)) as file:
            if problems := _damage(file):
                raise Invalid("corrupt", f"{source} is damaged: {problems[0]}. Use another backup.")
            with self._writing() as (connection, tx), file.read() as there:
                kept = None if tx.rows.are_none() else self.backup()
                empty(connection)
                rows = copying.rows(there, sealed=True)
                copying.paste(tx, rows, into=self.url, emptied=True)
                tx.vectors.paste(there.vectors.rows())
        return kept

    def _file(self, path: Path, *, read_only: bool) -> SqliteStore:
        return SqliteStore(str(path), clock=self._clock, create=not read_only, read_only=read_only)


def _damage(file: SqliteStore) -> list[str]:
    with file.read() as tx:
        return tx.invariants.file()


def _roll_back(connection: Connection) -> None:
    with suppress(psycopg.Error):  # the server is gone, and with it the transaction
        connection.execute("ROLLBACK")
