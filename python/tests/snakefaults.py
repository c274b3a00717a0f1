"""Kills what a workflow of Snakemake consists of: python snakefaults.py SEED ROUNDS, in a state folder of its own.

In each round a workflow of three layers runs. Snakemake is killed with its processes and started again, and the coordinator, workers, what
forks jobs, and jobs that were forked are killed meanwhile. The workflow must end right, and no rule's job may run twice to its end. A job's
end is that of its Snakemake, which makes sure of what the rule's command has left: if a worker or this Snakemake is killed after a command
has ended, but before its job has, the attempt is lost or fails, and the command runs again. So each command that has ended belongs to an
attempt that is known: one of them was done, and a worker or a job was killed for each other.
"""

import collections
import os
import random
import subprocess
import time
import typing

from kills import Killable, check_attempts, kill_coordinator, kill_forking, kill_worker, rounds

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


class Workflow(Killable):
    """A workflow in a folder of its own, whose Snakemake can be killed and started again."""

    def __init__(self, seed: int, rng: random.Random) -> None:
        self.pauses = [rng.choice((0, 0.1, 1, 2)) for _ in range(PARTS)]
        super().__init__(f"workflow-{seed}", [*COMMAND, "--config", f"pauses={self.pauses}"])
        self.write("Snakefile", SNAKEFILE)
        self.start()

    def kill(self) -> None:
        super().kill()
        with open(self.path("log"), "a") as log:
            subprocess.run(["snakemake", "--unlock"], cwd=self.folder, stdout=log, stderr=log, check=True)


def begun(workflow: Workflow, wanted: int) -> bool:
    """Reports whether as many jobs have a log, which a task of berth has from its begin on, and the workflow goes on."""
    logs = workflow.path(".snakemake/berth_logs")
    return workflow.process.poll() is not None or sum(len(files) for _, _, files in os.walk(logs)) >= wanted


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
    said, log = f"seed {seed}, killed {dict(killed)}", workflow.read("log")
    assert status == 0, f"{said}: Snakemake ended with {status}:\n{log}"
    assert workflow.read("sum") == "".join(f"{i}\n" for i in range(PARTS)), f"{said}: {workflow.read('sum')}"
    found = check_attempts(f"{log}\n{said}", workflow.read("ends"), PARTS + PARTS // 2 + 1)
    assert found["lost"] == 0 or killed["worker"] > 0, f"{log}\n{said}: {found}, and no worker was killed"
    assert found["failed"] <= killed["job"], f"{log}\n{said}: {found}, and only {killed['job']} jobs were killed"
    return f"{said}, {found['lost'] + found['failed']} commands have ended in attempts that were lost or have failed"


if __name__ == "__main__":
    rounds(round_of)
