"""The studio on MPI engines, one of which dies under it."""

import asyncio
import os
import signal
import time

import psutil
import pytest

import dtnn
from dtnn.lab import Studio
from tests.comm.mpi_job import why_no_mpi

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(why_no_mpi()), reason=why_no_mpi()),
    pytest.mark.limit(150),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # ipywidgets' own
]


async def until(true, studio, seconds=60):
    """Give the loop time until something is true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, (studio.run, studio.training.bar.state.value, studio.training.bar.message.text)
        await asyncio.sleep(0.02)


def test_a_rank_dies_and_the_next_click_starts_new_ones():
    studio = Studio(dtnn.zoo.mlp(hidden=(16,)))
    training, settings = studio.training, studio.settings

    async def notebook():
        settings.epochs.value = 10**6
        training.bar.train.click()
        await until(lambda: studio.run and studio.run.records.last(dtnn.records.Step), studio)
        first = studio.cluster
        os.kill(first.describe()[1]["pid"], signal.SIGKILL)
        await until(lambda: not training.busy, studio)
        assert studio.run.state == "failed"
        assert "rank 1" in training.pane.text
        assert not training.bar.train.disabled
        settings.epochs.value = 1
        training.bar.train.click()
        await until(lambda: not training.busy, studio)
        assert studio.run.state == "done", training.bar.message.text
        assert studio.cluster.state == "running"

    try:
        asyncio.run(notebook())
    finally:
        studio.close()
    assert studio.cluster.state == "stopped"


def test_200_epochs_leave_the_notebooks_process_as_it_was(capsys):
    """The process that shows them grows by less than 30 MB, and what a saved notebook gets of them is small."""
    studio = Studio(dtnn.zoo.mlp(hidden=(16,)))
    training, process = studio.training, psutil.Process()

    async def train(epochs):
        studio.settings.epochs.value = epochs
        training.bar.train.click()
        await until(lambda: not training.busy, studio, 100)
        assert studio.run.state == "done", training.bar.message.text

    try:
        asyncio.run(train(2))
        before = process.memory_info().rss
        begin = time.monotonic()
        asyncio.run(train(200))
        grown = (process.memory_info().rss - before) / 2**20
        with capsys.disabled():
            print(f"\n200 epochs in {time.monotonic() - begin:.1f} s, grown by {grown:.1f} MB; picture {len(studio.png())} bytes")
    finally:
        studio.close()
    assert grown < 30
    assert len(studio.png()) < 300_000
