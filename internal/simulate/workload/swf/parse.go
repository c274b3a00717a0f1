package swf

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
)

// fieldNames are the names of the fields in messages.
var fieldNames = [...]string{
	"job number", "submit time", "wait time", "run time", "allocated processors", "CPU time", "used memory",
	"requested processors", "requested time", "requested memory", "status", "user", "group", "executable",
	"queue", "partition", "preceding job", "think time",
}

const fieldCount = len(fieldNames)

// parser parses the text of a log in pieces. It allocates nothing for a line.
type parser struct {
	log      *Log
	odd      workload.OnOdd
	anyOrder bool
	size     int64 // of the text; 0: unknown
	length   int64 // of the lines with jobs so far
	line     int   // number of complete lines
	begun    []byte
	last     job.Time // submission of the last job
	after    int      // line of the last job
	refused  error
	fields   [fieldCount]number
}

// Write parses the next piece.
func (p *parser) Write(text []byte) (int, error) {
	i := 0
	if len(p.begun) > 0 {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			p.begun = append(p.begun, text...)
			return len(text), nil
		}
		i = end + 1
		whole := append(p.begun, text[:i]...)
		p.begun = whole[:0]
		if err := p.take(whole, 0, len(whole)-1); err != nil {
			return 0, err
		}
	}
	for {
		n := bytes.IndexByte(text[i:], '\n')
		if n < 0 {
			p.begun = append(p.begun, text[i:]...)
			return len(text), nil
		}
		if err := p.take(text, i, i+n); err != nil {
			return 0, err
		}
		i += n + 1
	}
}

// close parses the last line if no newline ends it.
func (p *parser) close() error {
	if len(p.begun) == 0 {
		return nil
	}
	return p.take(append(p.begun, '\n'), 0, len(p.begun))
}

// take parses the line text[i:end], which ends at text[end].
func (p *parser) take(text []byte, i, end int) error {
	p.line++
	first := skip(text, i, end)
	switch {
	case first == end:
		return nil
	case text[first] == ';':
		p.log.Header = append(p.log.Header, string(bytes.TrimRight(text[i:end], "\r")))
		return nil
	}
	why := p.split(text, first, end)
	if why == "" {
		why = p.add(end + 1 - i)
	}
	if why == "" {
		return nil
	}
	odd := workload.Odd{Line: p.line, Why: why}
	if p.odd == workload.Refuse {
		p.refused = odd.In(p.log.Name)
		return p.refused
	}
	p.log.Skipped = append(p.log.Skipped, odd)
	return nil
}

// skip returns the position of the next field of a line that ends at end, or end.
func skip(text []byte, i, end int) int {
	for i < end && text[i] <= ' ' {
		i++
	}
	return i
}

// split parses the fields of the line text[i:end], the first of which begins at i. It returns what
// is wrong with the line, or "". It parses whole numbers digit by digit: most have as many digits as
// in the line before, so that branch prediction makes this faster than eight digits at once.
func (p *parser) split(text []byte, i, end int) string {
	line := text[i : end+1]
	i = 0
	for k := range p.fields {
		begin, sign := i, int64(1)
		if line[i] == '-' {
			i, sign = i+1, -1
		}
		first, whole := i, int64(0)
		for line[i]-'0' <= 9 {
			whole = whole*10 + int64(line[i]-'0')
			i++
		}
		p.fields[k] = number{whole: sign * whole}
		if i == first || i-first > 9 || line[i] > ' ' {
			for line[i] > ' ' {
				i++
			}
			var ok bool
			if p.fields[k], ok = parse(line[begin:i]); !ok {
				return unreadable(line, k)
			}
		}
		for line[i] <= ' ' && line[i] != '\n' {
			i++
		}
	}
	if line[i] != '\n' {
		return wrongCount(line)
	}
	return ""
}

// fields returns the fields of a line, which blanks separate.
func fields(line []byte) [][]byte {
	return bytes.FieldsFunc(line, func(r rune) bool { return r <= ' ' })
}

func wrongCount(line []byte) string {
	return fmt.Sprintf("the line has %d fields instead of %d", len(fields(line)), fieldCount)
}

// unreadable returns the message for field k, or that for the whole line if it is no line of a log
// at all.
func unreadable(line []byte, k int) string {
	all := fields(line)
	if len(all) != fieldCount {
		return wrongCount(line)
	}
	what := "cannot be parsed as a number"
	if f, err := strconv.ParseFloat(string(all[k]), 64); errors.Is(err, strconv.ErrRange) || math.Abs(f) > maxWhole && !math.IsInf(f, 0) {
		what = "is too large"
	}
	return fmt.Sprintf("field %d, the %s, %s: %s", k+1, fieldNames[k], what, shown(all[k]))
}

// shown quotes a field, or its beginning.
func shown(field []byte) string {
	if len(field) > 20 {
		return fmt.Sprintf("%q…", field[:20])
	}
	return fmt.Sprintf("%q", field)
}

// span returns a number of seconds as a duration.
func (n number) span() time.Duration {
	return time.Duration(n.whole)*time.Second + time.Duration(n.nano)
}

// add adds the job of the parsed fields. It returns what is wrong with it, or "". length is that of
// the line.
func (p *parser) add(length int) string {
	f := &p.fields
	submit := job.Time(f[1].span())
	run := f[3].span()
	switch {
	case submit < 0:
		return fmt.Sprintf("the submit time is negative: %s", text(submit.Sub(0)))
	case submit > workload.Latest:
		return fmt.Sprintf("the submit time is too large: %s", text(submit.Sub(0)))
	case run < 0 && run != UnknownTime:
		return fmt.Sprintf("the run time is negative: %s", text(run))
	case submit < p.last && !p.anyOrder:
		return fmt.Sprintf("submitted at %s, before the job of line %d (%s): times are out of order",
			text(submit.Sub(0)), p.after, text(p.last.Sub(0)))
	case !count(f[4]) || !count(f[7]) || !count(f[10]):
		return "processors and status must be whole numbers that fit 32 bits"
	}
	p.last, p.after = submit, p.line
	p.reserve(length)
	p.log.Jobs = append(p.log.Jobs, Job{
		Number: f[0].rounded(), Submit: submit, Wait: f[2].span(), Run: run, Procs: int32(f[4].whole),
		CPU: f[5].span(), Mem: f[6].rounded(), ReqProcs: int32(f[7].whole), Request: f[8].span(), ReqMem: f[9].rounded(),
		Status: int32(f[10].whole), User: f[11].rounded(), Group: f[12].rounded(), App: f[13].rounded(),
		Queue: f[14].rounded(), Partition: f[15].rounded(), After: f[16].rounded(), Think: f[17].span(),
		Line: int32(min(p.line, math.MaxInt32)),
	})
	return ""
}

// count reports whether a field fits 32 bits.
func count(n number) bool {
	return n.nano == 0 && n.whole >= math.MinInt32 && n.whole <= math.MaxInt32
}

// sample is the number of jobs from which the mean length of a line is estimated. maxReserve limits
// the memory that the size of a damaged file can cause to be allocated.
const (
	sample     = 256
	maxReserve = 1 << 20
)

// reserve allocates memory for all jobs, as soon as the first jobs allow an estimate of their
// number.
func (p *parser) reserve(length int) {
	p.length += int64(length)
	if len(p.log.Jobs) == sample {
		want := p.size*sample/p.length*17/16 + sample // later lines may be shorter
		p.log.Jobs = slices.Grow(p.log.Jobs, int(min(want, maxReserve)))
	}
}
