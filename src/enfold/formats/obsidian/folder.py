"""The notes of a vault, by their names alone; and which of them a link means.

No link of the file system is followed, so that nothing outside is read and nothing twice. The
paths of all notes are held.
"""

from __future__ import annotations

import json
import os
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from enfold.errors import Invalid
from enfold.formats.source import LINE_LIMIT
from enfold.formats.storable import is_storable, storable
from enfold.model import Note, SetAside

SUFFIX: Final = ".md"

_ATTACHED: Final = frozenset(
    "png jpg jpeg gif bmp svg webp avif heic pdf mp3 m4a wav ogg flac 3gp mp4 webm mov mkv ogv "
    "canvas base excalidraw csv json docx xlsx pptx zip html".split()
)


@dataclass(frozen=True, slots=True)
class Vault:
    """The notes of a folder.

    Attributes:
        root: the folder, with its own links resolved.
        notes: the path of each note in it, with ``/`` between, sorted.
        aside: what was left out, and why.
    """

    root: Path
    notes: tuple[str, ...]
    aside: tuple[SetAside, ...]
    _named: dict[str, list[str]] = field(default_factory=dict, repr=False)
    _others: frozenset[str] = frozenset()

    def named(self, name: str) -> list[str]:
        """The notes whose file has that name, in any case."""
        return self._named.get(folded(name), [])

    def target(self, written: str, source: str) -> list[str] | None:
        """The notes that a link may mean, one where it is plain; None where it means no note."""
        path = folded(written.strip().replace("\\", "/"))
        path = path.removesuffix(SUFFIX)
        if path.startswith(("./", "../")):
            path = folded(os.path.normpath(os.path.join(os.path.dirname(source), path)))
        path = path.strip("/")
        name = path.rpartition("/")[2]
        if not name:
            return None
        ends = [note for note in self._named.get(name, ()) if _ends_with(note, path)]
        if not ends and (name in self._others or name.rpartition(".")[2] in _ATTACHED):
            return None if "." in name else []
        if len(ends) > 1:
            whole = [note for note in ends if folded(without_suffix(note)) == path]
            beside = [n for n in ends if os.path.dirname(n) == os.path.dirname(source)]
            ends = whole or beside or ends
        return ends

    def read(self, note: str) -> bytes:
        """The bytes of a note.

        Raises:
            OSError: it is gone, no regular file any more, or may not be read.
            ValueError: it is too large.
        """
        return read_bytes(self.root / note)


def read_bytes(path: Path) -> bytes:
    """A regular file's bytes, no link followed. Raises as ``Vault.read``."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise OSError(0, "it is no regular file")
        if about.st_size > LINE_LIMIT:
            raise ValueError(f"it has {about.st_size:,} bytes; at most {LINE_LIMIT:,} are read")
        return file.read(LINE_LIMIT + 1)


def vault(path: Path) -> Vault:
    """The notes of a folder, by their names alone.

    Raises:
        Invalid: ``no_such_file`` where there is no folder; ``no_notes`` where it holds none.
    """
    if not path.is_dir():
        raise Invalid("no_such_file", f"There is no folder {path}; check the path.", path=str(path))
    root = path.resolve()
    aside: list[SetAside] = []
    left_out = _templates(root)
    notes, others = [], set()
    named: dict[str, list[str]] = {}
    for found in sorted(files_below(root, aside)):
        if not found.lower().endswith(SUFFIX):
            others.add(folded(found.rpartition("/")[2]))
        elif any(found.startswith(folder) for folder in left_out):
            continue
        elif not is_storable(found):
            shown = found.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
            aside.append(SetAside(root.name, 0, "The file's name is not UTF-8.", shown))
        else:
            notes.append(found)
            named.setdefault(folded(name_of(found)), []).append(found)
    aside += [Note(root.name, 0, "Templates are no notes; left out.", f) for f in sorted(left_out)]
    if not notes:
        raise Invalid(
            "no_notes",
            f"{path} holds no Markdown notes (files that end in .md); name the folder of a vault.",
            path=str(path),
        )
    return Vault(root, tuple(notes), tuple(aside), named, frozenset(others))


def name_of(note: str) -> str:
    """What a note is called: its file's name."""
    return without_suffix(note.rpartition("/")[2])


def without_suffix(path: str) -> str:
    """A path or a name without the ending of a note."""
    return path[: -len(SUFFIX)] if path.lower().endswith(SUFFIX) else path


def folded(text: str) -> str:
    """A name as it is compared: in any case."""
    return unicodedata.normalize("NFC", text).casefold()


def _ends_with(note: str, path: str) -> bool:
    whole = folded(without_suffix(note))
    return whole == path or whole.endswith("/" + path)


def files_below(root: Path, aside: list[SetAside]) -> Iterator[str]:
    """The path of every regular file below, with ``/`` between; hidden ones aside."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            found = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
        except OSError as error:
            why = f"The folder can't be read: {error.strerror or error}."
            aside.append(SetAside(root.name, 0, why, folder))
            continue
        for entry in found:
            if entry.name.startswith("."):
                continue
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_symlink():
                why = "It is a link of the file system, which is not followed."
                aside.append(Note(root.name, 0, why, storable(path)))
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            elif entry.is_file(follow_symlinks=False):
                yield path


def _templates(root: Path) -> set[str]:
    """The folders that Obsidian's own settings name as those of templates, with ``/`` behind."""
    found = set()
    for setting, key in (
        ("templates.json", "folder"),
        ("plugins/templater-obsidian/data.json", "templates_folder"),
    ):
        try:
            said = json.loads(read_bytes(root / ".obsidian" / setting))
            folder = said[key].strip("/") if isinstance(said, dict) else ""
        except (OSError, ValueError, KeyError, AttributeError, RecursionError):
            continue
        if folder and (root / folder).is_dir():
            found.add(folder + "/")
    return found
