"""What a sentence states of two names: a closed list of verbs between them, and nothing guessed.

Each name of a sentence becomes one sign, and what is left is held against patterns of a subject, a
verb and objects. A relation is stated only where the subject begins its clause and the object ends
the phrase. What is asked, denied, supposed, hoped for, told by hearsay or over is not stated.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

LONGEST: Final = 1_000
"""Characters of a sentence that is read for relations; what is longer is no sentence."""

MOST_ENDS: Final = 40
MOST_PAIRS: Final = 25
"""Names of a sentence, and relations of one verb: more are a table or a list of another kind."""


class End(NamedTuple):
    """A name in a text that may be an end of a relation."""

    start: int
    end: int
    type: str | None = None
    identifier: bool = False


@dataclass(frozen=True, slots=True)
class Stated:
    """A relation between two names of a text, by their places.

    Attributes:
        subject_type, object_type: what the verb says of either side.
    """

    subject: End
    predicate: str
    object: End
    confidence: float
    subject_type: str | None = None
    object_type: str | None = None


class _Verb(NamedTuple):
    """A verb between two names.

    Attributes:
        inverse: whether what stands behind the verb is the subject of the relation.
        subject_type, object_type: what it says of the sides of the relation.
    """

    words: str
    predicate: str
    inverse: bool = False
    confidence: float = 0.9
    subject_type: str | None = None
    object_type: str | None = None


_MADE: Final = "created|written|built|developed|designed|authored|founded|invented"

_VERBS: Final = (
    _Verb("uses|use|(?:is|are) using|makes? use of|(?:has|have) used(?= [^.;]* since\\b)", "uses"),
    _Verb("(?:is|are) (?:being )?used by", "uses", inverse=True),
    _Verb("depends? (?:up)?on|rel(?:ies|y) on|(?:is|are) dependent on", "depends_on"),
    _Verb("(?:is|are) (?:an? [a-z]{3,12} )?part of|belongs? to", "part_of"),
    _Verb(rf"(?:was|were|is|are|has been) (?:[a-z]+ly )?(?:{_MADE}) by", "created_by"),
    _Verb(
        "created|wrote|built|developed|designed|founded|invented",
        "created_by",
        inverse=True,
        confidence=0.8,
    ),
    _Verb("works? on|(?:is|are) working on|(?:has|have) worked on(?= [^.;]* since\\b)", "works_on"),
    _Verb(
        "works? (?:at|for)|(?:is|are) (?:working|employed) (?:at|by|for)"
        "|(?:has|have) (?:been working|worked) (?:at|for)(?= [^.;]* since\\b)",
        "works_at",
        subject_type="person",
        object_type="organization",
    ),
    _Verb(
        "(?:has |have )?joined|is an? [a-z][a-z -]{2,30} at",
        "works_at",
        confidence=0.8,
        subject_type="person",
        object_type="organization",
    ),
    _Verb("lives? in", "located_in", subject_type="person", object_type="place"),
    _Verb(
        "(?:is|are) (?:located|based|situated|headquartered) in", "located_in", object_type="place"
    ),
    _Verb("(?:has |have )?attended", "attended", subject_type="person", object_type="event"),
    # German, French, Spanish, Italian, Portuguese
    _Verb(
        "arbeitet bei|travaille chez|lavora per",
        "works_at",
        confidence=0.8,
        subject_type="person",
        object_type="organization",
    ),
    _Verb(
        "(?:wohnt|lebt) in|(?:vit|habite) à|vive en|(?:vive|mora) em|(?:vive|abita) a",
        "located_in",
        confidence=0.8,
        subject_type="person",
        object_type="place",
    ),
    _Verb("verwendet|benutzt|nutzt|utilise|utiliza|utilizza|usa", "uses", confidence=0.8),
)

_N: Final = "\ue000"
_DETERMINER: Final = "(?:[Tt]he |[Oo]ur |[Tt]heir |[Ii]ts |a |an |les? |la |l'|el |los |il |o )?"
_NOUN: Final = (
    "(?: (?:project|team|platform|library|framework|database|app|service|stack|class|module"
    "|package|repo"
    "|repository|language|workspace|initiative|programme?|cluster|server|api|API|cli|CLI|tool"
    "|engine"
    "|company|suite|protocol|agent|plugin|conference|summit))?"
)
_END: Final = f"{_DETERMINER}{_N}{_NOUN}"
_LIST: Final = (
    f"{_END}(?:, {_END})*(?:,? (?:and|&|as well as|und|et|y|e) (?:(?:on|at|by|in|for) )?{_END})?"
)
_ADVERB: Final = (
    "(?: (?:now|currently|still|also|mainly|mostly|already|primarily|internally|actively"
    "|heavily|directly"
    "|usually|always|both|officially|all|mostly|today))*"
)
_KIN: Final = (
    "(?:(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir|(?:[Tt]he )?[Uu]ser's) (?:[a-z]+ )?[a-z]+,? )?"
)
_BEGINNING: Final = (
    rf"(?:^|[;:|] |, (?:and |but |so |while |whereas |because )?| (?:and|but|while|whereas"
    rf"|because|where"
    rf"|since|so) )(?:[Bb]oth )?{_KIN}"
)
_PLURAL: Final = re.compile(r"(?:use|make|depend|rely|are|belong|work|have|live)\b")
_GROUPS: Final = ("team", "squad", "crew")
_FOLLOW: Final = (
    r"(?=$|[.,;:!)\]|]|[ ]?[—–]| (?:and|or|but|for|to|in|on|at|as|with|by|since|from|because"
    r"|while|which|that"
    r"|who|when|now|today|every|each|daily|via|over|under|through|instead|rather|heavily"
    r"|internally|too|also"
    r"|so|last|this|where|these|again|there|desde|seit|depuis|da|pour|für|para"
    r"|per)\b)(?!,? (?:and|or) "
    rf"{_N}['’]s)"
)
_APPOSED: Final = (
    rf", (?:who|which|our|the|an?|my|his|her|formerly|now|originally|based|{_MADE})\b"
    r"[^.;\n]{0,80}?,"
)


class _Pattern(NamedTuple):
    verb: _Verb
    clause: re.Pattern[str]
    relative: re.Pattern[str]
    carried: re.Pattern[str]


def _pattern(verb: _Verb) -> _Pattern:
    said = f"{_ADVERB} (?P<verb>{verb.words}){_ADVERB} (?P<object>{_LIST}){_FOLLOW}"
    return _Pattern(
        verb,
        re.compile(f"{_BEGINNING}(?P<subject>{_LIST})(?:{_APPOSED})?{said}"),
        re.compile(f"(?P<subject>{_N}),? (?:who|which){said}"),
        re.compile(f"(?:,| and| but|, and|, but){said}"),
    )


_PATTERNS: Final = tuple(map(_pattern, _VERBS))
_PARTICIPLE: Final = re.compile(
    f"(?P<subject>{_N}), (?:which (?:was|is) )?(?:{_MADE}) by (?P<object>{_LIST})(?=[,.]|$)"
)
_MADE_BY: Final = _Verb("", "created_by")
_SUBJECT: Final = re.compile(
    f"(?:^|: )(?:[Bb]oth )?{_KIN}(?P<subject>{_LIST})(?:{_APPOSED})?{_ADVERB} "
    "(?:is|was|has|wrote|built|[a-z]+(?:s|ed))\\b"
)
_OTHER_SUBJECT: Final = re.compile(
    f"(?:,|and|but|while|where|because|since|that|who|which|if) {_END} [a-z]"
)
_CUE: Final = re.compile(
    "uses?|using|used|depend|rel(?:y|ies)|part of|belong|creat|writ|wrote|buil|develop|design"
    "|author|found"
    "|invent|work|employ|join| at |live|located|based|situated|headquartered|attended"
    "|arbeitet|travaille"
    "|lavora|wohnt|lebt|vit|habite|vive|mora|abita|verwendet|benutzt|nutzt|utili|usa"
)
_DOUBT: Final = re.compile(
    r"\b(?:if|unless|whether|suppos\w+|assum\w+|imagine|would|could|might|should|may"
    r"|rumou?rs?|apparently"
    r"|reportedly|allegedly|maybe|perhaps|probably|possibly|presumably|think|thinks|thought"
    r"|believes?|guess"
    r"|heard|hear|say|says|said|told|claims?|claimed|according|seems?|neither|nor|never"
    r"|used to|hypothetically"
    r"|until|in case|wish|wishes|hopes?|hoped|plans? to|wants?|wanted|pretend|e\.g\.|example"
    r"|wenn|falls|ob"
    r"|hasn't|haven't|if|as though|as if|denie[sd]|deny|doubts?|wonder\w*|unclear|not sure"
    r"|not true|no evidence"
    r"|wrong|false|fake|myth|expect\w*|let's|before|once|when|wenn|si|se|quand|cuando|quando)\b"
)
_OVER: Final = re.compile(
    r"^[^.;]*?\b(?:until|before|any ?more|any longer|in the past|back then|at the time"
    r"|previously|if|unless"
    r"|once|supposedly|apparently|allegedly|I think|I guess|probably|maybe|or not|not any"
    r"|in theory"
    r"|someday|eventually|next (?:week|month|year|quarter))\b"
)


def stated(
    text: str, start: int, end: int, ends: Sequence[End], predicates: frozenset[str]
) -> Iterator[Stated]:
    """The relations that a sentence states.

    Args:
        start, end: where the sentence stands in the text.
        ends: the names in it, in their order; none overlap.
        predicates: those that are turned on.
    """
    if len(ends) > MOST_ENDS or end - start > LONGEST:
        return
    if not _CUE.search(text, start, end):
        return
    said = _Said(text, start, end, ends)
    if said.asked:
        return
    seen: set[tuple[End, str, End]] = set()
    for one in said.relations(predicates):
        key = (one.subject, one.predicate, one.object)
        if key not in seen:
            seen.add(key)
            yield one


class _Said:
    """A sentence in which each name is one sign."""

    def __init__(self, text: str, start: int, end: int, ends: Sequence[End]) -> None:
        parts, self._places, at, length = [], [], start, 0
        for one in ends:
            between = text[at : one.start]
            parts += [between, _N]
            self._places.append(length + len(between))
            length += len(between) + 1
            at = one.end
        self._ends = ends
        self._text = text
        tail = text[at:end].rstrip()
        self.asked = text[at : end + 3].split("\n", maxsplit=1)[0].rstrip().endswith(
            "?"
        ) or tail.endswith("?")
        line = re.sub(r"[*`\"“”]", " ", "".join([*parts, tail])).replace("\n", " ")
        self._line = self._squeezed(line)

    def _squeezed(self, line: str) -> str:
        """Without double blanks and bullets; the places of the signs move along."""
        plain = re.sub(r"^[-+>•#]+ ", "", " ".join(line.split()))
        plain = plain.replace(" ,", ",")
        self._places = [at for at, char in enumerate(plain) if char == _N]
        return plain

    def relations(self, predicates: frozenset[str]) -> Iterator[Stated]:
        if len(self._places) != len(self._ends):
            return  # the text itself holds the sign
        for match in _PARTICIPLE.finditer(self._line):
            if "created_by" in predicates and self._holds(match):
                yield from self._pairs(match.span("subject"), match, _MADE_BY)
        for verb, clause, relative, carried in _PATTERNS:
            if verb.predicate not in predicates or not re.search(verb.words, self._line):
                continue
            for match in clause.finditer(self._line):
                if self._begins(match) and self._holds(match):
                    yield from self._pairs(match.span("subject"), match, verb)
            for match in relative.finditer(self._line):
                if self._holds(match):
                    yield from self._pairs(match.span("subject"), match, verb)
            for match in carried.finditer(self._line):
                subject = self._subject_of(match)
                if subject and self._holds(match):
                    yield from self._pairs(subject, match, verb)

    def _begins(self, match: re.Match[str]) -> bool:
        """Whether the subject begins a clause, and is not the end of a list that began before."""
        before = self._line[: match.start()].rstrip(", ")
        if match.start() == 0 or match.group()[0] in ";:|":
            return True
        if match.group().startswith((" and", ", and")) and before.endswith(_N):
            return _CUE.search(before) is not None and _SUBJECT.match(before) is not None
        return not (
            match.group().startswith(", ") and before.endswith(_N) and not _CUE.search(before)
        )

    def _subject_of(self, match: re.Match[str]) -> tuple[int, int] | None:
        """The subject of the sentence, where a second verb has none of its own."""
        head = self._line[: match.start()]
        subject = _SUBJECT.match(head) or _SUBJECT.match(f"{head} is") if head else None
        if subject is None or match.start() < subject.end("subject"):
            return None
        between = head[subject.end("subject") :]
        if not between or _OTHER_SUBJECT.search(between) or ";" in between:
            return None
        return subject.span("subject")

    def _holds(self, match: re.Match[str]) -> bool:
        """Whether what is matched is stated as true, and as true now."""
        line = self._line
        before = line[:1].lower() + line[1 : match.start("object")]
        return not _DOUBT.search(before) and not _OVER.search(line[match.end() :])

    def _pairs(
        self, subject: tuple[int, int], match: re.Match[str], verb: _Verb
    ) -> Iterator[Stated]:
        lefts, rights = self._between(*subject), self._between(*match.span("object"))
        if len(lefts) * len(rights) > MOST_PAIRS or not self._agree(lefts, match):
            return
        for left in lefts:
            for right in rights:
                one, other = (right, left) if verb.inverse else (left, right)
                if (
                    one != other
                    and _fits(one, verb.subject_type)
                    and _fits(other, verb.object_type)
                ):
                    yield Stated(
                        one,
                        verb.predicate,
                        other,
                        verb.confidence,
                        verb.subject_type,
                        verb.object_type,
                    )

    def _agree(self, lefts: Sequence[End], match: re.Match[str]) -> bool:
        """Whether there are as many subjects as the verb says: "outdated, use" states nothing."""
        said = match.groupdict().get("verb") or ""
        if len(lefts) > 1 or not _PLURAL.match(said):
            return True
        return self._text[lefts[0].start : lefts[0].end].endswith(_GROUPS)

    def _between(self, start: int, end: int) -> list[End]:
        first, last = bisect_left(self._places, start), bisect_left(self._places, end)
        return list(self._ends[first:last])


def _fits(end: End, type: str | None) -> bool:
    """Whether a name can be of the type that the verb asks for."""
    if type in ("person", "place") and end.identifier:
        return False
    return type is None or end.type is None or end.type == type or {end.type, type} <= _ALIKE


_ALIKE: Final = frozenset(["organization", "project", "place", "person", "agent"])
