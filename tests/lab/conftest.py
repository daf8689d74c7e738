"""What the tests of the lab share."""

from types import SimpleNamespace

import pytest


@pytest.fixture
def mouse(monkeypatch):
    """From here on `Button.click()` is a click in a page, at the moment `mouse.now`."""
    page = SimpleNamespace(now=100.0)
    monkeypatch.setattr("dtnn.lab.once.moment", lambda: page.now)
    return page
