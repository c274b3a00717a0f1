"""What the resources of Snakemake's jobs mean."""

from types import SimpleNamespace

import pytest

from berth._bag import Bag
from snakemake_executor_plugin_berth._needs import WorkflowError, check_resources, needs_of, place_of, ranks_of, unknown


@pytest.mark.parametrize("resources, flags", [
    ({"mem_mb": 5, "qos": "", "gres": "gpu:2"}, []),
    ({"constraint": "avx", "qos": "high", "slurm_account": "one, two", "slurm_partition": "short"}, ["-p", "short", "-A", "one", "-q", "high", "-C", "avx"]),
    ({"slurm_account": 1234, "reservation": "course"}, ["-A", "1234", "--sbatch-arg=--reservation=course"]),
    ({"gres": "gpu:a100:2,nvme:tmp:10"}, ["--sbatch-arg=--gres=nvme:tmp:10"]),
    ({"slurm_extra": "--mail-type END --mail-user=$OWN -x n1 --exclusive -Lmatlab@x:2 --requeue --comment 'a b'"},
     [f"--sbatch-arg={a}" for a in ("--mail-type=END", "--mail-user=me@x", "-xn1", "--exclusive", "-Lmatlab@x:2", "--comment=a b")]),
])
def test_places(resources, flags, monkeypatch):
    """Jobs are in bags by where they run."""
    monkeypatch.setenv("OWN", "me@x")
    place = place_of("r", resources)
    assert list(place.flags) == flags and place.cluster == "" and not unknown(resources, [])
    assert place == place_of("other", {**resources, "runtime": 5, "mem_mb": 700})


@pytest.mark.parametrize("key", ["cluster", "clusters", "slurm_cluster"])
def test_clusters(key, tmp_path, monkeypatch):
    """They are chosen as for Slurm's own commands."""
    assert place_of("r", {key: "big"}).cluster == "big" and place_of("r", {key: "big"}) != place_of("r", {})
    assert place_of("r", {"slurm_extra": "--requeue"}) == place_of("r", {})
    (tmp_path / "berth").write_text("#!/bin/sh\necho '{\"id\": \"'$SLURM_CLUSTERS'\"}'\n")
    (tmp_path / "berth").chmod(0o755)
    monkeypatch.setenv("BERTH", str(tmp_path / "berth"))
    assert Bag.open([], [], env={"SLURM_CLUSTERS": "big"}).id == "big"


@pytest.mark.parametrize("extra, says", [
    ("--gres=gpu:1", "the resource gres"), ("-p short", "the resource slurm_partition"), ("--mem-per-cpu 5", "the resource mem_mb_per_cpu"),
    ("-n4", "the resource tasks"), ("x", "'x' belongs to no option"), ("--mail-type=END x", "'x' belongs to no option"), ("-x a b", None),
])
def test_extras_that_cannot_be_passed_on_are_refused(extra, says):
    if says is None:  # sbatch says what is wrong
        assert place_of("r", {"slurm_extra": extra})
        return
    with pytest.raises(WorkflowError, match="rule r") as e:
        place_of("r", {"slurm_extra": extra})
    assert says in str(e.value)


@pytest.mark.parametrize("resources, needs", [
    ({}, {}), ({"mem_mb": 100, "runtime": 10}, {"mem": "250M", "time": "10m"}), ({"mem_mb": "<TBD>"}, {}),
    ({"cpus_per_task": 4, "mem_mb": 1000, "mem_mb_per_cpu": 500}, {"cpus": 4, "mem": "2000M"}), ({"cpus_per_task": -1}, {}),
    ({"gpu": 2, "gpu_model": "a100", "cpus_per_gpu": 3}, {"gpus": "2:a100", "cpus": 6}), ({"gpu_model": "a100"}, {"gpus": "1:a100"}), ({"gpu": 0, "gpu_model": "a100"}, {}),
    ({"gres": "gpu:a100:2"}, {"gpus": "2:a100"}), ({"gres": "gpu"}, {"gpus": "1"}), ({"gres": "gpu:2", "gpu_model": "l4"}, {"gpus": "2:l4"}),
    ({"gres": "gpu:4", "gpu": 1}, {"gpus": "1"}), ({"gpu": "0.5"}, {"gpus": "0.5"}), ({"gpu": 0}, {}), ({"gres": "nvme:10"}, {}),
    ({"tasks": 4, "nodes": 2, "mem_mb": 1000, "gres": "gpu:2"}, {"ranks": 4, "ranks_per_node": 2, "mem": "500M", "gpus": "1"}),
    ({"tasks": 4, "mem_mb_per_cpu": 1000}, {"ranks": 4, "mem": "1000M"}), ({"tasks": 4, "gpu": 2}, {"ranks": 4, "gpus": "0.5"}),
    ({"tasks": 3, "gpu": 2}, {"ranks": 3, "gpus": "0.5"}), ({"tasks": 2, "gpu": 8}, {"ranks": 2, "gpus": "4"}),
    ({"tasks": 2, "mem_mb_per_cpu": 10}, {"ranks": 2, "mem": "125M"}),
])
def test_needs(resources, needs):
    job = SimpleNamespace(resources=resources, threads=1, is_group=lambda: False)
    assert needs_of(job) == {"cpus": 1, **needs} and not unknown(resources, [])


class Missing:
    @property
    def resources(self):
        raise FileNotFoundError("made by another job of the group")


def test_a_group_is_one_process_on_one_node():
    """Its resources are sums of those of the jobs that run at the same time."""
    jobs = [SimpleNamespace(resources={"tasks": 1, "mem_mb_per_cpu": 500}), Missing(), SimpleNamespace(resources={"tasks": 1, "mem_mb_per_cpu": 700})]
    sums = {"tasks": 2, "nodes": 2, "mem_mb_per_cpu": 1200, "cpus_per_task": 2, "mem_mb": 900}
    group = SimpleNamespace(resources=sums, threads=3, jobs=jobs, is_group=lambda: True)
    assert needs_of(group) == {"cpus": 3, "mem": "2100M"}
    group.resources = {"mpi": "srun", "tasks": 8, "nodes": 2}
    assert needs_of(group) == {"cpus": 3, "ranks": 8, "ranks_per_node": 4, "mem": "2100M"}


def test_resources_that_do_nothing_are_known():
    resources = {"mem_mb": 5, "_cores": 1, "tmpdir": "/tmp", "disk_mb": 5, "slots": 1, "lsf_queue": "q", "gpu_manufacturer": "x"}
    assert unknown(resources, ["slots", "_nodes"]) == {"lsf_queue", "gpu_manufacturer"}


def test_ranks_must_be_said():
    check_resources("m", {"nodes": 1, "tasks": 1, "mpi": ""})
    with pytest.raises(WorkflowError, match="rule m .* how many ranks"):
        check_resources("m", {"mpi": "mpirun"})


@pytest.mark.parametrize("resources, ranks, on_node", [
    ({}, 1, 1), ({"nodes": 1, "tasks": 1}, 1, 1), ({"mpi": "srun", "tasks": 4}, 4, 0), ({"mpi": "srun", "tasks": 4, "nodes": 2}, 4, 2),
    ({"tasks": 5, "nodes": 2}, 5, 3), ({"nodes": 2}, 2, 1), ({"nodes": 2, "tasks_per_node": 8}, 16, 8), ({"tasks_per_node": 8}, 8, 8),
    ({"ntasks": 8, "ntasks_per_node": 4}, 8, 4), ({"tasks": 2, "tasks_per_node": 4}, 2, 2), ({"tasks": "many"}, 1, 1),
])
def test_ranks_are_those_that_slurm_would_start(resources, ranks, on_node):
    assert ranks_of(resources) == (ranks, on_node)
