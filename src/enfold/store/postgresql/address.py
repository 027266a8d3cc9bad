"""Where a graph lies: a database, and a schema in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from enfold.errors import Invalid

SCHEMA: Final = "enfold"
"""The schema of a graph whose address names none."""

STATEMENT_SECONDS: Final = 600
"""How long one statement may take, unless the address says otherwise."""

_NAME: Final = re.compile("[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a graph.

    Attributes:
        url: the database, as its driver takes it.
        schema: the graph's schema. statement_seconds: 0 for no limit.
        shown: what people are shown: without user, password and options.
    """

    url: str = field(repr=False)
    schema: str
    statement_seconds: int
    shown: str

    @classmethod
    def of(cls, url: str) -> Address:
        """The address written as ``postgresql://user@host/database?schema=name``, with what
        else the driver knows, and ``statement_timeout`` in seconds.

        Raises:
            Invalid: ``unknown_url``.
        """
        try:
            parts = urlsplit(url)
            host = parts.hostname or ""
            port = f":{parts.port}" if parts.port else ""
            options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=False))
        except ValueError as error:
            raise _unknown(f"can't be read ({error})") from None
        schema = options.pop("schema", SCHEMA)
        if not _NAME.fullmatch(schema) or schema.startswith("pg_"):
            raise _unknown(
                f"names the schema {schema!r:.80}, which is none: lower-case letters, digits and _"
            )
        seconds = options.pop("statement_timeout", str(STATEMENT_SECONDS))
        if not seconds.isascii() or not seconds.isdigit() or len(seconds) > 6:
            raise _unknown(f"gives the statement_timeout {seconds!r:.80}, which is no number")
        plain = urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(options), ""))
        shown = f"postgresql://{host}{port}{quote(parts.path)}?schema={schema}"
        return cls(plain, schema, int(seconds), shown)

    @property
    def database(self) -> str:
        return urlsplit(self.url).path.strip("/") or "postgres"


def _unknown(why: str) -> Invalid:
    return Invalid(
        "unknown_url",
        f"The address of the graph {why}. Give one like postgresql://user@host/database?schema=name.",
    )
