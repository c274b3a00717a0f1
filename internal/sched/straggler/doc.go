// Package straggler finds tasks that run slower than their peers, and says what is to be done about them.
//
// The engine looks at the tasks of one kind of a job every few seconds: it describes them in a View, and a Rule answers
// with a Verdict for each attempt. What the engine has to keep for that is kept by two types: a Track for each running
// attempt, to which each measurement of its progress is added, and a Past for each kind of tasks of a job, which takes
// in the attempts that were done and has the curves that others are compared with.
//
// A rule is a file, and reads like the paper that it comes from: nothing.go, hadoop.go, late.go, p75.go, mantri.go,
// paper.go (NO², by two-means clustering) and berth.go (ours). ByName knows them all.
//
// The package belongs to the pure core: no clock, file, network, logger, goroutine or random source, and a rule remembers
// nothing from one View to the next, so a new coordinator goes on where the one before it ended.
package straggler
