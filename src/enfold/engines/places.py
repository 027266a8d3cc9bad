"""Where the files of a run lie: a folder of this machine, or of storage that machines share.

A file is there whole or not at all: it is written under another name, then renamed.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from pyarrow import fs  # type: ignore[import-untyped]

from enfold.errors import Invalid, Unavailable

PART: Final = ".part"


@lru_cache(maxsize=64)
def opened(url: str) -> tuple[Any, str]:
    """(filesystem, path in it) of a path or a URL.

    Raises:
        Invalid: ``unknown_url``. Unavailable: ``needs_extra``.
    """
    kind, mark, rest = url.partition("://")
    if not mark or kind == "file":
        return fs.LocalFileSystem(), str(Path(rest if mark else url).absolute())
    try:
        import fsspec  # type: ignore[import-untyped]

        system, path = fsspec.core.url_to_fs(url)
    except ImportError as error:
        raise Unavailable(
            "needs_extra",
            f"{kind}:// needs a library that is not installed: pip install 'enfold[dask]', and "
            f"what fsspec needs for it ({_why(error)}).",
        ) from error
    except ValueError as error:
        raise Invalid("unknown_url", f"{url} is no place that can be read: {error}.") from error
    return fs.PyFileSystem(fs.FSSpecHandler(system)), path.rstrip("/")


def _why(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


class Place:
    """A folder, by its path or URL; names in it have ``/`` between their parts."""

    def __init__(self, url: str) -> None:
        self.url = url if "://" in url else str(Path(url).absolute())
        self._system, self._root = opened(url)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    def read(self, name: str) -> Any:
        """A file, opened to be read."""
        return self._system.open_input_file(self._path(name))

    @contextmanager
    def write(self, name: str) -> Iterator[Any]:
        """A file, opened to be written; it takes its place once it is written whole."""
        part = f"{self._path(name)}.{uuid.uuid4().hex}{PART}"
        self._system.create_dir(part.rpartition("/")[0], recursive=True)
        try:
            with self._system.open_output_stream(part) as out:
                yield out
            self._system.move(part, self._path(name))
        except BaseException:
            with suppress(OSError):
                self._system.delete_file(part)
            raise

    def names(self, folder: str = "") -> list[str]:
        """The whole files of a folder and below it, by name."""
        return [name for name in self._files(folder) if not name.endswith(PART)]

    def sweep(self, folder: str) -> None:
        """Delete what was begun to be written there and never got whole."""
        for name in self._files(folder):
            if name.endswith(PART):
                self.delete(name)

    def _files(self, folder: str) -> list[str]:
        chosen = fs.FileSelector(self._path(folder), allow_not_found=True, recursive=True)
        found = self._system.get_file_info(chosen)
        start = len(self._root) + 1
        return sorted(one.path[start:] for one in found if one.type == fs.FileType.File)

    def below(self, folder: str) -> Place:
        """A folder in this one."""
        return Place(f"{self.url.rstrip('/')}/{folder}")

    def exists(self, name: str) -> bool:
        return bool(self._system.get_file_info(self._path(name)).type == fs.FileType.File)

    def load(self, name: str) -> Any:
        """The content of a file of JSON."""
        with self.read(name) as file:
            return json.loads(file.read())

    def save(self, name: str, content: object) -> None:
        with self.write(name) as file:
            file.write(json.dumps(content, ensure_ascii=False, indent=1).encode())

    def delete(self, name: str) -> None:
        """Delete a file, if it is there."""
        with suppress(FileNotFoundError):
            self._system.delete_file(self._path(name))

    def remove(self, folder: str) -> None:
        """Delete a folder and all that is in it."""
        with suppress(FileNotFoundError):
            self._system.delete_dir(self._path(folder))
