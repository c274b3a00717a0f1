#!/bin/sh
# Makes a Python environment with mrjob for the tests, unless it is there, and prints its folder.
# mrjob 0.7.4, the last version, imports two modules that Python no longer has from 3.12 (distutils) and 3.13 (pipes) on; where they are
# missing, small modules of their names with what mrjob uses of them are put beside it.
set -eu
version=0.7.4
cd "$(dirname "$0")/.."
python3 -c 'import ensurepip, venv' 2>/dev/null || scripts/deps.sh /nowhere/venv=python3-venv >&2
python=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
dir=${XDG_CACHE_HOME:-$HOME/.cache}/berth-test/mrjob-$version-python$python
if [ ! -e "$dir/ready" ]; then
	rm -rf "$dir"
	python3 -m venv "$dir" >&2
	"$dir/bin/pip" install -q --disable-pip-version-check --no-compile "mrjob==$version" PyYAML==6.0.3 >&2
	# Each task of mrjob would import its own distutils, and take three times as long to start.
	"$dir/bin/pip" uninstall -q -y setuptools >&2 || true # newer versions of Python bring none
	lib=$("$dir/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
	"$dir/bin/python" -W ignore -c 'import pipes' 2>/dev/null || echo 'from shlex import quote' >"$lib/pipes.py"
	"$dir/bin/python" -W ignore -c 'import distutils.spawn, distutils.version' 2>/dev/null || {
		mkdir "$lib/distutils"
		: >"$lib/distutils/__init__.py"
		echo 'from shutil import which as find_executable' >"$lib/distutils/spawn.py"
		cat >"$lib/distutils/version.py" <<-'END'
			import re


			class LooseVersion:
			    """Versions by their numbers, as many as there are."""

			    def __init__(self, text):
			        self.version = [int(n) for n in re.findall(r"\d+", text)]

			    def __eq__(self, other):
			        return self.version == other.version

			    def __lt__(self, other):
			        return self.version < other.version

			    def __le__(self, other):
			        return self.version <= other.version

			    def __ge__(self, other):
			        return self.version >= other.version

			    def __gt__(self, other):
			        return self.version > other.version
		END
	}
	PYTHONDONTWRITEBYTECODE='' "$dir/bin/python" -W ignore -c 'import mrjob.job, mrjob.hadoop, mrjob.inline, mrjob.local'
	: >"$dir/ready"
fi
echo "$dir"
