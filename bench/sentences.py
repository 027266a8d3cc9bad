"""Sentences as an agent may remember them, and questions about them, over generated names.

The same count and seed give the same sentences on every machine. Most name one or two things; a few
names are in very many sentences, as in real graphs.

    python bench/sentences.py --count 20
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.generate import generate


class Sentence(NamedTuple):
    """A memory with a question that it answers, and the names that stand in it, by their row."""

    text: str
    question: str
    names: tuple[int, ...]


ABOUT: Final = """\
the ingest worker|the billing service|the login page|the nightly backup|the search index|
the mobile app|the quarterly report|the onboarding guide|the data warehouse|the staging cluster|
the payment form|the invoice template|the office move|the summer party|the hiring plan|
the security audit|the customer survey|the price list|the warehouse robot|the delivery schedule|
the press release|the training course|the garden fence|the kitchen sink|the piano lessons|
the school trip|the tax return|the holiday flat|the dentist appointment|the marathon training|
the sourdough starter|the electric car|the heating system|the book club|the wedding speech|
the insurance claim|the old camera|the bicycle brakes|the vegetable garden|the language course"""
DID: Final = """\
finished|postponed|reviewed|cancelled|restarted|redesigned|took over|handed over|tested|paid for|
complained about|explained|documented|sped up|gave up on|started|planned|repaired|broke|approved|
rejected|measured|cleaned up|asked about|apologised for|presented"""
WHY: Final = """\
because the costs had doubled|since nobody used it any more|after the outage in the night|
to be ready before the audit|although the team was against it|because of a leak in the basement|
to save two hours a week|after a long talk with the lawyers|since the old one was too slow|
because the weather turned bad|so that the children could come along|
after reading about it in the paper|to win back an angry customer|because the licence ran out|
as the doctor had advised|while the others were on holiday"""
WHEN: Final = """\
on Monday|last week|in March|in the spring of 2024|before the release|after lunch|two days ago|
at the end of the quarter|during the meeting|in the evening|on 14 June|over the weekend|
right after the holidays|early this morning"""
LIKES: Final = """\
black coffee without sugar|long walks by the sea|short meetings before ten|printed maps|
spicy noodles|quiet hotels near the station|tabs instead of spaces|dark themes|window seats|
vegetarian food|handwritten notes|trains rather than planes|old science fiction films|
tests before code|early deadlines|plain text mail"""
STEPS: Final = """\
drain the queue, then restart the workers one by one|
export the table, check the counts and only then delete the rows|
ask two people for a review before merging|switch the traffic over and wait for ten minutes|
water the plants twice a week and never at noon|send the form by post and keep a copy|
preheat the oven and let the dough rest for an hour|rotate the keys and tell the people on call|
take the second exit and park behind the church|write down the meter reading first"""

FORMS: Final[Sequence[tuple[str, str]]] = (
    ("{a} {did} {about} {when}, {why}.", "who {did} {about} {why}?"),
    ("{a} prefers {likes}.", "what does {a} like?"),
    ("{a} works on {about} together with {b}.", "who works with {a} on {about}?"),
    ("We moved {about} from {a} to {b} {when}.", "where did we move {about} from {a}?"),
    ("{about} depends on {a}, and {b} does not know it yet.", "what does {about} need?"),
    ("{when} {a} told {b} that {about} would be late.", "what did {b} hear about {about}?"),
    ("The contract between {a} and {b} ends {when}.", "when does {a} part with {b}?"),
    ("To look after {about} at {a}: {steps}.", "how do I look after {about} at {a}?"),
    ("{b} paid {a} {n} euros for {about}.", "how much did {about} cost {b}?"),
    ("{a} is allergic to nuts and can't stand {likes}.", "what must we not offer {a}?"),
    ("Nobody at {a} remembers why {b} {did} {about}.", "why is {about} as it is at {a}?"),
    ("{a} met {b} in the canteen and talked about {about}.", "what did {a} and {b} discuss?"),
    ("The password of {about} is kept by {a} {when}.", "who has the password of {about}?"),
    ("{a} crashed {n} times {when}, {why}.", "why does {a} crash?"),
    ("{b} asked for {n} copies of {about}, and {a} said no.", "who refused {b}?"),
    ("{a} recommends {likes} to everyone who visits {b}.", "what does {a} recommend at {b}?"),
)


def _listed(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split("|")]


_SLOTS: Final = {
    "about": _listed(ABOUT),
    "did": _listed(DID),
    "why": _listed(WHY),
    "when": _listed(WHEN),
    "likes": _listed(LIKES),
    "steps": _listed(STEPS),
}


def sentences(count: int, *, names: Sequence[str], seed: int = 7) -> Iterator[Sentence]:
    """So many sentences over these names; the first names stand in many of them."""
    random = Random(seed)
    for _ in range(count):
        a, b = (int(len(names) * random.random() ** 3) for _ in range(2))
        form, question = FORMS[int(random.random() * len(FORMS))]
        filled = {slot: texts[int(random.random() * len(texts))] for slot, texts in _SLOTS.items()}
        filled |= {"a": names[a], "b": names[b], "n": str(int(random.random() * 900) + 2)}
        text = form.format_map(filled)
        asked = question.format_map(filled)
        held = tuple(row for row, slot in ((a, "{a}"), (b, "{b}")) if slot in form)
        yield Sentence(text[0].upper() + text[1:], asked, held)


def names_of(count: int, *, seed: int = 7) -> list[str]:
    """So many generated names."""
    return [row.spelling for row in generate(count, seed=seed)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Print generated sentences and questions.")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--names", type=int, default=1_000)
    asked = parser.parse_args()
    for one in sentences(asked.count, names=names_of(asked.names)):
        print(f"{one.text}\t{one.question}")


if __name__ == "__main__":
    main()
