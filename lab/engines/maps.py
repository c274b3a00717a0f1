"""Measures maps of empty functions with executors, in turn, and what an added task costs: python maps.py CALLS REVERSED

Prints a line of JSON for each measurement: what, seconds. A map begins before its executor is made and ends when it is shut down."""

import concurrent.futures
import json
import os
import statistics
import sys
import time

import berth
from berth._bag import Bag


def empty(i):
    return i


def with_berth(calls):
    with berth.Executor() as executor:
        return list(executor.map(empty, calls))


def with_pool(calls):
    with concurrent.futures.ProcessPoolExecutor() as executor:
        return list(executor.map(empty, calls, chunksize=1))


def with_parsl(calls):
    import parsl
    from parsl.executors import HighThroughputExecutor
    from parsl.providers import LocalProvider

    executor = HighThroughputExecutor(max_workers_per_node=os.cpu_count(), address="127.0.0.1", cores_per_worker=1, encrypted=False,
                                      provider=LocalProvider(init_blocks=1, max_blocks=1))
    with parsl.load(parsl.Config(executors=[executor], run_dir="parsl", usage_tracking=0)):
        app = parsl.python_app(empty)
        return [f.result() for f in [app(i) for i in calls]]


def with_dask(calls):
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=os.cpu_count(), threads_per_worker=1, processes=True, dashboard_address=None) as cluster, Client(cluster) as client:
        return client.gather(client.map(empty, calls))


EXECUTORS = {"berth.Executor": with_berth, "ProcessPoolExecutor": with_pool, "Parsl HighThroughputExecutor": with_parsl, "dask.distributed": with_dask}


def tell(what, seconds):
    print(json.dumps({"what": what, "seconds": seconds}), flush=True)


def measure(what, run, calls):
    begun = time.perf_counter()
    results = run(range(calls))
    tell(what, time.perf_counter() - begun)
    assert list(results) == list(range(calls)), what


def submit(calls):
    """Measures a call that is submitted, as the executor's user sees it."""
    with berth.Executor() as executor:
        begun = time.perf_counter()
        futures = [executor.submit(empty, i) for i in range(calls)]
        tell("a submitted call", (time.perf_counter() - begun) / calls)
        for f in futures:
            f.result()


def add(tasks):
    """Measures tasks that are added to an open bag, together and one at a time, until the coordinator has brought them to the disk and
    recorded them. They wait for a task that has all cores. In turn with each a file is written and brought to the disk, which no task can
    do without."""
    bag = Bag.open([], ["/bin/sh", "-c"])
    bag.add([{"command": ["sleep", "600"], "cpus": os.cpu_count()}])
    begun = time.perf_counter()
    bag.add([{"command": ["true"], "name": f"together-{i}"} for i in range(tasks)])
    tell("an added task, together with others", (time.perf_counter() - begun) / tasks)
    added, written = [], []
    with open("written", "wb", buffering=0) as file:
        for i in range(tasks // 20):
            added.append(seconds(lambda: bag.add([{"command": ["true"], "name": f"alone-{i}"}])))
            written.append(seconds(lambda: (file.write(b"x" * 100), os.fsync(file.fileno()))))
    for what, all in ("an added task, alone", added), ("a hundred bytes that are brought to the disk, alone", written):
        tell(what, statistics.mean(all))
        tell(what + ": median", statistics.median(all))
    bag.cancel()


def seconds(do):
    begun = time.perf_counter()
    do()
    return time.perf_counter() - begun


if __name__ == "__main__":
    calls, reversed_ = int(sys.argv[1]), sys.argv[2] == "1"
    for what in list(EXECUTORS)[:: -1 if reversed_ else 1]:
        measure(what, EXECUTORS[what], calls)
    submit(calls)
    add(calls)
