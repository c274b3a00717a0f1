package journal

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"

	"berth/internal/core/job"
)

// readBuffer is how many bytes a reader takes from the file at once.
const readBuffer = 256 << 10

// backup is what to do about a journal that is damaged.
const backup = "put the journal back from a backup, or move its run folder away"

// Damage is the cause of the error for a journal whose middle is damaged.
type Damage struct {
	Offset int64 // of the first damaged byte or frame
	Next   int64 // of the first whole frame behind it
}

// Error says where the damage is.
func (d *Damage) Error() string {
	return fmt.Sprintf("the record at byte %d is damaged, and whole records follow from byte %d", d.Offset, d.Next)
}

// reader reads the entries of a journal, frame by frame.
type reader struct {
	path    string
	src     io.ReaderAt
	size    int64         // of the file when the scan began; what is appended later is not read
	in      *bufio.Reader // from end on; nil: nothing is read ahead
	blank   bool          // the file has no frames, and maybe a part of a header
	end     int64         // offset behind the last whole frame
	head    [frameHeaderSize]byte
	payload []byte
	rec     Recovery
}

// onDisk is the path of a file that is open only while it is read from: a set may have more journals than a process may have files.
type onDisk string

// ReadAt reads from the file.
func (path onDisk) ReadAt(p []byte, off int64) (int, error) {
	f, err := os.Open(string(path))
	if err != nil {
		return 0, err
	}
	defer f.Close() // it was only read
	return f.ReadAt(p, off)
}

// openReader returns a reader over what a file holds now, from an offset on.
func openReader(path string, from int64) (*reader, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	return newReader(path, onDisk(path), from, info.Size())
}

// newReader returns a reader at the first frame, behind the file header, or at the one that begins at from. A file that is
// empty, or whose creation was interrupted, has no frames.
func newReader(path string, src io.ReaderAt, from, size int64) (*reader, error) {
	r := &reader{path: path, src: src, size: size}
	head := make([]byte, min(size, int64(fileHeaderSize)))
	if _, err := src.ReadAt(head, 0); err != nil && !(errors.Is(err, io.EOF) && len(head) == 0) {
		return nil, r.readError(err)
	}
	torn, err := checkFileHeader(head)
	if err == nil && torn {
		err = r.nothingBehind(int64(len(head)))
	}
	if err != nil {
		return nil, job.IOError(job.Fatal, path, err.Error(), nil).Advice(backup)
	}
	if r.blank = torn; !torn {
		r.end = max(int64(len(head)), from)
	}
	return r, nil
}

// nothingBehind returns an error if a whole frame follows behind a header that a crash has left blank. Without one, no entry was ever on
// the disk.
func (r *reader) nothingBehind(header int64) error {
	next, err := r.search(header)
	if err != nil {
		return r.readError(err)
	}
	if next >= 0 {
		return errors.New("the journal's header is blank")
	}
	return nil
}

// frame returns the payload of the next frame, which is valid until the following call. It
// returns io.EOF behind the last whole frame, even if a torn tail follows.
func (r *reader) frame() ([]byte, error) {
	rest := r.size - r.end
	if r.blank || rest < int64(frameHeaderSize) {
		return nil, io.EOF
	}
	if r.in == nil {
		r.in = bufio.NewReaderSize(io.NewSectionReader(r.src, r.end, rest), int(min(rest, readBuffer)))
	}
	if _, err := io.ReadFull(r.in, r.head[:]); err != nil {
		return nil, r.readError(err)
	}
	h, ok := parseFrameHeader(r.head[:], r.end, r.size)
	if !ok {
		return nil, r.badFrame()
	}
	r.payload = slices.Grow(r.payload[:0], h.length)[:h.length]
	if _, err := io.ReadFull(r.in, r.payload); err != nil {
		return nil, r.readError(err)
	}
	if crc32.Checksum(r.payload, castagnoli) != h.sum {
		return nil, r.badFrame()
	}
	r.end += int64(frameHeaderSize + h.length)
	return r.payload, nil
}

// badFrame ends the scan at a bad frame. It returns io.EOF if the frame is a torn tail, else the error that
// refuses the file.
func (r *reader) badFrame() error {
	next, err := r.search(r.end + 1)
	if err != nil {
		return r.readError(err)
	}
	if next < 0 {
		return io.EOF
	}
	return job.IOError(job.Fatal, r.path, "the journal is refused", &Damage{Offset: r.end, Next: next}).
		Advice(fmt.Sprintf("put it back from a backup; or move its folder away to go on without it; "+
			"or cut it with `truncate -s %d` and lose what came after", r.end))
}

// search returns the offset of the first whole frame at or behind from, −1 if there is none.
func (r *reader) search(from int64) (int64, error) {
	in := bufio.NewReaderSize(io.NewSectionReader(r.src, from, r.size-from), readBuffer)
	for offset := from; ; offset++ {
		head, err := in.Peek(frameHeaderSize)
		if errors.Is(err, io.EOF) {
			return -1, nil
		}
		if err != nil {
			return 0, err
		}
		if h, ok := parseFrameHeader(head, offset, r.size); ok {
			if whole, err := r.whole(offset, h); whole || err != nil {
				return offset, err
			}
		}
		_, _ = in.Discard(1) // which was peeked at
	}
}

// whole reports whether the payload of the frame at offset has its checksum.
func (r *reader) whole(offset int64, h frameHeader) (bool, error) {
	payload := make([]byte, h.length)
	if _, err := r.src.ReadAt(payload, offset+int64(frameHeaderSize)); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return crc32.Checksum(payload, castagnoli) == h.sum, nil
}

func (r *reader) readError(err error) error {
	return job.IOError(job.Fatal, r.path, "cannot read the journal", err)
}
