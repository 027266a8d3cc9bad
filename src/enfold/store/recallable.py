"""Which memories a reader may recall: the condition that every arm of recall is under."""

from __future__ import annotations

from typing import Final

from enfold.ports import Reader
from enfold.store.statements import id_list

_HOLDS: Final = """NOT EXISTS (SELECT 1 FROM uncounted x WHERE x.memory_id = {id}
    AND (x.stale <> 0 OR :agent IS NULL OR x.sealed_for <> :agent))"""
_OF_KIND: Final = """ AND EXISTS (SELECT 1 FROM memory k WHERE k.id = {id}
    AND k.kind IN (SELECT value FROM json_each(:kinds)))"""
_SEALED: Final = """ AND EXISTS (SELECT 1 FROM uncounted s
    WHERE s.memory_id = {id} AND s.sealed_for = :agent)"""


def may_recall(column: str, reader: Reader) -> str:
    """The condition on a column of memory ids; bind ``values_of`` with it."""
    of_kind = "" if reader.kinds is None else _OF_KIND
    return (_HOLDS + of_kind + (_SEALED if reader.sealed else "")).format(id=column)


def values_of(reader: Reader) -> dict[str, object]:
    """What ``may_recall`` asks for."""
    of_kind = {} if reader.kinds is None else {"kinds": id_list(reader.kinds)}
    return {"agent": reader.agent, **of_kind}
