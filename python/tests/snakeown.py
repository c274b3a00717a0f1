"""Runs workflows of Snakemake's own tests with berth: python snakeown.py NUMBER SEED, in an empty folder.

Its source distribution has some hundred workflows beside the files that they must make. Snakemake alone runs each of a random choice
first. Those for which it wants further flags, programs or a network are left out. The others must make the same files with berth.
"""

import importlib.metadata
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tarfile

ALONE = ["snakemake", "--cores", "2"]
BERTH = ["snakemake", "--executor", "berth", "--jobs", "unlimited"]
LONGEST = 300  # seconds


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
    """Runs a copy of a workflow, and says how its files differ from the expected ones."""
    shutil.copytree(workflow, where, symlinks=True)
    try:
        done = subprocess.run(command, cwd=where, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return f"it has not ended after {LONGEST} s"
    if done.returncode != 0:
        return f"status {done.returncode}:\n{done.stdout}"
    expected = where / "expected-results"
    for file in expected.rglob("*"):
        made = where / file.relative_to(expected)
        if file.is_file() and (not made.is_file() or made.read_bytes() != file.read_bytes()):
            return f"{made.relative_to(where)} is missing or another:\n{done.stdout}"
    return ""


def main(number: int, seed: int) -> None:
    tests = sources()
    workflows = sorted(f.parent for f in tests.glob("test*/Snakefile") if (f.parent / "expected-results").is_dir())
    wrong, out = [], 0
    chosen = random.Random(seed).sample(workflows, min(number, len(workflows)))
    for workflow in chosen:
        here = pathlib.Path("alone", workflow.name).absolute()
        if differs(workflow, ALONE, here):
            out += 1
            continue
        if said := differs(workflow, BERTH, pathlib.Path("berth", workflow.name).absolute()):
            print(f"{workflow.name}: {said}", flush=True)
            wrong.append(workflow.name)
    print(f"of {len(chosen)} workflows, seed {seed}: {out} left out, {len(chosen) - out - len(wrong)} as expected, others: {wrong}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    main(int(sys.argv[1]), int(sys.argv[2]))
