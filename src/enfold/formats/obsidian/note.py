"""A note of a vault as records: an entity and what it is linked to.

``aliases`` and ``type`` come from its front matter, whose other properties are kept. Paragraphs,
list entries and code blocks become observations, as written, with the heading above them in front.
Links are relations: of the predicate ``links to``, or of the name of the property or of the field
(``uses:: [[Postgres]]``) they stand in. What a link shows (``[[Postgres|the database]]``) is no
alias.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

from enfold.formats.obsidian import frontmatter
from enfold.formats.obsidian.folder import SUFFIX, Vault, folded, name_of, without_suffix
from enfold.formats.obsidian.frontmatter import FrontMatter, Unreadable
from enfold.formats.source import SHOWN
from enfold.formats.storable import CHANGED, is_storable, storable
from enfold.model import EntityRecord, Note, Record, RelationRecord, SetAside

LINKS: Final = "links to"
"""The predicate of a link that stands in no field."""

LONGEST: Final = 4_000
"""Most characters of an observation; a longer paragraph is cut at ends of lines or sentences."""

CODE_LONGEST: Final = 100_000
"""Most characters of a block of code, which is left whole; a longer one is set aside."""

_WIKI: Final = re.compile(r"!?\[\[([^\[\]|#^\n]{0,1000})(?:[|#^][^\[\]\n]{0,2000})?\]\]")
_MARKDOWN: Final = re.compile(r"\]\([ \t]*(?:<([^<>\n]{1,1000})>|([^()\s<>]{1,1000}))")
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*)|[ \t]*)$")
_RULE: Final = re.compile(r" {0,3}(?:-[- \t]{2,}|\*[* \t]{2,}|_[_ \t]{2,})$")
_ENTRY: Final = re.compile(r"([ \t]*)(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$)")
_TASK: Final = re.compile(r"\[.\][ \t]+")
_QUOTE: Final = re.compile(r"(?:[ \t]*>[ \t]?)+")
_CALLOUT: Final = re.compile(r"\[![^\[\]\n]{1,40}\][+-]?[ \t]*")
_FIELD: Final = re.compile(
    r"([^\W_][^\[\](){}:`|\n#]{0,60}?)[*_~]{0,3}::(?=[ \t]|\[\[|$)[ \t]*(.*)"
)
_INLINE_FIELD: Final = re.compile(
    r"[\[(]([^\W_][^\[\]()\n:`|]{0,60})::[ \t]*((?:\[\[[^\[\]\n]{1,1000}\]\]|[^\[\]()\n])+)[\])]"
)
_SIGNS: Final = re.compile(r"`+|%%|<!--")
_DECORATION: Final = "*_~ \t"


def has_links(text: str) -> bool:
    """Whether a text links to notes."""
    return bool(_WIKI.search(text)) or any(
        _is_note_path(first or other) for first, other in _MARKDOWN.findall(text)
    )


def _is_note_path(target: str) -> bool:
    return target.partition("#")[0].lower().endswith(SUFFIX) and not _SCHEME.match(target)


def read(found: Vault, path: str) -> Iterator[Record]:
    """The records of the note of that path: what is said of the file, the entity, its relations."""
    yield from _Reading(found, path).records()


def decoded(raw: bytes) -> tuple[str, str]:
    """(the text, "") of a note; ("", why) where its bytes are none. A mark at its beginning says
    the encoding and stays."""
    try:
        if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            return "\ufeff" + raw.decode("utf-16"), ""
        return raw.decode(), ""
    except UnicodeDecodeError as error:
        return "", f"Byte {error.start + 1} of the note is not {error.encoding.upper()}."


@dataclass(slots=True)
class _Block:
    """Lines of a note that belong together, below a heading."""

    kind: str  # paragraph, entry, code or heading
    line: int
    heading: str
    lines: list[tuple[int, str]] = field(default_factory=list)
    code: set[int] = field(default_factory=set)  # lines of an entry that are code
    indent: int = 0


class _Reading:
    """One note."""

    def __init__(self, found: Vault, note: str) -> None:
        self._vault, self._note, self._name = found, note, name_of(note)
        self._relations: dict[tuple[str, str], RelationRecord] = {}
        self._aside: list[SetAside] = []
        self._observations: dict[str, None] = {}
        self._fields: dict[str, Any] = {}

    def records(self) -> Iterator[Record]:
        text, said = self._text()
        front, below, first = self._front(text)
        attributes = dict(front.data)
        type_ = attributes.get("type")
        if isinstance(type_, str) and type_.strip():
            del attributes["type"]
        else:
            type_ = None
        for key, value in front.data.items():
            self._property(key, value, 0)
        if said:
            for block in _blocks(below, first):
                self._block(block, attributes)
        yield from self._aside
        yield EntityRecord(
            line=1,
            name=self._name,
            type=type_.strip() if type_ else None,
            observations=tuple(self._observations),
            aliases=front.aliases,
            foreign_id=self._note,
            attributes=attributes | self._fields,
        )
        yield from self._relations.values()

    def _text(self) -> tuple[str, bool]:
        why = ""
        try:
            text, why = decoded(self._vault.read(self._note))
        except OSError as error:
            why = f"The note can't be read: {error.strerror or error}."
        except ValueError as error:
            why = f"The note is not read: {error}."
        if why:
            self._set_aside(0, why, "")
            return "", False
        if not is_storable(text):
            self._differs(0, CHANGED, "")
        return storable(text), True

    def _front(self, text: str) -> tuple[FrontMatter, str, int]:
        """(what the front matter says, the text below it, the number of its first line)"""
        try:
            found = frontmatter.bounds(text)
        except Unreadable as error:
            self._differs(1, f"The front matter is read as text: {error}.", text[:SHOWN])
            return FrontMatter({}, ()), text.removeprefix("\ufeff"), 1
        if found is None:
            return FrontMatter({}, ()), text.removeprefix("\ufeff"), 1
        yaml_text = text[found.start : found.end]
        first = 1 + len(re.findall(r"\r\n|\n|\r", text[: found.below]))
        try:
            front = frontmatter.parse(yaml_text)
        except Unreadable as error:
            self._differs(1, f"The front matter can't be read: {error}.", yaml_text)
            return FrontMatter({}, ()), text[found.below :], first
        if front.repeated:
            keys = ", ".join(front.repeated)
            why = "A property is given twice; its first value is taken."
            self._differs(1, why, keys)
        if front.odd:
            self._differs(1, "Something under aliases is no name; it is left out.", yaml_text)
        return front, text[found.below :], first

    def _set_aside(self, line: int, why: str, text: str) -> None:
        self._aside.append(SetAside(self._note, line, why, text))

    def _differs(self, line: int, why: str, text: str) -> None:
        self._aside.append(Note(self._note, line, why, text))

    # ---- properties and fields ----

    def _property(self, key: str, value: Any, depth: int) -> None:
        """A property that holds links; the property itself stays as it is."""
        if isinstance(value, str):
            for target in _wiki_targets(value):
                self._link(1, key, target)
        elif isinstance(value, list) and depth < 3:
            for part in value:
                self._property(key, part, depth + 1)

    def _block(self, block: _Block, attributes: dict[str, Any]) -> None:
        if block.kind == "code":
            self._observe(block, [line for _, line in block.lines], CODE_LONGEST)
            return
        kept = []
        for number, line in block.lines:
            if number in block.code:
                kept.append(line)
            elif not self._is_field(number, line, attributes):
                kept.append(line)
                self._links(number, line, attributes)
        if block.kind != "heading":
            self._observe(block, kept, LONGEST)

    def _is_field(self, number: int, line: str, attributes: dict[str, Any]) -> bool:
        """Whether the line is a field, which is then taken: its links as relations, what has none
        as a property."""
        entry = _ENTRY.match(line)
        bare = (line[entry.end() :] if entry else line).strip().lstrip(_DECORATION)
        found = _FIELD.fullmatch(bare)
        if found is None or len(found.group(1).split()) > 5:
            return False
        key = found.group(1).strip(_DECORATION)
        return self._field(number, key, found.group(2).strip(), attributes)

    def _field(self, number: int, key: str, value: str, attributes: dict[str, Any]) -> bool:
        targets = _targets(value)
        if targets:
            words = _WIKI.sub("", value).strip(" ,;.&")
            told = f"{self._name} {key} {value}" if re.search(r"\w", words) else None
            for target in targets:
                self._link(number, key, target, told)
            return True
        if key in attributes or not value:
            return False
        known = self._fields.get(key)
        if known is None:
            self._fields[key] = value
        elif isinstance(known, list):
            known.append(value)
        else:
            self._fields[key] = [known, value]
        return True

    def _links(self, number: int, line: str, attributes: dict[str, Any]) -> None:
        plain = _without_code(line)
        for found in _INLINE_FIELD.finditer(plain):
            self._field(number, found.group(1).strip(_DECORATION), found.group(2), attributes)
        for target in _targets(_INLINE_FIELD.sub(" ", plain)):
            self._link(number, LINKS, target)

    def _link(self, number: int, predicate: str, target: str, told: str | None = None) -> None:
        ends = self._vault.target(target, self._note)
        if ends is None or ends == [self._note]:
            return
        if len(ends) > 1:
            fits = ", ".join(ends[:5])
            why = f"The link fits several notes ({fits}); it is linked to none."
            self._set_aside(number, why, f"[[{target}]]")
            return
        name = name_of(ends[0]) if ends else _bare(target)
        object_id = ends[0] if ends else None
        made = RelationRecord(
            line=number,
            subject=self._name,
            predicate=predicate,
            object=name,
            text=told,
            subject_id=self._note,
            object_id=object_id,
        )
        self._relations.setdefault((predicate, object_id or folded(name)), made)

    # ---- observations ----

    def _observe(self, block: _Block, lines: list[str], longest: int) -> None:
        text = "\n".join(lines).strip("\n") if block.kind == "code" else _dedented(lines)
        if not text.strip():
            return
        if block.kind == "code" and len(text) > longest:
            why = f"The block of code has {len(text):,} characters; at most {longest:,} are taken."
            self._set_aside(block.line, why, text)
            return
        before = f"{block.heading}: " if block.heading and block.heading != self._name else ""
        if before and block.kind == "code":
            before = before.rstrip() + "\n"
        for part in _cut(text, longest):
            self._observations[before + part] = None


def _bare(target: str) -> str:
    """The name of a note that does not exist, from the link to it."""
    return without_suffix(target.strip().strip("/").rpartition("/")[2])


# ---- links ----


def _targets(text: str) -> list[str]:
    """What the links of a text name, in order; those to other places and to headings aside."""
    found = [(m.start(), m.group(1)) for m in _WIKI.finditer(text)]
    for match in _MARKDOWN.finditer(text):
        target = unquote((match.group(1) or match.group(2)).partition("#")[0])
        if _is_note_path(target):
            found.append((match.start(), target))
    return _named_targets(target for _, target in sorted(found))


def _wiki_targets(text: str) -> list[str]:
    return _named_targets(match.group(1) for match in _WIKI.finditer(text))


def _named_targets(targets: Iterator[str]) -> list[str]:
    # In a table the bar of a link is escaped: [[Note\|shown]].
    bare = (target.strip().removesuffix("\\").strip() for target in targets)
    return [storable(target) for target in bare if target]


# ---- blocks ----


def _blocks(text: str, first: int) -> Iterator[_Block]:
    """The paragraphs, entries of lists and blocks of code of a text, comments aside."""
    block: _Block | None = None
    heading = fence = comment = ""
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), first):
        if fence:
            assert block is not None
            block.lines.append((number, line))
            block.code.add(number)
            if _closes(line, fence):
                fence = ""
                if block.kind == "code":
                    yield block
                    block = None
            continue
        line, comment = _uncommented(line, comment)  # noqa: PLW2901
        opened = _FENCE.match(line)
        if opened and "`" not in line[opened.end() :]:
            fence = opened.group(1)
            inside = block is not None and block.kind == "entry" and _indent(line) > block.indent
            if not inside:
                if block is not None:
                    yield block
                block = _Block("code", number, heading)
            assert block is not None
            block.lines.append((number, line))
            block.code.add(number)
            continue
        titled = _HEADING.match(line)
        if titled or not line.strip() or _RULE.match(line):
            if block is not None:
                yield block
            block = None
            if titled:
                heading = (titled.group(2) or "").rstrip("# \t")[:200].strip()
                if _WIKI.search(heading):  # its links count; its text stands before what is below
                    yield _Block("heading", number, "", [(number, heading)])
            continue
        entry = _ENTRY.match(line)
        indent = _indent(line)
        if entry and not (block is not None and block.kind == "entry" and indent > block.indent):
            if block is not None:
                yield block
            block = _Block("entry", number, heading, indent=indent)
            task = _TASK.match(line, entry.end())
            line = line[(task or entry).end() :]  # noqa: PLW2901
        elif block is None:
            block = _Block("paragraph", number, heading)
        block.lines.append((number, _unquoted(line)))
    if block is not None:
        yield block


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(fence) and bare.strip(fence[0]) == "" and bare[0] == fence[0]


def _indent(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip(" "))


def _unquoted(line: str) -> str:
    """A line without the signs of a quotation, of a callout and of a task."""
    if quote := _QUOTE.match(line):
        line = line[quote.end() :]
        if callout := _CALLOUT.match(line):
            return line[callout.end() :]
    entry = _ENTRY.match(line)
    if entry and (task := _TASK.match(line, entry.end())):
        return line[: entry.end()] + line[task.end() :]
    return line


def _uncommented(line: str, inside: str) -> tuple[str, str]:
    """(the line without comments, the sign that ends one which is still open)"""
    kept: list[str] = []
    at = 0
    while True:
        if inside:
            end = line.find(inside, at)
            if end < 0:
                return "".join(kept), inside
            at, inside = end + len(inside), ""
        found = _SIGNS.search(line, at)
        if found is None:
            return "".join([*kept, line[at:]]), ""
        sign = found.group()
        if sign.startswith("`"):
            end = line.find(sign, found.end())
            until = found.end() if end < 0 else end + len(sign)
            kept.append(line[at:until])
            at = until
        else:
            kept.append(line[at : found.start()])
            at, inside = found.end(), "-->" if sign == "<!--" else "%%"


def _without_code(line: str) -> str:
    """The line with code in it left out: a link there is none."""
    kept: list[str] = []
    at = 0
    while (start := line.find("`", at)) >= 0:
        run = len(line) - start - len(line[start:].lstrip("`"))
        end = line.find("`" * run, start + run)
        if end < 0:
            break
        kept.append(line[at:start])
        at = end + run
    return " ".join([*kept, line[at:]])


def _dedented(lines: list[str]) -> str:
    """Lines without the indent that those below the first share."""
    rest = [_indent(line) for line in lines[1:] if line.strip()]
    less = min(rest, default=0)
    below = (line.expandtabs(4)[less:] if less else line for line in lines[1:])
    return "\n".join([*(line.strip() for line in lines[:1]), *(b.rstrip() for b in below)]).strip()


def _cut(text: str, longest: int) -> Iterator[str]:
    """The text in parts of at most that many characters, cut where it is best read."""
    while len(text) > longest:
        part = text[:longest]
        ends = (part.rfind("\n"), part.rfind(". ") + 1, part.rfind(" "), longest)
        at = next(end for end in ends if end > longest // 2)
        yield text[:at].strip()
        text = text[at:].strip()
    if text:
        yield text
