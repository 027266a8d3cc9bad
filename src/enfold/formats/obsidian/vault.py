"""Folded spellings written back into a vault, as ``aliases`` in the front matter of its notes.

The plan is the preview is the receipt. A note is changed only if it still is what it was when the
plan was made; it is replaced whole, after its bytes of before were put aside, so that a run can be
undone. No note is made, moved or deleted.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

from enfold.errors import Invalid, NotFound
from enfold.formats.obsidian import frontmatter
from enfold.formats.obsidian.folder import Vault, folded, name_of, read_bytes, vault
from enfold.formats.obsidian.frontmatter import Unreadable
from enfold.names import Name
from enfold.ports import Row, Tx

BATCH: Final = 500

_KEPT: Final = "changes.jsonl"
_UNDONE: Final = "undone"


@dataclass(frozen=True, slots=True)
class NoteChange:
    """A note that gets aliases.

    Attributes:
        note: its path in the vault.
        entity: the name that is shown of what it stands for.
        aliases: the spellings it gets.
        diff: the lines that change, as ``diff -u`` shows them.
        digest: of its bytes before.
    """

    note: str
    entity: str
    aliases: tuple[str, ...]
    diff: tuple[str, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class LeftNote:
    """A note that was left as it is, and why."""

    note: str
    reason: str


@dataclass(frozen=True, slots=True)
class SeveralNotes:
    """Notes whose names were folded into one; a person may merge them."""

    entity: str
    note: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VaultAliases:
    """What is, or was, written into a vault.

    Attributes:
        notes: how many notes there are in it.
        known: how many of them stand for an entity of the graph.
        changes: notes that get aliases; where ``written``, those that got them.
        left: notes that should get some and don't, each with the reason.
        several: entities with more than one note. Nothing is done about them.
        kept: where the notes of before lie, once something was written.
    """

    vault: str
    notes: int
    known: int
    changes: tuple[NoteChange, ...]
    left: tuple[LeftNote, ...]
    several: tuple[SeveralNotes, ...]
    written: bool = False
    kept: str | None = None


@dataclass(frozen=True, slots=True)
class VaultUndone:
    """What an undo put back, and what it left because it was edited since."""

    vault: str
    kept: str
    restored: tuple[str, ...]
    left: tuple[LeftNote, ...]


# ---- gather and decide ----


def plan(tx: Tx, path: Path) -> VaultAliases:
    """Which note would get which aliases: that of each entity the spellings folded into it.

    A note stands for the entity whose foreign id is its path, else for the one that its name leads
    to where only one note has that name.

    Raises:
        Invalid: ``no_such_file``, ``no_notes``.
    """
    found = vault(path)
    left: list[LeftNote] = []
    owned = _owned(tx, found, left)
    changes: list[NoteChange] = []
    several: list[SeveralNotes] = []
    for roots in _batches(list(owned)):
        aliases, shown = tx.entities.aliases(roots), tx.entities.shown_names(roots)
        for root in roots:
            chosen = _chosen(owned[root], root, shown[root])
            if chosen is None:
                notes = tuple(note for note, _ in owned[root])
                why = "Several notes lead to it and none is called so; rename one of them."
                left += [LeftNote(note, f"{shown[root]!r}: {why}") for note in notes]
                several.append(SeveralNotes(shown[root], notes[0], notes[1:]))
                continue
            others = tuple(note for note, _ in owned[root] if note != chosen)
            if others:
                several.append(SeveralNotes(shown[root], chosen, others))
            names = (shown[root], *aliases.get(root, ()))
            made = _change(found, chosen, shown[root], names)
            if isinstance(made, LeftNote):
                left.append(made)
            elif made is not None:
                changes.append(made)
    return VaultAliases(
        vault=str(found.root),
        notes=len(found.notes),
        known=sum(map(len, owned.values())),
        changes=tuple(sorted(changes, key=lambda change: change.note)),
        left=tuple(sorted(left, key=lambda one: one.note)),
        several=tuple(sorted(several, key=lambda one: one.note)),
    )


_Note = tuple[str, Row]
"""A note and the row it stands for."""


def _owned(tx: Tx, found: Vault, left: list[LeftNote]) -> dict[int, list[_Note]]:
    """The notes of each entity, by its root."""
    notes = frozenset(found.notes)
    owned: dict[int, list[_Note]] = {}
    for batch in _batches(found.notes):
        by_id = tx.entities.rows_by_foreign_id(batch)
        unknown = {note: key for note in batch if note not in by_id and (key := _key(note))}
        by_key = tx.entities.rows(list(set(unknown.values())))
        for note in batch:
            rows = by_id.get(note) or by_key.get(unknown.get(note, ""), [])
            if not rows:
                continue
            if note not in by_id:
                if any(row.foreign_id in notes for row in rows):
                    continue  # its name is that of another note's entity
                if len(found.named(name_of(note))) > 1:
                    left.append(LeftNote(note, "Several notes have its name."))
                    continue
            if len({row.canonical_id for row in rows}) > 1:
                left.append(LeftNote(note, "Several entities have its name."))
                continue
            owned.setdefault(rows[0].canonical_id, []).append((note, rows[0]))
    return owned


def _key(note: str) -> str:
    try:
        return Name.of(name_of(note)).key
    except Invalid:
        return ""


def _chosen(notes: Sequence[_Note], root: int, shown: str) -> str | None:
    """The note of an entity: that of its root, else the one called as it is shown, else the one
    there is."""
    if len(notes) == 1:
        return notes[0][0]
    for fits in (
        [note for note, row in notes if row.id == root],
        [note for note, _ in notes if folded(name_of(note)) == folded(shown)],
    ):
        if len(fits) == 1:
            return fits[0]
    return None


def _change(
    found: Vault, note: str, entity: str, names: Sequence[str]
) -> NoteChange | LeftNote | None:
    own = folded(name_of(note))
    if all(folded(name) == own for name in names):
        return None
    try:
        raw = found.read(note)
        text = raw.decode()
        missing = _missing(text, own, names)
        if not missing:
            return None
        after = frontmatter.with_aliases(text, missing)
    except UnicodeDecodeError:
        return LeftNote(note, "It is not UTF-8.")
    except Unreadable as error:
        return LeftNote(note, f"Its front matter was left alone: {error}.")
    except OSError as error:
        return LeftNote(note, f"It can't be read: {error.strerror or error}.")
    except ValueError as error:
        return LeftNote(note, f"It is not read: {error}.")
    return NoteChange(note, entity, missing, _diff(text, after), _digest(raw))


def _missing(text: str, own: str, names: Sequence[str]) -> tuple[str, ...]:
    bounds = frontmatter.bounds(text)
    said = frontmatter.parse(text[bounds.start : bounds.end]) if bounds else None
    has = {own, *(folded(alias) for alias in (said.aliases if said else ()))}
    missing: dict[str, str] = {}
    for name in names:
        if folded(name) not in has:
            missing.setdefault(folded(name), name)
    return tuple(missing.values())


def _diff(before: str, after: str) -> tuple[str, ...]:
    """The lines that differ, with one line around; they stand in the front matter alone."""
    old, new = (_head(text).splitlines() for text in (before, after))
    lines = list(difflib.unified_diff(old, new, lineterm="", n=1))
    return tuple(line for line in lines[2:] if not line.startswith("@@"))


def _head(text: str) -> str:
    bounds = frontmatter.bounds(text)
    return text[: bounds.below] if bounds else ""


def _digest(raw: bytes) -> str:
    return hashlib.blake2b(raw, digest_size=16).hexdigest()


_Any = TypeVar("_Any")


def _batches(things: Sequence[_Any]) -> Iterator[list[_Any]]:
    rest = iter(things)
    while batch := list(islice(rest, BATCH)):
        yield batch


# ---- apply ----


def apply(planned: VaultAliases, keep: Path, stamp: str) -> VaultAliases:
    """Write what was planned; the receipt. Every note stands for itself: what can't be written is
    left with its reason.

    Args:
        keep: the folder in which the notes of before are put, in one of its own.
        stamp: names that one.
    """
    if not planned.changes:
        return replace(planned, written=True)
    root = Path(planned.vault)
    kept = keep / stamp
    kept.mkdir(parents=True)
    done: list[NoteChange] = []
    left = list(planned.left)
    with (kept / _KEPT).open("w", encoding="utf-8") as log:
        _log(log.fileno(), {"vault": planned.vault})
        for change in planned.changes:
            try:
                _write(root, change, kept, log.fileno())
                done.append(change)
            except _Left as error:
                left.append(LeftNote(change.note, str(error)))
            except Unreadable as error:
                left.append(LeftNote(change.note, f"Its front matter was left alone: {error}."))
            except OSError as error:
                why = f"It can't be written: {error.strerror or error}."
                left.append(LeftNote(change.note, why))
    return replace(planned, changes=tuple(done), left=tuple(left), written=True, kept=str(kept))


class _Left(Exception):
    """Why a note was left as it is."""


def _write(root: Path, change: NoteChange, kept: Path, log: int) -> None:
    path = root / change.note
    before = _unchanged(root, path, change.digest)
    after = frontmatter.with_aliases(before.decode(), change.aliases).encode()
    aside = kept / "notes" / change.note
    aside.parent.mkdir(parents=True, exist_ok=True)
    aside.write_bytes(before)
    _log(log, {"note": change.note, "before": change.digest, "after": _digest(after)})
    _replace(root, path, change.digest, after)


def _log(handle: int, said: dict[str, str]) -> None:
    os.write(handle, (json.dumps(said) + "\n").encode())
    os.fsync(handle)


def _unchanged(root: Path, path: Path, digest: str) -> bytes:
    """The bytes of a note that may be replaced.

    Raises:
        _Left: it is not what it was, or not a plain file of the vault.
    """
    if path.parent.resolve() != path.parent or root not in path.parents:
        raise _Left("A folder above it has become a link.")
    about = path.lstat()
    if not stat.S_ISREG(about.st_mode):
        raise _Left("It is no regular file any more.")
    if about.st_nlink > 1:
        raise _Left("It has several hard links, which replacing it would part.")
    if not os.access(path, os.W_OK):
        raise _Left("It is write-protected.")
    raw = read_bytes(path)
    if _digest(raw) != digest:
        raise _Left("It was edited since it was read; run the command again.")
    return raw


def _replace(root: Path, path: Path, digest: str, after: bytes) -> None:
    """Put a file of other bytes in the note's place, all at once."""
    handle, part = tempfile.mkstemp(prefix=".enfold-", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        about = path.stat()
        shutil.copystat(path, part)  # mode and extended attributes; the times are new
        os.utime(part)
        with contextlib.suppress(OSError):
            os.chown(part, about.st_uid, about.st_gid)
        _unchanged(root, path, digest)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


# ---- undo ----


def undo(path: Path, keep: Path) -> VaultUndone:
    """Take the last run that wrote into a vault back, note by note; what was edited since is left.

    Raises:
        NotFound: ``nothing_to_undo``.
    """
    root = path.resolve()
    for kept in sorted(keep.glob("*"), reverse=True):
        said = _logged(kept)
        if said and said[0].get("vault") == str(root) and not (kept / _UNDONE).exists():
            break
    else:
        raise NotFound(
            "nothing_to_undo", f"Nothing that was written into {path} is kept in {keep}."
        )
    restored: list[str] = []
    left: list[LeftNote] = []
    for one in said[1:]:
        try:
            if _put_back(root, kept, one):
                restored.append(one["note"])
        except _Left as error:
            left.append(LeftNote(one["note"], str(error)))
        except OSError as error:
            why = f"It can't be put back: {error.strerror or error}."
            left.append(LeftNote(one["note"], why))
    (kept / _UNDONE).touch()
    return VaultUndone(str(root), str(kept), tuple(restored), tuple(left))


def _put_back(root: Path, kept: Path, one: dict[str, str]) -> bool:
    """Whether the note was put back; False where it is as it was before."""
    path = root / one["note"]
    if _digest(read_bytes(path)) == one["before"]:
        return False
    try:
        _unchanged(root, path, one["after"])
    except _Left as error:
        why = f"{error} Its text of before is kept in {kept / 'notes' / one['note']}."
        raise _Left(why.replace("; run the command again", "")) from None
    _replace(root, path, one["after"], (kept / "notes" / one["note"]).read_bytes())
    return True


def _logged(kept: Path) -> list[dict[str, str]]:
    try:
        lines = (kept / _KEPT).read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]
    except (OSError, ValueError):
        return []
