// Package history stores the history of runs and their measurements in an SQLite database
// in the user's state folder, and makes profiles of them.
//
// One row is stored for each run and part of a task (a phase, or the part of the time that a
// model describes): exact sums and a histogram, as in predict.Measure. So a run of a
// million tasks takes a few kilobytes, and reading a profile takes milliseconds.
//
// No job may fail because the database is locked, damaged or on a full disk. Every error
// is a *job.Error that wraps one of ErrCorrupt, ErrLocked, ErrNewer and ErrUnusable. A
// caller prints a warning and continues with a nil *Store, which is always empty:
//
//	s, err := store.Open(ctx, path)
//	if err != nil {
//		warn(err) // s is nil and can be used
//	}
//	profile, err := s.Profile(ctx, app, nodeType)
//
// Several processes may have the same database open.
package history
