#!/usr/bin/env python3
"""Makes the wheel of the package for Python with the program inside, from what python/pyproject.toml says, and prints its name.
wheel.py BERTH LICENCES ARCH FOLDER: ARCH as Go calls it. All in it has the time SOURCE_DATE_EPOCH. Needs Python 3.11, and nothing else."""

import base64
import hashlib
import os
import sys
import time
import tomllib
import zipfile
from pathlib import Path

berth, licences, arch, folder = sys.argv[1:]
here = Path(__file__).resolve().parent.parent / "python"
project = tomllib.loads((here / "pyproject.toml").read_text())["project"]
name = f"{project['name']}-{project['version']}"
machines = {"amd64": "x86_64", "arm64": "aarch64", "386": "i686", "ppc64le": "ppc64le", "s390x": "s390x"}
if arch not in machines:
    sys.exit(f"wheel.py: pip's name of {arch} is not known; add it to the table of machines")
machine = machines[arch]
# The program is static, so that it runs with any C library.
tag = f"py3-none-manylinux_2_17_{machine}.manylinux2014_{machine}.musllinux_1_1_{machine}"

metadata = f"""Metadata-Version: 2.1
Name: {project['name']}
Version: {project['version']}
Summary: {project['description']}
License: Apache-2.0
Requires-Python: {project['requires-python']}
{"".join(f"Requires-Dist: {d}{chr(10)}" for d in project['dependencies'])}Description-Content-Type: text/markdown

{(here / project['readme']).read_text()}"""
entries = "\n".join(f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in points.items()) for group, points in project["entry-points"].items())

files = {}  # the content of each file, and whether it is a program
for path in (here / "src").rglob("*"):
    if path.is_file() and path.suffix != ".pyc" and ".egg-info" not in str(path):
        files[path.relative_to(here / "src").as_posix()] = path.read_bytes(), os.access(path, os.X_OK)
files[f"{name}.data/scripts/berth"] = Path(berth).read_bytes(), True
for file, text in {"METADATA": metadata, "WHEEL": "Wheel-Version: 1.0\nGenerator: berth\nRoot-Is-Purelib: false\n" + "".join(
        f"Tag: py3-none-{platform}\n" for platform in tag.removeprefix("py3-none-").split(".")), "entry_points.txt": entries}.items():
    files[f"{name}.dist-info/{file}"] = text.encode(), False
files[f"{name}.dist-info/licenses/licences.txt"] = Path(licences).read_bytes(), False

record = f"{name}.dist-info/RECORD"
lines = [f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
         for path, (data, _) in sorted(files.items())]
files[record] = "".join([*lines, f"{record},,\n"]).encode(), False

when = max((1980, 1, 1, 0, 0, 0), time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6])
with zipfile.ZipFile(Path(folder) / f"{name}-{tag}.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
    for path, (data, program) in sorted(files.items(), key=lambda f: (f[0] == record, f[0])):  # the record comes last
        entry = zipfile.ZipInfo(path, when)
        entry.create_system, entry.external_attr = 3, (0o100755 if program else 0o100644) << 16
        wheel.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
print(f"{name}-{tag}.whl")
