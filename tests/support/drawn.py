"""Strategies of the works and circumstances that the state machine draws."""

import json
from typing import Any

from hypothesis import strategies as st
from recollect.changes import Patch
from recollect.errors import Unavailable
from recollect.model import MemoryType, Source, Status
from recollect.nominating import OnSimilar
from recollect.ordering import Order, OrderBy
from recollect.undoing import Resolution

from tests.support.builders import TRANSCRIPTS, to_store
from tests.support.faults import Killed
from tests.support.filters import FILTERS
from tests.support.lives import COLD, USERS, Fault
from tests.support.texts import CONTENTS
from tests.support.works import Delete, Purge, Resolve, Restore, Store, Unmerge, Update, Work, anything, linked

_NUMBERS = st.integers(0, 9).map("#{}".format)
_NEAR = st.integers(0, 7).map("#{}".format)
_ANY = st.integers(0, 5).map("#{}8".format)  # a deleted memory perhaps
_SEEN = st.sampled_from([None, None, 0, 0, -1, 1])
_TAGS = st.lists(st.sampled_from("abc"), max_size=2, unique=True).map(tuple)
_IMPORTANCE = st.sampled_from([0.0, 0.5, 0.9])
_EXPIRES = st.sampled_from([None, None, None, 1, 2, 4])  # hours from then on
_ACTORS = st.sampled_from([None, None, None, "Ines"])
_TYPES = st.sampled_from([MemoryType.SEMANTIC, MemoryType.SEMANTIC, MemoryType.SEMANTIC, MemoryType.EPISODIC])
_SOURCES = st.lists(
    st.builds(Source, st.sampled_from(TRANSCRIPTS), st.integers(0, 1), st.just(1)), min_size=1, max_size=2, unique=True
).map(tuple)
_NEW = st.builds(
    to_store,
    st.sampled_from(CONTENTS),
    on_similar=st.sampled_from([OnSimilar.RECONCILE, OnSimilar.RECONCILE, OnSimilar.RECONCILE, *OnSimilar]),
    supersedes=st.none() | st.none() | _NUMBERS,
    tags=_TAGS,
    importance=_IMPORTANCE,
    pinned=st.booleans(),
    expires_at_ms=_EXPIRES,
    actor=_ACTORS,
    type=_TYPES,
    sources=st.just(()) | _SOURCES,
)
_VALUES = st.fixed_dictionaries(
    {},
    optional={
        "content": st.sampled_from(CONTENTS),
        "tags": _TAGS,
        "importance": _IMPORTANCE,
        "expires_at_ms": _EXPIRES,
        "actor": _ACTORS,
        "type": _TYPES,
        "status": st.just(Status.ACTIVE),
    },
)
_PATCHES = st.builds(
    Patch, _VALUES, st.none() | st.dictionaries(st.sampled_from("xy"), st.sampled_from([None, 1, "a"]))
)
WORKS: dict[str, st.SearchStrategy[Work]] = {
    "store": st.builds(Store, st.lists(_NEW, min_size=1, max_size=4).map(tuple)),
    "update": st.builds(Update, _NUMBERS, _SEEN, _PATCHES),
    "delete": st.builds(Delete, _NUMBERS, _SEEN),
    "purge": st.builds(Purge, _NUMBERS, _SEEN),
    "restore": st.builds(Restore, _NUMBERS | _ANY, st.integers(0, 9), st.sampled_from([anything, linked])),
    "unmerge": st.builds(Unmerge, _NEAR),
    "resolve": st.builds(Resolve, _NEAR, _NEAR, st.sampled_from(Resolution)),
}
ANY_WORK = st.one_of(WORKS["store"], *WORKS.values())
MOMENTS: dict[str, Any] = {"at": st.integers(1, 6), "when": st.sampled_from(["before", "after"])}
LONG_MOMENTS: dict[str, Any] = {**MOMENTS, "at": st.integers(1, 14)}
FAULTS = st.none() | st.builds(Fault, **MOMENTS, error=st.sampled_from([Killed, Unavailable]))
DEEP_FAULTS = st.none() | st.builds(Fault, st.integers(3, 7), st.just("before"), st.sampled_from([Killed, Unavailable]))
WHO: dict[str, Any] = {"user": st.sampled_from([*USERS, USERS[0], USERS[0]]), "writer": st.integers(0, COLD)}
HOW: dict[str, Any] = {**WHO, "has_key": st.booleans(), "fault": FAULTS}
ORDERS = st.builds(
    Order, st.sampled_from([by for by in OrderBy if by is not OrderBy.LAST_ACCESSED_AT]), st.booleans()
)  # use is not in the model
KNOWN_FILTERS = FILTERS.filter(lambda asked: "access" not in json.dumps(asked))
