#!/bin/sh
# Installs berth with its man pages, completions and docs below a folder: install.sh BERTH ROOT
# ROOT is, for instance, /usr/local, or the folder of a package that is being made.
set -eu
berth=$1 root=$2
here=$(cd "$(dirname "$0")/.." && pwd)
man=$(mktemp -d)
trap 'rm -rf "$man"' EXIT
"$berth" docs --man "$man"
install -d "$root/bin" "$root/share/man/man1" "$root/share/doc/berth" "$root/share/bash-completion/completions" \
	"$root/share/zsh/site-functions" "$root/share/fish/vendor_completions.d"
install -m 755 "$berth" "$root/bin/berth"
install -m 644 "$man"/*.1 "$root/share/man/man1"
# The pages keep their folders, so that the links between them work.
for dir in . docs lab lab/results; do
	install -d "$root/share/doc/berth/$dir"
	for file in "$here/$dir"/*.md "$here/$dir"/*.svg "$here/$dir"/*.png; do
		[ ! -e "$file" ] || install -m 644 "$file" "$root/share/doc/berth/$dir"
	done
done
install -m 644 "$here/LICENSE" "$root/share/doc/berth"
install -D -m 644 "$here/r/berth.R" "$root/share/berth/berth.R"
complete() { "$berth" completion "$1" >"$root/share/$2"; }
complete bash bash-completion/completions/berth
complete zsh zsh/site-functions/_berth
complete fish fish/vendor_completions.d/berth.fish
