#!/bin/sh
# Makes the files of a release: a tarball with one static program, and a Debian package if dpkg-deb is installed.
#   dist.sh BERTH FOLDER
set -eu
berth=$1 out=$2
here=$(cd "$(dirname "$0")/.." && pwd)
arch=$(cd "$here" && ${GO:-go} env GOARCH)
# "berth v1.2.3 commit … go…", where a build from a folder without version control says (devel).
version=$("$berth" --version | cut -d' ' -f2 | sed 's/^v//; s/^(devel)$/0.0.0/')
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$out"
name=berth-$version-linux-$arch
"$here/scripts/install.sh" "$berth" "$tmp/$name"
tar -C "$tmp" --sort=name --owner=0 --group=0 --numeric-owner -czf "$out/$name.tar.gz" "$name"
echo "$out/$name.tar.gz"
command -v dpkg-deb >/dev/null || { echo "no Debian package: dpkg-deb is missing" >&2; exit 0; }
deb=$tmp/deb
"$here/scripts/install.sh" "$berth" "$deb/usr"
mv "$deb/usr/share/zsh/site-functions" "$deb/usr/share/zsh/vendor-completions" # where Debian's zsh looks
gzip -9n "$deb"/usr/share/man/man1/*.1
mkdir "$deb/DEBIAN"
# The version of a commit has a hyphen, which stands before the revision of a package in Debian's versions.
cat >"$deb/DEBIAN/control" <<EOF
Package: berth
Version: $(printf %s "$version" | tr - '~')
Architecture: $arch
Maintainer: the berth developers <berth@localhost>
Section: science
Priority: optional
Suggests: slurm-client, openssh-client
Description: run MapReduce jobs and bags of tasks where they are done soonest
 berth takes a MapReduce job or a bag of tasks to a Slurm cluster, to hosts that
 ssh reaches or to this machine: it decides how many nodes and how much time to
 ask for, runs the tasks phase by phase, and never loses finished work.
EOF
dpkg-deb -Zgzip --root-owner-group --build "$deb" "$out/berth_$arch.deb" >/dev/null
echo "$out/berth_$arch.deb"
