"""The front matter of a Markdown note: what it says, and aliases put into it byte by byte.

A note may begin with YAML between two lines ``---``. It is read through the events of a YAML
parser, which costs no recursion and no expansion of anchors, so that a hostile note costs itself
alone. Writing never goes through a YAML writer: it inserts text at places the parser names, reads
the result again, and gives up where anything but the aliases would differ.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from enfold.formats.storable import storable

LIMIT: Final = 256 * 1024
"""Most characters of front matter that are read."""

DEPTH: Final = 30
"""Deepest nesting that is taken."""

VALUES: Final = 20_000
"""Most values, those that anchors repeat included."""

ALIAS_KEYS: Final = ("aliases", "alias")

OPENING: Final = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\n|\r)")
_CLOSE: Final = re.compile(r"(?:(?<=\n)|(?<=\r))---[ \t]*(?:\r\n|\n|\r|\Z)")
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_INT: Final = re.compile(r"[-+]?[0-9]{1,15}")
_FLOAT: Final = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
_PLAIN: Final = re.compile(r"[^\W\d_][\w .'-]*(?<![ .])")
_WORDS: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_ESCAPED: Final = re.compile('[\\\\"\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]')


class Unreadable(ValueError):
    """Front matter that can't be read, or aliases that can't be put into it; its text says why."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where front matter stands in a note: its YAML, and where the text below begins."""

    start: int
    end: int
    below: int


@dataclass(slots=True)
class Value:
    """A value of the YAML with the place where it stands.

    Attributes:
        kind: ``scalar``, ``list``, ``map`` or ``reference`` (to an anchor).
        text: of a scalar, as it reads; of a reference, the anchor's name.
        style: of a scalar, its quote or block sign, or "" where it is plain.
        marked: whether an anchor or a tag stands before it.
    """

    kind: str
    start: int
    end: int
    text: str = ""
    style: str = ""
    flow: bool = False
    marked: bool = False
    parts: list[Value] = field(default_factory=list)

    @property
    def pairs(self) -> Iterator[tuple[Value, Value]]:
        return zip(self.parts[::2], self.parts[1::2], strict=False)

    @property
    def null(self) -> bool:
        return self.kind == "scalar" and not self.style and self.text.lower() in ("", "~", "null")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the front matter of a note says.

    Attributes:
        data: every key but those of aliases.
        aliases: in the order given, each once.
        repeated: keys that are given twice; the first value stands.
        odd: whether something under ``aliases`` is no name.
    """

    data: dict[str, Any]
    aliases: tuple[str, ...]
    repeated: tuple[str, ...] = ()
    odd: bool = False


def bounds(text: str) -> Bounds | None:
    """Where a note's front matter stands; None where it has none.

    Raises:
        Unreadable: it is opened and not closed, or too long.
    """
    opened = OPENING.match(text)
    if opened is None:
        return None
    # The line before the closing one ends in a newline, which may be that of the opening one.
    closed = _CLOSE.search(text, opened.end())
    if closed is None:
        raise Unreadable("a line --- opens the front matter and none closes it")
    if closed.start() - opened.end() > LIMIT:
        raise Unreadable(f"it has more than {LIMIT:,} characters")
    return Bounds(opened.end(), closed.start(), closed.end())


def parse(yaml_text: str) -> FrontMatter:
    """What the YAML of a note says.

    Raises:
        Unreadable: it is broken, no mapping, or nested too deep.
    """
    top, anchors = _tree(yaml_text)
    if top is None:
        return FrontMatter({}, ())
    data: dict[str, Any] = {}
    aliases: dict[str, None] = {}
    repeated, odd = [], False
    seen: set[str] = set()
    count = [0]
    for key, value in top.pairs:
        name = key.text if key.kind == "scalar" else ""
        if name.lower() in ALIAS_KEYS:
            names, strange = _aliases(value, anchors)
            aliases |= dict.fromkeys(names)
            odd = odd or strange
        elif name in seen:
            repeated.append(name)
        else:
            data[name] = _data(value, anchors, 0, count)
        seen.add(name)
    return FrontMatter(data, tuple(aliases), tuple(repeated), odd)


# ---- reading ----


def _tree(text: str) -> tuple[Value | None, dict[str, Value]]:
    """(the mapping, or None where there is nothing; the values that anchors name)"""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    top: Value | None = None
    anchors: dict[str, Value] = {}
    open_: list[Value] = []
    count = documents = 0
    try:
        for event in yaml.parse(text, loader):
            count += 1
            if count > VALUES:
                raise Unreadable(f"it has more than {VALUES:,} values")
            if isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
                open_.pop().end = event.end_mark.index  # type: ignore[union-attr]
                continue
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
            value = _value(event)
            if value is None:
                continue
            if documents > 1:
                raise Unreadable("it holds several documents")
            if open_:
                open_[-1].parts.append(value)
            else:
                top = value
            if value.kind in ("list", "map"):
                open_.append(value)
                if len(open_) > DEPTH:
                    raise Unreadable(f"it is nested more than {DEPTH} deep")
            if anchor := getattr(event, "anchor", None):
                anchors.setdefault(anchor, value) if value.kind != "reference" else None
    except yaml.YAMLError as error:
        raise Unreadable(_why(error)) from None
    except RecursionError:
        raise Unreadable(f"it is nested more than {DEPTH} deep") from None
    if top is None or top.null:
        return None, anchors
    if top.kind != "map":
        raise Unreadable("it is no list of properties (key: value)")
    return top, anchors


def _value(event: Any) -> Value | None:
    import yaml

    start, end = event.start_mark.index, event.end_mark.index
    if isinstance(event, yaml.ScalarEvent):
        marked = event.anchor is not None or event.tag is not None
        style = event.style if event.style and event.style not in (":", "") else ""
        return Value("scalar", start, end, storable(event.value), style, marked=marked)
    if isinstance(event, yaml.CollectionStartEvent):
        kind = "map" if isinstance(event, yaml.MappingStartEvent) else "list"
        marked = event.anchor is not None or event.tag is not None
        return Value(kind, start, end, flow=bool(event.flow_style), marked=marked)
    if isinstance(event, yaml.AliasEvent):
        return Value("reference", start, end, event.anchor or "", marked=True)
    return None


def _why(error: Any) -> str:
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it is no YAML"
    mark = getattr(error, "problem_mark", None)
    return f"{problem}{f' in its line {mark.line + 1}' if mark is not None else ''}"


def _aliases(value: Value, anchors: dict[str, Value]) -> tuple[list[str], bool]:
    """(names, whether something in it is no name)"""
    if value.kind == "reference":
        value = anchors.get(value.text, value)
    if value.kind == "scalar":
        if value.null:
            return [], False
        return [name for part in re.split("[,\n]", value.text) if (name := part.strip())], False
    if value.kind != "list":
        return [], True
    names = [v.text.strip() for v in value.parts if v.kind == "scalar" and not v.null]
    return [name for name in names if name], any(v.kind != "scalar" for v in value.parts)


def _data(value: Value, anchors: dict[str, Value], depth: int, count: list[int]) -> Any:
    count[0] += 1
    if count[0] > VALUES or depth > DEPTH:
        raise Unreadable("its anchors repeat too much")
    if value.kind == "reference":
        if value.text not in anchors:
            return f"*{value.text}"
        return _data(anchors[value.text], anchors, depth + 1, count)
    if value.kind == "list":
        return [_data(part, anchors, depth + 1, count) for part in value.parts]
    if value.kind == "map":
        made: dict[str, Any] = {}
        for key, part in value.pairs:
            made.setdefault(key.text, _data(part, anchors, depth + 1, count))
        return made
    return _scalar(value)


def _scalar(value: Value) -> Any:
    """A number, a truth value, nothing, or the text; a date stays the text it is."""
    if value.style or value.marked:
        return value.text
    if value.null:
        return None
    lower = value.text.lower()
    if lower in ("true", "false"):
        return lower == "true"
    if _INT.fullmatch(value.text) and not re.match(r"[-+]?0[0-9]", value.text):
        return int(value.text)
    if _FLOAT.fullmatch(value.text) and math.isfinite(number := float(value.text)):
        return number
    return value.text


# ---- writing ----


def with_aliases(text: str, add: Sequence[str]) -> str:
    """The note with more aliases; nothing but its front matter differs, and in that nothing but
    the aliases.

    Raises:
        Unreadable: there is no safe place for them.
    """
    found = bounds(text)
    if found is None:
        changed = _with_front_matter(text, add)
    else:
        where, put, gone = _insertion(text, found, add)
        changed = text[:where] + put + text[where + gone :]
    _must_differ_in_aliases_alone(text, changed, add)
    return changed


def _newline(text: str) -> str:
    found = _LINE_END.search(text)
    return found.group() if found else "\n"


def _with_front_matter(text: str, add: Sequence[str]) -> str:
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    end = _newline(text)
    lines = ["---", "aliases:", *(f"  - {written(name)}" for name in add), "---"]
    return mark + end.join(lines) + end + text[len(mark) :]


def _insertion(text: str, found: Bounds, add: Sequence[str]) -> tuple[int, str, int]:
    """(where, what, how many characters it replaces)"""
    top, _ = _tree(text[found.start : found.end])
    end = _newline(text)
    if top is None:
        return found.end, _new_key("", add, end), 0
    if top.flow or top.marked:
        raise Unreadable("its front matter is written in braces")
    keys = [
        (key, value)
        for wanted in ALIAS_KEYS
        for key, value in top.pairs
        if key.kind == "scalar" and key.text.lower() == wanted
    ]
    if not keys:
        first = top.parts[0]
        indent = _before(text, found.start + first.start)
        if indent.strip(" "):
            raise Unreadable("its first property does not begin its line")
        return found.end, _new_key(indent, add, end), 0
    key, value = keys[0]
    if value.marked or key.marked:
        raise Unreadable("its aliases use an anchor or a tag")
    if value.kind == "list":
        return _into_list(text, found.start, value, add, end)
    if value.kind == "scalar":
        return _into_scalar(text, found.start, key, value, add, end)
    raise Unreadable("its aliases are no list of names")


def _new_key(indent: str, add: Sequence[str], end: str) -> str:
    lines = [f"{indent}aliases:", *(f"{indent}  - {written(name)}" for name in add)]
    return "".join(line + end for line in lines)


def _before(text: str, at: int) -> str:
    """What stands before a place in its line."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    return text[start:at]


def _next_line(text: str, at: int) -> int:
    found = _LINE_END.search(text, at)
    if found is None:
        raise Unreadable("its front matter is not closed")
    return found.end()


def _into_list(
    text: str, start: int, value: Value, add: Sequence[str], end: str
) -> tuple[int, str, int]:
    more = ", ".join(map(written, add))
    if value.flow:
        if not value.parts:
            return start + value.start + 1, more, 0
        return start + value.parts[-1].end, f", {more}", 0
    last = value.parts[-1]
    if last.kind != "scalar" or last.style in ("|", ">"):
        raise Unreadable("its last alias is no plain name")
    prefix = _before(text, start + value.parts[0].start)
    if not re.fullmatch(r" *-[ \t]+", prefix):
        raise Unreadable("its aliases do not begin their lines")
    put = "".join(f"{prefix}{written(name)}{end}" for name in add)
    return _next_line(text, start + last.end), put, 0


def _into_scalar(
    text: str, start: int, key: Value, value: Value, add: Sequence[str], end: str
) -> tuple[int, str, int]:
    at, until = start + value.start, start + value.end
    if value.null and not value.text:
        indent = _before(text, start + key.start)
        put = "".join(f"{indent}  - {written(name)}{end}" for name in add)
        return _next_line(text, start + key.end), put, 0
    more = ", ".join(map(written, add))
    if value.null:
        return at, f"[{more}]", until - at
    said = text[at:until]
    if value.style in ("|", ">") or _LINE_END.search(said):
        raise Unreadable("its aliases are a text of several lines")
    if "," not in value.text:
        if not value.style and re.search(r"[\[\]{}]", said):
            raise Unreadable("its alias holds a bracket")
        return at, f"[{said}, {more}]", until - at
    if any("," in name for name in add):
        raise Unreadable("its aliases are one text with commas, and a new one has a comma itself")
    if value.style == "'":
        return until - 1, "".join(", " + name.replace("'", "''") for name in add), 0
    if value.style == '"':
        return until - 1, "".join(", " + written(name, quoted=True)[1:-1] for name in add), 0
    if not all(map(_plain, add)):
        raise Unreadable("its aliases are one text with commas, and a new one needs quotes")
    return until, "".join(f", {name}" for name in add), 0


def _plain(name: str) -> bool:
    return _PLAIN.fullmatch(name) is not None and name.lower() not in _WORDS


def written(name: str, *, quoted: bool = False) -> str:
    """A name as YAML: plain where that is safe anywhere, else in double quotes."""
    if not quoted and _plain(name):
        return name
    return '"' + _ESCAPED.sub(_escape, name) + '"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if character in '\\"':
        return f"\\{character}"
    at = ord(character)
    return f"\\x{at:02x}" if at < 0x100 else f"\\u{at:04x}"


def _must_differ_in_aliases_alone(before: str, after: str, add: Sequence[str]) -> None:
    old, new = bounds(before), bounds(after)
    assert new is not None, "front matter was lost"
    mark = "\ufeff" if before.startswith("\ufeff") else ""
    said = parse(before[old.start : old.end]) if old else FrontMatter({}, ())
    says = parse(after[new.start : new.end])
    below = before[old.below :] if old else before[len(mark) :]
    expected = {*said.aliases, *add}
    same = says.data == said.data and set(says.aliases) == expected and after[new.below :] == below
    if not (same and after.startswith(mark)):
        raise Unreadable("its front matter leaves no safe place for them")
