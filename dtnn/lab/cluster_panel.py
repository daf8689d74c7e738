"""`ClusterPanel`: the ranks, what they do, and buttons to start and stop them."""

import asyncio
import contextlib
import html
import time

import ipywidgets as widgets

from .. import allowed
from ..cluster import Cluster
from ..cluster.doctor import diagnose
from . import given
from .cluster_bar import ClusterBar
from .findings_table import findings_table
from .keeping import Keeping
from .launch_form import MOST, LaunchForm
from .looks import Message, enlarged, faint, style
from .panel import Panel, begin
from .places import LAUNCHERS

LOOK = 0.5  # seconds between two looks at the ranks
SELDOM = 1.5  # seconds more at most, where a look takes long
LINES = 40  # of the log


class ClusterPanel(Panel):
    """Start, stop and restart a cluster, see what each rank does, ask the doctor, read the log.

    Nothing here waits: starting, stopping and the doctor work beside the notebook.

    Parameters
    ----------
    cluster : Cluster, optional
        To look after; without it one is made when "start" is clicked. It is then the panel's attribute `cluster`.
    ranks : int
    launcher : str
        To begin with, where none is given: "mpi" or "threads".
    big : bool
        Large letters, for a projector.

    Raises
    ------
    ValueError, TypeError
        The panel starts no ranks of that kind, or not so many; what was given is no cluster.

    Examples
    --------
    In a notebook: ``panel = dtnn.lab.ClusterPanel()`` and ``panel`` as the last line of a cell; then ``cluster=panel.cluster``.

    >>> panel = ClusterPanel(ranks=3, launcher="threads")
    >>> panel.start()
    >>> panel.cluster.ranks, panel.cluster.state
    (3, 'running')
    >>> panel.close()
    >>> panel.cluster.state
    'stopped'
    """

    def __init__(self, cluster=None, ranks=2, launcher="mpi", big=False):
        cluster, ranks = given.cluster(cluster), given.whole("ranks", ranks, 1, MOST)
        launcher = allowed.one_of("launcher", launcher, LAUNCHERS.values(), "; hand over another kind as cluster=...")
        self.take_the_cells_place()
        self.cluster, self._given, self._busy, self._closed, self._watching = cluster, cluster is not None, False, False, None
        self._keeping, self._unseen = Keeping(self, lambda: self._busy), False
        self._shown_log = self._shown_ranks = None
        self._make(ranks, launcher)
        enlarged(self.box, allowed.flag("big", big))
        self._take(self._seen())

    def _make(self, ranks, launcher):
        self.form = LaunchForm(ranks, launcher)
        self.bar, self.message = ClusterBar(self), Message()
        self.table, self.log, self.findings = (widgets.HTML(layout={"max_width": "100%", "overflow": "auto"}) for _ in range(3))
        self.table.add_class("dtnn-roster")
        self.findings.add_class("dtnn-findings")
        rows = [*([] if self._given else [self.form.box]), self.bar.box]
        self.box = widgets.VBox([style(), *rows, self.message.box, self.table, self.findings, self.log])
        self.box.add_class("dtnn-panel").add_class("dtnn-cluster")

    # ---- buttons

    def start(self):
        """Start the ranks, new ones where some have died; nothing happens if they run."""
        self._do("starting", self._start)

    def stop(self):
        """End them."""
        self._do("stopping", lambda: self.cluster and self.cluster.stop())

    def restart(self):
        """End what is left of them and start new ones."""
        self._do("restarting", lambda: self.cluster.restart() if self.cluster else self._start())

    def doctor(self):
        """Say what is installed, what is wrong, and what to do."""
        self.findings.value = faint("looking; this takes some seconds")
        self._do("asking the doctor", self._doctor)

    def _do(self, word, work):
        """Work in a thread; a second click while that goes on does nothing."""
        if self._busy or self._closed:
            return
        self._busy = True
        self.message.say("")
        self.bar.say(word)
        self._enable()
        begin(self._done(work))

    async def _done(self, work):
        try:
            await asyncio.to_thread(work)
        except Exception as error:
            self.message.say(error)
        finally:
            self._busy = False
            self.bar.say("")
            await self._look()

    def _start(self):
        if self.cluster is not None and self.cluster.state == "dead":
            self.cluster.stop()  # what is left of it; else it would count as running
        if self.cluster is None or (not self._given and self.form.place() != self._place and self.cluster.state != "running"):
            self._place = self.form.place()
            self.cluster = Cluster(**self._place, on_wait=lambda text: text and self.bar.say(text))
        self.cluster.start()

    def _doctor(self):
        self.findings.value = findings_table(diagnose())

    # ---- what is seen

    async def _look(self):
        """Bring table, log and buttons up to date; what can't be looked at is said until it can."""
        try:
            seen = await asyncio.to_thread(self._seen)  # ranks that don't answer would hold the notebook
        except Exception as error:  # a cluster that dies while it is looked at
            self.message.say(error)
            self._unseen = True
            self._enable()
            return
        if self._unseen:
            self.message.say("")
            self._unseen = False
        self._take(seen)

    def _seen(self):
        """The cluster as a page, its log, its state, its ranks' descriptions."""
        if self.cluster is None:
            return faint("no cluster yet"), "", "", []
        return self.cluster._repr_html_(), self.cluster.log(lines=LINES), self.cluster.state, self.cluster.describe()

    def _take(self, seen):
        """Show what was seen; when ranks have come or gone, also in the notebook that is saved."""
        self.table.value, log, state, rows = seen
        dead = [str(row["rank"]) for row in rows if row["state"] == "dead"] if state == "dead" else []
        if not self._busy:
            who = f"rank{'s' * (len(dead) > 1)} {', '.join(dead)}"
            self.bar.say(f"{who} died; start makes new ranks" if dead else "")
        if log != self._shown_log:
            text = f'<pre style="font-size: 11px">{html.escape(log)}</pre>'
            opened = f'<details><summary class="dtnn-faint">log</summary>{text}</details>'
            self._shown_log, self.log.value = log, opened if log else ""
        ranks = state, [row.get("pid") for row in rows], dead
        if ranks != self._shown_ranks:
            self._shown_ranks = ranks
            self._keeping.soon()
        self._enable()

    def _enable(self):
        running = self.cluster is not None and self.cluster.state == "running"
        self.bar.enable(self.cluster, self._busy)
        self.form.enable(not running and not self._busy)

    async def _watch(self):
        """Look again and again, while it is shown."""
        while not self._closed:
            await asyncio.sleep(LOOK)
            begin_at = time.perf_counter()
            await self._look()
            await asyncio.sleep(min(SELDOM, 10 * (time.perf_counter() - begin_at)))

    def _ipython_display_(self):
        if self._watching is None:
            with contextlib.suppress(RuntimeError):  # no loop: a script
                self._watching = asyncio.get_running_loop().create_task(self._watch())
        super()._ipython_display_()

    def close(self):
        """Take it away, and stop the cluster that was started here."""
        self._closed = True
        self._keeping.not_yet()
        if self.cluster is not None and not self._given:
            self.cluster.stop()
        super().close()

    def words(self):
        """The ranks as a table."""
        return repr(self.cluster) if self.cluster is not None else "ClusterPanel: no cluster yet"
