"""Small pictures side by side."""

import io

import numpy as np
import pytest
from matplotlib.figure import Figure

from dtnn.plots import tiles


@pytest.fixture
def ax():
    return Figure().add_subplot()


def test_pictures_in_their_order_with_their_words(ax):
    images = np.random.default_rng(0).random((7, 4, 4))
    assert tiles(images, list("abcdefg"), ax, "title", columns=3) is ax
    np.testing.assert_array_equal([image.get_array() for image in ax.images], images)
    assert [text.get_text() for text in ax.texts] == list("abcdefg")
    lefts, tops = zip(*((image.get_extent()[0], image.get_extent()[3]) for image in ax.images))
    assert lefts[:3] == lefts[3:6]
    assert tops[0] == tops[2] > tops[3] > tops[6]
    (low, high), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert all(low <= e[0] and e[1] <= high and bottom <= e[2] and e[3] <= top for e in (i.get_extent() for i in ax.images))


def test_all_by_one_measure_or_each_by_its_own(ax):
    images = [np.array([[0.0, 1.0]]), np.array([[0.0, 4.0]])]
    assert [image.get_clim() for image in tiles(images, ax=ax).images] == [(0, 4), (0, 4)]
    own = tiles(images, ax=Figure().add_subplot(), each=True)
    assert [image.get_clim() for image in own.images] == [(0, 1), (0, 4)]
    signed = tiles([np.array([[-3.0, 1.0]])], ax=Figure().add_subplot(), signed=True)
    assert signed.images[0].get_clim() == (-3, 3)


def test_channels(ax):
    colour, many = np.random.default_rng(0).random((2, 2, 3)), np.random.default_rng(0).standard_normal((2, 2, 5))
    images = tiles([colour, many, colour[..., :1]], ax=ax).images
    np.testing.assert_array_equal(images[0].get_array(), colour)
    np.testing.assert_allclose(images[1].get_array(), many.mean(axis=2))
    assert images[2].get_array().shape == (2, 2)


@pytest.mark.parametrize("images", [[np.full((2, 2), np.nan)], [np.zeros((2, 2))], [np.zeros((2, 5)), np.zeros((5, 2))]])
def test_odd_pictures_are_drawn(ax, images):
    tiles(images, ax=ax)
    ax.figure.savefig(io.BytesIO())


def test_nothing_is_said(ax):
    assert tiles([], ax=ax).texts[0].get_text() == "there is nothing to show"
