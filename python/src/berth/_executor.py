"""An executor of concurrent.futures whose calls are tasks of an open bag."""

from __future__ import annotations

import atexit
import concurrent.futures
import functools
import itertools
import os
import pickle
import re
import shutil
import sys
import uuid
import weakref
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _bag, _show, run
from ._engine import CallFailed, Engine, TooLarge
from ._engine import Future as Future
from ._program import BerthError
from ._store import Call, Folder, Pickled, label

__all__ = ["CallFailed", "Executor", "Future", "Progress", "TooLarge"]


class Progress(NamedTuple):
    """How far the calls of an executor are."""

    done: int
    failed: int
    running: int
    waiting: int

    @property
    def total(self) -> int:
        return sum(self)


class Executor(concurrent.futures.Executor):
    """Makes calls as tasks of an open bag of berth.

    max_workers     largest number of tasks at the same time
    initializer     is called with initargs in each process before its calls
    cpus, mem       what each call may use; options says what single calls need
    on              backend, as the flag --on
    limit           bytes that the arguments of a call may have when pickled, and its result
    retries         how often a task whose process dies is tried again
    folder          where the files of calls are; all nodes must see it; default: .berth-calls in the current folder
    keep            keep these files when all results are there, so that recover finds them later
    flags           further flags of berth bag
    """

    def __init__(self, max_workers: Optional[int] = None, initializer: Optional[Callable[..., object]] = None,
                 initargs: Tuple[Any, ...] = (), *, cpus: int = 1, mem: Union[str, int, None] = None, on: Optional[str] = None,
                 limit: int = 256 << 20, retries: int = 0, name: Optional[str] = None, folder: Union[str, "os.PathLike[str]", None] = None,
                 keep: bool = False, flags: Sequence[str] = ()) -> None:
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        run.check_loading()
        self.limit = limit
        files = Folder(Path(folder or ".berth-calls").absolute() / uuid.uuid4().hex[:12])
        arguments = ["-c", str(cpus), "-J", name or label(initializer or _program), "--retries", str(retries), *flags]
        for flag, value in (("--mem", mem), ("--on", on), ("--throttle", max_workers)):
            arguments += [] if value is None else [flag, str(value)]
        files.begin(limit, None if initializer is None else run.dumps((initializer, initargs)), arguments)
        try:
            bag = files.open()
        except BaseException:
            shutil.rmtree(files.path, ignore_errors=True)
            raise
        slots = max_workers or max(1, (os.cpu_count() or 1) // cpus)
        self._attach(Engine(bag, files, slots, keep))

    def _attach(self, engine: Engine) -> None:
        self._engine = engine
        self._in_file = os.path.exists(getattr(sys.modules["__main__"], "__file__", None) or "")  # which a program has no more at its end
        self._numbers = itertools.count(1)
        self._finalizer = weakref.finalize(self, engine.finish, False)
        self._finalizer.atexit = False
        atexit.register(engine.leave)
        engine.begin()

    @property
    def id(self) -> str:
        """The id of the bag."""
        return self._engine.bag.id

    @property
    def progress(self) -> Progress:
        """How far the calls are."""
        return Progress(*self._engine.count())

    @property
    def _broken(self) -> bool:
        return self._engine.broken is not None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        """Has fn called with the arguments, and returns the future of its result."""
        return self._submit({}, fn, args, kwargs)

    def map(self, fn: Callable[..., Any], *iterables: Iterable[Any], timeout: Optional[float] = None, chunksize: int = 1,
            **more: Any) -> Iterator[Any]:
        """Returns the results of fn for the arguments, in their order. Short calls are put together even with chunks of 1."""
        return _map(self._engine.files, super().map, fn, iterables, timeout, chunksize, more)

    def options(self, **needs: Any) -> "Options":
        """Returns this executor for calls with needs of their own: cpus, mem, gpus, time, use, application, retries, and after.

        With ranks, and ranks_per_node, a call is made once, in a task of so many ranks, which mpirun can start."""
        return Options(self, needs)

    def _submit(self, needs: Dict[str, Any], fn: Callable[..., Any], args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Future:
        future = Future()
        with self._engine.changed:
            self._engine.check()
            number = next(self._numbers)
        future.number = number
        try:
            called, given = fn if isinstance(fn, Pickled) else Pickled(fn, label(fn)), Pickled((args, kwargs))
            self._check_size(called.size + given.size)
            function, arguments = called.kept(self._engine.files), given.kept(self._engine.files)
            main = (called.main or given.main) and not run.by_value()
            if main and not self._in_file:
                raise pickle.PicklingError(f"{called.name} or an argument belongs to a program that is in no file, as in a notebook; install "
                                           "cloudpickle, which can pickle that, or write the program to a file")
        except Exception as e:
            future.set_running_or_notify_cancel()
            future.set_exception(e)
            return future
        self._engine.submit(Call(number, called.name, function, arguments, main, tuple(sorted(needs.items())), future))
        return future

    def _check_size(self, n: int) -> None:
        if n > self.limit:
            raise TooLarge(f"the arguments have {n} bytes when pickled, and the limit is {self.limit}; hand over the name of a file, "
                           "or make the executor with a larger limit")

    def flush(self) -> None:
        """Waits until all calls are with berth, which makes them even if this process ends."""
        self._engine.flush()

    def printed(self, future: Future, stderr: bool = False) -> str:
        """Returns what the task has printed that made a call, as berth cat does."""
        return "" if future.task is None else _bag.printed(future._bag.id if future._bag else self.id, [future.task], stderr)

    def tasks(self) -> "_show.Tasks":
        """Returns what the tasks are that make the calls, with their attempts: a list that a notebook shows as a table, and whose
        method figure returns a figure of who ran what when."""
        return _show.tasks(self.id)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more calls. The bag is closed when all of them are over, or with wait=False at once."""
        self._engine.finish(cancel_futures)
        if wait:
            self._engine.join()

    @classmethod
    def recover(cls, id: str) -> "Executor":
        """Returns the executor of a bag whose process has ended. Its futures are in the attribute futures, by their numbers. Calls that are
        not with that bag, or submitted now, are in another one, which is opened for them."""
        words = _bag.submitted(id).get("bag", {}).get("command", [])
        if len(words) != 6 or Path(words[3]).name != "run.py":
            raise BerthError(f"{id} is not the bag of an executor")
        files = Folder(Path(words[4]))
        if not files.path.exists():
            raise BerthError(f"the results of {id} were removed when all of them had been fetched; make the executor with keep=True")
        bag = _bag.Bag(files.last(id))
        if _bag.fed(bag.id):
            raise BerthError(f"the program that adds calls to {bag.id} still runs; wait for its end")
        try:
            bag.close()
        except BerthError:
            pass  # it is over
        self = cls.__new__(cls)
        engine = Engine(bag, files, max(1, os.cpu_count() or 1), keep=True, opens=files.open)
        engine.restore()
        self.limit = files.session()["limit"]
        self._attach(engine)
        self.futures = engine.futures
        self._numbers = itertools.count(max(engine.futures, default=0) + 1)
        return self

    futures: Dict[int, Future]

    def _repr_html_(self) -> str:
        p = self.progress
        return f"<progress max={max(1, p.total)} value={p.done + p.failed}></progress> {self.id}: {p.done} of {p.total} calls done, " \
               f"{p.failed} failed, {p.running} running"

    def _ipython_display_(self) -> None:
        _show.bar(self)

    def __repr__(self) -> str:
        return f"<berth.Executor {self.id}: {', '.join(f'{n} {w}' for w, n in self.progress._asdict().items())}>"


class Options(concurrent.futures.Executor):
    """An executor for calls with needs of their own. Only submit and map are of interest."""

    def __init__(self, executor: Executor, needs: Dict[str, Any]) -> None:
        self._executor, self._needs = executor, needs

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        return self._executor._submit(self._needs, fn, args, kwargs)

    def map(self, fn: Callable[..., Any], *iterables: Iterable[Any], timeout: Optional[float] = None, chunksize: int = 1,
            **more: Any) -> Iterator[Any]:
        return _map(self._executor._engine.files, super().map, fn, iterables, timeout, chunksize, more)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._executor.shutdown(wait, cancel_futures=cancel_futures)


def _program() -> None:
    """Its name is the name of bags without one."""


def _program_name() -> str:
    name = os.path.basename(sys.argv[0] if sys.argv else "")
    if name == "ipykernel_launcher.py":
        name = os.path.basename(os.environ.get("JPY_SESSION_NAME", "notebook"))
    return re.sub(r"\.(py|ipynb)$", "", name) or "python"


_program.__name__ = _program_name()


def _map(files: Folder, submitting: Callable[..., Iterator[Any]], fn: Callable[..., Any], iterables: Tuple[Iterable[Any], ...],
         timeout: Optional[float], chunksize: int, more: Dict[str, Any]) -> Iterator[Any]:
    if chunksize < 1:
        raise ValueError("chunksize must be >= 1.")
    call = fn if chunksize == 1 else functools.partial(_call_all, fn)
    try:
        once = Pickled(call, label(fn))
        once.kept(files)
        call = once  # type: ignore[assignment]
    except Exception:
        pass  # each future tells it
    if chunksize == 1:
        return submitting(call, *iterables, timeout=timeout, **more)
    return _flat(submitting(call, _chunks(zip(*iterables), chunksize), timeout=timeout, **more))


def _chunks(of: Iterator[Tuple[Any, ...]], n: int) -> Iterator[List[Tuple[Any, ...]]]:
    while True:
        chunk = list(itertools.islice(of, n))
        if not chunk:
            return
        yield chunk


def _call_all(fn: Callable[..., Any], chunk: List[Tuple[Any, ...]]) -> List[Any]:
    return [fn(*args) for args in chunk]


def _flat(lists: Iterator[List[Any]]) -> Iterator[Any]:
    for one in lists:
        one.reverse()
        while one:
            yield one.pop()
