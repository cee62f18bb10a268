"""The evaluation itself on a made-up conversation: what it stores, asks and leaves out."""

from recollect.ranking import Mode

from tests.eval import ablation, long
from tests.eval.__main__ import evaluate_diversity, evaluate_long, evaluate_parts, evaluate_robustness
from tests.eval.locomo import Conversation, Question, Turn, held_out
from tests.eval.run import MODES, Remembering, ask, controller_of, evidence_in_context, ingest
from tests.support.builders import NOW_MS
from tests.support.embedder import HashingEmbedder


def talk(name: str) -> Conversation:
    said = ("Which instrument do you play?", "The cello.", "Nice weather today.", "I sold the boat.")
    turns = tuple(Turn(f"D1:{n}", "session_1", "Ada", one, NOW_MS) for n, one in enumerate(said))
    return Conversation(name, turns, (Question("who sold the boat", 4, frozenset({"D1:3"})),))


def test_every_question_is_asked_in_every_mode_and_the_evidence_found() -> None:
    controller = controller_of(HashingEmbedder())

    asked = list(ask(controller, talk("one"), ingest(controller, talk("one"))))

    assert [one.mode for one in asked] == [mode.value for mode in MODES]
    assert all(one.measured["mrr"] == 1.0 for one in asked if one.mode == Mode.LEXICAL)


def test_a_text_is_embedded_once() -> None:
    inner = HashingEmbedder()
    embedder = Remembering(inner)

    first = embedder.embed(["a", "b", "a"])

    assert (first == embedder.embed(["a", "b", "a"])).all()
    assert inner.texts == ["a", "b"]


def test_evidence_is_in_a_context_that_has_room_for_it() -> None:
    controller = controller_of(HashingEmbedder())
    ingested = ingest(controller, talk("one"))

    assert [list(evidence_in_context(controller, talk("one"), ingested, budget)) for budget in (1, 500)] == [
        [False],
        [True],
    ]


def test_figures_tell_what_is_left_without_each_signal() -> None:
    embedder = Remembering(HashingEmbedder())

    found = evaluate_parts([talk("one"), talk("two")], embedder)
    found |= evaluate_robustness([talk("one"), talk("two")], embedder)

    assert [one.conversation_id for one in held_out([talk("one"), talk("two")])] == ["two"]
    assert {f"ablation.without_{name}.recall_at_10" for name in ablation.WITHOUT} <= found.keys()
    assert found["context.whole_evidence_in_1000"] == 1.0
    variants = ("names_made_up", "without_dates", "paraphrased", "among_others", "asked_the_day_after")
    assert {f"robust.{name}.mrr" for name in variants} <= found.keys()
    assert found["context.diversity_20.whole_evidence_in_1000"] == 1.0
    assert found["ablation.without_nothing.recall_at_5"] == 1.0


def test_a_copy_of_what_was_found_takes_a_place_and_answers_nothing() -> None:
    found = evaluate_diversity([talk("one"), talk("two")], Remembering(HashingEmbedder()))

    assert found["diversity.0.mrr"] == found["diversity.told_twice.0.mrr"] == 1.0
    assert {f"diversity.told_twice.{hundredths}.recall_at_10" for hundredths in (0, 10, 20, 30, 50)} <= found.keys()


def test_long_contents_are_found_by_their_beginning_their_mean_and_their_best_part() -> None:
    said = [f"{word} " * 100 for word in ("weather", "garden", "music", "football", "violin")]
    turns = [Turn(f"D1:{n}", "session_1", "Ada", one, NOW_MS) for n, one in enumerate(said)]
    turns += [Turn(f"D2:{n}", "session_2", "Ada", f"{n} cat ate " * 60, NOW_MS) for n in range(5)]
    conversation = Conversation("two", tuple(turns), (Question("violin", 4, frozenset({"D1:4"})),))

    (first, *_, last) = long.passages(conversation)
    found = evaluate_long([talk("one"), conversation], Remembering(HashingEmbedder()))

    assert first.turns == {("two", f"D1:{n}") for n in range(3)}
    assert len(first.text) >= long.PASSAGE_MIN_CHARS
    assert ("two", "D2:4") in last.turns
    assert found["long.beginning.semantic.mrr"] < found["long.best_part.semantic.mrr"] == 1.0
    assert found["long.passages"] == len(list(long.passages(conversation)))
    assert found["long.parts_per_passage"] > 1.0
