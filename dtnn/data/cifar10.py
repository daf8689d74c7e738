"""CIFAR-10, fetched at the first use."""

import tarfile
from functools import cache

import numpy as np

from .dataset import Dataset
from .fetch import fetch

MIRRORS = ("https://www.cs.toronto.edu/~kriz/", "https://storage.googleapis.com/s4tf-hosted-binaries/datasets/CIFAR10/")
NAME = "cifar-10-binary.tar.gz"  # the form without pickle
SHA256 = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
INSTEAD = "dtnn.data.synthetic((32, 32, 3)) makes images of this size, dtnn.data.mnist5k() comes with dtnn"


@cache
def cifar10():
    """60,000 small colour photographs of 10 classes: 50,000 to train, 10,000 to test, 32x32.

    170 MB are fetched at the first use (needs ``pip install "dtnn[data]"``), checked, and kept in dtnn's cache.
    A pickle holds only the call.

    Returns
    -------
    Dataset
        Images uint8 (N, 32, 32, 3), labels int64 (N,), read-only.

    Raises
    ------
    ConnectionError, ModuleNotFoundError
        See `fetch`.

    Notes
    -----
    A. Krizhevsky, "Learning multiple layers of features from tiny images" (2009).
    """
    with tarfile.open(fetch(NAME, MIRRORS, SHA256, INSTEAD)) as archive:
        train = [read(archive, f"data_batch_{k}.bin") for k in range(1, 6)]
        test = read(archive, "test_batch.bin")
    arrays = [np.concatenate(part) for part in zip(*train)]
    return Dataset(*arrays, *test, name="cifar10", classes=CLASSES, source=(cifar10, ())).read_only()


def read(archive, name):
    """Images (N, 32, 32, 3) and labels (N,) of one file: each record is a label and three planes of 32x32."""
    records = np.frombuffer(archive.extractfile(f"cifar-10-batches-bin/{name}").read(), np.uint8).reshape(-1, 1 + 3 * 32 * 32)
    return np.ascontiguousarray(records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)), records[:, 0]
