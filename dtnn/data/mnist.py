"""All of MNIST, fetched at the first use."""

import gzip
from functools import cache

import numpy as np

from .dataset import Dataset
from .fetch import fetch

MIRRORS = ("https://storage.googleapis.com/cvdf-datasets/mnist/", "https://ossci-datasets.s3.amazonaws.com/mnist/")
FILES = {
    "train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "t10k-images-idx3-ubyte.gz": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "t10k-labels-idx1-ubyte.gz": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
}
INSTEAD = "dtnn.data.mnist5k(), 5,000 of these digits, comes with dtnn"


@cache
def mnist():
    """70,000 handwritten digits: 60,000 to train, 10,000 to test, 28x28 grey values.

    12 MB are fetched at the first use (needs ``pip install "dtnn[data]"``), checked, and kept in dtnn's cache.
    A pickle holds only the call.

    Returns
    -------
    Dataset
        Images uint8 (N, 28, 28, 1), labels int64 (N,), read-only.

    Raises
    ------
    ConnectionError, ModuleNotFoundError
        See `fetch`.

    Notes
    -----
    Y. LeCun, C. Cortes and C. Burges (1998), after NIST's Special Databases 1 and 3.
    """
    x_train, y_train, x_test, y_test = (read_idx(fetch(name, MIRRORS, sha256, INSTEAD)) for name, sha256 in FILES.items())
    arrays = (x_train[..., np.newaxis], y_train, x_test[..., np.newaxis], y_test)
    return Dataset(*arrays, name="mnist", classes=10, source=(mnist, ())).read_only()


def read_idx(path):
    """The array in a file of the IDX format: two zeros, 8 for bytes, the number of axes, their lengths, the values."""
    with gzip.open(path) as file:
        content = file.read()
    if content[:3] != b"\0\0\x08":
        raise ValueError(
            f"{path} is no IDX file of bytes: it begins with {content[:4]!r}; remove it, so that it is fetched again"
        )
    axes = content[3]
    shape = np.frombuffer(content, ">u4", axes, offset=4).astype(int)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)
