// Package coordinator is the live shell around the engine: one process a user,
// which feeds the engine with what users, workers and drivers say, keeps its
// records in journals, and carries out its actions.
//
// Everything that touches the engine runs in one goroutine, the loop (loop.go).
// Sessions with workers (session.go), the control interface for the commands
// (api.go) and drivers post what they have to say to it. A round of the loop is:
// take what was posted, step the engine, write the records to the journals, then
// act. So whatever a worker was told is in a journal that survives the
// coordinator's death, and a coordinator that starts again replays them.
package coordinator
