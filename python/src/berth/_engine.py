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
from typing import Any, Deque, Dict, List, Optional, Set, Tuple

from . import run
from ._bag import Bag, printed, status
from ._program import BerthError
from ._store import LEAST, TARGET, Batch, Call, Folder, cut, size

_FIRST_LOOK = 0.5  # seconds that a first call of a function may take before more calls are started without knowing
_PATIENCE = 2.0  # seconds after which more calls are started without knowing how long they take
_OVERDUE = 5.0  # seconds after which a batch of short calls is told to leave the rest
_LEFT_EVERY = 1.0  # seconds between two looks for tasks that stay when their calls are over
_BROKEN = 3  # tasks in a row whose process died, after which no more is tried


class CallFailed(Exception):
    """The process that made a call has died, or the call was never made."""


class TooLarge(Exception):
    """Arguments or a result are larger than the limit of the executor."""


class Future(concurrent.futures.Future):  # type: ignore[type-arg]
    """The future of a call. task is the name of the task that makes it, and number counts the calls of an executor from 1."""

    number = 0
    task: Optional[str] = None
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
            error, text = pickle.loads(data)
            error.__cause__ = run.RemoteTraceback(text)
        except BaseException as e:
            error = e
        self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self._call = self._engine = None
        self._begin()
        if not self.done():
            self.set_exception(error)


class Engine:
    """The calls of an executor and what becomes of them."""

    def __init__(self, bag: Bag, files: Folder, slots: int, keep: bool) -> None:
        self.bag, self.files, self.slots, self.keep = bag, files, slots, keep
        self.changed = threading.Condition()
        self.waiting: Dict[Any, Deque[Call]] = {}  # calls without a batch, by function and needs
        self.batches: Dict[str, Batch] = {}  # whose tasks are not over
        self.seconds: Dict[Any, float] = {}  # of a call, by function and needs, without the imports of its process
        self.starts: Dict[Any, float] = {}  # of a process before its calls, likewise: what it imports
        self.rough: Set[Any] = set()  # of which only the first call of a process was measured
        self.released: Dict[Any, Tuple[int, float, float]] = {}  # single calls of functions without seconds, since when, and until when
        self.futures: Dict[int, Future] = {}  # of recovered calls
        self.broken: Optional[BaseException] = None
        self.closing = self.flushing = self.over = self.closed = False
        self.shut = threading.Lock()
        self.done = self.failed = self.deaths = self.sending = self.since = 0

    def begin(self) -> None:
        self.threads = [threading.Thread(target=f, name=f"{self.bag.id}-{f.__name__[1:]}", daemon=True) for f in (self._feed, self._watch)]
        for t in self.threads:
            t.start()

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
            self.changed.wait_for(lambda: not self.waiting and not self.sending or self.over)
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
                    due, pause = self._due(time.monotonic())
                    if not due and not self._finished():
                        self.changed.wait(min(pause or _LEFT_EVERY, _LEFT_EVERY) if self.batches else pause)
                        due, _ = self._due(time.monotonic())
                    batches = self._form(due)
                    self.sending += len(batches)
                    if not batches and self._finished():
                        break
                if batches:
                    self._send(batches)
                for name, attempt in self.files.left():
                    if name in self.batches:
                        self._ended(self.batches[name], {"outcome": "done", "attempt": attempt})
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
        for b in self.batches.values():
            if len(b.calls) > 1 and b.started is not None and not b.yields:
                if now - b.started > _OVERDUE + 6 * self.starts.get(b.group, 0.0):
                    b.yields = True
                    self.files.stop(b)
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
        for b in batches:
            with self.changed:
                self._put(b)
        lines = [b.line() for b in batches if b.calls]
        if lines:
            try:
                self.bag.add(lines)
            except BerthError as e:
                self._refused([b for b in batches if b.calls], e)
        with self.changed:
            self.sending -= len(batches)
            self.changed.notify_all()

    def _put(self, b: Batch) -> None:
        b.calls = [c for c in b.calls if not c.future.done()]  # those that were not cancelled meanwhile
        if not b.calls:
            return
        b.name = self.files.name(b.calls)
        self.files.put(b)
        for c in b.calls:
            c.future.task = b.name
        self.batches[b.name] = b

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
            if not self.over and not self.closed:
                self.bag.close()
            self.closed = True
        atexit.unregister(self.leave)

    # The thread that watches the bag.

    def _watch(self) -> None:
        try:
            for event in self.bag.events(self.since):
                self._see(event)
            self._end()
        except BaseException as e:
            self._break(e)

    def _see(self, event: Dict[str, Any]) -> None:
        batch = self.batches.get(event.get("name", ""))
        if event["event"] == "over":
            self._lost(CallFailed(f"{self.bag.id} is {event.get('state')}, and the call was not made: {event.get('why') or 'the bag was closed'}"))
        elif batch is None:
            return
        elif event["event"] == "started":
            self._started(batch)
        elif event.get("final"):
            self._ended(batch, event)

    def _started(self, batch: Batch) -> None:
        with self.changed:
            if batch.started is not None or self.files.withdrawn(batch.name):
                return
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
            error, text = pickle.loads(results[-1][2])
            error.__cause__ = run.RemoteTraceback(text)
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
        return CallFailed(f"the process of task {batch.name} of {self.bag.id} died: {said}{self._tail(batch.name)}")

    def _tail(self, task: str) -> str:
        """Returns the last lines that a task printed to standard error."""
        try:
            lines = printed(self.bag.id, [task], stderr=True).strip().splitlines()[-5:]
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
            self.bag.stop()
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

    def restore(self) -> int:
        """Makes futures of all calls of the folder, and returns the limit."""
        latest: Dict[int, Call] = {}
        for name, stored in self.files.all():
            calls = [latest.get(number) or self._restored(number, stored) for number, *_ in stored["calls"]]
            batch = Batch(name, calls)
            for c in calls:
                c.needs, c.batch, c.future.task = stored["needs"], batch, name
                latest[c.number] = c
            self.batches[name] = batch
        self.futures = {n: latest[n].future for n in sorted(latest)}
        for b in list(self.batches.values()):
            b.calls = [c for c in b.calls if c.batch is b]
            if not b.calls:
                del self.batches[b.name]
        self._catch_up()
        with open(self.files.path / "session", "rb") as f:
            return int(pickle.load(f)["limit"])

    def _restored(self, number: int, stored: Dict[str, Any]) -> Call:
        future = Future()
        future.number = number
        call = Call(number, stored["name"], b"", b"", stored["main"], stored["needs"], future)
        future._call, future._engine = call, self
        return call

    def _catch_up(self) -> None:
        """Has calls wait again whose tasks never came to be, as the process died before it added them."""
        added, known = int(status(self.bag.id)["tasks_total"]), set()
        for event in self.bag.events() if added else ():
            if event["event"] == "queued":
                known.add(event["name"])
            if len(known) >= added or event["event"] == "over":
                break
        for b in [b for b in self.batches.values() if b.name not in known or self.files.withdrawn(b.name)]:
            del self.batches[b.name]
            self._again(b, b.calls)
