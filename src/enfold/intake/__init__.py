"""A graph from elsewhere, piece by piece, into memories, entities and facts.

What becomes of a record:

- an entity's name leads to its row, or mints one; names lead through their rows, so that folds,
  renames and decisions made since stand. Under trusted ids a name has a row for each id
- each observation becomes a memory that mentions its entity first, then every other known name in
  its text
- each relation becomes a memory with one fact between its ends, found by the source's own ids
  first; an end that nothing else names is minted, and listed
- an alias that nothing else is called becomes an alias of its entity
- what the source says is one is folded, what it says are two is settled apart, never against a
  decision or a fold that is here

Everything is told from what was there: one observation of one entity is stored once, whoever brings
it how often. Nothing is folded by a rule, and what can't be taken is kept with the run.
"""

from __future__ import annotations

from collections.abc import Iterable

from enfold.intake import aliases, entities, identities, mentions, relations
from enfold.intake.aliases import ALIAS_IDS
from enfold.intake.later import Later
from enfold.intake.relations import RELATED, statement
from enfold.intake.run import RELATION_TAG, TAG, Run
from enfold.model import Imported, Record
from enfold.ports import Progress, Tx


def intake(
    tx: Tx,
    records: Iterable[Record],
    *,
    source: str,
    format: str,
    trust_ids: bool = False,
    progress: Progress | None = None,
    keep: int = 1_000,
) -> Imported:
    """Take the records of one file into the graph.

    Args:
        tx: a write transaction; all or nothing of the file is in it.
        source: the file's name, kept as each memory's source.
        format: the name of the format it was read as.
        trust_ids: let two entities of one name with different ids stay two; else the first id of a
            name is kept, and another noted.
        progress: called with ("entities" | "relations" | "mentions", done, total or 0).
        keep: how many notes and how many pieces set aside the answer lists, their texts cut to
            200 characters; all of them are kept whole with the run.
    """
    run = Run(tx, source, progress, keep, trust_ids)
    with Later.opened() as later:
        entities.take(run, records, later)
        aliases.take(run, later)
        relations.take(run, later)
        mentions.take(run)
        identities.take(run, later)
    return run.finish(format)


__all__ = ["ALIAS_IDS", "RELATED", "RELATION_TAG", "TAG", "intake", "statement"]
