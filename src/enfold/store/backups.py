"""Where the backups of a graph lie, what they are called, and which of them go."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Backups:
    """The backups of one graph.

    Attributes:
        directory: where they lie. stem: what their names begin with.
    """

    directory: Path
    stem: str

    def path(self, moment: datetime, run_id: int | None) -> Path:
        """The file of a backup made at that time, by a run or by hand."""
        run = "" if run_id is None else f"-run{run_id}"
        return self.directory / f"{self.stem}-{moment.strftime('%Y%m%dT%H%M%S%fZ')}{run}.db"

    def keep_newest(self, keep: int) -> None:
        """Delete all but so many."""
        # Only names that a backup is given; whatever else lies there is somebody's own.
        ours = re.compile(re.escape(self.stem) + r"-\d{8}T\d{12}Z(-run\d+)?\.db")
        mine = sorted(path for path in self.directory.glob("*.db") if ours.fullmatch(path.name))
        for old in mine[: max(0, len(mine) - keep)]:
            old.unlink(missing_ok=True)
