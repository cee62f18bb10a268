import pytest
from recollect.reconciling import senses


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bought", "purchases"),
        ("movie", "films"),
        ("cellist", "cello"),
        ("allergy", "allergic"),
        ("brazil", "brazilian"),
        ("grew", "growing"),
        ("grown-up", "adult"),
        ("quit", "stopped"),
    ],
)
def test_forms_synonyms_and_words_made_from_each_other_are_the_same(one: str, other: str) -> None:
    assert senses.are_same(one, other)
    assert senses.are_same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("red", "blue"), ("dog", "cat"), ("lisbon", "porto"), ("nurse", "teacher"), ("mother", "father"), ("buy", "sell")],
)
def test_different_things_of_one_kind_are_never_the_same(one: str, other: str) -> None:
    assert not senses.are_same(one, other)
    assert not senses.says(one, other)
    assert not senses.says(other, one)


@pytest.mark.parametrize(("one", "other"), [("red", "blue"), ("tea", "coffee"), ("lisbon", "porto")])
def test_words_of_one_kind_are_siblings(one: str, other: str) -> None:
    assert senses.are_siblings(one, other)
    assert not senses.are_siblings(one, one)


@pytest.mark.parametrize(("narrow", "wide"), [("surgeon", "doctor"), ("car", "vehicle"), ("wife", "married")])
def test_a_narrower_word_says_what_the_wider_says_and_not_the_other_way_round(narrow: str, wide: str) -> None:
    assert senses.says(narrow, wide)
    assert not senses.says(wide, narrow)


@pytest.mark.parametrize(("one", "other"), [("early", "late"), ("formal", "casual"), ("happy", "unhappy")])
def test_antonyms_are_opposite_and_so_is_what_is_like_them(one: str, other: str) -> None:
    assert senses.are_opposite(one, other)
    assert senses.are_opposite(other, one)


def test_a_phrase_is_looked_up_by_any_form_of_its_verb() -> None:
    assert senses.are_akin("passed_away", "died")
    assert not senses.look_up("passed_under").words


def test_a_word_denies_what_its_definition_denies() -> None:
    assert senses.denies("vegetarian", ["eats", "meat"])
    assert not senses.denies("vegetarian", ["eats", "rice"])
    assert not senses.denies("nurse", ["eats", "meat"])


def test_an_irregular_form_tells_what_it_is_a_form_of() -> None:
    assert senses.regular("grew") == "grow"
    assert senses.regular("ora") is None  # which is Italian for "now", and a plural of "os" that nobody uses
    assert senses.regular("walked") is None


@pytest.mark.parametrize("word", ["wohnt", "über", "住在", "a\ud800b", ""])
def test_what_is_no_english_word_means_nothing(word: str) -> None:
    found = senses.look_up(word)

    assert (found.words, found.shares) == (frozenset(), {})
    assert not senses.are_same(word, "lives")
    assert not senses.says(word, "house")


def test_a_verb_is_told_from_a_noun_by_its_use() -> None:
    assert senses.verb_share("teaches") > 0.9
    assert senses.verb_share("landlord") == 0.0
