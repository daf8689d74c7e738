"""How records and printed text leave an engine: in batches, at most ten a second, none lost, all in order."""

import contextlib
import io
import pickle
import threading

PERIOD = 0.1  # seconds between two batches


class Publisher:
    """Collects what a rank tells and sends it off from a thread of its own, so that telling costs the job next to nothing.

    Parameters
    ----------
    send : callable
        ``send(key, data)``: takes a batch; each has a new key, for a key sent twice would replace what the client hasn't read.

    Attributes
    ----------
    batches : int
        How many have been sent.
    rest : list
        What has not been sent when the `with` has ended.

    Examples
    --------
    >>> sent = []
    >>> with Publisher(lambda key, data: sent.extend(pickle.loads(data))) as publisher:
    ...     publisher.put_record({"step": 1})
    >>> [pickle.loads(data) for kind, data in sent + publisher.rest]
    [{'step': 1}]
    """

    def __init__(self, send):
        self._send, self.batches, self.rest = send, 0, []
        self._waiting, self._lock = [], threading.Lock()
        self._some, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._loop, name="publisher", daemon=True)

    def put_record(self, record):
        """Tell a record, as it is now: what the job does to it afterwards doesn't show."""
        self._put("record", _packed(record))

    def put_text(self, text):
        """Tell printed text."""
        self._put("text", text)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._some.set()
        self._thread.join()
        self.rest = self._take()

    def _put(self, kind, data):
        with self._lock:
            self._waiting.append((kind, data))
        self._some.set()

    def _loop(self):
        while not self._over.is_set():
            self._some.wait()
            self._flush()
            self._over.wait(PERIOD)

    def _take(self):
        self._some.clear()
        with self._lock:
            batch, self._waiting = self._waiting, []
        return batch

    def _flush(self):
        batch = self._take()
        if batch:
            self._send(str(self.batches), pickle.dumps(batch))
            self.batches += 1


class Printer(io.TextIOBase):
    """Within it, what is printed in this process goes to a publisher, in order with the records."""

    def __init__(self, publisher):
        self._publisher, self._stack = publisher, contextlib.ExitStack()

    def __enter__(self):
        self._stack.enter_context(contextlib.redirect_stdout(self))
        self._stack.enter_context(contextlib.redirect_stderr(self))
        return self

    def __exit__(self, *_):
        self._stack.close()

    def write(self, text):
        self._publisher.put_text(str(text))
        return len(text)

    def writable(self):
        return True

    @property
    def encoding(self):
        return "utf-8"


def _packed(record):
    try:
        return pickle.dumps(record)
    except Exception:  # of a class that exists in the notebook only
        from .parcel import pack

        return pickle.dumps(_ByValue(pack(record)))


class _ByValue:
    def __init__(self, data):
        self.data = data

    def __reduce__(self):
        return _by_value, (self.data,)


def _by_value(data):
    return pickle.loads(data)[0]
