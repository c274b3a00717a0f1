#!/bin/sh
# Makes the files of a release from a program: a tarball, a Python wheel where Python 3.11 is, a Debian package where dpkg-deb is,
# the list of what is linked with its licences, and the checksums of all. The same program and commit give the same bytes. It prints the names of the files.
#   dist.sh BERTH FOLDER
set -eu
berth=$1 out=$2
here=$(cd "$(dirname "$0")/.." && pwd)
version=$(cat "$here/VERSION")
arch=$(${GO:-go} version -m "$berth" | sed -n 's/^\tbuild\tGOARCH=//p')
# All that is packed has the time of the commit, or of the source where there is no version control.
[ ! -e "$here/.git" ] || SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct)}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(stat -c %Y "$here/VERSION")}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$out"
dated() { find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +; }

"$here/scripts/licences.sh" "$berth" >"$tmp/licences.txt"
name=berth-$version-linux-$arch
"$here/scripts/install.sh" "$berth" "$tmp/$name"
cp "$tmp/licences.txt" "$tmp/$name/share/doc/berth"
dated "$tmp/$name"
tar -C "$tmp" --format=gnu --sort=name --owner=0 --group=0 --numeric-owner -cf "$tmp/tar" "$name"
gzip -9n <"$tmp/tar" >"$out/$name.tar.gz"
cp "$tmp/licences.txt" "$out/berth-$version-licences.txt"
made="$name.tar.gz berth-$version-licences.txt"
if python3 -c 'import tomllib' 2>/dev/null; then
	made="$made $(python3 "$here/scripts/wheel.py" "$berth" "$tmp/licences.txt" "$arch" "$out")"
else
	echo "no wheel: Python 3.11 is missing" >&2
fi
if command -v dpkg-deb >/dev/null; then
	deb=$tmp/deb
	"$here/scripts/install.sh" "$berth" "$deb/usr"
	mv "$deb/usr/share/zsh/site-functions" "$deb/usr/share/zsh/vendor-completions" # where Debian's zsh looks
	mv "$tmp/licences.txt" "$deb/usr/share/doc/berth/copyright"                     # where Debian's users look
	gzip -9n "$deb"/usr/share/man/man1/*.1
	mkdir "$deb/DEBIAN"
	cat >"$deb/DEBIAN/control" <<END
Package: berth
Version: $version
Architecture: $arch
Maintainer: the berth developers <berth@localhost>
Section: science
Priority: optional
Suggests: slurm-client, openssh-client
Description: run MapReduce jobs and bags of tasks where they are done soonest
 berth takes a MapReduce job or a bag of tasks to a Slurm cluster, to hosts that
 ssh reaches or to this machine: it decides how many nodes and how much time to
 ask for, runs the tasks phase by phase, and never loses finished work.
END
	dated "$deb"
	dpkg-deb -Zgzip --root-owner-group --build "$deb" "$out/berth_${version}_$arch.deb" >/dev/null
	made="$made berth_${version}_$arch.deb"
else
	echo "no Debian package: dpkg-deb is missing" >&2
fi
cd "$out"
# shellcheck disable=SC2086 # one word for each file
sha256sum $made >SHA256SUMS
for file in $made SHA256SUMS; do echo "$out/$file"; done
