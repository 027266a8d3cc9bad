"""An Obsidian vault: a folder of Markdown notes that link to one another.

Each note is an entity: its file's name is the name, its path in the vault the foreign id, so that
two notes of one name stay two. ``folder`` says which notes there are and what a link means,
``frontmatter`` what stands above a note, ``note`` what a note is as records. ``vault`` writes
folded spellings back as aliases; no note is ever made.

Read are the ``.md`` files of the folder and of those below, hidden ones and templates aside. The
paths of all notes are held, and one note at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from enfold.formats.obsidian import folder, frontmatter, note
from enfold.formats.obsidian.folder import SUFFIX
from enfold.model import Record

NAME: Final = "obsidian"

LOOKED_AT: Final = 5_000
"""Files that are looked at to tell whether a folder is a vault."""


def recognises_folder(path: Path) -> bool:
    """Whether the folder is a vault: it has Obsidian's own folder, or notes with front matter or
    with links among the first files in it."""
    if (path / ".obsidian").is_dir():
        return True
    for looked_at, found in enumerate(folder.files_below(path, [])):
        if looked_at > LOOKED_AT:
            return False
        if found.endswith(SUFFIX) and _looks_like_a_note(path / found):
            return True
    return False


def _looks_like_a_note(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(8_192).decode("utf-8", "replace")
    except OSError:
        return False
    if frontmatter.OPENING.match(head):
        return True
    return note.has_links(head)


def read_path(path: Path) -> Iterator[Record]:
    """The records of a vault, note by note in the order of their paths.

    Raises:
        Invalid: as ``folder.vault``.
    """
    found = folder.vault(path)
    yield from found.aside
    for one in found.notes:
        yield from note.read(found, one)
