"""A text is stored with the names it mentions and the facts it states, and forgotten again."""

from __future__ import annotations

from collections.abc import Sequence

from enfold import lookup
from enfold.errors import Invalid, NotFound
from enfold.model import Memory
from enfold.names import Name
from enfold.ports import Tx

StatedFact = tuple[str, str, str]
"""(subject, predicate, object), all as written."""


def remember(
    tx: Tx,
    content: str,
    *,
    mentions: Sequence[str | Name] = (),
    facts: Sequence[StatedFact] = (),
    source: str | None = None,
    caller_id: str | None = None,
) -> Memory:
    """Store a text. A name leads to the entity it is known as, or makes one.

    Args:
        caller_id: the caller's own id of the text; one that is known is not stored again.

    Raises:
        Invalid: a blank text or name.
        Conflict: ``ambiguous``: a name fits several entities.
    """
    if not content.strip():
        raise Invalid("blank_memory", "The memory is blank; give it a text.")
    known = tx.edges.memory_by_caller(caller_id) if caller_id else None
    if known is not None:
        return known
    memory_id = tx.edges.add_memory(content, source=source, caller_id=caller_id)
    for mention in mentions:
        name = mention if isinstance(mention, Name) else Name.of(mention)
        row, _ = lookup.mint(tx, name)
        tx.edges.mention(memory_id, row.id, name.spelling)
    for subject, predicate, target in facts:
        ends = [lookup.mint(tx, Name.of(end))[0].id for end in (subject, target)]
        tx.edges.fact(memory_id, ends[0], predicate, ends[1])
    memory = tx.edges.memory(memory_id)
    assert memory is not None
    return memory


def forget(tx: Tx, memory_id: int) -> None:
    """Delete a memory with its mentions and facts; entities stay.

    Raises:
        NotFound: ``no_memory``.
    """
    if tx.edges.memory(memory_id) is None:
        raise NotFound("no_memory", f"There is no memory {memory_id}.")
    tx.edges.delete_memory(memory_id)
