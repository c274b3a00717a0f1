// Package straggler finds attempts that run more slowly than their peers, and decides what to do about them.
//
// Every few seconds the engine describes the tasks of one kind of a job in a View, and a Rule answers with a Verdict for
// each running attempt:
//
//	for _, verdict := range rule.Assess(&view) {
//		switch verdict.Act { case straggler.Duplicate: …
//	}
//
// Two types keep what the engine must remember for that. A Track belongs to each running attempt and receives its
// measurements of progress. A Past belongs to each kind of tasks of a job; it receives the attempts that were done and has
// the curves with which others are compared.
//
// Each rule is a file that follows the paper that it comes from: nothing.go, paper.go (NO², by two-means clustering) and
// berth.go (ours); the rules of other papers are in the laboratory. ByName returns a rule by its name.
//
// The package belongs to the pure core: it uses no clock, file, network, logger, goroutine or random source. A rule remembers
// nothing from one View to the next, so a new coordinator continues where the previous one ended.
package straggler
