"""The command line: each command parses, makes one call on the graph, and shows what it gave.

What a script can build on:

- Exit codes, the same for every command:

  ==== =====================================================================================
  0    done
  1    the answer is no: ``check`` found violations, ``gate`` a figure below its floor,
       ``evaluate --strict`` wrong verdicts; or rows of a sheet were not taken
  2    the command line can't be read
  3    not found: no such name, id or graph; a miss means unknown, never absent
  4    refused: it would break a promise, or was not confirmed; nothing was changed
  5    the input can't be read as what it should be; nothing was changed
  6    a name fits several entities, or the graph changed meanwhile
  7    the store can't serve the call now: locked, read-only, full
  70   a fault in enfold itself
  130  interrupted
  ==== =====================================================================================

- ``--json`` prints one JSON document to the standard output and nothing else there. Its fields are
  those of the records in ``enfold.model`` and ``enfold.graph``. Errors go to the standard error as
  ``{"error": {"code", "message", "details"}}``.
- Progress, hints and notes go to the standard error. What is piped has no colour, no boxes and one
  record to a line.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line of this process, and end it."""
    from enfold.cli.commands import app

    sys.exit(app())
