"""Calls as files, and calls that wait to be written: what the executor hands to run.py and gets back."""

from __future__ import annotations

import hashlib
import os
import pickle
import pickletools
import re
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Optional, Tuple

from . import run
from ._bag import Bag

if TYPE_CHECKING:
    from .run import Stored

#: Seconds of calls that a batch is made of at most.
TARGET = 1.0
#: Seconds of calls below which a batch is not worth the start of a Python.
LEAST = 0.2
#: Bytes of arguments in a batch, without what is in files of their own.
BYTES = 32 << 20

_AT_ONCE = 4 << 20  # bytes that are written at once


class Call:
    """A call that is not over."""

    __slots__ = ("number", "name", "function", "args", "main", "needs", "future", "batch", "group")

    def __init__(self, number: int, name: str, function: Stored, args: Stored, main: bool, needs: Tuple[Tuple[str, Any], ...],
                 future: Any) -> None:
        self.number, self.name, self.function, self.args = number, name, function, args
        self.main, self.needs, self.future = main, needs, future
        self.batch: Optional[Batch] = None
        self.group = (hash(function), needs)


class Batch:
    """Calls that one task makes. by names a task that makes them besides its own, and makes says that it has begun with them."""

    def __init__(self, name: str, calls: List[Call], by: Optional[str] = None) -> None:
        self.name, self.calls, self.by, self.makes = name, calls, by, by is None
        self.group, self.needs = calls[0].group, calls[0].needs
        self.started: Optional[float] = None
        self.yields = False
        self.bag: Optional[Bag] = None  # with its task, or that of the process which makes it

    def line(self) -> Dict[str, Any]:
        return {"name": self.name, "entry": self.name, **dict(self.needs)}


class Folder:
    """The folder with the files of calls. run.py says which there are."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._next = self._read = 0

    def begin(self, limit: int, initializer: Optional[bytes], flags: List[str]) -> None:
        """Makes the folder of an executor whose bags have these flags."""
        self.path.mkdir(parents=True)
        self._write("session", {"path": [p or os.getcwd() for p in sys.path], "argv": sys.argv, "main": _main(), "limit": limit,
                                "initializer": initializer, "flags": flags})

    def session(self) -> Dict[str, Any]:
        with open(self.path / "session", "rb") as f:
            return dict(pickle.load(f))

    def open(self) -> Bag:
        """Opens a bag for calls. It is the last one of the folder then."""
        own = Path(run.__file__)
        bag = Bag.open(self.session()["flags"], ["/bin/sh", str(own.with_name("run.sh")), sys.executable, str(own), str(self.path), "{}"])
        self._write("bag", bag.id)
        return bag

    def last(self, id: str) -> str:
        """Returns the id of the last bag. There is no other one than id if its program was killed at once."""
        try:
            with open(self.path / "bag", "rb") as f:
                return str(pickle.load(f))
        except FileNotFoundError:
            return id

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
        functions: Dict[Stored, int] = {}
        calls = [(c.number, functions.setdefault(c.function, len(functions)), c.args) for c in batch.calls]
        self._next += 1
        self._write(batch.name + ".calls", {"order": self._next, "functions": list(functions), "calls": calls, "needs": batch.needs,
                                            "name": batch.calls[0].name, "main": any(c.main for c in batch.calls)})
        for c in batch.calls:
            c.function = c.args = b""
            c.batch = batch

    def keep(self, content: Any) -> str:
        """Writes content, unless it is there, and returns the name of its file."""
        name = "of." + hashlib.blake2b(content, digest_size=20).hexdigest()
        if not os.path.exists(self.path / name):
            part, of = self.path / f".part.{threading.get_ident()}", hashlib.blake2b(digest_size=20)
            with open(part, "wb") as f:
                for i in range(0, len(content), _AT_ONCE):
                    chunk = bytes(content[i:i + _AT_ONCE])  # another thread may change an array meanwhile
                    of.update(chunk)
                    f.write(chunk)
            name = "of." + of.hexdigest()
            os.replace(part, self.path / name)
        return name

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

    def taken(self, name: str) -> Optional[str]:
        """Returns who has taken a batch: "executor", "runner" for its own task, another task by its name, or None."""
        try:
            return os.readlink(self.path / (name + ".taken"))
        except OSError:
            return None

    def withdrawn(self, name: str) -> bool:
        return self.taken(name) == "executor"

    def give(self, batch: Batch, k: int) -> None:
        """Gives a batch, which was put, to the process of another task, as its kth one."""
        os.symlink(batch.name, self.path / f"{batch.by}.next.{k}")

    def stop(self, name: str) -> None:
        """Has the process that makes a batch leave the calls that have not begun, or not stay for further batches."""
        (self.path / (name + ".yield")).touch()

    def results(self, name: str, attempts: int) -> Dict[int, Tuple[int, float, bytes]]:
        """Returns the results of that many attempts of a batch by the numbers of its calls: status, seconds, data."""
        found: Dict[int, Tuple[int, float, bytes]] = {}
        for n in range(1, attempts + 1):
            for number, status, seconds, data in run.frames(self.path / f"{name}.results.{n}"):
                found[number] = status, seconds, data
        return found

    def left(self) -> Iterator[Tuple[str, int, bool]]:
        """Returns batches, with attempts, whose calls are over but not the tasks that made them, each once, and whether these make more."""
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
        for line in text.decode(errors="replace").split("\n"):  # on NFS one line may be written over another
            whole = re.fullmatch("(\\S+) ([0-9]+)( more)?", line)
            if whole:
                yield whole[1], int(whole[2]), bool(whole[3])

    def all(self) -> List[Tuple[str, Dict[str, Any], int]]:
        """Returns all batches in the order in which they were written, and how many attempts of theirs may have results."""
        batches, attempts = [], {}
        for name in os.listdir(self.path):
            batch, dot, n = name.partition(".results.")
            attempts[batch] = max(attempts.get(batch, 0), int(n)) if dot else attempts.get(batch, 0)
        for path in self.path.glob("*.calls"):
            if not path.name.startswith("."):
                with open(path, "rb") as f:
                    name = path.name[:-len(".calls")]
                    batches.append((name, pickle.load(f), attempts.get(name, 0)))
        batches.sort(key=lambda b: b[1]["order"])
        self._next = batches[-1][1]["order"] if batches else 0
        return batches


class Pickled:
    """A function that is pickled once for many calls, or the arguments of one."""

    def __init__(self, value: Any, name: str = "") -> None:
        self.name = name
        self._buffers: List[Any] = []
        self._data = run.dumps(value, self._buffers)
        self.size = len(self._data) + sum(b.nbytes for b in self._buffers)
        self.main = run.of_main(self._data)
        self._kept: Tuple[Optional[Folder], Stored] = None, b""

    def kept(self, files: Folder) -> Stored:
        """Returns what stands for it in a folder, as it was when it was first asked for."""
        if self.size < run.LARGE:
            return self._data
        if self._kept[0] is not files:
            parts = tuple(bytes(p) if len(p) < run.LARGE else files.keep(p) for p in pieces(self._data))
            self._kept = files, (parts, tuple(map(files.keep, self._buffers)))
        return self._kept[1]


def pieces(data: bytes) -> Iterator[memoryview]:
    """Cuts a pickle before and behind its large texts and byte strings, which are outside of its frames (PEP 3154)."""
    at, begun, view = 0, 0, memoryview(data)
    while at < len(data):
        op = pickletools.code2op[chr(data[at])]
        at, n = at + 1, op.arg.n if op.arg is not None else 0
        if n >= 0:
            at += n + (int.from_bytes(data[at:at + n], "little") if op.name == "FRAME" else 0)
        elif n in _WIDTHS:
            start = at + _WIDTHS[n]
            at = start + int.from_bytes(data[at:start], "little")
            if at - start >= run.LARGE:
                yield view[begun:start]
                yield view[start:at]
                begun = at
        else:
            break  # a text up to the end of its line, of which there are none beside frames
    yield view[begun:]


#: How many bytes the length of an argument has whose length is not always the same.
_WIDTHS = {pickletools.TAKEN_FROM_ARGUMENT1: 1, pickletools.TAKEN_FROM_ARGUMENT4: 4, pickletools.TAKEN_FROM_ARGUMENT4U: 4,
           pickletools.TAKEN_FROM_ARGUMENT8U: 8}


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
        own = sum(len(p) for p in ((c.args,) if isinstance(c.args, bytes) else c.args[0]))
        if not batches or len(batches[-1]) >= n or total + own > BYTES:
            batches.append([])
            total = 0
        batches[-1].append(c)
        total += own
    return batches
