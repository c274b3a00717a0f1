"""Runs Snakemake for a job, as python -m snakemake does, with standard error where standard output goes."""

import os
import runpy

if __name__ == "__main__":
    os.dup2(1, 2)
    runpy.run_module("snakemake", run_name="__main__", alter_sys=True)
