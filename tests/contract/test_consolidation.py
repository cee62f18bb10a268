"""Consolidation on both stores: one memory out of several, again, dying anywhere, beside writers."""

from dataclasses import replace

import pytest
from recollect.aging import Decay
from recollect.answers import SearchQuery
from recollect.changes import Patch
from recollect.consolidating.clusters import SHARE_MIN_COUNT
from recollect.errors import Conflict
from recollect.filters import EVERYTHING, Compare, Operator
from recollect.lifecycle import Policy
from recollect.maintenance import StepReport
from recollect.model import MemoryType, Operation, Source, Status
from recollect.nominating import OnSimilar

from tests.contract.conftest import Make
from tests.support.builders import TRANSCRIPTS, asking, to_store
from tests.support.consolidating import DAY_MS, STYLE, active, consolidate, made, present, step, style
from tests.support.faults import DyingStores, Killed, When
from tests.support.histories import stored
from tests.support.worlds import World

ARCHIVED = Compare(("status",), Operator.EQ, "archived")


def everything(world: World) -> list[tuple[str, int, Status, str]]:
    of = world.instance()
    return sorted((one.memory_id, one.version, one.status, one.content) for one in present(of))


def test_five_preferences_over_months_become_one_and_say_all_of_it(world: World) -> None:
    ids = style(world, importance=0.4)
    other = stored(world.instance(), "the ferry leaves at noon")

    report = consolidate(world)

    of = world.instance()
    [one] = made(of)
    assert one.content.splitlines() == [f"{content}." for content in STYLE]
    assert (one.derived_from, one.tags, one.importance) == (tuple(ids), ("preference",), 0.4)
    assert {each.memory_id for each in active(of)} == {one.memory_id, other}
    for memory_id, content in zip(ids, STYLE, strict=True):
        source = of.get("ana", memory_id)
        assert (source.content, source.status) == (content, Status.ARCHIVED)
        assert source.consolidated_into == one.memory_id
    assert report == StepReport(looked_at=6, changed=5, counts={"made": 1})


def test_case_m4_a_second_run_changes_nothing(world: World) -> None:
    style(world)
    style(world, "The office plant needs water on Monday", "The office plant needs light", "The office plant is a fern")
    consolidate(world)
    before = everything(world)

    second = consolidate(world)

    assert everything(world) == before
    assert (second.changed, second.counts) == (0, {})


def test_a_dry_run_tells_what_would_be_made_and_writes_nothing(world: World) -> None:
    style(world)
    before = everything(world)

    report = consolidate(world, is_dry_run=True)

    assert (report.changed, report.counts) == (5, {"made": 1})
    assert everything(world) == before


def test_many_that_come_to_nothing_do_not_stand_before_others_and_are_not_left_for_later(world: World) -> None:
    of = world.instance()
    deeds = [f"paints {letter * 5} {letter * 6} walls{letter}" for letter in "abcdefghijkl"]
    people = ("Mia", "Leo", "Zoe", "Tom", "Eva", "Max", "Ida", "Jon", "Kim", "Ute", "Pia")
    assert len(deeds) * len(people) > SHARE_MIN_COUNT
    for deed in deeds:
        of.store(asking(), [to_store(f"{name} {deed}", on_similar=OnSimilar.CREATE) for name in people])
    style(world)

    report = consolidate(world)

    assert (report.counts, report.is_done) == ({"made": 1}, True)


def test_past_its_time_it_does_nothing_and_says_that_it_is_not_done(world: World) -> None:
    style(world)

    report = consolidate(world, within_ms=0)

    assert (report.changed, report.is_done) == (0, False)
    assert not made(world.instance())


def test_what_comes_later_and_overlaps_is_taken_in_and_all_sources_stay_named(world: World) -> None:
    ids = style(world, *STYLE[:3])
    consolidate(world)
    [before] = made(world.instance())
    world.clock.now_ms += 1
    ids += style(world, STYLE[3])

    report = consolidate(world)

    [one] = made(world.instance())
    assert (one.memory_id, one.version, one.derived_from) == (before.memory_id, 2, tuple(ids))
    assert one.content == f"{before.content}\n{STYLE[3]}."
    assert report.counts == {"extended": 1}
    assert consolidate(world).changed == 0


def test_the_use_of_all_of_them_counts_as_its_own_also_after_a_compaction(world: World) -> None:
    ids = style(world)
    of = world.instance()
    of.search("ana", SearchQuery(text=STYLE[0], k=5))
    used = sum(of.get("ana", one).access_count for one in ids)
    consolidate(world)

    [one] = made(world.instance())
    world.compact(is_forced=True)

    assert used > 0
    assert [one.access_count, made(world.instance())[0].access_count] == [used, used]


def test_it_cites_what_its_sources_cite_unless_one_is_a_callers_own_word(world: World) -> None:
    new = [
        to_store(
            content,
            on_similar=OnSimilar.CREATE,
            tags=("preference",),
            sources=(Source(TRANSCRIPTS[number % 2], number, number),),
        )
        for number, content in enumerate(STYLE[:3])
    ]
    world.instance().store(asking(), new)
    consolidate(world)
    assert len(made(world.instance())[0].sources) == 3

    world.clock.now_ms += 1
    style(world, STYLE[3])
    consolidate(world)

    assert made(world.instance())[0].sources == ()


@pytest.mark.parametrize(
    "values",
    [
        {"pinned": True},
        {"type": MemoryType.EPISODIC},
        {"metadata_json": '{"team": "blue"}'},
        {"actor": "Leo"},
        {"agent_id": "robot"},
        {"expires_at_ms": 2**50},
    ],
)
def test_what_is_of_another_kind_or_marked_stays_as_it_is(world: World, values: dict[str, object]) -> None:
    style(world, *STYLE[:2])
    apart = style(world, STYLE[2], **values)

    assert consolidate(world).changed == 0
    style(world, STYLE[3])
    consolidate(world)

    of = world.instance()
    assert apart[0] in {one.memory_id for one in active(of)}
    assert apart[0] not in made(of)[0].derived_from


def test_contradictions_are_never_told_together(world: World) -> None:
    ids = [stored(world.instance(), f"The team uses PostgreSQL {one} for billing") for one in (14, 15, 16)]

    assert consolidate(world).changed == 0
    assert {one.memory_id for one in active(world.instance())} == set(ids)


def test_case_m13_a_member_that_a_writer_changes_meanwhile_is_not_overwritten(kept: DyingStores) -> None:
    world = World(kept.store, kept.objects)
    ids = style(world, *STYLE[:3])

    def write() -> None:
        world.instance().update(asking(), ids[1], Patch({"content": "In code style Ana wants long functions"}))
        stored(world.instance(), "In code style Ana likes tea")

    kept.interrupt("append", "before", write)
    report = step(world, kept.store).run("ana", world.due())

    of = world.instance()
    assert of.get("ana", ids[1]).content == "In code style Ana wants long functions"
    assert not made(of) or ids[1] in made(of)[0].derived_from
    assert "In code style Ana likes tea" in " ".join(one.content for one in active(of))
    assert report.skipped.get("changed") == 3


@pytest.mark.parametrize("when", ["before", "after"])
def test_it_may_die_at_any_call_and_the_next_run_ends_what_it_began(kept: DyingStores, when: When) -> None:
    at, ended = 0, False
    while not ended:
        at += 1
        world = World(kept.store, kept.objects)
        world.instance().erase("ana")
        style(world, *STYLE[:3])
        kept.die(at, when)
        try:
            step(world, kept.store).run("ana", world.due())
            ended = True
        except Killed:
            pass
        kept.die(10**6, when)
        consolidate(world)

        of = world.instance()
        [one] = made(of)
        assert len(one.derived_from) == 3
        assert [each.memory_id for each in active(of)] == [one.memory_id]
    assert at > 3


def test_case_m14_one_user_at_a_time_and_no_other_is_touched(world: World) -> None:
    style(world)
    for content in STYLE:
        stored(world.instance(), content, user_id="bob")
    before = world.instance().list_memories("bob", EVERYTHING, 99).memories

    consolidate(world)

    assert world.instance().list_memories("bob", EVERYTHING, 99).memories == before
    assert len(made(world.instance())) == 1


def test_taken_apart_its_sources_are_active_again_and_it_is_gone(world: World) -> None:
    ids = style(world)
    consolidate(world)
    of = world.instance()
    [one] = made(of)

    outcomes = of.unmerge(asking(), one.memory_id)

    assert [outcome.outcome for outcome in outcomes] == ["restored"] * 5 + ["deleted"]
    assert {each.memory_id for each in active(of)} == set(ids)
    assert all(each.consolidated_into is None for each in present(of))
    with pytest.raises(Conflict):
        of.unmerge(asking(), ids[0])


def test_saying_again_what_a_source_says_says_it_of_what_was_made(world: World) -> None:
    style(world)
    consolidate(world)
    of = world.instance()
    [one] = made(of)

    [again] = of.store(asking(), [to_store(STYLE[1])])
    [word] = of.store(asking(), [to_store(STYLE[2], on_similar=OnSimilar.CREATE)])

    assert (again.outcome, again.memory_id) == ("unchanged", one.memory_id)
    assert (word.outcome, word.memory_id) == ("unchanged", one.memory_id)
    assert [each.memory_id for each in active(of)] == [one.memory_id]


def test_a_search_of_the_archive_leaves_sources_where_they_are(world: World) -> None:
    ids = style(world)
    consolidate(world)
    of = world.instance()

    of.search("ana", SearchQuery(text=STYLE[0], k=5, filter=ARCHIVED))

    assert {of.get("ana", one).status for one in ids} == {Status.ARCHIVED}


def test_the_trail_names_what_was_made_and_why(world: World) -> None:
    style(world, *STYLE[:3])
    consolidate(world)

    entries = world.instance().events("ana", 4).entries
    assert {one.operation for one in entries} == {Operation.CONSOLIDATE, Operation.ARCHIVE}
    assert {one.by for one in entries} == {"maintenance"}


def test_the_same_memories_give_the_same_text_on_both_stores(make: Make) -> None:
    texts = []
    for kind in ("inmemory", "dynamodb"):
        world = World(make.store(kind), make.objects("inmemory"))
        style(world)
        consolidate(world)
        texts.append([replace(one, seq=0) for one in made(world.instance())])
    assert texts[0] == texts[1]


def test_sources_do_not_go_by_a_retention_policy_while_what_was_made_of_them_is_there(world: World) -> None:
    ids = style(world, *STYLE[:3])
    consolidate(world)
    world.clock.now_ms += 9 * 365 * DAY_MS

    Decay(*world.aging(), Policy(retention_days=1)).run("ana", world.due())

    of = world.instance()
    assert {of.get("ana", one).status for one in ids} == {Status.ARCHIVED}
    assert len(made(of)) == 1


def test_two_runs_at_once_make_one_memory(kept: DyingStores) -> None:
    world = World(kept.store, kept.objects)
    ids = style(world)

    kept.interrupt("append", "before", lambda: consolidate(world))
    report = step(world, kept.store).run("ana", world.due())

    of = world.instance()
    [one] = made(of)
    assert one.derived_from == tuple(ids)
    assert [each.memory_id for each in active(of)] == [one.memory_id]
    assert (report.changed, report.skipped) == (0, {"changed": 5})
