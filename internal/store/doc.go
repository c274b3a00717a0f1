// Package store keeps the history of runs and what was measured in them, in an
// SQLite database in the user's state folder, and gives profiles back.
//
// Per run and part of a task (a phase, or a stretch that a model stands on) one row
// is kept: exact sums and a histogram, as predict.Measure has them. So a run of a
// million tasks takes some kilobytes, and reading a profile takes milliseconds.
//
// History is a help, never a condition: no job may fail because its database is
// locked, damaged or on a full disk. Every error is a *job.Error that wraps one of
// ErrCorrupt, ErrLocked, ErrNewer and ErrUnusable; a caller warns and goes on with a
// nil *Store, which forgets what it is given and knows nothing.
//
// Several processes may have the same database open.
package store
