#!/usr/bin/env python3
"""Joins associations that differ in the last item only to candidates that have one item more."""
import itertools
import sys

pairs = (line.rstrip().split(b"\t") for line in sys.stdin.buffer)
for first, group in itertools.groupby(pairs, key=lambda pair: pair[0]):
    last = sorted({item for _, item in group})
    sys.stdout.buffer.writelines([b"%b\t%b,%b\n" % (first, a, b) for a, b in itertools.combinations(last, 2)])
