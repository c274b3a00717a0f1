// Package leader determines which process is a user's one coordinator: who is (owner.go), how a process becomes it and
// stops being it (ownership.go), how one waits for that (await.go), requests to a stand-in to end and whether the user
// has stopped coordinators (wish.go), and the user's settings for coordinators (choice.go). All of that is stored in
// files of the state folder, which coordinators and commands of several machines may share.
package leader

import "berth/internal/sys/statedir"

// Seat is the role of coordinator for one state folder, which at most one process has.
type Seat struct{ home statedir.Home }

// Of returns the seat of a state folder.
func Of(h statedir.Home) Seat { return Seat{h} }
