package swf

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
)

// Options control how a log is read and which of its jobs become a workload.
type Options struct {
	Odd workload.OnOdd
	// AnyOrder accepts jobs in any order, as in schedules ordered by start. Otherwise a job
	// submitted before the job of the previous line is odd.
	AnyOrder bool

	// The following fields are for Log.Rigid.

	Procs     int       // of the cluster; 0: as in the header, or unlimited
	Estimates Estimates // the wall times of the jobs; "" means User
	Filter    bool      // call Log.Filter first
}

// blockSize is the size of blocks of text.
const blockSize = 64 << 10

// Open reads the log in a file, whether compressed or not. Errors that the user can correct are
// *job.Error with "file:line".
func Open(path string, o Options) (*Log, error) {
	f, err := os.Open(path)
	if err != nil {
		code := job.CodeIO
		if errors.Is(err, fs.ErrNotExist) {
			code = job.CodeNoInput
		}
		return nil, &job.Error{Class: job.User, Code: code, What: "cannot open the log", Err: err}
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, job.IOError(job.User, path, "this is a folder", nil).Advice("name a log in it")
	}
	return read(f, path, size(f), o)
}

// Read reads a log, whether compressed or not. name is its name in messages.
func Read(r io.Reader, name string, o Options) (*Log, error) { return read(r, name, 0, o) }

// size returns the length of the text in a file, or 0 if it is unknown. It is used to allocate
// memory for all jobs, so it may be wrong.
func size(f *os.File) int64 {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	var head [2]byte
	var tail [4]byte
	if _, err := f.ReadAt(head[:], 0); err != nil || !isGzip(head[:]) {
		return info.Size()
	}
	if _, err := f.ReadAt(tail[:], info.Size()-4); err != nil {
		return 0
	}
	return int64(binary.LittleEndian.Uint32(tail[:])) // gzip ends with the length modulo 2^32 (RFC 1952)
}

func isGzip(head []byte) bool { return bytes.Equal(head, []byte{0x1f, 0x8b}) }

func read(r io.Reader, name string, size int64, o Options) (*Log, error) {
	p := &parser{log: &Log{Name: name}, odd: o.Odd, anyOrder: o.AnyOrder, size: size}
	in := bufio.NewReaderSize(r, blockSize)
	text, err := in, error(nil)
	if head, _ := in.Peek(2); isGzip(head) { // an error will occur again
		var z *gzip.Reader
		if z, err = gzip.NewReader(in); err == nil {
			text = bufio.NewReaderSize(z, blockSize)
		}
	}
	if err == nil {
		err = p.read(text)
	}
	if err == nil && p.refused != nil && text != in { // the refused line may be damage of the compressed file, which its end tells
		_, err = io.Copy(io.Discard, text)
	}
	switch {
	case p.refused != nil && (!isDamage(err) || errors.Is(err, gzip.ErrHeader)):
		return nil, p.refused
	case p.refused != nil:
		p.line-- // the error belongs to this line
		fallthrough
	case err != nil:
		return nil, p.broken(err)
	}
	return p.log, nil
}

// read parses all lines. After an invalid one it reads on up to the checksum at the end. If the checksum is wrong, the line is invalid
// because the file is damaged, and correcting the line would not help.
func (p *parser) read(text *bufio.Reader) error {
	var begun []byte // a line that is longer than the buffer, or the last one without a newline
	for p.refused == nil {
		line, err := text.ReadSlice('\n')
		if err == nil && len(begun) == 0 {
			p.take(line)
			continue
		}
		begun = append(begun, line...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			p.take(append(begun, '\n'))
			return nil
		case err != nil:
			return err
		}
		p.take(begun)
		begun = begun[:0]
	}
	return nil
}

// broken returns the error for a log that can be read only up to some line.
func (p *parser) broken(err error) error {
	line := p.line + 1
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return workload.BadLine(p.log.Name, line, "the compressed file ends here, before its end", "get the file again: it is truncated")
	case isDamage(err):
		e := workload.BadLine(p.log.Name, line, "the compressed file is damaged, here or before", "get the file again")
		e.Err = err
		return e
	}
	return job.IOError(job.Fatal, fmt.Sprintf("%s:%d", p.log.Name, line), "cannot read further", err)
}

func isDamage(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, &corrupt)
}
