// Package leader is the place of a user's one coordinator: who has it (owner.go), how it is taken and lost (ownership.go), who wants a
// stand-in to make way and whether the user has stopped coordinators (wish.go), how one waits for it (await.go), and what
// the user has chosen for whoever has it (choice.go). All of that lies in files of the state folder, which coordinators and commands of several
// machines may share.
package leader

import "berth/internal/sys/statedir"

// Seat is the place of the coordinator of one state folder.
type Seat struct{ home statedir.Home }

// Of returns the place of the coordinator whose state folder that is.
func Of(h statedir.Home) Seat { return Seat{h} }
