#!/usr/bin/env python3
"""Binds berth to Flux (docs/scripts.md): snapshot, submit, status and cancel are links to this file.

NOT RUN: it is written by the manual pages of flux-core alone. Look at each output by hand first. Flux allocates cores and GPUs and no
memory: nodes are assumed to have that of this machine. All queues are assumed to have all nodes. A job's dependencies cannot be changed,
so wake-up jobs are replaced. What to check: whether the nodes of other users' jobs are shown.
"""

import json
import os
import re
import subprocess
import sys

AWAY = ("Unable to connect", "Connection refused", "flux_open", "Host is unreachable", "Function not implemented", "Cannot send after transport")
ALL = "1000000"  # jobs: flux lists 1000 otherwise


def run(*command, fine=()):
    """Returns what a command prints. Its failure is ours, unless it says something that is fine."""
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                         env={**os.environ, "FLUX_F58_FORCE_ASCII": "1"})
    if ran.returncode and not any(t in ran.stderr for t in fine):
        sys.stderr.write(ran.stderr or ran.stdout)
        sys.exit(69 if any(t in ran.stderr for t in AWAY) else 1)
    return ran.stdout


def table(fields, *options):
    """Returns the jobs of flux jobs as lists of fields."""
    lines = run("flux", "jobs", "--no-header", "--count=" + ALL, *options, "--format=" + "\t".join("{%s}" % f for f in fields)).splitlines()
    return [line.split("\t") for line in lines if line.count("\t") == len(fields) - 1]


def instant(text):
    return int(float(text) * 10**9) if re.fullmatch(r"[\d.]+", text) else 0


def numbers(text):
    """Returns the numbers in a set such as 0-3,7."""
    found = []
    for part in text.split(",") if text else []:
        low, _, high = part.partition("-")
        found += range(int(low), int(high or low) + 1)
    return found


def hosts(text):
    """Returns the names in a list such as a,n[1-3,7]."""
    names = []
    for head, inner in re.findall(r"([^,\[]+)(?:\[([^\]]*)\])?", text):
        for part in inner.split(",") if inner else [""]:
            low, _, high = part.partition("-")
            names += [head + str(i).zfill(len(low)) for i in range(int(low), int(high or low) + 1)] if part else [head]
    return names


def resources(states):
    """Returns the cores and GPUs of each node in these states, by its rank, and the names of all nodes there in the order of their ranks."""
    r = json.loads(run("flux", "resource", "R", "--states=" + states))["execution"]
    has = {}
    for entry in r["R_lite"]:
        for rank in numbers(str(entry["rank"])):
            children = entry["children"]
            has[rank] = {"cpus": len(numbers(children.get("core", ""))), "gpus": len(numbers(children.get("gpu", "")))}
    return has, hosts(",".join(r["nodelist"]))


def snapshot(asked):
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    (everything, names), (free, _), (down, _) = resources("all"), resources("free"), resources("down")
    ranks = sorted(everything)
    nodes = [{"name": name, "capacity": {**everything[rank], "mem_bytes": memory}, "down": "it is down or drained" if rank in down else "",
              "free": {**free.get(rank, {"cpus": 0, "gpus": 0}), "mem_bytes": memory}} for rank, name in zip(ranks, names)]
    index = {n["name"]: i for i, n in enumerate(nodes)}
    queue, me, waiting = {"running": [], "pending": []}, run("id", "-un").strip(), []
    for id, user, state, count, cores, on, start, limit, estimate, priority, dependencies, name in table(
            ("id.dec", "username", "state", "nnodes", "ncores", "nodelist", "t_run", "duration", "sched.t_estimate", "priority", "dependencies", "name"), "-A"):
        if name == asked["without"] and user == me and id != asked.get("inside"):
            continue
        count = int(count) if count.isdigit() and int(count) else 1
        job = {"id": id, "user": user, "count": count, "nodes": [index[h] for h in hosts(on) if h in index], "limit_ns": instant(limit),
               "per_node": {"cpus": -(-int(cores) // count) if cores.isdigit() else 1}, "start_ns": instant(start) or instant(estimate)}
        if state in ("RUN", "CLEANUP"):
            queue["running"].append(job)
            continue
        if state == "DEPEND" or priority == "0":
            job["held"] = dependencies or "it is held"
        waiting.append((-int(priority) if priority.isdigit() else 0, len(waiting), job))
    queue["pending"] = [job for _, _, job in sorted(waiting)]
    return {"nodes": nodes, "queue": queue}


def submit(job):
    if job.get("change"):
        sys.exit("Flux cannot change what a job waits for")
    need, batch = job["per_node"], job.get("batch", {})
    # One task for each node. The others go on when one ends.
    args = ["--nodes=%d" % job["nodes"], "--ntasks=%d" % job["nodes"], "--cores-per-task=%d" % max(need["cpus"], 1), "--setopt=exit-timeout=none",
            "--job-name=" + job["name"], "--cwd=" + job["dir"], "--output=" + job["output"], "--error=" + job["output"]]
    args += ["--gpus-per-task=%d" % need["gpus"]] if need.get("gpus") else []
    args += ["--time-limit=%ds" % -(-job["time_ns"] // 10**9)] if job.get("time_ns") else []
    args += ["--queue=" + batch["partition"]] if batch.get("partition") else []
    args += ["--bank=" + batch["account"]] if batch.get("account") else []
    args += ["--requires=" + batch["constraint"]] if batch.get("constraint") else []
    args += ["--exclusive"] if batch.get("exclusive") else []
    args += ["--requires=-host:" + ",".join(job["avoid"])] if job.get("avoid") and not batch.get("constraint") else []
    args += ["--begin-time=+%ds" % (job["delay_ns"] // 10**9)] if job.get("delay_ns") else []
    args += ["--dependency=afterany:" + id for id in job.get("after") or []]
    run_on_node = 'BERTH_BATCH_JOB=$(flux job id --to=dec "$FLUX_JOB_ID") exec "$0" "$FLUX_TASK_RANK"'
    id = run("flux", "submit", *args, "/bin/sh", "-c", run_on_node, job["script"]).strip()
    return {"id": run("flux", "job", "id", "--to=dec", id).strip()}


STATES = {"DEPEND": "waiting", "PRIORITY": "waiting", "SCHED": "waiting", "RUN": "running", "CLEANUP": "ending"}


def status(asked):
    ids = {j["id"] for j in asked["jobs"] if j.get("id")}
    scripts = {j["script"] for j in asked["jobs"] if not j.get("id")}
    jobs = []
    for id, state, result, code, start, expiration, end, on, exception, note, dependencies in table(
            ("id.dec", "state", "result", "returncode", "t_run", "expiration", "t_inactive", "nodelist", "exception.type", "exception.note", "dependencies"), "-a"):
        script = ""
        if scripts and state in STATES:
            script = json.loads(run("flux", "job", "info", id, "jobspec"))["tasks"][0]["command"][-1]
        if id not in ids and script not in scripts:
            continue
        job = {"id": id, "state": STATES.get(state, "over"), "why": "it waits for " + dependencies if state == "DEPEND" else "its nodes are not free yet",
               "start_ns": instant(start), "end_ns": instant(end) or instant(expiration), "hosts": hosts(on)}
        job.update({"script": script} if script else {})
        if result == "CANCELED":
            job.update(reason="it was cancelled " + note, taken=True)
        elif result == "TIMEOUT":
            job.update(reason="its wall time has passed")
        elif exception and job["state"] == "over" and result != "COMPLETED" and not code.isdigit():
            job.update(reason="%s: %s" % (exception, note), taken=True)
        elif job["state"] == "over":
            job["exit"] = abs(int(code or 0))
        jobs.append(job)
    return {"jobs": jobs}


def cancel(job):
    run("flux", "cancel", job["id"], fine=("inactive", "unknown job", "not found"))


answer = globals()[os.path.basename(sys.argv[0])](json.load(sys.stdin))
print(json.dumps(answer or {}))
