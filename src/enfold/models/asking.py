"""Names and relations of texts, as a language model reads them.

The model proposes; what it says is taken only as far as the text bears it out. A spelling has to
stand in the text, alone and not as a part of another word, and is taken as the text writes it; a
type or a predicate has to be a term of the graph; a relation joins two names that were given or
known. What does not hold is left out.

A text is asked about by itself, so that nothing in it can touch another, and long ones by their
passages. Some are asked about at a time. Where a text can't be read, the others are; where a model
does not answer several in a row, it is taken to be gone, and the rest is left for later.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from enfold import passages
from enfold.errors import Invalid, Unavailable
from enfold.model import Extracted, NameInText, RelationInText, Term
from enfold.names import clean, is_cjk
from enfold.ports import Extractor, Model
from enfold.prompts import DATA, fenced

NAMES: Final = 5
RELATIONS: Final = 5
"""Names and relations taken of a passage: the first of those given."""

PART: Final = 4_000
"""Characters that are asked about at once: about a thousand tokens of English."""

KNOWN: Final = 50
"""Known names offered with a passage."""

SPELLING: Final = 200
"""Characters of a name; what is longer is a sentence."""

AT_ONCE: Final = 4
"""Texts that are asked about at a time."""

PATIENCE: Final = 3
"""Texts in a row without an answer, after which the model is taken to be gone."""

_INSTRUCTIONS: Final = """\
You read one text and say which things it names and what it states of them.

Names: at most {names}, the most important first. Take people, organizations, products, places and \
other things that have a name of their own, never pronouns, dates, numbers, plain words or whole \
phrases. Spell each exactly as the text does. Give its type, or null where none fits, and your \
confidence from 0 to 1.

Relations: at most {relations}. Only what the text itself states, never what you know or guess. \
Subject and object are names you gave or known names, spelled as there.

An empty list is a good answer.

Types:
{types}

Predicates (subject, predicate, object):
{predicates}

{data}"""


class ModelExtractor:
    """See ``ports.Extractor``."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def model(self) -> str:
        return self._model.name

    def extract(
        self, texts: Sequence[str], known: Sequence[Sequence[NameInText]], terms: Sequence[Term]
    ) -> list[Extracted]:
        """See ``ports.Extractor``; a text that could not be read says why in ``failed``.

        Raises:
            Unavailable: none of the texts could be read.
        """
        asked = _Asked(self._model, terms)
        with ThreadPoolExecutor(AT_ONCE) as threads:
            found = list(threads.map(asked.read, texts, known))
        errors = [one for one in found if isinstance(one, Unavailable)]
        if errors and len(errors) == len(found):
            raise errors[0]
        return [Extracted(failed=str(o)) if isinstance(o, Unavailable) else o for o in found]


class _Asked:
    """One call: the same instructions for every text, and how many in a row had no answer."""

    def __init__(self, model: Model, terms: Sequence[Term]) -> None:
        self._model = model
        self._types = _named(terms, "type")
        self._predicates = _named(terms, "predicate")
        self._instructions = _INSTRUCTIONS.format(
            names=NAMES,
            relations=RELATIONS,
            types=_listed(self._types),
            predicates=_listed(self._predicates),
            data=DATA,
        )
        self._schema = schema(list(self._types), list(self._predicates))
        self._unanswered: list[Unavailable] = []

    def read(self, text: str, known: Sequence[NameInText]) -> Extracted | Unavailable:
        if len(self._unanswered) >= PATIENCE:
            return self._unanswered[-1]
        try:
            found = [self._read(part, known) for part in _parts(text)]
        except Unavailable as error:
            if error.code == "model_unavailable":
                self._unanswered.append(error)
            return error
        self._unanswered.clear()
        return together(found)

    def _read(self, part: str, known: Sequence[NameInText]) -> Extracted:
        near = list(dict.fromkeys(one.spelling for one in known if one.spelling in part))[:KNOWN]
        prompt = fenced("TEXT", part)
        if near:
            prompt += f"\n\nKnown names in it: {json.dumps(near, ensure_ascii=False)}"
        reply = self._model.ask(self._instructions, prompt, self._schema)
        return checked(reply.value, part, near, self._types, self._predicates)


def _parts(text: str) -> list[str]:
    if len(text) <= PART:
        return [text]
    return [one.content for one in passages.split(text, most=PART)]


def _named(terms: Sequence[Term], kind: str) -> dict[str, Term]:
    return {term.name: term for term in terms if term.kind == kind and term.enabled}


def _listed(terms: Mapping[str, Term]) -> str:
    return "\n".join(f"- {t.name}: {clean(t.description)}" for t in terms.values()) or "(none)"


def schema(types: Sequence[str], predicates: Sequence[str]) -> dict[str, object]:
    """The JSON schema of an answer."""
    word, sure = {"type": "string"}, {"type": "number"}
    kind: dict[str, object] = {"type": ["string", "null"], "enum": [*types, None]}
    predicate = {**word, "enum": list(predicates)} if predicates else word
    return _of(
        names=_many(_of(name=word, type=kind, confidence=sure), NAMES),
        relations=_many(
            _of(subject=word, predicate=predicate, object=word, confidence=sure),
            RELATIONS if predicates else 0,
        ),
    )


def _of(**properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _many(one: object, most: int) -> dict[str, object]:
    return {"type": "array", "items": one, "maxItems": most}


# ---- what of an answer holds --------------------------------------------------------------------


def checked(
    answer: Mapping[str, Any],
    text: str,
    known: Sequence[str],
    types: Mapping[str, Term],
    predicates: Mapping[str, Term],
) -> Extracted:
    """What of an answer the text bears out."""
    names: dict[str, NameInText] = {}
    for said in answer["names"]:
        spelling = written(said["name"], text)
        if spelling is not None and len(names) < NAMES:
            sure = _confidence(said["confidence"])
            names.setdefault(spelling, NameInText(spelling, _term(said["type"], types), sure))
    ends = {one.casefold(): one for one in (*known, *names)}
    relations: dict[tuple[str, str, str], RelationInText] = {}
    for said in answer["relations"]:
        subject, target = (ends.get(clean(said[end]).casefold()) for end in ("subject", "object"))
        predicate = _term(said["predicate"], predicates)
        if subject and target and predicate and subject != target and len(relations) < RELATIONS:
            one = RelationInText(subject, predicate, target, _confidence(said["confidence"]))
            relations.setdefault((subject, predicate, target), one)
    return Extracted(tuple(names.values()), tuple(relations.values()))


def written(name: str, text: str) -> str | None:
    """A name as the text writes it where it stands there as a word of its own; else None."""
    words = clean(name).split()
    if not words or len(name) > SPELLING:
        return None
    pattern = r"\s+".join(map(re.escape, words))
    before = r"(?<!\w)" if _joins(words[0][0]) else ""
    after = r"(?!\w)" if _joins(words[-1][-1]) else ""
    for flags in (re.NOFLAG, re.IGNORECASE):
        if match := re.search(f"{before}{pattern}{after}", text, flags):
            return clean(match[0])
    return None


def _joins(char: str) -> bool:
    """Whether a letter beside it would make another word: not in scripts that put no blanks between
    words (Han and kana; Thai to Khmer)."""
    return char.isalnum() and not is_cjk(char) and not "\u0e00" <= char <= "\u17ff"


def _term(said: str | None, terms: Mapping[str, Term]) -> str | None:
    if said is None or said in terms:
        return said
    name = _alike(said)
    return next((term for term in terms if _alike(term) == name), None)


def _alike(term: str) -> str:
    """A term without what models change in it: capitals, and what parts its words."""
    return re.sub(r"[\s_-]+", "_", term.strip()).casefold()


def _confidence(said: float) -> float:
    return float(min(1, max(0, said)))  # of NaN, 0


def together(parts: Sequence[Extracted]) -> Extracted:
    """What several passages of one text name and state, each once."""
    names = {one.spelling: one for part in reversed(parts) for one in reversed(part.names)}
    relations = {
        (one.subject, one.predicate, one.object): one
        for part in reversed(parts)
        for one in reversed(part.relations)
    }
    return Extracted(tuple(reversed(names.values())), tuple(reversed(relations.values())))


# ---- by settings --------------------------------------------------------------------------------


def extractor(kind: str, model: Model | None) -> Extractor | None:
    """The extractor that the settings name; None for the one that a graph has by itself.

    Args:
        kind: ``offline`` or ``model``.

    Raises:
        Invalid: ``bad_setting``: an extractor that is none, or ``model`` without a model.
    """
    if kind == "offline":
        return None
    if kind != "model":
        raise Invalid(
            "bad_setting", f"The setting extractor is {kind!r}; it can be offline or model."
        )
    if model is None:
        raise Invalid(
            "bad_setting",
            "The setting extractor is model, and no model is set. Set model and model_url, or "
            "extractor to offline.",
        )
    return ModelExtractor(model)
