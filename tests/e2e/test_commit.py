"""The commit under contention, over HTTP: one winner, nothing lost, no gap."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tests.support.api_client import Answer, UserClient

WRITERS = 8
FACTS = 25  # each: the emulator's queries slow down with the size of a partition; DynamoDB's do not


def test_fifty_stores_of_one_sentence_make_one_memory(alice: UserClient) -> None:  # case M3
    body = {"content": "The spare key is with the neighbour"}

    with ThreadPoolExecutor(WRITERS) as pool:
        answers = list(pool.map(lambda _: patient(alice, "POST", "/memories", body), range(50)))

    assert Counter(answer.body["outcome"] for answer in answers) == {"created": 1, "unchanged": 49}
    assert len(alice.every_memory()) == 1


def test_fifty_updates_of_one_version_have_one_winner(alice: UserClient) -> None:  # case M3
    memory_id = alice.store("The spare key is with the neighbour").body["memory_id"]

    def update(number: int) -> Answer:
        return patient(alice, "PATCH", f"/memories/{memory_id}", {"importance": number / 50}, if_match='"1"')

    with ThreadPoolExecutor(WRITERS) as pool:
        answers = list(pool.map(update, range(50)))

    assert Counter(answer.status for answer in answers) == {200: 1, 412: 49}
    assert alice.get(memory_id).body["version"] == 2


def test_writers_of_different_facts_lose_nothing_and_leave_no_gap(alice: UserClient) -> None:
    def write(writer: int) -> list[int]:
        return [
            patient(alice, "POST", "/memories", {"content": f"fact {fact} of {writer}", "on_similar": "create"}).status
            for fact in range(FACTS)
        ]

    with ThreadPoolExecutor(WRITERS) as pool:
        statuses = [status for written in pool.map(write, range(WRITERS)) for status in written]

    assert Counter(statuses) == {201: WRITERS * FACTS}
    assert len({memory["memory_id"] for memory in alice.every_memory()}) == WRITERS * FACTS
    assert alice.stats().body["log_entries"] == WRITERS * FACTS


def test_a_corrected_fact_takes_the_place_of_the_old_one(alice: UserClient) -> None:
    old = alice.store("The user's team uses PostgreSQL 14").body["memory_id"]

    receipt = alice.store("The user's team uses PostgreSQL 15").body

    assert (receipt["outcome"], receipt["other_id"]) == ("superseded", old)
    assert alice.get(old).body["superseded_by"] == receipt["memory_id"]
    hits = alice.search("Which PostgreSQL does the team use?").body["hits"]
    assert [hit["memory"]["memory_id"] for hit in hits] == [receipt["memory_id"]]


def patient(user: UserClient, method: str, below: str, body: object, **headers: str) -> Answer:
    """Ask as a client should: again when the service says that it is not available now."""
    for _ in range(20):
        answer = user.call(method, below, body, **headers)
        if answer.status not in {429, 503}:
            break
    return answer
