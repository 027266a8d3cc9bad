"""What a graph should look like, worked out anew from the definition each time it is asked.

Folds are a list; an edge keeps the row its text named; everything a reader can see follows from
these by brute force. Shares no code with what it judges but names, rules and records.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from enfold.model import Context, Verdict
from enfold.names import Name
from enfold.rules import rule_on


class Refusal(Exception):
    """The verb should be refused with this code."""


@dataclass
class Row:
    id: int
    name: Name
    sense: int
    type: str | None
    alias_only: bool = False

    @property
    def at(self) -> tuple[str, int]:
        return self.name.key, self.sense


@dataclass
class Edge:
    """A mention has no predicate; a fact has an object row or a literal."""

    id: int
    memory: int
    first: int
    spelling: str = ""
    predicate: str | None = None
    second: int | None = None
    literal: str | None = None
    confidence: float = 1.0


@dataclass
class Fold:
    id: int
    absorbed: int
    canonical: int
    rule: str
    conflict: int | None
    asked: tuple[int, int]
    mark: int
    overruled: tuple[int, ...]
    live: bool = True


@dataclass
class Apart:
    id: int
    left: tuple[str, int]
    right: tuple[str, int]
    undone: bool = False


@dataclass
class Question:
    id: int
    queued: int
    candidate: int
    score: float
    answer: str | None = None
    merge: int | None = None
    decision: int | None = None


@dataclass
class Receipt:
    moved: set[int]
    silenced: set[int]


@dataclass
class Undone:
    moved_back: int
    arrived: int
    woken: set[int]
    later: set[int]


SPELLING_RULES = ("renamed", "declared", "imported")


@dataclass
class Oracle:
    cap: int = 50
    rows: dict[int, Row] = field(default_factory=dict)
    memories: dict[int, str] = field(default_factory=dict)
    sealed: set[int] = field(default_factory=set)
    edges: list[Edge] = field(default_factory=list)
    folds: list[Fold] = field(default_factory=list)
    renames: list[tuple[int, int]] = field(default_factory=list)
    decisions: list[Apart] = field(default_factory=list)
    questions: dict[int, Question] = field(default_factory=dict)
    suggestions: dict[tuple[int, int], float] = field(default_factory=dict)
    last_edge: int = 0

    # ---- what follows from what is written ----

    def up(self, row: int) -> Fold | None:
        return next((f for f in self.folds if f.live and f.absorbed == row), None)

    def way(self, row: int) -> list[int]:
        way = [row]
        while fold := self.up(way[-1]):
            way.append(fold.canonical)
        return way

    def root(self, row: int) -> int:
        return self.way(row)[-1]

    def cluster(self, root: int) -> set[int]:
        return {row for row in self.rows if self.root(row) == root}

    def subtree(self, top: int) -> set[int]:
        return {row for row in self.rows if top in self.way(row)}

    def shown(self, row: int) -> str:
        root = self.root(row)
        for renamed, shown in reversed(self.renames):
            if renamed == root and shown in self.rows and self.root(shown) == root:
                return self.rows[shown].name.spelling
        return self.rows[root].name.spelling

    def aliases(self, root: int) -> tuple[str, ...]:
        spellings = [self.rows[row].name.spelling for row in sorted(self.cluster(root))]
        return tuple(dict.fromkeys(s for s in spellings if s != self.shown(root)))

    def ends(self, edge: Edge) -> tuple[object, ...]:
        second = None if edge.second is None else self.root(edge.second)
        return edge.memory, self.root(edge.first), edge.predicate, second, edge.literal

    def counted(self) -> set[int]:
        first: dict[tuple[object, ...], int] = {}
        for edge in sorted(self.edges, key=lambda e: e.id):
            ends = self.ends(edge)
            if self.memories[edge.memory] == "active" and ends[1] != ends[3]:
                first.setdefault(ends, edge.id)
        return set(first.values()) - {e.id for e in self.edges if e.memory in self.sealed}

    def open_edges(self) -> list[Edge]:
        """Those that anyone may know of."""
        return [e for e in self.edges if e.memory not in self.sealed]

    def mentions(self, root: int) -> list[Edge]:
        counted = self.counted()
        return [
            e
            for e in self.edges
            if e.id in counted and e.predicate is None and self.root(e.first) == root
        ]

    def facts(self, root: int) -> list[tuple[object, ...]]:
        counted, found = self.counted(), []
        for edge in self.edges:
            ends = self.ends(edge)
            if edge.id in counted and edge.predicate is not None and root in (ends[1], ends[3]):
                equal = [e.confidence for e in self.edges if self.ends(e) == ends]
                found.append((edge.id, *ends, max(equal)))
        return sorted(found)

    def apart(self) -> set[frozenset[int]]:
        return {
            pair for d in self.decisions if not d.undone and (pair := self.apart_by(d)) is not None
        }

    def apart_by(self, decision: Apart) -> frozenset[int] | None:
        at = {row.at: row.id for row in self.rows.values()}
        if decision.left not in at or decision.right not in at:
            return None
        pair = frozenset((self.root(at[decision.left]), self.root(at[decision.right])))
        return pair if len(pair) == 2 else None

    def deciding(self, pair: frozenset[int]) -> list[int]:
        return [d.id for d in self.decisions if not d.undone and self.apart_by(d) == pair]

    def pair(self, question: Question) -> frozenset[int]:
        return frozenset((self.root(question.queued), self.root(question.candidate)))

    def moot(self, question: Question) -> bool:
        pair = self.pair(question)
        return question.answer is None and (len(pair) == 1 or pair in self.apart())

    def weight(self, roots: frozenset[int]) -> int:
        return min(len({e.memory for e in self.mentions(root)}) for root in roots)

    def pending(self) -> list[int]:
        first: dict[frozenset[int], Question] = {}
        for _, question in sorted(self.questions.items()):
            if question.answer is None and not self.moot(question):
                first.setdefault(self.pair(question), question)
        ranked = sorted(first.values(), key=lambda q: (-self.weight(self.pair(q)), -q.score, q.id))
        return [q.id for q in ranked]

    def open(self) -> list[tuple[int, int, float]]:
        """(lower root, higher root, score) in the order they should be asked."""
        shut = self.apart() | {self.pair(self.questions[q]) for q in self.pending()}
        best: dict[frozenset[int], float] = {}
        for (left, right), score in self.suggestions.items():
            pair = frozenset((self.root(left), self.root(right)))
            if len(pair) == 2 and pair not in shut:
                best[pair] = max(score, best.get(pair, 0.0))
        ranked = sorted(best.items(), key=lambda p: (-self.weight(p[0]), -p[1], sorted(p[0])))
        return [(min(pair), max(pair), score) for pair, score in ranked]

    def leads_to(self, name: Name) -> set[int]:
        rows = [r for r in self.rows.values() if r.name.key == name.key]
        if not rows and name.merge_key and not name.short:
            rows = [r for r in self.rows.values() if self.would_fold(name, r)]
        return {self.root(row.id) for row in rows}

    @staticmethod
    def would_fold(name: Name, row: Row) -> bool:
        named = Name(row.name.spelling, row.type)
        return rule_on(name, named, Context()).verdict is Verdict.FOLD

    # ---- the verbs ----

    def add_row(self, row_id: int, name: Name, sense: int, type: str | None) -> None:
        self.rows[row_id] = Row(row_id, name, sense, type)

    def add_edge(self, edge: Edge) -> None:
        self.edges.append(edge)
        self.last_edge = max(self.last_edge, edge.id)

    def may_fold(self, absorbed: int, canonical: int, *, overrule: bool) -> None:
        pair = frozenset((self.root(absorbed), self.root(canonical)))
        if len(pair) == 1:
            raise Refusal("already_one")
        if pair in self.apart() and not overrule:
            raise Refusal("settled_apart")

    def fold(
        self,
        merge_id: int,
        absorbed: int,
        canonical: int,
        rule: str,
        *,
        mark: int,
        conflict: int | None = None,
    ) -> Receipt:
        lesser, greater = self.root(absorbed), self.root(canonical)
        leaving, before = self.subtree(lesser), self.counted()
        overruled = tuple(self.deciding(frozenset((lesser, greater))))
        asked = (absorbed, canonical)
        self.folds.append(Fold(merge_id, lesser, greater, rule, conflict, asked, mark, overruled))
        moved = {e.id for e in self.open_edges() if {e.first, e.second} & leaving}
        return Receipt(moved, before - self.counted())

    def may_revert(self, fold: Fold) -> None:
        if not fold.live:
            raise Refusal("already_reverted")
        same = self.rows[fold.absorbed].name.key == self.rows[fold.canonical].name.key
        if same and fold.rule in SPELLING_RULES and self.rows[fold.absorbed].alias_only:
            raise Refusal("same_name")

    def revert(self, fold: Fold) -> Undone:
        leaving, before = self.subtree(fold.absorbed), self.counted()
        edges = [e.id for e in self.open_edges() if {e.first, e.second} & leaving]
        later = {f.id for f in self.folds if f.live and f.id > fold.id and set(f.asked) & leaving}
        fold.live = False
        if fold.conflict in self.questions:
            self.unanswer(self.questions[fold.conflict])
        return Undone(
            sum(e <= fold.mark for e in edges),
            sum(e > fold.mark for e in edges),
            self.counted() - before,
            later,
        )

    def unanswer(self, question: Question) -> None:
        rows = {question.queued, question.candidate}
        for other_id, other in list(self.questions.items()):
            same = {other.queued, other.candidate} == rows
            if same and other.answer is None and other is not question:
                del self.questions[other_id]
        question.answer = question.merge = question.decision = None

    def standing(self, left: int, right: int) -> int | None:
        ends = {self.rows[left].at, self.rows[right].at}
        return next(
            (d.id for d in self.decisions if not d.undone and {d.left, d.right} == ends), None
        )

    def settle_apart(self, decision_id: int, left: int, right: int) -> None:
        if self.standing(left, right) is None:
            self.decisions.append(Apart(decision_id, self.rows[left].at, self.rows[right].at))

    def own_rows(self, root: int, name: Name) -> list[Row]:
        rows = [r for r in self.rows.values() if r.name.key == name.key]
        own = [r for r in rows if self.root(r.id) == root]
        if rows and not own:
            raise Refusal("name_taken")
        return own

    def add_spelling(self, row_id: int, root: int, name: Name) -> None:
        senses = [r.sense for r in self.rows.values() if r.name.key == name.key]
        self.rows[row_id] = Row(
            row_id, name, max(senses, default=-1) + 1, self.rows[root].type, alias_only=True
        )

    def may_delete(self, row: int) -> set[int]:
        live = self.up(row) is None
        going = self.cluster(row) if live else {row}
        for fold in self.folds:
            if fold.live and {fold.absorbed, fold.canonical} & going:
                spelling = self.rows[fold.absorbed].alias_only and fold.rule in SPELLING_RULES
                if not (live and spelling):
                    raise Refusal("under_fold")
        return going

    def delete(self, going: set[int]) -> None:
        self.rows = {i: r for i, r in self.rows.items() if i not in going}
        self.edges = [e for e in self.edges if not {e.first, e.second} & going]
        self.folds = [f for f in self.folds if not {f.absorbed, f.canonical} & going]
        self.renames = [r for r in self.renames if not set(r) & going]
        self.questions = {
            i: q for i, q in self.questions.items() if not {q.queued, q.candidate} & going
        }
        self.suggestions = {p: s for p, s in self.suggestions.items() if not set(p) & going}

    def delete_memory(self, memory: int) -> None:
        del self.memories[memory]
        self.edges = [e for e in self.edges if e.memory != memory]

    def well_formed(self) -> bool:
        """Later folds lie above earlier ones."""
        for row in self.rows:
            ups = [fold.id for step in self.way(row) if (fold := self.up(step)) is not None]
            if any(low > high for low, high in pairwise(ups)):
                return False
        return True
