package history

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"berth/internal/core/job"
)

// Every error of this package wraps one of these.
var (
	// ErrCorrupt says that the file is not a database, or is damaged.
	ErrCorrupt = errors.New("the database is damaged")
	// ErrLocked says that another process had the database locked for longer than busyTimeout.
	ErrLocked = errors.New("the database is locked")
	// ErrNewer says that a later version of berth has changed the tables.
	ErrNewer = errors.New("the database was written by a newer version of berth")
	// ErrUnusable says that the database cannot be read or written for another reason, such as a full disk.
	ErrUnusable = errors.New("the database cannot be used")
)

// wrap turns an error of a database operation into one that says what to do.
func (s *Store) wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return wrap(s.path, what, err)
}

func wrap(path, what string, err error) error {
	kind, do := classify(err), ""
	switch kind {
	case ErrCorrupt:
		do = "move the file away; berth then begins a new history"
	case ErrNewer:
		do = "use that version of berth"
	case ErrLocked:
		do = "find the process that has it open, with fuser or lsof"
	}
	if !errors.Is(err, kind) {
		err = fmt.Errorf("%w: %w", kind, err)
	}
	return job.IOError(job.Transient, path, what, err).Advice(do)
}

// classify returns which of the package's errors describes err.
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
	switch e.Code() & 0xff { // the primary result code, without the extension
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return ErrCorrupt
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return ErrLocked
	}
	return ErrUnusable
}
