"""Kills what a workflow of Nextflow consists of: python nextfaults.py SEED ROUNDS, in a state folder of its own, with nextflow on PATH.

In each round a workflow of three layers runs by Nextflow's executor for HyperQueue with berth's hq. Nextflow is killed and started again, the
coordinator and workers are killed meanwhile, and workers are told to end, as at the end of an allocation. No process may fail, as Nextflow
retries none here. No process may run twice to its end in one folder of Nextflow, but in an attempt that was lost with its worker; a Nextflow
that is started again begins what its predecessor had not noted once more, in another folder.
"""

import collections
import os
import random
import signal
import subprocess
import time

from kills import Killable, kill_coordinator, kill_worker, outcome, rounds

PARTS = 6
NOTE = "echo \\$PWD \\$BERTH_JOB_ID \\$BERTH_TASK_ID \\$BERTH_ATTEMPT >> ${params.dir}"
MAIN = """
process part {
    input: tuple val(i), val(pause)
    output: path "part$i"
    script: "%(note)s/begun; sleep $pause; echo $i > part$i; %(note)s/ends"
}
process pair {
    input: path parts
    output: path 'pair'
    script: "%(note)s/begun; sort -n $parts > pair; %(note)s/ends"
}
process total {
    input: path 'pair*'
    script: "%(note)s/begun; sort -n pair* > ${params.dir}/sum; %(note)s/ends"
}
workflow {
    channel.fromList(params.pauses.tokenize(',')).toList().flatMap { all -> all.withIndex().collect { p, i -> [i, p] } } | part
    part.out | buffer(size: 2) | pair | collect | total
}
""" % {"note": NOTE}
CONFIG = """
executor.$hq.pollInterval = '200 ms'
executor.$hq.queueStatInterval = '1 sec'
"""


class Workflow(Killable):
    """A workflow in a folder of its own, whose Nextflow can be killed and started again."""

    def __init__(self, seed: int, rng: random.Random) -> None:
        short = os.path.abspath(f"w{seed}")  # a name for the shell
        pauses = ",".join(str(rng.choice((0, 0.1, 1, 2))) for _ in range(PARTS))
        super().__init__(f"workflow {seed}",
                         ["nextflow", "run", "main.nf", "-process.executor", "hq", "-resume", f"--pauses={pauses}", f"--dir={short}"])
        self.env = {**os.environ, "PATH": f"{self.path('hq/bin')}:{os.environ['PATH']}", "NXF_ANSI_LOG": "false"}
        for name, text in (("main.nf", MAIN), ("nextflow.config", CONFIG), ("begun", ""), ("ends", "")):
            self.write(name, text)
        os.symlink(self.folder, short)
        subprocess.run(["berth", "hq-home", "hq"], cwd=self.folder, stdout=subprocess.DEVNULL, check=True)
        self.start()

    def hq(self, *words: str) -> None:
        subprocess.run(["hq", *words], cwd=self.folder, env=self.env, stdout=subprocess.DEVNULL, check=True)


def check_ends(workflow: Workflow, killed: int) -> int:
    """Checks that no process has ended twice in a folder, and returns how many have ended in attempts that were lost with their workers."""
    ends = collections.defaultdict(list)
    for line in workflow.read("ends").splitlines():
        folder, *attempt = line.rsplit(" ", 3)
        ends[folder].append(attempt)
    lost = 0
    for folder, attempts in ends.items():
        outcomes = sorted(outcome(*a) for a in attempts)
        assert outcomes[:1] in (["done"], ["lost"]) and set(outcomes[1:]) <= {"lost"}, f"{folder}: {attempts} are {outcomes}"
        lost += outcomes.count("lost")
    assert len(ends) >= PARTS + PARTS // 2 + 1, ends
    assert lost == 0 or killed > 0, f"{lost} are lost, and no worker was killed"
    return lost


def round_of(seed: int) -> str:
    rng = random.Random(seed)
    workflow = Workflow(seed, rng)
    killed = collections.Counter()
    for _ in range(rng.randint(1, 3)):
        wanted = rng.randint(0, PARTS + 2)
        while workflow.process.poll() is None and workflow.read("begun").count("\n") < wanted:
            time.sleep(0.02)
        time.sleep(rng.random() * 2)
        victim = rng.choice(("engine", "coordinator", "worker", "end"))
        killed[victim] += 1
        if victim == "coordinator":
            kill_coordinator()
        elif victim == "worker":
            kill_worker(rng)
        elif victim == "end":
            kill_worker(rng, signal.SIGTERM)
        elif workflow.process.poll() is None:
            workflow.kill()
            workflow.start()
    status = workflow.process.wait()
    log = workflow.read("log")
    assert status == 0, f"seed {seed}, killed {dict(killed)}: Nextflow ended with {status}:\n{log}"
    assert workflow.read("sum") == "".join(f"{i}\n" for i in range(PARTS)), f"seed {seed}: {workflow.read('sum')}"
    workflow.hq("job", "wait", "all")
    workflow.hq("server", "stop")
    try:
        lost = check_ends(workflow, killed["worker"] + killed["end"])
    except AssertionError as e:
        raise AssertionError(f"seed {seed}, killed {dict(killed)}: {e}:\n{log}") from e
    return f"seed {seed}: killed {dict(killed)}, {lost} processes have ended in attempts that were lost"


if __name__ == "__main__":
    rounds(round_of)
