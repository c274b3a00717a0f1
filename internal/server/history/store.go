package history

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"time"
)

// Store is an open database. A nil *Store is always empty. Its methods may be called from
// several goroutines.
type Store struct {
	db   *sql.DB
	path string
}

// busyTimeout is how long an operation waits for a lock of another process.
const busyTimeout = 2 * time.Second

// Open opens the database. It creates the file (mode 0600) and the tables if necessary.
func Open(ctx context.Context, path string) (*Store, error) {
	s, err := open(ctx, path)
	if err != nil {
		return nil, wrap(path, "cannot open the history of runs", err)
	}
	return s, nil
}

func open(ctx context.Context, path string) (*Store, error) {
	if err := secure(path); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // SQLite has one writer at a time
	if err := migrate(ctx, db); err != nil {
		_ = db.Close() // the error of migrate says more
		return nil, err
	}
	return &Store{db: db, path: path}, nil
}

// secure creates the file if it does not exist, and denies other users access to it. SQLite
// gives its journal the same mode.
func secure(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() // nothing was written
	return f.Chmod(0o600)
}

// dsn returns the name of the database for the driver. The busy timeout comes first, so
// that it applies while the journal mode is set. Transactions acquire the lock against writers
// and readers at their start: one that reads first could not wait for another writer, and what
// Save has added is found by whoever reads from then on.
//
// The state folder may be on a network file system that several login nodes share. There
// write-ahead logging damages databases, as it needs memory that all processes share (SQLite,
// "Write-Ahead Logging", section 1). So the database has a rollback journal. The journal is
// truncated and not removed: its file is then opened for each change, and an NFS client asks
// the server about a file that it opens, but may answer from its cache that a file is missing.
func dsn(path string) string {
	q := url.Values{"_pragma": {
		"busy_timeout(" + strconv.FormatInt(busyTimeout.Milliseconds(), 10) + ")",
		"journal_mode(TRUNCATE)", "synchronous(FULL)", "foreign_keys(ON)",
	}, "_txlock": {"exclusive"}}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: q.Encode()}).String()
}

// Close closes the database.
func (s *Store) Close() error {
	if s == nil {
		return nil
	}
	return s.wrap("cannot close the history of runs", s.db.Close())
}

// schemas contains the scripts N.sql; each migrates a database from version N−1 to version N.
//
//go:embed schema/*.sql
var schemas embed.FS

// latest is the version of the tables that this version of berth uses.
const latest = 10

// migrate updates the tables to the latest version. It holds the write lock, so that only one
// of several processes does it.
func migrate(ctx context.Context, db *sql.DB) error {
	v, err := version(ctx, db)
	if err != nil || v == latest {
		return err
	}
	if v > latest {
		return fmt.Errorf("%w: its tables have version %d, and this berth supports version %d", ErrNewer, v, latest)
	}
	return inTx(ctx, db, func(tx *sql.Tx) error {
		v, err := version(ctx, tx)
		if err != nil {
			return err
		}
		for v++; v <= latest; v++ {
			script, err := fs.ReadFile(schemas, fmt.Sprintf("schema/%d.sql", v))
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, string(script)+fmt.Sprintf("PRAGMA user_version = %d;", v)); err != nil {
				return fmt.Errorf("migrate to version %d: %w", v, err)
			}
		}
		return nil
	})
}

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func version(ctx context.Context, q querier) (v int, err error) {
	err = q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	return v, err
}

// inTx runs f in a transaction that is committed if f succeeds.
func inTx(ctx context.Context, db *sql.DB, f func(*sql.Tx) error) error {
	tx, err := begun(ctx, db, f)
	if err != nil {
		return err
	}
	return tx.Commit()
}

// begun runs f in a transaction, and returns it to be committed if f succeeds.
func begun(ctx context.Context, db *sql.DB, f func(*sql.Tx) error) (*sql.Tx, error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := f(tx); err != nil {
		_ = tx.Rollback() // a transaction that cannot be rolled back ends with its connection
		return nil, err
	}
	return tx, nil
}

// query calls row for each row that a query finds.
func (s *Store) query(ctx context.Context, query string, args []any, row func(*sql.Rows) error) (err error) {
	if s == nil {
		return nil
	}
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// packed is a column with what it points to in a coding of its own, or else as JSON; NULL where that is empty.
type packed struct{ of any }

// Value returns what is written.
func (c *packed) Value() (driver.Value, error) {
	b, err := []byte(nil), error(nil)
	if own, is := c.of.(encoding.BinaryMarshaler); is {
		b, err = own.MarshalBinary()
	} else if reflect.ValueOf(c.of).Elem().Len() > 0 {
		b, err = json.Marshal(c.of)
	}
	if len(b) == 0 {
		return nil, err
	}
	return b, err
}

// Scan takes in what was read.
func (c *packed) Scan(read any) (err error) {
	var b []byte
	switch read := read.(type) {
	case nil:
		return nil
	case string:
		b = []byte(read)
	case []byte:
		b = read
	default:
		return fmt.Errorf("%w: %T where bytes belong", ErrCorrupt, read)
	}
	if own, is := c.of.(encoding.BinaryUnmarshaler); is {
		err = own.UnmarshalBinary(b)
	} else {
		err = json.Unmarshal(b, c.of)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}
