"""Commands that settle what is one thing: resolve, the questions, the folds, what is apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from enfold.cli import asked as questions
from enfold.cli import render
from enfold.cli.app import MOST, SETTLE, Call, Engine, Limit, command
from enfold.cli.look import proposals
from enfold.cli.render import text
from enfold.cli.terminal import Line, Terminal
from enfold.conflicts import Decided
from enfold.errors import Error
from enfold.homonyms import Chosen, Waiting
from enfold.model import (
    Answer,
    Conflict,
    Decision,
    MemoryQuestion,
    Merge,
    NameQuestion,
    Report,
    Reverted,
)

if TYPE_CHECKING:
    from enfold.graph import Graph
    from enfold.model import Shown

ENTITY: Final = "entity"
MEMORY: Final = "memory"
NAME: Final = "name"
KINDS: Final = (ENTITY, MEMORY, NAME)
_LISTED: Final = ", ".join(KINDS)

Question = Annotated[int, typer.Argument(metavar="ID", min=1, max=MOST, help="The question's id.")]
Fold = Annotated[int, typer.Argument(metavar="ID", min=1, max=MOST, help="The merge's id.")]
Known = "A name as anyone spells it, or an id as id:12."

SHOWN = 10
"""Folds and questions that a dry run lists."""


def _after_interrupt(call: Call) -> str:
    """What an interrupted pass left: all it folds is one transaction, and the name index that is
    made after it can be finished by any later pass."""
    try:
        with call.graph() as graph:
            last = next(iter(graph.runs(limit=1)), None)
    except Error:
        last = None
    begun = call.begun.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if last and last.kind == "resolve" and not last.error and (last.ended_at or "") >= begun:
        return (
            f"Interrupted after the pass was done (run {last.id}); the next one finishes the "
            "index of names."
        )
    return "Interrupted; nothing was changed."


@command(
    "resolve",
    SETTLE,
    "enfold resolve --dry-run",
    "enfold resolve",
    "enfold resolve --full --rules strict",
    note="A dry run does the same work and takes it back: its figures are those of the real run. "
    "The chosen rules and types are kept for later passes. An interrupt leaves the graph as it "
    "was.",
    interrupted=_after_interrupt,
)
def resolve(
    call: Call,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Change nothing.", show_default=False)
    ] = False,
    full: Annotated[
        bool,
        typer.Option(
            "--full", help="Look at every name, not only at what is new.", show_default=False
        ),
    ] = False,
    rules: Annotated[
        str | None,
        typer.Option(
            "--rules",
            metavar="default|strict|NAME",
            help="The rules to go by from now on; NAME is one that rules_module registers.",
        ),
    ] = None,
    trust_types: Annotated[
        bool | None,
        typer.Option(
            "--trust-types/--no-trust-types",
            help="Ask instead of folding where types disagree, from now on.",
        ),
    ] = None,
    engine: Engine = None,
    no_backup: Annotated[
        bool,
        typer.Option(
            "--no-backup",
            help="Do not copy the graph before a full pass that folds.",
            show_default=False,
        ),
    ] = False,
) -> None:
    """Fold what is identical, ask where it is uncertain.

    What is apart is left alone. A pass looks at what is new since the last one; run twice, it does
    nothing the second time."""
    call.named_engine = engine
    with call.graph(write=True) as graph, call.terminal.progress() as progress:
        report = graph.resolve(
            dry_run=dry_run,
            full=full,
            rule_set=rules,
            types_trusted=trust_types,
            backup=call.settings.backup and not no_backup,
            progress=progress,
        )
        folds = graph.shown(report.folds[:SHOWN]) if dry_run else ()
        questions = graph.shown(report.questions[:SHOWN]) if dry_run else ()
    if call.terminal.as_json:
        call.terminal.document(report)
    else:
        _resolved(call.terminal, report, folds, questions)


def _resolved(
    terminal: Terminal, report: Report, folds: Sequence[Shown], questions: Sequence[Shown]
) -> None:
    what = "Every name was looked at" if report.full else "What is new was looked at"
    done = "nothing was changed" if report.dry_run else f"run {report.run_id}"
    title = "Dry run" if report.dry_run else "Resolved"
    terminal.receipt(render.heading(title, f"{what}; {done}."))
    if not terminal.quiet:
        render.figures(
            terminal,
            [
                ("examined", report.examined, "entities considered"),
                ("pairs", report.pairs, "pairs of names judged"),
                ("merged", report.merged, "folds, made without asking"),
                ("queued", report.queued, "new questions"),
                ("deferred", report.deferred, "questions that wait for room in the queue"),
                ("skipped", report.skipped, "pairs that are one, asked or settled apart already"),
            ],
        )
    if report.backup:
        terminal.receipt(text("Backup: ", report.backup), indent=2)
    if report.dry_run:
        _first(terminal, "Would fold", folds, report.merged)
        _first(terminal, "Would ask", questions, report.queued)
        render.next_steps(terminal, ("enfold resolve", "do it; every fold can be reverted"))
        return
    steps = []
    if report.merged:
        steps.append(("enfold merges", "see what was folded; enfold revert ID takes one back"))
    if report.queued:
        steps.append(("enfold conflicts", "see the questions"))
        steps.append(("enfold review", "answer them, card by card"))
    if steps:
        render.next_steps(terminal, *steps)


def _first(terminal: Terminal, title: str, shown: Sequence[Shown], total: int) -> None:
    if total:
        terminal.line()
        terminal.line(render.heading(f"{title} ({total:,})"))
        terminal.lines(proposals(shown))
        render.more(terminal, total - len(shown), "--json lists them by id")


@command(
    "conflicts",
    SETTLE,
    "enfold conflicts",
    "enfold conflicts --kind name",
    "enfold conflicts --decided --json",
    note="With --json it is one list, each question with its kind.",
)
def conflicts(
    call: Call,
    decided: Annotated[
        bool,
        typer.Option(
            "--decided",
            help="Those answered, and those with nothing left to answer.",
            show_default=False,
        ),
    ] = False,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind", metavar="|".join(KINDS), help="Only those about entities, memories or names."
        ),
    ] = None,
    limit: Limit = 50,
) -> None:
    """List the pending questions.

    Are these two one thing? Which of two memories that contradict each other holds? Which of
    several entities does a name mean? The weightiest of each kind come first."""
    if kind not in (None, *KINDS):
        raise typer.BadParameter(f"{kind!r} is no kind of question; give one of: {_LISTED}.")
    agent = call.asking(None)
    with call.graph() as graph:
        asked = Asked(
            graph.conflicts(decided=decided, limit=limit) if kind in (None, ENTITY) else [],
            graph.memory_questions(decided=decided, limit=limit, agent=agent)
            if kind in (None, MEMORY)
            else [],
            graph.name_questions(decided=decided, limit=limit) if kind in (None, NAME) else [],
        )
    terminal = call.terminal
    if terminal.as_json:
        terminal.document(asked.records())
    elif not asked:
        terminal.hint("No question was answered yet." if decided else "No question is pending.")
    else:
        _show(terminal, asked, decided)
        if not decided:
            _how_to_answer(terminal, asked)


class Asked(NamedTuple):
    """Questions of every kind."""

    entities: list[Conflict]
    memories: list[MemoryQuestion]
    names: list[NameQuestion]

    def __bool__(self) -> bool:
        return any((self.entities, self.memories, self.names))

    def records(self) -> list[Any]:
        """One list, each with its kind."""
        from enfold.graph import as_json

        memories = [{"kind": MEMORY} | as_json(one) for one in self.memories]
        return [*self.entities, *memories, *({"kind": NAME} | as_json(one) for one in self.names)]


def _show(terminal: Terminal, asked: Asked, decided: bool) -> None:
    """Each kind under its heading; entities alone need none."""
    parts = [
        ("Are the two one thing?", [_question(one, decided) for one in asked.entities]),
        (
            "Memories that contradict each other: which holds?",
            [questions.memory_line(one, decided) for one in asked.memories],
        ),
        (
            "Names that fit several entities: which one do texts mean?",
            [questions.name_line(one, decided) for one in asked.names],
        ),
    ]
    bare = not (asked.memories or asked.names)
    for at, (title, lines) in enumerate(part for part in parts if part[1]):
        if not bare:
            if at:
                terminal.line()
            terminal.line(render.heading(title))
        terminal.lines(lines, right=(0,), indent=0)


def _question(one: Conflict, decided: bool) -> Line:
    cells, rule = [text((str(one.id), "bold")), render.question(one)], text((one.rule, "cyan"))
    if not decided:
        return Line(cells, render.sentence(one.reason), rule)
    answer = f"{one.answer} by {one.answered_by or 'unknown'}"
    cells.append(text((answer, "green")))
    moot = "Nothing is left to answer." if one.moot else one.reason
    return Line(cells, render.sentence(moot), rule)


def _how_to_answer(terminal: Terminal, asked: Asked) -> None:
    terminal.hint()
    terminal.hint(text(("Answer", "bold"), ("  for example", "dim")))
    terminal.hints(
        [
            *(line for one in asked.entities[:1] for line in _how_to_fold(one)),
            *(line for one in asked.memories[:1] for line in questions.how_to_weigh(one)),
            *(line for one in asked.names[:1] for line in questions.how_to_choose(one)),
        ]
    )
    if asked.entities:
        terminal.hint(text("To answer many, card by card: ", render.command("enfold review")))


def _how_to_fold(one: Conflict) -> list[Line]:
    queued, candidate = render.name(one.queued_name), render.name(one.candidate_name)
    meanings = [
        ("keep_existing", text(queued, " folds into ", candidate)),
        ("keep_new", text(candidate, " folds into ", queued)),
        ("keep_both", text("they are two things, and stay apart")),
    ]
    return [
        Line([render.command(f"enfold decide {one.id} {answer}")], meaning)
        for answer, meaning in meanings
    ]


@command(
    "decide",
    SETTLE,
    "enfold decide 12 keep_existing",
    "enfold decide 12 keep_both --actor ada",
    "enfold decide 15 keep_existing --candidate 7",
    'enfold decide 18 merge --content "Ada moved from Acme to Globex in May."',
    actor=True,
)
def decide(
    call: Call,
    question: Question,
    answer: Annotated[
        str,
        typer.Argument(
            metavar="ANSWER", help="keep_existing, keep_new or keep_both; of memories also merge."
        ),
    ],
    candidate: Annotated[
        int | None,
        typer.Option(
            "--candidate",
            metavar="ID",
            min=1,
            max=MOST,
            help="With keep_existing, of a name: the entity that texts mean.",
        ),
    ] = None,
    content: Annotated[
        str | None,
        typer.Option(
            "--content", metavar="TEXT", help="With merge: the text in place of two memories."
        ),
    ] = None,
) -> None:
    """Answer a question.

    Of two entities, keep_existing folds the queued name (the left one) into its candidate (the
    right one), keep_new the other way round, and keep_both settles the two apart.

    Of two memories, keep_new says that the later one holds, keep_existing that the earlier one
    does, keep_both that both do, and merge puts a text of yours in their place.

    Of a name that fits several entities, keep_existing says which one texts mean by it, keep_new
    that it is another thing of that name, and keep_both leaves it open."""
    with call.graph(write=True) as graph:
        done = graph.decide(
            question, answer, candidate_id=candidate, content=content, agent=call.asking(None)
        )
    terminal = call.terminal
    if terminal.as_json:
        terminal.document(done)
        return
    if isinstance(done, Chosen):
        questions.chosen(terminal, done)
    elif isinstance(done, MemoryQuestion):
        questions.weighed(terminal, done)
    else:
        _folded_or_apart(terminal, done)
    terminal.hint(text("To take it back: ", render.command(f"enfold reopen {question}")))


def _folded_or_apart(terminal: Terminal, done: Decided) -> None:
    one = done.conflict
    if done.merge is not None:
        terminal.receipt(text("Folded ", render.merge(done.merge), f" (merge {done.merge.id})."))
    elif one.answer is Answer.KEEP_BOTH:
        names = text(render.quoted(one.queued_name), " and ", render.quoted(one.candidate_name))
        terminal.receipt(text(names, f" are settled apart (decision {one.decision_id})."))


@command("reopen", SETTLE, "enfold reopen 12", actor=True)
def reopen(call: Call, question: Question) -> None:
    """Take an answer back; the question is pending again.

    What the answer folded is reverted, and what it kept apart is free again; memories are as they
    were, and what it linked to an entity by its name waits."""
    with call.graph(write=True) as graph:
        one = graph.reopen(question, agent=call.asking(None))
    terminal = call.terminal
    if terminal.as_json:
        terminal.document(one)
        return
    if isinstance(one, Waiting):
        questions.waits(terminal, one)
        return
    shown = render.question(one) if isinstance(one, Conflict) else questions.contradiction(one)
    terminal.receipt(text(f"Question {one.id} is pending again: ", shown))


@command(
    "merges",
    SETTLE,
    "enfold merges",
    "enfold merges 7",
    "enfold merges --reverted --limit 500",
)
def merges(
    call: Call,
    merge: Annotated[
        int | None,
        typer.Argument(metavar="ID", min=1, max=MOST, help="One merge, with its receipt."),
    ] = None,
    reverted: Annotated[
        bool, typer.Option("--reverted", help="Also those taken back.", show_default=False)
    ] = False,
    before: Annotated[
        int | None,
        typer.Option("--before", metavar="ID", min=1, max=MOST, help="Only those older than this."),
    ] = None,
    limit: Limit = 100,
) -> None:
    """List the folds in force, newest first.

    With an id, one fold with its receipt: every mention and fact that it moved or silenced."""
    with call.graph() as graph:
        if merge is not None:
            _receipt(call.terminal, graph, merge)
            return
        found = graph.merges(reverted=reverted, before=before, limit=limit)
    terminal = call.terminal
    if terminal.as_json:
        terminal.document(found)
    elif not found:
        terminal.hint("No fold is in force." if not reverted else "Nothing was ever folded.")
    else:
        terminal.lines([_merge(one) for one in found], right=(0,), indent=0)
        if len(found) == limit:
            older = f"enfold merges --before {found[-1].id}"
            terminal.hint(text("There may be older ones: ", render.command(older)))


def _merge(one: Merge) -> Line:
    cells = [
        text((str(one.id), "bold")),
        render.merge(one),
        text((render.by(one), "dim")),
        text((render.day(one.created_at), "dim")),
    ]
    gone = f"Reverted {render.day(one.reverted_at)}. " if one.reverted_at else ""
    return Line(cells, render.sentence(gone + one.reason), text((one.rule, "cyan")))


def _receipt(terminal: Terminal, graph: Graph, merge_id: int) -> None:
    edges = graph.receipt(merge_id)
    one = graph.merges(reverted=True, before=merge_id + 1, limit=1)[0]
    if terminal.as_json:
        listed = [{"edge_id": edge, "what": what} for edge, what in edges]
        terminal.document({"merge": one, "edges": listed})
        return
    terminal.line(text("Merge ", (str(one.id), "bold"), ": ", render.merge(one)))
    overruled = ", ".join(str(decision) for decision in one.overruled)
    render.fields(
        terminal,
        [
            ("rule", f"{one.rule}, score {one.score:.2f}"),
            ("reason", render.sentence(one.reason)),
            ("by", f"{render.by(one)}, {render.day(one.created_at)}"),
            ("question", str(one.conflict_id or "")),
            ("overruled", f"decisions {overruled}" if overruled else ""),
            ("reverted", render.day(one.reverted_at or "")),
            ("moved", _edges(edges, "moved")),
            ("silenced", _edges(edges, "silenced")),
        ],
    )


def _edges(edges: Sequence[tuple[int, str]], what: str) -> str:
    ids = [str(edge) for edge, became in edges if became == what]
    more = f" and {len(ids) - 20:,} more (--json lists them)" if len(ids) > 20 else ""
    return f"{render.count(len(ids), 'edge')}: {', '.join(ids[:20])}{more}" if ids else "nothing"


@command(
    "revert",
    SETTLE,
    "enfold revert 7 --dry-run",
    "enfold revert 7",
    actor=True,
    note="A revert works in any order, and equals that the fold never happened.",
)
def revert(
    call: Call,
    merge: Fold,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Change nothing.", show_default=False)
    ] = False,
) -> None:
    """Undo a fold as if it had never happened.

    Its two names are settled apart, so that no pass folds them again; where the fold answered a
    question, the question is pending again."""
    with call.graph(write=not dry_run) as graph:
        done = graph.revert(merge, dry_run=dry_run)
    if call.terminal.as_json:
        call.terminal.document(done)
    else:
        _reverted(call.terminal, done, dry_run)


def _reverted(terminal: Terminal, done: Reverted, dry_run: bool) -> None:
    one = done.merge
    absorbed, canonical = render.quoted(one.absorbed_name), render.quoted(one.canonical_name)
    show = terminal.line if dry_run else terminal.receipt
    would = "Would revert" if dry_run else "Reverted"
    show(text(f"{would} merge {one.id}: ", absorbed, " is an entity beside ", canonical, "."))
    if terminal.quiet and not dry_run:
        return
    render.figures(
        terminal,
        [
            ("moved back", done.moved_back, "mentions and facts that it brought to the fold"),
            ("awake", done.reactivated, "of them had been silenced, and count again"),
            ("arrived since", done.arrived_since, "written under its name since; they go with it"),
        ],
    )
    for later in done.later:
        terminal.line(
            text(f"Merge {later.id} was asked for through it and stands: ", render.merge(later)),
            indent=2,
        )
    if done.conflict_id is not None:
        terminal.hint(
            text(
                f"Question {done.conflict_id} goes back into the queue: ",
                render.command("enfold conflicts"),
            )
        )
    else:
        by_hand = f"enfold merge id:{one.absorbed_id} id:{one.canonical_id} --overrule"
        settled = "would be" if dry_run else "are"
        terminal.hint(f"The two {settled} settled apart: no pass folds them again.")
        terminal.hint(text("To fold them by hand: ", render.command(by_hand)))


@command(
    "merge",
    SETTLE,
    'enfold merge "K8s" "Kubernetes"',
    'enfold merge id:12 id:7 --reason "Same person, see her site."',
    actor=True,
)
def merge(
    call: Call,
    absorbed: Annotated[str, typer.Argument(metavar="A", help=Known)],
    canonical: Annotated[str, typer.Argument(metavar="B", help="What A folds into.")],
    overrule: Annotated[
        bool,
        typer.Option("--overrule", help="Even if the two are settled apart.", show_default=False),
    ] = False,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="Why, as recorded.")
    ] = None,
) -> None:
    """Fold A into B by hand, whatever the rules say.

    A stays as a name of B, and the fold can be reverted."""
    with call.graph(write=True) as graph:
        done = graph.merge(absorbed, canonical, reason=reason, overrule=overrule)
    if call.terminal.as_json:
        call.terminal.document(done)
    else:
        folded(call.terminal, done)


def folded(terminal: Terminal, done: Merge) -> None:
    """That a fold was made by hand, and how to take it back."""
    moved = f"{render.count(done.moved, 'edge')} moved"
    if done.silenced:
        moved += f", {done.silenced:,} silenced as already said"
    terminal.receipt(text("Folded ", render.merge(done), f" (merge {done.id}): {moved}."))
    if done.overruled:
        overruled = ", ".join(str(decision) for decision in done.overruled)
        terminal.receipt(f"It overrules decision {overruled}.")
    terminal.hint(text("To take it back: ", render.command(f"enfold revert {done.id}")))


@command("apart", SETTLE, "enfold apart")
def apart(call: Call, limit: Limit = 100) -> None:
    """List the names that are settled apart, newest first.

    No rule, model or import folds them."""
    with call.graph() as graph:
        found = graph.apart(limit=limit)
    terminal = call.terminal
    if terminal.as_json:
        terminal.document(found)
    elif not found:
        terminal.hint("Nothing is settled apart.")
    else:
        terminal.lines([_decision(one) for one in found], right=(0,), indent=0)


def _decision(one: Decision) -> Line:
    undone = f"Undone {render.day(one.undone_at)}. " if one.undone_at else ""
    return Line(
        [
            text((str(one.id), "bold")),
            text(render.name(one.left_name), (" ≠ ", "magenta"), render.name(one.right_name)),
            text((one.actor or str(one.decided_by), "dim")),
            text((render.day(one.created_at), "dim")),
        ],
        render.sentence(undone + one.why),
    )


@command(
    "keep-apart",
    SETTLE,
    'enfold keep-apart "Ada Li" "Ada Lee" --reason "Two people, said both."',
    actor=True,
)
def keep_apart(
    call: Call,
    left: Annotated[str, typer.Argument(metavar="A", help=Known)],
    right: Annotated[str, typer.Argument(metavar="B", help=Known)],
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="Why, as recorded.")
    ] = None,
) -> None:
    """Settle that two entities are different things.

    They are neither folded nor asked about, until that is undone."""
    with call.graph(write=True) as graph:
        done = graph.keep_apart(left, right, reason=reason)
    terminal = call.terminal
    if terminal.as_json:
        terminal.document(done)
        return
    names = text(render.quoted(done.left_name), " and ", render.quoted(done.right_name))
    terminal.receipt(text(names, f" are settled apart (decision {done.id})."))
    terminal.hint(text("To take it back: ", render.command(f"enfold undo-apart {done.id}")))


@command("undo-apart", SETTLE, "enfold undo-apart 3", actor=True)
def undo_apart(
    call: Call,
    decision: Annotated[
        int, typer.Argument(metavar="ID", min=1, max=MOST, help="The decision's id.")
    ],
) -> None:
    """Undo that two names are apart.

    They may be asked about and folded again. Where it answered a question, the question is pending
    again."""
    with call.graph(write=True) as graph:
        graph.undo_apart(decision)
    terminal = call.terminal
    if terminal.as_json:
        terminal.document({"decision_id": decision, "undone": True})
    else:
        terminal.receipt(f"Decision {decision} is undone: its two names are apart no longer.")
