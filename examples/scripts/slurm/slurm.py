#!/usr/bin/env python3
"""Binds berth to Slurm (docs/scripts.md): snapshot, submit, status and cancel are links to this file. berth --on slurm knows much more."""

import json
import os
import re
import shlex
import subprocess
import sys

AWAY = ("Unable to contact", "Socket timed out", "Connection refused", "Zero Bytes", "slurm_load", "Transport endpoint")
LATER = ("SubmitJobLimit", "MaxSubmit", "QOSMaxSubmit", "temporarily")
GOOD = ("IDLE", "MIXED", "ALLOCATED", "COMPLETING", "RESERVED", "PLANNED")


def run(*command, text=None):
    """Returns what a command prints. Its failure is ours, with the exit status that says of which kind it is."""
    ran = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                         env={**os.environ, "SLURM_TIME_FORMAT": "%s"})
    if ran.returncode:
        sys.stderr.write(ran.stderr or ran.stdout)
        said = ran.stderr + ran.stdout
        sys.exit(69 if any(t in said for t in AWAY) else 75 if any(t in said for t in LATER) else 1)
    return ran.stdout


def table(command, fields, *options):
    """Returns the lines of squeue or sinfo as lists of fields."""
    return [line.split("\x1f")[:len(fields)] for line in run(command, "--noheader", *options,
            "--Format=" + ",".join(f + ":\x1f" for f in fields)).splitlines() if "\x1f" in line]


def span(text):
    """Returns a length of time such as 1-02:03:04 or 5:00 in nanoseconds, 0 if there is none."""
    days, _, clock = text.rpartition("-")
    if not re.fullmatch(r"[\d:]+", clock):
        return 0
    total = 0
    for part in clock.split(":"):
        total = total * 60 + int(part)
    return (total + 86400 * int(days or 0)) * 10**9


def instant(text):
    return int(text) * 10**9 if text.isdigit() else 0


def hosts(text):
    """Returns the names in a list such as a,n[1-3,7]."""
    names = []
    for head, inner in re.findall(r"([^,\[]+)(?:\[([^\]]*)\])?", text if text != "(null)" else ""):
        for part in inner.split(",") if inner else [""]:
            low, _, high = part.partition("-")
            names += [head + str(i).zfill(len(low)) for i in range(int(low), int(high or low) + 1)] if part else [head]
    return names


def snapshot(asked):
    nodes, partitions = {}, {}
    for name, partition, cpus, memory, state, limit, default in table(
            "sinfo", ("NodeList", "Partition", "CPUs", "Memory", "StateLong", "Time", "DefaultTime"), "--Node"):
        state = state.upper()
        down = "" if state in GOOD else state.lower()
        nodes.setdefault(name, (len(nodes), {"name": name, "capacity": {"cpus": int(cpus), "mem_bytes": int(memory) << 20}, "down": down}))
        p = partitions.setdefault(partition, {"name": partition.rstrip("*"), "default": partition.endswith("*"), "nodes": [],
                                              "max_time_ns": span(limit), "default_time_ns": span(default)})
        p["nodes"].append(nodes[name][0])
    queue = {"partitions": list(partitions.values()), "running": [], "pending": []}
    me = run("id", "-un").strip()
    for id, user, partition, state, count, on, cpus, memory, start, limit, reason, name in table(
            "squeue", ("JobID", "UserName", "Partition", "State", "NumNodes", "NodeList", "NumCPUs", "MinMemory", "StartTime", "TimeLimit", "Reason", "Name"),
            "--all", "--noconvert", "--states=RUNNING,PENDING,COMPLETING,SUSPENDED", "--sort=-p"):
        if name == asked["without"] and user == me and id != asked.get("inside"):
            continue
        count = max(int(count), 1)
        size = int(re.match(r"\d*", memory).group() or 0) << 20
        job = {"id": id, "user": user, "partition": partition.split(",")[0], "count": count, "start_ns": instant(start), "limit_ns": span(limit),
               "per_node": {"cpus": -(-int(cpus) // count), "mem_bytes": size}, "nodes": [nodes[n][0] for n in hosts(on) if n in nodes]}
        if state == "PENDING" and (reason.startswith("JobHeld") or reason in ("Dependency", "BeginTime")):
            job["held"] = reason
        queue["pending" if state == "PENDING" else "running"].append(job)
    return {"nodes": [n for _, n in nodes.values()], "queue": queue}


def submit(job):
    seconds = job.get("delay_ns", 0) // 10**9
    begin = "now+%d" % seconds if seconds else "now"
    after = "afterany:" + ":".join(job["after"]) if job.get("after") else ""
    if job.get("change"):
        run("scontrol", "update", "JobId=" + job["change"], "StartTime=" + begin, "Dependency=" + after)
        return {"id": job["change"]}
    need, batch = job["per_node"], job.get("batch", {})
    args = ["--parsable", "--no-requeue", "--no-kill", "--export=ALL", "--open-mode=append", "--job-name=" + job["name"], "--comment=" + job["script"],
            "--chdir=" + job["dir"], "--output=" + job["output"].replace("%", "%%"), "--nodes=%d" % job["nodes"], "--ntasks-per-node=1",
            "--cpus-per-task=%d" % max(need["cpus"], 1), "--mem=%dM" % -(-need["mem_bytes"] // 2**20)]
    args += ["--time=%d" % -(-job["time_ns"] // (60 * 10**9))] if job.get("time_ns") else []
    args += ["--%s=%s" % (name, batch[name]) for name in ("partition", "account", "qos", "constraint") if batch.get(name)]
    args += ["--gpus-per-node=%d" % need["gpus"]] if need.get("gpus") else []
    args += ["--exclusive"] if batch.get("exclusive") else []
    args += ["--exclude=" + ",".join(job["avoid"])] if job.get("avoid") else []
    args += ["--begin=" + begin] * bool(seconds) + ["--dependency=" + after] * bool(after)
    return {"id": run("sbatch", *args, text="""#!/bin/sh
trap : TERM # the workers get it, too, and are waited for
export BERTH_BATCH_JOB="$SLURM_JOB_ID"
SLURM_OVERLAP=1 srun --nodes="$SLURM_JOB_NUM_NODES" --ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 --cpus-per-task="$SLURM_CPUS_PER_TASK" \\
  --mem=0 --cpu-bind=none --export=ALL --input=none --kill-on-bad-exit=0 --no-kill --wait=0 \\
  /bin/sh -c 'exec "$0" "$SLURM_PROCID" "$SLURMD_NODENAME"' %s
""" % shlex.quote(job["script"])).strip().split(";")[0]}


STATES = {"PENDING": "waiting", "CONFIGURING": "starting", "RUNNING": "running", "COMPLETING": "ending", "SUSPENDED": "suspended", "STOPPED": "suspended"}
REASONS = {"CANCELLED": "it was cancelled", "PREEMPTED": "it was preempted", "NODE_FAIL": "one of its nodes failed", "TIMEOUT": "its wall time has passed",
           "OUT_OF_MEMORY": "it has used more memory than it requested"}


def status(asked):
    ids = {j["id"] for j in asked["jobs"] if j.get("id")}
    scripts = {j["script"] for j in asked["jobs"] if not j.get("id")}
    jobs = []
    for id, state, why, start, end, on, exit, script in table(
            "squeue", ("JobID", "State", "Reason", "StartTime", "EndTime", "NodeList", "exit_code", "Comment"), "--me", "--states=all"):
        if id not in ids and script not in scripts:
            continue
        job = {"id": id, "script": script, "state": STATES.get(state, "over"), "why": why, "start_ns": instant(start), "end_ns": instant(end), "hosts": hosts(on)}
        if state in REASONS:
            job.update(reason=REASONS[state], taken=state in ("CANCELLED", "PREEMPTED", "NODE_FAIL"))
        elif job["state"] == "over":
            job["exit"] = int(exit.split(":")[0] or 0)
        jobs.append(job)
    return {"jobs": jobs}


def cancel(job):
    run("scancel", job["id"])


answer = globals()[os.path.basename(sys.argv[0])](json.load(sys.stdin))
print(json.dumps(answer) if answer is not None else "{}")
