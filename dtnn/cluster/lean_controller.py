"""ipyparallel's controller with what a cluster of some ranks needs of it, in one process.

Run as a program (``python lean_controller.py ARGUMENTS``).  NumPy, which only one way of sharing out tasks would use, is left
out, and what listens to the engines' hearts is a thread instead of a process: 16 MB less.
"""

import sys
import threading

if __name__ == "__main__":
    sys.modules["numpy"] = None  # "not installed"

from ipyparallel.controller.app import IPController


class LeanController(IPController):
    """The controller, whose only other process becomes a thread."""

    name = IPController.name  # of its files

    def init_hub(self):
        """The hub, and a listener to hearts that can be started."""
        super().init_hub()
        listen = self.heartmonitor_process.run
        self.heartmonitor_process = threading.Thread(target=listen, name="hearts", daemon=True)


if __name__ == "__main__":
    LeanController.launch_instance()
