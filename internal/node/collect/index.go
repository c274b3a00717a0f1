package collect

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNone means that no file contains the attempt's outputs, or not yet.
var ErrNone = errors.New("its output is missing or damaged")

// Index finds outputs in the files of a folder. The files may grow meanwhile. It takes 16 bytes for each task, of which there may be millions.
type Index struct {
	dir   string
	names map[string]*scanned
	files []*scanned          // the same, in the order in which they were found
	piece []byte              // in which outputs are read
	first []*[someTasks]place // where the first attempts of tasks are, in pieces
	later map[key]place       // where others are
	last  *os.File            // the file that was opened last, for reading
}

// someTasks is how many tasks a piece of an index is for.
const someTasks = 4096

// key names an attempt of the job.
type key struct{ task, attempt uint32 }

// place is the position of an attempt's frame. The zero value is none.
type place struct {
	file   int32 // of the index's, from 1
	offset int64
}

// scanned is a file whose frames are known up to an offset, but for those in gaps.
type scanned struct {
	path string
	n    int32 // its number, from 1
	gaps []gap
	end  int64
	size int64 // when the file was last scanned
}

// gap is a part of a file before a valid frame in which no frame was found: it is damaged, or a network file system
// does not show it yet.
type gap struct{ from, to int64 }

// NewIndex returns the index of a folder. The folder is read at the first Open.
func NewIndex(dir string) *Index {
	return &Index{dir: dir, names: make(map[string]*scanned), later: make(map[key]place), piece: make([]byte, pieceSize)}
}

// Open verifies and returns what an attempt of a task wrote to a stream. The reader is valid until the next call. The
// error is ErrNone if the output is not there yet, or not completely: a file of another machine may become visible
// later than the message that the task is over.
func (x *Index) Open(task, attempt int, s Stream) (*io.SectionReader, error) {
	k := key{uint32(task), uint32(attempt)}
	if p := x.place(k); p.file > 0 {
		if r, err := x.read(p, s); err == nil {
			return r, nil
		}
	}
	if err := x.look(); err != nil { // this opens the files again, so that a network file system shows new contents
		return nil, err
	}
	p := x.place(k)
	if p.file == 0 {
		return nil, x.none()
	}
	return x.read(p, s)
}

// place returns the position of the frame of an attempt.
func (x *Index) place(k key) place {
	if piece := int(k.task / someTasks); k.attempt != 1 || piece >= len(x.first) || x.first[piece] == nil {
		return x.later[k]
	}
	return x.first[k.task/someTasks][k.task%someTasks]
}

// put sets the position of the frame of an attempt.
func (x *Index) put(k key, p place) {
	if k.attempt != 1 {
		x.later[k] = p
		return
	}
	piece := int(k.task / someTasks)
	if more := piece + 1 - len(x.first); more > 0 {
		x.first = append(x.first, make([]*[someTasks]place, more)...)
	}
	if x.first[piece] == nil {
		x.first[piece] = new([someTasks]place)
	}
	x.first[piece][k.task%someTasks] = p
}

// none returns the error for an attempt of which there is no frame. It names the files in which the frame may have
// been, each with the first place where something is missing.
func (x *Index) none() error {
	err := ErrNone
	for _, name := range slices.Sorted(maps.Keys(x.names)) {
		switch f := x.names[name]; {
		case len(f.gaps) > 0:
			err = fmt.Errorf("%w; %s is damaged at byte %d", err, f.path, f.gaps[0].from)
		case f.end < f.size:
			err = fmt.Errorf("%w; %s is cut off or damaged at byte %d", err, f.path, f.end)
		}
	}
	return err
}

// Close closes the open file.
func (x *Index) Close() {
	if x.last != nil {
		_ = x.last.Close() // only read
		x.last = nil
	}
}

// look adds the frames that were appended to the folder's files since the last call.
func (x *Index) look() error {
	x.Close()
	names, err := os.ReadDir(x.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no task has printed anything yet
	}
	if err != nil {
		return err
	}
	for _, e := range names {
		if !strings.HasSuffix(e.Name(), Suffix) {
			continue
		}
		f := x.names[e.Name()]
		if f == nil {
			f = &scanned{path: filepath.Join(x.dir, e.Name()), n: int32(len(x.files) + 1)}
			x.names[e.Name()], x.files = f, append(x.files, f)
		}
		if err := x.scan(f); err != nil {
			return err
		}
	}
	return nil
}

// scan adds the frames of a file after those that are known, up to the first incomplete one, and those that are visible
// now where a gap was.
func (x *Index) scan(f *scanned) error {
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer file.Close() // only read
	st, err := file.Stat()
	if err != nil {
		return err
	}
	f.size = st.Size()
	for i := range f.gaps {
		g := &f.gaps[i]
		if g.from, _, err = x.row(f, file, g.from, g.to); err != nil {
			return err
		}
	}
	f.gaps = slices.DeleteFunc(f.gaps, func(g gap) bool { return g.from >= g.to })
	for {
		var damaged bool
		if f.end, damaged, err = x.row(f, file, f.end, f.size); err != nil || !damaged {
			return err
		}
		next, err := findHead(file, f.end, f.size)
		if err != nil || next == f.size {
			return err
		}
		f.gaps = append(f.gaps, gap{f.end, next})
		f.end = next
	}
}

// row adds the frames of a file that follow each other between two offsets. It returns where it ended, and whether it
// ended at bytes that are not the head of a frame.
func (x *Index) row(f *scanned, file io.ReaderAt, at, to int64) (end int64, damaged bool, err error) {
	rest := func() *io.SectionReader { return io.NewSectionReader(file, at, f.size-at) }
	in := bufio.NewReaderSize(rest(), pieceSize)
	for at < to {
		b, err := in.Peek(headSize)
		if errors.Is(err, io.EOF) {
			return at, false, nil
		}
		if err != nil {
			return at, false, err
		}
		h, ok := parseHead(b, at)
		if !ok || !h.fits(f.size-at) {
			return at, !ok, nil
		}
		if err := x.add(f, h, at); err != nil {
			return at, false, err
		}
		at += h.size()
		if h.size() <= int64(in.Buffered()) {
			_, _ = in.Discard(int(h.size())) // the bytes are buffered, so this does not fail
		} else {
			in.Reset(rest())
		}
	}
	return at, false, nil
}

// add adds the frame at an offset of a file. An attempt has several frames if the record of the first was lost in a
// power failure, so that its number was used again. The last one counts.
func (x *Index) add(f *scanned, h head, offset int64) error {
	k, p := key{h.Task, h.Attempt}, place{f.n, offset}
	if old := x.place(k); old.file > 0 && old != p {
		switch before, err := x.head(old); {
		case err != nil && !errors.Is(err, ErrNone):
			return err
		case err == nil && before.At > h.At:
			return nil
		}
	}
	x.put(k, p)
	return nil
}

// read returns a stream of a frame after it has verified its checksum.
func (x *Index) read(p place, s Stream) (*io.SectionReader, error) {
	h, err := x.head(p)
	if err != nil {
		return nil, err
	}
	at := p.offset + headSize
	for earlier := range s {
		at += h.Sizes[earlier]
	}
	var want [4]byte
	if _, err := x.last.ReadAt(want[:], p.offset+h.size()-int64(tailSize)+4*int64(s)); err != nil {
		return nil, x.notWhole(p, err)
	}
	r := io.NewSectionReader(x.last, at, h.Sizes[s])
	sum := crc32.New(table)
	if _, err := io.CopyBuffer(sum, r, x.piece); err != nil {
		return nil, x.notWhole(p, err)
	}
	if sum.Sum32() != binary.LittleEndian.Uint32(want[:]) {
		return nil, x.notWhole(p, errors.New("its checksum is wrong"))
	}
	_, err = r.Seek(0, io.SeekStart)
	return r, err
}

// head opens the file of a frame and reads its head.
func (x *Index) head(p place) (h head, err error) {
	f := x.files[p.file-1]
	if x.last == nil || x.last.Name() != f.path {
		x.Close()
		if x.last, err = os.Open(f.path); err != nil {
			return h, err
		}
	}
	var b [headSize]byte
	if _, err := x.last.ReadAt(b[:], p.offset); err != nil {
		return h, x.notWhole(p, err)
	}
	h, ok := parseHead(b[:], p.offset)
	if !ok || !h.fits(f.size-p.offset) {
		return h, x.notWhole(p, io.ErrUnexpectedEOF)
	}
	return h, nil
}

func (x *Index) notWhole(p place, err error) error {
	return fmt.Errorf("%w: %s at byte %d: %w", ErrNone, x.files[p.file-1].path, p.offset, err)
}
