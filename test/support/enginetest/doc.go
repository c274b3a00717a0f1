// Package enginetest is a dumb world around an engine, for tests: workers that run
// attempts, fail, die, lose their connection and come back; drivers that grant and
// end allocations; users; and a coordinator that dies between any two writes.
//
// The world does what a chooser says, and knows nothing of how the engine decides. It is no second
// simulator: it carries out actions by engine.Perform, as package sim does, but has no cluster, no queue
// and no durations, and breaks what sim keeps whole: connections, messages on the way, journals half written.
// Beside it a ledger folds the records anew and checks what must always hold: no node
// is oversubscribed, no two attempts of a task may commit, nothing done is run again.
package enginetest
