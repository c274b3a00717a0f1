#!/bin/sh
# Runs every check of the project. The race detector needs a C compiler, the tests with Slurm
# need its packages; BERTH_NO_SLURM=1 skips them. Those with mrjob get it from PyPI; BERTH_NO_MRJOB=1 skips them. Tests of rented machines need moto, from PyPI.
set -eu
cd "$(dirname "$0")/.."
scripts/deps.sh gcc='gcc libc6-dev' awk=mawk python3=python3 zstd=zstd bzip2=bzip2 /usr/bin/convert=imagemagick velveth=velvet sshd=openssh-server ssh=openssh-client ip=iproute2 tc=iproute2 chromium=chromium
scripts/moto.sh >/dev/null
[ -n "${BERTH_NO_SLURM:-}" ] || scripts/slurm.sh deps acct
[ -n "${BERTH_NO_MRJOB:-}" ] || { BERTH_MRJOB=$(scripts/mrjob.sh) && export BERTH_MRJOB; }

echo '== lint'
scripts/lint.sh

echo '== tests, race detector on'
# Those of the whole come first, and four packages run side by side on however few cores: tests mostly wait, for minutes of batch systems say.
CGO_ENABLED=1 go test -race -timeout 18m -p 4 ./test ./...

echo '== fuzz targets, some thousand executions each'
scripts/fuzz.sh ${FUZZ_TIME:+"$FUZZ_TIME"}
