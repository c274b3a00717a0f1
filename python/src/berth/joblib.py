"""joblib's backend: after import berth.joblib, joblib.parallel_config("berth") runs what scikit-learn and others do in parallel on berth.

    with joblib.parallel_config("berth", cpus=2):
        GridSearchCV(…).fit(x, y)

Keys beside the backend's name are arguments of berth.Executor.
"""

from __future__ import annotations

import operator
import os
import warnings
from typing import Any, Callable, Optional, Set

from joblib.parallel import FallbackToBackend, ParallelBackendBase, SequentialBackend, register_parallel_backend

from ._executor import Executor
from ._store import Pickled


_MAKE: Any = Pickled(operator.methodcaller("__call__"), "joblib")  # one function for all calls, so that short ones share a process


class BerthBackend(ParallelBackendBase):  # type: ignore[misc]
    """Makes the calls of joblib by an executor, which puts short ones together by itself."""

    supports_retrieve_callback = True
    supports_inner_max_num_threads = False
    default_n_jobs = -1  # with 1, joblib would make all calls in this process

    def __init__(self, *args: Any, nesting_level: Optional[int] = None, inner_max_num_threads: Optional[int] = None, **executor: Any) -> None:
        super().__init__(nesting_level=nesting_level or 0, inner_max_num_threads=inner_max_num_threads)
        self._arguments = executor
        self._executor: Optional[Executor] = None
        self._most: Optional[int] = None
        self._futures: Set[Any] = set()

    def effective_n_jobs(self, n_jobs: int) -> int:
        if n_jobs == 0:
            raise ValueError("n_jobs == 0 in Parallel has no meaning")
        if n_jobs is None:
            n_jobs = self.default_n_jobs
        return n_jobs if n_jobs > 0 else max(2, (os.cpu_count() or 1) + 1 + n_jobs)

    def configure(self, n_jobs: int = 1, parallel: Any = None, **_: Any) -> int:
        n = self.effective_n_jobs(n_jobs)
        if n == 1:
            warnings.warn("with n_jobs=1 joblib makes the calls in this process and not on berth; leave n_jobs out, or give a larger one", stacklevel=4)
            raise FallbackToBackend(SequentialBackend(nesting_level=self.nesting_level))
        self.parallel, self._most = parallel, n_jobs if n_jobs is not None and n_jobs > 0 else None
        if getattr(parallel, "pre_dispatch", None) == "2 * n_jobs":  # the default: calls one by one, which could not share tasks
            parallel.pre_dispatch = "all"
        return n

    def submit(self, func: Callable[[], Any], callback: Optional[Callable[..., Any]] = None) -> Any:
        if self._executor is None:  # now, as there may be no calls
            self._executor = Executor(**{"name": "joblib", "max_workers": self._most, **self._arguments})
        future = self._executor.submit(_MAKE, func)
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    apply_async = submit

    def retrieve_result_callback(self, out: Any) -> Any:
        return out.result()

    def abort_everything(self, ensure_ready: bool = True) -> None:
        for future in list(self._futures):
            future.cancel()

    def terminate(self) -> None:
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=False, cancel_futures=True)


register_parallel_backend("berth", BerthBackend)
