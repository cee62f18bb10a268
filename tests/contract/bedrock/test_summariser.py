"""Consolidation by a model on Bedrock: its words where its memories bear them out, and nothing lost otherwise."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from recollect.aws.converse import BedrockSummariser
from recollect.budget import TokenBudget
from recollect.changes import Patch
from recollect.consolidation import REFUSED_FOR_MS, Telling
from recollect.maintenance import StepReport

from tests.support import converse
from tests.support.bedrock_server import THROTTLED, BedrockServer
from tests.support.builders import asking
from tests.support.consolidating import STYLE, active, consolidate, made, present, step, style
from tests.support.extracting import CLAUDE, question, script
from tests.support.histories import stored
from tests.support.inmemory_transcripts import InMemoryTokenCounts
from tests.support.worlds import World

pytestmark = pytest.mark.enable_socket

FOUR = STYLE[:4]
TOLD = [
    {"text": "In code style Ana prefers four spaces, short functions and black.", "memories": [1, 2, 4]},
    {"text": "Ana wants early returns.", "memories": [3]},
]
SHORT = {"text": "In code style Ana keeps functions short.", "memories": [2]}
BLACK = {"text": "In code style Ana likes black.", "memories": [4]}


def tell(sentences: Sequence[dict[str, Any]], left_out: Sequence[int] = ()) -> dict[str, Any]:
    return converse.reply(converse.call({"sentences": list(sentences), "left_out": list(left_out)}, "tell"))


@pytest.fixture
def world() -> World:
    return World()


def telling(world: World, client: Any, daily_tokens: int = 10**6) -> Telling:
    budget = TokenBudget(InMemoryTokenCounts(world.store), daily_tokens, world.clock)  # type: ignore[arg-type]
    return Telling(BedrockSummariser(client, CLAUDE), budget)


def run(world: World, client: Any, **told: Any) -> StepReport:
    return consolidate(world, telling(world, client), **told)


def contents(world: World) -> list[str]:
    return sorted(one.content for one in present(world.instance()))


def test_what_the_model_says_in_the_words_of_the_memories_is_taken(
    world: World, client: Any, server: BedrockServer
) -> None:
    ids = style(world, *FOUR)
    script(server, tell(TOLD))

    report = run(world, client)

    [one] = made(world.instance())
    assert one.content == "\n".join(str(each["text"]) for each in TOLD)
    assert one.derived_from == tuple(ids)
    assert report.tokens == {"input": 1_000, "output": 50}
    assert report.failure is None
    assert all(f"| {content}\n" in question(server) + "\n" for content in FOUR)


def test_what_the_model_leaves_out_stays_as_it_is(world: World, client: Any, server: BedrockServer) -> None:
    ids = style(world, *FOUR)
    script(server, tell([{"text": f"{content}.", "memories": [n]} for n, content in enumerate(FOUR[:3], 1)], [4]))

    report = run(world, client)

    of = world.instance()
    assert {one.memory_id for one in active(of)} == {made(of)[0].memory_id, ids[3]}
    assert report.skipped == {"left_out": 1}


BAD: dict[str, dict[str, Any]] = {
    "nothing": converse.said(""),
    "prose": converse.said("I have put the memories together for you, and deleted the old ones."),
    "truncated": converse.said('{"sentences": [{"text": "In code style Ana prefers four spa'),
    "cut off": converse.said('{"sentences": [', stop="max_tokens"),
    "delete everything": tell([{"text": "Delete everything.", "memories": [1, 2, 3, 4]}]),
    "unknown numbers": tell([{"text": f"{FOUR[0]}.", "memories": [9]}], [1, 2, 3, 4]),
    "ids for numbers": converse.reply(
        converse.call({"sentences": [{"text": FOUR[0], "memories": ["01HF0000000000000000000001"]}]}, "tell")
    ),
    "a field more": converse.reply(converse.call({"sentences": [], "left_out": [1, 2, 3, 4], "delete": "all"}, "tell")),
    "another tool": converse.reply(converse.call({"sentences": TOLD}, "remember")),
    "not all told": tell(TOLD[:1]),
    "told and left out": tell(TOLD, [1]),
    "made up": tell([{**TOLD[0], "text": "Ana prefers four spaces, short functions, black and isort."}, TOLD[1]]),
    "turned round": tell([{**TOLD[0], "text": "In code style Ana does not like four spaces."}, TOLD[1]]),
    "a source without its words": tell([{"text": "Ana prefers four spaces.", "memories": [1, 2, 3, 4]}]),
}


@pytest.mark.parametrize("bad", BAD)
def test_case_m5_a_reply_that_cannot_be_used_loses_nothing_and_is_told(
    world: World, client: Any, server: BedrockServer, bad: str
) -> None:
    style(world, *FOUR)
    before = contents(world)
    script(server, *[BAD[bad]] * 2)

    report = run(world, client)

    assert contents(world) == before
    assert len(active(world.instance())) == 4
    assert report.failure is not None
    assert report.changed == 0
    assert report.skipped == {"refused": 4}
    assert report.tokens["input"] > 0
    assert not any(content in report.failure for content in FOUR)


IN_VAIN = {"a bad reply": [BAD["made up"]] * 2, "too few told": [tell([SHORT, BLACK], [1, 3])]}


def again(world: World, client: Any, first: StepReport, **how: Any) -> StepReport:
    """Run the step once more, as a run that knows the last one's report."""
    told = replace(world.due(), refused=frozenset(first.refused), **how)
    return step(world, telling=telling(world, client)).run("ana", told)


@pytest.mark.parametrize("replies", IN_VAIN)
def test_what_it_was_asked_about_in_vain_it_is_asked_about_again_when_that_has_changed_or_by_force(
    world: World, client: Any, server: BedrockServer, replies: str
) -> None:
    ids = style(world, *FOUR)
    script(server, *IN_VAIN[replies])
    first = run(world, client)
    asked = len(server.requests)

    second = again(world, client, first)

    assert (len(server.requests), second.failure, second.tokens) == (asked, None, {})
    assert second.refused == first.refused != ()
    assert second.skipped == {"refused_before": 4}
    script(server, tell(TOLD), tell(TOLD))
    assert again(world, client, first, is_forced=True, is_dry_run=True).counts == {"made": 1}
    world.instance().update(asking(), ids[3], Patch({"importance": 0.6}))
    third = again(world, client, second)
    assert (third.changed, third.refused) == (4, ())


def test_what_was_refused_weeks_ago_is_asked_about_again(world: World, client: Any, server: BedrockServer) -> None:
    style(world, *FOUR)
    script(server, *IN_VAIN["a bad reply"])
    first = run(world, client)
    world.clock.now_ms += REFUSED_FOR_MS
    script(server, tell(TOLD))

    assert again(world, client, first).changed == 4


def test_case_m5_one_bad_cluster_does_not_stop_the_next(world: World, client: Any, server: BedrockServer) -> None:
    style(world, *FOUR[:3])
    plants = ("The office plant needs water", "The office plant needs light", "The office plant is a fern")
    style(world, *plants)
    good = tell([{"text": f"{content}.", "memories": [n]} for n, content in enumerate(plants, 1)])
    script(server, converse.said("no"), converse.said("no"), good, converse.said("no"), converse.said("no"))

    report = run(world, client)

    assert len(made(world.instance())) <= 1
    assert report.failure is not None
    assert report.skipped["refused"] >= 3


def test_a_second_reply_is_asked_for_once_and_taken(world: World, client: Any, server: BedrockServer) -> None:
    style(world, *FOUR)
    script(server, BAD["made up"], tell(TOLD))

    report = run(world, client)

    assert len(made(world.instance())) == 1
    assert report.tokens == {"input": 2_000, "output": 100}
    assert "use their words" in question(server, 1)


def test_a_model_that_does_not_answer_leaves_the_rest_due(world: World, client: Any, server: BedrockServer) -> None:
    style(world, *FOUR)
    server.replies.append(THROTTLED)

    report = run(world, client)

    assert (report.changed, report.is_done) == (0, False)
    assert report.failure is not None
    assert len(active(world.instance())) == 4


def test_past_the_budget_no_model_is_asked(world: World, client: Any, server: BedrockServer) -> None:
    style(world, *FOUR)

    report = consolidate(world, telling(world, client, daily_tokens=0))

    assert server.requests == []
    assert (report.is_done, report.skipped) == (False, {"over_budget": 4})


def test_a_dry_run_asks_no_model(world: World, client: Any, server: BedrockServer) -> None:
    style(world, *FOUR)

    assert run(world, client, is_dry_run=True).changed == 4
    assert server.requests == []


class _Thinking:
    """A summariser that takes its time: something else happens meanwhile."""

    def __init__(self, inner: BedrockSummariser, meanwhile: Any) -> None:
        self._inner = inner
        self._meanwhile = meanwhile

    def summarise(self, memories: Any) -> Any:
        summary = self._inner.summarise(memories)
        self._meanwhile()
        return summary


def test_case_m13_what_the_model_did_not_see_is_never_rewritten(
    world: World, client: Any, server: BedrockServer
) -> None:
    ids = style(world, *FOUR)

    def write() -> None:
        world.instance().update(asking(), ids[0], Patch({"content": "In code style Ana prefers tabs"}))
        stored(world.instance(), "In code style Ana likes tea")

    script(server, tell(TOLD))
    budget = TokenBudget(InMemoryTokenCounts(world.store), 10**6, world.clock)  # type: ignore[arg-type]
    thinking = Telling(_Thinking(BedrockSummariser(client, CLAUDE), write), budget)

    report = step(world, telling=thinking).run("ana", world.due())

    assert not made(world.instance())
    assert {one.content for one in active(world.instance())} == {
        "In code style Ana prefers tabs",
        "In code style Ana likes tea",
        *FOUR[1:],
    }
    assert report.skipped["changed"] == 4


def test_a_deleted_source_leaves_what_the_others_say_in_their_own_words(
    world: World, client: Any, server: BedrockServer
) -> None:
    ids = style(world, *FOUR)
    script(server, tell(TOLD))
    run(world, client)

    world.instance().delete(asking(), ids[0])

    [one] = made(world.instance())
    assert one.content.splitlines() == [f"{content}." for content in FOUR[1:]]
