#!/usr/bin/env python3
"""Binds berth to IBM Spectrum LSF 10.1 (docs/scripts.md): snapshot, submit, status and cancel are links to this file.

NOT RUN: it is written by LSF's command reference alone. Look at each output by hand first. What to check: that a slot is a core; that
blaunch passes SIGTERM on; that users see the jobs of others; which queues have which hosts (all of them, as written here).
"""

import datetime
import json
import os
import re
import shlex
import subprocess
import sys
import time

AWAY = ("LSF is down", "Cannot connect", "not responding", "Communication time out", "mbatchd", "Failed in an LSF library call")
LATER = ("threshold reached", "job limit", "Pending job")


def run(*command, text=None, fine=()):
    """Returns what a command prints. Its failure is ours, unless it says something that is fine."""
    ran = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, env={**os.environ, "LC_ALL": "C"})
    said = ran.stderr + ran.stdout
    if ran.returncode and not any(t in said for t in fine):
        sys.stderr.write(ran.stderr or ran.stdout)
        sys.exit(69 if any(t in said for t in AWAY) else 75 if any(t in said for t in LATER) else 1)
    return ran.stdout


def records(*command):
    """Returns the rows of a command with -o and -json."""
    printed = run(*command, fine=("No job found", "No unfinished job", "No matching", "is not found"))
    return json.loads(printed)["RECORDS"] if printed.strip().startswith("{") else []


def instant(text):
    """Returns a time as bjobs prints it, such as "Nov 28 17:00" or "Nov 28 17:00:05 2026 L", 0 if there is none."""
    text = re.sub(r"\s+[A-Z]$", "", text.strip())
    for form in ("%b %d %H:%M:%S %Y", "%b %d %H:%M %Y"):
        for year in ("", " %d" % datetime.date.today().year):
            try:
                return int(datetime.datetime.strptime(text + year, form).timestamp()) * 10**9
            except ValueError:
                pass
    return 0


def size(text):
    """Returns an amount of memory such as 15.5G in bytes."""
    found = re.match(r"([\d.]+)\s*([KMGTP]?)", text or "")
    return int(float(found.group(1)) * 1024 ** " KMGTP".index(found.group(2) or " ")) if found else 0


def slots(text):
    """Returns the slots of each host in a list such as 2*a:b:2*c."""
    on = {}
    for part in text.split(":") if text != "-" else []:
        number, _, host = part.rpartition("*")
        on[host] = on.get(host, 0) + int(number or 1)
    return {h: n for h, n in on.items() if h}


def snapshot(asked):
    memory = {h["HOST_NAME"]: size(h["MAXMEM"]) for h in records("lshosts", "-o", "HOST_NAME MAXMEM", "-json")}
    nodes = [{"name": h["HOST_NAME"], "capacity": {"cpus": int(h["MAX"]), "mem_bytes": memory[h["HOST_NAME"]]},
              "down": "" if h["STATUS"] in ("ok", "closed_Full", "closed_Excl", "closed") else h["STATUS"]}
             for h in records("bhosts", "-o", "host_name status max", "-json") if h["MAX"].isdigit() and int(h["MAX"]) and memory.get(h["HOST_NAME"])]
    index = {n["name"]: i for i, n in enumerate(nodes)}
    default = re.search(r"Default Queues:\s*(\S+)", run("bparams"))
    queue = {"grain_ns": 60 * 10**9, "running": [], "pending": [], "partitions": [
        {"name": q["QUEUE_NAME"], "default": bool(default) and q["QUEUE_NAME"] == default.group(1), "nodes": list(range(len(nodes))),
         "closed": "" if q["STATUS"].startswith("Open") else "it is " + q["STATUS"]} for q in records("bqueues", "-o", "queue_name status", "-json")]}
    me = run("id", "-un").strip()
    for j in records("bjobs", "-u", "all", "-o", "jobid user queue stat slots exec_host start_time runtimelimit job_name", "-json"):
        if j["JOB_NAME"] == asked["without"] and j["USER"] == me and j["JOBID"] != asked.get("inside"):
            continue
        on = slots(j["EXEC_HOST"])
        total, minutes = int(j["SLOTS"]) if j["SLOTS"].isdigit() else 1, re.match(r"[\d.]+", j["RUNTIMELIMIT"])
        job = {"id": j["JOBID"], "user": j["USER"], "partition": j["QUEUE"], "count": max(len(on), 1), "nodes": [index[h] for h in on if h in index],
               "per_node": {"cpus": max(on.values()) if on else total}, "start_ns": instant(j["START_TIME"]),
               "limit_ns": int(float(minutes.group()) * 60) * 10**9 if minutes else 0}
        if j["STAT"] == "PSUSP":
            job["held"] = "it is suspended"
        queue["pending" if j["STAT"] in ("PEND", "PSUSP") else "running"].append(job)
    return {"nodes": nodes, "queue": queue}


def submit(job):
    wait = []
    if job.get("delay_ns"):  # whole minutes, rounded up
        wait += ["-b", time.strftime("%Y:%m:%d:%H:%M", time.localtime(time.time() + job["delay_ns"] / 1e9 + 60))]
    if job.get("after"):
        wait += ["-w", " && ".join("ended(%s)" % id for id in job["after"])]
    if job.get("change"):
        given = wait[::2]
        run("bmod", *wait, *[o for o, was in (("-bn", "-b"), ("-wn", "-w")) if was not in given], job["change"])
        return {"id": job["change"]}
    need, batch = job["per_node"], job.get("batch", {})
    cpus = max(need["cpus"], 1)
    args = ["-n", str(job["nodes"] * cpus), "-R", "span[ptile=%d]" % cpus, "-J", job["name"], "-Jd", job["script"], "-cwd", job["dir"], "-o", job["output"], "-rn"]
    args += ["-R", "rusage[mem=%dMB/host]" % -(-need["mem_bytes"] // 2**20)] if need["mem_bytes"] else []
    args += ["-W", str(-(-job["time_ns"] // (60 * 10**9)))] if job.get("time_ns") else []
    args += [a for option, name in (("-q", "partition"), ("-P", "account"), ("-sla", "qos"), ("-R", "constraint")) if batch.get(name)
             for a in (option, batch[name] if name != "constraint" else "select[%s]" % batch[name])]
    args += ["-gpu", "num=%d/host" % need["gpus"]] if need.get("gpus") else []
    args += ["-x"] if batch.get("exclusive") else []
    args += ["-R", "select[%s]" % " && ".join("hname!='%s'" % h for h in job["avoid"])] if job.get("avoid") else []
    said = run("bsub", *args, *wait, text="""#!/bin/sh
export BERTH_BATCH_JOB="$LSB_JOBID"
pids= rank=0
trap 'kill $pids 2>/dev/null' TERM
set -- $LSB_MCPU_HOSTS
while [ $# -gt 1 ]; do
  blaunch "$1" %s "$rank" "$1" &
  pids="$pids $!" rank=$((rank + 1))
  shift 2
done
failed=0
for pid in $pids; do
  wait "$pid" || failed=$?
  ! kill -0 "$pid" 2>/dev/null || wait "$pid" || failed=$? # a signal interrupted the wait before
done
exit $failed
""" % shlex.quote(job["script"]))
    return {"id": re.search(r"Job <(\d+)>", said).group(1)}


STATES = {"PEND": "waiting", "PSUSP": "suspended", "RUN": "running", "SSUSP": "suspended", "USUSP": "suspended", "ZOMBI": "ending", "UNKWN": "running",
          "WAIT": "waiting", "PROV": "starting"}


def status(asked):
    ids = {j["id"] for j in asked["jobs"] if j.get("id")}
    scripts = {j["script"] for j in asked["jobs"] if not j.get("id")}
    jobs = []
    for j in records("bjobs", "-a", "-o", "jobid stat exec_host exit_code exit_reason pend_reason start_time finish_time job_description", "-json"):
        if j["JOBID"] not in ids and j["JOB_DESCRIPTION"] not in scripts:
            continue
        job = {"id": j["JOBID"], "script": j["JOB_DESCRIPTION"], "state": STATES.get(j["STAT"], "over"), "why": j["PEND_REASON"], "start_ns": instant(j["START_TIME"]),
               "end_ns": instant(j["FINISH_TIME"]), "hosts": list(slots(j["EXEC_HOST"]))}
        why = j["EXIT_REASON"]
        if job["state"] == "over" and why.startswith("TERM_") and not why.startswith("TERM_UNKNOWN"):
            job["reason"] = "it was cancelled: " + why if "OWNER" in why or "ADMIN" in why else why
            job["taken"] = any(t in why for t in ("OWNER", "ADMIN", "PREEMPT", "FORCE", "REQUEUE"))
        elif job["state"] == "over":
            job["exit"] = int(j["EXIT_CODE"]) if j["EXIT_CODE"].isdigit() else 0
        jobs.append(job)
    return {"jobs": jobs}


def cancel(job):
    run("bkill", *["-r"] * job.get("again", False), job["id"], fine=("already finished", "No matching job", "being terminated"))


answer = globals()[os.path.basename(sys.argv[0])](json.load(sys.stdin))
print(json.dumps(answer or {}))
