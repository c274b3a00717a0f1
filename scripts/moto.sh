#!/bin/sh
# Installs moto's server, which answers as EC2 and S3 do, into a folder of its own below the cache folder unless it is there, and prints the path of its
# program. PyPI gives it.
set -eu
cd "$(dirname "$0")/.."
version=5.2.5
dir=${XDG_CACHE_HOME:-$HOME/.cache}/berth-test/moto-$version
mkdir -p "$(dirname "$dir")"
exec 9>"$dir.lock"
flock 9 # tests of several packages want it at once
if [ ! -x "$dir/bin/moto_server" ]; then
	scripts/deps.sh python3=python3
	python3 -c "import ensurepip, venv" 2>/dev/null || scripts/deps.sh ensurepip=python3-venv
	rm -rf "$dir" "$dir.new"
	python3 -m venv "$dir"
	# Its server needs no more than this for EC2 and S3, and only what that imports is compiled.
	"$dir/bin/pip" install --quiet --disable-pip-version-check --no-compile "moto[ec2,s3]==$version" flask flask-cors >&2 &&
		PYTHONDONTWRITEBYTECODE='' "$dir/bin/python" -c 'import moto.server, moto.ec2.responses, moto.s3.responses' || {
		rm -rf "$dir"
		exit 1
	}
fi
echo "$dir/bin/moto_server"
