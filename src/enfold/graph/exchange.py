"""Graph files in and out, decisions and vaults."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from enfold import copying, formats, guard, intake, outflow, settled
from enfold.errors import Invalid, Refused
from enfold.formats import decisions, target, whole
from enfold.formats.obsidian import vault as vaults
from enfold.formats.source import opened
from enfold.graph.base import Opened, quiet
from enfold.model import Applied, Imported
from enfold.ports import Progress, Tx


class Exchange(Opened):
    """Graph files in and out, decisions and vaults."""

    def import_files(
        self,
        *paths: str | os.PathLike[str],
        trust_ids: bool = False,
        progress: Progress | None = None,
    ) -> tuple[Imported, ...]:
        """Take graph files and folders in, all of them or none. What can't be taken is set aside
        and listed; taking a file in again makes nothing. A file that holds a whole graph (the
        format ``enfold``) is taken alone, into a new graph, and by its last byte or not at all.

        Args:
            trust_ids: let two entities of one name with different ids stay two.

        Raises:
            Invalid: a file is of no format that is read, or can't be read; of a whole graph also
                ``whole_graph``, ``newer_format``, ``damaged_copy``, ``unsound_copy``.
            Refused: ``not_empty``: a whole graph goes into a new one.
        """
        readings = formats.read(*paths)
        if one := formats.whole_graph(readings):
            return (self._import_whole(one, progress),)
        with self._store.write() as tx:
            return tuple(
                intake.intake(
                    tx,
                    r.records,
                    source=r.source,
                    format=r.format,
                    trust_ids=trust_ids or r.trusted,
                    progress=progress,
                )
                for r in readings
            )

    def _import_whole(self, reading: formats.Reading, progress: Progress | None) -> Imported:
        assert reading.rows is not None
        with self._store.write() as tx:
            rows = copying.paste(tx, reading.rows, into=self._store.url, progress=progress)
            live = tx.entities.count_live()
        copying.index_names(self._store, lambda: self._engine, progress or quiet)
        return Imported(
            None,
            reading.source,
            reading.format,
            entities=live,
            memories=rows["memory"],
            mentions=rows["mention"],
            facts=rows["fact"],
            aliases=rows["entity"] - live,
        )

    def export(
        self,
        format: str = "mcp",
        *,
        sealed: bool = False,
        agent: str | None = None,
        progress: Progress | None = None,
    ) -> Iterator[str]:
        """The graph in a format (see ``formats.WRITTEN``), as pieces of text; or whole, with all
        that was ever decided, in the format ``enfold``.

        Args:
            sealed: with the memories sealed for one agent; in the format ``enfold`` alone.
            agent: with those sealed for this agent, as if they were not; in any other format.

        Raises:
            Invalid: ``unknown_format``; ``needs_file`` for a format that is no stream of text;
                ``no_seals`` for one that can't say what is sealed; ``sealed_instead``.
        """
        _must_seal(format, sealed, agent)
        if format != formats.ENFOLD:
            formats.to_stream(format)
        return self._export(format, sealed, agent, progress)

    def _export(
        self, format: str, sealed: bool, agent: str | None, progress: Progress | None
    ) -> Iterator[str]:
        with self._store.read() as tx:
            if format == formats.ENFOLD:
                yield from _whole(tx, sealed, progress)
            else:
                yield from formats.lines(
                    format, lambda: outflow.records(tx, agent=agent, progress=progress)
                )

    def export_to(
        self,
        out: str | os.PathLike[str],
        format: str = "mcp",
        *,
        force: bool = False,
        sealed: bool = False,
        agent: str | None = None,
        progress: Progress | None = None,
    ) -> target.Exported:
        """Write the graph in a format to a file, or to a folder where the format has several
        files. It is there whole or not at all.

        Args:
            force: write over what is there. sealed, agent: as for ``export``.

        Raises:
            Invalid: ``unknown_format``, ``no_directory``; ``needs_file`` for a pipe; ``no_seals``,
                ``sealed_instead``.
            Refused: ``target_exists``, ``same_file``, ``no_reader``.
        """
        _must_seal(format, sealed, agent)
        with self._store.read() as tx:
            if format == formats.ENFOLD:
                return target.export_text(
                    format,
                    lambda: _whole(tx, sealed, progress),
                    Path(out),
                    force=force,
                    graph=Path(self._store.url),
                )
            return target.export(
                format,
                lambda: outflow.records(tx, agent=agent, progress=progress),
                Path(out),
                force=force,
                graph=Path(self._store.url),
            )

    def export_decisions(self, format: str = "text") -> Iterator[str]:
        """What the graph was told about its names (see ``settled.gather``), line by line, as
        ``text`` for version control or as ``csv``.

        Raises:
            Invalid: ``unknown_layout``.
        """
        with self._store.read() as tx:
            said = settled.gather(tx)
        return decisions.written(said, format)

    def import_decisions(
        self, path: str | os.PathLike[str], *, dry_run: bool = False, actor: str | None = None
    ) -> Applied:
        """Take a decisions file in; it makes no entity and overrules no person.

        Args:
            dry_run: do the same and undo it before it is committed.
            actor: who decides where a line does not say.

        Raises:
            Invalid: ``merge_conflict``; ``unrecognised_format``; or it can't be read.
        """
        who = actor or self._actor
        with opened(path) as source:
            said = list(decisions.settled(source))
        action = partial(settled.apply, lines=said, actor=who, source=source.name)
        if dry_run:
            done = guard.tried(self._store, action)
            return replace(done, dry_run=True, run_id=None, undone=())
        with self._store.write() as tx:
            return action(tx)

    def vault(self, path: str | os.PathLike[str]) -> vaults.VaultAliases:
        """Which notes of an Obsidian vault would get which folded spellings as aliases.

        Raises:
            Invalid: ``no_such_file``, ``no_notes``.
        """
        with self._store.read() as tx:
            return vaults.plan(tx, Path(path))

    def write_vault(self, path: str | os.PathLike[str]) -> vaults.VaultAliases:
        """Write the aliases that ``vault`` plans into the front matter of the notes, and keep the
        notes of before beside the graph.

        Raises:
            Invalid: as ``vault``. Refused: ``no_file``.
        """
        with self._store.read() as tx:
            planned, now = vaults.plan(tx, Path(path)), tx.now
        return vaults.apply(
            planned, self._kept_notes(), re.sub(r"\W", "", now).replace("Z", "000Z")
        )

    def undo_vault(self, path: str | os.PathLike[str]) -> vaults.VaultUndone:
        """Put the notes back that the last ``write_vault`` changed and nobody edited since.

        Raises:
            NotFound: ``nothing_to_undo``. Refused: ``no_file``.
        """
        return vaults.undo(Path(path), self._kept_notes())

    def _kept_notes(self) -> Path:
        backups = self._store.backups
        if backups is None:
            raise Refused(
                "no_file", "A graph in memory has no place for the notes of before; name a file."
            )
        return backups.with_suffix(".vaults")


def _must_seal(format: str, sealed: bool, agent: str | None = None) -> None:
    if agent is not None and format == formats.ENFOLD:
        raise Invalid(
            "sealed_instead",
            f"{format} takes what is sealed along as sealed, for every agent: say sealed, and name "
            "no agent.",
        )
    if sealed and format != formats.ENFOLD:
        raise Invalid(
            "no_seals",
            f"{format} can't say which memories are sealed, so none is written in it; export as "
            f"{formats.ENFOLD}.",
        )


def _whole(tx: Tx, sealed: bool, progress: Progress | None) -> Iterator[str]:
    rows = copying.rows(tx, sealed=sealed, progress=progress)
    return whole.lines(rows, schema=tx.rows.schema, sealed=sealed)
