"""Snakemake's executor: snakemake --executor berth makes the jobs of a workflow tasks of open bags."""

import os
import re
import shlex
import sys
from dataclasses import dataclass, field
from typing import Any, AsyncGenerator, Dict, Iterable, List, Optional, Sequence, Set, Tuple, Union

from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
from snakemake_interface_executor_plugins.jobs import JobExecutorInterface
from snakemake_interface_executor_plugins.settings import CommonSettings, ExecutorSettingsBase

from berth._bag import Bag, status, unused
from berth._program import BerthError
from berth._states import States

from ._needs import Place, check_resources, needs_of, place_of, unknown
from ._notes import Notes


@dataclass
class ExecutorSettings(ExecutorSettingsBase):
    flags: Optional[str] = field(default=None, metadata={"help": "Flags of berth bag, as in '--on slurm --max-nodes 4'", "required": False})
    no_warm: bool = field(default=False, metadata={"help": "Start a Python for each job, instead of having one that has loaded Snakemake fork",
                                                   "required": False})


common_settings = CommonSettings(non_local_exec=True, implies_no_shared_fs=False, job_deploy_sources=False,
                                 auto_deploy_default_storage_provider=False)

_COMMAND = ["/bin/sh", "-c"]  # of a bag; each task has its own
_BACKENDS = ("local", "ssh", "ec2")  # that have no batch system
#: What jobs run, and what else they load, none of which a workflow changes.
_WARM = ["snakemake_executor_plugin_berth.job", "snakemake.cli", "snakemake.profiles", "snakemake.report.html_reporter", "snakemake.storage",
         "argparse_dataclass", "platformdirs", "smart_open"]
_LOGS = ".snakemake/berth_logs"
_LOOK_EVERY = 0.2  # seconds between two looks at what is known of tasks, which costs nothing


class Executor(RemoteExecutor):
    _of_group: Optional[int] = None

    def __post_init__(self) -> None:
        self.next_seconds_between_status_checks = _LOOK_EVERY
        self._bags: Dict[Place, States] = {}
        self._states: Dict[str, States] = {}
        self._taken: Dict[str, List[str]] = {}  # tasks of earlier Snakemakes, by their bags
        self._notes: Optional[Notes] = None
        self._named: Set[str] = set()  # resources that do nothing, and have been named

    # Jobs become tasks.

    def run_job(self, job: JobExecutorInterface) -> None:
        self.run_job_pre(job)
        self._run([job])

    def run_jobs(self, jobs: List[JobExecutorInterface]) -> None:
        for job in jobs:
            self.run_job_pre(job)
        self._run(jobs)

    def _run(self, jobs: List[JobExecutorInterface]) -> None:
        for job in jobs:
            check_resources(_application(job), job.resources)
            self._tell(f"berth: rule {_application(job)} has resources that do nothing here", unknown(job.resources, self.workflow.global_resources))
        try:
            if self._notes is None:
                self._notes = self._begin()
            added: Dict[str, Tuple[States, List[Dict[str, Any]]]] = {}
            infos = []
            for job in sorted(jobs, key=lambda job: -getattr(job, "priority", 0)):  # tasks start in the order of their bag
                info = self._found(job)
                if info is None:
                    states = self._bag(job)
                    info, line = self._task(states, job)
                    self._notes.write(states.bag.id, job, line["name"])
                    added.setdefault(states.bag.id, (states, []))[1].append(line)
                infos.append(info)
            for states, lines in added.values():
                states.bag.add(lines)
        except BerthError as e:
            raise WorkflowError(f"berth: {e}") from e
        for info in infos:
            self.report_job_submission(info)

    def _tell(self, what: str, resources: Iterable[str]) -> None:
        """Names resources that do nothing, once."""
        new = sorted(set(resources) - self._named)
        self._named.update(new)
        if new:
            self.logger.warning(f"{what}: {', '.join(new)}")

    def _begin(self) -> Notes:
        """Closes the bags of earlier Snakemakes that were killed, which add nothing more."""
        notes = Notes()
        for bag in notes.earlier:
            states = self._known(bag)
            self._close(states.bag)
            try:
                states.catch_up()
            except BerthError:
                pass  # its user has removed it
        if notes.interrupted:
            for bag in unused(_COMMAND):
                self._close(Bag(bag))
            notes.not_opened()
        return notes

    def _found(self, job: JobExecutorInterface) -> Optional[SubmittedJobInfo]:
        """Returns the task that an earlier Snakemake, which was killed, made of a job, unless it must be made again."""
        assert self._notes is not None
        note = self._notes.find(job)
        if note is None:
            return None
        states = self._known(note.bag)
        event = states.tasks.get(note.task)
        if event is None:  # it was not added any more
            return None
        if event.get("final") or states.over is not None:
            if note.changed or event.get("outcome") != "done" or not event.get("final") or not all(os.path.exists(f) for f in job.output):
                return None
        elif note.changed:
            raise WorkflowError(f"berth: task {note.task} of {note.bag}, which an earlier Snakemake has started, still runs and makes "
                                f"{', '.join(map(str, job.output))} of other input or by another rule; wait for its end with berth wait "
                                f"{note.bag}, or end it with berth cancel {note.bag} --task {note.task}")
        self.logger.info(f"Job {job.jobid} is task {note.task} of {note.bag}, which an earlier Snakemake has started.")
        self._taken.setdefault(note.bag, []).append(note.task)
        return self._info(states, job, note.task)

    def _known(self, bag: str) -> States:
        if bag not in self._states:
            self._states[bag] = States(Bag(bag))
        return self._states[bag]

    def _bag(self, job: JobExecutorInterface) -> States:
        """Returns the bag for jobs that run where this one does."""
        place = place_of(_application(job), job.resources)
        if place in self._bags and self._bags[place].over is None:
            return self._bags[place]
        flags = ["-J", "snakemake", *place.flags, *shlex.split(self.workflow.executor_settings.flags or "")]
        if not self.workflow.executor_settings.no_warm:
            flags += ["--warm", ",".join(_WARM)]
        assert self._notes is not None
        self._notes.opening()
        states = self._known(Bag.open(flags, _COMMAND, env={"SLURM_CLUSTERS": place.cluster} if place.cluster else {}).id)
        self._notes.opened(states.bag.id)
        self._bags[place] = states
        self.logger.info(f"The jobs are tasks of {states.bag.id}: berth progress {states.bag.id}")
        if place.said and status(states.bag.id).get("partition") in _BACKENDS:
            self._tell(f"berth: {states.bag.id} runs where there is no batch system, so these resources do nothing", place.said)
        return states

    def _task(self, states: States, job: JobExecutorInterface) -> Tuple[SubmittedJobInfo, Dict[str, Any]]:
        name = f"{_application(job)}-{job.jobid}" + (f"-{job.attempt}" if job.attempt > 1 else "")
        log = self._log(job, name)
        os.makedirs(os.path.dirname(log), exist_ok=True)
        line = {"name": name, "command": self._command(job), "stdout": log, "stderr": "none", "application": _application(job), **needs_of(job)}
        return self._info(states, job, name), line

    @property
    def cores(self) -> Union[int, str]:
        """What the Snakemake in a job may use: in a group what its jobs need together, which is what its task has."""
        return self._of_group or super().cores

    def _command(self, job: JobExecutorInterface) -> List[str]:
        self._of_group = job.threads if job.is_group() else None
        text, declared = self.format_job_exec(job), self.get_envvar_declarations()
        known = all(os.environ.get(name) == value for name, value in self.envvars().items())  # of storages some are of the command line only
        plain = text[len(declared):] if known and text.startswith(declared) else text  # as tasks have the environment of this process
        words = [] if self.workflow.executor_settings.no_warm else words_of(plain)
        if words[:3] == [sys.executable, "-m", "snakemake"]:
            return [sys.executable, "-m", _WARM[0], *words[3:]]
        return ["/bin/sh", "-c", "exec 2>&1; " + text]

    def _info(self, states: States, job: JobExecutorInterface, name: str) -> SubmittedJobInfo:
        aux = {"name": name, "bag": states.bag.id, "log": self._log(job, name)}
        return SubmittedJobInfo(job, external_jobid=f"{states.bag.id}/{name}", aux=aux)

    @staticmethod
    def _log(job: JobExecutorInterface, name: str) -> str:
        return os.path.abspath(os.path.join(_LOGS, _application(job), name + ".log"))

    # What becomes of them.

    async def check_active_jobs(self, active_jobs: List[SubmittedJobInfo]) -> AsyncGenerator[SubmittedJobInfo, None]:
        for info in active_jobs:
            assert info.aux is not None
            states = self._states[info.aux["bag"]]
            event = states.tasks.get(info.aux["name"], {})
            if event.get("final") and event.get("outcome") == "done":
                self.report_job_success(info)
            elif event.get("final"):
                self._failed(info, event.get("why") or event.get("outcome") or "it failed")
            elif states.over is not None:
                self._failed(info, f"{states.bag.id} is {states.over['state']}: {states.over.get('why', '')}")
            elif states.error is not None:
                self._failed(info, str(states.error))
            else:
                yield info

    def _failed(self, info: SubmittedJobInfo, why: str) -> None:
        assert info.aux is not None
        self.report_job_error(info, msg=f"berth: task {info.aux['name']} of {info.aux['bag']}: {why}. ", aux_logs=[info.aux["log"]])

    def cancel_jobs(self, active_jobs: List[SubmittedJobInfo]) -> None:
        """Cancels the bags of this Snakemake. Of those of earlier ones it cancels what this one has taken, as it may want only a part of them."""
        for states in self._bags.values():  # and not active_jobs, which has not all of them while jobs are looked at
            self._cancel(states.bag)
        for bag, tasks in self._taken.items():
            left = [t for t in tasks if not self._states[bag].tasks.get(t, {}).get("final")]
            if left:
                self._cancel(Bag(bag), left)

    def _cancel(self, bag: Bag, tasks: Sequence[str] = ()) -> None:
        try:
            bag.cancel(tasks)
        except BerthError as e:
            self.logger.error(f"{bag.id} cannot be cancelled: {e}")

    def _close(self, bag: Bag) -> None:
        try:
            bag.close()
        except BerthError:
            pass  # it is over

    def shutdown(self) -> None:
        for states in self._bags.values():
            self._close(states.bag)
        super().shutdown()
        for states in self._bags.values():
            states.wait_for(lambda: False, 5)  # until it is over, as all of its tasks are
        if self._notes is not None:
            for bag in [*(states.bag.id for states in self._bags.values()), *self._notes.earlier]:
                if self._known(bag).over is not None:
                    self._notes.drop(bag)


def _application(job: JobExecutorInterface) -> str:
    """Returns what jobs have in common that run the same: its rules, as the name of a group may be a random one."""
    return "_".join(sorted({str(rule) for rule in job.rules}))[:100] if job.is_group() else job.name


def words_of(command: str) -> List[str]:
    """Returns the words of a command, or none if a shell does more with it than take them apart."""
    if re.search(r"[^\w \t%+,./:=@^-]", re.sub(r"'[^']*'", "", command)):
        return []
    return shlex.split(command)
