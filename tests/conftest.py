"""Sockets are closed to every suite but those that say otherwise; Hypothesis runs the same everywhere."""

import pytest
from hypothesis import settings

settings.register_profile("fixed", deadline=None, derandomize=True, max_examples=100)
settings.load_profile("fixed")

OPEN_SUITES = ("tests/e2e/", "tests/contract/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        place = item.nodeid
        if not place.startswith(OPEN_SUITES):
            item.add_marker(pytest.mark.disable_socket)
        if place.startswith("tests/e2e/"):
            item.add_marker(pytest.mark.e2e)
