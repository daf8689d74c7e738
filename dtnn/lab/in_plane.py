"""`in_plane`: vectors of many numbers in the one plane that shows best how they differ."""

import numpy as np


def in_plane(vectors, total):
    """Vectors in the plane of their sum and of what deviates most from it: (len, 2), the sum along the first axis.

    Parameters
    ----------
    vectors : ndarray (P, n)
    total : ndarray (n,)

    Returns
    -------
    ndarray (P, 2)

    Examples
    --------
    >>> in_plane(np.array([[1.0, 1.0], [1.0, -1.0]]), np.array([2.0, 0.0])).tolist()
    [[1.0, 1.0], [1.0, -1.0]]
    """
    vectors, total = np.asarray(vectors, np.float64), np.asarray(total, np.float64)
    length = np.linalg.norm(total)
    first = total / length if length else np.zeros_like(total)
    across = vectors - np.outer(vectors @ first, first)
    sizes = np.linalg.norm(across, axis=1)
    largest = across[int(np.argmax(sizes))]
    second = largest / sizes.max() if sizes.max() > 1e-12 else np.zeros_like(total)
    return np.stack([vectors @ first, vectors @ second], axis=1)


def agreement(vectors, total):
    """How the ranks' gradients agree with their sum, in words.

    >>> agreement(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 1.0]))
    'cosine with the mean: 0.71 to 0.71'
    """
    sizes = np.linalg.norm(vectors, axis=1) * np.linalg.norm(total)
    cosines = (vectors @ total)[sizes > 0] / sizes[sizes > 0]
    return f"cosine with the mean: {cosines.min():.2f} to {cosines.max():.2f}" if len(cosines) else ""
