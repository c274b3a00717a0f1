"""Ends processes of berth in the state folder of a test, as a machine that fails does."""

import glob
import json
import os
import random
import signal
from typing import List

from berth._program import state_folder


def kill_coordinator() -> None:
    try:
        with open(state_folder() / "server" / "owner") as f:
            kill(json.load(f)["pid"])
    except (OSError, ValueError):
        pass  # there is none now


def kill_worker(rng: random.Random, how: int = signal.SIGKILL) -> None:
    found = workers()
    if found:
        kill(rng.choice(found), how)


def workers() -> List[int]:
    """Returns the numbers of the workers' processes."""
    found = []
    for name in sorted(glob.glob(str(state_folder() / "server" / "allocs" / "*" / "*.pid"))):
        try:
            with open(name) as f:
                found.append(int(f.read().split()[0]))
        except (OSError, ValueError, IndexError):
            pass  # its number is being written
    return found


def kill_forking(rng: random.Random, task: bool) -> bool:
    """Kills a process that forks tasks, or one of the tasks that it has forked, and reports whether there is one."""
    found, parents = [], workers()
    for folder in glob.glob("/proc/[0-9]*"):
        try:
            with open(folder + "/cmdline", "rb") as command, open(folder + "/stat") as stat, open(folder + "/environ", "rb") as environ:
                parent = int(stat.read().rpartition(")")[2].split()[1])
                if parent in parents and b"berth.warm" in command.read() and (b"\0BERTH_TASK_ID=" in environ.read()) == task:
                    found.append(int(os.path.basename(folder)))
        except OSError:
            pass  # it has ended
    if found:
        kill(rng.choice(sorted(found)))
    return bool(found)


def kill(pid: int, how: int = signal.SIGKILL) -> None:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            if b"berth" in f.read():
                os.kill(pid, how)
    except (OSError, ValueError):
        pass
