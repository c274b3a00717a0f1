// Package logfile opens the files of the readers of logs and yields their lines, whether compressed or not:
//
//	err := logfile.Lines(file, path, func(number int, line []byte) error { … })
//
// It tells a damaged file from a line that the user has to correct. It must not know what a line means.
package logfile

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

// MaxLine is the longest line of a log that is accepted.
const MaxLine = 1 << 20

// Open opens a log, of which what is the kind, "the log".
func Open(path, what string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		code := job.CodeIO
		if errors.Is(err, fs.ErrNotExist) {
			code = job.CodeNoInput
		}
		return nil, &job.Error{Class: job.User, Code: code, What: "cannot open " + what, Err: err}
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, job.IOError(job.User, path, "this is a folder", nil).Advice("name a file in it")
	}
	return f, nil
}

// Lines calls take for each line of a log, plain or compressed by gzip, without its end and with its number, until take returns an
// error. name is the log's name in messages.
func Lines(r io.Reader, name string, take func(number int, line []byte) error) error {
	in, number := bufio.NewReaderSize(r, 64<<10), 0
	lines, zipped := bufio.NewScanner(in), false
	if head, _ := in.Peek(2); string(head) == "\x1f\x8b" { // an error will occur again
		z, err := gzip.NewReader(in)
		if err != nil {
			return broken(name, 1, err)
		}
		lines, zipped = bufio.NewScanner(z), true
	}
	lines.Buffer(make([]byte, 64<<10), MaxLine)
	for lines.Scan() {
		number++
		err := take(number, lines.Bytes())
		if err == nil {
			continue
		}
		for zipped && lines.Scan() {
			// Damage garbles lines long before the checksum at the end reveals it. To correct the line would not help then.
		}
		if isDamage(lines.Err()) {
			return broken(name, number, lines.Err())
		}
		return err
	}
	return broken(name, number+1, lines.Err())
}

// broken returns the error for a log that can be read only up to some line; nil if err is.
func broken(name string, line int, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return workload.BadLine(name, line, "the compressed file ends here, before its end", "get the file again: it is truncated")
	case isDamage(err) || errors.Is(err, gzip.ErrHeader):
		return workload.BadLine(name, line, "the compressed file is damaged, here or before", "get the file again").Because(err)
	case errors.Is(err, bufio.ErrTooLong):
		return workload.BadLine(name, line, "the line is too long", "check that this is such a log")
	}
	return job.IOError(job.Fatal, fmt.Sprintf("%s:%d", name, line), "cannot read further", err)
}

func isDamage(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt)
}
