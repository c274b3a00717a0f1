#!/bin/sh
# Installs each Debian package whose command is missing:
# deps.sh COMMAND=PACKAGE…
set -eu
PATH=$PATH:/usr/sbin # daemons are there, and ordinary users have it not on PATH
missing=
for want in "$@"; do
	command -v "${want%%=*}" >/dev/null 2>&1 || missing="$missing ${want#*=}"
done
[ -n "$missing" ] || exit 0
as_root=
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null 2>&1 || {
		echo "these Debian packages are needed:$missing; install them, or run as root" >&2
		exit 1
	}
	as_root=sudo
fi
echo "installing from Debian:$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086 # one word for each package
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
