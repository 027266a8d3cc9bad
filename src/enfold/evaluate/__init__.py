"""How right enfold is, by labels that people gave: on pairs, and on names with their things.

Pairs are ruled each on its own; names are put through a pass. Here is what is counted of that.
``enfold.rating`` reads a file of labels and runs the pass, ``enfold.accuracy`` goes through the
sets that come along and makes the tables of the docs.
"""

from __future__ import annotations

from enfold.evaluate.clusters import Clustered, ClusterEvaluation, Doubtful, Missed, Outcome
from enfold.evaluate.labels import Labelled, Mention, Wrong
from enfold.evaluate.pairs import Evaluation, evaluate
from enfold.evaluate.scores import Equal, Score, at_equal_recall, b_cubed, pairwise

__all__ = [
    "ClusterEvaluation",
    "Clustered",
    "Doubtful",
    "Equal",
    "Evaluation",
    "Labelled",
    "Mention",
    "Missed",
    "Outcome",
    "Score",
    "Wrong",
    "at_equal_recall",
    "b_cubed",
    "evaluate",
    "pairwise",
]
