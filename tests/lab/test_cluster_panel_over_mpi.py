"""The cluster's panel over MPI engines, one of which dies under it."""

import asyncio
import os
import signal
import time

import pytest

from dtnn.lab import ClusterPanel
from tests.comm.mpi_job import why_no_mpi

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(why_no_mpi()), reason=why_no_mpi()),
    pytest.mark.limit(150),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # ipywidgets' own
]
HEARTBEATS = 8.0  # seconds in which an engine that has gone away is missed, on a busy machine


async def until(true, seconds=60):
    """Give the loop time until something is true; how long that took."""
    begin = time.monotonic()
    while not true():
        assert time.monotonic() - begin < seconds
        await asyncio.sleep(0.02)
    return time.monotonic() - begin


def killed(panel, rank):
    """Kill a rank's process."""
    os.kill(panel.cluster.describe()[rank]["pid"], signal.SIGKILL)


def test_a_rank_dies_under_the_panel_and_start_makes_new_ones(capsys):
    panel = ClusterPanel(ranks=2)

    async def notebook():
        panel.bar.start.click()
        await until(lambda: not panel._busy)
        assert panel.message.text == ""
        panel._watching = asyncio.get_running_loop().create_task(panel._watch())
        await until(lambda: panel.table.value.count("idle") == 2)
        killed(panel, 1)
        took = await until(lambda: "dead" in panel.table.value and "start makes new ranks" in panel.bar.state.value)
        with capsys.disabled():
            print(f"\nthe panel shows a rank's death after {took:.1f} s")
        assert took < HEARTBEATS
        assert not panel.bar.start.disabled
        panel.bar.start.click()
        await until(lambda: not panel._busy)
        assert panel.message.text == ""
        await until(lambda: panel.table.value.count("idle") == 2)
        assert panel.cluster.run(lambda comm: comm.Allreduce(comm.rank + 1)).result() == 3
        panel.bar.stop.click()
        await until(lambda: panel.cluster.state == "stopped" and not panel._busy)

    try:
        asyncio.run(notebook())
    finally:
        panel.close()
