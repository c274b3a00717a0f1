#!/bin/sh
# The split: leaves a file or folder for each part in $BERTH_OUTPUT, named by its number from 1.
set -eu
parts=$BERTH_PARTS_FOLDER
[ ! -d "$parts/in" ] || exit 0 # an attempt before this one made them, and its end was not told
mine=$(mktemp -d "$parts/.split.XXXXXX")
trap 'rm -rf "$mine"' EXIT
mkdir "$mine/in"
export BERTH_INPUT="$BERTH_JOB_INPUT" BERTH_OUTPUT="$mine/in"
if [ -e "$parts/split.script" ]; then
	"$parts/split.script"
elif [ -d "$BERTH_INPUT" ]; then
	n=0
	for file in "$BERTH_INPUT"/*; do
		n=$((n + 1))
		ln -s "$file" "$BERTH_OUTPUT/$n"
	done
else
	split -n "l/$BERTH_PARTS" -a 9 --numeric-suffixes=1 "$BERTH_INPUT" "$BERTH_OUTPUT/"
	for file in "$BERTH_OUTPUT"/*; do
		mv "$file" "$BERTH_OUTPUT/$(basename "$file" | sed 's/^0*//')"
	done
fi
n=0
while [ "$n" -lt "$BERTH_PARTS" ]; do
	n=$((n + 1))
	[ -e "$BERTH_OUTPUT/$n" ] || {
		echo "berth: the split left no part $n of $BERTH_PARTS: there is no \$BERTH_OUTPUT/$n" >&2
		exit 1
	}
done
[ ! -e "$BERTH_OUTPUT/$((n + 1))" ] || {
	echo "berth: the split left a part $((n + 1)), and there are to be $BERTH_PARTS (parts, in the job file)" >&2
	exit 1
}
mv -T "$mine/in" "$parts/in" 2>/dev/null || [ -d "$parts/in" ]
