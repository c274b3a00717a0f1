"""miniwdl's backend: with container_backend = berth in its configuration its tasks are tasks of an open bag, without containers."""

from __future__ import annotations

import atexit
import itertools
import logging
import os
import shlex
import shutil
from contextlib import suppress
from typing import Any, Callable, Dict, Optional

from WDL.runtime.config import Loader
from WDL.runtime.error import Terminated
from WDL.runtime.task_container import TaskContainer

from ._bag import Bag
from ._program import BerthError
from ._states import States

_LOOK_EVERY = 0.5  # seconds between two looks at what a task has written to its stderr


class BerthContainer(TaskContainer):
    """Runs the command of a task of WDL in its folder. What miniwdl calls a path in the container is one below that folder."""

    _states: Optional[States] = None
    _numbers = itertools.count(1)

    @classmethod
    def global_init(cls, cfg: Loader, logger: logging.Logger) -> None:
        flags = shlex.split(cfg["berth"].get("flags") if cfg.has_option("berth", "flags") else "")
        bag = Bag.open(["-J", "miniwdl", *flags], ["/bin/sh", "-c"])
        cls._states = States(bag)
        logger.info("The tasks are those of %s: berth progress %s", bag.id, bag.id)

        @atexit.register
        def close() -> None:
            with suppress(BerthError):  # its user has cancelled it
                bag.close()

    @classmethod
    def detect_resource_limits(cls, cfg: Loader, logger: logging.Logger) -> Dict[str, int]:
        return {"cpu": 1 << 20, "mem_bytes": 1 << 60}  # berth refuses what no node has

    def __init__(self, cfg: Loader, run_id: str, host_dir: str) -> None:
        super().__init__(cfg, run_id, host_dir)
        self.container_dir = host_dir

    def _run(self, logger: logging.Logger, terminating: Callable[[], bool], command: str) -> int:
        states = self._states
        assert states is not None
        task, told = self._task(command), False
        name = task["name"]
        states.bag.add([task])
        with self.poll_stderr_context(logger) as poll, self.task_running_context():
            while not states.wait_for(lambda: bool(states.tasks.get(name, {}).get("final")), _LOOK_EVERY):
                poll()
                if states.over is not None or states.error is not None:
                    raise BerthError(f"task {name} of {states.bag.id}: {states.error or states.over}")
                if terminating() and not told:
                    states.bag.end([name])
                    told = True
            poll()
        if terminating():
            raise Terminated()
        event = states.tasks[name]
        if event["outcome"] != "done":
            logger.error("task %s of %s: %s", name, states.bag.id, event.get("why") or event["outcome"])
        return event.get("exit") or int(event["outcome"] != "done")

    def _task(self, command: str) -> Dict[str, Any]:
        """Writes the command, links the files of its input to where the command has them, and returns the task."""
        for source, path in self.input_path_map.items():
            if not os.path.exists(path):
                os.makedirs(os.path.dirname(path.rstrip("/")), exist_ok=True)
                if path.endswith("/"):
                    shutil.copytree(source, path, copy_function=_link)
                else:
                    _link(source, path)
        script = os.path.join(self.host_dir, "command")
        with open(script, "w") as f:
            f.writelines(f"export {k}={shlex.quote(v)}\n" for k, v in self.runtime_values.get("env", {}).items())
            f.write(command)
        shell = self.cfg.get("task_runtime", "command_shell")
        line: Dict[str, Any] = {"name": f"{self.run_id}-{next(self._numbers)}", "command": ["/bin/sh", "-c", f"exec {shell} {shlex.quote(script)}"],
                                "dir": self.host_work_dir(), "stdout": self.host_stdout_txt(), "stderr": self.host_stderr_txt()}
        if "cpu" in self.runtime_values:
            line["cpus"] = self.runtime_values["cpu"]
        if "memory_reservation" in self.runtime_values:
            line["mem"] = f"{-(-self.runtime_values['memory_reservation'] >> 20)}M"
        return line


def _link(file: str, link: str) -> None:
    """Makes another name of a file, as find and tar take symbolic links for something else, or such a link if that cannot be."""
    try:
        os.link(os.path.realpath(file), link)
    except OSError:
        os.symlink(os.path.realpath(file), link)
