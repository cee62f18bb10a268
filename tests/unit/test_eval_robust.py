from tests.eval import robust
from tests.eval.locomo import Conversation, Question, Turn

TURNS = (
    Turn("D1:1", "session_1", "Ada", "Hi Bo, I'm selling Ada's wonderful boat!", 1_000),
    Turn("D1:2", "session_1", "Bo", "Really, Ada? I don't understand.", 1_000),
)
TALK = Conversation("one", TURNS, (Question("What does Ada sell to Bob?", 4, frozenset({"D1:1"})),))


def test_speakers_get_made_up_names_wherever_they_are_named() -> None:
    told = robust.renamed(TALK)
    text = " ".join([*(turn.content for turn in told.turns), *(turn.actor for turn in told.turns)])

    assert "Ada" not in text
    assert "Bo" not in text.split()
    assert told.questions[0].text == f"What does {told.turns[0].actor} sell to Bob?"
    assert f"{told.turns[0].actor}'s wonderful boat" in told.turns[0].content


def test_a_conversation_without_dates_has_the_same_words() -> None:
    told = robust.undated(TALK)

    assert [turn.occurred_at_ms for turn in told.turns] == [None, None]
    assert [turn.content for turn in told.turns] == [turn.content for turn in TURNS]


def test_a_paraphrase_writes_contractions_out_and_keeps_all_letters_of_a_word() -> None:
    told = [turn.content for turn in robust.paraphrased(TALK).turns]

    assert "i am" in told[0]
    assert "do not" in told[1]
    words = [sorted(word) for word in told[1].split()]
    assert words == [sorted(word) for word in ["really,", "ada?", "i", "do", "not", "understand."]]
    assert robust.paraphrased(TALK) == robust.paraphrased(TALK)


def test_a_paraphrase_has_typing_errors_in_some_of_the_long_words() -> None:
    text = " ".join(f"wonderful{chr(97 + number)}" for number in range(26))
    turn = Turn("D1:1", "session_1", "Ada", text, 1_000)
    (told,) = robust.paraphrased(Conversation("one", (turn,), ())).turns

    changed = sum(one != other for one, other in zip(text.split(), told.content.split(), strict=True))
    assert 0 < changed < 13


def test_sessions_are_told_apart_by_their_conversation() -> None:
    assert {turn.session_id for turn in robust.set_apart(TALK).turns} == {"one session_1"}
