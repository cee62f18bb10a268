"""Two years of three users on a virtual clock, each with a session a day, maintained by plan.

What happens when calls fail is the subject of ``test_faulty_days.py``. The facts are found by their words: the embedder
of these tests counts words. The five preferences share three of them.
"""

import logging
from dataclasses import dataclass

import pytest
from recollect.answers import SearchQuery
from recollect.filters import ACTIVE
from recollect.model import Memory, Status, is_expired

from tests.support.diaries import PROFILE
from tests.support.histories import everything_kept
from tests.support.years import POLICY, USERS, Years, words_of

LOG = logging.getLogger(__name__)
QUARTER, QUARTERS = 91, 8  # days
WEEK_MAX = 7 * 8  # entries and touches of a week
SEGMENTS_MAX = POLICY.fan * (POLICY.tiers + 1)
REPORTS_MAX = 90 // 7 * 3
FOUND_SHARE = 0.95


@dataclass(frozen=True, slots=True)
class Sizes:
    """What is stored of a user.

    Parameters
    ----------
    tail, records : int
        Entries that are not folded; all items of the log.
    """

    seq: int
    tail: int
    records: int
    segments: int
    objects: int
    reports: int
    active: int


@dataclass(frozen=True, slots=True)
class Quarter:
    """What was seen of a user at its end; texts that should not be there are evidence.

    Parameters
    ----------
    missing, stale : list of str
        Facts that were not found, and values that do not hold any more and were.
    lost : list of str
        What was pinned or used, and is not active.
    changed : int
        By a second run right after the first one; `is_same` whether all that is stored is the same.
    """

    user_id: str
    sizes: Sizes
    facts: int
    missing: list[str]
    stale: list[str]
    expired: list[str]
    lost: list[str]
    strangers: list[str]
    disagreements: tuple[str, ...]
    changed: int
    is_same: bool


def sizes_of(years: Years, user_id: str) -> Sizes:
    head = years.world.head(user_id)
    return Sizes(
        seq=head.seq,
        tail=head.seq - head.compacted_seq,
        records=len(years.store.read_log(user_id, 0)[0]),
        segments=len(head.manifest),
        objects=len(years.world.object_keys(user_id)),
        reports=len(years.world.reports.reports(user_id, None, 1_000)),
        active=len(years.present(user_id, ACTIVE)),
    )


def quarter_of(years: Years, user_id: str) -> Quarter:
    before = years.kept(user_id)
    second = years.again(user_id)
    is_same = years.kept(user_id) == before
    diary, of, now_ms = years.diaries[user_id], years.world.instance(), years.clock.now_ms
    missing, stale, hits = [], [], []
    for fact in diary.facts:
        found = years.found(of, user_id, fact.question)
        words = {word for memory in found for word in words_of(memory.content)}
        missing += [] if fact.values[-1] in words else [fact.content]
        stale += sorted(words & set(fact.values[:-1]))
        hits += found
    over = [text for text, ends_ms in diary.notices.items() if ends_ms <= now_ms]
    hits += [memory for text in over[-9:] for memory in years.found(of, user_id, text)]
    present = years.present(user_id)
    return Quarter(
        user_id,
        sizes_of(years, user_id),
        len(diary.facts),
        missing,
        stale,
        [one.content for one in (*present, *hits) if is_expired(one.expires_at_ms, now_ms) or one.content in over],
        lost_of(years, user_id, present),
        [one.content for one in (*present, *hits) if not is_of(user_id, years, one)],
        of.replay(user_id, verifies=True).disagreements,
        second,
        is_same,
    )


def lost_of(years: Years, user_id: str, present: list[Memory]) -> list[str]:
    active = {memory.memory_id for memory in present if memory.status is Status.ACTIVE}
    faded = (one for one in present if one.status is Status.ARCHIVED and not one.consolidated_into)
    lost = [one.content for one in faded if one.access_count and one.memory_id not in years.given_up]
    return lost + [memory_id for memory_id in years.pinned.get(user_id, ()) if memory_id not in active]


def is_of(user_id: str, years: Years, memory: Memory) -> bool:
    marks = {name: diary.mark for name, diary in years.diaries.items()}
    said = {name for name, mark in marks.items() if any(word.startswith(mark) for word in words_of(memory.content))}
    return said == {user_id}


@pytest.fixture(scope="module")
def years() -> Years:
    return Years()


@pytest.fixture(scope="module")
def quarters(years: Years) -> list[Quarter]:
    """Let two years pass."""
    seen = []
    for _ in range(QUARTERS):
        years.live(QUARTER)
        seen += [quarter_of(years, user_id) for user_id in USERS]
    LOG.info("%s, %d runs of maintenance", dict(years.counts), years.runs)
    for one in seen:
        LOG.info("%s: %d of %d facts, %s", one.user_id, one.facts - len(one.missing), one.facts, one.sizes)
    return seen


def test_thousands_of_things_happen_in_two_years(years: Years, quarters: list[Quarter]) -> None:
    assert years.day == QUARTER * QUARTERS
    assert years.counts["stores"] > 5_000
    assert years.counts["searches"] > 2_000
    assert all(
        years.counts[name] > 2
        for name in ("superseded", "conflict", "deletes", "purges", "taken back", "found in the archive", "resolved")
    ), years.counts
    assert years.world.failures == []


def test_what_is_stored_stays_within_its_bounds(quarters: list[Quarter]) -> None:
    for one in quarters:
        sizes = one.sizes
        assert sizes.tail < POLICY.fold_entries + WEEK_MAX
        assert sizes.records < POLICY.fold_entries + POLICY.fold_touches + 2 * WEEK_MAX
        assert sizes.segments <= SEGMENTS_MAX
        assert sizes.objects <= SEGMENTS_MAX + 2 * (sizes.seq // POLICY.fold_entries + 1)
        assert sizes.reports <= REPORTS_MAX


def test_in_the_second_year_active_memories_hardly_grow(years: Years, quarters: list[Quarter]) -> None:
    for user_id in USERS:
        of_user = [one.sizes for one in quarters if one.user_id == user_id]
        first, last = of_user[QUARTERS // 2 - 1], of_user[-1]
        assert last.active - first.active < 0.2 * (last.seq - first.seq), user_id


def test_planted_facts_are_found_at_every_quarter_with_their_present_value(quarters: list[Quarter]) -> None:
    assert quarters[-3].facts > 50
    for one in quarters:
        assert one.facts - len(one.missing) >= FOUND_SHARE * one.facts, one.missing
        assert one.stale == []


def test_what_has_expired_is_never_told_again(quarters: list[Quarter]) -> None:
    assert [one.expired for one in quarters if one.expired] == []


def test_what_is_pinned_or_used_stays_active(quarters: list[Quarter]) -> None:
    assert [one.lost for one in quarters if one.lost] == []


def test_nobody_is_told_of_another_user(quarters: list[Quarter]) -> None:
    assert [one.strangers for one in quarters if one.strangers] == []


def test_purged_text_is_nowhere(years: Years, quarters: list[Quarter]) -> None:
    kept = everything_kept(years.store)

    assert [text for text in years.purged if text in kept] == []


def test_log_versions_and_partition_agree_at_every_quarter(quarters: list[Quarter]) -> None:
    assert [one.disagreements for one in quarters if one.disagreements] == []


def test_maintenance_right_after_maintenance_changes_nothing(quarters: list[Quarter]) -> None:
    assert [(one.changed, one.is_same) for one in quarters] == [(0, True)] * len(quarters)


@pytest.mark.parametrize("user_id", ["ana", "ben", "cleo"])
def test_the_five_preferences_about_code_are_one_entry_of_the_profile(
    years: Years, quarters: list[Quarter], user_id: str
) -> None:
    said = years.diaries[user_id].style()

    [entry] = [one for one in years.present(user_id, ACTIVE) if "code style" in one.content]

    assert [line.rstrip(".") for line in entry.content.splitlines()] == said
    assert (len(entry.derived_from), entry.tags) == (len(said), (PROFILE,))
    block = years.world.instance().context(user_id, SearchQuery(text="code", reinforces=False), 10_000)
    assert entry.memory_id in block.stable.memory_ids
    assert len([one for one in block.stable.memory_ids if one == entry.memory_id]) == 1


def test_the_same_seed_makes_the_same_years() -> None:
    one, other = Years(), Years()
    one.live(35)
    other.live(35)

    assert [one.kept(user_id) for user_id in USERS] == [other.kept(user_id) for user_id in USERS]
