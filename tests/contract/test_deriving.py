"""What becomes of a derived memory when one of its sources changes or goes, on both stores: case D6."""

from dataclasses import replace
from typing import Any

import boto3
import pytest
from recollect.changes import Patch
from recollect.controller import MemoryController
from recollect.errors import NotFound
from recollect.model import Memory, Source, Status
from recollect.nominating import OnSimilar

from tests.support.builders import TRANSCRIPTS, asking, to_store
from tests.support.consolidating import STYLE, active, consolidate, made, present, style
from tests.support.faults import DyingStores, Killed, When
from tests.support.histories import stored
from tests.support.table import TABLE_NAME
from tests.support.worlds import World

SECRET = "In code style Ana hides xylophone jokes"


def derived(world: World, *contents: str) -> tuple[Memory, list[str]]:
    ids = style(world, *contents)
    consolidate(world)
    [one] = made(world.instance())
    return one, ids


def texts(of: MemoryController) -> str:
    return "\n".join(one.content for one in present(of))


def kept_bytes(world: World) -> str:
    """All that the stores hold."""
    found: list[Any] = [vars(getattr(world.store, "inner", world.store))] if not _is_aws(world) else []
    if _is_aws(world):
        found = boto3.client("dynamodb").scan(TableName=TABLE_NAME)["Items"]
    return repr(found)


def _is_aws(world: World) -> bool:
    return "DynamoDB" in type(getattr(world.store, "inner", world.store)).__name__


def test_case_d6_a_deleted_source_is_not_told_any_more(world: World) -> None:
    one, ids = derived(world, *STYLE[:3], SECRET)

    world.instance().delete(asking(), ids[3])

    of = world.instance()
    [after] = made(of)
    assert (after.memory_id, after.version, after.derived_from) == (one.memory_id, 2, tuple(ids[:3]))
    assert after.content.splitlines() == [f"{content}." for content in STYLE[:3]]
    assert "xylophone" not in texts(of)
    assert [each.memory_id for each in active(of)] == [one.memory_id]


def test_case_d6_with_one_source_left_the_summary_is_withdrawn_and_that_one_is_active_again(world: World) -> None:
    one, ids = derived(world, *STYLE[:3])

    for memory_id in ids[:2]:
        world.instance().delete(asking(), memory_id)

    of = world.instance()
    [left] = active(of)
    assert (left.memory_id, left.consolidated_into, left.content) == (ids[2], None, STYLE[2])
    with pytest.raises(NotFound):
        of.get("ana", one.memory_id)


def test_case_d6_deleting_works_while_the_embedder_is_down(world: World) -> None:
    _, ids = derived(world, *STYLE[:4])
    world.embedder.is_down = True

    world.instance().delete(asking(), ids[0])

    of = world.instance()
    assert STYLE[0] not in made(of)[0].content
    assert of.stats("ana").pending_embeddings == 1


def test_case_d6_a_purged_source_is_gone_from_all_that_was_made_of_it(world: World) -> None:
    one, ids = derived(world, SECRET, *STYLE[:3])
    world.compact(is_forced=True)
    assert "xylophone" in kept_bytes(world)

    world.instance().purge(asking(), ids[0])

    of = world.instance()
    [after] = made(of)
    assert after.memory_id != one.memory_id
    assert after.content.splitlines() == [f"{content}." for content in STYLE[:3]]
    assert {each.consolidated_into for each in present(of) if each.status is Status.ARCHIVED} == {after.memory_id}
    assert "xylophone" not in kept_bytes(world)
    assert {version.content_hash is not None for version in of.versions("ana", one.memory_id, 50).versions} == {True}


def test_case_d6_a_source_that_was_deleted_first_and_purged_later_leaves_nothing_either(world: World) -> None:
    _, ids = derived(world, SECRET, *STYLE[:3])
    of = world.instance()
    of.delete(asking(), ids[0])

    of.purge(asking(), ids[0])

    assert len(made(of)) == 1
    assert "xylophone" not in kept_bytes(world)


def test_a_purge_finds_what_was_taken_apart_long_ago(world: World) -> None:
    one, ids = derived(world, SECRET, *STYLE[:3])
    of = world.instance()
    of.unmerge(asking(), one.memory_id)

    of.purge(asking(), ids[0])

    assert "xylophone" not in kept_bytes(world)
    assert {each.memory_id for each in active(of)} == set(ids[1:])


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_purge_that_dies_anywhere_is_completed_by_a_repeat(kept: DyingStores, when: When) -> None:
    at, ended = 0, False
    while not ended:
        at += 3
        world = World(kept.store, kept.objects)
        world.instance().erase("ana")
        _, ids = derived(world, SECRET, *STYLE[:2])
        kept.die(at, when)
        try:
            world.instance().purge(asking(), ids[0])
            ended = True
        except Killed:
            world.instance().purge(asking(), ids[0])
        kept.die(0, when)

        of = world.instance()
        assert [one.content.splitlines() for one in active(of)] == [[f"{content}." for content in STYLE[:2]]]
        assert "xylophone" not in kept_bytes(world)


def test_deleting_what_was_made_deletes_what_it_was_made_of(world: World) -> None:
    one, _ = derived(world, SECRET, *STYLE[:3])

    world.instance().delete(asking(), one.memory_id)

    assert present(world.instance()) == []


def test_purging_what_was_made_purges_what_it_was_made_of(world: World) -> None:
    one, ids = derived(world, SECRET, *STYLE[:3])
    of = world.instance()
    of.purge(asking(), one.memory_id)

    assert present(of) == []
    assert "xylophone" not in kept_bytes(world)
    assert all(of.versions("ana", each, 9).versions[0].content_hash for each in ids)


def test_an_updated_source_is_told_as_it_is_now(world: World) -> None:
    one, ids = derived(world, *STYLE[:3])

    world.instance().update(asking(), ids[1], Patch({"content": "In code style Ana keeps functions tiny"}))

    of = world.instance()
    [after] = made(of)
    assert after.content.splitlines()[1] == "In code style Ana keeps functions tiny."
    assert (after.memory_id, after.derived_from) == (one.memory_id, tuple(ids))
    assert of.get("ana", ids[1]).status is Status.ARCHIVED


@pytest.mark.parametrize(
    "values", [{"status": Status.ACTIVE}, {"expires_at_ms": 2**45}, {"content": "In code style Ana talks " * 40}]
)
def test_a_source_that_stands_by_itself_again_is_not_told_any_more(world: World, values: dict[str, Any]) -> None:
    _, ids = derived(world, *STYLE[:4])

    world.instance().update(asking(), ids[0], Patch(values))

    of = world.instance()
    source = of.get("ana", ids[0])
    assert (source.status, source.consolidated_into) == (Status.ACTIVE, None)
    assert made(of)[0].content.splitlines() == [f"{content}." for content in STYLE[1:4]]


def test_a_correction_of_a_source_supersedes_it_and_what_was_made_tells_the_rest(world: World) -> None:
    old = "The team uses PostgreSQL 14 for the billing code"
    _, ids = derived(world, old, "The team uses Redis for the billing code", "The team reviews the billing code daily")

    [outcome] = world.instance().store(asking(), [to_store("The team uses PostgreSQL 15 for the billing code")])

    of = world.instance()
    assert (outcome.outcome, outcome.other_id) == ("superseded", ids[0])
    assert old not in "\n".join(each.content for each in active(of))
    assert made(of)[0].derived_from == tuple(ids[1:])
    source = of.get("ana", ids[0])
    assert (source.status, source.superseded_by) == (Status.SUPERSEDED, outcome.memory_id)


def test_an_edit_of_what_was_made_is_kept_until_a_source_changes(world: World) -> None:
    one, ids = derived(world, *STYLE[:4])
    of = world.instance()
    of.update(asking(), one.memory_id, Patch({"content": "Ana has a code style of her own"}))
    world.clock.now_ms += 1
    style(world, "Ana has a code style with semicolons")
    consolidate(world)

    assert made(of)[0].content.startswith("Ana has a code style of her own.\n")

    of.delete(asking(), ids[0])
    assert "of her own" not in made(of)[0].content


def test_restored_to_fewer_sources_it_lets_the_others_go(world: World) -> None:
    one, ids = derived(world, *STYLE[:3])
    world.clock.now_ms += 1
    ids += style(world, STYLE[3])
    consolidate(world)
    of = world.instance()

    of.restore(asking(), one.memory_id, 1)

    assert {each.memory_id for each in active(of)} == {one.memory_id, ids[3]}
    assert of.get("ana", ids[3]).consolidated_into is None


def test_a_restored_source_leaves_what_was_made(world: World) -> None:
    _, ids = derived(world, *STYLE[:4])
    of = world.instance()

    of.restore(asking(), ids[0], 1)

    assert of.get("ana", ids[0]).status is Status.ACTIVE
    assert STYLE[0] not in made(of)[0].content


def test_a_transcript_that_goes_takes_its_memories_out_of_what_was_made(world: World) -> None:
    cited = [TRANSCRIPTS[0], TRANSCRIPTS[0], TRANSCRIPTS[1], TRANSCRIPTS[1]]
    new = [
        to_store(content, on_similar=OnSimilar.CREATE, sources=(Source(one, number, number),))
        for number, (content, one) in enumerate(zip((SECRET, *STYLE[:3]), cited, strict=True))
    ]
    world.instance().store(asking(), new)
    consolidate(world)
    of = world.instance()
    epoch = world.head().epoch

    of.forget_transcript(
        replace(asking(), epoch=epoch), TRANSCRIPTS[0], cascade=True, deadline_ms=world.clock.now_ms + 10_000
    )

    [after] = made(of)
    assert after.content.splitlines() == [f"{content}." for content in STYLE[1:3]]
    assert {source.transcript_id for source in after.sources} == {TRANSCRIPTS[1]}


def test_a_twin_that_was_made_by_hand_keeps_a_source_in_the_archive(world: World) -> None:
    one, ids = derived(world, *STYLE[:3])
    of = world.instance()
    other = stored(of, "the ferry leaves at noon")
    of.update(asking(), other, Patch({"content": STYLE[0]}))

    of.unmerge(asking(), one.memory_id)

    source = of.get("ana", ids[0])
    assert (source.status, source.consolidated_into) == (Status.ARCHIVED, None)
    assert {each.memory_id for each in active(of)} == {other, *ids[1:]}
