package swf

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"berth/internal/job"
	"berth/internal/workload"
)

// fieldNames are what messages call the fields.
var fieldNames = [...]string{
	"job number", "submit time", "wait time", "run time", "allocated processors", "CPU time", "used memory",
	"requested processors", "requested time", "requested memory", "status", "user", "group", "executable",
	"queue", "partition", "preceding job", "think time",
}

const fieldCount = len(fieldNames)

// parser takes in the text of a log in pieces. Of a line nothing is allocated.
type parser struct {
	log      *Log
	odd      workload.OnOdd
	anyOrder bool
	size     int64 // of the text, 0: not known
	length   int64 // of the lines of jobs so far
	line     int   // lines that are over
	begun    []byte
	last     job.Time // when the last job was submitted
	after    int      // its line
	refused  error
	fields   [fieldCount]number
}

// Write takes in the next piece.
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

// close takes in the last line where nothing ends it.
func (p *parser) close() error {
	if len(p.begun) == 0 {
		return nil
	}
	return p.take(append(p.begun, '\n'), 0, len(p.begun))
}

// take takes in the line text[i:end]; text[end] ends it.
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

// skip returns where the next field of a line that ends at end begins, end for nowhere.
func skip(text []byte, i, end int) int {
	for i < end && text[i] <= ' ' {
		i++
	}
	return i
}

// split reads the fields of the line text[i:end], the first of which begins at i. It
// returns what is wrong with the line. Whole numbers are read here, character by character:
// most have as many digits as in the line before, so that a processor foresees where they
// end and is faster than with eight characters at once.
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

// fields returns the fields of a line, which anything up to a blank separates.
func fields(line []byte) [][]byte {
	return bytes.FieldsFunc(line, func(r rune) bool { return r <= ' ' })
}

func wrongCount(line []byte) string {
	return fmt.Sprintf("the line has %d of %d fields", len(fields(line)), fieldCount)
}

// unreadable tells of field k, unless the line is none of a log anyway.
func unreadable(line []byte, k int) string {
	all := fields(line)
	if len(all) != fieldCount {
		return wrongCount(line)
	}
	what := "is no number that can be read"
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

// add adds the job of the fields, of a line of that length, and returns what is wrong with it.
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

// count tells whether a field fits 32 bits.
func count(n number) bool {
	return n.nano == 0 && n.whole >= math.MinInt32 && n.whole <= math.MaxInt32
}

// sample is how many jobs tell how long a line is; maxReserve bounds what is believed of a
// size, which a damaged file may exaggerate.
const (
	sample     = 256
	maxReserve = 1 << 20
)

// reserve gets memory for all jobs at once, as soon as the first tell how many there are.
func (p *parser) reserve(length int) {
	p.length += int64(length)
	if len(p.log.Jobs) == sample {
		want := p.size*sample/p.length*17/16 + sample // later lines may be shorter
		p.log.Jobs = slices.Grow(p.log.Jobs, int(min(want, maxReserve)))
	}
}
