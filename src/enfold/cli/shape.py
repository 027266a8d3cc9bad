"""How commands read their words and list their options, where Typer's own way is slow or loud.

Typer converts values through pydantic, whose import alone takes as long as Typer's (50 ms). Our
words are strings, numbers and paths, so they are converted here. Its plain help names Python's
types and ranges; people need neither.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

_TYPE: Final = re.compile(r" <[^<>]*>$")
_RANGE: Final = re.compile(r"(; )?(\d+<=)?x[<>]=-?\d+(?=[];])|(; )?\d+<=x<=\d+")
_EMPTY: Final = re.compile(r"\s*\[\s*(?:; )?\]")
_LEADING: Final = re.compile(r"\[; ")


class _Words:
    """Converts the words of one parameter; stands in for Typer's converter."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        many = param.multiple or param.nargs == -1
        if value is None:
            return () if many else None
        if many:
            return [self._one(each, param, ctx) for each in value]
        return self._one(value, param, ctx)

    def _one(self, value: Any, param: Any, ctx: Any) -> Any:
        kind = _kind(param)
        if kind is not int or isinstance(value, int):
            return kind(value) if kind is Path else value
        try:
            number = int(value)
        except ValueError:
            said = f"{value!r} is not a whole number."
            raise typer.BadParameter(said, ctx=ctx, param=param) from None
        if number < (param.min or 0) or (param.max is not None and number > param.max):
            said = f"{value} is out of range; it begins at {param.min or 0}."
            raise typer.BadParameter(said, ctx=ctx, param=param)
        return number


def _kind(param: Any) -> Any:
    """What each word of a parameter becomes; None for what Typer must convert itself."""
    kind = param.type_descriptor.annotation
    inner = getattr(kind, "__args__", None)
    kind = inner[0] if param.nargs == -1 and inner else kind
    return kind if kind in (str, int, bool, Path) else None


def _spared(params: list[Any]) -> list[Any]:
    for param in params:
        if getattr(param, "type_descriptor", None) is not None and _kind(param) is not None:
            # Private, and harmless where a later Typer has none: then its own converter is made.
            param._runtime_param = _Words()
    return params


def _listed(params: Sequence[Any], ctx: Any, formatter: Any) -> None:
    for title, kind in (("Arguments", "argument"), ("Options", "option")):
        rows = [p.get_help_record(ctx) for p in params if p.param_type_name == kind]
        shown = [(_TYPE.sub("", name), _plain(about)) for name, about in filter(None, rows)]
        if shown:
            with formatter.section(title):
                formatter.write_dl(shown)


def _plain(about: str) -> str:
    return _EMPTY.sub("", _LEADING.sub("[", _RANGE.sub("", about)))


class Command(TyperCommand):
    """One command."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _spared(super().get_params(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _listed(self.get_params(ctx), ctx, formatter)


class Sections(TyperGroup):
    """The commands, listed by what they are for (their ``rich_help_panel``)."""

    sections: Sequence[str] = ()

    def get_params(self, ctx: Any) -> list[Any]:
        return _spared(super().get_params(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        self.format_commands(ctx, formatter)
        _listed(self.get_params(ctx), ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        shown = [(name, command) for name, command in self.commands.items() if not command.hidden]
        widest = max(len(name) for name, _ in shown)
        for section in self.sections:
            rows = [
                (name.ljust(widest), command.get_short_help_str(formatter.width - widest - 6))
                for name, command in shown
                if getattr(command, "rich_help_panel", None) == section
            ]
            with formatter.section(section):
                formatter.write_dl(rows)
