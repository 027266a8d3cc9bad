"""Every command. Within a section of the help they stand as in their module."""

from __future__ import annotations

from enfold.cli import exchange, find, keep, look, naming, rate, review, settle
from enfold.cli.app import app

__all__ = ["app", "exchange", "find", "keep", "look", "naming", "rate", "review", "settle"]
