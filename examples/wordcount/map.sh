#!/bin/sh
# Writes each word of its input with the count 1.
exec awk '{ for (i = 1; i <= NF; i++) print $i "\t1" }'
