"""The steps by which pairs are found among names that no memory holds: each a task from files to
files, the same in this process, in a pool of them or on a cluster."""

from __future__ import annotations

import gc
import resource
import socket
import sys
from collections.abc import Callable, Sequence
from os import getpid
from typing import Any, Final

from enfold.engines import meeting, reading, ruling
from enfold.engines.job import Job, Told
from enfold.errors import Refused
from enfold.resolve import VERSION

Step = Callable[..., Told]


def perform(job: Job, step: str, task: str, arguments: Sequence[Any]) -> Told:
    """Do one task, unless it is done; what it says. Its files are whole before it says it.

    Raises:
        Refused: ``other_version``.
    """
    if (here := version()) != job.version:
        raise Refused(
            "other_version",
            f"{socket.gethostname()} has enfold {here}, where the run is of {job.version}; "
            "install the same version everywhere.",
        )
    place, said = job.work, f"{step}/{task}.json"
    if place.exists(said):
        done: Told = place.load(said)
        return done
    on = gc.isenabled()
    gc.disable()  # looking for cycles took a tenth of the time; a task looks once, or in its pauses
    try:
        told = STEPS[step](job, task, *arguments)
    finally:
        gc.collect()
        if on:
            gc.enable()
    place.save(said, told)
    return told | {"process": f"{socket.gethostname()} {getpid()}", "memory": _memory()}


def version() -> str:
    """Of the package, and of its names and rules."""
    package = sys.modules[__name__.partition(".")[0]]  # its verbs lie above, and are not needed
    return f"{package.__version__} ({VERSION})"


def _memory() -> int:
    """The most resident memory that this process had, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024)


STEPS: Final[dict[str, Step]] = {
    "read": reading.read_rows,
    "name": reading.name_keys,
    "words": reading.common_words,
    "initials": reading.initials,
    "keys": meeting.meet_keys,
    "blocks": meeting.meet_block,
    "forms": meeting.gather_forms,
    "spelling": meeting.meet_spellings,
    "attach": ruling.attach,
    "rule": ruling.rule,
    "groups": ruling.rule_groups,
}
"""The steps, in their order."""
