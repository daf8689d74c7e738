"""The processes of a cluster: controller, launcher and engines."""

import contextlib
import os
import platform
import subprocess
import time

from . import checks, folder, here, launchers, obituary, ports, signature, slurm, watchdog
from .ipyparallel_cluster import ipyparallel_cluster
from .pid import Pid
from .started import Process

CONNECTION = os.path.join("security", "ipcontroller-dtnn-client.json")  # in a cluster's folder
ANSWER = 5.0  # seconds until a controller that doesn't answer is asked again
FAREWELL = 5.0  # seconds that the watchdog may take to go
MOURNING = 3.0  # seconds that a launcher may take to say what a rank died of


class Processes:
    """Starts what was asked for, or takes over what was left to itself; knows how it fares, and ends it.

    Parameters
    ----------
    asked : Asked
    path : str, optional
        The folder of a cluster that runs and whose client is gone, to take over.

    Attributes
    ----------
    folder : str or None
        The cluster's private folder, by which its processes are known.
    cluster : ipyparallel.Cluster or None
    adopted : bool
        Whether it was here before this client.
    """

    def __init__(self, asked, path=None):
        self.asked, self.folder, self.adopted = asked, path, path is not None
        self.cluster = self._watchdog = self._launcher = self._controller = self._log = self._mourns_since = None

    def connect(self, timeout, waits):
        """An ipyparallel Client that all engines have come to."""
        if self.adopted:
            waits("the cluster to answer")
            client = self._take_over(timeout)
        else:
            with ports.reserved() as free:
                client = self._start(waits, timeout, free)
        until = time.monotonic() + timeout
        while len(client.ids) < self.asked.size:
            queue = self._launcher.waits_for()
            until = time.monotonic() + timeout if queue else until
            waits(queue or f"engines ({len(client.ids)} of {self.asked.size} are there)")
            if time.monotonic() > until or self.launcher_has_ended():
                raise RuntimeError(checks.too_few(len(client.ids), self.asked.size, sorted(client.ids), self.log()))
            time.sleep(0.02)
        return client

    def _start(self, waits, timeout, free):
        if self.asked.launcher == "slurm":
            slurm.check()
        self.folder = folder.make(self._sign, shared=self.asked.elsewhere)
        self._watchdog = launchers.start_watchdog(self.folder, self.asked.keep_alive)
        self.cluster = ipyparallel_cluster(self.asked, self.folder, free)
        waits("the controller")
        self.cluster.start_controller_sync()
        self._controller = Pid.of(self.cluster.controller.pid)
        waits("the controller's address")
        try:
            self.cluster.start_engines_sync()
        except subprocess.CalledProcessError as error:
            raise RuntimeError(slurm.refused(error.returncode)) from None
        except (TimeoutError, RuntimeError) as error:
            raise self._unanswered(error) if self._controller.has_ended() else error from None
        engines = self.cluster.engine_set
        self._launcher = slurm.Job(engines.job_id) if self.asked.launcher == "slurm" else Pid.of(engines.pid)
        self._log = engines.output_file
        signature.add(self.folder, controller=self._controller.plain(), launcher=self._launcher.plain(), log=self._log)
        return self._client(timeout)

    def _client(self, timeout):
        """The controller may be slow to answer, or have ended."""
        until = time.monotonic() + timeout
        while True:
            try:
                return self.cluster.connect_client_sync(timeout=ANSWER)
            except (TimeoutError, RuntimeError) as error:
                if self._controller.has_ended() or time.monotonic() > until:
                    raise self._unanswered(error) from None

    def _unanswered(self, error):
        how = "ended while it started" if self._controller.has_ended() else "gives no answer"
        log = obituary.tail(_written(getattr(self.cluster.controller, "output_file", None), self.cluster.controller))
        return RuntimeError(f"the cluster's controller {how} ({error}); start it again. The end of its log:\n{log}")

    def _sign(self, path):
        signature.sign(path, self.asked.size, session=here.session(), asked=self.asked.plain())

    def _take_over(self, timeout):
        """From the watchdog, which then knows that somebody is there again."""
        import ipyparallel

        self._watchdog = launchers.start_watchdog(self.folder, self.asked.keep_alive)
        with watchdog.locked(self.folder):
            values = signature.signed(self.folder)
            if signature.client(self.folder, values) is not None or "log" not in values:
                self.adopted, path, self.folder = False, self.folder, None  # not ours to end
                self._dismiss_watchdog(b"no")
                raise RuntimeError(f"{path} was attached to by somebody else just now, or has ended")
            signature.add(self.folder, **signature.myself(), session=here.session())
            os.unlink(os.path.join(self.folder, watchdog.ALONE))
        self._controller, self._launcher = (_found(values[name]) for name in ("controller", "launcher"))
        self._log = values["log"]
        return ipyparallel.Client(os.path.join(self.folder, CONNECTION), profile_dir=self.folder, timeout=timeout)

    # ---- looks

    def log(self):
        """What the engines and their launcher wrote so far."""
        return _written(self._log, getattr(self.cluster, "engine_set", None))

    def launcher_has_ended(self):
        """Whether the launcher has, and the engines with it."""
        return self._launcher is not None and self._launcher.has_ended()

    def lost(self):
        """Whether the launcher or the controller has ended, so that nothing more will be heard."""
        return self.launcher_has_ended() or (self._controller is not None and self._controller.has_ended())

    def obituary(self, rank, hellos):
        """How a rank died, from the launcher's last words, which may come a moment later; of all ranks that moment is one."""
        self._mourns_since = self._mourns_since or time.monotonic()
        while not self.launcher_has_ended():
            waited = time.monotonic() - self._mourns_since
            if waited > MOURNING or (waited > 1.0 and obituary.first_death(hellos, self.log())[0] is not None):
                break
            time.sleep(0.02)
        return obituary.text(rank, hellos, self.log())

    def reaches(self, host):
        """Whether a signal from here reaches processes of a host."""
        return host == platform.node()

    # ---- end

    def end(self):
        """End engines, then controller, by signals: quicker than asking, and it needs no event loop, so it works at exit too.

        When this process ends, a cluster that may outlive it is left to its watchdog.
        """
        if self.folder is not None and not (Process.ending and self.asked.keep_alive):
            if Process.ending:
                watchdog.leave_word(self.folder)
            watchdog.clean_up(self.folder)
            self._dismiss_watchdog(b"bye")
        self.cluster = self.folder = self._launcher = self._controller = None

    def _dismiss_watchdog(self, word):
        if self._watchdog is not None:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):  # it is told; that it has heard can wait
                self._watchdog.communicate(word, timeout=FAREWELL)
            self._watchdog = None


def _written(path, started):
    """What a process that ipyparallel has started wrote so far; it removes the file when it sees that the process has ended."""
    with contextlib.suppress(OSError, TypeError), open(path, errors="replace") as file:
        return file.read()
    return getattr(started, "_output", None) or ""


def _found(plain):
    return slurm.Job(plain["job"]) if "job" in plain else Pid(**plain)
