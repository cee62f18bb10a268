import pytest
from hypothesis import given
from hypothesis import strategies as st
from recollect.text import ASKING, is_blank, normal_form, query_term_counts, stem, term_counts, terms, text_key


@pytest.mark.parametrize("text", ["", " ", "\t\n", "\u200b", "\u2060\ufeff \u00a0", "\x00\x1f", "\u2028"])
def test_a_text_without_anything_to_read_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", ".", " 我 ", "\u200bx", "👩‍🚀"])
def test_a_text_with_something_to_read_is_not_blank(text: str) -> None:
    assert not is_blank(text)


def test_composed_and_decomposed_letters_are_the_same_statement() -> None:
    assert normal_form("caf\u00e9") == normal_form("cafe\u0301 ")
    assert text_key("caf\u00e9") == text_key("cafe\u0301")


@pytest.mark.parametrize(("one", "other"), [("Abc", "abc"), ("a  b", "a b"), ("x²", "x2"), ("a\n b", "a\nb")])
def test_case_spacing_and_signs_that_carry_meaning_are_kept(one: str, other: str) -> None:
    assert normal_form(one) != normal_form(other)
    assert text_key(one) != text_key(other)


def test_line_ends_do_not_matter() -> None:
    assert normal_form("a\r\nb\r") == normal_form("a\nb")


def test_words_are_folded_and_stemmed() -> None:
    assert list(terms("She ran; the DOGS were barking!")) == ["she", "run", "the", "dog", "wer", "bark"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("camping", "camp"), ("cities", "city"), ("stopped", "stop"), ("loves", "loving")],
)
def test_forms_of_an_english_word_share_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize("word", ["v2", "größe", "用户", "gas", "bus", "is", "s3"])
def test_words_that_are_not_plain_english_plurals_stay(word: str) -> None:
    assert stem(word) == word


@pytest.mark.parametrize(
    ("content", "query"), [("我对花生过敏", "花生"), ("東京に住んでいます", "東京"), ("땅콩 알레르기", "땅콩")]
)
def test_scripts_without_spaces_are_found_by_a_part(content: str, query: str) -> None:  # case T4
    assert set(term_counts(query)) <= set(term_counts(content))


@pytest.mark.parametrize("text", ["नमस्ते", "مُحَمَّد", "cafe\u0301", "שָׁלוֹם", "می\u200cخواهم"])
def test_a_word_with_marks_is_one_term(text: str) -> None:
    assert len(list(terms(text))) == 1
    assert query_term_counts(text) == term_counts(text)


def test_question_words_do_not_count_in_a_query_unless_there_is_nothing_else() -> None:
    assert query_term_counts("Where does Ana live?") == term_counts("Ana live")
    assert query_term_counts("who is who") == term_counts("who is who")


@pytest.mark.parametrize(
    ("query", "rest"),
    [
        ("Welche Filme mag sie?", "Filme mag sie"),
        ("¿Cuántos años tiene?", "años tiene"),
        ("Quel âge a Mia ?", "âge a Mia"),
        ("Onde mora a Clara?", "mora a Clara"),
        ("Quale città preferisce?", "città preferisce"),
    ],
)
def test_question_words_of_other_languages_do_not_count_in_a_query_either(query: str, rest: str) -> None:
    assert query_term_counts(query) == term_counts(rest)


def test_only_the_question_words_of_the_language_that_asks_are_left_out() -> None:
    assert query_term_counts("What is the WER of Quanto?") == term_counts("the WER of Quanto")


@given(st.text())
def test_terms_are_32_bit_and_counted(text: str) -> None:
    counts = term_counts(text)

    assert all(0 <= term < 2**32 for term in counts)
    assert sum(counts.values()) - counts.get(ASKING, 0) == len(list(terms(text)))


@pytest.mark.parametrize(("one", "other"), [("bought", "buying"), ("Children", "child"), ("written", "writes")])
def test_irregular_forms_of_an_english_word_are_one_term(one: str, other: str) -> None:
    assert term_counts(one) == term_counts(other)


@pytest.mark.parametrize("text", ["Any pets?", "何匹？", "كم عمرك؟"])
def test_a_question_mark_is_a_term_of_a_text_but_not_of_a_query(text: str) -> None:
    assert term_counts(text)[ASKING] == 1
    assert ASKING not in query_term_counts(text)
