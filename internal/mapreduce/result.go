package mapreduce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"berth/internal/mapreduce/hadoop"
	"berth/internal/probe"
)

// newline is what lines end with.
var newline = []byte{'\n'}

// partName names the part file of a partition, or of a map without reduces, as Hadoop does.
func partName(n int) string { return fmt.Sprintf("part-%05d", n) }

// result is the output of a task's last program: it counts, puts a TAB where the
// program's own separator is, ends the last line, and writes to the part file.
type result struct {
	out    *Output
	prog   Progress
	cpu    func(time.Duration) // is told the time; nil: it is metered elsewhere
	format hadoop.LineFormat
	plain  bool
	line   []byte // of another format: a line that has not ended
	limit  int    // bytes of that line
	from   string // who writes the lines, for errors
	packed []byte // of another format: lines to be written
	last   byte   // written last; a newline at the start
	err    error  // of the part file, or a line that is too long
	fail   func(error)

	bytes, records int64 // taken in
}

// newResult makes the output of p into out, for an attempt that may use so much memory.
func newResult(p Program, out *Output, format hadoop.LineFormat, memory int64, prog Progress, fail func(error)) *result {
	return &result{out: out, prog: prog, cpu: cpuOf(p, prog), format: format, plain: format.Plain(), limit: recordLimit(memory), last: '\n', fail: fail}
}

// Write takes what the program writes.
func (r *result) Write(p []byte) (int, error) {
	return len(p), probe.Metered(r.cpu, func() error { return r.write(p) })
}

// ReadFrom takes all that the program writes.
func (r *result) ReadFrom(in io.Reader) (sum int64, err error) {
	buf := outBuffers.Get().(*[]byte)
	defer outBuffers.Put(buf)
	for {
		n, rerr := in.Read(*buf)
		sum += int64(n)
		if _, err := r.Write((*buf)[:n]); err != nil {
			return sum, err
		}
		if errors.Is(rerr, io.EOF) {
			return sum, nil
		}
		if rerr != nil {
			return sum, rerr
		}
	}
}

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
		if p = r.reformat(p); len(r.line) > r.limit {
			return r.failed(tooLong(r.from, len(r.line), r.limit))
		}
	}
	return r.put(p)
}

func (r *result) put(p []byte) error {
	if _, err := r.out.Write(p); err != nil {
		return r.failed(err)
	}
	return nil
}

// failed notes an error that is not the program's, and ends it.
func (r *result) failed(err error) error {
	if r.err == nil {
		r.err = err
		r.fail(err)
	}
	return err
}

// reformat returns the lines that end in p with TABs as separators; it keeps the
// beginning of a line for the next time.
func (r *result) reformat(p []byte) []byte {
	r.packed = r.packed[:0]
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			r.line = append(r.line, p...)
			return r.packed
		}
		line := p[:i]
		if len(r.line) > 0 {
			r.line = append(r.line, line...)
			line = r.line
		}
		p = p[i+1:]
		keyLen := r.format.KeyLen(line)
		r.packed = append(r.packed, line[:keyLen]...)
		if keyLen < len(line) {
			r.packed = append(r.packed, hadoop.Separator)
			r.packed = append(r.packed, line[keyLen+len(r.format.Sep):]...)
		}
		r.packed = append(r.packed, '\n')
		r.line = r.line[:0]
	}
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

// mapOnly runs the mapper of a job without reduces.
func mapOnly(ctx context.Context, t *MapTask, in io.Reader, count *inputCount) (MapResult, error) {
	out, err := NewOutput(t.Spec, t.Attempt, partName(t.Attempt.Task))
	if err != nil {
		return MapResult{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := newResult(t.Mapper, out, hadoop.MapFormat(t.Spec), t.Memory, t.Progress, cancel)
	r.from = "mapper"
	stdin := newStream(ctx, t.Mapper, in, t.Progress, cancel)
	err = runProgram(ctx, t.Mapper, t.Progress, stdin, r)
	err = programError("mapper", err, stdin.err, r.err)
	if err == nil {
		err = r.finish()
	}
	if err != nil {
		out.Abort()
		return MapResult{}, err
	}
	counters{
		"MAP_INPUT_RECORDS": count.records.Load(), "MAP_OUTPUT_RECORDS": r.records, "MAP_OUTPUT_BYTES": r.bytes,
	}.tell(t.Progress)
	return MapResult{Size: r.bytes, Output: out}, nil
}
