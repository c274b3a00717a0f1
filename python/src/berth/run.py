"""What a task of the executor runs: python run.py FOLDER NAME makes the calls of the batch NAME, one after the other.

The folder has for each batch
  NAME.calls      the functions and the calls, pickled by the executor
  NAME.taken      made by whoever is first: this program before the first call, or the executor to take the batch back
  NAME.results.N  a frame for each call that is over, written by attempt N of the task, and at last one with the seconds of imports
  left            a line with name and attempt for each batch whose calls are over, but whose process stays: for threads of theirs, or,
                  with "more" behind it, for further batches, as it has imported what they need
  NAME.next.K     a link to the name of the batch that the process of NAME makes as its Kth one, instead of a task of its own
  NAME.yield      made by the executor where a batch takes longer than thought: calls that have not begun are left out; and
                  where a process need not stay
and has in files called of.HASH, after their content, what is large in functions and arguments: once, however many calls have it.
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
    from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

    #: What was pickled: whole, or as parts of the pickle, and its buffers, of which those that are large are names of files.
    Stored = Union[bytes, Tuple[Tuple[Union[bytes, str], ...], Tuple[str, ...]]]

#: Number of the call, status, seconds, length and checksum of what follows.
FRAME = struct.Struct("<qBdQI")
RESULT, ERROR, TOO_LARGE, UNINITIALIZED, START = range(5)
#: Number of the frame that says how long the process has loaded modules and initialized itself, which is no part of its calls.
STARTED = -2

#: Bytes from which a part of a pickle has a file of its own.
LARGE = 1 << 20
#: Arrays of a call that are mapped at most, as each keeps its file open.
_MAPPED = 100

_LOOK_EVERY = 0.5  # seconds between two looks for NAME.yield
#: Seconds of imports from which a process stays for further calls.
WORTH = 0.2
#: Seconds for which it waits for them.
STAY = 0.5
_POLL = 0.01  # seconds between two looks for them


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


def dumps(value: Any, buffers: Optional[List[Any]] = None, reduce: Optional[Callable[[Any], Any]] = None) -> bytes:
    """Pickles a value, by value if it is of the main program and cloudpickle is there. buffers gets the large ones, which are then not in the
    pickle (PEP 574): the data of arrays, not copied. reduce says of each object how it is pickled, or NotImplemented."""
    data, cause, apart = b"", None, None if buffers is None else _apart(buffers)
    try:
        data = _dumps(pickle, value, apart, reduce)
        if not of_main(data):
            return data
    except Exception as e:
        cause = e.with_traceback(None)  # which would keep this frame, and with it the value, until a collection
    try:
        import cloudpickle
    except ImportError:
        if isinstance(cause, (pickle.PicklingError, AttributeError)):
            raise pickle.PicklingError(f"{cause}; install cloudpickle, which can pickle lambdas and functions inside of functions") from cause
        if cause is not None:
            raise cause
        return data
    if buffers is not None:
        buffers.clear()
    return _dumps(cloudpickle, value, apart, reduce)


def of_main(data: bytes) -> bool:
    """Reports whether a pickle has something of the main program."""
    return b"_main__" in data and (b"__main__" in data or b"__mp_main__" in data)


def _dumps(by: Any, value: Any, apart: Any, reduce: Optional[Callable[[Any], Any]]) -> bytes:
    """Pickles a value by a module that is like pickle."""
    if reduce is None:
        return bytes(by.dumps(value, 5, buffer_callback=apart))
    import io

    class Pickler(by.Pickler):  # type: ignore[misc]
        def reducer_override(self, value: Any) -> Any:
            how = reduce(value)
            return super().reducer_override(value) if how is NotImplemented and hasattr(by.Pickler, "reducer_override") else how

    out = io.BytesIO()
    Pickler(out, 5, buffer_callback=apart).dump(value)
    return out.getvalue()


def _apart(buffers: List[Any]) -> Callable[[Any], bool]:
    def small(buffer: Any) -> bool:
        raw = buffer.raw()
        if raw.nbytes >= LARGE:
            buffers.append(raw)
        return bool(raw.nbytes < LARGE)

    return small


def loads(folder: str, stored: Stored) -> Any:
    """Unpickles what is stored. Arrays are mapped from their files, each time anew: what a call changes is its own, and what it only reads
    is once in the memory of a node."""
    if isinstance(stored, bytes):
        return pickle.loads(stored)
    parts, buffers = stored
    data = b"".join(p if isinstance(p, bytes) else _content(folder, p, False) for p in parts)
    return pickle.loads(data, buffers=[_content(folder, name, len(buffers) <= _MAPPED) for name in buffers])


def _content(folder: str, name: str, mapped: bool) -> Any:
    import mmap

    with open(os.path.join(folder, name), "rb") as f:
        if mapped:
            try:
                return mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_COPY)
            except OSError:
                pass  # not every file system has that
        data = bytearray(os.fstat(f.fileno()).st_size)
        f.readinto(data)
        return data


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
    for causes in True, False:
        try:
            data = dumps((e, text), reduce=lambda value: _reduced(value, causes))
            pickle.loads(data)
            return data
        except Exception:
            pass
    return pickle.dumps((RuntimeError(f"{type(e).__name__}: {e} (the exception itself could not be pickled)"), text))


def _reduced(e: Any, causes: bool) -> Any:
    """Returns what a pickle has of an exception: with causes, also what it was raised from, and what was being handled. One whose __init__
    wants other arguments than it has kept, or keeps others, is made again without that. Pickle itself forgets what is in __slots__."""
    if not isinstance(e, BaseException):
        return NotImplemented
    make, args, state = (*e.__reduce_ex__(5), None)[:3]
    try:
        own = make is type(e) and make(*args).args != e.args
    except Exception:
        own = True
    if own:
        builtin = next(base for base in type(e).__mro__ if base.__module__ == "builtins")
        make, args, state = builtin.__new__, (type(e), *e.args), {**e.__dict__, **_slots(e), "args": e.args}  # an OSError has lost them
    elif make is type(e) and type(e).__reduce_ex__ is BaseException.__reduce_ex__ and type(e).__reduce__ is BaseException.__reduce__:
        state = {**(state or {}), **_slots(e)}
    if causes and type(e).__setstate__ is BaseException.__setstate__:
        chain = {name: getattr(e, name) for name in ("__cause__", "__context__", "__suppress_context__")}
        state = {**(state or {}), **{name: value for name, value in chain.items() if value}}
    return (make, args, state) if state else (make, args)


def _slots(e: BaseException) -> Dict[str, Any]:
    """Returns the values of an exception that are not in its __dict__, such as the errno of an OSError."""
    found = {}
    for name in [name for base in type(e).__mro__ if base is not BaseException for name, what in vars(base).items()
                 if type(what) is type(OSError.errno) and (name, base) != ("obj", AttributeError)]:  # which is whatever had no attribute
        try:
            value = getattr(e, name)
            setattr(e, name, value)  # not of those that cannot be set
        except (AttributeError, TypeError):
            continue
        found[name] = value
    return {name: value for name, value in found.items() if value is not None}


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
        self.folder, self.task, self.attempt, self.out = folder, name, attempt, -1
        with open(os.path.join(folder, "session"), "rb") as f:
            self.session = pickle.load(f)
        _enter(self.session)
        self._open(name)
        self.looked = self.begun = time.monotonic()
        self.start, self.imports = 0.0, _Imports()

    def _open(self, name: str) -> None:
        """Makes a batch the one of which calls are made."""
        self.name = name
        with open(os.path.join(self.folder, name + ".calls"), "rb") as f:
            self.batch = pickle.load(f)
        before = {number for n in range(1, self.attempt) for number, *_ in frames(self._results(n))}
        self.left = [call for call in self.batch["calls"] if call[0] not in before]
        if self.out >= 0:
            os.close(self.out)
        self.out = os.open(self._results(self.attempt), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o666)

    def _results(self, attempt: int) -> str:
        return os.path.join(self.folder, f"{self.name}.results.{attempt}")

    def write(self, number: int, status: int, seconds: float, result: bytes) -> None:
        data = frame(number, status, seconds, result)
        while data:
            data = data[os.write(self.out, data):]

    def run(self) -> None:
        if not self._ready():
            return
        self.start, self.imports.seconds = time.monotonic() - self.begun, 0.0
        self._make()
        self.write(STARTED, START, self.start, b"")
        while self._next():
            self._make()

    def _ready(self) -> bool:
        """Makes the process ready for calls, and reports whether that is done."""
        try:
            if self.session["main"] is not None and self.batch["main"]:
                _main(self.session)
        except RuntimeError as e:
            if type(e).__name__ != Unguarded.__name__:  # it is raised by the package, which has another such class than this program
                raise
            self.write(-1, UNINITIALIZED, 0.0, _failed(e))
            return False
        if self.session["initializer"] is not None:
            try:
                initializer, initargs = pickle.loads(self.session["initializer"])
                initializer(*initargs)
            except BaseException as e:
                self.write(-1, UNINITIALIZED, 0.0, _failed(e))
                return False
        return True

    def _make(self) -> None:
        """Makes the calls of the batch that are left."""
        for i, (number, function, args) in enumerate(self.left):
            if i > 0 and self._yields():
                break
            self.start += self._call(number, function, args)

    def _call(self, number: int, function: int, args: Stored) -> float:
        """Makes a call, and returns how long it has imported modules."""
        begun, before = time.monotonic(), self.imports.seconds
        status, value = RESULT, None
        try:
            call = loads(self.folder, self.batch["functions"][function])  # anew, as calls may change what belongs to it
            positional, named = loads(self.folder, args)
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

    def _next(self) -> bool:
        """Takes the next batch that the executor has for this process, and reports whether there is one."""
        while True:
            name = self._given()
            if name is None and self._stays():
                self.leaves(" more")
                until = time.monotonic() + STAY
                while name is None and time.monotonic() < until and not os.path.exists(os.path.join(self.folder, self.task + ".yield")):
                    time.sleep(_POLL)
                    name = self._given()
            if name is None:
                return False
            self.given += 1
            if take(self.folder, name, self.task) == self.task:
                self._open(name)
                return True

    given = 0  # batches that the executor has had for this process

    def _given(self) -> Optional[str]:
        try:
            return os.readlink(os.path.join(self.folder, f"{self.task}.next.{self.given + 1}"))
        except OSError:
            return None

    def _stays(self) -> bool:
        """Reports whether what this process has imported is worth that it makes further calls. It lasts as long as a batch may."""
        age = time.monotonic() - self.begun
        return (self.start > WORTH and age < max(1.0, 5 * self.start) and "time" not in dict(self.batch["needs"]) and not threads()
                and not os.path.exists(os.path.join(self.folder, self.task + ".yield")))

    def leaves(self, why: str = "") -> None:
        """Says that the calls of the batch are over, though the process stays."""
        with open(os.path.join(self.folder, "left"), "a") as f:
            f.write(f"{self.name} {self.attempt}{why}\n")


def threads() -> bool:
    """Reports whether calls have left threads for which the end of the process waits."""
    threading = sys.modules.get("threading")
    return threading is not None and any(not t.daemon and t is not threading.main_thread() for t in threading.enumerate())


def main(argv: List[str]) -> None:
    folder, name = argv
    attempt = int(os.environ.get("BERTH_ATTEMPT", "1"))
    if take(folder, name, "runner") != "runner":
        return
    runner = _Runner(folder, name, attempt)
    runner.run()
    if threads():
        runner.leaves()  # the results need not wait for them


if __name__ == "__main__":
    main(sys.argv[1:])
