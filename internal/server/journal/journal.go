package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/sys/disk"
)

// mode is the file mode of a journal. Nobody else may read it, as it contains what the
// user's tasks wrote to standard error.
const mode = 0o600

// file is the part of *os.File that a journal uses.
type file interface {
	WriteAt(p []byte, off int64) (int, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

// Journal is a journal open for appending, by one process at a time. Its methods
// may be called from several goroutines.
type Journal struct {
	path string

	syncing sync.Mutex // held during fsync; taken before mu

	mu    sync.Mutex
	f     file
	end   int64  // where the next frame goes
	dirty bool   // something was written since the last Sync began
	fresh bool   // the file's name is not on the disk yet
	buf   []byte // the buffer of the last batch, reused by the next
	err   error  // set once the file's state is unknown; every later call fails with it
}

// maxKeep bounds the buffer that is kept between batches, in bytes.
const maxKeep = 1 << 20

// Create creates a journal with mode 0600. The file must not exist. It and its name are on the disk after
// the first Sync, as its entries are.
func Create(path string) (*Journal, error) {
	return open(path, "create the journal", os.O_CREATE|os.O_EXCL, Recovery{})
}

// OpenAt opens a journal for appending. rec is what Replay found when it read the file. A torn tail
// is cut off. OpenAt fails if the size of the file has changed since.
func OpenAt(path string, rec Recovery) (*Journal, error) {
	return open(path, "open the journal", 0, rec)
}

func open(path, what string, flags int, rec Recovery) (*Journal, error) {
	f, err := os.OpenFile(path, flags|os.O_RDWR, mode)
	if err != nil {
		return nil, ioError(path, what, err)
	}
	j := &Journal{path: path, f: f, end: rec.End, fresh: rec.End == 0}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.Size() != rec.End+rec.TruncatedBytes:
		err = fmt.Errorf("it has %d bytes and had %d when it was read: another process writes to it",
			info.Size(), rec.End+rec.TruncatedBytes)
	case rec.End == 0:
		err = j.begin()
	case rec.TruncatedBytes > 0:
		err = errors.Join(f.Truncate(rec.End), f.Sync())
	}
	if err != nil {
		err = errors.Join(ioError(path, what, err), f.Close())
		if flags != 0 { // it was created here
			err = errors.Join(err, os.RemoveAll(path))
		}
		return nil, err
	}
	return j, nil
}

// begin writes the header of an empty file.
func (j *Journal) begin() error {
	if err := j.f.Truncate(0); err != nil {
		return err
	}
	if _, err := j.f.WriteAt(fileHeader(version), 0); err != nil {
		return err
	}
	j.end, j.dirty = int64(fileHeaderSize), true
	return nil
}

// Append writes the entries with one write(2). Either all of them are in the journal
// when it returns, or, on an error, none.
func (j *Journal) Append(entries ...event.Entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	buf := j.buf[:0]
	for _, e := range entries {
		var err error
		if buf, err = appendFrame(buf, j.end+int64(len(buf)), e); err != nil {
			return job.FatalError(j.path, "cannot write a record", err)
		}
	}
	if j.buf = buf; cap(buf) > maxKeep {
		j.buf = nil
	}
	if len(buf) == 0 {
		return nil
	}
	j.dirty = true
	if _, err := j.f.WriteAt(buf, j.end); err != nil {
		return errors.Join(ioError(j.path, "write to the journal", err), j.cut(j.end))
	}
	j.end += int64(len(buf))
	return nil
}

// cut truncates the journal at the given offset. If that fails, nobody knows what the file
// contains behind the offset. The journal then refuses all further entries, as remains of
// other entries could follow them.
func (j *Journal) cut(end int64) error {
	if err := j.f.Truncate(end); err != nil {
		j.err = ioError(j.path, "take back a write to the journal", err)
		return j.err
	}
	j.end = end
	return nil
}

// offset returns where the next frame goes.
func (j *Journal) offset() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.end
}

// undo removes everything that was appended since the journal ended at this offset. It fails if the journal refuses all entries.
func (j *Journal) undo(end int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	return j.cut(end)
}

// Sync writes to the disk what was appended before the call. It does nothing if everything
// is there already. Append does not wait for it.
func (j *Journal) Sync() error {
	j.syncing.Lock()
	defer j.syncing.Unlock()
	return j.sync()
}

// sync is Sync for callers that hold syncing.
func (j *Journal) sync() error {
	j.mu.Lock()
	dirty, fresh, err := j.dirty, j.fresh, j.err
	j.dirty, j.fresh = false, false
	j.mu.Unlock()
	if err != nil || !dirty {
		return err
	}
	if err = j.f.Sync(); err == nil && fresh {
		err = disk.Sync(filepath.Dir(j.path))
	}
	if err != nil {
		// The kernel may have dropped the pages, so a second fsync that succeeds means nothing.
		err = ioError(j.path, "make the journal durable", err)
		j.mu.Lock()
		j.err = err
		j.mu.Unlock()
		return err
	}
	return nil
}

// Close syncs the journal and closes it. A later Sync does nothing.
func (j *Journal) Close() error {
	j.syncing.Lock()
	defer j.syncing.Unlock()
	return errors.Join(j.sync(), j.f.Close())
}

// ioError returns the error of an operation that failed.
func ioError(path, what string, err error) error {
	return job.IOError(job.Fatal, path, "cannot "+what, err).Advice(disk.Advice(err))
}
