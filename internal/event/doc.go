// Package event holds the records of what happened to jobs, tasks, nodes and
// allocations. The engine's state is a fold over them and over nothing else; the
// journal keeps them; reports are drawn from them.
//
// Records are facts, not requests: one that is in the journal has happened and is
// never judged again. So a journal written by an older berth, whose scheduler
// decided otherwise, still replays to the state it stood for.
package event
