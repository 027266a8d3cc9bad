"""A graph in one SQLite file: connections, transactions, schema, backup and restore."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final
from urllib.parse import quote

from enfold.errors import Error, Invalid, NotFound, Refused, Unavailable
from enfold.store.backups import Backups
from enfold.store.codes import Codes
from enfold.store.faults import fault
from enfold.store.memorywords import MemoryWords
from enfold.store.nesting import Nesting
from enfold.store.schema import VERSION, identify, migrate
from enfold.store.statements import Statements
from enfold.store.tx import Transaction
from enfold.store.words import Words

MEMORY: Final = ":memory:"
WAIT_SECONDS: Final = 30.0
"""How long a writer waits for another before it gives up."""

_HEADER: Final = b"SQLite format 3\x00"


class SqliteStore:
    """See ``ports.Store``.

    May be used from several threads and from several processes. A file's transactions each have a
    connection of their own; a graph in memory has one, and a lock.
    """

    def __init__(
        self, path: str, *, clock: Callable[[], datetime], create: bool, read_only: bool
    ) -> None:
        self.url = path
        self._clock = clock
        self._read_only = read_only
        self._idle: list[sqlite3.Connection] = []
        self._owner = os.getpid()
        self._guard = threading.Lock()
        self._memory_lock = threading.RLock()
        self._nesting = Nesting(alone=path == MEMORY)  # one in memory has one connection
        self._codes = Codes()
        self._closed = False
        if path != MEMORY:
            existed = _look(Path(path), create=create)
        with _mapped(path):
            connection = self._connect()
            try:
                self._settle_schema(connection)
            except BaseException:
                connection.close()
                if path != MEMORY and not existed:
                    _remove_empty(Path(path))
                raise
        self._idle.append(connection)

    # ---- transactions ----

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """A consistent snapshot; writes are refused."""
        with _mapped(self.url), self._connection("read") as connection:
            inside = connection.in_transaction
            if inside:  # a graph in memory, read while it is read
                yield self._transaction(connection)
                return
            connection.execute("PRAGMA query_only = 1")
            connection.execute("BEGIN")
            try:
                # BEGIN alone takes no snapshot; the first statement does.
                connection.execute("SELECT 1 FROM meta LIMIT 1").fetchone()
                yield self._transaction(connection)
            finally:
                if connection.in_transaction:  # a failing disk has ended it already
                    connection.execute("ROLLBACK")
                connection.execute("PRAGMA query_only = 0")

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """The graph's one lock; commits at the end, rolls back on any error."""
        with _mapped(self.url), self._connection("write") as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                tx = self._transaction(connection)
                yield tx
                tx.before_commit()
                connection.execute("COMMIT")
            except BaseException:
                # A full disk has rolled back already.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _transaction(self, connection: sqlite3.Connection) -> Transaction:
        sql = Statements(connection, self._now())
        return Transaction(sql, self._codes, Words(sql), MemoryWords(sql))

    def _now(self) -> str:
        moment = self._clock()
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    # ---- connections ----

    @contextmanager
    def _connection(self, kind: str) -> Iterator[sqlite3.Connection]:
        with self._nesting.entered(kind):
            if self.url == MEMORY:
                with self._memory_lock:
                    self._must_be_open()
                    yield self._idle[0]
                return
            connection = self._take()
            try:
                yield connection
            finally:
                self._give_back(connection)

    def _must_be_open(self) -> None:
        if self._closed:
            raise Unavailable("closed", f"The graph {self.url} was closed; open it again.")

    def _take(self) -> sqlite3.Connection:
        with self._guard:
            self._must_be_open()
            if self._owner != os.getpid():  # SQLite's connections must not cross a fork
                self._idle, self._owner = [], os.getpid()
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._guard:
            if not self._closed and not connection.in_transaction and len(self._idle) < 8:
                self._idle.append(connection)
                return
        connection.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            MEMORY if self.url == MEMORY else _uri(Path(self.url), read_only=self._read_only),
            timeout=WAIT_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
            uri=self.url != MEMORY,
        )
        try:
            connection.execute("PRAGMA foreign_keys = 1")
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute("PRAGMA cache_size = -65536")
            # FULL, not NORMAL: an answer that a person gave outlives a power cut. It costs one
            # sync a transaction, 0.25 ms where it was measured.
            connection.execute("PRAGMA synchronous = FULL")
        except BaseException:
            connection.close()
            raise
        return connection

    def _settle_schema(self, connection: sqlite3.Connection, *, kept: bool = True) -> None:
        version = identify(connection, self.url)
        if version == VERSION:
            return
        if self._read_only:
            raise Unavailable(
                "read_only",
                f"{self.url} was written by an older enfold and has to be brought up to date, but "
                "is opened for reading only. Open it once with write access.",
            )
        if version and kept and self.url != MEMORY:
            self.backup()  # as the older enfold left it, which can still open that
        migrate(connection, self.url)
        if self.url != MEMORY:
            _use_wal(connection)

    def close(self) -> None:
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        if self._owner == os.getpid():
            for connection in idle:
                connection.close()

    # ---- copies ----

    @property
    def backups(self) -> Path | None:
        """The directory where this graph's backups lie by default; None for one in memory."""
        return None if self.url == MEMORY else self._backups.directory

    @property
    def _backups(self) -> Backups:
        return Backups(Path(f"{self.url}.backups"), Path(self.url).stem)

    def keep_backups(self, keep: int) -> None:
        if self.url != MEMORY:
            self._backups.keep_newest(keep)

    def backup(self, target: str | None = None, *, run_id: int | None = None) -> str:
        """A verified copy in one file; where it lies: by default among ``backups``, named by the
        time and the run that asked for it.

        Raises:
            Refused: ``target_exists``; ``no_file`` for a graph in memory without a target.
            Unavailable: ``backup_failed``: the copy is not what was copied; nothing is kept of it.
        """
        path = Path(target) if target is not None else self._backup_path(run_id)
        if path.exists():
            raise Refused("target_exists", f"{path} exists already; name another file.")
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(f".{path.name[:40]}.part", ".", path.parent)
        os.close(handle)
        part = Path(name)
        try:
            with _mapped(str(path)), self._connection("read") as connection:
                _copy_verified(connection, part)
            if self.url != MEMORY:
                part.chmod(Path(self.url).stat().st_mode)  # no copy is more open than the graph
            os.replace(part, path)
            sync_directory(path.parent)
        except OSError as error:
            raise Unavailable(
                "backup_failed", f"The backup {path} could not be written: {error}."
            ) from error
        finally:
            part.unlink(missing_ok=True)
        return str(path)

    def _backup_path(self, run_id: int | None) -> Path:
        if self.backups is None:
            raise Refused("no_file", "A graph in memory has no place for backups; name a file.")
        return self._backups.path(self._clock(), run_id)

    def restore(self, source: str) -> str | None:
        """Put the content of a backup in place of this graph's; where the replaced content lies
        (None for a graph in memory).

        The copy is one transaction: killed at any moment, the graph has either content whole. What
        is replaced is backed up under the same lock, so that nothing written meanwhile is lost.

        Raises:
            NotFound: ``no_graph``. Invalid: the source is no graph, or is damaged.
            Refused: ``newer_schema``; ``same_file``.
        """
        if self.url != MEMORY and Path(source).resolve() == Path(self.url).resolve():
            raise Refused("same_file", f"{source} is this graph itself; name one of its backups.")
        _look(Path(source), create=False)
        with _mapped(source), closing(_open_copy(Path(source))) as copy:
            if problems := _problems(copy):
                raise Invalid("corrupt", f"{source} is damaged: {problems[0]}. Use another backup.")
            with _mapped(self.url), self._connection("write") as connection:
                kept = self._replace(connection, copy)
        return kept

    def _replace(self, connection: sqlite3.Connection, source: sqlite3.Connection) -> str | None:
        kept: list[str] = []
        deadline = time.monotonic() + WAIT_SECONDS

        def step(status: int, remaining: int, total: int) -> None:
            if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                if time.monotonic() > deadline:
                    raise Unavailable("locked", f"Another process is writing to {self.url}.")
            elif not kept and self.url != MEMORY:
                # From the first page on this connection holds the lock; others still read.
                kept.append(self.backup())

        # One page a step: what is to be replaced must be copied before the last.
        source.backup(connection, pages=1, progress=step)
        self._settle_schema(connection, kept=False)  # of a backup, which is there already
        if self.url != MEMORY:
            _use_wal(connection)
        return kept[0] if kept else None


def _look(path: Path, *, create: bool) -> bool:
    """Whether something is at the path, having refused what can't be a graph."""
    if path.is_dir():
        raise Invalid(
            "is_a_directory", f"{path} is a directory; give a file in it.", path=str(path)
        )
    if path.exists() and not path.is_file():  # a pipe would keep us waiting for ever
        raise Invalid("not_a_database", f"{path} is no regular file; give one.", path=str(path))
    try:
        with path.open("rb") as file:
            start = file.read(len(_HEADER))
    except FileNotFoundError:
        start = b""
    except OSError as error:
        raise Unavailable("cannot_open", f"{path} can't be opened: {error.strerror}.") from error
    if start == b"" and not create:
        raise NotFound(
            "no_graph",
            f"There is no graph at {path}. What is remembered or imported makes one; "
            "or name another.",
            path=str(path),
        )
    if start == b"" and not path.parent.is_dir():
        raise Invalid("no_directory", f"There is no directory {path.parent}; make it first.")
    if start and start != _HEADER:
        raise Invalid(
            "not_a_database",
            f"{path} is not a graph of enfold (nor any SQLite database). To take it in as data, "
            "import it into a graph.",
            path=str(path),
        )
    return path.exists()


def _uri(path: Path, *, read_only: bool) -> str:
    # From bytes, since a path need be no text; of two leading slashes the second names a host.
    uri = f"file:{quote(b'/' + os.fsencode(path.absolute()).lstrip(b'/'))}?mode="
    if not read_only and (not path.exists() or os.access(path, os.W_OK)):
        return uri + "rwc"
    # To read a graph SQLite makes a file beside it; where it may not, and no writer has left
    # anything there, the graph can't change under its reader.
    alone = not os.access(path.absolute().parent, os.W_OK) and not Path(f"{path}-wal").exists()
    return uri + ("ro&immutable=1" if alone else "ro")


def _remove_empty(path: Path) -> None:
    with suppress(OSError):
        if path.stat().st_size == 0:
            path.unlink()


def _use_wal(connection: sqlite3.Connection) -> None:
    # Readers go on while one writes. The switch needs the file for itself and does not wait.
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


@contextmanager
def _mapped(path: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise fault(error, path) from error


def _copy_verified(connection: sqlite3.Connection, part: Path) -> None:
    connection.execute("BEGIN")
    try:
        counts = _counts(connection)
        with closing(sqlite3.connect(part, isolation_level=None)) as copy:
            connection.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, with nothing beside it
    finally:
        connection.execute("ROLLBACK")
    sync_file(part)
    try:
        with closing(_open_copy(part)) as copy:
            # Pages are copied as they are: what a copy could add is a page that does not read, and
            # that the quick check finds; comparing every index with its table took ten times as
            # long on a million names.
            sound = not _problems(copy, "quick_check") and _counts(copy) == counts
    except (Error, sqlite3.Error):
        sound = False
    if not sound:
        raise Unavailable(
            "backup_failed",
            "The backup does not read back as what was copied; it was not kept and nothing was "
            "changed. Look at the disk, then repeat.",
        )


def _open_copy(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, isolation_level=None)
    try:
        if identify(connection, str(path)) == 0:
            raise NotFound("no_graph", f"There is no graph at {path}.")
    except BaseException:
        connection.close()
        raise
    return connection


def _problems(connection: sqlite3.Connection, check: str = "integrity_check") -> list[str]:
    return [row[0] for row in connection.execute(f"PRAGMA {check}") if row[0] != "ok"]


def _counts(connection: sqlite3.Connection) -> dict[str, int]:
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        " ORDER BY name"
    ).fetchall()
    return {
        name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
        for (name,) in tables
    }


def sync_file(path: Path) -> None:
    """Wait until the disk has what was written to a file."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def sync_directory(path: Path) -> None:
    """Wait until the disk has the names in a directory."""
    if os.name == "nt":  # a directory can't be opened there, and needs no sync
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
