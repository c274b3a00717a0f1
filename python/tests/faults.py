"""Kills what an executor consists of: python faults.py SEED ROUNDS, in a state folder of its own.

In each round a process submits calls and is killed, or goes on; the coordinator and workers are killed meanwhile. Then all results
must be there, from the process or from a recovered executor. No call has run twice to its end, except where a worker was killed in the
moment between the end of the call and the writing of its result: at most one for each slot of that worker. In every other round calls import
what is worth that their process stays for further ones.
"""

import collections
import os
import random
import subprocess
import sys
import time

import berth
from kills import kill_coordinator, kill_worker

CALLS = 60


def work(log, i, pause, imports):
    if imports:
        sys.path.insert(0, os.path.dirname(log))
        __import__("worth")
    time.sleep(pause)
    with open(log, "a") as f:
        f.write(f"{i}\n")
    if i % 10 == 3:
        raise ValueError(i)
    return i * i


def child(seed, log):
    rng = random.Random(seed)
    executor = berth.Executor(keep=True, name="faults")
    print(executor.id, flush=True)
    futures = [executor.submit(work, log, i, rng.choice((0, 0, 0.01, 0.1)), seed % 2 == 1) for i in range(CALLS)]
    executor.flush()
    print("flushed", flush=True)
    check(futures)
    executor.shutdown()
    print("done", flush=True)


def check(futures):
    for i, f in enumerate(futures):
        if i % 10 == 3:
            assert repr(f.exception(100)) == f"ValueError({i})", (i, f)
        else:
            assert f.result(100) == i * i, (i, f)


def round_of(seed):
    rng = random.Random(seed)
    log = os.path.abspath(f"log-{seed}")
    process = subprocess.Popen([sys.executable, __file__, "child", str(seed), log], stdout=subprocess.PIPE, text=True)
    id = process.stdout.readline().strip()
    killed, workers = False, 0
    if rng.random() < 0.8:
        assert process.stdout.readline() == "flushed\n"
    for _ in range(rng.randint(1, 3)):
        time.sleep(rng.random())
        victim = rng.choice(("engine", "coordinator", "worker"))
        if victim == "engine":
            process.kill()
            killed = True
        elif victim == "coordinator":
            kill_coordinator()
        else:
            kill_worker(rng)
            workers += 1
    said = process.stdout.read()
    process.wait()
    if "done" not in said:
        assert killed, f"seed {seed}: the process failed: {said}"
    executor = berth.Executor.recover(id)
    futures = [executor.futures[n] for n in sorted(executor.futures)]
    assert [f.number for f in futures] == list(range(1, len(futures) + 1)), f"seed {seed}"
    check(futures)
    executor.shutdown()
    open(log, "a").close()
    with open(log) as f:
        twice = {i: n for i, n in collections.Counter(f.read().split()).items() if n > 1}
    assert len(twice) <= workers * (os.cpu_count() or 1), f"seed {seed}: run to their ends more than once: {twice}"
    return f"seed {seed}: {len(futures)} calls, {'killed' if killed else 'lived'}, {workers} workers, twice {len(twice)}"


if __name__ == "__main__":
    if sys.argv[1] == "child":
        child(int(sys.argv[2]), sys.argv[3])
    else:
        with open("worth.py", "w") as f:
            f.write("import time; time.sleep(0.3)")
        for seed in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
            print(round_of(seed), flush=True)
