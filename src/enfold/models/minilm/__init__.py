"""The embedding model that comes with enfold: all-MiniLM-L6-v2, on the processor and offline.

Its files lie beside this one, with where they are from and how they were verified (README.md).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from enfold.errors import Unavailable

if TYPE_CHECKING:
    from numpy import float32, int64
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

FOLDER: Final = Path(__file__).parent
MODEL: Final = FOLDER / "model.onnx"
TOKENIZER: Final = FOLDER / "tokenizer.json"

DIMENSIONS: Final = 384
MOST_TOKENS: Final = 256
"""What the model was made for; what a text says beyond them has no weight."""

MOST_CHARACTERS: Final = 8_192
"""A text is cut here before it becomes tokens, so that one of 10 MB costs no more than a page: 256
tokens of prose are about 1,200 characters."""

_BATCH: Final = 1_024
"""Tokens in one batch, padding included: the fastest of 256 to 4,096, and 4,096 took 0.9 GB."""

_WINDOW: Final = 8_192
"""Texts that are held as tokens at a time."""


class MiniLm:
    """all-MiniLM-L6-v2 with weights of 8 bits: English, 384 dimensions, the first 256 tokens.

    A text's vector does not depend on what else is in the batch. The model is loaded by the first
    text, once in a process, and may be used from several threads.

    Args:
        threads: for one batch; 0 takes one for each core that this process may use.
    """

    model: Final = "all-MiniLM-L6-v2-int8"
    dimensions: Final = DIMENSIONS
    # Where these are from: bench/embed.py prints them, docs/explanation/embeddings.md shows them.
    anchor_floor: Final = 0.5
    belief_floor: Final = 0.55

    def __init__(self, threads: int = 0) -> None:
        self._threads = threads

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """A row of length 1 for each text.

        Raises:
            Unavailable: ``model_unavailable``: onnxruntime or the model's files can't be loaded.
        """
        import numpy

        rows = numpy.empty((len(texts), DIMENSIONS), numpy.float32)
        if not texts:
            return rows
        loaded = _load(self._threads)
        for start in range(0, len(texts), _WINDOW):
            tokens = [loaded.tokens(text) for text in texts[start : start + _WINDOW]]
            for batch in _batches([len(row) for row in tokens]):
                rows[[start + at for at in batch]] = loaded.vectors([tokens[at] for at in batch])
        return rows


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Which texts go together: those of about one length, so that little of a batch is padding."""
    batch: list[int] = []
    for at in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[at] * (len(batch) + 1) > _BATCH:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The model in memory, about 240 MB of it."""

    tokenizer: Tokenizer
    session: InferenceSession

    def tokens(self, text: str) -> list[int]:
        # One at a time: the tokenizer's own threads would warn on every later fork of the process,
        # and a text takes 10 us where the model takes 1,000.
        shown = text.lstrip()[:MOST_CHARACTERS].encode("utf-8", "replace").decode()
        return self.tokenizer.encode(shown).ids

    def vectors(self, tokens: Sequence[Sequence[int]]) -> NDArray[float32]:
        """The mean over each text's tokens, at length 1."""
        import numpy

        ids = numpy.zeros((len(tokens), max(map(len, tokens))), numpy.int64)
        mask = numpy.zeros_like(ids)
        for at, row in enumerate(tokens):
            ids[at, : len(row)] = row
            mask[at, : len(row)] = 1
        states = self._states(ids, mask)
        weights = mask[..., None].astype(numpy.float32)
        means = (states * weights).sum(axis=1) / weights.sum(axis=1)
        unit: NDArray[float32] = means / numpy.linalg.norm(means, axis=1, keepdims=True)
        return unit

    def _states(self, ids: NDArray[int64], mask: NDArray[int64]) -> NDArray[float32]:
        import numpy

        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        states: NDArray[float32] = self.session.run(["last_hidden_state"], given)[0]
        return states


class _Process:
    """What the threads of this process share: a model for each number of threads asked for."""

    def __init__(self) -> None:
        self.loading = threading.Lock()
        self.loaded: dict[int, _Loaded] = {}


_process = _Process()


def _load(threads: int) -> _Loaded:
    with _process.loading:
        if threads not in _process.loaded:
            _process.loaded[threads] = _Loaded(*_open(threads or _cores()))
        return _process.loaded[threads]


def _open(threads: int) -> tuple[Tokenizer, InferenceSession]:
    try:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(MODEL, options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_file(str(TOKENIZER))
    # Both libraries raise exceptions of their own, some of no class but Exception.
    except Exception as error:
        raise Unavailable(
            "model_unavailable",
            f"The embedding model that comes with enfold can't be loaded ({error}). Install enfold "
            "anew with what it needs, onnxruntime and tokenizers, or do without vectors: set "
            "ENFOLD_EMBEDDER=off.",
        ) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(MOST_TOKENS)
    return tokenizer, session


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _forget() -> None:
    """A forked process has none of the threads that the model runs on, and loads it anew."""
    _process.loading = threading.Lock()
    _process.loaded.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
