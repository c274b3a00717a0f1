// Package rundir prepares a job and reads its run: the steps that commands share, with a coordinator or without.
//
//	d, err := run.Decide(ctx, home, spec, entries) // read the input, observe the backend, plan
//	r, err := run.Prepare(home, d)                 // create the run's folder; the coordinator continues from it
//	view, err := run.View(r)                       // the state of the run, from its folder alone
//
// It starts nothing: the coordinator does. Replan plans the rest of a run before it is resumed.
package rundir
