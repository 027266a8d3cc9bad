"""Questions with their evidence, for the gate: JSON lines, or a document as LoCoMo has it.

A line is an object::

    {"question": "Who runs the ingest worker?", "evidence": ["m-12", "m-31"], "agent": "scout"}

A document is an object with such questions in a list ``qa``, or a list of such objects. Where it
holds several conversations their ids begin anew in each: the evidence ``D1:3`` of the conversation
``conv-26`` (its ``sample_id``) is then the memory whose caller's id is ``conv-26:D1:3``.

All is read, or nothing: a gate that passes over a question it can't read proves nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from enfold.errors import Invalid
from enfold.formats.source import Source, opened
from enfold.formats.values import Value, in_document, in_lines, loaded, top
from enfold.gate import Question
from enfold.model import SetAside
from enfold.recall import LONGEST, checked

MOST: Final = 100_000
"""Questions of one file. The largest public sets have a few thousand."""

LIST: Final = "qa"
"""The list of a conversation that holds its questions."""

_KEYS: Final = ("question", "evidence", "agent")
_TURNS: Final = re.compile(r"D\d+:\d+(?:[\s,;]+D\d+:\d+)+")
"""Several turns of a conversation in one text, as some evidence of LoCoMo is written."""


@dataclass(frozen=True, slots=True)
class _Said:
    """A question as read, and the conversation it stands in."""

    question: Question
    conversation: str | None


def read(path: str | os.PathLike[str]) -> tuple[Question, ...]:
    """The questions of a file, or of what comes in (``-``). Keys that are not known are passed
    over: such files also hold answers, which no gate reads.

    Raises:
        Invalid: ``bad_question``: a line can't be read, or the file holds too many;
            ``no_questions``: there is none; and what ``source.opened`` raises.
    """
    with opened(path) as source:
        said: list[_Said] = []
        for one in _said(source):
            said.append(one)
            if len(said) > MOST:
                raise Invalid(
                    "bad_question", f"{source.name} has more than {MOST:,} questions; split it."
                )
        if not said:
            raise Invalid(
                "no_questions",
                f'{source.name} holds no question: an object with a "question" and its "evidence".',
            )
    several = len({one.conversation for one in said}) > 1
    return tuple(_within(one) if several else one.question for one in said)


def _within(said: _Said) -> Question:
    one = said.question
    if said.conversation is None:
        return one
    ids = tuple(f"{said.conversation}:{id}" for id in one.evidence)
    return Question(one.question, ids, one.agent, one.line)


def _said(source: Source) -> Iterator[_Said]:
    """Every question. One object with a list ``qa`` comes in parts, which are put together."""
    loose: list[Question] = []
    conversation: str | None = None
    for value in _values(source):
        if isinstance(value, SetAside):
            raise _bad(source, value.line, value.reason)
        if value.key == LIST:
            loose.append(_question(source, value, value.data))
        elif value.key:
            if value.key == "sample_id" and isinstance(value.data, str):
                conversation = value.data
        elif isinstance(value.data, dict) and LIST in value.data:
            yield from _conversation(source, value)
        else:
            yield _Said(_question(source, value, value.data), None)
    yield from (_Said(question, conversation) for question in loose)


def _values(source: Source) -> Iterator[Value | SetAside]:
    text = source.head.decode("utf-8", "replace").lstrip()
    if text.startswith("[") or _is_one_object(text):
        return in_document(source, lambda key: key in ("", LIST), _is_question)
    return in_lines(source, _is_question)


def _is_one_object(text: str) -> bool:
    """Whether the file is one conversation, written over many lines."""
    if not text.startswith("{") or "\n" not in text:
        return False
    try:
        loaded(text.split("\n", 1)[0])
    except ValueError:
        return LIST in top(text) or "question" not in top(text)
    return False


def _is_question(data: Any) -> bool:
    return isinstance(data, dict) and ("question" in data or LIST in data)


def _conversation(source: Source, value: Value) -> Iterator[_Said]:
    questions, name = value.data[LIST], value.data.get("sample_id")
    if not isinstance(questions, list):
        raise _bad(source, value.line, f'"{LIST}" is no list.')
    for one in questions:
        yield _Said(_question(source, value, one), name if isinstance(name, str) else None)


def _question(source: Source, value: Value, data: Any) -> Question:
    if not isinstance(data, dict) or not isinstance(data.get("question"), str):
        raise _bad(source, value.line, 'A question is an object with its text as "question".')
    text, agent = data["question"], data.get("agent")
    try:
        checked(text)
    except Invalid as error:
        raise _bad(source, value.line, str(error)) from None
    if agent is not None and not isinstance(agent, str):
        raise _bad(source, value.line, '"agent" is the name of who asks.')
    return Question(text, _evidence(source, value, data.get("evidence")), agent, value.line)


def _evidence(source: Source, value: Value, said: Any) -> tuple[str, ...]:
    """Ids as texts, each once; none where the question names none."""
    listed = said if isinstance(said, list) else [] if said is None else [said]
    ids: list[str] = []
    for one in listed:
        if isinstance(one, bool) or not isinstance(one, str | int) or len(str(one)) > LONGEST:
            raise _bad(source, value.line, '"evidence" is a list of ids.')
        id = str(one).strip()
        ids += re.findall(r"D\d+:\d+", id) if _TURNS.fullmatch(id) else [id] if id else []
    return tuple(dict.fromkeys(ids))


def _bad(source: Source, line: int, why: str) -> Invalid:
    keys = ", ".join(f'"{key}"' for key in _KEYS)
    return Invalid(
        "bad_question",
        f"Line {line} of {source.name} can't be read as a question ({keys}): {why} Nothing was "
        "asked.",
        line=line,
    )
