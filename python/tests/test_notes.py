"""The notes of which task a job of Snakemake is."""

import json
import os
from types import SimpleNamespace

import pytest

from snakemake_executor_plugin_berth import WorkflowError, check_resources
from snakemake_executor_plugin_berth._notes import Notes


class Job:
    resources: dict = {"mem_mb": 5}

    def __init__(self, output, shell="cp {input} {output}", input=()):
        self.output, self.input, self.rule = [output], list(input), SimpleNamespace(shellcmd=shell)

    def properties(self, omit_resources):
        return json.dumps({"rule": "copy", "input": self.input, "params": {}, "wildcards": {}, "jobid": id(self), "resources": omit_resources})


def noted(bag="bag-1", task="copy-1", job=None):
    """Leaves the notes of a Snakemake that was killed."""
    notes = Notes()
    notes.hold(bag)
    notes.write(bag, job or Job("a"), task)
    for lock in notes._held.values():
        lock.close()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_next_snakemake_finds_the_task_once():
    noted()
    notes = Notes()
    note = notes.find(Job("a"))
    assert (note.bag, note.task, note.changed) == ("bag-1", "copy-1", False)
    assert notes.find(Job("a")) is None and notes.find(Job("b")) is None


def test_nothing_is_found_of_a_snakemake_that_lives_or_of_this_one():
    noted()
    living = Notes()
    assert living.earlier == ["bag-1"] and Notes().earlier == []
    living.hold("bag-2")
    living.write("bag-2", Job("b"), "copy-2")
    assert living.find(Job("b")) is None


def test_the_last_note_counts():
    noted("bag-9", "copy-1")
    noted("bag-10", "copy-7")
    assert Notes().find(Job("a")).task == "copy-7"


def test_a_job_that_would_do_something_else_is_told():
    """Also if it is only the content of its input."""
    open("in", "w").close()
    job = Job("a", input=["in"])
    noted(job=job)
    assert not Notes().find(job).changed
    assert Notes().find(Job("a", "mv {input} {output}", ["in"])).changed
    at = os.stat("in").st_mtime + 60
    os.utime("in", (at, at))
    assert Notes().find(job).changed


def test_dropped():
    noted()
    notes = Notes()
    notes.drop("bag-1")
    assert notes.find(Job("a")) is None and os.listdir(".snakemake/berth_tasks") == []


def test_a_bag_that_was_being_opened_is_told_until_it_is_looked_for():
    killed = Notes()
    killed.opening()
    assert not Notes().interrupted  # it lives
    killed._held["opening"].close()
    notes = Notes()
    assert notes.interrupted and notes.earlier == []
    notes.not_opened()
    notes.opening()
    notes.opened("bag-3")
    notes._held["bag-3"].close()
    notes = Notes()
    assert not notes.interrupted and notes.earlier == ["bag-3"]


def test_resources_that_a_task_cannot_have_are_refused():
    """They are named, all at once, and what asks for nothing special is none of them."""
    check_resources("m", {"mem_mb": 5, "nodes": 1, "tasks": 1, "mpi": "", "_nodes": 1, "runtime": 5, "tmpdir": "/tmp"})
    with pytest.raises(WorkflowError) as e:
        check_resources("m", {"mpi": "srun", "tasks": 4, "nodes": 2, "slurm_extra": "--reservation=x", "mem_mb": 100})
    assert all(word in str(e.value) for word in ("rule m", "mpi='srun'", "tasks=4", "nodes=2", "slurm_extra='--reservation=x'"))
