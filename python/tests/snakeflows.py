"""Runs workflows that nobody here wrote with berth: python snakeflows.py FOLDER, in an empty folder.

One is Snakemake's tutorial, as Debian's package snakemake-doc prints it. The other is Sunbeam, of the Snakemake workflow catalogue, which PyPI
has; FOLDER is a Python environment with it and the Snakemake that it wants. The reads are made here. Snakemake alone and Snakemake with berth
must make the same files.
"""

import gzip
import os
import pathlib
import random
import re
import sys
from typing import List

from flows import compare, reads, run, sequence

TUTORIAL = "usr/share/doc/snakemake/html/_sources/tutorial"
WAYS = {"alone": ["--cores", "2"], "berth": ["--executor", "berth", "--jobs", "unlimited"]}
ADAPTER = "GTTTCCCAGTCACGATC"  # Sunbeam keeps the reads that begin with it


def blocks(page: str, language: str) -> List[str]:
    """Returns the blocks of code of a page of Snakemake's documentation."""
    found = re.findall(rf"^\.\. code:: {language}\n\n((?:    .*\n|\s*\n)+)", page, re.M)
    return [re.sub(r"^    ", "", b, flags=re.M) for b in found]


def tasks(where: pathlib.Path) -> int:
    """Returns how many jobs of a workflow were tasks, each of which has a log."""
    return len(list(where.glob(".snakemake/berth_logs/*/*.log")))


def tutorial(where: pathlib.Path, way: str) -> int:
    """Runs the final Snakefile of the tutorial, on a genome and two samples with other bases at each thousandth place."""
    pages = {name: pathlib.Path(TUTORIAL, name + ".rst.txt").read_text() for name in ("basics", "advanced")}
    for folder in ("data/samples", "scripts"):
        (where / folder).mkdir(parents=True)
    (where / "Snakefile").write_text(next(b for b in blocks(pages["advanced"], "python") if "rule plot_quals" in b))
    (where / "config.yaml").write_text(next(b for b in blocks(pages["advanced"], "yaml") if "prior_mutation_rate" in b))
    (where / "scripts/plot-quals.py").write_text(next(b for b in blocks(pages["basics"], "python") if "import matplotlib" in b))
    (where / "matplotlibrc").write_text("svg.hashsalt: berth\n")  # else two figures of the same are never the same file
    rng = random.Random(1)
    genome = sequence(rng, 20000)
    (where / "data/genome.fa").write_text(f">I\n{genome}\n")
    other = "".join("ACGT"["CGTA".index(b)] if i % 1000 == 500 else b for i, b in enumerate(genome))
    for sample in "AB":
        (where / f"data/samples/{sample}.fastq").write_text("".join(reads(rng, other, 4000)))
    for command in (["bwa", "index", "data/genome.fa"], ["samtools", "faidx", "data/genome.fa"]):
        run(command, where)
    run(["snakemake", "--set-threads", "bwa_map=2", *WAYS[way]], where, {"SOURCE_DATE_EPOCH": "0"})
    return tasks(where)


def sunbeam(where: pathlib.Path, way: str) -> int:
    """Runs Sunbeam: adapters, quality, FastQC, reads of little complexity, and reads of a host are removed from two samples."""
    (where / "reads").mkdir()
    (where / "host").mkdir()
    rng = random.Random(2)
    host, other = sequence(rng, 10000), sequence(rng, 10000)
    (where / "host/host.fasta").write_text(f">host\n{host}\n")
    for sample in "AB":
        for pair in "12":
            with gzip.open(where / f"reads/{sample}_R{pair}.fastq.gz", "wt") as f:
                f.writelines(reads(random.Random(sample), host, 500, ADAPTER, "h"))
                f.writelines(reads(random.Random(sample), other, 500, ADAPTER, "o"))
    path = [pathlib.Path("programs").absolute(), pathlib.Path(sys.argv[1], "bin"), os.environ["PATH"]]
    environment = {"SUNBEAM_MIN_MEM_MB": "1500", "PATH": ":".join(map(str, path))}
    run(["sunbeam", "init", "project", "--data_fp", "reads"], where, environment)
    config = where / "project/sunbeam_config.yml"
    text = re.sub("adapter_template: .*", "adapter_template: /usr/share/trimmomatic/NexteraPE-PE.fa", config.read_text())
    text = re.sub("cutadapt_opts: .*", "cutadapt_opts: ''", text)
    config.write_text(re.sub("host_fp: .*", f"host_fp: {where}/host", text))
    (where / "project/config.yaml").write_text("default-resources: [mem_mb=1500, runtime=60]\n")
    limits = ["--set-threads", "align_to_host=2", "adapter_removal_paired=2", "trimmomatic_paired=2",
              "--set-resources", "align_to_host:mem_mb=1500", "filter_reads:mem_mb=1500"]
    run(["sunbeam", "run", "--profile", "project", *limits, *WAYS[way]], where, environment)
    return tasks(where)


#: What the programs are called elsewhere; komplexity's, which Debian has not, tells here how many different words of four bases a read has.
PROGRAMS = {
    "trimmomatic": '#!/bin/sh\nmode=$1; shift; exec Trimmomatic$mode "$@"\n',
    "kz": """#!/usr/bin/awk -f
NR % 4 == 1 { id = substr($1, 2) }
NR % 4 == 2 {
    split("", seen); n = 0
    for (i = 1; i <= length($0) - 3; i++) if (!seen[substr($0, i, 4)]++) n++
    print id, length($0), n, n / length($0)
}
""",
}


def main() -> None:
    run(["apt-get", "download", "-q", "snakemake-doc"], pathlib.Path())
    run(["dpkg-deb", "-x", str(next(pathlib.Path().glob("snakemake-doc*.deb"))), "."], pathlib.Path())
    pathlib.Path("programs").mkdir()
    for name, text in PROGRAMS.items():
        pathlib.Path("programs", name).write_text(text)
        pathlib.Path("programs", name).chmod(0o755)
    compare("tutorial", tutorial, ["sorted_reads/*.bam", "sorted_reads/*.bai", "calls/all.vcf", "plots/quals.svg"], 7)
    qc = "project/sunbeam_output/qc/"
    compare("sunbeam", sunbeam, [qc + "cleaned/*.gz", qc + "decontam/*.gz", qc + "reports/*.tsv", qc + "reports/*/fastqc_data.txt",
                                 qc + "log/decontam/*.txt"], 20)


if __name__ == "__main__":
    main()
