"""A memory store and an object store in memory that keep the ports' promises; for tests and evaluation."""

import base64
import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from threading import Lock

from recollect import keys
from recollect.due import shard_of
from recollect.errors import Conflict, NewerSchema, NotFound
from recollect.model import SCHEMA_VERSION, Change, Entry, Head, Memory, Operation, Touch
from recollect.object_store import Grant, ObjectVersion, StoredObject, Upload
from recollect.ports import Item, StoredAnswer, Version


class InMemoryMemoryStore:
    """Users' logs, heads, memories, earlier versions and stored answers, in dicts; and items of other stores."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.others: dict[tuple[str, str], object] = {}  # by user and sort key
        self._logs: dict[str, dict[int, Entry]] = {}
        self._heads: dict[str, Head] = {}
        self._memories: dict[tuple[str, str], Memory] = {}
        self._answers: dict[tuple[str, str], StoredAnswer] = {}
        self._versions: dict[tuple[str, str, int], Version] = {}
        self._touches: dict[tuple[str, str], Touch] = {}

    def read_log(self, user_id: str, after_seq: int, touched_ms: int = 0) -> tuple[list[Entry | Touch], Head]:
        with self.lock:
            records: dict[str, Entry | Touch] = {keys.entry(seq): of for seq, of in self._logs.get(user_id, {}).items()}
            records |= {key: touch for (owner, key), touch in self._touches.items() if owner == user_id}
            first = keys.touch(after_seq, touched_ms)
            return [records[key] for key in sorted(records) if key >= first], _known(self._heads.get(user_id, Head()))

    def touch(self, user_id: str, touch: Touch, expires_at_s: int) -> None:
        with self.lock:
            self._touches[user_id, keys.touch(touch.seq, touch.at_ms, touch.touch_id)] = touch

    def append(
        self,
        user_id: str,
        head: Head,
        seen: Head,
        changes: Sequence[Change],
        by: str,
        answer: StoredAnswer | None,
    ) -> None:
        with self.lock:
            present = self._heads.get(user_id, Head())
            if (present.seq, present.epoch, present.schema_version) != (seen.seq, seen.epoch, seen.schema_version):
                raise Conflict("somebody else came first")
            if answer is not None:
                self._keep_answer(user_id, answer)
            for seq, change in enumerate(changes, start=seen.seq + 1):
                self._logs.setdefault(user_id, {})[seq] = _entry(seq, change, by)
                self._follow(user_id, change, seq)
            if changes:
                due_at_s = present.due_at_s if head.due_at_s == seen.due_at_s else head.due_at_s
                if seen.due_at_s is None and present.due_at_s is not None:
                    due_at_s = present.due_at_s
                self._heads[user_id] = replace(_with_manifest_of(head, present), due_at_s=due_at_s)

    def commit_manifest(self, user_id: str, head: Head, seen: Head) -> None:
        with self.lock:
            present = self._heads.get(user_id, Head())
            if present.revision != seen.revision or _life(present) != _life(seen):
                raise Conflict("somebody else came first")
            self._heads[user_id] = _with_manifest_of(present, head)

    def drop_items(self, user_id: str, items: Sequence[Item], seen: Head) -> None:
        with self.lock:
            if _life(self._heads.get(user_id, Head())) != _life(seen):
                raise Conflict("somebody else came first")
            for item in items:
                if keys.is_touch(item.key) or keys.seq_of(item.key) in self._logs.get(user_id, {}):
                    self._erase(user_id, item.key)

    def fetch(self, user_id: str, memory_ids: Sequence[str]) -> Mapping[str, Memory]:
        with self.lock:
            wanted = [(user_id, memory_id) for memory_id in memory_ids]
            return {place[1]: self._memories[place] for place in wanted if place in self._memories}

    def stored_answer(self, user_id: str, key: str) -> StoredAnswer | None:
        with self.lock:
            return self._answers.get((user_id, key))

    def versions(self, user_id: str, memory_id: str, below: int | None, limit: int) -> list[Version]:
        with self.lock:
            numbers = [
                number
                for owner, of, number in self._versions
                if (owner, of) == (user_id, memory_id) and (below is None or number < below)
            ]
            newest = sorted(numbers, reverse=True)[:limit]
            return [self._versions[user_id, memory_id, number] for number in newest]

    def every_version(self, user_id: str) -> Iterator[Version]:
        with self.lock:
            found = [Version(memory) for (owner, _), memory in self._memories.items() if owner == user_id]
            found += [version for (owner, *_), version in self._versions.items() if owner == user_id]
        yield from found

    def seqs_of(self, user_id: str, memory_id: str) -> list[int]:
        with self.lock:
            versions = [of for (owner, one, _), of in self._versions.items() if (owner, one) == (user_id, memory_id)]
            seqs = {seq for version in versions for seq in (version.memory.seq, version.ended_seq)}
            present = self._memories.get((user_id, memory_id))
            return sorted(seqs | ({present.seq} if present else set()))

    def read_entries(self, user_id: str, seqs: Sequence[int]) -> list[Entry]:
        with self.lock:
            log = self._logs.get(user_id, {})
            return [log[seq] for seq in seqs if seq in log]

    def redact_version(self, user_id: str, version: Version) -> None:
        with self.lock:
            place = (user_id, version.memory.memory_id, version.memory.version)
            if place in self._versions:
                self._versions[place] = version

    def redact_entry(self, user_id: str, entry: Entry) -> None:
        with self.lock:
            log = self._logs.get(user_id, {})
            if entry.seq in log and log[entry.seq].memory_id == entry.memory_id:
                log[entry.seq] = replace(log[entry.seq], columns=None, content_hash=entry.content_hash)

    def schedule(self, user_id: str, due_at_s: int | None, seen: Head) -> None:
        with self.lock:
            self.set_due(user_id, due_at_s, seen)

    def set_due(self, user_id: str, due_at_s: int | None, seen: Head) -> None:
        """As `schedule`; for whoever has the lock."""
        present = self._heads.get(user_id, Head())
        if (present.epoch, present.seq, present.due_at_s) != (seen.epoch, seen.seq, seen.due_at_s) or not seen.epoch:
            raise Conflict("somebody else came first")
        self._heads[user_id] = replace(present, due_at_s=due_at_s)

    def due_users(self, shard: str, now_s: int) -> list[str]:
        """Name the users of a shard who are due, in the order of their times; those of the same time by name."""
        with self.lock:
            found = [(of.due_at_s, name) for name, of in self._heads.items() if shard_of(name) == shard]
        return [
            name
            for due_at_s, name in sorted((at or 0, name) for at, name in found if at is not None)
            if due_at_s <= now_s
        ]

    def read_head(self, user_id: str) -> Head:
        with self.lock:
            return _known(self._heads.get(user_id, Head()))

    def begin_erasure(self, user_id: str, head: Head, seen: Head) -> None:
        with self.lock:
            if _life(self._heads.get(user_id, Head())) != _life(seen):
                raise Conflict("somebody else came first")
            self._heads[user_id] = head

    def items(self, user_id: str, limit: int, after: Item | None = None) -> list[Item]:
        with self.lock:
            found = [Item("log", keys.entry(seq)) for seq in self._logs.get(user_id, {})]
            found += [Item("log", key) for owner, key in self._touches if owner == user_id]
            found += [Item("memories", keys.memory(of)) for owner, of in self._memories if owner == user_id]
            found += [
                Item("memories", keys.version(of, number)) for owner, of, number in self._versions if owner == user_id
            ]
            found += [Item("memories", keys.idempotency(key)) for owner, key in self._answers if owner == user_id]
            found += [Item("memories", key) for owner, key in self.others if owner == user_id]
            return [item for item in sorted(found) if after is None or item > after][:limit]

    def erase_items(self, user_id: str, items: Sequence[Item], head: Head, seen: Head) -> None:
        with self.lock:
            present = self._heads.get(user_id, Head())
            if present.erased != seen.erased or _life(present) != _life(seen):
                raise Conflict("somebody else came first")
            self._heads[user_id] = replace(head, due_at_s=present.due_at_s)
            for item in items:
                self._erase(user_id, item.key)

    def end_erasure(self, user_id: str, seen: Head) -> None:
        with self.lock:
            if _life(self._heads.get(user_id, Head())) != _life(seen):
                raise Conflict("somebody else came first")
            self._heads.pop(user_id, None)

    def open(self, user_id: str, epoch: str) -> Head:
        """Give the head, a new one if there is none; for whoever has the lock."""
        return self._heads.setdefault(user_id, Head(epoch=epoch))

    def head_of(self, user_id: str) -> Head:
        """Give the head; for whoever has the lock."""
        return self._heads.get(user_id, Head())

    def _erase(self, user_id: str, key: str) -> None:
        kind, _, name = key.partition("#")
        if keys.is_touch(key):
            self._touches.pop((user_id, key), None)
        elif kind == "LOG":
            del self._logs[user_id][keys.seq_of(key)]
        elif kind == "MEM":
            del self._memories[user_id, name]
        elif kind == "VER":
            memory_id, number = name.rsplit("#", 1)
            del self._versions[user_id, memory_id, int(number)]
        elif kind == "IDEM":
            del self._answers[user_id, name]
        else:
            del self.others[user_id, key]

    def _keep_answer(self, user_id: str, answer: StoredAnswer) -> None:
        earlier = self._answers.get((user_id, answer.key))
        if earlier is not None and earlier.expires_at_s > answer.created_at_s:
            raise Conflict("an answer is there under this key")
        self._answers[user_id, answer.key] = answer

    def _follow(self, user_id: str, change: Change, seq: int) -> None:
        key = (user_id, change.memory_id)
        if change.before is not None:
            self._versions[(*key, change.before.version)] = Version(change.before, ended_seq=seq)
        if change.after is not None:
            self._memories[key] = replace(change.after, seq=seq)
        elif change.operation is not Operation.EMBED:
            self._memories.pop(key, None)


def _known(head: Head) -> Head:
    if head.schema_version > SCHEMA_VERSION:
        raise NewerSchema("head", head.schema_version)
    return head


def _life(head: Head) -> tuple[str, int]:
    return head.epoch, head.schema_version


def _with_manifest_of(head: Head, other: Head) -> Head:
    names = ("compacted_seq", "folded_ms", "manifest", "revision")
    return replace(head, **{name: getattr(other, name) for name in names})


def _entry(seq: int, change: Change, by: str) -> Entry:
    return Entry(
        seq=seq,
        operation=change.operation,
        memory_id=change.memory_id,
        version=change.version,
        at_ms=change.at_ms,
        by=by,
        reason=change.reason,
        columns=change.columns,
    )


class InMemoryObjectStore:
    """Objects in a dict, one version of each; of the time of this machine unless another one is given."""

    def __init__(self, now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self._lock = Lock()
        self._now_ms = now_ms
        self._objects: dict[str, tuple[bytes, int]] = {}
        self._metadata: dict[str, Mapping[str, str]] = {}
        self.granted: dict[str, tuple[str, Upload | None]] = {}  # by URL: the key, and what may be put there

    def put_new(self, key: str, data: bytes) -> None:
        with self._lock:
            if key in self._objects:
                raise Conflict("an object is there under this key")
            self._objects[key] = (bytes(data), self._now_ms())

    def get(self, key: str) -> bytes:
        with self._lock:
            if key not in self._objects:
                raise NotFound("there is no such object")
            return self._objects[key][0]

    def get_many(self, keys: Sequence[str]) -> Sequence[bytes]:
        return [self.get(key) for key in keys]

    def metadata(self, key: str) -> Mapping[str, str]:
        self.get(key)
        return self._metadata.get(key, {})

    def grant_put(self, key: str, upload: Upload, for_s: int) -> Grant:
        url = f"memory:put?{len(self.granted)}"
        self.granted[url] = (key, upload)
        return Grant(url, {"content-length": str(upload.size)})

    def grant_get(self, key: str, media_type: str, for_s: int) -> Grant:
        url = f"memory:get?{len(self.granted)}&type={media_type}"
        self.granted[url] = (key, None)
        return Grant(url, {})

    def put_granted(self, url: str, data: bytes) -> str:
        """Put what a URL was granted for, as its caller does; give the key."""
        key, upload = self.granted[url]
        assert upload is not None
        assert (len(data), base64.b64encode(hashlib.sha256(data).digest()).decode()) == (upload.size, upload.sha256)
        self.put_new(key, data)
        self._metadata[key] = upload.metadata
        return key

    def list_objects(self, prefix: str, after: str = "", limit: int = 1000) -> Sequence[StoredObject]:
        with self._lock:
            wanted = sorted(key for key in self._objects if key.startswith(prefix) and key > after)[:limit]
            return [StoredObject(key, len(self._objects[key][0]), self._objects[key][1]) for key in wanted]

    def delete(self, keys: Sequence[str]) -> None:
        with self._lock:
            for key in keys:
                self._objects.pop(key, None)

    def list_versions(self, prefix: str, limit: int) -> Sequence[ObjectVersion]:
        return [ObjectVersion(one.key, "null") for one in self.list_objects(prefix, limit=limit)]

    def delete_versions(self, versions: Sequence[ObjectVersion]) -> None:
        self.delete([version.key for version in versions])
