"""The comparison with peers, without them: what is measured, counted and shown."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tests.eval import metrics
from tests.eval.locomo import Conversation, Question, Turn
from tests.eval.peers import table
from tests.eval.peers.measuring import Closed, Timed, measure
from tests.eval.peers.stores import Recollect, bytes_in, date_of, lists_of, pickled_bytes, told
from tests.eval.peers.table import Measured
from tests.eval.run import Asked
from tests.support.builders import NOW_MS
from tests.support.embedder import HashingEmbedder

SAID = ("I sold the boat.", "The cello, since I was six.", "Nice weather today.")
TURNS = tuple(Turn(f"D1:{n}", "session_1", "Ada", text, NOW_MS) for n, text in enumerate(SAID))
TALK = Conversation("one", TURNS, (Question("who sold the boat", 4, frozenset({"D1:0"})),))


class Newest:
    """A store that embeds each turn once, and finds the last ones whatever is asked."""

    def __init__(self, embedder: Timed) -> None:
        self._embedder = embedder
        self._kept: list[str] = []

    def add(self, turn: Turn) -> str:
        self._embedder.embed([turn.content])
        self._kept.append(f"memory of {turn.turn_id}")
        return self._kept[-1]

    def search(self, text: str) -> Sequence[str]:
        return self._kept[::-1]

    def close(self) -> int:
        return 30


def part(name: str, rank: int, added_ms: Sequence[float] = (2.0, 4.0), stored_bytes: int = 100) -> Measured:
    ranking = [f"m{n}" for n in range(1, 21)]
    asked = Asked(name, 4, "default", metrics.measures(ranking, {f"m{rank}"}), float(rank))
    return Measured([asked], added_ms, [one / 2 for one in added_ms], stored_bytes)


def test_every_turn_is_added_and_every_question_asked() -> None:
    timed = Timed(HashingEmbedder())

    measured = measure(Newest(timed), TALK, timed)

    assert [one.measured["mrr"] for one in measured.asked] == [1 / 3]
    assert len(measured.added_ms) == len(SAID)
    assert all(0 < of <= whole for of, whole in zip(measured.embedded_ms, measured.added_ms, strict=True))
    assert measured.stored_bytes == 30


def test_recollect_finds_what_answers_and_its_bytes_grow_with_what_it_keeps(tmp_path: Path) -> None:
    timed = Timed(HashingEmbedder())

    whole = measure(Recollect(tmp_path, timed), TALK, timed)
    fewer = measure(Recollect(tmp_path, timed), replace(TALK, turns=TURNS[:1]), timed)

    assert whole.asked[0].measured["mrr"] == 1.0
    assert fewer.stored_bytes > len(SAID[0]) + HashingEmbedder().dimension
    assert whole.stored_bytes > 2 * fewer.stored_bytes


def test_figures_are_of_all_conversations_of_a_store() -> None:
    found = table.figures("peer.a", [part("one", 12), part("two", 2, (6.0,), 50)])

    assert (found["peer.a.recall_at_10"], found["peer.a.recall_at_20"]) == (0.5, 1.0)
    assert found["peer.a.recall_at_10.low"] <= 0.5 <= found["peer.a.recall_at_10.high"]
    assert (found["peer.a.search.p50_ms"], found["peer.a.search.p95_ms"]) == (2.0, 12.0)
    assert (found["peer.a.add.p50_ms"], found["peer.a.add.p95_ms"], found["peer.a.add.per_s"]) == (4.0, 6.0, 250.0)
    assert found["peer.a.add.embedding_p50_ms"] == 2.0
    assert found["peer.a.stored_bytes"] == 50.0


def test_a_measurement_travels_as_json_values() -> None:
    measured = replace(part("one", 3), refused=["example.org"])

    assert table.read(asdict(measured)) == measured


def test_the_table_has_a_row_for_each_that_was_measured() -> None:
    found = table.figures("peer.a", [part("two", 2)]) | table.figures("peer.ab", [part("two", 12)])

    head, _, *rows = table.table({"peer.a": "Recollect", "peer.ab": "other 1.0"}, found).splitlines()

    assert [row.split(" | ")[:3] for row in rows] == [
        ["| Recollect", "1.000", "1.000 to 1.000"],
        ["| other 1.0", "0.000", "0.000 to 0.000"],
    ]
    assert {row.count("|") for row in rows} == {head.count("|")}


def test_a_peer_is_told_who_spoke_and_when() -> None:
    assert told(TURNS[0]) == "Ada (10:13 PM on 14 November, 2023): I sold the boat."
    assert date_of(replace(TURNS[0], occurred_at_ms=None)) == ""


def test_a_peer_is_given_the_same_vectors_as_lists() -> None:
    embedder = HashingEmbedder()

    assert lists_of(embedder)(SAID) == embedder.embed(SAID).tolist()


def test_bytes_of_files_are_counted_in_all_folders(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "a").write_bytes(b"123")
    (tmp_path / "deep" / "er" / "b").write_bytes(b"4567")

    assert bytes_in(tmp_path) == 7


def test_what_is_pickled_is_counted_without_code_and_embedder() -> None:
    class Embeds:
        embed_query = None
        weights = "x" * 10_000

    assert 1_000 < pickled_bytes([Embeds(), lambda: None, "y" * 1_000]) < 1_100


@pytest.mark.parametrize(
    ("event", "about"),
    [
        ("socket.getaddrinfo", ("example.org", 443, 0, 0, 0)),
        ("socket.connect", (None, ("192.0.2.1", 443))),
        ("socket.sendto", (None, ("192.0.2.1", 53))),
        ("subprocess.Popen", ("curl", ["curl"], None, None)),
        ("os.system", (b"curl",)),
    ],
)
def test_what_would_leave_the_machine_is_refused_and_known(event: str, about: tuple[object, ...]) -> None:
    closed = Closed()

    with pytest.raises(PermissionError, match="not of this machine"):
        closed(event, about)

    assert len(closed.refused) == 1


@pytest.mark.parametrize(
    ("event", "about"),
    [
        ("socket.getaddrinfo", ("localhost", 80, 0, 0, 0)),
        ("socket.connect", (None, ("127.0.0.1", 80))),
        ("socket.connect", (None, "/run/socket")),
        ("open", ("example.org", "r", 0)),
    ],
)
def test_what_stays_on_the_machine_is_let_through(event: str, about: tuple[object, ...]) -> None:
    closed = Closed()

    closed(event, about)

    assert not closed.refused
