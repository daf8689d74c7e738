"""Engines as a job of Slurm: its script, and how it fares."""

import os
import shutil
import subprocess
import time

from .watchdog import SLURM, job_name

CLASS = "SlurmEngineSetLauncher"  # ipyparallel's
SCRIPT = "engines.sbatch"  # in the cluster's folder
LOG = "engines.log"
PERIOD = 1.0  # seconds between two questions to Slurm
PATIENCE = 20.0  # seconds that an answer may take
ALIVE = ("PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "REQUEUED", "RESIZING", "STOPPED", "SIGNALING", "STAGE_OUT")
REMEDY = 'start the notebook where `sbatch` works, or use launcher="mpi" on this host'


def check():
    """Raise RuntimeError where there is no Slurm."""
    missing = [name for name in ("sbatch", "squeue", "scancel") if shutil.which(name) is None]
    if missing:
        raise RuntimeError(f'launcher="slurm" needs {", ".join(missing)} on the PATH, and they are not; {REMEDY}')


def refused(code):
    """What to tell where `sbatch` takes no job; why, it has written itself."""
    return f"Slurm took no job: sbatch ended with exit code {code}, and said why above. Correct what it names; or {REMEDY}"


def settings(asked, folder, mpiexec):
    """What ipyparallel's launcher has to know; and a mark by which the watchdog knows that there is a job to cancel."""
    with open(os.path.join(folder, SLURM), "w"):
        pass
    head = (
        asked.batch.head(job_name(folder), asked.size, asked.threads, os.path.join(folder, LOG))
        .replace("{", "{{")
        .replace("}", "}}")
    )
    return {
        "batch_template": f"{head}\nexec {mpiexec} -n {{n}} {{program_and_args}}\n",
        "batch_file_name": os.path.join(folder, SCRIPT),
        "output_file": os.path.join(folder, LOG),
        "submit_command": ["sbatch", "--export=ALL"],
    }


class Job:
    """A job of Slurm, asked after in the background.

    Parameters
    ----------
    number : str
    """

    def __init__(self, number):
        self.number, self.state, self.reason = str(number), "PENDING", ""
        self._question, self._asked = None, 0.0

    def plain(self):
        """For a file: `Processes` makes it again."""
        return {"job": self.number}

    def waits_for(self):
        """What it waits for, in words; "" once it runs."""
        self._look()
        if self.state in ("PENDING", "CONFIGURING"):
            why = f", {self.reason}" if self.reason not in ("", "None") else ""
            return f"the batch queue (job {self.number} is {self.state.lower()}{why}); an interrupt cancels it"
        return ""

    def has_ended(self):
        """Whether it has; as far as was heard."""
        self._look()
        return self.state not in ALIVE

    def _look(self):
        if self._question is None:
            if time.monotonic() - self._asked > PERIOD:
                command = ["squeue", "-h", "-j", self.number, "-o", "%T %r"]
                self._question = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self._asked = time.monotonic()
        elif self._question.poll() is not None:
            self._hear(*self._question.communicate(), self._question.returncode)
            self._question = None
        elif time.monotonic() - self._asked > PATIENCE:
            self._question.kill()

    def _hear(self, out, err, code):
        if code == 0 and out.strip():
            self.state, _, self.reason = out.strip().splitlines()[0].partition(" ")
        elif code == 0 or "Invalid job id" in err:
            self.state = "GONE"  # else Slurm did not answer; the job may live
