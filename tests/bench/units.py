"""How DynamoDB measures items and requests; pure.

From the developer guide: attribute names and texts count as UTF-8, numbers as about one byte for two digits and one
more, lists and maps three bytes and one for each element. A strongly consistent read is one unit for each 4 KB, a
write one for each KB, the larger of the item before and after; in a transaction twice that.
"""

from collections.abc import Iterable, Mapping
from typing import Any

READ_STEP = 4_096
WRITE_STEP = 1_024
TRANSACTION = 2


def item_bytes(item: Mapping[str, Mapping[str, Any]]) -> int:
    """Give the size of an item in the low-level client's form."""
    return sum(len(name.encode()) + value_bytes(value) for name, value in item.items())


def value_bytes(value: Mapping[str, Any]) -> int:
    """Give the size of an attribute's value."""
    (kind, content), *_ = value.items()
    match kind:
        case "S":
            return len(content.encode("utf-8", "surrogatepass"))
        case "N":
            return _number_bytes(content)
        case "B":
            return len(content)
        case "L":
            return 3 + sum(1 + value_bytes(one) for one in content)
        case "M":
            return 3 + sum(1 + len(name.encode()) + value_bytes(one) for name, one in content.items())
        case "BOOL" | "NULL":
            return 1
        case _:
            raise ValueError(f"an attribute of the unknown kind {kind}")


def _number_bytes(text: str) -> int:
    mantissa, _, _ = text.lower().partition("e")
    digits = mantissa.lstrip("-").replace(".", "").strip("0")
    return 1 + (len(digits) + 1) // 2 + mantissa.startswith("-")


def query_units(sizes: Iterable[int]) -> int:
    """Give the read units of one page of a Query: of the sizes of its items together."""
    return _steps(sum(sizes), READ_STEP)


def get_units(sizes: Iterable[int]) -> int:
    """Give the read units of a GetItem or BatchGetItem: each item on its own, 0 bytes for one that is not there."""
    return sum(_steps(size, READ_STEP) for size in sizes)


def write_units(sizes: Iterable[int], *, is_transaction: bool = False) -> int:
    """Give the write units of items, each by the larger of its sizes before and after."""
    units = sum(_steps(size, WRITE_STEP) for size in sizes)
    return units * TRANSACTION if is_transaction else units


def _steps(size: int, step: int) -> int:
    return max(1, -(-size // step))
