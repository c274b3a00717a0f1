"""What berth.Executor does beyond the tests of CPython."""

import functools
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
from berth import _bag, _engine, _program, run
from berth._store import Batch, Call, Folder, cut, pieces, size
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


def test_program_of_a_wheel(tmp_path, monkeypatch):
    """The program is that of BERTH, else that on PATH, else the one among the scripts of this Python."""
    for folder in ("path", "scripts"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "berth").touch(0o755)
    monkeypatch.setattr("sysconfig.get_path", lambda name, scheme=None: str(tmp_path / ("none" if scheme else name)))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("BERTH", str(tmp_path / "missing"))
    with pytest.raises(berth.BerthError, match="BERTH names .*missing"):
        _program.program()
    monkeypatch.delenv("BERTH")
    assert _program.program() == str(tmp_path / "path" / "berth")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _program.program() == str(tmp_path / "scripts" / "berth")


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


class Wrapped(Exception):
    def __init__(self, name):
        super().__init__(f"no {name}")


class Slotted(Exception):
    __slots__ = ("line", "__column")

    def __init__(self, text, line=0):
        super().__init__(text)
        self.line, self.__column = line, 5

    def place(self):
        return self.line, self.__column


class Lacking(AttributeError):
    def __init__(self, text, of):
        super().__init__(text)
        self.obj = threading.Lock()


class Locked(Exception):
    def __init__(self, a, b):
        super().__init__(a)
        self.lock = threading.Lock()


def raising(kind, *args, **named):
    raise kind(*args, **named)


def raise_several():
    """Raises a group of exceptions with notes, from another one."""
    try:
        raise Missing("y", 4)
    except Missing as e:
        inner = Wrapped("z")
        inner.__cause__ = e
        error = ExceptionGroup("several", [inner, ExceptionGroup("more", [OSError(2, "gone", "f")])])
        error.add_note("look at y")
        raise error from e


def test_exceptions_keep_their_type(executor):
    """An exception whose __init__ wants other arguments than it hands on keeps its type and what it has; one that cannot be pickled says so."""
    error = executor.submit(raising, Missing, "x", 3).exception()
    assert type(error) is Missing and str(error) == "x is missing in line 3" and (error.name, error.line) == ("x", 3)
    assert "raise kind(*args, **named)" in str(error.__cause__)
    error = executor.submit(raising, Unread, "a.txt", why="damaged").exception()
    assert type(error) is Unread and (error.errno, error.filename, error.why, error.args) == (5, "a.txt", "damaged", (5, "damaged"))
    error = executor.submit(raising, Wrapped, "z").exception()
    assert type(error) is Wrapped and str(error) == "no z"
    error = executor.submit(raising, Slotted, "w", 4).exception()
    assert type(error) is Slotted and error.args == ("w",) and error.place() == (4, 5)
    assert type(executor.submit(raising, Lacking, "v", 1).exception()) is Lacking
    error = executor.submit(raising, Locked, 1, 2).exception()
    assert type(error) is RuntimeError and str(error) == "Locked: 1 (the exception itself could not be pickled)"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there are no groups of exceptions")
def test_groups_and_notes(executor):
    """Those in a group keep what they have, too, and what they were raised from; of the outer one that is its context, and its cause tells all."""
    error = executor.submit(raise_several).exception()
    assert str(error) == "several (2 sub-exceptions)" and error.__notes__ == ["look at y"]
    assert (error.__context__.name, error.__context__.line) == ("y", 4)
    assert "look at y" in str(error.__cause__) and "direct cause" in str(error.__cause__)
    inner, more = error.exceptions
    assert str(inner) == "no z" and inner.__cause__.line == 4 and more.exceptions[0].filename == "f"


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

        def events(self):
            return iter(())

    monkeypatch.setattr(_engine.atexit, "unregister", lambda f: did.append("may end"))
    engine = _engine.Engine(Bag(), Folder(Path("none")), 1, True)
    engine.begin()
    engine.finish(False)
    assert closing.wait(60)
    leaving = threading.Thread(target=engine.leave)
    leaving.start()
    go.set()
    leaving.join()
    engine.join()
    assert did == ["closed", "may end", "may end"]


class Grid:
    """Is pickled as arrays are, by a buffer that need not be copied."""

    def __init__(self, cells):
        self.cells = cells

    def __reduce_ex__(self, protocol):
        return Grid, (pickle.PickleBuffer(self.cells),)


def step_in(grid, text, i):
    cells = memoryview(grid.cells)
    cells[0] += 1
    return bytes(cells[:2]), text[i], len(text)


def test_large_arguments_are_written_once(tmp_path, monkeypatch):
    """An array, a text and a function that many calls have are in one file each, and go with the bag. Calls get an array as it was when they were
    submitted, and what one changes no other sees."""
    monkeypatch.chdir(tmp_path)
    grid, text = Grid(bytearray(2 * run.LARGE)), "abc" * run.LARGE
    with berth.Executor() as executor:
        first = [executor.submit(step_in, grid, text, i) for i in range(3)]
        grid.cells[1] = 7
        second = executor.map(functools.partial(step_in, grid, text), range(3))
        assert [f.result() for f in first] == [(b"\1\0", c, len(text)) for c in "abc"]
        assert list(second) == [(b"\1\7", c, len(text)) for c in "abc"]
        sizes = {p.name: p.stat().st_size for p in executor._engine.files.path.iterdir() if not p.is_symlink()}
        large = sorted(n for n in sizes.values() if n >= run.LARGE)
        assert large == [2 * run.LARGE, 2 * run.LARGE, 3 * run.LARGE] and sum(sizes.values()) - sum(large) < run.LARGE
    assert not (tmp_path / ".berth-calls").exists()


@pytest.mark.parametrize("value", [
    (b"x" * run.LARGE, 5), [b"", "y" * run.LARGE, b"z" * (run.LARGE + 1), bytearray(run.LARGE)], list(range(run.LARGE)), {"a": ["\u00e4" * run.LARGE] * 2},
    (300, b"x" * run.LARGE, "y", b"x" * run.LARGE)])
def test_pickles_are_cut_at_large_texts(value):
    """Together the pieces are the pickle, and each large text or byte string is one of them."""
    parts = list(map(bytes, pieces(pickle.dumps(value, 5))))
    assert pickle.loads(b"".join(parts)) == value
    own = [v.encode() if isinstance(v, str) else bytes(v) for v in (value["a"][:1] if isinstance(value, dict) else value) if not isinstance(v, int)]
    assert [p for p in own if len(p) >= run.LARGE] == parts[1::2]


def test_start_that_is_told_late(executor):
    """A batch whose end was seen in its file may be told to have started after that."""
    executor._engine._started(Batch("abs-1", [Call(1, "abs", b"", b"", False, (), None)]))
    assert executor.submit(abs, -1).result() == 1


def test_full_disk_is_told(executor, monkeypatch):
    """Calls that cannot be written fail."""
    def put(batch):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(executor._engine.files, "put", put)
    assert isinstance(executor.submit(abs, 1).exception(timeout=100), OSError)


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
import berth, os, signal, sys
executor = berth.Executor(keep=True)
print(executor.id, flush=True)
for i in range(4): executor.submit(pow, i, 2)
executor.flush()
exec(sys.argv[1])
"""


@pytest.mark.parametrize("end", ["", "1 / 0", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_recover(tmp_path, monkeypatch, end):
    """However a program ends its bag is closed and its calls are made. Their futures are there in another process, from which more calls are in
    another bag, with all that is known of the first."""
    monkeypatch.chdir(tmp_path)
    id = subprocess.run([sys.executable, "-c", PROGRAM, end], capture_output=True, text=True).stdout.strip()
    assert list(_bag.Bag(id).events())[-1]["state"] == "done"
    made = {1: 0, 2: 1, 3: 4, 4: 9}
    with berth.Executor.recover(id) as executor:
        assert {n: f.result() for n, f in executor.futures.items()} == made and executor.id == id
        assert executor.submit(pow, 4, 2).result() == 16 and executor.id != id
    with berth.Executor.recover(id) as executor:
        assert {n: f.result() for n, f in executor.futures.items()} == {**made, 5: 16}
    with pytest.raises(berth.BerthError, match="no job bag-9999"):
        berth.Executor.recover("bag-9999")


def test_recover_what_the_bag_has_not_made(tmp_path, monkeypatch):
    """A call that is in no task, or whose task ended without it, is made by another bag, unless the first was cancelled. Of a program that still runs
    nothing is recovered."""
    monkeypatch.chdir(tmp_path)
    for cancelled in False, True:
        files = Folder(tmp_path / f"calls{cancelled}")
        files.begin(1000, None, [])
        bag = files.open()
        put = [Batch(f"pow-{n}", [Call(n, "pow", run.dumps(pow), run.dumps(((n, 2), {})), False, (), None)]) for n in (1, 2, 3)]
        for b in put:
            files.put(b)
        assert files.take(put[0])
        bag.add([b.line() for b in put[:2]])
        process = subprocess.run([sys.executable, "-c", "import sys, berth; berth.Executor.recover(sys.argv[1])", bag.id], capture_output=True, text=True)
        assert "still runs" in process.stderr
        with pytest.raises(berth.BerthError, match="still runs"):  # nor of another executor of this one
            berth.Executor.recover(bag.id)
        if cancelled:
            bag.cancel()
            assert list(bag.events())[-1]["event"] == "over"
        else:
            _bag._leave(bag.id)
        with berth.Executor.recover(bag.id) as executor:
            if cancelled:
                assert isinstance(executor.futures[3].exception(), berth.CallFailed)
            else:
                assert [executor.futures[n].result() for n in (1, 2, 3)] == [1, 4, 9]


WITHOUT_FILE = """
import sys
sys.modules["cloudpickle"] = None
import berth
def mine(): pass
with berth.Executor() as executor:
    for f in (mine, lambda: 1):
        print(executor.submit(f).exception())
"""


AT_ITS_END = """
import sys, threading
sys.modules["cloudpickle"] = None
import berth
def mine(): return 7
def later():
    threading.main_thread().join()  # from its end on Python does not know the program's file
    with executor: print(executor.submit(mine).result())
if __name__ == "__main__":
    executor = berth.Executor()
    threading.Thread(target=later).start()
"""


def test_what_needs_cloudpickle_says_so(tmp_path):
    """A program that is in no file, and what only cloudpickle can pickle, are told at once. A program in a file may go on with threads at its end."""
    (tmp_path / "ends.py").write_text(AT_ITS_END)
    assert subprocess.run([sys.executable, "ends.py"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout == "7\n"
    said = subprocess.run([sys.executable], input=WITHOUT_FILE, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.splitlines()
    assert "mine or an argument belongs to a program that is in no file" in said[0] and "install cloudpickle" in said[1]


def test_added_tasks_survive(tmp_path, monkeypatch):
    """A task whose adding has returned is run, though the coordinator is killed then, and the next is added to the one that follows."""
    monkeypatch.chdir(tmp_path)
    bag = _bag.Bag.open(["--stdout", "none"], ["/bin/sh", "-c"])
    for i in range(3):
        bag.add([{"entry": f"echo >> ran-{i}", "name": f"task-{i}"}])
        kill_coordinator()
        child = os.fork()
        if child == 0:  # what is done at exit is done in this process, too
            bag.close()
            os._exit(0)
        os.waitpid(child, 0)
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


def stay(i, folder):
    sys.path.insert(0, folder)
    import worth  # noqa: F401

    if i == 5:
        os._exit(1)
    return os.getpid()


def test_call_that_kills_a_process_that_stays(tmp_path, monkeypatch):
    """It alone fails, and what the process was to make besides is made by another one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "worth.py").write_text("import time; time.sleep(0.3)")
    with berth.Executor(max_workers=1) as executor:
        futures = [executor.submit(stay, i, str(tmp_path)) for i in range(12)]
        failed = {i for i, f in enumerate(futures) if isinstance(f.exception(), berth.CallFailed)}
        assert failed == {5} and executor.progress == (11, 1, 0, 0)


def test_process_makes_further_batches(tmp_path):
    """A process whose imports took long makes what it is given, in each of its attempts what is left of it, and nothing that was withdrawn."""
    (tmp_path / "worth.py").write_text("import time; time.sleep(0.3)")
    files = Folder(tmp_path / "calls")
    files.begin(1000, None, [])
    function, batches = run.dumps(stay), {}
    for name, numbers in ("own", [1]), ("given", [2, 3]), ("withdrawn", [4]), ("last", [6]):
        calls = [Call(n, "stay", function, run.dumps(((n, str(tmp_path)), {})), False, (), None) for n in numbers]
        batches[name] = Batch(name, calls, None if name == "own" else "own")
        files.put(batches[name])
    for k, name in enumerate(["given", "withdrawn", "last"], 1):
        files.give(batches[name], k)
    assert files.take(batches["withdrawn"])
    (files.path / "given.results.1").write_bytes(run.frame(2, run.RESULT, 0.1, run.dumps("first")))
    for name in "own", "given":
        run.take(str(files.path), name, "runner" if name == "own" else "own")
    command = [sys.executable, run.__file__, str(files.path), "own"]
    subprocess.run(command, check=True, env={**os.environ, "BERTH_ATTEMPT": "2", "PYTHONPATH": os.pathsep.join(sys.path)})
    results = {name: {n: pickle.loads(data) for n, (_, _, data) in files.results(name, 2).items() if n > 0} for name in batches}
    process = results["own"][1]
    assert results == {"own": {1: process}, "given": {2: "first", 3: process}, "withdrawn": {}, "last": {6: process}}
    assert list(files.left()) == [("last", 2, True)] and files.taken("last") == "own"


def test_lines_written_over_each_other(tmp_path):
    """On NFS two processes may append a line at the same place: what is left of the first one means nothing."""
    files = Folder(tmp_path / "calls")
    files.begin(1000, None, [])
    (files.path / "left").write_text("one-1 1 more\nre\n 1 more\n\nb-2\ntwo-2 x\nthree-3 2\n\0\0\nhalf-4 1")
    assert list(files.left()) == [("one-1", 1, True), ("three-3", 2, False)]


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
