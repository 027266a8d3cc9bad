"""What of a text is prose: code blocks, tags, addresses and link targets are blanked out.

Every character keeps its place, so that what is found is a slice of the text itself. Every pattern
here is bounded or eats what it looks at, so that a text costs time in proportion to its length.
"""

from __future__ import annotations

import re
from typing import Final

GAP: Final = "\x00"
"""Stands where something was blanked out; no name goes over it."""

_FENCE: Final = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})", re.MULTILINE)
_ADDRESS: Final = re.compile(r"\b(?:https?|ftp|file|ssh|git|s3|postgres(?:ql)?)://[^\s<>\"'`)\]]+")
_MAIL: Final = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}\b", re.ASCII
)
_TAG: Final = re.compile(r"</?[A-Za-z][^<>\n]{0,300}>|<!--[^<>]{0,1000}-->")
_TARGET: Final = re.compile(r"\]\([^()\s]{0,2000}\)")
_ENTITY: Final = re.compile(r"&[a-z]{2,8};|&#\d{1,6};")
_CONTROL: Final = re.compile(
    "[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f]"
)


def prose(text: str) -> str:
    """The text with all that is no prose blanked out, every character in its place."""
    plain = _without_blocks(text) if "```" in text or "~~~" in text else text
    if "://" in plain:
        plain = _ADDRESS.sub(_blank, plain)
    if "@" in plain:
        plain = _MAIL.sub(_blank, plain)
    if "<" in plain:
        plain = _TAG.sub(_blank, plain)
    if "](" in plain:
        plain = _TARGET.sub(_blank, plain)
    if "&" in plain:
        plain = _ENTITY.sub(_blank, plain)
    return plain if plain.isprintable() else _CONTROL.sub(GAP, plain)


def _blank(match: re.Match[str]) -> str:
    return GAP * len(match.group())


def _without_blocks(text: str) -> str:
    """Without what stands between fences; a fence that is never closed ends with the text."""
    parts, at = [], 0
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence.group(1)[0] == opened.group(1)[0] and len(fence.group(1)) >= len(
            opened.group(1)
        ):
            parts += [text[at : opened.start()], _lines(text[opened.start() : fence.end()])]
            at, opened = fence.end(), None
    if opened is not None:
        parts += [text[at : opened.start()], _lines(text[opened.start() :])]
        at = len(text)
    return "".join([*parts, text[at:]])


def _lines(block: str) -> str:
    return re.sub("[^\n]", GAP, block)
