// Mutants measures how much the tests notice: it changes one place of the product at a time (a comparison, a
// constant, a statement that is dropped) and runs the tests that should fail. A change that no test notices survives.
//
//	go run ./test/mutants -seed 1 -n 60 -packages engine,sched -report before.json
//	go run ./test/mutants -in before.json -report after.json
//
// The first command draws changes and runs the tests on each. The second repeats the changes that were noticed, perhaps
// in another state of the source, and prints which outcomes differ; with -all, it repeats those that survived, too.
// A change is therefore described by words of the source and not by a path and a line number: package, function,
// statement, and the place in it. It is applied by an overlay of the go command, so that no file of the source is written.
//
// A change of the source can do anything: endless loops, signals to processes of others. So a limit of memory, file
// sizes and time holds for each run of tests, and they run in a process namespace of their own, which needs root.
package main
