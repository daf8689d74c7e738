"""Small pictures side by side."""

import io

import numpy as np
import pytest
from matplotlib.figure import Figure

from dtnn.plots import tiles


def colours(ax, place, shape=(4, 4)):
    """What is seen in a frame, in the middle of each of its pixels: red, green and blue."""
    [image], frame = ax.images, ax.collections[0].get_paths()[place].get_extents()
    sheet, (left, right, bottom, top) = image.get_array(), image.get_extent()
    x = frame.x0 + (np.arange(shape[1]) + 0.5) / shape[1] * frame.width
    y = frame.y1 - (np.arange(shape[0]) + 0.5) / shape[0] * frame.height
    column = ((x - left) / (right - left) * sheet.shape[1]).astype(int)
    row = ((top - y) / (top - bottom) * sheet.shape[0]).astype(int)
    return np.asarray(sheet)[row][:, column]


def shown(ax, place, shape=(4, 4)):
    """The same of a picture in grey."""
    found = colours(ax, place, shape)
    assert np.ptp(found, axis=2).max() == 0
    return found[..., 0]


def grey(image, low, high):
    """Of 256 shades between two numbers those of an image."""
    return (np.clip((np.asarray(image, float) - low) / (high - low), 0, 1) * 256).clip(0, 255).astype(int).tolist()


@pytest.fixture
def ax():
    return Figure().add_subplot()


def test_pictures_in_their_order_with_their_words(ax):
    images = np.random.default_rng(0).random((7, 4, 4))
    assert tiles(images, list("abcdefg"), ax, "title", columns=3) is ax
    greys = [grey(image, images.min(), images.max()) for image in images]
    np.testing.assert_allclose([shown(ax, place) for place in range(7)], greys, atol=1)
    assert [text.get_text() for text in ax.texts] == list("abcdefg")
    frames = [path.get_extents() for path in ax.collections[0].get_paths()]
    lefts, tops = [frame.x0 for frame in frames], [frame.y1 for frame in frames]
    assert lefts[:3] == lefts[3:6]
    assert tops[0] == tops[2] > tops[3] > tops[6]
    (low, high), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert all(low <= frame.x0 and frame.x1 <= high and bottom <= frame.y0 and frame.y1 <= top for frame in frames)


def test_all_by_one_measure_or_each_by_its_own(ax):
    images = [np.array([[0.0, 1.0]]), np.array([[0.0, 4.0]])]
    tiles(images, ax=ax)
    assert [shown(ax, place, (1, 2)).tolist() for place in (0, 1)] == [[[0, 64]], [[0, 255]]]
    own = tiles(images, ax=Figure().add_subplot(), each=True)
    assert [shown(own, place, (1, 2)).tolist() for place in (0, 1)] == [[[0, 255]], [[0, 255]]]
    signed = tiles([np.array([[-3.0, 0.0, 3.0]])], ax=Figure().add_subplot(), signed=True)
    red, white, blue = colours(signed, 0, (1, 3))[0]
    assert red[0] > 2 * red[2]
    assert white.min() > 240
    assert blue[2] > 2 * blue[0]


def test_channels(ax):
    colour, many = np.random.default_rng(0).random((2, 2, 3)), np.random.default_rng(0).standard_normal((2, 2, 5))
    tiles([colour, many, colour[..., :1]], ax=ax, each=True)
    np.testing.assert_array_equal(colours(ax, 0, (2, 2)), np.round(255 * colour))
    mean = many.mean(axis=2)
    np.testing.assert_allclose(shown(ax, 1, (2, 2)), grey(mean, mean.min(), mean.max()), atol=1)
    first = colour[..., 0]
    np.testing.assert_allclose(shown(ax, 2, (2, 2)), grey(first, first.min(), first.max()), atol=1)


def test_what_is_no_number_is_paper(ax):
    tiles([np.array([[0.0, np.nan, 1.0]])], ax=ax)
    assert shown(ax, 0, (1, 3)).tolist() == [[0, 255, 255]]


def test_many_pictures_are_one_image(ax):
    tiles(np.zeros((200, 3, 3)), ax=ax)
    assert len(ax.images) == len(ax.collections) == 1
    assert len(ax.collections[0].get_paths()) == 200


@pytest.mark.parametrize("images", [[np.full((2, 2), np.nan)], [np.zeros((2, 2))], [np.zeros((2, 5)), np.zeros((5, 2))]])
def test_odd_pictures_are_drawn(ax, images):
    tiles(images, ax=ax)
    ax.figure.savefig(io.BytesIO())


def test_nothing_is_said(ax):
    assert tiles([], ax=ax).texts[0].get_text() == "there is nothing to show"
