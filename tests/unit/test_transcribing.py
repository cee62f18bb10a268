"""What requests about transcripts do beside the ingestion, and when things go wrong in between."""

from collections.abc import Callable
from typing import Any

import pytest
from recollect import erasure
from recollect.commit import Request
from recollect.conversation import Extract, Format, TranscriptStatus
from recollect.errors import Conflict, ExtractionFailed, NotFound, Unavailable
from recollect.formats.reading import read_list
from recollect.handover import Given, Whose
from recollect.transcribing import SAFETY_NET_S, TranscriptController

from tests.support.builders import NOW_MS
from tests.support.desk import Desk, LiteralExtractor
from tests.support.faults import Killed, deaths
from tests.support.transcribers import transcriber

TALK = ("I like tea", "Noted", "I like cake")


def serving(desk: Desk, ports: Any = None) -> TranscriptController:
    """Make an instance of the API, on ports that may die."""
    extractors = {each.name: each for each in desk.extractors}
    of = desk.controller()
    return transcriber(of, desk.memories, ports or desk.objects, ports or desk.queue, desk.around, extractors)


def given(*texts: str, extract: Extract = Extract.BOTH) -> Given:
    values = [{"role": "user", "content": text} for text in texts]
    return Given(
        sent=read_list(values),
        data=b"",
        format=Format.JSONL,
        occurred_at_ms=NOW_MS,
        extract=extract,
        extractor="",
    )


WHOSE = Whose(session_id="s-1", agent_id=None)
DELETE = Request("ana", "ana")


def test_a_job_that_would_do_all_is_queued_before_any_work_is_done() -> None:
    desk = Desk()

    posted = serving(desk).post("ana", WHOSE, given(*TALK))

    assert [delay_s for _, delay_s in desk.queue.sent] == [SAFETY_NET_S, 0]
    assert (posted.new_count, posted.is_settled, posted.transcript.turns_to) == (3, False, 3)


@pytest.mark.parametrize("error", [Unavailable("down"), ExtractionFailed("no")])
def test_work_that_fails_in_a_request_is_left_to_the_worker(error: Exception) -> None:
    desk = Desk()
    desk.extractors[0].errors.append(error)

    posted = serving(desk).post("ana", WHOSE, given(*TALK), wait_s=1)

    assert posted.transcript.message_count == 3
    for job in desk.queue.take():
        desk.worker().run(job, desk.later())
    assert "fact: I like tea" in desk.contents()


def test_who_waits_for_a_model_waits_until_the_worker_has_asked_it() -> None:
    desk = Desk(LiteralExtractor("bedrock", tokens=10))
    of = serving(desk)
    waits = desk.waits_s

    posted = of.post("ana", WHOSE, given("I like tea"), wait_s=3)

    assert (len(waits), posted.is_settled, desk.contents()) == (3, False, ["I like tea"])
    for job in desk.queue.take():
        desk.worker().run(job, desk.later())
    assert of.get("ana", posted.transcript.transcript_id).transcript.status is TranscriptStatus.DONE


def test_a_request_that_died_anywhere_can_be_sent_again() -> None:
    def rehearse(desk: Desk) -> None:
        serving(desk, desk.ports).post("ana", WHOSE, given(*TALK))

    def work(desk: Desk) -> None:
        for job in desk.queue.take():
            desk.worker().run(job, desk.later())

    first = Desk()
    moments = deaths(lambda _: rehearse(first), first.ports)
    work(first)
    assert len(moments) >= 6
    for at, when in moments:
        desk = Desk()
        desk.ports.die(at=at, when=when)
        with pytest.raises(Killed):
            rehearse(desk)
        posted = serving(desk).post("ana", WHOSE, given(*TALK))
        work(desk)
        assert posted.transcript.message_count == 3
        assert desk.contents() == first.contents()


def test_what_a_worker_stores_while_a_transcript_is_deleted_goes_with_it() -> None:  # case D7
    desk = Desk()
    job = desk.hand_over(*TALK)
    of = serving(desk)
    desk.extractors[0].meanwhile = deleting(of, job.transcript_id)

    assert desk.worker().run(job, desk.later()) is None

    assert desk.contents() == []
    assert desk.transcript() is None
    assert not [key for _, key in desk.memories.others if not key.startswith("TOK#")]


def deleting(of: TranscriptController, transcript_id: str) -> Callable[[], Any]:
    return lambda: of.delete(DELETE, transcript_id, cascade=True, purge=False)


def test_a_job_that_is_left_of_a_deleted_transcript_does_nothing() -> None:
    desk = Desk()
    job = desk.hand_over(*TALK)
    serving(desk).delete(DELETE, job.transcript_id, cascade=True, purge=False)

    assert desk.worker().run(job, desk.later()) is None

    assert desk.contents() == []


def test_a_deletion_that_died_anywhere_goes_on_when_it_is_sent_again() -> None:
    def rehearse(desk: Desk, transcript_id: str) -> None:
        serving(desk, desk.ports).delete(DELETE, transcript_id, cascade=True, purge=False)

    first = Desk()
    job = first.hand_over(*TALK)
    moments = deaths(lambda _: rehearse(first, job.transcript_id), first.ports)
    assert len(moments) >= 4
    for at, when in moments:
        desk = Desk()
        job = desk.hand_over(*TALK)
        desk.worker().run(job, desk.later())
        desk.ports.die(at=at, when=when)
        with pytest.raises(Killed):
            rehearse(desk, job.transcript_id)
        try:
            serving(desk).delete(DELETE, job.transcript_id, cascade=True, purge=False)
        except NotFound:  # it was over
            assert when == "after"
        assert desk.contents() == []
        assert desk.objects.list_objects("") == []
        assert desk.transcript() is None


def test_a_request_in_flight_when_its_user_is_erased_brings_nothing_back() -> None:  # case D9
    desk = Desk()
    desk.hand_over("I like tea")
    put_new = desk.objects.put_new

    def erased_first(key: str, data: bytes) -> None:
        desk.objects.put_new = put_new  # type: ignore[method-assign]
        desk.erase()
        put_new(key, data)

    desk.objects.put_new = erased_first  # type: ignore[method-assign]

    with pytest.raises(Conflict, match="erased"):
        serving(desk).post("ana", WHOSE, given("I like cake"))

    assert desk.kept() == []


def test_nothing_is_told_of_a_user_who_is_being_erased() -> None:
    desk = Desk()
    job = desk.hand_over(*TALK)
    of = serving(desk)
    seen = desk.memories.read_head("ana")
    desk.memories.begin_erasure("ana", erasure.erasing_head(seen, "01HE0000000000000000000009", NOW_MS), seen)

    assert of.list_transcripts("ana", 9).transcripts == ()
    for call in (of.get, of.content, of.redrive):
        with pytest.raises(NotFound):
            call("ana", job.transcript_id)
    with pytest.raises(NotFound):
        of.delete(DELETE, job.transcript_id, cascade=True, purge=False)
