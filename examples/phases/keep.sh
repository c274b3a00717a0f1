#!/bin/sh
# Keeps a fraction of the records: keep.sh DECISION PERCENT. Four random digits of each record,
# from digit 4·DECISION on, say whether it stays; of 116 percent, 16 are written twice.
exec awk -F '\t' -v at="$(($1 * 4 + 1))" -v keep="$2" '{
	copies = int(keep / 100) + (substr($2, at, 4) + 0 < (keep % 100) * 100)
	while (copies-- > 0) print
}'
