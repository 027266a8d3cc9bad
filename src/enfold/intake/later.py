"""Records that must wait until every entity is known, in a file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, Any, Final, Self, TypeVar

from enfold.model import EntityRecord, IdentityRecord, RelationRecord

Waiting = EntityRecord | RelationRecord | IdentityRecord

_KINDS: Final[dict[str, Any]] = {
    "entity": EntityRecord,
    "relation": RelationRecord,
    "identity": IdentityRecord,
}
_WORDS: Final = {kind: word for word, kind in _KINDS.items()}

_Kind = TypeVar("_Kind", EntityRecord, RelationRecord, IdentityRecord)


class Later:
    """Records as they come, to be read again by kind, in their order."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    @classmethod
    @contextmanager
    def opened(cls) -> Iterator[Self]:
        with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
            yield cls(file)

    def add(self, record: Waiting) -> None:
        if isinstance(record, EntityRecord):
            record = replace(record, observations=())
        said = {name: getattr(record, name) for name in record.__dataclass_fields__}
        self._file.write(json.dumps([_WORDS[type(record)], said]) + "\n")

    def of(self, kind: type[_Kind]) -> Iterator[_Kind]:
        """Every record of that kind; one such reading at a time."""
        self._file.seek(0)
        start = f'["{_WORDS[kind]}"'
        for line in self._file:
            if line.startswith(start):
                said = json.loads(line)[1]
                if kind is EntityRecord:
                    said["observations"], said["aliases"] = (), tuple(said["aliases"])
                yield kind(**said)
