"""Makes a new segment part of a user's partition: puts the object, then commits the manifest that lists it. Talks."""

from collections.abc import Callable
from dataclasses import replace

from recollect import keys
from recollect.errors import Conflict, Unavailable
from recollect.model import Head, SegmentRef
from recollect.object_store import ObjectStore
from recollect.partition import Partition
from recollect.ports import MemoryStore
from recollect.segments import layout
from recollect.segments.layout import About, Arrays
from recollect.segments.segment import Segment


class Publisher:
    """Publishes segments, each under a new id.

    Parameters
    ----------
    store : MemoryStore
    objects : ObjectStore
    new_id : callable
        Gives a new ULID.
    """

    def __init__(self, store: MemoryStore, objects: ObjectStore, new_id: Callable[[], str]) -> None:
        self._store = store
        self._objects = objects
        self._new_id = new_id

    def publish(
        self, user_id: str, base: Partition, head: Head, span: slice, columns: Arrays, about: About
    ) -> tuple[SegmentRef, Head, Partition]:
        """Publish a segment in the place of those of a span.

        Parameters
        ----------
        base : Partition
            The segments of the head's manifest.
        head : Head
            What is committed, but for manifest and revision: that is the one that was read.
        span : slice
            Of the manifest.

        Returns
        -------
        SegmentRef, Head, Partition
            The segment, the head that was committed, and the partition with the segment.

        Raises
        ------
        Conflict
            If somebody else came first: nothing was changed.
        Unavailable
            If a store does not answer; the segment may have been published or not.
        """
        data = layout.encode(columns, about)
        ref = SegmentRef(self._new_id(), about.rows, len(data))
        place = keys.segment(user_id, head.epoch, ref.segment_id)
        segments = {**base.segments, ref.segment_id: Segment.decode(data, place)}
        try:
            self._objects.put_new(place, data)
        except Conflict as error:  # an earlier try of this very call, which may not have come to its end
            raise Unavailable("could not put a segment; send the same again") from error
        manifest = [*head.manifest]
        manifest[span] = [ref]
        newer = replace(head, manifest=tuple(manifest), revision=head.revision + 1)
        try:
            self._store.commit_manifest(user_id, newer, head)
        except Conflict:
            if ref not in self._store.read_head(user_id).manifest:  # else it was an earlier try of this very call
                self._objects.delete([place])
                raise
        parts = [segments[one.segment_id] for one in manifest]
        return ref, newer, Partition(base.embedder, base.dimension, newer, parts)

    def fence(self, user_id: str, head: Head) -> Head:
        """Make sure that nothing is committed any more that was prepared until now; give the head from then on.

        Raises
        ------
        Conflict
            If somebody else came first.
        Unavailable
            If the store does not answer.
        """
        newer = replace(head, revision=head.revision + 1)
        self._store.commit_manifest(user_id, newer, head)
        return newer
