"""What becomes of transcripts, whatever happens in between: deaths, races, weather, erasures."""

from dataclasses import replace
from typing import Any

import pytest
from recollect import ingesting, keys
from recollect.conversation import EXTRACTION_CONTEXT_COUNT, Extract, TranscriptStatus
from recollect.errors import CorruptData, ExtractionFailed, Unavailable
from recollect.ingesting import PATIENT_ATTEMPTS
from recollect.model import CONTENT_MAX_CHARS, MemoryType
from recollect.passages import PASSAGE_MAX_COUNT
from recollect.progress import MAX_RECEIVES, UNENDED, Task, retry_after_s
from recollect.transcript_store import IngestionJob

from tests.support.builders import asking, to_store
from tests.support.desk import DAILY_TOKENS, Desk, LiteralExtractor, picture
from tests.support.faults import Dying, Killed, When, deaths

SAID = (
    "My sister Lena lives in Porto",
    "Porto is lovely in spring, enjoy the visit!",
    "I work as a nurse on night shifts",
)
FACTS = [f"fact: {SAID[0]}", f"fact: {SAID[2]}"]
WEATHER = Unavailable("could not ask: the service is busy; retry later")
BAD_REPLY = ExtractionFailed("the model's reply was cut off at its limit of tokens", tokens={"input": 70, "output": 5})


def done(desk: Desk, job: IngestionJob, receive_count: int = 1) -> Any:
    """Let a process do a job, with all the time it wants."""
    return desk.worker().run(job, desk.later(), receive_count)


def drain(desk: Desk) -> None:
    """Do all jobs of the queue until there are none."""
    while jobs := desk.queue.take():
        for job in jobs:
            done(desk, job)


def status(desk: Desk) -> tuple[TranscriptStatus, str | None]:
    found = desk.transcript()
    assert found is not None
    return found.status, found.failure


# --- what is made


def test_turns_and_facts_become_memories_that_cite_their_messages() -> None:
    desk = Desk()

    left = done(desk, desk.hand_over(*SAID))

    assert left == desk.transcript()
    assert (left.status, left.turns_to, left.facts_to, left.tries) == (TranscriptStatus.DONE, 3, 3, 0)
    assert sorted(desk.contents()) == sorted([*FACTS, *SAID])
    for memory in desk.stored():
        (source,) = memory.sources
        assert source.transcript_id == left.transcript_id
        assert memory.content.removeprefix("fact: ") == SAID[source.first]
        assert (memory.session_id, memory.occurred_at_ms) == ("s-1", 1_700_000_000_000 + source.first)


@pytest.mark.parametrize(
    ("extract", "contents"),
    [(Extract.TURNS, [*SAID]), (Extract.FACTS, FACTS), (Extract.NONE, []), (Extract.BOTH, [*FACTS, *SAID])],
)
def test_only_what_was_asked_for_is_made(extract: Extract, contents: list[str]) -> None:
    desk = Desk()

    left = done(desk, desk.hand_over(*SAID, extract=extract))

    assert sorted(desk.contents()) == sorted(contents)
    assert (left.status, left.turns_to, left.facts_to) == (TranscriptStatus.DONE, 3, 3)


def test_each_part_has_the_extractor_that_it_names() -> None:
    desk = Desk(LiteralExtractor("rules"), LiteralExtractor("bedrock", tokens=10))
    desk.hand_over(*SAID[:2])
    job = desk.hand_over(*SAID[2:], extractor="bedrock")

    done(desk, job)

    assert [[each.first for each in extractor.passages] for extractor in desk.extractors] == [[0], [2]]


def test_a_second_run_changes_nothing() -> None:
    desk = Desk()
    job = desk.hand_over(*SAID)
    done(desk, job)
    before = (picture(desk), desk.memories.read_log("ana", 0))

    done(desk, job)

    assert (picture(desk), desk.memories.read_log("ana", 0)) == before


def test_what_comes_later_is_understood_with_what_was_said_before() -> None:
    desk = Desk()
    said = [f"I have been to country number {number} this year" for number in range(12)]
    done(desk, desk.hand_over(*said))

    done(desk, desk.hand_over("I liked that one best"))

    passage = desk.extractors[0].passages[-1]
    assert passage.first == 12
    assert [message.index for message in passage.messages] == list(range(12 - EXTRACTION_CONTEXT_COUNT, 13))
    assert "fact: I liked that one best" in desk.contents()


def test_messages_that_come_while_it_works_are_worked_on_as_well() -> None:
    desk = Desk()
    job = desk.hand_over(*SAID[:2])
    desk.ports.interrupt("get_many", "after", lambda: desk.hand_over(*SAID[2:]))

    left = done(desk, job)

    assert (left.status, left.message_count, left.facts_to) == (TranscriptStatus.DONE, 3, 3)
    assert sorted(desk.contents()) == sorted([*FACTS, *SAID])


def test_a_memory_that_nobody_could_store_does_not_sink_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk()
    job = desk.hand_over(SAID[0], "ok", "y" * (CONTENT_MAX_CHARS + 1), "ok", SAID[2], extract=Extract.FACTS)

    left = done(desk, job)

    assert desk.contents() == [FACTS[0], FACTS[1]]
    assert left.status is TranscriptStatus.DONE


# --- time


def test_when_the_time_is_over_the_rest_is_queued_and_goes_on_from_there() -> None:
    desk = Desk()
    said = [f"I have been to country number {number} this year" for number in range(3 * PASSAGE_MAX_COUNT)]
    job = desk.hand_over(*said)
    desk.extractors[0].meanwhile = lambda: setattr(desk.clock, "now_ms", desk.clock.now_ms + 1_000)

    left = desk.worker().run(job, desk.later(1_500))

    assert left is not None
    assert (left.status, left.turns_to, left.facts_to) == (TranscriptStatus.QUEUED, 120, 80)
    assert desk.queue.sent == [(job, 0)]
    drain(desk)
    assert status(desk) == (TranscriptStatus.DONE, None)
    assert [passage.first for passage in desk.extractors[0].passages] == [0, 40, 80]


def test_without_any_time_the_job_is_queued_again_and_nothing_is_done() -> None:
    desk = Desk()
    job = desk.hand_over(*SAID)

    desk.worker().run(job, desk.later(0))

    assert desk.contents() == []
    assert desk.queue.take() == [job]


def test_a_caller_that_waits_makes_turns_at_once_and_leaves_models_to_the_worker() -> None:
    desk = Desk(LiteralExtractor("rules"), LiteralExtractor("bedrock", tokens=10))
    desk.hand_over(*SAID[:2])
    job = desk.hand_over(*SAID[2:], extractor="bedrock")

    only_turns = desk.worker().advance(job, desk.later(), tasks=[Task.TURNS])
    assert only_turns is not None
    assert (only_turns.turns_to, only_turns.facts_to, only_turns.status) == (3, 0, TranscriptStatus.QUEUED)

    by_rules = desk.worker().advance(job, desk.later(), is_brief=True)
    assert by_rules is not None
    assert (by_rules.facts_to, by_rules.status) == (2, TranscriptStatus.QUEUED)
    assert desk.queue.sent == []


def test_a_message_of_great_length_is_left_to_the_worker() -> None:
    desk = Desk()
    job = desk.hand_over(SAID[0], "The user likes tea. " * 2_500, SAID[1])

    left = desk.worker().advance(job, desk.later(), is_brief=True)
    assert left is not None
    assert (left.turns_to, left.facts_to, left.status) == (1, 0, TranscriptStatus.QUEUED)

    assert done(desk, job).turns_to == 3


# --- failures


def test_what_does_not_answer_is_asked_again_after_waits_that_grow() -> None:
    desk = Desk()
    desk.extractors[0].errors = [WEATHER, WEATHER, WEATHER]

    left = done(desk, desk.hand_over(*SAID))

    assert left.status is TranscriptStatus.DONE
    assert len(desk.waits_s) == 3
    assert desk.waits_s == sorted(set(desk.waits_s))


def test_what_does_not_answer_for_long_fails_three_times_and_then_says_so_and_can_be_tried_again() -> None:
    desk = Desk()
    job = desk.hand_over(*SAID)
    desk.extractors[0].errors = [WEATHER for _ in range(PATIENT_ATTEMPTS * MAX_RECEIVES)]

    for receive_count in range(1, MAX_RECEIVES + 1):
        assert status(desk)[0] is TranscriptStatus.QUEUED
        with pytest.raises(Unavailable):
            done(desk, job, receive_count)

    assert status(desk) == (TranscriptStatus.FAILED, WEATHER.message)
    assert sorted(desk.contents()) == sorted(SAID)
    redriven(desk)
    assert done(desk, job).status is TranscriptStatus.DONE
    assert sorted(desk.contents()) == sorted([*FACTS, *SAID])


def redriven(desk: Desk) -> None:
    """Tell a transcript to be tried again, as a request does."""
    seen = desk.transcript()
    assert seen is not None
    changed = replace(seen, status=TranscriptStatus.QUEUED, tries=0, failure=None)
    desk.transcripts.save("ana", desk.memories.read_head("ana").epoch, changed, seen)


def test_a_reply_that_cannot_be_used_fails_at_once_and_is_not_asked_for_again_until_it_is_redriven() -> None:
    desk = Desk(LiteralExtractor("bedrock", tokens=100))
    job = desk.hand_over(*SAID)
    desk.extractors[0].errors = [BAD_REPLY]

    for receive_count in range(1, MAX_RECEIVES + 1):
        with pytest.raises(ExtractionFailed, match="cut off"):
            done(desk, job, receive_count)

    assert status(desk) == (TranscriptStatus.FAILED, BAD_REPLY.message)
    assert len(desk.extractors[0].passages) == 1
    assert sorted(desk.contents()) == sorted(SAID)  # the turns are there all the same
    redriven(desk)
    assert done(desk, job).status is TranscriptStatus.DONE


def test_a_second_job_of_a_transcript_that_has_failed_is_no_failure_of_its_own() -> None:
    desk = Desk()
    job = desk.hand_over(*SAID)
    desk.extractors[0].errors = [BAD_REPLY]
    with pytest.raises(ExtractionFailed):
        done(desk, job)

    left = done(desk, job, receive_count=1)

    assert left.status is TranscriptStatus.FAILED
    assert desk.queue.sent == []


def test_an_extractor_that_is_not_there_any_more_is_told() -> None:
    desk = Desk()
    job = desk.hand_over(*SAID, extractor="bedrock")

    with pytest.raises(ExtractionFailed):
        done(desk, job)

    assert status(desk) == (TranscriptStatus.FAILED, "this deployment has no extractor bedrock")


def test_messages_that_are_not_there_are_told_and_the_others_go_on() -> None:
    desk = Desk()
    job = desk.hand_over(*SAID)
    other = desk.hand_over(*SAID, session_id="s-2")
    (part,) = desk.transcripts.parts("ana", job.transcript_id)
    desk.objects.delete([keys.part_object("ana", job.epoch, job.transcript_id, part.part_id)])

    with pytest.raises(CorruptData):
        done(desk, job)

    assert status(desk) == (TranscriptStatus.FAILED, "the messages of a part are not there")
    assert done(desk, other).status is TranscriptStatus.DONE


def test_what_went_wrong_unforeseen_is_told_without_its_words() -> None:
    desk = Desk()
    job = desk.hand_over(*SAID)
    desk.extractors[0].errors = [KeyError("My sister Lena")]

    with pytest.raises(KeyError):
        done(desk, job)

    assert status(desk) == (TranscriptStatus.QUEUED, "something unforeseen went wrong")


def test_a_transcript_that_ends_the_process_again_and_again_is_given_up_without_a_third_time() -> None:
    desk = Desk()
    job = desk.hand_over(*SAID)
    innocent = desk.hand_over(*SAID, session_id="s-2")

    def killed() -> None:
        raise Killed

    desk.extractors[0].meanwhile = killed
    for receive_count in (1, 2):
        with pytest.raises(Killed):
            done(desk, job, receive_count)
    asked = len(desk.extractors[0].passages)

    with pytest.raises(ExtractionFailed):
        done(desk, job, receive_count=3)

    assert len(desk.extractors[0].passages) == asked
    assert status(desk) == (TranscriptStatus.FAILED, UNENDED)
    desk.extractors[0].meanwhile = lambda: None
    assert done(desk, innocent, receive_count=3).status is TranscriptStatus.DONE


@pytest.mark.parametrize(
    ("error", "receive_count", "least", "most"),
    [
        (WEATHER, 1, 7, 15),
        (WEATHER, 2, 60, 120),
        (KeyError(), 1, 7, 15),
        (BAD_REPLY, 1, 0, 0),
        (CorruptData("x"), 2, 0, 0),
    ],
)
def test_the_queue_waits_longer_each_time_but_not_for_what_is_hopeless(
    error: Exception, receive_count: int, least: int, most: int
) -> None:
    waits = [retry_after_s(error, receive_count, random) for random in (0.0, 0.999)]

    assert waits[0] >= least
    assert waits[1] <= most
    assert (waits[0] < waits[1]) == (most > 0)


# --- budget


def test_tokens_are_counted_by_user_and_day_also_those_of_replies_that_were_no_good() -> None:
    desk = Desk(LiteralExtractor("bedrock", tokens=100))
    desk.extractors[0].errors = [BAD_REPLY]
    job = desk.hand_over(*SAID)

    with pytest.raises(ExtractionFailed):
        done(desk, job)
    redriven(desk)
    done(desk, job)

    assert desk.spent() == 75 + 100
    assert desk.spent("bob") == 0


def test_past_the_budget_facts_wait_and_say_why_but_turns_do_not() -> None:
    desk = Desk(LiteralExtractor("bedrock", tokens=DAILY_TOKENS))
    done(desk, desk.hand_over(*SAID[:2]))

    left = done(desk, desk.hand_over(*SAID[2:]))

    assert left.status is TranscriptStatus.DEFERRED
    assert "budget of 1,000 tokens for this user on 2023-11-14 (UTC) is used up" in (left.failure or "")
    assert (left.turns_to, left.facts_to) == (3, 2)
    assert len(desk.extractors[0].passages) == 1
    assert desk.queue.sent == []
    assert SAID[2] in desk.contents()


def test_on_the_next_day_what_waited_goes_on() -> None:
    desk = Desk(LiteralExtractor("bedrock", tokens=DAILY_TOKENS))
    job = desk.hand_over(*SAID[:2])
    done(desk, job)
    done(desk, desk.hand_over(*SAID[2:]))

    desk.clock.now_ms += 24 * 3_600_000
    left = done(desk, job)

    assert (left.status, left.failure, left.facts_to) == (TranscriptStatus.DONE, None, 3)


def test_the_budget_of_one_user_is_not_that_of_another() -> None:
    desk = Desk(LiteralExtractor("bedrock", tokens=DAILY_TOKENS))
    done(desk, desk.hand_over(*SAID))

    left = done(desk, desk.hand_over(*SAID, user_id="bob"))

    assert left.status is TranscriptStatus.DONE


def test_of_two_workers_that_ask_a_model_the_same_one_goes_on_alone() -> None:
    desk = Desk(LiteralExtractor("bedrock", tokens=100))
    extractor = desk.extractors[0]
    said = [f"I have been to country number {number} this year" for number in range(3 * PASSAGE_MAX_COUNT)]
    job = desk.hand_over(*said)

    def other() -> None:
        extractor.meanwhile = lambda: None
        done(desk, job)

    extractor.meanwhile = other
    left = done(desk, job)

    assert [passage.first for passage in extractor.passages] == [0, 0, 40, 80]
    assert left.status is TranscriptStatus.DONE
    assert desk.queue.sent == []


def test_a_worker_that_is_overtaken_leaves_without_queueing_the_job_again() -> None:
    desk = Desk(LiteralExtractor("bedrock", tokens=100))
    extractor = desk.extractors[0]
    said = [f"I have been to country number {number} this year" for number in range(3 * PASSAGE_MAX_COUNT)]
    job = desk.hand_over(*said)

    def other() -> None:
        def die() -> None:
            raise Killed

        extractor.meanwhile = lambda: None if len(extractor.passages) < 3 else die()
        with pytest.raises(Killed):
            done(desk, job)
        extractor.meanwhile = lambda: None

    extractor.meanwhile = other
    left = done(desk, job)

    assert (left.status, left.facts_to) == (TranscriptStatus.QUEUED, 40)
    assert desk.queue.sent == []
    assert done(desk, job, receive_count=2).status is TranscriptStatus.DONE  # the message of the one that died


def test_rules_have_no_budget() -> None:
    desk = Desk(LiteralExtractor("rules"), LiteralExtractor("bedrock", tokens=DAILY_TOKENS))
    done(desk, desk.hand_over(*SAID[:2], extractor="bedrock"))

    left = done(desk, desk.hand_over(*SAID[2:], extractor="rules"))

    assert left.status is TranscriptStatus.DONE


# --- deaths, races and erasures, before and after each call


def fresh() -> tuple[Desk, IngestionJob]:
    desk = Desk(LiteralExtractor("bedrock", tokens=100))
    return desk, desk.hand_over(*SAID)


def every_moment() -> list[tuple[int, When]]:
    desk, job = fresh()
    return deaths(lambda _: done(desk, job), desk.ports)


def expected() -> Any:
    desk, job = fresh()
    done(desk, job)
    return picture(desk)


def unrevised(of: Any) -> Any:
    """Leave out of a picture how often the transcript was changed, and when."""
    memories, transcript = of
    return memories, replace(transcript, revision=0, updated_at_ms=0)


@pytest.mark.parametrize(("at", "when"), every_moment())
def test_a_death_anywhere_and_a_second_run_are_one_run(at: int, when: When) -> None:
    desk, job = fresh()
    desk.ports.die(at, when)
    with pytest.raises(Killed):
        done(desk, job)

    done(desk, job, receive_count=2)

    assert unrevised(picture(desk)) == unrevised(expected())


@pytest.mark.parametrize(("at", "when"), every_moment())
def test_another_worker_in_the_middle_does_no_harm(at: int, when: When) -> None:
    desk, job = fresh()
    desk.ports.interrupt(at, when, lambda: done(desk, job))

    done(desk, job)

    assert unrevised(picture(desk)) == unrevised(expected())


@pytest.mark.parametrize(("at", "when"), every_moment())
def test_weather_anywhere_is_waited_out_or_tried_again(at: int, when: When) -> None:
    def refuse() -> None:
        raise Unavailable("no answer")

    desk, job = fresh()
    desk.ports.interrupt(at, when, refuse)
    try:
        done(desk, job)
    except Unavailable:
        done(desk, job, receive_count=2)

    assert unrevised(picture(desk)) == unrevised(expected())


@pytest.mark.parametrize(("at", "when"), every_moment())
def test_of_a_user_who_is_erased_in_the_middle_nothing_is_kept(at: int, when: When) -> None:
    desk, job = fresh()
    desk.ports.interrupt(at, when, desk.erase)

    done(desk, job)

    assert desk.kept() == []
    assert desk.memories.read_head("ana").epoch == ""
    assert desk.queue.sent == []


@pytest.mark.parametrize(("at", "when"), every_moment())
def test_the_next_life_of_a_user_has_nothing_of_the_one_before(at: int, when: When) -> None:
    def next_life() -> None:
        desk.erase()
        desk.controller().store(asking(), [to_store("I am new here")])

    desk, job = fresh()
    desk.ports.interrupt(at, when, next_life)

    done(desk, job)

    assert desk.contents() == ["I am new here"]
    assert desk.spent() == 0
    assert desk.transcript() is None


def closed(desk: Desk, job: IngestionJob) -> None:
    """Begin to delete a transcript, as a request does."""
    seen = desk.transcript()
    assert seen is not None
    desk.transcripts.save("ana", job.epoch, replace(seen, status=TranscriptStatus.DELETING), seen)


def removed(desk: Desk, job: IngestionJob) -> None:
    """Delete a transcript whole."""
    closed(desk, job)
    request = replace(asking(), epoch=job.epoch)
    desk.controller().forget_transcript(request, job.transcript_id, cascade=True, deadline_ms=desk.later())
    prefix = keys.transcript_objects("ana", job.epoch, job.transcript_id)
    desk.objects.delete([one.key for one in desk.objects.list_objects(prefix)])
    seen = desk.transcript()
    assert seen is not None
    desk.transcripts.drop("ana", job.epoch, seen)


@pytest.mark.parametrize(("at", "when"), every_moment())
def test_of_a_transcript_that_is_deleted_in_the_middle_no_memory_is_left(at: int, when: When) -> None:
    desk, job = fresh()
    desk.controller().store(asking(), [to_store("I am not of any transcript")])
    desk.ports.interrupt(at, when, lambda: removed(desk, job))

    done(desk, job)
    drain(desk)

    assert desk.contents() == ["I am not of any transcript"]
    assert desk.transcript() is None


@pytest.mark.parametrize(("at", "when"), every_moment())
def test_while_a_transcript_is_being_deleted_what_came_too_late_is_looked_after_later(at: int, when: When) -> None:
    desk, job = fresh()
    desk.ports.interrupt(at, when, lambda: closed(desk, job))

    done(desk, job)
    before = desk.contents()

    seen = desk.transcript()
    assert seen is not None
    if seen.status is TranscriptStatus.DELETING and before:  # at the very end it is done before
        assert seen.facts_to == 3 or desk.queue.sent == [(job, ingesting.LOOK_AGAIN_S)]
    done(desk, job)
    assert desk.contents() == before


def test_objects_that_go_with_their_transcript_are_no_failure() -> None:
    desk = Desk()
    job = desk.hand_over(*SAID)

    def goes() -> None:
        closed(desk, job)
        desk.objects.delete([one.key for one in desk.objects.list_objects(keys.objects_of("ana"))])

    desk.ports.interrupt("get_many", "before", goes)

    assert done(desk, job) is None

    assert status(desk) == (TranscriptStatus.DELETING, None)


def test_a_job_of_an_earlier_life_creates_nothing() -> None:
    desk = Desk()
    job = desk.hand_over(*SAID)
    desk.erase()
    assert done(desk, job) is None
    assert desk.kept() == []

    again = desk.hand_over("I am new here")
    assert done(desk, replace(job, transcript_id=again.transcript_id)) is None

    assert desk.contents() == []
    assert desk.queue.sent == []


def test_while_an_erasure_goes_on_a_job_creates_nothing() -> None:
    desk = Desk()
    job = desk.hand_over(*SAID)
    seen = desk.memories.read_head("ana")
    desk.memories.begin_erasure("ana", replace(seen, epoch="01HZ", erasing_since_ms=1), seen)

    assert done(desk, job) is None

    assert desk.contents() == []


def test_no_call_is_made_for_what_is_over() -> None:
    desk = Desk()
    job = desk.hand_over(*SAID)
    done(desk, job)
    desk.ports.die(0, "before")

    done(desk, job)

    assert desk.ports.calls == ["read_head", "transcript"]
    assert isinstance(desk.ports, Dying)


def test_what_models_find_is_compared_with_what_is_close() -> None:
    desk = Desk()
    desk.controller().store(asking(), [to_store("Lena is a sister", type=MemoryType.SEMANTIC)])
    found: list[str] = []
    extractor = desk.extractors[0]
    extract = extractor.extract

    def looking(passage: Any, recall: Any) -> Any:
        found.extend(memory.content for memory in recall("which sister is Lena?"))
        return extract(passage, recall)

    extractor.extract = looking  # type: ignore[method-assign]
    done(desk, desk.hand_over(*SAID, extract=Extract.FACTS))

    assert "Lena is a sister" in found
