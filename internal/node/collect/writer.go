package collect

import (
	"bufio"
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
	out    *bufio.Writer
	piece  []byte
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
	if w.out == nil {
		w.out, w.piece = bufio.NewWriterSize(nil, pieceSize), make([]byte, pieceSize)
	}
	w.out.Reset(io.NewOffsetWriter(w.file, w.end))
	_, _ = w.out.Write(h.append(nil, w.end)) // Flush returns its error
	var sums [streams]uint32
	for s, o := range outputs {
		if h.Sizes[s] == 0 {
			continue
		}
		sum := crc32.New(table)
		n, err := io.CopyBuffer(io.MultiWriter(w.out, sum), o, w.piece)
		if err == nil && n < h.Sizes[s] {
			err = fmt.Errorf("read what the task printed: %w", io.ErrUnexpectedEOF)
		}
		if err != nil {
			return err
		}
		sums[s] = sum.Sum32()
	}
	_ = binary.Write(w.out, binary.LittleEndian, sums) // Flush returns its error
	return w.out.Flush()
}
