#!/usr/bin/env python3
"""Writes each word of its input with the count 1."""
import sys

for line in sys.stdin.buffer:
    sys.stdout.buffer.writelines([word + b"\t1\n" for word in line.split()])
