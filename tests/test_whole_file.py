"""Files that are there whole or not at all: what lies at their place is replaced only if it is a plain file."""

import os
import stat

import pytest

from dtnn.whole_file import whole_file


def write(path, text=b"new"):
    with whole_file(path) as file:
        file.write(text)


def test_a_link_stays_one_and_what_it_points_to_is_written(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "file", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write(link)
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert os.listdir(tmp_path / "elsewhere") == ["file"]


def test_a_link_to_what_is_not_there_yet_makes_it(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "later")
    write(link)
    assert (tmp_path / "later").read_bytes() == b"new"


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    device = tmp_path / "null"  # a second /dev/null: the first must survive a test that fails
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        device.write_bytes(b"")
    except PermissionError:
        pytest.skip("only root makes devices, and only root could replace one")
    write(device)
    assert not device.is_file()
    (tmp_path / "link").symlink_to(device)
    write(tmp_path / "link")
    assert not device.is_file()


def test_a_pipe_is_refused_and_waited_for_by_nobody(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match=r"pipe can't be written: .* no plain file; give another name"):
        write(tmp_path / "pipe")
    assert not os.path.isfile(tmp_path / "pipe")


def test_bytes_are_a_path_too(tmp_path):
    write(os.fsencode(tmp_path / "file"))
    assert (tmp_path / "file").read_bytes() == b"new"
