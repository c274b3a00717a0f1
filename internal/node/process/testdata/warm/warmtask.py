"""Prints what a process has that its task can see, and ends as its first argument says."""

import ctypes
import importlib.util
import json
import os
import random
import resource
import signal
import sys
import threading
import time

if __name__ == "__main__":
    how, started, place = sys.argv[1:]
    drawn = [str(getattr(sys.modules.get("numpy.random.mtrand"), "_rand", random).random()), open("/proc/self/cmdline").read().split("\0")[2]]
    with open(started, "w") as f:
        f.write(" ".join(drawn))
    del f, drawn, started
    death = ctypes.c_int()
    ctypes.CDLL(None).prctl(2, ctypes.byref(death))
    descriptors = {int(fd): os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")}
    print(json.dumps({
        "argv": [sys.argv[0], *sys.argv[3:]], "orig": [sys.orig_argv[:4], sys.orig_argv[5:]], "path": sys.path, "flags": str(sys.flags),
        "main": sorted(globals()), "file": __file__, "spec": __spec__.name, "environ": sorted(os.environ.items()),
        "proc": sorted(kv for kv in open("/proc/self/environ").read().split("\0") if kv), "folder": os.getcwd(), "mask": os.umask(0),
        "cores": sorted(os.sched_getaffinity(0)), "descriptors": {fd: place not in to or fd for fd, to in descriptors.items()},
        "limits": {n: resource.getrlimit(getattr(resource, n)) for n in dir(resource) if n.startswith("RLIMIT_")},
        "group": os.getpgid(0) == os.getpid(), "session": os.getsid(0), "parent": os.getppid(), "nice": os.nice(0), "death": death.value,
        "handlers": {s.name: str(signal.getsignal(s)) for s in signal.Signals}, "mask of signals": str(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "threads": [t.name for t in threading.enumerate()], "input": sys.stdin.read(), "buffered": [sys.stdout.line_buffering, sys.stdout.encoding],
        "used": time.process_time() < 1, "later": importlib.util.find_spec("later") is not None,
    }, indent=1), flush=True)
    if how == "raise":
        raise ValueError("no file")
    if how in ("INT", "KILL"):
        os.kill(os.getpid(), getattr(signal, "SIG" + how))
    if how == "daemon" and os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(0)
    sys.exit(7)
