"""Libraries that run their work on berth."""

import os
import signal
import time

import pytest

import berth


def double(x):
    return 2 * x


def fail():
    raise ValueError("no")


def test_joblib():
    """joblib returns what it returns without berth, and raises what a call raised."""
    joblib = pytest.importorskip("joblib")
    import berth.joblib  # noqa: F401

    with joblib.parallel_config("berth"):  # without n_jobs calls are not made in this process
        assert os.getpid() not in joblib.Parallel()(joblib.delayed(os.getpid)() for _ in range(3))
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
