"""Runs a pipeline of nf-core with berth: python nfcore.py FOLDER, in an empty folder, with nextflow on PATH.

nf-core's tools make it from their template, with FastQC and MultiQC; FOLDER is a Python environment that has them. Left out are the parts that
need plugins of Nextflow or other files from the network. The reads are made here. The pipeline runs unchanged, without containers, by
Nextflow's own executor and by that for HyperQueue with berth's hq.
"""

import gzip
import json
import os
import pathlib
import random
import sys

from flows import compare, reads, run, sequence

LEFT_OUT = ["github", "ci", "nf_core_configs", "nf_schema", "igenomes", "code_linters", "gitpod", "codespaces", "email", "adaptivecard", "slackreport",
            "seqera_platform", "rocrate", "vscode", "test_config"]
TEMPLATE = {"name": "demo", "description": "From the template", "author": "nobody", "version": "1.0.0", "org": "berth", "outdir": ".",
            "skip_features": LEFT_OUT}
CONFIG = """
process.resourceLimits = [cpus: 2, memory: '2.GB', time: '1.h']
executor.$hq.pollInterval = '1 sec'
"""


def demo(where: pathlib.Path, way: str) -> int:
    rng = random.Random(3)
    genome, sheet = sequence(rng, 10000), ["sample,fastq_1,fastq_2"]
    for sample in "ABC":
        files = [where / f"{sample}_{pair}.fastq.gz" for pair in "12"]
        for file in files:
            with gzip.open(file, "wt") as f:
                f.writelines(reads(rng, genome, 500))
        sheet.append(",".join(map(str, [sample, *files])))
    (where / "samples.csv").write_text("\n".join(sheet) + "\n")
    (where / "site.config").write_text(CONFIG)
    command = ["nextflow", "-q", "run", "../berth-demo", "-c", "site.config", "--input", "samples.csv", "--outdir", "results"]
    if way == "alone":
        run(command, where)
        return 0
    run(["berth", "hq-home", "hq"], where)
    path = {"PATH": f"{where}/hq/bin:{os.environ['PATH']}"}
    run([*command, "-process.executor", "hq"], where, path)
    jobs = run(["hq", "job", "list", "--all"], where, path).splitlines()
    run(["hq", "server", "stop"], where, path)
    return len(jobs)


def main() -> None:
    os.environ["PATH"] = f"{sys.argv[1]}/bin:{os.environ['PATH']}"
    os.environ["NFCORE_NO_VERSION_CHECK"] = "1"
    pathlib.Path("template.yml").write_text(json.dumps(TEMPLATE))  # which is YAML, too
    run(["nf-core", "pipelines", "create", "--template-yaml", "template.yml"], pathlib.Path(), {"HOME": os.getcwd()})
    found = "results/multiqc/multiqc_data/"
    compare("demo", demo, ["results/fastqc/*.zip", found + "multiqc_fastqc.txt", found + "multiqc_general_stats.txt",
                           "results/pipeline_info/*versions.yml"], 4)


if __name__ == "__main__":
    main()
