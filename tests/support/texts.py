"""Texts whose meaning to each other is known beforehand, so that a model need not reconcile.

Of the unrelated ones no two share more than one word of two; of the related ones the rules' verdict is in a table.
"""

TEA, TEA_AT_BREAKFAST = "Mia drinks tea", "Mia drinks tea at breakfast"
NINE, TEN = "the office closes at nine", "the office closes at ten"
HIKES, SLEEPS = "Leo hikes in old hills", "Leo sleeps in old hills"
VERDICTS = {  # of a new text beside one that is stored
    (TEA, TEA_AT_BREAKFAST): "merged",
    (TEA_AT_BREAKFAST, TEA): "unchanged",
    (NINE, TEN): "superseded",
    (TEN, NINE): "superseded",
    (HIKES, SLEEPS): "conflict",
    (SLEEPS, HIKES): "conflict",
}
UNRELATED = ("amber cedar", "amber fjord", "cedar fjord", "basalt ember")
CONTENTS = (*UNRELATED, *dict.fromkeys(text for pair in VERDICTS for text in pair))
DIMENSION = 300  # in which the hashing embedder gives each of their words a place of its own
QUERIES = ("amber ember tea nine", "hills", "cedar breakfast office", TEA)  # most of them no memory's very text
