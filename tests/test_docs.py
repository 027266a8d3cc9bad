"""The docs fail like code: what they show is run, what they list is what there is.

In every page a ``console`` block is a shell session: its commands are run in an empty directory,
all of a page in one, and what they print is compared with what is shown. A block with
``title="FILE"`` is put there first; an HTML comment that begins with ``setup`` is run before the
rest and shown to nobody. A line ``[...]`` stands for any lines. A ``python`` block is run in the
same directory, and what it prints is compared with the ``text`` block behind it.

    python tests/test_docs.py --write

puts in what is printed now, and makes the command-line reference anew.
"""

from __future__ import annotations

import ast
import contextlib
import io
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import pytest

import enfold
from enfold import check, folds, formats, names, pairs, rules
from enfold.conflicts import QUEUE_CAP
from enfold.model import Context
from enfold.settings import Settings

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
REFERENCE: Final = DOCS / "reference"
README: Final = ROOT / "README.md"
CHANGELOG: Final = ROOT / "CHANGELOG.md"
SOURCE: Final = ROOT / "src" / "enfold"

PAGES: Final = [README, CHANGELOG, *sorted(DOCS.rglob("*.md"))]


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


# ---- what stands in a page ----------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, what stands behind that, its text, and where that is."""

    language: str
    about: str
    text: str
    start: int
    end: int

    @property
    def title(self) -> str:
        found = re.search(r'title="([^"]+)"', self.about)
        return found.group(1) if found else ""


_FENCE = re.compile(r"^( *)```(\w+)([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_SETUP = re.compile(r"<!-- setup\n(.*?)-->", re.DOTALL)


def blocks(page: str) -> list[Block]:
    return [
        Block(m.group(2), m.group(3), m.group(4), m.start(4), m.end(4))
        for m in _FENCE.finditer(page)
    ]


def prose(page: str) -> str:
    """The page without code, whether in blocks or in a line."""
    return re.sub(r"`[^`\n]*`", "", _FENCE.sub("", _SETUP.sub("", page)))


@dataclass(frozen=True)
class Step:
    """A command of a session and what is shown of it."""

    command: str
    shown: str


def session(block: Block) -> list[Step]:
    steps: list[Step] = []
    command: list[str] = []
    shown: list[str] = []
    for line in [*block.text.splitlines(), "$ "]:
        if line.startswith("$ "):
            if command:
                steps.append(Step("\n".join(command), "\n".join(shown)))
            command, shown = [line[2:]], []
        elif line.startswith("> ") and not shown:
            command.append(line[2:])
        else:
            shown.append(line)
    return steps


# ---- running it ---------------------------------------------------------------------------------

_MARK = "\x1e"
_TIMES = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?"), "TIME"),
    (re.compile(r"\d{8}T\d{12}Z"), "STAMP"),
)


def normal(text: str) -> str:
    """Printed text without what differs from run to run."""
    for pattern, word in _TIMES:
        text = pattern.sub(word, text)
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def agree(shown: str, printed: str) -> bool:
    """Whether what is shown is what was printed, ``[...]`` standing for any lines."""
    parts = [
        ".*" if line.strip() == "[...]" else re.escape(line) for line in normal(shown).splitlines()
    ]
    return re.fullmatch("\n".join(parts), normal(printed), re.DOTALL) is not None


@contextlib.contextmanager
def desk(page: str) -> Iterator[Path]:
    """A directory with what a page needs."""
    with tempfile.TemporaryDirectory() as made:
        work = Path(made) / "work"
        work.mkdir()
        (work / "examples").symlink_to(ROOT / "examples")
        for block in blocks(page):
            if block.title:
                assert not (work / block.title).exists(), f"{block.title} is given twice"
                (work / block.title).write_text(block.text, encoding="utf-8")
        for setup in _SETUP.findall(page):
            _shell(work, setup)
        yield work


def _shell(work: Path, script: str) -> str:
    tools = work.parent / "bin"
    if not tools.exists():
        tools.mkdir()
        (tools / "enfold").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m enfold "$@"\n')
        (tools / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        for tool in tools.iterdir():
            tool.chmod(0o755)
    told = {k: v for k, v in os.environ.items() if not k.startswith(("ENFOLD_", "FORCE_COLOR"))}
    told |= {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "LOGNAME": "ada",
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=work,
        env=told,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        timeout=240,
        check=False,
    )
    return done.stdout.decode()


def printed_by(steps: Sequence[Step], work: Path) -> list[str]:
    """What each command prints, one after the other in one shell."""
    script = ["mark() { code=$?; printf '\\036'; return $code; }"]
    for step in steps:
        script += [step.command, "mark"]
    return _shell(work, "\n".join(script)).split(_MARK)[: len(steps)]


def python_pairs(page: str) -> list[tuple[Block, Block | None]]:
    """The python blocks of a page that are to be run, each with the output shown behind it."""
    every = blocks(page)
    return [
        (block, after if after and after.language == "text" else None)
        for block, after in itertools.zip_longest(every, every[1:])
        if block.language == "python" and not block.title
    ]


@contextlib.contextmanager
def as_before() -> Iterator[None]:
    """Forget afterwards what a page imported or registered."""
    tables: list[Any] = [rules.RULE_SETS, pairs.BLOCKING, pairs.REGISTERED, sys.modules]
    kept, path = [dict(table) for table in tables], list(sys.path)
    try:
        yield
    finally:
        sys.path[:] = path
        for table, before in zip(tables, kept, strict=True):
            for name in set(table) - set(before):
                if table is not sys.modules or name.endswith("_rule"):
                    del table[name]


def run_python(code: Sequence[str], work: Path) -> list[str]:
    """What each piece of code prints, one after the other in one namespace."""
    space: dict[str, Any] = {}
    out = []
    with contextlib.chdir(work), as_before():
        for piece in code:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(piece, "docs", "exec"), space)
            out.append(printed.getvalue())
        for value in space.values():
            if isinstance(value, enfold.Graph):
                value.close()
    return out


RUN: Final = [
    page for page in PAGES if re.search(r"^ *```(console|python)", page.read_text(), re.MULTILINE)
]


@pytest.mark.parametrize("page", RUN, ids=named)
def test_what_a_page_shows_is_what_is_printed(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    with desk(text) as work:
        steps = [s for b in blocks(text) if b.language == "console" for s in session(b)]
        for step, printed in zip(steps, printed_by(steps, work), strict=True):
            if not agree(step.shown, printed):
                assert normal(step.shown) == normal(printed), step.command
        pieces = python_pairs(text)
        for (code, shown), printed in zip(
            pieces, run_python([code.text for code, _ in pieces], work), strict=True
        ):
            expected = shown.text if shown else ""
            if not agree(expected, printed):
                assert normal(expected) == normal(printed), code.text


# ---- what the reference lists -------------------------------------------------------------------


def headings(page: Path, level: int) -> list[str]:
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return [m.strip("` ") for m in re.findall(rf"^{'#' * level} (.+)$", text, re.MULTILINE)]


def first_cells(page: Path, under: str = "") -> list[str]:
    """The code in the first cell of each row of a page's tables, or of those under a heading."""
    text = page.read_text(encoding="utf-8")
    if under:
        text = text.partition(f"## {under}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `([^`|]+)` ", text, re.MULTILINE)


def rows(page: Path) -> dict[str, list[str]]:
    """The rows of a page's tables by the code in their first cell."""
    found = {}
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) > 1:
            found[cells[0].strip("`")] = cells[1:]
    return found


def test_the_command_line_is_in_the_reference_as_it_is() -> None:
    page = REFERENCE / "cli.md"
    assert page.read_text(encoding="utf-8") == with_commands(page.read_text(encoding="utf-8")), (
        "the reference of the command line is behind: python tests/test_docs.py --write"
    )


def test_no_page_tells_to_type_a_command_that_is_none() -> None:
    known = {name for name, _ in commands()}
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        told = re.findall(r"(?:^\$ |`)enfold ([a-z][a-z-]+)", page.read_text(), re.MULTILINE)
        assert set(told) <= known, f"{named(page)}: {set(told) - known}"


def test_every_setting_is_in_the_reference_with_its_default() -> None:
    listed = rows(REFERENCE / "settings.md")
    assert list(listed) == [field.name for field in fields(Settings)]
    for field in fields(Settings):
        default = {"True": "yes", "False": "no", "": "empty"}.get(
            str(field.default), str(field.default)
        )
        assert listed[field.name][0].strip("`") == default, field.name


ESCAPES: Final = ("short-key", "punctuation", "symbol", "typed")
BY_HAND: Final = (*sorted(folds.SPELLING_RULES), "declared-same")


def test_every_rule_is_in_the_reference_with_its_verdict() -> None:
    page = REFERENCE / "rules.md"
    expected = [rule.name for rule in rules.RULES]
    assert headings(page, 3) == expected
    text = page.read_text(encoding="utf-8")
    for rule in rules.RULES:
        part = text.partition(f"### {rule.name}\n")[2].partition("\n#")[0]
        assert part.lstrip().startswith(f"**{rule.verdict.value}**"), rule.name
    assert first_cells(page, "Where identical asks") == list(ESCAPES)
    assert sorted(first_cells(page, "Rules of folds made without a rule")) == sorted(BY_HAND)
    assert "`none`" in text
    strict = [rule.name for rule in rules.RULE_SETS["strict"]]
    assert first_cells(page, "Rule sets") == list(rules.RULE_SETS)
    assert rows(page)["strict"][0] == ", ".join(f"`{name}`" for name in strict)


def test_the_examples_of_the_rules_are_ruled_as_shown() -> None:
    text = (REFERENCE / "rules.md").read_text(encoding="utf-8")
    shown = re.findall(
        r"^\| `(.+?)` \| `(.+?)` \| (\w*) ?\| (\w+) ([\w-]+) \|$", text, re.MULTILINE
    )
    assert len(shown) > 30
    for left, right, kind, verdict, rule in shown:
        ones = [enfold.Name.of(one, kind or None) for one in (left, right)]
        ruling = enfold.rule_on(ones[0], ones[1], Context())
        assert (ruling.verdict.value, ruling.rule) == (verdict, rule), (left, right)
    assert {rule for *_, rule in shown} == {*(rule.name for rule in rules.RULES), "none"}


def test_the_escapes_are_those_of_the_code() -> None:
    written = (SOURCE / "rules.py").read_text(encoding="utf-8")
    body = written.partition("def _escape(")[2].partition("\ndef ")[0]
    assert tuple(dict.fromkeys(re.findall(r'_ruling\(ask, "([a-z-]+)"', body))) == ESCAPES


def test_the_numbers_of_the_rules_are_those_of_the_code() -> None:
    text = " ".join((REFERENCE / "rules.md").read_text(encoding="utf-8").split())
    assert f"above {rules.ONE_PLACE} letters" in text
    assert f"above {rules.NEVER_EDITED} never" in text
    assert f"at most {QUEUE_CAP} questions" in (DOCS / "explanation" / "queue.md").read_text()
    assert f"{names.MAX_LENGTH:,} characters" in (REFERENCE / "errors.md").read_text()


CLASSES: Final = ("NotFound", "Refused", "Invalid", "Conflict", "Unavailable")


def raised() -> dict[str, set[str]]:
    """Every error code in the source, with the classes it is raised as."""
    found: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for kind, code in _coded(node):
                found.setdefault(code, set()).add(kind)
    return found


def _coded(node: ast.AST) -> Iterator[tuple[str, str]]:
    """``Refused("code", ...)``, also as a row ``(Refused, "code", ...)`` of a table, and what the
    command line says beside."""
    parts: Sequence[ast.expr] = ()
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name == "error" and node.args and isinstance(node.args[0], ast.Constant):
            yield "CLI", str(node.args[0].value)
        parts = [node.func, *node.args[:1]]
    elif isinstance(node, ast.Tuple):
        parts = node.elts[:2]
    match parts:
        case [ast.Name(id=kind), ast.Constant(value=str(code))] if kind in CLASSES:
            yield kind, code


def test_every_error_is_in_the_reference_with_its_class() -> None:
    listed = rows(REFERENCE / "errors.md")
    codes = raised()
    assert sorted(listed) == sorted(codes)
    for code, kinds in codes.items():
        told = {kind.strip("` ") for kind in listed[code][0].split(",")}
        assert told == {("—" if kind == "CLI" else kind) for kind in kinds}, code


def test_every_exit_code_is_in_the_reference() -> None:
    from enfold.cli import exits

    assert first_cells(REFERENCE / "cli.md", "Exit codes") == [str(code) for code in exits.TABLE]


def test_every_format_is_in_the_reference() -> None:
    listed = [name for name in headings(REFERENCE / "formats.md", 2) if name.startswith("Format ")]
    assert listed == [f"Format {name}" for name in formats.FORMATS]


def test_every_invariant_is_in_the_reference() -> None:
    listed = first_cells(REFERENCE / "schema.md", "Invariants")
    assert listed == [*check.SENTENCES, "keys", "words", "references", "file"]


def test_every_table_and_view_is_in_the_reference() -> None:
    schema = "".join(p.read_text() for p in sorted((SOURCE / "store/migrations").glob("*.sql")))
    made = re.findall(r"^CREATE (?:TABLE|VIEW) (\w+)", schema, re.MULTILINE)
    listed = [*first_cells(REFERENCE / "schema.md", "Tables")]
    listed += first_cells(REFERENCE / "schema.md", "Views")
    assert sorted(listed) == sorted(made)


def test_every_name_of_the_python_interface_is_in_the_reference() -> None:
    page = REFERENCE / "python.md"
    verbs = {name for name in dir(enfold.Graph) if not name.startswith("_")}
    assert set(first_cells(page, "Graph")) == verbs
    listed = [*first_cells(page, "Functions"), *first_cells(page, "Records and errors")]
    assert sorted({*listed, "Graph"}) == sorted(enfold.__all__)
    assert len(set(listed)) == len(listed)


# ---- links and words ----------------------------------------------------------------------------

_LINK = re.compile(r"(?<!!)\[[^\]\n]+\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    found = set()
    for title in re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text()), re.MULTILINE):
        plain = re.sub(r"[^\w\s-]", "", title.replace("`", "")).strip().lower()
        found.add(re.sub(r"[-\s]+", "-", plain))
    return found


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=named)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in _LINK.findall(_FENCE.sub("", page.read_text(encoding="utf-8"))):
        if link.startswith(("https://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link} leads nowhere"
        if DOCS in page.parents:
            assert DOCS in target.parents, f"{link} leads out of the built pages"
        if anchor:
            assert anchor in anchors(target), f"{link}: there is no such heading"


def test_every_page_is_in_the_navigation() -> None:
    nav = re.findall(r"([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert sorted(nav) == sorted(p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md"))


_HOST = re.compile(r"https?://([^/\s)>]+)")
_KNOWN_HOSTS = {"semver.org", "127.0.0.1:11434"}  # the second is an example of an endpoint
_MACHINE = re.compile(r"(?<![\w.])/(work|tmp|home|root|opt|Users)\b")
_NOT_OUR_WORDS = re.compile(
    r"\b(dedup\w*|de-dup\w*|unif(y|ies|ied|ying)|nodes?|items?|managers?|helpers?|utils?)\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "mkdocs.yml"], ids=named)
def test_no_page_names_a_registry_a_machine_or_a_thing_by_another_word(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert set(_HOST.findall(text)) <= _KNOWN_HOSTS
    assert not (found := _MACHINE.search(text)), found
    assert not (found := _NOT_OUR_WORDS.search(prose(text))), found


def test_the_readme_names_the_two_commands_of_a_checkout() -> None:
    text = README.read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text
    targets = re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"\bmake ([a-z]+)\b", " ".join(re.findall("`[^`]+`", text)))) <= set(
        targets
    )


def test_the_changelog_is_written_once_and_names_the_version() -> None:
    assert '--8<-- "CHANGELOG.md"' in (DOCS / "changelog.md").read_text()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert version == enfold.__version__
    assert f"## {version}" in CHANGELOG.read_text()


# ---- the reference of the command line ----------------------------------------------------------

_BEGIN, _END = "<!-- commands -->\n", "<!-- end of commands -->"

SHARED: Final = ("--db", "--actor", "--json", "--quiet", "--no-color", "--debug", "--help")
"""Options explained once, above the commands."""


def commands() -> list[tuple[str, Any]]:
    """Every command that the help lists, in its order."""
    import typer.main

    from enfold.cli.app import SECTIONS
    from enfold.cli.commands import app

    group: Any = typer.main.get_command(app)
    listed = [(name, made) for name, made in group.commands.items() if not made.hidden]
    return sorted(listed, key=lambda pair: SECTIONS.index(pair[1].rich_help_panel))


def _parameters(name: str, made: Any) -> list[Any]:
    context = made.make_context(name, [], resilient_parsing=True)
    return [p for p in made.get_params(context) if not getattr(p, "hidden", False)]


def _usage(name: str, parameters: Sequence[Any]) -> str:
    words = [f"enfold {name}"]
    for one in parameters:
        if one.param_type_name == "argument":
            word = (one.metavar or one.name.upper()).strip("[]")
            word += "..." if one.nargs == -1 else ""
            words.append(word if one.required else f"[{word}]")
    return " ".join([*words, "[OPTIONS]"])


def _code(text: str) -> str:
    """Code in a cell; a bar would end the cell for some readers."""
    return f"<code>{text.replace('|', '&#124;')}</code>" if "|" in text else f"`{text}`"


def _option(one: Any) -> str:
    spelled = [*one.opts, *one.secondary_opts]
    value = "" if one.is_flag else f" {one.metavar}"
    shown = ", ".join(_code(word + value) for word in spelled)
    default = "" if one.is_flag or one.default in (None, "") else f" Default: `{one.default}`."
    return f"| {shown} | {one.help}{default} |\n"


def _command(name: str, made: Any) -> str:
    parameters = _parameters(name, made)
    text = f"### {name}\n\n```text\n{_usage(name, parameters)}\n```\n\n{made.help}\n\n"
    own = [p for p in parameters if p.param_type_name == "option" and p.opts[0] not in SHARED]
    arguments = [p for p in parameters if p.param_type_name == "argument"]
    if arguments or own:
        text += "| argument or option | meaning |\n|---|---|\n"
        text += "".join(f"| `{p.metavar}` | {p.help} |\n" for p in arguments)
        text += "".join(map(_option, own)) + "\n"
    shared = [p.opts[0] for p in parameters if p.opts[0] in SHARED[:2]]
    if shared:
        text += f"Also {' and '.join(f'`{word}`' for word in shared)}.\n\n"
    epilog = (made.epilog or "").replace("\b\n", "")
    head, _, note = epilog.partition("\n\n")
    examples = "\n".join(line.strip() for line in head.splitlines()[1:])
    text += f"```sh\n{examples}\n```\n\n" + (f"{note}\n\n" if note else "")
    return text


def with_commands(page: str) -> str:
    """The page with what the program says of its commands."""
    head, _, rest = page.partition(_BEGIN)
    _, _, tail = rest.partition(_END)
    section, text = "", "\n"
    for name, made in commands():
        if made.rich_help_panel != section:
            section = made.rich_help_panel
            text += f"## {section}\n\n"
        text += _command(name, made)
    return f"{head}{_BEGIN}{text}{_END}{tail}"


# ---- writing what is printed now ----------------------------------------------------------------


def rewritten(page: str) -> str:
    """The page with what its commands and its Python print now, where that is another text."""
    changes: list[tuple[int, int, str]] = []
    with desk(page) as work:
        sessions = [(b, session(b)) for b in blocks(page) if b.language == "console"]
        printed = iter(printed_by([s for _, steps in sessions for s in steps], work))
        for block, steps in sessions:
            text = ""
            for step in steps:
                now = "\n".join(line.rstrip() for line in next(printed).strip("\n").splitlines())
                assert "Traceback" not in now, f"{step.command}\n{now}"
                shown = step.shown if agree(step.shown, now) else now
                lines = step.command.split("\n")
                text += "".join(f"{'>' if at else '$'} {x}\n" for at, x in enumerate(lines))
                text += shown + "\n" * bool(shown)
            changes.append((block.start, block.end, text))
        pieces = python_pairs(page)
        said = run_python([code.text for code, _ in pieces], work)
        for (_, output), now in zip(pieces, said, strict=True):
            if output is not None and not agree(output.text, now):
                changes.append((output.start, output.end, now))
    for start, end, text in sorted(changes, reverse=True):
        page = page[:start] + text + page[end:]
    return page


def main() -> None:
    wanted = [Path(one).resolve() for one in sys.argv[2:]]
    for page in wanted or RUN:
        page.write_text(rewritten(page.read_text(encoding="utf-8")), encoding="utf-8")
    cli = REFERENCE / "cli.md"
    cli.write_text(with_commands(cli.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    assert sys.argv[1:2] == ["--write"], __doc__
    assert shutil.which("sh")
    main()
