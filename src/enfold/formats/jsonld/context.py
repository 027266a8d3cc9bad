"""Contexts: what the terms of a document stand for. Nothing is ever fetched.

pyld expands what is read, so that contexts mean what their standard says. A context that is only an
address is known for the vocabularies that are read; another is refused.
"""

from __future__ import annotations

import re
import warnings
from typing import Any, Final

from enfold.errors import Invalid
from enfold.formats.jsonld.iris import (
    ATTRIBUTE,
    DCTERMS,
    DIFFERENT,
    FOAF,
    OWL,
    RDFS,
    SAME,
    SCHEMA,
    SKOS,
    TERM,
    quoted,
)


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


class Remote(Exception):
    """A context that would have to be fetched."""


def load(address: str, _: object = None) -> dict[str, Any]:
    """The document of a context that is known. Raises ``Remote`` for any other."""
    known = _known_contexts().get(_plain(address))
    if known is None:
        raise Remote(address)
    return {
        "contextUrl": None,
        "documentUrl": address,
        "contentType": "application/ld+json",
        "document": {"@context": known},
    }


# Terms that no context maps are kept: they become attributes and relations of their own name.
_START: Final = {"@vocab": TERM}


def expand(data: Any, context: Any) -> list[dict[str, Any]]:
    """What the data says once every term is the IRI it stands for.

    Raises:
        Remote: a context would have to be fetched.
        ValueError: it is no JSON-LD; its text says why.
    """
    from pyld import jsonld  # type: ignore[import-untyped]

    start = [_START, *(context if isinstance(context, list) else [context])]
    options = {
        "expandContext": [part for part in start if part is not None],
        "documentLoader": load,
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
            raise Remote(address) from None
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
        quoted(key, ATTRIBUTE) if key in terms else key: _renamed(part, terms)
        for key, part in data.items()
    }


def _remote(error: BaseException | None) -> str | None:
    for _ in range(10):
        if isinstance(error, Remote):
            return str(error)
        if error is None:
            return None
        error = getattr(error, "cause", None) or error.__cause__ or error.__context__
    return None


def refuse_remote(name: str, address: str) -> Invalid:
    """The error for a file whose context would have to be fetched."""
    return Invalid(
        "remote_context",
        f"{name} takes its context from {address[:200]}, and nothing is fetched from a network. "
        'Put that context into the file: replace its address under "@context" by what stands '
        "there; or expand the file first, for instance with pyld.",
        path=name,
        context=address,
    )
