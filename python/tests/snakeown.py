"""Runs workflows of Snakemake's own tests with berth: python snakeown.py NUMBER SEED, in an empty folder.

Its source distribution has some hundred workflows beside the files that they must make. Snakemake alone runs each of a random choice
first. Those for which it wants further flags, programs or a network are left out, and those that no machine of this size can run, or that
another executor which starts a Snakemake for each job cannot run either. So many of the others must make the same files with berth, by jobs
that are forked and by jobs that each start a Python: those that they must make, and all that both leave behind. A file differs by itself if
Snakemake alone does not make the same as jobs that start a Python.
"""

import concurrent.futures
import importlib.metadata
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tarfile

ALONE = ["snakemake", "--cores", "2"]
COLD = ["snakemake", "--executor", "berth", "--jobs", "unlimited", "--berth-no-warm"]
WARM = COLD[:-1]
OTHER = ["snakemake", "--executor", "cluster-generic", "--cluster-generic-submit-cmd", "sh", "--jobs", "1"]
LONGEST = 900  # seconds
#: One whose Snakefile starts a thread that waits for the scheduler, so that the Snakemake of a job never ends, and one that wants an order of
#: jobs which only a single core has.
LEFT_OUT = {"test_queue_input", "test_priority"}
#: Workflows that are always among them: what is made of groups, and what a job measures or hides.
ALWAYS = ["test_pipes", "test_pipes_multiple", "test_service_jobs", "test_group_jobs", "test_group_with_pipe", "test_benchmark_jsonl", "test_shadow"]


def sources() -> pathlib.Path:
    """Fetches the source distribution of the Snakemake that is installed, and returns the folder of its tests."""
    name = f"snakemake=={importlib.metadata.version('snakemake')}"
    fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-build-isolation", "--no-binary", ":all:", name]
    subprocess.run(fetch, check=True)
    archive = next(pathlib.Path().glob("snakemake-*.tar.gz"))
    with tarfile.open(archive) as t:
        t.extractall(".", filter="data")
    return pathlib.Path(archive.name.removesuffix(".tar.gz"), "tests").absolute()


def differs(workflow: pathlib.Path, command: list[str], where: pathlib.Path) -> str:
    """Runs a copy of a workflow in a state folder of its own, and says how its files differ from the expected ones."""
    shutil.copytree(workflow, where, symlinks=True)
    state = where.with_name(where.name + ".state")
    env = {**os.environ, "XDG_STATE_HOME": str(state)}
    try:
        done = subprocess.run(command, cwd=where, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=LONGEST)
    except subprocess.TimeoutExpired:
        subprocess.run(["berth", "cancel", "bag-1"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return f"it has not ended after {LONGEST} s"
    finally:
        subprocess.run(["berth", "server", "stop", "--force"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        return f"status {done.returncode}:\n{done.stdout}"
    expected = where / "expected-results"
    for file in expected.rglob("*"):
        made = where / file.relative_to(expected)
        if file.is_file() and (not made.is_file() or made.read_bytes() != file.read_bytes()):
            return f"{made.relative_to(where)} is missing or another:\n{done.stdout}"
    return ""


def left(where: pathlib.Path) -> dict[str, bytes]:
    """Returns what a workflow has left behind, with the content of each file, or where it points to."""
    found = {}
    for path in where.rglob("*"):
        name = str(path.relative_to(where))
        if name.split(os.sep)[0] == ".snakemake":
            continue
        content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else oct(path.stat().st_mode).encode()
        found[name] = content.replace(str(where).encode(), b"HERE")
    return found


def plainly(where: pathlib.Path) -> int:
    """Returns how often a worker has told why a job was not forked."""
    logs = where.with_name(where.name + ".state").glob("berth/server/allocs/*/*.log")
    return sum(log.read_text().count("Python of its own") for log in logs)


def verdict(workflow: pathlib.Path) -> tuple[str, str, int, int]:
    """Returns "" for a workflow that is as expected, "out" or "other", with the reason, how often jobs were not forked, and how many files differ by
    themselves."""
    alone, cold, warm = (pathlib.Path(way, workflow.name).absolute() for way in ("alone", "cold", "warm"))
    if said := differs(workflow, ALONE, alone):
        return "out", said, 0, 0
    for way, command, where in (("warm", WARM, warm), ("cold", COLD, cold)):
        if said := differs(workflow, command, where):
            out = "and the largest node has" in said or differs(workflow, OTHER, where.with_name(workflow.name + ".other"))
            return "out" if out else "other", f"{way}: {said}", 0, 0
    by_warm, by_cold, by_alone = left(warm), left(cold), left(alone)
    different = {f for f in by_warm.keys() | by_cold.keys() if by_warm.get(f) != by_cold.get(f)}
    own = {f for f in different if f in by_warm and f in by_cold and by_cold[f] != by_alone.get(f)}
    said = f"warm and cold leave others: {sorted(different - own)}" if different - own else ""
    return "other" if said else "", said, plainly(warm), len(own)


def main(number: int, seed: int) -> None:
    tests = sources()
    workflows = {f.parent.name: f.parent for f in tests.glob("test*/Snakefile") if (f.parent / "expected-results").is_dir()}
    others = sorted(workflows.keys() - set(ALWAYS) - LEFT_OUT)
    random.Random(seed).shuffle(others)
    chosen = [workflows[name] for name in [n for n in ALWAYS if n in workflows] + others]
    agreed, out, plain, own, wrong = 0, 0, 0, 0, []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        waiting = iter(chosen)
        running = {pool.submit(verdict, w): w for w, _ in zip(waiting, range(2))}
        while running:
            done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                name, (what, why, unforked, alone) = running.pop(future).name, future.result()
                agreed, out, plain, own = agreed + (what == ""), out + (what == "out"), plain + unforked, own + alone
                if what == "other":
                    print(f"{name}: {why}", flush=True)
                    wrong.append(name)
                if agreed + len(wrong) + len(running) < number and (workflow := next(waiting, None)):
                    running[pool.submit(verdict, workflow)] = workflow
    print(f"of {agreed + len(wrong)} workflows, seed {seed}: {agreed} as expected and the same forked and not, others: {wrong}; {out} left out; "
          f"{own} files that differ by themselves; {plain} times a worker told why jobs were not forked")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    main(int(sys.argv[1]), int(sys.argv[2]))
