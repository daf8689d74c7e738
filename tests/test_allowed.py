"""What can't be is told at once, whatever it is: with its name, its value and what to give, and never by an error from within."""

import math

import numpy as np
import pytest

import dtnn
from dtnn import allowed, check, comm, data, gradients, machine, nn, optim, records, scaling, tracing, training, views
from dtnn.comm.emulated import Emulated


class Odd:
    def __repr__(self):
        return "<Odd>"


X, Y = np.zeros((20, 4), np.float32), np.arange(20) % 3
RNG = np.random.default_rng(0)
NO_NUMBERS = [None, "3", b"x", [], {}, Odd(), int, np.zeros(3), True]
NO_FLAGS = [None, 1, "True", [], Odd(), np.zeros(3)]
NO_WHOLE = [*NO_NUMBERS, 2.5, math.nan, math.inf, -1]
NO_POSITIVE = [*NO_NUMBERS, math.nan, math.inf, -1]
NO_PATHS = [None, 1, 2.5, True, [], {}, Odd(), int]
NO_RECORDS = [None, 3, 2.5, "records", b"records", Odd(), {}, int]


def network():
    return dtnn.Model(nn.Linear(3), input_shape=(4,))


def fit(**settings):
    return network().fit(X, Y, show=False, **settings)


def train(**settings):
    rows = data.samples(X, Y)
    return list(training.train(**{"comm": comm.Serial(), "model": network(), "data": rows, **settings}))


def on_a_thread(verb, *arguments):
    return comm.run_threads(lambda rank: getattr(rank, verb)(np.zeros(4), *arguments), 1)


# What is called with a value in the place of a setting, how the error begins, and the values that can't be.
TABLE = {
    "Linear.features": (lambda v: nn.Linear(v), "Linear: features is", [*NO_WHOLE, 0, 10**30]),
    "Linear.bias": (lambda v: nn.Linear(3, bias=v), "Linear: bias=", NO_FLAGS),
    "Conv2d.kernel_size": (lambda v: nn.Conv2d(4, v), "Conv2d: kernel_size is", [*NO_WHOLE, 0]),
    "Conv2d.bias": (lambda v: nn.Conv2d(4, 3, bias=v), "Conv2d: bias=", NO_FLAGS),
    "Conv2d.exact": (lambda v: nn.Conv2d(4, 3, exact=v), "Conv2d: exact=", NO_FLAGS),
    "MaxPool2d.ceil_mode": (lambda v: nn.MaxPool2d(2, ceil_mode=v), "MaxPool2d: ceil_mode=", NO_FLAGS),
    "AvgPool2d.count": (lambda v: nn.AvgPool2d(2, count_include_pad=v), "AvgPool2d: count_include_pad=", NO_FLAGS),
    "BatchNorm2d.sync": (lambda v: nn.BatchNorm2d(sync=v), "BatchNorm2d: sync=", NO_FLAGS),
    "BatchNorm1d.eps": (lambda v: nn.BatchNorm1d(eps=v), "BatchNorm1d: eps is", NO_POSITIVE),
    "LayerNorm.eps": (lambda v: nn.LayerNorm(v), "LayerNorm: eps=", [*NO_POSITIVE, 0]),
    "LeakyReLU.slope": (lambda v: nn.LeakyReLU(v), "LeakyReLU: slope=", [*NO_NUMBERS, math.nan, math.inf]),
    "ELU.alpha": (lambda v: nn.ELU(v), "ELU: alpha=", [*NO_NUMBERS, math.nan, math.inf]),
    "MultiHeadAttention.causal": (lambda v: nn.MultiHeadAttention(2, v), "MultiHeadAttention: causal=", NO_FLAGS),
    "Reshape": (lambda v: nn.Reshape(v), "Reshape: shape is", [None, 2.5, "34", Odd(), int, np.zeros(3)]),
    "Huber.delta": (lambda v: nn.Huber(v), "Huber: delta=", [*NO_POSITIVE, 0]),
    "loss of no array": (lambda v: nn.cross_entropy(v, Y), "cross_entropy: outputs are", [None, 3, "3", [1.0], Odd()]),
    "loss of no array, numbers": (lambda v: nn.mse(v, X), "mse: outputs are", [None, 3, "3", [1.0], Odd()]),
    "SGD.lr": (lambda v: optim.SGD(v), "SGD: lr=", [None, "3", b"x", [], Odd(), True, math.nan, math.inf, -1]),
    "Adam.eps": (lambda v: optim.Adam(eps=v), "Adam: eps=", [*NO_POSITIVE, 0]),
    "SGD.nesterov": (lambda v: optim.SGD(0.1, momentum=0.9, nesterov=v), "SGD: nesterov=", NO_FLAGS),
    "RMSProp.centered": (lambda v: optim.RMSProp(centered=v), "RMSProp: centered=", NO_FLAGS),
    "cosine": (lambda v: optim.cosine(v), "cosine: lr=", NO_POSITIVE),
    "step.epochs": (lambda v: optim.step(0.1, v), "step: epochs=", [None, 3, "30", Odd(), [-1], [Odd()]]),
    "warm_up": (lambda v: optim.warm_up(v), "warm_up: then=", [None, "3", b"x", [], True, math.nan, -1]),
    "one_cycle.rising": (lambda v: optim.one_cycle(0.1, rising=v), "one_cycle: rising=", [*NO_POSITIVE, 1]),
    "plateau.metric": (lambda v: optim.plateau(0.1, v), "plateau: metric=", [None, 3, b"x", [], Odd()]),
    "plateau.patience": (lambda v: optim.plateau(0.1, patience=v), "plateau: patience=", NO_WHOLE),
    "scaled.ranks": (lambda v: optim.scaled(0.1, v), "ranks=", [*NO_POSITIVE, 0.5]),
    "scaled.rule": (lambda v: optim.scaled(0.1, 2, v), "rule=", [3, "cube", [], {}, Odd()]),
    "legw.times": (lambda v: optim.legw(0.1, v), "times=", [*NO_POSITIVE, 0.5]),
    "Dataset.name": (lambda v: data.Dataset(X, Y, name=v), "name=", [None, 3, b"x", Odd()]),
    "Dataset.classes": (lambda v: data.Dataset(X, Y, classes=v), "classes=", [0, -1, 2.5, 10**30, "names", Odd(), int]),
    "Dataset.scale": (lambda v: data.Dataset(X, Y, scale=v), "scale=", ["3", b"x", [], True, math.nan, math.inf, 0]),
    "Dataset.augment": (lambda v: data.Dataset(X, Y, augment=v), "augment", [None, 3, "flip", Odd(), [3], [data.Flip]]),
    "samples": (lambda v: data.samples(v), "data is a", [None, 3, "mnist5k", b"x", [], {}, Odd(), int]),
    "samples.x": (lambda v: data.samples(v, Y), "x=", [None, 3, "x", True, Odd(), int, {}]),
    "samples.y": (lambda v: data.samples(X, v), "y=", [3, "x", True, Odd(), int, {}, math.nan]),
    "Flip": (lambda v: data.Flip(v), "Flip: probability=", [*NO_POSITIVE, 2]),
    "Shift": (lambda v: data.Shift(v), "Shift: pixels=", [*NO_WHOLE, 10**30]),
    "Cutout": (lambda v: data.Cutout(v), "Cutout: size=", [*NO_WHOLE, 0]),
    "synthetic.samples": (lambda v: data.synthetic(samples=v), "samples=", [*NO_WHOLE, 0, 10**30]),
    "synthetic.shape": (lambda v: data.synthetic(v), "shape=", [None, 3, "332", b"xxx", [], (8, 8), (8, 8, 0), Odd()]),
    "toy2d": (lambda v: data.toy2d.spiral(v), "samples=", [*NO_WHOLE, 1, 10**30]),
    "toy2d.noise": (lambda v: data.toy2d.xor(noise=v), "noise=", [*NO_POSITIVE, 2]),
    "shares": (lambda v: data.shares(10, v), "size=", [*NO_WHOLE, 0, 10**30]),
    "Model.input_shape": (lambda v: dtnn.Model(nn.Linear(3), input_shape=v), "input_shape=", [*NO_WHOLE, 0, "28", 10**30]),
    "Model.dtype": (lambda v: dtnn.Model(nn.Linear(3), input_shape=4, dtype=v), "dtype=", [None, 3, "3", [], Odd(), int]),
    "Model.seed": (lambda v: dtnn.Model(nn.Linear(3), input_shape=4, seed=v), "seed=", [*NO_WHOLE, 10**30]),
    "Model.save": (lambda v: network().save(v), "path=", [*NO_PATHS, "", "a\0b"]),
    "load": (lambda v: dtnn.load(v), "path=", NO_PATHS),
    "Run.load": (lambda v: dtnn.Run.load(v), "path=", NO_PATHS),
    "Study.load": (lambda v: scaling.Study.load(v), "path=", NO_PATHS),
    "Save": (lambda v: dtnn.Save(v), "Save: path=", NO_PATHS),
    "Save.best": (lambda v: dtnn.Save("m.npz", best=v), "Save: best=", [3, True, [], Odd()]),
    "EarlyStopping": (lambda v: dtnn.EarlyStopping(v), "EarlyStopping: monitor=", [None, 3, [], Odd()]),
    "EarlyStopping.patience": (lambda v: dtnn.EarlyStopping(patience=v), "EarlyStopping: patience=", [*NO_WHOLE, 0]),
    "StopAt": (lambda v: dtnn.StopAt("loss", v), "StopAt: value=", [*NO_NUMBERS, math.nan]),
    "fit.epochs": (lambda v: fit(epochs=v), "epochs=", NO_WHOLE),
    "fit.resume": (lambda v: fit(resume=v), "resume=", NO_FLAGS),
    "fit.strategy": (lambda v: fit(strategy=v), "strategy=", [3, b"ring", [], Odd(), "rinng", dtnn.parallel.Sharded]),
    "fit.optimizer": (lambda v: fit(optimizer=v), "", [None, 3, b"x", [], Odd(), "adan", optim.SGD]),
    "train.comm": (lambda v: train(comm=v), "comm=", [None, 3, "mpi", Odd(), comm.Serial]),
    "train.model": (lambda v: train(model=v), "model=", [None, 3, "lenet5", Odd(), dtnn.Model]),
    "train.data": (lambda v: train(data=v), "data=", [None, 3, "mnist5k", (X, Y), Odd()]),
    "train.loss": (lambda v: train(loss=v), "loss=", [None, 3, "mse", Odd(), nn.Huber]),
    "train.metrics": (lambda v: train(metrics=v), "metrics=", [None, 3, "accuracy", [3]]),
    "train.optimizer": (lambda v: train(optimizer=v), "optimizer=", [None, 3, "sgd", Odd(), optim.SGD]),
    "train.strategy": (lambda v: train(strategy=v), "strategy=", [None, 3, "ring", Odd()]),
    "train.epochs": (lambda v: train(epochs=v), "epochs=", NO_WHOLE),
    "train.trace": (lambda v: train(trace=v), "trace=", ["3", 2.5, -1, Odd()]),
    "Send": (lambda v: on_a_thread("Send", v), "dest=", [*NO_WHOLE, 1, 10**30]),
    "Recv.tag": (lambda v: on_a_thread("Recv", 0, v), "tag=", [*NO_WHOLE, 10**30]),
    "Bcast.root": (lambda v: on_a_thread("Bcast", v), "root=", [*NO_WHOLE, 1]),
    "Allreduce.op": (lambda v: on_a_thread("Allreduce", v), "operation", [None, 3, "add", [], {}, Odd()]),
    "Split.color": (lambda v: comm.run_threads(lambda rank: rank.Split(v), 1), "color=", [2.5, "3", -1, True, Odd()]),
    "group": (lambda v: comm.group(v), "size=", [*NO_WHOLE, 0, 10**30]),
    "run_threads": (lambda v: comm.run_threads(v, 2), "a job is a function", [None, 3, "job", Odd()]),
    "Ordered": (lambda v: comm.Ordered(v), "comm=", [None, 3, "mpi", Odd()]),
    "Emulated": (lambda v: Emulated(v), "comm=", [None, 3, "mpi", Odd()]),
    "Emulated.latency": (lambda v: Emulated(comm.Serial(), latency=v), "latency=", NO_POSITIVE),
    "Emulated.slow": (lambda v: Emulated(comm.Serial(), slow=v), "slow=", [3, "1", [1], Odd()]),
    "Emulated.lose": (lambda v: Emulated(comm.Serial(), lose=v), "lose=", [3, "1", [], (1,), Odd()]),
    "threads": (lambda v: machine.threads(v).__enter__(), "threads=", [*NO_WHOLE, 0, 10**30]),
    "Cluster.timeout": (lambda v: dtnn.Cluster(2, "threads", timeout=v), "timeout=", [*NO_POSITIVE, 0, 10**30]),
    "Cluster.on_wait": (lambda v: dtnn.Cluster(2, "threads", on_wait=v), "on_wait=", [3, "print", [], True, Odd()]),
    "Cluster.secure": (lambda v: dtnn.Cluster(2, secure=v), "secure=", [0, "yes", [], Odd()]),
    "explain": (lambda v: dtnn.explain.explain(v), "records=", NO_RECORDS),
    "History": (lambda v: dtnn.History(v), "records=", NO_RECORDS),
    "GradientView.of": (lambda v: gradients.GradientView.of(v), "records=", NO_RECORDS),
    "GradientView": (lambda v: gradients.GradientView(v), "told=", NO_RECORDS),
    "noise_scale": (lambda v: gradients.noise_scale(v), "records=", NO_RECORDS),
    "traced_steps": (lambda v: tracing.traced_steps(v), "records=", NO_RECORDS),
    "critical_path": (lambda v: tracing.critical_path(v), "step=", NO_RECORDS),
    "waits": (lambda v: tracing.waits(v), "step=", NO_RECORDS),
    "from_json": (lambda v: records.Recorder.from_json(v), "text", [None, 3, "[", "3", [], Odd()]),
    "tracing.save": (lambda v: tracing.save([], v), "path=", NO_PATHS),
    "tracing.follow": (lambda v: tracing.follow(v, "trace.json"), "run=", NO_RECORDS),
    "from_dict": (lambda v: records.from_dict(v), "a record is described", [None, 3, "note", [], Odd()]),
    "views": (lambda v: views.layer_weights(v), "model=", [None, 3, "lenet5", Odd(), dtnn.Model]),
    "study.model": (lambda v: scaling.study(v, (X, Y), ranks=1), "model=", [None, 3, "lenet5", Odd()]),
    "serial_equivalent": (lambda v: check.serial_equivalent(network(), (X, Y), v), "ranks=", [*NO_WHOLE, 0, 10**30]),
    "mlp.hidden": (lambda v: dtnn.zoo.mlp(hidden=v), "", [None, 3, "256", Odd(), [2.5], [0]]),
}  # fmt: skip


CASES = [
    pytest.param(call, begin, value, id=f"{name}={value!r:.20}")
    for name, (call, begin, values) in TABLE.items()
    for value in values
]


@pytest.mark.parametrize(("call", "begin", "value"), CASES)
def test_what_can_not_be_is_told(call, begin, value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((TypeError, ValueError)) as told:
        call(value)
    text = str(told.value)
    assert text.startswith(begin)
    assert len(text) > 25, "and the remedy"
    assert not any(words in text for words in (" object ", "not supported between")), "the words of dtnn, not of Python"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("read", [dtnn.load, dtnn.Run.load, scaling.Study.load, dtnn.Comparison, network().save, dtnn.Save])
def test_a_folder_is_no_file(read, tmp_path):
    with pytest.raises(IsADirectoryError, match=r"is a folder; give the name of a file"):
        read(tmp_path)


@pytest.mark.parametrize("read", [dtnn.load, dtnn.Run.load, scaling.Study.load, dtnn.Comparison])
def test_a_file_that_is_not_there_is_told_with_where_it_was_looked_for(read, tmp_path):
    with pytest.raises(FileNotFoundError, match=rf"there is no such file in {tmp_path}; look whether"):
        read(tmp_path / "model.npz")
    with pytest.raises(FileNotFoundError, match=rf"there is no folder {tmp_path / 'job'}; look whether"):
        read(tmp_path / "job" / "run.json")
    (tmp_path / "modell.npz").touch()
    with pytest.raises(FileNotFoundError, match=r"did you mean 'modell\.npz'\?"):
        read(tmp_path / "model.npz")


def test_a_file_that_is_open_is_not_closed():
    with pytest.raises(TypeError, match=r"path=1: give the path of a file"):
        dtnn.Run.load(1)
    print("still there")  # to what a 1 would have been taken for


def test_traces_are_written_to_paths_of_all_kinds(tmp_path):
    for path in (tmp_path / "a.json", str(tmp_path / "b.json"), bytes(tmp_path / "c.json")):
        tracing.save([], path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.json", "b.json", "c.json"]


@pytest.mark.parametrize("value", [10**5000, Odd(), np.zeros((100, 100)), "x" * 1000], ids=["whole", "odd", "array", "text"])
def test_a_long_value_is_cut(value):
    assert len(allowed.shown(value)) <= 100
    assert "\n" not in allowed.shown(value)


def test_numpys_numbers_are_numbers():
    assert allowed.whole("epochs", np.int64(3)) == 3
    assert allowed.number("lr", np.float32(0.5), "a number") == 0.5
    with pytest.raises(ValueError, match="of 5001 digits; give one that a float can hold"):
        allowed.number("lr", 10**5000, "a number")
    assert comm.run_threads(lambda rank: rank.Bcast(np.ones(2), np.int64(0)).sum(), 2) == [2.0, 2.0]
