"""The vocabulary: the types and predicates that extraction may use.

Those that come with enfold are rows like a person's own: they can be described anew and turned off,
but not removed, so that a later enfold has no need to guess whether one is missing or unwanted.
Turning a term off or removing it changes what is read from then on; what was written stays.
"""

from __future__ import annotations

import re
from typing import Final

from enfold.errors import Invalid, NotFound, Refused
from enfold.model import Term
from enfold.names import clean
from enfold.ports import Tx

KINDS: Final = ("type", "predicate")

BUILT_IN: Final = {
    "type": frozenset(
        "person organization project tool technology agent place event concept".split()
    ),
    "predicate": frozenset(
        "uses depends_on part_of created_by works_on works_at located_in attended".split()
    ),
}
"""The terms that come with enfold."""

NAME: Final = 100
"""Characters of a term's name."""

DESCRIPTION: Final = 1_000
"""Characters of its description: a sentence or two, which a model is shown with each text."""

_PREDICATE: Final = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")


def vocabulary(tx: Tx) -> list[Term]:
    """Every term, types first, then by name; those turned off included."""
    return tx.terms.all()


def put(
    tx: Tx,
    kind: str,
    name: str,
    *,
    description: str | None = None,
    enabled: bool | None = None,
) -> Term:
    """Add a term, describe one anew, or turn one on or off.

    Args:
        kind: ``type`` or ``predicate``.
        description: None leaves it as it is; a new term needs one.
        enabled: None leaves it as it is; a new term is on.

    Raises:
        Invalid: ``bad_term``: no such kind, or no name or description that a term can have.
        NotFound: ``no_term``: it is not known, and no description was given to add it with.
    """
    known = _find(tx, kind, name)
    said = None if description is None else _described(description)
    if known is None:
        if said is None:
            raise _unknown(tx, kind, name)
        term = Term(kind, _named(kind, name), said, enabled is not False)
    else:
        on = known.enabled if enabled is None else enabled
        term = Term(kind, known.name, said or known.description, on)
    tx.terms.put(term)
    return term


def remove(tx: Tx, kind: str, name: str) -> Term:
    """Take a term of a person's own out; entities and facts that have it keep it.

    Raises:
        Invalid: ``bad_term``. NotFound: ``no_term``.
        Refused: ``built_in_term``: it comes with enfold and can only be turned off.
    """
    term = _find(tx, kind, name)
    if term is None:
        raise _unknown(tx, kind, name)
    if term.name in BUILT_IN[kind]:
        raise Refused(
            "built_in_term",
            f"The {kind} “{term.name}” comes with enfold and stays in the list, so that a later "
            "enfold knows it is unwanted. Turn it off instead.",
        )
    tx.terms.remove(kind, term.name)
    return term


def _find(tx: Tx, kind: str, name: str) -> Term | None:
    """The term of that name, in whatever case it is written."""
    if kind not in KINDS:
        raise Invalid("bad_term", f"{kind!r} is no kind of term; there are: {', '.join(KINDS)}.")
    sought = clean(name).casefold()
    return next((term for term in tx.terms.all(kind) if term.name.casefold() == sought), None)


def _named(kind: str, name: str) -> str:
    cleaned = clean(name)
    if not cleaned or len(cleaned) > NAME:
        raise Invalid("bad_term", f"The name of a {kind} has 1 to {NAME} characters.")
    if kind == "predicate" and not _PREDICATE.fullmatch(cleaned):
        raise Invalid(
            "bad_term",
            f"“{cleaned}” can be no predicate: write it as small letters and digits with "
            "underscores between words, as in depends_on.",
        )
    return cleaned


def _described(description: str) -> str:
    cleaned = clean(description)
    if not cleaned or len(cleaned) > DESCRIPTION:
        raise Invalid("bad_term", f"A description has 1 to {DESCRIPTION:,} characters.")
    return cleaned


def _unknown(tx: Tx, kind: str, name: str) -> NotFound:
    there = ", ".join(term.name for term in tx.terms.all(kind)[:20])
    return NotFound(
        "no_term",
        f"There is no {kind} “{clean(name)[:NAME]}”; there are: {there}. To add it, say what it "
        "is.",
    )
