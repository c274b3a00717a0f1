"""Parsl's executor: Config(executors=[berth.parsl.BerthExecutor()]) runs apps as tasks of an open bag."""

from __future__ import annotations

import os
from concurrent.futures import Future
from typing import Any, Callable, Dict, List, Optional

from parsl.executors.base import ParslExecutor
from parsl.executors.errors import InvalidResourceSpecification
from parsl.utils import RepresentationMixin

from ._executor import Executor

#: The keys of parsl_resource_specification, and the needs of berth that they are.
_KEYS = {"cores": "cpus", "cpus": "cpus", "memory": "mem", "mem": "mem", "gpus": "gpus", "time": "time", "use": "use", "application": "application"}
#: The keys of the specification of an app with several ranks.
_RANKS = ("num_nodes", "num_ranks", "ranks_per_node")


class BerthExecutor(ParslExecutor, RepresentationMixin):
    """Runs apps on berth. arguments are those of berth.Executor: cpus, mem, on, flags and others.

    parsl_resource_specification may have cores, memory (megabytes), gpus, time and use of an app. With num_nodes, num_ranks or ranks_per_node the app has
    several ranks, each with that many cores; it starts them by mpi_launcher, which is in PARSL_MPI_PREFIX with its flags.
    """

    def __init__(self, label: str = "berth", arguments: Optional[Dict[str, Any]] = None, storage_access: Optional[List[Any]] = None,
                 working_dir: Optional[str] = None, mpi_launcher: str = "mpiexec") -> None:
        super().__init__()
        self.mpi_launcher = mpi_launcher
        self.label, self.arguments, self.storage_access, self.working_dir = label, arguments, storage_access, working_dir
        self._executor: Optional[Executor] = None

    def start(self) -> None:
        self._executor = Executor(**{"name": f"parsl.{self.label}", **(self.arguments or {})})

    def submit(self, func: Callable[..., Any], resource_specification: Dict[str, Any], *args: Any, **kwargs: Any) -> "Future[Any]":
        assert self._executor is not None
        known = {*_KEYS, *_RANKS, "launcher_options"}
        unknown = set(resource_specification) - known
        if unknown:
            raise InvalidResourceSpecification(unknown, "berth knows " + ", ".join(sorted(known)))
        needs = {_KEYS[k]: v for k, v in resource_specification.items() if k in _KEYS}
        of_ranks = _ranks(resource_specification)
        if of_ranks:
            needs.update(of_ranks)
            options = resource_specification.get("launcher_options", "")
            func, args = _with_prefix, (f"{self.mpi_launcher} -n {of_ranks['ranks']} {options}".rstrip(), of_ranks, func, *args)
        return self._executor.options(**needs).submit(func, *args, **kwargs)

    def shutdown(self, block: bool = True) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=block)
        super().shutdown()

    def monitor_resources(self) -> bool:
        return False  # berth measures what tasks use; Parsl's monitor would fork in each of them


def _ranks(spec: Dict[str, Any]) -> Dict[str, int]:
    """Returns the ranks of an app as berth has them, {} if it is one process. One of the three numbers follows from the others, as in Parsl."""
    said = {k: int(spec[k]) for k in _RANKS if spec.get(k) is not None}
    if not said:
        return {}
    nodes, per, ranks = (said.get(k) for k in ("num_nodes", "ranks_per_node", "num_ranks"))
    if nodes and not per:
        per = -(-(ranks or nodes) // nodes)
    ranks = ranks or (nodes or 1) * (per or 1)
    wrong = [k for k, n in said.items() if n < 1]
    if wrong or nodes and per and not (nodes - 1) * per < ranks <= nodes * per:
        raise InvalidResourceSpecification(set(wrong or said), "num_ranks is num_nodes times ranks_per_node")
    return {"ranks": ranks, "ranks_per_node": per} if per else {"ranks": ranks}


def _with_prefix(prefix: str, ranks: Dict[str, int], func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls an app that finds its launcher in the environment, as with Parsl's own executor. berth tells the launcher which hosts it has."""
    os.environ.update({"PARSL_MPI_PREFIX": prefix, "PARSL_NUM_RANKS": str(ranks["ranks"]), "PARSL_NUM_NODES": os.environ.get("BERTH_NODES", "1"),
                       "PARSL_RANKS_PER_NODE": str(ranks.get("ranks_per_node", ""))})
    return func(*args, **kwargs)
