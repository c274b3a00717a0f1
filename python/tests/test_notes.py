"""The notes of which task a job of Snakemake is."""

import json
import os
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest

from snakemake_executor_plugin_berth import _WARM, Executor, words_of
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


def test_jobs_without_output_are_told_apart():
    one, other = Job("a"), Job("b")
    one.output, other.output, one.get_target_spec, other.get_target_spec = [], [], lambda: ["one"], lambda: ["other"]
    noted(job=one)
    notes = Notes()
    assert notes.find(other) is None and notes.find(one).task == "copy-1"


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


@pytest.mark.parametrize("command", ["python -m snakemake --config 'a=b c' x\ty", "a 'b\nc' d:i=1,j=2", "a 'b'c", "", "a $HOME", "a *", "a && b", "a \\b",
                                     "a \"b\"", "a 'b", "a\nb", "a ~", "a > b", "a; b", "a # b", "a `b`"])
def test_words_are_those_of_the_shell(command):
    """Words are what a shell makes of a command, or none where it does more."""
    words = words_of(command)
    if words:
        said = subprocess.run(["/bin/sh", "-c", "printf '%s\\0' " + command], check=True, capture_output=True, text=True).stdout
        assert said == "".join(w + "\0" for w in words)
    assert bool(words) == (command[:1] in "ap" and all(c not in command for c in '$*&\\"~>;#`') and command not in ("", "a 'b", "a\nb"))


def test_jobs_have_the_variables_that_snakemake_declares(monkeypatch):
    """They are left out where tasks have them anyhow. A secret of a storage that was given as a flag is in no environment."""
    monkeypatch.setenv("OWN", "a b")
    for declared, forked in ({}, True), ({"OWN": "a b"}, True), ({"OWN": "other"}, False), ({"SNAKEMAKE_STORAGE_S3_SECRET_KEY": "x"}, False):
        export = "export " + " ".join(f"{k}={v!r}" for k, v in declared.items()) + " &&" if declared else ""
        fake = SimpleNamespace(format_job_exec=lambda job, e=export: f"{e} {sys.executable} -m snakemake one", get_envvar_declarations=lambda e=export: e,
                               envvars=lambda d=declared: d, workflow=SimpleNamespace(executor_settings=SimpleNamespace(no_warm=False)))
        command = Executor._command(fake, SimpleNamespace(is_group=lambda: False))
        assert command == ([sys.executable, "-m", _WARM[0], "one"] if forked else ["/bin/sh", "-c", f"exec 2>&1; {export} {sys.executable} -m snakemake one"])


def test_snakemake_can_be_forked():
    """What jobs load starts no threads, opens nothing and prints nothing, and so on."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            p = subprocess.Popen([sys.executable, "-m", "berth.warm", sys.executable, ",".join(_WARM)], close_fds=False, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, preexec_fn=lambda: (os.dup2(theirs.fileno(), 3), os.set_inheritable(3, True)))
        assert ours.recv(1000) == b"ready"
    assert p.wait() == 0


def test_jobs_with_a_higher_priority_come_first():
    """Tasks start in the order of their bag. Of those with the same one that of Snakemake is kept."""
    added = []
    states = SimpleNamespace(bag=SimpleNamespace(id="bag-1", add=added.extend))
    fake = SimpleNamespace(_notes=SimpleNamespace(write=lambda *note: None), _found=lambda job: None, _bag=lambda job: states, _tell=lambda *said: None,
                           _task=lambda states, job: (job, {"name": job.name}), report_job_submission=lambda info: None,
                           workflow=SimpleNamespace(global_resources={}))
    Executor._run(fake, [SimpleNamespace(name=n, priority=p, resources={}, is_group=lambda: False) for n, p in (("a", 0), ("b", 3.5), ("c", 0), ("d", 9))])
    assert [line["name"] for line in added] == ["d", "b", "a", "c"]
