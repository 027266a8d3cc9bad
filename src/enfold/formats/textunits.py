"""Texts that a graph holds as things of their own: evidence for what they speak of.

Such a text becomes an observation of the first thing that it is linked with; an import finds the
others in it by name, so that it is stored once. What else is said of it is kept with that thing as
an attribute, with a digest by which an export finds the text among the observations again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from enfold.formats.storable import is_storable
from enfold.model import EntityRecord

PREFIX: Final = "text_unit:"
"""What the attribute that holds a text unit begins with; its id is behind."""

DIGEST: Final = "digest"


@dataclass(frozen=True, slots=True)
class TextUnit:
    """A text with its id and what its source says of it besides."""

    id: str
    text: str
    beside: dict[str, Any] = field(default_factory=dict)

    def attribute(self) -> dict[str, Any]:
        """What an entity keeps of it, under ``PREFIX`` and its id."""
        return {DIGEST: digest(self.text)} | self.beside


def digest(text: str) -> str:
    """What tells a text unit's text among the observations of an entity."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def kept_with(record: EntityRecord) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(id, digest, what is said besides) of each text unit that an entity says it has."""
    for key, value in record.attributes.items():
        if key.startswith(PREFIX) and isinstance(value, dict) and DIGEST in value:
            unit_id = key.removeprefix(PREFIX)
            if unit_id.strip() and is_storable(unit_id):
                beside = {name: one for name, one in value.items() if name != DIGEST}
                yield unit_id, value[DIGEST], beside


def without(record: EntityRecord) -> dict[str, Any]:
    """The other attributes of an entity."""
    kept = record.attributes.items()
    return {key: value for key, value in kept if not key.startswith(PREFIX)}
