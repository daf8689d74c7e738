import base64
import io
import re

import numpy as np
import pytest

from dtnn.data import Dataset, mnist5k, synthetic
from dtnn.data.strip import strip

image = pytest.importorskip("matplotlib.image", reason="matplotlib, with which the picture is read, is not installed")


def read(png):
    return np.round(image.imread(io.BytesIO(png)) * 255).astype(np.uint8)


@pytest.mark.parametrize("channels", [1, 3])
def test_png_holds_the_images(channels):
    images = np.random.default_rng(0).integers(0, 256, (3, 5, 4, channels), np.uint8)
    picture = read(strip(images))
    assert picture.shape == (5, 3 * 4 + 2 * 2, 4)
    for k in range(3):
        assert np.array_equal(picture[:, 6 * k : 6 * k + 4, :3], np.broadcast_to(images[k], (5, 4, 3)))
    assert not picture[:, 4:6, 3].any()  # transparent between them
    assert (picture[:, :4, 3] == 255).all()


def test_floats_go_from_black_to_white():
    picture = read(strip(np.array([-1.0, 0.0, 3.0], np.float32).reshape(1, 1, 3, 1)))
    assert picture[0, :, 0].tolist() == [0, 63, 255]
    assert not read(strip(np.ones((1, 2, 2, 1), np.float32)))[..., :3].any()


@pytest.mark.parametrize("data", [mnist5k(), synthetic((8, 8, 3), classes=3, samples=6, test=3)], ids=lambda data: data.name)
def test_a_data_set_shows_one_image_of_each_class(data):
    shown = re.search(r"data:image/png;base64,([^\"]+)", data._repr_html_())[1]
    picture = read(base64.b64decode(shown))
    width = data.input_shape[1]
    for k in range(len(data.classes)):
        first = data.x_train[data.y_train == k][0]
        assert np.array_equal(picture[:, (width + 2) * k :][:, :width, :3], np.broadcast_to(first, (*first.shape[:2], 3)))


def test_no_picture_of_what_is_none():
    assert "<img" not in Dataset(np.zeros((2, 3), np.float32), [0, 1], classes=2)._repr_html_()
    assert "<img" not in Dataset(np.zeros((2, 3, 3, 2), np.uint8), [0, 1], classes=2)._repr_html_()
