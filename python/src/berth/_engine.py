"""The threads of an executor: one writes calls and adds tasks, one watches the bag."""

from __future__ import annotations

import atexit
import concurrent.futures
import itertools
import logging
import pickle
import shutil
import threading
import time
from collections import deque
from typing import Any, Callable, Deque, Dict, List, Optional, Set, Tuple

from . import run
from ._bag import Bag, printed
from ._program import BerthError
from ._store import LEAST, TARGET, Batch, Call, Folder, cut, size

_FIRST_LOOK = 0.5  # seconds that a first call of a function may take before more calls are started without knowing
_PATIENCE = 2.0  # seconds after which more calls are started without knowing how long they take
_LEAST_LOOK = 0.02  # seconds between two looks for what a process that stays has made
_OVERDUE = 5.0  # seconds after which a batch of short calls is told to leave the rest
_LEFT_EVERY = 1.0  # seconds between two looks for tasks that stay when their calls are over, but more often after something has changed
_BROKEN = 3  # tasks in a row whose process died, after which no more is tried


class CallFailed(Exception):
    """The process that made a call has died, or the call was never made."""


class TooLarge(Exception):
    """Arguments or a result are larger than the limit of the executor."""


class Future(concurrent.futures.Future):  # type: ignore[type-arg]
    """The future of a call. task is the name of the task of the bag that makes it, and number counts the calls of an executor from 1."""

    number = 0
    task: Optional[str] = None
    _bag: Optional[Bag] = None
    _call: Optional[Call] = None
    _engine: "Optional[Engine]" = None

    def cancel(self) -> bool:
        """Cancels the call unless it has begun."""
        engine = self._engine
        if engine is None or self.done():
            return super().cancel()
        if not engine.withdraw(self):
            return self.cancelled()
        if super().cancel():
            self.set_running_or_notify_cancel()
        return True

    def _begin(self) -> None:
        """Notes that the call has begun."""
        if not self.running() and not self.done():
            self.set_running_or_notify_cancel()

    def _end(self, status: int, data: bytes) -> None:
        self._call = self._engine = None
        self._begin()
        try:
            if status == run.RESULT:
                self.set_result(pickle.loads(data))
                return
            if status == run.TOO_LARGE:
                raise TooLarge(f"the result has {data.decode()} bytes when pickled, and that is more than the limit of the executor; write it "
                               "to a file, or make the executor with a larger limit")
            error = _raised(data)
        except BaseException as e:
            error = e
        self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self._call = self._engine = None
        self._begin()
        if not self.done():
            self.set_exception(error)


def _raised(data: bytes) -> BaseException:
    """Returns an exception of another process. Its cause is its traceback there, which tells all; what it was raised from is its context."""
    error: BaseException
    error, text = pickle.loads(data)
    error.__context__, error.__cause__ = error.__cause__ or error.__context__, run.RemoteTraceback(text)
    return error


class Staying:
    """A process that has made its calls and stays for more of the same function, as it has imported what they need."""

    def __init__(self, batch: Batch, main: bool) -> None:
        self.group, self.main, self.given = batch.group, main, 0
        self.since: Optional[float] = None  # when it was seen to wait; None: it makes calls


class Engine:
    """The calls of an executor and what becomes of them."""

    def __init__(self, bag: Bag, files: Folder, slots: int, keep: bool, opens: Optional[Callable[[], Bag]] = None) -> None:
        """opens opens another bag, for an executor that was recovered: its own is closed."""
        self.bag, self.files, self.slots, self.keep, self.opens = bag, files, slots, keep, opens
        self.threads: List[threading.Thread] = []
        self.watched: List[Bag] = []
        self.changed = threading.Condition()
        self.waiting: Dict[Any, Deque[Call]] = {}  # calls without a batch, by function and needs
        self.batches: Dict[str, Batch] = {}  # whose tasks are not over
        self.seconds: Dict[Any, float] = {}  # of a call, by function and needs, without the imports of its process
        self.starts: Dict[Any, float] = {}  # of a process before its calls, likewise: what it imports
        self.rough: Set[Any] = set()  # of which only the first call of a process was measured
        self.released: Dict[Any, Tuple[int, float, float]] = {}  # single calls of functions without seconds, since when, and until when
        self.staying: Dict[str, Staying] = {}  # by their tasks
        self.changes = 0.0  # when a task was sent or seen to stay last
        self.futures: Dict[int, Future] = {}  # of recovered calls
        self.broken: Optional[BaseException] = None
        self.closing = self.flushing = self.over = self.closed = False
        self.shut = threading.Lock()
        self.done = self.failed = self.deaths = self.sending = 0

    def begin(self) -> None:
        self._begin(self._feed)
        self._look(self.bag)

    def _begin(self, f: Callable[..., None], *args: Any) -> None:
        self.threads.append(threading.Thread(target=f, args=args, name=f"{self.bag.id}-{f.__name__[1:]}", daemon=True))
        self.threads[-1].start()

    def _look(self, bag: Bag) -> None:
        self.watched.append(bag)  # before its thread begins, so that another one that gives up meanwhile stops it
        self._begin(self._watch, bag)

    # What the executor asks for.

    def check(self) -> None:
        """Raises an error if no more calls are taken."""
        if self.broken is not None:
            raise concurrent.futures.BrokenExecutor(str(self.broken)) from self.broken
        if self.closing:
            raise RuntimeError("cannot schedule new futures after shutdown")
        if self.over:
            raise concurrent.futures.BrokenExecutor(f"{self.bag.id} is over")

    def submit(self, call: Call) -> None:
        with self.changed:
            self.check()
            call.future._call, call.future._engine = call, self
            if self._wait(call) <= 2 * self.slots + 1:  # with more the thread comes by itself
                self.changed.notify_all()

    def _wait(self, call: Call) -> int:
        call.batch = call.future.task = None
        calls = self.waiting.setdefault(call.group, deque())
        calls.append(call)
        return len(calls)

    def withdraw(self, future: Future) -> bool:
        """Takes a call back, and reports whether it had not begun."""
        with self.changed:
            call = future._call
            if call is None or future.running():
                return False
            if call.batch is None:
                self._remove(call)
            elif not self._withdraw(call.batch, call):
                return False
            future._call = future._engine = None
            self.changed.notify_all()
            return True

    def _remove(self, call: Call) -> None:
        calls = self.waiting.get(call.group)
        if calls is not None:
            calls.remove(call)
            if not calls:
                del self.waiting[call.group]

    def _withdraw(self, batch: Batch, call: Optional[Call]) -> bool:
        if not self.files.take(batch):
            return False
        self.batches.pop(batch.name, None)
        self._again(batch, [c for c in batch.calls if c is not call])
        return True

    def _again(self, batch: Batch, calls: List[Call]) -> None:
        """Has calls of a batch wait for another one."""
        if calls:
            self.files.reload(batch, calls)
        for c in calls:
            self._wait(c)

    def flush(self) -> None:
        with self.changed:
            self.flushing = True
            self.changed.notify_all()
            self.changed.wait_for(lambda: not self.waiting and not self.sending and all(b.makes for b in self.batches.values()) or self.over)
            self.flushing = False

    def finish(self, cancel: bool) -> None:
        """Takes no more calls."""
        with self.changed:
            self.closing = True
            futures = [c.future for calls in self.waiting.values() for c in calls] + \
                      [c.future for b in self.batches.values() if b.started is None for c in b.calls] if cancel else []
            self.changed.notify_all()
        for f in futures:
            f.cancel()

    def leave(self) -> None:
        """Has berth make what was submitted before this process ends."""
        self.finish(False)
        if self.threads[0].is_alive():
            self.flush()
            try:
                self._close()
            except (BerthError, OSError):
                pass  # it is over

    def join(self) -> None:
        for t in self.threads:
            if t is not threading.current_thread():
                t.join()

    def count(self) -> Tuple[int, int, int, int]:
        """Returns the numbers of calls that are done, failed, running and waiting."""
        with self.changed:
            running = sum(len(b.calls) for b in self.batches.values() if b.started is not None)
            begun = sum(len(b.calls) for b in self.batches.values())
            return self.done, self.failed, running, sum(map(len, self.waiting.values())) + begun - running

    # The thread that feeds the bag.

    def _feed(self) -> None:
        try:
            while True:
                with self.changed:
                    now = time.monotonic()
                    due, pause = self._due(now)
                    if not due and not self._finished():
                        look = min(max((now - self.changes) / 20, _LEAST_LOOK, len(self.batches) / 1e4), _LEFT_EVERY)
                        self.changed.wait(min(pause or look, look) if self.batches or self.staying else pause)
                        due, _ = self._due(time.monotonic())
                    batches = self._form(due)
                    self.sending += len(batches)
                    if not batches and self._finished():
                        break
                if batches:
                    self._send(batches)
                for name, attempt, more in self.files.left():
                    self._left(name, attempt, more)
                self._dismiss()
            self._dismiss()
            self._close()
        except BaseException as e:
            self._break(e)

    def _finished(self) -> bool:
        return self.over or self.closing and not self.waiting and not self.batches and not self.sending

    def _due(self, now: float) -> Tuple[List[List[Call]], Optional[float]]:
        """Returns calls for new batches, and the time until there may be more."""
        due: List[List[Call]] = []
        pause = self._hurry(now)
        for group, calls in self.waiting.items():
            n, take = 1, len(calls)
            if group not in self.seconds:
                take, n, wait = self._unknown(group, take, now)
                pause = wait if pause is None else min(wait, pause)
            elif not self._enough(group) or self.flushing:
                n = size(take, self.seconds[group], self.slots, self.starts.get(group, 0.0))
                take = min(take, 2 * self.slots * n) if group in self.rough and not self.flushing else take
            else:
                take = 0
            due += cut(list(itertools.islice(calls, take)), 1 if "time" in dict(group[1]) else n)
        return due, pause

    def _enough(self, group: Any) -> bool:
        """Reports whether there are tasks for all slots and the short calls that wait had better be put together with the next ones."""
        work = self.seconds[group] * len(self.waiting[group])
        return len(self.batches) >= 2 * self.slots and (group in self.rough or work < TARGET * self.slots / 4)

    def _unknown(self, group: Any, waiting: int, now: float) -> Tuple[int, int, float]:
        """Returns how many calls may start of a function of which is not known how long they take, how many in a batch, and when
        there may be more: some at once, twice as many each time, and after a while all in batches, which end early if they take long."""
        released, begun, at = self.released.get(group, (0, now, now))
        if self.flushing or now - begun > _PATIENCE:
            return waiting, -(-waiting // (32 * self.slots)), _PATIENCE
        if now < at:
            return 0, 1, at - now
        n = max(2 * self.slots, released)
        self.released[group] = released + n, begun, now + _FIRST_LOOK
        return n, 1, _FIRST_LOOK

    def _hurry(self, now: float) -> Optional[float]:
        """Ends batches of short calls that were not short."""
        pause = None
        for b in [b for b in self.batches.values() if not b.makes]:
            b.makes = self.files.taken(b.name) is not None or now - (b.started or now) > 2 * run.STAY and not self._withdraw(b, None)
            self.changed.notify_all()
        for b in self.batches.values():
            if len(b.calls) > 1 and b.started is not None and not b.yields:
                if now - b.started > _OVERDUE + 6 * self.starts.get(b.group, 0.0):
                    b.yields = True
                    self.files.stop(b.name)
                else:
                    pause = 1.0
        return pause

    def _form(self, due: List[List[Call]]) -> List[Batch]:
        batches = []
        for calls in due:
            for c in calls:
                self._remove(c) if self.waiting[c.group][0] is not c else self._pop(c.group)
            batches.append(Batch("", calls))
        return batches

    def _pop(self, group: Any) -> None:
        self.waiting[group].popleft()
        if not self.waiting[group]:
            del self.waiting[group]

    def _send(self, batches: List[Batch]) -> None:
        try:
            self._open()
            for b in batches:
                with self.changed:
                    b.by = self._by(b)
                    self._put(b)
        except BaseException as e:  # such as a full disk
            self._fail([c.future for b in batches for c in b.calls if c.future is not None], e)
            raise
        self.changes = time.monotonic()
        lines = [b.line() for b in batches if b.calls and b.by is None]
        if lines:
            try:
                self.bag.add(lines)
            except BerthError as e:
                self._refused([b for b in batches if b.calls and b.by is None], e)
        with self.changed:
            self.sending -= len(batches)
            self.changed.notify_all()

    def _open(self) -> None:
        """Opens another bag, if this one is closed."""
        if self.opens is not None:
            bag = self.opens()
            with self.changed:
                self.bag, self.opens = bag, None
            self._look(bag)

    def _put(self, b: Batch) -> None:
        b.calls = [c for c in b.calls if not c.future.done()]  # those that were not cancelled meanwhile
        if not b.calls:
            return
        b.name, b.bag = self.files.name(b.calls), self.bag
        self.files.put(b)
        for c in b.calls:
            c.future.task, c.future._bag = b.by or b.name, b.bag
        self.batches[b.name] = b
        if b.by is not None:
            stays = self.staying[b.by]
            stays.given, stays.since, b.makes, b.started = stays.given + 1, None, False, time.monotonic()
            self.files.give(b, stays.given)
            for c in b.calls:
                c.future._begin()

    def _by(self, b: Batch) -> Optional[str]:
        """Returns the task of a process that stays and can make the calls of a batch."""
        now = time.monotonic()
        for name, stays in self.staying.items() if not self.flushing else ():
            if stays.group == b.group and stays.since is not None and now - stays.since < run.STAY and (stays.main or not any(c.main for c in b.calls)):
                return name
        return None

    def _left(self, name: str, attempt: int, more: bool) -> None:
        """Has what a process has made that stays. With more, it waits for further calls."""
        with self.changed:
            b = self.batches.get(name)
            if b is None:  # its task is over, which the other thread has seen
                return
            self.changes = time.monotonic()
            if more:
                stays = self.staying.setdefault(b.by or b.name, Staying(b, any(c.main for c in b.calls)))
                stays.since = self.changes
        self._ended(b, {"outcome": "done", "attempt": attempt})

    def _dismiss(self) -> None:
        """Ends processes that stay where there is nothing for them, but may be for others."""
        with self.changed:
            for name, stays in list(self.staying.items()):
                if stays.since is not None and stays.group not in self.waiting and (self.closing or self.waiting or self.over):
                    del self.staying[name]
                    self.files.stop(name)

    def _refused(self, batches: List[Batch], e: BerthError) -> None:
        """Fails the calls of tasks that the bag did not take."""
        with self.changed:
            for b in batches:
                self.batches.pop(b.name, None)
        for b in batches:
            self._fail([c.future for c in b.calls], e)

    def _fail(self, futures: List[Future], e: BaseException) -> None:
        self.failed += len(futures)
        for f in futures:
            f._fail(e)

    def _close(self) -> None:
        """Closes the bag once. Until it is closed this process does not end."""
        with self.shut:
            if not self.over and not self.closed and self.opens is None:
                self.bag.close()
            self.closed = True
        atexit.unregister(self.leave)

    # The thread that watches the bag.

    def _watch(self, bag: Bag) -> None:
        try:
            for event in bag.events():
                self._see(bag, event)
            self._end()
        except BaseException as e:
            self._break(e)

    def _see(self, bag: Bag, event: Dict[str, Any]) -> None:
        name = event.get("name", "")
        batch = self.batches.get(name)
        if event["event"] == "over":
            why = CallFailed(f"{bag.id} is {event.get('state')}, and the call was not made: {event.get('why') or 'the bag was closed'}")
            if bag is self.bag and self.opens is None:
                self._lost(why)
            else:
                self._rest(bag, why if event.get("state") == "cancelled" else None)
        elif event["event"] == "started" and batch is not None:
            self._started(batch)
        elif event.get("final"):
            if batch is not None:
                self._ended(batch, event)
            self._gone(name, event)

    def _rest(self, bag: Bag, cancelled: Optional[BaseException]) -> None:
        """Has the calls of a bag that was recovered and is over wait for another one, unless it was cancelled."""
        for b in [b for b in list(self.batches.values()) if b.bag is bag]:
            if cancelled is None:
                self._ended(b, {"outcome": "done"})
            elif self.batches.pop(b.name, None) is not None:
                self._fail([c.future for c in b.calls if c.batch is b], cancelled)

    def _gone(self, name: str, event: Dict[str, Any]) -> None:
        """Has what the process of a task has made of further batches, and others make the rest."""
        with self.changed:
            self.staying.pop(name, None)
            given = [b for b in self.batches.values() if b.by == name]
            for b in [b for b in given if self._withdraw(b, None)]:
                given.remove(b)
            self.changed.notify_all()
        for b in given:
            self._ended(b, event)

    def _started(self, batch: Batch) -> None:
        with self.changed:
            if batch.started is not None or self.batches.get(batch.name) is not batch or self.files.withdrawn(batch.name):
                return  # the other thread may have seen its end already
            batch.started = time.monotonic()
            futures = [c.future for c in batch.calls]
            self.slots = max(self.slots, sum(b.started is not None for b in self.batches.values()))
            self.changed.notify_all()
        for f in futures:
            f._begin()

    def _ended(self, batch: Batch, event: Dict[str, Any]) -> None:
        results = self.files.results(batch.name, event.get("attempt", 1))
        with self.changed:
            if self.batches.pop(batch.name, None) is None:
                return  # it was withdrawn
            calls = [c for c in batch.calls if c.batch is batch]
            left = [c for c in calls if c.number not in results]
            self._measure(batch, [results[c.number][1] for c in calls if c.number in results], results.get(run.STARTED))
            error = self._why(batch, event, results) if left else None
            dead = left[:1] if error is not None else []
            self._again(batch, [c for c in left if c not in dead])
            self.changed.notify_all()
        dying = [c.future for c in dead]
        self._deliver(calls, results)
        if error is not None:
            self._fail(dying, error)
        if self.broken is not None or self.deaths >= _BROKEN:
            self._break(self.broken or error or CallFailed("tasks fail"))

    def _measure(self, batch: Batch, seconds: List[float], start: Optional[Tuple[int, float, bytes]]) -> None:
        """Learns how long calls take, and a process before them. The first call of a process takes longer, and so may any on a machine
        with much to do."""
        if not seconds:
            return
        self.deaths, group, n = 0, batch.group, len(seconds)
        if start is not None:
            self.starts[group] = start[1]
        if self.starts.get(group, 0.0) > LEAST and group not in self.seconds:  # calls that wait for a process of their own had better share one
            for b in [b for b in self.batches.values() if b.group == group and b.started is None]:
                self._withdraw(b, None)
        if n > 10 or n > 1 and group in self.seconds or min(seconds) > TARGET:
            self.rough.discard(group)
        elif group not in self.seconds:
            self.rough.add(group)
        usual = sorted(seconds)[n // 2] if n < 100 else sum(seconds) / n
        if n > 2 or group not in self.seconds:
            self.seconds[group] = usual
        elif group in self.rough or usual > TARGET:  # else batches have told more than a single call can
            self.seconds[group] = 0.7 * self.seconds[group] + 0.3 * usual

    def _why(self, batch: Batch, event: Dict[str, Any], results: Dict[int, Tuple[int, float, bytes]]) -> Optional[BaseException]:
        """Returns why a task ended before its calls, or None if it was told to."""
        if -1 in results:
            error = _raised(results[-1][2])
            if not isinstance(error, run.Unguarded):
                logging.getLogger("concurrent.futures").critical("Exception in initializer:", exc_info=error)
            said = str(error) if isinstance(error, run.Unguarded) else "the initializer failed: " + repr(error)
            self.broken = concurrent.futures.BrokenExecutor(said)
            self.broken.__cause__ = error
            return self.broken
        if event.get("outcome") == "done":
            return None
        self.deaths += not results
        said = event.get("why") or event.get("outcome") or "it is not known why"
        task, id = batch.by or batch.name, (batch.bag or self.bag).id
        return CallFailed(f"the process of task {task} of {id} died: {said}{self._tail(id, task)}")

    def _tail(self, id: str, task: str) -> str:
        """Returns the last lines that a task printed to standard error."""
        try:
            lines = printed(id, [task], stderr=True).strip().splitlines()[-5:]
        except (BerthError, OSError):
            return ""
        return "".join("\n  " + line for line in lines)

    def _deliver(self, calls: List[Call], results: Dict[int, Tuple[int, float, bytes]]) -> None:
        for c in calls:
            if c.number in results:
                code, _, data = results.pop(c.number)
                self.done += code == run.RESULT
                self.failed += code != run.RESULT
                future, c.future = c.future, None  # nothing but its user keeps a result
                future._end(code, data)
                del future

    def _lost(self, error: BaseException) -> None:
        """Fails all calls that are left."""
        with self.changed:
            self.over = True
            left = [c.future for calls in self.waiting.values() for c in calls] + [c.future for b in self.batches.values() for c in b.calls]
            self.waiting.clear()
            self.batches.clear()
            self.changed.notify_all()
        self._fail(left, error)

    def _break(self, error: BaseException) -> None:
        """Gives up."""
        with self.changed:
            first, self.broken = self.broken is None or not self.over, self.broken or error
        if first:
            broken = concurrent.futures.BrokenExecutor(f"{self.bag.id}: {error}")
            broken.__cause__ = error
            self._lost(broken)
            for bag in self.watched:
                bag.stop()
            try:
                self.bag.close()
            except (BerthError, OSError):
                pass  # it is over, or cannot be reached

    def _end(self) -> None:
        if not self.keep and self.over and self.failed == 0:
            shutil.rmtree(self.files.path, ignore_errors=True)
            try:
                self.files.path.parent.rmdir()
            except OSError:
                pass  # it has files of others

    # What a recovered executor needs.

    def restore(self) -> None:
        """Makes futures of all calls of the folder, with the results that are there."""
        latest: Dict[int, Call] = {}
        attempts: Dict[str, int] = {}
        for name, stored, n in self.files.all():
            attempts[name] = n
            calls = [latest.get(number) or self._restored(number, stored) for number, *_ in stored["calls"]]
            taken = self.files.taken(name)
            batch = Batch(name, calls, None if taken in (None, "runner", "executor") else taken)
            for c in calls:
                c.needs, c.batch, c.future.task, c.future._bag = stored["needs"], batch, batch.by or name, self.bag
                latest[c.number] = c
            self.batches[name], batch.bag = batch, self.bag
        self.futures = {n: latest[n].future for n in sorted(latest)}
        for b in list(self.batches.values()):
            results, calls = self.files.results(b.name, attempts[b.name]), [c for c in b.calls if c.batch is b]
            b.calls = [c for c in calls if c.number not in results]
            if not b.calls:
                del self.batches[b.name]
            self._deliver(calls, results)

    def _restored(self, number: int, stored: Dict[str, Any]) -> Call:
        future = Future()
        future.number = number
        call = Call(number, stored["name"], b"", b"", stored["main"], stored["needs"], future)
        future._call, future._engine = call, self
        return call
