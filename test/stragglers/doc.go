// Command stragglers compares rules on slow tasks on this machine: workers, each in a control group with a part of a core, one
// of which becomes slow under its task, as hogs compute beside it or its part is made smaller, at a moment that a seed
// gives. On them it runs the examples blur and assembly under each rule in turn. Workers, coordinator, progress and rules are
// the real ones.
//
//	go run ./test/stragglers -berth bin/berth -out /tmp/out
//
// It needs root, for control groups (version 1 or 2), and Debian's imagemagick, velvet and python3. It prints the tables
// of docs/stragglers.md, and keeps what was measured as results.json in the folder given.
package main
