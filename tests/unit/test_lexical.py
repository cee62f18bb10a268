import math

import numpy as np
import pytest
from recollect.lexical import K1, B, LexicalIndex
from recollect.text import term_counts


def index(*texts: str) -> LexicalIndex:
    made = LexicalIndex()
    made.extend([term_counts(text) for text in texts])
    return made


def test_scores_are_bm25_as_a_share_of_the_query_itself() -> None:
    texts = ["red apple", "green pear pear", "blue sky over town"]
    scores = index(*texts).score(term_counts("pear"), np.ones(3, dtype=bool))

    mean = (2 + 3 + 4) / 3
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    found = idf * 2 * (K1 + 1) / (2 + K1 * (1 - B + B * 3 / mean))
    itself = idf * 1 * (K1 + 1) / (1 + K1 * (1 - B + B * 1 / mean))
    assert scores.tolist() == pytest.approx([0.0, min(found / itself, 1.0), 0.0])


def test_a_row_with_the_terms_of_the_query_scores_one() -> None:
    scores = index("the cat sat", "the dog ran off", "a cat").score(term_counts("the cat sat"), np.ones(3, dtype=bool))

    assert scores[0] == pytest.approx(1.0)
    assert scores[0] > scores[2] > 0.0


def test_rows_that_are_not_live_neither_score_nor_count() -> None:
    both = index("tea and milk", "tea and lemon", "tea", "coffee")
    alone = index("tea and lemon", "coffee")

    masked = both.score(term_counts("lemon tea"), np.array([False, True, False, True]))

    np.testing.assert_allclose(masked[[1, 3]], alone.score(term_counts("lemon tea"), np.ones(2, dtype=bool)))
    assert masked[0] == masked[2] == 0.0


def test_adding_rows_one_by_one_equals_adding_them_at_once() -> None:
    texts = ["one two", "two three", "", "three three one"]
    stepwise = LexicalIndex()
    for text in texts:
        stepwise.extend([term_counts(text)])

    query, live = term_counts("one three"), np.ones(4, dtype=bool)

    np.testing.assert_array_equal(stepwise.score(query, live), index(*texts).score(query, live))


@pytest.mark.parametrize("query", ["", "unknown words"])
def test_a_query_that_meets_nothing_scores_nothing(query: str) -> None:
    assert index("some text").score(term_counts(query), np.ones(1, dtype=bool)).tolist() == [0.0]


def test_an_empty_index_answers() -> None:
    assert LexicalIndex().score(term_counts("word"), np.ones(0, dtype=bool)).shape == (0,)
