"""Who trains on which sample, as the training itself divides them."""

import numpy as np
import pytest

import dtnn
from dtnn.comm import run_threads
from dtnn.lab.settings_panel import SettingsPanel
from dtnn.lab.shard_view import owners
from dtnn.parallel import AllReduce


@pytest.mark.parametrize(("total", "ranks", "batch"), [(40, 3, 16), (10, 4, 4), (7, 2, 7), (5, 1, 2)])
def test_each_sample_once_an_epoch(total, ranks, batch):
    found = owners(total, ranks, batch)
    assert ((found >= 0) & (found < ranks)).all()
    if total >= 10:
        assert (found[0] != found[1]).any(), "each epoch is another order"


def test_it_is_what_a_training_does():
    """A layer notes the samples that each rank sees; each sample is its own number."""
    seen = {}

    class Notes(dtnn.nn.Layer):
        def forward(self, x, step=None):
            if step is not None and step.number and step.training:
                seen.setdefault((step.number, tuple(x[0].round().astype(int).tolist())), None)
            return x, lambda dy: dy

    x = np.arange(20, dtype=np.float32)[:, None]
    rows = dtnn.data.Dataset(x, np.arange(20) % 2, classes=2).train

    def job(comm):
        model = dtnn.Model(Notes(), dtnn.nn.Linear(2), input_shape=(1,))
        return list(dtnn.training.train(comm, model, rows, batch_size=20, strategy=AllReduce(), optimizer=dtnn.optim.SGD(0.0)))

    run_threads(job, 2)
    parts = [set(samples) for number, samples in seen if number == 1]
    expected = owners(20, 2, 20)[0]
    assert sorted(map(sorted, parts)) == sorted(sorted(np.flatnonzero(expected == rank).tolist()) for rank in (0, 1))


def test_drawn_only_where_it_is_looked_at_and_follows_the_settings():
    panel = SettingsPanel(names={})
    view = panel.shards
    assert view.sheet.png is None
    view.box.selected_index = 0
    first = view.sheet.png
    assert first[1:4] == b"PNG"
    panel.ranks.value = 3
    assert view.sheet.png != first
    panel.strategy.choice.value = "ParameterServer"
    assert panel._shared()[1:] == (3, 64, 1)
    assert 0 not in owners(40, 3, 8, servers=1)
    panel.batch.value = 2
    assert "batch_size=2 is less than one sample for each of 3 ranks" in view.message.text
    panel.batch.value, panel.ranks.value = 64, 20
    assert "20 ranks can't be told apart" in view.message.text


def test_any_epoch_can_be_looked_at():
    panel = SettingsPanel(names={})
    view = panel.shards
    view.box.selected_index = 0
    first = view.sheet.png
    upper, lower = view.sheet.figure.axes[:2]
    assert "in epoch 1" in lower.get_title(loc="left")
    view.epoch.value = 7
    assert view.sheet.png != first
    upper, lower = view.sheet.figure.axes[:2]
    assert "in epoch 7" in lower.get_title(loc="left")
    assert [text.get_text() for text in upper.get_yticklabels()] == ["7", "8", "9", "10"]
    expected = owners(len(panel.data), 2, 64, epochs=7)[6]
    assert np.array_equal(owners(len(panel.data), 2, 64, first=7)[0], expected)
    counts = [[int(bar.get_extents().height) for bar in bars.get_paths()] for bars in lower.collections]
    assert counts == [np.bincount(panel.data.train.y[expected == rank], minlength=10).tolist() for rank in (0, 1)]
