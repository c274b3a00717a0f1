package shuffle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sync/errgroup"

	"berth/internal/core/job"
	"berth/internal/core/pattern"
	"berth/internal/mapreduce/extsort"
)

// Store contains the map outputs of a node: one file for each, in a folder for each job. The output of
// the first attempt at task 7 is "mapreduce-3/7.1". A file gets its name when it is complete, so a file with
// such a name was whole once; checksums show whether it still is. A Store is safe for use by several
// goroutines.
type Store struct {
	dir string
}

// ErrNotHeld is returned for a map output that is not on the node.
var ErrNotHeld = errors.New("the map output is not on this node")

// OpenStore opens the store in a folder, and creates the folder if it is missing.
func OpenStore(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, extsort.ScratchError(dir, err)
	}
	return &Store{dir: dir}, nil
}

var (
	jobPattern  = pattern.Lazy(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	filePattern = pattern.Lazy(`^(\d{1,9})\.(\d{1,9})$`)
)

// longestJob is the longest id of a job. It is not part of the pattern, as a pattern with large counts is slow to compile.
const longestJob = 127

// path returns the file of an attempt's output. It returns an error if the job's id is not a plain name.
func (o *Store) path(a job.Attempt) (string, error) {
	name := fmt.Sprintf("%d.%d", a.Task, a.N)
	if len(a.Job) > longestJob || !jobPattern().MatchString(string(a.Job)) || !filePattern().MatchString(name) {
		return "", job.FatalError("map output", fmt.Sprintf("%q is not the name of an attempt", a), nil)
	}
	return filepath.Join(o.dir, string(a.Job), name), nil
}

// Adopt moves a complete file into the store, as the output of an attempt. The file is on the same file
// system.
func (o *Store) Adopt(a job.Attempt, file string) error {
	path, err := o.path(a)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return extsort.ScratchError(path, err)
	}
	if err := os.Rename(file, path); err != nil {
		return extsort.ScratchError(path, err)
	}
	return nil
}

// readersHeld is how many indexes are read at once. A network file system answers slowly, but answers many
// requests at the same time.
const readersHeld = 16

// Held returns the map outputs in the store whose index is intact. It removes those with a damaged index.
func (o *Store) Held() []job.Attempt {
	files, _ := filepath.Glob(filepath.Join(o.dir, "*", "*")) // the pattern is well-formed
	intact := make([]bool, len(files))
	var readers errgroup.Group
	readers.SetLimit(readersHeld)
	for i, path := range files {
		readers.Go(func() error {
			intact[i] = isIntact(path)
			return nil
		})
	}
	_ = readers.Wait() // no reader returns an error
	var held []job.Attempt
	for i, path := range files {
		if intact[i] {
			m := filePattern().FindStringSubmatch(filepath.Base(path))
			task, _ := strconv.Atoi(m[1]) // at most nine digits
			n, _ := strconv.Atoi(m[2])
			held = append(held, job.Attempt{Job: job.ID(filepath.Base(filepath.Dir(path))), Task: task, N: n})
		}
	}
	return held
}

// isIntact reports whether a file is a map output with an intact index. It removes a file with a damaged
// index.
func isIntact(path string) bool {
	if !filePattern().MatchString(filepath.Base(path)) {
		return false
	}
	_, err := extsort.ReadIndex(path)
	if errors.Is(err, extsort.ErrDamaged) {
		_ = os.Remove(path) // its map runs again anyway
	}
	return err == nil
}

// Open returns a partition of a map output in the store. A partition without records has Length 0.
func (o *Store) Open(a job.Attempt, partition int) (Segment, error) {
	path, err := o.path(a)
	if err != nil {
		return Segment{}, err
	}
	extents, err := extsort.ReadIndex(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Segment{}, fmt.Errorf("%v: %w", a, ErrNotHeld)
	}
	if err != nil {
		return Segment{}, fmt.Errorf("map output %v: %w", a, err)
	}
	if partition < 0 || partition >= len(extents) {
		return Segment{}, fmt.Errorf("map output %v has no partition %d of %d", a, partition, len(extents))
	}
	e := extents[partition]
	return Segment{Path: path, Offset: e.Offset, Length: e.Length}, nil
}

// Remove removes the output of one attempt.
func (o *Store) Remove(a job.Attempt) error {
	path, err := o.path(a)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("remove the map output: %w", err)
	}
	return nil
}

// Drop removes all outputs of a job. Segments that are being read stay readable.
func (o *Store) Drop(id job.ID) error {
	path, err := o.path(job.Attempt{Job: id, N: 1})
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		return fmt.Errorf("remove the map outputs of %s: %w", id, err)
	}
	return nil
}
