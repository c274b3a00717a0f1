"""Jobs of submitit are cancelled, which takes until they are killed, as submitit ignores SIGTERM."""

import time

import pytest


def double(x):
    return 2 * x


def begin(path):
    path.touch()
    time.sleep(600)


def test_submitit_cancel(tmp_path):
    """A job that runs is cancelled alone: another one of its bag is done. To cancel a job that is over changes nothing."""
    submitit = pytest.importorskip("submitit")
    executor = submitit.AutoExecutor(folder=tmp_path / "%j", cluster="berth")
    executor.update_parameters(timeout_min=5, cpus_per_task=1)
    job, other = executor.submit(begin, tmp_path / "begun"), executor.submit(double, 2)
    while not (tmp_path / "begun").exists():
        time.sleep(0.05)
    job.cancel()
    with pytest.raises(submitit.core.utils.UncompletedJobError):
        job.result()
    assert job.state == "CANCELLED"
    assert other.result() == 4
    executor._executor._close()
    for j in (job, other):
        j.cancel()
    assert job.state == "CANCELLED"
