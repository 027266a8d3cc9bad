"""The shape of every command: its options, its graph, its errors and its exit code.

A command is a function of a ``Call`` and its own arguments that returns an exit code, or None for
"done". ``command`` gives it the options that all have.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.exceptions import TyperException

from enfold.cli import exits
from enfold.cli.shape import Command, Sections
from enfold.cli.terminal import Terminal, prepare_streams, silence
from enfold.errors import Error, Invalid, NotFound, Refused, Unavailable

if TYPE_CHECKING:
    from enfold.graph import Graph
    from enfold.recall import Weights
    from enfold.settings import Settings

LOOK: Final = "Look at a file, or at two names; nothing is written"
SETTLE: Final = "Settle what is one thing and what is not"
ASK: Final = "Ask"
MEMORY: Final = "Memory in, memory out"
NAME: Final = "Names"
KEEP: Final = "In, out and upkeep"
SECTIONS: Final = (MEMORY, LOOK, SETTLE, ASK, NAME, KEEP)

MOST: Final = 2**63 - 1
"""The largest id there can be."""

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.", show_default=False)]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="No receipts, hints or progress: answers and errors alone.",
        show_default=False,
    ),
]
NoColor = Annotated[
    bool,
    typer.Option("--no-color", help="No colour; NO_COLOR does the same.", show_default=False),
]
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Show the traceback of a fault in enfold.", show_default=False),
]
Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="PATH",
        help="The graph; else ENFOLD_DB, else db in enfold.toml, else ./enfold.db.",
    ),
]
Actor = Annotated[
    str | None,
    typer.Option("--actor", metavar="NAME", help="Who decides, as recorded; else your user name."),
]
Agent = Annotated[
    str | None,
    typer.Option(
        "--agent",
        metavar="NAME",
        help="Who asks: sees and counts what is sealed for that agent, too; else the setting.",
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        help="Where pairs are found: local, local://4, dask://HOST:PORT; else the setting.",
    ),
]
Limit = Annotated[
    int, typer.Option("--limit", "-n", metavar="N", min=1, max=MOST, help="How many to show.")
]

_SHARED: Final[dict[str, Any]] = {
    "db": Db,
    "actor": Actor,
    "json": Json,
    "quiet": Quiet,
    "no_color": NoColor,
    "debug": Debug,
}


@dataclass
class Call:
    """One call of a command: where it speaks, what is set, and which graph it means."""

    terminal: Terminal
    db: str | None = None
    named_actor: str | None = None
    named_engine: str | None = None
    begun: datetime = field(default_factory=lambda: datetime.now(UTC))

    @cached_property
    def settings(self) -> Settings:
        from enfold.settings import load

        settings = load()
        if settings.rules_module:
            _import_rules(settings.rules_module)
        return settings

    def asking(self, named: str | None) -> str | None:
        """The agent that asks: as named, else as set; None for nobody in particular."""
        return named or self.settings.agent or None

    @property
    def weights(self) -> Weights:
        """What the arms of recall weigh, as set."""
        from enfold.recall import Weights

        set_ = self.settings
        return Weights(set_.weight_vector, set_.weight_keyword, set_.weight_entity)

    @property
    def path(self) -> str:
        return self.settings.db if self.db is None else self.db

    @property
    def engine(self) -> str:
        """Where pairs are found: as asked, else as set."""
        return self.named_engine or self.settings.engine

    @property
    def workers(self) -> int:
        return self.settings.workers or os.cpu_count() or 1

    @cached_property
    def actor(self) -> str | None:
        """Who decides: as asked, as set, or the user's name if the system knows one."""
        named = self.named_actor or self.settings.actor
        if named:
            return named
        import getpass

        try:
            return getpass.getuser()
        except (KeyError, OSError, ImportError):
            return None

    @contextmanager
    def graph(self, *, write: bool = False, create: bool = False) -> Iterator[Graph]:
        """The graph, opened as gently as the command allows."""
        from enfold import graph as graphs

        if write and self.path == ":memory:":
            raise Refused(
                "no_file", "A graph in memory ends with this command; name a file with --db."
            )
        if write:
            opened = graphs.open(
                self.path,
                create=create,
                workers=self.workers,
                engine=self.engine,
                actor=self.actor,
                keep_backups=self.settings.keep_backups or None,
                **self._models(),
            )
        else:
            opened = self._to_read()
        with opened:
            yield opened

    def _models(self) -> dict[str, Any]:
        """What reads, places and judges texts, as set; each loads what it runs on when it is first
        asked."""
        from enfold.models.asking import extractor
        from enfold.models.embedding import embedder
        from enfold.models.language import model

        set_ = self.settings
        asked = model(set_.model, set_.model_url, set_.model_key, set_.model_timeout)
        return {
            "model": asked,
            "extractor": extractor(set_.extractor, asked),
            "embedder": embedder(
                set_.embedder, set_.embedder_url, set_.embedder_key, set_.model_timeout
            ),
        }

    def _to_read(self) -> Graph:
        from enfold import graph as graphs

        try:
            return graphs.open(self.path, create=False, read_only=True, **self._models())
        except Unavailable as error:
            # One written by an older enfold has to be brought up to date before it can be read.
            if error.code != "read_only":
                raise
            return graphs.open(self.path, create=False, **self._models())

    @contextmanager
    def graph_if_any(self) -> Iterator[Graph]:
        """The graph, or an empty one where none is and none was asked for by name."""
        from enfold import graph as graphs

        try:
            opened = self._to_read()
        except NotFound as error:
            if error.code != "no_graph" or self.db is not None:
                raise
            opened = graphs.open(":memory:")
        with opened:
            yield opened

    def confirm(self, question: str, *, yes: bool) -> None:
        """Ask before what can't be undone.

        Raises:
            Refused: ``not_confirmed``.
        """
        agreed = yes or self.terminal.confirmed(question)
        if agreed is None:
            raise Refused(
                "not_confirmed",
                f"{question} Nobody can be asked here: say --yes. Nothing was changed.",
            )
        if not agreed:
            raise Refused("not_confirmed", "Not confirmed; nothing was changed.")


class Commands(Sections):
    """The commands; every error ends here."""

    sections = SECTIONS

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        prepare_streams()
        given = list(sys.argv[1:] if args is None else args)
        try:
            code = super().main(
                args, prog_name or "enfold", complete_var, False, windows_expand_args, **extra
            )
            sys.stdout.flush()
        except Exception as error:
            code = _say(error, given)
        sys.exit(code or exits.DONE)


def _flags(given: Sequence[str]) -> list[str]:
    return list(given[: given.index("--")] if "--" in given else given)


def _say(error: Exception, given: Sequence[str]) -> int:
    """Say why a command failed, in a sentence; its exit code."""
    flags = _flags(given)
    terminal = Terminal(as_json="--json" in flags, color="--no-color" not in flags)
    if isinstance(error, Error):
        terminal.error(error.code, str(error), error.details, exits.HINTS.get(error.code, ""))
        return exits.code_of(error)
    if isinstance(error, TyperException):
        ctx = getattr(error, "ctx", None)
        path = ctx.command_path if ctx is not None else "enfold"
        said = error.format_message()
        terminal.error("usage", said, {}, f"To see how it is used: {path} --help")
        return exits.USAGE
    if isinstance(error, BrokenPipeError):
        silence(sys.stdout)  # what is still held back would fail at the very end, with 120
        return exits.DONE
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        terminal.error("os_error", f"{where}{error.strerror or error}.", {})
        return exits.CODES[Unavailable]
    if isinstance(error, typer.Abort):
        terminal.error("interrupted", "Interrupted; nothing was changed.", {})
        return exits.INTERRUPTED
    if "--debug" in flags:
        import traceback

        terminal.warn(traceback.format_exc().rstrip())
    terminal.error(
        "fault",
        f"This is a fault in enfold, not in what you did: {type(error).__name__}: {error}",
        {},
        "Please report it, with what the same command prints with --debug added.",
    )
    return exits.FAULT


def _settings() -> list[str]:
    from dataclasses import fields

    from enfold.settings import Settings

    return [field.name for field in fields(Settings)]


def _import_rules(module: str) -> None:
    """Import the module that registers rules of a person's own."""
    import importlib

    try:
        importlib.import_module(module)
    except ImportError as error:
        raise Invalid(
            "bad_setting",
            f"The setting rules_module names {module!r}, which can't be imported: {error}.",
        ) from error


def _root_epilog() -> str:
    codes = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in exits.TABLE.items())
    return (
        "\b\nBegin with:\n  enfold scan memory.jsonl\n\n"
        f"\b\nExit codes:\n{codes}\n\n"
        f"Settings stand in ENFOLD_ variables or in enfold.toml: {', '.join(_settings())}."
    )


app = typer.Typer(
    name="enfold",
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_root_epilog(),
)


def _version(wanted: bool) -> None:
    if wanted:
        import enfold

        typer.echo(f"enfold {enfold.__version__}")
        raise typer.Exit


@app.callback()
def root(
    ctx: typer.Context,
    db: Db = None,
    actor: Actor = None,
    json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
    debug: Debug = False,
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_version, is_eager=True),
    ] = False,
) -> None:
    """Keep the identity of a memory graph settled: spellings of one thing fold into one entity,
    reversibly; what is uncertain is asked, never guessed."""
    ctx.obj = {
        "db": db,
        "actor": actor,
        "json": json,
        "quiet": quiet,
        "no_color": no_color,
        "debug": debug,
    }
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


Body = Callable[..., int | None]


def command(
    name: str,
    section: str,
    *examples: str,
    graph: bool = True,
    actor: bool = False,
    note: str = "",
    also: str | None = None,
    interrupted: Callable[[Call], str] | None = None,
) -> Callable[[Body], Body]:
    """Make a function a command.

    Args:
        section: under which heading the help lists it.
        examples: lines to type.
        graph: whether it takes ``--db``.
        actor: whether it takes ``--actor``.
        note: more for the end of its help.
        also: a second name, not listed.
        interrupted: says what an interrupt left; by default nothing was changed.
    """
    taken = {"db": graph, "actor": actor}
    shared = {key: kind for key, kind in _SHARED.items() if taken.get(key, True)}

    def decorate(body: Body) -> Body:
        signature = inspect.signature(body, eval_str=True)
        own = list(signature.parameters.values())[1:]

        def run(ctx: typer.Context, **given: Any) -> int | None:
            asked = {key: given.pop(key) for key in shared}
            call = _call({**(ctx.obj or {}), **{k: v for k, v in asked.items() if v}})
            try:
                return body(call, **given)
            except KeyboardInterrupt:
                said = interrupted(call) if interrupted else "Interrupted; nothing was changed."
                call.terminal.error("interrupted", said, {})
                return exits.INTERRUPTED

        parameters = [
            inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
            *(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own),
            *(
                inspect.Parameter(
                    key,
                    inspect.Parameter.KEYWORD_ONLY,
                    annotation=kind,
                    default=None if key in ("db", "actor") else False,
                )
                for key, kind in shared.items()
            ),
        ]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        run.__name__ = body.__name__
        lines = "\n".join(f"  {line}" for line in examples)
        heading = "Example" if len(examples) == 1 else "Examples"
        epilog = f"\b\n{heading}:\n{lines}" + (f"\n\n{note}" if note else "")
        help_text = inspect.getdoc(body)
        app.command(name, cls=Command, help=help_text, epilog=epilog, rich_help_panel=section)(run)
        if also:
            app.command(also, cls=Command, help=help_text, epilog=epilog, hidden=True)(run)
        return body

    return decorate


def _call(asked: dict[str, Any]) -> Call:
    terminal = Terminal(
        as_json=bool(asked.get("json")),
        quiet=bool(asked.get("quiet")),
        color=not asked.get("no_color"),
    )
    call = Call(terminal, asked.get("db"), asked.get("actor"))
    _ = call.settings  # a setting that is none is told before anything is done
    return call
