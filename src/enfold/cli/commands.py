"""Every command. Within a section of the help they stand as in their module."""

from __future__ import annotations

from enfold.cli import find, keep, look, naming, settle
from enfold.cli.app import app

__all__ = ["app", "find", "keep", "look", "naming", "settle"]
