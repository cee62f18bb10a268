import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.eval import metrics

RANKING = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"]


def test_recall_is_the_share_of_relevant_ids_before_the_cut() -> None:
    assert metrics.recall_at(3, RANKING, {"a", "c", "k", "missing"}) == 0.5


def test_a_hit_is_any_relevant_id_before_the_cut() -> None:
    assert metrics.hit_at(10, RANKING, {"j", "k"}) == 1.0
    assert metrics.hit_at(10, RANKING, {"k"}) == 0.0


def test_reciprocal_rank_is_that_of_the_first_relevant_id() -> None:
    assert metrics.reciprocal_rank(RANKING, {"d", "e"}) == 0.25
    assert metrics.reciprocal_rank(RANKING, {"missing"}) == 0.0


def test_ndcg_of_a_known_ranking_is_that_of_the_formula() -> None:
    # relevant at ranks 1 and 3 of 2: (1 + 1/2) / (1 + 1/log2(3))
    assert metrics.ndcg_at(10, RANKING, {"a", "c"}) == pytest.approx(1.5 / (1 + 0.6309297535714575))


def test_ndcg_ignores_what_comes_after_the_cut() -> None:
    assert metrics.ndcg_at(10, RANKING, {"k"}) == 0.0


def test_more_relevant_ids_than_ranks_can_still_be_ranked_ideally() -> None:
    assert metrics.ndcg_at(2, RANKING, {"a", "b", "c"}) == pytest.approx(1.0)


def test_the_reciprocal_rank_looks_at_the_first_ranks_only() -> None:
    ranking = [f"m{n}" for n in range(30)]

    assert metrics.measures(ranking, {"m20"})["mrr"] == 0.0
    assert metrics.measures(ranking, {"m19"})["mrr"] == pytest.approx(1 / 20)


def test_an_empty_ranking_measures_zero_everywhere() -> None:
    assert set(metrics.measures([], {"a"}).values()) == {0.0}


@given(st.permutations(RANKING), st.sets(st.sampled_from([*RANKING, "missing"]), min_size=1))
def test_every_measure_is_a_share(ranking: list[str], relevant: set[str]) -> None:
    assert all(0.0 <= value <= 1.0 + 1e-12 for value in metrics.measures(ranking, relevant).values())


@given(st.sets(st.sampled_from(RANKING[:5]), min_size=1))
def test_a_ranking_with_all_relevant_ids_first_is_perfect(relevant: set[str]) -> None:
    ranking = sorted(RANKING, key=lambda name: name not in relevant)

    assert list(metrics.measures(ranking, relevant).values()) == pytest.approx([1.0] * 6)


def test_the_mean_weighs_every_question_alike() -> None:
    assert metrics.mean([{"mrr": 1.0}, {"mrr": 0.0}, {"mrr": 0.5}]) == {"mrr": 0.5}
    assert metrics.mean([]) == {}


@pytest.mark.parametrize(("share", "expected"), [(0.5, 2.0), (0.95, 4.0), (1.0, 4.0), (0.01, 1.0)])
def test_a_percentile_is_one_of_the_values(share: float, expected: float) -> None:
    assert metrics.percentile(share, [4.0, 1.0, 3.0, 2.0]) == expected


def test_an_interval_holds_the_mean_and_narrows_with_more_values() -> None:
    few, many = metrics.interval([0.0, 1.0] * 10), metrics.interval([0.0, 1.0] * 1_000)

    assert few[0] < many[0] < 0.5 < many[1] < few[1]
    assert many[1] - many[0] == pytest.approx(2 * 1.96 * 0.5 / 2_000**0.5, rel=0.1)
    assert metrics.interval([1.0]) == (1.0, 1.0)
