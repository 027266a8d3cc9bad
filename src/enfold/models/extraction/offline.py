"""The extractor that needs no model: what a text itself marks, and what it plainly states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from enfold.model import Extracted, NameInText, RelationInText, Term
from enfold.models.extraction.marks import Mark, marks
from enfold.models.extraction.prose import prose
from enfold.models.extraction.relations import End, Stated, stated
from enfold.models.extraction.sentences import spans

MODEL: Final = "offline"


class OfflineExtractor:
    """See ``ports.Extractor``. It reads no model and no network, and takes time in proportion to
    the length of a text."""

    @property
    def model(self) -> str:
        """What reads, as recorded with what it found."""
        return MODEL

    def extract(
        self, texts: Sequence[str], known: Sequence[Sequence[NameInText]], terms: Sequence[Term]
    ) -> list[Extracted]:
        """What each text marks as a name and states of its names, in their order."""
        types = frozenset(term.name for term in terms if term.kind == "type" and term.enabled)
        predicates = frozenset(
            term.name for term in terms if term.kind == "predicate" and term.enabled
        )
        return [
            _extracted(text, names, types, predicates)
            for text, names in zip(texts, known, strict=True)
        ]


def _extracted(
    text: str, known: Sequence[NameInText], types: frozenset[str], predicates: frozenset[str]
) -> Extracted:
    plain = prose(text)
    known_words = {word for name in known for word in name.spelling.split()}
    found = marks(plain, known_words)
    places = _places(plain, [name.spelling for name in known])
    found = _uncovered(found, places)
    ends = _ends(found, places, plain)
    relations = list(_relations(plain, ends, predicates)) if len(ends) > 1 else []
    return Extracted(
        _names(text, found, relations, types),
        tuple(
            RelationInText(
                text[one.subject.start : one.subject.end],
                one.predicate,
                text[one.object.start : one.object.end],
                one.confidence,
            )
            for one in _each_once(text, relations)
        ),
    )


def _places(plain: str, spellings: Sequence[str]) -> list[Mark]:
    """Where known names stand, the longest first, as whole words."""
    sought = list(dict.fromkeys(one for one in spellings if one))
    if not sought:
        return []
    automaton = AhoCorasick(
        sought, matchkind=MatchKind.LeftmostLongest, implementation=Implementation.ContiguousNFA
    )
    return [
        Mark(start, end, None, 1.0)
        for _, start, end in automaton.find_matches_as_indexes(plain)
        if _alone(plain, start, end)
    ]


def _alone(plain: str, start: int, end: int) -> bool:
    before, after = plain[start - 1 : start], plain[end : end + 1]
    inside = plain[start].isascii() and plain[end - 1].isascii()
    return not (
        inside
        and ((before.isascii() and before.isalnum()) or (after.isascii() and after.isalnum()))
    )


def _uncovered(found: Sequence[Mark], known: Sequence[Mark]) -> list[Mark]:
    """The marks that no known name holds."""
    left, at = [], 0
    for mark in found:
        while at < len(known) and known[at].end < mark.end:
            at += 1
        if at == len(known) or known[at].start > mark.start:
            left.append(mark)
    return left


def _ends(found: Iterable[Mark], known: Iterable[Mark], plain: str) -> list[End]:
    """All names of a text by their place, the longer where two overlap."""
    chosen: list[Mark] = []
    for mark in sorted([*found, *known], key=lambda one: (one.start, -one.end)):
        if not chosen or chosen[-1].end <= mark.start:
            chosen.append(mark)
    return [End(one.start, one.end, one.type, _is_identifier(plain, one)) for one in chosen]


def _is_identifier(plain: str, mark: Mark) -> bool:
    return any(sign in "_/\\=@.-" for sign in plain[mark.start : mark.end]) and not any(
        char.isspace() or char.isupper() for char in plain[mark.start : mark.end]
    )


def _relations(plain: str, ends: Sequence[End], predicates: frozenset[str]) -> Iterable[Stated]:
    at = 0
    for start, end in spans(plain):
        while at < len(ends) and ends[at].end <= start:
            at += 1
        last = at
        while last < len(ends) and ends[last].start < end:
            last += 1
        if last - at > 1:
            within = [one for one in ends[at:last] if one.end <= end]
            yield from stated(plain, start, end, within, predicates)
        at = last


def _each_once(text: str, relations: Sequence[Stated]) -> Iterable[Stated]:
    once: dict[tuple[str, str, str], Stated] = {}
    for one in relations:
        subject, object = one.subject, one.object
        key = (text[subject.start : subject.end], one.predicate, text[object.start : object.end])
        once.setdefault(key, one)
    return once.values()


def _names(
    text: str, found: Sequence[Mark], relations: Sequence[Stated], types: frozenset[str]
) -> tuple[NameInText, ...]:
    """Each spelling once, with the first type that its places or its relations say."""
    said: dict[tuple[int, int], str] = {}
    for one in relations:
        for end, type in ((one.subject, one.subject_type), (one.object, one.object_type)):
            if type is not None:
                said.setdefault((end.start, end.end), type)
    once: dict[str, NameInText] = {}
    for mark in found:
        type = mark.type or said.get((mark.start, mark.end))
        name = NameInText(
            text[mark.start : mark.end], type if type in types else None, mark.confidence
        )
        known = once.setdefault(name.spelling, name)
        if known.type is None and name.type is not None:
            once[name.spelling] = replace(known, type=name.type)
    return tuple(once.values())
