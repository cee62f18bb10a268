"""What version 1 has stored is read; what newer code has stored is refused, everywhere, and left as it is."""

import base64
import json
import struct
import zlib
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from recollect.answers import SearchQuery
from recollect.aws.versions import UPGRADES, upgraded
from recollect.changes import Patch
from recollect.controller import MemoryController
from recollect.errors import CorruptData, NewerSchema
from recollect.filters import EVERYTHING
from recollect.model import SCHEMA_VERSION
from recollect.ports import MemoryStore

from tests.support.builders import asking, controller, to_store
from tests.support.faults import DyingStore
from tests.support.histories import everything_kept, stored
from tests.support.inmemory import InMemoryMemoryStore
from tests.support.written import FILE, Written, kept, put, says, shown

NEWER = SCHEMA_VERSION + 1
ACTS: dict[str, Callable[[MemoryController], Any]] = {
    "list": lambda of: of.list_memories("ana", EVERYTHING, 50),
    "search": lambda of: of.search("ana", SearchQuery(text="cat")),
    "context": lambda of: of.context("ana", SearchQuery(text="cat"), 500),
    "stats": lambda of: of.stats("ana"),
    "events": lambda of: of.events("ana", 50),
    "store": lambda of: of.store(asking(), [to_store("something new")]),
    "compact": lambda of: of.compact("ana", is_forced=True),
    "erase": lambda of: of.erase("ana"),
    "replay": lambda of: of.replay("ana"),
}
OF_ONE: dict[str, Callable[[MemoryController, str], Any]] = {
    "get": lambda of, memory_id: of.get("ana", memory_id),
    "versions": lambda of, memory_id: of.versions("ana", memory_id, 9),
    "restore": lambda of, memory_id: of.restore(asking(), memory_id, 1),
    "update": lambda of, memory_id: of.update(asking(), memory_id, Patch({"importance": 0.9})),
    "delete": lambda of, memory_id: of.delete(asking(), memory_id),
}


@pytest.fixture
def written() -> Written:
    read: Written = json.loads(FILE.read_text())
    return read


def test_all_that_version_1_has_stored_is_read(written: Written, aws: None) -> None:
    world = put(written)

    found = shown(world.instance())

    assert {name: says(found[name], value) for name, value in written["shown"].items()} == dict.fromkeys(found, True)


def test_all_that_version_1_has_stored_can_be_changed_compacted_and_lost(written: Written, aws: None) -> None:
    world = put(written)
    of = world.instance()
    for memory in written["shown"]["memories"]:
        of.update(asking(), memory["memory_id"], Patch({"importance": 0.125}))
    assert world.reembed().changed == 1
    world.compact(is_forced=True)
    world.objects.delete(world.segment_keys())

    of = world.instance()
    expected = [{"memory_id": one["memory_id"], "content": one["content"]} for one in written["shown"]["memories"]]
    found = [
        {"memory_id": one.memory_id, "content": one.content} for one in of.list_memories("ana", EVERYTHING, 50).memories
    ]
    assert found == expected
    assert of.stats("ana").mean_importance == 0.125
    assert of.replay("ana", verifies=True).disagreements == ()


def as_newer(written: Written, wanted: Callable[[dict[str, Any]], bool]) -> Written:
    """Let newer code have written some items."""
    newer = deepcopy(written)
    items = [item for item in newer["items"] if wanted(item)]
    assert items
    for item in items:
        item["schema_version"] = {"N": str(NEWER)}
        item["of_newer_code"] = {"S": "kept"}
    return newer


def assert_refused(written: Written, act: Callable[[MemoryController], Any]) -> None:
    """Check that nothing is read, and nothing changed."""
    of = put(written).instance()
    before = kept()
    with pytest.raises(NewerSchema, match=f"has schema version {NEWER}, .*: deploy the newer code"):
        act(of)
    assert kept() == before


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_a_newer_head_is_refused_and_nothing_is_changed(
    written: Written, aws: None, act: Callable[[MemoryController], Any]
) -> None:
    assert_refused(as_newer(written, lambda item: item["sk"]["S"] == "LOG#HEAD"), act)


@pytest.mark.parametrize("act", sorted(ACTS.keys() - {"erase"}))  # which reads keys only
def test_a_newer_entry_is_refused_and_nothing_is_changed(written: Written, aws: None, act: str) -> None:
    assert_refused(as_newer(written, lambda item: item["sk"]["S"].endswith("00000013")), ACTS[act])


@pytest.mark.parametrize("act", OF_ONE.values(), ids=OF_ONE)
def test_a_newer_memory_is_refused_and_nothing_is_changed(
    written: Written, aws: None, act: Callable[[MemoryController, str], Any]
) -> None:
    memory_id = next(item["memory_id"]["S"] for item in written["items"] if item["sk"]["S"].startswith("MEM#"))
    newer = as_newer(written, lambda item: memory_id in item["sk"]["S"])

    assert_refused(newer, lambda of: act(of, memory_id))


@pytest.mark.parametrize("act", ["list", "search", "store", "compact", "stats", "replay"])
@pytest.mark.parametrize("is_newest", [False, True])
def test_a_newer_segment_is_refused_and_not_made_anew(written: Written, aws: None, act: str, is_newest: bool) -> None:
    newer = deepcopy(written)
    keys = sorted(key for key in newer["objects"] if key.endswith(".seg"))
    data = bytearray(base64.b64decode(newer["objects"][keys[-1 if is_newest else 0]]))
    data[8:12] = struct.pack("<I", NEWER)
    data[-4:] = struct.pack("<I", zlib.crc32(data[:-4]))
    newer["objects"][keys[-1 if is_newest else 0]] = base64.b64encode(data).decode()

    assert_refused(newer, ACTS[act])


@pytest.mark.parametrize("act", ["events", "replay"])
def test_a_newer_archive_is_refused(written: Written, aws: None, act: str) -> None:
    newer = deepcopy(written)
    key = next(key for key in newer["objects"] if key.endswith(".ndjson"))
    lines = base64.b64decode(newer["objects"][key]).decode()
    changed = lines.replace(f'"schema_version": {SCHEMA_VERSION}', f'"schema_version": {NEWER}')
    newer["objects"][key] = base64.b64encode(changed.encode()).decode()

    assert_refused(newer, ACTS[act])


def newer_head(store: MemoryStore) -> None:
    """Let newer code write the head, and nothing else."""
    if isinstance(store, InMemoryMemoryStore):
        with store.lock:
            store._heads["ana"] = replace(store._heads["ana"], schema_version=NEWER)
        return
    store._client.update_item(  # type: ignore[attr-defined]
        TableName=store._table_name,  # type: ignore[attr-defined]
        Key={"pk": {"S": "LOG#ana"}, "sk": {"S": "LOG#HEAD"}},
        UpdateExpression="SET schema_version = :newer",
        ExpressionAttributeValues={":newer": {"N": str(NEWER)}},
    )


WRITES: dict[str, tuple[str, Callable[[MemoryController], Any]]] = {
    "store": ("append", ACTS["store"]),
    "compact": ("commit_manifest", ACTS["compact"]),
    "archive": ("drop_items", ACTS["compact"]),
    "erase": ("begin_erasure", ACTS["erase"]),
}


@pytest.mark.parametrize(("call", "act"), WRITES.values(), ids=WRITES)
def test_a_head_that_becomes_newer_just_before_a_write_is_not_overwritten(
    store: MemoryStore, call: str, act: Callable[[MemoryController], Any]
) -> None:
    stored(controller(store), "green tea")
    dying = DyingStore(store)
    of = controller(dying.port, prefix="01HG")
    left: list[str] = []

    def meanwhile() -> None:
        newer_head(store)
        left.append(everything_kept(store))

    dying.interrupt(call, "before", meanwhile)
    with pytest.raises(NewerSchema):
        act(of)

    assert left == [everything_kept(store)]
    for read in (store.read_head, lambda user_id: store.read_log(user_id, 0)):
        with pytest.raises(NewerSchema):
            read("ana")


def test_a_commit_writes_the_present_version() -> None:
    store = InMemoryMemoryStore()
    stored(controller(store), "green tea")
    store._heads["ana"] = replace(store._heads["ana"], schema_version=SCHEMA_VERSION - 1)

    stored(controller(store, prefix="01HG"), "black tea")

    head = store.read_head("ana")
    assert (head.seq, head.schema_version) == (2, SCHEMA_VERSION)


def test_items_of_older_versions_are_upgraded_one_by_one() -> None:
    def counted(item: Any) -> Any:
        return {**item, "n": {"N": str(int(item["n"]["N"]) + 1)}}

    upgrades = ({"memory": counted}, {"head": counted}, {"memory": counted})
    found = {
        version: upgraded("memory", {"n": {"N": "0"}, **said}, upgrades)["n"]["N"]
        for version, said in ((0, {}), *((number, {"schema_version": {"N": str(number)}}) for number in (1, 2, 3, 4)))
    }

    assert found == {0: "2", 1: "2", 2: "1", 3: "1", 4: "0"}
    with pytest.raises(NewerSchema):
        upgraded("memory", {"schema_version": {"N": "5"}}, upgrades)
    for wrong in ("0", "-1", "x"):
        with pytest.raises(CorruptData):
            upgraded("memory", {"schema_version": {"N": wrong}}, upgrades)
    assert len(UPGRADES) + 1 == SCHEMA_VERSION
