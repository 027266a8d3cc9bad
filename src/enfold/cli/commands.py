"""Every command. Within a section of the help they stand as in their module."""

from __future__ import annotations

from enfold.cli import (
    exchange,
    find,
    gate,
    keep,
    look,
    naming,
    pairs,
    rate,
    recall,
    remember,
    review,
    settle,
    versions,
    vocabulary,
)
from enfold.cli.app import app

__all__ = [
    "app",
    "exchange",
    "find",
    "gate",
    "keep",
    "look",
    "naming",
    "pairs",
    "rate",
    "recall",
    "remember",
    "review",
    "settle",
    "versions",
    "vocabulary",
]
