"""An embedder for tests: texts that share words lie near each other. No model, no chance."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy import float32
from numpy.typing import NDArray
from xxhash import xxh64_intdigest

from enfold.errors import Unavailable


@dataclass
class FakeEmbedder:
    """A text is the sum of its words, each of which lies anywhere, but always there.

    Attributes:
        fails_on: a text with this is not placed: the model is out of reach.
        same: words that mean the same as another.
        asked: every text it was asked to place.
    """

    model: str = "fake"
    dimensions: int = 384
    anchor_floor: float = 0.6
    belief_floor: float = 0.5
    fails_on: str | None = None
    same: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        if self.fails_on is not None and any(self.fails_on in text for text in texts):
            raise Unavailable("model_unavailable", "The model is out of reach.")
        self.asked += texts
        return np.array([self._one(text) for text in texts], dtype=np.float32)

    def _one(self, text: str) -> NDArray[float32]:
        words = [self.same.get(word, word) for word in re.findall(r"\w+", text.casefold())]
        places = [_place(self.model, word, self.dimensions) for word in words or [""]]
        total = np.sum(places, axis=0)
        unit: NDArray[float32] = (total / np.linalg.norm(total)).astype(np.float32)
        return unit


@lru_cache(maxsize=10_000)
def _place(model: str, word: str, dimensions: int) -> NDArray[float32]:
    # Two of the dimensions for a word: what shares none has a cosine of 0, as a rule.
    place = np.zeros(dimensions, dtype=np.float32)
    for number in range(2):
        place[xxh64_intdigest(f"{model} {word}".encode(), seed=number) % dimensions] = 1
    return place
