"""The IRIs of JSON-LD that say what a thing is called and what it is, and IRIs as names and ids.

An entity without an IRI of its own gets one that says its id or its name, so that RDF tools join
what belongs together; relations, attributes and types get such too.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote

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

GENERAL: Final = frozenset(
    {OWL + "Thing", OWL + "NamedIndividual", RDFS + "Resource", *_schema("Thing")}
)
"""Types that say nothing of what a thing is."""

STATEMENT: Final = RDF + "Statement"
STATED: Final = (RDF + "subject", RDF + "predicate", RDF + "object")

TERMS: Final = {
    "label": RDFS + "label",
    "altLabel": SKOS + "altLabel",
    "description": SCHEMA + "description",
    "sameAs": SAME,
    "differentFrom": DIFFERENT,
    "Statement": STATEMENT,
    "predicate": RDF + "predicate",
    "object": RDF + "object",
    "confidence": CONFIDENCE,
    "exact": EXACT,
}
"""The terms of the context that is written."""

STATEMENTS: Final = "statement"
"""The term of the statements about a relation, which is a reversed property."""

_SCHEMES: Final = frozenset(term.lower() for term in (*TERMS, STATEMENTS))

# An IRI that stands in a document as itself: no blanks, no brackets, a scheme that is no term here.
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\0- <>\"{}|\\^`\x7f-\x9f\ud800-\udfff]+")


def is_iri(text: object) -> bool:
    """Whether a text may stand as an IRI and will be read as that."""
    return (
        isinstance(text, str)
        and bool(_IRI.fullmatch(text))
        and not text.startswith(OWN)
        and text.partition(":")[0].lower() not in _SCHEMES
    )


def end_of(id_: str, known: str | None, iri: str) -> tuple[str, str | None]:
    """(name, id) of the thing that an IRI stands for, with the name that is known of it. Of an
    identity nothing is guessed: what is one by a guessed name would be folded."""
    if id_.startswith("_:"):
        return known if known is not None else id_, None
    foreign = foreign_id(id_)
    if known is not None:
        return known, foreign
    guessed = iri not in IDENTITIES or foreign is None
    return local_name(id_) if guessed else str(foreign), foreign


def foreign_id(id_: str | None) -> str | None:
    """The id that outlives the file: not a blank one, nor one made of a name."""
    if id_ is None or id_.startswith(("_:", NAMED)):
        return None
    return unquoted(id_, ID) if id_.startswith(ID) else id_


def local_name(iri: str) -> str:
    """The last part of an IRI, as a name."""
    for start in (ID, NAMED, PREDICATE, TYPE, ATTRIBUTE):
        if iri.startswith(start):
            return unquoted(iri, start)
    if iri.startswith(TERM):
        return iri.removeprefix(TERM)
    last = re.split(r"[#/:]", iri.rstrip("#/:"))[-1]
    return unquote(last).strip() or iri


def quoted(text: str, start: str) -> str:
    """An IRI that says a text."""
    return start + quote(text, safe="", errors="surrogatepass")


def unquoted(iri: str, start: str) -> str:
    """The text that an IRI says."""
    return unquote(iri.removeprefix(start), errors="surrogatepass")
