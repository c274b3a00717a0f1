package step

import "fmt"

// Performer carries out actions. Every environment of an engine implements it, live or simulated,
// so that the compiler finds an action that is left out.
type Performer interface {
	Start(Start)
	Join(Join)
	Leave(Leave)
	Kill(Kill)
	Grant(Grant)
	Commit(Commit)
	Ask(Ask)
	Locate(Locate)
	Ends(Ends)
	Forget(Forget)
	Request(Request)
	Release(Release)
	Plan(Plan)
	Clear(Clear)
	Seek(Seek)
	Finalize(Finalize)
}

// Perform calls the method of the performer for the action.
func Perform(a Action, by Performer) {
	switch a := a.(type) {
	case Start:
		by.Start(a)
	case Join:
		by.Join(a)
	case Leave:
		by.Leave(a)
	case Kill:
		by.Kill(a)
	case Grant:
		by.Grant(a)
	case Commit:
		by.Commit(a)
	case Ask:
		by.Ask(a)
	case Locate:
		by.Locate(a)
	case Ends:
		by.Ends(a)
	case Forget:
		by.Forget(a)
	case Request:
		by.Request(a)
	case Release:
		by.Release(a)
	case Plan:
		by.Plan(a)
	case Clear:
		by.Clear(a)
	case Seek:
		by.Seek(a)
	case Finalize:
		by.Finalize(a)
	default:
		panic(fmt.Sprintf("step: unknown action %T", a))
	}
}
