package mapreduce

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"berth/internal/mapreduce/extsort"
	"berth/internal/mapreduce/hadoop"
)

// newline is what lines end with.
var newline = []byte{'\n'}

// partName names the part file of a partition, or of a map without reduces, as Hadoop does.
func partName(n int) string { return fmt.Sprintf(partPrefix+"%05d", n) }

const partPrefix = "part-"

// IsPart reports whether a file of an output folder is called as a part of the output.
func IsPart(name string) bool { return strings.HasPrefix(name, partPrefix) }

// outBuffer is how much is written to a part file at once: enough that the calls cost nothing
// beside the copying.
const outBuffer = 1 << 20

var outBuffers = sync.Pool{New: func() any { b := make([]byte, outBuffer); return &b }}

// result is the output of a task's last program: it counts, puts the output's separator, a
// TAB as a rule, where the program's own is, ends the last line, and writes to the part file.
type result struct {
	out    *Output
	prog   Progress
	format hadoop.LineFormat
	plain  bool
	sep    []byte  // between key and value in the part file
	buf    *[]byte // the room; from outBuffers
	line   []byte  // of another format: a line that has not ended
	limit  int     // bytes of that line
	from   string  // who writes the lines, for errors
	packed []byte  // of another format: lines to be written
	last   byte    // written last; a newline at the start

	bytes, records int64 // taken in
}

// newResult makes the output of a program into out, with sep between key and value; records may have limit bytes.
func newResult(from string, out *Output, format hadoop.LineFormat, sep []byte, limit int, prog Progress) *result {
	plain := bytes.Equal(sep, format.Sep) && out.sequence == nil
	return &result{from: from, out: out, prog: prog, format: format, plain: plain, sep: sep, limit: limit, last: '\n'}
}

// Write takes what the program writes.
func (r *result) Write(p []byte) (int, error) { return len(p), r.write(p) }

func (r *result) room() ([]byte, error) {
	if r.buf == nil {
		r.buf = outBuffers.Get().(*[]byte)
	}
	return *r.buf, nil
}

func (r *result) advance(n int) error { return r.write((*r.buf)[:n]) }

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

// reformat adds the lines that end in p to packed, with the output's separator, or to a
// SequenceFile; it keeps the beginning of a line for the next time.
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

// record adds a line that ended.
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
	if r.buf != nil {
		outBuffers.Put(r.buf)
	}
	return r.out.Close()
}
