// Package engine is berth's one loop: an input and the time go in, records and
// actions come out.
//
// The engine decides everything that happens to jobs, tasks and allocations, and
// does none of it. A live coordinator and the simulator both do the same: hand
// inputs to Step, make its records durable, then carry out its actions.
//
// The engine's state changes in one place, apply, by one record at a time. Step
// turns an input into records (each applied as it is made) and then lets the
// scheduler make more. So the state is the fold of the journal, and a coordinator
// that died is brought back by Replay.
//
// The package touches no clock, file, network, logger, goroutine or random source.
package engine
