"""A real Slurm of two nodes on this machine, in a network of its own, for tests; gone with the `with`."""

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import time

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo", "munged", "ip", "nsenter")
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
CONF = """
ClusterName=dtnn
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=100000
KillWait=3
MinJobAge=60
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port=16821 CPUs=2 RealMemory=1000 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port=16822 CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


def why_not():
    """Why Slurm can't run here; "" if it can."""
    missing = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    if missing:
        return f"no {', '.join(missing)} (Debian's slurm-wlm, munge, iproute2 have them)"
    return "" if os.getuid() == 0 else "only root can make a network of its own"


class Slurm:
    """Runs commands where the Slurm is."""

    def __init__(self, folder, network):
        self.network, self.environment = network, {**os.environ, "PATH": PATH, "SLURM_CONF": f"{folder}/slurm.conf"}

    def command(self, *words):
        """A command as it has to be written to run there."""
        # not `ip netns exec`: it mounts another /sys, without the control groups that slurmd looks for
        return [shutil.which("nsenter", path=PATH), f"--net=/run/netns/{self.network}", *map(str, words)]

    def ask(self, *words):
        """What a command prints."""
        done = subprocess.run(self.command(*words), capture_output=True, text=True, timeout=30, env=self.environment, check=True)
        return done.stdout.strip()

    def idle(self):
        """Nodes without work; none while Slurm doesn't answer."""
        with contextlib.suppress(subprocess.CalledProcessError):
            return self.ask("sinfo", "-h", "-N", "-o", "%T").split().count("idle")
        return 0

    def empty(self):
        """Cancel what a failed test has left, and wait until its processes are gone: slurmd waits for them, too."""
        with contextlib.suppress(subprocess.CalledProcessError, subprocess.TimeoutExpired):
            self.ask("scancel", "--user=root", "--signal=KILL", "--full")
            self.ask("scancel", "--user=root")
            until = time.monotonic() + 15
            while self.ask("squeue", "-h") and time.monotonic() < until:
                time.sleep(0.3)

    def jobs(self):
        """The jobs that wait or run."""
        return [line for line in self.ask("squeue", "-h", "-o", "%j %T").splitlines() if "COMPLETING" not in line]


@contextlib.contextmanager
def slurm(folder):
    """Two nodes of two cores each, idle."""
    folder.chmod(0o755)
    (folder / "state").mkdir()
    (folder / "slurm.conf").write_text(CONF.format(folder=folder, host=socket.gethostname().split(".")[0]))
    (folder / "munge.key").write_bytes(secrets.token_bytes(64))
    (folder / "munge.key").chmod(0o400)
    there, started = Slurm(folder, f"dtnn-{os.getpid()}"), []
    subprocess.run(["ip", "netns", "add", there.network], check=True, env=there.environment)
    try:
        there.ask("ip", "link", "add", "va", "type", "veth", "peer", "name", "vb")
        there.ask("ip", "addr", "add", "10.78.0.1/24", "dev", "va")  # names are not looked up where there is loopback alone
        for name in ("lo", "va", "vb"):
            there.ask("ip", "link", "set", name, "up")
        files = [f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
        conf = ["-f", folder / "slurm.conf"]
        for command in (
            ["munged", "-F", "--force", f"--socket={folder}/munge.socket", *files],
            ["slurmctld", "-D", *conf],
            ["slurmd", "-D", "-N", "n1", *conf],
            ["slurmd", "-D", "-N", "n2", *conf],
        ):
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
            started.append(subprocess.Popen(there.command(*command), env=there.environment, **quiet))
            time.sleep(0.3)
        until = time.monotonic() + 20
        while there.idle() < 2:
            assert time.monotonic() < until, (folder / "slurmctld.log").read_text()[-2000:]
            time.sleep(0.2)
        yield there
    finally:
        there.empty()
        for process in reversed(started):
            process.terminate()
        for process in reversed(started):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait(10)
        subprocess.run(["ip", "netns", "del", there.network], check=False, env=there.environment)
