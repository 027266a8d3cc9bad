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
from enfold.conflicts import Decided
from enfold.errors import Conflict as ConflictError
from enfold.errors import Error, Invalid, NotFound, Refused, Unavailable
from enfold.graph import Graph, evaluate, open, scan
from enfold.graph.copies import Copied, copy
from enfold.homonyms import Chosen, Waiting
from enfold.model import (
    Ambiguous,
    Anchor,
    Answer,
    CheckReport,
    Conflict,
    Connection,
    Decision,
    Entity,
    Fact,
    Found,
    Hit,
    How,
    Imported,
    Indexed,
    Kind,
    Memory,
    MemoryQuestion,
    Mention,
    Merge,
    NameInText,
    NameQuestion,
    Recalled,
    Recollection,
    Related,
    RelationInText,
    Remembered,
    Report,
    Reverted,
    Ruling,
    Run,
    Scan,
    SetAside,
    Step,
    Term,
    Text,
    Unknown,
    Verdict,
)
from enfold.names import Name
from enfold.recall import Weights
from enfold.rules import RULES, Rule, rule_on

__version__ = "0.1.0"

__all__ = [
    "RULES",
    "Ambiguous",
    "Anchor",
    "Answer",
    "Answered",
    "Card",
    "CheckReport",
    "Chosen",
    "Conflict",
    "ConflictError",
    "Connection",
    "Copied",
    "Decided",
    "Decision",
    "Entity",
    "Error",
    "Fact",
    "Found",
    "Graph",
    "Hit",
    "How",
    "Imported",
    "Indexed",
    "Invalid",
    "Kind",
    "ListCard",
    "Memory",
    "MemoryQuestion",
    "Mention",
    "Merge",
    "Name",
    "NameInText",
    "NameQuestion",
    "NotFound",
    "Recalled",
    "Recollection",
    "Refused",
    "Related",
    "RelationInText",
    "Remembered",
    "Report",
    "Returned",
    "Reverted",
    "Rule",
    "Ruling",
    "Run",
    "Scan",
    "SetAside",
    "Step",
    "Term",
    "Text",
    "Unavailable",
    "Undone",
    "Unknown",
    "Verdict",
    "Waiting",
    "Weights",
    "copy",
    "evaluate",
    "open",
    "rule_on",
    "scan",
]
