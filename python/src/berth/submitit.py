"""submitit's plugin: AutoExecutor(folder, cluster="berth") runs jobs as tasks of one open bag."""

from __future__ import annotations

import atexit
import shlex
import sys
import typing as tp
from pathlib import Path

from submitit.core import core, job_environment, utils

from ._bag import Bag
from ._program import BerthError
from ._states import States

_REQUEUE = 144  # the exit status by which a job asks for another attempt, as submitit's own executors have it
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
    _env = {"job_id": "SUBMITIT_BERTH_JOB_ID",  # the others are not set, as a job has one process
            **{name: "SUBMITIT_BERTH_NONE" for name in ("num_tasks", "num_nodes", "node", "global_rank", "local_rank")}}

    def _requeue(self, countdown: int) -> None:
        sys.exit(_REQUEUE)


class BerthExecutor(core.PicklingExecutor):
    """Runs jobs on berth. Of submitit's parameters it knows timeout_min, mem_gb, cpus_per_task, gpus_per_node, name and
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
        if kwargs.get("nodes", 1) > 1 or kwargs.get("tasks_per_node", 1) > 1:
            raise ValueError("a task of berth runs on one node, as one process; use nodes=1 and tasks_per_node=1")
        super()._internal_update_parameters(**kwargs)
        self._close()  # the next jobs are in a bag with these parameters

    def _open(self) -> Bag:
        p = self.parameters
        flags = ["-c", str(p.get("cpus_per_task") or 1), "-J", p.get("name", "submitit"), "--requeue-exit", str(_REQUEUE),
                 "--signal", f"{job_environment.JobEnvironment.USR_SIG}@{p.get('signal_delay_s', 90)}s", *p.get("flags", ())]
        if p.get("mem_gb"):
            flags += ["--mem", f"{int(p['mem_gb'] * 1024)}M"]
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
            job: core.Job[tp.Any] = self.job_class(folder=self.folder, job_id=f"{self._bag.id}-{self._count}", tasks=[0])
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
            line["gpus"] = self.parameters["gpus_per_node"]
        return line

    def _command(self, job: core.Job[tp.Any]) -> str:
        """Returns a command that writes logs as submitit's other executors do: at once, and behind those of attempts before a checkpoint."""
        out, errors, *words = map(shlex.quote, [str(job.paths.stdout), str(job.paths.stderr), self.python, "-u", "-m", "submitit.core._submit",
                                                str(self.folder)])
        logs = f"exec >>{out} 2>" + ("&1" if self.parameters.get("stderr_to_stdout") else f">{errors}")
        return " && ".join([logs, *(self.parameters.get("setup") or ()), "exec " + " ".join(words)])

    # What the base class wants for executors that submit by scripts.

    def _num_tasks(self) -> int:
        return 1

    def _make_submission_file_text(self, command: str, uid: str) -> str:
        return ""

    def _make_submission_command(self, submission_file_path: Path) -> tp.List[str]:
        return []

    @staticmethod
    def _get_job_id_from_submission_command(string: tp.Union[bytes, str]) -> str:
        return ""


