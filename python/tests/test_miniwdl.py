"""miniwdl with its tasks as tasks of berth."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from berth._program import run

MINIWDL = [sys.executable, "-m", "WDL", "run", "--dir", "run/.", "w.wdl"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINIWDL__SCHEDULER__CONTAINER_BACKEND", "berth")


def test_files_and_retries():
    """Tasks have files and folders of the user and of other tasks as input, and their needs. One that fails has its next attempt in a new folder."""
    os.makedirs("folder/below")
    for file in ("in put", "folder/one", "folder/below/two"):
        with open(file, "w") as f:
            f.write("a\n")
    with open("w.wdl", "w") as f:
        f.write("""version 1.2
task add {
    input { File file Int i }
    command <<<
        [ ~{i} = 1 ] || [ -e ../work2 ] || exit 3
        cat "~{file}"; echo ~{i}
    >>>
    output { File out = stdout() }
    runtime { cpu: i memory: "50 MB" maxRetries: 1 }
}
task join {
    input { Array[File] files Directory folder }
    command { (cat ~{sep=" " files}; find ~{folder} -type f | wc -l) > all }
    output { File all = "all" Array[String] lines = read_lines("all") }
}
workflow w {
    input { File file Directory folder }
    scatter (i in [1, 2]) { call add { input: file = file, i = i } }
    call join { input: files = add.out, folder = folder }
    output { Array[String] lines = join.lines File all = join.all }
}
""")
    out = subprocess.run([*MINIWDL, "file=in put", "folder=folder"], stdout=subprocess.PIPE, check=True).stdout
    outputs = json.loads(out)["outputs"]
    assert outputs["w.lines"] == ["a", "1", "a", "2", "2"]
    with open(outputs["w.all"]) as f:
        assert f.read().split("\n")[:-1] == outputs["w.lines"]
    tasks = json.loads(run(["status", "last", "--json"]))["tasks"]
    assert sorted((t["cpus"], t["mem_bytes"]) for t in tasks) == [(1, 0), (1, 48 << 20), (2, 48 << 20), (2, 48 << 20)]


def test_interrupt():
    """An interrupt ends the task that runs, and miniwdl after it."""
    with open("w.wdl", "w") as f:
        f.write("""version 1.0
task w {
    command { echo $$ > ../pid; exec sleep 1000 }
}
""")
    with open("log", "w") as log:
        process = subprocess.Popen(MINIWDL, stdout=log, stderr=log)
    while not os.path.exists("run/pid") or not open("run/pid").read().endswith("\n"):
        assert process.poll() is None, open("log").read()
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.wait() != 0
    with open("run/pid") as f, pytest.raises(ProcessLookupError):
        os.kill(int(f.read()), 0)
