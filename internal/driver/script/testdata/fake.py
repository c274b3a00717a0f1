#!/usr/bin/env python3
"""A scheduler of this test: its state is a folder with one folder for each job, and its jobs are processes of this machine.

snapshot, submit, status and cancel are links to this file. $FAKE_STATE is the folder. Nodes are f1, f2 …, and jobs that have begun start at once.
"""

import json
import os
import signal
import subprocess
import sys
import time

STATE, HERE = os.environ["FAKE_STATE"], os.path.abspath(__file__)


def read(*path):
    try:
        with open(os.path.join(STATE, *path)) as f:
            return f.read()
    except FileNotFoundError:
        return ""


def write(text, *path):
    """Others see the whole text or none of it."""
    path = os.path.join(STATE, *path)
    with open("%s.%d" % (path, os.getpid()), "w") as f:
        f.write(text)
    os.rename(f.name, path)


def hosts(job):
    return ["f%d" % (rank + 1) for rank in range(job["nodes"])]


def snapshot(asked):
    return {"nodes": [{"name": "f%d" % i, "capacity": {"cpus": 4, "mem_bytes": 4 << 30}} for i in range(1, 5)]}


def submit(job):
    if job.get("change"):
        write(json.dumps({**json.loads(read(job["change"], "job")), "after": job.get("after"), "delay_ns": job.get("delay_ns")}), job["change"], "job")
        return {"id": job["change"]}
    for number in range(1, 1000):
        try:
            os.mkdir(os.path.join(STATE, "f.%d" % number))
            break
        except FileExistsError:
            pass
    id = "f.%d" % number
    write(json.dumps({**job, "at": time.time()}), id, "job")
    with open(job["output"], "a") as out:
        subprocess.Popen([HERE, id], stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
    return {"id": id}


def over(id):
    return bool(read(id, "end")) or not read(id, "job")


def serve(id):
    """Runs a job: waits for what it waits for, starts a process for each node, and ends them."""
    job, now = json.loads(read(id, "job")), time.time()
    while not read(id, "cancel") and (any(not over(other) for other in job.get("after") or []) or now < job["at"] + (job.get("delay_ns") or 0) / 1e9):
        time.sleep(0.05)
        job, now = json.loads(read(id, "job")), time.time()
    ends = now + job["time_ns"] / 1e9 if job.get("time_ns") else 0
    write("%d %d" % (now * 1e9, ends * 1e9), id, "start")
    ranks = [] if read(id, "cancel") else [subprocess.Popen([job["script"], str(rank), host], cwd=job["dir"], start_new_session=True,
                                                            env={**os.environ, "BERTH_BATCH_JOB": id}) for rank, host in enumerate(hosts(job))]
    why = ""
    while any([p.poll() is None for p in ranks]):
        if not why and (read(id, "cancel") or ends and time.time() > ends):
            why = "it was cancelled" if read(id, "cancel") else "its wall time has passed"
            for p in ranks:
                try:
                    os.killpg(p.pid, signal.SIGTERM)
                except ProcessLookupError:
                    pass
        time.sleep(0.05)
    why = why or read(id, "cancel")
    write(json.dumps({"reason": why, "taken": bool(read(id, "cancel"))} if why else {"exit": max([0] + [p.returncode & 255 for p in ranks])}), id, "end")


def status(asked):
    ids = {j["id"] for j in asked["jobs"] if j.get("id")}
    scripts = {j["script"] for j in asked["jobs"] if not j.get("id")}
    jobs = []
    for id in os.listdir(STATE):
        if not read(id, "job"):
            continue
        job = json.loads(read(id, "job"))
        if id not in ids and job["script"] not in scripts:
            continue
        start, end = (int(t) for t in (read(id, "start") or "0 0").split())
        said = {"id": id, "script": job["script"], "start_ns": start, "end_ns": end, "state": "running" if start else "waiting", "why": "it is not its turn"}
        if read(id, "end"):
            said.update(json.loads(read(id, "end")), state="over")
        elif start:
            said["hosts"] = hosts(job)
        jobs.append(said)
    return {"jobs": jobs}


def cancel(job):
    if read(job["id"], "job"):
        write("it was cancelled", job["id"], "cancel")


if len(sys.argv) > 1:
    serve(sys.argv[1])
else:
    answer = globals()[os.path.basename(sys.argv[0])](json.load(sys.stdin))
    print(json.dumps(answer or {}))
