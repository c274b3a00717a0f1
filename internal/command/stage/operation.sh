#!/bin/sh
# The operation on one part, $1: makes $BERTH_OUTPUT, a file or folder, of $BERTH_INPUT.
set -eu
parts=$BERTH_PARTS_FOLDER part=${1##*/}
[ ! -e "$parts/out/$part" ] || exit 0 # an attempt before this one made it
mine=$(mktemp -d "$parts/out/.$part.XXXXXX")
trap 'rm -rf "$mine"' EXIT
export BERTH_PART="$part" BERTH_INPUT="$parts/in/$part" BERTH_OUTPUT="$mine/$part"
if [ -e "$parts/operation.script" ]; then
	"$parts/operation.script"
else
	cp -RL "$BERTH_INPUT" "$BERTH_OUTPUT"
fi
[ -e "$BERTH_OUTPUT" ] || {
	echo "berth: the operation on part $part left no result: there is no \$BERTH_OUTPUT" >&2
	exit 1
}
mv -T "$BERTH_OUTPUT" "$parts/out/$part" 2>/dev/null || [ -e "$parts/out/$part" ] # another attempt may have been first
