"""Whether a rank's process is still there, seen without its launcher's help."""

import subprocess
import sys
import time

from dtnn.cluster import signature, vanished


def test_only_what_was_seen_here_and_is_no_more_has_vanished(monkeypatch):
    monkeypatch.setattr(vanished, "PERIOD", 0.0)
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
    here = {"pid": sleeper.pid, "place": signature.place()}
    never = {"pid": 10**8, "place": signature.place()}  # of another container, say, that calls itself the same
    elsewhere = {"pid": sleeper.pid, "place": "another host"}
    looks = vanished.Vanished([here, never, elsewhere, {"pid": sleeper.pid}])
    try:
        assert [looks.seconds(rank) for rank in range(5)] == [0.0] * 5
        sleeper.kill()
        until = time.monotonic() + 10
        while not looks.seconds(0) and time.monotonic() < until:  # one that waits to be buried is no more, either
            time.sleep(0.01)
        assert 0 < looks.seconds(0) < 10
        assert [looks.seconds(rank) for rank in range(1, 5)] == [0.0] * 4
    finally:
        sleeper.kill()
        sleeper.wait()
