"""Records of every shape, for the round trips of the formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

from hypothesis import strategies as st

from enfold.model import EntityRecord, IdentityRecord, Note, Record, RelationRecord, SetAside

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12) | (
    st.sampled_from(
        ["a;b", "a\nb", "\r\n", 'say "x"', " lead", "=1+1", '["x"]', "[]", "a\\", "true", "1", ";"]
    )
)
spelled = texts.filter(lambda text: bool(text.strip()))
few = st.sampled_from(["Acme", "Bob", "name", "a;b", "id", "Entity", "text_unit:1"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
columns = few | texts
columns |= st.sampled_from(
    [
        "human_readable_id",
        "text_unit_ids",
        "degree",
        "weight",
        "name_embedding",
        "labels",
        "description",
        "type",
        ":TYPE",
        ":LABEL",
        "enfold_more",
        "neo4j",
        "a:int",
        "uuid",
        "fact",
        "confidence",
    ]
)
attributes = st.dictionaries(columns, values | st.lists(st.integers(0, 9), max_size=20), max_size=4)
ids = st.none() | few | texts

entities = st.builds(
    EntityRecord,
    line=st.just(0),
    name=few | spelled,
    type=st.none() | few | spelled,
    observations=st.lists(texts | spelled, max_size=3).map(tuple),
    aliases=st.lists(texts, max_size=3).map(tuple),
    foreign_id=ids,
    attributes=attributes,
)
relations = st.builds(
    RelationRecord,
    line=st.just(0),
    subject=few | spelled,
    predicate=st.just("related to") | few | spelled,
    object=few | spelled,
    confidence=st.just(1.0) | st.floats(0, 1),
    text=st.none() | few | spelled,
    attributes=attributes,
    subject_id=ids,
    object_id=ids,
)
identities = st.builds(
    IdentityRecord,
    line=st.just(0),
    left=few | spelled,
    right=few | spelled,
    same=st.booleans(),
    left_id=ids,
    right_id=ids,
    why=st.none() | texts,
)
graphs = st.tuples(
    st.lists(entities, max_size=5),
    st.lists(relations, max_size=4),
    st.lists(identities, max_size=2),
).map(lambda parts: [piece for part in parts for piece in part])

_Kept = TypeVar("_Kept")


def bare(records: Iterable[Record]) -> list[Record]:
    """The records without their lines."""
    return [replace(record, line=0) for record in records]


def again(records: list[Any]) -> Callable[[], Iterable[Any]]:
    """The same records each time."""
    return lambda: iter(records)


def aside(records: Iterable[Record]) -> list[SetAside]:
    """What was set aside, notes not counted."""
    return [r for r in records if isinstance(r, SetAside) and not isinstance(r, Note)]


def notes(records: Iterable[Record]) -> list[Note]:
    """What was said besides."""
    return [r for r in records if isinstance(r, Note)]


def kept(records: Iterable[Record], kind: type[_Kept]) -> list[_Kept]:
    """The records of a kind."""
    return [r for r in records if isinstance(r, kind)]


def graphs_of(
    names: st.SearchStrategy[str],
    texts: st.SearchStrategy[str],
    *,
    aliases: st.SearchStrategy[str],
    predicates: st.SearchStrategy[str],
    attributes: st.SearchStrategy[dict[str, Any]],
    relation_attributes: st.SearchStrategy[dict[str, Any]],
) -> st.SearchStrategy[list[Any]]:
    """Records of a few entities, relations and identities, made of what a format finds hard."""
    ids = st.none() | names
    entities = st.builds(
        EntityRecord,
        line=st.just(0),
        name=names,
        type=ids,
        observations=st.lists(texts, max_size=3).map(tuple),
        aliases=st.lists(aliases, max_size=2).map(tuple),
        foreign_id=ids,
        attributes=attributes,
    )
    relations = st.builds(
        RelationRecord,
        line=st.just(0),
        subject=names,
        predicate=predicates,
        object=names,
        confidence=st.just(1.0) | st.floats(0, 1),
        text=ids,
        attributes=relation_attributes,
        subject_id=ids,
        object_id=ids,
    )
    identities = st.builds(
        IdentityRecord,
        line=st.just(0),
        left=names,
        right=names,
        same=st.booleans(),
        left_id=ids,
        right_id=ids,
        why=ids,
    )
    return st.tuples(
        st.lists(entities, max_size=5),
        st.lists(relations, max_size=5),
        st.lists(identities, max_size=3),
    ).map(lambda parts: [piece for part in parts for piece in part])
