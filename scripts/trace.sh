#!/bin/sh
# The programs that `make trace` runs, planted and not: their Debian packages are the headings of the table of cases.
#
#   trace.sh deps    install the packages unless they are there
set -eu
cd "$(dirname "$0")/.."
[ "$*" = deps ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; }
command -v dpkg-query >/dev/null 2>&1 || { echo "trace.sh: this is no Debian; what is not installed is left out" >&2; exit 0; }
missing=
for p in $(sed -n 's/^\[\([a-z].*\)\]$/\1/p' lab/plant/cases.txt); do
	case $(dpkg-query -W -f '${Status}' "$p" 2>/dev/null) in
	*' installed') ;;
	*) missing="$missing package:$p=$p" ;; # no command has such a name, so it is installed
	esac
done
[ -z "$missing" ] || exec scripts/deps.sh $missing
