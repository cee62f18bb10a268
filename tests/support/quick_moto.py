"""Makes the emulated DynamoDB several times as quick, for tests that call it many thousand times.

What takes its time is that it looks for the members of each value of an item under many names, and that it copies a
table to the last value for each action of a transaction, in case that the transaction fails.
"""

import copy
from base64 import b64encode
from typing import Any

import pytest
from moto.core import serialize
from moto.dynamodb import models
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.table import Table


def quicken(patches: pytest.MonkeyPatch) -> None:
    """Let moto do what is needed of both, until the patches are undone."""
    whole = serialize.BaseJSONSerializer._serialize_type_structure

    def structure(self: Any, serialized: Any, value: Any, shape: Any, key: str) -> None:
        if shape.name == "AttributeValue":
            serialized[key] = _plain(value)
        else:
            whole(self, serialized, value, shape, key)

    patches.setattr(serialize.BaseJSONSerializer, "_serialize_type_structure", structure)
    patches.setattr(Item, "__deepcopy__", _copied)
    transact = models.DynamoDBBackend.transact_write_items

    def transact_write_items(self: Any, transact_items: list[dict[str, Any]]) -> None:
        kept: dict[int, Table] = {}

        class Copies:
            """Copies a table once for a transaction."""

            @staticmethod
            def deepcopy(value: Any) -> Any:
                if not isinstance(value, Table):
                    return copy.deepcopy(value)
                if id(value) not in kept:
                    kept[id(value)] = copy.deepcopy(value)
                return kept[id(value)]

        with pytest.MonkeyPatch.context() as within:
            within.setattr(models, "copy", Copies)
            transact(self, transact_items)

    patches.setattr(models.DynamoDBBackend, "transact_write_items", transact_write_items)


def _plain(value: Any) -> Any:
    """Give a value of an item as it is sent."""
    if isinstance(value, DynamoType):
        return _plain(value.to_json())
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _copied(item: Item, memo: dict[int, Any]) -> Item:
    """Copy an item; its values are replaced, and never changed."""
    made: Item = memo.setdefault(id(item), copy.copy(item))
    made.attrs = LimitedSizeDict.__new__(LimitedSizeDict)
    dict.update(made.attrs, item.attrs)  # without a look at the size
    return made
