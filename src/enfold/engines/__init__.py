"""Where pairs are found: in this process, on its cores, or on a cluster.

What an engine runs are functions from plain data to plain arrays, or from files to files, handed to
a standard ``concurrent.futures.Executor``. They apply ``pairs`` and ``rules`` and add nothing to
them.
"""

from __future__ import annotations

from enfold.engines.chosen import running
from enfold.engines.finding import FoundPairs, find_pairs

__all__ = ["FoundPairs", "find_pairs", "running"]
