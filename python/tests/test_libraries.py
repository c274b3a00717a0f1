"""Libraries that run their work on berth."""

import json
import os
import signal
import time

import pytest

import berth
from berth._program import run


def double(x):
    return 2 * x


def fail():
    raise ValueError("no")


def test_joblib():
    """joblib returns what it returns without berth, and raises what a call raised."""
    joblib = pytest.importorskip("joblib")
    import berth.joblib  # noqa: F401

    jobs = json.loads(run(["status", "--all", "--json"]))["jobs"]
    with joblib.parallel_config("berth"):
        assert joblib.Parallel()([]) == []
        with pytest.warns(UserWarning, match="n_jobs=1"):
            assert joblib.Parallel(n_jobs=1)([joblib.delayed(os.getpid)()]) == [os.getpid()]
        assert len(json.loads(run(["status", "--all", "--json"]))["jobs"]) == len(jobs)  # no bag is opened for no calls
        assert os.getpid() not in joblib.Parallel()(joblib.delayed(os.getpid)() for _ in range(3))  # without n_jobs none is made in this process
    with joblib.parallel_config("berth", n_jobs=2):
        assert joblib.Parallel()(joblib.delayed(double)(i) for i in range(50)) == [2 * i for i in range(50)]
        with pytest.raises(ValueError, match="no"):
            joblib.Parallel()(joblib.delayed(fail)() for _ in range(3))


def test_submitit(tmp_path):
    """Jobs have results, errors, states and logs where submitit has them, and arrays are added at once."""
    submitit = pytest.importorskip("submitit")
    executor = submitit.AutoExecutor(folder=tmp_path / "%j", cluster="berth")
    executor.update_parameters(timeout_min=5, cpus_per_task=1)
    jobs = executor.map_array(double, range(5))
    assert [j.result() for j in jobs] == [0, 2, 4, 6, 8]
    job = executor.submit(fail)
    with pytest.raises(submitit.core.utils.FailedJobError, match="ValueError: no"):
        job.result()
    assert jobs[0].paths.stdout.exists() and "submitit" in (jobs[0].stdout() + jobs[0].stderr())
    states = berth.submitit._of(job.job_id)
    assert states.wait_for(lambda: all(states.tasks.get(j.job_id, {}).get("final") for j in [*jobs, job]), 60)
    assert {j.state for j in jobs} == {"COMPLETED"} and job.state in ("FAILED", "COMPLETED")
    assert executor.submit(name_of_cluster).result() == "berth"
    executor.update_parameters(berth_setup=["export BEFORE=set", "echo of setup >&2"], stderr_to_stdout=True)
    job = executor.submit(os.getenv, "BEFORE")
    assert job.result() == "set" and "of setup" in job.stdout() and job.stderr() is None


def numbers_of_rank():
    import submitit

    e = submitit.JobEnvironment()
    print("rank", e.global_rank)
    return e.num_tasks, e.num_nodes, e.node, e.global_rank, e.local_rank


def test_submitit_ranks(tmp_path):
    """A job of several processes has the result and the logs of each, which knows its number."""
    submitit = pytest.importorskip("submitit")
    executor = submitit.AutoExecutor(folder=tmp_path / "a b", cluster="berth")
    executor.update_parameters(nodes=1, tasks_per_node=2, mem_gb=1, berth_flags=["--workers", "1"])
    job = executor.submit(numbers_of_rank)
    assert job.results() == [(2, 1, 0, 0, 0), (2, 1, 0, 1, 1)]
    assert [job.task(k).stdout().count(f"rank {k}") for k in range(2)] == [1, 1]
    with pytest.raises(ValueError, match="gpus_per_node"):
        executor.update_parameters(tasks_per_node=2, gpus_per_node=3)


class Interrupted:
    """Is interrupted as at the end of its time, and goes on in another attempt."""

    def __call__(self, again=False):
        if not again:
            os.kill(os.getpid(), signal.SIGUSR2)
            time.sleep(600)
        return "done"

    def checkpoint(self, again=False):
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self, again=True)


def test_submitit_checkpoint(tmp_path):
    """A job that is told that its time ends is started again from its checkpoint, and is then done."""
    submitit = pytest.importorskip("submitit")
    job = submitit.AutoExecutor(folder=tmp_path, cluster="berth").submit(Interrupted())
    assert job.result() == "done" and "Calling checkpoint method" in job.stdout()


def name_of_cluster():
    import submitit

    return submitit.JobEnvironment().cluster


def test_parsl(tmp_path):
    """Apps of Parsl run on berth, also those that come after others, and a need that berth does not know is refused."""
    parsl = pytest.importorskip("parsl")
    from berth.parsl import BerthExecutor

    with parsl.load(parsl.Config(executors=[BerthExecutor()], run_dir=str(tmp_path))):
        app = parsl.python_app(double)
        assert app(app(app(1))).result() == 8
        with pytest.raises(Exception, match="fax"):
            parsl.python_app(double)(1, parsl_resource_specification={"fax": 1}).result()


def mpi_prefix(parsl_resource_specification=None):
    return [os.environ[name] for name in ("PARSL_MPI_PREFIX", "PARSL_NUM_RANKS", "BERTH_RANKS")]


def test_parsl_ranks(tmp_path):
    """An app with several ranks finds its launcher where it does with Parsl's own executor."""
    parsl = pytest.importorskip("parsl")
    from berth.parsl import BerthExecutor, _ranks

    for spec, want in (({"cores": 2}, {}), ({"num_ranks": 4}, {"ranks": 4}), ({"num_nodes": 2}, {"ranks": 2, "ranks_per_node": 1}),
                       ({"num_nodes": 2, "num_ranks": 7}, {"ranks": 7, "ranks_per_node": 4}),
                       ({"num_nodes": 2, "ranks_per_node": 4}, {"ranks": 8, "ranks_per_node": 4}), ({"ranks_per_node": 4}, {"ranks": 4, "ranks_per_node": 4})):
        assert _ranks(spec) == want
    with parsl.load(parsl.Config(executors=[BerthExecutor()], run_dir=str(tmp_path))):
        app = parsl.python_app(mpi_prefix)
        assert app(parsl_resource_specification={"num_ranks": 2, "launcher_options": "-v"}).result() == ["mpiexec -n 2 -v", "2", "2"]
        with pytest.raises(Exception, match="num_nodes times"):
            app(parsl_resource_specification={"num_nodes": 2, "num_ranks": 7, "ranks_per_node": 3}).result()
