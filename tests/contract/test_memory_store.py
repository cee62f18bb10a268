"""What every memory store must keep to, in memory and on DynamoDB alike."""

from dataclasses import replace

import boto3
import pytest
from moto import mock_aws
from recollect import keys
from recollect.aws.dynamodb import DynamoDBMemoryStore
from recollect.changes import Embedded, columns_for
from recollect.errors import Conflict, CorruptData
from recollect.model import Change, Head, Memory, MemoryType, Operation, Source, Status, Touch
from recollect.ports import MemoryStore, StoredAnswer, Version

from tests.support.builders import NOW_MS, entries_of, memory
from tests.support.embedder import HashingEmbedder
from tests.support.table import TABLE_NAME, create_table

EMBEDDER = HashingEmbedder()
HEAD = Head(seq=1, epoch="E", embedder="hashing", dimension=64)
ANSWER = StoredAnswer("k", "digest", "[]", NOW_MS // 1000, NOW_MS // 1000 + 60)
FULL = memory(
    "我对花生过敏 😀\x00",
    memory_id="A",
    type=MemoryType.EPISODIC,
    tags=("x", "y,z", "漢"),
    importance=0.123457,
    metadata_json='{"t": 0.1, "n": 100000000000000000000, "deep": {"x": [1.5, null, true, ""]}}',
    agent_id="agent",
    session_id="session",
    actor="Mia",
    occurred_at_ms=-1,
    expires_at_ms=253_402_300_799_999,
    status=Status.ARCHIVED,
    version=7,
    pinned=True,
    flags=("instruction",),
    supersedes="B",
    superseded_by="C",
    valid_until_ms=5,
    conflicts_with=("D", "E"),
    merged_content="漢",
    sources=(Source("01HF0000000000000000000001", 0, 2**32 - 1), Source("7ZZZZZZZZZZZZZZZZZZZZZZZZZ", 7, 7)),
)


def creating(of: Memory) -> Change:
    embedded = Embedded(EMBEDDER.embed([of.content])[0], EMBEDDER.name)
    return Change(
        operation=Operation.CREATE,
        memory_id=of.memory_id,
        version=of.version,
        at_ms=NOW_MS,
        reason="r",
        columns=columns_for(of, embedded),
        after=of,
    )


def commit(store: MemoryStore, *changes: Change, user_id: str = "ana", seen: Head = Head()) -> Head:  # noqa: B008
    head = replace(HEAD, seq=seen.seq + len(changes))
    store.append(user_id, head, seen, changes, "agent-7", None)
    return head


def test_a_new_user_has_no_entries_and_an_empty_head(store: MemoryStore) -> None:
    assert store.read_log("nobody", 0) == ([], Head())
    assert store.fetch("nobody", ["A"]) == {}
    assert store.stored_answer("nobody", "k") is None


def test_what_is_committed_comes_back_exactly(store: MemoryStore) -> None:  # case T3
    change = creating(FULL)

    head = commit(store, change)

    (entry,), read = entries_of(store), store.read_head("ana")
    assert read == head
    assert (entry.seq, entry.operation, entry.memory_id, entry.version) == (1, Operation.CREATE, "A", 7)
    assert (entry.at_ms, entry.by) == (NOW_MS, "agent-7")
    assert entry.columns == change.columns
    assert store.fetch("ana", ["A", "missing", "A"]) == {"A": FULL}


def test_only_entries_after_the_last_seen_one_come_with_the_head(store: MemoryStore) -> None:
    head = commit(store, *(creating(memory(str(number), memory_id=str(number))) for number in range(5)))

    entries, read = store.read_log("ana", 3)

    assert [entry.seq for entry in entries] == [4, 5]
    assert store.read_log("ana", 5) == ([], head)
    assert read == head


@pytest.mark.parametrize("seen", [Head(), replace(HEAD, seq=2), replace(HEAD, epoch="another")])
def test_a_commit_on_another_head_than_the_present_one_changes_nothing(store: MemoryStore, seen: Head) -> None:
    head = commit(store, creating(FULL))

    with pytest.raises(Conflict):
        store.append("ana", replace(head, seq=3), seen, [creating(memory("b", memory_id="B"))], "x", ANSWER)

    assert store.read_log("ana", 1) == ([], head)
    assert store.fetch("ana", ["B"]) == {}
    assert store.stored_answer("ana", "k") is None


def test_a_first_commit_on_a_head_that_was_never_there_is_a_conflict(store: MemoryStore) -> None:
    with pytest.raises(Conflict):
        commit(store, creating(FULL), seen=replace(HEAD, seq=4))


def test_an_update_replaces_and_a_delete_removes_the_memory(store: MemoryStore) -> None:
    head = commit(store, creating(FULL))
    newer = replace(FULL, content="newer", version=8)
    updating = replace(creating(newer), operation=Operation.UPDATE, before=FULL)
    head = commit(store, updating, seen=head)
    assert store.fetch("ana", ["A"]) == {"A": newer}

    deleting = replace(updating, operation=Operation.DELETE, version=9, columns=None, before=newer, after=None)
    commit(store, deleting, seen=head)

    entries = entries_of(store, after_seq=1)
    assert store.fetch("ana", ["A"]) == {}
    assert store.versions("ana", "A", None, 9) == [Version(newer), Version(FULL)]
    assert store.versions("bob", "A", None, 9) == store.versions("ana", "B", None, 9) == []
    assert [(entry.operation, entry.columns is None) for entry in entries] == [
        (Operation.UPDATE, False),
        (Operation.DELETE, True),
    ]


def test_an_answer_is_kept_with_the_commit_and_only_once(store: MemoryStore) -> None:
    store.append("ana", HEAD, Head(), [creating(FULL)], "x", ANSWER)

    assert store.stored_answer("ana", "k") == ANSWER
    assert store.stored_answer("bob", "k") is None
    with pytest.raises(Conflict):
        store.append("ana", replace(HEAD, seq=2), HEAD, [creating(memory("b", memory_id="B"))], "x", ANSWER)
    assert store.fetch("ana", ["B"]) == {}


def test_an_answer_whose_time_is_over_gives_way(store: MemoryStore) -> None:
    store.append("ana", HEAD, Head(), [creating(FULL)], "x", ANSWER)
    later = replace(ANSWER, request_digest="later", created_at_s=ANSWER.expires_at_s)

    store.append("ana", HEAD, HEAD, [], "x", later)

    assert store.stored_answer("ana", "k") == later


def test_an_answer_alone_is_conditioned_on_the_head_too(store: MemoryStore) -> None:
    commit(store, creating(FULL))

    with pytest.raises(Conflict):
        store.append("ana", Head(), Head(), [], "x", ANSWER)
    store.append("ana", HEAD, HEAD, [], "x", ANSWER)

    assert store.read_log("ana", 0)[1] == HEAD


def test_users_do_not_share_anything(store: MemoryStore) -> None:  # case I3
    names = ["bo", "bob", "bob/", "bob#1", "bob%23", "USER#bob", "用户-7"]
    for name in names:
        commit(store, creating(memory(name, memory_id="A")), user_id=name)

    for name in names:
        assert store.fetch(name, ["A"])["A"].content == name
        assert len(store.read_log(name, 0)[0]) == 1


def test_large_memories_and_many_of_them_fit(store: MemoryStore) -> None:
    changes = [creating(memory(f"{number} " + "漢字" * 7_900, memory_id=f"{number:03}")) for number in range(12)]
    commit(store, *changes)

    entries = entries_of(store)

    assert [entry.columns for entry in entries] == [change.columns for change in changes]
    assert len(store.fetch("ana", [change.memory_id for change in changes])) == 12


def test_a_log_of_many_pages_and_more_than_a_hundred_memories_come_back_whole(store: MemoryStore) -> None:
    head = Head()
    for start in range(0, 120, 40):
        changes = [creating(memory(f"{n} " + "漢字" * 500, memory_id=f"{n:03}")) for n in range(start, start + 40)]
        head = commit(store, *changes, seen=head)

    entries, read = store.read_log("ana", 0)

    assert [entry.seq for entry in entries] == list(range(1, 121))
    assert read == head
    assert len(store.fetch("ana", [f"{number:03}" for number in range(120)])) == 120


def test_an_item_of_another_form_is_corrupt_and_says_no_text() -> None:
    with mock_aws():
        client = boto3.client(
            "dynamodb", region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
        )
        create_table(client)
        item = {"pk": {"S": keys.user_partition("ana")}, "sk": {"S": "MEM#A"}, "content": {"S": "canary"}}
        client.put_item(TableName=TABLE_NAME, Item=item)

        with pytest.raises(CorruptData) as caught:
            DynamoDBMemoryStore(client, TABLE_NAME).fetch("ana", ["A"])

    assert "canary" not in str(caught.value)


def test_touches_follow_the_entry_that_they_were_made_after(store: MemoryStore) -> None:
    head = commit(store, creating(memory("one", memory_id="A")))
    ids = ("01HF0000000000000000000001", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ")
    early = Touch(touch_id="T2", seq=1, at_ms=NOW_MS, memory_ids=ids)
    late = Touch(touch_id="T1", seq=1, at_ms=NOW_MS + 1, memory_ids=ids[:1])
    for touch in (late, early, early):
        store.touch("ana", touch, NOW_MS)
    store.touch("bob", early, NOW_MS)
    commit(store, creating(memory("two", memory_id="B")), seen=head)

    first, second = entries_of(store)
    assert store.read_log("ana", 0)[0] == [first, early, late, second]
    assert store.read_log("ana", 1)[0] == [early, late, second]
    assert store.read_log("ana", 1, NOW_MS + 1)[0] == [late, second]
    assert store.read_log("ana", 2)[0] == []
    assert store.read_entries("ana", [1, 2]) == [first, second]
    assert [keys.kind_of(item.key) for item in store.items("ana", 9)].count("touches") == 2
