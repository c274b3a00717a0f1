"""Kills what a workflow of Snakemake consists of: python snakefaults.py SEED ROUNDS, in a state folder of its own.

In each round a workflow of three layers runs. Snakemake is killed with its processes and started again, and the coordinator, workers, what
forks jobs, and jobs that were forked are killed meanwhile. The workflow must end right, and no rule's job may run twice to its end. A job's
end is that of its Snakemake, which makes sure of what the rule's command has left: if a worker or this Snakemake is killed after a command
has ended, but before its job has, the attempt is lost or fails, and the command runs again. So each command that has ended belongs to an
attempt that is known: one of them was done, and a worker or a job was killed for each other.
"""

import collections
import json
import os
import random
import signal
import subprocess
import sys
import time
import typing

from kills import kill_coordinator, kill_forking, kill_worker

PARTS = 6
SNAKEFILE = """
rule all:
    input: "sum"
rule part:
    output: "part{i}"
    params: pause=lambda w: config["pauses"][int(w.i)]
    shell: "sleep {params.pause}; echo {wildcards.i} > {output}; echo {output} $BERTH_JOB_ID $BERTH_TASK_ID $BERTH_ATTEMPT >> ends"
rule pair:
    input: "part{i}", lambda w: f"part{int(w.i) + 1}"
    output: "pair{i}"
    shell: "cat {input} > {output}; echo {output} $BERTH_JOB_ID $BERTH_TASK_ID $BERTH_ATTEMPT >> ends"
rule sum:
    input: expand("pair{i}", i=range(0, %d, 2))
    output: "sum"
    shell: "cat {input} > {output}; echo {output} $BERTH_JOB_ID $BERTH_TASK_ID $BERTH_ATTEMPT >> ends"
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


def outcome(bag: str, task: str, attempt: str) -> str:
    """Returns how an attempt of a task ended."""
    said = json.loads(subprocess.run(["berth", "status", bag, "--json"], stdout=subprocess.PIPE, check=True).stdout)
    tries = [t["tries"] for t in said["tasks"] if task in (t["name"], str(t["task"] + 1))]
    return "".join(t.get("outcome", "runs") for t in tries[0] if t["attempt"] == int(attempt))


def check_ends(workflow: Workflow, killed: typing.Counter[str]) -> int:
    """Checks that each job has ended once, and returns how many commands have ended in attempts that were lost or have failed."""
    ends = collections.defaultdict(list)
    for line in workflow.read("ends").splitlines():
        output, *attempt = line.split()
        ends[output].append(attempt)
    assert len(ends) == PARTS + PARTS // 2 + 1, ends
    found: typing.Counter[str] = collections.Counter()
    for output, attempts in ends.items():
        outcomes = collections.Counter(outcome(*a) for a in attempts)
        assert outcomes["done"] == 1 and outcomes.keys() <= {"done", "lost", "failed"}, f"{output}: {attempts} are {outcomes}"
        found += outcomes
    assert found["lost"] == 0 or killed["worker"] > 0, f"{found}, and no worker was killed"
    assert found["failed"] <= killed["job"], f"{found}, and only {killed['job']} jobs were killed"
    return found["lost"] + found["failed"]


def round_of(seed: int) -> str:
    rng = random.Random(seed)
    workflow = Workflow(seed, rng)
    killed: typing.Counter[str] = collections.Counter()
    for _ in range(rng.randint(1, 3)):
        wanted = rng.randint(0, PARTS + 2)
        while not begun(workflow, wanted):
            time.sleep(0.02)
        time.sleep(rng.random() * 2)
        victim = rng.choice(("engine", "coordinator", "worker", "server", "job"))
        if victim in ("server", "job"):
            killed[victim] += kill_forking(rng, victim == "job")
            continue
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
    try:
        again = check_ends(workflow, killed)
    except AssertionError as e:
        raise AssertionError(f"seed {seed}, killed {dict(killed)}: {e}:\n{log}") from e
    return f"seed {seed}: killed {dict(killed)}, {again} commands have ended in attempts that were lost or have failed"


if __name__ == "__main__":
    for seed in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
        begun_at = time.monotonic()
        print(round_of(seed), f"in {time.monotonic() - begun_at:.1f} s", flush=True)
