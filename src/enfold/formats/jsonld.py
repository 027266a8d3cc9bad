"""JSON-LD: linked data with the vocabularies that say what is one thing and what is not.

pyld expands what is read, element by element, so that contexts mean what their standard says;
nothing is ever fetched. ``owl:sameAs`` and ``owl:differentFrom`` become identities, labels names
and aliases, descriptions observations, properties that lead to a thing relations, all others
attributes under their full IRI.

What is written has its context inside. An entity without an IRI of its own gets one that says its
id or its name (``urn:enfold:id:``, ``urn:enfold:name:``), so that RDF tools join what belongs
together. A relation is a property, and beside it a reified statement where it carries more than
that. Where a record would not come back exactly as it was, the difference stands under
``urn:enfold:exact``.
"""

from __future__ import annotations

import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeGuard
from urllib.parse import quote, unquote

from enfold.errors import Invalid
from enfold.formats.beside import difference, is_share, patched
from enfold.formats.held import Held
from enfold.formats.source import Source
from enfold.formats.values import Value, in_document
from enfold.model import EntityRecord, IdentityRecord, Note, Record, RelationRecord, SetAside

NAME: Final = "jsonld"

Written = EntityRecord | RelationRecord | IdentityRecord

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
FOAF: Final = "http://xmlns.com/foaf/0.1/"
DCTERMS: Final = "http://purl.org/dc/terms/"
SCHEMA: Final = "http://schema.org/"
OWN: Final = "urn:enfold:"

ID, NAMED, ATTRIBUTE, PREDICATE, TYPE, TERM = (
    f"{OWN}{word}:" for word in ("id", "name", "attribute", "relation", "type", "term")
)
EXACT: Final = OWN + "exact"
CONFIDENCE: Final = OWN + "confidence"

IRI: Final = "iri"
"""The attribute that holds the full IRI of a relation's predicate."""

TYPES: Final = "@type"
LANGUAGES: Final = "@language"
"""Attributes that hold an entity's types in full, and the languages of its texts."""

SAME: Final = OWL + "sameAs"
DIFFERENT: Final = OWL + "differentFrom"
IDENTITIES: Final = (SAME, DIFFERENT)


def _schema(*names: str) -> tuple[str, ...]:
    return tuple(base + name for name in names for base in (SCHEMA, "https://schema.org/"))


LABELS: Final = (
    *(SKOS + "prefLabel", RDFS + "label", *_schema("name"), FOAF + "name"),
    *(DCTERMS + "title", "http://purl.org/dc/elements/1.1/title"),
)
"""What names a thing, the surest first."""

ALIASES: Final = (SKOS + "altLabel", SKOS + "hiddenLabel", *_schema("alternateName"))
TEXTS: Final = (
    *_schema("description"),
    *(RDFS + "comment", DCTERMS + "description", SKOS + "definition"),
)
PAGES: Final = frozenset(
    {
        *_schema("sameAs", "url", "image", "logo", "thumbnailUrl", "contentUrl"),
        *_schema("mainEntityOfPage"),
        *(FOAF + name for name in ("homepage", "page", "depiction", "img", "weblog", "mbox")),
        *(RDFS + "seeAlso", RDFS + "isDefinedBy"),
    }
)
"""Properties that lead to a page or a picture, which is no thing of the graph."""

_GENERAL: Final = frozenset(
    {OWL + "Thing", OWL + "NamedIndividual", RDFS + "Resource", *_schema("Thing")}
)
_STATEMENT: Final = RDF + "Statement"
_STATED: Final = (RDF + "subject", RDF + "predicate", RDF + "object")

BATCH_ELEMENTS: Final = 256
BATCH_CHARACTERS: Final = 256 * 1024
"""Elements that are expanded in one go; the characters are more where the context has more."""

_KEYWORDS: Final = frozenset({"@context", "@graph", "@id"})
_LOOKED_AT: Final = 64 * 1024
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|[{}\[\],:]')

# An IRI that stands in a document as itself: no blanks, no brackets, a scheme that is no term here.
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\0- <>\"{}|\\^`\x7f-\x9f\ud800-\udfff]+")
_LANGUAGE = re.compile(r"[a-z]{1,8}(?:-[a-z0-9]{1,8})*")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


# ---- what a file is ----


def recognises(head: bytes, path: Path | None = None) -> bool:
    """Whether the first object of a JSON text has a context, a graph or an id of JSON-LD."""
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if not text.startswith(("{", "[")):
        return False
    level = 2 if text.startswith("[") else 1
    depth, last = 0, ""
    for match in _TOKEN.finditer(text[:_LOOKED_AT]):
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


# ---- contexts ----


def _known_contexts() -> dict[str, Any]:
    """What the contexts of known vocabularies amount to, by their address without its scheme."""
    pages = {
        name: {"@id": SCHEMA + name, "@type": "@id"}
        for name in ("sameAs", "url", "image", "logo", "thumbnailUrl", "contentUrl")
    }
    keywords = {"id": "@id", "type": "@type"}
    made: dict[str, Any] = {
        "schema.org": {"@vocab": SCHEMA, "schema": SCHEMA, **keywords, **pages},
    }
    for prefix, base in (
        ("skos", SKOS),
        ("owl", OWL),
        ("rdfs", RDFS),
        ("foaf", FOAF),
        ("dcterms", DCTERMS),
    ):
        made[_plain(base)] = {"@vocab": base, prefix: base, **keywords}
    made["xmlns.com/foaf/context"] = made[_plain(FOAF)]
    made["schema.org/docs/jsonldcontext"] = made["schema.org"]
    made[_plain(OWL)] |= {
        "sameAs": {"@id": SAME, "@type": "@id"},
        "differentFrom": {"@id": DIFFERENT, "@type": "@id"},
    }
    return made


def _plain(address: str) -> str:
    address = re.sub(r"^https?://(?:www\.(?=schema))?", "", address.lower())
    return re.sub(r"\.json(?:ld)?$", "", address).rstrip("/#")


class _Remote(Exception):
    """A context that would have to be fetched."""


def _load(address: str, _: object) -> dict[str, Any]:
    known = _known_contexts().get(_plain(address))
    if known is None:
        raise _Remote(address)
    return {
        "contextUrl": None,
        "documentUrl": address,
        "contentType": "application/ld+json",
        "document": {"@context": known},
    }


# Terms that no context maps are kept: they become attributes and relations of their own name.
_START: Final = {"@vocab": TERM}


def _expand(data: Any, context: Any) -> list[dict[str, Any]]:
    """What the data says once every term is the IRI it stands for.

    Raises:
        _Remote: a context would have to be fetched.
        ValueError: it is no JSON-LD; its text says why.
    """
    from pyld import jsonld  # type: ignore[import-untyped]

    start = [_START, *(context if isinstance(context, list) else [context])]
    options = {
        "expandContext": [part for part in start if part is not None],
        "documentLoader": _load,
        "base": "",
    }
    dropped: set[Any] = set()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what they warn of is ignored, as the standard says
            expanded: list[dict[str, Any]] = jsonld.expand(data, options, dropped.add)
            # No IRI has a blank in it, so terms with one that no context maps would be lost.
            terms = {t.removeprefix(TERM) for t in dropped if t and t.startswith(TERM)}
            if terms:
                expanded = jsonld.expand(_renamed(data, terms), options)
    except jsonld.JsonLdError as error:
        if (address := _remote(error)) is not None:
            raise _Remote(address) from None
        raise ValueError(f"{error.args[0]}"[:200].rstrip(".")) from None
    except RecursionError:
        raise ValueError("its contexts lead into each other too deeply") from None
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(f"it is not of the form of JSON-LD ({type(error).__name__})") from None
    return expanded


def _renamed(data: Any, terms: set[str]) -> Any:
    """The data with these keys as IRIs."""
    if isinstance(data, list):
        return [_renamed(part, terms) for part in data]
    if not isinstance(data, dict):
        return data
    return {
        _quoted(key, ATTRIBUTE) if key in terms else key: _renamed(part, terms)
        for key, part in data.items()
    }


def _remote(error: BaseException | None) -> str | None:
    for _ in range(10):
        if isinstance(error, _Remote):
            return str(error)
        if error is None:
            return None
        error = getattr(error, "cause", None) or error.__cause__ or error.__context__
    return None


def _refuse_remote(name: str, address: str) -> Invalid:
    return Invalid(
        "remote_context",
        f"{name} takes its context from {address[:200]}, and nothing is fetched from a network. "
        'Put that context into the file: replace its address under "@context" by what stands '
        "there; or expand the file first, for instance with pyld.",
        path=name,
        context=address,
    )


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


_Reference = tuple[str | None, str | None]
"""(id, name) of an end; one of the two is there."""


@dataclass(frozen=True, slots=True)
class _Stated:
    """A relation or identity between ends that may be named later."""

    line: int
    subject: _Reference
    iri: str
    object: _Reference
    text: str | None = None
    confidence: float = 1.0
    attributes: dict[str, Any] | None = None
    exact: str | None = None
    reified: bool = False


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
        self._only_stated: set[tuple[_Reference, str, _Reference]] = set()

    def records(self, source: Source) -> Iterator[Record]:
        for value in in_document(source, lambda key: key == "@graph", _is_object):
            if isinstance(value, SetAside):
                yield value
            else:
                yield from self._value(value)
        yield from self._document_ends()
        yield from self._later()

    # ---- documents ----

    def _value(self, value: Value) -> Iterator[Record]:
        if value.repeated:
            why = "A key is given twice; its first value is taken, lists are joined."
            yield Note(self._name, value.line, why, value.text)
        if value.key == "@graph":
            if self._has_context:
                yield from self._element(value.line, value.data, value.text)
            else:
                self._early.add([value.line, value.data, value.text])
        elif not value.key:
            if isinstance(value.data, dict):
                yield from self._own_document(value)
            else:
                yield self._aside(value.line, "It is no object of JSON-LD.", value.text)
        else:
            if value.key in self._top or (value.key == "@context" and self._has_context):
                yield from self._document_ends()
            if value.key == "@context":
                self._take_context(value.data, len(value.text))
            else:
                self._top_line = self._top_line if self._top else value.line
                self._top[value.key] = value.data

    def _take_context(self, context: Any, size: int) -> None:
        parts = context if isinstance(context, list) else [context]
        try:
            for part in parts:
                if isinstance(part, str):
                    _load(part, None)
            _expand([], context)
        except _Remote as remote:
            raise _refuse_remote(self._name, str(remote)) from None
        except ValueError as error:
            raise Invalid(
                "bad_context",
                f'The context of {self._name} can\'t be used: {error}. Mend it under "@context".',
                path=self._name,
            ) from None
        self._context, self._size, self._has_context = context, size, True
        said = [part.get("@language") for part in parts if isinstance(part, dict)]
        self._language = next((one.lower() for one in reversed(said) if isinstance(one, str)), "")

    def _own_document(self, value: Value) -> Iterator[Record]:
        """An object of a list, which may have a context of its own."""
        yield from self._element(value.line, value.data, value.text)

    def _document_ends(self) -> Iterator[Record]:
        for line, data, text in self._early:
            yield from self._element(line, data, text)
        self._early.clear()
        if self._top.keys() - {"@id", "@index"}:
            yield from self._element(self._top_line, self._top, json.dumps(self._top))
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
                for node in _expand(marked, self._context):
                    found.setdefault(int(node["@index"]), []).append(node)
            except (_Remote, ValueError, KeyError):
                found = {}
        for at, (line, data, text) in enumerate(batch):
            nodes = found.get(at)
            if nodes is None:
                try:
                    nodes = _expand(data, self._context)
                except _Remote as remote:
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

    def _node(self, node: dict[str, Any], line: int, out: list[Record]) -> _Reference | None:
        """Take a thing in: what is said of it goes to ``out``, what it is linked to waits. The
        reference to it, or None where it is no thing that can be spoken of."""
        for inner in (*node.get("@graph", ()), *node.get("@included", ())):
            if isinstance(inner, dict) and "@value" not in inner:
                self._node(inner, line, out)
        if _STATEMENT in node.get("@type", ()) and self._reified(node, line, None, out):
            return None
        id_ = node.get("@id")
        record = _entity(node, line, self._language)
        if id_ is None and not record.name:
            return None
        me: _Reference = (id_, None) if id_ is not None else (None, record.name)
        exact = _exact(node)
        if exact is not None:
            record = self._mended(record, exact, out)
        if record.name or exact is not None:
            if id_ is not None:
                self._names.setdefault(id_, record.name)
            out.append(record)
        elif _says_something(record):
            self._unnamed.add([id_, asdict(record)])
        self._links(node, me, line, out)
        return me

    def _mended(self, record: Any, exact: str, out: list[Record]) -> Any:
        try:
            return patched(record, json.loads(exact))
        except (ValueError, TypeError, AttributeError, RecursionError):
            why = f"What stands under {EXACT} is not of the form enfold writes; left out."
            out.append(Note(self._name, record.line, why, exact))
            return record

    def _links(self, node: dict[str, Any], me: _Reference, line: int, out: list[Record]) -> None:
        plain: list[_Stated] = []
        for iri, values in node.items():
            if iri.startswith("@") or iri in PAGES:
                continue
            for value in _flat(values):
                other = self._end(value, line, out)
                if other is not None:
                    plain.append(_Stated(line, me, iri, other))
        reified = []
        for iri, values in node.get("@reverse", {}).items():
            for value in values:
                if iri == _STATED[0] and _STATEMENT in value.get("@type", ()):
                    said = self._reified(value, line, me, out)
                    if said is not None:
                        reified.append(said)
                    continue
                other = self._end(value, line, out)
                if other is not None:
                    plain.append(_Stated(line, other, iri, me))
        # A statement about a relation that stands beside it is that relation.
        told = Counter((said.subject, said.iri, said.object) for said in reified)
        for one in plain:
            key = (one.subject, one.iri, one.object)
            if told[key] > 0:
                told[key] -= 1
                self._only_stated.discard(key)
            else:
                self._wait(one)

    def _end(self, value: Any, line: int, out: list[Record]) -> _Reference | None:
        """The thing that a value is, taken in where it is told more of it; None for a literal."""
        if not isinstance(value, dict) or "@value" in value:
            return None
        if value.keys() == {"@id"}:
            return value["@id"], None
        return self._node(value, line, out)

    def _reified(
        self, node: dict[str, Any], line: int, subject: _Reference | None, out: list[Record]
    ) -> _Stated | None:
        """A statement about a relation, which waits; None where it lacks one of its parts."""
        ends = []
        for part in _STATED:
            values = _flat(node.get(part, []))
            one = values[0] if len(values) == 1 and isinstance(values[0], dict) else {}
            ends.append(self._end(one, line, out) if one else None)
        first = subject or ends[0]
        if first is None or ends[1] is None or ends[1][0] is None or ends[2] is None:
            return None
        rest = {key: values for key, values in node.items() if key not in _STATED}
        rest["@type"] = [type_ for type_ in node["@type"] if type_ != _STATEMENT]
        said = replace(
            _statement(rest, line),
            subject=first,
            iri=ends[1][0],
            object=ends[2],
            exact=_exact(node),
            reified=True,
        )
        self._wait(said)
        if subject is None:
            self._only_stated.add((said.subject, said.iri, said.object))
        return said

    def _wait(self, said: _Stated) -> None:
        self._stated.add(asdict(said))

    # ---- what waited ----

    def _later(self) -> Iterator[Record]:
        for id_, said in self._unnamed:
            name = self._names.get(id_) or _local(id_)
            said["observations"], said["aliases"] = (
                tuple(said["observations"]),
                tuple(said["aliases"]),
            )
            if id_.startswith("_:") and id_ not in self._names:
                why = "The thing has neither a label nor an id that outlives this file."
                yield self._aside(said["line"], why, json.dumps(said, ensure_ascii=False))
                continue
            yield EntityRecord(**said | {"name": name})
        for said in self._stated:
            ends = {end: tuple(said[end]) for end in ("subject", "object")}
            yield from self._said(_Stated(**said | ends))

    def _said(self, said: _Stated) -> Iterator[Record]:
        if not said.reified and (said.subject, said.iri, said.object) in self._only_stated:
            return
        out: list[Record] = []
        record: Any = _between(said, self._named(said, 0), self._named(said, 1))
        if said.exact is not None:
            record = self._mended(record, said.exact, out)
        yield from out
        yield record

    def _named(self, said: _Stated, at: int) -> tuple[str, str | None]:
        """(name, id) of an end."""
        id_, name = (said.subject, said.object)[at]
        if id_ is None:
            return name or "", None
        return _ends(id_, self._names.get(id_), said.iri)


def _is_object(data: Any) -> bool:
    return isinstance(data, dict)


def _markable(data: dict[str, Any]) -> bool:
    return "@index" not in data and "@context" not in data and "@graph" not in data


def _flat(values: Any) -> list[Any]:
    """The values of a property, those of its lists among them."""
    found = []
    for value in values if isinstance(values, list) else [values]:
        inner = value.get("@list") if isinstance(value, dict) else None
        found += _flat(inner) if inner is not None else [value]
    return found


def _ends(id_: str, known: str | None, iri: str) -> tuple[str, str | None]:
    """(name, id) of the thing that an IRI stands for, with the name that is known of it. Of an
    identity nothing is guessed: what is one by a guessed name would be folded."""
    if id_.startswith("_:"):
        return known if known is not None else id_, None
    foreign = _foreign(id_)
    if known is not None:
        return known, foreign
    guessed = iri not in IDENTITIES or foreign is None
    return _local(id_) if guessed else str(foreign), foreign


def _foreign(id_: str | None) -> str | None:
    """The id that outlives the file: not a blank one, nor one made of a name."""
    if id_ is None or id_.startswith(("_:", NAMED)):
        return None
    return _unquoted(id_, ID) if id_.startswith(ID) else id_


def _local(iri: str) -> str:
    """The last part of an IRI, as a name."""
    for start in (ID, NAMED, PREDICATE, TYPE, ATTRIBUTE):
        if iri.startswith(start):
            return _unquoted(iri, start)
    if iri.startswith(TERM):
        return iri.removeprefix(TERM)
    last = re.split(r"[#/:]", iri.rstrip("#/:"))[-1]
    return unquote(last).strip() or iri


def _quoted(text: str, start: str) -> str:
    return start + quote(text, safe="", errors="surrogatepass")


def _unquoted(iri: str, start: str) -> str:
    return unquote(iri.removeprefix(start), errors="surrogatepass")


def _literal(value: Any) -> tuple[str, str] | None:
    """(text, language) of a literal text."""
    said = value.get("@value") if isinstance(value, dict) else None
    if not isinstance(said, str) or value.get("@type") == "@json":
        return None
    return said, str(value.get("@language", ""))


def _literals(node: dict[str, Any], iris: Sequence[str]) -> list[tuple[str, str]]:
    values = (value for iri in iris for value in _flat(node.get(iri, [])))
    return [text for value in values if (text := _literal(value)) is not None]


def _entity(node: dict[str, Any], line: int, language: str) -> EntityRecord:
    """What is said of a thing, but for what it is linked to; its name is "" without a label."""
    name, labels = _name(node, language)
    aliases = [text for text, _ in labels if text != name]
    aliases = [*dict.fromkeys(aliases), *(text for text, _ in _literals(node, ALIASES))]
    texts = _literals(node, TEXTS)
    attributes = _attributes(node)
    tagged = [*labels, *_literals(node, ALIASES), *texts]
    if languages := {text: tag for text, tag in tagged if tag}:
        attributes[LANGUAGES] = languages
    types = [type_ for type_ in node.get("@type", ()) if isinstance(type_, str)]
    type_, full = _type(types)
    if full:
        attributes[TYPES] = full
    return EntityRecord(
        line=line,
        name=name,
        type=type_,
        observations=tuple(text for text, _ in texts),
        aliases=tuple(aliases),
        foreign_id=_foreign(node.get("@id")),
        attributes=attributes,
    )


def _name(node: dict[str, Any], language: str) -> tuple[str, list[tuple[str, str]]]:
    """(the label that is the name, every label): of the surest property, in the document's
    language, else English, else without one."""
    labels = [label for iri in LABELS for label in _literals(node, (iri,)) if label[0].strip()]
    if not labels:
        return "", []
    first = labels[0]
    surest = next(found for iri in LABELS if first in (found := _literals(node, (iri,))))
    order = [tag for tag in (language, "en", "") if tag or not language]

    def rank(label: tuple[str, str]) -> int:
        tag = label[1].lower()
        for at, wanted in enumerate(order):
            if tag == wanted or (wanted and tag.startswith(wanted + "-")):
                return at
        return len(order)

    return min((one for one in surest if one[0].strip()), key=rank)[0], labels


def _type(types: list[str]) -> tuple[str | None, list[str]]:
    """(the local name of the first that says something, all in full where they are not ours)"""
    best = next((type_ for type_ in types if type_ not in _GENERAL), types[0] if types else None)
    if best is None:
        return None, []
    ours = len(types) == 1 and best.startswith((TYPE, TERM))
    return _local(best), [] if ours else types


_TAKEN: Final = frozenset({*LABELS, *ALIASES, *TEXTS, EXACT, *_STATED})


def _attributes(node: dict[str, Any], taken: frozenset[str] = _TAKEN) -> dict[str, Any]:
    """What is said of a thing beside: literals, pages, and things with neither id nor label."""
    attributes: dict[str, Any] = {}
    for iri, values in node.items():
        if iri.startswith("@"):
            continue
        kept = [value for value in _flat(values) if _stays(iri, value, taken)]
        if kept:
            attributes[_key(iri)] = _plainly(kept)
    return attributes


def _stays(iri: str, value: Any, taken: frozenset[str]) -> bool:
    if not isinstance(value, dict):
        return False
    if iri in taken:
        return "@value" in value and _literal(value) is None
    if "@value" in value or iri in PAGES:
        return True
    return (
        "@id" not in value and not _name(value, "")[0] and _STATEMENT not in value.get("@type", ())
    )


def _key(iri: str) -> str:
    if iri.startswith(ATTRIBUTE):
        return _unquoted(iri, ATTRIBUTE)
    return iri.removeprefix(TERM)


def _plainly(values: list[Any]) -> Any:
    if len(values) == 1:
        return _value(values[0])
    return [_value(value) for value in values]


def _value(value: dict[str, Any]) -> Any:
    """A literal that is nothing but its value as that; all else as it stands."""
    if value.keys() == {"@value"}:
        return value["@value"]
    if value.keys() == {"@value", "@type"} and value["@type"] == "@json":
        return value["@value"]
    return value


def _says_something(record: EntityRecord) -> bool:
    return bool(record.type or record.observations or record.aliases or record.attributes)


def _exact(node: dict[str, Any]) -> str | None:
    found = _literals(node, (EXACT,))
    return found[0][0] if found else None


def _statement(node: dict[str, Any], line: int) -> _Stated:
    """What a statement says of its relation beside its three parts."""
    texts = _literals(node, TEXTS)
    attributes = _attributes(node, _TAKEN - {*LABELS, *ALIASES})
    confidence = attributes.get(CONFIDENCE)
    if sure := is_share(confidence):
        del attributes[CONFIDENCE]
    nobody: _Reference = (None, None)
    return _Stated(
        line,
        nobody,
        "",
        nobody,
        text="\n".join(text for text, _ in texts) or None,
        confidence=float(confidence) if sure and confidence is not None else 1.0,
        attributes=attributes,
    )


def _between(
    said: _Stated, subject: tuple[str, str | None], target: tuple[str, str | None]
) -> RelationRecord | IdentityRecord:
    if said.iri in IDENTITIES:
        return IdentityRecord(
            line=said.line,
            left=subject[0],
            right=target[0],
            same=said.iri == SAME,
            left_id=subject[1],
            right_id=target[1],
            why=said.text,
        )
    attributes = dict(said.attributes or {})
    if not said.iri.startswith((PREDICATE, TERM)):
        attributes[IRI] = said.iri
    return RelationRecord(
        line=said.line,
        subject=subject[0],
        predicate=_local(said.iri),
        object=target[0],
        confidence=said.confidence,
        text=said.text,
        attributes=attributes,
        subject_id=subject[1],
        object_id=target[1],
    )


# ---- writing ----

_TERMS: Final = {
    "label": RDFS + "label",
    "altLabel": SKOS + "altLabel",
    "description": SCHEMA + "description",
    "sameAs": SAME,
    "differentFrom": DIFFERENT,
    "Statement": _STATEMENT,
    "predicate": RDF + "predicate",
    "object": RDF + "object",
    "confidence": CONFIDENCE,
    "exact": EXACT,
}
_STATEMENTS: Final = "statement"
_SHORT: Final = {iri: term for term, iri in _TERMS.items()}
_SCHEMES: Final = frozenset(term.lower() for term in (*_TERMS, _STATEMENTS))


def write(pieces: Callable[[], Iterable[Written]], out: Path) -> None:
    """The records as one JSON-LD document; names and ids are held, everything else streams."""
    with out.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines(pieces))


def lines(pieces: Callable[[], Iterable[Written]]) -> Iterator[str]:
    """The document, one thing or relation a line."""
    context = _TERMS | {_STATEMENTS: {"@reverse": _STATED[0]}}
    yield f'{{"@context": {json.dumps(context)},\n"@graph": ['
    writer = _Writer()
    between = "\n"
    for piece in pieces():
        node = writer.entity(piece) if isinstance(piece, EntityRecord) else writer.relation(piece)
        yield between + _line(_compact(node))
        between = ",\n"
    yield "\n]}\n"


class _Writer:
    """Records as expanded nodes; it holds what the reader will know of names."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._iris: dict[str, str] = {}

    def entity(self, record: EntityRecord) -> dict[str, Any]:
        iri = _iri(record.name, record.foreign_id)
        self._names.setdefault(iri, record.name)
        if record.foreign_id is None:
            self._iris[record.name] = iri
        else:
            self._iris.setdefault(record.name, iri)
        node = _described(record, iri)
        more = difference(record, _entity(node, record.line, ""))
        if more or not record.name.strip():
            node[EXACT] = [{"@value": json.dumps(more)}]
        return node

    def relation(self, record: RelationRecord | IdentityRecord) -> dict[str, Any]:
        if isinstance(record, RelationRecord):
            ends = (record.subject, record.subject_id), (record.object, record.object_id)
            predicate = _predicate(record)
        else:
            ends = (record.left, record.left_id), (record.right, record.right_id)
            predicate = SAME if record.same else DIFFERENT
        subject, target = (self._end(name, id_) for name, id_ in ends)
        statement = _reified(record, predicate, target)
        named = [_ends(iri, self._names.get(iri), predicate) for iri in (subject, target)]
        nobody: _Reference = (None, None)
        rest = {key: values for key, values in statement.items() if key not in _STATED}
        said = replace(_statement(rest, record.line), subject=nobody, iri=predicate)
        got: Any = _between(said, named[0], named[1])
        if more := difference(record, got):
            statement[EXACT] = [{"@value": json.dumps(more)}]
        node: dict[str, Any] = {"@id": subject, predicate: [{"@id": target}]}
        if len(statement) > len(_STATED):  # more than its type and the two other parts
            node["@reverse"] = {_STATED[0]: [statement]}
        return node

    def _end(self, name: str, foreign_id: str | None) -> str:
        if foreign_id is not None:
            return _iri(name, foreign_id)
        return self._iris.get(name) or _iri(name, None)


def _iri(name: str, foreign_id: str | None) -> str:
    """The IRI of a thing: its own, or one that says its id or its name."""
    if foreign_id is None:
        return _quoted(name, NAMED)
    return foreign_id if _is_iri(foreign_id) else _quoted(foreign_id, ID)


def _is_iri(text: object) -> bool:
    """Whether a text may stand as an IRI and will be read as that."""
    return (
        isinstance(text, str)
        and bool(_IRI.fullmatch(text))
        and not text.startswith(OWN)
        and text.partition(":")[0].lower() not in _SCHEMES
    )


def _predicate(record: RelationRecord) -> str:
    full = record.attributes.get(IRI)
    if (
        isinstance(full, str)
        and _is_iri(full)
        and _local(full) == record.predicate
        and full not in PAGES
        and full not in IDENTITIES
        and full not in _STATED
    ):
        return full
    return _quoted(record.predicate, PREDICATE)


def _text(text: str, languages: Any = None) -> dict[str, Any]:
    value = {"@value": _UNSTORABLE.sub("\ufffd", text)}
    tag = languages.get(text) if isinstance(languages, dict) else None
    if isinstance(tag, str) and _LANGUAGE.fullmatch(tag):
        value["@language"] = tag
    return value


def _described(record: EntityRecord, iri: str) -> dict[str, Any]:
    node: dict[str, Any] = {"@id": iri}
    tags, full = record.attributes.get(LANGUAGES), record.attributes.get(TYPES)
    if _are_types(full) and _type(full) == (record.type, full):
        node["@type"] = full
    elif record.type is not None:
        node["@type"] = [_quoted(record.type, TYPE)]
    if record.name.strip():
        node[_TERMS["label"]] = [_text(record.name, tags)]
    if record.aliases:
        node[_TERMS["altLabel"]] = [_text(alias, tags) for alias in record.aliases]
    if record.observations:
        node[_TERMS["description"]] = [_text(said, tags) for said in record.observations]
    return node | _beside(record.attributes, (LANGUAGES, TYPES))


def _are_types(full: Any) -> TypeGuard[list[str]]:
    return isinstance(full, list) and bool(full) and all(map(_is_iri, full))


def _reified(
    record: RelationRecord | IdentityRecord, predicate: str, target: str
) -> dict[str, Any]:
    node: dict[str, Any] = {
        "@type": [_STATEMENT],
        _STATED[1]: [{"@id": predicate}],
        _STATED[2]: [{"@id": target}],
    }
    text = record.why if isinstance(record, IdentityRecord) else record.text
    if text is not None:
        node[_TERMS["description"]] = [_text(text)]
    if isinstance(record, RelationRecord):
        if record.confidence != 1.0:
            node[CONFIDENCE] = [{"@value": float(record.confidence)}]
        node |= _beside(
            record.attributes, (IRI,) if predicate == record.attributes.get(IRI) else ()
        )
    return node


def _beside(attributes: dict[str, Any], taken: Sequence[str]) -> dict[str, Any]:
    node: dict[str, Any] = {}
    for key, value in attributes.items():
        if key in taken:
            continue
        free = _is_iri(key) and key not in _TAKEN
        iri = key if free else _quoted(key, ATTRIBUTE)
        node[iri] = _values(iri, value)
    return node


def _values(iri: str, value: Any) -> list[dict[str, Any]]:
    """A value as what it was read from: plain values as they are, all else as JSON."""
    several = value if isinstance(value, list) and len(value) > 1 else [value]
    if all(_is_plain(iri, one) for one in several):
        return [one if isinstance(one, dict) else {"@value": _storable(one)} for one in several]
    return [{"@type": "@json", "@value": _storable(value)}]


def _storable(value: Any) -> Any:
    """The value as JSON holds it; a number that JSON has not is the text it is written as."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return str(value)
    return _UNSTORABLE.sub("\ufffd", value) if isinstance(value, str) else value


def _is_plain(iri: str, value: Any) -> bool:
    if isinstance(value, dict):
        return _is_expanded(value) or (
            iri in PAGES and value.keys() == {"@id"} and _is_iri(value["@id"])
        )
    return _is_scalar(value)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))


def _is_expanded(value: Any) -> bool:
    """Whether it is a literal with its type or language, or a thing without an id, as they are
    read."""
    if not isinstance(value, dict) or "@id" in value:
        return False
    if "@value" in value:
        said, tag, type_ = (value.get(key) for key in ("@value", "@language", "@type"))
        if value.keys() == {"@value", "@language"}:
            return isinstance(said, str) and isinstance(tag, str) and bool(_LANGUAGE.fullmatch(tag))
        return value.keys() == {"@value", "@type"} and _is_scalar(said) and _is_iri(type_)
    return bool(value) and all(
        _are_types(inner)
        if key == "@type"
        else _is_iri(key)
        and isinstance(inner, list)
        and bool(inner)
        and all(_is_expanded(one) or _is_bare(one) for one in inner)
        for key, inner in value.items()
    )


def _is_bare(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"@value"} and _is_scalar(value["@value"])


def _compact(node: dict[str, Any]) -> dict[str, Any]:
    """An expanded node in the terms of the context that is written."""
    short: dict[str, Any] = {}
    for key, values in node.items():
        if key == "@reverse":
            short[_STATEMENTS] = _compact(values[_STATED[0]][0])
        elif key == "@type":
            types = [_SHORT.get(type_, type_) for type_ in values]
            short[key] = types[0] if len(types) == 1 else types
        elif key.startswith("@"):
            short[key] = values
        else:
            plain = [one["@value"] if _is_bare(one) else one for one in values]
            short[_SHORT.get(key, key)] = plain[0] if len(plain) == 1 else plain
    return short


# Ends of lines to some readers, and what a terminal would obey.
_ESCAPED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}


def _line(node: dict[str, Any]) -> str:
    text = json.dumps(node, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(node)
    return text.translate(_ESCAPED)
