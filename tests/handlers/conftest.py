import pytest

from tests.support.app import App


@pytest.fixture
def app() -> App:
    return App()
