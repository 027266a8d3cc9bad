"""Settings, read once, at the edge: the environment, over ``enfold.toml``, over the defaults.

Every setting is an ``ENFOLD_`` variable and a key of the file by the same lower-case name. A name
that is not a setting is an error, so that a misspelt one can't be silently without effect.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from enfold.errors import Invalid

PREFIX: Final = "ENFOLD_"
FILE: Final = "enfold.toml"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person may set.

    Attributes:
        db: the graph: a path, or ``sqlite:///`` and a path.
        workers: processes that find pairs in large graphs; 0 takes one for each core.
        engine: where pairs are found: ``local``, ``local://4``, ``dask://HOST:PORT``.
        backup: back the graph up before a full pass that folds.
        keep_backups: how many backups to keep; 0 keeps all of them.
        rules_module: a Python module to import at start, which registers rules of your own.
        actor: who decides, as recorded with folds and decisions; empty takes the user's name.
        agent: who remembers and recalls: what is sealed for this agent is for it alone.
        embedder: what places texts by meaning: ``minilm``, which comes with enfold; ``off``; or the
            name of a model at ``embedder_url``.
        embedder_url, embedder_key: an endpoint that speaks the OpenAI protocol, and its key.
        extractor: what reads names out of texts: ``offline``, or ``model``.
        model: the name of a language model at ``model_url``; empty for none.
        model_url, model_key: an endpoint that speaks the OpenAI protocol, and its key.
        model_timeout: seconds to wait for an answer of a model.
        weight_vector, weight_keyword, weight_entity: what the arms of recall weigh.
    """

    db: str = "enfold.db"
    workers: int = 0
    engine: str = "local"
    backup: bool = True
    keep_backups: int = 0
    rules_module: str = ""
    actor: str = ""
    agent: str = ""
    embedder: str = "minilm"
    embedder_url: str = ""
    embedder_key: str = ""
    extractor: str = "offline"
    model: str = ""
    model_url: str = ""
    model_key: str = ""
    model_timeout: int = 60
    weight_vector: float = 1.0
    weight_keyword: float = 2.0
    weight_entity: float = 0.5


_WANTED: Final = {bool: "yes or no", int: "a whole number from 0", float: "a number from 0"}
_BOOLEANS: Final = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}


def load(environ: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
    """The settings in force.

    Raises:
        Invalid: ``unknown_setting`` or ``bad_setting``, naming where it stands.
    """
    values: dict[str, Any] = {}
    path = (folder or Path.cwd()) / FILE
    if path.is_file():
        values.update(_from_file(path))
    for variable, text in (os.environ if environ is None else environ).items():
        if variable.startswith(PREFIX):
            values[_known(variable.removeprefix(PREFIX).lower(), variable)] = (text, variable)
    return Settings(**{name: _value(name, *given) for name, given in values.items()})


def _from_file(path: Path) -> dict[str, tuple[Any, str]]:
    try:
        stored = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Invalid("bad_setting", f"{path} can't be read: {error}.") from error
    return {_known(name, str(path)): (value, f"{name} in {path}") for name, value in stored.items()}


def _known(name: str, where: str) -> str:
    names = [field.name for field in fields(Settings)]
    if name not in names:
        raise Invalid(
            "unknown_setting",
            f"{where}: {name!r} is not a setting; there are: {', '.join(names)}.",
        )
    return name


def _value(name: str, given: Any, where: str) -> Any:
    default = getattr(Settings(), name)
    try:
        if isinstance(default, bool):
            return given if isinstance(given, bool) else _BOOLEANS[str(given).strip().lower()]
        if isinstance(default, int | float):
            number = type(default)(given)
            if not 0 <= number < float("inf"):
                raise ValueError(number)
            return number
        return str(given)
    except (KeyError, ValueError, TypeError) as error:
        wanted = _WANTED[type(default)]
        raise Invalid("bad_setting", f"{where}: {given!r} is not {wanted}.") from error
