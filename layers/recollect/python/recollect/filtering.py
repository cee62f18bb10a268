"""Evaluates a filter over the columns of a partition: masks in, one mask out. Pure.

Every read goes through `visible`, so that the same filter gives the same memories whatever is done with them.
"""

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from recollect.columns import MISSING, UNKNOWN
from recollect.filters import FIELDS, AllOf, Compare, Filter, Kind, Not, Operand, Operator, Scalar
from recollect.partition import Partition
from recollect.parts import Part, Texts
from recollect.scan import Mask

_RELATIONS: dict[Operator, Callable[[Any, Any], Any]] = {
    Operator.EQ: operator.eq,
    Operator.NE: operator.ne,
    Operator.GT: operator.gt,
    Operator.GTE: operator.ge,
    Operator.LT: operator.lt,
    Operator.LTE: operator.le,
}


def visible(partition: Partition, wanted: Filter, now_ms: int) -> Mask:
    """Find the rows that a filter lets through, at a time.

    Returns
    -------
    ndarray of shape (row_count,), bool
        Dead and expired rows are never in it.
    """
    return np.asarray(partition.present(now_ms) & holding(partition, wanted))


def predicate(relation: Operator, operand: Operand) -> Callable[[object], bool]:
    """Make the test of one JSON value, or `MISSING`, against an operand."""
    if relation is Operator.EXISTS:
        return lambda value: (value is not MISSING) is operand
    if relation is Operator.IN:
        return _is_in(operand if isinstance(operand, tuple) else ())
    wanted = _class(operand)
    if relation is Operator.CONTAINS:
        return lambda value: isinstance(value, list) and any(_class(v) is wanted and v == operand for v in value)
    relate = _RELATIONS[relation]
    return lambda value: _class(value) is wanted and bool(relate(value, operand))


def _is_in(operands: Sequence[Scalar]) -> Callable[[object], bool]:
    of_class: dict[type, set[object]] = {}
    for operand in operands:
        of_class.setdefault(_class(operand), set()).add(operand)
    return lambda value: _class(value) in of_class and value in of_class[_class(value)]


def _class(value: object) -> type:
    # Integers and floats are one class; a boolean is another, though Python takes it for an integer.
    return float if type(value) is int else type(value)


def holding(partition: Partition, wanted: Filter) -> Mask:
    """Find the rows that a filter holds for, dead and expired ones too.

    Returns
    -------
    ndarray of shape (row_count,), bool
    """
    if isinstance(wanted, Compare):
        return _comparing(partition, wanted)
    if isinstance(wanted, Not):
        return ~holding(partition, wanted.part)
    masks = [holding(partition, part) for part in wanted.parts]
    is_all = isinstance(wanted, AllOf)
    everywhere = np.full(partition.row_count, is_all, dtype=np.bool_)
    return reduce(np.logical_and if is_all else np.logical_or, masks, everywhere)


def _comparing(partition: Partition, wanted: Compare) -> Mask:
    name = wanted.path[0]
    is_wanted = predicate(wanted.operator, wanted.operand)
    if name == "memory_id":
        return partition.where(lambda part: _memory_ids(part, wanted))
    match FIELDS[name]:
        case Kind.JSON:
            return partition.where(lambda part: part.metadata_matching(wanted.path[1:], is_wanted))
        case Kind.TEXTS:
            return partition.where(lambda part: _texts(part.texts(name), wanted))
        case Kind.NUMBER | Kind.INSTANT | Kind.BOOLEAN:
            return _numbers(partition.number(name), wanted)
        case Kind.TEXT | Kind.CHOICE:
            return partition.where(lambda part: part.labels(name).matching(is_wanted))


def _memory_ids(part: Part, wanted: Compare) -> Mask:
    # As bytes they compare as their texts do: UTF-8 keeps the order of code points.
    if wanted.operator is Operator.EXISTS:
        return np.full(part.row_count, wanted.operand, dtype=np.bool_)
    operands = wanted.operand if isinstance(wanted.operand, tuple) else (wanted.operand,)
    texts = [str(operand).encode("utf-8", "surrogatepass") for operand in operands]
    if wanted.operator is Operator.IN:
        return np.isin(part.memory_ids, texts)
    return np.asarray(_RELATIONS[wanted.operator](part.memory_ids, texts[0]))


def _texts(texts: Texts, wanted: Compare) -> Mask:
    if wanted.operator is Operator.EXISTS:
        return texts.filled if wanted.operand else ~texts.filled
    return texts.holding(wanted.operand)


def _numbers(values: npt.NDArray[Any], wanted: Compare) -> Mask:
    is_there = np.ones(values.shape, dtype=np.bool_) if values.dtype != np.int64 else values != UNKNOWN
    if wanted.operator is Operator.EXISTS:
        return is_there if wanted.operand else ~is_there
    if wanted.operator is Operator.IN:
        return np.isin(values, np.asarray(wanted.operand))
    return np.asarray(is_there & _RELATIONS[wanted.operator](values, wanted.operand))
