"""Storing, reading, changing, deleting and finding memories, over HTTP."""

from tests.e2e.conftest import Service
from tests.support.api_client import UserClient


def test_a_stored_memory_is_read_back_as_it_was_sent(alice: UserClient) -> None:
    fields = {
        "type": "episodic",
        "tags": ["travel", "Größe"],
        "importance": 0.8,
        "metadata": {"nested": {"list": [1, 0.1, None, True]}, "text": "zażółć"},
        "agent_id": "agent-7",
        "session_id": "s-1",
        "actor": "Alice",
        "occurred_at": "2026-05-01T09:30:00+02:00",
    }

    stored = alice.store("Alice flew to Kraków 🛫 by night", **fields)
    read = alice.get(stored.body["memory_id"])

    assert stored.status == 201
    assert (stored.body["outcome"], stored.body["version"]) == ("created", 1)
    assert read.status == 200
    expected = {**fields, "content": "Alice flew to Kraków 🛫 by night", "occurred_at": "2026-05-01T07:30:00.000Z"}
    assert {name: read.body[name] for name in expected} == expected
    assert read.body["user_id"] == alice.user_id


def test_storing_the_same_text_again_changes_nothing(alice: UserClient) -> None:
    first = alice.store("the office closes at six")

    second = alice.store("the office closes at six")

    assert second.status == 200
    assert second.body["outcome"] == "unchanged"
    assert second.body["memory_id"] == first.body["memory_id"]
    assert len(alice.every_memory()) == 1


def test_a_batch_is_answered_item_by_item(alice: UserClient) -> None:  # case T1
    answer = alice.store_all(
        {"content": "the office closes at six"}, {"content": ""}, {"content": "Leo plays the cello"}
    )

    assert answer.status == 207
    results = answer.body["results"]
    assert [result["index"] for result in results] == [0, 1, 2]
    assert [result.get("outcome") for result in results] == ["created", None, "created"]
    assert results[1]["problem"]["status"] == 422
    assert {memory["content"] for memory in alice.every_memory()} == {"the office closes at six", "Leo plays the cello"}


def test_the_list_pages_through_everything_once(alice: UserClient) -> None:
    alice.store_all(*({"content": f"memory number {number}"} for number in range(25)))

    first = alice.page(limit=10)
    second = alice.page(limit=10, cursor=first.body["cursor"])
    third = alice.page(limit=10, cursor=second.body["cursor"])

    pages = [page.body["memories"] for page in (first, second, third)]
    assert [len(page) for page in pages] == [10, 10, 5]
    assert len({memory["memory_id"] for page in pages for memory in page}) == 25
    assert third.body["cursor"] is None


def test_the_list_filters_by_type_and_tag(alice: UserClient) -> None:
    alice.store("water the plants on Monday", type="procedural", tags=["home"])
    alice.store("the plants are ferns", type="semantic", tags=["home"])
    alice.store("the car is blue", type="semantic", tags=["car"])

    procedures = alice.page(type="procedural").body["memories"]
    at_home = alice.page(tag="home", type="semantic").body["memories"]

    assert [memory["content"] for memory in procedures] == ["water the plants on Monday"]
    assert [memory["content"] for memory in at_home] == ["the plants are ferns"]


def test_search_returns_a_memory_stored_a_moment_ago(alice: UserClient) -> None:
    alice.store_all(
        {"content": "the cat sleeps on the radiator"},
        {"content": "quarterly tax forms are due in April"},
        {"content": "Marta is allergic to peanuts"},
    )

    for mode in ("hybrid", "semantic"):
        answer = alice.search("which food must Marta avoid?", mode=mode, k=2)

        assert answer.status == 200
        assert answer.body["hits"][0]["memory"]["content"] == "Marta is allergic to peanuts"
        assert answer.body["scanned"] == 3
        assert answer.body["degraded"] is False
        scores = [hit["score"] for hit in answer.body["hits"]]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)


def test_search_finds_words_that_mean_nothing_to_a_model(alice: UserClient) -> None:
    alice.store("ticket QX-88132 is assigned to Priya")
    alice.store("ticket QX-11904 is assigned to Tom")

    answer = alice.search("QX-11904", mode="lexical", k=1)

    assert answer.body["hits"][0]["memory"]["content"] == "ticket QX-11904 is assigned to Tom"


def test_search_filters_before_it_ranks(alice: UserClient) -> None:  # case R3
    alice.store_all(*({"content": f"coffee order number {number}", "tags": ["coffee"]} for number in range(30)))
    alice.store("tea order", tags=["tea"])

    answer = alice.search("coffee order", k=5, filter={"field": "tags", "contains": "tea"})

    assert [hit["memory"]["content"] for hit in answer.body["hits"]] == ["tea order"]
    assert answer.body["scanned"] == 1


def test_search_of_an_empty_partition_finds_nothing(alice: UserClient) -> None:
    answer = alice.search("anything at all")

    assert answer.status == 200
    assert answer.body["hits"] == []
    assert answer.body["scanned"] == 0


def test_context_names_the_memories_in_it(alice: UserClient) -> None:
    stored = alice.store("Alice prefers window seats on morning flights").body["memory_id"]

    answer = alice.context("book a flight for Alice", token_budget=500)

    assert answer.status == 200
    assert "window seats" in answer.body["context"]
    assert answer.body["memory_ids"] == [stored]
    assert answer.body["estimated_tokens"] <= 500


def test_a_changed_memory_is_found_by_its_new_text_only(alice: UserClient) -> None:
    memory_id = alice.store("the meeting is on Tuesday", tags=["work"]).body["memory_id"]

    changed = alice.patch(memory_id, content="the wedding cake is chocolate", importance=0.9)

    assert changed.status == 200
    assert changed.body["version"] == 2
    read = alice.get(memory_id).body
    assert (read["content"], read["importance"], read["tags"]) == ("the wedding cake is chocolate", 0.9, ["work"])
    assert alice.search("meeting Tuesday", mode="lexical").body["hits"] == []
    assert alice.search("what is the cake made of?").body["hits"][0]["memory"]["memory_id"] == memory_id


def test_a_deleted_memory_is_gone_from_everything(alice: UserClient) -> None:  # case D2
    kept = alice.store("the key is under the flower pot").body["memory_id"]
    gone = alice.store("the key is in the blue drawer").body["memory_id"]

    deleted = alice.delete(gone)

    assert deleted.status == 200
    assert alice.get(gone).status == 404
    assert [memory["memory_id"] for memory in alice.every_memory()] == [kept]
    assert [hit["memory"]["memory_id"] for hit in alice.search("where is the key?").body["hits"]] == [kept]
    assert alice.context("where is the key?").body["memory_ids"] == [kept]
    assert alice.delete(gone).status == 404


def test_stats_count_what_is_there(alice: UserClient) -> None:
    alice.store("a fact", tags=["x"])
    alice.store("an event", type="episodic", tags=["x", "y"])

    answer = alice.stats()

    assert answer.status == 200
    assert answer.body["total"] == 2
    assert {name: count for name, count in answer.body["by_type"].items() if count} == {"semantic": 1, "episodic": 1}
    assert answer.body["by_tag"] == {"x": 2, "y": 1}


def test_a_repeat_under_the_same_key_gets_the_same_answer(alice: UserClient) -> None:
    body = {"content": "paid the rent for May"}

    first = alice.call("POST", "/memories", body, idempotency_key="rent-may")
    second = alice.call("POST", "/memories", body, idempotency_key="rent-may")

    assert (second.status, second.body["memory_id"]) == (first.status, first.body["memory_id"])
    assert second.body["outcome"] == "created"
    assert len(alice.every_memory()) == 1


def test_the_api_describes_itself(service: Service) -> None:
    open_client = service.client(None)

    assert open_client.request("GET", "/health").body["status"] == "ok"
    document = open_client.request("GET", "/openapi.json")
    assert document.status == 200
    assert any(path.endswith("/search") for path in document.body["paths"])
    page = open_client.request("GET", "/docs", headers={"Accept": "text/html"})
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
