"""Kills what a workflow of Snakemake consists of: python snakefaults.py SEED ROUNDS, in a state folder of its own.

In each round a workflow of three layers runs. Snakemake is killed with its processes and started again, and the coordinator and workers
are killed meanwhile. The workflow must end right, and no rule's job may run twice to its end, except where a worker was killed after
the command of a job had ended and before the job had: at most one for each slot of that worker.
"""

import collections
import os
import random
import signal
import subprocess
import sys
import time

from kills import kill_coordinator, kill_worker

PARTS = 6
SNAKEFILE = """
rule all:
    input: "sum"
rule part:
    output: "part{i}"
    params: pause=lambda w: config["pauses"][int(w.i)]
    shell: "sleep {params.pause}; echo {wildcards.i} > {output}; echo {output} >> ends"
rule pair:
    input: "part{i}", lambda w: f"part{int(w.i) + 1}"
    output: "pair{i}"
    shell: "cat {input} > {output}; echo {output} >> ends"
rule sum:
    input: expand("pair{i}", i=range(0, %d, 2))
    output: "sum"
    shell: "cat {input} > {output}; echo {output} >> ends"
""" % PARTS
COMMAND = ["snakemake", "--executor", "berth", "--jobs", "unlimited", "--rerun-incomplete", "--retries", "3"]


class Workflow:
    """A workflow in a folder of its own, whose Snakemake can be killed and started again."""

    def __init__(self, seed: int, rng: random.Random) -> None:
        self.folder = os.path.abspath(f"workflow-{seed}")
        os.mkdir(self.folder)
        with open(self.path("Snakefile"), "w") as f:
            f.write(SNAKEFILE)
        self.pauses = [rng.choice((0, 0.1, 1, 2)) for _ in range(PARTS)]
        self.start()

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def start(self) -> None:
        with open(self.path("log"), "a") as log:
            command = [*COMMAND, "--config", f"pauses={self.pauses}"]
            self.process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, start_new_session=True)

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        with open(self.path("log"), "a") as log:
            subprocess.run(["snakemake", "--unlock"], cwd=self.folder, stdout=log, stderr=log, check=True)

    def read(self, name: str) -> str:
        with open(self.path(name)) as f:
            return f.read()


def begun(workflow: Workflow, wanted: int) -> bool:
    """Reports whether as many jobs have a log, which a task of berth has from its begin on, and the workflow goes on."""
    logs = workflow.path(".snakemake/berth_logs")
    return workflow.process.poll() is not None or sum(len(files) for _, _, files in os.walk(logs)) >= wanted


def round_of(seed: int) -> str:
    rng = random.Random(seed)
    workflow = Workflow(seed, rng)
    killed = collections.Counter()
    for _ in range(rng.randint(1, 3)):
        wanted = rng.randint(0, PARTS + 2)
        while not begun(workflow, wanted):
            time.sleep(0.02)
        time.sleep(rng.random() * 2)
        victim = rng.choice(("engine", "coordinator", "worker"))
        killed[victim] += 1
        if victim == "coordinator":
            kill_coordinator()
        elif victim == "worker":
            kill_worker(rng)
        elif workflow.process.poll() is None:
            workflow.kill()
            workflow.start()
    status = workflow.process.wait()
    log = workflow.read("log")
    assert status == 0, f"seed {seed}: Snakemake ended with {status}:\n{log}"
    assert workflow.read("sum") == "".join(f"{i}\n" for i in range(PARTS)), f"seed {seed}: {workflow.read('sum')}"
    ends = collections.Counter(workflow.read("ends").split())
    assert len(ends) == PARTS + PARTS // 2 + 1, f"seed {seed}: {ends}"
    twice = {job: n for job, n in ends.items() if n > 1}
    assert len(twice) <= killed["worker"] * (os.cpu_count() or 1), f"seed {seed}: run to their ends more than once: {twice}:\n{log}"
    return f"seed {seed}: killed {dict(killed)}, twice {len(twice)}"


if __name__ == "__main__":
    for seed in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
        begun_at = time.monotonic()
        print(round_of(seed), f"in {time.monotonic() - begun_at:.1f} s", flush=True)
