package step

import "fmt"

// Performer carries out actions. Every world around an engine has one, live or simulated,
// so that none can leave an action out.
type Performer interface {
	Start(Start)
	Kill(Kill)
	Grant(Grant)
	Commit(Commit)
	Locate(Locate)
	Forget(Forget)
	Request(Request)
	Release(Release)
	Plan(Plan)
	Clear(Clear)
	Seek(Seek)
	Finalize(Finalize)
}

// Perform has an action carried out.
func Perform(a Action, by Performer) {
	switch a := a.(type) {
	case Start:
		by.Start(a)
	case Kill:
		by.Kill(a)
	case Grant:
		by.Grant(a)
	case Commit:
		by.Commit(a)
	case Locate:
		by.Locate(a)
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
