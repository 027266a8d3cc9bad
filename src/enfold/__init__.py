"""enfold keeps the identity of a memory graph settled.

Several spellings of one thing fold into one entity, reversibly; what is uncertain is asked, never
guessed; lookup and neighbourhoods follow every fold.

    >>> import enfold
    >>> graph = enfold.open(":memory:")
    >>> _ = graph.remember("Ada wrote it.", mentions=["Ada"])
    >>> graph.find("ada").entity.name
    'Ada'
"""

from __future__ import annotations

from enfold.answers import Answered, Returned, Undone
from enfold.cards import Card, ListCard
from enfold.errors import Conflict as ConflictError
from enfold.errors import Error, Invalid, NotFound, Refused, Unavailable
from enfold.graph import Graph, evaluate, open, scan
from enfold.model import (
    Ambiguous,
    Answer,
    CheckReport,
    Conflict,
    Decision,
    Entity,
    Fact,
    Found,
    Hit,
    How,
    Imported,
    Memory,
    Mention,
    Merge,
    Related,
    Report,
    Reverted,
    Ruling,
    Run,
    Scan,
    SetAside,
    Unknown,
    Verdict,
)
from enfold.names import Name
from enfold.rules import RULES, Rule, rule_on

__version__ = "0.1.0"

__all__ = [
    "RULES",
    "Ambiguous",
    "Answer",
    "Answered",
    "Card",
    "CheckReport",
    "Conflict",
    "ConflictError",
    "Decision",
    "Entity",
    "Error",
    "Fact",
    "Found",
    "Graph",
    "Hit",
    "How",
    "Imported",
    "Invalid",
    "ListCard",
    "Memory",
    "Mention",
    "Merge",
    "Name",
    "NotFound",
    "Refused",
    "Related",
    "Report",
    "Returned",
    "Reverted",
    "Rule",
    "Ruling",
    "Run",
    "Scan",
    "SetAside",
    "Unavailable",
    "Undone",
    "Unknown",
    "Verdict",
    "evaluate",
    "open",
    "rule_on",
    "scan",
]
