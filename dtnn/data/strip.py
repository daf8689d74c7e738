"""A row of images as one small PNG, for a look at a data set where there may be no plotting library."""

import struct
import zlib

import numpy as np

GAP = 2  # pixels between two images, transparent


def strip(images):
    """A PNG of the images side by side.

    Parameters
    ----------
    images : ndarray, (N, H, W, 1) or (N, H, W, 3)
        uint8, or floats, of which the smallest becomes black and the largest white.

    Returns
    -------
    bytes

    Examples
    --------
    >>> strip(np.zeros((2, 3, 4, 1), np.uint8))[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """
    count, height, width = images.shape[:3]
    pixels = np.zeros((height, count * (width + GAP) - GAP, 4), np.uint8)  # red, green, blue, opacity
    for k, image in enumerate(_in_bytes(images)):
        place = pixels[:, k * (width + GAP) : k * (width + GAP) + width]
        place[..., :3], place[..., 3] = image, 255
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)  # 0: no filter
    header = struct.pack(">IIBBBBB", pixels.shape[1], height, 8, 6, 0, 0, 0)  # 8 bits, with opacity
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")


def _in_bytes(images):
    if images.dtype == np.uint8:
        return images
    low, high = images.min(), images.max()
    return ((images - low) * (255 / (high - low if high > low else 1))).astype(np.uint8)


def _chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
