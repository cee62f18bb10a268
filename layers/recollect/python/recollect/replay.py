"""What a user's memories were after any entry of the log, and whether log, versions and partition agree. Pure.

The log says what happened to which memory, the versions what each said from one entry to another. Either tells which
memories were there at any time; the columns of a partition follow from both.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recollect.changes import NOT_EMBEDDED, columns_for
from recollect.model import LEAVING, Entry, Operation
from recollect.ports import Version
from recollect.segments.building import from_entries
from recollect.segments.ids import ids_of
from recollect.segments.layout import Arrays

# Vectors can be made of the text again, and uses are no part of the log; an embedding has an entry of its own.
_NOT_COMPARED = frozenset({"codes", "norms", "bits", "access_count", "last_accessed_at", "seq"})
_OF_OTHERS = ("gone.", "dead.", "used.")


@dataclass(frozen=True, slots=True)
class Replay:
    """A user's memories as they were after an entry.

    Parameters
    ----------
    seq : int
        Number of the entry; 0 for before the first one.
    at_ms : int or None
        When that was.
    memories : tuple of Version
        Those that were there, of every status, by id. One that was purged since is redacted.
    disagreements : tuple of str
        Where log and versions up to there, or log and partition, contradict each other; never text of a memory.
    """

    seq: int
    at_ms: int | None
    memories: tuple[Version, ...]
    disagreements: tuple[str, ...]


def replay(entries: Sequence[Entry], versions: Sequence[Version], seq: int) -> Replay:
    """Tell what was there after an entry.

    Parameters
    ----------
    entries : sequence of Entry
        The log from its beginning to that entry, in order; without columns.
    versions : sequence of Version
        All of the user.
    """
    there, _ = state_at(versions, seq)
    found = [*_gaps(entries, seq), *_of_entries(entries, versions), *_of_versions(entries, versions, seq)]
    at_ms = entries[-1].at_ms if entries else None
    return Replay(seq, at_ms, tuple(there[memory_id] for memory_id in sorted(there)), tuple(found))


def seq_at(entries: Sequence[Entry], at_ms: int) -> int:
    """Give the number of the last entry that was made at a time or before; 0 if none was."""
    return max((entry.seq for entry in entries if entry.at_ms <= at_ms), default=0)


def state_at(versions: Iterable[Version], seq: int) -> tuple[Mapping[str, Version], Iterable[Version]]:
    """Give the versions that an entry left behind, by memory, and the last ones of memories that were gone then."""
    made = [version for version in versions if version.memory.seq <= seq]
    there = {v.memory.memory_id: v for v in made if not 0 < v.ended_seq <= seq}
    ended = sorted((v for v in made if v.memory.memory_id not in there), key=lambda version: version.ended_seq)
    return there, {version.memory.memory_id: version for version in ended}.values()


def rebuilt(entries: Sequence[Entry], versions: Sequence[Version], embedder: str, dimension: int) -> Arrays:
    """Make the columns of a segment that holds what a log and its versions say, all of it pending."""
    made = {version.memory.seq: version.memory for version in versions}
    newest = {entry.memory_id: entry for entry in entries if entry.operation is not Operation.EMBED}
    whole = [
        replace(entry, columns=columns_for(made[entry.seq], NOT_EMBEDDED) if entry.seq in made else None)
        for entry in newest.values()
    ]
    return from_entries(whole, embedder, dimension)


def differences(live: Arrays, expected: Arrays) -> list[str]:
    """Tell in which columns the rows of a partition are other ones than expected.

    Parameters
    ----------
    live, expected : mapping of str to ndarray
        Columns of one segment, which holds the whole partition.
    """
    found = [
        f"{memory_id}: partition and log do not agree that it is {what}"
        for prefix, what in (("", "there"), ("gone.", "gone"))
        for memory_id in sorted(_ids_of(live, prefix) ^ _ids_of(expected, prefix))
    ]
    if found:
        return found
    names = [name for name in sorted(expected) if name not in _NOT_COMPARED and not name.startswith(_OF_OTHERS)]
    return [
        f"the partition's column {name} is another one than the memories give"
        for name in [*names, "gone.purged"]
        if not np.array_equal(live[name], expected[name])
    ]


def _gaps(entries: Sequence[Entry], seq: int) -> list[str]:
    there = {entry.seq for entry in entries}
    return [f"entry {number}: it is missing" for number in range(1, seq + 1) if number not in there]


def _of_entries(entries: Sequence[Entry], versions: Sequence[Version]) -> list[str]:
    """Tell which entries made a version that is not there, or another one.

    Versions of an expired memory go by their time to live.
    """
    made = {version.memory.seq: (version.memory.memory_id, version.memory.version) for version in versions}
    embeddable = set(made.values())
    over = {entry.memory_id for entry in entries if entry.operation is Operation.EXPIRE}
    found: list[str] = []
    for entry in entries:
        about = (entry.memory_id, entry.version)
        if entry.operation is Operation.EMBED:
            is_there = about in embeddable or entry.memory_id in over
        else:
            gone = about if entry.memory_id in over else None
            is_there = entry.operation in LEAVING or made.get(entry.seq, gone) == about
        if not is_there:
            found.append(f"entry {entry.seq}: version {entry.version} of {entry.memory_id} is missing or another one")
    return found


def _of_versions(entries: Sequence[Entry], versions: Sequence[Version], seq: int) -> list[str]:
    """Tell which versions were made or ended by no entry, or by one that says something else."""
    by_seq = {entry.seq: entry for entry in entries}
    found: list[str] = []
    for version in versions:
        memory = version.memory
        maker, ender = by_seq.get(memory.seq), by_seq.get(version.ended_seq)
        name = f"version {memory.version} of {memory.memory_id}"
        if 0 < memory.seq <= seq and (maker is None or not _is_about(maker, version) or maker.operation in LEAVING):
            found.append(f"entry {memory.seq}: it does not tell of {name}, which names it")
        if 0 < version.ended_seq <= seq and (ender is None or not _is_after(ender, version)):
            found.append(f"entry {version.ended_seq}: it does not tell of the end of {name}")
    return found


def _is_about(entry: Entry, version: Version) -> bool:
    return (entry.memory_id, entry.version) == (version.memory.memory_id, version.memory.version)


def _is_after(entry: Entry, version: Version) -> bool:
    return entry.memory_id == version.memory.memory_id and entry.version > version.memory.version


def _ids_of(columns: Arrays, prefix: str) -> set[str]:
    ids = ids_of(columns[f"{prefix}id_hi"], columns[f"{prefix}id_lo"])
    return {memory_id.decode() for memory_id in ids.tolist()}
