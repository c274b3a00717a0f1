package collect

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
)

// Suffix is the end of the names of the files.
const Suffix = ".outputs"

// pieceSize is the size in bytes of the pieces in which frames are written. The outputs of most attempts are shorter.
const pieceSize = 128 << 10

var errClosed = errors.New("the job is over")

// Writer appends to a file that no other Writer writes. The file is created with the first output. Its methods are safe
// for concurrent use.
type Writer struct {
	dir string

	mu     sync.Mutex
	file   *os.File
	end    int64 // end of the last complete frame; what a failed write left after it is overwritten
	buf    []byte
	closed bool
}

// NewWriter returns a writer whose file will be in the folder dir.
func NewWriter(dir string) *Writer { return &Writer{dir: dir} }

// Add appends the outputs of an attempt that has ended, in the order of Stream; nil is an empty output. It returns the
// name of the file. After an error the file contains none of them.
func (w *Writer) Add(at job.Attempt, outputs [2]*io.SectionReader) (path string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return w.dir, errClosed
	}
	if err := w.keepFile(); err != nil {
		return w.dir, err
	}
	h := head{Task: uint32(at.Task), Attempt: uint32(at.N), At: time.Now().UnixNano()}
	for s, o := range outputs {
		if o != nil {
			h.Sizes[s] = o.Size()
		}
	}
	if err := w.write(&h, outputs); err != nil {
		return w.file.Name(), err
	}
	w.end += h.size()
	return w.file.Name(), nil
}

// Close closes the file. Add must not be called afterwards.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.file == nil {
		return nil
	}
	err := w.keepFile()
	err = errors.Join(err, w.file.Close())
	w.file = nil
	return err
}

// keepFile makes sure that there is a file. If something removed the name of the present one, its frames go to a new one.
func (w *Writer) keepFile() error {
	old, end := w.file, w.end
	if old != nil {
		var st unix.Stat_t
		if unix.Fstat(int(old.Fd()), &st) != nil || st.Nlink > 0 {
			return nil
		}
	}
	if err := w.create(); err != nil || old == nil {
		w.file = cmp.Or(w.file, old)
		return err
	}
	n, err := io.Copy(w.file, io.NewSectionReader(old, 0, end))
	if err != nil {
		err = errors.Join(err, os.Remove(w.file.Name()), w.file.Close())
		w.file, w.end = old, end
		return err
	}
	w.end = n
	return old.Close()
}

// create creates a file with a new name, which no other process, of this node or another, uses.
func (w *Writer) create() error {
	if err := os.MkdirAll(w.dir, 0o777); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%d", host, os.Getpid())
	for n := 1; ; n++ {
		path := filepath.Join(w.dir, name+Suffix)
		w.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			w.end = 0
			return err
		}
		name = fmt.Sprintf("%s-%d-%d", host, os.Getpid(), n)
	}
}

// write writes a frame after the last one.
func (w *Writer) write(h *head, outputs [2]*io.SectionReader) error {
	if w.buf == nil {
		w.buf = make([]byte, 0, pieceSize)
	}
	p := pieces{w: w, at: w.end, buf: h.append(w.buf[:0], w.end)}
	var sums [streams]uint32
	for s, o := range outputs {
		for done := int64(0); done < h.Sizes[s]; {
			room, err := p.room(1)
			if err != nil {
				return err
			}
			room = room[:min(int64(len(room)), h.Sizes[s]-done)]
			if n, err := o.ReadAt(room, done); n < len(room) {
				return fmt.Errorf("read what the task printed: %w", err)
			}
			sums[s] = crc32.Update(sums[s], table, room)
			p.buf = p.buf[:len(p.buf)+len(room)]
			done += int64(len(room))
		}
	}
	if _, err := p.room(tailSize); err != nil {
		return err
	}
	p.buf, _ = binary.Append(p.buf, binary.LittleEndian, sums) // numbers of a fixed size, so this does not fail
	return p.flush()
}

// pieces is a buffer that is written to the file in pieces, one after the other.
type pieces struct {
	w   *Writer
	at  int64 // offset at which the buffer is written
	buf []byte
}

// room returns the free part of the buffer, of at least that many bytes.
func (p *pieces) room(least int) ([]byte, error) {
	if cap(p.buf)-len(p.buf) < least {
		if err := p.flush(); err != nil {
			return nil, err
		}
	}
	return p.buf[len(p.buf):cap(p.buf)], nil
}

func (p *pieces) flush() error {
	n, err := p.w.file.WriteAt(p.buf, p.at)
	p.at += int64(n)
	p.buf = p.buf[:0]
	return err
}
