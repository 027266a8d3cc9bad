"""Where an export is written: a file or a folder that is there whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from enfold.errors import Invalid, Refused
from enfold.formats import Format, Pieces, lines, to_write
from enfold.outfile import must_be_free, umask, whole


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written.

    Attributes:
        path: the file or folder.
        files: the files in it, () where it is one.
        lines: how many lines of text, None where it is no stream of text.
        kept: where the folder lies that was replaced and held more than this.
    """

    format: str
    path: str
    files: tuple[str, ...] = ()
    lines: int | None = None
    kept: str | None = None


def export(format: str, pieces: Pieces, out: Path, *, force: bool, graph: Path) -> Exported:
    """Write a graph.

    Args:
        graph: the graph's own file, which nothing is written over.

    Raises:
        Invalid: ``unknown_format``, ``no_directory``; ``needs_file``: a pipe for a format that is
            no stream of text.
        Refused: ``target_exists``, ``same_file``; ``no_reader``: nobody reads the pipe.
    """
    known = to_write(format)
    if known.lines is None:
        return _folder(known, pieces, out, force=force)
    return export_text(format, lambda: lines(format, pieces), out, force=force, graph=graph)


def export_text(
    format: str, text: Callable[[], Iterator[str]], out: Path, *, force: bool, graph: Path
) -> Exported:
    """Write what is a stream of text already; see ``export``."""
    must_be_free(out, force, graph)
    with whole(out) as file:
        written = 0
        for piece in text():
            file.write(piece)
            written += piece.count("\n")
    return Exported(format, str(out), lines=written)


# ---- a folder ----


def _folder(known: Format, pieces: Pieces, out: Path, *, force: bool) -> Exported:
    """Write a folder. One that is there already is replaced by force alone, and kept beside where
    it holds a file that this export does not write."""
    assert known.write_folder is not None
    place = out.resolve()
    if (out.exists() and not out.is_dir()) or not place.parent.is_dir():
        raise Invalid(
            "no_directory",
            f"{out} can't be a folder; {known.name} is written as one: name it in a directory that "
            "exists.",
        )
    if out.is_dir() and any(out.iterdir()) and not force:
        raise Refused(
            "target_exists",
            f"{out} exists already and is not empty; nothing was written. --force writes over it.",
        )
    part = Path(tempfile.mkdtemp(prefix=f".{place.name[:40]}.", dir=place.parent))
    try:
        known.write_folder(pieces, part)
        files = _files(part)
        os.chmod(part, 0o777 & ~umask())
        kept = _put(part, place, files)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return Exported(known.name, str(out), tuple(files), kept=str(kept) if kept else None)


def _files(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if not p.is_dir())


def _put(part: Path, place: Path, files: list[str]) -> Path | None:
    """Put a folder in its place; where what it replaced lies, if that is kept."""
    if not place.exists():
        part.rename(place)
        return None
    others = set(_files(place)) - set(files)
    number = 1
    while (aside := place.with_name(f"{place.name}.before-{number}")).exists():
        number += 1
    place.rename(aside)
    try:
        part.rename(place)
    except BaseException:
        aside.rename(place)
        raise
    if others:
        return aside
    shutil.rmtree(aside)
    return None
