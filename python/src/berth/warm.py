"""Forks a process for each task: PYTHON -m berth.warm PYTHON MODULE,…  It loads these modules, and then runs the first one in each process,
as PYTHON -m MODULE would.

A worker of berth starts it, with a socket as descriptor 3 that keeps packets apart. It first says "ready", or "no" and why. Each request has
fields between NULs (the process that must become the parent, cores, folder, number of arguments, arguments, environment) and descriptors:
standard input, output and error, and one from which the process reads a byte before it begins. The answer is the number of the process, or
"no" and why. It ends with its worker, after a while without requests, or once a file of what it has loaded has changed, as a task has the
modules that are there when it starts.

What a process inherits and cannot make undone is refused, so that its task starts a Python of its own: threads, open files (which devices
are, too), printed text, and generators of random numbers that would be the same in all of them. Refused is also a script that starts Python,
as it may do so in another way each time.
"""

from __future__ import annotations

import builtins
import ctypes
import gc
import importlib
import importlib.util
import os
import random
import runpy
import signal
import socket
import sys
import time
import types
from typing import Any, Dict, List, NoReturn, Optional, Set, Tuple

_CONTROL = 3
_IDLE = 120.0  # seconds
_LARGEST = 1 << 20  # bytes of a request
_PDEATHSIG = 1  # prctl(2)


class _Refused(Exception):
    """Why processes are not forked."""


class Request:
    """A task, and what its process is to have."""

    def __init__(self, packet: bytes, files: List[int]) -> None:
        parent, cores, folder, n, *words = packet.split(b"\0")
        self.parent, self.cores, self.folder = int(parent), [int(c) for c in cores.split(b",")], folder
        self.args, self.env = words[:int(n)], words[int(n):]
        *self.files, self.begin = files


class Server:
    def __init__(self, modules: List[str]) -> None:
        self.main = modules[0]
        self.control = socket.socket(fileno=_CONTROL)
        self.control.set_inheritable(False)
        self.prctl = ctypes.CDLL(None, use_errno=True).prctl
        self.region = _environment()
        self.changed, self.removed = self._load(modules)
        self.sources = _sources()

    def _load(self, modules: List[str]) -> Tuple[Dict[bytes, bytes], Set[bytes]]:
        """Loads modules, and returns what has changed in the environment. One that is not there is left to the tasks."""
        with open("/proc/self/environ", "rb") as f:  # Python itself may have set a locale since then
            before = {name: value for name, _, value in (kv.partition(b"=") for kv in f.read().split(b"\0"))}
        files, folder, quiet = os.listdir("/proc/self/fd"), os.getcwd(), os.memfd_create("printed")
        null = [os.dup(1), os.dup(2)]
        for fd in 1, 2:
            os.dup2(quiet, fd)
        main = importlib.util.find_spec(self.main)  # which loads the package that it is in
        if main is None:
            raise _Refused(f"there is no module {self.main}")
        for name in modules if main.submodule_search_locations else modules[1:]:
            try:
                importlib.import_module(name)
            except ModuleNotFoundError as e:
                if not (name + ".").startswith(f"{e.name}."):
                    raise _Refused(f"{name} cannot be loaded: {e}") from e
        sys.stdout.flush()
        sys.stderr.flush()
        printed = os.pread(quiet, 200, 0)
        for fd, was in enumerate(null, 1):
            os.dup2(was, fd)
        for fd in quiet, *null:
            os.close(fd)
        if printed:
            raise _Refused(f"what is loaded prints {printed.decode(errors='replace')!r}")
        if _threaded():
            raise _Refused("what is loaded starts threads")
        if os.listdir("/proc/self/fd") != files or os.getcwd() != folder:
            raise _Refused("what is loaded opens files or changes the folder")
        seeded = _seeded()
        if seeded:
            raise _Refused(f"{seeded} would draw the same random numbers in each task")
        gc.collect()
        gc.freeze()
        after = dict(os.environb)
        return {k: v for k, v in after.items() if before.get(k) != v}, before.keys() - after.keys()

    def serve(self) -> Optional[Request]:
        """Answers requests. It returns in a process that was forked, with its request, and at the end with None."""
        self.control.send(b"ready")
        self.control.settimeout(_IDLE)
        while True:
            try:
                packet, files, flags, _ = socket.recv_fds(self.control, _LARGEST, 8)
            except socket.timeout:
                return None
            if not packet:  # the worker has ended
                return None
            request = Request(packet, list(files))
            other = _sources().items() ^ self.sources.items()
            if other:
                self.control.send(f"no {min(other)[0]} has changed".encode()[:1000])
                return None
            answers, answer = os.pipe()
            between = os.fork()
            if between == 0:
                os.close(answers)
                self._between(request, answer)
                return request
            for fd in answer, *files:
                os.close(fd)
            with open(answers, "rb") as f:
                said = f.read()
            os.waitpid(between, 0)  # from now on the worker is the parent
            self.control.send(said or b"no the process died")

    def _between(self, request: Request, answer: int) -> None:
        """Forks the process of the task, and ends when it is ready to have the worker as its parent, which adopts orphans."""
        ready, makes_ready = os.pipe()
        if os.fork() != 0:
            os.close(makes_ready)
            os.close(answer)
            os.read(ready, 1)
            os._exit(0)
        try:
            self.control.close()
            os.setpgid(0, 0)
            os.chdir(request.folder)
            os.sched_setaffinity(0, request.cores)
            self._set_environment(request.env)
            os.write(answer, str(os.getpid()).encode())
        except BaseException as e:
            try:
                os.write(answer, f"no {e}".encode())
            finally:
                os._exit(1)
        for fd in answer, ready, makes_ready:
            os.close(fd)
        begins = os.read(request.begin, 1)
        self.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if not begins or os.getppid() != request.parent:
            os._exit(1)
        for to, fd in enumerate(request.files):
            os.dup2(fd, to)
        for fd in *request.files, request.begin:
            os.close(fd)

    def _set_environment(self, env: List[bytes]) -> None:
        """Sets the environment, also the one that others see in /proc, by which berth knows the processes of a task."""
        os.environ.clear()
        start, end = self.region
        text = b"\0".join(env) + b"\0"
        if len(text) > end - start:
            raise _Refused("the environment is too large")
        mem = os.open("/proc/self/mem", os.O_RDWR)
        os.pwrite(mem, text.ljust(end - start, b"\0"), start)
        os.close(mem)
        for kv in env:
            name, _, value = kv.partition(b"=")
            os.environb[name] = value
        os.environb.update(self.changed)
        for name in self.removed & os.environb.keys():
            del os.environb[name]


def _environment() -> Tuple[int, int]:
    """Returns the addresses between which this process has been given its environment."""
    with open("/proc/self/stat", "rb") as f:
        fields = f.read().rpartition(b")")[2].split()
    return int(fields[47]), int(fields[48])  # env_start and env_end of proc(5)


def _threaded() -> bool:
    """Returns whether this process has threads beside a fork. OpenBLAS, which numpy has, ends its own before each, and starts them to compute."""
    if len(os.listdir("/proc/self/task")) == 1:
        return False
    forked = os.fork()
    if forked == 0:
        os._exit(0)
    os.waitpid(forked, 0)
    for _ in range(50):  # a thread that has ended may be listed for a moment
        if len(os.listdir("/proc/self/task")) == 1:
            return False
        time.sleep(0.01)
    return True


def _sources() -> Dict[str, Tuple[int, int, int]]:
    """Returns the files of the modules that are loaded, and by what it is seen that they have changed."""
    found = {}
    for module in list(sys.modules.values()):
        path = getattr(module, "__dict__", {}).get("__file__")
        if isinstance(path, str):
            try:
                s = os.stat(path)
            except OSError:  # it is in an archive, or is no more
                continue
            found[path] = s.st_mtime_ns, s.st_size, s.st_ino
    return found


def _seeded() -> Optional[str]:
    """Returns a module that has a generator of random numbers of its own, which a fork does not change. numpy's is seeded anew in each task."""
    anew = [getattr(random, "_inst", None), getattr(_numpy(), "_rand", None)]
    for name, module in list(sys.modules.items()):
        for value in list(getattr(module, "__dict__", {}).values()):
            kind = type(value)
            if (kind is random.Random or kind.__name__ in ("RandomState", "Generator")) and not any(value is a for a in anew):
                return name  # the latter are numpy's and torch's
    return None


def _numpy() -> Any:
    """Returns the module of numpy that has a generator for all programs, None if it is not loaded, or cannot be seeded."""
    module = sys.modules.get("numpy.random.mtrand")
    return module if hasattr(module, "seed") else None


def run(request: Request, module: str) -> NoReturn:
    """Runs the module as the program of this process."""
    args = [os.fsdecode(a) for a in request.args]
    if _numpy() is not None:
        _numpy().seed()  # as Python itself does for random
    importlib.invalidate_caches()  # what was listed of folders, whose times may be too coarse to tell of a module that was made since
    sys.argv[:] = ["-m", *args[3:]]
    if sys.version_info >= (3, 10):
        sys.orig_argv[:] = args
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    if "__annotations__" in sys.modules["__main__"].__dict__:
        main.__dict__["__annotations__"] = {}
    sys.modules["__main__"] = main
    try:
        runpy._run_module_as_main(module)  # type: ignore[attr-defined]
    except SystemExit:
        raise
    except BaseException as e:
        e.__traceback__ = e.__traceback__ and e.__traceback__.tb_next  # without this function
        sys.excepthook(type(e), e, e.__traceback__)
        if isinstance(e, KeyboardInterrupt):
            _interrupted()
        sys.exit(1)
    sys.exit()


def _interrupted() -> None:
    """Ends this process as Python ends when it is interrupted: by the signal."""
    import atexit

    atexit._run_exitfuncs()
    sys.stdout.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)


def main() -> None:
    python, modules = sys.argv[1], sys.argv[2].split(",")
    try:
        if not os.path.samefile(python, "/proc/self/exe"):
            raise _Refused(f"{python} is not Python itself, but starts it")
        server = Server(modules)
    except BaseException as e:
        socket.socket(fileno=_CONTROL).send(f"no {e if isinstance(e, _Refused) else repr(e)}".encode()[:1000])
        os._exit(1)
    request = server.serve()
    if request is not None:
        run(request, modules[0])


if __name__ == "__main__":
    from berth import warm

    warm.main()
