// Package event defines the records of what happened to jobs, tasks, nodes and
// allocations. The engine's state is a fold over them and over nothing else; the
// journal stores them; reports are computed from them. An Entry is a record with its
// sequence number and time:
//
//	data, err := event.Entry{Seq: 1, At: now, Record: event.JobSubmitted{Work: work}}.Marshal()
//	entry, err := event.Unmarshal(data)
//
// Records are facts, not requests: a record in the journal has happened and is never
// decided again. So a journal of an older berth, whose scheduler decided otherwise,
// replays to the state that it stood for. The names and numbers in an encoded record never
// change. The package does no input or output.
package event
