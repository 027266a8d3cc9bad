"""What mem0 gives out: memories with an owner, and relations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from enfold.formats import mem0
from enfold.formats.source import opened
from enfold.intake import intake
from enfold.model import EntityRecord, Note, Record, RelationRecord, SetAside
from enfold.store import open_store

MEMORY = {
    "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
    "memory": "Likes hiking on weekends",
    "hash": "c9f5",
    "metadata": {"category": "hobbies"},
    "created_at": "2025-07-26T10:29:36.630547-07:00",
    "updated_at": None,
    "user_id": "alice",
    "agent_id": "coach",
}
RELATION = {
    "source": "alice",
    "source_type": "person",
    "relationship": "lives_in",
    "target": "Seattle",
    "target_type": "city",
    "score": 0.92,
}


def head(text: str) -> bytes:
    return text.encode()[:65536]


def read(path: Path, text: str | bytes) -> list[Record]:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with opened(path) as source:
        assert mem0.recognises(source.head, path)
        return list(mem0.read(source))


def told(found: list[Record]) -> list[tuple[str, ...]]:
    """Entities as (name, type, observation), relations as (subject, predicate, object)."""
    said: list[tuple[str, ...]] = []
    for one in found:
        if isinstance(one, EntityRecord):
            said.append((one.name, one.type or "", *one.observations))
        elif isinstance(one, RelationRecord):
            said.append((one.subject, one.predicate, one.object))
    return said


HIKES = ("alice", "person", "Likes hiking on weekends")
LIVES = [("alice", "person"), ("Seattle", "city"), ("alice", "lives_in", "Seattle")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (json.dumps([MEMORY]), [HIKES]),
        (json.dumps([MEMORY], indent=2), [HIKES]),
        (json.dumps({"results": [MEMORY], "relations": [RELATION]}), [HIKES, *LIVES]),
        (json.dumps({"results": [MEMORY], "relations": [RELATION]}, indent=1), [HIKES, *LIVES]),
        (json.dumps({"relations": [RELATION], "results": [MEMORY]}), [*LIVES, HIKES]),
        (json.dumps({"results": [], "relations": [RELATION]}), LIVES),
        (json.dumps({"count": 1, "next": None, "previous": None, "results": [MEMORY]}), [HIKES]),
        (json.dumps({"memories": [MEMORY]}), [HIKES]),
        (f"{json.dumps(MEMORY)}\n" * 2, [HIKES, HIKES]),
        (json.dumps(MEMORY), [HIKES]),
        (f"{json.dumps({'results': [MEMORY]})}\n" * 2, [HIKES, HIKES]),
        (
            json.dumps(
                [{"id": "1", "payload": {"data": "Likes tea", "user_id": "bo", "hash": "x"}}]
            ),
            [("bo", "person", "Likes tea")],
        ),
        (
            json.dumps({"results": [{"id": "1", "memory": "m", "agent_id": "coach"}]}),
            [("coach", "agent", "m")],
        ),
        (
            json.dumps({"results": [{"id": "1", "memory": "m", "metadata": {"run_id": "r1"}}]}),
            [("r1", "session", "m")],
        ),
        (json.dumps({"results": [{"id": "1", "memory": "m"}]}), [("user", "person", "m")]),
        (
            json.dumps(
                {
                    "results": [MEMORY],
                    "relations": {
                        "added_entities": [
                            [{"source": "alice", "relationship": "has", "destination": "a dog"}]
                        ],
                        "deleted_entities": [],
                    },
                }
            ),
            [HIKES, ("alice", "has", "a dog")],
        ),
        (
            json.dumps(
                {
                    "results": [MEMORY],
                    "entities": [{"id": "e1", "name": "Seattle", "type": "city"}],
                }
            ),
            [HIKES, ("Seattle", "city")],
        ),
    ],
)
def test_every_shape_is_read(tmp_path: Path, text: str, said: list[tuple[str, ...]]) -> None:
    assert told(read(tmp_path / "m.json", text)) == said


OPEN_MEMORY: dict[str, Any] = {
    "user": {"id": "6f1c", "user_id": "alice", "name": "Alice Liddell", "email": None},
    "apps": [{"id": "a1", "name": "cursor"}],
    "categories": [{"id": "c1", "name": "hobbies"}],
    "memories": [
        {"id": "1", "user_id": "6f1c", "app_id": "a1", "content": "Likes tea", "state": "active"},
        {"id": "2", "user_id": "6f1c", "content": "Gone", "state": "deleted"},
    ],
    "memory_categories": [{"memory_id": "1", "category_id": "c1"}],
    "export_meta": {"version": "1"},
}


def test_an_openmemory_export_is_of_the_user_it_names(tmp_path: Path) -> None:
    found = read(tmp_path / "m.json", json.dumps(OPEN_MEMORY, indent=2))
    assert told(found) == [("Alice Liddell", "person", "Likes tea")]
    (aside,) = [one for one in found if type(one) is SetAside]
    assert aside.reason == "The memory was deleted there."
    lines = [
        {"id": "1", "content": "Likes tea", "metadata": {}, "state": "active", "app": "cursor"},
        {"id": "2", "content": "Likes rain", "metadata": {}, "state": "paused", "app": None},
    ]
    found = read(tmp_path / "m.jsonl", "".join(json.dumps(one) + "\n" for one in lines))
    assert [one[2] for one in told(found)] == ["Likes tea", "Likes rain"]
    assert any("name no owner" in one.reason for one in found if isinstance(one, Note))


def test_a_score_is_the_confidence_and_what_else_is_said_stays(tmp_path: Path) -> None:
    more = {**RELATION, "id": 7, "note": "n\ud800"}
    found = read(tmp_path / "m.json", json.dumps({"results": [MEMORY], "relations": [more]}))
    (relation,) = [one for one in found if isinstance(one, RelationRecord)]
    assert (relation.confidence, relation.attributes) == (0.92, {"id": 7, "note": "n\ufffd"})


def test_a_note_says_what_has_no_place(tmp_path: Path) -> None:
    (note,) = [one for one in read(tmp_path / "m", json.dumps([MEMORY])) if isinstance(one, Note)]
    assert note.text == "created_at of 1, hash of 1, id of 1, metadata of 1"


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"entity","name":"Alice","entityType":"person","observations":["x"]}',
        '{"entities":[{"name":"a","entityType":"b"}],"relations":[{"from":"a","to":"b"}]}',
        '[{"name":"a","entityType":"b","memory":"x"}]',
        '{"results":{"bindings":[{"memory":1}]}}',
        '{"results":[{"title":"x","url":"y"}]}',
        '{"results":[]}',
        '{"memories":[{"title":"x"}]}',
        "[1, 2]",
        "[]",
        "memory,user_id\nx,y\n",
        "{",
    ],
)
def test_what_is_of_another_kind_is_not_taken_for_it(text: str) -> None:
    assert not mem0.recognises(head(text))


@pytest.mark.parametrize(
    ("piece", "why"),
    [
        ({"id": "1", "memory": "", "user_id": "a"}, "has no text"),
        ({"id": "1", "memory": None, "user_id": "a"}, "has no text"),
        ({"id": "1", "memory": {"x": 1}}, "has no text"),
        ({"id": "1", "memory": "x", "event": "DELETE"}, "was deleted"),
        (5, "is no memory"),
    ],
)
def test_a_broken_memory_costs_itself_alone(tmp_path: Path, piece: Any, why: str) -> None:
    found = read(tmp_path / "m.json", json.dumps([MEMORY, piece, MEMORY]))
    assert told(found) == [HIKES, HIKES]
    (aside,) = [one for one in found if type(one) is SetAside]
    assert why in aside.reason


@pytest.mark.parametrize(
    "piece",
    [
        {"source": "a", "target": "b"},
        {"source": "", "relationship": "r", "target": "b"},
        {"source": "a", "relationship": "r", "target": None},
    ],
)
def test_a_broken_relation_costs_itself_alone(tmp_path: Path, piece: Any) -> None:
    text = json.dumps({"results": [MEMORY], "relations": [piece, RELATION]})
    found = read(tmp_path / "m.json", text)
    assert told(found) == [HIKES, *LIVES]
    assert sum(type(one) is SetAside for one in found) == 1


def test_a_file_cut_off_keeps_what_came_before(tmp_path: Path) -> None:
    whole = json.dumps({"results": [MEMORY, MEMORY, MEMORY]})
    found = read(tmp_path / "m.json", whole[:-60])
    assert told(found) == [HIKES, HIKES]
    assert any(type(one) is SetAside for one in found)


def test_bytes_that_are_no_text_cost_their_line(tmp_path: Path) -> None:
    line = json.dumps(MEMORY).encode()
    found = read(
        tmp_path / "m.jsonl", line + b"\n" + line.replace(b"hiking", b"hi\xff") + b"\n" + line
    )
    assert told(found) == [HIKES, HIKES]


def test_nesting_without_end_is_set_aside(tmp_path: Path) -> None:
    deep = '{"id":"1","memory":"x","metadata":' + "[" * 5000 + "]" * 5000 + "}"
    found = read(tmp_path / "m.json", f"[{json.dumps(MEMORY)},{deep}]")
    assert told(found) == [HIKES]


def test_what_no_text_can_hold_is_replaced(tmp_path: Path) -> None:
    found = read(tmp_path / "m.json", '[{"id":"1","memory":"a\\u0000\\ud800","user_id":"b"}]')
    assert told(found) == [("b", "person", "a\ufffd\ufffd")]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    texts=st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1),
        min_size=1,
        max_size=5,
    ),
    owner=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1),
    indent=st.none() | st.just(2),
)
def test_every_text_comes_in_as_it_is(
    tmp_path: Path, texts: list[str], owner: str, indent: int | None
) -> None:
    every = [{"id": str(n), "memory": text, "user_id": owner} for n, text in enumerate(texts)]
    found = read(tmp_path / "m.json", json.dumps({"results": every}, indent=indent))
    assert told(found) == [(owner, "person", text) for text in texts]


def test_memories_come_into_a_graph_as_observations_of_their_owner(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"results": [MEMORY], "relations": [RELATION]}))
    store = open_store(":memory:")
    with store.write() as tx, opened(path) as source:
        done = intake(tx, mem0.read(source), source="m.json", format="mem0")
    assert (done.entities, done.memories, done.facts, done.set_aside) == (2, 2, 1, ())
    store.close()
