#!/bin/sh
# Adds up the counts of each word. Its input is sorted by word; counts may have been added up before.
exec awk -F '\t' '
($1 "") != word { if (NR > 1) print word "\t" sum; word = $1 ""; sum = 0 }
{ sum += $2 }
END { if (NR) print word "\t" sum }'
