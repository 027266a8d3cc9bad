"""What a graph is told in a test, bare: no rule speaks and nothing is read out of the text."""

from __future__ import annotations

from collections.abc import Sequence

from enfold import Graph, Memory, Name, lookup


def told(
    graph: Graph,
    content: str,
    *,
    mentions: Sequence[str | Name] = (),
    facts: Sequence[tuple[str, str, str]] = (),
    source: str | None = None,
    caller_id: str | None = None,
) -> Memory:
    """Store a memory with its mentions and facts, as an import does."""
    with graph._store.write() as tx:
        memory_id = tx.memories.add(content, source=source, caller_id=caller_id)
        for mention in mentions:
            name = mention if isinstance(mention, Name) else Name.of(mention)
            row, _ = lookup.mint(tx, name)
            tx.edges.mention(memory_id, row.id, name.spelling)
        for subject, predicate, target in facts:
            ends = [lookup.mint(tx, Name.of(end))[0].id for end in (subject, target)]
            tx.edges.fact(memory_id, ends[0], predicate, ends[1])
        memory = tx.memories.get(memory_id)
    assert memory is not None
    return memory
