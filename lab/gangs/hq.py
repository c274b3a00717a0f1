"""Runs tasks with HyperQueue: FILE SERVER-FOLDER NODES CORES PRIORITY-OF-GANGS."""

import json
import sys
from pathlib import Path

from hyperqueue import Job
from hyperqueue.cluster import LocalCluster, WorkerConfig
from hyperqueue.ffi.protocol import ResourceRequest

tasks, folder = Path(sys.argv[1]), sys.argv[2]
nodes, cores, priority = map(int, sys.argv[3:])
with LocalCluster(folder) as cluster:
    for _ in range(nodes):
        cluster.start_worker(WorkerConfig(cores=cores))
    job = Job(default_workdir=tasks.parent)
    for line in tasks.read_text().splitlines():
        t = json.loads(line)
        gang = "ranks" in t
        request = ResourceRequest(n_nodes=t.get("ranks", 0), cpus=t["cpus"])
        if gang:  # whole nodes, of which no cores are requested
            request.resources = {}
        job.program(
            t["command"],
            stdout=None,
            stderr=None,
            task_dir=gang,
            priority=priority if gang else 0,
            resources=request,
        )
    client = cluster.client()
    client.wait_for_jobs([client.submit(job)])
