"""Texts to remember: files and folders of prose as documents, and JSON lines.

A line is a text as a JSON string, or an object with its ``content`` and what is known of it::

    {"content": "Ada moved to Paris.", "kind": "fact", "source": "chat", "id": "m-12"}

Keys: content, kind, title, source, source_tag, area, topic, agent, sealed_for, id (the caller's),
created_at, mentions (names, or objects of name and type), facts (lists or objects of subject,
predicate and object), read.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from enfold.errors import Invalid
from enfold.formats.source import STDIN, Source, opened
from enfold.formats.values import Value, as_line, in_lines
from enfold.model import Kind, NameInText, RelationInText, SetAside, Text
from enfold.remember import LONGEST, LONGEST_DOCUMENT, SOURCE, checked

PROSE: Final = (".md", ".markdown", ".mdx", ".txt", ".text", ".rst", ".adoc", ".org")
LINES: Final = (".jsonl", ".ndjson")
"""What is taken of a folder, by the end of a file's name."""

_PLAIN: Final = ("content", "kind", "title", "source", "source_tag", "area", "topic", "agent")
_KEYS: Final = (
    *_PLAIN,
    "sealed_for",
    "id",
    "caller_id",
    "created_at",
    "mentions",
    "facts",
    "read",
)


def texts(path: str | os.PathLike[str], like: Text) -> Iterator[Text | SetAside]:
    """The texts of a file, of a folder, or of what comes in (``-``).

    A file of prose is one document, known by its path: taken again, it is the next version where
    it was changed. In a folder what begins with a dot is passed over.

    Args:
        like: what to say of each text where it does not say so itself. Without a ``kind`` a file is
            a document, and a line a fact.

    Raises:
        Invalid: ``no_such_file``, ``no_texts``, ``one_id``, or it can't be read.
    """
    where = Path(STDIN if os.fspath(path) == "-" else path)
    if not where.is_dir():
        yield from _file(where, like)
        return
    if like.caller_id is not None:
        raise _one_id(str(where))
    found = False
    for file in _files(where):
        found = True
        if isinstance(file, SetAside):
            yield file
            continue
        try:
            yield from _file(file, like)
        except Invalid as error:
            yield SetAside(str(file), 0, str(error), "")
    if not found:
        ends = ", ".join((*PROSE, *LINES))
        raise Invalid("no_texts", f"{where} holds no file of text (a name with {ends}).")


def _one_id(name: str) -> Invalid:
    return Invalid(
        "one_id",
        f"{name} holds texts, and an id names one of them. Give lines an id each, as their "
        '"id"; files are known by their paths.',
    )


def _files(folder: Path) -> Iterator[Path | SetAside]:
    """The files of text in a folder, and what can't be: a folder that can't be entered, a name
    that is no file, such as a pipe that nobody may ever write to."""
    closed: list[OSError] = []
    for here, folders, names in os.walk(folder, onerror=closed.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.lower().endswith((*PROSE, *LINES)) or name.startswith("."):
                continue
            file = Path(here) / name
            if file.exists() and not file.is_file():
                yield SetAside(str(file), 0, "It is no file but a pipe, socket or device.", "")
            else:
                yield file
    for error in closed:
        why = error.strerror or type(error).__name__
        yield SetAside(str(error.filename), 0, f"The folder can't be read: {why}.", "")


def _file(where: Path, like: Text) -> Iterator[Text | SetAside]:
    try:
        with opened(where) as source:
            if _in_lines(where, source):
                yield from _lines(source, like)
            else:
                yield from _fit(str(where), 0, _document(where, source, like), "")
    except Invalid as error:
        raise _binary(where, error) if error.code == "binary_file" else error from None


def _binary(where: Path, error: Invalid) -> Invalid:
    """What is no text, with what is taken here: the error names the formats of graphs."""
    what = str(error).removeprefix(where.name).partition(". ")[0].partition("; ")[0]
    prose, lines = ", ".join(PROSE), ", ".join(LINES)
    return Invalid(
        "binary_file",
        f"{where.name}{what}. Texts are remembered from prose ({prose} and the like) and from JSON "
        f"lines ({lines}), as UTF-8, or as UTF-16 with its byte order mark. Make a text of it "
        "first.",
        path=str(where),
    )


def _in_lines(where: Path, source: Source) -> bool:
    if str(where) == STDIN:
        first = source.head.lstrip().partition(b"\n")[0]
        return first.startswith(b'{"') or _is_string(first)
    return where.name.lower().endswith(LINES)


def _is_string(line: bytes) -> bool:
    """Whether a line is a JSON string: prose may begin with a quote as well."""
    try:
        return isinstance(json.loads(line), str)
    except (ValueError, RecursionError):
        return False


def _document(where: Path, source: Source, like: Text) -> Text:
    raw = source.stream.read(4 * LONGEST_DOCUMENT + 1)
    content = raw.decode("utf-8", "replace").replace("\r\n", "\n")
    if str(where) == STDIN:
        kind = like.kind or (Kind.FACT if len(content) <= LONGEST else Kind.DOCUMENT)
        return _like(like, {"content": content.strip("\n"), "kind": kind})
    known = {
        "source": like.source or str(where),
        "caller_id": like.caller_id or _id_of(where.resolve()),
    }
    return _like(like, {"content": content, "kind": like.kind or Kind.DOCUMENT} | known)


def _id_of(place: Path) -> str:
    """What a file is known by. A path that is too long for an id, or that can't be written as one,
    by its digest: two files under one id would each be taken for a change of the other."""
    known = f"file:{place.as_posix()}"
    if known.isprintable() and len(known) <= SOURCE:
        return known
    return f"file:{hashlib.blake2b(os.fsencode(place), digest_size=16).hexdigest()}"


def _lines(source: Source, like: Text) -> Iterator[Text | SetAside]:
    if like.caller_id is not None:
        raise _one_id(source.name)
    for value in in_lines(source, _is_text):
        if isinstance(value, SetAside):
            yield value
            continue
        try:
            text = _text(value.data, like)
        except Invalid as error:
            yield SetAside(source.name, value.line, str(error), _shown(value))
            continue
        yield from _fit(source.name, value.line, text, _shown(value))


def _fit(name: str, line: int, text: Text, shown: str) -> Iterator[Text | SetAside]:
    """The text, if it can be stored: where it comes from is known here, and not later on."""
    try:
        checked(text)
    except Invalid as error:
        yield SetAside(name, line, str(error), shown)
        return
    yield text


def _is_text(data: Any) -> bool:
    return isinstance(data, dict) and "content" in data


def _shown(value: Value) -> str:
    return as_line(value.data)[:200]


def _text(data: Any, like: Text) -> Text:
    if isinstance(data, str):
        return _like(like, {"content": data})
    if not isinstance(data, dict) or not isinstance(data.get("content"), str):
        raise Invalid(
            "no_text", 'A line is a JSON string, or an object with its text as "content".'
        )
    if unknown := sorted(data.keys() - set(_KEYS)):
        keys = ", ".join(_KEYS)
        raise Invalid("no_text", f"{unknown[0]!r} is not known of a text; known are: {keys}.")
    said: dict[str, Any] = {
        key: _string(key, value)
        for key, value in data.items()
        if key not in ("id", "mentions", "facts", "read") and value is not None
    }
    if "id" in data:
        said["caller_id"] = _string("id", data["id"])
    if data.get("read") is not None:
        said["read"] = _flag("read", data["read"])
    said["mentions"] = tuple(_mention(one) for one in _list("mentions", data))
    said["facts"] = tuple(_fact(one) for one in _list("facts", data))
    return _like(like, said)


def _string(key: str, value: Any) -> str:
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    raise Invalid("no_text", f'The "{key}" of a text is a string.')


def _flag(key: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise Invalid("no_text", f'The "{key}" of a text is true or false, without quotes.')


def _list(key: str, data: dict[str, Any]) -> list[Any]:
    value = data.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Invalid("no_text", f'The "{key}" of a text are a list.')
    return value


def _mention(one: Any) -> NameInText:
    if isinstance(one, str):
        return NameInText(one)
    if isinstance(one, dict) and isinstance(one.get("name"), str):
        kind = one.get("type")
        if kind is None or isinstance(kind, str):
            return NameInText(one["name"], kind)
    raise Invalid("no_text", 'A mention is a name, or an object with a "name" and a "type".')


def _fact(one: Any) -> RelationInText:
    parts = (
        [one.get(k) for k in ("subject", "predicate", "object")] if isinstance(one, dict) else one
    )
    if isinstance(parts, list) and len(parts) == 3 and all(isinstance(p, str) for p in parts):
        sure = one.get("confidence", 1.0) if isinstance(one, dict) else 1.0
        if isinstance(sure, int | float) and not isinstance(sure, bool) and 0 <= sure <= 1:
            return RelationInText(parts[0], parts[1], parts[2], float(sure))
    raise Invalid(
        "no_text",
        "A fact is a list or an object of a subject, a predicate and an object, all of them texts; "
        'the "confidence" of an object is a number from 0 to 1.',
    )


def _like(like: Text, said: dict[str, Any]) -> Text:
    """A text with what is said of it, else with what is said of all."""
    fields = {name: getattr(like, name) for name in Text.__dataclass_fields__}
    fields |= {key: value for key, value in said.items() if value is not None}
    return Text(**fields | {"kind": fields["kind"] or Kind.FACT})
