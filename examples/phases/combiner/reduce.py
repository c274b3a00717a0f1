#!/usr/bin/env python3
"""Adds up the counts of each word; the combiner does the same."""
import itertools
import sys

pairs = (line.split(b"\t") for line in sys.stdin.buffer)
for word, group in itertools.groupby(pairs, key=lambda pair: pair[0]):
    sys.stdout.buffer.write(b"%b\t%d\n" % (word, sum(int(count) for _, count in group)))
