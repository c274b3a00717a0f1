"""Kills what jobs of R's package batchtools consist of: python rfaults.py SEED ROUNDS, in a state folder of its own, beside berth.R.

In each round an R session submits jobs and waits for them. It is killed and started again, and the coordinator and workers are killed meanwhile.
All values must be there in the end, and no job may have run twice to its end, but in an attempt that was lost with its worker. A session is
killed once its jobs are submitted: batchtools itself submits those anew of which it has not noted it yet.
"""

import collections
import os
import random
import subprocess
import sys
import time

from kills import Killable, check_attempts, kill_coordinator, kill_worker, rounds

JOBS = 8
SESSION = """
library(batchtools)
source("../berth.R")
again = file.exists("submitted")
registry = if (again) loadRegistry("jobs", writeable = TRUE, conf.file = NA) else makeRegistry("jobs", conf.file = NA)
registry$cluster.functions = makeClusterFunctionsBerth()
if (!again) {
  work = function(i, pause) {
    Sys.sleep(pause)
    cat(i, Sys.getenv(c("BERTH_JOB_ID", "BERTH_TASK_ID", "BERTH_ATTEMPT")), "\\n", file = "ends", append = TRUE)
    i * 10
  }
  ids = batchMap(work, 1:%d, c(%s))
  ids$chunk = c(%s)
  submitJobs(ids, resources = list(chunks.as.arrayjobs = TRUE))
  file.create("submitted")
}
stopifnot(waitForJobs(sleep = 0.1))
cat(unlist(reduceResultsList()), file = "values")
"""


class Session(Killable):
    """An R session in a folder of its own, which can be killed and started again."""

    def __init__(self, seed: int, rng: random.Random) -> None:
        super().__init__(f"session-{seed}", ["Rscript", "session.R"])
        pauses = ", ".join(str(rng.choice((0, 0.1, 1, 2))) for _ in range(JOBS))
        chunks = ", ".join(str(rng.randint(1, 4)) for _ in range(JOBS))
        self.write("session.R", SESSION % (JOBS, pauses, chunks))
        self.write("ends", "")
        self.start()


def round_of(seed: int) -> str:
    rng = random.Random(seed)
    session = Session(seed, rng)
    killed: "collections.Counter[str]" = collections.Counter()
    for _ in range(rng.randint(1, 3)):
        victim = rng.choice(("engine", "coordinator", "worker"))
        while victim == "engine" and session.process.poll() is None and not os.path.exists(session.path("submitted")):
            time.sleep(0.02)
        time.sleep(rng.random() * 4)
        killed[victim] += 1
        if victim == "coordinator":
            kill_coordinator()
        elif victim == "worker":
            kill_worker(rng)
        elif session.process.poll() is None:
            session.kill()
            session.start()
    status = session.process.wait()
    said = f"seed {seed}, killed {dict(killed)}"
    assert status == 0, f"{said}: R ended with {status}:\n{session.read('log')}"
    assert session.read("values") == " ".join(str(10 * i) for i in range(1, JOBS + 1)), f"{said}: {session.read('values')}"
    found = check_attempts(said, session.read("ends"), JOBS)
    assert found["failed"] == 0 and (found["lost"] == 0 or killed["worker"] > 0), f"{said}: attempts are {dict(found)}"
    return f"{said}, {found['lost']} jobs have ended in attempts that were lost"


if __name__ == "__main__":
    rounds(round_of)
