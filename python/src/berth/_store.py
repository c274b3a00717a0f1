"""Calls as files, and calls that wait to be written: what the executor hands to run.py and gets back."""

from __future__ import annotations

import os
import pickle
import re
import sys
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

from . import run

#: Seconds of calls that a batch is made of at most.
TARGET = 1.0
#: Seconds of calls below which a batch is not worth the start of a Python.
LEAST = 0.2
#: Bytes of arguments in a batch.
BYTES = 32 << 20


class Call:
    """A call that is not over."""

    __slots__ = ("number", "name", "function", "args", "main", "needs", "future", "batch", "group")

    def __init__(self, number: int, name: str, function: bytes, args: bytes, main: bool, needs: Tuple[Tuple[str, Any], ...],
                 future: Any) -> None:
        self.number, self.name, self.function, self.args = number, name, function, args
        self.main, self.needs, self.future = main, needs, future
        self.batch: Optional[Batch] = None
        self.group = (hash(function), needs)


class Batch:
    """Calls that one task makes."""

    def __init__(self, name: str, calls: List[Call]) -> None:
        self.name, self.calls = name, calls
        self.group, self.needs = calls[0].group, calls[0].needs
        self.started: Optional[float] = None
        self.yields = False

    def line(self) -> Dict[str, Any]:
        return {"name": self.name, "entry": self.name, **dict(self.needs)}


class Folder:
    """The folder with the files of calls. run.py says which there are."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._next = self._read = 0

    def begin(self, limit: int, initializer: Optional[bytes]) -> None:
        self.path.mkdir(parents=True)
        self._write("session", {"path": [p or os.getcwd() for p in sys.path], "argv": sys.argv, "main": _main(), "limit": limit,
                                "initializer": initializer})

    def _write(self, name: str, value: Any) -> None:
        part = self.path / ("." + name)
        with open(part, "wb") as f:
            pickle.dump(value, f, 5)
        os.replace(part, self.path / name)

    def name(self, calls: List[Call]) -> str:
        """Returns a new name for a batch, after its function and the numbers of its calls."""
        first, last = calls[0].number, calls[-1].number
        name = f"{calls[0].name}-{first}" + (f"-{last}" if last > first else "")
        again, n = name, 1
        while os.path.exists(self.path / f"{again}.calls"):
            n += 1
            again = f"{name}.{n}"
        return again

    def put(self, batch: Batch) -> None:
        """Writes a batch. From then on its calls are in the file only."""
        functions: Dict[bytes, int] = {}
        calls = [(c.number, functions.setdefault(c.function, len(functions)), c.args) for c in batch.calls]
        self._next += 1
        self._write(batch.name + ".calls", {"order": self._next, "functions": list(functions), "calls": calls, "needs": batch.needs,
                                            "name": batch.calls[0].name, "main": any(c.main for c in batch.calls)})
        for c in batch.calls:
            c.function = c.args = b""
            c.batch = batch

    def reload(self, batch: Batch, calls: Iterable[Call]) -> None:
        """Reads calls of a batch again."""
        with open(self.path / (batch.name + ".calls"), "rb") as f:
            stored = pickle.load(f)
        found = {number: (stored["functions"][function], args) for number, function, args in stored["calls"]}
        for c in calls:
            c.function, c.args = found[c.number]
            c.group = (hash(c.function), c.needs)
            c.batch, c.main = None, stored["main"]

    def take(self, batch: Batch) -> bool:
        """Takes a batch back, unless its task has begun."""
        return run.take(str(self.path), batch.name, "executor") == "executor"

    def withdrawn(self, name: str) -> bool:
        try:
            return os.readlink(self.path / (name + ".taken")) == "executor"
        except OSError:
            return False

    def stop(self, batch: Batch) -> None:
        """Has the task of a batch end after the call that it makes now."""
        (self.path / (batch.name + ".yield")).touch()

    def results(self, name: str, attempts: int) -> Dict[int, Tuple[int, float, bytes]]:
        """Returns the results of a batch by the numbers of its calls: status, seconds, data."""
        found: Dict[int, Tuple[int, float, bytes]] = {}
        for n in range(1, attempts + 1):
            for number, status, seconds, data in run.frames(self.path / f"{name}.results.{n}"):
                found[number] = status, seconds, data
        return found

    def left(self) -> Iterator[Tuple[str, int]]:
        """Returns batches, with attempts, whose calls are over but not their tasks, each once."""
        try:
            if os.stat(self.path / "left").st_size == self._read:
                return
            with open(self.path / "left", "rb") as f:
                f.seek(self._read)
                text = f.read()
        except OSError:
            return
        text = text[:text.rfind(b"\n") + 1]
        self._read += len(text)
        for line in text.decode().splitlines():
            name, attempt = line.rsplit(" ", 1)
            yield name, int(attempt)

    def all(self) -> List[Tuple[str, Dict[str, Any]]]:
        """Returns all batches in the order in which they were written."""
        batches = []
        for path in self.path.glob("*.calls"):
            if not path.name.startswith("."):
                with open(path, "rb") as f:
                    batches.append((path.name[:-len(".calls")], pickle.load(f)))
        batches.sort(key=lambda b: b[1]["order"])
        self._next = batches[-1][1]["order"] if batches else 0
        return batches


class Pickled:
    """A function that is pickled once for many calls."""

    def __init__(self, function: Any) -> None:
        self.name, self.data = label(function), run.dumps(function)


def _main() -> Optional[Dict[str, Any]]:
    """Returns how another process finds the main program, as multiprocessing does."""
    from multiprocessing import spawn

    data = spawn.get_preparation_data("berth")
    data.pop("authkey", None)  # a secret, which does not belong into a file
    data.pop("start_method", None)
    return {k: v for k, v in data.items() if k.startswith("init_main")} or None


def label(function: Any) -> str:
    """Returns what tasks with calls of a function are called."""
    inner = getattr(function, "func", None)  # of a partial
    name = getattr(function, "__name__", None) or getattr(inner, "__name__", None) or type(function).__name__
    return re.sub(r"[^A-Za-z0-9_.]+", "_", name)[:100].strip("._") or "call"


def size(n: int, seconds: float, slots: int, start: float = 0.0) -> int:
    """Returns how many calls of that many seconds are put into one batch, if n of them wait. start are the seconds after which a new
    process is ready for its first call: a batch lasts longer than that, but no slot is without one for it."""
    if seconds <= 1e-9:
        return max(1, n)
    worth = max(int(LEAST / seconds) + 1, min(int(2 * start / seconds), -(-n // slots)))
    most = max(1, int(max(TARGET, 5 * start) / seconds))
    return max(1, min(max(-(-n // (4 * slots)), worth), most, n))


def cut(calls: List[Call], n: int) -> List[List[Call]]:
    """Cuts calls into batches of at most n calls, and not many bytes."""
    batches: List[List[Call]] = []
    total = 0
    for c in calls:
        if not batches or len(batches[-1]) >= n or total + len(c.args) > BYTES:
            batches.append([])
            total = 0
        batches[-1].append(c)
        total += len(c.args)
    return batches
