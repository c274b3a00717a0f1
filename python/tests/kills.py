"""Ends processes of berth in the state folder of a test, as a machine that fails does, and looks at what ended how."""

import collections
import glob
import json
import os
import random
import signal
import subprocess
import sys
import time
from typing import Callable, Counter, Dict, List, Optional

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


class Killable:
    """A program in a folder of its own, which can be killed and started again. What it prints is in the file log there."""

    def __init__(self, folder: str, command: List[str], env: Optional[Dict[str, str]] = None) -> None:
        self.folder, self.command, self.env = os.path.abspath(folder), command, env
        os.mkdir(self.folder)

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def start(self) -> None:
        with open(self.path("log"), "a") as log:
            self.process = subprocess.Popen(self.command, cwd=self.folder, env=self.env, stdout=log, stderr=log, start_new_session=True)

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def read(self, name: str) -> str:
        with open(self.path(name)) as f:
            return f.read()

    def write(self, name: str, text: str) -> None:
        with open(self.path(name), "w") as f:
            f.write(text)


def outcome(bag: str, task: str, attempt: str) -> str:
    """Returns how an attempt of a task ended."""
    said = json.loads(subprocess.run(["berth", "status", bag, "--json"], stdout=subprocess.PIPE, check=True).stdout)
    tries = [t["tries"] for t in said["tasks"] if task in (t["name"], str(t["task"] + 1))]
    return "".join(t.get("outcome", "runs") for t in tries[0] if t["attempt"] == int(attempt))


def check_attempts(said: str, ends: str, jobs: int) -> Counter[str]:
    """Checks lines with what a job is, its bag, task and attempt, which it writes at its end: each job has ended once in an attempt that was done,
    and else in ones that were lost or have failed. It returns how many ended how."""
    attempts = collections.defaultdict(list)
    for line in ends.splitlines():
        job, *attempt = line.rstrip().rsplit(" ", 3)
        attempts[job].append(attempt)
    found: Counter[str] = collections.Counter()
    assert len(attempts) == jobs, f"{said}: {dict(attempts)}"
    for job, tried in attempts.items():
        outcomes = collections.Counter(outcome(*a) for a in tried)
        assert outcomes["done"] == 1 and outcomes.keys() <= {"done", "lost", "failed"}, f"{said}: {job}: {tried} are {outcomes}"
        found += outcomes
    return found


def rounds(round_of: Callable[[int], str]) -> None:
    """Makes as many rounds as the command line says, from the seed that it says."""
    for seed in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
        begun_at = time.monotonic()
        print(round_of(seed), f"in {time.monotonic() - begun_at:.1f} s", flush=True)
