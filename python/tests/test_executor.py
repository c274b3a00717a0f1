"""What berth.Executor does beyond the tests of CPython."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import berth
from berth import _bag, _engine, run
from berth._store import Call, cut, size
from kills import kill_coordinator


def shout(text):
    print(text.upper())
    return len(text)


def die(i):
    if i == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return i


def fail():
    raise KeyError("missing")


@pytest.fixture
def executor(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with berth.Executor(limit=10_000) as executor:
        yield executor


def test_prints_are_kept(executor):
    future = executor.submit(shout, "hello")
    assert future.result() == 5
    assert executor.printed(future) == "HELLO\n"
    assert future.task == "shout-1" and future.number == 1


def test_exception_has_its_traceback(executor):
    error = executor.submit(fail).exception()
    assert isinstance(error, KeyError) and 'raise KeyError("missing")' in str(error.__cause__)


class Missing(Exception):
    def __init__(self, name, line):
        super().__init__(f"{name} is missing in line {line}")
        self.name, self.line = name, line


class Unread(OSError):
    def __init__(self, path, *, why):
        super().__init__(5, why, path)
        self.why = why


class Locked(Exception):
    def __init__(self, a, b):
        super().__init__(a)
        self.lock = threading.Lock()


def raising(kind, *args, **named):
    raise kind(*args, **named)


def test_exceptions_keep_their_type(executor):
    """An exception whose __init__ wants other arguments than it hands on keeps its type and what it has; one that cannot be pickled says so."""
    error = executor.submit(raising, Missing, "x", 3).exception()
    assert type(error) is Missing and str(error) == "x is missing in line 3" and (error.name, error.line) == ("x", 3)
    assert "raise kind(*args, **named)" in str(error.__cause__)
    error = executor.submit(raising, Unread, "a.txt", why="damaged").exception()
    assert type(error) is Unread and (error.errno, error.filename, error.why) == (5, "a.txt", "damaged")
    error = executor.submit(raising, Locked, 1, 2).exception()
    assert type(error) is RuntimeError and str(error) == "Locked: 1 (the exception itself could not be pickled)"


def test_limit_is_told(executor):
    with pytest.raises(berth.TooLarge, match="limit is 10000"):
        executor.submit(len, "x" * 20_000).result()
    with pytest.raises(berth.TooLarge, match="20.*bytes"):
        executor.submit(bytes, 20_000).result()


def test_call_that_kills_its_process(executor):
    """It alone fails, and those that were to be made after it by the same process are made by another one."""
    executor._engine.seconds[hash(run.dumps(die)), ()] = 0.001  # so that all are in one batch
    futures = [executor.submit(die, i) for i in range(5)]
    with pytest.raises(berth.CallFailed, match="died"):
        futures[2].result()
    assert [f.result() for f in futures if f is not futures[2]] == [0, 1, 3, 4]


def leave_thread(path):
    def wait():
        while not os.path.exists(path):
            time.sleep(0.05)
        os.remove(path)

    threading.Thread(target=wait).start()
    return 7


def test_thread_left_behind(executor, tmp_path):
    """The result does not wait for it, and it goes on to its own end."""
    go = tmp_path / "go"
    assert executor.submit(leave_thread, str(go)).result(timeout=60) == 7
    assert _bag.status(executor.id)["tasks_done"] == 0
    go.touch()
    executor.shutdown()
    assert not go.exists() and executor.progress == (1, 0, 0, 0)


def test_program_without_guard(tmp_path):
    """Its tasks make no bags of their own, and the error says what to write."""
    program = tmp_path / "unguarded.py"
    program.write_text("import berth\ndef f(i): return i\nex = berth.Executor()\nprint(ex.id)\nprint(ex.submit(f, 1).exception())\nex.shutdown()\n")
    hidden = tmp_path / "cloudpickle.py"
    hidden.write_text("raise ImportError")  # with it the program is not loaded
    p = subprocess.run([sys.executable, str(program)], cwd=tmp_path, capture_output=True, text=True, timeout=100,
                       env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])})
    assert 'if __name__ == "__main__"' in p.stdout, p.stdout + p.stderr
    bag = p.stdout.split()[0]
    with pytest.raises(berth.BerthError):
        _bag.status(f"bag-{int(bag.split('-')[1]) + 1}")


def test_process_ends_after_its_bag_is_closed(monkeypatch):
    """A process that ends while the bag is being closed, which is done once, leaves it closed."""
    did, closing, go = [], threading.Event(), threading.Event()

    class Bag:
        id = "bag-1"

        def close(self):
            closing.set()
            assert go.wait(60)
            did.append("closed")

        def events(self, since):
            return iter(())

    monkeypatch.setattr(_engine.atexit, "unregister", lambda f: did.append("may end"))
    engine = _engine.Engine(Bag(), _engine.Folder(Path("none")), 1, True)
    engine.begin()
    engine.finish(False)
    assert closing.wait(60)
    leaving = threading.Thread(target=engine.leave)
    leaving.start()
    go.set()
    leaving.join()
    engine.join()
    assert did == ["closed", "may end", "may end"]


def test_short_calls_share_tasks(executor):
    """A thousand short calls are a few tasks, and all results are in their order."""
    assert list(executor.map(abs, range(1000))) == list(range(1000))
    executor.shutdown()
    assert _bag.status(executor.id)["tasks_total"] < 50
    assert executor.progress == (1000, 0, 0, 0)


def test_batch_that_takes_long_is_ended_early(executor, monkeypatch):
    """Calls of a batch that were thought to be short and are not are made by tasks of their own."""
    monkeypatch.setattr(_engine, "_OVERDUE", 0.1)
    executor._engine.seconds[hash(run.dumps(time.sleep)), ()] = 0.001
    assert list(executor.map(time.sleep, [1.1] * 4)) == [None] * 4
    executor.shutdown()
    assert _bag.status(executor.id)["tasks_total"] > 1


def test_cancelled_call_is_not_made(executor, tmp_path):
    """A call that was cancelled before it began leaves no trace, and the calls of its batch are made."""
    gates = [tmp_path / f"gate{i}" for i in range(2 * executor._engine.slots)]
    for gate in gates:
        os.mkfifo(gate)
    blockers = [executor.submit(read, str(gate)) for gate in gates]
    executor._engine.seconds[hash(run.dumps(touch)), ()] = 0.001
    futures = [executor.submit(touch, str(tmp_path / f"t{i}")) for i in range(4)]
    executor.flush()
    assert futures[1].cancel() and futures[1].cancelled() and futures[1].done()
    writers = [threading.Thread(target=gate.write_text, args=("x",), daemon=True) for gate in gates]
    for w in writers:
        w.start()
    for f in [*blockers, futures[0], futures[2], futures[3]]:
        f.result()
    assert not (tmp_path / "t1").exists() and (tmp_path / "t2").exists()
    for w in writers:
        w.join()


def read(path):
    with open(path) as f:
        return f.read(1)


def touch(path):
    open(path, "w").close()


def test_needs_are_the_tasks_needs(executor):
    """Calls with needs of their own are apart from others, and what a task cannot have is told."""
    assert executor.options(cpus=1, time="5m").submit(shout, "x").result() == 1
    with pytest.raises(berth.BerthError, match="nonsense"):
        executor.options(nonsense=1).submit(shout, "x").result()


PROGRAM = """
import berth, os
executor = berth.Executor(keep=True)
print(executor.id)
for i in range(4): executor.submit(pow, i, 2)
executor.flush()
os._exit(0)
"""


def test_recover(tmp_path, monkeypatch):
    """The futures of a process that ended are there, and the bag takes more calls until it is closed."""
    monkeypatch.chdir(tmp_path)
    id = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True).stdout.strip()
    with berth.Executor.recover(id) as executor:
        assert {n: f.result() for n, f in executor.futures.items()} == {1: 0, 2: 1, 3: 4, 4: 9}
        assert executor.submit(pow, 4, 2).result() == 16
    with pytest.raises(berth.BerthError, match="no job bag-9999"):
        berth.Executor.recover("bag-9999")


WITHOUT_FILE = """
import sys
sys.modules["cloudpickle"] = None
import berth
def mine(): pass
with berth.Executor() as executor:
    for f in (mine, lambda: 1):
        print(executor.submit(f).exception())
"""


def test_what_needs_cloudpickle_says_so(tmp_path):
    """A program that is in no file, and what only cloudpickle can pickle, are told at once."""
    said = subprocess.run([sys.executable], input=WITHOUT_FILE, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.splitlines()
    assert "mine or an argument belongs to a program that is in no file" in said[0] and "install cloudpickle" in said[1]


def test_added_tasks_survive(tmp_path, monkeypatch):
    """A task whose adding has returned is run, though the coordinator is killed then, and the next is added to the one that follows."""
    monkeypatch.chdir(tmp_path)
    bag = _bag.Bag.open(["--stdout", "none"], ["/bin/sh", "-c"])
    for i in range(3):
        bag.add([{"entry": f"echo >> ran-{i}", "name": f"task-{i}"}])
        kill_coordinator()
    bag.close()
    ended = [e["name"] for e in bag.events() if e["event"] == "ended" and e.get("final")]
    assert sorted(ended) == ["task-0", "task-1", "task-2"] and len(list(tmp_path.glob("ran-*"))) == 3


def test_program_is_missing(monkeypatch):
    monkeypatch.setenv("BERTH", "/nowhere/berth")
    with pytest.raises(berth.BerthError, match="BERTH names /nowhere/berth"):
        berth.Executor()


SLOW = """
import os, time
try:
    os.close(os.open("first", os.O_CREAT | os.O_EXCL))
    time.sleep(0.3)
except FileExistsError:
    while not os.path.exists("measured"): time.sleep(0.01)
process = os.getpid()
"""


def import_slowly(i, folder):
    sys.path.insert(0, folder)
    os.chdir(folder)
    import slow

    return slow.process


def test_imports_are_paid_by_few_processes(tmp_path, monkeypatch):
    """The length of a call is without what its process imports, so short calls share processes, also those that wait for one of their own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slow.py").write_text(SLOW)
    with berth.Executor(max_workers=2) as executor:
        engine, processes = executor._engine, executor.map(import_slowly, range(60), [str(tmp_path)] * 60)
        with engine.changed:
            engine.changed.wait_for(lambda: engine.seconds)
        (tmp_path / "measured").touch()
        assert len(set(processes)) < 30


def test_size():
    """Batches are spread over the slots, last no longer than a second, and are not too short for the start of a Python."""
    assert size(10_000, 1e-6, 2) == 10_000
    assert size(1_000_000, 1e-4, 2) == 10_000
    assert size(100, 0.01, 2) == 21
    assert size(100, 30.0, 2) == 1
    assert size(5, 0.0, 8) == 5
    assert size(58, 1e-5, 2, start=1.0) == 58  # one process imports
    assert size(60, 0.3, 2, start=10.0) == 30  # each slot has one process
    assert size(60, 0.3, 8, start=10.0) == 8
    assert size(1000, 0.1, 2, start=1.0) == 50  # a batch is five times as long as its start
    assert size(60, 30.0, 2, start=10.0) == 1


def test_cut():
    calls = [Call(i, "f", b"", b"x" * (20 << 20), False, (), None) for i in range(3)]
    assert [[c.number for c in b] for b in cut(calls, 10)] == [[0], [1], [2]]


def test_frames_end_where_a_file_was_cut(tmp_path):
    """What a killed process has written half is left out, and so is what is damaged."""
    whole = run.frame(1, 0, 0.5, pickle.dumps("a")) + run.frame(2, 1, 0.25, b"b")
    for n in range(len(whole)):
        (tmp_path / "f").write_bytes(whole[:n])
        assert [f[0] for f in run.frames(tmp_path / "f")] == ([1] if n >= len(whole) - 1 - run.FRAME.size else [])
    (tmp_path / "f").write_bytes(whole[:-1] + b"c")
    assert len(list(run.frames(tmp_path / "f"))) == 1
