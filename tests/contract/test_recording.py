"""Adding messages to transcripts, as whole recorders do it on every store."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from recollect import commit, keys
from recollect.commit import Surroundings
from recollect.conversation import TRANSCRIPT_MAX_COUNT, Extract, Format, Part, Transcript, TranscriptStatus
from recollect.errors import Conflict, CorruptData, InvalidInput, Unavailable
from recollect.formats.reading import messages_of, read_bytes, read_list
from recollect.handover import Given, Whose, metadata_of, read_metadata
from recollect.object_store import ObjectStore
from recollect.ports import MemoryStore
from recollect.recording import Recorder
from recollect.transcript_store import TranscriptStore

from tests.contract.conftest import Make
from tests.support.builders import NOW_MS, controller, surroundings
from tests.support.inmemory import InMemoryMemoryStore, InMemoryObjectStore
from tests.support.inmemory_transcripts import InMemoryTranscriptStore

WHOSE = Whose(session_id="s-1", agent_id="robot")


class Stores:
    """All stores, and recorders on them."""

    def __init__(self, memories: MemoryStore, transcripts: TranscriptStore, objects: ObjectStore) -> None:
        self.memories, self.transcripts, self.objects = memories, transcripts, objects
        self._number = 0

    def recorder(self, around: Surroundings | None = None) -> Recorder:
        self._number += 1
        around = around or surroundings(prefix=f"01H{self._number:02d}")
        return Recorder(self.memories, self.transcripts, self.objects, around)

    def texts(self, transcript: Transcript, user_id: str = "ana") -> list[str]:
        """Read all messages, in order."""
        found: list[str] = []
        for part in self.transcripts.parts(user_id, transcript.transcript_id):
            assert part.first == len(found)
            key = self.place(transcript, part, user_id)
            found += [message.text for message in messages_of(part, self.objects.get(key))]
        return found

    def place(self, transcript: Transcript, part: Part, user_id: str = "ana") -> str:
        epoch = self.memories.read_head(user_id).epoch
        return keys.part_object(user_id, epoch, transcript.transcript_id, part.part_id, is_upload=part.is_upload)

    def object_count(self) -> int:
        return len(self.objects.list_objects(keys.objects_of("ana")))


@pytest.fixture(params=["inmemory", "aws"])
def stores(request: pytest.FixtureRequest, make: Make) -> Stores:
    is_aws = request.param == "aws"
    return Stores(*make.both("dynamodb" if is_aws else "inmemory"), make.objects("s3" if is_aws else "inmemory"))


def given(*texts: str, **values: Any) -> Given:
    made = Given(
        sent=read_list([{"role": "user", "content": text} for text in texts or ("x",)]),
        data=b"",
        format=Format.JSONL,
        occurred_at_ms=NOW_MS,
        extract=Extract.BOTH,
        extractor="rules",
    )
    return replace(made, **values)


def test_messages_are_kept_with_what_is_to_become_of_them(stores: Stores) -> None:
    recorded = stores.recorder().record("ana", WHOSE, given("a", "b"))

    transcript, part = recorded.transcript, recorded.part
    assert part is not None
    assert stores.transcripts.transcript("ana", transcript.transcript_id) == transcript
    assert stores.transcripts.parts("ana", transcript.transcript_id) == [part]
    assert (transcript.message_count, transcript.size, transcript.status) == (2, part.size, TranscriptStatus.QUEUED)
    assert (transcript.session_id, transcript.agent_id, transcript.occurred_at_ms) == ("s-1", "robot", NOW_MS)
    assert (part.extract, part.extractor, part.occurred_at_ms) == (Extract.BOTH, "rules", NOW_MS)
    assert stores.objects.get(stores.place(transcript, part)) == (
        b'{"role":"user","content":"a"}\n{"role":"user","content":"b"}\n'
    )


def test_what_is_sent_again_changes_nothing(stores: Stores) -> None:
    first = stores.recorder().record("ana", WHOSE, given("a", "b"))

    again = stores.recorder().record("ana", WHOSE, given("a", "b"))

    assert (again.transcript, again.part) == (first.transcript, None)
    assert stores.object_count() == 1


@pytest.mark.parametrize(
    ("extract", "to", "status"),
    [
        (Extract.NONE, (2, 2), TranscriptStatus.DONE),
        (Extract.TURNS, (0, 2), TranscriptStatus.QUEUED),
        (Extract.FACTS, (2, 0), TranscriptStatus.QUEUED),
    ],
)
def test_what_is_not_to_become_memories_is_done(
    stores: Stores, extract: Extract, to: tuple[int, int], status: TranscriptStatus
) -> None:
    transcript = stores.recorder().record("ana", WHOSE, given("a", "b", extract=extract)).transcript

    assert ((transcript.turns_to, transcript.facts_to), transcript.status) == (to, status)


def test_work_that_is_left_of_earlier_parts_stays_left(stores: Stores) -> None:
    stores.recorder().record("ana", WHOSE, given("a", "b", extract=Extract.TURNS))

    transcript = stores.recorder().record("ana", WHOSE, given("c", extract=Extract.NONE)).transcript

    assert (transcript.turns_to, transcript.facts_to, transcript.status) == (0, 3, TranscriptStatus.QUEUED)


class Interrupted:
    """A store of which a method does something else first, once."""

    def __init__(self, inner: Any, method: str, first: Callable[[], Any]) -> None:
        self._inner, self._method, self._first = inner, method, first

    def __getattr__(self, name: str) -> Any:
        if name == self._method:
            self._method = ""
            self._first()
        return getattr(self._inner, name)


@pytest.mark.parametrize("method", ["parts", "save"])
@pytest.mark.parametrize(("theirs", "mine", "all_of_it"), [("xy", "ab", "xyab"), ("ab", "ab", "ab"), ("a", "ab", "ab")])
def test_who_comes_second_leaves_out_what_is_there_and_comes_after_it(
    stores: Stores, method: str, theirs: str, mine: str, all_of_it: str
) -> None:
    stores.recorder().record("ana", WHOSE, given("begin", "again"))
    other = stores.recorder()
    interrupted = Interrupted(stores.transcripts, method, lambda: other.record("ana", WHOSE, given(*theirs)))
    late = Recorder(stores.memories, interrupted, stores.objects, surroundings(prefix="01HX"))

    transcript = late.record("ana", WHOSE, given(*mine)).transcript

    assert stores.texts(transcript) == ["begin", "again", *all_of_it]
    assert stores.object_count() == len(stores.transcripts.parts("ana", transcript.transcript_id))


def test_of_two_who_begin_a_session_both_end_in_one_transcript(stores: Stores) -> None:
    other = stores.recorder()
    interrupted = Interrupted(stores.transcripts, "save", lambda: other.record("ana", WHOSE, given("a")))
    late = Recorder(stores.memories, interrupted, stores.objects, surroundings(prefix="01HX"))

    transcript = late.record("ana", WHOSE, given("b")).transcript

    assert stores.texts(transcript) == ["a", "b"]
    assert stores.transcripts.transcripts("ana", None, 9) == [transcript]


def test_forty_writers_at_once_lose_nothing_and_mix_nothing_up() -> None:  # case E7
    memories = InMemoryMemoryStore()
    stores = Stores(memories, InMemoryTranscriptStore(memories), InMemoryObjectStore())
    recorders = [stores.recorder(replace(surroundings(prefix=f"01HA{number:02d}"))) for number in range(40)]

    def record(number: int) -> None:
        while True:
            try:
                recorders[number].record("ana", WHOSE, given(f"{number} a", f"{number} b", f"{number} c"))
            except Unavailable:
                continue
            return

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(record, range(40)))

    (transcript,) = stores.transcripts.transcripts("ana", None, 9)
    texts = stores.texts(transcript)
    assert len(texts) == len(set(texts)) == 120
    assert all(
        texts[place : place + 3] == [f"{texts[place].split()[0]} {one}" for one in "abc"] for place in range(0, 120, 3)
    )
    assert stores.object_count() == 40


def test_who_never_comes_first_is_told_and_leaves_nothing(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.recording.MAX_ATTEMPTS", 3)
    assert commit.MAX_ATTEMPTS > 3
    transcript = stores.recorder().record("ana", WHOSE, given("a", "b")).transcript
    recorder = stores.recorder()

    class Losing:
        def __getattr__(self, name: str) -> Any:
            return getattr(stores.transcripts, name)

        def save(self, *_: Any) -> Transcript:
            raise Conflict("somebody else came first")

    losing = Recorder(stores.memories, Losing(), stores.objects, surroundings(prefix="01HX"))
    with pytest.raises(Unavailable):
        losing.record("ana", WHOSE, given("c"))

    assert stores.texts(transcript) == ["a", "b"]
    assert stores.object_count() == 1
    assert recorder.record("ana", WHOSE, given("c")).transcript.message_count == 3


def test_a_user_who_was_erased_meanwhile_gets_nothing_back(stores: Stores) -> None:  # case D9
    recorder = stores.recorder()
    recorder.record("ana", WHOSE, given("a"))
    of = controller(stores.memories, objects=stores.objects, prefix="01HE")
    erasing = Interrupted(stores.transcripts, "save", lambda: of.erase("ana"))
    late = Recorder(stores.memories, erasing, stores.objects, surroundings(prefix="01HX"))

    with pytest.raises(Conflict, match="erased"):
        late.record("ana", WHOSE, given("b"))

    assert stores.memories.items("ana", 9) == []
    assert stores.object_count() == 0


def test_a_transcript_has_an_end(stores: Stores) -> None:
    recorded = stores.recorder().record("ana", WHOSE, given("a"))
    full = replace(recorded.transcript, message_count=TRANSCRIPT_MAX_COUNT)
    stores.transcripts.save("ana", recorded.epoch, full, recorded.transcript)

    with pytest.raises(InvalidInput):
        stores.recorder().record("ana", WHOSE, given("b"))

    assert stores.object_count() == 1


@pytest.mark.parametrize(
    ("sent", "skipped", "count"),
    [("User: a\nUser: b\nUser: c", 2, 1), ("User: x\nUser: b", 0, 2), ("Human: b", None, 0)],
)
def test_a_document_stays_whole_and_only_its_end_is_new(
    stores: Stores, sent: str, skipped: int | None, count: int
) -> None:
    stores.recorder().record("ana", WHOSE, given("a", "b"))
    data = sent.encode()

    recorded = stores.recorder().record(
        "ana", WHOSE, given(sent=read_bytes(data, Format.TEXT), data=data, format=Format.TEXT)
    )

    assert (recorded.part and recorded.part.skipped) == skipped
    assert len(stores.texts(recorded.transcript)) == 2 + count
    if recorded.part is not None:
        assert stores.objects.get(stores.place(recorded.transcript, recorded.part)) == data


def test_an_upload_tells_whose_it_is_and_what() -> None:
    upload = given(sent=read_list([{"role": "user"}]), format=Format.TEXT, occurred_at_ms=-7, extract=Extract.NONE)

    user_id, read = read_metadata(metadata_of("用户/7 \ud800", upload))

    assert user_id == "用户/7 \ud800"
    assert (read.format, read.occurred_at_ms, read.extract, read.extractor) == (Format.TEXT, -7, Extract.NONE, "rules")
    assert all(value.isascii() for value in metadata_of("用户/7 \ud800", upload).values())


BROKEN: Sequence[dict[str, str]] = [
    {},
    {"user": "YQ=="},
    {**metadata_of("ana", given("a")), "format": "pdf"},
    {**metadata_of("ana", given("a")), "occurred-at": "x"},
    {**metadata_of("ana", given("a")), "user": "%"},
]


@pytest.mark.parametrize("metadata", BROKEN)
def test_an_upload_that_does_not_tell_is_corrupt(metadata: dict[str, str]) -> None:
    with pytest.raises(CorruptData):
        read_metadata(metadata)
