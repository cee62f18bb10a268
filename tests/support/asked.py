"""What tests ask a controller for most: to store contents, to find them again."""

import pytest
from recollect.answers import SearchQuery
from recollect.controller import MemoryController
from recollect.filters import Compare, Filter, Operator, within_reach
from recollect.ranking import Mode

from tests.support.builders import asking, to_store

ANY_MODE = pytest.mark.parametrize("mode", list(Mode))


def stored(of: MemoryController, *contents: str, user_id: str = "ana", **values: object) -> list[str]:
    """Store memories, one for each content, and give their ids."""
    new = [to_store(content=content, **values) for content in contents]  # type: ignore[arg-type]
    return [outcome.memory_id for outcome in of.store(asking(user_id), new)]


def where(name: str, operator: str, operand: str | float) -> Filter:
    """Make a filter of one comparison."""
    return within_reach(Compare((name,), Operator(operator), operand))


def found(of: MemoryController, text: str, user_id: str = "ana", **values: object) -> list[str]:
    """Search, and give the contents of the hits, best first."""
    query = SearchQuery(text=text, **values)  # type: ignore[arg-type]
    return [hit.memory.content for hit in of.search(user_id, query).hits]
