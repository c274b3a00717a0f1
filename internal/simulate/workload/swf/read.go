package swf

import (
	"bufio"
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

// blockSize is the size of the blocks of plain text. Together with gzip's window a block fits a
// core's cache.
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
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, &job.Error{Class: job.User, Code: job.CodeIO, Where: path, What: "this is a folder", Do: "name a log in it"}
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
	// gzip ends with the length modulo 2^32 (RFC 1952).
	return int64(tail[0]) | int64(tail[1])<<8 | int64(tail[2])<<16 | int64(tail[3])<<24
}

func isGzip(head []byte) bool { return len(head) >= 2 && head[0] == 0x1f && head[1] == 0x8b }

func read(r io.Reader, name string, size int64, o Options) (*Log, error) {
	p := &parser{log: &Log{Name: name}, odd: o.Odd, anyOrder: o.AnyOrder, size: size}
	in := bufio.NewReaderSize(r, blockSize)
	head, _ := in.Peek(2) // an error will occur again
	var err error
	if isGzip(head) {
		err = p.gunzip(in)
	} else {
		_, err = in.WriteTo(p)
	}
	if err == nil && p.refused == nil {
		err = p.close()
	}
	if p.refused != nil {
		return nil, p.refused
	}
	if err != nil {
		return nil, p.broken(err)
	}
	return p.log, nil
}

// gunzip decompresses text and passes it to the parser.
func (p *parser) gunzip(in *bufio.Reader) error {
	z, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	_, err = z.WriteTo(drain{p})
	if p.refused != nil && isDamage(err) && !errors.Is(err, gzip.ErrHeader) {
		p.refused = nil
		p.line-- // the error belongs to this line
	}
	return err
}

// drain reads on after an invalid line up to the checksum at the end. If the checksum is wrong, the
// line is invalid because the file is damaged, and correcting the line would not help.
type drain struct{ p *parser }

func (h drain) Write(text []byte) (int, error) {
	if h.p.refused == nil {
		if _, err := h.p.Write(text); h.p.refused == nil {
			return len(text), err
		}
	}
	return len(text), nil
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
	return &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: fmt.Sprintf("%s:%d", p.log.Name, line), What: "cannot read further", Err: err}
}

func isDamage(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, &corrupt)
}
