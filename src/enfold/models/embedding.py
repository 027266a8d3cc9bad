"""Embedding models by name: the one that comes with enfold, or one at an endpoint that speaks the
OpenAI protocol."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from enfold.errors import Invalid, Unavailable
from enfold.models.addresses import is_address
from enfold.models.minilm import MiniLm
from enfold.ports import Embedder

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray
    from openai import OpenAI

MINILM: Final = "minilm"
OFF: Final = "off"

TIMEOUT: Final = 60.0
"""Seconds for one request."""

RETRIES: Final = 2
"""Further tries of a request that failed on its way; the waits between them grow to 8 seconds, or
to the minute that an endpoint may ask for."""

BATCH: Final = 32
"""Texts in one request: what small servers take at most by default."""

MOST_CHARACTERS: Final = 8_192
"""Of a text; models take 256 to 8,192 tokens, and a token has a character at least."""

REFUSED: Final = (400, 413, 422)
"""The statuses of an endpoint that does not take what it was sent."""

MOST_BYTES: Final = 1 << 24
"""Of one answer: 32 vectors of 4,096 numbers take 3 MB."""


def embedder(
    name: str, url: str = "", key: str = "", timeout: float = TIMEOUT, threads: int = 0
) -> Embedder | None:
    """What places texts by meaning, as the settings name it; None for ``off``.

    Args:
        name: ``minilm``, ``off``, or the name of a model at ``url``.
        key: empty where the endpoint asks for none.
        timeout: seconds for one request to an endpoint.
        threads: for ``minilm``; 0 takes one for each core.

    Raises:
        Invalid: ``bad_setting``: no name, or that of a model whose address is missing or is none.
    """
    if name == OFF:
        return None
    if name == MINILM:
        return MiniLm(threads)
    if not name or not is_address(url):
        raise Invalid(
            "bad_setting",
            f"The setting embedder is {name!r} and embedder_url says no address of a model. Set "
            "embedder_url to an endpoint that speaks the OpenAI protocol, such as "
            "http://127.0.0.1:11434/v1, or embedder to minilm or off.",
        )
    return Endpoint(name, url, key, timeout=timeout)


class Endpoint:
    """A model at an endpoint that speaks the OpenAI protocol.

    How many dimensions it has is learned from its first answer, and its floors from how near it
    places a few statements that say the same, and a few that don't (see ``SAME``).

    Args:
        model: its name there, which a graph is stamped with.
        key: never shown, also where the endpoint repeats it.
        timeout: seconds for one request.
        retries: further tries of each.
    """

    def __init__(
        self,
        model: str,
        url: str,
        key: str = "",
        *,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
    ) -> None:
        self._model = model
        self._url = url
        self._key = key
        self._timeout = timeout or TIMEOUT
        self._retries = retries

    @property
    def model(self) -> str:
        return self._model

    @cached_property
    def dimensions(self) -> int:
        return int(self.embed(["dimensions"]).shape[1])

    @property
    def anchor_floor(self) -> float:
        return self._floor(MiniLm.anchor_floor)

    @property
    def belief_floor(self) -> float:
        return self._floor(MiniLm.belief_floor)

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """A row of length 1 for each text.

        Raises:
            Unavailable: ``needs_extra``: the client library is not installed;
                ``model_unavailable``: the endpoint can't be reached, refuses, or does not answer
                in time; ``model_refused``: it does not take these texts; ``model_nonsense``: what
                it answers are no vectors of the texts.
        """
        import numpy

        if not texts:
            return numpy.empty((0, self.dimensions), numpy.float32)
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        with self._client() as client:
            parts = [self._vectors(client, [_sent(text) for text in batch]) for batch in batches]
        width = self.__dict__.setdefault("dimensions", parts[0].shape[1])
        if any(part.shape[1] != width for part in parts):
            raise self._nonsense(f"vectors of other dimensions than {width}")
        return numpy.concatenate(parts)

    # ---- the floors ----

    def _floor(self, of_minilm: float) -> float:
        """A floor as far between unrelated and same as it is for the model that was measured."""
        unrelated, same = self._scale
        part = (of_minilm - MINILM_UNRELATED) / (MINILM_SAME - MINILM_UNRELATED)
        return min(1.0, unrelated + part * (same - unrelated))

    @cached_property
    def _scale(self) -> tuple[float, float]:
        """The middle cosine of statements that don't say the same, and of those that do."""
        return scale(self.embed([text for pair in SAME for text in pair]))

    # ---- the wire ----

    def _client(self) -> OpenAI:
        try:
            from openai import OpenAI
        except ImportError as error:
            raise Unavailable(
                "needs_extra",
                "A model at an endpoint needs a library that is not installed: "
                "pip install 'enfold[llm]'. Or set embedder to minilm or off.",
            ) from error
        # Without a key the client would take one from the environment, which is for others.
        return OpenAI(
            base_url=self._url,
            api_key=self._key or "none",
            timeout=self._timeout,
            max_retries=self._retries,
        )

    def _vectors(self, client: OpenAI, texts: list[str]) -> NDArray[float32]:
        import openai

        try:
            answer = self._answer(client, texts)
        except openai.APIStatusError as error:
            raise self._refused(error) from None  # whose text may hold the key
        except openai.APITimeoutError:
            raise self._late() from None
        except Unavailable:
            raise
        # A connection that breaks while the answer is read raises what the library below raises.
        except Exception as error:
            raise self._failed(
                f"can't be reached ({type(error).__name__})",
                "Look whether embedder_url is right and what serves it runs, then try again.",
            ) from None
        return self._unit(_rows(answer), len(texts))

    def _answer(self, client: OpenAI, texts: list[str]) -> bytes:
        """What the endpoint says, bounded in time and size also where it trickles."""
        until = time.monotonic() + self._timeout * (self._retries + 1)
        said = bytearray()
        asked = client.embeddings.with_streaming_response.create(
            model=self._model, input=texts, encoding_format="float"
        )
        with asked as response:
            for part in response.iter_bytes():
                said += part
                if len(said) > MOST_BYTES:
                    raise self._nonsense(f"more than {MOST_BYTES >> 20} MB for {len(texts)} texts")
                if time.monotonic() > until:
                    raise self._late()
        return bytes(said)

    def _unit(self, rows: list[Any] | None, wanted: int) -> NDArray[float32]:
        import numpy

        if rows is None:
            raise self._nonsense("what is no list of vectors")
        if len(rows) != wanted:
            raise self._nonsense(f"{len(rows)} vectors for {wanted} texts")
        try:
            vectors = numpy.array(rows, numpy.float64)
        except (ValueError, TypeError, OverflowError):
            raise self._nonsense("vectors of unequal length, or of what are no numbers") from None
        if vectors.ndim != 2 or not vectors.shape[1]:
            raise self._nonsense("what is no list of vectors")
        with numpy.errstate(all="ignore"):  # of 1e300 it is infinite
            lengths = numpy.linalg.norm(vectors, axis=1, keepdims=True)
        if not numpy.isfinite(lengths).all() or not lengths.all():
            raise self._nonsense("a vector without a length")
        unit: NDArray[float32] = (vectors / lengths).astype(numpy.float32)
        return unit

    # ---- what went wrong ----

    def _refused(self, error: Any) -> Unavailable:
        status = int(error.status_code)
        if status in (401, 403):
            todo = "It refuses the key: set embedder_key."
        elif status == 404:
            todo = "It knows no such model, or is none: look at embedder and embedder_url."
        elif status == 429:
            todo = "It takes no more for now: try again later."
        elif status < 500:
            todo = "It refuses the request: look whether the model is one for embeddings."
        else:
            todo = "It has a fault of its own: look at what serves it, then try again."
        failed = self._failed(f"answers with status {status}", todo)
        return Unavailable("model_refused", str(failed)) if status in REFUSED else failed

    def _late(self) -> Unavailable:
        return self._failed(
            f"did not answer within {self._timeout:g} seconds",
            "Try again, or set model_timeout higher.",
        )

    def _nonsense(self, what: str) -> Unavailable:
        todo = "Look whether embedder names a model for embeddings there."
        return self._failed(f"answers {what}", todo, code="model_nonsense")

    def _failed(self, what: str, todo: str, *, code: str = "model_unavailable") -> Unavailable:
        parts = urlsplit(self._url)  # without a name and password in it
        where = f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")
        return Unavailable(code, f"The embedding model {self._model} at {where} {what}. {todo}")


def _sent(text: str) -> str:
    """A text as an endpoint takes it: not empty, not too long, and sound."""
    return text.strip()[:MOST_CHARACTERS].encode("utf-8", "replace").decode() or "."


def _rows(answer: bytes) -> list[Any] | None:
    """The vectors of an answer in the order of the texts; None where it is no such answer."""
    try:
        data = json.loads(answer)["data"]
        rows = [(one.get("index", at), one["embedding"]) for at, one in enumerate(data)]
        if sorted(place for place, _ in rows) != list(range(len(rows))):
            return None
        return [row for _, row in sorted(rows, key=lambda one: one[0])]
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None


# ---- a model's own scale ------------------------------------------------------------------------

SAME: Final = (
    ("Ada moved the ingest worker to Postgres.", "The ingest worker was moved to Postgres by Ada."),
    ("The staging cluster runs in Frankfurt.", "Our staging cluster is hosted in Frankfurt."),
    ("Marta prefers a dark theme.", "What Marta likes is dark mode."),
    ("The weekly review is on Tuesday.", "Every Tuesday we hold the weekly review."),
    ("Deploys need two approvals.", "Two people have to approve a deployment."),
    ("Passwords are hashed with Argon2.", "We use Argon2 to hash passwords."),
    ("The office closes at seven.", "At seven the office shuts."),
    ("Theo bought a house near the lake.", "Near the lake, Theo purchased a house."),
    ("The printer is broken again.", "Once more the printer does not work."),
    ("Invoices go out on the first of the month.", "On the first of each month invoices are sent."),
    ("Luis gives talks about chess.", "Chess is what Luis speaks about."),
    ("The gateway is switched off in winter.", "In winter the gateway gets shut down."),
)
"""Statements that say the same two by two, and nothing of each other. Cosines of models have scales
of their own: unrelated texts lie at 0.1 for one, at 0.8 for another."""

MINILM_UNRELATED: Final = 0.079
MINILM_SAME: Final = 0.873
"""The scale of the model that the floors were measured on; a test holds them to it."""


def scale(vectors: NDArray[float32]) -> tuple[float, float]:
    """The middle cosine of unrelated and of equal statements, given the vectors of ``SAME``, in
    order."""
    import numpy

    cosines = vectors @ vectors.T
    pair = numpy.arange(len(vectors)) // 2
    same = cosines[::2, 1::2].diagonal()
    unrelated = cosines[pair[:, None] != pair[None, :]]
    return float(numpy.median(unrelated)), float(numpy.median(same))
