"""JSON-LD: linked data with the vocabularies that say what is one thing and what is not.

``context`` expands what is read, so that terms mean what they stand for; nothing is ever fetched.
``owl:sameAs`` and ``owl:differentFrom`` become identities, labels names and aliases, descriptions
observations, properties that lead to a thing relations, all others attributes under their full IRI:
``iris`` lists them, ``things`` makes the records.

What is written (``written``) has its context inside. Where a record would not come back exactly as
it was, the difference stands under ``urn:enfold:exact``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from enfold.errors import Invalid
from enfold.formats.held import Held
from enfold.formats.jsonld.context import Remote, expand, load, refuse_remote
from enfold.formats.jsonld.iris import EXACT, PAGES, STATED, STATEMENT, end_of, local_name
from enfold.formats.jsonld.things import (
    Reference,
    Stated,
    between,
    entity,
    exact_of,
    flat,
    says_something,
    stated_by,
)
from enfold.formats.jsonld.written import lines
from enfold.formats.remainder import restored
from enfold.formats.source import Source
from enfold.formats.values import TOKEN, Value, as_text, in_document, storable_value
from enfold.model import EntityRecord, Note, Record, SetAside

NAME: Final = "jsonld"

BATCH_ELEMENTS: Final = 256
BATCH_CHARACTERS: Final = 256 * 1024
"""Elements that are expanded in one go; the characters are more where the context has more."""

_KEYWORDS: Final = frozenset({"@context", "@graph", "@id"})
_LOOKED_AT: Final = 64 * 1024


# ---- what a file is ----


def recognises(head: bytes, path: Path | None = None) -> bool:
    """Whether the first object of a JSON text has a context, a graph or an id of JSON-LD."""
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if not text.startswith(("{", "[")):
        return False
    level = 2 if text.startswith("[") else 1
    depth, last = 0, ""
    for match in TOKEN.finditer(text[:_LOOKED_AT]):
        token = match.group()
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
            if depth <= level - 1 and token == "}":
                return False
        elif depth == level and token == ":" and last in _KEYWORDS:
            return True
        last = match.group(1) or ""
    return False


# ---- reading ----


def read(source: Source) -> Iterator[Record]:
    """The records of a file: entities as they come, those without a label and all relations behind
    them, identities last.

    Ids and the names they stand for are held, some 150 bytes each, and what waits is on disk.

    Raises:
        Invalid: ``remote_context`` or ``bad_context``.
    """
    with Held() as early, Held() as unnamed, Held() as stated:
        yield from _Reader(source.name, early, unnamed, stated).records(source)


class _Reader:
    def __init__(self, name: str, early: Held, unnamed: Held, stated: Held) -> None:
        self._name, self._early, self._unnamed, self._stated = name, early, unnamed, stated
        self._context: Any = None
        self._size = 0
        self._language = ""
        self._has_context = False
        self._top: dict[str, Any] = {}
        self._top_line = 1
        self._batch: list[tuple[int, Any, str]] = []
        self._batched = 0
        self._names: dict[str, str] = {}
        self._only_stated: set[tuple[Reference, str, Reference]] = set()

    def records(self, source: Source) -> Iterator[Record]:
        for value in in_document(source, lambda key: key == "@graph", _may_be_thing):
            if isinstance(value, SetAside):
                yield value
            else:
                yield from self._value(value)
        yield from self._document_ends()
        yield from self._later()

    # ---- documents ----

    def _value(self, value: Value) -> Iterator[Record]:
        data, notes = storable_value(self._name, value)
        yield from notes
        if value.key == "@graph":
            if self._has_context:
                yield from self._element(value.line, data, value.text)
            else:
                self._early.add([value.line, data, value.text])
        elif not value.key:
            if isinstance(data, dict):
                yield from self._element(value.line, data, value.text)
            else:
                yield self._aside(value.line, "It is no object of JSON-LD.", value.text)
        else:
            if value.key in self._top or (value.key == "@context" and self._has_context):
                yield from self._document_ends()
            if value.key == "@context":
                self._take_context(data, len(value.text))
            else:
                self._top_line = self._top_line if self._top else value.line
                self._top[value.key] = data

    def _take_context(self, context: Any, size: int) -> None:
        parts = context if isinstance(context, list) else [context]
        try:
            for part in parts:
                if isinstance(part, str):
                    load(part)
            expand([], context)
        except Remote as remote:
            raise refuse_remote(self._name, str(remote)) from None
        except ValueError as error:
            raise Invalid(
                "bad_context",
                f'The context of {self._name} can\'t be used: {error}. Mend it under "@context".',
                path=self._name,
            ) from None
        self._context, self._size, self._has_context = context, size, True
        said = [part.get("@language") for part in parts if isinstance(part, dict)]
        self._language = next((one.lower() for one in reversed(said) if isinstance(one, str)), "")

    def _document_ends(self) -> Iterator[Record]:
        for line, data, text in self._early:
            yield from self._element(line, data, text)
        self._early.clear()
        if self._top.keys() - {"@id", "@index"}:
            yield from self._element(self._top_line, self._top, as_text(self._top))
        yield from self._flush()
        self._top, self._context, self._has_context = {}, None, False

    # ---- elements ----

    def _element(self, line: int, data: Any, text: str) -> Iterator[Record]:
        self._batch.append((line, data, text))
        self._batched += len(text)
        full = self._batched > max(BATCH_CHARACTERS, 8 * self._size)
        if full or len(self._batch) >= max(BATCH_ELEMENTS, self._size // 64):
            yield from self._flush()

    def _flush(self) -> Iterator[Record]:
        """Expand what has gathered, in one go where that tells which came from where."""
        batch, self._batch, self._batched = self._batch, [], 0
        marked = [
            data | {"@index": str(at)} if isinstance(data, dict) and _markable(data) else None
            for at, (_, data, _) in enumerate(batch)
        ]
        found: dict[int, list[dict[str, Any]]] = {}
        if len(batch) > 1 and None not in marked:
            try:
                for node in expand(marked, self._context):
                    found.setdefault(int(node["@index"]), []).append(node)
            except (Remote, ValueError, KeyError):
                found = {}
        for at, (line, data, text) in enumerate(batch):
            nodes = found.get(at)
            if nodes is None:
                try:
                    nodes = expand(data, self._context)
                except Remote as remote:
                    why = f"Its context is at {str(remote)[:200]}, and nothing is fetched."
                    yield self._aside(line, why, text)
                    continue
                except ValueError as error:
                    yield self._aside(line, f"Not JSON-LD: {error}.", text)
                    continue
            if not nodes:
                yield self._aside(line, "It says nothing of a thing.", text)
            for node in nodes:
                yield from self._top_node(node, line, text)

    def _aside(self, line: int, why: str, text: str) -> SetAside:
        return SetAside(self._name, line, why, text)

    def _top_node(self, node: dict[str, Any], line: int, text: str) -> Iterator[Record]:
        node.pop("@index", None)
        if "@value" in node or "@list" in node:
            yield self._aside(line, "A value that no thing has.", text)
            return
        made: list[Record] = []
        if self._node(node, line, made) is None and not made and node.keys() - {"@graph"}:
            yield self._aside(line, "The thing has neither an id nor a label.", text)
        yield from made

    def _node(self, node: dict[str, Any], line: int, out: list[Record]) -> Reference | None:
        """Take a thing in: what is said of it goes to ``out``, what it is linked to waits. The
        reference to it, or None where it is no thing that can be spoken of."""
        for inner in (*node.get("@graph", ()), *node.get("@included", ())):
            if isinstance(inner, dict) and "@value" not in inner:
                self._node(inner, line, out)
        if STATEMENT in node.get("@type", ()) and self._reified(node, line, None, out):
            return None
        id_ = node.get("@id")
        record = entity(node, line, self._language)
        if id_ is None and not record.name:
            return None
        me: Reference = (id_, None) if id_ is not None else (None, record.name)
        exact = exact_of(node)
        if exact is not None:
            record = self._mended(record, exact, out)
        if record.name or exact is not None:
            if id_ is not None:
                self._names.setdefault(id_, record.name)
            out.append(record)
        elif says_something(record):
            self._unnamed.add([id_, asdict(record)])
        self._links(node, me, line, out)
        return me

    def _mended(self, record: Any, exact: str, out: list[Record]) -> Any:
        try:
            return restored(record, exact)
        except ValueError as error:
            why = f"What stands under {EXACT} {error}; it is left out."
            out.append(Note(self._name, record.line, why, exact))
            return record

    def _links(self, node: dict[str, Any], me: Reference, line: int, out: list[Record]) -> None:
        plain: list[Stated] = []
        for iri, values in node.items():
            if iri.startswith("@") or iri in PAGES:
                continue
            for value in flat(values):
                other = self._end(value, line, out)
                if other is not None:
                    plain.append(Stated(line, me, iri, other))
        reified = []
        for iri, values in node.get("@reverse", {}).items():
            for value in values:
                if iri == STATED[0] and STATEMENT in value.get("@type", ()):
                    said = self._reified(value, line, me, out)
                    if said is not None:
                        reified.append(said)
                    continue
                other = self._end(value, line, out)
                if other is not None:
                    plain.append(Stated(line, other, iri, me))
        # A statement about a relation that stands beside it is that relation.
        told = Counter((said.subject, said.iri, said.object) for said in reified)
        for one in plain:
            key = (one.subject, one.iri, one.object)
            if told[key] > 0:
                told[key] -= 1
                self._only_stated.discard(key)
            else:
                self._wait(one)

    def _end(self, value: Any, line: int, out: list[Record]) -> Reference | None:
        """The thing that a value is, taken in where it is told more of it; None for a literal."""
        if not isinstance(value, dict) or "@value" in value:
            return None
        if value.keys() == {"@id"}:
            return value["@id"], None
        return self._node(value, line, out)

    def _reified(
        self, node: dict[str, Any], line: int, subject: Reference | None, out: list[Record]
    ) -> Stated | None:
        """A statement about a relation, which waits; None where it lacks one of its parts."""
        ends = []
        for part in STATED:
            values = flat(node.get(part, []))
            one = values[0] if len(values) == 1 and isinstance(values[0], dict) else {}
            ends.append(self._end(one, line, out) if one else None)
        first = subject or ends[0]
        if first is None or ends[1] is None or ends[1][0] is None or ends[2] is None:
            return None
        rest = {key: values for key, values in node.items() if key not in STATED}
        rest["@type"] = [type_ for type_ in node["@type"] if type_ != STATEMENT]
        said = replace(
            stated_by(rest, line),
            subject=first,
            iri=ends[1][0],
            object=ends[2],
            exact=exact_of(node),
            reified=True,
        )
        self._wait(said)
        if subject is None:
            self._only_stated.add((said.subject, said.iri, said.object))
        return said

    def _wait(self, said: Stated) -> None:
        self._stated.add(asdict(said))

    # ---- what waited ----

    def _later(self) -> Iterator[Record]:
        for id_, said in self._unnamed:
            name = self._names.get(id_) or local_name(id_)
            said["observations"], said["aliases"] = (
                tuple(said["observations"]),
                tuple(said["aliases"]),
            )
            if id_.startswith("_:") and id_ not in self._names:
                why = "The thing has neither a label nor an id that outlives this file."
                yield self._aside(said["line"], why, as_text(said))
                continue
            yield EntityRecord(**said | {"name": name})
        for said in self._stated:
            ends = {end: tuple(said[end]) for end in ("subject", "object")}
            yield from self._said(Stated(**said | ends))

    def _said(self, said: Stated) -> Iterator[Record]:
        if not said.reified and (said.subject, said.iri, said.object) in self._only_stated:
            return
        out: list[Record] = []
        record: Any = between(said, self._named(said, 0), self._named(said, 1))
        if said.exact is not None:
            record = self._mended(record, said.exact, out)
        yield from out
        yield record

    def _named(self, said: Stated, at: int) -> tuple[str, str | None]:
        """(name, id) of an end."""
        id_, name = (said.subject, said.object)[at]
        if id_ is None:
            return name or "", None
        return end_of(id_, self._names.get(id_), said.iri)


def _may_be_thing(data: Any) -> bool:
    """Whether an object found in a broken text may be a thing: one of a broken context says how a
    term is to be read."""
    return (
        isinstance(data, dict)
        and data.get("@type") not in ("@id", "@vocab", "@json", "@none")
        and "@container" not in data
    )


def _markable(data: dict[str, Any]) -> bool:
    return "@index" not in data and "@context" not in data and "@graph" not in data


__all__ = ["NAME", "lines", "read", "recognises"]
