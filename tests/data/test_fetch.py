"""Downloads, from a server of this process: no test needs a network (case 96)."""

import gzip
import hashlib
import io
import sys
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from dtnn.data import cifar10, mnist
from dtnn.data.fetch import fetch, is_right

CONTENT = b"some digits"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
NOBODY = "http://127.0.0.1:9/"  # the port where nothing listens


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("DTNN_DATA_DIR", raising=False)
    monkeypatch.setenv("DTNN_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    return tmp_path / "cache" / "data"


@pytest.fixture
def server():
    """Serves what is put into `server.files`, and notes what it was asked for."""
    pytest.importorskip("pooch", reason="the package pooch is not installed")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            server.asked.append(self.path)
            content = server.files.get(self.path.lstrip("/"))
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.files, server.asked = {}, []
        server.address = f"http://127.0.0.1:{server.server_port}/"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_fetched_once_and_kept(folder, server):
    server.files["digits"] = CONTENT
    for _ in range(2):
        path = fetch("digits", [server.address], SHA256, "mnist5k()")
        assert path == folder / "digits"
        assert path.read_bytes() == CONTENT
    assert server.asked == ["/digits"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_next_mirror_is_tried_when_one_is_down_or_gives_something_else(folder, server):
    server.files |= {"wrong/digits": b"<html>", "right/digits": CONTENT}
    mirrors = [NOBODY, server.address + "none/", server.address + "wrong/", server.address + "right/"]
    assert fetch("digits", mirrors, SHA256, "mnist5k()").read_bytes() == CONTENT
    assert server.asked == ["/none/digits", "/wrong/digits", "/right/digits"]


def test_wrong_content_is_never_kept(folder, server):
    server.files["digits"] = b"<html>"
    with pytest.raises(ConnectionError, match=r"digits could not be fetched.*sha256"):
        fetch("digits", [server.address], SHA256, "mnist5k()")
    assert not (folder / "digits").exists()


def test_a_broken_file_is_fetched_again(folder, server):
    server.files["digits"] = CONTENT
    folder.mkdir(parents=True)
    (folder / "digits").write_bytes(CONTENT[:4])
    assert fetch("digits", [server.address], SHA256, "").read_bytes() == CONTENT


def test_only_one_rank_fetches(folder, server):
    server.files["digits"] = CONTENT
    ranks = [threading.Thread(target=fetch, args=("digits", [server.address], SHA256, "")) for _ in range(6)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
    assert server.asked == ["/digits"]


def test_without_a_network_the_error_says_what_there_is(folder, server):
    with pytest.raises(ConnectionError) as caught:
        fetch("digits", [NOBODY], SHA256, "dtnn.data.mnist5k() comes with dtnn")
    for part in ("digits", "dtnn.data.mnist5k() comes with dtnn", SHA256, str(folder), NOBODY):
        assert part in str(caught.value)


@pytest.mark.parametrize(("make", "instead"), [(mnist, "dtnn.data.mnist5k()"), (cifar10, "dtnn.data.synthetic((32, 32, 3))")])
def test_the_sets_name_what_there_is_instead(make, instead, folder, server, monkeypatch):
    monkeypatch.setattr(sys.modules[make.__module__], "MIRRORS", (NOBODY,))
    with pytest.raises(ConnectionError) as caught:
        make()
    assert instead in str(caught.value)


def test_without_pooch_the_error_says_how_to_get_it(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ModuleNotFoundError, match=r'digits .*pip install "dtnn\[data\]".*Without it: mnist5k'):
        fetch("digits", [NOBODY], SHA256, "mnist5k()")


def test_a_folder_of_the_class_is_looked_into_first(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)  # nothing can be fetched
    shared = tmp_path / "class"
    shared.mkdir()
    (shared / "digits").write_bytes(CONTENT)
    monkeypatch.setenv("DTNN_DATA_DIR", str(shared))
    assert fetch("digits", [NOBODY], SHA256, "") == shared / "digits"


def test_checksum_of_a_large_file(tmp_path):
    content = np.arange(1 << 20).tobytes()
    (tmp_path / "file").write_bytes(content)
    assert is_right(tmp_path / "file", hashlib.sha256(content).hexdigest())
    assert not is_right(tmp_path / "file", SHA256)


def idx(array):
    return gzip.compress(b"\0\0\x08" + bytes([array.ndim]) + np.array(array.shape, ">u4").tobytes() + array.tobytes())


def serve(server, monkeypatch, module, files):
    server.files |= files
    monkeypatch.setattr(module, "MIRRORS", (server.address,))
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def test_mnist_is_read_right(folder, server, monkeypatch):
    rng = np.random.default_rng(0)
    arrays = [rng.integers(0, 256, (20, 28, 28), np.uint8), np.arange(20, dtype=np.uint8) % 10]
    arrays += [array[:10] for array in arrays]
    module = sys.modules["dtnn.data.mnist"]
    monkeypatch.setattr(module, "FILES", serve(server, monkeypatch, module, dict(zip(module.FILES, map(idx, arrays)))))
    data = mnist.__wrapped__()
    assert np.array_equal(data.x_train[..., 0], arrays[0])
    assert np.array_equal(data.y_test, arrays[3])
    with pytest.raises(ValueError, match="read-only"):
        data.x_train[0] = 0


def test_cifar10_is_read_right(folder, server, monkeypatch):
    rng = np.random.default_rng(0)
    planes, labels = rng.integers(0, 256, (6, 2, 3, 32, 32), np.uint8), rng.integers(0, 10, (6, 2), np.uint8)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for k, name in enumerate(["data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"]):
            records = np.concatenate([labels[k, :, None], planes[k].reshape(2, -1)], axis=1).tobytes()
            entry = tarfile.TarInfo(f"cifar-10-batches-bin/{name}.bin")
            entry.size = len(records)
            archive.addfile(entry, io.BytesIO(records))
    module = sys.modules["dtnn.data.cifar10"]
    sums = serve(server, monkeypatch, module, {module.NAME: buffer.getvalue()})
    monkeypatch.setattr(module, "SHA256", sums[module.NAME])
    data = cifar10.__wrapped__()
    assert data.x_train.shape == (10, 32, 32, 3)
    assert np.array_equal(data.x_train[5], planes[2, 1].transpose(1, 2, 0))
    assert data.y_train.tolist() == labels[:5].ravel().tolist()
    assert data.y_test.tolist() == labels[5].tolist()
    assert data.classes[6] == "frog"
