"""Of which schema version an item is, and how those of older ones are read. Pure.

The head, entries, memories and their versions carry the version of their form; without one it is 1. To give a kind of
item another form: count ``model.SCHEMA_VERSION`` up, and append to `UPGRADES` what makes an item of the version before
one of the new. Items are upgraded as they are read, and written in the present form; when there is a second version, a
step of maintenance that writes old items again belongs beside those of ``maintenance.StepName``. What newer code has
stored is refused, before anything is done about it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from recollect.aws.attributes import Item, number, reading
from recollect.errors import NewerSchema
from recollect.model import SCHEMA_VERSION

Upgrade = Callable[[Item], Item]
UPGRADES: Final[Sequence[Mapping[str, Upgrade]]] = ()  # the first makes version 2 of version 1, by kind of item
PRESENT: Final[Item] = {"schema_version": number(SCHEMA_VERSION)}


def upgraded(kind: str, item: Item, upgrades: Sequence[Mapping[str, Upgrade]] = UPGRADES) -> Item:
    """Give an item in its present form.

    Parameters
    ----------
    kind : str
        ``head``, ``log entry``, ``memory``.
    upgrades : sequence of mapping of str to callable
        From each version to the next; a kind that is not named keeps its form.

    Raises
    ------
    NewerSchema
        If it is of a version that is not known.
    CorruptData
        If its version is none.
    """
    version = reading(kind, item, lambda: _version_of(item))
    if version > 1 + len(upgrades):
        raise NewerSchema(kind, version)
    for upgrade_of in upgrades[version - 1 :]:
        item = upgrade_of[kind](item) if kind in upgrade_of else item
    return item


def _version_of(item: Item) -> int:
    version = int(item["schema_version"]["N"]) if "schema_version" in item else 1
    if version < 1:
        raise ValueError
    return version
