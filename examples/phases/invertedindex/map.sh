#!/bin/sh
# Writes each word of a document with the document's identifier, which is the first word of the line.
exec awk '{ for (i = 2; i <= NF; i++) print $i "\t" $1 }'
