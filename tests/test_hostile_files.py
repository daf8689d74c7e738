"""Files that somebody made to harm: refused with a clear ValueError; nothing of them runs, or fills the memory or the disk."""

import io
import json
import os
import resource
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

import dtnn
from dtnn.arrays_file import arrays
from dtnn.train_command import _data


class Bomb:
    """Whoever unpickles it runs this."""

    def __reduce__(self):
        return os.mkdir, ("executed",)


def npy(array=None, shape=None, dtype="<f4", body=b"", fortran=False):
    """The bytes of an array, with a header that may lie."""
    buffer = io.BytesIO()
    if array is not None:
        np.save(buffer, array, allow_pickle=True)
    else:
        np.lib.format.write_array_header_1_0(buffer, {"descr": dtype, "fortran_order": fortran, "shape": shape})
        buffer.write(body)
    return buffer.getvalue()


def archive(path, packed=zipfile.ZIP_STORED, **entries):
    with zipfile.ZipFile(path, "w", packed) as made:
        for name, content in entries.items():
            made.writestr(f"{name}.npy", content)
    return path


def header(text):
    """An array whose header is this text."""
    text = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


REFUSED = r"altered\.npz is not|is none of dtnn|is not a layer|layer|shape|dtype|seed|bias|must be below"
HOSTILE = {
    "pickle": npy(np.array([Bomb()], object)),
    "pickle as text": npy(np.array(["a", Bomb()], object)),
    "huge shape": npy(shape=(10**6, 10**6)),
    "endless shape": npy(shape=(2**62, 2**62)),
    "empty but endless": npy(shape=(0, 2**70)),
    "negative shape": npy(shape=(-1, -4), body=bytes(16)),
    "negative count": npy(shape=(-4,), body=bytes(16)),
    "too short": npy(shape=(100,), body=bytes(8)),
    "too long": npy(shape=(1,), body=bytes(800)),
    "code as header": header("__import__('os').mkdir('executed')"),
    "nested header": header("(" * 5000),
    "long header": b"\x93NUMPY\x02\x00" + (2**31).to_bytes(4, "little") + b" " * 1000,
    "no header": b"\x93NUMPY\x01\x00",
    "other version": b"\x93NUMPY\x09\x00" + bytes(100),
    "no array": b"hello",
    "empty": b"",
    "odd type": header("{'descr': 'O8', 'fortran_order': False, 'shape': (1,)}"),
    "objects within": header("{'descr': [('a', '<f4'), ('b', '|O')], 'fortran_order': False, 'shape': (1,)}"),
}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """What is executed after all would be seen here."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.filterwarnings("ignore:Reading `.npy`")
def test_hostile_arrays_are_refused_by_all_that_read_arrays(kind):
    about = npy(np.frombuffer(json.dumps({"format": 1}).encode(), np.uint8))
    path = archive("hostile.npz", x_train=HOSTILE[kind], y_train=npy(np.zeros(3)), dtnn=about)
    with pytest.raises(ValueError, match=r"hostile\.npz is no file of arrays, or is damaged"):
        arrays(path)
    with pytest.raises(ValueError, match=r"hostile\.npz is not a model saved by dtnn, or is damaged"):
        dtnn.load(path)
    with pytest.raises(ValueError, match=r"hostile\.npz is no file of arrays, or is damaged"):
        _data(str(path))
    assert sorted(os.listdir(".")) == ["hostile.npz"]


def test_what_savez_writes_is_read(here):
    given = {
        "c": np.arange(6.0).reshape(2, 3),
        "fortran": np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
        "scalar": np.float64(3),
        "empty": np.zeros((0, 4), np.int32),
        "texts": np.array(["a", "bcd"]),
        "bools": np.array([True, False]),
    }
    for save in (np.savez, np.savez_compressed):
        save("a.npz", **given)
        found = arrays("a.npz")
        assert list(found) == list(given)
        for name, array in given.items():
            np.testing.assert_array_equal(found[name], array)
            assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
    assert list(arrays("a.npz", ["c", "none"])) == ["c"]


def test_a_small_file_that_unpacks_to_a_lot_is_refused_before_it_does():
    with zipfile.ZipFile("bomb.npz", "w", zipfile.ZIP_DEFLATED) as made, made.open("x_train.npy", "w", force_zip64=True) as file:
        file.write(npy(shape=(80 * 2**20,)))
        for _ in range(80):
            file.write(bytes(2**22))
    assert os.path.getsize("bomb.npz") < 2**20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for read in (arrays, dtnn.load, _data):
        with pytest.raises(ValueError, match="it would fill the memory"):
            read("bomb.npz")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_sizes_that_lie_are_refused():
    """The directory of the archive says something else than what is there."""
    archive("lies.npz", x=npy(np.zeros(100)))
    content = Path("lies.npz").read_bytes()
    size = (128 + 800).to_bytes(4, "little")
    assert content.count(size) >= 2
    for lie in (10**9, 2**32 - 2, 10):
        Path("lies.npz").write_bytes(content.replace(size, lie.to_bytes(4, "little")))
        with pytest.raises(ValueError, match=r"lies\.npz is no file of arrays, or is damaged"):
            arrays("lies.npz")


def test_names_that_lead_elsewhere_write_nothing(tmp_path):
    outside = tmp_path / "inner"
    outside.mkdir()
    os.chdir(outside)
    path = archive("names.npz", **{"../../escaped": npy(np.zeros(2)), "/tmp/escaped-too": npy(np.zeros(2))})
    assert set(arrays(path)) == {"../../escaped", "/tmp/escaped-too"}
    with pytest.raises(ValueError, match="is not a model saved by dtnn"):
        dtnn.load(path)
    assert os.listdir(outside) == ["names.npz"]
    assert not Path("/tmp/escaped-too.npy").exists()


def test_a_lock_is_told():
    archive("locked.npz", x=npy(np.zeros(2)))
    content = bytearray(Path("locked.npz").read_bytes())
    content[6] |= 1  # "encrypted", here and in the directory
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    Path("locked.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"locked\.npz is no file of arrays, or is damaged: .*encrypted"):
        arrays("locked.npz")


def altered(change):
    """A real model's file with another description."""
    model = dtnn.Model(dtnn.nn.Flatten(), dtnn.nn.Linear(3), input_shape=(2, 2, 1))
    model.save("model.npz")
    found = arrays("model.npz")
    about = json.loads(found.pop("dtnn").tobytes())
    change(about)
    np.savez("altered.npz", dtnn=np.frombuffer(json.dumps(about).encode(), np.uint8), **found)
    return "altered.npz"


@pytest.mark.parametrize(
    "layer",
    [
        {"layer": "os.system", "arguments": ["mkdir executed"], "settings": {}},
        {"layer": "__import__", "arguments": ["os"], "settings": {}},
        {"layer": "Layer.__subclasses__", "arguments": [], "settings": {}},
        {"layer": "init", "arguments": [], "settings": {}},
        {"layer": "Linear", "arguments": [10**15], "settings": {}},
        {"layer": "Linear", "arguments": [2**80], "settings": {}},
        {"layer": "Linear", "arguments": ["__import__('os').mkdir('executed')"], "settings": {}},
        {"layer": "Linear", "arguments": [3], "settings": {"bias": {"layer": "eval", "arguments": [], "settings": {}}}},
        {"layer": "Linear", "arguments": [3], "settings": {"__class__": 3}},
        ["Linear"],
        None,
        7,
    ],
    ids=str,
)
def test_descriptions_of_what_is_no_layer_are_refused(layer):
    with pytest.raises(ValueError, match=REFUSED):
        dtnn.load(altered(lambda about: about["layers"].__setitem__(1, layer)))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("input_shape", [10**9, 10**9, 1]),
        ("input_shape", "abc"),
        ("steps", None),
        ("frozen", 3),
        ("dtype", "object"),
        ("seed", "x"),
    ],
)
def test_descriptions_with_odd_values_are_refused(name, value):
    with pytest.raises(ValueError, match=REFUSED):
        dtnn.load(altered(lambda about: about.__setitem__(name, value)))


def test_a_nested_description_is_refused():
    def nest(about):
        about["layers"][1] = json.loads('{"layer": "Residual", "settings": {}, "arguments": [' * 200 + "3" + "]}" * 200)

    with pytest.raises(ValueError, match=REFUSED):
        dtnn.load(altered(nest))


def test_members_of_an_archive_of_images_are_never_unpacked(tmp_path, monkeypatch):
    """A downloaded set is read from within its archive, whatever its members are called; and its hash is checked before."""
    from dtnn.data import cifar10

    path = tmp_path / "set.tar.gz"
    with tarfile.open(path, "w:gz") as made:
        for name in ("../escaped", "cifar-10-batches-bin/data_batch_1.bin"):
            entry = tarfile.TarInfo(name)
            entry.size = 10
            made.addfile(entry, io.BytesIO(bytes(10)))
    monkeypatch.setattr(sys.modules[cifar10.__module__], "fetch", lambda *_: path)
    with pytest.raises((ValueError, KeyError), match=r"data_batch_1|reshape"):
        cifar10()
    assert not (tmp_path.parent / "escaped").exists()
