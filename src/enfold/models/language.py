"""A language model at an endpoint that speaks the OpenAI protocol, for one structured answer at a
time.

Each call is bounded: in time, in tokens, in tries. It opens its own connection and closes it, so
that a model can be used from any thread, also from one with a running event loop, and nothing is
left to be closed; against the seconds a model thinks, the milliseconds don't count.

An answer has the shape of its schema: its objects, their required fields, the types of all values.
Whether a word is one of an ``enum`` and a list short enough is for the asker to see: what is too
much can be left out, and is no reason to throw an answer away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from enfold.errors import Invalid, Unavailable
from enfold.models.addresses import is_address
from enfold.ports import Model, Reply

if TYPE_CHECKING:
    from pydantic_ai import Agent
    from pydantic_ai.models import Model as Engine

TIMEOUT: Final = 60.0
"""Seconds for an answer, further tries included."""

RETRIES: Final = 2
"""Further tries: of a request that failed on its way, and of an answer that does not fit."""

TOKENS: Final = 4_096
"""Tokens of one answer; models that think aloud before they answer need most of them."""

MOST_BYTES: Final = 1 << 22
"""Of one answer, unpacked; its tokens take a hundredth of that. What is longer would fill the
memory, and be parsed for longer than anybody waits."""

CONNECT: Final = 5.0
"""Seconds for a connection: what is there takes it at once."""

SAID: Final = 200
"""Characters of what an endpoint said that are passed on."""

_TEMPLATE: Final = "Answer with one JSON object that fits this schema, and nothing else:\n{schema}"


class LanguageModel:
    """See ``ports.Model``.

    Args:
        name: the model, as recorded with what it said.
        engine: makes what is asked; called once for each answer.
        key: what must never be shown, also where an endpoint repeats it.
    """

    def __init__(
        self,
        name: str,
        engine: Callable[[], Engine],
        *,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        key: str = "",
    ) -> None:
        self._name = name
        self._engine = engine
        self._timeout = timeout
        self._retries = retries
        self._key = key

    @property
    def name(self) -> str:
        return self._name

    def ask(self, instructions: str, prompt: str, schema: Mapping[str, object]) -> Reply:
        return _finished(lambda: self._ask(instructions, prompt, schema))

    async def _ask(self, instructions: str, prompt: str, schema: Mapping[str, object]) -> Reply:
        from pydantic_ai.exceptions import AgentRunError

        try:
            async with asyncio.timeout(self._timeout), self._agent(instructions, schema) as agent:
                done = await agent.run(prompt)
        except TimeoutError:
            raise Unavailable(
                "model_unavailable",
                f"The model {self._name} did not answer within {self._timeout:g} seconds. Try "
                "again, or set model_timeout higher.",
            ) from None
        except AgentRunError as error:
            raise self._failed(error) from None  # whose text may hold the key
        except Unavailable:
            raise
        except Exception as error:  # what the library falls over in an answer that is none
            raise self._nonsense(f"what can't be read, {type(error).__name__}") from None
        used = done.usage
        return Reply(done.output, self._name, used.input_tokens, used.output_tokens)

    def _agent(
        self, instructions: str, schema: Mapping[str, object]
    ) -> Agent[None, dict[str, Any]]:
        from httpx2 import Timeout
        from pydantic_ai import Agent, ModelRetry, NativeOutput, StructuredDict

        answer = StructuredDict(dict(schema), name="answer")
        agent = Agent(
            self._engine(),
            output_type=NativeOutput(answer, template=_TEMPLATE),
            instructions=instructions,
            retries=self._retries,
            model_settings={
                "timeout": Timeout(self._timeout, connect=min(CONNECT, self._timeout)),
                "max_retries": self._retries,
                "max_tokens": TOKENS,
                "temperature": 0.0,
            },
        )

        @agent.output_validator
        def fits(value: dict[str, Any]) -> dict[str, Any]:
            if said := misfit(value, schema):
                raise ModelRetry(f"The answer does not fit the schema: {said}")
            return value

        return agent

    def _failed(self, error: Exception) -> Unavailable:
        """An error of the library in our words."""
        from pydantic_ai import exceptions as theirs

        name, said = self._name, self._said(error)
        if isinstance(error, theirs.ModelAuthenticationError):
            todo = "The endpoint refuses the key. Set model_key."
        elif isinstance(error, theirs.ModelNotFoundError):
            todo = "The endpoint knows no such model, or is none. Look at model and model_url."
        elif isinstance(error, theirs.ModelRateLimitError | theirs.ModelQuotaExceededError):
            todo = "The endpoint takes no more for now. Try again later."
        elif isinstance(error, theirs.ModelRequestRejectedError):
            todo = "The endpoint refuses the request. Look at what it says."
        elif isinstance(error, theirs.ModelAPIError):
            todo = "Look whether model_url is right and what serves it runs, then try again."
        else:
            return self._nonsense(said)
        return Unavailable("model_unavailable", f"The model {name} did not answer ({said}). {todo}")

    def _nonsense(self, said: str) -> Unavailable:
        return nonsense(self._name, said)

    def _said(self, error: Exception) -> str:
        """What went wrong, on one line, without the key."""
        body = getattr(error, "body", None)
        status = getattr(error, "status_code", None)
        inner = body.get("error", body) if isinstance(body, dict) else body
        words = inner.get("message", inner) if isinstance(inner, dict) else inner
        said = " ".join(str(words if status is not None and words else error).split())
        if self._key:
            said = said.replace(self._key, "…")
        status_said = f"status {status}: " if status is not None else ""
        return (status_said + said)[:SAID].rstrip(" .:")


def nonsense(model: str, said: str) -> Unavailable:
    """What is to be said of an answer that is none."""
    return Unavailable(
        "model_nonsense",
        f"The model {model} gave no answer that fits what it was asked for ({said}). Try again, or "
        "set another model.",
    )


def _finished(ask: Callable[[], Awaitable[Reply]]) -> Reply:
    """What it comes to, also where this thread runs an event loop already."""

    async def run() -> Reply:
        return await ask()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(run())
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, run()).result()


# ---- what fits ----------------------------------------------------------------------------------

_TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}


def misfit(value: object, schema: Mapping[str, Any], at: str = "the answer") -> str | None:
    """Where a value has not the shape of a JSON schema; None where it has.

    Looks at ``type``, ``properties``, ``required`` and ``items``.
    """
    wanted = schema.get("type", [])
    types = [wanted] if isinstance(wanted, str) else wanted
    if types and not any(_is_of(value, type) for type in types):
        return f"{at} is to be {' or '.join(types)}."
    if isinstance(value, dict):
        for name in schema.get("required", ()):
            if name not in value:
                return f"{at} lacks {name!r}."
        parts = [
            (value[name], part, f"{at}.{name}")
            for name, part in schema.get("properties", {}).items()
            if name in value
        ]
    elif isinstance(value, list) and "items" in schema:
        parts = [(one, schema["items"], f"{at}[{n}]") for n, one in enumerate(value)]
    else:
        parts = []
    return next(filter(None, (misfit(*part) for part in parts)), None)


def _is_of(value: object, type: str) -> bool:
    if isinstance(value, bool):  # which Python takes for a number
        return type == "boolean"
    return isinstance(value, _TYPES[type])


# ---- by settings --------------------------------------------------------------------------------


def model(name: str, url: str, key: str = "", timeout: float = TIMEOUT) -> Model | None:
    """The language model that the settings name; None for none.

    Raises:
        Invalid: ``bad_setting``: a model without an address.
        Unavailable: ``needs_extra``.
    """
    if not name:
        return None
    if not is_address(url):
        raise Invalid(
            "bad_setting",
            f"The setting model names {name!r}, and model_url does not say where it is. Set "
            "model_url to an endpoint that speaks the OpenAI protocol, such as "
            "http://127.0.0.1:11434/v1.",
        )
    return at(url, name, key, timeout or TIMEOUT)


def at(
    url: str, name: str, key: str = "", timeout: float = TIMEOUT, retries: int = RETRIES
) -> LanguageModel:
    """The model of that name at an endpoint.

    Args:
        key: empty where the endpoint asks for none.

    Raises:
        Unavailable: ``needs_extra``: the libraries for language models are not installed.
    """
    try:
        from enfold.models.bounded import endpoint
    except ImportError as error:
        raise Unavailable(
            "needs_extra",
            "A language model needs libraries that are not installed: "
            "pip install 'enfold[llm]'. Or unset model.",
        ) from error

    def engine() -> Engine:
        too_much = nonsense(name, f"an answer of more than {MOST_BYTES >> 20} MB")
        return endpoint(url, name, key, most=MOST_BYTES, too_much=too_much)

    return LanguageModel(name, engine, timeout=timeout, retries=retries, key=key)
