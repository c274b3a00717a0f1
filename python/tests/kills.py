"""Ends processes of berth in the state folder of a test, as a machine that fails does."""

import glob
import json
import os
import random
import signal

from berth._program import state_folder


def kill_coordinator() -> None:
    try:
        with open(state_folder() / "server" / "owner") as f:
            kill(json.load(f)["pid"])
    except (OSError, ValueError):
        pass  # there is none now


def kill_worker(rng: random.Random) -> None:
    pids = sorted(glob.glob(str(state_folder() / "server" / "allocs" / "*" / "*.pid")))
    if pids:
        try:
            with open(rng.choice(pids)) as f:
                kill(int(f.read().split()[0]))
        except (OSError, ValueError, IndexError):
            pass  # its number is being written


def kill(pid: int) -> None:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            if b"berth" in f.read():
                os.kill(pid, signal.SIGKILL)
    except (OSError, ValueError):
        pass
