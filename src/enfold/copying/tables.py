"""Every table of the schema: what a copy of a graph takes row by row, and what it makes anew.

A copy takes what the graph was told and what it did: nothing here follows from the rest, but for
``suggestion``, which a full pass would find again, and which is taken so that none is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from enfold.errors import Invalid

Kind = Literal["id", "number", "flag", "share", "text", "answer", "decider", "object", "numbers"]
"""What a column holds: an id from 1; a whole number from 0; 0 or 1; a finite real number; a text;
an answer or who decided, as the model has them; a JSON object or JSON list of numbers as text."""

Value = int | float | str | None


@dataclass(frozen=True, slots=True)
class Column:
    """One column; where it may be ``empty`` it may be NULL."""

    name: str
    kind: Kind
    empty: bool


@dataclass(frozen=True, slots=True)
class Table:
    """A table that a copy takes.

    Attributes:
        order: what its rows are written by; always the same for the same rows.
        goes: columns that name a memory its row goes with. loosens: those that are emptied then.
        seeded: a new graph has rows of it, which those of a copy replace.
    """

    name: str
    columns: tuple[Column, ...]
    order: str
    goes: tuple[str, ...] = ()
    loosens: tuple[str, ...] = ()
    seeded: bool = False

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]


_KINDS: Final[dict[str, Kind]] = {
    "id": "id",
    "number": "number",
    "flag": "flag",
    "share": "share",
    "text": "text",
    "answer": "answer",
    "decider": "decider",
    "object": "object",
    "numbers": "numbers",
}


def _table(
    name: str,
    columns: str,
    *,
    order: str = "id",
    goes: tuple[str, ...] = (),
    loosens: tuple[str, ...] = (),
    seeded: bool = False,
) -> Table:
    """A table from a list of "column:kind", the kind with "?" where the column may be empty."""
    parted = (column.partition(":") for column in columns.split())
    made = tuple(Column(one, _KINDS[kind.rstrip("?")], kind[-1] == "?") for one, _, kind in parted)
    return Table(name, made, order, goes, loosens, seeded)


# Suggestions stand behind what the graph's triggers mark while there are some (decisions,
# questions, memories that don't count): all that is left to ask is worked out once, at the end.
TABLES: Final = (
    _table(
        "run",
        """id:id kind:text started_at:text ended_at:text? report:object backup:text?
        error:text?""",
    ),
    _table(
        "set_aside",
        "run_id:id source:text line:number reason:text text:text",
        order="run_id, rowid",
    ),
    _table(
        "term",
        "kind:text name:text description:text enabled:flag",
        order="kind, name",
        seeded=True,
    ),
    _table(
        "memory",
        """id:id content:text kind:text title:text? area:text? topic:text? agent:text? source:text?
        source_tag:text? caller_id:text? digest:text? repeats:number document_id:id?
        follows_id:id? created_at:text""",
        goes=("id", "document_id"),
        loosens=("follows_id",),
    ),
    _table(
        "uncounted",
        "memory_id:id stale:flag sealed_for:text?",
        order="memory_id",
        goes=("memory_id",),
    ),
    _table(
        "unread",
        "memory_id:id tries:number error:text?",
        order="memory_id",
        goes=("memory_id",),
    ),
    _table(
        "entity",
        """id:id spelling:text key:text sense:number merge_key:text fold_key:text type:text?
        source_tag:text? foreign_id:text? attributes:object? alias_only:flag folded_into:id?
        canonical_id:id again:flag created_at:text""",
    ),
    _table(
        "mention",
        "id:id memory_id:id asserted_id:id spelling:text",
        goes=("memory_id",),
    ),
    _table(
        "fact",
        """id:id memory_id:id subject_id:id predicate:text object_id:id? literal:text?
        confidence:share source_tag:text? attributes:object?""",
        goes=("memory_id",),
    ),
    _table(
        "unlinked",
        """id:id memory_id:id key:text spelling:text type:text? row_id:id? edge_id:id?""",
        goes=("memory_id",),
    ),
    _table(
        "unlinked_fact",
        """id:id memory_id:id subject_key:text subject:text predicate:text object_key:text
        object:text confidence:share source_tag:text? subject_id:id? object_id:id?
        edge_id:id?""",
        goes=("memory_id",),
    ),
    _table(
        "merge",
        """id:id canonical_id:id canonical_name:text absorbed_id:id absorbed_name:text
        absorbed_type:text? decided_by:decider rule:text score:share reason:text actor:text?
        model:text? conflict_id:id? run_id:id? asked_absorbed:id asked_canonical:id
        overruled:numbers edge_mark:number moved:number silenced:number created_at:text
        reverted_at:text?""",
    ),
    _table("merge_edge", "merge_id:id edge_id:id effect:text", order="merge_id, edge_id, effect"),
    _table("renaming", "id:id root_id:id shown_id:id actor:text? created_at:text"),
    _table(
        "decision",
        """id:id left_key:text left_sense:number left_name:text right_key:text
        right_sense:number right_name:text decided_by:decider actor:text? why:text created_at:text
        undone_at:text? undone_by:text?""",
    ),
    _table(
        "conflict",
        """id:id kind:text queued_id:id? candidate_id:id? queued_memory_id:id?
        candidate_memory_id:id? made_memory_id:id? name_key:text? name:text? asked_by:text
        rule:text score:share reason:text impact:number created_at:text answer:answer?
        answered_by:text? merge_id:id? decision_id:id? decided_at:text?""",
        goes=("queued_memory_id", "candidate_memory_id"),
        loosens=("made_memory_id",),
    ),
    _table(
        "suggestion",
        "left_id:id right_id:id rule:text score:share",
        order="left_id, right_id",
    ),
    _table("meta", "name:text value:text", order="name", seeded=True),
    _table("last_id", "name:text id:id", order="name"),
)
"""What a copy takes, in the order in which it is written. ``last_id`` is no table of the schema: it
is the highest id that each table ever gave, so that none is given twice."""

BY_NAME: Final = {table.name: table for table in TABLES}

DERIVED: Final = {
    "open_pair": "worked out of suggestions, folds, questions and decisions",
    "unsettled_name": "names of texts that are looked at before a transaction ends",
    "unsettled": "what open_pair has still to take in; it is worked out whole after a copy",
    "name_page": "the keys of names",
    "name_index": "the keys of names",
    "word": "the words of names",
    "word_part": "the words of names",
    "word_of": "the words of names",
    "memory_words": "the words of memories",
    "space": "where texts and names lie for an embedding model, which can be asked again",
    "memory_vector": "made by an embedding model",
    "memory_code": "made of vectors",
    "name_vector": "made by an embedding model",
    "name_code": "made of vectors",
}
"""Tables that a copy does not take, each with what it is made of."""

KEPT: Final = ("context", "edge", "examined")
"""What of ``meta`` a copy takes: what rules know of the graph, the last id of an edge, and the last
name that a pass has looked at."""

LEFT: Final = {
    "settled": "goes with open_pair",
    "indexed": "goes with the keys of names",
    "words": "goes with the words of names",
    "space": "goes with the vectors",
}
"""What of ``meta`` a copy does not take, and why."""


def unsound(why: str) -> Invalid:
    """The error for rows that are no graph."""
    return Invalid(
        "unsound_copy",
        f"What is to be copied is no sound graph: {why}. Nothing was taken; check the graph it "
        "comes from (enfold check), then export it again.",
    )
