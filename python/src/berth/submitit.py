"""submitit's plugin: AutoExecutor(folder, cluster="berth") runs jobs as tasks of one open bag."""

from __future__ import annotations

import atexit
import os
import shlex
import sys
import typing as tp
from pathlib import Path

from submitit.core import core, job_environment, utils

from ._bag import Bag
from ._program import BerthError
from ._states import States

_REQUEUE = 144  # the exit status by which a job asks for another attempt, as submitit's own executors have it
_RANK = "@RANK@"  # in the place of a rank's number in the names of its logs
_states: tp.Dict[str, States] = {}


def _of(job_id: str) -> States:
    """Returns the states of the bag of a job."""
    bag = job_id.rpartition("-")[0]
    if bag not in _states:
        _states[bag] = States(Bag(bag))
    return _states[bag]


class BerthInfoWatcher(core.InfoWatcher):
    """Knows the states of jobs from the events of their bags."""

    def get_state(self, job_id: str, mode: str = "force") -> str:
        return self.get_info(job_id, mode).get("State", "UNKNOWN")

    def get_info(self, job_id: str, mode: str = "force") -> tp.Dict[str, str]:
        self._registered.add(job_id)
        states = _of(job_id)
        with states.changed:
            event = states.tasks.get(job_id)
            if event is None:
                return {"JobID": job_id, "State": "CANCELLED" if states.over else "PENDING"}
            if event["event"] == "cancelled":  # if it is not final its process is told to end
                return {"JobID": job_id, "State": "CANCELLED" if event.get("final") else "RUNNING"}
            return {"JobID": job_id, "State": self._state(states, event), "NodeList": event.get("host", "")}

    @staticmethod
    def _state(states: States, event: tp.Dict[str, tp.Any]) -> str:
        if event.get("final"):
            return {"done": "COMPLETED", "killed": "CANCELLED"}.get(event.get("outcome", ""), "FAILED")
        if states.over:
            return "CANCELLED"
        return "RUNNING" if event["event"] == "started" else "PENDING"

    def update(self) -> None:
        """The thread of the states does this."""


class BerthJob(core.Job[core.R]):
    watcher = BerthInfoWatcher(delay_s=1)

    def cancel(self, check: bool = True) -> None:
        """Ends the job. Whether it runs does not matter."""
        states = _of(self.job_id)
        try:
            states.bag.end([self.job_id])
        except BerthError:
            if check and not states.wait_for(lambda: states.over is not None, 5):
                raise


class BerthJobEnvironment(job_environment.JobEnvironment):
    _env = {"job_id": "SUBMITIT_BERTH_JOB_ID", "num_tasks": "BERTH_RANKS", "num_nodes": "BERTH_NODES", "global_rank": "BERTH_RANK",
            "local_rank": "BERTH_LOCAL_RANK", "node": "SUBMITIT_BERTH_NONE"}  # not set for a job of one process

    def _hosts(self) -> tp.List[str]:
        """Returns the node of each rank."""
        path = os.environ.get("BERTH_HOSTFILE")
        return Path(path).read_text().split() if path else [self.hostname]

    @property
    def hostnames(self) -> tp.Sequence[str]:
        return list(dict.fromkeys(self._hosts()))

    @property
    def node(self) -> int:
        hosts = self._hosts()
        return list(dict.fromkeys(hosts)).index(hosts[self.global_rank])

    def _requeue(self, countdown: int) -> None:
        sys.exit(_REQUEUE)


class BerthExecutor(core.PicklingExecutor):
    """Runs jobs on berth. Of submitit's parameters it knows nodes, tasks_per_node, timeout_min, mem_gb, cpus_per_task, gpus_per_node, name and
    stderr_to_stdout, and of those of its own executors setup and signal_delay_s; berth_flags are further flags of berth bag."""

    job_class = BerthJob

    def __init__(self, folder: tp.Union[str, Path], max_num_timeout: int = 3, max_pickle_size_gb: float = 1.0,
                 python: tp.Optional[str] = None) -> None:
        super().__init__(folder, max_num_timeout=max_num_timeout, max_pickle_size_gb=max_pickle_size_gb)
        self.python = python or sys.executable
        self._bag: tp.Optional[Bag] = None
        self._count = 0

    @classmethod
    def _valid_parameters(cls) -> tp.Set[str]:
        return {"flags", "setup", "signal_delay_s"}

    def _internal_update_parameters(self, **kwargs: tp.Any) -> None:
        per_node, gpus = kwargs.get("tasks_per_node") or 1, kwargs.get("gpus_per_node") or 0
        if gpus % per_node:
            raise ValueError(f"gpus_per_node={gpus} cannot be divided among tasks_per_node={per_node}")
        super()._internal_update_parameters(**kwargs)
        self._close()  # the next jobs are in a bag with these parameters

    def _open(self) -> Bag:
        p = self.parameters
        flags = ["-c", str(p.get("cpus_per_task") or 1), "-J", p.get("name", "submitit"), "--requeue-exit", str(_REQUEUE),
                 "--signal", f"{job_environment.JobEnvironment.USR_SIG}@{p.get('signal_delay_s', 90)}s", *p.get("flags", ())]
        per_node = p.get("tasks_per_node") or 1  # which share what the job asks for a node
        if self._num_tasks() > 1:
            flags += ["--ranks", str(self._num_tasks()), "--ranks-per-node", str(per_node), "--each-rank"]
        if p.get("mem_gb"):
            flags += ["--mem", f"{int(p['mem_gb'] * 1024 / per_node)}M"]
        if p.get("timeout_min"):
            flags += ["--time-limit", f"{int(p['timeout_min'] * 60)}s"]
        atexit.register(self._close)
        return Bag.open(flags, [self.python])

    def _close(self) -> None:
        """Says that no more jobs come. Those that are there run on."""
        bag, self._bag = self._bag, None
        if bag is not None:
            try:
                bag.close()
            except BerthError:
                pass  # it is over

    def _internal_process_submissions(self, delayed_submissions: tp.List[utils.DelayedSubmission]) -> tp.List[core.Job[tp.Any]]:
        if self._bag is None:
            self._bag, self._count = self._open(), 0
        jobs, lines = [], []
        for delayed in delayed_submissions:
            self._count += 1
            job: core.Job[tp.Any] = self.job_class(folder=self.folder, job_id=f"{self._bag.id}-{self._count}",
                                                      tasks=list(range(self._num_tasks())))
            job.paths.folder.mkdir(parents=True, exist_ok=True)
            delayed.set_timeout(self.parameters.get("timeout_min", 5), self.max_num_timeout)
            delayed.dump(job.paths.submitted_pickle)
            jobs.append(job)
            lines.append(self._line(job))
        self._bag.add(lines)
        return jobs

    def _line(self, job: core.Job[tp.Any]) -> tp.Dict[str, tp.Any]:
        line: tp.Dict[str, tp.Any] = {
            "name": job.job_id, "command": self._command(job), "stdout": "none", "stderr": "none",
            "env": {"SUBMITIT_EXECUTOR": "berth", "SUBMITIT_BERTH_JOB_ID": job.job_id}}
        if self.parameters.get("gpus_per_node"):
            line["gpus"] = self.parameters["gpus_per_node"] // (self.parameters.get("tasks_per_node") or 1)
        return line

    def _command(self, job: core.Job[tp.Any]) -> str:
        """Returns a command that writes logs as submitit's other executors do: at once, and behind those of attempts before a checkpoint."""
        paths = utils.JobPaths(self.folder, job.job_id, tp.cast(int, _RANK))
        out, errors, *words = map(shlex.quote, [str(paths.stdout), str(paths.stderr), self.python, "-u", "-m", "submitit.core._submit",
                                                str(self.folder)])
        out, errors = (p.replace(_RANK, "'${BERTH_RANK:-0}'") if p[0] == "'" else p.replace(_RANK, "${BERTH_RANK:-0}") for p in (out, errors))
        logs = f"exec >>{out} 2>" + ("&1" if self.parameters.get("stderr_to_stdout") else f">{errors}")
        return " && ".join([logs, *(self.parameters.get("setup") or ()), "exec " + " ".join(words)])

    # What the base class wants for executors that submit by scripts.

    def _num_tasks(self) -> int:
        return int(self.parameters.get("nodes") or 1) * int(self.parameters.get("tasks_per_node") or 1)

    def _make_submission_file_text(self, command: str, uid: str) -> str:
        return ""

    def _make_submission_command(self, submission_file_path: Path) -> tp.List[str]:
        return []

    @staticmethod
    def _get_job_id_from_submission_command(string: tp.Union[bytes, str]) -> str:
        return ""


