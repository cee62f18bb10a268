"""Taking the place of a memory, as whole controllers do it on every store, wherever they die."""

import pytest
from recollect.controller import MemoryController
from recollect.filters import ACTIVE
from recollect.model import Status
from recollect.ports import MemoryStore

from tests.support.builders import asking, controller, to_store
from tests.support.faults import DyingStore, Killed, deaths
from tests.support.histories import stored

OLD = "The user's team uses PostgreSQL 14"
NEW = "The user's team uses PostgreSQL 15"


@pytest.mark.parametrize("is_by_word", [True, False])
@pytest.mark.parametrize("key", ["k", None])
def test_wherever_it_dies_there_is_one_active_memory(
    store: MemoryStore, is_by_word: bool, key: str | None
) -> None:  # case M1
    def correct(of: MemoryController, user_id: str, old: str) -> None:
        of.store(asking(user_id, key), [to_store(NEW, supersedes=old if is_by_word else None)])

    def active(user_id: str) -> list[str]:
        return [one.content for one in controller(store).list_memories(user_id, ACTIVE, 9).memories]

    dying = DyingStore(store)
    rehearsed = stored(controller(store), OLD, "user")
    moments = deaths(lambda _: correct(controller(dying.port, prefix="01HF1"), "user", rehearsed), dying)
    assert len(moments) >= 6
    for turn, (at, when) in enumerate(moments):
        user_id = f"user {turn}"
        old = stored(controller(store), OLD, user_id)
        dying.die(at, when)

        with pytest.raises(Killed):
            correct(controller(dying.port, prefix="01HF1"), user_id, old)
        assert active(user_id) in ([OLD], [NEW])
        of = controller(store, prefix="01HF2")
        correct(of, user_id, old)

        assert active(user_id) == [NEW]
        retired = of.get(user_id, old)
        assert (retired.status, retired.content) == (Status.SUPERSEDED, OLD)
        assert retired.superseded_by is not None
        assert of.get(user_id, retired.superseded_by).supersedes == old
        assert store.read_log(user_id, 0)[1].seq == 3
