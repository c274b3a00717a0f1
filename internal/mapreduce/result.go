package mapreduce

import (
	"bytes"
	"fmt"
	"strings"

	"berth/internal/mapreduce/extsort"
	"berth/internal/mapreduce/hadoop"
)

// newline is the end of a line.
var newline = []byte{'\n'}

// partName returns the name of the part file of a partition, or of a map in a job without reduces. It is
// Hadoop's name.
func partName(n int) string { return fmt.Sprintf(partPrefix+"%05d", n) }

const partPrefix = "part-"

// IsPart reports whether name is the name of a part file.
func IsPart(name string) bool { return strings.HasPrefix(name, partPrefix) }

// outBuffer is how many bytes are written to a part file at once. It is large enough that the system
// calls cost little compared with copying the bytes.
const outBuffer = 1 << 20

// result receives the output of a task's last program and writes it to the part file. It counts records,
// replaces the program's separator by that of the output, usually a TAB, and ends the last line.
type result struct {
	out    *Output
	prog   Progress
	format hadoop.LineFormat
	plain  bool   // the lines are written unchanged
	sep    []byte // between key and value in the part file
	line   []byte // if not plain: a line that has not ended
	limit  int    // largest length of line, in bytes
	from   string // who writes the lines, for errors
	packed []byte // if not plain: lines to be written
	last   byte   // written last; a newline at the start

	bytes, records int64 // received
}

// newResult returns a result that writes to out, with sep between key and value. A record may have at most limit bytes.
func newResult(from string, out *Output, format hadoop.LineFormat, sep []byte, limit int, prog Progress) *result {
	plain := bytes.Equal(sep, format.Sep) && out.sequence == nil
	return &result{from: from, out: out, prog: prog, format: format, plain: plain, sep: sep, limit: limit, last: '\n'}
}

// Write adds a piece of the program's output.
func (r *result) Write(p []byte) (int, error) { return len(p), r.write(p) }

func (r *result) write(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	records := int64(bytes.Count(p, newline))
	r.bytes += int64(len(p))
	r.records += records
	r.last = p[len(p)-1]
	r.prog.Out(int64(len(p)), records)
	if !r.plain {
		r.packed = r.packed[:0]
		if err := r.reformat(p); err != nil {
			return err
		}
		if len(r.line) > r.limit {
			return extsort.TooLong(r.from, len(r.line), r.limit)
		}
		p = r.packed
	}
	_, err := r.out.Write(p)
	return err
}

// reformat adds the lines that end in p to packed, with the output's separator, or to the SequenceFile.
// It keeps the beginning of a line for the next call.
func (r *result) reformat(p []byte) error {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			r.line = append(r.line, p...)
			return nil
		}
		line := p[:i]
		if len(r.line) > 0 {
			r.line = append(r.line, line...)
			line = r.line
		}
		p = p[i+1:]
		if err := r.record(line); err != nil {
			return err
		}
		r.line = r.line[:0]
	}
}

// record adds a whole line.
func (r *result) record(line []byte) error {
	key, value := line[:r.format.KeyLen(line)], []byte(nil)
	separated := len(key) < len(line)
	if separated {
		value = line[len(key)+len(r.format.Sep):]
	}
	if r.out.sequence != nil {
		return r.out.Append(key, value)
	}
	r.packed = append(r.packed, key...)
	if separated {
		r.packed = append(append(r.packed, r.sep...), value...)
	}
	r.packed = append(r.packed, '\n')
	return nil
}

// finish ends the last line and closes the part file.
func (r *result) finish() error {
	if r.last != '\n' {
		if err := r.write(newline); err != nil {
			return err
		}
	}
	return r.out.Close()
}
