"""One step in one child process, with its time, its processor time and its peak memory.

A child starts fresh, so that no step profits from what another left in memory, and its peak is its
own. Memory is resident memory summed over the child and its children, read every 50 ms (Linux), or
the child's own high-water mark where that is higher; shared pages count once for each process.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
MIB: Final = 1 << 20

Step = Callable[..., dict[str, Any]]


@dataclass(frozen=True)
class Measured:
    """What one step took.

    Attributes:
        wall: seconds from the step's first line to its last; starting Python and importing
            libraries are not in it.
        cpu: processor seconds, user and system, of the process and its ended children; from the
            start of Python.
        peak: MiB.
        result: what the step returned.
    """

    step: str
    wall: float
    cpu: float
    peak: float
    result: dict[str, Any] = field(default_factory=dict)


def run_step(script: str, step: str, **arguments: Any) -> Measured:
    """Run a step of a script of this folder in a child process.

    Raises:
        SystemExit: the step failed; its error has been printed by the child.
    """
    command = [sys.executable, str(ROOT / "bench" / script), "--step", step, json.dumps(arguments)]
    path = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    peak = [0.0]
    watch = threading.Thread(target=_watch, args=(child, peak))
    watch.start()
    out, _ = child.communicate()
    watch.join()
    if child.returncode:
        raise SystemExit(f"the step {step!r} failed with exit code {child.returncode}")
    told = json.loads(out.splitlines()[-1])
    return Measured(step, told["wall"], told["cpu"], max(told["peak"], peak[0]), told["result"])


def serve_step(steps: Mapping[str, Step]) -> bool:
    """In a child: run the step asked for and print what it took. False where none was asked for."""
    if sys.argv[1:2] != ["--step"]:
        return False
    step, arguments = sys.argv[2], json.loads(sys.argv[3])
    started = time.perf_counter()
    result = steps[step](**arguments)
    wall = result.pop("wall", None)
    told = {
        "wall": time.perf_counter() - started if wall is None else wall,
        "cpu": _cpu(),
        "peak": _high_water(),
        "result": result,
    }
    print(json.dumps(told))
    return True


def _cpu() -> float:
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def _high_water() -> float:
    """The highest resident memory of this process, in MiB. Not ``ru_maxrss`` where it can be
    helped: that one is inherited from the process that started this one."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (MIB if sys.platform == "darwin" else 1024)
    return next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line) / 1024


def _watch(child: subprocess.Popen[str], peak: list[float]) -> None:
    page = os.sysconf("SC_PAGE_SIZE")
    while child.poll() is None:
        total = sum(_resident(pid) for pid in _family(child.pid))
        peak[0] = max(peak[0], total * page / MIB)
        time.sleep(0.05)


def _family(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        try:
            threads = list(Path(f"/proc/{parent}/task").iterdir())
            for thread in threads:
                found.extend(map(int, (thread / "children").read_text().split()))
        except OSError:
            continue
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0


# ---- what is printed ----------------------------------------------------------------------------


def sizes(text: str) -> list[int]:
    """``1k,100k,1M`` as numbers."""
    units = {"k": 1_000, "m": 1_000_000}
    found = []
    for part in text.split(","):
        word = part.strip().lower()
        unit = units.get(word[-1:], 0)
        found.append(int(float(word[:-1]) * unit) if unit else int(word))
    return found


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine() -> str:
    """Versions, machine, and the load of the minute before, in a line."""
    import sqlite3
    from importlib.metadata import version

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "rapidfuzz"))
    return (
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {libraries}; "
        f"{platform.system()} {platform.machine()}, {cores()} cores, {memory:.0f} GiB, "
        f"load {os.getloadavg()[0]:.1f}"
    )


def shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.3f}" if abs(value) < 10 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows as aligned text, under the names of their columns; what a row lacks is ``-``."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    cells = [[shown(row.get(column)) for column in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    words = {c for c in columns if any(isinstance(row.get(c), str) for row in rows)}

    def line(row: Sequence[str]) -> str:
        placed = zip(columns, row, widths, strict=True)
        return "  ".join(
            text.ljust(width) if column in words else text.rjust(width)
            for column, text, width in placed
        ).rstrip()

    return "\n".join([line(columns), line(["-" * width for width in widths]), *map(line, cells)])


def print_json(head: str, **parts: object) -> None:
    def plain(value: object) -> object:
        return asdict(value) if isinstance(value, Measured) else str(value)

    print(json.dumps({"machine": head, **parts}, ensure_ascii=False, indent=2, default=plain))
