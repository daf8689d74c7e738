"""Two "hosts", each with a network, a name and an ssh server of its own, on this machine, for tests; gone with the `with`."""

import contextlib
import os
import shutil
import subprocess
import time

PROGRAMS = ("sshd", "ssh", "ssh-keygen", "ip", "nsenter", "unshare")
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
SSHD = """
ListenAddress {address}
Port 22
HostKey {folder}/hostkey
PidFile none
AuthorizedKeysFile {folder}/id.pub
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
"""
SSH = """
Host *
  IdentityFile {folder}/id
  StrictHostKeyChecking no
  UserKnownHostsFile {folder}/known_hosts
  LogLevel ERROR
"""
# A host's name, its table of names and its devices, without a change to this machine's.
WITHIN = 'mount -t sysfs sysfs /sys && mount --bind {folder}/hosts /etc/hosts && hostname {name} && exec "$@"'


def why_not():
    """Why there can't be two hosts here; "" if there can."""
    missing = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    if missing:
        return f"no {', '.join(missing)} (Debian's openssh-server, openssh-client, iproute2, util-linux have them)"
    return "" if os.getuid() == 0 else "only root can make a network of its own"


class Hosts:
    """Runs commands on one of the hosts, by name."""

    def __init__(self, folder):
        self.folder, self.names = folder, ["hostA", "hostB"]
        self.environment = {**os.environ, "PATH": f"{folder}/bin:{PATH}"}  # there is the ssh that knows the key

    def network(self, name):
        """The name of a host's network on this machine."""
        return f"{name}-{os.getpid()}"

    def command(self, name, *words):
        """A command as it has to be written to run on a host."""
        within = WITHIN.format(folder=self.folder, name=name)
        there = ["nsenter", f"--net=/run/netns/{self.network(name)}", "unshare", "--mount", "--uts", "sh", "-c", within, "sh"]
        return [*there, *map(str, words)]

    def ask(self, name, *words):
        """What a command prints on a host."""
        done = subprocess.run(
            self.command(name, *words), capture_output=True, text=True, timeout=30, env=self.environment, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@contextlib.contextmanager
def two_hosts(folder):
    """hostA (10.77.0.1) and hostB (10.77.0.2) on one cable."""
    hosts, servers = Hosts(folder), []
    _files(folder)
    with contextlib.ExitStack() as stack:
        for name in hosts.names:
            _run("ip", "netns", "add", hosts.network(name))
            stack.callback(_run, "ip", "netns", "del", hosts.network(name))
        cable = [f"v{os.getpid()}{letter}" for letter in "ab"]
        _run("ip", "link", "add", cable[0], "type", "veth", "peer", "name", cable[1])
        for number, (name, end) in enumerate(zip(hosts.names, cable), 1):
            _run("ip", "link", "set", end, "netns", hosts.network(name))
            for words in (
                ["addr", "add", f"10.77.0.{number}/24", "dev", end],
                ["link", "set", "lo", "up"],
                ["link", "set", end, "up"],
            ):
                _run("ip", "-n", hosts.network(name), *words)
            conf = folder / f"sshd_{name}"
            conf.write_text(SSHD.format(address=f"10.77.0.{number}", folder=folder))
            command = hosts.command(name, shutil.which("sshd", path=PATH), "-D", "-e", "-f", conf)
            with open(folder / f"log_{name}", "w") as log:
                servers.append(subprocess.Popen(command, env=hosts.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL))
            stack.callback(_end, servers[-1])
        _wait_for(hosts)
        yield hosts


def _files(folder):
    """Keys, names, and an ``ssh`` that uses them."""
    folder.chmod(0o755)
    for name in ("id", "hostkey"):
        _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name)
    (folder / "hosts").write_text("127.0.0.1 localhost\n10.77.0.1 hostA\n10.77.0.2 hostB\n")
    (folder / "ssh_config").write_text(SSH.format(folder=folder))
    (folder / "bin").mkdir()
    (folder / "bin" / "ssh").write_text(f'#!/bin/sh\nexec {shutil.which("ssh", path=PATH)} -F {folder}/ssh_config "$@"\n')
    (folder / "bin" / "ssh").chmod(0o755)
    os.makedirs("/run/sshd", exist_ok=True)


def _wait_for(hosts):
    until = time.monotonic() + 20
    while True:
        with contextlib.suppress(AssertionError):
            assert hosts.ask("hostA", "ssh", "hostB", "hostname") == "hostB"
            assert hosts.ask("hostB", "ssh", "hostA", "hostname") == "hostA"
            return
        logs = [(hosts.folder / f"log_{name}").read_text() for name in hosts.names]
        assert time.monotonic() < until, f"ssh doesn't work between them: {logs}"
        time.sleep(0.3)


def _end(process):
    process.terminate()
    process.wait(20)


def _run(*words):
    subprocess.run(list(map(str, words)), check=True, env={**os.environ, "PATH": PATH}, capture_output=True, timeout=30)
