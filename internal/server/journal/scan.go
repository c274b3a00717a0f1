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

// Damage is the cause of the error for a journal whose middle is damaged.
type Damage struct {
	Offset int64 // of the first damaged byte or frame
	Next   int64 // of the first whole frame behind it
}

// Error says where the damage is.
func (d *Damage) Error() string {
	return fmt.Sprintf("the record at byte %d is damaged, and whole records follow from byte %d", d.Offset, d.Next)
}

// scanner reads the frames of a journal one after the other.
type scanner struct {
	path    string
	src     io.ReaderAt
	size    int64 // of the file when the scan began; what is appended later is not read
	in      *bufio.Reader
	end     int64 // offset behind the last whole frame
	payload []byte
}

// newScanner returns a scanner at the first frame, behind the file header. A file that is
// empty, or whose creation was interrupted, has no frames.
func newScanner(path string, src io.ReaderAt, size int64) (*scanner, error) {
	s := &scanner{path: path, src: src, size: size}
	head := make([]byte, min(size, int64(fileHeaderSize)))
	if _, err := src.ReadAt(head, 0); err != nil && !(errors.Is(err, io.EOF) && len(head) == 0) {
		return nil, s.readError(err)
	}
	torn, err := checkFileHeader(head)
	if err == nil && torn {
		err = s.nothingBehind(int64(len(head)))
	}
	if err != nil {
		return nil, &job.Error{
			Class: job.Fatal, Code: job.CodeIO, Where: path, What: err.Error(),
			Do: "put the journal back from a backup, or move its run folder away",
		}
	}
	if torn {
		return s, nil
	}
	s.end = int64(len(head))
	s.in = bufio.NewReaderSize(io.NewSectionReader(src, s.end, size-s.end), int(min(size, readBuffer)))
	return s, nil
}

// nothingBehind returns an error if a whole frame follows behind a header that a crash has left blank. Without one, no entry was ever on
// the disk.
func (s *scanner) nothingBehind(header int64) error {
	next, err := s.search(header)
	if err != nil {
		return s.readError(err)
	}
	if next >= 0 {
		return errors.New("the journal's header is blank")
	}
	return nil
}

// limit restricts the scan to the frames from one offset to another. It is called before next.
func (s *scanner) limit(from, to int64) {
	s.end, s.size = max(s.end, from), min(s.size, to)
	s.in = bufio.NewReaderSize(io.NewSectionReader(s.src, s.end, s.size-s.end), readBuffer)
}

// next returns the payload of the next frame, which is valid until the following call. It
// returns io.EOF behind the last whole frame, even if a torn tail follows (see torn).
func (s *scanner) next() ([]byte, error) {
	rest := s.size - s.end
	if s.in == nil || rest < int64(frameHeaderSize) {
		return nil, io.EOF
	}
	head, err := s.in.Peek(frameHeaderSize)
	if err != nil {
		return nil, s.readError(err)
	}
	h, ok := parseFrameHeader(head, s.end, s.size)
	if !ok {
		return nil, s.badFrame()
	}
	if _, err := s.in.Discard(frameHeaderSize); err != nil {
		return nil, s.readError(err)
	}
	s.payload = slices.Grow(s.payload[:0], h.length)[:h.length]
	if _, err := io.ReadFull(s.in, s.payload); err != nil {
		return nil, s.readError(err)
	}
	if crc32.Checksum(s.payload, castagnoli) != h.sum {
		return nil, s.badFrame()
	}
	s.end += int64(frameHeaderSize + h.length)
	return s.payload, nil
}

// torn returns how many bytes lie behind the last whole frame, once next has
// returned io.EOF.
func (s *scanner) torn() int64 { return s.size - s.end }

// badFrame ends the scan at a bad frame. It returns io.EOF if the frame is a torn tail, else the error that
// refuses the file.
func (s *scanner) badFrame() error {
	s.in = nil
	next, err := s.search(s.end + 1)
	if err != nil {
		return s.readError(err)
	}
	if next < 0 {
		return io.EOF
	}
	return &job.Error{
		Class: job.Fatal, Code: job.CodeIO, Where: s.path, What: "the journal is refused",
		Err: &Damage{Offset: s.end, Next: next},
		Do: fmt.Sprintf("put it back from a backup; or move its folder away to go on without it; "+
			"or cut it with `truncate -s %d` and lose what came after", s.end),
	}
}

// search returns the offset of the first whole frame at or behind from, −1 if there is none.
func (s *scanner) search(from int64) (int64, error) {
	window := make([]byte, min(s.size, readBuffer))
	for from+int64(frameHeaderSize) <= s.size {
		n := int(min(int64(len(window)), s.size-from))
		if _, err := s.src.ReadAt(window[:n], from); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		last := n - frameHeaderSize
		for i := 0; i <= last; i++ {
			offset := from + int64(i)
			h, ok := parseFrameHeader(window[i:n], offset, s.size)
			if !ok {
				continue
			}
			whole, err := s.whole(offset, h)
			if err != nil {
				return 0, err
			}
			if whole {
				return offset, nil
			}
		}
		from += int64(last + 1)
	}
	return -1, nil
}

// whole reports whether the payload of the frame at offset has its checksum.
func (s *scanner) whole(offset int64, h frameHeader) (bool, error) {
	payload := make([]byte, h.length)
	if _, err := s.src.ReadAt(payload, offset+int64(frameHeaderSize)); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return crc32.Checksum(payload, castagnoli) == h.sum, nil
}

func (s *scanner) readError(err error) error {
	return &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: s.path, What: "cannot read the journal", Err: err}
}

// openScanner opens the file for reading and returns a scanner over what it holds now.
func openScanner(path string) (*os.File, *scanner, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("open journal: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open journal: %w", err), f.Close())
	}
	s, err := newScanner(path, f, info.Size())
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, s, nil
}
