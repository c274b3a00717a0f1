"""Prints how long a map of empty functions takes with berth.Executor and with ProcessPoolExecutor: python compare.py [CALLS [ROUNDS]]"""

import concurrent.futures
import sys
import time

import berth


def empty(i):
    return i


def submit_time(executor, n):
    begun = time.perf_counter()
    futures = [executor.submit(empty, i) for i in range(n)]
    seconds = time.perf_counter() - begun
    for f in futures:
        f.result()
    return seconds / n


if __name__ == "__main__":
    calls, rounds = (int(w) for w in (sys.argv[1:] + ["10000", "3"][len(sys.argv) - 1:]))
    for _ in range(rounds):
        for make in (berth.Executor, concurrent.futures.ProcessPoolExecutor):
            begun = time.perf_counter()
            with make() as executor:
                assert list(executor.map(empty, range(calls))) == list(range(calls))
            print(f"{make.__name__:20s} {time.perf_counter() - begun:6.2f} s for a map of {calls}", flush=True)
    with berth.Executor() as executor:
        print(f"submit: {submit_time(executor, calls) * 1e6:.0f} µs for each call")
