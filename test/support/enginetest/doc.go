// Package enginetest is a simple environment of an engine, for tests: workers that run
// attempts, fail, die, lose their connection and come back; drivers that start and
// end allocations; users; and a coordinator that may die between any two writes.
//
//	w := enginetest.New(engine.Config{}, choose, t.Fatalf)
//	w.Submit()
//	for range moves {
//		w.Move()
//	}
//	w.Finish()
//
// A World does what its chooser decides, and does not depend on how the engine decides. It is no second
// simulator: it carries out actions by step.Perform, as package sim does, but has no cluster, queue
// or durations, and breaks what sim keeps intact: connections, messages in transit, partly written journals.
// A Ledger folds the records independently and checks the invariants: no node
// is oversubscribed, no two attempts of a task may commit, and no task that is done runs again.
package enginetest
