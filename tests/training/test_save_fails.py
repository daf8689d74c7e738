"""A checkpoint that can't be written: the disk is full, the folder is gone; the last good one stays, and the user has chosen."""

import contextlib
import errno
import os
import resource
import shutil
import subprocess
import warnings

import numpy as np
import pytest

import dtnn
from dtnn import Model, Save
from dtnn.nn import Flatten, Linear, ReLU
from dtnn.records import Epoch, Finish

from ..cluster.conftest import engines  # noqa: F401

pytestmark = pytest.mark.undisturbed

FULL = {errno.ENOSPC, errno.EFBIG}
SETTINGS = dict(batch_size=20, optimizer=dtnn.optim.Adam(0.002), deterministic=True, show=False)


def network():
    return Model(Flatten(), Linear(16), ReLU(), Linear(10), input_shape=(28, 28, 1))  # 150 kB with Adam's state


def few():
    digits = dtnn.data.mnist5k()
    return digits.x_train[::40], digits.y_train[::40]


@pytest.fixture
def small(tmp_path):
    """A disk of a megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no small disk can be had here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", place], check=True)


def fill(place):
    """Until nothing fits any more; removing the file makes room again."""
    with open(place / "filler", "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))


class Fills:
    """A callback: the disk is full from the end of an epoch on, until that of another."""

    def __init__(self, place, full, free=None):
        self.place, self.full, self.free = place, full, free

    def __call__(self, record):
        if isinstance(record, Epoch) and record.epoch == self.full:
            fill(self.place)
        if isinstance(record, Epoch) and record.epoch == self.free:
            os.unlink(self.place / "filler")


@pytest.fixture(params=["alone", pytest.param("on ranks", marks=pytest.mark.slow)])
def cluster(request):
    return None if request.param == "alone" else request.getfixturevalue("engines")


def test_by_default_a_full_disk_ends_the_training_and_the_last_checkpoint_goes_on(cluster, small):
    path, model, whole = small / "digits.npz", network(), network()
    with pytest.raises(OSError, match=r"digits\.npz was not written; the file that was there is kept as it was") as told:
        model.fit(*few(), epochs=5, cluster=cluster, callbacks=[Fills(small, 3), Save(path)], **SETTINGS)
    assert told.value.errno in FULL
    assert sorted(os.listdir(small)) == ["digits.npz", "filler"]
    os.unlink(small / "filler")
    again = dtnn.load(path)
    assert again.training.epoch == 2
    again.fit(*few(), epochs=5, cluster=cluster, resume=True, callbacks=[Save(path)], **SETTINGS)
    whole.fit(*few(), epochs=5, cluster=cluster, **SETTINGS)
    np.testing.assert_array_equal(again.parameters.value, whole.parameters.value)
    assert dtnn.load(path).training.epoch == 5


def test_it_may_stop_cleanly_and_the_weights_come_back(cluster, small):
    path, model, whole = small / "digits.npz", network(), network()
    settings = {**SETTINGS, "cluster": cluster}
    history = model.fit(*few(), epochs=9, callbacks=[Fills(small, 3), Save(path, on_error="stop")], **settings)
    assert (history.reason, history.epoch) == ("stopped", [1, 2, 3])
    text = history.records.last(Finish).text
    assert text.startswith("epoch 3 could not be saved: No space left on device: ")
    assert text.endswith("digits.npz was not written; the file that was there is kept as it was")
    whole.fit(*few(), epochs=3, **settings)
    np.testing.assert_array_equal(model.parameters.value, whole.parameters.value)
    assert dtnn.load(path).training.epoch == 2


def test_it_may_go_on_and_saves_when_there_is_room_again(cluster, small, capfd):
    path, model = small / "digits.npz", network()
    callbacks = [Fills(small, 2, free=4), Save(path, on_error="go on")]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        history = model.fit(*few(), epochs=5, cluster=cluster, callbacks=callbacks, **SETTINGS)
    assert (history.reason, history.epoch[-1]) == ("done", 5)
    texts = [str(one.message) for one in told] if cluster is None else capfd.readouterr().out.splitlines()
    texts = [text for text in texts if "could not be saved" in text]
    assert ["epoch 2 could not" in texts[0], "epoch 3 could not" in texts[1], len(texts)] == [True, True, 2]
    assert texts[0].endswith("; the training goes on")
    assert dtnn.load(path).training.epoch == 5
    assert os.listdir(small) == ["digits.npz"]


def test_a_limit_of_the_size_of_files_is_as_a_full_disk(tmp_path):
    path, model = tmp_path / "digits.npz", network()
    model.fit(*few(), callbacks=[Save(path)], **SETTINGS)
    before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"digits\.npz was not written; the file that was there is kept") as told:
            model.fit(*few(), callbacks=[Save(path)], **SETTINGS)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert told.value.errno in FULL
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["digits.npz"]


def test_who_reads_while_four_ranks_train_and_save_finds_whole_files_only(tmp_path):  # case 47
    path, epochs = tmp_path / "digits.npz", []
    with dtnn.Cluster(4, launcher="threads", on_wait=False) as cluster:
        run = network().start(*few(), cluster=cluster, epochs=20, batch_size=20, callbacks=[Save(path)])
        while not run.done:
            with contextlib.suppress(FileNotFoundError):
                epochs.append(dtnn.load(path).training.epoch)
        run.result()
    assert epochs == sorted(epochs)
    assert len(set(epochs)) > 1
    assert dtnn.load(path).training.epoch == 20
    assert os.listdir(tmp_path) == ["digits.npz"]


@pytest.mark.filterwarnings("ignore:epoch 2 could not be saved")
def test_a_folder_that_goes_away_and_comes_back(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    path = folder / "digits.npz"

    def removes(record):
        if isinstance(record, Epoch) and record.epoch == 2:
            shutil.rmtree(folder)
        if isinstance(record, Epoch) and record.epoch == 3:
            folder.mkdir()

    network().fit(*few(), epochs=3, callbacks=[removes, Save(path, on_error="go on")], **SETTINGS)
    assert dtnn.load(path).training.epoch == 3
    words = rf"{path} can't be written: there is no folder {folder}; make it first"
    with pytest.raises(FileNotFoundError, match=words):
        network().fit(*few(), epochs=2, callbacks=[removes, Save(path)], **SETTINGS)


def test_the_best_epoch_is_still_looked_for_when_it_could_not_be_saved(tmp_path, monkeypatch):
    saved, save = [], Save(tmp_path / "best.npz", best="loss", on_error="stop")

    class Fake:
        def save(self, path):
            if len(saved) == 1:
                saved.append(None)
                raise OSError(errno.ENOSPC, "No space left on device")
            saved.append(path)

    told = [save(Epoch(n, n, 1, 1.0, 0.1, {"loss": loss}, 0.0), Fake()) for n, loss in enumerate([3.0, 1.0, 2.0], 1)]
    assert [getattr(answer, "text", None) for answer in told] == [
        None, "epoch 2 could not be saved: No space left on device", None,
    ]  # fmt: skip
    assert saved == [str(tmp_path / "best.npz"), None, str(tmp_path / "best.npz")]


def test_what_to_do_has_to_be_known(tmp_path):
    with pytest.raises(ValueError, match=r"on_error='ignore' is not known; give \"raise\", \"stop\" or \"go on\""):
        Save(tmp_path / "a.npz", on_error="ignore")
