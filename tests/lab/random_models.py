"""Networks that nobody would draw, but that fit: for what must hold for all of them."""

import random

from dtnn.lab import Builder
from dtnn.lab.nested import neighbour
from dtnn.lab.vocabulary import LAYERS


def random_builder(seed):
    """A builder with 1 to 12 layers that fit, some of them of layers, which were edited inside."""
    dice = random.Random(seed)
    builder = Builder()
    builder.reshape(dice.choice([(28, 28, 1), (12, 16, 3), (8, 8, 4), (40,), (1,)]))
    for _ in range(dice.randint(1, 12)):
        shape = builder.check()[-1].shape if builder.calls else _inner(builder.input_shape)
        builder.add(_layer(dice, shape))
        if builder.error:
            builder.undo()
    for _ in range(dice.randint(0, 8)):
        edit_inside(dice, builder)
    if not builder.calls:
        builder.add("ReLU()")
    return builder


def edit_inside(dice, builder):
    """One edit of what is within a layer, undone if the network doesn't fit any more."""
    places = [place for place in builder.tree() if len(place.path) > 1]
    if not places:
        return
    before, place = builder.state, dice.choice(places)
    shape = place.row.shape or (3,)
    if place.is_lane:
        edits = [lambda: builder.add(_layer(dice, shape), place.path), lambda: builder.add("Residual", place.path)]
        edits += [lambda: builder.branch(place.path), lambda: builder.duplicate(place.path)] if place.several else []
    else:
        down = dice.random() < 0.5
        to = neighbour(builder.calls, place.path, down, LAYERS, [p.path for p in places])
        edits = [lambda: builder.move(place.path, to), lambda: builder.remove(place.path), lambda: builder.duplicate(place.path)]
        edits += [lambda: builder.replace(place.path, _layer(dice, shape))]
    dice.choice(edits)()
    if builder.error and builder.state != before:
        builder.undo()


def _inner(shape):
    return (*shape[-1:], *shape[:-1])


def _layer(dice, shape):
    anywhere = [
        "ReLU()",
        f"LeakyReLU({dice.choice([0.01, 0.2])})",
        "Tanh()",
        "SiLU()",
        f"Dropout({dice.choice([0.0, 0.25, 0.5])})",
    ]
    if len(shape) == 1:
        rows = [f"Linear({dice.randint(1, 30)}, bias={dice.random() < 0.5}, init='{dice.choice(['he_normal', 'orthogonal'])}')"]
        rows += ["BatchNorm1d()", f"LayerNorm({dice.choice([1e-5, 1e-3])})", f"Residual(Linear({shape[0]}))", "Softmax()"]
        rows += [f"Concatenate(Residual(Sequential(Linear({shape[0]}), Residual(ReLU()))), Linear(4))"]
        return dice.choice(rows + anywhere)
    c, kernel = shape[0], dice.choice([1, 2, 3, (3, 1), (2, 3)])
    images = [f"Conv2d({dice.randint(1, 8)}, {kernel}, stride={dice.randint(1, 2)}, padding={dice.randint(0, 2)})"]
    images += [f"Conv2d({c}, 3, padding='same', groups={c}, bias=False)", f"Conv2d({2 * c}, 3, dilation=2, algorithm='im2col')"]
    images += [
        "MaxPool2d(2)",
        "MaxPool2d(3, stride=2, padding=1, ceil_mode=True)",
        "AvgPool2d((2, 1))",
        "AdaptiveAvgPool2d((3, 2))",
    ]
    images += [
        "AdaptiveAvgPool2d((3, 2))",
        "BatchNorm2d(momentum=0.2)",
        "GlobalAvgPool2d()",
        "Flatten()",
        f"Reshape(({c * shape[1] * shape[2]},))",
    ]
    images += [
        f"Residual(Sequential(Conv2d({c}, 3, padding=1), BatchNorm2d(), ReLU()))",
        f"Concatenate(Sequential(), Conv2d({c}, 1))",
        f"Residual(Concatenate(Conv2d({c}, 1), Sequential()), shortcut=Conv2d({2 * c}, 1))",
        f"Residual(Sequential(Residual(Sequential(Conv2d({c}, 3, padding=1), ReLU())), Residual(ReLU())))",
    ]
    return dice.choice(images + anywhere)
