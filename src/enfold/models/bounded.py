"""A language model's endpoint, from which no more is read than an answer can have."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from httpx2 import AsyncClient, Headers, Request, Response
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from enfold.errors import Unavailable


class _Bounded(AsyncClient):
    """Reads what an endpoint says piece by piece, unpacked, and gives up what is too much."""

    def __init__(self, most: int, too_much: Unavailable) -> None:
        super().__init__()
        self._most = most
        self._too_much = too_much

    async def send(self, request: Request, *, stream: bool = False, **how: Any) -> Response:
        response = await super().send(request, stream=True, **how)
        if stream:
            return response
        try:
            said = await self._read(response)
        finally:
            await response.aclose()
        headers = Headers(response.headers)
        for packed in ("content-encoding", "content-length", "transfer-encoding"):
            headers.pop(packed, None)
        return Response(response.status_code, headers=headers, content=said, request=request)

    async def _read(self, response: Response) -> bytes:
        said = bytearray()
        async for part in response.aiter_bytes():
            said += part
            if len(said) > self._most:
                raise self._too_much
        return bytes(said)


class _Endpoint(OpenAIChatModel):
    """Closes its connections with itself, which the library leaves to who made them."""

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        await self.client.close()
        return await super().__aexit__(exc_type, exc_val, exc_tb)


def endpoint(url: str, name: str, key: str, *, most: int, too_much: Unavailable) -> OpenAIChatModel:
    """What asks the model of that name at an endpoint.

    Args:
        key: empty where the endpoint asks for none.
        most: bytes of one answer, unpacked. too_much: what is raised where it has more.
    """
    provider = OpenAICompatibleProvider(
        "endpoint",
        base_url=url,
        api_key=key or None,
        http_client=_Bounded(most, too_much),
        profile=ModelProfile(supports_json_schema_output=True),
    )
    return _Endpoint(name, provider=provider)
