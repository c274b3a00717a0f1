#!/usr/bin/env python3
"""Puts the items of each association in order and writes all but the last one as the key, the last as the value."""
import sys

for line in sys.stdin.buffer:
    *first, last = sorted(line.rstrip().split(b","))
    sys.stdout.buffer.write(b"%b\t%b\n" % (b",".join(first), last))
