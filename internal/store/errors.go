package store

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"berth/internal/job"
)

// What can be wrong with the database. Errors of this package wrap one of them.
var (
	// ErrCorrupt: the file is no database, or damaged.
	ErrCorrupt = errors.New("the database is damaged")
	// ErrLocked: another process held it for longer than it is waited for.
	ErrLocked = errors.New("the database is locked")
	// ErrNewer: a later version of berth has changed its tables.
	ErrNewer = errors.New("the database is of a newer berth")
	// ErrUnusable: it cannot be read or written for another reason, such as a full disk.
	ErrUnusable = errors.New("the database cannot be used")
)

// wrap makes any error of a database operation one that a person can act on.
func (s *Store) wrap(what string, err error) error { return wrap(s.path, what, err) }

func wrap(path, what string, err error) error {
	if err == nil {
		return nil
	}
	kind, do := classify(err), ""
	switch kind {
	case ErrCorrupt:
		do = "move the file away; history then starts anew"
	case ErrNewer:
		do = "use the berth that wrote it"
	case ErrLocked:
		do = "see which process has it open"
	}
	if !errors.Is(err, kind) {
		err = fmt.Errorf("%w: %w", kind, err)
	}
	return &job.Error{Class: job.Transient, Code: job.CodeIO, Where: path, What: what, Do: do, Err: err}
}

// classify tells which of the package's errors err amounts to.
func classify(err error) error {
	for _, kind := range []error{ErrCorrupt, ErrLocked, ErrNewer} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return ErrLocked
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return ErrUnusable
	}
	switch e.Code() & 0xff { // the primary of an extended result code
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return ErrCorrupt
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return ErrLocked
	}
	return ErrUnusable
}
