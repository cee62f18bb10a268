import math

import numpy as np
import pytest
from recollect.lexical import K1, B, Corpus, GrowingPostings, score
from recollect.scan import Mask, Scores
from recollect.text import term_counts


def index(*texts: str) -> GrowingPostings:
    made = GrowingPostings()
    made.extend([term_counts(text) for text in texts])
    return made


def all_of(postings: GrowingPostings) -> tuple[GrowingPostings, Mask]:
    return postings, np.ones(postings.lengths.shape, dtype=np.bool_)


def scores(query: str, *parts: tuple[GrowingPostings, Mask]) -> Scores:
    count = sum(int(live.sum()) for _, live in parts)
    length = sum(int(postings.lengths[live].sum()) for postings, live in parts)
    return score(term_counts(query), Corpus(parts, count, length))


def test_scores_are_bm25_as_a_share_of_the_query_itself() -> None:
    texts = ["red apple", "green pear pear", "blue sky over town"]

    mean = (2 + 3 + 4) / 3
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    found = idf * 2 * (K1 + 1) / (2 + K1 * (1 - B + B * 3 / mean))
    itself = idf * 1 * (K1 + 1) / (1 + K1 * (1 - B + B * 1 / mean))
    assert scores("pear", all_of(index(*texts))).tolist() == pytest.approx([0.0, min(found / itself, 1.0), 0.0])


def test_a_row_with_the_terms_of_the_query_scores_one() -> None:
    of = scores("the cat sat", all_of(index("the cat sat", "the dog ran off", "a cat")))

    assert of[0] == pytest.approx(1.0)
    assert of[0] > of[2] > 0.0


def test_rows_that_are_not_live_neither_score_nor_count() -> None:
    both = index("tea and milk", "tea and lemon", "tea", "coffee")
    alone = index("tea and lemon", "coffee")

    masked = scores("lemon tea", (both, np.array([False, True, False, True])))

    np.testing.assert_allclose(masked[[1, 3]], scores("lemon tea", all_of(alone)))
    assert masked[0] == masked[2] == 0.0


def test_parts_score_as_one() -> None:
    texts = ["one two", "two three", "", "three three one", "one"]

    together = scores("one three", all_of(index(*texts)))

    np.testing.assert_allclose(scores("one three", all_of(index(*texts[:2])), all_of(index(*texts[2:]))), together)


def test_adding_rows_one_by_one_equals_adding_them_at_once() -> None:
    texts = ["one two", "two three", "", "three three one"]
    stepwise = GrowingPostings()
    for text in texts:
        stepwise.extend([term_counts(text)])

    np.testing.assert_array_equal(scores("one three", all_of(stepwise)), scores("one three", all_of(index(*texts))))


@pytest.mark.parametrize("query", ["", "unknown words"])
def test_a_query_that_meets_nothing_scores_nothing(query: str) -> None:
    assert scores(query, all_of(index("some text"))).tolist() == [0.0]


def test_an_empty_index_answers() -> None:
    assert scores("word", all_of(GrowingPostings())).shape == (0,)
