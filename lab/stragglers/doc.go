// Command stragglers compares rules for stragglers on this machine. Its workers each run in a
// control group with a part of a core. One of them becomes slow during its task, at a moment drawn
// from a seed: either other programs compute on its node, or its part of the core is reduced. On
// these workers it runs the examples blur and assembly under each rule in turn. Workers,
// coordinator, progress and rules are the real ones.
//
//	go run ./lab/stragglers -berth bin/berth-lab -out /tmp/out
//
// It must run as root, for control groups (version 1 or 2), and needs Debian's imagemagick, velvet
// and python3. It prints the tables of lab/results/stragglers.md, and writes all measurements to
// results.json in the given folder.
package main
