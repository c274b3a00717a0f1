#!/bin/sh
# Writes each word with all its documents. Its input is sorted by word and document, so equal pairs are together.
exec awk -F '\t' '
($1 "") != word { if (NR > 1) print ""; word = $1 ""; document = ""; printf "%s\t", word }
$2 != document  { printf "%s%s", document == "" ? "" : " ", $2; document = $2 }
END             { if (NR) print "" }'
