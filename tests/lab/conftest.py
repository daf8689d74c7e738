"""What the tests of the lab share."""

import time

import pytest


@pytest.fixture
def mouse(monkeypatch):
    """From here on `Button.click()` is a click in a page, and now is when."""
    monkeypatch.setattr("dtnn.lab.once.moment", time.monotonic)
