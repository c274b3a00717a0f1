package statedir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vmihailenco/msgpack/v5"

	"berth/internal/core/job"
	"berth/internal/core/job/task"
	"berth/internal/sys/disk"
)

// The tasks that were added to an open bag are in the file "added", one frame for each call: the length of the payload,
// its checksum, and the payload in MessagePack. A frame is on disk before the record of its tasks is in the journal. So
// a crash leaves at most one frame without a record at the end, which CutAdded removes.
const addedHeaderSize = 4 + 4

// Encoded is a task.Spec in MessagePack: the form in which many tasks that wait need little memory.
type Encoded = msgpack.RawMessage

// Added has the tasks of one call.
type Added struct {
	Key   string    `msgpack:"k,omitempty"` // tells whether the call is one that was made before; empty: it has none
	Tasks []Encoded `msgpack:"t"`
}

// Encode returns tasks in the form of Added.
func Encode(specs []task.Spec) ([]Encoded, error) {
	tasks := make([]Encoded, len(specs))
	for i := range specs {
		b, err := msgpack.Marshal(&specs[i])
		if err != nil {
			return nil, fmt.Errorf("encode a task: %w", err)
		}
		tasks[i] = b
	}
	return tasks, nil
}

// Decode returns a task as it was added.
func Decode(e Encoded) (s task.Spec, err error) {
	err = msgpack.Unmarshal(e, &s)
	return s, err
}

func (r Run) added() string { return filepath.Join(r.Dir, "added") }

// Append writes the tasks of one call to disk. If it fails, the file is as before.
func (r Run) Append(a Added) (err error) {
	payload, err := msgpack.Marshal(&a)
	if err != nil {
		return fmt.Errorf("encode added tasks: %w", err)
	}
	f, err := os.OpenFile(r.added(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return WriteError(r.added(), err)
	}
	size := int64(-1)
	defer func() {
		if err != nil && size >= 0 {
			err = errors.Join(err, f.Truncate(size))
		}
		if err = errors.Join(err, f.Close()); err != nil {
			err = WriteError(r.added(), err)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size = info.Size()
	frame := binary.LittleEndian.AppendUint32(make([]byte, 0, addedHeaderSize+len(payload)), uint32(len(payload)))
	frame = binary.LittleEndian.AppendUint32(frame, crc32.Checksum(payload, castagnoli))
	if _, err := f.Write(append(frame, payload...)); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if size == 0 {
		return disk.Sync(r.Dir)
	}
	return nil
}

// Added reads the tasks of all calls. A frame at the end that a crash left incomplete is ignored.
func (r Run) Added() ([]Added, error) {
	all, _, err := r.readAdded()
	return all, err
}

// readAdded reads the tasks of all calls, and where in the file each frame ends.
func (r Run) readAdded() (all []Added, ends []int, err error) {
	b, err := os.ReadFile(r.added())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, ReadError(r.added(), err)
	}
	for at := 0; ; {
		a, size, err := parseAdded(b[at:])
		if err != nil {
			return nil, nil, ReadError(r.added(), fmt.Errorf("at byte %d: %w", at, err))
		}
		if size == 0 {
			return all, ends, nil
		}
		at += size
		all, ends = append(all, a), append(ends, at)
	}
}

// parseAdded reads the frame at the start of b. Its size is 0 if no complete frame is there.
func parseAdded(b []byte) (a Added, size int, err error) {
	if len(b) < addedHeaderSize {
		return a, 0, nil
	}
	length := int(binary.LittleEndian.Uint32(b))
	if length == 0 || length > len(b)-addedHeaderSize {
		return a, 0, nil
	}
	size = addedHeaderSize + length
	payload := b[addedHeaderSize:size]
	if crc32.Checksum(payload, castagnoli) != binary.LittleEndian.Uint32(b[4:]) {
		if size == len(b) { // the machine crashed while the last frame was written
			return a, 0, nil
		}
		return a, 0, errTasksDamaged
	}
	return a, size, msgpack.Unmarshal(payload, &a)
}

// CutAdded removes what follows the first tasks, of which the journal has records, and returns the calls that are left.
// It must be called before the first Append of a process.
func (r Run) CutAdded(tasks int) ([]Added, error) {
	all, ends, err := r.readAdded()
	if err != nil {
		return nil, err
	}
	kept, left, size := 0, tasks, 0
	for kept < len(all) && len(all[kept].Tasks) <= left {
		left -= len(all[kept].Tasks)
		size = ends[kept]
		kept++
	}
	if left > 0 {
		return nil, &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: r.added(),
			What: job.Count(left, "task") + " that the journal has cannot be read in this file",
			Do:   "put it back from a backup, or submit the job again; what its finished tasks wrote is kept"}
	}
	if err := os.Truncate(r.added(), int64(size)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, WriteError(r.added(), err)
	}
	return all[:kept], nil
}
