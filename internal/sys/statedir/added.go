package statedir

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/vmihailenco/msgpack/v5"

	"berth/internal/core/job"
	"berth/internal/core/job/task"
	"berth/internal/sys/disk"
)

// The tasks that were added to an open bag are in the file "added", one frame for each call: the length of the payload,
// its checksum, and the payload in MessagePack. A frame is on disk before the record of its tasks is in the journal. So
// a crash leaves at most one frame without a record at the end, which Cut removes.
const addedHeaderSize = 4 + 4

// More has the tasks that were added to an open bag, by their number among those. A nil *More has none. It is safe for
// concurrent use. One process appends to it, the coordinator; others read what it has written, when they need it.
type More struct {
	path string

	mu    sync.Mutex
	tasks []msgpack.RawMessage // each a task.Spec, as many tasks may wait for long
	calls map[string]call      // by key
	names map[string]int32     // by name of a task; nil: they were not needed yet
	end   int64                // of the frames that were read or written, in bytes
}

// call is the tasks of one call: n, from the first on.
type call struct{ first, n int }

// frame is the payload of a frame.
type frame struct {
	Key   string               `msgpack:"k,omitempty"` // tells whether the call is one that was made before; empty: it has none
	Tasks []msgpack.RawMessage `msgpack:"t"`
}

// More returns the tasks that were added to the run.
func (r Run) More() *More {
	return &More{path: filepath.Join(r.Dir, "added"), calls: make(map[string]call)}
}

// At returns a task as it was added; ok is false if there is no such task.
func (m *More) At(i int) (s task.Spec, ok bool) {
	if m == nil || i < 0 {
		return s, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if i >= len(m.tasks) && m.read(i+1) != nil || i >= len(m.tasks) {
		return s, false
	}
	return s, msgpack.Unmarshal(m.tasks[i], &s) == nil
}

// Len returns the number of tasks that were added so far.
func (m *More) Len() (int, error) {
	if m == nil {
		return 0, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if info, err := os.Stat(m.path); err == nil && info.Size() == m.end {
		return len(m.tasks), nil
	}
	err := m.read(math.MaxInt)
	return len(m.tasks), err
}

// Call returns the tasks of the call with that key: n, from the first on. ok is false if there was none.
func (m *More) Call(key string) (first, n int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.calls[key]
	return c.first, c.n, ok && key != ""
}

// Named returns the task with that name.
func (m *More) Named(name string) (i int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names == nil {
		m.names = make(map[string]int32)
		m.noteNames(0)
	}
	at, ok := m.names[name]
	return int(at), ok
}

// noteNames notes the names of the tasks from the first on.
func (m *More) noteNames(first int) {
	for i := first; i < len(m.tasks) && m.names != nil; i++ {
		var s task.Spec
		if msgpack.Unmarshal(m.tasks[i], &s) == nil && s.Name != "" {
			m.names[s.Name] = int32(i)
		}
	}
}

// Append writes the tasks of one call to disk. If it fails, nothing has changed.
func (m *More) Append(key string, specs []task.Spec) error {
	f := frame{Key: key, Tasks: make([]msgpack.RawMessage, len(specs))}
	var all []byte // one piece of memory for all of them, as they may wait for long
	ends := make([]int, len(specs))
	for i := range specs {
		b, err := msgpack.Marshal(&specs[i])
		if err != nil {
			return fmt.Errorf("encode a task: %w", err)
		}
		all = append(all, b...)
		ends[i] = len(all)
	}
	all, begin := slices.Clone(all), 0
	for i, end := range ends {
		f.Tasks[i], begin = all[begin:end:end], end
	}
	payload, err := msgpack.Marshal(&f)
	if err != nil {
		return fmt.Errorf("encode added tasks: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.write(payload); err != nil {
		return WriteError(m.path, err)
	}
	m.keep(f, int64(addedHeaderSize+len(payload)))
	return nil
}

// keep adds a frame of that size to memory.
func (m *More) keep(f frame, size int64) {
	first := len(m.tasks)
	m.tasks = append(m.tasks, f.Tasks...)
	if f.Key != "" {
		m.calls[f.Key] = call{first, len(f.Tasks)}
	}
	m.end += size
	m.noteNames(first)
}

// write writes a payload behind the frames that are known.
func (m *More) write(payload []byte) (err error) {
	f, err := os.OpenFile(m.path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Truncate(m.end))
		}
		err = errors.Join(err, f.Close())
	}()
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, addedHeaderSize+len(payload)), uint32(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(payload, castagnoli))
	if _, err := f.WriteAt(append(b, payload...), m.end); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if m.end == 0 {
		return disk.Sync(filepath.Dir(m.path))
	}
	return nil
}

// read reads further frames, until there are so many tasks. A reader takes no more than it needs, as the coordinator may
// still take the last frame back. A frame at the end that is not complete is being written, or a crash has cut it off.
func (m *More) read(tasks int) error {
	if len(m.tasks) >= tasks {
		return nil
	}
	f, err := os.Open(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return ReadError(m.path, err)
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return ReadError(m.path, err)
	}
	in := bufio.NewReaderSize(io.NewSectionReader(f, m.end, info.Size()-m.end), 1<<16)
	for len(m.tasks) < tasks {
		next, size, err := readFrame(in, info.Size()-m.end)
		if err != nil {
			return ReadError(m.path, fmt.Errorf("at byte %d: %w", m.end, err))
		}
		if size == 0 {
			return nil
		}
		m.keep(next, size)
	}
	return nil
}

// readFrame reads a frame from input that has so many bytes left. Its size is 0 if no complete frame is there.
func readFrame(in *bufio.Reader, left int64) (f frame, size int64, err error) {
	head, err := in.Peek(addedHeaderSize)
	if err != nil {
		return f, 0, nil
	}
	length, sum := binary.LittleEndian.Uint32(head), binary.LittleEndian.Uint32(head[4:])
	size = addedHeaderSize + int64(length)
	if length == 0 || size > left {
		return f, 0, nil
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(in, b); err != nil {
		return f, 0, err
	}
	payload := b[addedHeaderSize:]
	switch {
	case crc32.Checksum(payload, castagnoli) == sum:
		return f, size, msgpack.Unmarshal(payload, &f)
	case size == left: // the machine crashed while the last frame was written
		return f, 0, nil
	default:
		return f, 0, errDamaged
	}
}

// Cut keeps the first tasks, of which the journal has records. It must be called before the first Append of a process.
func (m *More) Cut(tasks int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.tasks) > tasks {
		m.tasks, m.calls, m.names, m.end = nil, make(map[string]call), nil, 0
	}
	if err := m.read(tasks); err != nil {
		return WithAdvice(err)
	}
	if len(m.tasks) != tasks {
		return m.missing(tasks)
	}
	if err := os.Truncate(m.path, m.end); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return WriteError(m.path, err)
	}
	return nil
}

// Check returns an error unless the tasks of which the journal has records can be read.
func (m *More) Check(tasks int) error {
	n, err := m.Len()
	if err == nil && n < tasks {
		err = m.missing(tasks)
	}
	return WithAdvice(err)
}

func (m *More) missing(tasks int) error {
	return WithAdvice(job.IOError(job.Fatal, m.path, "it does not have the "+job.Count(tasks, "task")+" that the journal has", nil))
}
