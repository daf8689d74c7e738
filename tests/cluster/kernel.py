"""A kernel of a notebook, driven as a front end does."""

import os

from jupyter_client.manager import start_new_kernel

from .conftest import ROOT


class Kernel:
    """A kernel, and what its cells print."""

    def __init__(self):
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.manager, self.client = start_new_kernel(env=environment)

    def run(self, code, while_running=None):
        """Run a cell; its stdout, its displays, and its error's name."""
        text, shown = [], []

        def hook(message):
            if message["msg_type"] == "stream":
                text.append(message["content"]["text"])
            elif message["msg_type"] in ("display_data", "update_display_data", "execute_result"):
                shown.append(message["content"]["data"])
            elif message["msg_type"] == "status" and message["content"]["execution_state"] == "busy" and while_running:
                while_running()

        reply = self.client.execute_interactive(code, timeout=40, output_hook=hook)
        return "".join(text), shown, reply["content"].get("ename")

    def end(self):
        """The user closes the notebook; nothing happens if it has ended."""
        self.client.stop_channels()
        if self.manager.has_kernel:
            self.manager.shutdown_kernel()
        self.manager.cleanup_resources()
