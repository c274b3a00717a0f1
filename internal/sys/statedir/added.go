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
	"sort"
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
// concurrent use. One process appends to it, the coordinator, and has them in memory (Cut); others read what it has written when they need it, and
// know where each is in the file.
type More struct {
	path string

	mu    sync.Mutex
	calls []call
	keys  map[string]int   // the index of the call with a key
	names map[string]int32 // by name of a task; nil: they were not needed yet
	end   int64            // of the frames that were read or written, in bytes

	holds bool     // the tasks are in memory
	lost  error    // why a task could not be read that is in the file
	file  *os.File // else: from which they are read
	block []byte   // the tasks that were read last: those of one block
	which [2]int   // that block, of which call
}

// call is the tasks of one call, each a task.Spec, from the first on.
type call struct {
	first int
	begin int64 // where its payload is in the file
	size  int64 // of the payload
	packed
}

// frame is the payload of a frame.
type frame struct {
	Key   string               `msgpack:"k,omitempty"` // tells whether the call is one that was made before; empty: it has none
	Tasks []msgpack.RawMessage `msgpack:"t"`
}

// unpack returns what a payload has, which it keeps.
func unpack(payload []byte) (key string, c call, err error) {
	in := newEntryReader(payload)
	fields, err := in.dec.DecodeMapLen()
	for ; fields > 0 && err == nil; fields-- {
		var name string
		if name, err = in.dec.DecodeString(); err != nil {
			break
		}
		switch name {
		case "k":
			key, err = in.dec.DecodeString()
		case "t":
			var n int
			for n, err = in.dec.DecodeArrayLen(); n > 0 && err == nil; n-- {
				c.note(len(payload) - in.Len())
				err = in.dec.Skip()
			}
		default:
			err = in.dec.Skip()
		}
	}
	c.encoded = payload
	return key, c, err
}

// More returns the tasks that were added to the run.
func (r Run) More() *More {
	return &More{path: filepath.Join(r.Dir, "added"), keys: make(map[string]int)}
}

// At returns a task as it was added; ok is false if there is no such task.
func (m *More) At(i int) (s task.Spec, ok bool) {
	if m == nil || i < 0 {
		return s, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if i >= m.len() && m.read(i+1) != nil || i >= m.len() {
		return s, false
	}
	return m.at(i)
}

// len returns the number of tasks that were read or written.
func (m *More) len() int {
	if len(m.calls) == 0 {
		return 0
	}
	c := &m.calls[len(m.calls)-1]
	return c.first + c.n
}

// at returns a task that was read or written.
func (m *More) at(i int) (s task.Spec, ok bool) {
	k := sort.Search(len(m.calls), func(k int) bool { return m.calls[k].first > i }) - 1
	i -= m.calls[k].first
	b, err := m.blockOf(k, i/entriesInBlock)
	if err == nil {
		in := newEntryReader(b)
		for range i % entriesInBlock {
			_ = in.dec.Skip() // all were skipped before, so this does not fail
		}
		err = in.dec.Decode(&s)
	}
	if err != nil && m.lost == nil {
		m.lost = ReadError(m.path, err)
	}
	return s, err == nil
}

// Err returns why a task that is there could not be read, for which At told that there is none.
func (m *More) Err() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return WithAdvice(m.lost)
}

// blockOf returns the tasks of a call from a block on.
func (m *More) blockOf(k, block int) ([]byte, error) {
	c := &m.calls[k]
	at := c.blocks[block]
	if c.encoded != nil {
		return c.encoded[at:], nil
	}
	if which := [2]int{k, block}; m.which != which || m.block == nil {
		end := int(c.size)
		if block+1 < len(c.blocks) {
			end = c.blocks[block+1]
		}
		m.block, m.which = slices.Grow(m.block[:0], end-at)[:end-at], which
		if _, err := m.file.ReadAt(m.block, c.begin+int64(at)); err != nil {
			m.block = nil
			return nil, err
		}
	}
	return m.block, nil
}

// Len returns the number of tasks that were added so far.
func (m *More) Len() (int, error) {
	if m == nil {
		return 0, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if info, err := os.Stat(m.path); err == nil && info.Size() == m.end {
		return m.len(), nil
	}
	err := m.read(math.MaxInt)
	return m.len(), err
}

// Call returns the tasks of the call with that key: n, from the first on. ok is false if there was none.
func (m *More) Call(key string) (first, n int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.keys[key]
	if !ok || key == "" {
		return 0, 0, false
	}
	return m.calls[k].first, m.calls[k].n, true
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
	for i := first; m.names != nil && i < m.len(); i++ {
		if s, ok := m.at(i); ok && s.Name != "" {
			m.names[s.Name] = int32(i)
		}
	}
}

// Append writes the tasks of one call to disk. If it fails, nothing has changed.
func (m *More) Append(key string, specs []task.Spec) error {
	f := frame{Key: key, Tasks: make([]msgpack.RawMessage, len(specs))}
	for i := range specs {
		b, err := msgpack.Marshal(&specs[i])
		if err != nil {
			return fmt.Errorf("encode a task: %w", err)
		}
		f.Tasks[i] = b
	}
	payload, err := msgpack.Marshal(&f)
	if err != nil {
		return fmt.Errorf("encode added tasks: %w", err)
	}
	payload = slices.Clone(payload) // without room behind it, as the tasks may wait for long
	key, c, err := unpack(payload)
	if err != nil {
		return fmt.Errorf("encode added tasks: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.write(payload); err != nil {
		return WriteError(m.path, err)
	}
	m.holds = true
	m.keep(key, c, int64(addedHeaderSize+len(payload)))
	return nil
}

// keep adds a frame of that size to memory.
func (m *More) keep(key string, c call, size int64) {
	c.first, c.begin, c.size = m.len(), m.end+addedHeaderSize, size-addedHeaderSize
	if !m.holds {
		c.encoded = nil
	}
	m.calls = append(m.calls, c)
	if key != "" {
		m.keys[key] = len(m.calls) - 1
	}
	m.end += size
	m.noteNames(c.first)
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
	if m.len() >= tasks {
		return nil
	}
	f, err := os.Open(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return ReadError(m.path, err)
	}
	if m.holds {
		defer f.Close() // only read
	} else {
		if m.file != nil {
			_ = m.file.Close() // only read
		}
		m.file = f // to be read from again
	}
	info, err := f.Stat()
	if err != nil {
		return ReadError(m.path, err)
	}
	in := bufio.NewReaderSize(io.NewSectionReader(f, m.end, info.Size()-m.end), 1<<16)
	for m.len() < tasks {
		key, c, size, err := readFrame(in, info.Size()-m.end)
		if err != nil {
			return ReadError(m.path, fmt.Errorf("at byte %d: %w", m.end, err))
		}
		if size == 0 {
			return nil
		}
		m.keep(key, c, size)
	}
	return nil
}

// readFrame reads a frame from input that has so many bytes left. Its size is 0 if no complete frame is there.
func readFrame(in *bufio.Reader, left int64) (key string, c call, size int64, err error) {
	head, err := in.Peek(addedHeaderSize)
	if err != nil {
		return key, c, 0, nil
	}
	length, sum := binary.LittleEndian.Uint32(head), binary.LittleEndian.Uint32(head[4:])
	size = addedHeaderSize + int64(length)
	if length == 0 || size > left {
		return key, c, 0, nil
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(in, b); err != nil {
		return key, c, 0, err
	}
	payload := b[addedHeaderSize:]
	switch {
	case crc32.Checksum(payload, castagnoli) == sum:
		key, c, err = unpack(payload)
		return key, c, size, err
	case size == left: // the machine crashed while the last frame was written
		return key, c, 0, nil
	default:
		return key, c, 0, errDamaged
	}
}

// Cut keeps the first tasks, of which the journal has records. It must be called before the first Append of a process.
func (m *More) Cut(tasks int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.len() > tasks || !m.holds {
		if m.file != nil {
			_ = m.file.Close() // only read
		}
		m.file, m.calls, m.keys, m.names, m.end, m.holds = nil, nil, make(map[string]int), nil, 0, true
	}
	if err := m.read(tasks); err != nil {
		return WithAdvice(err)
	}
	if m.len() != tasks {
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
