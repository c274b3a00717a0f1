"""What a task of the executor runs: python run.py FOLDER NAME makes the calls of the batch NAME, one after the other.

The folder has for each batch
  NAME.calls      the functions and the calls, pickled by the executor
  NAME.taken      made by whoever is first: this program before the first call, or the executor to take the batch back
  NAME.results.N  a frame for each call that is over, written by attempt N of the task, and at last one with the seconds of imports
  left            a line with name and attempt for each batch whose calls are over, but whose process stays for threads of theirs
  NAME.yield      made by the executor where a batch takes longer than thought: calls that have not begun are left out
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and sys.path and sys.path[0] and not sys.flags.isolated and __spec__ is None:
    del sys.path[0]  # the folder of this file, whose modules have names of others

import os
import pickle
import struct
import time
import zlib

TYPE_CHECKING = False  # as typing has it, which takes long to load
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

#: Number of the call, status, seconds, length and checksum of what follows.
FRAME = struct.Struct("<qBdQI")
RESULT, ERROR, TOO_LARGE, UNINITIALIZED, START = range(5)
#: Number of the frame that says how long the process has loaded modules and initialized itself, which is no part of its calls.
STARTED = -2

_LOOK_EVERY = 0.5  # seconds between two looks for NAME.yield


def frames(path: Union[str, "os.PathLike[str]"]) -> Iterator[Tuple[int, int, float, bytes]]:
    """Returns the frames of a file as tuples (number, status, seconds, data). A last one that is not whole is left out."""
    try:
        with open(path, "rb") as f:
            text = f.read()
    except FileNotFoundError:
        return
    at = 0
    while len(text) - at >= FRAME.size:
        number, status, seconds, length, check = FRAME.unpack_from(text, at)
        data = text[at + FRAME.size:at + FRAME.size + length]
        if len(data) < length or zlib.crc32(data) != check:
            return
        yield number, status, seconds, data
        at += FRAME.size + length


def frame(number: int, status: int, seconds: float, data: bytes) -> bytes:
    return FRAME.pack(number, status, seconds, len(data), zlib.crc32(data)) + data


def take(folder: str, name: str, by: str) -> str:
    """Takes a batch, and returns who has it: by, unless somebody was first."""
    path = os.path.join(folder, name + ".taken")
    try:
        os.symlink(by, path)  # the name and what it says come into being together
        return by
    except FileExistsError:
        return os.readlink(path)


def dumps(value: Any) -> bytes:
    """Pickles a value, by value if it is of the main program and cloudpickle is there."""
    data, cause = b"", None
    try:
        data = pickle.dumps(value, 5)
        if b"__main__" not in data and b"__mp_main__" not in data:
            return data
    except Exception as e:
        cause = e
    try:
        import cloudpickle
    except ImportError:
        if isinstance(cause, (pickle.PicklingError, AttributeError)):
            raise pickle.PicklingError(f"{cause}; install cloudpickle, which can pickle lambdas and functions inside of functions") from cause
        if cause is not None:
            raise cause
        return data
    by_copy: bytes = cloudpickle.dumps(value, 5)
    return by_copy


def by_value() -> bool:
    """Reports whether cloudpickle is there, so that what belongs to the main program is pickled by value."""
    global _by_value
    if _by_value is None:
        try:
            import cloudpickle  # noqa: F401

            _by_value = True
        except ImportError:
            _by_value = False
    return _by_value


_by_value: Optional[bool] = None


class RemoteTraceback(Exception):
    """Carries the traceback of an exception in another process, as text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


class Unguarded(RuntimeError):
    """The main program makes an executor when it is loaded by a task."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text or "the program makes an executor when a task loads it for its functions, and would do so in each task again; "
                         "put what is to run once below: if __name__ == \"__main__\":")


def check_loading() -> None:
    """Raises an error in a task that loads the main program."""
    from multiprocessing import process

    if getattr(process.current_process(), "_inheriting", False):
        raise Unguarded


def _main(session: Dict[str, Any]) -> None:
    """Loads the main program under another name, as multiprocessing does."""
    from multiprocessing import process, spawn

    current = process.current_process()
    current._inheriting = True  # as in a process of multiprocessing, which then starts no others
    try:
        spawn.prepare(session["main"])
    finally:
        del current._inheriting


def _enter(session: Dict[str, Any]) -> None:
    """Makes this process like the one that submitted the calls."""
    sys.path[:] = session["path"]
    sys.argv[:] = session["argv"]


def _failed(e: BaseException) -> bytes:
    """Returns a pickled exception with its traceback."""
    import traceback

    text = "\n\"\"\"\n" + "".join(traceback.format_exception(type(e), e, e.__traceback__)) + "\"\"\""
    e.__traceback__ = None
    for kept in (e, _Again(e)):
        try:
            data = dumps((kept, text))
            pickle.loads(data)
            return data
        except Exception:
            pass
    return pickle.dumps((RuntimeError(f"{type(e).__name__}: {e} (the exception itself could not be pickled)"), text))


class _Again:
    """Is pickled as an exception that is made again without its __init__, which may want other arguments than the exception has kept."""

    def __init__(self, e: BaseException) -> None:
        self.e = e

    def __reduce__(self) -> Any:
        kind, state = type(self.e), dict(self.e.__dict__)
        for base in kind.__mro__:
            for name, what in vars(base).items():  # those that are not in __dict__, such as the errno of an OSError
                if type(what) is type(OSError.errno) and getattr(self.e, name, None) is not None:
                    state[name] = getattr(self.e, name)
        return kind.__new__, (kind, *self.e.args), state


class _Imports:
    """Measures how long this thread imports modules that are not there yet. A process does that once, whatever calls it makes."""

    def __init__(self) -> None:
        import _frozen_importlib
        import _thread

        self.seconds, self.nested = 0.0, False
        find, mine = getattr(_frozen_importlib, "_find_and_load", None), _thread.get_ident()

        def timed(name: str, importing: Any) -> Any:
            if self.nested or _thread.get_ident() != mine:
                return find(name, importing)
            begun, self.nested = time.monotonic(), True
            try:
                return find(name, importing)
            finally:
                self.seconds, self.nested = self.seconds + time.monotonic() - begun, False

        if find is not None:
            _frozen_importlib._find_and_load = timed  # which Python calls for a module that is not in sys.modules


class _Runner:
    def __init__(self, folder: str, name: str, attempt: int) -> None:
        self.folder, self.name = folder, name
        with open(os.path.join(folder, "session"), "rb") as f:
            self.session = pickle.load(f)
        _enter(self.session)
        with open(os.path.join(folder, name + ".calls"), "rb") as f:
            self.batch = pickle.load(f)
        self.before = {number for n in range(1, attempt) for number, *_ in frames(self._results(n))}
        self.out = os.open(self._results(attempt), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o666)
        self.looked = self.begun = time.monotonic()
        self.imports = _Imports()

    def _results(self, attempt: int) -> str:
        return os.path.join(self.folder, f"{self.name}.results.{attempt}")

    def write(self, number: int, status: int, seconds: float, result: bytes) -> None:
        data = frame(number, status, seconds, result)
        while data:
            data = data[os.write(self.out, data):]

    def run(self) -> None:
        try:
            if self.session["main"] is not None and self.batch["main"]:
                _main(self.session)
        except RuntimeError as e:
            if type(e).__name__ != Unguarded.__name__:  # it is raised by the package, which has another such class than this program
                raise
            self.write(-1, UNINITIALIZED, 0.0, _failed(e))
            return
        if self.session["initializer"] is not None:
            try:
                initializer, initargs = pickle.loads(self.session["initializer"])
                initializer(*initargs)
            except BaseException as e:
                self.write(-1, UNINITIALIZED, 0.0, _failed(e))
                return
        left = [call for call in self.batch["calls"] if call[0] not in self.before]
        start, self.imports.seconds = time.monotonic() - self.begun, 0.0
        for i, (number, function, args) in enumerate(left):
            if i > 0 and self._yields():
                break
            start += self._call(number, function, args)
        self.write(STARTED, START, start, b"")

    def _call(self, number: int, function: int, args: bytes) -> float:
        """Makes a call, and returns how long it has imported modules."""
        begun, before = time.monotonic(), self.imports.seconds
        status, value = RESULT, None
        try:
            call = pickle.loads(self.batch["functions"][function])  # anew, as calls may change what belongs to it
            positional, named = pickle.loads(args)
            value = call(*positional, **named)
            data = dumps(value)
        except BaseException as e:
            status, data = ERROR, _failed(e)
        call = positional = named = value = None  # what they are may be large
        if len(data) > self.session["limit"]:
            status, data = TOO_LARGE, str(len(data)).encode()
        imported = self.imports.seconds - before
        self.write(number, status, max(time.monotonic() - begun - imported, 0.0), data)
        sys.stdout.flush()
        sys.stderr.flush()
        return imported

    def _yields(self) -> bool:
        now = time.monotonic()
        if now - self.looked < _LOOK_EVERY:
            return False
        self.looked = now
        return os.path.exists(os.path.join(self.folder, self.name + ".yield"))


def main(argv: List[str]) -> None:
    folder, name = argv
    attempt = int(os.environ.get("BERTH_ATTEMPT", "1"))
    if take(folder, name, "runner") != "runner":
        return
    _Runner(folder, name, attempt).run()
    threading = sys.modules.get("threading")
    if threading is not None and any(not t.daemon and t is not threading.main_thread() for t in threading.enumerate()):
        with open(os.path.join(folder, "left"), "a") as f:
            f.write(f"{name} {attempt}\n")  # the results need not wait for them


if __name__ == "__main__":
    main(sys.argv[1:])
