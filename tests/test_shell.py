"""Whether a notebook, a terminal's IPython or a script asks is known without importing IPython."""

import sys
from types import SimpleNamespace

import pytest

from dtnn.shell import in_kernel, shell


def ipython(monkeypatch, found):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: found))
    return found


def test_a_script_has_no_shell(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert shell() is None
    assert in_kernel() is None
    assert "IPython" not in sys.modules
    ipython(monkeypatch, None)  # a script that uses IPython's functions
    assert shell() is None
    assert in_kernel() is None


@pytest.mark.parametrize("terminal", [SimpleNamespace(), SimpleNamespace(kernel=None)])
def test_a_terminals_shell_is_no_kernel(monkeypatch, terminal):
    ipython(monkeypatch, terminal)
    assert shell() is terminal
    assert in_kernel() is None


def test_a_notebooks_shell_is_one(monkeypatch):
    notebook = ipython(monkeypatch, SimpleNamespace(kernel=object()))
    assert shell() is notebook
    assert in_kernel() is notebook
