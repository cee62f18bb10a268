"""Many requests at once: nothing is lost, doubled or given to another user."""

import time
from concurrent.futures import ThreadPoolExecutor

from tests.e2e.conftest import Service
from tests.support.api_client import Answer, UserClient

REQUESTS = 5_000
CLIENTS = 8
USERS = 50  # the emulator's queries slow down with the size of a partition; DynamoDB's do not
ATTEMPTS = 10


def _stored(user: UserClient, content: str, on_similar: str = "create") -> Answer:
    """Store as a client should: again when the service says that it is not available now."""
    for _ in range(ATTEMPTS):
        answer = user.store(content, on_similar=on_similar)
        if answer.status not in {429, 503}:
            break
        time.sleep(float(answer.headers.get("retry-after", "1")))
    return answer


def test_two_users_at_once_do_not_meet(service: Service, alice: UserClient, bob: UserClient) -> None:
    def write(user: UserClient) -> None:
        for number in range(20):
            assert _stored(user, f"{user.user_id} remembers {number}").status == 201
            hits = user.search("who remembers?", k=5).body["hits"]
            assert {hit["memory"]["user_id"] for hit in hits} == {user.user_id}
            assert all(user.user_id in hit["memory"]["content"] for hit in hits)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, (alice, bob)))

    for user in (alice, bob):
        expected = {f"{user.user_id} remembers {number}" for number in range(20)}
        assert {memory["content"] for memory in user.every_memory()} == expected


def test_the_same_text_from_many_clients_is_one_memory(alice: UserClient) -> None:
    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = list(pool.map(lambda _: _stored(alice, "the server room is on floor three", "reconcile"), range(24)))

    assert sorted(answer.body["outcome"] for answer in answers) == ["created"] + ["unchanged"] * 23
    assert len({answer.body["memory_id"] for answer in answers}) == 1
    assert len(alice.every_memory()) == 1


def test_nothing_is_lost_in_thousands_of_requests(service: Service, alice: UserClient) -> None:
    users = [service.user(f"{alice.user_id}-{number}") for number in range(USERS)]
    # Neighbours in time write to the same user, so that commits do collide.
    owner = [n // 2 % USERS for n in range(REQUESTS)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = list(pool.map(lambda n: _stored(users[owner[n]], f"event number {n}"), range(REQUESTS)))

    assert [answer for answer in answers if answer.status != 201] == []
    for number, user in enumerate(users):
        mine = [n for n in range(REQUESTS) if owner[n] == number]
        acknowledged = {answers[n].body["memory_id"]: f"event number {n}" for n in mine}
        assert {memory["memory_id"]: memory["content"] for memory in user.every_memory()} == acknowledged
        assert user.stats().body["log_entries"] == len(mine)
