"""What the tests with workflows that nobody here wrote share: reads that are made, and the comparison of what two ways to run make."""

import gzip
import os
import pathlib
import random
import re
import subprocess
import sys
import zipfile
from typing import Callable, Dict, Iterable, List, Mapping

#: Runs a workflow below a folder, in a way, and returns how many tasks of berth it was.
Flow = Callable[[pathlib.Path, str], int]


def run(command: List[str], where: pathlib.Path, environment: Mapping[str, str] = {}) -> str:
    both = {**os.environ, **environment}
    done = subprocess.run(["/usr/bin/env", *command], cwd=where, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=both)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def sequence(rng: random.Random, length: int) -> str:
    return "".join(rng.choices("ACGT", k=length))


def reads(rng: random.Random, genome: str, number: int, adapter: str = "", letter: str = "r") -> Iterable[str]:
    """Returns records of a FASTQ file from random places of a genome."""
    for i in range(number):
        at = rng.randrange(len(genome) - 100)
        bases = adapter + genome[at:at + 100]
        yield f"@{letter}{i}\n{bases}\n+\n{'I' * len(bases)}\n"


def content(file: pathlib.Path) -> bytes:
    """Returns what a file tells, without times. Of FastQC's archives that is what it found."""
    if file.suffix == ".zip":
        with zipfile.ZipFile(file) as z:
            return z.read(f"{file.stem}/fastqc_data.txt")
    if file.suffix == ".gz":
        return gzip.decompress(file.read_bytes())
    if file.suffix == ".vcf":
        return re.sub(rb"(?m)^##bcftools.*\n", b"", file.read_bytes())
    return file.read_bytes()


def compare(name: str, flow: Flow, results: List[str], tasks: int) -> None:
    """Runs a workflow twice, each time below a folder of the same name, as programs write the names of files into their results."""
    made: List[Dict[str, bytes]] = []
    for way in ("alone", "berth"):
        where = pathlib.Path(name).absolute()
        where.mkdir()
        were = flow(where, way)
        files = sorted(f for pattern in results for f in where.glob(pattern))
        made.append({str(f.relative_to(where)): content(f) for f in files})
        where.rename(f"{name}-{way}")
    alone, berth = made
    other = sorted(f for f in alone.keys() | berth.keys() if alone.get(f) != berth.get(f))
    empty = sorted(f for f, text in alone.items() if not text)
    print(f"{name}: {len(alone)} files without berth, {len(berth)} with it in {were} tasks; others: {other}, empty: {empty}", flush=True)
    if other or empty or were < tasks or len(alone) < len(results):
        sys.exit(1)
