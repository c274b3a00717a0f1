// Command load measures what a coordinator holds: so many workers at once, so many tasks a second, and so many tasks in a bag. It
// writes the table of lab/results/load.md.
//
//	make load LOAD="-workers 2000"
//
// The coordinator and all commands are the program itself. Its workers are a fake, as two thousand machines cannot be had: one
// process that connects as all of them, by real TLS with real messages, and whose tasks are nothing but a time that passes. The
// coordinator starts workers of this machine, by a script that stands in the place of the program and hands the configuration of
// its worker to that process.
package main
