"""Erasing the objects of users: over calls, crashes, two erasers, and objects that come late."""

from collections.abc import Callable

import pytest
from recollect import erasing, keys
from recollect.erasure import OBJECTS, Erasure, ErasureState
from recollect.errors import Unavailable
from recollect.model import Head
from recollect.object_store import ObjectStore

from tests.support.builders import controller
from tests.support.faults import DyingStores, Killed, deaths
from tests.support.histories import Ticking, erased, stored, with_history

EPOCHS = ("01HE0000000000000000000001", "01HE0000000000000000000002")


def put_objects(objects: ObjectStore, user_id: str = "ana") -> int:
    """Put segments and archives of two lives of a user; tell how many."""
    put = [
        keys.segment(user_id, epoch, f"01HE00000000000000000000A{number}") for epoch in EPOCHS for number in range(2)
    ]
    put += [keys.archive(user_id, EPOCHS[0], number) for number in (256, 512, 768)]
    for key in put:
        objects.put_new(key, b"canary")
    return len(put)


def objects_left(objects: ObjectStore, user_id: str = "ana") -> int:
    return len(objects.list_versions(keys.objects_of(user_id), 99))


def erase_with(kept: DyingStores, prefix: str, user_id: str = "ana") -> Erasure:
    return erased(controller(kept.store, objects=kept.objects, prefix=prefix), user_id)


def test_the_objects_of_one_user_go_and_those_of_others_stay(kept: DyingStores) -> None:
    of = controller(kept.store, objects=kept.objects)
    with_history(of)
    number = put_objects(kept.objects)
    put_objects(kept.objects, "ana2")

    counted = of.count_erasable("ana")
    assert objects_left(kept.objects) == number
    erasure = of.erase("ana")

    assert counted.by_store == erasure.by_store
    assert erasure.by_store["s3"] == {"objects": number}
    assert (counted.left, counted.is_partial) == (6 + number, False)
    assert erasure.state is ErasureState.ERASED
    assert objects_left(kept.objects) == 0
    assert objects_left(kept.objects, "ana2") == number
    assert of.erase("ana").by_store["s3"] == {"objects": 0}


def test_a_user_with_objects_only_is_erased_too(kept: DyingStores) -> None:
    number = put_objects(kept.objects)

    erasure = erase_with(kept, "01HF1")

    assert sum(erasure.counts.values()) == erasure.counts[OBJECTS] == number
    assert objects_left(kept.objects) == 0
    assert kept.store.read_head("ana") == Head()


def test_an_erasure_of_objects_goes_on_over_calls(kept: DyingStores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasing, "BUDGET_MS", 1)
    monkeypatch.setattr(erasing, "OBJECTS_PER_DELETE", 2)
    with_history(controller(kept.store))
    number = put_objects(kept.objects)
    hurried = controller(kept.store, objects=kept.objects, clock=Ticking(1), prefix="01HFB")

    left: list[int] = []
    while (erasure := hurried.erase("ana")).state is ErasureState.ERASING:
        assert sum(erasure.counts.values()) + erasure.left == 6 + number
        left.append(erasure.left)

    assert left == [11, 9, 7, 6, 0]
    assert erasure.counts[OBJECTS] == number


def test_a_count_of_very_many_objects_says_so(kept: DyingStores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasing, "OBJECTS_PER_COUNT", 3)
    put_objects(kept.objects)

    erasure = controller(kept.store, objects=kept.objects).count_erasable("ana")

    assert (erasure.left, erasure.is_partial) == (3, True)


def test_an_erasure_that_dies_anywhere_and_is_repeated_is_one_erasure(
    kept: DyingStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "OBJECTS_PER_DELETE", 4)
    with_history(controller(kept.store, prefix="01HF0"), "user")
    number = put_objects(kept.objects, "user")
    moments = deaths(lambda _: erase_with(kept, "01HF1", "user"), kept)
    assert kept.calls.count("delete_versions") == 2
    for turn, (at, when) in enumerate(moments):
        user_id = f"user {turn}"
        with_history(controller(kept.store, prefix="01HF0"), user_id)
        put_objects(kept.objects, user_id)
        kept.die(at, when)

        with pytest.raises(Killed):
            erase_with(kept, "01HF1", user_id)
        was_over = kept.store.read_head(user_id) == Head()
        erasure = erase_with(kept, "01HF2", user_id)

        assert objects_left(kept.objects, user_id) == 0
        assert kept.store.items(user_id, 9) == []
        assert sum(erasure.counts.values()) == (0 if was_over else 6 + number)


def test_two_erasers_at_once_count_everything_once(kept: DyingStores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasing, "OBJECTS_PER_DELETE", 3)
    with_history(controller(kept.store, prefix="01HF0"), "user")
    number = put_objects(kept.objects, "user")
    moments = deaths(lambda _: erase_with(kept, "01HF1", "user"), kept)
    for turn, (at, when) in enumerate(moments):
        user_id = f"user {turn}"
        with_history(controller(kept.store, prefix="01HF0"), user_id)
        put_objects(kept.objects, user_id)
        monkeypatch.setattr(erasing, "BUDGET_MS", 1 if when == "before" else 10_000)  # for a part of it, or for all
        other = controller(kept.store, objects=kept.objects, clock=Ticking(1), prefix="01HF2")
        receipts: list[Erasure] = []
        kept.interrupt(at, when, _erasing(other.erase, user_id, receipts))

        receipts.append(erase_with(kept, "01HF1", user_id))

        assert objects_left(kept.objects, user_id) == 0
        assert kept.store.read_head(user_id) == Head()
        assert max(erasure.counts[OBJECTS] for erasure in receipts) == number


def _erasing(erase: Callable[[str], Erasure], user_id: str, receipts: list[Erasure]) -> Callable[[], None]:
    return lambda: receipts.append(erase(user_id))


def test_an_eraser_that_was_asleep_leaves_the_objects_of_the_next_life_alone(kept: DyingStores) -> None:
    of = controller(kept.store, prefix="01HF0")
    with_history(of, "user")
    put_objects(kept.objects, "user")
    calls = len(deaths(lambda _: erase_with(kept, "01HF1", "user"), kept)) // 2
    for at in range(2, calls + 1):  # from after its first look at the head on
        user_id = f"user {at}"
        with_history(of, user_id)
        put_objects(kept.objects, user_id)
        new: list[str] = []

        def meanwhile(user_id: str = user_id, new: list[str] = new) -> None:
            erase_with(kept, "01HF2", user_id)
            stored(of, "green tea", user_id)
            new.append(keys.segment(user_id, kept.store.read_head(user_id).epoch, "01HE0000000000000000000009"))
            kept.objects.put_new(new[0], b"of the next life")

        kept.interrupt(at, "after", meanwhile)
        controller(kept.store, objects=kept.objects, prefix="01HF1").erase(user_id)

        assert [one.key for one in kept.objects.list_objects(keys.objects_of(user_id))] == new
        assert kept.store.read_head(user_id).seq == 1


def test_an_object_that_comes_while_a_user_is_erased_goes_at_the_latest_with_a_repeat(kept: DyingStores) -> None:
    with_history(controller(kept.store, prefix="01HF0"), "user")
    number = put_objects(kept.objects, "user")
    moments = deaths(lambda _: erase_with(kept, "01HF1", "user"), kept)
    counts: set[int] = set()
    told: set[str] = set()
    for turn, (at, when) in enumerate(moments):
        user_id = f"user {turn}"
        with_history(controller(kept.store, prefix="01HF0"), user_id)
        put_objects(kept.objects, user_id)
        late = keys.segment(user_id, EPOCHS[1], "01HE00000000000000000000B0")
        kept.interrupt(at, when, _putting(kept.objects, late))

        try:
            counts.add(erase_with(kept, "01HF1", user_id).counts[OBJECTS])
        except Unavailable as error:
            told.add(error.message)
        left = objects_left(kept.objects, user_id)
        again = erase_with(kept, "01HF2", user_id)

        assert again.counts[OBJECTS] == left
        assert objects_left(kept.objects, user_id) == 0
        assert kept.store.read_head(user_id) == Head()
    assert counts == {number, number + 1}  # after the last look there is nothing to be told
    assert told == {"something was kept of this user in the meantime; call DELETE again"}


def _putting(objects: ObjectStore, key: str) -> Callable[[], None]:
    return lambda: objects.put_new(key, b"late")
