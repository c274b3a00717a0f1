#!/bin/sh
# Prints what a program of this repository is linked with, as a table of names, versions and licences, and then the texts of the licences,
# each once. The modules must be in Go's cache, as they are where the program was built. It fails for a module without a licence.
#   licences.sh BERTH
set -eu
berth=$(realpath "$1")
cd "$(dirname "$0")/.."
go=${GO:-go}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# kinds FILE: the licences whose words are in a text, by their names in SPDX.
kinds() {
	text=$(tr -s '[:space:]*' ' ' <"$1")
	has() { case $text in *"$1"*) true ;; *) false ;; esac }
	if has 'Apache License' && has 'Version 2.0'; then echo Apache-2.0; fi
	if has 'Mozilla Public License' && has '2.0'; then echo MPL-2.0; fi
	if has 'Permission is hereby granted, free of charge'; then echo MIT; fi
	if has 'Redistribution and use in source and binary forms'; then
		if has 'Neither the ' || has 'may not be used to endorse'; then echo BSD-3-Clause; else echo BSD-2-Clause; fi
	fi
	if has 'disclaims copyright' || has 'the public domain'; then echo 'public domain'; fi
}

# modules: name, version and folder of each part; the page's own is a copy in the repository.
modules() {
	"$go" version -m "$berth" | awk '$1 == "dep" { print $2 }' >"$tmp/linked"
	echo "Go $("$go" version "$berth" | sed 's/.* go//') $("$go" env GOROOT)"
	# shellcheck disable=SC2046 # one word for each module
	"$go" list -m -f '{{.Path}} {{.Version}} {{.Dir}}' $(cat "$tmp/linked")
	echo "uPlot $(sed -n 's/.*uPlot.*(v\([0-9.]*\)).*/\1/p' internal/show/dashboard/assets/uplot/*.js | head -n 1) internal/show/dashboard/assets/uplot"
}

modules >"$tmp/modules"
echo "berth $(cat VERSION) has the licence Apache-2.0, which stands at the end. These parts are linked with it:"
echo
while read -r name version dir; do
	: >"$tmp/kinds"
	for file in "$dir"/*; do
		case ${file##*/} in
		*[Ll][Ii][Cc][Ee][Nn][CcSs][Ee]* | COPYING* | NOTICE*) ;;
		*) continue ;;
		esac
		[ -f "$file" ] || continue
		kinds "$file" >>"$tmp/kinds"
		sum=$(sha256sum <"$file" | cut -c1-16)
		[ -e "$tmp/$sum.of" ] || { echo "$sum" >>"$tmp/order" && cp "$file" "$tmp/$sum.text"; }
		echo "$name ${file##*/}" >>"$tmp/$sum.of"
	done
	[ -s "$tmp/kinds" ] || { echo "licences.sh: $name $version has no licence that is known in ${dir:-Go's cache}; read it, and add it to scripts/licences.sh" >&2; exit 1; }
	printf '%-58s %-40s %s\n' "$name" "$version" "$(sort -u "$tmp/kinds" | paste -sd, | sed 's/,/, /g')"
done <"$tmp/modules"
while read -r sum; do
	echo
	echo '================================================================================'
	cat "$tmp/$sum.of"
	echo '--------------------------------------------------------------------------------'
	cat "$tmp/$sum.text"
done <"$tmp/order"
echo
echo '================================================================================'
echo 'berth'
echo '--------------------------------------------------------------------------------'
cat LICENSE
