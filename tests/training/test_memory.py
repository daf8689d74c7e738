"""A step takes the memory of the step before."""

import os
from pathlib import Path

import numpy as np
import pytest

from dtnn import Model, optim, zoo
from dtnn.comm import Serial
from dtnn.data import Samples
from dtnn.nn import BatchNorm2d, Conv2d, Dropout, Flatten, Linear, MaxPool2d, ReLU
from dtnn.records import Step
from dtnn.training import train

resource = pytest.importorskip("resource", reason="only Unix tells page faults")
STATUS = Path("/proc/self/statm")


def used():
    """Resident bytes, and page faults so far."""
    pages = int(STATUS.read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), resource.getrusage(resource.RUSAGE_SELF).ru_minflt


@pytest.mark.skipif(not STATUS.exists(), reason="no /proc, which tells how much memory a process has")
def test_steps_10_to_100_take_no_more_memory_and_no_new_pages():
    rng = np.random.default_rng(0)
    rows = Samples(rng.random((6400, 16, 16, 1), np.float32), rng.integers(0, 10, 6400))
    layers = Conv2d(8, 3, padding=1), BatchNorm2d(), ReLU(), MaxPool2d(2), Flatten(), Dropout(0.2), Linear(32), ReLU(), Linear(10)
    model, at = Model(*layers, input_shape=(16, 16, 1)), {}
    for record in train(Serial(), model, rows, optimizer=optim.Adam(), batch_size=64):
        if isinstance(record, Step):
            at[record.step] = used()
    assert at[100][0] - at[10][0] < 4 * 2**20
    assert at[100][1] - at[10][1] < 90 * 30  # an output of the first layer made anew would be 128 pages a step


@pytest.mark.slow
@pytest.mark.limit(200)
@pytest.mark.skipif(not STATUS.exists(), reason="no /proc, which tells how much memory a process has")
@pytest.mark.parametrize("name", ["lenet5", "resnet20"])
def test_so_it_is_with_the_networks_of_the_zoo(name):
    """The process's memory, with the order of the samples, records and all."""
    model, rng, at = getattr(zoo, name)(), np.random.default_rng(0), {}
    rows = Samples(rng.integers(0, 256, (6400, *model.input_shape)).astype(np.uint8), rng.integers(0, 10, 6400))
    for record in train(Serial(), model, rows, optimizer=optim.SGD(1e-4, momentum=0.9), batch_size=64):
        if isinstance(record, Step):
            at[record.step] = used()
    assert at[100][0] - at[10][0] < 4 * 2**20
    assert at[100][1] - at[10][1] < 90 * 30  # ResNet-20's first output anew would be 1024 pages a step
