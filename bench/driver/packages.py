"""The Debian packages that the contestants and the tool are built from."""

import os
import shutil
import subprocess

PEERS = ["libasio-dev", "libtbb-dev", "libuv1-dev", "libglib2.0-dev", "libwinpr2-dev",
         "liburing-dev", "pkg-config"]


def missing(packages):
    """Those of the packages that dpkg does not know as installed."""
    known = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Provides} ${db:Status-Status}\n"],
                           capture_output=True, text=True, check=True).stdout
    installed = set()
    for line in known.splitlines():
        *names, status = line.replace(",", " ").split()
        if status == "installed":
            installed.update(names)
    return [package for package in packages if package not in installed]


def install(report, packages=PEERS):
    """Installs what is missing; raises RuntimeError with apt's words when that fails."""
    wanted = missing(packages)
    if not wanted:
        return
    prefix = [] if os.geteuid() == 0 else ["sudo"]
    if prefix and shutil.which("sudo") is None:
        raise RuntimeError("not installed: " + " ".join(wanted) + " (run as root, or apt-get install them)")
    report("installing " + " ".join(wanted))
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "-q", "update"], ["apt-get", "-q", "-y", "install", *wanted]):
        done = subprocess.run(prefix + command, capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            raise RuntimeError(" ".join(command) + " failed:\n" + done.stdout[-2000:] + done.stderr[-2000:])
