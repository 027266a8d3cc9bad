"""The open questions as cards and as sheets."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import partial

from enfold import answers, guard
from enfold import cards as dealt
from enfold.cards import AnyCard, Card, Filter
from enfold.formats import review_sheet
from enfold.graph.base import Opened


class Reviewing(Opened):
    """The open questions as cards and as sheets."""

    def cards(
        self,
        *,
        limit: int = 20,
        around: str | int | None = None,
        rule: str | None = None,
        type: str | None = None,
        passed: Collection[tuple[int, int]] = (),
    ) -> list[Card]:
        """The open questions, queued or waiting, as cards: those that share an entity are one. The
        weightiest come first.

        Args:
            around: only those about this entity.
            rule, type: only questions of a rule; only with a side of a type.
            passed: pairs of entities to leave out (``Card.pairs`` of those skipped).

        Raises:
            NotFound: ``unknown``. Conflict: ``ambiguous``.
        """
        with self._store.read() as tx:
            root = None if around is None else self._follow(tx, around).entity.id
            which = Filter(rule, type)
            return dealt.cards(tx, limit=limit, which=which, around=root, passed=passed)

    def deal(
        self,
        *,
        limit: int = 20,
        around: str | int | None = None,
        rule: str | None = None,
        type: str | None = None,
        passed: Collection[tuple[int, int]] = (),
        lists: bool = True,
    ) -> list[AnyCard]:
        """As ``cards``; but single pairs of one rule are gathered, up to nine in a list, and so are
        the last few of any.

        Args:
            lists: False leaves each single pair on a card of its own.

        Raises:
            NotFound: ``unknown``. Conflict: ``ambiguous``.
        """
        with self._store.read() as tx:
            root = None if around is None else self._follow(tx, around).entity.id
            dealing = dealt.stream(
                tx,
                limit=limit,
                which=Filter(rule, type),
                around=root,
                passed=passed,
                lists=lists,
            )
            return list(dealing)

    def count_cards(
        self,
        *,
        around: str | int | None = None,
        rule: str | None = None,
        type: str | None = None,
        lists: bool = False,
    ) -> tuple[int, int | None]:
        """(open pairs, cards they make); None of the latter above ``cards.COUNTED`` pairs.

        Args:
            lists: count them as ``deal`` makes them.
        """
        with self._store.read() as tx:
            root = None if around is None else self._follow(tx, around).entity.id
            return dealt.count(tx, Filter(rule, type), around=root, lists=lists)

    def answer_card(
        self,
        card: AnyCard,
        *,
        same: Collection[int] = (),
        apart: Collection[int] = (),
        keep: int | None = None,
        among: bool = False,
        actor: str | None = None,
    ) -> answers.Answered:
        """Answer some or all questions of a card in one transaction; the rest stays asked.

        Args:
            same: ids of the leaves that are the centre; on a list, that of their line. apart: of
                those that are not.
            keep: whose name survives: the centre or one of ``same``. Not for a list.
            among: the leaves in ``apart`` are different from each other, too.

        Raises:
            Invalid: ``not_on_card``.
            Conflict: ``card_changed``: look at it again. Refused: ``settled_apart``.
        """
        with self._store.write() as tx:
            return answers.answer(
                tx,
                card,
                same=same,
                apart=apart,
                keep=keep,
                among=among,
                actor=actor or self._actor,
            )

    def answer_all(
        self,
        *,
        same: bool,
        rule: str | None = None,
        type: str | None = None,
        min_score: float = 0.0,
        dry_run: bool = False,
        expected: int | None = None,
        actor: str | None = None,
    ) -> answers.Many:
        """One answer for every open question of a rule, or with a side of a type. Folds make stars,
        never chains: what would join two names by way of a third stays asked.

        Args:
            expected: how many pairs the plan of a dry run had; where it differs, nothing is done.

        Raises:
            Refused: ``nothing_open``. Conflict: ``card_changed``.
        """
        which = Filter(rule, type, min_score)
        opened = self._store.read if dry_run else self._store.write
        with opened() as tx:
            return answers.answer_all(
                tx,
                which,
                same=same,
                dry_run=dry_run,
                expected=expected,
                actor=actor or self._actor,
            )

    def undo_answer(
        self, answer_id: int | None = None, *, actor: str | None = None
    ) -> answers.Undone:
        """Take an answer to a card, to a kind or from a sheet back; by default the actor's latest
        that stands. Any number of times, in any session.

        Raises:
            NotFound: ``no_answer``. Refused: ``already_undone``.
        """
        with self._store.write() as tx:
            return answers.undo(tx, answer_id, actor=actor or self._actor)

    def questions(
        self,
        *,
        limit: int = 1000,
        around: str | int | None = None,
        rule: str | None = None,
        type: str | None = None,
        lists: bool = True,
    ) -> Iterator[str]:
        """So many cards as a sheet to answer (see ``formats.review_sheet``), as pieces of text."""
        with self._store.read() as tx:
            root = None if around is None else self._follow(tx, around).entity.id
            which = Filter(rule, type)
            dealing = dealt.stream(tx, limit=limit, which=which, around=root, lists=lists)
            yield from review_sheet.write(dealing)

    def answer_sheet(
        self, path: str | os.PathLike[str], *, dry_run: bool = False, actor: str | None = None
    ) -> answers.Returned:
        """Take the answers of a sheet: all is read and looked at first, then what holds is applied
        in one transaction. Taking it again does nothing.

        Raises:
            Invalid: ``not_questions``: the file is no such sheet; or it can't be read.
        """
        sheet = review_sheet.read(path)
        action = partial(answers.take, sheet=sheet, actor=actor or self._actor)
        if dry_run:
            return replace(guard.tried(self._store, action), answered=None)
        with self._store.write() as tx:
            return action(tx)
