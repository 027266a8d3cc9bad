"""Search for people: the entities whose spellings read like what was typed.

A name is found by its words (``ports.Words``), which are there as soon as it is made: words like
those typed, then the rows that have them. Every step looks at so many words and rows, whatever is
typed; among the rows of a word that many names have, the shortest names are looked at, since these
are the closest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from string import ascii_lowercase, digits
from typing import Final

from rapidfuzz.distance import OSA

from enfold import pairs, rules
from enfold.model import Context, Entity, Hit, How, Verdict
from enfold.names import Name
from enfold.ports import Row, Tx

FLOOR: Final = 0.55
"""Below this score a spelling is no help. The measure, held to 50 real names by a test: a misspelt
first name scores 0.77 on average against the full name it stands in, and 0.66 at worst; four
letters of a first name score 0.89. So every such misspelling is above the floor."""

PART: Final = 0.9
"""The score of a part of a name that stands there whole."""

UNCOVERED: Final = 0.01
"""What is taken off a part for all the letters it leaves out: of two names the shorter comes first;
to two digits, the one of which it is half or more."""

REORDERED: Final = 0.95
"""The score of all words of a name in another order."""

SAME_LETTERS: Final = 0.99
SAME_LATIN: Final = 0.98

BEGUN_WORD: Final = 0.97
WITHIN_WORD: Final = 0.95
"""How far a word counts that begins with the one typed, or has it inside."""

LEAST_ALIKE: Final = 0.6
"""Words less alike are no misspellings of each other: five letters may differ in two."""

ALIKE_WORDS: Final = 40
"""Words of the graph taken up for one that was typed."""

FUZZY_WORDS: Final = 4
"""Typed words that may be misspelt, the longest of those that no name has; others are as typed."""

COMBINED: Final = 6
"""Ways to put words like the typed ones together, and to part one typed word in two."""

ROWS: Final = 600
"""Rows read in one search."""

ROWS_OF_WORD: Final = 200
ROWS_OF_ALIKE: Final = 40
"""Rows taken up of the word typed, and of one that is like it."""

ROWS_COUNTED: Final = 4_000
"""Rows counted for having most of several typed words."""

BEGINNINGS: Final = 50
"""Rows taken up for beginning with the letters typed."""

PROBED: Final = 200
"""Rows taken up that a rule may ask about."""

EDITED: Final = 24
"""The longest word whose every single edit is looked up: about 1,300 words, 2 ms."""

BY_WORDS: Final = frozenset({"contained", "person", "given-name"})
"""Rules that find what words find, and much of it; the candidates of the others are taken up."""

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")

_RANK: Final = {How.EXACT: 0, How.LETTERS: 1, How.PREFIX: 2}
_OTHERS: Final = 3


def search(tx: Tx, asked: Name, *, type: str | None = None, limit: int = 20) -> list[Hit]:
    """Entities by their closest spelling, best first; case and accents aside, in any script.

    First come exact hits, then those of the same letters, then what begins with the text, then all
    others by score. Equal scores, to two digits, go by mentions, then by score.

    The score is 1 for the name itself and at least ``FLOOR``. It is the highest of:

    - 0.99 for the same letters and digits, 0.98 for the same once in Latin letters without marks;
    - 0.95 for all words of the name in another order;
    - 0.9 for a part of the name as it stands there, less up to 0.01 for what the part leaves out;
    - the likeness of the typed words, each to the word it is most like, times 0.9 less the same;
    - the likeness of the whole;
    - the score of a rule that would ask about the two.

    Likeness is 1 less the edits by the letters of the longer, an exchange of two letters that stand
    together counted once (rapidfuzz's ``OSA``), in Latin letters without marks. Of a word it is at
    least 0.97 times its likeness to the beginning of the other, and 0.95 where the other holds it.

    Args:
        type: only entities of this type, in whatever case.
        limit: how many at most.
    """
    query = _Query(asked)
    context = tx.context() or Context()
    rows = _rows(tx, query, context, type)
    roots = _of_type(tx, rows, type)
    best: dict[int, tuple[_Rank, Row, How, float]] = {}
    for row, probed in rows.values():
        if row.canonical_id not in roots:
            continue
        how, score = query.likeness(Name(row.spelling, row.type), context if probed else None)
        if score < FLOOR:
            continue
        rank = (_RANK.get(how, _OTHERS), -score, len(row.spelling), row.id)
        if row.canonical_id not in best or rank < best[row.canonical_id][0]:
            best[row.canonical_id] = (rank, row, how, score)
    # Counting mentions is dear for a hub: those are counted that a tie could bring in.
    chosen = sorted(best, key=lambda root: best[root][0])[: limit + BEGINNINGS]
    entities = tx.entities.many(chosen)
    chosen.sort(key=lambda root: _with_mentions(best[root][0], entities[root]))
    return [_hit(entities[root], *best[root][1:]) for root in chosen[:limit]]


def nearest(tx: Tx, name: Name, limit: int = 5) -> list[Entity]:
    """The entities closest to a name that is not known: what a miss carries."""
    return [hit.entity for hit in search(tx, name, limit=limit)]


_Rank = tuple[int, float, int, int]


def _with_mentions(rank: _Rank, entity: Entity) -> tuple[int, float, int, _Rank]:
    return rank[0], round(rank[1], 2), -entity.mentions, rank


def _hit(entity: Entity, row: Row, how: How, score: float) -> Hit:
    return Hit(entity, row.spelling, how, round(score, 3), row.spelling != entity.name)


def _of_type(tx: Tx, rows: dict[int, tuple[Row, bool]], type: str | None) -> set[int]:
    """The roots of the rows, those of the type where one is given."""
    roots = {row.canonical_id for row, _ in rows.values()}
    if type is None:
        return roots
    kind = type.casefold()
    return {
        row.id
        for row in tx.entities.rows_by_id(sorted(roots))
        if (row.type or "").casefold() == kind
    }


# ---- how alike ----------------------------------------------------------------------------------


class _Query:
    """What was typed, read once."""

    def __init__(self, name: Name) -> None:
        self.name = name
        self.latin = name.latin
        self.words = pairs.search_words(name)
        # Names of Han characters that sound alike are no more alike than others.
        self._han = _HAN.search(name.letters) is not None
        if name.cjk:
            self.words = [word for word in self.words if not word.isascii()] or self.words
        self._alike: dict[str, tuple[float, ...]] = {}
        self._size = sum(map(len, self.words)) or 1

    def likeness(self, other: Name, context: Context | None) -> tuple[How, float]:
        """How a name matches, and its score; with a context the rules are asked too."""
        name = self.name
        if other.key == name.key:
            return How.EXACT, 1.0
        if not name.letters:  # of signs alone
            inside = name.key in other.folded
            return (How.SUBSTRING, self._part(other)) if inside else (How.FUZZY, 0.0)
        if other.letters == name.letters:
            return How.LETTERS, SAME_LETTERS
        if self.latin and other.latin == self.latin and not (self._han and other.cjk):
            return How.LETTERS, SAME_LATIN
        if self._begins(other):
            return How.PREFIX, self._part(other)
        best = self._by_words(other)
        if self._inside(other):
            best = max(best, (How.SUBSTRING, self._part(other)), key=_score)
        best = max(best, (How.FUZZY, self._whole(other)), key=_score)
        if context is not None:
            ruling = rules.rule_on(name, other, context)
            if ruling.verdict is not Verdict.APART:
                best = max(best, (How.RULE, ruling.score), key=_score)
        return best

    def _part(self, other: Name) -> float:
        whole = len(other.letters) or len(other.spelling)
        mine = len(self.name.letters) or len(self.name.spelling)
        return PART - UNCOVERED * (1 - min(1.0, mine / whole))

    def _begins(self, other: Name) -> bool:
        if other.letters.startswith(self.name.letters):
            return True
        return bool(self.latin) and not self._han and other.latin.startswith(self.latin)

    def _inside(self, other: Name) -> bool:
        if self.name.cjk and self.name.letters in other.letters:
            return True
        return len(self.latin) > 1 and not self._han and self.latin in other.latin

    def _whole(self, other: Name) -> float:
        if self._han and other.cjk:
            return _likeness(self.name.letters, other.letters)
        return _likeness(self.latin, other.latin)

    def _by_words(self, other: Name) -> tuple[How, float]:
        words = pairs.search_words(other)
        if not words or not self.words:
            return How.FUZZY, 0.0
        likest = [max(of_one) for of_one in zip(*map(self._likenesses, words), strict=True)]
        least = min(likest)
        if least == 1 and len(words) == len(self.words):
            return How.WORD, REORDERED
        shared = sum(len(w) * like for w, like in zip(self.words, likest, strict=True)) / self._size
        whole = least == 1 and not self.name.cjk  # characters that stand in others' words
        how = How.WORD if whole else How.SUBSTRING if least >= WITHIN_WORD else How.FUZZY
        return how, shared * self._part(other)

    def _likenesses(self, other: str) -> tuple[float, ...]:
        """Of each typed word to a word, which many names have."""
        known = self._alike.get(other)
        if known is None:
            known = self._alike[other] = tuple(_alike(word, other) for word in self.words)
        return known


def _score(found: tuple[How, float]) -> float:
    return found[1]


def _likeness(one: str, other: str) -> float:
    shorter, longer = sorted((len(one), len(other)))
    if shorter < FLOOR * longer or not shorter:  # too many letters are one's alone
        return 0.0
    return OSA.normalized_similarity(one, other)


def _alike(word: str, other: str) -> float:
    """How far a typed word is another: 1 for the same, 0 for none."""
    if word == other:
        return 1.0
    if other.startswith(word):
        return BEGUN_WORD
    if len(word) > 1 and word in other:
        return WITHIN_WORD
    if len(word) < 3:
        return 0.0
    alike = _likeness(word, other)
    if 3 < len(word) < len(other):
        begun = OSA.normalized_similarity(word, other[: len(word)])
        alike = max(alike, begun * BEGUN_WORD)
    return alike if alike >= LEAST_ALIKE else 0.0


# ---- which rows ---------------------------------------------------------------------------------


def _rows(tx: Tx, query: _Query, context: Context, type: str | None) -> dict[int, tuple[Row, bool]]:
    """The rows to look at, each with whether a rule may ask about it."""
    name = query.name
    ids: dict[int, None] = {}
    for row in tx.entities.rows([name.key]).get(name.key, ()):
        ids[row.id] = None
    if name.letters:
        ids |= dict.fromkeys(tx.entities.starting(name.merge_key, limit=BEGINNINGS))
    ids |= dict.fromkeys(islice(_by_words(tx, query, type), ROWS))
    probed = _probed(tx, name, context)
    wanted = [*islice(ids, ROWS), *islice(probed - ids.keys(), PROBED)]
    return {row.id: (row, row.id in probed) for row in tx.entities.rows_by_id(wanted)}


def _probed(tx: Tx, name: Name, context: Context) -> set[int]:
    if len(name.letters) > rules.NEVER_EDITED:
        return set()
    asking = (rule for rule in rules.rule_set(context.rules) if rule.name not in BY_WORDS)
    blocks = pairs.blocking(asking)
    return tx.names.probe(sorted(pairs.probe_keys(name, blocks)), limit=PROBED)


Alike = list[tuple[int, float]]
"""(id of a word, how far it is the word typed), best first."""


def _by_words(tx: Tx, query: _Query, type: str | None) -> Iterator[int]:
    """Ids of rows by the words they have, the likeliest first; some more than once."""
    words = query.words
    if len(words) == 1:
        yield from _of_words(tx, _alike_words(tx, words[0]), type)
        yield from _of_halves(tx, words[0], type)
    elif words:
        likes = _all_alike(tx, words)
        yield from _of_all(tx, likes, type)
        yield from _of_most(tx, query, likes, type)
        if len(query.latin) <= EDITED:  # parted where it should not be
            yield from _of_words(tx, _alike_words(tx, query.latin, known=True), type)


def _alike_words(tx: Tx, word: str, *, known: bool = False) -> Alike:
    """Words of the graph like one that was typed; of one it has, only those a letter away or
    beginning with it."""
    found = tx.words.starting(word, limit=100)
    if word.isascii() and 3 <= len(word) <= EDITED:
        found |= tx.words.known(list(_edits(word)))
    if not known and len(word) >= 3:
        found |= tx.words.holding(word, limit=100)
        found |= tx.words.resembling(word, limit=200)
    likes = sorted((-_alike(word, other), len(other), at) for other, at in found.items())
    return [(at, -like) for like, _, at in likes[:ALIKE_WORDS] if like]


def _edits(word: str) -> set[str]:
    """Every word one letter away: dropped, doubled, changed, or two exchanged."""
    letters = ascii_lowercase + digits if any(map(str.isdigit, word)) else ascii_lowercase
    cut = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    found = {left + right[1:] for left, right in cut if right}
    found |= {left + right[1] + right[0] + right[2:] for left, right in cut if len(right) > 1}
    for letter in letters:
        found |= {left + letter + right for left, right in cut}
        found |= {left + letter + right[1:] for left, right in cut if right}
    return found - {word}


def _of_words(tx: Tx, alike: Alike, type: str | None) -> Iterator[int]:
    for word_id, like in alike:
        limit = ROWS_OF_WORD if like == 1 else ROWS_OF_ALIKE
        yield from tx.words.rows(word_id, type=type, limit=limit)


def _of_halves(tx: Tx, word: str, type: str | None) -> Iterator[int]:
    """Rows with two words that were typed as one."""
    cuts = [(word[:at], word[at:]) for at in range(1, len(word))]
    known = tx.words.known([part for cut in cuts for part in cut])
    whole = [cut for cut in cuts if cut[0] in known and cut[1] in known and cut[0] != cut[1]]
    whole.sort(key=lambda cut: -min(map(len, cut)))
    for left, right in whole[:COMBINED]:
        yield from tx.words.rows_of_all([known[left], known[right]], type=type, limit=ROWS_OF_ALIKE)


def _all_alike(tx: Tx, words: Sequence[str]) -> list[Alike]:
    """For each typed word the words like it."""
    known = tx.words.known(words)
    longest = sorted(words, key=lambda word: (word in known, -len(word)))[:FUZZY_WORDS]
    return [
        _alike_words(tx, word, known=word in known)
        if word in longest
        else [(known[word], 1.0)]
        if word in known
        else []
        for word in words
    ]


def _of_all(tx: Tx, likes: Sequence[Alike], type: str | None) -> Iterator[int]:
    """Rows that have every typed word, or for one that no name has a word like it."""
    some = [alike for alike in likes if alike]
    best = [alike[0][0] for alike in some]
    if len(best) < 2:
        return
    yield from tx.words.rows_of_all(best, type=type, limit=ROWS_OF_WORD)
    others = [
        (place, word_id)
        for place, alike in enumerate(some)
        if alike[0][1] < 1
        for word_id, _ in alike[1 : COMBINED + 1]
    ]
    for place, word_id in others[:COMBINED]:
        wanted = [*best[:place], word_id, *best[place + 1 :]]
        yield from tx.words.rows_of_all(wanted, type=type, limit=ROWS_OF_ALIKE)


def _of_most(tx: Tx, query: _Query, likes: Sequence[Alike], type: str | None) -> Iterable[int]:
    """Rows by how much of what was typed they have, among names of about its length."""
    letters, share = len(query.latin), ROWS_COUNTED // len(likes)
    shares: Counter[int] = Counter()
    for word, alike in zip(query.words, likes, strict=True):
        seen: set[int] = set()
        for word_id, like in alike:
            rows = tx.words.rows(
                word_id,
                shortest=letters * 2 // 3,
                longest=letters * 2,
                type=type,
                limit=min(share - len(seen), share // 2),
            )
            new = set(rows) - seen
            shares.update(dict.fromkeys(new, int(1000 * like * len(word))))
            seen |= new
            if len(seen) >= share:
                break
    return (row for row, _ in shares.most_common(ROWS // 2))
