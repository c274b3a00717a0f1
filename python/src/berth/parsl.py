"""Parsl's executor: Config(executors=[berth.parsl.BerthExecutor()]) runs apps as tasks of an open bag."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Callable, Dict, List, Optional

from parsl.executors.base import ParslExecutor
from parsl.executors.errors import InvalidResourceSpecification
from parsl.utils import RepresentationMixin

from ._executor import Executor

#: The keys of parsl_resource_specification, and the needs of berth that they are.
_KEYS = {"cores": "cpus", "cpus": "cpus", "memory": "mem", "mem": "mem", "gpus": "gpus", "time": "time", "application": "application"}


class BerthExecutor(ParslExecutor, RepresentationMixin):
    """Runs apps on berth. arguments are those of berth.Executor: cpus, mem, on, flags and others.

    parsl_resource_specification may have cores, memory (megabytes), gpus and time of an app.
    """

    def __init__(self, label: str = "berth", arguments: Optional[Dict[str, Any]] = None, storage_access: Optional[List[Any]] = None,
                 working_dir: Optional[str] = None) -> None:
        super().__init__()
        self.label, self.arguments, self.storage_access, self.working_dir = label, arguments, storage_access, working_dir
        self._executor: Optional[Executor] = None

    def start(self) -> None:
        self._executor = Executor(**{"name": f"parsl.{self.label}", **(self.arguments or {})})

    def submit(self, func: Callable[..., Any], resource_specification: Dict[str, Any], *args: Any, **kwargs: Any) -> "Future[Any]":
        assert self._executor is not None
        unknown = set(resource_specification) - set(_KEYS)
        if unknown:
            raise InvalidResourceSpecification(unknown, "berth knows " + ", ".join(sorted(_KEYS)))
        needs = {_KEYS[k]: v for k, v in resource_specification.items()}
        return self._executor.options(**needs).submit(func, *args, **kwargs)

    def shutdown(self, block: bool = True) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=block)
        super().shutdown()

    def monitor_resources(self) -> bool:
        return False  # berth measures what tasks use; Parsl's monitor would fork in each of them
