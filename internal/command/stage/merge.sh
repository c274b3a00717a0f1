#!/bin/sh
# The merge: makes $BERTH_OUTPUT of the results of all parts, in $BERTH_INPUT by their numbers.
set -eu
parts=$BERTH_PARTS_FOLDER
done_with() {
	[ "$BERTH_KEEP_PARTS" != 0 ] || rm -rf "$parts/in" "$parts/out"
	exit 0
}
[ ! -e "$BERTH_JOB_OUTPUT" ] || done_with # an attempt before this one made it, and its end was not told
mine=$(mktemp -d "$(dirname "$BERTH_JOB_OUTPUT")/.merge.XXXXXX")
trap 'rm -rf "$mine"' EXIT
export BERTH_INPUT="$parts/out" BERTH_OUTPUT="$mine/${BERTH_JOB_OUTPUT##*/}"
if [ -e "$parts/merge.script" ]; then
	"$parts/merge.script"
else
	n=0
	while [ "$n" -lt "$BERTH_PARTS" ]; do
		n=$((n + 1))
		cat "$BERTH_INPUT/$n"
	done >"$BERTH_OUTPUT"
fi
[ -e "$BERTH_OUTPUT" ] || {
	echo "berth: the merge left no result: there is no \$BERTH_OUTPUT" >&2
	exit 1
}
mv -T "$BERTH_OUTPUT" "$BERTH_JOB_OUTPUT"
rm -rf "$mine"
done_with
