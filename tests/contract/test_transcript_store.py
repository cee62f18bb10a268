"""What every transcript store must keep to, in memory and on DynamoDB alike."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from moto.core.botocore_stubber import BotocoreStubber
from recollect import erasure, keys
from recollect.aws import clients
from recollect.aws.transcripts import DELETES_PER_TRANSACTION, DynamoDBTranscriptStore
from recollect.conversation import Extract, Format, Part, Transcript, TranscriptStatus
from recollect.errors import Conflict, Unavailable
from recollect.filters import EVERYTHING
from recollect.model import Head
from recollect.ports import MemoryStore
from recollect.transcript_store import TranscriptStore

from tests.contract.conftest import Make
from tests.support.builders import NOW_MS, asking, controller, to_store
from tests.support.table import TABLE_NAME
from tests.support.weather import CANCELLATIONS, IN_THE_WAY, THROTTLINGS, Refusal, Weather

EPOCH = "01HE0000000000000000000001"
OTHER_EPOCH = "01HE0000000000000000000002"
ID = "01HF0000000000000000000001"
FULL = Transcript(
    transcript_id=ID,
    session_id="Frühstück/7 #1",
    agent_id="agent",
    occurred_at_ms=-1,
    created_at_ms=NOW_MS,
    updated_at_ms=NOW_MS + 1,
    status=TranscriptStatus.FAILED,
    message_count=3,
    size=1_000,
    turns_to=2,
    facts_to=1,
    tries=3,
    failure="the model's reply was cut off",
)
PLAIN = replace(FULL, session_id=None, agent_id=None, failure=None, status=TranscriptStatus.QUEUED)


def part(first: int, count: int = 1, **values: Any) -> Part:
    made = Part(
        part_id=f"01HG{first:022d}",
        first=first,
        count=count,
        size=10,
        occurred_at_ms=NOW_MS,
        format=Format.JSONL,
        extract=Extract.BOTH,
        extractor="rules",
        digests=bytes([first % 256]) * 8 * count,
    )
    return replace(made, **values)


@pytest.fixture(params=["inmemory", "dynamodb"])
def stores(request: pytest.FixtureRequest, make: Make) -> tuple[MemoryStore, TranscriptStore]:
    """A memory store and a transcript store beside it, empty."""
    return make.both(request.param)


@pytest.fixture
def memories(stores: tuple[MemoryStore, TranscriptStore]) -> MemoryStore:
    return stores[0]


@pytest.fixture
def transcripts(stores: tuple[MemoryStore, TranscriptStore]) -> TranscriptStore:
    return stores[1]


def kept(store: TranscriptStore, transcript: Transcript = FULL, *parts: Part, user_id: str = "ana") -> Transcript:
    return store.save(user_id, store.open(user_id, EPOCH), transcript, None, parts)


def test_a_user_is_opened_once_and_keeps_the_epoch(transcripts: TranscriptStore, memories: MemoryStore) -> None:
    assert transcripts.open("ana", EPOCH) == EPOCH
    assert transcripts.open("ana", OTHER_EPOCH) == EPOCH
    assert transcripts.open("bob", OTHER_EPOCH) == OTHER_EPOCH
    assert memories.read_head("ana") == Head(epoch=EPOCH)


def test_a_user_with_memories_has_an_epoch_already(transcripts: TranscriptStore, memories: MemoryStore) -> None:
    of = controller(memories)
    of.store(asking(), [to_store("green tea")])
    head = memories.read_head("ana")

    assert transcripts.open("ana", EPOCH) == head.epoch != EPOCH
    assert memories.read_head("ana") == head


def test_an_opened_user_without_an_entry_is_like_a_new_one(transcripts: TranscriptStore, memories: MemoryStore) -> None:
    of, other = controller(memories), controller(memories, prefix="01HFB")
    assert other.stats("ana").total == 0

    transcripts.open("ana", EPOCH)

    for one in (of, other):
        assert one.list_memories("ana", EVERYTHING, 9).memories == ()
        assert one.stats("ana").total == 0
        assert one.events("ana", 9).entries == ()
        assert one.compact("ana", is_forced=True).folded_entries == 0
    of.store(asking(), [to_store("green tea")])
    other.store(asking(), [to_store("The office closes at six")])
    assert of.stats("ana").total == other.stats("ana").total == 2
    assert memories.read_head("ana").epoch == EPOCH
    assert of.compact("ana", is_forced=True).folded_entries == 2


def test_an_opened_user_without_an_entry_can_be_erased_and_opened_anew(
    transcripts: TranscriptStore, memories: MemoryStore
) -> None:
    of, warm = controller(memories), controller(memories, prefix="01HFB")
    transcripts.open("ana", EPOCH)
    assert warm.stats("ana").total == 0

    assert sum(of.erase("ana").counts.values()) == 0
    assert memories.read_head("ana") == Head()
    assert transcripts.open("ana", OTHER_EPOCH) == OTHER_EPOCH

    warm.store(asking(), [to_store("green tea")])
    assert warm.stats("ana").total == of.stats("ana").total == 1


@pytest.mark.parametrize("transcript", [FULL, PLAIN, replace(PLAIN, request_key="key 1")])
def test_what_is_kept_comes_back_exactly(transcripts: TranscriptStore, transcript: Transcript) -> None:
    upload = part(0, 3, format=Format.TEXT, extract=Extract.NONE, is_upload=True, skipped=7)

    saved = kept(transcripts, transcript, upload)

    assert saved == replace(transcript, revision=1)
    assert transcripts.transcript("ana", ID) == saved
    assert transcripts.parts("ana", ID) == [upload]
    if transcript.claim is not None:
        assert transcripts.transcript_claiming("ana", transcript.claim) == ID


def test_other_users_and_other_ids_have_nothing(transcripts: TranscriptStore) -> None:
    kept(transcripts, FULL, part(0))
    claim = str(FULL.claim)

    assert transcripts.transcript("ana2", ID) is None
    assert transcripts.transcript("ana", ID[:-1] + "2") is None
    assert transcripts.transcript_claiming("ana2", claim) is None
    assert transcripts.transcript_claiming("ana", claim + " ") is None
    assert transcripts.transcripts("ana2", None, 9) == []
    assert transcripts.parts("ana2", ID) == []


def test_a_session_and_a_request_of_the_same_name_are_two_claims(transcripts: TranscriptStore) -> None:
    kept(transcripts, replace(FULL, session_id="x"))

    other = kept(transcripts, replace(PLAIN, transcript_id=OTHER_EPOCH, request_key="x"))

    assert transcripts.transcript_claiming("ana", str(other.claim)) == OTHER_EPOCH


def test_a_session_has_one_transcript(transcripts: TranscriptStore) -> None:
    kept(transcripts)

    with pytest.raises(Conflict):
        kept(transcripts, replace(FULL, transcript_id=OTHER_EPOCH), part(0))

    assert transcripts.transcript("ana", OTHER_EPOCH) is None
    assert transcripts.parts("ana", OTHER_EPOCH) == []
    assert transcripts.transcript_claiming("ana", str(FULL.claim)) == ID


def test_a_change_that_was_decided_on_another_revision_is_refused_as_a_whole(transcripts: TranscriptStore) -> None:
    first = kept(transcripts)
    second = transcripts.save("ana", EPOCH, replace(first, tries=0), first)
    assert second.revision == 2

    for seen in (first, None):
        with pytest.raises(Conflict):
            transcripts.save("ana", EPOCH, replace(first, tries=9), seen, [part(7)])

    assert transcripts.transcript("ana", ID) == second
    assert transcripts.parts("ana", ID) == []


def test_of_appends_that_saw_the_same_one_is_kept_and_the_others_come_after_it(transcripts: TranscriptStore) -> None:
    kept(transcripts, replace(FULL, message_count=0))
    waiting = [f"01HG{number:022d}" for number in range(6)]

    while waiting:
        seen = transcripts.transcript("ana", ID)
        assert seen is not None
        lost = []
        for part_id in waiting:
            grown = replace(seen, message_count=seen.message_count + 1)
            try:
                transcripts.save("ana", EPOCH, grown, seen, [part(seen.message_count, part_id=part_id)])
            except Conflict:
                lost.append(part_id)
        assert len(lost) == len(waiting) - 1
        waiting = lost

    found = transcripts.parts("ana", ID)
    assert [one.first for one in found] == list(range(6))
    assert len({one.part_id for one in found}) == 6


@pytest.mark.parametrize("epoch", [OTHER_EPOCH, ""])
def test_nothing_is_kept_or_dropped_in_another_life_of_the_user(transcripts: TranscriptStore, epoch: str) -> None:
    saved = kept(transcripts, FULL, part(0))

    with pytest.raises(Conflict):
        transcripts.save("ana", epoch, saved, saved, [part(1)])
    with pytest.raises(Conflict):
        transcripts.drop("ana", epoch, saved)
    with pytest.raises(Conflict):
        transcripts.save("nobody", EPOCH, FULL, None)

    assert transcripts.transcript("ana", ID) == saved
    assert transcripts.parts("ana", ID) == [part(0)]
    assert transcripts.transcript("nobody", ID) is None


def test_nothing_is_kept_or_dropped_while_the_user_is_being_erased(
    transcripts: TranscriptStore, memories: MemoryStore
) -> None:
    saved = kept(transcripts, FULL, part(0))
    seen = memories.read_head("ana")
    memories.begin_erasure("ana", erasure.erasing_head(seen, OTHER_EPOCH, NOW_MS), seen)

    for epoch in (EPOCH, OTHER_EPOCH):
        with pytest.raises(Conflict):
            transcripts.save("ana", epoch, saved, saved, [part(1)])
        with pytest.raises(Conflict):
            transcripts.drop("ana", epoch, saved)
    with pytest.raises(Conflict):
        transcripts.open("ana", EPOCH)

    assert transcripts.parts("ana", ID) == [part(0)]


def test_erasing_a_user_counts_and_deletes_transcripts_parts_and_sessions(
    transcripts: TranscriptStore, memories: MemoryStore
) -> None:
    of = controller(memories)
    kept(transcripts, FULL, part(0), part(1))
    kept(transcripts, replace(PLAIN, transcript_id=OTHER_EPOCH), part(0))
    other = kept(transcripts, FULL, part(0), user_id="ana2")
    found = {"transcripts": 2, "transcript_parts": 3, "sessions": 1}

    assert of.count_erasable("ana").by_store["dynamodb"].items() >= found.items()
    assert of.erase("ana").by_store["dynamodb"].items() >= (found | {"other": 0}).items()

    assert memories.items("ana", 9) == []
    assert transcripts.transcripts("ana", None, 9) == []
    assert transcripts.parts("ana", ID) == []
    assert transcripts.transcript_claiming("ana", str(FULL.claim)) is None
    assert transcripts.transcript("ana2", ID) == other
    assert transcripts.parts("ana2", ID) == [part(0)]


def test_transcripts_are_listed_newest_first_page_by_page(transcripts: TranscriptStore) -> None:
    ids = [f"01HF{number:022d}" for number in range(7)]
    for transcript_id in ids:
        kept(transcripts, replace(PLAIN, transcript_id=transcript_id), part(0))

    listed: list[str] = []
    while page := transcripts.transcripts("ana", listed[-1] if listed else None, 3):
        listed += [one.transcript_id for one in page]

    assert listed == ids[::-1]
    assert [one.transcript_id for one in transcripts.transcripts("ana", ids[2], 3)] == ids[1::-1]


@pytest.mark.parametrize(
    ("from_index", "firsts"), [(0, [0, 3, 4]), (2, [0, 3, 4]), (3, [3, 4]), (4, [4]), (13, [4]), (14, [])]
)
def test_parts_are_read_from_the_one_that_holds_a_message(
    transcripts: TranscriptStore, from_index: int, firsts: list[int]
) -> None:
    kept(transcripts, FULL, part(0, 3), part(3), part(4, 10))
    kept(transcripts, replace(PLAIN, transcript_id=ID[:-1] + "2"), part(0))

    assert [one.first for one in transcripts.parts("ana", ID, from_index)] == firsts


def test_many_large_parts_are_read_and_dropped_whole(transcripts: TranscriptStore) -> None:
    saved = kept(transcripts)
    parts = [part(number * 1_500, 1_500) for number in range(DELETES_PER_TRANSACTION + 3)]
    for start in range(0, len(parts), 10):
        saved = transcripts.save("ana", EPOCH, saved, saved, parts[start : start + 10])

    assert transcripts.parts("ana", ID) == parts
    transcripts.drop("ana", EPOCH, saved)

    assert transcripts.parts("ana", ID) == []
    assert transcripts.transcript("ana", ID) is None


def test_dropping_takes_all_of_one_transcript_and_frees_its_session(transcripts: TranscriptStore) -> None:
    saved = kept(transcripts, FULL, part(0))
    other = kept(transcripts, replace(PLAIN, transcript_id=OTHER_EPOCH), part(0))

    transcripts.drop("ana", EPOCH, saved)
    again = kept(transcripts, replace(FULL, transcript_id=ID[:-1] + "2"))
    transcripts.drop("ana", EPOCH, saved)  # a repeat changes nothing

    assert transcripts.transcript("ana", ID) is None
    assert transcripts.parts("ana", ID) == []
    assert transcripts.transcript_claiming("ana", str(FULL.claim)) == again.transcript_id
    assert transcripts.transcripts("ana", None, 9) == [again, other]


def test_a_transcript_that_has_grown_meanwhile_is_not_dropped(transcripts: TranscriptStore) -> None:
    saved = kept(transcripts)
    grown = transcripts.save("ana", EPOCH, replace(saved, message_count=4), saved, [part(3)])

    with pytest.raises(Conflict):
        transcripts.drop("ana", EPOCH, saved)

    assert transcripts.transcript("ana", ID) == grown
    assert transcripts.transcript_claiming("ana", str(FULL.claim)) == ID


CALLS: dict[str, Callable[[TranscriptStore, Transcript], object]] = {
    "open": lambda store, _: store.open("bob", EPOCH),
    "transcript": lambda store, _: store.transcript("ana", ID),
    "claim": lambda store, seen: store.transcript_claiming("ana", str(seen.claim)),
    "transcripts": lambda store, _: store.transcripts("ana", None, 9),
    "parts": lambda store, _: store.parts("ana", ID),
    "save": lambda store, seen: store.save("ana", EPOCH, replace(seen, tries=0), seen, [part(3)]),
    "drop": lambda store, seen: store.drop("ana", EPOCH, seen),
}


@pytest.fixture
def in_weather(aws: None, make: Make, monkeypatch: pytest.MonkeyPatch) -> tuple[TranscriptStore, Weather]:
    monkeypatch.setattr("time.sleep", lambda _: None)  # botocore's, between attempts
    weather, emulator = Weather(), BotocoreStubber.__call__

    def refused_or_done(of: BotocoreStubber, event_name: str, request: Any, **given: Any) -> Any:
        return weather.answer(request, event_name) or emulator(of, event_name, request, **given)

    make.store("dynamodb")
    monkeypatch.setattr(BotocoreStubber, "__call__", refused_or_done)
    return DynamoDBTranscriptStore(clients.dynamodb_client(), TABLE_NAME), weather


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("refusal", THROTTLINGS)
def test_a_short_throttling_is_waited_for_and_a_long_one_is_told(
    in_weather: tuple[TranscriptStore, Weather], call: str, refusal: str
) -> None:  # case E7
    store, weather = in_weather
    saved = kept(store, FULL, part(0))

    weather.refuse(THROTTLINGS[refusal], clients.MAX_ATTEMPTS)
    with pytest.raises(Unavailable) as caught:
        CALLS[call](store, saved)
    weather.refuse(THROTTLINGS[refusal], clients.MAX_ATTEMPTS - 1)
    CALLS[call](store, saved)

    assert weather.refused == clients.MAX_ATTEMPTS - 1
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("refusal", CANCELLATIONS)
def test_a_transaction_that_was_throttled_is_sent_again(
    in_weather: tuple[TranscriptStore, Weather], refusal: str
) -> None:
    store, weather = in_weather
    saved = kept(store)

    weather.refuse(CANCELLATIONS[refusal], 2)

    assert store.save("ana", EPOCH, saved, saved).revision == 2
    assert weather.refused == 2


def test_a_commit_that_is_in_the_way_is_a_conflict(in_weather: tuple[TranscriptStore, Weather]) -> None:
    store, weather = in_weather
    saved = kept(store)

    weather.refuse(IN_THE_WAY, 1)
    with pytest.raises(Conflict):
        store.save("ana", EPOCH, saved, saved)

    assert store.save("ana", EPOCH, saved, saved).revision == 2


def test_keys_of_a_transcript_are_all_in_the_partition_of_its_user() -> None:
    kinds = {keys.kind_of(key) for key in (keys.transcript(ID), keys.part(ID, 7), keys.session("s"), keys.tokens("d"))}

    assert kinds == {"transcripts", "transcript_parts", "sessions", "token_counts"}


def test_who_opens_a_user_at_the_same_time_as_another_gets_the_same_epoch(
    in_weather: tuple[TranscriptStore, Weather],
) -> None:
    store, weather = in_weather

    weather.refuse(Refusal("com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"), 1, "PutItem")

    assert store.open("ana", EPOCH) == EPOCH
    assert weather.refused == 1
