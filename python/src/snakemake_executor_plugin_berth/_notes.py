"""Notes of which task each job is, so that a Snakemake finds the tasks of an earlier one that was killed."""

import fcntl
import hashlib
import json
import os
import re
import shutil
from dataclasses import dataclass
from typing import IO, Any, Dict, List, Optional

_FOLDER = ".snakemake/berth_tasks"
_OPENING = "opening"  # instead of a bag's name: a Snakemake opens one, and has not noted its name yet
_SKEW = 5.0  # seconds by which the clocks of nodes may differ, which give files their times


@dataclass
class Note:
    """The task that an earlier Snakemake has made of a job."""

    bag: str
    task: str
    changed: bool  # the rule, its parameters or its input have changed since


class Notes:
    """The notes of a Snakemake and of earlier ones that were killed: a folder for each bag, with a file for each job.

    A Snakemake holds a lock in the folders of its bags as long as it lives. Who gets the lock of another bag knows that its Snakemake
    is dead.
    """

    def __init__(self) -> None:
        self._held: Dict[str, IO[str]] = {}
        bags = [b for b in (os.listdir(_FOLDER) if os.path.isdir(_FOLDER) else []) if os.path.exists(_path(b, "lock"))]
        self.earlier: List[str] = [b for b in sorted(bags, key=_number, reverse=True) if self.hold(b)]
        self.interrupted = _OPENING in self.earlier  # an earlier Snakemake was killed while it opened a bag, which nobody knows
        if self.interrupted:
            self.earlier.remove(_OPENING)
        self._used: List[Note] = []

    def hold(self, bag: str) -> bool:
        """Takes the lock of a bag, and reports whether no other Snakemake has it."""
        os.makedirs(_path(bag), exist_ok=True)
        lock = open(_path(bag, "lock"), "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return False
        except OSError:
            pass  # a file system without locks; Snakemake's own lock keeps two of them apart
        self._held[bag] = lock
        return True

    def opening(self) -> None:
        """Notes that a bag is being opened."""
        self.hold(_OPENING)

    def opened(self, bag: str) -> None:
        """Notes its name."""
        self.hold(bag)
        self.not_opened()

    def not_opened(self) -> None:
        """Notes that no bag is being opened."""
        self.drop(_OPENING)

    def write(self, bag: str, job: Any, task: str) -> None:
        """Notes which task a job is. The note must be there before the task begins."""
        with open(_path(bag, _key(job)) + ".part", "w") as f:
            json.dump({"task": task, "rule": _digest(job)}, f)
        os.replace(_path(bag, _key(job)) + ".part", _path(bag, _key(job)))

    def find(self, job: Any) -> Optional[Note]:
        """Returns the last note on a job of earlier Snakemakes, once."""
        for bag in self.earlier:
            try:
                with open(_path(bag, _key(job))) as f:
                    said, at = json.load(f), os.fstat(f.fileno()).st_mtime
            except FileNotFoundError:
                continue
            note = Note(bag, said["task"], said["rule"] != _digest(job) or any(_changed_at(i) > at + _SKEW for i in job.input))
            if note in self._used:
                return None
            self._used.append(note)
            return note
        return None

    def drop(self, bag: str) -> None:
        """Removes the notes of a bag that is over."""
        shutil.rmtree(_path(bag), ignore_errors=True)
        lock = self._held.pop(bag, None)
        if lock is not None:
            lock.close()


def _path(*names: str) -> str:
    return os.path.join(_FOLDER, *names)


def _number(bag: str) -> int:
    digits = re.search(r"\d+$", bag)
    return int(digits.group()) if digits else 0


def _key(job: Any) -> str:
    """Returns the name of the note of a job."""
    made = sorted(map(str, job.output or job.get_target_spec()))
    return hashlib.sha256("\0".join(made).encode()).hexdigest()[:32]


def _digest(job: Any) -> str:
    """Returns a text that is another one if the job would do something else."""
    parts: List[Any] = []
    for one in getattr(job, "jobs", [job]):
        properties = json.loads(one.properties(omit_resources=list(one.resources)))
        parts.append([str(one.rule.shellcmd), *(properties.get(k) for k in ("rule", "input", "params", "wildcards"))])
    return hashlib.sha256(json.dumps(sorted(parts, key=json.dumps)).encode()).hexdigest()[:32]


def _changed_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0
