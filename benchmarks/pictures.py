"""The largest of each picture that the lab draws, as functions that draw it anew: a long run on many ranks, a deep network."""

import time

import numpy as np
from long_run import EPOCHS, RANKS, STEPS, long_run, steps_of

import dtnn
from dtnn.gradients import GradientView
from dtnn.lab import AllReduceLab, Playground
from dtnn.lab.answer import HEIGHT, on_paper
from dtnn.lab.builder_panel import BuilderPanel
from dtnn.lab.shard_view import ShardView
from dtnn.plots import Timeline, by_rank, confusion, histograms, tiles
from dtnn.plots.gradients import gradients_figure
from dtnn.plots.overlay import overlay_figure
from dtnn.plots.picture import Picture
from dtnn.plots.story import Story
from dtnn.records import Clock, Gradients, Message, Span, Start, Trace

LAYERS = [f"conv2d_{number}" for number in range(1, 22)]  # those of ResNet-20 with gradients


def live():
    """The picture of the long run; each time another epoch of it has come."""
    drawn, story = Picture(title="ResNet-20 on cifar10"), Story([Start(0.0, RANKS, {"epochs": EPOCHS, "samples": 64 * STEPS})])
    told = []

    def again():
        told.extend(steps_of(RANKS, len(story.epochs) % EPOCHS + 1))
        story.read(told)
        return drawn.draw(story, "running")

    for _ in range(EPOCHS // 2):
        again()
    return again


def few_ranks():
    """That of a run on two ranks, whose bars have their numbers."""
    drawn, story, told = Picture(title="LeNet-5 on mnist5k"), Story([Start(0.0, 2, {"epochs": 50, "samples": 64 * STEPS})]), []

    def again():
        told.extend(steps_of(2, len(story.epochs) % 50 + 1, epochs=50))
        story.read(told)
        return drawn.draw(story, "running")

    return again


def allreduce(ranks):
    """The next round."""
    lab = AllReduceLab("ring", ranks=ranks, length=2 * ranks)
    done = lab.player.round
    return lambda: lab.forward() if done.value < done.max else setattr(done, "value", 0)


def playground(every, ranks=4, net="8, 8"):
    """The picture after some steps, which themselves are not counted."""
    panel = Playground("spiral", ranks=ranks)
    panel.controls.every.value, panel.controls.hidden.value = every, net
    panel.play.forward(200)
    return lambda: panel._show(panel.play)


def surface():
    """Two weights whose frame is another at each picture, so that the surface of the loss is drawn anew."""
    panel = Playground("spiral")
    panel.controls.hidden.value = "two weights"
    panel.play.forward(200)

    def again():
        panel.view.gradients.low = None
        panel._show(panel.play)

    return again


def network(name):
    """The drawing of a network whose last layer has another size each time."""
    panel = BuilderPanel(getattr(dtnn.zoo, name)(), names={})
    panel.tabs.selected_index = 1
    panel.list.rows[-1].call.click()
    features = panel.list.form.controls["features"]

    def again():
        features.value += 1
        return panel.sheet.png

    return again


def click(name):
    """The last layer gets more outputs, and all rows are looked at."""
    panel = BuilderPanel(getattr(dtnn.zoo, name)(), names={})
    panel.list.rows[-1].call.click()
    features = panel.list.form.controls["features"]
    return lambda: setattr(features, "value", features.value + 1)


def one_step(ranks):
    """The timeline of a step of a deep network."""
    records = [Clock(rank, 0.0, 1e-5 * rank, 0.0, 0.0) for rank in range(ranks)]
    for rank in range(ranks):
        spans, layers = [Span(rank, "data", 0, 0.0, 0.001, "data")], len(LAYERS)
        for phase, begin, seconds in (("forward", 0.001, 0.01), ("backward", 0.011, 0.02)):
            each = seconds / layers
            spans += [Span(rank, name, 0, begin + place * each, each, phase) for place, name in enumerate(LAYERS)]
            spans.append(Span(rank, phase, 0, begin, seconds, phase))
        waited, sent = 0.0002 * (ranks - rank), []
        spans += [Span(rank, "wait", 0, 0.031, waited, "wait"), Span(rank, "transfer", 0, 0.031 + waited, 0.004, "transfer")]
        for part in range(4):
            begin = 0.031 + waited + part * 0.001
            sent.append(Message(rank, (rank + 1) % ranks, 0, 60_000, begin, 0.0009))
            spans.append(Span(rank, f"Recv from {(rank - 1) % ranks}", 60_000, begin, 0.001))
        records.append(Trace(rank, 9, 1.0, 0.036 + waited, spans, sent, 0.0))
    return lambda: Timeline(records).picture()


def lines(what):
    """A line for each rank of the long run."""
    records = long_run()
    return lambda: on_paper(lambda ax: by_rank(records, ax, what))


def runs(count):
    """So many long runs in one picture."""
    told = {f"run {number}": long_run(2, EPOCHS // 2) for number in range(1, count + 1)}
    return lambda: overlay_figure(told)._repr_png_()


def gradients(ranks):
    """Those of all ranks in one step."""
    dice = np.random.default_rng(0)
    norms, cosines = 1 + dice.random((len(LAYERS), ranks)), np.eye(ranks)
    total = norms.mean(1)
    told = Gradients(
        9, "", [4] * ranks, 1.0, LAYERS, norms.tolist(), total[:, None].tolist(), total.tolist(), [[0.0]] * len(LAYERS),
        [cosines.tolist()] * len(LAYERS), time.time(),
    )  # fmt: skip
    return lambda: gradients_figure(GradientView(told))._repr_png_()


def matrix(classes):
    """Which class is taken for which; other counts each time."""
    dice, names = np.random.default_rng(0), [f"class {k}" for k in range(classes)]
    return lambda: on_paper(lambda ax: confusion(dice.integers(1, 2000, (classes, classes)), names, ax), height=5.8)


def numbers():
    """The weights of VGG-11."""
    dice = np.random.default_rng(0)
    arrays = {name: dice.standard_normal(100_000).astype(np.float32) for name in LAYERS}
    return lambda: on_paper(lambda ax: histograms(arrays, ax, "Weights"))


def many_tiles(count, side, channels, words=True, **how):
    """Small pictures side by side; others each time."""
    dice = np.random.default_rng(0)

    def again():
        images = dice.random((count, side, side, channels))
        told = [f"cat → dog {percent} %" for percent in dice.integers(1, 100, count)] if words else ()
        return on_paper(lambda ax: tiles(images, told, ax, "The worst samples", **how), height=5.8 if words else HEIGHT)

    return again


def who_has_what():
    """16 ranks, 60,000 samples."""
    dice = np.random.default_rng(0)
    data = dtnn.data.Dataset(dice.random((60_000, 2), np.float32), dice.integers(0, 10, 60_000))
    view = ShardView(lambda: (data, RANKS, 512, 0))
    view.box.selected_index = 0
    return view.show


KINDS = {
    "live, 2 ranks": few_ranks,
    "live, 16 ranks, 200 epochs": live,
    "allreduce of 4": lambda: allreduce(4),
    "allreduce of 16": lambda: allreduce(16),
    "playground": lambda: playground(1),
    "playground, replicas differ": lambda: playground(2),
    "playground, 8 replicas": lambda: playground(32, 8, "16, 16"),
    "playground, two weights": lambda: playground(32, 8, "two weights"),
    "playground, another frame": surface,
    "drawing of lenet5": lambda: network("lenet5"),
    "drawing of vgg11": lambda: network("vgg11"),
    "drawing of resnet20": lambda: network("resnet20"),
    "click in lenet5": lambda: click("lenet5"),
    "click in resnet20": lambda: click("resnet20"),
    "a step of 2 ranks": lambda: one_step(2),
    "a step of 16 ranks": lambda: one_step(16),
    "loss of each of 16 ranks": lambda: lines("loss"),
    "work of each of 16 ranks": lambda: lines("work"),
    "2 runs": lambda: runs(2),
    "12 runs": lambda: runs(12),
    "gradients of 2 ranks": lambda: gradients(2),
    "gradients of 16 ranks": lambda: gradients(16),
    "confusion of 10 classes": lambda: matrix(10),
    "confusion of 100 classes": lambda: matrix(100),
    "weights of 21 layers": numbers,
    "24 worst samples": lambda: many_tiles(24, 32, 3, columns=6),
    "48 feature maps": lambda: many_tiles(49, 32, 1, False, each=True),
    "128 filters": lambda: many_tiles(128, 3, 1, False, signed=True, columns=16),
    "shards of 16 ranks": who_has_what,
}
